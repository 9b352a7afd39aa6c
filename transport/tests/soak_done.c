/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * soak_done.c - judges completions: each accepted request once, in post order, on the right queue, with the
 * bytes where they belong; and at the end what only the whole run can show.
 */
#include <string.h>

#include "soak.h"

static const char *side(const struct wr *w)
{
	return w->is_recv ? "receive" : vs_wr_opcode_name(w->op);
}

static void violated_at(struct soak *s, const struct wr *w, const char *what) __attribute__((noreturn));
static void violated_at(struct soak *s, const struct wr *w, const char *what)
{
	violated(s, "QP %d, %s of %u bytes (request %llu): %s", w->qp != NULL ? (int)w->qp->number : -1, side(w),
		 w->len, (unsigned long long)w->order, what);
}
#define EXPECT(s, w, cond, what)                 \
	do {                                     \
		if (!(cond))                     \
			violated_at(s, w, what); \
	} while (0)

/* ---- errors ---- */

void qp_give_up(struct soak *s, struct qp *q)
{
	struct vs_qp_attr a = {.state = VS_QPS_ERR};

	if (q->erred)
		return;
	q->erred = true;
	REQUIRE(s, vs_qp_modify(q->qp, &a, VS_QP_STATE) == VS_OK, "QP %u can't be moved to ERR", q->number);
}

static void pair_give_up(struct soak *s, struct qp *q)
{
	q->doomed = q->erred_early = q->peer->erred_early = true;
	qp_give_up(s, q);
	if (q->type != VS_QPT_UD) {
		q->peer->doomed = true;
		qp_give_up(s, q->peer);
	}
}

/* A request that failed may have been executed in part. */
static void unsure(struct soak *s, struct wr *w)
{
	w->failed = true;
	passing_leave(w);
	if (w->word != NULL)
		w->word->tainted = true;
	if (w->is_recv || w->op == VS_WR_RDMA_READ || w->word != NULL)
		mem_accept(w->host, &w->local);
	(void)s;
}

static void check_failure(struct soak *s, struct wr *w, const struct vs_wc *wc)
{
	struct qp *q = w->qp;

	EXPECT(s, w, s->mood == STORMY || s->mood == HOSTILE || q->erred, vs_wc_status_name(wc->status));
	EXPECT(s, w, wc->vendor_err != VS_REASON_NONE, "failed without a reason");
	if (wc->status == VS_WC_WR_FLUSH_ERR) {
		EXPECT(s, w, q->erred || q->doomed || q->sq_bad || s->mood == STORMY,
		       "flushed in a QP without an error");
		return;
	}
	q->real_error = true;
	if (w->is_recv) {
		EXPECT(s, w, !q->recv_failed, "a second error after the first: it should be flushed");
		EXPECT(s, w, q->doomed, "a receive failed, and the peer's requests were good");
		return;
	}
	EXPECT(s, w, !q->send_failed, "a second error after the first: it should be flushed");
	if (w->risky && (wc->status == VS_WC_LOC_PROT_ERR || wc->status == VS_WC_REM_ACCESS_ERR))
		return;
	if (wc->status == VS_WC_RETRY_EXC_ERR)
		EXPECT(s, w, s->mood == STORMY || q->doomed, "retries exhausted");
	else
		EXPECT(s, w, w->bad != 0 && wc->status == w->bad, vs_wc_status_name(wc->status));
}

static void failed(struct soak *s, struct wr *w, const struct vs_wc *wc)
{
	struct qp *q = w->qp;

	check_failure(s, w, wc);
	unsure(s, w);
	if (q->erred)
		return;
	if (w->is_recv || q->type == VS_QPT_RC)
		pair_give_up(s, q);
	else
		EXPECT(s, w, vs_qp_state(q->qp) == VS_QPS_SQE, "failed, and its QP is not in SQE");
}

/* ---- sends ---- */

static void window_left(struct wr *w)
{
	struct window *win = w->window;

	win->busy &= ~(1u << w->slot);
	win->users--;
	win->reads -= w->op == VS_WR_RDMA_READ;
}

static void window_free(struct window *win)
{
	if (win->users > 0) /* the last user frees it */
		return;
	if (win->held)
		mem_give(win->owner->host, win->mem);
	win->held = win->gone = false;
	win->state = WIN_FREE;
}

