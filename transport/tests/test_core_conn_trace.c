/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_core_conn_trace.c - what the trace says of the connection manager: every message, state and event in
 * order, each with its cause, and a reason for every MAD that is dropped.
 */
#include "cms.h"
#include "core/conn.h"

/* ---- the trace ---- */

struct line {
	enum vs_event_type type;
	uint64_t a[4]; /* STR: a text */
};
#define TEXT(s) ((uint64_t)(uintptr_t)(s))

static bool is_call(const struct vs_event *ev)
{
	return ev->type >= VS_EV_VERB_CONNECT && ev->type <= VS_EV_VERB_DESTROY_CONN;
}

static void trace_is(const struct rig *r, const struct line *l, size_t n)
{
	uint32_t i, k;
	size_t at = 0;

	for (i = 0; i < r->log_len; i++) {
		const struct vs_event *ev = &r->log[i];
		const struct vs_event_info *info = vs_event_info(ev->type);

		if (!is_call(ev) && (ev->type < VS_EV_CM_TX || ev->type > VS_EV_CM_EVENT))
			continue;
		ck_assert_uint_lt(at, n);
		ck_assert_msg(ev->type == l[at].type, "line %zu: %s, expected %s", at, info->name,
			      vs_event_info(l[at].type)->name);
		for (k = 0; k < info->nargs; k++)
			if (info->args[k].kind == VS_ARG_STR)
				ck_assert_str_eq((const char *)(uintptr_t)ev->a[k],
						 (const char *)(uintptr_t)l[at].a[k]);
			else
				ck_assert_msg(ev->a[k] == l[at].a[k], "line %zu: %s %s: %llx, expected %llx", at,
					      info->name, info->args[k].name, (unsigned long long)ev->a[k],
					      (unsigned long long)l[at].a[k]);
		at++;
	}
	ck_assert_uint_eq(at, n);
}

