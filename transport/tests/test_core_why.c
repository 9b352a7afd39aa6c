/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_core_why.c - what is refused or fails says why: each fault of a request has its own reason, in the trace and as
 * the vendor_err of the completion; and what happens is counted under its own name and no other.
 */
#include "qps.h"

#define P RIG_PEER_PSN
#define D RIG_DUT_PSN
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define TO_RTS 67108864ull /* ACK timeout of the rig */

/* ---- the responder ---- */

/* FLUSH or ATOMIC WRITE */
static void in_reth(struct rig *r, uint8_t op, uint64_t va, uint32_t dmalen, uint32_t len, uint8_t plt, uint8_t sel)
{
	struct vs_pkt p = rig_pkt(r, op, P);

	p.ext.reth.va = va;
	p.ext.reth.rkey = KEY(r);
	p.ext.reth.dmalen = dmalen;
	p.ext.feth.plt = plt;
	p.ext.feth.sel = sel;
	p.payload = rig_pattern(1);
	p.payload_len = len;
	rig_in(r, &p);
}

static void in_inv(struct rig *r, uint32_t key)
{
	struct vs_pkt p = rig_pkt(r, VS_OP_RC_SEND_ONLY_INV, P);

	p.ext.ieth_rkey = key;
	rig_in(r, &p);
}

static void bad_receive(struct rig *r, int kind)
{
	uint32_t access = kind == 2 ? 0 : VS_ACCESS_LOCAL_WRITE;
	struct vs_mr *mr = rig_mr(r, r->pd, 4096, 64, access);
	struct vs_sge sge = {MEM(r, 4096), 64, vs_mr_lkey(mr)};
	struct vs_recv_wr wr = {1, &sge, 1};
	int err;

	if (kind == 0)
		sge.lkey ^= 0x100;
	if (kind == 1)
		ck_assert_int_eq(vs_mr_rereg(mr, VS_REREG_PD, vs_pd_create(r->dev, &err), NULL), VS_OK);
	if (kind == 1)
		sge.lkey = vs_mr_lkey(mr);
	if (kind == 3)
		sge.addr++;
	if (kind == 4)
		sge.lkey = vs_mr_rkey(mr);
	ck_assert_int_eq(vs_qp_post_recv(r->qp, &wr), VS_OK);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 64);
}

struct refusal {
	enum vs_reason why;
	uint8_t syndrome;
	int32_t psn; /* after P */
};

