/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_rse.c - RSE rows of the inventory, first half: how the RC responder judges requests (opcode
 * order, lengths, buffers, keys, atomics). Each test is one row; its name begins with the id.
 */
#include <string.h>

#include "rig.h"

#define P RIG_PEER_PSN
#define MEM(r, off) ((uintptr_t)(r)->mem + (off))
#define KEY(r) vs_mr_rkey((r)->mr)
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

enum { INV_REQ = 0x61, REM_ACCESS = 0x62, REM_OP = 0x63 };

/* After a fatal refusal: the NAK, ERR, then what the responder's consumer sees. */
static void refused(struct rig *r, uint32_t psn, uint8_t syndrome, uint32_t msn)
{
	rig_expect_nak(r, psn, syndrome, msn);
	rig_expect_silence(r);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_ERR);
}

/* One request of each kind at `psn` for [va, va + len): 0 WRITE, 1 READ, 2 FETCH_ADD, 3 CMP_SWAP (8 bytes). */
static void in_op(struct rig *r, int kind, uint32_t psn, uint64_t va, uint32_t rkey, uint32_t len)
{
	if (kind == 0)
		rig_in_write(r, VS_OP_RC_WRITE_ONLY, psn, va, rkey, len, len);
	else if (kind == 1)
		rig_in_read(r, psn, va, rkey, len);
	else
		rig_in_atomic(r, kind == 2 ? VS_OP_RC_FETCH_ADD : VS_OP_RC_COMPARE_SWAP, psn, va, rkey, 3, 5);
}

/* Nothing of [0, RIG_MEM) was written. */
static void untouched(const struct rig *r)
{
	uint32_t i;

	for (i = 0; i < RIG_MEM; i++) /* an assertion per byte would take its time */
		if (r->mem[i] != 0xee)
			ck_abort_msg("byte %u was written", i);
}

/* ---- opcode order ---- */

START_TEST(rse_001_a_message_that_never_began)
{
	static const uint8_t op[] = {VS_OP_RC_SEND_MIDDLE,   VS_OP_RC_SEND_LAST,    VS_OP_RC_SEND_LAST_IMM,
				     VS_OP_RC_SEND_LAST_INV, VS_OP_RC_WRITE_MIDDLE, VS_OP_RC_WRITE_LAST,
				     VS_OP_RC_WRITE_LAST_IMM};
	struct rig *r = rig_new(NULL);

	rig_post_recv(r, 1, 0, 4096);
	rig_in_send(r, op[_i], P, 1024);
	refused(r, P, INV_REQ, 0);
	rig_expect_async(r, VS_EVENT_QP_REQ_ERR);
	rig_expect_wc(r, r->rcq, 1, VS_WC_WR_FLUSH_ERR);
	untouched(r);
	rig_free(r);
}
END_TEST

START_TEST(rse_002_a_message_that_never_ended)
{
	static const uint8_t op[] = {VS_OP_RC_SEND_FIRST, VS_OP_RC_SEND_ONLY, VS_OP_RC_WRITE_FIRST,
				     VS_OP_RC_WRITE_ONLY};
	struct rig *r = rig_new(NULL);

	rig_post_recv(r, 1, 0, 4096);
	rig_post_recv(r, 2, 4096, 4096);
	rig_in_send(r, VS_OP_RC_SEND_FIRST, P, 1024);
	rig_drain(r);
	rig_in_write(r, op[_i], P + 1, MEM(r, 0), KEY(r), 2048, 1024);
	refused(r, P + 1, INV_REQ, 0);
	rig_expect_wc(r, r->rcq, 1, VS_WC_REM_INV_REQ_ERR);
	rig_expect_wc(r, r->rcq, 2, VS_WC_WR_FLUSH_ERR);
	rig_expect_no_async(r);
	rig_free(r);
}
END_TEST

