/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * squeeze.c - words of a ring on their way to the spool, in fewer bytes: each page that is written has to be found by
 * the kernel first, and programs do the same thing many times. The form is in rec.h.
 */
#include <string.h>

#include "recorder.h"

#define RUN_MIN 4u /* shorter, and a run saves little */

/* How many from there have all but the last 16 bits in common. */
static uint32_t run_length(const uint64_t *w, uint32_t n)
{
	uint32_t i = 1;

	n = n < REC_ITEM_MAX ? n : REC_ITEM_MAX;
	while (i < n && (w[i] ^ w[0]) >> 16 == 0)
		i++;
	return i;
}

static uint8_t *put_item(uint8_t *to, uint16_t head, const void *from, size_t n)
{
	memcpy(to, &head, sizeof(head));
	memcpy(to + sizeof(head), from, n);
	return to + sizeof(head) + n;
}

static uint8_t *put_run(uint8_t *to, const uint64_t *w, uint32_t n)
{
	to = put_item(to, (uint16_t)(REC_ITEM_RUN | n), w, sizeof(*w));
	for (uint32_t i = 1; i < n; i++, to += sizeof(uint16_t)) {
		uint16_t low = (uint16_t)w[i];

		memcpy(to, &low, sizeof(low));
	}
	return to;
}

size_t rec_squeeze(uint8_t *to, const uint64_t *w, uint32_t n)
{
	uint8_t *const begin = to;

	for (uint32_t i = 0, plain = 0; i < n || plain < i;) {
		uint32_t run = i < n ? run_length(w + i, n - i) : 0;

		if (run > 0 && run < RUN_MIN && i + run - plain < REC_ITEM_MAX) {
			i += run;
			continue;
		}
		if (plain < i)
			to = put_item(to, (uint16_t)(i - plain), w + plain, (i - plain) * sizeof(*w));
		if (run >= RUN_MIN) {
			to = put_run(to, w + i, run);
			i += run;
		}
		plain = i;
	}
	return (size_t)(to - begin);
}
