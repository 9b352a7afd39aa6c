/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * ref.h - the inside of the verbs device ref0: a libibverbs.so.1 that any verbs program runs on.
 *
 *   engine.c      one engine and one progress thread per process; the lock; fork
 *   virtual.c     the simulated wire's time: who moves it, and how threads wait in it;  fds.c: for which descriptors
 *   config.c      settings, which vs-run hands over in the environment;  traits.c: what kind of device it is
 *   wire.h        what the engine's packets travel on;  wire_udp.c: UDP sockets;  impair.c: faults on the way;
 *                 wire_sim.c: two devices on the simulated wire;  trace.c: their events in a file
 *   explain.c     reasons in words on stderr; error numbers
 *   counters.c    counters on stderr or into a file at the end
 *   device.c      list, open, close, query
 *   context.c     the tables of operations that the inline functions of verbs.h call
 *   gid.c         ports, GIDs, P_Keys;  identity.h: what follows from an address
 *   pd_mr.c mw.c ah.c cq.c cq_ex.c srq.c qp.c post.c wr.c    one file per kind of object
 *   import.c      objects used through another context of the process
 *   event.c       completion channels and async events, as real descriptors
 *   names.c       ibv_*_str, rates
 *   cm_link.c     the door for librdmacm.so.1, which is in cm/
 *   rig.c         the door for who looks after the device from outside: counters, faults, GIDs, the link (vs/rig.h)
 *   dma.c         the application's memory, as devices read and write it; who wants to know is told
 *   clock_link.h  the door for libvs-clock.so, which is in clock/: poll(2) and its like in virtual time
 *   compat.c      what librdmacm and tools use beside the verbs
 *   gen-symbols.sh  the symbol versions of the installed library, stubs for what nobody but its providers calls
 *
 * Every object wraps one of the engine's; the engine's cookie points back to it. One lock: a verb enters, calls the
 * engine, and leaves, which sends what is to be sent and hands events to their descriptors.
 */
#ifndef VS_VERBS_REF_H
#define VS_VERBS_REF_H

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The library exports exactly what verbs.h declares (and the version script lists). */
#pragma GCC visibility push(default)
#include <infiniband/verbs.h>
#pragma GCC visibility pop

#include "verbs/wire.h"
#include "vs/dev.h"
#include "vs/fault.h"
#include "vs/qp.h"

#define REF_NAME "ref0"
#define REF_DEVICES 2 /* on the simulated wire; one on sockets */

/* ---- settings ---- */
/* What the device is made of; 0: the usual. */
struct ref_traits {
	bool cc, e2e_credits, privileged_qkey;
	uint32_t ack_every, window, max_rd_atomic, first_msn;
	uint16_t pkeys[VS_PKEY_TABLE_LEN];
};
int ref_traits_read(struct ref_traits *t, const char *text); /* 0, or EINVAL after a line on stderr */
void ref_traits_apply(const struct ref_traits *t, struct vs_dev_attr *a);

#define REF_FAULTS 16
struct ref_config {
	uint8_t addr[4][16];
	unsigned n_addrs; /* 0: the first free 127.0.0.N */
	bool may_move;    /* when the address is taken, too */
	enum vs_mtu mtu;
	struct ref_traits traits;
	uint64_t seed;
	uint64_t deviations[REF_DEVICES];
	bool sim, no_gso, explain, counters, quiet;
	bool trace_memory;   /* the trace has the bytes of memory regions, too */
	const char *capture; /* NULL: none */
	uint32_t snaplen;    /* bytes of each packet in it, on sockets; 0: all */
	const char *trace;   /* NULL: none */
	const char *node;    /* this side's name in events, on sockets; NULL: its address */
	char *fault_text;    /* the rules, cut into fault[] */
	const char *fault[REF_FAULTS];
	unsigned n_faults;
};
/* 0, or an errno after a line on stderr that says which setting is wrong. */
int ref_config_read(struct ref_config *c);
bool ref_config_sim(void); /* known before anything else is read */

