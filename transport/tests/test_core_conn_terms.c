/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_core_conn_terms.c - what the messages of the connection manager carry: every field of every message that
 * the device makes, and everything that the consumer hears of the peer's.
 */
#include "cms.h"
#include "core/conn.h"

#define GUID 0x0200000000000001ull

/* Parameters of which no two are alike. */
static struct vs_conn_param distinct(struct rig *r)
{
	struct vs_conn_param p = param(r);

	p.path.flow_label = 0xabcde;
	p.path.traffic_class = 0x48;
	p.path.hop_limit = 17;
	p.path.sl = 5;
	p.path.dlid = 0x1111;
	p.path_mtu = VS_MTU_2048;
	p.responder_resources = 11;
	p.initiator_depth = 10;
	p.retry_count = 7;
	p.rnr_retry = 4;
	p.local_ack_timeout = 19;
	p.cm_response_timeout = 21;
	p.max_cm_retries = 15;
	p.qkey = 0x00c0ffee;
	return p;
}

static struct rig *rig_with_pkey(bool ib)
{
	struct rig_opt o = {.stay_in_reset = true, .ib = ib};

	o.dev.pkeys[0] = 0x9234;
	return rig_new(&o);
}

static void says(const struct vs_cm_msg *got, const struct vs_cm_msg *expected)
{
	size_t n, i;
	const struct vs_cm_field *f = vs_cm_fields(expected->attribute, &n);
	uint8_t a[VS_CM_DATA_LEN], b[VS_CM_DATA_LEN];

	ck_assert_uint_eq(got->attribute, expected->attribute);
	ck_assert_int_eq(vs_cm_build(got, a), VS_OK);
	ck_assert_int_eq(vs_cm_build(expected, b), VS_OK);
	for (i = 0; i < n; i++)
		if (f[i].width <= 64)
			ck_assert_msg(vs_cm_field_value(&f[i], a) == vs_cm_field_value(&f[i], b),
				      "%s: %llx, expected %llx", f[i].name,
				      (unsigned long long)vs_cm_field_value(&f[i], a),
				      (unsigned long long)vs_cm_field_value(&f[i], b));
	ck_assert_mem_eq(a, b, VS_CM_DATA_LEN);
}

/* ---- what goes out ---- */

START_TEST(a_req_carries_the_parameters)
{
	bool ib = _i & 1, on = _i & 2;
	struct rig *r = rig_with_pkey(ib);
	struct vs_conn_param p = distinct(r);
	struct vs_cm_msg e = {.attribute = VS_CM_ATTR_REQ}, m;
	struct vs_conn *c;
	int err;

	p.path.hop_limit = on ? 17 : 0;
	p.srq = on;
	p.flow_control = !on;
	c = vs_connect(r->dev, &p, 0x77, &err);
	ck_assert_ptr_nonnull(c);
	ck_assert_int_eq(err, VS_OK);
	m = expect_mad(r, VS_CM_ATTR_REQ, NULL);
	e.req.local_comm_id = c->local_id;
	e.req.service_id = SERVICE;
	e.req.local_ca_guid = GUID;
	e.req.qpn = vs_qp_num(r->qp);
	e.req.responder_resources = 11;
	e.req.initiator_depth = 10;
	e.req.remote_cm_response_timeout = e.req.local_cm_response_timeout = 21;
	e.req.flow_control = !on;
	e.req.psn = RIG_PEER_PSN;
	e.req.retry_count = 7;
	e.req.pkey = 0x9234;
	e.req.path_mtu = VS_MTU_2048;
	e.req.rnr_retry_count = 4;
	e.req.max_cm_retries = 15;
	e.req.srq = on;
	e.req.primary_local_lid = ib ? 1 : 0xffff; /* LIDs mean nothing on RoCE */
	e.req.primary_remote_lid = ib ? 0x1111 : 0xffff;
	memcpy(e.req.primary_local_gid, r->dev->attr.gids[0].gid, 16);
	memcpy(e.req.primary_remote_gid, p.path.dgid, 16);
	e.req.primary_flow_label = 0xabcde;
	e.req.primary_traffic_class = 0x48;
	e.req.primary_hop_limit = on ? 17 : 64;
	e.req.primary_sl = 5;
	e.req.primary_ack_timeout = 19;
	memcpy(e.req.private_data, "hello", 6);
	says(&m, &e);
	rig_free(r);
}
END_TEST

