/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_mw.c - MW rows of the inventory, MR-003 and MR-011: memory windows. Each test is one row; its name begins with
 * the id.
 *
 * Implementation-defined rows, and the variant that the engine is:
 *   MR-003           EBUSY while a window is bound
 *   MW-003, MW-013   the completion MW_BIND_ERR, not an error of the call (which ibv_bind_mw may make of it)
 *   MW-008           LOC_QP_OP_ERR
 *   MW-012           found at the bind
 * MW-006: when old and new key are equal nothing is said of the old binding (the amendment).
 */
#include "qps.h"

#define P RIG_PEER_PSN
#define D RIG_DUT_PSN
#define OFF 8192u /* windows stand on mem[OFF ..) */
#define LEN 4096u

static struct vs_mw *window(struct vs_pd *pd, enum vs_mw_type type)
{
	int err = VS_ERR_INVAL;
	struct vs_mw *mw = vs_mw_alloc(pd, type, &err);

	ck_assert_ptr_nonnull(mw);
	ck_assert_int_eq(err, VS_OK);
	return mw;
}

static struct vs_mr *region(struct rig *r, struct vs_pd *pd, uint32_t access)
{
	struct vs_mr_attr a = {MEM(r, OFF), LEN, MEM(r, OFF), access};
	int err;
	struct vs_mr *mr = vs_mr_reg(pd, &a, &err);

	ck_assert_ptr_nonnull(mr);
	return mr;
}

/* BIND of `mw` to [OFF, OFF + LEN) of the rig's region, id 50. */
static struct vs_send_wr bind_wr(struct rig *r, struct vs_mw *mw, uint32_t access)
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

static void post(struct rig *r, const struct vs_send_wr *wr)
{
	ck_assert_int_eq(vs_qp_post_send(r->qp, wr), VS_OK);
}

/* The bind succeeds, without a packet; the key that it gave. */
static uint32_t bound(struct rig *r, struct vs_mw *mw, const struct vs_send_wr *wr)
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
static void not_bound(struct rig *r, struct vs_mw *mw, const struct vs_send_wr *wr, enum vs_reason why)
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

static void next_qp(struct rig *r)
{
	struct vs_qp_init init = {.type = VS_QPT_RC, .send_cq = r->scq, .recv_cq = r->rcq, .cap = {16, 16, 4, 4, 0}};

	r->qp = rig_qp(r, &init);
	rig_to(r, r->qp, VS_QPS_RTS);
}

/* A request of the peer for 8 bytes: 0 WRITE, 1 READ, 2 FETCH_ADD. */
static void in_op(struct rig *r, int kind, uint32_t psn, uint64_t va, uint32_t rkey)
{
	struct vs_pkt p = rig_pkt(r, VS_OP_RC_FETCH_ADD, psn);

	if (kind == 0) {
		rig_in_write(r, VS_OP_RC_WRITE_ONLY, psn, va, rkey, 8, 8);
	} else if (kind == 1) {
		rig_in_read(r, psn, va, rkey, 8);
	} else {
		p.ext.atomiceth.va = va;
		p.ext.atomiceth.rkey = rkey;
		p.ext.atomiceth.swapadd = 1;
		rig_in(r, &p);
	}
}

static void opens(struct rig *r, int kind, uint32_t psn, uint64_t va, uint32_t rkey)
{
	static const uint8_t op[] = {VS_OP_RC_ACKNOWLEDGE, VS_OP_RC_READ_RESPONSE_ONLY, VS_OP_RC_ATOMIC_ACKNOWLEDGE};

	in_op(r, kind, psn, va, rkey);
	ck_assert_uint_eq(rig_expect(r, op[kind], psn).ext.aeth.syndrome, 0x1f);
	rig_expect_silence(r);
}