/* ---- the engine of this process ---- */
struct ref {
	pthread_mutex_t lock;
	struct vs_dev *dev[REF_DEVICES]; /* dev[0] NULL: not started */
	unsigned n_devs;
	struct ref_wire *wire;
	bool stepped;       /* the last look at the simulated wire has moved its clock to something */
	struct vs_sim *sim; /* the simulated wire: time is virtual (virtual.c); NULL: it is real */
	struct ref_config config;
	bool forked; /* this is the child of a process that had an engine, and has none of its own yet */
	bool is_child;
	pthread_t thread;
	bool has_thread, stopping;
	bool link_down;                    /* rig.c */
	int kick;                          /* eventfd that wakes the thread */
	unsigned polls;                    /* times that the application has looked for packets itself */
	uint32_t held;                     /* polls that have left what is to be sent to a later call */
	atomic_bool ticking;               /* the thread leaves the socket to the application */
	uint64_t received_at;              /* when packets were last taken from the wire */
	uint64_t wake_at;                  /* when the thread wakes at the latest */
	enum ref_sent output;              /* what the wire said last */
	uint32_t deferred, deferred_bytes; /* posted and not yet sent: post.c */
	struct ref_context *contexts;      /* all that are open */
	struct ref_pd *pds;                /* all that own one of the engine's; by them and by mrs, imports are found */
	struct ref_mr *mrs;
	void (*deliver_conn)(void); /* librdmacm's, or NULL: takes the events of connections, inside */
	uint32_t last_handle;
};
extern struct ref ref;

uint64_t ref_real_now(void); /* CLOCK_MONOTONIC, ns */
uint64_t ref_now(void);      /* the engine's time. Inside */
/* A time of the engine as nanoseconds since 1970. */
uint64_t ref_wall(uint64_t time_ns);
int ref_start(void); /* starts the engine unless it runs; 0 or errno */
/* Enters the engine. False with errno: there is none (any more), and nothing is locked. */
bool ref_enter(void);
/* The same without asking for the time: where no timer is started before the wire does it. */
struct vs_dma_ops ref_dma(void); /* dma.c */
bool ref_enter_fast(void);
/* Sends what is to be sent, hands events over, leaves; errno is kept. */
void ref_leave(void);
/* Leaves after posting `bytes` bytes on `qp`: small requests may wait for company. */
void ref_leave_post(const struct vs_qp *qp, uint32_t posts, uint64_t bytes);
/* Leaves without sending: for calls that make nothing to send. */
void ref_leave_quiet(void);
/* Inside: sends what is to be sent. */
void ref_send(void);
/* Inside, for the application: receives, runs timers; ref_leave_poll sends. True: something came. */
bool ref_poll_wire(void);
/*
 * Leaves after a poll with `got` completions. Who has got one is likely to answer it: what is to be sent (mostly
 * acknowledges) goes with the answer, with the next empty poll or other verb, or when the thread has ticked.
 */
void ref_leave_poll(int got);
/* Wakes the thread so that it waits for packets again. */
void ref_kick(void);

/* The errno of a negative vs_err (0 of 0), after saying why on stderr when that is asked for. Inside. */
int ref_error(const struct vs_dev *dev, const char *verb, int err);
/* errno := ref_error(...); returns NULL */
void *ref_refuse(const struct vs_dev *dev, const char *verb, int err);
/* EINVAL: objects of two devices do not go together. Says so when that is asked for. */
int ref_mixed(const char *verb);
/* Says why a completion failed, when that is asked for. */
void ref_explain_wc(const struct vs_dev *dev, const struct vs_wc *wc);
void ref_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* What failed, the errno in words, and what to do. */
void ref_say_errno(const char *what, int error);
void ref_counters_print(void);

/* ---- a queue of events behind a descriptor ---- */
#define REF_EVENT_COMPLETION ((enum ibv_event_type)0xff) /* of a completion channel */
struct ref_event {
	void *object;
	enum ibv_event_type type;
};
struct ref_events {
	int fd; /* an eventfd that counts one down with every read */
	struct ref_event *event;
	unsigned n, cap;
};
int ref_events_init(struct ref_events *q);
void ref_events_fini(struct ref_events *q);
void ref_events_push(struct ref_events *q, void *object, enum ibv_event_type type);
/* Takes the oldest, waiting as the descriptor is told to; -1 with errno. Outside the engine. */
int ref_events_take(struct ref_events *q, struct ref_event *e);
void ref_events_forget(struct ref_events *q, const void *object);
void ref_deliver_events(void); /* inside: from the engine to the descriptors */

