/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * headers.c - fields and trees of every header from LRH to IETH.
 *
 * What is there, and where, was found by vs_pkt_parse; here each header becomes a subtree of items
 * over the captured bytes. Reserved bits get an item only when they are not zero: most packets are
 * legal, and every item costs time in `tshark -T fields`.
 */
#include "rdma.h"

static int hf_lrh, hf_lrh_vl, hf_lrh_lver, hf_lrh_sl, hf_lrh_rsv1, hf_lrh_lnh, hf_lrh_dlid, hf_lrh_rsv2, hf_lrh_pktlen,
	hf_lrh_slid;
static int hf_grh, hf_grh_ipver, hf_grh_tclass, hf_grh_flowlabel, hf_grh_paylen, hf_grh_nxthdr, hf_grh_hoplmt,
	hf_grh_sgid, hf_grh_dgid;
static int hf_bth, hf_bth_opcode, hf_bth_se, hf_bth_migreq, hf_bth_padcnt, hf_bth_tver, hf_bth_pkey, hf_bth_fecn,
	hf_bth_becn, hf_bth_resv6, hf_bth_destqp, hf_bth_ackreq, hf_bth_resv7, hf_bth_psn;
static int hf_dcext, hf_dcceth;
static int hf_rdeth, hf_rdeth_rsv, hf_rdeth_eecontext;
static int hf_xrceth, hf_xrceth_rsv, hf_xrceth_xrcsrq;
static int hf_deth, hf_deth_qkey, hf_deth_rsv, hf_deth_srcqp;
static int hf_feth, hf_feth_rsv, hf_feth_sel, hf_feth_plt;
static int hf_reth, hf_reth_va, hf_reth_rkey, hf_reth_dmalen;
static int hf_aeth, hf_aeth_syndrome, hf_aeth_type, hf_aeth_credits, hf_aeth_rnr_timer, hf_aeth_nak_code, hf_aeth_value,
	hf_aeth_msn;
static int hf_atomiceth, hf_atomiceth_va, hf_atomiceth_rkey, hf_atomiceth_swapadd, hf_atomiceth_compare;
static int hf_atomicack, hf_atomicack_origdata;
static int hf_immdt;
static int hf_ieth, hf_ieth_rkey;
static int hf_rwh, hf_rwh_rsv, hf_rwh_etype;

static int ett_lrh, ett_grh, ett_bth, ett_ext[VS_HDR_COUNT], ett_rwh;

/* ---- words for codes ---- */

static value_string opcode_vals[257];
static value_string_ext opcode_vals_ext = VALUE_STRING_EXT_INIT(opcode_vals);
static char dc_names[32][48];
static value_string credit_vals[33], rnr_vals[33], nak_vals[33];
static char credit_names[32][20];

static const value_string lnh_vals[] = {
	{VS_LNH_RAW, "raw packet, ethertype (RWH) follows"},
	{VS_LNH_IPV6, "raw IPv6, no IBA transport"},
	{VS_LNH_IBA_LOCAL, "IBA local: BTH follows"},
	{VS_LNH_IBA_GLOBAL, "IBA global: GRH follows"},
	{0, NULL},
};
static const value_string nxthdr_vals[] = {
	{VS_GRH_NXTHDR_IBA, "IBA transport"},
	{0, NULL},
};
static const range_string pkey_vals[] = {
	{0x0000, 0x7fff, "limited member"},
	{0x8000, 0xffff, "full member"},
	{0, 0, NULL},
};
static const value_string aeth_type_vals[] = {
	{VS_AETH_ACK, "ACK"}, {VS_AETH_RNR, "RNR NAK"}, {VS_AETH_RESERVED, "reserved"}, {VS_AETH_NAK, "NAK"}, {0, NULL},
};
static const value_string feth_sel_vals[] = {
	{0, "range of memory"},
	{1, "whole memory region"},
	{0, NULL},
};
static const value_string feth_plt_vals[] = {
	{1, "global visibility"},
	{2, "persistence"},
	{3, "global visibility and persistence"},
	{0, NULL},
};

