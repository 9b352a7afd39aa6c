/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_srq.c - SRQ rows of the inventory: shared receive queues. Each test is one row; its name begins with the id.
 *
 * Implementation-defined rows, and the variant that the engine is:
 *   SRQ-002   refused
 *   SRQ-004   0x1f (no credits), with end-to-end credits on or off
 *   SRQ-006   at the next receive that is taken, not at once
 * SRQ-015 (a corrupted work request in the queue): the ring is the engine's own, nobody else writes it; what the test
 * shows is that a request is copied and judged when it is posted, so that nothing bad gets in or changes later.
 */
#include "qps.h"

#define P RIG_PEER_PSN

static const struct rig_opt shared = {.use_srq = true};

static struct vs_qp *member(struct rig *r, enum vs_qp_state state)
{
	struct vs_qp_init init = {.type = VS_QPT_RC,
				  .send_cq = r->scq,
				  .recv_cq = r->rcq,
				  .srq = r->srq,
				  .cap = {8, 0, 1, 0, 0},
				  .cookie = 0xbeef};
	struct vs_qp *qp = rig_qp(r, &init);

	rig_to(r, qp, state);
	return qp;
}

static void receives(struct rig *r, unsigned from, unsigned to)
{
	for (; from <= to; from++)
		ck_assert_int_eq(rig_post_recv(r, from, 64 * from, 64), VS_OK);
}

static int set(struct rig *r, unsigned mask, uint32_t max_wr, uint32_t limit)
{
	const struct vs_srq_attr a = {.max_wr = max_wr, .max_sge = 99, .srq_limit = limit};

	return vs_srq_modify(r->srq, &a, mask);
}

static struct vs_srq_attr query(const struct rig *r)
{
	struct vs_srq_attr a;

	vs_srq_query(r->srq, &a);
	return a;
}

static void limit_event(struct rig *r)
{
	struct vs_async ev;

	ck_assert_int_eq(vs_dev_poll_async(r->dev, &ev), 1);
	ck_assert(ev.type == VS_EVENT_SRQ_LIMIT_REACHED && ev.object == r->srq && ev.cookie == 0x5a);
	rig_expect_no_async(r);
}

/* ---- receiving ---- */

START_TEST(srq_001_an_rc_qp_receives_from_the_shared_queue)
{
	struct rig *r = rig_new(&shared);

	receives(r, 1, 2);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 33);
	rig_expect_ack(r, P, 1);
	ck_assert_uint_eq(rig_expect_wc(r, r->rcq, 1, VS_WC_SUCCESS).byte_len, 33); /* and its qp_num is the QP's */
	ck_assert_mem_eq(r->mem + 64, rig_pattern(P), 33);
	rig_in_write(r, VS_OP_RC_WRITE_ONLY_IMM, P + 1, MEM(r, 0), KEY(r), 8, 8);
	rig_expect_ack(r, P + 1, 2);
	ck_assert_int_eq(rig_expect_wc(r, r->rcq, 2, VS_WC_SUCCESS).opcode, VS_WC_RECV_RDMA_WITH_IMM);
	nothing_happens(r);
	rig_free(r);
}
END_TEST

START_TEST(srq_002_a_member_takes_no_receive_of_its_own)
{
	struct rig_opt o = {.use_srq = true, .state = (enum vs_qp_state)(VS_QPS_INIT + _i)};
	struct rig *r = rig_new(&o);
	struct vs_sge sge = {MEM(r, 0), 64, vs_mr_lkey(r->mr)};
	struct vs_recv_wr wr = {1, &sge, 1};

	ck_assert_int_eq(vs_qp_post_recv(r->qp, &wr), VS_ERR_INVAL);
	ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_POST_SRQ);
	rig_expect_no_wc(r);
	if (_i == 2) {
		rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 8); /* nor was it kept */
		rig_expect_nak(r, P, 0x20 | 12, 0);
	}
	rig_free(r);
}
END_TEST

START_TEST(srq_003_an_empty_queue_draws_an_rnr_nak)
{
	struct rig *r = rig_new(&shared);

	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 8);
	rig_expect_nak(r, P, 0x20 | 12, 0);
	nothing_happens(r);
	receives(r, 1, 1);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 8);
	rig_expect_ack(r, P, 1);
	rig_expect_wc(r, r->rcq, 1, VS_WC_SUCCESS);
	rig_in_send(r, VS_OP_RC_SEND_FIRST, P + 1, 1024);
	rig_expect_nak(r, P + 1, 0x20 | 12, 1);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_RTS);
	rig_free(r);
}
END_TEST

