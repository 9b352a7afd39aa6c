/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_cq.c - CQ rows of the inventory: completion queues, their events, and flushing. Each test is one row; its
 * name begins with the id.
 *
 * Implementation-defined: CQ-002 a full queue makes CQ_ERR and the QPs that use it go to ERR (nothing is overwritten).
 * Not here: CQ-011 (destroy blocks until events are acknowledged): who maps the verbs counts acknowledged events; the
 * engine knows that an event of a destroyed queue is never handed out, which cq_006_011 shows.
 */
#include "qps.h"

#define P RIG_PEER_PSN
#define D RIG_DUT_PSN

static struct vs_cq *new_cq(struct rig *r, uint32_t cqe, uint64_t cookie)
{
	int err;
	struct vs_cq *cq = vs_cq_create(r->dev, cqe, cookie, &err);

	ck_assert_ptr_nonnull(cq);
	return cq;
}

static struct vs_qp *new_qp(struct rig *r, struct vs_cq *scq, struct vs_cq *rcq)
{
	struct vs_qp_init init = {.type = VS_QPT_RC, .send_cq = scq, .recv_cq = rcq, .cap = {64, 64, 1, 1, 0}};
	struct vs_qp *qp = rig_qp(r, &init);

	rig_to(r, qp, VS_QPS_RTS);
	return qp;
}

/* A rig whose QP completes into one queue of `cqe` entries; flush it with to_err(). */
static struct rig *small(uint32_t cqe, struct vs_cq **cq)
{
	struct rig *r = rig_new(NULL);

	ck_assert_int_eq(vs_qp_destroy(r->qp), VS_OK);
	*cq = new_cq(r, cqe, 77);
	r->qp = new_qp(r, *cq, *cq);
	return r;
}

static void receives(struct rig *r, unsigned from, unsigned to)
{
	for (; from <= to; from++)
		ck_assert_int_eq(rig_post_recv(r, from, 0, 64), VS_OK);
}

static void expect_range(struct rig *r, struct vs_cq *cq, unsigned from, unsigned to, enum vs_wc_status status)
{
	for (; from <= to; from++)
		rig_expect_wc(r, cq, from, status);
}

static void to_err(struct rig *r)
{
	rig_to(r, r->qp, VS_QPS_ERR);
}

static int empty(struct vs_cq *cq)
{
	struct vs_wc wc;

	return vs_cq_poll(cq, &wc, 1) == 0;
}

/* ---- size ---- */

START_TEST(cq_001_more_entries_than_the_device_has)
{
	struct rig_opt o = {.dev.max_cqe = 1000};
	struct rig *r = rig_new(&o);
	int err = VS_OK;

	ck_assert_ptr_null(vs_cq_create(r->dev, 1001, 0, &err));
	ck_assert(err == VS_ERR_INVAL && vs_dev_refusal(r->dev) == VS_REASON_CQ_SIZE);
	err = VS_OK;
	ck_assert_ptr_null(vs_cq_create(r->dev, 0, 0, &err));
	ck_assert(err == VS_ERR_INVAL && vs_dev_refusal(r->dev) == VS_REASON_CQ_SIZE);
	ck_assert_uint_eq(vs_cq_capacity(new_cq(r, 1000, 0)), 1000);
	ck_assert_uint_eq(vs_cq_capacity(new_cq(r, 1, 0)), 1);
	rig_free(r);
}
END_TEST

START_TEST(cq_001_more_queues_than_the_device_has)
{
	struct rig_opt o = {.dev.max_cq = 4}; /* two are the rig's */
	struct rig *r = rig_new(&o);
	struct vs_cq *last;
	int err = VS_OK;

	new_cq(r, 1, 0);
	last = new_cq(r, 1, 0);
	ck_assert_ptr_null(vs_cq_create(r->dev, 1, 0, &err));
	ck_assert(err == VS_ERR_NOSPACE && vs_dev_refusal(r->dev) == VS_REASON_LIMIT_CQ);
	ck_assert_int_eq(vs_cq_destroy(last), VS_OK);
	new_cq(r, 1, 0);
	rig_free(r);
}
END_TEST

