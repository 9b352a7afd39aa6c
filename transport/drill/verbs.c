/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * verbs.c - queue pairs: made, connected, changed; and the other things that are done at once.
 */
#include <stdlib.h>

#include "run.h"

#define DEFAULT_PSN 0xfffffau /* near the wrap */
#define ALL_REMOTE                                                                                           \
	(VS_ACCESS_REMOTE_WRITE | VS_ACCESS_REMOTE_READ | VS_ACCESS_REMOTE_ATOMIC | VS_ACCESS_FLUSH_GLOBAL | \
	 VS_ACCESS_FLUSH_PERSISTENT)

/* ---- queue pairs ---- */

static enum vs_mtu mtu_code(uint64_t bytes)
{
	for (unsigned m = VS_MTU_256; m <= VS_MTU_4096; m++)
		if (vs_mtu_bytes((enum vs_mtu)m) == bytes)
			return (enum vs_mtu)m;
	return (enum vs_mtu)0;
}

static const struct {
	int key;
	uint32_t mask;
} attr_of[] = {
	{K_MTU, VS_QP_PATH_MTU},
	{K_TIMEOUT, VS_QP_TIMEOUT},
	{K_RETRY_CNT, VS_QP_RETRY_CNT},
	{K_RNR_RETRY, VS_QP_RNR_RETRY},
	{K_MIN_RNR_TIMER, VS_QP_MIN_RNR_TIMER},
	{K_RD_ATOMIC, VS_QP_MAX_QP_RD_ATOMIC},
	{K_DEST_RD_ATOMIC, VS_QP_MAX_DEST_RD_ATOMIC},
	{K_ACCESS, VS_QP_ACCESS_FLAGS},
	{K_QKEY, VS_QP_QKEY},
	{K_PSN, VS_QP_SQ_PSN},
	{K_PEER_PSN, VS_QP_RQ_PSN},
};

/* Everything that keys can say about a queue pair; `mask`: what they did. */
static bool attributes(struct run *r, const struct stmt *st, struct vs_qp_attr *a, uint32_t *mask)
{
	uint64_t v[11];
	static const uint64_t usual[11] = {1024, 14, 7, 7, 12, 4, 4, ALL_REMOTE, 0x11111111, DEFAULT_PSN, 0};
	static const uint64_t most[11] = {4096, 31, 7, 7, 31, 255, 255, UINT32_MAX, UINT32_MAX, 0xffffff, 0xffffff};

	*mask = 0;
	for (unsigned i = 0; i < 11; i++) {
		if (!dr_value(r, st, attr_of[i].key, usual[i], most[i], &v[i]))
			return false;
		if (dr_opt(st, attr_of[i].key) != NULL)
			*mask |= attr_of[i].mask;
	}
	if (mtu_code(v[0]) == 0) {
		dr_broken(r, st, dr_opt(st, K_MTU)->column, "an MTU is 256, 512, 1024, 2048 or 4096");
		return false;
	}
	*a = (struct vs_qp_attr){.port_num = 1,
				 .path_mtu = mtu_code(v[0]),
				 .timeout = (uint8_t)v[1],
				 .retry_cnt = (uint8_t)v[2],
				 .rnr_retry = (uint8_t)v[3],
				 .min_rnr_timer = (uint8_t)v[4],
				 .max_rd_atomic = (uint8_t)v[5],
				 .max_dest_rd_atomic = (uint8_t)v[6],
				 .access_flags = (uint32_t)v[7],
				 .qkey = (uint32_t)v[8],
				 .sq_psn = (uint32_t)v[9],
				 .rq_psn = dr_opt(st, K_PEER_PSN) != NULL ? (uint32_t)v[10] : (uint32_t)v[9]};
	return true;
}

