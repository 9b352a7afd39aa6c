/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * equal.c - do two packets say the same on the wire? Field by field, and only those fields that
 * vs_pkt_build writes for this packet.
 */
#include <string.h>

#include "encode.h"

#define ON_WIRE ((uint32_t)(VS_PKT_HAS_ICRC | VS_PKT_HAS_VCRC | VS_PKT_HAS_BTH | VS_PKT_HAS_ETH | VS_PKT_HAS_RWH))

static bool eth_equal(const struct vs_pkt *a, const struct vs_pkt *b)
{
	const struct vs_eth *x = &a->eth, *y = &b->eth;

	if (x->vlan_count != y->vlan_count || x->vlan_count > VS_MAX_VLAN)
		return false;
	for (unsigned i = 0; i < x->vlan_count; i++)
		if (x->vlan[i].tpid != y->vlan[i].tpid || x->vlan[i].tci != y->vlan[i].tci)
			return false;
	if (x->vlan_count > 0 && x->ethertype != y->ethertype)
		return false;
	if (!(a->flags & VS_PKT_HAS_ETH))
		return true;
	return x->ethertype == y->ethertype && memcmp(x->dst, y->dst, 6) == 0 && memcmp(x->src, y->src, 6) == 0;
}

static bool lrh_equal(const struct vs_lrh *x, const struct vs_lrh *y)
{
	return x->vl == y->vl && x->lver == y->lver && x->sl == y->sl && x->rsv1 == y->rsv1 && x->lnh == y->lnh &&
	       x->rsv2 == y->rsv2 && x->dlid == y->dlid && x->pktlen == y->pktlen && x->slid == y->slid;
}

static bool grh_equal(const struct vs_grh *x, const struct vs_grh *y)
{
	return x->ipver == y->ipver && x->tclass == y->tclass && x->flowlabel == y->flowlabel &&
	       x->paylen == y->paylen && x->nxthdr == y->nxthdr && x->hoplmt == y->hoplmt &&
	       memcmp(x->sgid, y->sgid, 16) == 0 && memcmp(x->dgid, y->dgid, 16) == 0;
}

static bool ipv4_equal(const struct vs_ipv4 *x, const struct vs_ipv4 *y)
{
	return x->version == y->version && x->ihl == y->ihl && x->tos == y->tos && x->ttl == y->ttl &&
	       x->protocol == y->protocol && x->total_len == y->total_len && x->id == y->id && x->frag == y->frag &&
	       x->csum == y->csum && memcmp(x->src, y->src, 4) == 0 && memcmp(x->dst, y->dst, 4) == 0 &&
	       memcmp(x->options, y->options, vs_enc_ipv4_size(x) - 20) == 0;
}

static bool udp_equal(const struct vs_udp *x, const struct vs_udp *y)
{
	return x->sport == y->sport && x->dport == y->dport && x->len == y->len && x->csum == y->csum;
}

static bool net_equal(const struct vs_pkt *a, const struct vs_pkt *b)
{
	if ((a->flags & VS_PKT_HAS_RWH) && (a->rwh.rsv != b->rwh.rsv || a->rwh.etype != b->rwh.etype))
		return false;
	switch (a->encap) {
	case VS_ENCAP_BARE:
		break;
	case VS_ENCAP_IB:
	case VS_ENCAP_IB_RAW:
		return lrh_equal(&a->lrh, &b->lrh);
	case VS_ENCAP_IB_GRH:
		return lrh_equal(&a->lrh, &b->lrh) && grh_equal(&a->grh, &b->grh);
	case VS_ENCAP_ROCEV1:
		return grh_equal(&a->grh, &b->grh);
	case VS_ENCAP_ROCEV2_IPV4:
		return ipv4_equal(&a->ipv4, &b->ipv4) && udp_equal(&a->udp, &b->udp);
	case VS_ENCAP_ROCEV2_IPV6:
		return grh_equal(&a->grh, &b->grh) && udp_equal(&a->udp, &b->udp);
	}
	return true;
}

