/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * core.h - the inside of the engine: the state of every object, and who calls whom.
 *
 *   dev.c        device, the four calls, ready list, counters, async events
 *   list.c timer.c  intrusive lists; one heap of deadlines
 *   table.c      QPN and key look-up
 *   pd.c ah.c    protection domains, address handles
 *   mr.c mw.c    keys: registration, windows, the one place where a key and a range are checked
 *   cq.c srq.c   completion queues, shared receive queues
 *   qp.c         create, destroy, query; qp_state.c: the transition table and modify; post.c: posting
 *   rx.c         header checks of a received packet, in the specification's order; dispatch
 *   tx.c         addressing and encoding of an outgoing packet
 *   req.c        RC/UC requester: what to send next;  comp.c: what an answer means for it;  retry.c: going back
 *   resp.c       RC/UC responder: const check stages, one commit stage;  answer.c: what it owes, and duplicates
 *   ud.c         datagrams;  mcast.c: groups
 *   cc.c         ECN -> CNP, DCQCN
 *   conn_*.c     CM over QP 1
 *   deviation.c  names of the defects that can be committed on request
 *
 * Life of a request: post.c writes a WQE -> req.c makes packets of it -> tx.c encodes -> ... -> rx.c of the
 * peer -> resp.c checks, commits, queues an answer -> tx.c ... -> rx.c -> comp.c -> cq.c.
 */
#ifndef VS_CORE_H
#define VS_CORE_H

#include <assert.h>
#include <string.h>

#include "vs/conn.h"
#include "vs/cq.h"
#include "vs/dev.h"
#include "vs/icrc.h"
#include "vs/mr.h"
#include "vs/psn.h"
#include "vs/qp.h"
#include "vs/wire.h"

#define VS_CONTAINER(ptr, type, member) ((type *)(void *)((char *)(uintptr_t)(ptr)-offsetof(type, member)))
#define VS_DEVIATES(dev, ID) ((dev)->attr.deviations >> VS_DEVIATION_##ID & 1)

/* ---- intrusive list and timer ---- */
struct vs_node {
	struct vs_node *next, *prev;
};
void vs_list_init(struct vs_node *head);
bool vs_list_empty(const struct vs_node *head);
void vs_list_add_tail(struct vs_node *head, struct vs_node *n);
void vs_list_del(struct vs_node *n); /* leaves n pointing to itself: deleting twice is harmless */
bool vs_list_linked(const struct vs_node *n);

enum vs_timer_kind { VS_TIMER_ACK, VS_TIMER_RNR, VS_TIMER_PACE, VS_TIMER_RATE, VS_TIMER_ALPHA, VS_TIMER_CONN };
struct vs_timer {
	uint64_t when;   /* VS_NEVER when not running */
	uint64_t serial; /* order of equal deadlines */
	uint32_t pos;    /* place in the heap + 1; 0 when not running */
	uint8_t kind;    /* enum vs_timer_kind */
	void *owner;     /* struct vs_qp * or struct vs_conn * */
};
/* The heap has room for every timer of every object: objects reserve at creation. */
int vs_timer_reserve(struct vs_dev *dev, uint32_t count);
void vs_timer_unreserve(struct vs_dev *dev, uint32_t count);
void vs_timer_init(struct vs_timer *t, enum vs_timer_kind kind, void *owner);
void vs_timer_set(struct vs_dev *dev, struct vs_timer *t, uint64_t when); /* also re-sets */
void vs_timer_stop(struct vs_dev *dev, struct vs_timer *t);
/* The earliest timer that is due, already stopped; NULL: none. */
struct vs_timer *vs_timer_due(struct vs_dev *dev, uint64_t now_ns);

/* ---- memory keys ---- */
enum vs_key_kind { VS_KEY_FREE = 0, VS_KEY_LKEY, VS_KEY_RKEY, VS_KEY_MW };
struct vs_key_slot {
	uint32_t key; /* the whole key now valid */
	uint8_t kind;
	void *object; /* struct vs_mr * or vs_mw * */
};

