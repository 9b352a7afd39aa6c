/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_qps_sqd.c - QPS-027..032 of the inventory: draining the send queue, new attributes while it stands still, and
 * going on. Each test is one row; its name begins with the id.
 *
 * Implementation-defined: QPS-029 no event without the flag.
 */
#include "qps.h"

#define P RIG_PEER_PSN
#define D RIG_DUT_PSN

static const enum vs_qp_type types[] = {VS_QPT_RC, VS_QPT_UC, VS_QPT_UD};

static void back_to_rts(struct rig *r)
{
	struct vs_qp_attr a = attr_to(r, VS_QPS_RTS);

	accepted(r, &a, VS_QP_STATE);
}

static void draining(const struct rig *r, unsigned yes)
{
	ck_assert_int_eq(shown(r).state, VS_QPS_SQD);
	ck_assert_uint_eq(shown(r).sq_draining, yes);
}

START_TEST(qps_027_a_message_in_progress_is_finished_and_no_other_starts)
{
	struct rig *r = rig_new(NULL);

	rig_post(r, VS_WR_SEND, 1, 0, 2500);
	rig_post(r, VS_WR_SEND, 2, 0, 8);
	rig_post(r, VS_WR_RDMA_READ, 3, 0, 8);
	rig_expect(r, VS_OP_RC_SEND_FIRST, D);
	to_sqd(r, false);
	draining(r, 1);
	rig_expect(r, VS_OP_RC_SEND_MIDDLE, D + 1);
	ck_assert(rig_expect(r, VS_OP_RC_SEND_LAST, D + 2).bth.ackreq);
	nothing_happens(r);
	rig_in_ack(r, D + 1, 0x1f, 0); /* a part of it */
	draining(r, 1);
	rig_expect_no_wc(r);
	rig_in_ack(r, D + 2, 0x1f, 1);
	draining(r, 0);
	rig_expect_wc(r, r->scq, 1, VS_WC_SUCCESS);
	nothing_happens(r);
	ck_assert_uint_eq(vs_dev_deadline(r->dev), VS_NEVER);
	rig_free(r);
}
END_TEST

START_TEST(qps_027_requests_sent_before_are_waited_for)
{
	struct rig *r = rig_new(NULL);

	rig_post(r, VS_WR_SEND, 1, 0, 8);
	rig_post(r, VS_WR_RDMA_READ, 2, 4096, 2000);
	ck_assert_uint_eq(rig_drain(r), 2);
	rig_post(r, VS_WR_SEND, 3, 0, 8);
	to_sqd(r, false);
	draining(r, 1);
	rig_in_ack(r, D, 0x1f, 1);
	rig_expect_wc(r, r->scq, 1, VS_WC_SUCCESS);
	draining(r, 1);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_FIRST, D + 1, 1024, 2);
	draining(r, 1);
	nothing_happens(r);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_LAST, D + 2, 976, 2);
	draining(r, 0);
	rig_expect_wc(r, r->scq, 2, VS_WC_SUCCESS);
	nothing_happens(r);
	rig_free(r);
}
END_TEST

START_TEST(qps_027_with_nothing_in_progress_it_is_drained_at_once)
{
	struct vs_ah *ah;
	struct rig *r = rig_in_state(types[_i], VS_QPS_RTS, &ah);
	struct vs_sge sge;
	struct vs_send_wr wr = send_wr(r, 1, &sge, 8, ah);

	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK); /* accepted, not begun */
	to_sqd(r, false);
	draining(r, 0);
	rig_advance(r, FOR_EVER);
	nothing_happens(r);
	ck_assert(!vs_dev_has_output(r->dev));
	rig_free(r);
}
END_TEST

START_TEST(qps_027_what_is_lost_is_repeated_while_draining)
{
	struct rig *r = rig_new(NULL);

	rig_post(r, VS_WR_SEND, 1, 0, 2048);
	ck_assert_uint_eq(rig_drain(r), 2);
	to_sqd(r, false);
	if (_i == 0) { /* the timer */
		ck_assert(rig_next_timer(r, 67108864));
		rig_expect(r, VS_OP_RC_SEND_FIRST, D);
	} else if (_i == 1) { /* a sequence NAK */
		rig_in_ack(r, D, 0x60, 0);
		rig_expect(r, VS_OP_RC_SEND_FIRST, D);
	} else { /* an RNR NAK */
		rig_in_ack(r, D, 0x20 | 1, 0);
		rig_expect_silence(r);
		ck_assert(rig_next_timer(r, 10000));
		rig_expect(r, VS_OP_RC_SEND_FIRST, D);
	}
	rig_expect(r, VS_OP_RC_SEND_LAST, D + 1);
	draining(r, 1);
	rig_in_ack(r, D + 1, 0x1f, 1);
	draining(r, 0);
	rig_expect_wc(r, r->scq, 1, VS_WC_SUCCESS);
	rig_free(r);
}
END_TEST

