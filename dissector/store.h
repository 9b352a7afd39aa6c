/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store.h - what the monitor said of every packet, in few bytes.
 *
 * A packet is judged once, when its frame is dissected for the first time; from then on Wireshark dissects frames in
 * any order, as often as it likes, and the verdict comes from here. So it is the same in every pass. A packet is named
 * by its frame and its place in it: a frame may hold several.
 *
 * A record has the fields that are not zero, as varints, frame numbers as distances: about 20 bytes. To that come 4 for
 * each frame of the capture, and what sentences take, which is limited: so memory per packet is bounded, whatever a
 * capture holds.
 */
#ifndef RDMA_STORE_H
#define RDMA_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vs/monitor.h"

/* A packet's verdict. */
struct rdma_analysis {
	struct vs_mon_result r;
	uint32_t other[VS_MON_RULES];   /* a second frame that shows the broken rule; 0: none */
	const char *text[VS_MON_RULES]; /* about this packet; NULL: nothing beside the rule's own sentence */
	uint32_t answered_in;           /* requests: the later frame that answered it first; 0: none (yet) */
	uint32_t repeated_in;           /* the later frame that has this packet again for the first time */
};

struct rdma_store;

struct rdma_store *rdma_store_new(void); /* NULL: no memory */
void rdma_store_free(struct rdma_store *s);

/*
 * Keeps `a` without its links to later frames. Packets of one frame come one after another, frames in rising order.
 * False: no memory, or over 4 GiB; then it is not there.
 */
bool rdma_store_put(struct rdma_store *s, uint32_t frame, uint32_t place, const struct rdma_analysis *a);

/* False: nothing is known of this packet. Texts live as long as the store. */
bool rdma_store_get(struct rdma_store *s, uint32_t frame, uint32_t place, struct rdma_analysis *a);

/* The first packet in a frame that belongs to a connection. False: none does. Without links to later frames. */
bool rdma_store_first(const struct rdma_store *s, uint32_t frame, struct rdma_analysis *a);

/* What vs_monitor_attr.link says. The first link of a kind stays. */
void rdma_store_link(struct rdma_store *s, uint32_t frame, enum vs_mon_link kind, uint32_t later);

/* Bytes of memory. */
size_t rdma_store_bytes(const struct rdma_store *s);

#endif
