/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * pktgen.h - packets for tests: random ones (every field at random, lengths that fit), legal ones of
 * every opcode and encapsulation, and mutations of bytes. Shared by the wire tests and by mkseeds.
 */
#ifndef VS_TESTS_PKTGEN_H
#define VS_TESTS_PKTGEN_H

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"
#include "vs/wire.h"

#define VS_GEN_MAX 8192 /* bytes that any generated packet fits in */
#define VS_GEN_ENCAPS 7
#define VS_GEN_PAYLOAD_MAX 4100

/* A packet and the bytes that it borrows. */
struct vs_gen {
	struct vs_pkt p;
	unsigned opt; /* what vs_pkt_parse needs to read it back */
	uint8_t payload[VS_GEN_PAYLOAD_MAX];
	uint8_t trailer[16];
};

static inline bool vs_gen_native(enum vs_encap e)
{
	return e == VS_ENCAP_IB || e == VS_ENCAP_IB_GRH || e == VS_ENCAP_IB_RAW;
}

/* `n` scaled by VS_TEST_SCALE, a percentage (sanitizers are slow): at least 1. */
static inline unsigned long vs_gen_count(unsigned long n)
{
	const char *scale = getenv("VS_TEST_SCALE");
	unsigned long percent = scale != NULL ? strtoul(scale, NULL, 10) : 100;

	n = n / 100 * percent;
	return n > 0 ? n : 1;
}

static inline void vs_gen_bytes(uint64_t *s, void *to, size_t n)
{
	uint8_t *b = to;

	for (; n > 0; n -= n < 8 ? n : 8, b += 8) {
		uint64_t r = vs_rand(s);

		memcpy(b, &r, n < 8 ? n : 8);
	}
}

/* 0 .. n-1 */
static inline uint32_t vs_gen_below(uint64_t *s, uint32_t n)
{
	return (uint32_t)((vs_rand(s) >> 33) % n);
}

static inline bool vs_gen_one_in(uint64_t *s, uint32_t n)
{
	return vs_gen_below(s, n) == 0;
}

static inline uint32_t vs_gen_bits(uint64_t *s, unsigned bits)
{
	return (uint32_t)(vs_rand(s) >> 32) >> (32 - bits);
}

static inline void vs_gen_vlan(struct vs_pkt *p, uint64_t *s)
{
	static const uint16_t tpids[] = {0x8100, 0x88a8, 0x9100, 0x9200};

	p->eth.vlan_count = (uint8_t)vs_gen_below(s, VS_MAX_VLAN + 1);
	for (unsigned i = 0; i < p->eth.vlan_count; i++) {
		p->eth.vlan[i].tpid = tpids[vs_gen_below(s, 4)];
		p->eth.vlan[i].tci = (uint16_t)vs_gen_bits(s, 16);
	}
	if (p->eth.vlan_count == 0 && !(p->flags & VS_PKT_HAS_ETH))
		return;
	p->eth.ethertype = VS_ETHERTYPE_ROCEV1;
	if (p->encap == VS_ENCAP_ROCEV2_IPV4)
		p->eth.ethertype = VS_ETHERTYPE_IPV4;
	if (p->encap == VS_ENCAP_ROCEV2_IPV6)
		p->eth.ethertype = VS_ETHERTYPE_IPV6;
}

static inline void vs_gen_random_net(struct vs_pkt *p, uint64_t *s)
{
	vs_gen_bytes(s, p->eth.dst, 6);
	vs_gen_bytes(s, p->eth.src, 6);
	p->lrh.vl = (uint8_t)vs_gen_bits(s, 4);
	p->lrh.lver = (uint8_t)vs_gen_bits(s, 4);
	p->lrh.sl = (uint8_t)vs_gen_bits(s, 4);
	p->lrh.rsv1 = (uint8_t)vs_gen_bits(s, 2);
	p->lrh.rsv2 = (uint8_t)vs_gen_bits(s, 5);
	p->lrh.dlid = (uint16_t)vs_gen_bits(s, 16);
	p->lrh.slid = (uint16_t)vs_gen_bits(s, 16);
	p->grh.ipver = (uint8_t)vs_gen_bits(s, 4);
	p->grh.tclass = (uint8_t)vs_gen_bits(s, 8);
	p->grh.flowlabel = vs_gen_bits(s, 20);
	p->grh.hoplmt = (uint8_t)vs_gen_bits(s, 8);
	if (p->encap == VS_ENCAP_ROCEV1)
		p->grh.nxthdr = (uint8_t)vs_gen_bits(s, 8);
	vs_gen_bytes(s, p->grh.sgid, 16);
	vs_gen_bytes(s, p->grh.dgid, 16);
	p->ipv4.version = (uint8_t)vs_gen_bits(s, 4);
	p->ipv4.ihl = (uint8_t)(vs_gen_one_in(s, 2) ? 5 : 5 + vs_gen_below(s, 11));
	p->ipv4.tos = (uint8_t)vs_gen_bits(s, 8);
	p->ipv4.ttl = (uint8_t)vs_gen_bits(s, 8);
	p->ipv4.id = (uint16_t)vs_gen_bits(s, 16);
	p->ipv4.frag = (uint16_t)(vs_gen_bits(s, 2) << 14);
	p->ipv4.csum = (uint16_t)vs_gen_bits(s, 16);
	vs_gen_bytes(s, p->ipv4.src, 4);
	vs_gen_bytes(s, p->ipv4.dst, 4);
	vs_gen_bytes(s, p->ipv4.options, 40);
	p->udp.sport = (uint16_t)vs_gen_bits(s, 16);
	p->udp.csum = (uint16_t)vs_gen_bits(s, 16);
	p->rwh.rsv = (uint16_t)vs_gen_bits(s, 16);
	p->rwh.etype = (uint16_t)vs_gen_bits(s, 16);
}

