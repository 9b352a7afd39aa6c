/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * read.c - responses that carry something: which READ or atomic they answer, and are they in their place?
 *
 * A READ of N response packets takes N PSNs: packet i has the PSN of the request plus i. Asked for again from the
 * middle, the last one keeps its place.
 */
#include <stdlib.h>

#include "mon.h"

uint32_t mon_read_mtu(const struct mon_flow *req)
{
	const uint32_t a = req->mtu_mixed ? 0 : req->mtu;
	const uint32_t b = req->peer != NULL && !req->peer->mtu_mixed ? req->peer->mtu : 0;

	if (req->mtu_mixed || (req->peer != NULL && req->peer->mtu_mixed))
		return 0;
	if (a != 0 && b != 0 && a != b)
		return 0;
	return a != 0 ? a : b;
}

static bool is_read(uint8_t opcode)
{
	return vs_opcodes[opcode].response == VS_RESPONSE_READ;
}

uint32_t mon_read_count(const struct mon_flow *req, const struct mon_read *r)
{
	const uint32_t mtu = mon_read_mtu(req);

	if (!is_read(r->opcode) || r->dmalen <= 256)
		return 1;
	if (r->dmalen == MON_UNKNOWN)
		return 0;
	return mtu != 0 ? vs_psn_count(r->dmalen, mtu) : 0;
}

/* The most PSNs that it may take. */
static uint32_t most(const struct mon_flow *req, const struct mon_read *r)
{
	const uint32_t n = mon_read_count(req, r);

	uint32_t upper = r->dmalen == MON_UNKNOWN ? MON_EPOCH_JUMP : vs_psn_count(r->dmalen, 256);

	if (n != 0)
		return n;
	return upper < r->limit ? upper : r->limit;
}

void mon_read_bound(struct mon_flow *f, int64_t pos)
{
	if (!f->reads_vague)
		return;
	f->reads_vague = false;
	for (unsigned i = 0; f->reads != NULL && i < MON_READS; i++) {
		struct mon_read *r = &f->reads[i];

		if (r->used && pos > r->pos && pos - r->pos < r->limit)
			r->limit = (uint32_t)(pos - r->pos);
	}
}

void mon_read_add(struct mon_flow *f, const struct mon_seen *s, bool part)
{
	struct mon_read *r;

	if (f->reads == NULL)
		f->reads = calloc(MON_READS, sizeof(*f->reads));
	if (f->reads == NULL)
		return;
	r = &f->reads[f->read_next++ % MON_READS];
	*r = (struct mon_read){.pos = s->pos,
			       .time_ns = s->time_ns,
			       .va = s->va,
			       .frame = s->frame,
			       .first = s->first,
			       .dmalen = s->dmalen,
			       .rkey = s->rkey,
			       .epoch = f->epoch,
			       .limit = UINT32_MAX,
			       .opcode = s->opcode,
			       .sport = s->sport,
			       .used = true,
			       .part = part};
	f->reads_asked += is_read(s->opcode) && !part;
	if (r->pos + most(f, r) > f->reads_end)
		f->reads_end = r->pos + most(f, r);
	f->reads_open = true;
	f->reads_vague |= mon_read_count(f, r) == 0;
}

/* The newest request whose responses have a place at `pos`. */
struct mon_read *mon_read_covering(struct mon_flow *req, int64_t pos)
{
	if (req->reads == NULL || pos >= req->reads_end)
		return NULL;
	for (uint32_t i = 1; i <= MON_READS; i++) {
		struct mon_read *r = &req->reads[(req->read_next - i) % MON_READS];

		if (r->used && pos >= r->pos && pos < r->pos + most(req, r))
			return r;
	}
	return NULL;
}

/* The oldest that is not answered and stands before `before`. */
struct mon_read *mon_read_open(struct mon_flow *req, int64_t before)
{
	struct mon_read *best = NULL;
	bool open = false;

	if (!req->reads_open)
		return NULL;
	for (unsigned i = 0; req->reads != NULL && i < MON_READS; i++) {
		struct mon_read *r = &req->reads[i];

		open |= r->used && !r->answered;
		if (r->used && !r->answered && r->pos < before && (best == NULL || r->pos < best->pos))
			best = r;
	}
	req->reads_open = open;
	return best;
}

/* Everybody whose last response this is has its answer. */
static void answered(struct mon_flow *req, int64_t pos)
{
	for (unsigned i = 0; req->reads != NULL && i < MON_READS; i++) {
		struct mon_read *r = &req->reads[i];

		if (r->used && pos >= r->pos && pos < r->pos + most(req, r)) {
			r->answered = true;
			req->reads_answered += is_read(r->opcode) && !r->part && !r->counted;
			r->counted = true;
		}
		if (r->used && r->answered && req->cause == VS_MON_CAUSE_IMPLIED && req->cause_pos == r->pos)
			req->cause = VS_MON_CAUSE_NONE;
	}
}

/* ---- is this packet in its place? ---- */

