/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * post.c - work requests of the script, and its connections.
 */
#include <stdlib.h>

#include "run.h"

#define MAX_SLICES 16u

struct request {
	struct vs_send_wr wr;
	struct vs_sge sge[MAX_SLICES];
	uint32_t n;
	uint8_t bytes[4096]; /* inline */
};

static bool outcome(struct run *r, const struct stmt *st, int rc)
{
	const struct option *o = dr_opt(st, K_REFUSED);
	enum vs_reason why = rc < 0 ? r->t->ops->reason(r->t, st->node) : VS_REASON_NONE;

	if (rc < 0 && o == NULL)
		dr_verdict(r, st, st->column, "the call was refused with %s (%s)", vs_err_name(rc),
			   vs_reason_info(why)->id);
	else if (rc >= 0 && o != NULL)
		dr_verdict(r, st, o->column, "the call was accepted");
	else if (o != NULL && o->v.word > 0 && o->v.word != (int)why)
		dr_verdict(r, st, o->column, "the call was refused for another reason: %s", vs_reason_info(why)->id);
	return !r->failed && rc >= 0;
}

/* The memory of request k. */
static bool memory(struct run *r, const struct stmt *st, uint32_t k, struct request *q)
{
	const struct option *each = dr_opt(st, K_EACH);
	uint64_t lkey = 0;

	if (!dr_value(r, st, K_TYPE, 0, UINT32_MAX, &lkey))
		return false;
	for (const struct option *o = st->opt; o != NULL; o = o->next) {
		const struct rt_obj *m;
		uint32_t from, to;

		if (o->key->id != K_DATA && o != each)
			continue;
		if (!dr_memory(r, st, &o->v, &from, &to))
			return false;
		if (q->n == MAX_SLICES) {
			dr_broken(r, st, o->column, "more than %u pieces of memory", MAX_SLICES);
			return false;
		}
		m = dr_rt(r, o->v.obj);
		if (o == each) { /* the k-th piece of that size */
			uint32_t size = to - from;

			from += k * size;
			to = from + size;
		}
		q->sge[q->n++] = (struct vs_sge){m->mem.addr + from, to - from, m->mem.lkey};
		if (dr_opt(st, K_TYPE) != NULL)
			q->sge[q->n - 1].lkey = (uint32_t)lkey;
	}
	return true;
}

static bool remote(struct run *r, const struct stmt *st, struct vs_send_wr *wr)
{
	const struct option *o = dr_opt(st, K_TO) != NULL ? dr_opt(st, K_TO) : dr_opt(st, K_FROM);
	uint64_t va = 0, rkey = 0;
	uint32_t from, to;

	if (o != NULL && o->v.kind == V_SLICE) {
		if (!dr_memory(r, st, &o->v, &from, &to))
			return false;
		va = dr_rt(r, o->v.obj)->mem.addr + from;
		rkey = dr_rt(r, o->v.obj)->mem.rkey;
		wr->flush.length = to - from;
	}
	if (!dr_value(r, st, K_VA, va, UINT64_MAX, &va) || !dr_value(r, st, K_RKEY, rkey, UINT32_MAX, &rkey))
		return false;
	wr->rdma.remote_addr = va;
	wr->rdma.rkey = (uint32_t)rkey;
	return true;
}

/* Datagrams: the way, and who gets it. */
static bool datagram(struct run *r, const struct stmt *st, struct vs_send_wr *wr)
{
	const struct option *to = dr_opt(st, K_TO), *gid = dr_opt(st, K_MGID);
	struct vs_av av;
	uint64_t qkey;
	void *ah;

	if (st->obj->type != VS_QPT_UD)
		return true;
	if (gid == NULL && (to == NULL || to->v.kind != V_OBJECT)) {
		dr_broken(r, st, st->column, "a datagram needs to=NODE.QP or mgid=");
		return false;
	}
	(void)r->t->ops->av(r->t, to != NULL ? to->v.obj->node : st->node, &av);
	wr->ud.remote_qpn = to != NULL ? dr_rt(r, to->v.obj)->qpn : VS_QPN_MULTICAST;
	qkey = to != NULL ? dr_rt(r, to->v.obj)->qkey : dr_rt(r, st->obj)->qkey;
	if (!dr_value(r, st, K_QKEY, qkey, UINT32_MAX, &qkey))
		return false;
	wr->ud.remote_qkey = (uint32_t)qkey;
	if (gid != NULL) {
		av.is_global = true;
		memcpy(av.dgid, gid->v.bytes, 16);
		memset(av.dmac, 0, 6);
		av.dlid = r->encap >= EN_IB ? 0xc000 : 0;
	}
	if (r->t->ops->ah_create(r->t, st->node, &av, &ah) < 0) {
		dr_verdict(r, st, st->column, "the address was refused: %s",
			   vs_reason_info(r->t->ops->reason(r->t, st->node))->id);
		return false;
	}
	wr->ud.ah = ah;
	return true;
}

