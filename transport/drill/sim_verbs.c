/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * sim_verbs.c - the verbs of the devices in the simulator: objects, work requests, completions, connections.
 */
#include <stdlib.h>

#include "sim.h"

#define MAX_REGIONS 4096u
#define MAX_REGION_BYTES (256u << 20) /* of all regions, those that are gone too */

/* ---- objects ---- */

static struct handle *new_handle(struct sim_target *s)
{
	struct handle *h = calloc(1, sizeof(*h));

	if (h != NULL) {
		h->next = s->handles;
		s->handles = h;
	}
	return h;
}

static struct vs_pd *pd_of(struct dr_target *t, int node, void *pd)
{
	return pd != NULL ? pd : self(t)->pd[node];
}

static int t_pd_create(struct dr_target *t, int node, void **h)
{
	int err;

	*h = vs_pd_create(dev_of(t, node), &err);
	return err;
}

static int t_channel_create(struct dr_target *t, int node, void **h)
{
	(void)node;
	*h = new_handle(self(t));
	return *h != NULL ? VS_OK : VS_ERR_NOSPACE;
}

static int t_cq_create(struct dr_target *t, int node, uint32_t cqe, void *channel, void **h)
{
	struct handle *tie = channel != NULL ? new_handle(self(t)) : NULL;
	int err;

	*h = vs_cq_create(dev_of(t, node), cqe, 0, &err);
	if (*h != NULL && tie != NULL) {
		tie->cq = *h;
		tie->of = channel;
		tie->of->users++;
	}
	return err;
}

static int t_cq_resize(struct dr_target *t, void *cq, uint32_t cqe)
{
	(void)t;
	return vs_cq_resize(cq, cqe);
}

static uint32_t t_cq_capacity(struct dr_target *t, void *cq)
{
	(void)t;
	return vs_cq_capacity(cq);
}

static int cq_destroy(struct sim_target *s, void *cq)
{
	int rc = vs_cq_destroy(cq);

	for (struct handle *h = s->handles; h != NULL && rc >= 0; h = h->next) {
		if (h->cq == cq) {
			h->cq = NULL;
			h->of->users--;
		}
	}
	return rc;
}

static int t_srq_create(struct dr_target *t, int node, void *pd, const struct vs_srq_attr *attr, void **h)
{
	int err;

	*h = vs_srq_create(pd_of(t, node, pd), attr, 0, &err);
	/* A limit is armed by a modify. */
	return *h != NULL && attr->srq_limit > 0 ? vs_srq_modify(*h, attr, VS_SRQ_LIMIT) : err;
}

static int t_srq_modify(struct dr_target *t, void *srq, const struct vs_srq_attr *attr, unsigned mask)
{
	(void)t;
	return vs_srq_modify(srq, attr, mask);
}

static void t_srq_query(struct dr_target *t, void *srq, struct vs_srq_attr *attr)
{
	(void)t;
	vs_srq_query(srq, attr);
}

static bool room_for_region(struct sim_target *s)
{
	void *p;

	if (s->regions < s->room)
		return true;
	if (s->regions == MAX_REGIONS)
		return false;
	p = realloc((void *)s->bytes, (s->room * 2 + 16) * sizeof(s->bytes[0]));
	if (p == NULL)
		return false;
	s->bytes = p;
	s->room = s->room * 2 + 16;
	return true;
}

static int t_mr_reg(struct dr_target *t, int node, void *pd, uint32_t access, struct dr_memory *m)
{
	struct sim_target *s = self(t);
	struct vs_mr_attr a = {.length = m->len, .access = access};
	int err;

	if (!room_for_region(s) || m->len > MAX_REGION_BYTES - s->region_bytes)
		return VS_ERR_NOSPACE;
	m->bytes = s->bytes[s->regions] = calloc(1, m->len > 0 ? m->len : 1);
	if (m->bytes == NULL)
		return VS_ERR_NOSPACE;
	s->region_bytes += m->len;
	a.addr = SIM_BASE + ((uint64_t)s->regions++ << SIM_SHIFT);
	a.iova = access & VS_ACCESS_ZERO_BASED ? 0 : a.addr;
	m->addr = a.iova;
	m->h = vs_mr_reg(pd_of(t, node, pd), &a, &err);
	if (m->h == NULL)
		return err;
	m->lkey = vs_mr_lkey(m->h);
	m->rkey = vs_mr_rkey(m->h);
	return VS_OK;
}