START_TEST(rse_003_a_message_goes_on_as_the_other_kind)
{
	struct rig *r = rig_new(NULL);

	rig_post_recv(r, 1, 0, 4096);
	if (_i == 0)
		rig_in_send(r, VS_OP_RC_SEND_FIRST, P, 1024);
	else
		rig_in_write(r, VS_OP_RC_WRITE_FIRST, P, MEM(r, 0), KEY(r), 4096, 1024);
	rig_drain(r);
	rig_in_send(r, _i == 0 ? VS_OP_RC_WRITE_MIDDLE : VS_OP_RC_SEND_MIDDLE, P + 1, 1024);
	refused(r, P + 1, INV_REQ, 0);
	if (_i == 0) {
		rig_expect_wc(r, r->rcq, 1, VS_WC_REM_INV_REQ_ERR);
	} else {
		rig_expect_async(r, VS_EVENT_QP_REQ_ERR);
		rig_expect_wc(r, r->rcq, 1, VS_WC_WR_FLUSH_ERR);
	}
	rig_free(r);
}
END_TEST

START_TEST(rse_004_a_read_or_atomic_inside_an_open_message)
{
	struct rig *r = rig_new(NULL);

	rig_post_recv(r, 1, 0, 4096);
	rig_in_send(r, VS_OP_RC_SEND_FIRST, P, 1024);
	rig_drain(r);
	in_op(r, 1 + _i, P + 1, MEM(r, 8192), KEY(r), 8);
	refused(r, P + 1, INV_REQ, 0);
	rig_expect_wc(r, r->rcq, 1, VS_WC_REM_INV_REQ_ERR);
	rig_free(r);
}
END_TEST

START_TEST(rse_005_reserved_opcodes_of_rc)
{
	static const uint8_t op[] = {0x15, 0x18, 0x19, 0x1a, 0x1b, 0x1e, 0x1f};
	struct rig *r = rig_new(NULL);
	struct vs_pkt p = rig_pkt(r, op[_i], P);

	rig_in(r, &p);
	refused(r, P, INV_REQ, 0);
	rig_expect_async(r, VS_EVENT_QP_REQ_ERR);
	rig_free(r);
}
END_TEST

START_TEST(rse_006_flush_and_atomic_write_that_the_qp_does_not_allow)
{
	struct rig_opt o = {.access = VS_ACCESS_REMOTE_READ};
	struct rig *r = rig_new(&o);
	struct vs_pkt p = rig_pkt(r, _i == 0 ? VS_OP_RC_FLUSH : VS_OP_RC_ATOMIC_WRITE, P);

	p.ext.feth.plt = 1;
	p.ext.reth.va = MEM(r, 0);
	p.ext.reth.rkey = KEY(r);
	p.ext.reth.dmalen = 8;
	p.payload = rig_pattern(P);
	p.payload_len = _i == 0 ? 0 : 8;
	rig_in(r, &p);
	refused(r, P, INV_REQ, 0);
	untouched(r);
	rig_free(r);
}
END_TEST

START_TEST(rse_007_opcodes_of_another_transport_are_dropped)
{
	static const uint8_t op[] = {VS_OP_UC_SEND_ONLY, VS_OP_UD_SEND_ONLY, 0x80, VS_OP_XRC_SEND_ONLY, 0xff};
	struct rig *r = rig_new(NULL);

	rig_post_recv(r, 1, 0, 4096);
	rig_in_send(r, op[_i], P, 64);
	rig_expect_silence(r);
	rig_expect_no_wc(r);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_RTS);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 64);
	rig_expect_ack(r, P, 1);
	rig_free(r);
}
END_TEST

/* ---- lengths ---- */

