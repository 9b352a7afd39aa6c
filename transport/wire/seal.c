/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * seal.c - legal packets: a skeleton to start from, and everything that follows from the rest of a
 * packet (pad, lengths, checksums, CRCs) filled in.
 */
#include <string.h>

#include "bytes.h"
#include "encode.h"
#include "vs/icrc.h"

#define IPV4_DF 0x4000u

static void init_grh(struct vs_grh *h, uint8_t nxthdr)
{
	h->ipver = 6;
	h->nxthdr = nxthdr;
	h->hoplmt = 64;
}

static void init_net(struct vs_pkt *p)
{
	switch (p->encap) {
	case VS_ENCAP_IB:
		p->lrh.lnh = VS_LNH_IBA_LOCAL;
		break;
	case VS_ENCAP_IB_GRH:
		p->lrh.lnh = VS_LNH_IBA_GLOBAL;
		init_grh(&p->grh, VS_GRH_NXTHDR_IBA);
		break;
	case VS_ENCAP_IB_RAW:
		p->lrh.lnh = VS_LNH_RAW;
		p->flags |= VS_PKT_HAS_RWH;
		break;
	case VS_ENCAP_ROCEV1:
		p->eth.ethertype = VS_ETHERTYPE_ROCEV1;
		init_grh(&p->grh, VS_GRH_NXTHDR_IBA);
		break;
	case VS_ENCAP_ROCEV2_IPV4:
		p->eth.ethertype = VS_ETHERTYPE_IPV4;
		p->ipv4 = (struct vs_ipv4){.version = 4, .ihl = 5, .ttl = 64, .protocol = 17, .frag = IPV4_DF};
		break;
	case VS_ENCAP_ROCEV2_IPV6:
		p->eth.ethertype = VS_ETHERTYPE_IPV6;
		init_grh(&p->grh, 17);
		break;
	case VS_ENCAP_BARE:
		break;
	}
	p->udp.sport = 0xc000;
	p->udp.dport = VS_UDP_PORT_ROCE;
}

static bool is_native(enum vs_encap e)
{
	return e == VS_ENCAP_IB || e == VS_ENCAP_IB_GRH || e == VS_ENCAP_IB_RAW;
}

void vs_pkt_init(struct vs_pkt *p, enum vs_encap encap, uint8_t opcode, bool ethernet)
{
	static const uint8_t zeros[16];

	memset(p, 0, sizeof(*p));
	p->encap = encap;
	init_net(p);
	if (is_native(encap))
		p->flags |= VS_PKT_HAS_VCRC;
	else if (ethernet && encap != VS_ENCAP_BARE)
		p->flags |= VS_PKT_HAS_ETH;
	else
		p->eth.ethertype = 0;
	if (encap == VS_ENCAP_IB_RAW)
		return;
	p->flags |= VS_PKT_HAS_BTH | VS_PKT_HAS_ICRC;
	p->hdrs = vs_opcodes[opcode].hdrs;
	p->bth.opcode = opcode;
	p->bth.migreq = true;
	p->bth.pkey = 0xffff;
	p->ext.feth.plt = 1;
	if (opcode == VS_OP_CNP) {
		p->bth.migreq = false;
		p->payload = zeros;
		p->payload_len = sizeof(zeros);
	}
}

static void seal_pad(struct vs_pkt *p)
{
	p->pad_len = (uint8_t)(-p->payload_len & 3);
	p->bth.padcnt = p->pad_len;
	memset(p->pad, 0, sizeof(p->pad));
}

/* Lengths, from the outside in; false when one does not fit its field. */
static bool seal_len(struct vs_pkt *p)
{
	size_t body, net, ip;

	if (p->encap == VS_ENCAP_ROCEV2_IPV4 && p->ipv4.ihl < 5)
		p->ipv4.ihl = 5;
	body = vs_enc_body_size(p);
	net = vs_enc_net_size(p);
	ip = net + body;
	if (is_native(p->encap)) {
		if (ip / 4 > 0x7ff)
			return false;
		p->lrh.pktlen = (uint16_t)(ip / 4);
	}
	if (ip > UINT16_MAX)
		return false;
	if (p->encap == VS_ENCAP_ROCEV2_IPV4)
		p->ipv4.total_len = (uint16_t)ip;
	p->udp.len = (uint16_t)(8 + body);
	p->grh.paylen = p->encap == VS_ENCAP_ROCEV2_IPV6 ? p->udp.len : (uint16_t)body;
	return true;
}

uint16_t vs_ipv4_csum(const struct vs_ipv4 *h)
{
	uint8_t b[60];
	uint32_t sum = 0;
	size_t n = vs_enc_ipv4_size(h);

	vs_enc_ipv4(h, b);
	b[10] = b[11] = 0;
	for (size_t i = 0; i < n; i += 2)
		sum += get16(b + i);
	sum = (sum & 0xffff) + (sum >> 16);
	sum += sum >> 16;
	return (uint16_t)~sum;
}

static int seal_crcs(struct vs_pkt *p, unsigned what, uint8_t *b, size_t cap)
{
	size_t net = vs_enc_net_size(p), body = vs_enc_body_size(p);
	int n = vs_pkt_build(p, b, cap);

	if (n < 0)
		return n;
	b += vs_enc_eth_size(p);
	if ((what & VS_SEAL_ICRC) && (p->flags & VS_PKT_HAS_ICRC) && p->encap != VS_ENCAP_BARE) {
		if (!vs_icrc_bytes(p->encap, b, net, net + body - 4, &p->icrc))
			return VS_ERR_INVAL;
		put32le(b + net + body - 4, p->icrc);
	}
	if ((what & VS_SEAL_VCRC) && is_native(p->encap))
		p->vcrc = vs_vcrc_bytes(b, net + body);
	return VS_OK;
}

int vs_pkt_seal(struct vs_pkt *p, unsigned what, uint8_t *scratch, size_t cap)
{
	if (p->flags & VS_PKT_SNAPPED)
		return VS_ERR_INVAL;
	if ((what & VS_SEAL_ICRC) && (p->flags & VS_PKT_HAS_BTH) && p->encap != VS_ENCAP_BARE)
		p->flags |= VS_PKT_HAS_ICRC;
	if ((what & VS_SEAL_VCRC) && is_native(p->encap))
		p->flags |= VS_PKT_HAS_VCRC;
	if ((what & VS_SEAL_PAD) && (p->flags & VS_PKT_HAS_BTH))
		seal_pad(p);
	if ((what & VS_SEAL_LEN) && !seal_len(p))
		return VS_ERR_INVAL;
	if (what & VS_SEAL_CSUM) {
		p->udp.csum = 0;
		if (p->encap == VS_ENCAP_ROCEV2_IPV4)
			p->ipv4.csum = vs_ipv4_csum(&p->ipv4);
	}
	if (what & (VS_SEAL_ICRC | VS_SEAL_VCRC))
		return seal_crcs(p, what, scratch, cap);
	return VS_OK;
}
