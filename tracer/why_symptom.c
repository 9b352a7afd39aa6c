/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * why_symptom.c - what is to be explained, when nobody says which: the first completion with an error that is no mere
 * consequence, else a call that was refused, an asynchronous event, a request without completion, a connection that did
 * not come up, and where nothing failed, what was not smooth. From packets alone: refusals and requests without answer.
 */
#include <string.h>

#include "vs/cm.h"
#include "vs/psn.h"
#include "vs/wire.h"
#include "why.h"

/* Calls whose failure is worth explaining. Those that look for what there is (query_gid) fail in good programs too. */
static bool call_failed(const struct vs_event *e)
{
	uint64_t ret = 0;

	switch (e->type) {
	case VS_EV_VERB_POST_SEND:
	case VS_EV_VERB_POST_RECV:
	case VS_EV_VERB_POST_SRQ_RECV:
	case VS_EV_VERB_REG_MR:
	case VS_EV_VERB_CREATE_QP:
	case VS_EV_VERB_CREATE_CQ:
	case VS_EV_VERB_MODIFY_QP:
	case VS_EV_VERB_CREATE_AH:
	case VS_EV_VERB_POLL_FAILED:
	case VS_EV_VERB_OPEN_DEVICE:
		return vt_arg(e, "ret", &ret) && ret != 0;
	default:
		return false;
	}
}

static bool bad_async(const struct vs_event *e)
{
	return e->type == VS_EV_ASYNC &&
	       (e->a[0] == VS_EVENT_CQ_ERR || e->a[0] == VS_EVENT_QP_FATAL || e->a[0] == VS_EVENT_QP_REQ_ERR ||
		e->a[0] == VS_EVENT_QP_ACCESS_ERR || e->a[0] == VS_EVENT_PORT_ERR || e->a[0] == VS_EVENT_SRQ_ERR);
}

static bool bad_cm(const struct why *w, size_t i)
{
	static const char *const bad[] = {"ADDR_ERROR", "ROUTE_ERROR", "CONNECT_ERROR", "UNREACHABLE", "REJECTED"};
	const char *name = w->m->ev[i].type == VS_EV_CM_EVENT ? why_text_arg(w, i, "event") : "";

	if (w->m->ev[i].type == VS_EV_CM_TX && w->m->ev[i].a[0] == VS_CM_ATTR_REJ)
		return true;
	for (size_t n = 0; n < sizeof(bad) / sizeof(bad[0]); n++)
		if (strcmp(name, bad[n]) == 0)
			return true;
	return false;
}

void why_about_event(struct why *w, size_t i)
{
	const struct vs_event *e = &w->m->ev[i];

	w->subject = i;
	w->op = w->m->op_of[i];
	w->symptom = e->type == VS_EV_CQE                                  ? WHY_CQE
		     : e->type == VS_EV_CQ_OVERFLOW                        ? WHY_ASYNC
		     : e->type == VS_EV_ASYNC                              ? WHY_ASYNC
		     : e->type == VS_EV_CM_EVENT || e->type == VS_EV_CM_TX ? WHY_CONNECTION
									   : WHY_CALL;
	w->status = e->type == VS_EV_CQE || e->type == VS_EV_ASYNC ? (unsigned)e->a[0] : 0;
	if (e->type == VS_EV_CQ_OVERFLOW)
		w->status = VS_EVENT_CQ_ERR;
	if (e->type == VS_EV_CQE && e->a[0] == VS_WC_SUCCESS)
		w->symptom = WHY_WOKEN;
}

/* Something acknowledged what it asked for, however the frames were ordered. */
static bool covered(const struct why *w, const struct vt_op *o)
{
	for (size_t i = 0; i < w->m->n_pkts; i++) {
		const struct vt_packet *p = &w->m->pkt[i];
		uint64_t syn = why_arg(w, p->tx, "syn"), psn = why_arg(w, p->tx, "psn");

		if (p->flags & VT_PKT_ANSWER && p->tx != VT_NONE && w->m->qp_of[p->tx] == w->m->qp[o->qp].peer &&
		    syn != VS_SYN_NONE && vs_aeth_type((uint8_t)syn) == VS_AETH_ACK &&
		    vs_psn_ge((uint32_t)psn, o->last_psn))
			return true;
	}
	return false;
}

