/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * requester.h - the sending side of a reliable connection, as far as acknowledgements go. PSNs have 24 bits: behind
 * 0xffffff comes 0.
 */
#ifndef REQUESTER_H
#define REQUESTER_H

#include <stdbool.h>
#include <stdint.h>

#define MAX_REQUESTS 64u

enum kind { SEND, WRITE, READ, ATOMIC };

/* A request and the PSNs that belong to it: of a READ, those of its response. */
struct request {
	enum kind kind;
	uint32_t first, last;
};

struct requester {
	struct request open[MAX_REQUESTS]; /* in the order in which they were posted; open[0] is the oldest */
	unsigned n;
	bool go_back; /* an answer came that shows that the oldest READ or ATOMIC has lost its response */
};

/*
 * How far a is ahead of b, from -2^23 to 2^23 - 1: "later" is a direction on a circle. A PSN half the circle away
 * counts as behind.
 */
int32_t psn_diff(uint32_t a, uint32_t b);

/*
 * An acknowledgement with this PSN has come; or, with `response`, the last packet of the response to the READ or ATOMIC
 * whose last PSN that is. Takes what is finished out of r->open, oldest first, and returns how many that were.
 *
 *   - An ACK finishes every SEND and WRITE whose last PSN it has reached.
 *   - A READ or ATOMIC is finished by its own response alone, which also acknowledges everything before it.
 *   - An ACK, or a response, that lies beyond an open READ or ATOMIC finishes what is before that one and sets go_back.
 *   - What acknowledges nothing that is open (it is old, or was never sent) changes nothing.
 */
unsigned on_ack(struct requester *r, uint32_t psn, bool response);

#endif
