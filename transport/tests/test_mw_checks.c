/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_mw_checks.c - MW-010..015 of the inventory, MR-003 and MR-011: what a bind checks, what a window opens, and its
 * end. Each test is one row; its name begins with the id.
 *
 * Implementation-defined rows, and the variant that the engine is:
 *   MR-003   EBUSY while a window is bound
 *   MW-012   found at the bind
 *   MW-013   the completion MW_BIND_ERR, not an error of the call
 */
#include "mw.h"

/* ---- what a bind checks ---- */

START_TEST(mw_010_a_region_that_takes_no_windows)
{
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw = window(r->pd, (enum vs_mw_type)(1 + _i));
	struct vs_send_wr wr = bind_wr(r, mw, VS_ACCESS_REMOTE_READ);

	wr.bind.mr = region(r, r->pd, 0xf);
	not_bound(r, mw, &wr, VS_REASON_MW_NO_BIND_RIGHT);
	ck_assert_int_eq(vs_mr_dereg(wr.bind.mr), VS_OK);
	rig_free(r);
}
END_TEST

START_TEST(mw_011_remote_writes_need_a_region_that_is_written_locally)
{
	static const uint32_t access[] = {VS_ACCESS_REMOTE_WRITE, VS_ACCESS_REMOTE_READ, VS_ACCESS_REMOTE_ATOMIC};
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw = window(r->pd, (enum vs_mw_type)(1 + _i / 3));
	struct vs_send_wr wr = bind_wr(r, mw, access[_i % 3]);

	/* No remote right of its own: the window has its own. */
	wr.bind.mr = region(r, r->pd, VS_ACCESS_MW_BIND);
	if (_i % 3 != 1) {
		not_bound(r, mw, &wr, VS_REASON_MR_LOCAL_WRITE);
		next_qp(r);
		wr.bind.mr = region(r, r->pd, VS_ACCESS_MW_BIND | VS_ACCESS_LOCAL_WRITE);
	}
	opens(r, _i % 3, P, MEM(r, OFF), bound(r, mw, &wr));
	rig_free(r);
}
END_TEST

START_TEST(mw_011_rights_that_a_window_does_not_have)
{
	static const uint32_t access[] = {VS_ACCESS_LOCAL_WRITE, VS_ACCESS_MW_BIND, VS_ACCESS_FLUSH_GLOBAL, 1u << 20};
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw = window(r->pd, VS_MW_TYPE_2);
	struct vs_send_wr wr = bind_wr(r, mw, VS_ACCESS_REMOTE_READ | access[_i]);

	not_bound(r, mw, &wr, VS_REASON_MR_ACCESS);
	rig_free(r);
}
END_TEST

START_TEST(mw_012_a_range_outside_the_region)
{
	static const struct {
		int64_t from; /* relative to the region */
		uint64_t length;
	} bad[] = {
		{-1, LEN},           {-8, 8},           {1, LEN},          {0, LEN + 1}, {LEN, 1}, {0, UINT64_MAX},
		{8, UINT64_MAX - 7}, {-16, UINT64_MAX}, {LEN + 1, 0x1000},
	};
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw = window(r->pd, (enum vs_mw_type)(1 + _i % 2));
	struct vs_send_wr wr = bind_wr(r, mw, RIGHTS);
	uint32_t key;
	unsigned i;

	wr.bind.mr = region(r, r->pd, 0x1f);
	for (i = 0; i < COUNT(bad); i++) {
		wr.bind.addr = MEM(r, OFF) + (uint64_t)bad[i].from;
		wr.bind.length = bad[i].length;
		not_bound(r, mw, &wr, VS_REASON_MW_RANGE);
		next_qp(r);
	}
	wr.bind.addr = MEM(r, OFF) + LEN - 1; /* the last byte alone */
	wr.bind.length = 1;
	key = bound(r, mw, &wr);
	rig_in_write(r, VS_OP_RC_WRITE_ONLY, P, MEM(r, OFF) + LEN - 1, key, 1, 1);
	rig_expect_ack(r, P, 1);
	rig_free(r);
}
END_TEST

