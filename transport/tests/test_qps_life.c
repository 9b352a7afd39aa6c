/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_qps_life.c - QPS-050..064 of the inventory: posts and packets in each state, the first packet, reuse and
 * destroy. Each test is one row; its name begins with the id.
 *
 * Implementation-defined rows, and the variant that the engine is:
 *   QPS-050, -051   refused at once
 *   QPS-057         dropped, nothing is buffered for RTR
 *   QPS-063         numbers are random: one that was given back is not given out again soon; packets for it cause
 * nothing QPS-056: the engine has no threads; what can differ is the place of the modify in the sequence of calls: all
 * of them. QPS-064: the RTS vector is refused (the amendment).
 */
#include "qps.h"

#define P RIG_PEER_PSN
#define D RIG_DUT_PSN

static const enum vs_qp_type types[] = {VS_QPT_RC, VS_QPT_UC, VS_QPT_UD};
static const enum vs_wr_opcode rc_ops[] = {
	VS_WR_RDMA_WRITE,    VS_WR_RDMA_WRITE_WITH_IMM,  VS_WR_SEND,      VS_WR_SEND_WITH_IMM,
	VS_WR_RDMA_READ,     VS_WR_ATOMIC_CMP_AND_SWP,   VS_WR_LOCAL_INV, VS_WR_BIND_MW,
	VS_WR_SEND_WITH_INV, VS_WR_ATOMIC_FETCH_AND_ADD, VS_WR_FLUSH,     VS_WR_ATOMIC_WRITE,
};

/* The peer's SEND Only, as this type of QP takes it. */
static void in_send(struct rig *r, enum vs_qp_type type, uint32_t psn)
{
	struct vs_pkt p = rig_pkt(r,
				  type == VS_QPT_RC   ? VS_OP_RC_SEND_ONLY
				  : type == VS_QPT_UC ? VS_OP_UC_SEND_ONLY
						      : VS_OP_UD_SEND_ONLY,
				  psn);

	p.ext.deth.qkey = rig_attr(r).qkey;
	p.payload = rig_pattern(psn);
	p.payload_len = 8;
	rig_in(r, &p);
}

/* ---- posts ---- */

START_TEST(qps_050_a_send_before_rts_is_refused)
{
	enum vs_qp_type type = types[_i / 3];
	struct vs_ah *ah;
	struct rig *r = rig_in_state(type, (enum vs_qp_state)(_i % 3), &ah);
	struct vs_sge sge;
	unsigned i;

	for (i = 0; i < (type == VS_QPT_RC ? COUNT(rc_ops) : 1); i++) {
		struct vs_send_wr wr = send_wr(r, 1, &sge, 8, ah);

		if (type == VS_QPT_RC)
			wr.opcode = rc_ops[i];
		ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_ERR_INVAL);
		ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_POST_STATE);
	}
	nothing_happens(r);
	rig_to(r, r->qp, VS_QPS_RTS); /* and nothing of it was kept */
	nothing_happens(r);
	rig_to(r, r->qp, VS_QPS_ERR);
	nothing_happens(r);
	rig_free(r);
}
END_TEST

START_TEST(qps_051_a_receive_in_reset_is_refused)
{
	struct vs_ah *ah;
	struct rig *r = rig_in_state(types[_i], VS_QPS_RESET, &ah);

	ck_assert_int_eq(rig_post_recv(r, 1, 0, 64), VS_ERR_INVAL);
	ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_POST_STATE);
	rig_to(r, r->qp, VS_QPS_INIT);
	nothing_happens(r);
	rig_to(r, r->qp, VS_QPS_ERR); /* nothing to flush */
	nothing_happens(r);
	rig_free(r);
}
END_TEST

