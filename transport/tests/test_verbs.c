/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_verbs.c - what creating a queue pair and posting to it accept and refuse, every operation on every transport,
 * with the reason, and that a refused call leaves nothing behind (REQ-031..036, -043 as far as the verbs go).
 */
#include "qps.h"

#define D RIG_DUT_PSN

static const enum vs_qp_type types[] = {VS_QPT_RC, VS_QPT_UC, VS_QPT_UD};

/* ---- create ---- */

static struct vs_qp_init good_init(const struct rig *r)
{
	return (struct vs_qp_init){.type = VS_QPT_RC, .send_cq = r->scq, .recv_cq = r->rcq, .cap = {1, 1, 1, 1, 0}};
}

static void not_created(struct rig *r, const struct vs_qp_init *init, int want, enum vs_reason why)
{
	int err = VS_OK;

	ck_assert_ptr_null(vs_qp_create(r->pd, init, &err));
	ck_assert_int_eq(err, want);
	ck_assert_msg(vs_dev_refusal(r->dev) == why, "refused for %s, expected %s",
		      vs_reason_info(vs_dev_refusal(r->dev))->id, vs_reason_info(why)->id);
}

static void created(struct rig *r, const struct vs_qp_init *init)
{
	int err = VS_ERR_INVAL;
	struct vs_qp *qp = vs_qp_create(r->pd, init, &err);
	struct vs_qp_init got;

	ck_assert_ptr_nonnull(qp);
	ck_assert_int_eq(err, VS_OK);
	vs_qp_query(qp, NULL, &got);
	ck_assert(got.cap.max_send_wr == init->cap.max_send_wr && got.cap.max_recv_wr == init->cap.max_recv_wr &&
		  got.cap.max_send_sge == init->cap.max_send_sge && got.cap.max_recv_sge == init->cap.max_recv_sge &&
		  got.cap.max_inline_data == init->cap.max_inline_data);
	ck_assert_int_eq(vs_qp_destroy(qp), VS_OK);
}

START_TEST(a_qp_is_made_up_to_the_limits_of_the_device)
{
	struct rig_opt o = {.dev = {.max_qp_wr = 100, .max_sge = 5, .max_inline = 200}};
	struct rig *r = rig_new(&o);
	struct vs_qp_init init = good_init(r), bad;
	uint32_t *const cap[] = {&bad.cap.max_send_wr, &bad.cap.max_recv_wr, &bad.cap.max_send_sge,
				 &bad.cap.max_recv_sge, &bad.cap.max_inline_data};
	unsigned i;

	init.cap = (struct vs_qp_cap){100, 100, 5, 5, 200};
	created(r, &init);
	for (i = 0; i < COUNT(cap); i++) {
		bad = init;
		++*cap[i];
		not_created(r, &bad, VS_ERR_INVAL, VS_REASON_QP_CAP);
		bad = init;
		*cap[i] = 0; /* none is a number, too */
		created(r, &bad);
	}
	rig_free(r);
}
END_TEST

START_TEST(what_a_qp_cannot_be_made_of)
{
	struct rig *r = rig_new(NULL), *other = rig_new(NULL);
	const struct vs_srq_attr sa = {4, 1, 0};
	struct vs_qp_init init = good_init(r), bad;
	int err;

	bad = init;
	bad.type = (enum vs_qp_type)(_i == 0 ? 0 : _i == 1 ? 5 : 9);
	not_created(r, &bad, VS_ERR_INVAL, VS_REASON_QP_TYPE);
	bad = init;
	bad.send_cq = _i == 0 ? NULL : other->scq;
	not_created(r, &bad, VS_ERR_INVAL, VS_REASON_QP_CQ);
	bad = init;
	bad.recv_cq = _i == 0 ? NULL : other->rcq;
	not_created(r, &bad, VS_ERR_INVAL, VS_REASON_QP_CQ);
	bad = init;
	bad.srq = vs_srq_create(other->pd, &sa, 0, &err);
	not_created(r, &bad, VS_ERR_INVAL, VS_REASON_QP_SRQ);
	bad.type = VS_QPT_GSI; /* nor one of its own */
	bad.srq = vs_srq_create(r->pd, &sa, 0, &err);
	not_created(r, &bad, VS_ERR_INVAL, VS_REASON_QP_SRQ);
	rig_free(other);
	rig_free(r);
}
END_TEST

