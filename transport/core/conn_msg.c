/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * conn_msg.c - making CM messages, and the queue of MADs on their way out.
 *
 * A MAD is a UD SEND Only of 256 bytes from QP 1 to QP 1 with Q_Key 0x80010000 (ib_cm.h). Answers within one
 * exchange (REP, RTU, MRA, REJ; DREP) carry the transaction id of its first message.
 */
#include "conn.h"

static void put(struct vs_dev *dev, const struct vs_av *av, uint64_t tid, uint64_t cause, const struct vs_cm_msg *m)
{
	struct vs_conn_state_block *b = dev->conn;
	struct vs_conn_mad *mad;

	if (b->mad_tail - b->mad_head == VS_CONN_MADS)
		return; /* lost like a packet: whoever waits for it comes again */
	mad = &b->mad[b->mad_tail++ % VS_CONN_MADS];
	mad->av = *av;
	mad->tid = tid;
	mad->cause = cause;
	mad->msg = *m;
}

void vs_conn_reply(struct vs_dev *dev, const struct vs_av *av, uint64_t tid, const struct vs_cm_msg *m)
{
	put(dev, av, tid, dev->cause, m);
}

static void note(struct vs_conn *c, const struct vs_cm_msg *m, uint64_t retry)
{
	const uint64_t a[] = {m->attribute, c->local_id, c->remote_id, retry};

	c->sent_cause = vs_ev(c->dev, VS_EV_CM_TX, NULL, c->dev->cause, 4, a);
}

void vs_conn_send(struct vs_conn *c, const struct vs_cm_msg *m, uint64_t tid)
{
	note(c, m, 0);
	put(c->dev, &c->path, tid, c->sent_cause, m);
}

void vs_conn_send_again(struct vs_conn *c)
{
	if (c->msg.attribute == 0)
		return;
	note(c, &c->msg, 1);
	put(c->dev, &c->path, c->tid, c->sent_cause, &c->msg);
}

void vs_conn_send_retried(struct vs_conn *c, const struct vs_cm_msg *m, uint64_t tid, uint8_t timeout_code,
			  uint8_t retries)
{
	c->msg = *m;
	c->tid = tid;
	c->timeout_ns = vs_cm_timeout_ns(timeout_code);
	c->retries_left = retries;
	vs_timer_set(c->dev, &c->timer, c->dev->now_ns + c->timeout_ns);
	vs_conn_send(c, m, tid);
}

static void private_copy(uint8_t *to, size_t cap, const void *from, uint8_t len)
{
	assert(len <= cap);
	if (len > 0)
		memcpy(to, from, len);
}

void vs_conn_send_req(struct vs_conn *c, const struct vs_conn_param *p)
{
	const struct vs_dev_attr *a = &c->dev->attr;
	bool rocev2 = a->link_layer == VS_LL_ETHERNET;
	struct vs_cm_msg m = {.attribute = VS_CM_ATTR_REQ};

	m.req.local_comm_id = c->local_id;
	m.req.service_id = p->service_id;
	m.req.local_ca_guid = a->node_guid;
	m.req.qpn = p->qpn;
	m.req.responder_resources = p->responder_resources;
	m.req.initiator_depth = p->initiator_depth;
	m.req.remote_cm_response_timeout = p->cm_response_timeout;
	m.req.local_cm_response_timeout = p->cm_response_timeout;
	m.req.flow_control = p->flow_control;
	m.req.transport = p->uc ? VS_CM_TRANSPORT_UC : VS_CM_TRANSPORT_RC;
	m.req.psn = p->starting_psn;
	m.req.retry_count = p->retry_count;
	m.req.pkey = a->pkeys[0];
	m.req.path_mtu = (uint8_t)p->path_mtu;
	m.req.rnr_retry_count = p->rnr_retry;
	m.req.max_cm_retries = p->max_cm_retries;
	m.req.srq = p->srq;
	m.req.primary_local_lid = rocev2 ? 0xffff : a->lid; /* LIDs mean nothing on RoCE (CA17-34) */
	m.req.primary_remote_lid = rocev2 ? 0xffff : p->path.dlid;
	memcpy(m.req.primary_local_gid, a->gids[p->path.sgid_index].gid, sizeof(m.req.primary_local_gid));
	memcpy(m.req.primary_remote_gid, p->path.dgid, sizeof(m.req.primary_remote_gid));
	m.req.primary_flow_label = p->path.flow_label;
	m.req.primary_traffic_class = p->path.traffic_class;
	m.req.primary_hop_limit = p->path.hop_limit != 0 ? p->path.hop_limit : 64;
	m.req.primary_sl = p->path.sl;
	m.req.primary_ack_timeout = p->local_ack_timeout;
	private_copy(m.req.private_data, sizeof(m.req.private_data), p->private_data, p->private_len);
	vs_conn_send_retried(c, &m, ++c->dev->conn->next_tid, p->cm_response_timeout, p->max_cm_retries);
}

void vs_conn_send_rep(struct vs_conn *c, const struct vs_conn_param *p)
{
	struct vs_cm_msg m = {.attribute = VS_CM_ATTR_REP};

	m.rep.local_comm_id = c->local_id;
	m.rep.remote_comm_id = c->remote_id;
	m.rep.qkey = p->qkey;
	m.rep.qpn = p->qpn;
	m.rep.psn = p->starting_psn;
	m.rep.responder_resources = p->responder_resources;
	m.rep.initiator_depth = p->initiator_depth;
	m.rep.flow_control = p->flow_control;
	m.rep.rnr_retry_count = p->rnr_retry;
	m.rep.srq = p->srq;
	m.rep.local_ca_guid = c->dev->attr.node_guid;
	private_copy(m.rep.private_data, sizeof(m.rep.private_data), p->private_data, p->private_len);
	vs_conn_send_retried(c, &m, c->tid, c->peer.cm_response_timeout, c->peer.max_cm_retries);
}

