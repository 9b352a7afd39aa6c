/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * verbs.h - the target `verbs`: a device behind libibverbs in this process, and a peer (peer.h).
 *
 *   verbs_lib.c      libibverbs, opened when it is needed; which device, which address
 *   verbs_peer.c     the peer of a device
 *   verbs_target.c   time, the wire, opening and closing for one run
 *   verbs_object.c   protection domains, memory, queues, address handles
 *   verbs_group.c    multicast groups of the host
 *   verbs_qp.c       queue pairs
 *   verbs_work.c     work requests, completions, events
 *   verbs_cm.h       connections, through librdmacm
 *   verbs_rig.c      what is beside the verbs: counters, faults, the port, limits
 *   verbs_fresh.c    vectors that want a device with other settings, in a process of their own
 *
 * The target `agent` (remote.h) is the same with the device on another host.
 *
 * A process has one device, opened once and used by run after run; all objects are fresh in each.
 */
#ifndef CONFORM_VERBS_H
#define CONFORM_VERBS_H

#include <infiniband/verbs.h>

#include "conform.h"
#include "drill/target.h"
#include "lag.h"
#include "peer.h"
#include "vs/rig.h"

/* Calls of libibverbs that are no inline functions: return type, name, arguments. */
#define VC_IBV_CALLS(X)                                                                                    \
	X(struct ibv_device **, get_device_list, (int *))                                                  \
	X(void, free_device_list, (struct ibv_device **))                                                  \
	X(const char *, get_device_name, (struct ibv_device *))                                            \
	X(struct ibv_context *, open_device, (struct ibv_device *))                                        \
	X(int, query_device, (struct ibv_context *, struct ibv_device_attr *))                             \
	X(int, query_port, (struct ibv_context *, uint8_t, struct _compat_ibv_port_attr *))                \
	X(int, query_gid, (struct ibv_context *, uint8_t, int, union ibv_gid *))                           \
	X(struct ibv_pd *, alloc_pd, (struct ibv_context *))                                               \
	X(int, dealloc_pd, (struct ibv_pd *))                                                              \
	X(struct ibv_mr *, reg_mr, (struct ibv_pd *, void *, size_t, int))                                 \
	X(int, rereg_mr, (struct ibv_mr *, int, struct ibv_pd *, void *, size_t, int))                     \
	X(int, dereg_mr, (struct ibv_mr *))                                                                \
	X(struct ibv_comp_channel *, create_comp_channel, (struct ibv_context *))                          \
	X(int, destroy_comp_channel, (struct ibv_comp_channel *))                                          \
	X(struct ibv_cq *, create_cq, (struct ibv_context *, int, void *, struct ibv_comp_channel *, int)) \
	X(int, resize_cq, (struct ibv_cq *, int))                                                          \
	X(int, destroy_cq, (struct ibv_cq *))                                                              \
	X(int, get_cq_event, (struct ibv_comp_channel *, struct ibv_cq **, void **))                       \
	X(void, ack_cq_events, (struct ibv_cq *, unsigned))                                                \
	X(struct ibv_srq *, create_srq, (struct ibv_pd *, struct ibv_srq_init_attr *))                     \
	X(int, modify_srq, (struct ibv_srq *, struct ibv_srq_attr *, int))                                 \
	X(int, query_srq, (struct ibv_srq *, struct ibv_srq_attr *))                                       \
	X(int, destroy_srq, (struct ibv_srq *))                                                            \
	X(struct ibv_qp *, create_qp, (struct ibv_pd *, struct ibv_qp_init_attr *))                        \
	X(int, modify_qp, (struct ibv_qp *, struct ibv_qp_attr *, int))                                    \
	X(int, query_qp, (struct ibv_qp *, struct ibv_qp_attr *, int, struct ibv_qp_init_attr *))          \
	X(int, destroy_qp, (struct ibv_qp *))                                                              \
	X(struct ibv_qp_ex *, qp_to_qp_ex, (struct ibv_qp *))                                              \
	X(struct ibv_ah *, create_ah, (struct ibv_pd *, struct ibv_ah_attr *))                             \
	X(int, destroy_ah, (struct ibv_ah *))                                                              \
	X(int, attach_mcast, (struct ibv_qp *, const union ibv_gid *, uint16_t))                           \
	X(int, detach_mcast, (struct ibv_qp *, const union ibv_gid *, uint16_t))                           \
	X(int, get_async_event, (struct ibv_context *, struct ibv_async_event *))                          \
	X(void, ack_async_event, (struct ibv_async_event *))