START_TEST(a_rep_carries_the_parameters)
{
	struct rig *r = rig_new(&reset);
	struct vs_conn *c = offered(r);
	struct vs_conn_param p = distinct(r);
	struct vs_cm_msg e = {.attribute = VS_CM_ATTR_REP}, m;
	struct vs_mad h;

	p.responder_resources = 4; /* the peer asks for 4 and offers 2: both exactly */
	p.initiator_depth = 2;
	p.srq = _i == 0;
	p.flow_control = _i == 1;
	ck_assert_int_eq(vs_accept(c, &p), VS_OK);
	m = expect_mad(r, VS_CM_ATTR_REP, &h);
	e.rep.local_comm_id = c->local_id;
	e.rep.remote_comm_id = PEER_ID;
	e.rep.qkey = 0x00c0ffee;
	e.rep.qpn = vs_qp_num(r->qp);
	e.rep.psn = RIG_PEER_PSN;
	e.rep.responder_resources = 4;
	e.rep.initiator_depth = 2;
	e.rep.flow_control = _i == 1;
	e.rep.rnr_retry_count = 4;
	e.rep.srq = _i == 0;
	e.rep.local_ca_guid = GUID;
	memcpy(e.rep.private_data, "hello", 6);
	says(&m, &e);
	ck_assert_uint_eq(h.transaction_id, 500);
	rig_free(r);
}
END_TEST

START_TEST(mra_rej_rtu_dreq_drep_name_both_ids)
{
	struct rig *r = rig_new(&reset);
	struct vs_cm_msg e = {0}, m;
	struct vs_mad h, h2;
	struct vs_conn *c = offered(r);

	ck_assert_int_eq(vs_conn_mra(c, 31), VS_OK);
	m = expect_mad(r, VS_CM_ATTR_MRA, &h);
	e.attribute = VS_CM_ATTR_MRA;
	e.mra.local_comm_id = c->local_id;
	e.mra.remote_comm_id = PEER_ID;
	e.mra.message = VS_CM_MRA_OF_REQ;
	e.mra.service_timeout = 31;
	says(&m, &e);
	ck_assert_uint_eq(h.transaction_id, 500);

	ck_assert_int_eq(vs_reject(c, 0x1234, "because", 8), VS_OK);
	m = expect_mad(r, VS_CM_ATTR_REJ, &h);
	e = (struct vs_cm_msg){.attribute = VS_CM_ATTR_REJ};
	e.rej.local_comm_id = c->local_id;
	e.rej.remote_comm_id = PEER_ID;
	e.rej.message = VS_CM_REJ_OF_REQ;
	e.rej.reason = 0x1234;
	memcpy(e.rej.private_data, "because", 8);
	says(&m, &e);
	ck_assert_uint_eq(h.transaction_id, 500);
	rig_free(r);

	r = rig_new(&reset);
	c = connecting(r, &m, &h);
	in_rep(r, c->local_id, 0x4711);
	ck_assert_int_eq(vs_conn_establish(c), VS_OK);
	m = expect_mad(r, VS_CM_ATTR_RTU, &h2);
	e = (struct vs_cm_msg){.attribute = VS_CM_ATTR_RTU};
	e.rtu.local_comm_id = c->local_id;
	e.rtu.remote_comm_id = PEER_ID;
	says(&m, &e);
	ck_assert_uint_eq(h2.transaction_id, h.transaction_id); /* of the REQ */

	ck_assert_int_eq(vs_disconnect(c), VS_OK);
	m = expect_mad(r, VS_CM_ATTR_DREQ, &h2);
	e = (struct vs_cm_msg){.attribute = VS_CM_ATTR_DREQ};
	e.dreq.local_comm_id = c->local_id;
	e.dreq.remote_comm_id = PEER_ID;
	e.dreq.remote_qpn = RIG_PEER_QPN;
	says(&m, &e);
	ck_assert_uint_eq(h2.transaction_id, h.transaction_id + 1); /* an exchange of its own */

	in_dreq(r, c->local_id, vs_qp_num(r->qp), 0x77777777777ull);
	m = expect_mad(r, VS_CM_ATTR_DREP, &h2);
	e = (struct vs_cm_msg){.attribute = VS_CM_ATTR_DREP};
	e.drep.local_comm_id = c->local_id;
	e.drep.remote_comm_id = PEER_ID;
	says(&m, &e);
	ck_assert_uint_eq(h2.transaction_id, 0x77777777777ull); /* of the DREQ */
	rig_free(r);
}
END_TEST