/* NAK remote access error because of `why`; nothing is written; the rig goes on with a fresh QP. */
static void shut(struct rig *r, int kind, uint32_t psn, uint64_t va, uint32_t rkey, enum vs_reason why)
{
	uint32_t i, msn = r->qp->resp.msn;

	memset(r->mem + OFF, 0xee, LEN);
	in_op(r, kind, psn, va, rkey);
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

#define RIGHTS (VS_ACCESS_REMOTE_WRITE | VS_ACCESS_REMOTE_READ | VS_ACCESS_REMOTE_ATOMIC)

/* ---- type 1 ---- */

START_TEST(mw_001_a_type_1_window_opens_its_range_to_every_qp_of_the_domain)
{
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw = window(r->pd, VS_MW_TYPE_1);
	struct vs_send_wr wr = bind_wr(r, mw, RIGHTS);
	uint32_t before = vs_mw_rkey(mw), key;
	int kind;

	shut(r, 0, P, MEM(r, OFF), before, VS_REASON_RKEY_INVALID); /* not bound yet */
	wr.bind.rkey = 0xffffffff;                                  /* the device chooses */
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	key = vs_mw_posted_rkey(mw); /* known at the post, valid when it is executed */
	ck_assert_uint_eq(vs_mw_rkey(mw), before);
	rig_expect_silence(r);
	rig_expect_wc(r, r->scq, 50, VS_WC_SUCCESS);
	ck_assert_uint_eq(vs_mw_rkey(mw), key);
	ck_assert(key != before && key >> 8 == before >> 8);
	for (kind = 0; kind < 3; kind++)
		opens(r, kind, P + (uint32_t)kind, MEM(r, OFF), key);
	opens(r, 0, P + 3, MEM(r, OFF) + LEN - 8, key);
	shut(r, 0, P + 4, MEM(r, OFF) - 8, key, VS_REASON_RKEY_RANGE);
	opens(r, 0, P, MEM(r, OFF), key); /* another QP */
	shut(r, 1, P + 1, MEM(r, OFF) + LEN - 4, key, VS_REASON_RKEY_RANGE);
	shut(r, 0, P, MEM(r, OFF), before, VS_REASON_RKEY_INVALID);
	rig_free(r);
}
END_TEST

START_TEST(mw_001_binding_again_moves_the_window_and_kills_the_old_key)
{
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw = window(r->pd, VS_MW_TYPE_1);
	struct vs_send_wr wr = bind_wr(r, mw, RIGHTS);
	uint32_t first = bound(r, mw, &wr), second;

	wr.bind.addr += 64;
	wr.bind.length = 64;
	wr.bind.access = VS_ACCESS_REMOTE_WRITE;
	second = bound(r, mw, &wr);
	ck_assert_uint_ne(first, second);
	opens(r, 0, P, MEM(r, OFF) + 64, second);
	shut(r, 0, P + 1, MEM(r, OFF), second, VS_REASON_RKEY_RANGE);
	shut(r, 1, P, MEM(r, OFF) + 64, second, VS_REASON_RKEY_ACCESS);
	shut(r, 0, P, MEM(r, OFF) + 64, first, VS_REASON_RKEY_INVALID);
	rig_free(r);
}
END_TEST

START_TEST(mw_002_length_0_unbinds_type_1)
{
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw = window(r->pd, VS_MW_TYPE_1);
	struct vs_mr *mr = region(r, r->pd, 0x1f);
	struct vs_send_wr wr = bind_wr(r, mw, RIGHTS);
	uint32_t key, unbound;

	wr.bind.mr = mr;
	key = bound(r, mw, &wr);
	opens(r, 0, P, MEM(r, OFF), key);
	ck_assert_int_eq(vs_mr_dereg(mr), VS_ERR_BUSY);
	wr.bind.length = 0;
	wr.bind.mr = _i == 0 ? mr : NULL;
	unbound = bound(r, mw, &wr);
	ck_assert_int_eq(vs_mr_dereg(mr), VS_OK);
	shut(r, 0, P + 1, MEM(r, OFF), key, VS_REASON_RKEY_INVALID);
	shut(r, 0, P, MEM(r, OFF), unbound, VS_REASON_RKEY_INVALID);
	rig_free(r);
}
END_TEST

START_TEST(mw_003_type_1_is_never_zero_based)
{
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw = window(r->pd, VS_MW_TYPE_1);
	struct vs_send_wr wr = bind_wr(r, mw, VS_ACCESS_REMOTE_WRITE);
	uint32_t key = bound(r, mw, &wr);

	wr.bind.access |= VS_ACCESS_ZERO_BASED;
	not_bound(r, mw, &wr, VS_REASON_MW_ZERO_BASED);
	next_qp(r);
	opens(r, 0, P, MEM(r, OFF), key); /* the binding before it stands */
	rig_free(r);
}
END_TEST

/* ---- type 2 ---- */

START_TEST(mw_004_a_bound_type_2_window_is_not_bound_again)
{
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw = window(r->pd, VS_MW_TYPE_2);
	struct vs_send_wr wr = bind_wr(r, mw, RIGHTS);
	uint32_t key = bound(r, mw, &wr);

	ck_assert_uint_eq(key, wr.bind.rkey);
	opens(r, 0, P, MEM(r, OFF), key);
	if (_i == 1) { /* through another QP it is not either */
		struct vs_qp *first = r->qp;

		next_qp(r);
		not_bound(r, mw, &wr, VS_REASON_MW_NOT_FREE);
		r->qp = first;
		opens(r, 0, P + 1, MEM(r, OFF), key);
	} else {
		wr.bind.rkey++;
		not_bound(r, mw, &wr, VS_REASON_MW_NOT_FREE);
	}
	rig_free(r);
}
END_TEST

START_TEST(mw_005_a_type_2_window_needs_bytes_and_a_region)
{
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw = window(r->pd, _i < 2 ? VS_MW_TYPE_2 : VS_MW_TYPE_1);
	struct vs_send_wr wr = bind_wr(r, mw, RIGHTS);

	if (_i == 0)
		wr.bind.length = 0;
	else
		wr.bind.mr = NULL;
	not_bound(r, mw, &wr, _i == 0 ? VS_REASON_MW_LENGTH : VS_REASON_MW_NO_MR);
	rig_free(r);
}
END_TEST

static void invalidate(struct rig *r, uint32_t key)
{
	struct vs_send_wr wr = {
		.wr_id = 60, .opcode = VS_WR_LOCAL_INV, .flags = VS_SEND_SIGNALED, .invalidate_rkey = key};

	post(r, &wr);
	rig_expect_silence(r);
	ck_assert_int_eq(rig_expect_wc(r, r->scq, 60, VS_WC_SUCCESS).opcode, VS_WC_LOCAL_INV);
}

START_TEST(mw_006_the_key_byte_is_the_consumers_also_the_old_one)
{
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw = window(r->pd, VS_MW_TYPE_2);
	struct vs_send_wr wr = bind_wr(r, mw, RIGHTS);
	static const uint8_t bytes[] = {0x00, 0xff, 0xff, 0x5a};
	unsigned i;

	wr.bind.rkey = vs_mw_rkey(mw); /* the one it was made with */
	ck_assert_uint_eq(bound(r, mw, &wr), wr.bind.rkey);
	opens(r, 0, P, MEM(r, OFF), wr.bind.rkey);
	for (i = 0; i < COUNT(bytes); i++) {
		invalidate(r, vs_mw_rkey(mw));
		wr.bind.rkey = 0x11111100u | bytes[i]; /* the bits above do not count */
		ck_assert_uint_eq(bound(r, mw, &wr) & 0xff, bytes[i]);
		opens(r, 0, P + 1 + i, MEM(r, OFF), vs_mw_rkey(mw));
	}
	rig_free(r);
}
END_TEST

START_TEST(mw_007_a_local_invalidate_shuts_the_window)
{
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw = window(r->pd, VS_MW_TYPE_2);
	struct vs_mr *mr = region(r, r->pd, 0x1f);
	struct vs_send_wr wr = bind_wr(r, mw, RIGHTS);
	uint32_t key;

	wr.bind.mr = mr;
	key = bound(r, mw, &wr);
	opens(r, _i, P, MEM(r, OFF), key);
	invalidate(r, key);
	ck_assert_int_eq(vs_mr_dereg(mr), VS_OK);
	shut(r, _i, P + 1, MEM(r, OFF), key, VS_REASON_RKEY_INVALID);
	rig_free(r);
}
END_TEST

START_TEST(mw_007_what_is_invalid_is_not_invalidated_again)
{
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw = window(r->pd, VS_MW_TYPE_2);
	struct vs_send_wr wr = bind_wr(r, mw, RIGHTS),
			  inv = {.wr_id = 60, .opcode = VS_WR_LOCAL_INV, .flags = VS_SEND_SIGNALED};

	inv.invalidate_rkey = vs_mw_rkey(mw);
	if (_i == 1) { /* was bound, is not any more */
		inv.invalidate_rkey = bound(r, mw, &wr);
		invalidate(r, inv.invalidate_rkey);
	} else if (_i == 2) { /* the key before the bind */
		bound(r, mw, &wr);
	}
	post(r, &inv);
	rig_expect_silence(r);
	ck_assert_uint_eq(rig_expect_wc(r, r->scq, 60, VS_WC_LOC_QP_OP_ERR).vendor_err, VS_REASON_INV_KEY);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_ERR);
	rig_free(r);
}
END_TEST

