/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * ud.c - datagrams: one packet each, nothing is answered, nothing is repeated.
 *
 * Receive checks in order: Q_Key, opcode, receive WQE, length (C9-205): whatever fails is dropped in silence,
 * uses no WQE and leaves the QP in RTS. The first 40 bytes of the buffer are the GRH area: the GRH, the IPv6
 * header, or 20 undefined bytes and the IPv4 header (A17.4.5.2).
 */
#include "core.h"

#define GRH_AREA 40u

/* ---- sending ---- */

static void sq_fail(struct vs_qp *qp, enum vs_wc_status status, enum vs_reason why)
{
	vs_sq_complete_head(qp, status, why, 0);
	vs_qp_sq_error(qp, why);
}

static enum vs_wc_status check_send(struct vs_qp *qp, const struct vs_swqe *w, enum vs_reason *why)
{
	if (w->ah_pd_differs) {
		*why = VS_REASON_AH_PD;
		return VS_WC_LOC_QP_OP_ERR;
	}
	if (!vs_tx_has_source(qp->dev, &w->av)) {
		qp->dev->counter[VS_CNT_SEND_ERR]++;
		*why = VS_REASON_GID_INDEX;
		return VS_WC_LOC_QP_OP_ERR;
	}
	if (w->length > vs_mtu_bytes(qp->dev->attr.active_mtu)) {
		*why = VS_REASON_UD_LENGTH;
		return VS_WC_LOC_LEN_ERR;
	}
	return VS_WC_SUCCESS;
}

/* A multicast datagram also reaches the other members on this device (not the sender). */
static void loop_multicast(struct vs_qp *qp, const uint8_t *buf, size_t len, const struct vs_pkt_meta *meta)
{
	struct vs_dev *dev = qp->dev;
	struct vs_qp *before = dev->mcast_sender;
	uint64_t cause = dev->cause, pkt = dev->ev_pkt_id;

	dev->mcast_sender = qp;
	vs_rx_packet(dev, dev->attr.link_layer == VS_LL_ETHERNET ? VS_LINK_ETHERNET : VS_LINK_IB, buf, len, meta);
	dev->mcast_sender = before;
	dev->cause = cause;
	dev->ev_pkt_id = pkt;
}

size_t vs_ud_output(struct vs_qp *qp, uint8_t *buf, size_t cap, struct vs_pkt_meta *meta)
{
	struct vs_dev *dev = qp->dev;
	struct vs_tx *tx = &dev->tx;
	enum vs_reason why = VS_REASON_NONE;
	const struct vs_swqe *w;
	enum vs_wc_status status;
	bool mcast;
	size_t n;

	if (!vs_ud_has_output(qp))
		return 0;
	w = vs_sq_at(qp, qp->sq.head);
	dev->cause = w->post_cause;
	status = check_send(qp, w, &why);
	if (status != VS_WC_SUCCESS) {
		sq_fail(qp, status, why);
		return 0;
	}
	vs_tx_init(qp, tx, w->opcode == VS_WR_SEND_WITH_IMM ? VS_OP_UD_SEND_ONLY_IMM : VS_OP_UD_SEND_ONLY, &w->av);
	why = vs_swqe_gather(qp, w, 0, tx->payload, w->length);
	if (why != VS_REASON_NONE) {
		sq_fail(qp, VS_WC_LOC_PROT_ERR, why);
		return 0;
	}
	mcast = vs_gid_is_mcast(w->av.dgid);
	tx->p.payload_len = w->length;
	tx->p.bth.psn = qp->req.next_psn;
	tx->p.bth.destqp = mcast ? (VS_DEVIATES(dev, MCAST_WRONG_QPN) ? qp->qpn : VS_QPN_MULTICAST) : w->remote_qpn;
	tx->p.bth.se = (w->flags & VS_SEND_SOLICITED) != 0;
	tx->p.bth.ackreq = VS_DEVIATES(dev, ACKREQ_UNRELIABLE);
	/* A controlled Q_Key in the request means the QP's own (3.5.3). */
	tx->p.ext.deth.qkey = w->remote_qkey & 0x80000000u ? qp->attr.qkey : w->remote_qkey;
	tx->p.ext.deth.rsv = 0;
	tx->p.ext.deth.srcqp = qp->qpn;
	if (tx->p.hdrs & VS_HDR_IMMDT)
		tx->p.ext.immdt = w->imm_data;
	if (tx->p.encap == VS_ENCAP_ROCEV2_IPV4 || tx->p.encap == VS_ENCAP_ROCEV2_IPV6)
		tx->p.udp.sport = vs_udp_sport(w->av.flow_label, qp->qpn, w->remote_qpn);
	tx->cause = w->post_cause;
	tx->has_wr = true;
	tx->wr_id = w->wr_id;
	qp->req.next_psn = qp->req.sent_psn = qp->req.una_psn = vs_psn_add(qp->req.next_psn, 1);
	n = vs_tx_finish(qp, tx, buf, cap, meta);
	dev->cause = meta->cause;
	vs_sq_complete_head(qp, VS_WC_SUCCESS, VS_REASON_NONE, 0);
	vs_req_check_drained(qp);
	if (mcast && n > 0 && !VS_DEVIATES(dev, MCAST_NOT_LOOPED))
		loop_multicast(qp, buf, n, meta);
	return n;
}

bool vs_ud_has_output(const struct vs_qp *qp)
{
	return qp->attr.state == VS_QPS_RTS && qp->sq.head != qp->sq.tail;
}

/* ---- receiving ---- */

