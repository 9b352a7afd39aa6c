/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_core_conn_life.c - the connection manager over time: timers to the nanosecond, retries, which REQ is a
 * duplicate and which is stale, and the limits of every queue.
 */
#include "cms.h"
#include "core/conn.h"

/* ---- timers ---- */

START_TEST(an_mra_adds_the_service_time_to_the_timeout)
{
	struct rig *r = rig_new(&reset);
	struct vs_conn *c;
	struct vs_cm_msg m;
	uint32_t id;
	unsigned i;

	c = _i == 0 ? connecting(r, &m, NULL) : accepted(r, &id);
	r->now += 5000;
	in_mra(r, c, _i == 0 ? VS_CM_MRA_OF_REQ : VS_CM_MRA_OF_REP, 21);
	ck_assert_uint_eq(vs_dev_deadline(r->dev), r->now + vs_cm_timeout_ns(21) + TIMEOUT);
	r->now += 5000;
	in_mra(r, c, _i == 0 ? VS_CM_MRA_OF_REQ : VS_CM_MRA_OF_REP, 22); /* and once more */
	ck_assert_uint_eq(vs_dev_deadline(r->dev), r->now + vs_cm_timeout_ns(22) + TIMEOUT);
	rig_advance(r, vs_cm_timeout_ns(22) + TIMEOUT);
	for (i = _i == 0 ? 4 : 3; i > 0; i--) { /* the peer took too long: all tries are still there */
		expect_mad(r, _i == 0 ? VS_CM_ATTR_REQ : VS_CM_ATTR_REP, NULL);
		ck_assert_uint_eq(vs_dev_deadline(r->dev), r->now + TIMEOUT);
		expect_no_event(r);
		rig_advance(r, TIMEOUT);
	}
	rig_expect_silence(r);
	ck_assert_ptr_eq(expect_event(r, VS_CONN_EV_UNREACHABLE).conn, c);
	ck_assert_int_eq(vs_conn_state(c), VS_CONN_CLOSED);
	ck_assert_uint_eq(vs_dev_deadline(r->dev), VS_NEVER);
	rig_free(r);
}
END_TEST

START_TEST(without_retries_one_timeout_is_the_end)
{
	struct rig *r = rig_new(&reset);
	struct vs_conn_param p = param(r);
	struct vs_conn_event e;
	int err;

	p.max_cm_retries = 0;
	p.cm_response_timeout = 7;
	ck_assert_ptr_nonnull(_i == 0 ? vs_connect(r->dev, &p, 9, &err) : vs_sidr_resolve(r->dev, &p, 9, &err));
	rig_drain(r);
	ck_assert_uint_eq(vs_dev_deadline(r->dev), r->now + vs_cm_timeout_ns(7));
	rig_advance(r, vs_cm_timeout_ns(7));
	rig_expect_silence(r);
	e = expect_event(r, VS_CONN_EV_UNREACHABLE);
	ck_assert(e.cookie == 9 && e.status == 0 && e.peer.private_len == 0);
	rig_free(r);
}
END_TEST

START_TEST(what_is_established_waits_for_nothing)
{
	struct rig *r = rig_new(&reset);
	struct vs_cm_msg m;
	struct vs_conn *c;
	struct vs_qp_attr a;
	uint32_t id, mask;

	switch (_i) {
	case 0: /* an RTU came */
		established(r, &id);
		break;
	case 1: /* an RTU was sent */
		c = connecting(r, &m, NULL);
		in_rep(r, c->local_id, 1);
		ck_assert_uint_eq(vs_dev_deadline(r->dev), VS_NEVER); /* the REP stops the clock */
		ck_assert_int_eq(vs_conn_establish(c), VS_OK);
		break;
	default: /* data came before the RTU */
		c = accepted(r, &id);
		ck_assert_int_eq(vs_conn_qp_attr(c, VS_QPS_INIT, &a, &mask), VS_OK);
		ck_assert_int_eq(vs_qp_modify(r->qp, &a, mask), VS_OK);
		ck_assert_int_eq(vs_conn_qp_attr(c, VS_QPS_RTR, &a, &mask), VS_OK);
		ck_assert_int_eq(vs_qp_modify(r->qp, &a, mask), VS_OK);
		if (_i == 3)
			in_mra(r, c, VS_CM_MRA_OF_REP, 20);
		rig_in_write(r, VS_OP_RC_WRITE_ONLY, RIG_PEER_PSN, 0, 0, 0, 0);
		ck_assert_int_eq(vs_conn_state(c), VS_CONN_ESTABLISHED);
		ck_assert_uint_eq(expect_event(r, VS_CONN_EV_ESTABLISHED).peer.private_len, 0);
		break;
	}
	ck_assert_uint_eq(vs_dev_deadline(r->dev), VS_NEVER);
	rig_free(r);
}
END_TEST

