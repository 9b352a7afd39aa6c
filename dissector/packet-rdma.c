/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * packet-rdma.c - the protocol: entry points, the order of work, hand-off, tap.
 *
 * One packet goes through: find its IP header (crc.c), parse it with the wire library, check the
 * CRCs, set addresses and columns, analyse it (analysis.c), show it (headers.c, here, crc.c, expert.c), tap it, hand
 * its payload on (mad.c, ulp.c, or ipv6 and the ethertype table for raw packets over native IB). Without a tree nothing
 * is built for one; CRCs and expert items are worked out all the same.
 */
#include "rdma.h"

#define NO_QP 0xffffffffu /* no QP number is that large: "unknown", as the built-in says it */
#define INFO_LEN 256
#define SAID_KEY 1 /* of the frame's data: the notes in its Info column */

int proto_rdma = -1;

static int hf_payload, hf_payload_len, hf_pad, hf_cnp, hf_truncated, hf_quoted, hf_trailer, hf_raw, hf_src_qp;
static int hf_segments, hf_segment;
static int ett_rdma, ett_segment;
static expert_field ei_offload, ei_cut;

static rdma_pref_bool dc_opcodes = FALSE;

static dissector_handle_t ipv6_handle;
static dissector_table_t ethertype_table;

static hf_register_info hf[] = {
	{&hf_payload, {"Payload", "rdma.payload", FT_BYTES, BASE_NONE, NULL, 0, NULL, HFILL}},
	{&hf_payload_len,
	 {"Payload Length", "rdma.payload.len", FT_UINT32, BASE_DEC, NULL, 0,
	  "Bytes of payload on the wire, without pad", HFILL}},
	{&hf_pad, {"Pad", "rdma.pad", FT_BYTES, BASE_NONE, NULL, 0, NULL, HFILL}},
	{&hf_cnp,
	 {"Congestion Notification Packet (reserved bytes)", "rdma.cnp", FT_BYTES, BASE_NONE, NULL, 0,
	  "The sender of this flow is asked to slow down", HFILL}},
	{&hf_truncated,
	 {"Truncated capture", "rdma.truncated", FT_BOOLEAN, BASE_NONE, NULL, 0,
	  "The capture holds fewer bytes of this packet than were on the wire", HFILL}},
	{&hf_quoted,
	 {"Quoted by ICMP", "rdma.quoted", FT_BOOLEAN, BASE_NONE, NULL, 0,
	  "An ICMP error quotes this packet: it was sent earlier, and is no traffic here", HFILL}},
	{&hf_trailer,
	 {"Trailer", "rdma.trailer", FT_BYTES, BASE_NONE, NULL, 0, "Bytes after the packet proper", HFILL}},
	{&hf_raw, {"Bytes", "rdma.raw", FT_BYTES, BASE_NONE, NULL, 0, "What there is of a header", HFILL}},
	{&hf_src_qp,
	 {"Source QP (from the connection's set-up)", "rdma.src_qp", FT_UINT24, BASE_HEX, NULL, 0, NULL, HFILL}},
	{&hf_segments,
	 {"Segmentation-offload segments", "rdma.offload.segments", FT_UINT32, BASE_DEC, NULL, 0,
	  "Packets that this one datagram was captured as", HFILL}},
	{&hf_segment, {"Segment", "rdma.offload.segment", FT_NONE, BASE_NONE, NULL, 0, NULL, HFILL}},
};

static const char *const protocol_names[] = {
	[RDMA_START_LRH] = "InfiniBand",
	[RDMA_START_GRH] = "RoCE",
	[RDMA_START_BTH] = "RRoCE",
};

/* ---- parsing ---- */

static bool marked_ce(const struct vs_pkt *p)
{
	return (p->encap == VS_ENCAP_ROCEV2_IPV4 && (p->ipv4.tos & 3) == 3) ||
	       (p->encap == VS_ENCAP_ROCEV2_IPV6 && (p->grh.tclass & 3) == 3);
}

/* Offsets from the start of our tvb instead of the start of the IP header. */
static void rebase(struct vs_pkt *p, uint32_t base)
{
	p->net_off = 0;
	p->bth_off -= MIN(base, p->bth_off);
	p->payload_off -= MIN(base, p->payload_off);
	p->end_off -= MIN(base, p->end_off);
}