static bool bind(struct run *r, const struct stmt *st, struct vs_send_wr *wr)
{
	const struct option *mw = dr_opt(st, K_MW), *mr = dr_opt(st, K_MR);
	uint64_t access, key;
	uint32_t from, to;

	if (st->word != VS_WR_BIND_MW)
		return true;
	if (!dr_memory(r, st, &mr->v, &from, &to) || !dr_value(r, st, K_ACCESS, 0, UINT32_MAX, &access) ||
	    !dr_value(r, st, K_KEY, 0, 255, &key))
		return false;
	if (dr_rt(r, mw->v.obj)->h == NULL || dr_rt(r, mr->v.obj)->h == NULL) {
		dr_broken(r, st, st->column, "the window or the region is not there");
		return false;
	}
	wr->bind.mw = dr_rt(r, mw->v.obj)->h;
	wr->bind.mr = dr_rt(r, mr->v.obj)->h;
	wr->bind.addr = dr_rt(r, mr->v.obj)->mem.addr + from;
	wr->bind.length = to - from;
	wr->bind.access = (uint32_t)access;
	wr->bind.rkey = (r->t->ops->mw_rkey(r->t, wr->bind.mw, false) & ~0xffu) | (uint32_t)key;
	return true;
}

static bool numbers(struct run *r, const struct stmt *st, struct vs_send_wr *wr)
{
	uint64_t imm, inv, add, compare, swap, plt, sel, len;

	if (!dr_value(r, st, K_IMM, 0x1badcafe, UINT32_MAX, &imm) || !dr_value(r, st, K_INV, 0, UINT32_MAX, &inv) ||
	    !dr_value(r, st, K_ADD, 1, UINT64_MAX, &add) || !dr_value(r, st, K_COMPARE, add, UINT64_MAX, &compare) ||
	    !dr_value(r, st, K_SWAP, 0, UINT64_MAX, &swap) || !dr_value(r, st, K_PLT, 1, 15, &plt) ||
	    !dr_value(r, st, K_SEL, 0, 3, &sel) || !dr_value(r, st, K_LEN, wr->flush.length, UINT32_MAX, &len))
		return false;
	wr->imm_data = (uint32_t)imm;
	wr->invalidate_rkey = (uint32_t)inv;
	wr->atomic.compare_add = st->word == VS_WR_ATOMIC_CMP_AND_SWP ? compare : add;
	wr->atomic.swap = swap;
	wr->flush.plt = (uint8_t)plt;
	wr->flush.sel = (uint8_t)sel;
	wr->flush.length = (uint32_t)len;
	wr->flags = dr_opt(st, K_UNSIGNALED) != NULL ? 0 : VS_SEND_SIGNALED;
	wr->flags |= dr_opt(st, K_FENCE) != NULL ? VS_SEND_FENCE : 0;
	wr->flags |= dr_opt(st, K_SOLICITED) != NULL ? VS_SEND_SOLICITED : 0;
	return true;
}

static bool make_inline(struct run *r, const struct stmt *st, struct request *q)
{
	if (dr_opt(st, K_INLINE) == NULL)
		return true;
	for (const struct option *o = st->opt; o != NULL; o = o->next) {
		const uint8_t *bytes;
		uint32_t len;

		if (o->key->id != K_DATA)
			continue;
		if (!dr_bytes(r, st, &o->v, &bytes, &len))
			return false;
		if (len > sizeof(q->bytes) - q->wr.inline_len) {
			dr_broken(r, st, o->column, "inline data of more than %zu bytes", sizeof(q->bytes));
			return false;
		}
		memcpy(q->bytes + q->wr.inline_len, bytes, len);
		q->wr.inline_len += len;
	}
	q->wr.flags |= VS_SEND_INLINE;
	q->wr.inline_data = q->bytes;
	return true;
}

static enum vs_wc_opcode wc_of(int wr)
{
	switch (wr) {
	case VS_WR_RDMA_WRITE:
	case VS_WR_RDMA_WRITE_WITH_IMM:
		return VS_WC_RDMA_WRITE;
	case VS_WR_RDMA_READ:
		return VS_WC_RDMA_READ;
	case VS_WR_ATOMIC_CMP_AND_SWP:
		return VS_WC_COMP_SWAP;
	case VS_WR_ATOMIC_FETCH_AND_ADD:
		return VS_WC_FETCH_ADD;
	case VS_WR_LOCAL_INV:
		return VS_WC_LOCAL_INV;
	case VS_WR_BIND_MW:
		return VS_WC_BIND_MW;
	case VS_WR_FLUSH:
		return VS_WC_FLUSH;
	case VS_WR_ATOMIC_WRITE:
		return VS_WC_ATOMIC_WRITE;
	default:
		return wr < 0 ? VS_WC_RECV : VS_WC_SEND;
	}
}