/* From packets: what the requester must have made of it. */
static bool inferred_status(const struct why *w, size_t op, unsigned *status)
{
	static const unsigned of_nak[] = {VS_WC_RETRY_EXC_ERR, VS_WC_REM_INV_REQ_ERR, VS_WC_REM_ACCESS_ERR,
					  VS_WC_REM_OP_ERR, VS_WC_REM_INV_REQ_ERR};
	const struct vt_op *o = &w->m->op[op];
	uint64_t syn = why_arg(w, o->nak, "syn");

	if (!(o->flags & VT_OP_INFERRED))
		return false;
	if (o->nak != VT_NONE && vs_aeth_type((uint8_t)syn) == VS_AETH_NAK && (syn & 0x1f) > 0 && (syn & 0x1f) < 5) {
		*status = of_nak[syn & 0x1f];
		return true;
	}
	if (o->answer != VT_NONE || w->m->qp[o->qp].type == VS_QPT_UD || w->m->qp[o->qp].type == VS_QPT_UC)
		return false;
	if (o->nak != VT_NONE && vs_aeth_type((uint8_t)syn) == VS_AETH_RNR)
		*status = VS_WC_RNR_RETRY_EXC_ERR;
	else if ((o->retransmissions > 0 || o->nak != VT_NONE) && !covered(w, o))
		*status = VS_WC_RETRY_EXC_ERR;
	else
		return false;
	return true;
}

void why_about_op(struct why *w, size_t op)
{
	const struct vt_op *o = &w->m->op[op];
	enum vs_wc_status s;

	w->op = op;
	if (o->cqe != VT_NONE || o->poll != VT_NONE) {
		(void)vt_op_status(w->m, op, &s);
		why_about_event(w, o->cqe != VT_NONE ? o->cqe : o->poll);
		w->op = op;
		w->symptom = s == VS_WC_SUCCESS ? WHY_WOKEN : WHY_CQE;
		w->status = s;
		if (o->poll == VT_NONE && s == VS_WC_SUCCESS)
			w->symptom = WHY_NO_CQE; /* nobody has fetched it */
		return;
	}
	if (inferred_status(w, op, &w->status)) {
		w->symptom = WHY_CQE;
		w->subject = o->nak != VT_NONE ? o->nak : o->last_tx;
		return;
	}
	w->symptom = o->flags & VT_OP_INFERRED && o->answer != VT_NONE ? WHY_WOKEN : WHY_NO_CQE;
	w->subject = VT_NONE;
}

/* ---- the first thing that is wrong ---- */

static size_t first_event(const struct why *w, bool (*is)(const struct vs_event *e))
{
	for (size_t i = 0; i < w->m->n_events; i++)
		if (is(&w->m->ev[i]))
			return i;
	return VT_NONE;
}

static bool real_error(const struct vs_event *e)
{
	return e->type == VS_EV_CQE && e->a[0] != VS_WC_SUCCESS && e->a[0] != VS_WC_WR_FLUSH_ERR;
}

static bool flushed(const struct vs_event *e)
{
	return e->type == VS_EV_CQE && e->a[0] == VS_WC_WR_FLUSH_ERR;
}

static bool overflow(const struct vs_event *e)
{
	return e->type == VS_EV_CQ_OVERFLOW || (e->type == VS_EV_ASYNC && e->a[0] == VS_EVENT_CQ_ERR);
}

static bool find_inferred(struct why *w)
{
	unsigned status;

	for (size_t i = 0; i < w->m->n_ops; i++)
		if (inferred_status(w, i, &status)) {
			why_about_op(w, i);
			return true;
		}
	return false;
}