START_TEST(data_establishes_the_connection_of_its_qp_alone)
{
	struct rig *r = rig_new(&reset);
	struct vs_conn_param p = param(r);
	struct vs_cm_msg m = req();
	struct vs_conn *other, *ours, *active;
	struct vs_qp_attr a;
	uint32_t mask;
	int err;

	active = vs_connect(r->dev, &p, 0, &err); /* names our QP too, but waits for a REP */
	ours = offered(r);
	m.req.local_comm_id = PEER_ID + 1;
	m.req.qpn = 0x777;
	in_mad(r, &m, 501);
	other = expect_event(r, VS_CONN_EV_REQUEST).conn;
	p.qpn ^= 1;
	ck_assert_int_eq(vs_accept(other, &p), VS_OK);
	p.qpn ^= 1;
	ck_assert_int_eq(vs_accept(ours, &p), VS_OK);
	ck_assert_int_eq(vs_conn_qp_attr(ours, VS_QPS_INIT, &a, &mask), VS_OK);
	ck_assert_int_eq(vs_qp_modify(r->qp, &a, mask), VS_OK);
	ck_assert_int_eq(vs_conn_qp_attr(ours, VS_QPS_RTR, &a, &mask), VS_OK);
	ck_assert_int_eq(vs_qp_modify(r->qp, &a, mask), VS_OK);
	rig_in_write(r, VS_OP_RC_WRITE_ONLY, RIG_PEER_PSN, 0, 0, 0, 0);
	ck_assert_ptr_eq(expect_event(r, VS_CONN_EV_ESTABLISHED).conn, ours);
	expect_no_event(r);
	ck_assert_int_eq(vs_conn_state(ours), VS_CONN_ESTABLISHED);
	ck_assert_int_eq(vs_conn_state(other), VS_CONN_REP_SENT);
	ck_assert_int_eq(vs_conn_state(active), VS_CONN_REQ_SENT);
	rig_free(r);
}
END_TEST

START_TEST(time_wait_lasts_twice_the_ack_timeout_of_who_asked)
{
	struct rig *r = rig_new(&reset);
	struct vs_cm_msg m, drep = {.attribute = VS_CM_ATTR_DREP};
	struct vs_conn *c;
	uint32_t id;
	uint64_t wait;

	if (_i == 0) { /* ours: code 14 */
		c = connecting(r, &m, NULL);
		in_rep(r, c->local_id, 1);
		ck_assert_int_eq(vs_conn_establish(c), VS_OK);
		expect_event(r, VS_CONN_EV_RESPONSE);
		expect_event(r, VS_CONN_EV_ESTABLISHED);
		wait = 2 * vs_cm_timeout_ns(14);
	} else { /* the peer's: code 15 */
		c = established(r, &id);
		wait = 2 * vs_cm_timeout_ns(15);
	}
	ck_assert_int_eq(vs_disconnect(c), VS_OK);
	rig_drain(r);
	drep.drep.local_comm_id = PEER_ID;
	drep.drep.remote_comm_id = c->local_id;
	in_mad(r, &drep, 1);
	ck_assert_uint_eq(expect_event(r, VS_CONN_EV_DISCONNECTED).status, 0);
	ck_assert_uint_eq(vs_dev_deadline(r->dev), r->now + wait);
	rig_advance(r, wait - 1);
	expect_no_event(r);
	rig_advance(r, 1);
	ck_assert_uint_eq(expect_event(r, VS_CONN_EV_TIMEWAIT_EXIT).status, 0);
	ck_assert_int_eq(vs_conn_state(c), VS_CONN_CLOSED);
	rig_expect_silence(r);
	rig_free(r);
}
END_TEST