START_TEST(numbers_that_a_qp_cannot_have)
{
	struct rig *r = rig_new(NULL);
	struct vs_qp_init init = good_init(r);
	static const uint32_t good[] = {2, 0xfffffe, 0x10, 0};
	unsigned i;

	init.qpn = 1;
	not_created(r, &init, VS_ERR_INVAL, VS_REASON_QPN);
	init.qpn = 0xffffff;
	not_created(r, &init, VS_ERR_INVAL, VS_REASON_QPN);
	init.qpn = 0x1000002;
	not_created(r, &init, VS_ERR_INVAL, VS_REASON_QPN);
	init.qpn = vs_qp_num(r->qp);
	not_created(r, &init, VS_ERR_BUSY, VS_REASON_QPN);
	for (i = 0; i < COUNT(good); i++) {
		init.qpn = good[i];
		created(r, &init);
	}
	init.type = VS_QPT_GSI; /* belongs to the connection manager */
	init.qpn = 0;
	not_created(r, &init, VS_ERR_BUSY, VS_REASON_QPN);
	init.qpn = 2;
	not_created(r, &init, VS_ERR_INVAL, VS_REASON_QPN);
	rig_free(r);
}
END_TEST

START_TEST(qp_1_without_a_connection_manager)
{
	struct rig_opt o = {.dev.cm_disabled = true};
	struct rig *r = rig_new(&o);
	struct vs_qp_init init = good_init(r);
	int err;

	init.type = VS_QPT_GSI;
	init.qpn = _i == 0 ? 0 : 1;
	ck_assert_uint_eq(vs_qp_num(vs_qp_create(r->pd, &init, &err)), 1);
	not_created(r, &init, VS_ERR_BUSY, VS_REASON_QPN); /* there is one */
	rig_free(r);
}
END_TEST

START_TEST(more_qps_than_the_device_has)
{
	struct rig_opt o = {.dev.max_qp = 3};
	struct rig *r = rig_new(&o);
	struct vs_qp_init init = good_init(r);
	struct vs_qp *second = rig_qp(r, &init);

	rig_qp(r, &init);
	not_created(r, &init, VS_ERR_NOSPACE, VS_REASON_LIMIT_QP);
	ck_assert_int_eq(vs_qp_destroy(second), VS_OK);
	created(r, &init);
	rig_free(r);
}
END_TEST

START_TEST(more_domains_and_handles_than_the_device_has)
{
	struct rig_opt o = {.dev = {.max_pd = 3, .max_ah = 2}}; /* one domain is the rig's */
	struct rig *r = rig_new(&o);
	struct vs_qp_attr a = rig_attr(r);
	struct vs_pd *pd[2];
	struct vs_ah *ah[2];
	unsigned i;
	int err;

	for (i = 0; i < 2; i++) {
		pd[i] = vs_pd_create(r->dev, &err);
		ck_assert(pd[i] != NULL && err == VS_OK);
		ah[i] = vs_ah_create(pd[i], &a.av, &err);
		ck_assert(ah[i] != NULL && err == VS_OK);
	}
	ck_assert_ptr_null(vs_pd_create(r->dev, &err));
	ck_assert(err == VS_ERR_NOSPACE && vs_dev_refusal(r->dev) == VS_REASON_LIMIT_PD);
	ck_assert_ptr_null(vs_ah_create(pd[0], &a.av, &err));
	ck_assert(err == VS_ERR_NOSPACE && vs_dev_refusal(r->dev) == VS_REASON_LIMIT_AH);
	ck_assert_int_eq(vs_ah_destroy(ah[0]), VS_OK);
	ck_assert_int_eq(vs_pd_destroy(pd[0]), VS_OK);
	ck_assert_ptr_nonnull(vs_pd_create(r->dev, &err));
	ck_assert_ptr_nonnull(vs_ah_create(pd[1], &a.av, &err));
	rig_free(r);
}
END_TEST

/* ---- post send ---- */

