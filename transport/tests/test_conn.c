/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_conn.c - CM rows of the inventory: the device's connection manager against a peer that the test plays
 * MAD by MAD. Each test is one row; its name begins with the id.
 */
#include "cms.h"

/* ---- REQ ---- */

START_TEST(cm_001_002_021_the_req_says_everything)
{
	struct rig *r = rig_new(&reset);
	struct vs_cm_msg m;
	struct vs_mad h;

	connecting(r, &m, &h);
	ck_assert_uint_eq(m.req.service_id, SERVICE);
	ck_assert(vs_rdmacm_is_service(m.req.service_id) && vs_rdmacm_port(m.req.service_id) == 7000);
	ck_assert(m.req.local_comm_id != 0 && h.transaction_id != 0);
	ck_assert_uint_eq(m.req.local_ca_guid, 0x0200000000000001ull);
	ck_assert_uint_eq(m.req.qpn, vs_qp_num(r->qp));
	ck_assert(m.req.responder_resources == 3 && m.req.initiator_depth == 2);
	ck_assert(m.req.remote_cm_response_timeout == 18 && m.req.local_cm_response_timeout == 18);
	ck_assert(m.req.transport == 0 && m.req.psn == RIG_PEER_PSN && m.req.retry_count == 6 && m.req.pkey == 0xffff);
	ck_assert(m.req.path_mtu == 3 && m.req.rnr_retry_count == 5 && m.req.max_cm_retries == 4 && !m.req.srq);
	ck_assert_mem_eq(m.req.primary_local_gid + 10, "\xff\xff\x0a\x00\x00\x01", 6);
	ck_assert_mem_eq(m.req.primary_remote_gid + 10, "\xff\xff\x0a\x00\x00\x02", 6);
	ck_assert(m.req.primary_ack_timeout == 14 && m.req.primary_hop_limit == 64);
	ck_assert_str_eq((const char *)m.req.private_data, "hello");
	rig_expect_silence(r);
	rig_free(r);
}
END_TEST

START_TEST(cm_003_004_a_req_is_offered_accepted_and_established)
{
	struct rig *r = rig_new(&reset);
	struct vs_conn *c = offered(r);
	struct vs_conn_param p = param(r);
	struct vs_cm_msg m;
	struct vs_mad h;

	ck_assert_int_eq(vs_conn_state(c), VS_CONN_REQ_RCVD);
	ck_assert_int_eq(vs_accept(c, &p), VS_OK);
	m = expect_mad(r, VS_CM_ATTR_REP, &h);
	ck_assert_uint_eq(h.transaction_id, 500); /* of the REQ */
	ck_assert_uint_eq(m.rep.remote_comm_id, PEER_ID);
	ck_assert(m.rep.qpn == vs_qp_num(r->qp) && m.rep.psn == RIG_PEER_PSN && m.rep.rnr_retry_count == 5);
	ck_assert_str_eq((const char *)m.rep.private_data, "hello");
	expect_no_event(r);
	in_rtu(r, m.rep.local_comm_id);
	expect_event(r, VS_CONN_EV_ESTABLISHED);
	in_rtu(r, m.rep.local_comm_id); /* again: nothing */
	expect_no_event(r);
	rig_advance(r, 600 * SEC);
	rig_expect_silence(r);
	rig_free(r);
}
END_TEST

START_TEST(cm_004_the_active_side_answers_the_rep_by_an_rtu)
{
	struct rig *r = rig_new(&reset);
	struct vs_cm_msg m;
	struct vs_mad h, h2;
	struct vs_conn *c = connecting(r, &m, &h);
	struct vs_conn_event e;

	ck_assert_int_eq(vs_conn_establish(c), VS_ERR_INVAL); /* too early */
	in_rep(r, m.req.local_comm_id, h.transaction_id);
	e = expect_event(r, VS_CONN_EV_RESPONSE);
	ck_assert(e.cookie == 0x77 && e.peer.qpn == RIG_PEER_QPN && e.peer.starting_psn == RIG_DUT_PSN);
	ck_assert_int_eq(vs_conn_establish(c), VS_OK);
	m = expect_mad(r, VS_CM_ATTR_RTU, &h2);
	ck_assert(m.rtu.remote_comm_id == PEER_ID && h2.transaction_id == h.transaction_id);
	expect_event(r, VS_CONN_EV_ESTABLISHED);
	rig_free(r);
}
END_TEST

