/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * ccase_cqex.c - CQ-018: an extended completion queue tells of each completion what it was asked for, its flags say
 * which fields mean something, and its times never go back (ibv_create_cq_ex(3)).
 *
 * A queue pair that is connected with itself makes the completions.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <time.h>

#include "ccase.h"
#include "verbs.h"

#define PATIENCE_MS 2000
#define PSN 0xfffffeu
#define TELLING (IBV_WC_WITH_IMM | IBV_WC_WITH_INV) /* IBV_WC_GRH means something for datagrams alone */
#define FIELDS (IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_IMM | IBV_WC_EX_WITH_QP_NUM)

struct scene {
	struct vc_verbs *v;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_cq_ex *cq;
	struct ibv_qp *qp;
	bool times;
	uint64_t last; /* the newest time */
	unsigned seen[2];
};

static uint8_t memory[2048];

/* What is sent, and what its two completions have to tell. */
static const struct job {
	enum ibv_wr_opcode post;
	enum ibv_wc_opcode sent, received;
	uint32_t len;
	bool has_imm;
	uint32_t imm;
} job[] = {
	{IBV_WR_SEND, IBV_WC_SEND, IBV_WC_RECV, 8, false, 0},
	{IBV_WR_SEND_WITH_IMM, IBV_WC_SEND, IBV_WC_RECV, 16, true, 0x11223344},
	{IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WC_RDMA_WRITE, IBV_WC_RECV_RDMA_WITH_IMM, 24, true, 0xffffffff},
	{IBV_WR_SEND, IBV_WC_SEND, IBV_WC_RECV, 0, false, 0},
};
#define JOBS (sizeof(job) / sizeof(job[0]))

static void close_scene(struct scene *s)
{
	if (s->qp != NULL)
		(void)s->v->call.destroy_qp(s->qp);
	if (s->cq != NULL)
		(void)s->v->call.destroy_cq(ibv_cq_ex_to_cq(s->cq));
	if (s->mr != NULL)
		(void)s->v->call.dereg_mr(s->mr);
	if (s->pd != NULL)
		(void)s->v->call.dealloc_pd(s->pd);
}

/* With times, or where the device has none without. */
static struct ibv_cq_ex *make_queue(struct scene *s)
{
	struct ibv_cq_init_attr_ex a = {.cqe = 16, .wc_flags = FIELDS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(s->v->ctx, &a);

	s->times = cq != NULL;
	if (cq != NULL)
		return cq;
	a.wc_flags = FIELDS;
	return ibv_create_cq_ex(s->v->ctx, &a);
}

static bool connect_with_itself(const struct scene *s)
{
	const struct vc_gids *g = &s->v->gids;
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT,
				.port_num = 1,
				.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE};
	unsigned e = 0;

	while (e < VC_PEER_ENCAPS && !g->has[e])
		e++;
	if (e == VC_PEER_ENCAPS ||
	    s->v->call.modify_qp(s->qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) != 0)
		return false;
	a = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_256,
		.dest_qp_num = s->qp->qp_num,
		.rq_psn = PSN,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.ah_attr = {.is_global = 1, .port_num = 1, .grh = {.sgid_index = g->index[e], .hop_limit = 64}}};
	memcpy(a.ah_attr.grh.dgid.raw, g->gid[e], 16);
	if (s->v->call.modify_qp(s->qp, &a,
				 IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
					 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) != 0)
		return false;
	a = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
				 .sq_psn = PSN,
				 .timeout = 14,
				 .retry_cnt = 7,
				 .rnr_retry = 7,
				 .max_rd_atomic = 1};
	return s->v->call.modify_qp(s->qp, &a,
				    IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					    IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC) == 0;
}

static bool open_scene(struct scene *s, const struct vc_options *o, struct vs_drill_result *res)
{
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC, .cap = {JOBS, JOBS, 1, 1, 0}, .sq_sig_all = 1};
	char why[256];

	*s = (struct scene){.v = vc_verbs_open(o, why, sizeof(why))};
	if (s->v == NULL) {
		vc_ccase_say(res, VS_VERDICT_ERROR, "%s", why);
		return false;
	}
	s->cq = make_queue(s);
	if (s->cq == NULL) {
		vc_ccase_say(res, VS_VERDICT_SKIP, "the device has no extended completion queues");
		return false;
	}
	s->pd = s->v->call.alloc_pd(s->v->ctx);
	if (s->pd != NULL)
		s->mr = s->v->call.reg_mr(s->pd, memory, sizeof(memory),
					  IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	init.send_cq = init.recv_cq = ibv_cq_ex_to_cq(s->cq);
	if (s->mr != NULL)
		s->qp = s->v->call.create_qp(s->pd, &init);
	if (s->qp != NULL && connect_with_itself(s))
		return true;
	vc_ccase_say(res, VS_VERDICT_ERROR, "the objects that the case is about can't be made");
	close_scene(s);
	return false;
}

/* Requests are numbered from 0, receives from 100. */
static bool post_receives(const struct scene *s)
{
	for (unsigned i = 0; i < JOBS; i++) {
		struct ibv_sge in = {(uintptr_t)memory + 1024, 256, s->mr->lkey};
		struct ibv_recv_wr wr = {.wr_id = 100 + i, .sg_list = &in, .num_sge = 1}, *bad;

		if (s->qp->context->ops.post_recv(s->qp, &wr, &bad) != 0)
			return false;
	}
	return true;
}

static bool post(const struct scene *s, unsigned i)
{
	struct ibv_sge out = {(uintptr_t)memory, job[i].len, s->mr->lkey};
	struct ibv_send_wr wr = {.wr_id = i,
				 .sg_list = &out,
				 .num_sge = job[i].len > 0,
				 .opcode = job[i].post,
				 .imm_data = htonl(job[i].imm)},
			   *bad;

	wr.wr.rdma.remote_addr = (uintptr_t)memory + 512;
	wr.wr.rdma.rkey = s->mr->rkey;
	return s->qp->context->ops.post_send(s->qp, &wr, &bad) == 0;
}