static struct refusal order_or_right(struct rig *r, int kind)
{
	switch (kind) {
	case 0:
		rig_in_send(r, VS_OP_RC_SEND_MIDDLE, P, 1024);
		return (struct refusal){VS_REASON_OPCODE_SEQUENCE, 0x61, 0};
	case 1:
		rig_in_write(r, VS_OP_RC_WRITE_FIRST, P, MEM(r, 0), KEY(r), 2048, 1024);
		rig_drain(r);
		rig_in_send(r, VS_OP_RC_SEND_LAST, P + 1, 8);
		return (struct refusal){VS_REASON_OPCODE_SEQUENCE, 0x61, 1};
	case 2:
		rig_in_write(r, VS_OP_RC_WRITE_FIRST, P, MEM(r, 0), KEY(r), 2048, 1024);
		rig_drain(r);
		rig_in_read(r, P + 1, MEM(r, 0), KEY(r), 8);
		return (struct refusal){VS_REASON_OPCODE_SEQUENCE, 0x61, 1};
	case 3:
		rig_in_send(r, 0x1f, P, 0);
		return (struct refusal){VS_REASON_BTH_OPCODE_RESERVED, 0x61, 0};
	case 4:
		r->qp->attr.access_flags &= ~(uint32_t)VS_ACCESS_REMOTE_WRITE;
		rig_in_write(r, VS_OP_RC_WRITE_ONLY, P, MEM(r, 0), KEY(r), 8, 8);
		return (struct refusal){VS_REASON_QP_ACCESS, 0x61, 0};
	case 5:
		r->qp->attr.access_flags &= ~(uint32_t)VS_ACCESS_REMOTE_WRITE;
		in_reth(r, VS_OP_RC_ATOMIC_WRITE, MEM(r, 0), 8, 8, 0, 0);
		return (struct refusal){VS_REASON_QP_ACCESS, 0x61, 0};
	case 6:
		r->qp->attr.access_flags &= ~(uint32_t)VS_ACCESS_REMOTE_READ;
		rig_in_read(r, P, MEM(r, 0), KEY(r), 8);
		return (struct refusal){VS_REASON_QP_ACCESS, 0x61, 0};
	case 7:
		r->qp->attr.access_flags &= ~(uint32_t)VS_ACCESS_REMOTE_ATOMIC;
		rig_in_atomic(r, VS_OP_RC_FETCH_ADD, P, MEM(r, 0), KEY(r), 0, 0);
		return (struct refusal){VS_REASON_QP_ACCESS, 0x61, 0};
	case 8:
		r->qp->attr.access_flags &= ~(uint32_t)VS_ACCESS_FLUSH_GLOBAL;
		in_reth(r, VS_OP_RC_FLUSH, MEM(r, 0), 8, 0, 1, 0);
		return (struct refusal){VS_REASON_QP_ACCESS, 0x61, 0};
	case 9:
		r->qp->attr.access_flags &= ~(uint32_t)VS_ACCESS_FLUSH_PERSISTENT;
		in_reth(r, VS_OP_RC_FLUSH, MEM(r, 0), 8, 0, 2, 0);
		return (struct refusal){VS_REASON_QP_ACCESS, 0x61, 0};
	case 10:
		in_reth(r, VS_OP_RC_FLUSH, MEM(r, 0), 8, 0, 0, 0);
		return (struct refusal){VS_REASON_FETH_PLT, 0x61, 0};
	default:
		in_reth(r, VS_OP_RC_FLUSH, MEM(r, 0), 8, 0, 1, 2);
		return (struct refusal){VS_REASON_FETH_PLT, 0x61, 0};
	}
}

static struct refusal length_or_depth(struct rig *r, int kind)
{
	switch (kind) {
	case 12:
		rig_in_write(r, VS_OP_RC_WRITE_FIRST, P, MEM(r, 0), KEY(r), 4096, 1020);
		return (struct refusal){VS_REASON_PAYLOAD_LENGTH, 0x61, 0};
	case 13:
		rig_in_write(r, VS_OP_RC_WRITE_FIRST, P, MEM(r, 0), KEY(r), 1024 + 8, 1024);
		rig_drain(r);
		rig_in_write(r, VS_OP_RC_WRITE_LAST, P + 1, 0, 0, 0, 0);
		return (struct refusal){VS_REASON_PAYLOAD_LENGTH, 0x61, 1};
	case 14:
		rig_in_write(r, VS_OP_RC_WRITE_ONLY, P, MEM(r, 0), KEY(r), 1028, 1028);
		return (struct refusal){VS_REASON_PAYLOAD_LENGTH, 0x61, 0};
	case 15:
		rig_in_read(r, P, MEM(r, 0), KEY(r), 0x80000001);
		return (struct refusal){VS_REASON_RETH_DMALEN_MAX, 0x61, 0};
	case 16:
		in_reth(r, VS_OP_RC_ATOMIC_WRITE, MEM(r, 0), 9, 8, 0, 0);
		return (struct refusal){VS_REASON_PAYLOAD_NOT_EIGHT, 0x61, 0};
	case 17:
		rig_in_write(r, VS_OP_RC_WRITE_ONLY, P, MEM(r, 0), KEY(r), 7, 8);
		return (struct refusal){VS_REASON_RETH_DMALEN_PAYLOAD, 0x61, 0};
	case 18:
		rig_in_write(r, VS_OP_RC_WRITE_ONLY, P, MEM(r, 0), KEY(r), 9, 8);
		return (struct refusal){VS_REASON_RETH_DMALEN_PAYLOAD, 0x61, 0};
	case 19: /* all of it is there, and it is not the last */
		rig_in_write(r, VS_OP_RC_WRITE_FIRST, P, MEM(r, 0), KEY(r), 1024, 1024);
		return (struct refusal){VS_REASON_RETH_DMALEN_PAYLOAD, 0x61, 0};
	default:
		for (uint32_t i = 0; i < 5; i++)
			rig_in_read(r, P + i, MEM(r, 0), KEY(r), 8);
		for (uint32_t i = 0; i < 4; i++)
			rig_expect(r, VS_OP_RC_READ_RESPONSE_ONLY, P + i);
		return (struct refusal){VS_REASON_RD_ATOMIC, 0x61, 4};
	}
}