START_TEST(qps_052_receives_posted_in_init_are_used_from_rtr_on)
{
	struct vs_ah *ah;
	struct rig *r = rig_in_state(types[_i], VS_QPS_INIT, &ah);

	ck_assert_int_eq(rig_post_recv(r, 1, 0, 64), VS_OK);
	ck_assert_int_eq(rig_post_recv(r, 2, 64, 64), VS_OK);
	nothing_happens(r);
	rig_to(r, r->qp, VS_QPS_RTR);
	nothing_happens(r);
	ck_assert_int_eq(rig_post_recv(r, 3, 128, 64), VS_OK);
	in_send(r, types[_i], P);
	rig_expect_wc(r, r->rcq, 1, VS_WC_SUCCESS);
	rig_to(r, r->qp, VS_QPS_RTS);
	in_send(r, types[_i], P + 1);
	rig_expect_wc(r, r->rcq, 2, VS_WC_SUCCESS);
	in_send(r, types[_i], P + 2);
	rig_expect_wc(r, r->rcq, 3, VS_WC_SUCCESS);
	rig_expect_no_wc(r);
	rig_free(r);
}
END_TEST

START_TEST(qps_053_a_send_in_err_is_flushed_and_never_refused)
{
	enum vs_qp_type type = types[_i / 2];
	struct vs_ah *ah;
	struct rig *r = rig_in_state(type, VS_QPS_ERR, &ah);
	int err;
	struct vs_mw *mw = vs_mw_alloc(r->pd, VS_MW_TYPE_2, &err);
	uint32_t key = vs_mw_rkey(mw);
	struct vs_sge sge;
	unsigned i, n = type == VS_QPT_RC ? COUNT(rc_ops) : 1, round;

	for (round = 0; round < 10; round++) { /* more than the queue holds: nothing stays in it */
		for (i = 0; i < n; i++) {
			struct vs_send_wr wr = send_wr(r, 100 * round + i, &sge, 8, ah);

			if (type == VS_QPT_RC)
				wr.opcode = rc_ops[i];
			wr.flags = _i % 2 == 0 ? VS_SEND_SIGNALED : 0;
			wr.bind.mw = mw;
			wr.bind.mr = r->mr;
			wr.bind.addr = MEM(r, 0);
			wr.bind.length = 64;
			wr.bind.rkey = key + 1;
			sge.lkey ^= 0x100; /* nobody looks at it */
			ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
		}
		for (i = 0; i < n; i++)
			ck_assert_uint_eq(rig_expect_wc(r, r->scq, 100 * round + i, VS_WC_WR_FLUSH_ERR).vendor_err,
					  VS_REASON_FLUSHED);
	}
	nothing_happens(r);
	ck_assert_uint_eq(vs_mw_rkey(mw), key);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_ERR);
	rig_free(r);
}
END_TEST

START_TEST(qps_053_what_no_state_allows_is_refused_in_err_too)
{
	struct vs_ah *ah;
	struct rig *r = rig_in_state(VS_QPT_UD, VS_QPS_ERR, &ah);

	ck_assert_int_eq(rig_post(r, VS_WR_RDMA_READ, 1, 0, 8), VS_ERR_INVAL);
	ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_WR_OPCODE);
	nothing_happens(r);
	rig_free(r);
}
END_TEST

START_TEST(qps_054_a_receive_in_err_is_flushed)
{
	struct vs_ah *ah;
	struct rig *r = rig_in_state(types[_i], VS_QPS_ERR, &ah);
	unsigned i;

	for (i = 0; i < 100; i++) {
		ck_assert_int_eq(rig_post_recv(r, i, 0, 64), VS_OK);
		if (i % 10 == 9) { /* in order, and at once */
			unsigned j;

			for (j = i - 9; j <= i; j++)
				rig_expect_wc(r, r->rcq, j, VS_WC_WR_FLUSH_ERR);
		}
	}
	nothing_happens(r);
	rig_free(r);
}
END_TEST

