/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * data.c - post and poll. What is recorded of a request is written before it is posted, since it may complete before
 * the call returns, and published when it has returned, with what it returned.
 */
#include <string.h>

#include "recorder.h"

#define SGES 32

_Thread_local unsigned rec_depth __attribute__((tls_model("initial-exec")));

/* ---- one request ---- */

static uint32_t sge_bytes(const struct ibv_sge *sge, int n)
{
	uint32_t sum = 0;

	for (int i = 0; i < n; i++)
		sum += sge[i].length;
	return sum;
}

static void more_sges(const struct ibv_context *context, uint32_t qpn, uint64_t wr_id, const struct ibv_sge *sge, int n)
{
	for (int i = 1; i < n; i++) {
		struct rec *r = rec_begin(REC_SGE, context);

		if (r == NULL)
			return;
		r->n = (uint8_t)i;
		r->qpn = qpn;
		r->wr = wr_id;
		r->w[1] = sge[i].length;
		r->w[3] = sge[i].lkey;
		r->a[1] = sge[i].addr;
	}
}

/* The first bytes of what a request sends, when that was asked for. */
static void payload(const struct ibv_context *context, uint32_t qpn, const struct ibv_sge *sge, int n)
{
	unsigned left = rec_state.payload, at = 0;

	for (int i = 0; i < n && left > 0; i++)
		for (uint32_t from = 0; from < sge[i].length && left > 0;) {
			uint32_t part = sge[i].length - from < 40 ? sge[i].length - from : 40;
			struct rec *r = rec_begin(REC_PAYLOAD, context);

			if (r == NULL)
				return;
			part = part < left ? part : left;
			r->n = (uint8_t)part;
			r->qpn = qpn;
			r->wr = at;
			memcpy((char *)r + offsetof(struct rec, w), (const char *)(uintptr_t)sge[i].addr + from, part);
			from += part;
			at += part;
			left -= part;
		}
}

static bool names_remote(enum ibv_wr_opcode op)
{
	return op == IBV_WR_RDMA_WRITE || op == IBV_WR_RDMA_WRITE_WITH_IMM || op == IBV_WR_RDMA_READ;
}

