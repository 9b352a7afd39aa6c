/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_rto_acks.c - RTO rows of the inventory, second half: acknowledges of every kind, malformed
 * responses, credits, peers that are gone. Each test is one row; its name begins with the id.
 */
#include "rtos.h"

static void in_atomic_ack(struct rig *r, uint32_t psn, uint64_t value)
{
	struct vs_pkt p = rig_pkt(r, VS_OP_RC_ATOMIC_ACKNOWLEDGE, psn);

	p.ext.aeth.syndrome = 0x1f;
	p.ext.aeth.msn = 1;
	p.ext.atomicack_origdata = value;
	rig_in(r, &p);
}

/* ---- acknowledges ---- */

START_TEST(rto_041_one_ack_for_many)
{
	struct rig *r = rig_new(NULL);

	sends(r, 8);
	rig_in_ack(r, D + 7, 0x1f, 8);
	succeeded(r, 1, 8);
	rig_free(r);
}
END_TEST

START_TEST(rto_042_043_duplicate_and_old_acks_change_nothing)
{
	struct rig *r = rig_new(NULL);
	unsigned i;

	sends(r, 3);
	for (i = 0; i < 3; i++)
		rig_in_ack(r, D + 1, 0x1f, 2);
	rig_in_ack(r, D, 0x1f, 1);
	rig_in_ack(r, D - 100, 0x1f, 1);
	rig_expect_silence(r);
	succeeded(r, 1, 2);
	ck_assert_uint_eq(rig_count_events(r, VS_EV_RC_GHOST), 4);
	rig_in_ack(r, D + 2, 0x1f, 3);
	succeeded(r, 3, 3);
	rig_free(r);
}
END_TEST

START_TEST(rto_044_an_ack_for_what_was_never_sent)
{
	struct rig *r = rig_new(NULL);

	sends(r, 2);
	rig_in_ack(r, D + 2, 0x1f, 3);
	rig_in_ack(r, D + 7, 0x1f, 8);
	rig_in_ack(r, D + 0x7fffff, 0x1f, 8);
	rig_expect_no_wc(r);
	rig_expect_silence(r);
	rig_in_ack(r, D + 1, 0x1f, 2);
	succeeded(r, 1, 2);
	rig_free(r);
}
END_TEST

START_TEST(rto_044_an_ack_for_a_psn_that_is_assigned_but_not_sent)
{
	struct rig *r = rig_new(NULL);

	post(r, VS_WR_SEND, 1, 3000);
	rig_expect(r, VS_OP_RC_SEND_FIRST, D);
	rig_in_ack(r, D + 2, 0x1f, 1);
	rig_expect_no_wc(r);
	rig_expect(r, VS_OP_RC_SEND_MIDDLE, D + 1);
	rig_expect(r, VS_OP_RC_SEND_LAST, D + 2);
	rig_in_ack(r, D + 2, 0x1f, 1);
	succeeded(r, 1, 1);
	rig_free(r);
}
END_TEST

START_TEST(rto_045_a_plain_ack_at_a_psn_of_a_read_does_not_complete_it)
{
	struct rig *r = rig_new(NULL);
	uint32_t at = D + 1 + (uint32_t)_i; /* any of its three PSNs */

	post(r, VS_WR_SEND, 1, 8);
	post(r, VS_WR_RDMA_READ, 2, 3000);
	ck_assert_uint_eq(rig_drain(r), 2);
	rig_in_ack(r, at, 0x1f, 2);
	rig_expect_wc(r, r->scq, 1, VS_WC_SUCCESS); /* what is before the READ is acknowledged */
	rig_expect_no_wc(r);
	ck_assert_uint_eq(r->mem[0], 0xee);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_FIRST, D + 1, 1024, 2);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_MIDDLE, D + 2, 1024, 2);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_LAST, D + 3, 952, 2);
	succeeded(r, 2, 2);
	rig_free(r);
}
END_TEST

