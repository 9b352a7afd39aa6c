/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_validate.c - every reason fires on a packet that breaks its rule and keeps quiet on the legal
 * neighbour; legal packets of every opcode and encapsulation, whole or cut, break no rule.
 */
#include "pktgen.h"
#include "vs/icrc.h"

#define MAX_REASONS 64

#define REQUIRE(cond, ...)                         \
	do {                                       \
		if (!(cond))                       \
			ck_abort_msg(__VA_ARGS__); \
	} while (0)

/* ---- one edit per rule: `broken` or its legal neighbour ---- */

typedef void edit_fn(struct vs_pkt *p, bool broken);

#define EDIT(name, ...)                                 \
	static void name(struct vs_pkt *p, bool broken) \
	{                                               \
		__VA_ARGS__;                            \
	}

static uint8_t mad[260];

/* A management datagram for QP 1. */
static void set_mad(struct vs_pkt *p)
{
	memset(mad, 0, sizeof(mad));
	mad[0] = 1;
	p->payload = mad;
	p->payload_len = 256;
	p->bth.destqp = 1;
	p->ext.deth.qkey = VS_GSI_QKEY;
}

static void set_pad(struct vs_pkt *p, uint32_t payload_len, uint8_t pad)
{
	p->payload_len = payload_len;
	p->pad_len = p->bth.padcnt = pad;
}

EDIT(lver, p->lrh.lver = broken)
EDIT(lrh_rsv1, p->lrh.rsv1 = broken ? 2 : 0)
EDIT(lrh_rsv2, p->lrh.rsv2 = broken ? 16 : 0)
EDIT(pktlen, p->lrh.pktlen = (uint16_t)(p->lrh.pktlen + broken))
EDIT(vl15_of_data, p->lrh.vl = broken ? 15 : 14)
EDIT(vcrc, p->vcrc ^= broken)

static void raw_ipv6(struct vs_pkt *p, bool broken)
{
	set_mad(p);
	mad[0] = broken ? 0x45 : 0x60;
	p->lrh.lnh = VS_LNH_IPV6;
	p->flags &= ~(uint32_t)VS_PKT_HAS_RWH;
}

static void vl15_of_smp(struct vs_pkt *p, bool broken)
{
	set_mad(p);
	p->bth.destqp = 0;
	p->lrh.vl = broken ? 0 : 15;
}

EDIT(ipver, p->grh.ipver = broken ? 4 : 6)
EDIT(nxthdr, p->grh.nxthdr = broken ? 17 : VS_GRH_NXTHDR_IBA)
EDIT(grh_paylen, p->grh.paylen = (uint16_t)(p->grh.paylen + 4 * broken))
EDIT(slid_mcast, p->lrh.slid = broken ? 0xc000 : 0xbfff)
EDIT(slid_permissive, p->lrh.slid = broken ? 0xfffe : 0xffff)
EDIT(sgid_mcast, p->grh.sgid[0] = broken ? 0xff : 0xfe)
EDIT(src_mcast, p->ipv4.src[0] = broken ? 224 : 223)
EDIT(ip_version, p->ipv4.version = broken ? 5 : 4)
EDIT(ihl, p->ipv4.ihl = broken ? 6 : 5)
EDIT(fragment, p->ipv4.frag = broken ? 0x6000 : 0x4000)
EDIT(no_df, p->ipv4.frag = broken ? 0 : 0x4000)
EDIT(ip_len, p->ipv4.total_len = (uint16_t)(p->ipv4.total_len + 4 * broken))
EDIT(ip_csum, p->ipv4.csum = (uint16_t)(p->ipv4.csum + broken))
EDIT(ip_csum_zero, p->ipv4.csum = broken ? 0 : p->ipv4.csum)
EDIT(ecn, p->ipv4.tos = broken ? 3 : 2)
EDIT(ecn6, p->grh.tclass = broken ? 3 : 1)
EDIT(dport, p->udp.dport = broken ? 4792 : 4791)
/* An IP length of 0 is that of segmentation offload, and UDP's goes with it. A UDP length of 0 alone is none. */
EDIT(ip_len_offload, p->ipv4.total_len = broken ? 4 : 0)
EDIT(ip6_len_offload, p->grh.paylen = broken ? 4 : 0)

static void udp_len_offload(struct vs_pkt *p, bool broken)
{
	p->udp.len = 0;
	if (!broken)
		p->ipv4.total_len = 0;
}

