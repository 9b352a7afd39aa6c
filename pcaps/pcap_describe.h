/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* pcap_describe.h - one packet from words. */
#ifndef PCAP_DESCRIBE_H
#define PCAP_DESCRIBE_H

#include "pcap_common.h"

#define VP_DESCRIBED_MAX 8192 /* more than the longest frame of the simulator */

struct vp_described {
	uint8_t frame[VP_DESCRIBED_MAX];
	size_t len;
	struct vs_pkt p;  /* the frame, parsed; refers to it */
	bool parsed;      /* false: bytes (`raw`) that are no RDMA packet */
	bool icrc_wanted; /* an ICRC was asked for, right or wrong */
};

/*
 * Makes the packet of `text`, which is in the notation of drill scripts: what stands behind "peer>". Names that
 * edit --set has and a script has not (ip.src, lid.dst ...) may stand there too. VP_OK, or VP_USAGE with a message.
 */
int vp_describe(const char *cmd, const char *text, enum vs_encap encap, struct vp_described *out);

#endif
