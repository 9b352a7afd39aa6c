/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * rx.c - the header checks of a received packet, in the specification's order. Everything that fails
 * here is dropped in silence (CA17-24): no NAK, no completion, only a counter and a reason.
 *
 *   CRCs -> network header -> destination address -> BTH -> queue pair and state -> P_Key -> source address
 *
 * What passes goes to the responder, the requester's completer, datagrams, congestion or the CM.
 */
#include "core.h"

/* What an IP layer does before RoCE sees the packet (RFC 1122, 3.2.1.2). A checksum that a sender's card was to fill in
 * is filled in when the packet arrives. */
static enum vs_reason check_ipv4(const struct vs_pkt *p)
{
	if (p->ipv4.version != 4)
		return VS_REASON_IP_VERSION;
	if (p->ipv4.ihl != 5)
		return VS_REASON_IP_IHL;
	if (p->ipv4.csum != vs_ipv4_csum(&p->ipv4))
		return p->ipv4.csum == 0 ? VS_REASON_IP_CSUM_ZERO : VS_REASON_IP_CSUM;
	return p->ipv4.total_len != p->end_off - p->net_off ? VS_REASON_IP_LEN : VS_REASON_NONE;
}

/* VL 15 is for subnet management, which is for QP 0; that there is no QP 0 here is said later. */
static enum vs_reason check_lrh(const struct vs_pkt *p)
{
	if (p->lrh.lver != 0)
		return VS_REASON_LRH_LVER;
	if (p->lrh.vl == 15 && p->bth.destqp != 0)
		return VS_REASON_LRH_VL15;
	return p->lrh.pktlen * 4u != p->end_off - p->net_off ? VS_REASON_LRH_PKTLEN : VS_REASON_NONE;
}

/* The first broken rule of the network headers that makes a receiver drop; what is only reported stays out. */
static enum vs_reason check_network(const struct vs_rx *rx)
{
	const struct vs_pkt *p = &rx->p;

	if (p->flags & VS_PKT_FRAGMENT)
		return VS_REASON_IP_FRAGMENT;
	if (p->encap == VS_ENCAP_IB_GRH && p->grh.nxthdr != VS_GRH_NXTHDR_IBA)
		return VS_REASON_GRH_NXTHDR;
	if (p->encap == VS_ENCAP_IB_RAW || p->encap == VS_ENCAP_BARE)
		return VS_REASON_LRH_LNH;
	if (p->flags & VS_PKT_HDR_MISSING || !(p->flags & VS_PKT_HAS_ICRC) || p->pad_len != p->bth.padcnt)
		return VS_REASON_PKT_SHORT;
	switch (p->encap) {
	case VS_ENCAP_IB:
	case VS_ENCAP_IB_GRH:
		if (check_lrh(p) != VS_REASON_NONE)
			return check_lrh(p);
		if (p->encap == VS_ENCAP_IB)
			break;
		/* fall through */
	case VS_ENCAP_ROCEV1:
		if (p->grh.ipver != 6)
			return VS_REASON_GRH_IPVER;
		if (p->grh.nxthdr != VS_GRH_NXTHDR_IBA)
			return VS_REASON_GRH_NXTHDR;
		if (p->grh.paylen != p->end_off - p->bth_off)
			return VS_REASON_GRH_PAYLEN;
		break;
	case VS_ENCAP_ROCEV2_IPV4:
		if (check_ipv4(p) != VS_REASON_NONE)
			return check_ipv4(p);
		break;
	case VS_ENCAP_ROCEV2_IPV6:
		if (p->grh.ipver != 6)
			return VS_REASON_IP_VERSION;
		if (p->grh.paylen != p->end_off - p->net_off - 40)
			return VS_REASON_IP_LEN;
		break;
	default:
		break;
	}
	if ((p->encap == VS_ENCAP_ROCEV2_IPV4 || p->encap == VS_ENCAP_ROCEV2_IPV6) &&
	    p->udp.len != 8 + p->end_off - p->bth_off)
		return VS_REASON_UDP_LEN;
	return (p->end_off - p->bth_off) % 4 != 0 ? VS_REASON_PKT_ALIGN : VS_REASON_NONE;
}

static void map_ipv4(uint8_t gid[16], const uint8_t ip[4])
{
	memset(gid, 0, 10);
	gid[10] = gid[11] = 0xff;
	memcpy(gid + 12, ip, 4);
}