START_TEST(a_dreq_is_sent_as_often_as_its_side_agreed)
{
	struct rig *r = rig_new(&reset);
	struct vs_conn_param p = param(r);
	unsigned n = 0, expected;
	struct vs_conn *c;
	uint32_t id;
	uint64_t timeout;
	int err;

	if (_i == 0) {
		p.cm_response_timeout = 12;
		p.max_cm_retries = 6;
		c = vs_connect(r->dev, &p, 0, &err);
		in_rep(r, c->local_id, 1);
		ck_assert_int_eq(vs_conn_establish(c), VS_OK);
		expect_event(r, VS_CONN_EV_RESPONSE);
		expect_event(r, VS_CONN_EV_ESTABLISHED);
		timeout = vs_cm_timeout_ns(12);
		expected = 7;
	} else {
		c = established(r, &id);
		timeout = TIMEOUT;
		expected = 4; /* the REQ said 3 retries */
	}
	rig_drain(r);
	ck_assert_int_eq(vs_disconnect(c), VS_OK);
	while (vs_conn_state(c) == VS_CONN_DREQ_SENT) {
		expect_mad(r, VS_CM_ATTR_DREQ, NULL);
		ck_assert_uint_eq(vs_dev_deadline(r->dev), r->now + timeout);
		rig_advance(r, timeout);
		n++;
	}
	ck_assert_uint_eq(n, expected);
	ck_assert_int_eq(vs_conn_state(c), VS_CONN_TIMEWAIT);
	ck_assert_uint_eq(expect_event(r, VS_CONN_EV_DISCONNECTED).status, VS_CONN_NO_ANSWER);
	rig_free(r);
}
END_TEST

/* Whoever knows that the peer's process is gone says what its host would have said. */
START_TEST(a_peer_that_is_gone_ends_what_waits_for_it)
{
	static const struct {
		enum vs_conn_event_type type;
		uint32_t status;
		enum vs_conn_state after;
	} end[] = {{VS_CONN_EV_REJECTED, VS_CM_REJ_SERVICE_ID, VS_CONN_CLOSED},
		   {VS_CONN_EV_SIDR_RESPONSE, VS_CM_SIDR_UNSUPPORTED, VS_CONN_CLOSED},
		   {VS_CONN_EV_DISCONNECTED, 0, VS_CONN_TIMEWAIT},
		   {VS_CONN_EV_DISCONNECTED, 0, VS_CONN_TIMEWAIT},
		   {VS_CONN_EV_DISCONNECTED, 0, VS_CONN_TIMEWAIT}};
	struct rig *r = rig_new(&reset);
	struct vs_conn_param p = param(r);
	struct vs_conn_event e;
	struct vs_conn *c;
	uint32_t id;
	int err;

	if (_i == 0)
		c = vs_connect(r->dev, &p, 0, &err);
	else if (_i == 1)
		c = vs_sidr_resolve(r->dev, &p, 0, &err);
	else
		c = _i == 2 ? accepted(r, &id) : established(r, &id);
	if (_i == 4)
		ck_assert_int_eq(vs_disconnect(c), VS_OK);
	rig_drain(r);
	vs_conn_peer_gone(c);
	e = expect_event(r, end[_i].type);
	ck_assert(e.conn == c && e.status == end[_i].status);
	ck_assert_int_eq(vs_conn_state(c), end[_i].after);
	vs_conn_peer_gone(c); /* once is enough */
	expect_no_event(r);
	rig_advance(r, 600 * SEC);
	if (end[_i].after == VS_CONN_TIMEWAIT)
		expect_event(r, VS_CONN_EV_TIMEWAIT_EXIT);
	expect_no_event(r);
	rig_expect_silence(r);
	rig_free(r);
}
END_TEST