START_TEST(the_trace_tells_the_life_of_an_active_connection)
{
	struct rig *r = rig_new(&reset);
	struct vs_cm_msg m;
	struct vs_conn *c = connecting(r, &m, NULL);
	uint32_t id = c->local_id;
	const uint32_t qpn = vs_qp_num(r->qp);
	const struct line expected[] = {
		{VS_EV_VERB_CONNECT, {id, SERVICE, 0}},
		{VS_EV_CM_STATE, {id, TEXT("IDLE"), TEXT("REQ_SENT")}},
		{VS_EV_CM_TX, {VS_CM_ATTR_REQ, id, 0, 0}},
		{VS_EV_CM_TX, {VS_CM_ATTR_REQ, id, 0, 1}},
		{VS_EV_CM_RX, {VS_CM_ATTR_MRA, id, PEER_ID, 0}},
		{VS_EV_CM_STATE, {id, TEXT("REQ_SENT"), TEXT("MRA_REQ_RCVD")}},
		{VS_EV_CM_RX, {VS_CM_ATTR_REP, id, PEER_ID, 0}},
		{VS_EV_CM_STATE, {id, TEXT("MRA_REQ_RCVD"), TEXT("REP_RCVD")}},
		{VS_EV_CM_EVENT, {id, TEXT("response"), 0}},
		{VS_EV_VERB_MRA, {id, 20, 0}},
		{VS_EV_CM_STATE, {id, TEXT("REP_RCVD"), TEXT("MRA_REP_SENT")}},
		{VS_EV_CM_TX, {VS_CM_ATTR_MRA, id, PEER_ID, 0}},
		{VS_EV_VERB_ESTABLISH, {id, qpn, 0}},
		{VS_EV_CM_STATE, {id, TEXT("MRA_REP_SENT"), TEXT("ESTABLISHED")}},
		{VS_EV_CM_TX, {VS_CM_ATTR_RTU, id, PEER_ID, 0}},
		{VS_EV_CM_EVENT, {id, TEXT("established"), 0}},
		{VS_EV_CM_RX, {VS_CM_ATTR_REP, id, PEER_ID, 1}},
		{VS_EV_CM_TX, {VS_CM_ATTR_RTU, id, PEER_ID, 1}},
		{VS_EV_CM_RX, {VS_CM_ATTR_LAP, id, PEER_ID, 0}},
		{VS_EV_CM_TX, {VS_CM_ATTR_APR, id, PEER_ID, 0}},
		{VS_EV_VERB_DISCONNECT, {id, qpn, 0}},
		{VS_EV_CM_STATE, {id, TEXT("ESTABLISHED"), TEXT("DREQ_SENT")}},
		{VS_EV_CM_TX, {VS_CM_ATTR_DREQ, id, PEER_ID, 0}},
		{VS_EV_CM_RX, {VS_CM_ATTR_DREP, id, PEER_ID, 0}},
		{VS_EV_CM_STATE, {id, TEXT("DREQ_SENT"), TEXT("TIMEWAIT")}},
		{VS_EV_CM_EVENT, {id, TEXT("disconnected"), 0}},
		{VS_EV_CM_EVENT, {id, TEXT("timewait_exit"), 0}},
		{VS_EV_CM_STATE, {id, TEXT("TIMEWAIT"), TEXT("CLOSED")}},
		{VS_EV_VERB_DESTROY_CONN, {id, TEXT("CLOSED"), 0}},
	};

	rig_advance(r, TIMEOUT);
	in_mra(r, c, VS_CM_MRA_OF_REQ, 20);
	in_rep(r, id, 1);
	ck_assert_int_eq(vs_conn_mra(c, 20), VS_OK);
	ck_assert_int_eq(vs_conn_establish(c), VS_OK);
	in_rep(r, id, 1);
	m = (struct vs_cm_msg){.attribute = VS_CM_ATTR_LAP};
	m.lap.local_comm_id = PEER_ID;
	m.lap.remote_comm_id = id;
	in_mad(r, &m, 700);
	ck_assert_int_eq(vs_disconnect(c), VS_OK);
	m = (struct vs_cm_msg){.attribute = VS_CM_ATTR_DREP};
	m.drep.local_comm_id = PEER_ID;
	m.drep.remote_comm_id = id;
	in_mad(r, &m, 700);
	rig_advance(r, SEC);
	vs_conn_destroy(c);
	trace_is(r, expected, COUNT(expected));
	rig_free(r);
}
END_TEST

