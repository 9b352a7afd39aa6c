/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_qps_values.c - QPS-038..049 of the inventory: the values that modify takes and refuses, and what query says
 * of them. Each test is one row; its name begins with the id.
 *
 * Implementation-defined rows, and the variant that the engine is:
 *   QPS-040, -041, -042, -047   refused, neither clamped nor masked
 *   QPS-045                     exact values
 *   QPS-046                     the PSNs that were programmed, not the live ones
 * QPS-049 is about a right of the process: here it is the device attribute allow_privileged_qkey.
 */
#include "qps.h"

struct way {
	enum vs_qp_state from, to;
};

/* Makes one value of `a` bad; the mask bit that it stands for, and why it is refused. */
struct bad {
	enum vs_qp_state from, to; /* RC */
	uint32_t bit;
	void (*spoil)(struct vs_qp_attr *a);
	enum vs_reason why;
};
#define SPOIL(name, what)                              \
	static void spoil_##name(struct vs_qp_attr *a) \
	{                                              \
		a->what;                               \
	}
SPOIL(port_99, port_num = 99)
SPOIL(port_0, port_num = 0)
SPOIL(pkey_16, pkey_index = 16)
SPOIL(pkey_empty, pkey_index = 3)
SPOIL(pkey_max, pkey_index = 0xffff)
SPOIL(access, access_flags = 1u << 11)
SPOIL(mtu_0, path_mtu = 0)
SPOIL(mtu_6, path_mtu = 6)
SPOIL(mtu_large, path_mtu = VS_MTU_4096)
SPOIL(dest_qpn, dest_qpn = 0x1000000)
SPOIL(min_rnr, min_rnr_timer = 32)
SPOIL(timeout, timeout = 32)
SPOIL(retry, retry_cnt = 8)
SPOIL(rnr_retry, rnr_retry = 8)
SPOIL(rd_atomic, max_rd_atomic = 17)
SPOIL(dest_rd_atomic, max_dest_rd_atomic = 17)
SPOIL(sgid_empty, av.sgid_index = 1)
SPOIL(sgid_16, av.sgid_index = 16)
SPOIL(av_port_2, av.port = 2)
SPOIL(av_port_0, av.port = 0)
SPOIL(av_sl, av.sl = 8)
SPOIL(av_flow, av.flow_label = 0x100000)
SPOIL(av_local, av.is_global = false)
static void spoil_vlan(struct vs_qp_attr *a)
{
	a->av.has_vlan = true;
	a->av.vlan_id = 0x1000;
}
static void spoil_dgid(struct vs_qp_attr *a)
{
	memset(a->av.dgid, 0, 16);
}

static uint32_t all_of(enum vs_qp_state from, enum vs_qp_state to)
{
	switch (to) {
	case VS_QPS_INIT:
		return INIT_RC;
	case VS_QPS_RTR:
		return RTR_RC | VS_QP_ACCESS_FLAGS | VS_QP_PKEY_INDEX;
	case VS_QPS_SQD:
		return VS_QP_PORT | VS_QP_AV | VS_QP_TIMEOUT | VS_QP_RETRY_CNT | VS_QP_RNR_RETRY |
		       VS_QP_MAX_QP_RD_ATOMIC | VS_QP_MAX_DEST_RD_ATOMIC | VS_QP_ACCESS_FLAGS | VS_QP_PKEY_INDEX |
		       VS_QP_MIN_RNR_TIMER;
	default:
		return (from == VS_QPS_RTR ? RTS_RC : 0) | VS_QP_ACCESS_FLAGS | VS_QP_MIN_RNR_TIMER;
	}
}