void vs_conn_send_rtu(struct vs_conn *c)
{
	struct vs_cm_msg m = {.attribute = VS_CM_ATTR_RTU};

	m.rtu.local_comm_id = c->local_id;
	m.rtu.remote_comm_id = c->remote_id;
	vs_timer_stop(c->dev, &c->timer);
	c->msg = m; /* a duplicate REP asks for it again */
	vs_conn_send(c, &m, c->tid);
}

void vs_conn_send_dreq(struct vs_conn *c)
{
	struct vs_cm_msg m = {.attribute = VS_CM_ATTR_DREQ};
	uint8_t timeout = c->active ? c->param.cm_response_timeout : c->peer.cm_response_timeout;
	uint8_t retries = c->active ? c->param.max_cm_retries : c->peer.max_cm_retries;

	m.dreq.local_comm_id = c->local_id;
	m.dreq.remote_comm_id = c->remote_id;
	m.dreq.remote_qpn = c->peer.qpn;
	vs_conn_send_retried(c, &m, ++c->dev->conn->next_tid, timeout, retries);
}

void vs_conn_send_drep(struct vs_conn *c, uint64_t tid)
{
	struct vs_cm_msg m = {.attribute = VS_CM_ATTR_DREP};

	m.drep.local_comm_id = c->local_id;
	m.drep.remote_comm_id = c->remote_id;
	vs_conn_send(c, &m, tid);
}

void vs_conn_send_mra(struct vs_conn *c, uint8_t message, uint8_t service_timeout)
{
	struct vs_cm_msg m = {.attribute = VS_CM_ATTR_MRA};

	m.mra.local_comm_id = c->local_id;
	m.mra.remote_comm_id = c->remote_id;
	m.mra.message = message;
	m.mra.service_timeout = service_timeout;
	c->msg = m;
	vs_conn_send(c, &m, c->tid);
}

void vs_conn_send_rej(struct vs_conn *c, uint8_t message, uint16_t reason, const void *private_data, uint8_t len)
{
	struct vs_cm_msg m = {.attribute = VS_CM_ATTR_REJ};

	m.rej.local_comm_id = c->local_id;
	m.rej.remote_comm_id = c->remote_id;
	m.rej.message = message;
	m.rej.reason = reason;
	private_copy(m.rej.private_data, sizeof(m.rej.private_data), private_data, len);
	c->msg = m;
	vs_conn_send(c, &m, c->tid);
}

void vs_conn_send_sidr_req(struct vs_conn *c, const struct vs_conn_param *p)
{
	struct vs_cm_msg m = {.attribute = VS_CM_ATTR_SIDR_REQ};

	m.sidr_req.request_id = c->local_id;
	m.sidr_req.pkey = c->dev->attr.pkeys[0];
	m.sidr_req.service_id = p->service_id;
	private_copy(m.sidr_req.private_data, sizeof(m.sidr_req.private_data), p->private_data, p->private_len);
	vs_conn_send_retried(c, &m, ++c->dev->conn->next_tid, p->cm_response_timeout, p->max_cm_retries);
}

void vs_conn_send_sidr_rep(struct vs_conn *c, uint32_t status, const struct vs_conn_param *p)
{
	struct vs_cm_msg m = {.attribute = VS_CM_ATTR_SIDR_REP};

	m.sidr_rep.request_id = c->remote_id;
	m.sidr_rep.status = (uint8_t)status;
	m.sidr_rep.service_id = c->service_id;
	if (status == 0) {
		m.sidr_rep.qpn = p->qpn;
		m.sidr_rep.qkey = p->qkey;
	}
	private_copy(m.sidr_rep.private_data, sizeof(m.sidr_rep.private_data), p->private_data, p->private_len);
	c->msg = m;
	vs_conn_send(c, &m, c->tid);
}

/* ---- sending ---- */

bool vs_conn_has_output(const struct vs_dev *dev)
{
	return dev->conn != NULL && dev->conn->mad_head != dev->conn->mad_tail;
}

size_t vs_conn_output(struct vs_dev *dev, uint8_t *buf, size_t cap, struct vs_pkt_meta *meta)
{
	struct vs_conn_state_block *b = dev->conn;
	const struct vs_conn_mad *mad = &b->mad[b->mad_head % VS_CONN_MADS];
	struct vs_mad header = {.base_version = VS_MAD_BASE_VERSION,
				.mgmt_class = VS_MAD_CLASS_CM,
				.class_version = VS_CM_CLASS_VERSION,
				.method = VS_MAD_METHOD_SEND,
				.transaction_id = mad->tid,
				.attribute_id = mad->msg.attribute};
	struct vs_tx *tx = &dev->tx;
	int rc;

	b->mad_head++;
	vs_tx_init(&b->gsi, tx, VS_OP_UD_SEND_ONLY, &mad->av);
	vs_mad_build(&header, tx->payload);
	rc = vs_cm_build(&mad->msg, tx->payload + VS_MAD_HDR_LEN);
	assert(rc == VS_OK);
	(void)rc;
	tx->p.payload_len = VS_MAD_LEN;
	tx->p.bth.destqp = VS_QPN_GSI;
	tx->p.bth.psn = b->psn;
	tx->p.ext.deth.qkey = VS_GSI_QKEY;
	tx->p.ext.deth.rsv = 0;
	tx->p.ext.deth.srcqp = VS_QPN_GSI;
	tx->cause = mad->cause;
	b->psn = vs_psn_add(b->psn, 1);
	return vs_tx_finish(&b->gsi, tx, buf, cap, meta);
}
