/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * recorder.h - the inside of libvs-record.so, which is preloaded into a program and records what it calls of libibverbs
 * and librdmacm. It never changes what the program does, unless --inject asks for it.
 *
 *   rec.h      the form of a record
 *   ring.h     the way of a record into its thread's ring: it neither locks nor allocates, and calls the kernel only to
 *              wake who drains, when the ring has become a quarter full
 *   ring.c     the rings themselves, one for each thread;  clock.c: their time
 *   drain.c    the thread that empties the rings into the spool; start, fork, end
 *   squeeze.c  what rings hold, in fewer bytes
 *   real.c     the functions behind ours;  dl.c: for programs that look them up by dlsym(3)
 *   hook.c     contexts whose operations are replaced, wherever they were opened
 *   data.c     post and poll, by the tables in a context;  wr.c: the ibv_wr_* builders;  cq_ex.c: extended CQs
 *   control.c  exported calls: devices, memory, queues;  qp.c: queue pairs;  cm.c: librdmacm
 *   rule.h     the notation of --inject;  inject.c: calls that fail, or whose arguments are changed
 *
 * Environment, which vs-trace sets: VS_RECORD (a folder; without it everything goes straight to the real functions),
 * VS_RECORD_PAYLOAD (bytes of payload to keep of each request), VS_NODE (this side's name), VS_INJECT (rules, one a
 * line).
 */
#ifndef VS_TRACER_RECORDER_H
#define VS_TRACER_RECORDER_H

#include <errno.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "rec.h"
#include "rule.h"

#undef ibv_reg_mr
#undef ibv_reg_mr_iova
#undef ibv_query_port

#define EXPORT __attribute__((visibility("default")))
/* Its last call is a jump, however the rest is compiled. */
#if defined(__GNUC__) && !defined(__clang__)
#define REC_JUMPS __attribute__((noinline, optimize("O2")))
#else
#define REC_JUMPS __attribute__((noinline))
#endif

/* ---- ring.c; the rest of it is in ring.h ---- */
/*
 * A record to fill in, with time, type and context, until the next one is begun or committed; NULL: not recording, or
 * full, which is counted. Held: until it is committed with what the call returned, whatever the call itself calls.
 */
struct rec *rec_begin(enum rec_type type, const struct ibv_context *context);
struct rec *rec_begin_held(enum rec_type type, const struct ibv_context *context);
void rec_commit_held(struct rec *r, uint64_t result); /* into a[2]; NULL: nothing to commit */
/* What was begun or put since the mark (rec_mark), and not committed, is taken back. */
void rec_rewind(uint64_t mark);
void rec_text(enum rec_type type, const struct ibv_context *context, const char *text);
void rec_ring_release(void *ring); /* a thread ends */
void rec_no_poller(void);          /* nobody's polls are counted in rec_state */
void rec_rings_refill(void);       /* control path: rings for threads that come */
void rec_rings_forget(void);       /* in a child */
struct rec_ring *rec_ring_at(unsigned i);
unsigned rec_ring_count(void);
void rec_rings_remove(void); /* the files */
uint64_t rec_homeless(void); /* records of threads that found no ring */

/* ---- clock.c ---- */
uint64_t rec_clock_ns(clockid_t id);
uint64_t rec_clock_now(void);  /* CLOCK_MONOTONIC in ns, or virtual time */
bool rec_clock_can_tick(void); /* the kernel, and programs, tell time by the processor's counter */
/* What the counter showed at *ns; the returned value is its count. */
uint64_t rec_clock_ticks(uint64_t *ns);

/* ---- squeeze.c ---- */
/* n words, squeezed, to where there is room for REC_SQUEEZED_MAX(n) bytes. The bytes that they take. */
size_t rec_squeeze(uint8_t *to, const uint64_t *w, uint32_t n);

/* ---- drain.c ---- */
struct rec_queue {               /* that a thread polls */
	const struct ibv_cq *cq; /* nothing to look into: another thread may have destroyed it */
	uint64_t n;              /* polls in vain that are not told yet */
	uint32_t number;
	uint8_t ctx;
};

/* An address that no other thread has. */
static inline void *rec_self(void)
{
#if defined(__has_builtin)
#if __has_builtin(__builtin_thread_pointer)
#define REC_SELF __builtin_thread_pointer()
#endif
#endif
#ifndef REC_SELF
#define REC_SELF (&errno)
#endif
	return REC_SELF;
}

