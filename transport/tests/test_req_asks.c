/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_req_asks.c - nothing waits for an acknowledge that nobody asked for, however a request that was to follow and
 * ask is held up (REQ-011, REQ-020, REQ-037, QPS-027). No timer helps here: the timeout is 0.
 */
#include "qps.h"

#define D RIG_DUT_PSN

static const struct rig_opt no_timer = {.timeout = RIG_NO_TIMEOUT};

/* An unsignaled SEND, id 1; it asks for nothing as long as something follows. */
static void post_quiet(struct rig *r)
{
	struct vs_sge sge;
	struct vs_send_wr wr = rig_wr(r, VS_WR_SEND, 1, &sge, 0, 8);

	wr.flags = 0;
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
}

static void goes_out(struct rig *r, uint32_t psn, bool asks)
{
	ck_assert_int_eq(rig_expect(r, VS_OP_RC_SEND_ONLY, psn).bth.ackreq, asks);
}

START_TEST(qps_027_what_asked_for_no_ack_asks_on_the_way_to_sqd)
{
	struct rig *r = rig_new(&no_timer);

	post_quiet(r);
	rig_post(r, VS_WR_SEND, 2, 0, 8);
	goes_out(r, D, false);
	to_sqd(r, true);
	ck_assert_uint_eq(shown(r).sq_draining, 1);
	goes_out(r, D, true);
	nothing_happens(r);
	rig_in_ack(r, D, 0x1f, 1);
	ck_assert_uint_eq(shown(r).sq_draining, 0);
	rig_expect_async(r, VS_EVENT_SQ_DRAINED);
	nothing_happens(r);
	rig_free(r);
}
END_TEST

START_TEST(qps_027_what_asked_for_an_ack_is_not_repeated_on_the_way_to_sqd)
{
	struct rig *r = rig_new(&no_timer);

	post_quiet(r);
	rig_post(r, VS_WR_SEND, 2, 0, 2048);
	rig_post(r, VS_WR_SEND, 3, 0, 8);
	goes_out(r, D, false);
	rig_expect(r, VS_OP_RC_SEND_FIRST, D + 1);
	if (_i == 0) { /* in the middle of the next one, whose last packet asks */
		to_sqd(r, true);
		ck_assert(rig_expect(r, VS_OP_RC_SEND_LAST, D + 2).bth.ackreq);
	} else {
		ck_assert(rig_expect(r, VS_OP_RC_SEND_LAST, D + 2).bth.ackreq);
		to_sqd(r, true);
	}
	nothing_happens(r);
	rig_in_ack(r, D + 2, 0x1f, 2);
	rig_expect_async(r, VS_EVENT_SQ_DRAINED);
	rig_expect_wc(r, r->scq, 2, VS_WC_SUCCESS);
	nothing_happens(r);
	rig_free(r);
}
END_TEST

START_TEST(req_037_a_failure_waits_for_no_ack_that_was_not_asked_for)
{
	struct rig *r = rig_new(&no_timer);
	struct vs_mr_attr ma = {MEM(r, 0), 4096, MEM(r, 0), 0};
	int err;
	struct vs_mr *mr = vs_mr_reg(r->pd, &ma, &err);
	struct vs_sge sge;
	struct vs_send_wr wr = rig_wr(r, VS_WR_SEND, 2, &sge, 0, 3000);

	post_quiet(r);
	sge.lkey = vs_mr_lkey(mr);
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	goes_out(r, D, false);
	if (_i == 1)
		rig_expect(r, VS_OP_RC_SEND_FIRST, D + 1);
	ck_assert_int_eq(vs_mr_dereg(mr), VS_OK);
	goes_out(r, D, true);
	nothing_happens(r);
	rig_in_ack(r, D, 0x1f, 1);
	rig_expect_wc(r, r->scq, 2, VS_WC_LOC_PROT_ERR);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_ERR);
	nothing_happens(r);
	rig_free(r);
}
END_TEST

START_TEST(req_037_a_request_that_failed_unsent_makes_nothing_go_out_again)
{
	struct rig *r = rig_new(&no_timer);
	struct vs_sge sge;
	struct vs_send_wr wr;
	unsigned i;

	for (i = 1; i <= 5; i++)
		rig_post(r, VS_WR_SEND, i, 0, 8);
	wr = rig_wr(r, VS_WR_SEND, 6, &sge, 0, 8);
	sge.lkey ^= 0x100;
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	ck_assert_uint_eq(rig_drain(r), 5);
	rig_in_ack(r, D + 2, 0x1f, 3); /* PSN 0: three of five */
	rig_expect_silence(r);
	rig_in_ack(r, D + 4, 0x1f, 5);
	rig_expect_silence(r);
	for (i = 1; i <= 5; i++)
		rig_expect_wc(r, r->scq, i, VS_WC_SUCCESS);
	rig_expect_wc(r, r->scq, 6, VS_WC_LOC_PROT_ERR);
	rig_free(r);
}
END_TEST

START_TEST(req_020_a_read_of_all_psns_waits_for_no_ack_that_was_not_asked_for)
{
	struct rig_opt o = {.timeout = RIG_NO_TIMEOUT, .mtu = VS_MTU_256};
	struct rig *r = rig_new(&o);

	post_quiet(r);
	rig_post(r, VS_WR_RDMA_READ, 2, 0, 0x80000000u); /* 2^23 responses */
	goes_out(r, D, false);
	goes_out(r, D, true);
	nothing_happens(r);
	rig_in_ack(r, D, 0x1f, 1);
	rig_expect(r, VS_OP_RC_READ_REQUEST, D + 1);
	nothing_happens(r);
	rig_free(r);
}
END_TEST

/* Every packet has another one behind it, so none asks; but the first has been out for half of the ACK timeout. */
START_TEST(req_011_who_has_its_turn_rarely_asks_before_the_timer_fires)
{
	const struct rig_opt o = {.timeout = 14}; /* 67.1 ms */
	struct rig *r = rig_new(&o);
	unsigned i;

	for (i = 0; i < 6; i++)
		post_quiet(r);
	goes_out(r, D, false);
	rig_advance(r, 33000000);
	goes_out(r, D + 1, false);
	rig_advance(r, 1000000);
	goes_out(r, D + 2, true);
	goes_out(r, D + 3, false); /* it is asked for */
	rig_in_ack(r, D + 2, 0x1f, 3);
	rig_advance(r, 20000000);
	goes_out(r, D + 4, false); /* the timer has begun anew */
	goes_out(r, D + 5, true);  /* the last */
	rig_free(r);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("req_asks");
	TCase *tc = tcase_create("asks");

	tcase_add_test(tc, qps_027_what_asked_for_no_ack_asks_on_the_way_to_sqd);
	tcase_add_loop_test(tc, qps_027_what_asked_for_an_ack_is_not_repeated_on_the_way_to_sqd, 0, 2);
	tcase_add_loop_test(tc, req_037_a_failure_waits_for_no_ack_that_was_not_asked_for, 0, 2);
	tcase_add_test(tc, req_037_a_request_that_failed_unsent_makes_nothing_go_out_again);
	tcase_add_test(tc, req_011_who_has_its_turn_rarely_asks_before_the_timer_fires);
	tcase_add_test(tc, req_020_a_read_of_all_psns_waits_for_no_ack_that_was_not_asked_for);
	suite_add_tcase(s, tc);
	return s;
}
