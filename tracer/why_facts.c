/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * why_facts.c - what the trace knows of the two ends of a request: how their queue pairs were connected, what memory
 * they registered, and what became of the packets between them.
 */
#include <stdlib.h>
#include <string.h>

#include "vs/opcode.h"
#include "vs/wire.h"
#include "why.h"

uint64_t why_arg(const struct why *w, size_t event, const char *name)
{
	uint64_t v = 0;

	return event != VT_NONE && vt_arg(&w->m->ev[event], name, &v) ? v : 0;
}

const char *why_text_arg(const struct why *w, size_t event, const char *name)
{
	const char *text = (const char *)(uintptr_t)why_arg(w, event, name);

	return text != NULL ? text : "";
}

const struct vt_op *why_op(const struct why *w)
{
	return w->op != VT_NONE ? &w->m->op[w->op] : NULL;
}

const char *why_end_text(const struct why *w, const struct why_end *e, char *buf, size_t cap)
{
	if (e->qp != VT_NONE)
		return vt_qp_text(w->m, e->qp, buf, cap);
	if (e->node != VT_NONE)
		(void)snprintf(buf, cap, "%s", w->m->node[e->node].title);
	else
		(void)snprintf(buf, cap, "the peer");
	return buf;
}

size_t why_last_event(const struct why *w, size_t node)
{
	for (size_t i = w->m->n_events; i > 0; i--)
		if (w->m->ev[i - 1].type != VS_EV_REC_END && strcmp(w->m->ev[i - 1].node, w->m->node[node].name) == 0)
			return i - 1;
	return 0;
}

/* ---- memory ---- */

static bool add_mr(struct why *w, size_t i, size_t node)
{
	const struct vs_event *e = &w->m->ev[i];
	struct why_mr *grown = realloc(w->mr, (w->n_mr + 1) * sizeof(*grown));

	if (grown == NULL)
		return false;
	w->mr = grown;
	w->mr[w->n_mr++] = (struct why_mr){.node = node,
					   .made = i,
					   .gone = VT_NONE,
					   .addr = e->a[0],
					   .len = e->a[1],
					   .lkey = (uint32_t)e->a[2],
					   .rkey = (uint32_t)e->a[3],
					   .access = (uint32_t)e->a[4]};
	return true;
}

static void end_mr(struct why *w, size_t i, size_t node)
{
	for (size_t n = w->n_mr; n > 0; n--)
		if (w->mr[n - 1].node == node && w->mr[n - 1].lkey == w->m->ev[i].a[0] &&
		    w->mr[n - 1].gone == VT_NONE) {
			w->mr[n - 1].gone = i;
			return;
		}
}

static bool gather_memory(struct why *w)
{
	for (size_t i = 0; i < w->m->n_events; i++) {
		const struct vs_event *e = &w->m->ev[i];

		if (e->type == VS_EV_VERB_REG_MR && e->a[5] == 0 && !add_mr(w, i, vt_find_node(w->m, e->node)))
			return false;
		if (e->type == VS_EV_VERB_DEREG_MR && e->a[1] == 0)
			end_mr(w, i, vt_find_node(w->m, e->node));
	}
	return true;
}

/* ---- queue pairs ---- */

static void follow_state(struct why_end *end, const struct vs_event *e)
{
	if (e->type == VS_EV_QP_STATE || (e->type == VS_EV_VERB_MODIFY_QP && e->a[3] == 0)) {
		end->state = (enum vs_qp_state)e->a[1];
		end->state_known = true;
	} else if (e->type == VS_EV_VERB_CREATE_QP) {
		end->state = VS_QPS_RESET;
		end->state_known = true;
	}
}

static void describe_event(struct why *w, struct why_end *end, size_t i, size_t until)
{
	const struct vs_event *e = &w->m->ev[i];

	switch (e->type) {
	case VS_EV_VERB_CREATE_QP:
		end->created = i;
		break;
	case VS_EV_VERB_DESTROY_QP:
		if (i < until && e->a[0] == 0)
			end->destroyed = i;
		break;
	case VS_EV_VERB_QP_RTR:
		end->rtr = i;
		break;
	case VS_EV_VERB_QP_RTS:
		end->rts = i;
		break;
	case VS_EV_VERB_QP_INIT:
		end->init = end->init == VT_NONE || e->a[1] != 0 || e->a[2] != 0 ? i : end->init;
		break;
	case VS_EV_VERB_QP_CAPS:
		end->caps = i;
		break;
	case VS_EV_CQE:
		if (e->a[0] != VS_WC_SUCCESS && e->a[0] != VS_WC_WR_FLUSH_ERR && i < until && end->failed == VT_NONE)
			end->failed = i;
		if (e->a[0] != VS_WC_SUCCESS && e->a[0] != VS_WC_WR_FLUSH_ERR && end->failed_later == VT_NONE)
			end->failed_later = i;
		break;
	default:
		break;
	}
	if (i < until)
		follow_state(end, e);
}

