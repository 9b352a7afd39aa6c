/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_trace.c - the trace of the verbs: every call, refusal, change of state, completion and asynchronous event is in
 * it once, with its arguments as events.def names them, about the right queue pair and request, and with its cause.
 */
#include "qps.h"

#define P RIG_PEER_PSN
#define D RIG_DUT_PSN

/* The only event of this type since `from`. */
static const struct vs_event *only(const struct rig *r, uint32_t from, enum vs_event_type type)
{
	const struct vs_event *found = NULL;
	uint32_t i;

	for (i = from; i < r->log_len; i++) {
		if (r->log[i].type != type)
			continue;
		ck_assert_msg(found == NULL, "%s came twice", vs_event_info(type)->name);
		found = &r->log[i];
	}
	ck_assert_msg(found != NULL, "no %s", vs_event_info(type)->name);
	return found;
}

static void args(const struct vs_event *ev, unsigned n, const uint64_t *want)
{
	unsigned i;

	ck_assert_uint_eq(vs_event_info(ev->type)->nargs, n);
	for (i = 0; i < n; i++)
		ck_assert_msg(ev->a[i] == want[i], "%s: %s is %llx, expected %llx", vs_event_info(ev->type)->name,
			      vs_event_info(ev->type)->args[i].name, (unsigned long long)ev->a[i],
			      (unsigned long long)want[i]);
	for (; i < VS_EVENT_MAX_ARGS; i++)
		ck_assert_uint_eq(ev->a[i], 0);
	ck_assert_str_eq(ev->node, "dut");
	ck_assert(!ev->inferred);
}
#define ARGS(ev, ...) args(ev, sizeof((uint64_t[]){__VA_ARGS__}) / 8, (const uint64_t[]){__VA_ARGS__})

static void about(const struct vs_event *ev, uint32_t qpn, bool has_wr, uint64_t wr_id)
{
	ck_assert_uint_eq(ev->qpn, qpn);
	ck_assert_int_eq(ev->has_wr, has_wr);
	ck_assert_uint_eq(ev->wr_id, wr_id);
}
#define ERR(code) (uint64_t)(int64_t)(code)

START_TEST(making_and_destroying_a_qp)
{
	struct rig *r = rig_new(NULL);
	struct vs_qp_init init = {.type = VS_QPT_UD, .send_cq = r->scq, .recv_cq = r->rcq, .cap = {1, 1, 1, 1, 0}};
	uint32_t from = r->log_len, qpn;
	struct vs_qp *qp = rig_qp(r, &init);
	const struct vs_event *ev = only(r, from, VS_EV_VERB_CREATE_QP);

	qpn = vs_qp_num(qp);
	ARGS(ev, VS_QPT_UD, 0);
	about(ev, qpn, false, 0);
	ck_assert_uint_eq(r->log_len, from + 1);
	from = r->log_len;
	ck_assert_int_eq(vs_qp_destroy(qp), VS_OK);
	ev = only(r, from, VS_EV_VERB_DESTROY_QP);
	ARGS(ev, 0);
	about(ev, qpn, false, 0);
	ck_assert_uint_eq(r->log_len, from + 1);
	rig_free(r);
}
END_TEST

START_TEST(a_modify_and_the_change_of_state)
{
	struct vs_ah *ah;
	struct rig *r = rig_in_state(VS_QPT_RC, VS_QPS_INIT, &ah);
	struct vs_qp_attr a = attr_to(r, VS_QPS_RTR);
	uint32_t from = r->log_len, qpn = vs_qp_num(r->qp);
	const struct vs_event *ev;

	r->now = 5000;
	vs_dev_set_now(r->dev, r->now);
	accepted(r, &a, VS_QP_STATE | RTR_RC);
	ev = only(r, from, VS_EV_VERB_MODIFY_QP);
	ARGS(ev, VS_QPS_INIT, VS_QPS_RTR, VS_QP_STATE | RTR_RC, 0);
	about(ev, qpn, false, 0);
	ck_assert_uint_eq(ev->t_ns, 5000);
	ev = only(r, from, VS_EV_QP_STATE);
	ARGS(ev, VS_QPS_INIT, VS_QPS_RTR, VS_REASON_BY_USER);
	about(ev, qpn, false, 0);
	from = r->log_len;
	a.state = VS_QPS_SQE; /* refused */
	ck_assert_int_eq(vs_qp_modify(r->qp, &a, VS_QP_STATE), VS_ERR_INVAL);
	ARGS(only(r, from, VS_EV_VERB_REFUSED), VS_REASON_TRANSITION, ERR(VS_ERR_INVAL));
	ARGS(only(r, from, VS_EV_VERB_MODIFY_QP), VS_QPS_RTR, VS_QPS_SQE, VS_QP_STATE, ERR(VS_ERR_INVAL));
	ck_assert_uint_eq(r->log_len, from + 2);
	from = r->log_len;
	ck_assert_int_eq(vs_qp_modify(r->qp, &a, 0), VS_ERR_INVAL); /* without STATE: to where it is */
	ARGS(only(r, from, VS_EV_VERB_MODIFY_QP), VS_QPS_RTR, VS_QPS_RTR, 0, ERR(VS_ERR_INVAL));
	rig_free(r);
}
END_TEST