START_TEST(rse_008_first_and_middle_are_exactly_one_mtu)
{
	struct rig *r = rig_new(NULL);
	uint32_t len = _i % 2 == 0 ? 1020 : 1028;

	rig_post_recv(r, 1, 0, 8192);
	if (_i < 2) {
		rig_in_send(r, VS_OP_RC_SEND_FIRST, P, len);
		refused(r, P, INV_REQ, 0);
		rig_expect_wc(r, r->rcq, 1, VS_WC_WR_FLUSH_ERR);
	} else {
		rig_in_send(r, VS_OP_RC_SEND_FIRST, P, 1024);
		rig_drain(r);
		rig_in_send(r, VS_OP_RC_SEND_MIDDLE, P + 1, len);
		refused(r, P + 1, INV_REQ, 0);
		rig_expect_wc(r, r->rcq, 1, VS_WC_REM_INV_REQ_ERR);
	}
	rig_free(r);
}
END_TEST

START_TEST(rse_009_last_is_1_to_mtu)
{
	struct rig *r = rig_new(NULL);

	rig_post_recv(r, 1, 0, 8192);
	rig_in_send(r, VS_OP_RC_SEND_FIRST, P, 1024);
	rig_drain(r);
	rig_in_send(r, VS_OP_RC_SEND_LAST, P + 1, _i == 0 ? 0 : 1028);
	refused(r, P + 1, INV_REQ, 0);
	rig_expect_wc(r, r->rcq, 1, VS_WC_REM_INV_REQ_ERR);
	rig_free(r);
}
END_TEST

START_TEST(rse_010_only_is_at_most_one_mtu)
{
	struct rig *r = rig_new(NULL);

	rig_post_recv(r, 1, 0, 8192);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 1024);
	rig_expect_ack(r, P, 1);
	rig_expect_wc(r, r->rcq, 1, VS_WC_SUCCESS);
	rig_post_recv(r, 2, 0, 8192);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P + 1, 1028);
	refused(r, P + 1, INV_REQ, 1);
	rig_expect_wc(r, r->rcq, 2, VS_WC_WR_FLUSH_ERR);
	rig_free(r);
}
END_TEST

START_TEST(rse_011_a_write_longer_than_its_dmalen)
{
	struct rig *r = rig_new(NULL);

	if (_i == 0) {
		rig_in_write(r, VS_OP_RC_WRITE_ONLY, P, MEM(r, 0), KEY(r), 8, 12);
		refused(r, P, INV_REQ, 0);
		untouched(r);
	} else { /* found out at the Last */
		rig_in_write(r, VS_OP_RC_WRITE_FIRST, P, MEM(r, 0), KEY(r), 1030, 1024);
		rig_drain(r);
		rig_in_send(r, VS_OP_RC_WRITE_LAST, P + 1, 7);
		refused(r, P + 1, INV_REQ, 0);
		ck_assert_uint_eq(r->mem[1024], 0xee);
	}
	rig_expect_async(r, VS_EVENT_QP_REQ_ERR);
	rig_free(r);
}
END_TEST

START_TEST(rse_012_a_write_shorter_than_its_dmalen)
{
	struct rig *r = rig_new(NULL);

	if (_i == 0) {
		rig_in_write(r, VS_OP_RC_WRITE_ONLY, P, MEM(r, 0), KEY(r), 12, 8);
		refused(r, P, INV_REQ, 0);
		untouched(r);
	} else {
		rig_in_write(r, VS_OP_RC_WRITE_FIRST, P, MEM(r, 0), KEY(r), 1030, 1024);
		rig_drain(r);
		rig_in_send(r, VS_OP_RC_WRITE_LAST, P + 1, 5);
		refused(r, P + 1, INV_REQ, 0);
	}
	rig_expect_async(r, VS_EVENT_QP_REQ_ERR);
	rig_free(r);
}
END_TEST

START_TEST(rse_013_dmalen_is_at_most_2_to_the_31)
{
	struct rig *r = rig_new(NULL);

	if (_i == 0)
		rig_in_write(r, VS_OP_RC_WRITE_FIRST, P, MEM(r, 0), KEY(r), 0x80000001u, 1024);
	else
		rig_in_read(r, P, MEM(r, 0), KEY(r), 0x80000001u);
	refused(r, P, INV_REQ, 0);
	untouched(r);
	rig_free(r);
}
END_TEST