START_TEST(qps_027_a_uc_message_is_drained_with_its_last_packet)
{
	struct rig_opt o = {.type = VS_QPT_UC};
	struct rig *r = rig_new(&o);

	rig_post(r, VS_WR_SEND, 1, 0, 2048);
	rig_post(r, VS_WR_SEND, 2, 0, 8);
	rig_expect(r, VS_OP_UC_SEND_FIRST, D);
	to_sqd(r, true);
	draining(r, 1);
	rig_expect_no_async(r);
	rig_expect(r, VS_OP_UC_SEND_LAST, D + 1);
	draining(r, 0);
	rig_expect_async(r, VS_EVENT_SQ_DRAINED);
	rig_expect_wc(r, r->scq, 1, VS_WC_SUCCESS);
	nothing_happens(r);
	rig_free(r);
}
END_TEST

START_TEST(qps_027_a_failure_while_draining_is_no_drain)
{
	struct rig *r = rig_new(NULL);

	rig_post(r, VS_WR_RDMA_WRITE, 1, 0, 8);
	rig_post(r, VS_WR_SEND, 2, 0, 8);
	rig_expect(r, VS_OP_RC_WRITE_ONLY, D);
	to_sqd(r, true);
	rig_in_ack(r, D, 0x62, 0);
	rig_expect_wc(r, r->scq, 1, VS_WC_REM_ACCESS_ERR);
	rig_expect_wc(r, r->scq, 2, VS_WC_WR_FLUSH_ERR);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_ERR);
	ck_assert_uint_eq(shown(r).sq_draining, 0);
	nothing_happens(r);
	rig_free(r);
}
END_TEST

START_TEST(qps_028_drained_is_told_once)
{
	struct vs_ah *ah;
	struct rig *r = rig_in_state(types[_i], VS_QPS_RTS, &ah);
	struct vs_sge sge;
	struct vs_send_wr wr = send_wr(r, 1, &sge, 8, ah);
	struct vs_async ev;
	unsigned i;

	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	ck_assert_uint_eq(rig_drain(r), 1);
	to_sqd(r, true);
	if (types[_i] == VS_QPT_RC) {
		rig_expect_no_async(r); /* not before the answer is there */
		rig_in_ack(r, D, 0x1f, 1);
	}
	rig_expect_wc(r, r->scq, 1, VS_WC_SUCCESS);
	ck_assert_int_eq(vs_dev_poll_async(r->dev, &ev), 1);
	ck_assert(ev.type == VS_EVENT_SQ_DRAINED && ev.object == r->qp && ev.cookie == 0xc0071e);
	rig_advance(r, FOR_EVER);
	nothing_happens(r);
	for (i = 0; i < 3; i++) { /* each visit has its own */
		back_to_rts(r);
		rig_expect_no_async(r);
		to_sqd(r, true);
		rig_expect_async(r, VS_EVENT_SQ_DRAINED);
		nothing_happens(r);
	}
	rig_free(r);
}
END_TEST

START_TEST(qps_029_without_the_flag_drained_is_not_told)
{
	struct vs_ah *ah;
	struct rig *r = rig_in_state(types[_i], VS_QPS_RTS, &ah);
	struct vs_sge sge;
	struct vs_send_wr wr = send_wr(r, 1, &sge, 8, ah);

	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	ck_assert_uint_eq(rig_drain(r), 1);
	to_sqd(r, false);
	if (types[_i] == VS_QPT_RC)
		rig_in_ack(r, D, 0x1f, 1);
	rig_expect_wc(r, r->scq, 1, VS_WC_SUCCESS);
	draining(r, 0);
	rig_advance(r, FOR_EVER);
	nothing_happens(r);
	rig_free(r);
}
END_TEST

START_TEST(qps_029_the_flag_counts_for_one_transition)
{
	struct vs_ah *ah;
	struct rig *r = rig_in_state(types[_i], VS_QPS_RTS, &ah);

	to_sqd(r, true);
	rig_expect_async(r, VS_EVENT_SQ_DRAINED);
	back_to_rts(r);
	to_sqd(r, false);
	draining(r, 0);
	nothing_happens(r);
	rig_free(r);
}
END_TEST

