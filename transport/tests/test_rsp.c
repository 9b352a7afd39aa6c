/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_rsp.c - RSP rows of the inventory: what the RC responder does about PSNs, acknowledges and duplicates.
 * Each test is one row; its name begins with the id.
 */
#include <string.h>

#include "core/core.h"
#include "rig.h"

#define P RIG_PEER_PSN /* the first PSN that the DUT expects; the third one is past the 24-bit wrap */
#define MEM(r, off) ((uintptr_t)(r)->mem + (off))
#define KEY(r) vs_mr_rkey((r)->mr)

static void recvs(struct rig *r, unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++)
		ck_assert_int_eq(rig_post_recv(r, 100 + i, i * 4096, 4096), VS_OK);
}

static void in_atomic(struct rig *r, uint8_t opcode, uint32_t psn, uint64_t va, uint64_t swapadd, uint64_t compare)
{
	rig_in_atomic(r, opcode, psn, va, KEY(r), swapadd, compare);
}

static uint64_t mem64(const struct rig *r, uint32_t off)
{
	uint64_t v;

	memcpy(&v, r->mem + off, 8);
	return v;
}

static void set64(struct rig *r, uint32_t off, uint64_t v)
{
	memcpy(r->mem + off, &v, 8);
}

START_TEST(rsp_001_002_the_expected_psn_is_executed_and_the_first_msn_is_1)
{
	struct rig *r = rig_new(NULL);
	struct vs_pkt p;

	recvs(r, 1);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 64);
	p = rig_expect(r, VS_OP_RC_ACKNOWLEDGE, P);
	ck_assert_uint_eq(p.ext.aeth.syndrome >> 5, 0);
	ck_assert_uint_eq(p.ext.aeth.msn, 1);
	rig_expect_wc(r, r->rcq, 100, VS_WC_SUCCESS);
	ck_assert_mem_eq(r->mem, rig_pattern(P), 64);
	rig_free(r);
}
END_TEST

START_TEST(rsp_003_msn_counts_messages_not_packets)
{
	struct rig *r = rig_new(NULL);

	recvs(r, 2);
	rig_in_send(r, VS_OP_RC_SEND_FIRST, P, 1024);
	rig_expect_ack(r, P, 0);
	rig_in_send(r, VS_OP_RC_SEND_LAST, P + 1, 10);
	rig_expect_ack(r, P + 1, 1);
	ck_assert_uint_eq(rig_expect_wc(r, r->rcq, 100, VS_WC_SUCCESS).byte_len, 1034);
	rig_free(r);
}
END_TEST

START_TEST(rsp_004_a_read_counts_as_one_message)
{
	struct rig *r = rig_new(NULL);
	struct vs_pkt p;

	rig_in_read(r, P, MEM(r, 0), KEY(r), 2500);
	p = rig_expect(r, VS_OP_RC_READ_RESPONSE_FIRST, P);
	ck_assert_uint_le(p.ext.aeth.msn, 1);
	rig_expect(r, VS_OP_RC_READ_RESPONSE_MIDDLE, P + 1);
	p = rig_expect(r, VS_OP_RC_READ_RESPONSE_LAST, P + 2);
	ck_assert_uint_eq(p.ext.aeth.msn, 1);
	rig_free(r);
}
END_TEST

