/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * runner.h - what every Check program shares: each test_x.c defines vs_suite(), runner.c has main().
 */
#ifndef VS_TESTS_RUNNER_H
#define VS_TESTS_RUNNER_H

#include <check.h>
#include <stdint.h>

/*
 * Every assertion that holds would be written to a file, for Check to say where a test was last when it crashes. That
 * costs more than most tests do, and a sanitizer says it better.
 */
#define _mark_point(file, line) ((void)0)

/* Defined by the test file; owned by the runner afterwards. */
Suite *vs_suite(void);

/* A small deterministic generator (xorshift64*), so that a failing test names its seed. */
static inline uint64_t vs_rand(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return x * 0x2545f4914f6cdd1dull;
}

#endif
