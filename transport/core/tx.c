/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * tx.c - an outgoing packet: network headers from the address vector, BTH, pad, CRCs.
 *
 * The GID type decides between RoCEv1 and RoCEv2 (CA17-40, -42), an IPv4-mapped GID makes IPv4
 * headers (A17.4.1.1). DSCP comes from the traffic class, ECN from congestion management (CA17-4, -5).
 *
 * Without the GID there is nothing to send from: requests fail (req.c, ud.c), answers and MADs are dropped here. So
 * is all that is to leave by a port that is down: for a requester it is lost, and comes again (AE-006).
 */
#include "core.h"

bool vs_gid_is_ipv4(const uint8_t gid[16])
{
	static const uint8_t prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

	return memcmp(gid, prefix, sizeof(prefix)) == 0;
}

static enum vs_encap encap_of(const struct vs_dev *dev, const struct vs_av *av)
{
	if (dev->attr.link_layer == VS_LL_INFINIBAND)
		return av->is_global ? VS_ENCAP_IB_GRH : VS_ENCAP_IB;
	if (dev->attr.gids[av->sgid_index].type == VS_GID_ROCEV1)
		return VS_ENCAP_ROCEV1;
	return vs_gid_is_ipv4(av->dgid) ? VS_ENCAP_ROCEV2_IPV4 : VS_ENCAP_ROCEV2_IPV6;
}

static uint8_t tclass_of(const struct vs_dev *dev, const struct vs_av *av, uint8_t opcode, bool rocev2)
{
	uint8_t tclass = opcode == VS_OP_CNP ? dev->attr.cc.cnp_tclass : av->traffic_class;

	if (!rocev2)
		return tclass;
	if (VS_DEVIATES(dev, TCLASS_AS_DSCP))
		tclass = (uint8_t)(tclass << 2);
	/* A CNP is not itself subject to marking. */
	return (uint8_t)((tclass & 0xfc) | (dev->attr.cc.enabled && opcode != VS_OP_CNP ? dev->attr.cc.ecn : 0));
}

static void fill_network(struct vs_qp *qp, struct vs_pkt *p, uint8_t opcode, const struct vs_av *av)
{
	const struct vs_dev *dev = qp->dev;
	const uint8_t *sgid = dev->attr.gids[av->sgid_index].gid;
	uint8_t hop = av->hop_limit != 0 ? av->hop_limit : 64;

	if (p->flags & VS_PKT_HAS_ETH) {
		memcpy(p->eth.dst, av->dmac, sizeof(p->eth.dst));
		memcpy(p->eth.src, dev->attr.mac, sizeof(p->eth.src));
		if (av->has_vlan) {
			p->eth.vlan_count = 1;
			p->eth.vlan[0].tpid = 0x8100;
			p->eth.vlan[0].tci = (uint16_t)(av->sl << 13 | av->vlan_id);
		}
	}
	switch (p->encap) {
	case VS_ENCAP_IB:
	case VS_ENCAP_IB_GRH:
		p->lrh.sl = av->sl;
		p->lrh.dlid = av->dlid;
		p->lrh.slid = (uint16_t)(dev->attr.lid | av->src_path_bits);
		if (p->encap == VS_ENCAP_IB)
			return;
		break;
	case VS_ENCAP_ROCEV2_IPV4:
		p->ipv4.tos = tclass_of(dev, av, opcode, true);
		p->ipv4.ttl = hop;
		memcpy(p->ipv4.src, sgid + 12, sizeof(p->ipv4.src));
		memcpy(p->ipv4.dst, av->dgid + 12, sizeof(p->ipv4.dst));
		return;
	default:
		break;
	}
	p->grh.tclass = tclass_of(dev, av, opcode, p->encap == VS_ENCAP_ROCEV2_IPV6);
	p->grh.flowlabel = av->flow_label;
	p->grh.hoplmt = hop;
	memcpy(p->grh.sgid, sgid, sizeof(p->grh.sgid));
	memcpy(p->grh.dgid, av->dgid, sizeof(p->grh.dgid));
}

bool vs_tx_has_source(const struct vs_dev *dev, const struct vs_av *av)
{
	return !av->is_global || dev->attr.gids[av->sgid_index].type != VS_GID_NONE;
}

void vs_tx_init(struct vs_qp *qp, struct vs_tx *tx, uint8_t opcode, const struct vs_av *av)
{
	const struct vs_dev *dev = qp->dev;
	const struct vs_av *path = av != NULL ? av : &qp->attr.av;
	struct vs_pkt *p = &tx->p;

	vs_pkt_init(p, encap_of(dev, path), opcode, dev->attr.link_layer == VS_LL_ETHERNET);
	fill_network(qp, p, opcode, path);
	if (p->encap == VS_ENCAP_ROCEV2_IPV4 || p->encap == VS_ENCAP_ROCEV2_IPV6)
		p->udp.sport = av == NULL ? qp->udp_sport : vs_udp_sport(path->flow_label, qp->qpn, 0);
	p->bth.pkey = dev->attr.pkeys[qp->attr.pkey_index % VS_PKEY_TABLE_LEN];
	p->bth.destqp = qp->attr.dest_qpn;
	p->bth.migreq = true; /* path migration state Migrated, as NICs send it */
	p->payload = tx->payload;
	p->payload_len = 0;
	tx->cause = 0;
	tx->has_wr = false;
	tx->wr_id = 0;
	tx->retx = 0;
	tx->no_source = !vs_tx_has_source(dev, path);
}