START_TEST(cq_002_003_a_queue_that_overflows_is_dead_and_its_qps_with_it)
{
	struct vs_cq *cq, *other_scq;
	struct rig *r = small(2, &cq);
	struct vs_qp *mine = r->qp, *sharer, *stranger;
	struct vs_async ev;
	struct vs_wc wc;

	other_scq = new_cq(r, 8, 0);
	sharer = new_qp(r, other_scq, cq);
	stranger = new_qp(r, r->scq, r->rcq);
	r->qp = sharer;
	rig_post(r, VS_WR_SEND, 50, 0, 8);
	r->qp = mine;
	receives(r, 1, 4);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 8);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P + 1, 8);
	ck_assert_uint_eq(rig_drain(r), 2); /* the ACK of both, and the SEND of the other QP */
	rig_expect_no_async(r);             /* full is not overflown */
	ck_assert_int_eq(vs_qp_state(mine), VS_QPS_RTS);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P + 2, 8);
	rig_expect_silence(r); /* class G: no acknowledge */
	ck_assert_int_eq(vs_dev_poll_async(r->dev, &ev), 1);
	ck_assert(ev.type == VS_EVENT_CQ_ERR && ev.object == cq && ev.cookie == 77);
	rig_expect_no_async(r); /* once, though more completions were lost */
	ck_assert_uint_eq(rig_counter(r, VS_CNT_CQ_OVERFLOWS), 1);
	ck_assert_uint_eq(rig_count_events(r, VS_EV_CQ_OVERFLOW), 1);
	ck_assert_int_eq(vs_qp_state(mine), VS_QPS_ERR);
	ck_assert_int_eq(vs_qp_state(sharer), VS_QPS_ERR);
	ck_assert_int_eq(vs_qp_state(stranger), VS_QPS_RTS);
	/* CQ-003 */
	ck_assert_int_eq(vs_cq_poll(cq, &wc, 1), VS_ERR_INVAL);
	ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_CQ_OVERFLOW);
	r->qp = sharer;
	rig_expect_wc(r, other_scq, 50, VS_WC_WR_FLUSH_ERR); /* whole queues still say everything */
	rig_expect_silence(r);
	ck_assert_int_eq(vs_cq_poll(cq, &wc, 1), VS_ERR_INVAL);
	r->qp = NULL;
	ck_assert_int_eq(vs_qp_destroy(mine), VS_OK);
	ck_assert_int_eq(vs_qp_destroy(sharer), VS_OK);
	ck_assert_int_eq(vs_cq_destroy(cq), VS_OK);
	rig_free(r);
}
END_TEST

START_TEST(cq_002_a_flush_can_overflow_too)
{
	struct vs_cq *cq;
	struct rig *r = small(2, &cq);

	receives(r, 1, 3);
	rig_post(r, VS_WR_SEND, 10, 0, 8);
	to_err(r);
	rig_expect_async(r, VS_EVENT_CQ_ERR);
	rig_expect_no_async(r);
	ck_assert_uint_eq(rig_count_events(r, VS_EV_CQE), 4); /* each came once, though two are lost */
	rig_expect_silence(r);
	rig_free(r);
}
END_TEST

START_TEST(cq_002_a_queue_is_used_to_its_last_entry_for_ever)
{
	struct vs_cq *cq;
	struct rig *r = small(3, &cq); /* no power of two */
	unsigned i, n = 0;

	for (i = 0; i < 40; i++) {
		receives(r, 3 * i, 3 * i + 2);
		rig_in_write(r, VS_OP_RC_WRITE_ONLY_IMM, P + n++, MEM(r, 0), KEY(r), 8, 8);
		rig_in_write(r, VS_OP_RC_WRITE_ONLY_IMM, P + n++, MEM(r, 0), KEY(r), 8, 8);
		rig_expect_wc(r, cq, 3 * i, VS_WC_SUCCESS);
		rig_in_write(r, VS_OP_RC_WRITE_ONLY_IMM, P + n++, MEM(r, 0), KEY(r), 8, 8);
		expect_range(r, cq, 3 * i + 1, 3 * i + 2, VS_WC_SUCCESS);
		ck_assert(empty(cq));
		rig_drain(r);
	}
	rig_expect_no_async(r);
	rig_free(r);
}
END_TEST