static void fill_names(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		const char *name = vs_opcodes[i].name;

		if (name == NULL)
			name = i >= 0xc0 ? "Manufacturer-specific opcode" : "Reserved opcode";
		opcode_vals[i] = (value_string){i, name};
	}
	for (uint32_t i = 0; i < 32; i++) {
		const char *rd = vs_opcodes[0x40 + i].name;
		uint32_t credits = vs_aeth_credits((uint8_t)i);

		snprintf(dc_names[i], sizeof(dc_names[i]), "DC%s", rd != NULL ? rd + 2 : " opcode");
		if (credits == VS_CREDITS_UNLIMITED)
			snprintf(credit_names[i], sizeof(credit_names[i]), "no limit");
		else
			snprintf(credit_names[i], sizeof(credit_names[i]), "%u credit%s", credits,
				 credits == 1 ? "" : "s");
		credit_vals[i] = (value_string){i, credit_names[i]};
		rnr_vals[i] = (value_string){i, vs_rnr_timer_text((uint8_t)i)};
		nak_vals[i] = (value_string){i, vs_nak_text((uint8_t)i)};
	}
}

const char *rdma_opcode_name(uint8_t opcode, bool dc)
{
	if (dc && opcode >> 5 == VS_TRANSPORT_RD)
		return dc_names[opcode & 0x1f];
	return opcode_vals[opcode].strptr;
}

/* ---- trees; `off` is where the header begins ---- */

#define ADD(hf, at, len) proto_tree_add_item(t, hf, c->tvb, (at), (len), ENC_BIG_ENDIAN)

/*
 * The same for headers that most packets have: their values are known already, and an item that need not fetch its own
 * costs two thirds. `at` counts from `off`, `b` is there; a field with a mask takes its bits from the byte.
 */
#define NUMBER(hf, at, len, value) proto_tree_add_uint(t, hf, c->tvb, off + (at), (len), (value))
#define BYTE(hf, at) NUMBER(hf, at, 1, b[at])
#define FLAG(hf, at) proto_tree_add_boolean(t, hf, c->tvb, off + (at), 1, b[at])

static proto_tree *header(struct rdma_ctx *c, int hf, int ett, int off, int len, enum rdma_place place)
{
	proto_item *ti = proto_tree_add_item(c->tree, hf, c->tvb, off, len, ENC_NA);

	c->at[place] = ti;
	return proto_item_add_subtree(ti, ett);
}

static void add_lrh(struct rdma_ctx *c)
{
	const struct vs_lrh *h = &c->pkt.lrh;
	proto_tree *t = header(c, hf_lrh, ett_lrh, 0, 8, RDMA_AT_LRH);
	proto_item *ti;

	ADD(hf_lrh_vl, 0, 1);
	ADD(hf_lrh_lver, 0, 1);
	ADD(hf_lrh_sl, 1, 1);
	if (h->rsv1 != 0)
		ADD(hf_lrh_rsv1, 1, 1);
	ADD(hf_lrh_lnh, 1, 1);
	ADD(hf_lrh_dlid, 2, 2);
	if (h->rsv2 != 0)
		ADD(hf_lrh_rsv2, 4, 1);
	ti = ADD(hf_lrh_pktlen, 4, 2);
	proto_item_append_text(ti, " words (%u bytes, LRH to ICRC)", h->pktlen * 4u);
	ADD(hf_lrh_slid, 6, 2);
}

static void add_grh(struct rdma_ctx *c, int off)
{
	proto_tree *t = header(c, hf_grh, ett_grh, off, 40, RDMA_AT_GRH);

	ADD(hf_grh_ipver, off, 1);
	ADD(hf_grh_tclass, off, 2);
	ADD(hf_grh_flowlabel, off, 4);
	ADD(hf_grh_paylen, off + 4, 2);
	ADD(hf_grh_nxthdr, off + 6, 1);
	ADD(hf_grh_hoplmt, off + 7, 1);
	proto_tree_add_item(t, hf_grh_sgid, c->tvb, off + 8, 16, ENC_NA);
	proto_tree_add_item(t, hf_grh_dgid, c->tvb, off + 24, 16, ENC_NA);
}

