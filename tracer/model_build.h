/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* model_build.h - what the files that make a model share. */
#ifndef VT_MODEL_BUILD_H
#define VT_MODEL_BUILD_H

#include "event/internal.h"
#include "model.h"

/* What the packets of captures tell beside their events: vt_packet's fields, by source and pkt_id. */
struct vt_mark {
	uint16_t source;
	uint64_t pkt_id;
	struct vt_packet is;
};

struct vt_build {
	uint16_t *source; /* by event */
	size_t cap;
	bool full; /* VT_EVENTS_MAX */
	struct vt_mark *mark;
	size_t n_marks, cap_marks;
};

void vt_build_free(struct vt_model *m);
/* False, with the text in `err`. */
bool vt_err(char *err, size_t cap, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* The same: why vt_model_add said no. */
bool vt_cant_add(const struct vt_model *m, const char *name, char *err, size_t cap);

/* model_order.c: one order, one numbering; cause[] and the ids of packets. False: no memory. */
bool vt_model_order(struct vt_model *m);
/* model_link.c: nodes, queue pairs, packets, operations. False: no memory. */
bool vt_model_link(struct vt_model *m);
/* model_ops.c: operations from events, once packets and queue pairs are there. False: no memory. */
bool vt_model_operations(struct vt_model *m);

#endif