static void remember(struct run *r, const struct stmt *st, uint64_t wr_id, bool signaled)
{
	struct pending *p = calloc(1, sizeof(*p));

	if (p == NULL) {
		dr_broken(r, st, st->column, "no memory");
		return;
	}
	*p = (struct pending){NULL, st->obj, wr_id, st->word < 0, signaled, wc_of(st->word)};
	/* Those of a shared queue complete on its queue pairs. */
	if (st->kind == S_POST_RECV && st->obj->kind == O_QP && dr_rt(r, st->obj)->srq != NULL)
		p->q = dr_rt(r, st->obj)->srq;
	*r->pending_tail = p;
	r->pending_tail = &p->next;
}

static bool post_one(struct run *r, const struct stmt *st, struct request *q, uint64_t wr_id, uint32_t k)
{
	struct rt_obj *rt = dr_rt(r, st->obj);
	struct vs_recv_wr recv = {wr_id, q->sge, 0};
	bool srq = st->obj->kind == O_SRQ;
	int rc;

	memset(&q->wr, 0, sizeof(q->wr));
	q->n = 0;
	q->wr.wr_id = wr_id;
	if (st->kind == S_POST_RECV) {
		if (!memory(r, st, k, q))
			return false;
		recv.num_sge = q->n;
		rc = r->t->ops->post_recv(r->t, srq ? NULL : rt->h, srq ? rt->h : NULL, &recv);
	} else {
		q->wr.opcode = (enum vs_wr_opcode)st->word;
		q->wr.sg_list = q->sge;
		if (!memory(r, st, k, q) || !remote(r, st, &q->wr) || !datagram(r, st, &q->wr) ||
		    !bind(r, st, &q->wr) || !numbers(r, st, &q->wr) || !make_inline(r, st, q))
			return false;
		q->wr.num_sge = q->n;
		rc = r->t->ops->post_send(r->t, rt->h, &q->wr);
	}
	if (outcome(r, st, rc))
		remember(r, st, wr_id, q->wr.flags & VS_SEND_SIGNALED || rt->sig_all);
	return !r->failed;
}

void dr_post(struct run *r, const struct stmt *st)
{
	const struct option *wr = dr_opt(st, K_WR);
	struct request *q = calloc(1, sizeof(*q));
	uint64_t a, b;

	if (q != NULL && dr_eval(r, st, wr->v.e, &a)) {
		b = a;
		if (wr->v.e2 != NULL && (!dr_eval(r, st, wr->v.e2, &b) || b < a || b - a >= MAX_WR))
			dr_broken(r, st, wr->column, "the range ends before it begins, or has more than %u numbers",
				  MAX_WR);
		for (uint64_t i = a; !r->failed && i <= b; i++)
			if (!post_one(r, st, q, i, (uint32_t)(i - a)))
				break;
	}
	free(q);
}

/* ---- connections ---- */

static bool cm_param(struct run *r, const struct stmt *st, struct obj *o, struct vs_conn_param *p)
{
	const struct option *to = dr_opt(st, K_TO);
	int node = to != NULL && to->v.kind == V_NODE ? to->v.word : st->node == 0 ? 1 : 0;
	uint64_t service, psn, mtu, timeout, retries;

	if (!dr_value(r, st, K_SERVICE, 0, UINT64_MAX, &service) || !dr_value(r, st, K_PSN, 0xfffffa, 0xffffff, &psn) ||
	    !dr_value(r, st, K_MTU, 1024, 4096, &mtu) || !dr_value(r, st, K_TIMEOUT, 18, 31, &timeout) ||
	    !dr_value(r, st, K_RETRY_CNT, 3, 15, &retries))
		return false;
	*p = (struct vs_conn_param){.service_id = service,
				    .qpn = dr_rt(r, o)->qpn,
				    .starting_psn = (uint32_t)psn,
				    .responder_resources = 4,
				    .initiator_depth = 4,
				    .retry_count = 7,
				    .rnr_retry = 7,
				    .local_ack_timeout = 14,
				    .cm_response_timeout = (uint8_t)timeout,
				    .max_cm_retries = (uint8_t)retries};
	p->path_mtu = VS_MTU_256;
	while (p->path_mtu < VS_MTU_4096 && vs_mtu_bytes(p->path_mtu) < mtu)
		p->path_mtu++;
	(void)r->t->ops->av(r->t, node, &p->path);
	dr_rt(r, o)->psn = (uint32_t)psn;
	return true;
}

