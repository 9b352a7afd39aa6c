/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * Lab 03: send. With "send LEN", one message of that many bytes goes from A to B. With "fill", A posts requests that
 * ask for no completion until its queue is full, and then finds out how to go on.
 */
#include "lab.h"

#define DEPTH 4 /* requests that the send queue holds */

static char a_buf[8192], b_buf[8192];
static struct lab_side a, b;
static struct ibv_mr *ma, *mb;
static struct ibv_qp *qa, *qb;

/* One receive for up to 8192 bytes. */
static void post_receive(uint64_t wr_id)
{
	struct ibv_sge sge = {.addr = (uintptr_t)b_buf, .length = sizeof(b_buf), .lkey = mb->lkey};
	struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1}, *bad;

	lab_must(ibv_post_recv(qb, &wr, &bad), "ibv_post_recv");
}

/* One SEND of `len` bytes; 0, or what ibv_post_send returned. */
static int post_send(uint64_t wr_id, uint32_t len, int signaled)
{
	/* TODO(1): a SEND of the first `len` bytes of a_buf. No bytes: no piece of memory either. Signaled requests ask
	 * for a completion (IBV_SEND_SIGNALED), others do not. */
	(void)wr_id;
	(void)len;
	(void)signaled;
	return 0;
}

static void send_one(uint32_t len)
{
	/* TODO(2): the receive (wr_id 1) before the send (wr_id 2, signaled); then wait for both completions
	 * (lab_done): which of the two comes first? */
	(void)len;
}

static void fill(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < 3 * DEPTH; i++)
		post_receive(100 + i);
	/* TODO(3): post unsignaled SENDs of 8 bytes with wr_id 1, 2, 3 ... until ibv_post_send refuses one; n of them
	 * were accepted. Take the n completions of B, look in vain for one of A (lab_poll), and try once more, with
	 * wr_id 50. */
	printf("full after %u\n", n);

	/* The queue is stuck: nothing in it was asked to say that it is done. A new queue pair, and the last one is
	 * signaled. */
	lab_must(ibv_destroy_qp(qa), "ibv_destroy_qp");
	lab_must(ibv_destroy_qp(qb), "ibv_destroy_qp");
	qa = lab_qp(&a, IBV_QPT_RC, DEPTH, 16);
	qb = lab_qp(&b, IBV_QPT_RC, DEPTH, 16);
	lab_connect(&a, qa, &b, qb, &(struct lab_path)LAB_PATH);
	for (unsigned i = 0; i <= DEPTH; i++)
		post_receive(200 + i);
	/* TODO(4): on the new pair four SENDs of 8 bytes, wr_id 61 to 64, of which the last one alone is signaled. Take
	 * its completion. Is there room now? One more: wr_id 70, signaled, and its completion. */
	for (unsigned i = 0; i <= DEPTH; i++)
		(void)lab_done(&b);
}

int main(int argc, char **argv)
{
	struct lab_path path = LAB_PATH;

	if (argc < 2) {
		fprintf(stderr, "usage: lab send LEN | fill\n");
		return 2;
	}
	lab_open(&a, &b);
	ma = lab_reg(&a, a_buf, sizeof(a_buf), IBV_ACCESS_LOCAL_WRITE);
	mb = lab_reg(&b, b_buf, sizeof(b_buf), IBV_ACCESS_LOCAL_WRITE);
	for (size_t i = 0; i < sizeof(a_buf); i++)
		a_buf[i] = (char)(i * 7 + i / 251);
	qa = lab_qp(&a, IBV_QPT_RC, DEPTH, 16);
	qb = lab_qp(&b, IBV_QPT_RC, DEPTH, 16);
	lab_connect(&a, qa, &b, qb, &path);
	if (strcmp(argv[1], "fill") == 0)
		fill();
	else
		send_one(argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 8);
	lab_must(ibv_destroy_qp(qa), "ibv_destroy_qp");
	lab_must(ibv_destroy_qp(qb), "ibv_destroy_qp");
	lab_must(ibv_dereg_mr(ma), "ibv_dereg_mr");
	lab_must(ibv_dereg_mr(mb), "ibv_dereg_mr");
	lab_close_side(&a);
	lab_close_side(&b);
	return 0;
}
