/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_fault.c - the notation of faults: what it means, how it is written, what is wrong with it and where; which
 * packets a rule hits and what is then to be done.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"
#include "same_rule.h"
#include "vs/psn.h"

/* ---- helpers ---- */

static struct vs_fault_rule parsed(const char *text)
{
	struct vs_fault_rule r;
	struct vs_fault_error err;

	ck_assert_msg(vs_fault_parse(text, strlen(text), &r, &err) == VS_OK, "%s: column %u: %s", text, err.column,
		      err.text);
	return r;
}

static struct vs_fault_set *new_set(uint64_t seed)
{
	void *mem = malloc(vs_fault_set_size());

	ck_assert_ptr_nonnull(mem);
	return vs_fault_set_init(mem, seed);
}

static struct vs_fault_set *set_of(const char *text)
{
	struct vs_fault_set *s = new_set(1);
	struct vs_fault_rule r = parsed(text);

	ck_assert_int_eq(vs_fault_set_add(s, &r), 0);
	return s;
}

static struct vs_pkt packet(uint8_t opcode, uint32_t qpn, uint32_t psn)
{
	struct vs_pkt p;

	vs_pkt_init(&p, VS_ENCAP_ROCEV2_IPV4, opcode, true);
	p.bth.destqp = qpn;
	p.bth.psn = psn;
	return p;
}

static struct vs_fault_verdict judge(struct vs_fault_set *s, const struct vs_pkt *p, const char *from, const char *to)
{
	struct vs_fault_verdict v;

	vs_fault_judge(s, p, 64, from, to, &v);
	return v;
}

/* Which of the first 40 packets of one kind a rule drops: "3", "2 4 6 ...". */
static const char *drops(const char *rule)
{
	static char out[200];
	struct vs_fault_set *s = set_of(rule);
	struct vs_pkt p = packet(VS_OP_RC_SEND_ONLY, 5, 0);
	size_t len = 0;

	out[0] = '\0';
	for (unsigned i = 1; i <= 40; i++) {
		p.bth.psn = i;
		if (judge(s, &p, "A", "B").drop)
			len += (size_t)snprintf(out + len, sizeof(out) - len, "%s%u", len > 0 ? " " : "", i);
	}
	free(s);
	return out;
}

/* ---- writing ---- */