START_TEST(the_trace_tells_the_life_of_a_passive_connection)
{
	struct rig *r = rig_new(&reset);
	struct vs_conn_param p = param(r);
	struct vs_cm_msg m = req();
	struct vs_conn *c = offered(r);
	uint32_t id = c->local_id;
	const struct line expected[] = {
		{VS_EV_CM_RX, {VS_CM_ATTR_REQ, 0, PEER_ID, 0}},
		{VS_EV_CM_STATE, {id, TEXT("IDLE"), TEXT("REQ_RCVD")}},
		{VS_EV_CM_EVENT, {id, TEXT("request"), 0}},
		{VS_EV_CM_RX, {VS_CM_ATTR_REQ, id, PEER_ID, 1}},
		{VS_EV_VERB_MRA, {id, 20, 0}},
		{VS_EV_CM_STATE, {id, TEXT("REQ_RCVD"), TEXT("MRA_REQ_SENT")}},
		{VS_EV_CM_TX, {VS_CM_ATTR_MRA, id, PEER_ID, 0}},
		{VS_EV_VERB_ACCEPT, {id, p.qpn, 0}},
		{VS_EV_CM_STATE, {id, TEXT("MRA_REQ_SENT"), TEXT("REP_SENT")}},
		{VS_EV_CM_TX, {VS_CM_ATTR_REP, id, PEER_ID, 0}},
		{VS_EV_CM_RX, {VS_CM_ATTR_MRA, id, PEER_ID, 0}},
		{VS_EV_CM_STATE, {id, TEXT("REP_SENT"), TEXT("MRA_REP_RCVD")}},
		{VS_EV_CM_RX, {VS_CM_ATTR_RTU, id, PEER_ID, 0}},
		{VS_EV_CM_STATE, {id, TEXT("MRA_REP_RCVD"), TEXT("ESTABLISHED")}},
		{VS_EV_CM_EVENT, {id, TEXT("established"), 0}},
		{VS_EV_CM_RX, {VS_CM_ATTR_RTU, id, PEER_ID, 1}},
		{VS_EV_CM_RX, {VS_CM_ATTR_DREQ, id, PEER_ID, 0}},
		{VS_EV_CM_TX, {VS_CM_ATTR_DREP, id, PEER_ID, 0}},
		{VS_EV_CM_STATE, {id, TEXT("ESTABLISHED"), TEXT("TIMEWAIT")}},
		{VS_EV_CM_EVENT, {id, TEXT("disconnected"), 0}},
		{VS_EV_CM_RX, {VS_CM_ATTR_DREQ, id, PEER_ID, 1}},
		{VS_EV_CM_TX, {VS_CM_ATTR_DREP, id, PEER_ID, 0}},
		{VS_EV_CM_RX, {VS_CM_ATTR_DREQ, 77, PEER_ID, 0}},
		{VS_EV_CM_RX, {VS_CM_ATTR_REP, 78, PEER_ID, 0}},
		{VS_EV_CM_RX, {VS_CM_ATTR_RTU, 79, PEER_ID, 1}},
	};

	in_mad(r, &m, 500);
	ck_assert_int_eq(vs_conn_mra(c, 20), VS_OK);
	ck_assert_int_eq(vs_accept(c, &p), VS_OK);
	in_mra(r, c, VS_CM_MRA_OF_REP, 20);
	in_rtu(r, id);
	in_rtu(r, id);
	in_dreq(r, id, vs_qp_num(r->qp), 600);
	in_dreq(r, id, vs_qp_num(r->qp), 600);
	in_dreq(r, 77, 1, 600); /* nobody by these ids */
	in_rep(r, 78, 1);
	in_rtu(r, 79);
	trace_is(r, expected, COUNT(expected));
	rig_free(r);
}
END_TEST

START_TEST(the_trace_tells_of_refusals_and_sidr)
{
	struct rig *r = rig_new(&reset);
	struct vs_conn_param p = param(r);
	struct vs_cm_msg m = req();
	struct vs_conn *c;
	uint32_t id[3];
	int err;

	in_mad(r, &m, 500); /* nobody listens */
	in_sidr_req(r, 99, 5);
	c = offered(r);
	id[0] = c->local_id;
	ck_assert_int_eq(vs_reject(c, 28, NULL, 0), VS_OK);
	in_sidr_req(r, 99, 5);
	c = expect_event(r, VS_CONN_EV_SIDR_REQUEST).conn;
	id[1] = c->local_id;
	in_sidr_req(r, 99, 5);
	ck_assert_int_eq(vs_sidr_reply(c, 0, &p), VS_OK);
	c = vs_sidr_resolve(r->dev, &p, 0, &err);
	id[2] = c->local_id;
	m = (struct vs_cm_msg){.attribute = VS_CM_ATTR_SIDR_REP};
	m.sidr_rep.request_id = id[2];
	m.sidr_rep.status = 4;
	in_mad(r, &m, 1);
	{
		const struct line expected[] = {
			{VS_EV_CM_RX, {VS_CM_ATTR_REQ, 0, PEER_ID, 0}},
			{VS_EV_CM_RX, {VS_CM_ATTR_SIDR_REQ, 0, 99, 0}},
			{VS_EV_CM_RX, {VS_CM_ATTR_REQ, 0, PEER_ID, 0}},
			{VS_EV_CM_STATE, {id[0], TEXT("IDLE"), TEXT("REQ_RCVD")}},
			{VS_EV_CM_EVENT, {id[0], TEXT("request"), 0}},
			{VS_EV_VERB_REJECT, {id[0], 28, 0}},
			{VS_EV_CM_TX, {VS_CM_ATTR_REJ, id[0], PEER_ID, 0}},
			{VS_EV_CM_STATE, {id[0], TEXT("REQ_RCVD"), TEXT("TIMEWAIT")}},
			{VS_EV_CM_RX, {VS_CM_ATTR_SIDR_REQ, 0, 99, 0}},
			{VS_EV_CM_STATE, {id[1], TEXT("IDLE"), TEXT("SIDR_REQ_RCVD")}},
			{VS_EV_CM_EVENT, {id[1], TEXT("sidr_request"), 0}},
			{VS_EV_CM_RX, {VS_CM_ATTR_SIDR_REQ, id[1], 99, 1}},
			{VS_EV_VERB_SIDR_REPLY, {id[1], 0, 0}},
			{VS_EV_CM_TX, {VS_CM_ATTR_SIDR_REP, id[1], 99, 0}},
			{VS_EV_CM_STATE, {id[1], TEXT("SIDR_REQ_RCVD"), TEXT("TIMEWAIT")}},
			{VS_EV_VERB_SIDR_RESOLVE, {id[2], SERVICE, 0}},
			{VS_EV_CM_STATE, {id[2], TEXT("IDLE"), TEXT("SIDR_REQ_SENT")}},
			{VS_EV_CM_TX, {VS_CM_ATTR_SIDR_REQ, id[2], 0, 0}},
			{VS_EV_CM_RX, {VS_CM_ATTR_SIDR_REP, id[2], 0, 0}},
			{VS_EV_CM_EVENT, {id[2], TEXT("sidr_response"), 4}},
			{VS_EV_CM_STATE, {id[2], TEXT("SIDR_REQ_SENT"), TEXT("CLOSED")}},
		};

		trace_is(r, expected, COUNT(expected));
	}
	rig_free(r);
}
END_TEST

