/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * Lab 00: a finished program. ref0 sends a message to ref1, then writes 64 bytes into its memory. There is nothing to
 * write here: run it, and read what crossed the wire.
 */
#include "lab.h"

int main(int argc, char **argv)
{
	uint32_t seed = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1;
	static char a_buf[8192], b_buf[8192];
	struct lab_path path = LAB_PATH;
	struct lab_side a, b;
	struct ibv_mr *a_mr, *b_mr;
	struct ibv_qp *qa, *qb;
	struct ibv_sge sge;
	struct ibv_recv_wr recv = {.wr_id = 1, .sg_list = &sge, .num_sge = 1}, *bad_recv;
	struct ibv_send_wr send = {.sg_list = &sge, .num_sge = 1, .send_flags = IBV_SEND_SIGNALED}, *bad_send;

	/* Everything is set up: labs 01 and 02 are about this. */
	lab_open(&a, &b);
	a_mr = lab_reg(&a, a_buf, sizeof(a_buf), IBV_ACCESS_LOCAL_WRITE);
	b_mr = lab_reg(&b, b_buf, sizeof(b_buf), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	qa = lab_qp(&a, IBV_QPT_RC, 8, 8);
	qb = lab_qp(&b, IBV_QPT_RC, 8, 8);
	path.psn_a = seed % 0x1000000;
	lab_connect(&a, qa, &b, qb, &path);

	/* ref1 gets ready to receive. */
	sge = (struct ibv_sge){.addr = (uintptr_t)b_buf, .length = 8192, .lkey = b_mr->lkey};
	lab_must(ibv_post_recv(qb, &recv, &bad_recv), "ibv_post_recv");

	/* ref0 sends a message of a length that is yours alone. */
	sge = (struct ibv_sge){.addr = (uintptr_t)a_buf, .length = 1500 + seed % 4000, .lkey = a_mr->lkey};
	send.wr_id = 2;
	send.opcode = IBV_WR_SEND;
	lab_must(ibv_post_send(qa, &send, &bad_send), "ibv_post_send");
	printf("received: %u\n", lab_done(&b).byte_len);
	(void)lab_done(&a);

	/* ref0 writes into ref1's memory. ref1 does nothing for it. */
	sge.length = 64;
	send.wr_id = 3;
	send.opcode = IBV_WR_RDMA_WRITE;
	send.wr.rdma.remote_addr = (uintptr_t)b_buf;
	send.wr.rdma.rkey = b_mr->rkey;
	lab_must(ibv_post_send(qa, &send, &bad_send), "ibv_post_send");
	(void)lab_done(&a);

	lab_must(ibv_destroy_qp(qa), "ibv_destroy_qp");
	lab_must(ibv_destroy_qp(qb), "ibv_destroy_qp");
	lab_must(ibv_dereg_mr(a_mr), "ibv_dereg_mr");
	lab_must(ibv_dereg_mr(b_mr), "ibv_dereg_mr");
	lab_close_side(&a);
	lab_close_side(&b);
	return 0;
}