START_TEST(rules_have_one_normal_form)
{
	static const struct {
		const char *text, *normal;
	} cases[] = {
		{"drop 3rd data from A", "drop 3rd data from A"},
		{"loss: drop 2% any", "loss: drop 2%"},
		{"dup 1st READ_REQUEST", "dup 1st READ_REQUEST"},
		{"corrupt 5th bit=77", "corrupt bit=77 5th"},
		{"delay all ack by 3ms", "delay ack by 3ms"},
		{"mark every 10 data to B", "mark every 10 data to B"},
		{"drop all psn=0x102 iter=1", "drop all psn=0x102 iter=1"},
		{"drop", "drop all"},
		{"  drop\tall ", "drop all"},
		{"dup x1", "dup all"},
		{"dup x3 2..5 UD SEND_ONLY", "dup x3 2..5 UD_SEND_ONLY"},
		{"reorder 2 11th", "reorder 2 11th"},
		{"reorder", "reorder all"},
		{"hold 0.5us first 3 RC_WRITE_FIRST", "hold first 3 RC_WRITE_FIRST by 500ns"},
		{"hold 1500us any", "hold all by 1500us"},
		{"delay 2000ms nak", "delay nak by 2s"},
		{"delay 0ns nak", "delay nak by 0ns"},
		{"corrupt icrc 0.05%", "corrupt icrc 0.05%"},
		{"drop 1..1", "drop 1st"},
		{"drop 1..7", "drop first 7"},
		{"drop 12th", "drop 12th"},
		{"drop 102nd", "drop 102nd"},
		{"drop 100%", "drop 100%"},
		{"drop 33.3333%", "drop 33.3333%"},
		{"drop qp=0x11 psn=16777214..1", "drop all qp=0x11 psn=0xfffffe..0x1"},
		{"drop ACK", "drop ACK"},
		{"drop RC ACK", "drop RC_ACK"},
		{"drop CNP", "drop CNP"},
		{"drop XRC SEND_LAST_INV", "drop XRC_SEND_LAST_INV"},
		{"A.b-1: drop", "A.b-1: drop all"},
		{"drop: drop", "drop: drop all"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vs_fault_rule r = parsed(cases[i].text);
		char out[256];

		ck_assert_int_eq(vs_fault_format(&r, out, sizeof(out)), (int)strlen(cases[i].normal));
		ck_assert_str_eq(out, cases[i].normal);
	}
}
END_TEST

START_TEST(a_rule_without_a_name_is_called_by_its_text)
{
	struct vs_fault_rule r = parsed("drop 3rd data from A");

	ck_assert_str_eq(r.name, "drop 3rd data from A");
	r = parsed("loss: drop 2%");
	ck_assert_str_eq(r.name, "loss");
	/* A long text is cut, and the rule is still unnamed. */
	r = parsed("dup x3 2..5 READ_RESPONSE_MIDDLE from A to B qp=0x123456 psn=0x1..0x2 iter=3");
	ck_assert_uint_eq(strlen(r.name), VS_FAULT_NAME - 1);
}
END_TEST

START_TEST(format_refuses_a_buffer_that_is_too_small)
{
	struct vs_fault_rule r = parsed("loss: drop 3rd data from A");
	char out[64];
	int n = vs_fault_format(&r, out, sizeof(out));

	ck_assert_int_gt(n, 0);
	for (size_t cap = 0; cap <= (size_t)n; cap++)
		ck_assert_int_eq(vs_fault_format(&r, out, cap), VS_ERR_NOSPACE);
	ck_assert_int_eq(vs_fault_format(&r, out, (size_t)n + 1), n);
}
END_TEST

/* ---- errors ---- */

START_TEST(errors_name_the_column_and_what_was_expected)
{
	static const struct {
		const char *text;
		unsigned column;
		const char *says;
	} cases[] = {
		{"", 1, "expected drop, dup"},
		{"drip 3rd", 1, "'drip' is no action: expected drop, dup, delay, reorder, corrupt, mark or hold"},
		{"drop 3rd 4th", 10, "a count is given already"},
		{"drop 2% first 3", 9, "a count is given already"},
		{"drop data ack", 11, "a class of packets is given already"},
		{"drop from A from B", 13, "from is given already"},
		{"drop psn=1 psn=2", 12, "psn= is given already"},
		{"drop iter=1 iter=2", 13, "iter= is given already"},
		{"drop qp=zz", 9, "expected a QP number of 24 bits"},
		{"drop qp=0x1000000", 9, "expected a QP number of 24 bits"},
		{"drop psn=5..4", 10, "the first not after the second"},
		{"drop psn=0x1000000", 10, "a PSN of 24 bits"},
		{"drop iter=0", 11, "expected a number from 1"},
		{"drop UD FOO", 9, "expected an opcode of UD"},
		{"drop UD", 8, "an opcode is missing after 'UD'"},
		{"drop UD READ_REQUEST", 9, "expected an opcode of UD"},
		{"drop send_only", 6, "expected a count"},
		{"drop every 0", 12, "expected a number from 1 after 'every'"},
		{"drop every", 11, "a number is missing after 'every'"},
		{"drop first x", 12, "expected a number from 1 after 'first'"},
		{"drop 0th", 6, "counts begin with 1"},
		{"drop 5..3", 6, "must not fall"},
		{"drop 101%", 6, "expected 0% to 100%"},
		{"drop 0.00001%", 6, "at most four decimals"},
		{"drop %", 6, "expected 0% to 100%"},
		{"dup x0", 5, "expected 1 to 1000"},
		{"reorder 1001", 9, "expected 1 to 1000"},
		{"corrupt bit=99999", 13, "expected a bit number, 0 to 34815"},
		{"corrupt bit=1 icrc", 15, "what to corrupt is given already"},
		{"delay ack", 10, "'delay' needs a time"},
		{"hold", 5, "'hold' needs a time"},
		{"delay by", 9, "a time is missing after 'by'"},
		{"delay by soon", 10, "expected a time"},
		{"delay 5ms 6ms", 11, "the time is given already"},
		{"delay 1.0005us", 7, "expected a time"},
		{"delay 99999999999999999999s", 7, "expected a time"},
		{"drop 5ms", 6, "expected a count"},
		{"drop from", 10, "the name of a node is missing after 'from'"},
		{"drop from abcdefghijklmnop", 11, "at most 15 bytes"},
		{"a:b: drop", 2, "no ':'"},
		{": drop", 1, "a name has 1 to 47 bytes"},
		{"name:", 6, "an action is missing"},
		{"drop 18446744073709551616th", 6, "expected a count"},
		{"drop \x01", 6, "'.'"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vs_fault_rule r;
		struct vs_fault_error err;

		ck_assert_msg(vs_fault_parse(cases[i].text, strlen(cases[i].text), &r, &err) == VS_ERR_INVAL, "%s",
			      cases[i].text);
		ck_assert_msg(err.column == cases[i].column, "%s: column %u: %s", cases[i].text, err.column, err.text);
		ck_assert_msg(strstr(err.text, cases[i].says) != NULL, "%s: %s", cases[i].text, err.text);
		ck_assert_int_eq(vs_fault_parse(cases[i].text, strlen(cases[i].text), &r, NULL), VS_ERR_INVAL);
	}
}
END_TEST

START_TEST(a_text_ends_where_its_length_says)
{
	struct vs_fault_rule r;
	struct vs_fault_error err;
	char longer[2000];

	ck_assert_int_eq(vs_fault_parse("drop 3rdX", 8, &r, &err), VS_OK);
	ck_assert_uint_eq(r.first, 3);
	memset(longer, ' ', sizeof(longer));
	memcpy(longer, "drop", 4);
	ck_assert_int_eq(vs_fault_parse(longer, sizeof(longer), &r, &err), VS_ERR_INVAL);
	ck_assert_uint_eq(err.column, 1025);
}
END_TEST

/* ---- parse(format(r)) == r ---- */

static void random_node(uint64_t *seed, char node[VS_FAULT_NODE])
{
	size_t n = vs_rand(seed) % VS_FAULT_NODE;

	for (size_t i = 0; i < n; i++)
		node[i] = (char)('!' + vs_rand(seed) % 94);
}

static void random_count(uint64_t *seed, struct vs_fault_rule *r)
{
	r->count = (enum vs_fault_count)(vs_rand(seed) % 4);
	if (r->count == VS_COUNT_RANGE) {
		r->first = 1 + (vs_rand(seed) >> vs_rand(seed) % 64) % 1000000;
		r->last = r->first + (vs_rand(seed) % 2 ? 0 : vs_rand(seed) >> 1);
	}
	if (r->count == VS_COUNT_EVERY)
		r->first = 1 + (vs_rand(seed) >> 1);
	if (r->count == VS_COUNT_PERCENT)
		r->per_million = (uint32_t)(vs_rand(seed) % 1000001);
}

static uint32_t random_what(uint64_t *seed)
{
	struct vs_fault_rule r;
	char text[64];

	for (;;) {
		uint8_t op = (uint8_t)vs_rand(seed);
		static const char *const classes[] = {"any",  "data",  "request", "response", "ack", "nak", "rnr",
						      "send", "write", "read",    "atomic",   "cnp", "cm",  "ud"};

		if (vs_rand(seed) % 2)
			snprintf(text, sizeof(text), "drop %s", classes[vs_rand(seed) % 14]);
		else if (vs_opcode_token(op) != NULL)
			snprintf(text, sizeof(text), "drop %s%s", op >> 5 == 0 && vs_rand(seed) % 2 ? "RC " : "",
				 vs_opcode_token(op));
		else
			continue;
		r = parsed(text);
		return r.what;
	}
}

static struct vs_fault_rule random_rule(uint64_t *seed)
{
	struct vs_fault_rule r = {.action = (enum vs_fault_action)(vs_rand(seed) % 7)};

	if (r.action == VS_FAULT_DUP || r.action == VS_FAULT_REORDER)
		r.times = (uint32_t)(1 + vs_rand(seed) % 1000);
	if (r.action == VS_FAULT_DELAY || r.action == VS_FAULT_HOLD)
		r.time_ns = vs_rand(seed) >> (1 + vs_rand(seed) % 60);
	if (r.action == VS_FAULT_CORRUPT)
		r.corrupt_bit = (int32_t)(vs_rand(seed) % 34818) - 2;
	random_count(seed, &r);
	r.what = random_what(seed);
	if (vs_rand(seed) % 2)
		random_node(seed, r.from);
	if (vs_rand(seed) % 2)
		random_node(seed, r.to);
	r.has_qpn = vs_rand(seed) % 2;
	r.qpn = r.has_qpn ? (uint32_t)(vs_rand(seed) & 0xffffff) : 0;
	r.has_psn = vs_rand(seed) % 2;
	if (r.has_psn) {
		r.psn_first = (uint32_t)(vs_rand(seed) & 0xffffff);
		r.psn_last = vs_rand(seed) % 2 ? r.psn_first
					       : vs_psn_add(r.psn_first, (int32_t)(vs_rand(seed) % (VS_PSN_HALF - 1)));
	}
	r.iter = vs_rand(seed) % 2 ? (uint32_t)(1 + vs_rand(seed) % UINT32_MAX) : 0;
	return r;
}

START_TEST(parsing_what_was_formatted_gives_the_same_rule)
{
	uint64_t seed = 77;

	for (unsigned i = 0; i < 100000; i++) {
		struct vs_fault_rule r = random_rule(&seed), back;
		struct vs_fault_error err;
		char text[512];
		int n;

		if (i % 2)
			snprintf(r.name, sizeof(r.name), "rule-%u", i);
		n = vs_fault_format(&r, text, sizeof(text));
		ck_assert_int_gt(n, 0);
		ck_assert_msg(vs_fault_parse(text, (size_t)n, &back, &err) == VS_OK, "%s: column %u: %s", text,
			      err.column, err.text);
		if (i % 2 == 0) /* its own text is the name now */
			memcpy(r.name, back.name, sizeof(r.name));
		ck_assert_msg(same_rule(&r, &back), "%s", text);
	}
}
END_TEST

/* ---- counting ---- */

START_TEST(counts_say_which_matches_are_hit)
{
	ck_assert_str_eq(drops("drop 3rd"), "3");
	ck_assert_str_eq(drops("drop 2..4"), "2 3 4");
	ck_assert_str_eq(drops("drop first 3"), "1 2 3");
	ck_assert_str_eq(drops("drop every 10"), "10 20 30 40");
	ck_assert_str_eq(drops("drop 0%"), "");
	ck_assert_str_eq(drops("drop psn=5..7"), "5 6 7");
	ck_assert_str_eq(drops("drop 2nd psn=5..7"), "6");
	ck_assert_str_eq(drops("drop ack"), "");
	ck_assert_uint_gt(strlen(drops("drop all")), 100);
	ck_assert_str_eq(drops("drop 100%"), drops("drop all"));
}
END_TEST

START_TEST(every_rule_counts_for_itself)
{
	struct vs_fault_set *s = new_set(1);
	struct vs_fault_rule a = parsed("drop 2nd send"), b = parsed("mark 2nd data");
	struct vs_pkt send = packet(VS_OP_RC_SEND_ONLY, 5, 1), write = packet(VS_OP_RC_WRITE_ONLY, 5, 2);
	struct vs_fault_verdict v;

	ck_assert_int_eq(vs_fault_set_add(s, &a), 0);
	ck_assert_int_eq(vs_fault_set_add(s, &b), 1);
	v = judge(s, &write, "A", "B");
	ck_assert(!v.drop && !v.mark);
	v = judge(s, &send, "A", "B");
	ck_assert(!v.drop && v.mark && v.rule[0] == 1 && v.rule[1] == -1);
	v = judge(s, &send, "A", "B");
	ck_assert(v.drop && !v.mark && v.rule[0] == 0);
	ck_assert_uint_eq(vs_fault_set_rule(s, 0)->seen, 2);
	ck_assert_uint_eq(vs_fault_set_rule(s, 0)->hits, 1);
	ck_assert_uint_eq(vs_fault_set_rule(s, 1)->seen, 3);
	ck_assert_ptr_null(vs_fault_set_rule(s, 2));
	ck_assert_ptr_null(vs_fault_set_rule(s, -1));
	vs_fault_set_clear(s);
	ck_assert_ptr_null(vs_fault_set_rule(s, 0));
	free(s);
}
END_TEST

START_TEST(a_set_is_full_at_its_limit)
{
	struct vs_fault_set *s = new_set(1);
	struct vs_fault_rule r = parsed("drop 3rd");

	for (int i = 0; i < VS_FAULT_MAX_RULES; i++)
		ck_assert_int_eq(vs_fault_set_add(s, &r), i);
	ck_assert_int_eq(vs_fault_set_add(s, &r), VS_ERR_NOSPACE);
	free(s);
}
END_TEST

/* Which of n packets a set drops, as a bit string. */
static void draw(uint64_t seed, const char *first, const char *second, char *out, unsigned n)
{
	struct vs_fault_set *s = new_set(seed);
	struct vs_fault_rule r = parsed(first);
	struct vs_pkt p = packet(VS_OP_RC_SEND_ONLY, 5, 0);

	vs_fault_set_add(s, &r);
	if (second != NULL) {
		r = parsed(second);
		vs_fault_set_add(s, &r);
	}
	for (unsigned i = 0; i < n; i++) {
		struct vs_fault_verdict v = judge(s, &p, "A", "B");

		out[i] = v.drop ? '1' : '0';
	}
	out[n] = '\0';
	free(s);
}

START_TEST(chance_comes_from_the_seed_alone)
{
	char a[2001], b[2001];

	draw(7, "drop 20%", NULL, a, 2000);
	draw(7, "drop 20%", NULL, b, 2000);
	ck_assert_str_eq(a, b);
	draw(8, "drop 20%", NULL, b, 2000);
	ck_assert_str_ne(a, b);
	/* Another rule beside it changes nothing. */
	draw(7, "drop 20%", "corrupt 50%", b, 2000);
	ck_assert_str_eq(a, b);
}
END_TEST

START_TEST(a_percentage_is_kept_in_the_long_run)
{
	static const uint32_t percents[] = {1, 5, 20, 50, 90};
	char *out = malloc(100001);

	ck_assert_ptr_nonnull(out);
	for (size_t i = 0; i < 5; i++) {
		char rule[32];
		uint32_t hits = 0, want = percents[i] * 1000;

		snprintf(rule, sizeof(rule), "drop %" PRIu32 "%%", percents[i]);
		draw(i, rule, NULL, out, 100000);
		for (const char *c = out; *c != '\0'; c++)
			hits += *c == '1';
		/* Five standard deviations of 100,000 draws are less than 800. */
		ck_assert_msg(hits + 800 > want && hits < want + 800, "%s: %" PRIu32, rule, hits);
	}
	free(out);
}
END_TEST

/* ---- matching ---- */

static bool hits(const char *rule, const struct vs_pkt *p, const char *from, const char *to)
{
	struct vs_fault_set *s = set_of(rule);
	bool hit = judge(s, p, from, to).drop;

	free(s);
	return hit;
}

START_TEST(classes_take_the_packets_that_they_name)
{
	static const struct {
		uint8_t opcode;
		uint32_t qpn;
		uint8_t syndrome;
		const char *classes; /* all that fit */
	} cases[] = {
		{VS_OP_RC_SEND_ONLY, 5, 0, "any data request send SEND_ONLY"},
		{VS_OP_RC_SEND_FIRST, 5, 0, "any data request send SEND_FIRST"},
		{VS_OP_RC_WRITE_LAST_IMM, 5, 0, "any data request write WRITE_LAST_IMM"},
		{VS_OP_UC_WRITE_ONLY, 5, 0, "any data request write WRITE_ONLY UC_WRITE_ONLY"},
		{VS_OP_RC_READ_REQUEST, 5, 0, "any request read READ_REQUEST"},
		{VS_OP_RC_READ_RESPONSE_MIDDLE, 5, 0, "any data response READ_RESPONSE_MIDDLE"},
		{VS_OP_RC_ACKNOWLEDGE, 5, 0x1f, "any response ack ACK"},
		{VS_OP_RC_ACKNOWLEDGE, 5, 0x60, "any response nak ACK"},
		{VS_OP_RC_ACKNOWLEDGE, 5, 0x21, "any response rnr ACK"},
		{VS_OP_RC_ATOMIC_ACKNOWLEDGE, 5, 0x1f, "any response ATOMIC_ACK"},
		{VS_OP_RC_ATOMIC_ACKNOWLEDGE, 5, 0x62, "any response nak ATOMIC_ACK"},
		{VS_OP_RC_FETCH_ADD, 5, 0, "any request atomic FETCH_ADD"},
		{VS_OP_RC_COMPARE_SWAP, 5, 0, "any request atomic COMPARE_SWAP"},
		{VS_OP_RC_FLUSH, 5, 0, "any request FLUSH"},
		{VS_OP_RC_ATOMIC_WRITE, 5, 0, "any request ATOMIC_WRITE"},
		{VS_OP_UD_SEND_ONLY, 5, 0, "any data request send ud SEND_ONLY UD_SEND_ONLY"},
		{VS_OP_UD_SEND_ONLY, 1, 0, "any cm SEND_ONLY UD_SEND_ONLY"},
		{VS_OP_CNP, 5, 0, "any cnp CNP"},
	};
	static const char *const words[] = {"any",
					    "data",
					    "request",
					    "response",
					    "ack",
					    "nak",
					    "rnr",
					    "send",
					    "write",
					    "read",
					    "atomic",
					    "cnp",
					    "cm",
					    "ud",
					    "SEND_ONLY",
					    "SEND_FIRST",
					    "WRITE_LAST_IMM",
					    "WRITE_ONLY",
					    "UC_WRITE_ONLY",
					    "READ_REQUEST",
					    "READ_RESPONSE_MIDDLE",
					    "ACK",
					    "ATOMIC_ACK",
					    "FETCH_ADD",
					    "COMPARE_SWAP",
					    "FLUSH",
					    "ATOMIC_WRITE",
					    "UD_SEND_ONLY",
					    "CNP"};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vs_pkt p = packet(cases[i].opcode, cases[i].qpn, 9);

		p.ext.aeth.syndrome = cases[i].syndrome;
		for (size_t w = 0; w < sizeof(words) / sizeof(words[0]); w++) {
			char rule[64], list[256], word[64];

			snprintf(rule, sizeof(rule), "drop %s", words[w]);
			snprintf(list, sizeof(list), " %s ", cases[i].classes);
			snprintf(word, sizeof(word), " %s ", words[w]);
			ck_assert_msg(hits(rule, &p, "A", "B") == (strstr(list, word) != NULL), "%s and %s (%#x)", rule,
				      vs_opcode_token(cases[i].opcode), cases[i].syndrome);
		}
	}
}
END_TEST

START_TEST(an_opcode_with_its_transport_is_of_that_alone)
{
	struct vs_pkt rc = packet(VS_OP_RC_SEND_ONLY, 5, 9), ud = packet(VS_OP_UD_SEND_ONLY, 5, 9);
	struct vs_pkt ack = packet(VS_OP_RC_ACKNOWLEDGE, 5, 9), rd = packet(VS_OP_RD_ACKNOWLEDGE, 5, 9);

	ck_assert(hits("drop RC SEND_ONLY", &rc, "A", "B") && !hits("drop RC SEND_ONLY", &ud, "A", "B"));
	ck_assert(hits("drop SEND_ONLY", &rc, "A", "B") && hits("drop SEND_ONLY", &ud, "A", "B"));
	ck_assert(hits("drop RC ACK", &ack, "A", "B") && !hits("drop RC ACK", &rd, "A", "B"));
	ck_assert(hits("drop ACK", &rd, "A", "B"));
}
END_TEST

START_TEST(a_packet_without_bth_is_any_and_nothing_else)
{
	struct vs_pkt p;

	vs_pkt_init(&p, VS_ENCAP_IB_RAW, 0, false);
	ck_assert(hits("drop any", &p, "A", "B"));
	ck_assert(!hits("drop request", &p, "A", "B"));
	ck_assert(!hits("drop SEND_FIRST", &p, "A", "B"));
}
END_TEST

START_TEST(nodes_queue_pairs_and_psns_have_to_fit)
{
	struct vs_pkt p = packet(VS_OP_RC_SEND_ONLY, 0x11, 0);

	ck_assert(hits("drop from A", &p, "A", "B") && !hits("drop from A", &p, "B", "A"));
	ck_assert(hits("drop to B", &p, "A", "B") && !hits("drop to B", &p, "B", "A"));
	ck_assert(!hits("drop to B", &p, "A", "")); /* a group: to nobody by name */
	ck_assert(hits("drop qp=17", &p, "A", "B") && !hits("drop qp=16", &p, "A", "B"));
	ck_assert(hits("drop psn=0xfffffe..1", &p, "A", "B"));
	p.bth.psn = 1;
	ck_assert(hits("drop psn=0xfffffe..1", &p, "A", "B"));
	p.bth.psn = 2;
	ck_assert(!hits("drop psn=0xfffffe..1", &p, "A", "B"));
	p.bth.psn = 0xfffffd;
	ck_assert(!hits("drop psn=0xfffffe..1", &p, "A", "B"));
}
END_TEST

START_TEST(iter_counts_how_often_the_same_psn_passes)
{
	struct vs_fault_set *s = set_of("drop psn=7 iter=2");
	struct vs_pkt p = packet(VS_OP_RC_SEND_ONLY, 5, 7), other = packet(VS_OP_RC_SEND_ONLY, 6, 7);
	struct vs_pkt ack = packet(VS_OP_RC_ACKNOWLEDGE, 5, 7);

	ck_assert(!judge(s, &p, "A", "B").drop);
	/* Another QP, another sender, the other direction: counted apart. */
	ck_assert(!judge(s, &other, "A", "B").drop);
	ck_assert(!judge(s, &p, "C", "B").drop);
	ck_assert(!judge(s, &ack, "A", "B").drop);
	ck_assert(judge(s, &p, "A", "B").drop);
	ck_assert(!judge(s, &p, "A", "B").drop);
	free(s);
}
END_TEST

START_TEST(the_history_forgets_the_oldest_not_the_newest)
{
	struct vs_fault_set *s = set_of("drop iter=2");
	struct vs_pkt p = packet(VS_OP_RC_SEND_ONLY, 5, 0);
	unsigned again = 0;

	for (uint32_t i = 0; i < 8 * VS_FAULT_HISTORY; i++) {
		p.bth.psn = i;
		ck_assert(!judge(s, &p, "A", "B").drop);
		if (i % 64 == 0)
			again += judge(s, &p, "A", "B").drop;
	}
	ck_assert_uint_eq(again, 8 * VS_FAULT_HISTORY / 64);
	free(s);
}
END_TEST

/* ---- verdicts ---- */

START_TEST(a_verdict_is_the_sum_of_the_rules_that_hit)
{
	static const char *const rules[] = {"dup x2",   "dup",       "delay 3us", "delay 4us", "hold 5us",
					    "hold 2us", "reorder 2", "reorder 5", "mark"};
	struct vs_fault_set *s = new_set(1);
	struct vs_pkt p = packet(VS_OP_RC_SEND_ONLY, 5, 7);
	struct vs_fault_verdict v;

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		struct vs_fault_rule r = parsed(rules[i]);

		vs_fault_set_add(s, &r);
	}
	v = judge(s, &p, "A", "B");
	ck_assert_uint_eq(v.copies, 3);
	ck_assert_uint_eq(v.delay_ns, 7000);
	ck_assert_uint_eq(v.hold_ns, 5000);
	ck_assert_uint_eq(v.reorder, 5);
	ck_assert(v.mark && !v.drop && !v.corrupt);
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(v.rule[i], i);
	free(s);
}
END_TEST

