/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * conn.c - connections of the script, and look-ups of datagram services (SIDR): what a node does about them, and
 * what the application that the script stands for does by itself.
 */
#include <stdio.h>

#include "run.h"

static bool small(struct run *r, const struct stmt *st, int id, uint64_t usual, uint64_t most, uint8_t *v)
{
	uint64_t n;

	if (!dr_value(r, st, id, usual, most, &n))
		return false;
	*v = (uint8_t)n;
	return true;
}

static bool private_data(struct run *r, const struct stmt *st, const void **bytes, uint8_t *len)
{
	const struct option *o = dr_opt(st, K_PRIVATE);
	const uint8_t *b = NULL;
	uint32_t n = 0;

	if (o != NULL && !dr_bytes(r, st, &o->v, &b, &n))
		return false;
	if (n > 255) {
		dr_broken(r, st, o->column, "no message has room for %u bytes of private data", n);
		return false;
	}
	*bytes = b;
	*len = (uint8_t)n;
	return true;
}

static bool parameters(struct run *r, const struct stmt *st, struct obj *o, struct vs_conn_param *p)
{
	const struct option *to = dr_opt(st, K_TO);
	int node = to != NULL && to->v.kind == V_NODE ? to->v.word : st->node == 0 ? 1 : 0;
	uint64_t service, psn, mtu, qkey;

	memset(p, 0, sizeof(*p));
	if (!dr_value(r, st, K_SERVICE, 0, UINT64_MAX, &service) || !dr_value(r, st, K_PSN, 0xfffffa, 0xffffff, &psn) ||
	    !dr_value(r, st, K_MTU, 1024, 4096, &mtu) ||
	    !dr_value(r, st, K_QKEY, dr_rt(r, o)->qkey, UINT32_MAX, &qkey) ||
	    !small(r, st, K_TIMEOUT, 18, 31, &p->cm_response_timeout) ||
	    !small(r, st, K_CM_RETRIES, 3, 15, &p->max_cm_retries) ||
	    !small(r, st, K_RETRY_CNT, 7, 7, &p->retry_count) || !small(r, st, K_RNR_RETRY, 7, 7, &p->rnr_retry) ||
	    !small(r, st, K_RD_ATOMIC, 4, 255, &p->initiator_depth) ||
	    !small(r, st, K_DEST_RD_ATOMIC, 4, 255, &p->responder_resources) ||
	    !private_data(r, st, &p->private_data, &p->private_len))
		return false;
	p->service_id = service;
	p->qpn = dr_rt(r, o)->qpn;
	p->starting_psn = (uint32_t)psn;
	p->qkey = (uint32_t)qkey;
	p->local_ack_timeout = 14;
	p->path_mtu = VS_MTU_256;
	while (p->path_mtu < VS_MTU_4096 && vs_mtu_bytes(p->path_mtu) < mtu)
		p->path_mtu++;
	(void)r->t->ops->av(r->t, node, -1, &p->path);
	return true;
}

static bool make_qp(struct run *r, const struct stmt *st, struct obj *o)
{
	struct rt_obj *rt = dr_rt(r, o);
	struct vs_qp_init init = {
		.type = VS_QPT_RC, .send_cq = r->cq[o->node], .recv_cq = r->cq[o->node], .cap = {256, 256, 4, 4, 128}};

	if (rt->made)
		return true;
	rt->made = r->t->ops->qp_create(r->t, o->node, NULL, &init, &rt->h, &rt->qpn) >= 0;
	rt->mtu = 1024;
	if (!rt->made)
		dr_broken(r, st, 1, "there is no room for a queue pair");
	return rt->made;
}

/* `p`: with what it is going to be accepted; NULL when the connection knows. */
static bool step(struct run *r, const struct stmt *st, struct obj *o, enum vs_qp_state to,
		 const struct vs_conn_param *p)
{
	struct vs_qp_attr a;
	uint32_t mask;
	bool known = r->t->ops->conn_attr(r->t, dr_rt(r, o)->conn, to, p, &a, &mask) >= 0;

	if (known && r->t->ops->qp_modify(r->t, dr_rt(r, o)->h, &a, mask) >= 0) {
		if (to == VS_QPS_RTR)
			dr_rt(r, o)->mtu = vs_mtu_bytes(a.path_mtu);
		return true;
	}
	dr_verdict(r, st, st != NULL ? st->column : 1, "the queue pair can't go to %s: %s", vs_qp_state_name(to),
		   vs_reason_info(r->t->ops->reason(r->t, o->node))->id);
	return false;
}

static bool in_reset(struct run *r, const struct obj *o)
{
	return r->t->ops->qp_state(r->t, dr_rt(r, o)->h) == VS_QPS_RESET;
}

