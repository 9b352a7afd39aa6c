/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_rto.c - RTO rows of the inventory, first half: timers, going back, NAKs and RNR NAKs as the RC requester
 * meets them. Each test is one row; its name begins with the id.
 */
#include "rtos.h"

/* ---- the ACK timer ---- */

START_TEST(rto_001_the_ack_timeout_is_t_to_4t)
{
	static const uint8_t code[] = {1, 8, 10, 12, 14, 17, 31};
	struct rig_opt o = {.timeout = code[_i]};
	struct rig *r = rig_new(&o);
	uint64_t t = T_NS(code[_i]);

	sends(r, 1);
	rig_advance(r, t - 1);
	rig_expect_silence(r);
	rig_advance(r, 3 * t + 1);
	rig_expect(r, VS_OP_RC_SEND_ONLY, D);
	rig_free(r);
}
END_TEST

START_TEST(rto_002_timeout_0_never_fires)
{
	struct rig_opt o = {.timeout = RIG_NO_TIMEOUT};
	struct rig *r = rig_new(&o);

	sends(r, 1);
	rig_advance(r, 60 * SEC);
	rig_expect_silence(r);
	rig_expect_no_wc(r);
	rig_free(r);
}
END_TEST

START_TEST(rto_003_retry_cnt_retransmissions_and_then_it_fails)
{
	struct rig_opt o = {.retry_cnt = _i == 0 ? RIG_ZERO : (uint8_t)_i};
	struct rig *r = rig_new(&o);
	int i;

	sends(r, 2);
	for (i = 0; i < _i; i++) {
		rig_advance(r, 4 * T_NS(14) / 4 + 1);
		rig_expect(r, VS_OP_RC_SEND_ONLY, D);
		rig_expect(r, VS_OP_RC_SEND_ONLY, D + 1);
		rig_expect_silence(r);
		rig_expect_no_wc(r);
	}
	rig_advance(r, T_NS(14) + 1);
	failed(r, 1, VS_WC_RETRY_EXC_ERR, 1);
	ck_assert_uint_eq(rig_counter(r, VS_CNT_RETRY_EXCEEDED_ERR), 1);
	rig_free(r);
}
END_TEST

START_TEST(rto_004_progress_gives_all_tries_back)
{
	struct rig_opt o = {.retry_cnt = 2};
	struct rig *r = rig_new(&o);
	unsigned i;

	sends(r, 2);
	for (i = 0; i < 2; i++) {
		rig_advance(r, T_NS(14) + 1);
		ck_assert_uint_eq(rig_drain(r), 2);
	}
	rig_in_ack(r, D, 0x1f, 1);
	rig_expect_wc(r, r->scq, 1, VS_WC_SUCCESS);
	for (i = 0; i < 2; i++) {
		rig_advance(r, T_NS(14) + 1);
		ck_assert_uint_eq(rig_drain(r), 1);
	}
	rig_advance(r, T_NS(14) + 1);
	failed(r, 2, VS_WC_RETRY_EXC_ERR, 0);
	rig_free(r);
}
END_TEST

START_TEST(rto_005_every_ack_starts_the_timer_anew)
{
	struct rig *r = rig_new(NULL);
	unsigned i;

	sends(r, 4);
	for (i = 0; i < 4; i++) {
		rig_advance(r, T_NS(14) - 1000);
		rig_expect_silence(r);
		rig_in_ack(r, D + i, 0x1f, i + 1);
	}
	succeeded(r, 1, 4);
	rig_free(r);
}
END_TEST

START_TEST(rto_006_no_timer_while_nothing_is_outstanding)
{
	struct rig *r = rig_new(NULL);

	ck_assert(vs_dev_deadline(r->dev) == VS_NEVER);
	sends(r, 1);
	ck_assert(vs_dev_deadline(r->dev) != VS_NEVER);
	rig_in_ack(r, D, 0x1f, 1);
	ck_assert(vs_dev_deadline(r->dev) == VS_NEVER);
	rig_advance(r, 60 * SEC);
	rig_expect_silence(r);
	succeeded(r, 1, 1);
	rig_free(r);
}
END_TEST