struct vs_key_slot *vs_key_find(const struct vs_dev *dev, uint32_t key); /* NULL: no such key now */
struct vs_key_slot *vs_key_slot_of(const struct vs_dev *dev, uint32_t key);
/* A fresh random key for `object`; 0: the table is full. */
uint32_t vs_key_new(struct vs_dev *dev, enum vs_key_kind kind, void *object);
void vs_key_free(struct vs_dev *dev, uint32_t key);

struct vs_mr {
	struct vs_dev *dev;
	struct vs_pd *pd;
	struct vs_mr_attr attr;
	uint32_t lkey, rkey;
	uint32_t bound_windows;
	struct vs_node link;
};

struct vs_mw {
	struct vs_dev *dev;
	struct vs_pd *pd;
	enum vs_mw_type type;
	uint32_t rkey;
	uint8_t posted_key;    /* type 1: key byte of the newest bind posted */
	struct vs_mr *mr;      /* NULL: not bound */
	struct vs_qp *qp;      /* type 2: the QP it is bound through */
	uint64_t addr, length; /* bound range, in the IOVA space of the region */
	uint32_t access;
	struct vs_node link;
};

/*
 * The one place where keys are judged. On success *host is the address for vs_dma_ops.
 * vs_key_check_local: SGEs. vs_key_check_remote: RETH/AtomicETH; `qp` for its PD (and for type 2 windows).
 * A zero-length remote access is never checked (C9-88): callers skip it.
 * VS_REASON_NONE, or why not.
 */
enum vs_reason vs_key_check_local(struct vs_pd *pd, uint32_t lkey, uint64_t addr, uint32_t len, uint32_t access,
				  uint64_t *host);
enum vs_reason vs_key_check_remote(const struct vs_qp *qp, uint32_t rkey, uint64_t va, uint64_t len, uint32_t access,
				   uint64_t *host);
/* Whole-region range of an rkey (FLUSH at MR level). */
enum vs_reason vs_key_region(const struct vs_qp *qp, uint32_t rkey, uint32_t access, uint64_t *host, uint64_t *len);
/* LOCAL_INV (local) and SEND_WITH_INV (remote) of a key. VS_REASON_NONE: the window is unbound. */
enum vs_reason vs_key_invalidate(struct vs_qp *qp, uint32_t rkey, bool remote);
/* BIND_MW work request; VS_REASON_NONE or why the completion is MW_BIND_ERR. */
struct vs_swqe;
enum vs_reason vs_mw_bind(struct vs_qp *qp, const struct vs_swqe *w);
uint32_t vs_mw_post_bind(struct vs_mw *mw); /* a type 1 bind is being posted: its key */
void vs_mw_qp_gone(struct vs_qp *qp);       /* unbinds the windows bound through it */
bool vs_range_inside(uint64_t addr, uint64_t len, uint64_t base, uint64_t size);
bool vs_gid_is_mcast(const uint8_t gid[16]);
bool vs_gid_is_ipv4(const uint8_t gid[16]);
bool vs_pkey_match(uint16_t a, uint16_t b);
uint64_t vs_hash(const void *p, size_t len);

/* DMA through attr.dma, recorded as dma: events at level EXTRA. `key` for the record. */
void vs_dma_read(struct vs_dev *dev, struct vs_qp *qp, uint32_t key, uint64_t host, void *dst, uint32_t len);
void vs_dma_write(struct vs_dev *dev, struct vs_qp *qp, uint32_t key, uint64_t host, const void *src, uint32_t len);

/*
 * Rings hold a power of two, so that free-running indices find their slot across 2^32. `size` is what the consumer
 * was granted, at most 2^24; `mask` one less than the slots there are.
 */
static inline uint32_t vs_ring_mask(uint32_t size)
{
	uint32_t slots = 1;

	while (slots < size)
		slots <<= 1;
	return slots - 1;
}

