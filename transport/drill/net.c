/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * net.c - what is in front of the BTH, by the keys of the language: Ethernet, LRH, GRH, IPv4, IPv6, UDP.
 *
 * ttl, tclass, dscp, ecn, src and dst are the same words in IPv4, IPv6 and GRH.
 */
#include <stdio.h>

#include "packet.h"

#define DF 0x4000u
#define MF 0x2000u
#define OFFSET 0x1fffu

static bool has_v4(const struct vs_pkt *p)
{
	return p->encap == VS_ENCAP_ROCEV2_IPV4;
}

static bool has_udp(const struct vs_pkt *p)
{
	return p->encap == VS_ENCAP_ROCEV2_IPV4 || p->encap == VS_ENCAP_ROCEV2_IPV6;
}

static bool has_grh(const struct vs_pkt *p)
{
	return p->encap == VS_ENCAP_ROCEV2_IPV6 || p->encap == VS_ENCAP_ROCEV1 || p->encap == VS_ENCAP_IB_GRH;
}

static bool has_lrh(const struct vs_pkt *p)
{
	return p->encap == VS_ENCAP_IB || p->encap == VS_ENCAP_IB_GRH;
}

/* ---- reading ---- */

static bool link_field(const struct vs_pkt *p, int id, uint64_t *v)
{
	uint16_t tci = p->eth.vlan_count > 0 ? p->eth.vlan[0].tci : 0;

	switch (id) {
	case K_ETHERTYPE:
		*v = p->eth.ethertype;
		return p->flags & VS_PKT_HAS_ETH;
	case K_VLAN:
		*v = tci & 0xfff;
		return p->eth.vlan_count > 0;
	case K_PCP:
		*v = tci >> 13;
		return p->eth.vlan_count > 0;
	case K_SLID:
		*v = p->lrh.slid;
		return has_lrh(p);
	case K_DLID:
		*v = p->lrh.dlid;
		return has_lrh(p);
	case K_LSL:
		*v = p->lrh.sl;
		return has_lrh(p);
	case K_VL:
		*v = p->lrh.vl;
		return has_lrh(p);
	case K_LVER:
		*v = p->lrh.lver;
		return has_lrh(p);
	case K_LNH:
		*v = p->lrh.lnh;
		return has_lrh(p);
	case K_LRH_RSV:
		*v = p->lrh.rsv1;
		return has_lrh(p);
	case K_LRH_LEN:
		*v = p->lrh.pktlen;
		return has_lrh(p);
	case K_SPORT:
		*v = p->udp.sport;
		return has_udp(p);
	case K_DPORT:
		*v = p->udp.dport;
		return has_udp(p);
	case K_UDP_LEN:
		*v = p->udp.len;
		return has_udp(p);
	case K_UDP_SUM:
		*v = p->udp.csum;
		return has_udp(p);
	default:
		return false;
	}
}

static bool v4_field(const struct vs_ipv4 *h, int id, uint64_t *v)
{
	switch (id) {
	case K_IHL:
		*v = h->ihl;
		return true;
	case K_IP_ID:
		*v = h->id;
		return true;
	case K_DF:
		*v = (h->frag & DF) != 0;
		return true;
	case K_MF:
		*v = (h->frag & MF) != 0;
		return true;
	case K_FRAG_OFFSET:
		*v = h->frag & OFFSET;
		return true;
	case K_IP_SUM:
		*v = h->csum;
		return true;
	default:
		return false;
	}
}

bool dr_net_field(const struct vs_pkt *p, int id, uint64_t *v)
{
	bool v4 = has_v4(p), any = v4 || has_grh(p);
	uint8_t tclass = v4 ? p->ipv4.tos : p->grh.tclass;

	*v = 0;
	switch (id) {
	case K_ECN:
		*v = tclass & 3;
		return any;
	case K_DSCP:
		*v = tclass >> 2;
		return any;
	case K_TOS:
		*v = tclass;
		return any;
	case K_TTL:
		*v = v4 ? p->ipv4.ttl : p->grh.hoplmt;
		return any;
	case K_IP_VERSION:
		*v = v4 ? p->ipv4.version : p->grh.ipver;
		return any;
	case K_PROTOCOL:
		*v = v4 ? p->ipv4.protocol : p->grh.nxthdr;
		return any;
	case K_IP_LEN:
		*v = v4 ? p->ipv4.total_len : p->grh.paylen;
		return any;
	case K_FLOW:
		*v = p->grh.flowlabel;
		return has_grh(p);
	default:
		return v4 && v4_field(&p->ipv4, id, v) ? true : link_field(p, id, v);
	}
}