static void window_done(struct wr *w)
{
	struct window *win = w->window;

	if (w->op == VS_WR_BIND_MW && win->state == WIN_BINDING)
		win->state = WIN_BOUND;
	else if (w->op == VS_WR_BIND_MW || w->op == VS_WR_LOCAL_INV)
		window_free(win);
}

static void read_done(struct soak *s, struct wr *w)
{
	mem_settle_sgl(s, w->host, &w->local, w->tag, 0, w->len, false, "data of a READ");
}

static void atomic_done(struct wr *w)
{
	mem_read_sgl(w->host, &w->local, 0, (uint8_t *)&w->before, 8);
	mem_accept(w->host, &w->local);
}

/* The peer has acknowledged, so it has happened. */
static void send_done(struct soak *s, struct wr *w)
{
	bool acknowledged = w->qp->type == VS_QPT_RC;

	w->done = true;
	passing_leave(w);
	s->completed++;
	switch (w->op) {
	case VS_WR_RDMA_WRITE:
	case VS_WR_RDMA_WRITE_WITH_IMM:
	case VS_WR_ATOMIC_WRITE:
		if (!acknowledged) {
			mem_give_sgl(w->host, &w->local);
			w->local.n = 0;
			return; /* the range stays open to the end */
		}
		mem_settle(s, w->rhost, w->remote, w->tag, w->len, "target of an acknowledged WRITE");
		break;
	case VS_WR_RDMA_READ:
		read_done(s, w);
		break;
	case VS_WR_ATOMIC_CMP_AND_SWP:
	case VS_WR_ATOMIC_FETCH_AND_ADD:
		atomic_done(w);
		break;
	case VS_WR_BIND_MW:
	case VS_WR_LOCAL_INV:
		window_done(w);
		break;
	default:
		break;
	}
	if (w->window != NULL && w->rhost != NULL) {
		struct window *win = w->window;

		window_left(w);
		if (win->state == WIN_GOING && win->gone)
			window_free(win);
	}
	wr_release(w);
}

static const enum vs_wc_opcode wc_op[] = {
	[VS_WR_RDMA_WRITE] = VS_WC_RDMA_WRITE,
	[VS_WR_RDMA_WRITE_WITH_IMM] = VS_WC_RDMA_WRITE,
	[VS_WR_SEND] = VS_WC_SEND,
	[VS_WR_SEND_WITH_IMM] = VS_WC_SEND,
	[VS_WR_RDMA_READ] = VS_WC_RDMA_READ,
	[VS_WR_ATOMIC_CMP_AND_SWP] = VS_WC_COMP_SWAP,
	[VS_WR_ATOMIC_FETCH_AND_ADD] = VS_WC_FETCH_ADD,
	[VS_WR_LOCAL_INV] = VS_WC_LOCAL_INV,
	[VS_WR_BIND_MW] = VS_WC_BIND_MW,
	[VS_WR_SEND_WITH_INV] = VS_WC_SEND,
	[VS_WR_FLUSH] = VS_WC_FLUSH,
	[VS_WR_ATOMIC_WRITE] = VS_WC_ATOMIC_WRITE,
};

static struct wr *queue_pop(struct queue *q)
{
	struct wr *w = q->head;

	q->head = w->next;
	q->n--;
	return w;
}

static void send_completed(struct soak *s, struct qp *q, struct wr *w, const struct vs_wc *wc)
{
	EXPECT(s, w, !w->done && !w->failed, "completes twice");
	/* Unsignaled requests in front of it are done, with success: otherwise they would have said so. */
	while (q->sends.head != NULL && q->sends.head != w) {
		struct wr *before = queue_pop(&q->sends);

		EXPECT(s, before, !before->signaled, "was passed by a later completion");
		EXPECT(s, before, !q->send_failed, "did not complete after an error");
		send_done(s, before);
	}
	EXPECT(s, w, q->sends.head == w, "is not in the queue of its QP");
	queue_pop(&q->sends);
	if (wc->status != VS_WC_SUCCESS) {
		failed(s, w, wc);
		q->send_failed = true;
		return;
	}
	EXPECT(s, w, w->signaled, "a completion that nobody asked for");
	EXPECT(s, w, w->bad == 0, "a bad request succeeds");
	EXPECT(s, w, !q->send_failed, "succeeds behind a failed one");
	EXPECT(s, w, wc->opcode == wc_op[w->op], "completes as another operation");
	if (w->op == VS_WR_RDMA_READ || w->word != NULL)
		EXPECT(s, w, wc->byte_len == w->len, "completes with a wrong length");
	send_done(s, w);
}