/* A listener takes the connection that asks: its queue pair is ready to receive before the REP goes out. */
static void accept(struct run *r, const struct stmt *st, struct obj *o)
{
	struct rt_obj *rt = dr_rt(r, o);
	struct vs_conn_param p;

	if (!make_qp(r, st, o) || !parameters(r, st, o, &p))
		return;
	if (in_reset(r, o) && !step(r, st, o, VS_QPS_INIT, NULL))
		return;
	if (step(r, st, o, VS_QPS_RTR, &p))
		(void)dr_call(r, st, o->node, r->t->ops->accept(r->t, rt->conn, &p));
}

static void establish(struct run *r, const struct stmt *st, struct obj *o)
{
	if (in_reset(r, o) && !step(r, st, o, VS_QPS_INIT, NULL))
		return;
	if (step(r, st, o, VS_QPS_RTR, NULL) && step(r, st, o, VS_QPS_RTS, NULL))
		(void)dr_call(r, st, o->node, r->t->ops->establish(r->t, dr_rt(r, o)->conn));
}

static void listen(struct run *r, const struct stmt *st, struct rt_obj *rt)
{
	struct vs_conn_param p;

	rt->cm_stmt = st;
	rt->automatic = dr_opt(st, K_MANUAL) == NULL;
	if (parameters(r, st, st->obj, &p))
		(void)dr_call(r, st, st->node, r->t->ops->listen(r->t, st->node, p.service_id, st->obj->index + 1));
}

static void connect(struct run *r, const struct stmt *st, struct rt_obj *rt)
{
	struct vs_conn_param p;

	rt->cm_stmt = st;
	rt->automatic = dr_opt(st, K_MANUAL) == NULL;
	if (make_qp(r, st, st->obj) && parameters(r, st, st->obj, &p))
		(void)dr_call(r, st, st->node, r->t->ops->connect(r->t, st->node, &p, &rt->conn));
}

static void reject(struct run *r, const struct stmt *st, const struct rt_obj *rt)
{
	const void *bytes;
	uint64_t reason;
	uint8_t len;

	if (dr_value(r, st, K_REASON, 28, 0xffff, &reason) && private_data(r, st, &bytes, &len))
		(void)dr_call(r, st, st->node, r->t->ops->reject(r->t, rt->conn, (uint16_t)reason, bytes, len));
}

/* What a datagram service says to who asks for it: status 0, its queue pair and Q_Key. */
static void reply(struct run *r, const struct stmt *st, struct obj *o)
{
	struct vs_conn_param p;
	uint64_t status;

	if (dr_value(r, st, K_STATUS, 0, 255, &status) && parameters(r, st, o, &p))
		(void)dr_call(r, st, o->node, r->t->ops->sidr_reply(r->t, dr_rt(r, o)->conn, (uint32_t)status, &p));
}

static void on_connection(struct run *r, const struct stmt *st, struct rt_obj *rt)
{
	uint8_t code;

	switch (st->word) {
	case CM_ACCEPT:
		accept(r, st, st->obj);
		break;
	case CM_ESTABLISH:
		establish(r, st, st->obj);
		break;
	case CM_REJECT:
		reject(r, st, rt);
		break;
	case CM_MRA:
		if (small(r, st, K_TIMEOUT, 0, 255, &code))
			(void)dr_call(r, st, st->node, r->t->ops->mra(r->t, rt->conn, code));
		break;
	case CM_REPLY:
		reply(r, st, st->obj);
		break;
	default:
		(void)dr_call(r, st, st->node, r->t->ops->disconnect(r->t, rt->conn));
		break;
	}
}

void dr_cm(struct run *r, const struct stmt *st)
{
	struct rt_obj *rt = dr_rt(r, st->obj);
	struct vs_conn_param p;

	if (rt->gone || (st->obj->type == VS_QPT_UD && !rt->made)) {
		dr_broken(r, st, st->column, "%s is not there", st->obj->name);
		return;
	}
	switch (st->word) {
	case CM_LISTEN:
		listen(r, st, rt);
		return;
	case CM_CONNECT:
		connect(r, st, rt);
		return;
	case CM_RESOLVE:
		if (parameters(r, st, st->obj, &p))
			(void)dr_call(r, st, st->node, r->t->ops->sidr_resolve(r->t, st->node, &p, &rt->conn));
		return;
	default:
		break;
	}
	/* The connection that asks, and that the listener's own queue pair has not taken. */
	if (rt->conn == NULL && (st->word == CM_ACCEPT || st->word == CM_REJECT)) {
		rt->conn = r->waiting[st->node];
		rt->cm_stmt = st;
		r->waiting[st->node] = NULL;
	}
	if (rt->conn == NULL)
		dr_broken(r, st, st->column, "%s has no connection yet", st->obj->name);
	else
		on_connection(r, st, rt);
}

