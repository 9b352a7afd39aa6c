/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * sim.c - the simulator as target: nodes joined by a link (two) or by a switch (more), exact virtual time.
 *
 * Addresses of memory are made up, so that captures and traces are the same everywhere; the device reaches the
 * bytes through its DMA operations.
 */
#include <stdio.h>
#include <stdlib.h>

#include "target.h"
#include "vs/sim.h"

#define BASE UINT64_C(0x7f0000000000)
#define SHIFT 24 /* every region has 16 MiB of addresses */
#define MAX_REGIONS 4096u
#define MAX_REGION_BYTES (256u << 20) /* of all regions, those that are gone too */

struct sim_target {
	struct dr_target t;
	struct dr_setup setup;
	struct vs_sim *sim;
	struct vs_event_sink sink;
	int host[MAX_NODES]; /* node -> host of the simulation */
	int peer;            /* the raw host; -1: none */
	bool is_global;
	unsigned gid_index;
	struct vs_pd *pd[MAX_NODES];
	uint8_t **bytes; /* of regions, one after the other, those that are gone too */
	unsigned regions, room;
	size_t region_bytes;
	struct handle *handles;
	enum vs_reason last[MAX_NODES];
};

/* What the engine has no object for, or frees while a script may still name it. */
struct handle {
	struct handle *next;
	struct vs_ah *ah;  /* NULL: destroyed, or a channel */
	unsigned users;    /* a channel's queues */
	struct vs_cq *cq;  /* a queue with a channel: where that is found */
	struct handle *of; /* its channel */
};

static struct sim_target *self(struct dr_target *t)
{
	return (struct sim_target *)t;
}

static struct vs_dev *dev_of(struct dr_target *t, int node)
{
	return vs_sim_dev(self(t)->sim, self(t)->host[node]);
}

/* ---- memory ---- */

static uint8_t *at(void *ctx, uint64_t addr)
{
	struct sim_target *s = ctx;
	uint64_t i = (addr - BASE) >> SHIFT;

	return s->bytes[i] + (addr & ((1u << SHIFT) - 1));
}

static void dma_read(void *ctx, uint64_t addr, void *dst, uint32_t len)
{
	memcpy(dst, at(ctx, addr), len);
}

static void dma_write(void *ctx, uint64_t addr, const void *src, uint32_t len)
{
	memcpy(at(ctx, addr), src, len);
}

static uint64_t dma_fetch_add(void *ctx, uint64_t addr, uint64_t add)
{
	uint64_t before, after;

	memcpy(&before, at(ctx, addr), 8);
	after = before + add;
	memcpy(at(ctx, addr), &after, 8);
	return before;
}

static uint64_t dma_cmp_swap(void *ctx, uint64_t addr, uint64_t compare, uint64_t swap)
{
	uint64_t before;

	memcpy(&before, at(ctx, addr), 8);
	if (before == compare)
		memcpy(at(ctx, addr), &swap, 8);
	return before;
}

static void dma_write8(void *ctx, uint64_t addr, uint64_t value)
{
	memcpy(at(ctx, addr), &value, 8);
}

/* ---- time and wire ---- */

static void t_destroy(struct dr_target *t)
{
	struct sim_target *s = self(t);

	vs_sim_destroy(s->sim);
	for (unsigned i = 0; i < s->regions; i++)
		free(s->bytes[i]);
	free((void *)s->bytes);
	while (s->handles != NULL) {
		struct handle *h = s->handles;

		s->handles = h->next;
		free(h);
	}
	free(s);
}

static uint64_t t_now(struct dr_target *t)
{
	return vs_sim_now(self(t)->sim);
}

static bool t_step(struct dr_target *t, uint64_t until)
{
	if (vs_sim_step(self(t)->sim, until))
		return true;
	(void)vs_sim_run(self(t)->sim, until);
	return false;
}

static bool t_idle(struct dr_target *t)
{
	return !vs_sim_busy(self(t)->sim);
}

static int t_send(struct dr_target *t, const uint8_t *frame, size_t len)
{
	return vs_sim_inject(self(t)->sim, self(t)->peer, frame, len);
}

static int t_fault(struct dr_target *t, const char *rule)
{
	if (rule == NULL) {
		vs_fault_set_clear(vs_sim_faults(self(t)->sim));
		return VS_OK;
	}
	return vs_sim_fault(self(t)->sim, rule, NULL);
}

static unsigned gid_index(int encap)
{
	return encap == EN_ROCEV2_IPV6 ? 1 : encap == EN_ROCEV1 ? 2 : 0;
}

