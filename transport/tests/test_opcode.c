/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_opcode.c - the tables: opcodes.def against the rules it follows from (an operation has the same
 * headers in every transport, but for what the transport inserts), AETH codes, reasons, error names.
 */
#include <ctype.h>
#include <stdio.h>

#include "pktgen.h"
#include "vs/err.h"
#include "vs/reason.h"

#define RC 1u
#define UC 2u
#define RD 4u
#define UD 8u
#define XRC 16u

/* Bits 4..0 of the opcode: which transports have it (ib_pack.h), headers in RC, position, direction, payload. */
static const struct {
	unsigned in;
	uint32_t hdrs;
	char position; /* F(irst) M(iddle) L(ast) O(nly) */
	bool request;
	uint8_t payload, response;
} operations[32] = {
	[0x00] = {RC | UC | RD | XRC, 0, 'F', true, VS_PAYLOAD_FULL, VS_RESPONSE_ACK},
	[0x01] = {RC | UC | RD | XRC, 0, 'M', true, VS_PAYLOAD_FULL, VS_RESPONSE_ACK},
	[0x02] = {RC | UC | RD | XRC, 0, 'L', true, VS_PAYLOAD_LAST, VS_RESPONSE_ACK},
	[0x03] = {RC | UC | RD | XRC, VS_HDR_IMMDT, 'L', true, VS_PAYLOAD_LAST, VS_RESPONSE_ACK},
	[0x04] = {RC | UC | RD | UD | XRC, 0, 'O', true, VS_PAYLOAD_ONLY, VS_RESPONSE_ACK},
	[0x05] = {RC | UC | RD | UD | XRC, VS_HDR_IMMDT, 'O', true, VS_PAYLOAD_ONLY, VS_RESPONSE_ACK},
	[0x06] = {RC | UC | RD | XRC, VS_HDR_RETH, 'F', true, VS_PAYLOAD_FULL, VS_RESPONSE_ACK},
	[0x07] = {RC | UC | RD | XRC, 0, 'M', true, VS_PAYLOAD_FULL, VS_RESPONSE_ACK},
	[0x08] = {RC | UC | RD | XRC, 0, 'L', true, VS_PAYLOAD_LAST, VS_RESPONSE_ACK},
	[0x09] = {RC | UC | RD | XRC, VS_HDR_IMMDT, 'L', true, VS_PAYLOAD_LAST, VS_RESPONSE_ACK},
	[0x0a] = {RC | UC | RD | XRC, VS_HDR_RETH, 'O', true, VS_PAYLOAD_ONLY, VS_RESPONSE_ACK},
	[0x0b] = {RC | UC | RD | XRC, VS_HDR_RETH | VS_HDR_IMMDT, 'O', true, VS_PAYLOAD_ONLY, VS_RESPONSE_ACK},
	[0x0c] = {RC | RD | XRC, VS_HDR_RETH, 'O', true, VS_PAYLOAD_NONE, VS_RESPONSE_READ},
	[0x0d] = {RC | RD | XRC, VS_HDR_AETH, 'F', false, VS_PAYLOAD_FULL, VS_RESPONSE_NONE},
	[0x0e] = {RC | RD | XRC, 0, 'M', false, VS_PAYLOAD_FULL, VS_RESPONSE_NONE},
	[0x0f] = {RC | RD | XRC, VS_HDR_AETH, 'L', false, VS_PAYLOAD_LAST, VS_RESPONSE_NONE},
	[0x10] = {RC | RD | XRC, VS_HDR_AETH, 'O', false, VS_PAYLOAD_ONLY, VS_RESPONSE_NONE},
	[0x11] = {RC | RD | XRC, VS_HDR_AETH, 'O', false, VS_PAYLOAD_NONE, VS_RESPONSE_NONE},
	[0x12] = {RC | RD | XRC, VS_HDR_AETH | VS_HDR_ATOMICACKETH, 'O', false, VS_PAYLOAD_NONE, VS_RESPONSE_NONE},
	[0x13] = {RC | RD | XRC, VS_HDR_ATOMICETH, 'O', true, VS_PAYLOAD_NONE, VS_RESPONSE_ATOMIC},
	[0x14] = {RC | RD | XRC, VS_HDR_ATOMICETH, 'O', true, VS_PAYLOAD_NONE, VS_RESPONSE_ATOMIC},
	[0x15] = {RD, 0, 'O', true, VS_PAYLOAD_NONE, VS_RESPONSE_ACK},
	[0x16] = {RC | XRC, VS_HDR_IETH, 'L', true, VS_PAYLOAD_LAST, VS_RESPONSE_ACK},
	[0x17] = {RC | XRC, VS_HDR_IETH, 'O', true, VS_PAYLOAD_ONLY, VS_RESPONSE_ACK},
	[0x1c] = {RC | RD, VS_HDR_FETH | VS_HDR_RETH, 'O', true, VS_PAYLOAD_NONE, VS_RESPONSE_READ_ONLY},
	[0x1d] = {RC, VS_HDR_RETH, 'O', true, VS_PAYLOAD_EIGHT, VS_RESPONSE_READ_ONLY},
};

