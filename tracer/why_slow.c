/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * why_slow.c - nothing failed, but something was repeated, waited for or marked. Over the whole trace, since the first
 * sign need not be the whole story.
 */
#include <string.h>

#include "vs/wire.h"
#include "why.h"

struct signs {
	unsigned lost, answers_lost, duplicates, reordered, rnr, ce, cnp, retries, implied, acked_again;
	unsigned gaps, executed, timeouts; /* what the devices themselves noticed */
	size_t first_gap, first_executed, first_timeout;
	size_t first_lost, first_answer, first_duplicate, first_late, first_rnr, first_ce, first_cnp;
};

static void note(unsigned *n, size_t *first, size_t event)
{
	if ((*n)++ == 0)
		*first = event;
}

/* What the device's own events or a fault on the simulated wire tell. */
static void look_event(const struct why *w, struct signs *s, size_t i)
{
	switch (w->m->ev[i].type) {
	case VS_EV_FAULT_DUP:
		note(&s->duplicates, &s->first_duplicate, i);
		break;
	case VS_EV_FAULT_REORDER:
	case VS_EV_FAULT_DELAY:
		note(&s->reordered, &s->first_late, i);
		break;
	case VS_EV_CC_MARK:
	case VS_EV_LINK_ECN_MARK:
	case VS_EV_FAULT_MARK:
		note(&s->ce, &s->first_ce, i);
		break;
	case VS_EV_CC_CNP_TX:
	case VS_EV_CC_CNP_RX:
		note(&s->cnp, &s->first_cnp, i);
		break;
	case VS_EV_RC_RETRY:
		s->retries++;
		break;
	case VS_EV_RC_GAP:
		note(&s->gaps, &s->first_gap, i);
		break;
	case VS_EV_RC_DUPLICATE:
		note(&s->executed, &s->first_executed, i);
		break;
	case VS_EV_RC_TIMEOUT:
		note(&s->timeouts, &s->first_timeout, i);
		break;
	default:
		break;
	}
}

static bool is_rnr(const struct why *w, size_t event)
{
	uint64_t syn = why_arg(w, event, "syn");

	return syn != VS_SYN_NONE && event != VT_NONE && vs_aeth_type((uint8_t)syn) == VS_AETH_RNR;
}

/* A NAK before it named its PSN: then it fills a gap because it was sent again. */
static bool asked_for(const struct why *w, const struct vt_packet *late)
{
	uint64_t psn = why_arg(w, late->tx, "psn");

	for (const struct vt_packet *p = w->m->pkt; p != late; p++)
		if (p->flags & VT_PKT_ANSWER && why_arg(w, p->tx, "psn") == psn &&
		    vs_aeth_type((uint8_t)why_arg(w, p->tx, "syn")) == VS_AETH_NAK &&
		    why_arg(w, p->tx, "syn") != VS_SYN_NONE)
			return true;
	return false;
}

static void look_packet(const struct why *w, struct signs *s, const struct vt_packet *p)
{
	size_t at = p->tx != VT_NONE ? p->tx : p->rx;

	if (p->flags & VT_PKT_ANSWER && is_rnr(w, at))
		note(&s->rnr, &s->first_rnr, at);
	if (p->flags & VT_PKT_LOST && p->flags & VT_PKT_ANSWER)
		note(&s->answers_lost, &s->first_answer, at);
	else if (p->flags & VT_PKT_LOST)
		note(&s->lost, &s->first_lost, at);
	if (p->frame == 0)
		return;
	if (p->mon.class_ == VS_MON_NETWORK_DUP)
		note(&s->duplicates, &s->first_duplicate, at);
	if (p->mon.class_ == VS_MON_LATE && !asked_for(w, p))
		note(&s->reordered, &s->first_late, at);
	if (p->mon.class_ == VS_MON_DUP_ACK || p->mon.class_ == VS_MON_GHOST_ACK)
		s->acked_again++;
	if (p->mon.class_ == VS_MON_RETRANSMISSION && p->mon.flags & VS_MON_DUPLICATE)
		note(&s->answers_lost, &s->first_answer, at);
	else if (p->mon.class_ == VS_MON_RETRANSMISSION && p->mon.cause != VS_MON_CAUSE_RNR)
		note(&s->lost, &s->first_lost, at);
}

/* Where nothing says what became of packets, as on sockets: a receiver that saw a gap, or what it had executed before.
 */
