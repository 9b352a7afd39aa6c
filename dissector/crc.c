/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * crc.c - ICRC and VCRC: Good, Bad, or Unverified and why.
 *
 * The shown value is the four bytes in wire order, as other tools print them; the CRC-32 itself
 * goes out least significant byte first.
 */
#include "rdma.h"

static const char why_snapped[] = "truncated capture";
static const char why_fragment[] = "IP fragment: the rest of the packet is in other frames";
static const char why_quoted[] = "quoted in an ICMP error: cut, or changed on its way";
static const char why_cut[] = "cut before it was captured: its headers promise more bytes than there are";
static const char why_lengths[] = "IP or UDP length is 0, left to the sending hardware";
static const char why_off[] = "turned off by preference";
static const char why_short[] = "too short to hold one";

static rdma_pref_bool check_icrc = TRUE, check_vcrc = TRUE;

static int hf_icrc, hf_icrc_status, hf_icrc_reason, hf_vcrc, hf_vcrc_status, hf_vcrc_reason;

static uint32_t be16(const uint8_t *b)
{
	return (uint32_t)b[0] << 8 | b[1];
}

/* ---- checking ---- */

static const char *why_unverified(const struct rdma_ctx *c, const struct rdma_net *net)
{
	const struct vs_pkt *p = &c->pkt;

	if (c->cut == RDMA_CUT_QUOTED)
		return why_quoted;
	if (c->cut == RDMA_CUT_FRAGMENT)
		return why_fragment;
	if (c->cut == RDMA_CUT_BEFORE)
		return why_cut;
	if (p->flags & VS_PKT_SNAPPED)
		return why_snapped;
	if (c->start == RDMA_START_BTH && net->ip == NULL)
		return net->reason;
	if (c->start == RDMA_START_BTH && net->lengths_zero)
		return why_lengths;
	return why_short;
}

/* Offload left the lengths 0: does the ICRC fit the packet with its real lengths? */
static enum vs_crc_status check_relengthed(const struct rdma_ctx *c, const uint8_t *bth, const struct rdma_net *net,
					   uint32_t *expected)
{
	const struct vs_pkt *p = &c->pkt;
	uint16_t id = net->encap == VS_ENCAP_ROCEV2_IPV4 ? (uint16_t)be16(net->ip + 4) : 0;

	if (!(p->flags & VS_PKT_HAS_ICRC) ||
	    !vs_icrc_segment(net->encap, net->ip, net->len, id, bth, p->end_off - p->bth_off, expected))
		return VS_CRC_UNVERIFIED;
	/* A mismatch proves nothing here: who knows what the sender put there. */
	return *expected == p->icrc ? VS_CRC_GOOD : VS_CRC_UNVERIFIED;
}

void rdma_crc_check(struct rdma_ctx *c, const uint8_t *buf, const struct rdma_net *net)
{
	uint16_t vcrc = 0;

	c->icrc = (struct rdma_crc){.status = VS_CRC_UNVERIFIED};
	c->vcrc = (struct rdma_crc){.status = VS_CRC_UNVERIFIED};
	if (!check_icrc)
		c->icrc.reason = why_off;
	else if (net->ip != NULL && net->lengths_zero)
		c->icrc.status = check_relengthed(c, buf + c->pkt.bth_off, net, &c->icrc.expected);
	else
		c->icrc.status = vs_icrc_check(&c->pkt, buf, &c->icrc.expected);
	/* Who quotes may have changed it, and NAT does: a mismatch proves nothing about the wire. */
	if (c->cut == RDMA_CUT_QUOTED && c->icrc.status == VS_CRC_BAD)
		c->icrc.status = VS_CRC_UNVERIFIED;
	if (!check_vcrc)
		c->vcrc.reason = why_off;
	else if (c->start == RDMA_START_LRH)
		c->vcrc.status = vs_vcrc_check(&c->pkt, buf, &vcrc);
	c->vcrc.expected = vcrc;

	if (c->icrc.status == VS_CRC_UNVERIFIED && c->icrc.reason == NULL)
		c->icrc.reason = why_unverified(c, net);
	if (c->vcrc.status == VS_CRC_UNVERIFIED && c->vcrc.reason == NULL)
		c->vcrc.reason = c->pkt.flags & VS_PKT_SNAPPED ? why_snapped : why_short;
}

bool rdma_crc_icrc_wanted(void)
{
	return check_icrc;
}

/* ---- fields ---- */

