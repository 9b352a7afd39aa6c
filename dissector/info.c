/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * info.c - the Info column: what a packet is, to whom, where in the stream, and what is odd about
 * it, in one line that a person reads at a glance:
 *
 *   RC RDMA WRITE First  QP=0x000036 PSN=256 VA=0x7f3a5c001000 rkey=0x00001d2c len=3072
 *   RC Acknowledge  QP=0x000011 PSN=3 RNR NAK (timer 10.24 ms) MSN=3
 *
 * The line is built once, in a buffer on the stack, and without printf: it is made for every packet.
 */
#include "rdma.h"

struct line {
	char *buf;
	size_t len, at; /* at <= len - 1 */
};

static void put(struct line *l, const char *text)
{
	size_t n = MIN(strlen(text), l->len - 1 - l->at);

	memcpy(l->buf + l->at, text, n);
	l->at += n;
	l->buf[l->at] = '\0';
}

static void put_dec(struct line *l, const char *label, uint32_t v)
{
	char digits[11];
	size_t i = sizeof(digits);

	digits[--i] = '\0';
	do
		digits[--i] = (char)('0' + v % 10);
	while ((v /= 10) != 0);
	put(l, label);
	put(l, digits + i);
}

/* With at least `width` digits, 1 to 16. */
static void put_hex(struct line *l, const char *label, uint64_t v, unsigned width)
{
	char digits[17];
	size_t i = sizeof(digits);

	digits[--i] = '\0';
	for (; v != 0 || width > 0; v >>= 4) {
		digits[--i] = "0123456789abcdef"[v & 15];
		width -= width > 0;
	}
	put(l, label);
	put(l, digits + i);
}

static void put_aeth(struct line *l, uint8_t syndrome, uint32_t msn)
{
	uint8_t code = syndrome & 0x1f;

	switch (vs_aeth_type(syndrome)) {
	case VS_AETH_ACK:
		put_dec(l, " ACK MSN=", msn);
		if (vs_aeth_credits(code) != VS_CREDITS_UNLIMITED)
			put_dec(l, " credits=", vs_aeth_credits(code));
		break;
	case VS_AETH_RNR:
		put(l, " RNR NAK (timer ");
		put(l, vs_rnr_timer_text(code));
		put_dec(l, ") MSN=", msn);
		break;
	case VS_AETH_NAK:
		put(l, " NAK ");
		put(l, vs_nak_text(code));
		put_dec(l, " MSN=", msn);
		break;
	case VS_AETH_RESERVED:
		put_hex(l, " reserved syndrome 0x", syndrome, 2);
		put_dec(l, " MSN=", msn);
		break;
	}
}

static void put_atomic(struct line *l, const struct vs_pkt *p)
{
	put_hex(l, " VA=0x", p->ext.atomiceth.va, 1);
	put_hex(l, " rkey=0x", p->ext.atomiceth.rkey, 8);
	if ((p->bth.opcode & 0x1f) == (VS_OP_RC_COMPARE_SWAP & 0x1f)) {
		put_hex(l, " swap=0x", p->ext.atomiceth.swapadd, 1);
		put_hex(l, " compare=0x", p->ext.atomiceth.compare, 1);
	} else {
		put_hex(l, " add=0x", p->ext.atomiceth.swapadd, 1);
	}
}

static void put_flush(struct line *l, const struct vs_pkt *p)
{
	static const char *const plt[4] = {"nothing", "visibility", "persistence", "visibility+persistence"};

	put(l, " ");
	put(l, plt[p->ext.feth.plt & 3]);
	put(l, p->ext.feth.sel == 1 ? " of whole MR" : " of range");
}

static void put_headers(struct line *l, const struct vs_pkt *p)
{
	const struct vs_ext *x = &p->ext;

	if (p->hdrs & VS_HDR_RDETH)
		put_hex(l, " EEC=0x", x->rdeth.eecontext, 6);
	if (p->hdrs & VS_HDR_XRCETH)
		put_hex(l, " SRQ=0x", x->xrceth.xrcsrq, 6);
	if (p->hdrs & VS_HDR_DETH) {
		put_hex(l, " SrcQP=0x", x->deth.srcqp, 6);
		put_hex(l, " Q_Key=0x", x->deth.qkey, 8);
	}
	if (p->hdrs & VS_HDR_FETH)
		put_flush(l, p);
	if (p->hdrs & VS_HDR_RETH) {
		put_hex(l, " VA=0x", x->reth.va, 1);
		put_hex(l, " rkey=0x", x->reth.rkey, 8);
		put_dec(l, " len=", x->reth.dmalen);
	}
	if (p->hdrs & VS_HDR_AETH)
		put_aeth(l, x->aeth.syndrome, x->aeth.msn);
	if (p->hdrs & VS_HDR_ATOMICETH)
		put_atomic(l, p);
	if (p->hdrs & VS_HDR_ATOMICACKETH)
		put_hex(l, " orig=0x", x->atomicack_origdata, 1);
	if (p->hdrs & VS_HDR_IMMDT)
		put_hex(l, " imm=0x", x->immdt, 8);
	if (p->hdrs & VS_HDR_IETH)
		put_hex(l, " inv_rkey=0x", x->ieth_rkey, 8);
}

