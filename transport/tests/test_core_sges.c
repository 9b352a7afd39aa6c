/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_core_sges.c - messages of several packets over several elements, some of them empty: every byte is taken from
 * its place and put into its place, and nothing else is touched.
 */
#include "qps.h"

#define P RIG_PEER_PSN
#define D RIG_DUT_PSN
#define GAP 100u /* between the elements */
#define N 5u

/* Borders in the middle of packets, at the border of two, and twice none at all. */
static const uint32_t len[N] = {0, 700, 324, 0, 1477};
#define TOTAL 2501u

static uint32_t place(unsigned i) /* of element i in the memory */
{
	uint32_t off = 0;

	while (i-- > 0)
		off += len[i] + GAP;
	return off;
}

static void fill(struct rig *r, struct vs_sge *sge)
{
	for (unsigned i = 0; i < N; i++)
		sge[i] = (struct vs_sge){MEM(r, place(i)), len[i], vs_mr_lkey(r->mr)};
}

/* The elements hold bytes [0, n) of `want`; what lies around them, and the rest of them, is as it was. */
static void holds(const struct rig *r, const uint8_t *want, uint32_t n)
{
	uint32_t pos = 0, at = 0;

	for (unsigned i = 0; i < N; i++) {
		for (; at < place(i); at++)
			ck_assert_uint_eq(r->mem[at], 0xee);
		for (uint32_t k = 0; k < len[i]; k++, pos++, at++)
			ck_assert_uint_eq(r->mem[at], pos < n ? want[pos] : 0xee);
	}
	for (; at < place(N); at++)
		ck_assert_uint_eq(r->mem[at], 0xee);
}

static const uint8_t *message(void)
{
	static uint8_t m[3 * 1024];

	memcpy(m, rig_pattern(P), 1024);
	memcpy(m + 1024, rig_pattern(P + 1), 1024);
	memcpy(m + 2048, rig_pattern(P + 2), 1024);
	return m;
}

static struct rig *with(enum vs_qp_type type)
{
	struct rig_opt o = {.type = type, .stay_in_reset = true, .mtu = VS_MTU_1024};
	struct rig *r = rig_new(&o);
	struct vs_qp_init init = {.type = type, .send_cq = r->scq, .recv_cq = r->rcq, .cap = {4, 4, N, N, 0}};

	r->qp = rig_qp(r, &init);
	rig_to(r, r->qp, VS_QPS_RTS);
	return r;
}

static void receive(struct rig *r)
{
	struct vs_sge sge[N];
	struct vs_recv_wr wr = {1, sge, N};

	fill(r, sge);
	ck_assert_int_eq(vs_qp_post_recv(r->qp, &wr), VS_OK);
}

START_TEST(a_message_is_scattered_over_the_receive)
{
	static const uint8_t ops[2][3] = {{VS_OP_RC_SEND_FIRST, VS_OP_RC_SEND_MIDDLE, VS_OP_RC_SEND_LAST},
					  {VS_OP_UC_SEND_FIRST, VS_OP_UC_SEND_MIDDLE, VS_OP_UC_SEND_LAST}};
	struct rig *r = with(_i == 0 ? VS_QPT_RC : VS_QPT_UC);

	receive(r);
	rig_in_send(r, ops[_i][0], P, 1024);
	holds(r, message(), 1024);
	rig_in_send(r, ops[_i][1], P + 1, 1024);
	holds(r, message(), 2048);
	rig_in_send(r, ops[_i][2], P + 2, TOTAL - 2048);
	holds(r, message(), TOTAL);
	ck_assert_uint_eq(rig_expect_wc(r, r->rcq, 1, VS_WC_SUCCESS).byte_len, TOTAL);
	rig_free(r);
}
END_TEST

/* The place in the ring that the open message's receive had is taken by the next one. */
START_TEST(an_open_message_keeps_its_receive)
{
	struct rig *r = with(VS_QPT_RC);
	struct vs_sge other = {MEM(r, 16384), 4096, vs_mr_lkey(r->mr)};
	struct vs_recv_wr wr = {2, &other, 1};

	receive(r);
	rig_in_send(r, VS_OP_RC_SEND_FIRST, P, 1024);
	for (unsigned i = 0; i < 4; i++) /* all places of the ring */
		ck_assert_int_eq(vs_qp_post_recv(r->qp, &wr), VS_OK);
	rig_in_send(r, VS_OP_RC_SEND_MIDDLE, P + 1, 1024);
	rig_in_send(r, VS_OP_RC_SEND_LAST, P + 2, TOTAL - 2048);
	holds(r, message(), TOTAL);
	ck_assert_uint_eq(rig_expect_wc(r, r->rcq, 1, VS_WC_SUCCESS).byte_len, TOTAL);
	rig_free(r);
}
END_TEST

