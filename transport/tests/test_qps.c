/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_qps.c - QPS rows of the inventory, first part: which transition exists, what it needs and allows, and that
 * a refused modify changes nothing. Each test is one row; its name begins with the id.
 *
 *   test_qps_values.c    QPS-038..049: the values of attributes
 *   test_qps_traffic.c   QPS-023..035: what a change of state does to the traffic
 *   test_qps_life.c      QPS-050..064: posts and packets in each state, destroy, reuse
 *   test_qps_random.c    random walks against a model of the table
 *
 * Implementation-defined here: QPS-006 refused; QPS-016 RESET -> ERR is refused, as in the table of Linux.
 */
#include "qps.h"

static const enum vs_qp_type types[] = {VS_QPT_RC, VS_QPT_UC, VS_QPT_UD};

/* ---- a new queue pair ---- */

START_TEST(qps_001_a_new_qp_is_in_reset)
{
	static const enum vs_qp_type all[] = {VS_QPT_RC, VS_QPT_UC, VS_QPT_UD, VS_QPT_GSI};
	struct rig_opt o = {.type = all[_i], .stay_in_reset = true, .dev.cm_disabled = true};
	struct rig *r = rig_new(&o);
	struct vs_qp_attr a, nothing;
	struct vs_qp_init init;

	memset(&nothing, 0, sizeof(nothing));
	vs_qp_query(r->qp, &a, &init);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_RESET);
	ck_assert_int_eq(a.state, VS_QPS_RESET);
	ck_assert_int_eq(a.cur_state, VS_QPS_RESET);
	same_attr(&a, &nothing);
	ck_assert_int_eq(init.type, all[_i]);
	ck_assert(init.send_cq == r->scq && init.recv_cq == r->rcq && init.srq == NULL && !init.sq_sig_all);
	ck_assert(init.cap.max_send_wr == 64 && init.cap.max_recv_wr == 64 && init.cap.max_send_sge == 4 &&
		  init.cap.max_recv_sge == 4 && init.cap.max_inline_data == 128);
	ck_assert_uint_eq(init.qpn, vs_qp_num(r->qp));
	ck_assert_uint_eq(vs_qp_cookie(r->qp), 0xc0071e);
	if (all[_i] == VS_QPT_GSI)
		ck_assert_uint_eq(vs_qp_num(r->qp), 1);
	else
		ck_assert(vs_qp_num(r->qp) > 1 && vs_qp_num(r->qp) < 0xffffff);
	nothing_happens(r);
	rig_free(r);
}
END_TEST

/* ---- RESET -> INIT ---- */

static uint32_t init_mask(enum vs_qp_type type)
{
	return type == VS_QPT_UD ? INIT_UD : INIT_RC;
}

START_TEST(qps_002_reset_to_init_needs_three_attributes)
{
	struct vs_ah *ah;
	struct rig *r = rig_in_state(types[_i], VS_QPS_RESET, &ah);
	struct vs_qp_attr a = attr_to(r, VS_QPS_INIT), want, got;

	memset(&want, 0, sizeof(want));
	accepted(r, &a, VS_QP_STATE | init_mask(types[_i]));
	want.state = want.cur_state = VS_QPS_INIT;
	want.port_num = 1;
	if (types[_i] == VS_QPT_UD)
		want.qkey = a.qkey;
	else
		want.access_flags = a.access_flags;
	got = shown(r);
	same_attr(&got, &want); /* and nothing else was taken from `a` */
	nothing_happens(r);
	rig_free(r);
}
END_TEST

/* Every single bit of `required` is needed on the way to `to`, and with all of them it goes. */
static void one_missing(struct rig *r, enum vs_qp_state to, uint32_t required, int which)
{
	struct vs_qp_attr a = attr_to(r, to);
	uint32_t bits = required, bit;

	while (which-- > 0)
		bits &= bits - 1;
	bit = bits & ~(bits - 1);
	ck_assert_uint_ne(bit, 0);
	refused(r, &a, VS_QP_STATE | (required & ~bit), VS_REASON_ATTR_MISSING);
	accepted(r, &a, VS_QP_STATE | required);
	ck_assert_int_eq(vs_qp_state(r->qp), to);
}

static void init_without(enum vs_qp_type type, int which)
{
	struct vs_ah *ah;
	struct rig *r = rig_in_state(type, VS_QPS_RESET, &ah);

	one_missing(r, VS_QPS_INIT, init_mask(type), which);
	rig_free(r);
}

START_TEST(qps_003_reset_to_init_of_rc_with_one_attribute_missing)
{
	init_without(VS_QPT_RC, _i);
}
END_TEST