/* ---- work queue entries ---- */
enum vs_wqe_state { VS_WQE_POSTED = 0, VS_WQE_ACTIVE /* has PSNs */, VS_WQE_DONE };

struct vs_swqe {
	uint64_t wr_id;
	enum vs_wr_opcode opcode;
	unsigned flags;
	uint8_t state;  /* enum vs_wqe_state */
	uint8_t status; /* with DONE: enum vs_wc_status */
	uint16_t why;   /* with DONE and a failure: enum vs_reason */
	uint16_t num_sge;
	uint32_t length; /* message bytes */
	uint32_t imm_data, invalidate_rkey;
	uint64_t remote_addr;
	uint32_t rkey;
	uint64_t compare_add, swap;
	uint8_t flush_plt, flush_sel;
	struct vs_av av;    /* UD: a copy of the AH's path at post */
	bool ah_pd_differs; /* the AH was of another protection domain */
	uint32_t remote_qpn, remote_qkey;
	struct {
		uint32_t mw_key, mr_lkey, rkey, access;
		uint64_t addr, length;
	} bind;               /* keys, not pointers: either may go */
	struct vs_sge *sge;   /* cap.max_send_sge entries of the queue's array */
	uint8_t *inline_data; /* cap.max_inline_data bytes; used with VS_SEND_INLINE */

	uint32_t first_psn, npsn; /* with ACTIVE and later; npsn PSNs are taken (READ: responses) */
	uint32_t responses_done;  /* READ: responses taken so far, a count 0 .. npsn */
	uint32_t read_start;      /* READ: response number at which the newest request for it began */
	uint64_t post_cause;      /* seq of verb:post_send */
};

struct vs_rwqe {
	uint64_t wr_id;
	uint16_t num_sge;
	uint32_t length; /* sum of the SGEs */
	struct vs_sge *sge;
	uint64_t post_cause;
};

/*
 * Bytes [offset, offset + len) of a message into the elements, whose local keys are judged on the way; with src NULL
 * they only are. What lies behind the elements is left out.
 */
enum vs_reason vs_scatter(struct vs_qp *qp, struct vs_pd *pd, const struct vs_sge *sge, uint32_t num_sge,
			  uint32_t offset, const uint8_t *src, uint32_t len);
/* The same into a receive: of the SRQ's protection domain, where there is one. */
enum vs_reason vs_rwqe_scatter(struct vs_qp *qp, const struct vs_rwqe *w, uint32_t offset, const uint8_t *src,
			       uint32_t len);

/* A ring of receive WQEs: of a QP or of an SRQ. */
struct vs_rq {
	struct vs_rwqe *wqe;
	struct vs_sge *sges;
	uint32_t size, mask, head, tail; /* free-running; tail - head entries are queued */
	uint32_t max_sge;
};

int vs_rq_init(struct vs_dev *dev, struct vs_rq *rq, uint32_t size, uint32_t max_sge);
void vs_rq_fini(struct vs_dev *dev, struct vs_rq *rq);
/* Appends; the caller has checked num_sge and that there is room. */
void vs_rq_push(struct vs_rq *rq, const struct vs_recv_wr *wr, uint64_t cause);
static inline struct vs_rwqe *vs_rq_at(const struct vs_rq *rq, uint32_t index)
{
	return &rq->wqe[index & rq->mask];
}
static inline bool vs_rq_full(const struct vs_rq *rq)
{
	return rq->tail - rq->head == rq->size;
}
static inline bool vs_rq_empty(const struct vs_rq *rq)
{
	return rq->tail == rq->head;
}

struct vs_srq {
	struct vs_dev *dev;
	struct vs_pd *pd;
	struct vs_rq rq;
	uint32_t limit; /* 0: not armed */
	uint32_t users;
	uint64_t cookie;
	struct vs_node link;
};

