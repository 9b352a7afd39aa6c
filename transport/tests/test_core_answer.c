/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_core_answer.c - the responder's queue of answers at its limits, and every way in which a duplicate is not the
 * request that was saved.
 */
#include <string.h>

#include "core/core.h"
#include "rig.h"

#define P RIG_PEER_PSN
#define MEM(r, off) ((uintptr_t)(r)->mem + (off))
#define KEY(r) vs_mr_rkey((r)->mr)
#define ROOM 62u /* of 64 answers two are kept for NAKs */

static void dropped_for(const struct rig *r, enum vs_reason why)
{
	const struct vs_event *last = &r->log[r->log_len - 1];

	ck_assert_int_eq(last->type, VS_EV_PKT_DROP);
	ck_assert_msg(last->a[0] == why, "%s", vs_reason_info((enum vs_reason)last->a[0])->id);
}

static void one_more(struct rig *r, int kind, uint32_t psn)
{
	switch (kind) {
	case 0:
		rig_in_send(r, VS_OP_RC_SEND_ONLY, psn, 8);
		break;
	case 1:
		rig_in_read(r, psn, MEM(r, 0), KEY(r), 8);
		break;
	default:
		rig_in_atomic(r, VS_OP_RC_FETCH_ADD, psn, MEM(r, 64), KEY(r), 3, 5);
		break;
	}
}

/* A peer that asks and never lets an answer out: what finds no room is as if it were lost, and comes again. */
START_TEST(a_full_queue_of_answers_takes_neither_duplicates_nor_requests)
{
	struct rig *r = rig_new(NULL);
	unsigned i, n;

	for (i = 0; i < 4; i++)
		ck_assert_int_eq(rig_post_recv(r, i, 4096, 64), VS_OK);
	for (i = 0; i < 3; i++)
		one_more(r, (int)i, P + i);
	rig_drain(r);
	for (i = 0; i < ROOM; i++)
		one_more(r, 2, P + 2);
	one_more(r, _i, P + (unsigned)_i); /* again */
	one_more(r, _i, P + 3);            /* and a new one */
	dropped_for(r, VS_REASON_ANSWER_ROOM);
	for (n = 0; n < ROOM; n++)
		rig_expect(r, VS_OP_RC_ATOMIC_ACKNOWLEDGE, P + 2);
	rig_expect_silence(r);
	one_more(r, _i, P + 3); /* was not executed */
	rig_expect(r,
		   _i == 0   ? VS_OP_RC_ACKNOWLEDGE
		   : _i == 1 ? VS_OP_RC_READ_RESPONSE_ONLY
			     : VS_OP_RC_ATOMIC_ACKNOWLEDGE,
		   P + 3);
	rig_free(r);
}
END_TEST

START_TEST(the_last_place_but_one_is_taken)
{
	struct rig *r = rig_new(NULL);
	unsigned i;

	ck_assert_int_eq(rig_post_recv(r, 1, 4096, 64), VS_OK);
	one_more(r, 2, P);
	rig_drain(r);
	for (i = 0; i + 1 < ROOM; i++)
		one_more(r, 2, P);
	one_more(r, 0, P + 1);
	ck_assert_uint_eq(rig_drain(r), ROOM);
	rig_expect_wc(r, r->rcq, 1, VS_WC_SUCCESS);
	rig_free(r);
}
END_TEST

START_TEST(naks_that_nobody_fetches_are_bounded)
{
	struct rig *r = rig_new(NULL);
	unsigned i;

	for (i = 0; i < 100; i++)
		rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 8); /* no receive: RNR NAK */
	ck_assert_uint_eq(rig_counter(r, VS_CNT_SEND_RNR_ERR), 100);
	for (i = 0; i < VS_ANSWERS; i++)
		rig_expect_nak(r, P, 0x20 | 12, 0);
	rig_expect_silence(r);
	rig_free(r);
}
END_TEST