START_TEST(cm_005_nobody_listens)
{
	struct rig *r = rig_new(&reset);
	struct vs_cm_msg m = req();
	struct vs_mad h;

	in_mad(r, &m, 500);
	m = expect_mad(r, VS_CM_ATTR_REJ, &h);
	ck_assert(m.rej.reason == 8 && m.rej.remote_comm_id == PEER_ID && m.rej.message == 0 &&
		  h.transaction_id == 500);
	expect_no_event(r);
	rig_free(r);
}
END_TEST

START_TEST(cm_006_the_consumer_rejects)
{
	struct rig *r = rig_new(&reset);
	struct vs_conn *c = offered(r);
	struct vs_cm_msg m = req();

	ck_assert_int_eq(vs_reject(c, VS_CM_REJ_CONSUMER, "no", 3), VS_OK);
	for (int i = 0; i < 2; i++) {
		struct vs_cm_msg rej = expect_mad(r, VS_CM_ATTR_REJ, NULL);

		ck_assert(rej.rej.reason == 28 && rej.rej.remote_comm_id == PEER_ID);
		ck_assert_str_eq((const char *)rej.rej.private_data, "no");
		in_mad(r, &m, 500); /* the REJ got lost: the REQ comes again and draws the same */
	}
	expect_no_event(r);
	rig_free(r);
}
END_TEST

START_TEST(cm_006_being_rejected_is_an_event)
{
	struct rig *r = rig_new(&reset);
	struct vs_cm_msg m;
	struct vs_conn *c = connecting(r, &m, NULL);
	struct vs_cm_msg rej = {.attribute = VS_CM_ATTR_REJ};
	struct vs_conn_event e;

	rej.rej.remote_comm_id = m.req.local_comm_id;
	rej.rej.local_comm_id = PEER_ID;
	rej.rej.reason = 28;
	memcpy(rej.rej.private_data, "why", 4);
	in_mad(r, &rej, 1);
	e = expect_event(r, VS_CONN_EV_REJECTED);
	ck_assert(e.status == 28 && e.conn == c);
	ck_assert_str_eq((const char *)e.private_data, "why");
	rig_advance(r, 600 * SEC);
	rig_expect_silence(r);
	rig_free(r);
}
END_TEST

START_TEST(cm_007_a_req_that_is_not_answered_is_sent_again)
{
	struct rig *r = rig_new(&reset);
	struct vs_cm_msg m, again;
	struct vs_mad h, h2;
	unsigned i;

	connecting(r, &m, &h);
	for (i = 0; i < 4; i++) {
		rig_advance(r, vs_cm_timeout_ns(18) - 1);
		rig_expect_silence(r);
		rig_advance(r, 1);
		again = expect_mad(r, VS_CM_ATTR_REQ, &h2);
		ck_assert(vs_cm_equal(&m, &again));
		ck_assert_uint_eq(h2.transaction_id, h.transaction_id);
		expect_no_event(r);
	}
	rig_advance(r, 2 * SEC);
	rig_expect_silence(r);
	expect_event(r, VS_CONN_EV_UNREACHABLE);
	rig_free(r);
}
END_TEST

START_TEST(cm_008_a_duplicate_req_draws_the_same_rep_and_no_second_connection)
{
	struct rig *r = rig_new(&reset);
	struct vs_cm_msg m = req(), rep;
	struct vs_conn *c = offered(r);
	struct vs_conn_param p = param(r);

	in_mad(r, &m, 500); /* not yet answered: silence */
	rig_expect_silence(r);
	expect_no_event(r);
	ck_assert_int_eq(vs_accept(c, &p), VS_OK);
	rep = expect_mad(r, VS_CM_ATTR_REP, NULL);
	in_mad(r, &m, 500);
	m = expect_mad(r, VS_CM_ATTR_REP, NULL);
	ck_assert(vs_cm_equal(&rep, &m));
	expect_no_event(r);
	rig_free(r);
}
END_TEST