EDIT(udp_len, p->udp.len = (uint16_t)(p->udp.len + 4 * broken))
EDIT(udp_csum, p->udp.csum = broken)
EDIT(no_aeth, p->hdrs = broken ? 0 : VS_HDR_AETH)
EDIT(unaligned, set_pad(p, 5, broken ? 0 : 3))
EDIT(icrc, p->icrc ^= broken)
EDIT(opcode_reserved, p->bth.opcode = broken ? 0x18 : 0x04)
EDIT(opcode_cnp_ib, p->bth.opcode = broken ? VS_OP_CNP_IB : VS_OP_CNP)
EDIT(opcode_vendor, p->bth.opcode = broken ? 0xc0 : 0x04)
EDIT(tver, p->bth.tver = broken)
EDIT(resv6, p->bth.resv6 = broken)
EDIT(resv7, p->bth.resv7 = broken)
EDIT(pkey_base_0, p->bth.pkey = broken ? 0x8000 : 0x8001)
EDIT(pkey_limited, p->bth.pkey = broken ? 0x7fff : 0xffff)
EDIT(qp0, set_mad(p); p->bth.destqp = !broken)
EDIT(rc_to_gsi, p->bth.destqp = broken ? 1 : 2)
EDIT(rc_to_mcast, p->bth.destqp = broken ? 0xffffff : 0xfffffe)
EDIT(mcast_to_qp, p->ipv4.dst[0] = 224; p->bth.destqp = broken ? 0xfffffe : 0xffffff)
EDIT(mcast_qp_to_unicast, p->ipv4.dst[0] = broken ? 10 : 239; p->bth.destqp = 0xffffff)
EDIT(mcast_qp_to_lid, p->lrh.dlid = broken ? 0xffff : 0xc001; p->bth.destqp = 0xffffff)
EDIT(mcast_gid_to_qp, p->grh.dgid[0] = 0xff; p->bth.destqp = broken ? 0x12 : 0xffffff)
EDIT(mcast_lid_to_qp, p->lrh.dlid = broken ? 0xc000 : 0xbfff)
EDIT(mcast_gid_behind_lid, p->grh.dgid[0] = broken ? 0xff : 0xfe)

/* ::ffff:224.0.0.1, and an address before the multicast ones */
static void mcast_mapped_to_qp(struct vs_pkt *p, bool broken)
{
	memset(p->grh.dgid, 0, sizeof(p->grh.dgid));
	p->grh.dgid[10] = p->grh.dgid[11] = 0xff;
	p->grh.dgid[12] = broken ? 224 : 223;
}

EDIT(fecn, p->bth.fecn = broken; p->bth.becn = true)
EDIT(padcnt_of_nothing, p->bth.padcnt = broken)
EDIT(middle_with_pad, p->payload_len = broken ? 255 : 256)
EDIT(pad_nonzero, set_pad(p, 5, 3); p->pad[2] = broken)
EDIT(payload_of_ack, p->payload_len = broken ? 4 : 0)
EDIT(empty_last, p->payload_len = !broken)
EDIT(not_mtu, p->payload_len = broken ? 260 : 256)
EDIT(over_mtu, p->payload_len = broken ? 4100 : 4096)
EDIT(not_eight, p->payload_len = p->ext.reth.dmalen = broken ? 12 : 8)
EDIT(dmalen_max, p->ext.reth.dmalen = VS_DMALEN_MAX + broken)
EDIT(dmalen_only, p->ext.reth.dmalen = p->payload_len + broken)
EDIT(dmalen_first, p->ext.reth.dmalen = p->payload_len + !broken)
EDIT(va_wrap, p->ext.reth.va = UINT64_MAX - 7; p->ext.reth.dmalen = 8 + broken)
EDIT(atomic_va, p->ext.atomiceth.va |= broken ? 4 : 0)
EDIT(atomic_write_va, p->ext.reth.va |= broken ? 4 : 0)
EDIT(syndrome_top, p->ext.aeth.syndrome = broken ? 0x9f : 0x1f)
EDIT(syndrome_type, p->ext.aeth.syndrome = broken ? 0x40 : 0x3f)
EDIT(nak_code, p->ext.aeth.syndrome = broken ? 0x65 : 0x64)
EDIT(nak_with_data, p->ext.aeth.syndrome = broken ? 0x60 : 0x00)
EDIT(rnr_with_data, p->ext.aeth.syndrome = broken ? 0x21 : 0x01)
EDIT(deth_rsv, p->ext.deth.rsv = broken)
EDIT(rdeth_rsv, p->ext.rdeth.rsv = broken)
EDIT(xrceth_rsv, p->ext.xrceth.rsv = broken)
EDIT(feth_rsv, p->ext.feth.rsv = broken)
EDIT(feth_plt_rsv, p->ext.feth.plt = broken ? 4 : 3)
EDIT(feth_sel, p->ext.feth.sel = broken ? 2 : 1)
EDIT(feth_plt, p->ext.feth.plt = broken ? 0 : 2)
EDIT(gsi_qkey, set_mad(p); p->ext.deth.qkey ^= broken)
EDIT(cnp_psn, p->bth.psn = broken)
EDIT(cnp_se, p->bth.se = broken)
EDIT(cnp_length, set_mad(p); mad[0] = 0; p->bth.destqp = 0x12; p->payload_len = broken ? 20 : 16)
EDIT(cnp_content, set_mad(p); mad[0] = broken; p->bth.destqp = 0x12; p->payload_len = 16)
EDIT(mad_short, set_mad(p); p->payload_len = broken ? 252 : 256)
EDIT(mad_version, set_mad(p); mad[0] = broken ? 2 : 1)

