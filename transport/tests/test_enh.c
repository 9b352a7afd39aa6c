/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_enh.c - ENH rows of the inventory: ATOMIC WRITE and FLUSH, from both sides. Each test is one row; its name
 * begins with the id. ENH-010 and -011 are about XRC, which the engine does not have.
 *
 * ENH-002: NAK 0x61. ENH-004 rests on no public sentence (the amendment): it is what the engine does.
 */
#include "qps.h"

#define P RIG_PEER_PSN
#define D RIG_DUT_PSN
#define FLUSH_RIGHTS (VS_ACCESS_FLUSH_GLOBAL | VS_ACCESS_FLUSH_PERSISTENT)

/* What FLUSH and ATOMIC WRITE asked of the memory. */
static struct {
	unsigned flushes, stores;
	uint64_t addr, len, value;
	uint8_t plt;
} seen;

static void note_flush(void *ctx, uint64_t addr, uint64_t len, uint8_t plt)
{
	(void)ctx;
	seen.flushes++;
	seen.addr = addr;
	seen.len = len;
	seen.plt = plt;
}

static void note_write8(void *ctx, uint64_t addr, uint64_t value)
{
	seen.stores++;
	seen.addr = addr;
	seen.value = value;
	vs_dma_host.write8(ctx, addr, value);
}

static struct rig *rig_with_memory(struct rig_opt o)
{
	memset(&seen, 0, sizeof(seen));
	o.dev.dma = vs_dma_host;
	o.dev.dma.flush = note_flush;
	o.dev.dma.write8 = note_write8;
	return rig_new(&o);
}

static struct rig *plain(void)
{
	return rig_with_memory((struct rig_opt){.type = VS_QPT_RC});
}

static void in_atomic_write(struct rig *r, uint32_t psn, uint64_t va, uint32_t rkey, uint32_t dmalen, uint32_t len)
{
	rig_in_write(r, VS_OP_RC_ATOMIC_WRITE, psn, va, rkey, dmalen, len);
}

static void in_flush(struct rig *r, uint32_t psn, uint64_t va, uint32_t rkey, uint32_t len, uint8_t plt, uint8_t sel)
{
	struct vs_pkt p = rig_pkt(r, VS_OP_RC_FLUSH, psn);

	p.ext.feth.plt = plt;
	p.ext.feth.sel = sel;
	p.ext.reth.va = va;
	p.ext.reth.rkey = rkey;
	p.ext.reth.dmalen = len;
	rig_in(r, &p);
}

/* READ Response Only without payload. */
static void answered(struct rig *r, uint32_t psn, uint32_t msn)
{
	struct vs_pkt p = rig_expect(r, VS_OP_RC_READ_RESPONSE_ONLY, psn);

	ck_assert_uint_eq(p.payload_len, 0);
	ck_assert_uint_eq(p.pad_len, 0);
	ck_assert_uint_eq(p.ext.aeth.syndrome, 0x1f);
	ck_assert_uint_eq(p.ext.aeth.msn, msn);
	nothing_happens(r);
}

static void refused_by(struct rig *r, uint32_t psn, uint8_t syndrome, uint32_t msn)
{
	rig_expect_nak(r, psn, syndrome, msn);
	rig_expect_async(r, syndrome == 0x62 ? VS_EVENT_QP_ACCESS_ERR : VS_EVENT_QP_REQ_ERR);
	nothing_happens(r);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_ERR);
	ck_assert(seen.flushes == 0 && seen.stores == 0);
}

static void untouched(const struct rig *r)
{
	uint32_t i;

	for (i = 0; i < RIG_MEM; i++)
		if (r->mem[i] != 0xee)
			ck_abort_msg("byte %u was written", i);
}

/* ---- ATOMIC WRITE ---- */