START_TEST(rto_046_an_atomic_acknowledge_for_a_read)
{
	struct rig *r = rig_new(NULL);

	post(r, VS_WR_RDMA_READ, 1, 8);
	rig_drain(r);
	in_atomic_ack(r, D, 1);
	failed(r, 1, VS_WC_BAD_RESP_ERR, 0);
	rig_free(r);
}
END_TEST

START_TEST(rto_046_a_read_response_for_an_atomic)
{
	struct rig *r = rig_new(NULL);

	post(r, VS_WR_ATOMIC_FETCH_AND_ADD, 1, 8);
	rig_drain(r);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_ONLY, D, 8, 1);
	failed(r, 1, VS_WC_BAD_RESP_ERR, 0);
	rig_free(r);
}
END_TEST

START_TEST(rto_047_a_read_response_for_a_send_or_write)
{
	struct rig *r = rig_new(NULL);

	post(r, _i % 2 == 0 ? VS_WR_SEND : VS_WR_RDMA_WRITE, 1, 8);
	rig_drain(r);
	if (_i < 2)
		rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_ONLY, D, 8, 1);
	else
		in_atomic_ack(r, D, 1);
	failed(r, 1, VS_WC_BAD_RESP_ERR, 0);
	rig_free(r);
}
END_TEST

/* ---- malformed READ responses ---- */

START_TEST(rto_048_read_responses_out_of_order_at_the_expected_psn)
{
	struct rig *r = rig_new(NULL);

	post(r, VS_WR_RDMA_READ, 1, 3000);
	rig_drain(r);
	switch (_i) {
	case 0:
		rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_MIDDLE, D, 1024, 1);
		break;
	case 1:
		rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_FIRST, D, 1024, 1);
		rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_FIRST, D + 1, 1024, 1);
		break;
	case 2:
		rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_FIRST, D, 1024, 1);
		rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_ONLY, D + 1, 1024, 1);
		break;
	default:
		rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_LAST, D, 1024, 1);
		break;
	}
	failed(r, 1, VS_WC_BAD_RESP_ERR, 0);
	rig_free(r);
}
END_TEST

START_TEST(rto_049_050_read_responses_of_the_wrong_length)
{
	struct rig *r = rig_new(NULL);

	post(r, VS_WR_RDMA_READ, 1, 2100);
	rig_drain(r);
	if (_i == 0) {
		rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_FIRST, D, 1020, 1);
	} else if (_i == 1) {
		rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_FIRST, D, 1024, 1);
		rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_MIDDLE, D + 1, 512, 1);
	} else {
		rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_FIRST, D, 1024, 1);
		rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_MIDDLE, D + 1, 1024, 1);
		if (_i == 2)
			rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_LAST, D + 2, 48, 1);
		else if (_i == 3)
			rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_LAST, D + 2, 56, 1);
		else
			rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_MIDDLE, D + 2, 1024, 1);
	}
	ck_assert_uint_eq(r->mem[2100], 0xee); /* nothing past the sink */
	failed(r, 1, VS_WC_LOC_LEN_ERR, 0);
	rig_free(r);
}
END_TEST

START_TEST(rto_051_a_read_response_with_a_nak_syndrome)
{
	struct rig *r = rig_new(NULL);
	struct vs_pkt p;

	post(r, VS_WR_RDMA_READ, 1, 2000);
	rig_drain(r);
	p = rig_pkt(r, VS_OP_RC_READ_RESPONSE_FIRST, D);
	p.ext.aeth.syndrome = 0x60;
	p.payload = rig_pattern(D);
	p.payload_len = 1024;
	rig_in(r, &p);
	failed(r, 1, VS_WC_BAD_RESP_ERR, 0);
	rig_free(r);
}
END_TEST

START_TEST(rto_052_a_nak_in_the_middle_of_a_read_response)
{
	struct rig *r = rig_new(NULL);

	post(r, VS_WR_RDMA_READ, 1, 3000);
	rig_drain(r);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_FIRST, D, 1024, 1);
	rig_in_ack(r, D + 1, 0x62, 1);
	failed(r, 1, VS_WC_REM_ACCESS_ERR, 0);
	rig_free(r);
}
END_TEST