START_TEST(srq_004_a_member_gives_no_credits)
{
	struct rig_opt o = {.use_srq = _i < 2, .dev.e2e_credits = _i % 2 == 1};
	struct rig *r = rig_new(&o);
	uint8_t want = _i == 3 ? 2 : 0x1f; /* a queue of its own has two left */

	receives(r, 1, 3);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 8);
	ck_assert_uint_eq(rig_expect(r, VS_OP_RC_ACKNOWLEDGE, P).ext.aeth.syndrome, want);
	rig_in_read(r, P + 1, MEM(r, 0), KEY(r), 8);
	ck_assert_uint_eq(rig_expect(r, VS_OP_RC_READ_RESPONSE_ONLY, P + 1).ext.aeth.syndrome, want);
	rig_free(r);
}
END_TEST

/* ---- the limit ---- */

START_TEST(srq_005_the_limit_is_told_once_when_fewer_are_left)
{
	struct rig *r = rig_new(&shared);
	unsigned i;

	receives(r, 1, 6);
	ck_assert_int_eq(set(r, VS_SRQ_LIMIT, 0, 4), VS_OK);
	ck_assert_uint_eq(query(r).srq_limit, 4);
	rig_expect_no_async(r);
	for (i = 0; i < 6; i++) {
		rig_in_send(r, VS_OP_RC_SEND_ONLY, P + i, 8);
		if (i == 2) { /* three are left */
			limit_event(r);
			ck_assert_uint_eq(query(r).srq_limit, 0); /* disarmed */
		}
		rig_expect_no_async(r);
		ck_assert_uint_eq(query(r).srq_limit, i < 2 ? 4 : 0);
	}
	/* Armed again, told again. */
	receives(r, 7, 9);
	ck_assert_int_eq(set(r, VS_SRQ_LIMIT, 0, 3), VS_OK);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P + 6, 8);
	limit_event(r);
	/* Limit 0 is none. */
	ck_assert_int_eq(set(r, VS_SRQ_LIMIT, 0, 2), VS_OK);
	ck_assert_int_eq(set(r, VS_SRQ_LIMIT, 0, 0), VS_OK);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P + 7, 8);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P + 8, 8);
	rig_expect_no_async(r);
	rig_free(r);
}
END_TEST

START_TEST(srq_006_already_below_the_limit_when_it_is_set)
{
	struct rig *r = rig_new(&shared);

	receives(r, 1, 2);
	ck_assert_int_eq(set(r, VS_SRQ_LIMIT, 0, 10), VS_OK);
	rig_expect_no_async(r);
	receives(r, 3, 3); /* a post is no reason */
	rig_expect_no_async(r);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 8);
	limit_event(r);
	rig_free(r);
}
END_TEST

START_TEST(srq_006_an_empty_queue_has_nothing_to_take)
{
	struct rig *r = rig_new(&shared);

	ck_assert_int_eq(set(r, VS_SRQ_LIMIT, 0, 1), VS_OK);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 8);
	rig_expect_nak(r, P, 0x20 | 12, 0);
	rig_expect_no_async(r);
	ck_assert_uint_eq(query(r).srq_limit, 1);
	rig_free(r);
}
END_TEST

/* ---- size ---- */

START_TEST(srq_007_a_new_size_holds_and_keeps_what_is_queued)
{
	struct rig *r = rig_new(&shared);
	unsigned i;

	receives(r, 0, 63);
	ck_assert_int_eq(rig_post_recv(r, 99, 0, 64), VS_ERR_NOSPACE);
	for (i = 0; i < 60; i++)
		rig_in_send(r, VS_OP_RC_SEND_ONLY, P + i, 8);
	for (i = 0; i < 60; i++)
		rig_expect_wc(r, r->rcq, i, VS_WC_SUCCESS);
	ck_assert_int_eq(set(r, VS_SRQ_MAX_WR, 5, 77), VS_OK); /* four are queued; the limit is not named */
	ck_assert_uint_eq(query(r).max_wr, 5);
	ck_assert_uint_eq(query(r).max_sge, 4);
	ck_assert_uint_eq(query(r).srq_limit, 0);
	receives(r, 64, 64);
	ck_assert_int_eq(rig_post_recv(r, 99, 0, 64), VS_ERR_NOSPACE);
	ck_assert_int_eq(set(r, VS_SRQ_MAX_WR, 7, 0), VS_OK);
	receives(r, 65, 66);
	ck_assert_int_eq(rig_post_recv(r, 99, 0, 64), VS_ERR_NOSPACE);
	for (i = 60; i <= 66; i++) {
		rig_in_send(r, VS_OP_RC_SEND_ONLY, P + i, 8);
		rig_expect_wc(r, r->rcq, i, VS_WC_SUCCESS);
		ck_assert_mem_eq(r->mem + 64 * i, rig_pattern(P + i), 8);
	}
	rig_free(r);
}
END_TEST

