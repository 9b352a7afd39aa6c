/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* Lab 15: what loss costs. loss.h says what the three functions have to do. */
#include "loss.h"

/* Of 1 / loss packets the last one is lost, and `window` more are sent in vain before the next ones count again. */
double go_back_n(double loss, double window)
{
	return (1 - loss) / (1 + loss * window);
}

void sweep(const struct net_config *base, const double loss[], double goodput[], unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		struct net_config c = *base;
		struct net_result r;

		c.loss = loss[i];
		goodput[i] = net_run(&c, &r) == 0 ? r.gbps : 0;
	}
}

unsigned pause_kb(const struct net_config *c)
{
	double wire = c->gbps * 1000 / 8 * c->latency_us; /* bytes of one sender on its wire */
	double headroom = c->senders * (2 * wire + 2 * (c->mtu + 64)) / 1024;

	return headroom < c->queue_kb ? (unsigned)(c->queue_kb - headroom) : 1;
}