/* A NAK goes behind what was accepted before it, in a queue that other requests have filled. */
START_TEST(a_nak_finds_a_place_in_a_full_queue)
{
	struct rig *r = rig_new(NULL);
	unsigned i;

	one_more(r, 2, P);
	rig_drain(r);
	for (i = 0; i < ROOM; i++)
		one_more(r, 2, P);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P + 7, 8);
	for (i = 0; i < ROOM; i++)
		rig_expect(r, VS_OP_RC_ATOMIC_ACKNOWLEDGE, P);
	rig_expect_nak(r, P + 1, 0x60, 1);
	rig_expect_silence(r);
	rig_free(r);
}
END_TEST

/* ---- duplicates that are not what was saved ---- */

START_TEST(rsp_022_026_a_duplicate_of_another_kind_is_dropped)
{
	struct rig *r = rig_new(NULL);
	struct vs_pkt p;

	rig_in_read(r, P, MEM(r, 0), KEY(r), 8);
	rig_in_atomic(r, VS_OP_RC_COMPARE_SWAP, P + 1, MEM(r, 64), KEY(r), 3, 5);
	p = rig_pkt(r, VS_OP_RC_FLUSH, P + 2);
	p.ext.feth.plt = 1;
	p.ext.reth.va = MEM(r, 0);
	p.ext.reth.rkey = KEY(r);
	p.ext.reth.dmalen = 8;
	rig_in(r, &p);
	rig_drain(r);
	switch (_i) {
	case 0: /* a READ where an atomic was */
		rig_in_read(r, P + 1, MEM(r, 0), KEY(r), 8);
		break;
	case 1:
		rig_in_atomic(r, VS_OP_RC_COMPARE_SWAP, P, MEM(r, 64), KEY(r), 3, 5);
		break;
	case 2:
		rig_in_atomic(r, VS_OP_RC_FETCH_ADD, P + 1, MEM(r, 64), KEY(r), 3, 5);
		break;
	case 3: /* a FLUSH where an atomic was */
		p.bth.psn = P + 1;
		rig_in(r, &p);
		break;
	case 4:
		rig_in_atomic(r, VS_OP_RC_COMPARE_SWAP, P + 2, MEM(r, 64), KEY(r), 3, 5);
		break;
	default: /* before all that is saved */
		rig_in_read(r, P - 1, MEM(r, 0), KEY(r), 8);
		break;
	}
	dropped_for(r, VS_REASON_DUP_NOT_SAVED);
	rig_expect_silence(r);
	rig_free(r);
}
END_TEST

START_TEST(rsp_024_029_a_duplicate_with_another_address_key_or_length_is_dropped)
{
	struct rig *r = rig_new(NULL);

	rig_in_read(r, P, MEM(r, 0), KEY(r), 2000);
	rig_in_atomic(r, VS_OP_RC_COMPARE_SWAP, P + 2, MEM(r, 64), KEY(r), 3, 5);
	rig_in_read(r, P + 3, MEM(r, 0), KEY(r), 0);
	rig_drain(r);
	switch (_i) {
	case 0:
		rig_in_atomic(r, VS_OP_RC_COMPARE_SWAP, P + 2, MEM(r, 72), KEY(r), 3, 5);
		break;
	case 1:
		rig_in_atomic(r, VS_OP_RC_COMPARE_SWAP, P + 2, MEM(r, 64), KEY(r) ^ 1, 3, 5);
		break;
	case 2: /* none of it */
		rig_in_read(r, P, MEM(r, 0), KEY(r), 0);
		break;
	case 3: /* one byte more than is left */
		rig_in_read(r, P + 1, MEM(r, 1024), KEY(r), 977);
		break;
	default: /* a READ of nothing was nothing */
		rig_in_read(r, P + 3, MEM(r, 0), KEY(r), 1);
		break;
	}
	dropped_for(r, VS_REASON_DUP_NOT_SUBSET);
	rig_expect_silence(r);
	rig_in_read(r, P + 1, MEM(r, 1024), KEY(r), 976); /* all that is left */
	rig_expect(r, VS_OP_RC_READ_RESPONSE_ONLY, P + 1);
	rig_in_read(r, P + 3, MEM(r, 0), KEY(r), 0);
	rig_expect(r, VS_OP_RC_READ_RESPONSE_ONLY, P + 3);
	rig_expect_silence(r);
	rig_free(r);
}
END_TEST