START_TEST(a_req_says_uc_and_its_attributes_have_no_retries)
{
	static const uint32_t rc_alone = VS_QP_MAX_DEST_RD_ATOMIC | VS_QP_MIN_RNR_TIMER | VS_QP_TIMEOUT |
					 VS_QP_RETRY_CNT | VS_QP_RNR_RETRY | VS_QP_MAX_QP_RD_ATOMIC;
	struct rig *r = rig_new(&reset);
	struct vs_conn_param p = param(r);
	struct vs_cm_msg m = req();
	struct vs_qp_attr a;
	struct vs_conn *c;
	uint32_t rtr, rts;
	int err;

	if (_i == 0) {
		p.uc = true;
		c = vs_connect(r->dev, &p, 0, &err);
		m = expect_mad(r, VS_CM_ATTR_REQ, NULL);
		ck_assert_uint_eq(m.req.transport, 1);
	} else {
		ck_assert_ptr_nonnull(vs_listen(r->dev, SERVICE, 0, &err));
		m.req.transport = 1;
		in_mad(r, &m, 500);
		c = expect_event(r, VS_CONN_EV_REQUEST).conn;
	}
	ck_assert_int_eq(vs_conn_qp_attr(c, VS_QPS_RTR, &a, &rtr), VS_OK);
	ck_assert_int_eq(vs_conn_qp_attr(c, VS_QPS_RTS, &a, &rts), VS_OK);
	ck_assert_uint_eq((rtr | rts) & rc_alone, 0);
	ck_assert((rtr & VS_QP_RQ_PSN) && (rts & VS_QP_SQ_PSN));
	rig_free(r);
}
END_TEST

/* ---- the same again, or another? ---- */

START_TEST(a_req_is_a_duplicate_by_ids_node_service_and_qp)
{
	enum { SAME, STALE, OTHER };
	static const struct {
		uint32_t id, qpn;
		uint64_t guid, service;
		int is;
	} t[] = {
		{PEER_ID, RIG_PEER_QPN, PEER_GUID, SERVICE, SAME},
		{PEER_ID, RIG_PEER_QPN, PEER_GUID, SERVICE + 1, STALE},
		{PEER_ID, RIG_PEER_QPN + 1, PEER_GUID, SERVICE, STALE},
		{PEER_ID + 1, RIG_PEER_QPN, PEER_GUID, SERVICE, STALE},
		{PEER_ID + 1, RIG_PEER_QPN + 1, PEER_GUID, SERVICE, OTHER},
		{PEER_ID, RIG_PEER_QPN, PEER_GUID + 1, SERVICE, OTHER}, /* another node */
	};
	struct rig *r = rig_new(&reset);
	struct vs_cm_msg m = req();
	uint32_t id;
	struct vs_conn *c = accepted(r, &id);
	int err;

	ck_assert_ptr_nonnull(vs_listen(r->dev, SERVICE + 1, 0x12, &err));
	m.req.local_comm_id = t[_i].id;
	m.req.qpn = t[_i].qpn;
	m.req.local_ca_guid = t[_i].guid;
	m.req.service_id = t[_i].service;
	in_mad(r, &m, 900);
	switch (t[_i].is) {
	case SAME:
		ck_assert_uint_eq(expect_mad(r, VS_CM_ATTR_REP, NULL).rep.local_comm_id, id);
		expect_no_event(r);
		break;
	case STALE:
		m = expect_mad(r, VS_CM_ATTR_REJ, NULL);
		ck_assert(m.rej.reason == 10 && m.rej.remote_comm_id == t[_i].id && m.rej.info_len == 0);
		expect_no_event(r);
		break;
	default:
		ck_assert_ptr_ne(expect_event(r, VS_CONN_EV_REQUEST).conn, c);
		break;
	}
	rig_expect_silence(r);
	ck_assert_int_eq(vs_conn_state(c), VS_CONN_REP_SENT); /* not established: not ended either */
	rig_free(r);
}
END_TEST

START_TEST(ids_and_qp_of_what_is_over_may_be_used_again)
{
	struct rig *r = rig_new(&reset);
	struct vs_cm_msg m = req();
	uint32_t id;
	struct vs_conn *c = established(r, &id);

	in_dreq(r, id, vs_qp_num(r->qp), 600);
	expect_mad(r, VS_CM_ATTR_DREP, NULL);
	expect_event(r, VS_CONN_EV_DISCONNECTED);
	if (_i == 0) { /* in time-wait: another id may speak for the QP */
		m.req.local_comm_id = PEER_ID + 1;
	} else { /* closed: everything may come again */
		rig_advance(r, 600 * SEC);
		expect_event(r, VS_CONN_EV_TIMEWAIT_EXIT);
	}
	in_mad(r, &m, 900);
	ck_assert_ptr_ne(expect_event(r, VS_CONN_EV_REQUEST).conn, c);
	rig_expect_silence(r);
	rig_free(r);
}
END_TEST