static inline void vs_gen_random_bth(struct vs_pkt *p, uint64_t *s)
{
	struct vs_bth *h = &p->bth;
	uint32_t r = vs_gen_bits(s, 32);

	h->se = r & 1;
	h->migreq = r & 2;
	h->fecn = r & 4;
	h->becn = r & 8;
	h->ackreq = r & 16;
	h->padcnt = (r >> 5) & 3;
	h->tver = (r >> 8) & 15;
	h->resv6 = (r >> 12) & 63;
	h->resv7 = (r >> 18) & 127;
	h->pkey = (uint16_t)vs_gen_bits(s, 16);
	h->destqp = vs_gen_bits(s, 24);
	h->psn = vs_gen_bits(s, 24);
}

static inline void vs_gen_random_ext(struct vs_ext *x, uint64_t *s)
{
	vs_gen_bytes(s, x->dcext, sizeof(x->dcext));
	vs_gen_bytes(s, x->dcceth, sizeof(x->dcceth));
	x->rdeth.rsv = (uint8_t)vs_gen_bits(s, 8);
	x->rdeth.eecontext = vs_gen_bits(s, 24);
	x->xrceth.rsv = (uint8_t)vs_gen_bits(s, 8);
	x->xrceth.xrcsrq = vs_gen_bits(s, 24);
	x->deth.qkey = vs_gen_bits(s, 32);
	x->deth.rsv = (uint8_t)vs_gen_bits(s, 8);
	x->deth.srcqp = vs_gen_bits(s, 24);
	x->feth.rsv = vs_gen_bits(s, 26);
	x->feth.sel = (uint8_t)vs_gen_bits(s, 2);
	x->feth.plt = (uint8_t)vs_gen_bits(s, 4);
	x->reth.va = vs_rand(s);
	x->reth.rkey = vs_gen_bits(s, 32);
	x->reth.dmalen = vs_gen_bits(s, 32);
	x->aeth.syndrome = (uint8_t)vs_gen_bits(s, 8);
	x->aeth.msn = vs_gen_bits(s, 24);
	x->atomiceth.va = vs_rand(s);
	x->atomiceth.rkey = vs_gen_bits(s, 32);
	x->atomiceth.swapadd = vs_rand(s);
	x->atomiceth.compare = vs_rand(s);
	x->atomicack_origdata = vs_rand(s);
	x->immdt = vs_gen_bits(s, 32);
	x->ieth_rkey = vs_gen_bits(s, 32);
}

static inline void vs_gen_payload(struct vs_gen *g, uint64_t *s, uint32_t len)
{
	vs_gen_bytes(s, g->payload, len);
	g->p.payload = g->payload;
	g->p.payload_len = len;
}

/* Short mostly, now and then up to a full MTU and one more. */
static inline uint32_t vs_gen_random_len(uint64_t *s)
{
	return vs_gen_one_in(s, 16) ? vs_gen_below(s, VS_GEN_PAYLOAD_MAX) : vs_gen_below(s, 70);
}

