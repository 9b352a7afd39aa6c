/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * sim_ends.c - two connected queue pairs, one on each simulated device, and the two clocks.
 */
#define _GNU_SOURCE /* syscall */
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sim_ends.h"

/* ---- two connected ends, one on each device ---- */

struct end a, b;
uint8_t timeout = 14, rnr_timer = 1, rnr_retry = 7;

static struct ibv_context *open_device(int i)
{
	int n = 0;
	struct ibv_device **list = ibv_get_device_list(&n);
	struct ibv_context *ctx;

	ck_assert_int_eq(n, 2);
	ctx = ibv_open_device(list[i]);
	ck_assert_ptr_nonnull(ctx);
	ibv_free_device_list(list);
	return ctx;
}

void make_end(struct end *e, int device, enum ibv_qp_type type)
{
	const int all = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
	struct ibv_qp_init_attr init = {.qp_type = type, .cap = {64, 64, 4, 4, 64}};
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 1, .qp_access_flags = (unsigned)all};

	e->ctx = open_device(device);
	e->pd = ibv_alloc_pd(e->ctx);
	e->channel = ibv_create_comp_channel(e->ctx);
	e->cq = ibv_create_cq(e->ctx, 256, e, e->channel, 0);
	e->buf = calloc(1, SIZE);
	e->mr = ibv_reg_mr(e->pd, e->buf, SIZE, all);
	ck_assert(e->pd != NULL && e->cq != NULL && e->mr != NULL);
	init.send_cq = init.recv_cq = e->cq;
	e->qp = ibv_create_qp(e->pd, &init);
	ck_assert_ptr_nonnull(e->qp);
	ck_assert_int_eq(ibv_modify_qp(e->qp, &attr,
				       IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
					       (type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS)),
			 0);
}

void connect_to(struct end *e, const struct end *peer)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR,
				   .path_mtu = IBV_MTU_1024,
				   .dest_qp_num = peer->qp->qp_num,
				   .rq_psn = 7,
				   .max_dest_rd_atomic = 4,
				   .min_rnr_timer = rnr_timer,
				   .ah_attr = {.is_global = 1, .port_num = 1}};

	ck_assert_int_eq(ibv_query_gid(peer->ctx, 1, 0, &attr.ah_attr.grh.dgid), 0);
	ck_assert_int_eq(ibv_modify_qp(e->qp, &attr,
				       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
					       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
			 0);
	attr.qp_state = IBV_QPS_RTS;
	attr.sq_psn = 7;
	attr.timeout = timeout;
	attr.retry_cnt = 7;
	attr.rnr_retry = rnr_retry;
	attr.max_rd_atomic = 4;
	ck_assert_int_eq(ibv_modify_qp(e->qp, &attr,
				       IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					       IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC),
			 0);
}

void set_up(void)
{
	make_end(&a, 0, IBV_QPT_RC);
	make_end(&b, 1, IBV_QPT_RC);
	connect_to(&a, &b);
	connect_to(&b, &a);
}

static void free_end(struct end *e)
{
	if (e->qp != NULL)
		ck_assert_int_eq(ibv_destroy_qp(e->qp), 0);
	ck_assert_int_eq(ibv_destroy_cq(e->cq), 0);
	ck_assert_int_eq(ibv_destroy_comp_channel(e->channel), 0);
	ck_assert_int_eq(ibv_dereg_mr(e->mr), 0);
	ck_assert_int_eq(ibv_dealloc_pd(e->pd), 0);
	ck_assert_int_eq(ibv_close_device(e->ctx), 0);
	free(e->buf);
}

void tear_down(void)
{
	free_end(&a);
	free_end(&b);
}

void post_to(struct end *e, enum ibv_wr_opcode op, const struct end *peer, uint32_t len, uint64_t wr_id)
{
	struct ibv_sge sge = {(uintptr_t)e->buf, len, e->mr->lkey};
	struct ibv_send_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1, .opcode = op}, *bad;

	wr.send_flags = IBV_SEND_SIGNALED;
	wr.wr.rdma.remote_addr = (uintptr_t)peer->buf;
	wr.wr.rdma.rkey = peer->mr->rkey;
	ck_assert_int_eq(ibv_post_send(e->qp, &wr, &bad), 0);
}

void post_recv(struct end *e, uint64_t wr_id)
{
	struct ibv_sge sge = {(uintptr_t)e->buf, SIZE, e->mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1}, *bad;

	ck_assert_int_eq(ibv_post_recv(e->qp, &wr, &bad), 0);
}

struct ibv_wc poll_for(struct ibv_cq *cq)
{
	struct ibv_wc wc;
	int n = 0;

	for (int i = 0; n == 0 && i < 100000; i++)
		n = ibv_poll_cq(cq, 1, &wc);
	ck_assert_int_eq(n, 1);
	return wc;
}

struct ibv_wc block_for(struct end *e)
{
	struct ibv_wc wc;
	struct ibv_cq *cq;
	void *context;
	int n;

	ck_assert_int_eq(ibv_req_notify_cq(e->cq, 0), 0);
	while ((n = ibv_poll_cq(e->cq, 1, &wc)) == 0) {
		ck_assert_int_eq(ibv_get_cq_event(e->channel, &cq, &context), 0);
		ck_assert_ptr_eq(context, e);
		ibv_ack_cq_events(cq, 1);
		ck_assert_int_eq(ibv_req_notify_cq(cq, 0), 0);
	}
	ck_assert_int_eq(n, 1);
	return wc;
}

/* ---- clocks ---- */

static uint64_t ns_of(struct timespec ts)
{
	return (uint64_t)ts.tv_sec * S + (uint64_t)ts.tv_nsec;
}

uint64_t virtual_now(void)
{
	struct ibv_values_ex v = {.comp_mask = IBV_VALUES_MASK_RAW_CLOCK};

	ck_assert_int_eq(ibv_query_rt_values_ex(a.ctx, &v), 0);
	return ns_of(v.raw_clock);
}

uint64_t real_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ns_of(ts);
}

/* In real time, by a way that nobody sees. */
void sleep_unseen(long ms)
{
	const struct timespec ts = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	syscall(SYS_nanosleep, &ts, NULL);
}