START_TEST(qps_055_a_send_in_sqe_is_flushed)
{
	struct vs_ah *ah;
	struct rig *r = rig_in_state(types[1 + _i], VS_QPS_SQE, &ah);
	struct vs_sge sge;
	struct vs_send_wr wr = send_wr(r, 1, &sge, 8, ah);

	wr.flags = 0;
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	rig_expect_wc(r, r->scq, 1, VS_WC_WR_FLUSH_ERR);
	ck_assert_int_eq(rig_post_recv(r, 2, 0, 64), VS_OK); /* receives are not */
	nothing_happens(r);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_SQE);
	in_send(r, types[1 + _i], P);
	rig_expect_wc(r, r->rcq, 2, VS_WC_SUCCESS);
	nothing_happens(r);
	rig_free(r);
}
END_TEST

/* Posts alternate: even numbers are sends, odd ones receives; some packets leave; ERR comes after `before` posts. */
static void post_around_the_error(unsigned before, unsigned packets)
{
	struct rig *r = rig_new(NULL);
	struct vs_qp_attr err = attr_to(r, VS_QPS_ERR);
	struct vs_sge sge;
	struct vs_pkt p;
	unsigned i;

	for (i = 0; i <= 12; i++) {
		struct vs_send_wr wr;

		if (i == before) {
			while (packets-- > 0 && rig_out(r, &p))
				;
			accepted(r, &err, VS_QP_STATE);
		}
		if (i % 2 == 1) {
			ck_assert_int_eq(rig_post_recv(r, i, 0, 64), VS_OK);
			continue;
		}
		wr = rig_wr(r, rc_ops[i % 4], i, &sge, 0, 2000);
		wr.flags = i % 4 == 0 ? VS_SEND_SIGNALED : 0;
		ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	}
	for (i = 0; i <= 12; i++)
		rig_expect_wc(r, i % 2 == 1 ? r->rcq : r->scq, i, VS_WC_WR_FLUSH_ERR);
	nothing_happens(r);
	rig_free(r);
}

START_TEST(qps_056_wherever_the_error_comes_every_request_completes_once)
{
	unsigned packets;

	for (packets = 0; packets <= 2 * (unsigned)_i && packets < 8; packets++)
		post_around_the_error((unsigned)_i, packets);
}
END_TEST

/* ---- packets ---- */

static void in_any(struct rig *r, unsigned which, uint32_t psn)
{
	static const uint8_t other[] = {VS_OP_RC_ATOMIC_ACKNOWLEDGE, VS_OP_RC_READ_RESPONSE_ONLY, VS_OP_UC_SEND_ONLY,
					VS_OP_UD_SEND_ONLY, 0x1e};
	struct vs_pkt p;

	if (which == 0) {
		rig_in_send(r, VS_OP_RC_SEND_ONLY, psn, 8);
	} else if (which == 1) {
		rig_in_write(r, VS_OP_RC_WRITE_ONLY, psn, MEM(r, 0), KEY(r), 8, 8);
	} else if (which == 2) {
		rig_in_read(r, psn, MEM(r, 0), KEY(r), 8);
	} else if (which == 3) {
		rig_in_write(r, VS_OP_RC_WRITE_ONLY, psn, MEM(r, 0), KEY(r) ^ 0x100, 8, 8); /* it would be refused */
	} else if (which == 4) {
		rig_in_ack(r, D, 0x62, 0);
	} else {
		p = rig_pkt(r, other[which - 5], psn);
		p.ext.deth.qkey = rig_attr(r).qkey;
		rig_in(r, &p);
	}
}
#define ANY 10

START_TEST(qps_057_packets_before_rtr_are_dropped_and_not_kept)
{
	enum vs_qp_type type = types[_i / 2];
	struct vs_ah *ah;
	struct rig *r = rig_in_state(type, (enum vs_qp_state)(_i % 2), &ah);
	unsigned i, rcvd = 0;

	if (_i % 2 == 1)
		rig_post_recv(r, 1, 64, 64);
	rcvd = (unsigned)rig_counter(r, VS_CNT_RCVD_PKTS);
	for (i = 0; i < ANY; i++) {
		in_any(r, i, P);
		nothing_happens(r);
	}
	ck_assert_uint_eq(rig_count_events(r, VS_EV_PKT_DROP), ANY);
	ck_assert_uint_eq(rig_counter(r, VS_CNT_RCVD_PKTS), rcvd);
	ck_assert_int_eq(vs_qp_state(r->qp), _i % 2);
	rig_to(r, r->qp, VS_QPS_RTS);
	nothing_happens(r);
	if (_i % 2 == 1) {
		in_send(r, type, P);
		rig_expect_wc(r, r->rcq, 1, VS_WC_SUCCESS);
	}
	ck_assert_uint_eq(r->mem[0], 0xee);
	rig_free(r);
}
END_TEST

