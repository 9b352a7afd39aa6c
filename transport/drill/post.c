/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * post.c - work requests of the script.
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

/* The way of a datagram: a handle that ah= names, or one that is made for this line and kept. */
static bool way(struct run *r, const struct stmt *st, struct vs_send_wr *wr)
{
	const struct option *to = dr_opt(st, K_TO), *gid = dr_opt(st, K_MGID), *ah = dr_opt(st, K_AH);
	const struct option *encap = dr_opt(st, K_ENCAP);
	struct rt_obj *rt = dr_rt(r, st->obj);
	struct vs_av av;
	bool said = false;
	void *h;

	if (ah != NULL) {
		if (dr_rt(r, ah->v.obj)->h == NULL)
			dr_broken(r, st, ah->column, "%s is not there", ah->v.obj->name);
		wr->ud.ah = dr_rt(r, ah->v.obj)->h;
		return !r->failed;
	}
	if (rt->ah_of == st) {
		wr->ud.ah = rt->ah;
		return true;
	}
	(void)r->t->ops->av(r->t, to != NULL ? to->v.obj->node : st->node, encap != NULL ? encap->v.word : -1, &av);
	if (gid != NULL)
		dr_group_address(r, gid->v.bytes, encap != NULL ? encap->v.word : r->encap, &av);
	if (!dr_address(r, st, &av, &said))
		return false;
	if (r->t->ops->ah_create(r->t, st->node, rt->pd, &av, &h) < 0) {
		dr_verdict(r, st, st->column, "the address was refused: %s",
			   vs_reason_info(r->t->ops->reason(r->t, st->node))->id);
		return false;
	}
	rt->ah_of = st;
	rt->ah = wr->ud.ah = h;
	return true;
}

static bool datagram(struct run *r, const struct stmt *st, struct vs_send_wr *wr)
{
	const struct option *to = dr_opt(st, K_TO);
	const bool named = to != NULL && to->v.kind == V_OBJECT;
	uint64_t qkey, qpn;

	if (st->obj->type != VS_QPT_UD)
		return true;
	if (!named && dr_opt(st, K_MGID) == NULL && (dr_opt(st, K_AH) == NULL || dr_opt(st, K_DESTQP) == NULL)) {
		dr_broken(r, st, st->column, "a datagram needs to=NODE.QP or mgid=, or ah= and destqp=");
		return false;
	}
	qpn = named ? dr_rt(r, to->v.obj)->qpn : VS_QPN_MULTICAST;
	qkey = named ? dr_rt(r, to->v.obj)->qkey : dr_rt(r, st->obj)->qkey;
	if (!dr_value(r, st, K_QKEY, qkey, UINT32_MAX, &qkey) || !dr_value(r, st, K_DESTQP, qpn, UINT32_MAX, &qpn))
		return false;
	wr->ud.remote_qkey = (uint32_t)qkey;
	wr->ud.remote_qpn = (uint32_t)qpn;
	return way(r, st, wr);
}

/* bind mw= [mr=REGION[a:b]]; va= and len= where the range is not that of the slice. */
static bool bind(struct run *r, const struct stmt *st, struct vs_send_wr *wr)
{
	const struct option *mw = dr_opt(st, K_MW), *mr = dr_opt(st, K_MR);
	uint64_t access, key, va = 0, len = 0;
	uint32_t from = 0, to = 0;

	if (st->word != VS_WR_BIND_MW)
		return true;
	if ((mr != NULL && !dr_memory(r, st, &mr->v, &from, &to)) ||
	    !dr_value(r, st, K_ACCESS, 0, UINT32_MAX, &access) || !dr_value(r, st, K_KEY, 0, 255, &key))
		return false;
	if (dr_rt(r, mw->v.obj)->h == NULL || (mr != NULL && dr_rt(r, mr->v.obj)->h == NULL)) {
		dr_broken(r, st, st->column, "the window or the region is not there");
		return false;
	}
	va = mr != NULL ? dr_rt(r, mr->v.obj)->mem.addr + from : 0;
	if (!dr_value(r, st, K_VA, va, UINT64_MAX, &va) || !dr_value(r, st, K_LEN, to - from, UINT64_MAX, &len))
		return false;
	wr->bind.mw = dr_rt(r, mw->v.obj)->h;
	wr->bind.mr = mr != NULL ? dr_rt(r, mr->v.obj)->h : NULL;
	wr->bind.addr = va;
	wr->bind.length = len;
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
	    !dr_value(r, st, K_SEL, 0, 3, &sel) || !dr_value(r, st, K_LEN, wr->flush.length, UINT64_MAX, &len))
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

static void remember(struct run *r, const struct stmt *st, uint64_t wr_id, bool signaled)
{
	struct pending *p = calloc(1, sizeof(*p));

	if (p == NULL) {
		dr_broken(r, st, st->column, "no memory");
		return;
	}
	*p = (struct pending){NULL,     st->obj,
			      wr_id,    st->word < 0,
			      signaled, st->word < 0 ? VS_WC_RECV : vs_wr_completes_as((enum vs_wr_opcode)st->word)};
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

	if (!dr_step(r))
		return false;
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
	if (rc >= 0 && st->kind != S_POST_RECV)
		dr_payload_posted(r, &q->wr);
	if (dr_call(r, st, st->node, rc))
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