/* Payload bytes that were on the wire, also those that the capture doesn't hold. */
static uint32_t wire_payload_len(const struct vs_pkt *p)
{
	if ((p->flags & VS_PKT_SNAPPED) && (p->flags & VS_PKT_HDR_MISSING))
		return 0; /* what there is belongs to a header */
	return p->payload_len + p->payload_missing_len;
}

static unsigned parse_opt(const struct rdma_ctx *c)
{
	return (c->dc ? VS_PARSE_DC : 0) |
	       (c->pinfo->fragmented || c->cut == RDMA_CUT_FRAGMENT ? VS_PARSE_FRAGMENT : 0);
}

/* Parses the bytes from the first of ours on, and checks what can be checked of a single packet. */
static int parse_bare(struct rdma_ctx *c, uint32_t cap, uint32_t wire)
{
	static const enum vs_link link[] = {
		[RDMA_START_LRH] = VS_LINK_IB,
		[RDMA_START_GRH] = VS_LINK_GRH,
		[RDMA_START_BTH] = VS_LINK_BTH,
	};

	return vs_pkt_parse(&c->pkt, link[c->start], 0, tvb_get_ptr(c->tvb, 0, (int)cap), cap, wire, parse_opt(c));
}

/* The same from the IP header on, so that its fields, its faults and the ICRC come along. */
static int parse_with_net(struct rdma_ctx *c, const struct rdma_net *net, uint32_t cap, uint32_t wire)
{
	const uint8_t *udp_len = net->ip + net->len - 4;

	if (c->cut == RDMA_CUT_QUOTED)
		wire = MAX(wire + 8, (uint32_t)(udp_len[0] << 8 | udp_len[1])) - 8;
	return vs_pkt_parse(&c->pkt, VS_LINK_IP, 0, net->ip, net->len + cap, net->len + wire,
			    VS_PARSE_ANY_PORT | parse_opt(c));
}

/* Parses a packet that had `wire` bytes from our first one on, and checks its CRCs. *base: where that one is. */
static int parse_as(struct rdma_ctx *c, const struct rdma_net *net, uint32_t wire, uint32_t *base)
{
	uint32_t cap = tvb_captured_length(c->tvb);
	const uint8_t *buf = net->ip;
	int err = VS_ERR_NOT_RDMA;

	*base = (uint32_t)net->len;
	if (net->ip != NULL)
		err = parse_with_net(c, net, cap, wire);
	if (err == VS_ERR_NOT_RDMA) {
		err = parse_bare(c, cap, wire);
		buf = tvb_get_ptr(c->tvb, 0, (int)cap);
		*base = 0;
	}
	if (c->cut == RDMA_CUT_NOT && (c->pinfo->fragmented || (c->pkt.flags & VS_PKT_FRAGMENT)))
		c->cut = RDMA_CUT_FRAGMENT;
	if (err == VS_OK)
		rdma_crc_check(c, buf, net);
	return err;
}

/* RoCEv1 whose GRH announces something else, and whose ICRC doesn't say otherwise: no BTH follows. */
static void forget_bth(struct rdma_ctx *c)
{
	struct vs_pkt *p = &c->pkt;

	p->flags &= ~(uint32_t)(VS_PKT_HAS_BTH | VS_PKT_HAS_ICRC | VS_PKT_HDR_MISSING);
	p->hdrs = 0;
	p->payload -= p->payload_off - p->bth_off;
	p->payload_off = p->bth_off;
	p->payload_len = p->end_off - p->payload_off;
	p->pad_len = 0;
	c->icrc.status = VS_CRC_UNVERIFIED;
}