static void note_addresses(struct vs_rx *rx)
{
	const struct vs_pkt *p = &rx->p;

	rx->ipv4 = p->encap == VS_ENCAP_ROCEV2_IPV4;
	rx->slid = p->lrh.slid; /* 0 on Ethernet */
	rx->sl = p->encap == VS_ENCAP_IB || p->encap == VS_ENCAP_IB_GRH ? p->lrh.sl
		 : p->eth.vlan_count > 0                                ? (uint8_t)(p->eth.vlan[0].tci >> 13)
									: 0;
	if (rx->ipv4) {
		map_ipv4(rx->sgid, p->ipv4.src);
		map_ipv4(rx->dgid, p->ipv4.dst);
		rx->ecn_ce = (p->ipv4.tos & 3) == 3;
		return;
	}
	rx->ecn_ce = p->encap == VS_ENCAP_ROCEV2_IPV6 && (p->grh.tclass & 3) == 3;
	memcpy(rx->sgid, p->grh.sgid, sizeof(rx->sgid));
	memcpy(rx->dgid, p->grh.dgid, sizeof(rx->dgid));
}

static bool gid_is_ours(const struct vs_dev *dev, const uint8_t gid[16], enum vs_encap encap)
{
	unsigned i;

	for (i = 0; i < VS_GID_TABLE_LEN; i++) {
		const struct vs_gid_entry *e = &dev->attr.gids[i];

		if (e->type == VS_GID_NONE || memcmp(e->gid, gid, sizeof(e->gid)) != 0)
			continue;
		if (encap == VS_ENCAP_ROCEV1   ? e->type == VS_GID_ROCEV1
		    : encap == VS_ENCAP_IB_GRH ? e->type == VS_GID_IB
					       : e->type == VS_GID_ROCEV2)
			return true;
	}
	return false;
}

static enum vs_reason check_destination(const struct vs_dev *dev, const struct vs_rx *rx)
{
	const struct vs_pkt *p = &rx->p;
	bool mcast_qp = p->bth.destqp == VS_QPN_MULTICAST;

	if (p->flags & VS_PKT_HAS_ETH && !(p->eth.dst[0] & 1) &&
	    memcmp(p->eth.dst, dev->attr.mac, sizeof(p->eth.dst)) != 0)
		return VS_REASON_NOT_FOR_US;
	if ((p->encap == VS_ENCAP_IB || p->encap == VS_ENCAP_IB_GRH) && p->lrh.dlid < 0xc000 &&
	    p->lrh.dlid != dev->attr.lid)
		return VS_REASON_NOT_FOR_US;
	if (p->encap == VS_ENCAP_IB)
		return VS_REASON_NONE;
	if (vs_gid_is_mcast(rx->dgid))
		return mcast_qp ? VS_REASON_NONE : VS_REASON_NOT_FOR_US;
	return gid_is_ours(dev, rx->dgid, p->encap) ? VS_REASON_NONE : VS_REASON_NOT_FOR_US;
}

static enum vs_reason check_bth(const struct vs_dev *dev, const struct vs_rx *rx)
{
	const struct vs_bth *b = &rx->p.bth;
	bool ud = b->opcode >> 5 == VS_TRANSPORT_UD;

	if (b->tver != 0)
		return VS_REASON_BTH_TVER;
	/* Reserved opcodes of RC are the responder's business (NAK); elsewhere they are dropped. */
	if (vs_opcodes[b->opcode].name == NULL && b->opcode >> 5 != VS_TRANSPORT_RC)
		return VS_REASON_BTH_OPCODE_RESERVED;
	if (b->destqp == 0)
		return VS_REASON_BTH_QP0_ROCE;
	if (b->destqp == VS_QPN_MULTICAST && !ud)
		return VS_REASON_BTH_QP_MCAST;
	if (VS_DEVIATES(dev, MIGREQ_REQUIRED) && !b->migreq && b->opcode != VS_OP_CNP)
		return VS_REASON_BTH_MIGREQ;
	return VS_REASON_NONE;
}

/* Low 15 bits equal and not 0, at least one side a full member. */
bool vs_pkey_match(uint16_t a, uint16_t b)
{
	return (a & 0x7fff) == (b & 0x7fff) && (a & 0x7fff) != 0 && ((a | b) & 0x8000) != 0;
}

static bool is_response(uint8_t opcode)
{
	return (vs_opcodes[opcode].flags & VS_OPF_R) != 0;
}

