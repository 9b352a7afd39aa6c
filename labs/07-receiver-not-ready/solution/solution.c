/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * Lab 07: a receive is a resource that the receiver owes the sender. Three runs:
 *
 *   race     A sends before B has posted a receive; B posts it only after A was told to wait
 *   order    the same messages, with the receives posted before the queue pair can be reached
 *   credits  eight messages, and B has room for two at a time: A sends only what it has been promised room for
 */
#include <arpa/inet.h>

#include "lab.h"

#define ROOM 2     /* receives that B keeps posted */
#define MESSAGES 8 /* of the run with credits */

static char a_buf[64] = "A", b_buf[64] = "B";
static struct lab_side a, b;
static struct ibv_mr *ma, *mb;
static struct ibv_qp *qa, *qb;
static struct lab_path path = LAB_PATH;

static void post_receive(struct ibv_qp *qp, uint64_t wr_id)
{
	int at_b = qp == qb;
	struct ibv_sge sge = {
		.addr = (uintptr_t)(at_b ? b_buf : a_buf), .length = 64, .lkey = at_b ? mb->lkey : ma->lkey};
	struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1}, *bad;

	lab_must(ibv_post_recv(qp, &wr, &bad), "ibv_post_recv");
}

/* 16 bytes, signaled; with the other opcode the write also wants a receive at the other side. */
static void post_send(struct ibv_qp *qp, uint64_t wr_id, enum ibv_wr_opcode opcode)
{
	int at_b = qp == qb;
	struct ibv_sge sge = {
		.addr = (uintptr_t)(at_b ? b_buf : a_buf), .length = 16, .lkey = at_b ? mb->lkey : ma->lkey};
	struct ibv_send_wr wr = {
		.wr_id = wr_id, .sg_list = &sge, .num_sge = 1, .opcode = opcode, .send_flags = IBV_SEND_SIGNALED};
	struct ibv_send_wr *bad;

	wr.imm_data = htonl(7);
	wr.wr.rdma.remote_addr = (uintptr_t)(at_b ? a_buf : b_buf);
	wr.wr.rdma.rkey = at_b ? ma->rkey : mb->rkey;
	lab_must(ibv_post_send(qp, &wr, &bad), "ibv_post_send");
}

/* Given. No receive at all, and A does not wait: how does it end? */
static void race(void)
{
	struct ibv_wc wc = {.status = IBV_WC_GENERAL_ERR};

	lab_connect(&a, qa, &b, qb, &path);
	post_send(qa, 1, IBV_WR_SEND);
	(void)lab_poll(&a, &wc);
	printf("race: %s\n", ibv_wc_status_str(wc.status));
}

/* Given. An eager A: it sends as soon as it can, and waits for the end of it. */
static void meet_eagerly(void)
{
	lab_meet(&a, qa, &b, qb, &path);
	post_send(qa, 1, IBV_WR_SEND);
	(void)lab_done(&a);
}

static void order(void)
{
	lab_init(qa, &path);
	lab_init(qb, &path);
	post_receive(qb, 11); /* nobody can reach B yet: it is not in RTR */
	post_receive(qb, 12);
	meet_eagerly();
	(void)lab_done(&b);
	post_send(qa, 2, IBV_WR_RDMA_WRITE_WITH_IMM); /* it, too, uses up a receive */
	(void)lab_done(&a);
	(void)lab_done(&b);
}

static void credits(void)
{
	unsigned credit = ROOM, sent = 0, done = 0;

	lab_init(qa, &path);
	lab_init(qb, &path);
	for (unsigned i = 0; i < ROOM; i++)
		post_receive(qb, 100 + i);
	post_receive(qa, 300); /* for the first credit that comes back */
	lab_meet(&a, qa, &b, qb, &path);
	while (done < MESSAGES) {
		while (credit > 0 && sent < MESSAGES) {
			post_send(qa, 1 + sent++, IBV_WR_SEND);
			credit--;
		}
		(void)lab_done(&a); /* the send */
		(void)lab_done(&b); /* the message is used ... */
		post_receive(qb, 100 + ROOM + done);
		post_send(qb, 200 + done, IBV_WR_SEND); /* ... and its place is given back */
		(void)lab_done(&b);
		(void)lab_done(&a);
		post_receive(qa, 301 + done);
		credit++;
		done++;
	}
}

int main(int argc, char **argv)
{
	path.rnr_retry = 0; /* whoever is not ready has lost: nothing is hidden by waiting */
	lab_open(&a, &b);
	ma = lab_reg(&a, a_buf, sizeof(a_buf), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	mb = lab_reg(&b, b_buf, sizeof(b_buf), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	qa = lab_qp(&a, IBV_QPT_RC, 16, 16);
	qb = lab_qp(&b, IBV_QPT_RC, 16, 16);
	if (argc > 1 && strcmp(argv[1], "credits") == 0)
		credits();
	else if (argc > 1 && strcmp(argv[1], "order") == 0)
		order();
	else
		race();
	if (argc > 1 && strcmp(argv[1], "both") == 0) { /* race, and then order */
		lab_must(ibv_destroy_qp(qa), "ibv_destroy_qp");
		lab_must(ibv_destroy_qp(qb), "ibv_destroy_qp");
		qa = lab_qp(&a, IBV_QPT_RC, 16, 16);
		qb = lab_qp(&b, IBV_QPT_RC, 16, 16);
		order();
	}
	lab_must(ibv_destroy_qp(qa), "ibv_destroy_qp");
	lab_must(ibv_destroy_qp(qb), "ibv_destroy_qp");
	lab_must(ibv_dereg_mr(ma), "ibv_dereg_mr");
	lab_must(ibv_dereg_mr(mb), "ibv_dereg_mr");
	lab_close_side(&a);
	lab_close_side(&b);
	return 0;
}
