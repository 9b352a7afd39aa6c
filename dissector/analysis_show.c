/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * analysis_show.c - the verdict as a tree: fields rdma.analysis.*, with links to the frames that they name.
 *
 * A field is there when there is something to say. All but response_in, ack_in and repeated_in speak of this frame and
 * earlier ones.
 */
#include "analysis.h"

static int hf_analysis, hf_stream, hf_message, hf_offset, hf_request_in, hf_response_in, hf_ack_in, hf_acks, hf_again,
	hf_again_of, hf_again_in, hf_transmission, hf_since_first, hf_cause, hf_cause_in, hf_rnr_wait, hf_duplicate,
	hf_copy, hf_gap, hf_lost, hf_late, hf_dup_ack, hf_ghost_ack, hf_coalesced, hf_nak, hf_implied, hf_unasked,
	hf_rtt, hf_credits, hf_outstanding, hf_wasted, hf_inferred, hf_rule, hf_level, hf_clause, hf_reason,
	hf_shown_by;
static int ett_analysis, ett_rule;

/* ---- items ---- */

static proto_item *add_uint(struct rdma_ctx *c, proto_tree *t, int hf, uint32_t v)
{
	proto_item *ti = proto_tree_add_uint(t, hf, c->tvb, 0, 0, v);

	proto_item_set_generated(ti);
	return ti;
}

static void add_frame(struct rdma_ctx *c, proto_tree *t, int hf, uint32_t frame)
{
	if (frame != 0)
		add_uint(c, t, hf, frame);
}

static proto_item *add_flag(struct rdma_ctx *c, proto_tree *t, int hf)
{
	proto_item *ti = proto_tree_add_boolean(t, hf, c->tvb, 0, 0, TRUE);

	proto_item_set_generated(ti);
	return ti;
}

static proto_item *add_string(struct rdma_ctx *c, proto_tree *t, int hf, const char *text)
{
	proto_item *ti = proto_tree_add_string(t, hf, c->tvb, 0, 0, text);

	proto_item_set_generated(ti);
	return ti;
}

static void add_time(struct rdma_ctx *c, proto_tree *t, int hf, uint64_t ns)
{
	nstime_t time = {.secs = (time_t)(ns / 1000000000), .nsecs = (int)(ns % 1000000000)};

	proto_item_set_generated(proto_tree_add_time(t, hf, c->tvb, 0, 0, &time));
}

/* ---- in a sentence ---- */

static const char *late_by(struct rdma_ctx *c)
{
	const struct vs_mon_result *r = &c->analysis.r;

	return r->rtt_ns == 0 ? "" : wmem_strdup_printf(c->pinfo->pool, ", %.6f s after that", (double)r->rtt_ns / 1e9);
}

static const char *why_again(struct rdma_ctx *c)
{
	const struct vs_mon_result *r = &c->analysis.r;
	wmem_allocator_t *pool = c->pinfo->pool;

	switch ((enum vs_mon_cause)r->cause) {
	case VS_MON_CAUSE_NAK:
		return wmem_strdup_printf(pool, "the NAK PSN sequence error in frame %u asks for it", r->cause_frame);
	case VS_MON_CAUSE_RNR:
		return wmem_strdup_printf(pool, "the RNR NAK in frame %u says to try again later", r->cause_frame);
	case VS_MON_CAUSE_IMPLIED:
		return wmem_strdup_printf(pool, "frame %u answers a later request, so that the answer to this is lost",
					  r->cause_frame);
	case VS_MON_CAUSE_TIMEOUT:
		return "no answer asks for it, so the ACK timer of the sender ran out";
	case VS_MON_CAUSE_NONE:
		break;
	}
	return "for a reason that is not in this capture";
}

