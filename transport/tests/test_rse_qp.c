/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_rse_qp.c - RSE rows of the inventory, second half: resources and RNR, invalidation, the header
 * checks that drop in silence, and what follows a fatal error. Each test is one row.
 */
#include <string.h>

#include "rig.h"

#define P RIG_PEER_PSN
#define MEM(r, off) ((uintptr_t)(r)->mem + (off))
#define KEY(r) vs_mr_rkey((r)->mr)

enum { INV_REQ = 0x61, REM_ACCESS = 0x62 };

/* The packet that was just sent had no effect, and the QP still works. */
static void dropped(struct rig *r)
{
	rig_expect_silence(r);
	rig_expect_no_wc(r);
	rig_expect_no_async(r);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_RTS);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 8);
	rig_expect_ack(r, P, 1);
	rig_expect_wc(r, r->rcq, 1, VS_WC_SUCCESS);
}

/* ---- resources ---- */

START_TEST(rse_036_more_reads_than_allowed)
{
	struct rig_opt o = {.max_rd_atomic = 2};
	struct rig *r = rig_new(&o);

	rig_in_read(r, P, MEM(r, 0), KEY(r), 8);
	rig_in_read(r, P + 1, MEM(r, 0), KEY(r), 8);
	rig_in_read(r, P + 2, MEM(r, 0), KEY(r), 8);
	rig_expect(r, VS_OP_RC_READ_RESPONSE_ONLY, P);
	rig_expect(r, VS_OP_RC_READ_RESPONSE_ONLY, P + 1);
	rig_expect_nak(r, P + 2, INV_REQ, 2);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_ERR);
	rig_free(r);
}
END_TEST

START_TEST(rse_037_a_qp_that_serves_no_reads)
{
	struct rig_opt o = {.max_rd_atomic = RIG_ZERO};
	struct rig *r = rig_new(&o);

	rig_in_read(r, P, MEM(r, 0), KEY(r), 8);
	rig_expect_nak(r, P, INV_REQ, 0);
	rig_expect_async(r, VS_EVENT_QP_REQ_ERR);
	rig_free(r);
}
END_TEST

START_TEST(rse_038_no_receive_posted)
{
	struct rig *r = rig_new(NULL);

	rig_in_send(r, _i == 0 ? VS_OP_RC_SEND_ONLY : VS_OP_RC_SEND_FIRST, P, 1024);
	rig_expect_nak(r, P, 0x20 | 12, 0);
	rig_expect_no_wc(r);
	rig_expect_no_async(r);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_RTS);
	ck_assert_uint_eq(rig_counter(r, VS_CNT_SEND_RNR_ERR), 1);
	rig_free(r);
}
END_TEST

START_TEST(rse_039_the_rnr_nak_names_the_qps_timer)
{
	struct rig_opt o = {.min_rnr_timer = _i == 0 ? RIG_ZERO : (uint8_t)_i};
	struct rig *r = rig_new(&o);

	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 8);
	rig_expect_nak(r, P, (uint8_t)(0x20 | _i), 0);
	rig_free(r);
}
END_TEST

START_TEST(rse_040_silence_after_an_rnr_nak)
{
	struct rig *r = rig_new(NULL);

	rig_in_send(r, VS_OP_RC_SEND_FIRST, P, 1024);
	rig_expect_nak(r, P, 0x20 | 12, 0);
	rig_in_send(r, VS_OP_RC_SEND_MIDDLE, P + 1, 1024);
	rig_in_send(r, VS_OP_RC_SEND_LAST, P + 2, 10);
	rig_expect_silence(r);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_RTS);
	rig_in_send(r, VS_OP_RC_SEND_FIRST, P, 1024); /* the expected PSN again: it may speak */
	rig_expect_nak(r, P, 0x20 | 12, 0);
	rig_free(r);
}
END_TEST

START_TEST(rse_041_044_a_retry_is_served_as_soon_as_there_is_a_receive)
{
	struct rig *r = rig_new(NULL);

	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 8);
	rig_expect_nak(r, P, 0x20 | 12, 0);
	rig_post_recv(r, 1, 0, 64);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 8);
	rig_expect_ack(r, P, 1);
	rig_expect_wc(r, r->rcq, 1, VS_WC_SUCCESS);
	rig_expect_no_wc(r);
	rig_free(r);
}
END_TEST

