/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * validate.c - which rules does this one packet break?
 *
 * One function per layer, outside in; within each the order is that of reasons.def. A rule speaks
 * only about what is there: a cut packet is judged by the lengths it had on the wire, one whose
 * headers are cut off, or the first fragment of a datagram, by its headers alone.
 */
#include <string.h>

#include "encode.h"

#define IPV4_DF 0x4000u
#define IPV4_MF_AND_OFFSET 0x3fffu
#define PKEY_FULL 0x8000u

struct judge {
	const struct vs_pkt *p;
	const struct vs_opcode_info *op; /* of the BTH; without BTH that of opcode 0, not to be used */
	bool native, roce;
	size_t len;         /* LRH, GRH or IP header through ICRC, as on the wire */
	size_t payload_len; /* as on the wire */
	enum vs_reason *out;
	size_t cap, count;
};

static void say(struct judge *j, enum vs_reason r)
{
	if (j->count < j->cap)
		j->out[j->count] = r;
	j->count++;
}

static void say_if(struct judge *j, bool broken, enum vs_reason r)
{
	if (broken)
		say(j, r);
}

/* ---- addresses ---- */

static bool lid_is_mcast(uint16_t lid)
{
	return lid >= 0xc000 && lid != 0xffff;
}

/* ff00::/8, and ::ffff:224.0.0.0/4 */
static bool gid_is_mcast(const uint8_t gid[16])
{
	static const uint8_t v4_mapped[12] = {[10] = 0xff, [11] = 0xff};

	return gid[0] == 0xff || (memcmp(gid, v4_mapped, 12) == 0 && gid[12] >> 4 == 0xe);
}

static bool src_is_mcast(const struct vs_pkt *p)
{
	switch (p->encap) {
	case VS_ENCAP_BARE:
		break;
	case VS_ENCAP_IB:
	case VS_ENCAP_IB_RAW:
		return lid_is_mcast(p->lrh.slid);
	case VS_ENCAP_IB_GRH:
		return lid_is_mcast(p->lrh.slid) || gid_is_mcast(p->grh.sgid);
	case VS_ENCAP_ROCEV2_IPV4:
		return p->ipv4.src[0] >> 4 == 0xe;
	case VS_ENCAP_ROCEV1:
	case VS_ENCAP_ROCEV2_IPV6:
		return gid_is_mcast(p->grh.sgid);
	}
	return false;
}

static bool dst_is_mcast(const struct vs_pkt *p)
{
	switch (p->encap) {
	case VS_ENCAP_BARE:
		break;
	case VS_ENCAP_IB:
	case VS_ENCAP_IB_RAW:
		return lid_is_mcast(p->lrh.dlid);
	case VS_ENCAP_IB_GRH:
		return lid_is_mcast(p->lrh.dlid) || gid_is_mcast(p->grh.dgid);
	case VS_ENCAP_ROCEV2_IPV4:
		return p->ipv4.dst[0] >> 4 == 0xe;
	case VS_ENCAP_ROCEV1:
	case VS_ENCAP_ROCEV2_IPV6:
		return gid_is_mcast(p->grh.dgid);
	}
	return false;
}

/* ---- LRH, GRH, IP, UDP ---- */

/* A length that isn't that of the packet. Of a fragment the rest may be elsewhere. */
static bool differs(const struct judge *j, size_t claimed, size_t there)
{
	return claimed != there && !((j->p->flags & VS_PKT_FRAGMENT) && claimed > there);
}

/*
 * The same for the lengths of IP, and of UDP below it. An IP length of 0 is that of no packet on the wire: a sender
 * with segmentation offload leaves both to its network card, and a capture there shows them so.
 */
static bool ip_differs(const struct judge *j, size_t ip_len, size_t claimed, size_t there)
{
	return differs(j, claimed, there) && !(ip_len == 0 && claimed == 0);
}

static bool lnh_is_wrong(const struct vs_pkt *p)
{
	if (p->flags & VS_PKT_HDR_MISSING)
		return false;
	switch (p->encap) {
	case VS_ENCAP_IB:
		return p->lrh.lnh != VS_LNH_IBA_LOCAL;
	case VS_ENCAP_IB_GRH:
		return p->lrh.lnh != VS_LNH_IBA_GLOBAL;
	default:
		break;
	}
	if (p->flags & VS_PKT_HAS_RWH)
		return p->lrh.lnh != VS_LNH_RAW;
	return p->lrh.lnh != VS_LNH_IPV6 || (p->payload_len > 0 && p->payload[0] >> 4 != 6);
}

