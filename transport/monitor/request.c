/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * request.c - requests of a connection: does this one follow the one before, which message is it of, how long is it.
 *
 * PSNs go up by one for each packet; a READ takes as many as it has response packets, which depends on the path MTU.
 * As long as that is not known, the next request may stand anywhere between next_lo and next_hi.
 */
#include "mon.h"

#define FATAL_QUIET_NS UINT64_C(10000000) /* what was under way when a fatal NAK came is over by then */

bool mon_connected(uint8_t opcode)
{
	const enum vs_transport t = vs_opcode_transport(opcode);

	return vs_opcodes[opcode].name != NULL &&
	       (t == VS_TRANSPORT_RC || t == VS_TRANSPORT_UC || t == VS_TRANSPORT_XRC);
}

static bool is_read(uint8_t opcode)
{
	return vs_opcodes[opcode].response == VS_RESPONSE_READ;
}

bool mon_waits_for_data(uint8_t opcode)
{
	const uint8_t r = vs_opcodes[opcode].response;

	return r == VS_RESPONSE_READ || r == VS_RESPONSE_ATOMIC || r == VS_RESPONSE_READ_ONLY;
}

void mon_learn_mtu(struct mon_now *n)
{
	struct mon_flow *f = n->f;
	const bool full = n->op->payload == VS_PAYLOAD_FULL;
	const bool legal = n->len >= 256 && n->len <= VS_MTU_MAX && (n->len & (n->len - 1)) == 0;

	if (!n->len_known)
		return;
	if (f->stepped) {
		if (full && legal)
			f->mtu = n->len;
		return;
	}
	if (f->cm_mtu != 0 && n->len > f->cm_mtu && n->len <= VS_MTU_MAX)
		mon_find(n, VS_RULE_CM_MTU_EXCEEDED, 0, "%u bytes of payload; the path MTU of the connection is %u",
			 n->len, f->cm_mtu);
	if (full && legal && f->mtu == 0) {
		f->mtu = n->len;
	} else if (f->mtu != 0 && !f->mtu_mixed && full && legal && n->len != f->mtu) {
		mon_find(n, VS_RULE_MTU_CHANGED, 0, "%u bytes of payload; those before had %u", n->len, f->mtu);
		f->mtu_mixed = true;
	} else if (f->mtu != 0 && !f->mtu_mixed && !full && n->len > f->mtu && n->len <= VS_MTU_MAX) {
		mon_find(n, VS_RULE_PAYLOAD_OVER_PATH_MTU, 0, "%u bytes of payload; the path MTU is %u", n->len,
			 f->mtu);
	}
}

/* ---- order ---- */

static bool may_follow(uint8_t before, uint8_t opcode)
{
	const struct vs_opcode_info *a = &vs_opcodes[before], *b = &vs_opcodes[opcode];

	if (a->flags & VS_OPF_E)
		return b->flags & VS_OPF_B;
	return !(b->flags & VS_OPF_B) && ((a->flags ^ b->flags) & (VS_OPF_S | VS_OPF_W)) == 0;
}

static void check_order(struct mon_now *n, uint8_t before, uint8_t opcode, uint32_t other, uint16_t sport)
{
	/* a queue pair has one transport: with another one it is another connection */
	if (vs_opcode_transport(before) != vs_opcode_transport(opcode) || may_follow(before, opcode) ||
	    !mon_same_sender(n, sport))
		return;
	mon_find(n, VS_RULE_OPCODE_SEQUENCE, other, "%s after %s (frame %u)", vs_opcodes[opcode].name,
		 vs_opcodes[before].name, other);
}

/* The packet with the PSN before, when it takes one PSN. */
static struct mon_seen *one_before(struct mon_flow *f, uint32_t psn, int64_t pos)
{
	struct mon_seen *s = mon_seen_request(f, vs_psn_add(psn, -1), pos - 1);

	return s != NULL && !is_read(s->opcode) ? s : NULL;
}

static void neighbours(struct mon_now *n, struct mon_seen *s)
{
	struct mon_flow *f = n->f;
	const struct mon_seen *before = one_before(f, s->psn, s->pos), *after;

	if (before != NULL)
		check_order(n, before->opcode, s->opcode, before->frame, before->sport);
	else if (f->last_known && s->pos == f->next_lo && is_read(f->last_opcode))
		check_order(n, f->last_opcode, s->opcode, f->last_req_frame, f->last_sport);
	if (is_read(s->opcode))
		return;
	after = mon_seen_request(f, vs_psn_add(s->psn, 1), s->pos + 1);
	if (after != NULL && before == NULL)
		check_order(n, s->opcode, after->opcode, after->frame, after->sport);
}

