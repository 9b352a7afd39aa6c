/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_req.c - REQ rows of the inventory: which packets the RC requester makes of work requests, and what
 * completes how. Each test is one row; its name begins with the id.
 */
#include <string.h>

#include "core/core.h"
#include "rig.h"

#define D RIG_DUT_PSN
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void post(struct rig *r, enum vs_wr_opcode op, uint64_t id, uint32_t len)
{
	ck_assert_int_eq(rig_post(r, op, id, 0, len), VS_OK);
}

static int post_flags(struct rig *r, enum vs_wr_opcode op, uint64_t id, uint32_t len, unsigned flags)
{
	struct vs_sge sge;
	struct vs_send_wr wr = rig_wr(r, op, id, &sge, 0, len);

	wr.flags = flags;
	return vs_qp_post_send(r->qp, &wr);
}

START_TEST(req_001_the_first_request_has_the_send_psn)
{
	struct rig *r = rig_new(NULL);

	post(r, VS_WR_SEND, 1, 8);
	rig_expect(r, VS_OP_RC_SEND_ONLY, D);
	rig_free(r);
}
END_TEST

START_TEST(req_002_018_psns_go_up_by_one_and_wrap)
{
	struct rig *r = rig_new(NULL);
	struct vs_pkt p;
	unsigned i;

	for (i = 0; i < 4096; i++)
		r->mem[i] = (uint8_t)(i * 11 >> 3);
	post(r, VS_WR_SEND, 1, 3073); /* fffffe ffffff 000000 000001 */
	p = rig_expect(r, VS_OP_RC_SEND_FIRST, 0xfffffe);
	ck_assert_mem_eq(p.payload, r->mem, 1024);
	p = rig_expect(r, VS_OP_RC_SEND_MIDDLE, 0xffffff);
	ck_assert_mem_eq(p.payload, r->mem + 1024, 1024);
	p = rig_expect(r, VS_OP_RC_SEND_MIDDLE, 0);
	p = rig_expect(r, VS_OP_RC_SEND_LAST, 1);
	ck_assert(p.payload_len == 1 && p.payload[0] == r->mem[3072] && p.bth.ackreq);
	rig_in_ack(r, 0, 0x1f, 0);
	rig_expect_no_wc(r);
	rig_in_ack(r, 1, 0x1f, 1);
	rig_expect_wc(r, r->scq, 1, VS_WC_SUCCESS);
	rig_free(r);
}
END_TEST

START_TEST(req_003_a_multiple_of_the_mtu_has_no_empty_last)
{
	struct rig *r = rig_new(NULL);

	post(r, VS_WR_SEND, 1, 2048);
	ck_assert_uint_eq(rig_expect(r, VS_OP_RC_SEND_FIRST, D).payload_len, 1024);
	ck_assert_uint_eq(rig_expect(r, VS_OP_RC_SEND_LAST, D + 1).payload_len, 1024);
	rig_expect_silence(r);
	rig_free(r);
}
END_TEST

START_TEST(req_004_up_to_one_mtu_is_one_packet)
{
	static const uint32_t len[] = {0, 1, 1024};
	struct rig *r = rig_new(NULL);

	post(r, VS_WR_RDMA_WRITE, 1, len[_i]);
	ck_assert_uint_eq(rig_expect(r, VS_OP_RC_WRITE_ONLY, D).payload_len, len[_i]);
	rig_expect_silence(r);
	rig_in_ack(r, D, 0x1f, 1);
	rig_expect_wc(r, r->scq, 1, VS_WC_SUCCESS);
	rig_free(r);
}
END_TEST

START_TEST(req_005_006_the_pad_fills_up_to_4_with_zeros)
{
	struct rig *r = rig_new(NULL);
	struct vs_pkt p;
	unsigned i;

	post(r, VS_WR_SEND, 1, (uint32_t)_i);
	p = rig_expect(r, VS_OP_RC_SEND_ONLY, D);
	ck_assert_int_eq(p.bth.padcnt, (4 - _i % 4) % 4);
	ck_assert_int_eq((int)p.payload_len, _i);
	ck_assert_uint_eq(p.udp.len % 4, 0);
	for (i = 0; i < p.pad_len; i++)
		ck_assert_uint_eq(p.pad[i], 0);
	rig_free(r);
}
END_TEST

START_TEST(req_007_the_reth_is_in_the_first_packet_alone)
{
	struct rig *r = rig_new(NULL);
	struct vs_pkt p;

	post(r, VS_WR_RDMA_WRITE, 1, 3000);
	p = rig_expect(r, VS_OP_RC_WRITE_FIRST, D);
	ck_assert(p.hdrs == VS_HDR_RETH && p.ext.reth.dmalen == 3000 && p.ext.reth.va == RIG_PEER_VA &&
		  p.ext.reth.rkey == RIG_PEER_RKEY);
	ck_assert_uint_eq(rig_expect(r, VS_OP_RC_WRITE_MIDDLE, D + 1).hdrs, 0);
	ck_assert_uint_eq(rig_expect(r, VS_OP_RC_WRITE_LAST, D + 2).hdrs, 0);
	rig_free(r);
}
END_TEST

