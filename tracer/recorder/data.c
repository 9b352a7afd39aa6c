/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * data.c - post and poll. What is recorded of a request is written before it is posted, since it may complete before
 * the call returns, and published when it has returned, with what it returned.
 */
#include <string.h>

#include "ring.h"

#define SGES 32

_Thread_local unsigned rec_depth __attribute__((tls_model("initial-exec")));

/* ---- one request ---- */

REC_RARE static uint32_t sum_of(const struct ibv_sge *sge, int n)
{
	uint32_t sum = 0;

	for (int i = 0; i < n; i++)
		sum += sge[i].length;
	return sum;
}

REC_INLINE uint32_t sge_bytes(const struct ibv_sge *sge, int n)
{
	return REC_USUALLY(n == 1) ? sge->length : sum_of(sge, n);
}

REC_RARE static void more_sges(uint8_t ctx, uint32_t qpn, uint64_t wr_id, const struct ibv_sge *sge, int n)
{
	for (int i = 1; i < n; i++) {
		union rec_words u;

		rec_start(&u, REC_SGE, ctx);
		u.r.n = (uint8_t)i;
		u.r.qpn = qpn;
		u.r.wr = wr_id;
		u.r.w[1] = sge[i].length;
		u.r.w[3] = sge[i].lkey;
		u.r.a[1] = sge[i].addr;
		rec_put(&u);
	}
}

/* The first bytes of what a request sends, when that was asked for. */
static void payload(uint8_t ctx, uint32_t qpn, const struct ibv_sge *sge, int n)
{
	unsigned left = rec_state.payload, at = 0;

	for (int i = 0; i < n && left > 0; i++)
		for (uint32_t from = 0; from < sge[i].length && left > 0;) {
			uint32_t part = sge[i].length - from < 40 ? sge[i].length - from : 40;
			union rec_words u;

			rec_start(&u, REC_PAYLOAD, ctx);
			part = part < left ? part : left;
			u.r.n = (uint8_t)part;
			u.r.qpn = qpn;
			u.r.wr = at;
			memcpy((char *)&u.r + offsetof(struct rec, w), (const char *)(uintptr_t)sge[i].addr + from,
			       part);
			rec_put(&u);
			from += part;
			at += part;
			left -= part;
		}
}

REC_INLINE bool names_remote(enum ibv_wr_opcode op)
{
	return op == IBV_WR_RDMA_WRITE || op == IBV_WR_RDMA_WRITE_WITH_IMM || op == IBV_WR_RDMA_READ;
}

