/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * build.c - struct vs_pkt -> bytes: exactly what the struct says, legal or not.
 *
 * Only a number that has no room in its field is refused; it is found before the first byte is
 * written. The order of the headers is that of parse.c.
 */
#include <string.h>

#include "bytes.h"
#include "encode.h"

/* ---- sizes ---- */

size_t vs_enc_eth_size(const struct vs_pkt *p)
{
	size_t tags = (size_t)p->eth.vlan_count * 4;

	if (p->flags & VS_PKT_HAS_ETH)
		return 14 + tags;
	return tags;
}

static bool has_lrh(const struct vs_pkt *p)
{
	return p->encap == VS_ENCAP_IB || p->encap == VS_ENCAP_IB_GRH || p->encap == VS_ENCAP_IB_RAW;
}

static bool has_grh(const struct vs_pkt *p)
{
	return p->encap == VS_ENCAP_IB_GRH || p->encap == VS_ENCAP_ROCEV1 || p->encap == VS_ENCAP_ROCEV2_IPV6;
}

static bool has_udp(const struct vs_pkt *p)
{
	return p->encap == VS_ENCAP_ROCEV2_IPV4 || p->encap == VS_ENCAP_ROCEV2_IPV6;
}

size_t vs_enc_ipv4_size(const struct vs_ipv4 *h)
{
	if (h->ihl > 15)
		return 60;
	return h->ihl > 5 ? (size_t)h->ihl * 4 : 20;
}

size_t vs_enc_net_size(const struct vs_pkt *p)
{
	size_t n = has_lrh(p) ? 8 : 0;

	if (has_grh(p))
		n += 40;
	if (p->encap == VS_ENCAP_ROCEV2_IPV4)
		n += vs_enc_ipv4_size(&p->ipv4);
	if (has_udp(p))
		n += 8;
	return n;
}

size_t vs_enc_body_size(const struct vs_pkt *p)
{
	size_t n = (size_t)p->payload_len + p->pad_len;

	if (p->flags & VS_PKT_HAS_RWH)
		n += 4;
	if (p->flags & VS_PKT_HAS_BTH)
		n += 12 + vs_hdrs_size(p->hdrs);
	if (p->flags & VS_PKT_HAS_ICRC)
		n += 4;
	return n;
}

size_t vs_pkt_size(const struct vs_pkt *p)
{
	return vs_enc_eth_size(p) + vs_enc_net_size(p) + vs_enc_body_size(p) + (p->flags & VS_PKT_HAS_VCRC ? 2 : 0) +
	       p->trailer_len;
}

/* ---- does every number fit its field? ---- */

static bool fits(uint32_t v, unsigned bits)
{
	return v >> bits == 0;
}

static bool net_fits(const struct vs_pkt *p)
{
	const struct vs_lrh *l = &p->lrh;

	if (p->eth.vlan_count > VS_MAX_VLAN)
		return false;
	if (has_lrh(p) && !(fits(l->vl, 4) && fits(l->lver, 4) && fits(l->sl, 4) && fits(l->rsv1, 2) &&
			    fits(l->lnh, 2) && fits(l->rsv2, 5) && fits(l->pktlen, 11)))
		return false;
	if (has_grh(p) && !(fits(p->grh.ipver, 4) && fits(p->grh.flowlabel, 20)))
		return false;
	if (p->encap == VS_ENCAP_ROCEV2_IPV4 && !(fits(p->ipv4.version, 4) && fits(p->ipv4.ihl, 4)))
		return false;
	return true;
}

static bool ext_fits(const struct vs_ext *x, uint32_t hdrs)
{
	if ((hdrs & VS_HDR_RDETH) && !fits(x->rdeth.eecontext, 24))
		return false;
	if ((hdrs & VS_HDR_XRCETH) && !fits(x->xrceth.xrcsrq, 24))
		return false;
	if ((hdrs & VS_HDR_DETH) && !fits(x->deth.srcqp, 24))
		return false;
	if ((hdrs & VS_HDR_FETH) && !(fits(x->feth.rsv, 26) && fits(x->feth.sel, 2) && fits(x->feth.plt, 4)))
		return false;
	return !(hdrs & VS_HDR_AETH) || fits(x->aeth.msn, 24);
}