/* The same PSN under another opcode, not acknowledged yet. */
static void other_opcode(struct mon_now *n, const struct mon_seen *s)
{
	struct mon_flow *f = n->f;

	for (unsigned op = 0; op < 0x20; op++) {
		const uint8_t opcode = (uint8_t)(op | (s->opcode & 0xe0));
		const struct mon_seen *o;

		if (opcode == s->opcode || !(vs_opcodes[opcode].flags & VS_OPF_Q))
			continue;
		o = mon_seen_find(f, s->psn, opcode, s->turn);
		if (o == NULL || o->epoch != f->epoch || !f->una_any || s->pos < f->una ||
		    !mon_same_sender(n, o->sport))
			continue;
		mon_find(n, VS_RULE_REPEAT_OPCODE, o->frame, "PSN 0x%06x was %s in frame %u and is %s now", s->psn,
			 vs_opcodes[opcode].name, o->frame, vs_opcodes[s->opcode].name);
	}
}

/* ---- the message ---- */

static void message(struct mon_now *n, struct mon_seen *s)
{
	const struct mon_seen *before;

	if (n->op->flags & VS_OPF_B) {
		s->first = s->frame;
		s->sum = n->len;
		s->whole = n->len_known;
	} else {
		before = one_before(n->f, s->psn, s->pos);
		if (before == NULL || vs_opcodes[before->opcode].flags & VS_OPF_E || !before->whole ||
		    !mon_same_sender(n, before->sport))
			return;
		s->first = before->first;
		s->sum = before->sum < MON_SUM_MAX - n->len ? before->sum + n->len : MON_SUM_MAX;
		s->whole = n->len_known;
		s->dmalen = before->dmalen;
		s->va = before->va;
	}
	if (!s->whole || n->op->flags & VS_OPF_B)
		return;
	if (s->sum > VS_DMALEN_MAX)
		mon_find(n, VS_RULE_MESSAGE_LENGTH, s->first, "%u bytes", s->sum);
	if (!(n->op->flags & VS_OPF_W))
		return;
	if (s->sum > s->dmalen)
		mon_find(n, VS_RULE_WRITE_LENGTH_OVER, s->first, "%u bytes up to here; DMALen in frame %u is %u",
			 s->sum, s->first, s->dmalen);
	else if (n->op->flags & VS_OPF_E && s->sum != s->dmalen)
		mon_find(n, VS_RULE_WRITE_LENGTH_UNDER, s->first, "%u bytes; DMALen in frame %u is %u", s->sum,
			 s->first, s->dmalen);
}

/* ---- a request that goes on ---- */

/* PSNs that it takes, at least and at most. */
static void extent(const struct mon_now *n, uint32_t *lo, uint32_t *hi)
{
	const uint32_t mtu = mon_read_mtu(n->f);

	*lo = *hi = 1;
	if (!is_read(n->p->bth.opcode))
		return;
	if (!(n->p->hdrs & VS_HDR_RETH) || n->p->ext.reth.dmalen > VS_DMALEN_MAX)
		*hi = VS_PSN_HALF;
	else if (mtu != 0)
		*lo = *hi = vs_psn_count(n->p->ext.reth.dmalen, mtu);
	else
		*hi = vs_psn_count(n->p->ext.reth.dmalen, 256), *lo = vs_psn_count(n->p->ext.reth.dmalen, VS_MTU_MAX);
}

static void after_read(struct mon_now *n, const struct mon_seen *s)
{
	const struct mon_read *r = mon_read_covering(n->f, s->pos - 1);

	if (r == NULL || !is_read(r->opcode) || r->dmalen == MON_UNKNOWN)
		return;
	for (uint32_t mtu = 256; mtu <= VS_MTU_MAX; mtu *= 2)
		if (r->pos + vs_psn_count(r->dmalen, mtu) == s->pos)
			return;
	mon_find(n, VS_RULE_PSN_STEP_READ, r->frame, "%lld PSNs after a READ of %u bytes (frame %u)",
		 (long long)(s->pos - r->pos), r->dmalen, r->frame);
}