START_TEST(cm_008_a_duplicate_req_after_an_mra_draws_the_mra)
{
	struct rig *r = rig_new(&reset);
	struct vs_cm_msg m = req(), mra;
	struct vs_conn *c = offered(r);

	ck_assert_int_eq(vs_conn_mra(c, 20), VS_OK);
	mra = expect_mad(r, VS_CM_ATTR_MRA, NULL);
	ck_assert(mra.mra.message == 0 && mra.mra.service_timeout == 20 && mra.mra.remote_comm_id == PEER_ID);
	in_mad(r, &m, 500);
	expect_mad(r, VS_CM_ATTR_MRA, NULL);
	rig_free(r);
}
END_TEST

START_TEST(cm_009_a_req_with_the_ids_or_the_qp_of_a_living_connection_is_stale)
{
	struct rig *r = rig_new(&reset);
	struct vs_cm_msg m = req();
	uint32_t id;

	established(r, &id);
	if (_i == 0)
		m.req.qpn = 0x777; /* same comm id, other QP */
	else
		m.req.local_comm_id = PEER_ID + 1; /* other comm id, same QP */
	in_mad(r, &m, 900);
	m = expect_mad(r, VS_CM_ATTR_REJ, NULL);
	ck_assert_uint_eq(m.rej.reason, 10);
	expect_mad(r, VS_CM_ATTR_DREQ, NULL); /* the peer has forgotten the old one */
	expect_no_event(r);
	rig_free(r);
}
END_TEST

START_TEST(cm_010_a_rep_is_sent_again_until_the_rtu)
{
	struct rig *r = rig_new(&reset);
	uint32_t id;
	unsigned i;

	accepted(r, &id);
	for (i = 0; i < 3; i++) {
		rig_advance(r, vs_cm_timeout_ns(18) + 1000);
		ck_assert_uint_eq(expect_mad(r, VS_CM_ATTR_REP, NULL).rep.local_comm_id, id);
	}
	if (_i == 0) {
		in_rtu(r, id);
		expect_event(r, VS_CONN_EV_ESTABLISHED);
	} else {
		rig_advance(r, 2 * SEC);
		rig_expect_silence(r);
		expect_event(r, VS_CONN_EV_UNREACHABLE);
	}
	rig_free(r);
}
END_TEST

START_TEST(cm_010_a_duplicate_rep_draws_the_rtu_again)
{
	struct rig *r = rig_new(&reset);
	struct vs_cm_msg m;
	struct vs_mad h;
	struct vs_conn *c = connecting(r, &m, &h);

	in_rep(r, m.req.local_comm_id, h.transaction_id);
	expect_event(r, VS_CONN_EV_RESPONSE);
	ck_assert_int_eq(vs_conn_establish(c), VS_OK);
	expect_mad(r, VS_CM_ATTR_RTU, NULL);
	expect_event(r, VS_CONN_EV_ESTABLISHED);
	in_rep(r, m.req.local_comm_id, h.transaction_id);
	expect_mad(r, VS_CM_ATTR_RTU, NULL);
	expect_no_event(r);
	rig_free(r);
}
END_TEST

START_TEST(cm_011_data_before_the_rtu_establishes)
{
	struct rig *r = rig_new(&reset);
	struct vs_qp_attr a;
	uint32_t mask, id;
	struct vs_conn *c = accepted(r, &id);

	ck_assert_int_eq(vs_conn_qp_attr(c, VS_QPS_INIT, &a, &mask), VS_OK);
	ck_assert_int_eq(vs_qp_modify(r->qp, &a, mask), VS_OK);
	rig_post_recv(r, 1, 0, 64);
	ck_assert_int_eq(vs_conn_qp_attr(c, VS_QPS_RTR, &a, &mask), VS_OK);
	ck_assert_int_eq(vs_qp_modify(r->qp, &a, mask), VS_OK);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, RIG_PEER_PSN, 8);
	expect_event(r, VS_CONN_EV_ESTABLISHED);
	rig_expect_async(r, VS_EVENT_COMM_EST);
	rig_expect_ack(r, RIG_PEER_PSN, 1);
	rig_expect_wc(r, r->rcq, 1, VS_WC_SUCCESS);
	in_rtu(r, id); /* it comes after all */
	expect_no_event(r);
	rig_advance(r, 600 * SEC);
	rig_expect_silence(r);
	rig_free(r);
}
END_TEST