static const struct {
	enum vs_wr_opcode op;
	bool rc, uc, ud, inl;
} ops[] = {
	{VS_WR_SEND, true, true, true, true},
	{VS_WR_SEND_WITH_IMM, true, true, true, true},
	{VS_WR_SEND_WITH_INV, true, false, false, true},
	{VS_WR_RDMA_WRITE, true, true, false, true},
	{VS_WR_RDMA_WRITE_WITH_IMM, true, true, false, true},
	{VS_WR_RDMA_READ, true, false, false, false},
	{VS_WR_ATOMIC_CMP_AND_SWP, true, false, false, false},
	{VS_WR_ATOMIC_FETCH_AND_ADD, true, false, false, false},
	{VS_WR_LOCAL_INV, true, true, false, false},
	{VS_WR_BIND_MW, true, true, false, false},
	{VS_WR_FLUSH, true, false, false, false},
	{VS_WR_ATOMIC_WRITE, true, false, false, true},
	{(enum vs_wr_opcode)10, false, false, false, false}, /* TSO */
	{(enum vs_wr_opcode)11, false, false, false, false}, /* DRIVER1 */
	{(enum vs_wr_opcode)16, false, false, false, false},
	{(enum vs_wr_opcode) - 1, false, false, false, false},
};

static struct vs_send_wr wr_of(struct rig *r, enum vs_wr_opcode op, struct vs_sge *sge, struct vs_ah *ah)
{
	struct vs_send_wr wr = send_wr(r, 7, sge, 8, ah);
	int err;

	wr.opcode = op;
	wr.bind.mw = vs_mw_alloc(r->pd, VS_MW_TYPE_2, &err);
	wr.bind.mr = r->mr;
	wr.bind.addr = MEM(r, 0);
	wr.bind.length = 8;
	return wr;
}

static void not_posted(struct rig *r, const struct vs_send_wr *wr, enum vs_reason why)
{
	ck_assert_int_eq(vs_qp_post_send(r->qp, wr), why == VS_REASON_QUEUE_FULL ? VS_ERR_NOSPACE : VS_ERR_INVAL);
	ck_assert_msg(vs_dev_refusal(r->dev) == why, "refused for %s, expected %s",
		      vs_reason_info(vs_dev_refusal(r->dev))->id, vs_reason_info(why)->id);
}

START_TEST(req_043_every_operation_on_every_transport)
{
	enum vs_qp_type type = types[(unsigned)_i / COUNT(ops)];
	unsigned i = (unsigned)_i % COUNT(ops);
	bool supported = type == VS_QPT_RC ? ops[i].rc : type == VS_QPT_UC ? ops[i].uc : ops[i].ud;
	struct vs_ah *ah;
	struct rig *r = rig_in_state(type, VS_QPS_RTS, &ah);
	struct vs_sge sge;
	struct vs_send_wr wr = wr_of(r, ops[i].op, &sge, ah);

	if (supported) {
		ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	} else {
		not_posted(r, &wr, VS_REASON_WR_OPCODE);
		nothing_happens(r);
	}
	rig_free(r);
}
END_TEST

START_TEST(req_031_032_which_operation_takes_inline_data)
{
	struct rig *r = rig_new(NULL);
	struct vs_sge sge;
	struct vs_send_wr wr = wr_of(r, ops[_i].op, &sge, NULL);
	struct vs_pkt p;

	wr.flags |= VS_SEND_INLINE;
	wr.inline_data = "abcdefgh";
	wr.inline_len = 8;
	wr.num_sge = 99; /* not looked at then */
	if (!ops[_i].rc) {
		not_posted(r, &wr, VS_REASON_WR_OPCODE);
	} else if (!ops[_i].inl) {
		not_posted(r, &wr, VS_REASON_WR_INLINE_OP);
		nothing_happens(r);
	} else {
		ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
		ck_assert(rig_out(r, &p));
		ck_assert_uint_eq(p.payload_len, 8);
		ck_assert_mem_eq(p.payload, "abcdefgh", 8);
	}
	rig_free(r);
}
END_TEST