static void row(struct mon_now *n, struct mon_seen *s, bool follows)
{
	struct mon_flow *f = n->f;

	/* READs and atomics may be counted in the MSN early: a row has none */
	if (!follows || mon_waits_for_data(s->opcode))
		f->chain++;
	s->chain = f->chain;
	s->ends = (f->last_chain == f->chain ? f->last_ends : 0) + ((n->op->flags & VS_OPF_E) != 0);
	f->last_chain = f->chain;
	f->last_ends = s->ends;
	if (mon_waits_for_data(s->opcode))
		f->chain++;
}

static void go_on(struct mon_now *n, struct mon_seen *s)
{
	struct mon_flow *f = n->f;
	const bool ambiguous = f->next_lo != f->next_hi;
	uint32_t lo, hi;

	if (s->pos > f->next_hi) {
		n->out->flags |= VS_MON_GAP;
		n->out->missing = (uint32_t)(s->pos - f->next_hi);
	} else if (ambiguous) {
		after_read(n, s);
	}
	row(n, s, s->pos == f->next_lo && !ambiguous);
	extent(n, &lo, &hi);
	f->req.psn = s->psn;
	f->req.pos = s->pos;
	f->next_lo = s->pos + lo;
	f->next_hi = s->pos + hi;
	f->last_known = lo == hi;
	f->last_opcode = s->opcode;
	f->last_sport = s->sport;
	f->last_req_frame = s->frame;
	f->burst = false;
}

/* ---- all of it ---- */

static void begin(struct mon_now *n, struct mon_seen *s)
{
	struct mon_flow *f = n->f;

	s->pos = s->psn;
	s->epoch = f->epoch;
	f->req = (struct mon_space){.any = true, .psn = s->psn, .pos = s->pos};
	f->next_lo = f->next_hi = s->pos;
	f->chain++;
	f->last_known = false;
}

/* Once the path MTU is known, so is the extent of a READ that came before that. */
static void resolve(struct mon_flow *f)
{
	const uint32_t mtu = mon_read_mtu(f);
	const struct mon_read *r;

	if (f->next_lo == f->next_hi || mtu == 0)
		return;
	r = mon_read_covering(f, f->req.pos);
	if (r == NULL || r->pos != f->req.pos)
		return;
	f->next_lo = f->next_hi = r->pos + vs_psn_count(r->dmalen, mtu);
	f->last_known = true;
}

static void outstanding(struct mon_now *n)
{
	struct mon_flow *f = n->f;

	if (!f->una_any || f->next_lo <= f->una)
		return;
	n->out->outstanding = (uint32_t)(f->next_lo - f->una);
	if (n->out->outstanding > f->info.outstanding_max)
		f->info.outstanding_max = n->out->outstanding;
	if (n->out->outstanding >= VS_PSN_HALF)
		mon_find(n, VS_RULE_PSN_WINDOW, f->una_frame, "%u PSNs since frame %u", n->out->outstanding,
			 f->una_frame);
}

static void limits(struct mon_now *n, const struct mon_seen *s)
{
	struct mon_flow *f = n->f;
	const struct mon_seen *acked;
	unsigned waiting = 0;
	uint64_t ns;

	if (f->fatal_any && mon_elapsed(f->fatal_time_ns, n->in->time_ns, &ns) && ns > FATAL_QUIET_NS) {
		mon_find(n, VS_RULE_AFTER_FATAL_NAK, f->fatal_frame, "%llu us after the NAK in frame %u",
			 (unsigned long long)(ns / 1000), f->fatal_frame);
		f->fatal_time_ns = INT64_MAX;
	}
	for (unsigned i = 0; f->cm_depth != 0 && f->reads != NULL && i < MON_READS; i++)
		waiting += f->reads[i].used && !f->reads[i].answered && !f->reads[i].part;
	if (f->cm_depth != 0 && mon_waits_for_data(s->opcode) && f->una_any && waiting >= f->cm_depth)
		mon_find(n, VS_RULE_READ_DEPTH, 0, "%u are outstanding; agreed were %u", waiting + 1, f->cm_depth);
	if (!f->credits_any || !(n->op->flags & VS_OPF_S) || !(n->op->flags & VS_OPF_B))
		return;
	acked = mon_seen_request(f, vs_psn_add(s->psn, (int32_t)(f->una - 1 - s->pos)), f->una - 1);
	if (acked == NULL || acked->chain != s->chain)
		return;
	waiting = s->ends - acked->ends + !(n->op->flags & VS_OPF_E);
	if (waiting > f->credits + 1)
		mon_find(n, VS_RULE_CREDITS_EXCEEDED, f->una_frame, "message %u since frame %u, which gave %u credits",
			 waiting, f->una_frame, f->credits);
}

