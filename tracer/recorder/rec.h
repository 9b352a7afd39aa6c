/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * rec.h - what the recorder writes, and `vs-trace run` reads and makes a .vst file of: records of 64 bytes, in the byte
 * order of the machine, since both are of one build on one host; most stand there in 8 to 24 (below).
 *
 *   DIR/rec-PID.spool   a head, then chunks as the rings were drained, those of one ring in their order
 *   DIR/rec-PID-N.ring  the ring of a thread, mapped and shared, so that what a killed program has not drained is still
 *                       there; gone when the program ended in order
 */
#ifndef VS_TRACER_REC_H
#define VS_TRACER_REC_H

#include <stdatomic.h>
#include <stdint.h>

#define REC_MAGIC 0x33434552534156u /* "VASREC3" */
#define REC_RING_WORDS 262144u      /* a power of two */
#define REC_MUCH (REC_RING_WORDS / 4)
#define REC_STAGED 16u /* records that may be begun and not yet finished */
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
	REC_CQE,        /* w: status | opcode << 8 | flags << 24, bytes, imm, cq; a: vendor_err */
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
	REC_TICKS, /* a: the counter at t */
	REC_LOST,  /* a: how many records are lost since the last time, how many of them for want of a ring */
	REC_FORK,  /* a: pid of the child */
	REC_END,   /* a: words written, records lost */
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

/*
 * In rings and spools a record is words of 64 bits: all eight, of which the first is its time; or, when a record before
 * it in the same ring began alike (type, context, n, QP), what is different from that one, behind a word of
 *
 *   63      REC_PACKED
 *   62      REC_NEAR: one word is different, by bits 16..31 (signed); it is the one of 2 to 7 whose bit is set, and
 *           does not stand there; or none is
 *   56..61  how often the same happens again, at the same time; only where no word stands behind this one
 *   50..55  bit 48 + i: word i stands behind this one, in order
 *   40..45  which one it is like: the newest whose rec_like() is that number
 *   0..31   its time less that of the record before it in the ring; near, 0..15
 *
 * A chunk of a spool is words of one ring, wherever a record ends. They stand there as they are (REC_CHUNK_MAGIC), or
 * squeezed, as items of a head of 16 bits and what belongs to it, without gaps:
 *
 *   n                 n words
 *   REC_ITEM_RUN | n  n words that have all but their last 16 bits in common: the first, and those of each of the
 * others
 */
union rec_words {
	struct rec r;
	uint64_t w[8];
};
_Static_assert(sizeof(union rec_words) == 64, "a record is eight words");

#define REC_PACKED (1ull << 63)
#define REC_NEAR (1ull << 62)
#define REC_AGAIN_SHIFT 56
#define REC_AGAIN_MAX 63u
#define REC_WORD(i) (1ull << (48 + (i))) /* it is different */
#define REC_WORDS (0x3full << 50)
#define REC_LIKE 64u

/* Two fields of 32 bits, in the order of their addresses, as one word. */
static inline uint64_t rec_pair(uint32_t first, uint32_t second)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return (uint64_t)first << 32 | second;
#else
	return (uint64_t)second << 32 | first;
#endif
}

/* type, ctx, n, qpn */
static inline uint64_t rec_word1(uint16_t type, uint8_t ctx, uint8_t n, uint32_t qpn)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return rec_pair((uint32_t)type << 16 | (uint32_t)ctx << 8 | n, qpn);
#else
	return rec_pair((uint32_t)n << 24 | (uint32_t)ctx << 16 | type, qpn);
#endif
}

/* Sends, receives, completions and empty polls never push each other out. */
static inline unsigned rec_like(const union rec_words *u)
{
	return (u->r.type & 3u) << 4 | (unsigned)(u->w[1] * 0x9e3779b97f4a7c15u >> 60);
}

#define REC_CHUNK_MAGIC 0x4b434556u    /* "VECK" */
#define REC_SQUEEZED_MAGIC 0x5a434556u /* "VECZ" */
#define REC_ITEM_RUN 0x8000u
#define REC_ITEM_MAX 0x7fffu
#define REC_SQUEEZED_MAX(n) (10 * (size_t)(n)) /* bytes that n words take at most */
#define REC_OWN 0xffffu /* instead of a ring: what the recorder has to say itself, never packed */
struct rec_chunk {
	uint32_t magic, ring;
	uint32_t words; /* that follow */
	uint32_t bytes; /* squeezed: that they take */
};

/* REC_IN_TICKS: times in rings are of the processor's counter; REC_TICKS records say what it showed when. */
enum rec_flag { REC_SIM = 1, REC_DEVICE_TRACE = 2, REC_IN_TICKS = 4 };

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
	uint32_t words;
	uint32_t thread;
	_Alignas(64) _Atomic uint64_t head; /* in words; written by the thread alone */
	_Atomic uint64_t lost;              /* records */
	_Alignas(64) _Atomic uint64_t tail; /* written by who drains */
	_Atomic uint32_t error;             /* errno of the first write of the spool that failed */
	_Atomic uint64_t unwritten;         /* words that could not be written since */
	_Alignas(64) union rec_words staged[REC_STAGED];
	_Alignas(4096) uint64_t word[];
};

#endif
