/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * counters.c - what the device counted, when the program ends: the engine's counters, then those of the sockets.
 */
#include "verbs/ref.h"

static void print(const struct vs_dev *dev, const char *name)
{
	for (int c = 0; c < VS_CNT_COUNT; c++) {
		uint64_t n = vs_dev_counter(dev, (enum vs_counter)c);

		if (n > 0)
			ref_say("counter %s%-24s %llu", name, vs_counter_name((enum vs_counter)c),
				(unsigned long long)n);
	}
}

void ref_counters_print(void)
{
	for (unsigned i = 0; i < ref.n_devs; i++)
		print(ref.dev[i], ref.n_devs == 1 ? "" : i == 0 ? "ref0 " : "ref1 ");
	if (ref.wire->ops->counters != NULL)
		ref.wire->ops->counters(ref.wire);
}
