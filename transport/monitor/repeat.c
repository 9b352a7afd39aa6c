/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * repeat.c - a request that was there before: what made its sender send it again, and is it still the same?
 */
#include "mon.h"

#define SOON_NS UINT64_C(1000000)   /* a requester that an answer tells acts within that; a timer takes longer */
#define RNR_SLACK_NS UINT64_C(2000) /* captures with microseconds round both times */

static void adopt(struct mon_now *n, uint8_t cause, uint32_t frame)
{
	n->out->cause = cause;
	n->out->cause_frame = frame;
	n->m->total.cause[cause]++;
	n->f->burst = true;
	n->f->burst_cause = cause;
	n->f->burst_frame = frame;
}

/* The wait after an RNR NAK. It is measured here, not at the sender: that makes it longer, never shorter. */
static void waited(struct mon_now *n, int64_t pos)
{
	struct mon_flow *f = n->f;
	uint64_t ns;

	if (!mon_elapsed(f->cause_time_ns, n->in->time_ns, &ns))
		return;
	n->out->wait_us = ns / 1000 < UINT32_MAX ? (uint32_t)(ns / 1000) : UINT32_MAX;
	f->info.rnr_waits++;
	f->info.rnr_wait_ns += ns;
	if (f->rnr_count < UINT8_MAX)
		f->rnr_count++;
	if (f->cm_known && f->cm_rnr_retry < 7 && f->rnr_count > f->cm_rnr_retry)
		mon_find(n, VS_RULE_RNR_RETRY_EXCEEDED, f->cause_frame, "%u times; agreed were %u", f->rnr_count,
			 f->cm_rnr_retry);
	/* sooner than an eighth it may have been under way when the NAK was sent, or be a copy */
	if (pos == f->cause_pos && ns + RNR_SLACK_NS < f->rnr_ns && ns >= f->rnr_ns / 8)
		mon_find(n, VS_RULE_RNR_TOO_EARLY, f->cause_frame,
			 "after %llu us; the RNR NAK in frame %u says %llu us", (unsigned long long)(ns / 1000),
			 f->cause_frame, (unsigned long long)(f->rnr_ns / 1000));
}

static void timed_out(struct mon_now *n, int64_t last_ns)
{
	struct mon_flow *f = n->f;
	uint64_t ns;

	if (f->retry_count < UINT8_MAX)
		f->retry_count++;
	/* an answer that was seen may have been lost behind the capture, and the timer begins anew with each */
	if (!f->cm_known || !f->answer_any || f->answer_ns >= last_ns)
		return;
	if (f->retry_count > f->cm_retry)
		mon_find(n, VS_RULE_RETRY_EXCEEDED, 0, "%u times without progress; agreed were %u", f->retry_count,
			 f->cm_retry);
	if (f->cm_timeout_ns != 0 && mon_elapsed(last_ns, n->in->time_ns, &ns) && ns / 5 > f->cm_timeout_ns)
		mon_find(n, VS_RULE_RETRY_TOO_LATE, 0, "after %llu us; the local ACK timeout is %llu us",
			 (unsigned long long)(ns / 1000), (unsigned long long)(f->cm_timeout_ns / 1000));
	if (f->cm_timeout_ns != 0 && mon_elapsed(last_ns, n->in->time_ns, &ns) && ns < f->cm_timeout_ns / 10 * 9)
		mon_find(n, VS_RULE_RETRY_TOO_EARLY, 0, "after %llu us; the local ACK timeout is %llu us",
			 (unsigned long long)(ns / 1000), (unsigned long long)(f->cm_timeout_ns / 1000));
}

/* A READ or atomic with responses, one of which must have been lost on the rest of the way: a later one told. */
static bool begun(const struct mon_now *n, int64_t pos)
{
	struct mon_flow *f = n->f;
	const struct mon_read *r = mon_read_covering(f, pos);

	uint64_t ns, soon = 4 * f->info.rtt_max_ns > SOON_NS ? 4 * f->info.rtt_max_ns : SOON_NS;

	return r != NULL && r->started && (f->una > pos + 1 || mon_read_count(f, r) != 1) && f->answer_any &&
	       mon_elapsed(f->answer_ns, n->in->time_ns, &ns) && ns < soon;
}

void mon_repeat_cause(struct mon_now *n, int64_t pos, int64_t last_ns)
{
	struct mon_flow *f = n->f;
	const uint8_t cause = f->cause;
	const bool goes_on = f->burst && pos > f->burst_pos;

	/* nothing is acknowledged on UC: no answer and no timer makes anybody send again */
	if (vs_opcode_transport(n->p->bth.opcode) == VS_TRANSPORT_UC)
		return;
	/* what was being sent again already when the NAK came goes on first */
	if (cause != VS_MON_CAUSE_NONE && !(goes_on && pos > f->cause_pos)) {
		adopt(n, cause, f->cause_frame);
		if (cause == VS_MON_CAUSE_RNR)
			waited(n, pos);
		else if (cause == VS_MON_CAUSE_NAK && pos > f->cause_pos && mon_read_covering(f, f->cause_pos) == NULL)
			mon_find(n, VS_RULE_GO_BACK_START, f->cause_frame,
				 "%lld PSNs behind what the NAK in frame %u asks for", (long long)(pos - f->cause_pos),
				 f->cause_frame);
		f->cause = VS_MON_CAUSE_NONE;
	} else if (goes_on) {
		adopt(n, f->burst_cause, f->burst_frame);
	} else if (begun(n, pos)) {
		adopt(n, VS_MON_CAUSE_IMPLIED, f->una_frame);
	} else {
		adopt(n, VS_MON_CAUSE_TIMEOUT, 0);
		timed_out(n, last_ns);
	}
	f->burst_pos = pos;
}