/* When the edit is made: before pad, lengths, checksums and CRCs are filled in, or after all of them. */
enum stage { S_PAD, S_LEN, S_CSUM, S_CRC, S_LAST };

#define IB VS_ENCAP_IB
#define IBG VS_ENCAP_IB_GRH
#define IBR VS_ENCAP_IB_RAW
#define V1 VS_ENCAP_ROCEV1
#define V4 VS_ENCAP_ROCEV2_IPV4
#define V6 VS_ENCAP_ROCEV2_IPV6

static const struct rule {
	enum vs_reason reason;
	enum vs_encap encap;
	uint8_t opcode;
	enum stage stage;
	edit_fn *edit;
	enum vs_reason also; /* what can't but be broken as well */
} rules[] = {
	{VS_REASON_LRH_LVER, IB, VS_OP_RC_SEND_ONLY, S_CRC, lver, 0},
	{VS_REASON_LRH_RSV, IB, VS_OP_RC_SEND_ONLY, S_CRC, lrh_rsv1, 0},
	{VS_REASON_LRH_RSV, IBG, VS_OP_RC_SEND_ONLY, S_CRC, lrh_rsv2, 0},
	{VS_REASON_LRH_LNH, IBR, 0, S_PAD, raw_ipv6, 0},
	{VS_REASON_LRH_PKTLEN, IB, VS_OP_RC_SEND_ONLY, S_CRC, pktlen, 0},
	{VS_REASON_LRH_PKTLEN, IBR, 0, S_CRC, pktlen, 0},
	{VS_REASON_LRH_VL15, IB, VS_OP_RC_SEND_ONLY, S_CRC, vl15_of_data, 0},
	{VS_REASON_LRH_VL15, IB, VS_OP_UD_SEND_ONLY, S_PAD, vl15_of_smp, 0},
	{VS_REASON_VCRC_BAD, IB, VS_OP_RC_SEND_ONLY, S_LAST, vcrc, 0},
	{VS_REASON_GRH_IPVER, V1, VS_OP_RC_SEND_ONLY, S_CRC, ipver, 0},
	{VS_REASON_GRH_IPVER, IBG, VS_OP_RC_SEND_ONLY, S_CRC, ipver, 0},
	{VS_REASON_GRH_NXTHDR, V1, VS_OP_RC_SEND_ONLY, S_CRC, nxthdr, 0},
	{VS_REASON_GRH_NXTHDR, IBG, VS_OP_RC_SEND_ONLY, S_CRC, nxthdr, 0},
	{VS_REASON_GRH_PAYLEN, V1, VS_OP_RC_SEND_ONLY, S_CRC, grh_paylen, 0},
	{VS_REASON_GRH_PAYLEN, IBG, VS_OP_RC_SEND_ONLY, S_CRC, grh_paylen, 0},
	{VS_REASON_SRC_MCAST, IB, VS_OP_RC_SEND_ONLY, S_CRC, slid_mcast, 0},
	{VS_REASON_SRC_MCAST, IBR, 0, S_CRC, slid_permissive, 0},
	{VS_REASON_SRC_MCAST, IBG, VS_OP_RC_SEND_ONLY, S_CRC, sgid_mcast, 0},
	{VS_REASON_SRC_MCAST, V1, VS_OP_RC_SEND_ONLY, S_CRC, sgid_mcast, 0},
	{VS_REASON_SRC_MCAST, V6, VS_OP_RC_SEND_ONLY, S_CRC, sgid_mcast, 0},
	{VS_REASON_SRC_MCAST, V4, VS_OP_RC_SEND_ONLY, S_CSUM, src_mcast, 0},
	{VS_REASON_IP_VERSION, V4, VS_OP_RC_SEND_ONLY, S_CSUM, ip_version, 0},
	{VS_REASON_IP_VERSION, V6, VS_OP_RC_SEND_ONLY, S_CRC, ipver, 0},
	{VS_REASON_IP_IHL, V4, VS_OP_RC_SEND_ONLY, S_LEN, ihl, 0},
	{VS_REASON_IP_FRAGMENT, V4, VS_OP_RC_SEND_ONLY, S_CSUM, fragment, 0},
	{VS_REASON_IP_NO_DF, V4, VS_OP_RC_SEND_ONLY, S_CSUM, no_df, 0},
	{VS_REASON_IP_LEN, V4, VS_OP_RC_SEND_ONLY, S_CSUM, ip_len, 0},
	{VS_REASON_IP_LEN, V6, VS_OP_RC_SEND_ONLY, S_CRC, grh_paylen, 0},
	{VS_REASON_IP_CSUM, V4, VS_OP_RC_SEND_ONLY, S_CRC, ip_csum, 0},
	{VS_REASON_IP_CSUM_ZERO, V4, VS_OP_RC_SEND_ONLY, S_CRC, ip_csum_zero, 0},
	{VS_REASON_IP_ECN_CE, V4, VS_OP_RC_SEND_ONLY, S_CSUM, ecn, 0},
	{VS_REASON_IP_ECN_CE, V6, VS_OP_RC_SEND_ONLY, S_CRC, ecn6, 0},
	{VS_REASON_UDP_DPORT, V4, VS_OP_RC_SEND_ONLY, S_CRC, dport, 0},
	{VS_REASON_IP_LEN, V4, VS_OP_RC_SEND_ONLY, S_CSUM, ip_len_offload, 0},
	{VS_REASON_IP_LEN, V6, VS_OP_RC_SEND_ONLY, S_CRC, ip6_len_offload, 0},
	{VS_REASON_UDP_LEN, V4, VS_OP_RC_SEND_ONLY, S_CSUM, udp_len_offload, 0},
	{VS_REASON_UDP_LEN, V4, VS_OP_RC_SEND_ONLY, S_CRC, udp_len, 0},
	{VS_REASON_UDP_LEN, V6, VS_OP_RC_SEND_ONLY, S_CRC, udp_len, 0},
	{VS_REASON_UDP_CSUM, V6, VS_OP_RC_SEND_ONLY, S_CRC, udp_csum, 0},
	{VS_REASON_PKT_SHORT, V4, VS_OP_RC_ACKNOWLEDGE, S_LEN, no_aeth, 0},
	{VS_REASON_PKT_SHORT, VS_ENCAP_BARE, VS_OP_RC_ACKNOWLEDGE, S_LEN, no_aeth, 0},
	{VS_REASON_PKT_ALIGN, V4, VS_OP_RC_SEND_ONLY, S_LEN, unaligned, 0},
	{VS_REASON_ICRC_BAD, V4, VS_OP_RC_SEND_ONLY, S_LAST, icrc, 0},
	{VS_REASON_BTH_OPCODE_RESERVED, V4, VS_OP_RC_SEND_ONLY, S_CRC, opcode_reserved, 0},
	{VS_REASON_BTH_OPCODE_RESERVED, V4, VS_OP_CNP, S_CRC, opcode_cnp_ib, 0},
	{VS_REASON_BTH_OPCODE_VENDOR, V4, VS_OP_RC_SEND_ONLY, S_CRC, opcode_vendor, 0},
	{VS_REASON_BTH_TVER, V4, VS_OP_RC_SEND_ONLY, S_CRC, tver, 0},
	{VS_REASON_BTH_RSV, V4, VS_OP_RC_SEND_ONLY, S_CRC, resv6, 0},
	{VS_REASON_BTH_RSV, V4, VS_OP_RC_SEND_ONLY, S_CRC, resv7, 0},
	{VS_REASON_BTH_PKEY_INVALID, V4, VS_OP_RC_SEND_ONLY, S_CRC, pkey_base_0, 0},
	{VS_REASON_BTH_PKEY_INVALID, IB, VS_OP_RC_SEND_ONLY, S_CRC, pkey_base_0, 0},
	{VS_REASON_BTH_PKEY_LIMITED, V4, VS_OP_RC_SEND_ONLY, S_CRC, pkey_limited, 0},
	{VS_REASON_BTH_QP0_ROCE, V4, VS_OP_UD_SEND_ONLY, S_PAD, qp0, 0},
	{VS_REASON_BTH_QP_SPECIAL, V4, VS_OP_RC_SEND_ONLY, S_CRC, rc_to_gsi, 0},
	{VS_REASON_BTH_QP_SPECIAL, V6, VS_OP_UC_SEND_ONLY, S_CRC, rc_to_gsi, 0},
	{VS_REASON_BTH_QP_MCAST, V4, VS_OP_RC_SEND_ONLY, S_CRC, rc_to_mcast, 0},
	{VS_REASON_MCAST_QPN, V4, VS_OP_UD_SEND_ONLY, S_CSUM, mcast_to_qp, 0},
	{VS_REASON_MCAST_QPN, V1, VS_OP_UD_SEND_ONLY, S_CSUM, mcast_gid_to_qp, 0},
	{VS_REASON_MCAST_QPN, V1, VS_OP_UD_SEND_ONLY, S_CRC, mcast_mapped_to_qp, 0},
	{VS_REASON_MCAST_QPN, IBG, VS_OP_UD_SEND_ONLY, S_CRC, mcast_lid_to_qp, 0},
	{VS_REASON_MCAST_QPN, IBG, VS_OP_UD_SEND_ONLY, S_CRC, mcast_gid_behind_lid, 0},
	{VS_REASON_MCAST_ADDR, V4, VS_OP_UD_SEND_ONLY, S_CSUM, mcast_qp_to_unicast, 0},
	{VS_REASON_MCAST_ADDR, IB, VS_OP_UD_SEND_ONLY, S_CRC, mcast_qp_to_lid, 0},
	{VS_REASON_BTH_FECN_ROCE, V4, VS_OP_RC_SEND_ONLY, S_CRC, fecn, 0},
	{VS_REASON_PAD_RANGE, V4, VS_OP_RC_ACKNOWLEDGE, S_LEN, padcnt_of_nothing, 0},
	{VS_REASON_PAD_MIDDLE, V4, VS_OP_RC_SEND_FIRST, S_PAD, middle_with_pad, VS_REASON_PAYLOAD_NOT_MTU},
	{VS_REASON_PAD_NONZERO, V4, VS_OP_RC_SEND_ONLY, S_LEN, pad_nonzero, 0},
	{VS_REASON_PAYLOAD_UNEXPECTED, V4, VS_OP_RC_ACKNOWLEDGE, S_PAD, payload_of_ack, 0},
	{VS_REASON_PAYLOAD_EMPTY, V4, VS_OP_RC_SEND_LAST, S_PAD, empty_last, 0},
	{VS_REASON_PAYLOAD_NOT_MTU, V4, VS_OP_RC_SEND_MIDDLE, S_PAD, not_mtu, 0},
	{VS_REASON_PAYLOAD_OVER_MTU, V4, VS_OP_RC_SEND_ONLY, S_PAD, over_mtu, 0},
	{VS_REASON_PAYLOAD_OVER_MTU, V4, VS_OP_RC_READ_RESPONSE_LAST, S_PAD, over_mtu, 0},
	{VS_REASON_PAYLOAD_NOT_EIGHT, V4, VS_OP_RC_ATOMIC_WRITE, S_PAD, not_eight, 0},
	{VS_REASON_RETH_DMALEN_MAX, V4, VS_OP_RC_READ_REQUEST, S_CRC, dmalen_max, 0},
	{VS_REASON_RETH_DMALEN_PAYLOAD, V4, VS_OP_RC_WRITE_ONLY, S_CRC, dmalen_only, 0},
	{VS_REASON_RETH_DMALEN_PAYLOAD, V4, VS_OP_RC_ATOMIC_WRITE, S_CRC, dmalen_only, 0},
	{VS_REASON_RETH_DMALEN_PAYLOAD, V4, VS_OP_UC_WRITE_FIRST, S_CRC, dmalen_first, 0},
	{VS_REASON_RETH_VA_WRAP, V4, VS_OP_RC_READ_REQUEST, S_CRC, va_wrap, 0},
	{VS_REASON_ATOMIC_ALIGN, V4, VS_OP_RC_FETCH_ADD, S_CRC, atomic_va, 0},
	{VS_REASON_ATOMIC_ALIGN, V4, VS_OP_RC_ATOMIC_WRITE, S_CRC, atomic_write_va, 0},
	{VS_REASON_AETH_RSV, V4, VS_OP_RC_ACKNOWLEDGE, S_CRC, syndrome_top, 0},
	{VS_REASON_AETH_TYPE, V4, VS_OP_RC_ACKNOWLEDGE, S_CRC, syndrome_type, 0},
	{VS_REASON_AETH_NAK_CODE, V4, VS_OP_RC_ACKNOWLEDGE, S_CRC, nak_code, 0},
	{VS_REASON_AETH_READ_NAK, V4, VS_OP_RC_READ_RESPONSE_ONLY, S_CRC, nak_with_data, 0},
	{VS_REASON_AETH_READ_NAK, V4, VS_OP_RC_ATOMIC_ACKNOWLEDGE, S_CRC, rnr_with_data, 0},
	{VS_REASON_DETH_RSV, V4, VS_OP_UD_SEND_ONLY, S_CRC, deth_rsv, 0},
	{VS_REASON_RDETH_RSV, V4, VS_OP_RD_ACKNOWLEDGE, S_CRC, rdeth_rsv, 0},
	{VS_REASON_XRCETH_RSV, V4, VS_OP_XRC_SEND_ONLY, S_CRC, xrceth_rsv, 0},
	{VS_REASON_FETH_RSV, V4, VS_OP_RC_FLUSH, S_CRC, feth_rsv, 0},
	{VS_REASON_FETH_RSV, V4, VS_OP_RC_FLUSH, S_CRC, feth_plt_rsv, VS_REASON_FETH_PLT},
	{VS_REASON_FETH_SEL, V4, VS_OP_RC_FLUSH, S_CRC, feth_sel, 0},
	{VS_REASON_FETH_PLT, V4, VS_OP_RC_FLUSH, S_CRC, feth_plt, 0},
	{VS_REASON_UD_GSI_QKEY, V4, VS_OP_UD_SEND_ONLY, S_PAD, gsi_qkey, 0},
	{VS_REASON_CNP_SHAPE, V4, VS_OP_CNP, S_CRC, cnp_psn, 0},
	{VS_REASON_CNP_SHAPE, V4, VS_OP_CNP, S_CRC, cnp_se, 0},
	{VS_REASON_CNP_SHAPE, V4, VS_OP_CNP, S_PAD, cnp_length, 0},
	{VS_REASON_CNP_SHAPE, V4, VS_OP_CNP, S_PAD, cnp_content, 0},
	{VS_REASON_MAD_SHORT, V4, VS_OP_UD_SEND_ONLY, S_PAD, mad_short, 0},
	{VS_REASON_MAD_BASE_VERSION, V4, VS_OP_UD_SEND_ONLY, S_PAD, mad_version, 0},
};
#define RULES (sizeof(rules) / sizeof(rules[0]))

