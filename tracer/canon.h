/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * canon.h - events without what differs from run to run: times, queue pair numbers, keys, addresses and PSNs. What is
 * left of two runs can be compared.
 */
#ifndef VT_CANON_H
#define VT_CANON_H

#include "map.h"
#include "model.h"

#define VT_CANON_TEXT 512

struct vt_canon {
	const struct vt_model *m;
	struct vt_map number; /* (class, value) -> in which order it appeared */
	size_t classes[8];
};

/* What the event says, apart from what differs. Events are to be asked for in their order. */
void vt_canon_text(struct vt_canon *c, size_t i, char buf[VT_CANON_TEXT]);
/* Events that say nothing of what happened: clocks, counters. */
bool vt_canon_passes_over(const struct vs_event *e);
void vt_canon_free(struct vt_canon *c);

#endif
