/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * run.h - one run of one vector: what the statements made, what was seen and not yet taken.
 *
 * Everything that happens goes into a queue with its time. Statements that expect something look at the head of
 * its queue; what nobody takes is a failure at the end.
 */
#ifndef VS_DRILL_RUN_H
#define VS_DRILL_RUN_H

#include "target.h"
#include "vs/cm.h"

#define MAX_SEEN 8192u /* in one queue */
#define MAX_STEPS 2000000u

struct rt_obj {
	bool made, gone, lazy;
	void *h;
	struct dr_memory mem;
	uint32_t qpn, psn, qkey, mtu; /* O_QP: psn is the first of its own requests; mtu in bytes */
	void *send_cq, *recv_cq;      /* O_QP: the target's */
	struct obj *srq;
	void *conn;
	const struct stmt *cm_stmt; /* that listens or connects */
	bool automatic, sig_all;
	void *pd;                 /* O_QP: its protection domain, NULL: the usual one */
	const struct stmt *ah_of; /* O_QP: the line that `ah` was made for */
	void *ah;
	struct obj *channel; /* O_CQ */
	int encap;           /* O_QP: enum dr_encap, that of its packets */
	uint64_t number;     /* O_NUMBER */
	/* O_PACKET */
	uint64_t time;
	struct vs_pkt pkt;
	uint8_t *frame;
	size_t len;
	struct vs_cm_msg cm;
	uint32_t base; /* of its PSN */
};

enum seen_kind { SEEN_PACKET, SEEN_CQE, SEEN_ASYNC, SEEN_COMP, SEEN_CM, SEEN_KINDS };
struct seen {
	struct seen *next;
	uint64_t time;
	int node;
	unsigned line; /* that was being executed */
	union {
		struct {
			struct vs_pkt pkt;
			bool parsed, good;
			uint8_t *frame; /* behind this struct */
			size_t len;
		};
		struct {
			struct vs_wc wc;
			struct obj *cq;
		};
		struct vs_async async;
		struct vs_conn_event cm;
	};
};

/* An accepted work request that has not completed. */
struct pending {
	struct pending *next;
	struct obj *q; /* QP or SRQ */
	uint64_t wr_id;
	bool recv, signaled;
	enum vs_wc_opcode opcode;
};

struct run {
	const struct vs_drill *d;
	struct program *p;
	struct dr_target *t;
	const struct vs_drill_env *env;
	unsigned vector;
	dr_open_fn *open;
	void *open_ctx;
	struct vs_drill_result *res;
	int encap;
	struct rt_obj obj[MAX_OBJECTS];
	void *cq[MAX_NODES]; /* the queue of those who name none */
	struct seen *head[SEEN_KINDS], *tail[SEEN_KINDS];
	unsigned count[SEEN_KINDS];
	struct pending *pending, **pending_tail;
	uint8_t *data; /* of the newest message of the peer */
	uint32_t data_len, data_cap;
	uint32_t serial, mads;
	struct vs_cm_msg cm_heard, sidr_heard; /* the newest ones that the peer was told */
	uint32_t heard_qpn, heard_psn;         /* the queue pair and the starting PSN in the newest REQ or REP */
	uint64_t heard_tid;
	uint32_t cm_psn, cm_qpn; /* of the newest REQ or REP of the peer */
	unsigned line;
	struct source *sources; /* payload.c */
	uint32_t payload_bytes;
	bool payload_off; /* nothing is claimed of payloads */
	bool failed;
	const struct stmt *passing; /* it has passed over an acknowledgement of passed_psn */
	uint32_t passed_psn;
	bool patient; /* what failed had more time than was said: being late matters less */
	char variants[256];
	uint64_t steps, max_steps;
	void *waiting[MAX_NODES]; /* a connection that asks and that no listener's queue pair has taken */
	struct {
		bool refused;
		enum vs_reason reason;
	} call[MAX_NODES]; /* the newest one of a node */
};

enum outcome { HOLDS, PENDING, FAILS };

/* run.c */
__attribute__((format(printf, 4, 5))) void dr_verdict(struct run *r, const struct stmt *st, unsigned column,
						      const char *format, ...); /* FAIL */
__attribute__((format(printf, 4, 5))) void dr_broken(struct run *r, const struct stmt *st, unsigned column,
						     const char *format, ...); /* ERROR */
bool dr_step(struct run *r);                 /* one more thing happens; false: too many did */
bool dr_pass(struct run *r, uint64_t until); /* lets time pass: false when it is `until` */

/* setup.c */
bool dr_open(struct run *r); /* its target, and what the script has from the beginning */
void dr_close(struct run *r);
/* What the script needs and this encapsulation does not have; NULL: nothing. All else is in the simulator. */
const char *dr_lacking(const struct run *r);

/* eval.c */
bool dr_eval(struct run *r, const struct stmt *st, const struct expr *e, uint64_t *v);
/* The value of an option, `fallback` without it. */
bool dr_value(struct run *r, const struct stmt *st, int id, uint64_t fallback, uint64_t max, uint64_t *v);
/* a region's bytes [from, to); false: outside, not made */
bool dr_memory(struct run *r, const struct stmt *st, const struct value *v, uint32_t *from, uint32_t *to);
/* The bytes that a value stands for, `count` pattern bytes made up for a number. */
bool dr_bytes(struct run *r, const struct stmt *st, const struct value *v, const uint8_t **bytes, uint32_t *len);
void dr_read_memory(struct run *r, struct rt_obj *o); /* its bytes are as the device has them */