START_TEST(req_008_immediate_data_is_in_the_last_packet_alone)
{
	struct rig *r = rig_new(NULL);
	struct vs_pkt p;

	post(r, VS_WR_RDMA_WRITE_WITH_IMM, 1, 2000);
	rig_expect(r, VS_OP_RC_WRITE_FIRST, D);
	p = rig_expect(r, VS_OP_RC_WRITE_LAST_IMM, D + 1);
	ck_assert_uint_eq(p.ext.immdt, 0x1badcafe);
	ck_assert_mem_eq(r->frame + p.payload_off - 4, "\x1b\xad\xca\xfe", 4);
	post(r, VS_WR_SEND_WITH_IMM, 2, 8);
	ck_assert_uint_eq(rig_expect(r, VS_OP_RC_SEND_ONLY_IMM, D + 2).ext.immdt, 0x1badcafe);
	rig_free(r);
}
END_TEST

START_TEST(req_009_the_key_to_invalidate_is_in_the_last_packet_alone)
{
	struct rig *r = rig_new(NULL);

	post(r, VS_WR_SEND_WITH_INV, 1, 2000);
	rig_expect(r, VS_OP_RC_SEND_FIRST, D);
	ck_assert_uint_eq(rig_expect(r, VS_OP_RC_SEND_LAST_INV, D + 1).ext.ieth_rkey, RIG_PEER_RKEY);
	rig_free(r);
}
END_TEST

START_TEST(req_010_solicited_is_in_the_last_packet_of_what_completes_a_receive)
{
	struct rig *r = rig_new(NULL);

	ck_assert_int_eq(post_flags(r, VS_WR_SEND, 1, 2000, VS_SEND_SIGNALED | VS_SEND_SOLICITED), VS_OK);
	ck_assert(!rig_expect(r, VS_OP_RC_SEND_FIRST, D).bth.se);
	ck_assert(rig_expect(r, VS_OP_RC_SEND_LAST, D + 1).bth.se);
	ck_assert_int_eq(post_flags(r, VS_WR_RDMA_WRITE, 2, 8, VS_SEND_SIGNALED | VS_SEND_SOLICITED), VS_OK);
	ck_assert(!rig_expect(r, VS_OP_RC_WRITE_ONLY, D + 2).bth.se);
	ck_assert_int_eq(post_flags(r, VS_WR_RDMA_WRITE_WITH_IMM, 3, 8, VS_SEND_SIGNALED | VS_SEND_SOLICITED), VS_OK);
	ck_assert(rig_expect(r, VS_OP_RC_WRITE_ONLY_IMM, D + 3).bth.se);
	ck_assert_int_eq(post_flags(r, VS_WR_SEND, 4, 8, VS_SEND_SIGNALED), VS_OK);
	ck_assert(!rig_expect(r, VS_OP_RC_SEND_ONLY, D + 4).bth.se);
	rig_free(r);
}
END_TEST

START_TEST(req_011_whatever_must_complete_asks_for_an_ack)
{
	struct rig_opt o = {.dev.ack_every = 4};
	struct rig *r = rig_new(&o);
	unsigned i;

	/* unsignaled ones: every fourth packet, and the last one that there is */
	for (i = 0; i < 6; i++)
		ck_assert_int_eq(post_flags(r, VS_WR_SEND, i, 8, 0), VS_OK);
	for (i = 0; i < 6; i++)
		ck_assert_msg(rig_expect(r, VS_OP_RC_SEND_ONLY, D + i).bth.ackreq == (i == 3 || i == 5), "packet %u",
			      i);
	/* a signaled one before others */
	ck_assert_int_eq(post_flags(r, VS_WR_SEND, 6, 8, VS_SEND_SIGNALED), VS_OK);
	ck_assert_int_eq(post_flags(r, VS_WR_SEND, 7, 8, 0), VS_OK);
	ck_assert(rig_expect(r, VS_OP_RC_SEND_ONLY, D + 6).bth.ackreq);
	rig_free(r);
}
END_TEST