START_TEST(srq_007_sizes_and_limits_that_are_refused_change_nothing)
{
	static const struct {
		unsigned mask;
		uint32_t max_wr, limit;
		enum vs_reason why;
	} bad[] = {
		{VS_SRQ_MAX_WR, 0, 0, VS_REASON_SRQ_SIZE},
		{VS_SRQ_MAX_WR, 1001, 0, VS_REASON_SRQ_SIZE},
		{VS_SRQ_MAX_WR, 2, 0, VS_REASON_SRQ_SIZE}, /* three are queued */
		{VS_SRQ_LIMIT, 0, 65, VS_REASON_SRQ_LIMIT},
		{VS_SRQ_MAX_WR | VS_SRQ_LIMIT, 10, 11, VS_REASON_SRQ_LIMIT},
		{VS_SRQ_MAX_WR | VS_SRQ_LIMIT, 1001, 1, VS_REASON_SRQ_SIZE},
		{4, 10, 1, VS_REASON_ATTR_MASK},
		{VS_SRQ_MAX_WR | 8, 10, 1, VS_REASON_ATTR_MASK},
	};
	struct rig_opt o = {.use_srq = true, .dev.max_srq_wr = 1000};
	struct rig *r = rig_new(&o);
	unsigned i;

	receives(r, 1, 3);
	ck_assert_int_eq(set(r, VS_SRQ_LIMIT, 0, 2), VS_OK);
	for (i = 0; i < COUNT(bad); i++) {
		ck_assert_int_eq(set(r, bad[i].mask, bad[i].max_wr, bad[i].limit), VS_ERR_INVAL);
		ck_assert_int_eq(vs_dev_refusal(r->dev), bad[i].why);
		ck_assert_uint_eq(query(r).max_wr, 64);
		ck_assert_uint_eq(query(r).srq_limit, 2);
	}
	ck_assert_int_eq(set(r, VS_SRQ_MAX_WR | VS_SRQ_LIMIT, 1000, 1000), VS_OK);
	ck_assert_uint_eq(query(r).max_wr, 1000);
	ck_assert_uint_eq(query(r).srq_limit, 1000);
	ck_assert_int_eq(set(r, VS_SRQ_MAX_WR, 999, 0),
			 VS_ERR_INVAL); /* the limit that stands would be above the size */
	ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_SRQ_LIMIT);
	ck_assert_uint_eq(query(r).max_wr, 1000);
	ck_assert_int_eq(set(r, VS_SRQ_MAX_WR | VS_SRQ_LIMIT, 3, 3), VS_OK);
	ck_assert_int_eq(set(r, 0, 0, 0), VS_OK);
	ck_assert_uint_eq(query(r).max_wr, 3);
	rig_free(r);
}
END_TEST

START_TEST(srq_007_what_a_new_queue_may_be)
{
	struct rig_opt o = {.dev = {.max_srq = 2, .max_srq_wr = 100, .max_sge = 4}};
	struct rig *r = rig_new(&o);
	static const struct vs_srq_attr bad[] = {{0, 1, 0}, {101, 1, 0}, {1, 5, 0}};
	struct vs_srq_attr good = {100, 4, 55};
	struct vs_srq *srq[2];
	int err;
	unsigned i;

	for (i = 0; i < COUNT(bad); i++) {
		ck_assert_ptr_null(vs_srq_create(r->pd, &bad[i], 0, &err));
		ck_assert(err == VS_ERR_INVAL && vs_dev_refusal(r->dev) == VS_REASON_SRQ_SIZE);
	}
	for (i = 0; i < 2; i++) {
		srq[i] = vs_srq_create(r->pd, &good, 0, &err);
		ck_assert_ptr_nonnull(srq[i]);
	}
	r->srq = srq[0];
	ck_assert(query(r).max_wr == 100 && query(r).max_sge == 4 && query(r).srq_limit == 0);
	ck_assert_ptr_null(vs_srq_create(r->pd, &good, 0, &err));
	ck_assert(err == VS_ERR_NOSPACE && vs_dev_refusal(r->dev) == VS_REASON_LIMIT_SRQ);
	ck_assert_int_eq(vs_srq_destroy(srq[1]), VS_OK);
	ck_assert_ptr_nonnull(vs_srq_create(r->pd, &good, 0, &err));
	rig_free(r);
}
END_TEST

