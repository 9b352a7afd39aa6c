/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * pcap_two.h - two captures of the same traffic: which packet of one is which of the other, and what became of the
 * rest.
 *
 *   pcap_two.c         collects, matches, compares clocks, decides
 *   pcap_two_print.c   says so
 */
#ifndef PCAP_TWO_H
#define PCAP_TWO_H

#include "pcap_check.h"

/* What became of a packet on its way between the two. */
enum vp_fate {
	VP_MATCHED,
	VP_LOST,    /* it passed the first and not the second */
	VP_MISSED,  /* it passed the second and not the first: that capture dropped it */
	VP_COPIED,  /* one more of a packet that was matched: copied between the two */
	VP_OUTSIDE, /* the other capture had not begun, or was over, as far as is known */
	VP_FATES
};

struct vp_two_packet {
	uint64_t print; /* of all that the way does not change, ICRC apart */
	int64_t time_ns;
	uint32_t frame, psn, destqp, source; /* source: into vp_two.source */
	uint32_t mate;                       /* index in the other capture; VP_NONE */
	uint32_t again;                      /* index in the same capture where it was sent again; VP_NONE */
	uint8_t opcode, fate;
	bool bad; /* ICRC */
};
#define VP_NONE UINT32_MAX

struct vp_two_side {
	struct vp_check check;
	struct vp_two_packet *packet; /* in the order of the capture */
	size_t n, cap;
	uint64_t fate[VP_FATES]; /* of packets that were sent on this side: LOST, MATCHED, OUTSIDE; else the rest */
	uint64_t damaged;        /* sent on this side, arrived with a bad ICRC */
	uint64_t overtaken;      /* sent on this side, arrived after a packet that was sent later */
	uint64_t delays;
	int64_t delay_min_ns, delay_max_ns; /* from this side to the other, by the clocks as they are */
	bool no_memory;
};

/* One who sends. */
struct vp_two_source {
	struct vp_addr addr;
	int64_t median_ns; /* time at the second less time at the first capture */
	uint64_t matched;
	uint8_t side; /* nearer to which capture */
};

struct vp_two {
	struct vp_two_side side[2];
	struct vp_two_source *source;
	uint32_t sources, sources_cap;
	bool same_place;   /* nothing lies between the captures */
	bool offset_known; /* packets go both ways */
	int64_t offset_ns; /* clock of the second less that of the first */
	int64_t error_ns;  /* at most so far off; negative: the clocks ran apart meanwhile */
	uint64_t matched;
};

/* Compares what was collected. False: no memory. */
bool vp_two_compare(struct vp_two *t);
void vp_two_text(const struct vp_two *t, bool summary);
void vp_two_json(const struct vp_two *t);

/* vs-pcap check A B */
int vp_two_run(const char *a, const char *b, bool json, bool summary);

#endif