/* pkt:rx -> cm:rx -> cm:tx -> pkt:tx, and a time-out leads back to what was not answered. */
START_TEST(every_mad_has_its_cause)
{
	struct rig *r = rig_new(&reset);
	struct vs_conn_param p = param(r);
	uint32_t i, rx = 0, cm_rx = 0, cm_tx = 0, packets = 0;
	struct vs_conn *c = offered(r);
	const struct vs_event *ev;
	uint32_t first = 0, second = 0;

	in_dreq(r, 5, 5, 600);
	rig_drain(r);
	for (i = 0; i < r->log_len; i++) {
		ev = &r->log[i];
		if (ev->type == VS_EV_PKT_RX)
			rx = (uint32_t)ev->seq;
		if (ev->type == VS_EV_CM_RX) {
			ck_assert_uint_eq(ev->cause, rx);
			cm_rx = (uint32_t)ev->seq;
		}
		if (ev->type == VS_EV_CM_STATE || ev->type == VS_EV_CM_EVENT)
			ck_assert_uint_eq(ev->cause, cm_rx);
		if (ev->type == VS_EV_PKT_TX) {
			ck_assert_uint_eq(ev->cause, cm_rx); /* the DREP of nobody */
			packets++;
		}
	}
	ck_assert_uint_eq(packets, 1);

	ck_assert_int_eq(vs_accept(c, &p), VS_OK);
	rig_drain(r);
	rig_advance(r, TIMEOUT);
	rig_drain(r);
	for (i = 0; i < r->log_len; i++) {
		ev = &r->log[i];
		if (ev->type == VS_EV_CM_TX && ev->a[3] == 0)
			first = (uint32_t)ev->seq;
		if (ev->type == VS_EV_CM_TX && ev->a[3] == 1) {
			second = (uint32_t)ev->seq;
			ck_assert_uint_eq(ev->cause, first);
		}
		if (ev->type == VS_EV_CM_TX)
			cm_tx = (uint32_t)ev->seq;
	}
	ck_assert(first != 0 && second != 0);
	ev = &r->log[r->log_len - 1];
	ck_assert(ev->type == VS_EV_PKT_TX && ev->cause == cm_tx && ev->qpn == VS_QPN_GSI);
	rig_free(r);
}
END_TEST