START_TEST(cq_004_resized_under_load_nothing_is_lost_and_the_order_is_kept)
{
	static const uint32_t sizes[] = {64, 9, 1000, 7, 7, 8, 65536, 6};
	struct vs_cq *cq;
	struct rig *r = small(10, &cq);
	unsigned next = 0, i;
	int32_t sent = 0;

	receives(r, 0, 63);
	for (i = 0; i < 9; i++) /* the ring does not start at 0 */
		rig_in_write(r, VS_OP_RC_WRITE_ONLY_IMM, vs_psn_add(P, sent++), MEM(r, 0), KEY(r), 8, 8);
	expect_range(r, cq, 0, 2, VS_WC_SUCCESS);
	next = 3;
	for (i = 0; i < COUNT(sizes); i++) {
		ck_assert_int_eq(vs_cq_resize(cq, sizes[i]), VS_OK); /* six are queued */
		ck_assert_uint_eq(vs_cq_capacity(cq), sizes[i]);
		rig_expect_wc(r, cq, next++, VS_WC_SUCCESS);
		rig_in_write(r, VS_OP_RC_WRITE_ONLY_IMM, vs_psn_add(P, sent++), MEM(r, 0), KEY(r), 8, 8);
		ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_RTS);
	}
	/* The last size holds: six, and not one more. */
	rig_in_write(r, VS_OP_RC_WRITE_ONLY_IMM, vs_psn_add(P, sent++), MEM(r, 0), KEY(r), 8, 8);
	rig_expect_async(r, VS_EVENT_CQ_ERR);
	rig_free(r);
}
END_TEST

START_TEST(cq_004_what_is_queued_survives_every_resize)
{
	struct vs_cq *cq;
	struct rig *r = small(8, &cq);
	unsigned i;

	receives(r, 1, 8);
	to_err(r);
	rig_expect_wc(r, cq, 1, VS_WC_WR_FLUSH_ERR);
	for (i = 2; i <= 8; i++) {
		ck_assert_int_eq(vs_cq_resize(cq, 9 - i), VS_OK); /* exactly what is left */
		rig_expect_wc(r, cq, i, VS_WC_WR_FLUSH_ERR);
	}
	ck_assert(empty(cq));
	rig_free(r);
}
END_TEST

START_TEST(cq_005_resize_below_what_is_queued)
{
	struct rig_opt o = {.dev.max_cqe = 300};
	struct rig *r = rig_new(&o);
	static const uint32_t bad[] = {3, 1, 0, 301, UINT32_MAX};
	unsigned i;

	receives(r, 1, 4);
	to_err(r);
	for (i = 0; i < COUNT(bad); i++) {
		ck_assert_int_eq(vs_cq_resize(r->rcq, bad[i]), VS_ERR_INVAL);
		ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_CQ_SIZE);
		ck_assert_uint_eq(vs_cq_capacity(r->rcq), 256);
	}
	ck_assert_int_eq(vs_cq_resize(r->rcq, 4), VS_OK);
	expect_range(r, r->rcq, 1, 4, VS_WC_WR_FLUSH_ERR);
	ck_assert(empty(r->rcq));
	rig_free(r);
}
END_TEST

START_TEST(cq_006_011_a_queue_in_use_is_not_destroyed_and_an_unused_one_goes_with_its_events)
{
	struct rig *r = rig_new(NULL);
	struct vs_cq *cq = new_cq(r, 4, 0), *got;
	struct vs_qp *qp = r->qp, *as_send = new_qp(r, cq, r->rcq), *as_recv = new_qp(r, r->scq, cq);
	uint64_t cookie;

	vs_cq_arm(cq, false);
	r->qp = as_recv;
	receives(r, 1, 1);
	to_err(r); /* one completion, one event */
	ck_assert_int_eq(vs_cq_destroy(cq), VS_ERR_BUSY);
	ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_IN_USE);
	ck_assert_int_eq(vs_qp_destroy(as_recv), VS_OK);
	ck_assert_int_eq(vs_cq_destroy(cq), VS_ERR_BUSY);
	ck_assert_int_eq(vs_qp_destroy(as_send), VS_OK);
	ck_assert_int_eq(vs_cq_destroy(cq), VS_OK);
	ck_assert_int_eq(vs_dev_poll_comp_event(r->dev, &got, &cookie), 0);
	r->qp = qp;
	rig_expect_no_async(r);
	rig_free(r);
}
END_TEST

/* ---- notification ---- */