/* hear.c */
void dr_hear(struct run *r); /* takes what happened into the queues */
void dr_frame_heard(void *ctx, uint64_t now, enum vs_link link, const uint8_t *frame, size_t len);
void dr_frame_sent(void *ctx, int node, uint64_t now, enum vs_link link, const uint8_t *frame, size_t len);

/* payload.c */
void dr_payload_region(struct run *r, const struct rt_obj *o); /* it was filled */
void dr_payload_posted(struct run *r, const struct vs_send_wr *wr);
bool dr_payload_known(const struct run *r, const struct vs_pkt *p); /* false: nobody gave the device these bytes */
bool dr_payload_known_now(struct run *r, const struct vs_pkt *p);   /* the same, after a new look at the memory */
void dr_payload_free(struct run *r);

/* packet.c */
bool dr_send(struct run *r, const struct stmt *st);
bool dr_send_raw(struct run *r, const struct stmt *st);
bool dr_again(struct run *r, const struct stmt *st);
uint32_t dr_receive_count(struct run *r, const struct stmt *st);
/* Is this packet the k-th that the statement expects? On false `why` says what differs, *column where. */
bool dr_match(struct run *r, const struct stmt *st, uint32_t k, const struct seen *s, char *why, size_t cap,
	      unsigned *column);
bool dr_is_earlier_ack(struct run *r, const struct stmt *st, const struct seen *s);
void dr_packet_text(struct run *r, const struct seen *s, char *buf, size_t cap);
bool dr_field(const struct vs_pkt *p, int id, uint64_t *v);
void dr_cm_taken(struct run *r, const struct vs_pkt *p);                  /* a line has taken it: answers go to that */
void dr_keep(struct run *r, const struct stmt *st, const struct seen *s); /* as NAME */

/* verbs.c */
void dr_execute(struct run *r, const struct stmt *st); /* what is done at once */
bool dr_make_qp(struct run *r, const struct stmt *st, struct obj *o);
/* Are the attributes of the queue what the line says? */
bool dr_query(struct run *r, const struct stmt *st, char *why, size_t cap, unsigned *column);
/* fault.c */
void dr_fault(struct run *r, const struct stmt *st);
/* objects.c */
/*
 * What became of a call: is it as the script wants it, accepted or refused with the reason that it names? True when
 * it was accepted and may be; it is remembered for `call refused`.
 */
bool dr_call(struct run *r, const struct stmt *st, int node, int rc);
/* Is it there? Otherwise the script is wrong. */
bool dr_there(struct run *r, const struct stmt *st, const struct obj *o, unsigned column);
void *dr_pd(struct run *r, const struct stmt *st);                                   /* that pd= names, or NULL */
bool dr_address(struct run *r, const struct stmt *st, struct vs_av *av, bool *said); /* keys of an address vector */
void dr_group_gid(const uint8_t gid[16], int encap, uint8_t out[16]); /* as enum dr_encap names the group */
void dr_group_address(struct run *r, const uint8_t gid[16], int encap, struct vs_av *av);
void dr_forget(struct run *r, const struct obj *queue);
void dr_make(struct run *r, const struct stmt *st);
void dr_change(struct run *r, const struct stmt *st);
void dr_destroy(struct run *r, const struct stmt *st);
void dr_group(struct run *r, const struct stmt *st);
void dr_arm(struct run *r, const struct stmt *st);
/* post.c */
void dr_post(struct run *r, const struct stmt *st);
/* conn.c */
void dr_cm(struct run *r, const struct stmt *st);
void dr_cm_heard(struct run *r, int node, struct seen *s);
bool dr_match_cm_event(struct run *r, const struct stmt *st, const struct vs_conn_event *e, char *why, size_t cap,
		       unsigned *column);

/* observe.c */
uint32_t dr_items(struct run *r, const struct stmt *st);
/* count=A..B: how many must come; `most` without it. */
uint32_t dr_least(struct run *r, const struct stmt *st, uint32_t most);
/* How the k-th thing that `st` expects stands. `over`: its time is up. *until: when it is. */
enum outcome dr_observe(struct run *r, const struct stmt *st, uint64_t start, uint32_t k, bool over, uint64_t *until);
void dr_consume(struct run *r, const struct stmt *st, uint32_t k);
void dr_look_later(struct run *r, const struct stmt *st, uint64_t start, uint32_t k, uint64_t until);
enum outcome dr_one_more(struct run *r, const struct stmt *st, uint64_t start, uint32_t k, uint64_t *until);
void dr_leftovers(struct run *r);
/* Says so when a fault in force never acted; `st` ends it, NULL: the end of the script. */
void dr_idle_fault(struct run *r, const struct stmt *st);
void dr_take(struct run *r, enum seen_kind kind, struct seen *s);

static inline struct rt_obj *dr_rt(struct run *r, const struct obj *o)
{
	return &r->obj[o->index];
}

#endif