START_TEST(a_rej_of_the_rep_says_so)
{
	struct rig *r = rig_new(&reset);
	struct vs_cm_msg e = {.attribute = VS_CM_ATTR_REJ}, m;
	struct vs_conn *c = connecting(r, &m, NULL);

	in_rep(r, c->local_id, 1);
	ck_assert_int_eq(vs_reject(c, VS_CM_REJ_CONSUMER, NULL, 0), VS_OK);
	m = expect_mad(r, VS_CM_ATTR_REJ, NULL);
	e.rej.local_comm_id = c->local_id;
	e.rej.remote_comm_id = PEER_ID;
	e.rej.message = VS_CM_REJ_OF_REP;
	e.rej.reason = 28;
	says(&m, &e);
	rig_free(r);
}
END_TEST

START_TEST(what_nobody_takes_is_answered_in_full)
{
	struct rig *r = rig_new(&reset);
	struct vs_cm_msg m = req(), e = {.attribute = VS_CM_ATTR_REJ};
	struct vs_mad h;

	in_mad(r, &m, 0x123456789);
	m = expect_mad(r, VS_CM_ATTR_REJ, &h);
	e.rej.remote_comm_id = PEER_ID;
	e.rej.message = VS_CM_REJ_OF_REQ;
	e.rej.reason = VS_CM_REJ_SERVICE_ID;
	says(&m, &e);
	ck_assert_uint_eq(h.transaction_id, 0x123456789);

	m = (struct vs_cm_msg){.attribute = VS_CM_ATTR_SIDR_REQ};
	m.sidr_req.request_id = 99;
	m.sidr_req.service_id = SERVICE;
	in_mad(r, &m, 0x987654321);
	m = expect_mad(r, VS_CM_ATTR_SIDR_REP, &h);
	e = (struct vs_cm_msg){.attribute = VS_CM_ATTR_SIDR_REP};
	e.sidr_rep.request_id = 99;
	e.sidr_rep.status = VS_CM_SIDR_UNSUPPORTED;
	e.sidr_rep.service_id = SERVICE;
	says(&m, &e);
	ck_assert_uint_eq(h.transaction_id, 0x987654321);

	in_dreq(r, 0x12345678, 5, 0x600);
	m = expect_mad(r, VS_CM_ATTR_DREP, &h);
	e = (struct vs_cm_msg){.attribute = VS_CM_ATTR_DREP};
	e.drep.local_comm_id = 0x12345678;
	e.drep.remote_comm_id = PEER_ID;
	says(&m, &e);
	ck_assert_uint_eq(h.transaction_id, 0x600);
	rig_free(r);
}
END_TEST