static int parse(struct rdma_ctx *c, struct rdma_net *net)
{
	uint32_t wire = tvb_reported_length(c->tvb), base;
	int err;

	memset(net, 0, sizeof(*net));
	if (c->pinfo->flags.in_error_pkt)
		c->cut = RDMA_CUT_QUOTED;
	if (c->start == RDMA_START_BTH)
		rdma_net_find(c->tvb, c->pinfo, net);
	err = parse_as(c, net, wire, &base);
	if (c->cut == RDMA_CUT_NOT && (err == VS_ERR_SHORT || (err == VS_OK && c->icrc.status != VS_CRC_GOOD))) {
		c->cut = rdma_net_cut(c, net, &wire);
		if (c->cut != RDMA_CUT_NOT)
			err = parse_as(c, net, wire, &base);
	}
	if (err != VS_OK)
		return err;
	if (c->start == RDMA_START_GRH && c->pkt.grh.nxthdr != VS_GRH_NXTHDR_IBA && c->icrc.status != VS_CRC_GOOD)
		forget_bth(c);
	if (c->cut != RDMA_CUT_QUOTED)
		c->reason_count = (uint32_t)vs_pkt_validate(&c->pkt, VS_CRC_UNVERIFIED, VS_CRC_UNVERIFIED, c->reasons,
							    G_N_ELEMENTS(c->reasons));
	c->ce = marked_ce(&c->pkt);
	rebase(&c->pkt, base);
	c->payload_len = wire_payload_len(&c->pkt);
	return VS_OK;
}

/* ---- addresses ---- */

static void set_lid(packet_info *pinfo, address *a, uint16_t lid)
{
	uint16_t *value = wmem_new(pinfo->pool, uint16_t);

	*value = lid;
	set_address(a, AT_IB, (int)sizeof(*value), value);
}

static void set_ports(struct rdma_ctx *c)
{
	if (c->cut == RDMA_CUT_QUOTED)
		return;
	c->pinfo->ptype = PT_IBQP;
	c->pinfo->destport = c->pkt.bth.destqp;
	c->pinfo->srcport = c->src_qp_known ? c->src_qp : NO_QP;
}

/* Of the GRH that begins at `grh`. */
static void set_gids(struct rdma_ctx *c, int grh)
{
	set_address_tvb(&c->pinfo->src, AT_IB, 16, c->tvb, grh + 8);
	set_address_tvb(&c->pinfo->dst, AT_IB, 16, c->tvb, grh + 24);
}

static void set_addresses(struct rdma_ctx *c)
{
	packet_info *pinfo = c->pinfo;
	const struct vs_pkt *p = &c->pkt;

	if (p->encap == VS_ENCAP_IB_GRH || p->encap == VS_ENCAP_ROCEV1) {
		set_gids(c, c->start == RDMA_START_LRH ? 8 : 0);
	} else if (c->start == RDMA_START_LRH) {
		set_lid(pinfo, &pinfo->src, p->lrh.slid);
		set_lid(pinfo, &pinfo->dst, p->lrh.dlid);
	}
	if (!(p->flags & VS_PKT_HAS_BTH))
		return;
	if (p->hdrs & VS_HDR_DETH) {
		c->src_qp = p->ext.deth.srcqp;
		c->src_qp_known = true;
	} else {
		c->src_qp_known = rdma_ulp_src_qp(pinfo, p->bth.destqp, &c->src_qp);
	}
	set_ports(c);
}

/* ---- showing ---- */

static void set_columns(struct rdma_ctx *c, char info[INFO_LEN])
{
	column_info *cinfo = c->pinfo->cinfo;
	bool wanted = col_get_writable(cinfo, COL_INFO);

	info[0] = '\0';
	if (wanted || (c->top_tree != NULL && PTREE_DATA(c->top_tree)->visible))
		rdma_info_format(c, info, INFO_LEN);
	if (cinfo == NULL)
		return;
	col_set_str(cinfo, COL_PROTOCOL, protocol_names[c->start]);
	col_clear(cinfo, COL_INFO);
	col_add_str(cinfo, COL_INFO, info);
}

/* What the analysis says of `c`: for the Info column of the frame, and the root of the tree. */
static void add_tag(struct rdma_ctx *c, struct rdma_ctx *whole)
{
	char tag[INFO_LEN];

	if (!c->analysed || (!col_get_writable(c->pinfo->cinfo, COL_INFO) && c->tree == NULL))
		return;
	rdma_analysis_tag(c, tag, sizeof(tag));
	if (tag[0] == '\0')
		return;
	if (c->item != NULL)
		proto_item_append_text(c->item, "%s", tag);
	if (whole->tags++ > 0)
		return;
	whole->tag = c == whole ? wmem_strdup(c->pinfo->pool, tag)
				: wmem_strdup_printf(c->pinfo->pool, " segment %u:%s", c->segment, tag);
}

