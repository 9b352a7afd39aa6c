/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * soak.h - random work on a simulated network, judged by a model of its own.
 *
 *   sim_soak.c      options, the loop, what a failure prints
 *   soak_world.c    hosts, links, queue pairs and faults from the seed; taking it down
 *   soak_work.c     chooses and posts work requests
 *   soak_done.c     judges completions
 *   soak_mem.c      the memory of a host, beside it the model of what it must hold
 *   soak_cm.c       connections made and taken down by the connection manager
 *   soak_beside.c   completion events, draining, recovering from SQE, resizing, limits
 *   soak_passing.c  a region that is registered anew, now and then under the feet of those who use it
 *   soak_events.c   judges the stream of events
 *   soak_monitor.c  the monitor watches: whatever it claims is false
 *
 * The model knows what was posted and what the verbs promise; it never asks the engine. Every byte of every
 * host has an expected value, save those that a request in flight may change.
 */
#ifndef VS_TESTS_SOAK_H
#define VS_TESTS_SOAK_H

#include <setjmp.h>
#include <stdio.h>

#include "vs/conn.h"
#include "vs/qp.h"
#include "vs/sim.h"

#define MAX_HOSTS 4
#define MAX_QPS 16
#define MAX_CQS 4
#define MAX_SGE 4
#define MAX_REGIONS 3 /* that stay as they are */
#define PASSING 3     /* and one that is registered anew while others work */
#define MAX_WINDOWS 4
#define MAX_WORDS 4
#define ARENA (512u * 1024)
#define BLOCK 64u /* arena is given out in blocks, a guard block behind every range */
#define BLOCKS (ARENA / BLOCK)
#define RECEIVE_BLOCKS (BLOCKS / 2) /* the first half: of receives */
#define INLINE_MAX 256u
#define MESSAGE_MAX 16384u

/* ---- chance: splitmix64. One draw in an expression: C leaves the order of several to the compiler ---- */
struct dice {
	uint64_t state;
};
uint64_t roll(struct dice *d);
static inline uint32_t below(struct dice *d, uint32_t n)
{
	return (uint32_t)(roll(d) % n);
}
static inline uint32_t between(struct dice *d, uint32_t lo, uint32_t hi)
{
	return lo + below(d, hi - lo + 1);
}
static inline bool percent(struct dice *d, uint32_t p)
{
	return below(d, 100) < p;
}

/* ---- memory ---- */
struct range {
	uint32_t off, len;
};
struct sgl {
	uint32_t n, len;
	struct range r[MAX_SGE];
	uint8_t region[MAX_SGE]; /* which registration names it */
};

struct region {
	struct vs_mr *mr; /* NULL: the passing one, between two lives */
	uint64_t iova;    /* of arena byte 0 */
};

struct passing {
	bool shut;      /* nobody new may use it: it waits until its users are done */
	uint32_t users; /* requests in flight that name it */
	uint32_t dead_lkey, dead_rkey;
};

struct word { /* an 8-byte place that many QPs do atomics on */
	uint32_t off;
	uint64_t initial;
	bool tainted; /* an operation on it may or may not have been executed */
};

struct cq_watch {
	uint8_t armed; /* 1: solicited, 2: any */
	bool any, hot; /* completions since; one of them solicited or failed */
	bool vague;    /* a message came that can't be told from others: was it solicited? */
	uint32_t events;
};

struct host {
	int node;
	struct vs_dev *dev;
	struct vs_pd *pd;
	struct vs_cq *cq[MAX_CQS];
	struct vs_srq *srq;
	struct cq_watch watch[MAX_CQS];
	uint32_t cq_size[MAX_CQS]; /* what its QPs need */
	uint32_t n_cq, srq_depth, srq_posted;
	bool limit_armed;
	struct region region[MAX_REGIONS + 1];
	struct passing passing;
	struct word word[MAX_WORDS];
	uint8_t *image, *model;
	uint8_t *open;         /* 1: a request in flight may change this byte */
	uint8_t taken[BLOCKS]; /* blocks that are given out */
	uint32_t hint[2];
	struct wr *in_srq; /* receives in the SRQ, newest first */
};

/* ---- work requests ---- */
enum wr_state { WR_POSTED, WR_DONE };
struct window;

struct wr {
	struct wr *next, *next_message, *all; /* in its queue; among the messages of its QP; all of the run */
	uint64_t id, tag;                     /* tag: what the payload is made of */
	struct qp *qp;                        /* the one it was posted to; NULL: SRQ */
	struct host *host;
	enum vs_wr_opcode op;
	bool is_recv, signaled, done, failed, inlined;
	uint32_t flags, len, imm, inv_key;
	struct sgl local;
	struct host *rhost; /* remote side of WRITE, READ, atomics, FLUSH */
	struct range remote;
	bool remote_held;
	struct word *word;
	uint64_t operand, compare, before; /* before: what an atomic returned */
	bool consumed;                     /* atomics: found its place in the sequence */
	uint64_t position;                 /* ... which is this */
	struct window *window;             /* used by, bound by, invalidated by it */
	uint32_t slot;
	struct qp *to;         /* UD: addressee; NULL: a group */
	enum vs_wc_status bad; /* hostile: how it must fail; 0: it is a good one */
	bool risky;            /* hostile: a region it names went away: it may fail */
	bool near, far;        /* names the passing region of its own, of the other host */
	uint32_t delivered;    /* times the message came out at the other side */
	uint32_t got;          /* at which QPs: a set of numbers */
	uint64_t order;        /* among all requests of the run */
};