START_TEST(srq_008_one_more_than_the_queue_holds)
{
	struct rig *r = rig_new(&shared);
	unsigned i;

	receives(r, 0, 63);
	ck_assert_int_eq(rig_post_recv(r, 64, 0, 64), VS_ERR_NOSPACE);
	ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_QUEUE_FULL);
	for (i = 0; i < 200; i++) { /* round and round, the last place is always used */
		rig_in_send(r, VS_OP_RC_SEND_ONLY, P + i, 8);
		rig_drain(r);
		rig_expect_wc(r, r->rcq, i < 64 ? i : 1000 + i - 64, VS_WC_SUCCESS);
		ck_assert_int_eq(rig_post_recv(r, 1000 + i, 0, 64), VS_OK);
		ck_assert_int_eq(rig_post_recv(r, 64, 0, 64), VS_ERR_NOSPACE);
	}
	rig_free(r);
}
END_TEST

/* ---- errors ---- */

START_TEST(srq_009_an_error_leaves_the_shared_queue_to_the_others)
{
	struct rig *r = rig_new(&shared);
	struct vs_qp *first = r->qp, *second = member(r, VS_QPS_RTS);

	receives(r, 1, 3);
	if (_i == 1) { /* one is taken by an open message: that one is flushed */
		rig_in_send(r, VS_OP_RC_SEND_FIRST, P, 1024);
		ck_assert_int_eq(vs_qp_state(first), VS_QPS_ERR); /* 64 bytes of buffer: too long */
		rig_expect_nak(r, P, 0x61, 0);
		rig_expect_wc(r, r->rcq, 1, VS_WC_LOC_LEN_ERR);
	} else {
		rig_to(r, first, VS_QPS_ERR);
	}
	rig_expect_async(r, VS_EVENT_QP_LAST_WQE_REACHED);
	nothing_happens(r);
	r->qp = second;
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 8);
	rig_expect_ack(r, P, 1);
	rig_expect_wc(r, r->rcq, _i == 1 ? 2 : 1, VS_WC_SUCCESS);
	nothing_happens(r);
	rig_free(r);
}
END_TEST

START_TEST(srq_009_the_receive_of_an_open_message_is_flushed)
{
	struct rig *r = rig_new(&shared);
	struct vs_qp *second = member(r, VS_QPS_RTS), *first = r->qp;

	ck_assert_int_eq(rig_post_recv(r, 1, 4096, 4096), VS_OK);
	receives(r, 2, 2);
	rig_in_send(r, VS_OP_RC_SEND_FIRST, P, 1024);
	rig_expect_ack(r, P, 0);
	rig_to(r, first, VS_QPS_ERR);
	rig_expect_wc(r, r->rcq, 1, VS_WC_WR_FLUSH_ERR);
	rig_expect_async(r, VS_EVENT_QP_LAST_WQE_REACHED);
	nothing_happens(r);
	r->qp = second;
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 8);
	rig_expect_wc(r, r->rcq, 2, VS_WC_SUCCESS);
	rig_free(r);
}
END_TEST

START_TEST(srq_010_the_last_receive_is_told_once)
{
	struct rig_opt o = {.use_srq = true,
			    .type = _i % 2 == 0 ? VS_QPT_RC : VS_QPT_UD,
			    .state = (enum vs_qp_state)(VS_QPS_INIT + _i / 2)};
	struct rig *r = rig_new(&o);
	struct vs_async ev;

	receives(r, 1, 2);
	rig_to(r, r->qp, VS_QPS_ERR);
	ck_assert_int_eq(vs_dev_poll_async(r->dev, &ev), 1);
	ck_assert(ev.type == VS_EVENT_QP_LAST_WQE_REACHED && ev.object == r->qp && ev.cookie == 0xc0071e);
	rig_to(r, r->qp, VS_QPS_ERR); /* again ERR: not again told */
	nothing_happens(r);
	ck_assert_int_eq(vs_qp_modify(r->qp, &(struct vs_qp_attr){.state = VS_QPS_RESET}, VS_QP_STATE), VS_OK);
	nothing_happens(r);
	rig_to(r, r->qp, VS_QPS_INIT); /* in the next life it is */
	rig_to(r, r->qp, VS_QPS_ERR);
	rig_expect_async(r, VS_EVENT_QP_LAST_WQE_REACHED);
	nothing_happens(r);
	rig_free(r);
}
END_TEST