static void drop(struct vs_rx *rx, struct vs_qp *qp, enum vs_reason r)
{
	const uint64_t a[] = {(uint64_t)r, rx->p.hdrs & VS_HDR_DETH ? rx->p.ext.deth.srcqp : 0};

	qp->dev->counter[r == VS_REASON_QKEY_MISMATCH ? VS_CNT_QKEY_VIOL : VS_CNT_UD_DROPPED]++;
	vs_ev(qp->dev, VS_EV_UD_DROP, qp, rx->ev, 2, a);
}

/* The GRH area as the packet's network header fills it; how many bytes of it count. */
static bool grh_area(const struct vs_rx *rx, uint8_t area[GRH_AREA])
{
	const uint8_t *net = rx->buf + rx->p.net_off;

	memset(area, 0, GRH_AREA);
	switch (rx->p.encap) {
	case VS_ENCAP_ROCEV2_IPV4:
		memcpy(area + 20, net, 20);
		return true;
	case VS_ENCAP_ROCEV1:
	case VS_ENCAP_ROCEV2_IPV6:
		memcpy(area, net, GRH_AREA);
		return true;
	case VS_ENCAP_IB_GRH:
		memcpy(area, net + 8, GRH_AREA);
		return true;
	default:
		return false;
	}
}

static void complete(struct vs_rx *rx, struct vs_qp *qp, bool grh)
{
	const struct vs_pkt *p = &rx->p;
	struct vs_wc wc = {.status = VS_WC_SUCCESS, .opcode = VS_WC_RECV, .byte_len = GRH_AREA + p->payload_len};

	wc.src_qp = p->ext.deth.srcqp;
	wc.pkey_index = qp->attr.pkey_index;
	wc.slid = rx->slid;
	wc.sl = rx->sl;
	wc.wc_flags = grh ? VS_WC_GRH : 0;
	if (p->hdrs & VS_HDR_IMMDT) {
		wc.imm_data = p->ext.immdt;
		wc.wc_flags |= VS_WC_WITH_IMM;
	}
	vs_rq_complete(qp, &wc, p->bth.se);
}

static void fail(struct vs_qp *qp, enum vs_wc_status status, enum vs_reason r)
{
	struct vs_wc wc = {.status = status, .opcode = VS_WC_RECV, .vendor_err = (uint32_t)r};

	vs_rq_complete(qp, &wc, true);
	vs_qp_error(qp, r);
}

static void deliver(struct vs_rx *rx, struct vs_qp *qp)
{
	const struct vs_rq *rq = qp->srq != NULL ? &qp->srq->rq : &qp->rq;
	uint32_t len = rx->p.payload_len;
	uint8_t area[GRH_AREA];
	enum vs_reason r;
	bool grh;

	if (rx->p.ext.deth.qkey != qp->attr.qkey && !(qp->type == VS_QPT_GSI && rx->p.ext.deth.qkey == VS_GSI_QKEY)) {
		drop(rx, qp, VS_REASON_QKEY_MISMATCH);
		return;
	}
	if (len > vs_mtu_bytes(qp->dev->attr.active_mtu)) {
		drop(rx, qp, VS_REASON_UD_LENGTH);
		return;
	}
	if (vs_rq_empty(rq)) {
		drop(rx, qp, VS_REASON_NO_RECEIVE);
		return;
	}
	if (GRH_AREA + len > vs_rq_at(rq, rq->head)->length) {
		if (!VS_DEVIATES(qp->dev, UD_SHORT_IS_FATAL)) {
			drop(rx, qp, VS_REASON_RECEIVE_LENGTH);
			return;
		}
		vs_rq_take(qp);
		fail(qp, VS_WC_LOC_QP_OP_ERR, VS_REASON_RECEIVE_LENGTH);
		return;
	}
	vs_rq_take(qp);
	grh = grh_area(rx, area);
	r = vs_rwqe_scatter(qp, &qp->resp.wqe, 0, NULL, GRH_AREA + len);
	if (r != VS_REASON_NONE) { /* the receive request itself is bad */
		fail(qp, VS_WC_LOC_PROT_ERR, r);
		return;
	}
	if (grh)
		(void)vs_rwqe_scatter(qp, &qp->resp.wqe, 0, area, GRH_AREA);
	(void)vs_rwqe_scatter(qp, &qp->resp.wqe, GRH_AREA, rx->p.payload, len);
	complete(rx, qp, grh);
}

static bool may_receive(const struct vs_qp *qp, const struct vs_rx *rx)
{
	const struct vs_dev *dev = qp->dev;

	return qp->attr.state != VS_QPS_RESET && qp->attr.state != VS_QPS_INIT && qp->attr.state != VS_QPS_ERR &&
	       vs_pkey_match(rx->p.bth.pkey, dev->attr.pkeys[qp->attr.pkey_index % VS_PKEY_TABLE_LEN]);
}

static void deliver_group(struct vs_dev *dev, struct vs_rx *rx)
{
	struct vs_mcast_group *g = vs_mcast_find(dev, rx->dgid);
	uint32_t i;

	for (i = 0; g != NULL && i < g->count; i++) {
		struct vs_qp *qp = g->qp[i];

		if (qp != dev->mcast_sender && may_receive(qp, rx))
			deliver(rx, qp);
	}
}

void vs_ud_receive(struct vs_dev *dev, struct vs_rx *rx)
{
	if (!(rx->p.hdrs & VS_HDR_DETH))
		return;
	if (rx->qp == NULL)
		deliver_group(dev, rx);
	else
		deliver(rx, rx->qp);
}
