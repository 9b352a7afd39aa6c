/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* pair_calls.c - the verbs of two devices: each call goes to the one whose node or object it is about. */
#include <stdlib.h>
#include <string.h>

#include "pair.h"

#define NO_CM "connections over a bridge are not in the suite yet"

/* ---- whose ---- */

static struct dr_target *of(struct dr_target *t, const void *object)
{
	return self(t)->end[((const struct on *)object)->end];
}

static void *raw(const void *object)
{
	return object != NULL ? ((const struct on *)object)->h : NULL;
}

static void *wrapped(struct pair *p, unsigned end, void *h)
{
	for (struct on *o = p->objects; o != NULL; o = o->next)
		if (o->end == end && o->h == h)
			return o;
	return NULL;
}

/* What a call has made becomes an object of ours. */
static int made(struct dr_target *t, int node, int rc, void *h, void **object)
{
	struct on *o = rc >= 0 ? malloc(sizeof(*o)) : NULL;

	*object = o;
	if (o == NULL)
		return rc < 0 ? rc : VS_ERR_NOSPACE;
	*o = (struct on){self(t)->objects, end_of(self(t), node), h};
	self(t)->objects = o;
	return rc;
}

/* A way that one device has told is used by the other, whose own GIDs have other places in its table. */
static struct vs_av way_from(const struct pair *p, unsigned end, struct vs_av av)
{
	const struct vc_gids *there = p->gids[!end], *here = p->gids[end];

	for (unsigned e = 0; e < VC_PEER_ENCAPS; e++)
		if (there->has[e] && here->has[e] && memcmp(av.dgid, there->gid[e], 16) == 0 &&
		    av.sgid_index == there->index[e]) {
			av.sgid_index = here->index[e];
			break;
		}
	return av;
}

/* ---- calls about a node ---- */

static uint32_t p_limit(struct dr_target *t, int node, enum dr_limit what)
{
	struct dr_target *e = of_node(t, node);
	uint32_t limit = e->ops->limit(e, node, what);

	vc_pair_take_over(self(t));
	return limit;
}

static int p_set_gid(struct dr_target *t, int node, unsigned index, const uint8_t gid[16], int encap)
{
	struct dr_target *e = of_node(t, node);

	return told(t, e->ops->set_gid(e, node, index, gid, encap));
}

static int p_set_port(struct dr_target *t, int node, bool up)
{
	struct dr_target *e = of_node(t, node);

	return told(t, e->ops->set_port(e, node, up));
}

static int p_pd_create(struct dr_target *t, int node, void **h)
{
	struct dr_target *e = of_node(t, node);
	void *made_h = NULL;
	int rc = e->ops->pd_create(e, node, &made_h);

	return told(t, made(t, node, rc, made_h, h));
}

static int p_channel_create(struct dr_target *t, int node, void **h)
{
	struct dr_target *e = of_node(t, node);
	void *made_h = NULL;
	int rc = e->ops->channel_create(e, node, &made_h);

	return told(t, made(t, node, rc, made_h, h));
}

static int p_cq_create(struct dr_target *t, int node, uint32_t cqe, void *channel, void **h)
{
	struct dr_target *e = of_node(t, node);
	void *made_h = NULL;
	int rc = e->ops->cq_create(e, node, cqe, raw(channel), &made_h);

	return told(t, made(t, node, rc, made_h, h));
}

static int p_srq_create(struct dr_target *t, int node, void *pd, const struct vs_srq_attr *a, void **h)
{
	struct dr_target *e = of_node(t, node);
	void *made_h = NULL;
	int rc = e->ops->srq_create(e, node, raw(pd), a, &made_h);

	return told(t, made(t, node, rc, made_h, h));
}

static int p_mw_alloc(struct dr_target *t, int node, void *pd, enum vs_mw_type type, void **h)
{
	struct dr_target *e = of_node(t, node);
	void *made_h = NULL;
	int rc = e->ops->mw_alloc(e, node, raw(pd), type, &made_h);

	return told(t, made(t, node, rc, made_h, h));
}

static int p_qp_create(struct dr_target *t, int node, void *pd, const struct vs_qp_init *init, void **h, uint32_t *qpn)
{
	struct dr_target *e = of_node(t, node);
	struct vs_qp_init own = *init;
	void *made_h = NULL;
	int rc;

	own.send_cq = raw(init->send_cq);
	own.recv_cq = raw(init->recv_cq);
	own.srq = raw(init->srq);
	rc = e->ops->qp_create(e, node, raw(pd), &own, &made_h, qpn);
	return told(t, made(t, node, rc, made_h, h));
}