static void describe(struct why *w, struct why_end *end)
{
	size_t until = w->subject != VT_NONE ? w->subject : w->m->n_events;

	if (end->node != VT_NONE)
		end->recorded = w->m->node[end->node].verbs;
	for (size_t i = 0; end->qpn != 0 && end->node != VT_NONE && i < w->m->n_events; i++)
		if (w->m->ev[i].qpn == end->qpn && strcmp(w->m->ev[i].node, w->m->node[end->node].name) == 0)
			describe_event(w, end, i, until);
}

static struct why_end nobody(void)
{
	return (struct why_end){.node = VT_NONE,
				.qp = VT_NONE,
				.rtr = VT_NONE,
				.rts = VT_NONE,
				.init = VT_NONE,
				.caps = VT_NONE,
				.created = VT_NONE,
				.destroyed = VT_NONE,
				.failed = VT_NONE,
				.failed_later = VT_NONE};
}

static void set_qp(struct why *w, struct why_end *end, size_t qp)
{
	end->qp = qp;
	end->node = w->m->qp[qp].node;
	end->qpn = w->m->qp[qp].qpn;
}

/* Who has this GID, as it said itself. */
static size_t node_of_gid(const struct why *w, const char *gid)
{
	for (size_t i = 0; gid[0] != '\0' && i < w->m->n_events; i++)
		if (w->m->ev[i].type == VS_EV_VERB_QUERY_GID && strcmp(why_text_arg(w, i, "gid"), gid) == 0)
			return vt_find_node(w->m, w->m->ev[i].node);
	return VT_NONE;
}

/* The other end: as packets showed it, as this end was told, or the one other node that there is. */
static void find_peer(struct why *w)
{
	const struct vt_model *m = w->m;
	size_t others = 0, other = VT_NONE;
	uint32_t dqpn = (uint32_t)why_arg(w, w->me.rtr, "dqpn");

	if (w->me.qp != VT_NONE && m->qp[w->me.qp].peer != VT_NONE) {
		set_qp(w, &w->peer, m->qp[w->me.qp].peer);
		return;
	}
	for (size_t q = 0; dqpn != 0 && q < m->n_qps; q++)
		if (q != w->me.qp && m->qp[q].qpn == dqpn && m->qp[q].created != VT_NONE) {
			set_qp(w, &w->peer, q);
			return;
		}
	w->peer.qpn = dqpn;
	w->peer.node = node_of_gid(w, why_text_arg(w, w->me.rtr, "gid"));
	for (size_t n = 0; n < m->n_nodes; n++)
		if (!m->node[n].wire && n != w->me.node) {
			others++;
			other = n;
		}
	if (w->peer.node == VT_NONE && others == 1)
		w->peer.node = other;
	/* Its queue pair that wants to talk to this one. */
	for (size_t q = 0; q < m->n_qps && w->peer.node != VT_NONE; q++)
		for (size_t i = 0; m->qp[q].node == w->peer.node && i < m->n_events; i++)
			if (m->ev[i].type == VS_EV_VERB_QP_RTR && m->ev[i].qpn == m->qp[q].qpn &&
			    m->ev[i].a[1] == w->me.qpn && strcmp(m->ev[i].node, m->node[w->peer.node].name) == 0)
				set_qp(w, &w->peer, q);
}

/* ---- packets ---- */

static void note(size_t *first, size_t event)
{
	if (*first == VT_NONE)
		*first = event;
}

/* What devices said about this request, or at least about this connection. */
static void hear(struct why *w, size_t i)
{
	const struct vs_event *e = &w->m->ev[i];
	uint64_t r = 0;

	if (e->type == VS_EV_CQE && i != w->subject)
		return;
	if (!vt_arg(e, "reason", &r) || r == 0 || r >= VS_REASON_COUNT)
		return;
	note(&w->f.reason[r], i);
}

static bool of_connection(const struct why *w, const struct vt_packet *p)
{
	size_t qp = p->tx != VT_NONE ? w->m->qp_of[p->tx] : UINT32_MAX;

	if (w->op != VT_NONE && p->op == w->op)
		return true;
	return w->me.qp != VT_NONE && (qp == w->me.qp || (w->peer.qp != VT_NONE && qp == w->peer.qp));
}