START_TEST(enh_001_an_atomic_write_stores_8_bytes_at_once)
{
	struct rig *r = plain();
	uint64_t want;

	memcpy(&want, rig_pattern(P), 8);
	in_atomic_write(r, P, MEM(r, 64), KEY(r), 8, 8);
	answered(r, P, 1);
	ck_assert(seen.stores == 1 && seen.addr == MEM(r, 64) && seen.value == want);
	ck_assert_mem_eq(r->mem + 64, rig_pattern(P), 8);
	ck_assert(r->mem[63] == 0xee && r->mem[72] == 0xee);
	in_atomic_write(r, P + 1, MEM(r, 64), KEY(r), 8, 8); /* one PSN */
	answered(r, P + 1, 2);
	rig_free(r);
}
END_TEST

START_TEST(enh_001_the_requester_sends_it_and_completes_with_its_answer)
{
	struct rig *r = plain();
	struct vs_pkt p;

	memcpy(r->mem, "8 bytes.", 8);
	rig_post(r, VS_WR_ATOMIC_WRITE, 1, 0, 8);
	rig_post(r, VS_WR_SEND, 2, 0, 8);
	p = rig_expect(r, VS_OP_RC_ATOMIC_WRITE, D);
	ck_assert(p.ext.reth.va == RIG_PEER_VA && p.ext.reth.rkey == RIG_PEER_RKEY && p.ext.reth.dmalen == 8);
	ck_assert(p.bth.ackreq && p.payload_len == 8);
	ck_assert_mem_eq(p.payload, "8 bytes.", 8);
	rig_expect(r, VS_OP_RC_SEND_ONLY, D + 1);
	rig_in_ack(r, D, 0x1f, 1); /* an acknowledge is not its answer */
	rig_expect_no_wc(r);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_ONLY, D, 0, 1);
	ck_assert_int_eq(rig_expect_wc(r, r->scq, 1, VS_WC_SUCCESS).opcode, VS_WC_ATOMIC_WRITE);
	rig_in_ack(r, D + 1, 0x1f, 2);
	rig_expect_wc(r, r->scq, 2, VS_WC_SUCCESS);
	nothing_happens(r);
	rig_free(r);
}
END_TEST

START_TEST(enh_001_inline_and_what_it_is_refused_for_at_the_requester)
{
	struct rig *r = plain();
	struct vs_send_wr wr = {.wr_id = 1, .opcode = VS_WR_ATOMIC_WRITE, .flags = VS_SEND_SIGNALED | VS_SEND_INLINE};

	wr.inline_data = "inline!!";
	wr.inline_len = 8;
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	ck_assert_mem_eq(rig_expect(r, VS_OP_RC_ATOMIC_WRITE, D).payload, "inline!!", 8);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_ONLY, D, 0, 1);
	rig_expect_wc(r, r->scq, 1, VS_WC_SUCCESS);
	rig_post(r, VS_WR_ATOMIC_WRITE, 2, 0, _i == 0 ? 4 : _i == 1 ? 16 : 0); /* ENH-002 on this side */
	rig_expect_silence(r);
	ck_assert_uint_eq(rig_expect_wc(r, r->scq, 2, VS_WC_LOC_LEN_ERR).vendor_err, VS_REASON_ATOMIC_LENGTH);
	rig_free(r);
}
END_TEST

START_TEST(enh_002_an_atomic_write_of_another_length)
{
	static const uint32_t other[] = {0, 4, 16};
	struct rig *r = plain();
	uint32_t n = other[_i % 3];

	if (_i < 3)
		in_atomic_write(r, P, MEM(r, 64), KEY(r), n, 8); /* the RETH says so */
	else if (_i < 6)
		in_atomic_write(r, P, MEM(r, 64), KEY(r), 8, n); /* the packet is so long */
	else
		in_atomic_write(r, P, MEM(r, 64), KEY(r), n, n);
	refused_by(r, P, 0x61, 0);
	untouched(r);
	rig_free(r);
}
END_TEST

START_TEST(enh_003_a_misaligned_atomic_write)
{
	struct rig *r = plain();

	in_atomic_write(r, P, MEM(r, 64) + (uint64_t)_i, KEY(r), 8, 8);
	refused_by(r, P, 0x61, 0);
	untouched(r);
	rig_free(r);
}
END_TEST