/* A modify with many good values, all of them new, and one bad one: refused, and nothing is changed. */
static void one_bad(const struct bad *b)
{
	struct rig_opt o = {.state = b->from,
			    .stay_in_reset = b->from == VS_QPS_RESET,
			    .dev.pkeys = {0xffff, 0x8001},
			    .dev.active_mtu = VS_MTU_2048};
	struct rig *r = rig_new(&o);
	struct vs_qp_attr a = attr_to(r, b->to);
	uint32_t mask = VS_QP_STATE | all_of(b->from, b->to);

	ck_assert(mask & b->bit);
	/* All other values are good, and new. */
	a.access_flags = VS_ACCESS_REMOTE_READ;
	a.pkey_index = 1;
	a.path_mtu = VS_MTU_512;
	a.min_rnr_timer = 3;
	a.timeout = 5;
	a.retry_cnt = 2;
	a.rnr_retry = 1;
	a.max_rd_atomic = 7;
	a.max_dest_rd_atomic = 9;
	a.av.traffic_class = 0x68;
	b->spoil(&a);
	refused(r, &a, mask, b->why);
	rig_free(r);
}

START_TEST(qps_039_a_bad_port_pkey_index_or_gid_index)
{
	static const struct bad bads[] = {
		{VS_QPS_RESET, VS_QPS_INIT, VS_QP_PORT, spoil_port_99, VS_REASON_PORT_NUM},
		{VS_QPS_RESET, VS_QPS_INIT, VS_QP_PORT, spoil_port_0, VS_REASON_PORT_NUM},
		{VS_QPS_INIT, VS_QPS_INIT, VS_QP_PORT, spoil_port_99, VS_REASON_PORT_NUM},
		{VS_QPS_SQD, VS_QPS_SQD, VS_QP_PORT, spoil_port_99, VS_REASON_PORT_NUM},
		{VS_QPS_RESET, VS_QPS_INIT, VS_QP_PKEY_INDEX, spoil_pkey_16, VS_REASON_PKEY_INDEX},
		{VS_QPS_RESET, VS_QPS_INIT, VS_QP_PKEY_INDEX, spoil_pkey_empty, VS_REASON_PKEY_INDEX},
		{VS_QPS_INIT, VS_QPS_RTR, VS_QP_PKEY_INDEX, spoil_pkey_max, VS_REASON_PKEY_INDEX},
		{VS_QPS_INIT, VS_QPS_RTR, VS_QP_AV, spoil_sgid_empty, VS_REASON_GID_INDEX},
		{VS_QPS_INIT, VS_QPS_RTR, VS_QP_AV, spoil_sgid_16, VS_REASON_GID_INDEX},
		{VS_QPS_SQD, VS_QPS_SQD, VS_QP_AV, spoil_sgid_16, VS_REASON_GID_INDEX},
		{VS_QPS_INIT, VS_QPS_RTR, VS_QP_AV, spoil_av_port_2, VS_REASON_PORT_NUM},
		{VS_QPS_INIT, VS_QPS_RTR, VS_QP_AV, spoil_av_port_0, VS_REASON_PORT_NUM},
		{VS_QPS_SQD, VS_QPS_SQD, VS_QP_AV, spoil_av_port_0, VS_REASON_PORT_NUM},
	};

	one_bad(&bads[_i]);
}
END_TEST

START_TEST(qps_040_a_bad_path_mtu)
{
	static const struct bad bads[] = {
		{VS_QPS_INIT, VS_QPS_RTR, VS_QP_PATH_MTU, spoil_mtu_large, VS_REASON_PATH_MTU},
		{VS_QPS_INIT, VS_QPS_RTR, VS_QP_PATH_MTU, spoil_mtu_0, VS_REASON_PATH_MTU},
		{VS_QPS_INIT, VS_QPS_RTR, VS_QP_PATH_MTU, spoil_mtu_6, VS_REASON_PATH_MTU},
	};

	one_bad(&bads[_i]);
}
END_TEST

