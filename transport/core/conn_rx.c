/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * conn_rx.c - what each received CM message does in each state.
 *
 * Duplicates are answered by what was answered before: a REQ by the REP, MRA or REJ, a REP by the RTU, a DREQ by
 * the DREP (also for a connection that is long gone). A REQ that reuses the ids or the QPN of a connection that
 * lives is stale: REJ 10.
 */
#include "conn.h"

struct rx_cm {
	struct vs_dev *dev;
	struct vs_rx *rx;
	struct vs_mad mad;
	struct vs_cm_msg m;
	struct vs_av back; /* the way back */
};

static void note(const struct rx_cm *r, uint32_t local, uint32_t remote, bool duplicate)
{
	const uint64_t a[] = {r->m.attribute, local, remote, duplicate};
	uint64_t ev = vs_ev(r->dev, VS_EV_CM_RX, NULL, r->rx->ev, 4, a);

	if (ev != 0)
		r->dev->cause = ev;
}

/* The path that the packet came, backwards: the same GID, and with it the same RoCE type (A17.6.1). */
static void way_back(struct rx_cm *r)
{
	const struct vs_pkt *p = &r->rx->p;
	const struct vs_dev *dev = r->dev;
	struct vs_av *av = &r->back;
	unsigned i;

	memset(av, 0, sizeof(*av));
	av->port = 1;
	av->is_global = p->encap != VS_ENCAP_IB;
	memcpy(av->dgid, r->rx->sgid, sizeof(av->dgid));
	for (i = 0; i < VS_GID_TABLE_LEN; i++) {
		const struct vs_gid_entry *e = &dev->attr.gids[i];
		bool v1 = e->type == VS_GID_ROCEV1;

		if (e->type != VS_GID_NONE && memcmp(e->gid, r->rx->dgid, sizeof(e->gid)) == 0 &&
		    v1 == (p->encap == VS_ENCAP_ROCEV1)) {
			av->sgid_index = (uint8_t)i;
			break;
		}
	}
	av->dlid = r->rx->slid;
	av->sl = r->rx->sl;
	if (p->flags & VS_PKT_HAS_ETH) {
		memcpy(av->dmac, p->eth.src, sizeof(av->dmac));
		av->has_vlan = p->eth.vlan_count > 0;
		av->vlan_id = av->has_vlan ? p->eth.vlan[0].tci & 0xfff : 0;
	}
}

static void reject(struct rx_cm *r, uint32_t remote_id, uint16_t reason, const uint8_t *ari, uint8_t ari_len)
{
	struct vs_cm_msg m = {.attribute = VS_CM_ATTR_REJ};

	m.rej.remote_comm_id = remote_id;
	m.rej.message = VS_CM_REJ_OF_REQ;
	m.rej.reason = reason;
	m.rej.info_len = ari_len;
	if (ari_len > 0)
		memcpy(m.rej.ari, ari, ari_len);
	vs_conn_reply(r->dev, &r->back, r->mad.transaction_id, &m);
}

/* ---- REQ ---- */

/* A connection that this REQ speaks of already: same ids, or the same QP of the same node. */
static struct vs_conn *known(const struct rx_cm *r, bool *same)
{
	const struct vs_cm_req *q = &r->m.req;
	struct vs_node *head = &r->dev->conn->conns, *n;
	struct vs_conn *by_qpn = NULL;

	for (n = head->next; n != head; n = n->next) {
		struct vs_conn *c = VS_CONTAINER(n, struct vs_conn, link);

		if (c->active || c->sidr || c->remote_guid != q->local_ca_guid || c->state == VS_CONN_CLOSED ||
		    memcmp(c->path.dgid, r->back.dgid, sizeof(c->path.dgid)) != 0)
			continue;
		if (c->remote_id == q->local_comm_id) {
			*same = c->peer.qpn == q->qpn && c->service_id == q->service_id;
			return c;
		}
		if (c->peer.qpn == q->qpn && c->state != VS_CONN_TIMEWAIT)
			by_qpn = c;
	}
	*same = false;
	return by_qpn;
}