START_TEST(the_ids_decide_before_the_qp)
{
	struct rig *r = rig_new(&reset);
	struct vs_cm_msg m = req();
	uint32_t id;

	established(r, &id);
	m.req.local_comm_id = PEER_ID + 1;
	m.req.qpn = 0x777;
	in_mad(r, &m, 501);
	m.req.service_id = SERVICE;
	ck_assert_int_eq(vs_conn_mra(expect_event(r, VS_CONN_EV_REQUEST).conn, 20), VS_OK);
	expect_mad(r, VS_CM_ATTR_MRA, NULL);
	in_mad(r, &m, 501); /* a duplicate of the second one */
	expect_mad(r, VS_CM_ATTR_MRA, NULL);
	m.req.qpn = RIG_PEER_QPN; /* id of the second, QP of the first: stale, and the second is what it is about */
	in_mad(r, &m, 502);
	ck_assert_uint_eq(expect_mad(r, VS_CM_ATTR_REJ, NULL).rej.reason, 10);
	rig_expect_silence(r); /* the first one lives */
	rig_free(r);
}
END_TEST

START_TEST(a_req_of_another_host_is_another)
{
	struct rig *r = rig_new(&reset);
	struct vs_cm_msg m = req();
	struct vs_pkt p = rig_pkt(r, VS_OP_UD_SEND_ONLY, 3);
	struct vs_mad h = {1, VS_MAD_CLASS_CM, 2, 3, 0, 0, 500, VS_CM_ATTR_REQ, 0, 0};
	struct vs_conn *c = offered(r);
	uint8_t mad[VS_MAD_LEN];

	vs_mad_build(&h, mad);
	ck_assert_int_eq(vs_cm_build(&m, mad + VS_MAD_HDR_LEN), VS_OK);
	p.ipv4.src[3] = 9;
	p.bth.destqp = VS_QPN_GSI;
	p.ext.deth.qkey = VS_GSI_QKEY;
	p.payload = mad;
	p.payload_len = sizeof(mad);
	rig_in(r, &p);
	ck_assert_ptr_ne(expect_event(r, VS_CONN_EV_REQUEST).conn, c);
	rig_free(r);
}
END_TEST

START_TEST(transports_and_mtus_that_are_taken_and_not)
{
	static const struct {
		uint8_t transport, mtu;
		uint16_t reason; /* 0: taken */
	} t[] = {{0, 1, 0},  {1, 5, 0},  {2, 3, VS_CM_REJ_TRANSPORT_TYPE}, {3, 3, VS_CM_REJ_TRANSPORT_TYPE},
		 {0, 0, 26}, {0, 6, 26}, {2, 6, VS_CM_REJ_TRANSPORT_TYPE}};
	struct rig *r = rig_new(&reset);
	struct vs_cm_msg m = req();
	int err;

	ck_assert_ptr_nonnull(vs_listen(r->dev, SERVICE, 0, &err));
	m.req.transport = t[_i].transport & 3;
	m.req.path_mtu = t[_i].mtu;
	in_mad(r, &m, 500);
	if (t[_i].reason == 0) {
		ck_assert_int_eq(expect_event(r, VS_CONN_EV_REQUEST).peer.path_mtu, t[_i].mtu);
	} else {
		m = expect_mad(r, VS_CM_ATTR_REJ, NULL);
		ck_assert_uint_eq(m.rej.reason, t[_i].reason);
		ck_assert_uint_eq(m.rej.info_len, t[_i].reason == 26); /* the MTU that would do */
		ck_assert_uint_eq(m.rej.ari[0], t[_i].reason == 26 ? VS_MTU_4096 : 0);
		expect_no_event(r);
	}
	rig_free(r);
}
END_TEST