static void add_bth(struct rdma_ctx *c, int off)
{
	const struct vs_bth *h = &c->pkt.bth;
	const uint8_t *b = tvb_get_ptr(c->tvb, off, 12);
	proto_tree *t = header(c, hf_bth, ett_bth, off, 12, RDMA_AT_BTH);

	if (c->dc && h->opcode >> 5 == VS_TRANSPORT_RD)
		proto_tree_add_uint_format_value(t, hf_bth_opcode, c->tvb, off, 1, h->opcode, "%s (0x%02x)",
						 rdma_opcode_name(h->opcode, true), h->opcode);
	else
		BYTE(hf_bth_opcode, 0);
	FLAG(hf_bth_se, 1);
	FLAG(hf_bth_migreq, 1);
	BYTE(hf_bth_padcnt, 1);
	BYTE(hf_bth_tver, 1);
	NUMBER(hf_bth_pkey, 2, 2, h->pkey);
	FLAG(hf_bth_fecn, 4);
	FLAG(hf_bth_becn, 4);
	if (h->resv6 != 0)
		BYTE(hf_bth_resv6, 4);
	NUMBER(hf_bth_destqp, 5, 3, h->destqp);
	FLAG(hf_bth_ackreq, 8);
	if (h->resv7 != 0)
		BYTE(hf_bth_resv7, 8);
	NUMBER(hf_bth_psn, 9, 3, h->psn);
}

static void add_dcext(struct rdma_ctx *c, int off)
{
	proto_tree_add_item(c->tree, hf_dcext, c->tvb, off, 8, ENC_NA);
}

static void add_dcceth(struct rdma_ctx *c, int off)
{
	proto_tree_add_item(c->tree, hf_dcceth, c->tvb, off, 16, ENC_NA);
}

static void add_rdeth(struct rdma_ctx *c, int off)
{
	proto_tree *t = header(c, hf_rdeth, ett_ext[2], off, 4, RDMA_AT_RDETH);

	if (c->pkt.ext.rdeth.rsv != 0)
		ADD(hf_rdeth_rsv, off, 1);
	ADD(hf_rdeth_eecontext, off + 1, 3);
}

static void add_xrceth(struct rdma_ctx *c, int off)
{
	proto_tree *t = header(c, hf_xrceth, ett_ext[3], off, 4, RDMA_AT_XRCETH);

	if (c->pkt.ext.xrceth.rsv != 0)
		ADD(hf_xrceth_rsv, off, 1);
	ADD(hf_xrceth_xrcsrq, off + 1, 3);
}

static void add_deth(struct rdma_ctx *c, int off)
{
	proto_tree *t = header(c, hf_deth, ett_ext[4], off, 8, RDMA_AT_DETH);

	ADD(hf_deth_qkey, off, 4);
	if (c->pkt.ext.deth.rsv != 0)
		ADD(hf_deth_rsv, off + 4, 1);
	ADD(hf_deth_srcqp, off + 5, 3);
}

static void add_feth(struct rdma_ctx *c, int off)
{
	proto_tree *t = header(c, hf_feth, ett_ext[5], off, 4, RDMA_AT_FETH);

	if (c->pkt.ext.feth.rsv != 0)
		ADD(hf_feth_rsv, off, 4);
	ADD(hf_feth_sel, off + 3, 1);
	ADD(hf_feth_plt, off + 3, 1);
}

static void add_reth(struct rdma_ctx *c, int off)
{
	proto_tree *t = header(c, hf_reth, ett_ext[6], off, 16, RDMA_AT_RETH);

	ADD(hf_reth_va, off, 8);
	NUMBER(hf_reth_rkey, 8, 4, c->pkt.ext.reth.rkey);
	NUMBER(hf_reth_dmalen, 12, 4, c->pkt.ext.reth.dmalen);
}

static void add_aeth(struct rdma_ctx *c, int off)
{
	const uint8_t *b = &c->pkt.ext.aeth.syndrome;
	proto_tree *t = header(c, hf_aeth, ett_ext[7], off, 4, RDMA_AT_AETH);

	BYTE(hf_aeth_syndrome, 0);
	BYTE(hf_aeth_type, 0);
	switch (vs_aeth_type(*b)) {
	case VS_AETH_ACK:
		BYTE(hf_aeth_credits, 0);
		break;
	case VS_AETH_RNR:
		BYTE(hf_aeth_rnr_timer, 0);
		break;
	case VS_AETH_NAK:
		BYTE(hf_aeth_nak_code, 0);
		break;
	case VS_AETH_RESERVED:
		BYTE(hf_aeth_value, 0);
		break;
	}
	NUMBER(hf_aeth_msn, 1, 3, c->pkt.ext.aeth.msn);
}

