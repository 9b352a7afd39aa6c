/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_core_conn.c - the connection manager as a table: what each call and each message does in each state, and
 * that everything else changes nothing. The states are those of figure 12.9.5 of the specification and of
 * Linux' core/cm.c; DREQ_RCVD does not show: a DREQ is answered at once.
 */
#include "cms.h"
#include "core/conn.h"

/* ---- the way into every state ---- */

enum at {
	REQ_SENT,
	REQ_RCVD,
	MRA_REQ_SENT,
	MRA_REQ_RCVD,
	REP_SENT,
	REP_RCVD,
	MRA_REP_SENT,
	MRA_REP_RCVD,
	ESTABLISHED, /* as the passive side */
	ESTABLISHED_ACTIVE,
	DREQ_SENT,
	TIMEWAIT, /* after a life */
	REJECTED, /* time-wait after we rejected a REQ */
	SIDR_REQ_SENT,
	SIDR_REQ_RCVD,
	SIDR_ANSWERED,
	CLOSED,
	AT_COUNT
};

static const enum vs_conn_state state_of[AT_COUNT] = {
	[REQ_SENT] = VS_CONN_REQ_SENT,
	[REQ_RCVD] = VS_CONN_REQ_RCVD,
	[MRA_REQ_SENT] = VS_CONN_MRA_REQ_SENT,
	[MRA_REQ_RCVD] = VS_CONN_MRA_REQ_RCVD,
	[REP_SENT] = VS_CONN_REP_SENT,
	[REP_RCVD] = VS_CONN_REP_RCVD,
	[MRA_REP_SENT] = VS_CONN_MRA_REP_SENT,
	[MRA_REP_RCVD] = VS_CONN_MRA_REP_RCVD,
	[ESTABLISHED] = VS_CONN_ESTABLISHED,
	[ESTABLISHED_ACTIVE] = VS_CONN_ESTABLISHED,
	[DREQ_SENT] = VS_CONN_DREQ_SENT,
	[TIMEWAIT] = VS_CONN_TIMEWAIT,
	[REJECTED] = VS_CONN_TIMEWAIT,
	[SIDR_REQ_SENT] = VS_CONN_SIDR_REQ_SENT,
	[SIDR_REQ_RCVD] = VS_CONN_SIDR_REQ_RCVD,
	[SIDR_ANSWERED] = VS_CONN_TIMEWAIT,
	[CLOSED] = VS_CONN_CLOSED,
};

static void in_rej(struct rig *r, const struct vs_conn *c)
{
	struct vs_cm_msg m = {.attribute = VS_CM_ATTR_REJ};

	m.rej.local_comm_id = PEER_ID;
	m.rej.remote_comm_id = c->local_id;
	m.rej.reason = 28;
	in_mad(r, &m, 500);
}

static struct vs_conn *active(struct rig *r, enum at at)
{
	struct vs_cm_msg m;
	struct vs_mad h;
	struct vs_conn *c = connecting(r, &m, &h);

	if (at == MRA_REQ_RCVD)
		in_mra(r, c, VS_CM_MRA_OF_REQ, 20);
	else if (at == CLOSED)
		in_rej(r, c);
	else if (at != REQ_SENT)
		in_rep(r, c->local_id, h.transaction_id);
	if (at == MRA_REP_SENT)
		ck_assert_int_eq(vs_conn_mra(c, 20), VS_OK);
	if (at == ESTABLISHED_ACTIVE)
		ck_assert_int_eq(vs_conn_establish(c), VS_OK);
	return c;
}

static struct vs_conn *passive(struct rig *r, enum at at)
{
	struct vs_conn *c;
	uint32_t id;

	switch (at) {
	case REQ_RCVD:
	case MRA_REQ_SENT:
	case REJECTED:
		c = offered(r);
		if (at == MRA_REQ_SENT)
			ck_assert_int_eq(vs_conn_mra(c, 20), VS_OK);
		if (at == REJECTED)
			ck_assert_int_eq(vs_reject(c, VS_CM_REJ_CONSUMER, NULL, 0), VS_OK);
		return c;
	case REP_SENT:
	case MRA_REP_RCVD:
		c = accepted(r, &id);
		if (at == MRA_REP_RCVD)
			in_mra(r, c, VS_CM_MRA_OF_REP, 20);
		return c;
	default:
		c = established(r, &id);
		if (at == DREQ_SENT)
			ck_assert_int_eq(vs_disconnect(c), VS_OK);
		if (at == TIMEWAIT)
			in_dreq(r, id, vs_qp_num(r->qp), 600);
		return c;
	}
}