static struct refusal remote_memory(struct rig *r, int kind)
{
	struct vs_mr *mr;
	int err;

	switch (kind) {
	case 21:
		rig_in_atomic(r, VS_OP_RC_COMPARE_SWAP, P, MEM(r, 4), KEY(r), 0, 0);
		return (struct refusal){VS_REASON_ATOMIC_ALIGN, 0x61, 0};
	case 22:
		in_reth(r, VS_OP_RC_ATOMIC_WRITE, MEM(r, 4), 8, 8, 0, 0);
		return (struct refusal){VS_REASON_ATOMIC_ALIGN, 0x61, 0};
	case 23:
		rig_in_read(r, P, MEM(r, 0), KEY(r) ^ 0x100, 8);
		return (struct refusal){VS_REASON_RKEY_INVALID, 0x62, 0};
	case 24:
		rig_in_read(r, P, MEM(r, 0), vs_mr_lkey(r->mr), 8);
		return (struct refusal){VS_REASON_RKEY_INVALID, 0x62, 0};
	case 25:
		mr = rig_mr(r, r->pd, 4096, 64, VS_ACCESS_REMOTE_READ);
		ck_assert_int_eq(vs_mr_rereg(mr, VS_REREG_PD, vs_pd_create(r->dev, &err), NULL), VS_OK);
		rig_in_read(r, P, MEM(r, 4096), vs_mr_rkey(mr), 8);
		return (struct refusal){VS_REASON_RKEY_PD, 0x62, 0};
	case 26:
		mr = rig_mr(r, r->pd, 4096, 64, VS_ACCESS_LOCAL_WRITE);
		rig_in_read(r, P, MEM(r, 4096), vs_mr_rkey(mr), 8);
		return (struct refusal){VS_REASON_RKEY_ACCESS, 0x62, 0};
	case 27: /* one byte is enough to look at the key */
		rig_in_read(r, P, MEM(r, 0), KEY(r) ^ 0x100, 1);
		return (struct refusal){VS_REASON_RKEY_INVALID, 0x62, 0};
	case 28:
		rig_in_write(r, VS_OP_RC_WRITE_ONLY, P, MEM(r, 0), KEY(r) ^ 0x100, 1, 1);
		return (struct refusal){VS_REASON_RKEY_INVALID, 0x62, 0};
	case 29: /* also where the region goes in the middle */
		mr = rig_mr(r, r->pd, 4096, 2048, VS_ACCESS_LOCAL_WRITE | VS_ACCESS_REMOTE_WRITE);
		rig_in_write(r, VS_OP_RC_WRITE_FIRST, P, MEM(r, 4096), vs_mr_rkey(mr), 1025, 1024);
		rig_drain(r);
		ck_assert_int_eq(vs_mr_dereg(mr), VS_OK);
		rig_in_write(r, VS_OP_RC_WRITE_LAST, P + 1, 0, 0, 0, 1);
		return (struct refusal){VS_REASON_RKEY_INVALID, 0x62, 1};
	default: /* 7 of the 8 bytes are inside */
		mr = rig_mr(r, r->pd, 4096, 15, VS_ACCESS_LOCAL_WRITE | VS_ACCESS_REMOTE_ATOMIC);
		rig_in_atomic(r, VS_OP_RC_FETCH_ADD, P, MEM(r, 4096 + 8), vs_mr_rkey(mr), 0, 0);
		return (struct refusal){VS_REASON_RKEY_RANGE, 0x62, 0};
	}
}

