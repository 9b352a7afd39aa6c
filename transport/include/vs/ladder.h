/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * ladder.h - an exchange as text: time goes down, nodes are lines, packets are arrows between them.
 *
 *      0.00  o post_send wr=1 SEND 64 bytes                  |
 *      0.00  |------- SEND_ONLY fffffa ackreq -------------->|
 *      2.00  |<------ ACK fffffa msn=1 ----------------------|
 *      3.00  o wr=1 SEND completes: SUCCESS                  |
 *
 * Made from events alone (vs/event.h). Arrows stand where a packet leaves; one that was lost ends in an x. Long runs of
 * packets of one kind are folded, and so are times in which nothing happens.
 */
#ifndef VS_LADDER_H
#define VS_LADDER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "vs/event.h"

struct vs_ladder_options {
	unsigned width;   /* columns between the lines of two nodes; 0: 56 */
	size_t max_lines; /* most that are drawn, the last ones; 0: no limit */
	/* The second node, where events alone do not tell of it (a peer that sends nothing); NULL: they do. */
	const char *other;
};

/*
 * Draws events ev[0..n), which are in order, into `out`. More than two nodes are drawn as lists, without lines. Texts
 * in events are written without control characters. `opt` may be NULL. Errors of `out` are the caller's to look at.
 */
void vs_ladder_text(const struct vs_event *ev, size_t n, const struct vs_ladder_options *opt, FILE *out);

#endif