START_TEST(posts_and_their_refusals)
{
	struct rig *r = rig_new(NULL);
	uint32_t from = r->log_len, qpn = vs_qp_num(r->qp);
	struct vs_sge sge;
	struct vs_send_wr wr = rig_wr(r, VS_WR_RDMA_WRITE, 77, &sge, 0, 100);
	const struct vs_event *ev;

	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	ev = only(r, from, VS_EV_VERB_POST_SEND);
	ARGS(ev, VS_WR_RDMA_WRITE, 100, RIG_PEER_VA, RIG_PEER_RKEY, VS_SEND_SIGNALED, 0);
	about(ev, qpn, true, 77);
	from = r->log_len;
	wr.flags = 1u << 7;
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_ERR_INVAL);
	ev = only(r, from, VS_EV_VERB_POST_SEND);
	ARGS(ev, VS_WR_RDMA_WRITE, 100, RIG_PEER_VA, RIG_PEER_RKEY, 1u << 7, ERR(VS_ERR_INVAL));
	about(ev, qpn, true, 77);
	ARGS(only(r, from, VS_EV_VERB_REFUSED), VS_REASON_WR_FLAGS, ERR(VS_ERR_INVAL));
	from = r->log_len;
	ck_assert_int_eq(rig_post_recv(r, 88, 0, 64), VS_OK);
	ev = only(r, from, VS_EV_VERB_POST_RECV);
	ARGS(ev, 64, 0);
	about(ev, qpn, true, 88);
	from = r->log_len;
	ck_assert_int_eq(vs_qp_post_recv(r->qp, &(struct vs_recv_wr){89, &sge, 5}), VS_ERR_INVAL);
	ev = only(r, from, VS_EV_VERB_POST_RECV);
	ARGS(ev, 0, ERR(VS_ERR_INVAL));
	about(ev, qpn, true, 89);
	ARGS(only(r, from, VS_EV_VERB_REFUSED), VS_REASON_WR_NUM_SGE, ERR(VS_ERR_INVAL));
	rig_free(r);
}
END_TEST

START_TEST(posts_to_a_shared_queue)
{
	struct rig_opt o = {.use_srq = true};
	struct rig *r = rig_new(&o);
	uint32_t from = r->log_len;
	struct vs_sge sge[2] = {{MEM(r, 0), 10, vs_mr_lkey(r->mr)}, {MEM(r, 64), 20, vs_mr_lkey(r->mr)}};
	struct vs_recv_wr wr = {55, sge, 2};
	const struct vs_event *ev;
	uint64_t post;

	ck_assert_int_eq(vs_srq_post_recv(r->srq, &wr), VS_OK);
	ev = only(r, from, VS_EV_VERB_POST_SRQ_RECV);
	ARGS(ev, 30, 0);
	about(ev, 0, true, 55); /* no QP yet */
	post = ev->seq;
	ck_assert_uint_gt(post, 0);
	from = r->log_len;
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 8);
	ev = only(r, from, VS_EV_WQE_TAKE);
	ARGS(ev, 30, 1);
	about(ev, vs_qp_num(r->qp), true, 55);
	rig_free(r);
}
END_TEST

START_TEST(registration)
{
	struct rig *r = rig_new(NULL);
	uint32_t from = r->log_len, lkey;
	struct vs_mr_attr a = {MEM(r, 64), 128, MEM(r, 64), VS_ACCESS_LOCAL_WRITE};
	int err;
	struct vs_mr *mr = vs_mr_reg(r->pd, &a, &err);
	const struct vs_event *ev = only(r, from, VS_EV_VERB_REG_MR);

	ARGS(ev, MEM(r, 64), 128, vs_mr_lkey(mr), vs_mr_rkey(mr), VS_ACCESS_LOCAL_WRITE, 0);
	about(ev, 0, false, 0);
	from = r->log_len;
	a.access = VS_ACCESS_REMOTE_READ;
	ck_assert_int_eq(vs_mr_rereg(mr, VS_REREG_ACCESS, NULL, &a), VS_OK);
	ARGS(only(r, from, VS_EV_VERB_REG_MR), MEM(r, 64), 128, vs_mr_lkey(mr), vs_mr_rkey(mr), VS_ACCESS_REMOTE_READ,
	     0);
	from = r->log_len;
	lkey = vs_mr_lkey(mr);
	ck_assert_int_eq(vs_mr_dereg(mr), VS_OK);
	ev = only(r, from, VS_EV_VERB_DEREG_MR);
	ARGS(ev, lkey, 0);
	about(ev, 0, false, 0);
	ck_assert_uint_eq(r->log_len, from + 1);
	from = r->log_len;
	a.access = VS_ACCESS_REMOTE_WRITE;
	ck_assert_ptr_null(vs_mr_reg(r->pd, &a, &err));
	ARGS(only(r, from, VS_EV_VERB_REFUSED), VS_REASON_MR_LOCAL_WRITE, ERR(VS_ERR_INVAL));
	ck_assert_uint_eq(r->log_len, from + 1);
	rig_free(r);
}
END_TEST

