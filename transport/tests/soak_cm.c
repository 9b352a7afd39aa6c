/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * soak_cm.c - some connections are made and taken down by the connection manager, over the same bad wire: each side
 * hears of each step once, in order, and what was negotiated is what both sides asked for.
 */
#include <string.h>

#include "soak.h"
#include "vs/conn.h"
#include "vs/psn.h"

#define SERVICE 0x0000000001061b58ull

static bool usable(const struct soak *s, const struct qp *q)
{
	return q->type == VS_QPT_RC && !vs_dev_attr(q->host->dev)->cm_disabled &&
	       !vs_dev_attr(q->peer->host->dev)->cm_disabled && s->mood != STORMY;
}

static struct vs_conn_param param(struct soak *s, struct qp *q)
{
	struct vs_conn_param p = {.service_id = SERVICE + q->number / 2,
				  .path_mtu = (enum vs_mtu)between(&s->dice, VS_MTU_256, VS_MTU_4096),
				  .qpn = vs_qp_num(q->qp),
				  .responder_resources = (uint8_t)q->max_dest_rd,
				  .initiator_depth = (uint8_t)q->max_rd,
				  .retry_count = 7,
				  .rnr_retry = 7,
				  .local_ack_timeout = 15,
				  .cm_response_timeout = 15,
				  .max_cm_retries = 15};

	p.starting_psn = psn_choose(&s->dice);
	p.path = way(s, q, q->peer);
	return p;
}

/* Chooses the pairs and sends the first REQs. The others are connected by hand. */
void cm_start(struct soak *s)
{
	for (uint32_t i = 0; i < s->n_qps; i += 2) {
		struct qp *a = &s->qp[i], *b = &s->qp[i + 1];
		struct vs_conn_param p;
		struct vs_listener *l;
		int err;

		if (!usable(s, a) || !percent(&s->dice, 40))
			continue;
		p = param(s, a);
		l = vs_listen(b->host->dev, p.service_id, b->number, &err);
		REQUIRE(s, l != NULL, "QP %u: can't listen: %s", i + 1, vs_err_name(err));
		a->conn = vs_connect(a->host->dev, &p, a->number, &err);
		REQUIRE(s, a->conn != NULL, "QP %u: can't connect: %s", i,
			vs_reason_info(vs_dev_refusal(a->host->dev))->id);
		a->cm = CM_ASKED;
		b->cm = CM_LISTENS;
		a->mtu = vs_mtu_bytes(p.path_mtu);
		b->mtu = a->mtu;
	}
}

static void move(struct soak *s, struct qp *q, enum vs_qp_state to)
{
	struct vs_qp_attr a;
	uint32_t mask;

	REQUIRE(s, vs_conn_qp_attr(q->conn, to, &a, &mask) == VS_OK, "QP %u: no attributes for %s", q->number,
		vs_qp_state_name(to));
	if (to == VS_QPS_RTR)
		REQUIRE(s, vs_mtu_bytes(a.path_mtu) == q->mtu && a.dest_qpn == vs_qp_num(q->peer->qp),
			"QP %u: another MTU or QP than the peer's was negotiated", q->number);
	REQUIRE(s, vs_qp_modify(q->qp, &a, mask) == VS_OK, "QP %u to %s: %s", q->number, vs_qp_state_name(to),
		vs_reason_info(vs_dev_refusal(q->host->dev))->id);
}

static void on_request(struct soak *s, struct qp *q, const struct vs_conn_event *e)
{
	struct vs_conn_param p = param(s, q);

	REQUIRE(s, q->cm == CM_LISTENS, "QP %u: a second REQ", q->number);
	REQUIRE(s, e->peer.qpn == vs_qp_num(q->peer->qp), "QP %u: the REQ names another QP", q->number);
	q->conn = e->conn;
	q->cm = CM_ASKED;
	REQUIRE(s, vs_accept(q->conn, &p) == VS_OK, "QP %u: can't accept", q->number);
	move(s, q, VS_QPS_RTR); /* before the REP leaves: that needs time */
}

static void on_event(struct soak *s, const struct vs_conn_event *e)
{
	struct qp *q;

	REQUIRE(s, e->cookie < s->n_qps, "a connection event of nobody");
	q = &s->qp[e->cookie];
	switch (e->type) {
	case VS_CONN_EV_REQUEST:
		on_request(s, q, e);
		vs_conn_set_cookie(q->conn, q->number);
		return;
	case VS_CONN_EV_RESPONSE:
		REQUIRE(s, q->cm == CM_ASKED && q->number % 2 == 0, "QP %u: a REP out of place", q->number);
		move(s, q, VS_QPS_RTR);
		move(s, q, VS_QPS_RTS);
		REQUIRE(s, vs_conn_establish(q->conn) == VS_OK, "QP %u: can't send RTU", q->number);
		return;
	case VS_CONN_EV_ESTABLISHED:
		REQUIRE(s, q->cm == CM_ASKED, "QP %u: established twice", q->number);
		q->cm = CM_UP;
		if (q->number % 2 == 1)
			move(s, q, VS_QPS_RTS);
		return;
	case VS_CONN_EV_DISCONNECTED:
		REQUIRE(s, q->cm == CM_UP && s->closing, "QP %u: disconnected out of place", q->number);
		q->cm = CM_DOWN;
		return;
	case VS_CONN_EV_TIMEWAIT_EXIT:
		REQUIRE(s, q->cm == CM_DOWN, "QP %u: time-wait out of place", q->number);
		q->cm = CM_GONE;
		return;
	default:
		violated(s, "QP %u: connection event %d, status %u", q->number, (int)e->type, e->status);
	}
}

void cm_events(struct soak *s)
{
	struct vs_conn_event e;

	for (int i = 0; i < s->n_hosts; i++)
		while (vs_dev_poll_conn(s->host[i].dev, &e) == 1)
			on_event(s, &e);
}

static bool all_reached(const struct soak *s, enum cm_state state)
{
	for (uint32_t i = 0; i < s->n_qps; i++)
		if (s->qp[i].cm != CM_NONE && s->qp[i].cm < state)
			return false;
	return true;
}

static void run_until(struct soak *s, enum cm_state state)
{
	while (!all_reached(s, state)) {
		REQUIRE(s, soak_step(s, VS_NEVER), "a connection stays half way");
		cm_events(s);
	}
}

void cm_wait(struct soak *s)
{
	run_until(s, CM_UP);
}

/* Either side begins, or both at once. */
void cm_end(struct soak *s)
{
	s->closing = true;
	for (uint32_t i = 0; i < s->n_qps; i++) {
		struct qp *q = &s->qp[i];
		bool even = i % 2 == 0;
		uint32_t who = even ? below(&s->dice, 3) : 0;

		if (q->cm != CM_UP || !even)
			continue;
		if (who != 1)
			REQUIRE(s, vs_disconnect(q->conn) == VS_OK, "QP %u can't disconnect", i);
		if (who != 0)
			REQUIRE(s, vs_disconnect(q->peer->conn) == VS_OK, "QP %u can't disconnect", i + 1);
	}
	run_until(s, percent(&s->dice, 50) ? CM_GONE : CM_DOWN);
	for (uint32_t i = 0; i < s->n_qps; i++)
		if (s->qp[i].conn != NULL)
			vs_conn_destroy(s->qp[i].conn);
}
