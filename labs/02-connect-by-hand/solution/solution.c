/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * Lab 02: connect two queue pairs by hand. Each side writes a letter with what the other one has to know into a pipe,
 * reads the other's, and takes its queue pair from RESET to INIT, RTR and RTS. On the way, side A provokes three
 * refusals.
 */
#include <unistd.h>

#include "lab.h"

/* What one side tells the other. There is no more to a connection. */
struct letter {
	uint32_t qpn, psn;
	union ibv_gid gid;
	enum ibv_mtu mtu;
};

static char a_buf[64] = "hello", b_buf[64];

static void put(int fd, const struct letter *l)
{
	if (write(fd, l, sizeof(*l)) != sizeof(*l))
		lab_must(errno, "write");
}

static struct letter get(int fd)
{
	struct letter l;

	if (read(fd, &l, sizeof(l)) != sizeof(l))
		lab_must(errno, "read");
	return l;
}

static struct ibv_qp_attr to_rtr(const struct letter *theirs)
{
	return (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR,
		.path_mtu = theirs->mtu,
		.dest_qp_num = theirs->qpn,
		.rq_psn = theirs->psn, /* what we expect is what they will send */
		.max_dest_rd_atomic = 4,
		.min_rnr_timer = 12,
		.ah_attr = {.is_global = 1, .port_num = 1, .grh = {.dgid = theirs->gid, .hop_limit = 64}}};
}

#define RTR_MASK                                                                                                    \
	(IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | \
	 IBV_QP_MIN_RNR_TIMER)

static void init(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};

	lab_must(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
		 "INIT");
}

static void rtr_rts(struct ibv_qp *qp, const struct letter *mine, const struct letter *theirs)
{
	struct ibv_qp_attr rtr = to_rtr(theirs);
	struct ibv_qp_attr rts = {.qp_state = IBV_QPS_RTS,
				  .sq_psn = mine->psn,
				  .timeout = 14,
				  .retry_cnt = 7,
				  .rnr_retry = 7,
				  .max_rd_atomic = 4};

	lab_must(ibv_modify_qp(qp, &rtr, RTR_MASK), "RTR");
	lab_must(ibv_modify_qp(qp, &rts,
			       IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				       IBV_QP_MAX_QP_RD_ATOMIC),
		 "RTS");
}

/* One message from A to B; given. Returns the status that A sees. */
static enum ibv_wc_status hello(struct lab_side *a, struct ibv_qp *qa, struct ibv_mr *ma, struct lab_side *b,
				struct ibv_qp *qb, struct ibv_mr *mb)
{
	struct ibv_sge from = {.addr = (uintptr_t)a_buf, .length = 6, .lkey = ma->lkey};
	struct ibv_sge to = {.addr = (uintptr_t)b_buf, .length = sizeof(b_buf), .lkey = mb->lkey};
	struct ibv_recv_wr recv = {.wr_id = 1, .sg_list = &to, .num_sge = 1}, *bad_recv;
	struct ibv_send_wr send = {
		.wr_id = 2, .sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
	struct ibv_send_wr *bad_send;
	struct ibv_wc wc = {.status = IBV_WC_GENERAL_ERR};

	lab_must(ibv_post_recv(qb, &recv, &bad_recv), "ibv_post_recv");
	lab_must(ibv_post_send(qa, &send, &bad_send), "ibv_post_send");
	(void)lab_poll(a, &wc);
	if (wc.status == IBV_WC_SUCCESS)
		(void)lab_done(b);
	return wc.status;
}

int main(int argc, char **argv)
{
	uint32_t seed = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1;
	int a_to_b[2], b_to_a[2];
	struct lab_side a, b;
	struct letter from_a = {.mtu = IBV_MTU_1024}, from_b = {.mtu = IBV_MTU_1024}, to_a, to_b, wrong;
	struct ibv_mr *ma, *mb;
	struct ibv_qp *qa, *qb;

	lab_open(&a, &b);
	ma = lab_reg(&a, a_buf, sizeof(a_buf), IBV_ACCESS_LOCAL_WRITE);
	mb = lab_reg(&b, b_buf, sizeof(b_buf), IBV_ACCESS_LOCAL_WRITE);
	qa = lab_qp(&a, IBV_QPT_RC, 4, 4);
	qb = lab_qp(&b, IBV_QPT_RC, 4, 4);
	if (pipe(a_to_b) != 0 || pipe(b_to_a) != 0)
		lab_must(errno, "pipe");

	/* The letters. PSNs are chosen at random; here they come from your seed. */
	from_a.psn = seed * 2654435761u >> 8;
	from_b.psn = seed * 40503u & 0xffffff;
	from_a.qpn = qa->qp_num;
	from_b.qpn = qb->qp_num;
	from_a.gid = a.gid;
	from_b.gid = b.gid;
	put(a_to_b[1], &from_a);
	put(b_to_a[1], &from_b);
	to_b = get(a_to_b[0]);
	to_a = get(b_to_a[0]);

	/* Three refusals on A's queue pair: from a state that does not lead there, with an attribute missing, without a
	 * GRH. */
	struct ibv_qp_attr attr = to_rtr(&to_a);

	printf("1: %s\n", strerror(ibv_modify_qp(qa, &attr, RTR_MASK)));
	init(qa);
	printf("2: %s\n", strerror(ibv_modify_qp(qa, &attr, RTR_MASK & ~IBV_QP_MIN_RNR_TIMER)));
	attr.ah_attr.is_global = 0;
	printf("3: %s\n", strerror(ibv_modify_qp(qa, &attr, RTR_MASK)));

	/* Connected. */
	rtr_rts(qa, &from_a, &to_a);
	init(qb);
	rtr_rts(qb, &from_b, &to_b);

	printf("right letters: %s\n", ibv_wc_status_str(hello(&a, qa, ma, &b, qb, mb)));
	lab_must(ibv_destroy_qp(qa), "ibv_destroy_qp");
	lab_must(ibv_destroy_qp(qb), "ibv_destroy_qp");

	/* Given: the same once more, but B has misread A's PSN by one. */
	qa = lab_qp(&a, IBV_QPT_RC, 4, 4);
	qb = lab_qp(&b, IBV_QPT_RC, 4, 4);
	from_a.qpn = to_b.qpn = qa->qp_num;
	from_b.qpn = to_a.qpn = qb->qp_num;
	wrong = to_b;
	wrong.psn = (to_b.psn - 1) & 0xffffff;
	init(qa);
	init(qb);
	rtr_rts(qa, &from_a, &to_a);
	rtr_rts(qb, &from_b, &wrong);
	printf("one off: %s\n", ibv_wc_status_str(hello(&a, qa, ma, &b, qb, mb)));
	lab_must(ibv_destroy_qp(qa), "ibv_destroy_qp");
	lab_must(ibv_destroy_qp(qb), "ibv_destroy_qp");

	lab_must(ibv_dereg_mr(ma), "ibv_dereg_mr");
	lab_must(ibv_dereg_mr(mb), "ibv_dereg_mr");
	lab_close_side(&a);
	lab_close_side(&b);
	return 0;
}
