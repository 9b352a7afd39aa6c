/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * model.h - a trace as the commands of vs-trace see it, whatever it was made of: events in one order, and over them
 * nodes, queue pairs, packets and operations.
 *
 * Sources are .vst files, captures, or a folder that `vs-trace run` or `vs-trace merge` left (model_load.c). What a
 * program or an engine recorded is told; what is concluded from the packets of a capture is inferred, and marked so in
 * every event (vs_event.inferred), packet and operation: who sent it, what it answers, why it was sent again.
 *
 *   model_load.c      paths to sources, the limits, the order of events
 *   model_capture.c   the packets of a capture, with what the monitor says of them;  model_packets.c: as events
 *   model_order.c     one order and one numbering for all sources
 *   model_link.c      nodes, queue pairs and packets from the events
 *   model_ops.c       operations
 *   model_look.c      questions that several commands have
 *
 * Everything refers to events by their place in ev[] (VT_NONE: there is none), so that nothing has to be searched. The
 * model owns all that it points to, texts of events included; it does not change once it is loaded.
 */
#ifndef VT_MODEL_H
#define VT_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vs/monitor.h"
#include "vs/verbs.h"
#include "vs/vst.h"

#define VT_NONE SIZE_MAX
#define VT_EVENTS_MAX 4000000u /* most events that are loaded; beyond, an error says so */

/* ---- where it comes from ---- */

enum vt_source_kind { VT_SOURCE_VST, VT_SOURCE_CAPTURE };

struct vt_source {
	char *path;
	enum vt_source_kind kind;
	struct vs_vst_header header; /* VT_SOURCE_VST */
	uint64_t events;             /* that are in the model */
	uint64_t unknown;            /* of them with a name that this version doesn't know: kept, not understood */
	uint64_t bad_lines;          /* lines of a .vst that are no event; `note` tells of the first */
	uint64_t frames, other;      /* VT_SOURCE_CAPTURE: all frames, and those that are no RDMA */
	bool cut;                    /* the writer died: the last line, or frame, is not whole */
	char note[320];              /* "": nothing to complain of */
};

/* ---- what it is about ---- */

struct vt_node {
	char name[16];  /* as in events */
	char title[64]; /* what a person should read: the address of a capture's node, or the name */
	bool wire;      /* not a peer, but what is between them: "wire", "switch", "script" */
	bool packets;   /* it tells of packets (pkt:tx, pkt:rx) */
	bool verbs;     /* it tells of verbs */
};

struct vt_qp {
	unsigned node; /* index of a node */
	uint32_t qpn;  /* 0: not known (a capture of one direction) */
	unsigned type; /* enum vs_qp_type; 0: not known */
	size_t peer;   /* index of the QP at the other end of a connection; VT_NONE */
	size_t *op;    /* its operations in the order in which they were posted: n_ops indices */
	size_t n_ops, cap_ops;
	size_t created; /* verb:create_qp */
};

enum vt_packet_flag {
	VT_PKT_LOST = 1u << 0,     /* it did not arrive: `fate` says who says so; inferred when `inferred` is set */
	VT_PKT_DROPPED = 1u << 1,  /* it arrived, and the receiver threw it away: `fate` is a pkt:drop */
	VT_PKT_ANSWER = 1u << 2,   /* an acknowledgement or a response */
	VT_PKT_FAULTED = 1u << 3,  /* a fault was done to it (copied, delayed, damaged, marked): `fault` */
	VT_PKT_HAS_RETH = 1u << 4, /* va, rkey, dmalen are known (captures) */
	VT_PKT_HAS_IMM = 1u << 5,  /* imm is known (captures) */
};

/* One transmission. A retransmission is another. */
struct vt_packet {
	uint64_t id;    /* vs_event.pkt_id of its events */
	size_t tx, rx;  /* pkt:tx, the first pkt:rx; one of them may be VT_NONE */
	size_t fate;    /* LOST: fault:drop, link:queue_drop; DROPPED: pkt:drop */
	size_t fault;   /* FAULTED */
	size_t op;      /* the operation it belongs to: that of the request, for answers too; VT_NONE */
	uint32_t flags; /* set of enum vt_packet_flag */
	uint32_t frame; /* number in its capture; 0: it is from no capture */
	uint16_t source;
	bool inferred; /* who sent it and what became of it were concluded */
	/* Captures alone: */
	uint64_t va;
	uint32_t rkey, dmalen, imm;
	uint16_t rej; /* the reason of a REJ; 0: it is none */
	enum vs_crc_status icrc;
	struct vs_mon_result mon;
};

enum vt_op_flag {
	VT_OP_INFERRED = 1u << 0, /* nobody recorded a post: made of packets */
	VT_OP_RECV = 1u << 1,     /* a receive request */
	VT_OP_HAS_WR = 1u << 2,   /* wr_id is known */
	VT_OP_HAS_OP = 1u << 3,   /* opcode is known */
	VT_OP_HAS_LEN = 1u << 4,  /* len is known */
	VT_OP_HAS_PSN = 1u << 5,  /* first_psn and last_psn are known */
	VT_OP_HAS_RETH = 1u << 6, /* va and rkey are known */
	VT_OP_SIGNALED = 1u << 7, /* it asked for a completion */
	VT_OP_SENT = 1u << 8,     /* its last packet was sent */
};

/*
 * One work request, of a send or a receive queue, or what packets show of one. Operations are numbered from 1 in the
 * order of their posts (or first packets): that is the N of `--message N`.
 */