START_TEST(req_033_034_the_limits_of_one_request)
{
	static const uint8_t data[129];
	struct rig *r = rig_new(NULL);
	struct vs_sge sge[5] = {{0}};
	struct vs_send_wr wr = {.wr_id = 1, .opcode = VS_WR_SEND, .flags = VS_SEND_INLINE, .inline_data = data};
	struct vs_pkt p;

	wr.inline_len = 129;
	not_posted(r, &wr, VS_REASON_WR_INLINE_LEN);
	wr.inline_len = 128;
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	wr.inline_len = 0;
	wr.inline_data = NULL;
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	wr = (struct vs_send_wr){.wr_id = 2, .opcode = VS_WR_SEND, .sg_list = sge, .num_sge = 5};
	not_posted(r, &wr, VS_REASON_WR_NUM_SGE);
	wr.num_sge = 4;
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	wr.num_sge = 0;
	wr.sg_list = NULL;
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	wr.flags = 1u << 4;
	not_posted(r, &wr, VS_REASON_WR_FLAGS);
	wr.flags = VS_SEND_SIGNALED | 1u << 31;
	not_posted(r, &wr, VS_REASON_WR_FLAGS);
	ck_assert(rig_out(r, &p) && p.payload_len == 128);
	ck_assert(rig_out(r, &p) && p.payload_len == 0);
	ck_assert(rig_out(r, &p) && p.payload_len == 0);
	ck_assert(rig_out(r, &p) && p.payload_len == 0);
	nothing_happens(r);
	rig_free(r);
}
END_TEST

START_TEST(req_036_a_message_is_at_most_2_to_the_31_bytes_long)
{
	struct rig *r = rig_new(NULL);
	struct vs_sge sge[2] = {{MEM(r, 0), 0x80000000u, vs_mr_lkey(r->mr)}, {MEM(r, 0), 1, vs_mr_lkey(r->mr)}};
	struct vs_send_wr wr = {.wr_id = 1, .opcode = VS_WR_RDMA_READ, .sg_list = sge, .num_sge = 2};

	not_posted(r, &wr, VS_REASON_WR_LENGTH);
	sge[0].length = sge[1].length = UINT32_MAX; /* more than 32 bits together */
	not_posted(r, &wr, VS_REASON_WR_LENGTH);
	sge[0].length = 0x7fffffffu;
	sge[1].length = 1;
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	ck_assert_uint_eq(rig_expect(r, VS_OP_RC_READ_REQUEST, D).ext.reth.dmalen, 0x80000000u);
	rig_free(r);
}
END_TEST

START_TEST(a_datagram_needs_a_handle_and_a_number)
{
	struct vs_ah *ah;
	struct rig *r = rig_in_state(VS_QPT_UD, VS_QPS_RTS, &ah);
	struct vs_sge sge;
	struct vs_send_wr wr = send_wr(r, 1, &sge, 8, NULL);

	not_posted(r, &wr, VS_REASON_WR_AH);
	wr.ud.ah = ah;
	wr.ud.remote_qpn = 0x1000000;
	not_posted(r, &wr, VS_REASON_WR_AH);
	nothing_happens(r);
	wr.ud.remote_qpn = 0xffffff;
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	ck_assert_uint_eq(rig_expect(r, VS_OP_UD_SEND_ONLY, D).bth.destqp, 0xffffff);
	rig_free(r);
}
END_TEST

/* ---- full queues ---- */

START_TEST(req_035_queues_of_every_size_are_used_to_the_last_place)
{
	struct rig *r = rig_new(NULL);
	struct vs_qp_init init = good_init(r);
	uint32_t n = (uint32_t)_i, i, id = 0;
	struct vs_sge sge = {MEM(r, 0), 8, vs_mr_lkey(r->mr)};
	const struct vs_recv_wr rwr = {5, &sge, 1};

	init.cap.max_send_wr = init.cap.max_recv_wr = n;
	r->qp = rig_qp(r, &init);
	rig_to(r, r->qp, VS_QPS_RTS);
	for (i = 0; i < 3; i++) {
		struct vs_send_wr wr = rig_wr(r, VS_WR_SEND, 0, &sge, 0, 8);
		uint32_t k;

		for (k = 0; k < n; k++) {
			wr.wr_id = id + k;
			ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
		}
		wr.wr_id = 999;
		not_posted(r, &wr, VS_REASON_QUEUE_FULL);
		rig_drain(r);
		not_posted(r, &wr, VS_REASON_QUEUE_FULL); /* sent is not completed */
		if (n > 0)
			rig_in_ack(r, vs_psn_add(D, (int32_t)(id + n) - 1), 0x1f, id + n);
		for (k = 0; k < n; k++)
			rig_expect_wc(r, r->scq, id + k, VS_WC_SUCCESS);
		id += n;
	}
	for (i = 0; i < n; i++)
		ck_assert_int_eq(vs_qp_post_recv(r->qp, &rwr), VS_OK);
	ck_assert_int_eq(vs_qp_post_recv(r->qp, &rwr), VS_ERR_NOSPACE);
	ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_QUEUE_FULL);
	rig_expect_no_wc(r);
	rig_free(r);
}
END_TEST