START_TEST(srq_010_a_fatal_nak_is_told_before_it)
{
	struct rig *r = rig_new(&shared);

	receives(r, 1, 1);
	rig_in_write(r, VS_OP_RC_WRITE_ONLY, P, MEM(r, 0), KEY(r) ^ 0x100, 8, 8);
	rig_expect_nak(r, P, 0x62, 0);
	rig_expect_async(r, VS_EVENT_QP_ACCESS_ERR);
	rig_expect_async(r, VS_EVENT_QP_LAST_WQE_REACHED);
	nothing_happens(r);
	rig_free(r);
}
END_TEST

START_TEST(srq_010_a_qp_with_a_queue_of_its_own_tells_no_such_thing)
{
	struct rig *r = rig_new(NULL);

	rig_to(r, r->qp, VS_QPS_ERR);
	nothing_happens(r);
	rig_free(r);
}
END_TEST

START_TEST(srq_011_a_queue_in_use_is_not_destroyed)
{
	struct rig *r = rig_new(&shared);
	struct vs_qp *second = member(r, VS_QPS_RESET);

	receives(r, 1, 2);
	ck_assert_int_eq(vs_srq_destroy(r->srq), VS_ERR_BUSY);
	ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_IN_USE);
	ck_assert_int_eq(vs_qp_destroy(r->qp), VS_OK);
	ck_assert_int_eq(vs_srq_destroy(r->srq), VS_ERR_BUSY);
	r->qp = second;
	rig_to(r, second, VS_QPS_RTS);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 8); /* it still works */
	rig_expect_wc(r, r->rcq, 1, VS_WC_SUCCESS);
	rig_drain(r);
	ck_assert_int_eq(set(r, VS_SRQ_LIMIT, 0, 1), VS_OK);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P + 1, 8); /* an event of it that nobody took */
	r->qp = NULL;
	ck_assert_int_eq(vs_qp_destroy(second), VS_OK);
	ck_assert_int_eq(vs_srq_destroy(r->srq), VS_OK);
	rig_expect_no_async(r);
	ck_assert_int_eq(vs_mr_dereg(r->mr), VS_OK);
	ck_assert_int_eq(vs_pd_destroy(r->pd), VS_OK);
	rig_free(r);
}
END_TEST

START_TEST(srq_012_the_region_has_to_be_of_the_queues_domain)
{
	struct rig *r = rig_new(NULL);
	int err;
	struct vs_pd *pd = vs_pd_create(r->dev, &err);
	struct vs_srq_attr sa = {8, 1, 0};
	struct vs_srq *srq = vs_srq_create(pd, &sa, 0x5a, &err);
	struct vs_mr_attr ma = {MEM(r, 0), 4096, MEM(r, 0), VS_ACCESS_LOCAL_WRITE};
	struct vs_mr *mr = _i == 0 ? r->mr : vs_mr_reg(pd, &ma, &err);
	struct vs_qp_init init = {
		.type = VS_QPT_RC, .send_cq = r->scq, .recv_cq = r->rcq, .srq = srq, .cap = {8, 0, 1, 0, 0}};
	struct vs_sge sge = {MEM(r, 0), 64, vs_mr_lkey(mr)};
	struct vs_recv_wr wr = {1, &sge, 1};

	r->qp = rig_qp(r, &init); /* the QP itself is of the rig's domain */
	rig_to(r, r->qp, VS_QPS_RTS);
	ck_assert_int_eq(vs_srq_post_recv(srq, &wr), VS_OK);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 8);
	if (_i == 0) { /* the QP's domain does not help */
		rig_expect_nak(r, P, 0x63, 0);
		ck_assert_uint_eq(rig_expect_wc(r, r->rcq, 1, VS_WC_LOC_PROT_ERR).vendor_err, VS_REASON_LKEY_PD);
		ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_ERR);
		ck_assert_uint_eq(r->mem[0], 0xee);
	} else {
		rig_expect_ack(r, P, 1);
		rig_expect_wc(r, r->rcq, 1, VS_WC_SUCCESS);
	}
	rig_free(r);
}
END_TEST