START_TEST(rto_007_go_back_n_from_the_oldest_unacknowledged)
{
	struct rig *r = rig_new(NULL);
	struct vs_pkt p;
	unsigned i;

	sends(r, 5);
	rig_in_ack(r, D + 1, 0x1f, 2);
	rig_advance(r, T_NS(14) + 1);
	for (i = 2; i < 5; i++) {
		p = rig_expect(r, VS_OP_RC_SEND_ONLY, D + i);
		ck_assert_uint_eq(p.payload_len, 8);
	}
	rig_expect_silence(r);
	rig_in_ack(r, D + 4, 0x1f, 5);
	succeeded(r, 1, 5);
	rig_free(r);
}
END_TEST

START_TEST(rto_008_a_resend_in_the_middle_keeps_the_packet_type)
{
	struct rig *r = rig_new(NULL);
	struct vs_pkt p;

	memset(r->mem + 1024, 0x42, 1024);
	post(r, VS_WR_RDMA_WRITE, 1, 3000);
	ck_assert_uint_eq(rig_drain(r), 3);
	rig_in_ack(r, D, 0x1f, 0);
	rig_advance(r, T_NS(14) + 1);
	p = rig_expect(r, VS_OP_RC_WRITE_MIDDLE, D + 1);
	ck_assert_uint_eq(p.hdrs, 0);
	ck_assert_uint_eq(p.payload[0], 0x42);
	rig_expect(r, VS_OP_RC_WRITE_LAST, D + 2);
	rig_in_ack(r, D + 2, 0x1f, 1);
	succeeded(r, 1, 1);
	rig_free(r);
}
END_TEST

START_TEST(rto_009_local_operations_are_not_repeated)
{
	struct rig *r = rig_new(NULL);
	int err;
	struct vs_mw *mw = vs_mw_alloc(r->pd, VS_MW_TYPE_2, &err);
	struct vs_send_wr bind = {.wr_id = 1, .opcode = VS_WR_BIND_MW, .flags = VS_SEND_SIGNALED};
	struct vs_send_wr inv = {.wr_id = 3, .opcode = VS_WR_LOCAL_INV, .flags = VS_SEND_SIGNALED};

	post(r, VS_WR_SEND, 0, 8); /* so that the bind stands between requests that can be repeated */
	bind.bind.mw = mw;
	bind.bind.mr = r->mr;
	bind.bind.addr = (uintptr_t)r->mem;
	bind.bind.length = 64;
	bind.bind.rkey = 7;
	ck_assert_int_eq(vs_qp_post_send(r->qp, &bind), VS_OK);
	post(r, VS_WR_RDMA_WRITE, 2, 8);
	inv.invalidate_rkey = (vs_mw_rkey(mw) & ~0xffu) | 7;
	ck_assert_int_eq(vs_qp_post_send(r->qp, &inv), VS_OK);
	ck_assert_uint_eq(rig_drain(r), 2);
	rig_advance(r, T_NS(14) + 1); /* everything is lost: only what is on the wire goes out again */
	rig_expect(r, VS_OP_RC_SEND_ONLY, D);
	rig_expect(r, VS_OP_RC_WRITE_ONLY, D + 1);
	rig_in_ack(r, D + 1, 0x1f, 2);
	rig_expect_silence(r);
	succeeded(r, 0, 3);
	rig_free(r);
}
END_TEST

/* ---- READ and atomics again ---- */