START_TEST(qps_041_timer_codes_above_31)
{
	static const struct bad bads[] = {
		{VS_QPS_RTR, VS_QPS_RTS, VS_QP_TIMEOUT, spoil_timeout, VS_REASON_TIMER_CODE},
		{VS_QPS_SQD, VS_QPS_SQD, VS_QP_TIMEOUT, spoil_timeout, VS_REASON_TIMER_CODE},
		{VS_QPS_INIT, VS_QPS_RTR, VS_QP_MIN_RNR_TIMER, spoil_min_rnr, VS_REASON_TIMER_CODE},
		{VS_QPS_RTS, VS_QPS_RTS, VS_QP_MIN_RNR_TIMER, spoil_min_rnr, VS_REASON_TIMER_CODE},
	};

	one_bad(&bads[_i]);
}
END_TEST

START_TEST(qps_042_retry_counts_above_7)
{
	static const struct bad bads[] = {
		{VS_QPS_RTR, VS_QPS_RTS, VS_QP_RETRY_CNT, spoil_retry, VS_REASON_RETRY_COUNT},
		{VS_QPS_RTR, VS_QPS_RTS, VS_QP_RNR_RETRY, spoil_rnr_retry, VS_REASON_RETRY_COUNT},
		{VS_QPS_SQD, VS_QPS_SQD, VS_QP_RNR_RETRY, spoil_rnr_retry, VS_REASON_RETRY_COUNT},
	};

	one_bad(&bads[_i]);
}
END_TEST

START_TEST(qps_044_more_reads_and_atomics_than_the_device_has)
{
	static const struct bad bads[] = {
		{VS_QPS_RTR, VS_QPS_RTS, VS_QP_MAX_QP_RD_ATOMIC, spoil_rd_atomic, VS_REASON_RD_ATOMIC},
		{VS_QPS_INIT, VS_QPS_RTR, VS_QP_MAX_DEST_RD_ATOMIC, spoil_dest_rd_atomic, VS_REASON_RD_ATOMIC},
		{VS_QPS_SQD, VS_QPS_SQD, VS_QP_MAX_DEST_RD_ATOMIC, spoil_dest_rd_atomic, VS_REASON_RD_ATOMIC},
	};

	one_bad(&bads[_i]);
}
END_TEST

START_TEST(qps_047_a_reserved_service_level)
{
	static const struct bad bads[] = {
		{VS_QPS_INIT, VS_QPS_RTR, VS_QP_AV, spoil_av_sl, VS_REASON_AV_SL},
	};

	one_bad(&bads[_i]);
}
END_TEST

START_TEST(qps_038_one_bad_value_of_any_other_kind)
{
	static const struct bad bads[] = {
		{VS_QPS_RESET, VS_QPS_INIT, VS_QP_ACCESS_FLAGS, spoil_access, VS_REASON_MR_ACCESS},
		{VS_QPS_RTS, VS_QPS_RTS, VS_QP_ACCESS_FLAGS, spoil_access, VS_REASON_MR_ACCESS},
		{VS_QPS_INIT, VS_QPS_RTR, VS_QP_DEST_QPN, spoil_dest_qpn, VS_REASON_DEST_QPN},
		{VS_QPS_INIT, VS_QPS_RTR, VS_QP_AV, spoil_av_flow, VS_REASON_AV_RANGE},
		{VS_QPS_INIT, VS_QPS_RTR, VS_QP_AV, spoil_vlan, VS_REASON_AV_RANGE},
		{VS_QPS_INIT, VS_QPS_RTR, VS_QP_AV, spoil_av_local, VS_REASON_AV_NOT_GLOBAL},
		{VS_QPS_INIT, VS_QPS_RTR, VS_QP_AV, spoil_dgid, VS_REASON_AV_DGID},
	};

	one_bad(&bads[_i]);
}
END_TEST

START_TEST(qps_039_the_path_of_an_address_handle_has_a_port_too)
{
	struct vs_ah *ah;
	struct rig *r = rig_in_state(VS_QPT_UD, VS_QPS_RTS, &ah);
	struct vs_qp_attr a = rig_attr(r);
	int err = VS_OK;

	a.av.port = _i == 0 ? 0 : 2;
	ck_assert_ptr_null(vs_ah_create(r->pd, &a.av, &err));
	ck_assert_int_eq(err, VS_ERR_INVAL);
	ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_PORT_NUM);
	rig_free(r);
}
END_TEST

