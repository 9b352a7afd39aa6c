/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * verbs_abi.c - the device as a program sees it that was built against the installed libibverbs: linked with -libverbs,
 * run under vs-run. Both ends are in this process, on one address.
 */
#define _GNU_SOURCE /* dlvsym */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner.h"

#define SIZE 65536

/* ---- a pair of connected queue pairs ---- */

struct end {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct ibv_qp *qp;
	uint8_t *buf;
};

static struct end a, b;

static struct ibv_context *open_first(void)
{
	int n = 0;
	struct ibv_device **list = ibv_get_device_list(&n);
	struct ibv_context *ctx;

	ck_assert_int_eq(n, getenv("VS_SIM") != NULL ? 2 : 1);
	ck_assert_str_eq(ibv_get_device_name(list[0]), "ref0");
	ctx = ibv_open_device(list[0]);
	ck_assert_ptr_nonnull(ctx);
	ibv_free_device_list(list);
	return ctx;
}

static void make_end(struct end *e, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr init = {.qp_type = type, .cap = {64, 64, 4, 4, 64}};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
				   .port_num = 1,
				   .qp_access_flags =
					   IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC};

	e->ctx = open_first();
	e->pd = ibv_alloc_pd(e->ctx);
	e->channel = ibv_create_comp_channel(e->ctx);
	e->cq = ibv_create_cq(e->ctx, 256, e, e->channel, 0);
	e->buf = calloc(1, SIZE);
	e->mr = ibv_reg_mr(e->pd, e->buf, SIZE,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
				   IBV_ACCESS_REMOTE_ATOMIC);
	ck_assert(e->pd != NULL && e->cq != NULL && e->mr != NULL);
	ck_assert_uint_ne(e->mr->lkey, e->mr->rkey);
	init.send_cq = init.recv_cq = e->cq;
	e->qp = ibv_create_qp(e->pd, &init);
	ck_assert_ptr_nonnull(e->qp);
	ck_assert_int_eq(
		ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS), 0);
}

static void connect_to(struct end *e, const struct end *peer)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR,
				   .path_mtu = IBV_MTU_1024,
				   .dest_qp_num = peer->qp->qp_num,
				   .rq_psn = 7,
				   .max_dest_rd_atomic = 4,
				   .min_rnr_timer = 1,
				   .ah_attr = {.is_global = 1, .port_num = 1}};

	ck_assert_int_eq(ibv_query_gid(peer->ctx, 1, 0, &attr.ah_attr.grh.dgid), 0);
	ck_assert_int_eq(ibv_modify_qp(e->qp, &attr,
				       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
					       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
			 0);
	attr.qp_state = IBV_QPS_RTS;
	attr.sq_psn = 7;
	attr.timeout = 10;
	attr.retry_cnt = 3;
	attr.rnr_retry = 7;
	attr.max_rd_atomic = 4;
	ck_assert_int_eq(ibv_modify_qp(e->qp, &attr,
				       IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					       IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC),
			 0);
	ck_assert_int_eq(e->qp->state, IBV_QPS_RTS);
}

static void set_up(void)
{
	make_end(&a, IBV_QPT_RC);
	make_end(&b, IBV_QPT_RC);
	connect_to(&a, &b);
	connect_to(&b, &a);
}

static void free_end(struct end *e)
{
	ck_assert_int_eq(ibv_destroy_qp(e->qp), 0);
	ck_assert_int_eq(ibv_destroy_cq(e->cq), 0);
	ck_assert_int_eq(ibv_destroy_comp_channel(e->channel), 0);
	ck_assert_int_eq(ibv_dereg_mr(e->mr), 0);
	ck_assert_int_eq(ibv_dealloc_pd(e->pd), 0);
	ck_assert_int_eq(ibv_close_device(e->ctx), 0);
	free(e->buf);
}

static void tear_down(void)
{
	free_end(&a);
	free_end(&b);
}