static bool all_fit(const struct vs_pkt *p)
{
	const struct vs_bth *h = &p->bth;

	if (!net_fits(p) || p->pad_len > sizeof(p->pad) || (p->hdrs != 0 && !(p->flags & VS_PKT_HAS_BTH)))
		return false;
	if ((p->payload_len > 0 && p->payload == NULL) || (p->trailer_len > 0 && p->trailer == NULL))
		return false;
	if (!(p->flags & VS_PKT_HAS_BTH))
		return true;
	return fits(h->padcnt, 2) && fits(h->tver, 4) && fits(h->resv6, 6) && fits(h->resv7, 7) &&
	       fits(h->destqp, 24) && fits(h->psn, 24) && fits(p->hdrs, VS_HDR_COUNT) && ext_fits(&p->ext, p->hdrs);
}

/* ---- writing; each returns the first byte behind what it wrote ---- */

static uint8_t *put_bytes(uint8_t *b, const void *from, size_t n)
{
	if (n > 0)
		memcpy(b, from, n);
	return b + n;
}

static uint8_t *put_eth(const struct vs_pkt *p, uint8_t *b)
{
	const struct vs_eth *h = &p->eth;
	bool tpid = false;

	if (p->flags & VS_PKT_HAS_ETH) {
		b = put_bytes(b, h->dst, 6);
		b = put_bytes(b, h->src, 6);
		tpid = true;
	}
	for (unsigned i = 0; i < h->vlan_count; i++) {
		if (tpid) {
			put16(b, h->vlan[i].tpid);
			b += 2;
		}
		put16(b, h->vlan[i].tci);
		b += 2;
		tpid = true;
	}
	if (tpid) {
		put16(b, h->ethertype);
		b += 2;
	}
	return b;
}

static uint8_t *put_lrh(const struct vs_lrh *h, uint8_t *b)
{
	b[0] = (uint8_t)(h->vl << 4 | h->lver);
	b[1] = (uint8_t)(h->sl << 4 | h->rsv1 << 2 | h->lnh);
	put16(b + 2, h->dlid);
	put16(b + 4, (uint32_t)h->rsv2 << 11 | h->pktlen);
	put16(b + 6, h->slid);
	return b + 8;
}

static uint8_t *put_grh(const struct vs_grh *h, uint8_t *b)
{
	put32(b, (uint32_t)h->ipver << 28 | (uint32_t)h->tclass << 20 | h->flowlabel);
	put16(b + 4, h->paylen);
	b[6] = h->nxthdr;
	b[7] = h->hoplmt;
	memcpy(b + 8, h->sgid, 16);
	memcpy(b + 24, h->dgid, 16);
	return b + 40;
}

uint8_t *vs_enc_ipv4(const struct vs_ipv4 *h, uint8_t *b)
{
	b[0] = (uint8_t)(h->version << 4 | h->ihl);
	b[1] = h->tos;
	put16(b + 2, h->total_len);
	put16(b + 4, h->id);
	put16(b + 6, h->frag);
	b[8] = h->ttl;
	b[9] = h->protocol;
	put16(b + 10, h->csum);
	memcpy(b + 12, h->src, 4);
	memcpy(b + 16, h->dst, 4);
	return put_bytes(b + 20, h->options, vs_enc_ipv4_size(h) - 20);
}

static uint8_t *put_net(const struct vs_pkt *p, uint8_t *b)
{
	if (has_lrh(p))
		b = put_lrh(&p->lrh, b);
	if (has_grh(p))
		b = put_grh(&p->grh, b);
	if (p->encap == VS_ENCAP_ROCEV2_IPV4)
		b = vs_enc_ipv4(&p->ipv4, b);
	if (has_udp(p)) {
		put16(b, p->udp.sport);
		put16(b + 2, p->udp.dport);
		put16(b + 4, p->udp.len);
		put16(b + 6, p->udp.csum);
		b += 8;
	}
	if (p->flags & VS_PKT_HAS_RWH) {
		put16(b, p->rwh.rsv);
		put16(b + 2, p->rwh.etype);
		b += 4;
	}
	return b;
}

static uint8_t *put_bth(const struct vs_bth *h, uint8_t *b)
{
	b[0] = h->opcode;
	b[1] = (uint8_t)(h->se << 7 | h->migreq << 6 | h->padcnt << 4 | h->tver);
	put16(b + 2, h->pkey);
	b[4] = (uint8_t)(h->fecn << 7 | h->becn << 6 | h->resv6);
	put24(b + 5, h->destqp);
	b[8] = (uint8_t)(h->ackreq << 7 | h->resv7);
	put24(b + 9, h->psn);
	return b + 12;
}