static uint32_t usual_mask(int type, enum vs_qp_state to)
{
	bool rc = type == VS_QPT_RC, ud = type == VS_QPT_UD;

	switch (to) {
	case VS_QPS_INIT:
		return VS_QP_STATE | VS_QP_PKEY_INDEX | VS_QP_PORT | (ud ? VS_QP_QKEY : VS_QP_ACCESS_FLAGS);
	case VS_QPS_RTR:
		if (ud)
			return VS_QP_STATE;
		return VS_QP_STATE | VS_QP_AV | VS_QP_PATH_MTU | VS_QP_DEST_QPN | VS_QP_RQ_PSN |
		       (rc ? VS_QP_MAX_DEST_RD_ATOMIC | VS_QP_MIN_RNR_TIMER : 0);
	case VS_QPS_RTS:
		return VS_QP_STATE | VS_QP_SQ_PSN |
		       (rc ? VS_QP_TIMEOUT | VS_QP_RETRY_CNT | VS_QP_RNR_RETRY | VS_QP_MAX_QP_RD_ATOMIC : 0);
	default:
		return VS_QP_STATE;
	}
}

/* The queue that a key names, or the node's own; the object is remembered. */
static void *queue(struct run *r, const struct stmt *st, const struct obj *o, int id)
{
	const struct option *k = dr_opt(st, id) != NULL ? dr_opt(st, id) : dr_opt(st, K_CQ);

	if (k == NULL || k->v.obj->node != o->node)
		return r->cq[o->node];
	if (dr_rt(r, k->v.obj)->h == NULL)
		dr_broken(r, st, k->column, "%s is not there", k->v.obj->name);
	return dr_rt(r, k->v.obj)->h;
}

static bool create_qp(struct run *r, const struct stmt *st, struct obj *o)
{
	struct rt_obj *rt = dr_rt(r, o);
	const struct option *srq = dr_opt(st, K_SRQ);
	struct vs_qp_init init = {.type = (enum vs_qp_type)o->type};
	uint64_t send = 256, recv = 256, sge = 4, in = 128, all = 0;
	const struct option *encap = dr_opt(st, K_ENCAP);
	int rc, enc = encap != NULL ? encap->v.word : r->encap;

	if (!dr_value(r, st, K_MAX_SEND_WR, 256, UINT32_MAX, &send) ||
	    !dr_value(r, st, K_MAX_RECV_WR, 256, UINT32_MAX, &recv) ||
	    !dr_value(r, st, K_MAX_SGE, 4, UINT32_MAX, &sge) || !dr_value(r, st, K_MAX_INLINE, 128, UINT32_MAX, &in) ||
	    !dr_value(r, st, K_SIG_ALL, 0, 1, &all))
		return false;
	if (srq != NULL && dr_rt(r, srq->v.obj)->h == NULL) {
		dr_broken(r, st, srq->column, "%s is not there", srq->v.obj->name);
		return false;
	}
	if (srq != NULL && srq->v.obj->node == o->node) {
		init.srq = dr_rt(r, srq->v.obj)->h;
		rt->srq = srq->v.obj;
	}
	init.cap = (struct vs_qp_cap){(uint32_t)send, (uint32_t)recv, (uint32_t)sge, (uint32_t)sge, (uint32_t)in};
	init.sq_sig_all = all != 0;
	init.send_cq = queue(r, st, o, K_SEND_CQ);
	init.recv_cq = queue(r, st, o, K_RECV_CQ);
	if (r->failed)
		return false;
	rt->encap = enc;
	rt->sig_all = all != 0;
	rt->pd = dr_opt(st, K_PD) != NULL && dr_opt(st, K_PD)->v.obj->node == o->node ? dr_pd(r, st) : NULL;
	if (r->failed)
		return false;
	rc = r->t->ops->qp_create(r->t, o->node, rt->pd, &init, &rt->h, &rt->qpn);
	if (!dr_call(r, st, o->node, rc))
		return false;
	if (rt->gone)
		dr_forget(r, o);
	rt->made = true;
	rt->gone = false;
	rt->mtu = 1024;
	return true;
}

