/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * dev.h - the reference transport: a device with one port, driven by four calls.
 *
 *   vs_dev_input(packet, now)     a packet arrived
 *   vs_dev_output(packet, now)    the next packet to send, if there is one
 *   vs_dev_deadline()             when to call vs_dev_expire at the latest
 *   vs_dev_expire(now)            timers
 *
 * The device has no clock, socket, thread or random source of its own: time comes in with each call,
 * in nanoseconds, never running backwards (a smaller `now` counts as the largest seen); randomness
 * comes from the seed. Memory comes from the allocator in the attributes, when objects are created,
 * never inside the four calls. Not thread-safe: one caller at a time.
 *
 * Outcomes: a negative vs_err means that the call was refused and changed nothing; vs_dev_refusal
 * then names the reason. What the protocol says comes as completions, async events and packets.
 */
#ifndef VS_DEV_H
#define VS_DEV_H

#include <stddef.h>
#include <stdint.h>

#include "vs/err.h"
#include "vs/event.h"
#include "vs/reason.h"
#include "vs/verbs.h"
#include "vs/wire.h"

struct vs_dev;
struct vs_pd;
struct vs_cq;
struct vs_srq;
struct vs_qp;
struct vs_mr;
struct vs_mw;
struct vs_ah;

#define VS_NEVER UINT64_MAX /* a deadline that never comes */

struct vs_allocator {
	void *(*alloc)(void *ctx,
		       size_t size); /* zeroed, aligned for any type; NULL: the call fails with VS_ERR_NOSPACE */
	void (*free)(void *ctx, void *p, size_t size); /* size as allocated; p never NULL */
	void *ctx;
};

/*
 * All access to application memory. `addr` is an address in a registered region (already
 * translated from the IOVA), [addr, addr + len) is inside it. Must not call back into the device.
 */
struct vs_dma_ops {
	void (*read)(void *ctx, uint64_t addr, void *dst, uint32_t len);
	void (*write)(void *ctx, uint64_t addr, const void *src, uint32_t len);
	/* 8-byte atomics in host byte order; addr is a multiple of 8; return the value before. */
	uint64_t (*fetch_add)(void *ctx, uint64_t addr, uint64_t add);
	uint64_t (*cmp_swap)(void *ctx, uint64_t addr, uint64_t compare, uint64_t swap);
	void (*write8)(void *ctx, uint64_t addr, uint64_t value);           /* ATOMIC WRITE: one 8-byte store */
	void (*flush)(void *ctx, uint64_t addr, uint64_t len, uint8_t plt); /* FLUSH; may be NULL */
	void *ctx;
};

/* Plain memory of this process: addresses are pointers. */
extern const struct vs_dma_ops vs_dma_host;

enum vs_gid_type { VS_GID_NONE = 0, VS_GID_IB, VS_GID_ROCEV1, VS_GID_ROCEV2 };

struct vs_gid_entry {
	uint8_t gid[16]; /* ::ffff:a.b.c.d makes RoCEv2 packets IPv4 */
	enum vs_gid_type type;
};

#define VS_GID_TABLE_LEN 16
#define VS_PKEY_TABLE_LEN 16

enum vs_link_layer { VS_LL_ETHERNET, VS_LL_INFINIBAND };

/*
 * Congestion control by whoever runs the device, in place of DCQCN. Called inside the four calls: nothing of the device
 * may be called from here.
 */
enum vs_cc_asked { VS_CC_CNP, VS_CC_TIMER };
struct vs_cc_algo {
	/* Notification point: a marked packet came for this QP. True: a CNP goes back to whoever sent it. */
	bool (*marked)(void *ctx, uint32_t qpn, uint64_t now_ns);
	/*
	 * Reaction point: a CNP came for this QP, or *again_ns of the last answer is now. The rate from now on in bits
	 * per second, at least min_rate_bps; 0, or that of the link: not limited. *again_ns is VS_NEVER until it is
	 * set.
	 */
	uint64_t (*rate)(void *ctx, uint32_t qpn, enum vs_cc_asked why, uint64_t now_ns, uint64_t *again_ns);
	void *ctx;
};