START_TEST(rsp_005_duplicates_leave_the_msn_alone)
{
	struct rig *r = rig_new(NULL);
	struct vs_pkt p;

	recvs(r, 4);
	set64(r, 4096, 7);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 64);
	rig_in_write(r, VS_OP_RC_WRITE_ONLY, P + 1, MEM(r, 8192), KEY(r), 32, 32);
	rig_in_read(r, P + 2, MEM(r, 0), KEY(r), 8);
	in_atomic(r, VS_OP_RC_FETCH_ADD, P + 3, MEM(r, 4096), 1, 0);
	rig_drain(r);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 64);
	p = rig_expect(r, VS_OP_RC_ACKNOWLEDGE, P);
	ck_assert_uint_eq(p.ext.aeth.msn, 4);
	rig_in_write(r, VS_OP_RC_WRITE_ONLY, P + 1, MEM(r, 8192), KEY(r), 32, 32);
	p = rig_expect(r, VS_OP_RC_ACKNOWLEDGE, P + 1);
	ck_assert_uint_eq(p.ext.aeth.msn, 4);
	rig_in_read(r, P + 2, MEM(r, 0), KEY(r), 8);
	p = rig_expect(r, VS_OP_RC_READ_RESPONSE_ONLY, P + 2);
	ck_assert_uint_eq(p.ext.aeth.msn, 4);
	in_atomic(r, VS_OP_RC_FETCH_ADD, P + 3, MEM(r, 4096), 1, 0);
	p = rig_expect(r, VS_OP_RC_ATOMIC_ACKNOWLEDGE, P + 3);
	ck_assert_uint_eq(p.ext.aeth.msn, 4);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P + 4, 64); /* and the next message goes on from there */
	rig_expect_ack(r, P + 4, 5);
	rig_free(r);
}
END_TEST

START_TEST(rsp_006_msn_wraps_at_24_bits)
{
	struct rig *r = rig_new(NULL);

	recvs(r, 2);
	r->qp->resp.msn = 0xfffffe; /* preset: the way there is 2^24 messages long */
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 8);
	rig_expect_ack(r, P, 0xffffff);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P + 1, 8);
	rig_expect_ack(r, P + 1, 0);
	rig_free(r);
}
END_TEST

START_TEST(rsp_007_without_ackreq_nothing_is_sent_and_a_later_ack_covers_it)
{
	struct rig *r = rig_new(NULL);
	struct vs_pkt p = rig_pkt(r, VS_OP_RC_SEND_ONLY, P);

	recvs(r, 2);
	p.bth.ackreq = false;
	rig_in(r, &p);
	rig_expect_silence(r);
	rig_expect_wc(r, r->rcq, 100, VS_WC_SUCCESS);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P + 1, 4);
	rig_expect_ack(r, P + 1, 2);
	rig_free(r);
}
END_TEST

START_TEST(rsp_008_acks_that_wait_become_one)
{
	struct rig *r = rig_new(NULL);
	unsigned i;

	for (i = 0; i < 8; i++)
		rig_in_write(r, VS_OP_RC_WRITE_ONLY, P + i, MEM(r, 64 * i), KEY(r), 64, 64);
	rig_expect_ack(r, P + 7, 8);
	rig_expect_silence(r);
	rig_free(r);
}
END_TEST

START_TEST(rsp_009_an_ack_is_a_plain_packet_with_the_requests_psn)
{
	struct rig *r = rig_new(NULL);
	struct vs_pkt p;

	recvs(r, 1);
	p = rig_pkt(r, VS_OP_RC_SEND_ONLY, P);
	p.bth.se = true;
	p.payload = rig_pattern(P);
	p.payload_len = 3;
	rig_in(r, &p);
	p = rig_expect(r, VS_OP_RC_ACKNOWLEDGE, P);
	ck_assert(!p.bth.ackreq && !p.bth.se);
	ck_assert_uint_eq(p.bth.padcnt, 0);
	ck_assert_uint_eq(p.payload_len, 0);
	ck_assert_uint_eq(p.bth.destqp, RIG_PEER_QPN);
	ck_assert_uint_eq(p.bth.pkey, 0xffff);
	rig_free(r);
}
END_TEST

START_TEST(rsp_010_a_gap_draws_a_sequence_nak_and_nothing_is_delivered)
{
	struct rig *r = rig_new(NULL);

	recvs(r, 2);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 8);
	rig_expect_ack(r, P, 1);
	rig_expect_wc(r, r->rcq, 100, VS_WC_SUCCESS);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P + 2, 8);
	rig_expect_nak(r, P + 1, 0x60, 1);
	rig_expect_no_wc(r);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_RTS);
	ck_assert_uint_eq(rig_counter(r, VS_CNT_OUT_OF_SEQ_REQUEST), 1);
	rig_free(r);
}
END_TEST