static unsigned transport_bit(uint8_t opcode)
{
	static const unsigned bits[8] = {RC, UC, RD, UD, 0, XRC, 0, 0};

	return bits[opcode >> 5];
}

/* What a transport puts in front of the headers of the operation. */
static uint32_t inserted(unsigned transport, bool request)
{
	switch (transport) {
	case RD:
		return VS_HDR_RDETH | (request ? VS_HDR_DETH : 0);
	case UD:
		return VS_HDR_DETH;
	case XRC:
		return request ? VS_HDR_XRCETH : 0;
	default:
		return 0;
	}
}

START_TEST(every_row_follows_from_operation_and_transport)
{
	unsigned named = 0;

	for (unsigned code = 0; code < 256; code++) {
		const struct vs_opcode_info *o = &vs_opcodes[code];
		unsigned t = transport_bit((uint8_t)code), op = code & 31;
		uint32_t flags = o->flags;
		bool request = operations[op].request;

		named += o->name != NULL;
		if (code >> 5 == VS_TRANSPORT_CNP)
			continue;
		ck_assert_msg((o->name != NULL) == !!(operations[op].in & t), "%02x: exists or not", code);
		if (o->name == NULL)
			continue;
		ck_assert_msg(o->transport == code >> 5, "%02x: transport", code);
		ck_assert_msg(o->hdrs == (operations[op].hdrs | inserted(t, request)), "%02x: headers", code);
		ck_assert_msg(o->payload == operations[op].payload, "%02x: payload", code);
		ck_assert_msg(o->response == (t == UC || t == UD ? VS_RESPONSE_NONE : operations[op].response),
			      "%02x: answer", code);
		ck_assert_msg(!!(flags & VS_OPF_B) == !!strchr("FO", operations[op].position), "%02x: begins", code);
		ck_assert_msg(!!(flags & VS_OPF_E) == !!strchr("LO", operations[op].position), "%02x: ends", code);
		ck_assert_msg(!!(flags & VS_OPF_Q) == request && !!(flags & VS_OPF_R) == !request, "%02x: direction",
			      code);
		ck_assert_msg(!!(flags & VS_OPF_I) == !!(o->hdrs & VS_HDR_IMMDT), "%02x: immediate", code);
		ck_assert_msg(!!(flags & VS_OPF_V) == !!(o->hdrs & VS_HDR_IETH), "%02x: invalidate", code);
	}
	ck_assert_uint_eq(named, 25 + 12 + 23 + 2 + 2 + 23);
}
END_TEST

START_TEST(names_say_what_the_flags_say)
{
	for (unsigned code = 0; code < 256; code++) {
		const struct vs_opcode_info *o = &vs_opcodes[code];
		const char *t = vs_transport_name(vs_opcode_transport((uint8_t)code));

		if (o->name == NULL) {
			ck_assert_uint_eq(o->hdrs, 0);
			ck_assert_uint_eq(o->flags, 0);
			ck_assert_uint_eq(o->payload, VS_PAYLOAD_RESERVED);
			ck_assert_uint_eq(o->response, VS_RESPONSE_NONE);
			continue;
		}
		ck_assert_msg(strncmp(o->name, t, strlen(t)) == 0, "%s does not begin with %s", o->name, t);
		ck_assert_msg(!!strstr(o->name, "SEND") == !!(o->flags & VS_OPF_S), "%s: S", o->name);
		ck_assert_msg(!!strstr(o->name, "RDMA WRITE") == !!(o->flags & VS_OPF_W), "%s: W", o->name);
		ck_assert_msg(!!strstr(o->name, "READ") == !!(o->flags & VS_OPF_D), "%s: D", o->name);
		ck_assert_msg(!!strstr(o->name, "Immediate") == !!(o->flags & VS_OPF_I), "%s: I", o->name);
		ck_assert_msg(!!strstr(o->name, "Invalidate") == !!(o->flags & VS_OPF_V), "%s: V", o->name);
		ck_assert_msg(!(strstr(o->name, "Middle") && (o->flags & (VS_OPF_B | VS_OPF_E))), "%s: Middle",
			      o->name);
		for (unsigned other = 0; other < code; other++)
			if (vs_opcodes[other].name != NULL)
				ck_assert_msg(strcmp(vs_opcodes[other].name, o->name) != 0, "%s stands twice", o->name);
	}
}
END_TEST

