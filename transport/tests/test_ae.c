/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_ae.c - AE rows of the inventory: asynchronous events. Each test is one row; its name begins with the id.
 *
 * Not here: AE-004 (destroy blocks until events are acknowledged): who maps the verbs counts acknowledged events; the
 * engine takes the events of a destroyed object away (qps_061_events_of_a_destroyed_qp_are_gone, cq_006_011).
 * AE-002: QP_REQ_ERR, not QP_FATAL.
 */
#include "qps.h"

#define P RIG_PEER_PSN
#define D RIG_DUT_PSN

/* Exactly one event, about the rig's QP. */
static void one_event(struct rig *r, enum vs_async_type type)
{
	struct vs_async ev;

	ck_assert_int_eq(vs_dev_poll_async(r->dev, &ev), 1);
	ck_assert_msg(ev.type == type, "%s, expected %s", vs_async_name(ev.type), vs_async_name(type));
	ck_assert(ev.object == r->qp && ev.cookie == 0xc0071e);
	rig_expect_no_async(r);
	ck_assert_uint_eq(rig_count_events(r, VS_EV_ASYNC), 1);
}

static void in_op(struct rig *r, int kind, uint32_t psn, uint32_t rkey)
{
	struct vs_pkt p = rig_pkt(r, kind == 2 ? VS_OP_RC_FETCH_ADD : VS_OP_RC_COMPARE_SWAP, psn);

	if (kind == 0)
		rig_in_write(r, VS_OP_RC_WRITE_ONLY, psn, MEM(r, 0), rkey, 8, 8);
	else if (kind == 1)
		rig_in_read(r, psn, MEM(r, 0), rkey, 8);
	else {
		p.ext.atomiceth.va = MEM(r, 0);
		p.ext.atomiceth.rkey = rkey;
		rig_in(r, &p);
	}
}

START_TEST(ae_001_an_access_violation_without_a_receive_is_told_once)
{
	struct rig *r = rig_new(NULL);

	rig_post_recv(r, 1, 4096, 64); /* posted, not taken: it does not count */
	in_op(r, _i, P, KEY(r) ^ 0x100);
	rig_expect_nak(r, P, 0x62, 0);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_ERR);
	in_op(r, _i, P, KEY(r) ^ 0x100); /* again, to a dead QP */
	in_op(r, _i, P + 1, KEY(r) ^ 0x100);
	one_event(r, VS_EVENT_QP_ACCESS_ERR);
	rig_expect_wc(r, r->rcq, 1, VS_WC_WR_FLUSH_ERR);
	nothing_happens(r);
	rig_free(r);
}
END_TEST

START_TEST(ae_002_an_invalid_request_without_a_receive_is_told_once)
{
	struct rig *r = rig_new(NULL);

	switch (_i) {
	case 0: /* out of order */
		rig_in_send(r, VS_OP_RC_WRITE_LAST, P, 8);
		break;
	case 1: /* reserved */
		rig_in_send(r, 0x1e, P, 0);
		break;
	case 2: /* payload and DMALen differ */
		rig_in_write(r, VS_OP_RC_WRITE_ONLY, P, MEM(r, 0), KEY(r), 8, 12);
		break;
	default: { /* alignment */
		struct vs_pkt p = rig_pkt(r, VS_OP_RC_FETCH_ADD, P);

		p.ext.atomiceth.va = MEM(r, 1);
		p.ext.atomiceth.rkey = KEY(r);
		rig_in(r, &p);
	}
	}
	rig_expect_nak(r, P, 0x61, 0);
	rig_in_send(r, VS_OP_RC_WRITE_LAST, P, 8);
	one_event(r, VS_EVENT_QP_REQ_ERR);
	nothing_happens(r);
	rig_free(r);
}
END_TEST

START_TEST(ae_001_002_with_a_receive_the_completion_says_it)
{
	struct rig *r = rig_new(NULL);

	rig_post_recv(r, 1, 4096, 2048);
	rig_in_send(r, VS_OP_RC_SEND_FIRST, P, 1024);
	rig_expect_ack(r, P, 0);
	in_op(r, _i, P + 1, KEY(r) ^ 0x100); /* inside a message: invalid before the key is looked at */
	rig_expect_nak(r, P + 1, 0x61, 0);
	rig_expect_wc(r, r->rcq, 1, VS_WC_REM_INV_REQ_ERR);
	nothing_happens(r);
	ck_assert_uint_eq(rig_count_events(r, VS_EV_ASYNC), 0);
	rig_free(r);
}
END_TEST