static void duplicate_req(struct rx_cm *r, struct vs_conn *c)
{
	note(r, c->local_id, c->remote_id, true);
	switch (c->state) {
	case VS_CONN_MRA_REQ_SENT:
	case VS_CONN_REP_SENT:
	case VS_CONN_MRA_REP_RCVD:
		vs_conn_send_again(c);
		break;
	case VS_CONN_TIMEWAIT:
		if (c->msg.attribute == VS_CM_ATTR_REJ) /* it got lost */
			vs_conn_send_again(c);
		else /* what it began is over */
			reject(r, c->remote_id, VS_CM_REJ_STALE_CONN, NULL, 0);
		break;
	default:
		break;
	}
}

static void take_req(struct vs_conn *c, const struct rx_cm *r)
{
	const struct vs_cm_req *q = &r->m.req;
	struct vs_conn_param *p = &c->peer;

	c->path = r->back;
	c->path.flow_label = q->primary_flow_label;
	c->path.traffic_class = q->primary_traffic_class;
	c->path.hop_limit = q->primary_hop_limit;
	c->remote_id = q->local_comm_id;
	c->remote_guid = q->local_ca_guid;
	c->service_id = q->service_id;
	c->tid = r->mad.transaction_id;
	p->service_id = q->service_id;
	p->path_mtu = (enum vs_mtu)q->path_mtu;
	p->uc = q->transport == VS_CM_TRANSPORT_UC;
	p->qpn = q->qpn;
	p->starting_psn = q->psn;
	p->responder_resources = q->responder_resources;
	p->initiator_depth = q->initiator_depth;
	p->retry_count = q->retry_count;
	p->rnr_retry = q->rnr_retry_count;
	p->local_ack_timeout = q->primary_ack_timeout;
	p->cm_response_timeout = q->local_cm_response_timeout;
	p->max_cm_retries = q->max_cm_retries;
	p->srq = q->srq;
	p->flow_control = q->flow_control;
	p->path = c->path;
}

static void rx_req(struct rx_cm *r)
{
	const struct vs_cm_req *q = &r->m.req;
	struct vs_listener *l = vs_listener_find(r->dev, q->service_id);
	uint8_t mtu = (uint8_t)r->dev->attr.active_mtu;
	bool same;
	struct vs_conn *c = known(r, &same);

	if (c != NULL && same) {
		duplicate_req(r, c);
		return;
	}
	note(r, 0, q->local_comm_id, false);
	if (c != NULL) {
		reject(r, q->local_comm_id, VS_CM_REJ_STALE_CONN, NULL, 0);
		if (c->state == VS_CONN_ESTABLISHED) /* the peer has forgotten it: end it here too */
			vs_conn_ask_disconnect(c);
	} else if (l == NULL) {
		reject(r, q->local_comm_id, VS_CM_REJ_SERVICE_ID, NULL, 0);
	} else if (q->transport > VS_CM_TRANSPORT_UC) {
		reject(r, q->local_comm_id, VS_CM_REJ_TRANSPORT_TYPE, NULL, 0);
	} else if (q->path_mtu < VS_MTU_256 || q->path_mtu > r->dev->attr.active_mtu) {
		reject(r, q->local_comm_id, VS_CM_REJ_MTU, &mtu, 1);
	} else if (!vs_conn_events_crowded(r->dev) && (c = vs_conn_new(r->dev)) != NULL) {
		c->cookie = l->cookie;
		take_req(c, r);
		vs_conn_set_state(c, VS_CONN_REQ_RCVD);
		vs_conn_event_push(c, VS_CONN_EV_REQUEST, 0, q->private_data, sizeof(q->private_data));
	}
}

/* ---- REP, RTU ---- */

