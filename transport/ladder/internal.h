/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * internal.h - what the text and the picture of an exchange share.
 *
 *   view.c    who takes part, and what became of every packet
 *   words.c   what an event says
 *   text.c    lines for a terminal
 *   svg.c     a picture
 *   mermaid.c a diagram for documents
 */
#ifndef VS_LADDER_INTERNAL_H
#define VS_LADDER_INTERNAL_H

#include <stdbool.h>
#include <string.h>

#include "vs/ladder.h"

#define LADDER_NODES 16u
#define LADDER_TEXT 240u
#define LADDER_NONE SIZE_MAX
#define LADDER_RUN 2u /* of a run of alike packets: so many are shown at each end */

/* What happened to the packet of a pkt:tx, by places of events. */
struct ladder_packet {
	size_t rx, lost, drop, fault; /* pkt:rx; fault:drop or link:queue_drop; pkt:drop; another fault */
	size_t beside; /* what its arrival led to at once, and is told beside its arrow: rc:gap, rc:refuse */
	size_t cqe;    /* the first completion that it brought at the other end */
	unsigned cqes; /* how many */
};

struct ladder_view {
	const struct vs_event *ev;
	size_t n;
	unsigned nodes;
	const char *node[LADDER_NODES];
	const char *other;
	struct ladder_packet *pkt; /* by event; means something for pkt:tx */
};

/* False: no memory. `other` as in vs_ladder_options. */
bool ladder_view_init(struct ladder_view *v, const struct vs_event *ev, size_t n, const char *other);
void ladder_view_free(struct ladder_view *v);
int ladder_lane(const struct ladder_view *v, const char *node); /* -1: it has none */
/* What stands over the line of a node. */
const char *ladder_title(const struct ladder_view *v, const struct vs_ladder_options *opt, unsigned lane);
/* The line at which the packet of the pkt:tx at i ends, or would have. -1: none. */
int ladder_other(const struct ladder_view *v, size_t i);
/* The place of the event that caused event i; LADDER_NONE. */
size_t ladder_cause(const struct ladder_view *v, size_t i);

/* "1.5 ms" */
void ladder_duration(uint64_t ns, char *buf, size_t cap);
enum ladder_look { LADDER_PLAIN, LADDER_GOOD, LADDER_BAD, LADDER_AGAIN };
/* How what happened is to look: went well, went wrong, was done again. */
enum ladder_look ladder_look(const struct ladder_view *v, size_t i);
/* What a node did or what befell it; false: not worth a line. */
bool ladder_note(const struct ladder_view *v, size_t i, char *buf, size_t cap);
/* What stands on the arrow of the pkt:tx at i. `arrow`: how "brings about" is written. */
void ladder_label(const struct ladder_view *v, size_t i, const char *arrow, char *buf, size_t cap);
/* What stands beside an arrow: why the packet was lost and, with `arrival`, what its arrival led to; "": nothing. */
void ladder_beside(const struct ladder_view *v, size_t i, bool arrival, char *buf, size_t cap);
/* The packet's fate is not known: deduced from a capture, and nothing shows that it arrived. */
bool ladder_unsure(const struct ladder_view *v, size_t i);

/* As ladder_note, but false for what is told beside an arrow, where that is done. */
bool ladder_line(const struct ladder_view *v, size_t i, bool beside, char *buf, size_t cap);
/* Of a kind of which long runs are folded: packets, posts, completions that say nothing new. */
bool ladder_folds(const struct ladder_view *v, size_t i);
/* Two of these, of one node, that differ in numbers alone; packets: none of them lost. */
bool ladder_alike(const struct ladder_view *v, size_t a, size_t b);
/* How many like the one at i follow each other without a line between them; at least 1. */
size_t ladder_run(const struct ladder_view *v, size_t i, bool beside);

#endif