enum drain { NO_DRAIN, DRAIN_ASKED, DRAINED };

struct queue {
	struct wr *head, *tail;
	uint32_t n;
};

enum cm_state { CM_NONE, CM_LISTENS, CM_ASKED, CM_UP, CM_DOWN, CM_GONE };

struct qp {
	struct vs_conn *conn; /* the connection manager's, with cm */
	enum cm_state cm;
	struct vs_qp *qp;
	enum vs_qp_type type;
	struct host *host;
	struct qp *peer; /* RC, UC */
	uint32_t number, mtu, gid_index, qkey;
	uint32_t send_cq, recv_cq;
	uint32_t depth, recv_depth, max_sge, recv_sge, max_inline, max_rd, max_dest_rd;
	bool use_srq, sig_all;
	struct vs_ah *ah[MAX_QPS];           /* UD: to each QP */
	struct vs_ah *group_ah;              /* UD: to the group of its GID; NULL: no multicast */
	bool member;                         /* UD: of that group */
	bool sq_bad;                         /* UC, UD: a request that ends in SQE was posted */
	struct queue sends, recvs;           /* accepted and not yet completed, in post order */
	struct wr *messages, *messages_tail; /* what takes a receive at the peer, in post order */
	struct wr *next_delivery;            /* RC: the oldest one not delivered */
	uint64_t newest_delivered;           /* UC: order of it */
	bool doomed;                         /* a bad request was posted on this connection, or one failed */
	bool erred;                          /* moved to ERR */
	bool erred_early;                    /* ... while there was work */
	bool real_error;                     /* one failed, not just flushed */
	bool send_failed, recv_failed;       /* one of the queue completed with an error */
	uint32_t unsignaled;                 /* in a row, the newest */
	enum drain draining;
	uint32_t last_wqe; /* LAST_WQE_REACHED events */
	uint32_t held;     /* UC: bytes at the peer that nobody acknowledges */
};

enum window_state { WIN_FREE, WIN_BINDING, WIN_BOUND, WIN_GOING };
struct window { /* bound by `owner`'s QP, used by its peer */
	struct vs_mw *mw;
	enum vs_mw_type type;
	struct qp *owner;
	struct range mem;
	bool held;
	uint8_t region;
	enum window_state state;
	uint32_t rkey;
	bool zero_based;
	uint32_t busy; /* set of eighths in use */
	uint32_t users, reads;
	bool gone; /* invalidated by the peer, whose requests through it are not all done */
};

/* ---- the run ---- */
enum mood { CLEAN, LOSSY, STORMY, HOSTILE }; /* faults: none; ones that retries survive; any; bad requests too */

struct options {
	uint64_t seed;
	bool verbose;
	bool monitor; /* judges, and must have nothing to say */
	const char *capture, *trace;
	uint64_t deviations; /* defects that every device commits: to see that they are found */
	uint64_t max_steps;  /* 0: none */
};

struct soak {
	struct options opt;
	struct dice dice;
	struct vs_sim *sim;
	uint64_t pkt_counter;
	enum mood mood;
	bool ib, ib_local, e2e, cc, events, mcast, may_lose, may_copy, may_disorder;
	uint32_t group_qkey;
	uint64_t group_copies, recoveries, renewals; /* so that a run can be seen to have had them */
	int n_hosts;
	struct host host[MAX_HOSTS];
	uint32_t n_qps;
	struct qp qp[MAX_QPS];
	uint32_t n_windows;
	struct window window[MAX_WINDOWS];
	struct wr *all;    /* newest first */
	struct wr **table; /* by order */
	size_t table_cap;
	bool closing;
	uint64_t next_id, wanted, posted, completed; /* completed: with success, unsignaled ones too */
	uint64_t seen;                               /* completions */
	uint32_t send_max;                           /* largest SEND; receives are that large */
	uint64_t steps;
	bool in_step;
	size_t allocated, allocations;
	uint64_t flushes[MAX_HOSTS];
	uint64_t last_time[MAX_HOSTS][MAX_CQS];
	uint8_t scratch[MESSAGE_MAX];
	struct watch *watch;
	struct judge *judge; /* the monitor */
	char *faults;        /* the rules, one a line */
	struct vs_writer *writer;
	FILE *trace;
	jmp_buf out;
	char why[512];
};

/* Ends the run: the violation is in s->why. */
void violated(struct soak *s, const char *fmt, ...) __attribute__((format(printf, 2, 3), noreturn));
#define REQUIRE(s, cond, ...)                     \
	do {                                      \
		if (!(cond))                      \
			violated(s, __VA_ARGS__); \
	} while (0)

