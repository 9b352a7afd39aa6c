/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * response.c - acknowledgements: what they cover, what they refuse, what they count.
 *
 * An ACK covers its PSN and all before it, except READs and atomics, which only their own responses complete: an
 * answer to a later request implies that they were not answered. A NAK or RNR NAK covers all before its PSN.
 */
#include "mon.h"

void mon_rtt(struct mon_now *n, struct mon_flow *req, int64_t then)
{
	struct vs_mon_flow_info *i = &req->info;
	uint64_t ns;

	if (!mon_elapsed(then, n->in->time_ns, &ns))
		return;
	n->out->rtt_ns = ns;
	n->out->flags |= VS_MON_RTT;
	if (i->rtts == 0 || ns < i->rtt_min_ns)
		i->rtt_min_ns = ns;
	if (ns > i->rtt_max_ns)
		i->rtt_max_ns = ns;
	i->rtt_sum_ns += ns;
	i->rtts++;
}

static struct mon_seen *request_at(struct mon_flow *req, int64_t pos)
{
	return mon_seen_request(req, vs_psn_add(req->req.psn, (int32_t)(pos - req->req.pos)), pos);
}

/*
 * Links for all requests before `pos` that this acknowledges, but for those that an answer of their own completes. From
 * `una` on; when that is not known, as far back as they stand in a row.
 */
static void covered(struct mon_now *n, struct mon_flow *req, int64_t pos)
{
	int64_t from = pos;

	if (n->m->attr.link == NULL)
		return;
	while (from > pos - MON_COVERED && (req->una_any ? from > req->una : request_at(req, from - 1) != NULL))
		from--;
	for (; from < pos; from++) {
		const struct mon_seen *s = request_at(req, from);

		if (s != NULL && !mon_waits_for_data(s->opcode))
			mon_link(n, s->frame, VS_MON_LINK_ANSWERED);
	}
}

void mon_progress(struct mon_now *n, struct mon_flow *req, int64_t pos)
{
	if (req->una_any && pos <= req->una)
		return;
	covered(n, req, pos);
	if (req->una_any && pos > req->una + 1)
		n->out->flags |= VS_MON_COALESCED;
	req->una = pos;
	req->una_any = true;
	req->una_frame = n->in->frame;
	req->una_time_ns = n->in->time_ns;
	req->retry_count = 0;
	/* what it was to go back for is there */
	if (req->cause != VS_MON_CAUSE_IMPLIED && pos > req->cause_pos)
		req->cause = VS_MON_CAUSE_NONE;
}

/* Waits for the answer: the requester goes back to `pos`. */
static void sends_back(struct mon_now *n, struct mon_flow *req, uint8_t cause, int64_t pos)
{
	req->cause = cause;
	req->cause_pos = pos;
	req->cause_frame = n->in->frame;
	req->cause_time_ns = n->in->time_ns;
}

/* ---- MSN ---- */

/*
 * In a row of SENDs and WRITEs, MSN less the messages that end up to the acknowledged PSN is a constant. It is known
 * when two acknowledgements agree, or one came when nothing else was outstanding; one for a duplicate may be ahead of
 * that, so they don't count.
 */
static void msn(struct mon_now *n, struct mon_flow *req, const struct mon_seen *e, int64_t pos)
{
	const uint32_t msn_now = n->p->ext.aeth.msn;
	const bool newest = pos + 1 == req->next_lo;
	int32_t got, want, most;

	if (!req->msn_any || req->msn_chain != e->chain || e->chain == 0) {
		if (req->msn_any && pos > req->counted_pos && vs_psn_lt(msn_now, req->msn) && e->chain == 0)
			mon_find(n, VS_RULE_MSN_BACKWARD, req->msn_frame, "MSN %u after %u in frame %u", msn_now,
				 req->msn, req->msn_frame);
		req->msn_sure = newest;
	} else {
		got = vs_psn_diff(msn_now, req->msn);
		want = (int32_t)(e->ends - req->counted_ends);
		most = (int32_t)(req->last_chain == e->chain ? req->last_ends - req->counted_ends : (uint32_t)want);
		if (req->msn_sure && got < want && mon_flow_trusted(req))
			mon_find(n, VS_RULE_MSN_STEP_UNDER, req->msn_frame,
				 "MSN %u, %d more than in frame %u, where %d messages ended since", msn_now, got,
				 req->msn_frame, want);
		else if (req->msn_sure && got > most && req->last_chain == e->chain && mon_flow_trusted(req))
			mon_find(n, VS_RULE_MSN_STEP_OVER, req->msn_frame,
				 "MSN %u, %d more than in frame %u, where %d messages were sent since", msn_now, got,
				 req->msn_frame, most);
		req->msn_sure = newest || got == want;
	}
	req->msn_any = true;
	req->msn = msn_now;
	req->msn_chain = e->chain;
	req->counted_ends = e->ends;
	req->counted_pos = pos;
	req->msn_frame = n->in->frame;
}