struct vs_cq {
	struct vs_dev *dev;
	struct vs_wc *wc;
	uint32_t size, mask, head, tail;
	uint32_t users;
	uint8_t armed; /* 0, 1 solicited only, 2 any */
	bool overflown;
	uint32_t events; /* fired and not yet taken */
	uint32_t number; /* for events */
	uint64_t cookie;
	struct vs_node link, event_link;
};

/* Adds a completion; overflow makes CQ_ERR and moves the QPs that use it to ERR. */
void vs_cq_push(struct vs_cq *cq, struct vs_qp *qp, const struct vs_wc *wc, bool solicited);

struct vs_pd {
	struct vs_dev *dev;
	uint32_t users;
	struct vs_node link;
};
struct vs_ah {
	struct vs_dev *dev;
	struct vs_pd *pd;
	struct vs_av av;
	struct vs_node link;
};

/* ---- responder: saved answers and what waits to be sent ---- */
enum vs_rres_kind { VS_RRES_READ, VS_RRES_ATOMIC, VS_RRES_FLUSH, VS_RRES_ATOMIC_WRITE };
struct vs_rres {
	uint8_t kind;
	uint8_t opcode;           /* of the request */
	uint32_t first_psn, npsn; /* PSNs of the answer */
	uint64_t va;              /* READ: re-checked and re-read at every (re)execution */
	uint32_t rkey, length;
	uint64_t orig;             /* ATOMIC: saved result */
	uint64_t swapadd, compare; /* ATOMIC: a duplicate has the same operands */
	uint32_t msn;              /* of the answer */
};

enum vs_answer_kind { VS_ANSWER_ACK, VS_ANSWER_NAK, VS_ANSWER_READ, VS_ANSWER_SAVED /* atomic, flush, atomic write */ };
struct vs_answer {
	uint8_t kind, syndrome;
	uint8_t opcode;     /* of the response; READ: chosen packet by packet */
	bool duplicate;     /* a repeat: takes no resource, and silence answers what can't be repeated */
	uint32_t psn, msn;  /* psn of the next packet */
	uint32_t first_psn; /* READ: of this (re)execution; va belongs to it */
	uint32_t end_psn;   /* READ: one past the last */
	uint32_t rkey, length;
	uint64_t va;
	uint64_t orig; /* ATOMIC */
	uint64_t cause;
};
#define VS_ANSWERS \
	64 /* queue of answers per QP; ACKs merge, so it is bounded by max_dest_rd_atomic + 2 and duplicates */

struct vs_qp {
	struct vs_dev *dev;
	struct vs_pd *pd;
	enum vs_qp_type type;
	uint32_t qpn;
	struct vs_qp_init init; /* as created */
	struct vs_qp_attr attr; /* current attributes, state included */
	uint32_t mtu;           /* bytes */
	struct vs_cq *send_cq, *recv_cq;
	struct vs_srq *srq;
	uint16_t udp_sport;    /* constant per connected QP */
	uint32_t mcast_groups; /* attached to so many */
	struct vs_node link;   /* device's list */
	struct vs_node ready;  /* device's ready list, or the one of those who wait for room */

	/* send queue: free-running indices; [head, tail) are incomplete */
	struct {
		struct vs_swqe *wqe;
		struct vs_sge *sges;
		uint8_t *inline_buf;
		uint32_t size, mask, head, tail;
		uint32_t freed;    /* up to there the program knows that they are over (hold_slots); freed <= head */
		uint32_t send;     /* index of the WQE to send from next; head <= send <= tail */
		uint32_t send_pkt; /* packet of it: 0 .. npackets */
	} sq;

	struct vs_rq rq;

