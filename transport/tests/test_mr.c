/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_mr.c - MR rows of the inventory: memory regions and their keys. Each test is one row; its name begins with
 * the id. MR-003 and MR-011 are with the windows (test_mw_checks.c).
 *
 * Implementation-defined rows, and the variant that the engine is:
 *   MR-002   a region of length 0 is registered
 *   MR-006   supported: both keys change, the old ones are dead on return
 *   MR-008   told when the data comes, not before the request leaves
 *   MR-009   supported
 *   MR-012   LOC_QP_OP_ERR
 *   MR-014   flag after data
 * Not here, as fast registration and on-demand paging are not in the engine: MR-010 (REG_MR; what LOCAL_INV says of the
 * keys of a plain region is shown), MR-013 (page faults).
 */
#include "qps.h"

#define P RIG_PEER_PSN
#define D RIG_DUT_PSN
#define ALL_RIGHTS (VS_ACCESS_LOCAL_WRITE | VS_ACCESS_REMOTE_WRITE | VS_ACCESS_REMOTE_READ | VS_ACCESS_REMOTE_ATOMIC)

static void served(struct rig *r, int kind, uint32_t psn)
{
	static const uint8_t op[] = {VS_OP_RC_ACKNOWLEDGE, VS_OP_RC_READ_RESPONSE_ONLY, VS_OP_RC_ATOMIC_ACKNOWLEDGE};

	ck_assert_uint_eq(rig_expect(r, op[kind], psn).ext.aeth.syndrome, 0x1f);
	rig_expect_silence(r);
}

static void no_access(struct rig *r, uint32_t psn, uint32_t msn, enum vs_reason why)
{
	uint32_t i;

	rig_expect_nak(r, psn, 0x62, msn);
	rig_expect_async(r, VS_EVENT_QP_ACCESS_ERR);
	nothing_happens(r);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_ERR);
	for (i = r->log_len; i > 0; i--)
		if (r->log[i - 1].type == VS_EV_QP_STATE)
			break;
	ck_assert_uint_gt(i, 0);
	ck_assert_msg(r->log[i - 1].a[2] == (uint64_t)why, "ERR because of %s, expected %s",
		      vs_reason_info((enum vs_reason)r->log[i - 1].a[2])->id, vs_reason_info(why)->id);
}

/* A second connected QP, which becomes the rig's; for what comes after an error. */
static void next_qp(struct rig *r)
{
	struct vs_qp_init init = {.type = VS_QPT_RC, .send_cq = r->scq, .recv_cq = r->rcq, .cap = {16, 16, 4, 4, 0}};

	r->qp = rig_qp(r, &init);
	rig_to(r, r->qp, VS_QPS_RTS);
}

/* ---- registration ---- */

START_TEST(mr_001_rights_that_a_region_cannot_have)
{
	static const struct {
		uint32_t access;
		enum vs_reason why;
	} bad[] = {
		{VS_ACCESS_REMOTE_WRITE, VS_REASON_MR_LOCAL_WRITE},
		{VS_ACCESS_REMOTE_ATOMIC, VS_REASON_MR_LOCAL_WRITE},
		{VS_ACCESS_REMOTE_WRITE | VS_ACCESS_REMOTE_READ | VS_ACCESS_MW_BIND, VS_REASON_MR_LOCAL_WRITE},
		{VS_ACCESS_LOCAL_WRITE | 1u << 6, VS_REASON_MR_ACCESS}, /* on demand */
		{VS_ACCESS_LOCAL_WRITE | 1u << 31, VS_REASON_MR_ACCESS},
	};
	static const uint32_t good[] = {0,
					VS_ACCESS_LOCAL_WRITE,
					VS_ACCESS_REMOTE_READ,
					VS_ACCESS_MW_BIND,
					VS_ACCESS_LOCAL_WRITE | VS_ACCESS_REMOTE_WRITE,
					VS_ACCESS_LOCAL_WRITE | VS_ACCESS_REMOTE_ATOMIC};
	struct rig_opt o = {.dev.max_mr = 1 + COUNT(good)};
	struct rig *r = rig_new(&o);
	struct vs_mr_attr a = {MEM(r, 0), 64, MEM(r, 0), 0};
	unsigned i;
	int err;

	for (i = 0; i < COUNT(bad); i++) {
		a.access = bad[i].access;
		err = VS_OK;
		ck_assert_ptr_null(vs_mr_reg(r->pd, &a, &err));
		ck_assert_int_eq(err, VS_ERR_INVAL);
		ck_assert_int_eq(vs_dev_refusal(r->dev), bad[i].why);
	}
	for (i = 0; i < COUNT(good); i++) /* the refused ones took no place */
		rig_mr(r, r->pd, 0, 64, good[i]);
	ck_assert_ptr_null(vs_mr_reg(r->pd, &a, &err));
	ck_assert(err == VS_ERR_INVAL);
	a.access = 0;
	ck_assert_ptr_null(vs_mr_reg(r->pd, &a, &err));
	ck_assert(err == VS_ERR_NOSPACE && vs_dev_refusal(r->dev) == VS_REASON_LIMIT_MR);
	rig_free(r);
}
END_TEST