START_TEST(req_011_an_ack_is_asked_for_where_the_next_request_waits_for_it)
{
	struct rig *r = rig_new(NULL);
	struct vs_send_wr inv = {.wr_id = 2, .opcode = VS_WR_LOCAL_INV};

	ck_assert_int_eq(post_flags(r, VS_WR_RDMA_WRITE, 1, 8, 0), VS_OK);
	if (_i == 0)
		ck_assert_int_eq(vs_qp_post_send(r->qp, &inv), VS_OK);
	else
		ck_assert_int_eq(post_flags(r, VS_WR_SEND, 2, 8, VS_SEND_FENCE), VS_OK);
	ck_assert(rig_expect(r, VS_OP_RC_WRITE_ONLY, D).bth.ackreq);
	rig_free(r);
}
END_TEST

START_TEST(req_012_013_014_the_fixed_bits_of_the_bth)
{
	struct rig_opt o = {.dev.pkeys = {0x8123}};
	struct rig *r = rig_new(&o);
	struct vs_pkt p;

	post(r, VS_WR_SEND, 1, 8);
	p = rig_expect(r, VS_OP_RC_SEND_ONLY, D);
	ck_assert(p.bth.resv6 == 0 && p.bth.resv7 == 0 && p.bth.tver == 0 && !p.bth.fecn && !p.bth.becn);
	ck_assert(p.bth.migreq);
	ck_assert_uint_eq(p.bth.pkey, 0x8123);
	ck_assert_uint_eq(p.bth.destqp, RIG_PEER_QPN);
	rig_free(r);
}
END_TEST

START_TEST(req_015_016_017_what_reads_and_atomics_take_of_the_psns)
{
	static const struct {
		enum vs_wr_opcode op;
		uint32_t len, npsn;
		uint8_t opcode;
	} t[] = {
		{VS_WR_RDMA_READ, 3000, 3, VS_OP_RC_READ_REQUEST},
		{VS_WR_RDMA_READ, 3072, 3, VS_OP_RC_READ_REQUEST},
		{VS_WR_RDMA_READ, 0, 1, VS_OP_RC_READ_REQUEST},
		{VS_WR_ATOMIC_FETCH_AND_ADD, 8, 1, VS_OP_RC_FETCH_ADD},
		{VS_WR_ATOMIC_CMP_AND_SWP, 8, 1, VS_OP_RC_COMPARE_SWAP},
		{VS_WR_FLUSH, 100000, 1, VS_OP_RC_FLUSH},
		{VS_WR_ATOMIC_WRITE, 8, 1, VS_OP_RC_ATOMIC_WRITE},
	};
	struct rig *r = rig_new(NULL);
	struct vs_pkt p;

	post(r, t[_i].op, 1, t[_i].len);
	post(r, VS_WR_SEND, 2, 8);
	p = rig_expect(r, t[_i].opcode, D);
	if (t[_i].op == VS_WR_RDMA_READ)
		ck_assert(p.ext.reth.dmalen == t[_i].len && p.ext.reth.va == RIG_PEER_VA);
	if (t[_i].op == VS_WR_ATOMIC_CMP_AND_SWP)
		ck_assert(p.ext.atomiceth.compare == 5 && p.ext.atomiceth.swapadd == 9);
	if (t[_i].op == VS_WR_ATOMIC_FETCH_AND_ADD)
		ck_assert(p.ext.atomiceth.compare == 0 && p.ext.atomiceth.swapadd == 5);
	rig_expect(r, VS_OP_RC_SEND_ONLY, D + t[_i].npsn);
	rig_free(r);
}
END_TEST

START_TEST(req_019_a_read_response_wraps)
{
	struct rig *r = rig_new(NULL);

	post(r, VS_WR_SEND, 1, 8);
	post(r, VS_WR_RDMA_READ, 2, 2500); /* PSNs ffffff 000000 000001 */
	rig_drain(r);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_FIRST, 0xffffff, 1024, 1);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_MIDDLE, 0, 1024, 0);
	ck_assert_mem_eq(r->mem + 1024, rig_pattern(0), 1024);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_LAST, 1, 452, 2);
	rig_expect_wc(r, r->scq, 1, VS_WC_SUCCESS);
	ck_assert_uint_eq(rig_expect_wc(r, r->scq, 2, VS_WC_SUCCESS).byte_len, 2500);
	ck_assert_uint_eq(r->mem[2500], 0xee);
	rig_free(r);
}
END_TEST

START_TEST(req_020_never_more_than_2_to_the_23_psns_are_outstanding)
{
	struct rig_opt o = {.mtu = VS_MTU_256, .max_rd_atomic = 8, .timeout = RIG_NO_TIMEOUT};
	struct rig *r = rig_new(&o);
	struct vs_send_wr wr = {.opcode = VS_WR_RDMA_READ, .flags = VS_SEND_SIGNALED};
	uint32_t psns = 0, half = 0x400000;
	struct vs_pkt p;
	unsigned i;

	/* READs of 2^30 bytes take 2^22 PSNs each: two of them fill the window. The sink need not exist. */
	for (i = 0; i < 3; i++) {
		struct vs_sge sge = {0, 1u << 30, 1};

		wr.wr_id = i;
		wr.sg_list = &sge;
		wr.num_sge = 1;
		wr.rdma.remote_addr = RIG_PEER_VA;
		ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	}
	while (rig_out(r, &p))
		psns += vs_psn_count(p.ext.reth.dmalen, 256);
	ck_assert_uint_eq(psns, 2 * half);
	rig_free(r);
}
END_TEST

