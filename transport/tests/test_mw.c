/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_mw.c - MW-001..009 of the inventory: memory windows of both types, what they open and what shuts them. Each
 * test is one row; its name begins with the id. test_mw_checks.c has what a bind checks, and the end of windows.
 *
 * Implementation-defined rows, and the variant that the engine is:
 *   MW-003   the completion MW_BIND_ERR, not an error of the call (which ibv_bind_mw may make of it)
 *   MW-008   LOC_QP_OP_ERR
 * MW-006: when old and new key are equal nothing is said of the old binding (the amendment).
 */
#include "mw.h"

/* ---- type 1 ---- */

START_TEST(mw_001_a_type_1_window_opens_its_range_to_every_qp_of_the_domain)
{
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw = window(r->pd, VS_MW_TYPE_1);
	struct vs_send_wr wr = bind_wr(r, mw, RIGHTS);
	uint32_t before = vs_mw_rkey(mw), key;
	int kind;

	shut(r, 0, P, MEM(r, OFF), before, VS_REASON_RKEY_INVALID); /* not bound yet */
	wr.bind.rkey = 0xffffffff;                                  /* the device chooses */
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	key = vs_mw_posted_rkey(mw); /* known at the post, valid when it is executed */
	ck_assert_uint_eq(vs_mw_rkey(mw), before);
	rig_expect_silence(r);
	rig_expect_wc(r, r->scq, 50, VS_WC_SUCCESS);
	ck_assert_uint_eq(vs_mw_rkey(mw), key);
	ck_assert(key != before && key >> 8 == before >> 8);
	for (kind = 0; kind < 3; kind++)
		opens(r, kind, P + (uint32_t)kind, MEM(r, OFF), key);
	opens(r, 0, P + 3, MEM(r, OFF) + LEN - 8, key);
	shut(r, 0, P + 4, MEM(r, OFF) - 8, key, VS_REASON_RKEY_RANGE);
	opens(r, 0, P, MEM(r, OFF), key); /* another QP */
	shut(r, 1, P + 1, MEM(r, OFF) + LEN - 4, key, VS_REASON_RKEY_RANGE);
	shut(r, 0, P, MEM(r, OFF), before, VS_REASON_RKEY_INVALID);
	rig_free(r);
}
END_TEST

START_TEST(mw_001_binding_again_moves_the_window_and_kills_the_old_key)
{
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw = window(r->pd, VS_MW_TYPE_1);
	struct vs_send_wr wr = bind_wr(r, mw, RIGHTS);
	uint32_t first = bound(r, mw, &wr), second;

	wr.bind.addr += 64;
	wr.bind.length = 64;
	wr.bind.access = VS_ACCESS_REMOTE_WRITE;
	second = bound(r, mw, &wr);
	ck_assert_uint_ne(first, second);
	opens(r, 0, P, MEM(r, OFF) + 64, second);
	shut(r, 0, P + 1, MEM(r, OFF), second, VS_REASON_RKEY_RANGE);
	shut(r, 1, P, MEM(r, OFF) + 64, second, VS_REASON_RKEY_ACCESS);
	shut(r, 0, P, MEM(r, OFF) + 64, first, VS_REASON_RKEY_INVALID);
	rig_free(r);
}
END_TEST

START_TEST(mw_002_length_0_unbinds_type_1)
{
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw = window(r->pd, VS_MW_TYPE_1);
	struct vs_mr *mr = region(r, r->pd, 0x1f);
	struct vs_send_wr wr = bind_wr(r, mw, RIGHTS);
	uint32_t key, unbound;

	wr.bind.mr = mr;
	key = bound(r, mw, &wr);
	opens(r, 0, P, MEM(r, OFF), key);
	ck_assert_int_eq(vs_mr_dereg(mr), VS_ERR_BUSY);
	wr.bind.length = 0;
	wr.bind.mr = _i == 0 ? mr : NULL;
	unbound = bound(r, mw, &wr);
	ck_assert_int_eq(vs_mr_dereg(mr), VS_OK);
	shut(r, 0, P + 1, MEM(r, OFF), key, VS_REASON_RKEY_INVALID);
	shut(r, 0, P, MEM(r, OFF), unbound, VS_REASON_RKEY_INVALID);
	rig_free(r);
}
END_TEST

