/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * verbs.c - what the program saw: work requests posted and completed (event.h), held against the packets at the end.
 *
 * The events of a queue pair come in their own order and by their own clock, so packets and events meet in numbers that
 * are complete when both are over, never in times. A queue pair is known by its node and its number; its requests are
 * the flow whose answers go to that number, when there is one alone.
 */
#include <stdlib.h>
#include <string.h>

#include "mon.h"
#include "vs/event.h"
#include "vs/verbs.h"

#define QPS 4096u   /* queue pairs that are remembered */
#define POSTS 4096u /* work requests of a queue that wait */

struct post {
	uint64_t wr_id;
	bool signaled;
};

/* Work requests in the order in which they were posted. */
struct queue {
	struct post *post;
	uint32_t first, n;
	bool all_signaled; /* one that did not ask for a completion had one (sq_sig_all) */
	bool vague;        /* more than are remembered */
};

struct mon_qp {
	struct mon_qp *next;
	char node[16];
	uint32_t qpn;
	struct queue send, recv;
	bool in_error, sends_seen;
	bool by_user;  /* the program put it into error, so what was on its way was not to be completed otherwise */
	uint8_t error; /* first status of a send that is neither SUCCESS nor flushed; with error_any */
	bool error_any, flushed;
	uint64_t reads;   /* READs that completed with SUCCESS */
	uint64_t missing; /* signaled work requests without a completion, though a later one has its own */
	uint64_t missing_wr;
	uint64_t recv_cq; /* with recv_cq_any */
	bool recv_cq_any, recv_cq_other;
};

static struct mon_qp *qp_of(struct vs_monitor *m, const struct vs_event *ev)
{
	struct mon_qp *q;

	for (q = m->qps; q != NULL; q = q->next)
		if (q->qpn == ev->qpn && strncmp(q->node, ev->node, sizeof(q->node)) == 0)
			return q;
	if (m->n_qps == QPS)
		return NULL;
	q = calloc(1, sizeof(*q));
	if (q == NULL)
		return NULL;
	memcpy(q->node, ev->node, sizeof(q->node));
	q->qpn = ev->qpn;
	q->next = m->qps;
	m->qps = q;
	m->n_qps++;
	return q;
}

static void queue_clear(struct queue *q)
{
	q->first = q->n = 0;
	q->vague = false;
}

static void push(struct queue *q, uint64_t wr_id, bool signaled)
{
	if (q->post == NULL)
		q->post = calloc(POSTS, sizeof(*q->post));
	if (q->post == NULL || q->n == POSTS) {
		q->vague = true;
		return;
	}
	q->post[(q->first + q->n++) % POSTS] = (struct post){wr_id, signaled};
}

/*
 * The oldest with this id, and all before it: they are over. How many of these were to have a completion too, and the
 * first of them.
 */
static uint32_t pop(struct queue *q, uint64_t wr_id, bool success, uint64_t *skipped)
{
	uint32_t at = 0, missing = 0;

	while (at < q->n && q->post[(q->first + at) % POSTS].wr_id != wr_id)
		at++;
	if (at == q->n)
		return 0;
	q->all_signaled |= success && !q->post[(q->first + at) % POSTS].signaled;
	for (uint32_t i = 0; i < at; i++) {
		const struct post *p = &q->post[(q->first + i) % POSTS];

		if ((p->signaled || q->all_signaled) && missing++ == 0)
			*skipped = p->wr_id;
	}
	q->first = (q->first + at + 1) % POSTS;
	q->n -= at + 1;
	return missing;
}

/* Work requests that must have a completion yet; of others nobody knows whether they are over. */
static uint32_t waiting(const struct queue *q)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < q->n && !q->vague; i++)
		n += q->all_signaled || q->post[(q->first + i) % POSTS].signaled;
	return n;
}