static void put_ext(const struct vs_ext *x, enum vs_hdr hdr, uint8_t *b)
{
	switch (hdr) {
	case VS_HDR_DCEXT:
		memcpy(b, x->dcext, sizeof(x->dcext));
		break;
	case VS_HDR_DCCETH:
		memcpy(b, x->dcceth, sizeof(x->dcceth));
		break;
	case VS_HDR_RDETH:
		put32(b, (uint32_t)x->rdeth.rsv << 24 | x->rdeth.eecontext);
		break;
	case VS_HDR_XRCETH:
		put32(b, (uint32_t)x->xrceth.rsv << 24 | x->xrceth.xrcsrq);
		break;
	case VS_HDR_DETH:
		put32(b, x->deth.qkey);
		put32(b + 4, (uint32_t)x->deth.rsv << 24 | x->deth.srcqp);
		break;
	case VS_HDR_FETH:
		put32(b, x->feth.rsv << 6 | (uint32_t)x->feth.sel << 4 | x->feth.plt);
		break;
	case VS_HDR_RETH:
		put64(b, x->reth.va);
		put32(b + 8, x->reth.rkey);
		put32(b + 12, x->reth.dmalen);
		break;
	case VS_HDR_AETH:
		put32(b, (uint32_t)x->aeth.syndrome << 24 | x->aeth.msn);
		break;
	case VS_HDR_ATOMICETH:
		put64(b, x->atomiceth.va);
		put32(b + 8, x->atomiceth.rkey);
		put64(b + 12, x->atomiceth.swapadd);
		put64(b + 20, x->atomiceth.compare);
		break;
	case VS_HDR_ATOMICACKETH:
		put64(b, x->atomicack_origdata);
		break;
	case VS_HDR_IMMDT:
		put32(b, x->immdt);
		break;
	case VS_HDR_IETH:
		put32(b, x->ieth_rkey);
		break;
	}
}

static uint8_t *put_exts(const struct vs_pkt *p, uint8_t *b)
{
	for (unsigned i = 0; i < VS_HDR_COUNT; i++) {
		if (!(p->hdrs & (1u << i)))
			continue;
		put_ext(&p->ext, (enum vs_hdr)(1u << i), b);
		b += vs_hdr_size[i];
	}
	return b;
}

int vs_pkt_build(const struct vs_pkt *p, uint8_t *buf, size_t cap)
{
	size_t n = vs_pkt_size(p);
	uint8_t *b = buf;

	if (!all_fit(p) || n > INT32_MAX)
		return VS_ERR_INVAL;
	if (n > cap)
		return VS_ERR_NOSPACE;
	b = put_eth(p, b);
	b = put_net(p, b);
	if (p->flags & VS_PKT_HAS_BTH)
		b = put_exts(p, put_bth(&p->bth, b));
	b = put_bytes(b, p->payload, p->payload_len);
	b = put_bytes(b, p->pad, p->pad_len);
	if (p->flags & VS_PKT_HAS_ICRC) {
		put32le(b, p->icrc);
		b += 4;
	}
	if (p->flags & VS_PKT_HAS_VCRC) {
		put16le(b, p->vcrc);
		b += 2;
	}
	put_bytes(b, p->trailer, p->trailer_len);
	return (int)n;
}

enum vs_link vs_pkt_link(const struct vs_pkt *p, uint16_t *ethertype)
{
	bool tagged = p->eth.vlan_count > 0;

	*ethertype = 0;
	if (p->flags & VS_PKT_HAS_ETH)
		return VS_LINK_ETHERNET;
	switch (p->encap) {
	case VS_ENCAP_ROCEV1:
		*ethertype = tagged ? p->eth.vlan[0].tpid : VS_ETHERTYPE_ROCEV1;
		return VS_LINK_ETHERTYPE;
	case VS_ENCAP_ROCEV2_IPV4:
		*ethertype = tagged ? p->eth.vlan[0].tpid : VS_ETHERTYPE_IPV4;
		return VS_LINK_ETHERTYPE;
	case VS_ENCAP_ROCEV2_IPV6:
		*ethertype = tagged ? p->eth.vlan[0].tpid : VS_ETHERTYPE_IPV6;
		return VS_LINK_ETHERTYPE;
	case VS_ENCAP_IB:
	case VS_ENCAP_IB_GRH:
	case VS_ENCAP_IB_RAW:
		return VS_LINK_IB;
	case VS_ENCAP_BARE:
		break;
	}
	return VS_LINK_BTH;
}