START_TEST(enh_003_keys_and_rights_of_an_atomic_write)
{
	struct rig *r = rig_with_memory((struct rig_opt){.access = _i == 0 ? VS_ACCESS_REMOTE_READ : 0});
	struct vs_mr_attr ma = {MEM(r, 0), 64, MEM(r, 0), VS_ACCESS_LOCAL_WRITE | VS_ACCESS_REMOTE_READ};
	int err;
	struct vs_mr *mr = vs_mr_reg(r->pd, &ma, &err);

	switch (_i) {
	case 0: /* the QP does not allow it */
		in_atomic_write(r, P, MEM(r, 0), KEY(r), 8, 8);
		break;
	case 1:
		in_atomic_write(r, P, MEM(r, 0), KEY(r) ^ 0x100, 8, 8);
		break;
	case 2: /* the region does not allow it */
		in_atomic_write(r, P, MEM(r, 0), vs_mr_rkey(mr), 8, 8);
		break;
	default:
		in_atomic_write(r, P, MEM(r, 0) + RIG_MEM, KEY(r), 8, 8);
		break;
	}
	refused_by(r, P, _i == 0 ? 0x61 : 0x62, 0);
	untouched(r);
	rig_free(r);
}
END_TEST

START_TEST(enh_004_a_duplicate_atomic_write_is_answered_and_not_repeated)
{
	struct rig *r = plain();
	unsigned i;

	in_atomic_write(r, P, MEM(r, 64), KEY(r), 8, 8);
	answered(r, P, 1);
	memset(r->mem + 64, 0x77, 8); /* the host goes on */
	for (i = 0; i < 3; i++) {
		in_atomic_write(r, P, MEM(r, 64), KEY(r), 8, 8);
		answered(r, P, 1);
	}
	ck_assert_uint_eq(seen.stores, 1);
	ck_assert_uint_eq(r->mem[64], 0x77);
	ck_assert_uint_eq(rig_counter(r, VS_CNT_DUPLICATE_REQUEST), 3);
	in_atomic_write(r, P + 1, MEM(r, 64), KEY(r), 8, 8);
	answered(r, P + 1, 2);
	ck_assert_uint_eq(seen.stores, 2);
	rig_free(r);
}
END_TEST

START_TEST(enh_004_009_a_duplicate_of_what_is_not_kept_is_dropped)
{
	struct rig_opt o = {.max_rd_atomic = 1};
	struct rig *r = rig_with_memory(o);

	if (_i == 0)
		in_atomic_write(r, P, MEM(r, 64), KEY(r), 8, 8);
	else
		in_flush(r, P, MEM(r, 0), KEY(r), 64, 1, 0);
	answered(r, P, 1);
	rig_in_read(r, P + 1, MEM(r, 0), KEY(r), 8); /* takes the one place */
	rig_expect(r, VS_OP_RC_READ_RESPONSE_ONLY, P + 1);
	if (_i == 0)
		in_atomic_write(r, P, MEM(r, 64), KEY(r), 8, 8);
	else
		in_flush(r, P, MEM(r, 0), KEY(r), 64, 1, 0);
	nothing_happens(r);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_RTS);
	ck_assert_uint_eq(seen.stores + seen.flushes, 1);
	rig_free(r);
}
END_TEST

