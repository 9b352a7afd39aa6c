/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* capture.h - the packets of a capture before they are events: what model_capture.c reads and model_packets.c tells. */
#ifndef VT_CAPTURE_H
#define VT_CAPTURE_H

#include "map.h"
#include "model_build.h"

enum vt_fate { VT_FATE_UNKNOWN, VT_FATE_ARRIVED, VT_FATE_LOST, VT_FATE_DROPPED, VT_FATE_SILENCE };

/* One packet. */
struct vt_seen {
	uint64_t t_ns;
	uint32_t frame, flow;
	uint16_t src, dst; /* addresses, by index */
	uint8_t opcode, fate;
	bool ackreq, repeated; /* repeated: it was sent again later */
	uint16_t syn;          /* VS_SYN_NONE: no AETH */
	uint16_t cm;           /* attribute of the CM message in it; 0: none */
	uint32_t psn, dqpn, sqpn, len, msn;
	uint32_t cm_local, cm_remote;
	struct vt_packet is; /* what the model keeps of it */
	uint64_t rx_seq, tx_seq;
};

struct vt_said {     /* a finding of the monitor */
	size_t seen; /* the packet that it is about */
	enum vs_rule rule;
	const char *text; /* kept in the model */
};

struct vt_address {
	uint8_t b[16], len; /* 4 IPv4, 16 IPv6 or GID, 2 LID */
	char name[16], title[64];
};

struct vt_flow {
	uint16_t src, dst;
	uint32_t dqpn, sqpn; /* sqpn: the sender's own number, 0 as long as it is not known */
	uint32_t retry_frame, retry_psn;
	uint64_t retry_seq; /* the rc:retry of the train of packets that is being repeated */
	uint8_t retry_cause;
	bool retrying;
};

struct vt_capture {
	struct vt_model *m;
	struct vs_monitor *mon;
	struct vt_seen *seen;
	size_t n, cap;
	struct vt_said *said;
	size_t n_said, cap_said;
	struct vt_address *addr;
	size_t n_addr, cap_addr;
	struct vt_flow *flow;
	size_t n_flow, cap_flow;
	struct vt_map flows;  /* (src, dst), dqpn -> flow */
	struct vt_map latest; /* flow, PSN -> the newest transmission of a request */
	bool no_memory;
};

/* The packet of this frame (of a super-packet: the one with this PSN); VT_NONE. */
size_t vt_seen_at(const struct vt_capture *c, uint32_t frame, uint32_t psn);
/* Tells all packets as events of the model's newest source. False with `err`. */
bool vt_tell_packets(struct vt_capture *c, const char *name, char *err, size_t cap);

#endif
