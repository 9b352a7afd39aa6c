/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * pcap_gen.h - what one run of a scenario left behind: its frames, and counts of what happened.
 *
 *   pcap_gen.c    vs-pcap gen: options, runs, captures out
 *   pcap_take.c   records frames and events of one run
 *   pcap_facts.c  the facts of a recorded run, as JSON
 */
#ifndef PCAP_GEN_H
#define PCAP_GEN_H

#include <jansson.h>

#include "pcap_common.h"
#include "vs/drill.h"

/* One frame of the capture. */
struct vp_shot {
	uint64_t t_ns; /* since the run began */
	enum vs_link link;
	uint32_t len;
	bool lost; /* it never arrived */
	uint8_t *data;
};

/* "A SEND SUCCESS" so many times: what happened, by its name, in the order of the first time. */
struct vp_tally {
	struct vp_tally *next;
	char name[96];
	uint64_t n;
};
enum vp_section { VP_COMPLETIONS, VP_ASYNC, VP_DROPS, VP_REFUSED, VP_RETRIES, VP_CM_EVENTS, VP_SECTIONS };

struct vp_mark {
	struct vp_mark *next;
	size_t frame; /* the number of frames before it */
	char text[];
};

struct vp_take {
	const char *at; /* frames that this node sends and gets; NULL: every frame as it leaves its sender */
	bool at_seen;   /* there is such a node */
	struct vp_shot *shot;
	size_t n, cap;
	uint64_t seq, lost, duplicates;
	struct vp_tally *tally[VP_SECTIONS], **tail[VP_SECTIONS];
	struct vp_mark *marks, **last_mark;
	bool failed; /* no memory */
};

/* ---- pcap_take.c ---- */

/* An empty record; `at` stays the caller's. */
void vp_take_init(struct vp_take *t, const char *at);
void vp_take_fini(struct vp_take *t);
/* Connects the record with a run that is about to begin. */
void vp_take_attach(struct vp_take *t, struct vs_drill_env *env);

/* ---- pcap_facts.c ---- */

struct vp_run_info {
	const char *scenario; /* file name without folder and extension */
	const char *id, *title, *vector, *verdict, *variant;
	uint64_t seed;
};
/* NULL: no memory. */
json_t *vp_facts(const struct vp_take *t, const struct vp_run_info *info);

#endif