START_TEST(a_datagram_is_scattered_behind_its_40_bytes)
{
	struct rig *r = with(VS_QPT_UD);
	struct vs_pkt p = rig_pkt(r, VS_OP_UD_SEND_ONLY, P);
	uint8_t want[TOTAL];

	receive(r);
	p.ext.deth.qkey = 0x11111111;
	p.payload = rig_pattern(P);
	p.payload_len = 1000;
	rig_in(r, &p);
	ck_assert_uint_eq(rig_expect_wc(r, r->rcq, 1, VS_WC_SUCCESS).byte_len, 1040);
	memcpy(want, r->mem + place(1), 40); /* the GRH area */
	for (unsigned i = 0; i < 20; i++)
		ck_assert_uint_eq(want[i], 0);
	ck_assert_uint_eq(want[20], 0x45);
	memcpy(want + 40, rig_pattern(P), 1000);
	holds(r, want, 1040);
	rig_free(r);
}
END_TEST

START_TEST(a_message_is_gathered)
{
	static const enum vs_qp_type types[] = {VS_QPT_RC, VS_QPT_UC, VS_QPT_RC, VS_QPT_UC, VS_QPT_UD};
	static const uint32_t sizes[] = {1024, 1024, TOTAL - 2048};
	struct rig *r = with(types[_i]);
	struct vs_sge sge[N];
	struct vs_send_wr wr = {.wr_id = 1, .sg_list = sge, .num_sge = N, .flags = VS_SEND_SIGNALED};
	unsigned n = types[_i] == VS_QPT_UD ? 1 : 3;
	const uint8_t *m = message();
	uint32_t pos = 0;
	struct vs_pkt p;

	fill(r, sge);
	wr.opcode = _i == 2 || _i == 3 ? VS_WR_RDMA_WRITE : VS_WR_SEND;
	if (n == 1) {
		wr.ud.ah = peer_ah(r);
		wr.ud.remote_qpn = 1;
	}
	for (unsigned i = 0; i < N; i++) {
		memcpy(r->mem + place(i), m + pos, len[i]);
		pos += len[i];
	}
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	for (unsigned i = 0; i < n; i++) {
		ck_assert(rig_out(r, &p));
		ck_assert_uint_eq(p.bth.psn, (D + i) & 0xffffff);
		ck_assert_uint_eq(p.payload_len, n == 1 ? TOTAL : sizes[i]);
		ck_assert_mem_eq(p.payload, m + 1024 * i, p.payload_len);
	}
	rig_expect_silence(r);
	rig_free(r);
}
END_TEST

START_TEST(read_data_is_scattered)
{
	struct rig *r = with(VS_QPT_RC);
	struct vs_sge sge[N];
	struct vs_send_wr wr = {.wr_id = 1, .opcode = VS_WR_RDMA_READ, .sg_list = sge, .num_sge = N};
	uint8_t want[3 * 1024];

	wr.flags = VS_SEND_SIGNALED;
	fill(r, sge);
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	rig_expect(r, VS_OP_RC_READ_REQUEST, D);
	for (uint32_t i = 0; i < 3; i++)
		memcpy(want + 1024 * i, rig_pattern((D + i) & 0xffffff), 1024);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_FIRST, D, 1024, 1);
	holds(r, want, 1024);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_MIDDLE, D + 1, 1024, 1);
	holds(r, want, 2048);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_LAST, (D + 2) & 0xffffff, TOTAL - 2048, 1);
	holds(r, want, TOTAL);
	ck_assert_uint_eq(rig_expect_wc(r, r->scq, 1, VS_WC_SUCCESS).byte_len, TOTAL);
	rig_free(r);
}
END_TEST