/* What is to be said of a mark, with its numbers; NULL: nothing beside the field itself. Packet scope. */
static const char *sentence(struct rdma_ctx *c, enum rdma_mark mark)
{
	const struct vs_mon_result *r = &c->analysis.r;
	wmem_allocator_t *pool = c->pinfo->pool;

	switch (mark) {
	case RDMA_MARK_AGAIN:
		return wmem_strdup_printf(pool, "first sent in frame %u, sent again%s: %s", r->original, late_by(c),
					  why_again(c));
	case RDMA_MARK_PART:
		return wmem_strdup_printf(pool, "asks for the rest of the READ in frame %u%s: %s", r->original,
					  late_by(c), why_again(c));
	case RDMA_MARK_LATE_AGAIN:
		return wmem_strdup_printf(pool, "the first transmission was lost before this point: %s", why_again(c));
	case RDMA_MARK_RESPONSE:
		return wmem_strdup_printf(pool, "the same response as in frame %u", r->original);
	case RDMA_MARK_COPY:
		return wmem_strdup_printf(
			pool, "the same bytes as in frame %u, IP ID included: a switch or a tap made it", r->original);
	case RDMA_MARK_GAP:
		return wmem_strdup_printf(pool, "at least %u packet%s missing before this one", r->missing,
					  r->missing == 1 ? " is" : "s are");
	default:
		return NULL;
	}
}

/* ---- parts of the tree ---- */

static void add_place(struct rdma_ctx *c, proto_tree *t)
{
	const struct vs_mon_result *r = &c->analysis.r;

	if (r->stream != 0) {
		proto_item *ti = add_uint(c, t, hf_stream, r->stream);

		if (!(r->flags & (VS_MON_INFERRED | VS_MON_PAIRED)))
			proto_item_append_text(ti, " (the other direction is not known yet)");
	}
	if (r->flags & VS_MON_INFERRED)
		add_flag(c, t, hf_inferred);
	add_frame(c, t, hf_message, r->message);
	if (r->offset != 0 || (r->message != 0 && c->payload_len > 0 && !(r->flags & VS_MON_WASTED)))
		add_uint(c, t, hf_offset, r->offset);
}

/* An acknowledgement acknowledges, everything else that answers responds. */
static bool is_ack(const struct rdma_ctx *c)
{
	return (c->pkt.hdrs & VS_HDR_AETH) && vs_opcodes[c->pkt.bth.opcode].payload == VS_PAYLOAD_NONE &&
	       !(c->pkt.hdrs & VS_HDR_ATOMICACKETH) && vs_aeth_type(c->pkt.ext.aeth.syndrome) == VS_AETH_ACK;
}

static bool wants_data(uint8_t opcode)
{
	const uint8_t r = vs_opcodes[opcode].response;

	return r == VS_RESPONSE_READ || r == VS_RESPONSE_ATOMIC || r == VS_RESPONSE_READ_ONLY;
}

static void add_links(struct rdma_ctx *c, proto_tree *t)
{
	const struct rdma_analysis *a = &c->analysis;
	const struct vs_mon_result *r = &a->r;

	add_frame(c, t, is_ack(c) ? hf_acks : hf_request_in, r->request);
	add_frame(c, t, wants_data(c->pkt.bth.opcode) ? hf_response_in : hf_ack_in, a->answered_in);
	add_frame(c, t, hf_again_in, a->repeated_in);
	if (r->flags & VS_MON_RTT)
		add_time(c, t, hf_rtt, r->rtt_ns);
	if (r->flags & VS_MON_COALESCED)
		add_flag(c, t, hf_coalesced);
	if (r->flags & VS_MON_CREDITS)
		add_uint(c, t, hf_credits, r->credits);
	if (r->outstanding != 0)
		add_uint(c, t, hf_outstanding, r->outstanding);
}