/* The rarer shapes: Mellanox DC, another UDP port, a first fragment, a GRH with other traffic behind it, no VCRC. */
static inline void vs_gen_shape(struct vs_gen *g, uint64_t *s)
{
	struct vs_pkt *p = &g->p;

	if (p->bth.opcode >> 5 == VS_TRANSPORT_RD && vs_gen_one_in(s, 2)) {
		g->opt |= VS_PARSE_DC;
		p->hdrs = vs_opcode_hdrs_dc(p->bth.opcode, p->bth.se);
	}
	if (vs_gen_one_in(s, 8)) {
		g->opt |= VS_PARSE_ANY_PORT;
		p->udp.dport = (uint16_t)vs_gen_bits(s, 16);
	}
	if (p->encap == VS_ENCAP_ROCEV2_IPV4 && vs_gen_one_in(s, 16)) {
		p->ipv4.frag |= 0x2000;
		p->flags &= ~(uint32_t)VS_PKT_HAS_ICRC;
	}
	if (p->encap == VS_ENCAP_IB_GRH && vs_gen_one_in(s, 16)) {
		p->grh.nxthdr = (uint8_t)(VS_GRH_NXTHDR_IBA + 1 + vs_gen_below(s, 255));
		p->flags &= ~(uint32_t)(VS_PKT_HAS_BTH | VS_PKT_HAS_ICRC);
		p->hdrs = 0;
	}
	if (p->encap == VS_ENCAP_IB_RAW && vs_gen_one_in(s, 2)) {
		p->lrh.lnh = VS_LNH_IPV6;
		p->flags &= ~(uint32_t)VS_PKT_HAS_RWH;
	}
	if (vs_gen_native(p->encap) && vs_gen_one_in(s, 8))
		p->flags &= ~(uint32_t)VS_PKT_HAS_VCRC;
}

static inline void vs_gen_trailer(struct vs_gen *g, uint64_t *s)
{
	uint32_t max = sizeof(g->trailer);

	if (g->p.encap == VS_ENCAP_BARE)
		max = 0;
	else if (vs_gen_native(g->p.encap) && !(g->p.flags & VS_PKT_HAS_VCRC))
		max = 1;
	g->p.trailer_len = vs_gen_one_in(s, 2) ? 0 : vs_gen_below(s, max + 1);
	vs_gen_bytes(s, g->trailer, sizeof(g->trailer));
	g->p.trailer = g->trailer;
}

/* A packet with every field at random, and with lengths and pad that say what is there: parse(build(p)) == p. */
static inline void vs_gen_random(struct vs_gen *g, uint64_t *s)
{
	struct vs_pkt *p = &g->p;
	bool fragment;
	int rc;

	g->opt = 0;
	vs_pkt_init(p, (enum vs_encap)vs_gen_below(s, VS_GEN_ENCAPS), (uint8_t)vs_gen_bits(s, 8), vs_gen_one_in(s, 2));
	vs_gen_random_net(p, s);
	if (p->encap >= VS_ENCAP_ROCEV1)
		vs_gen_vlan(p, s);
	vs_gen_random_bth(p, s);
	vs_gen_random_ext(&p->ext, s);
	p->icrc = vs_gen_bits(s, 32);
	p->vcrc = (uint16_t)vs_gen_bits(s, 16);
	vs_gen_payload(g, s, vs_gen_random_len(s));
	vs_gen_shape(g, s);
	vs_gen_trailer(g, s);
	fragment = p->encap == VS_ENCAP_ROCEV2_IPV4 && (p->ipv4.frag & 0x2000);
	if (!(p->flags & VS_PKT_HAS_BTH))
		p->payload_len &= ~3u; /* the LRH counts in words */
	rc = vs_pkt_seal(p, (fragment ? 0 : VS_SEAL_PAD) | VS_SEAL_LEN, NULL, 0);
	assert(rc == VS_OK);
	vs_gen_bytes(s, p->pad, p->pad_len);
	if (fragment)
		p->udp.len = (uint16_t)vs_gen_bits(s, 16);
	(void)rc;
}

/* ---- legal packets ---- */

static inline uint32_t vs_gen_legal_len(uint8_t opcode, uint64_t *s)
{
	switch (vs_opcodes[opcode].payload) {
	case VS_PAYLOAD_FULL:
		return 256u << vs_gen_below(s, 5);
	case VS_PAYLOAD_LAST:
		return 1 + vs_gen_below(s, 256);
	case VS_PAYLOAD_ONLY:
		return vs_gen_below(s, 257);
	case VS_PAYLOAD_EIGHT:
		return 8;
	default:
		return 0;
	}
}

static inline void vs_gen_legal_addresses(struct vs_pkt *p)
{
	static const uint8_t gids[32] = {0xfd, [15] = 1, [16] = 0xfd, [31] = 2};

	memcpy(p->eth.dst, (const uint8_t[6]){2, 0, 0, 0, 0, 2}, 6);
	memcpy(p->eth.src, (const uint8_t[6]){2, 0, 0, 0, 0, 1}, 6);
	p->lrh.slid = 1;
	p->lrh.dlid = 2;
	memcpy(p->grh.sgid, gids, 16);
	memcpy(p->grh.dgid, gids + 16, 16);
	memcpy(p->ipv4.src, (const uint8_t[4]){10, 0, 0, 1}, 4);
	memcpy(p->ipv4.dst, (const uint8_t[4]){10, 0, 0, 2}, 4);
}