START_TEST(mw_013_window_region_and_qp_of_different_domains)
{
	struct rig *r = rig_new(NULL);
	int err;
	struct vs_pd *other = vs_pd_create(r->dev, &err);
	enum vs_mw_type type = (enum vs_mw_type)(1 + _i / 3);
	struct vs_mw *mw = window(_i % 3 == 1 ? r->pd : other, type);
	struct vs_send_wr wr = bind_wr(r, mw, RIGHTS);

	/* 0: the window alone; 1: the region alone; 2: both, so the QP is the odd one */
	wr.bind.mr = region(r, _i % 3 == 0 ? r->pd : other, 0x1f);
	not_bound(r, mw, &wr, VS_REASON_MW_PD);
	ck_assert_int_eq(vs_mr_dereg(wr.bind.mr), VS_OK);
	rig_free(r);
}
END_TEST

START_TEST(mw_014_a_window_opens_for_its_own_rights_alone)
{
	static const uint32_t access[] = {VS_ACCESS_REMOTE_WRITE, VS_ACCESS_REMOTE_READ, VS_ACCESS_REMOTE_ATOMIC};
	struct rig *r = rig_new(NULL);
	enum vs_mw_type type = (enum vs_mw_type)(1 + _i / 3);
	int kind;

	for (kind = 0; kind < 3; kind++) {
		struct vs_mw *mw = window(r->pd, type);
		struct vs_send_wr wr = bind_wr(r, mw, access[_i % 3]);
		uint32_t key = bound(r, mw, &wr);

		opens(r, _i % 3, P, MEM(r, OFF), key);
		if (kind == _i % 3)
			next_qp(r);
		else /* though the region would allow it */
			shut(r, kind, P + 1, MEM(r, OFF), key, VS_REASON_RKEY_ACCESS);
	}
	rig_free(r);
}
END_TEST

START_TEST(mw_013_a_qp_of_another_domain_does_not_open_the_window)
{
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw = window(r->pd, VS_MW_TYPE_1);
	struct vs_send_wr wr = bind_wr(r, mw, RIGHTS);
	uint32_t key = bound(r, mw, &wr);
	struct vs_pd *home = r->pd;
	int err;

	r->pd = vs_pd_create(r->dev, &err);
	next_qp(r);
	shut(r, _i, P, MEM(r, OFF), key, VS_REASON_RKEY_PD);
	r->pd = home;
	next_qp(r);
	opens(r, _i, P, MEM(r, OFF), key);
	rig_free(r);
}
END_TEST

START_TEST(mw_014_a_zero_based_type_2_window_counts_from_0)
{
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw = window(r->pd, VS_MW_TYPE_2);
	struct vs_send_wr wr = bind_wr(r, mw, RIGHTS | VS_ACCESS_ZERO_BASED);
	uint32_t key = bound(r, mw, &wr);

	opens(r, 0, P, 8, key);
	ck_assert_mem_eq(r->mem + OFF + 8, rig_pattern(P), 8);
	opens(r, 0, P + 1, LEN - 8, key);
	if (_i == 0)
		shut(r, 0, P + 2, LEN - 7, key, VS_REASON_RKEY_RANGE);
	else
		shut(r, 0, P + 2, MEM(r, OFF), key, VS_REASON_RKEY_RANGE);
	rig_free(r);
}
END_TEST

/* ---- the end of a window ---- */

START_TEST(mw_015_a_qp_is_destroyed_with_its_windows_bound)
{
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw = window(r->pd, VS_MW_TYPE_2);
	struct vs_mr *mr = region(r, r->pd, 0x1f);
	struct vs_send_wr wr = bind_wr(r, mw, RIGHTS);
	struct vs_qp *owner = r->qp;
	uint32_t key;

	wr.bind.mr = mr;
	key = bound(r, mw, &wr);
	next_qp(r);
	if (_i == 0)
		ck_assert_int_eq(vs_qp_destroy(owner), VS_OK);
	else /* the same goes for its next life */
		ck_assert_int_eq(vs_qp_modify(owner, &(struct vs_qp_attr){.state = VS_QPS_RESET}, VS_QP_STATE), VS_OK);
	shut(r, 0, P, MEM(r, OFF), key, VS_REASON_RKEY_INVALID);
	ck_assert_int_eq(vs_mr_dereg(mr), VS_OK);
	wr.bind.mr = r->mr; /* the window is free */
	opens(r, 0, P, MEM(r, OFF), bound(r, mw, &wr));
	rig_free(r);
}
END_TEST