/* sim_soak.c */
bool soak_step(struct soak *s, uint64_t limit_ns);

/* soak_world.c */
void world_make(struct soak *s);
void world_end(struct soak *s);  /* no work is left: every queue is emptied, everything is destroyed */
void world_drop(struct soak *s); /* after a violation */
struct vs_av way(struct soak *s, const struct qp *from, const struct qp *to);
uint32_t psn_choose(struct dice *d);
uint32_t host_index(const struct soak *s, const struct host *h);
/* Is `to` among those whom a datagram of `from` to its group reaches? */
bool group_reaches(const struct qp *from, const struct qp *to);

/* soak_mem.c */
void mem_make(struct soak *s, struct host *h);
void mem_free(struct host *h);
struct vs_dma_ops mem_dma(struct soak *s, struct host *h);
uint64_t mem_address(const struct soak *s, const struct host *h);
/* Receives have a part of their own, so that requests in flight can't take the room that they wait for. */
enum part { FOR_SENDS, FOR_RECEIVES };
bool mem_take(struct soak *s, struct host *h, enum part part, uint32_t len, uint32_t align, struct range *r);
void mem_give(struct host *h, struct range r);
bool mem_take_sgl(struct soak *s, struct host *h, enum part part, uint32_t len, uint32_t max_sge, struct sgl *l);
void mem_give_sgl(struct host *h, const struct sgl *l);
void mem_put(struct host *h, struct range r, uint64_t tag, uint32_t from); /* image and model := content */
void mem_put_sgl(struct host *h, const struct sgl *l, uint64_t tag);
void mem_open(struct host *h, struct range r);
void mem_open_sgl(struct host *h, const struct sgl *l);
/* What was open is settled: bytes [0, len) are the content, the rest is as before. */
void mem_settle(struct soak *s, struct host *h, struct range r, uint64_t tag, uint32_t len, const char *what);
void mem_settle_sgl(struct soak *s, struct host *h, const struct sgl *l, uint64_t tag, uint32_t skip, uint32_t len,
		    bool rest_unknown, const char *what);
/* Each piece of `mtu` bytes is either the content or as before; settles it. `some`: at least as much as was promised.
 */
void mem_settle_pieces(struct soak *s, struct host *h, struct range r, uint64_t tag, uint32_t mtu, bool all);
bool mem_is_content(const struct host *h, const struct sgl *l, uint32_t skip, uint64_t tag, uint32_t len);
void mem_accept(struct host *h, const struct sgl *l); /* model := image */
void mem_read_sgl(const struct host *h, const struct sgl *l, uint32_t from, uint8_t *dst, uint32_t len);
void mem_check(struct soak *s, struct host *h, const char *when); /* everything that is not open */
void content(uint64_t tag, uint32_t from, uint8_t *dst, uint32_t len);

/* soak_work.c */
void work_some(struct soak *s);  /* posts what it likes */
void work_close(struct soak *s); /* makes the end of every queue signaled */
void work_receives(struct soak *s, bool all);
uint32_t receive_share(const struct soak *s, const struct host *h);
bool work_left(const struct soak *s); /* requests that were accepted and are not completed */
struct wr *wr_new(struct soak *s, struct qp *q, struct host *h);
struct wr *wr_by_id(const struct soak *s, uint64_t id); /* NULL: never given out, or forgotten */
void queue_push(struct queue *q, struct wr *w);
void wr_release(struct wr *w); /* gives its memory back */

/* soak_done.c */
void done_poll(struct soak *s, struct host *h, uint32_t cq, uint32_t most);
void done_silent(struct soak *s, struct qp *q); /* in ERR, all completions are taken */
void done_async(struct soak *s, struct host *h);
void done_final(struct soak *s); /* atomics, deliveries, ranges that nobody could settle before */
void qp_give_up(struct soak *s, struct qp *q);

/* soak_cm.c */
void cm_start(struct soak *s);
void cm_wait(struct soak *s); /* until every connection is up */
void cm_events(struct soak *s);
void cm_end(struct soak *s);

/* soak_beside.c */
void beside_completion(struct host *h, uint32_t cq, bool solicited);
void beside_empty(struct soak *s, struct host *h, uint32_t cq);
void beside_drained(struct soak *s, struct qp *q);
void beside_limit(struct soak *s, struct host *h);
void beside_some(struct soak *s);

/* soak_passing.c */
void passing_make(struct soak *s, struct host *h);
bool passing_open(const struct host *h); /* may a new request name it? */
void passing_enter(struct wr *w);        /* posted */
void passing_leave(struct wr *w);        /* completed */
void passing_some(struct soak *s);

/* soak_monitor.c */
void monitor_begin(struct soak *s);
void monitor_event(struct soak *s, const struct vs_event *ev);
void monitor_judge(struct soak *s); /* the run is over: events against packets */
void monitor_end(struct soak *s);
void monitor_report(FILE *f); /* findings by rule, of all runs */

/* soak_events.c */
struct watch *watch_new(struct soak *s);
void watch_free(struct watch *w);
struct vs_event_sink watch_sink(struct watch *w);

#endif