START_TEST(rto_053_a_duplicate_read_response_is_not_written_again)
{
	struct rig *r = rig_new(NULL);

	post(r, VS_WR_RDMA_READ, 1, 3000);
	rig_drain(r);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_FIRST, D, 1024, 1);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_MIDDLE, D + 1, 1024, 1);
	memset(r->mem, 0xaa, 2048);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_MIDDLE, D + 1, 1024, 1);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_FIRST, D, 1024, 1);
	ck_assert(r->mem[0] == 0xaa && r->mem[1024] == 0xaa);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_LAST, D + 2, 952, 1);
	succeeded(r, 1, 1);
	rig_free(r);
}
END_TEST

START_TEST(rto_054_an_ack_is_matched_by_its_psn_whatever_its_msn)
{
	struct rig *r = rig_new(NULL);

	sends(r, 2);
	rig_in_ack(r, D, 0x1f, 0x555555);
	succeeded(r, 1, 1);
	rig_in_ack(r, D + 1, 0x1f, 0);
	succeeded(r, 2, 2);
	rig_free(r);
}
END_TEST

START_TEST(rto_055_056_responses_that_do_not_belong_to_the_connection)
{
	struct rig *r = rig_new(NULL);
	struct vs_pkt p;
	uint8_t scratch[1024];

	sends(r, 1);
	p = rig_pkt(r, VS_OP_RC_ACKNOWLEDGE, D);
	p.ext.aeth.syndrome = 0x1f;
	switch (_i) {
	case 0:
		ck_assert_int_eq(vs_pkt_seal(&p, VS_SEAL_ALL, scratch, sizeof(scratch)), VS_OK);
		p.icrc ^= 1;
		rig_in_raw(r, &p);
		break;
	case 1:
		p.bth.pkey = 0x8001;
		rig_in(r, &p);
		break;
	case 2:
		p.ipv4.src[3] = 77;
		rig_in(r, &p);
		break;
	default:
		p.bth.destqp ^= 1;
		rig_in(r, &p);
		break;
	}
	rig_expect_no_wc(r);
	rig_advance(r, T_NS(14) + 1);
	rig_expect(r, VS_OP_RC_SEND_ONLY, D);
	rig_free(r);
}
END_TEST

/* ---- credits ---- */

START_TEST(rto_057_syndrome_1f_means_no_limit)
{
	struct rig_opt o = {.dev.e2e_credits = true};
	struct rig *r = rig_new(&o);

	sends(r, 1);
	rig_in_ack(r, D, 0x1f, 1);
	post(r, VS_WR_SEND, 2, 8);
	post(r, VS_WR_SEND, 3, 8);
	post(r, VS_WR_SEND, 4, 8);
	ck_assert_uint_eq(rig_drain(r), 3);
	rig_free(r);
}
END_TEST

START_TEST(rto_058_with_credits_no_more_than_msn_plus_credits_goes_out)
{
	struct rig_opt o = {.dev.e2e_credits = true};
	struct rig *r = rig_new(&o);
	uint8_t code = (uint8_t)_i;
	uint32_t credits = vs_aeth_credits(code), i;

	sends(r, 1);
	rig_in_ack(r, D, code, 1);
	for (i = 0; i < 20; i++)
		post(r, VS_WR_SEND, 10 + i, 8);
	ck_assert_uint_eq(rig_drain(r), credits > 20 ? 20 : credits == 0 ? 1 : credits);
	rig_free(r);
}
END_TEST

START_TEST(rto_058_credits_do_not_gate_writes_and_reads)
{
	struct rig_opt o = {.dev.e2e_credits = true};
	struct rig *r = rig_new(&o);

	sends(r, 1);
	rig_in_ack(r, D, 0, 1);
	post(r, VS_WR_RDMA_WRITE, 2, 8);
	post(r, VS_WR_RDMA_READ, 3, 8);
	ck_assert_uint_eq(rig_drain(r), 2);
	rig_free(r);
}
END_TEST