START_TEST(mw_003_type_1_is_never_zero_based)
{
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw = window(r->pd, VS_MW_TYPE_1);
	struct vs_send_wr wr = bind_wr(r, mw, VS_ACCESS_REMOTE_WRITE);
	uint32_t key = bound(r, mw, &wr);

	wr.bind.access |= VS_ACCESS_ZERO_BASED;
	not_bound(r, mw, &wr, VS_REASON_MW_ZERO_BASED);
	next_qp(r);
	opens(r, 0, P, MEM(r, OFF), key); /* the binding before it stands */
	rig_free(r);
}
END_TEST

START_TEST(mw_001_a_bind_completes_behind_what_was_posted_before)
{
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw = window(r->pd, VS_MW_TYPE_2);
	struct vs_send_wr wr = bind_wr(r, mw, RIGHTS);

	rig_post(r, VS_WR_SEND, 1, 0, 8);
	post(r, &wr);
	rig_post(r, VS_WR_SEND, 2, 0, 8);
	rig_expect(r, VS_OP_RC_SEND_ONLY, D);
	rig_expect(r, VS_OP_RC_SEND_ONLY, D + 1); /* it takes no PSN */
	rig_expect_no_wc(r);
	opens(r, 0, P, MEM(r, OFF), vs_mw_rkey(mw)); /* done, and not told yet */
	rig_in_ack(r, D, 0x1f, 1);
	rig_expect_wc(r, r->scq, 1, VS_WC_SUCCESS);
	rig_expect_wc(r, r->scq, 50, VS_WC_SUCCESS);
	rig_expect_no_wc(r);
	rig_free(r);
}
END_TEST

START_TEST(mw_001_the_key_of_each_posted_bind_is_known_before_it_is_executed)
{
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw = window(r->pd, VS_MW_TYPE_1);
	struct vs_send_wr wr = bind_wr(r, mw, RIGHTS), bad = wr;
	uint32_t key[4];
	unsigned i;

	ck_assert_uint_eq(vs_mw_posted_rkey(mw), vs_mw_rkey(mw));
	for (i = 0; i < 3; i++) {
		post(r, &wr);
		key[i] = vs_mw_posted_rkey(mw);
		ck_assert(i == 0 || key[i] != key[i - 1]);
	}
	rig_expect_silence(r);
	for (i = 0; i < 3; i++)
		rig_expect_wc(r, r->scq, 50, VS_WC_SUCCESS);
	ck_assert_uint_eq(vs_mw_rkey(mw), key[2]);
	opens(r, 0, P, MEM(r, OFF), key[2]);
	shut(r, 0, P + 1, MEM(r, OFF), key[1], VS_REASON_RKEY_INVALID);
	bad.bind.length = 2 * (uint64_t)RIG_MEM; /* fails: its key is never valid, the next one is told right */
	not_bound(r, mw, &bad, VS_REASON_MW_RANGE);
	next_qp(r);
	key[3] = bound(r, mw, &wr);
	ck_assert_uint_eq(key[3], vs_mw_posted_rkey(mw));
	opens(r, 0, P, MEM(r, OFF), key[3]);
	rig_free(r);
}
END_TEST