	/* requester */
	struct {
		uint32_t next_psn;  /* first PSN never assigned */
		uint32_t sent_psn;  /* first PSN never sent; una <= sent <= next */
		uint32_t una_psn;   /* oldest PSN not acknowledged */
		uint32_t asked_psn; /* first PSN for which no acknowledge was asked */
		uint32_t ssn;       /* last one given out */
		uint32_t lsn;       /* credit limit, with has_lsn */
		bool has_lsn;
		uint8_t rd_atomic_out; /* outstanding READ/ATOMIC/FLUSH/ATOMIC WRITE */
		uint8_t retry_left, rnr_left;
		uint32_t since_ackreq; /* packets since the last AckReq */
		bool rnr_wait, drained_told;
		bool gap_told;    /* a gap in the responses has sent us back already */
		bool probed;      /* one request went beyond the credit limit */
		bool credit_told; /* rc:credit_wait was made for this limit */
		uint8_t fence_seen;
		struct vs_timer ack_timer, rnr_timer, pace_timer;
		uint64_t rate_bps; /* 0: not limited */
		uint64_t next_tx_ns;
		uint64_t retry_cause; /* seq of the event that last sent us back; 0: none */
		uint64_t tx_cause;    /* seq of the newest pkt:tx of a request: what a time-out waited for */
	} req;

	/* responder */
	struct {
		uint32_t epsn, msn;  /* expected PSN; completed messages */
		uint8_t last_opcode; /* of the message in progress */
		bool in_message;
		bool nak_seq_sent;  /* C9-114: one per gap */
		bool rnr_sent;      /* after an RNR NAK: silence until epsn comes */
		bool comm_est;      /* COMM_EST was raised */
		bool dying;         /* a fatal NAK waits: it is still sent in ERR */
		bool has_wqe;       /* `wqe` is taken (from RQ or SRQ) for the message in progress */
		struct vs_rwqe wqe; /* copy; its sge points to wqe_sge */
		struct vs_sge *wqe_sge;
		uint32_t wqe_sge_max;
		uint32_t received;     /* bytes of the message so far */
		uint64_t va;           /* WRITE: where the next byte goes */
		uint32_t rkey, dmalen; /* WRITE: from the RETH */
		struct vs_rres *rres;  /* ring of max(1, max_dest_rd_atomic cap) */
		uint32_t rres_size, rres_mask, rres_head, rres_tail;
		struct vs_answer answer[VS_ANSWERS];
		uint32_t answer_head, answer_tail;
	} resp;

	/* congestion: notification point and reaction point */
	struct {
		uint64_t last_cnp_ns;
		bool cnp_due, has_last_cnp;
		uint64_t target_bps;
		uint32_t alpha;  /* 2^-10 */
		uint32_t rounds; /* rate periods since the last CNP */
		struct vs_timer rate_timer, alpha_timer;
		uint16_t cnp_pkey; /* of the marked packet */
		uint64_t cnp_cause;
		uint64_t rate_cause; /* seq of the newest cc:cnp_rx */
	} cc;
};

struct vs_mcast_group {
	uint8_t mgid[16];
	uint32_t count;
	struct vs_qp **qp; /* attr.max_mcast_qp_attach entries */
};

static inline struct vs_swqe *vs_sq_at(const struct vs_qp *qp, uint32_t index)
{
	return &qp->sq.wqe[index & qp->sq.mask];
}

/* An outgoing packet: fill p.bth, p.hdrs, p.ext and the payload, then send. */
struct vs_tx {
	struct vs_pkt p;
	uint8_t payload[VS_MTU_MAX];
	uint64_t cause;
	uint64_t wr_id;
	bool has_wr;
	uint32_t retx;  /* how many times this PSN went out before, as far as known; 0: first */
	bool no_source; /* the GID of the path is gone */
};

struct vs_dev {
	struct vs_dev_attr attr;
	char name[16];
	uint64_t now_ns;
	uint64_t rng;
	uint64_t own_pkt_counter, *pkt_counter;
	uint64_t cause;     /* what is being handled: cause of events made now */
	uint64_t ev_pkt_id; /* pkt_id of events made now; 0: not about a packet */
	enum vs_reason refusal;
	bool link_up;
	uint64_t counter[VS_CNT_COUNT];