static void rx_rep(struct rx_cm *r)
{
	const struct vs_cm_rep *q = &r->m.rep;
	struct vs_conn *c = vs_conn_find(r->dev, q->remote_comm_id);

	if (c == NULL || !c->active || c->sidr) {
		note(r, q->remote_comm_id, q->local_comm_id, false);
		return;
	}
	if (c->state != VS_CONN_REQ_SENT && c->state != VS_CONN_MRA_REQ_RCVD) {
		note(r, c->local_id, q->local_comm_id, true);
		if (c->remote_id == q->local_comm_id &&
		    (c->state == VS_CONN_ESTABLISHED || c->state == VS_CONN_MRA_REP_SENT))
			vs_conn_send_again(c); /* the RTU or MRA got lost */
		return;
	}
	note(r, c->local_id, q->local_comm_id, false);
	vs_timer_stop(c->dev, &c->timer);
	c->remote_id = q->local_comm_id;
	c->remote_guid = q->local_ca_guid;
	c->peer.qpn = q->qpn;
	c->peer.qkey = q->qkey;
	c->peer.starting_psn = q->psn;
	c->peer.responder_resources = q->responder_resources;
	c->peer.initiator_depth = q->initiator_depth;
	c->peer.rnr_retry = q->rnr_retry_count;
	c->peer.srq = q->srq;
	c->peer.flow_control = q->flow_control;
	c->peer.service_id = c->service_id;
	c->peer.path = c->path;
	c->msg.attribute = 0;
	vs_conn_set_state(c, VS_CONN_REP_RCVD);
	vs_conn_event_push(c, VS_CONN_EV_RESPONSE, 0, q->private_data, sizeof(q->private_data));
}

static void rx_rtu(struct rx_cm *r)
{
	const struct vs_cm_rtu *q = &r->m.rtu;
	struct vs_conn *c = vs_conn_find(r->dev, q->remote_comm_id);
	bool wanted = c != NULL && c->remote_id == q->local_comm_id &&
		      (c->state == VS_CONN_REP_SENT || c->state == VS_CONN_MRA_REP_RCVD);

	note(r, q->remote_comm_id, q->local_comm_id, !wanted);
	if (!wanted)
		return;
	vs_timer_stop(c->dev, &c->timer);
	vs_conn_set_state(c, VS_CONN_ESTABLISHED);
	/* An event has room for all but the last 4 bytes of the largest private data. */
	vs_conn_event_push(c, VS_CONN_EV_ESTABLISHED, 0, q->private_data,
			   sizeof(((struct vs_conn_event *)0)->private_data));
}

/* ---- REJ, MRA ---- */

static void rx_rej(struct rx_cm *r)
{
	const struct vs_cm_rej *q = &r->m.rej;
	struct vs_conn *c = vs_conn_find(r->dev, q->remote_comm_id);

	note(r, q->remote_comm_id, q->local_comm_id, false);
	if (c == NULL || c->sidr)
		return;
	switch (c->state) {
	case VS_CONN_REQ_SENT:
	case VS_CONN_MRA_REQ_RCVD:
	case VS_CONN_REP_SENT:
	case VS_CONN_MRA_REP_RCVD:
	case VS_CONN_REP_RCVD:
	case VS_CONN_MRA_REP_SENT:
		vs_conn_event_push(c, VS_CONN_EV_REJECTED, q->reason, q->private_data, sizeof(q->private_data));
		vs_conn_close(c);
		break;
	default:
		break;
	}
}

static void rx_mra(struct rx_cm *r)
{
	const struct vs_cm_mra *q = &r->m.mra;
	struct vs_conn *c = vs_conn_find(r->dev, q->remote_comm_id);

	note(r, q->remote_comm_id, q->local_comm_id, false);
	if (c == NULL)
		return;
	if (c->state == VS_CONN_REQ_SENT && q->message == VS_CM_MRA_OF_REQ)
		vs_conn_set_state(c, VS_CONN_MRA_REQ_RCVD);
	else if (c->state == VS_CONN_REP_SENT && q->message == VS_CM_MRA_OF_REP)
		vs_conn_set_state(c, VS_CONN_MRA_REP_RCVD);
	else if (c->state != VS_CONN_MRA_REQ_RCVD && c->state != VS_CONN_MRA_REP_RCVD)
		return;
	/* The peer needs this long on top of the way there and back. */
	vs_timer_set(c->dev, &c->timer, c->dev->now_ns + vs_cm_timeout_ns(q->service_timeout) + c->timeout_ns);
}

/* ---- DREQ, DREP ---- */

static void drep_unknown(struct rx_cm *r)
{
	struct vs_cm_msg m = {.attribute = VS_CM_ATTR_DREP};

	if (VS_DEVIATES(r->dev, NO_DREP_UNKNOWN))
		return;
	m.drep.local_comm_id = r->m.dreq.remote_comm_id;
	m.drep.remote_comm_id = r->m.dreq.local_comm_id;
	vs_conn_reply(r->dev, &r->back, r->mad.transaction_id, &m);
}

