/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * Lab 10: datagrams. The same verbs as in lab 03, and nobody who keeps a promise.
 *
 *   echo SEED      A sends B a message, B sends it back to whoever it came from
 *   oversize SEED  one byte more than a packet holds
 *   wrong SEED     a datagram with a Q_Key that is not B's
 *   loss SEED      a datagram that gets lost on the way (the fault of the run)
 *   all SEED       echo, wrong, loss
 */
#include "lab.h"

#define QKEY 0x11111111
#define LEN_MOST 64 /* bytes of a message */
#define GRH 40      /* in front of what a datagram brings, a receive has room for the network header */

static char a_out[8192], a_in[2 * GRH + LEN_MOST], b_out[LEN_MOST], b_in[2 * GRH + LEN_MOST];
static struct lab_side a, b;
static struct ibv_mr *ma_out, *ma_in, *mb_out, *mb_in;
static struct ibv_qp *qa, *qb;

/* RESET -> INIT -> RTR -> RTS. No address, no PSN of the other side, no MTU: a datagram queue pair has no other side.
 */
static void ready(struct ibv_qp *qp)
{
	struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY};
	struct ibv_qp_attr rtr = {.qp_state = IBV_QPS_RTR};
	struct ibv_qp_attr rts = {.qp_state = IBV_QPS_RTS, .sq_psn = 0};

	lab_must(ibv_modify_qp(qp, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY), "to INIT");
	lab_must(ibv_modify_qp(qp, &rtr, IBV_QP_STATE), "to RTR");
	lab_must(ibv_modify_qp(qp, &rts, IBV_QP_STATE | IBV_QP_SQ_PSN), "to RTS");
}

/* The way from a side to an address: it goes with each datagram. */
static struct ibv_ah *way(struct lab_side *s, const union ibv_gid *to)
{
	struct ibv_ah_attr attr = {.is_global = 1, .port_num = 1, .grh = {.dgid = *to, .hop_limit = 64}};
	struct ibv_ah *ah = ibv_create_ah(s->pd, &attr);

	lab_need(ah, "ibv_create_ah");
	return ah;
}

/* For a message of up to LEN_MOST bytes. */
static void post_receive(struct ibv_qp *qp, uint64_t wr_id, char *buf, struct ibv_mr *mr)
{
	struct ibv_sge sge = {.addr = (uintptr_t)buf, .length = GRH + LEN_MOST, .lkey = mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1}, *bad;

	lab_must(ibv_post_recv(qp, &wr, &bad), "ibv_post_recv");
}

