/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * conn.h - inside the connection manager.
 *
 *   conn.c       the verbs: listen, connect, accept, ...; timers; events
 *   conn_rx.c    what each received message does in each state
 *   conn_msg.c   making messages, the queue of MADs to send
 */
#ifndef VS_CORE_CONN_H
#define VS_CORE_CONN_H

#include "core.h"
#include "vs/cm.h"
#include "vs/mad.h"

#define VS_CONN_MADS 256    /* MADs that wait to be sent; more are lost, as on a wire: everyone retries */
#define VS_CONN_EVENTS 1024 /* events that the application has not taken; REQs are dropped when it is 3/4 full */

struct vs_conn {
	struct vs_dev *dev;
	enum vs_conn_state state;
	bool active; /* we sent the REQ or SIDR_REQ */
	bool sidr;
	bool orphan;   /* the application gave the handle up */
	bool mra_sent; /* passive side: duplicates of the REQ are answered by an MRA */
	uint64_t cookie;
	uint32_t local_id, remote_id;
	uint64_t service_id, remote_guid;
	struct vs_conn_param param; /* ours; private_data is not kept */
	struct vs_conn_param peer;  /* theirs */
	struct vs_av path;
	struct vs_timer timer;
	uint8_t retries_left;
	uint64_t timeout_ns;
	uint64_t tid;         /* of the exchange that goes on */
	struct vs_cm_msg msg; /* last message that a duplicate or a time-out sends again; attribute 0: none */
	uint64_t sent_cause;
	struct vs_node link;
};

struct vs_listener {
	struct vs_dev *dev;
	uint64_t service_id, cookie;
	struct vs_node link;
};

struct vs_conn_mad {
	struct vs_av av;
	uint64_t tid, cause;
	struct vs_cm_msg msg;
};

struct vs_conn_state_block {
	struct vs_node conns, listeners;
	struct vs_node pool; /* connections not in use: a listening device keeps attr.cm_backlog of them */
	uint32_t pooled;
	struct vs_conn **slot; /* by the low bits of the local id */
	uint32_t slots, count;
	struct vs_qp gsi; /* what tx.c needs of QP 1: device, number, P_Key index */
	uint32_t psn;
	uint64_t next_tid;
	struct vs_conn_mad mad[VS_CONN_MADS];
	uint32_t mad_head, mad_tail;
	struct vs_conn_event event[VS_CONN_EVENTS];
	uint32_t event_head, event_tail;
};

/* conn.c */
struct vs_conn *vs_conn_new(struct vs_dev *dev); /* from the pool; NULL: it is empty */
void vs_conn_free(struct vs_conn *c);
struct vs_conn *vs_conn_find(const struct vs_dev *dev, uint32_t local_id); /* NULL: none */
struct vs_listener *vs_listener_find(const struct vs_dev *dev, uint64_t service_id);
void vs_conn_set_state(struct vs_conn *c, enum vs_conn_state to);
void vs_conn_event_push(struct vs_conn *c, enum vs_conn_event_type type, uint32_t status, const void *private_data,
			uint8_t len);
bool vs_conn_events_crowded(const struct vs_dev *dev);
void vs_conn_timewait(struct vs_conn *c);
void vs_conn_close(struct vs_conn *c);          /* CLOSED, timer off; freed when orphan */
void vs_conn_ask_disconnect(struct vs_conn *c); /* sends a DREQ */

/* conn_msg.c: fill in and send. `again`: a time-out or duplicate sends c->msg once more. */
void vs_conn_send(struct vs_conn *c, const struct vs_cm_msg *m, uint64_t tid);
void vs_conn_send_again(struct vs_conn *c);
/* The same, and from now on resend every c->timeout_ns until c->retries_left is used up. */
void vs_conn_send_retried(struct vs_conn *c, const struct vs_cm_msg *m, uint64_t tid, uint8_t timeout_code,
			  uint8_t retries);
void vs_conn_send_req(struct vs_conn *c, const struct vs_conn_param *p);
void vs_conn_send_rep(struct vs_conn *c, const struct vs_conn_param *p);
void vs_conn_send_rtu(struct vs_conn *c);
void vs_conn_send_dreq(struct vs_conn *c);
void vs_conn_send_drep(struct vs_conn *c, uint64_t tid);
void vs_conn_send_mra(struct vs_conn *c, uint8_t message, uint8_t service_timeout);
void vs_conn_send_rej(struct vs_conn *c, uint8_t message, uint16_t reason, const void *private_data, uint8_t len);
void vs_conn_send_sidr_req(struct vs_conn *c, const struct vs_conn_param *p);
void vs_conn_send_sidr_rep(struct vs_conn *c, uint32_t status, const struct vs_conn_param *p);
/* Answers without a connection: to `av`, transaction `tid`. */
void vs_conn_reply(struct vs_dev *dev, const struct vs_av *av, uint64_t tid, const struct vs_cm_msg *m);

#endif