/* To RTS, or as far as state= says, with the usual attributes and those of the statement. */
static bool connect_qp(struct run *r, const struct stmt *st, struct obj *o, bool other)
{
	const struct option *state = dr_opt(st, K_STATE);
	enum vs_qp_state to = state != NULL ? (enum vs_qp_state)state->v.word : VS_QPS_RTS;
	struct rt_obj *rt = dr_rt(r, o);
	uint32_t mask, tmp;
	struct vs_qp_attr a;
	bool said;

	if (!attributes(r, st, &a, &mask))
		return false;
	if (other) {
		tmp = a.sq_psn;
		a.sq_psn = a.rq_psn;
		a.rq_psn = tmp;
	}
	if (o->peer != NULL) {
		(void)r->t->ops->av(r->t, o->peer->node, rt->encap, &a.av);
		a.dest_qpn = dr_rt(r, o->peer)->qpn;
	}
	if (!dr_address(r, st, &a.av, &said))
		return false;
	rt->psn = a.sq_psn;
	rt->qkey = a.qkey;
	rt->mtu = vs_mtu_bytes(a.path_mtu);
	for (unsigned s = VS_QPS_INIT; s <= VS_QPS_RTS && s <= to; s++) {
		a.state = (enum vs_qp_state)s;
		if (!dr_call(r, st, o->node, r->t->ops->qp_modify(r->t, rt->h, &a, usual_mask(o->type, a.state))))
			return false;
	}
	a.state = to;
	return to <= VS_QPS_RTS || dr_call(r, st, o->node, r->t->ops->qp_modify(r->t, rt->h, &a, VS_QP_STATE));
}

/* from=NAME: the queue pair that connection management made; numbers are in its messages. */
static void bind_qp(struct run *r, const struct stmt *st, struct obj *o)
{
	const struct option *from = dr_opt(st, K_FROM);
	struct rt_obj *rt = dr_rt(r, o), *peer = o->peer != NULL ? dr_rt(r, o->peer) : NULL;
	const struct vs_cm_msg *m = from != NULL ? &dr_rt(r, from->v.obj)->cm : NULL;

	if (m == NULL || peer == NULL) {
		dr_broken(r, st, st->column, "%s is there already: qp NODE.%s <-> peer from=NAME connects it", o->name,
			  o->name);
		return;
	}
	if (m->attribute != VS_CM_ATTR_REP && m->attribute != VS_CM_ATTR_REQ) {
		dr_broken(r, st, from->column, "%s is no CM REQ or REP", from->v.obj->name);
		return;
	}
	rt->psn = m->attribute == VS_CM_ATTR_REP ? m->rep.psn : m->req.psn;
	peer->qpn = r->cm_qpn;
	peer->psn = r->cm_psn;
	peer->mtu = rt->mtu;
}

bool dr_make_qp(struct run *r, const struct stmt *st, struct obj *o)
{
	const struct option *state = dr_opt(st, K_STATE);
	struct rt_obj *peer = o->peer != NULL ? dr_rt(r, o->peer) : NULL;

	if ((dr_rt(r, o)->made && !dr_rt(r, o)->gone) || dr_opt(st, K_FROM) != NULL) {
		bind_qp(r, st, o);
		return !r->failed;
	}
	if (!create_qp(r, st, o))
		return r->failed ? false : true;
	if (peer != NULL && r->p->node[o->peer->node].engine && !create_qp(r, st, o->peer))
		return false;
	if (o->peer == NULL && o->type != VS_QPT_UD) { /* not connected yet */
		enum vs_qp_state to = state != NULL ? (enum vs_qp_state)state->v.word : VS_QPS_RESET;

		return to == VS_QPS_RESET || connect_qp(r, st, o, false);
	}
	if (!connect_qp(r, st, o, false))
		return false;
	if (peer == NULL)
		return true;
	if (r->p->node[o->peer->node].engine)
		return connect_qp(r, st, o->peer, true);
	peer->psn = dr_opt(st, K_PEER_PSN) != NULL ? 0 : dr_rt(r, o)->psn;
	if (dr_opt(st, K_PEER_PSN) != NULL) {
		uint64_t v;

		(void)dr_value(r, st, K_PEER_PSN, 0, 0xffffff, &v);
		peer->psn = (uint32_t)v;
	}
	peer->mtu = dr_rt(r, o)->mtu;
	return true;
}