/* Each call of the application is where its states and messages come from, and leaves nothing behind. */
START_TEST(what_a_call_does_leads_back_to_the_call)
{
	struct rig *r = rig_new(&reset);
	struct vs_conn_param p = param(r);
	struct vs_cm_msg m;
	struct vs_conn *c, *other;
	uint64_t call = 0, state = 0;
	uint32_t i, calls = 0, led = 0;
	int err;

	c = connecting(r, &m, NULL);
	in_rep(r, c->local_id, 1);
	expect_event(r, VS_CONN_EV_RESPONSE);
	ck_assert_int_eq(vs_conn_mra(c, 20), VS_OK);
	ck_assert_int_eq(vs_conn_establish(c), VS_OK);
	expect_event(r, VS_CONN_EV_ESTABLISHED);
	ck_assert_int_eq(vs_disconnect(c), VS_OK);
	vs_conn_destroy(c);
	c = offered(r);
	ck_assert_int_eq(vs_accept(c, &p), VS_OK);
	vs_conn_destroy(c); /* disconnects */
	in_sidr_req(r, 98, 5);
	other = expect_event(r, VS_CONN_EV_SIDR_REQUEST).conn;
	ck_assert_int_eq(vs_sidr_reply(other, 0, &p), VS_OK);
	ck_assert_ptr_nonnull(vs_sidr_resolve(r->dev, &p, 0, &err));
	ck_assert_uint_eq(r->dev->cause, 0);
	for (i = 0; i < r->log_len; i++) {
		const struct vs_event *ev = &r->log[i];

		if (is_call(ev)) {
			ck_assert_uint_eq(ev->cause, 0);
			call = ev->seq;
			calls++;
		}
		if (ev->type == VS_EV_CM_RX)
			call = ev->seq;
		if (ev->type == VS_EV_CM_STATE || ev->type == VS_EV_CM_TX) {
			ck_assert_uint_ne(call, 0);
			ck_assert_uint_eq(ev->cause, call);
			state = ev->seq;
			led++;
		}
		if (ev->type == VS_EV_CM_EVENT)
			ck_assert(ev->cause == call || ev->cause == state);
	}
	ck_assert_uint_eq(calls, 9);
	ck_assert_uint_eq(led, 19);
	rig_free(r);
}
END_TEST

START_TEST(a_refused_call_says_so_and_does_nothing)
{
	struct rig *r = rig_new(&reset);
	struct vs_conn_param p = param(r);
	struct vs_conn *c = offered(r);
	const struct {
		enum vs_event_type type;
		uint64_t with;
		enum vs_reason why;
	} t[] = {
		{VS_EV_VERB_ACCEPT, 0x1000000, VS_REASON_CONN_PARAM}, {VS_EV_VERB_ESTABLISH, 0, VS_REASON_CONN_STATE},
		{VS_EV_VERB_REJECT, 28, VS_REASON_CONN_PARAM},        {VS_EV_VERB_MRA, 32, VS_REASON_CONN_PARAM},
		{VS_EV_VERB_DISCONNECT, 0, VS_REASON_CONN_STATE},     {VS_EV_VERB_SIDR_REPLY, 1, VS_REASON_CONN_STATE},
	};
	uint32_t before = r->log_len;
	const struct vs_event *ev;

	p.qpn = 0x1000000;
	switch (_i) {
	case 0:
		ck_assert_int_eq(vs_accept(c, &p), VS_ERR_INVAL);
		break;
	case 1:
		ck_assert_int_eq(vs_conn_establish(c), VS_ERR_INVAL);
		break;
	case 2:
		ck_assert_int_eq(vs_reject(c, 28, "x", 149), VS_ERR_INVAL);
		break;
	case 3:
		ck_assert_int_eq(vs_conn_mra(c, 32), VS_ERR_INVAL);
		break;
	case 4:
		ck_assert_int_eq(vs_disconnect(c), VS_ERR_INVAL);
		break;
	default:
		p.qpn = 1;
		ck_assert_int_eq(vs_sidr_reply(c, 1, &p), VS_ERR_INVAL);
		break;
	}
	ck_assert_int_eq(vs_dev_refusal(r->dev), t[_i].why);
	ck_assert_uint_eq(r->log_len, before + 2);
	ev = &r->log[before];
	ck_assert(ev[0].type == VS_EV_VERB_REFUSED && ev[0].a[0] == t[_i].why && ev[0].cause == 0);
	ck_assert(ev[1].type == t[_i].type && ev[1].cause == 0 && ev[1].a[0] == c->local_id);
	ck_assert_uint_eq(ev[1].a[1], t[_i].with);
	ck_assert(ev[1].a[2] == (uint64_t)(int64_t)VS_ERR_INVAL);
	ck_assert_uint_eq(r->dev->cause, 0);
	ck_assert_int_eq(vs_conn_state(c), VS_CONN_REQ_RCVD);
	rig_expect_silence(r);
	rig_free(r);
}
END_TEST