/* ---- judging ---- */

static struct vs_gen g;
static uint8_t buf[VS_GEN_MAX];

struct verdict {
	enum vs_reason r[MAX_REASONS];
	size_t count;
	char text[512]; /* the ids, for messages */
};

/* Parses buf[0..cap) of `wire` bytes, checks its CRCs, validates. Returns what parse said. */
static int judge(struct verdict *v, const struct vs_pkt *built, size_t cap, size_t wire)
{
	uint16_t ethertype;
	enum vs_link link = vs_pkt_link(built, &ethertype);
	struct vs_pkt p;
	int rc = vs_pkt_parse(&p, link, ethertype, buf, cap, wire, VS_PARSE_ANY_PORT);

	v->count = 0;
	v->text[0] = '\0';
	if (rc != VS_OK)
		return rc;
	v->count = vs_pkt_validate(&p, vs_icrc_check(&p, buf, NULL), vs_vcrc_check(&p, buf, NULL), v->r, MAX_REASONS);
	REQUIRE(v->count <= MAX_REASONS, "%zu reasons", v->count);
	for (size_t i = 0; i < v->count; i++) {
		strncat(v->text, " ", sizeof(v->text) - strlen(v->text) - 1);
		strncat(v->text, vs_reason_info(v->r[i])->id, sizeof(v->text) - strlen(v->text) - 1);
		REQUIRE(i == 0 || v->r[i - 1] < v->r[i], "not in the order of reasons.def:%s", v->text);
	}
	return rc;
}