START_TEST(qps_058_the_first_packet_in_rtr_is_told_once)
{
	struct vs_ah *ah;
	struct rig *r = rig_in_state(VS_QPT_RC, VS_QPS_RTR, &ah);
	struct vs_async ev;
	unsigned i;

	rig_in_send(r, VS_OP_RC_SEND_ONLY, P + 1, 8); /* not the expected one */
	rig_expect_nak(r, P, 0x60, 0);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 8); /* no receive */
	rig_expect_nak(r, P, 0x20 | 12, 0);
	rig_expect_no_async(r);
	rig_post_recv(r, 1, 64, 64);
	in_any(r, (unsigned)_i, P);
	ck_assert_int_eq(vs_dev_poll_async(r->dev, &ev), 1);
	ck_assert(ev.type == VS_EVENT_COMM_EST && ev.object == r->qp && ev.cookie == 0xc0071e);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_RTR);
	if (_i == 0)
		rig_expect_wc(r, r->rcq, 1, VS_WC_SUCCESS);
	ck_assert_uint_eq(rig_drain(r), 1);
	in_any(r, (unsigned)_i, P); /* a duplicate */
	for (i = 1; i < 4; i++)
		rig_in_write(r, VS_OP_RC_WRITE_ONLY, P + i, MEM(r, 0), KEY(r), 8, 8);
	rig_drain(r);
	nothing_happens(r);
	rig_to(r, r->qp, VS_QPS_RTS);
	rig_in_write(r, VS_OP_RC_WRITE_ONLY, P + 4, MEM(r, 0), KEY(r), 8, 8);
	rig_drain(r);
	nothing_happens(r);
	rig_free(r);
}
END_TEST

START_TEST(qps_058_in_rts_nothing_is_told)
{
	struct rig *r = rig_new(NULL);

	rig_post_recv(r, 1, 64, 64);
	in_any(r, (unsigned)_i, P);
	rig_drain(r);
	rig_expect_no_async(r);
	rig_free(r);
}
END_TEST

START_TEST(qps_059_packets_in_err_are_dropped)
{
	enum vs_qp_type type = types[_i];
	struct vs_ah *ah;
	struct rig *r = rig_in_state(type, VS_QPS_ERR, &ah);
	unsigned i;

	for (i = 0; i < ANY; i++) {
		in_any(r, i, P);
		nothing_happens(r);
	}
	rig_advance(r, FOR_EVER);
	nothing_happens(r);
	ck_assert_uint_eq(rig_count_events(r, VS_EV_PKT_TX), 0);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_ERR);
	ck_assert_uint_eq(r->mem[0], 0xee);
	rig_free(r);
}
END_TEST

/* ---- reuse ---- */