/* VL 15 carries SMPs, and they travel on no other. */
static bool vl15_is_wrong(const struct vs_pkt *p)
{
	bool smp = (p->flags & VS_PKT_HAS_BTH) && p->bth.destqp == 0;

	if (p->flags & VS_PKT_HDR_MISSING)
		return false;
	return smp != (p->lrh.vl == 15);
}

static void judge_lrh(struct judge *j)
{
	const struct vs_lrh *h = &j->p->lrh;
	size_t claimed = (size_t)h->pktlen * 4;
	bool cut = j->p->flags & VS_PKT_SNAPPED;

	say_if(j, h->lver != 0, VS_REASON_LRH_LVER);
	say_if(j, h->rsv1 != 0 || h->rsv2 != 0, VS_REASON_LRH_RSV);
	say_if(j, lnh_is_wrong(j->p), VS_REASON_LRH_LNH);
	/* Of a cut packet nobody knows whether a VCRC was recorded. */
	say_if(j, claimed != j->len && !(cut && claimed == j->len + 2), VS_REASON_LRH_PKTLEN);
	say_if(j, vl15_is_wrong(j->p), VS_REASON_LRH_VL15);
}

static void judge_grh(struct judge *j)
{
	const struct vs_grh *h = &j->p->grh;

	say_if(j, h->ipver != 6, VS_REASON_GRH_IPVER);
	say_if(j, h->nxthdr != VS_GRH_NXTHDR_IBA, VS_REASON_GRH_NXTHDR);
	say_if(j, differs(j, h->paylen, j->len - (j->native ? 48 : 40)), VS_REASON_GRH_PAYLEN);
}

static void judge_ipv4(struct judge *j)
{
	const struct vs_ipv4 *h = &j->p->ipv4;

	say_if(j, h->version != 4, VS_REASON_IP_VERSION);
	say_if(j, h->ihl != 5, VS_REASON_IP_IHL);
	say_if(j, h->frag & IPV4_MF_AND_OFFSET, VS_REASON_IP_FRAGMENT);
	say_if(j, !(h->frag & IPV4_DF), VS_REASON_IP_NO_DF);
	say_if(j, ip_differs(j, h->total_len, h->total_len, j->len), VS_REASON_IP_LEN);
	say_if(j, h->csum != 0 && h->csum != vs_ipv4_csum(h), VS_REASON_IP_CSUM);
	say_if(j, h->csum == 0 && vs_ipv4_csum(h) != 0, VS_REASON_IP_CSUM_ZERO);
	say_if(j, (h->tos & 3) == 3, VS_REASON_IP_ECN_CE);
}

static void judge_ipv6(struct judge *j)
{
	const struct vs_grh *h = &j->p->grh;

	say_if(j, h->ipver != 6, VS_REASON_IP_VERSION);
	say_if(j, ip_differs(j, h->paylen, h->paylen, j->len - 40), VS_REASON_IP_LEN);
	say_if(j, (h->tclass & 3) == 3, VS_REASON_IP_ECN_CE);
}

/* `ip_hdr`: bytes of the IP header; `ip_len`: what it says about its length. */
static void judge_udp(struct judge *j, size_t ip_hdr, size_t ip_len)
{
	const struct vs_udp *h = &j->p->udp;

	say_if(j, h->dport != VS_UDP_PORT_ROCE, VS_REASON_UDP_DPORT);
	say_if(j, ip_differs(j, ip_len, h->len, j->len - ip_hdr), VS_REASON_UDP_LEN);
	say_if(j, h->csum != 0, VS_REASON_UDP_CSUM);
}

