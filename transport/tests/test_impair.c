/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_impair.c - what faults leave of frames on a way between two ends: which come out, in which order, when, and that
 * a marked one is still one that a receiver takes.
 */
#include <string.h>

#include "runner.h"
#include "vs/icrc.h"
#include "vs/impair.h"

#define NEVER UINT64_MAX

static struct vs_impair *im;
/* What came out. */
static struct {
	bool out;
	uint32_t psn;
	size_t len;
	uint8_t frame[256];
} came[64];
static unsigned n_came;

static void pass(void *ctx, bool out, const uint8_t *frame, size_t len)
{
	struct vs_pkt p;

	(void)ctx;
	ck_assert_uint_lt(n_came, 64);
	came[n_came].out = out;
	came[n_came].len = len;
	memcpy(came[n_came].frame, frame, len);
	came[n_came++].psn =
		vs_pkt_parse(&p, VS_LINK_ETHERNET, 0, frame, len, len, 0) == VS_OK ? p.bth.psn : UINT32_MAX;
}

static void rules(const char *rule)
{
	struct vs_fault_error err;

	n_came = 0;
	im = vs_impair_new(1, VS_LINK_ETHERNET, "A", "B", pass, NULL);
	ck_assert_ptr_nonnull(im);
	if (rule != NULL)
		ck_assert_msg(vs_impair_add(im, rule, strlen(rule), &err) == VS_OK, "%s", err.text);
}

static size_t make(uint8_t *buf, enum vs_encap encap, uint32_t psn)
{
	struct vs_pkt p;
	int n;

	vs_pkt_init(&p, encap, VS_OP_RC_SEND_ONLY, true);
	memcpy(p.ipv4.src, (const uint8_t[]){10, 0, 0, 1}, 4);
	memcpy(p.ipv4.dst, (const uint8_t[]){10, 0, 0, 2}, 4);
	p.bth.psn = psn;
	ck_assert_int_eq(vs_pkt_seal(&p, VS_SEAL_ALL, buf, 256), VS_OK);
	n = vs_pkt_build(&p, buf, 256);
	ck_assert_int_gt(n, 0);
	return (size_t)n;
}

static bool send(bool out, uint32_t psn, uint64_t now)
{
	uint8_t buf[256];

	return vs_impair_frame(im, out, buf, make(buf, VS_ENCAP_ROCEV2_IPV4, psn), now);
}

static void expect(const char *psns)
{
	ck_assert_uint_eq(n_came, strlen(psns));
	for (unsigned i = 0; i < n_came; i++)
		ck_assert_uint_eq(came[i].psn, (uint32_t)(psns[i] - '0'));
}

START_TEST(without_rules_everything_passes_at_once)
{
	uint8_t arp[60] = {[12] = 8, 6};

	rules(NULL);
	ck_assert(send(true, 1, 0));
	ck_assert(send(false, 2, 0));
	ck_assert(vs_impair_frame(im, true, arp, sizeof(arp), 0));
	ck_assert_uint_eq(n_came, 3);
	ck_assert(came[0].out && !came[1].out && came[2].out);
	ck_assert_uint_eq(vs_impair_deadline(im), NEVER);
	vs_impair_free(im);
}
END_TEST

START_TEST(directions_have_the_names_of_their_ends)
{
	rules("drop 2nd any from B");
	for (unsigned i = 0; i < 3; i++) {
		ck_assert(send(true, i, 0));
		ck_assert(send(false, i, 0) == (i != 1));
	}
	expect("00122");
	ck_assert(!came[4].out && came[3].out);
	vs_impair_free(im);
}
END_TEST

START_TEST(copies_and_those_that_are_overtaken_come_in_their_order)
{
	rules("dup 1st any x2");
	for (unsigned i = 0; i < 2; i++)
		ck_assert(send(true, i, 0));
	expect("0001");
	vs_impair_free(im);
	rules("reorder 1st any 2");
	for (unsigned i = 0; i < 4; i++)
		ck_assert(send(true, i, 0));
	expect("1203");
	vs_impair_free(im);
	rules("reorder 1st any 2"); /* nobody comes to overtake it */
	ck_assert(send(true, 0, 5));
	expect("");
	vs_impair_expire(im, vs_impair_deadline(im) - 1);
	expect("");
	vs_impair_expire(im, vs_impair_deadline(im));
	expect("0");
	vs_impair_free(im);
}
END_TEST