static enum vs_reason check_qp(const struct vs_rx *rx)
{
	const struct vs_qp *qp = rx->qp;
	uint8_t opcode = rx->p.bth.opcode;
	enum vs_transport t = (enum vs_transport)(opcode >> 5);
	bool fits = (qp->type == VS_QPT_RC && t == VS_TRANSPORT_RC) ||
		    (qp->type == VS_QPT_UC && t == VS_TRANSPORT_UC) ||
		    ((qp->type == VS_QPT_UD || qp->type == VS_QPT_GSI) && t == VS_TRANSPORT_UD);

	if (opcode == VS_OP_CNP)
		return VS_REASON_NONE;
	if (!fits)
		return VS_REASON_QP_TRANSPORT;
	if (qp->attr.state == VS_QPS_RESET || qp->attr.state == VS_QPS_INIT || qp->attr.state == VS_QPS_ERR)
		return VS_REASON_QP_STATE;
	if (is_response(opcode) && qp->attr.state == VS_QPS_RTR)
		return VS_REASON_QP_STATE;
	return VS_REASON_NONE;
}

static enum vs_reason check_pkey(const struct vs_rx *rx)
{
	const struct vs_dev *dev = rx->qp->dev;

	return vs_pkey_match(rx->p.bth.pkey, dev->attr.pkeys[rx->qp->attr.pkey_index % VS_PKEY_TABLE_LEN])
		       ? VS_REASON_NONE
		       : VS_REASON_PKEY_MISMATCH;
}

/* Connected QPs take packets from their peer alone. */
static enum vs_reason check_source(const struct vs_rx *rx)
{
	const struct vs_qp *qp = rx->qp;

	if (qp->type != VS_QPT_RC && qp->type != VS_QPT_UC)
		return VS_REASON_NONE;
	if ((rx->p.encap == VS_ENCAP_IB || rx->p.encap == VS_ENCAP_IB_GRH) && rx->slid != qp->attr.av.dlid)
		return VS_REASON_NOT_PEER;
	if (rx->p.encap == VS_ENCAP_IB)
		return VS_REASON_NONE;
	if (memcmp(rx->sgid, qp->attr.av.dgid, sizeof(rx->sgid)) != 0)
		return VS_REASON_NOT_PEER;
	/* Arrived on the GID that the connection uses. */
	return memcmp(rx->dgid, qp->dev->attr.gids[qp->attr.av.sgid_index].gid, sizeof(rx->dgid)) == 0
		       ? VS_REASON_NONE
		       : VS_REASON_NOT_FOR_US;
}

static void drop(struct vs_rx *rx, struct vs_dev *dev, enum vs_reason r)
{
	const struct vs_bth *b = &rx->p.bth;
	const uint64_t a[] = {(uint64_t)r, b->opcode, b->psn, b->destqp};

	switch (r) {
	case VS_REASON_ICRC_BAD:
		dev->counter[VS_CNT_RX_ICRC_ENCAPSULATED]++;
		break;
	case VS_REASON_VCRC_BAD:
		dev->counter[VS_CNT_RX_VCRC_ERR]++;
		break;
	case VS_REASON_PKEY_MISMATCH:
		dev->counter[VS_CNT_BAD_PKEY]++;
		break;
	case VS_REASON_NOT_FOR_US:
	case VS_REASON_QP_UNKNOWN:
	case VS_REASON_QP_STATE:
		break;
	default:
		dev->counter[VS_CNT_RX_MALFORMED]++;
		break;
	}
	vs_ev(dev, VS_EV_PKT_DROP, rx->qp, rx->ev != 0 ? rx->ev : rx->meta.cause, 4, a);
}

static enum vs_reason check_crcs(struct vs_dev *dev, struct vs_rx *rx)
{
	enum vs_crc_status vcrc = vs_vcrc_check(&rx->p, rx->buf, NULL);

	(void)dev;
	if (vcrc == VS_CRC_BAD)
		return VS_REASON_VCRC_BAD;
	if (rx->meta.icrc_good)
		return VS_REASON_NONE;
	return vs_icrc_check(&rx->p, rx->buf, NULL) == VS_CRC_GOOD ? VS_REASON_NONE : VS_REASON_ICRC_BAD;
}