static void completed_send(struct mon_qp *q, const struct vs_event *ev)
{
	const uint8_t status = (uint8_t)ev->a[0];
	uint64_t skipped = 0;
	const uint32_t missing = pop(&q->send, ev->wr_id, status == VS_WC_SUCCESS, &skipped);

	q->sends_seen = true;
	if (q->missing == 0 && missing > 0)
		q->missing_wr = skipped;
	q->missing += missing;
	q->reads += status == VS_WC_SUCCESS && ev->a[1] == VS_WC_RDMA_READ;
	q->flushed |= status == VS_WC_WR_FLUSH_ERR;
	if (!q->error_any && status != VS_WC_SUCCESS && status != VS_WC_WR_FLUSH_ERR) {
		q->error = status;
		q->error_any = true;
	}
}

static void completed_recv(struct mon_qp *q, const struct vs_event *ev)
{
	uint64_t skipped;

	(void)pop(&q->recv, ev->wr_id, false, &skipped);
	q->recv_cq_other |= q->recv_cq_any && q->recv_cq != ev->a[5];
	if (!q->recv_cq_any)
		q->recv_cq = ev->a[5];
	q->recv_cq_any = true;
}

/* What it had is over. */
static void forget(struct mon_qp *q)
{
	queue_clear(&q->send);
	queue_clear(&q->recv);
	q->in_error = q->error_any = q->flushed = q->recv_cq_any = q->by_user = false;
}

static void changed_state(struct mon_qp *q, const struct vs_event *ev)
{
	q->in_error = ev->a[1] == VS_QPS_ERR;
	q->by_user |= q->in_error && ev->a[2] == VS_REASON_BY_USER;
	if (ev->a[1] == VS_QPS_RESET)
		forget(q);
}

void vs_monitor_event(struct vs_monitor *m, const struct vs_event *ev)
{
	struct mon_qp *q;

	switch (ev->type) {
	case VS_EV_VERB_POST_SEND:
	case VS_EV_VERB_POST_RECV:
	case VS_EV_CQE:
	case VS_EV_QP_STATE:
	case VS_EV_VERB_DESTROY_QP:
		break;
	default:
		return;
	}
	q = ev->qpn != 0 ? qp_of(m, ev) : NULL;
	if (q == NULL)
		return;
	m->total.events++;
	if (ev->type == VS_EV_VERB_POST_SEND && ev->has_wr && ev->a[5] == 0)
		push(&q->send, ev->wr_id, q->in_error || ev->a[4] & VS_SEND_SIGNALED); /* in error each is flushed */
	else if (ev->type == VS_EV_VERB_POST_RECV && ev->has_wr && ev->a[1] == 0)
		push(&q->recv, ev->wr_id, true);
	else if (ev->type == VS_EV_CQE && ev->has_wr && (ev->a[1] & VS_WC_RECV))
		completed_recv(q, ev);
	else if (ev->type == VS_EV_CQE && ev->has_wr)
		completed_send(q, ev);
	else if (ev->type == VS_EV_QP_STATE)
		changed_state(q, ev);
	else if (ev->type == VS_EV_VERB_DESTROY_QP && ev->a[0] == 0)
		forget(q);
}

/* ---- the end ---- */

/* The requests of this queue pair: what the one flow towards its number answers. NULL: none, or several. */
static struct mon_flow *requests_of(const struct vs_monitor *m, const struct mon_qp *q)
{
	struct mon_flow *found = NULL;

	for (struct mon_flow *f = m->oldest; f != NULL; f = f->newer) {
		if (f->key.destqp != q->qpn || f->peer == NULL)
			continue;
		if (found != NULL)
			return NULL;
		found = f->peer;
	}
	return found != NULL && mon_flow_trusted(found) ? found : NULL;
}

static uint8_t status_of(uint8_t nak)
{
	switch (nak) {
	case VS_NAK_INV_REQ:
		return VS_WC_REM_INV_REQ_ERR;
	case VS_NAK_REM_ACCESS:
		return VS_WC_REM_ACCESS_ERR;
	default:
		return VS_WC_REM_OP_ERR;
	}
}