static int t_av(struct dr_target *t, int node, int encap, struct vs_av *av)
{
	struct sim_target *s = self(t);
	int rc = vs_sim_av(s->sim, s->host[node], encap < 0 ? s->gid_index : gid_index(encap), av);

	av->is_global = s->is_global;
	if (s->setup.p->vlan >= 0) {
		av->has_vlan = true;
		av->vlan_id = (uint16_t)s->setup.p->vlan;
	}
	return rc;
}

static uint32_t t_limit(struct dr_target *t, int node, enum dr_limit what)
{
	const struct vs_dev_attr *a = vs_dev_attr(dev_of(t, node));
	const uint32_t limits[] = {
		[DR_MAX_QP] = a->max_qp,
		[DR_MAX_CQ] = a->max_cq,
		[DR_MAX_MR] = a->max_mr,
		[DR_MAX_MW] = a->max_mw,
		[DR_MAX_SRQ] = a->max_srq,
		[DR_MAX_AH] = a->max_ah,
		[DR_MAX_PD] = a->max_pd,
		[DR_MAX_QP_WR] = a->max_qp_wr,
		[DR_MAX_SRQ_WR] = a->max_srq_wr,
		[DR_MAX_CQE] = a->max_cqe,
		[DR_MAX_SGE] = a->max_sge,
		[DR_MAX_INLINE] = a->max_inline,
		[DR_MAX_RD_ATOMIC] = a->max_rd_atomic,
	};

	return limits[what];
}

static int t_set_gid(struct dr_target *t, int node, unsigned index, const uint8_t gid[16], int encap)
{
	struct vs_gid_entry g = {.type = self(t)->setup.encap >= EN_IB ? VS_GID_IB
					 : encap == EN_ROCEV1          ? VS_GID_ROCEV1
								       : VS_GID_ROCEV2};

	memcpy(g.gid, gid, 16);
	return vs_dev_set_gid(dev_of(t, node), index, &g);
}

static int t_set_port(struct dr_target *t, int node, bool up)
{
	vs_dev_set_link(dev_of(t, node), up);
	return VS_OK;
}

static void t_mark(struct dr_target *t, const char *text)
{
	struct sim_target *s = self(t);
	struct vs_event ev = {.t_ns = t_now(t), .type = VS_EV_MARK, .node = "script", .a = {(uintptr_t)text}};

	if (s->setup.env->sink.emit != NULL)
		(void)s->setup.env->sink.emit(s->setup.env->sink.ctx, &ev);
}

static void tap(void *ctx, uint64_t now, int node, enum vs_tap_where where, enum vs_link link, const uint8_t *frame,
		size_t len)
{
	const struct sim_target *s = ctx;
	const struct vs_drill_env *env = s->setup.env;
	struct vs_drill_frame f = {now, "switch", where, link, frame, len};

	if (env->tap == NULL)
		return;
	for (unsigned i = 0; i < s->setup.p->n_nodes; i++)
		if (s->host[i] == node)
			f.node = s->setup.p->node[i].name;
	env->tap(env->tap_ctx, &f);
}

static void to_peer(void *ctx, uint64_t now, enum vs_link link, const uint8_t *frame, size_t len,
		    const struct vs_pkt_meta *meta)
{
	const struct dr_ears *e = &((struct sim_target *)ctx)->setup.ears;

	(void)meta;
	e->frame(e->ctx, now, link, frame, len);
}

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
	a.addr = BASE + ((uint64_t)s->regions++ << SHIFT);
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
			a.addr = BASE + ((uint64_t)i << SHIFT) + from;
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

static int t_conn_attr(struct dr_target *t, void *conn, enum vs_qp_state to, struct vs_qp_attr *a, uint32_t *mask)
{
	(void)t;
	return vs_conn_qp_attr(conn, to, a, mask);
}

static const struct dr_target_ops ops = {
	.destroy = t_destroy,
	.now = t_now,
	.step = t_step,
	.idle = t_idle,
	.send = t_send,
	.fault = t_fault,
	.av = t_av,
	.mark = t_mark,
	.limit = t_limit,
	.set_gid = t_set_gid,
	.set_port = t_set_port,
	.pd_create = t_pd_create,
	.channel_create = t_channel_create,
	.cq_create = t_cq_create,
	.cq_resize = t_cq_resize,
	.cq_capacity = t_cq_capacity,
	.srq_create = t_srq_create,
	.srq_modify = t_srq_modify,
	.srq_query = t_srq_query,
	.mr_reg = t_mr_reg,
	.mr_rereg = t_mr_rereg,
	.mr_written = t_mr_written,
	.mw_alloc = t_mw_alloc,
	.mw_rkey = t_mw_rkey,
	.qp_create = t_qp_create,
	.qp_modify = t_qp_modify,
	.qp_query = t_qp_query,
	.qp_state = t_qp_state,
	.ah_create = t_ah_create,
	.group = t_group,
	.destroy_object = t_destroy_object,
	.post_send = t_post_send,
	.post_recv = t_post_recv,
	.cq_poll = t_cq_poll,
	.cq_arm = t_cq_arm,
	.comp_event = t_comp_event,
	.async = t_async,
	.counter = t_counter,
	.reason = t_reason,
	.listen = t_listen,
	.connect = t_connect,
	.accept = t_accept,
	.establish = t_establish,
	.reject = t_reject,
	.mra = t_mra,
	.sidr_resolve = t_sidr_resolve,
	.sidr_reply = t_sidr_reply,
	.disconnect = t_disconnect,
	.conn_event = t_conn_event,
	.conn_attr = t_conn_attr,
};

