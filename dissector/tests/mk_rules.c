/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mk_rules.c - one packet for each rule of the wire in reasons.def that a packet can break on its own.
 *
 * A case begins with a legal packet, sealed, then breaks one thing, then seals again what `redo` names,
 * so that the CRCs are right and exactly one reason is left to report. Where a rule can't be broken
 * alone, `also` names what else must fire. mk_rules_list() prints what run.sh expects, and fails when a
 * row of reasons.def has no case here.
 */
#include <stdio.h>
#include <string.h>

#include "mk.h"

#define CRCS (VS_SEAL_ICRC | VS_SEAL_VCRC)
#define BODY (CRCS | VS_SEAL_PAD | VS_SEAL_LEN | VS_SEAL_CSUM)
#define LENS (CRCS | VS_SEAL_LEN | VS_SEAL_CSUM)

struct rule {
	enum vs_reason reason;
	enum vs_encap encap;
	uint8_t opcode;
	unsigned redo;
	void (*breaks)(struct vs_pkt *p);
	enum vs_reason also;
};

static uint8_t mad[256];

/* A CM RTU to QP 1 of a legal shape: what the MAD rules begin with. */
static void gsi(struct vs_pkt *p)
{
	static const uint8_t header[20] = {1, 0x07, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0xab, 0, 0, 0, 1, 0, 0x14};

	memset(mad, 0, sizeof(mad));
	memcpy(mad, header, sizeof(header));
	p->payload = mad;
	p->payload_len = sizeof(mad);
	p->bth.destqp = p->ext.deth.srcqp = 1;
	p->ext.deth.qkey = VS_GSI_QKEY;
}