START_TEST(rto_010_011_a_read_is_asked_for_again_from_what_is_missing)
{
	struct rig *r = rig_new(NULL);
	struct vs_pkt p;

	post(r, VS_WR_RDMA_READ, 1, 5000);
	rig_expect(r, VS_OP_RC_READ_REQUEST, D);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_FIRST, D, 1024, 1);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_MIDDLE, D + 1, 1024, 1);
	rig_advance(r, T_NS(14) + 1);
	p = rig_expect(r, VS_OP_RC_READ_REQUEST, D + 2);
	ck_assert(p.ext.reth.va == RIG_PEER_VA + 2048 && p.ext.reth.dmalen == 5000 - 2048);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_FIRST, D + 2, 1024, 1);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_MIDDLE, D + 3, 1024, 1);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_LAST, D + 4, 904, 1);
	succeeded(r, 1, 1);
	ck_assert_mem_eq(r->mem + 1024, rig_pattern(D + 1), 1024);
	ck_assert_mem_eq(r->mem + 2048, rig_pattern(D + 2), 1024);
	ck_assert_mem_eq(r->mem + 4096, rig_pattern(D + 4), 904);
	rig_free(r);
}
END_TEST

START_TEST(rto_012_an_atomic_is_repeated_as_it_was)
{
	struct rig *r = rig_new(NULL);
	struct vs_pkt a, b;

	post(r, VS_WR_ATOMIC_CMP_AND_SWP, 1, 8);
	a = rig_expect(r, VS_OP_RC_COMPARE_SWAP, D);
	rig_advance(r, T_NS(14) + 1);
	b = rig_expect(r, VS_OP_RC_COMPARE_SWAP, D);
	ck_assert(a.ext.atomiceth.va == b.ext.atomiceth.va && a.ext.atomiceth.rkey == b.ext.atomiceth.rkey &&
		  a.ext.atomiceth.compare == b.ext.atomiceth.compare &&
		  a.ext.atomiceth.swapadd == b.ext.atomiceth.swapadd);
	a = rig_pkt(r, VS_OP_RC_ATOMIC_ACKNOWLEDGE, D);
	a.ext.aeth.syndrome = 0x1f;
	a.ext.atomicack_origdata = 77;
	rig_in(r, &a);
	succeeded(r, 1, 1);
	ck_assert_uint_eq(*(uint64_t *)(void *)r->mem, 77);
	rig_free(r);
}
END_TEST

/* ---- NAK sequence ---- */

START_TEST(rto_013_014_a_sequence_nak_acknowledges_what_is_before_and_sends_the_rest_again)
{
	struct rig *r = rig_new(NULL);

	sends(r, 4);
	rig_in_ack(r, D + 2, 0x60, 2);
	rig_expect(r, VS_OP_RC_SEND_ONLY, D + 2); /* at once, no timer */
	rig_expect(r, VS_OP_RC_SEND_ONLY, D + 3);
	rig_expect_silence(r);
	rig_expect_wc(r, r->scq, 1, VS_WC_SUCCESS);
	rig_expect_wc(r, r->scq, 2, VS_WC_SUCCESS);
	rig_expect_no_wc(r);
	rig_in_ack(r, D + 3, 0x1f, 4);
	succeeded(r, 3, 4);
	rig_free(r);
}
END_TEST

START_TEST(rto_015_a_nak_beyond_an_open_read_asks_for_the_read_first)
{
	struct rig *r = rig_new(NULL);

	post(r, VS_WR_RDMA_READ, 1, 8);
	post(r, VS_WR_RDMA_WRITE, 2, 8);
	ck_assert_uint_eq(rig_drain(r), 2);
	rig_in_ack(r, D + 1, 0x60, 1);
	rig_expect(r, VS_OP_RC_READ_REQUEST, D);
	rig_expect(r, VS_OP_RC_WRITE_ONLY, D + 1);
	rig_expect_no_wc(r);
	rig_free(r);
}
END_TEST

START_TEST(rto_016_sequence_naks_use_up_the_tries)
{
	struct rig_opt o = {.retry_cnt = 3};
	struct rig *r = rig_new(&o);
	unsigned i;

	sends(r, 2);
	for (i = 0; i < 3; i++) {
		rig_in_ack(r, D, 0x60, 0);
		ck_assert_uint_eq(rig_drain(r), 2);
	}
	rig_in_ack(r, D, 0x60, 0);
	failed(r, 1, VS_WC_RETRY_EXC_ERR, 1);
	rig_free(r);
}
END_TEST