/* ---- receives ---- */

static bool fits(const struct wr *m, const struct wr *r, const struct vs_wc *wc, uint32_t skip)
{
	bool write = m->op == VS_WR_RDMA_WRITE_WITH_IMM;
	bool imm = m->op == VS_WR_SEND_WITH_IMM || write, inv = m->op == VS_WR_SEND_WITH_INV;

	if ((wc->opcode == VS_WC_RECV_RDMA_WITH_IMM) != write || wc->byte_len != m->len + skip)
		return false;
	if (((wc->wc_flags & VS_WC_WITH_IMM) != 0) != imm || (imm && wc->imm_data != m->imm))
		return false;
	if (((wc->wc_flags & VS_WC_WITH_INV) != 0) != inv || (inv && wc->invalidated_rkey != m->inv_key))
		return false;
	return write || mem_is_content(r->host, &r->local, skip, m->tag, m->len);
}

/* RC: the next one, and no other. */
static struct wr *delivered_rc(struct soak *s, struct qp *q, const struct wr *r, const struct vs_wc *wc)
{
	struct wr *m = q->peer->next_delivery;

	EXPECT(s, r, m != NULL, "a message that was never sent");
	EXPECT(s, m, fits(m, r, wc, 0), "did not arrive as it was sent, or another one came");
	EXPECT(s, m, m->bad == 0, "a bad request was delivered");
	q->peer->next_delivery = m->next_message;
	return m;
}

/* UC, UD: one of those that were sent; lost ones are missing, and the network may copy and disorder. */
static struct wr *delivered_any(struct soak *s, struct qp *from, const struct qp *to, const struct wr *r,
				const struct vs_wc *wc, uint32_t skip)
{
	struct wr *m, *again = NULL;

	for (m = from->messages; m != NULL; m = m->next_message) {
		bool for_us = from->type != VS_QPT_UD || (m->to != NULL ? m->to == to : group_reaches(from, to));

		/* What failed or was flushed on these queues never went out. */
		if (!for_us || m->failed || m->bad != 0 || !fits(m, r, wc, skip))
			continue;
		if (!(m->got >> to->number & 1) && (m->order >= from->newest_delivered || s->may_disorder))
			break;
		again = m;
	}
	if (m == NULL && again != NULL) {
		EXPECT(s, again, s->may_copy || s->may_disorder, "arrived twice, or out of order");
		return again;
	}
	EXPECT(s, r, m != NULL, "a message that was never sent");
	if (from->type == VS_QPT_UC && m->order > from->newest_delivered)
		from->newest_delivered = m->order;
	return m;
}

static void message_delivered(struct soak *s, struct qp *q, struct wr *m)
{
	struct window *win = m->window;

	m->delivered++;
	m->got |= 1u << q->number;
	s->group_copies += m->qp->type == VS_QPT_UD && m->to == NULL;
	if (m->op == VS_WR_RDMA_WRITE_WITH_IMM && !m->done) { /* all of it is there by now */
		uint8_t *want = s->scratch;

		content(m->tag, 0, want, m->len);
		EXPECT(s, m, memcmp(want, m->rhost->image + m->remote.off, m->len) == 0,
		       "its data is not there when the immediate is");
	}
	if (m->op == VS_WR_SEND_WITH_INV) {
		EXPECT(s, m, win != NULL && win->state == WIN_GOING && win->owner == q, "invalidates another window");
		win->gone = true;
		window_free(win);
	}
}