START_TEST(req_021_no_more_reads_and_atomics_than_max_rd_atomic)
{
	struct rig_opt o = {.max_rd_atomic = 2};
	struct rig *r = rig_new(&o);

	post(r, VS_WR_RDMA_READ, 1, 8);
	post(r, VS_WR_ATOMIC_FETCH_AND_ADD, 2, 8);
	post(r, VS_WR_RDMA_READ, 3, 8);
	rig_expect(r, VS_OP_RC_READ_REQUEST, D);
	rig_expect(r, VS_OP_RC_FETCH_ADD, D + 1);
	rig_expect_silence(r);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_ONLY, D, 8, 1);
	rig_expect(r, VS_OP_RC_READ_REQUEST, D + 2);
	rig_expect_silence(r);
	rig_free(r);
}
END_TEST

START_TEST(req_022_a_qp_that_may_not_read)
{
	struct rig_opt o = {.max_rd_atomic = RIG_ZERO};
	struct rig *r = rig_new(&o);

	post(r, VS_WR_RDMA_READ, 1, 8);
	rig_expect_silence(r);
	rig_expect_wc(r, r->scq, 1, VS_WC_LOC_QP_OP_ERR);
	rig_free(r);
}
END_TEST

START_TEST(req_023_a_fence_waits_for_reads_and_atomics)
{
	struct rig *r = rig_new(NULL);

	post(r, VS_WR_RDMA_READ, 1, 2000);
	post(r, VS_WR_ATOMIC_FETCH_AND_ADD, 2, 8);
	ck_assert_int_eq(post_flags(r, VS_WR_SEND, 3, 2000, VS_SEND_SIGNALED | VS_SEND_FENCE), VS_OK);
	rig_expect(r, VS_OP_RC_READ_REQUEST, D);
	rig_expect(r, VS_OP_RC_FETCH_ADD, D + 2);
	rig_expect_silence(r);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_FIRST, D, 1024, 1);
	rig_expect_silence(r);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_LAST, D + 1, 976, 1);
	rig_expect_silence(r); /* the atomic is still open */
	{
		struct vs_pkt p = rig_pkt(r, VS_OP_RC_ATOMIC_ACKNOWLEDGE, D + 2);

		p.ext.aeth.syndrome = 0x1f;
		p.ext.aeth.msn = 2;
		p.ext.atomicack_origdata = 1;
		rig_in(r, &p);
	}
	/* and it sends what the READ brought */
	ck_assert_mem_eq(rig_expect(r, VS_OP_RC_SEND_FIRST, D + 3).payload + 8, rig_pattern(D) + 8, 1016);
	rig_free(r);
}
END_TEST

START_TEST(req_024_without_a_fence_a_send_does_not_wait_for_a_read)
{
	struct rig *r = rig_new(NULL);

	post(r, VS_WR_RDMA_READ, 1, 8);
	post(r, VS_WR_SEND, 2, 8);
	rig_expect(r, VS_OP_RC_READ_REQUEST, D);
	rig_expect(r, VS_OP_RC_SEND_ONLY, D + 1);
	rig_free(r);
}
END_TEST

static struct vs_mw *bind_window(struct rig *r, uint64_t id)
{
	int err;
	struct vs_mw *mw = vs_mw_alloc(r->pd, VS_MW_TYPE_2, &err);
	struct vs_send_wr wr = {.wr_id = id, .opcode = VS_WR_BIND_MW, .flags = VS_SEND_SIGNALED};

	wr.bind.mw = mw;
	wr.bind.mr = r->mr;
	wr.bind.rkey = vs_mw_rkey(mw) + 1;
	wr.bind.addr = (uintptr_t)r->mem;
	wr.bind.length = 4096;
	wr.bind.access = VS_ACCESS_REMOTE_WRITE;
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	return mw;
}