static void make_ud(struct run *r, const struct stmt *st)
{
	struct rt_obj *rt = dr_rt(r, st->obj);
	uint64_t v;

	if (r->p->node[st->node].engine) {
		if (create_qp(r, st, st->obj))
			(void)connect_qp(r, st, st->obj, false);
		return;
	}
	if (!dr_value(r, st, K_QKEY, 0x11111111, UINT32_MAX, &v))
		return;
	rt->qkey = (uint32_t)v;
	rt->mtu = 4096;
}

static void modify(struct run *r, const struct stmt *st)
{
	const struct option *state = dr_opt(st, K_STATE);
	struct rt_obj *rt = dr_rt(r, st->obj);
	struct vs_qp_attr a;
	uint32_t mask, usual = 0;

	if (!rt->made || rt->gone || !attributes(r, st, &a, &mask)) {
		dr_broken(r, st, st->column, "%s is not there", st->obj->name);
		return;
	}
	if (dr_opt(st, K_PSN) == NULL)
		a.sq_psn = rt->psn;
	if (dr_opt(st, K_PEER_PSN) == NULL && st->obj->peer != NULL)
		a.rq_psn = dr_rt(r, st->obj->peer)->psn;
	if (state != NULL) {
		a.state = (enum vs_qp_state)state->v.word;
		usual = VS_QP_STATE;
		/* On the way up the usual attributes come along. */
		if (a.state <= VS_QPS_RTR || (a.state == VS_QPS_RTS && r->t->ops->qp_state(r->t, rt->h) == VS_QPS_RTR))
			usual = usual_mask(st->obj->type, a.state);
		if (a.state == VS_QPS_RESET)
			usual = VS_QP_STATE;
	}
	if (st->obj->peer != NULL) {
		(void)r->t->ops->av(r->t, st->obj->peer->node, rt->encap, &a.av);
		a.dest_qpn = dr_rt(r, st->obj->peer)->qpn;
	}
	(void)dr_call(r, st, st->node, r->t->ops->qp_modify(r->t, rt->h, &a, mask | usual));
	if (a.state == VS_QPS_RESET && state != NULL && !r->failed)
		dr_forget(r, st->obj); /* without completions */
}

static void fault(struct run *r, const struct stmt *st)
{
	char text[1024];

	memcpy(text, st->text, st->text_len);
	text[st->text_len] = '\0';
	if (r->t->ops->fault(r->t, text) < 0)
		dr_broken(r, st, st->column, "there is no room for one more fault");
}

static void on_object(struct run *r, const struct stmt *st, struct obj *o)
{
	const struct rt_obj *rt = dr_rt(r, o);

	switch (st->kind) {
	case S_QP:
		(void)dr_make_qp(r, st, o);
		break;
	case S_UD:
		make_ud(r, st);
		break;
	case S_PD:
	case S_AH:
	case S_MR:
	case S_MW:
	case S_CQ:
	case S_SRQ:
	case S_CHANNEL:
		dr_make(r, st);
		break;
	case S_REREG:
	case S_RESIZE:
		dr_change(r, st);
		break;
	case S_POST:
	case S_POST_RECV:
		if (!rt->made || rt->gone)
			dr_broken(r, st, st->column, "the queue is not there");
		else
			dr_post(r, st);
		break;
	case S_MODIFY:
		modify(r, st);
		break;
	case S_DESTROY:
		dr_destroy(r, st);
		break;
	case S_ATTACH:
	case S_DETACH:
		dr_group(r, st);
		break;
	case S_CM:
		dr_cm(r, st);
		break;
	default:
		break;
	}
}

void dr_execute(struct run *r, const struct stmt *st)
{
	switch (st->kind) {
	case S_FAULT:
		fault(r, st);
		break;
	case S_FAULT_NONE:
		(void)r->t->ops->fault(r->t, NULL);
		break;
	case S_MARK:
		r->t->ops->mark(r->t, st->text);
		break;
	case S_SEND:
		(void)dr_send(r, st);
		break;
	case S_RAW:
		(void)dr_send_raw(r, st);
		break;
	case S_ARM:
		dr_arm(r, st);
		break;
	default: /* the nodes and the wire are set up before the first statement */
		if (st->obj != NULL)
			on_object(r, st, st->obj);
		break;
	}
}