START_TEST(damage_stays_inside_the_packet)
{
	struct vs_pkt p = packet(VS_OP_RC_SEND_ONLY, 5, 7);
	struct vs_fault_set *any = set_of("corrupt"), *icrc = set_of("corrupt icrc"), *bit = set_of("corrupt bit=77");
	struct vs_fault_set *far = set_of("corrupt bit=1000");
	bool low = false, high = false;

	for (unsigned i = 0; i < 1000; i++) {
		struct vs_fault_verdict v;

		vs_fault_judge(any, &p, 20, "A", "B", &v);
		ck_assert(v.corrupt && v.corrupt_bit < 160);
		low |= v.corrupt_bit < 40;
		high |= v.corrupt_bit >= 120;
		vs_fault_judge(icrc, &p, 20, "A", "B", &v);
		ck_assert(v.corrupt && v.corrupt_bit >= 128 && v.corrupt_bit < 160);
		vs_fault_judge(bit, &p, 20, "A", "B", &v);
		ck_assert_uint_eq(v.corrupt_bit, 77);
		vs_fault_judge(far, &p, 20, "A", "B", &v);
		ck_assert_uint_lt(v.corrupt_bit, 160);
		vs_fault_judge(any, &p, 3, "A", "B", &v);
		ck_assert(!v.corrupt);
	}
	ck_assert(low && high);
	free(any);
	free(icrc);
	free(bit);
	free(far);
}
END_TEST