START_TEST(req_025_a_local_invalidate_waits_for_everything_before_it)
{
	struct rig *r = rig_new(NULL);
	struct vs_mw *mw = bind_window(r, 1);
	struct vs_send_wr inv = {.wr_id = 3, .opcode = VS_WR_LOCAL_INV, .flags = VS_SEND_SIGNALED};

	rig_expect_silence(r);
	rig_expect_wc(r, r->scq, 1, VS_WC_SUCCESS);
	post(r, VS_WR_RDMA_WRITE, 2, 8);
	inv.invalidate_rkey = vs_mw_rkey(mw);
	ck_assert_int_eq(vs_qp_post_send(r->qp, &inv), VS_OK);
	rig_expect(r, VS_OP_RC_WRITE_ONLY, D);
	rig_expect_silence(r);
	/* the window is still there for the peer */
	rig_in_write(r, VS_OP_RC_WRITE_ONLY, RIG_PEER_PSN, (uintptr_t)r->mem, vs_mw_rkey(mw), 8, 8);
	rig_expect_ack(r, RIG_PEER_PSN, 1);
	rig_expect_no_wc(r);
	rig_in_ack(r, D, 0x1f, 1);
	rig_expect_silence(r);
	rig_expect_wc(r, r->scq, 2, VS_WC_SUCCESS);
	ck_assert_int_eq(rig_expect_wc(r, r->scq, 3, VS_WC_SUCCESS).opcode, VS_WC_LOCAL_INV);
	rig_in_write(r, VS_OP_RC_WRITE_ONLY, RIG_PEER_PSN + 1, (uintptr_t)r->mem, vs_mw_rkey(mw), 8, 8);
	rig_expect_nak(r, RIG_PEER_PSN + 1, 0x62, 1);
	rig_free(r);
}
END_TEST

START_TEST(req_026_027_completions_come_in_post_order_with_the_right_opcodes)
{
	static const enum vs_wr_opcode op[] = {VS_WR_SEND,
					       VS_WR_SEND_WITH_IMM,
					       VS_WR_SEND_WITH_INV,
					       VS_WR_RDMA_WRITE,
					       VS_WR_RDMA_WRITE_WITH_IMM,
					       VS_WR_RDMA_READ,
					       VS_WR_ATOMIC_CMP_AND_SWP,
					       VS_WR_ATOMIC_FETCH_AND_ADD,
					       VS_WR_FLUSH,
					       VS_WR_ATOMIC_WRITE};
	static const enum vs_wc_opcode wc[] = {VS_WC_SEND,       VS_WC_SEND,        VS_WC_SEND,      VS_WC_RDMA_WRITE,
					       VS_WC_RDMA_WRITE, VS_WC_RDMA_READ,   VS_WC_COMP_SWAP, VS_WC_FETCH_ADD,
					       VS_WC_FLUSH,      VS_WC_ATOMIC_WRITE};
	struct rig_opt o = {.max_rd_atomic = 8};
	struct rig *r = rig_new(&o);
	unsigned i;

	for (i = 0; i < COUNT(op); i++)
		post(r, op[i], i, 8);
	ck_assert_uint_eq(rig_drain(r), COUNT(op));
	for (i = 5; i < COUNT(op); i++) {
		bool atomic = i == 6 || i == 7;
		struct vs_pkt p = rig_pkt(r, atomic ? VS_OP_RC_ATOMIC_ACKNOWLEDGE : VS_OP_RC_READ_RESPONSE_ONLY, D + i);

		p.ext.aeth.syndrome = 0x1f;
		p.payload = rig_pattern(i);
		p.payload_len = i == 5 ? 8 : 0;
		rig_in(r, &p);
	}
	for (i = 0; i < COUNT(op); i++)
		ck_assert_msg(rig_expect_wc(r, r->scq, i, VS_WC_SUCCESS).opcode == wc[i], "request %u", i);
	rig_expect_no_wc(r);
	rig_free(r);
}
END_TEST

START_TEST(req_028_an_unsignaled_success_makes_no_completion)
{
	struct rig *r = rig_new(NULL);

	ck_assert_int_eq(post_flags(r, VS_WR_SEND, 1, 8, 0), VS_OK);
	rig_drain(r);
	rig_in_ack(r, D, 0x1f, 1);
	rig_expect_no_wc(r);
	rig_free(r);
}
END_TEST

START_TEST(req_029_an_unsignaled_failure_makes_one)
{
	struct rig *r = rig_new(NULL);

	ck_assert_int_eq(post_flags(r, VS_WR_RDMA_WRITE, 1, 8, 0), VS_OK);
	rig_drain(r);
	rig_in_ack(r, D, 0x62, 0);
	rig_expect_wc(r, r->scq, 1, VS_WC_REM_ACCESS_ERR);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_ERR);
	rig_free(r);
}
END_TEST

START_TEST(req_030_sq_sig_all_signals_everything)
{
	struct rig_opt o = {.sq_sig_all = true};
	struct rig *r = rig_new(&o);

	ck_assert_int_eq(post_flags(r, VS_WR_SEND, 1, 8, 0), VS_OK);
	rig_drain(r);
	rig_in_ack(r, D, 0x1f, 1);
	rig_expect_wc(r, r->scq, 1, VS_WC_SUCCESS);
	rig_free(r);
}
END_TEST