/* What is there only for a packet that was there before. */
static void add_repeat(struct rdma_ctx *c, proto_tree *t)
{
	const struct vs_mon_result *r = &c->analysis.r;

	add_frame(c, t, hf_again_of, r->original);
	if (r->iter > 1)
		add_uint(c, t, hf_transmission, r->iter);
	if (!(r->flags & VS_MON_RTT) && r->rtt_ns != 0)
		add_time(c, t, hf_since_first, r->rtt_ns);
	if (rdma_analysis_cause(r) != NULL)
		add_string(c, t, hf_cause, rdma_analysis_cause(r));
	add_frame(c, t, hf_cause_in, r->cause_frame);
	if (r->cause == VS_MON_CAUSE_RNR && r->wait_us != 0)
		add_time(c, t, hf_rnr_wait, (uint64_t)r->wait_us * 1000);
	if (r->flags & VS_MON_WASTED)
		add_uint(c, t, hf_wasted, r->wasted);
}

static proto_item *add_mark(struct rdma_ctx *c, proto_tree *t, enum rdma_mark mark)
{
	static const int *const flag[RDMA_MARK_COUNT] = {
		[RDMA_MARK_AGAIN] = &hf_again,
		[RDMA_MARK_PART] = &hf_again,
		[RDMA_MARK_RESPONSE] = &hf_again,
		[RDMA_MARK_SAME_PSN] = &hf_again,
		[RDMA_MARK_COPY] = &hf_copy,
		[RDMA_MARK_DUPLICATE] = &hf_duplicate,
		[RDMA_MARK_GAP] = &hf_gap,
		[RDMA_MARK_LATE] = &hf_late,
		[RDMA_MARK_LATE_AGAIN] = &hf_late,
		[RDMA_MARK_DUP_ACK] = &hf_dup_ack,
		[RDMA_MARK_GHOST_ACK] = &hf_ghost_ack,
		[RDMA_MARK_IMPLIED_NAK] = &hf_implied,
		[RDMA_MARK_UNASKED] = &hf_unasked,
	};
	proto_item *ti;

	if (mark == RDMA_MARK_RNR)
		return c->at[RDMA_AT_AETH];
	if (mark == RDMA_MARK_NAK)
		return add_uint(c, t, hf_nak, c->pkt.ext.aeth.syndrome & 0x1f);
	ti = add_flag(c, t, *flag[mark]);
	if (mark == RDMA_MARK_GAP)
		add_uint(c, t, hf_lost, c->analysis.r.missing);
	if (mark == RDMA_MARK_COPY)
		add_flag(c, t, hf_duplicate);
	return ti;
}

/* ---- marks and rules ---- */

/* Sentences cost: only for those who read or filter them. */
static bool reads(const proto_tree *t)
{
	return t != NULL && (PTREE_DATA(t)->visible || proto_field_is_referenced((proto_tree *)t, hf_reason));
}

static void show_marks(struct rdma_ctx *c, proto_tree *t)
{
	const uint32_t marks = rdma_analysis_marks(&c->analysis.r, c->pkt.bth.opcode);

	for (unsigned m = 0; marks >> m != 0; m++) {
		proto_item *ti = NULL;
		const char *text;

		if (!(marks >> m & 1))
			continue;
		if (t != NULL)
			ti = add_mark(c, t, (enum rdma_mark)m);
		if (reads(t) && (text = sentence(c, (enum rdma_mark)m)) != NULL)
			add_string(c, t, hf_reason, text);
		rdma_analysis_expert_mark(c, ti, (enum rdma_mark)m);
	}
}

static const char *rule_text(struct rdma_ctx *c, unsigned i)
{
	const char *sentence_of = vs_rule_info((enum vs_rule)c->analysis.r.rule[i])->sentence;

	if (c->analysis.text[i] == NULL)
		return sentence_of;
	return wmem_strdup_printf(c->pinfo->pool, "%s: %s", sentence_of, c->analysis.text[i]);
}