START_TEST(qps_004_reset_to_init_of_ud_with_one_attribute_missing)
{
	init_without(VS_QPT_UD, _i);
}
END_TEST

START_TEST(qps_005_reset_to_init_of_uc_with_one_attribute_missing)
{
	init_without(VS_QPT_UC, _i);
}
END_TEST

START_TEST(qps_006_reset_to_init_with_an_attribute_of_a_later_transition)
{
	static const uint32_t extra[] = {VS_QP_AV,      VS_QP_PATH_MTU, VS_QP_RQ_PSN,
					 VS_QP_SQ_PSN,  VS_QP_TIMEOUT,  VS_QP_DEST_QPN,
					 VS_QP_CAP,     1u << 31,       VS_QP_EN_SQD_ASYNC_NOTIFY,
					 VS_QP_ALT_PATH};
	enum vs_qp_type type = types[(unsigned)_i / COUNT(extra)];
	struct vs_ah *ah;
	struct rig *r = rig_in_state(type, VS_QPS_RESET, &ah);
	struct vs_qp_attr a = attr_to(r, VS_QPS_INIT);

	refused(r, &a, VS_QP_STATE | init_mask(type) | extra[(unsigned)_i % COUNT(extra)], VS_REASON_ATTR_NOT_ALLOWED);
	accepted(r, &a, VS_QP_STATE | init_mask(type));
	rig_free(r);
}
END_TEST

START_TEST(qps_007_init_to_init_takes_the_attributes_again)
{
	struct rig_opt o = {.type = types[_i % 3], .state = VS_QPS_INIT, .dev.pkeys = {0xffff, 0x8001}};
	struct rig *r = rig_new(&o);
	struct vs_qp_attr a = attr_to(r, VS_QPS_INIT), want = shown(r), got;
	bool ud = types[_i % 3] == VS_QPT_UD;

	a.pkey_index = want.pkey_index = 1;
	if (ud)
		a.qkey = want.qkey = 0x2222;
	else
		a.access_flags = want.access_flags = VS_ACCESS_REMOTE_READ;
	accepted(r, &a, (_i < 3 ? VS_QP_STATE : 0) | init_mask(types[_i % 3])); /* STATE is implied */
	got = shown(r);
	same_attr(&got, &want);
	/* Each alone, too. */
	a.pkey_index = want.pkey_index = 0;
	accepted(r, &a, VS_QP_PKEY_INDEX);
	got = shown(r);
	same_attr(&got, &want);
	nothing_happens(r);
	rig_free(r);
}
END_TEST

/* ---- INIT -> RTR -> RTS ---- */

START_TEST(qps_008_011_init_to_rtr_with_the_least)
{
	static const uint32_t least[] = {RTR_RC, RTR_UC, 0};
	struct vs_ah *ah;
	struct rig *r = rig_in_state(types[_i], VS_QPS_INIT, &ah);
	struct vs_qp_attr a = attr_to(r, VS_QPS_RTR), want = shown(r), got;

	accepted(r, &a, VS_QP_STATE | least[_i]);
	want.state = want.cur_state = VS_QPS_RTR;
	got = shown(r);
	if (types[_i] != VS_QPT_UD) {
		want.path_mtu = a.path_mtu;
		want.dest_qpn = RIG_PEER_QPN;
		want.rq_psn = RIG_PEER_PSN;
		want.av = a.av;
		memcpy(want.av.dmac, (const uint8_t[6]){2, 0, 0, 0, 0, 2}, 6); /* found by the neighbour function */
	}
	if (types[_i] == VS_QPT_RC) {
		want.max_dest_rd_atomic = a.max_dest_rd_atomic;
		want.min_rnr_timer = a.min_rnr_timer;
	}
	same_attr(&got, &want);
	nothing_happens(r);
	rig_free(r);
}
END_TEST

START_TEST(qps_009_010_init_to_rtr_with_one_attribute_missing)
{
	bool rc = _i < 6;
	struct vs_ah *ah;
	struct rig *r = rig_in_state(rc ? VS_QPT_RC : VS_QPT_UC, VS_QPS_INIT, &ah);

	one_missing(r, VS_QPS_RTR, rc ? RTR_RC : RTR_UC, rc ? _i : _i - 6);
	rig_free(r);
}
END_TEST