static int p_ah_create(struct dr_target *t, int node, void *pd, const struct vs_av *av, void **h)
{
	struct dr_target *e = of_node(t, node);
	struct vs_av own = way_from(self(t), end_of(self(t), node), *av);
	void *made_h = NULL;
	int rc = e->ops->ah_create(e, node, raw(pd), &own, &made_h);

	return told(t, made(t, node, rc, made_h, h));
}

static int p_async(struct dr_target *t, int node, struct vs_async *a)
{
	struct pair *p = self(t);
	unsigned end = end_of(p, node);
	int n = p->end[end]->ops->async(p->end[end], node, a);

	if (n == 1) {
		p->newest = end;
		a->object = a->object != NULL ? wrapped(p, end, a->object) : NULL;
	}
	return n;
}

static int p_comp_event(struct dr_target *t, int node, void **cq)
{
	struct pair *p = self(t);
	unsigned end = end_of(p, node);
	int n = p->end[end]->ops->comp_event(p->end[end], node, cq);

	if (n == 1) {
		p->newest = end;
		*cq = wrapped(p, end, *cq);
	}
	return n;
}

static uint64_t p_counter(struct dr_target *t, int node, enum vs_counter c)
{
	struct dr_target *e = of_node(t, node);
	uint64_t v = e->ops->counter(e, node, c);

	vc_pair_take_over(self(t));
	return v;
}

static enum vs_reason p_reason(struct dr_target *t, int node)
{
	struct dr_target *e = of_node(t, node);

	return e->ops->reason(e, node);
}

/* ---- memory: the target keeps its handle in what the runner has ---- */

static int p_mr_reg(struct dr_target *t, int node, void *pd, uint32_t access, struct dr_memory *m)
{
	struct dr_target *e = of_node(t, node);
	int rc = e->ops->mr_reg(e, node, raw(pd), access, m);
	void *h = m->h;

	return told(t, made(t, node, rc, h, &m->h));
}

static int p_mr_rereg(struct dr_target *t, struct dr_memory *m, unsigned flags, void *pd, uint32_t access,
		      uint32_t from, uint32_t to)
{
	struct dr_target *e = of(t, m->h);
	void *object = m->h;
	int rc;

	m->h = raw(object);
	rc = e->ops->mr_rereg(e, m, flags, raw(pd), access, from, to);
	m->h = object;
	return told(t, rc);
}

static bool p_mr_known(struct dr_target *t, struct dr_memory *m)
{
	struct dr_target *e = of(t, m->h);
	struct dr_memory own = *m;

	own.h = raw(m->h);
	return e->ops->mr_known == NULL || e->ops->mr_known(e, &own);
}

static void p_mr_written(struct dr_target *t, struct dr_memory *m)
{
	struct dr_target *e = of(t, m->h);
	struct dr_memory own = *m;

	own.h = raw(m->h);
	e->ops->mr_written(e, &own);
	vc_pair_take_over(self(t));
}

static void p_mr_read(struct dr_target *t, struct dr_memory *m)
{
	struct dr_target *e = of(t, m->h);
	struct dr_memory own = *m;

	own.h = raw(m->h);
	if (e->ops->mr_read != NULL)
		e->ops->mr_read(e, &own);
	vc_pair_take_over(self(t));
}

/* ---- calls about an object ---- */

static int p_cq_resize(struct dr_target *t, void *cq, uint32_t cqe)
{
	return told(t, of(t, cq)->ops->cq_resize(of(t, cq), raw(cq), cqe));
}

static uint32_t p_cq_capacity(struct dr_target *t, void *cq)
{
	return of(t, cq)->ops->cq_capacity(of(t, cq), raw(cq));
}

static int p_srq_modify(struct dr_target *t, void *srq, const struct vs_srq_attr *a, unsigned mask)
{
	return told(t, of(t, srq)->ops->srq_modify(of(t, srq), raw(srq), a, mask));
}

static void p_srq_query(struct dr_target *t, void *srq, struct vs_srq_attr *a)
{
	of(t, srq)->ops->srq_query(of(t, srq), raw(srq), a);
	vc_pair_take_over(self(t));
}

static uint32_t p_mw_rkey(struct dr_target *t, void *h, bool posted)
{
	return of(t, h)->ops->mw_rkey(of(t, h), raw(h), posted);
}

static int p_qp_modify(struct dr_target *t, void *qp, const struct vs_qp_attr *a, uint32_t mask)
{
	struct vs_qp_attr own = *a;

	own.av = way_from(self(t), ((struct on *)qp)->end, a->av);
	return told(t, of(t, qp)->ops->qp_modify(of(t, qp), raw(qp), &own, mask));
}