/* The completion at hand. False: a verdict is there. */
static bool look(struct scene *s, struct vs_drill_result *res)
{
	const uint64_t id = s->cq->wr_id;
	const bool received = id >= 100;
	const struct job *j = &job[id % 100 % JOBS];
	const enum ibv_wc_opcode want = received ? j->received : j->sent;
	const unsigned flags = ibv_wc_read_wc_flags(s->cq) & (unsigned)TELLING;
	const uint64_t now = s->times ? ibv_wc_read_completion_ts(s->cq) : 0;
	const unsigned long long n = id;

	if (id % 100 != s->seen[received])
		vc_ccase_say(res, VS_VERDICT_FAIL, "wr=%llu came, where %u was next", n,
			     s->seen[received] + (received ? 100 : 0));
	else if (s->cq->status != IBV_WC_SUCCESS)
		vc_ccase_say(res, VS_VERDICT_FAIL, "wr=%llu has status %d", n, (int)s->cq->status);
	else if (ibv_wc_read_opcode(s->cq) != want)
		vc_ccase_say(res, VS_VERDICT_FAIL, "wr=%llu has opcode %d, not %d", n, (int)ibv_wc_read_opcode(s->cq),
			     (int)want);
	else if (ibv_wc_read_qp_num(s->cq) != s->qp->qp_num)
		vc_ccase_say(res, VS_VERDICT_FAIL, "wr=%llu is of queue pair %u, not %u", n, ibv_wc_read_qp_num(s->cq),
			     s->qp->qp_num);
	else if (received && ibv_wc_read_byte_len(s->cq) != j->len)
		vc_ccase_say(res, VS_VERDICT_FAIL, "wr=%llu has %u bytes, not %u", n, ibv_wc_read_byte_len(s->cq),
			     j->len);
	else if (received && flags != (j->has_imm ? (unsigned)IBV_WC_WITH_IMM : 0u))
		vc_ccase_say(res, VS_VERDICT_FAIL, "wr=%llu has the flags 0x%x, and %s immediate data", n, flags,
			     j->has_imm ? "came with" : "had no");
	else if (received && j->has_imm && ntohl(ibv_wc_read_imm_data(s->cq)) != j->imm)
		vc_ccase_say(res, VS_VERDICT_FAIL, "wr=%llu has the immediate data 0x%x, not 0x%x", n,
			     ntohl(ibv_wc_read_imm_data(s->cq)), j->imm);
	else if (now < s->last)
		vc_ccase_say(res, VS_VERDICT_FAIL, "wr=%llu has an earlier time than what completed before it", n);
	s->last = now;
	s->seen[received]++;
	return res->verdict == VS_VERDICT_PASS;
}

/* What is in the queue. An errno; 0: nothing more, or a verdict. */
static int poll_all(struct scene *s, struct vs_drill_result *res)
{
	struct ibv_poll_cq_attr none = {.comp_mask = 0};
	int rc = ibv_start_poll(s->cq, &none);

	if (rc != 0)
		return rc == ENOENT ? 0 : rc;
	while (rc == 0 && look(s, res))
		rc = ibv_next_poll(s->cq);
	ibv_end_poll(s->cq);
	return rc == ENOENT ? 0 : rc;
}

/* One request after the other: a queue that was polled until it was empty has to go on, too. */
static int run_jobs(struct scene *s, struct vs_drill_result *res)
{
	const struct timespec nap = {0, 1000000};
	int rc = 0;

	for (unsigned i = 0; i < JOBS && rc == 0 && res->verdict == VS_VERDICT_PASS; i++) {
		const unsigned all = 2 * (i + 1);

		if (!post(s, i))
			vc_ccase_say(res, VS_VERDICT_ERROR, "request %u is refused", i);
		for (unsigned ms = 0;
		     ms < PATIENCE_MS && rc == 0 && res->verdict == VS_VERDICT_PASS && s->seen[0] + s->seen[1] < all;
		     ms++) {
			rc = poll_all(s, res);
			(void)nanosleep(&nap, NULL);
		}
		if (rc == 0 && res->verdict == VS_VERDICT_PASS && s->seen[0] + s->seen[1] < all)
			vc_ccase_say(res, VS_VERDICT_FAIL, "%u of %u completions came", s->seen[0] + s->seen[1], all);
	}
	return rc;
}

static void extended(const struct vc_options *o, const struct vs_drill_env *env, struct vs_drill_result *res)
{
	struct scene s;
	int rc;

	(void)env;
	if (o->verbs == NULL) {
		vc_ccase_say(res, VS_VERDICT_SKIP, "extended completion queues are the business of libibverbs");
		return;
	}
	if (!open_scene(&s, o, res))
		return;
	if (!post_receives(&s))
		vc_ccase_say(res, VS_VERDICT_ERROR, "the receives are refused");
	rc = run_jobs(&s, res);
	if (rc != 0)
		vc_ccase_say(res, VS_VERDICT_FAIL, "polling failed: %s", strerror(rc));
	if (res->verdict == VS_VERDICT_PASS && !s.times)
		(void)snprintf(res->variant, sizeof(res->variant), "no_times");
	close_scene(&s);
}

const struct vc_ccase vc_ccase_cq_ex = {
	"ccase_cqex.c",
	"case   CQ-018-ex  \"An extended completion queue tells the fields of each completion, and times that never go "
	"back\"\n"
	"clause \"ibv_create_cq_ex(3)\"   class A\n",
	extended,
	true,
};