static unsigned events(struct rig *r, struct vs_cq *cq, uint64_t cookie)
{
	struct vs_cq *got;
	uint64_t c;
	unsigned n = 0;

	while (vs_dev_poll_comp_event(r->dev, &got, &c) == 1) {
		ck_assert(got == cq && c == cookie);
		n++;
	}
	return n;
}

static void in_solicited(struct rig *r, uint32_t psn, bool solicited)
{
	struct vs_pkt p = rig_pkt(r, VS_OP_RC_SEND_ONLY, psn);

	p.bth.se = solicited;
	rig_in(r, &p);
}

START_TEST(cq_007_armed_for_any_or_for_solicited)
{
	bool solicited_only = _i % 2, solicited = _i / 2;
	struct rig *r = rig_new(NULL);

	receives(r, 1, 3);
	in_solicited(r, P, true); /* before it is armed: never told */
	ck_assert_uint_eq(events(r, r->rcq, 0x4c), 0);
	vs_cq_arm(r->rcq, solicited_only);
	ck_assert_uint_eq(events(r, r->rcq, 0x4c), 0);
	in_solicited(r, P + 1, solicited);
	ck_assert_uint_eq(events(r, r->rcq, 0x4c), solicited || !solicited_only);
	if (!solicited && solicited_only) { /* still armed */
		in_solicited(r, P + 2, true);
		ck_assert_uint_eq(events(r, r->rcq, 0x4c), 1);
	}
	rig_free(r);
}
END_TEST

START_TEST(cq_007_a_send_completion_is_not_solicited)
{
	struct rig *r = rig_new(NULL);
	struct vs_sge sge;
	struct vs_send_wr wr = rig_wr(r, VS_WR_SEND, 1, &sge, 0, 8);

	wr.flags |= VS_SEND_SOLICITED; /* that is for the peer */
	vs_cq_arm(r->scq, true);
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	rig_drain(r);
	rig_in_ack(r, D, 0x1f, 1);
	rig_expect_wc(r, r->scq, 1, VS_WC_SUCCESS);
	ck_assert_uint_eq(events(r, r->scq, 0x5c), 0);
	vs_cq_arm(r->scq, false);
	rig_in_ack(r, D + 1, 0x1f, 2);
	ck_assert_uint_eq(events(r, r->scq, 0x5c), 1);
	rig_free(r);
}
END_TEST

START_TEST(cq_008_a_failed_completion_counts_as_solicited)
{
	struct rig *r = rig_new(NULL);

	vs_cq_arm(r->rcq, true);
	vs_cq_arm(r->scq, true);
	if (_i == 0) { /* flushed */
		receives(r, 1, 2);
		to_err(r);
		ck_assert_uint_eq(events(r, r->rcq, 0x4c), 1);
	} else if (_i == 1) { /* refused by the peer */
		rig_post(r, VS_WR_RDMA_WRITE, 1, 0, 8);
		rig_drain(r);
		rig_in_ack(r, D, 0x62, 0);
		rig_expect_wc(r, r->scq, 1, VS_WC_REM_ACCESS_ERR);
		ck_assert_uint_eq(events(r, r->scq, 0x5c), 1);
	} else { /* too long for the buffer */
		receives(r, 1, 1);
		rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 65);
		rig_expect_wc(r, r->rcq, 1, VS_WC_LOC_LEN_ERR);
		ck_assert_uint_eq(events(r, r->rcq, 0x4c), 1);
	}
	rig_free(r);
}
END_TEST

START_TEST(cq_009_one_event_for_one_request)
{
	struct rig *r = rig_new(NULL);
	unsigned i;

	receives(r, 0, 9);
	vs_cq_arm(r->rcq, false);
	vs_cq_arm(r->rcq, false); /* asked twice: told once */
	for (i = 0; i < 5; i++)
		in_solicited(r, P + i, true);
	ck_assert_uint_eq(events(r, r->rcq, 0x4c), 1);
	in_solicited(r, P + 5, true);
	ck_assert_uint_eq(events(r, r->rcq, 0x4c), 0);
	/* Armed again before the event is taken: two events, not merged. */
	vs_cq_arm(r->rcq, false);
	in_solicited(r, P + 6, true);
	vs_cq_arm(r->rcq, false);
	in_solicited(r, P + 7, true);
	in_solicited(r, P + 8, true);
	ck_assert_uint_eq(events(r, r->rcq, 0x4c), 2);
	rig_free(r);
}
END_TEST

