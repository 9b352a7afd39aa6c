/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * verbs.c - queue pairs: made, connected, changed; and the other things that are done at once.
 */
#include <stdio.h>

#include "run.h"
#include "vs/psn.h"

#define DEFAULT_PSN 0xfffffau /* near the wrap */
#define ALL_REMOTE                                                                                           \
	(VS_ACCESS_REMOTE_WRITE | VS_ACCESS_REMOTE_READ | VS_ACCESS_REMOTE_ATOMIC | VS_ACCESS_FLUSH_GLOBAL | \
	 VS_ACCESS_FLUSH_PERSISTENT)

static bool queried(const struct vs_qp_attr *a, const struct vs_qp_init *init, int key, uint64_t *v);

/* ---- queue pairs ---- */

static enum vs_mtu mtu_code(uint64_t bytes)
{
	for (unsigned m = VS_MTU_256; m <= VS_MTU_4096; m++)
		if (vs_mtu_bytes((enum vs_mtu)m) == bytes)
			return (enum vs_mtu)m;
	return (enum vs_mtu)0;
}

/* What a key says of a queue pair; without it, what is usual. As much as the verbs can be told, not as is legal. */
enum {
	AT_MTU,
	AT_TIMEOUT,
	AT_RETRY,
	AT_RNR_RETRY,
	AT_MIN_RNR,
	AT_RD,
	AT_DEST_RD,
	AT_ACCESS,
	AT_QKEY,
	AT_PSN,
	AT_PEER_PSN,
	AT_PKEY,
	AT_PORT,
	AT_DEST_QPN,
	AT_NOTIFY,
	AT_CUR_STATE,
	AT_COUNT
};
static const struct {
	int key;
	uint32_t mask;
	uint64_t usual, most;
} attr_of[AT_COUNT] = {
	[AT_MTU] = {K_MTU, VS_QP_PATH_MTU, 1024, 4096},
	[AT_TIMEOUT] = {K_TIMEOUT, VS_QP_TIMEOUT, 14, 255},
	[AT_RETRY] = {K_RETRY_CNT, VS_QP_RETRY_CNT, 7, 255},
	[AT_RNR_RETRY] = {K_RNR_RETRY, VS_QP_RNR_RETRY, 7, 255},
	[AT_MIN_RNR] = {K_MIN_RNR_TIMER, VS_QP_MIN_RNR_TIMER, 12, 255},
	[AT_RD] = {K_RD_ATOMIC, VS_QP_MAX_QP_RD_ATOMIC, 4, 255},
	[AT_DEST_RD] = {K_DEST_RD_ATOMIC, VS_QP_MAX_DEST_RD_ATOMIC, 4, 255},
	[AT_ACCESS] = {K_ACCESS, VS_QP_ACCESS_FLAGS, ALL_REMOTE, UINT32_MAX},
	[AT_QKEY] = {K_QKEY, VS_QP_QKEY, 0x11111111, UINT32_MAX},
	[AT_PSN] = {K_PSN, VS_QP_SQ_PSN, DEFAULT_PSN, UINT32_MAX},
	[AT_PEER_PSN] = {K_PEER_PSN, VS_QP_RQ_PSN, 0, UINT32_MAX},
	[AT_PKEY] = {K_PKEY_INDEX, VS_QP_PKEY_INDEX, 0, UINT16_MAX},
	[AT_PORT] = {K_PORT, VS_QP_PORT, 1, 255},
	[AT_DEST_QPN] = {K_DEST_QPN, VS_QP_DEST_QPN, 0, UINT32_MAX},
	[AT_NOTIFY] = {K_SQD_NOTIFY, VS_QP_EN_SQD_ASYNC_NOTIFY, 1, 1},
	[AT_CUR_STATE] = {K_CUR_STATE, VS_QP_CUR_STATE, 0, 255},
};