/* 0, or what ibv_post_send returned. */
static int post_datagram(struct ibv_qp *qp, uint64_t wr_id, char *buf, uint32_t len, struct ibv_mr *mr,
			 struct ibv_ah *ah, uint32_t qpn, uint32_t qkey)
{
	struct ibv_sge sge = {.addr = (uintptr_t)buf, .length = len, .lkey = mr->lkey};
	struct ibv_send_wr wr = {
		.wr_id = wr_id, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
	struct ibv_send_wr *bad;

	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = qpn;
	wr.wr.ud.remote_qkey = qkey;
	return ibv_post_send(qp, &wr, &bad);
}

/* Where the message begins in a buffer that a datagram was received into. */
static char *message(char *buf)
{
	return buf + GRH;
}

static void echo(uint32_t len)
{
	struct ibv_ah *to_b = way(&a, &b.gid), *to_a = way(&b, &a.gid);
	struct ibv_wc wc;

	post_receive(qb, 11, b_in, mb_in);
	post_receive(qa, 12, a_in, ma_in);
	lab_must(post_datagram(qa, 1, a_out, len, ma_out, to_b, qb->qp_num, QKEY), "ibv_post_send");
	wc = lab_done(&b);
	printf("byte_len: %u\n", wc.byte_len);
	memcpy(b_out, message(b_in), wc.byte_len - GRH);
	lab_must(post_datagram(qb, 2, b_out, wc.byte_len - GRH, mb_out, to_a, wc.src_qp, QKEY), "ibv_post_send");
	(void)lab_done(&a); /* its own send */
	(void)lab_done(&a);
	(void)lab_done(&b);
	printf("echo: %s\n", memcmp(message(a_in), a_out, len) == 0 ? "the same" : "something else");
	lab_must(ibv_destroy_ah(to_b), "ibv_destroy_ah");
	lab_must(ibv_destroy_ah(to_a), "ibv_destroy_ah");
}

/* Given: one byte more than the largest MTU. */
static void oversize(void)
{
	struct ibv_ah *to_b = way(&a, &b.gid);
	struct ibv_wc wc = {.status = IBV_WC_SUCCESS};

	lab_must(post_datagram(qa, 3, a_out, 4097, ma_out, to_b, qb->qp_num, QKEY), "ibv_post_send");
	(void)lab_poll(&a, &wc);
	printf("oversize: %s\n", ibv_wc_status_str(wc.status));
	lab_must(ibv_destroy_ah(to_b), "ibv_destroy_ah");
}

/* Given: one datagram, and whether B hears of it. */
static void into_the_dark(uint64_t wr_id, uint32_t len, uint32_t qkey, const char *name)
{
	struct ibv_ah *to_b = way(&a, &b.gid);
	struct ibv_wc at_a = {.status = IBV_WC_GENERAL_ERR}, at_b;

	post_receive(qb, 10 + wr_id, b_in, mb_in);
	lab_must(post_datagram(qa, wr_id, a_out, len, ma_out, to_b, qb->qp_num, qkey), "ibv_post_send");
	(void)lab_poll(&a, &at_a);
	printf("%s: A %s, B %s\n", name, ibv_wc_status_str(at_a.status), lab_poll(&b, &at_b) ? "has it" : "nothing");
	lab_must(ibv_destroy_ah(to_b), "ibv_destroy_ah");
}

static void wrong(uint32_t len)
{
	into_the_dark(4, len, QKEY + 1, "wrong Q_Key");
}

static void loss(uint32_t len)
{
	into_the_dark(5, len, QKEY, "lost");
}

int main(int argc, char **argv)
{
	unsigned long seed = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
	const char *what = argc > 1 ? argv[1] : "all";
	uint32_t len = (uint32_t)(20 + seed % 40);
	int all = strcmp(what, "all") == 0;

	lab_open(&a, &b);
	ma_out = lab_reg(&a, a_out, sizeof(a_out), 0);
	ma_in = lab_reg(&a, a_in, sizeof(a_in), IBV_ACCESS_LOCAL_WRITE);
	mb_out = lab_reg(&b, b_out, sizeof(b_out), 0);
	mb_in = lab_reg(&b, b_in, sizeof(b_in), IBV_ACCESS_LOCAL_WRITE);
	for (size_t i = 0; i < sizeof(a_out); i++)
		a_out[i] = (char)(i * 7 + seed);
	memset(a_in, 0xbb, sizeof(a_in));
	memset(b_in, 0xbb, sizeof(b_in));
	qa = lab_qp(&a, IBV_QPT_UD, 8, 8);
	qb = lab_qp(&b, IBV_QPT_UD, 8, 8);
	ready(qa);
	ready(qb);
	if (all || strcmp(what, "echo") == 0)
		echo(len);
	if (strcmp(what, "oversize") == 0)
		oversize();
	if (all || strcmp(what, "wrong") == 0)
		wrong(len);
	if (all || strcmp(what, "loss") == 0)
		loss(len);
	lab_must(ibv_destroy_qp(qa), "ibv_destroy_qp");
	lab_must(ibv_destroy_qp(qb), "ibv_destroy_qp");
	lab_must(ibv_dereg_mr(ma_out), "ibv_dereg_mr");
	lab_must(ibv_dereg_mr(ma_in), "ibv_dereg_mr");
	lab_must(ibv_dereg_mr(mb_out), "ibv_dereg_mr");
	lab_must(ibv_dereg_mr(mb_in), "ibv_dereg_mr");
	lab_close_side(&a);
	lab_close_side(&b);
	return 0;
}
