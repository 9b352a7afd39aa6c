/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * Lab 06, finished, to look at: what a device does about loss. Three messages of 8 packets, each of which loses
 * something else (the faults of the run say what), and then eight requests that fail. Questions 1 to 5 are about it.
 *
 *   wr_id 1     the last packet gets lost
 *   wr_id 2     one in the middle
 *   wr_id 3     the ACK
 *   wr_id 'a'   and on to 'h': the eight situations of question 5
 */
#include "lab.h"

static char a_buf[2048], b_buf[2048];
static struct lab_side a, b;
static struct ibv_mr *ma, *mb;
static struct ibv_qp *qa, *qb;

/* What may be wrong with a request, but for what the connection is. */
struct wrong {
	int lkey, rkey;
};

static void post_write(uint64_t wr_id, uint32_t len, enum ibv_wr_opcode opcode, struct wrong w)
{
	struct ibv_sge sge = {.addr = (uintptr_t)a_buf, .length = len, .lkey = ma->lkey ^ (w.lkey ? 0x10101u : 0u)};
	struct ibv_send_wr wr = {
		.wr_id = wr_id, .sg_list = &sge, .num_sge = 1, .opcode = opcode, .send_flags = IBV_SEND_SIGNALED};
	struct ibv_send_wr *bad;

	wr.wr.rdma.remote_addr = (uintptr_t)b_buf;
	wr.wr.rdma.rkey = mb->rkey ^ (w.rkey ? 0x10101u : 0u);
	lab_must(ibv_post_send(qa, &wr, &bad), "ibv_post_send");
}

static void make(void)
{
	qa = lab_qp(&a, IBV_QPT_RC, 4, 4);
	qb = lab_qp(&b, IBV_QPT_RC, 4, 4);
}

static void unmake(void)
{
	lab_must(ibv_destroy_qp(qa), "ibv_destroy_qp");
	lab_must(ibv_destroy_qp(qb), "ibv_destroy_qp");
}

static void messages(struct lab_path path)
{
	path.retry_cnt = 7;
	make();
	lab_connect(&a, qa, &b, qb, &path);
	for (uint64_t i = 1; i <= 3; i++) {
		post_write(i, sizeof(a_buf), IBV_WR_RDMA_WRITE, (struct wrong){0, 0});
		(void)lab_done(&a);
	}
	unmake();
}

/* One request in situation `which`; its status. */
static enum ibv_wc_status failing(char which, struct lab_path path)
{
	struct ibv_wc wc = {.status = IBV_WC_GENERAL_ERR};
	union ibv_gid gid_at_b = a.gid;
	uint32_t qpn, psn_at_b = path.psn_a;

	make();
	lab_init(qa, &path);
	lab_init(qb, &path);
	qpn = qb->qp_num;
	if (which == 'b')
		qpn ^= 0x1000;
	if (which == 'd')
		psn_at_b = (psn_at_b - 100) & 0xffffff;
	if (which == 'f')
		gid_at_b = b.gid;
	lab_meet_one(qa, qpn, &b.gid, path.psn_a, path.psn_b, &path);
	if (which != 'a')
		lab_meet_one(qb, qa->qp_num, &gid_at_b, path.psn_b, psn_at_b, &path);
	post_write((uint64_t)which, 16, which == 'e' ? IBV_WR_SEND : IBV_WR_RDMA_WRITE,
		   (struct wrong){which == 'h', which == 'c'});
	if (!lab_poll(&a, &wc))
		fprintf(stderr, "%c: no completion\n", which);
	unmake();
	return wc.status;
}

int main(int argc, char **argv)
{
	unsigned long seed = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
	struct lab_path path = LAB_PATH;
	char twelve[16] = "";

	path.mtu = IBV_MTU_256;
	path.timeout = (uint8_t)(10 + seed % 5);
	path.retry_cnt = (uint8_t)(1 + seed % 3);
	path.rnr_retry = 0;
	lab_open(&a, &b);
	ma = lab_reg(&a, a_buf, sizeof(a_buf), IBV_ACCESS_LOCAL_WRITE);
	mb = lab_reg(&b, b_buf, sizeof(b_buf), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	messages(path);
	for (char which = 'a'; which <= 'h'; which++) {
		enum ibv_wc_status status = failing(which, path);

		printf("%c: status %d\n", which, status);
		if (status == IBV_WC_RETRY_EXC_ERR)
			twelve[strlen(twelve)] = which;
	}
	printf("twelve: %s\n", twelve);
	lab_must(ibv_dereg_mr(ma), "ibv_dereg_mr");
	lab_must(ibv_dereg_mr(mb), "ibv_dereg_mr");
	lab_close_side(&a);
	lab_close_side(&b);
	return 0;
}
