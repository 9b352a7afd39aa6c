/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * cms.h - what the tests of the connection manager share: MADs in and out, and the way into every state. The device
 * is on the bench of rig.h; the peer has comm id PEER_ID, QP RIG_PEER_QPN and node GUID PEER_GUID.
 */
#ifndef VS_TESTS_CMS_H
#define VS_TESTS_CMS_H

#include <string.h>

#include "core/conn.h"
#include "core/core.h"
#include "rig.h"
#include "vs/cm.h"
#include "vs/mad.h"

#define SERVICE 0x0000000001061b58ull /* RDMA-CM, TCP port space, port 7000 */
#define PEER_ID 0x0badcafeu
#define PEER_GUID 0x0200000000000002ull
#define SEC 1000000000ull
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define TIMEOUT vs_cm_timeout_ns(18) /* what both sides ask for: param() */
static const struct rig_opt reset = {.stay_in_reset = true};

static inline struct vs_conn_param param(struct rig *r)
{
	struct vs_qp_attr a = rig_attr(r);

	return (struct vs_conn_param){.service_id = SERVICE,
				      .path = a.av,
				      .path_mtu = VS_MTU_1024,
				      .qpn = vs_qp_num(r->qp),
				      .starting_psn = RIG_PEER_PSN,
				      .responder_resources = 3,
				      .initiator_depth = 2,
				      .retry_count = 6,
				      .rnr_retry = 5,
				      .local_ack_timeout = 14,
				      .cm_response_timeout = 18,
				      .max_cm_retries = 4,
				      .private_data = "hello",
				      .private_len = 6};
}

/* ---- MADs ---- */

static inline void in_mad(struct rig *r, const struct vs_cm_msg *m, uint64_t tid)
{
	struct vs_pkt p = rig_pkt(r, VS_OP_UD_SEND_ONLY, 3);
	struct vs_mad h = {.base_version = 1,
			   .mgmt_class = VS_MAD_CLASS_CM,
			   .class_version = VS_CM_CLASS_VERSION,
			   .method = VS_MAD_METHOD_SEND,
			   .transaction_id = tid,
			   .attribute_id = m->attribute};
	uint8_t mad[VS_MAD_LEN];

	vs_mad_build(&h, mad);
	ck_assert_int_eq(vs_cm_build(m, mad + VS_MAD_HDR_LEN), VS_OK);
	p.bth.destqp = VS_QPN_GSI;
	p.ext.deth.qkey = VS_GSI_QKEY;
	p.ext.deth.srcqp = VS_QPN_GSI;
	p.payload = mad;
	p.payload_len = sizeof(mad);
	rig_in(r, &p);
}

static inline void in_mra(struct rig *r, const struct vs_conn *c, uint8_t message, uint8_t service_timeout)
{
	struct vs_cm_msg m = {.attribute = VS_CM_ATTR_MRA};

	m.mra.local_comm_id = PEER_ID;
	m.mra.remote_comm_id = c->local_id;
	m.mra.message = message;
	m.mra.service_timeout = service_timeout;
	in_mad(r, &m, 500);
}

static inline void in_sidr_req(struct rig *r, uint32_t id, uint64_t tid)
{
	struct vs_cm_msg m = {.attribute = VS_CM_ATTR_SIDR_REQ};

	m.sidr_req.request_id = id;
	m.sidr_req.service_id = SERVICE;
	in_mad(r, &m, tid);
}

static inline struct vs_cm_msg expect_mad(struct rig *r, uint16_t attribute, struct vs_mad *h)
{
	struct vs_pkt p = {0};
	struct vs_mad mad;
	struct vs_cm_msg m;

	ck_assert_msg(rig_out(r, &p), "no packet, expected CM %04x", attribute);
	ck_assert(p.bth.opcode == VS_OP_UD_SEND_ONLY && p.bth.destqp == VS_QPN_GSI && p.ext.deth.srcqp == VS_QPN_GSI);
	ck_assert_uint_eq(p.ext.deth.qkey, VS_GSI_QKEY);
	ck_assert_uint_eq(p.payload_len, VS_MAD_LEN);
	ck_assert_int_eq(vs_mad_parse(&mad, p.payload, p.payload_len), VS_OK);
	ck_assert(mad.base_version == 1 && mad.mgmt_class == 7 && mad.class_version == 2 && mad.method == 3);
	ck_assert_msg(mad.attribute_id == attribute, "CM %04x, expected %04x", mad.attribute_id, attribute);
	ck_assert_int_eq(vs_cm_parse(&m, attribute, p.payload + VS_MAD_HDR_LEN, VS_CM_DATA_LEN), VS_OK);
	if (h != NULL)
		*h = mad;
	return m;
}