static struct refusal receive_buffer(struct rig *r, int kind)
{
	switch (kind) {
	case 31:
		rig_post_recv(r, 1, 0, 63);
		rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 64);
		return (struct refusal){VS_REASON_RECEIVE_LENGTH, 0x61, 0};
	case 32:
		bad_receive(r, 0);
		return (struct refusal){VS_REASON_LKEY_INVALID, 0x63, 0};
	case 33:
		bad_receive(r, 1);
		return (struct refusal){VS_REASON_LKEY_PD, 0x63, 0};
	case 34:
		bad_receive(r, 2);
		return (struct refusal){VS_REASON_LKEY_ACCESS, 0x63, 0};
	case 35:
		bad_receive(r, 3);
		return (struct refusal){VS_REASON_LKEY_RANGE, 0x63, 0};
	default:
		bad_receive(r, 4);
		return (struct refusal){VS_REASON_LKEY_INVALID, 0x63, 0};
	}
}
#define REFUSALS 37

static struct refusal refused_request(struct rig *r, int kind)
{
	return kind < 12   ? order_or_right(r, kind)
	       : kind < 21 ? length_or_depth(r, kind)
	       : kind < 31 ? remote_memory(r, kind)
			   : receive_buffer(r, kind);
}

START_TEST(a_refused_request_says_why)
{
	struct rig *r = rig_new(NULL);
	struct refusal f = refused_request(r, _i);
	const struct vs_event *refuse = last_of(r, VS_EV_RC_REFUSE), *state = last_of(r, VS_EV_QP_STATE);

	ck_assert_msg(refuse->a[0] == f.why, "%s", vs_reason_info((enum vs_reason)refuse->a[0])->id);
	ck_assert_uint_eq(refuse->a[1], vs_psn_add(P, f.psn));
	ck_assert_uint_eq(refuse->a[2], f.syndrome);
	ck_assert(state->a[1] == VS_QPS_ERR && state->a[2] == f.why);
	ck_assert_uint_eq(rig_expect(r, VS_OP_RC_ACKNOWLEDGE, vs_psn_add(P, f.psn)).ext.aeth.syndrome, f.syndrome);
	rig_expect_silence(r);
	if (_i >= 31) /* the receive it was found in says so, too */
		ck_assert_uint_eq(
			rig_expect_wc(r, r->rcq, 1, _i == 31 ? VS_WC_LOC_LEN_ERR : VS_WC_LOC_PROT_ERR).vendor_err,
			f.why);
	else
		rig_expect_async(r, f.syndrome == 0x62 ? VS_EVENT_QP_ACCESS_ERR : VS_EVENT_QP_REQ_ERR);
	rig_expect_no_async(r);
	rig_free(r);
}
END_TEST

/* The last 8 bytes of a region are still inside. */
START_TEST(rse_023_an_atomic_at_the_end_of_its_region)
{
	struct rig *r = rig_new(NULL);
	struct vs_mr *mr =
		rig_mr(r, r->pd, 4096, 16, VS_ACCESS_LOCAL_WRITE | VS_ACCESS_REMOTE_ATOMIC | VS_ACCESS_REMOTE_WRITE);
	struct vs_pkt p = rig_pkt(r, VS_OP_RC_ATOMIC_WRITE, P);

	if (_i == 0) {
		rig_in_atomic(r, VS_OP_RC_FETCH_ADD, P, MEM(r, 4096 + 8), vs_mr_rkey(mr), 0, 0);
		rig_expect(r, VS_OP_RC_ATOMIC_ACKNOWLEDGE, P);
	} else {
		p.ext.reth.va = MEM(r, 4096 + 8);
		p.ext.reth.rkey = vs_mr_rkey(mr);
		p.ext.reth.dmalen = 8;
		p.payload = rig_pattern(1);
		p.payload_len = 8;
		rig_in(r, &p);
		rig_expect(r, VS_OP_RC_READ_RESPONSE_ONLY, P);
		ck_assert_mem_eq(r->mem + 4096 + 8, rig_pattern(1), 8);
	}
	rig_free(r);
}
END_TEST