START_TEST(qps_030_a_new_path_is_taken_by_the_next_request)
{
	struct rig_opt o = {.type = types[_i], .dev.pkeys = {0xffff, 0x8001}};
	struct rig *r = rig_new(&o);
	struct vs_qp_attr a = attr_to(r, VS_QPS_SQD), want, got;
	uint16_t sport = 0;
	struct vs_pkt p;

	rig_post(r, VS_WR_SEND, 1, 0, 8);
	ck_assert(rig_out(r, &p));
	sport = p.udp.sport;
	ck_assert(p.ipv4.tos == 0 && p.ipv4.ttl == 64 && p.bth.pkey == 0xffff);
	to_sqd(r, false);
	want = shown(r);
	a.av.traffic_class = want.av.traffic_class = 0x68;
	a.av.hop_limit = want.av.hop_limit = 9;
	a.av.flow_label = want.av.flow_label = 0x00777;
	a.pkey_index = want.pkey_index = 1;
	accepted(r, &a, VS_QP_STATE | VS_QP_AV | VS_QP_PKEY_INDEX);
	got = shown(r);
	same_attr(&got, &want);
	rig_post(r, VS_WR_SEND, 2, 0, 8);
	rig_expect_silence(r);
	back_to_rts(r);
	ck_assert(rig_out(r, &p));
	ck_assert_uint_eq(p.bth.psn, vs_psn_add(D, 1));
	ck_assert(p.ipv4.tos == 0x68 && p.ipv4.ttl == 9 && p.bth.pkey == 0x8001);
	ck_assert_uint_ne(p.udp.sport, sport);
	ck_assert_uint_eq(p.udp.sport, 0xc000 | 0x777);
	rig_free(r);
}
END_TEST

START_TEST(qps_030_a_new_timeout_runs_for_the_next_request)
{
	struct rig *r = rig_new(NULL);
	struct vs_qp_attr a = attr_to(r, VS_QPS_SQD);

	to_sqd(r, false);
	a.timeout = 8;
	accepted(r, &a, VS_QP_STATE | VS_QP_TIMEOUT);
	back_to_rts(r);
	rig_post(r, VS_WR_SEND, 1, 0, 8);
	rig_expect(r, VS_OP_RC_SEND_ONLY, D);
	rig_advance(r, (4096u << 8) - 1);
	rig_expect_silence(r);
	rig_advance(r, 1);
	rig_expect(r, VS_OP_RC_SEND_ONLY, D);
	rig_free(r);
}
END_TEST

START_TEST(qps_030_a_timer_that_did_not_run_is_started_for_what_is_under_way)
{
	struct rig_opt o = {.timeout = RIG_NO_TIMEOUT};
	struct rig *r = rig_new(&o);
	struct vs_qp_attr a = attr_to(r, VS_QPS_SQD);

	rig_post(r, VS_WR_SEND, 1, 0, 8);
	rig_expect(r, VS_OP_RC_SEND_ONLY, D);
	to_sqd(r, false);
	ck_assert_uint_eq(vs_dev_deadline(r->dev), VS_NEVER);
	a.timeout = 8;
	accepted(r, &a, VS_QP_STATE | VS_QP_TIMEOUT);
	ck_assert_uint_eq(vs_dev_deadline(r->dev), r->now + (4096u << 8));
	a.timeout = 0;
	accepted(r, &a, VS_QP_STATE | VS_QP_TIMEOUT);
	ck_assert_uint_eq(vs_dev_deadline(r->dev), VS_NEVER);
	draining(r, 1);
	rig_free(r);
}
END_TEST

START_TEST(qps_030_a_new_retry_count_is_what_the_next_request_has)
{
	struct rig *r = rig_new(NULL);
	struct vs_qp_attr a = attr_to(r, VS_QPS_SQD);

	to_sqd(r, false);
	a.retry_cnt = 1;
	accepted(r, &a, VS_QP_STATE | VS_QP_RETRY_CNT);
	back_to_rts(r);
	rig_post(r, VS_WR_SEND, 1, 0, 8);
	rig_expect(r, VS_OP_RC_SEND_ONLY, D);
	rig_advance(r, 67108864);
	rig_expect(r, VS_OP_RC_SEND_ONLY, D);
	rig_advance(r, 67108864);
	rig_expect_silence(r);
	rig_expect_wc(r, r->scq, 1, VS_WC_RETRY_EXC_ERR);
	rig_free(r);
}
END_TEST