/* ---- virtual time (virtual.c): with ref.sim alone ---- */
struct pollfd;
#define REF_SIM_EPOCH_NS UINT64_C(1767225600000000000) /* 2026-01-01 00:00 UTC is 0 of the virtual clock */
void *ref_virtual_watch(void *arg);                    /* the thread that looks after a clock which nobody moves */
/* Inside, an empty completion queue or whatever else looks for news: one step of the clock. True: something happened.
 */
bool ref_virtual_look(void);
/* Inside: what can leave a device at this very instant leaves it. */
void ref_virtual_settle(void);
/* Inside, before leaving: whoever waits hears that something was done. */
void ref_virtual_tell(void);
/* Inside: a descriptor has become readable. */
void ref_virtual_signal(void);
/* As ppoll(2), in virtual time; timeout_ns < 0: for ever. Outside. */
int ref_virtual_poll(struct pollfd *fds, unsigned long n, int64_t timeout_ns, const void *sigmask);
/* Until `fd` is readable, or one look if it is non-blocking: 0, or -1 with errno. Outside. */
int ref_virtual_wait(int fd);
/* Lets `ns` of virtual time go by. Outside. */
void ref_virtual_sleep(uint64_t ns);
/* fds.c: descriptors that become readable by what happens on the simulated wire. */
void ref_fd_add(int fd);
void ref_fd_remove(int fd);
bool ref_fd_is_ours(int fd);
void ref_fd_own(int fd, bool on);
/* Calls of this thread that go to the kernel as they are, because it is inside or waits by itself, are counted up. */
extern _Thread_local unsigned ref_plain;

/* ---- the events of the devices in a file (trace.c) ---- */
struct ref_trace;
/* `node`: this side's name, on sockets. NULL after a line on stderr. */
struct ref_trace *ref_trace_open(const struct ref_config *c, const char *node, int *err);
struct vs_event_sink ref_trace_sink(struct ref_trace *t);
/* The bytes of a region that is about to go, if the trace is to have them; what a device has counted. Inside. */
void ref_trace_memory(const struct vs_dev *dev, uint32_t lkey, const void *addr, size_t len);
void ref_trace_counters(const struct vs_dev *dev);
/* `wanted`: the file takes its place; otherwise it goes, unless this is a child and it the parent's. NULL is fine. */
void ref_trace_close(struct ref_trace *t, bool wanted);

/* ---- objects ---- */
struct ref_context {
	struct ref_context *next;
	struct ref_events async;
	struct vs_dev *dev;
	unsigned objects;       /* CQs, SRQs and QPs, which know it: it stays when it is closed and some are left */
	struct verbs_context v; /* must be last: its last member is the ibv_context */
};

struct ref_pd {
	struct ibv_pd pd;
	struct vs_pd *vs;
	struct vs_dev *dev;
	struct ref_pd *parent; /* a parent domain, or an import, shares the engine's PD of this one */
	unsigned children;
	struct ref_pd *next;
};

struct ref_mr {
	struct ibv_mr mr;
	struct vs_mr *vs;
	struct vs_dev *dev;
	struct ref_mr *next;
};

struct ref_mw {
	struct ibv_mw mw;
	struct vs_mw *vs;
	struct vs_dev *dev;
};

struct ref_ah {
	struct ibv_ah ah;
	struct vs_ah *vs;
	struct vs_dev *dev;
};

struct ref_channel {
	struct ibv_comp_channel channel;
	struct ref_events events;
};

struct ref_cq {
	struct ibv_cq_ex ex; /* begins as an ibv_cq does */
	struct vs_cq *vs;
	struct vs_wc wc;                    /* of start_poll and next_poll */
	uint32_t comp_events, async_events; /* handed to the application */
};

struct ref_srq {
	struct ibv_srq srq;
	struct vs_srq *vs;
	uint32_t async_events;
	uint32_t number;
};