START_TEST(mr_001_a_region_ends_where_the_address_space_does)
{
	struct rig *r = rig_new(NULL);
	struct vs_mr_attr a = {UINT64_MAX - 63, 64, UINT64_MAX - 63, 0};
	int err;

	ck_assert_ptr_nonnull(vs_mr_reg(r->pd, &a, &err));
	a.length = 65;
	ck_assert_ptr_null(vs_mr_reg(r->pd, &a, &err));
	ck_assert(err == VS_ERR_INVAL && vs_dev_refusal(r->dev) == VS_REASON_MR_WRAP);
	a.addr = 0; /* as peers see it, it still wraps */
	ck_assert_ptr_null(vs_mr_reg(r->pd, &a, &err));
	ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_MR_WRAP);
	a.addr = a.iova; /* as the memory has it */
	a.iova = 0;
	ck_assert_ptr_null(vs_mr_reg(r->pd, &a, &err));
	ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_MR_WRAP);
	a.addr = a.iova = UINT64_MAX; /* the very last byte */
	a.length = 1;
	ck_assert_ptr_nonnull(vs_mr_reg(r->pd, &a, &err));
	a.length = 0; /* and nothing at all, anywhere */
	ck_assert_ptr_nonnull(vs_mr_reg(r->pd, &a, &err));
	rig_free(r);
}
END_TEST

START_TEST(mr_001_no_two_keys_are_alike)
{
	struct rig *r = rig_new(NULL);
	uint32_t key[400], i, j;

	for (i = 0; i < COUNT(key); i += 2) {
		struct vs_mr *mr = rig_mr(r, r->pd, 0, 64, 0);

		key[i] = vs_mr_lkey(mr);
		key[i + 1] = vs_mr_rkey(mr);
		for (j = 0; j <= i; j++)
			if (key[j] == key[i + 1] || (j < i && key[j] == key[i]))
				ck_abort_msg("key %08x came twice", key[j]);
		if (i % 8 == 0) /* dead keys do not come back either */
			ck_assert_int_eq(vs_mr_dereg(mr), VS_OK);
	}
	rig_free(r);
}
END_TEST

START_TEST(mr_002_a_region_of_no_bytes)
{
	struct rig *r = rig_new(NULL);
	struct vs_mr *mr = rig_mr(r, r->pd, 64, 0, ALL_RIGHTS);
	struct vs_sge sge = {MEM(r, 64), 0, vs_mr_lkey(mr)};
	struct vs_send_wr wr = {
		.wr_id = 1, .opcode = VS_WR_SEND, .flags = VS_SEND_SIGNALED, .sg_list = &sge, .num_sge = 1};

	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	ck_assert_uint_eq(rig_expect(r, VS_OP_RC_SEND_ONLY, D).payload_len, 0);
	rig_in_write(r, VS_OP_RC_WRITE_ONLY, P, MEM(r, 64), vs_mr_rkey(mr), 0, 0);
	rig_expect_ack(r, P, 1);
	rig_in_write(r, VS_OP_RC_WRITE_ONLY, P + 1, MEM(r, 64), vs_mr_rkey(mr), 1, 1);
	rig_expect_nak(r, P + 1, 0x62, 1);
	ck_assert_uint_eq(r->mem[64], 0xee);
	ck_assert_int_eq(vs_mr_dereg(mr), VS_OK);
	rig_free(r);
}
END_TEST

/* ---- deregistration ---- */

START_TEST(mr_004_after_dereg_the_key_opens_nothing)
{
	struct rig *r = rig_new(NULL);
	struct vs_mr *mr = rig_mr(r, r->pd, 0, 4096, ALL_RIGHTS);
	uint32_t rkey = vs_mr_rkey(mr);

	rig_in_op(r, _i, P, MEM(r, 0), rkey);
	served(r, _i, P);
	ck_assert_int_eq(vs_mr_dereg(mr), VS_OK);
	memset(r->mem, 0xee, 64);
	rig_mr(r, r->pd, 0, 4096, ALL_RIGHTS); /* the same memory under other keys */
	rig_in_op(r, _i, P + 1, MEM(r, 0), rkey);
	no_access(r, P + 1, 1, VS_REASON_RKEY_INVALID);
	ck_assert_uint_eq(r->mem[0], 0xee);
	rig_free(r);
}
END_TEST

START_TEST(mr_005_a_region_that_goes_while_a_read_is_answered)
{
	struct rig *r = rig_new(NULL);
	struct vs_mr *mr = rig_mr(r, r->pd, 0, 4096, ALL_RIGHTS);

	rig_in_read(r, P, MEM(r, 0), vs_mr_rkey(mr), 4096);
	rig_expect(r, VS_OP_RC_READ_RESPONSE_FIRST, P);
	ck_assert_int_eq(vs_mr_dereg(mr), VS_OK);
	no_access(r, P + 1, 1, VS_REASON_RKEY_INVALID);
	rig_free(r);
}
END_TEST