START_TEST(rse_042_a_write_imm_without_a_receive)
{
	struct rig *r = rig_new(NULL);

	rig_in_write(r, VS_OP_RC_WRITE_ONLY_IMM, P, MEM(r, 0), KEY(r), 16, 16);
	rig_expect_nak(r, P, 0x20 | 12, 0);
	rig_expect_no_wc(r);
	rig_free(r);
}
END_TEST

START_TEST(rse_043_only_the_last_packet_of_a_write_imm_needs_a_receive)
{
	struct rig *r = rig_new(NULL);

	rig_in_write(r, VS_OP_RC_WRITE_FIRST, P, MEM(r, 0), KEY(r), 1040, 1024);
	rig_expect_ack(r, P, 0);
	rig_in_send(r, VS_OP_RC_WRITE_LAST_IMM, P + 1, 16);
	rig_expect_nak(r, P + 1, 0x20 | 12, 0);
	rig_post_recv(r, 1, 4096, 64);
	rig_in_send(r, VS_OP_RC_WRITE_LAST_IMM, P + 1, 16);
	rig_expect_ack(r, P + 1, 1);
	ck_assert_uint_eq(rig_expect_wc(r, r->rcq, 1, VS_WC_SUCCESS).byte_len, 1040);
	rig_expect_no_wc(r);
	ck_assert_mem_eq(r->mem + 1024, rig_pattern(P + 1), 16);
	rig_free(r);
}
END_TEST

/* ---- SEND with Invalidate ---- */

static struct vs_mw *bound_window(struct rig *r, struct vs_qp *qp, enum vs_mw_type type)
{
	int err;
	struct vs_mw *mw = vs_mw_alloc(r->pd, type, &err);
	struct vs_send_wr wr = {.wr_id = 50, .opcode = VS_WR_BIND_MW, .flags = VS_SEND_SIGNALED};
	struct vs_wc wc;

	wr.bind.mw = mw;
	wr.bind.mr = r->mr;
	wr.bind.rkey = vs_mw_rkey(mw) + 1;
	wr.bind.addr = MEM(r, 8192);
	wr.bind.length = 4096;
	wr.bind.access = VS_ACCESS_REMOTE_WRITE;
	ck_assert_int_eq(vs_qp_post_send(qp, &wr), VS_OK);
	rig_expect_silence(r);
	ck_assert_int_eq(vs_cq_poll(r->scq, &wc, 1), 1);
	ck_assert_int_eq(wc.status, VS_WC_SUCCESS);
	return mw;
}

static void in_send_inv(struct rig *r, uint32_t psn, uint32_t rkey)
{
	struct vs_pkt p = rig_pkt(r, VS_OP_RC_SEND_ONLY_INV, psn);

	p.ext.ieth_rkey = rkey;
	p.payload = rig_pattern(psn);
	p.payload_len = 8;
	rig_in(r, &p);
}

START_TEST(rse_045_047_a_window_is_invalidated_and_dead)
{
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw = bound_window(r, r->qp, VS_MW_TYPE_2);
	uint32_t key = vs_mw_rkey(mw);
	struct vs_wc wc;

	rig_post_recv(r, 1, 0, 64);
	rig_in_write(r, VS_OP_RC_WRITE_ONLY, P, MEM(r, 8192), key, 8, 8);
	rig_expect_ack(r, P, 1);
	in_send_inv(r, P + 1, key);
	rig_expect_ack(r, P + 1, 2);
	wc = rig_expect_wc(r, r->rcq, 1, VS_WC_SUCCESS);
	ck_assert(wc.wc_flags & VS_WC_WITH_INV);
	ck_assert_uint_eq(wc.invalidated_rkey, key);
	rig_in_write(r, VS_OP_RC_WRITE_ONLY, P + 2, MEM(r, 8192), key, 8, 8);
	rig_expect_nak(r, P + 2, REM_ACCESS, 2);
	rig_expect_async(r, VS_EVENT_QP_ACCESS_ERR);
	rig_free(r);
}
END_TEST