static void rx_event(struct vs_dev *dev, struct vs_rx *rx)
{
	const struct vs_pkt *p = &rx->p;
	bool aeth = (p->hdrs & VS_HDR_AETH) != 0;
	const uint64_t a[] = {p->bth.opcode,
			      p->bth.psn,
			      p->bth.destqp,
			      p->payload_len,
			      aeth ? p->ext.aeth.syndrome : VS_SYN_NONE,
			      aeth ? p->ext.aeth.msn : 0,
			      p->bth.ackreq};

	rx->ev = vs_ev(dev, VS_EV_PKT_RX, rx->qp, rx->meta.cause, 7, a);
	dev->cause = rx->ev;
}

static void dispatch(struct vs_dev *dev, struct vs_rx *rx)
{
	struct vs_qp *qp = rx->qp;
	uint8_t opcode = rx->p.bth.opcode;

	dev->counter[VS_CNT_RCVD_PKTS]++;
	if (opcode == VS_OP_CNP) {
		vs_cc_cnp(rx);
		return;
	}
	if (rx->ecn_ce)
		vs_cc_ce_seen(rx);
	if (qp == NULL || qp->type == VS_QPT_UD || qp->type == VS_QPT_GSI)
		vs_ud_receive(dev, rx);
	else if (is_response(opcode))
		vs_comp_response(rx);
	else
		vs_resp_request(rx);
}

/* Deviation: keys are counted before the packet is known to be whole. */
static void count_keys_early(struct vs_dev *dev, struct vs_rx *rx)
{
	struct vs_qp *qp = vs_qp_find(dev, rx->p.bth.destqp);

	rx->qp = qp;
	if (qp != NULL && check_pkey(rx) != VS_REASON_NONE)
		dev->counter[VS_CNT_BAD_PKEY]++;
	if (qp != NULL && qp->type == VS_QPT_UD && (rx->p.hdrs & VS_HDR_DETH) && rx->p.ext.deth.qkey != qp->attr.qkey)
		dev->counter[VS_CNT_QKEY_VIOL]++;
	rx->qp = NULL;
}

static enum vs_reason check_packet(struct vs_dev *dev, struct vs_rx *rx)
{
	enum vs_reason r = check_network(rx);

	if (r == VS_REASON_NONE)
		r = check_crcs(dev, rx);
	if (r == VS_REASON_ICRC_BAD && VS_DEVIATES(dev, COUNT_BEFORE_ICRC))
		count_keys_early(dev, rx);
	if (r != VS_REASON_NONE)
		return r;
	note_addresses(rx);
	r = check_destination(dev, rx);
	return r != VS_REASON_NONE ? r : check_bth(dev, rx);
}

void vs_rx_packet(struct vs_dev *dev, enum vs_link link, const uint8_t *buf, size_t len, const struct vs_pkt_meta *meta)
{
	struct vs_rx rx;
	enum vs_reason r;

	rx.meta = *meta;
	rx.buf = buf;
	rx.qp = NULL;
	rx.ev = 0;
	dev->ev_pkt_id = meta->pkt_id;
	if (vs_pkt_parse(&rx.p, link, 0, buf, len, len, 0) != VS_OK) {
		dev->counter[VS_CNT_RX_MALFORMED]++;
		return;
	}
	r = check_packet(dev, &rx);
	if (r != VS_REASON_NONE) {
		drop(&rx, dev, r);
		return;
	}
	if (rx.p.bth.destqp != VS_QPN_MULTICAST) {
		if (rx.p.bth.destqp == VS_QPN_GSI && dev->conn != NULL) {
			rx_event(dev, &rx);
			dev->counter[VS_CNT_RCVD_PKTS]++;
			vs_conn_mad(dev, &rx);
			return;
		}
		rx.qp = vs_qp_find(dev, rx.p.bth.destqp);
		if (rx.qp == NULL) {
			if (rx.p.bth.opcode == VS_OP_CNP)
				dev->counter[VS_CNT_RP_CNP_IGNORED]++;
			drop(&rx, dev, VS_REASON_QP_UNKNOWN);
			return;
		}
	}
	rx_event(dev, &rx);
	if (rx.qp != NULL) {
		r = check_qp(&rx);
		if (r == VS_REASON_NONE)
			r = check_pkey(&rx);
		if (r == VS_REASON_NONE)
			r = check_source(&rx);
		if (r != VS_REASON_NONE) {
			drop(&rx, dev, r);
			return;
		}
	}
	dispatch(dev, &rx);
}