START_TEST(a_mad_that_is_no_cm_message_is_dropped_for_its_reason)
{
	static const struct {
		enum vs_reason why;
		enum vs_counter counter;
	} t[] = {{VS_REASON_QKEY_MISMATCH, VS_CNT_QKEY_VIOL}, {VS_REASON_MAD_SHORT, VS_CNT_UD_DROPPED},
		 {VS_REASON_MAD_SHORT, VS_CNT_UD_DROPPED},    {VS_REASON_MAD_BASE_VERSION, VS_CNT_UD_DROPPED},
		 {VS_REASON_NOT_FOR_US, VS_CNT_UD_DROPPED},   {VS_REASON_NOT_FOR_US, VS_CNT_UD_DROPPED},
		 {VS_REASON_NOT_FOR_US, VS_CNT_UD_DROPPED},   {VS_REASON_NOT_FOR_US, VS_CNT_UD_DROPPED},
		 {VS_REASON_QKEY_MISMATCH, VS_CNT_QKEY_VIOL}};
	struct rig *r = rig_new(&reset);
	struct vs_pkt p = rig_pkt(r, _i == 8 ? VS_OP_RC_SEND_ONLY : VS_OP_UD_SEND_ONLY, 3);
	struct vs_mad h = {1, VS_MAD_CLASS_CM, 2, 3, 0, 0, 500, VS_CM_ATTR_REQ, 0, 0};
	uint8_t mad[VS_MAD_LEN + 4] = {0};
	const struct vs_event *last;

	h.base_version = _i == 3 ? 2 : 1;
	h.mgmt_class = _i == 4 ? 3 : VS_MAD_CLASS_CM;
	h.class_version = _i == 5 ? 1 : 2;
	h.method = _i == 6 ? 0x81 : 3;
	h.attribute_id = _i == 7 ? 0x1f : VS_CM_ATTR_REQ;
	vs_mad_build(&h, mad);
	p.bth.destqp = VS_QPN_GSI;
	p.ext.deth.qkey = _i == 0 ? 0x80010001 : VS_GSI_QKEY;
	p.payload = mad;
	p.payload_len = _i == 1 ? 252 : _i == 2 ? 260 : 256;
	rig_in(r, &p);
	last = &r->log[r->log_len - 1];
	ck_assert_int_eq(last->type, VS_EV_PKT_DROP);
	ck_assert_msg(last->a[0] == t[_i].why, "%s", vs_reason_info((enum vs_reason)last->a[0])->id);
	ck_assert(last->a[1] == p.bth.opcode && last->a[2] == 3 && last->a[3] == 1);
	ck_assert_uint_eq(last->cause, last->seq - 1); /* the pkt:rx */
	ck_assert_uint_eq(rig_counter(r, t[_i].counter), 1);
	ck_assert_uint_eq(rig_counter(r, VS_CNT_RCVD_PKTS), 1);
	rig_expect_silence(r);
	rig_free(r);
}
END_TEST