START_TEST(req_031_inline_data_needs_no_key_and_is_copied_at_post)
{
	struct rig *r = rig_new(NULL);
	char text[] = "left at post";
	struct vs_send_wr wr = {.wr_id = 1, .opcode = VS_WR_SEND, .flags = VS_SEND_SIGNALED | VS_SEND_INLINE};
	struct vs_pkt p;

	wr.inline_data = text;
	wr.inline_len = sizeof(text);
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	memset(text, 'x', sizeof(text));
	p = rig_expect(r, VS_OP_RC_SEND_ONLY, D);
	ck_assert_str_eq((const char *)p.payload, "left at post");
	rig_free(r);
}
END_TEST

START_TEST(req_032_inline_with_an_operation_that_sends_nothing)
{
	struct rig *r = rig_new(NULL);

	ck_assert_int_eq(post_flags(r, _i == 0 ? VS_WR_RDMA_READ : VS_WR_ATOMIC_FETCH_AND_ADD, 1, 8, VS_SEND_INLINE),
			 VS_ERR_INVAL);
	ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_WR_INLINE_OP);
	rig_expect_silence(r);
	rig_free(r);
}
END_TEST

START_TEST(req_033_034_035_036_what_is_refused_at_post)
{
	struct rig *r = rig_new(NULL);
	uint8_t data[129] = {0};
	struct vs_sge sge[5] = {{0}};
	struct vs_send_wr wr = {.wr_id = 1, .opcode = VS_WR_SEND};
	unsigned i;

	wr.flags = VS_SEND_INLINE;
	wr.inline_data = data;
	wr.inline_len = 129;
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_ERR_INVAL);
	ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_WR_INLINE_LEN);
	wr.inline_len = 128;
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	wr = (struct vs_send_wr){.wr_id = 1, .opcode = VS_WR_SEND, .sg_list = sge, .num_sge = 5};
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_ERR_INVAL);
	ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_WR_NUM_SGE);
	wr.num_sge = 1;
	sge[0].length = 0x80000001u;
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_ERR_INVAL);
	ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_WR_LENGTH);
	sge[0].length = 0;
	for (i = 1; i < 64; i++)
		ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_ERR_NOSPACE);
	ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_QUEUE_FULL);
	ck_assert_uint_eq(rig_drain(r), 64);
	rig_free(r);
}
END_TEST

START_TEST(req_037_a_bad_local_key_fails_before_anything_is_sent)
{
	struct rig *r = rig_new(NULL);
	struct vs_sge sge[2];
	struct vs_send_wr wr = rig_wr(r, _i == 0 ? VS_WR_SEND : VS_WR_RDMA_WRITE, 1, &sge[0], 0, 1024);

	sge[1] = (struct vs_sge){(uintptr_t)r->mem, 1024, sge[0].lkey ^ 0x100};
	wr.num_sge = 2; /* the first packet would be good */
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	post(r, VS_WR_SEND, 2, 8);
	rig_expect_silence(r);
	rig_expect_wc(r, r->scq, 1, VS_WC_LOC_PROT_ERR);
	rig_expect_wc(r, r->scq, 2, VS_WC_WR_FLUSH_ERR);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_ERR);
	rig_free(r);
}
END_TEST

START_TEST(req_037_what_was_sent_before_completes_before_the_failure)
{
	struct rig *r = rig_new(NULL);
	struct vs_sge sge;
	struct vs_send_wr wr;

	post(r, VS_WR_SEND, 1, 8);
	wr = rig_wr(r, VS_WR_SEND, 2, &sge, 0, 8);
	sge.lkey ^= 0x100;
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	post(r, VS_WR_SEND, 3, 8);
	rig_expect(r, VS_OP_RC_SEND_ONLY, D);
	rig_expect_silence(r);
	rig_expect_no_wc(r);
	rig_in_ack(r, D, 0x1f, 1);
	rig_expect_wc(r, r->scq, 1, VS_WC_SUCCESS);
	rig_expect_wc(r, r->scq, 2, VS_WC_LOC_PROT_ERR);
	rig_expect_wc(r, r->scq, 3, VS_WC_WR_FLUSH_ERR);
	rig_free(r);
}
END_TEST

START_TEST(req_038_a_bad_key_of_a_read_or_atomic_sink)
{
	struct rig *r = rig_new(NULL);
	struct vs_sge sge;
	struct vs_send_wr wr = rig_wr(r, _i == 0 ? VS_WR_RDMA_READ : VS_WR_ATOMIC_FETCH_AND_ADD, 1, &sge, 0, 8);
	struct vs_pkt p;

	sge.lkey ^= 0x100;
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	rig_expect(r, _i == 0 ? VS_OP_RC_READ_REQUEST : VS_OP_RC_FETCH_ADD, D);
	if (_i == 0) {
		rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_ONLY, D, 8, 1);
	} else {
		p = rig_pkt(r, VS_OP_RC_ATOMIC_ACKNOWLEDGE, D);
		p.ext.aeth.syndrome = 0x1f;
		rig_in(r, &p);
	}
	rig_expect_wc(r, r->scq, 1, VS_WC_LOC_PROT_ERR);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_ERR);
	ck_assert_uint_eq(r->mem[0], 0xee);
	rig_free(r);
}
END_TEST