START_TEST(rse_046_a_key_that_cannot_be_invalidated)
{
	struct rig *r = rig_new(NULL);
	struct vs_qp_init init = {.type = VS_QPT_RC, .send_cq = r->scq, .recv_cq = r->rcq, .cap = {8, 8, 1, 1, 0}};
	struct vs_qp *other = rig_qp(r, &init);
	uint32_t key;

	rig_to(r, other, VS_QPS_RTS);
	if (_i == 0)
		key = 0x12345678;
	else if (_i == 1)
		key = vs_mw_rkey(bound_window(r, r->qp, VS_MW_TYPE_1));
	else
		key = vs_mw_rkey(bound_window(r, other, VS_MW_TYPE_2));
	rig_post_recv(r, 1, 0, 64);
	in_send_inv(r, P, key);
	rig_expect_silence(r); /* class J: no NAK */
	rig_expect_wc(r, r->rcq, 1, VS_WC_REM_INV_REQ_ERR);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_ERR);
	rig_free(r);
}
END_TEST

START_TEST(rse_048_the_solicited_bit_makes_an_event)
{
	struct rig *r = rig_new(NULL);
	struct vs_pkt p = rig_pkt(r, VS_OP_RC_SEND_ONLY, P);
	struct vs_cq *cq;
	uint64_t cookie;

	rig_post_recv(r, 1, 0, 64);
	rig_post_recv(r, 2, 0, 64);
	vs_cq_arm(r->rcq, true);
	rig_in(r, &p);
	ck_assert_int_eq(vs_dev_poll_comp_event(r->dev, &cq, &cookie), 0);
	p = rig_pkt(r, VS_OP_RC_SEND_ONLY, P + 1);
	p.bth.se = true;
	rig_in(r, &p);
	ck_assert_int_eq(vs_dev_poll_comp_event(r->dev, &cq, &cookie), 1);
	ck_assert(cq == r->rcq && cookie == 0x4c);
	ck_assert_int_eq(vs_dev_poll_comp_event(r->dev, &cq, &cookie), 0);
	rig_free(r);
}
END_TEST

/* ---- header checks: dropped in silence ---- */

START_TEST(rse_049_a_pkey_that_does_not_match)
{
	struct rig *r = rig_new(NULL);
	struct vs_pkt p = rig_pkt(r, VS_OP_RC_SEND_ONLY, P);

	rig_post_recv(r, 1, 0, 64);
	p.bth.pkey = 0x1234;
	rig_in(r, &p);
	ck_assert_uint_eq(rig_counter(r, VS_CNT_BAD_PKEY), 1);
	dropped(r);
	rig_free(r);
}
END_TEST

START_TEST(rse_049_059_keys_are_counted_only_in_packets_that_are_whole)
{
	struct rig *r = rig_new(NULL);
	struct vs_pkt p = rig_pkt(r, VS_OP_RC_SEND_ONLY, P);
	uint8_t scratch[512];

	rig_post_recv(r, 1, 0, 64);
	p.bth.pkey = 0x1234;
	ck_assert_int_eq(vs_pkt_seal(&p, VS_SEAL_ALL, scratch, sizeof(scratch)), VS_OK);
	p.icrc ^= 1;
	rig_in_raw(r, &p);
	ck_assert_uint_eq(rig_counter(r, VS_CNT_BAD_PKEY), 0);
	ck_assert_uint_eq(rig_counter(r, VS_CNT_RX_ICRC_ENCAPSULATED), 1);
	dropped(r);
	rig_free(r);
}
END_TEST

START_TEST(rse_050_one_full_member_is_enough_and_needed)
{
	struct rig_opt o = {.dev.pkeys = {_i < 2 ? 0xffff : 0x7fff}};
	struct rig *r = rig_new(&o);
	struct vs_pkt p = rig_pkt(r, VS_OP_RC_SEND_ONLY, P);

	rig_post_recv(r, 1, 0, 64);
	p.bth.pkey = _i % 2 == 0 ? 0xffff : 0x7fff;
	rig_in(r, &p);
	if (_i < 3)
		rig_expect_ack(r, P, 1);
	else
		rig_expect_silence(r); /* limited and limited */
	rig_free(r);
}
END_TEST