START_TEST(rse_046_a_key_that_is_not_invalidated_says_why)
{
	struct rig *r = rig_new(NULL);
	int err;
	struct vs_mw *mw = vs_mw_alloc(r->pd, _i == 2 ? VS_MW_TYPE_1 : VS_MW_TYPE_2, &err);
	static const enum vs_reason why[] = {VS_REASON_INV_KEY, VS_REASON_INV_KEY, VS_REASON_INV_TYPE_1};

	rig_post_recv(r, 1, 0, 64);
	rig_post_recv(r, 2, 0, 64);
	in_inv(r, _i == 0 ? KEY(r) : vs_mw_rkey(mw)); /* a region; a window that is free; one of type 1 */
	ck_assert_uint_eq(rig_expect_wc(r, r->rcq, 1, VS_WC_REM_INV_REQ_ERR).vendor_err, why[_i]);
	rig_expect_wc(r, r->rcq, 2, VS_WC_WR_FLUSH_ERR);
	rig_expect_silence(r);
	rig_free(r);
}
END_TEST

/* ---- the requester ---- */

static void post_bad(struct rig *r, int kind, struct vs_ah *ah)
{
	struct vs_sge sge;
	struct vs_send_wr wr = rig_wr(r, VS_WR_SEND, 1, &sge, 0, 8);
	int err;

	wr.ud.ah = ah;
	wr.ud.remote_qpn = 5;
	if (kind == 0)
		sge.lkey ^= 0x100;
	if (kind == 1)
		sge.addr += RIG_MEM - 7;
	if (kind == 2)
		sge.lkey = KEY(r);
	if (kind == 3) {
		struct vs_mr *mr = rig_mr(r, r->pd, 4096, 64, VS_ACCESS_LOCAL_WRITE);

		ck_assert_int_eq(vs_mr_rereg(mr, VS_REREG_PD, vs_pd_create(r->dev, &err), NULL), VS_OK);
		sge = (struct vs_sge){MEM(r, 4096), 8, vs_mr_lkey(mr)};
	}
	if (kind == 4)
		sge.length = 4100;
	if (kind == 5) {
		struct vs_qp_attr a = rig_attr(r);

		wr.ud.ah = vs_ah_create(vs_pd_create(r->dev, &err), &a.av, &err);
	}
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
}

START_TEST(req_037_a_request_that_fails_here_says_why)
{
	static const struct {
		enum vs_wc_status status;
		enum vs_reason why;
	} t[] = {{VS_WC_LOC_PROT_ERR, VS_REASON_LKEY_INVALID}, {VS_WC_LOC_PROT_ERR, VS_REASON_LKEY_RANGE},
		 {VS_WC_LOC_PROT_ERR, VS_REASON_LKEY_INVALID}, {VS_WC_LOC_PROT_ERR, VS_REASON_LKEY_PD},
		 {VS_WC_LOC_LEN_ERR, VS_REASON_UD_LENGTH},     {VS_WC_LOC_QP_OP_ERR, VS_REASON_AH_PD}};
	static const enum vs_qp_type types[] = {VS_QPT_RC, VS_QPT_UC, VS_QPT_UD};
	unsigned kind = (unsigned)_i % 6, type = (unsigned)_i / 6;
	struct rig_opt o = {.type = types[type]};
	struct rig *r = rig_new(&o);
	struct vs_ah *ah = type == 2 ? peer_ah(r) : NULL;
	const struct vs_event *state;

	if (kind < 4 || type == 2) {
		post_bad(r, (int)kind, ah);
		post_bad(r, 9, ah); /* a good one */
		rig_expect_silence(r);
		ck_assert_uint_eq(rig_expect_wc(r, r->scq, 1, t[kind].status).vendor_err, t[kind].why);
		ck_assert_uint_eq(rig_expect_wc(r, r->scq, 1, VS_WC_WR_FLUSH_ERR).vendor_err, VS_REASON_FLUSHED);
		state = last_of(r, VS_EV_QP_STATE);
		ck_assert(state->a[0] == VS_QPS_RTS && state->a[2] == t[kind].why);
		ck_assert_uint_eq(state->a[1], type == 0 ? VS_QPS_ERR : VS_QPS_SQE);
	}
	rig_free(r);
}
END_TEST

