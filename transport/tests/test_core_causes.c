/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_core_causes.c - verbs calls start from nothing and leave nothing behind: their events have no cause, what they
 * set going leads back to them, and a queue pair that is used again knows nothing of its first life.
 */
#include "qps.h"

#define P RIG_PEER_PSN
#define D RIG_DUT_PSN

static void call(struct rig *r, int kind)
{
	struct vs_qp_attr a = {.state = VS_QPS_ERR};
	struct vs_mr_attr m = {MEM(r, 0), 64, MEM(r, 0), 0};
	struct vs_sge sge;
	struct vs_send_wr wr = rig_wr(r, VS_WR_SEND, 1, &sge, 0, 8);
	struct vs_qp_init init = {.type = VS_QPT_UD, .send_cq = r->scq, .recv_cq = r->rcq};
	struct vs_wc wc;
	int err;

	switch (kind) {
	case 0:
		ck_assert_int_eq(vs_qp_modify(r->qp, &a, VS_QP_STATE), VS_OK);
		break;
	case 1:
		ck_assert_int_eq(vs_qp_modify(r->qp, &a, VS_QP_AV), VS_ERR_INVAL);
		break;
	case 2:
		ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
		break;
	case 3:
		wr.flags = 1u << 30;
		ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_ERR_INVAL);
		break;
	case 4:
		rig_post_recv(r, 1, 0, 64);
		break;
	case 5:
		ck_assert_int_eq(vs_mr_rereg(r->mr, VS_REREG_TRANSLATION, NULL, &m), VS_OK);
		break;
	case 6:
		ck_assert_int_eq(vs_mr_dereg(vs_mr_reg(r->pd, &m, &err)), VS_OK);
		break;
	case 7:
		ck_assert_int_eq(vs_qp_destroy(vs_qp_create(r->pd, &init, &err)), VS_OK);
		break;
	case 8: /* accepted in ERR, and flushed at once */
		ck_assert_int_eq(vs_qp_modify(r->qp, &a, VS_QP_STATE), VS_OK);
		ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
		ck_assert_uint_eq(last_of(r, VS_EV_CQE)->cause, last_of(r, VS_EV_VERB_POST_SEND)->seq);
		break;
	case 9:
		ck_assert_int_eq(vs_qp_modify(r->qp, &a, VS_QP_STATE), VS_OK);
		rig_post_recv(r, 1, 0, 64);
		ck_assert_uint_eq(last_of(r, VS_EV_CQE)->cause, last_of(r, VS_EV_VERB_POST_RECV)->seq);
		break;
	case 10:
		ck_assert_int_eq(vs_cq_poll(r->scq, &wc, 1), 0);
		break;
	case 11:
		rig_post(r, VS_WR_SEND, 1, 0, 8);
		rig_expect(r, VS_OP_RC_SEND_ONLY, D);
		break;
	case 12:
		rig_in_send(r, VS_OP_RC_SEND_ONLY, P + 1, 8);
		break;
	default:
		rig_post(r, VS_WR_SEND, 1, 0, 8);
		rig_drain(r);
		ck_assert(rig_next_timer(r, 1000000000));
		break;
	}
}

START_TEST(no_call_leaves_a_cause_behind)
{
	struct rig *r = rig_new(NULL);
	uint32_t i, before = r->log_len;

	call(r, _i);
	ck_assert_uint_eq(r->dev->cause, 0);
	ck_assert_uint_eq(r->dev->ev_pkt_id, 0);
	for (i = before; i < r->log_len; i++)
		if (r->log[i].type <= VS_EV_VERB_REFUSED)
			ck_assert_msg(r->log[i].cause == 0, "%s", vs_event_info(r->log[i].type)->name);
	rig_free(r);
}
END_TEST

START_TEST(a_change_of_state_leads_back_to_the_call)
{
	struct rig *r = rig_new(NULL);
	struct vs_qp_attr a = {.state = VS_QPS_ERR};

	rig_post(r, VS_WR_SEND, 1, 0, 8);
	ck_assert_int_eq(vs_qp_modify(r->qp, &a, VS_QP_STATE), VS_OK);
	ck_assert_uint_eq(last_of(r, VS_EV_QP_STATE)->cause, last_of(r, VS_EV_VERB_MODIFY_QP)->seq);
	ck_assert_uint_eq(last_of(r, VS_EV_CQE)->cause, last_of(r, VS_EV_QP_STATE)->seq);
	rig_free(r);
}
END_TEST