START_TEST(rto_017_the_same_nak_twice_sends_once)
{
	struct rig *r = rig_new(NULL);

	sends(r, 3);
	rig_in_ack(r, D + 1, 0x60, 1);
	rig_in_ack(r, D + 1, 0x60, 1);
	ck_assert_uint_eq(rig_drain(r), 2);
	ck_assert_uint_eq(rig_count_events(r, VS_EV_RC_RETRY), 1);
	rig_free(r);
}
END_TEST

START_TEST(rto_018_a_timeout_while_going_back)
{
	struct rig_opt o = {.retry_cnt = 2};
	struct rig *r = rig_new(&o);

	sends(r, 3);
	rig_in_ack(r, D + 1, 0x60, 1);
	ck_assert_uint_eq(rig_drain(r), 2);
	rig_advance(r, T_NS(14) + 1);
	rig_expect(r, VS_OP_RC_SEND_ONLY, D + 1);
	rig_expect(r, VS_OP_RC_SEND_ONLY, D + 2);
	rig_expect_wc(r, r->scq, 1, VS_WC_SUCCESS);
	rig_advance(r, T_NS(14) + 1); /* the NAK used one try, the time-out the other */
	failed(r, 2, VS_WC_RETRY_EXC_ERR, 1);
	rig_free(r);
}
END_TEST

START_TEST(rto_019_an_ack_beyond_an_open_read_is_an_implied_nak)
{
	struct rig_opt o = {.timeout = 20, .retry_cnt = 3};
	struct rig *r = rig_new(&o);

	post(r, VS_WR_RDMA_READ, 1, 2048);
	post(r, VS_WR_SEND, 2, 8);
	ck_assert_uint_eq(rig_drain(r), 2);
	rig_in_ack(r, D + 2, 0x1f, 2);
	rig_expect(r, VS_OP_RC_READ_REQUEST, D);
	rig_expect(r, VS_OP_RC_SEND_ONLY, D + 2);
	rig_expect_no_wc(r);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_FIRST, D, 1024, 2);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_LAST, D + 1, 1024, 2);
	rig_in_ack(r, D + 2, 0x1f, 2);
	succeeded(r, 1, 2);
	ck_assert_uint_eq(rig_counter(r, VS_CNT_IMPLIED_NAK_SEQ_ERR), 1);
	rig_free(r);
}
END_TEST

START_TEST(rto_020_implied_naks_use_up_the_tries)
{
	struct rig_opt o = {.retry_cnt = RIG_ZERO};
	struct rig *r = rig_new(&o);

	post(r, VS_WR_RDMA_READ, 1, 8);
	post(r, VS_WR_SEND, 2, 8);
	ck_assert_uint_eq(rig_drain(r), 2);
	rig_in_ack(r, D + 1, 0x1f, 2);
	failed(r, 1, VS_WC_RETRY_EXC_ERR, 1);
	rig_free(r);
}
END_TEST

START_TEST(rto_021_a_gap_in_a_read_response)
{
	struct rig *r = rig_new(NULL);
	struct vs_pkt p;

	post(r, VS_WR_RDMA_READ, 1, 3072);
	rig_drain(r);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_FIRST, D, 1024, 1);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_LAST, D + 2, 1024, 1);
	ck_assert_uint_eq(r->mem[2048], 0xee); /* what came too early was not taken */
	p = rig_expect(r, VS_OP_RC_READ_REQUEST, D + 1);
	ck_assert(p.ext.reth.va == RIG_PEER_VA + 1024 && p.ext.reth.dmalen == 2048);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_FIRST, D + 1, 1024, 1);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_LAST, D + 2, 1024, 1);
	succeeded(r, 1, 1);
	rig_free(r);
}
END_TEST

/* ---- fatal NAKs ---- */