START_TEST(mw_008_a_type_1_window_is_not_invalidated)
{
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw = window(r->pd, VS_MW_TYPE_1);
	struct vs_send_wr wr = bind_wr(r, mw, RIGHTS), inv = {.wr_id = 60, .opcode = VS_WR_LOCAL_INV};
	uint32_t key = bound(r, mw, &wr);

	inv.invalidate_rkey = key;
	post(r, &inv);
	rig_post(r, VS_WR_SEND, 61, 0, 8);
	rig_expect_silence(r);
	ck_assert_uint_eq(rig_expect_wc(r, r->scq, 60, VS_WC_LOC_QP_OP_ERR).vendor_err, VS_REASON_INV_TYPE_1);
	rig_expect_wc(r, r->scq, 61, VS_WC_WR_FLUSH_ERR);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_ERR);
	next_qp(r);
	opens(r, 0, P, MEM(r, OFF), key);
	rig_free(r);
}
END_TEST

START_TEST(mw_009_a_type_2_window_belongs_to_the_qp_that_bound_it)
{
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw = window(r->pd, VS_MW_TYPE_2);
	struct vs_send_wr wr = bind_wr(r, mw, RIGHTS),
			  inv = {.wr_id = 60, .opcode = VS_WR_LOCAL_INV, .flags = VS_SEND_SIGNALED};
	uint32_t key = bound(r, mw, &wr);
	struct vs_qp *owner = r->qp;

	next_qp(r);
	shut(r, _i, P, MEM(r, OFF), key, VS_REASON_RKEY_QP);
	inv.invalidate_rkey = key; /* nor may another QP invalidate it */
	post(r, &inv);
	rig_expect_silence(r);
	ck_assert_uint_eq(rig_expect_wc(r, r->scq, 60, VS_WC_LOC_QP_OP_ERR).vendor_err, VS_REASON_INV_QP);
	r->qp = owner;
	opens(r, _i, P, MEM(r, OFF), key);
	rig_free(r);
}
END_TEST

