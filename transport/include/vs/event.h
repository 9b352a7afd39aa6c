/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * event.h - what happened: one totally ordered stream of events that labs, tracer, scoreboard and
 * monitor all read. The list is events.def.
 *
 * `cause` is the seq of the event that led here, `pkt_id` names one transmission (a retransmission
 * has the same PSN and another pkt_id). Engines hand events to a sink, which gives out the seq;
 * the JSON form (.vst, one object a line) and a log in memory are in vst.h.
 */
#ifndef VS_EVENT_H
#define VS_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VS_EVENT(ID, name, level, nargs, ...) VS_EV_##ID,
enum vs_event_type {
	VS_EV_NONE = 0,
#include "events.def"
	VS_EV_COUNT
};

enum vs_event_level { VS_LEVEL_CORE, VS_LEVEL_BASE, VS_LEVEL_EXTRA };

enum vs_arg_kind {
	VS_ARG_D,
	VS_ARG_X,
	VS_ARG_T,
	VS_ARG_B,
	VS_ARG_OPC,
	VS_ARG_SYN,
	VS_ARG_WR,
	VS_ARG_WCS,
	VS_ARG_WCO,
	VS_ARG_QPS,
	VS_ARG_ASY,
	VS_ARG_RSN,
	VS_ARG_STR
};

#define VS_EVENT_MAX_ARGS 11
#define VS_SYN_NONE 0xffffu /* value of a SYN argument of a packet without AETH: left out of the JSON */

struct vs_event {
	uint64_t seq; /* given by the sink, from 1 */
	uint64_t t_ns;
	uint64_t cause;  /* 0: none (an outer stimulus) */
	uint64_t pkt_id; /* 0: not about a packet */
	uint64_t wr_id;  /* with has_wr */
	uint32_t qpn;    /* 0: not about a QP */
	uint16_t type;   /* enum vs_event_type */
	bool has_wr;
	bool inferred; /* deduced from a capture, not told by an engine */
	char node[16]; /* "A", "B", "wire" */
	/* By events.def. STR: (uintptr_t)const char *; a sink that keeps events copies it, as vs_event_log does
	 * (vst.h). */
	uint64_t a[VS_EVENT_MAX_ARGS];
};

struct vs_event_arg {
	const char *name;
	enum vs_arg_kind kind;
};
struct vs_event_info {
	const char *name; /* "pkt:tx" */
	enum vs_event_level level;
	uint8_t nargs;
	struct vs_event_arg args[VS_EVENT_MAX_ARGS];
};
const struct vs_event_info *vs_event_info(enum vs_event_type type); /* never NULL */
enum vs_event_type vs_event_by_name(const char *name);              /* VS_EV_NONE: unknown */

struct vs_event_sink {
	/* Takes the event (valid during the call only) and returns the seq it gave it. NULL: no events. */
	uint64_t (*emit)(void *ctx, const struct vs_event *ev);
	void *ctx;
	enum vs_event_level level; /* events above it are not made */
	bool quick;                /* dma events have no hash of their bytes (0): it takes longer than moving them */
};

#endif