START_TEST(rsp_011_013_one_gap_draws_one_nak)
{
	struct rig *r = rig_new(NULL);

	recvs(r, 5);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P + 1, 8);
	rig_expect_nak(r, P, 0x60, 0);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P + 2, 8);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P + 3, 8);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P + 1, 8);
	rig_expect_silence(r);
	rig_advance(r, 1000000000);
	rig_expect_silence(r);
	rig_free(r);
}
END_TEST

START_TEST(rsp_012_the_nak_is_armed_again_when_the_gap_is_filled)
{
	struct rig *r = rig_new(NULL);

	recvs(r, 5);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P + 1, 8);
	rig_expect_nak(r, P, 0x60, 0);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 8);
	rig_expect_ack(r, P, 1);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P + 2, 8);
	rig_expect_nak(r, P + 1, 0x60, 1);
	rig_free(r);
}
END_TEST

START_TEST(rsp_014_015_half_the_circle_is_ahead_and_half_is_behind)
{
	struct rig *r = rig_new(NULL);

	recvs(r, 2);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P + 0x7fffff, 8);
	rig_expect_nak(r, P, 0x60, 0);
	ck_assert_uint_eq(rig_counter(r, VS_CNT_DUPLICATE_REQUEST), 0);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P - 0x7fffff, 8); /* the last sure duplicate */
	ck_assert_uint_eq(rig_counter(r, VS_CNT_DUPLICATE_REQUEST), 1);
	rig_expect_no_wc(r);
	rig_free(r);
}
END_TEST

START_TEST(rsp_016_the_expected_psn_wraps)
{
	struct rig *r = rig_new(NULL);
	unsigned i;

	recvs(r, 5);
	for (i = 0; i < 5; i++) {
		rig_in_send(r, VS_OP_RC_SEND_ONLY, P + i, 8);
		rig_expect_ack(r, P + i, i + 1);
		rig_expect_wc(r, r->rcq, 100 + i, VS_WC_SUCCESS);
	}
	rig_free(r);
}
END_TEST

START_TEST(rsp_017_a_duplicate_send_is_acknowledged_and_not_delivered)
{
	struct rig *r = rig_new(NULL);

	recvs(r, 2);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 8);
	rig_expect_ack(r, P, 1);
	rig_expect_wc(r, r->rcq, 100, VS_WC_SUCCESS);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 8);
	rig_expect_ack(r, P, 1);
	rig_expect_no_wc(r);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P + 1, 8); /* takes the second receive, not the third */
	rig_expect_ack(r, P + 1, 2);
	rig_expect_wc(r, r->rcq, 101, VS_WC_SUCCESS);
	rig_free(r);
}
END_TEST

START_TEST(rsp_018_a_duplicate_that_asks_for_no_ack_gets_none)
{
	struct rig *r = rig_new(NULL);
	struct vs_pkt p;

	recvs(r, 2);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 8);
	rig_drain(r);
	rig_expect_wc(r, r->rcq, 100, VS_WC_SUCCESS);
	p = rig_pkt(r, VS_OP_RC_SEND_ONLY, P);
	p.bth.ackreq = false;
	rig_in(r, &p);
	rig_expect_silence(r);
	rig_expect_no_wc(r);
	rig_free(r);
}
END_TEST

START_TEST(rsp_019_a_duplicate_write_does_not_write_again)
{
	struct rig *r = rig_new(NULL);

	rig_in_write(r, VS_OP_RC_WRITE_ONLY, P, MEM(r, 0), KEY(r), 16, 16);
	rig_expect_ack(r, P, 1);
	ck_assert_mem_eq(r->mem, rig_pattern(P), 16);
	memset(r->mem, 0xbb, 16);
	rig_in_write(r, VS_OP_RC_WRITE_ONLY, P, MEM(r, 0), KEY(r), 16, 16);
	rig_expect_ack(r, P, 1);
	ck_assert_uint_eq(r->mem[0], 0xbb);
	ck_assert_uint_eq(r->mem[15], 0xbb);
	rig_free(r);
}
END_TEST

