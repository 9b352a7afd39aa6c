/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* Lab 05: PSNs on their circle, and what an acknowledgement finishes. requester.h says what the two functions have to
 * do. */
#include "requester.h"

#include <string.h>

/* TODO(1): this is right as long as nothing wraps. PSNs have 24 bits. */
int32_t psn_diff(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b);
}

/* Takes the n oldest requests out. */
static void take(struct requester *r, unsigned n)
{
	r->n -= n;
	memmove(r->open, r->open + n, r->n * sizeof(r->open[0]));
}

/* TODO(2): this finishes one request for each acknowledgement, whatever it says. */
unsigned on_ack(struct requester *r, uint32_t psn, bool response)
{
	(void)psn;
	(void)response;
	if (r->n == 0)
		return 0;
	take(r, 1);
	return 1;
}
