/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * sim.c - the simulator as target: nodes joined by a link (two) or by a switch (more), exact virtual time.
 *
 * Addresses of memory are made up, so that captures and traces are the same everywhere; the device reaches the
 * bytes through its DMA operations.
 */
#include <stdio.h>
#include <stdlib.h>

#include "sim.h"

/* ---- memory ---- */

static uint8_t *at(void *ctx, uint64_t addr)
{
	struct sim_target *s = ctx;
	uint64_t i = (addr - SIM_BASE) >> SIM_SHIFT;

	return s->bytes[i] + (addr & ((1u << SIM_SHIFT) - 1));
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

static const char *t_idle_fault(struct dr_target *t)
{
	const struct vs_fault_rule *rule;

	/* One that acts by chance had its chance when it saw a packet. */
	for (int i = 0; (rule = vs_fault_set_rule(vs_sim_faults(self(t)->sim), i)) != NULL; i++)
		if (rule->hits == 0 && !(rule->count == VS_COUNT_PERCENT && rule->seen > 0))
			return rule->name;
	return NULL;
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
		[DR_MAX_MTU] = vs_mtu_bytes(a->active_mtu),
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

	for (unsigned i = 0; i < s->setup.p->n_nodes; i++) {
		if (s->host[i] != node)
			continue;
		f.node = s->setup.p->node[i].name;
		if (where == VS_TAP_SENT)
			s->setup.ears.sent(s->setup.ears.ctx, (int)i, now, link, frame, len);
	}
	if (env->tap != NULL)
		env->tap(env->tap_ctx, &f);
}

static void to_peer(void *ctx, uint64_t now, enum vs_link link, const uint8_t *frame, size_t len,
		    const struct vs_pkt_meta *meta)
{
	const struct dr_ears *e = &((struct sim_target *)ctx)->setup.ears;

	(void)meta;
	e->frame(e->ctx, now, link, frame, len);
}

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
				 .deviations = s->deviations,
				 .link_layer = s->setup.encap >= EN_IB ? VS_LL_INFINIBAND : VS_LL_ETHERNET,
				 .active_mtu = mtu,
				 .allow_privileged_qkey = o->privileged_qkey,
				 .ack_every = o->ack_every,
				 .rc_window = o->window,
				 .max_rd_atomic = (uint8_t)o->max_rd_atomic,
				 .first_msn = o->msn,
				 .e2e_credits = o->e2e_credits};

	memcpy(a.pkeys, o->pkeys, sizeof(a.pkeys));
	if (o->cc)
		a.cc = vs_cc_usual(s->setup.rate_bps != 0 ? s->setup.rate_bps : 25000000000u);
	i = vs_sim_add_host(s->sim, &a);
	if (i < 0)
		return i;
	s->pd[node] = vs_pd_create(vs_sim_dev(s->sim, i), &err);
	return s->pd[node] != NULL ? i : err;
}

static int build(struct sim_target *s)
{
	const struct program *p = s->setup.p;
	struct vs_sim_link link = {.latency_ns = s->setup.latency_ns,
				   .rate_bps = s->setup.rate_bps,
				   .queue_bytes = s->setup.queue_bytes,
				   .ecn_bytes = s->setup.ecn_bytes,
				   .pause_bytes = s->setup.pause_bytes};
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

/* deviation=NAME,NAME */
static bool read_settings(const char *text, uint64_t *deviations, char *why, size_t cap)
{
	char name[64];

	if (text == NULL || *text == '\0')
		return true;
	if (strncmp(text, "deviation=", 10) != 0) {
		(void)snprintf(why, cap, "the simulator has no setting %s: deviation=NAME is one", text);
		return false;
	}
	for (text += 10; *text != '\0'; text += *text == ',') {
		size_t n = strcspn(text, ",");
		enum vs_deviation d;

		(void)snprintf(name, sizeof(name), "%.*s", (int)(n < sizeof(name) ? n : sizeof(name) - 1), text);
		d = vs_deviation_by_name(name);
		if (d == VS_DEVIATION_COUNT) {
			(void)snprintf(why, cap, "there is no deviation %s", name);
			return false;
		}
		*deviations |= UINT64_C(1) << d;
		text += n;
	}
	return true;
}

struct dr_target *dr_sim_open(void *ctx, const struct dr_setup *setup, char *why, size_t cap, bool *skip)
{
	struct sim_target *s = calloc(1, sizeof(*s));
	struct vs_sim_attr a = {.seed = setup->env->seed + 1, .sink = setup->env->sink, .start_ns = 1000};
	uint64_t deviations = setup->env->deviations;
	int err = VS_ERR_NOSPACE;

	(void)ctx;
	(void)skip;
	if (s == NULL || !read_settings(setup->env->device, &deviations, why, cap)) {
		free(s);
		return NULL;
	}
	s->ops = (struct dr_target_ops){
		.destroy = t_destroy,
		.now = t_now,
		.step = t_step,
		.idle = t_idle,
		.send = t_send,
		.fault = t_fault,
		.idle_fault = t_idle_fault,
		.av = t_av,
		.mark = t_mark,
		.limit = t_limit,
		.set_gid = t_set_gid,
		.set_port = t_set_port,
	};
	dr_sim_verbs(&s->ops);
	s->t.ops = &s->ops;
	s->setup = *setup;
	s->deviations = deviations;
	s->peer = -1;
	s->is_global = setup->encap != EN_IB;
	s->gid_index = gid_index(setup->encap);
	/* There and back, through a switch, and what a host takes to answer. */
	s->t.tells_sent = true;
	s->t.peer_qpn = 0x012345;
	s->t.peer_qpn_step = 0x111;
	s->t.patience_ns = s->t.settle_ns = 10000 + 8 * setup->latency_ns;
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