START_TEST(ae_003_a_flush_that_completions_explain_makes_no_event)
{
	struct rig_opt o = {.retry_cnt = RIG_ZERO, .rnr_retry = RIG_ZERO};
	struct rig *r = rig_new(&o);
	struct vs_sge sge;
	struct vs_send_wr wr;

	rig_post_recv(r, 90, 4096, 64);
	rig_post(r, VS_WR_SEND, 1, 0, 8);
	rig_drain(r);
	switch (_i) {
	case 0:
		rig_to(r, r->qp, VS_QPS_ERR);
		rig_expect_wc(r, r->scq, 1, VS_WC_WR_FLUSH_ERR);
		break;
	case 1:
		rig_in_ack(r, D, 0x61, 0);
		rig_expect_wc(r, r->scq, 1, VS_WC_REM_INV_REQ_ERR);
		break;
	case 2:
		rig_in_ack(r, D, 0x20, 0);
		rig_expect_wc(r, r->scq, 1, VS_WC_RNR_RETRY_EXC_ERR);
		break;
	case 3:
		rig_advance(r, 67108864);
		rig_expect_wc(r, r->scq, 1, VS_WC_RETRY_EXC_ERR);
		break;
	case 4:
		rig_in_ack(r, D, 0x1f, 1);
		rig_expect_wc(r, r->scq, 1, VS_WC_SUCCESS);
		wr = rig_wr(r, VS_WR_SEND, 2, &sge, 0, 8);
		sge.lkey ^= 0x100;
		ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
		rig_expect_silence(r);
		rig_expect_wc(r, r->scq, 2, VS_WC_LOC_PROT_ERR);
		break;
	default:
		rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_ONLY, D, 8, 1);
		rig_expect_wc(r, r->scq, 1, VS_WC_BAD_RESP_ERR);
		break;
	}
	rig_expect_wc(r, r->rcq, 90, VS_WC_WR_FLUSH_ERR);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_ERR);
	nothing_happens(r);
	ck_assert_uint_eq(rig_count_events(r, VS_EV_ASYNC), 0);
	rig_free(r);
}
END_TEST

START_TEST(ae_005_a_change_of_the_gid_table_is_told_and_counts_at_once)
{
	struct rig *r = rig_new(NULL);
	struct vs_gid_entry old = vs_dev_attr(r->dev)->gids[0], gone = {.type = VS_GID_NONE};
	struct vs_async ev;

	rig_post_recv(r, 1, 0, 64);
	ck_assert_int_eq(vs_dev_set_gid(r->dev, 0, &gone), VS_OK);
	ck_assert_int_eq(vs_dev_poll_async(r->dev, &ev), 1);
	ck_assert(ev.type == VS_EVENT_GID_CHANGE && ev.object == NULL);
	rig_expect_no_async(r);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 8); /* for an address that is not ours any more */
	nothing_happens(r);
	ck_assert_int_eq(vs_dev_set_gid(r->dev, 0, &old), VS_OK);
	rig_expect_async(r, VS_EVENT_GID_CHANGE);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 8);
	rig_expect_ack(r, P, 1);
	ck_assert_int_eq(vs_dev_set_gid(r->dev, VS_GID_TABLE_LEN, &old), VS_ERR_INVAL);
	ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_GID_INDEX);
	ck_assert_int_eq(vs_dev_set_gid(r->dev, VS_GID_TABLE_LEN - 1, &old), VS_OK);
	rig_expect_async(r, VS_EVENT_GID_CHANGE);
	rig_expect_no_async(r);
	rig_free(r);
}
END_TEST

static const struct vs_gid_entry no_gid = {.type = VS_GID_NONE};

static void post(struct rig *r, uint64_t wr_id, struct vs_ah *ah)
{
	struct vs_sge sge;
	struct vs_send_wr wr = send_wr(r, wr_id, &sge, 8, ah);

	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
}

