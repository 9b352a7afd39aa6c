/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * victim.c - a plain verbs program on two devices in one process, to be traced and harmed: it sends, writes, reads ...
 * from the first to the second and prints what completes. It knows of no tracer. Most harm is done to it from outside
 * (vs-trace run --inject, --fault); what only a program can do wrong itself, it does when told by a word.
 *
 *   victim OP [n=N] [len=BYTES] [wait=MS] [mistake ...]      OP: send write imm read atomic ud uc ucwrite
 *
 * Mistakes: pd lpd (a region in another PD), dereg ldereg (a region that is gone), late (receives after the sends),
 * destroy, error (the peer's queue pair, before the sends), flood (posts without waiting), recvflood, unsignaled,
 * noarm, sges (one more than it may), err (own queue pair to ERR), nopoll (the peer does not poll), exit (without
 * cleaning up), busy (a CQ is destroyed that is in use). Not mistakes: ex (extended CQs and ibv_wr_*), halves (a
 * request's buffer is two SGEs), fork, batch (as many completions as there are by one poll).
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PSN 0x123456
#define BUF 16384
#define ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)
#define DEPTH 16

struct side {
	struct ibv_context *context;
	struct ibv_pd *pd, *other_pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	uint32_t lkey, rkey; /* its, also when it is gone */
	struct ibv_qp *qp;
	union ibv_gid gid;
	char buf[BUF];
};

static struct side a, b;
static char **words;
static const char *op;
static unsigned n = 1, len = 64, wait_ms = 2000;

static bool told(const char *word)
{
	for (char **w = words; *w != NULL; w++)
		if (strcmp(*w, word) == 0)
			return true;
	return false;
}

static void number(const char *name, unsigned *v)
{
	for (char **w = words; *w != NULL; w++)
		if (strncmp(*w, name, strlen(name)) == 0)
			*v = (unsigned)strtoul(*w + strlen(name), NULL, 0);
}

static void done(const char *what)
{
	printf("%s: %s\n", what, strerror(errno));
	exit(0);
}

static enum ibv_qp_type type(void)
{
	return strcmp(op, "ud") == 0 ? IBV_QPT_UD : strncmp(op, "uc", 2) == 0 ? IBV_QPT_UC : IBV_QPT_RC;
}

/* ---- setting up ---- */

static struct ibv_cq *make_cq(struct side *s)
{
	struct ibv_cq_init_attr_ex attr = {.cqe = 32, .wc_flags = IBV_CREATE_CQ_SUP_WC_FLAGS & 0x7f};

	if (!told("ex"))
		return ibv_create_cq(s->context, 32, NULL, s->channel, 0);
	attr.channel = s->channel;
	attr.wc_flags = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_QP_NUM;
	return ibv_cq_ex_to_cq(ibv_create_cq_ex(s->context, &attr));
}

static struct ibv_qp *make_qp(struct side *s)
{
	struct ibv_qp_init_attr_ex attr = {.qp_type = type(),
					   .send_cq = s->cq,
					   .recv_cq = s->cq,
					   .cap = {.max_send_wr = DEPTH,
						   .max_recv_wr = DEPTH,
						   .max_send_sge = 2,
						   .max_recv_sge = 2,
						   .max_inline_data = 64},
					   .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
					   .pd = s->pd,
					   .send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE |
							     IBV_QP_EX_WITH_RDMA_READ};
	struct ibv_qp_init_attr old = {.qp_type = type(), .send_cq = s->cq, .recv_cq = s->cq, .cap = attr.cap};

	return told("ex") ? ibv_create_qp_ex(s->context, &attr) : ibv_create_qp(s->pd, &old);
}

static void open_side(struct side *s, struct ibv_device *device, bool other_pd)
{
	s->context = ibv_open_device(device);
	if (s->context == NULL || ibv_query_gid(s->context, 1, 0, &s->gid) != 0)
		done("open");
	s->pd = ibv_alloc_pd(s->context);
	s->other_pd = ibv_alloc_pd(s->context);
	s->channel = told("noarm") ? ibv_create_comp_channel(s->context) : NULL;
	s->mr = ibv_reg_mr(other_pd ? s->other_pd : s->pd, s->buf, sizeof(s->buf), ACCESS);
	if (s->mr == NULL)
		done("reg_mr");
	s->lkey = s->mr->lkey;
	s->rkey = s->mr->rkey;
	s->cq = make_cq(s);
	if (s->cq == NULL)
		done("create_cq");
	s->qp = make_qp(s);
	if (s->qp == NULL)
		done("create_qp");
}

static void modify(struct side *s, struct ibv_qp_attr *attr, int mask)
{
	int rc = ibv_modify_qp(s->qp, attr, mask);

	if (rc == 0)
		return;
	errno = rc;
	done("modify_qp");
}

static void connect_to(struct side *s, const struct side *peer)
{
	struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 0x1234};
	struct ibv_qp_attr rtr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer->qp->qp_num,
		.rq_psn = PSN,
		.max_dest_rd_atomic = 4,
		.min_rnr_timer = 12,
		.ah_attr = {.is_global = 1, .port_num = 1, .grh = {.dgid = peer->gid, .hop_limit = 64}}};
	struct ibv_qp_attr rts = {.qp_state = IBV_QPS_RTS,
				  .sq_psn = PSN,
				  .timeout = 10,
				  .retry_cnt = 3,
				  .rnr_retry = 7,
				  .max_rd_atomic = 4};
	int to_init = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT, to_rtr = IBV_QP_STATE,
	    to_rts = IBV_QP_STATE | IBV_QP_SQ_PSN;

	init.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
	to_init |= type() == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;
	if (type() != IBV_QPT_UD)
		to_rtr |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	if (type() == IBV_QPT_RC) {
		to_rtr |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
		to_rts |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
	}
	modify(s, &init, to_init);
	modify(s, &rtr, to_rtr);
	modify(s, &rts, to_rts);
}

