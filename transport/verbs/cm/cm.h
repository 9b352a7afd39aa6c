/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * cm.h - the inside of our librdmacm.so.1: IP addresses, ports, events and QPs in front of the connection manager of
 * the process's engine (vs/conn.h), which sends the messages of RDMA-CM (Annex A11) from QP 1.
 *
 *   id.c       ids: making, destroying, finding; what a process that ends leaves behind
 *   event.c    event channels; from the engine's events to rdma_get_cm_event
 *   addr.c     binding, resolving, ports, options
 *   connect.c  listen, connect, accept, reject, disconnect; the private data of RDMA-CM
 *   qp.c       QPs, CQs and SRQs that belong to an id, and the way of a QP to RTS
 *   ep.c       the short way: endpoints and requests, on ids without a channel
 *   mcast.c    multicast groups
 *   info.c     rdma_getaddrinfo, names
 *   host.c     what a kernel does for all processes of a host: who listens, who is gone
 *
 * One lock, the engine's (cm_enter, cm_leave). What the engine tells arrives with that lock held and only becomes an
 * event in a queue; QPs are moved by the thread that takes it from there, as in the librdmacm that this stands for.
 */
#ifndef VS_VERBS_CM_H
#define VS_VERBS_CM_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(default)
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#pragma GCC visibility pop

#include "verbs/cm_link.h"
#include "vs/cm.h"

/* As Linux: drivers/infiniband/core/cma.c. */
#define CM_RESPONSE_TIMEOUT 20 /* code: 4.3 s */
#define CM_MAX_RETRIES 15
#define CM_ACK_TIMEOUT 17  /* code: 0.5 s, for a packet lifetime of 16 on RoCE */
#define CM_MIN_RNR_TIMER 0 /* code: 655 ms */
#define CM_BACKLOG 1024

#define CM_REQ_PRIVATE (92 - VS_RDMACM_HDR_LEN) /* what is left for the program */
#define CM_SIDR_PRIVATE (216 - VS_RDMACM_HDR_LEN)
#define CM_REP_PRIVATE 196
#define CM_REJ_PRIVATE 148
#define CM_SIDR_REP_PRIVATE 136

#define CM_NAMES 4
#define CM_DEVICES 2 /* on the simulated wire */
struct cm_device {
	struct ibv_context *context;
	struct ibv_pd *pd; /* for ids without one of their own */
	struct vs_dev *vs;
};

struct cm_id;

struct cm_event {
	struct rdma_cm_event event; /* first */
	struct cm_event *next;
	struct cm_id *owner; /* whose count it is in: the listener's for requests */
	struct cm_mcast *group;
	uint8_t data[220];
};

struct cm_channel {
	struct rdma_event_channel channel; /* first; an eventfd that counts */
	struct cm_event *head, **tail;
};

/* Who is at the other end, for as long as it is watched. */
struct cm_peer {
	uint8_t gid[16];
	uint64_t cookie; /* of its socket; 0: not seen yet */
	unsigned looks;  /* that did not find it, one after the other */
};

/* The last answer of the kernel: connections to one peer often follow each other. */
struct cm_answer {
	uint8_t gid[16];
	bool valid;
	int presence; /* host.c */
	uint64_t cookie;
};

/* All who listen on one service id share the engine's listeners, one a device: they differ in their addresses. */
struct cm_service {
	struct vs_listener *vs[CM_DEVICES];
	uint64_t service_id;
	unsigned users;
	int name[CM_NAMES]; /* by which other processes find it, one an address; -1: none */
	struct cm_service *next;
};

struct cm_mcast {
	struct cm_mcast *next;
	struct sockaddr_storage addr;
	void *context;
	union ibv_gid mgid;
	bool send_only, attached;
};

#define CM_REQUEST_DATA 220
struct cm_id {
	struct rdma_cm_id id; /* first */
	struct cm_id *next;
	struct cm_device *dev; /* NULL: bound to none */
	bool sync;             /* made without a channel: calls wait for their event */
	bool active;           /* we connect */
	bool resolved, rejected;
	bool to_this_host; /* the destination was the loopback address */
	bool reuse, v6_only;
	uint8_t tos, ack_timeout, sgid_index;
	struct vs_conn *conn;
	struct cm_peer watched;       /* the peer of `conn` */
	struct vs_conn_param request; /* what a REQ of ours said: it may go out again (host.c) */
	uint8_t request_data[CM_REQUEST_DATA];
	uint8_t knocks;             /* that are left */
	bool knock;                 /* nobody listened, and it goes out again soon */
	struct cm_service *service; /* listening */
	int backlog;
	unsigned pending;          /* requests in the queue */
	struct vs_conn_param peer; /* of a request: what the peer said */
	uint8_t responder_resources, initiator_depth;
	uint32_t psn;
	uint32_t qpn;  /* of whoever brings its own QP */
	uint32_t qkey; /* UD */
	unsigned events_taken, events_acked;
	struct ibv_qp_init_attr *qp_init_attr; /* of a listening endpoint, for the requests */
	struct cm_mcast *groups;
};

struct cm {
	const struct ref_cm_link *link; /* NULL: not started */
	struct cm_device device[CM_DEVICES];
	int n_devices;
	struct cm_id *ids;
	struct cm_service *services;
	int listening; /* a memfd while anybody listens, by which vs-run --pair knows; -1 */
};
extern struct cm cm;