static void judge_net(struct judge *j, enum vs_crc_status vcrc)
{
	const struct vs_pkt *p = j->p;

	if (j->native) {
		judge_lrh(j);
		say_if(j, vcrc == VS_CRC_BAD, VS_REASON_VCRC_BAD);
	}
	if (p->encap == VS_ENCAP_IB_GRH || p->encap == VS_ENCAP_ROCEV1)
		judge_grh(j);
	say_if(j, src_is_mcast(p), VS_REASON_SRC_MCAST);
	if (p->encap == VS_ENCAP_ROCEV2_IPV4) {
		judge_ipv4(j);
		judge_udp(j, vs_enc_ipv4_size(&p->ipv4), p->ipv4.total_len);
	}
	if (p->encap == VS_ENCAP_ROCEV2_IPV6) {
		judge_ipv6(j);
		judge_udp(j, 40, p->grh.paylen);
	}
}

/* ---- the packet as a whole ---- */

/* Do the bytes behind the last header follow the rules of this opcode? Not when we can't see where they begin. */
static bool has_body(const struct judge *j)
{
	return (j->p->flags & VS_PKT_HAS_BTH) && !(j->p->flags & (VS_PKT_HDR_MISSING | VS_PKT_FRAGMENT)) &&
	       !(j->p->hdrs & VS_HDR_DCEXT);
}

static bool is_short(const struct vs_pkt *p)
{
	if (p->flags & (VS_PKT_SNAPPED | VS_PKT_FRAGMENT))
		return false;
	return (p->flags & VS_PKT_HDR_MISSING) || ((p->flags & VS_PKT_HAS_BTH) && !(p->flags & VS_PKT_HAS_ICRC));
}

static void judge_whole(struct judge *j, enum vs_crc_status icrc)
{
	const struct vs_pkt *p = j->p;
	bool cut = p->flags & VS_PKT_SNAPPED;
	size_t pad = cut ? p->bth.padcnt : p->pad_len;

	say_if(j, is_short(p), VS_REASON_PKT_SHORT);
	say_if(j, has_body(j) && !is_short(p) && (j->payload_len + pad) % 4 != 0, VS_REASON_PKT_ALIGN);
	say_if(j, icrc == VS_CRC_BAD, VS_REASON_ICRC_BAD);
}

/* ---- BTH ---- */

static void judge_opcode(struct judge *j)
{
	uint8_t opcode = j->p->bth.opcode;
	bool vendor = opcode >= 0xc0, reserved = j->op->name == NULL && !vendor && !(j->p->hdrs & VS_HDR_DCEXT);

	if (opcode == VS_OP_CNP_IB && j->roce)
		reserved = true;
	say_if(j, reserved, VS_REASON_BTH_OPCODE_RESERVED);
	say_if(j, vendor, VS_REASON_BTH_OPCODE_VENDOR);
}

static void judge_qp(struct judge *j)
{
	const struct vs_pkt *p = j->p;
	enum vs_transport t = vs_opcode_transport(p->bth.opcode);
	bool connected = t == VS_TRANSPORT_RC || t == VS_TRANSPORT_UC || t == VS_TRANSPORT_XRC;
	bool to_mcast = p->bth.destqp == VS_QPN_MULTICAST;

	say_if(j, p->bth.destqp == 0 && j->roce, VS_REASON_BTH_QP0_ROCE);
	say_if(j, p->bth.destqp <= VS_QPN_GSI && connected, VS_REASON_BTH_QP_SPECIAL);
	say_if(j, to_mcast && connected, VS_REASON_BTH_QP_MCAST);
	say_if(j, t == VS_TRANSPORT_UD && !to_mcast && dst_is_mcast(p), VS_REASON_MCAST_QPN);
	say_if(j, t == VS_TRANSPORT_UD && to_mcast && p->encap != VS_ENCAP_BARE && !dst_is_mcast(p),
	       VS_REASON_MCAST_ADDR);
}

static void judge_bth(struct judge *j)
{
	const struct vs_bth *h = &j->p->bth;
	bool smp = h->destqp == 0 && !j->roce, no_base = !(h->pkey & ~PKEY_FULL);
	bool rocev2 = j->p->encap == VS_ENCAP_ROCEV2_IPV4 || j->p->encap == VS_ENCAP_ROCEV2_IPV6;

	judge_opcode(j);
	say_if(j, h->tver != 0, VS_REASON_BTH_TVER);
	say_if(j, h->resv6 != 0 || h->resv7 != 0, VS_REASON_BTH_RSV);
	say_if(j, no_base && !smp, VS_REASON_BTH_PKEY_INVALID);
	say_if(j, !no_base && !(h->pkey & PKEY_FULL), VS_REASON_BTH_PKEY_LIMITED);
	judge_qp(j);
	say_if(j, h->fecn && rocev2, VS_REASON_BTH_FECN_ROCE);
}