/* ---- what a bind checks ---- */

START_TEST(mw_010_a_region_that_takes_no_windows)
{
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw = window(r->pd, (enum vs_mw_type)(1 + _i));
	struct vs_send_wr wr = bind_wr(r, mw, VS_ACCESS_REMOTE_READ);

	wr.bind.mr = region(r, r->pd, 0xf);
	not_bound(r, mw, &wr, VS_REASON_MW_NO_BIND_RIGHT);
	ck_assert_int_eq(vs_mr_dereg(wr.bind.mr), VS_OK);
	rig_free(r);
}
END_TEST

START_TEST(mw_011_remote_writes_need_a_region_that_is_written_locally)
{
	static const uint32_t access[] = {VS_ACCESS_REMOTE_WRITE, VS_ACCESS_REMOTE_READ, VS_ACCESS_REMOTE_ATOMIC};
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw = window(r->pd, (enum vs_mw_type)(1 + _i / 3));
	struct vs_send_wr wr = bind_wr(r, mw, access[_i % 3]);

	/* No remote right of its own: the window has its own. */
	wr.bind.mr = region(r, r->pd, VS_ACCESS_MW_BIND);
	if (_i % 3 != 1) {
		not_bound(r, mw, &wr, VS_REASON_MR_LOCAL_WRITE);
		next_qp(r);
		wr.bind.mr = region(r, r->pd, VS_ACCESS_MW_BIND | VS_ACCESS_LOCAL_WRITE);
	}
	opens(r, _i % 3, P, MEM(r, OFF), bound(r, mw, &wr));
	rig_free(r);
}
END_TEST

START_TEST(mw_011_rights_that_a_window_does_not_have)
{
	static const uint32_t access[] = {VS_ACCESS_LOCAL_WRITE, VS_ACCESS_MW_BIND, VS_ACCESS_FLUSH_GLOBAL, 1u << 20};
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw = window(r->pd, VS_MW_TYPE_2);
	struct vs_send_wr wr = bind_wr(r, mw, VS_ACCESS_REMOTE_READ | access[_i]);

	not_bound(r, mw, &wr, VS_REASON_MR_ACCESS);
	rig_free(r);
}
END_TEST