	struct vs_node qps, cqs, srqs, mrs, mws, pds, ahs; /* every object, for destroy */
	uint32_t n_qp, n_cq, n_srq, n_mr, n_mw, n_pd, n_ah;
	struct vs_node ready;    /* QPs that may have something to send */
	struct vs_node roomless; /* those of them whose destination has no room */
	struct vs_qp **qp_table; /* open addressing, power of two, > 2 * max_qp */
	uint32_t qp_table_mask;
	struct vs_key_slot *keys;
	uint32_t keys_mask;
	struct vs_timer **heap;
	uint32_t heap_len, heap_cap, heap_reserved;
	uint64_t timer_serial;
	struct vs_mcast_group *mcast;
	struct vs_qp *mcast_sender; /* while its datagram is looped back */
	struct vs_node comp_events; /* CQs with events, oldest first */
	struct vs_async *async;     /* ring */
	uint32_t async_head, async_tail, async_size;
	struct vs_tx tx;                  /* the packet being made: too large for the stack of every caller */
	struct vs_conn_state_block *conn; /* conn_*.c; NULL with cm_disabled */
	uint32_t next_cq_number;
};

/* ---- services that the stages use ---- */
void *vs_alloc(struct vs_dev *dev, size_t size);
void vs_free(struct vs_dev *dev, void *p, size_t size); /* NULL is fine */
uint64_t vs_random(struct vs_dev *dev);
int vs_refuse(struct vs_dev *dev, int err, enum vs_reason r); /* notes the reason, makes the event, returns err */
void vs_async_push(struct vs_dev *dev, enum vs_async_type type, void *object, uint64_t cookie);
void vs_async_forget(struct vs_dev *dev, const void *object);
/* Unlink, give back and free, whatever refers to it: for destroy calls that have checked, and for vs_dev_destroy. */
void vs_qp_free(struct vs_qp *qp);
void vs_srq_free(struct vs_srq *srq);
void vs_cq_free(struct vs_cq *cq);
void vs_mw_free(struct vs_mw *mw);
void vs_mr_free(struct vs_mr *mr);
void vs_ah_free(struct vs_ah *ah);
void vs_pd_free(struct vs_pd *pd);
/* A usable path: GID index, port, SL, hop limit; fills dmac. VS_REASON_NONE or why not. */
enum vs_reason vs_av_resolve(struct vs_dev *dev, struct vs_av *av);

/*
 * Makes an event of `type` about `qp` (may be NULL) with up to 8 arguments; returns its seq, 0 without a sink: then
 * nothing is called and nothing is gathered for it.
 */
uint64_t vs_ev_make(struct vs_dev *dev, enum vs_event_type type, const struct vs_qp *qp, const uint64_t *wr_id,
		    uint64_t cause, unsigned n, const uint64_t *a);
static inline uint64_t vs_ev(struct vs_dev *dev, enum vs_event_type type, const struct vs_qp *qp, uint64_t cause,
			     unsigned n, const uint64_t *a)
{
	return dev->attr.sink.emit == NULL ? 0 : vs_ev_make(dev, type, qp, NULL, cause, n, a);
}
static inline uint64_t vs_ev_wr(struct vs_dev *dev, enum vs_event_type type, const struct vs_qp *qp, uint64_t wr_id,
				uint64_t cause, unsigned n, const uint64_t *a)
{
	return dev->attr.sink.emit == NULL ? 0 : vs_ev_make(dev, type, qp, &wr_id, cause, n, a);
}
#define VS_EV_ON(dev, lvl) ((dev)->attr.sink.emit != NULL && (dev)->attr.sink.level >= (lvl))

