/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * ladder.h - an exchange as text: time goes down, nodes are lines, packets are arrows between them.
 *
 *      0.00  o post_send wr=1 SEND 64 bytes                  |
 *      0.00  |------- SEND_ONLY fffffa ackreq -------------->|
 *      2.00  |<------ ACK fffffa msn=1 -> wr 1 --------------|
 *      3.00  o wr=1 SEND completes: SUCCESS                  |
 *
 * Made from events alone (vs/event.h). Arrows stand where a packet leaves; one that was lost ends in an x, one of which
 * a capture does not show that it arrived in a ?. What was concluded from a capture is dashed. Long runs of one
 * kind are folded, and so are times in which nothing happens.
 */
#ifndef VS_LADDER_H
#define VS_LADDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "vs/event.h"

struct vs_ladder_options {
	unsigned width;   /* columns between the lines of two nodes; 0: 56, or what `columns` leaves */
	size_t max_lines; /* most that are drawn, the last ones; 0: no limit */
	/* The second node, where events alone do not tell of it (a peer that sends nothing); NULL: they do. */
	const char *other;
	/*
	 * No line is longer than that, from 60 on; 0: as long as it gets. From 110 on there is room beside the right
	 * line; below, what stands there otherwise ends at it.
	 */
	unsigned columns;
	bool utf8;         /* box drawing characters and arrows instead of ASCII */
	bool colour;       /* for terminals: what is lost, refused, repeated, completed */
	uint64_t start_ns; /* what times count from; 0: the first event */
	bool whole;        /* long runs are not folded */
	/* What to write over the line of a node; NULL: its name. */
	const char *(*title)(void *ctx, const char *node);
	void *title_ctx;
};

/*
 * Draws events ev[0..n), which are in order, into `out`. More than two nodes are drawn as lists, without lines. Texts
 * in events are written without control characters. `opt` may be NULL. Errors of `out` are the caller's to look at.
 */
void vs_ladder_text(const struct vs_event *ev, size_t n, const struct vs_ladder_options *opt, FILE *out);

/*
 * The same as a picture (SVG 1.1, no script, no style sheet but its own): a line for each node, arrows slanted by the
 * time that packets took, the scale beside them; times in which nothing happens are cut out, and the cut is marked.
 * Readable in black and white. `opt`: other, start_ns, title, max_lines.
 */
void vs_ladder_svg(const struct vs_event *ev, size_t n, const struct vs_ladder_options *opt, FILE *out);

/* The same as a Mermaid sequence diagram, for documents. `opt`: other, title. */
void vs_ladder_mermaid(const struct vs_event *ev, size_t n, const struct vs_ladder_options *opt, FILE *out);

#endif