/* Congestion management (Annex A17 RCM, DCQCN). All off when `enabled` is false: ECN 00, no CNP. */
struct vs_cc_attr {
	bool enabled;
	uint8_t ecn;             /* codepoint of data packets: 1 or 2 (ECT) */
	uint8_t cnp_tclass;      /* traffic class of CNPs, DSCP << 2 */
	uint64_t min_cnp_gap_ns; /* per QP: at most one CNP in this time */
	uint64_t link_rate_bps;  /* rate that DCQCN starts from and recovers to; bits per second */
	uint64_t rate_timer_ns;  /* rate-increase period */
	uint64_t alpha_timer_ns; /* alpha-decay period */
	uint32_t rate_ai_bps, rate_hai_bps, min_rate_bps;
	const struct vs_cc_algo *algo; /* NULL: DCQCN; else asked instead, and the gap and both timers are its own */
};

/* That of most adapters: ECT(0) on data, CNPs of DSCP 48 at most every 50 us, DCQCN with the constants of its paper. */
struct vs_cc_attr vs_cc_usual(uint64_t link_rate_bps);

struct vs_dev_attr {
	const char *name;              /* "A": node name in events; copied, at most 15 bytes */
	struct vs_allocator allocator; /* alloc NULL: refused */
	struct vs_dma_ops dma;
	struct vs_event_sink sink; /* emit NULL: no events are made, at no cost */
	uint64_t *pkt_counter;     /* shared by the devices of one trace, for pkt_ids; NULL: the device's own */
	uint64_t seed;             /* keys, QPNs, PSN hints and CM ids derive from it */
	uint64_t deviations;       /* set of 1 << enum vs_deviation: defects to commit */

	enum vs_link_layer link_layer;
	uint8_t mac[6];
	uint16_t lid;
	enum vs_mtu active_mtu; /* largest path MTU */
	uint64_t node_guid;
	struct vs_gid_entry gids[VS_GID_TABLE_LEN];
	uint16_t pkeys[VS_PKEY_TABLE_LEN]; /* [0] usually 0xffff; 0: unused */
	/* Destination MAC of a GID; false: unknown (the verb is refused). NULL: only av.dmac is used. */
	bool (*neighbour)(void *ctx, const uint8_t gid[16], uint8_t mac[6]);
	void *neighbour_ctx;
	/*
	 * False: what goes to this GID has to wait (the receiver is full). Its QPs then wait until vs_dev_resume, the
	 * others go on; MADs of the connection manager never wait. NULL: nothing ever has to.
	 */
	bool (*has_room)(void *ctx, const uint8_t dgid[16]);
	void *has_room_ctx;
	/*
	 * A request keeps its place in the send queue until a completion has been polled that speaks for it, as where
	 * the queue is memory of the program; else until it is over.
	 */
	bool hold_slots;
	struct vs_cc_attr cc;

	/* Limits; 0 takes the default in parentheses. */
	uint32_t max_qp;                             /* (1024) */
	uint32_t max_cq;                             /* (1024) */
	uint32_t max_mr, max_mw;                     /* (4096) */
	uint32_t max_srq, max_ah, max_pd;            /* (256, 4096, 256) */
	uint32_t max_qp_wr;                          /* (16384) */
	uint32_t max_srq_wr;                         /* (16384) */
	uint32_t max_cqe;                            /* (65536) */
	uint32_t max_sge;                            /* (16) */
	uint32_t max_inline;                         /* (512) */
	uint8_t max_rd_atomic;                       /* (16): both directions */
	uint32_t max_mcast_grp, max_mcast_qp_attach; /* (64, 32) */
	uint32_t ack_every;                          /* (16): AckReq at the latest on every n-th request packet */
	uint32_t rc_window;                          /* (1024): request packets in flight per QP, at most 2^23 - 1 */
	uint32_t first_msn; /* (0): MSN before the first message, to see its wrap without 2^24 of them */
	bool e2e_credits;   /* advertise end-to-end credits (else syndrome code 31) */
	bool allow_privileged_qkey;
	uint32_t cm_backlog; /* (64): REQs that may wait for an answer; more are dropped and come again */
	bool cm_disabled;    /* QP 1 belongs to the application */
};

/* NULL with *err set (VS_ERR_INVAL, VS_ERR_NOSPACE). The attributes are copied. */
struct vs_dev *vs_dev_create(const struct vs_dev_attr *attr, int *err);
/* Frees every object that is left. */
void vs_dev_destroy(struct vs_dev *dev);
/* The attributes with defaults filled in; valid as long as the device. */
const struct vs_dev_attr *vs_dev_attr(const struct vs_dev *dev);