START_TEST(cq_009_events_of_two_queues_come_in_turn)
{
	struct rig *r = rig_new(NULL);
	struct vs_cq *got;
	uint64_t cookie;
	unsigned i;

	receives(r, 1, 2);
	for (i = 1; i <= 2; i++) {
		vs_cq_arm(r->scq, false);
		vs_cq_arm(r->rcq, false);
		rig_post(r, VS_WR_SEND, i, 0, 8);
		rig_drain(r);
		rig_in_ack(r, D + i - 1, 0x1f, i);
		in_solicited(r, P + i - 1, false);
	}
	for (i = 0; i < 4; i++) {
		ck_assert_int_eq(vs_dev_poll_comp_event(r->dev, &got, &cookie), 1);
		ck_assert_ptr_eq(got, i % 2 == 0 ? r->scq : r->rcq);
		ck_assert_uint_eq(cookie, i % 2 == 0 ? 0x5c : 0x4c);
	}
	ck_assert_int_eq(vs_dev_poll_comp_event(r->dev, &got, &cookie), 0);
	rig_free(r);
}
END_TEST

START_TEST(cq_010_any_wins_over_solicited_in_either_order)
{
	struct rig *r = rig_new(NULL);

	receives(r, 1, 2);
	vs_cq_arm(r->rcq, _i == 0);
	vs_cq_arm(r->rcq, _i != 0);
	in_solicited(r, P, false);
	ck_assert_uint_eq(events(r, r->rcq, 0x4c), 1);
	in_solicited(r, P + 1, true);
	ck_assert_uint_eq(events(r, r->rcq, 0x4c), 0);
	rig_free(r);
}
END_TEST

/* ---- flushing ---- */

START_TEST(cq_012_flush_comes_in_post_order_behind_the_failure)
{
	struct rig *r = rig_new(NULL);
	unsigned i;

	rig_post(r, VS_WR_SEND, 1, 0, 8);
	rig_post(r, VS_WR_RDMA_WRITE, 2, 0, 8);
	rig_post(r, VS_WR_RDMA_READ, 3, 0, 8);
	for (i = 4; i <= 40; i++)
		rig_post(r, i % 2 == 0 ? VS_WR_SEND : VS_WR_ATOMIC_FETCH_AND_ADD, i, 0, 8);
	rig_drain(r);
	rig_in_ack(r, D + 1, 0x62, 1); /* 1 is acknowledged by it, 2 is refused */
	rig_expect_wc(r, r->scq, 1, VS_WC_SUCCESS);
	rig_expect_wc(r, r->scq, 2, VS_WC_REM_ACCESS_ERR);
	expect_range(r, r->scq, 3, 40, VS_WC_WR_FLUSH_ERR);
	nothing_happens(r);
	rig_free(r);
}
END_TEST

START_TEST(cq_013_014_flush_covers_both_queues_on_the_right_cqs)
{
	struct rig *r = rig_new(NULL);

	receives(r, 101, 110);
	rig_post(r, VS_WR_RDMA_WRITE, 1, 0, 8);
	rig_post(r, VS_WR_SEND, 2, 0, 8);
	rig_drain(r);
	if (_i == 0)
		to_err(r);
	else if (_i == 1) /* the peer refuses */
		rig_in_ack(r, D, 0x61, 0);
	else /* the peer's request is refused */
		rig_in_write(r, VS_OP_RC_WRITE_ONLY, P, MEM(r, 0), KEY(r) ^ 0x100, 8, 8);
	rig_expect_wc(r, r->scq, 1, _i == 1 ? VS_WC_REM_INV_REQ_ERR : VS_WC_WR_FLUSH_ERR);
	rig_expect_wc(r, r->scq, 2, VS_WC_WR_FLUSH_ERR);
	expect_range(r, r->rcq, 101, 110, VS_WC_WR_FLUSH_ERR);
	rig_expect_no_wc(r);
	rig_free(r);
}
END_TEST