START_TEST(a_failed_completion_says_what_the_peer_or_the_time_did)
{
	static const struct {
		enum vs_wr_opcode op;
		enum vs_wc_status status;
		enum vs_reason why;
	} t[] = {
		{VS_WR_SEND, VS_WC_REM_INV_REQ_ERR, VS_REASON_NAK_INV_REQ},
		{VS_WR_SEND, VS_WC_REM_ACCESS_ERR, VS_REASON_NAK_REM_ACCESS},
		{VS_WR_SEND, VS_WC_REM_OP_ERR, VS_REASON_NAK_REM_OP},
		{VS_WR_SEND, VS_WC_RNR_RETRY_EXC_ERR, VS_REASON_RNR_RETRY_EXCEEDED},
		{VS_WR_SEND, VS_WC_RETRY_EXC_ERR, VS_REASON_RETRY_EXCEEDED},
		{VS_WR_SEND, VS_WC_BAD_RESP_ERR, VS_REASON_RESPONSE_OPCODE},
		{VS_WR_ATOMIC_FETCH_AND_ADD, VS_WC_BAD_RESP_ERR, VS_REASON_RESPONSE_OPCODE},
		{VS_WR_RDMA_READ, VS_WC_BAD_RESP_ERR, VS_REASON_READ_RESPONSE_SEQUENCE},
		{VS_WR_RDMA_READ, VS_WC_LOC_LEN_ERR, VS_REASON_READ_RESPONSE_LENGTH},
		{VS_WR_SEND, VS_WC_WR_FLUSH_ERR, VS_REASON_FLUSHED},
	};
	struct rig_opt o = {.retry_cnt = RIG_ZERO, .rnr_retry = RIG_ZERO};
	struct rig *r = rig_new(&o);
	struct vs_qp_attr err = {.state = VS_QPS_ERR};
	const struct vs_event *state;

	rig_post(r, t[_i].op, 1, 0, 8);
	rig_drain(r);
	if (_i < 3)
		rig_in_ack(r, D, (uint8_t)(0x61 + _i), 0);
	else if (_i == 3)
		rig_in_ack(r, D, 0x20 | 12, 0);
	else if (_i == 4)
		rig_advance(r, TO_RTS);
	else if (_i < 7)
		rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_ONLY, D, 8, 1);
	else if (_i == 7)
		rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_LAST, D, 8, 1);
	else if (_i == 8)
		rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_ONLY, D, 12, 1);
	else
		ck_assert_int_eq(vs_qp_modify(r->qp, &err, VS_QP_STATE), VS_OK);
	ck_assert_uint_eq(rig_expect_wc(r, r->scq, 1, t[_i].status).vendor_err, t[_i].why);
	state = last_of(r, VS_EV_QP_STATE);
	ck_assert(state->a[1] == VS_QPS_ERR && state->a[2] == (_i == 9 ? VS_REASON_BY_USER : t[_i].why));
	rig_free(r);
}
END_TEST

/* Programs tell the two queues apart by it, in flushed completions, too. */
START_TEST(cq_015_a_failed_completion_says_which_queue_it_is_of)
{
	struct rig *r = rig_new(NULL);
	struct vs_qp_attr err = {.state = VS_QPS_ERR};
	struct vs_wc flushed;

	rig_post_recv(r, 1, 0, 63);
	rig_post_recv(r, 2, 0, 64);
	rig_post(r, VS_WR_RDMA_READ, 3, 128, 8);
	if (_i == 0)
		ck_assert_int_eq(vs_qp_modify(r->qp, &err, VS_QP_STATE), VS_OK);
	else
		rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 64);
	ck_assert_int_eq(rig_expect_wc(r, r->rcq, 1, _i == 0 ? VS_WC_WR_FLUSH_ERR : VS_WC_LOC_LEN_ERR).opcode,
			 VS_WC_RECV);
	ck_assert_int_eq(rig_expect_wc(r, r->rcq, 2, VS_WC_WR_FLUSH_ERR).opcode, VS_WC_RECV);
	flushed = rig_expect_wc(r, r->scq, 3, VS_WC_WR_FLUSH_ERR);
	ck_assert(flushed.opcode == VS_WC_RDMA_READ && flushed.byte_len == 0);
	rig_free(r);
}
END_TEST