/* The limit is MSN + credits, and MSNs count every message: so do the numbers that are compared with it. */
START_TEST(rto_058_a_message_without_receive_counts_too)
{
	struct rig_opt o = {.dev.e2e_credits = true};
	struct rig *r = rig_new(&o);
	struct vs_pkt p;

	post(r, _i == 0 ? VS_WR_RDMA_WRITE : VS_WR_RDMA_READ, 1, 8);
	rig_drain(r);
	if (_i == 0) {
		rig_in_ack(r, D, 2, 1); /* MSN 1, two receives */
	} else {
		p = rig_pkt(r, VS_OP_RC_READ_RESPONSE_ONLY, D);
		p.ext.aeth.syndrome = 2;
		p.ext.aeth.msn = 1;
		p.payload = rig_pattern(D);
		p.payload_len = 8;
		rig_in(r, &p);
	}
	rig_expect_wc(r, r->scq, 1, VS_WC_SUCCESS);
	post(r, VS_WR_SEND, 2, 8);
	post(r, VS_WR_SEND, 3, 8);
	post(r, VS_WR_SEND, 4, 8);
	ck_assert_uint_eq(rig_drain(r), 2);
	rig_in_ack(r, D + 1, 2, 2); /* a receive was posted */
	ck_assert_uint_eq(rig_drain(r), 1);
	rig_free(r);
}
END_TEST

START_TEST(rto_059_without_credit_one_request_probes)
{
	struct rig_opt o = {.dev.e2e_credits = true};
	struct rig *r = rig_new(&o);

	sends(r, 1);
	rig_in_ack(r, D, 0, 1); /* MSN 1, no credits */
	post(r, VS_WR_SEND, 2, 8);
	post(r, VS_WR_SEND, 3, 8);
	ck_assert(rig_expect(r, VS_OP_RC_SEND_ONLY, D + 1).bth.ackreq);
	rig_expect_silence(r);
	rig_in_ack(r, D + 1, 1, 2); /* one credit */
	rig_expect(r, VS_OP_RC_SEND_ONLY, D + 2);
	rig_free(r);
}
END_TEST

START_TEST(rto_059_an_unsolicited_ack_brings_credits)
{
	struct rig_opt o = {.dev.e2e_credits = true};
	struct rig *r = rig_new(&o);

	sends(r, 1);
	rig_in_ack(r, D, 0, 1);
	post(r, VS_WR_SEND, 2, 8);
	post(r, VS_WR_SEND, 3, 8);
	post(r, VS_WR_SEND, 4, 8);
	rig_drain(r);
	rig_in_ack(r, D + 1, 0, 2);
	rig_drain(r);
	rig_expect_silence(r);
	rig_in_ack(r, D + 2, 0, 3);
	rig_drain(r);
	rig_in_ack(r, D + 3, 0, 4);
	succeeded(r, 1, 4);
	post(r, VS_WR_SEND, 5, 8);
	post(r, VS_WR_SEND, 6, 8);
	ck_assert_uint_eq(rig_drain(r), 1);
	rig_in_ack(r, D + 3, 4, 4); /* the newest acknowledge again, with 4 credits */
	ck_assert_uint_eq(rig_drain(r), 1);
	rig_free(r);
}
END_TEST

/* ---- nobody there ---- */

START_TEST(rto_060_061_062_a_peer_that_is_silent)
{
	struct rig_opt o = {.retry_cnt = 3};
	struct rig *r = rig_new(&o);

	unsigned i, sent = 0;

	sends(r, 1);
	for (i = 0; i < 10; i++) {
		rig_advance(r, T_NS(14));
		sent += rig_drain(r);
	}
	ck_assert_uint_eq(sent, 3);
	failed(r, 1, VS_WC_RETRY_EXC_ERR, 0);
	rig_free(r);
}
END_TEST

START_TEST(rto_063_an_unsolicited_ack_after_a_read_has_finished)
{
	struct rig *r = rig_new(NULL);

	post(r, VS_WR_RDMA_READ, 1, 2000);
	rig_drain(r);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_FIRST, D, 1024, 1);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_LAST, D + 1, 976, 1);
	rig_in_ack(r, D + 1, 0x1f, 1);
	succeeded(r, 1, 1);
	rig_expect_silence(r);
	post(r, VS_WR_SEND, 2, 8);
	rig_drain(r);
	rig_in_ack(r, D + 1, 0x1f, 1); /* and while something else is outstanding */
	rig_expect_no_wc(r);
	rig_expect_silence(r);
	rig_free(r);
}
END_TEST