START_TEST(req_027_after_the_queue_has_wrapped_a_request_has_its_own_operands)
{
	struct rig *r = rig_new(NULL);
	struct vs_sge sge;
	struct vs_send_wr wr = rig_wr(r, VS_WR_ATOMIC_CMP_AND_SWP, 99, &sge, 0, 8);
	struct vs_pkt p;
	unsigned i;

	for (i = 0; i < 64; i++) { /* once round: these carry the operands 5 and 9 */
		post(r, VS_WR_SEND, i, 8);
		rig_drain(r);
		rig_in_ack(r, vs_psn_add(D, (int32_t)i), 0x1f, i + 1);
		rig_expect_wc(r, r->scq, i, VS_WC_SUCCESS);
	}
	wr.atomic.compare_add = 1234;
	wr.atomic.swap = 5678;
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	p = rig_expect(r, VS_OP_RC_COMPARE_SWAP, vs_psn_add(D, 64));
	ck_assert(p.ext.atomiceth.compare == 1234 && p.ext.atomiceth.swapadd == 5678);
	rig_free(r);
}
END_TEST

START_TEST(req_039_both_keys_of_a_write_are_bad_the_local_one_is_said)
{
	struct rig *r = rig_new(NULL);
	struct vs_sge sge;
	struct vs_send_wr wr = rig_wr(r, VS_WR_RDMA_WRITE, 1, &sge, 0, 64);

	sge.lkey ^= 0x100;
	wr.rdma.rkey = 0xbad;
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	rig_expect_silence(r);
	rig_expect_wc(r, r->scq, 1, VS_WC_LOC_PROT_ERR);
	rig_free(r);
}
END_TEST

START_TEST(req_040_both_keys_of_a_read_or_atomic_are_bad_the_remote_one_is_said)
{
	static const enum vs_wr_opcode op[] = {VS_WR_RDMA_READ, VS_WR_ATOMIC_FETCH_AND_ADD, VS_WR_ATOMIC_CMP_AND_SWP};
	struct rig *r = rig_new(NULL);
	struct vs_sge sge;
	struct vs_send_wr wr = rig_wr(r, op[_i], 1, &sge, 0, 8);

	sge.lkey ^= 0x100;
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	ck_assert_uint_eq(rig_drain(r), 1);
	rig_in_ack(r, D, 0x62, 0);
	rig_expect_wc(r, r->scq, 1, VS_WC_REM_ACCESS_ERR);
	rig_free(r);
}
END_TEST

START_TEST(req_041_an_atomic_has_8_bytes_of_buffer)
{
	struct rig *r = rig_new(NULL);

	post(r, VS_WR_ATOMIC_FETCH_AND_ADD, 1, _i == 0 ? 4 : 16);
	rig_expect_silence(r);
	rig_expect_wc(r, r->scq, 1, VS_WC_LOC_LEN_ERR);
	rig_free(r);
}
END_TEST

START_TEST(req_042_an_atomic_result_split_over_two_elements)
{
	struct rig *r = rig_new(NULL);
	struct vs_sge sge[2];
	struct vs_send_wr wr = rig_wr(r, VS_WR_ATOMIC_FETCH_AND_ADD, 1, &sge[0], 0, 4);
	struct vs_pkt p;
	uint64_t v = 0x1122334455667788ull;

	sge[1] = sge[0];
	sge[1].addr += 100;
	wr.num_sge = 2;
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	rig_drain(r);
	p = rig_pkt(r, VS_OP_RC_ATOMIC_ACKNOWLEDGE, D);
	p.ext.aeth.syndrome = 0x1f;
	p.ext.atomicack_origdata = v;
	rig_in(r, &p);
	rig_expect_wc(r, r->scq, 1, VS_WC_SUCCESS);
	ck_assert_mem_eq(r->mem, (const uint8_t *)&v, 4);
	ck_assert_mem_eq(r->mem + 100, (const uint8_t *)&v + 4, 4);
	ck_assert_uint_eq(r->mem[4], 0xee);
	rig_free(r);
}
END_TEST