/* Why the last call that returned an error was refused; VS_REASON_NONE if none was. */
enum vs_reason vs_dev_refusal(const struct vs_dev *dev);

/*
 * Replaces one entry of the GID table: GID_CHANGE follows. VS_ERR_INVAL outside the table. Who still uses an entry
 * that is emptied (VS_GID_NONE) has no address to send from: requests fail with VS_WC_LOC_QP_OP_ERR, as with Linux rxe,
 * answers and MADs are dropped and counted in send_err.
 */
int vs_dev_set_gid(struct vs_dev *dev, unsigned index, const struct vs_gid_entry *gid);
/* Link state: PORT_ACTIVE / PORT_ERR follow. What comes to a port that is down, and what is to leave by it, is lost. */
void vs_dev_set_link(struct vs_dev *dev, bool up);

/* ---- the four calls ---- */

/* Travels beside a packet inside one process, so that a trace can pair send and receive. 0: unknown. */
struct vs_pkt_meta {
	uint64_t pkt_id; /* this one transmission */
	uint64_t cause;  /* seq of the pkt:tx event */
	uint32_t qpn;    /* output only: the sending QP */
	bool icrc_good;  /* input only: whoever took the packet off the wire has found the ICRC right */
};

/* `link` says where the buffer starts. Anything may be in it: bad packets are counted and dropped. */
void vs_dev_input(struct vs_dev *dev, enum vs_link link, const uint8_t *buf, size_t len, const struct vs_pkt_meta *meta,
		  uint64_t now_ns);

/*
 * Bytes of the next packet, 0 when there is nothing to send now. cap >= VS_FRAME_MAX. The packet begins
 * with Ethernet (VS_LL_ETHERNET) or LRH, complete with CRCs.
 */
size_t vs_dev_output(struct vs_dev *dev, uint8_t *buf, size_t cap, struct vs_pkt_meta *meta, uint64_t now_ns);
#define VS_FRAME_MAX (4096 + 256)

/*
 * True when vs_dev_output may have something to do now. It can find that nothing goes yet (a fence, a bind that
 * makes no packet) and return 0: then this is false until something happens.
 */
bool vs_dev_has_output(const struct vs_dev *dev);
/* QPs that wait for room at their destination: whether there are any, and that they are asked again. */
bool vs_dev_waits_for_room(const struct vs_dev *dev);
void vs_dev_resume(struct vs_dev *dev);

/* Earliest timer; VS_NEVER when none runs. May lie in the past: then expire is due. */
uint64_t vs_dev_deadline(const struct vs_dev *dev);
void vs_dev_expire(struct vs_dev *dev, uint64_t now_ns);
/* Verbs calls that start timers take their time from the last of the four calls, or from this. */
void vs_dev_set_now(struct vs_dev *dev, uint64_t now_ns);

/* ---- async events ---- */
struct vs_async {
	enum vs_async_type type;
	void *object;    /* struct vs_cq *, vs_qp *, vs_srq * by type; NULL for port events */
	uint64_t cookie; /* the one given when the object was created */
};
/* 1: *a is the oldest event; 0: none. */
int vs_dev_poll_async(struct vs_dev *dev, struct vs_async *a);

/* ---- counters: rxe's names ---- */
#define VS_COUNTER(ID, name, help) VS_CNT_##ID,
enum vs_counter {
#include "counters.def"
	VS_CNT_COUNT
};
uint64_t vs_dev_counter(const struct vs_dev *dev, enum vs_counter c);
const char *vs_counter_name(enum vs_counter c);

/* ---- deviations ---- */
#define VS_DEVIATION(ID, name, known_bug, text, must, may) VS_DEVIATION_##ID,
enum vs_deviation {
#include "deviations.def"
	VS_DEVIATION_COUNT
};
const char *vs_deviation_name(enum vs_deviation d);
/* VS_DEVIATION_COUNT when there is none of that name. */
enum vs_deviation vs_deviation_by_name(const char *name);

/* ---- protection domains ---- */
struct vs_pd *vs_pd_create(struct vs_dev *dev, int *err);
int vs_pd_destroy(struct vs_pd *pd); /* VS_ERR_BUSY while something belongs to it */

/* ---- address handles (UD) ---- */
struct vs_ah *vs_ah_create(struct vs_pd *pd, const struct vs_av *av, int *err);
int vs_ah_destroy(struct vs_ah *ah);

#endif