static bool is_atomic(enum ibv_wr_opcode op)
{
	return op == IBV_WR_ATOMIC_CMP_AND_SWP || op == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

static void fill_send(struct rec *r, const struct ibv_qp *qp, const struct ibv_send_wr *wr)
{
	r->qpn = qp->qp_num;
	r->wr = wr->wr_id;
	r->n = (uint8_t)wr->num_sge;
	r->w[0] = (uint32_t)wr->opcode | (uint32_t)wr->send_flags << 8;
	r->w[1] = sge_bytes(wr->sg_list, wr->num_sge);
	if (names_remote(wr->opcode)) {
		r->a[0] = wr->wr.rdma.remote_addr;
		r->w[2] = wr->wr.rdma.rkey;
	} else if (is_atomic(wr->opcode)) {
		r->a[0] = wr->wr.atomic.remote_addr;
		r->w[2] = wr->wr.atomic.rkey;
	} else if (wr->opcode == IBV_WR_LOCAL_INV || wr->opcode == IBV_WR_SEND_WITH_INV) {
		r->w[2] = wr->invalidate_rkey;
	}
	if (wr->num_sge > 0) {
		r->w[3] = wr->sg_list[0].lkey;
		r->a[1] = wr->sg_list[0].addr;
	}
}

/* Its record, to which the call's result is to be added; NULL: none. */
static struct rec *record_send(struct ibv_qp *qp, const struct ibv_send_wr *wr)
{
	struct rec *r;
	int n = wr->num_sge > 0 && wr->num_sge <= SGES ? wr->num_sge : 0;

	if (qp->qp_type == IBV_QPT_UD) {
		r = rec_begin(REC_POST_UD, qp->context);
		if (r != NULL) {
			r->qpn = qp->qp_num;
			r->wr = wr->wr_id;
			r->w[0] = wr->wr.ud.remote_qpn;
			r->w[1] = wr->wr.ud.remote_qkey;
		}
	}
	more_sges(qp->context, qp->qp_num, wr->wr_id, wr->sg_list, n);
	if (rec_state.payload > 0)
		payload(qp->context, qp->qp_num, wr->sg_list, n);
	r = rec_begin(REC_POST_SEND, qp->context);
	if (r != NULL)
		fill_send(r, qp, wr);
	return r;
}

static struct rec *record_recv(enum rec_type type, const struct ibv_context *context, uint32_t qpn,
			       const struct ibv_recv_wr *wr)
{
	int n = wr->num_sge > 0 && wr->num_sge <= SGES ? wr->num_sge : 0;
	struct rec *r;

	more_sges(context, qpn, wr->wr_id, wr->sg_list, n);
	r = rec_begin(type, context);
	if (r == NULL)
		return NULL;
	r->qpn = qpn;
	r->wr = wr->wr_id;
	r->n = (uint8_t)wr->num_sge;
	r->w[1] = sge_bytes(wr->sg_list, n);
	if (n > 0) {
		r->w[3] = wr->sg_list[0].lkey;
		r->a[1] = wr->sg_list[0].addr;
	}
	return r;
}

/* ---- with rules for this call: one request at a time, from a copy ---- */

static void change_sges(const struct injection *in, struct ibv_sge *to, const struct ibv_sge *from, int n)
{
	for (int i = 0; i < n; i++) {
		to[i].addr = rec_inject_value(in, FIELD_ADDR, from[i].addr);
		to[i].length = (uint32_t)rec_inject_value(in, FIELD_LENGTH, from[i].length);
		to[i].lkey = (uint32_t)rec_inject_value(in, FIELD_LKEY, from[i].lkey);
	}
}

static void change_send(const struct injection *in, enum ibv_qp_type type, struct ibv_send_wr *wr)
{
	wr->opcode = (enum ibv_wr_opcode)rec_inject_value(in, FIELD_OPCODE, wr->opcode);
	wr->send_flags = (unsigned)rec_inject_value(in, FIELD_FLAGS, wr->send_flags);
	wr->num_sge = (int)rec_inject_value(in, FIELD_NUM_SGE, (uint64_t)wr->num_sge);
	if (type == IBV_QPT_UD) {
		wr->wr.ud.remote_qpn = (uint32_t)rec_inject_value(in, FIELD_REMOTE_QPN, wr->wr.ud.remote_qpn);
		wr->wr.ud.remote_qkey = (uint32_t)rec_inject_value(in, FIELD_REMOTE_QKEY, wr->wr.ud.remote_qkey);
	} else if (is_atomic(wr->opcode)) {
		wr->wr.atomic.remote_addr = rec_inject_value(in, FIELD_REMOTE_ADDR, wr->wr.atomic.remote_addr);
		wr->wr.atomic.rkey = (uint32_t)rec_inject_value(in, FIELD_RKEY, wr->wr.atomic.rkey);
	} else if (names_remote(wr->opcode)) {
		wr->wr.rdma.remote_addr = rec_inject_value(in, FIELD_REMOTE_ADDR, wr->wr.rdma.remote_addr);
		wr->wr.rdma.rkey = (uint32_t)rec_inject_value(in, FIELD_RKEY, wr->wr.rdma.rkey);
	}
}

static int send_injected(const struct hooked *h, struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	for (; wr != NULL; wr = wr->next) {
		struct injection in = rec_inject(CALL_POST_SEND, qp->context);
		struct ibv_send_wr one = *wr, *one_bad;
		struct ibv_sge sge[SGES];
		struct rec *r;
		int rc;

		one.next = NULL;
		if (in.verdict == INJECT_CHANGE && wr->num_sge <= SGES) {
			change_sges(&in, sge, wr->sg_list, wr->num_sge);
			one.sg_list = sge;
			change_send(&in, qp->qp_type, &one);
		}
		r = record_send(qp, &one);
		rc = in.verdict == INJECT_FAIL   ? in.error
		     : in.verdict == INJECT_SKIP ? 0
						 : h->ops.post_send(qp, &one, &one_bad);
		if (r != NULL)
			r->a[2] = (uint64_t)(int64_t)rc;
		rec_commit();
		if (rc != 0) {
			*bad = wr;
			return rc;
		}
	}
	return 0;
}

typedef int recv_fn(void *queue, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad, const struct hooked *h);

static int real_recv(void *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad, const struct hooked *h)
{
	return h->ops.post_recv(qp, wr, bad);
}

static int real_srq_recv(void *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad, const struct hooked *h)
{
	return h->ops.post_srq_recv(srq, wr, bad);
}

/* What all posts of receives have in common. */
struct receiver {
	enum rec_type type;
	enum rec_call call;
	void *queue;
	struct ibv_context *context;
	uint32_t qpn;
	recv_fn *post;
};

static int recv_injected(const struct receiver *x, const struct hooked *h, struct ibv_recv_wr *wr,
			 struct ibv_recv_wr **bad)
{
	for (; wr != NULL; wr = wr->next) {
		struct injection in = rec_inject(x->call, x->context);
		struct ibv_recv_wr one = *wr, *one_bad;
		struct ibv_sge sge[SGES];
		struct rec *r = NULL;
		int rc = 0;

		one.next = NULL;
		if (in.verdict == INJECT_CHANGE && wr->num_sge <= SGES) {
			change_sges(&in, sge, wr->sg_list, wr->num_sge);
			one.sg_list = sge;
		}
		if (in.verdict != INJECT_SKIP)
			r = record_recv(x->type, x->context, x->qpn, &one);
		if (in.verdict == INJECT_FAIL)
			rc = in.error;
		else if (in.verdict != INJECT_SKIP)
			rc = x->post(x->queue, &one, &one_bad, h);
		if (r != NULL)
			r->a[2] = (uint64_t)(int64_t)rc;
		rec_commit();
		if (rc != 0) {
			*bad = wr;
			return rc;
		}
	}
	return 0;
}

/* ---- posting ---- */

/* Those before the one that failed went; those behind it were not looked at. */
static void record_failed_sends(struct ibv_qp *qp, const struct ibv_send_wr *wr, const struct ibv_send_wr *bad, int rc)
{
	for (; wr != NULL; wr = wr->next) {
		struct rec *r = record_send(qp, wr);

		if (wr != bad)
			continue;
		if (r != NULL)
			r->a[2] = (uint64_t)(int64_t)rc;
		return;
	}
}

int rec_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	const struct hooked *h = rec_hooked(qp->context);
	uint64_t mark;
	int rc;

	if (!rec_on() && rec_inject_rules == 0)
		return h->ops.post_send(qp, wr, bad);
	if (rec_inject_rules != 0)
		return send_injected(h, qp, wr, bad);
	mark = rec_mark();
	for (const struct ibv_send_wr *w = wr; w != NULL; w = w->next)
		(void)record_send(qp, w);
	rc = h->ops.post_send(qp, wr, bad);
	if (rc != 0) {
		rec_rewind(mark);
		record_failed_sends(qp, wr, *bad, rc);
	}
	rec_commit();
	return rc;
}