START_TEST(who_is_delayed_waits_alone_and_who_is_held_holds_others)
{
	rules("delay 1st any by 1ms");
	for (unsigned i = 0; i < 2; i++)
		ck_assert(send(true, i, 100));
	expect("1");
	ck_assert_uint_eq(vs_impair_deadline(im), 1000100);
	vs_impair_expire(im, 1000100);
	expect("10");
	vs_impair_free(im);
	rules("hold 1st any by 1ms");
	ck_assert(send(true, 0, 0));
	ck_assert(send(true, 1, 10));
	ck_assert(send(false, 2, 20)); /* the other way is free */
	expect("2");
	vs_impair_expire(im, 1000000);
	expect("201");
	vs_impair_free(im);
}
END_TEST

START_TEST(a_marked_packet_is_one_that_a_receiver_takes)
{
	static const enum vs_encap encaps[] = {VS_ENCAP_ROCEV2_IPV4, VS_ENCAP_ROCEV2_IPV6};
	uint8_t buf[256];
	struct vs_pkt p;

	for (unsigned i = 0; i < 2; i++) {
		uint32_t sum = 0;
		size_t n = make(buf, encaps[i], 7);

		rules("mark all any");
		ck_assert(vs_impair_frame(im, true, buf, n, 0));
		ck_assert_uint_eq(n_came, 1);
		ck_assert_int_eq(vs_pkt_parse(&p, VS_LINK_ETHERNET, 0, came[0].frame, n, n, 0), VS_OK);
		ck_assert_uint_eq((i == 0 ? p.ipv4.tos : p.grh.tclass) & 3, 3);
		ck_assert_int_eq(vs_icrc_check(&p, came[0].frame, NULL), VS_CRC_GOOD);
		for (unsigned k = 0; i == 0 && k < 20; k += 2)
			sum += (uint32_t)(came[0].frame[14 + k] << 8 | came[0].frame[15 + k]);
		sum = (sum & 0xffff) + (sum >> 16);
		ck_assert_uint_eq(i == 0 ? sum : 0xffff, 0xffff);
		vs_impair_free(im);
	}
}
END_TEST

START_TEST(damage_is_one_bit)
{
	uint8_t buf[256];
	size_t n = make(buf, VS_ENCAP_ROCEV2_IPV4, 7);
	unsigned differ = 0;

	rules("corrupt 1st any bit=17");
	ck_assert(vs_impair_frame(im, true, buf, n, 0));
	ck_assert_uint_eq(n_came, 1);
	for (size_t i = 0; i < n; i++)
		differ += (unsigned)__builtin_popcount(buf[i] ^ came[0].frame[i]);
	ck_assert_uint_eq(differ, 1);
	ck_assert_uint_eq(buf[14 + 28 + 2] ^ came[0].frame[14 + 28 + 2], 2);
	vs_impair_free(im);
}
END_TEST

START_TEST(a_rule_that_never_acted_is_named)
{
	struct vs_fault_error err;

	rules("late: drop 2nd any");
	ck_assert_str_eq(vs_impair_idle(im), "late");
	ck_assert(send(true, 0, 0));
	ck_assert_str_eq(vs_impair_idle(im), "late");
	ck_assert(!send(true, 1, 0));
	ck_assert_ptr_null(vs_impair_idle(im));
	ck_assert_int_lt(vs_impair_add(im, "drpo all", 8, &err), 0);
	ck_assert_uint_gt(strlen(err.text), 0);
	vs_impair_clear(im);
	ck_assert(send(true, 2, 0));
	vs_impair_free(im);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("impair");
	TCase *t = tcase_create("frames");

	tcase_add_test(t, without_rules_everything_passes_at_once);
	tcase_add_test(t, directions_have_the_names_of_their_ends);
	tcase_add_test(t, copies_and_those_that_are_overtaken_come_in_their_order);
	tcase_add_test(t, who_is_delayed_waits_alone_and_who_is_held_holds_others);
	tcase_add_test(t, a_marked_packet_is_one_that_a_receiver_takes);
	tcase_add_test(t, damage_is_one_bit);
	tcase_add_test(t, a_rule_that_never_acted_is_named);
	suite_add_tcase(s, t);
	return s;
}