struct vs_qp *vs_qp_find(const struct vs_dev *dev, uint32_t qpn);
void vs_qp_table_add(struct vs_dev *dev, struct vs_qp *qp);
void vs_qp_table_del(struct vs_dev *dev, struct vs_qp *qp);
uint32_t vs_qpn_choose(struct vs_dev *dev);
/* The QP may have something to send: puts it on the ready list. */
void vs_qp_kick(struct vs_qp *qp);
/*
 * To ERR (or SQE) because of `r`: the WQE that failed is completed by the caller first. Flushes what
 * must be flushed, raises LAST_WQE_REACHED where due.
 */
void vs_qp_error(struct vs_qp *qp, enum vs_reason r);
void vs_qp_sq_error(struct vs_qp *qp, enum vs_reason r);                         /* UD, UC: SQE */
void vs_qp_set_state(struct vs_qp *qp, enum vs_qp_state to, enum vs_reason why); /* and the event */
void vs_qp_reset(struct vs_qp *qp);
uint16_t vs_udp_sport(uint32_t flow_label, uint32_t lqpn, uint32_t rqpn);
void vs_qp_flush_sq(struct vs_qp *qp);
void vs_qp_flush_rq(struct vs_qp *qp);

/* Completes sq.head with `status` (a CQE when signaled or failed), moves head. */
void vs_sq_complete_head(struct vs_qp *qp, enum vs_wc_status status, enum vs_reason why, uint32_t byte_len);
/* Completes the receive WQE in resp.wqe. `wc` has everything but wr_id, qp_num, time. */
void vs_rq_complete(struct vs_qp *qp, struct vs_wc *wc, bool solicited);
/* Takes the next receive WQE into resp.wqe: there is one. SRQ limit event. */
void vs_rq_take(struct vs_qp *qp);

/* ---- packets ---- */
/* One received packet with what the header checks found out. */
struct vs_rx {
	struct vs_pkt p;
	struct vs_pkt_meta meta;
	const uint8_t *buf; /* where p was parsed from */
	struct vs_qp *qp;
	uint64_t ev; /* seq of pkt:rx */
	bool ecn_ce;
	bool ipv4;
	uint8_t sgid[16], dgid[16]; /* IPv4 as ::ffff: */
	uint16_t slid;
	uint8_t sl;
};
void vs_rx_packet(struct vs_dev *dev, enum vs_link link, const uint8_t *buf, size_t len,
		  const struct vs_pkt_meta *meta);

/* Starts a packet from `qp` along `av` (NULL: the QP's own path): headers by the GID type, P_Key, MigReq. */
void vs_tx_init(struct vs_qp *qp, struct vs_tx *tx, uint8_t opcode, const struct vs_av *av);
/* Has the path an address to send from? Not when its GID was taken out of the table. */
bool vs_tx_has_source(const struct vs_dev *dev, const struct vs_av *av);
/* Pads, encodes with CRCs into buf, makes pkt:tx, counts; the length. 0: no address to send from, pkt:drop. */
size_t vs_tx_finish(struct vs_qp *qp, struct vs_tx *tx, uint8_t *buf, size_t cap, struct vs_pkt_meta *meta);

/* The next packet of this QP, answers first; 0: nothing now. */
size_t vs_qp_output(struct vs_qp *qp, uint8_t *buf, size_t cap, struct vs_pkt_meta *meta);
size_t vs_resp_output(struct vs_qp *qp, uint8_t *buf, size_t cap, struct vs_pkt_meta *meta);
size_t vs_req_output(struct vs_qp *qp, uint8_t *buf, size_t cap, struct vs_pkt_meta *meta);
size_t vs_ud_output(struct vs_qp *qp, uint8_t *buf, size_t cap, struct vs_pkt_meta *meta);
bool vs_resp_has_output(const struct vs_qp *qp);
bool vs_req_has_output(const struct vs_qp *qp); /* RC, UC: something could be sent now */
bool vs_ud_has_output(const struct vs_qp *qp);