START_TEST(qps_038_the_largest_values_are_good)
{
	struct rig_opt o = {.stay_in_reset = true, .dev.pkeys = {[0] = 0xffff, [15] = 0x8001}};
	struct rig *r = rig_new(&o);
	struct vs_qp_attr a = attr_to(r, VS_QPS_INIT), got;

	a.pkey_index = 15;
	accepted(r, &a, VS_QP_STATE | INIT_RC);
	a.state = VS_QPS_RTR;
	a.path_mtu = VS_MTU_4096;
	a.dest_qpn = 0xffffff;
	a.min_rnr_timer = 31;
	a.max_dest_rd_atomic = 16;
	a.av.sl = 7;
	a.av.flow_label = 0xfffff;
	a.av.has_vlan = true;
	a.av.vlan_id = 0xfff;
	accepted(r, &a, VS_QP_STATE | RTR_RC);
	a.state = VS_QPS_RTS;
	a.timeout = 31;
	a.retry_cnt = a.rnr_retry = 7;
	a.max_rd_atomic = 16;
	accepted(r, &a, VS_QP_STATE | RTS_RC);
	got = shown(r);
	ck_assert(got.pkey_index == 15 && got.path_mtu == VS_MTU_4096 && got.dest_qpn == 0xffffff);
	ck_assert(got.min_rnr_timer == 31 && got.max_dest_rd_atomic == 16 && got.max_rd_atomic == 16);
	ck_assert(got.timeout == 31 && got.retry_cnt == 7 && got.rnr_retry == 7);
	ck_assert(got.av.sl == 7 && got.av.flow_label == 0xfffff && got.av.vlan_id == 0xfff);
	rig_free(r);
}
END_TEST

START_TEST(qps_040_the_active_mtu_is_the_largest_path_mtu)
{
	enum vs_mtu active = (enum vs_mtu)(1 + _i / 5), wanted = (enum vs_mtu)(1 + _i % 5);
	struct rig_opt o = {.state = VS_QPS_INIT, .dev.active_mtu = active};
	struct rig *r = rig_new(&o);
	struct vs_qp_attr a = attr_to(r, VS_QPS_RTR);

	a.path_mtu = wanted;
	if (wanted > active) {
		refused(r, &a, VS_QP_STATE | RTR_RC, VS_REASON_PATH_MTU);
	} else {
		accepted(r, &a, VS_QP_STATE | RTR_RC);
		ck_assert_int_eq(shown(r).path_mtu, wanted);
	}
	rig_free(r);
}
END_TEST

START_TEST(qps_043_a_psn_wider_than_24_bits_is_masked)
{
	struct vs_ah *ah;
	struct rig *r = rig_in_state(VS_QPT_RC, VS_QPS_INIT, &ah);
	struct vs_qp_attr a = attr_to(r, VS_QPS_RTR);

	a.rq_psn = 0xab000000u | RIG_PEER_PSN;
	accepted(r, &a, VS_QP_STATE | RTR_RC);
	ck_assert_uint_eq(shown(r).rq_psn, RIG_PEER_PSN);
	a.state = VS_QPS_RTS;
	a.sq_psn = 0x1000000;
	accepted(r, &a, VS_QP_STATE | RTS_RC);
	ck_assert_uint_eq(shown(r).sq_psn, 0);
	rig_post(r, VS_WR_SEND, 1, 0, 8);
	rig_expect(r, VS_OP_RC_SEND_ONLY, 0);
	rig_post_recv(r, 2, 0, 64);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, RIG_PEER_PSN, 8);
	rig_expect_ack(r, RIG_PEER_PSN, 1);
	rig_expect_wc(r, r->rcq, 2, VS_WC_SUCCESS);
	rig_free(r);
}
END_TEST