/* Which GID a device has for each encapsulation (enum dr_encap). */
struct vc_gids {
	bool has[VC_PEER_ENCAPS];
	uint8_t index[VC_PEER_ENCAPS];
	uint8_t gid[VC_PEER_ENCAPS][16]; /* ::ffff:a.b.c.d for IPv4 */
	bool silent[VC_PEER_ENCAPS];     /* nobody answers for it where the peer is */
	uint8_t mac[VC_PEER_ENCAPS][6];  /* zero: nobody's business */
};

/* libibverbs, and the device of this process. */
struct vc_verbs {
#define X(ret, name, args) ret(*name) args;
	struct {
		VC_IBV_CALLS(X)
	} call;
#undef X
	/* What ibv_query_gid_ex calls; NULL: this libibverbs is older. */
	int (*gid_ex)(struct ibv_context *, uint32_t, uint32_t, struct ibv_gid_entry *, uint32_t, size_t);
	const struct vs_rig *rig; /* ref0's; NULL: it has none */
	struct ibv_context *ctx;
	struct ibv_device_attr attr;
	struct vc_gids gids;
	struct vc_peer *peer; /* NULL: there is none */
	struct vc_link *link; /* to the agent that has the device (remote.h); NULL: it is in this process */
	bool reference;       /* it is ref0 */
	bool atomic_write;    /* it knows this request */
	bool cm;              /* behind an agent: so is librdmacm */
	bool failed;          /* the device said so */
	unsigned runs;
};

/*
 * Opens the device that `o` names, and the peer's socket. `why` says what is wrong, and what to do. Once in a process:
 * a second call gives the same.
 */
struct vc_verbs *vc_verbs_open(const struct vc_options *o, char *why, size_t cap);
/* In a process that has forked: what is open is its parent's. */
void vc_verbs_forget(void);
bool vc_verbs_tried(void);
/* An agent that was there does not answer any more. */
bool vc_agent_died(void);
/* The library of this host alone. */
bool vc_library_open(struct vc_verbs *v, char *why, size_t cap);
/* The device alone. With keep_address ref0 takes the address that its environment says. */
bool vc_device_open(struct vc_verbs *v, const char *name, bool keep_address, char *why, size_t cap);
/* Takes a GID of the device to the others, where it is the one to use with this peer (NULL: not known yet). */
void vc_gid_found(struct vc_gids *g, const struct vc_peer *peer, unsigned index, const uint8_t gid[16], bool v1);
/* Asks at which MAC addresses the device is. False: none of its GIDs is answered for. */
bool vc_gids_resolve(struct vc_gids *g, struct vc_peer *peer, char *why, size_t cap);
/* ::ffff:127.x.y.z, different for every process and every number. */
void vc_loopback(uint8_t gid[16], unsigned number);

/* That ref0 is to have beside the usual one; NULL: none. */
extern const char *vc_another_address;

/* ---- verbs_fresh.c ---- */

/* What a script wants of ref0 beyond the usual. */
struct vc_wish {
	char traits[256]; /* VS_DEVICE */
	uint32_t mtu;     /* of the port, in bytes; 0: the usual */
	bool ipv6, port;  /* the latter: the GID table or the link change */
	uint8_t src[16];  /* an address that is not the peer's, from which he sends; zeros: none */
};
/* NULL: the device is what the script wants. Otherwise why not; vc_fresh_wanted says whether a fresh one could be. */
const char *vc_wish_missing(const struct vc_verbs *v, const struct dr_setup *s, bool peer_is_chosen);
/* In a fresh process, before the device is opened. */
bool vc_wish_grant(const struct dr_setup *s, char *why, size_t cap);
bool vc_is_fresh(void);
const uint8_t *vc_fresh_ipv6(void);     /* the peer's address of IPv6; NULL: it has none */
const uint8_t *vc_foreign_source(void); /* that the peer is to have; NULL: none */
bool vc_fresh_wanted(void);             /* once */
json_t *vc_fresh_run(const struct vc_options *o, const struct vc_case *c, unsigned vector,
		     json_t *(*run)(const struct vc_options *, const struct vc_case *, unsigned));

/* ---- one run ---- */