/* What would leave with an empty source address is a failure of the request: nothing is on the wire. */
START_TEST(ae_005_a_request_from_a_gid_that_is_gone_fails)
{
	static const enum vs_qp_type types[] = {VS_QPT_RC, VS_QPT_UC, VS_QPT_UD, VS_QPT_RC};
	struct rig_opt o = {.type = types[_i]};
	struct vs_qp_attr back = {.state = VS_QPS_RTS};
	struct vs_gid_entry old;
	struct vs_ah *ah;
	struct rig *r;

	if (_i == 3) { /* an entry besides the first */
		o.dev.gids[0] = (struct vs_gid_entry){{[10] = 0xff, 0xff, 10, 0, 0, 1}, VS_GID_ROCEV2};
		o.dev.gids[3] = (struct vs_gid_entry){{0xfd, [15] = 1}, VS_GID_ROCEV2};
	}
	r = rig_new(&o);
	old = vs_dev_attr(r->dev)->gids[0];
	ah = types[_i] == VS_QPT_UD ? peer_ah(r) : NULL;
	if (_i == 3) {
		ck_assert_int_eq(vs_dev_set_gid(r->dev, 3, &no_gid), VS_OK); /* not the one in use */
		rig_post(r, VS_WR_SEND, 0, 0, 8);
		rig_expect(r, VS_OP_RC_SEND_ONLY, D);
		rig_in_ack(r, D, 0x1f, 1);
		rig_expect_wc(r, r->scq, 0, VS_WC_SUCCESS);
	}
	ck_assert_int_eq(vs_dev_set_gid(r->dev, 0, &no_gid), VS_OK);
	post(r, 1, ah);
	post(r, 2, ah);
	rig_expect_silence(r);
	ck_assert_uint_eq(rig_expect_wc(r, r->scq, 1, VS_WC_LOC_QP_OP_ERR).vendor_err, VS_REASON_GID_INDEX);
	rig_expect_wc(r, r->scq, 2, VS_WC_WR_FLUSH_ERR);
	ck_assert_int_eq(vs_qp_state(r->qp), types[_i] == VS_QPT_RC ? VS_QPS_ERR : VS_QPS_SQE);
	ck_assert_uint_eq(rig_counter(r, VS_CNT_SEND_ERR), 1);
	ck_assert_uint_eq(rig_counter(r, VS_CNT_SENT_PKTS), _i == 3);
	if (types[_i] != VS_QPT_RC) { /* the address is back, the program goes on */
		ck_assert_int_eq(vs_dev_set_gid(r->dev, 0, &old), VS_OK);
		accepted(r, &back, VS_QP_STATE);
		post(r, 3, ah);
		ck_assert_int_eq(rig_drain(r), 1);
		rig_expect_wc(r, r->scq, 3, VS_WC_SUCCESS);
	}
	rig_free(r);
}
END_TEST

/* A repeat, too: the request was out, its acknowledge is lost with the address. */
START_TEST(ae_005_a_repeat_from_a_gid_that_is_gone_fails)
{
	struct rig *r = rig_new(NULL);

	rig_post(r, VS_WR_SEND, 1, 0, 8);
	rig_post(r, VS_WR_SEND, 2, 0, 8);
	ck_assert_uint_eq(rig_drain(r), 2);
	ck_assert_int_eq(vs_dev_set_gid(r->dev, 0, &no_gid), VS_OK);
	ck_assert(rig_next_timer(r, 1000000000));
	rig_expect_silence(r);
	rig_expect_wc(r, r->scq, 1, VS_WC_LOC_QP_OP_ERR);
	rig_expect_wc(r, r->scq, 2, VS_WC_WR_FLUSH_ERR);
	ck_assert_uint_eq(rig_counter(r, VS_CNT_SENT_PKTS), 2);
	rig_free(r);
}
END_TEST