START_TEST(a_lap_is_refused_by_its_ids)
{
	struct rig *r = rig_new(&reset);
	struct vs_cm_msg m = {.attribute = VS_CM_ATTR_LAP}, e = {.attribute = VS_CM_ATTR_APR};
	uint32_t id;
	struct vs_mad h;

	established(r, &id);
	m.lap.local_comm_id = PEER_ID;
	m.lap.remote_comm_id = id;
	in_mad(r, &m, 700);
	m = expect_mad(r, VS_CM_ATTR_APR, &h);
	e.apr.local_comm_id = id;
	e.apr.remote_comm_id = PEER_ID;
	e.apr.status = VS_CM_APR_UNSUPPORTED;
	says(&m, &e);
	ck_assert_uint_eq(h.transaction_id, 700);
	rig_free(r);
}
END_TEST

START_TEST(sidr_messages_carry_the_parameters)
{
	struct rig *r = rig_with_pkey(false);
	struct vs_conn_param p = distinct(r);
	struct vs_cm_msg e = {.attribute = VS_CM_ATTR_SIDR_REQ}, m;
	uint32_t status = _i == 0 ? 0 : 2;
	struct vs_conn *c;
	struct vs_mad h, h2;
	int err;

	c = vs_sidr_resolve(r->dev, &p, 0x77, &err);
	ck_assert_ptr_nonnull(c);
	ck_assert_int_eq(err, VS_OK);
	m = expect_mad(r, VS_CM_ATTR_SIDR_REQ, &h);
	e.sidr_req.request_id = c->local_id;
	e.sidr_req.pkey = 0x9234;
	e.sidr_req.service_id = SERVICE;
	memcpy(e.sidr_req.private_data, "hello", 6);
	says(&m, &e);
	rig_advance(r, vs_cm_timeout_ns(21));
	expect_mad(r, VS_CM_ATTR_SIDR_REQ, &h2);
	ck_assert_uint_eq(h2.transaction_id, h.transaction_id);

	ck_assert_ptr_nonnull(vs_listen(r->dev, SERVICE + 1, 0, &err));
	m = (struct vs_cm_msg){.attribute = VS_CM_ATTR_SIDR_REQ};
	m.sidr_req.request_id = 99;
	m.sidr_req.service_id = SERVICE + 1;
	in_mad(r, &m, 0xabc);
	ck_assert_int_eq(vs_sidr_reply(expect_event(r, VS_CONN_EV_SIDR_REQUEST).conn, status, &p), VS_OK);
	m = expect_mad(r, VS_CM_ATTR_SIDR_REP, &h);
	e = (struct vs_cm_msg){.attribute = VS_CM_ATTR_SIDR_REP};
	e.sidr_rep.request_id = 99;
	e.sidr_rep.status = (uint8_t)status;
	e.sidr_rep.service_id = SERVICE + 1;
	e.sidr_rep.qpn = status == 0 ? vs_qp_num(r->qp) : 0; /* a QP only with a yes */
	e.sidr_rep.qkey = status == 0 ? 0x00c0ffee : 0;
	memcpy(e.sidr_rep.private_data, "hello", 6);
	says(&m, &e);
	ck_assert_uint_eq(h.transaction_id, 0xabc);
	rig_free(r);
}
END_TEST

START_TEST(every_mad_takes_the_next_psn_and_goes_from_qp1_to_qp1)
{
	struct rig *r = rig_with_pkey(false);
	uint32_t psn = 0;
	unsigned i;

	for (i = 0; i < 3; i++) {
		struct vs_pkt p;

		in_dreq(r, 5, 5, i);
		ck_assert(rig_out(r, &p));
		ck_assert_uint_eq(p.bth.destqp, 1);
		ck_assert_uint_eq(p.ext.deth.srcqp, 1);
		ck_assert_uint_eq(p.ext.deth.qkey, 0x80010000);
		ck_assert_uint_eq(p.ext.deth.rsv, 0);
		ck_assert_uint_eq(p.bth.pkey, 0x9234);
		ck_assert(!p.bth.ackreq && !p.bth.se && p.bth.migreq);
		if (i > 0)
			ck_assert_uint_eq(p.bth.psn, vs_psn_add(psn, 1));
		psn = p.bth.psn;
	}
	rig_free(r);
}
END_TEST