START_TEST(the_enum_has_the_codes_of_the_wire)
{
	ck_assert_int_eq(VS_OP_RC_SEND_FIRST, 0x00);
	ck_assert_int_eq(VS_OP_RC_ACKNOWLEDGE, 0x11);
	ck_assert_int_eq(VS_OP_RC_ATOMIC_WRITE, 0x1d);
	ck_assert_int_eq(VS_OP_UC_WRITE_ONLY_IMM, 0x2b);
	ck_assert_int_eq(VS_OP_RD_RESYNC, 0x55);
	ck_assert_int_eq(VS_OP_UD_SEND_ONLY, 0x64);
	ck_assert_int_eq(VS_OP_CNP, 0x81);
	ck_assert_int_eq(VS_OP_XRC_SEND_ONLY_INV, 0xb7);
	ck_assert_str_eq(vs_opcodes[VS_OP_CNP].name, "CNP");
	ck_assert_int_eq(vs_opcodes[VS_OP_CNP].payload, VS_PAYLOAD_CNP);
}
END_TEST

START_TEST(sizes_are_those_of_the_specification)
{
	static const struct {
		uint32_t hdr;
		unsigned size;
	} sizes[VS_HDR_COUNT] = {
		{VS_HDR_DCEXT, 8},      {VS_HDR_DCCETH, 16},      {VS_HDR_RDETH, 4}, {VS_HDR_XRCETH, 4},
		{VS_HDR_DETH, 8},       {VS_HDR_FETH, 4},         {VS_HDR_RETH, 16}, {VS_HDR_AETH, 4},
		{VS_HDR_ATOMICETH, 28}, {VS_HDR_ATOMICACKETH, 8}, {VS_HDR_IMMDT, 4}, {VS_HDR_IETH, 4},
	};
	unsigned sum = 0;

	for (unsigned i = 0; i < VS_HDR_COUNT; i++) {
		ck_assert_uint_eq(vs_hdrs_size(sizes[i].hdr), sizes[i].size);
		ck_assert_uint_eq(vs_hdr_size[i], sizes[i].size);
		sum += sizes[i].size;
	}
	ck_assert_uint_eq(vs_hdrs_size(0), 0);
	ck_assert_uint_eq(vs_hdrs_size((1u << VS_HDR_COUNT) - 1), sum);
}
END_TEST

/* Every header is filled with a number of its own; where it stands in the bytes is the order on the wire. */
static void expect_order(uint8_t opcode, uint32_t hdrs, const char *hex)
{
	static uint8_t buf[256];
	struct vs_pkt p;
	char text[512] = "";
	int n;

	vs_pkt_init(&p, VS_ENCAP_BARE, opcode, false);
	p.hdrs = hdrs;
	p.flags &= ~(uint32_t)VS_PKT_HAS_ICRC;
	memset(p.ext.dcext, 0xd1, 8);
	memset(p.ext.dcceth, 0xd2, 16);
	p.ext.rdeth.eecontext = 0x444444;
	p.ext.xrceth.xrcsrq = 0x555555;
	p.ext.deth.qkey = 0x66666666;
	p.ext.deth.srcqp = 0x777777;
	p.ext.feth.plt = 8;
	p.ext.reth.va = 0x9999999999999999;
	p.ext.reth.rkey = 0xaaaaaaaa;
	p.ext.reth.dmalen = 0xbbbbbbbb;
	p.ext.aeth.syndrome = 0xcc;
	p.ext.aeth.msn = 0xcdcdcd;
	p.ext.atomiceth.va = 0xdddddddddddddddd;
	p.ext.atomiceth.rkey = 0xeeeeeeee;
	p.ext.atomiceth.swapadd = 0xefefefefefefefef;
	p.ext.atomiceth.compare = 0xfefefefefefefefe;
	p.ext.atomicack_origdata = 0x1111111111111111;
	p.ext.immdt = 0x22222222;
	p.ext.ieth_rkey = 0x33333333;
	n = vs_pkt_build(&p, buf, sizeof(buf));
	for (int i = 12; i < n; i++)
		sprintf(text + strlen(text), "%02x", buf[i]);
	ck_assert_str_eq(text, hex);
}