START_TEST(enh_001_005_they_take_the_places_of_reads)
{
	struct rig_opt o = {.max_rd_atomic = 2};
	struct rig *r = rig_with_memory(o);

	in_flush(r, P, MEM(r, 0), KEY(r), 64, 1, 0);
	in_atomic_write(r, P + 1, MEM(r, 64), KEY(r), 8, 8);
	in_flush(r, P + 2, MEM(r, 0), KEY(r), 64, 1, 0); /* one too many */
	rig_expect(r, VS_OP_RC_READ_RESPONSE_ONLY, P);
	rig_expect(r, VS_OP_RC_READ_RESPONSE_ONLY, P + 1);
	rig_expect_nak(r, P + 2, 0x61, 2);
	rig_free(r);
	r = rig_with_memory(o); /* and the requester keeps to its depth */
	rig_post(r, VS_WR_FLUSH, 1, 0, 8);
	rig_post(r, VS_WR_ATOMIC_WRITE, 2, 0, 8);
	rig_post(r, VS_WR_FLUSH, 3, 0, 8);
	rig_expect(r, VS_OP_RC_FLUSH, D);
	rig_expect(r, VS_OP_RC_ATOMIC_WRITE, D + 1);
	rig_expect_silence(r);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_ONLY, D, 0, 1);
	rig_expect_wc(r, r->scq, 1, VS_WC_SUCCESS);
	rig_expect(r, VS_OP_RC_FLUSH, D + 2);
	rig_free(r);
}
END_TEST

START_TEST(enh_001_005_an_answer_with_bytes_in_it_is_bad)
{
	struct rig *r = plain();

	rig_post(r, _i % 2 == 0 ? VS_WR_FLUSH : VS_WR_ATOMIC_WRITE, 1, 0, 8);
	ck_assert_uint_eq(rig_drain(r), 1);
	if (_i < 2)
		rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_ONLY, D, 4, 1);
	else
		rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_FIRST, D, 0, 1);
	rig_expect_wc(r, r->scq, 1, VS_WC_BAD_RESP_ERR);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_ERR);
	rig_free(r);
}
END_TEST

/* ---- FLUSH ---- */

START_TEST(enh_005_a_flush_of_a_range_or_of_the_region)
{
	struct rig *r = plain();
	struct vs_mr_attr ma = {MEM(r, 4096), 8192, MEM(r, 4096), VS_ACCESS_LOCAL_WRITE | FLUSH_RIGHTS};
	int err;
	struct vs_mr *mr = vs_mr_reg(r->pd, &ma, &err);
	uint8_t plt = (uint8_t)(1 + _i / 2);

	in_flush(r, P, MEM(r, 5000), vs_mr_rkey(mr), 100, plt, (uint8_t)(_i % 2));
	answered(r, P, 1);
	ck_assert_uint_eq(seen.flushes, 1);
	ck_assert_uint_eq(seen.plt, plt);
	if (_i % 2 == 0)
		ck_assert(seen.addr == MEM(r, 5000) && seen.len == 100);
	else /* whatever range the RETH names */
		ck_assert(seen.addr == MEM(r, 4096) && seen.len == 8192);
	in_flush(r, P + 1, MEM(r, 12287), vs_mr_rkey(mr), 1, plt, 0); /* one PSN; the last byte */
	answered(r, P + 1, 2);
	untouched(r);
	rig_free(r);
}
END_TEST

START_TEST(enh_005_a_flush_comes_behind_the_writes_before_it)
{
	struct rig *r = plain();

	rig_in_write(r, VS_OP_RC_WRITE_ONLY, P, MEM(r, 0), KEY(r), 64, 64);
	in_flush(r, P + 2, MEM(r, 0), KEY(r), 64, 1, 0); /* out of order: not now */
	ck_assert_uint_eq(seen.flushes, 0);
	in_flush(r, P + 1, MEM(r, 0), KEY(r), 64, 1, 0);
	ck_assert_uint_eq(seen.flushes, 1);
	rig_expect_ack(r, P, 1);
	rig_free(r);
}
END_TEST

START_TEST(enh_005_memory_that_needs_no_flush)
{
	struct rig *r = rig_new(NULL); /* no flush among its operations */

	in_flush(r, P, MEM(r, 0), KEY(r), 64, 3, 0);
	ck_assert_uint_eq(rig_expect(r, VS_OP_RC_READ_RESPONSE_ONLY, P).payload_len, 0);
	nothing_happens(r);
	rig_free(r);
}
END_TEST