/* one rule, one line */
/* clang-format off */
/* --- network headers --- */
static void lrh_lver(struct vs_pkt *p) { p->lrh.lver = 1; }
static void lrh_rsv(struct vs_pkt *p) { p->lrh.rsv1 = 1; }
static void lrh_lnh(struct vs_pkt *p) { p->lrh.lnh = VS_LNH_IPV6; p->flags &= ~(uint32_t)VS_PKT_HAS_RWH; }
static void lrh_pktlen(struct vs_pkt *p) { p->lrh.pktlen = (uint16_t)(p->lrh.pktlen + 9); }
static void lrh_vl15(struct vs_pkt *p) { p->lrh.vl = 15; }
static void vcrc_bad(struct vs_pkt *p) { p->vcrc ^= 0x0100; }
static void grh_ipver(struct vs_pkt *p) { p->grh.ipver = 7; }
static void grh_nxthdr(struct vs_pkt *p) { p->grh.nxthdr = 0x11; }
static void grh_paylen(struct vs_pkt *p) { p->grh.paylen = (uint16_t)(p->grh.paylen + 4); }
static void ip_version(struct vs_pkt *p) { p->ipv4.version = 5; }
static void ip_ihl(struct vs_pkt *p) { p->ipv4.ihl = 6; memcpy(p->ipv4.options, "\x94\4\0", 4); }
static void ip_fragment(struct vs_pkt *p) { p->ipv4.frag = 0x6000; }
static void ip_no_df(struct vs_pkt *p) { p->ipv4.frag = 0; }
static void ip_len(struct vs_pkt *p) { p->ipv4.total_len = (uint16_t)(p->ipv4.total_len + 4); }
static void ip_csum(struct vs_pkt *p) { p->ipv4.csum ^= 0x0101; }
static void ip_ecn_ce(struct vs_pkt *p) { p->ipv4.tos = 0x03; }
static void ip6_ecn_ce(struct vs_pkt *p) { p->grh.tclass = 0x03; }
static void udp_csum(struct vs_pkt *p) { p->udp.csum = 0x1234; }
static void icrc_bad(struct vs_pkt *p) { p->icrc ^= 0x00800000; }
static void udp_len(struct vs_pkt *p) { p->udp.len = (uint16_t)(p->udp.len + 4); }
static void udp_dport(struct vs_pkt *p) { p->udp.dport = 14791; }
static void src_mcast(struct vs_pkt *p) { p->ipv4.src[0] = 239; }
static void ip_csum_zero(struct vs_pkt *p) { p->ipv4.csum = 0; }
/* The IP length runs 4 bytes over what UDP says. */
static void ip_len_trailer(struct vs_pkt *p)
{
	p->trailer = mad;
	p->trailer_len = 4;
	p->ipv4.total_len = (uint16_t)(p->ipv4.total_len + 4);
}
/* --- BTH --- */
static void pkt_short(struct vs_pkt *p) { p->bth.opcode = VS_OP_RC_WRITE_ONLY; }
static void pkt_align(struct vs_pkt *p) { p->bth.padcnt = p->pad_len = 0; }
static void opcode_reserved(struct vs_pkt *p) { p->bth.opcode = 0x1f; }
static void opcode_vendor(struct vs_pkt *p) { p->bth.opcode = 0xc5; }
static void tver(struct vs_pkt *p) { p->bth.tver = 1; }
static void rsv6(struct vs_pkt *p) { p->bth.resv6 = 1; }
static void rsv7(struct vs_pkt *p) { p->bth.resv7 = 0x40; }
static void pkey_invalid(struct vs_pkt *p) { p->bth.pkey = 0x8000; }
static void pkey_limited(struct vs_pkt *p) { p->bth.pkey = 0x7fff; }
static void qp0(struct vs_pkt *p) { gsi(p); p->bth.destqp = p->ext.deth.srcqp = 0; p->ext.deth.qkey = 0; mad[1] = 1; }
static void qp_mcast(struct vs_pkt *p) { p->bth.destqp = VS_QPN_MULTICAST; }
static void qp_special(struct vs_pkt *p) { p->bth.destqp = 1; }
static void mcast_qpn(struct vs_pkt *p) { memcpy(p->ipv4.dst, "\xef\1\1\1", 4); }
static void fecn(struct vs_pkt *p) { p->bth.fecn = true; }
/* --- payload --- */
static void pad_range(struct vs_pkt *p) { p->bth.padcnt = 3; }
static void pad_middle(struct vs_pkt *p) { mk_payload(p, 254); }
static void pad_nonzero(struct vs_pkt *p) { p->pad[0] = 0x55; }
static void payload_8(struct vs_pkt *p) { mk_payload(p, 8); }
static void payload_0(struct vs_pkt *p) { mk_payload(p, 0); }
static void payload_260(struct vs_pkt *p) { mk_payload(p, 260); }
static void payload_4100(struct vs_pkt *p) { mk_payload(p, 4100); }
static void payload_12(struct vs_pkt *p) { mk_payload(p, 12); p->ext.reth.dmalen = 12; }
/* --- extended headers --- */
static void dmalen_max(struct vs_pkt *p) { p->ext.reth.dmalen = 0x80000001; }
static void dmalen_payload(struct vs_pkt *p) { p->ext.reth.dmalen = 29; }
static void va_wrap(struct vs_pkt *p) { p->ext.reth.va = 0xfffffffffffffff0; }
static void atomic_align(struct vs_pkt *p) { p->ext.atomiceth.va |= 4; }
static void write_align(struct vs_pkt *p) { p->ext.reth.va |= 4; }
static void aeth_rsv(struct vs_pkt *p) { p->ext.aeth.syndrome = 0x8a; }
static void aeth_type(struct vs_pkt *p) { p->ext.aeth.syndrome = 0x4a; }
static void aeth_nak_code(struct vs_pkt *p) { p->ext.aeth.syndrome = 0x65; }
static void aeth_nak(struct vs_pkt *p) { p->ext.aeth.syndrome = 0x62; }
static void deth_rsv(struct vs_pkt *p) { p->ext.deth.rsv = 1; }
static void rdeth_rsv(struct vs_pkt *p) { p->ext.rdeth.rsv = 1; }
static void xrceth_rsv(struct vs_pkt *p) { p->ext.xrceth.rsv = 1; }
static void feth_rsv(struct vs_pkt *p) { p->ext.feth.rsv = 1; }
static void feth_sel(struct vs_pkt *p) { p->ext.feth.sel = 3; }
static void feth_plt(struct vs_pkt *p) { p->ext.feth.plt = 0; }
static void gsi_qkey(struct vs_pkt *p) { gsi(p); p->ext.deth.qkey = 0x11111111; }
static void cnp_psn(struct vs_pkt *p) { p->bth.psn = 1; }
static void cnp_payload(struct vs_pkt *p) { mk_payload(p, 16); }
static void mad_short(struct vs_pkt *p) { gsi(p); p->payload_len = 128; }
static void mad_version(struct vs_pkt *p) { gsi(p); mad[0] = 2; }