/* ---- kinds of acknowledgement ---- */

/* READs and atomics before `pos` that were not answered: implied NAK. */
static void implied(struct mon_now *n, struct mon_flow *req, int64_t pos)
{
	struct mon_read *r = mon_read_open(req, pos);

	if (r == NULL || r->implied)
		return;
	r->implied = true;
	n->out->flags |= VS_MON_IMPLIED_NAK;
	n->m->total.implied_naks++;
	sends_back(n, req, VS_MON_CAUSE_IMPLIED, r->pos);
}

static void fits(struct mon_now *n, struct mon_flow *req)
{
	if (req->confirmed < UINT32_MAX) {
		req->confirmed++;
		n->f->confirmed = req->confirmed;
	}
}

static void refers(struct mon_now *n, struct mon_flow *req, const struct mon_seen *e)
{
	if (e == NULL)
		return;
	fits(n, req);
	n->out->request = e->frame;
	n->out->message = e->first;
}

void mon_broken_accepted(struct mon_now *n, struct mon_flow *req, int64_t pos)
{
	if (!req->broken_any || pos < req->broken_pos)
		return;
	req->broken_any = false;
	mon_find(n, VS_RULE_BROKEN_ACCEPTED, req->broken_frame, "the request in frame %u", req->broken_frame);
}

static void ack(struct mon_now *n, struct mon_flow *req, int64_t pos)
{
	const struct mon_seen *e = mon_seen_request(req, n->p->bth.psn, pos);
	const struct mon_read *r = mon_read_covering(req, pos);
	const uint8_t code = n->p->ext.aeth.syndrome & 0x1f;

	refers(n, req, e);
	if (code != 0x1f) {
		n->out->credits = vs_aeth_credits(code);
		n->out->flags |= VS_MON_CREDITS;
	}
	if (req->fatal_any && pos >= req->fatal_pos && mon_flow_trusted(req))
		mon_find(n, VS_RULE_ANSWER_AFTER_FATAL, req->fatal_frame, "frame %u refused PSN 0x%06x",
			 req->fatal_frame, vs_psn_add(n->p->bth.psn, (int32_t)(req->fatal_pos - pos)));
	/* a READ that was cut before its length may end before this */
	if (r != NULL && !r->answered && (r->pos == pos || r->dmalen != MON_UNKNOWN))
		mon_find(n, VS_RULE_ACK_FOR_READ, r->frame, "%s in frame %u", vs_opcodes[r->opcode].name, r->frame);
	mon_broken_accepted(n, req, pos);
	implied(n, req, r != NULL ? r->pos : pos);
	if (req->una_any && pos + 1 <= req->una) {
		n->out->class_ = pos + 1 == req->una ? VS_MON_DUP_ACK : VS_MON_GHOST_ACK;
		n->m->total.ghost_acks += pos + 1 < req->una;
		return;
	}
	mon_progress(n, req, pos + 1);
	req->rnr_count = 0;
	req->credits_any = code != 0x1f;
	req->credits = n->out->credits;
	if (e == NULL)
		return;
	if (e->iter > 1)
		return;
	mon_rtt(n, req, e->time_ns);
	msn(n, req, e, pos);
}

static void rnr(struct mon_now *n, struct mon_flow *req, int64_t pos)
{
	const struct mon_seen *e = mon_seen_request(req, n->p->bth.psn, pos);

	refers(n, req, e);
	if (e != NULL && vs_opcodes[e->opcode].flags & VS_OPF_W && !(vs_opcodes[e->opcode].flags & VS_OPF_I))
		mon_find(n, VS_RULE_RNR_NOT_RECEIVE, e->frame, "%s in frame %u", vs_opcodes[e->opcode].name, e->frame);
	mon_progress(n, req, pos);
	implied(n, req, pos);
	sends_back(n, req, VS_MON_CAUSE_RNR, pos);
	req->rnr_ns = vs_rnr_timer_ns(n->p->ext.aeth.syndrome & 0x1f);
	req->rnr_any = true;
	req->rnr_pos = pos;
	req->rnr_frame = n->in->frame;
}

static void nak_sequence(struct mon_now *n, struct mon_flow *req, int64_t pos)
{
	const uint16_t id = n->p->encap == VS_ENCAP_ROCEV2_IPV4 ? n->p->ipv4.id : 0;
	const bool copy = n->f->ids_vary && req->nak_any && id == req->nak_ip_id;

	if (req->una_any && pos < req->una)
		mon_find(n, VS_RULE_NAK_ACKNOWLEDGED, req->una_frame, "frame %u acknowledged it", req->una_frame);
	else if (req->rnr_any && req->rnr_pos == pos)
		mon_find(n, VS_RULE_NAK_AFTER_RNR, req->rnr_frame, "the RNR NAK is in frame %u", req->rnr_frame);
	else if (req->nak_any && req->nak_pos == pos && !copy)
		mon_find(n, VS_RULE_NAK_REPEATED, req->nak_frame, "the first one is in frame %u", req->nak_frame);
	mon_progress(n, req, pos);
	implied(n, req, pos);
	/* after an RNR NAK the timer counts, whatever comes later */
	if (!req->rnr_any || req->rnr_pos != pos)
		sends_back(n, req, VS_MON_CAUSE_NAK, pos);
	req->nak_any = true;
	req->nak_pos = pos;
	req->nak_frame = n->in->frame;
	req->nak_ip_id = id;
}