static void add_atomiceth(struct rdma_ctx *c, int off)
{
	proto_tree *t = header(c, hf_atomiceth, ett_ext[8], off, 28, RDMA_AT_ATOMICETH);

	ADD(hf_atomiceth_va, off, 8);
	ADD(hf_atomiceth_rkey, off + 8, 4);
	ADD(hf_atomiceth_swapadd, off + 12, 8);
	ADD(hf_atomiceth_compare, off + 20, 8);
}

static void add_atomicacketh(struct rdma_ctx *c, int off)
{
	proto_item *ti = proto_tree_add_item(c->tree, hf_atomicack, c->tvb, off, 8, ENC_NA);
	proto_tree *t = proto_item_add_subtree(ti, ett_ext[9]);

	ADD(hf_atomicack_origdata, off, 8);
}

static void add_immdt(struct rdma_ctx *c, int off)
{
	proto_tree_add_item(c->tree, hf_immdt, c->tvb, off, 4, ENC_BIG_ENDIAN);
}

static void add_ieth(struct rdma_ctx *c, int off)
{
	proto_item *ti = proto_tree_add_item(c->tree, hf_ieth, c->tvb, off, 4, ENC_NA);
	proto_tree *t = proto_item_add_subtree(ti, ett_ext[11]);

	ADD(hf_ieth_rkey, off, 4);
}

/* By bit number of enum vs_hdr, which is wire order. */
static void (*const add_ext[VS_HDR_COUNT])(struct rdma_ctx *c, int off) = {
	add_dcext, add_dcceth, add_rdeth,     add_xrceth,       add_deth,  add_feth,
	add_reth,  add_aeth,   add_atomiceth, add_atomicacketh, add_immdt, add_ieth,
};

static void add_rwh(struct rdma_ctx *c, int off)
{
	proto_item *ti = proto_tree_add_item(c->tree, hf_rwh, c->tvb, off, 4, ENC_NA);
	proto_tree *t = proto_item_add_subtree(ti, ett_rwh);

	if (c->pkt.rwh.rsv != 0)
		ADD(hf_rwh_rsv, off, 2);
	ADD(hf_rwh_etype, off + 2, 2);
}

/* ---- fields ---- */

#define NODE(hf, name, abbrev, blurb)                                                   \
	{                                                                               \
		&hf,                                                                    \
		{                                                                       \
			name, "rdma." abbrev, FT_NONE, BASE_NONE, NULL, 0, blurb, HFILL \
		}                                                                       \
	}
#define FIELD(hf, name, abbrev, type, base, strings, mask, blurb)                     \
	{                                                                             \
		&hf,                                                                  \
		{                                                                     \
			name, "rdma." abbrev, type, base, strings, mask, blurb, HFILL \
		}                                                                     \
	}