START_TEST(a_sidr_request_is_a_duplicate_by_id_and_transaction)
{
	struct rig *r = rig_new(&reset);
	int err;

	ck_assert_ptr_nonnull(vs_listen(r->dev, SERVICE, 0, &err));
	in_sidr_req(r, 99, 5);
	expect_event(r, VS_CONN_EV_SIDR_REQUEST);
	in_sidr_req(r, 99, 5);
	expect_no_event(r);
	in_sidr_req(r, 98, 5);
	expect_event(r, VS_CONN_EV_SIDR_REQUEST);
	in_sidr_req(r, 99, 6);
	expect_event(r, VS_CONN_EV_SIDR_REQUEST);
	rig_expect_silence(r);
	rig_free(r);
}
END_TEST

START_TEST(after_unlisten_nobody_is_there)
{
	struct rig *r = rig_new(&reset);
	struct vs_cm_msg m = req();
	struct vs_listener *l;
	int err;

	l = vs_listen(r->dev, SERVICE, 0, &err);
	ck_assert_int_eq(err, VS_OK);
	ck_assert_ptr_null(vs_listen(r->dev, SERVICE, 0, &err));
	ck_assert(err == VS_ERR_BUSY && vs_dev_refusal(r->dev) == VS_REASON_SERVICE_TAKEN);
	vs_unlisten(l);
	in_mad(r, &m, 500);
	ck_assert_uint_eq(expect_mad(r, VS_CM_ATTR_REJ, NULL).rej.reason, 8);
	ck_assert_ptr_nonnull(vs_listen(r->dev, SERVICE, 0, &err)); /* free again */
	rig_free(r);
}
END_TEST

/* ---- limits ---- */

START_TEST(there_are_as_many_connections_as_qps)
{
	struct rig_opt o = reset;
	struct rig *r;
	struct vs_conn_param p;
	struct vs_conn *c[5];
	int err, i;

	o.dev.max_qp = 3; /* rounded up to 4 */
	r = rig_new(&o);
	p = param(r);
	for (i = 0; i < 4; i++) {
		c[i] = vs_connect(r->dev, &p, 0, &err);
		ck_assert_ptr_nonnull(c[i]);
	}
	ck_assert_ptr_null(vs_connect(r->dev, &p, 0, &err));
	ck_assert(err == VS_ERR_NOSPACE && vs_dev_refusal(r->dev) == VS_REASON_LIMIT_CONN);
	ck_assert_ptr_null(vs_sidr_resolve(r->dev, &p, 0, &err));
	ck_assert_int_eq(err, VS_ERR_NOSPACE);
	for (i = 0; i < 4; i++) { /* each is found by its own id */
		in_rep(r, c[i]->local_id, 1);
		ck_assert_ptr_eq(expect_event(r, VS_CONN_EV_RESPONSE).conn, c[i]);
	}
	vs_conn_destroy(c[1]); /* rejects the REP, time-wait ... */
	ck_assert_ptr_null(vs_connect(r->dev, &p, 0, &err));
	rig_advance(r, 600 * SEC); /* ... and is gone */
	ck_assert_ptr_nonnull(vs_connect(r->dev, &p, 0, &err));
	rig_free(r);
}
END_TEST

START_TEST(a_listening_device_has_room_for_as_many_requests_as_it_was_told)
{
	static const struct rig_opt few = {.stay_in_reset = true, .dev = {.cm_backlog = 3}};
	const int room = _i == 0 ? 64 : 3;
	struct rig *r = rig_new(_i == 0 ? &reset : &few);
	struct vs_conn_param p = param(r);
	struct vs_cm_msg m = req();
	struct vs_conn *first = NULL;
	int err, i;

	ck_assert_ptr_nonnull(vs_listen(r->dev, SERVICE, 0, &err));
	for (i = 0; i <= room; i++) {
		m.req.local_comm_id = PEER_ID + (uint32_t)i;
		m.req.qpn = 0x1000 + (uint32_t)i;
		in_mad(r, &m, 500);
		if (i == 0)
			first = expect_event(r, VS_CONN_EV_REQUEST).conn;
		else if (i < room)
			expect_event(r, VS_CONN_EV_REQUEST);
	}
	expect_no_event(r); /* the last: as if it was lost */
	rig_expect_silence(r);
	ck_assert_int_eq(vs_accept(first, &p), VS_OK);
	expect_mad(r, VS_CM_ATTR_REP, NULL);
	in_mad(r, &m, 500); /* it comes again */
	expect_event(r, VS_CONN_EV_REQUEST);
	rig_free(r);
}
END_TEST