START_TEST(rse_051_052_053_a_qp_that_is_not_there)
{
	static const uint32_t qpn[] = {0x00abcd, 0, 0xffffff};
	struct rig *r = rig_new(NULL);
	struct vs_pkt p = rig_pkt(r, VS_OP_RC_SEND_ONLY, P);

	rig_post_recv(r, 1, 0, 64);
	p.bth.destqp = qpn[_i];
	rig_in(r, &p);
	dropped(r);
	rig_free(r);
}
END_TEST

START_TEST(rse_054_another_transport_version)
{
	struct rig *r = rig_new(NULL);
	struct vs_pkt p = rig_pkt(r, VS_OP_RC_SEND_ONLY, P);

	rig_post_recv(r, 1, 0, 64);
	p.bth.tver = (uint8_t)_i;
	rig_in(r, &p);
	dropped(r);
	rig_free(r);
}
END_TEST

START_TEST(rse_055_reserved_bits_are_ignored)
{
	struct rig *r = rig_new(NULL);
	struct vs_pkt p = rig_pkt(r, VS_OP_RC_SEND_ONLY, P);

	rig_post_recv(r, 1, 0, 64);
	p.bth.resv6 = 0x3f;
	p.bth.resv7 = 0x7f;
	rig_in(r, &p);
	rig_expect_ack(r, P, 1);
	rig_expect_wc(r, r->rcq, 1, VS_WC_SUCCESS);
	rig_free(r);
}
END_TEST

START_TEST(rse_056_migreq_0_and_1_are_both_taken)
{
	struct rig *r = rig_new(NULL);
	struct vs_pkt p = rig_pkt(r, VS_OP_RC_SEND_ONLY, P);

	rig_post_recv(r, 1, 0, 64);
	p.bth.migreq = _i == 1;
	rig_in(r, &p);
	rig_expect_ack(r, P, 1);
	rig_free(r);
}
END_TEST

START_TEST(rse_057_058_addresses_that_are_not_the_connections)
{
	struct rig *r = rig_new(NULL);
	struct vs_pkt p = rig_pkt(r, VS_OP_RC_SEND_ONLY, P);

	rig_post_recv(r, 1, 0, 64);
	if (_i == 0)
		p.ipv4.src[3] = 3;
	else if (_i == 1)
		p.ipv4.dst[3] = 9;
	else
		p.eth.dst[5] = 9;
	rig_in(r, &p);
	dropped(r);
	rig_free(r);
}
END_TEST

START_TEST(rse_058_a_rocev1_packet_for_a_rocev2_gid)
{
	struct rig_opt o = {.ipv6 = true};
	struct rig *r = rig_new(&o);
	struct vs_pkt p;

	rig_post_recv(r, 1, 0, 64);
	r->opt.rocev1 = true;
	p = rig_pkt(r, VS_OP_RC_SEND_ONLY, P);
	rig_in(r, &p);
	r->opt.rocev1 = false;
	dropped(r);
	rig_free(r);
}
END_TEST

START_TEST(rse_059_a_bad_icrc)
{
	struct rig *r = rig_new(NULL);
	struct vs_pkt p = rig_pkt(r, VS_OP_RC_SEND_ONLY, P);
	uint8_t scratch[4096], buf[4096];
	int n;

	rig_post_recv(r, 1, 0, 64);
	p.payload = rig_pattern(P);
	p.payload_len = 16;
	ck_assert_int_eq(vs_pkt_seal(&p, VS_SEAL_ALL, scratch, sizeof(scratch)), VS_OK);
	n = vs_pkt_build(&p, buf, sizeof(buf));
	ck_assert_int_gt(n, 0);
	/* a bit of the payload, of the PSN, of the ICRC itself */
	buf[_i == 0 ? n - 6 : _i == 1 ? 42 + 11 : n - 1] ^= 0x10;
	rig_in_bytes(r, buf, (size_t)n);
	ck_assert_uint_eq(rig_counter(r, VS_CNT_RX_ICRC_ENCAPSULATED), 1);
	dropped(r);
	rig_free(r);
}
END_TEST