/* Of several segments the first speaks. */
static void append_tag(const struct rdma_ctx *c)
{
	if (c->tag == NULL)
		return;
	col_append_str(c->pinfo->cinfo, COL_INFO, c->tag);
	if (c->tags > 1)
		col_append_fstr(c->pinfo->cinfo, COL_INFO, " and %u more", c->tags - 1);
}

/*
 * After the hand-off: upper layers write the column anew, and these must not be lost. Each once in a frame, however
 * many layers of ours it has.
 */
static void add_notes(struct rdma_ctx *c)
{
	char notes[INFO_LEN];
	uint32_t *said;

	if (!col_get_writable(c->pinfo->cinfo, COL_INFO))
		return;
	append_tag(c);
	if (rdma_info_notes(c, 0, notes, sizeof(notes)) == 0)
		return;
	said = p_get_proto_data(c->pinfo->pool, c->pinfo, proto_rdma, SAID_KEY);
	if (said == NULL) {
		said = wmem_new0(c->pinfo->pool, uint32_t);
		p_add_proto_data(c->pinfo->pool, c->pinfo, proto_rdma, SAID_KEY, said);
	}
	*said |= rdma_info_notes(c, *said, notes, sizeof(notes));
	col_append_str(c->pinfo->cinfo, COL_INFO, notes);
}

static void begin_tree(struct rdma_ctx *c, int len, const char *info)
{
	if (c->top_tree == NULL)
		return;
	/* Cheaper than proto_tree_add_protocol_format, which makes the text a value too. */
	c->item = proto_tree_add_item(c->top_tree, proto_rdma, c->tvb, 0, len, ENC_NA);
	proto_item_set_text(c->item, "%s, %s", protocol_names[c->start], info);
	c->tree = proto_item_add_subtree(c->item, ett_rdma);
	if (c->cut == RDMA_CUT_QUOTED) {
		proto_item_append_text(c->item, " [%s]", rdma_info_cut(c));
		proto_item_set_generated(proto_tree_add_boolean(c->tree, hf_quoted, c->tvb, 0, 0, TRUE));
	}
}

/* By the capture, and by nobody else. */
static bool is_truncated(const struct rdma_ctx *c)
{
	return (c->pkt.flags & VS_PKT_SNAPPED) && c->cut != RDMA_CUT_QUOTED && c->cut != RDMA_CUT_BEFORE;
}

static void add_payload(struct rdma_ctx *c)
{
	const struct vs_pkt *p = &c->pkt;
	int off = (int)p->payload_off;
	proto_item *ti;

	if (!rdma_wanted(c->tree, hf, G_N_ELEMENTS(hf)))
		return;
	if (is_truncated(c))
		proto_item_set_generated(proto_tree_add_boolean(c->tree, hf_truncated, c->tvb, 0, 0, TRUE));
	if (c->src_qp_known && !(p->hdrs & VS_HDR_DETH))
		proto_item_set_generated(proto_tree_add_uint(c->tree, hf_src_qp, c->tvb, 0, 0, c->src_qp));
	if (p->bth.opcode == VS_OP_CNP && (p->flags & VS_PKT_HAS_BTH)) {
		c->at[RDMA_AT_PAYLOAD] = proto_tree_add_item(c->tree, hf_cnp, c->tvb, off, (int)p->payload_len, ENC_NA);
		return;
	}
	if (p->flags & VS_PKT_HDR_MISSING) {
		/* Left over from a header that is not whole. */
		if (p->payload_len > 0)
			proto_tree_add_item(c->tree, hf_raw, c->tvb, off, (int)p->payload_len, ENC_NA);
		return;
	}
	if (p->payload_len > 0)
		c->at[RDMA_AT_PAYLOAD] =
			proto_tree_add_item(c->tree, hf_payload, c->tvb, off, (int)p->payload_len, ENC_NA);
	if (c->payload_len > 0 || vs_opcodes[p->bth.opcode].payload > VS_PAYLOAD_NONE) {
		ti = proto_tree_add_uint(c->tree, hf_payload_len, c->tvb, off, 0, c->payload_len);
		proto_item_set_generated(ti);
	}
	if (p->pad_len > 0)
		c->at[RDMA_AT_PAD] =
			proto_tree_add_item(c->tree, hf_pad, c->tvb, off + (int)p->payload_len, p->pad_len, ENC_NA);
}