/* As where the queue is the program's memory; without hold_slots a slot is free when its request is over. */
START_TEST(a_slot_is_free_when_a_completion_that_speaks_for_it_was_polled)
{
	struct rig *r = rig_new(&(struct rig_opt){.dev = {.hold_slots = _i == 0}});
	struct vs_qp_init init = good_init(r);
	struct vs_sge sge = {MEM(r, 0), 8, vs_mr_lkey(r->mr)};
	struct vs_send_wr wr = rig_wr(r, VS_WR_SEND, 1, &sge, 0, 8);
	struct vs_wc wc;

	init.cap.max_send_wr = 2;
	r->qp = rig_qp(r, &init);
	rig_to(r, r->qp, VS_QPS_RTS);
	wr.flags = 0;
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	rig_drain(r);
	rig_in_ack(r, D, 0x1f, 1);
	ck_assert_uint_eq(vs_qp_send_room(r->qp), _i == 0 ? 1 : 2);
	wr.wr_id = 2;
	wr.flags = VS_SEND_SIGNALED;
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	rig_drain(r);
	rig_in_ack(r, D + 1, 0x1f, 2);
	wr.wr_id = 3;
	if (_i == 0)
		not_posted(r, &wr, VS_REASON_QUEUE_FULL);
	ck_assert_int_eq(vs_cq_poll(r->scq, &wc, 1), 1);
	ck_assert_uint_eq(wc.wr_id, 2);
	ck_assert_uint_eq(vs_qp_send_room(r->qp), 2);
	rig_free(r);
}
END_TEST

START_TEST(req_034_a_receive_with_more_elements_than_the_queue_takes)
{
	struct rig *r = rig_new(NULL);
	struct vs_sge sge[5] = {{0}};
	struct vs_recv_wr wr = {1, sge, 5};

	ck_assert_int_eq(vs_qp_post_recv(r->qp, &wr), VS_ERR_INVAL);
	ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_WR_NUM_SGE);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, RIG_PEER_PSN, 0); /* not kept */
	rig_expect_nak(r, RIG_PEER_PSN, 0x20 | 12, 0);
	wr.num_sge = 4;
	ck_assert_int_eq(vs_qp_post_recv(r->qp, &wr), VS_OK);
	rig_free(r);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("verbs");
	TCase *tc = tcase_create("create");

	tcase_add_test(tc, a_qp_is_made_up_to_the_limits_of_the_device);
	tcase_add_loop_test(tc, what_a_qp_cannot_be_made_of, 0, 3);
	tcase_add_test(tc, numbers_that_a_qp_cannot_have);
	tcase_add_loop_test(tc, qp_1_without_a_connection_manager, 0, 2);
	tcase_add_test(tc, more_qps_than_the_device_has);
	tcase_add_test(tc, more_domains_and_handles_than_the_device_has);
	suite_add_tcase(s, tc);

	tc = tcase_create("post");
	tcase_add_loop_test(tc, req_043_every_operation_on_every_transport, 0, 3 * COUNT(ops));
	tcase_add_loop_test(tc, req_031_032_which_operation_takes_inline_data, 0, COUNT(ops));
	tcase_add_test(tc, req_033_034_the_limits_of_one_request);
	tcase_add_test(tc, req_036_a_message_is_at_most_2_to_the_31_bytes_long);
	tcase_add_test(tc, a_datagram_needs_a_handle_and_a_number);
	tcase_add_loop_test(tc, req_035_queues_of_every_size_are_used_to_the_last_place, 0, 10);
	tcase_add_loop_test(tc, a_slot_is_free_when_a_completion_that_speaks_for_it_was_polled, 0, 2);
	tcase_add_test(tc, req_034_a_receive_with_more_elements_than_the_queue_takes);
	suite_add_tcase(s, tc);
	return s;
}