#define IB VS_ENCAP_IB
#define IBG VS_ENCAP_IB_GRH
#define IBR VS_ENCAP_IB_RAW
#define V1 VS_ENCAP_ROCEV1
#define V4 VS_ENCAP_ROCEV2_IPV4
#define V6 VS_ENCAP_ROCEV2_IPV6
#define R(reason) VS_REASON_##reason

static const struct rule rules[] = {
	{R(LRH_LVER), IB, VS_OP_RC_SEND_ONLY, CRCS, lrh_lver, 0},
	{R(LRH_RSV), IB, VS_OP_RC_SEND_ONLY, CRCS, lrh_rsv, 0},
	{R(LRH_LNH), IBR, 0, LENS, lrh_lnh, 0},
	{R(LRH_PKTLEN), IB, VS_OP_RC_SEND_ONLY, CRCS, lrh_pktlen, 0},
	{R(LRH_VL15), IB, VS_OP_RC_SEND_ONLY, CRCS, lrh_vl15, 0},
	{R(VCRC_BAD), IB, VS_OP_RC_SEND_ONLY, 0, vcrc_bad, 0},
	{R(GRH_IPVER), IBG, VS_OP_RC_SEND_ONLY, CRCS, grh_ipver, 0},
	{R(GRH_NXTHDR), IBG, VS_OP_RC_SEND_ONLY, CRCS, grh_nxthdr, 0},
	{R(GRH_PAYLEN), IBG, VS_OP_RC_SEND_ONLY, CRCS, grh_paylen, 0},
	{R(ICRC_BAD), IB, VS_OP_RC_SEND_ONLY, VS_SEAL_VCRC, icrc_bad, 0},

	{R(GRH_IPVER), V1, VS_OP_RC_SEND_ONLY, CRCS, grh_ipver, 0},
	{R(GRH_NXTHDR), V1, VS_OP_RC_SEND_ONLY, CRCS, grh_nxthdr, 0},
	{R(GRH_PAYLEN), V1, VS_OP_RC_SEND_ONLY, CRCS, grh_paylen, 0},
	{R(IP_VERSION), V4, VS_OP_RC_SEND_ONLY, CRCS | VS_SEAL_CSUM, ip_version, 0},
	{R(IP_IHL), V4, VS_OP_RC_SEND_ONLY, LENS, ip_ihl, 0},
	{R(IP_FRAGMENT), V4, VS_OP_RC_SEND_ONLY, CRCS | VS_SEAL_CSUM, ip_fragment, 0},
	{R(IP_NO_DF), V4, VS_OP_RC_SEND_ONLY, CRCS | VS_SEAL_CSUM, ip_no_df, 0},
	{R(IP_LEN), V4, VS_OP_RC_SEND_ONLY, CRCS | VS_SEAL_CSUM, ip_len, 0},
	{R(IP_CSUM), V4, VS_OP_RC_SEND_ONLY, 0, ip_csum, 0},
	{R(IP_ECN_CE), V4, VS_OP_RC_SEND_ONLY, VS_SEAL_CSUM, ip_ecn_ce, 0},
	{R(IP_ECN_CE), V6, VS_OP_RC_SEND_ONLY, 0, ip6_ecn_ce, 0},
	{R(IP_LEN), V4, VS_OP_RC_SEND_ONLY, CRCS | VS_SEAL_CSUM, ip_len_trailer, 0},
	{R(UDP_LEN), V4, VS_OP_RC_SEND_ONLY, CRCS, udp_len, 0},
	{R(UDP_DPORT), V4, VS_OP_RC_SEND_ONLY, CRCS, udp_dport, 0},
	{R(SRC_MCAST), V4, VS_OP_RC_SEND_ONLY, CRCS | VS_SEAL_CSUM, src_mcast, 0},
	{R(IP_CSUM_ZERO), V4, VS_OP_RC_SEND_ONLY, 0, ip_csum_zero, 0},
	{R(UDP_CSUM), V4, VS_OP_RC_SEND_ONLY, 0, udp_csum, 0},
	{R(PKT_SHORT), V4, VS_OP_RC_ACKNOWLEDGE, CRCS, pkt_short, 0},
	{R(PKT_ALIGN), V4, VS_OP_RC_SEND_ONLY, LENS, pkt_align, 0},
	{R(ICRC_BAD), V4, VS_OP_RC_SEND_ONLY, 0, icrc_bad, 0},
	{R(ICRC_BAD), V6, VS_OP_RC_SEND_ONLY, 0, icrc_bad, 0},
	{R(ICRC_BAD), V1, VS_OP_RC_SEND_ONLY, 0, icrc_bad, 0},

	{R(BTH_OPCODE_RESERVED), V4, VS_OP_RC_SEND_ONLY, CRCS, opcode_reserved, 0},
	{R(BTH_OPCODE_VENDOR), V4, VS_OP_RC_SEND_ONLY, CRCS, opcode_vendor, 0},
	{R(BTH_TVER), V4, VS_OP_RC_SEND_ONLY, CRCS, tver, 0},
	{R(BTH_RSV), V4, VS_OP_RC_SEND_ONLY, CRCS, rsv6, 0},
	{R(BTH_RSV), V4, VS_OP_RC_SEND_ONLY, CRCS, rsv7, 0},
	{R(BTH_PKEY_INVALID), V4, VS_OP_RC_SEND_ONLY, CRCS, pkey_invalid, 0},
	{R(BTH_PKEY_LIMITED), V4, VS_OP_RC_SEND_ONLY, CRCS, pkey_limited, 0},
	{R(BTH_QP0_ROCE), V4, VS_OP_UD_SEND_ONLY, BODY, qp0, 0},
	{R(BTH_QP_MCAST), V4, VS_OP_RC_SEND_ONLY, CRCS, qp_mcast, 0},
	{R(BTH_QP_SPECIAL), V4, VS_OP_RC_SEND_ONLY, CRCS, qp_special, 0},
	{R(MCAST_QPN), V4, VS_OP_UD_SEND_ONLY, CRCS | VS_SEAL_CSUM, mcast_qpn, 0},
	{R(MCAST_ADDR), V4, VS_OP_UD_SEND_ONLY, CRCS, qp_mcast, 0},
	{R(BTH_FECN_ROCE), V4, VS_OP_RC_SEND_ONLY, CRCS, fecn, 0},

	{R(PAD_RANGE), V4, VS_OP_RC_ACKNOWLEDGE, CRCS, pad_range, 0},
	{R(PAD_MIDDLE), V4, VS_OP_RC_SEND_FIRST, BODY, pad_middle, R(PAYLOAD_NOT_MTU)},
	{R(PAD_NONZERO), V4, VS_OP_RC_SEND_ONLY, CRCS, pad_nonzero, 0},
	{R(PAYLOAD_UNEXPECTED), V4, VS_OP_RC_ACKNOWLEDGE, BODY, payload_8, 0},
	{R(PAYLOAD_EMPTY), V4, VS_OP_RC_SEND_LAST, BODY, payload_0, 0},
	{R(PAYLOAD_NOT_MTU), V4, VS_OP_RC_SEND_MIDDLE, BODY, payload_260, 0},
	{R(PAYLOAD_OVER_MTU), V4, VS_OP_RC_SEND_ONLY, BODY, payload_4100, 0},
	{R(PAYLOAD_NOT_EIGHT), V4, VS_OP_RC_ATOMIC_WRITE, BODY, payload_12, 0},
	{R(RETH_DMALEN_MAX), V4, VS_OP_RC_READ_REQUEST, CRCS, dmalen_max, 0},
	{R(RETH_DMALEN_PAYLOAD), V4, VS_OP_RC_WRITE_ONLY, CRCS, dmalen_payload, 0},
	{R(RETH_VA_WRAP), V4, VS_OP_RC_READ_REQUEST, CRCS, va_wrap, 0},
	{R(ATOMIC_ALIGN), V4, VS_OP_RC_COMPARE_SWAP, CRCS, atomic_align, 0},
	{R(ATOMIC_ALIGN), V4, VS_OP_RC_ATOMIC_WRITE, CRCS, write_align, 0},
	{R(AETH_RSV), V4, VS_OP_RC_ACKNOWLEDGE, CRCS, aeth_rsv, 0},
	{R(AETH_TYPE), V4, VS_OP_RC_ACKNOWLEDGE, CRCS, aeth_type, 0},
	{R(AETH_NAK_CODE), V4, VS_OP_RC_ACKNOWLEDGE, CRCS, aeth_nak_code, 0},
	{R(AETH_READ_NAK), V4, VS_OP_RC_READ_RESPONSE_ONLY, CRCS, aeth_nak, 0},
	{R(DETH_RSV), V4, VS_OP_UD_SEND_ONLY, CRCS, deth_rsv, 0},
	{R(RDETH_RSV), V4, VS_OP_RD_SEND_ONLY, CRCS, rdeth_rsv, 0},
	{R(XRCETH_RSV), V4, VS_OP_XRC_SEND_ONLY, CRCS, xrceth_rsv, 0},
	{R(FETH_RSV), V4, VS_OP_RC_FLUSH, CRCS, feth_rsv, 0},
	{R(FETH_SEL), V4, VS_OP_RC_FLUSH, CRCS, feth_sel, 0},
	{R(FETH_PLT), V4, VS_OP_RC_FLUSH, CRCS, feth_plt, 0},
	{R(UD_GSI_QKEY), V4, VS_OP_UD_SEND_ONLY, BODY, gsi_qkey, 0},
	{R(CNP_SHAPE), V4, VS_OP_CNP, CRCS, cnp_psn, 0},
	{R(CNP_SHAPE), V4, VS_OP_CNP, BODY, cnp_payload, 0},
	{R(MAD_SHORT), V4, VS_OP_UD_SEND_ONLY, BODY, mad_short, 0},
	{R(MAD_BASE_VERSION), V4, VS_OP_UD_SEND_ONLY, BODY, mad_version, 0},
};
/* clang-format on */
#define RULES (sizeof(rules) / sizeof(rules[0]))