/* ---- counters ---- */

struct counted {
	enum vs_counter c;
	uint64_t n;
};

static void counters_are(const struct rig *r, const struct counted *want)
{
	for (int c = 0; c < VS_CNT_COUNT; c++) {
		uint64_t n = 0;

		for (unsigned i = 0; i < 6; i++)
			n += want[i].c == (enum vs_counter)c ? want[i].n : 0;
		ck_assert_msg(rig_counter(r, (enum vs_counter)c) == n, "%s is %llu, not %llu",
			      vs_counter_name((enum vs_counter)c),
			      (unsigned long long)rig_counter(r, (enum vs_counter)c), (unsigned long long)n);
	}
}

static void sends(struct rig *r, enum vs_wr_opcode op, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		ck_assert_int_eq(rig_post(r, op, i, i * 64, 8), VS_OK);
	ck_assert_uint_eq(rig_drain(r), n);
}

static void happens(struct rig *r, int kind)
{
	struct vs_pkt p = rig_pkt(r, VS_OP_RC_SEND_ONLY, P);

	switch (kind) {
	case 0:
	case 1:
	case 2:
		sends(r, kind == 0 ? VS_WR_SEND : kind == 1 ? VS_WR_SEND_WITH_IMM : VS_WR_SEND_WITH_INV, 3);
		rig_in_ack(r, D + 2, 0x1f, 3);
		break;
	case 3:
		sends(r, VS_WR_RDMA_WRITE, 1);
		rig_in_ack(r, D, 0x1f, 1);
		break;
	case 4:
		rig_post_recv(r, 1, 0, 64);
		rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 8);
		rig_drain(r);
		rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 8); /* again */
		rig_drain(r);
		break;
	case 5:
		rig_in_send(r, VS_OP_RC_SEND_ONLY, P + 1, 8);
		rig_in_send(r, VS_OP_RC_SEND_ONLY, P + 2, 8);
		rig_drain(r);
		break;
	case 6:
		rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 8);
		rig_drain(r);
		break;
	case 7:
		sends(r, VS_WR_SEND, 1);
		rig_in_ack(r, D, 0x20 | 12, 0);
		break;
	case 8:
		sends(r, VS_WR_SEND, 2);
		rig_in_ack(r, D + 1, 0x60, 1);
		break;
	case 9:
		sends(r, VS_WR_SEND, 1);
		rig_advance(r, TO_RTS);
		break;
	case 10:
		sends(r, VS_WR_RDMA_READ, 2);
		rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_ONLY, D + 1, 8, 1);
		break;
	case 11:
		vs_dev_set_link(r->dev, false);
		vs_dev_set_link(r->dev, false);
		vs_dev_set_link(r->dev, true);
		break;
	case 12:
		p.bth.pkey = 0x1234;
		rig_in(r, &p);
		break;
	case 13:
		p.bth.tver = 1;
		rig_in(r, &p);
		break;
	case 14:
		p.bth.destqp ^= 1;
		rig_in(r, &p);
		break;
	default:
		rig_in_bytes(r, p.eth.dst, 6);
		break;
	}
}