START_TEST(mr_005_a_region_that_goes_in_the_middle_of_a_write)
{
	struct rig *r = rig_new(NULL);
	struct vs_mr *mr = rig_mr(r, r->pd, 0, 4096, ALL_RIGHTS);

	rig_in_write(r, VS_OP_RC_WRITE_FIRST, P, MEM(r, 0), vs_mr_rkey(mr), 3072, 1024);
	rig_expect_ack(r, P, 0);
	ck_assert_int_eq(vs_mr_dereg(mr), VS_OK);
	rig_in_send(r, VS_OP_RC_WRITE_MIDDLE, P + 1, 1024);
	no_access(r, P + 1, 0, VS_REASON_RKEY_INVALID);
	ck_assert_uint_eq(r->mem[1024], 0xee);
	rig_free(r);
}
END_TEST

START_TEST(mr_005_a_region_that_goes_in_the_middle_of_a_receive)
{
	struct rig *r = rig_new(NULL);
	struct vs_mr *mr = rig_mr(r, r->pd, 0, 4096, ALL_RIGHTS);
	struct vs_sge sge = {MEM(r, 0), 4096, vs_mr_lkey(mr)};
	struct vs_recv_wr wr = {1, &sge, 1};

	ck_assert_int_eq(vs_qp_post_recv(r->qp, &wr), VS_OK);
	rig_in_send(r, VS_OP_RC_SEND_FIRST, P, 1024);
	rig_expect_ack(r, P, 0);
	ck_assert_int_eq(vs_mr_dereg(mr), VS_OK);
	rig_in_send(r, VS_OP_RC_SEND_LAST, P + 1, 1024);
	rig_expect_nak(r, P + 1, 0x63, 0);
	rig_expect_wc(r, r->rcq, 1, VS_WC_LOC_PROT_ERR);
	nothing_happens(r);
	ck_assert_uint_eq(r->mem[1024], 0xee);
	rig_free(r);
}
END_TEST

START_TEST(mr_005_a_region_that_goes_while_it_is_sent)
{
	struct rig *r = rig_new(NULL);
	struct vs_mr *mr = rig_mr(r, r->pd, 0, 4096, 0);
	struct vs_sge sge;
	struct vs_send_wr wr = rig_wr(r, VS_WR_SEND, 1, &sge, 0, 3000);

	sge.lkey = vs_mr_lkey(mr);
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	rig_expect(r, VS_OP_RC_SEND_FIRST, D);
	if (_i == 1) { /* all of it is out, and has to go out again */
		ck_assert_uint_eq(rig_drain(r), 2);
		ck_assert_int_eq(vs_mr_dereg(mr), VS_OK);
		rig_advance(r, 67108864);
	} else {
		ck_assert_int_eq(vs_mr_dereg(mr), VS_OK);
	}
	rig_expect_silence(r);
	ck_assert_uint_eq(rig_expect_wc(r, r->scq, 1, VS_WC_LOC_PROT_ERR).vendor_err, VS_REASON_LKEY_INVALID);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_ERR);
	nothing_happens(r);
	rig_free(r);
}
END_TEST

START_TEST(mr_005_a_region_that_goes_while_it_is_read_into)
{
	struct rig *r = rig_new(NULL);
	struct vs_mr *mr = rig_mr(r, r->pd, 0, 4096, VS_ACCESS_LOCAL_WRITE);
	struct vs_sge sge;
	struct vs_send_wr wr = rig_wr(r, VS_WR_RDMA_READ, 1, &sge, 0, 2048);

	sge.lkey = vs_mr_lkey(mr);
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	rig_expect(r, VS_OP_RC_READ_REQUEST, D);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_FIRST, D, 1024, 1);
	ck_assert_int_eq(vs_mr_dereg(mr), VS_OK);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_LAST, D + 1, 1024, 1);
	rig_expect_wc(r, r->scq, 1, VS_WC_LOC_PROT_ERR);
	nothing_happens(r);
	ck_assert_uint_eq(r->mem[1024], 0xee);
	rig_free(r);
}
END_TEST

/* ---- re-registration ---- */

/* Bytes at `offset` can be written with the region's own keys, by the peer and as a receive buffer. */
static void usable(struct rig *r, struct vs_mr *mr, uint32_t offset, uint32_t psn)
{
	struct vs_sge sge = {MEM(r, offset), 8, vs_mr_lkey(mr)};
	struct vs_recv_wr wr = {1, &sge, 1};

	rig_in_op(r, 0, psn, MEM(r, offset), vs_mr_rkey(mr));
	served(r, 0, psn);
	ck_assert_int_eq(vs_qp_post_recv(r->qp, &wr), VS_OK);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, vs_psn_add(psn, 1), 8);
	rig_expect_wc(r, r->rcq, 1, VS_WC_SUCCESS);
	rig_drain(r);
}