START_TEST(enh_005_the_requester_completes_with_its_answer)
{
	struct rig *r = plain();

	rig_post(r, VS_WR_RDMA_WRITE, 1, 0, 64);
	rig_post(r, VS_WR_FLUSH, 2, 0, 64);
	rig_expect(r, VS_OP_RC_WRITE_ONLY, D);
	rig_expect(r, VS_OP_RC_FLUSH, D + 1);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_ONLY, D + 1, 0, 2); /* acknowledges the WRITE, too */
	ck_assert_int_eq(rig_expect_wc(r, r->scq, 1, VS_WC_SUCCESS).opcode, VS_WC_RDMA_WRITE);
	ck_assert_int_eq(rig_expect_wc(r, r->scq, 2, VS_WC_SUCCESS).opcode, VS_WC_FLUSH);
	nothing_happens(r);
	rig_free(r);
}
END_TEST

START_TEST(enh_006_a_flush_has_no_payload)
{
	struct rig *r = plain();
	struct vs_sge sge;
	struct vs_send_wr wr = rig_wr(r, VS_WR_FLUSH, 1, &sge, 0, 5000);
	struct vs_pkt p;

	wr.flush.plt = 2;
	wr.flush.sel = (uint8_t)_i;
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	p = rig_expect(r, VS_OP_RC_FLUSH, D);
	rig_expect_silence(r); /* one packet, whatever the length */
	ck_assert(p.payload_len == 0 && p.pad_len == 0 && p.bth.padcnt == 0);
	ck_assert(p.ext.feth.plt == 2 && p.ext.feth.sel == _i && p.ext.feth.rsv == 0);
	ck_assert(p.ext.reth.va == RIG_PEER_VA && p.ext.reth.rkey == RIG_PEER_RKEY && p.ext.reth.dmalen == 5000);
	p = rig_pkt(r, VS_OP_RC_FLUSH, P); /* and one that has is invalid */
	p.ext.feth.plt = 1;
	p.ext.reth.va = MEM(r, 0);
	p.ext.reth.rkey = KEY(r);
	p.ext.reth.dmalen = 8;
	p.payload = rig_pattern(P);
	p.payload_len = 8;
	rig_in(r, &p);
	rig_expect_nak(r, P, 0x61, 0);
	ck_assert_uint_eq(seen.flushes, 0);
	rig_free(r);
}
END_TEST

START_TEST(enh_006_what_a_flush_work_request_may_say)
{
	static const uint8_t bad[][2] = {{0, 0}, {4, 0}, {1, 2}, {3, 255}}; /* plt, sel */
	struct rig *r = plain();
	struct vs_sge sge;
	struct vs_send_wr wr = rig_wr(r, VS_WR_FLUSH, 1, &sge, 0, 8);

	wr.flush.plt = bad[_i][0];
	wr.flush.sel = bad[_i][1];
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_ERR_INVAL);
	ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_WR_FLUSH);
	nothing_happens(r);
	rig_free(r);
}
END_TEST

START_TEST(enh_007_a_flush_that_the_qp_does_not_allow)
{
	static const struct {
		uint32_t allowed;
		uint8_t plt;
	} t[] = {
		{VS_ACCESS_FLUSH_GLOBAL, 2},     {VS_ACCESS_FLUSH_GLOBAL, 3}, {VS_ACCESS_FLUSH_PERSISTENT, 1},
		{VS_ACCESS_FLUSH_PERSISTENT, 3}, {VS_ACCESS_REMOTE_WRITE, 1},
	};
	struct rig *r = rig_with_memory((struct rig_opt){.access = t[_i].allowed});

	in_flush(r, P, MEM(r, 0), KEY(r), 64, t[_i].plt, 0);
	refused_by(r, P, 0x61, 0);
	rig_free(r);
}
END_TEST