START_TEST(headers_stand_in_wire_order)
{
#define RETH_HEX "9999999999999999aaaaaaaabbbbbbbb"
#define DETH_HEX "6666666600777777"
#define ATOMIC_HEX "ddddddddddddddddeeeeeeeeefefefefefefefeffefefefefefefefe"
#define HDRS(op) op, vs_opcodes[op].hdrs
	expect_order(HDRS(VS_OP_RC_WRITE_ONLY_IMM), RETH_HEX "22222222");
	expect_order(HDRS(VS_OP_RC_ATOMIC_ACKNOWLEDGE), "cccdcdcd1111111111111111");
	expect_order(HDRS(VS_OP_RC_COMPARE_SWAP), ATOMIC_HEX);
	expect_order(HDRS(VS_OP_RC_SEND_ONLY_INV), "33333333");
	expect_order(HDRS(VS_OP_RC_FLUSH), "00000008" RETH_HEX);
	expect_order(HDRS(VS_OP_UD_SEND_ONLY_IMM), DETH_HEX "22222222");
	expect_order(HDRS(VS_OP_RD_WRITE_ONLY_IMM), "00444444" DETH_HEX RETH_HEX "22222222");
	expect_order(HDRS(VS_OP_RD_FETCH_ADD), "00444444" DETH_HEX ATOMIC_HEX);
	expect_order(HDRS(VS_OP_RD_ATOMIC_ACKNOWLEDGE), "00444444cccdcdcd1111111111111111");
	expect_order(HDRS(VS_OP_XRC_WRITE_ONLY_IMM), "00555555" RETH_HEX "22222222");
	expect_order(HDRS(VS_OP_XRC_SEND_LAST_INV), "0055555533333333");
	expect_order(VS_OP_RD_WRITE_FIRST, vs_opcode_hdrs_dc(VS_OP_RD_WRITE_FIRST, false), "d1d1d1d1d1d1d1d1" RETH_HEX);
	expect_order(VS_OP_RD_RESYNC, vs_opcode_hdrs_dc(VS_OP_RD_RESYNC, false),
		     "d1d1d1d1d1d1d1d1d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2");
	expect_order(VS_OP_RD_RESYNC, vs_opcode_hdrs_dc(VS_OP_RD_RESYNC, true), "d1d1d1d1d1d1d1d1");
}
END_TEST

/* ---- AETH ---- */

/* 1, 2, 3, 4, 6, 8, 12, ...: powers of two and their three halves; credits and RNR timers both count so. */
static uint32_t step_of(unsigned code)
{
	return code < 2 ? code : code % 2 == 0 ? 1u << code / 2 : 3u << (code - 3) / 2;
}

START_TEST(tokens_name_each_opcode_and_lead_back_to_it)
{
	unsigned named = 0;

	for (unsigned op = 0; op < 256; op++) {
		const char *t = vs_opcode_token((uint8_t)op);

		ck_assert_msg((t != NULL) == (vs_opcodes[op].name != NULL), "%#x", op);
		if (t == NULL)
			continue;
		ck_assert_msg(vs_opcode_by_token(t, strlen(t)) == (int)op, "%s", t);
		ck_assert_int_eq(vs_opcode_by_token(t, strlen(t) - 1), -1);
		named++;
	}
	ck_assert_uint_gt(named, 70);
	ck_assert_str_eq(vs_opcode_token(VS_OP_RC_SEND_ONLY), "SEND_ONLY");
	ck_assert_str_eq(vs_opcode_token(VS_OP_UD_SEND_ONLY), "UD_SEND_ONLY");
	ck_assert_str_eq(vs_opcode_token(VS_OP_RC_ACKNOWLEDGE), "ACK");
	ck_assert_int_eq(vs_opcode_by_token("SEND", 4), -1);
	ck_assert_int_eq(vs_opcode_by_token("", 0), -1);
}
END_TEST

START_TEST(credit_codes_are_powers_of_two_and_three_halves)
{
	for (uint8_t code = 0; code < 31; code++)
		ck_assert_uint_eq(vs_aeth_credits(code), step_of(code));
	ck_assert_uint_eq(vs_aeth_credits(30), 32768);
	ck_assert_uint_eq(vs_aeth_credits(31), VS_CREDITS_UNLIMITED);
	ck_assert_uint_eq(vs_aeth_credits(0x1f | 0xe0), VS_CREDITS_UNLIMITED);
}
END_TEST

START_TEST(rnr_timers_are_table_45)
{
	for (uint8_t code = 0; code < 32; code++) {
		uint64_t ns = code == 0 ? 655360000 : step_of(code) * 10000ull;
		char text[32];

		ck_assert_uint_eq(vs_rnr_timer_ns(code), ns);
		snprintf(text, sizeof(text), "%u.%02u ms", (unsigned)(ns / 1000000), (unsigned)(ns / 10000 % 100));
		ck_assert_str_eq(vs_rnr_timer_text(code), text);
	}
	ck_assert_uint_eq(vs_rnr_timer_ns(25), 61440000);
	ck_assert_uint_eq(vs_rnr_timer_ns(31), 491520000);
}
END_TEST