START_TEST(cm_012_an_mra_gives_more_time)
{
	struct rig *r = rig_new(&reset);
	struct vs_cm_msg m, mra = {.attribute = VS_CM_ATTR_MRA};

	connecting(r, &m, NULL);
	mra.mra.remote_comm_id = m.req.local_comm_id;
	mra.mra.local_comm_id = PEER_ID;
	mra.mra.service_timeout = 22; /* 17 s */
	in_mad(r, &mra, 1);
	rig_advance(r, vs_cm_timeout_ns(22));
	rig_expect_silence(r);
	expect_no_event(r);
	in_rep(r, m.req.local_comm_id, 1);
	expect_event(r, VS_CONN_EV_RESPONSE);
	rig_free(r);
}
END_TEST

/* ---- the end ---- */

START_TEST(cm_013_a_dreq_ends_it)
{
	struct rig *r = rig_new(&reset);
	uint32_t id;
	struct vs_conn *c = established(r, &id);
	struct vs_cm_msg m;
	struct vs_mad h;

	in_dreq(r, id, vs_qp_num(r->qp), 600);
	m = expect_mad(r, VS_CM_ATTR_DREP, &h);
	ck_assert(m.drep.remote_comm_id == PEER_ID && m.drep.local_comm_id == id && h.transaction_id == 600);
	expect_event(r, VS_CONN_EV_DISCONNECTED);
	ck_assert_int_eq(vs_conn_state(c), VS_CONN_TIMEWAIT);
	in_dreq(r, id, vs_qp_num(r->qp), 600); /* again: DREP again, no second event */
	expect_mad(r, VS_CM_ATTR_DREP, NULL);
	expect_no_event(r);
	rig_advance(r, 600 * SEC);
	expect_event(r, VS_CONN_EV_TIMEWAIT_EXIT);
	ck_assert_int_eq(vs_conn_state(c), VS_CONN_CLOSED);
	rig_free(r);
}
END_TEST

START_TEST(cm_013_disconnect_sends_a_dreq_until_the_drep)
{
	struct rig *r = rig_new(&reset);
	uint32_t id;
	struct vs_conn *c = established(r, &id);
	struct vs_cm_msg m, drep = {.attribute = VS_CM_ATTR_DREP};
	unsigned i;

	ck_assert_int_eq(vs_disconnect(c), VS_OK);
	for (i = 0; i < 3; i++) {
		m = expect_mad(r, VS_CM_ATTR_DREQ, NULL);
		ck_assert(m.dreq.remote_qpn == RIG_PEER_QPN && m.dreq.remote_comm_id == PEER_ID);
		rig_advance(r, vs_cm_timeout_ns(18) + 1000);
	}
	if (_i == 0) {
		drep.drep.local_comm_id = PEER_ID;
		drep.drep.remote_comm_id = id;
		in_mad(r, &drep, 1);
	} else {
		rig_advance(r, 4 * SEC); /* nobody answers: it is over all the same */
	}
	rig_drain(r);
	expect_event(r, VS_CONN_EV_DISCONNECTED);
	ck_assert_int_eq(vs_disconnect(c), VS_ERR_INVAL);
	rig_free(r);
}
END_TEST

START_TEST(cm_014_a_dreq_for_a_connection_that_is_not_there)
{
	struct rig *r = rig_new(&reset);
	struct vs_cm_msg m;

	in_dreq(r, 0x12345678, 5, 600);
	m = expect_mad(r, VS_CM_ATTR_DREP, NULL);
	ck_assert(m.drep.remote_comm_id == PEER_ID && m.drep.local_comm_id == 0x12345678);
	expect_no_event(r);
	rig_free(r);
}
END_TEST