START_TEST(mr_006_after_rereg_the_old_keys_are_dead_and_the_new_ones_open)
{
	struct rig *r = rig_new(NULL);
	struct vs_mr *mr = rig_mr(r, r->pd, 0, 4096, ALL_RIGHTS);
	struct vs_mr_attr a = {MEM(r, 8192), 64, MEM(r, 8192), VS_ACCESS_LOCAL_WRITE | VS_ACCESS_REMOTE_WRITE};
	uint32_t lkey = vs_mr_lkey(mr), rkey = vs_mr_rkey(mr), at = _i == 0 ? 0 : 8192;
	struct vs_sge sge;
	struct vs_send_wr wr;

	ck_assert_int_eq(vs_mr_rereg(mr,
				     _i == 0   ? VS_REREG_ACCESS
				     : _i == 1 ? VS_REREG_TRANSLATION
					       : VS_REREG_ACCESS | VS_REREG_TRANSLATION,
				     NULL, &a),
			 VS_OK);
	ck_assert(vs_mr_lkey(mr) != lkey && vs_mr_rkey(mr) != rkey && vs_mr_lkey(mr) != vs_mr_rkey(mr));
	usable(r, mr, at, P);
	if (_i != 1) { /* the right to read is gone */
		rig_in_op(r, 1, P + 2, MEM(r, at), vs_mr_rkey(mr));
		no_access(r, P + 2, 2, VS_REASON_RKEY_ACCESS);
		next_qp(r);
	} else { /* so is the old place */
		rig_in_op(r, 0, P + 2, MEM(r, 0), vs_mr_rkey(mr));
		no_access(r, P + 2, 2, VS_REASON_RKEY_RANGE);
		next_qp(r);
		rig_in_op(r, 1, P, MEM(r, at), vs_mr_rkey(mr));
		served(r, 1, P);
		rig_in_op(r, 0, P + 1, MEM(r, at) + 60, vs_mr_rkey(mr)); /* and the old length */
		no_access(r, P + 1, 1, VS_REASON_RKEY_RANGE);
		next_qp(r);
	}
	rig_in_op(r, 0, P, MEM(r, at), rkey);
	no_access(r, P, 0, VS_REASON_RKEY_INVALID);
	next_qp(r);
	wr = rig_wr(r, VS_WR_SEND, 5, &sge, at, 8);
	sge.lkey = lkey;
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	rig_expect_silence(r);
	rig_expect_wc(r, r->scq, 5, VS_WC_LOC_PROT_ERR);
	rig_free(r);
}
END_TEST

START_TEST(mr_006_rereg_keeps_the_keys_when_asked_to)
{
	struct rig *r = rig_new(NULL);
	struct vs_mr *mr = rig_mr(r, r->pd, 0, 4096, ALL_RIGHTS);
	struct vs_mr_attr a = {MEM(r, 8192), 64, MEM(r, 8192), VS_ACCESS_LOCAL_WRITE | VS_ACCESS_REMOTE_WRITE};
	uint32_t lkey = vs_mr_lkey(mr), rkey = vs_mr_rkey(mr);

	ck_assert_int_eq(vs_mr_rereg(mr, VS_REREG_KEEP_KEYS, NULL, &a), VS_ERR_INVAL); /* changes nothing */
	ck_assert_int_eq(vs_mr_rereg(mr, VS_REREG_ACCESS | VS_REREG_TRANSLATION | VS_REREG_KEEP_KEYS, NULL, &a), VS_OK);
	ck_assert(vs_mr_lkey(mr) == lkey && vs_mr_rkey(mr) == rkey);
	usable(r, mr, 8192, P);
	rig_in_op(r, 0, P + 2, MEM(r, 0), rkey); /* the old place is gone */
	no_access(r, P + 2, 2, VS_REASON_RKEY_RANGE);
	rig_free(r);
}
END_TEST

START_TEST(mr_006_rereg_moves_a_region_to_another_domain)
{
	struct rig *r = rig_new(NULL);
	int err;
	struct vs_pd *pd = vs_pd_create(r->dev, &err), *old = vs_pd_create(r->dev, &err);
	struct vs_mr *mr = rig_mr(r, old, 0, 4096, ALL_RIGHTS);

	ck_assert_int_eq(vs_pd_destroy(old), VS_ERR_BUSY);
	ck_assert_int_eq(vs_mr_rereg(mr, VS_REREG_PD, pd, NULL), VS_OK);
	ck_assert_int_eq(vs_pd_destroy(old), VS_OK);
	ck_assert_int_eq(vs_pd_destroy(pd), VS_ERR_BUSY);
	rig_in_op(r, 0, P, MEM(r, 0), vs_mr_rkey(mr));
	no_access(r, P, 0, VS_REASON_RKEY_PD);
	next_qp(r);
	ck_assert_int_eq(vs_mr_rereg(mr, VS_REREG_PD, r->pd, NULL), VS_OK);
	usable(r, mr, 0, P);
	rig_in_op(r, 1, P + 2, MEM(r, 0), vs_mr_rkey(mr)); /* all rights are still there */
	served(r, 1, P + 2);
	rig_free(r);
}
END_TEST