START_TEST(rto_022_023_024_fatal_naks)
{
	static const enum vs_wc_status status[] = {VS_WC_REM_INV_REQ_ERR, VS_WC_REM_ACCESS_ERR, VS_WC_REM_OP_ERR};
	struct rig *r = rig_new(NULL);

	sends(r, 3);
	rig_in_ack(r, D, (uint8_t)(0x61 + _i), 0);
	failed(r, 1, status[_i], 2);
	rig_free(r);
}
END_TEST

START_TEST(rto_023_a_nak_of_an_atomic_may_come_as_atomic_acknowledge)
{
	struct rig *r = rig_new(NULL);
	struct vs_pkt p;

	post(r, VS_WR_ATOMIC_FETCH_AND_ADD, 1, 8);
	rig_drain(r);
	p = rig_pkt(r, VS_OP_RC_ATOMIC_ACKNOWLEDGE, D);
	p.ext.aeth.syndrome = 0x62;
	rig_in(r, &p);
	failed(r, 1, VS_WC_REM_ACCESS_ERR, 0);
	rig_free(r);
}
END_TEST

START_TEST(rto_025_026_027_reserved_syndromes_are_ignored)
{
	struct rig *r = rig_new(NULL);
	unsigned s;

	sends(r, 1);
	for (s = 0; s < 256; s++)
		if ((s & 0x60) == 0x40 || ((s & 0x60) == 0x60 && (s & 0x1f) > 3))
			rig_in_ack(r, D, (uint8_t)s, 0);
	rig_expect_silence(r);
	rig_expect_no_wc(r);
	rig_in_ack(r, D, 0x1f, 1);
	succeeded(r, 1, 1);
	rig_free(r);
}
END_TEST

START_TEST(rto_028_a_fatal_nak_acknowledges_what_is_before_it)
{
	struct rig *r = rig_new(NULL);

	sends(r, 3);
	rig_in_ack(r, D + 1, 0x62, 1);
	rig_expect_wc(r, r->scq, 1, VS_WC_SUCCESS);
	failed(r, 2, VS_WC_REM_ACCESS_ERR, 1);
	rig_free(r);
}
END_TEST

START_TEST(rto_029_030_naks_for_psns_that_are_not_outstanding)
{
	static const uint8_t syn[] = {0x60, 0x61, 0x62, 0x2c};
	struct rig *r = rig_new(NULL);

	sends(r, 3);
	rig_in_ack(r, D, 0x1f, 1);
	rig_expect_wc(r, r->scq, 1, VS_WC_SUCCESS);
	rig_in_ack(r, D + 3, syn[_i], 1); /* never sent */
	rig_in_ack(r, D + 1000, syn[_i], 1);
	rig_in_ack(r, D, syn[_i], 1); /* acknowledged long ago */
	rig_in_ack(r, D - 5, syn[_i], 1);
	rig_expect_silence(r);
	rig_expect_no_wc(r);
	rig_in_ack(r, D + 2, 0x1f, 3);
	succeeded(r, 2, 3);
	rig_free(r);
}
END_TEST

/* ---- RNR ---- */

START_TEST(rto_031_032_after_an_rnr_nak_the_requester_waits)
{
	struct rig_opt o = {.timeout = RIG_NO_TIMEOUT};
	struct rig *r = rig_new(&o);
	uint64_t wait = vs_rnr_timer_ns((uint8_t)_i);

	sends(r, 2);
	rig_in_ack(r, D, (uint8_t)(0x20 | _i), 0);
	rig_expect_silence(r);
	rig_advance(r, wait - 1);
	rig_expect_silence(r);
	rig_advance(r, wait / 10 + 1000);
	rig_expect(r, VS_OP_RC_SEND_ONLY, D);
	rig_expect(r, VS_OP_RC_SEND_ONLY, D + 1);
	rig_in_ack(r, D + 1, 0x1f, 2);
	succeeded(r, 1, 2);
	if (_i == 0)
		ck_assert_uint_eq(wait, 655360000ull);
	if (_i == 25)
		ck_assert_uint_eq(wait, 61440000ull);
	rig_free(r);
}
END_TEST