START_TEST(mw_001_many_binds_posted_at_once)
{
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw = window(r->pd, VS_MW_TYPE_1);
	struct vs_send_wr wr = bind_wr(r, mw, RIGHTS);
	unsigned round, i;

	for (round = 0; round < 6; round++) { /* the key byte goes once around */
		for (i = 0; i < 64; i++)
			post(r, &wr);
		rig_expect_silence(r);
		for (i = 0; i < 64; i++)
			rig_expect_wc(r, r->scq, 50, VS_WC_SUCCESS);
		ck_assert_uint_eq(vs_mw_rkey(mw), vs_mw_posted_rkey(mw));
		opens(r, 0, P + round, MEM(r, OFF), vs_mw_rkey(mw));
	}
	rig_free(r);
}
END_TEST

START_TEST(mw_001_a_domain_stays_as_long_as_it_has_a_window)
{
	struct rig *r = rig_new(NULL);
	int err;
	struct vs_pd *pd = vs_pd_create(r->dev, &err);
	struct vs_mw *mw = window(pd, (enum vs_mw_type)(1 + _i));

	ck_assert_int_eq(vs_pd_destroy(pd), VS_ERR_BUSY);
	ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_IN_USE);
	ck_assert_int_eq(vs_mw_dealloc(mw), VS_OK);
	ck_assert_int_eq(vs_pd_destroy(pd), VS_OK);
	rig_free(r);
}
END_TEST

START_TEST(mw_001_what_alloc_and_post_refuse)
{
	struct rig_opt o = {.dev.max_mw = 2};
	struct rig *r = rig_new(&o);
	struct vs_send_wr wr;
	struct vs_mw *mw;
	int err;

	ck_assert_ptr_null(vs_mw_alloc(r->pd, (enum vs_mw_type)3, &err));
	ck_assert(err == VS_ERR_INVAL && vs_dev_refusal(r->dev) == VS_REASON_MW_TYPE);
	ck_assert_ptr_null(vs_mw_alloc(r->pd, (enum vs_mw_type)0, &err));
	window(r->pd, VS_MW_TYPE_1);
	mw = window(r->pd, VS_MW_TYPE_2);
	ck_assert_ptr_null(vs_mw_alloc(r->pd, VS_MW_TYPE_1, &err));
	ck_assert(err == VS_ERR_NOSPACE && vs_dev_refusal(r->dev) == VS_REASON_LIMIT_MW);
	wr = bind_wr(r, mw, RIGHTS);
	wr.bind.mw = NULL;
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_ERR_INVAL);
	ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_MW_GONE);
	ck_assert_int_eq(vs_mw_dealloc(mw), VS_OK);
	window(r->pd, VS_MW_TYPE_2);
	nothing_happens(r);
	rig_free(r);
}
END_TEST

/* ---- type 2 ---- */

START_TEST(mw_004_a_bound_type_2_window_is_not_bound_again)
{
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw = window(r->pd, VS_MW_TYPE_2);
	struct vs_send_wr wr = bind_wr(r, mw, RIGHTS);
	uint32_t key = bound(r, mw, &wr);

	ck_assert_uint_eq(key, wr.bind.rkey);
	opens(r, 0, P, MEM(r, OFF), key);
	if (_i == 1) { /* through another QP it is not either */
		struct vs_qp *first = r->qp;

		next_qp(r);
		not_bound(r, mw, &wr, VS_REASON_MW_NOT_FREE);
		r->qp = first;
		opens(r, 0, P + 1, MEM(r, OFF), key);
	} else {
		wr.bind.rkey++;
		not_bound(r, mw, &wr, VS_REASON_MW_NOT_FREE);
	}
	rig_free(r);
}
END_TEST

START_TEST(mw_005_a_type_2_window_needs_bytes_and_a_region)
{
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw = window(r->pd, _i < 2 ? VS_MW_TYPE_2 : VS_MW_TYPE_1);
	struct vs_send_wr wr = bind_wr(r, mw, RIGHTS);

	if (_i == 0)
		wr.bind.length = 0;
	else
		wr.bind.mr = NULL;
	not_bound(r, mw, &wr, _i == 0 ? VS_REASON_MW_LENGTH : VS_REASON_MW_NO_MR);
	rig_free(r);
}
END_TEST