/* The ids of a look-up and of a connection are of one kind: a message of the other is nobody's. */
START_TEST(a_rep_or_rej_for_a_lookup_is_nobodys)
{
	struct rig *r = rig_new(&reset);
	struct vs_conn_param p = param(r);
	struct vs_cm_msg m = {.attribute = VS_CM_ATTR_REJ};
	const struct vs_event *last;
	int err;
	struct vs_conn *c = vs_sidr_resolve(r->dev, &p, 0, &err);

	rig_drain(r);
	in_rep(r, c->local_id, 1);
	last = &r->log[r->log_len - 1];
	ck_assert(last->type == VS_EV_CM_RX && last->a[0] == VS_CM_ATTR_REP && last->a[1] == c->local_id);
	ck_assert_uint_eq(last->a[3], 0);
	m.rej.remote_comm_id = c->local_id;
	m.rej.reason = 28;
	in_mad(r, &m, 1);
	ck_assert_int_eq(r->log[r->log_len - 1].type, VS_EV_CM_RX);
	ck_assert_int_eq(vs_conn_state(c), VS_CONN_SIDR_REQ_SENT);
	expect_no_event(r);
	rig_free(r);
}
END_TEST

START_TEST(connecting_takes_memory_for_one_connection)
{
	struct rig *r = rig_new(&reset);
	struct vs_conn_param p = param(r);
	uint64_t before = r->allocs;
	int err;

	ck_assert_ptr_nonnull(vs_connect(r->dev, &p, 0, &err));
	ck_assert_uint_le(r->allocs, before + 1); /* the heap of timers may grow instead of being made anew */
	ck_assert_uint_eq(((struct vs_conn_state_block *)r->dev->conn)->pooled, 0);
	rig_free(r);
}
END_TEST

START_TEST(a_connection_that_is_given_up_is_used_again)
{
	struct rig *r = rig_new(&reset);
	struct vs_conn_param p = param(r);
	uint64_t before = 0;
	struct vs_conn *c;
	unsigned i;
	int err;

	for (i = 0; i < 20; i++) {
		c = vs_connect(r->dev, &p, 0, &err);
		vs_conn_destroy(c); /* nobody has answered: it is gone at once */
		ck_assert_uint_eq(vs_dev_deadline(r->dev), VS_NEVER);
		ck_assert(i == 0 || r->allocs == before);
		before = r->allocs;
	}
	rig_free(r);
}
END_TEST

START_TEST(nothing_waits_for_what_is_over)
{
	struct rig *r = rig_new(&reset);
	struct vs_conn_param p = param(r);
	struct vs_cm_msg m = {.attribute = VS_CM_ATTR_REJ};
	int err;
	struct vs_conn *c = _i == 0 ? vs_connect(r->dev, &p, 0, &err) : vs_sidr_resolve(r->dev, &p, 0, &err);

	ck_assert_uint_ne(vs_dev_deadline(r->dev), VS_NEVER);
	m.rej.remote_comm_id = c->local_id;
	if (_i == 1) {
		m = (struct vs_cm_msg){.attribute = VS_CM_ATTR_SIDR_REP};
		m.sidr_rep.request_id = c->local_id;
	}
	in_mad(r, &m, 1);
	ck_assert_int_eq(vs_conn_state(c), VS_CONN_CLOSED);
	ck_assert_uint_eq(vs_dev_deadline(r->dev), VS_NEVER);
	rig_free(r);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("core conn trace");
	TCase *tc = tcase_create("trace");
	tcase_add_test(tc, the_trace_tells_the_life_of_an_active_connection);
	tcase_add_test(tc, the_trace_tells_the_life_of_a_passive_connection);
	tcase_add_test(tc, the_trace_tells_of_refusals_and_sidr);
	tcase_add_test(tc, every_mad_has_its_cause);
	tcase_add_test(tc, what_a_call_does_leads_back_to_the_call);
	tcase_add_loop_test(tc, a_refused_call_says_so_and_does_nothing, 0, 6);
	tcase_add_test(tc, a_rep_or_rej_for_a_lookup_is_nobodys);
	tcase_add_test(tc, a_connection_that_is_given_up_is_used_again);
	tcase_add_loop_test(tc, nothing_waits_for_what_is_over, 0, 2);
	tcase_add_test(tc, connecting_takes_memory_for_one_connection);
	tcase_add_loop_test(tc, a_mad_that_is_no_cm_message_is_dropped_for_its_reason, 0, 9);
	suite_add_tcase(s, tc);
	return s;
}
