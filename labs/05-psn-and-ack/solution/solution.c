/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* Lab 05: PSNs on their circle, and what an acknowledgement finishes. requester.h says what the two functions have to
 * do. */
#include "requester.h"

#include <string.h>

int32_t psn_diff(uint32_t a, uint32_t b)
{
	/* 24 bits, pushed to the top of 32: the sign bit is the direction. */
	return (int32_t)((a - b) << 8) >> 8;
}

static void take(struct requester *r, unsigned n)
{
	r->n -= n;
	memmove(r->open, r->open + n, r->n * sizeof(r->open[0]));
}

unsigned on_ack(struct requester *r, uint32_t psn, bool response)
{
	unsigned done = 0;

	/* Nothing is open, or it is before the first open one, or beyond the last one. */
	if (r->n == 0 || psn_diff(psn, r->open[0].first) < 0 || psn_diff(psn, r->open[r->n - 1].last) > 0)
		return 0;
	while (done < r->n && psn_diff(psn, r->open[done].last) >= 0) {
		const struct request *q = &r->open[done];
		bool own = response && psn == q->last;

		if ((q->kind == READ || q->kind == ATOMIC) && !own) {
			r->go_back = true;
			break;
		}
		done++;
	}
	take(r, done);
	return done;
}