size_t dr_net_bytes(const struct vs_pkt *p, int id, uint8_t mapped[16], const uint8_t **bytes)
{
	bool src = id == K_SRC;

	if (id == K_ETH_SRC || id == K_ETH_DST) {
		*bytes = id == K_ETH_SRC ? p->eth.src : p->eth.dst;
		return p->flags & VS_PKT_HAS_ETH ? 6 : 0;
	}
	if (!has_v4(p)) {
		*bytes = src ? p->grh.sgid : p->grh.dgid;
		return has_grh(p) ? 16 : 0;
	}
	memset(mapped, 0, 10);
	mapped[10] = mapped[11] = 0xff;
	memcpy(mapped + 12, src ? p->ipv4.src : p->ipv4.dst, 4);
	*bytes = mapped;
	return 16;
}

/* ---- writing ---- */

static void set_tag(struct vs_pkt *p, uint16_t mask, uint16_t value)
{
	if (p->eth.vlan_count == 0) {
		p->eth.vlan_count = 1;
		p->eth.vlan[0] = (struct vs_vlan){0x8100, 0};
	}
	p->eth.vlan[0].tci = (uint16_t)((p->eth.vlan[0].tci & ~mask) | value);
}

static void set_link_field(struct vs_pkt *p, int id, uint64_t v)
{
	switch (id) {
	case K_ETHERTYPE:
		p->eth.ethertype = (uint16_t)v;
		break;
	case K_SLID:
		p->lrh.slid = (uint16_t)v;
		break;
	case K_DLID:
		p->lrh.dlid = (uint16_t)v;
		break;
	case K_LSL:
		p->lrh.sl = (uint8_t)v;
		break;
	case K_VL:
		p->lrh.vl = (uint8_t)v;
		break;
	case K_LVER:
		p->lrh.lver = (uint8_t)v;
		break;
	case K_LNH:
		p->lrh.lnh = (uint8_t)v;
		break;
	case K_LRH_RSV:
		p->lrh.rsv1 = (uint8_t)v;
		break;
	case K_LRH_LEN:
		p->lrh.pktlen = (uint16_t)v;
		break;
	case K_SPORT:
		p->udp.sport = (uint16_t)v;
		break;
	case K_DPORT:
		p->udp.dport = (uint16_t)v;
		break;
	case K_UDP_LEN:
		p->udp.len = (uint16_t)v;
		break;
	default: /* K_UDP_SUM */
		p->udp.csum = (uint16_t)v;
		break;
	}
}

static void set_bits(uint16_t *at, uint16_t bits, bool on)
{
	*at = (uint16_t)(on ? *at | bits : *at & ~bits);
}

static void set_v4_field(struct vs_ipv4 *h, int id, uint64_t v)
{
	switch (id) {
	case K_IHL:
		h->ihl = (uint8_t)v;
		break;
	case K_IP_ID:
		h->id = (uint16_t)v;
		break;
	case K_DF:
		set_bits(&h->frag, DF, v != 0);
		break;
	case K_MF:
		set_bits(&h->frag, MF, v != 0);
		break;
	case K_FRAG_OFFSET:
		h->frag = (uint16_t)((h->frag & ~OFFSET) | v);
		break;
	default: /* K_IP_SUM */
		h->csum = (uint16_t)v;
		break;
	}
}

bool dr_set_net_field(struct vs_pkt *p, int id, uint64_t v)
{
	uint8_t tclass = has_v4(p) ? p->ipv4.tos : p->grh.tclass;
	uint64_t before;

	if (id == K_VLAN || id == K_PCP) {
		set_tag(p, id == K_VLAN ? 0xfff : 0xe000, (uint16_t)(id == K_VLAN ? v : v << 13));
		return p->flags & VS_PKT_HAS_ETH;
	}
	if (!dr_net_field(p, id, &before))
		return false;
	switch (id) {
	case K_ECN:
		p->ipv4.tos = p->grh.tclass = (uint8_t)((tclass & 0xfcu) | v);
		break;
	case K_DSCP:
		p->ipv4.tos = p->grh.tclass = (uint8_t)((tclass & 3) | v << 2);
		break;
	case K_TOS:
		p->ipv4.tos = p->grh.tclass = (uint8_t)v;
		break;
	case K_TTL:
		p->ipv4.ttl = p->grh.hoplmt = (uint8_t)v;
		break;
	case K_IP_VERSION:
		p->ipv4.version = p->grh.ipver = (uint8_t)v;
		break;
	case K_PROTOCOL:
		p->ipv4.protocol = p->grh.nxthdr = (uint8_t)v;
		break;
	case K_IP_LEN:
		p->ipv4.total_len = p->grh.paylen = (uint16_t)v;
		break;
	case K_FLOW:
		p->grh.flowlabel = (uint32_t)v;
		break;
	case K_IHL:
	case K_IP_ID:
	case K_DF:
	case K_MF:
	case K_FRAG_OFFSET:
	case K_IP_SUM:
		set_v4_field(&p->ipv4, id, v);
		break;
	default:
		set_link_field(p, id, v);
		break;
	}
	return true;
}