/* What is dropped before it is known to be whole leads back to the packet that was sent. */
START_TEST(a_dropped_packet_leads_back_to_its_transmission)
{
	static const struct vs_pkt_meta meta = {.pkt_id = 77, .cause = 5};
	struct rig *r = rig_new(NULL);
	struct vs_pkt p = rig_pkt(r, VS_OP_RC_SEND_ONLY, P);
	uint8_t buf[512], scratch[512];
	const struct vs_event *ev;
	int n;

	if (_i == 1)
		p.bth.destqp ^= 1;
	ck_assert_int_eq(vs_pkt_seal(&p, VS_SEAL_ALL, scratch, sizeof(scratch)), VS_OK);
	n = vs_pkt_build(&p, buf, sizeof(buf));
	if (_i == 0)
		buf[n - 1] ^= 1; /* ICRC */
	vs_dev_input(r->dev, VS_LINK_ETHERNET, buf, (size_t)n, &meta, r->now);
	ev = last_of(r, VS_EV_PKT_DROP);
	ck_assert_uint_eq(ev->cause, 5);
	ck_assert_uint_eq(ev->pkt_id, 77);
	ck_assert_uint_eq(rig_count_events(r, VS_EV_PKT_RX), 0);
	rig_free(r);
}
END_TEST

/* An answer that nobody waits for is told as it came; one without an AETH has no syndrome. */
START_TEST(rto_044_a_ghost_is_told)
{
	struct rig *r = rig_new(NULL);
	const struct vs_event *ev;

	if (_i == 0)
		rig_in_ack(r, D + 9, 0x1e, 3);
	else
		rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_MIDDLE, D + 9, 1024, 0);
	ev = last_of(r, VS_EV_RC_GHOST);
	ck_assert_uint_eq(ev->a[0], vs_psn_add(D, 9));
	ck_assert_uint_eq(ev->a[1], _i == 0 ? 0x1e : VS_SYN_NONE);
	ck_assert_uint_eq(ev->cause, last_of(r, VS_EV_PKT_RX)->seq);
	rig_free(r);
}
END_TEST

START_TEST(an_atomic_is_told_with_both_values)
{
	static const struct {
		uint8_t op;
		uint64_t operand, compare, after;
	} t[] = {{VS_OP_RC_FETCH_ADD, 5, 0, 12}, {VS_OP_RC_COMPARE_SWAP, 5, 7, 5}, {VS_OP_RC_COMPARE_SWAP, 5, 8, 7}};
	struct rig *r = rig_new(NULL);
	struct vs_pkt p = rig_pkt(r, t[_i].op, P);
	const struct vs_event *ev;
	uint64_t v = 7;

	memcpy(r->mem + 64, &v, 8);
	p.ext.atomiceth.va = MEM(r, 64);
	p.ext.atomiceth.rkey = KEY(r);
	p.ext.atomiceth.swapadd = t[_i].operand;
	p.ext.atomiceth.compare = t[_i].compare;
	rig_in(r, &p);
	memcpy(&v, r->mem + 64, 8);
	ck_assert_uint_eq(v, t[_i].after);
	ev = last_of(r, VS_EV_DMA_ATOMIC);
	ck_assert(ev->a[0] == MEM(r, 64) && ev->a[1] == 7 && ev->a[2] == t[_i].after && ev->a[3] == KEY(r));
	ck_assert_uint_eq(ev->cause, last_of(r, VS_EV_PKT_RX)->seq);
	rig_free(r);
}
END_TEST

START_TEST(a_port_event_is_about_no_object)
{
	static const enum vs_async_type types[] = {VS_EVENT_PORT_ERR, VS_EVENT_PORT_ACTIVE, VS_EVENT_GID_CHANGE};
	struct rig *r = rig_new(NULL);
	struct vs_gid_entry gid = vs_dev_attr(r->dev)->gids[0];
	struct vs_async ev;

	vs_dev_set_link(r->dev, false);
	vs_dev_set_link(r->dev, true);
	ck_assert_int_eq(vs_dev_set_gid(r->dev, 1, &gid), VS_OK);
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_int_eq(vs_dev_poll_async(r->dev, &ev), 1);
		ck_assert(ev.type == types[i] && ev.object == NULL && ev.cookie == 0);
	}
	rig_expect_no_async(r);
	rig_free(r);
}
END_TEST

/* ---- a second life ---- */

static void again(struct rig *r)
{
	struct vs_qp_attr a = {.state = VS_QPS_RESET};

	ck_assert_int_eq(vs_qp_modify(r->qp, &a, VS_QP_STATE), VS_OK);
	ck_assert_uint_eq(vs_dev_deadline(r->dev), VS_NEVER);
	rig_to(r, r->qp, VS_QPS_RTS);
	rig_expect_silence(r);
}