/* The 40 bytes in front of a datagram: the network header it came with, or untouched on a local path. */
static void check_grh(struct soak *s, struct host *h, struct wr *r, const struct qp *from, const struct vs_wc *wc)
{
	uint8_t area[40], want[40];
	struct vs_av av;
	uint32_t off = 0;

	mem_read_sgl(h, &r->local, 0, area, 40);
	EXPECT(s, r, ((wc->wc_flags & VS_WC_GRH) != 0) == !s->ib_local, "GRH flag");
	memcpy(want, area, 40);
	if (!s->ib_local) {
		EXPECT(s, r, vs_sim_av(s->sim, from->host->node, from->gid_index, &av) == VS_OK, "source address");
		if (!s->ib && from->gid_index == 0) {
			EXPECT(s, r, area[20] == 0x45 && memcmp(area + 32, av.dgid + 12, 4) == 0,
			       "IPv4 header in front");
		} else {
			EXPECT(s, r, area[0] >> 4 == 6 && memcmp(area + 8, av.dgid, 16) == 0, "GRH in front");
		}
	}
	/* Settled: what stands there now. On a local path nothing may have been written. */
	for (uint32_t i = 0; i < r->local.n && off < 40; i++) {
		uint32_t n = r->local.r[i].len < 40 - off ? r->local.r[i].len : 40 - off;

		if (!s->ib_local)
			memcpy(h->model + r->local.r[i].off, area + off, n);
		off += n;
	}
}

static struct qp *qp_by_number(struct soak *s, const struct host *h, uint32_t qpn)
{
	for (uint32_t i = 0; i < s->n_qps; i++)
		if ((h == NULL || s->qp[i].host == h) && vs_qp_num(s->qp[i].qp) == qpn)
			return &s->qp[i];
	return NULL;
}

static void take_from_queue(struct soak *s, struct qp *q, struct wr *r)
{
	struct host *h = r->host;
	struct wr **link = &h->in_srq;

	EXPECT(s, r, !r->done && !r->failed, "completes twice");
	r->done = true;
	if (r->qp != NULL) {
		EXPECT(s, r, q->recvs.head == r, "completes out of order");
		queue_pop(&q->recvs);
		return;
	}
	EXPECT(s, r, q->use_srq, "of an SRQ completes on a QP that has none");
	while (*link != NULL && *link != r)
		link = &(*link)->next;
	EXPECT(s, r, *link == r, "is not in the SRQ");
	*link = r->next;
	h->srq_posted--;
}

static void recv_completed(struct soak *s, struct qp *q, struct wr *r, const struct vs_wc *wc)
{
	struct qp *from = q->peer;
	uint32_t skip = q->type == VS_QPT_UD ? 40 : 0;
	bool lossy = q->type == VS_QPT_UC;
	struct wr *m;

	EXPECT(s, r, r->host == q->host && (r->qp == NULL || r->qp == q), "completes on another QP");
	take_from_queue(s, q, r);
	if (wc->status != VS_WC_SUCCESS) {
		r->qp = q;
		failed(s, r, wc);
		return;
	}
	EXPECT(s, r, !q->recv_failed, "succeeds behind a failed one");
	EXPECT(s, r, wc->opcode == VS_WC_RECV || wc->opcode == VS_WC_RECV_RDMA_WITH_IMM, "is no receive any more");
	if (q->type == VS_QPT_UD) {
		from = qp_by_number(s, NULL, wc->src_qp);
		EXPECT(s, r, from != NULL && from->type == VS_QPT_UD, "names an unknown sender");
		check_grh(s, r->host, r, from, wc);
	} else {
		EXPECT(s, r, wc->src_qp == vs_qp_num(from->qp), "names another sender");
	}
	m = q->type == VS_QPT_RC ? delivered_rc(s, q, r, wc) : delivered_any(s, from, q, r, wc, skip);
	mem_settle_sgl(s, r->host, &r->local, m->tag, skip, m->op == VS_WR_RDMA_WRITE_WITH_IMM ? 0 : m->len, lossy,
		       "receive buffer");
	message_delivered(s, q, m);
	r->host->watch[q->recv_cq].vague |= q->type != VS_QPT_RC && m->len < 8;
	beside_completion(r->host, q->recv_cq, (m->flags & VS_SEND_SOLICITED) != 0);
	wr_release(r);
}

/* ---- completion queues ---- */