static int t_mr_rereg(struct dr_target *t, struct dr_memory *m, unsigned flags, void *pd, uint32_t access,
		      uint32_t from, uint32_t to)
{
	struct vs_mr_attr a = {.length = to - from, .access = access};
	int rc;

	/* Where the bytes are: regions have their number in their address. */
	for (unsigned i = 0; i < self(t)->regions; i++)
		if (self(t)->bytes[i] == m->bytes)
			a.addr = SIM_BASE + ((uint64_t)i << SIM_SHIFT) + from;
	a.iova = m->addr + from;
	rc = vs_mr_rereg(m->h, flags, pd, &a);
	m->lkey = vs_mr_lkey(m->h);
	m->rkey = vs_mr_rkey(m->h);
	return rc;
}

static void t_mr_written(struct dr_target *t, struct dr_memory *m)
{
	(void)t; /* the device reads the same bytes */
	(void)m;
}

static int t_mw_alloc(struct dr_target *t, int node, void *pd, enum vs_mw_type type, void **h)
{
	int err;

	*h = vs_mw_alloc(pd_of(t, node, pd), type, &err);
	return err;
}

static uint32_t t_mw_rkey(struct dr_target *t, void *h, bool posted)
{
	(void)t;
	return posted ? vs_mw_posted_rkey(h) : vs_mw_rkey(h);
}

static int t_qp_create(struct dr_target *t, int node, void *pd, const struct vs_qp_init *init, void **h, uint32_t *qpn)
{
	int err;

	*h = vs_qp_create(pd_of(t, node, pd), init, &err);
	*qpn = *h != NULL ? vs_qp_num(*h) : 0;
	return err;
}

static int t_qp_modify(struct dr_target *t, void *qp, const struct vs_qp_attr *a, uint32_t mask)
{
	(void)t;
	return vs_qp_modify(qp, a, mask);
}

static void t_qp_query(struct dr_target *t, void *qp, struct vs_qp_attr *a, struct vs_qp_init *init)
{
	(void)t;
	vs_qp_query(qp, a, init);
}

static enum vs_qp_state t_qp_state(struct dr_target *t, void *qp)
{
	(void)t;
	return vs_qp_state(qp);
}

static int t_ah_create(struct dr_target *t, int node, void *pd, const struct vs_av *av, void **h)
{
	struct handle *a = new_handle(self(t));
	int err;

	if (a == NULL)
		return VS_ERR_NOSPACE;
	a->ah = vs_ah_create(pd_of(t, node, pd), av, &err);
	*h = a;
	return err;
}

/* A datagram with a handle that is gone is refused, as one without. */
static int ah_destroy(struct handle *a)
{
	struct vs_ah *ah = a->ah;

	a->ah = NULL;
	return ah != NULL ? vs_ah_destroy(ah) : VS_ERR_INVAL;
}

static int t_group(struct dr_target *t, void *qp, const uint8_t mgid[16], bool attach)
{
	(void)t;
	return attach ? vs_qp_attach_mcast(qp, mgid, 0xc000) : vs_qp_detach_mcast(qp, mgid, 0xc000);
}

static int t_destroy_object(struct dr_target *t, enum obj_kind kind, void *h)
{
	switch (kind) {
	case O_PD:
		return vs_pd_destroy(h);
	case O_AH:
		return ah_destroy(h);
	case O_CHANNEL:
		return ((struct handle *)h)->users > 0 ? VS_ERR_BUSY : VS_OK;
	case O_QP:
		return vs_qp_destroy(h);
	case O_MR:
		return vs_mr_dereg(h);
	case O_MW:
		return vs_mw_dealloc(h);
	case O_CQ:
		return cq_destroy(self(t), h);
	case O_SRQ:
		return vs_srq_destroy(h);
	default:
		return VS_ERR_INVAL;
	}
}

/* ---- work ---- */

static int t_post_send(struct dr_target *t, void *qp, const struct vs_send_wr *wr)
{
	const struct handle *a = (const void *)wr->ud.ah;
	struct vs_send_wr copy = *wr;

	(void)t;
	copy.ud.ah = a != NULL ? a->ah : NULL;
	return vs_qp_post_send(qp, &copy);
}

static int t_post_recv(struct dr_target *t, void *qp, void *srq, const struct vs_recv_wr *wr)
{
	(void)t;
	return srq != NULL ? vs_srq_post_recv(srq, wr) : vs_qp_post_recv(qp, wr);
}

static int t_cq_poll(struct dr_target *t, void *cq, struct vs_wc *wc)
{
	(void)t;
	return vs_cq_poll(cq, wc, 1) == 1;
}

static void t_cq_arm(struct dr_target *t, void *cq, bool solicited)
{
	(void)t;
	vs_cq_arm(cq, solicited);
}