START_TEST(qps_012_rtr_to_rts_with_the_least)
{
	static const uint32_t least[] = {RTS_RC, VS_QP_SQ_PSN, VS_QP_SQ_PSN};
	struct vs_ah *ah;
	struct rig *r = rig_in_state(types[_i], VS_QPS_RTR, &ah);
	struct vs_qp_attr a = attr_to(r, VS_QPS_RTS), want = shown(r), got;

	accepted(r, &a, VS_QP_STATE | least[_i]);
	want.state = want.cur_state = VS_QPS_RTS;
	want.sq_psn = RIG_DUT_PSN;
	if (types[_i] == VS_QPT_RC) {
		want.timeout = a.timeout;
		want.retry_cnt = a.retry_cnt;
		want.rnr_retry = a.rnr_retry;
		want.max_rd_atomic = a.max_rd_atomic;
	}
	got = shown(r);
	same_attr(&got, &want);
	nothing_happens(r);
	rig_free(r);
}
END_TEST

START_TEST(qps_013_014_rtr_to_rts_with_one_attribute_missing)
{
	static const enum vs_qp_type t[] = {VS_QPT_RC, VS_QPT_RC, VS_QPT_RC, VS_QPT_RC,
					    VS_QPT_RC, VS_QPT_UC, VS_QPT_UD};
	struct vs_ah *ah;
	struct rig *r = rig_in_state(t[_i], VS_QPS_RTR, &ah);

	one_missing(r, VS_QPS_RTS, t[_i] == VS_QPT_RC ? RTS_RC : VS_QP_SQ_PSN, t[_i] == VS_QPT_RC ? _i : 0);
	rig_free(r);
}
END_TEST

/* ---- transitions that do not exist ---- */

struct way {
	enum vs_qp_state from, to;
};

/* With whatever mask. */
static void does_not_exist(enum vs_qp_type type, enum vs_qp_state from, enum vs_qp_state to)
{
	static const uint32_t masks[] = {0, INIT_RC, INIT_UD, RTR_RC, RTS_RC, VS_QP_EN_SQD_ASYNC_NOTIFY};
	struct vs_ah *ah;
	struct rig *r = rig_in_state(type, from, &ah);
	unsigned i;

	for (i = 0; i < COUNT(masks); i++) {
		struct vs_qp_attr a = attr_to(r, to);

		refused(r, &a, VS_QP_STATE | masks[i], VS_REASON_TRANSITION);
	}
	rig_free(r);
}

START_TEST(qps_015_illegal_from_reset)
{
	static const enum vs_qp_state to[] = {VS_QPS_RTR, VS_QPS_RTS, VS_QPS_SQD, VS_QPS_SQE};

	does_not_exist(types[_i / 4], VS_QPS_RESET, to[_i % 4]);
}
END_TEST

START_TEST(qps_016_reset_to_err_is_refused)
{
	does_not_exist(types[_i], VS_QPS_RESET, VS_QPS_ERR);
}
END_TEST

START_TEST(qps_017_illegal_from_init)
{
	static const enum vs_qp_state to[] = {VS_QPS_RTS, VS_QPS_SQD, VS_QPS_SQE};

	does_not_exist(types[_i / 3], VS_QPS_INIT, to[_i % 3]);
}
END_TEST

START_TEST(qps_018_illegal_from_rtr)
{
	static const enum vs_qp_state to[] = {VS_QPS_INIT, VS_QPS_RTR, VS_QPS_SQD, VS_QPS_SQE};

	does_not_exist(types[_i / 4], VS_QPS_RTR, to[_i % 4]);
}
END_TEST

START_TEST(qps_019_illegal_from_rts)
{
	static const enum vs_qp_state to[] = {VS_QPS_INIT, VS_QPS_RTR, VS_QPS_SQE};

	does_not_exist(types[_i / 3], VS_QPS_RTS, to[_i % 3]);
}
END_TEST

START_TEST(qps_020_illegal_from_sqd)
{
	static const enum vs_qp_state to[] = {VS_QPS_INIT, VS_QPS_RTR, VS_QPS_SQE};

	does_not_exist(types[_i / 3], VS_QPS_SQD, to[_i % 3]);
}
END_TEST

START_TEST(qps_021_illegal_from_sqe)
{
	static const enum vs_qp_state to[] = {VS_QPS_INIT, VS_QPS_RTR, VS_QPS_SQD, VS_QPS_SQE};

	does_not_exist(types[1 + _i / 4], VS_QPS_SQE, to[_i % 4]); /* RC is never there */
}
END_TEST

START_TEST(qps_022_illegal_from_err)
{
	static const enum vs_qp_state to[] = {VS_QPS_INIT, VS_QPS_RTR, VS_QPS_RTS, VS_QPS_SQD, VS_QPS_SQE};

	does_not_exist(types[_i / 5], VS_QPS_ERR, to[_i % 5]);
}
END_TEST