START_TEST(cq_015_what_a_failed_completion_says)
{
	struct rig *r = rig_new(NULL);
	struct vs_wc wc;

	rig_post(r, VS_WR_RDMA_READ, 0x1234567890abcdefull, 0, 2000);
	rig_drain(r);
	rig_in_ack(r, D, 0x62, 0);
	wc = rig_expect_wc(r, r->scq, 0x1234567890abcdefull, VS_WC_REM_ACCESS_ERR);
	ck_assert_uint_eq(wc.vendor_err, VS_REASON_NAK_REM_ACCESS); /* the reason, in our own words */
	ck_assert_uint_eq(wc.qp_num, vs_qp_num(r->qp));
	ck_assert_uint_eq(wc.wc_flags, 0);
	rig_free(r);
}
END_TEST

START_TEST(cq_016_a_marker_posted_in_err_comes_back_behind_everything_else)
{
	struct rig *r = rig_new(NULL);
	unsigned i;

	for (i = 1; i <= 64; i++) { /* both queues full */
		rig_post(r, VS_WR_SEND, i, 0, 8);
		receives(r, 100 + i, 100 + i);
	}
	rig_drain(r);
	to_err(r);
	ck_assert_int_eq(rig_post(r, VS_WR_SEND, 999, 0, 0), VS_OK);
	ck_assert_int_eq(rig_post_recv(r, 888, 0, 0), VS_OK);
	expect_range(r, r->scq, 1, 64, VS_WC_WR_FLUSH_ERR);
	rig_expect_wc(r, r->scq, 999, VS_WC_WR_FLUSH_ERR);
	expect_range(r, r->rcq, 101, 164, VS_WC_WR_FLUSH_ERR);
	rig_expect_wc(r, r->rcq, 888, VS_WC_WR_FLUSH_ERR);
	nothing_happens(r);
	rig_free(r);
}
END_TEST

START_TEST(cq_017_two_qps_on_one_queue_keep_the_order_of_each)
{
	struct rig *r = rig_new(NULL);
	struct vs_qp *qp[2] = {r->qp, new_qp(r, r->scq, r->rcq)};
	unsigned next[2] = {0, 0}, i, got = 0;
	struct vs_wc wc;

	for (i = 0; i < 20; i++) {
		r->qp = qp[i % 2];
		rig_post(r, VS_WR_SEND, i / 2, 0, 8);
	}
	rig_drain(r);
	r->qp = qp[1];
	rig_in_ack(r, D + 4, 0x1f, 5);
	r->qp = qp[0];
	rig_in_ack(r, D + 9, 0x1f, 10);
	r->qp = qp[1];
	rig_in_ack(r, D + 9, 0x1f, 10);
	while (vs_cq_poll(r->scq, &wc, 1) == 1) {
		unsigned who = wc.qp_num == vs_qp_num(qp[1]);

		ck_assert_uint_eq(wc.qp_num, vs_qp_num(qp[who]));
		ck_assert_uint_eq(wc.wr_id, next[who]++);
		ck_assert_int_eq(wc.status, VS_WC_SUCCESS);
		got++;
	}
	ck_assert(got == 20 && next[0] == 10 && next[1] == 10);
	rig_free(r);
}
END_TEST

START_TEST(cq_017_the_completions_of_one_qp_can_be_forgotten)
{
	struct rig *r = rig_new(NULL);
	struct vs_qp *qp[2] = {r->qp, new_qp(r, r->scq, r->rcq)};
	struct vs_wc wc;
	unsigned i;

	for (i = 0; i < 20; i++) {
		r->qp = qp[i % 2];
		rig_post(r, VS_WR_SEND, i, 0, 8);
	}
	rig_drain(r);
	for (i = 0; i < 2; i++) {
		r->qp = qp[i];
		rig_in_ack(r, D + 9, 0x1f, 10);
	}
	vs_cq_forget(r->scq, 0); /* nobody's */
	vs_cq_forget(r->scq, vs_qp_num(qp[0]));
	for (i = 0; i < 10; i++) {
		ck_assert_int_eq(vs_cq_poll(r->scq, &wc, 1), 1);
		ck_assert_uint_eq(wc.qp_num, vs_qp_num(qp[1]));
		ck_assert_uint_eq(wc.wr_id, 2 * i + 1);
	}
	ck_assert_int_eq(vs_cq_poll(r->scq, &wc, 1), 0);
	rig_free(r);
}
END_TEST