START_TEST(mr_006_rereg_without_room_for_new_keys)
{
	struct rig_opt o = {.dev = {.max_mr = 4, .max_mw = 8}}; /* two keys each and one: sixteen in all */
	struct rig *r = rig_new(&o);
	struct vs_mr *mr = rig_mr(r, r->pd, 0, 4096, ALL_RIGHTS);
	struct vs_mr_attr a = {.access = VS_ACCESS_LOCAL_WRITE};
	uint32_t lkey = vs_mr_lkey(mr), rkey = vs_mr_rkey(mr), i;
	int err;

	rig_mr(r, r->pd, 0, 64, 0);
	rig_mr(r, r->pd, 0, 64, 0);
	for (i = 0; i < 8; i++) {
		ck_assert_ptr_nonnull(vs_mw_alloc(r->pd, VS_MW_TYPE_1, &err));
		if (i < 6) /* two places are left: it goes, and takes none */
			continue;
		ck_assert_int_eq(vs_mr_rereg(mr, VS_REREG_ACCESS, NULL, &a), VS_ERR_NOSPACE); /* one is, none is */
		ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_LIMIT_MR);
		ck_assert(vs_mr_lkey(mr) == lkey && vs_mr_rkey(mr) == rkey);
	}
	usable(r, mr, 0, P);
	rig_in_op(r, 1, P + 2, MEM(r, 0), rkey); /* with all its rights */
	served(r, 1, P + 2);
	rig_free(r);
}
END_TEST

START_TEST(mr_006_a_refused_rereg_changes_nothing)
{
	struct rig *r = rig_new(NULL);
	int err;
	struct vs_pd *pd = vs_pd_create(r->dev, &err);
	struct vs_mr *mr = rig_mr(r, r->pd, 0, 4096, ALL_RIGHTS);
	struct vs_mr_attr a = {MEM(r, 8192), 64, MEM(r, 8192), VS_ACCESS_REMOTE_WRITE}; /* without LOCAL_WRITE */
	uint32_t lkey = vs_mr_lkey(mr), rkey = vs_mr_rkey(mr);
	struct vs_mw *mw;
	struct vs_send_wr wr = {.wr_id = 9, .opcode = VS_WR_BIND_MW, .flags = VS_SEND_SIGNALED};

	ck_assert_int_eq(vs_mr_rereg(mr, VS_REREG_ACCESS | VS_REREG_TRANSLATION | VS_REREG_PD, pd, &a), VS_ERR_INVAL);
	ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_MR_LOCAL_WRITE);
	a = (struct vs_mr_attr){UINT64_MAX - 3, 64, 0, ALL_RIGHTS};
	ck_assert_int_eq(vs_mr_rereg(mr, VS_REREG_TRANSLATION | VS_REREG_PD, pd, &a), VS_ERR_INVAL);
	ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_MR_WRAP);
	ck_assert_int_eq(vs_mr_rereg(mr, 0, pd, &a), VS_ERR_INVAL);
	ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_REREG_FLAGS);
	ck_assert_int_eq(vs_mr_rereg(mr, 16 | VS_REREG_PD, pd, &a), VS_ERR_INVAL);
	ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_REREG_FLAGS);
	ck_assert_int_eq(vs_mr_rereg(mr, VS_REREG_PD, NULL, &a), VS_ERR_INVAL);
	ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_REREG_FLAGS);
	ck_assert(vs_mr_lkey(mr) == lkey && vs_mr_rkey(mr) == rkey);
	ck_assert_int_eq(vs_pd_destroy(pd), VS_OK);
	usable(r, mr, 0, P);
	/* A bound window holds the rig's region. */
	mw = vs_mw_alloc(r->pd, VS_MW_TYPE_1, &err);
	wr.bind.mw = mw;
	wr.bind.mr = r->mr;
	wr.bind.addr = MEM(r, 0);
	wr.bind.length = 64;
	wr.bind.access = VS_ACCESS_REMOTE_READ;
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	rig_drain(r);
	a.access = 0;
	rkey = KEY(r);
	ck_assert_int_eq(vs_mr_rereg(r->mr, VS_REREG_ACCESS, NULL, &a), VS_ERR_BUSY);
	ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_MR_BOUND);
	ck_assert_uint_eq(KEY(r), rkey);
	rig_free(r);
}
END_TEST

/* ---- local access ---- */