static bool due(const struct why *w, size_t i)
{
	const struct vt_op *o = &w->m->op[i];

	return o->post != VT_NONE && o->cqe == VT_NONE && o->poll == VT_NONE && !(o->flags & VT_OP_RECV);
}

/* A send that got no answer, else a completion that nobody fetched. */
static bool find_open(struct why *w)
{
	size_t open = VT_NONE, unpolled = VT_NONE;

	for (size_t i = 0; i < w->m->n_ops; i++) {
		const struct vt_op *o = &w->m->op[i];

		if (due(w, i) && open == VT_NONE && (o->flags & VT_OP_SIGNALED || o->answer == VT_NONE))
			open = i;
		if (o->cqe != VT_NONE && o->poll == VT_NONE && unpolled == VT_NONE)
			unpolled = i;
	}
	if (open == VT_NONE)
		open = unpolled;
	if (open == VT_NONE)
		return false;
	why_about_op(w, open);
	return true;
}

/* A datagram that a receiver says it threw away. */
static bool find_datagram(struct why *w)
{
	for (size_t i = 0; i < w->m->n_events; i++) {
		size_t cause = w->m->ev[i].type == VS_EV_UD_DROP ? w->m->cause[i] : VT_NONE;

		if (cause == VT_NONE)
			continue;
		w->op = w->m->op_of[cause];
		w->symptom = WHY_NO_CQE;
		w->subject = i;
		return true;
	}
	return false;
}

static bool find_ud_drop(struct why *w)
{
	for (size_t i = 0; i < w->m->n_pkts; i++) {
		const struct vt_packet *p = &w->m->pkt[i];
		size_t qp = p->tx != VT_NONE ? w->m->qp_of[p->tx] : UINT32_MAX;

		if (!(p->flags & (VT_PKT_DROPPED | VT_PKT_LOST)) || qp == UINT32_MAX || p->op == VT_NONE ||
		    (w->m->qp[qp].type != VS_QPT_UD && w->m->qp[qp].type != VS_QPT_UC))
			continue;
		w->op = p->op;
		w->symptom = WHY_NO_CQE;
		w->subject = p->fate;
		return true;
	}
	return false;
}

static bool find_connection(struct why *w)
{
	for (size_t i = 0; i < w->m->n_events; i++)
		if (bad_cm(w, i)) {
			why_about_event(w, i);
			return true;
		}
	return false;
}

/* It was made, and never got to RTR. */
static bool never_connected(const struct why *w, size_t q)
{
	if (w->m->qp[q].created == VT_NONE)
		return false;
	for (size_t i = 0; i < w->m->n_events; i++)
		if (w->m->qp_of[i] == q && w->m->ev[i].type == VS_EV_VERB_MODIFY_QP && w->m->ev[i].a[3] == 0 &&
		    (w->m->ev[i].a[1] == VS_QPS_RTS || w->m->ev[i].a[1] == VS_QPS_RTR))
			return false;
	return true;
}

static void about_unconnected(struct why *w, size_t q)
{
	w->subject = w->m->qp[q].created;
	w->symptom = WHY_CONNECTION;
}

/* A queue pair was made and posted to, or given up, before it was connected. */
static bool find_unconnected(struct why *w)
{
	for (size_t q = 0; q < w->m->n_qps; q++)
		if (never_connected(w, q)) {
			about_unconnected(w, q);
			return true;
		}
	return false;
}