static void add_trailer(struct rdma_ctx *c)
{
	const struct vs_pkt *p = &c->pkt;
	int cap = (int)tvb_captured_length(c->tvb);

	if (c->tree != NULL && p->trailer_len > 0 && (int)p->trailer_len <= cap)
		proto_tree_add_item(c->tree, hf_trailer, c->tvb, cap - (int)p->trailer_len, (int)p->trailer_len,
				    ENC_NA);
}

static void raise_reasons(struct rdma_ctx *c)
{
	for (uint32_t i = 0; i < MIN(c->reason_count, G_N_ELEMENTS(c->reasons)); i++)
		rdma_expert_at(c, c->reasons[i]);
}

/* ---- tap and hand-off ---- */

static void tap(struct rdma_ctx *c, uint32_t frame_len)
{
	const struct vs_pkt *p = &c->pkt;
	struct rdma_tap *t;

	if (!(p->flags & VS_PKT_HAS_BTH) || c->cut == RDMA_CUT_QUOTED || !have_tap_listener(rdma_tap_id))
		return;
	t = wmem_new0(c->pinfo->pool, struct rdma_tap);
	t->opcode = p->bth.opcode;
	t->has_aeth = (p->hdrs & VS_HDR_AETH) != 0;
	t->aeth_syndrome = p->ext.aeth.syndrome;
	t->src_qp_known = c->src_qp_known;
	t->dc = c->dc;
	t->src_qp = c->src_qp;
	t->dest_qp = p->bth.destqp;
	t->psn = p->bth.psn;
	t->payload_len = c->payload_len;
	t->payload = p->payload;
	t->payload_cap = MIN(p->payload_len, c->payload_len);
	t->frame_len = frame_len;
	copy_address_shallow(&t->src, &c->pinfo->src);
	copy_address_shallow(&t->dst, &c->pinfo->dst);
	if (c->analysed)
		t->analysis = wmem_memdup(c->pinfo->pool, &c->analysis, sizeof(c->analysis));
	tap_queue_packet(rdma_tap_id, c->pinfo, t);
}

static bool is_mad(const struct vs_pkt *p)
{
	return p->bth.opcode >> 5 == VS_TRANSPORT_UD && (p->hdrs & VS_HDR_DETH) &&
	       (p->bth.destqp <= VS_QPN_GSI || p->ext.deth.srcqp <= VS_QPN_GSI);
}

static void hand_on_raw(struct rdma_ctx *c, tvbuff_t *next)
{
	const struct vs_pkt *p = &c->pkt;

	if (p->encap == VS_ENCAP_IB_RAW && p->lrh.lnh == VS_LNH_IPV6 &&
	    (p->payload_len == 0 || p->payload[0] >> 4 == 6)) {
		call_dissector(ipv6_handle, next, c->pinfo, c->top_tree);
		return;
	}
	if (!(p->flags & VS_PKT_HAS_RWH) ||
	    !dissector_try_uint(ethertype_table, p->rwh.etype, next, c->pinfo, c->top_tree))
		call_data_dissector(next, c->pinfo, c->top_tree);
}

tvbuff_t *rdma_payload_tvb(const struct rdma_ctx *c)
{
	return tvb_new_subset_length_caplen(c->tvb, (int)c->pkt.payload_off, (int)c->pkt.payload_len,
					    (int)c->payload_len);
}

static void hand_on(struct rdma_ctx *c)
{
	const struct vs_pkt *p = &c->pkt;

	if (c->cut != RDMA_CUT_NOT || (p->flags & VS_PKT_HDR_MISSING))
		return;
	/* Upper layers match READ responses with their requests; IP says itself what the capture cut off. */
	if (p->payload_len == 0 && p->bth.opcode != VS_OP_RC_READ_REQUEST &&
	    ((p->flags & VS_PKT_HAS_BTH) || c->payload_len == 0))
		return;
	if (!(p->flags & VS_PKT_HAS_BTH))
		hand_on_raw(c, rdma_payload_tvb(c));
	else if (is_mad(p))
		rdma_mad_dissect(c, rdma_payload_tvb(c));
	else if (p->bth.opcode != VS_OP_CNP && vs_opcodes[p->bth.opcode].name != NULL)
		rdma_ulp_dissect(c);
}