START_TEST(cm_015_a_dreq_that_names_another_qp_is_ignored)
{
	struct rig *r = rig_new(&reset);
	uint32_t id;
	struct vs_conn *c = established(r, &id);

	in_dreq(r, id, vs_qp_num(r->qp) ^ 1, 600);
	rig_expect_silence(r);
	expect_no_event(r);
	ck_assert_int_eq(vs_conn_state(c), VS_CONN_ESTABLISHED);
	rig_free(r);
}
END_TEST

/* ---- what is negotiated ---- */

START_TEST(cm_016_a_path_mtu_that_we_do_not_have)
{
	struct rig_opt o = reset;
	struct rig *r;
	struct vs_cm_msg m = req();
	int err;

	o.dev.active_mtu = VS_MTU_1024;
	r = rig_new(&o);
	vs_listen(r->dev, SERVICE, 0, &err);
	m.req.path_mtu = VS_MTU_4096;
	in_mad(r, &m, 500);
	m = expect_mad(r, VS_CM_ATTR_REJ, NULL);
	ck_assert(m.rej.reason == 26 && m.rej.info_len == 1 && m.rej.ari[0] == VS_MTU_1024);
	expect_no_event(r);
	rig_free(r);
}
END_TEST

START_TEST(cm_017_resources_are_lowered_to_what_both_have)
{
	struct rig *r = rig_new(&reset);
	struct vs_conn *c;
	struct vs_conn_param p = param(r);
	struct vs_cm_msg m;
	struct vs_qp_attr a;
	uint32_t mask;

	c = offered(r); /* the peer: 2 responder resources, initiator depth 4 */
	p.responder_resources = 16;
	p.initiator_depth = 16;
	ck_assert_int_eq(vs_accept(c, &p), VS_OK);
	m = expect_mad(r, VS_CM_ATTR_REP, NULL);
	ck_assert(m.rep.responder_resources == 4 && m.rep.initiator_depth == 2);
	ck_assert_int_eq(vs_conn_qp_attr(c, VS_QPS_RTR, &a, &mask), VS_OK);
	ck_assert_uint_eq(a.max_dest_rd_atomic, 4);
	ck_assert_int_eq(vs_conn_qp_attr(c, VS_QPS_RTS, &a, &mask), VS_OK);
	ck_assert_uint_eq(a.max_rd_atomic, 2);
	rig_free(r);
}
END_TEST

START_TEST(cm_018_reasons_13_and_19_are_never_sent_on_roce)
{
	struct rig *r = rig_new(&reset);
	struct vs_cm_msg m = req();
	int err;

	vs_listen(r->dev, SERVICE, 0, &err);
	m.req.primary_local_lid = 0;
	m.req.primary_remote_lid = 0xbeef;
	m.req.alternate_remote_lid = 0xdead;
	in_mad(r, &m, 500);
	rig_expect_silence(r);
	expect_event(r, VS_CONN_EV_REQUEST);
	rig_free(r);
}
END_TEST

START_TEST(cm_019_020_what_the_peer_said_goes_into_the_qp)
{
	struct rig *r = rig_new(&reset);
	struct vs_cm_msg m;
	struct vs_mad h;
	struct vs_conn *c = connecting(r, &m, &h);
	struct vs_qp_attr a;
	uint32_t mask;

	in_rep(r, m.req.local_comm_id, h.transaction_id);
	expect_event(r, VS_CONN_EV_RESPONSE);
	ck_assert_int_eq(vs_conn_qp_attr(c, VS_QPS_INIT, &a, &mask), VS_OK);
	ck_assert_int_eq(vs_qp_modify(r->qp, &a, mask), VS_OK);
	ck_assert_int_eq(vs_conn_qp_attr(c, VS_QPS_RTR, &a, &mask), VS_OK);
	ck_assert(a.rq_psn == RIG_PEER_PSN && a.dest_qpn == RIG_PEER_QPN && a.path_mtu == VS_MTU_1024);
	ck_assert_int_eq(vs_qp_modify(r->qp, &a, mask), VS_OK);
	ck_assert_int_eq(vs_conn_qp_attr(c, VS_QPS_RTS, &a, &mask), VS_OK);
	ck_assert(a.rnr_retry == 3 && a.retry_cnt == 6 && a.timeout == 14 && a.max_rd_atomic == 1);
	ck_assert_int_eq(vs_qp_modify(r->qp, &a, mask), VS_OK);
	ck_assert_int_eq(rig_post(r, VS_WR_SEND, 1, 0, 8), VS_OK);
	rig_expect(r, VS_OP_RC_SEND_ONLY, RIG_DUT_PSN);
	rig_free(r);
}
END_TEST