/* ---- work ---- */

static void post_receives(struct side *s, unsigned count)
{
	struct ibv_sge sge = {.addr = (uintptr_t)s->buf, .length = sizeof(s->buf), .lkey = s->lkey};

	for (unsigned i = 0; i < count; i++) {
		struct ibv_recv_wr wr = {.wr_id = 100 + i, .sg_list = &sge, .num_sge = 1}, *bad;
		int rc = ibv_post_recv(s->qp, &wr, &bad);

		if (rc != 0) {
			errno = rc;
			done("post_recv");
		}
	}
}

static enum ibv_wr_opcode opcode(void)
{
	return strcmp(op, "write") == 0 || strcmp(op, "ucwrite") == 0 ? IBV_WR_RDMA_WRITE
	       : strcmp(op, "imm") == 0                               ? IBV_WR_RDMA_WRITE_WITH_IMM
	       : strcmp(op, "read") == 0                              ? IBV_WR_RDMA_READ
	       : strcmp(op, "atomic") == 0                            ? IBV_WR_ATOMIC_FETCH_AND_ADD
								      : IBV_WR_SEND;
}

static struct ibv_sge *halves(void)
{
	static struct ibv_sge sge[2];

	sge[0] = (struct ibv_sge){.addr = (uintptr_t)a.buf, .length = len / 2, .lkey = a.lkey};
	sge[1] = (struct ibv_sge){.addr = (uintptr_t)a.buf + len / 2, .length = len - len / 2, .lkey = a.lkey};
	return sge;
}

static int post_ex(unsigned i)
{
	struct ibv_qp_ex *q = ibv_qp_to_qp_ex(a.qp);

	ibv_wr_start(q);
	q->wr_id = i;
	q->wr_flags = IBV_SEND_SIGNALED;
	if (opcode() == IBV_WR_RDMA_WRITE)
		ibv_wr_rdma_write(q, b.rkey, (uintptr_t)b.buf);
	else if (opcode() == IBV_WR_RDMA_READ)
		ibv_wr_rdma_read(q, b.rkey, (uintptr_t)b.buf);
	else
		ibv_wr_send(q);
	if (told("halves"))
		ibv_wr_set_sge_list(q, 2, halves());
	else
		ibv_wr_set_sge(q, a.lkey, (uintptr_t)a.buf, len);
	return ibv_wr_complete(q);
}

static int post(struct ibv_ah *ah, unsigned i)
{
	struct ibv_sge sge[3] = {{.addr = (uintptr_t)a.buf, .length = len, .lkey = a.lkey}};
	struct ibv_send_wr wr = {.wr_id = i,
				 .sg_list = told("halves") ? halves() : sge,
				 .num_sge = told("sges")     ? 3
					    : told("halves") ? 2
							     : 1,
				 .opcode = opcode(),
				 .send_flags = told("unsignaled") ? 0 : IBV_SEND_SIGNALED};
	struct ibv_send_wr *bad;

	if (opcode() == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		sge[0].length = 8;
		wr.wr.atomic.remote_addr = (uintptr_t)b.buf;
		wr.wr.atomic.rkey = b.rkey;
	} else if (type() == IBV_QPT_UD) {
		wr.wr.ud.ah = ah;
		wr.wr.ud.remote_qpn = b.qp->qp_num;
		wr.wr.ud.remote_qkey = 0x1234;
	} else {
		wr.wr.rdma.remote_addr = (uintptr_t)b.buf;
		wr.wr.rdma.rkey = b.rkey;
	}
	return told("ex") ? post_ex(i) : ibv_post_send(a.qp, &wr, &bad);
}