START_TEST(what_happens_is_counted_under_its_name_alone)
{
	static const struct counted t[][6] = {
		{{VS_CNT_SENT_PKTS, 3}, {VS_CNT_RCVD_PKTS, 1}, {VS_CNT_RDMA_SENDS, 3}},
		{{VS_CNT_SENT_PKTS, 3}, {VS_CNT_RCVD_PKTS, 1}, {VS_CNT_RDMA_SENDS, 3}},
		{{VS_CNT_SENT_PKTS, 3}, {VS_CNT_RCVD_PKTS, 1}, {VS_CNT_RDMA_SENDS, 3}},
		{{VS_CNT_SENT_PKTS, 1}, {VS_CNT_RCVD_PKTS, 1}},
		{{VS_CNT_SENT_PKTS, 2}, {VS_CNT_RCVD_PKTS, 2}, {VS_CNT_RDMA_RECVS, 1}, {VS_CNT_DUPLICATE_REQUEST, 1}},
		{{VS_CNT_SENT_PKTS, 1}, {VS_CNT_RCVD_PKTS, 2}, {VS_CNT_OUT_OF_SEQ_REQUEST, 2}},
		{{VS_CNT_SENT_PKTS, 1}, {VS_CNT_RCVD_PKTS, 1}, {VS_CNT_SEND_RNR_ERR, 1}},
		{{VS_CNT_SENT_PKTS, 1}, {VS_CNT_RCVD_PKTS, 1}, {VS_CNT_RCVD_RNR_ERR, 1}},
		{{VS_CNT_SENT_PKTS, 2},
		 {VS_CNT_RCVD_PKTS, 1},
		 {VS_CNT_RCVD_SEQ_ERR, 1},
		 {VS_CNT_COMPLETER_RETRY_ERR, 1},
		 {VS_CNT_RDMA_SENDS, 1}},
		{{VS_CNT_SENT_PKTS, 1}, {VS_CNT_LOCAL_ACK_TIMEOUT_ERR, 1}, {VS_CNT_COMPLETER_RETRY_ERR, 1}},
		{{VS_CNT_SENT_PKTS, 2},
		 {VS_CNT_RCVD_PKTS, 1},
		 {VS_CNT_IMPLIED_NAK_SEQ_ERR, 1},
		 {VS_CNT_COMPLETER_RETRY_ERR, 1}},
		{{VS_CNT_LINK_DOWNED, 1}},
		{{VS_CNT_BAD_PKEY, 1}},
		{{VS_CNT_RX_MALFORMED, 1}},
		{{VS_CNT_SENT_PKTS, 0}}, /* for another QP: no fault of anybody */
		{{VS_CNT_RX_MALFORMED, 1}},
		/* the same, when it was the last try */
		{{VS_CNT_SENT_PKTS, 1},
		 {VS_CNT_RCVD_PKTS, 1},
		 {VS_CNT_RCVD_RNR_ERR, 1},
		 {VS_CNT_RETRY_RNR_EXCEEDED_ERR, 1}},
		{{VS_CNT_SENT_PKTS, 2},
		 {VS_CNT_RCVD_PKTS, 1},
		 {VS_CNT_RCVD_SEQ_ERR, 1},
		 {VS_CNT_RETRY_EXCEEDED_ERR, 1},
		 {VS_CNT_RDMA_SENDS, 1}},
		{{VS_CNT_SENT_PKTS, 1}, {VS_CNT_LOCAL_ACK_TIMEOUT_ERR, 1}, {VS_CNT_RETRY_EXCEEDED_ERR, 1}},
		{{VS_CNT_SENT_PKTS, 2},
		 {VS_CNT_RCVD_PKTS, 1},
		 {VS_CNT_IMPLIED_NAK_SEQ_ERR, 1},
		 {VS_CNT_RETRY_EXCEEDED_ERR, 1}},
	};
	struct rig_opt o = {.retry_cnt = RIG_ZERO, .rnr_retry = RIG_ZERO};
	struct rig *r = rig_new(_i >= 16 ? &o : NULL);

	happens(r, _i >= 16 ? _i - 9 : _i);
	counters_are(r, t[_i]);
	rig_free(r);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("core why");
	TCase *tc = tcase_create("reasons");

	tcase_add_loop_test(tc, a_refused_request_says_why, 0, REFUSALS);
	tcase_add_loop_test(tc, rse_023_an_atomic_at_the_end_of_its_region, 0, 2);
	tcase_add_loop_test(tc, rse_046_a_key_that_is_not_invalidated_says_why, 0, 3);
	tcase_add_loop_test(tc, req_037_a_request_that_fails_here_says_why, 0, 18);
	tcase_add_loop_test(tc, a_failed_completion_says_what_the_peer_or_the_time_did, 0, 10);
	tcase_add_loop_test(tc, cq_015_a_failed_completion_says_which_queue_it_is_of, 0, 2);
	suite_add_tcase(s, tc);

	tc = tcase_create("counters");
	tcase_add_loop_test(tc, what_happens_is_counted_under_its_name_alone, 0, 20);
	suite_add_tcase(s, tc);
	return s;
}
