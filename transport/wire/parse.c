/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * parse.c - bytes -> struct vs_pkt.
 *
 * The parser never judges: every bit it passes lands in a field, so that vs_pkt_build can write the
 * same bytes again. It goes outside in; each header narrows the reader's `end` when the length it
 * claims is possible, and leaves it alone when it is not.
 */
#include <string.h>

#include "bytes.h"
#include "vs/wire.h"

#define ETH_LEN 12 /* the two addresses */
#define BTH_LEN 12
#define GRH_LEN 40
#define LRH_LEN 8
#define UDP_LEN 8
#define ICRC_LEN 4
#define VCRC_LEN 2
#define IPPROTO_UDP_ 17
#define IPV4_MF 0x2000u
#define IPV4_OFFSET 0x1fffu

struct reader {
	const uint8_t *buf;
	size_t off;  /* next byte */
	size_t cap;  /* captured bytes: nothing from here on may be read */
	size_t wire; /* bytes that were on the wire, >= cap */
	size_t end;  /* where the packet proper ends by what it says, <= wire; may lie beyond cap */
	bool vcrc;   /* a VCRC follows `end` */
	unsigned opt;
};

static size_t min_size(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* The next n bytes, or NULL when the capture, or the packet, ends before. */
static const uint8_t *peek(const struct reader *r, size_t n)
{
	return r->off + n <= min_size(r->cap, r->end) ? r->buf + r->off : NULL;
}

/* RDMA that is too short; the flag tells whether the n bytes were on the wire at least. */
static int too_short(struct vs_pkt *p, const struct reader *r, size_t n)
{
	p->flags = r->off + n <= r->end ? VS_PKT_SNAPPED : 0;
	return VS_ERR_SHORT;
}

/* The header at the reader says that the packet is `len` bytes from here; believed when `least` fit and it is there. */
static void narrow(struct reader *r, size_t len, size_t least)
{
	if (len >= least && len <= r->end - r->off)
		r->end = r->off + len;
}

/* ---- headers after the BTH ---- */

static void parse_ext(struct vs_ext *x, enum vs_hdr hdr, const uint8_t *b)
{
	switch (hdr) {
	case VS_HDR_DCEXT:
		memcpy(x->dcext, b, sizeof(x->dcext));
		break;
	case VS_HDR_DCCETH:
		memcpy(x->dcceth, b, sizeof(x->dcceth));
		break;
	case VS_HDR_RDETH:
		x->rdeth.rsv = b[0];
		x->rdeth.eecontext = get24(b + 1);
		break;
	case VS_HDR_XRCETH:
		x->xrceth.rsv = b[0];
		x->xrceth.xrcsrq = get24(b + 1);
		break;
	case VS_HDR_DETH:
		x->deth.qkey = get32(b);
		x->deth.rsv = b[4];
		x->deth.srcqp = get24(b + 5);
		break;
	case VS_HDR_FETH:
		x->feth.rsv = get32(b) >> 6;
		x->feth.sel = (b[3] >> 4) & 3;
		x->feth.plt = b[3] & 0x0f;
		break;
	case VS_HDR_RETH:
		x->reth.va = get64(b);
		x->reth.rkey = get32(b + 8);
		x->reth.dmalen = get32(b + 12);
		break;
	case VS_HDR_AETH:
		x->aeth.syndrome = b[0];
		x->aeth.msn = get24(b + 1);
		break;
	case VS_HDR_ATOMICETH:
		x->atomiceth.va = get64(b);
		x->atomiceth.rkey = get32(b + 8);
		x->atomiceth.swapadd = get64(b + 12);
		x->atomiceth.compare = get64(b + 20);
		break;
	case VS_HDR_ATOMICACKETH:
		x->atomicack_origdata = get64(b);
		break;
	case VS_HDR_IMMDT:
		x->immdt = get32(b);
		break;
	case VS_HDR_IETH:
		x->ieth_rkey = get32(b);
		break;
	}
}

/* Takes the headers of `want` that are whole before `limit`, in wire order. */
static void parse_exts(struct vs_pkt *p, struct reader *r, uint32_t want, size_t limit)
{
	for (unsigned i = 0; want >> i != 0; i++) {
		uint32_t hdr = 1u << i;

		if (!(want & hdr))
			continue;
		if (r->off + vs_hdr_size[i] > limit) {
			p->flags |= VS_PKT_HDR_MISSING;
			return;
		}
		parse_ext(&p->ext, (enum vs_hdr)hdr, r->buf + r->off);
		p->hdrs |= hdr;
		r->off += vs_hdr_size[i];
	}
}

/* ---- what follows the last header ---- */

/* VCRC and trailer, and how much is missing; `from`: first byte that is in no field yet. */
static void parse_tail(struct vs_pkt *p, const struct reader *r, size_t from)
{
	size_t whole = r->end + (r->vcrc ? VCRC_LEN : 0);

	p->end_off = (uint32_t)min_size(r->end, r->cap);
	if (r->cap < whole) {
		p->flags |= VS_PKT_SNAPPED;
		p->missing_len = (uint32_t)(whole - r->cap);
	} else if (r->vcrc) {
		p->vcrc = get16le(r->buf + r->end);
		p->flags |= VS_PKT_HAS_VCRC;
		from = whole;
	}
	if (from < r->cap) {
		p->trailer = r->buf + from;
		p->trailer_len = (uint32_t)(r->cap - from);
	}
}

static void set_payload(struct vs_pkt *p, const struct reader *r, size_t to)
{
	p->payload_off = (uint32_t)r->off;
	p->payload = r->buf + r->off;
	p->payload_len = (uint32_t)(to - r->off);
}

/* A packet without (a whole) BTH: all that is left is payload. */
static int parse_raw(struct vs_pkt *p, const struct reader *r)
{
	size_t seen = min_size(r->end, r->cap);

	set_payload(p, r, seen);
	if (!(p->flags & VS_PKT_HDR_MISSING))
		p->payload_missing_len = (uint32_t)(r->end - seen);
	parse_tail(p, r, seen);
	return VS_OK;
}

/* Payload and pad up to `body_end`, the ICRC after it (when `icrc`), the tail. */
static void parse_body(struct vs_pkt *p, const struct reader *r, size_t body_end, bool icrc)
{
	size_t seen = min_size(body_end, r->cap), payload_end = body_end;

	if (icrc && !(p->flags & VS_PKT_HDR_MISSING))
		payload_end -= min_size(p->bth.padcnt, body_end - r->off);
	set_payload(p, r, min_size(payload_end, seen));
	if (seen < payload_end && !(p->flags & VS_PKT_HDR_MISSING))
		p->payload_missing_len = (uint32_t)(payload_end - seen);
	if (seen > payload_end) {
		p->pad_len = (uint8_t)(seen - payload_end);
		memcpy(p->pad, r->buf + payload_end, p->pad_len);
	}
	if (icrc && r->cap >= r->end) {
		p->icrc = get32le(r->buf + body_end);
		p->flags |= VS_PKT_HAS_ICRC;
		seen = r->end;
	}
	parse_tail(p, r, seen);
}

static int parse_bth(struct vs_pkt *p, struct reader *r)
{
	const uint8_t *b = peek(r, BTH_LEN);
	struct vs_bth *h = &p->bth;
	size_t body_end;
	uint32_t want;
	bool icrc;

	if (b == NULL)
		return too_short(p, r, BTH_LEN);
	h->opcode = b[0];
	h->se = b[1] >> 7;
	h->migreq = (b[1] >> 6) & 1;
	h->padcnt = (b[1] >> 4) & 3;
	h->tver = b[1] & 0x0f;
	h->pkey = get16(b + 2);
	h->fecn = b[4] >> 7;
	h->becn = (b[4] >> 6) & 1;
	h->resv6 = b[4] & 0x3f;
	h->destqp = get24(b + 5);
	h->ackreq = b[8] >> 7;
	h->resv7 = b[8] & 0x7f;
	h->psn = get24(b + 9);
	p->bth_off = (uint32_t)r->off;
	p->flags |= VS_PKT_HAS_BTH;
	r->off += BTH_LEN;

	icrc = !(p->flags & VS_PKT_FRAGMENT) && r->end - r->off >= ICRC_LEN;
	body_end = r->end - (icrc ? ICRC_LEN : 0);
	want = vs_opcodes[h->opcode].hdrs;
	if ((r->opt & VS_PARSE_DC) && h->opcode >> 5 == VS_TRANSPORT_RD)
		want = vs_opcode_hdrs_dc(h->opcode, h->se);
	parse_exts(p, r, want, min_size(body_end, r->cap));
	parse_body(p, r, body_end, icrc);
	return VS_OK;
}

/* ---- network headers ---- */

static void parse_grh_fields(struct vs_grh *h, const uint8_t *b)
{
	h->ipver = b[0] >> 4;
	h->tclass = (uint8_t)((b[0] & 0x0f) << 4 | b[1] >> 4);
	h->flowlabel = get24(b + 1) & 0xfffff;
	h->paylen = get16(b + 4);
	h->nxthdr = b[6];
	h->hoplmt = b[7];
	memcpy(h->sgid, b + 8, sizeof(h->sgid));
	memcpy(h->dgid, b + 24, sizeof(h->dgid));
}

static int parse_rocev1(struct vs_pkt *p, struct reader *r)
{
	const uint8_t *b = peek(r, GRH_LEN);

	p->encap = VS_ENCAP_ROCEV1;
	p->net_off = (uint32_t)r->off;
	if (b == NULL)
		return too_short(p, r, GRH_LEN);
	parse_grh_fields(&p->grh, b);
	narrow(r, (size_t)GRH_LEN + p->grh.paylen, GRH_LEN + BTH_LEN);
	r->off += GRH_LEN;
	return parse_bth(p, r);
}

static int parse_udp(struct vs_pkt *p, struct reader *r)
{
	const uint8_t *b = peek(r, 4);

	if (b == NULL || (get16(b + 2) != VS_UDP_PORT_ROCE && !(r->opt & VS_PARSE_ANY_PORT)))
		return VS_ERR_NOT_RDMA;
	if (peek(r, UDP_LEN) == NULL)
		return too_short(p, r, UDP_LEN);
	p->udp.sport = get16(b);
	p->udp.dport = get16(b + 2);
	p->udp.len = get16(b + 4);
	p->udp.csum = get16(b + 6);
	if (!(p->flags & VS_PKT_FRAGMENT))
		narrow(r, p->udp.len, UDP_LEN + BTH_LEN);
	r->off += UDP_LEN;
	return parse_bth(p, r);
}

static int parse_ipv4(struct vs_pkt *p, struct reader *r)
{
	const uint8_t *b = peek(r, 20);
	struct vs_ipv4 *h = &p->ipv4;
	size_t len;

	p->encap = VS_ENCAP_ROCEV2_IPV4;
	p->net_off = (uint32_t)r->off;
	if (b == NULL)
		return VS_ERR_NOT_RDMA;
	len = (size_t)(b[0] & 0x0f) * 4;
	if (len < 20 || b[9] != IPPROTO_UDP_ || (get16(b + 6) & IPV4_OFFSET) != 0 || peek(r, len) == NULL)
		return VS_ERR_NOT_RDMA;
	h->version = b[0] >> 4;
	h->ihl = b[0] & 0x0f;
	h->tos = b[1];
	h->total_len = get16(b + 2);
	h->id = get16(b + 4);
	h->frag = get16(b + 6);
	h->ttl = b[8];
	h->protocol = b[9];
	h->csum = get16(b + 10);
	memcpy(h->src, b + 12, 4);
	memcpy(h->dst, b + 16, 4);
	memcpy(h->options, b + 20, len - 20);
	if (h->frag & IPV4_MF)
		p->flags |= VS_PKT_FRAGMENT;
	narrow(r, h->total_len, len + UDP_LEN + BTH_LEN);
	r->off += len;
	return parse_udp(p, r);
}

static int parse_ipv6(struct vs_pkt *p, struct reader *r)
{
	const uint8_t *b = peek(r, GRH_LEN);

	p->encap = VS_ENCAP_ROCEV2_IPV6;
	p->net_off = (uint32_t)r->off;
	if (b == NULL || b[6] != IPPROTO_UDP_)
		return VS_ERR_NOT_RDMA;
	parse_grh_fields(&p->grh, b);
	narrow(r, (size_t)GRH_LEN + p->grh.paylen, GRH_LEN + UDP_LEN + BTH_LEN);
	r->off += GRH_LEN;
	return parse_udp(p, r);
}

/* ---- native InfiniBand ---- */

/*
 * The LRH counts in words; the VCRC comes after. When PktLen is impossible the length of the buffer
 * decides: 4n + 2 bytes end with a VCRC, since all that stands before it is made of words.
 */
static void ib_length(const struct vs_pkt *p, struct reader *r)
{
	size_t len = (size_t)p->lrh.pktlen * 4, least = LRH_LEN, there = r->end - r->off;

	if (p->lrh.lnh == VS_LNH_IBA_LOCAL)
		least += BTH_LEN;
	if (p->lrh.lnh == VS_LNH_IBA_GLOBAL) {
		const uint8_t *b = peek(r, LRH_LEN + 7);

		least += GRH_LEN;
		if (b != NULL && b[LRH_LEN + 6] == VS_GRH_NXTHDR_IBA)
			least += BTH_LEN;
	}
	if (len >= least && len <= there)
		r->end = r->off + len;
	else if (there % 4 == VCRC_LEN && there >= LRH_LEN + VCRC_LEN)
		r->end -= VCRC_LEN;
	r->vcrc = r->wire - r->end >= VCRC_LEN;
}

/* The header behind the LRH (or GRH) is not whole: what is left of it is payload. */
static int parse_ib_cut(struct vs_pkt *p, struct reader *r)
{
	p->flags |= VS_PKT_HDR_MISSING;
	return parse_raw(p, r);
}

static int parse_ib_raw(struct vs_pkt *p, struct reader *r)
{
	const uint8_t *b;

	p->encap = VS_ENCAP_IB_RAW;
	if (p->lrh.lnh == VS_LNH_IPV6)
		return parse_raw(p, r);
	b = peek(r, 4);
	if (b == NULL)
		return parse_ib_cut(p, r);
	p->rwh.rsv = get16(b);
	p->rwh.etype = get16(b + 2);
	p->flags |= VS_PKT_HAS_RWH;
	r->off += 4;
	return parse_raw(p, r);
}

static int parse_ib(struct vs_pkt *p, struct reader *r)
{
	const uint8_t *b = peek(r, LRH_LEN);
	struct vs_lrh *h = &p->lrh;

	p->encap = VS_ENCAP_IB;
	if (b == NULL)
		return too_short(p, r, LRH_LEN);
	h->vl = b[0] >> 4;
	h->lver = b[0] & 0x0f;
	h->sl = b[1] >> 4;
	h->rsv1 = (b[1] >> 2) & 3;
	h->lnh = b[1] & 3;
	h->dlid = get16(b + 2);
	h->rsv2 = b[4] >> 3;
	h->pktlen = get16(b + 4) & 0x7ff;
	h->slid = get16(b + 6);
	ib_length(p, r);
	r->off += LRH_LEN;
	if (h->lnh == VS_LNH_RAW || h->lnh == VS_LNH_IPV6)
		return parse_ib_raw(p, r);
	if (h->lnh == VS_LNH_IBA_GLOBAL) {
		b = peek(r, GRH_LEN);
		if (b == NULL)
			return parse_ib_cut(p, r);
		parse_grh_fields(&p->grh, b);
		p->encap = VS_ENCAP_IB_GRH;
		r->off += GRH_LEN;
		if (p->grh.nxthdr != VS_GRH_NXTHDR_IBA)
			return parse_raw(p, r);
	}
	return peek(r, BTH_LEN) == NULL ? parse_ib_cut(p, r) : parse_bth(p, r);
}

/* ---- Ethernet ---- */

static bool is_vlan_tpid(uint16_t t)
{
	return t == 0x8100 || t == 0x88a8 || t == 0x9100 || t == 0x9200;
}

/* Tags and what they carry; the reader stands behind `ethertype`. */
static int parse_ethertype(struct vs_pkt *p, struct reader *r, uint16_t ethertype)
{
	while (is_vlan_tpid(ethertype) && p->eth.vlan_count < VS_MAX_VLAN) {
		struct vs_vlan *v = &p->eth.vlan[p->eth.vlan_count++];
		const uint8_t *b = peek(r, 4);

		if (b == NULL)
			return VS_ERR_NOT_RDMA;
		v->tpid = ethertype;
		v->tci = get16(b);
		ethertype = get16(b + 2);
		r->off += 4;
	}
	if ((p->flags & VS_PKT_HAS_ETH) || p->eth.vlan_count > 0)
		p->eth.ethertype = ethertype;
	switch (ethertype) {
	case VS_ETHERTYPE_ROCEV1:
		return parse_rocev1(p, r);
	case VS_ETHERTYPE_IPV4:
		return parse_ipv4(p, r);
	case VS_ETHERTYPE_IPV6:
		return parse_ipv6(p, r);
	default:
		return VS_ERR_NOT_RDMA;
	}
}

static int parse_ethernet(struct vs_pkt *p, struct reader *r)
{
	const uint8_t *b = peek(r, ETH_LEN + 2);

	if (b == NULL)
		return VS_ERR_NOT_RDMA;
	memcpy(p->eth.dst, b, 6);
	memcpy(p->eth.src, b + 6, 6);
	p->flags |= VS_PKT_HAS_ETH;
	r->off += ETH_LEN + 2;
	return parse_ethertype(p, r, get16(b + ETH_LEN));
}

static int parse_ip(struct vs_pkt *p, struct reader *r)
{
	const uint8_t *b = peek(r, 1);

	if (b != NULL && b[0] >> 4 == 4)
		return parse_ipv4(p, r);
	if (b != NULL && b[0] >> 4 == 6)
		return parse_ipv6(p, r);
	return VS_ERR_NOT_RDMA;
}

int vs_pkt_parse(struct vs_pkt *p, enum vs_link link, uint16_t ethertype, const uint8_t *buf, size_t caplen,
		 size_t wirelen, unsigned opt)
{
	struct reader r = {.buf = buf, .cap = caplen, .wire = wirelen, .end = wirelen, .opt = opt};

	memset(p, 0, sizeof(*p));
	if (opt & VS_PARSE_FRAGMENT)
		p->flags = VS_PKT_FRAGMENT;
	if (caplen > wirelen || caplen > INT32_MAX)
		return VS_ERR_INVAL;
	if (wirelen > INT32_MAX)
		r.wire = r.end = INT32_MAX;
	switch (link) {
	case VS_LINK_ETHERNET:
		return parse_ethernet(p, &r);
	case VS_LINK_ETHERTYPE:
		return parse_ethertype(p, &r, ethertype);
	case VS_LINK_IP:
		return parse_ip(p, &r);
	case VS_LINK_IB:
		return parse_ib(p, &r);
	case VS_LINK_GRH:
		return parse_rocev1(p, &r);
	case VS_LINK_BTH:
		return parse_bth(p, &r);
	}
	return VS_ERR_INVAL;
}