/* Whose event it is: by its connection, a request by its listener. */
static struct obj *whose(struct run *r, int node, const struct vs_conn_event *e)
{
	bool request = e->type == VS_CONN_EV_REQUEST || e->type == VS_CONN_EV_SIDR_REQUEST;

	if (request)
		return e->cookie > 0 && e->cookie <= r->p->n_objs ? r->p->obj[e->cookie - 1] : NULL;
	for (unsigned i = 0; i < r->p->n_objs; i++)
		if (r->p->obj[i]->node == node && r->obj[i].conn == e->conn && r->obj[i].conn != NULL)
			return r->p->obj[i];
	return NULL;
}

/* Accept, reply, go on to RTS: what the application does by itself. */
void dr_cm_heard(struct run *r, int node, struct seen *s)
{
	struct obj *o = whose(r, node, &s->cm);
	struct rt_obj *rt = o != NULL ? dr_rt(r, o) : NULL;

	if (rt == NULL && s->cm.type == VS_CONN_EV_TIMEWAIT_EXIT) {
		dr_take(r, SEEN_CM, s); /* of an answered question, whose queue pair has gone on to the next */
		return;
	}
	if (rt == NULL || rt->cm_stmt == NULL || rt->gone)
		return;
	if (s->cm.type == VS_CONN_EV_REQUEST && rt->conn != NULL) {
		r->waiting[node] = s->cm.conn;
		return;
	}
	if (s->cm.type == VS_CONN_EV_REQUEST || s->cm.type == VS_CONN_EV_SIDR_REQUEST)
		rt->conn = s->cm.conn;
	if (s->cm.type == VS_CONN_EV_ESTABLISHED && rt->h != NULL && r->t->ops->qp_state(r->t, rt->h) == VS_QPS_RTR)
		(void)step(r, rt->cm_stmt, o, VS_QPS_RTS, NULL);
	if (!rt->automatic)
		return;
	if (s->cm.type == VS_CONN_EV_REQUEST)
		accept(r, rt->cm_stmt, o);
	else if (s->cm.type == VS_CONN_EV_RESPONSE)
		establish(r, rt->cm_stmt, o);
	else if (s->cm.type == VS_CONN_EV_SIDR_REQUEST)
		reply(r, rt->cm_stmt, o);
	else if (s->cm.type != VS_CONN_EV_TIMEWAIT_EXIT || o->type != VS_QPT_UD)
		return; /* a service that answers by itself has no use for the end of an answered question */
	dr_take(r, SEEN_CM, s);
}

/* ---- events ---- */

static bool field(const struct vs_conn_event *e, int id, uint64_t *v)
{
	switch (id) {
	case K_STATUS:
		*v = e->status;
		return true;
	case K_SERVICE:
		*v = e->peer.service_id;
		return true;
	case K_QPN:
		*v = e->peer.qpn;
		return true;
	case K_PSN:
		*v = e->peer.starting_psn;
		return true;
	case K_QKEY:
		*v = e->peer.qkey;
		return true;
	case K_RNR_RETRY:
		*v = e->peer.rnr_retry;
		return true;
	case K_RD_ATOMIC:
		*v = e->peer.initiator_depth;
		return true;
	case K_DEST_RD_ATOMIC:
		*v = e->peer.responder_resources;
		return true;
	default:
		return false;
	}
}

bool dr_match_cm_event(struct run *r, const struct stmt *st, const struct vs_conn_event *e, char *why, size_t cap,
		       unsigned *column)
{
	const uint8_t *bytes = NULL;
	uint32_t len = 0;

	*column = st->word_column;
	if ((int)e->type != st->word)
		return false;
	for (const struct option *o = st->opt; o != NULL; o = o->next) {
		uint64_t got = 0, want = 0;

		*column = o->column;
		if (o->key->id == K_PRIVATE) {
			if (!dr_bytes(r, st, &o->v, &bytes, &len))
				return false;
			if (len <= e->peer.private_len && (len == 0 || memcmp(bytes, e->private_data, len) == 0))
				continue;
			(void)snprintf(why, cap, "its private data are others");
			return false;
		}
		if (!field(e, o->key->id, &got) || !dr_eval(r, st, o->v.e, &want))
			return false;
		if (dr_compare(o->how, got, want))
			continue;
		(void)snprintf(why, cap, "%s is 0x%llx, not %s0x%llx", o->key->name, (unsigned long long)got,
			       dr_compare_text(o->how), (unsigned long long)want);
		return false;
	}
	return true;
}