START_TEST(rsp_020_a_duplicate_write_imm_makes_no_second_completion)
{
	struct rig *r = rig_new(NULL);
	struct vs_wc wc;

	recvs(r, 2);
	rig_in_write(r, VS_OP_RC_WRITE_ONLY_IMM, P, MEM(r, 0), KEY(r), 16, 16);
	rig_expect_ack(r, P, 1);
	wc = rig_expect_wc(r, r->rcq, 100, VS_WC_SUCCESS);
	ck_assert_int_eq(wc.opcode, VS_WC_RECV_RDMA_WITH_IMM);
	ck_assert_uint_eq(wc.imm_data, 0x01020304);
	ck_assert_uint_eq(wc.byte_len, 16);
	rig_in_write(r, VS_OP_RC_WRITE_ONLY_IMM, P, MEM(r, 0), KEY(r), 16, 16);
	rig_expect_ack(r, P, 1);
	rig_expect_no_wc(r);
	rig_free(r);
}
END_TEST

START_TEST(rsp_021_an_older_duplicate_is_acknowledged_too)
{
	struct rig *r = rig_new(NULL);
	struct vs_pkt p;
	unsigned i;

	recvs(r, 5);
	for (i = 0; i < 5; i++)
		rig_in_send(r, VS_OP_RC_SEND_ONLY, P + i, 8);
	rig_drain(r);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P + 2, 8);
	ck_assert(rig_out(r, &p));
	ck_assert_uint_eq(p.bth.opcode, VS_OP_RC_ACKNOWLEDGE);
	ck_assert(vs_psn_ge(p.bth.psn, vs_psn_add(P, 2)) && vs_psn_le(p.bth.psn, vs_psn_add(P, 4)));
	ck_assert_uint_eq(p.ext.aeth.msn, 5);
	rig_free(r);
}
END_TEST

START_TEST(rsp_022_a_duplicate_read_is_executed_again_on_memory_as_it_is)
{
	struct rig *r = rig_new(NULL);
	struct vs_pkt p;

	memset(r->mem, 1, 2048);
	rig_in_read(r, P, MEM(r, 0), KEY(r), 2048);
	p = rig_expect(r, VS_OP_RC_READ_RESPONSE_FIRST, P);
	ck_assert_uint_eq(p.payload[0], 1);
	rig_expect(r, VS_OP_RC_READ_RESPONSE_LAST, P + 1);
	memset(r->mem, 2, 2048);
	rig_in_read(r, P, MEM(r, 0), KEY(r), 2048);
	p = rig_expect(r, VS_OP_RC_READ_RESPONSE_FIRST, P);
	ck_assert_uint_eq(p.payload[0], 2);
	p = rig_expect(r, VS_OP_RC_READ_RESPONSE_LAST, P + 1);
	ck_assert_uint_eq(p.payload[1023], 2);
	rig_expect_silence(r);
	rig_free(r);
}
END_TEST

START_TEST(rsp_023_a_part_of_a_read_is_read_again_from_its_own_start)
{
	struct rig *r = rig_new(NULL);
	struct vs_pkt p;
	unsigned i;

	for (i = 0; i < 3072; i++)
		r->mem[i] = (uint8_t)(i >> 8);
	rig_in_read(r, P, MEM(r, 0), KEY(r), 3000);
	rig_drain(r);
	rig_in_read(r, P + 1, MEM(r, 1024), KEY(r), 1976);
	p = rig_expect(r, VS_OP_RC_READ_RESPONSE_FIRST, P + 1);
	ck_assert_mem_eq(p.payload, r->mem + 1024, 1024);
	p = rig_expect(r, VS_OP_RC_READ_RESPONSE_LAST, P + 2);
	ck_assert_uint_eq(p.payload_len, 952);
	rig_in_read(r, P + 2, MEM(r, 2048), KEY(r), 952);
	rig_expect(r, VS_OP_RC_READ_RESPONSE_ONLY, P + 2);
	rig_expect_silence(r);
	rig_free(r);
}
END_TEST