START_TEST(syndromes_split_into_type_and_code)
{
	ck_assert_int_eq(vs_aeth_type(0x00), VS_AETH_ACK);
	ck_assert_int_eq(vs_aeth_type(0x1f), VS_AETH_ACK);
	ck_assert_int_eq(vs_aeth_type(0x2e), VS_AETH_RNR);
	ck_assert_int_eq(vs_aeth_type(0x40), VS_AETH_RESERVED);
	ck_assert_int_eq(vs_aeth_type(0x60), VS_AETH_NAK);
	ck_assert_int_eq(vs_aeth_type(0xe3), VS_AETH_NAK);
	ck_assert_str_eq(vs_nak_text(VS_NAK_PSN_SEQ), "PSN sequence error");
	ck_assert_str_eq(vs_nak_text(VS_NAK_INV_RD), "invalid RD request");
	for (uint8_t code = 5; code < 32; code++)
		ck_assert_str_eq(vs_nak_text(code), "reserved");
}
END_TEST

/* ---- reasons and errors ---- */

START_TEST(every_reason_has_an_id_a_sentence_and_a_severity)
{
	for (unsigned r = 1; r < VS_REASON_COUNT; r++) {
		const struct vs_reason_info *i = vs_reason_info((enum vs_reason)r);
		size_t n = strlen(i->sentence);

		ck_assert_msg(strlen(i->id) > 2 && n > 10, "reason %u", r);
		for (const char *c = i->id; *c != '\0'; c++)
			ck_assert_msg(islower((unsigned char)*c) || isdigit((unsigned char)*c) || *c == '_', "%s",
				      i->id);
		ck_assert_msg(i->sentence[n - 1] != '.' && i->sentence[n - 1] != ' ', "%s", i->id);
		ck_assert_msg(i->severity <= VS_SEV_ERROR && i->clause != NULL, "%s", i->id);
		ck_assert_int_eq(vs_reason_by_id(i->id), r);
	}
	ck_assert_int_eq(vs_reason_by_id("no_such_reason"), VS_REASON_NONE);
	ck_assert_int_eq(vs_reason_by_id(""), VS_REASON_NONE);
	ck_assert_int_eq(vs_reason_by_id("lrh_lve"), VS_REASON_NONE);
	ck_assert_int_eq(vs_reason_by_id("lrh_lverx"), VS_REASON_NONE);
	ck_assert_str_eq(vs_reason_info(VS_REASON_NONE)->id, "none");
	ck_assert_ptr_eq(vs_reason_info(VS_REASON_COUNT), vs_reason_info(VS_REASON_NONE));
	ck_assert_ptr_eq(vs_reason_info((enum vs_reason) - 1), vs_reason_info(VS_REASON_NONE));
}
END_TEST

START_TEST(every_error_has_its_own_name)
{
	ck_assert_str_eq(vs_err_name(VS_OK), "VS_OK");
	ck_assert_str_eq(vs_err_name(VS_ERR_SHORT), "VS_ERR_SHORT");
	ck_assert_str_eq(vs_err_name(1), "VS_ERR_?");
	ck_assert_str_eq(vs_err_name(-1000), "VS_ERR_?");
	for (int err = 0; strcmp(vs_err_name(err), "VS_ERR_?") != 0; err--)
		for (int other = 0; other > err; other--)
			ck_assert_str_ne(vs_err_name(err), vs_err_name(other));
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("opcode");
	TCase *tc = tcase_create("tables");

	tcase_add_test(tc, every_row_follows_from_operation_and_transport);
	tcase_add_test(tc, names_say_what_the_flags_say);
	tcase_add_test(tc, the_enum_has_the_codes_of_the_wire);
	tcase_add_test(tc, sizes_are_those_of_the_specification);
	tcase_add_test(tc, headers_stand_in_wire_order);
	tcase_add_test(tc, tokens_name_each_opcode_and_lead_back_to_it);
	tcase_add_test(tc, credit_codes_are_powers_of_two_and_three_halves);
	tcase_add_test(tc, rnr_timers_are_table_45);
	tcase_add_test(tc, syndromes_split_into_type_and_code);
	tcase_add_test(tc, every_reason_has_an_id_a_sentence_and_a_severity);
	tcase_add_test(tc, every_error_has_its_own_name);
	suite_add_tcase(s, tc);
	return s;
}