static size_t net_size(const struct vs_pkt *p)
{
	switch (p->encap) {
	case VS_ENCAP_IB:
		return 8;
	case VS_ENCAP_IB_GRH:
		return 48;
	case VS_ENCAP_ROCEV1:
		return 40;
	case VS_ENCAP_ROCEV2_IPV4:
		return 28;
	case VS_ENCAP_ROCEV2_IPV6:
		return 48;
	default:
		return 0;
	}
}

static void put_le32(uint8_t *b, uint32_t v)
{
	b[0] = (uint8_t)v;
	b[1] = (uint8_t)(v >> 8);
	b[2] = (uint8_t)(v >> 16);
	b[3] = (uint8_t)(v >> 24);
}

/* CRCs straight over the encoded bytes: sealing them in the struct would encode the packet twice. */
static void put_crcs(const struct vs_pkt *p, uint8_t *buf, size_t len)
{
	size_t net = p->flags & VS_PKT_HAS_ETH ? 14u + 4u * p->eth.vlan_count : 0;
	size_t end = len - (p->flags & VS_PKT_HAS_VCRC ? 2 : 0) - 4;
	uint32_t icrc = 0;
	bool ok = vs_icrc_bytes(p->encap, buf + net, net_size(p), end - net, &icrc);

	assert(ok);
	(void)ok;
	put_le32(buf + end, icrc);
	if (p->flags & VS_PKT_HAS_VCRC) {
		uint16_t vcrc = vs_vcrc_bytes(buf + net, end + 4 - net);

		buf[end + 4] = (uint8_t)vcrc;
		buf[end + 5] = (uint8_t)(vcrc >> 8);
	}
}

static uint64_t tx_event(struct vs_qp *qp, const struct vs_tx *tx)
{
	const struct vs_pkt *p = &tx->p;
	bool aeth = (p->hdrs & VS_HDR_AETH) != 0;
	const uint64_t a[] = {p->bth.opcode,
			      p->bth.psn,
			      p->bth.destqp,
			      p->payload_len,
			      aeth ? p->ext.aeth.syndrome : VS_SYN_NONE,
			      aeth ? p->ext.aeth.msn : 0,
			      p->bth.ackreq,
			      tx->retx};

	return tx->has_wr ? vs_ev_wr(qp->dev, VS_EV_PKT_TX, qp, tx->wr_id, tx->cause, 8, a)
			  : vs_ev(qp->dev, VS_EV_PKT_TX, qp, tx->cause, 8, a);
}

/* As if it were lost on the wire: whoever waits for it comes again. */
static size_t drop(struct vs_qp *qp, const struct vs_tx *tx, enum vs_reason why, struct vs_pkt_meta *meta)
{
	const struct vs_bth *b = &tx->p.bth;
	const uint64_t a[] = {(uint64_t)why, b->opcode, b->psn, b->destqp};

	qp->dev->counter[VS_CNT_SEND_ERR]++;
	qp->dev->ev_pkt_id = ++*qp->dev->pkt_counter;
	meta->cause = vs_ev(qp->dev, VS_EV_PKT_DROP, qp, tx->cause, 4, a);
	qp->dev->ev_pkt_id = 0;
	return 0;
}

size_t vs_tx_finish(struct vs_qp *qp, struct vs_tx *tx, uint8_t *buf, size_t cap, struct vs_pkt_meta *meta)
{
	struct vs_dev *dev = qp->dev;
	struct vs_pkt *p = &tx->p;
	int n;

	if (tx->no_source)
		return drop(qp, tx, VS_REASON_GID_INDEX, meta);
	if (!dev->link_up)
		return drop(qp, tx, VS_REASON_PORT_DOWN, meta);
	p->flags |= VS_PKT_HAS_ICRC;
	if (p->encap == VS_ENCAP_IB || p->encap == VS_ENCAP_IB_GRH)
		p->flags |= VS_PKT_HAS_VCRC;
	n = vs_pkt_seal(p, VS_SEAL_PAD | VS_SEAL_LEN | VS_SEAL_CSUM, buf, cap);
	assert(n == VS_OK);
	n = vs_pkt_build(p, buf, cap);
	assert(n > 0);
	put_crcs(p, buf, (size_t)n);
	dev->counter[VS_CNT_SENT_PKTS]++;
	meta->pkt_id = ++*dev->pkt_counter;
	meta->qpn = qp->qpn;
	dev->ev_pkt_id = meta->pkt_id;
	meta->cause = tx_event(qp, tx);
	vs_cc_sent(qp, (size_t)n);
	return (size_t)n;
}