START_TEST(qps_060_after_err_and_reset_a_qp_begins_anew)
{
	struct rig_opt o = {.retry_cnt = 1, .rnr_retry = 1, .timeout = 8};
	struct rig *r = rig_new(&o);
	uint32_t qpn = vs_qp_num(r->qp);
	struct vs_qp_attr a;
	struct vs_wc wc;

	/* Leave as much behind as one life can: MSN 3, a gap told, a READ kept, an open message, retries used. */
	rig_post_recv(r, 1, 4096, 2048);
	rig_in_write(r, VS_OP_RC_WRITE_ONLY, P, MEM(r, 0), KEY(r), 8, 8);
	rig_in_read(r, P + 1, MEM(r, 0), KEY(r), 8);
	rig_in_write(r, VS_OP_RC_WRITE_ONLY, P + 2, MEM(r, 0), KEY(r), 8, 8);
	rig_in_send(r, VS_OP_RC_SEND_FIRST, P + 3, 1024);
	rig_in_send(r, VS_OP_RC_SEND_LAST, P + 5, 8);
	rig_post(r, VS_WR_SEND, 2, 0, 2048);
	ck_assert_uint_ge(rig_drain(r), 5);
	rig_advance(r, 4096u << 8);
	ck_assert_uint_eq(rig_drain(r), 2);
	rig_to(r, r->qp, VS_QPS_ERR);
	while (vs_cq_poll(r->scq, &wc, 1) == 1 || vs_cq_poll(r->rcq, &wc, 1) == 1)
		;
	a = attr_to(r, VS_QPS_RESET);
	accepted(r, &a, VS_QP_STATE);
	a.state = VS_QPS_INIT;
	accepted(r, &a, VS_QP_STATE | INIT_RC);
	a.state = VS_QPS_RTR;
	a.rq_psn = 0x500;
	accepted(r, &a, VS_QP_STATE | RTR_RC);
	a.state = VS_QPS_RTS;
	a.sq_psn = 0x700;
	accepted(r, &a, VS_QP_STATE | RTS_RC);
	ck_assert_uint_eq(vs_qp_num(r->qp), qpn);
	nothing_happens(r);
	rig_post_recv(r, 3, 8192, 64);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, 0x500, 8);
	rig_expect_ack(r, 0x500, 1);
	rig_expect_wc(r, r->rcq, 3, VS_WC_SUCCESS);
	rig_in_read(r, 0x4ff, MEM(r, 0), KEY(r), 8); /* of no READ that this life knows */
	rig_in_read(r, P + 1, MEM(r, 0), KEY(r), 8);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, 0x503, 8);
	rig_expect_nak(r, 0x501, 0x60, 1); /* a gap of this life is told */
	rig_expect_silence(r);
	rig_post(r, VS_WR_SEND, 4, 0, 8);
	rig_expect(r, VS_OP_RC_SEND_ONLY, 0x700);
	rig_advance(r, 4096u << 8);
	rig_expect(r, VS_OP_RC_SEND_ONLY, 0x700); /* with the one retry of this life */
	rig_in_ack(r, D + 1, 0x1f, 1);            /* an acknowledge of the other one */
	rig_expect_no_wc(r);
	rig_in_ack(r, 0x700, 0x1f, 1);
	rig_expect_wc(r, r->scq, 4, VS_WC_SUCCESS);
	nothing_happens(r);
	rig_free(r);
}
END_TEST

START_TEST(qps_060_the_event_of_the_first_packet_comes_in_each_life)
{
	struct vs_ah *ah;
	struct rig *r = rig_in_state(VS_QPT_RC, VS_QPS_RTR, &ah);
	unsigned i;

	for (i = 0; i < 3; i++) {
		rig_in_write(r, VS_OP_RC_WRITE_ONLY, P, MEM(r, 0), KEY(r), 8, 8);
		rig_expect_ack(r, P, 1);
		rig_expect_async(r, VS_EVENT_COMM_EST);
		nothing_happens(r);
		if (i == 1)
			rig_to(r, r->qp, VS_QPS_ERR);
		ck_assert_int_eq(vs_qp_modify(r->qp, &(struct vs_qp_attr){.state = VS_QPS_RESET}, VS_QP_STATE), VS_OK);
		rig_to(r, r->qp, VS_QPS_RTR);
	}
	rig_free(r);
}
END_TEST

/* ---- destroy ---- */