/* Everything that keys can say about a queue pair; `mask`: what they did. */
static bool attributes(struct run *r, const struct stmt *st, struct vs_qp_attr *a, uint32_t *mask)
{
	uint64_t v[AT_COUNT];

	*mask = 0;
	for (unsigned i = 0; i < AT_COUNT; i++) {
		if (!dr_value(r, st, attr_of[i].key, attr_of[i].usual, attr_of[i].most, &v[i]))
			return false;
		if (dr_opt(st, attr_of[i].key) != NULL)
			*mask |= attr_of[i].mask;
	}
	if (mtu_code(v[AT_MTU]) == 0) {
		dr_broken(r, st, dr_opt(st, K_MTU)->column, "an MTU is 256, 512, 1024, 2048 or 4096");
		return false;
	}
	*a = (struct vs_qp_attr){.port_num = (uint8_t)v[AT_PORT],
				 .pkey_index = (uint16_t)v[AT_PKEY],
				 .path_mtu = mtu_code(v[AT_MTU]),
				 .timeout = (uint8_t)v[AT_TIMEOUT],
				 .retry_cnt = (uint8_t)v[AT_RETRY],
				 .rnr_retry = (uint8_t)v[AT_RNR_RETRY],
				 .min_rnr_timer = (uint8_t)v[AT_MIN_RNR],
				 .max_rd_atomic = (uint8_t)v[AT_RD],
				 .max_dest_rd_atomic = (uint8_t)v[AT_DEST_RD],
				 .access_flags = (uint32_t)v[AT_ACCESS],
				 .qkey = (uint32_t)v[AT_QKEY],
				 .dest_qpn = (uint32_t)v[AT_DEST_QPN],
				 .en_sqd_async_notify = (uint8_t)v[AT_NOTIFY],
				 .cur_state = (enum vs_qp_state)v[AT_CUR_STATE],
				 .sq_psn = (uint32_t)v[AT_PSN],
				 .rq_psn = (uint32_t)(*mask & VS_QP_RQ_PSN ? v[AT_PEER_PSN] : v[AT_PSN])};
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
	rt->send_cq = init.send_cq;
	rt->recv_cq = init.recv_cq;
	rt->mtu = 1024;
	return true;
}

/*
 * What the device was told may be another thing than the script would have said, where it does not say anything: that
 * is learnt. `other`: the line is written from the other end.
 */
static bool learn(struct run *r, const struct stmt *st, struct obj *o, bool other)
{
	struct rt_obj *rt = dr_rt(r, o);
	struct vs_qp_attr is;
	struct vs_qp_init init;

	if (!r->t->recorded || r->failed)
		return !r->failed;
	r->t->ops->qp_query(r->t, rt->h, &is, &init);
	for (unsigned i = 0; i < AT_COUNT; i++) {
		const struct option *said = dr_opt(st, attr_of[i].key);
		int key = !other                         ? attr_of[i].key
			  : attr_of[i].key == K_PSN      ? K_PEER_PSN
			  : attr_of[i].key == K_PEER_PSN ? K_PSN
							 : attr_of[i].key;
		uint64_t want, got;

		if (said == NULL || !queried(&is, &init, key, &got) ||
		    !dr_value(r, st, attr_of[i].key, 0, attr_of[i].most, &want) || got == want)
			continue;
		dr_verdict(r, st, said->column,
			   got > 0xffff ? "%s of %s is 0x%llx, not 0x%llx" : "%s of %s is %llu, not %llu",
			   said->key->name, o->name, (unsigned long long)got, (unsigned long long)want);
		return false;
	}
	rt->psn = is.sq_psn;
	rt->mtu = vs_mtu_bytes(is.path_mtu);
	return !r->failed;
}