START_TEST(rse_060_runts)
{
	struct rig *r = rig_new(NULL);
	struct vs_pkt p = rig_pkt(r, _i == 2 ? VS_OP_RC_WRITE_ONLY : VS_OP_RC_SEND_ONLY, P);
	uint8_t scratch[4096], buf[4096];

	rig_post_recv(r, 1, 0, 64);
	switch (_i) {
	case 0: /* BTH alone */
	case 1: /* BTH and half an ICRC */
		ck_assert_int_eq(vs_pkt_seal(&p, VS_SEAL_ALL, scratch, sizeof(scratch)), VS_OK);
		ck_assert_int_gt(vs_pkt_build(&p, buf, sizeof(buf)), 0);
		buf[17] = (uint8_t)(20 + 8 + 12 + 2 * _i);
		buf[39] = (uint8_t)(8 + 12 + 2 * _i);
		rig_in_bytes(r, buf, 42u + 12 + 2 * (unsigned)_i);
		break;
	case 2: /* WRITE Only without its RETH */
		p.hdrs = 0;
		rig_in(r, &p);
		break;
	default: /* pad larger than the payload */
		ck_assert_int_eq(vs_pkt_seal(&p, VS_SEAL_ALL, scratch, sizeof(scratch)), VS_OK);
		p.bth.padcnt = 3;
		ck_assert_int_eq(vs_pkt_seal(&p, VS_SEAL_ICRC, scratch, sizeof(scratch)), VS_OK);
		rig_in_raw(r, &p);
		break;
	}
	dropped(r);
	rig_free(r);
}
END_TEST

START_TEST(rse_061_062_lengths_that_contradict_each_other)
{
	struct rig *r = rig_new(NULL);
	struct vs_pkt p = rig_pkt(r, VS_OP_RC_SEND_ONLY, P);
	uint8_t scratch[4096];

	rig_post_recv(r, 1, 0, 64);
	p.payload = rig_pattern(P);
	p.payload_len = 16;
	ck_assert_int_eq(vs_pkt_seal(&p, VS_SEAL_ALL, scratch, sizeof(scratch)), VS_OK);
	if (_i == 0)
		p.udp.len = (uint16_t)(p.udp.len - 4);
	else if (_i == 1)
		p.udp.len = (uint16_t)(p.udp.len + 4);
	else if (_i == 2)
		p.ipv4.total_len = (uint16_t)(p.ipv4.total_len + 4);
	else { /* not a multiple of 4 */
		p.payload_len = 15;
		p.pad_len = 0;
		p.bth.padcnt = 0;
		ck_assert_int_eq(vs_pkt_seal(&p, VS_SEAL_LEN, scratch, sizeof(scratch)), VS_OK);
	}
	ck_assert_int_eq(vs_pkt_seal(&p, VS_SEAL_CSUM | VS_SEAL_ICRC, scratch, sizeof(scratch)), VS_OK);
	rig_in_raw(r, &p);
	dropped(r);
	rig_free(r);
}
END_TEST

/* ---- after the error ---- */

START_TEST(rse_063_064_after_a_fatal_nak_the_qp_is_dead)
{
	struct rig *r = rig_new(NULL);

	rig_post_recv(r, 1, 0, 64);
	rig_in_write(r, VS_OP_RC_WRITE_ONLY, P, MEM(r, 0), KEY(r) ^ 0x100, 8, 8);
	rig_expect_nak(r, P, REM_ACCESS, 0);
	rig_expect_wc(r, r->rcq, 1, VS_WC_WR_FLUSH_ERR);
	rig_in_write(r, VS_OP_RC_WRITE_ONLY, P, MEM(r, 0), KEY(r) ^ 0x100, 8, 8);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P + 1, 8);
	rig_in_read(r, P, MEM(r, 0), KEY(r), 8);
	rig_expect_silence(r);
	rig_advance(r, 10000000000ull);
	rig_expect_silence(r);
	rig_expect_no_wc(r);
	rig_free(r);
}
END_TEST