struct vt_op {
	uint32_t flags; /* set of enum vt_op_flag */
	size_t qp;      /* whose request it is */
	uint64_t wr_id;
	enum vs_wr_opcode opcode;
	uint64_t len; /* bytes */
	uint64_t va;
	uint32_t rkey;
	uint32_t first_psn, last_psn;
	uint32_t packets, retransmissions; /* request packets sent, and how many of them again */
	uint32_t responses;                /* READ and atomic responses, sent by the responder */
	uint64_t wasted;                   /* payload bytes sent again */
	/* Milestones: events, VT_NONE where there is none. */
	size_t post;     /* verb:post_send, verb:post_recv */
	size_t fetch;    /* wqe:fetch; receives: wqe:take */
	size_t first_tx; /* first and last request packet */
	size_t last_tx;
	size_t arrived; /* pkt:rx of the last request packet at the responder, the first time */
	size_t answer;  /* pkt:rx of what acknowledged or answered it as a whole */
	size_t nak;     /* pkt:rx of the first NAK or RNR NAK that named one of its PSNs */
	size_t cqe;     /* cqe */
	size_t poll;    /* verb:poll_cq; a recorder sees this alone */
	size_t recv;    /* index of an operation: the receive request that it consumed at the other end */
	size_t by;      /* receives: index of the operation that consumed it */
};

/* ---- the whole ---- */

struct vt_model {
	char *path; /* as it was asked for */
	struct vt_source *source;
	size_t n_sources;

	struct vs_event *ev; /* n_events of them; seq strictly rises; of one source: as in the file */
	size_t n_events;
	size_t *cause;   /* by event: place of its cause */
	size_t *op_of;   /* by event: index of its operation */
	size_t *pkt_of;  /* by event: index of its packet */
	uint32_t *qp_of; /* by event: index of its queue pair; UINT32_MAX */

	struct vt_node *node;
	size_t n_nodes;
	struct vt_qp *qp;
	size_t n_qps;
	struct vt_packet *pkt; /* in the order in which they were sent */
	size_t n_pkts;
	struct vt_op *op;
	size_t n_ops;

	bool inferred;      /* some of it is */
	bool has_packets;   /* some packet is in it */
	bool has_verbs;     /* some verb is in it */
	uint64_t backwards; /* events whose time is before that of the one before (kept in their place) */
	uint64_t start_ns;  /* time of the first event: where commands count from */
	struct vs_texts *texts;
	struct vt_build *build; /* while it is made */
};

/*
 * Loads a .vst, a capture ("-": one of both from standard input, a .vst), or a folder: its trace.vst when `vs-trace
 * merge` left one, else all its *.vst by name, and wire.pcap. NULL with one line of text in `err`: what, where, what
 * to do.
 */
struct vt_model *vt_model_load(const char *path, char *err, size_t cap);
/* The same from an open .vst. */
struct vt_model *vt_model_load_vst(FILE *f, const char *name, char *err, size_t cap);
void vt_model_free(struct vt_model *m); /* NULL is fine */

/* ---- looking at it ---- */

/* Index of the node with this name; VT_NONE. */
size_t vt_find_node(const struct vt_model *m, const char *name);
/* The place of the event with this seq; VT_NONE. */
size_t vt_find_seq(const struct vt_model *m, uint64_t seq);
/* An argument of an event by its name ("psn"); false: it has none. STR: (uintptr_t)const char *. */
bool vt_arg(const struct vs_event *ev, const char *name, uint64_t *value);
/* The n-th argument as text; what has a word as that, else as a number. Never NULL; `buf` may be used. */
const char *vt_arg_text(const struct vs_event *ev, unsigned n, char *buf, size_t cap);
/* Nanoseconds since the start of the model, 0 for what is before. */
uint64_t vt_time(const struct vt_model *m, size_t event);
/* "RDMA_WRITE wr=7 3072 bytes", "SEND (message 3) 5 bytes": an operation in words. */
const char *vt_op_text(const struct vt_model *m, size_t op, char *buf, size_t cap);
/* "ref0 QP 0x11": a queue pair in words. */
const char *vt_qp_text(const struct vt_model *m, size_t qp, char *buf, size_t cap);
/* How the operation ended, as its completion says; false: no completion is in the trace. */
bool vt_op_status(const struct vt_model *m, size_t op, enum vs_wc_status *status);
/* What the trace can't show, a sentence each, for the first lines of every command: at most `cap`; how many. */
size_t vt_missing(const struct vt_model *m, const char **text, size_t cap);

/* ---- making it: what model_*.c, merge and tests use ---- */

struct vt_model *vt_model_new(const char *path); /* NULL: no memory */
/* A new source, whose index is n_sources - 1 then; NULL: no memory. */
struct vt_source *vt_model_source(struct vt_model *m, const char *path, enum vt_source_kind kind);
/*
 * Appends an event of the newest source: copied, texts too. Its seq, cause and pkt_id are those of the source, and
 * become the model's in vt_model_finish. False: no memory, or more than VT_EVENTS_MAX.
 */
bool vt_model_add(struct vt_model *m, const struct vs_event *ev);
/* Reads a whole .vst, a whole capture, as a new source. False with `err`. */
bool vt_model_add_vst(struct vt_model *m, FILE *f, const char *name, char *err, size_t cap);
bool vt_model_add_capture(struct vt_model *m, const char *path, char *err, size_t cap);
/* Orders the events, links everything. False with `err`. */
bool vt_model_finish(struct vt_model *m, char *err, size_t cap);

#endif