START_TEST(mw_012_a_range_outside_the_region)
{
	static const struct {
		int64_t from; /* relative to the region */
		uint64_t length;
	} bad[] = {
		{-1, LEN},           {-8, 8},           {1, LEN},          {0, LEN + 1}, {LEN, 1}, {0, UINT64_MAX},
		{8, UINT64_MAX - 7}, {-16, UINT64_MAX}, {LEN + 1, 0x1000},
	};
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw = window(r->pd, (enum vs_mw_type)(1 + _i % 2));
	struct vs_send_wr wr = bind_wr(r, mw, RIGHTS);
	uint32_t key;
	unsigned i;

	wr.bind.mr = region(r, r->pd, 0x1f);
	for (i = 0; i < COUNT(bad); i++) {
		wr.bind.addr = MEM(r, OFF) + (uint64_t)bad[i].from;
		wr.bind.length = bad[i].length;
		not_bound(r, mw, &wr, VS_REASON_MW_RANGE);
		next_qp(r);
	}
	wr.bind.addr = MEM(r, OFF) + LEN - 1; /* the last byte alone */
	wr.bind.length = 1;
	key = bound(r, mw, &wr);
	rig_in_write(r, VS_OP_RC_WRITE_ONLY, P, MEM(r, OFF) + LEN - 1, key, 1, 1);
	rig_expect_ack(r, P, 1);
	rig_free(r);
}
END_TEST

START_TEST(mw_013_window_region_and_qp_of_different_domains)
{
	struct rig *r = rig_new(NULL);
	int err;
	struct vs_pd *other = vs_pd_create(r->dev, &err);
	enum vs_mw_type type = (enum vs_mw_type)(1 + _i / 3);
	struct vs_mw *mw = window(_i % 3 == 1 ? r->pd : other, type);
	struct vs_send_wr wr = bind_wr(r, mw, RIGHTS);

	/* 0: the window alone; 1: the region alone; 2: both, so the QP is the odd one */
	wr.bind.mr = region(r, _i % 3 == 0 ? r->pd : other, 0x1f);
	not_bound(r, mw, &wr, VS_REASON_MW_PD);
	ck_assert_int_eq(vs_mr_dereg(wr.bind.mr), VS_OK);
	rig_free(r);
}
END_TEST

START_TEST(mw_014_a_window_opens_for_its_own_rights_alone)
{
	static const uint32_t access[] = {VS_ACCESS_REMOTE_WRITE, VS_ACCESS_REMOTE_READ, VS_ACCESS_REMOTE_ATOMIC};
	struct rig *r = rig_new(NULL);
	enum vs_mw_type type = (enum vs_mw_type)(1 + _i / 3);
	int kind;

	for (kind = 0; kind < 3; kind++) {
		struct vs_mw *mw = window(r->pd, type);
		struct vs_send_wr wr = bind_wr(r, mw, access[_i % 3]);
		uint32_t key = bound(r, mw, &wr);

		opens(r, _i % 3, P, MEM(r, OFF), key);
		if (kind == _i % 3)
			next_qp(r);
		else /* though the region would allow it */
			shut(r, kind, P + 1, MEM(r, OFF), key, VS_REASON_RKEY_ACCESS);
	}
	rig_free(r);
}
END_TEST

START_TEST(mw_013_a_qp_of_another_domain_does_not_open_the_window)
{
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw = window(r->pd, VS_MW_TYPE_1);
	struct vs_send_wr wr = bind_wr(r, mw, RIGHTS);
	uint32_t key = bound(r, mw, &wr);
	struct vs_pd *home = r->pd;
	int err;

	r->pd = vs_pd_create(r->dev, &err);
	next_qp(r);
	shut(r, _i, P, MEM(r, OFF), key, VS_REASON_RKEY_PD);
	r->pd = home;
	next_qp(r);
	opens(r, _i, P, MEM(r, OFF), key);
	rig_free(r);
}
END_TEST

START_TEST(mw_014_a_zero_based_type_2_window_counts_from_0)
{
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw = window(r->pd, VS_MW_TYPE_2);
	struct vs_send_wr wr = bind_wr(r, mw, RIGHTS | VS_ACCESS_ZERO_BASED);
	uint32_t key = bound(r, mw, &wr);

	opens(r, 0, P, 8, key);
	ck_assert_mem_eq(r->mem + OFF + 8, rig_pattern(P), 8);
	opens(r, 0, P + 1, LEN - 8, key);
	if (_i == 0)
		shut(r, 0, P + 2, LEN - 7, key, VS_REASON_RKEY_RANGE);
	else
		shut(r, 0, P + 2, MEM(r, OFF), key, VS_REASON_RKEY_RANGE);
	rig_free(r);
}
END_TEST

/* ---- the end of a window ---- */

