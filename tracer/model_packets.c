/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * model_packets.c - the packets of a capture told as events, all inferred: who sent them, whether they arrived, what
 * they answer, why they were sent again. Times are those of the frames, at both ends.
 */
#include <string.h>

#include "capture.h"
#include "vs/opcode.h"
#include "vs/psn.h"

struct teller {
	struct vt_capture *c;
	uint64_t seq, pkt;
	size_t said; /* findings before it are told */
	bool failed;
};

/* Begins an event about packet `s` at node `node`. */
static struct vs_event event(const struct vt_seen *s, enum vs_event_type type, const char *node, uint64_t cause)
{
	struct vs_event e = {.t_ns = s->t_ns, .type = (uint16_t)type, .cause = cause, .inferred = true};

	memcpy(e.node, node, strlen(node) + 1);
	return e;
}

static uint64_t tell(struct teller *t, struct vs_event e)
{
	e.seq = ++t->seq;
	t->failed |= !vt_model_add(t->c->m, &e);
	return e.seq;
}

static const char *source_of(const struct teller *t, const struct vt_seen *s)
{
	return t->c->addr[s->src].name;
}

static uint32_t sender_qpn(const struct teller *t, const struct vt_seen *s)
{
	return s->sqpn != 0 ? s->sqpn : t->c->flow[s->flow].sqpn;
}

/* ---- why a request was sent again ---- */

static bool new_retry(struct vt_flow *f, const struct vt_seen *s)
{
	const struct vs_mon_result *r = &s->is.mon;
	bool again = f->retrying && f->retry_cause == r->cause && f->retry_frame == r->cause_frame &&
		     vs_psn_gt(s->psn, f->retry_psn);

	f->retrying = true;
	f->retry_cause = r->cause;
	f->retry_frame = r->cause_frame;
	f->retry_psn = s->psn;
	return !again;
}

static uint64_t tell_timeout(struct teller *t, const struct vt_seen *s, uint64_t cause)
{
	struct vs_event e = event(s, VS_EV_RC_TIMEOUT, source_of(t, s), cause);

	e.qpn = sender_qpn(t, s);
	e.a[0] = s->psn;
	return tell(t, e);
}

/* The event that a retransmission follows from; 0: the frames do not tell. */
static uint64_t tell_retry(struct teller *t, const struct vt_seen *s)
{
	static const char *const trigger[] = {[VS_MON_CAUSE_NONE] = "unknown",
					      [VS_MON_CAUSE_NAK] = "nak_sequence",
					      [VS_MON_CAUSE_RNR] = "rnr_nak",
					      [VS_MON_CAUSE_IMPLIED] = "implied_nak",
					      [VS_MON_CAUSE_TIMEOUT] = "ack_timeout"};
	const struct vs_mon_result *r = &s->is.mon;
	size_t asked = vt_seen_at(t->c, r->cause_frame, 0), before = vt_seen_at(t->c, r->original, s->psn);
	struct vs_event e = event(s, VS_EV_RC_RETRY, source_of(t, s), 0);

	if (!new_retry(&t->c->flow[s->flow], s))
		return t->c->flow[s->flow].retry_seq;
	e.cause = asked != VT_NONE ? t->c->seen[asked].rx_seq : before != VT_NONE ? t->c->seen[before].tx_seq : 0;
	if (r->cause == VS_MON_CAUSE_TIMEOUT)
		e.cause = tell_timeout(t, s, e.cause);
	e.qpn = sender_qpn(t, s);
	e.a[0] = s->psn;
	e.a[1] = (uintptr_t)trigger[r->cause <= VS_MON_CAUSE_TIMEOUT ? r->cause : 0];
	t->c->flow[s->flow].retry_seq = tell(t, e);
	return t->c->flow[s->flow].retry_seq;
}

static uint64_t cause_of(struct teller *t, const struct vt_seen *s)
{
	const struct vs_mon_result *r = &s->is.mon;
	size_t asked;

	if (r->class_ == VS_MON_RETRANSMISSION && r->flags & VS_MON_REQUEST)
		return tell_retry(t, s);
	t->c->flow[s->flow].retrying &= !(r->flags & VS_MON_REQUEST);
	if (r->flags & VS_MON_ANSWER) {
		asked = vt_seen_at(t->c, r->request, s->psn);
		return asked != VT_NONE ? t->c->seen[asked].rx_seq : 0;
	}
	return 0;
}

/* ---- the packet itself ---- */

static void fill(struct vs_event *e, const struct vt_seen *s, uint64_t pkt)
{
	e->pkt_id = pkt;
	e->a[0] = s->opcode;
	e->a[1] = s->psn;
	e->a[2] = s->dqpn;
	e->a[3] = s->len;
	e->a[4] = s->syn;
	e->a[5] = s->msn;
	e->a[6] = s->ackreq;
}