/* answer.c */
void vs_answers_clear(struct vs_qp *qp);
bool vs_answer_room(const struct vs_qp *qp);
uint32_t vs_resp_reads_waiting(struct vs_qp *qp);
void vs_answer_ack(struct vs_qp *qp, uint32_t psn, uint32_t msn);
void vs_answer_nak(struct vs_qp *qp, uint32_t psn, uint8_t syndrome, uint8_t opcode);
void vs_rres_save(struct vs_qp *qp, const struct vs_rres *res);
void vs_rres_new_orig(struct vs_qp *qp, uint32_t psn, uint64_t orig); /* deviation ATOMIC_REEXECUTED */
void vs_answer_saved(struct vs_qp *qp, const struct vs_rres *res, uint32_t psn, uint32_t npsn, uint64_t va,
		     uint32_t length, uint32_t msn);
void vs_answer_duplicate(struct vs_rx *rx);

void vs_resp_request(struct vs_rx *rx);                                           /* RC, UC request for rx->qp */
void vs_comp_response(struct vs_rx *rx);                                          /* RC response */
void vs_ud_receive(struct vs_dev *dev, struct vs_rx *rx);                         /* one QP or a multicast group */
struct vs_mcast_group *vs_mcast_find(struct vs_dev *dev, const uint8_t mgid[16]); /* NULL: nobody is attached */
void vs_cc_ce_seen(struct vs_rx *rx);
void vs_cc_cnp(struct vs_rx *rx);
void vs_cc_make_cnp(struct vs_qp *qp, struct vs_tx *tx);
void vs_conn_mad(struct vs_dev *dev, struct vs_rx *rx); /* QP 1 */
size_t vs_conn_output(struct vs_dev *dev, uint8_t *buf, size_t cap, struct vs_pkt_meta *meta);
bool vs_conn_has_output(const struct vs_dev *dev);
void vs_conn_comm_est(struct vs_qp *qp); /* data before the RTU */

/* req.c, retry.c, comp.c between themselves */
bool vs_swqe_is_local(const struct vs_swqe *w);
bool vs_swqe_is_atomic(const struct vs_swqe *w);
bool vs_swqe_is_rd_atomic(const struct vs_swqe *w);
enum vs_reason vs_swqe_gather(struct vs_qp *qp, const struct vs_swqe *w, uint32_t offset, uint8_t *dst, uint32_t len);
void vs_req_retire(struct vs_qp *qp);
uint32_t vs_req_cursor_psn(const struct vs_qp *qp);
void vs_req_start_timer(struct vs_qp *qp);
void vs_req_move_cursor(struct vs_qp *qp, uint32_t psn);
void vs_req_cursor_to_new(struct vs_qp *qp);
void vs_req_ask_now(struct vs_qp *qp);
/* Sends from `psn` again because of `trigger` (static text); a try is used up. False: there was none left. */
bool vs_req_go_back(struct vs_qp *qp, uint32_t psn, const char *trigger);
/* Waits for the RNR timer `code`, then sends from `psn`; without a try left the request fails. */
void vs_req_rnr(struct vs_qp *qp, uint32_t psn, uint8_t code);
/* The oldest request fails. */
void vs_req_fail_head(struct vs_qp *qp, enum vs_wc_status status, enum vs_reason why);

void vs_req_reset(struct vs_qp *qp);  /* on entering RTS from RTR; RESET. No timer runs then */
void vs_resp_reset(struct vs_qp *qp); /* on entering RTR; RESET */
void vs_req_timer(struct vs_qp *qp, enum vs_timer_kind kind);
void vs_cc_timer(struct vs_qp *qp, enum vs_timer_kind kind);
void vs_cc_sent(struct vs_qp *qp, size_t bytes); /* pacing */
void vs_cc_reset(struct vs_qp *qp);
void vs_conn_timer(struct vs_conn *c);
int vs_conn_init(struct vs_dev *dev);
void vs_conn_fini(struct vs_dev *dev);
/* Went to SQD: in-progress message is finished and answered: SQ_DRAINED when asked for. */
void vs_req_check_drained(struct vs_qp *qp);

#endif