START_TEST(cq_018_time_never_runs_backwards_and_is_that_of_the_completion)
{
	struct rig *r = rig_new(NULL);
	uint64_t made[5];
	struct vs_wc wc[8];
	unsigned i;

	receives(r, 0, 4);
	for (i = 0; i < 5; i++) {
		rig_advance(r, 1000u * i);
		made[i] = r->now;
		in_solicited(r, P + i, false);
	}
	rig_advance(r, 50000); /* polled later */
	ck_assert_int_eq(vs_cq_poll(r->rcq, wc, 8), 5);
	for (i = 0; i < 5; i++) {
		ck_assert_uint_eq(wc[i].time_ns, made[i]);
		ck_assert_uint_eq(wc[i].wr_id, i);
		/* the event that made it */
		ck_assert_uint_eq(r->log[wc[i].cause - 1].type, VS_EV_CQE);
		ck_assert_uint_eq(r->log[wc[i].cause - 1].wr_id, i);
	}
	rig_free(r);
}
END_TEST

START_TEST(cq_018_poll_takes_at_most_what_is_asked_for)
{
	struct rig *r = rig_new(NULL);
	struct vs_wc wc[8];

	receives(r, 0, 4);
	to_err(r);
	memset(wc, 0xee, sizeof(wc));
	ck_assert_int_eq(vs_cq_poll(r->rcq, wc, 0), 0);
	ck_assert_uint_eq(wc[0].wr_id, 0xeeeeeeeeeeeeeeeeull);
	ck_assert_int_eq(vs_cq_poll(r->rcq, wc, 3), 3);
	ck_assert(wc[0].wr_id == 0 && wc[2].wr_id == 2);
	ck_assert_uint_eq(wc[3].wr_id, 0xeeeeeeeeeeeeeeeeull);
	ck_assert_int_eq(vs_cq_poll(r->rcq, wc, 8), 2);
	ck_assert(wc[0].wr_id == 3 && wc[1].wr_id == 4);
	ck_assert_int_eq(vs_cq_poll(r->rcq, wc, 8), 0);
	rig_free(r);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("cq");
	TCase *tc = tcase_create("size");

	tcase_add_test(tc, cq_001_more_entries_than_the_device_has);
	tcase_add_test(tc, cq_001_more_queues_than_the_device_has);
	tcase_add_test(tc, cq_002_003_a_queue_that_overflows_is_dead_and_its_qps_with_it);
	tcase_add_test(tc, cq_002_a_flush_can_overflow_too);
	tcase_add_test(tc, cq_002_a_queue_is_used_to_its_last_entry_for_ever);
	tcase_add_test(tc, cq_004_resized_under_load_nothing_is_lost_and_the_order_is_kept);
	tcase_add_test(tc, cq_004_what_is_queued_survives_every_resize);
	tcase_add_test(tc, cq_005_resize_below_what_is_queued);
	tcase_add_test(tc, cq_006_011_a_queue_in_use_is_not_destroyed_and_an_unused_one_goes_with_its_events);
	suite_add_tcase(s, tc);

	tc = tcase_create("notification");
	tcase_add_loop_test(tc, cq_007_armed_for_any_or_for_solicited, 0, 4);
	tcase_add_test(tc, cq_007_a_send_completion_is_not_solicited);
	tcase_add_loop_test(tc, cq_008_a_failed_completion_counts_as_solicited, 0, 3);
	tcase_add_test(tc, cq_009_one_event_for_one_request);
	tcase_add_test(tc, cq_009_events_of_two_queues_come_in_turn);
	tcase_add_loop_test(tc, cq_010_any_wins_over_solicited_in_either_order, 0, 2);
	suite_add_tcase(s, tc);

	tc = tcase_create("flush");
	tcase_add_test(tc, cq_012_flush_comes_in_post_order_behind_the_failure);
	tcase_add_loop_test(tc, cq_013_014_flush_covers_both_queues_on_the_right_cqs, 0, 3);
	tcase_add_test(tc, cq_015_what_a_failed_completion_says);
	tcase_add_test(tc, cq_016_a_marker_posted_in_err_comes_back_behind_everything_else);
	tcase_add_test(tc, cq_017_two_qps_on_one_queue_keep_the_order_of_each);
	tcase_add_test(tc, cq_017_the_completions_of_one_qp_can_be_forgotten);
	tcase_add_test(tc, cq_018_time_never_runs_backwards_and_is_that_of_the_completion);
	tcase_add_test(tc, cq_018_poll_takes_at_most_what_is_asked_for);
	suite_add_tcase(s, tc);
	return s;
}