/* ---- what the consumer hears ---- */

START_TEST(a_request_event_tells_everything_of_the_req)
{
	struct rig *r = rig_new(&reset);
	struct vs_cm_msg m = req();
	struct vs_conn_event e;
	int err;

	ck_assert_ptr_nonnull(vs_listen(r->dev, SERVICE - 1, 1, &err)); /* the right one of two */
	ck_assert_ptr_nonnull(vs_listen(r->dev, SERVICE, 0x4711, &err));
	ck_assert_ptr_nonnull(vs_listen(r->dev, SERVICE + 1, 2, &err));
	m.req.srq = _i == 0;
	m.req.flow_control = _i == 1;
	m.req.primary_flow_label = 0x54321;
	m.req.primary_traffic_class = 0x99;
	m.req.primary_hop_limit = 7;
	m.req.retry_count = 5;
	in_mad(r, &m, 500);
	e = expect_event(r, VS_CONN_EV_REQUEST);
	ck_assert_uint_eq(e.cookie, 0x4711);
	ck_assert_uint_eq(e.status, 0);
	ck_assert_uint_eq(e.peer.service_id, SERVICE);
	ck_assert_int_eq(e.peer.path_mtu, VS_MTU_1024);
	ck_assert_uint_eq(e.peer.qpn, RIG_PEER_QPN);
	ck_assert_uint_eq(e.peer.starting_psn, RIG_DUT_PSN);
	ck_assert(e.peer.responder_resources == 2 && e.peer.initiator_depth == 4);
	ck_assert(e.peer.retry_count == 5 && e.peer.rnr_retry == 6);
	ck_assert(e.peer.local_ack_timeout == 15 && e.peer.cm_response_timeout == 18 && e.peer.max_cm_retries == 3);
	ck_assert(e.peer.srq == (_i == 0) && e.peer.flow_control == (_i == 1));
	ck_assert_uint_eq(e.peer.path.flow_label, 0x54321);
	ck_assert(e.peer.path.traffic_class == 0x99 && e.peer.path.hop_limit == 7);
	ck_assert(e.peer.path.is_global && e.peer.path.port == 1);
	ck_assert_mem_eq(e.peer.path.dgid + 10, "\xff\xff\x0a\x00\x00\x02", 6);
	ck_assert_uint_eq(e.peer.private_len, 92);
	ck_assert_mem_eq(e.private_data, m.req.private_data, 92);
	rig_free(r);
}
END_TEST

START_TEST(a_response_event_tells_everything_of_the_rep)
{
	struct rig *r = rig_new(&reset);
	struct vs_cm_msg m, rep = {.attribute = VS_CM_ATTR_REP};
	struct vs_conn *c = connecting(r, &m, NULL);
	struct vs_conn_event e;

	rep.rep.local_comm_id = PEER_ID;
	rep.rep.remote_comm_id = c->local_id;
	rep.rep.qkey = 0x11223344;
	rep.rep.qpn = 0x456789;
	rep.rep.psn = 0xabcdef;
	rep.rep.responder_resources = 3;
	rep.rep.initiator_depth = 2;
	rep.rep.rnr_retry_count = 5;
	rep.rep.srq = _i == 0;
	rep.rep.flow_control = _i == 1;
	rep.rep.local_ca_guid = PEER_GUID;
	memcpy(rep.rep.private_data, "welcome", 8);
	vs_conn_set_cookie(c, 0x99);
	in_mad(r, &rep, 1);
	e = expect_event(r, VS_CONN_EV_RESPONSE);
	ck_assert(e.cookie == 0x99 && e.conn == c && e.status == 0);
	ck_assert(e.peer.qpn == 0x456789 && e.peer.qkey == 0x11223344 && e.peer.starting_psn == 0xabcdef);
	ck_assert(e.peer.responder_resources == 3 && e.peer.initiator_depth == 2 && e.peer.rnr_retry == 5);
	ck_assert(e.peer.srq == (_i == 0) && e.peer.flow_control == (_i == 1));
	ck_assert_uint_eq(e.peer.service_id, SERVICE);
	ck_assert_mem_eq(e.peer.path.dgid + 10, "\xff\xff\x0a\x00\x00\x02", 6);
	ck_assert_uint_eq(e.peer.private_len, 196);
	ck_assert_str_eq((const char *)e.private_data, "welcome");
	rig_free(r);
}
END_TEST