START_TEST(qps_061_destroy_works_in_every_state_and_ends_everything)
{
	enum vs_qp_type type = types[_i / 7];
	struct vs_ah *ah;
	struct rig *r = rig_in_state(type, (enum vs_qp_state)(_i % 7), &ah);
	uint32_t qpn, sent;
	struct vs_sge sge;
	struct vs_send_wr wr;
	struct vs_wc wc;
	struct vs_pkt p;
	unsigned i;

	if (r == NULL)
		return;
	qpn = vs_qp_num(r->qp);
	if (vs_qp_state(r->qp) == VS_QPS_RTS) { /* under way: a request with its timer, answers */
		for (i = 0; i < 3; i++) {
			wr = send_wr(r, i, &sge, 2000, ah);
			ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
		}
		rig_out(r, &p);
		rig_in_read(r, P, MEM(r, 0), KEY(r), 4000);
		rig_out(r, &p);
	}
	if (vs_qp_state(r->qp) != VS_QPS_RESET)
		rig_post_recv(r, 9, 0, 64);
	while (vs_cq_poll(r->scq, &wc, 1) == 1 || vs_cq_poll(r->rcq, &wc, 1) == 1)
		;
	sent = rig_count_events(r, VS_EV_PKT_TX);
	ck_assert_int_eq(vs_qp_destroy(r->qp), VS_OK);
	r->qp = NULL;
	nothing_happens(r);
	ck_assert_uint_eq(vs_dev_deadline(r->dev), VS_NEVER);
	p = rig_pkt(r, VS_OP_RC_WRITE_ONLY, P);
	p.bth.destqp = qpn;
	rig_in(r, &p);
	rig_advance(r, FOR_EVER);
	nothing_happens(r);
	ck_assert_uint_eq(rig_count_events(r, VS_EV_PKT_TX), sent);
	if (ah != NULL)
		ck_assert_int_eq(vs_ah_destroy(ah), VS_OK);
	ck_assert_int_eq(vs_cq_destroy(r->scq), VS_OK); /* nothing holds on to them any more */
	ck_assert_int_eq(vs_cq_destroy(r->rcq), VS_OK);
	ck_assert_int_eq(vs_mr_dereg(r->mr), VS_OK);
	ck_assert_int_eq(vs_pd_destroy(r->pd), VS_OK);
	rig_free(r);
}
END_TEST

START_TEST(qps_061_events_of_a_destroyed_qp_are_gone)
{
	struct vs_ah *ah;
	struct rig *r = rig_in_state(VS_QPT_RC, VS_QPS_RTR, &ah);
	struct vs_qp_init init = {.type = VS_QPT_RC, .send_cq = r->scq, .recv_cq = r->rcq, .cap = {1, 1, 1, 1, 0}};
	struct vs_qp *first = r->qp, *second = rig_qp(r, &init);
	struct vs_async ev;

	rig_in_write(r, VS_OP_RC_WRITE_ONLY, P, MEM(r, 0), KEY(r), 8, 8);
	r->qp = second;
	rig_to(r, second, VS_QPS_RTR);
	rig_in_write(r, VS_OP_RC_WRITE_ONLY, P, MEM(r, 0), KEY(r), 8, 8);
	ck_assert_int_eq(vs_qp_destroy(first), VS_OK);
	ck_assert_int_eq(vs_dev_poll_async(r->dev, &ev), 1);
	ck_assert(ev.type == VS_EVENT_COMM_EST && ev.object == second);
	rig_expect_no_async(r);
	rig_free(r);
}
END_TEST

START_TEST(qps_062_a_member_of_a_group_is_not_destroyed)
{
	static const uint8_t mgid[2][16] = {{0xff, 0x0e, [15] = 1}, {0xff, 0x0e, [15] = 2}};
	struct rig_opt o = {.type = VS_QPT_UD, .ipv6 = true};
	struct rig *r = rig_new(&o);

	ck_assert_int_eq(vs_qp_attach_mcast(r->qp, mgid[0], 0), VS_OK);
	ck_assert_int_eq(vs_qp_attach_mcast(r->qp, mgid[1], 0), VS_OK);
	ck_assert_int_eq(vs_qp_destroy(r->qp), VS_ERR_BUSY);
	ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_IN_USE);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_RTS);
	rig_post_recv(r, 1, 0, 64);
	in_send(r, VS_QPT_UD, 0); /* it lives */
	rig_expect_wc(r, r->rcq, 1, VS_WC_SUCCESS);
	ck_assert_int_eq(vs_qp_detach_mcast(r->qp, mgid[0], 0), VS_OK);
	ck_assert_int_eq(vs_qp_destroy(r->qp), VS_ERR_BUSY);
	ck_assert_int_eq(vs_qp_detach_mcast(r->qp, mgid[1], 0), VS_OK);
	ck_assert_int_eq(vs_qp_destroy(r->qp), VS_OK);
	rig_free(r);
}
END_TEST

