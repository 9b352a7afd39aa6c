/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * mw.h - what the tests of memory windows share: binding, and whether a key opens what it should.
 */
#ifndef VS_TESTS_MW_H
#define VS_TESTS_MW_H

#include "qps.h"

#define P RIG_PEER_PSN
#define D RIG_DUT_PSN
#define OFF 8192u /* windows stand on mem[OFF ..) */
#define LEN 4096u

#define RIGHTS (VS_ACCESS_REMOTE_WRITE | VS_ACCESS_REMOTE_READ | VS_ACCESS_REMOTE_ATOMIC)

static inline struct vs_mw *window(struct vs_pd *pd, enum vs_mw_type type)
{
	int err = VS_ERR_INVAL;
	struct vs_mw *mw = vs_mw_alloc(pd, type, &err);

	ck_assert_ptr_nonnull(mw);
	ck_assert_int_eq(err, VS_OK);
	return mw;
}

static inline struct vs_mr *region(struct rig *r, struct vs_pd *pd, uint32_t access)
{
	struct vs_mr_attr a = {MEM(r, OFF), LEN, MEM(r, OFF), access};
	int err;
	struct vs_mr *mr = vs_mr_reg(pd, &a, &err);

	ck_assert_ptr_nonnull(mr);
	return mr;
}

/* BIND of `mw` to [OFF, OFF + LEN) of the rig's region, id 50. */
static inline struct vs_send_wr bind_wr(struct rig *r, struct vs_mw *mw, uint32_t access)
{
	struct vs_send_wr wr = {.wr_id = 50, .opcode = VS_WR_BIND_MW, .flags = VS_SEND_SIGNALED};

	wr.bind.mw = mw;
	wr.bind.mr = r->mr;
	wr.bind.rkey = vs_mw_rkey(mw) + 1;
	wr.bind.addr = MEM(r, OFF);
	wr.bind.length = LEN;
	wr.bind.access = access;
	return wr;
}

static inline void post(struct rig *r, const struct vs_send_wr *wr)
{
	ck_assert_int_eq(vs_qp_post_send(r->qp, wr), VS_OK);
}

/* The bind succeeds, without a packet; the key that it gave. */
static inline uint32_t bound(struct rig *r, struct vs_mw *mw, const struct vs_send_wr *wr)
{
	uint32_t before = vs_mw_rkey(mw), key = before;

	post(r, wr);
	rig_expect_silence(r);
	ck_assert_int_eq(rig_expect_wc(r, r->scq, 50, VS_WC_SUCCESS).opcode, VS_WC_BIND_MW);
	key = vs_mw_rkey(mw);
	ck_assert_uint_eq(key >> 8, before >> 8); /* the index stays */
	return key;
}

/* The bind fails: the completion, ERR, the rest flushed; the window is as it was. */
static inline void not_bound(struct rig *r, struct vs_mw *mw, const struct vs_send_wr *wr, enum vs_reason why)
{
	uint32_t before = vs_mw_rkey(mw);

	post(r, wr);
	rig_post(r, VS_WR_SEND, 51, 0, 8);
	rig_expect_silence(r);
	ck_assert_uint_eq(rig_expect_wc(r, r->scq, 50, VS_WC_MW_BIND_ERR).vendor_err, why);
	rig_expect_wc(r, r->scq, 51, VS_WC_WR_FLUSH_ERR);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_ERR);
	ck_assert_uint_eq(vs_mw_rkey(mw), before);
	nothing_happens(r);
}

static inline void next_qp(struct rig *r)
{
	struct vs_qp_init init = {.type = VS_QPT_RC, .send_cq = r->scq, .recv_cq = r->rcq, .cap = {16, 16, 4, 4, 0}};

	r->qp = rig_qp(r, &init);
	rig_to(r, r->qp, VS_QPS_RTS);
}

static inline void opens(struct rig *r, int kind, uint32_t psn, uint64_t va, uint32_t rkey)
{
	static const uint8_t op[] = {VS_OP_RC_ACKNOWLEDGE, VS_OP_RC_READ_RESPONSE_ONLY, VS_OP_RC_ATOMIC_ACKNOWLEDGE};

	rig_in_op(r, kind, psn, va, rkey);
	ck_assert_uint_eq(rig_expect(r, op[kind], psn).ext.aeth.syndrome, 0x1f);
	rig_expect_silence(r);
}

/* NAK remote access error because of `why`; nothing is written; the rig goes on with a fresh QP. */
static inline void shut(struct rig *r, int kind, uint32_t psn, uint64_t va, uint32_t rkey, enum vs_reason why)
{
	uint32_t i, msn = r->qp->resp.msn;

	memset(r->mem + OFF, 0xee, LEN);
	rig_in_op(r, kind, psn, va, rkey);
	rig_expect_nak(r, psn, 0x62, msn);
	rig_expect_async(r, VS_EVENT_QP_ACCESS_ERR);
	nothing_happens(r);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_ERR);
	for (i = r->log_len; i > 0; i--)
		if (r->log[i - 1].type == VS_EV_RC_REFUSE)
			break;
	ck_assert_uint_gt(i, 0);
	ck_assert_msg(r->log[i - 1].a[0] == (uint64_t)why, "refused for %s, expected %s",
		      vs_reason_info((enum vs_reason)r->log[i - 1].a[0])->id, vs_reason_info(why)->id);
	for (i = 0; i < LEN; i++)
		if (r->mem[OFF + i] != 0xee)
			ck_abort_msg("byte %u was written", i);
	next_qp(r);
}

static inline void invalidate(struct rig *r, uint32_t key)
{
	struct vs_send_wr wr = {
		.wr_id = 60, .opcode = VS_WR_LOCAL_INV, .flags = VS_SEND_SIGNALED, .invalidate_rkey = key};

	post(r, &wr);
	rig_expect_silence(r);
	ck_assert_int_eq(rig_expect_wc(r, r->scq, 60, VS_WC_SUCCESS).opcode, VS_WC_LOCAL_INV);
}

#endif