static void count_answer(struct why *w, const struct vt_packet *p)
{
	struct why_facts *f = &w->f;
	uint64_t syn = why_arg(w, p->tx != VT_NONE ? p->tx : p->rx, "syn");
	size_t seen = p->rx != VT_NONE ? p->rx : p->tx;

	f->answers++;
	if (p->flags & VT_PKT_DROPPED && (why_arg(w, p->fate, "reason") == VS_REASON_QP_STATE ||
					  why_arg(w, p->fate, "reason") == VS_REASON_QP_UNKNOWN)) {
		f->acked_late++; /* this end had given up */
		return;
	}
	if (p->flags & (VT_PKT_LOST | VT_PKT_DROPPED)) {
		f->answers_lost++;
		note(&f->first_answer_lost, p->fate != VT_NONE ? p->fate : p->tx);
		return;
	}
	if (p->rx == VT_NONE)
		return;
	f->answered++;
	if (syn == VS_SYN_NONE || vs_aeth_type((uint8_t)syn) == VS_AETH_ACK) {
		f->progress = true;
	} else if (vs_aeth_type((uint8_t)syn) == VS_AETH_RNR) {
		f->rnr++;
		note(&f->first_rnr, seen);
	} else if (vs_aeth_type((uint8_t)syn) == VS_AETH_NAK) {
		f->nak[(syn & 0x1f) < 5 ? syn & 0x1f : 4]++;
		note(&f->first_nak, seen);
	}
}

static void count_packet(struct why *w, const struct vt_packet *p)
{
	struct why_facts *f = &w->f;
	bool mine = p->tx != VT_NONE && w->m->qp_of[p->tx] == w->me.qp;

	if (!mine && p->rx != VT_NONE && w->m->qp_of[p->rx] == w->me.qp)
		f->from_peer++;
	if (p->flags & VT_PKT_ANSWER) {
		if (!mine)
			count_answer(w, p);
		return;
	}
	if (!mine)
		return;
	f->sent++;
	f->resent += why_arg(w, p->tx, "retx") > 0;
	f->arrived += p->rx != VT_NONE;
	f->lost += (p->flags & VT_PKT_LOST) != 0;
	f->dropped += (p->flags & VT_PKT_DROPPED) != 0;
	if (p->flags & VT_PKT_LOST)
		note(&f->first_lost, p->fate != VT_NONE ? p->fate : p->tx);
	if (p->flags & VT_PKT_DROPPED) {
		note(&f->first_drop, p->fate);
		if (p->fate != VT_NONE)
			hear(w, p->fate);
	}
}

static void gather_packets(struct why *w)
{
	for (size_t i = 0; i < w->m->n_pkts; i++)
		if (of_connection(w, &w->m->pkt[i]))
			count_packet(w, &w->m->pkt[i]);
}

static bool at_end(const struct why *w, const struct vs_event *e, const struct why_end *end)
{
	return end->node != VT_NONE && strcmp(e->node, w->m->node[end->node].name) == 0 &&
	       (e->qpn == end->qpn || end->qpn == 0);
}

static void gather_events(struct why *w)
{
	size_t until = w->subject != VT_NONE ? w->subject + 1 : w->m->n_events;

	for (size_t i = 0; i < w->m->n_events; i++) {
		const struct vs_event *e = &w->m->ev[i];
		bool mine = at_end(w, e, &w->me), his = at_end(w, e, &w->peer);

		if (e->type == VS_EV_VERB_REFUSED && w->symptom == WHY_CALL && i + 12 > until && i < until + 12)
			hear(w, i);
		if (i == w->subject && e->type == VS_EV_UD_DROP)
			hear(w, i);
		if ((!mine && !his) || i > until + 64)
			continue;
		if (mine && i < until) {
			w->f.timeouts += e->type == VS_EV_RC_TIMEOUT;
			w->f.retries += e->type == VS_EV_RC_RETRY;
			if (e->type == VS_EV_RC_TIMEOUT)
				note(&w->f.first_timeout, i);
			w->f.acked_late += e->type == VS_EV_RC_GHOST;
		}
		if (e->type == VS_EV_RC_REFUSE || e->type == VS_EV_UD_DROP || e->type == VS_EV_CQE ||
		    (e->type == VS_EV_QP_STATE && his) || e->type == VS_EV_PKT_DROP)
			hear(w, i);
	}
}

bool why_gather(struct why *w)
{
	w->me = w->peer = nobody();
	w->f.first_nak = w->f.first_rnr = w->f.first_lost = w->f.first_answer_lost = VT_NONE;
	w->f.first_timeout = w->f.first_drop = VT_NONE;
	for (size_t r = 0; r < VS_REASON_COUNT; r++)
		w->f.reason[r] = VT_NONE;
	if (w->op != VT_NONE)
		set_qp(w, &w->me, w->m->op[w->op].qp);
	else if (w->subject != VT_NONE && w->m->qp_of[w->subject] != UINT32_MAX)
		set_qp(w, &w->me, w->m->qp_of[w->subject]);
	else if (w->subject != VT_NONE)
		w->me.node = vt_find_node(w->m, w->m->ev[w->subject].node);
	describe(w, &w->me);
	find_peer(w);
	describe(w, &w->peer);
	gather_packets(w);
	gather_events(w);
	return gather_memory(w);
}