START_TEST(cm_022_mads_go_the_way_the_data_goes)
{
	static const struct rig_opt o[] = {{.stay_in_reset = true, .ipv6 = true},
					   {.stay_in_reset = true, .rocev1 = true},
					   {.stay_in_reset = true, .ib = true},
					   {.stay_in_reset = true, .ib_grh = true}};
	static const enum vs_encap encap[] = {VS_ENCAP_ROCEV2_IPV6, VS_ENCAP_ROCEV1, VS_ENCAP_IB, VS_ENCAP_IB_GRH};
	struct rig *r = rig_new(&o[_i]);
	uint32_t id;
	struct vs_pkt p;

	established(r, &id);
	in_dreq(r, id, vs_qp_num(r->qp), 600);
	ck_assert(rig_out(r, &p));
	ck_assert_int_eq(p.encap, encap[_i]);
	rig_free(r);
}
END_TEST

/* ---- SIDR ---- */

START_TEST(cm_023_sidr_asks_for_a_qp)
{
	struct rig *r = rig_new(&reset);
	struct vs_conn_param p = param(r);
	struct vs_cm_msg m, rep = {.attribute = VS_CM_ATTR_SIDR_REP};
	struct vs_conn_event e;
	int err;

	p.service_id = 0x0000000001111b58ull;
	ck_assert_ptr_nonnull(vs_sidr_resolve(r->dev, &p, 5, &err));
	m = expect_mad(r, VS_CM_ATTR_SIDR_REQ, NULL);
	ck_assert_uint_eq(m.sidr_req.service_id, p.service_id);
	rig_advance(r, vs_cm_timeout_ns(18) + 1000);
	ck_assert_uint_eq(expect_mad(r, VS_CM_ATTR_SIDR_REQ, NULL).sidr_req.request_id, m.sidr_req.request_id);
	rep.sidr_rep.request_id = m.sidr_req.request_id;
	rep.sidr_rep.qpn = 0x4567;
	rep.sidr_rep.qkey = 0x1234567;
	in_mad(r, &rep, 1);
	e = expect_event(r, VS_CONN_EV_SIDR_RESPONSE);
	ck_assert(e.status == 0 && e.peer.qpn == 0x4567 && e.peer.qkey == 0x1234567 && e.cookie == 5);
	rig_free(r);
}
END_TEST

START_TEST(cm_023_a_sidr_request_is_offered_and_answered)
{
	struct rig *r = rig_new(&reset);
	struct vs_conn_param p = param(r);
	struct vs_cm_msg m = {.attribute = VS_CM_ATTR_SIDR_REQ}, rep;
	struct vs_conn_event e;
	int err, i;

	m.sidr_req.request_id = 99;
	m.sidr_req.service_id = SERVICE;
	in_mad(r, &m, 5);
	ck_assert_uint_eq(expect_mad(r, VS_CM_ATTR_SIDR_REP, NULL).sidr_rep.status, 1); /* nobody listens */
	vs_listen(r->dev, SERVICE, 8, &err);
	in_mad(r, &m, 6);
	e = expect_event(r, VS_CONN_EV_SIDR_REQUEST);
	p.qkey = 0x55;
	ck_assert_int_eq(vs_sidr_reply(e.conn, 0, &p), VS_OK);
	for (i = 0; i < 2; i++) {
		rep = expect_mad(r, VS_CM_ATTR_SIDR_REP, NULL);
		ck_assert(rep.sidr_rep.request_id == 99 && rep.sidr_rep.qpn == vs_qp_num(r->qp) &&
			  rep.sidr_rep.qkey == 0x55);
		in_mad(r, &m, 6); /* the reply got lost */
	}
	expect_no_event(r);
	rig_free(r);
}
END_TEST