START_TEST(enh_007_a_flush_that_the_region_does_not_allow)
{
	static const uint32_t all = VS_ACCESS_LOCAL_WRITE | VS_ACCESS_REMOTE_WRITE | VS_ACCESS_REMOTE_READ;
	static const struct {
		uint32_t allowed;
		uint8_t plt;
	} t[] = {
		{VS_ACCESS_FLUSH_GLOBAL, 2},
		{VS_ACCESS_FLUSH_GLOBAL, 3},
		{VS_ACCESS_FLUSH_PERSISTENT, 1},
		{0, 1},
	};
	struct rig *r = plain();
	struct vs_mr_attr ma = {MEM(r, 0), 4096, MEM(r, 0), all | t[_i % 4].allowed};
	int err;
	struct vs_mr *mr = vs_mr_reg(r->pd, &ma, &err);

	if (t[_i % 4].allowed != 0) {
		in_flush(r, P, MEM(r, 0), vs_mr_rkey(mr), 64, t[_i % 4].allowed == VS_ACCESS_FLUSH_GLOBAL ? 1 : 2, 0);
		answered(r, P, 1);
		seen.flushes = 0;
	}
	in_flush(r, P + (t[_i % 4].allowed != 0), MEM(r, 0), vs_mr_rkey(mr), 64, t[_i % 4].plt, (uint8_t)(_i / 4));
	refused_by(r, P + (t[_i % 4].allowed != 0), 0x62, t[_i % 4].allowed != 0);
	rig_free(r);
}
END_TEST

START_TEST(enh_007_what_the_requester_hears)
{
	struct rig *r = plain();

	rig_post(r, VS_WR_FLUSH, 1, 0, 64);
	rig_drain(r);
	rig_in_ack(r, D, _i == 0 ? 0x61 : 0x62, 0);
	rig_expect_wc(r, r->scq, 1, _i == 0 ? VS_WC_REM_INV_REQ_ERR : VS_WC_REM_ACCESS_ERR);
	rig_free(r);
}
END_TEST

START_TEST(enh_007_placement_and_level_that_do_not_exist)
{
	static const uint8_t bad[][2] = {{0, 0}, {1, 2}, {1, 3}}; /* plt, sel */
	struct rig *r = plain();

	in_flush(r, P, MEM(r, 0), KEY(r), 64, bad[_i][0], bad[_i][1]);
	refused_by(r, P, 0x61, 0);
	rig_free(r);
}
END_TEST

START_TEST(enh_008_the_key_of_a_flush_is_always_looked_at)
{
	static const struct {
		uint32_t len;
		uint8_t sel;
	} t[] = {{64, 0}, {0, 0}, {64, 1}, {0, 1}};
	struct rig *r = plain();

	in_flush(r, P, MEM(r, 0), KEY(r) ^ 0x100, t[_i].len, 1, t[_i].sel);
	refused_by(r, P, 0x62, 0);
	rig_free(r);
}
END_TEST

START_TEST(enh_008_a_range_outside_the_region)
{
	struct rig *r = plain();
	static const uint64_t off[] = {RIG_MEM - 63, RIG_MEM + 8, UINT64_MAX - 7};

	in_flush(r, P, MEM(r, 0) + off[_i], KEY(r), 64, 1, 0);
	refused_by(r, P, 0x62, 0);
	rig_free(r);
}
END_TEST

START_TEST(enh_009_a_duplicate_flush_is_answered_again)
{
	struct rig *r = plain();
	struct vs_mr_attr ma = {MEM(r, 0), 4096, MEM(r, 0), VS_ACCESS_LOCAL_WRITE | FLUSH_RIGHTS};
	int err;
	struct vs_mr *mr = vs_mr_reg(r->pd, &ma, &err);
	uint32_t rkey = vs_mr_rkey(mr);

	in_flush(r, P, MEM(r, 0), rkey, 64, 1, 0);
	answered(r, P, 1);
	in_flush(r, P, MEM(r, 0), rkey, 64, 1, 0);
	answered(r, P, 1);
	ck_assert_int_eq(vs_mr_dereg(mr), VS_OK);
	in_flush(r, P, MEM(r, 0), rkey, 64, 1, 0); /* without its region: no fault */
	answered(r, P, 1);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_RTS);
	in_flush(r, P + 1, MEM(r, 0), KEY(r), 64, 1, 0);
	answered(r, P + 1, 2);
	rig_free(r);
}
END_TEST