static struct vs_conn *sidr(struct rig *r, enum at at)
{
	struct vs_conn_param p = param(r);
	struct vs_conn *c;
	int err;

	if (at == SIDR_REQ_SENT)
		return vs_sidr_resolve(r->dev, &p, 0x77, &err);
	ck_assert_ptr_nonnull(vs_listen(r->dev, SERVICE, 0x11, &err));
	in_sidr_req(r, PEER_ID, 500);
	c = expect_event(r, VS_CONN_EV_SIDR_REQUEST).conn;
	if (at == SIDR_ANSWERED)
		ck_assert_int_eq(vs_sidr_reply(c, 0, &p), VS_OK);
	return c;
}

/* A connection in that state; what was said on the way there is forgotten. */
static struct vs_conn *get_to(struct rig *r, enum at at)
{
	struct vs_conn_event e;
	struct vs_conn *c;

	if (at == SIDR_REQ_SENT || at == SIDR_REQ_RCVD || at == SIDR_ANSWERED)
		c = sidr(r, at);
	else if (at == REQ_SENT || at == MRA_REQ_RCVD || at == REP_RCVD || at == MRA_REP_SENT ||
		 at == ESTABLISHED_ACTIVE || at == CLOSED)
		c = active(r, at);
	else
		c = passive(r, at);
	ck_assert_int_eq(vs_conn_state(c), state_of[at]);
	rig_drain(r);
	while (vs_dev_poll_conn(r->dev, &e))
		;
	return c;
}

/* ---- what may happen ---- */

struct row {
	enum at at;
	int what;                /* a call or a message */
	enum vs_conn_state next; /* the state afterwards */
	uint16_t out;            /* attribute of the MAD that goes out; 0: none */
	int event;               /* enum vs_conn_event_type; NONE */
	uint8_t message;         /* MRA, REJ: what it answers */
};
#define NONE (-1)

static const struct row *find(const struct row *rows, size_t n, enum at at, int what)
{
	for (; n > 0; n--, rows++)
		if (rows->at == at && rows->what == what)
			return rows;
	return NULL;
}

/* What came of it is what the row says: one MAD, one event, one state. */
static void as_said(struct rig *r, const struct vs_conn *c, const struct row *row)
{
	if (row->out != 0) {
		struct vs_cm_msg m = expect_mad(r, row->out, NULL);

		if (row->out == VS_CM_ATTR_MRA)
			ck_assert_uint_eq(m.mra.message, row->message);
		if (row->out == VS_CM_ATTR_REJ)
			ck_assert_uint_eq(m.rej.message, row->message);
	}
	rig_expect_silence(r);
	ck_assert_int_eq(vs_conn_state(c), row->next);
	if (row->event != NONE)
		ck_assert_ptr_eq(expect_event(r, (enum vs_conn_event_type)row->event).conn, c);
	expect_no_event(r);
}

/* ---- calls ---- */

enum call { ACCEPT, ESTABLISH, REJECT, MRA, DISCONNECT, SIDR_REPLY, CALLS };

static const struct row calls[] = {
	{REQ_RCVD, ACCEPT, VS_CONN_REP_SENT, VS_CM_ATTR_REP, NONE, 0},
	{MRA_REQ_SENT, ACCEPT, VS_CONN_REP_SENT, VS_CM_ATTR_REP, NONE, 0},
	{REP_RCVD, ESTABLISH, VS_CONN_ESTABLISHED, VS_CM_ATTR_RTU, VS_CONN_EV_ESTABLISHED, 0},
	{MRA_REP_SENT, ESTABLISH, VS_CONN_ESTABLISHED, VS_CM_ATTR_RTU, VS_CONN_EV_ESTABLISHED, 0},
	{REQ_RCVD, REJECT, VS_CONN_TIMEWAIT, VS_CM_ATTR_REJ, NONE, VS_CM_REJ_OF_REQ},
	{MRA_REQ_SENT, REJECT, VS_CONN_TIMEWAIT, VS_CM_ATTR_REJ, NONE, VS_CM_REJ_OF_REQ},
	{REP_RCVD, REJECT, VS_CONN_TIMEWAIT, VS_CM_ATTR_REJ, NONE, VS_CM_REJ_OF_REP},
	{MRA_REP_SENT, REJECT, VS_CONN_TIMEWAIT, VS_CM_ATTR_REJ, NONE, VS_CM_REJ_OF_REP},
	{REQ_RCVD, MRA, VS_CONN_MRA_REQ_SENT, VS_CM_ATTR_MRA, NONE, VS_CM_MRA_OF_REQ},
	{REP_RCVD, MRA, VS_CONN_MRA_REP_SENT, VS_CM_ATTR_MRA, NONE, VS_CM_MRA_OF_REP},
	{ESTABLISHED, DISCONNECT, VS_CONN_DREQ_SENT, VS_CM_ATTR_DREQ, NONE, 0},
	{ESTABLISHED_ACTIVE, DISCONNECT, VS_CONN_DREQ_SENT, VS_CM_ATTR_DREQ, NONE, 0},
	{REP_SENT, DISCONNECT, VS_CONN_DREQ_SENT, VS_CM_ATTR_DREQ, NONE, 0},
	{MRA_REP_RCVD, DISCONNECT, VS_CONN_DREQ_SENT, VS_CM_ATTR_DREQ, NONE, 0},
	{SIDR_REQ_RCVD, SIDR_REPLY, VS_CONN_TIMEWAIT, VS_CM_ATTR_SIDR_REP, NONE, 0},
};