static void p_qp_query(struct dr_target *t, void *qp, struct vs_qp_attr *a, struct vs_qp_init *init)
{
	of(t, qp)->ops->qp_query(of(t, qp), raw(qp), a, init);
	vc_pair_take_over(self(t));
}

static enum vs_qp_state p_qp_state(struct dr_target *t, void *qp)
{
	return of(t, qp)->ops->qp_state(of(t, qp), raw(qp));
}

static int p_group(struct dr_target *t, void *qp, const uint8_t mgid[16], bool attach)
{
	return told(t, of(t, qp)->ops->group(of(t, qp), raw(qp), mgid, attach));
}

static int p_destroy_object(struct dr_target *t, enum obj_kind kind, void *h)
{
	return told(t, of(t, h)->ops->destroy_object(of(t, h), kind, raw(h)));
}

static int p_post_send(struct dr_target *t, void *qp, const struct vs_send_wr *wr)
{
	struct vs_send_wr own = *wr;

	own.ud.ah = raw(wr->ud.ah);
	own.bind.mw = raw(wr->bind.mw);
	own.bind.mr = raw(wr->bind.mr);
	return told(t, of(t, qp)->ops->post_send(of(t, qp), raw(qp), &own));
}

static int p_post_recv(struct dr_target *t, void *qp, void *srq, const struct vs_recv_wr *wr)
{
	struct dr_target *e = of(t, srq != NULL ? srq : qp);

	return told(t, e->ops->post_recv(e, raw(qp), raw(srq), wr));
}

static int p_cq_poll(struct dr_target *t, void *cq, struct vs_wc *wc)
{
	int n = of(t, cq)->ops->cq_poll(of(t, cq), raw(cq), wc);

	if (n == 1)
		self(t)->newest = ((struct on *)cq)->end;
	return n;
}

static void p_cq_arm(struct dr_target *t, void *cq, bool solicited)
{
	of(t, cq)->ops->cq_arm(of(t, cq), raw(cq), solicited);
}

static uint64_t p_when(struct dr_target *t)
{
	struct dr_target *e = self(t)->end[self(t)->newest];

	return e->ops->when != NULL ? e->ops->when(e) : e->ops->now(e);
}

/* ---- connections: scripts that make some need `cm`, and never come here; those that do not say so do ---- */

static int no_connections(struct dr_target *t)
{
	t->lacks = NO_CM;
	return VS_ERR_INVAL;
}

static int p_listen(struct dr_target *t, int node, uint64_t service, uint64_t cookie)
{
	(void)node;
	(void)service;
	(void)cookie;
	return no_connections(t);
}

static int p_connect(struct dr_target *t, int node, const struct vs_conn_param *param, void **conn)
{
	(void)node;
	(void)param;
	*conn = NULL;
	return no_connections(t);
}

static int p_conn_event(struct dr_target *t, int node, struct vs_conn_event *ev)
{
	(void)t;
	(void)node;
	(void)ev;
	return 0;
}

void vc_pair_calls(struct dr_target_ops *ops)
{
	ops->limit = p_limit;
	ops->set_gid = p_set_gid;
	ops->set_port = p_set_port;
	ops->pd_create = p_pd_create;
	ops->channel_create = p_channel_create;
	ops->cq_create = p_cq_create;
	ops->cq_resize = p_cq_resize;
	ops->cq_capacity = p_cq_capacity;
	ops->srq_create = p_srq_create;
	ops->srq_modify = p_srq_modify;
	ops->srq_query = p_srq_query;
	ops->mr_reg = p_mr_reg;
	ops->mr_rereg = p_mr_rereg;
	ops->mr_known = p_mr_known;
	ops->mr_written = p_mr_written;
	ops->mr_read = p_mr_read;
	ops->mw_alloc = p_mw_alloc;
	ops->mw_rkey = p_mw_rkey;
	ops->qp_create = p_qp_create;
	ops->qp_modify = p_qp_modify;
	ops->qp_query = p_qp_query;
	ops->qp_state = p_qp_state;
	ops->ah_create = p_ah_create;
	ops->group = p_group;
	ops->destroy_object = p_destroy_object;
	ops->post_send = p_post_send;
	ops->post_recv = p_post_recv;
	ops->when = p_when;
	ops->cq_poll = p_cq_poll;
	ops->cq_arm = p_cq_arm;
	ops->comp_event = p_comp_event;
	ops->async = p_async;
	ops->counter = p_counter;
	ops->reason = p_reason;
	ops->listen = p_listen;
	ops->connect = p_connect;
	ops->conn_event = p_conn_event;
}