static size_t make(const struct rule *rule, bool broken)
{
	static const unsigned seals[] = {VS_SEAL_PAD, VS_SEAL_LEN, VS_SEAL_CSUM, VS_SEAL_ICRC | VS_SEAL_VCRC};
	uint64_t seed = 0xbad5eed;
	int n;

	vs_gen_legal(&g, &seed, rule->encap, rule->opcode, false);
	for (enum stage s = S_PAD; s <= S_LAST; s++) {
		if (s == rule->stage)
			rule->edit(&g.p, broken);
		if (s < S_LAST)
			ck_assert_int_eq(vs_pkt_seal(&g.p, seals[s], buf, sizeof(buf)), VS_OK);
	}
	n = vs_pkt_build(&g.p, buf, sizeof(buf));
	ck_assert_int_gt(n, 0);
	return (size_t)n;
}

START_TEST(a_reason_fires_on_the_broken_packet_and_not_on_its_neighbour)
{
	const struct rule *rule = &rules[_i];
	const char *id = vs_reason_info(rule->reason)->id;
	size_t n = make(rule, false), want = rule->also == VS_REASON_NONE ? 1 : 2;
	struct verdict v;

	ck_assert_int_eq(judge(&v, &g.p, n, n), VS_OK);
	ck_assert_msg(v.count == 0, "rule %d (%s): the legal neighbour is called%s", _i, id, v.text);
	n = make(rule, true);
	ck_assert_int_eq(judge(&v, &g.p, n, n), VS_OK);
	ck_assert_msg(v.count == want && v.r[0] == rule->reason && (want == 1 || v.r[1] == rule->also),
		      "rule %d (%s): the broken packet is called%s", _i, id, v.text);
}
END_TEST