static hf_register_info hf_net[] = {
	NODE(hf_lrh, "Local Route Header", "lrh", NULL),
	FIELD(hf_lrh_vl, "Virtual Lane", "lrh.vl", FT_UINT8, BASE_DEC, NULL, 0xf0, NULL),
	FIELD(hf_lrh_lver, "Link Version", "lrh.lver", FT_UINT8, BASE_DEC, NULL, 0x0f, NULL),
	FIELD(hf_lrh_sl, "Service Level", "lrh.sl", FT_UINT8, BASE_DEC, NULL, 0xf0, NULL),
	FIELD(hf_lrh_rsv1, "Reserved", "lrh.rsv1", FT_UINT8, BASE_HEX, NULL, 0x0c, NULL),
	FIELD(hf_lrh_lnh, "Link Next Header", "lrh.lnh", FT_UINT8, BASE_DEC, VALS(lnh_vals), 0x03, NULL),
	FIELD(hf_lrh_dlid, "Destination LID", "lrh.dlid", FT_UINT16, BASE_DEC_HEX, NULL, 0, NULL),
	FIELD(hf_lrh_rsv2, "Reserved", "lrh.rsv2", FT_UINT8, BASE_HEX, NULL, 0xf8, NULL),
	FIELD(hf_lrh_pktlen, "Packet Length", "lrh.pktlen", FT_UINT16, BASE_DEC, NULL, 0x07ff,
	      "4-byte words from the LRH through the ICRC"),
	FIELD(hf_lrh_slid, "Source LID", "lrh.slid", FT_UINT16, BASE_DEC_HEX, NULL, 0, NULL),
	NODE(hf_grh, "Global Route Header", "grh", NULL),
	FIELD(hf_grh_ipver, "IP Version", "grh.ipver", FT_UINT8, BASE_DEC, NULL, 0xf0, NULL),
	FIELD(hf_grh_tclass, "Traffic Class", "grh.tclass", FT_UINT16, BASE_HEX, NULL, 0x0ff0, NULL),
	FIELD(hf_grh_flowlabel, "Flow Label", "grh.flowlabel", FT_UINT32, BASE_HEX, NULL, 0x000fffff, NULL),
	FIELD(hf_grh_paylen, "Payload Length", "grh.paylen", FT_UINT16, BASE_DEC, NULL, 0,
	      "Bytes after the GRH through the ICRC"),
	FIELD(hf_grh_nxthdr, "Next Header", "grh.nxthdr", FT_UINT8, BASE_HEX, VALS(nxthdr_vals), 0, NULL),
	FIELD(hf_grh_hoplmt, "Hop Limit", "grh.hoplmt", FT_UINT8, BASE_DEC, NULL, 0, NULL),
	FIELD(hf_grh_sgid, "Source GID", "grh.sgid", FT_IPv6, BASE_NONE, NULL, 0, NULL),
	FIELD(hf_grh_dgid, "Destination GID", "grh.dgid", FT_IPv6, BASE_NONE, NULL, 0, NULL),
	NODE(hf_rwh, "Raw Header", "rwh", NULL),
	FIELD(hf_rwh_rsv, "Reserved", "rwh.rsv", FT_UINT16, BASE_HEX, NULL, 0, NULL),
	FIELD(hf_rwh_etype, "Ethertype", "rwh.etype", FT_UINT16, BASE_HEX, NULL, 0, NULL),
};

static hf_register_info hf_of_bth[] = {
	NODE(hf_bth, "Base Transport Header", "bth", NULL),
	FIELD(hf_bth_opcode, "Opcode", "bth.opcode", FT_UINT8, BASE_HEX | BASE_EXT_STRING, &opcode_vals_ext, 0, NULL),
	FIELD(hf_bth_se, "Solicited Event", "bth.se", FT_BOOLEAN, 8, NULL, 0x80,
	      "The receiver's completion raises an event"),
	FIELD(hf_bth_migreq, "MigReq", "bth.migreq", FT_BOOLEAN, 8, NULL, 0x40, "Path migration state"),
	FIELD(hf_bth_padcnt, "Pad Count", "bth.padcnt", FT_UINT8, BASE_DEC, NULL, 0x30, "Pad bytes after the payload"),
	FIELD(hf_bth_tver, "Transport Header Version", "bth.tver", FT_UINT8, BASE_DEC, NULL, 0x0f, NULL),
	FIELD(hf_bth_pkey, "Partition Key", "bth.pkey", FT_UINT16, BASE_HEX | BASE_RANGE_STRING, RVALS(pkey_vals), 0,
	      NULL),
	FIELD(hf_bth_fecn, "FECN", "bth.fecn", FT_BOOLEAN, 8, NULL, 0x80, "Forward congestion notification"),
	FIELD(hf_bth_becn, "BECN", "bth.becn", FT_BOOLEAN, 8, NULL, 0x40, "Backward congestion notification"),
	FIELD(hf_bth_resv6, "Reserved", "bth.resv6", FT_UINT8, BASE_HEX, NULL, 0x3f, NULL),
	FIELD(hf_bth_destqp, "Destination QP", "bth.destqp", FT_UINT24, BASE_HEX, NULL, 0, NULL),
	FIELD(hf_bth_ackreq, "Acknowledge Request", "bth.ackreq", FT_BOOLEAN, 8, NULL, 0x80, NULL),
	FIELD(hf_bth_resv7, "Reserved", "bth.resv7", FT_UINT8, BASE_HEX, NULL, 0x7f, NULL),
	FIELD(hf_bth_psn, "Packet Sequence Number", "bth.psn", FT_UINT24, BASE_DEC, NULL, 0, NULL),
};