/* Completions for what the wire refused. Another kind of error may have come first. */
static void refused(struct mon_now *n, const struct mon_flow *f, const struct mon_qp *q)
{
	const uint8_t want = status_of(f->fatal_code);
	const bool remote =
		q->error == VS_WC_REM_INV_REQ_ERR || q->error == VS_WC_REM_ACCESS_ERR || q->error == VS_WC_REM_OP_ERR;

	if (!f->fatal_ever || f->fatal_count != 1 || q->error == want || !q->sends_seen)
		return;
	if (q->error_any && remote)
		mon_find(n, VS_RULE_COMPLETION_STATUS, f->fatal_frame,
			 "QP 0x%06x of %.15s: %s; the NAK in frame %u is %s", q->qpn, q->node,
			 vs_wc_status_name(q->error), f->fatal_frame, vs_nak_text(f->fatal_code));
	else if (!q->error_any && q->flushed && !q->by_user)
		mon_find(n, VS_RULE_COMPLETION_MISSING, f->fatal_frame,
			 "QP 0x%06x of %.15s: the request that the NAK in frame %u refuses has none; those behind it "
			 "were flushed",
			 q->qpn, q->node, f->fatal_frame);
}

static void judge_flow(struct mon_now *n, const struct mon_flow *f, const struct mon_qp *q)
{
	refused(n, f, q);
	/* a capture that begins later or misses frames proves nothing: it must have seen what was asked */
	if (q->reads > f->reads_answered && f->reads_asked >= q->reads)
		mon_find(n, VS_RULE_READ_WITHOUT_DATA, f->last_req_frame,
			 "QP 0x%06x of %.15s: %llu completed, %llu were answered to the end", q->qpn, q->node,
			 (unsigned long long)q->reads, (unsigned long long)f->reads_answered);
}

static void judge_queues(struct mon_now *n, const struct mon_qp *q)
{
	if (q->missing > 0 && !q->send.vague)
		mon_find(n, VS_RULE_COMPLETION_MISSING, 0,
			 "QP 0x%06x of %.15s: work request %llu and %llu more; later ones have theirs", q->qpn, q->node,
			 (unsigned long long)q->missing_wr, (unsigned long long)(q->missing - 1));
	if (q->in_error && waiting(&q->send) > 0)
		mon_find(n, VS_RULE_POST_UNFINISHED, 0, "QP 0x%06x of %.15s: %u in the send queue", q->qpn, q->node,
			 waiting(&q->send));
	if (q->in_error && waiting(&q->recv) > 0)
		mon_find(n, VS_RULE_POST_UNFINISHED, 0, "QP 0x%06x of %.15s: %u in the receive queue", q->qpn, q->node,
			 waiting(&q->recv));
	if (q->recv_cq_other)
		mon_find(n, VS_RULE_COMPLETION_QUEUE, 0, "QP 0x%06x of %.15s", q->qpn, q->node);
}

void mon_verbs_end(struct vs_monitor *m)
{
	static const struct vs_pkt none;

	for (const struct mon_qp *q = m->qps; q != NULL; q = q->next) {
		struct mon_flow *f = requests_of(m, q);
		const uint32_t frame = f == NULL                             ? 0
				       : f->last_frame > f->peer->last_frame ? f->last_frame
									     : f->peer->last_frame;
		const struct vs_mon_packet in = {.frame = frame, .pkt = &none};
		struct vs_mon_result out = {0};
		struct mon_now n = {.m = m, .in = &in, .p = &none, .f = f, .out = &out};

		if (f != NULL)
			judge_flow(&n, f, q);
		judge_queues(&n, q);
	}
}

void mon_verbs_free(struct vs_monitor *m)
{
	while (m->qps != NULL) {
		struct mon_qp *gone = m->qps;

		m->qps = gone->next;
		free(gone->send.post);
		free(gone->recv.post);
		free(gone);
	}
}