START_TEST(rsp_018_a_duplicate_that_nothing_answers_is_silent)
{
	struct rig *r = rig_new(NULL);
	struct vs_pkt p;

	ck_assert_int_eq(rig_post_recv(r, 1, 4096, 64), VS_OK);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 8);
	rig_drain(r);
	p = rig_pkt(r, _i == 0 ? VS_OP_RC_SEND_ONLY : 0x1f /* reserved */, P);
	p.bth.ackreq = _i == 1;
	rig_in(r, &p);
	dropped_for(r, VS_REASON_DUP_SILENT);
	rig_expect_silence(r);
	rig_free(r);
}
END_TEST

/* ---- the rest ---- */

/* C9-110: asked for again while it is being answered, a READ goes on from there, once. */
START_TEST(rsp_023_a_read_that_is_being_answered_starts_again_where_it_is_asked)
{
	struct rig *r = rig_new(NULL);
	unsigned i;

	rig_in_read(r, P, MEM(r, 0), KEY(r), 4096);
	rig_in_read(r, P + 4, MEM(r, 0), KEY(r), 8);
	rig_expect(r, VS_OP_RC_READ_RESPONSE_FIRST, P);
	rig_expect(r, VS_OP_RC_READ_RESPONSE_MIDDLE, P + 1);
	rig_expect(r, VS_OP_RC_READ_RESPONSE_MIDDLE, P + 2);
	rig_in_read(r, P + 1, MEM(r, 1024), KEY(r), 3072);
	rig_expect(r, VS_OP_RC_READ_RESPONSE_FIRST, P + 1);
	if (_i == 2) { /* it is still one READ that waits: with two more the depth of 4 is used up */
		for (i = 0; i < 2; i++)
			rig_in_read(r, P + 5 + i, MEM(r, 0), KEY(r), 8);
		ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_RTS);
		rig_in_read(r, P + 7, MEM(r, 0), KEY(r), 8);
		ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_ERR);
		rig_free(r);
		return;
	}
	if (_i == 1) { /* and from the start */
		rig_in_read(r, P, MEM(r, 0), KEY(r), 4096);
		rig_expect(r, VS_OP_RC_READ_RESPONSE_FIRST, P);
		rig_expect(r, VS_OP_RC_READ_RESPONSE_MIDDLE, P + 1);
	}
	rig_expect(r, VS_OP_RC_READ_RESPONSE_MIDDLE, P + 2);
	rig_expect(r, VS_OP_RC_READ_RESPONSE_LAST, P + 3);
	rig_expect(r, VS_OP_RC_READ_RESPONSE_ONLY, P + 4);
	rig_expect_silence(r);
	rig_free(r);
}
END_TEST

/* What waits in front of the NAK that ended the QP is still sent; when its region has gone, the NAK is all there is. */
START_TEST(rsp_025_a_region_that_goes_behind_a_fatal_nak_ends_the_answers)
{
	struct rig *r = rig_new(NULL);
	uint32_t key = KEY(r);

	rig_in_read(r, P, MEM(r, 0), key, 2000);
	rig_in_send(r, 0x1f, P + 2, 0);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_ERR);
	rig_expect_async(r, VS_EVENT_QP_REQ_ERR);
	rig_expect(r, VS_OP_RC_READ_RESPONSE_FIRST, P);
	ck_assert_int_eq(vs_mr_dereg(r->mr), VS_OK);
	rig_expect_nak(r, P + 1, 0x62, 1);
	rig_expect_silence(r);
	rig_expect_no_async(r); /* one end is told once */
	rig_free(r);
}
END_TEST

