/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * target.h - where the device under test lives, as the runner sees it.
 *
 * The runner makes verbs calls, puts frames of the script's peer on the wire, lets time pass, and hears what
 * happened. Nodes are numbered as in the script. Handles (void *) are the target's own; calls return 0 or a
 * negative vs_err, and `reason` then says why. Memory is read and written at `bytes`: a remote target keeps a
 * copy there, which mr_read brings up to date.
 */
#ifndef VS_DRILL_TARGET_H
#define VS_DRILL_TARGET_H

#include "drill_int.h"
#include "vs/conn.h"

struct dr_target;

struct dr_memory {
	void *h;
	uint8_t *bytes;
	uint64_t addr;
	uint32_t lkey, rkey, len;
};

/* What the target tells while time passes. */
struct dr_ears {
	void (*frame)(void *ctx, uint64_t now_ns, enum vs_link link, const uint8_t *frame,
		      size_t len); /* to the peer */
	void (*sent)(void *ctx, int node, uint64_t now_ns, enum vs_link link, const uint8_t *frame,
		     size_t len); /* by an engine, whatever becomes of it */
	void *ctx;
};

struct dr_node_opt {
	uint32_t ack_every, window, max_rd_atomic, msn;
	bool e2e_credits, cc, privileged_qkey;
	uint32_t mtu;              /* of the port, in bytes; 0: 4096 */
	uint16_t pkeys[MAX_PKEYS]; /* [0] 0: the usual table */
};
enum dr_limit {
	DR_MAX_QP,
	DR_MAX_CQ,
	DR_MAX_MR,
	DR_MAX_MW,
	DR_MAX_SRQ,
	DR_MAX_AH,
	DR_MAX_PD,
	DR_MAX_QP_WR,
	DR_MAX_SRQ_WR,
	DR_MAX_CQE,
	DR_MAX_SGE,
	DR_MAX_INLINE,
	DR_MAX_RD_ATOMIC,
	DR_MAX_MTU /* the active one of the port, in bytes */
};
struct dr_setup {
	const struct vs_drill *d;
	const struct program *p;
	const struct vs_drill_env *env;
	unsigned vector;
	int encap; /* enum dr_encap */
	struct dr_node_opt node[MAX_NODES];
	uint64_t latency_ns, rate_bps;
	uint32_t queue_bytes, ecn_bytes, pause_bytes;
	struct dr_ears ears;
};

