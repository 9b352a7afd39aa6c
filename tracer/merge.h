/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * merge.h - the inside of `vs-trace merge`: several records of one exchange become one trace.
 *
 *   merge.c        the command, and for `vs-trace run --pair`; reading and writing
 *   merge_clock.c  clocks: offsets from packets that two records both have, with a bound for their error
 *   merge_link.c   one transmission has one pkt_id, and its arrival the transmission as its cause
 */
#ifndef VT_MERGE_H
#define VT_MERGE_H

#include "trace.h"

#define MERGE_SOURCES 64
#define MERGE_DOMAINS 16

/* Records whose times are of one clock: those of one vantage point; a capture is one of its own. */
struct merge_domain {
	char name[VS_VST_TEXT];
	bool capture;
	bool known;       /* its offset is */
	int64_t shift_ns; /* to be added to its times, for those of the first domain */
	uint64_t error_ns;
	uint64_t pairs; /* packets that it was found from */
};

struct merge_event {
	struct vs_event ev;
	unsigned source, domain;
	uint64_t old_seq;
};

struct merge {
	struct merge_event *ev;
	size_t n, cap;
	const char *path[MERGE_SOURCES];
	struct vs_vst_reader *reader[MERGE_SOURCES]; /* they own the texts */
	FILE *file[MERGE_SOURCES];
	struct vt_model *model; /* of the capture; NULL: none */
	const char *capture;    /* its path */
	unsigned n_sources;
	struct merge_domain domain[MERGE_DOMAINS];
	unsigned n_domains;
	uint64_t linked; /* arrivals whose transmission is known */
	bool devices;    /* some record tells of packets itself */
};

/* False: no memory. */
bool merge_clocks(struct merge *g);
bool merge_link(struct merge *g);
/* Several .vst, and a capture or none, into DIR/trace.vst. `tell`: how clocks were aligned, on stdout. */
int merge_files(const char *cmd, char **path, int n, const char *dir, bool tell);

#endif