START_TEST(other_events_hand_on_the_private_data)
{
	struct rig *r = rig_new(&reset);
	struct vs_cm_msg m = {.attribute = VS_CM_ATTR_RTU};
	struct vs_conn_event e;
	struct vs_conn *c;
	uint32_t id;

	c = accepted(r, &id);
	ck_assert_int_eq(vs_dev_poll_conn(r->dev, &e), 0);
	m.rtu.local_comm_id = PEER_ID;
	m.rtu.remote_comm_id = id;
	memset(m.rtu.private_data, 0x5a, sizeof(m.rtu.private_data));
	in_mad(r, &m, 500);
	ck_assert_int_eq(vs_dev_poll_conn(r->dev, &e), 1);
	ck_assert_int_eq(e.type, VS_CONN_EV_ESTABLISHED);
	ck_assert_ptr_eq(e.peer.private_data, e.private_data); /* of the caller's copy */
	ck_assert_uint_eq(e.peer.private_len, 220);            /* the event holds no more; the last 4 bytes are lost */
	ck_assert_mem_eq(e.private_data, m.rtu.private_data, 220);

	m = (struct vs_cm_msg){.attribute = VS_CM_ATTR_DREQ};
	m.dreq.local_comm_id = PEER_ID;
	m.dreq.remote_comm_id = id;
	m.dreq.remote_qpn = vs_qp_num(r->qp);
	memcpy(m.dreq.private_data, "bye", 4);
	in_mad(r, &m, 600);
	e = expect_event(r, VS_CONN_EV_DISCONNECTED);
	ck_assert(e.conn == c && e.peer.private_len == 220);
	ck_assert_str_eq((const char *)e.private_data, "bye");
	rig_free(r);

	r = rig_new(&reset);
	c = connecting(r, &m, NULL);
	m = (struct vs_cm_msg){.attribute = VS_CM_ATTR_REJ};
	m.rej.remote_comm_id = c->local_id;
	m.rej.reason = 0x1c;
	memcpy(m.rej.private_data, "no", 3);
	in_mad(r, &m, 1);
	e = expect_event(r, VS_CONN_EV_REJECTED);
	ck_assert(e.status == 28 && e.peer.private_len == 148);
	ck_assert_str_eq((const char *)e.private_data, "no");
	rig_free(r);
}
END_TEST

START_TEST(sidr_events_tell_what_was_asked_and_answered)
{
	struct rig *r = rig_new(&reset);
	struct vs_conn_param p = distinct(r);
	struct vs_cm_msg m = {.attribute = VS_CM_ATTR_SIDR_REQ};
	struct vs_conn_event e;
	struct vs_conn *c;
	int err;

	ck_assert_ptr_nonnull(vs_listen(r->dev, SERVICE, 0x31, &err));
	m.sidr_req.request_id = 99;
	m.sidr_req.service_id = SERVICE;
	memcpy(m.sidr_req.private_data, "where", 6);
	in_mad(r, &m, 5);
	e = expect_event(r, VS_CONN_EV_SIDR_REQUEST);
	ck_assert(e.cookie == 0x31 && e.status == 0 && e.peer.service_id == SERVICE && e.peer.private_len == 216);
	ck_assert_str_eq((const char *)e.private_data, "where");
	ck_assert_mem_eq(e.peer.path.dgid + 10, "\xff\xff\x0a\x00\x00\x02", 6);
	c = vs_sidr_resolve(r->dev, &p, 0x32, &err);
	m = (struct vs_cm_msg){.attribute = VS_CM_ATTR_SIDR_REP};
	m.sidr_rep.request_id = c->local_id;
	m.sidr_rep.status = 3;
	m.sidr_rep.qpn = 0x4567;
	m.sidr_rep.qkey = 0x1234567;
	m.sidr_rep.service_id = SERVICE;
	memcpy(m.sidr_rep.private_data, "here", 5);
	in_mad(r, &m, 1);
	e = expect_event(r, VS_CONN_EV_SIDR_RESPONSE);
	ck_assert(e.cookie == 0x32 && e.status == 3 && e.peer.service_id == SERVICE && e.peer.private_len == 136);
	ck_assert(e.peer.qpn == 0x4567 && e.peer.qkey == 0x1234567);
	ck_assert_str_eq((const char *)e.private_data, "here");
	ck_assert_mem_eq(e.peer.path.dgid + 10, "\xff\xff\x0a\x00\x00\x02", 6);
	ck_assert_int_eq(vs_conn_state(c), VS_CONN_CLOSED);
	rig_free(r);
}
END_TEST