static int poll_ex(struct side *s, struct ibv_wc *wc)
{
	struct ibv_poll_cq_attr attr = {0};
	struct ibv_cq_ex *cq = (struct ibv_cq_ex *)(void *)s->cq;

	if (ibv_start_poll(cq, &attr) != 0)
		return 0;
	wc->wr_id = cq->wr_id;
	wc->status = cq->status;
	ibv_end_poll(cq);
	return 1;
}

static unsigned fetch(struct side *s, const char *name)
{
	struct ibv_wc wc[DEPTH] = {0};
	int got = told("ex") ? poll_ex(s, wc) : ibv_poll_cq(s->cq, told("batch") ? DEPTH : 1, wc);

	for (int i = 0; i < got; i++)
		printf("%s wr=%llu %s\n", name, (unsigned long long)wc[i].wr_id, ibv_wc_status_str(wc[i].status));
	return got > 0 ? (unsigned)got : 0;
}

/* Waits for completions of the first side, at most so long: by an event, or by looking. How many came. */
static unsigned wait_some(void)
{
	unsigned got;

	if (told("noarm")) {
		struct pollfd fd = {.fd = a.channel->fd, .events = POLLIN};

		printf("event: %d\n", poll(&fd, 1, (int)wait_ms));
		return 0;
	}
	for (unsigned ms = 0; ms < wait_ms; ms++) {
		for (unsigned looks = 0; looks < 8; looks++)
			if ((got = fetch(&a, "a")) > 0)
				return got;
		if (!told("nopoll"))
			(void)fetch(&b, "b");
		usleep(1000);
	}
	return 0;
}

static void work(void)
{
	struct ibv_ah_attr attr = {.is_global = 1, .port_num = 1, .grh = {.dgid = b.gid, .hop_limit = 64}};
	struct ibv_ah *ah = type() == IBV_QPT_UD ? ibv_create_ah(a.pd, &attr) : NULL;
	unsigned posted = 0, got = 0;

	for (unsigned i = 1; i <= n; i++) {
		int rc = post(ah, i);

		if (rc != 0) {
			errno = rc;
			done("post_send");
		}
		posted++;
		if (told("late"))
			continue;
		if (told("unsignaled") && !told("flood"))
			usleep(1000);
		else if (!told("flood"))
			got += wait_some();
	}
	if (told("late")) {
		usleep(3000);
		post_receives(&b, n);
	}
	for (unsigned more = 1; got < posted && !told("unsignaled") && more > 0; got += more)
		more = wait_some();
	while (!told("nopoll") && fetch(&b, "b"))
		;
	printf("posted %u, completed %u\n", posted, got);
}

static void mistakes(void)
{
	struct ibv_qp_attr err = {.qp_state = IBV_QPS_ERR};

	if (told("dereg"))
		(void)ibv_dereg_mr(b.mr);
	if (told("ldereg"))
		(void)ibv_dereg_mr(a.mr);
	if (told("destroy"))
		(void)ibv_destroy_qp(b.qp);
	if (told("busy"))
		(void)ibv_destroy_cq(a.cq);
	if (told("error"))
		(void)ibv_modify_qp(b.qp, &err, IBV_QP_STATE);
	if (told("err"))
		(void)ibv_modify_qp(a.qp, &err, IBV_QP_STATE);
}

static void close_side(struct side *s)
{
	if (!told("destroy") || s != &b)
		(void)ibv_destroy_qp(s->qp);
	(void)ibv_destroy_cq(s->cq);
	if (!told(s == &a ? "ldereg" : "dereg"))
		(void)ibv_dereg_mr(s->mr);
	(void)ibv_dealloc_pd(s->pd);
	(void)ibv_dealloc_pd(s->other_pd);
	if (s->channel != NULL)
		(void)ibv_destroy_comp_channel(s->channel);
	(void)ibv_close_device(s->context);
}

int main(int argc, char **argv)
{
	struct ibv_device **list;
	int devices = 0;

	if (argc < 2)
		return 2;
	op = argv[1];
	words = argv + 2;
	number("n=", &n);
	number("len=", &len);
	number("wait=", &wait_ms);
	if (told("fork")) {
		pid_t pid = fork();

		if (pid > 0)
			return waitpid(pid, NULL, 0) == pid ? 0 : 1;
	}
	list = ibv_get_device_list(&devices);
	if (list == NULL || devices < 1)
		return 2;
	open_side(&a, list[0], told("lpd"));
	open_side(&b, list[devices > 1 ? 1 : 0], told("pd"));
	connect_to(&a, &b);
	connect_to(&b, &a);
	if (!told("late"))
		post_receives(&b, told("recvflood") ? DEPTH + 4 : n < DEPTH ? n : DEPTH);
	mistakes();
	work();
	if (told("exit"))
		_exit(0);
	close_side(&a);
	close_side(&b);
	ibv_free_device_list(list);
	return 0;
}