static bool is_ib(const struct rule *r)
{
	return r->encap == VS_ENCAP_IB || r->encap == VS_ENCAP_IB_GRH || r->encap == VS_ENCAP_IB_RAW;
}

static void write_rules(struct mk_out *o, bool ib)
{
	for (unsigned i = 0; i < RULES; i++) {
		struct vs_pkt p;
		struct mk_buf f;

		if (is_ib(&rules[i]) != ib)
			continue;
		mk_packet(&p, rules[i].encap, rules[i].opcode, !ib);
		mk_build(&p, &f);
		rules[i].breaks(&p);
		mk_build_keep(&p, VS_SEAL_ALL & ~rules[i].redo, &f);
		mk_put(o, &f);
	}
}

void mk_rules_roce(struct mk_out *o)
{
	write_rules(o, false);
}

void mk_rules_ib(struct mk_out *o)
{
	write_rules(o, true);
}

static void print_rule(const struct rule *r, unsigned frame, bool markdown)
{
	const char *capture = is_ib(r) ? "rules-ib" : "rules-roce";
	const struct vs_reason_info *info = vs_reason_info(r->reason), *also = vs_reason_info(r->also);

	if (markdown)
		printf("| %s | %u | %s%s%s | %s |\n", capture, frame, info->id, r->also ? ", " : "",
		       r->also ? also->id : "", info->sentence);
	else
		printf("%s %u %s%s%s\n", capture, frame, info->id, r->also ? " " : "", r->also ? also->id : "");
}

void mk_rules_list(bool markdown)
{
	bool seen[VS_REASON_COUNT] = {0};
	unsigned frame[2] = {0};
	int missing = 0;

	for (unsigned i = 0; i < RULES; i++) {
		seen[rules[i].reason] = true;
		print_rule(&rules[i], ++frame[is_ib(&rules[i])], markdown);
	}
	for (unsigned r = 1; r <= VS_REASON_WIRE_LAST; r++)
		if (!seen[r]) {
			fprintf(stderr, "mkcaptures: no packet breaks %s\n", vs_reason_info((enum vs_reason)r)->id);
			missing++;
		}
	if (missing)
		mk_die("%d rules of reasons.def have no case in mk_rules.c", missing);
}