static bool bth_equal(const struct vs_bth *x, const struct vs_bth *y)
{
	return x->opcode == y->opcode && x->se == y->se && x->migreq == y->migreq && x->fecn == y->fecn &&
	       x->becn == y->becn && x->ackreq == y->ackreq && x->padcnt == y->padcnt && x->tver == y->tver &&
	       x->resv6 == y->resv6 && x->resv7 == y->resv7 && x->pkey == y->pkey && x->destqp == y->destqp &&
	       x->psn == y->psn;
}

static bool ext_equal(const struct vs_ext *x, const struct vs_ext *y, enum vs_hdr hdr)
{
	switch (hdr) {
	case VS_HDR_DCEXT:
		return memcmp(x->dcext, y->dcext, sizeof(x->dcext)) == 0;
	case VS_HDR_DCCETH:
		return memcmp(x->dcceth, y->dcceth, sizeof(x->dcceth)) == 0;
	case VS_HDR_RDETH:
		return x->rdeth.rsv == y->rdeth.rsv && x->rdeth.eecontext == y->rdeth.eecontext;
	case VS_HDR_XRCETH:
		return x->xrceth.rsv == y->xrceth.rsv && x->xrceth.xrcsrq == y->xrceth.xrcsrq;
	case VS_HDR_DETH:
		return x->deth.qkey == y->deth.qkey && x->deth.rsv == y->deth.rsv && x->deth.srcqp == y->deth.srcqp;
	case VS_HDR_FETH:
		return x->feth.rsv == y->feth.rsv && x->feth.sel == y->feth.sel && x->feth.plt == y->feth.plt;
	case VS_HDR_RETH:
		return x->reth.va == y->reth.va && x->reth.rkey == y->reth.rkey && x->reth.dmalen == y->reth.dmalen;
	case VS_HDR_AETH:
		return x->aeth.syndrome == y->aeth.syndrome && x->aeth.msn == y->aeth.msn;
	case VS_HDR_ATOMICETH:
		return x->atomiceth.va == y->atomiceth.va && x->atomiceth.rkey == y->atomiceth.rkey &&
		       x->atomiceth.swapadd == y->atomiceth.swapadd && x->atomiceth.compare == y->atomiceth.compare;
	case VS_HDR_ATOMICACKETH:
		return x->atomicack_origdata == y->atomicack_origdata;
	case VS_HDR_IMMDT:
		return x->immdt == y->immdt;
	case VS_HDR_IETH:
		return x->ieth_rkey == y->ieth_rkey;
	}
	return false;
}

static bool exts_equal(const struct vs_pkt *a, const struct vs_pkt *b)
{
	for (unsigned i = 0; i < VS_HDR_COUNT; i++)
		if ((a->hdrs & (1u << i)) && !ext_equal(&a->ext, &b->ext, (enum vs_hdr)(1u << i)))
			return false;
	return true;
}

static bool bytes_equal(const uint8_t *x, size_t x_len, const uint8_t *y, size_t y_len)
{
	return x_len == y_len && (x_len == 0 || memcmp(x, y, x_len) == 0);
}

bool vs_pkt_equal(const struct vs_pkt *a, const struct vs_pkt *b)
{
	if (a->encap != b->encap || ((a->flags ^ b->flags) & ON_WIRE) || a->hdrs != b->hdrs)
		return false;
	if (!eth_equal(a, b) || !net_equal(a, b))
		return false;
	if ((a->flags & VS_PKT_HAS_BTH) && !bth_equal(&a->bth, &b->bth))
		return false;
	if ((a->flags & VS_PKT_HAS_ICRC) && a->icrc != b->icrc)
		return false;
	if ((a->flags & VS_PKT_HAS_VCRC) && a->vcrc != b->vcrc)
		return false;
	if (a->pad_len > sizeof(a->pad))
		return false;
	return exts_equal(a, b) && bytes_equal(a->payload, a->payload_len, b->payload, b->payload_len) &&
	       bytes_equal(a->pad, a->pad_len, b->pad, b->pad_len) &&
	       bytes_equal(a->trailer, a->trailer_len, b->trailer, b->trailer_len);
}