/* A packet without a BTH: raw over native IB, or cut before it. */
static void put_raw(struct line *l, const struct vs_pkt *p)
{
	if (p->flags & VS_PKT_HAS_RWH)
		put_hex(l, "Raw packet, ethertype 0x", p->rwh.etype, 4);
	else if (p->encap == VS_ENCAP_IB_RAW)
		put(l, "Raw IPv6 packet");
	else if ((p->encap == VS_ENCAP_IB_GRH || p->encap == VS_ENCAP_ROCEV1) && p->grh.nxthdr != VS_GRH_NXTHDR_IBA)
		put_hex(l, "No IBA transport, GRH next header 0x", p->grh.nxthdr, 2);
	else
		put(l, "Packet ends before the BTH");
}

void rdma_info_format(const struct rdma_ctx *c, char *buf, size_t len)
{
	struct line l = {.buf = buf, .len = len};
	const struct vs_pkt *p = &c->pkt;

	buf[0] = '\0';
	if (!(p->flags & VS_PKT_HAS_BTH)) {
		put_raw(&l, p);
		return;
	}
	put(&l, rdma_opcode_name(p->bth.opcode, c->dc));
	if (vs_opcodes[p->bth.opcode].name == NULL)
		put_hex(&l, " 0x", p->bth.opcode, 2);
	put_hex(&l, "  QP=0x", p->bth.destqp, 6);
	put_dec(&l, " PSN=", p->bth.psn);
	put_headers(&l, p);
	if (!(p->hdrs & VS_HDR_RETH) && c->payload_len != 0 && p->bth.opcode != VS_OP_CNP)
		put_dec(&l, " data=", c->payload_len);
	if (p->bth.ackreq)
		put(&l, " AckReq");
	if (p->bth.se)
		put(&l, " SE");
	if (p->bth.fecn)
		put(&l, " FECN");
	if (p->bth.becn)
		put(&l, " BECN");
}

const char *rdma_info_cut(const struct rdma_ctx *c)
{
	static const char *const cut[] = {
		[RDMA_CUT_FRAGMENT] = "IP fragment",
		[RDMA_CUT_BEFORE] = "cut before capture",
		[RDMA_CUT_QUOTED] = "quoted by ICMP",
	};

	if (c->cut != RDMA_CUT_NOT)
		return cut[c->cut];
	if (c->pkt.flags & VS_PKT_SNAPPED)
		return "truncated capture";
	return c->pkt.flags & VS_PKT_HDR_MISSING ? "packet too short" : NULL;
}

/* ---- notes ---- */

enum note {
	NOTE_ICRC = 1u << 0,
	NOTE_VCRC = 1u << 1,
	NOTE_CE = 1u << 2,
	NOTE_CUT = 1u << 3,
	NOTE_OFFLOAD = 1u << 4,
};

static void put_bad_icrc(struct line *l, const struct rdma_ctx *c)
{
	put(l, " [ICRC bad");
	if (c->bad_segments == 1)
		put_dec(l, " in segment ", c->first_bad_segment);
	else if (c->bad_segments > 1)
		put_dec(l, " in ", c->bad_segments);
	put(l, c->bad_segments > 1 ? " segments]" : "]");
}

static void put_note(struct line *l, const struct rdma_ctx *c, enum note note)
{
	switch (note) {
	case NOTE_ICRC:
		put_bad_icrc(l, c);
		break;
	case NOTE_VCRC:
		put(l, " [VCRC bad]");
		break;
	case NOTE_CE:
		put(l, " [ECN CE]");
		break;
	case NOTE_CUT:
		put(l, " [");
		put(l, rdma_info_cut(c));
		put(l, "]");
		break;
	case NOTE_OFFLOAD:
		put_dec(l, " [segmentation-offload super-packet: ", c->segments);
		put(l, " segments]");
		break;
	}
}

uint32_t rdma_info_notes(const struct rdma_ctx *c, uint32_t said, char *buf, size_t len)
{
	struct line l = {.buf = buf, .len = len};
	uint32_t notes = 0;

	buf[0] = '\0';
	if (c->icrc.status == VS_CRC_BAD || c->bad_segments > 0)
		notes |= NOTE_ICRC;
	if (c->vcrc.status == VS_CRC_BAD)
		notes |= NOTE_VCRC;
	if (c->ce)
		notes |= NOTE_CE;
	if (rdma_info_cut(c) != NULL)
		notes |= NOTE_CUT;
	if (c->segments != 0)
		notes |= NOTE_OFFLOAD;
	notes &= ~said;
	for (uint32_t note = NOTE_ICRC; note <= NOTE_OFFLOAD && notes != 0; note <<= 1)
		if (notes & note)
			put_note(&l, c, note);
	return notes;
}