START_TEST(mw_015_a_qp_is_destroyed_with_its_windows_bound)
{
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw = window(r->pd, VS_MW_TYPE_2);
	struct vs_mr *mr = region(r, r->pd, 0x1f);
	struct vs_send_wr wr = bind_wr(r, mw, RIGHTS);
	struct vs_qp *owner = r->qp;
	uint32_t key;

	wr.bind.mr = mr;
	key = bound(r, mw, &wr);
	next_qp(r);
	if (_i == 0)
		ck_assert_int_eq(vs_qp_destroy(owner), VS_OK);
	else /* the same goes for its next life */
		ck_assert_int_eq(vs_qp_modify(owner, &(struct vs_qp_attr){.state = VS_QPS_RESET}, VS_QP_STATE), VS_OK);
	shut(r, 0, P, MEM(r, OFF), key, VS_REASON_RKEY_INVALID);
	ck_assert_int_eq(vs_mr_dereg(mr), VS_OK);
	wr.bind.mr = r->mr; /* the window is free */
	opens(r, 0, P, MEM(r, OFF), bound(r, mw, &wr));
	rig_free(r);
}
END_TEST

START_TEST(mw_015_a_type_1_window_outlives_the_qp_that_bound_it)
{
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw = window(r->pd, VS_MW_TYPE_1);
	struct vs_send_wr wr = bind_wr(r, mw, RIGHTS);
	struct vs_qp *binder = r->qp;
	uint32_t key = bound(r, mw, &wr);

	next_qp(r);
	ck_assert_int_eq(vs_qp_destroy(binder), VS_OK);
	opens(r, 0, P, MEM(r, OFF), key);
	rig_free(r);
}
END_TEST

START_TEST(mr_003_a_region_with_a_window_on_it_stays)
{
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw[2] = {window(r->pd, VS_MW_TYPE_1), window(r->pd, VS_MW_TYPE_2)};
	struct vs_mr *mr = region(r, r->pd, 0x1f);
	unsigned i;

	for (i = 0; i < 2; i++) {
		struct vs_send_wr wr = bind_wr(r, mw[i], RIGHTS);

		wr.bind.mr = mr;
		bound(r, mw[i], &wr);
	}
	for (i = 0; i < 2; i++) {
		ck_assert_int_eq(vs_mr_dereg(mr), VS_ERR_BUSY);
		ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_MR_BOUND);
		opens(r, 0, P + i, MEM(r, OFF), vs_mr_rkey(mr)); /* as alive as before */
		ck_assert_int_eq(vs_mw_dealloc(mw[i]), VS_OK);
	}
	ck_assert_int_eq(vs_mr_dereg(mr), VS_OK);
	rig_free(r);
}
END_TEST

START_TEST(mr_011_another_key_byte_kills_the_old_key)
{
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw = window(r->pd, VS_MW_TYPE_2);
	struct vs_send_wr wr = bind_wr(r, mw, RIGHTS);
	uint32_t old = bound(r, mw, &wr), key;

	invalidate(r, old);
	wr.bind.rkey = old + 7;
	key = bound(r, mw, &wr);
	ck_assert_uint_eq(key, (old & ~0xffu) | ((old + 7) & 0xff));
	opens(r, 0, P, MEM(r, OFF), key);
	shut(r, 0, P + 1, MEM(r, OFF), old, VS_REASON_RKEY_INVALID);
	rig_free(r);
}
END_TEST

START_TEST(mw_015_a_deallocated_window_opens_nothing)
{
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw = window(r->pd, (enum vs_mw_type)(1 + _i));
	struct vs_send_wr wr = bind_wr(r, mw, RIGHTS);
	uint32_t key = bound(r, mw, &wr);

	opens(r, 0, P, MEM(r, OFF), key);
	ck_assert_int_eq(vs_mw_dealloc(mw), VS_OK);
	shut(r, 0, P + 1, MEM(r, OFF), key, VS_REASON_RKEY_INVALID);
	rig_free(r);
}
END_TEST

START_TEST(mw_005_a_window_or_region_that_goes_between_post_and_bind)
{
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw = window(r->pd, VS_MW_TYPE_2);
	struct vs_mr *mr = region(r, r->pd, 0x1f);
	struct vs_send_wr wr = bind_wr(r, mw, RIGHTS);

	wr.bind.mr = mr;
	post(r, &wr);
	if (_i == 0)
		ck_assert_int_eq(vs_mw_dealloc(mw), VS_OK);
	else if (_i == 1)
		ck_assert_int_eq(vs_mr_dereg(mr), VS_OK);
	else /* its key is another one now: the region that was meant is gone */
		ck_assert_int_eq(vs_mr_rereg(mr, VS_REREG_ACCESS, NULL, &(struct vs_mr_attr){.access = 0x1f}), VS_OK);
	rig_expect_silence(r);
	ck_assert_uint_eq(rig_expect_wc(r, r->scq, 50, VS_WC_MW_BIND_ERR).vendor_err,
			  _i == 0 ? VS_REASON_MW_GONE : VS_REASON_MW_NO_MR);
	rig_free(r);
}
END_TEST