static int post(struct end *e, enum ibv_wr_opcode op, const struct end *peer, uint32_t len, uint64_t wr_id)
{
	struct ibv_sge sge = {(uintptr_t)e->buf, len, e->mr->lkey};
	struct ibv_send_wr wr = {.wr_id = wr_id,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = op,
				 .send_flags = IBV_SEND_SIGNALED,
				 .imm_data = htonl(0x01020304)},
			   *bad;

	wr.wr.rdma.remote_addr = (uintptr_t)peer->buf;
	wr.wr.rdma.rkey = peer->mr->rkey;
	return ibv_post_send(e->qp, &wr, &bad);
}

static void post_recv(struct end *e, uint64_t wr_id)
{
	struct ibv_sge sge = {(uintptr_t)e->buf, SIZE, e->mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1}, *bad;

	ck_assert_int_eq(ibv_post_recv(e->qp, &wr, &bad), 0);
}

static struct ibv_wc wait_for(struct ibv_cq *cq)
{
	struct ibv_wc wc;
	int n = 0;

	for (int i = 0; n == 0 && i < 10000000; i++)
		n = ibv_poll_cq(cq, 1, &wc);
	ck_assert_int_eq(n, 1);
	return wc;
}

/* ---- claims ---- */

START_TEST(a_send_arrives_with_its_immediate_data)
{
	struct ibv_wc wc;

	set_up();
	post_recv(&b, 5);
	memset(a.buf, 0xa5, 10000);
	ck_assert_int_eq(post(&a, IBV_WR_SEND_WITH_IMM, &b, 10000, 6), 0);
	wc = wait_for(b.cq);
	ck_assert_int_eq(wc.status, IBV_WC_SUCCESS);
	ck_assert_int_eq(wc.opcode, IBV_WC_RECV);
	ck_assert_uint_eq(wc.wr_id, 5);
	ck_assert_uint_eq(wc.byte_len, 10000);
	ck_assert_uint_eq(wc.imm_data, htonl(0x01020304));
	ck_assert_int_eq(wc.wc_flags & IBV_WC_WITH_IMM, IBV_WC_WITH_IMM);
	ck_assert_uint_eq(wc.qp_num, b.qp->qp_num);
	ck_assert_mem_eq(a.buf, b.buf, 10000);
	wc = wait_for(a.cq);
	ck_assert_uint_eq(wc.wr_id, 6);
	tear_down();
}
END_TEST

START_TEST(an_event_wakes_who_waits_and_must_be_acknowledged)
{
	struct ibv_cq *cq;
	void *context;
	struct pollfd p;

	set_up();
	p = (struct pollfd){.fd = b.channel->fd, .events = POLLIN};
	ck_assert_int_eq(ibv_destroy_comp_channel(b.channel), EBUSY);
	ck_assert_int_eq(ibv_req_notify_cq(b.cq, 0), 0);
	ck_assert_int_eq(poll(&p, 1, 0), 0);
	post_recv(&b, 1);
	ck_assert_int_eq(post(&a, IBV_WR_SEND, &b, 8, 2), 0);
	ck_assert_int_eq(poll(&p, 1, 5000), 1);
	ck_assert_int_eq(ibv_get_cq_event(b.channel, &cq, &context), 0);
	ck_assert_ptr_eq(cq, b.cq);
	ck_assert_ptr_eq(context, &b);
	ck_assert_int_eq(fcntl(b.channel->fd, F_SETFL, O_NONBLOCK), 0);
	ck_assert_int_eq(ibv_get_cq_event(b.channel, &cq, &context), -1);
	ck_assert_int_eq(errno, EAGAIN);
	ibv_ack_cq_events(b.cq, 1);
	(void)wait_for(b.cq);
	(void)wait_for(a.cq);
	tear_down();
}
END_TEST