START_TEST(no_rules_no_verdict)
{
	struct vs_fault_set *s = new_set(1);
	struct vs_pkt p = packet(VS_OP_RC_SEND_ONLY, 5, 7);
	struct vs_fault_verdict v = judge(s, &p, "A", "B");

	ck_assert(!v.drop && !v.mark && !v.corrupt && v.copies == 0 && v.delay_ns == 0 && v.hold_ns == 0 &&
		  v.reorder == 0 && v.rule[0] == -1);
	free(s);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("fault");
	TCase *tc = tcase_create("fault");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, rules_have_one_normal_form);
	tcase_add_test(tc, a_rule_without_a_name_is_called_by_its_text);
	tcase_add_test(tc, format_refuses_a_buffer_that_is_too_small);
	tcase_add_test(tc, errors_name_the_column_and_what_was_expected);
	tcase_add_test(tc, a_text_ends_where_its_length_says);
	tcase_add_test(tc, parsing_what_was_formatted_gives_the_same_rule);
	tcase_add_test(tc, counts_say_which_matches_are_hit);
	tcase_add_test(tc, every_rule_counts_for_itself);
	tcase_add_test(tc, a_set_is_full_at_its_limit);
	tcase_add_test(tc, chance_comes_from_the_seed_alone);
	tcase_add_test(tc, a_percentage_is_kept_in_the_long_run);
	tcase_add_test(tc, classes_take_the_packets_that_they_name);
	tcase_add_test(tc, an_opcode_with_its_transport_is_of_that_alone);
	tcase_add_test(tc, a_packet_without_bth_is_any_and_nothing_else);
	tcase_add_test(tc, nodes_queue_pairs_and_psns_have_to_fit);
	tcase_add_test(tc, iter_counts_how_often_the_same_psn_passes);
	tcase_add_test(tc, the_history_forgets_the_oldest_not_the_newest);
	tcase_add_test(tc, a_verdict_is_the_sum_of_the_rules_that_hit);
	tcase_add_test(tc, damage_stays_inside_the_packet);
	tcase_add_test(tc, no_rules_no_verdict);
	suite_add_tcase(s, tc);
	return s;
}