START_TEST(req_043_operations_that_the_transport_does_not_have)
{
	static const struct {
		enum vs_qp_type type;
		enum vs_wr_opcode op;
	} t[] = {
		{VS_QPT_UD, VS_WR_RDMA_READ},
		{VS_QPT_UD, VS_WR_RDMA_WRITE},
		{VS_QPT_UD, VS_WR_ATOMIC_FETCH_AND_ADD},
		{VS_QPT_UC, VS_WR_ATOMIC_CMP_AND_SWP},
		{VS_QPT_UD, VS_WR_SEND_WITH_INV},
		{VS_QPT_UC, VS_WR_RDMA_READ},
		{VS_QPT_UC, VS_WR_SEND_WITH_INV},
		{VS_QPT_RC, (enum vs_wr_opcode)10},
	};
	struct rig_opt o = {.type = t[_i].type};
	struct rig *r = rig_new(&o);

	ck_assert_int_eq(rig_post(r, t[_i].op, 1, 0, 8), VS_ERR_INVAL);
	ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_WR_OPCODE);
	rig_expect_silence(r);
	rig_expect_no_wc(r);
	rig_free(r);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("req");
	TCase *tc = tcase_create("packets");

	tcase_add_test(tc, req_001_the_first_request_has_the_send_psn);
	tcase_add_test(tc, req_002_018_psns_go_up_by_one_and_wrap);
	tcase_add_test(tc, req_003_a_multiple_of_the_mtu_has_no_empty_last);
	tcase_add_loop_test(tc, req_004_up_to_one_mtu_is_one_packet, 0, 3);
	tcase_add_loop_test(tc, req_005_006_the_pad_fills_up_to_4_with_zeros, 1, 5);
	tcase_add_test(tc, req_007_the_reth_is_in_the_first_packet_alone);
	tcase_add_test(tc, req_008_immediate_data_is_in_the_last_packet_alone);
	tcase_add_test(tc, req_009_the_key_to_invalidate_is_in_the_last_packet_alone);
	tcase_add_test(tc, req_010_solicited_is_in_the_last_packet_of_what_completes_a_receive);
	tcase_add_test(tc, req_011_whatever_must_complete_asks_for_an_ack);
	tcase_add_loop_test(tc, req_011_an_ack_is_asked_for_where_the_next_request_waits_for_it, 0, 2);
	tcase_add_test(tc, req_012_013_014_the_fixed_bits_of_the_bth);
	tcase_add_loop_test(tc, req_015_016_017_what_reads_and_atomics_take_of_the_psns, 0, 7);
	tcase_add_test(tc, req_019_a_read_response_wraps);
	tcase_add_test(tc, req_020_never_more_than_2_to_the_23_psns_are_outstanding);
	tcase_add_test(tc, req_021_no_more_reads_and_atomics_than_max_rd_atomic);
	suite_add_tcase(s, tc);

	tc = tcase_create("order");
	tcase_add_test(tc, req_022_a_qp_that_may_not_read);
	tcase_add_test(tc, req_023_a_fence_waits_for_reads_and_atomics);
	tcase_add_test(tc, req_024_without_a_fence_a_send_does_not_wait_for_a_read);
	tcase_add_test(tc, req_025_a_local_invalidate_waits_for_everything_before_it);
	tcase_add_test(tc, req_026_027_completions_come_in_post_order_with_the_right_opcodes);
	tcase_add_test(tc, req_027_after_the_queue_has_wrapped_a_request_has_its_own_operands);
	tcase_add_test(tc, req_028_an_unsignaled_success_makes_no_completion);
	tcase_add_test(tc, req_029_an_unsignaled_failure_makes_one);
	tcase_add_test(tc, req_030_sq_sig_all_signals_everything);
	suite_add_tcase(s, tc);

	tc = tcase_create("local faults");
	tcase_add_test(tc, req_031_inline_data_needs_no_key_and_is_copied_at_post);
	tcase_add_loop_test(tc, req_032_inline_with_an_operation_that_sends_nothing, 0, 2);
	tcase_add_test(tc, req_033_034_035_036_what_is_refused_at_post);
	tcase_add_loop_test(tc, req_037_a_bad_local_key_fails_before_anything_is_sent, 0, 2);
	tcase_add_test(tc, req_037_what_was_sent_before_completes_before_the_failure);
	tcase_add_loop_test(tc, req_038_a_bad_key_of_a_read_or_atomic_sink, 0, 2);
	tcase_add_test(tc, req_039_both_keys_of_a_write_are_bad_the_local_one_is_said);
	tcase_add_loop_test(tc, req_040_both_keys_of_a_read_or_atomic_are_bad_the_remote_one_is_said, 0, 3);
	tcase_add_loop_test(tc, req_041_an_atomic_has_8_bytes_of_buffer, 0, 2);
	tcase_add_test(tc, req_042_an_atomic_result_split_over_two_elements);
	tcase_add_loop_test(tc, req_043_operations_that_the_transport_does_not_have, 0, 8);
	suite_add_tcase(s, tc);
	return s;
}
