/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_qps_traffic.c - QPS-023..026 and -033..035 of the inventory: what a change of state does to requests, answers,
 * receives and timers that are under way; test_qps_sqd.c has SQD. Each test is one row; its name begins with the id.
 *
 * Implementation-defined: QPS-033 UD and UC go to SQE.
 * QPS-023: no new completion; of completions that are in a CQ already nothing is said.
 */
#include "qps.h"

#define P RIG_PEER_PSN
#define D RIG_DUT_PSN

/* A rig in `state` with work in every stage, in both directions. Receives 91, 92, 93; 91 is taken by an open message.
 */
struct load {
	struct rig *r;
	struct vs_ah *ah;
	uint64_t sends[4];
	unsigned n_sends, n_recvs;
};

static void load_receives(struct load *l, enum vs_qp_type type, enum vs_qp_state state)
{
	struct rig *r = l->r;
	unsigned i;

	l->n_recvs = 3;
	for (i = 0; i < l->n_recvs; i++)
		ck_assert_int_eq(rig_post_recv(r, 91 + i, 4096 * i, 4096), VS_OK);
	if (state == VS_QPS_INIT || type == VS_QPT_UD)
		return;
	if (type == VS_QPT_RC) { /* one of four responses out, an ACK behind the others */
		rig_in_read(r, P, MEM(r, 16384), KEY(r), 4096);
		rig_expect(r, VS_OP_RC_READ_RESPONSE_FIRST, P);
		rig_in_send(r, VS_OP_RC_SEND_FIRST, P + 4, 1024);
	} else {
		rig_in_send(r, VS_OP_UC_SEND_FIRST, P, 1024);
	}
	if (state == VS_QPS_RTR)
		rig_expect_async(r, VS_EVENT_COMM_EST);
}

/* RC: one sent, one sent in part, two not begun; UC, UD: one sent and completed, two not. */
static void load_sends(struct load *l, enum vs_qp_type type)
{
	struct rig *r = l->r;
	struct vs_sge sge;
	struct vs_send_wr wr = send_wr(r, 1, &sge, 8, l->ah);
	struct vs_pkt p;

	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	ck_assert(rig_out(r, &p));
	if (type == VS_QPT_RC)
		l->sends[l->n_sends++] = 1;
	else
		rig_expect_wc(r, r->scq, 1, VS_WC_SUCCESS);
	wr = send_wr(r, 2, &sge, 3000, l->ah);
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	l->sends[l->n_sends++] = 2;
	if (type != VS_QPT_UD)
		ck_assert(rig_out(r, &p));
	if (type == VS_QPT_RC) {
		ck_assert_int_eq(rig_post(r, VS_WR_RDMA_READ, 3, 20480, 64), VS_OK);
		l->sends[l->n_sends++] = 3;
	}
	wr = send_wr(r, 4, &sge, 8, l->ah);
	wr.flags = 0; /* flushed all the same */
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	l->sends[l->n_sends++] = 4;
}

static struct load load(enum vs_qp_type type, enum vs_qp_state state)
{
	struct load l = {.r = NULL};
	enum vs_qp_state base = state > VS_QPS_RTS ? VS_QPS_RTS : state;

	if (state == VS_QPS_SQE && type == VS_QPT_RC)
		return l;
	l.r = rig_in_state(type, base, &l.ah);
	if (base == VS_QPS_RTS && state != VS_QPS_SQE)
		load_sends(&l, type);
	if (base >= VS_QPS_INIT)
		load_receives(&l, type, base);
	if (state == VS_QPS_SQE)
		to_sqe(l.r, l.ah);
	else if (state > VS_QPS_RTS)
		rig_to(l.r, l.r->qp, state);
	ck_assert_int_eq(vs_qp_state(l.r->qp), state);
	return l;
}

/* Whatever comes, the QP keeps silent: no packet, no timer, no completion, no event. */
static void dead(struct rig *r)
{
	nothing_happens(r);
	ck_assert_uint_eq(vs_dev_deadline(r->dev), VS_NEVER);
	rig_advance(r, FOR_EVER);
	rig_in_ack(r, D, 0x1f, 1);
	rig_in_ack(r, D, 0x62, 0);
	rig_in_read(r, P, MEM(r, 0), KEY(r), 64);
	rig_in_send(r, VS_OP_RC_SEND_LAST, P + 5, 8);
	rig_in_send(r, VS_OP_UC_SEND_LAST, P + 1, 8);
	nothing_happens(r);
}