START_TEST(qps_019_a_state_outside_the_enumeration)
{
	struct rig *r = rig_new(NULL);
	struct vs_qp_attr a = attr_to(r, (enum vs_qp_state)(_i == 0 ? 7 : _i == 1 ? 200 : -1));

	refused(r, &a, VS_QP_STATE, VS_REASON_TRANSITION);
	rig_free(r);
}
END_TEST

START_TEST(qps_023_024_reset_and_err_take_nothing_but_the_state)
{
	enum vs_qp_type type = types[_i / 14];
	enum vs_qp_state is = (enum vs_qp_state)(_i % 7), to = _i % 14 < 7 ? VS_QPS_RESET : VS_QPS_ERR;
	struct vs_ah *ah;
	struct rig *r = rig_in_state(type, is, &ah);
	struct vs_qp_attr a;
	unsigned bit;

	if (r == NULL)
		return;
	a = attr_to(r, to);
	if (is == VS_QPS_RESET && to == VS_QPS_ERR) {
		rig_free(r);
		return;
	}
	for (bit = 1; bit < 32; bit++) {
		a.cur_state = is; /* true, and not allowed either */
		refused(r, &a, VS_QP_STATE | 1u << bit,
			1u << bit == VS_QP_CUR_STATE && (is < VS_QPS_RTR || is == VS_QPS_ERR)
				? VS_REASON_CUR_STATE_VALUE
				: VS_REASON_ATTR_NOT_ALLOWED);
	}
	accepted(r, &a, VS_QP_STATE);
	ck_assert_int_eq(vs_qp_state(r->qp), to);
	rig_free(r);
}
END_TEST

/* The kernel's table has it for raw packets alone. */
START_TEST(qps_006_026_no_transition_takes_a_rate_limit)
{
	static const struct way w[] = {{VS_QPS_RESET, VS_QPS_INIT}, {VS_QPS_INIT, VS_QPS_INIT},
				       {VS_QPS_INIT, VS_QPS_RTR},   {VS_QPS_RTR, VS_QPS_RTS},
				       {VS_QPS_RTS, VS_QPS_RTS},    {VS_QPS_RTS, VS_QPS_SQD},
				       {VS_QPS_SQD, VS_QPS_SQD},    {VS_QPS_SQD, VS_QPS_RTS}};
	enum vs_qp_type type = types[(unsigned)_i / COUNT(w)];
	const struct way *t = &w[(unsigned)_i % COUNT(w)];
	struct vs_ah *ah;
	struct rig *r = rig_in_state(type, t->from, &ah);
	struct vs_qp_attr a = attr_to(r, t->to);
	uint32_t mask = VS_QP_STATE;

	if (t->to == VS_QPS_INIT)
		mask |= init_mask(type);
	if (t->to == VS_QPS_RTR && type != VS_QPT_UD)
		mask |= type == VS_QPT_RC ? RTR_RC : RTR_UC;
	if (t->from == VS_QPS_RTR)
		mask |= type == VS_QPT_RC ? RTS_RC : VS_QP_SQ_PSN;
	refused(r, &a, mask | VS_QP_RATE_LIMIT, VS_REASON_ATTR_NOT_ALLOWED);
	accepted(r, &a, mask);
	rig_free(r);
}
END_TEST

START_TEST(qps_004_qp_1_is_initialised_without_a_port)
{
	struct rig_opt o = {.type = VS_QPT_GSI, .stay_in_reset = true, .dev.cm_disabled = true};
	struct rig *r = rig_new(&o);
	struct vs_qp_attr a = attr_to(r, VS_QPS_INIT);

	refused(r, &a, VS_QP_STATE | INIT_UD, VS_REASON_ATTR_NOT_ALLOWED);
	refused(r, &a, VS_QP_STATE | VS_QP_PKEY_INDEX, VS_REASON_ATTR_MISSING);
	refused(r, &a, VS_QP_STATE | VS_QP_QKEY, VS_REASON_ATTR_MISSING);
	a.qkey = VS_GSI_QKEY; /* controlled, and its own */
	accepted(r, &a, VS_QP_STATE | VS_QP_PKEY_INDEX | VS_QP_QKEY);
	refused(r, &a, VS_QP_PORT, VS_REASON_ATTR_NOT_ALLOWED);
	accepted(r, &a, VS_QP_PKEY_INDEX | VS_QP_QKEY);
	ck_assert_uint_eq(shown(r).qkey, VS_GSI_QKEY);
	rig_free(r);
}
END_TEST

/* ---- the current state as the caller sees it ---- */