START_TEST(qps_063_a_qp_number_comes_not_back_soon)
{
	struct rig_opt o = {.dev.seed = 1 + (uint64_t)_i};
	struct rig *r = rig_new(&o);
	struct vs_qp_init init = {.type = VS_QPT_RC, .send_cq = r->scq, .recv_cq = r->rcq, .cap = {1, 1, 1, 1, 0}};
	uint32_t seen[256], i, j;

	for (i = 0; i < COUNT(seen); i++) {
		struct vs_qp *qp = rig_qp(r, &init);

		seen[i] = vs_qp_num(qp);
		ck_assert_int_eq(vs_qp_destroy(qp), VS_OK);
		for (j = 0; j < i; j++)
			ck_assert_uint_ne(seen[i], seen[j]);
	}
	for (i = 0; i < COUNT(seen); i++) {
		struct vs_pkt p = rig_pkt(r, VS_OP_RC_SEND_ONLY, P);

		p.bth.destqp = seen[i];
		rig_in(r, &p);
	}
	nothing_happens(r);
	rig_free(r);
}
END_TEST

START_TEST(qps_063_late_packets_for_a_number_that_is_used_again_cause_nothing)
{
	struct rig *r = rig_new(NULL);
	struct vs_qp_init init = {.type = VS_QPT_RC, .send_cq = r->scq, .recv_cq = r->rcq, .cap = {1, 1, 1, 1, 0}};
	int err;

	init.qpn = vs_qp_num(r->qp);
	ck_assert_ptr_null(vs_qp_create(r->pd, &init, &err));
	ck_assert(err == VS_ERR_BUSY && vs_dev_refusal(r->dev) == VS_REASON_QPN);
	rig_post(r, VS_WR_SEND, 1, 0, 8);
	rig_drain(r);
	ck_assert_int_eq(vs_qp_destroy(r->qp), VS_OK);
	r->qp = rig_qp(r, &init); /* asked for by number */
	ck_assert_uint_eq(vs_qp_num(r->qp), init.qpn);
	rig_in_ack(r, D, 0x1f, 1);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 8);
	nothing_happens(r);
	rig_to(r, r->qp, VS_QPS_INIT);
	rig_post_recv(r, 2, 0, 64);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 8);
	rig_in_ack(r, D, 0x62, 0);
	nothing_happens(r);
	rig_free(r);
}
END_TEST