REC_INLINE bool is_atomic(enum ibv_wr_opcode op)
{
	return op == IBV_WR_ATOMIC_CMP_AND_SWP || op == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

/* What the peer is to be asked for: address, and key. */
REC_INLINE uint64_t remote_va(const struct ibv_send_wr *wr)
{
	return names_remote(wr->opcode) ? wr->wr.rdma.remote_addr
	       : is_atomic(wr->opcode)  ? wr->wr.atomic.remote_addr
					: 0;
}

REC_INLINE uint32_t remote_key(const struct ibv_send_wr *wr)
{
	if (names_remote(wr->opcode))
		return wr->wr.rdma.rkey;
	if (is_atomic(wr->opcode))
		return wr->wr.atomic.rkey;
	return wr->opcode == IBV_WR_LOCAL_INV || wr->opcode == IBV_WR_SEND_WITH_INV ? wr->invalidate_rkey : 0;
}

/* How many of them are looked at: a device refuses too many, and need not read them for that. */
REC_INLINE int sges_of(int n)
{
	return n > 0 && n <= SGES ? n : 0;
}

/* What one record has no room for goes before it. */
REC_RARE static void before_send(uint8_t ctx, const struct ibv_qp *qp, const struct ibv_send_wr *wr)
{
	int n = sges_of(wr->num_sge);

	if (qp->qp_type == IBV_QPT_UD) {
		union rec_words u;

		rec_start(&u, REC_POST_UD, ctx);
		u.r.qpn = qp->qp_num;
		u.r.wr = wr->wr_id;
		u.r.w[0] = wr->wr.ud.remote_qpn;
		u.r.w[1] = wr->wr.ud.remote_qkey;
		rec_put(&u);
	}
	more_sges(ctx, qp->qp_num, wr->wr_id, wr->sg_list, n);
	if (rec_state.payload > 0)
		payload(ctx, qp->qp_num, wr->sg_list, n);
}

/* Its record, still to be put, when the call's result is known or taken for success. */
REC_INLINE void start_send(union rec_words *u, uint8_t ctx, const struct ibv_qp *qp, const struct ibv_send_wr *wr,
			   int rc)
{
	int n;

	if (wr->num_sge > 1 || qp->qp_type == IBV_QPT_UD || rec_state.payload > 0)
		before_send(ctx, qp, wr);
	n = sges_of(wr->num_sge);
	*u = (union rec_words){
		.w = {rec_time(), rec_word1(REC_POST_SEND, ctx, (uint8_t)wr->num_sge, qp->qp_num), wr->wr_id,
		      rec_pair((uint32_t)wr->opcode | (uint32_t)wr->send_flags << 8, sge_bytes(wr->sg_list, n)),
		      rec_pair(remote_key(wr), n > 0 ? wr->sg_list[0].lkey : 0), remote_va(wr),
		      n > 0 ? wr->sg_list[0].addr : 0, (uint64_t)(int64_t)rc}};
}

REC_INLINE void start_recv(union rec_words *u, enum rec_type type, uint8_t ctx, uint32_t qpn,
			   const struct ibv_recv_wr *wr, int rc)
{
	int n;

	if (wr->num_sge > 1)
		more_sges(ctx, qpn, wr->wr_id, wr->sg_list, sges_of(wr->num_sge));
	n = sges_of(wr->num_sge);
	*u = (union rec_words){.w = {rec_time(), rec_word1((uint16_t)type, ctx, (uint8_t)wr->num_sge, qpn), wr->wr_id,
				     rec_pair(0, sge_bytes(wr->sg_list, n)),
				     rec_pair(0, n > 0 ? wr->sg_list[0].lkey : 0), 0, n > 0 ? wr->sg_list[0].addr : 0,
				     (uint64_t)(int64_t)rc}};
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

static void finish(union rec_words *u, int rc)
{
	u->w[7] = (uint64_t)(int64_t)rc;
	rec_put(u);
	rec_commit();
}

REC_RARE static int send_injected(const struct hooked *h, struct ibv_qp *qp, struct ibv_send_wr *wr,
				  struct ibv_send_wr **bad)
{
	for (; wr != NULL; wr = wr->next) {
		struct injection in = rec_inject(CALL_POST_SEND, qp->context);
		struct ibv_send_wr one = *wr, *one_bad;
		struct ibv_sge sge[SGES];
		union rec_words u;
		bool on = rec_on();
		int rc;

		one.next = NULL;
		if (in.verdict == INJECT_CHANGE && wr->num_sge <= SGES) {
			change_sges(&in, sge, wr->sg_list, wr->num_sge);
			one.sg_list = sge;
			change_send(&in, qp->qp_type, &one);
		}
		if (on)
			start_send(&u, h->index, qp, &one, 0);
		rc = in.verdict == INJECT_FAIL   ? in.error
		     : in.verdict == INJECT_SKIP ? 0
						 : h->ops.post_send(qp, &one, &one_bad);
		if (on)
			finish(&u, rc);
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

REC_RARE static int recv_injected(const struct receiver *x, const struct hooked *h, struct ibv_recv_wr *wr,
				  struct ibv_recv_wr **bad)
{
	for (; wr != NULL; wr = wr->next) {
		struct injection in = rec_inject(x->call, x->context);
		struct ibv_recv_wr one = *wr, *one_bad;
		struct ibv_sge sge[SGES];
		union rec_words u;
		bool on = rec_on() && in.verdict != INJECT_SKIP;
		int rc = 0;

		one.next = NULL;
		if (in.verdict == INJECT_CHANGE && wr->num_sge <= SGES) {
			change_sges(&in, sge, wr->sg_list, wr->num_sge);
			one.sg_list = sge;
		}
		if (on)
			start_recv(&u, x->type, h->index, x->qpn, &one, 0);
		if (in.verdict == INJECT_FAIL)
			rc = in.error;
		else if (in.verdict != INJECT_SKIP)
			rc = x->post(x->queue, &one, &one_bad, h);
		if (on)
			finish(&u, rc);
		if (rc != 0) {
			*bad = wr;
			return rc;
		}
	}
	return 0;
}

/* ---- posting ---- */

static void record_sends(uint8_t ctx, const struct ibv_qp *qp, const struct ibv_send_wr *wr,
			 const struct ibv_send_wr *bad, int rc)
{
	for (; wr != NULL; wr = wr->next) {
		union rec_words u;

		start_send(&u, ctx, qp, wr, wr == bad ? rc : 0);
		rec_put(&u);
		if (wr == bad)
			return; /* those behind it were not looked at */
	}
}

/* Several, or with rules, or with more than a record has room for, or not recorded at all. */
REC_RARE static int post_sends(const struct hooked *h, struct ibv_qp *qp, struct ibv_send_wr *wr,
			       struct ibv_send_wr **bad)
{
	uint64_t mark;
	int rc;

	if (rec_state.rules != 0)
		return send_injected(h, qp, wr, bad);
	if (!rec_on())
		return h->ops.post_send(qp, wr, bad);
	mark = rec_mark();
	record_sends(h->index, qp, wr, NULL, 0);
	rc = h->ops.post_send(qp, wr, bad);
	if (rc != 0) {
		rec_rewind(mark);
		record_sends(h->index, qp, wr, *bad, rc);
	}
	rec_commit();
	return rc;
}

/* It was put as if it went. */
REC_RARE static void record_failed_send(uint64_t mark, uint8_t ctx, const struct ibv_qp *qp,
					const struct ibv_send_wr *wr, int rc)
{
	rec_rewind(mark);
	record_sends(ctx, qp, wr, wr, rc);
}

int rec_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	union rec_words u;
	uint64_t mark;
	int rc;

	if (!REC_USUALLY(rec_plainly(qp->context) && wr != NULL && wr->next == NULL && wr->num_sge == 1 &&
			 qp->qp_type != IBV_QPT_UD && rec_state.payload == 0))
		return post_sends(rec_hooked(qp->context), qp, wr, bad);
	mark = rec_mark();
	start_send(&u, REC_FIRST, qp, wr, 0);
	rec_put(&u);
	rc = rec_state.post_send(qp, wr, bad);
	if (!REC_USUALLY(rc == 0))
		record_failed_send(mark, REC_FIRST, qp, wr, rc);
	rec_commit();
	return rc;
}

static void record_recvs(const struct receiver *x, uint8_t ctx, const struct ibv_recv_wr *wr,
			 const struct ibv_recv_wr *bad, int rc)
{
	for (; wr != NULL; wr = wr->next) {
		union rec_words u;

		start_recv(&u, x->type, ctx, x->qpn, wr, wr == bad ? rc : 0);
		rec_put(&u);
		if (wr == bad)
			return;
	}
}

/* Several, or with rules, or not recorded at all. */
static int post_recvs(const struct receiver *x, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	const struct hooked *h = rec_hooked(x->context);
	uint64_t mark;
	int rc;

	if (rec_state.rules != 0)
		return recv_injected(x, h, wr, bad);
	if (!rec_on())
		return x->post(x->queue, wr, bad, h);
	mark = rec_mark();
	record_recvs(x, h->index, wr, NULL, 0);
	rc = x->post(x->queue, wr, bad, h);
	if (rc != 0) {
		rec_rewind(mark);
		record_recvs(x, h->index, wr, *bad, rc);
	}
	rec_commit();
	return rc;
}

REC_RARE static int post_recvs_of_qp(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	const struct receiver x = {REC_POST_RECV, CALL_POST_RECV, qp, qp->context, qp->qp_num, real_recv};

	return post_recvs(&x, wr, bad);
}

REC_RARE static int post_recvs_of_srq(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	const struct receiver x = {REC_POST_SRQ_RECV, CALL_POST_SRQ_RECV, srq, srq->context, 0, real_srq_recv};

	return post_recvs(&x, wr, bad);
}

/* One with one SGE, as most programs post them. */
REC_INLINE bool is_simple_recv(const struct ibv_context *context, const struct ibv_recv_wr *wr)
{
	return REC_USUALLY(rec_plainly(context) && wr != NULL && wr->next == NULL && wr->num_sge == 1);
}

REC_RARE static void record_failed_recv(uint64_t mark, enum rec_type type, uint8_t ctx, uint32_t qpn,
					const struct ibv_recv_wr *wr, int rc)
{
	union rec_words u;

	rec_rewind(mark);
	start_recv(&u, type, ctx, qpn, wr, rc);
	rec_put(&u);
}

int rec_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	union rec_words u;
	uint64_t mark;
	int rc;

	if (!is_simple_recv(qp->context, wr))
		return post_recvs_of_qp(qp, wr, bad);
	mark = rec_mark();
	start_recv(&u, REC_POST_RECV, REC_FIRST, qp->qp_num, wr, 0);
	rec_put(&u);
	rc = rec_state.post_recv(qp, wr, bad);
	if (!REC_USUALLY(rc == 0))
		record_failed_recv(mark, REC_POST_RECV, REC_FIRST, qp->qp_num, wr, rc);
	rec_commit();
	return rc;
}

int rec_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	union rec_words u;
	uint64_t mark;
	int rc;

	if (!is_simple_recv(srq->context, wr))
		return post_recvs_of_srq(srq, wr, bad);
	mark = rec_mark();
	start_recv(&u, REC_POST_SRQ_RECV, REC_FIRST, 0, wr, 0);
	rec_put(&u);
	rc = rec_state.post_srq_recv(srq, wr, bad);
	if (!REC_USUALLY(rc == 0))
		record_failed_recv(mark, REC_POST_SRQ_RECV, REC_FIRST, 0, wr, rc);
	rec_commit();
	return rc;
}

/* ---- polling ---- */

/* Those that a thread polled last, beside the one in rec_state. */
#define QUEUES 16
static _Thread_local struct rec_queue queues[QUEUES] __attribute__((tls_model("initial-exec")));

REC_INLINE bool is_poller(void)
{
	return atomic_load_explicit(&rec_state.poller, memory_order_relaxed) == rec_self();
}

REC_INLINE struct rec_queue *place(const struct ibv_cq *cq)
{
	return &queues[((uintptr_t)cq >> 6 ^ (uintptr_t)cq >> 12) % QUEUES];
}

static void put_empty_polls(struct rec_queue *q, uint64_t now)
{
	const union rec_words u = {
		.w = {now, rec_word1(REC_POLL_EMPTY, q->ctx, 0, 0), 0, 0, rec_pair(0, q->number), q->n}};

	rec_put(&u);
	q->n = 0;
}

/* In the place of another one, or as the one of rec_state. */
REC_RARE static struct rec_queue *begin_queue(const struct ibv_cq *cq)
{
	struct rec_queue *q = place(cq);
	void *nobody = NULL;

	if (atomic_compare_exchange_strong(&rec_state.poller, &nobody, rec_self())) {
		q = &rec_state.polled;
	} else if (q->n > 0) {
		put_empty_polls(q, rec_time());
		rec_commit();
	}
	*q = (struct rec_queue){cq, 0, rec_cq_number(cq), rec_context_index(cq->context)};
	return q;
}

REC_INLINE struct rec_queue *queue_of(const struct ibv_cq *cq)
{
	if (REC_USUALLY(is_poller() && rec_state.polled.cq == cq))
		return &rec_state.polled;
	return place(cq)->cq == cq ? place(cq) : begin_queue(cq);
}

void rec_count_empty(const struct ibv_cq *cq)
{
	queue_of(cq)->n++;
}

uint64_t rec_empty_polls(const struct ibv_cq *cq)
{
	const struct rec_queue q = *queue_of(cq);

	if (is_poller() && rec_state.polled.cq == cq)
		rec_no_poller();
	else
		*place(cq) = (struct rec_queue){0};
	return q.n;
}

void rec_put_empty_polls(uint64_t now, uint8_t ctx, const struct ibv_cq *cq)
{
	struct rec_queue *q = queue_of(cq);

	q->ctx = ctx; /* another context's queue may have been there before */
	if (q->n > 0)
		put_empty_polls(q, now);
}

/* Of `n`, how many behind the first are as different from the one before as that is, as far as one word can tell. */
REC_INLINE unsigned like_before(const struct ibv_wc *wc, unsigned n, uint64_t by)
{
	const unsigned most = n < REC_AGAIN_MAX + 1 ? n : REC_AGAIN_MAX + 1;
	unsigned i;

	for (i = 0; i < most && rec_is_near(by); i++) {
		const struct ibv_wc *a = &wc[(int)i - 1], *b = &wc[i];

		if (b->wr_id - a->wr_id != by || b->status != a->status || b->opcode != a->opcode ||
		    b->wc_flags != a->wc_flags || b->byte_len != a->byte_len || b->imm_data != a->imm_data ||
		    b->qp_num != a->qp_num || b->vendor_err != a->vendor_err)
			break;
	}
	return i > 0 ? i - 1 : 0;
}

/* Completions that one poll returns have one time. */
static void record_completions(uint8_t ctx, const struct ibv_cq *cq, const struct ibv_wc *wc, int n)
{
	struct rec_queue *q = queue_of(cq);
	const uint64_t now = rec_time();

	q->ctx = ctx; /* as there */
	if (q->n > 0)
		put_empty_polls(q, now);
	for (int i = 0; i < n; i++) {
		const uint64_t by = i > 0 ? wc[i].wr_id - wc[i - 1].wr_id : 0;
		const unsigned run = i > 0 ? like_before(&wc[i], (unsigned)(n - i), by) : 0;
		union rec_words u = {.w = {now, rec_word1(REC_CQE, ctx, 0, wc[i].qp_num), wc[i].wr_id,
					   rec_pair((uint32_t)wc[i].status | (uint32_t)wc[i].opcode << 8 |
							    (uint32_t)wc[i].wc_flags << 24,
						    wc[i].byte_len),
					   rec_pair(wc[i].imm_data, q->number), wc[i].vendor_err}};

		i += (int)rec_put_run(&u, run, by);
	}
	rec_commit();
}

static void record_poll_fail(const struct ibv_cq *cq, int got)
{
	struct rec *r = rec_begin(REC_POLL_FAIL, cq->context);

	if (r == NULL)
		return;
	r->w[3] = rec_cq_number(cq);
	r->a[0] = (uint64_t)(int64_t)got;
	rec_commit();
}

REC_RARE static int recorded_poll(uint8_t ctx, const struct ibv_cq *cq, const struct ibv_wc *wc, int got)
{
	if (REC_USUALLY(got > 0))
		record_completions(ctx, cq, wc, got);
	else if (got == 0)
		rec_count_empty(cq);
	else
		record_poll_fail(cq, got);
	return got;
}

REC_RARE static int poll_of_any(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	const struct hooked *h = rec_hooked(cq->context);
	struct injection in = {0};
	int got;

	if (rec_state.rules != 0)
		in = rec_inject(CALL_POLL_CQ, cq->context);
	if (in.verdict == INJECT_SKIP)
		return 0;
	got = in.verdict == INJECT_FAIL ? -in.error : h->ops.poll_cq(cq, n, wc);
	return rec_on() ? recorded_poll(h->index, cq, wc, got) : got;
}

int rec_poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	struct rec_queue *q;
	int got;

	if (!REC_USUALLY(rec_plainly(cq->context)))
		return poll_of_any(cq, n, wc);
	q = queue_of(cq);
	q->n++; /* before: in vain, it may sleep, and the caches forget */
	got = rec_state.poll_cq(cq, n, wc);
	if (got == 0)
		return 0;
	q->n--;
	return recorded_poll(REC_FIRST, cq, wc, got);
}

int rec_req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	const struct hooked *h = rec_hooked(cq->context);
	struct injection in = {0};
	struct rec *r;
	int rc;

	if (rec_state.rules != 0)
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
