/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* Lab 12: reacting to congestion. dcqcn.h says what the three functions have to do. */
#include "dcqcn.h"

bool on_marked(struct receiver *r, uint64_t now_ns)
{
	if (r->has_sent && now_ns - r->last_ns < CNP_GAP_NS)
		return false;
	r->has_sent = true;
	r->last_ns = now_ns;
	return true;
}

void on_cnp(struct sender *s)
{
	s->target = s->rate;
	s->rate -= s->rate * s->alpha / 2;
	if (s->rate < LEAST_RATE)
		s->rate = LEAST_RATE;
	s->alpha += G * (1 - s->alpha);
	s->rounds = 0;
}

void on_timer(struct sender *s)
{
	s->alpha -= G * s->alpha;
	s->rounds++;
	if (s->rounds > FAST_ROUNDS)
		s->target += STEP;
	if (s->target > LINE_RATE)
		s->target = LINE_RATE;
	s->rate += (s->target - s->rate) / 2;
}
