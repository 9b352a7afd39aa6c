/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_psn.c - 24-bit sequence arithmetic: on the circle, across the wrap, at exactly half.
 */
#include "pktgen.h"
#include "vs/psn.h"

#define REQUIRE(cond, ...)                         \
	do {                                       \
		if (!(cond))                       \
			ck_abort_msg(__VA_ARGS__); \
	} while (0)

/* PSNs where arithmetic goes wrong, if it does. */
static const uint32_t corners[] = {0,        1,        2,        0x7ffffe, 0x7fffff, 0x800000,
				   0x800001, 0x800002, 0xfffffd, 0xfffffe, 0xffffff, 0x123456};
#define CORNERS (sizeof(corners) / sizeof(corners[0]))

/* Another way to the same order: the sign of the difference, shifted to the top of 32 bits. */
static int32_t model_diff(uint32_t a, uint32_t b)
{
	return (int32_t)((a - b) << 8) / 256;
}

static void require_order(uint32_t a, uint32_t b)
{
	int32_t d = vs_psn_diff(a, b);

	REQUIRE(d == model_diff(a, b), "diff(%#x, %#x) = %d", a, b, d);
	REQUIRE(vs_psn_lt(a, b) == (d < 0) && vs_psn_le(a, b) == (d <= 0), "lt, le of %#x, %#x", a, b);
	REQUIRE(vs_psn_gt(a, b) == (d > 0) && vs_psn_ge(a, b) == (d >= 0), "gt, ge of %#x, %#x", a, b);
	REQUIRE(vs_psn_le(a, b) == !vs_psn_gt(a, b), "le is not the opposite of gt: %#x, %#x", a, b);
	REQUIRE(vs_psn_add(b, d) == (a & VS_PSN_MASK), "b + (a - b) is not a: %#x, %#x", a, b);
	if (((a - b) & VS_PSN_MASK) != VS_PSN_HALF)
		REQUIRE(vs_psn_diff(b, a) == -d && vs_psn_lt(a, b) == vs_psn_gt(b, a), "no symmetry: %#x, %#x", a, b);
	else
		REQUIRE(d == -(int32_t)VS_PSN_HALF && vs_psn_lt(a, b) && vs_psn_lt(b, a), "half: %#x, %#x", a, b);
}

START_TEST(diff_undoes_add_for_every_distance)
{
	/* All 2^24 distances from each corner; a sample of them when scaled down. */
	int32_t step = vs_gen_count(100) >= 100 ? 1 : 97;

	for (size_t c = 0; c < CORNERS; c++)
		for (int32_t n = -(int32_t)VS_PSN_HALF; n < (int32_t)VS_PSN_HALF; n += step)
			REQUIRE(vs_psn_diff(vs_psn_add(corners[c], n), corners[c]) == n, "%#x + %d", corners[c], n);
}
END_TEST

START_TEST(order_holds_near_every_boundary)
{
	for (size_t c = 0; c < CORNERS; c++)
		for (size_t k = 0; k < CORNERS; k++)
			for (int32_t i = -40; i <= 40; i++)
				for (int32_t m = -40; m <= 40; m++)
					require_order(vs_psn_add(corners[c], i), vs_psn_add(corners[k], m));
}
END_TEST

START_TEST(order_holds_for_random_pairs)
{
	uint64_t seed = 0x9541;

	for (unsigned long i = 0; i < vs_gen_count(5000000); i++) {
		uint64_t r = vs_rand(&seed);

		require_order((uint32_t)r & VS_PSN_MASK, (uint32_t)(r >> 32) & VS_PSN_MASK);
	}
}
END_TEST

START_TEST(the_successor_of_the_last_psn_is_the_first)
{
	ck_assert_uint_eq(vs_psn_add(0xffffff, 1), 0);
	ck_assert_uint_eq(vs_psn_add(0, -1), 0xffffff);
	ck_assert_uint_eq(vs_psn_add(0xfffffe, 5), 3);
	ck_assert(vs_psn_lt(0xffffff, 0));
	ck_assert(vs_psn_gt(3, 0xfffffe));
	ck_assert(!vs_psn_lt(0, 0));
	ck_assert(vs_psn_le(0, 0) && vs_psn_ge(0, 0));
}
END_TEST

START_TEST(bits_above_24_are_ignored)
{
	ck_assert_uint_eq(vs_psn_add(0xff000000, 1), 1);
	ck_assert_int_eq(vs_psn_diff(0x01000005, 3), 2);
	ck_assert(vs_psn_in(0x01000005, 5, 1));
}
END_TEST

START_TEST(a_window_holds_exactly_its_n_psns)
{
	static const uint32_t sizes[] = {0, 1, 2, 7, 0x7fffff, 0x800000};

	for (size_t c = 0; c < CORNERS; c++) {
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			uint32_t first = corners[c], n = sizes[i];

			REQUIRE(!vs_psn_in(vs_psn_add(first, -1), first, n), "one before %#x + %#x", first, n);
			REQUIRE(!vs_psn_in(vs_psn_add(first, (int32_t)n), first, n), "one after %#x + %#x", first, n);
			REQUIRE(vs_psn_in(first, first, n) == (n > 0), "first of %#x + %#x", first, n);
			if (n > 0)
				REQUIRE(vs_psn_in(vs_psn_add(first, (int32_t)n - 1), first, n), "last of %#x + %#x",
					first, n);
		}
	}
}
END_TEST

START_TEST(a_message_takes_one_psn_per_packet_and_never_none)
{
	for (uint32_t mtu = 256; mtu <= 4096; mtu *= 2) {
		ck_assert_uint_eq(vs_psn_count(0, mtu), 1);
		ck_assert_uint_eq(vs_psn_count(1, mtu), 1);
		for (uint32_t n = 1; n < 50; n++) {
			ck_assert_uint_eq(vs_psn_count(n * mtu - 1, mtu), n);
			ck_assert_uint_eq(vs_psn_count(n * mtu, mtu), n);
			ck_assert_uint_eq(vs_psn_count(n * mtu + 1, mtu), n + 1);
		}
		ck_assert_uint_eq(vs_psn_count(0x80000000, mtu), 0x80000000 / mtu);
	}
	ck_assert_uint_eq(vs_psn_count(UINT32_MAX, 256), 0x1000000);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("psn");
	TCase *tc = tcase_create("psn");

	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, diff_undoes_add_for_every_distance);
	tcase_add_test(tc, order_holds_near_every_boundary);
	tcase_add_test(tc, order_holds_for_random_pairs);
	tcase_add_test(tc, the_successor_of_the_last_psn_is_the_first);
	tcase_add_test(tc, bits_above_24_are_ignored);
	tcase_add_test(tc, a_window_holds_exactly_its_n_psns);
	tcase_add_test(tc, a_message_takes_one_psn_per_packet_and_never_none);
	suite_add_tcase(s, tc);
	return s;
}