static void completion(struct soak *s, struct host *h, uint32_t cq, const struct vs_wc *wc)
{
	struct wr *w = wr_by_id(s, wc->wr_id);
	struct qp *q = qp_by_number(s, h, wc->qp_num);

	s->seen++;
	REQUIRE(s, w != NULL, "host %u: a completion of request %#llx, which was never posted", host_index(s, h),
		(unsigned long long)wc->wr_id);
	REQUIRE(s, q != NULL, "host %u: a completion of unknown QP %#x", host_index(s, h), wc->qp_num);
	EXPECT(s, w, (w->is_recv ? q->recv_cq : q->send_cq) == cq, "completes on the wrong CQ");
	EXPECT(s, w, w->is_recv || w->qp == q, "completes on another QP");
	EXPECT(s, w, wc->time_ns <= vs_sim_now(s->sim) && wc->time_ns >= s->last_time[host_index(s, h)][cq],
	       "completes at an impossible time");
	s->last_time[host_index(s, h)][cq] = wc->time_ns;
	beside_completion(h, cq, wc->status != VS_WC_SUCCESS);
	if (w->is_recv)
		recv_completed(s, q, w, wc);
	else
		send_completed(s, q, w, wc);
	if (w->is_recv && wc->status != VS_WC_SUCCESS)
		q->recv_failed = true;
}

/* In ERR nothing is left that has not completed: what is silent was done before, with success. */
void done_silent(struct soak *s, struct qp *q)
{
	while (q->sends.head != NULL) {
		struct wr *w = queue_pop(&q->sends);

		EXPECT(s, w, !w->signaled, "never completes");
		EXPECT(s, w, !q->send_failed, "did not complete after an error");
		send_done(s, w);
	}
	REQUIRE(s, q->recvs.n == 0, "QP %u in ERR keeps %u receives for itself", q->number, q->recvs.n);
}

void done_poll(struct soak *s, struct host *h, uint32_t cq, uint32_t most)
{
	struct vs_wc wc[16];

	while (most > 0) {
		int n = vs_cq_poll(h->cq[cq], wc, most < 16 ? (int)most : 16);

		REQUIRE(s, n >= 0, "host %u: CQ %u overflowed", host_index(s, h), cq);
		if (n == 0) {
			beside_empty(s, h, cq);
			return;
		}
		for (int i = 0; i < n; i++)
			completion(s, h, cq, &wc[i]);
		most -= (uint32_t)n;
	}
}

void done_async(struct soak *s, struct host *h)
{
	struct vs_async a;

	while (vs_dev_poll_async(h->dev, &a) == 1) {
		struct qp *q = a.cookie < s->n_qps ? &s->qp[a.cookie] : NULL;

		switch (a.type) {
		case VS_EVENT_COMM_EST:
			break; /* the first packet was there before RTS */
		case VS_EVENT_QP_LAST_WQE_REACHED:
			REQUIRE(s, q != NULL && q->use_srq && (q->erred || q->doomed || s->mood == STORMY),
				"LAST_WQE_REACHED out of place");
			q->last_wqe++;
			break;
		case VS_EVENT_SQ_DRAINED:
			REQUIRE(s, q != NULL, "SQ_DRAINED of nobody");
			beside_drained(s, q);
			break;
		case VS_EVENT_SRQ_LIMIT_REACHED:
			beside_limit(s, h);
			break;
		case VS_EVENT_QP_ACCESS_ERR:
		case VS_EVENT_QP_REQ_ERR:
			REQUIRE(s, s->mood == HOSTILE && q != NULL && q->doomed, "%s without a bad request",
				vs_async_name(a.type));
			q->real_error = true;
			break;
		default:
			violated(s, "host %u: async event %s", host_index(s, h), vs_async_name(a.type));
		}
	}
}

/* ---- the whole run ---- */

/* The atomics on one word, each executed exactly once, form a way from its first value to its last. */
static void check_word(struct soak *s, struct host *h, struct word *word)
{
	uint64_t v = word->initial, last, position = 0;
	uint32_t left = 0;
	bool moved = true;
	struct wr *w;

	memcpy(&last, h->image + word->off, 8);
	if (word->tainted) {
		memcpy(h->model + word->off, &last, 8);
		memset(h->open + word->off, 0, 8);
		return;
	}
	for (w = s->all; w != NULL; w = w->all)
		left += w->word == word;
	while (moved) {
		struct wr *next = NULL;

		moved = false;
		for (w = s->all; w != NULL; w = w->all) {
			if (w->word != word || w->consumed || w->before != v)
				continue;
			if (w->op == VS_WR_ATOMIC_CMP_AND_SWP && w->compare != v) { /* found another value: no change */
				w->consumed = true;
				w->position = position;
				left--;
			} else if (next == NULL) {
				next = w;
			} else {
				violated(s, "host %u: two atomics found %#llx in one word", host_index(s, h),
					 (unsigned long long)v);
			}
		}
		if (next != NULL) {
			next->consumed = moved = true;
			next->position = ++position;
			left--;
			v = next->op == VS_WR_ATOMIC_FETCH_AND_ADD ? v + next->operand : next->operand;
		}
	}
	REQUIRE(s, left == 0, "host %u: %u atomics returned values that the word never had", host_index(s, h), left);
	REQUIRE(s, v == last, "host %u: a word is %#llx, its atomics make %#llx", host_index(s, h),
		(unsigned long long)last, (unsigned long long)v);
	memcpy(h->model + word->off, &v, 8);
	memset(h->open + word->off, 0, 8);
}

