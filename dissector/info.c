/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * info.c - the Info column: what a packet is, to whom, where in the stream, and what is odd about
 * it, in one line that a person reads at a glance:
 *
 *   RC RDMA WRITE First  QP=0x000036 PSN=256 VA=0x7f3a5c001000 rkey=0x00001d2c len=3072
 *   RC Acknowledge  QP=0x000011 PSN=3 RNR NAK (timer 10.24 ms) MSN=3
 *
 * The line is built once, in a buffer on the stack.
 */
#include "rdma.h"

#include <inttypes.h>
#include <stdarg.h>

struct line {
	char *buf;
	size_t len, at; /* at <= len - 1 */
};

G_GNUC_PRINTF(2, 3)
static void put(struct line *l, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(l->buf + l->at, l->len - l->at, format, ap);
	va_end(ap);
	if (n > 0)
		l->at = MIN(l->at + (size_t)n, l->len - 1);
}

static void put_aeth(struct line *l, uint8_t syndrome, uint32_t msn)
{
	uint8_t code = syndrome & 0x1f;

	switch (vs_aeth_type(syndrome)) {
	case VS_AETH_ACK:
		put(l, " ACK MSN=%u", msn);
		if (vs_aeth_credits(code) != VS_CREDITS_UNLIMITED)
			put(l, " credits=%u", vs_aeth_credits(code));
		break;
	case VS_AETH_RNR:
		put(l, " RNR NAK (timer %s) MSN=%u", vs_rnr_timer_text(code), msn);
		break;
	case VS_AETH_NAK:
		put(l, " NAK %s MSN=%u", vs_nak_text(code), msn);
		break;
	case VS_AETH_RESERVED:
		put(l, " reserved syndrome 0x%02x MSN=%u", syndrome, msn);
		break;
	}
}

static void put_atomic(struct line *l, const struct vs_pkt *p)
{
	put(l, " VA=0x%" PRIx64 " rkey=0x%08x", p->ext.atomiceth.va, p->ext.atomiceth.rkey);
	if ((p->bth.opcode & 0x1f) == (VS_OP_RC_COMPARE_SWAP & 0x1f))
		put(l, " swap=0x%" PRIx64 " compare=0x%" PRIx64, p->ext.atomiceth.swapadd, p->ext.atomiceth.compare);
	else
		put(l, " add=0x%" PRIx64, p->ext.atomiceth.swapadd);
}

static void put_flush(struct line *l, const struct vs_pkt *p)
{
	static const char *const plt[4] = {"nothing", "visibility", "persistence", "visibility+persistence"};

	put(l, " %s of %s", plt[p->ext.feth.plt & 3], p->ext.feth.sel == 1 ? "whole MR" : "range");
}

static void put_headers(struct line *l, const struct vs_pkt *p)
{
	const struct vs_ext *x = &p->ext;

	if (p->hdrs & VS_HDR_RDETH)
		put(l, " EEC=0x%06x", x->rdeth.eecontext);
	if (p->hdrs & VS_HDR_XRCETH)
		put(l, " SRQ=0x%06x", x->xrceth.xrcsrq);
	if (p->hdrs & VS_HDR_DETH)
		put(l, " SrcQP=0x%06x Q_Key=0x%08x", x->deth.srcqp, x->deth.qkey);
	if (p->hdrs & VS_HDR_FETH)
		put_flush(l, p);
	if (p->hdrs & VS_HDR_RETH)
		put(l, " VA=0x%" PRIx64 " rkey=0x%08x len=%u", x->reth.va, x->reth.rkey, x->reth.dmalen);
	if (p->hdrs & VS_HDR_AETH)
		put_aeth(l, x->aeth.syndrome, x->aeth.msn);
	if (p->hdrs & VS_HDR_ATOMICETH)
		put_atomic(l, p);
	if (p->hdrs & VS_HDR_ATOMICACKETH)
		put(l, " orig=0x%" PRIx64, x->atomicack_origdata);
	if (p->hdrs & VS_HDR_IMMDT)
		put(l, " imm=0x%08x", x->immdt);
	if (p->hdrs & VS_HDR_IETH)
		put(l, " inv_rkey=0x%08x", x->ieth_rkey);
}

/* A packet without a BTH: raw over native IB, or cut before it. */
static void put_raw(struct line *l, const struct vs_pkt *p)
{
	if (p->flags & VS_PKT_HAS_RWH)
		put(l, "Raw packet, ethertype 0x%04x", p->rwh.etype);
	else if (p->encap == VS_ENCAP_IB_RAW)
		put(l, "Raw IPv6 packet");
	else if (p->encap == VS_ENCAP_IB_GRH && p->grh.nxthdr != VS_GRH_NXTHDR_IBA)
		put(l, "GRH next header 0x%02x: no IBA transport", p->grh.nxthdr);
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
	put(&l, "%s", rdma_opcode_name(p->bth.opcode, c->dc));
	if (vs_opcodes[p->bth.opcode].name == NULL)
		put(&l, " 0x%02x", p->bth.opcode);
	put(&l, "  QP=0x%06x PSN=%u", p->bth.destqp, p->bth.psn);
	put_headers(&l, p);
	if (!(p->hdrs & VS_HDR_RETH) && c->payload_len != 0 && p->bth.opcode != VS_OP_CNP)
		put(&l, " data=%u", c->payload_len);
	if (p->bth.ackreq)
		put(&l, " AckReq");
	if (p->bth.se)
		put(&l, " SE");
	if (p->bth.fecn)
		put(&l, " FECN");
	if (p->bth.becn)
		put(&l, " BECN");
}

void rdma_info_notes(const struct rdma_ctx *c, char *buf, size_t len)
{
	struct line l = {.buf = buf, .len = len};

	buf[0] = '\0';
	if (c->icrc.status == VS_CRC_BAD)
		put(&l, " [ICRC bad]");
	if (c->vcrc.status == VS_CRC_BAD)
		put(&l, " [VCRC bad]");
	if (c->ce)
		put(&l, " [ECN CE]");
	if (c->pkt.flags & VS_PKT_FRAGMENT)
		put(&l, " [IP fragment]");
	else if (c->pkt.flags & VS_PKT_SNAPPED)
		put(&l, " [truncated capture]");
	else if (c->pkt.flags & VS_PKT_HDR_MISSING)
		put(&l, " [packet too short]");
	if (c->segments != 0)
		put(&l, " [segmentation-offload super-packet: %u segments]", c->segments);
}