START_TEST(rsp_024_a_duplicate_read_that_is_no_part_of_the_read_is_dropped)
{
	struct rig *r = rig_new(NULL);

	rig_in_read(r, P, MEM(r, 2048), KEY(r), 2048);
	rig_drain(r);
	switch (_i) {
	case 0:
		rig_in_read(r, P, MEM(r, 2048), KEY(r) ^ 0x100, 2048);
		break;
	case 1:
		rig_in_read(r, P, MEM(r, 1024), KEY(r), 2048);
		break;
	case 2:
		rig_in_read(r, P + 1, MEM(r, 3072), KEY(r), 1025);
		break;
	case 3:
		rig_in_read(r, P, 0xfffffffffffff000ull, KEY(r), 2048);
		break;
	case 4: /* right bytes under the wrong PSN */
		rig_in_read(r, P + 1, MEM(r, 2048), KEY(r), 1024);
		break;
	default:
		break;
	}
	rig_expect_silence(r);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_RTS);
	rig_free(r);
}
END_TEST

START_TEST(rsp_025_a_duplicate_read_of_a_region_that_is_gone_is_not_answered_with_data)
{
	struct rig *r = rig_new(NULL);
	struct vs_pkt p;
	uint32_t key = KEY(r);

	rig_in_read(r, P, MEM(r, 0), key, 64);
	rig_drain(r);
	ck_assert_int_eq(vs_mr_dereg(r->mr), VS_OK);
	rig_in_read(r, P, MEM(r, 0), key, 64);
	while (rig_out(r, &p))
		ck_assert_uint_eq(p.payload_len, 0);
	rig_free(r);
}
END_TEST

START_TEST(rsp_026_028_what_is_older_than_the_saved_results_is_dropped)
{
	struct rig_opt o = {.max_rd_atomic = 2};
	struct rig *r = rig_new(&o);
	unsigned i;

	set64(r, 0, 10);
	rig_in_read(r, P, MEM(r, 64), KEY(r), 64);
	rig_drain(r);
	in_atomic(r, VS_OP_RC_FETCH_ADD, P + 1, MEM(r, 0), 1, 0);
	rig_drain(r);
	for (i = 2; i < 4; i++) {
		in_atomic(r, VS_OP_RC_FETCH_ADD, P + i, MEM(r, 0), 1, 0);
		rig_drain(r);
	}
	rig_in_read(r, P, MEM(r, 64), KEY(r), 64);
	rig_expect_silence(r);
	in_atomic(r, VS_OP_RC_FETCH_ADD, P + 1, MEM(r, 0), 1, 0);
	rig_expect_silence(r);
	ck_assert_uint_eq(mem64(r, 0), 13);
	in_atomic(r, VS_OP_RC_FETCH_ADD, P + 2, MEM(r, 0), 1, 0); /* still saved */
	rig_expect(r, VS_OP_RC_ATOMIC_ACKNOWLEDGE, P + 2);
	rig_free(r);
}
END_TEST

START_TEST(rsp_027_a_duplicate_atomic_is_replayed_not_repeated)
{
	struct rig *r = rig_new(NULL);
	struct vs_pkt p;
	uint8_t op = _i == 0 ? VS_OP_RC_FETCH_ADD : VS_OP_RC_COMPARE_SWAP;

	set64(r, 0, 5);
	in_atomic(r, op, P, MEM(r, 0), 3, 5);
	p = rig_expect(r, VS_OP_RC_ATOMIC_ACKNOWLEDGE, P);
	ck_assert_uint_eq(p.ext.atomicack_origdata, 5);
	ck_assert_uint_eq(mem64(r, 0), _i == 0 ? 8 : 3);
	set64(r, 0, 100);
	in_atomic(r, op, P, MEM(r, 0), 3, 5);
	p = rig_expect(r, VS_OP_RC_ATOMIC_ACKNOWLEDGE, P);
	ck_assert_uint_eq(p.ext.atomicack_origdata, 5);
	ck_assert_uint_eq(mem64(r, 0), 100);
	rig_free(r);
}
END_TEST