static int call(struct rig *r, struct vs_conn *c, enum call what)
{
	struct vs_conn_param p = param(r);

	switch (what) {
	case ACCEPT:
		return vs_accept(c, &p);
	case ESTABLISH:
		return vs_conn_establish(c);
	case REJECT:
		return vs_reject(c, VS_CM_REJ_CONSUMER, NULL, 0);
	case MRA:
		return vs_conn_mra(c, 20);
	case DISCONNECT:
		return vs_disconnect(c);
	case SIDR_REPLY:
	default:
		return vs_sidr_reply(c, 0, &p);
	}
}

START_TEST(a_call_does_what_its_state_allows_and_is_refused_elsewhere)
{
	enum at at = (enum at)(_i / CALLS);
	enum call what = (enum call)(_i % CALLS);
	const struct row *row = find(calls, COUNT(calls), at, (int)what);
	const struct row refused = {at, 0, state_of[at], 0, NONE, 0};
	struct rig *r = rig_new(&reset);
	struct vs_conn *c = get_to(r, at);
	uint64_t deadline = vs_dev_deadline(r->dev);

	if (row != NULL) {
		ck_assert_int_eq(call(r, c, what), VS_OK);
		as_said(r, c, row);
	} else {
		ck_assert_int_eq(call(r, c, what), VS_ERR_INVAL);
		ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_CONN_STATE);
		as_said(r, c, &refused);
		ck_assert_uint_eq(vs_dev_deadline(r->dev), deadline);
	}
	rig_free(r);
}
END_TEST

/* ---- messages ---- */

enum message {
	IN_REQ,
	IN_REP,
	IN_RTU,
	IN_REJ,
	IN_MRA_REQ,
	IN_MRA_REP,
	IN_DREQ,
	IN_DREP,
	IN_LAP,
	IN_SIDR_REQ,
	IN_SIDR_REP,
	MESSAGES
};