static void rx_dreq(struct rx_cm *r)
{
	const struct vs_cm_dreq *q = &r->m.dreq;
	struct vs_conn *c = vs_conn_find(r->dev, q->remote_comm_id);

	if (c == NULL || c->remote_id != q->local_comm_id || c->sidr || c->state == VS_CONN_CLOSED) {
		note(r, q->remote_comm_id, q->local_comm_id, false);
		drep_unknown(r);
		return;
	}
	note(r, c->local_id, c->remote_id, c->state == VS_CONN_TIMEWAIT);
	if (q->remote_qpn != c->param.qpn)
		return; /* another connection is meant: ignored, as Linux does */
	switch (c->state) {
	case VS_CONN_TIMEWAIT:
		vs_conn_send_drep(c, r->mad.transaction_id);
		break;
	case VS_CONN_ESTABLISHED:
	case VS_CONN_REP_SENT:
	case VS_CONN_MRA_REP_RCVD:
	case VS_CONN_DREQ_SENT:
		vs_conn_send_drep(c, r->mad.transaction_id);
		vs_conn_timewait(c);
		vs_conn_event_push(c, VS_CONN_EV_DISCONNECTED, 0, q->private_data, sizeof(q->private_data));
		break;
	default:
		break;
	}
}

static void rx_drep(struct rx_cm *r)
{
	const struct vs_cm_drep *q = &r->m.drep;
	struct vs_conn *c = vs_conn_find(r->dev, q->remote_comm_id);

	note(r, q->remote_comm_id, q->local_comm_id, false);
	if (c == NULL || c->state != VS_CONN_DREQ_SENT)
		return;
	vs_conn_timewait(c);
	vs_conn_event_push(c, VS_CONN_EV_DISCONNECTED, 0, NULL, 0);
}

/* ---- LAP: alternate paths are not supported ---- */

static void rx_lap(struct rx_cm *r)
{
	struct vs_conn *c = vs_conn_find(r->dev, r->m.lap.remote_comm_id);
	struct vs_cm_msg m = {.attribute = VS_CM_ATTR_APR};

	note(r, r->m.lap.remote_comm_id, r->m.lap.local_comm_id, false);
	if (c == NULL || c->state != VS_CONN_ESTABLISHED)
		return;
	m.apr.local_comm_id = c->local_id;
	m.apr.remote_comm_id = c->remote_id;
	m.apr.status = VS_CM_APR_UNSUPPORTED;
	vs_conn_send(c, &m, r->mad.transaction_id);
}

/* ---- SIDR ---- */

static struct vs_conn *known_sidr(const struct rx_cm *r)
{
	struct vs_node *head = &r->dev->conn->conns, *n;

	for (n = head->next; n != head; n = n->next) {
		struct vs_conn *c = VS_CONTAINER(n, struct vs_conn, link);

		if (c->sidr && !c->active && c->remote_id == r->m.sidr_req.request_id &&
		    c->tid == r->mad.transaction_id && memcmp(c->path.dgid, r->back.dgid, sizeof(c->path.dgid)) == 0)
			return c;
	}
	return NULL;
}

static void rx_sidr_req(struct rx_cm *r)
{
	const struct vs_cm_sidr_req *q = &r->m.sidr_req;
	struct vs_listener *l = vs_listener_find(r->dev, q->service_id);
	struct vs_conn *c = known_sidr(r);
	struct vs_cm_msg m = {.attribute = VS_CM_ATTR_SIDR_REP};

	note(r, c != NULL ? c->local_id : 0, q->request_id, c != NULL);
	if (c != NULL) {
		if (c->state == VS_CONN_TIMEWAIT)
			vs_conn_send_again(c);
		return;
	}
	if (l == NULL) {
		m.sidr_rep.request_id = q->request_id;
		m.sidr_rep.status = VS_CM_SIDR_UNSUPPORTED;
		m.sidr_rep.service_id = q->service_id;
		vs_conn_reply(r->dev, &r->back, r->mad.transaction_id, &m);
		return;
	}
	if (vs_conn_events_crowded(r->dev) || (c = vs_conn_new(r->dev)) == NULL)
		return;
	c->sidr = true;
	c->cookie = l->cookie;
	c->service_id = q->service_id;
	c->peer.service_id = q->service_id;
	c->remote_id = q->request_id;
	c->path = r->back;
	c->peer.path = r->back;
	c->tid = r->mad.transaction_id;
	vs_conn_set_state(c, VS_CONN_SIDR_REQ_RCVD);
	vs_conn_event_push(c, VS_CONN_EV_SIDR_REQUEST, 0, q->private_data, sizeof(q->private_data));
}