/* Any object: what dr_target calls a handle. */
struct vh {
	struct vh *next;
	struct vc_target *of;
	enum obj_kind kind;
	int node; /* whose: several nodes of a script may live on one device */
	union {
		struct ibv_pd *pd;
		struct ibv_mr *mr;
		struct ibv_mw *mw;
		struct ibv_cq *cq;
		struct ibv_srq *srq;
		struct ibv_qp *qp;
		struct ibv_ah *ah;
		struct ibv_comp_channel *channel;
		void *any;
	};
	struct vh *channel_of; /* O_CQ */
	uint8_t *bytes;        /* O_MR */
	uint32_t rkey;         /* O_MW: the newest that was asked for */
	unsigned users;        /* O_CHANNEL */
	uint32_t sq_psn;
	/* O_QP: attached to, and the sockets that have joined it in the IP layer; -1: none */
	struct {
		union ibv_gid gid;
		int fd;
	} group[4];
	unsigned groups;
};

/* An event that has come, and whose node has not asked for it yet. */
struct vc_waiting {
	int node;
	struct vh *cq; /* a completion event; NULL: `async` */
	struct vs_async async;
};
#define VC_WAITING 64u
#define VC_JOINED 8u

#define VC_NO_CM "there is no librdmacm for this device here, and connections are its matter"

struct vc_target {
	struct dr_target t; /* first */
	struct dr_target_ops ops;
	struct vc_verbs *v;
	struct dr_setup setup;
	struct vh *handles; /* newest first */
	struct vh *pd;      /* the usual one */
	struct vh *channel; /* of queues that name none */
	struct vc_lag lag;  /* of who looks at the wire, and of the threads of a device in here */
	uint64_t heard_ns;  /* when something came */
	uint64_t posted_ns; /* when the device was given work last; 0: it has been heard since */
	unsigned heard;
	uint64_t pkt_id;
	uint8_t joined[VC_JOINED][16]; /* groups that the peer's socket is in */
	unsigned n_joined;
	int groups_fd; /* a lock; -1: none */
	struct vc_waiting waiting[VC_WAITING];
	unsigned n_waiting;
	struct vc_remote *remote;       /* of the target `agent` */
	uint64_t counter[VS_CNT_COUNT]; /* when the run began */
	bool has_counter[VS_CNT_COUNT];
	bool faults;
	struct vc_cm *cm; /* verbs_cm.h; NULL: the script makes no connections */
	char lacks[128], gone[768];
};

static inline struct vc_target *vc_self(struct dr_target *t)
{
	return (struct vc_target *)(void *)t;
}

/* dr_open_fn; ctx is a const struct vc_options. */
struct dr_target *vc_target_open(void *ctx, const struct dr_setup *s, char *why, size_t cap, bool *skip);
void vc_object_ops(struct dr_target_ops *ops);
void vc_qp_ops(struct dr_target_ops *ops);
void vc_work_ops(struct dr_target_ops *ops);
void vc_rig_ops(struct dr_target_ops *ops);
int vc_async(struct dr_target *dt, int node, struct vs_async *a);
void vc_qp_attr_of(struct vs_qp_attr *s, const struct ibv_qp_attr *a);
void vc_counters_begin(struct vc_target *t);
uint32_t vc_active_mtu(const struct vc_verbs *v);

struct vh *vc_handle(struct vc_target *t, enum obj_kind kind, int node,
		     void *object); /* NULL: no memory, or object is NULL */
/* The handle of an object of libibverbs; NULL: it is none of this run. */
struct vh *vc_handle_of(struct vc_target *t, enum obj_kind kind, const void *object);
/* Destroys what is left, in an order in which that can be done. */
void vc_handles_free(struct vc_target *t);
/* Why device and peer can't talk in this encapsulation; NULL: they can. */
const char *vc_no_way(const struct vc_verbs *v, int encap, bool to_peer);
/* The peer hears what goes to groups that somebody sends to; and no more. */
void vc_group_heard(struct vc_target *t, const uint8_t gid[16]);
void vc_groups_left(struct vc_target *t);
/* Joins a group on the interface of the device, until the socket that comes back is closed. -1: it has none, or it
 * can't be joined. */
int vc_ip_join(struct vc_verbs *v, const uint8_t mgid[16]);
int vc_error(int code); /* an errno value as a vs_err */
/* Says what the target can't do: the run ends as a SKIP. VS_ERR_INVAL. */
int vc_lacks(struct vc_target *t, const char *what);
void vc_emit(struct vc_target *t, struct vs_event *ev); /* time and node are filled in */
uint64_t
vc_on_our_clock(uint64_t real_ns); /* what CLOCK_REALTIME says, on the clock of the run; never later than now */
void vc_packet_event(struct vs_event *ev, const struct vs_pkt *p); /* what it says of the packet */
const char *vc_dut_name(const struct vc_target *t);                /* of the first node that is no peer */

#endif