/* Responses of several requests for the same PSNs may be under way: is it in its place in one of them? */
static bool begins_somewhere(struct mon_flow *req, int64_t pos, bool begins)
{
	for (unsigned i = 0; req->reads != NULL && i < MON_READS; i++) {
		const struct mon_read *r = &req->reads[i];

		if (r->used && !r->answered && pos >= r->pos && pos < r->pos + most(req, r) &&
		    begins == (pos == r->pos))
			return true;
	}
	return false;
}

static void place(struct mon_now *n, struct mon_flow *req, const struct mon_read *r, uint32_t at)
{
	const uint32_t count = mon_read_count(req, r), mtu = mon_read_mtu(req);
	const bool ends = n->op->flags & VS_OPF_E, begins = n->op->flags & VS_OPF_B;
	const uint32_t asked = is_read(r->opcode) ? r->dmalen : 0;
	uint64_t rest;

	if (begins != (at == 0) && (at == 0 || count != 0) && !begins_somewhere(req, r->pos + at, begins))
		mon_find(n, VS_RULE_READ_RESPONSE_START, r->frame, "%s at PSN +%u of the request in frame %u",
			 n->op->name, at, r->frame);
	if (count == 0)
		return;
	if (ends != (at + 1 == count)) {
		if (mon_flow_trusted(req))
			mon_find(n, VS_RULE_READ_RESPONSE_ORDER, r->frame,
				 "%s is packet %u of %u of the READ in frame %u", n->op->name, at + 1, count, r->frame);
		return;
	}
	rest = asked - (uint64_t)at * mtu;
	if (ends && n->len_known && n->len != rest && mon_flow_trusted(req))
		mon_find(n, VS_RULE_READ_RESPONSE_LENGTH, r->frame, "%u bytes of payload instead of %llu for frame %u",
			 n->len, (unsigned long long)rest, r->frame);
}

static void other_kind(struct mon_now *n, struct mon_flow *req, int64_t pos)
{
	const struct mon_seen *e = mon_seen_request(req, n->p->bth.psn, pos);

	if (e == NULL || !mon_flow_trusted(req))
		return;
	n->out->request = e->frame;
	mon_find(n, VS_RULE_ANSWER_KIND, e->frame, "%s for the %s in frame %u", n->op->name, vs_opcodes[e->opcode].name,
		 e->frame);
}

static void take(struct mon_now *n, struct mon_flow *req, struct mon_read *r, int64_t pos, bool repeat)
{
	n->out->request = r->frame;
	n->out->message = r->first;
	n->out->offset = (uint32_t)(pos - r->pos) * mon_read_mtu(req);
	mon_link(n, r->frame, VS_MON_LINK_ANSWERED);
	if (req->fatal_any && pos >= req->fatal_pos && mon_flow_trusted(req))
		mon_find(n, VS_RULE_ANSWER_AFTER_FATAL, req->fatal_frame, "refused in frame %u", req->fatal_frame);
	if (req->una_any && pos < req->una && !repeat && !r->again && !r->part && !r->answered && r->implied)
		mon_find(n, VS_RULE_ANSWER_ORDER, req->una_frame, "a later request was answered in frame %u",
			 req->una_frame);
	if (!r->started && !r->again)
		mon_rtt(n, req, r->time_ns);
	r->started = true;
	r->unanswered = 0;
	mon_broken_accepted(n, req, pos);
	if (n->op->flags & VS_OPF_E)
		answered(req, pos);
	if (req->confirmed < UINT32_MAX)
		n->f->confirmed = ++req->confirmed;
	if (!repeat)
		mon_progress(n, req, pos + 1);
}

void mon_read_response(struct mon_now *n, struct mon_flow *req, int64_t pos, bool repeat)
{
	struct mon_read *r = mon_read_covering(req, pos);

	if (r == NULL) {
		other_kind(n, req, pos);
		return;
	}
	if (vs_opcodes[r->opcode].flags & VS_OPF_A) {
		other_kind(n, req, pos);
		return;
	}
	place(n, req, r, (uint32_t)(pos - r->pos));
	take(n, req, r, pos, repeat);
}

void mon_atomic_response(struct mon_now *n, struct mon_flow *req, int64_t pos, const struct mon_seen *before)
{
	struct mon_read *r = mon_read_covering(req, pos);

	if (before != NULL && before->va != n->p->ext.atomicack_origdata && before->epoch == n->f->epoch &&
	    mon_same_sender(n, before->sport) && mon_flow_trusted(req))
		mon_find(n, VS_RULE_ATOMIC_REPLAY, before->frame, "0x%llx; frame %u said 0x%llx",
			 (unsigned long long)n->p->ext.atomicack_origdata, before->frame,
			 (unsigned long long)before->va);
	if (r == NULL || !(vs_opcodes[r->opcode].flags & VS_OPF_A)) {
		other_kind(n, req, pos);
		return;
	}
	if (vs_aeth_type(n->p->ext.aeth.syndrome) != VS_AETH_ACK)
		return;
	take(n, req, r, pos, before != NULL);
}