/* Atomics of one QP take effect in post order. */
static void check_word_order(struct soak *s, const struct word *word)
{
	for (const struct wr *w = s->all; w != NULL; w = w->all) {
		if (w->word != word)
			continue;
		for (const struct wr *o = w->all; o != NULL; o = o->all)
			if (o->word == word && o->qp == w->qp)
				EXPECT(s, w, o->position <= w->position, "took effect before an older atomic");
	}
}

static void check_words(struct soak *s, struct host *h)
{
	for (unsigned i = 0; i < MAX_WORDS; i++) {
		check_word(s, h, &h->word[i]);
		if (!h->word[i].tainted)
			check_word_order(s, &h->word[i]);
	}
}

static void check_messages(struct soak *s, const struct qp *q)
{
	REQUIRE(s, !q->erred_early || q->real_error || q->peer->real_error, "QP %u was flushed and no request failed",
		q->number);
	for (const struct wr *m = q->messages; m != NULL; m = m->next_message) {
		if (q->type == VS_QPT_RC && !q->doomed)
			EXPECT(s, m, m->delivered == 1, "was acknowledged and not delivered");
		EXPECT(s, m, m->delivered == (uint32_t)__builtin_popcount(m->got) || s->may_copy || s->may_disorder,
		       "was delivered more than once");
	}
}

/* WRITEs that nobody acknowledged: each packet of them was executed or not. */
static void settle_rest(struct soak *s)
{
	for (struct wr *w = s->all; w != NULL; w = w->all) {
		bool write =
			w->op == VS_WR_RDMA_WRITE || w->op == VS_WR_RDMA_WRITE_WITH_IMM || w->op == VS_WR_ATOMIC_WRITE;
		bool sure = !w->failed && !s->may_lose && !s->may_copy && !s->may_disorder && w->qp != NULL &&
			    w->op == VS_WR_RDMA_WRITE && !w->qp->peer->erred_early;

		if (w->is_recv && !w->done)
			mem_accept(w->host, &w->local);
		else if (!w->is_recv && w->rhost != NULL && w->qp != NULL && write &&
			 (w->failed || w->qp->type == VS_QPT_UC))
			mem_settle_pieces(s, w->rhost, w->remote, w->tag, w->qp->mtu, sure);
	}
}

static void check_flushes(struct soak *s)
{
	uint64_t sure[MAX_HOSTS] = {0}, maybe[MAX_HOSTS] = {0};

	for (const struct wr *w = s->all; w != NULL; w = w->all) {
		if (w->is_recv || w->op != VS_WR_FLUSH)
			continue;
		sure[host_index(s, w->rhost)] += !w->failed;
		maybe[host_index(s, w->rhost)] += w->failed;
	}
	for (int i = 0; i < s->n_hosts; i++)
		REQUIRE(s, s->flushes[i] >= sure[i] && s->flushes[i] <= sure[i] + maybe[i],
			"host %d: %llu FLUSHes were executed, %llu succeeded and %llu failed", i,
			(unsigned long long)s->flushes[i], (unsigned long long)sure[i], (unsigned long long)maybe[i]);
}

void done_final(struct soak *s)
{
	settle_rest(s);
	for (int i = 0; i < s->n_hosts; i++) {
		check_words(s, &s->host[i]);
		done_async(s, &s->host[i]);
	}
	for (uint32_t i = 0; i < s->n_qps; i++) {
		const struct qp *q = &s->qp[i];

		check_messages(s, q);
		REQUIRE(s, q->last_wqe == (q->use_srq && q->erred), "QP %u: %u LAST_WQE_REACHED events", i,
			q->last_wqe);
	}
	check_flushes(s);
}