START_TEST(rse_014_a_pad_that_contradicts_dmalen)
{
	struct rig *r = rig_new(NULL);
	struct vs_pkt p = rig_pkt(r, VS_OP_RC_WRITE_ONLY, P);
	uint8_t scratch[4096];

	p.ext.reth.va = MEM(r, 0);
	p.ext.reth.rkey = KEY(r);
	p.ext.reth.dmalen = 4;
	p.payload = rig_pattern(P);
	p.payload_len = 1; /* 1 byte and 3 of pad, where 4 bytes were announced */
	ck_assert_int_eq(vs_pkt_seal(&p, VS_SEAL_ALL, scratch, sizeof(scratch)), VS_OK);
	ck_assert_uint_eq(p.bth.padcnt, 3);
	rig_in_raw(r, &p);
	refused(r, P, INV_REQ, 0);
	untouched(r);
	rig_free(r);
}
END_TEST

/* ---- receive buffers ---- */

START_TEST(rse_015_a_send_longer_than_the_receive_buffer)
{
	struct rig *r = rig_new(NULL);
	uint32_t psn = P;

	rig_post_recv(r, 1, 0, _i == 0 ? 63 : 1500);
	rig_post_recv(r, 2, 4096, 64);
	if (_i == 0) {
		rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 64);
	} else {
		rig_in_send(r, VS_OP_RC_SEND_FIRST, P, 1024);
		rig_drain(r);
		psn = P + 1;
		rig_in_send(r, VS_OP_RC_SEND_MIDDLE, psn, 1024);
	}
	refused(r, psn, INV_REQ, 0);
	rig_expect_wc(r, r->rcq, 1, VS_WC_LOC_LEN_ERR);
	rig_expect_wc(r, r->rcq, 2, VS_WC_WR_FLUSH_ERR);
	rig_expect_no_async(r);
	rig_free(r);
}
END_TEST

START_TEST(rse_015_a_send_of_exactly_the_receive_buffer_fits)
{
	struct rig *r = rig_new(NULL);

	rig_post_recv(r, 1, 0, 64);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 64);
	rig_expect_ack(r, P, 1);
	rig_expect_wc(r, r->rcq, 1, VS_WC_SUCCESS);
	rig_free(r);
}
END_TEST

START_TEST(rse_016_018_a_receive_buffer_that_is_not_ours_to_write)
{
	struct rig *r = rig_new(NULL);
	struct vs_mr *other = rig_mr(r, r->pd, 32768, 4096, 0);
	struct vs_sge sge = {MEM(r, 32768), 64, vs_mr_lkey(other)};
	struct vs_recv_wr wr = {1, &sge, 1};

	switch (_i) {
	case 0: /* a key that nobody has */
		sge.lkey ^= 0x5a00;
		break;
	case 1: /* beyond the region */
		sge = (struct vs_sge){MEM(r, 0) + RIG_MEM - 32, 64, vs_mr_lkey(r->mr)};
		break;
	case 2: /* a region that is gone when the message comes */
		ck_assert_int_eq(vs_qp_post_recv(r->qp, &wr), VS_OK);
		ck_assert_int_eq(vs_mr_dereg(other), VS_OK);
		break;
	case 3: /* RSE-018: no local write access */
		break;
	default: /* the rkey of the region is no lkey */
		sge = (struct vs_sge){MEM(r, 0), 64, vs_mr_rkey(r->mr)};
		break;
	}
	if (_i != 2)
		ck_assert_int_eq(vs_qp_post_recv(r->qp, &wr), VS_OK);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 64);
	refused(r, P, REM_OP, 0);
	rig_expect_wc(r, r->rcq, 1, VS_WC_LOC_PROT_ERR);
	rig_expect_no_async(r);
	untouched(r);
	rig_free(r);
}
END_TEST