#define REF_SGES 32
struct ref_batch; /* work requests of the ibv_wr_* interface, not yet posted (wr.c) */
struct ref_qp {
	union {
		struct ibv_qp qp;
		struct ibv_qp_ex ex;
	};
	struct vs_qp *vs;
	uint32_t async_events;
	bool is_ex; /* made with SEND_OPS_FLAGS */
	uint64_t send_ops;
	struct ref_batch *batch;
	uint8_t (*groups)[16]; /* multicast GIDs that it is attached to */
	unsigned n_groups;
};

static inline struct ref_context *ref_context(struct ibv_context *c)
{
	return (struct ref_context *)(void *)((char *)c - offsetof(struct ref_context, v.context));
}
static inline struct ref_pd *ref_pd(struct ibv_pd *pd)
{
	return (struct ref_pd *)pd;
}
static inline struct ref_mr *ref_mr(struct ibv_mr *mr)
{
	return (struct ref_mr *)mr;
}
static inline struct ref_mw *ref_mw(struct ibv_mw *mw)
{
	return (struct ref_mw *)mw;
}
static inline struct ref_ah *ref_ah(struct ibv_ah *ah)
{
	return (struct ref_ah *)ah;
}
static inline struct ref_cq *ref_cq(struct ibv_cq *cq)
{
	return (struct ref_cq *)(void *)cq;
}
static inline struct ref_srq *ref_srq(struct ibv_srq *srq)
{
	return (struct ref_srq *)srq;
}
static inline struct ref_qp *ref_qp(struct ibv_qp *qp)
{
	return (struct ref_qp *)(void *)qp;
}

/* The engine's device of a context, which is open or has objects left. */
static inline struct vs_dev *ref_dev(struct ibv_context *c)
{
	return ref_context(c)->dev;
}
static inline struct vs_dev *ref_qp_dev(const struct ibv_qp *qp)
{
	return ref_dev(qp->context);
}

/* context.c */
void ref_context_ops(struct verbs_context *v);
void ref_context_dead(struct verbs_context *v); /* posting and polling fail with EIO */
/* gid.c */
int ref_query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr, size_t size);
/* device.c */
int ref_query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
			struct ibv_device_attr_ex *attr, size_t size);
struct ibv_context *ref_open_context(struct ibv_device *device, int cmd_fd);
int ref_query_rt_values(struct ibv_context *context, struct ibv_values_ex *values);
/* pd_mr.c */
struct ibv_pd *ref_alloc_parent_domain(struct ibv_context *context, struct ibv_parent_domain_init_attr *attr);
struct ibv_td *ref_alloc_td(struct ibv_context *context, struct ibv_td_init_attr *attr);
int ref_dealloc_td(struct ibv_td *td);
/* mw.c */
struct ibv_mw *ref_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
int ref_dealloc_mw(struct ibv_mw *mw);
/* 0, or EINVAL: window or region belong to another device than the QP. */
int ref_fill_bind(const struct ibv_qp *qp, struct vs_send_wr *wr, struct ibv_mw *mw, uint32_t rkey,
		  const struct ibv_mw_bind_info *info);
int ref_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind);
/* cq.c */
struct ref_cq *ref_cq_new(struct ibv_context *context, uint32_t cqe, void *cq_context,
			  struct ibv_comp_channel *channel);
/* At most n completions, making progress when there is none; or a negative vs_err. Inside. */
int ref_cq_take(struct ref_cq *cq, struct vs_wc *wc, int n);
int ref_poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *out);
int ref_req_notify_cq(struct ibv_cq *cq, int solicited_only);
/* cq_ex.c */
struct ibv_cq_ex *ref_create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr);
/* srq.c */
struct ibv_srq *ref_create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr);
int ref_get_srq_num(struct ibv_srq *srq, uint32_t *number);
int ref_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
/* qp.c */
struct ibv_qp *ref_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);
/* ah.c */
void ref_av(struct vs_av *av, const struct ibv_ah_attr *attr);
void ref_ah_attr(struct ibv_ah_attr *attr, const struct vs_av *av);
/* post.c */
int ref_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int ref_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
/* wr.c */
int ref_wr_init(struct ref_qp *qp, uint64_t send_ops);
void ref_wr_fini(struct ref_qp *qp);

#endif