/* ---- what goes into the QP ---- */

START_TEST(the_attributes_of_the_qp_are_those_agreed_on)
{
	struct rig *r = rig_new(&reset);
	struct vs_conn_param p = distinct(r);
	struct vs_cm_msg m, rep = {.attribute = VS_CM_ATTR_REP};
	struct vs_qp_attr a;
	struct vs_conn *c;
	bool active = _i == 0;
	uint32_t mask;
	int err;

	if (active) {
		c = vs_connect(r->dev, &p, 0, &err);
		rep.rep.local_comm_id = PEER_ID;
		rep.rep.remote_comm_id = c->local_id;
		rep.rep.qpn = RIG_PEER_QPN;
		rep.rep.psn = RIG_DUT_PSN;
		rep.rep.responder_resources = 9; /* less than the 10 that we asked for */
		rep.rep.initiator_depth = 8;     /* less than the 11 that we have */
		rep.rep.rnr_retry_count = 3;
		in_mad(r, &rep, 1);
	} else {
		ck_assert_ptr_nonnull(vs_listen(r->dev, SERVICE, 0, &err));
		m = req();
		m.req.primary_flow_label = 0xabcde;
		m.req.primary_traffic_class = 0x48;
		m.req.primary_hop_limit = 17;
		m.req.responder_resources = 9;
		m.req.initiator_depth = 8;
		m.req.rnr_retry_count = 3;
		in_mad(r, &m, 500);
		c = expect_event(r, VS_CONN_EV_REQUEST).conn;
		ck_assert_int_eq(vs_accept(c, &p), VS_OK);
	}
	ck_assert_int_eq(vs_conn_qp_attr(c, VS_QPS_INIT, &a, &mask), VS_OK);
	ck_assert_uint_eq(mask, VS_QP_STATE | VS_QP_PORT | VS_QP_PKEY_INDEX | VS_QP_ACCESS_FLAGS);
	ck_assert(a.state == VS_QPS_INIT && a.port_num == 1 && a.pkey_index == 0);
	ck_assert_uint_eq(a.access_flags, VS_ACCESS_REMOTE_WRITE | VS_ACCESS_REMOTE_READ | VS_ACCESS_REMOTE_ATOMIC);

	ck_assert_int_eq(vs_conn_qp_attr(c, VS_QPS_RTR, &a, &mask), VS_OK);
	ck_assert_uint_eq(mask, VS_QP_STATE | VS_QP_AV | VS_QP_PATH_MTU | VS_QP_DEST_QPN | VS_QP_RQ_PSN |
					VS_QP_MAX_DEST_RD_ATOMIC | VS_QP_MIN_RNR_TIMER);
	ck_assert(a.state == VS_QPS_RTR && a.path_mtu == (active ? VS_MTU_2048 : VS_MTU_1024));
	ck_assert(a.dest_qpn == RIG_PEER_QPN && a.rq_psn == RIG_PEER_PSN && a.min_rnr_timer == 12);
	ck_assert_uint_eq(a.max_dest_rd_atomic, 8);
	ck_assert(a.av.flow_label == 0xabcde && a.av.traffic_class == 0x48 && a.av.hop_limit == 17 && a.av.port == 1);

	ck_assert_int_eq(vs_conn_qp_attr(c, VS_QPS_RTS, &a, &mask), VS_OK);
	ck_assert_uint_eq(mask, VS_QP_STATE | VS_QP_TIMEOUT | VS_QP_RETRY_CNT | VS_QP_RNR_RETRY | VS_QP_SQ_PSN |
					VS_QP_MAX_QP_RD_ATOMIC);
	ck_assert(a.state == VS_QPS_RTS && a.timeout == (active ? 19 : 15) && a.retry_cnt == 7 && a.rnr_retry == 3);
	ck_assert(a.sq_psn == RIG_DUT_PSN);
	ck_assert_uint_eq(a.max_rd_atomic, 9);
	ck_assert_int_eq(vs_conn_qp_attr(c, VS_QPS_SQD, &a, &mask), VS_ERR_INVAL);
	ck_assert_int_eq(vs_conn_qp_attr(c, VS_QPS_RESET, &a, &mask), VS_ERR_INVAL);
	rig_free(r);
}
END_TEST