START_TEST(mw_015_a_type_1_window_outlives_the_qp_that_bound_it)
{
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw = window(r->pd, VS_MW_TYPE_1);
	struct vs_send_wr wr = bind_wr(r, mw, RIGHTS);
	struct vs_qp *binder = r->qp;
	uint32_t key = bound(r, mw, &wr);

	next_qp(r);
	ck_assert_int_eq(vs_qp_destroy(binder), VS_OK);
	opens(r, 0, P, MEM(r, OFF), key);
	rig_free(r);
}
END_TEST

START_TEST(mr_003_a_region_with_a_window_on_it_stays)
{
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw[2] = {window(r->pd, VS_MW_TYPE_1), window(r->pd, VS_MW_TYPE_2)};
	struct vs_mr *mr = region(r, r->pd, 0x1f);
	unsigned i;

	for (i = 0; i < 2; i++) {
		struct vs_send_wr wr = bind_wr(r, mw[i], RIGHTS);

		wr.bind.mr = mr;
		bound(r, mw[i], &wr);
	}
	for (i = 0; i < 2; i++) {
		ck_assert_int_eq(vs_mr_dereg(mr), VS_ERR_BUSY);
		ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_MR_BOUND);
		opens(r, 0, P + i, MEM(r, OFF), vs_mr_rkey(mr)); /* as alive as before */
		ck_assert_int_eq(vs_mw_dealloc(mw[i]), VS_OK);
	}
	ck_assert_int_eq(vs_mr_dereg(mr), VS_OK);
	rig_free(r);
}
END_TEST

START_TEST(mr_011_another_key_byte_kills_the_old_key)
{
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw = window(r->pd, VS_MW_TYPE_2);
	struct vs_send_wr wr = bind_wr(r, mw, RIGHTS);
	uint32_t old = bound(r, mw, &wr), key;

	invalidate(r, old);
	wr.bind.rkey = old + 7;
	key = bound(r, mw, &wr);
	ck_assert_uint_eq(key, (old & ~0xffu) | ((old + 7) & 0xff));
	opens(r, 0, P, MEM(r, OFF), key);
	shut(r, 0, P + 1, MEM(r, OFF), old, VS_REASON_RKEY_INVALID);
	rig_free(r);
}
END_TEST

START_TEST(mw_015_a_deallocated_window_opens_nothing)
{
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw = window(r->pd, (enum vs_mw_type)(1 + _i));
	struct vs_send_wr wr = bind_wr(r, mw, RIGHTS);
	uint32_t key = bound(r, mw, &wr);

	opens(r, 0, P, MEM(r, OFF), key);
	ck_assert_int_eq(vs_mw_dealloc(mw), VS_OK);
	shut(r, 0, P + 1, MEM(r, OFF), key, VS_REASON_RKEY_INVALID);
	rig_free(r);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("mw_checks");
	TCase *tc = tcase_create("checks and ends");

	tcase_add_loop_test(tc, mw_010_a_region_that_takes_no_windows, 0, 2);
	tcase_add_loop_test(tc, mw_011_remote_writes_need_a_region_that_is_written_locally, 0, 6);
	tcase_add_loop_test(tc, mw_011_rights_that_a_window_does_not_have, 0, 4);
	tcase_add_loop_test(tc, mw_012_a_range_outside_the_region, 0, 2);
	tcase_add_loop_test(tc, mw_013_window_region_and_qp_of_different_domains, 0, 6);
	tcase_add_loop_test(tc, mw_013_a_qp_of_another_domain_does_not_open_the_window, 0, 3);
	tcase_add_loop_test(tc, mw_014_a_window_opens_for_its_own_rights_alone, 0, 6);
	tcase_add_loop_test(tc, mw_014_a_zero_based_type_2_window_counts_from_0, 0, 2);
	tcase_add_loop_test(tc, mw_015_a_qp_is_destroyed_with_its_windows_bound, 0, 2);
	tcase_add_test(tc, mw_015_a_type_1_window_outlives_the_qp_that_bound_it);
	tcase_add_loop_test(tc, mw_015_a_deallocated_window_opens_nothing, 0, 2);
	tcase_add_test(tc, mr_003_a_region_with_a_window_on_it_stays);
	tcase_add_test(tc, mr_011_another_key_byte_kills_the_old_key);
	suite_add_tcase(s, tc);
	return s;
}