static void show(struct rdma_ctx *c)
{
	rdma_headers_add(c);
	rdma_stats_add_endpoints(c);
	if (c->segments == 0) {
		add_payload(c);
		rdma_crc_add(c);
		add_trailer(c);
	}
	raise_reasons(c);
	if (c->cut == RDMA_CUT_BEFORE)
		expert_add_info(c->pinfo, c->item, &ei_cut);
	rdma_analysis_show(c);
}

/* ---- super-packets ---- */

/* Number `k`: `len` bytes at `off`. `all` is the datagram as if it were one packet. */
static void dissect_segment(struct rdma_ctx *whole, const struct rdma_net *net, const struct vs_pkt *all, uint32_t k,
			    uint32_t off, uint32_t len)
{
	const uint32_t cap = MIN(tvb_captured_length(whole->tvb) - off, len);
	const uint32_t wire = MIN(tvb_reported_length(whole->tvb) - off, len);
	struct rdma_ctx c = {.pinfo = whole->pinfo,
			     .top_tree = whole->top_tree,
			     .start = RDMA_START_BTH,
			     .dc = whole->dc,
			     .layer = whole->layer,
			     .segment = k + 1};
	char info[INFO_LEN] = "";
	struct vs_pkt sent;

	c.tvb = tvb_new_subset_length_caplen(whole->tvb, (int)off, (int)cap, (int)wire);
	if (parse_bare(&c, cap, wire) != VS_OK) {
		if (whole->tree != NULL)
			proto_tree_add_item(whole->tree, hf_raw, c.tvb, 0, -1, ENC_NA);
		return;
	}
	c.payload_len = wire_payload_len(&c.pkt);
	c.src_qp_known = whole->src_qp_known;
	c.src_qp = whole->src_qp;
	if (whole->tree != NULL) {
		rdma_info_format(&c, info, sizeof(info));
		c.item = proto_tree_add_none_format(whole->tree, hf_segment, c.tvb, 0, (int)cap, "Segment %u: %s",
						    k + 1, info);
		c.tree = proto_item_add_subtree(c.item, ett_segment);
	}
	rdma_offload_check(&c, net, k);
	if (c.icrc.status == VS_CRC_BAD && whole->bad_segments++ == 0)
		whole->first_bad_segment = k + 1;
	c.reason_count = (uint32_t)vs_pkt_validate(&c.pkt, VS_CRC_UNVERIFIED, VS_CRC_UNVERIFIED, c.reasons,
						   G_N_ELEMENTS(c.reasons));
	if (rdma_offload_packet(whole->tvb, net, all, k, off, len, parse_opt(&c), &sent))
		rdma_analysis_packet(&c, &sent, true);
	show(&c);
	add_tag(&c, whole);
	tap(&c, (uint32_t)net->len + wire);
	hand_on(&c);
}

static void dissect_super_packet(struct rdma_ctx *c, const struct rdma_net *net, const struct vs_pkt *all,
				 uint32_t seg_len)
{
	const address src = c->pinfo->src, dst = c->pinfo->dst;
	uint32_t cap = tvb_captured_length(c->tvb), off = 0;
	proto_item *ti;

	ti = proto_tree_add_uint(c->tree, hf_segments, c->tvb, 0, 0, c->segments);
	proto_item_set_generated(ti);
	expert_add_info(c->pinfo, c->tree != NULL ? ti : NULL, &ei_offload);
	for (uint32_t k = 0; off < cap; k++, off += seg_len) {
		seg_len = rdma_offload_next(c->tvb, off, seg_len);
		dissect_segment(c, net, all, k, off, seg_len);
		/* What an upper layer put there in their place was for this segment alone. */
		c->pinfo->src = src;
		c->pinfo->dst = dst;
		set_ports(c);
	}
	if (cap < tvb_reported_length(c->tvb))
		c->pkt.flags |= VS_PKT_SNAPPED; /* whichever segment it hit */
}

/* ---- the whole ---- */