START_TEST(every_reason_of_the_wire_has_a_test)
{
	for (unsigned r = VS_REASON_NONE + 1; r <= VS_REASON_WIRE_LAST; r++) {
		bool tested = false;

		for (size_t i = 0; i < RULES; i++)
			tested |= rules[i].reason == (enum vs_reason)r;
		ck_assert_msg(tested, "%s has no test", vs_reason_info((enum vs_reason)r)->id);
	}
}
END_TEST

/* ---- legal traffic ---- */

/* Reserved opcodes break a rule, and a manufacturer's is worth a note; 0x80 is for native InfiniBand. */
static bool opcode_is_clean(uint8_t opcode, enum vs_encap encap)
{
	return vs_opcodes[opcode].name != NULL && !(opcode == VS_OP_CNP_IB && encap >= VS_ENCAP_ROCEV1);
}

static size_t make_legal(uint64_t *seed, enum vs_encap encap, uint8_t opcode, uint8_t vlans)
{
	vs_gen_legal(&g, seed, encap, opcode, vs_gen_one_in(seed, 2));
	if (encap >= VS_ENCAP_ROCEV1 && (g.p.flags & VS_PKT_HAS_ETH)) {
		g.p.eth.vlan_count = vlans;
		for (unsigned i = 0; i < vlans; i++)
			g.p.eth.vlan[i] = (struct vs_vlan){0x8100, (uint16_t)(i + 1)};
	}
	ck_assert_int_eq(vs_pkt_seal(&g.p, VS_SEAL_ALL, buf, sizeof(buf)), VS_OK);
	return (size_t)vs_pkt_build(&g.p, buf, sizeof(buf));
}

