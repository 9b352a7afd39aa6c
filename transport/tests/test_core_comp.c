/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_core_comp.c - the completer where several things are open at once: answers beyond an open READ, a completion
 * queue that overflows in the middle of an answer, local operations between requests that go out again.
 */
#include "mw.h"

static void reads(struct rig *r, unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++) {
		ck_assert_int_eq(rig_post(r, VS_WR_RDMA_READ, i + 1, i * 64, 8), VS_OK);
		rig_expect(r, VS_OP_RC_READ_REQUEST, D + i);
	}
}

static void in_atomic_ack(struct rig *r, uint32_t psn, uint8_t syndrome)
{
	struct vs_pkt p = rig_pkt(r, VS_OP_RC_ATOMIC_ACKNOWLEDGE, psn);

	p.ext.aeth.syndrome = syndrome;
	rig_in(r, &p);
}

/* Whatever comes for a later request while a READ is open says that the READ's data is lost. */
START_TEST(rto_019_every_answer_beyond_an_open_read_asks_for_it_again)
{
	struct rig *r = rig_new(NULL);

	reads(r, 2);
	rig_post(r, VS_WR_SEND, 3, 256, 8);
	rig_expect(r, VS_OP_RC_SEND_ONLY, D + 2);
	switch (_i) {
	case 0: /* unsolicited, at the PSN of the second READ */
		rig_in_ack(r, D + 1, 0x1f, 1);
		break;
	case 1: /* data of the second */
		rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_ONLY, D + 1, 8, 1);
		break;
	case 2:
		rig_in_ack(r, D + 2, 0x61, 1);
		break;
	default:
		rig_in_ack(r, D + 2, 0x20 | 12, 1);
		break;
	}
	rig_expect_no_wc(r);
	ck_assert_uint_eq(rig_counter(r, VS_CNT_IMPLIED_NAK_SEQ_ERR), 1);
	rig_expect(r, VS_OP_RC_READ_REQUEST, D);
	rig_expect(r, VS_OP_RC_READ_REQUEST, D + 1);
	rig_expect(r, VS_OP_RC_SEND_ONLY, D + 2);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_ONLY, D, 8, 1);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_ONLY, D + 1, 8, 2);
	rig_in_ack(r, D + 2, 0x1f, 3);
	rig_expect_wc(r, r->scq, 1, VS_WC_SUCCESS);
	rig_expect_wc(r, r->scq, 2, VS_WC_SUCCESS);
	rig_expect_wc(r, r->scq, 3, VS_WC_SUCCESS);
	rig_free(r);
}
END_TEST

START_TEST(rto_020_each_gap_sends_back_once)
{
	struct rig *r = rig_new(NULL);

	reads(r, 4);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_ONLY, D + 1, 8, 1);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_ONLY, D + 2, 8, 1); /* the same gap */
	ck_assert_uint_eq(rig_counter(r, VS_CNT_IMPLIED_NAK_SEQ_ERR), 1);
	ck_assert_uint_eq(rig_drain(r), 4);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_ONLY, D, 8, 1);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_ONLY, D + 2, 8, 1); /* another one */
	ck_assert_uint_eq(rig_counter(r, VS_CNT_IMPLIED_NAK_SEQ_ERR), 2);
	ck_assert_uint_eq(rig_drain(r), 3);
	rig_free(r);
}
END_TEST

START_TEST(rto_047_data_for_a_send_behind_an_open_read_is_not_judged_yet)
{
	struct rig *r = rig_new(NULL);

	reads(r, 1);
	rig_post(r, VS_WR_SEND, 2, 256, 8);
	rig_expect(r, VS_OP_RC_SEND_ONLY, D + 1);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_ONLY, D + 1, 8, 1);
	rig_expect_no_wc(r);
	rig_expect_silence(r);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_ONLY, D, 8, 1);
	rig_expect_wc(r, r->scq, 1, VS_WC_SUCCESS);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_ONLY, D + 1, 8, 1);
	rig_expect_wc(r, r->scq, 2, VS_WC_BAD_RESP_ERR);
	rig_free(r);
}
END_TEST