/* What the first bytes of a BTH at `off` say already. */
static void partial_bth(struct rdma_ctx *c, uint32_t off, char info[INFO_LEN])
{
	uint32_t cap = tvb_captured_length(c->tvb);
	const char *name;

	if (cap <= off)
		return;
	name = rdma_opcode_name(rdma_tvb_u8(c->tvb, (int)off), c->dc);
	if (cap >= off + 8)
		snprintf(info, INFO_LEN, "%s  QP=0x%06x", name, tvb_get_ntoh24(c->tvb, (int)off + 5));
	else
		snprintf(info, INFO_LEN, "%s", name);
}

/* Not even a BTH (or LRH): say so, show the bytes. */
static void dissect_short(struct rdma_ctx *c)
{
	uint32_t cap = tvb_captured_length(c->tvb), bth = c->start == RDMA_START_GRH ? 40 : 0;
	const char *cut = rdma_info_cut(c);
	char what[INFO_LEN] = "Packet";
	proto_item *ti = NULL;

	if (c->start != RDMA_START_LRH)
		partial_bth(c, bth, what);
	col_set_str(c->pinfo->cinfo, COL_PROTOCOL, protocol_names[c->start]);
	col_add_fstr(c->pinfo->cinfo, COL_INFO, "%s [%s]", what, cut != NULL ? cut : "packet too short");
	begin_tree(c, -1, what);
	c->pkt.flags &= ~(uint32_t)VS_PKT_HAS_BTH;
	if (c->start == RDMA_START_GRH && cap >= 40) {
		set_gids(c, 0);
		rdma_headers_add(c);
	} else {
		bth = 0;
	}
	if (c->tree != NULL && cap > bth)
		ti = proto_tree_add_item(c->tree, hf_raw, c->tvb, (int)bth, -1, ENC_NA);
	if (is_truncated(c))
		proto_item_set_generated(proto_tree_add_boolean(c->tree, hf_truncated, c->tvb, 0, 0, TRUE));
	else if (c->cut == RDMA_CUT_BEFORE)
		expert_add_info(c->pinfo, c->item, &ei_cut);
	else if (cut == NULL)
		rdma_expert_reason(c, ti, VS_REASON_PKT_SHORT);
}

static int dissect(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, enum rdma_start start)
{
	struct rdma_ctx c = {.tvb = tvb,
			     .pinfo = pinfo,
			     .top_tree = tree,
			     .start = start,
			     .dc = dc_opcodes,
			     .layer = pinfo->curr_proto_layer_num};
	uint32_t seg_len = 0;
	struct rdma_net net;
	struct vs_pkt all;
	char info[INFO_LEN];
	int err = tvb_captured_length(tvb) > 0 ? parse(&c, &net) : VS_ERR_NOT_RDMA;

	if (err == VS_ERR_SHORT)
		dissect_short(&c);
	if (err != VS_OK)
		return err == VS_ERR_SHORT ? (int)tvb_captured_length(tvb) : 0;
	/* What Ethernet padded is not ours: the Ethernet dissector shows it. */
	if (start == RDMA_START_GRH && !(c.pkt.flags & VS_PKT_SNAPPED) && c.pkt.end_off < tvb_reported_length(tvb)) {
		set_actual_length(tvb, c.pkt.end_off);
		c.pkt.trailer_len = 0;
	}
	seg_len = rdma_offload_segment_len(&c, &net);
	if (seg_len != 0) {
		all = c.pkt;
		c.segments = rdma_offload_count(tvb, seg_len);
		c.icrc = (struct rdma_crc){.status = VS_CRC_UNVERIFIED, .reason = "segmentation-offload super-packet"};
		c.reason_count = 0; /* each segment is judged on its own; the first speaks for all in the Info column */
		parse_bare(&c, MIN(tvb_captured_length(tvb), seg_len), MIN(tvb_reported_length(tvb), seg_len));
		c.payload_len = wire_payload_len(&c.pkt);
	}
	set_addresses(&c);
	set_columns(&c, info);
	begin_tree(&c, -1, info);
	if (seg_len != 0) {
		dissect_super_packet(&c, &net, &all, seg_len);
	} else {
		rdma_analysis_packet(&c, &c.pkt, net.lengths_zero);
		show(&c);
		add_tag(&c, &c);
		tap(&c, pinfo->fd->pkt_len);
		hand_on(&c);
	}
	add_notes(&c);
	return (int)tvb_captured_length(tvb);
}

