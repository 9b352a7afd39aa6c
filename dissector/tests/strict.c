/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * strict.c - for the sanitizer build of the plugin alone: makes raw pointers into packets exact.
 *
 * Wireshark reads frames into a buffer that is larger than they are, so AddressSanitizer can't see a
 * read behind the end of a packet. Linked with --wrap=tvb_get_ptr, this hands the plugin a copy that
 * ends where it asked for; with WIRESHARK_DEBUG_WMEM_OVERRIDE=simple every copy is a malloc of its
 * own, surrounded by red zones. Bytes before the asked-for ones stay readable, as they are in the tvb.
 *
 * VS_PLANT=overflow, undefined or leak commits that crime at the first packet: mutated.sh proves with
 * it that the sanitizers are at work, before it believes their silence.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "dissector/compat.h"

const uint8_t *__real_tvb_get_ptr(tvbuff_t *tvb, int offset, int length);
const uint8_t *__wrap_tvb_get_ptr(tvbuff_t *tvb, int offset, int length);

static void plant(const uint8_t *copy, size_t len)
{
	const char *what = getenv("VS_PLANT");
	volatile int number = INT_MAX;
	volatile uint8_t byte;

	if (what == NULL)
		return;
	if (strcmp(what, "overflow") == 0)
		byte = copy[len];
	else if (strcmp(what, "undefined") == 0)
		number = number + 1;
	/* cppcheck-suppress leakReturnValNotUsed */
	else if (strcmp(what, "leak") == 0 && malloc(77) == NULL)
		abort();
	(void)byte; /* NOLINT(clang-analyzer-unix.Malloc): the leak that is planted */
}

const uint8_t *__wrap_tvb_get_ptr(tvbuff_t *tvb, int offset, int length)
{
	const uint8_t *from = __real_tvb_get_ptr(tvb, offset, length);
	size_t before = (size_t)offset,
	       len = length < 0 ? (size_t)tvb_captured_length_remaining(tvb, offset) : (size_t)length;
	uint8_t *copy;

	if (before + len == 0)
		return from;
	from = __real_tvb_get_ptr(tvb, 0, (int)(before + len));
	copy = wmem_alloc(wmem_packet_scope(), before + len);
	memcpy(copy, from, before + len);
	plant(copy, before + len);
	return copy + before;
}