START_TEST(rto_033_034_rnr_retry_tries_and_then_it_fails)
{
	struct rig_opt o = {.rnr_retry = _i == 0 ? RIG_ZERO : (uint8_t)_i};
	struct rig *r = rig_new(&o);
	int i;

	sends(r, 2);
	for (i = 0; i < _i; i++) {
		rig_in_ack(r, D, 0x21, 0);
		rig_advance(r, 10000);
		ck_assert_uint_eq(rig_drain(r), 2);
	}
	rig_in_ack(r, D, 0x21, 0);
	failed(r, 1, VS_WC_RNR_RETRY_EXC_ERR, 1);
	rig_free(r);
}
END_TEST

START_TEST(rto_035_rnr_retry_7_never_gives_up)
{
	struct rig *r = rig_new(NULL);
	unsigned i;

	sends(r, 1);
	for (i = 0; i < 1000; i++) {
		rig_in_ack(r, D, 0x21, 0);
		rig_advance(r, 10000);
		ck_assert_uint_eq(rig_drain(r), 1);
	}
	rig_in_ack(r, D, 0x1f, 1);
	succeeded(r, 1, 1);
	rig_free(r);
}
END_TEST

START_TEST(rto_036_rnr_naks_do_not_use_up_the_transport_tries)
{
	struct rig_opt o = {.retry_cnt = 1};
	struct rig *r = rig_new(&o);
	unsigned i;

	sends(r, 1);
	for (i = 0; i < 5; i++) {
		rig_in_ack(r, D, 0x21, 0);
		rig_advance(r, 10000);
		ck_assert_uint_eq(rig_drain(r), 1);
	}
	rig_advance(r, T_NS(14) + 1);
	ck_assert_uint_eq(rig_drain(r), 1);
	rig_in_ack(r, D, 0x1f, 1);
	succeeded(r, 1, 1);
	rig_free(r);
}
END_TEST

START_TEST(rto_037_the_ack_timer_is_off_during_an_rnr_wait)
{
	struct rig_opt o = {.timeout = 8}; /* 1 ms */
	struct rig *r = rig_new(&o);

	sends(r, 1);
	rig_in_ack(r, D, 0x20 | 31, 0); /* 491 ms */
	rig_advance(r, 491519999);
	rig_expect_silence(r);
	ck_assert_uint_eq(rig_counter(r, VS_CNT_LOCAL_ACK_TIMEOUT_ERR), 0);
	rig_advance(r, 1);
	rig_expect(r, VS_OP_RC_SEND_ONLY, D);
	rig_free(r);
}
END_TEST

START_TEST(rto_038_progress_gives_the_rnr_tries_back)
{
	struct rig_opt o = {.rnr_retry = 1};
	struct rig *r = rig_new(&o);
	unsigned i;

	sends(r, 5);
	for (i = 0; i < 5; i++) {
		rig_in_ack(r, D + i, 0x21, i);
		rig_advance(r, 10000);
		ck_assert_uint_eq(rig_drain(r), 5 - i);
		rig_in_ack(r, D + i, 0x1f, i + 1);
	}
	succeeded(r, 1, 5);
	rig_free(r);
}
END_TEST

START_TEST(rto_039_an_rnr_nak_acknowledges_what_is_before_it)
{
	struct rig *r = rig_new(NULL);

	sends(r, 4);
	rig_in_ack(r, D + 3, 0x21, 3);
	succeeded(r, 1, 3);
	rig_advance(r, 10000);
	rig_expect(r, VS_OP_RC_SEND_ONLY, D + 3);
	rig_free(r);
}
END_TEST