START_TEST(requests_are_dropped_while_events_pile_up)
{
	struct rig *r = rig_new(&reset);
	struct vs_conn_event e;
	struct vs_cm_msg m = req();
	int err;

	ck_assert_ptr_nonnull(vs_listen(r->dev, SERVICE, 0, &err));
	r->dev->conn->event_tail = r->dev->conn->event_head + 768; /* preset: 3/4 of the queue */
	in_mad(r, &m, 500);
	in_sidr_req(r, 99, 5);
	rig_expect_silence(r);
	ck_assert_uint_eq(r->dev->conn->count, 0);
	ck_assert_int_eq(vs_dev_poll_conn(r->dev, &e), 1);
	in_mad(r, &m, 500);
	ck_assert_uint_eq(r->dev->conn->count, 1);
	ck_assert_int_eq(vs_dev_poll_conn(r->dev, &e), 1);
	in_sidr_req(r, 99, 5);
	ck_assert_uint_eq(r->dev->conn->count, 2);
	rig_free(r);
}
END_TEST

START_TEST(a_full_event_queue_loses_the_newest)
{
	struct rig *r = rig_new(&reset);
	struct vs_cm_msg m;
	struct vs_conn *c = connecting(r, &m, NULL);
	struct vs_conn_event e;
	unsigned n = 0;
	bool got = false;

	r->dev->conn->event_tail = r->dev->conn->event_head + (_i == 0 ? 1024 : 1023);
	in_rep(r, c->local_id, 1);
	ck_assert_int_eq(vs_conn_state(c), VS_CONN_REP_RCVD);
	while (vs_dev_poll_conn(r->dev, &e)) {
		got |= e.type == VS_CONN_EV_RESPONSE && e.conn == c;
		n++;
	}
	ck_assert_uint_eq(n, 1024);
	ck_assert(got == (_i == 1));
	rig_free(r);
}
END_TEST

START_TEST(a_full_mad_queue_loses_the_newest)
{
	struct rig *r = rig_new(&reset);
	unsigned i;

	for (i = 0; i < 300; i++)
		in_dreq(r, i + 1, 5, 600 + i);
	for (i = 0; i < 256; i++)
		ck_assert_uint_eq(expect_mad(r, VS_CM_ATTR_DREP, NULL).drep.local_comm_id, i + 1);
	ck_assert(!vs_dev_has_output(r->dev));
	rig_expect_silence(r);
	rig_free(r);
}
END_TEST

START_TEST(events_of_a_connection_go_with_it_and_the_others_stay)
{
	struct rig *r = rig_new(&reset);
	struct vs_conn_param p = param(r);
	struct vs_cm_msg rej = {.attribute = VS_CM_ATTR_REJ};
	struct vs_conn *c[3];
	int err, i;

	for (i = 0; i < 3; i++) {
		c[i] = vs_connect(r->dev, &p, (uint64_t)i, &err);
		rej.rej.remote_comm_id = c[i]->local_id;
		rej.rej.reason = (uint16_t)(20 + i);
		in_mad(r, &rej, 1);
	}
	vs_conn_destroy(c[1]);
	for (i = 0; i < 3; i += 2) {
		struct vs_conn_event e = expect_event(r, VS_CONN_EV_REJECTED);

		ck_assert(e.conn == c[i] && e.cookie == (uint64_t)i && e.status == 20u + (unsigned)i);
	}
	expect_no_event(r);
	rig_free(r);
}
END_TEST

START_TEST(a_connection_that_is_used_again_remembers_nothing)
{
	struct rig_opt o = reset;
	struct rig *r;
	struct vs_conn_param p;
	struct vs_cm_msg m;
	struct vs_conn *c, *old;
	int err;

	o.dev.max_qp = 1;
	r = rig_new(&o);
	p = param(r);
	old = connecting(r, &m, NULL);
	in_rep(r, old->local_id, 1);
	ck_assert_int_eq(vs_conn_mra(old, 20), VS_OK);
	ck_assert_int_eq(vs_reject(old, 28, NULL, 0), VS_OK);
	vs_conn_destroy(old);
	rig_advance(r, 600 * SEC);
	rig_drain(r);
	c = vs_sidr_resolve(r->dev, &p, 4, &err);
	ck_assert_ptr_nonnull(c);
	ck_assert(!c->orphan && c->remote_id == 0 && c->remote_guid == 0 && c->peer.qpn == 0);
	ck_assert_int_eq(vs_conn_state(c), VS_CONN_SIDR_REQ_SENT);
	expect_mad(r, VS_CM_ATTR_SIDR_REQ, NULL);
	rig_free(r);
}
END_TEST