/* Connected is what two sides believe: the beliefs must match. */
static bool agree(struct run *r, const struct stmt *st, const struct obj *a, const struct obj *b)
{
	struct vs_qp_attr one, two;
	struct vs_qp_init init;

	if (!r->t->recorded || r->failed)
		return !r->failed;
	r->t->ops->qp_query(r->t, dr_rt(r, a)->h, &one, &init);
	r->t->ops->qp_query(r->t, dr_rt(r, b)->h, &two, &init);
	if (one.state == VS_QPS_RTS && two.state >= VS_QPS_RTR && one.sq_psn != two.rq_psn)
		dr_verdict(r, st, st->column, "%s begins with PSN 0x%06x, but the other side waits for 0x%06x", a->name,
			   one.sq_psn, two.rq_psn);
	else if (one.state >= VS_QPS_RTR && one.dest_qpn != dr_rt(r, b)->qpn)
		dr_verdict(r, st, st->column, "%s sends to QP 0x%x, but the other side is QP 0x%x", a->name,
			   one.dest_qpn, dr_rt(r, b)->qpn);
	else if (one.state >= VS_QPS_RTR && two.state >= VS_QPS_RTR && one.path_mtu != two.path_mtu)
		dr_verdict(r, st, st->column, "the path MTU is %u on one side and %u on the other",
			   vs_mtu_bytes(one.path_mtu), vs_mtu_bytes(two.path_mtu));
	return !r->failed;
}