static bool find_slow(struct why *w)
{
	static const uint16_t signs[] = {VS_EV_RC_RETRY, VS_EV_RC_RNR_WAIT, VS_EV_RC_TIMEOUT,    VS_EV_RC_DUPLICATE,
					 VS_EV_CC_MARK,  VS_EV_RC_GAP,      VS_EV_LINK_ECN_MARK, VS_EV_FAULT_MARK};

	for (size_t n = 0; n < sizeof(signs) / sizeof(signs[0]); n++)
		for (size_t i = 0; i < w->m->n_events; i++)
			if (w->m->ev[i].type == signs[n]) {
				w->symptom = WHY_SLOW;
				w->subject = i;
				w->op = w->m->op_of[i];
				return true;
			}
	for (size_t i = 0; i < w->m->n_pkts; i++)
		if (w->m->pkt[i].frame != 0 && (w->m->pkt[i].mon.class_ == VS_MON_RETRANSMISSION ||
						w->m->pkt[i].mon.class_ == VS_MON_NETWORK_DUP ||
						w->m->pkt[i].mon.flags & (VS_MON_RNR | VS_MON_GAP))) {
			w->symptom = WHY_SLOW;
			w->subject = w->m->pkt[i].tx;
			w->op = w->m->pkt[i].op;
			return true;
		}
	return false;
}

/* A record that ended without order: of a process that has that node, or the nodes of a simulated wire. */
static bool ended_badly(const struct why *w, const struct vs_event *e, size_t *node)
{
	if (e->type != VS_EV_REC_END || strcmp(why_text_arg(w, (size_t)(e - w->m->ev), "how"), "in order") == 0)
		return false;
	*node = vt_find_node(w->m, e->node);
	for (size_t q = 0; *node != VT_NONE && q < w->m->n_qps; q++)
		if (w->m->qp[q].node == *node)
			return true;
	*node = VT_NONE;
	return true;
}

/* Did any message come to this queue pair? */
static bool took_any(const struct why *w, size_t qp)
{
	for (size_t n = 0; n < w->m->n_ops; n++)
		if (w->m->op[n].qp == qp && w->m->op[n].flags & VT_OP_RECV &&
		    (w->m->op[n].cqe != VT_NONE || w->m->op[n].poll != VT_NONE || w->m->op[n].by != VT_NONE))
			return true;
	return false;
}

/* A receive that waits, of a program that did not end by itself: it may have waited for that. */
static bool find_waiting(struct why *w)
{
	for (size_t i = 0; i < w->m->n_events; i++) {
		size_t node;

		if (!ended_badly(w, &w->m->ev[i], &node))
			continue;
		for (size_t n = 0; n < w->m->n_ops; n++) {
			const struct vt_op *o = &w->m->op[n];
			size_t peer = w->m->qp[o->qp].peer;

			if (!(o->flags & VT_OP_RECV) || o->cqe != VT_NONE || o->poll != VT_NONE)
				continue;
			/* Both ends in one process: one that nothing ever came to. */
			if (node == VT_NONE && took_any(w, o->qp))
				continue;
			/* Of two that ended like this, the one that lived longer waited for the other. */
			if (node != VT_NONE &&
			    (w->m->qp[o->qp].node != node ||
			     (peer != VT_NONE && why_last_event(w, w->m->qp[peer].node) > why_last_event(w, node))))
				continue;
			if (never_connected(w, o->qp))
				about_unconnected(w, o->qp);
			else
				why_about_op(w, n);
			return true;
		}
	}
	return false;
}

static size_t count_more(const struct why *w)
{
	size_t n = 0;

	for (size_t i = 0; i < w->m->n_events; i++)
		n += i != w->subject && (real_error(&w->m->ev[i]) || call_failed(&w->m->ev[i]));
	return n;
}

void why_find(struct why *w)
{
	static bool (*const order[])(const struct vs_event *) = {overflow, real_error, call_failed, bad_async};
	size_t at = VT_NONE;
	bool found = false;

	for (size_t n = 0; n < sizeof(order) / sizeof(order[0]) && at == VT_NONE; n++)
		at = first_event(w, order[n]);
	if (at == VT_NONE && (found = find_connection(w)))
		return;
	if (at == VT_NONE)
		at = first_event(w, flushed);
	if (at != VT_NONE) {
		why_about_event(w, at);
		w->more = count_more(w);
		return;
	}
	found = find_inferred(w) || find_datagram(w) || find_ud_drop(w) || find_open(w) || find_waiting(w) ||
		find_slow(w) || find_unconnected(w);
	if (!found)
		w->symptom = WHY_NOTHING;
}