/* ---- payload ---- */

static bool is_mtu(size_t n)
{
	return n == 256 || n == 512 || n == 1024 || n == 2048 || n == 4096;
}

static bool pad_is_zero(const struct vs_pkt *p)
{
	static const uint8_t zeros[sizeof(p->pad)];

	return p->pad_len > sizeof(p->pad) || memcmp(p->pad, zeros, p->pad_len) == 0;
}

static void judge_payload(struct judge *j)
{
	const struct vs_pkt *p = j->p;
	bool cut = p->flags & VS_PKT_SNAPPED, any = j->payload_len + p->pad_len > 0;
	uint8_t rule = j->op->payload;

	say_if(j, !cut && !is_short(p) && p->pad_len < p->bth.padcnt, VS_REASON_PAD_RANGE);
	say_if(j, rule == VS_PAYLOAD_FULL && p->bth.padcnt != 0, VS_REASON_PAD_MIDDLE);
	say_if(j, !pad_is_zero(p), VS_REASON_PAD_NONZERO);
	say_if(j, rule == VS_PAYLOAD_NONE && any, VS_REASON_PAYLOAD_UNEXPECTED);
	say_if(j, rule == VS_PAYLOAD_LAST && j->payload_len == 0, VS_REASON_PAYLOAD_EMPTY);
	say_if(j, rule == VS_PAYLOAD_FULL && !is_mtu(j->payload_len), VS_REASON_PAYLOAD_NOT_MTU);
	say_if(j, (rule == VS_PAYLOAD_LAST || rule == VS_PAYLOAD_ONLY) && j->payload_len > VS_MTU_MAX,
	       VS_REASON_PAYLOAD_OVER_MTU);
	say_if(j, rule == VS_PAYLOAD_EIGHT && j->payload_len != 8, VS_REASON_PAYLOAD_NOT_EIGHT);
}

/* ---- extended headers ---- */

/* A WRITE (or ATOMIC WRITE) says in its first packet how much it brings. */
static bool dmalen_misfits(const struct judge *j)
{
	uint32_t dmalen = j->p->ext.reth.dmalen;

	if (!has_body(j) || !((j->op->flags & VS_OPF_W) || j->op->payload == VS_PAYLOAD_EIGHT))
		return false;
	return j->op->flags & VS_OPF_E ? dmalen != j->payload_len : dmalen <= j->payload_len;
}

static void judge_reth(struct judge *j)
{
	uint64_t va = j->p->ext.reth.va;
	uint32_t dmalen = j->p->ext.reth.dmalen;

	say_if(j, dmalen > VS_DMALEN_MAX, VS_REASON_RETH_DMALEN_MAX);
	say_if(j, dmalen_misfits(j), VS_REASON_RETH_DMALEN_PAYLOAD);
	say_if(j, dmalen > 0 && va + (dmalen - 1) < va, VS_REASON_RETH_VA_WRAP);
}

static void judge_aeth(struct judge *j)
{
	uint8_t syndrome = j->p->ext.aeth.syndrome;
	enum vs_aeth_type type = vs_aeth_type(syndrome);
	bool with_data = j->op->flags & (VS_OPF_D | VS_OPF_A);

	say_if(j, syndrome & 0x80, VS_REASON_AETH_RSV);
	say_if(j, type == VS_AETH_RESERVED, VS_REASON_AETH_TYPE);
	say_if(j, type == VS_AETH_NAK && (syndrome & 0x1f) > VS_NAK_INV_RD, VS_REASON_AETH_NAK_CODE);
	say_if(j, with_data && (type == VS_AETH_NAK || type == VS_AETH_RNR), VS_REASON_AETH_READ_NAK);
}