struct dr_target_ops {
	void (*destroy)(struct dr_target *t);
	/* time */
	uint64_t (*now)(struct dr_target *t);
	bool (*step)(struct dr_target *t,
		     uint64_t until_ns);   /* false: it is until_ns, and everything up to it is done */
	bool (*idle)(struct dr_target *t); /* nothing will happen by itself */
	/* How long runner or device could not do what they would have done; NULL: that does not happen here */
	uint64_t (*lag_ns)(struct dr_target *t);
	/* the wire */
	int (*send)(struct dr_target *t, const uint8_t *frame, size_t len);
	int (*fault)(struct dr_target *t, const char *rule); /* NULL: none any more */
	const char *(*idle_fault)(struct dr_target *t);      /* name of a rule in force that never acted; NULL: none */
	/* Something was done that no line of the script claims; NULL: only the script does anything. */
	bool (*unclaimed)(struct dr_target *t, char *why, size_t cap);
	int (*av)(struct dr_target *t, int node, int encap, struct vs_av *av); /* the way to it; encap -1: the usual */
	void (*mark)(struct dr_target *t, const char *text);
	/* the device and its port */
	uint32_t (*limit)(struct dr_target *t, int node, enum dr_limit what);
	int (*set_gid)(struct dr_target *t, int node, unsigned index, const uint8_t gid[16], int encap);
	int (*set_port)(struct dr_target *t, int node, bool up);
	/* objects; `pd` NULL: the usual one of the node */
	int (*pd_create)(struct dr_target *t, int node, void **h);
	int (*channel_create)(struct dr_target *t, int node, void **h);
	int (*cq_create)(struct dr_target *t, int node, uint32_t cqe, void *channel, void **h);
	int (*cq_resize)(struct dr_target *t, void *cq, uint32_t cqe);
	uint32_t (*cq_capacity)(struct dr_target *t, void *cq);
	int (*srq_create)(struct dr_target *t, int node, void *pd, const struct vs_srq_attr *attr, void **h);
	int (*srq_modify)(struct dr_target *t, void *srq, const struct vs_srq_attr *attr, unsigned mask);
	void (*srq_query)(struct dr_target *t, void *srq, struct vs_srq_attr *attr);
	int (*mr_reg)(struct dr_target *t, int node, void *pd, uint32_t access, struct dr_memory *m); /* len is set */
	/* VS_REREG_*; with TRANSLATION the region is bytes [from, to) of what it was */
	int (*mr_rereg)(struct dr_target *t, struct dr_memory *m, unsigned flags, void *pd, uint32_t access,
			uint32_t from, uint32_t to);
	bool (*mr_known)(struct dr_target *t, struct dr_memory *m);   /* are its bytes known? NULL: always */
	void (*mr_written)(struct dr_target *t, struct dr_memory *m); /* the script changed `bytes` */
	void (*mr_read)(struct dr_target *t,
			struct dr_memory *m); /* it looks at them; NULL: they are the device's own */
	int (*mw_alloc)(struct dr_target *t, int node, void *pd, enum vs_mw_type type, void **h);
	uint32_t (*mw_rkey)(struct dr_target *t, void *h, bool posted); /* posted: of the newest bind */
	int (*qp_create)(struct dr_target *t, int node, void *pd, const struct vs_qp_init *init, void **h,
			 uint32_t *qpn);
	int (*qp_modify)(struct dr_target *t, void *qp, const struct vs_qp_attr *a, uint32_t mask);
	void (*qp_query)(struct dr_target *t, void *qp, struct vs_qp_attr *a, struct vs_qp_init *init);
	enum vs_qp_state (*qp_state)(struct dr_target *t, void *qp);
	int (*ah_create)(struct dr_target *t, int node, void *pd, const struct vs_av *av, void **h);
	int (*group)(struct dr_target *t, void *qp, const uint8_t mgid[16], bool attach);
	int (*destroy_object)(struct dr_target *t, enum obj_kind kind, void *h);
	/* work */
	int (*post_send)(struct dr_target *t, void *qp,
			 const struct vs_send_wr *wr); /* handles in it are the target's */
	int (*post_recv)(struct dr_target *t, void *qp, void *srq, const struct vs_recv_wr *wr);
	/* what happened: 1 and it, or 0; `when` is about the newest, NULL: just now */
	uint64_t (*when)(struct dr_target *t);
	int (*cq_poll)(struct dr_target *t, void *cq, struct vs_wc *wc);
	void (*cq_arm)(struct dr_target *t, void *cq, bool solicited);
	int (*comp_event)(struct dr_target *t, int node, void **cq);
	int (*async)(struct dr_target *t, int node, struct vs_async *a);
	uint64_t (*counter)(struct dr_target *t, int node, enum vs_counter c);
	enum vs_reason (*reason)(struct dr_target *t, int node);
	/* connections */
	int (*listen)(struct dr_target *t, int node, uint64_t service, uint64_t cookie);
	int (*connect)(struct dr_target *t, int node, const struct vs_conn_param *p, void **conn);
	int (*accept)(struct dr_target *t, void *conn, const struct vs_conn_param *p);
	int (*establish)(struct dr_target *t, void *conn);
	int (*reject)(struct dr_target *t, void *conn, uint16_t reason, const void *private_data, uint8_t len);
	int (*mra)(struct dr_target *t, void *conn, uint8_t service_timeout);
	int (*sidr_resolve)(struct dr_target *t, int node, const struct vs_conn_param *p, void **conn);
	int (*sidr_reply)(struct dr_target *t, void *conn, uint32_t status, const struct vs_conn_param *p);
	int (*disconnect)(struct dr_target *t, void *conn);
	int (*conn_event)(struct dr_target *t, int node, struct vs_conn_event *e);
	/* `p`: with what it is going to be accepted; NULL when the connection knows */
	int (*conn_attr)(struct dr_target *t, void *conn, enum vs_qp_state to, const struct vs_conn_param *p,
			 struct vs_qp_attr *a, uint32_t *mask);
};

struct dr_target {
	const struct dr_target_ops *ops;
	uint64_t settle_ns; /* after this, what was in flight has arrived and was answered */
	/* Of targets that live in real time; 0 in the simulator. */
	uint64_t patience_ns;             /* how long a state, a counter or memory may take to become what is claimed */
	uint64_t slack_ns;                /* what upper bounds are longer by */
	uint64_t early_ns;                /* what the clocks may be wrong by: lower bounds are shorter by that */
	uint64_t clock_error_ns;          /* what misses a bound by less may not have missed it: another host's clock */
	uint64_t doubt_ns;                /* who is early by less: what came before it may have been held up */
	uint32_t peer_qpn, peer_qpn_step; /* numbers of the peer's queue pairs */
	bool tells_sent;                  /* ears.sent hears everything */
	/* It has all happened already: the calls of the script are looked up, and attributes it does not name are
	 * learnt. */
	bool recorded;
	const char *differs; /* what happened is not what the newest call says: how; NULL: it is */
	/* The target can't do what the script asks for: why. The run is then a SKIP. */
	const char *lacks;
	/* The target, or the way to it, is not there any more: why. The run is then an ERROR. */
	const char *gone;
};

/* Opens a target. NULL: `why` says what is wrong; with *skip it is not wrong but more than the target has. */
typedef struct dr_target *dr_open_fn(void *ctx, const struct dr_setup *s, char *why, size_t cap, bool *skip);
/* Runs one vector on it. */
void dr_run(const struct vs_drill *d, unsigned vector, const struct vs_drill_env *env, dr_open_fn *open, void *ctx,
	    struct vs_drill_result *result);

/* NULL: `why` says what is wrong. */
struct dr_target *dr_sim_open(void *ctx, const struct dr_setup *s, char *why, size_t cap, bool *skip);

#endif