START_TEST(qps_030_a_new_rnr_retry_count_is_what_the_next_request_has)
{
	struct rig *r = rig_new(NULL);
	struct vs_qp_attr a = attr_to(r, VS_QPS_SQD);

	to_sqd(r, false);
	a.rnr_retry = 0;
	accepted(r, &a, VS_QP_STATE | VS_QP_RNR_RETRY);
	back_to_rts(r);
	rig_post(r, VS_WR_SEND, 1, 0, 8);
	rig_expect(r, VS_OP_RC_SEND_ONLY, D);
	rig_in_ack(r, D, 0x20 | 1, 0);
	rig_expect_wc(r, r->scq, 1, VS_WC_RNR_RETRY_EXC_ERR);
	nothing_happens(r);
	rig_free(r);
}
END_TEST

START_TEST(qps_030_new_depths_of_reads_and_atomics)
{
	struct rig *r = rig_new(NULL);
	struct vs_qp_attr a = attr_to(r, VS_QPS_SQD);

	to_sqd(r, false);
	a.max_rd_atomic = 1;
	a.max_dest_rd_atomic = 2;
	accepted(r, &a, VS_QP_STATE | VS_QP_MAX_QP_RD_ATOMIC | VS_QP_MAX_DEST_RD_ATOMIC);
	back_to_rts(r);
	rig_post(r, VS_WR_RDMA_READ, 1, 0, 8);
	rig_post(r, VS_WR_RDMA_READ, 2, 0, 8);
	rig_expect(r, VS_OP_RC_READ_REQUEST, D);
	rig_expect_silence(r);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_ONLY, D, 8, 1);
	rig_expect_wc(r, r->scq, 1, VS_WC_SUCCESS);
	rig_expect(r, VS_OP_RC_READ_REQUEST, D + 1);
	rig_in_read(r, P, MEM(r, 0), KEY(r), 8);
	rig_in_read(r, P + 1, MEM(r, 0), KEY(r), 8);
	rig_in_read(r, P + 2, MEM(r, 0), KEY(r), 8); /* one too many */
	rig_expect(r, VS_OP_RC_READ_RESPONSE_ONLY, P);
	rig_expect(r, VS_OP_RC_READ_RESPONSE_ONLY, P + 1);
	rig_expect_nak(r, P + 2, 0x61, 2);
	rig_free(r);
}
END_TEST

START_TEST(qps_030_new_keys_of_a_ud_qp_judge_the_next_datagram)
{
	struct rig_opt o = {.type = VS_QPT_UD, .dev.pkeys = {0xffff, 0x8001}};
	struct rig *r = rig_new(&o);
	struct vs_qp_attr a = attr_to(r, VS_QPS_SQD);
	struct vs_pkt p = rig_pkt(r, VS_OP_UD_SEND_ONLY, 0);

	rig_post_recv(r, 1, 0, 64);
	to_sqd(r, false);
	a.qkey = 0x777;
	a.pkey_index = 1;
	accepted(r, &a, VS_QP_STATE | VS_QP_QKEY | VS_QP_PKEY_INDEX);
	p.ext.deth.qkey = rig_attr(r).qkey;
	rig_in(r, &p);
	p.bth.pkey = 0x8001;
	rig_in(r, &p);
	rig_expect_no_wc(r);
	p.ext.deth.qkey = 0x777;
	p.bth.pkey = 0xffff;
	rig_in(r, &p);
	rig_expect_no_wc(r);
	p.bth.pkey = 0x8001;
	rig_in(r, &p); /* both */
	rig_expect_wc(r, r->rcq, 1, VS_WC_SUCCESS);
	rig_free(r);
}
END_TEST

START_TEST(qps_031_what_waited_in_sqd_goes_out_in_order)
{
	struct rig *r = rig_new(NULL);
	unsigned i;

	rig_post(r, VS_WR_SEND, 1, 0, 2048);
	rig_expect(r, VS_OP_RC_SEND_FIRST, D);
	rig_post(r, VS_WR_SEND, 2, 0, 8);
	to_sqd(r, true);
	rig_post(r, VS_WR_RDMA_WRITE, 3, 0, 8);
	rig_post(r, VS_WR_SEND, 4, 0, 8);
	rig_expect(r, VS_OP_RC_SEND_LAST, D + 1);
	rig_expect_silence(r);
	rig_in_ack(r, D + 1, 0x1f, 1);
	rig_expect_async(r, VS_EVENT_SQ_DRAINED);
	rig_post(r, VS_WR_SEND, 5, 0, 8);
	rig_expect_silence(r);
	back_to_rts(r);
	rig_expect(r, VS_OP_RC_SEND_ONLY, D + 2);
	rig_expect(r, VS_OP_RC_WRITE_ONLY, D + 3);
	rig_expect(r, VS_OP_RC_SEND_ONLY, D + 4);
	rig_expect(r, VS_OP_RC_SEND_ONLY, D + 5);
	rig_expect_silence(r);
	rig_in_ack(r, D + 5, 0x1f, 5);
	for (i = 1; i <= 5; i++)
		rig_expect_wc(r, r->scq, i, VS_WC_SUCCESS);
	nothing_happens(r);
	rig_free(r);
}
END_TEST