static int t_comp_event(struct dr_target *t, int node, void **h)
{
	struct vs_cq *cq;
	uint64_t cookie;
	int rc = vs_dev_poll_comp_event(dev_of(t, node), &cq, &cookie);

	if (rc == 1)
		*h = cq;
	return rc;
}

static int t_async(struct dr_target *t, int node, struct vs_async *a)
{
	return vs_dev_poll_async(dev_of(t, node), a);
}

static uint64_t t_counter(struct dr_target *t, int node, enum vs_counter c)
{
	return vs_dev_counter(dev_of(t, node), c);
}

static enum vs_reason t_reason(struct dr_target *t, int node)
{
	return vs_dev_refusal(dev_of(t, node));
}

/* ---- connections ---- */

static int t_listen(struct dr_target *t, int node, uint64_t service, uint64_t cookie)
{
	int err;

	(void)vs_listen(dev_of(t, node), service, cookie, &err);
	return err;
}

static int t_connect(struct dr_target *t, int node, const struct vs_conn_param *p, void **conn)
{
	int err;

	*conn = vs_connect(dev_of(t, node), p, 0, &err);
	return err;
}

static int t_accept(struct dr_target *t, void *conn, const struct vs_conn_param *p)
{
	(void)t;
	return vs_accept(conn, p);
}

static int t_establish(struct dr_target *t, void *conn)
{
	(void)t;
	return vs_conn_establish(conn);
}

static int t_reject(struct dr_target *t, void *conn, uint16_t reason, const void *private_data, uint8_t len)
{
	(void)t;
	return vs_reject(conn, reason, private_data, len);
}

static int t_mra(struct dr_target *t, void *conn, uint8_t service_timeout)
{
	(void)t;
	return vs_conn_mra(conn, service_timeout);
}

static int t_sidr_resolve(struct dr_target *t, int node, const struct vs_conn_param *p, void **conn)
{
	int err;

	*conn = vs_sidr_resolve(dev_of(t, node), p, 0, &err);
	return err;
}

static int t_sidr_reply(struct dr_target *t, void *conn, uint32_t status, const struct vs_conn_param *p)
{
	(void)t;
	return vs_sidr_reply(conn, status, p);
}

static int t_disconnect(struct dr_target *t, void *conn)
{
	(void)t;
	return vs_disconnect(conn);
}

static int t_conn_event(struct dr_target *t, int node, struct vs_conn_event *e)
{
	return vs_dev_poll_conn(dev_of(t, node), e);
}

static int t_conn_attr(struct dr_target *t, void *conn, enum vs_qp_state to, const struct vs_conn_param *p,
		       struct vs_qp_attr *a, uint32_t *mask)
{
	int rc = vs_conn_qp_attr(conn, to, a, mask);

	(void)t;
	if (p != NULL)
		a->rq_psn = p->starting_psn;
	return rc;
}

void dr_sim_verbs(struct dr_target_ops *ops)
{
	ops->pd_create = t_pd_create;
	ops->channel_create = t_channel_create;
	ops->cq_create = t_cq_create;
	ops->cq_resize = t_cq_resize;
	ops->cq_capacity = t_cq_capacity;
	ops->srq_create = t_srq_create;
	ops->srq_modify = t_srq_modify;
	ops->srq_query = t_srq_query;
	ops->mr_reg = t_mr_reg;
	ops->mr_rereg = t_mr_rereg;
	ops->mr_written = t_mr_written;
	ops->mw_alloc = t_mw_alloc;
	ops->mw_rkey = t_mw_rkey;
	ops->qp_create = t_qp_create;
	ops->qp_modify = t_qp_modify;
	ops->qp_query = t_qp_query;
	ops->qp_state = t_qp_state;
	ops->ah_create = t_ah_create;
	ops->group = t_group;
	ops->destroy_object = t_destroy_object;
	ops->post_send = t_post_send;
	ops->post_recv = t_post_recv;
	ops->cq_poll = t_cq_poll;
	ops->cq_arm = t_cq_arm;
	ops->comp_event = t_comp_event;
	ops->async = t_async;
	ops->counter = t_counter;
	ops->reason = t_reason;
	ops->listen = t_listen;
	ops->connect = t_connect;
	ops->accept = t_accept;
	ops->establish = t_establish;
	ops->reject = t_reject;
	ops->mra = t_mra;
	ops->sidr_resolve = t_sidr_resolve;
	ops->sidr_reply = t_sidr_reply;
	ops->disconnect = t_disconnect;
	ops->conn_event = t_conn_event;
	ops->conn_attr = t_conn_attr;
}