START_TEST(mw_001_a_bind_completes_behind_what_was_posted_before)
{
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw = window(r->pd, VS_MW_TYPE_2);
	struct vs_send_wr wr = bind_wr(r, mw, RIGHTS);

	rig_post(r, VS_WR_SEND, 1, 0, 8);
	post(r, &wr);
	rig_post(r, VS_WR_SEND, 2, 0, 8);
	rig_expect(r, VS_OP_RC_SEND_ONLY, D);
	rig_expect(r, VS_OP_RC_SEND_ONLY, D + 1); /* it takes no PSN */
	rig_expect_no_wc(r);
	opens(r, 0, P, MEM(r, OFF), vs_mw_rkey(mw)); /* done, and not told yet */
	rig_in_ack(r, D, 0x1f, 1);
	rig_expect_wc(r, r->scq, 1, VS_WC_SUCCESS);
	rig_expect_wc(r, r->scq, 50, VS_WC_SUCCESS);
	rig_expect_no_wc(r);
	rig_free(r);
}
END_TEST

START_TEST(mw_001_the_key_of_each_posted_bind_is_known_before_it_is_executed)
{
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw = window(r->pd, VS_MW_TYPE_1);
	struct vs_send_wr wr = bind_wr(r, mw, RIGHTS), bad = wr;
	uint32_t key[4];
	unsigned i;

	ck_assert_uint_eq(vs_mw_posted_rkey(mw), vs_mw_rkey(mw));
	for (i = 0; i < 3; i++) {
		post(r, &wr);
		key[i] = vs_mw_posted_rkey(mw);
		ck_assert(i == 0 || key[i] != key[i - 1]);
	}
	rig_expect_silence(r);
	for (i = 0; i < 3; i++)
		rig_expect_wc(r, r->scq, 50, VS_WC_SUCCESS);
	ck_assert_uint_eq(vs_mw_rkey(mw), key[2]);
	opens(r, 0, P, MEM(r, OFF), key[2]);
	shut(r, 0, P + 1, MEM(r, OFF), key[1], VS_REASON_RKEY_INVALID);
	bad.bind.length = 2 * (uint64_t)RIG_MEM; /* fails: its key is never valid, the next one is told right */
	not_bound(r, mw, &bad, VS_REASON_MW_RANGE);
	next_qp(r);
	key[3] = bound(r, mw, &wr);
	ck_assert_uint_eq(key[3], vs_mw_posted_rkey(mw));
	opens(r, 0, P, MEM(r, OFF), key[3]);
	rig_free(r);
}
END_TEST

START_TEST(mw_001_many_binds_posted_at_once)
{
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw = window(r->pd, VS_MW_TYPE_1);
	struct vs_send_wr wr = bind_wr(r, mw, RIGHTS);
	unsigned round, i;

	for (round = 0; round < 6; round++) { /* the key byte goes once around */
		for (i = 0; i < 64; i++)
			post(r, &wr);
		rig_expect_silence(r);
		for (i = 0; i < 64; i++)
			rig_expect_wc(r, r->scq, 50, VS_WC_SUCCESS);
		ck_assert_uint_eq(vs_mw_rkey(mw), vs_mw_posted_rkey(mw));
		opens(r, 0, P + round, MEM(r, OFF), vs_mw_rkey(mw));
	}
	rig_free(r);
}
END_TEST

START_TEST(mw_001_a_domain_stays_as_long_as_it_has_a_window)
{
	struct rig *r = rig_new(NULL);
	int err;
	struct vs_pd *pd = vs_pd_create(r->dev, &err);
	struct vs_mw *mw = window(pd, (enum vs_mw_type)(1 + _i));

	ck_assert_int_eq(vs_pd_destroy(pd), VS_ERR_BUSY);
	ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_IN_USE);
	ck_assert_int_eq(vs_mw_dealloc(mw), VS_OK);
	ck_assert_int_eq(vs_pd_destroy(pd), VS_OK);
	rig_free(r);
}
END_TEST