START_TEST(rsp_029_a_duplicate_atomic_with_other_operands_is_dropped)
{
	struct rig *r = rig_new(NULL);

	set64(r, 0, 5);
	in_atomic(r, VS_OP_RC_COMPARE_SWAP, P, MEM(r, 0), 3, 5);
	rig_drain(r);
	in_atomic(r, VS_OP_RC_COMPARE_SWAP, P, MEM(r, 0), 3, 4);
	rig_expect_silence(r);
	in_atomic(r, VS_OP_RC_COMPARE_SWAP, P, MEM(r, 0), 4, 5);
	rig_expect_silence(r);
	in_atomic(r, VS_OP_RC_FETCH_ADD, P, MEM(r, 0), 3, 5);
	rig_expect_silence(r);
	in_atomic(r, VS_OP_RC_COMPARE_SWAP, P, MEM(r, 8), 3, 5);
	rig_expect_silence(r);
	ck_assert_uint_eq(mem64(r, 0), 3);
	rig_free(r);
}
END_TEST

START_TEST(rsp_030_duplicates_are_served_while_a_nak_is_outstanding)
{
	struct rig *r = rig_new(NULL);

	recvs(r, 3);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 8);
	rig_expect_ack(r, P, 1);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P + 2, 8);
	rig_expect_nak(r, P + 1, 0x60, 1);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 8);
	rig_expect_ack(r, P, 1);
	rig_expect_silence(r);
	rig_free(r);
}
END_TEST

START_TEST(rsp_031_read_responses_come_before_the_ack_behind_them)
{
	struct rig *r = rig_new(NULL);

	recvs(r, 1);
	rig_in_read(r, P, MEM(r, 8192), KEY(r), 2048);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P + 2, 8);
	rig_expect(r, VS_OP_RC_READ_RESPONSE_FIRST, P);
	rig_expect(r, VS_OP_RC_READ_RESPONSE_LAST, P + 1);
	rig_expect_ack(r, P + 2, 2);
	rig_free(r);
}
END_TEST

START_TEST(rsp_032_the_form_of_a_read_response)
{
	struct rig *r = rig_new(NULL);
	struct vs_pkt p;
	unsigned i;

	for (i = 0; i < 4096; i++)
		r->mem[i] = (uint8_t)(i * 7);
	rig_in_read(r, P, MEM(r, 0), KEY(r), 2053);
	p = rig_expect(r, VS_OP_RC_READ_RESPONSE_FIRST, P);
	ck_assert(p.hdrs == VS_HDR_AETH && p.payload_len == 1024);
	ck_assert_mem_eq(p.payload, r->mem, 1024);
	p = rig_expect(r, VS_OP_RC_READ_RESPONSE_MIDDLE, P + 1);
	ck_assert(p.hdrs == 0 && p.payload_len == 1024);
	ck_assert_mem_eq(p.payload, r->mem + 1024, 1024);
	p = rig_expect(r, VS_OP_RC_READ_RESPONSE_LAST, P + 2);
	ck_assert(p.hdrs == VS_HDR_AETH && p.payload_len == 5 && p.bth.padcnt == 3);
	ck_assert_mem_eq(p.payload, r->mem + 2048, 5);
	rig_free(r);
}
END_TEST

START_TEST(rsp_033_034_a_read_of_at_most_one_mtu_has_one_response)
{
	static const uint32_t len[] = {0, 1, 1023, 1024};
	struct rig *r = rig_new(NULL);
	struct vs_pkt p;

	rig_in_read(r, P, MEM(r, 0), len[_i] == 0 ? 0xbad00 : KEY(r), len[_i]);
	p = rig_expect(r, VS_OP_RC_READ_RESPONSE_ONLY, P);
	ck_assert(p.hdrs == VS_HDR_AETH);
	ck_assert_uint_eq(p.payload_len, len[_i]);
	rig_expect_silence(r);
	rig_free(r);
}
END_TEST

START_TEST(rsp_035_a_read_takes_as_many_psns_as_its_response_has_packets)
{
	struct rig *r = rig_new(NULL);

	recvs(r, 2);
	rig_in_read(r, P, MEM(r, 8192), KEY(r), 3000);
	rig_drain(r);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P + 1, 8);
	rig_expect_no_wc(r);
	ck_assert_uint_eq(rig_counter(r, VS_CNT_DUPLICATE_REQUEST), 1);
	rig_drain(r);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P + 3, 8);
	rig_expect_ack(r, P + 3, 2);
	rig_expect_wc(r, r->rcq, 100, VS_WC_SUCCESS);
	rig_free(r);
}
END_TEST