static hf_register_info hf_crc[] = {
	{&hf_icrc, {"Invariant CRC", "rdma.icrc", FT_UINT32, BASE_HEX, NULL, 0, "Bytes as on the wire", HFILL}},
	{&hf_icrc_status,
	 {"Invariant CRC Status", "rdma.icrc.status", FT_UINT8, BASE_NONE, VALS(proto_checksum_vals), 0, NULL, HFILL}},
	{&hf_icrc_reason,
	 {"Invariant CRC unverified because", "rdma.icrc.unverified_reason", FT_STRING, BASE_NONE, NULL, 0, NULL,
	  HFILL}},
	{&hf_vcrc, {"Variant CRC", "rdma.vcrc", FT_UINT16, BASE_HEX, NULL, 0, "Bytes as on the wire", HFILL}},
	{&hf_vcrc_status,
	 {"Variant CRC Status", "rdma.vcrc.status", FT_UINT8, BASE_NONE, VALS(proto_checksum_vals), 0, NULL, HFILL}},
	{&hf_vcrc_reason,
	 {"Variant CRC unverified because", "rdma.vcrc.unverified_reason", FT_STRING, BASE_NONE, NULL, 0, NULL, HFILL}},
};

/* ---- showing ---- */

/* Its value and the status below it, which says enough: a verdict in the text of nearly every packet's CRC costs. */
static void add_good(struct rdma_ctx *c, int hf, int hf_status, int off, int len, uint32_t crc)
{
	proto_tree_add_uint(c->tree, hf, c->tvb, off, len, crc);
	proto_item_set_generated(proto_tree_add_uint(c->tree, hf_status, c->tvb, off, 0, PROTO_CHECKSUM_E_GOOD));
}

/*
 * The item, with its verdict when it isn't good, and the status below it; `expected` as the wire has it. The expert
 * item has no value in its text, so that statistics count bad CRCs in one row.
 */
static void add_crc(struct rdma_ctx *c, int hf, int hf_status, int off, const struct rdma_crc *crc, uint32_t expected,
		    enum vs_reason bad)
{
	unsigned flags = crc->status == VS_CRC_UNVERIFIED ? PROTO_CHECKSUM_NO_FLAGS : PROTO_CHECKSUM_VERIFY;
	proto_item *ti = NULL;

	if (c->tree != NULL && crc->status == VS_CRC_GOOD)
		add_good(c, hf, hf_status, off, hf == hf_icrc ? 4 : 2, expected);
	else if (c->tree != NULL)
		ti = proto_tree_add_checksum(c->tree, c->tvb, (unsigned)off, hf, hf_status, NULL, c->pinfo, expected,
					     ENC_BIG_ENDIAN, flags);
	if (crc->status == VS_CRC_BAD)
		rdma_expert_reason(c, ti, bad);
}

static void add_reason(struct rdma_ctx *c, int hf, int off, const struct rdma_crc *crc)
{
	if (crc->status == VS_CRC_UNVERIFIED && c->tree != NULL)
		proto_item_set_generated(proto_tree_add_string(c->tree, hf, c->tvb, off, 0, crc->reason));
}

/* A status without bytes: the packet should carry a CRC and the capture does not hold it. */
static void add_missing(struct rdma_ctx *c, int hf_status, int hf_reason, const struct rdma_crc *crc)
{
	int end = (int)tvb_captured_length(c->tvb);

	if (c->tree == NULL)
		return;
	proto_item_set_generated(proto_tree_add_uint(c->tree, hf_status, c->tvb, end, 0, PROTO_CHECKSUM_E_UNVERIFIED));
	add_reason(c, hf_reason, end, crc);
}

void rdma_crc_add(struct rdma_ctx *c)
{
	const struct vs_pkt *p = &c->pkt;
	int off = (int)p->end_off - 4;

	if (c->icrc.status != VS_CRC_BAD && c->vcrc.status != VS_CRC_BAD &&
	    !rdma_wanted(c->tree, hf_crc, G_N_ELEMENTS(hf_crc)))
		return;
	if (p->flags & VS_PKT_HAS_ICRC) {
		add_crc(c, hf_icrc, hf_icrc_status, off, &c->icrc, GUINT32_SWAP_LE_BE(c->icrc.expected),
			VS_REASON_ICRC_BAD);
		add_reason(c, hf_icrc_reason, off, &c->icrc);
	} else if (p->flags & VS_PKT_HAS_BTH) {
		add_missing(c, hf_icrc_status, hf_icrc_reason, &c->icrc);
	}
	if (p->flags & VS_PKT_HAS_VCRC) {
		add_crc(c, hf_vcrc, hf_vcrc_status, (int)p->end_off, &c->vcrc,
			GUINT16_SWAP_LE_BE((uint16_t)c->vcrc.expected), VS_REASON_VCRC_BAD);
		add_reason(c, hf_vcrc_reason, (int)p->end_off, &c->vcrc);
	} else if (c->start == RDMA_START_LRH) {
		add_missing(c, hf_vcrc_status, hf_vcrc_reason, &c->vcrc);
	}
}

/* ---- registration ---- */

void rdma_crc_register(int proto, module_t *module)
{
	proto_register_field_array(proto, hf_crc, G_N_ELEMENTS(hf_crc));
	prefs_register_bool_preference(module, "check_icrc", "Validate the invariant CRC",
				       "Compute the ICRC of every packet and compare", &check_icrc);
	prefs_register_bool_preference(module, "check_vcrc", "Validate the variant CRC",
				       "Compute the VCRC of every native InfiniBand packet and compare", &check_vcrc);
}