START_TEST(one_byte_is_moved)
{
	struct rig *r = with(VS_QPT_RC);
	struct vs_qp_init init = {.type = VS_QPT_RC, .send_cq = r->scq, .recv_cq = r->rcq, .cap = {4, 4, 1, 1, 8}};
	struct vs_sge sge = {MEM(r, 0), 1, vs_mr_lkey(r->mr)};
	struct vs_send_wr wr = {.wr_id = 1, .sg_list = &sge, .num_sge = 1, .flags = VS_SEND_SIGNALED};
	const uint8_t byte = 0x5a;
	struct vs_pkt p;

	r->qp = rig_qp(r, &init);
	rig_to(r, r->qp, VS_QPS_RTS);
	r->mem[0] = byte;
	switch (_i) {
	case 0: /* gathered, inline, read from here */
	case 1:
		wr.opcode = VS_WR_SEND;
		wr.flags |= _i == 1 ? VS_SEND_INLINE : 0u;
		wr.inline_data = &byte;
		wr.inline_len = 1;
		ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
		p = rig_expect(r, VS_OP_RC_SEND_ONLY, D);
		ck_assert(p.payload_len == 1 && p.payload[0] == byte);
		break;
	case 2:
		rig_in_read(r, P, MEM(r, 0), KEY(r), 1);
		p = rig_expect(r, VS_OP_RC_READ_RESPONSE_ONLY, P);
		ck_assert(p.payload_len == 1 && p.payload[0] == byte);
		break;
	case 3: /* written, received, read to here */
		rig_in_write(r, VS_OP_RC_WRITE_ONLY, P, MEM(r, 8), KEY(r), 1, 1);
		ck_assert_uint_eq(r->mem[8], rig_pattern(P)[0]);
		break;
	case 4:
		rig_post_recv(r, 1, 8, 1);
		rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 1);
		ck_assert_uint_eq(r->mem[8], rig_pattern(P)[0]);
		break;
	default:
		rig_post(r, VS_WR_RDMA_READ, 1, 8, 1);
		rig_drain(r);
		rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_ONLY, D, 1, 1);
		ck_assert_uint_eq(r->mem[8], rig_pattern(D)[0]);
		break;
	}
	ck_assert_uint_eq(r->mem[9], 0xee);
	rig_free(r);
}
END_TEST

/* Nothing to move: no key is looked at, nothing is read or written. */
START_TEST(what_has_no_bytes_touches_no_memory)
{
	struct rig *r = with(VS_QPT_RC);
	struct vs_sge sge = {0, 0, 0xbad00000};
	struct vs_recv_wr recv = {2, &sge, 1};
	struct vs_send_wr wr = {.wr_id = 1, .sg_list = &sge, .num_sge = 1, .flags = VS_SEND_SIGNALED};

	switch (_i) {
	case 0:
		rig_in_read(r, P, 0, 0, 0);
		ck_assert_uint_eq(rig_expect(r, VS_OP_RC_READ_RESPONSE_ONLY, P).payload_len, 0);
		break;
	case 1:
		rig_in_write(r, VS_OP_RC_WRITE_ONLY, P, 0, 0, 0, 0);
		rig_expect_ack(r, P, 1);
		break;
	case 2:
		ck_assert_int_eq(vs_qp_post_recv(r->qp, &recv), VS_OK);
		rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 0);
		rig_expect_ack(r, P, 1);
		break;
	default:
		wr.opcode = _i == 3 ? VS_WR_SEND : VS_WR_RDMA_READ;
		ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
		rig_drain(r);
		if (_i == 3)
			rig_in_ack(r, D, 0x1f, 1);
		else
			rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_ONLY, D, 0, 1);
		rig_expect_wc(r, r->scq, 1, VS_WC_SUCCESS);
		break;
	}
	ck_assert_uint_eq(rig_count_events(r, VS_EV_DMA_READ) + rig_count_events(r, VS_EV_DMA_WRITE), 0);
	rig_free(r);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("core sges");
	TCase *tc = tcase_create("elements");

	tcase_add_loop_test(tc, a_message_is_scattered_over_the_receive, 0, 2);
	tcase_add_test(tc, an_open_message_keeps_its_receive);
	tcase_add_test(tc, a_datagram_is_scattered_behind_its_40_bytes);
	tcase_add_loop_test(tc, a_message_is_gathered, 0, 5);
	tcase_add_test(tc, read_data_is_scattered);
	tcase_add_loop_test(tc, one_byte_is_moved, 0, 6);
	tcase_add_loop_test(tc, what_has_no_bytes_touches_no_memory, 0, 5);
	suite_add_tcase(s, tc);
	return s;
}