/* The answer acknowledges what stands before it; when that overflows the queue, the QP is dead and nothing follows. */
START_TEST(cq_002_an_overflow_in_the_middle_of_an_answer_ends_it)
{
	struct rig *r = rig_new(&(struct rig_opt){.stay_in_reset = true});
	struct vs_qp_init init = {.type = VS_QPT_RC, .recv_cq = r->rcq, .cap = {16, 16, 2, 2, 0}};
	unsigned i, states;
	int err;

	init.send_cq = vs_cq_create(r->dev, 1, 0, &err);
	r->qp = rig_qp(r, &init);
	rig_to(r, r->qp, VS_QPS_RTS);
	for (i = 0; i < 2; i++)
		rig_post(r, VS_WR_SEND, i, 0, 8);
	rig_post(r, _i == 3 ? VS_WR_SEND : VS_WR_RDMA_READ, 2, 0, 8);
	ck_assert_uint_eq(rig_drain(r), 3);
	switch (_i) {
	case 0:
		rig_in_ack(r, D + 2, 0x60, 2);
		break;
	case 1:
		rig_in_ack(r, D + 2, 0x20 | 12, 2);
		break;
	case 2:
		rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_ONLY, D + 2, 8, 3);
		break;
	default:
		rig_in_ack(r, D + 2, 0x1f, 3);
		break;
	}
	rig_expect_async(r, VS_EVENT_CQ_ERR);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_ERR);
	ck_assert_uint_eq(rig_count_events(r, VS_EV_CQE), 3); /* each request once */
	ck_assert_uint_eq(rig_count_events(r, VS_EV_RC_RETRY) + rig_count_events(r, VS_EV_RC_RNR_WAIT), 0);
	ck_assert_uint_eq(r->mem[0], 0xee);
	ck_assert_uint_eq(vs_dev_deadline(r->dev), VS_NEVER);
	states = rig_count_events(r, VS_EV_QP_STATE);
	rig_advance(r, 10000000000ull);
	rig_expect_silence(r);
	ck_assert_uint_eq(rig_count_events(r, VS_EV_QP_STATE), states);
	rig_free(r);
}
END_TEST

START_TEST(rto_032_a_sequence_nak_during_an_rnr_wait_does_not_end_it)
{
	struct rig *r = rig_new(NULL);

	rig_post(r, VS_WR_SEND, 1, 0, 8);
	rig_post(r, VS_WR_SEND, 2, 0, 8);
	rig_drain(r);
	rig_in_ack(r, D, 0x20 | 12, 0);
	rig_in_ack(r, D, _i == 0 ? 0x60 : 0x20 | 1, 0);
	rig_expect_silence(r);
	rig_advance(r, 639999);
	rig_expect_silence(r);
	rig_advance(r, 1);
	ck_assert_uint_eq(rig_drain(r), 2);
	ck_assert_uint_eq(rig_count_events(r, VS_EV_RC_RNR_WAIT), 1);
	ck_assert_uint_eq(rig_count_events(r, VS_EV_RC_RETRY), 0);
	rig_free(r);
}
END_TEST

/* A bind between two requests is done and stays done: asking again for the second goes past it. */
START_TEST(rto_009_what_goes_out_again_skips_a_bind_in_front_of_it)
{
	struct rig *r = rig_new(&(struct rig_opt){.timeout = RIG_NO_TIMEOUT});
	struct vs_mw *mw = window(r->pd, VS_MW_TYPE_2);
	struct vs_sge sge;
	struct vs_send_wr wr = rig_wr(r, VS_WR_SEND, 1, &sge, 0, 8), bind = bind_wr(r, mw, RIGHTS);
	struct vs_qp_attr a = {.state = VS_QPS_SQD};
	uint32_t key;

	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	post(r, &bind);
	wr.flags = 0;
	wr.wr_id = 3;
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	rig_post(r, VS_WR_SEND, 4, 0, 8);
	rig_expect(r, VS_OP_RC_SEND_ONLY, D);
	ck_assert(!rig_expect(r, VS_OP_RC_SEND_ONLY, D + 1).bth.ackreq);
	key = vs_mw_rkey(mw);
	ck_assert_int_eq(vs_qp_modify(r->qp, &a, VS_QP_STATE), VS_OK); /* nobody has asked for the second */
	ck_assert(rig_expect(r, VS_OP_RC_SEND_ONLY, D + 1).bth.ackreq);
	rig_expect_silence(r);
	ck_assert_uint_eq(vs_mw_rkey(mw), key);
	rig_in_ack(r, D + 1, 0x1f, 2);
	rig_expect_wc(r, r->scq, 1, VS_WC_SUCCESS);
	rig_expect_wc(r, r->scq, bind.wr_id, VS_WC_SUCCESS);
	rig_expect_no_wc(r); /* the second was not signaled, the third has not begun */
	rig_free(r);
}
END_TEST