static hf_register_info hf_ext[] = {
	FIELD(hf_dcext, "DC Extended Transport Header", "dcext", FT_BYTES, BASE_NONE, NULL, 0,
	      "Mellanox Dynamically Connected transport; the layout is not public"),
	FIELD(hf_dcceth, "DC Connect Header", "dcceth", FT_BYTES, BASE_NONE, NULL, 0,
	      "Mellanox Dynamically Connected transport; the layout is not public"),
	NODE(hf_rdeth, "Reliable Datagram Extended Transport Header", "rdeth", NULL),
	FIELD(hf_rdeth_rsv, "Reserved", "rdeth.rsv", FT_UINT8, BASE_HEX, NULL, 0, NULL),
	FIELD(hf_rdeth_eecontext, "EE-Context", "rdeth.eecontext", FT_UINT24, BASE_HEX, NULL, 0, NULL),
	NODE(hf_xrceth, "XRC Extended Transport Header", "xrceth", NULL),
	FIELD(hf_xrceth_rsv, "Reserved", "xrceth.rsv", FT_UINT8, BASE_HEX, NULL, 0, NULL),
	FIELD(hf_xrceth_xrcsrq, "XRC Shared Receive Queue", "xrceth.xrcsrq", FT_UINT24, BASE_HEX, NULL, 0, NULL),
	NODE(hf_deth, "Datagram Extended Transport Header", "deth", NULL),
	FIELD(hf_deth_qkey, "Q_Key", "deth.qkey", FT_UINT32, BASE_HEX, NULL, 0, NULL),
	FIELD(hf_deth_rsv, "Reserved", "deth.rsv", FT_UINT8, BASE_HEX, NULL, 0, NULL),
	FIELD(hf_deth_srcqp, "Source QP", "deth.srcqp", FT_UINT24, BASE_HEX, NULL, 0, NULL),
	NODE(hf_feth, "FLUSH Extended Transport Header", "feth", NULL),
	FIELD(hf_feth_rsv, "Reserved", "feth.rsv", FT_UINT32, BASE_HEX, NULL, 0xffffffc0, NULL),
	FIELD(hf_feth_sel, "Selectivity Level", "feth.sel", FT_UINT8, BASE_DEC, VALS(feth_sel_vals), 0x30, NULL),
	FIELD(hf_feth_plt, "Placement Type", "feth.plt", FT_UINT8, BASE_HEX, VALS(feth_plt_vals), 0x0f, NULL),
	NODE(hf_reth, "RDMA Extended Transport Header", "reth", NULL),
	FIELD(hf_reth_va, "Virtual Address", "reth.va", FT_UINT64, BASE_HEX, NULL, 0, NULL),
	FIELD(hf_reth_rkey, "R_Key", "reth.rkey", FT_UINT32, BASE_HEX, NULL, 0, NULL),
	FIELD(hf_reth_dmalen, "DMA Length", "reth.dmalen", FT_UINT32, BASE_DEC, NULL, 0,
	      "Bytes of the whole message, not of this packet"),
	NODE(hf_aeth, "Acknowledge Extended Transport Header", "aeth", NULL),
	FIELD(hf_aeth_syndrome, "Syndrome", "aeth.syndrome", FT_UINT8, BASE_HEX, NULL, 0, NULL),
	FIELD(hf_aeth_type, "Type", "aeth.type", FT_UINT8, BASE_DEC, VALS(aeth_type_vals), 0x60, NULL),
	FIELD(hf_aeth_credits, "Credits", "aeth.credits", FT_UINT8, BASE_DEC, VALS(credit_vals), 0x1f,
	      "Code 0 to 31 of the end-to-end credit count"),
	FIELD(hf_aeth_rnr_timer, "RNR Timer", "aeth.rnr_timer", FT_UINT8, BASE_DEC, VALS(rnr_vals), 0x1f,
	      "Code 0 to 31 of the time to wait before the next attempt"),
	FIELD(hf_aeth_nak_code, "NAK Code", "aeth.nak_code", FT_UINT8, BASE_DEC, VALS(nak_vals), 0x1f, NULL),
	FIELD(hf_aeth_value, "Value", "aeth.value", FT_UINT8, BASE_DEC, NULL, 0x1f, "Code of a reserved syndrome type"),
	FIELD(hf_aeth_msn, "Message Sequence Number", "aeth.msn", FT_UINT24, BASE_DEC, NULL, 0, NULL),
	NODE(hf_atomiceth, "Atomic Extended Transport Header", "atomiceth", NULL),
	FIELD(hf_atomiceth_va, "Virtual Address", "atomiceth.va", FT_UINT64, BASE_HEX, NULL, 0, NULL),
	FIELD(hf_atomiceth_rkey, "R_Key", "atomiceth.rkey", FT_UINT32, BASE_HEX, NULL, 0, NULL),
	FIELD(hf_atomiceth_swapadd, "Swap or Add Data", "atomiceth.swapadd", FT_UINT64, BASE_HEX, NULL, 0, NULL),
	FIELD(hf_atomiceth_compare, "Compare Data", "atomiceth.compare", FT_UINT64, BASE_HEX, NULL, 0, NULL),
	NODE(hf_atomicack, "Atomic Acknowledge Extended Transport Header", "atomicack", NULL),
	FIELD(hf_atomicack_origdata, "Original Data", "atomicack.origdata", FT_UINT64, BASE_HEX, NULL, 0,
	      "What stood at the address before"),
	FIELD(hf_immdt, "Immediate Data", "immdt", FT_UINT32, BASE_HEX, NULL, 0, NULL),
	NODE(hf_ieth, "Invalidate Extended Transport Header", "ieth", NULL),
	FIELD(hf_ieth_rkey, "R_Key to invalidate", "ieth.rkey", FT_UINT32, BASE_HEX, NULL, 0, NULL),
};