START_TEST(rse_017_a_buffer_larger_than_its_region_takes_what_fits)
{
	struct rig *r = rig_new(NULL);
	struct vs_sge sge = {MEM(r, 0) + RIG_MEM - 64, 128, vs_mr_lkey(r->mr)};
	struct vs_recv_wr wr = {1, &sge, 1};

	ck_assert_int_eq(vs_qp_post_recv(r->qp, &wr), VS_OK);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 64);
	rig_expect_ack(r, P, 1);
	rig_expect_wc(r, r->rcq, 1, VS_WC_SUCCESS);
	rig_free(r);
}
END_TEST

/* ---- remote keys ---- */

START_TEST(rse_019_020_021_an_invalid_rkey_is_refused_and_both_sides_learn_of_it)
{
	struct rig *r = rig_new(NULL);

	rig_post_recv(r, 90, 0, 64);
	in_op(r, _i, P, MEM(r, 0), KEY(r) ^ 0x00010000, 64);
	refused(r, P, REM_ACCESS, 0);
	rig_expect_async(r, VS_EVENT_QP_ACCESS_ERR);
	rig_expect_no_async(r);
	rig_expect_wc(r, r->rcq, 90, VS_WC_WR_FLUSH_ERR);
	untouched(r);
	rig_free(r);
}
END_TEST

START_TEST(rse_019_the_lkey_is_no_rkey)
{
	struct rig *r = rig_new(NULL);

	ck_assert_uint_ne(vs_mr_lkey(r->mr), vs_mr_rkey(r->mr));
	in_op(r, _i, P, MEM(r, 0), vs_mr_lkey(r->mr), 64);
	refused(r, P, REM_ACCESS, 0);
	untouched(r);
	rig_free(r);
}
END_TEST

START_TEST(rse_022_a_write_imm_with_an_invalid_rkey)
{
	struct rig *r = rig_new(NULL);

	rig_post_recv(r, 1, 0, 64);
	rig_in_write(r, VS_OP_RC_WRITE_ONLY_IMM, P, MEM(r, 0), KEY(r) ^ 0x100, 64, 64);
	refused(r, P, REM_ACCESS, 0);
	rig_expect_async(r, VS_EVENT_QP_ACCESS_ERR);
	rig_expect_wc(r, r->rcq, 1, VS_WC_WR_FLUSH_ERR);
	untouched(r);
	rig_free(r);
}
END_TEST

START_TEST(rse_023_outside_the_region)
{
	struct rig *r = rig_new(NULL);
	struct vs_mr *mr = rig_mr(r, r->pd, 4096, 4096, 0xf);
	static const int32_t at[] = {-8, 4096, 4096 - 8 + 1, 4096 - 4};
	int kind = _i / 4;
	uint64_t va = MEM(r, 4096) + (uint64_t)(int64_t)at[_i % 4];

	/* Atomics stay aligned, so that it is the range that is refused. */
	if (kind >= 2)
		va &= ~7ull;
	if (kind >= 2 && _i % 4 >= 2)
		va = MEM(r, 4096) + 4096 + 8;
	in_op(r, kind, P, va, vs_mr_rkey(mr), 8);
	refused(r, P, REM_ACCESS, 0);
	rig_expect_async(r, VS_EVENT_QP_ACCESS_ERR);
	untouched(r);
	rig_free(r);
}
END_TEST