START_TEST(qps_064_the_depth_of_reads_changes_under_traffic)
{
	struct rig *r = rig_new(NULL);
	struct vs_qp_attr a = attr_to(r, VS_QPS_RTS);
	struct vs_pkt p;
	unsigned i;

	memcpy(r->mem, rig_pattern(1), 64);
	for (i = 0; i < 3; i++) {
		p = rig_pkt(r, VS_OP_RC_FETCH_ADD, P + i);
		p.ext.atomiceth.va = MEM(r, 64 * i);
		p.ext.atomiceth.rkey = KEY(r);
		p.ext.atomiceth.swapadd = 1;
		rig_in(r, &p);
	}
	a.max_dest_rd_atomic = 1;
	refused_with(r, &a, VS_QP_STATE | VS_QP_MAX_DEST_RD_ATOMIC, VS_ERR_INVAL, VS_REASON_ATTR_NOT_ALLOWED);
	a.state = VS_QPS_SQD;
	accepted(r, &a, VS_QP_STATE);
	a.max_dest_rd_atomic = (uint8_t)_i; /* 0: no more of them; 1 .. 16 */
	accepted(r, &a, VS_QP_STATE | VS_QP_MAX_DEST_RD_ATOMIC);
	ck_assert_int_eq(shown(r).max_dest_rd_atomic, _i);
	for (i = 0; i < 3; i++) /* what was accepted is answered */
		rig_expect(r, VS_OP_RC_ATOMIC_ACKNOWLEDGE, P + i);
	p = rig_pkt(r, VS_OP_RC_FETCH_ADD, P + 2); /* and the newest is replayed, not repeated */
	p.ext.atomiceth.va = MEM(r, 128);
	p.ext.atomiceth.rkey = KEY(r);
	p.ext.atomiceth.swapadd = 1;
	rig_in(r, &p);
	p = rig_expect(r, VS_OP_RC_ATOMIC_ACKNOWLEDGE, P + 2);
	ck_assert_uint_eq(p.ext.atomicack_origdata, 0xeeeeeeeeeeeeeeeeull);
	ck_assert_uint_eq(r->mem[128], 0xef);
	for (i = 0; i < 20; i++) {
		rig_in_read(r, P + 3 + i, MEM(r, 0), KEY(r), 64);
		if (i >= (unsigned)_i)
			break;
	}
	for (i = 0; i < (unsigned)_i; i++)
		ck_assert_mem_eq(rig_expect(r, VS_OP_RC_READ_RESPONSE_ONLY, P + 3 + i).payload + 1, r->mem + 1, 63);
	rig_expect_nak(r, P + 3 + i, 0x61, 3 + i);
	rig_expect_silence(r);
	rig_free(r);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("qps_life");
	TCase *tc = tcase_create("posts");

	tcase_add_loop_test(tc, qps_050_a_send_before_rts_is_refused, 0, 9);
	tcase_add_loop_test(tc, qps_051_a_receive_in_reset_is_refused, 0, 3);
	tcase_add_loop_test(tc, qps_052_receives_posted_in_init_are_used_from_rtr_on, 0, 3);
	tcase_add_loop_test(tc, qps_053_a_send_in_err_is_flushed_and_never_refused, 0, 6);
	tcase_add_test(tc, qps_053_what_no_state_allows_is_refused_in_err_too);
	tcase_add_loop_test(tc, qps_054_a_receive_in_err_is_flushed, 0, 3);
	tcase_add_loop_test(tc, qps_055_a_send_in_sqe_is_flushed, 0, 2);
	tcase_add_loop_test(tc, qps_056_wherever_the_error_comes_every_request_completes_once, 0, 13);
	suite_add_tcase(s, tc);

	tc = tcase_create("packets");
	tcase_add_loop_test(tc, qps_057_packets_before_rtr_are_dropped_and_not_kept, 0, 6);
	tcase_add_loop_test(tc, qps_058_the_first_packet_in_rtr_is_told_once, 0, 3);
	tcase_add_loop_test(tc, qps_058_in_rts_nothing_is_told, 0, 3);
	tcase_add_loop_test(tc, qps_059_packets_in_err_are_dropped, 0, 3);
	suite_add_tcase(s, tc);

	tc = tcase_create("ends");
	tcase_add_test(tc, qps_060_after_err_and_reset_a_qp_begins_anew);
	tcase_add_test(tc, qps_060_the_event_of_the_first_packet_comes_in_each_life);
	tcase_add_loop_test(tc, qps_061_destroy_works_in_every_state_and_ends_everything, 0, 21);
	tcase_add_test(tc, qps_061_events_of_a_destroyed_qp_are_gone);
	tcase_add_test(tc, qps_062_a_member_of_a_group_is_not_destroyed);
	tcase_add_loop_test(tc, qps_063_a_qp_number_comes_not_back_soon, 0, 4);
	tcase_add_test(tc, qps_063_late_packets_for_a_number_that_is_used_again_cause_nothing);
	tcase_add_loop_test(tc, qps_064_the_depth_of_reads_changes_under_traffic, 0, 17);
	suite_add_tcase(s, tc);
	return s;
}