START_TEST(cm_024_mads_of_other_versions_and_classes_are_dropped)
{
	struct rig *r = rig_new(&reset);
	struct vs_pkt p = rig_pkt(r, VS_OP_UD_SEND_ONLY, 3);
	struct vs_cm_msg m = req();
	uint8_t mad[VS_MAD_LEN];
	struct vs_mad h = {1, 7, 2, 3, 0, 0, 500, VS_CM_ATTR_REQ, 0, 0};
	int err;

	vs_listen(r->dev, SERVICE, 0, &err);
	switch (_i) {
	case 0:
		h.class_version = 1;
		break;
	case 1:
		h.base_version = 2;
		break;
	case 2:
		h.method = 1;
		break;
	case 3:
		h.mgmt_class = 3;
		break;
	case 4:
		h.attribute_id = 0x77;
		break;
	default:
		break;
	}
	vs_mad_build(&h, mad);
	ck_assert_int_eq(vs_cm_build(&m, mad + VS_MAD_HDR_LEN), VS_OK);
	p.bth.destqp = VS_QPN_GSI;
	p.ext.deth.qkey = _i == 5 ? 0x11111111 : VS_GSI_QKEY;
	p.payload = mad;
	p.payload_len = _i == 6 ? 200 : VS_MAD_LEN;
	rig_in(r, &p);
	rig_expect_silence(r);
	if (_i == 7)
		expect_event(r, VS_CONN_EV_REQUEST); /* the same without a fault is taken */
	expect_no_event(r);
	rig_free(r);
}
END_TEST

START_TEST(cm_025_late_packets_of_an_old_connection_reach_nobody)
{
	struct rig *r = rig_new(&reset);
	uint32_t id, old = vs_qp_num(r->qp);
	struct vs_qp_init init = {.type = VS_QPT_RC, .send_cq = r->scq, .recv_cq = r->rcq, .cap = {8, 8, 1, 1, 0}};
	struct vs_pkt p;

	established(r, &id);
	in_dreq(r, id, old, 600);
	rig_drain(r);
	ck_assert_int_eq(vs_qp_destroy(r->qp), VS_OK);
	r->qp = rig_qp(r, &init);
	ck_assert_uint_ne(vs_qp_num(r->qp), old); /* numbers are drawn at random, not reused at once */
	rig_to(r, r->qp, VS_QPS_RTS);
	rig_post_recv(r, 1, 0, 64);
	p = rig_pkt(r, VS_OP_RC_SEND_ONLY, RIG_PEER_PSN);
	p.bth.destqp = old;
	rig_in(r, &p);
	rig_expect_silence(r);
	rig_expect_no_wc(r);
	rig_free(r);
}
END_TEST

START_TEST(cm_a_connection_that_is_given_up_says_goodbye)
{
	struct rig *r = rig_new(&reset);
	uint32_t id;

	if (_i == 0) {
		vs_conn_destroy(offered(r));
		expect_mad(r, VS_CM_ATTR_REJ, NULL);
	} else {
		vs_conn_destroy(established(r, &id));
		expect_mad(r, VS_CM_ATTR_DREQ, NULL);
	}
	rig_advance(r, 600 * SEC);
	rig_drain(r);
	rig_advance(r, 600 * SEC);
	rig_expect_silence(r);
	expect_no_event(r);
	rig_free(r);
}
END_TEST

START_TEST(cm_a_lap_is_answered_alternate_paths_are_not_supported)
{
	struct rig *r = rig_new(&reset);
	struct vs_cm_msg m = {.attribute = VS_CM_ATTR_LAP};
	uint32_t id;

	established(r, &id);
	m.lap.local_comm_id = PEER_ID;
	m.lap.remote_comm_id = id;
	in_mad(r, &m, 700);
	m = expect_mad(r, VS_CM_ATTR_APR, NULL);
	ck_assert(m.apr.remote_comm_id == PEER_ID && m.apr.status == VS_CM_APR_UNSUPPORTED);
	rig_free(r);
}
END_TEST