static inline struct vs_conn_event expect_event(struct rig *r, enum vs_conn_event_type type)
{
	struct vs_conn_event e;

	ck_assert_msg(vs_dev_poll_conn(r->dev, &e) == 1, "no event, expected %d", (int)type);
	ck_assert_msg(e.type == type, "event %d, expected %d", (int)e.type, (int)type);
	return e;
}

static inline void expect_no_event(struct rig *r)
{
	struct vs_conn_event e;

	ck_assert_int_eq(vs_dev_poll_conn(r->dev, &e), 0);
}

static inline struct vs_cm_msg req(void)
{
	struct vs_cm_msg m = {.attribute = VS_CM_ATTR_REQ};

	m.req.local_comm_id = PEER_ID;
	m.req.service_id = SERVICE;
	m.req.local_ca_guid = PEER_GUID;
	m.req.qpn = RIG_PEER_QPN;
	m.req.responder_resources = 2;
	m.req.initiator_depth = 4;
	m.req.local_cm_response_timeout = 18;
	m.req.psn = RIG_DUT_PSN;
	m.req.retry_count = 7;
	m.req.pkey = 0xffff;
	m.req.path_mtu = VS_MTU_1024;
	m.req.rnr_retry_count = 6;
	m.req.max_cm_retries = 3;
	m.req.primary_local_lid = m.req.primary_remote_lid = 0x1234; /* garbage: ignored on RoCE */
	m.req.primary_ack_timeout = 15;
	memcpy(m.req.private_data, "from the peer", 14);
	return m;
}

/* A REQ came in and was offered: the passive side in REQ_RCVD. */
static inline struct vs_conn *offered(struct rig *r)
{
	struct vs_cm_msg m = req();
	struct vs_conn_event e;
	int err;

	ck_assert_ptr_nonnull(vs_listen(r->dev, SERVICE, 0x11, &err));
	in_mad(r, &m, 500);
	e = expect_event(r, VS_CONN_EV_REQUEST);
	ck_assert_uint_eq(e.cookie, 0x11);
	return e.conn;
}

static inline uint32_t id_of(struct vs_cm_msg m)
{
	return m.attribute == VS_CM_ATTR_REP ? m.rep.local_comm_id : m.req.local_comm_id;
}

static inline struct vs_conn *accepted(struct rig *r, uint32_t *local_id)
{
	struct vs_conn *c = offered(r);
	struct vs_conn_param p = param(r);

	ck_assert_int_eq(vs_accept(c, &p), VS_OK);
	*local_id = id_of(expect_mad(r, VS_CM_ATTR_REP, NULL));
	return c;
}

static inline void in_rtu(struct rig *r, uint32_t local_id)
{
	struct vs_cm_msg m = {.attribute = VS_CM_ATTR_RTU};

	m.rtu.local_comm_id = PEER_ID;
	m.rtu.remote_comm_id = local_id;
	in_mad(r, &m, 500);
}

static inline struct vs_conn *established(struct rig *r, uint32_t *local_id)
{
	struct vs_conn *c = accepted(r, local_id);

	in_rtu(r, *local_id);
	expect_event(r, VS_CONN_EV_ESTABLISHED);
	ck_assert_int_eq(vs_conn_state(c), VS_CONN_ESTABLISHED);
	return c;
}

static inline void in_dreq(struct rig *r, uint32_t local_id, uint32_t qpn, uint64_t tid)
{
	struct vs_cm_msg m = {.attribute = VS_CM_ATTR_DREQ};

	m.dreq.local_comm_id = PEER_ID;
	m.dreq.remote_comm_id = local_id;
	m.dreq.remote_qpn = qpn;
	in_mad(r, &m, tid);
}

static inline struct vs_conn *connecting(struct rig *r, struct vs_cm_msg *m, struct vs_mad *h)
{
	struct vs_conn_param p = param(r);
	int err;
	struct vs_conn *c = vs_connect(r->dev, &p, 0x77, &err);

	ck_assert_ptr_nonnull(c);
	*m = expect_mad(r, VS_CM_ATTR_REQ, h);
	return c;
}

static inline void in_rep(struct rig *r, uint32_t local_id, uint64_t tid)
{
	struct vs_cm_msg m = {.attribute = VS_CM_ATTR_REP};

	m.rep.local_comm_id = PEER_ID;
	m.rep.remote_comm_id = local_id;
	m.rep.qpn = RIG_PEER_QPN;
	m.rep.psn = RIG_DUT_PSN;
	m.rep.responder_resources = 1;
	m.rep.initiator_depth = 2;
	m.rep.rnr_retry_count = 3;
	m.rep.local_ca_guid = PEER_GUID;
	in_mad(r, &m, tid);
}

#endif