static const struct row messages[] = {
	/* A REQ again is answered as before; after a life it is stale. */
	{MRA_REQ_SENT, IN_REQ, VS_CONN_MRA_REQ_SENT, VS_CM_ATTR_MRA, NONE, VS_CM_MRA_OF_REQ},
	{REP_SENT, IN_REQ, VS_CONN_REP_SENT, VS_CM_ATTR_REP, NONE, 0},
	{MRA_REP_RCVD, IN_REQ, VS_CONN_MRA_REP_RCVD, VS_CM_ATTR_REP, NONE, 0},
	{TIMEWAIT, IN_REQ, VS_CONN_TIMEWAIT, VS_CM_ATTR_REJ, NONE, VS_CM_REJ_OF_REQ},
	{REJECTED, IN_REQ, VS_CONN_TIMEWAIT, VS_CM_ATTR_REJ, NONE, VS_CM_REJ_OF_REQ},
	{REQ_SENT, IN_REP, VS_CONN_REP_RCVD, 0, VS_CONN_EV_RESPONSE, 0},
	{MRA_REQ_RCVD, IN_REP, VS_CONN_REP_RCVD, 0, VS_CONN_EV_RESPONSE, 0},
	{MRA_REP_SENT, IN_REP, VS_CONN_MRA_REP_SENT, VS_CM_ATTR_MRA, NONE, VS_CM_MRA_OF_REP},
	{ESTABLISHED_ACTIVE, IN_REP, VS_CONN_ESTABLISHED, VS_CM_ATTR_RTU, NONE, 0},
	{REP_SENT, IN_RTU, VS_CONN_ESTABLISHED, 0, VS_CONN_EV_ESTABLISHED, 0},
	{MRA_REP_RCVD, IN_RTU, VS_CONN_ESTABLISHED, 0, VS_CONN_EV_ESTABLISHED, 0},
	{REQ_SENT, IN_REJ, VS_CONN_CLOSED, 0, VS_CONN_EV_REJECTED, 0},
	{MRA_REQ_RCVD, IN_REJ, VS_CONN_CLOSED, 0, VS_CONN_EV_REJECTED, 0},
	{REP_SENT, IN_REJ, VS_CONN_CLOSED, 0, VS_CONN_EV_REJECTED, 0},
	{MRA_REP_RCVD, IN_REJ, VS_CONN_CLOSED, 0, VS_CONN_EV_REJECTED, 0},
	{REP_RCVD, IN_REJ, VS_CONN_CLOSED, 0, VS_CONN_EV_REJECTED, 0},
	{MRA_REP_SENT, IN_REJ, VS_CONN_CLOSED, 0, VS_CONN_EV_REJECTED, 0},
	{REQ_SENT, IN_MRA_REQ, VS_CONN_MRA_REQ_RCVD, 0, NONE, 0},
	{MRA_REQ_RCVD, IN_MRA_REQ, VS_CONN_MRA_REQ_RCVD, 0, NONE, 0}, /* more time */
	{REP_SENT, IN_MRA_REP, VS_CONN_MRA_REP_RCVD, 0, NONE, 0},
	{MRA_REP_RCVD, IN_MRA_REP, VS_CONN_MRA_REP_RCVD, 0, NONE, 0},
	{ESTABLISHED, IN_DREQ, VS_CONN_TIMEWAIT, VS_CM_ATTR_DREP, VS_CONN_EV_DISCONNECTED, 0},
	{ESTABLISHED_ACTIVE, IN_DREQ, VS_CONN_TIMEWAIT, VS_CM_ATTR_DREP, VS_CONN_EV_DISCONNECTED, 0},
	{REP_SENT, IN_DREQ, VS_CONN_TIMEWAIT, VS_CM_ATTR_DREP, VS_CONN_EV_DISCONNECTED, 0},
	{MRA_REP_RCVD, IN_DREQ, VS_CONN_TIMEWAIT, VS_CM_ATTR_DREP, VS_CONN_EV_DISCONNECTED, 0},
	{DREQ_SENT, IN_DREQ, VS_CONN_TIMEWAIT, VS_CM_ATTR_DREP, VS_CONN_EV_DISCONNECTED, 0},
	{TIMEWAIT, IN_DREQ, VS_CONN_TIMEWAIT, VS_CM_ATTR_DREP, NONE, 0},
	/* Nobody by these ids: answered all the same. */
	{REQ_SENT, IN_DREQ, VS_CONN_REQ_SENT, VS_CM_ATTR_DREP, NONE, 0},
	{MRA_REQ_RCVD, IN_DREQ, VS_CONN_MRA_REQ_RCVD, VS_CM_ATTR_DREP, NONE, 0},
	{SIDR_REQ_SENT, IN_DREQ, VS_CONN_SIDR_REQ_SENT, VS_CM_ATTR_DREP, NONE, 0},
	{SIDR_REQ_RCVD, IN_DREQ, VS_CONN_SIDR_REQ_RCVD, VS_CM_ATTR_DREP, NONE, 0},
	{SIDR_ANSWERED, IN_DREQ, VS_CONN_TIMEWAIT, VS_CM_ATTR_DREP, NONE, 0},
	{CLOSED, IN_DREQ, VS_CONN_CLOSED, VS_CM_ATTR_DREP, NONE, 0},
	{DREQ_SENT, IN_DREP, VS_CONN_TIMEWAIT, 0, VS_CONN_EV_DISCONNECTED, 0},
	{ESTABLISHED, IN_LAP, VS_CONN_ESTABLISHED, VS_CM_ATTR_APR, NONE, 0},
	{ESTABLISHED_ACTIVE, IN_LAP, VS_CONN_ESTABLISHED, VS_CM_ATTR_APR, NONE, 0},
	{SIDR_ANSWERED, IN_SIDR_REQ, VS_CONN_TIMEWAIT, VS_CM_ATTR_SIDR_REP, NONE, 0},
	{SIDR_REQ_SENT, IN_SIDR_REP, VS_CONN_CLOSED, 0, VS_CONN_EV_SIDR_RESPONSE, 0},
};