START_TEST(rse_063_what_was_accepted_before_is_still_answered)
{
	struct rig *r = rig_new(NULL);

	rig_in_read(r, P, MEM(r, 0), KEY(r), 2048);
	rig_in_write(r, VS_OP_RC_WRITE_ONLY, P + 2, MEM(r, 0), KEY(r) ^ 0x100, 8, 8);
	rig_expect(r, VS_OP_RC_READ_RESPONSE_FIRST, P);
	rig_expect(r, VS_OP_RC_READ_RESPONSE_LAST, P + 1);
	rig_expect_nak(r, P + 2, REM_ACCESS, 1);
	rig_expect_silence(r);
	rig_free(r);
}
END_TEST

START_TEST(rse_065_a_full_receive_cq)
{
	struct rig *r = rig_new(NULL);
	int err;
	struct vs_cq *small = vs_cq_create(r->dev, 1, 9, &err);
	struct vs_qp_init init = {.type = VS_QPT_RC, .send_cq = r->scq, .recv_cq = small, .cap = {8, 8, 1, 1, 0}};
	struct vs_qp *old = r->qp;
	struct vs_async a;

	r->qp = rig_qp(r, &init);
	rig_to(r, r->qp, VS_QPS_RTS);
	rig_post_recv(r, 1, 0, 64);
	rig_post_recv(r, 2, 0, 64);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 8);
	rig_expect_ack(r, P, 1);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P + 1, 8);
	rig_expect_silence(r); /* class G: no acknowledge */
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_ERR);
	ck_assert_int_eq(vs_dev_poll_async(r->dev, &a), 1);
	ck_assert(a.type == VS_EVENT_CQ_ERR && a.object == small && a.cookie == 9);
	r->qp = old;
	rig_free(r);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("rse_qp");
	TCase *tc = tcase_create("resources");

	tcase_add_test(tc, rse_036_more_reads_than_allowed);
	tcase_add_test(tc, rse_037_a_qp_that_serves_no_reads);
	tcase_add_loop_test(tc, rse_038_no_receive_posted, 0, 2);
	tcase_add_loop_test(tc, rse_039_the_rnr_nak_names_the_qps_timer, 0, 32);
	tcase_add_test(tc, rse_040_silence_after_an_rnr_nak);
	tcase_add_test(tc, rse_041_044_a_retry_is_served_as_soon_as_there_is_a_receive);
	tcase_add_test(tc, rse_042_a_write_imm_without_a_receive);
	tcase_add_test(tc, rse_043_only_the_last_packet_of_a_write_imm_needs_a_receive);
	tcase_add_test(tc, rse_045_047_a_window_is_invalidated_and_dead);
	tcase_add_loop_test(tc, rse_046_a_key_that_cannot_be_invalidated, 0, 3);
	tcase_add_test(tc, rse_048_the_solicited_bit_makes_an_event);
	suite_add_tcase(s, tc);

	tc = tcase_create("dropped");
	tcase_add_test(tc, rse_049_a_pkey_that_does_not_match);
	tcase_add_test(tc, rse_049_059_keys_are_counted_only_in_packets_that_are_whole);
	tcase_add_loop_test(tc, rse_050_one_full_member_is_enough_and_needed, 0, 4);
	tcase_add_loop_test(tc, rse_051_052_053_a_qp_that_is_not_there, 0, 3);
	tcase_add_loop_test(tc, rse_054_another_transport_version, 1, 16);
	tcase_add_test(tc, rse_055_reserved_bits_are_ignored);
	tcase_add_loop_test(tc, rse_056_migreq_0_and_1_are_both_taken, 0, 2);
	tcase_add_loop_test(tc, rse_057_058_addresses_that_are_not_the_connections, 0, 3);
	tcase_add_test(tc, rse_058_a_rocev1_packet_for_a_rocev2_gid);
	tcase_add_loop_test(tc, rse_059_a_bad_icrc, 0, 3);
	tcase_add_loop_test(tc, rse_060_runts, 0, 4);
	tcase_add_loop_test(tc, rse_061_062_lengths_that_contradict_each_other, 0, 4);
	suite_add_tcase(s, tc);

	tc = tcase_create("aftermath");
	tcase_add_test(tc, rse_063_064_after_a_fatal_nak_the_qp_is_dead);
	tcase_add_test(tc, rse_063_what_was_accepted_before_is_still_answered);
	tcase_add_test(tc, rse_065_a_full_receive_cq);
	suite_add_tcase(s, tc);
	return s;
}
