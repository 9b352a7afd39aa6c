/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * remote_clock.c - the agent's clock on ours.
 *
 * Every question that is answered bounds the difference from both sides: it was taken there after it was sent here, and
 * answered there before the answer was here. The bounds of many questions are cut, and what is cut is widened by what
 * two clocks may drift apart until now. Nothing is assumed about the way being equally long in both directions.
 */
#include "remote.h"

#define DRIFT_PPM 200 /* twice what a bad crystal has */

static int64_t drift(const struct vc_clock *c, uint64_t now)
{
	return now > c->at_ns ? (int64_t)((now - c->at_ns) / (1000000 / DRIFT_PPM)) : 0;
}

void vc_clock_add(struct vc_clock *c, uint64_t sent, uint64_t took, uint64_t answered, uint64_t came)
{
	int64_t lo = (int64_t)(answered - came), hi = (int64_t)(took - sent), wide = drift(c, came);

	if (answered < took || hi < lo) /* its clock went back, or went too fast */
		return;
	if (c->known && lo <= c->hi + wide && hi >= c->lo - wide) {
		lo = c->lo - wide > lo ? c->lo - wide : lo;
		hi = c->hi + wide < hi ? c->hi + wide : hi;
	} /* else it is new, or one of the clocks was set */
	*c = (struct vc_clock){true, lo, hi, came};
}

uint64_t vc_clock_here(const struct vc_clock *c, uint64_t there)
{
	return there - (uint64_t)(c->lo + (c->hi - c->lo) / 2);
}

uint64_t vc_clock_error_ns(const struct vc_clock *c, uint64_t now)
{
	return c->known ? (uint64_t)((c->hi - c->lo + 1) / 2 + drift(c, now)) : UINT64_MAX / 4;
}