/* Seen for the first time, but behind the newest. */
static void behind(struct mon_now *n, struct mon_seen *s, bool *part)
{
	if (is_read(s->opcode) && mon_read_retry(n, s->pos)) {
		*part = true;
		return;
	}
	other_opcode(n, s);
	if (n->f->cause != VS_MON_CAUSE_NONE || n->f->burst)
		mon_repeat_cause(n, s->pos, n->in->time_ns);
	n->out->class_ = VS_MON_LATE;
	n->m->total.late++;
	n->f->burst = true;
	n->f->burst_pos = s->pos;
}

static void fresh(struct mon_now *n, struct mon_seen *s)
{
	struct mon_flow *f = n->f;
	bool part = false;

	neighbours(n, s);
	message(n, s);
	if (s->pos >= f->next_lo) {
		go_on(n, s);
		limits(n, s);
	} else {
		behind(n, s, &part);
	}
	if (!part)
		mon_read_bound(f, s->pos);
	if (mon_waits_for_data(s->opcode))
		mon_read_add(f, s, part);
}

/* Rules whose breach a responder answers with a NAK invalid request. */
static bool to_be_refused(const struct vs_mon_result *r)
{
	static const uint8_t rules[] = {
		VS_RULE_PAYLOAD_EMPTY,      VS_RULE_PAYLOAD_NOT_MTU,       VS_RULE_PAYLOAD_OVER_MTU,
		VS_RULE_PAYLOAD_NOT_EIGHT,  VS_RULE_RETH_DMALEN_MAX,       VS_RULE_RETH_DMALEN_PAYLOAD,
		VS_RULE_ATOMIC_ALIGN,       VS_RULE_PAYLOAD_OVER_PATH_MTU, VS_RULE_MTU_CHANGED,
		VS_RULE_WRITE_LENGTH_OVER,  VS_RULE_WRITE_LENGTH_UNDER,    VS_RULE_OPCODE_SEQUENCE,
		VS_RULE_PAYLOAD_UNEXPECTED, VS_RULE_CM_MTU_EXCEEDED};

	for (unsigned i = 0; i < r->rules && i < VS_MON_RULES; i++)
		for (unsigned k = 0; k < sizeof(rules); k++)
			if (r->rule[i] == rules[k])
				return true;
	return false;
}

void mon_request(struct mon_now *n, struct mon_seen *s, bool repeat)
{
	struct mon_flow *f = n->f;

	n->out->flags |= VS_MON_REQUEST;
	resolve(f);
	if (!f->req.any) {
		begin(n, s);
	} else if ((!repeat || n->forgotten) &&
		   (s->pos > f->next_hi + MON_EPOCH_JUMP || s->pos < f->next_lo - MON_EPOCH_JUMP)) {
		const struct mon_read *r = mon_read_covering(f, s->pos);

		if (r == NULL) {
			mon_flow_restart(f);
			begin(n, s);
		}
	}
	mon_cm_first_request(n);
	mon_learn_mtu(n);
	if (n->net_dup) {
		n->out->flags |= VS_MON_DUPLICATE;
		n->m->total.duplicates++;
		return;
	}
	/* what was there so long ago that it is forgotten, and goes on now, is of another connection */
	if (repeat && !(n->forgotten && s->pos >= f->next_lo))
		mon_repeat(n, s, s->pos);
	else
		fresh(n, s);
	s->last_ns = n->in->time_ns;
	n->out->message = s->first;
	if (n->op->flags & VS_OPF_W && s->whole)
		n->out->offset = s->sum - n->len;
	if (to_be_refused(n->out)) {
		f->broken_any = true;
		f->broken_pos = s->pos;
		f->broken_frame = n->in->frame;
	} else if (f->broken_any && f->broken_pos == s->pos) {
		f->broken_any = false; /* sent again as it should be */
	}
	if (f->nak_any && f->nak_pos == s->pos)
		f->nak_any = false;
	if (f->rnr_any && f->rnr_pos == s->pos)
		f->rnr_any = false;
	if (f->fatal_any && s->pos <= f->fatal_pos)
		f->fatal_any = false;
	outstanding(n);
}