START_TEST(rse_023_the_first_and_the_last_bytes_are_inside)
{
	struct rig *r = rig_new(NULL);
	struct vs_mr *mr = rig_mr(r, r->pd, 4096, 4096, 0xf);

	rig_in_write(r, VS_OP_RC_WRITE_ONLY, P, MEM(r, 4096), vs_mr_rkey(mr), 8, 8);
	rig_expect_ack(r, P, 1);
	rig_in_write(r, VS_OP_RC_WRITE_ONLY, P + 1, MEM(r, 8192 - 8), vs_mr_rkey(mr), 8, 8);
	rig_expect_ack(r, P + 1, 2);
	rig_in_read(r, P + 2, MEM(r, 4096), vs_mr_rkey(mr), 4096);
	rig_expect(r, VS_OP_RC_READ_RESPONSE_FIRST, P + 2);
	rig_free(r);
}
END_TEST

START_TEST(rse_024_an_address_range_that_wraps)
{
	struct rig *r = rig_new(NULL);

	in_op(r, _i, P, _i < 2 ? UINT64_MAX - 3 : UINT64_MAX - 7, KEY(r), 8);
	refused(r, P, REM_ACCESS, 0);
	untouched(r);
	rig_free(r);
}
END_TEST

START_TEST(rse_025_a_region_without_the_right)
{
	static const uint32_t all =
		VS_ACCESS_LOCAL_WRITE | VS_ACCESS_REMOTE_WRITE | VS_ACCESS_REMOTE_READ | VS_ACCESS_REMOTE_ATOMIC;
	static const uint32_t missing[] = {VS_ACCESS_REMOTE_WRITE, VS_ACCESS_REMOTE_READ, VS_ACCESS_REMOTE_ATOMIC};
	struct rig *r = rig_new(NULL);
	struct vs_mr *mr = rig_mr(r, r->pd, 0, 4096, all & ~missing[_i]);

	in_op(r, _i, P, MEM(r, 0), vs_mr_rkey(mr), 8);
	refused(r, P, REM_ACCESS, 0);
	rig_expect_async(r, VS_EVENT_QP_ACCESS_ERR);
	untouched(r);
	rig_free(r);
}
END_TEST

START_TEST(rse_026_a_qp_without_the_right)
{
	static const uint32_t all = VS_ACCESS_REMOTE_WRITE | VS_ACCESS_REMOTE_READ | VS_ACCESS_REMOTE_ATOMIC;
	static const uint32_t missing[] = {VS_ACCESS_REMOTE_WRITE, VS_ACCESS_REMOTE_READ, VS_ACCESS_REMOTE_ATOMIC};
	struct rig_opt o = {.access = all & ~missing[_i]};
	struct rig *r = rig_new(&o);

	in_op(r, _i, P, MEM(r, 0), KEY(r), 8);
	refused(r, P, INV_REQ, 0);
	rig_expect_async(r, VS_EVENT_QP_REQ_ERR);
	untouched(r);
	rig_free(r);
}
END_TEST

START_TEST(rse_027_a_region_of_another_protection_domain)
{
	struct rig *r = rig_new(NULL);
	int err;
	struct vs_pd *pd = vs_pd_create(r->dev, &err);
	struct vs_mr *mr = rig_mr(r, pd, 0, 4096, 0xf);

	in_op(r, _i, P, MEM(r, 0), vs_mr_rkey(mr), 8);
	refused(r, P, REM_ACCESS, 0);
	untouched(r);
	rig_free(r);
}
END_TEST

START_TEST(rse_028_029_a_zero_length_request_does_not_look_at_the_key)
{
	struct rig *r = rig_new(NULL);

	rig_post_recv(r, 1, 0, 64);
	if (_i == 0) {
		rig_in_write(r, VS_OP_RC_WRITE_ONLY, P, 0, 0xdeadbeef, 0, 0);
		rig_expect_ack(r, P, 1);
	} else if (_i == 1) {
		rig_in_read(r, P, 0, 0xdeadbeef, 0);
		rig_expect(r, VS_OP_RC_READ_RESPONSE_ONLY, P);
	} else {
		rig_in_write(r, VS_OP_RC_WRITE_ONLY_IMM, P, 0, 0xdeadbeef, 0, 0);
		rig_expect_ack(r, P, 1);
		ck_assert_uint_eq(rig_expect_wc(r, r->rcq, 1, VS_WC_SUCCESS).byte_len, 0);
	}
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_RTS);
	rig_expect_no_async(r);
	rig_free(r);
}
END_TEST