static int dissect_lrh(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data _U_)
{
	return dissect(tvb, pinfo, tree, RDMA_START_LRH);
}

static int dissect_grh(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data _U_)
{
	return dissect(tvb, pinfo, tree, RDMA_START_GRH);
}

/*
 * Our port is also somebody's ephemeral port now and then. `sport` is lower than it and has a
 * dissector: take the packet from that one only when it looks like ours.
 */
static bool looks_like_roce(tvbuff_t *tvb)
{
	uint8_t opcode;

	if (tvb_captured_length(tvb) < 12)
		return false;
	opcode = rdma_tvb_u8(tvb, 0);
	return tvb_reported_length(tvb) % 4 == 0 && vs_opcodes[opcode].name != NULL &&
	       (rdma_tvb_u8(tvb, 1) & 0x0f) == 0 &&
	       tvb_reported_length(tvb) >= 12 + 4 + vs_hdrs_size(vs_opcodes[opcode].hdrs);
}

/* Whether a datagram that the UDP port table gave us is for us. */
static bool udp_is_ours(tvbuff_t *tvb, const packet_info *pinfo)
{
	if (pinfo->ptype != PT_UDP || !rdma_takeover_has_port(pinfo->match_uint))
		return true; /* Decode As put us here */
	if (pinfo->destport != pinfo->match_uint)
		return false; /* RoCEv2 goes to the port, never from it to another */
	if (rdma_takeover_is_users_port(pinfo->srcport))
		return false; /* the user has said what the other port is */
	return pinfo->srcport >= pinfo->destport || !rdma_takeover_has_owner(pinfo->srcport) || looks_like_roce(tvb);
}

static int dissect_bth(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data _U_)
{
	return udp_is_ours(tvb, pinfo) ? dissect(tvb, pinfo, tree, RDMA_START_BTH) : 0;
}

/* ---- registration ---- */

static void register_fields(void)
{
	static ei_register_info ei[] = {
		{&ei_offload,
		 {"rdma.offload", PI_ASSUMPTION, PI_NOTE,
		  "Segmentation-offload super-packet: several packets, captured before they were separated", EXPFILL}},
		{&ei_cut,
		 {"rdma.cut_short", PI_UNDECODED, PI_NOTE,
		  "The headers promise more bytes than there are: cut before it was captured (a mirror port?), or "
		  "wrong",
		  EXPFILL}},
	};
	int *const ett[] = {&ett_rdma, &ett_segment};

	proto_register_field_array(proto_rdma, hf, G_N_ELEMENTS(hf));
	rdma_subtrees_register(ett, G_N_ELEMENTS(ett));
	expert_register_field_array(expert_register_protocol(proto_rdma), ei, G_N_ELEMENTS(ei));
}

void rdma_register(void)
{
	module_t *module;

	proto_rdma = proto_register_protocol("RDMA (InfiniBand and RoCE, Verbscope)", "RDMA", "rdma");
	module = prefs_register_protocol(proto_rdma, rdma_takeover_apply);
	rdma_takeover_register(module);
	prefs_register_bool_preference(
		module, "dc", "Decode opcodes 0x40 to 0x5f as Mellanox DC",
		"These opcodes are Reliable Datagram (RD) by the specification, which nobody has "
		"built; Mellanox uses them for its Dynamically Connected transport.",
		&dc_opcodes);
	register_fields();
	rdma_headers_register(proto_rdma);
	rdma_crc_register(proto_rdma, module);
	rdma_expert_register(proto_rdma);
	rdma_mad_register(proto_rdma);
	rdma_ulp_register(proto_rdma);
	rdma_stats_register(proto_rdma);
	rdma_stats_flows_register();
	rdma_follow_register();
	rdma_analysis_register(module);
	rdma_analysis_show_register(proto_rdma);
}

void rdma_handoff(void)
{
	ipv6_handle = find_dissector_add_dependency("ipv6", proto_rdma);
	ethertype_table = find_dissector_table("ethertype");
	rdma_takeover_handoff(dissect_lrh, dissect_grh, dissect_bth);
	rdma_mad_handoff();
	rdma_ulp_handoff();
	rdma_analysis_handoff();
}
