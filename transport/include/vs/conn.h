/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * conn.h - connection management over QP 1: REQ REP RTU REJ MRA DREQ DREP SIDR, retries,
 * duplicates, time-wait. One vs_conn is one side of one connection (or one SIDR lookup).
 *
 * The device owns QP 1 unless attr.cm_disabled. The application moves its QP itself, with the
 * attributes that vs_conn_qp_attr computes, as with librdmacm.
 */
#ifndef VS_CONN_H
#define VS_CONN_H

#include "vs/qp.h"

struct vs_conn;
struct vs_listener;

enum vs_conn_state {
	VS_CONN_IDLE,
	VS_CONN_REQ_SENT,
	VS_CONN_REQ_RCVD,
	VS_CONN_MRA_REQ_SENT,
	VS_CONN_MRA_REQ_RCVD,
	VS_CONN_REP_SENT,
	VS_CONN_REP_RCVD,
	VS_CONN_MRA_REP_SENT,
	VS_CONN_MRA_REP_RCVD,
	VS_CONN_ESTABLISHED,
	VS_CONN_DREQ_SENT,
	VS_CONN_DREQ_RCVD,
	VS_CONN_TIMEWAIT,
	VS_CONN_SIDR_REQ_SENT,
	VS_CONN_SIDR_REQ_RCVD,
	VS_CONN_CLOSED
};

enum vs_conn_event_type {
	VS_CONN_EV_REQUEST,      /* on a listener: a REQ came; accept or reject `conn` */
	VS_CONN_EV_RESPONSE,     /* active side: REP came */
	VS_CONN_EV_ESTABLISHED,  /* RTU came, or data before it (COMM_EST); active side: after RTU was sent */
	VS_CONN_EV_REJECTED,     /* status = REJ reason */
	VS_CONN_EV_UNREACHABLE,  /* retries exhausted */
	VS_CONN_EV_DISCONNECTED, /* DREQ came, or DREP to ours; status = VS_CONN_NO_ANSWER: neither, all retries are
				    used */
	VS_CONN_EV_TIMEWAIT_EXIT,
	VS_CONN_EV_SIDR_REQUEST,
	VS_CONN_EV_SIDR_RESPONSE /* status = SIDR status; qpn and qkey of the peer */
};

#define VS_CONN_NO_ANSWER 1u

struct vs_conn_param {
	uint64_t service_id;
	bool uc; /* of the REQ: the QPs are UC, not RC */
	struct vs_av path;
	enum vs_mtu path_mtu;
	uint32_t qpn;
	uint32_t starting_psn; /* with which the *other* side begins to send: CM-020, and what Linux does */
	uint8_t responder_resources, initiator_depth; /* ours, as in the REQ or REP */
	uint8_t retry_count, rnr_retry;
	uint8_t local_ack_timeout;   /* code */
	uint8_t cm_response_timeout; /* code, 4.096 us * 2^n */
	uint8_t max_cm_retries;      /* 0..15 */
	uint32_t qkey;               /* SIDR */
	bool srq, flow_control;
	const void *private_data;
	uint8_t private_len; /* REQ 92, REP 196, SIDR_REQ 216, SIDR_REP 136 */
};

struct vs_conn_event {
	enum vs_conn_event_type type;
	struct vs_conn *conn;
	uint64_t cookie; /* of the connection, or of the listener for requests */
	uint32_t status;
	struct vs_conn_param peer; /* what the peer said; private_data points into the event */
	uint8_t private_data[220];
};

struct vs_listener *vs_listen(struct vs_dev *dev, uint64_t service_id, uint64_t cookie,
			      int *err); /* VS_ERR_BUSY: taken */
void vs_unlisten(struct vs_listener *l);

struct vs_conn *vs_connect(struct vs_dev *dev, const struct vs_conn_param *p, uint64_t cookie,
			   int *err);                            /* sends REQ */
int vs_accept(struct vs_conn *c, const struct vs_conn_param *p); /* passive side: sends REP */
int vs_conn_establish(struct vs_conn *c);                        /* active side, after RESPONSE: sends RTU */
int vs_reject(struct vs_conn *c, uint16_t reason, const void *private_data, uint8_t len);
int vs_conn_mra(struct vs_conn *c, uint8_t service_timeout);
int vs_disconnect(struct vs_conn *c); /* DREQ */
struct vs_conn *vs_sidr_resolve(struct vs_dev *dev, const struct vs_conn_param *p, uint64_t cookie, int *err);
int vs_sidr_reply(struct vs_conn *c, uint32_t status, const struct vs_conn_param *p);
void vs_conn_set_cookie(struct vs_conn *c, uint64_t cookie);
enum vs_conn_state vs_conn_state(const struct vs_conn *c);
/*
 * Attributes and mask for the transition to `to` (INIT, RTR, RTS) from what was negotiated. Who goes to RTR before
 * vs_accept sets attr->rq_psn to the starting_psn that it is going to accept with.
 */
int vs_conn_qp_attr(const struct vs_conn *c, enum vs_qp_state to, struct vs_qp_attr *attr, uint32_t *mask);
/*
 * Nobody is there any more, as whoever stands in for a host's connection manager has found out. A connection ends as by
 * the DREQ of a process that was killed; a REQ or SIDR_REQ fails as by the answer of a host on which nobody listens.
 */
void vs_conn_peer_gone(struct vs_conn *c);
/* Gives the handle up; time-wait goes on inside the device. */
void vs_conn_destroy(struct vs_conn *c);
/* 1: *e is the oldest event; 0: none. */
int vs_dev_poll_conn(struct vs_dev *dev, struct vs_conn_event *e);

#endif