static bool cm_qp(struct run *r, const struct stmt *st, struct obj *o)
{
	struct rt_obj *rt = dr_rt(r, o);
	struct vs_qp_init init = {
		.type = VS_QPT_RC, .send_cq = r->cq[o->node], .recv_cq = r->cq[o->node], .cap = {256, 256, 4, 4, 128}};

	if (rt->made)
		return true;
	rt->made = r->t->ops->qp_create(r->t, o->node, &init, &rt->h, &rt->qpn) >= 0;
	rt->mtu = 1024;
	if (!rt->made)
		dr_broken(r, st, 1, "there is no room for a queue pair");
	return rt->made;
}

static bool cm_step(struct run *r, const struct stmt *st, struct obj *o, enum vs_qp_state to)
{
	struct vs_qp_attr a;
	uint32_t mask;

	if (r->t->ops->conn_attr(r->t, dr_rt(r, o)->conn, to, &a, &mask) >= 0 &&
	    r->t->ops->qp_modify(r->t, dr_rt(r, o)->h, &a, mask) >= 0) {
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

	if (!cm_qp(r, st, o) || !cm_param(r, st, o, &p))
		return;
	if (in_reset(r, o) && !cm_step(r, st, o, VS_QPS_INIT))
		return;
	if (cm_step(r, st, o, VS_QPS_RTR))
		(void)outcome(r, st, r->t->ops->accept(r->t, rt->conn, &p));
}

static void establish(struct run *r, const struct stmt *st, struct obj *o)
{
	if (in_reset(r, o) && !cm_step(r, st, o, VS_QPS_INIT))
		return;
	if (cm_step(r, st, o, VS_QPS_RTR) && cm_step(r, st, o, VS_QPS_RTS))
		(void)outcome(r, st, r->t->ops->establish(r->t, dr_rt(r, o)->conn));
}

void dr_cm(struct run *r, const struct stmt *st)
{
	struct rt_obj *rt = dr_rt(r, st->obj);
	struct vs_conn_param p;
	uint64_t reason;

	if (rt->gone) {
		dr_broken(r, st, st->column, "%s is not there", st->obj->name);
		return;
	}
	if (st->word > CM_CONNECT && rt->conn == NULL) {
		dr_broken(r, st, st->column, "%s has no connection yet", st->obj->name);
		return;
	}
	switch (st->word) {
	case CM_LISTEN:
		rt->cm_stmt = st;
		rt->automatic = dr_opt(st, K_MANUAL) == NULL;
		r->listener[st->node] = st->obj;
		if (cm_param(r, st, st->obj, &p))
			(void)outcome(r, st, r->t->ops->listen(r->t, st->node, p.service_id));
		break;
	case CM_CONNECT:
		rt->cm_stmt = st;
		rt->automatic = dr_opt(st, K_MANUAL) == NULL;
		if (cm_qp(r, st, st->obj) && cm_param(r, st, st->obj, &p))
			(void)outcome(r, st, r->t->ops->connect(r->t, st->node, &p, &rt->conn));
		break;
	case CM_ACCEPT:
		accept(r, st, st->obj);
		break;
	case CM_ESTABLISH:
		establish(r, st, st->obj);
		break;
	case CM_REJECT:
		if (dr_value(r, st, K_REASON, 28, 0xffff, &reason))
			(void)outcome(r, st, r->t->ops->reject(r->t, rt->conn, (uint16_t)reason));
		break;
	default:
		(void)outcome(r, st, r->t->ops->disconnect(r->t, rt->conn));
		break;
	}
}

/* What the application that the script stands for does by itself: accept, go on to RTS. */
void dr_cm_heard(struct run *r, int node, struct seen *s)
{
	struct obj *o = NULL;

	for (unsigned i = 0; i < r->p->n_objs; i++)
		if (r->p->obj[i]->node == node && r->obj[i].conn == s->cm.conn && r->obj[i].conn != NULL)
			o = r->p->obj[i];
	if (s->cm.type == VS_CONN_EV_REQUEST) {
		o = r->listener[node];
		if (o == NULL || dr_rt(r, o)->conn != NULL)
			return;
		dr_rt(r, o)->conn = s->cm.conn;
	}
	if (o == NULL || dr_rt(r, o)->cm_stmt == NULL || dr_rt(r, o)->gone)
		return;
	if (s->cm.type == VS_CONN_EV_ESTABLISHED && dr_rt(r, o)->h != NULL &&
	    r->t->ops->qp_state(r->t, dr_rt(r, o)->h) == VS_QPS_RTR)
		(void)cm_step(r, dr_rt(r, o)->cm_stmt, o, VS_QPS_RTS);
	if (!dr_rt(r, o)->automatic || (s->cm.type != VS_CONN_EV_REQUEST && s->cm.type != VS_CONN_EV_RESPONSE))
		return;
	if (s->cm.type == VS_CONN_EV_REQUEST)
		accept(r, dr_rt(r, o)->cm_stmt, o);
	else
		establish(r, dr_rt(r, o)->cm_stmt, o);
	dr_take(r, SEEN_CM, s);
}