static void tell_cm(struct teller *t, const struct vt_seen *s, enum vs_event_type type, const char *node,
		    uint64_t *cause)
{
	struct vs_event e = event(s, type, node, *cause);

	if (s->cm == 0)
		return;
	e.a[0] = s->cm;
	e.a[1] = type == VS_EV_CM_TX ? s->cm_local : s->cm_remote;
	e.a[2] = type == VS_EV_CM_TX ? s->cm_remote : s->cm_local;
	e.a[3] = s->is.mon.class_ == VS_MON_RETRANSMISSION;
	*cause = tell(t, e);
}

static void tell_tx(struct teller *t, struct vt_seen *s)
{
	uint64_t cause = cause_of(t, s);
	struct vs_event e;

	tell_cm(t, s, VS_EV_CM_TX, source_of(t, s), &cause);
	e = event(s, VS_EV_PKT_TX, source_of(t, s), cause);
	fill(&e, s, ++t->pkt);
	e.qpn = sender_qpn(t, s);
	e.a[7] = s->is.mon.iter > 1 ? s->is.mon.iter - 1u : 0;
	s->tx_seq = tell(t, e);
}

static void tell_findings(struct teller *t, size_t upto)
{
	const struct vt_capture *c = t->c;

	for (; t->said < c->n_said && c->said[t->said].seen <= upto; t->said++) {
		const struct vt_said *f = &c->said[t->said];
		size_t about = f->seen < c->n ? f->seen : c->n - 1;
		struct vs_event e = event(&c->seen[about], VS_EV_MON_RULE, "wire", c->seen[about].tx_seq);

		e.pkt_id = f->seen < c->n ? t->pkt : 0;
		e.a[0] = (uintptr_t)vs_rule_info(f->rule)->id;
		e.a[1] = (uintptr_t)f->text;
		(void)tell(t, e);
	}
}

static void tell_fate(struct teller *t, struct vt_seen *s)
{
	static const char asked_for[] = "a NAK asks for it";
	const char *there = t->c->addr[s->dst].name;
	struct vs_event e;
	uint64_t cause;

	switch ((enum vt_fate)s->fate) {
	case VT_FATE_ARRIVED:
		e = event(s, VS_EV_PKT_RX, there, s->tx_seq);
		fill(&e, s, t->pkt);
		e.qpn = s->dqpn;
		cause = s->rx_seq = tell(t, e);
		tell_cm(t, s, VS_EV_CM_RX, there, &cause);
		return;
	case VT_FATE_LOST:
		e = event(s, VS_EV_FAULT_DROP, "wire", s->tx_seq);
		e.pkt_id = t->pkt;
		e.a[0] = (uintptr_t)asked_for;
		(void)tell(t, e);
		return;
	case VT_FATE_DROPPED:
		e = event(s, VS_EV_PKT_DROP, there, s->tx_seq);
		fill(&e, s, t->pkt);
		e.qpn = s->dqpn;
		memset(e.a, 0, sizeof(e.a));
		e.a[0] = VS_REASON_ICRC_BAD;
		e.a[1] = s->opcode;
		e.a[2] = s->psn;
		e.a[3] = s->dqpn;
		(void)tell(t, e);
		return;
	case VT_FATE_UNKNOWN:
	case VT_FATE_SILENCE:
		return;
	}
}

static void tell_wait(struct teller *t, const struct vt_seen *s)
{
	struct vs_event e = event(s, VS_EV_RC_RNR_WAIT, t->c->addr[s->dst].name, s->rx_seq);

	if (s->syn == VS_SYN_NONE || vs_aeth_type((uint8_t)s->syn) != VS_AETH_RNR || s->rx_seq == 0)
		return;
	e.qpn = s->dqpn;
	e.a[0] = s->psn;
	e.a[1] = vs_rnr_timer_ns(s->syn & 0x1f);
	(void)tell(t, e);
}

static void tell_copy(struct teller *t, const struct vt_seen *s)
{
	static const char rule[] = "copied on the way";
	struct vs_event e = event(s, VS_EV_FAULT_DUP, "wire", s->tx_seq);

	e.pkt_id = t->pkt;
	e.a[0] = (uintptr_t)rule;
	if (s->is.mon.class_ == VS_MON_NETWORK_DUP)
		(void)tell(t, e);
}

static bool keep_mark(struct teller *t, const struct vt_seen *s)
{
	struct vt_build *b = t->c->m->build;
	void *array = b->mark;

	if (!vt_room(&array, &b->cap_marks, b->n_marks, sizeof(*b->mark)))
		return false;
	b->mark = array;
	b->mark[b->n_marks++] =
		(struct vt_mark){.source = (uint16_t)(t->c->m->n_sources - 1), .pkt_id = t->pkt, .is = s->is};
	return true;
}

bool vt_tell_packets(struct vt_capture *c, const char *name, char *err, size_t cap)
{
	struct teller t = {.c = c};

	for (size_t i = 0; !t.failed && i < c->n; i++) {
		struct vt_seen *s = &c->seen[i];

		tell_tx(&t, s);
		tell_findings(&t, i);
		tell_copy(&t, s);
		tell_fate(&t, s);
		tell_wait(&t, s);
		t.failed |= !keep_mark(&t, s);
	}
	if (!t.failed && c->n > 0)
		tell_findings(&t, SIZE_MAX);
	return !t.failed || vt_cant_add(c->m, name, err, cap);
}