START_TEST(enh_009_a_lost_answer_brings_the_same_request_again)
{
	struct rig *r = plain();
	struct vs_pkt first, again;

	rig_post(r, _i == 0 ? VS_WR_FLUSH : VS_WR_ATOMIC_WRITE, 1, 0, 8);
	ck_assert(rig_out(r, &first));
	rig_advance(r, 67108864);
	ck_assert(rig_out(r, &again));
	ck_assert(first.bth.opcode == again.bth.opcode && first.bth.psn == again.bth.psn);
	ck_assert(first.ext.reth.va == again.ext.reth.va && first.ext.reth.dmalen == again.ext.reth.dmalen);
	ck_assert(first.ext.feth.plt == again.ext.feth.plt && first.payload_len == again.payload_len);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_ONLY, D, 0, 1);
	rig_expect_wc(r, r->scq, 1, VS_WC_SUCCESS);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_ONLY, D, 0, 1); /* the lost one, late */
	nothing_happens(r);
	rig_free(r);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("enh");
	TCase *tc = tcase_create("atomic write");

	tcase_add_test(tc, enh_001_an_atomic_write_stores_8_bytes_at_once);
	tcase_add_test(tc, enh_001_the_requester_sends_it_and_completes_with_its_answer);
	tcase_add_loop_test(tc, enh_001_inline_and_what_it_is_refused_for_at_the_requester, 0, 3);
	tcase_add_loop_test(tc, enh_002_an_atomic_write_of_another_length, 0, 9);
	tcase_add_loop_test(tc, enh_003_a_misaligned_atomic_write, 1, 8);
	tcase_add_loop_test(tc, enh_003_keys_and_rights_of_an_atomic_write, 0, 4);
	tcase_add_test(tc, enh_004_a_duplicate_atomic_write_is_answered_and_not_repeated);
	tcase_add_loop_test(tc, enh_004_009_a_duplicate_of_what_is_not_kept_is_dropped, 0, 2);
	tcase_add_test(tc, enh_001_005_they_take_the_places_of_reads);
	tcase_add_loop_test(tc, enh_001_005_an_answer_with_bytes_in_it_is_bad, 0, 4);
	suite_add_tcase(s, tc);

	tc = tcase_create("flush");
	tcase_add_loop_test(tc, enh_005_a_flush_of_a_range_or_of_the_region, 0, 6);
	tcase_add_test(tc, enh_005_a_flush_comes_behind_the_writes_before_it);
	tcase_add_test(tc, enh_005_memory_that_needs_no_flush);
	tcase_add_test(tc, enh_005_the_requester_completes_with_its_answer);
	tcase_add_loop_test(tc, enh_006_a_flush_has_no_payload, 0, 2);
	tcase_add_loop_test(tc, enh_006_what_a_flush_work_request_may_say, 0, 4);
	tcase_add_loop_test(tc, enh_007_a_flush_that_the_qp_does_not_allow, 0, 5);
	tcase_add_loop_test(tc, enh_007_a_flush_that_the_region_does_not_allow, 0, 8);
	tcase_add_loop_test(tc, enh_007_what_the_requester_hears, 0, 2);
	tcase_add_loop_test(tc, enh_007_placement_and_level_that_do_not_exist, 0, 3);
	tcase_add_loop_test(tc, enh_008_the_key_of_a_flush_is_always_looked_at, 0, 4);
	tcase_add_loop_test(tc, enh_008_a_range_outside_the_region, 0, 3);
	tcase_add_test(tc, enh_009_a_duplicate_flush_is_answered_again);
	tcase_add_loop_test(tc, enh_009_a_lost_answer_brings_the_same_request_again, 0, 2);
	suite_add_tcase(s, tc);
	return s;
}