START_TEST(rto_046_a_bad_atomic_acknowledge)
{
	struct rig *r = rig_new(NULL);

	rig_post(r, _i == 0 ? VS_WR_RDMA_READ : VS_WR_ATOMIC_FETCH_AND_ADD, 1, 0, 8);
	rig_drain(r);
	in_atomic_ack(r, D, _i == 0 ? 0x1f : 0x40); /* for a READ; with a reserved syndrome */
	ck_assert_uint_eq(rig_expect_wc(r, r->scq, 1, VS_WC_BAD_RESP_ERR).vendor_err, VS_REASON_RESPONSE_OPCODE);
	ck_assert_uint_eq(r->mem[0], 0xee);
	rig_free(r);
}
END_TEST

/* The result has no place: the QP is dead, and no timer waits for the other one. */
START_TEST(req_038_a_bad_sink_ends_everything)
{
	struct rig *r = rig_new(NULL);
	struct vs_sge sge;
	struct vs_send_wr wr = rig_wr(r, _i == 0 ? VS_WR_ATOMIC_FETCH_AND_ADD : VS_WR_RDMA_READ, 1, &sge, 0, 8);

	sge.lkey ^= 0x100;
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	rig_post(r, VS_WR_ATOMIC_FETCH_AND_ADD, 2, 64, 8);
	ck_assert_uint_eq(rig_drain(r), 2);
	if (_i == 0)
		in_atomic_ack(r, D, 0x1f);
	else
		rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_ONLY, D, 8, 1);
	rig_expect_wc(r, r->scq, 1, VS_WC_LOC_PROT_ERR);
	rig_expect_wc(r, r->scq, 2, VS_WC_WR_FLUSH_ERR);
	ck_assert_uint_eq(vs_dev_deadline(r->dev), VS_NEVER);
	rig_expect_silence(r);
	rig_free(r);
}
END_TEST

/* Code 4 speaks of reliable datagrams, 5 to 31 of nothing; so do syndromes of type 2. */
START_TEST(rto_025_026_027_a_reserved_code_acknowledges_nothing)
{
	struct rig *r = rig_new(NULL);

	rig_post(r, VS_WR_SEND, 1, 0, 8);
	rig_post(r, VS_WR_SEND, 2, 0, 8);
	rig_drain(r);
	rig_in_ack(r, D + 1, (uint8_t)_i, 1);
	rig_expect_no_wc(r);
	rig_expect_silence(r);
	ck_assert_uint_eq(rig_counter(r, VS_CNT_RCVD_SEQ_ERR) + rig_counter(r, VS_CNT_RCVD_RNR_ERR), 0);
	rig_free(r);
}
END_TEST

START_TEST(enh_001_005_the_answer_of_an_atomic_write_is_a_positive_only_without_payload)
{
	struct rig *r = rig_new(NULL);
	struct vs_pkt p;

	rig_post(r, VS_WR_ATOMIC_WRITE, 1, 0, 8);
	rig_drain(r);
	p = rig_pkt(r, _i == 0 ? VS_OP_RC_READ_RESPONSE_FIRST : VS_OP_RC_READ_RESPONSE_ONLY, D);
	p.ext.aeth.syndrome = _i == 2 ? 0x40 : 0x1f;
	p.payload = rig_pattern(1);
	p.payload_len = _i == 0 ? 1024 : _i == 1 ? 8 : 0;
	rig_in(r, &p);
	ck_assert_uint_eq(rig_expect_wc(r, r->scq, 1, _i == 3 ? VS_WC_SUCCESS : VS_WC_BAD_RESP_ERR).vendor_err,
			  _i == 3 ? 0 : VS_REASON_RESPONSE_OPCODE);
	rig_free(r);
}
END_TEST