START_TEST(mw_006_the_key_byte_is_the_consumers_also_the_old_one)
{
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw = window(r->pd, VS_MW_TYPE_2);
	struct vs_send_wr wr = bind_wr(r, mw, RIGHTS);
	static const uint8_t bytes[] = {0x00, 0xff, 0xff, 0x5a};
	unsigned i;

	wr.bind.rkey = vs_mw_rkey(mw); /* the one it was made with */
	ck_assert_uint_eq(bound(r, mw, &wr), wr.bind.rkey);
	opens(r, 0, P, MEM(r, OFF), wr.bind.rkey);
	for (i = 0; i < COUNT(bytes); i++) {
		invalidate(r, vs_mw_rkey(mw));
		wr.bind.rkey = 0x11111100u | bytes[i]; /* the bits above do not count */
		ck_assert_uint_eq(bound(r, mw, &wr) & 0xff, bytes[i]);
		opens(r, 0, P + 1 + i, MEM(r, OFF), vs_mw_rkey(mw));
	}
	rig_free(r);
}
END_TEST

START_TEST(mw_007_a_local_invalidate_shuts_the_window)
{
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw = window(r->pd, VS_MW_TYPE_2);
	struct vs_mr *mr = region(r, r->pd, 0x1f);
	struct vs_send_wr wr = bind_wr(r, mw, RIGHTS);
	uint32_t key;

	wr.bind.mr = mr;
	key = bound(r, mw, &wr);
	opens(r, _i, P, MEM(r, OFF), key);
	invalidate(r, key);
	ck_assert_int_eq(vs_mr_dereg(mr), VS_OK);
	shut(r, _i, P + 1, MEM(r, OFF), key, VS_REASON_RKEY_INVALID);
	rig_free(r);
}
END_TEST

START_TEST(mw_007_what_is_invalid_is_not_invalidated_again)
{
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw = window(r->pd, VS_MW_TYPE_2);
	struct vs_send_wr wr = bind_wr(r, mw, RIGHTS),
			  inv = {.wr_id = 60, .opcode = VS_WR_LOCAL_INV, .flags = VS_SEND_SIGNALED};

	inv.invalidate_rkey = vs_mw_rkey(mw);
	if (_i == 1) { /* was bound, is not any more */
		inv.invalidate_rkey = bound(r, mw, &wr);
		invalidate(r, inv.invalidate_rkey);
	} else if (_i == 2) { /* the key before the bind */
		bound(r, mw, &wr);
	}
	post(r, &inv);
	rig_expect_silence(r);
	ck_assert_uint_eq(rig_expect_wc(r, r->scq, 60, VS_WC_LOC_QP_OP_ERR).vendor_err, VS_REASON_INV_KEY);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_ERR);
	rig_free(r);
}
END_TEST

START_TEST(mw_008_a_type_1_window_is_not_invalidated)
{
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw = window(r->pd, VS_MW_TYPE_1);
	struct vs_send_wr wr = bind_wr(r, mw, RIGHTS), inv = {.wr_id = 60, .opcode = VS_WR_LOCAL_INV};
	uint32_t key = bound(r, mw, &wr);

	inv.invalidate_rkey = key;
	post(r, &inv);
	rig_post(r, VS_WR_SEND, 61, 0, 8);
	rig_expect_silence(r);
	ck_assert_uint_eq(rig_expect_wc(r, r->scq, 60, VS_WC_LOC_QP_OP_ERR).vendor_err, VS_REASON_INV_TYPE_1);
	rig_expect_wc(r, r->scq, 61, VS_WC_WR_FLUSH_ERR);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_ERR);
	next_qp(r);
	opens(r, 0, P, MEM(r, OFF), key);
	rig_free(r);
}
END_TEST