/* A packet that breaks no rule, not yet sealed. */
static inline void vs_gen_legal(struct vs_gen *g, uint64_t *s, enum vs_encap encap, uint8_t opcode, bool ethernet)
{
	struct vs_pkt *p = &g->p;

	g->opt = 0;
	vs_pkt_init(p, encap, opcode, ethernet);
	vs_gen_legal_addresses(p);
	if (opcode != VS_OP_CNP)
		vs_gen_payload(g, s, vs_gen_legal_len(opcode, s) & (encap == VS_ENCAP_IB_RAW ? ~3u : ~0u));
	p->bth.destqp = 0x12;
	p->bth.psn = opcode == VS_OP_CNP ? 0 : vs_gen_bits(s, 24);
	p->ext.deth.qkey = 0x11111111;
	p->ext.deth.srcqp = 0x13;
	p->ext.reth.va = vs_gen_bits(s, 32) & ~7u;
	p->ext.reth.rkey = vs_gen_bits(s, 32);
	p->ext.reth.dmalen = p->payload_len;
	if (!(vs_opcodes[opcode].flags & VS_OPF_E))
		p->ext.reth.dmalen += 1 + vs_gen_bits(s, 16);
	p->ext.atomiceth.va = vs_gen_bits(s, 32) & ~7u;
	p->ext.aeth.syndrome = 0x1f;
	p->ext.aeth.msn = vs_gen_bits(s, 24);
}

/* ---- bytes ---- */

/* Where the length fields stand in a packet whose network header begins at `net`: offsets of their first bytes. */
static const uint8_t vs_gen_length_fields[] = {
	2,  /* IPv4 total length */
	4,  /* IPv6 / GRH payload length; LRH PktLen */
	12, /* GRH behind an LRH */
	24, /* UDP behind IPv4 */
	44, /* UDP behind IPv6 */
};

/* Changes buf[0..n): flips bits, cuts, inserts, edits a length field. The new length, at most cap. */
static inline size_t vs_gen_mutate(uint64_t *s, uint8_t *buf, size_t n, size_t cap)
{
	unsigned times = 1 + vs_gen_below(s, 3);

	while (times-- > 0) {
		uint32_t at = n > 0 ? vs_gen_below(s, (uint32_t)n) : 0, k = 1 + vs_gen_below(s, 8);

		switch (vs_gen_below(s, 6)) {
		case 0: /* a bit anywhere */
			if (n > 0)
				buf[at] ^= (uint8_t)(1u << vs_gen_below(s, 8));
			break;
		case 1: /* a bit among the headers */
			at %= 90;
			if (at < n)
				buf[at] ^= (uint8_t)(1u << vs_gen_below(s, 8));
			break;
		case 2: /* the end is missing */
			n = vs_gen_one_in(s, 2) ? at : n - (n < k ? n : k);
			break;
		case 3: /* more at the end */
			k = n + k <= cap ? k : 0;
			vs_gen_bytes(s, buf + n, k);
			n += k;
			break;
		case 4: /* more in the middle */
			k = n + k <= cap ? k : 0;
			memmove(buf + at + k, buf + at, n - at);
			vs_gen_bytes(s, buf + at, k);
			n += k;
			break;
		default: /* a length field, behind 0 to 2 VLAN tags or none */
			at = vs_gen_length_fields[vs_gen_below(s, sizeof(vs_gen_length_fields))];
			at += vs_gen_one_in(s, 2) ? 14 + 4 * vs_gen_below(s, 3) : 0;
			if (at + 1 < n) {
				buf[at] = vs_gen_one_in(s, 2) ? 0 : buf[at];
				buf[at + 1] = (uint8_t)vs_gen_bits(s, 8);
			}
			break;
		}
	}
	return n;
}

/* A legal packet in g->p, sealed, and its bytes in `frame`: how many. */
static inline size_t vs_gen_frame(struct vs_gen *g, uint8_t frame[VS_GEN_MAX], enum vs_encap encap, uint8_t opcode,
				  uint32_t payload_len, bool ethernet)
{
	uint64_t seed = 0x5eed5;
	int n;

	vs_gen_legal(g, &seed, encap, opcode, ethernet);
	vs_gen_payload(g, &seed, payload_len);
	ck_assert_int_eq(vs_pkt_seal(&g->p, VS_SEAL_ALL, frame, VS_GEN_MAX), VS_OK);
	n = vs_pkt_build(&g->p, frame, VS_GEN_MAX);
	ck_assert_int_gt(n, 0);
	return (size_t)n;
}

#endif
