/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * two_devices.c - a whole RDMA program in one process: the first device sends a message to the second, writes into its
 * memory, and then learns what it is like when nobody answers any more.
 *
 *   cc -o two_devices two_devices.c -libverbs
 *   vs-run --sim --seed 1 --capture two.pcap ./two_devices
 *   vs-wireshark two.pcap
 *
 * On the simulated wire the last step takes seconds of virtual time and no real time. It is a plain libibverbs program:
 * it runs on two real RoCE ports, too, when they can reach each other.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PSN 0x123456

/* One side: a device, and what a program makes of it before anything can be sent. */
struct side {
	const char *name;
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct ibv_qp *qp;
	union ibv_gid gid;
	char buf[4096];
};

_Noreturn static void fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\n");
	exit(1);
}

/* Verbs return 0 or an errno. */
static void must(int rc, const char *what)
{
	if (rc != 0)
		fail("%s: %s", what, strerror(rc));
}

static void need(const void *p, const char *what)
{
	if (p == NULL)
		fail("%s: %s", what, strerror(errno));
}

static void open_side(struct side *s, struct ibv_device *device)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1}};

	s->name = ibv_get_device_name(device);
	s->context = ibv_open_device(device);
	need(s->context, "ibv_open_device");
	must(ibv_query_gid(s->context, 1, 0, &s->gid), "ibv_query_gid");
	s->pd = ibv_alloc_pd(s->context);
	need(s->pd, "ibv_alloc_pd");
	s->channel = ibv_create_comp_channel(s->context);
	need(s->channel, "ibv_create_comp_channel");
	s->cq = ibv_create_cq(s->context, 16, NULL, s->channel, 0);
	need(s->cq, "ibv_create_cq");
	s->mr = ibv_reg_mr(s->pd, s->buf, sizeof(s->buf), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	need(s->mr, "ibv_reg_mr");
	init.send_cq = init.recv_cq = s->cq;
	s->qp = ibv_create_qp(s->pd, &init);
	need(s->qp, "ibv_create_qp");
}

/* RESET -> INIT -> RTR -> RTS: who the peer is, and how patient we are with it. */
static void connect_to(struct side *s, const struct side *peer)
{
	struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};
	struct ibv_qp_attr rtr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer->qp->qp_num,
		.rq_psn = PSN,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12, /* 0.64 ms */
		.ah_attr = {.is_global = 1, .port_num = 1, .grh = {.dgid = peer->gid, .hop_limit = 64}}};
	struct ibv_qp_attr rts = {.qp_state = IBV_QPS_RTS,
				  .sq_psn = PSN,
				  .timeout = 14, /* 4.096 us * 2^14 = 67 ms */
				  .retry_cnt = 7,
				  .rnr_retry = 7,
				  .max_rd_atomic = 1};

	must(ibv_modify_qp(s->qp, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
	     "to INIT");
	must(ibv_modify_qp(s->qp, &rtr,
			   IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				   IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
	     "to RTR");
	must(ibv_modify_qp(s->qp, &rts,
			   IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				   IBV_QP_MAX_QP_RD_ATOMIC),
	     "to RTS");
}

static void post_receive(struct side *s)
{
	struct ibv_sge sge = {.addr = (uintptr_t)s->buf, .length = sizeof(s->buf), .lkey = s->mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = 1, .sg_list = &sge, .num_sge = 1}, *bad;

	must(ibv_post_recv(s->qp, &wr, &bad), "ibv_post_recv");
}

static void post(struct side *s, enum ibv_wr_opcode opcode, const struct side *peer, const char *text)
{
	struct ibv_sge sge = {.addr = (uintptr_t)s->buf, .length = (uint32_t)strlen(text) + 1, .lkey = s->mr->lkey};
	struct ibv_send_wr wr = {
		.wr_id = 2, .sg_list = &sge, .num_sge = 1, .opcode = opcode, .send_flags = IBV_SEND_SIGNALED};
	struct ibv_send_wr *bad;

	strcpy(s->buf, text);
	wr.wr.rdma.remote_addr = (uintptr_t)peer->buf; /* a SEND does not look at these two */
	wr.wr.rdma.rkey = peer->mr->rkey;
	must(ibv_post_send(s->qp, &wr, &bad), "ibv_post_send");
}

/* Arm, look, sleep: an event that came between looking and sleeping is not lost. */
static struct ibv_wc wait_for_completion(struct side *s)
{
	struct ibv_wc wc;
	struct ibv_cq *cq;
	void *context;
	int n;

	must(ibv_req_notify_cq(s->cq, 0), "ibv_req_notify_cq");
	while ((n = ibv_poll_cq(s->cq, 1, &wc)) == 0) {
		if (ibv_get_cq_event(s->channel, &cq, &context) != 0)
			fail("ibv_get_cq_event: %s", strerror(errno));
		ibv_ack_cq_events(cq, 1);
		must(ibv_req_notify_cq(cq, 0), "ibv_req_notify_cq");
	}
	if (n < 0)
		fail("ibv_poll_cq failed");
	return wc;
}

static double seconds(struct side *s)
{
	struct ibv_values_ex values = {.comp_mask = IBV_VALUES_MASK_RAW_CLOCK};

	must(ibv_query_rt_values_ex(s->context, &values), "ibv_query_rt_values_ex");
	return (double)values.raw_clock.tv_sec + (double)values.raw_clock.tv_nsec / 1e9;
}

static void close_side(struct side *s)
{
	if (s->qp != NULL)
		must(ibv_destroy_qp(s->qp), "ibv_destroy_qp");
	must(ibv_destroy_cq(s->cq), "ibv_destroy_cq");
	must(ibv_destroy_comp_channel(s->channel), "ibv_destroy_comp_channel");
	must(ibv_dereg_mr(s->mr), "ibv_dereg_mr");
	must(ibv_dealloc_pd(s->pd), "ibv_dealloc_pd");
	must(ibv_close_device(s->context), "ibv_close_device");
}

int main(void)
{
	static struct side a, b;
	struct ibv_device **list;
	struct ibv_wc wc;
	double before;
	int n = 0;

	list = ibv_get_device_list(&n);
	if (list == NULL || n < 2)
		fail("two devices are needed: run it with vs-run --sim");
	open_side(&a, list[0]);
	open_side(&b, list[1]);
	ibv_free_device_list(list);
	connect_to(&a, &b);
	connect_to(&b, &a);
	printf("%s QP %#x <-> %s QP %#x\n", a.name, a.qp->qp_num, b.name, b.qp->qp_num);

	post_receive(&b);
	post(&a, IBV_WR_SEND, &b, "hello");
	wc = wait_for_completion(&b);
	printf("%s received \"%s\": %s, %u bytes\n", b.name, b.buf, ibv_wc_status_str(wc.status), wc.byte_len);
	wc = wait_for_completion(&a);
	printf("%s sent it: %s\n", a.name, ibv_wc_status_str(wc.status));

	post(&a, IBV_WR_RDMA_WRITE, &b, "written without a word");
	wc = wait_for_completion(&a);
	printf("%s wrote: %s; %s finds \"%s\"\n", a.name, ibv_wc_status_str(wc.status), b.name, b.buf);

	must(ibv_destroy_qp(b.qp), "ibv_destroy_qp");
	b.qp = NULL;
	before = seconds(&a);
	post(&a, IBV_WR_SEND, &b, "is anybody there?");
	wc = wait_for_completion(&a);
	printf("%s to nobody: %s, after %.3f s\n", a.name, ibv_wc_status_str(wc.status), seconds(&a) - before);

	close_side(&a);
	close_side(&b);
	return 0;
}