START_TEST(without_a_connection_manager_every_call_is_refused)
{
	struct rig_opt o = {0};
	struct vs_conn_param p;
	struct vs_conn_event e;
	struct vs_cm_msg m = req();
	struct rig *r;
	int err;

	o.dev.cm_disabled = true;
	o.state = VS_QPS_RTR;
	r = rig_new(&o);
	p = param(r);
	ck_assert_ptr_null(vs_listen(r->dev, SERVICE, 0, &err));
	ck_assert(err == VS_ERR_UNSUPPORTED && vs_dev_refusal(r->dev) == VS_REASON_CONN_STATE);
	ck_assert_ptr_null(vs_connect(r->dev, &p, 0, &err));
	ck_assert(err == VS_ERR_INVAL && vs_dev_refusal(r->dev) == VS_REASON_CONN_STATE);
	ck_assert_ptr_null(vs_sidr_resolve(r->dev, &p, 0, &err));
	ck_assert_int_eq(vs_dev_poll_conn(r->dev, &e), 0);
	in_mad(r, &m, 500);
	rig_in_write(r, VS_OP_RC_WRITE_ONLY, RIG_PEER_PSN, 0, 0, 0, 0);
	rig_expect_async(r, VS_EVENT_COMM_EST);
	rig_expect_ack(r, RIG_PEER_PSN, 1);
	rig_expect_silence(r);
	rig_free(r);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("core conn life");
	TCase *tc = tcase_create("time");

	tcase_add_loop_test(tc, an_mra_adds_the_service_time_to_the_timeout, 0, 2);
	tcase_add_loop_test(tc, without_retries_one_timeout_is_the_end, 0, 2);
	tcase_add_loop_test(tc, what_is_established_waits_for_nothing, 0, 4);
	tcase_add_test(tc, data_establishes_the_connection_of_its_qp_alone);
	tcase_add_loop_test(tc, time_wait_lasts_twice_the_ack_timeout_of_who_asked, 0, 2);
	tcase_add_loop_test(tc, a_dreq_is_sent_as_often_as_its_side_agreed, 0, 2);
	tcase_add_loop_test(tc, a_peer_that_is_gone_ends_what_waits_for_it, 0, 5);
	tcase_add_loop_test(tc, a_req_says_uc_and_its_attributes_have_no_retries, 0, 2);
	suite_add_tcase(s, tc);

	tc = tcase_create("duplicates");
	tcase_add_loop_test(tc, a_req_is_a_duplicate_by_ids_node_service_and_qp, 0, 6);
	tcase_add_loop_test(tc, ids_and_qp_of_what_is_over_may_be_used_again, 0, 2);
	tcase_add_test(tc, the_ids_decide_before_the_qp);
	tcase_add_test(tc, a_req_of_another_host_is_another);
	tcase_add_loop_test(tc, transports_and_mtus_that_are_taken_and_not, 0, 7);
	tcase_add_test(tc, a_sidr_request_is_a_duplicate_by_id_and_transaction);
	tcase_add_test(tc, after_unlisten_nobody_is_there);
	suite_add_tcase(s, tc);

	tc = tcase_create("limits");
	tcase_add_test(tc, there_are_as_many_connections_as_qps);
	tcase_add_loop_test(tc, a_listening_device_has_room_for_as_many_requests_as_it_was_told, 0, 2);
	tcase_add_test(tc, requests_are_dropped_while_events_pile_up);
	tcase_add_loop_test(tc, a_full_event_queue_loses_the_newest, 0, 2);
	tcase_add_test(tc, a_full_mad_queue_loses_the_newest);
	tcase_add_test(tc, events_of_a_connection_go_with_it_and_the_others_stay);
	tcase_add_test(tc, a_connection_that_is_used_again_remembers_nothing);
	tcase_add_test(tc, without_a_connection_manager_every_call_is_refused);
	suite_add_tcase(s, tc);
	return s;
}