START_TEST(legal_packets_of_every_opcode_and_encapsulation_break_no_rule)
{
	uint64_t seed = 0x900d;
	unsigned long rounds = vs_gen_count(100);

	for (unsigned long i = 0; i < rounds * 256 * VS_GEN_ENCAPS; i++) {
		enum vs_encap encap = (enum vs_encap)(i / 256 % VS_GEN_ENCAPS);
		uint8_t opcode = (uint8_t)(i % 256);
		struct verdict v;
		size_t n;

		if (!opcode_is_clean(opcode, encap))
			continue;
		n = make_legal(&seed, encap, opcode, (uint8_t)vs_gen_below(&seed, VS_MAX_VLAN + 1));
		REQUIRE(judge(&v, &g.p, n, n) == VS_OK, "opcode %02x in encap %d does not parse", opcode, encap);
		REQUIRE(v.count == 0, "opcode %02x in encap %d, %u bytes of payload: called%s", opcode, encap,
			g.p.payload_len, v.text);
	}
}
END_TEST

START_TEST(a_cut_packet_breaks_no_rule)
{
	uint64_t seed = 0x900e;

	for (unsigned i = 0; i < 256 * VS_GEN_ENCAPS; i++) {
		enum vs_encap encap = (enum vs_encap)(i / 256);
		uint8_t opcode = (uint8_t)(i % 256);
		size_t n;

		if (!opcode_is_clean(opcode, encap) || (encap == VS_ENCAP_IB_RAW && opcode > 0))
			continue;
		n = make_legal(&seed, encap, opcode, 1);
		for (size_t cap = 0; cap < n; cap += cap < 200 || n - cap < 20 ? 1 : 37) {
			struct verdict v;

			judge(&v, &g.p, cap, n);
			REQUIRE(v.count == 0, "opcode %02x in encap %d, %zu of %zu bytes: called%s", opcode, encap, cap,
				n, v.text);
		}
	}
}
END_TEST

/* A cut packet is judged by the lengths it had. */
START_TEST(lengths_of_a_cut_packet_are_still_judged)
{
	static const struct rule not_mtu_rule = {
		VS_REASON_PAYLOAD_NOT_MTU, V4, VS_OP_RC_SEND_MIDDLE, S_PAD, not_mtu, 0};
	size_t n = make(&not_mtu_rule, true);
	struct verdict v;

	for (size_t cap = 40; cap < n; cap++) {
		ck_assert_int_eq(judge(&v, &g.p, cap, n), VS_OK);
		ck_assert_msg(v.count == 1 && v.r[0] == VS_REASON_PAYLOAD_NOT_MTU, "%zu of %zu bytes:%s", cap, n,
			      v.text);
	}
}
END_TEST

