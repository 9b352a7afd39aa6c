/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * Lab 04: B gives A write access to bytes 64 to 127 of its memory, and to nothing else. A uses it; then A tries a wrong
 * key, a READ that nobody allowed, and one byte too far. Each attempt has a connection of its own: an error ends it.
 */
#include "lab.h"

static char a_buf[256], b_buf[256];
static struct lab_side a, b;
static struct ibv_mr *ma, *mb, *all;
static struct ibv_qp *qa, *qb;

static void connection(void)
{
	struct lab_path path = LAB_PATH;

	qa = lab_qp(&a, IBV_QPT_RC, 4, 4);
	qb = lab_qp(&b, IBV_QPT_RC, 4, 4);
	lab_connect(&a, qa, &b, qb, &path);
}

/* A request from A's memory to B's (or back), and how it ended. */
static enum ibv_wc_status attempt(uint64_t wr_id, enum ibv_wr_opcode opcode, char *where, uint32_t len, uint32_t rkey)
{
	struct ibv_wc wc = {.status = IBV_WC_GENERAL_ERR};

	connection();
	/* TODO(2): one signaled request: the first `len` bytes of a_buf, and `where` and `rkey` of the other side
	 * (wr.rdma). */
	(void)opcode;
	(void)where;
	(void)len;
	(void)rkey;
	(void)lab_poll(&a, &wc);
	printf("%llu: %s\n", (unsigned long long)wr_id, ibv_wc_status_str(wc.status));
	if (lab_poll(&b, &wc))
		printf("B was told, too\n");
	lab_must(ibv_destroy_qp(qa), "ibv_destroy_qp");
	lab_must(ibv_destroy_qp(qb), "ibv_destroy_qp");
	return wc.status;
}

int main(int argc, char **argv)
{
	uint32_t seed = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1;

	lab_open(&a, &b);
	memset(a_buf, 0xa0 + (int)(seed % 16), sizeof(a_buf));
	memset(b_buf, 0xbb, sizeof(b_buf));
	ma = lab_reg(&a, a_buf, sizeof(a_buf), IBV_ACCESS_LOCAL_WRITE);
	all = lab_reg(&b, b_buf, sizeof(b_buf), IBV_ACCESS_LOCAL_WRITE); /* for B itself */
	/* TODO(1): what A may do, and where: a region of its own over bytes 64 to 127, which A may write and not read.
	 */
	mb = lab_reg(&b, b_buf, sizeof(b_buf), IBV_ACCESS_LOCAL_WRITE);

	(void)attempt(1, IBV_WR_RDMA_WRITE, b_buf + 64, 64, mb->rkey); /* what is allowed */
	/* TODO(3): three attempts that must fail: wr_id 2, a WRITE with the lkey instead of the rkey; 3, a READ with
	 * the right key; 4, a WRITE of 65 bytes. */

	printf("before: %02x, inside: %02x, behind: %02x\n", b_buf[63] & 0xff, b_buf[64] & 0xff, b_buf[128] & 0xff);
	lab_must(ibv_dereg_mr(ma), "ibv_dereg_mr");
	lab_must(ibv_dereg_mr(mb), "ibv_dereg_mr");
	lab_must(ibv_dereg_mr(all), "ibv_dereg_mr");
	lab_close_side(&a);
	lab_close_side(&b);
	return 0;
}