START_TEST(rto_058_a_wait_for_credits_is_told_once)
{
	struct rig *r = rig_new(&(struct rig_opt){.dev.e2e_credits = true});
	const struct vs_event *ev;
	uint32_t i;

	rig_post(r, VS_WR_SEND, 1, 0, 8);
	rig_drain(r);
	rig_in_ack(r, D, 1, 1); /* MSN 1 and one credit: up to SSN 2 */
	for (i = 2; i < 6; i++)
		rig_post(r, VS_WR_SEND, i, 0, 8);
	ck_assert_uint_eq(rig_drain(r), 1);
	rig_expect_silence(r);
	rig_post(r, VS_WR_SEND, 6, 0, 8);
	rig_expect_silence(r);
	ck_assert_uint_eq(rig_count_events(r, VS_EV_RC_CREDIT_WAIT), 1);
	ev = last_of(r, VS_EV_RC_CREDIT_WAIT);
	ck_assert(ev->a[0] == 3 && ev->a[1] == 2 && ev->wr_id == 3 && ev->qpn == vs_qp_num(r->qp));
	ck_assert_int_eq(r->log[ev->cause - 1].type, VS_EV_VERB_POST_SEND);
	ck_assert_uint_eq(r->log[ev->cause - 1].wr_id, 3);
	rig_in_ack(r, D + 1, 1, 2); /* up to 3: and the next one waits */
	ck_assert_uint_eq(rig_drain(r), 1);
	ck_assert_uint_eq(rig_count_events(r, VS_EV_RC_CREDIT_WAIT), 2);
	rig_free(r);
}
END_TEST

/* The whole of what was sent is acknowledged while the cursor stands in its middle: the next one begins at its start.
 */
START_TEST(rto_013_an_ack_overtakes_going_back)
{
	struct rig *r = rig_new(NULL);

	rig_post(r, VS_WR_SEND, 1, 0, 3000);
	rig_drain(r);
	rig_in_ack(r, D + 1, 0x60, 0); /* from the second packet on */
	rig_in_ack(r, D + 2, 0x1f, 1); /* no: all of it is there */
	rig_expect_wc(r, r->scq, 1, VS_WC_SUCCESS);
	rig_post(r, VS_WR_SEND, 2, 0, 3000);
	rig_expect(r, VS_OP_RC_SEND_FIRST, D + 3);
	rig_expect(r, VS_OP_RC_SEND_MIDDLE, D + 4);
	rig_expect(r, VS_OP_RC_SEND_LAST, D + 5);
	rig_expect_silence(r);
	rig_free(r);
}
END_TEST

START_TEST(req_011_every_nth_packet_asks)
{
	struct rig *r = rig_new(&(struct rig_opt){.dev.ack_every = 4});
	unsigned i;

	rig_post(r, VS_WR_RDMA_WRITE, 1, 0, 12 * 1024 + 1);
	for (i = 0; i < 13; i++)
		ck_assert_int_eq(rig_expect(r,
					    i == 0   ? VS_OP_RC_WRITE_FIRST
					    : i < 12 ? VS_OP_RC_WRITE_MIDDLE
						     : VS_OP_RC_WRITE_LAST,
					    D + i)
					 .bth.ackreq,
				 i % 4 == 3 || i == 12);
	rig_free(r);
}
END_TEST

/* Each response makes room in the window, the ones without an AETH, too. */
START_TEST(req_020_a_middle_response_lets_the_next_request_go)
{
	struct rig *r = rig_new(&(struct rig_opt){.dev.rc_window = 4, .dev.ack_every = 4});
	unsigned i;

	rig_post(r, VS_WR_RDMA_READ, 1, 0, 4096);
	for (i = 0; i < 4; i++)
		rig_post(r, VS_WR_SEND, 2 + i, 8192, 8);
	rig_expect(r, VS_OP_RC_READ_REQUEST, D);
	rig_expect_silence(r);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_FIRST, D, 1024, 0);
	rig_expect(r, VS_OP_RC_SEND_ONLY, D + 4);
	rig_expect_silence(r);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_MIDDLE, D + 1, 1024, 0);
	rig_expect(r, VS_OP_RC_SEND_ONLY, D + 5);
	rig_expect_silence(r);
	rig_free(r);
}
END_TEST