static const enum vs_qp_type types[] = {VS_QPT_RC, VS_QPT_UC, VS_QPT_UD};

START_TEST(qps_023_reset_stops_everything_and_completes_nothing)
{
	struct load l = load(types[_i / 7], (enum vs_qp_state)(_i % 7));
	struct vs_qp_attr a, nothing = {.state = VS_QPS_RESET}, got;
	struct vs_wc wc;
	uint32_t sent;

	if (l.r == NULL)
		return;
	while (vs_cq_poll(l.r->scq, &wc, 1) == 1 || vs_cq_poll(l.r->rcq, &wc, 1) == 1)
		;
	sent = rig_count_events(l.r, VS_EV_PKT_TX);
	a = attr_to(l.r, VS_QPS_RESET);
	accepted(l.r, &a, VS_QP_STATE);
	ck_assert_int_eq(vs_qp_state(l.r->qp), VS_QPS_RESET);
	got = shown(l.r);
	same_attr(&got, &nothing);
	dead(l.r);
	ck_assert_uint_eq(rig_count_events(l.r, VS_EV_PKT_TX), sent);
	rig_free(l.r);
}
END_TEST

START_TEST(qps_024_to_err_flushes_every_request_in_order_and_says_no_more)
{
	enum vs_qp_state from = (enum vs_qp_state)(VS_QPS_INIT + _i % 5);
	struct load l = load(types[_i / 5], from);
	struct vs_qp_attr a;
	uint32_t sent;
	unsigned i;

	if (l.r == NULL)
		return;
	sent = rig_count_events(l.r, VS_EV_PKT_TX);
	a = attr_to(l.r, VS_QPS_ERR);
	accepted(l.r, &a, VS_QP_STATE);
	ck_assert_int_eq(vs_qp_state(l.r->qp), VS_QPS_ERR);
	ck_assert_uint_eq(shown(l.r).sq_draining, 0);
	for (i = 0; i < l.n_sends; i++)
		ck_assert_uint_eq(rig_expect_wc(l.r, l.r->scq, l.sends[i], VS_WC_WR_FLUSH_ERR).vendor_err,
				  VS_REASON_FLUSHED);
	for (i = 0; i < l.n_recvs; i++)
		rig_expect_wc(l.r, l.r->rcq, 91 + i, VS_WC_WR_FLUSH_ERR);
	dead(l.r);
	accepted(l.r, &a, VS_QP_STATE); /* ERR -> ERR is nothing */
	dead(l.r);
	ck_assert_uint_eq(rig_count_events(l.r, VS_EV_PKT_TX), sent);
	ck_assert_uint_eq(rig_count_events(l.r, VS_EV_CQE),
			  l.n_sends + l.n_recvs + (from == VS_QPS_SQE || (from >= VS_QPS_RTS && _i >= 5)));
	rig_free(l.r);
}
END_TEST

/* ---- RTS -> RTS ---- */

START_TEST(qps_025_a_new_rnr_timer_is_in_the_next_rnr_nak)
{
	struct rig *r = rig_new(NULL);
	struct vs_qp_attr a = attr_to(r, VS_QPS_RTS);

	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 8);
	rig_expect_nak(r, P, 0x20 | 12, 0);
	a.min_rnr_timer = 25;
	accepted(r, &a, VS_QP_STATE | VS_QP_MIN_RNR_TIMER);
	ck_assert_uint_eq(shown(r).min_rnr_timer, 25);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 8);
	rig_expect_nak(r, P, 0x20 | 25, 0);
	nothing_happens(r);
	rig_free(r);
}
END_TEST