/* From the post to the poll: every event names the one that led to it. */
START_TEST(a_send_from_post_to_poll)
{
	struct rig *r = rig_new(NULL);
	uint32_t from = r->log_len, qpn = vs_qp_num(r->qp), tx_id;
	const struct vs_event *post, *tx, *rx, *cqe;
	struct vs_wc wc;

	rig_post(r, VS_WR_SEND, 5, 0, 24);
	post = only(r, from, VS_EV_VERB_POST_SEND);
	ck_assert_uint_eq(post->cause, 0); /* the application */
	rig_expect(r, VS_OP_RC_SEND_ONLY, D);
	ARGS(only(r, from, VS_EV_WQE_FETCH), VS_WR_SEND, 24, D);
	about(only(r, from, VS_EV_WQE_FETCH), qpn, true, 5);
	ck_assert_uint_eq(only(r, from, VS_EV_WQE_FETCH)->cause, post->seq);
	tx = only(r, from, VS_EV_PKT_TX);
	ARGS(tx, VS_OP_RC_SEND_ONLY, D, RIG_PEER_QPN, 24, VS_SYN_NONE, 0, 1, 0);
	about(tx, qpn, true, 5);
	ck_assert_uint_eq(tx->cause, post->seq);
	tx_id = (uint32_t)tx->pkt_id;
	ck_assert_uint_ne(tx_id, 0);
	rig_in_ack(r, D, 0x1f, 1);
	rx = only(r, from, VS_EV_PKT_RX);
	ARGS(rx, VS_OP_RC_ACKNOWLEDGE, D, qpn, 0, 0x1f, 1, 0);
	cqe = only(r, from, VS_EV_CQE);
	ck_assert(cqe->a[0] == VS_WC_SUCCESS && cqe->a[1] == VS_WC_SEND && cqe->a[3] == 0);
	about(cqe, qpn, true, 5);
	ck_assert_uint_eq(cqe->cause, rx->seq);
	wc = rig_expect_wc(r, r->scq, 5, VS_WC_SUCCESS);
	ck_assert_uint_eq(wc.cause, cqe->seq);
	ARGS(only(r, from, VS_EV_VERB_POLL_CQ), VS_WC_SUCCESS, VS_WC_SEND);
	ck_assert_uint_eq(only(r, from, VS_EV_VERB_POLL_CQ)->cause, cqe->seq);
	rig_free(r);
}
END_TEST

START_TEST(a_receive_with_immediate_data)
{
	struct rig *r = rig_new(NULL);
	uint32_t from, qpn = vs_qp_num(r->qp);
	const struct vs_event *rx, *cqe;

	rig_post_recv(r, 6, 0, 64);
	from = r->log_len;
	rig_in_send(r, VS_OP_RC_SEND_ONLY_IMM, P, 10);
	rx = only(r, from, VS_EV_PKT_RX);
	ARGS(only(r, from, VS_EV_WQE_TAKE), 64, 0);
	ck_assert_uint_eq(only(r, from, VS_EV_WQE_TAKE)->cause, rx->seq);
	cqe = only(r, from, VS_EV_CQE);
	ck_assert(cqe->a[0] == VS_WC_SUCCESS && cqe->a[1] == VS_WC_RECV && cqe->a[2] == 10 && cqe->a[3] == 0 &&
		  cqe->a[4] == 0x01020304 && cqe->a[5] == 2); /* the second CQ of the rig */
	about(cqe, qpn, true, 6);
	ck_assert_uint_eq(cqe->cause, rx->seq);
	rig_expect_ack(r, P, 1);
	ck_assert_uint_eq(only(r, from, VS_EV_PKT_TX)->cause, rx->seq);
	rig_free(r);
}
END_TEST