/* Not asked: a REQ or SIDR_REQ that this connection has nothing to do with makes one of its own. */
static bool speaks_of_another(enum at at, enum message what)
{
	bool active_side = at == REQ_SENT || at == MRA_REQ_RCVD || at == REP_RCVD || at == MRA_REP_SENT ||
			   at == ESTABLISHED_ACTIVE || at == CLOSED || at == SIDR_REQ_SENT;
	bool is_sidr = at == SIDR_REQ_RCVD || at == SIDR_ANSWERED;

	return (what == IN_REQ && (active_side || is_sidr)) || (what == IN_SIDR_REQ && !is_sidr);
}

static void in(struct rig *r, const struct vs_conn *c, enum message what)
{
	struct vs_cm_msg m = {0};

	switch (what) {
	case IN_REQ:
		m = req();
		break;
	case IN_REP:
		in_rep(r, c->local_id, c->tid);
		return;
	case IN_RTU:
		in_rtu(r, c->local_id);
		return;
	case IN_REJ:
		in_rej(r, c);
		return;
	case IN_MRA_REQ:
	case IN_MRA_REP:
		in_mra(r, c, what == IN_MRA_REQ ? VS_CM_MRA_OF_REQ : VS_CM_MRA_OF_REP, 20);
		return;
	case IN_DREQ:
		in_dreq(r, c->local_id, vs_qp_num(r->qp), 700);
		return;
	case IN_DREP:
		m.attribute = VS_CM_ATTR_DREP;
		m.drep.local_comm_id = PEER_ID;
		m.drep.remote_comm_id = c->local_id;
		break;
	case IN_LAP:
		m.attribute = VS_CM_ATTR_LAP;
		m.lap.local_comm_id = PEER_ID;
		m.lap.remote_comm_id = c->local_id;
		break;
	case IN_SIDR_REQ:
		in_sidr_req(r, PEER_ID, 500);
		return;
	case IN_SIDR_REP:
	default:
		m.attribute = VS_CM_ATTR_SIDR_REP;
		m.sidr_rep.request_id = c->local_id;
		break;
	}
	in_mad(r, &m, 500);
}

START_TEST(a_message_does_what_its_state_says_and_nothing_elsewhere)
{
	enum at at = (enum at)(_i / MESSAGES);
	enum message what = (enum message)(_i % MESSAGES);
	const struct row *row = find(messages, COUNT(messages), at, (int)what);
	const struct row nothing = {at, 0, state_of[at], 0, NONE, 0};
	struct rig *r = rig_new(&reset);
	struct vs_conn *c = get_to(r, at);
	uint64_t deadline = vs_dev_deadline(r->dev);

	if (!speaks_of_another(at, what)) {
		in(r, c, what);
		as_said(r, c, row != NULL ? row : &nothing);
		if (row == NULL)
			ck_assert_uint_eq(vs_dev_deadline(r->dev), deadline);
	}
	rig_free(r);
}
END_TEST

/* The ids have to be those of the connection: nothing happens for the ids of another. */
START_TEST(a_message_with_other_ids_is_not_for_this_connection)
{
	static const struct {
		enum at at;
		uint16_t attribute;
	} t[] = {{REP_SENT, VS_CM_ATTR_RTU},           {ESTABLISHED_ACTIVE, VS_CM_ATTR_REP},
		 {DREQ_SENT, VS_CM_ATTR_DREP},         {REQ_SENT, VS_CM_ATTR_REP},
		 {REQ_SENT, VS_CM_ATTR_REJ},           {REQ_SENT, VS_CM_ATTR_MRA},
		 {SIDR_REQ_SENT, VS_CM_ATTR_SIDR_REP}, {ESTABLISHED, VS_CM_ATTR_LAP}};
	struct rig *r = rig_new(&reset);
	struct vs_conn *c = get_to(r, t[_i].at);
	const struct row nothing = {t[_i].at, 0, state_of[t[_i].at], 0, NONE, 0};
	bool peer_differs = _i < 2; /* the peer's id is wrong; otherwise ours */
	uint32_t ours = peer_differs ? c->local_id : c->local_id ^ 0x80000000u, theirs = PEER_ID + peer_differs;
	struct vs_cm_msg m = {.attribute = t[_i].attribute};

	switch (t[_i].attribute) {
	case VS_CM_ATTR_RTU:
		m.rtu.local_comm_id = theirs;
		m.rtu.remote_comm_id = ours;
		break;
	case VS_CM_ATTR_REP:
		m.rep.local_comm_id = theirs;
		m.rep.remote_comm_id = ours;
		break;
	case VS_CM_ATTR_DREP:
		m.drep.local_comm_id = theirs;
		m.drep.remote_comm_id = ours;
		break;
	case VS_CM_ATTR_REJ:
		m.rej.remote_comm_id = ours;
		break;
	case VS_CM_ATTR_MRA:
		m.mra.remote_comm_id = ours;
		break;
	case VS_CM_ATTR_LAP:
		m.lap.remote_comm_id = ours;
		break;
	default:
		m.sidr_rep.request_id = ours;
		break;
	}
	in_mad(r, &m, 500);
	as_said(r, c, &nothing);
	rig_free(r);
}
END_TEST