START_TEST(an_event_that_nobody_fetched_goes_with_its_queue)
{
	struct ibv_cq *other;
	struct pollfd p;

	set_up();
	p = (struct pollfd){.fd = a.channel->fd, .events = POLLIN};
	other = ibv_create_cq(a.ctx, 10, NULL, a.channel, 0);
	ck_assert_int_eq(ibv_req_notify_cq(a.cq, 0), 0);
	ck_assert_int_eq(post(&a, IBV_WR_RDMA_WRITE, &b, 8, 2), 0);
	ck_assert_int_eq(poll(&p, 1, 5000), 1);
	ck_assert_int_eq(ibv_destroy_qp(a.qp), 0);
	ck_assert_int_eq(ibv_destroy_cq(a.cq), 0);
	ck_assert_int_eq(poll(&p, 1, 0), 0);
	ck_assert_int_eq(ibv_destroy_cq(other), 0);
}
END_TEST

START_TEST(a_wrong_key_fails_here_and_raises_an_async_event_there)
{
	struct ibv_async_event event;
	struct ibv_wc wc;

	set_up();
	b.mr->rkey ^= 0x100; /* as the peer got it wrong */
	ck_assert_int_eq(post(&a, IBV_WR_RDMA_WRITE, &b, 8, 9), 0);
	b.mr->rkey ^= 0x100;
	wc = wait_for(a.cq);
	ck_assert_int_eq(wc.status, IBV_WC_REM_ACCESS_ERR);
	ck_assert_uint_eq(wc.wr_id, 9);
	do {
		ck_assert_int_eq(ibv_get_async_event(b.ctx, &event), 0);
		ck_assert_ptr_eq(event.element.qp, b.qp);
		ibv_ack_async_event(&event);
	} while (event.event_type == IBV_EVENT_COMM_EST);
	ck_assert_int_eq(event.event_type, IBV_EVENT_QP_ACCESS_ERR);
	tear_down();
}
END_TEST

START_TEST(the_first_bad_request_of_a_list_is_named)
{
	struct ibv_send_wr wr[3], *bad = NULL;

	set_up();
	memset(wr, 0, sizeof(wr));
	for (int i = 0; i < 3; i++) {
		wr[i].next = i < 2 ? &wr[i + 1] : NULL;
		wr[i].opcode = IBV_WR_RDMA_WRITE;
	}
	wr[1].num_sge = 100;
	wr[0].send_flags = IBV_SEND_SIGNALED;
	ck_assert_int_eq(ibv_post_send(a.qp, wr, &bad), EINVAL);
	ck_assert_ptr_eq(bad, &wr[1]);
	ck_assert_int_eq(wait_for(a.cq).status, IBV_WC_SUCCESS);
	tear_down();
}
END_TEST

START_TEST(what_is_not_there_says_so)
{
	struct ibv_xrcd_init_attr xrcd = {.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = -1};
	struct ibv_alloc_dm_attr dm = {.length = 64};
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RAW_PACKET};

	set_up();
	errno = 0;
	ck_assert_ptr_null(ibv_open_xrcd(a.ctx, &xrcd));
	ck_assert_int_eq(errno, EOPNOTSUPP);
	ck_assert_ptr_null(ibv_alloc_dm(a.ctx, &dm));
	ck_assert_int_eq(errno, EOPNOTSUPP);
	ck_assert_ptr_null(ibv_reg_mr(a.pd, a.buf, 64, IBV_ACCESS_ON_DEMAND));
	ck_assert_int_eq(errno, EOPNOTSUPP);
	init.send_cq = init.recv_cq = a.cq;
	ck_assert_ptr_null(ibv_create_qp(a.pd, &init));
	ck_assert_int_eq(errno, EOPNOTSUPP);
	ck_assert_ptr_null(ibv_import_device(0));
	ck_assert_int_eq(errno, EOPNOTSUPP);
	tear_down();
}
END_TEST

START_TEST(busy_objects_are_not_destroyed)
{
	set_up();
	ck_assert_int_eq(ibv_dealloc_pd(a.pd), EBUSY);
	ck_assert_int_eq(ibv_destroy_cq(a.cq), EBUSY);
	tear_down();
}
END_TEST