START_TEST(qps_031_back_in_rts_before_it_was_drained)
{
	struct rig *r = rig_new(NULL);

	rig_post(r, VS_WR_SEND, 1, 0, 2048);
	rig_post(r, VS_WR_SEND, 2, 0, 8);
	rig_expect(r, VS_OP_RC_SEND_FIRST, D);
	to_sqd(r, true);
	back_to_rts(r);
	ck_assert_uint_eq(shown(r).sq_draining, 0);
	rig_expect(r, VS_OP_RC_SEND_LAST, D + 1);
	rig_expect(r, VS_OP_RC_SEND_ONLY, D + 2);
	rig_in_ack(r, D + 2, 0x1f, 2);
	rig_expect_wc(r, r->scq, 1, VS_WC_SUCCESS);
	rig_expect_wc(r, r->scq, 2, VS_WC_SUCCESS);
	nothing_happens(r); /* never drained: not told */
	rig_free(r);
}
END_TEST

START_TEST(qps_032_the_responder_serves_in_sqd)
{
	struct rig *r = rig_new(NULL);

	rig_post_recv(r, 1, 4096, 64);
	to_sqd(r, false);
	rig_in_write(r, VS_OP_RC_WRITE_ONLY, P, MEM(r, 0), KEY(r), 8, 8);
	rig_expect_ack(r, P, 1);
	ck_assert_mem_eq(r->mem, rig_pattern(P), 8);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P + 1, 8);
	rig_expect_ack(r, P + 1, 2);
	rig_expect_wc(r, r->rcq, 1, VS_WC_SUCCESS);
	rig_in_read(r, P + 2, MEM(r, 0), KEY(r), 8);
	ck_assert_mem_eq(rig_expect(r, VS_OP_RC_READ_RESPONSE_ONLY, P + 2).payload, r->mem, 8);
	draining(r, 0);
	nothing_happens(r);
	rig_free(r);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("qps_sqd");
	TCase *tc = tcase_create("sqd");

	tcase_add_test(tc, qps_027_a_message_in_progress_is_finished_and_no_other_starts);
	tcase_add_test(tc, qps_027_requests_sent_before_are_waited_for);
	tcase_add_loop_test(tc, qps_027_with_nothing_in_progress_it_is_drained_at_once, 0, 3);
	tcase_add_loop_test(tc, qps_027_what_is_lost_is_repeated_while_draining, 0, 3);
	tcase_add_test(tc, qps_027_a_uc_message_is_drained_with_its_last_packet);
	tcase_add_test(tc, qps_027_a_failure_while_draining_is_no_drain);
	tcase_add_loop_test(tc, qps_028_drained_is_told_once, 0, 3);
	tcase_add_loop_test(tc, qps_029_without_the_flag_drained_is_not_told, 0, 3);
	tcase_add_loop_test(tc, qps_029_the_flag_counts_for_one_transition, 0, 3);
	tcase_add_loop_test(tc, qps_030_a_new_path_is_taken_by_the_next_request, 0, 2);
	tcase_add_test(tc, qps_030_a_new_timeout_runs_for_the_next_request);
	tcase_add_test(tc, qps_030_a_timer_that_did_not_run_is_started_for_what_is_under_way);
	tcase_add_test(tc, qps_030_a_new_retry_count_is_what_the_next_request_has);
	tcase_add_test(tc, qps_030_a_new_rnr_retry_count_is_what_the_next_request_has);
	tcase_add_test(tc, qps_030_new_depths_of_reads_and_atomics);
	tcase_add_test(tc, qps_030_new_keys_of_a_ud_qp_judge_the_next_datagram);
	tcase_add_test(tc, qps_031_what_waited_in_sqd_goes_out_in_order);
	tcase_add_test(tc, qps_031_back_in_rts_before_it_was_drained);
	tcase_add_test(tc, qps_032_the_responder_serves_in_sqd);
	suite_add_tcase(s, tc);
	return s;
}