START_TEST(rse_030_the_key_is_judged_at_the_first_packet)
{
	struct rig *r = rig_new(NULL);

	if (_i == 0)
		rig_in_write(r, VS_OP_RC_WRITE_FIRST, P, MEM(r, 0), KEY(r) ^ 0x100, 2048, 1024);
	else /* the range of the whole message, not of this packet */
		rig_in_write(r, VS_OP_RC_WRITE_FIRST, P, MEM(r, RIG_MEM - 1024), KEY(r), 2048, 1024);
	refused(r, P, REM_ACCESS, 0);
	untouched(r);
	rig_free(r);
}
END_TEST

START_TEST(rse_031_a_region_that_goes_in_the_middle_of_a_write)
{
	struct rig *r = rig_new(NULL);

	rig_in_write(r, VS_OP_RC_WRITE_FIRST, P, MEM(r, 0), KEY(r), 3072, 1024);
	rig_drain(r);
	ck_assert_mem_eq(r->mem, rig_pattern(P), 1024);
	ck_assert_int_eq(vs_mr_dereg(r->mr), VS_OK);
	rig_in_send(r, VS_OP_RC_WRITE_MIDDLE, P + 1, 1024);
	refused(r, P + 1, REM_ACCESS, 0);
	ck_assert_uint_eq(r->mem[1024], 0xee);
	rig_expect_async(r, VS_EVENT_QP_ACCESS_ERR);
	rig_free(r);
}
END_TEST

/* ---- atomics ---- */

START_TEST(rse_032_033_a_misaligned_atomic)
{
	struct rig *r = rig_new(NULL);
	uint32_t key = _i < 7 ? KEY(r) : KEY(r) ^ 0x100; /* RSE-033: and a bad key; alignment is said first */

	rig_in_atomic(r, VS_OP_RC_FETCH_ADD, P, MEM(r, 0) + 1 + (uint64_t)_i % 7, key, 3, 5);
	refused(r, P, INV_REQ, 0);
	rig_expect_async(r, VS_EVENT_QP_REQ_ERR);
	untouched(r);
	rig_free(r);
}
END_TEST

