/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * analysis_mark.c - the verdict in words: expert items for those who look for trouble, tags for the Info column.
 *
 * The text of an expert item says what happened in general, so that Wireshark counts the same thing in one row; the
 * numbers stand in the fields (analysis_show.c). A broken rule is an expert item rdma.rule.<id> by its level; the rules
 * of one packet alone are expert items of their own already (expert.c).
 */
#include "analysis.h"

static expert_field ei_response, ei_same_psn, ei_copy, ei_duplicate, ei_gap, ei_late, ei_dup_ack, ei_ghost_ack, ei_rnr,
	ei_implied, ei_unasked;
static expert_field ei_again[VS_MON_CAUSE_TIMEOUT + 1]; /* by enum vs_mon_cause */
static expert_field ei_nak[VS_NAK_REM_OP + 2];          /* by code; the last one for all others */
static expert_field ei_rule[VS_RULE_COUNT];

#define RDMA_LEVEL_NOTE PI_NOTE
#define RDMA_LEVEL_SHOULD PI_WARN
#define RDMA_LEVEL_MUST PI_ERROR

#define VS_RULE_OF_REASON(ID, level)
#define VS_RULE(ID, id, level, clause, sentence) \
	{&ei_rule[VS_RULE_##ID], {"rdma.rule." id, PI_SEQUENCE, RDMA_LEVEL_##level, sentence, EXPFILL}},
static ei_register_info ei_rules[] = {
#include "rules.def"
};

/* ---- what is to be said ---- */

static bool is_repeat(const struct vs_mon_result *r)
{
	return r->class_ == VS_MON_RETRANSMISSION;
}

/* Acknowledges, and so sends again. */
static bool reliable_transport(uint8_t opcode)
{
	const enum vs_transport t = vs_opcode_transport(opcode);

	return t == VS_TRANSPORT_RC || t == VS_TRANSPORT_RD || t == VS_TRANSPORT_XRC;
}

uint32_t rdma_analysis_marks(const struct vs_mon_result *r, uint8_t opcode)
{
	const bool reliable = reliable_transport(opcode);
	const bool request = r->flags & VS_MON_REQUEST && reliable, part = r->flags & VS_MON_READ_PART;
	const bool late = r->class_ == VS_MON_LATE, copy = r->class_ == VS_MON_NETWORK_DUP;
	const bool sent_again = late && reliable && r->cause != VS_MON_CAUSE_NONE && r->cause != VS_MON_CAUSE_TIMEOUT;
	uint32_t m = 0;

	m |= (uint32_t)(is_repeat(r) && request && !part) << RDMA_MARK_AGAIN;
	m |= (uint32_t)(is_repeat(r) && request && part) << RDMA_MARK_PART;
	m |= (uint32_t)(is_repeat(r) && !request && reliable) << RDMA_MARK_RESPONSE;
	m |= (uint32_t)(is_repeat(r) && !reliable) << RDMA_MARK_SAME_PSN;
	m |= (uint32_t)copy << RDMA_MARK_COPY;
	m |= (uint32_t)(!copy && (r->flags & VS_MON_DUPLICATE)) << RDMA_MARK_DUPLICATE;
	m |= (uint32_t)((r->flags & VS_MON_GAP) != 0) << RDMA_MARK_GAP;
	m |= (uint32_t)(late && !sent_again) << RDMA_MARK_LATE;
	m |= (uint32_t)sent_again << RDMA_MARK_LATE_AGAIN;
	m |= (uint32_t)(r->class_ == VS_MON_DUP_ACK) << RDMA_MARK_DUP_ACK;
	m |= (uint32_t)(r->class_ == VS_MON_GHOST_ACK) << RDMA_MARK_GHOST_ACK;
	m |= (uint32_t)((r->flags & VS_MON_NAK) != 0) << RDMA_MARK_NAK;
	m |= (uint32_t)((r->flags & VS_MON_RNR) != 0) << RDMA_MARK_RNR;
	m |= (uint32_t)((r->flags & VS_MON_IMPLIED_NAK) != 0) << RDMA_MARK_IMPLIED_NAK;
	m |= (uint32_t)((r->flags & VS_MON_UNASKED) != 0) << RDMA_MARK_UNASKED;
	return m;
}

const char *rdma_analysis_cause(const struct vs_mon_result *r)
{
	static const char *const cause[] = {
		[VS_MON_CAUSE_NAK] = "NAK PSN sequence",
		[VS_MON_CAUSE_RNR] = "RNR NAK",
		[VS_MON_CAUSE_IMPLIED] = "implied NAK",
		[VS_MON_CAUSE_TIMEOUT] = "timeout",
	};

	return r->cause < G_N_ELEMENTS(cause) ? cause[r->cause] : NULL;
}

/* ---- expert items ---- */

static expert_field *expert_of(const struct rdma_ctx *c, enum rdma_mark mark)
{
	static expert_field *const plain[RDMA_MARK_COUNT] = {
		[RDMA_MARK_RESPONSE] = &ei_response, [RDMA_MARK_SAME_PSN] = &ei_same_psn,
		[RDMA_MARK_COPY] = &ei_copy,         [RDMA_MARK_DUPLICATE] = &ei_duplicate,
		[RDMA_MARK_GAP] = &ei_gap,           [RDMA_MARK_LATE] = &ei_late,
		[RDMA_MARK_DUP_ACK] = &ei_dup_ack,   [RDMA_MARK_GHOST_ACK] = &ei_ghost_ack,
		[RDMA_MARK_RNR] = &ei_rnr,           [RDMA_MARK_IMPLIED_NAK] = &ei_implied,
		[RDMA_MARK_UNASKED] = &ei_unasked,
	};

	switch (mark) {
	case RDMA_MARK_AGAIN:
	case RDMA_MARK_PART:
	case RDMA_MARK_LATE_AGAIN:
		return &ei_again[MIN(c->analysis.r.cause, G_N_ELEMENTS(ei_again) - 1)];
	case RDMA_MARK_NAK:
		return &ei_nak[MIN(c->pkt.ext.aeth.syndrome & 0x1fu, G_N_ELEMENTS(ei_nak) - 1)];
	default:
		return plain[mark];
	}
}

void rdma_analysis_expert_mark(struct rdma_ctx *c, proto_item *item, enum rdma_mark mark)
{
	expert_add_info(c->pinfo, item != NULL ? item : c->item, expert_of(c, mark));
}

void rdma_analysis_expert_rule(struct rdma_ctx *c, proto_item *item, unsigned i)
{
	expert_field *ei = &ei_rule[c->analysis.r.rule[i]];

	if (ei->ei > 0) /* not one of a packet alone */
		expert_add_info(c->pinfo, item != NULL ? item : c->item, ei);
}

/* ---- the Info column ---- */

struct tag {
	char *buf;
	size_t len, at;
};

G_GNUC_PRINTF(2, 3) static void put(struct tag *t, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(t->buf + t->at, t->len - t->at, format, ap);
	va_end(ap);
	if (n > 0)
		t->at = MIN(t->at + (size_t)n, t->len - 1);
}

static void put_cause(struct tag *t, const struct vs_mon_result *r)
{
	const char *cause = rdma_analysis_cause(r);

	if (cause != NULL)
		put(t, ": %s", cause);
	put(t, "%s", r->flags & VS_MON_DUPLICATE ? ", executed before]" : "]");
}

static void put_mark(struct tag *t, const struct vs_mon_result *r, enum rdma_mark mark)
{
	switch (mark) {
	case RDMA_MARK_AGAIN:
		put(t, " [Retransmission of #%u", r->original);
		put_cause(t, r);
		break;
	case RDMA_MARK_PART:
		put(t, " [Retransmission of the rest of #%u", r->original);
		put_cause(t, r);
		break;
	case RDMA_MARK_RESPONSE:
		put(t, " [Response sent again, first in #%u]", r->original);
		break;
	case RDMA_MARK_SAME_PSN:
		put(t, " [Same PSN as #%u]", r->original);
		break;
	case RDMA_MARK_COPY:
		put(t, " [Copy of #%u, made by the network]", r->original);
		break;
	case RDMA_MARK_GAP:
		put(t, " [%u missing before]", r->missing);
		break;
	case RDMA_MARK_LATE:
		put(t, " [Out of order]");
		break;
	case RDMA_MARK_LATE_AGAIN:
		put(t, " [Retransmission, lost before this point");
		put_cause(t, r);
		break;
	case RDMA_MARK_DUP_ACK:
		put(t, " [Duplicate ACK]");
		break;
	case RDMA_MARK_GHOST_ACK:
		put(t, " [Ghost ACK]");
		break;
	case RDMA_MARK_IMPLIED_NAK:
		put(t, " [Implied NAK]");
		break;
	case RDMA_MARK_UNASKED:
		put(t, " [Request not seen]");
		break;
	case RDMA_MARK_DUPLICATE: /* part of another */
	case RDMA_MARK_NAK:       /* the column has it already */
	case RDMA_MARK_RNR:
	case RDMA_MARK_COUNT:
		break;
	}
}

void rdma_analysis_tag(const struct rdma_ctx *c, char *buf, size_t len)
{
	const struct vs_mon_result *r = &c->analysis.r;
	struct tag t = {.buf = buf, .len = len};
	uint32_t marks;

	buf[0] = '\0';
	if (!c->analysed)
		return;
	marks = rdma_analysis_marks(r, c->pkt.bth.opcode);
	for (unsigned m = 0; marks >> m != 0; m++)
		if (marks >> m & 1)
			put_mark(&t, r, (enum rdma_mark)m);
	for (unsigned i = 0; i < r->rules && i < VS_MON_RULES; i++) {
		const enum vs_rule rule = (enum vs_rule)r->rule[i];

		if (ei_rule[rule].ei > 0 && vs_rule_info(rule)->level == VS_RULE_MUST)
			put(&t, " [Breaks %s]", vs_rule_info(rule)->id);
	}
}

/* ---- registration ---- */

void rdma_analysis_mark_register(int proto)
{
	static ei_register_info ei[] = {
		{&ei_again[VS_MON_CAUSE_NONE],
		 {"rdma.expert.retransmission", PI_SEQUENCE, PI_NOTE, "Sent again, and the capture does not say why",
		  EXPFILL}},
		{&ei_again[VS_MON_CAUSE_NAK],
		 {"rdma.expert.retransmission.nak", PI_SEQUENCE, PI_NOTE,
		  "Sent again: a NAK PSN sequence error told the sender that a packet was lost, so it goes back to it",
		  EXPFILL}},
		{&ei_again[VS_MON_CAUSE_RNR],
		 {"rdma.expert.retransmission.rnr", PI_SEQUENCE, PI_NOTE,
		  "Sent again: the receiver was not ready (RNR NAK), the sender waited and tries once more", EXPFILL}},
		{&ei_again[VS_MON_CAUSE_IMPLIED],
		 {"rdma.expert.retransmission.implied", PI_SEQUENCE, PI_NOTE,
		  "Sent again: a later request was answered and this one was not, so its answer was lost", EXPFILL}},
		{&ei_again[VS_MON_CAUSE_TIMEOUT],
		 {"rdma.expert.retransmission.timeout", PI_SEQUENCE, PI_WARN,
		  "Sent again: nothing acknowledged it in time, so the sender's ACK timer ran out", EXPFILL}},
		{&ei_response,
		 {"rdma.expert.response_again", PI_SEQUENCE, PI_NOTE,
		  "A response that was there before: its request was asked again", EXPFILL}},
		{&ei_same_psn,
		 {"rdma.expert.same_psn", PI_SEQUENCE, PI_NOTE,
		  "A PSN that was there before, where nothing is sent again: two senders, or the turn of the circle",
		  EXPFILL}},
		{&ei_copy,
		 {"rdma.expert.network_duplicate", PI_SEQUENCE, PI_NOTE,
		  "A copy made on the way: the very bytes of a packet before it, its IP ID included", EXPFILL}},
		{&ei_duplicate,
		 {"rdma.expert.duplicate", PI_SEQUENCE, PI_NOTE,
		  "A duplicate for its responder, which has executed it: it answers again and does nothing twice",
		  EXPFILL}},
		{&ei_gap,
		 {"rdma.expert.gap", PI_SEQUENCE, PI_WARN,
		  "Packets are missing before this one: lost on the way, or not captured", EXPFILL}},
		{&ei_late,
		 {"rdma.expert.out_of_order", PI_SEQUENCE, PI_NOTE,
		  "Out of order: packets with later PSNs came before this one", EXPFILL}},
		{&ei_dup_ack,
		 {"rdma.expert.duplicate_ack", PI_SEQUENCE, PI_CHAT,
		  "Acknowledges what was acknowledged before: the answer to a duplicate", EXPFILL}},
		{&ei_ghost_ack,
		 {"rdma.expert.ghost_ack", PI_SEQUENCE, PI_NOTE,
		  "Ghost ACK: acknowledges less than one before it, it was late or answers an old duplicate", EXPFILL}},
		{&ei_nak[VS_NAK_PSN_SEQ],
		 {"rdma.expert.nak.psn_sequence", PI_RESPONSE_CODE, PI_WARN,
		  "NAK PSN sequence error: a packet is missing, send again from this PSN on", EXPFILL}},
		{&ei_nak[VS_NAK_INV_REQ],
		 {"rdma.expert.nak.invalid_request", PI_RESPONSE_CODE, PI_ERROR,
		  "NAK invalid request: the responder can't execute this, the connection is over", EXPFILL}},
		{&ei_nak[VS_NAK_REM_ACCESS],
		 {"rdma.expert.nak.remote_access", PI_RESPONSE_CODE, PI_ERROR,
		  "NAK remote access error: wrong R_Key, address, length or right, the connection is over", EXPFILL}},
		{&ei_nak[VS_NAK_REM_OP],
		 {"rdma.expert.nak.remote_operational", PI_RESPONSE_CODE, PI_ERROR,
		  "NAK remote operational error: the responder failed, the connection is over", EXPFILL}},
		{&ei_nak[VS_NAK_REM_OP + 1],
		 {"rdma.expert.nak.other", PI_RESPONSE_CODE, PI_ERROR, "NAK with a code that has no meaning here",
		  EXPFILL}},
		{&ei_rnr,
		 {"rdma.expert.rnr_nak", PI_RESPONSE_CODE, PI_WARN,
		  "RNR NAK: the receiver has no receive posted, the sender is to wait and send again", EXPFILL}},
		{&ei_implied,
		 {"rdma.expert.implied_nak", PI_SEQUENCE, PI_NOTE,
		  "Implied NAK: this answers a later request, so the response to an earlier READ or atomic is lost",
		  EXPFILL}},
		{&ei_unasked,
		 {"rdma.expert.unasked", PI_SEQUENCE, PI_NOTE,
		  "An answer to what was not seen to be asked: the request is missing in the capture", EXPFILL}},
	};
	expert_module_t *expert = expert_register_protocol(proto);

	expert_register_field_array(expert, ei, G_N_ELEMENTS(ei));
	expert_register_field_array(expert, ei_rules, G_N_ELEMENTS(ei_rules));
}