START_TEST(rsp_036_one_sided_requests_take_no_receive_and_make_no_completion)
{
	struct rig *r = rig_new(NULL);

	recvs(r, 1);
	rig_in_write(r, VS_OP_RC_WRITE_ONLY, P, MEM(r, 8192), KEY(r), 16, 16);
	rig_in_read(r, P + 1, MEM(r, 8192), KEY(r), 16);
	in_atomic(r, VS_OP_RC_FETCH_ADD, P + 2, MEM(r, 8192), 1, 0);
	rig_drain(r);
	rig_expect_no_wc(r);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P + 3, 8);
	rig_expect_wc(r, r->rcq, 100, VS_WC_SUCCESS);
	rig_free(r);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("rsp");
	TCase *tc = tcase_create("responder");

	tcase_add_test(tc, rsp_001_002_the_expected_psn_is_executed_and_the_first_msn_is_1);
	tcase_add_test(tc, rsp_003_msn_counts_messages_not_packets);
	tcase_add_test(tc, rsp_004_a_read_counts_as_one_message);
	tcase_add_test(tc, rsp_005_duplicates_leave_the_msn_alone);
	tcase_add_test(tc, rsp_006_msn_wraps_at_24_bits);
	tcase_add_test(tc, rsp_007_without_ackreq_nothing_is_sent_and_a_later_ack_covers_it);
	tcase_add_test(tc, rsp_008_acks_that_wait_become_one);
	tcase_add_test(tc, rsp_009_an_ack_is_a_plain_packet_with_the_requests_psn);
	tcase_add_test(tc, rsp_010_a_gap_draws_a_sequence_nak_and_nothing_is_delivered);
	tcase_add_test(tc, rsp_011_013_one_gap_draws_one_nak);
	tcase_add_test(tc, rsp_012_the_nak_is_armed_again_when_the_gap_is_filled);
	tcase_add_test(tc, rsp_014_015_half_the_circle_is_ahead_and_half_is_behind);
	tcase_add_test(tc, rsp_016_the_expected_psn_wraps);
	tcase_add_test(tc, rsp_017_a_duplicate_send_is_acknowledged_and_not_delivered);
	tcase_add_test(tc, rsp_018_a_duplicate_that_asks_for_no_ack_gets_none);
	tcase_add_test(tc, rsp_019_a_duplicate_write_does_not_write_again);
	tcase_add_test(tc, rsp_020_a_duplicate_write_imm_makes_no_second_completion);
	tcase_add_test(tc, rsp_021_an_older_duplicate_is_acknowledged_too);
	tcase_add_test(tc, rsp_022_a_duplicate_read_is_executed_again_on_memory_as_it_is);
	tcase_add_test(tc, rsp_023_a_part_of_a_read_is_read_again_from_its_own_start);
	tcase_add_loop_test(tc, rsp_024_a_duplicate_read_that_is_no_part_of_the_read_is_dropped, 0, 5);
	tcase_add_test(tc, rsp_025_a_duplicate_read_of_a_region_that_is_gone_is_not_answered_with_data);
	tcase_add_test(tc, rsp_026_028_what_is_older_than_the_saved_results_is_dropped);
	tcase_add_loop_test(tc, rsp_027_a_duplicate_atomic_is_replayed_not_repeated, 0, 2);
	tcase_add_test(tc, rsp_029_a_duplicate_atomic_with_other_operands_is_dropped);
	tcase_add_test(tc, rsp_030_duplicates_are_served_while_a_nak_is_outstanding);
	tcase_add_test(tc, rsp_031_read_responses_come_before_the_ack_behind_them);
	tcase_add_test(tc, rsp_032_the_form_of_a_read_response);
	tcase_add_loop_test(tc, rsp_033_034_a_read_of_at_most_one_mtu_has_one_response, 0, 4);
	tcase_add_test(tc, rsp_035_a_read_takes_as_many_psns_as_its_response_has_packets);
	tcase_add_test(tc, rsp_036_one_sided_requests_take_no_receive_and_make_no_completion);
	suite_add_tcase(s, tc);
	return s;
}