START_TEST(mr_007_an_element_outside_its_region)
{
	static const enum vs_wr_opcode op[] = {VS_WR_SEND, VS_WR_RDMA_WRITE, VS_WR_ATOMIC_WRITE};
	struct rig *r = rig_new(NULL);
	struct vs_mr *mr = rig_mr(r, r->pd, 4096, 4096, 0);
	struct vs_sge sge;
	struct vs_send_wr wr = rig_wr(r, op[_i / 4], 1, &sge, 0, 8);
	static const int64_t at[] = {4096 - 1, 8192 - 7, 0x7ffffffffff0, 8192};

	rig_post(r, VS_WR_SEND, 2, 0, 8);
	rig_expect(r, VS_OP_RC_SEND_ONLY, D);
	sge = (struct vs_sge){MEM(r, 0) + (uint64_t)at[_i % 4], 8, vs_mr_lkey(mr)};
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	rig_expect_silence(r);
	rig_in_ack(r, D, 0x1f, 1);
	rig_expect_wc(r, r->scq, 2, VS_WC_SUCCESS);
	ck_assert_uint_eq(rig_expect_wc(r, r->scq, 1, VS_WC_LOC_PROT_ERR).vendor_err, VS_REASON_LKEY_RANGE);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_ERR);
	nothing_happens(r);
	rig_free(r);
}
END_TEST

START_TEST(mr_007_the_first_and_the_last_bytes_are_inside)
{
	struct rig *r = rig_new(NULL);
	struct vs_mr *mr = rig_mr(r, r->pd, 4096, 4096, 0);
	struct vs_sge sge[3] = {{MEM(r, 4096), 8, vs_mr_lkey(mr)},
				{MEM(r, 4096), 0, 0xbad}, /* nothing to look up */
				{MEM(r, 8192 - 8), 8, vs_mr_lkey(mr)}};
	struct vs_send_wr wr = {
		.wr_id = 1, .opcode = VS_WR_SEND, .flags = VS_SEND_SIGNALED, .sg_list = sge, .num_sge = 3};
	struct vs_pkt p;

	memset(r->mem + 4096, 1, 8);
	memset(r->mem + 8192 - 8, 2, 8);
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	p = rig_expect(r, VS_OP_RC_SEND_ONLY, D);
	ck_assert_uint_eq(p.payload_len, 16);
	ck_assert_mem_eq(p.payload, "\1\1\1\1\1\1\1\1\2\2\2\2\2\2\2\2", 16);
	rig_free(r);
}
END_TEST

START_TEST(mr_007_an_lkey_of_another_domain_or_an_rkey)
{
	struct rig *r = rig_new(NULL);
	int err;
	struct vs_pd *pd = vs_pd_create(r->dev, &err);
	struct vs_sge sge;
	struct vs_send_wr wr = rig_wr(r, VS_WR_SEND, 1, &sge, 0, 8);

	sge.lkey = _i == 0 ? vs_mr_lkey(rig_mr(r, pd, 0, 64, 0)) : KEY(r);
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	rig_expect_silence(r);
	ck_assert_uint_eq(rig_expect_wc(r, r->scq, 1, VS_WC_LOC_PROT_ERR).vendor_err,
			  _i == 0 ? VS_REASON_LKEY_PD : VS_REASON_LKEY_INVALID);
	rig_free(r);
}
END_TEST

START_TEST(mr_008_a_sink_without_local_write)
{
	static const enum vs_wr_opcode op[] = {VS_WR_RDMA_READ, VS_WR_ATOMIC_FETCH_AND_ADD, VS_WR_ATOMIC_CMP_AND_SWP};
	struct rig *r = rig_new(NULL);
	struct vs_mr *mr = rig_mr(r, r->pd, 0, 4096, VS_ACCESS_REMOTE_READ);
	struct vs_sge sge;
	struct vs_send_wr wr = rig_wr(r, op[_i], 1, &sge, 0, 8);
	struct vs_pkt p;

	sge.lkey = vs_mr_lkey(mr);
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	ck_assert_uint_eq(rig_drain(r), 1);
	if (_i == 0) {
		rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_ONLY, D, 8, 1);
	} else {
		p = rig_pkt(r, VS_OP_RC_ATOMIC_ACKNOWLEDGE, D);
		p.ext.aeth.syndrome = 0x1f;
		rig_in(r, &p);
	}
	ck_assert_uint_eq(rig_expect_wc(r, r->scq, 1, VS_WC_LOC_PROT_ERR).vendor_err, VS_REASON_LKEY_ACCESS);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_ERR);
	ck_assert_uint_eq(r->mem[0], 0xee);
	nothing_happens(r);
	rig_free(r);
}
END_TEST