static void record_failed_recvs(const struct receiver *x, const struct ibv_recv_wr *wr, const struct ibv_recv_wr *bad,
				int rc)
{
	for (; wr != NULL; wr = wr->next) {
		struct rec *r = record_recv(x->type, x->context, x->qpn, wr);

		if (wr != bad)
			continue;
		if (r != NULL)
			r->a[2] = (uint64_t)(int64_t)rc;
		return;
	}
}

static int post_recvs(const struct receiver *x, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	const struct hooked *h = rec_hooked(x->context);
	uint64_t mark;
	int rc;

	if (!rec_on() && rec_inject_rules == 0)
		return x->post(x->queue, wr, bad, h);
	if (rec_inject_rules != 0)
		return recv_injected(x, h, wr, bad);
	mark = rec_mark();
	for (const struct ibv_recv_wr *w = wr; w != NULL; w = w->next)
		(void)record_recv(x->type, x->context, x->qpn, w);
	rc = x->post(x->queue, wr, bad, h);
	if (rc != 0) {
		rec_rewind(mark);
		record_failed_recvs(x, wr, *bad, rc);
	}
	rec_commit();
	return rc;
}

int rec_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	const struct receiver x = {REC_POST_RECV, CALL_POST_RECV, qp, qp->context, qp->qp_num, real_recv};

	return post_recvs(&x, wr, bad);
}