/* FLUSH looks at its key whatever its length. */
static void zero_length(struct mon_now *n, struct mon_flow *req, int64_t pos)
{
	const struct mon_seen *e = mon_seen_request(req, n->p->bth.psn, pos);

	if (e != NULL && e->dmalen == 0 && vs_opcodes[e->opcode].flags & (VS_OPF_W | VS_OPF_D) && mon_flow_trusted(req))
		mon_find(n, VS_RULE_ZERO_LENGTH_REFUSED, e->frame, "%s in frame %u", vs_opcodes[e->opcode].name,
			 e->frame);
}

static void nak(struct mon_now *n, struct mon_flow *req, int64_t pos)
{
	const uint8_t code = n->p->ext.aeth.syndrome & 0x1f;

	refers(n, req, mon_seen_request(req, n->p->bth.psn, pos));
	if (n->f->last_cnp != 0 && n->f->last_cnp == n->f->last_frame)
		mon_find(n, VS_RULE_CNP_ON_NAK, n->f->last_cnp, "a CNP goes before the NAK, in frame %u",
			 n->f->last_cnp);
	if (code == VS_NAK_PSN_SEQ) {
		nak_sequence(n, req, pos);
		return;
	}
	mon_progress(n, req, pos);
	if (code > VS_NAK_REM_OP)
		return;
	req->broken_any = false;
	if (code == VS_NAK_REM_ACCESS)
		zero_length(n, req, pos);
	if ((!req->fatal_ever || req->fatal_pos != pos || req->fatal_code != code) && req->fatal_count < UINT8_MAX)
		req->fatal_count++;
	req->fatal_ever = true;
	req->fatal_code = code;
	req->fatal_any = true;
	req->fatal_pos = pos;
	req->fatal_frame = n->in->frame;
	req->fatal_time_ns = n->in->time_ns;
}

static bool is_acknowledge(uint8_t opcode)
{
	return opcode == VS_OP_RC_ACKNOWLEDGE || opcode == VS_OP_XRC_ACKNOWLEDGE;
}

/* Beyond all that was sent: frames are missing, or it answers what nobody asked. */
static bool unasked(struct mon_now *n, const struct mon_flow *req, int64_t pos)
{
	const long long beyond = pos - req->next_hi;

	if (beyond < 0)
		return false;
	n->out->flags |= VS_MON_UNASKED;
	n->m->total.unasked++;
	if (mon_flow_trusted(req))
		mon_find(n, VS_RULE_ANSWER_UNSENT, req->last_req_frame,
			 "%lld PSNs beyond what was sent, the newest in frame %u", beyond, req->last_req_frame);
	return true;
}

void mon_response(struct mon_now *n, const struct mon_seen *before)
{
	struct mon_flow *req = n->f->peer;
	int64_t pos;

	n->out->flags |= VS_MON_ANSWER;
	if (!(n->out->flags & VS_MON_REPEAT))
		n->out->class_ = VS_MON_RESPONSE;
	if (n->op->payload == VS_PAYLOAD_FULL || n->op->payload == VS_PAYLOAD_LAST || n->op->payload == VS_PAYLOAD_ONLY)
		mon_learn_mtu(n);
	if (req == NULL || !req->req.any || n->net_dup || n->p->flags & VS_PKT_HDR_MISSING)
		return;
	pos = mon_pos(&req->req, n->p->bth.psn);
	/* of a connection that is over, or not begun in this capture */
	if (pos > req->next_hi + MON_EPOCH_JUMP || pos < req->next_lo - MON_EPOCH_JUMP || unasked(n, req, pos))
		return;
	req->answer_any = true;
	req->answer_ns = n->in->time_ns;
	if (!is_acknowledge(n->p->bth.opcode)) {
		if (n->op->flags & VS_OPF_A)
			mon_atomic_response(n, req, pos, before);
		else
			mon_read_response(n, req, pos, n->out->flags & VS_MON_REPEAT);
		return;
	}
	switch (vs_aeth_type(n->p->ext.aeth.syndrome)) {
	case VS_AETH_ACK:
		ack(n, req, pos);
		break;
	case VS_AETH_RNR:
		rnr(n, req, pos);
		break;
	case VS_AETH_NAK:
		nak(n, req, pos);
		break;
	case VS_AETH_RESERVED:
		break;
	}
}