/* ---- building ---- */

static int add_host(struct sim_target *s, int node)
{
	const struct dr_node_opt *o = &s->setup.node[node];
	enum vs_mtu mtu = VS_MTU_4096;
	struct vs_dev_attr a;
	int i, err;

	while (o->mtu != 0 && mtu > VS_MTU_256 && vs_mtu_bytes(mtu) > o->mtu)
		mtu--;
	a = (struct vs_dev_attr){.name = s->setup.p->node[node].name,
				 .dma = {dma_read, dma_write, dma_fetch_add, dma_cmp_swap, dma_write8, NULL, s},
				 .deviations = s->setup.env->deviations,
				 .link_layer = s->setup.encap >= EN_IB ? VS_LL_INFINIBAND : VS_LL_ETHERNET,
				 .active_mtu = mtu,
				 .allow_privileged_qkey = o->privileged_qkey,
				 .ack_every = o->ack_every,
				 .rc_window = o->window,
				 .max_rd_atomic = (uint8_t)o->max_rd_atomic,
				 .e2e_credits = o->e2e_credits};

	memcpy(a.pkeys, o->pkeys, sizeof(a.pkeys));
	if (o->cc)
		a.cc = (struct vs_cc_attr){.enabled = true,
					   .ecn = 2,
					   .cnp_tclass = 48 << 2,
					   .min_cnp_gap_ns = 50000,
					   .link_rate_bps = s->setup.rate_bps != 0 ? s->setup.rate_bps : 25000000000u,
					   .rate_timer_ns = 300000,
					   .alpha_timer_ns = 55000,
					   .rate_ai_bps = 40000000,
					   .rate_hai_bps = 400000000,
					   .min_rate_bps = 100000000};
	i = vs_sim_add_host(s->sim, &a);
	if (i < 0)
		return i;
	s->pd[node] = vs_pd_create(vs_sim_dev(s->sim, i), &err);
	return s->pd[node] != NULL ? i : err;
}

static int build(struct sim_target *s)
{
	const struct program *p = s->setup.p;
	struct vs_sim_link link = {s->setup.latency_ns, s->setup.rate_bps, s->setup.queue_bytes, s->setup.ecn_bytes,
				   s->setup.pause_bytes};
	int hub = -1, rc = VS_OK;

	for (int i = 0; i < (int)p->n_nodes && rc >= 0; i++) {
		s->host[i] = rc =
			p->node[i].engine ? add_host(s, i) : vs_sim_add_raw(s->sim, p->node[i].name, to_peer, s);
		if (!p->node[i].engine)
			s->peer = rc;
	}
	if (rc >= 0 && p->n_nodes == 2)
		return vs_sim_connect(s->sim, s->host[0], s->host[1], &link);
	if (rc >= 0)
		hub = rc = vs_sim_add_switch(s->sim, "switch");
	for (unsigned i = 0; i < p->n_nodes && rc >= 0; i++)
		rc = vs_sim_connect(s->sim, s->host[i], hub, &link);
	return rc;
}

struct dr_target *dr_sim_open(const struct dr_setup *setup, char *why, size_t cap)
{
	struct sim_target *s = calloc(1, sizeof(*s));
	struct vs_sim_attr a = {.seed = setup->env->seed + 1, .sink = setup->env->sink, .start_ns = 1000};
	int err = VS_ERR_NOSPACE;

	if (s == NULL)
		return NULL;
	s->t.ops = &ops;
	s->setup = *setup;
	s->peer = -1;
	s->is_global = setup->encap != EN_IB;
	s->gid_index = gid_index(setup->encap);
	/* There and back, through a switch, and what a host takes to answer. */
	s->t.settle_ns = 10000 + 8 * setup->latency_ns;
	s->sim = vs_sim_create(&a, &err);
	if (s->sim != NULL) {
		vs_sim_set_tap(s->sim, tap, s);
		err = build(s);
		if (err >= 0)
			return &s->t;
		vs_sim_destroy(s->sim);
	}
	(void)snprintf(why, cap, "the simulator can't be set up: %s", vs_err_name(err));
	free(s);
	return NULL;
}