START_TEST(mr_009_a_zero_based_region_counts_from_0)
{
	struct rig *r = rig_new(NULL);
	struct vs_mr_attr a = {MEM(r, 4096), 64, 0, ALL_RIGHTS | VS_ACCESS_ZERO_BASED};
	int err;
	struct vs_mr *mr = vs_mr_reg(r->pd, &a, &err);
	struct vs_sge sge = {56, 8, vs_mr_lkey(mr)};
	struct vs_recv_wr wr = {1, &sge, 1};

	rig_in_write(r, VS_OP_RC_WRITE_ONLY, P, 0, vs_mr_rkey(mr), 8, 8);
	rig_expect_ack(r, P, 1);
	ck_assert_mem_eq(r->mem + 4096, rig_pattern(P), 8);
	ck_assert_int_eq(vs_qp_post_recv(r->qp, &wr), VS_OK);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P + 1, 8);
	rig_expect_ack(r, P + 1, 2);
	rig_expect_wc(r, r->rcq, 1, VS_WC_SUCCESS);
	ck_assert_mem_eq(r->mem + 4096 + 56, rig_pattern(P + 1), 8);
	if (_i == 0) /* one byte too far */
		rig_in_write(r, VS_OP_RC_WRITE_ONLY, P + 2, 57, vs_mr_rkey(mr), 8, 8);
	else /* its address is no address of it */
		rig_in_write(r, VS_OP_RC_WRITE_ONLY, P + 2, MEM(r, 4096), vs_mr_rkey(mr), 8, 8);
	no_access(r, P + 2, 2, VS_REASON_RKEY_RANGE);
	ck_assert_uint_eq(r->mem[4096 + 64], 0xee);
	rig_free(r);
}
END_TEST

START_TEST(mr_009_a_zero_based_region_is_registered_at_0)
{
	struct rig *r = rig_new(NULL);
	struct vs_mr_attr a = {MEM(r, 4096), 64, MEM(r, 4096), ALL_RIGHTS | VS_ACCESS_ZERO_BASED};
	int err = VS_OK;

	ck_assert_ptr_null(vs_mr_reg(r->pd, &a, &err));
	ck_assert(err == VS_ERR_INVAL && vs_dev_refusal(r->dev) == VS_REASON_MR_ZERO_BASED);
	ck_assert_int_eq(vs_mr_rereg(r->mr, VS_REREG_ACCESS, NULL, &a), VS_ERR_INVAL);
	ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_MR_ZERO_BASED);
	a.iova = 0;
	ck_assert_int_eq(vs_mr_rereg(r->mr, VS_REREG_ACCESS | VS_REREG_TRANSLATION, NULL, &a), VS_OK);
	rig_in_write(r, VS_OP_RC_WRITE_ONLY, P, 0, KEY(r), 8, 8);
	rig_expect_ack(r, P, 1);
	ck_assert_mem_eq(r->mem + 4096, rig_pattern(P), 8);
	rig_free(r);
}
END_TEST

START_TEST(mr_009_a_region_at_an_address_of_its_own)
{
	struct rig *r = rig_new(NULL);
	struct vs_mr_attr a = {MEM(r, 4096), 64, 0xfedcba9800000000ull, ALL_RIGHTS};
	int err;
	struct vs_mr *mr = vs_mr_reg(r->pd, &a, &err);

	rig_in_write(r, VS_OP_RC_WRITE_ONLY, P, a.iova + 8, vs_mr_rkey(mr), 8, 8);
	rig_expect_ack(r, P, 1);
	ck_assert_mem_eq(r->mem + 4096 + 8, rig_pattern(P), 8);
	rig_in_read(r, P + 1, a.iova + 8, vs_mr_rkey(mr), 8);
	ck_assert_mem_eq(rig_expect(r, VS_OP_RC_READ_RESPONSE_ONLY, P + 1).payload, rig_pattern(P), 8);
	rig_in_op(r, 0, P + 2, a.iova - 8, vs_mr_rkey(mr));
	no_access(r, P + 2, 2, VS_REASON_RKEY_RANGE);
	rig_free(r);
}
END_TEST

/* ---- local invalidate of what is no window ---- */

START_TEST(mr_010_the_key_of_a_bound_window_can_be_invalidated_locally)
{
	struct rig *r = rig_new(NULL);
	int err;
	struct vs_mw *mw = vs_mw_alloc(r->pd, VS_MW_TYPE_2, &err);
	struct vs_send_wr bind = {.wr_id = 1, .opcode = VS_WR_BIND_MW, .flags = VS_SEND_SIGNALED};
	struct vs_send_wr inv = {.wr_id = 2, .opcode = VS_WR_LOCAL_INV, .flags = VS_SEND_SIGNALED};

	bind.bind.mw = mw;
	bind.bind.mr = r->mr;
	bind.bind.rkey = 5;
	bind.bind.addr = MEM(r, 0);
	bind.bind.length = 64;
	bind.bind.access = VS_ACCESS_REMOTE_WRITE;
	ck_assert_int_eq(vs_qp_post_send(r->qp, &bind), VS_OK);
	rig_expect_silence(r);
	rig_expect_wc(r, r->scq, 1, VS_WC_SUCCESS);
	inv.invalidate_rkey = vs_mw_rkey(mw);
	ck_assert_int_eq(vs_qp_post_send(r->qp, &inv), VS_OK);
	rig_expect_silence(r);
	rig_expect_wc(r, r->scq, 2, VS_WC_SUCCESS);
	rig_in_op(r, 0, P, MEM(r, 0), vs_mw_rkey(mw));
	no_access(r, P, 0, VS_REASON_RKEY_INVALID);
	rig_free(r);
}
END_TEST