START_TEST(cm_parameters_out_of_range_are_refused)
{
	struct rig *r = rig_new(&reset);
	struct vs_conn_param p = param(r);
	uint8_t big[200] = {0};
	int err;

	p.private_data = big;
	p.private_len = 93;
	ck_assert_ptr_null(vs_connect(r->dev, &p, 0, &err));
	ck_assert(err == VS_ERR_INVAL && vs_dev_refusal(r->dev) == VS_REASON_CONN_PARAM);
	p.private_len = 92;
	p.retry_count = 8;
	ck_assert_ptr_null(vs_connect(r->dev, &p, 0, &err));
	p.retry_count = 7;
	p.path.sgid_index = 9;
	ck_assert_ptr_null(vs_connect(r->dev, &p, 0, &err));
	ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_GID_INDEX);
	ck_assert_ptr_nonnull(vs_listen(r->dev, 1, 0, &err));
	ck_assert_ptr_null(vs_listen(r->dev, 1, 0, &err));
	ck_assert_int_eq(err, VS_ERR_BUSY);
	rig_expect_silence(r);
	rig_free(r);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("conn");
	TCase *tc = tcase_create("set up");

	tcase_add_test(tc, cm_001_002_021_the_req_says_everything);
	tcase_add_test(tc, cm_003_004_a_req_is_offered_accepted_and_established);
	tcase_add_test(tc, cm_004_the_active_side_answers_the_rep_by_an_rtu);
	tcase_add_test(tc, cm_005_nobody_listens);
	tcase_add_test(tc, cm_006_the_consumer_rejects);
	tcase_add_test(tc, cm_006_being_rejected_is_an_event);
	tcase_add_test(tc, cm_007_a_req_that_is_not_answered_is_sent_again);
	tcase_add_test(tc, cm_008_a_duplicate_req_draws_the_same_rep_and_no_second_connection);
	tcase_add_test(tc, cm_008_a_duplicate_req_after_an_mra_draws_the_mra);
	tcase_add_loop_test(tc, cm_009_a_req_with_the_ids_or_the_qp_of_a_living_connection_is_stale, 0, 2);
	tcase_add_loop_test(tc, cm_010_a_rep_is_sent_again_until_the_rtu, 0, 2);
	tcase_add_test(tc, cm_010_a_duplicate_rep_draws_the_rtu_again);
	tcase_add_test(tc, cm_011_data_before_the_rtu_establishes);
	tcase_add_test(tc, cm_012_an_mra_gives_more_time);
	suite_add_tcase(s, tc);

	tc = tcase_create("end");
	tcase_add_test(tc, cm_013_a_dreq_ends_it);
	tcase_add_loop_test(tc, cm_013_disconnect_sends_a_dreq_until_the_drep, 0, 2);
	tcase_add_test(tc, cm_014_a_dreq_for_a_connection_that_is_not_there);
	tcase_add_test(tc, cm_015_a_dreq_that_names_another_qp_is_ignored);
	tcase_add_test(tc, cm_025_late_packets_of_an_old_connection_reach_nobody);
	tcase_add_loop_test(tc, cm_a_connection_that_is_given_up_says_goodbye, 0, 2);
	suite_add_tcase(s, tc);

	tc = tcase_create("terms");
	tcase_add_test(tc, cm_016_a_path_mtu_that_we_do_not_have);
	tcase_add_test(tc, cm_017_resources_are_lowered_to_what_both_have);
	tcase_add_test(tc, cm_018_reasons_13_and_19_are_never_sent_on_roce);
	tcase_add_test(tc, cm_019_020_what_the_peer_said_goes_into_the_qp);
	tcase_add_loop_test(tc, cm_022_mads_go_the_way_the_data_goes, 0, 4);
	tcase_add_test(tc, cm_023_sidr_asks_for_a_qp);
	tcase_add_test(tc, cm_023_a_sidr_request_is_offered_and_answered);
	tcase_add_loop_test(tc, cm_024_mads_of_other_versions_and_classes_are_dropped, 0, 8);
	tcase_add_test(tc, cm_a_lap_is_answered_alternate_paths_are_not_supported);
	tcase_add_test(tc, cm_parameters_out_of_range_are_refused);
	suite_add_tcase(s, tc);
	return s;
}