START_TEST(qps_025_new_access_flags_judge_the_next_request)
{
	struct rig *r = rig_new(NULL);
	struct vs_qp_attr a = attr_to(r, VS_QPS_RTS);

	rig_in_write(r, VS_OP_RC_WRITE_ONLY, P, MEM(r, 0), KEY(r), 8, 8);
	rig_expect_ack(r, P, 1);
	a.access_flags = VS_ACCESS_REMOTE_READ;
	accepted(r, &a, VS_QP_STATE | VS_QP_ACCESS_FLAGS);
	rig_in_read(r, P + 1, MEM(r, 0), KEY(r), 8);
	rig_expect(r, VS_OP_RC_READ_RESPONSE_ONLY, P + 1);
	rig_in_write(r, VS_OP_RC_WRITE_ONLY, P + 2, MEM(r, 64), KEY(r), 8, 8);
	rig_expect_nak(r, P + 2, 0x61, 2);
	rig_expect_async(r, VS_EVENT_QP_REQ_ERR);
	ck_assert_uint_eq(r->mem[64], 0xee);
	rig_free(r);
}
END_TEST

START_TEST(qps_026_rts_to_rts_with_what_it_does_not_take)
{
	static const uint32_t bits[] = {VS_QP_AV,
					VS_QP_PATH_MTU,
					VS_QP_RQ_PSN,
					VS_QP_SQ_PSN,
					VS_QP_TIMEOUT,
					VS_QP_RETRY_CNT,
					VS_QP_RNR_RETRY,
					VS_QP_MAX_DEST_RD_ATOMIC,
					VS_QP_MAX_QP_RD_ATOMIC,
					VS_QP_PKEY_INDEX,
					VS_QP_PORT,
					VS_QP_DEST_QPN,
					VS_QP_CAP,
					VS_QP_EN_SQD_ASYNC_NOTIFY};
	enum vs_qp_type type = types[(unsigned)_i / COUNT(bits)];
	struct load l = load(type, VS_QPS_RTS);
	struct vs_qp_attr a = attr_to(l.r, VS_QPS_RTS);

	rig_drain(l.r);
	a.sq_psn = a.rq_psn = 0x123;
	a.av.traffic_class = 0xfc;
	refused_with(l.r, &a, VS_QP_STATE | bits[(unsigned)_i % COUNT(bits)], VS_ERR_INVAL, VS_REASON_ATTR_NOT_ALLOWED);
	rig_expect_silence(l.r);
	rig_expect_no_async(l.r);
	rig_free(l.r);
}
END_TEST

/* ---- SQE ---- */

/* After the send queue failed: receives go on, and nothing else was heard of it. */
static void receives_go_on(struct rig *r, uint8_t opcode)
{
	struct vs_pkt p = rig_pkt(r, opcode, P);

	p.ext.deth.qkey = rig_attr(r).qkey;
	rig_in(r, &p);
	rig_expect_wc(r, r->rcq, 90, VS_WC_SUCCESS);
	nothing_happens(r);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_SQE);
}

START_TEST(qps_033_a_failed_send_of_ud_or_uc_stops_the_send_queue_alone)
{
	struct vs_ah *ah;
	struct rig *r = rig_in_state(types[1 + _i], VS_QPS_RTS, &ah);
	struct vs_sge sge;
	struct vs_send_wr wr = send_wr(r, 1, &sge, 8, ah);
	unsigned i;

	rig_post_recv(r, 90, 0, 64);
	sge.lkey ^= 0x100;
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	for (i = 2; i < 5; i++) {
		wr = send_wr(r, i, &sge, 8, ah);
		wr.flags = i == 3 ? 0 : VS_SEND_SIGNALED;
		ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	}
	rig_expect_silence(r);
	ck_assert_uint_eq(rig_expect_wc(r, r->scq, 1, VS_WC_LOC_PROT_ERR).vendor_err, VS_REASON_LKEY_INVALID);
	for (i = 2; i < 5; i++)
		rig_expect_wc(r, r->scq, i, VS_WC_WR_FLUSH_ERR);
	receives_go_on(r, types[1 + _i] == VS_QPT_UD ? VS_OP_UD_SEND_ONLY : VS_OP_UC_SEND_ONLY);
	rig_free(r);
}
END_TEST