/* A repeat that can't be repeated is no fault of the peer's: silence, and the connection goes on. */
START_TEST(rsp_025_a_duplicate_read_of_a_region_that_is_gone_is_silent)
{
	struct rig *r = rig_new(NULL);
	uint32_t key = KEY(r);

	ck_assert_int_eq(rig_post_recv(r, 1, 0, 0), VS_OK);
	rig_in_read(r, P, MEM(r, 0), key, 2000);
	rig_drain(r);
	if (_i == 0) {
		ck_assert_int_eq(vs_mr_dereg(r->mr), VS_OK);
		rig_in_read(r, P, MEM(r, 0), key, 2000);
	} else { /* it goes between the first and the second response */
		rig_in_read(r, P, MEM(r, 0), key, 2000);
		rig_expect(r, VS_OP_RC_READ_RESPONSE_FIRST, P);
		ck_assert_int_eq(vs_mr_dereg(r->mr), VS_OK);
	}
	rig_expect_silence(r);
	rig_expect_no_async(r);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P + 2, 0);
	rig_expect_ack(r, P + 2, 2);
	rig_free(r);
}
END_TEST

START_TEST(rto_058_credits_end_at_code_30)
{
	struct rig_opt o = {.dev.e2e_credits = true, .dev.max_qp_wr = 65536, .stay_in_reset = true};
	struct rig *r = rig_new(&o);
	struct vs_qp_init init = {.type = VS_QPT_RC, .send_cq = r->scq, .recv_cq = r->rcq};
	struct vs_recv_wr wr = {.num_sge = 0};
	struct vs_qp *qp;
	struct vs_pkt p;
	unsigned i;

	init.cap = (struct vs_qp_cap){1, 40000, 1, 1, 0};
	qp = rig_qp(r, &init);
	rig_to(r, qp, VS_QPS_RTS);
	for (i = 0; i < 1 + (_i == 0 ? 32767u : 40000u - 1); i++)
		ck_assert_int_eq(vs_qp_post_recv(qp, &wr), VS_OK);
	p = rig_pkt(r, VS_OP_RC_SEND_ONLY, P);
	p.bth.destqp = vs_qp_num(qp);
	rig_in(r, &p);
	ck_assert(rig_out(r, &p));
	ck_assert_uint_eq(p.ext.aeth.syndrome, _i == 0 ? 29 : 30);
	rig_free(r);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("core answer");
	TCase *tc = tcase_create("limits");

	tcase_add_loop_test(tc, a_full_queue_of_answers_takes_neither_duplicates_nor_requests, 0, 3);
	tcase_add_test(tc, the_last_place_but_one_is_taken);
	tcase_add_test(tc, naks_that_nobody_fetches_are_bounded);
	tcase_add_test(tc, a_nak_finds_a_place_in_a_full_queue);
	tcase_add_loop_test(tc, rto_058_credits_end_at_code_30, 0, 2);
	suite_add_tcase(s, tc);

	tc = tcase_create("duplicates");
	tcase_add_loop_test(tc, rsp_022_026_a_duplicate_of_another_kind_is_dropped, 0, 6);
	tcase_add_loop_test(tc, rsp_024_029_a_duplicate_with_another_address_key_or_length_is_dropped, 0, 5);
	tcase_add_loop_test(tc, rsp_018_a_duplicate_that_nothing_answers_is_silent, 0, 2);
	tcase_add_loop_test(tc, rsp_023_a_read_that_is_being_answered_starts_again_where_it_is_asked, 0, 3);
	tcase_add_loop_test(tc, rsp_025_a_duplicate_read_of_a_region_that_is_gone_is_silent, 0, 2);
	tcase_add_test(tc, rsp_025_a_region_that_goes_behind_a_fatal_nak_ends_the_answers);
	suite_add_tcase(s, tc);
	return s;
}