int rec_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	const struct receiver x = {REC_POST_SRQ_RECV, CALL_POST_SRQ_RECV, srq, srq->context, 0, real_srq_recv};

	return post_recvs(&x, wr, bad);
}

/* ---- polling ---- */

/* Empty polls are counted, for each of the queues that a thread polled last. */
#define QUEUES 16
static _Thread_local struct {
	const struct ibv_cq *cq;
	uint64_t n;
} empty[QUEUES] __attribute__((tls_model("initial-exec")));

static unsigned place(const struct ibv_cq *cq)
{
	return ((uintptr_t)cq >> 6 ^ (uintptr_t)cq >> 12) % QUEUES;
}

void rec_count_empty(const struct ibv_cq *cq)
{
	unsigned i = place(cq);

	if (empty[i].cq != cq) {
		if (empty[i].n > 0) {
			struct rec *r = rec_begin(REC_POLL_EMPTY, empty[i].cq->context);

			if (r != NULL) {
				r->w[3] = rec_cq_number(empty[i].cq);
				r->a[0] = empty[i].n;
			}
			rec_commit();
		}
		empty[i].cq = cq;
		empty[i].n = 0;
	}
	empty[i].n++;
}

uint64_t rec_empty_polls(const struct ibv_cq *cq)
{
	unsigned i = place(cq);
	uint64_t n = empty[i].cq == cq ? empty[i].n : 0;

	empty[i].n -= n;
	return n;
}

static void record_completions(const struct ibv_cq *cq, const struct ibv_wc *wc, int n)
{
	const uint64_t idle = rec_empty_polls(cq);
	const uint32_t number = rec_cq_number(cq);
	struct rec *r = NULL;

	for (int i = 0; i < n; i++) {
		r = i == 0 ? rec_begin(REC_CQE, cq->context) : rec_begin_like(r);
		if (r == NULL)
			break;
		r->qpn = wc[i].qp_num;
		r->wr = wc[i].wr_id;
		r->w[0] = (uint32_t)wc[i].status | (uint32_t)wc[i].opcode << 8 | (uint32_t)wc[i].wc_flags << 24;
		r->w[1] = wc[i].byte_len;
		r->w[2] = wc[i].imm_data;
		r->w[3] = number;
		r->a[0] = wc[i].vendor_err;
		r->a[1] = i == 0 ? idle : 0;
	}
	rec_commit();
}

int rec_poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	const struct hooked *h = rec_hooked(cq->context);
	struct injection in = {0};
	struct rec *r;
	int got;

	if (rec_inject_rules != 0)
		in = rec_inject(CALL_POLL_CQ, cq->context);
	got = in.verdict == INJECT_FAIL ? -in.error : in.verdict == INJECT_SKIP ? 0 : h->ops.poll_cq(cq, n, wc);
	if (!rec_on() || in.verdict == INJECT_SKIP)
		return got;
	if (got == 0) {
		rec_count_empty(cq);
	} else if (got > 0) {
		record_completions(cq, wc, got);
	} else if ((r = rec_begin(REC_POLL_FAIL, cq->context)) != NULL) {
		r->w[3] = rec_cq_number(cq);
		r->a[0] = (uint64_t)(int64_t)got;
		rec_commit();
	}
	return got;
}

int rec_req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	const struct hooked *h = rec_hooked(cq->context);
	struct injection in = {0};
	struct rec *r;
	int rc;

	if (rec_inject_rules != 0)
		in = rec_inject(CALL_REQ_NOTIFY_CQ, cq->context);
	rc = in.verdict == INJECT_FAIL   ? in.error
	     : in.verdict == INJECT_SKIP ? 0
					 : h->ops.req_notify_cq(cq, solicited_only);
	r = rec_on() ? rec_begin(REC_NOTIFY, cq->context) : NULL;
	if (r != NULL) {
		r->w[0] = solicited_only != 0;
		r->w[3] = rec_cq_number(cq);
		r->a[2] = (uint64_t)(int64_t)rc;
		rec_commit();
	}
	return rc;
}