START_TEST(mr_010_012_a_key_that_cannot_be_invalidated_locally)
{
	struct rig *r = rig_new(NULL);
	const uint32_t key[] = {vs_mr_lkey(r->mr), KEY(r), 0, 0x12345678};
	struct vs_send_wr wr = {.wr_id = 1, .opcode = VS_WR_LOCAL_INV, .invalidate_rkey = key[_i]};

	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	rig_post(r, VS_WR_SEND, 2, 0, 8);
	rig_expect_silence(r);
	ck_assert_uint_eq(rig_expect_wc(r, r->scq, 1, VS_WC_LOC_QP_OP_ERR).vendor_err, VS_REASON_INV_KEY);
	rig_expect_wc(r, r->scq, 2, VS_WC_WR_FLUSH_ERR);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_ERR);
	nothing_happens(r);
	next_qp(r);
	usable(r, r->mr, 0, P); /* the region is untouched */
	rig_free(r);
}
END_TEST

/* ---- order of the bytes in memory ---- */

START_TEST(mr_014_a_flag_written_behind_the_data_is_in_memory_behind_the_data)
{
	struct rig *r = rig_new(NULL);
	uint64_t next = MEM(r, 0);
	uint32_t i;

	rig_in_write(r, VS_OP_RC_WRITE_FIRST, P, MEM(r, 0), KEY(r), 3000, 1024);
	rig_in_send(r, VS_OP_RC_WRITE_MIDDLE, P + 1, 1024);
	rig_in_send(r, VS_OP_RC_WRITE_LAST, P + 2, 952);
	rig_in_write(r, VS_OP_RC_WRITE_ONLY, P + 3, MEM(r, 3000), KEY(r), 8, 8);
	for (i = 0; i < r->log_len; i++) {
		if (r->log[i].type != VS_EV_DMA_WRITE)
			continue;
		ck_assert_uint_eq(r->log[i].a[0], next); /* upwards, without a hole */
		next += r->log[i].a[1];
		ck_assert_uint_eq(r->log[i].a[2], KEY(r));
	}
	ck_assert_uint_eq(next, MEM(r, 3008));
	rig_free(r);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("mr");
	TCase *tc = tcase_create("life");

	tcase_add_test(tc, mr_001_rights_that_a_region_cannot_have);
	tcase_add_test(tc, mr_001_a_region_ends_where_the_address_space_does);
	tcase_add_test(tc, mr_001_no_two_keys_are_alike);
	tcase_add_test(tc, mr_002_a_region_of_no_bytes);
	tcase_add_loop_test(tc, mr_004_after_dereg_the_key_opens_nothing, 0, 3);
	tcase_add_test(tc, mr_005_a_region_that_goes_while_a_read_is_answered);
	tcase_add_test(tc, mr_005_a_region_that_goes_in_the_middle_of_a_write);
	tcase_add_test(tc, mr_005_a_region_that_goes_in_the_middle_of_a_receive);
	tcase_add_loop_test(tc, mr_005_a_region_that_goes_while_it_is_sent, 0, 2);
	tcase_add_test(tc, mr_005_a_region_that_goes_while_it_is_read_into);
	tcase_add_loop_test(tc, mr_006_after_rereg_the_old_keys_are_dead_and_the_new_ones_open, 0, 3);
	tcase_add_test(tc, mr_006_rereg_keeps_the_keys_when_asked_to);
	tcase_add_test(tc, mr_006_rereg_moves_a_region_to_another_domain);
	tcase_add_test(tc, mr_006_rereg_without_room_for_new_keys);
	tcase_add_test(tc, mr_006_a_refused_rereg_changes_nothing);
	suite_add_tcase(s, tc);

	tc = tcase_create("access");
	tcase_add_loop_test(tc, mr_007_an_element_outside_its_region, 0, 12);
	tcase_add_test(tc, mr_007_the_first_and_the_last_bytes_are_inside);
	tcase_add_loop_test(tc, mr_007_an_lkey_of_another_domain_or_an_rkey, 0, 2);
	tcase_add_loop_test(tc, mr_008_a_sink_without_local_write, 0, 3);
	tcase_add_loop_test(tc, mr_009_a_zero_based_region_counts_from_0, 0, 2);
	tcase_add_test(tc, mr_009_a_zero_based_region_is_registered_at_0);
	tcase_add_test(tc, mr_009_a_region_at_an_address_of_its_own);
	tcase_add_test(tc, mr_010_the_key_of_a_bound_window_can_be_invalidated_locally);
	tcase_add_loop_test(tc, mr_010_012_a_key_that_cannot_be_invalidated_locally, 0, 4);
	tcase_add_test(tc, mr_014_a_flag_written_behind_the_data_is_in_memory_behind_the_data);
	suite_add_tcase(s, tc);
	return s;
}