START_TEST(qps_033_a_uc_message_that_loses_its_region_on_the_way)
{
	struct rig_opt o = {.type = VS_QPT_UC};
	struct rig *r = rig_new(&o);
	struct vs_mr_attr ma = {MEM(r, 8192), 4096, MEM(r, 8192), VS_ACCESS_LOCAL_WRITE};
	int err;
	struct vs_mr *mr = vs_mr_reg(r->pd, &ma, &err);
	struct vs_sge sge;
	struct vs_send_wr wr = rig_wr(r, VS_WR_SEND, 1, &sge, 8192, 3000);

	rig_post_recv(r, 90, 0, 64);
	sge.lkey = vs_mr_lkey(mr);
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	rig_expect(r, VS_OP_UC_SEND_FIRST, D);
	if (_i == 1) /* also on the way to SQD */
		to_sqd(r, true);
	ck_assert_int_eq(vs_mr_dereg(mr), VS_OK);
	rig_expect_silence(r);
	rig_expect_wc(r, r->scq, 1, VS_WC_LOC_PROT_ERR);
	ck_assert_uint_eq(shown(r).sq_draining, 0);
	receives_go_on(r, VS_OP_UC_SEND_ONLY);
	rig_free(r);
}
END_TEST

START_TEST(qps_034_from_sqe_back_to_rts_sends_work_again)
{
	struct vs_ah *ah;
	enum vs_qp_type type = types[1 + _i / 2];
	struct rig *r = rig_in_state(type, VS_QPS_SQE, &ah);
	struct vs_qp_attr a = attr_to(r, VS_QPS_RTS), want = shown(r), got;
	struct vs_sge sge;
	struct vs_send_wr wr = send_wr(r, 1, &sge, 8, ah);

	want.state = want.cur_state = VS_QPS_RTS;
	a.cur_state = VS_QPS_SQE;
	a.qkey = 0x99;
	a.access_flags = 0;
	if (_i % 2 == 0) {
		accepted(r, &a, VS_QP_STATE);
	} else if (type == VS_QPT_UD) {
		want.qkey = 0x99;
		accepted(r, &a, VS_QP_STATE | VS_QP_CUR_STATE | VS_QP_QKEY);
	} else {
		want.access_flags = 0;
		accepted(r, &a, VS_QP_STATE | VS_QP_CUR_STATE | VS_QP_ACCESS_FLAGS);
	}
	got = shown(r);
	same_attr(&got, &want);
	nothing_happens(r);
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	rig_expect(r, type == VS_QPT_UD ? VS_OP_UD_SEND_ONLY : VS_OP_UC_SEND_ONLY, D);
	rig_expect_wc(r, r->scq, 1, VS_WC_SUCCESS);
	nothing_happens(r);
	rig_free(r);
}
END_TEST

START_TEST(qps_035_rc_goes_to_err_and_never_to_sqe)
{
	struct rig *r = rig_new(NULL);
	struct vs_sge sge;
	struct vs_send_wr wr = rig_wr(r, VS_WR_SEND, 1, &sge, 0, 8);

	rig_post_recv(r, 90, 0, 64);
	sge.lkey ^= 0x100;
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	rig_post(r, VS_WR_SEND, 2, 0, 8);
	rig_expect_silence(r);
	rig_expect_wc(r, r->scq, 1, VS_WC_LOC_PROT_ERR);
	rig_expect_wc(r, r->scq, 2, VS_WC_WR_FLUSH_ERR);
	rig_expect_wc(r, r->rcq, 90, VS_WC_WR_FLUSH_ERR);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_ERR);
	nothing_happens(r); /* the completion says it: no async event */
	rig_free(r);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("qps_traffic");
	TCase *tc = tcase_create("ends");

	tcase_add_loop_test(tc, qps_023_reset_stops_everything_and_completes_nothing, 0, 21);
	tcase_add_loop_test(tc, qps_024_to_err_flushes_every_request_in_order_and_says_no_more, 0, 15);
	tcase_add_test(tc, qps_025_a_new_rnr_timer_is_in_the_next_rnr_nak);
	tcase_add_test(tc, qps_025_new_access_flags_judge_the_next_request);
	tcase_add_loop_test(tc, qps_026_rts_to_rts_with_what_it_does_not_take, 0, 42);
	suite_add_tcase(s, tc);

	tc = tcase_create("sqe");
	tcase_add_loop_test(tc, qps_033_a_failed_send_of_ud_or_uc_stops_the_send_queue_alone, 0, 2);
	tcase_add_loop_test(tc, qps_033_a_uc_message_that_loses_its_region_on_the_way, 0, 2);
	tcase_add_loop_test(tc, qps_034_from_sqe_back_to_rts_sends_work_again, 0, 4);
	tcase_add_test(tc, qps_035_rc_goes_to_err_and_never_to_sqe);
	suite_add_tcase(s, tc);
	return s;
}