START_TEST(rto_040_a_read_or_atomic_may_draw_an_rnr_nak)
{
	struct rig *r = rig_new(NULL);
	uint8_t op = _i == 0 ? VS_OP_RC_READ_REQUEST : VS_OP_RC_FETCH_ADD;

	post(r, _i == 0 ? VS_WR_RDMA_READ : VS_WR_ATOMIC_FETCH_AND_ADD, 1, 8);
	rig_expect(r, op, D);
	rig_in_ack(r, D, 0x21, 0);
	rig_expect_silence(r);
	rig_advance(r, 10000);
	rig_expect(r, op, D);
	rig_expect_no_wc(r);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_RTS);
	rig_free(r);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("rto");
	TCase *tc = tcase_create("timer");

	tcase_add_loop_test(tc, rto_001_the_ack_timeout_is_t_to_4t, 0, 7);
	tcase_add_test(tc, rto_002_timeout_0_never_fires);
	tcase_add_loop_test(tc, rto_003_retry_cnt_retransmissions_and_then_it_fails, 0, 8);
	tcase_add_test(tc, rto_004_progress_gives_all_tries_back);
	tcase_add_test(tc, rto_005_every_ack_starts_the_timer_anew);
	tcase_add_test(tc, rto_006_no_timer_while_nothing_is_outstanding);
	tcase_add_test(tc, rto_007_go_back_n_from_the_oldest_unacknowledged);
	tcase_add_test(tc, rto_008_a_resend_in_the_middle_keeps_the_packet_type);
	tcase_add_test(tc, rto_009_local_operations_are_not_repeated);
	tcase_add_test(tc, rto_010_011_a_read_is_asked_for_again_from_what_is_missing);
	tcase_add_test(tc, rto_012_an_atomic_is_repeated_as_it_was);
	suite_add_tcase(s, tc);

	tc = tcase_create("nak");
	tcase_add_test(tc, rto_013_014_a_sequence_nak_acknowledges_what_is_before_and_sends_the_rest_again);
	tcase_add_test(tc, rto_015_a_nak_beyond_an_open_read_asks_for_the_read_first);
	tcase_add_test(tc, rto_016_sequence_naks_use_up_the_tries);
	tcase_add_test(tc, rto_017_the_same_nak_twice_sends_once);
	tcase_add_test(tc, rto_018_a_timeout_while_going_back);
	tcase_add_test(tc, rto_019_an_ack_beyond_an_open_read_is_an_implied_nak);
	tcase_add_test(tc, rto_020_implied_naks_use_up_the_tries);
	tcase_add_test(tc, rto_021_a_gap_in_a_read_response);
	tcase_add_loop_test(tc, rto_022_023_024_fatal_naks, 0, 3);
	tcase_add_test(tc, rto_023_a_nak_of_an_atomic_may_come_as_atomic_acknowledge);
	tcase_add_test(tc, rto_025_026_027_reserved_syndromes_are_ignored);
	tcase_add_test(tc, rto_028_a_fatal_nak_acknowledges_what_is_before_it);
	tcase_add_loop_test(tc, rto_029_030_naks_for_psns_that_are_not_outstanding, 0, 4);
	suite_add_tcase(s, tc);

	tc = tcase_create("rnr");
	tcase_add_loop_test(tc, rto_031_032_after_an_rnr_nak_the_requester_waits, 0, 32);
	tcase_add_loop_test(tc, rto_033_034_rnr_retry_tries_and_then_it_fails, 0, 7);
	tcase_add_test(tc, rto_035_rnr_retry_7_never_gives_up);
	tcase_add_test(tc, rto_036_rnr_naks_do_not_use_up_the_transport_tries);
	tcase_add_test(tc, rto_037_the_ack_timer_is_off_during_an_rnr_wait);
	tcase_add_test(tc, rto_038_progress_gives_the_rnr_tries_back);
	tcase_add_test(tc, rto_039_an_rnr_nak_acknowledges_what_is_before_it);
	tcase_add_loop_test(tc, rto_040_a_read_or_atomic_may_draw_an_rnr_nak, 0, 2);
	suite_add_tcase(s, tc);
	return s;
}