static proto_item *add_rule(struct rdma_ctx *c, proto_tree *t, unsigned i)
{
	const struct vs_rule_info *info = vs_rule_info((enum vs_rule)c->analysis.r.rule[i]);
	proto_item *ti = add_string(c, t, hf_rule, info->id);
	proto_tree *sub = proto_item_add_subtree(ti, ett_rule);

	add_string(c, sub, hf_level, vs_rule_level_name(info->level));
	if (info->clause[0] != '\0')
		add_string(c, sub, hf_clause, info->clause);
	if (reads(t))
		add_string(c, sub, hf_reason, rule_text(c, i));
	add_frame(c, sub, hf_shown_by, c->analysis.other[i]);
	return ti;
}

/* ---- fields ---- */

static const value_string nak_vals[] = {
	{VS_NAK_PSN_SEQ, "PSN sequence error"},     {VS_NAK_INV_REQ, "invalid request"},
	{VS_NAK_REM_ACCESS, "remote access error"}, {VS_NAK_REM_OP, "remote operational error"},
	{VS_NAK_INV_RD, "invalid RD request"},      {0, NULL},
};

#define FIELD(hf, name, abbrev, type, base, strings, blurb)                                \
	{                                                                                  \
		&hf,                                                                       \
		{                                                                          \
			name, "rdma.analysis" abbrev, type, base, strings, 0, blurb, HFILL \
		}                                                                          \
	}
#define FLAG(hf, name, abbrev, blurb) FIELD(hf, name, abbrev, FT_BOOLEAN, BASE_NONE, NULL, blurb)
#define NUMBER(hf, name, abbrev, blurb) FIELD(hf, name, abbrev, FT_UINT32, BASE_DEC, NULL, blurb)
#define LINK(hf, name, abbrev, type, blurb) FIELD(hf, name, abbrev, FT_FRAMENUM, BASE_NONE, FRAMENUM_TYPE(type), blurb)
#define TIME(hf, name, abbrev, blurb) FIELD(hf, name, abbrev, FT_RELATIVE_TIME, BASE_NONE, NULL, blurb)
#define WORDS(hf, name, abbrev, blurb) FIELD(hf, name, abbrev, FT_STRING, BASE_NONE, NULL, blurb)

