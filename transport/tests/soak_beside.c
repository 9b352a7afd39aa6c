/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * soak_beside.c - what programs do beside requests: arm completion queues and wait for their events, resize them,
 * drain send queues, bring them back from SQE, set the limit of a shared receive queue.
 */
#include "soak.h"

/* ---- completion events ---- */

/* A completion was taken: does it count for an armed queue? */
void beside_completion(struct host *h, uint32_t cq, bool solicited)
{
	h->watch[cq].any = true;
	h->watch[cq].hot |= solicited;
}

/*
 * The queue is empty now, and no time has passed since it was polled: since it was armed there was one event if
 * something came that counts, and none otherwise. Then it is armed again, or not.
 */
void beside_empty(struct soak *s, struct host *h, uint32_t cq)
{
	struct cq_watch *w = &h->watch[cq];
	struct vs_cq *fired;
	uint64_t cookie;
	bool due = (w->armed == 2 && w->any) || (w->armed == 1 && w->hot);

	while (vs_dev_poll_comp_event(h->dev, &fired, &cookie) == 1) {
		REQUIRE(s, cookie < h->n_cq && fired == h->cq[cookie], "an event of an unknown CQ");
		h->watch[cookie].events++;
	}
	REQUIRE(s, w->events == due || w->vague, "host %u, CQ %u, armed for %s: %u events", host_index(s, h), cq,
		w->armed == 2   ? "any"
		: w->armed == 1 ? "solicited"
				: "nothing",
		w->events);
	if (w->events > 0)
		w->armed = 0;
	w->events = 0;
	w->any = w->hot = w->vague = false;
	if (percent(&s->dice, 50)) {
		bool solicited = percent(&s->dice, 50);

		vs_cq_arm(h->cq[cq], solicited);
		w->armed = solicited && w->armed != 2 ? 1 : 2;
	}
}

/* ---- draining ---- */

static void move(struct soak *s, struct qp *q, enum vs_qp_state to)
{
	struct vs_qp_attr a = {.state = to, .en_sqd_async_notify = 1};
	int rc = vs_qp_modify(q->qp, &a, VS_QP_STATE | (to == VS_QPS_SQD ? VS_QP_EN_SQD_ASYNC_NOTIFY : 0u));

	REQUIRE(s, rc == VS_OK, "QP %u can't be moved to %s", q->number, vs_qp_state_name(to));
}

void beside_drained(struct soak *s, struct qp *q)
{
	REQUIRE(s, q->draining == DRAIN_ASKED, "QP %u: SQ_DRAINED out of place", q->number);
	q->draining = DRAINED;
}

static void drain_some(struct soak *s, struct qp *q)
{
	/* The device may be ahead of its program: then the QP is in ERR already, and stays there. */
	if (q->erred || vs_qp_state(q->qp) == VS_QPS_ERR)
		return;
	switch (q->draining) {
	case NO_DRAIN:
		if (q->doomed || s->mood == STORMY || vs_qp_state(q->qp) != VS_QPS_RTS || !percent(&s->dice, 1))
			break;
		q->draining = DRAIN_ASKED;
		move(s, q, VS_QPS_SQD);
		break;
	case DRAIN_ASKED:
		break;
	case DRAINED:
		if (!percent(&s->dice, 20))
			break;
		q->draining = NO_DRAIN;
		move(s, q, VS_QPS_RTS);
		break;
	}
}

/* A bad request of UC or UD stops its send queue alone. When all of it is flushed, the program goes on. */
static void recover_some(struct soak *s, struct qp *q)
{
	if (q->erred || vs_qp_state(q->qp) != VS_QPS_SQE || q->sends.n > 0 || !percent(&s->dice, 30))
		return;
	REQUIRE(s, q->sq_bad && q->send_failed, "QP %u is in SQE without a bad request", q->number);
	move(s, q, VS_QPS_RTS);
	q->sq_bad = q->send_failed = false;
	q->unsignaled = 0;
	s->recoveries++;
}

/* ---- limits and sizes ---- */

static void resize_some(struct soak *s, struct host *h)
{
	uint32_t c = below(&s->dice, h->n_cq);

	if (!percent(&s->dice, 2))
		return;
	REQUIRE(s, vs_cq_resize(h->cq[c], h->cq_size[c] + below(&s->dice, 50)) == VS_OK, "CQ %u can't be resized", c);
}

static void limit_some(struct soak *s, struct host *h)
{
	struct vs_srq_attr a = {0};

	if (h->srq == NULL || !percent(&s->dice, 2))
		return;
	a.srq_limit = between(&s->dice, 1, h->srq_depth);
	REQUIRE(s, vs_srq_modify(h->srq, &a, VS_SRQ_LIMIT) == VS_OK, "the limit of an SRQ can't be set");
	h->limit_armed = true;
}

void beside_limit(struct soak *s, struct host *h)
{
	REQUIRE(s, h->limit_armed, "host %u: SRQ_LIMIT_REACHED without a limit", host_index(s, h));
	h->limit_armed = false;
}

void beside_some(struct soak *s)
{
	for (uint32_t i = 0; i < s->n_qps; i++) {
		drain_some(s, &s->qp[i]);
		recover_some(s, &s->qp[i]);
	}
	passing_some(s);
	for (int i = 0; i < s->n_hosts; i++) {
		resize_some(s, &s->host[i]);
		limit_some(s, &s->host[i]);
	}
}