/* rx -> refuse -> async, state -> flushed completion */
START_TEST(a_request_that_is_refused)
{
	struct rig *r = rig_new(NULL);
	uint32_t from, qpn = vs_qp_num(r->qp);
	const struct vs_event *rx, *no, *ev;

	rig_post_recv(r, 9, 0, 64);
	from = r->log_len;
	rig_in_write(r, VS_OP_RC_WRITE_ONLY, P, MEM(r, 0), KEY(r) ^ 0x100, 8, 8);
	rx = only(r, from, VS_EV_PKT_RX);
	no = only(r, from, VS_EV_RC_REFUSE);
	ARGS(no, VS_REASON_RKEY_INVALID, P, 0x62);
	ck_assert_uint_eq(no->cause, rx->seq);
	ev = only(r, from, VS_EV_ASYNC);
	ARGS(ev, VS_EVENT_QP_ACCESS_ERR);
	about(ev, qpn, false, 0);
	ck_assert_uint_eq(ev->cause, no->seq);
	ev = only(r, from, VS_EV_QP_STATE);
	ARGS(ev, VS_QPS_RTS, VS_QPS_ERR, VS_REASON_RKEY_INVALID);
	ck_assert_uint_eq(ev->cause, no->seq);
	ev = only(r, from, VS_EV_CQE);
	ck_assert(ev->a[0] == VS_WC_WR_FLUSH_ERR && ev->a[3] == VS_REASON_FLUSHED);
	about(ev, qpn, true, 9);
	ck_assert_uint_gt(ev->cause, rx->seq); /* the error, not the packet */
	rig_free(r);
}
END_TEST

START_TEST(a_queue_that_overflows)
{
	struct rig *r = rig_new(NULL);
	int err;
	struct vs_cq *cq = vs_cq_create(r->dev, 1, 9, &err);
	struct vs_qp_init init = {.type = VS_QPT_RC, .send_cq = r->scq, .recv_cq = cq, .cap = {8, 8, 1, 1, 0}};
	uint32_t from;

	r->qp = rig_qp(r, &init);
	rig_to(r, r->qp, VS_QPS_RTS);
	rig_post_recv(r, 1, 0, 64);
	rig_post_recv(r, 2, 0, 64);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 8);
	from = r->log_len;
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P + 1, 8);
	ARGS(only(r, from, VS_EV_CQ_OVERFLOW), 3);
	ck_assert_uint_eq(only(r, from, VS_EV_CQ_OVERFLOW)->qpn, 0);
	ARGS(only(r, from, VS_EV_ASYNC), VS_EVENT_CQ_ERR);
	ck_assert_uint_eq(only(r, from, VS_EV_ASYNC)->qpn, 0); /* about a CQ */
	ARGS(only(r, from, VS_EV_QP_STATE), VS_QPS_RTS, VS_QPS_ERR, VS_REASON_CQ_OVERFLOW);
	rig_free(r);
}
END_TEST

START_TEST(a_port_and_its_addresses)
{
	struct rig *r = rig_new(NULL);
	uint32_t from = r->log_len;
	struct vs_gid_entry g = vs_dev_attr(r->dev)->gids[0];

	vs_dev_set_link(r->dev, false);
	ARGS(only(r, from, VS_EV_ASYNC), VS_EVENT_PORT_ERR);
	from = r->log_len;
	vs_dev_set_link(r->dev, true);
	ARGS(only(r, from, VS_EV_ASYNC), VS_EVENT_PORT_ACTIVE);
	from = r->log_len;
	vs_dev_set_gid(r->dev, 1, &g);
	ARGS(only(r, from, VS_EV_ASYNC), VS_EVENT_GID_CHANGE);
	about(only(r, from, VS_EV_ASYNC), 0, false, 0);
	rig_free(r);
}
END_TEST

START_TEST(the_refusal_of_a_device_that_refused_nothing_is_none)
{
	struct rig *r = rig_new(NULL);

	ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_NONE);
	ck_assert_int_eq(vs_cq_resize(r->scq, 0), VS_ERR_INVAL);
	ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_CQ_SIZE);
	ck_assert_int_eq(vs_cq_resize(r->scq, 7), VS_OK);
	ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_CQ_SIZE); /* of the last call that was refused */
	rig_free(r);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("trace");
	TCase *tc = tcase_create("trace");

	tcase_add_test(tc, making_and_destroying_a_qp);
	tcase_add_test(tc, a_modify_and_the_change_of_state);
	tcase_add_test(tc, posts_and_their_refusals);
	tcase_add_test(tc, posts_to_a_shared_queue);
	tcase_add_test(tc, registration);
	tcase_add_test(tc, a_send_from_post_to_poll);
	tcase_add_test(tc, a_receive_with_immediate_data);
	tcase_add_test(tc, a_request_that_is_refused);
	tcase_add_test(tc, a_queue_that_overflows);
	tcase_add_test(tc, a_port_and_its_addresses);
	tcase_add_test(tc, the_refusal_of_a_device_that_refused_nothing_is_none);
	suite_add_tcase(s, tc);
	return s;
}