/* ---- the same? ---- */

static void same_reth(struct mon_now *n, const struct mon_seen *s)
{
	const struct vs_pkt *p = n->p;

	if (s->dmalen == MON_UNKNOWN)
		return;
	if (p->ext.reth.va == s->va && p->ext.reth.rkey == s->rkey && p->ext.reth.dmalen == s->dmalen)
		return;
	if (n->op->flags & VS_OPF_D) {
		if (p->ext.reth.va != s->va || p->ext.reth.rkey != s->rkey || p->ext.reth.dmalen > s->dmalen)
			mon_find(n, VS_RULE_READ_RETRY_SUBSET, s->frame, "frame %u asked for other bytes at this PSN",
				 s->frame);
	} else {
		mon_find(n, VS_RULE_REPEAT_RETH, s->frame, "frame %u had another RETH", s->frame);
	}
}

static void same_atomic(struct mon_now *n, const struct mon_seen *s)
{
	const struct vs_pkt *p = n->p;

	if (s->len == MON_UNKNOWN)
		return;
	if (p->ext.atomiceth.va != s->va || p->ext.atomiceth.rkey != s->rkey || mon_operands(p) != s->operands)
		mon_find(n, VS_RULE_REPEAT_ATOMIC, s->frame, "frame %u had other operands", s->frame);
}

/* Twice may be bad luck of the repeats; it was answered once, so its responder is there. */
static void unanswered(struct mon_now *n, struct mon_read *r)
{
	if (!r->started || r->unanswered == UINT8_MAX || ++r->unanswered != 3)
		return;
	mon_find(n, VS_RULE_REPEAT_UNANSWERED, r->frame, "%s of frame %u, for the third time without a response",
		 vs_opcodes[r->opcode].name, r->frame);
}

void mon_repeat(struct mon_now *n, const struct mon_seen *s, int64_t pos)
{
	struct mon_flow *f = n->f;
	const bool answered = f->una_any && pos < f->una;
	uint64_t ns;

	mon_repeat_cause(n, pos, n->forgotten ? INT64_MIN : s->last_ns);
	if (!n->forgotten && mon_elapsed(s->time_ns, n->in->time_ns, &ns))
		n->out->rtt_ns = ns;
	for (unsigned i = 0; f->reads != NULL && i < MON_READS; i++)
		if (f->reads[i].used && f->reads[i].pos == pos) {
			f->reads[i].again = true;
			f->reads[i].answered = false;
			f->reads_open = true;
			unanswered(n, &f->reads[i]);
		}
	if (answered) {
		n->out->flags |= VS_MON_DUPLICATE;
		n->m->total.duplicates++;
		mon_find(n, VS_RULE_REPEAT_ACKNOWLEDGED, f->una_frame, "frame %u acknowledges it", f->una_frame);
	}
	/* what was acknowledged, or could have been unseen, may be of a connection of the past */
	if (answered || !f->una_any || s->epoch != f->epoch || !mon_same_sender(n, s->sport))
		return;
	if (n->len_known && s->len != MON_UNKNOWN && n->len != s->len)
		mon_find(n, VS_RULE_REPEAT_LENGTH, s->frame, "%u bytes of payload; frame %u had %u", n->len, s->frame,
			 s->len);
	if (n->p->hdrs & VS_HDR_RETH)
		same_reth(n, s);
	else if (n->p->hdrs & VS_HDR_ATOMICETH)
		same_atomic(n, s);
}

/* ---- the rest of a READ ---- */

static bool fits_mtu(const struct mon_flow *f, int64_t packets, uint64_t bytes)
{
	const uint32_t known = mon_read_mtu(f);

	if (known != 0)
		return bytes == (uint64_t)packets * known;
	for (uint32_t mtu = 256; mtu <= VS_MTU_MAX; mtu *= 2)
		if (bytes == (uint64_t)packets * mtu)
			return true;
	return false;
}

bool mon_read_retry(struct mon_now *n, int64_t pos)
{
	struct mon_flow *f = n->f;
	struct mon_read *r = mon_read_covering(f, pos);
	const struct vs_pkt *p = n->p;
	uint64_t ns;

	if (r == NULL || r->pos >= pos || !(p->hdrs & VS_HDR_RETH))
		return false;
	n->out->class_ = VS_MON_RETRANSMISSION;
	n->out->flags |= VS_MON_READ_PART;
	n->out->original = r->frame;
	if (mon_elapsed(r->time_ns, n->in->time_ns, &ns))
		n->out->rtt_ns = ns;
	r->again = true;
	if (r->started || r->answered || (f->una_any && pos < f->una)) {
		n->out->flags |= VS_MON_DUPLICATE;
		n->m->total.duplicates++;
	}
	mon_repeat_cause(n, pos, r->time_ns);
	/* as long as the path MTU is not known, it may be a request of its own */
	if (!mon_same_sender(n, r->sport) || mon_read_count(f, r) == 0)
		return true;
	if (p->ext.reth.rkey != r->rkey || p->ext.reth.va < r->va ||
	    p->ext.reth.va - r->va + p->ext.reth.dmalen > r->dmalen ||
	    !fits_mtu(f, pos - r->pos, p->ext.reth.va - r->va))
		mon_find(n, VS_RULE_READ_RETRY_SUBSET, r->frame, "frame %u asked for other bytes at this PSN",
			 r->frame);
	return true;
}