struct rec_state {
	/* What every post and poll looks at: one line of the cache, since the kernel uses the caches in between. */
	_Alignas(64) atomic_int on; /* 0: not looked yet; 1: records; -1: does not */
	unsigned rules;             /* of --inject */
	unsigned payload;           /* bytes of each request to keep */
	bool sim, ticks;
	struct ibv_context *_Atomic context; /* the first that was hooked, and its real operations */
	int (*post_send)(struct ibv_qp *, struct ibv_send_wr *, struct ibv_send_wr **);
	int (*post_recv)(struct ibv_qp *, struct ibv_recv_wr *, struct ibv_recv_wr **);
	int (*post_srq_recv)(struct ibv_srq *, struct ibv_recv_wr *, struct ibv_recv_wr **);
	int (*poll_cq)(struct ibv_cq *, int, struct ibv_wc *);
	/* And what every poll counts: of one thread (rec_self), and one queue here. */
	void *_Atomic poller;
	struct rec_queue polled;
	/* what others look at */
	int dir_fd;
	char dir[512];
	uint64_t (*virtual_now)(void); /* with sim */
	uint64_t (*device_seq)(void);  /* the same */
};
extern struct rec_state rec_state;
bool rec_on_first(void);
/* Starts recording if it is asked for and not yet done. */
static inline bool rec_on(void)
{
	int on = atomic_load_explicit(&rec_state.on, memory_order_acquire);

	return on != 0 ? on > 0 : rec_on_first();
}
void rec_drain_ask(void);  /* of the thread */
void rec_drain_soon(void); /* inline, where no thread may be */

/* ---- real.c ---- */
/* *slot := the next function of that name, unless it is known. False: there is none. */
bool rec_real(void *slot, const char *name);
void *rec_real_dlsym(void *handle, const char *name);

/* ---- hook.c ---- */
struct hooked {
	struct ibv_context *context;
	uint8_t index;              /* of its records, from 1 */
	struct ibv_context_ops ops; /* the real ones */
	struct ibv_cq_ex *(*create_cq_ex)(struct ibv_context *, struct ibv_cq_init_attr_ex *);
	struct ibv_qp *(*create_qp_ex)(struct ibv_context *, struct ibv_qp_init_attr_ex *);
	struct ibv_srq *(*create_srq_ex)(struct ibv_context *, struct ibv_srq_init_attr_ex *);
};
#define HOOKED_MAX 64
void rec_hook(struct ibv_context *context);                         /* replaces its operations unless that is done */
const struct hooked *rec_hooked(const struct ibv_context *context); /* NULL: it is not */
#define REC_FIRST 1u                                                /* the index of the first */
/* It is the first, and recorded without a rule, as nearly always. */
static inline bool rec_plainly(const struct ibv_context *context)
{
	return atomic_load_explicit(&rec_state.on, memory_order_acquire) == 1 && rec_state.rules == 0 &&
	       atomic_load_explicit(&rec_state.context, memory_order_acquire) == context;
}
uint8_t rec_context_index(const struct ibv_context *context); /* 0: it is not */

/* Short numbers for objects that have none of their own. */
uint32_t rec_cq_number(const struct ibv_cq *cq);

/* ---- data.c, wr.c, cq_ex.c ---- */
int rec_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int rec_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
int rec_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
int rec_poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc);
int rec_req_notify_cq(struct ibv_cq *cq, int solicited_only);
uint64_t rec_empty_polls(const struct ibv_cq *cq); /* those that this thread has not told, of a queue that goes */
void rec_put_empty_polls(uint64_t now, uint8_t ctx, const struct ibv_cq *cq); /* if there were any */
void rec_count_empty(const struct ibv_cq *cq);
void rec_wr_hook(struct ibv_qp_ex *qp);
struct ibv_qp_ex *rec_wr_unhook(struct ibv_qp *qp);
void rec_cq_ex_hook(struct ibv_cq_ex *cq);
struct ibv_cq_ex *rec_cq_ex_unhook(struct ibv_cq *cq);

/* ---- control.c, qp.c ---- */
struct ibv_cq_ex *rec_create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr);
struct ibv_qp *rec_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);
struct ibv_srq *rec_create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr);
void rec_created_qp(struct ibv_qp *qp, const struct ibv_qp_init_attr *attr, int error);
/* Calls that a recorded call makes inside are not recorded again. */
extern _Thread_local unsigned rec_depth __attribute__((tls_model("initial-exec")));

/* ---- inject.c ---- */
enum rec_verdict { INJECT_NOTHING, INJECT_CHANGE, INJECT_FAIL, INJECT_SKIP };
struct injection { /* what is to happen to one call */
	enum rec_verdict verdict;
	int error;      /* FAIL */
	uint64_t rules; /* CHANGE: bit for each rule that applies */
};
/* Asks the rules; kills or delays by itself. Records what it does. */
struct injection rec_inject(enum rec_call call, const struct ibv_context *context);
/* v, or what the rules make of it. */
uint64_t rec_inject_value(const struct injection *in, enum rec_field field, uint64_t v);
bool rec_inject_touches(const struct injection *in, enum rec_field field);
void rec_inject_read(void);

#endif