/* Where our own is the lower one, it counts. */
START_TEST(the_lower_of_both_depths_counts)
{
	struct rig *r = rig_new(&reset);
	struct vs_cm_msg m, rep = {.attribute = VS_CM_ATTR_REP};
	struct vs_qp_attr a;
	struct vs_conn *c = connecting(r, &m, NULL); /* 3 responder resources, initiator depth 2 */
	uint32_t mask;

	rep.rep.local_comm_id = PEER_ID;
	rep.rep.remote_comm_id = c->local_id;
	rep.rep.responder_resources = 16;
	rep.rep.initiator_depth = 16;
	in_mad(r, &rep, 1);
	ck_assert_int_eq(vs_conn_qp_attr(c, VS_QPS_RTR, &a, &mask), VS_OK);
	ck_assert_uint_eq(a.max_dest_rd_atomic, 3);
	ck_assert_int_eq(vs_conn_qp_attr(c, VS_QPS_RTS, &a, &mask), VS_OK);
	ck_assert_uint_eq(a.max_rd_atomic, 2);
	rig_free(r);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("core conn terms");
	TCase *tc = tcase_create("messages");

	tcase_add_loop_test(tc, a_req_carries_the_parameters, 0, 4);
	tcase_add_loop_test(tc, a_rep_carries_the_parameters, 0, 2);
	tcase_add_test(tc, mra_rej_rtu_dreq_drep_name_both_ids);
	tcase_add_test(tc, a_rej_of_the_rep_says_so);
	tcase_add_test(tc, what_nobody_takes_is_answered_in_full);
	tcase_add_test(tc, a_lap_is_refused_by_its_ids);
	tcase_add_loop_test(tc, sidr_messages_carry_the_parameters, 0, 2);
	tcase_add_test(tc, every_mad_takes_the_next_psn_and_goes_from_qp1_to_qp1);
	suite_add_tcase(s, tc);

	tc = tcase_create("consumer");
	tcase_add_loop_test(tc, a_request_event_tells_everything_of_the_req, 0, 2);
	tcase_add_loop_test(tc, a_response_event_tells_everything_of_the_rep, 0, 2);
	tcase_add_test(tc, other_events_hand_on_the_private_data);
	tcase_add_test(tc, sidr_events_tell_what_was_asked_and_answered);
	tcase_add_loop_test(tc, the_attributes_of_the_qp_are_those_agreed_on, 0, 2);
	tcase_add_test(tc, the_lower_of_both_depths_counts);
	suite_add_tcase(s, tc);
	return s;
}