START_TEST(srq_013_a_datagram_has_its_40_bytes_here_too)
{
	struct rig_opt o = {.type = VS_QPT_UD, .use_srq = true};
	struct rig *r = rig_new(&o);
	struct vs_pkt p = rig_pkt(r, VS_OP_UD_SEND_ONLY, 7);

	p.ext.deth.qkey = rig_attr(r).qkey;
	p.payload = rig_pattern(7);
	p.payload_len = 24;
	ck_assert_int_eq(rig_post_recv(r, 1, 0, 63), VS_OK); /* one byte too small: kept */
	rig_in(r, &p);
	nothing_happens(r);
	p.payload_len = 20;
	rig_in(r, &p);
	ck_assert_uint_eq(rig_expect_wc(r, r->rcq, 1, VS_WC_SUCCESS).byte_len, 60);
	ck_assert_mem_eq(r->mem + 40, rig_pattern(7), 20);
	p.payload_len = 24;
	ck_assert_int_eq(rig_post_recv(r, 2, 0, 64), VS_OK);
	rig_in(r, &p);
	ck_assert_uint_eq(rig_expect_wc(r, r->rcq, 2, VS_WC_SUCCESS).byte_len, 64);
	ck_assert_uint_eq(r->mem[64], 0xee);
	rig_free(r);
}
END_TEST

START_TEST(srq_014_many_qps_take_in_fifo_order_and_complete_in_their_own)
{
	struct rig *r = rig_new(&shared);
	struct vs_qp *qp[3] = {r->qp, member(r, VS_QPS_RTS), member(r, VS_QPS_RTS)};
	static const unsigned turn[] = {0, 1, 2, 2, 1, 0, 1, 1, 0, 2};
	int32_t sent[3] = {0};
	unsigned i;

	receives(r, 1, 10);
	for (i = 0; i < COUNT(turn); i++) {
		r->qp = qp[turn[i]];
		rig_in_send(r, VS_OP_RC_SEND_ONLY, vs_psn_add(P, sent[turn[i]]++), 8);
	}
	for (i = 0; i < COUNT(turn); i++) {
		r->qp = qp[turn[i]];
		rig_expect_wc(r, r->rcq, 1 + i, VS_WC_SUCCESS); /* its qp_num is the QP's */
	}
	/* A message that takes its receive early and ends late. */
	ck_assert_int_eq(rig_post_recv(r, 11, 4096, 4096), VS_OK);
	ck_assert_int_eq(rig_post_recv(r, 12, 8192, 64), VS_OK);
	r->qp = qp[0];
	rig_in_send(r, VS_OP_RC_SEND_FIRST, vs_psn_add(P, sent[0]++), 1024);
	r->qp = qp[1];
	rig_in_send(r, VS_OP_RC_SEND_ONLY, vs_psn_add(P, sent[1]), 8);
	rig_expect_wc(r, r->rcq, 12, VS_WC_SUCCESS);
	r->qp = qp[0];
	rig_in_send(r, VS_OP_RC_SEND_LAST, vs_psn_add(P, sent[0]), 8);
	rig_expect_wc(r, r->rcq, 11, VS_WC_SUCCESS);
	rig_expect_no_wc(r);
	rig_free(r);
}
END_TEST

START_TEST(srq_015_a_request_is_judged_and_copied_when_it_is_posted)
{
	struct rig *r = rig_new(&shared);
	struct vs_sge sge[5];
	struct vs_recv_wr wr = {1, sge, 5};
	unsigned i;

	for (i = 0; i < 5; i++)
		sge[i] = (struct vs_sge){MEM(r, 100 * i), 10, vs_mr_lkey(r->mr)};
	ck_assert_int_eq(vs_srq_post_recv(r->srq, &wr), VS_ERR_INVAL);
	ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_WR_NUM_SGE);
	wr.num_sge = UINT32_MAX;
	ck_assert_int_eq(vs_srq_post_recv(r->srq, &wr), VS_ERR_INVAL);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 8); /* not kept */
	rig_expect_nak(r, P, 0x20 | 12, 0);
	wr.num_sge = 4;
	ck_assert_int_eq(vs_srq_post_recv(r->srq, &wr), VS_OK);
	wr.num_sge = 99; /* the caller's copies are the caller's */
	memset(sge, 0xff, sizeof(sge));
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 40);
	rig_expect_ack(r, P, 1);
	rig_expect_wc(r, r->rcq, 1, VS_WC_SUCCESS);
	for (i = 0; i < 4; i++) {
		ck_assert_mem_eq(r->mem + 100 * i, rig_pattern(P) + 10 * i, 10);
		ck_assert_uint_eq(r->mem[100 * i + 10], 0xee);
	}
	rig_free(r);
}
END_TEST