/* Answers have nobody to fail: they are lost, and the peer asks again. */
START_TEST(ae_005_answers_from_a_gid_that_is_gone_are_dropped)
{
	struct rig *r = rig_new(NULL);
	struct vs_gid_entry old = vs_dev_attr(r->dev)->gids[0];
	const struct vs_event *last;

	rig_post_recv(r, 1, 0, 64);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 8);
	rig_in_read(r, P + 1, (uintptr_t)r->mem, vs_mr_rkey(r->mr), 2000);
	ck_assert_int_eq(vs_dev_set_gid(r->dev, 0, &no_gid), VS_OK);
	rig_expect_silence(r);
	ck_assert_uint_eq(rig_counter(r, VS_CNT_SEND_ERR), 3); /* the ACK and two READ responses */
	ck_assert_uint_eq(rig_counter(r, VS_CNT_SENT_PKTS), 0);
	last = &r->log[r->log_len - 1];
	ck_assert(last->type == VS_EV_PKT_DROP && last->a[0] == VS_REASON_GID_INDEX && last->cause != 0);
	ck_assert(last->a[1] == VS_OP_RC_READ_RESPONSE_LAST && last->a[2] == P + 2 && last->a[3] == RIG_PEER_QPN);
	ck_assert_uint_ne(last->pkt_id, 0);
	ck_assert_int_eq(last[-1].type, VS_EV_DMA_READ);
	ck_assert_uint_eq(last[-1].pkt_id, 0); /* of no packet yet */
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_RTS);
	ck_assert_int_eq(vs_dev_set_gid(r->dev, 0, &old), VS_OK);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 8);
	rig_expect_ack(r, P, 2);
	rig_free(r);
}
END_TEST

START_TEST(ae_006_link_down_and_up)
{
	struct rig_opt o = {.retry_cnt = 2};
	struct rig *r = rig_new(&o);
	struct vs_async ev;

	rig_post_recv(r, 1, 0, 64);
	rig_post(r, VS_WR_SEND, 2, 0, 8);
	rig_expect(r, VS_OP_RC_SEND_ONLY, D);
	vs_dev_set_link(r->dev, true); /* it is up */
	rig_expect_no_async(r);
	vs_dev_set_link(r->dev, false);
	vs_dev_set_link(r->dev, false);
	ck_assert_int_eq(vs_dev_poll_async(r->dev, &ev), 1);
	ck_assert(ev.type == VS_EVENT_PORT_ERR && ev.object == NULL);
	rig_expect_no_async(r);
	ck_assert_uint_eq(rig_counter(r, VS_CNT_LINK_DOWNED), 1);
	rig_in_ack(r, D, 0x1f, 1); /* nothing comes in */
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 8);
	rig_advance(r, 67108864); /* and nothing goes out: the first retry is lost */
	nothing_happens(r);
	ck_assert(!vs_dev_has_output(r->dev));
	ck_assert_uint_eq(rig_counter(r, VS_CNT_SEND_ERR), 1);
	if (_i == 0) { /* back in time for the second retry */
		vs_dev_set_link(r->dev, true);
		rig_expect_async(r, VS_EVENT_PORT_ACTIVE);
		nothing_happens(r);
		rig_advance(r, 67108864);
		rig_expect(r, VS_OP_RC_SEND_ONLY, D);
		rig_in_ack(r, D, 0x1f, 1);
		rig_expect_wc(r, r->scq, 2, VS_WC_SUCCESS);
	} else { /* too late */
		rig_advance(r, 67108864);
		nothing_happens(r);
		rig_advance(r, 67108864);
		rig_expect_wc(r, r->scq, 2, VS_WC_RETRY_EXC_ERR);
		rig_expect_wc(r, r->rcq, 1, VS_WC_WR_FLUSH_ERR);
		vs_dev_set_link(r->dev, true);
		rig_expect_async(r, VS_EVENT_PORT_ACTIVE);
	}
	nothing_happens(r);
	rig_free(r);
}
END_TEST

