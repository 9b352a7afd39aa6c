/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * pcap_check.h - vs-pcap check and annotate: what the monitor says of a capture.
 *
 *   pcap_check.c         check: options, the frames of a file, progress
 *   pcap_annotate.c      annotate: the same as comments on the packets of a copy
 *   pcap_judge.c         a frame through the monitor
 *   pcap_two.c           two captures of the same traffic (pcap_two.h)
 *   pcap_check_print.c   text and JSON
 *   pcap_live.c          a capture file that is an interface
 */
#ifndef PCAP_CHECK_H
#define PCAP_CHECK_H

#include <jansson.h>

#include "pcap_common.h"
#include "vs/monitor.h"

#define VP_KEPT_PER_RULE 1000u /* findings that are kept for printing; all are counted */

/* Frames on their way to the monitor, and how many of what. */
struct vp_judge {
	struct vs_monitor *mon;
	uint8_t vantage;
	void *ctx;
	vs_mon_each *packet; /* may be NULL */
	uint64_t frames, rdma, other, broken, snapped, supers;
	int64_t first_ns, last_ns; /* least and greatest time of a frame */
};

void vp_judge_frame(struct vp_judge *j, const struct vs_frame *f);

struct vp_finding {
	struct vp_finding *next;
	uint32_t frame;
	char text[];
};

/* What is known when the capture is over. */
struct vp_check {
	const char *path;
	struct vp_judge judge;
	struct vp_finding *first[VS_RULE_COUNT], **tail[VS_RULE_COUNT];
	uint32_t kept[VS_RULE_COUNT];
	bool no_memory, packets; /* packets: each is printed */
};

/* False: no memory. */
bool vp_check_begin(struct vp_check *c, const char *path);
/* VP_OK; VP_FAILED: damaged, what was read before is judged; VP_USAGE: can't be opened. */
int vp_check_read(struct vp_check *c, const char *path, bool live);
void vp_check_end(struct vp_check *c);

/* Findings worst first: all that are kept, or with `summary` how many by rule alone. */
void vp_check_text(const struct vp_check *c, bool summary);
/* The contract of docs/man/vs-pcap.1, "check". */
json_t *vp_check_json(const struct vp_check *c);
/* Prints what vp_check_json made, and frees it. */
void vp_check_json_print(json_t *j);
/* One line: what this packet is to those before it. */
void vp_check_packet(const struct vs_mon_packet *in, const struct vs_mon_result *r);
/* One line on stderr: how far, how many findings. */
void vp_check_progress(const struct vp_check *c, bool last);

/*
 * Captures from `iface` in a child process, until SIGINT or SIGTERM: the path of a capture to open. NULL with a message
 * when that can't be. vp_live_end waits for the child; VP_OK, or VP_USAGE when it failed.
 */
struct vp_live;
struct vp_live *vp_live_begin(const char *cmd, const char *iface);
const char *vp_live_path(const struct vp_live *l);
int vp_live_end(struct vp_live *l);

#endif