START_TEST(rse_034_035_what_atomics_do)
{
	static const struct {
		uint8_t op;
		uint64_t before, swapadd, compare, after;
	} t[] = {
		{VS_OP_RC_COMPARE_SWAP, 5, 9, 5, 9},
		{VS_OP_RC_COMPARE_SWAP, 6, 9, 5, 6},
		{VS_OP_RC_FETCH_ADD, UINT64_MAX, 2, 0, 1},
		{VS_OP_RC_FETCH_ADD, 77, 0, 0, 77},
		{VS_OP_RC_FETCH_ADD, 0x0102030405060708ull, 1, 0, 0x0102030405060709ull},
	};
	struct rig *r = rig_new(NULL);
	struct vs_pkt p = rig_pkt(r, t[_i].op, P);
	uint64_t v = t[_i].before;

	memcpy(r->mem + 16, &v, 8);
	p.ext.atomiceth.va = MEM(r, 16);
	p.ext.atomiceth.rkey = KEY(r);
	p.ext.atomiceth.swapadd = t[_i].swapadd;
	p.ext.atomiceth.compare = t[_i].compare;
	rig_in(r, &p);
	p = rig_expect(r, VS_OP_RC_ATOMIC_ACKNOWLEDGE, P);
	ck_assert_uint_eq(p.ext.atomicack_origdata, t[_i].before);
	/* Big-endian on the wire, host order in memory (RSE-035). */
	ck_assert_uint_eq(r->frame[p.payload_off - 8], (uint8_t)(t[_i].before >> 56));
	memcpy(&v, r->mem + 16, 8);
	ck_assert_uint_eq(v, t[_i].after);
	ck_assert_uint_eq(r->mem[15], 0xee);
	ck_assert_uint_eq(r->mem[24], 0xee);
	rig_expect_no_async(r);
	rig_free(r);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("rse");
	TCase *tc = tcase_create("requests");

	tcase_add_loop_test(tc, rse_001_a_message_that_never_began, 0, 7);
	tcase_add_loop_test(tc, rse_002_a_message_that_never_ended, 0, 4);
	tcase_add_loop_test(tc, rse_003_a_message_goes_on_as_the_other_kind, 0, 2);
	tcase_add_loop_test(tc, rse_004_a_read_or_atomic_inside_an_open_message, 0, 2);
	tcase_add_loop_test(tc, rse_005_reserved_opcodes_of_rc, 0, 7);
	tcase_add_loop_test(tc, rse_006_flush_and_atomic_write_that_the_qp_does_not_allow, 0, 2);
	tcase_add_loop_test(tc, rse_007_opcodes_of_another_transport_are_dropped, 0, 5);
	tcase_add_loop_test(tc, rse_008_first_and_middle_are_exactly_one_mtu, 0, 4);
	tcase_add_loop_test(tc, rse_009_last_is_1_to_mtu, 0, 2);
	tcase_add_test(tc, rse_010_only_is_at_most_one_mtu);
	tcase_add_loop_test(tc, rse_011_a_write_longer_than_its_dmalen, 0, 2);
	tcase_add_loop_test(tc, rse_012_a_write_shorter_than_its_dmalen, 0, 2);
	tcase_add_loop_test(tc, rse_013_dmalen_is_at_most_2_to_the_31, 0, 2);
	tcase_add_test(tc, rse_014_a_pad_that_contradicts_dmalen);
	tcase_add_loop_test(tc, rse_015_a_send_longer_than_the_receive_buffer, 0, 2);
	tcase_add_test(tc, rse_015_a_send_of_exactly_the_receive_buffer_fits);
	tcase_add_loop_test(tc, rse_016_018_a_receive_buffer_that_is_not_ours_to_write, 0, 5);
	tcase_add_test(tc, rse_017_a_buffer_larger_than_its_region_takes_what_fits);
	tcase_add_loop_test(tc, rse_019_020_021_an_invalid_rkey_is_refused_and_both_sides_learn_of_it, 0, 4);
	tcase_add_loop_test(tc, rse_019_the_lkey_is_no_rkey, 0, 4);
	tcase_add_test(tc, rse_022_a_write_imm_with_an_invalid_rkey);
	tcase_add_loop_test(tc, rse_023_outside_the_region, 0, 12);
	tcase_add_test(tc, rse_023_the_first_and_the_last_bytes_are_inside);
	tcase_add_loop_test(tc, rse_024_an_address_range_that_wraps, 0, 3);
	tcase_add_loop_test(tc, rse_025_a_region_without_the_right, 0, 3);
	tcase_add_loop_test(tc, rse_026_a_qp_without_the_right, 0, 3);
	tcase_add_loop_test(tc, rse_027_a_region_of_another_protection_domain, 0, 3);
	tcase_add_loop_test(tc, rse_028_029_a_zero_length_request_does_not_look_at_the_key, 0, 3);
	tcase_add_loop_test(tc, rse_030_the_key_is_judged_at_the_first_packet, 0, 2);
	tcase_add_test(tc, rse_031_a_region_that_goes_in_the_middle_of_a_write);
	tcase_add_loop_test(tc, rse_032_033_a_misaligned_atomic, 0, 14);
	tcase_add_loop_test(tc, rse_034_035_what_atomics_do, 0, 5);
	suite_add_tcase(s, tc);
	return s;
}