/* To RTS, or as far as state= says, with the usual attributes and those of the statement. */
static bool connect_qp(struct run *r, const struct stmt *st, struct obj *o, bool other)
{
	const struct option *state = dr_opt(st, K_STATE);
	enum vs_qp_state to = state != NULL ? (enum vs_qp_state)state->v.word : VS_QPS_RTS;
	struct rt_obj *rt = dr_rt(r, o);
	uint32_t mask, tmp;
	struct vs_qp_attr a;
	bool said = false;

	if (!attributes(r, st, &a, &mask))
		return false;
	if (other) {
		tmp = a.sq_psn;
		a.sq_psn = a.rq_psn;
		a.rq_psn = tmp;
	}
	if (o->peer != NULL) {
		(void)r->t->ops->av(r->t, o->peer->node, rt->encap, &a.av);
		if (dr_opt(st, K_DEST_QPN) == NULL)
			a.dest_qpn = dr_rt(r, o->peer)->qpn;
	}
	if (!dr_address(r, st, &a.av, &said))
		return false;
	rt->psn = a.sq_psn & VS_PSN_MASK;
	rt->qkey = a.qkey;
	rt->mtu = vs_mtu_bytes(a.path_mtu);
	for (unsigned s = VS_QPS_INIT; s <= VS_QPS_RTS && s <= to; s++) {
		a.state = (enum vs_qp_state)s;
		if (!dr_call(r, st, o->node, r->t->ops->qp_modify(r->t, rt->h, &a, usual_mask(o->type, a.state))))
			return false;
	}
	a.state = to;
	if (!learn(r, st, o, other))
		return false;
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
	/* The starting PSN in a message is that of its receiver. */
	rt->psn = r->cm_psn;
	peer->qpn = r->cm_qpn;
	peer->psn = m->attribute == VS_CM_ATTR_REP ? m->rep.psn : m->req.psn;
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
		return connect_qp(r, st, o->peer, true) && agree(r, st, o, o->peer) && agree(r, st, o->peer, o);
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

/* The attributes that the state takes on the way up come along, but for without=; also= names more. */
static uint32_t modify_mask(struct run *r, const struct stmt *st, uint32_t said, struct vs_qp_attr *a)
{
	const struct option *state = dr_opt(st, K_STATE), *without = dr_opt(st, K_WITHOUT), *also = dr_opt(st, K_ALSO);
	struct rt_obj *rt = dr_rt(r, st->obj);
	uint32_t usual = 0;

	if (state != NULL) {
		a->state = (enum vs_qp_state)state->v.word;
		usual = VS_QP_STATE;
		if (a->state == VS_QPS_INIT || a->state == VS_QPS_RTR ||
		    (a->state == VS_QPS_RTS && r->t->ops->qp_state(r->t, rt->h) == VS_QPS_RTR))
			usual = usual_mask(st->obj->type, a->state);
	}
	usual &= without != NULL ? ~(uint32_t)without->v.word : UINT32_MAX;
	return said | usual | (also != NULL ? (uint32_t)also->v.word : 0);
}

static void modify(struct run *r, const struct stmt *st)
{
	struct rt_obj *rt = dr_rt(r, st->obj), *peer = st->obj->peer != NULL ? dr_rt(r, st->obj->peer) : NULL;
	struct vs_qp_attr a;
	uint32_t mask;
	bool path = false;

	if (!dr_there(r, st, st->obj, st->column) || !attributes(r, st, &a, &mask))
		return;
	if (!(mask & VS_QP_SQ_PSN))
		a.sq_psn = rt->psn;
	if (!(mask & VS_QP_RQ_PSN) && peer != NULL)
		a.rq_psn = peer->psn;
	if (peer != NULL) {
		(void)r->t->ops->av(r->t, st->obj->peer->node, rt->encap, &a.av);
		if (!(mask & VS_QP_DEST_QPN))
			a.dest_qpn = peer->qpn;
	}
	if (!dr_address(r, st, &a.av, &path))
		return;
	mask = modify_mask(r, st, mask | (path ? VS_QP_AV : 0u), &a);
	if (!dr_call(r, st, st->node, r->t->ops->qp_modify(r->t, rt->h, &a, mask)))
		return;
	if (!learn(r, st, st->obj, false))
		return;
	if (mask & VS_QP_STATE && a.state == VS_QPS_RESET)
		dr_forget(r, st->obj); /* without completions */
	if (mask & VS_QP_SQ_PSN && !r->t->recorded)
		rt->psn = a.sq_psn & VS_PSN_MASK;
	if (mask & VS_QP_RQ_PSN && peer != NULL && !r->p->node[st->obj->peer->node].engine)
		peer->psn = a.rq_psn & VS_PSN_MASK;
	if (mask & VS_QP_PATH_MTU)
		rt->mtu = vs_mtu_bytes(a.path_mtu);
}

/* ---- query ---- */

static bool queried(const struct vs_qp_attr *a, const struct vs_qp_init *init, int key, uint64_t *v)
{
	const uint64_t values[AT_COUNT] = {
		[AT_MTU] = vs_mtu_bytes(a->path_mtu),
		[AT_TIMEOUT] = a->timeout,
		[AT_RETRY] = a->retry_cnt,
		[AT_RNR_RETRY] = a->rnr_retry,
		[AT_MIN_RNR] = a->min_rnr_timer,
		[AT_RD] = a->max_rd_atomic,
		[AT_DEST_RD] = a->max_dest_rd_atomic,
		[AT_ACCESS] = a->access_flags,
		[AT_QKEY] = a->qkey,
		[AT_PSN] = a->sq_psn,
		[AT_PEER_PSN] = a->rq_psn,
		[AT_PKEY] = a->pkey_index,
		[AT_PORT] = a->port_num,
		[AT_DEST_QPN] = a->dest_qpn,
	};
	const struct {
		int key;
		uint64_t v;
	} more[] = {
		{K_STATE, (uint64_t)a->state},
		{K_SQ_DRAINING, a->sq_draining},
		{K_SL, a->av.sl},
		{K_TCLASS, a->av.traffic_class},
		{K_HOP_LIMIT, a->av.hop_limit},
		{K_FLOW_LABEL, a->av.flow_label},
		{K_GID_INDEX, a->av.sgid_index},
		{K_MAX_SEND_WR, init->cap.max_send_wr},
		{K_MAX_RECV_WR, init->cap.max_recv_wr},
		{K_MAX_SGE, init->cap.max_send_sge},
		{K_MAX_INLINE, init->cap.max_inline_data},
	};

	for (unsigned i = 0; i < AT_COUNT; i++) {
		if (attr_of[i].key == key) {
			*v = values[i];
			return true;
		}
	}
	for (unsigned i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
		if (more[i].key == key) {
			*v = more[i].v;
			return true;
		}
	}
	return false;
}

static bool query_value(struct run *r, const struct obj *o, int key, uint64_t *v)
{
	struct vs_qp_init init;
	struct vs_srq_attr srq;
	struct vs_qp_attr a;
	void *h = dr_rt(r, o)->h;

	switch (o->kind) {
	case O_CQ:
		*v = r->t->ops->cq_capacity(r->t, h);
		return true;
	case O_SRQ:
		r->t->ops->srq_query(r->t, h, &srq);
		*v = key == K_MAX_WR ? srq.max_wr : key == K_MAX_SGE ? srq.max_sge : srq.srq_limit;
		return true;
	default:
		r->t->ops->qp_query(r->t, h, &a, &init);
		return queried(&a, &init, key, v);
	}
}

bool dr_query(struct run *r, const struct stmt *st, char *why, size_t cap, unsigned *column)
{
	*column = st->column;
	if (!dr_there(r, st, st->obj, st->column))
		return false;
	for (const struct option *o = st->opt; o != NULL; o = o->next) {
		uint64_t got = 0, want = 0;

		*column = o->column;
		if (!query_value(r, st->obj, o->key->id, &got) || !dr_value(r, st, o->key->id, 0, UINT64_MAX, &want))
			return false;
		if (dr_compare(o->how, got, want))
			continue;
		(void)snprintf(why, cap, "%s is %llu, not %s%llu", o->key->name, (unsigned long long)got,
			       dr_compare_text(o->how), (unsigned long long)want);
		return false;
	}
	return true;
}

/* set REGION[a:b] = DATA: the application changes its memory; a number is one byte, everywhere */
static void set_memory(struct run *r, const struct stmt *st)
{
	struct rt_obj *rt = dr_rt(r, st->left.obj);
	const uint8_t *bytes = NULL;
	uint32_t from, to, len = 0;
	uint64_t fill = 0;

	if (!dr_memory(r, st, &st->left, &from, &to))
		return;
	if (to > rt->mem.len) {
		dr_broken(r, st, st->column, "%s has %u bytes", st->left.obj->name, rt->mem.len);
		return;
	}
	dr_read_memory(r, rt); /* what is left alone stays as it is */
	if (st->right.kind == V_NUMBER) {
		if (!dr_eval(r, st, st->right.e, &fill))
			return;
		if (fill > 255) {
			dr_broken(r, st, st->column, "a byte is at most 255; the bytes of a number are u64(N)");
			return;
		}
		memset(rt->mem.bytes + from, (int)fill, to - from);
	} else {
		if (!dr_bytes(r, st, &st->right, &bytes, &len))
			return;
		if (len != to - from) {
			dr_broken(r, st, st->column, "%u bytes are set to %u", to - from, len);
			return;
		}
		memmove(rt->mem.bytes + from, bytes, len);
	}
	if (rt->h != NULL)
		r->t->ops->mr_written(r->t, &rt->mem);
	dr_payload_region(r, rt);
}

static void on_node(struct run *r, const struct stmt *st)
{
	if (st->kind == S_GID)
		(void)dr_call(r, st, st->node,
			      r->t->ops->set_gid(r->t, st->node, (unsigned)st->word, st->left.bytes, st->word2));
	else
		(void)dr_call(r, st, st->node, r->t->ops->set_port(r->t, st->node, st->word != 0));
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
		dr_fault(r, st);
		break;
	case S_FAULT_NONE:
		dr_idle_fault(r, st);
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
	case S_SET:
		set_memory(r, st);
		break;
	case S_GID:
	case S_PORT:
		on_node(r, st);
		break;
	case S_AGAIN:
		(void)dr_again(r, st);
		break;
	default: /* the nodes and the wire are set up before the first statement */
		if (st->obj != NULL)
			on_object(r, st, st->obj);
		break;
	}
}