static inline struct cm_id *cm_id(struct rdma_cm_id *id)
{
	return (struct cm_id *)id;
}
static inline struct cm_channel *cm_channel(struct rdma_event_channel *ch)
{
	return (struct cm_channel *)ch;
}
static inline const struct vs_dev_attr *cm_dev_attr(const struct cm_device *dev)
{
	return cm.link->dev_attr(dev->vs);
}
static inline bool cm_is_ud(const struct cm_id *id)
{
	return id->id.qp_type == IBV_QPT_UD;
}

/* ---- id.c ---- */
int cm_start(void);     /* opens the device once; 0 or -1 with errno */
bool cm_enter(void);    /* false with errno */
void cm_leave(void);    /* keeps errno */
int cm_fail(int error); /* 0 -> 0; else errno := error, -1 */
struct cm_id *cm_id_new(struct rdma_event_channel *channel, void *context, enum rdma_port_space ps,
			enum ibv_qp_type type);
void cm_id_link(struct cm_id *id); /* inside */
/* Inside: lets its connection, its place in the lists and its queued events go. */
void cm_id_unlink(struct cm_id *id);
/* Inside: the peer has answered the DREQ of a connection whose id is gone. */
void cm_parted(struct vs_conn *c);
/* Inside: the connections of processes' last words, for cm_host_look; false: there are none. */
bool cm_partings_look(struct cm_answer *a);
/* A new id on an own channel when `channel` is NULL. */
int cm_id_create(struct rdma_event_channel *channel, struct rdma_cm_id **out, void *context, enum rdma_port_space ps,
		 enum ibv_qp_type type);

/* ---- event.c ---- */
void cm_deliver(void); /* inside: called by the engine's owner */
struct cm_event *cm_event_new(struct cm_id *id, enum rdma_cm_event_type type, int status); /* NULL: no memory */
void cm_event_push(struct cm_event *e); /* inside: to its owner's channel */
/* Inside: takes the events of `id` out of its channel's queue, to `to` or into nothing. */
void cm_events_move(struct cm_id *id, struct cm_channel *to);
/* An event of our own making; then the answer of the call: of a synchronous id, once the event is there. */
int cm_tell(struct cm_id *id, enum rdma_cm_event_type type, int status);
/* Of a synchronous id: waits for the event that ends the call. */
int cm_complete(struct cm_id *id);

/* ---- addr.c ---- */
struct sockaddr *cm_src(struct cm_id *id);
struct sockaddr *cm_dst(struct cm_id *id);
socklen_t cm_addr_len(const struct sockaddr *a); /* 0: a family that we don't know */
uint16_t cm_port(const struct sockaddr *a);      /* host order */
bool cm_is_any(const struct sockaddr *a);
void cm_gid_of(uint8_t gid[16], const struct sockaddr *a);
void cm_addr_of(struct sockaddr_storage *a, const uint8_t gid[16], uint16_t port);
uint64_t cm_service_id(const struct cm_id *id, const struct sockaddr *a);
/* Inside: gives the id what belongs to its device (id->dev) and its addresses. */
void cm_acquire(struct cm_id *id);
/*
 * Inside: whom the loopback address leads to: the process that listens on that port, when it is resolved and, if that
 * was too early, when it is connected.
 */
void cm_find_listener(struct cm_id *id);
/* Inside: the path to the peer. */
void cm_path(const struct cm_id *id, struct vs_av *av);
int cm_bind_any(struct cm_id *id, sa_family_t family);

bool cm_is_v4(const uint8_t gid[16]);  /* ::ffff:a.b.c.d */
bool cm_is_own(const uint8_t gid[16]); /* inside: one of the device */

/* ---- host.c: inside, unless something else is said ---- */
/* Lets other processes of the host know who listens; a descriptor to close when that ends, or -1. */
int cm_host_listen(uint64_t service_id, const uint8_t gid[16]);
/* The address of a process that listens, `gid` itself if that does. False: nobody. */
bool cm_host_find(uint64_t service_id, uint8_t gid[16]);
bool cm_host_has(const struct sockaddr *dst); /* outside: the address is one of this host, on the real wire */
/*
 * Outside: waits for somebody, any or at this address, to listen there; at most a second, and not again and again.
 * False: nobody does.
 */
bool cm_host_await(uint64_t service_id, const struct sockaddr *dst, bool any);
/* A REQ was refused because nobody listens: true when it goes out again soon, and the program hears nothing yet. */
bool cm_host_knocks(struct cm_id *id);
void cm_host_may_knock(struct cm_id *id, bool hope); /* whether it may do that, from now on */
/* From now on the peer of a connection is looked for. */
void cm_host_watch(struct cm_peer *peer, const uint8_t gid[16]);
void cm_host_look(struct vs_conn *c, struct cm_peer *peer, struct cm_answer *a);
void cm_host_stop(void);   /* outside */
void cm_host_forget(void); /* in a child, which has no threads */

/* ---- connect.c ---- */
/* Inside: the id for whom this request is, NULL when nobody listens there; *id's addresses are in `h`. */
struct cm_id *cm_listener_for(const struct cm_service *s, const struct vs_rdmacm_hdr *h);
void cm_unlisten(struct cm_id *id); /* inside */
void cm_forget_names(struct cm_service *s);

/* ---- qp.c ---- */
int cm_qp_to_rtr(struct cm_id *id, int responder_resources); /* -1: what was negotiated */
int cm_qp_to_rts(struct cm_id *id, int initiator_depth);
int cm_qp_to_err(struct cm_id *id);
void cm_destroy_cqs(struct rdma_cm_id *id);

/* ---- mcast.c ---- */
int cm_mcast_joined(struct cm_event *e);
void cm_mcast_leave_all(struct cm_id *id);

#endif