START_TEST(srq_015_receives_of_all_sizes_and_no_element_at_all)
{
	struct rig *r = rig_new(&shared);
	struct vs_sge sge[2] = {{MEM(r, 0), UINT32_MAX, vs_mr_lkey(r->mr)}, {MEM(r, 0), 5, 0}};
	struct vs_recv_wr wr = {1, NULL, 0};

	ck_assert_int_eq(vs_srq_post_recv(r->srq, &wr), VS_OK); /* for a message of 0 bytes */
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 0);
	rig_expect_wc(r, r->rcq, 1, VS_WC_SUCCESS);
	wr = (struct vs_recv_wr){2, sge, 2}; /* together more than 32 bits: does not become small */
	ck_assert_int_eq(vs_srq_post_recv(r->srq, &wr), VS_OK);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P + 1, 64);
	rig_expect_wc(r, r->rcq, 2, VS_WC_SUCCESS);
	wr = (struct vs_recv_wr){3, NULL, 0};
	ck_assert_int_eq(vs_srq_post_recv(r->srq, &wr), VS_OK);
	rig_drain(r);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P + 2, 1);
	rig_expect_nak(r, P + 2, 0x61, 2);
	rig_expect_wc(r, r->rcq, 3, VS_WC_LOC_LEN_ERR);
	rig_free(r);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("srq");
	TCase *tc = tcase_create("receiving");

	tcase_add_test(tc, srq_001_an_rc_qp_receives_from_the_shared_queue);
	tcase_add_loop_test(tc, srq_002_a_member_takes_no_receive_of_its_own, 0, 3);
	tcase_add_test(tc, srq_003_an_empty_queue_draws_an_rnr_nak);
	tcase_add_loop_test(tc, srq_004_a_member_gives_no_credits, 0, 4);
	suite_add_tcase(s, tc);

	tc = tcase_create("limit and size");
	tcase_add_test(tc, srq_005_the_limit_is_told_once_when_fewer_are_left);
	tcase_add_test(tc, srq_006_already_below_the_limit_when_it_is_set);
	tcase_add_test(tc, srq_006_an_empty_queue_has_nothing_to_take);
	tcase_add_test(tc, srq_007_a_new_size_holds_and_keeps_what_is_queued);
	tcase_add_test(tc, srq_007_sizes_and_limits_that_are_refused_change_nothing);
	tcase_add_test(tc, srq_007_what_a_new_queue_may_be);
	tcase_add_test(tc, srq_008_one_more_than_the_queue_holds);
	suite_add_tcase(s, tc);

	tc = tcase_create("errors");
	tcase_add_loop_test(tc, srq_009_an_error_leaves_the_shared_queue_to_the_others, 0, 2);
	tcase_add_test(tc, srq_009_the_receive_of_an_open_message_is_flushed);
	tcase_add_loop_test(tc, srq_010_the_last_receive_is_told_once, 0, 8);
	tcase_add_test(tc, srq_010_a_fatal_nak_is_told_before_it);
	tcase_add_test(tc, srq_010_a_qp_with_a_queue_of_its_own_tells_no_such_thing);
	tcase_add_test(tc, srq_011_a_queue_in_use_is_not_destroyed);
	tcase_add_loop_test(tc, srq_012_the_region_has_to_be_of_the_queues_domain, 0, 2);
	suite_add_tcase(s, tc);

	tc = tcase_create("requests");
	tcase_add_test(tc, srq_013_a_datagram_has_its_40_bytes_here_too);
	tcase_add_test(tc, srq_014_many_qps_take_in_fifo_order_and_complete_in_their_own);
	tcase_add_test(tc, srq_015_a_request_is_judged_and_copied_when_it_is_posted);
	tcase_add_test(tc, srq_015_receives_of_all_sizes_and_no_element_at_all);
	suite_add_tcase(s, tc);
	return s;
}