START_TEST(qps_036_a_current_state_that_is_not_the_current_one)
{
	static const enum vs_qp_state s[] = {VS_QPS_RTR, VS_QPS_RTS, VS_QPS_SQD, VS_QPS_SQE};
	enum vs_qp_type type = types[_i / 16];
	enum vs_qp_state is = s[_i % 16 / 4], said = s[_i % 4];
	struct vs_ah *ah;
	struct rig *r = rig_in_state(type, is, &ah);
	struct vs_qp_attr a;
	uint32_t mask = VS_QP_STATE | VS_QP_CUR_STATE;

	if (r == NULL)
		return;
	a = attr_to(r, VS_QPS_RTS);
	a.cur_state = said;
	if (is == VS_QPS_RTR)
		mask |= type == VS_QPT_RC ? RTS_RC : VS_QP_SQ_PSN;
	if (is == said) {
		accepted(r, &a, mask);
		ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_RTS);
		nothing_happens(r);
	} else {
		refused(r, &a, mask, VS_REASON_CUR_STATE);
	}
	rig_free(r);
}
END_TEST

START_TEST(qps_037_a_current_state_of_reset_init_or_err)
{
	static const enum vs_qp_state s[] = {VS_QPS_RESET, VS_QPS_INIT, VS_QPS_ERR, (enum vs_qp_state)7};
	enum vs_qp_state is = (enum vs_qp_state)(_i / 4);
	struct vs_ah *ah;
	struct rig *r = rig_in_state(VS_QPT_UD, is, &ah);
	struct vs_qp_attr a = attr_to(r, is == VS_QPS_RESET ? VS_QPS_INIT : VS_QPS_RESET);

	a.cur_state = s[_i % 4]; /* also where it would be the truth */
	refused(r, &a, VS_QP_STATE | VS_QP_CUR_STATE | (is == VS_QPS_RESET ? INIT_UD : 0), VS_REASON_CUR_STATE_VALUE);
	rig_free(r);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("qps");
	TCase *tc = tcase_create("transitions");

	tcase_add_loop_test(tc, qps_001_a_new_qp_is_in_reset, 0, 4);
	tcase_add_loop_test(tc, qps_002_reset_to_init_needs_three_attributes, 0, 3);
	tcase_add_loop_test(tc, qps_003_reset_to_init_of_rc_with_one_attribute_missing, 0, 3);
	tcase_add_loop_test(tc, qps_004_reset_to_init_of_ud_with_one_attribute_missing, 0, 3);
	tcase_add_loop_test(tc, qps_005_reset_to_init_of_uc_with_one_attribute_missing, 0, 3);
	tcase_add_loop_test(tc, qps_006_reset_to_init_with_an_attribute_of_a_later_transition, 0, 30);
	tcase_add_loop_test(tc, qps_007_init_to_init_takes_the_attributes_again, 0, 6);
	tcase_add_loop_test(tc, qps_008_011_init_to_rtr_with_the_least, 0, 3);
	tcase_add_loop_test(tc, qps_009_010_init_to_rtr_with_one_attribute_missing, 0, 10);
	tcase_add_loop_test(tc, qps_012_rtr_to_rts_with_the_least, 0, 3);
	tcase_add_loop_test(tc, qps_013_014_rtr_to_rts_with_one_attribute_missing, 0, 7);
	tcase_add_loop_test(tc, qps_015_illegal_from_reset, 0, 12);
	tcase_add_loop_test(tc, qps_016_reset_to_err_is_refused, 0, 3);
	tcase_add_loop_test(tc, qps_017_illegal_from_init, 0, 9);
	tcase_add_loop_test(tc, qps_018_illegal_from_rtr, 0, 12);
	tcase_add_loop_test(tc, qps_019_illegal_from_rts, 0, 9);
	tcase_add_loop_test(tc, qps_020_illegal_from_sqd, 0, 9);
	tcase_add_loop_test(tc, qps_021_illegal_from_sqe, 0, 8);
	tcase_add_loop_test(tc, qps_022_illegal_from_err, 0, 15);
	tcase_add_loop_test(tc, qps_019_a_state_outside_the_enumeration, 0, 3);
	tcase_add_loop_test(tc, qps_023_024_reset_and_err_take_nothing_but_the_state, 0, 42);
	tcase_add_loop_test(tc, qps_006_026_no_transition_takes_a_rate_limit, 0, 24);
	tcase_add_test(tc, qps_004_qp_1_is_initialised_without_a_port);
	tcase_add_loop_test(tc, qps_036_a_current_state_that_is_not_the_current_one, 0, 48);
	tcase_add_loop_test(tc, qps_037_a_current_state_of_reset_init_or_err, 0, 7 * 4);
	suite_add_tcase(s, tc);
	return s;
}