/* A region that goes while its message is being sent: the message fails, nothing more of it leaves. */
START_TEST(req_037_a_source_that_goes_in_the_middle_of_a_message)
{
	struct rig_opt o = {.type = _i == 0 ? VS_QPT_RC : VS_QPT_UC};
	struct rig *r = rig_new(&o);
	struct vs_mr *mr = region(r, r->pd, VS_ACCESS_LOCAL_WRITE);
	struct vs_sge sge = {MEM(r, OFF), 2000, vs_mr_lkey(mr)};
	struct vs_send_wr wr = {.wr_id = 1, .opcode = VS_WR_SEND, .sg_list = &sge, .num_sge = 1};

	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK); /* not signaled: the failure is told anyway */
	rig_post(r, VS_WR_SEND, 2, 0, 8);
	rig_expect(r, _i == 0 ? VS_OP_RC_SEND_FIRST : VS_OP_UC_SEND_FIRST, D);
	ck_assert_int_eq(vs_mr_dereg(mr), VS_OK);
	rig_expect_silence(r);
	ck_assert_uint_eq(rig_expect_wc(r, r->scq, 1, VS_WC_LOC_PROT_ERR).vendor_err, VS_REASON_LKEY_INVALID);
	rig_expect_wc(r, r->scq, 2, VS_WC_WR_FLUSH_ERR);
	ck_assert_int_eq(vs_qp_state(r->qp), _i == 0 ? VS_QPS_ERR : VS_QPS_SQE);
	rig_free(r);
}
END_TEST

/* Each placement needs its own right of the region, and no other. */
START_TEST(enh_007_a_flush_needs_the_right_of_its_placement_alone)
{
	static const uint32_t rights[] = {VS_ACCESS_FLUSH_GLOBAL, VS_ACCESS_FLUSH_PERSISTENT};
	struct rig *r = rig_new(NULL);
	struct vs_mr *mr = region(r, r->pd, rights[_i / 4 % 2]);
	uint8_t plt = (uint8_t)(_i % 4);
	struct vs_pkt p = rig_pkt(r, VS_OP_RC_FLUSH, P);

	p.ext.feth.plt = plt;
	p.ext.feth.sel = (uint8_t)(_i / 8);
	p.ext.reth.va = MEM(r, OFF);
	p.ext.reth.rkey = vs_mr_rkey(mr);
	p.ext.reth.dmalen = 64;
	rig_in(r, &p);
	if (plt == 0)
		rig_expect_nak(r, P, 0x61, 0);
	else if (plt == 1u + (unsigned)_i / 4 % 2)
		rig_expect(r, VS_OP_RC_READ_RESPONSE_ONLY, P);
	else
		rig_expect_nak(r, P, 0x62, 0);
	rig_free(r);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("core comp");
	TCase *tc = tcase_create("completer");

	tcase_add_loop_test(tc, rto_019_every_answer_beyond_an_open_read_asks_for_it_again, 0, 4);
	tcase_add_test(tc, rto_020_each_gap_sends_back_once);
	tcase_add_test(tc, rto_047_data_for_a_send_behind_an_open_read_is_not_judged_yet);
	tcase_add_loop_test(tc, req_037_a_source_that_goes_in_the_middle_of_a_message, 0, 2);
	tcase_add_loop_test(tc, enh_007_a_flush_needs_the_right_of_its_placement_alone, 0, 16);
	tcase_add_test(tc, rto_013_an_ack_overtakes_going_back);
	tcase_add_test(tc, req_011_every_nth_packet_asks);
	tcase_add_test(tc, req_020_a_middle_response_lets_the_next_request_go);
	tcase_add_test(tc, rto_058_a_wait_for_credits_is_told_once);
	tcase_add_loop_test(tc, cq_002_an_overflow_in_the_middle_of_an_answer_ends_it, 0, 4);
	tcase_add_loop_test(tc, rto_032_a_sequence_nak_during_an_rnr_wait_does_not_end_it, 0, 2);
	tcase_add_test(tc, rto_009_what_goes_out_again_skips_a_bind_in_front_of_it);
	tcase_add_loop_test(tc, rto_046_a_bad_atomic_acknowledge, 0, 2);
	tcase_add_loop_test(tc, req_038_a_bad_sink_ends_everything, 0, 2);
	tcase_add_loop_test(tc, rto_025_026_027_a_reserved_code_acknowledges_nothing, 0x40, 0x60);
	tcase_add_loop_test(tc, rto_025_026_027_a_reserved_code_acknowledges_nothing, 0x64, 0x80);
	tcase_add_loop_test(tc, enh_001_005_the_answer_of_an_atomic_write_is_a_positive_only_without_payload, 0, 4);
	suite_add_tcase(s, tc);
	return s;
}