START_TEST(qps_045_query_returns_what_was_programmed)
{
	struct rig_opt o = {.stay_in_reset = true, .dev.pkeys = {0xffff, 0x8001}};
	struct rig *r = rig_new(&o);
	struct vs_qp_attr a = attr_to(r, VS_QPS_INIT), got;

	a.pkey_index = 1;
	a.access_flags = VS_ACCESS_REMOTE_WRITE;
	accepted(r, &a, VS_QP_STATE | INIT_RC);
	a.state = VS_QPS_RTR;
	a.path_mtu = VS_MTU_512;
	a.max_dest_rd_atomic = 5; /* no power of two: not rounded */
	a.min_rnr_timer = 17;
	a.av.traffic_class = 0x68;
	a.av.hop_limit = 9;
	a.av.flow_label = 0x12345;
	a.av.sl = 3;
	memcpy(a.av.dmac, (const uint8_t[6]){2, 1, 2, 3, 4, 5}, 6); /* given: the neighbour is not asked */
	accepted(r, &a, VS_QP_STATE | RTR_RC);
	a.state = VS_QPS_RTS;
	a.timeout = 11;
	a.retry_cnt = 3;
	a.rnr_retry = 2;
	a.max_rd_atomic = 3;
	accepted(r, &a, VS_QP_STATE | RTS_RC);
	a.cur_state = VS_QPS_RTS;
	a.qkey = 0; /* RC has none */
	got = shown(r);
	same_attr(&got, &a);
	rig_free(r);
}
END_TEST

START_TEST(qps_046_the_psns_read_back_are_those_programmed)
{
	struct rig *r = rig_new(NULL);
	struct vs_qp_attr before = shown(r), after;

	rig_post_recv(r, 1, 0, 64);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, RIG_PEER_PSN, 8);
	rig_post(r, VS_WR_SEND, 2, 0, 8);
	ck_assert_uint_eq(rig_drain(r), 2);
	after = shown(r);
	ck_assert_uint_eq(after.rq_psn, RIG_PEER_PSN);
	ck_assert_uint_eq(after.sq_psn, RIG_DUT_PSN);
	same_attr(&after, &before);
	rig_free(r);
}
END_TEST

START_TEST(qps_047_service_levels_on_ethernet_and_infiniband)
{
	struct rig_opt o = {.state = VS_QPS_INIT, .ib = _i >= 16};
	struct rig *r = rig_new(&o);
	struct vs_qp_attr a = attr_to(r, VS_QPS_RTR);

	a.av.sl = (uint8_t)(_i % 16);
	a.av.has_vlan = !o.ib;
	if (!o.ib && a.av.sl > 7) {
		refused(r, &a, VS_QP_STATE | RTR_RC, VS_REASON_AV_SL);
		rig_free(r);
		return;
	}
	accepted(r, &a, VS_QP_STATE | RTR_RC);
	rig_to(r, r->qp, VS_QPS_RTS);
	rig_post(r, VS_WR_SEND, 1, 0, 8);
	if (o.ib)
		ck_assert_uint_eq(rig_expect(r, VS_OP_RC_SEND_ONLY, RIG_DUT_PSN).lrh.sl, a.av.sl);
	else /* PCP */
		ck_assert_uint_eq(rig_expect(r, VS_OP_RC_SEND_ONLY, RIG_DUT_PSN).eth.vlan[0].tci >> 13, a.av.sl);
	rig_free(r);
}
END_TEST