START_TEST(mw_009_a_type_2_window_belongs_to_the_qp_that_bound_it)
{
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw = window(r->pd, VS_MW_TYPE_2);
	struct vs_send_wr wr = bind_wr(r, mw, RIGHTS),
			  inv = {.wr_id = 60, .opcode = VS_WR_LOCAL_INV, .flags = VS_SEND_SIGNALED};
	uint32_t key = bound(r, mw, &wr);
	struct vs_qp *owner = r->qp;

	next_qp(r);
	shut(r, _i, P, MEM(r, OFF), key, VS_REASON_RKEY_QP);
	inv.invalidate_rkey = key; /* nor may another QP invalidate it */
	post(r, &inv);
	rig_expect_silence(r);
	ck_assert_uint_eq(rig_expect_wc(r, r->scq, 60, VS_WC_LOC_QP_OP_ERR).vendor_err, VS_REASON_INV_QP);
	r->qp = owner;
	opens(r, _i, P, MEM(r, OFF), key);
	rig_free(r);
}
END_TEST

START_TEST(mw_005_a_window_or_region_that_goes_between_post_and_bind)
{
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw = window(r->pd, VS_MW_TYPE_2);
	struct vs_mr *mr = region(r, r->pd, 0x1f);
	struct vs_send_wr wr = bind_wr(r, mw, RIGHTS);

	wr.bind.mr = mr;
	post(r, &wr);
	if (_i == 0)
		ck_assert_int_eq(vs_mw_dealloc(mw), VS_OK);
	else if (_i == 1)
		ck_assert_int_eq(vs_mr_dereg(mr), VS_OK);
	else /* its key is another one now: the region that was meant is gone */
		ck_assert_int_eq(vs_mr_rereg(mr, VS_REREG_ACCESS, NULL, &(struct vs_mr_attr){.access = 0x1f}), VS_OK);
	rig_expect_silence(r);
	ck_assert_uint_eq(rig_expect_wc(r, r->scq, 50, VS_WC_MW_BIND_ERR).vendor_err,
			  _i == 0 ? VS_REASON_MW_GONE : VS_REASON_MW_NO_MR);
	rig_free(r);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("mw");
	TCase *tc = tcase_create("windows");

	tcase_add_test(tc, mw_001_a_type_1_window_opens_its_range_to_every_qp_of_the_domain);
	tcase_add_test(tc, mw_001_binding_again_moves_the_window_and_kills_the_old_key);
	tcase_add_test(tc, mw_001_a_bind_completes_behind_what_was_posted_before);
	tcase_add_test(tc, mw_001_the_key_of_each_posted_bind_is_known_before_it_is_executed);
	tcase_add_test(tc, mw_001_many_binds_posted_at_once);
	tcase_add_loop_test(tc, mw_001_a_domain_stays_as_long_as_it_has_a_window, 0, 2);
	tcase_add_test(tc, mw_001_what_alloc_and_post_refuse);
	tcase_add_loop_test(tc, mw_002_length_0_unbinds_type_1, 0, 2);
	tcase_add_test(tc, mw_003_type_1_is_never_zero_based);
	tcase_add_loop_test(tc, mw_004_a_bound_type_2_window_is_not_bound_again, 0, 2);
	tcase_add_loop_test(tc, mw_005_a_type_2_window_needs_bytes_and_a_region, 0, 3);
	tcase_add_loop_test(tc, mw_005_a_window_or_region_that_goes_between_post_and_bind, 0, 3);
	tcase_add_test(tc, mw_006_the_key_byte_is_the_consumers_also_the_old_one);
	tcase_add_loop_test(tc, mw_007_a_local_invalidate_shuts_the_window, 0, 3);
	tcase_add_loop_test(tc, mw_007_what_is_invalid_is_not_invalidated_again, 0, 3);
	tcase_add_test(tc, mw_008_a_type_1_window_is_not_invalidated);
	tcase_add_loop_test(tc, mw_009_a_type_2_window_belongs_to_the_qp_that_bound_it, 0, 3);
	suite_add_tcase(s, tc);
	return s;
}
