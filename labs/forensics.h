/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* forensics.h - the captures of a lab of kind "forensics", what is right about them, and what a learner found. */
#ifndef FORENSICS_H
#define FORENSICS_H

#include "vslab.h"

#define VL_SCENES 8u
#define VL_FRAMES 256u
#define VL_FILTER 400u

struct vl_shot {
	uint64_t t_ns, id; /* id: the pkt_id of its transmission */
	uint8_t *data;
	uint32_t len;
	bool bad;
};
struct vl_scene {
	char fault[32], side[16];
	struct vl_shot shot[VL_FRAMES];
	unsigned n, bad, first; /* frames, bad ones, the number of the first bad one */
	unsigned answers;       /* packets that were sent because of bad ones */
};
struct vl_scenes {
	struct vl_scene scene[VL_SCENES]; /* scene[0] is capture 1 */
	unsigned n;
};

/* ---- forensics.c ---- */
struct vl_scenes *vl_scenes_make(const struct vl_lab *lab, uint32_t seed); /* NULL with a message */
void vl_scenes_free(struct vl_scenes *all);
/* Captures from .. to - 1 into one file, one behind the other. */
bool vl_scenes_write(const struct vl_scenes *all, unsigned from, unsigned to, const char *path);
bool vl_scenes_tell(const struct vl_scenes *all, const char *path);

/* ---- findings.c ---- */
bool vl_findings_hold(const struct vl_session *s, const struct vl_lab *lab, const struct vl_scenes *all);

#endif
