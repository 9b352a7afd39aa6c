/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * rec.h - what the recorder writes, and `vs-trace run` reads and makes a .vst file of: records of 64 bytes, fixed, in
 * the byte order of the machine, since both are of one build on one host.
 *
 * DIR/rec-PID.spool   a head, then records as they were drained, a thread's in their order; the last is REC_END when
 * the program ended in order DIR/rec-PID-N.ring  the ring of a thread, mapped and shared, so that what a killed program
 * has not drained is still there; gone when the program ended in order
 */
#ifndef VS_TRACER_REC_H
#define VS_TRACER_REC_H

#include <stdatomic.h>
#include <stdint.h>

#define REC_MAGIC 0x31434552534156u /* "VSREC1" */
#define REC_RING_SLOTS 32768u       /* a power of two */
#define REC_NAME 32
#define REC_TEXT 24 /* in one record */

enum rec_type {
	REC_NONE,
	/* data path. n: SGEs; w: op | flags << 8, bytes, rkey, lkey; a: va, address of the first SGE, ret */
	REC_POST_SEND,
	REC_POST_RECV,
	REC_POST_SRQ_RECV,
	REC_SGE,        /* one more of the post that follows. n: index; w: -, bytes, -, lkey; a: -, address */
	REC_POST_UD,    /* of the post that follows. w: QPN, Q_Key */
	REC_PAYLOAD,    /* of the post that follows, with --payload: n bytes in w and a, at wr */
	REC_CQE,        /* w: status | opcode << 8 | flags << 16, bytes, imm, cq; a: vendor_err, empty polls, qp type */
	REC_POLL_EMPTY, /* w: -, -, -, cq; a: how many */
	REC_POLL_FAIL,  /* w: -, -, -, cq; a: ret */
	REC_NOTIFY,     /* w: solicited only, -, -, cq; a: ret */
	/* control path; ret is an errno in a[2] */
	REC_OPEN,       /* text: the device's name */
	REC_CLOSE,      /* a: -, -, ret */
	REC_REG_MR,     /* w: access, lkey, rkey, pd; a: address, bytes, ret */
	REC_DEREG_MR,   /* w: -, lkey; a: -, -, ret */
	REC_CREATE_CQ,  /* w: asked, got, has channel, cq; a: -, -, ret */
	REC_DESTROY_CQ, /* w: -, -, -, cq; a: -, -, ret */
	REC_RESIZE_CQ,  /* w: asked, got, -, cq; a: -, -, ret */
	REC_CREATE_QP,  /* w: type, sq_sig_all, has srq, pd; a: send_cq | recv_cq << 32, -, ret */
	REC_QP_CAPS,    /* w: max_send_wr, max_recv_wr, sges send | recv << 16, inline */
	REC_MODIFY_QP,  /* w: state before, after, mask, access; a: -, -, ret */
	REC_QP_PATH,    /* n: path_mtu; w: dest QPN, rq_psn, sq_psn, qkey; a: timers (REC_TIMERS), rd_atomic, indices */
	REC_QP_GID,     /* a: the destination's GID, 16 bytes */
	REC_DESTROY_QP, /* a: -, -, ret */
	REC_CREATE_SRQ, /* w: max_wr, limit; a: -, -, ret */
	REC_CREATE_AH,  /* a: GID, ret */
	REC_CQ_EVENT,   /* w: -, -, -, cq */
	REC_ASYNC,      /* w: type */
	REC_QUERY_GID,  /* w: index; a: GID, ret */
	REC_CM_CALL,    /* n: enum rec_cm; a: id, -, ret */
	REC_CM_EVENT,   /* w: event, status as int; a: id */
	REC_INJECT,     /* text: what was done */
	/* the recorder's own */
	REC_AT,    /* a: events in the trace of the simulated devices, when what follows in this thread happened */
	REC_CLOCK, /* a: CLOCK_REALTIME at t */
	REC_LOST,  /* a: how many records found the ring full; w: since when that thread lives */
	REC_FORK,  /* a: pid of the child */
	REC_END,   /* a: records written, lost, calls */
};

enum rec_cm {
	REC_CM_RESOLVE_ADDR,
	REC_CM_RESOLVE_ROUTE,
	REC_CM_LISTEN,
	REC_CM_CONNECT,
	REC_CM_ACCEPT,
	REC_CM_REJECT,
	REC_CM_DISCONNECT
};

struct rec {
	uint64_t t_ns;
	uint16_t type;
	uint8_t ctx; /* n-th context of the process */
	uint8_t n;
	uint32_t qpn;
	uint64_t wr;
	uint32_t w[4];
	uint64_t a[3];
};

enum rec_flag { REC_SIM = 1, REC_DEVICE_TRACE = 2 };

struct rec_head {
	uint64_t magic;
	uint32_t pid, parent;
	uint32_t flags;
	uint32_t size; /* of a record */
	uint64_t mono_ns, real_ns;
	char program[REC_NAME], node[REC_NAME];
};

struct rec_ring {
	uint64_t magic;
	uint32_t slots;
	uint32_t thread;
	_Alignas(64) _Atomic uint64_t head; /* written by the thread alone */
	_Atomic uint64_t lost;
	_Alignas(64) _Atomic uint64_t tail; /* written by who drains */
	_Atomic uint32_t error;             /* errno of the first write of the spool that failed */
	_Atomic uint64_t unwritten;         /* records that could not be written since */
	_Alignas(4096) struct rec slot[];
};

#endif