bool dr_set_net_bytes(struct vs_pkt *p, int id, const uint8_t *bytes)
{
	switch (id) {
	case K_ETH_SRC:
		memcpy(p->eth.src, bytes, 6);
		return p->flags & VS_PKT_HAS_ETH;
	case K_ETH_DST:
		memcpy(p->eth.dst, bytes, 6);
		return p->flags & VS_PKT_HAS_ETH;
	case K_SRC:
		memcpy(p->ipv4.src, bytes + 12, 4);
		memcpy(p->grh.sgid, bytes, 16);
		return has_v4(p) || has_grh(p);
	default: /* K_DST */
		memcpy(p->ipv4.dst, bytes + 12, 4);
		memcpy(p->grh.dgid, bytes, 16);
		return has_v4(p) || has_grh(p);
	}
}

uint64_t dr_net_largest(int id)
{
	switch (id) {
	case K_DF:
	case K_MF:
		return 1;
	case K_PCP:
		return 7;
	case K_IHL:
	case K_IP_VERSION:
	case K_LSL:
	case K_VL:
	case K_LVER:
		return 15;
	case K_LNH:
	case K_LRH_RSV:
		return 3;
	case K_DSCP:
		return 63;
	case K_TTL:
	case K_TOS:
	case K_PROTOCOL:
		return 255;
	case K_LRH_LEN:
		return 0x7ff;
	case K_VLAN:
		return 0xfff;
	case K_FRAG_OFFSET:
		return OFFSET;
	case K_FLOW:
		return 0xfffff;
	default:
		return 0xffff;
	}
}

/* ---- lengths and sums ---- */

bool dr_is_length(int id)
{
	return id == K_IP_LEN || id == K_UDP_LEN || id == K_LRH_LEN || id == K_IHL || id == K_PAD;
}

bool dr_is_sum(int id)
{
	return id == K_IP_SUM || id == K_UDP_SUM;
}

static uint32_t sum_of(uint32_t sum, const uint8_t *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sum += i % 2 == 0 ? (uint32_t)b[i] << 8 : b[i];
	return sum;
}

static uint16_t fold(uint32_t sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	sum += sum >> 16;
	return (uint16_t)sum;
}

/* The sum over pseudo header, UDP header and what it carries, as it stands in the bytes. RFC 768. */
static bool udp_sum(const struct vs_pkt *p, uint16_t *sum)
{
	uint8_t buf[VS_FRAME_MAX + 64];
	struct vs_pkt q;
	uint32_t s;
	int n = vs_pkt_build(p, buf, sizeof(buf));

	if (!has_udp(p) || n <= 0 ||
	    vs_pkt_parse(&q, VS_LINK_ETHERNET, 0, buf, (size_t)n, (size_t)n, VS_PARSE_ANY_PORT) != VS_OK ||
	    q.bth_off < 8)
		return false;
	s = has_v4(p) ? sum_of(sum_of(17u + p->udp.len, p->ipv4.src, 4), p->ipv4.dst, 4)
		      : sum_of(sum_of(17u + p->udp.len, p->grh.sgid, 16), p->grh.dgid, 16);
	*sum = fold(sum_of(s, buf + q.bth_off - 8, q.end_off - (q.bth_off - 8)));
	return true;
}

bool dr_udp_sum_is_valid(const struct vs_pkt *p, char *why, size_t cap)
{
	uint16_t sum;

	if (udp_sum(p, &sum) && sum == 0xffff && p->udp.csum != 0)
		return true;
	(void)snprintf(why, cap, "its UDP checksum 0x%04x is not the valid one", p->udp.csum);
	return false;
}

bool dr_set_valid_udp_sum(struct vs_pkt *p)
{
	uint16_t sum;

	p->udp.csum = 0;
	if (!udp_sum(p, &sum))
		return false;
	p->udp.csum = sum == 0xffff ? 0xffff : (uint16_t)~sum;
	return true;
}

static void put16(uint8_t *b, unsigned v)
{
	b[0] = (uint8_t)(v >> 8);
	b[1] = (uint8_t)v;
}

size_t dr_cut(uint8_t *frame, size_t len, const struct vs_pkt *p, uint64_t cut)
{
	uint8_t *net = frame + p->net_off;
	size_t left = p->end_off - cut, udp = p->bth_off - 8;

	if (cut > p->end_off - p->bth_off)
		return 0;
	if (has_lrh(p))
		put16(net + 4, (p->lrh.pktlen - (unsigned)cut / 4) & 0x7ff);
	if (has_udp(p))
		put16(frame + udp + 4, (unsigned)(left - udp));
	if (has_v4(p)) {
		put16(net + 2, (unsigned)(left - p->net_off));
		put16(net + 10, 0);
		put16(net + 10, (uint16_t)~fold(sum_of(0, net, p->ipv4.ihl * 4u)));
	} else if (p->encap == VS_ENCAP_ROCEV2_IPV6) {
		put16(net + 4, (unsigned)(left - udp));
	} else if (has_grh(p)) {
		put16(frame + p->bth_off - 40 + 4, (unsigned)(left - p->bth_off));
	}
	/* VCRC, if there is one, goes with what is cut. */
	(void)len;
	return left;
}