START_TEST(qps_048_alternate_paths_are_refused)
{
	static const struct way w[] = {{VS_QPS_INIT, VS_QPS_RTR},
				       {VS_QPS_RTR, VS_QPS_RTS},
				       {VS_QPS_RTS, VS_QPS_RTS},
				       {VS_QPS_SQD, VS_QPS_SQD},
				       {VS_QPS_SQD, VS_QPS_RTS}};
	enum vs_qp_type type = _i < 5 ? VS_QPT_RC : VS_QPT_UC;
	struct vs_ah *ah;
	struct rig *r = rig_in_state(type, w[_i % 5].from, &ah);
	struct vs_qp_attr a = attr_to(r, w[_i % 5].to);
	uint32_t mask = VS_QP_STATE;

	if (w[_i % 5].from == VS_QPS_INIT)
		mask |= type == VS_QPT_RC ? RTR_RC : RTR_UC;
	if (w[_i % 5].from == VS_QPS_RTR)
		mask |= type == VS_QPT_RC ? RTS_RC : VS_QP_SQ_PSN;
	refused(r, &a, mask | VS_QP_ALT_PATH, VS_REASON_ALT_PATH);
	accepted(r, &a, mask);
	rig_free(r);
}
END_TEST

START_TEST(qps_049_a_controlled_qkey_needs_a_privilege)
{
	struct rig_opt o = {.type = VS_QPT_UD, .stay_in_reset = true, .dev.allow_privileged_qkey = _i == 1};
	struct rig *r = rig_new(&o);
	struct vs_qp_attr a = attr_to(r, VS_QPS_INIT);
	static const enum vs_qp_state next[] = {VS_QPS_INIT, VS_QPS_RTR, VS_QPS_RTS, VS_QPS_RTS, VS_QPS_SQD};
	unsigned i;

	for (i = 0; i <= COUNT(next); i++) {
		uint32_t mask = VS_QP_STATE | VS_QP_QKEY;

		if (i > 0)
			a.state = next[i - 1];
		mask |= i == 0 ? INIT_UD : i == 3 ? VS_QP_SQ_PSN : 0;
		if (i == COUNT(next)) { /* SQD -> SQD */
			a.qkey = 1;
			accepted(r, &a, VS_QP_STATE);
		}
		a.qkey = 0x80000001;
		if (_i == 0) {
			refused_with(r, &a, mask, VS_ERR_PERM, VS_REASON_QKEY_PRIVILEGED);
			a.qkey = 0x7fffffff;
		}
		accepted(r, &a, mask);
		ck_assert_uint_eq(shown(r).qkey, _i == 0 ? 0x7fffffff : 0x80000001);
	}
	nothing_happens(r);
	rig_free(r);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("qps_values");
	TCase *tc = tcase_create("values");

	tcase_add_loop_test(tc, qps_039_a_bad_port_pkey_index_or_gid_index, 0, 13);
	tcase_add_loop_test(tc, qps_040_a_bad_path_mtu, 0, 3);
	tcase_add_loop_test(tc, qps_041_timer_codes_above_31, 0, 4);
	tcase_add_loop_test(tc, qps_042_retry_counts_above_7, 0, 3);
	tcase_add_loop_test(tc, qps_044_more_reads_and_atomics_than_the_device_has, 0, 3);
	tcase_add_loop_test(tc, qps_047_a_reserved_service_level, 0, 1);
	tcase_add_loop_test(tc, qps_038_one_bad_value_of_any_other_kind, 0, 7);
	tcase_add_loop_test(tc, qps_039_the_path_of_an_address_handle_has_a_port_too, 0, 2);
	tcase_add_test(tc, qps_038_the_largest_values_are_good);
	tcase_add_loop_test(tc, qps_040_the_active_mtu_is_the_largest_path_mtu, 0, 25);
	tcase_add_test(tc, qps_043_a_psn_wider_than_24_bits_is_masked);
	tcase_add_test(tc, qps_045_query_returns_what_was_programmed);
	tcase_add_test(tc, qps_046_the_psns_read_back_are_those_programmed);
	tcase_add_loop_test(tc, qps_047_service_levels_on_ethernet_and_infiniband, 0, 32);
	tcase_add_loop_test(tc, qps_048_alternate_paths_are_refused, 0, 10);
	tcase_add_loop_test(tc, qps_049_a_controlled_qkey_needs_a_privilege, 0, 2);
	suite_add_tcase(s, tc);
	return s;
}