static bool atomic_is_misaligned(const struct judge *j)
{
	if (j->p->hdrs & VS_HDR_ATOMICETH)
		return j->p->ext.atomiceth.va % 8 != 0;
	return (j->p->hdrs & VS_HDR_RETH) && j->op->payload == VS_PAYLOAD_EIGHT && j->p->ext.reth.va % 8 != 0;
}

static void judge_feth(struct judge *j)
{
	uint8_t plt = j->p->ext.feth.plt;

	say_if(j, j->p->ext.feth.rsv != 0 || plt > 3, VS_REASON_FETH_RSV);
	say_if(j, j->p->ext.feth.sel > 1, VS_REASON_FETH_SEL);
	say_if(j, (plt & 3) == 0, VS_REASON_FETH_PLT);
}

static void judge_ext(struct judge *j)
{
	const struct vs_pkt *p = j->p;

	if (p->hdrs & VS_HDR_RETH)
		judge_reth(j);
	say_if(j, atomic_is_misaligned(j), VS_REASON_ATOMIC_ALIGN);
	if (p->hdrs & VS_HDR_AETH)
		judge_aeth(j);
	say_if(j, (p->hdrs & VS_HDR_DETH) && p->ext.deth.rsv != 0, VS_REASON_DETH_RSV);
	say_if(j, (p->hdrs & VS_HDR_RDETH) && p->ext.rdeth.rsv != 0, VS_REASON_RDETH_RSV);
	say_if(j, (p->hdrs & VS_HDR_XRCETH) && p->ext.xrceth.rsv != 0, VS_REASON_XRCETH_RSV);
	if (p->hdrs & VS_HDR_FETH)
		judge_feth(j);
	say_if(j, (p->hdrs & VS_HDR_DETH) && p->bth.destqp == VS_QPN_GSI && p->ext.deth.qkey != VS_GSI_QKEY,
	       VS_REASON_UD_GSI_QKEY);
}

/* ---- what the payload is known to be ---- */

static bool cnp_is_misshapen(const struct judge *j)
{
	static const uint8_t zeros[16];
	const struct vs_pkt *p = j->p;

	if (p->bth.psn != 0 || p->bth.se || j->payload_len != sizeof(zeros))
		return true;
	return p->payload_len > 0 && memcmp(p->payload, zeros, p->payload_len) != 0;
}

static void judge_content(struct judge *j)
{
	const struct vs_pkt *p = j->p;
	bool mad = p->bth.opcode == VS_OP_UD_SEND_ONLY && p->bth.destqp <= VS_QPN_GSI;

	say_if(j, p->bth.opcode == VS_OP_CNP && cnp_is_misshapen(j), VS_REASON_CNP_SHAPE);
	say_if(j, mad && j->payload_len != 256, VS_REASON_MAD_SHORT);
	say_if(j, mad && p->payload_len > 0 && p->payload[0] != 1, VS_REASON_MAD_BASE_VERSION);
}

/* Bytes from the network header through the ICRC, those that a snap length took included. */
static size_t wire_len(const struct vs_pkt *p, bool native)
{
	size_t len = vs_enc_net_size(p) + vs_enc_body_size(p);

	if (p->flags & VS_PKT_SNAPPED)
		len += (size_t)p->trailer_len + p->missing_len - (native ? 2 : 0);
	return len;
}

size_t vs_pkt_validate(const struct vs_pkt *p, enum vs_crc_status icrc, enum vs_crc_status vcrc, enum vs_reason *out,
		       size_t cap)
{
	struct judge j = {.p = p, .op = &vs_opcodes[p->bth.opcode], .out = out, .cap = cap};

	j.native = p->encap == VS_ENCAP_IB || p->encap == VS_ENCAP_IB_GRH || p->encap == VS_ENCAP_IB_RAW;
	j.roce = !j.native && p->encap != VS_ENCAP_BARE;
	j.len = wire_len(p, j.native);
	j.payload_len = (size_t)p->payload_len + p->payload_missing_len;
	judge_net(&j, vcrc);
	judge_whole(&j, icrc);
	if (!(p->flags & VS_PKT_HAS_BTH))
		return j.count;
	judge_bth(&j);
	if (has_body(&j))
		judge_payload(&j);
	judge_ext(&j);
	if (has_body(&j))
		judge_content(&j);
	return j.count;
}