/* ---- all headers ---- */

void rdma_headers_add(struct rdma_ctx *c)
{
	const struct vs_pkt *p = &c->pkt;
	int off = 0;

	if (c->tree == NULL)
		return;
	if (c->start == RDMA_START_LRH) {
		add_lrh(c);
		off = 8;
	}
	if (p->encap == VS_ENCAP_IB_GRH || p->encap == VS_ENCAP_ROCEV1) {
		add_grh(c, off);
		off += 40;
	}
	if (p->flags & VS_PKT_HAS_RWH)
		add_rwh(c, off);
	if (!(p->flags & VS_PKT_HAS_BTH))
		return;
	if (rdma_wanted(c->tree, hf_of_bth, G_N_ELEMENTS(hf_of_bth)))
		add_bth(c, off);
	off += 12;
	if (!rdma_wanted(c->tree, hf_ext, G_N_ELEMENTS(hf_ext)))
		return;
	for (unsigned i = 0; p->hdrs >> i != 0; i++) {
		if (p->hdrs & (1u << i)) {
			add_ext[i](c, off);
			off += vs_hdr_size[i];
		}
	}
}

void rdma_headers_register(int proto)
{
	int *ett[] = {&ett_lrh, &ett_grh, &ett_bth, &ett_rwh};
	int *ett_exts[VS_HDR_COUNT];

	fill_names();
	for (int i = 0; i < VS_HDR_COUNT; i++)
		ett_exts[i] = &ett_ext[i];
	proto_register_field_array(proto, hf_net, G_N_ELEMENTS(hf_net));
	proto_register_field_array(proto, hf_of_bth, G_N_ELEMENTS(hf_of_bth));
	proto_register_field_array(proto, hf_ext, G_N_ELEMENTS(hf_ext));
	rdma_subtrees_register(ett, G_N_ELEMENTS(ett));
	rdma_subtrees_register(ett_exts, VS_HDR_COUNT);
}