START_TEST(a_message_that_is_never_asked_for_does_nothing)
{
	struct rig *r = rig_new(&reset);
	struct vs_conn *c = get_to(r, ESTABLISHED);
	struct vs_cm_msg m = {.attribute = VS_CM_ATTR_APR};
	const struct row nothing = {ESTABLISHED, 0, VS_CONN_ESTABLISHED, 0, NONE, 0};

	m.apr.local_comm_id = PEER_ID;
	m.apr.remote_comm_id = c->local_id;
	in_mad(r, &m, 500);
	as_said(r, c, &nothing);
	rig_free(r);
}
END_TEST

/* ---- giving up ---- */

START_TEST(giving_up_says_goodbye_where_somebody_listens_and_frees)
{
	static const struct {
		enum at at;
		uint16_t out;
		bool lives; /* goes on inside, to be freed later */
	} t[] = {
		{REQ_SENT, 0, false},
		{REQ_RCVD, VS_CM_ATTR_REJ, true},
		{MRA_REQ_SENT, VS_CM_ATTR_REJ, true},
		{MRA_REQ_RCVD, 0, false},
		{REP_SENT, VS_CM_ATTR_DREQ, true},
		{REP_RCVD, VS_CM_ATTR_REJ, true},
		{MRA_REP_SENT, VS_CM_ATTR_REJ, true},
		{MRA_REP_RCVD, VS_CM_ATTR_DREQ, true},
		{ESTABLISHED, VS_CM_ATTR_DREQ, true},
		{ESTABLISHED_ACTIVE, VS_CM_ATTR_DREQ, true},
		{DREQ_SENT, 0, true},
		{TIMEWAIT, 0, true},
		{REJECTED, 0, true},
		{SIDR_REQ_SENT, 0, false},
		{SIDR_REQ_RCVD, 0, false},
		{SIDR_ANSWERED, 0, true},
		{CLOSED, 0, false},
	};
	struct rig *r = rig_new(&reset);

	vs_conn_destroy(get_to(r, t[_i].at));
	if (t[_i].out != 0)
		expect_mad(r, t[_i].out, NULL);
	rig_expect_silence(r);
	ck_assert_uint_eq(r->dev->conn->count, t[_i].lives);
	rig_advance(r, 600 * SEC); /* DREQs go unanswered, time-wait ends */
	rig_drain(r);
	ck_assert_uint_eq(r->dev->conn->count, 0);
	expect_no_event(r); /* nobody is told */
	ck_assert_uint_eq(vs_dev_deadline(r->dev), VS_NEVER);
	rig_free(r);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("core conn");
	TCase *tc = tcase_create("states");

	tcase_add_loop_test(tc, a_call_does_what_its_state_allows_and_is_refused_elsewhere, 0, AT_COUNT * CALLS);
	tcase_add_loop_test(tc, a_message_does_what_its_state_says_and_nothing_elsewhere, 0, AT_COUNT * MESSAGES);
	tcase_add_loop_test(tc, a_message_with_other_ids_is_not_for_this_connection, 0, 8);
	tcase_add_test(tc, a_message_that_is_never_asked_for_does_nothing);
	tcase_add_loop_test(tc, giving_up_says_goodbye_where_somebody_listens_and_frees, 0, AT_COUNT);
	suite_add_tcase(s, tc);
	return s;
}