static void conclude(struct signs *s)
{
	if (s->lost + s->answers_lost + s->duplicates + s->reordered + s->rnr + s->ce > 0)
		return;
	if (s->gaps > 0) {
		s->lost = s->gaps;
		s->first_lost = s->first_gap;
	} else if (s->executed > 0) {
		s->answers_lost = s->executed;
		s->first_answer = s->first_executed;
	} else if (s->timeouts > 0) {
		s->lost = s->timeouts;
		s->first_lost = s->first_timeout;
	}
}

static struct signs look(const struct why *w)
{
	struct signs s = {.first_lost = VT_NONE,
			  .first_answer = VT_NONE,
			  .first_duplicate = VT_NONE,
			  .first_late = VT_NONE,
			  .first_rnr = VT_NONE,
			  .first_ce = VT_NONE,
			  .first_cnp = VT_NONE};

	for (size_t i = 0; i < w->m->n_events; i++)
		look_event(w, &s, i);
	for (size_t i = 0; i < w->m->n_pkts; i++)
		look_packet(w, &s, &w->m->pkt[i]);
	conclude(&s);
	return s;
}

/* ---- judging ---- */

static void rnr_waits(struct why *w)
{
	struct signs s = look(w);

	if (s.rnr > 0)
		why_for(w, WHY_LIKELY + 30, s.first_rnr, "%u RNR NAKs", s.rnr);
}

static void recovered_loss(struct why *w)
{
	struct signs s = look(w);

	if (s.lost > 0)
		why_for(w, WHY_LIKELY + 10, s.first_lost, "%u request packets were lost or sent again", s.lost);
}

static void recovered_ack(struct why *w)
{
	struct signs s = look(w);

	if (s.answers_lost > 0)
		why_for(w, s.answers_lost >= s.lost ? WHY_LIKELY + 20 : WHY_LIKELY, s.first_answer,
			"%u answers were lost, or requests sent again that were executed before", s.answers_lost);
}

static void reordered(struct why *w)
{
	struct signs s = look(w);

	if (s.reordered > 0)
		why_for(w, s.reordered > 1 || s.lost + s.answers_lost <= s.reordered ? WHY_LIKELY + 25 : WHY_POSSIBLE,
			s.first_late, "%u packets came behind ones that were sent after them", s.reordered);
}

static void duplicated(struct why *w)
{
	struct signs s = look(w);

	if (s.duplicates > 0)
		why_for(w, WHY_LIKELY + 28, s.first_duplicate, "%u packets came twice, the same to the last byte",
			s.duplicates);
}

static void no_cnp(struct why *w)
{
	struct signs s = look(w);

	if (s.ce > 0 && s.cnp == 0)
		why_for(w, WHY_LIKELY + 20, s.first_ce, "%u packets were marked, and no CNP was sent", s.ce);
	else if (s.cnp > 0)
		why_against(w, s.first_cnp, "%u CNPs", s.cnp);
}

static void congested(struct why *w)
{
	struct signs s = look(w);

	if (s.ce > 0 && s.cnp > 0)
		why_for(w, WHY_LIKELY, s.first_cnp, "%u packets were marked, %u CNPs sent", s.ce, s.cnp);
}

static void peer_woken(struct why *w)
{
	const struct vt_op *o = why_op(w);

	if (o == NULL || o->flags & VT_OP_RECV)
		return;
	if (o->opcode == VS_WR_RDMA_WRITE_WITH_IMM || o->opcode == VS_WR_SEND || o->opcode == VS_WR_SEND_WITH_IMM ||
	    o->opcode == VS_WR_SEND_WITH_INV)
		why_for(w, WHY_LIKELY, o->recv != VT_NONE ? w->m->op[o->recv].post : o->post,
			"a %s takes a receive at the peer, and completes there", vs_wr_opcode_name(o->opcode));
}

why_judge_fn *const why_slow_judge[VT_CAUSE_COUNT] = {
	[VT_CAUSE_RNR_WAITS] = rnr_waits,         [VT_CAUSE_RECOVERED_LOSS] = recovered_loss,
	[VT_CAUSE_RECOVERED_ACK] = recovered_ack, [VT_CAUSE_REORDERED] = reordered,
	[VT_CAUSE_DUPLICATED] = duplicated,       [VT_CAUSE_NO_CNP] = no_cnp,
	[VT_CAUSE_CONGESTED] = congested,         [VT_CAUSE_PEER_WOKEN] = peer_woken,
};