/* One that uses the verbs after fork hears of it; the parent goes on; an exec'd program has a device of its own. */
START_TEST(a_forked_child_has_no_device_and_harms_nobody)
{
	int status = -1;
	pid_t pid;

	set_up();
	pid = fork();
	if (pid == 0) {
		struct ibv_wc wc;
		bool dead = ibv_alloc_pd(a.ctx) == NULL && errno == EIO && ibv_poll_cq(a.cq, 1, &wc) < 0 &&
			    post(&a, IBV_WR_RDMA_WRITE, &b, 8, 1) == EIO;

		_exit(dead ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(post(&a, IBV_WR_RDMA_WRITE, &b, 4096, 77), 0);
	ck_assert_uint_eq(wait_for(a.cq).wr_id, 77);
	tear_down();
}
END_TEST

static bool child_writes_to_itself(const union ibv_gid *parents)
{
	struct end old = a;
	union ibv_gid mine;
	struct ibv_wc wc;

	bool simulated = getenv("VS_SIM") != NULL; /* a wire of its own, with the same addresses */

	set_up();
	if (ibv_query_gid(a.ctx, 1, 0, &mine) != 0 || (memcmp(&mine, parents, sizeof(mine)) == 0) != simulated)
		return false; /* an address of its own */
	if (post(&a, IBV_WR_RDMA_WRITE, &b, 4096, 78) != 0 || wait_for(a.cq).wr_id != 78)
		return false;
	return post(&old, IBV_WR_RDMA_WRITE, &b, 8, 1) == EIO && ibv_poll_cq(old.cq, 1, &wc) < 0;
}

START_TEST(a_forked_child_that_opens_the_device_has_one_of_its_own)
{
	union ibv_gid gid;
	int status = -1;
	pid_t pid;

	set_up();
	ck_assert_int_eq(ibv_query_gid(a.ctx, 1, 0, &gid), 0);
	pid = fork();
	if (pid == 0)
		_exit(child_writes_to_itself(&gid) ? 0 : 1);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(post(&a, IBV_WR_RDMA_WRITE, &b, 4096, 77), 0);
	ck_assert_uint_eq(wait_for(a.cq).wr_id, 77);
	tear_down();
}
END_TEST

START_TEST(a_library_opened_by_name_is_the_same_one)
{
	void *lib = dlopen("libibverbs.so.1", RTLD_NOW);
	struct ibv_device **(*list)(int *);
	struct ibv_device **found;
	void *sym;
	int n = 0;

	ck_assert_ptr_nonnull(lib);
	sym = dlvsym(lib, "ibv_get_device_list", "IBVERBS_1.1");
	ck_assert_ptr_nonnull(sym);
	memcpy(&list, &sym, sizeof(list));
	found = list(&n);
	ck_assert_str_eq(found[0]->name, "ref0");
	ibv_free_device_list(found);
	ck_assert_int_eq(n, getenv("VS_SIM") != NULL ? 2 : 1);
	dlclose(lib);
}
END_TEST

/* A short structure of an old program: nothing is written behind it. */
START_TEST(an_old_program_gets_a_short_port_attribute)
{
	struct {
		struct ibv_port_attr attr;
		uint8_t behind[64];
	} p;
	size_t shorter = offsetof(struct ibv_port_attr, port_cap_flags2);
	int (*old)(struct ibv_context *, uint8_t, struct ibv_port_attr *);
	void *sym = dlvsym(RTLD_DEFAULT, "ibv_query_port", "IBVERBS_1.1");

	set_up();
	ck_assert_ptr_nonnull(sym);
	memcpy(&old, &sym, sizeof(old));
	memset(&p, 0xee, sizeof(p));
	ck_assert_int_eq(old(a.ctx, 1, &p.attr), 0);
	ck_assert_int_eq(p.attr.link_layer, IBV_LINK_LAYER_ETHERNET);
	for (size_t i = shorter; i < sizeof(p); i++)
		ck_assert_uint_eq(((uint8_t *)&p)[i], 0xee);
	tear_down();
}
END_TEST

START_TEST(atomics_and_reads_go_through_the_wire)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr, *bad;
	uint64_t v = 40, was;

	set_up();
	memcpy(b.buf, &v, 8);
	sge = (struct ibv_sge){(uintptr_t)a.buf, 8, a.mr->lkey};
	wr = (struct ibv_send_wr){
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD, .send_flags = IBV_SEND_SIGNALED};
	wr.wr.atomic.remote_addr = (uintptr_t)b.buf;
	wr.wr.atomic.rkey = b.mr->rkey;
	wr.wr.atomic.compare_add = 2;
	ck_assert_int_eq(ibv_post_send(a.qp, &wr, &bad), 0);
	ck_assert_int_eq(wait_for(a.cq).opcode, IBV_WC_FETCH_ADD);
	memcpy(&was, a.buf, 8);
	memcpy(&v, b.buf, 8);
	ck_assert_uint_eq(was, 40);
	ck_assert_uint_eq(v, 42);
	memset(b.buf, 0x5a, SIZE);
	ck_assert_int_eq(post(&a, IBV_WR_RDMA_READ, &b, SIZE, 3), 0);
	ck_assert_int_eq(wait_for(a.cq).status, IBV_WC_SUCCESS);
	ck_assert_mem_eq(a.buf, b.buf, SIZE);
	tear_down();
}
END_TEST

START_TEST(a_group_is_joined_and_left_once)
{
	union ibv_gid group = {.raw = {[10] = 0xff, [11] = 0xff, [12] = 239, [15] = 7}}, odd = group;
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_UD, .cap = {4, 4, 1, 1, 0}};
	struct ibv_qp *ud;

	set_up();
	odd.raw[12] = 10;
	init.send_cq = init.recv_cq = a.cq;
	ud = ibv_create_qp(a.pd, &init);
	ck_assert_ptr_nonnull(ud);
	ck_assert_int_eq(ibv_attach_mcast(a.qp, &group, 0), EINVAL); /* no UD */
	ck_assert_int_eq(ibv_attach_mcast(ud, &odd, 0), EINVAL);
	ck_assert_int_eq(ibv_attach_mcast(ud, &group, 0), 0);
	ck_assert_int_eq(ibv_attach_mcast(ud, &group, 0), 0);
	ck_assert_int_eq(ibv_destroy_qp(ud), EBUSY);
	ck_assert_int_eq(ibv_detach_mcast(ud, &group, 0), 0);
	ck_assert_int_eq(ibv_detach_mcast(ud, &group, 0), EINVAL);
	ck_assert_int_eq(ibv_destroy_qp(ud), 0);
	tear_down();
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("abi");
	TCase *tc = tcase_create("abi");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_send_arrives_with_its_immediate_data);
	tcase_add_test(tc, an_event_wakes_who_waits_and_must_be_acknowledged);
	tcase_add_test(tc, an_event_that_nobody_fetched_goes_with_its_queue);
	tcase_add_test(tc, a_wrong_key_fails_here_and_raises_an_async_event_there);
	tcase_add_test(tc, the_first_bad_request_of_a_list_is_named);
	tcase_add_test(tc, what_is_not_there_says_so);
	tcase_add_test(tc, busy_objects_are_not_destroyed);
	tcase_add_test(tc, a_forked_child_has_no_device_and_harms_nobody);
	tcase_add_test(tc, a_forked_child_that_opens_the_device_has_one_of_its_own);
	tcase_add_test(tc, a_library_opened_by_name_is_the_same_one);
	tcase_add_test(tc, an_old_program_gets_a_short_port_attribute);
	tcase_add_test(tc, a_group_is_joined_and_left_once);
	tcase_add_test(tc, atomics_and_reads_go_through_the_wire);
	suite_add_tcase(s, tc);
	return s;
}
