/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * counters.c - what the device counted, when the program ends: the engine's counters, then those of the sockets.
 */
#include "verbs/ref.h"

void ref_counters_print(void)
{
	for (int c = 0; c < VS_CNT_COUNT; c++) {
		uint64_t n = vs_dev_counter(ref.dev, (enum vs_counter)c);

		if (n > 0)
			ref_say("counter %-24s %llu", vs_counter_name((enum vs_counter)c), (unsigned long long)n);
	}
	ref.wire->ops->counters(ref.wire);
}
