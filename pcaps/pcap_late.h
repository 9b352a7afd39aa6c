/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * pcap_late.h - where a packet goes in time: delayed, held with everything behind it on its path, or overtaken by
 * others of its path. A path is source and destination.
 */
#ifndef PCAP_LATE_H
#define PCAP_LATE_H

#include "pcap_common.h"

#define VP_KEY_MAX 80

struct vp_late;

struct vp_late_frame {
	int64_t time_ns;
	uint64_t delay_ns, hold_ns;
	uint32_t passes; /* packets of its path that overtake it */
	struct vp_addr src, dst;
	char key[VP_KEY_MAX]; /* the file that it goes to */
	const uint8_t *data;
	uint32_t caplen, wirelen;
};

struct vp_late *vp_late_new(const char *cmd, struct vp_out *out);
/* Writes what is due before a frame of this time. VP_OK, or VP_USAGE with a message: all below. */
int vp_late_until(struct vp_late *l, int64_t time_ns);
int vp_late_put(struct vp_late *l, const struct vp_late_frame *f);
/* Writes the rest, those that nobody overtook last. */
int vp_late_end(struct vp_late *l);
void vp_late_free(struct vp_late *l); /* NULL is fine */

#endif