START_TEST(mw_001_what_alloc_and_post_refuse)
{
	struct rig_opt o = {.dev.max_mw = 2};
	struct rig *r = rig_new(&o);
	struct vs_send_wr wr;
	struct vs_mw *mw;
	int err;

	ck_assert_ptr_null(vs_mw_alloc(r->pd, (enum vs_mw_type)3, &err));
	ck_assert(err == VS_ERR_INVAL && vs_dev_refusal(r->dev) == VS_REASON_MW_TYPE);
	ck_assert_ptr_null(vs_mw_alloc(r->pd, (enum vs_mw_type)0, &err));
	window(r->pd, VS_MW_TYPE_1);
	mw = window(r->pd, VS_MW_TYPE_2);
	ck_assert_ptr_null(vs_mw_alloc(r->pd, VS_MW_TYPE_1, &err));
	ck_assert(err == VS_ERR_NOSPACE && vs_dev_refusal(r->dev) == VS_REASON_LIMIT_MW);
	wr = bind_wr(r, mw, RIGHTS);
	wr.bind.mw = NULL;
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_ERR_INVAL);
	ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_MW_GONE);
	ck_assert_int_eq(vs_mw_dealloc(mw), VS_OK);
	window(r->pd, VS_MW_TYPE_2);
	nothing_happens(r);
	rig_free(r);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("mw");
	TCase *tc = tcase_create("windows");

	tcase_add_test(tc, mw_001_a_type_1_window_opens_its_range_to_every_qp_of_the_domain);
	tcase_add_test(tc, mw_001_binding_again_moves_the_window_and_kills_the_old_key);
	tcase_add_test(tc, mw_001_a_bind_completes_behind_what_was_posted_before);
	tcase_add_test(tc, mw_001_the_key_of_each_posted_bind_is_known_before_it_is_executed);
	tcase_add_test(tc, mw_001_many_binds_posted_at_once);
	tcase_add_loop_test(tc, mw_001_a_domain_stays_as_long_as_it_has_a_window, 0, 2);
	tcase_add_test(tc, mw_001_what_alloc_and_post_refuse);
	tcase_add_loop_test(tc, mw_002_length_0_unbinds_type_1, 0, 2);
	tcase_add_test(tc, mw_003_type_1_is_never_zero_based);
	tcase_add_loop_test(tc, mw_004_a_bound_type_2_window_is_not_bound_again, 0, 2);
	tcase_add_loop_test(tc, mw_005_a_type_2_window_needs_bytes_and_a_region, 0, 3);
	tcase_add_loop_test(tc, mw_005_a_window_or_region_that_goes_between_post_and_bind, 0, 3);
	tcase_add_test(tc, mw_006_the_key_byte_is_the_consumers_also_the_old_one);
	tcase_add_loop_test(tc, mw_007_a_local_invalidate_shuts_the_window, 0, 3);
	tcase_add_loop_test(tc, mw_007_what_is_invalid_is_not_invalidated_again, 0, 3);
	tcase_add_test(tc, mw_008_a_type_1_window_is_not_invalidated);
	tcase_add_loop_test(tc, mw_009_a_type_2_window_belongs_to_the_qp_that_bound_it, 0, 3);
	suite_add_tcase(s, tc);

	tc = tcase_create("checks");
	tcase_add_loop_test(tc, mw_010_a_region_that_takes_no_windows, 0, 2);
	tcase_add_loop_test(tc, mw_011_remote_writes_need_a_region_that_is_written_locally, 0, 6);
	tcase_add_loop_test(tc, mw_011_rights_that_a_window_does_not_have, 0, 4);
	tcase_add_loop_test(tc, mw_012_a_range_outside_the_region, 0, 2);
	tcase_add_loop_test(tc, mw_013_window_region_and_qp_of_different_domains, 0, 6);
	tcase_add_loop_test(tc, mw_013_a_qp_of_another_domain_does_not_open_the_window, 0, 3);
	tcase_add_loop_test(tc, mw_014_a_window_opens_for_its_own_rights_alone, 0, 6);
	tcase_add_loop_test(tc, mw_014_a_zero_based_type_2_window_counts_from_0, 0, 2);
	suite_add_tcase(s, tc);

	tc = tcase_create("ends");
	tcase_add_loop_test(tc, mw_015_a_qp_is_destroyed_with_its_windows_bound, 0, 2);
	tcase_add_test(tc, mw_015_a_type_1_window_outlives_the_qp_that_bound_it);
	tcase_add_loop_test(tc, mw_015_a_deallocated_window_opens_nothing, 0, 2);
	tcase_add_test(tc, mr_003_a_region_with_a_window_on_it_stays);
	tcase_add_test(tc, mr_011_another_key_byte_kills_the_old_key);
	suite_add_tcase(s, tc);
	return s;
}