static void rx_sidr_rep(struct rx_cm *r)
{
	const struct vs_cm_sidr_rep *q = &r->m.sidr_rep;
	struct vs_conn *c = vs_conn_find(r->dev, q->request_id);

	note(r, q->request_id, 0, false);
	if (c == NULL || c->state != VS_CONN_SIDR_REQ_SENT)
		return;
	c->peer.qpn = q->qpn;
	c->peer.qkey = q->qkey;
	c->peer.service_id = q->service_id;
	c->peer.path = c->path;
	vs_conn_event_push(c, VS_CONN_EV_SIDR_RESPONSE, q->status, q->private_data, sizeof(q->private_data));
	vs_conn_close(c);
}

/* ---- */

static enum vs_reason check_mad(struct rx_cm *r)
{
	const struct vs_pkt *p = &r->rx->p;

	if (!(p->hdrs & VS_HDR_DETH) || p->ext.deth.qkey != VS_GSI_QKEY)
		return VS_REASON_QKEY_MISMATCH;
	if (p->payload_len != VS_MAD_LEN || vs_mad_parse(&r->mad, p->payload, p->payload_len) != VS_OK)
		return VS_REASON_MAD_SHORT;
	if (r->mad.base_version != VS_MAD_BASE_VERSION)
		return VS_REASON_MAD_BASE_VERSION;
	/* Other classes and versions have nobody here. */
	if (r->mad.mgmt_class != VS_MAD_CLASS_CM || r->mad.class_version != VS_CM_CLASS_VERSION ||
	    r->mad.method != VS_MAD_METHOD_SEND)
		return VS_REASON_NOT_FOR_US;
	return vs_cm_parse(&r->m, r->mad.attribute_id, p->payload + VS_MAD_HDR_LEN, VS_CM_DATA_LEN) == VS_OK
		       ? VS_REASON_NONE
		       : VS_REASON_NOT_FOR_US;
}

void vs_conn_mad(struct vs_dev *dev, struct vs_rx *rx)
{
	struct rx_cm r = {.dev = dev, .rx = rx};
	enum vs_reason why = check_mad(&r);

	if (why != VS_REASON_NONE) {
		const uint64_t a[] = {(uint64_t)why, rx->p.bth.opcode, rx->p.bth.psn, rx->p.bth.destqp};

		dev->counter[why == VS_REASON_QKEY_MISMATCH ? VS_CNT_QKEY_VIOL : VS_CNT_UD_DROPPED]++;
		vs_ev(dev, VS_EV_PKT_DROP, NULL, rx->ev, 4, a);
		return;
	}
	way_back(&r);
	switch (r.m.attribute) {
	case VS_CM_ATTR_REQ:
		rx_req(&r);
		break;
	case VS_CM_ATTR_REP:
		rx_rep(&r);
		break;
	case VS_CM_ATTR_RTU:
		rx_rtu(&r);
		break;
	case VS_CM_ATTR_REJ:
		rx_rej(&r);
		break;
	case VS_CM_ATTR_MRA:
		rx_mra(&r);
		break;
	case VS_CM_ATTR_DREQ:
		rx_dreq(&r);
		break;
	case VS_CM_ATTR_DREP:
		rx_drep(&r);
		break;
	case VS_CM_ATTR_LAP:
		rx_lap(&r);
		break;
	case VS_CM_ATTR_SIDR_REQ:
		rx_sidr_req(&r);
		break;
	case VS_CM_ATTR_SIDR_REP:
		rx_sidr_rep(&r);
		break;
	default:
		break; /* APR: we never ask */
	}
}