static hf_register_info hf[] = {
	FIELD(hf_analysis, "Analysis", "", FT_NONE, BASE_NONE, NULL, "What this packet is to those before it"),
	NUMBER(hf_stream, "Connection", ".stream", "Number of the connection in this capture, both directions"),
	LINK(hf_message, "Message began in frame", ".message", FT_FRAMENUM_NONE,
	     "The first packet of the message that this one belongs to, or answers"),
	NUMBER(hf_offset, "Offset in the message", ".offset", "Where the payload belongs, in bytes"),
	LINK(hf_request_in, "Request in frame", ".request_in", FT_FRAMENUM_REQUEST, "What this answers"),
	LINK(hf_response_in, "Response in frame", ".response_in", FT_FRAMENUM_RESPONSE,
	     "The first packet that answers this READ or atomic; known in the second pass"),
	LINK(hf_ack_in, "Acknowledged in frame", ".ack_in", FT_FRAMENUM_ACK,
	     "The first acknowledgement of this; known in the second pass"),
	LINK(hf_acks, "Acknowledges frame", ".acks", FT_FRAMENUM_ACK, "The newest packet that this acknowledges"),
	FLAG(hf_again, "Retransmission", ".retransmission", "Sent again by its sender"),
	LINK(hf_again_of, "Retransmission of frame", ".retransmission_of", FT_FRAMENUM_RETRANS_PREV,
	     "Where this packet was seen first"),
	LINK(hf_again_in, "Sent again in frame", ".repeated_in", FT_FRAMENUM_RETRANS_NEXT,
	     "The next frame with this packet; known in the second pass"),
	NUMBER(hf_transmission, "Transmission number", ".transmission", "How often it was sent up to here"),
	TIME(hf_since_first, "Time since the first transmission", ".since_first", NULL),
	WORDS(hf_cause, "Sent again because of", ".cause", "What made the sender send it again"),
	LINK(hf_cause_in, "Cause in frame", ".cause_in", FT_FRAMENUM_NONE, "What made the sender send it again"),
	TIME(hf_rnr_wait, "Waited after the RNR NAK", ".rnr_wait", "From the RNR NAK to this retransmission"),
	FLAG(hf_duplicate, "Duplicate", ".duplicate", "Its responder had executed it already"),
	FLAG(hf_copy, "Copied by the network", ".network_duplicate",
	     "The very bytes of a packet before, IP ID included"),
	FLAG(hf_gap, "Gap before", ".gap", "Packets are missing before this one"),
	NUMBER(hf_lost, "Packets missing before", ".lost_before", "At least so many"),
	FLAG(hf_late, "Out of order", ".out_of_order", "Seen for the first time, behind packets with later PSNs"),
	FLAG(hf_dup_ack, "Duplicate acknowledgement", ".duplicate_ack", "Acknowledges nothing new"),
	FLAG(hf_ghost_ack, "Ghost acknowledgement", ".ghost_ack", "Acknowledges less than one before it"),
	FLAG(hf_coalesced, "Coalesced acknowledgement", ".coalesced", "Acknowledges more than one packet"),
	FIELD(hf_nak, "Refused", ".nak", FT_UINT8, BASE_DEC, VALS(nak_vals), "NAK code"),
	FLAG(hf_implied, "Implied NAK", ".implied_nak", "Tells that an earlier READ or atomic was not answered"),
	FLAG(hf_unasked, "Request not seen", ".unasked", "Answers something that is not in the capture"),
	TIME(hf_rtt, "Round-trip time", ".rtt", "From the request to this answer"),
	NUMBER(hf_credits, "Credits", ".credits", "Messages that the receiver can take now"),
	NUMBER(hf_outstanding, "Outstanding", ".outstanding",
	       "PSNs that are sent and not acknowledged, those of this packet included"),
	NUMBER(hf_wasted, "Bytes wasted", ".wasted", "Payload that was there before"),
	FLAG(hf_inferred, "Direction inferred", ".inferred",
	     "Which direction answers which is concluded, not seen in a CM exchange"),
	WORDS(hf_rule, "Broken rule", ".rule", "Its id, as in vs-pcap check --list"),
	WORDS(hf_level, "Level", ".level", "must, should, or note: legal and worth knowing"),
	WORDS(hf_clause, "Clause", ".clause", "Of the InfiniBand specification"),
	WORDS(hf_reason, "Because", ".reason", "In a sentence"),
	LINK(hf_shown_by, "See also frame", ".shown_by", FT_FRAMENUM_NONE, "A second frame that shows it"),
};

/* ---- all of it ---- */

void rdma_analysis_show(struct rdma_ctx *c)
{
	const struct vs_mon_result *r = &c->analysis.r;
	proto_tree *t = NULL;
	proto_item *ti;

	if (!c->analysed)
		return;
	if (rdma_wanted(c->tree, hf, G_N_ELEMENTS(hf))) {
		ti = proto_tree_add_item(c->tree, hf_analysis, c->tvb, 0, 0, ENC_NA);
		proto_item_set_generated(ti);
		t = proto_item_add_subtree(ti, ett_analysis);
		add_place(c, t);
		add_links(c, t);
	}
	show_marks(c, t);
	if (t != NULL && (r->original != 0 || r->cause != VS_MON_CAUSE_NONE || (r->flags & VS_MON_WASTED)))
		add_repeat(c, t);
	for (unsigned i = 0; i < r->rules && i < VS_MON_RULES; i++)
		rdma_analysis_expert_rule(c, t != NULL ? add_rule(c, t, i) : NULL, i);
}

void rdma_analysis_show_register(int proto)
{
	int *const ett[] = {&ett_analysis, &ett_rule};

	proto_register_field_array(proto, hf, G_N_ELEMENTS(hf));
	rdma_subtrees_register(ett, G_N_ELEMENTS(ett));
	rdma_analysis_mark_register(proto);
}