START_TEST(qps_060_the_second_life_has_its_reads_credits_and_waits_for_itself)
{
	struct rig_opt o = {.max_rd_atomic = 1, .dev.e2e_credits = true};
	struct rig *r = rig_new(&o);
	unsigned i;

	switch (_i) {
	case 0: /* a READ is open */
		rig_post(r, VS_WR_RDMA_READ, 1, 0, 8);
		rig_drain(r);
		again(r);
		rig_post(r, VS_WR_RDMA_READ, 2, 0, 8);
		rig_expect(r, VS_OP_RC_READ_REQUEST, D);
		break;
	case 1: /* three messages are counted, and no credit is left */
		for (i = 0; i < 3; i++)
			rig_post(r, VS_WR_SEND, i, 0, 8);
		rig_drain(r);
		rig_in_ack(r, D + 2, 0, 3);
		again(r);
		for (i = 0; i < 3; i++)
			rig_post(r, VS_WR_SEND, i, 0, 8);
		ck_assert_uint_eq(rig_drain(r), 3);
		rig_in_ack(r, D + 2, 1, 3); /* MSN 3: one more */
		rig_post(r, VS_WR_SEND, 5, 0, 8);
		rig_post(r, VS_WR_SEND, 6, 0, 8);
		ck_assert_uint_eq(rig_drain(r), 1);
		break;
	case 2: /* an RNR wait */
		rig_post(r, VS_WR_SEND, 1, 0, 8);
		rig_drain(r);
		rig_in_ack(r, D, 0x20, 0);
		again(r);
		rig_post(r, VS_WR_SEND, 2, 0, 8);
		rig_expect(r, VS_OP_RC_SEND_ONLY, D);
		break;
	case 3: /* the receive of an open message */
		rig_post_recv(r, 1, 0, 4096);
		rig_in_send(r, VS_OP_RC_SEND_FIRST, P, 1024);
		rig_drain(r);
		again(r);
		rig_post_recv(r, 2, 0, 64);
		rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 8);
		rig_expect_ack(r, P, 1);
		rig_expect_wc(r, r->rcq, 2, VS_WC_SUCCESS);
		break;
	case 4: /* receives are posted */
		rig_post_recv(r, 1, 0, 64);
		again(r);
		rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 8);
		rig_expect_nak(r, P, 0x20 | 12, 0);
		rig_expect_no_wc(r);
		break;
	default: /* a gap was told */
		rig_in_send(r, VS_OP_RC_SEND_ONLY, P + 3, 8);
		rig_drain(r);
		again(r);
		rig_in_send(r, VS_OP_RC_SEND_ONLY, P + 3, 8);
		rig_expect_nak(r, P, 0x60, 0);
		break;
	}
	rig_free(r);
}
END_TEST

/* ---- the traffic class ---- */

START_TEST(roc_012_all_six_bits_of_the_class_are_the_dscp)
{
	struct rig_opt o = {.state = VS_QPS_INIT, .ipv6 = _i >= 64};
	struct rig *r = rig_new(&o);
	struct vs_qp_attr a = rig_attr(r);
	uint8_t tclass = (uint8_t)(_i % 64 << 2 | 3); /* the two ECN bits are not the program's */
	struct vs_pkt p;

	a.state = VS_QPS_RTR;
	a.av.traffic_class = tclass;
	accepted(r, &a,
		 VS_QP_STATE | VS_QP_AV | VS_QP_PATH_MTU | VS_QP_DEST_QPN | VS_QP_RQ_PSN | VS_QP_MAX_DEST_RD_ATOMIC |
			 VS_QP_MIN_RNR_TIMER);
	rig_to(r, r->qp, VS_QPS_RTS);
	rig_post(r, VS_WR_SEND, 1, 0, 8);
	p = rig_expect(r, VS_OP_RC_SEND_ONLY, D);
	ck_assert_uint_eq(_i >= 64 ? p.grh.tclass : p.ipv4.tos, tclass & 0xfc);
	/* ROC-003: without a flow label both QPNs make the source port */
	ck_assert_uint_eq(p.udp.sport, vs_udp_sport(0, vs_qp_num(r->qp), RIG_PEER_QPN));
	rig_free(r);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("core causes");
	TCase *tc = tcase_create("causes");

	tcase_add_loop_test(tc, no_call_leaves_a_cause_behind, 0, 14);
	tcase_add_test(tc, a_change_of_state_leads_back_to_the_call);
	tcase_add_loop_test(tc, a_dropped_packet_leads_back_to_its_transmission, 0, 2);
	tcase_add_loop_test(tc, rto_044_a_ghost_is_told, 0, 2);
	tcase_add_test(tc, a_port_event_is_about_no_object);
	tcase_add_loop_test(tc, an_atomic_is_told_with_both_values, 0, 3);
	suite_add_tcase(s, tc);

	tc = tcase_create("second life");
	tcase_add_loop_test(tc, qps_060_the_second_life_has_its_reads_credits_and_waits_for_itself, 0, 6);
	suite_add_tcase(s, tc);

	tc = tcase_create("class");
	tcase_add_loop_test(tc, roc_012_all_six_bits_of_the_class_are_the_dscp, 0, 128);
	suite_add_tcase(s, tc);
	return s;
}