/* What is posted while the port is down is lost like what was on its way: retries, and their end. */
START_TEST(ae_006_posted_while_the_link_is_down)
{
	struct rig_opt o = {.retry_cnt = 1};
	struct rig *r = rig_new(&o);

	vs_dev_set_link(r->dev, false);
	rig_expect_async(r, VS_EVENT_PORT_ERR);
	rig_post(r, VS_WR_SEND, 1, 0, 8);
	rig_post(r, VS_WR_RDMA_WRITE, 2, 0, 3000);
	nothing_happens(r);
	ck_assert_uint_ge(rig_counter(r, VS_CNT_SEND_ERR), 2);
	ck_assert_uint_eq(rig_counter(r, VS_CNT_SENT_PKTS), 0);
	rig_advance(r, 67108864);
	nothing_happens(r);
	rig_advance(r, 67108864);
	rig_expect_wc(r, r->scq, 1, VS_WC_RETRY_EXC_ERR);
	rig_expect_wc(r, r->scq, 2, VS_WC_WR_FLUSH_ERR);
	nothing_happens(r);
	rig_free(r);
}
END_TEST

START_TEST(ae_006_events_that_nobody_takes)
{
	struct rig *r = rig_new(NULL);
	struct vs_async ev;
	unsigned i, n = 0;

	for (i = 0; i < 2000; i++)
		vs_dev_set_link(r->dev, i % 2 == 1);
	while (vs_dev_poll_async(r->dev, &ev) == 1) /* the oldest are kept, in order */
		ck_assert_int_eq(ev.type, n++ % 2 == 0 ? VS_EVENT_PORT_ERR : VS_EVENT_PORT_ACTIVE);
	ck_assert_uint_ge(n, 1000);
	ck_assert_uint_eq(rig_count_events(r, VS_EV_ASYNC), 2000); /* the trace has all */
	vs_dev_set_link(r->dev, false);
	rig_expect_async(r, VS_EVENT_PORT_ERR);
	rig_expect_no_async(r);
	rig_free(r);
}
END_TEST

/* What happens to a port on RoCE and never is: 11 LID_CHANGE, 12 PKEY_CHANGE, 13 SM_CHANGE, 17 CLIENT_REREGISTER. */
START_TEST(ae_007_no_subnet_management_on_roce)
{
	struct rig_opt o = {.ipv6 = _i == 1, .rocev1 = _i == 2};
	struct rig *r = rig_new(&o);
	struct vs_gid_entry g = vs_dev_attr(r->dev)->gids[0];
	uint32_t i, n = 0;

	vs_dev_set_link(r->dev, false);
	vs_dev_set_link(r->dev, true);
	vs_dev_set_gid(r->dev, 3, &g);
	rig_to(r, r->qp, VS_QPS_SQD);
	in_op(r, 0, P, KEY(r) ^ 0x100);
	rig_advance(r, FOR_EVER);
	rig_drain(r);
	for (i = 0; i < r->log_len; i++) {
		uint64_t type = r->log[i].a[0];

		if (r->log[i].type != VS_EV_ASYNC)
			continue;
		n++;
		ck_assert_msg(type < 11 || (type > 13 && type != 17), "%s", vs_async_name((enum vs_async_type)type));
	}
	ck_assert_uint_eq(n, 4); /* down, up, GID, access */
	rig_free(r);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("ae");
	TCase *tc = tcase_create("events");

	tcase_add_loop_test(tc, ae_001_an_access_violation_without_a_receive_is_told_once, 0, 4);
	tcase_add_loop_test(tc, ae_002_an_invalid_request_without_a_receive_is_told_once, 0, 4);
	tcase_add_loop_test(tc, ae_001_002_with_a_receive_the_completion_says_it, 0, 4);
	tcase_add_loop_test(tc, ae_003_a_flush_that_completions_explain_makes_no_event, 0, 6);
	tcase_add_test(tc, ae_005_a_change_of_the_gid_table_is_told_and_counts_at_once);
	tcase_add_loop_test(tc, ae_005_a_request_from_a_gid_that_is_gone_fails, 0, 4);
	tcase_add_test(tc, ae_005_a_repeat_from_a_gid_that_is_gone_fails);
	tcase_add_test(tc, ae_005_answers_from_a_gid_that_is_gone_are_dropped);
	tcase_add_loop_test(tc, ae_006_link_down_and_up, 0, 2);
	tcase_add_test(tc, ae_006_posted_while_the_link_is_down);
	tcase_add_test(tc, ae_006_events_that_nobody_takes);
	tcase_add_loop_test(tc, ae_007_no_subnet_management_on_roce, 0, 3);
	suite_add_tcase(s, tc);
	return s;
}