/* What a rule must leave alone. */
START_TEST(exemptions_are_honoured)
{
	static const struct rule smp = {0, IB, VS_OP_UD_SEND_ONLY, S_PAD, vl15_of_smp, 0};
	static const struct rule fecn_v1 = {0, V1, VS_OP_RC_SEND_ONLY, S_CRC, fecn, 0};
	static const struct rule fecn_v6 = {0, V6, VS_OP_RC_SEND_ONLY, S_CRC, fecn, 0};
	struct verdict v;
	size_t n = make(&smp, false);

	/* Nobody looks at the P_Key of an SMP. */
	g.p.bth.pkey = 0x8000;
	ck_assert_int_eq(vs_pkt_seal(&g.p, VS_SEAL_ALL, buf, sizeof(buf)), VS_OK);
	vs_pkt_build(&g.p, buf, sizeof(buf));
	ck_assert_int_eq(judge(&v, &g.p, n, n), VS_OK);
	ck_assert_msg(v.count == 0, "SMP:%s", v.text);
	/* A capture without VCRC, cut: the LRH is right still. */
	for (size_t cap = 20; cap < n - 2; cap++) {
		ck_assert_int_eq(judge(&v, &g.p, cap, n - 2), VS_OK);
		ck_assert_msg(v.count == 0, "cut at %zu:%s", cap, v.text);
	}
	/* FECN is a matter of native InfiniBand and RoCEv1, where it means something. */
	n = make(&fecn_v1, true);
	ck_assert_int_eq(judge(&v, &g.p, n, n), VS_OK);
	ck_assert_msg(v.count == 0, "FECN on RoCEv1:%s", v.text);
	n = make(&fecn_v6, true);
	ck_assert_int_eq(judge(&v, &g.p, n, n), VS_OK);
	ck_assert_msg(v.count == 1 && v.r[0] == VS_REASON_BTH_FECN_ROCE, "FECN on RoCEv2:%s", v.text);
}
END_TEST

/* A cut packet whose LRH lies is found out all the same. */
START_TEST(pktlen_of_a_cut_packet_is_judged)
{
	static const struct rule rule = {0, IB, VS_OP_RC_SEND_ONLY, S_CRC, pktlen, 0};
	size_t n = make(&rule, true);
	struct verdict v;

	ck_assert_int_eq(judge(&v, &g.p, n - 1, n), VS_OK);
	ck_assert_msg(v.count == 1 && v.r[0] == VS_REASON_LRH_PKTLEN, "called%s", v.text);
}
END_TEST

START_TEST(a_short_list_still_tells_how_many_there_are)
{
	enum vs_reason two[2], all[MAX_REASONS];
	uint64_t seed = 0x900f;
	size_t n;

	vs_gen_legal(&g, &seed, V4, VS_OP_RC_ACKNOWLEDGE, false);
	g.p.ipv4.ihl = 6;
	g.p.ipv4.frag = 0;
	g.p.bth.tver = 1;
	g.p.bth.psn = 5;
	n = vs_pkt_validate(&g.p, VS_CRC_BAD, VS_CRC_UNVERIFIED, all, MAX_REASONS);
	ck_assert_uint_gt(n, 3);
	ck_assert_uint_eq(vs_pkt_validate(&g.p, VS_CRC_BAD, VS_CRC_UNVERIFIED, two, 2), n);
	ck_assert_uint_eq(vs_pkt_validate(&g.p, VS_CRC_BAD, VS_CRC_UNVERIFIED, NULL, 0), n);
	ck_assert_mem_eq(two, all, sizeof(two));
}
END_TEST

/* Whatever the bytes: the list is in order, has no reason twice, and stays within the wire part. */
START_TEST(judging_random_packets_keeps_the_order)
{
	uint64_t seed = 0x9010;
	struct verdict v;

	for (unsigned long i = 0; i < vs_gen_count(200000); i++) {
		size_t n;

		vs_gen_random(&g, &seed);
		n = vs_gen_mutate(&seed, buf, (size_t)vs_pkt_build(&g.p, buf, sizeof(buf)), sizeof(buf));
		if (judge(&v, &g.p, n, n) == VS_OK && v.count > 0)
			REQUIRE(v.r[v.count - 1] <= VS_REASON_WIRE_LAST, "beyond the wire:%s", v.text);
	}
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("validate");
	TCase *tc = tcase_create("rules"), *traffic = tcase_create("traffic");

	tcase_add_loop_test(tc, a_reason_fires_on_the_broken_packet_and_not_on_its_neighbour, 0, (int)RULES);
	tcase_add_test(tc, every_reason_of_the_wire_has_a_test);
	tcase_add_test(tc, lengths_of_a_cut_packet_are_still_judged);
	tcase_add_test(tc, exemptions_are_honoured);
	tcase_add_test(tc, pktlen_of_a_cut_packet_is_judged);
	tcase_add_test(tc, a_short_list_still_tells_how_many_there_are);
	suite_add_tcase(s, tc);
	tcase_set_timeout(traffic, 300);
	tcase_add_test(traffic, legal_packets_of_every_opcode_and_encapsulation_break_no_rule);
	tcase_add_test(traffic, a_cut_packet_breaks_no_rule);
	tcase_add_test(traffic, judging_random_packets_keeps_the_order);
	suite_add_tcase(s, traffic);
	return s;
}