START_TEST(rto_064_an_unsolicited_ack_at_the_last_psn_of_a_read_that_misses_data)
{
	struct rig *r = rig_new(NULL);
	struct vs_pkt p;

	post(r, VS_WR_RDMA_READ, 1, 3000);
	rig_drain(r);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_FIRST, D, 1024, 1);
	rig_in_ack(r, D + 2, 0x1f, 1);
	rig_expect_no_wc(r);
	rig_advance(r, T_NS(14) + 1);
	p = rig_expect(r, VS_OP_RC_READ_REQUEST, D + 1);
	ck_assert_uint_eq(p.ext.reth.dmalen, 1976);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_FIRST, D + 1, 1024, 1);
	rig_expect_no_wc(r);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_LAST, D + 2, 952, 1);
	succeeded(r, 1, 1);
	ck_assert_mem_eq(r->mem + 1024, rig_pattern(D + 1), 1024);
	rig_free(r);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("rto_acks");
	TCase *tc = tcase_create("acknowledges");

	tcase_add_test(tc, rto_041_one_ack_for_many);
	tcase_add_test(tc, rto_042_043_duplicate_and_old_acks_change_nothing);
	tcase_add_test(tc, rto_044_an_ack_for_what_was_never_sent);
	tcase_add_test(tc, rto_044_an_ack_for_a_psn_that_is_assigned_but_not_sent);
	tcase_add_loop_test(tc, rto_045_a_plain_ack_at_a_psn_of_a_read_does_not_complete_it, 0, 3);
	tcase_add_test(tc, rto_046_an_atomic_acknowledge_for_a_read);
	tcase_add_test(tc, rto_046_a_read_response_for_an_atomic);
	tcase_add_loop_test(tc, rto_047_a_read_response_for_a_send_or_write, 0, 4);
	suite_add_tcase(s, tc);

	tc = tcase_create("responses");
	tcase_add_loop_test(tc, rto_048_read_responses_out_of_order_at_the_expected_psn, 0, 4);
	tcase_add_loop_test(tc, rto_049_050_read_responses_of_the_wrong_length, 0, 5);
	tcase_add_test(tc, rto_051_a_read_response_with_a_nak_syndrome);
	tcase_add_test(tc, rto_052_a_nak_in_the_middle_of_a_read_response);
	tcase_add_test(tc, rto_053_a_duplicate_read_response_is_not_written_again);
	tcase_add_test(tc, rto_054_an_ack_is_matched_by_its_psn_whatever_its_msn);
	tcase_add_loop_test(tc, rto_055_056_responses_that_do_not_belong_to_the_connection, 0, 4);
	suite_add_tcase(s, tc);

	tc = tcase_create("credits");
	tcase_add_test(tc, rto_057_syndrome_1f_means_no_limit);
	tcase_add_loop_test(tc, rto_058_with_credits_no_more_than_msn_plus_credits_goes_out, 0, 31);
	tcase_add_test(tc, rto_058_credits_do_not_gate_writes_and_reads);
	tcase_add_loop_test(tc, rto_058_a_message_without_receive_counts_too, 0, 2);
	tcase_add_test(tc, rto_059_without_credit_one_request_probes);
	tcase_add_test(tc, rto_059_an_unsolicited_ack_brings_credits);
	suite_add_tcase(s, tc);

	tc = tcase_create("silence");
	tcase_add_test(tc, rto_060_061_062_a_peer_that_is_silent);
	tcase_add_test(tc, rto_063_an_unsolicited_ack_after_a_read_has_finished);
	tcase_add_test(tc, rto_064_an_unsolicited_ack_at_the_last_psn_of_a_read_that_misses_data);
	suite_add_tcase(s, tc);
	return s;
}
