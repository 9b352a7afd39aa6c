/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * soak_world.c - the network of one run, all of it from the seed: hosts, links, queue pairs, windows, faults.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "soak.h"
#include "vs/psn.h"

void violated(struct soak *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(s->why, sizeof(s->why), fmt, ap);
	va_end(ap);
	longjmp(s->out, 1);
}

uint32_t host_index(const struct soak *s, const struct host *h)
{
	return (uint32_t)(h - s->host);
}

/* ---- memory of the devices: counted, and shut while the simulation steps ---- */

union header {
	size_t size;
	max_align_t align;
};

static void *count_alloc(void *ctx, size_t size)
{
	struct soak *s = ctx;
	union header *h;

	REQUIRE(s, !s->in_step, "the device allocates %zu bytes inside the four calls", size);
	h = calloc(1, sizeof(*h) + size);
	if (h == NULL)
		abort();
	h->size = size;
	s->allocated += size;
	s->allocations++;
	return h + 1;
}

static void count_free(void *ctx, void *p, size_t size)
{
	struct soak *s = ctx;
	union header *h = (union header *)p - 1;

	REQUIRE(s, !s->in_step, "the device frees memory inside the four calls");
	REQUIRE(s, h->size == size, "%zu bytes are freed as %zu", h->size, size);
	s->allocated -= size;
	s->allocations--;
	free(h);
}

/* ---- hosts and links ---- */

static void host_make(struct soak *s, struct host *h)
{
	struct dice *d = &s->dice;
	struct vs_dev_attr a = {0};
	int err;

	mem_make(s, h);
	a.allocator = (struct vs_allocator){count_alloc, count_free, s};
	a.dma = mem_dma(s, h);
	a.link_layer = s->ib ? VS_LL_INFINIBAND : VS_LL_ETHERNET;
	a.seed = roll(d);
	a.deviations = s->opt.deviations;
	a.max_qp = 64;
	a.max_mr = 64;
	a.max_mw = 64;
	a.max_mcast_grp = 3;
	a.rc_window = (uint32_t[]){1, 8, 64, 1024, 1024}[below(d, 5)];
	a.ack_every = between(d, 1, a.rc_window < 64 ? a.rc_window : 64);
	a.e2e_credits = s->e2e && percent(d, 70);
	a.cm_disabled = percent(d, 25);
	if (s->cc)
		a.cc = (struct vs_cc_attr){.enabled = true,
					   .ecn = (uint8_t)between(d, 1, 2),
					   .cnp_tclass = 48 << 2,
					   .min_cnp_gap_ns = 50000,
					   .link_rate_bps = 10000000000ull,
					   .rate_timer_ns = 55000,
					   .alpha_timer_ns = 55000,
					   .rate_ai_bps = 40000000,
					   .rate_hai_bps = 200000000,
					   .min_rate_bps = 1000000000};
	h->node = vs_sim_add_host(s->sim, &a);
	REQUIRE(s, h->node >= 0, "no host: %s", vs_err_name(h->node));
	h->dev = vs_sim_dev(s->sim, h->node);
	h->pd = vs_pd_create(h->dev, &err);
	REQUIRE(s, h->pd != NULL, "no protection domain");
	for (unsigned i = 0; i < MAX_REGIONS; i++) {
		uint64_t addr = mem_address(s, h);
		struct vs_mr_attr m = {
			.addr = addr, .length = ARENA, .access = 0x3ff & ~(unsigned)VS_ACCESS_ZERO_BASED};

		m.access &= ~0xc0u;
		m.iova = i == 0 ? addr : i == 1 ? 0 : roll(d) & 0xfffffffffff8ull;
		h->region[i].iova = m.iova;
		h->region[i].mr = vs_mr_reg(h->pd, &m, &err);
		REQUIRE(s, h->region[i].mr != NULL, "no region: %s", vs_reason_info(vs_dev_refusal(h->dev))->id);
	}
	passing_make(s, h);
	for (unsigned i = 0; i < MAX_WORDS; i++) {
		struct range r;

		REQUIRE(s, mem_take(s, h, FOR_SENDS, 8, 8, &r), "arena too small");
		h->word[i].off = r.off;
		memcpy(&h->word[i].initial, h->image + r.off, 8);
		mem_open(h, r);
	}
	if (percent(d, 40)) {
		struct vs_srq_attr sa = {.max_wr = between(d, 4, 64), .max_sge = MAX_SGE};

		h->srq_depth = sa.max_wr;
		h->srq = vs_srq_create(h->pd, &sa, 0, &err);
		REQUIRE(s, h->srq != NULL, "no SRQ");
	}
	h->n_cq = between(d, 1, MAX_CQS);
}

static struct vs_sim_link link_make(struct soak *s)
{
	struct dice *d = &s->dice;
	struct vs_sim_link l = {.latency_ns = between(d, 0, 5000)};

	if (percent(d, 50))
		l.rate_bps = (uint64_t[]){1000000000, 10000000000, 100000000000}[below(d, 3)];
	if (l.rate_bps != 0 && percent(d, 30))
		l.ecn_bytes = between(d, 5000, 100000);
	if (l.rate_bps != 0 && percent(d, 20))
		l.pause_bytes = between(d, 20000, 200000);
	if (s->mood == STORMY && l.rate_bps != 0 && percent(d, 50)) {
		l.queue_bytes = between(d, 20000, 200000);
		s->may_lose = true;
	}
	return l;
}

static void net_make(struct soak *s)
{
	int sw[2] = {-1, -1}, n_switches = s->n_hosts == 2 && percent(&s->dice, 50) ? 0 : (int)between(&s->dice, 1, 2);
	int rc = VS_OK;

	for (int i = 0; i < s->n_hosts; i++)
		host_make(s, &s->host[i]);
	for (int i = 0; i < n_switches; i++)
		sw[i] = vs_sim_add_switch(s->sim, i == 0 ? "S0" : "S1");
	if (n_switches == 0)
		rc = vs_sim_connect(s->sim, s->host[0].node, s->host[1].node, &(struct vs_sim_link){.latency_ns = 700});
	for (int i = 0; n_switches > 0 && rc == VS_OK && i < s->n_hosts; i++) {
		struct vs_sim_link l = link_make(s);

		rc = vs_sim_connect(s->sim, s->host[i].node, sw[i % n_switches], &l);
	}
	if (n_switches == 2 && rc == VS_OK) {
		struct vs_sim_link l = link_make(s);

		rc = vs_sim_connect(s->sim, sw[0], sw[1], &l);
	}
	REQUIRE(s, rc == VS_OK, "no link: %s", vs_err_name(rc));
}

/* ---- queue pairs ---- */

static void qp_choose(struct soak *s, struct qp *q, enum vs_qp_type type, struct host *h)
{
	struct dice *d = &s->dice;

	q->type = type;
	q->host = h;
	q->number = s->n_qps++;
	q->depth = between(d, 2, percent(d, 30) ? 128 : 24);
	q->recv_depth = between(d, 1, percent(d, 30) ? 128 : 24);
	q->max_sge = between(d, 1, MAX_SGE);
	q->recv_sge = between(d, 1, MAX_SGE);
	q->max_inline = percent(d, 70) ? between(d, 1, INLINE_MAX) : 0;
	q->use_srq = h->srq != NULL && percent(d, 60);
	q->sig_all = percent(d, 20);
	q->send_cq = below(d, h->n_cq);
	q->recv_cq = below(d, h->n_cq);
	q->max_rd = between(d, 1, 16);
	q->max_dest_rd = between(d, 1, 16);
	q->qkey = (uint32_t)roll(d) & 0x7fffffff;
	q->member = type == VS_QPT_UD && s->mcast && percent(d, 60);
	if (q->member)
		q->qkey = s->group_qkey;
}

static void cqs_make(struct soak *s, struct host *h)
{
	int err;

	for (uint32_t c = 0; c < h->n_cq; c++) {
		uint32_t size = 1;

		for (uint32_t i = 0; i < s->n_qps; i++) {
			const struct qp *q = &s->qp[i];

			if (q->host != h)
				continue;
			size += q->send_cq == c ? q->depth : 0;
			/* A QP with an SRQ may take all of it. */
			size += q->recv_cq == c ? (q->use_srq ? h->srq_depth : q->recv_depth) : 0;
		}
		h->cq_size[c] = size;
		h->cq[c] = vs_cq_create(h->dev, size, c, &err);
		REQUIRE(s, h->cq[c] != NULL, "no CQ");
	}
}

static void qp_make(struct soak *s, struct qp *q)
{
	struct host *h = q->host;
	struct vs_qp_init in = {.type = q->type,
				.send_cq = h->cq[q->send_cq],
				.recv_cq = h->cq[q->recv_cq],
				.srq = q->use_srq ? h->srq : NULL,
				.cap = {q->depth, q->recv_depth, q->max_sge, q->recv_sge, q->max_inline},
				.sq_sig_all = q->sig_all,
				.cookie = q->number};
	int err;

	q->qp = vs_qp_create(h->pd, &in, &err);
	REQUIRE(s, q->qp != NULL, "no QP: %s", vs_reason_info(vs_dev_refusal(h->dev))->id);
}

uint32_t psn_choose(struct dice *d)
{
	return percent(d, 70) ? vs_psn_add(0, -(int32_t)below(d, 200)) : (uint32_t)roll(d) & 0xffffff;
}

static void modify(struct soak *s, struct qp *q, const struct vs_qp_attr *a, uint32_t mask)
{
	int rc = vs_qp_modify(q->qp, a, mask | VS_QP_STATE);

	REQUIRE(s, rc == VS_OK, "QP %u to %s: %s", q->number, vs_qp_state_name(a->state),
		vs_reason_info(vs_dev_refusal(q->host->dev))->id);
}

struct vs_av way(struct soak *s, const struct qp *from, const struct qp *to)
{
	struct dice *d = &s->dice;
	struct vs_av av;
	int rc = vs_sim_av(s->sim, to->host->node, from->gid_index, &av);

	REQUIRE(s, rc == VS_OK, "no way to host %u", host_index(s, to->host));
	if (s->ib_local)
		av.is_global = false;
	av.flow_label = percent(d, 50) ? (uint32_t)roll(d) & 0xfffff : 0;
	av.traffic_class = (uint8_t)roll(d);
	av.hop_limit = (uint8_t)roll(d);
	av.sl = (uint8_t)below(d, 8);
	if (!s->ib && percent(d, 15)) {
		av.has_vlan = true;
		av.vlan_id = (uint16_t)between(d, 1, 4094);
	}
	return av;
}

static void qp_init_state(struct soak *s, struct qp *q)
{
	struct vs_qp_attr a = {.state = VS_QPS_INIT, .port_num = 1, .qkey = q->qkey};

	a.access_flags = VS_ACCESS_LOCAL_WRITE | VS_ACCESS_REMOTE_WRITE | VS_ACCESS_REMOTE_READ |
			 VS_ACCESS_REMOTE_ATOMIC | VS_ACCESS_FLUSH_GLOBAL | VS_ACCESS_FLUSH_PERSISTENT;
	modify(s, q, &a, VS_QP_PKEY_INDEX | VS_QP_PORT | (q->type == VS_QPT_UD ? VS_QP_QKEY : VS_QP_ACCESS_FLAGS));
}

/* INIT -> RTR -> RTS for both sides of a connection; retries enough for what the mood may do. */
static void pair_connect(struct soak *s, struct qp *a, struct qp *b)
{
	struct dice *d = &s->dice;
	enum vs_mtu mtu = (enum vs_mtu)between(d, VS_MTU_256, VS_MTU_4096);
	uint32_t psn[2];

	psn[0] = psn_choose(d);
	psn[1] = psn_choose(d);
	if (a->max_rd > b->max_dest_rd)
		a->max_rd = b->max_dest_rd;
	if (b->max_rd > a->max_dest_rd)
		b->max_rd = a->max_dest_rd;
	for (unsigned i = 0; i < 2; i++) {
		struct qp *q = i == 0 ? a : b;
		struct vs_qp_attr at = {.state = VS_QPS_RTR, .path_mtu = mtu, .dest_qpn = vs_qp_num(q->peer->qp)};
		bool rc = q->type == VS_QPT_RC;

		q->mtu = vs_mtu_bytes(mtu);
		at.rq_psn = psn[!i];
		at.max_dest_rd_atomic = (uint8_t)q->max_dest_rd;
		at.min_rnr_timer = (uint8_t)between(d, 1, 14);
		at.av = way(s, q, q->peer);
		modify(s, q, &at,
		       VS_QP_AV | VS_QP_PATH_MTU | VS_QP_DEST_QPN | VS_QP_RQ_PSN |
			       (rc ? VS_QP_MAX_DEST_RD_ATOMIC | VS_QP_MIN_RNR_TIMER : 0u));
		at.state = VS_QPS_RTS;
		at.sq_psn = psn[i];
		at.timeout = (uint8_t)(s->mood == STORMY ? between(d, 8, 14) : between(d, 15, 17));
		at.retry_cnt = 7;
		at.rnr_retry = 7;
		at.max_rd_atomic = (uint8_t)q->max_rd;
		modify(s, q, &at,
		       VS_QP_SQ_PSN |
			       (rc ? VS_QP_TIMEOUT | VS_QP_RETRY_CNT | VS_QP_RNR_RETRY | VS_QP_MAX_QP_RD_ATOMIC : 0u));
	}
}

/* Each kind of GID has a group of its own, so that nobody is reached over a wire that he does not know. */
static void group_address(const struct soak *s, uint32_t gid_index, struct vs_av *av)
{
	static const uint8_t v4[16] = {[10] = 0xff, 0xff, 239, 7, 7, 7};
	uint8_t v6[16] = {0xff, 0x0e, [15] = (uint8_t)(gid_index + 1)};

	memcpy(av->dgid, s->ib || gid_index > 0 ? v6 : v4, 16);
	memset(av->dmac, 0, sizeof(av->dmac)); /* the engine makes it from the group */
	av->dlid = s->ib ? 0xc007 : 0;
}

bool group_reaches(const struct qp *from, const struct qp *to)
{
	return to->member && to != from && to->gid_index == from->gid_index;
}

static void group_join(struct soak *s, struct qp *q)
{
	struct vs_av av = way(s, q, q);
	int err;

	group_address(s, q->gid_index, &av);
	q->group_ah = vs_ah_create(q->host->pd, &av, &err);
	REQUIRE(s, q->group_ah != NULL, "no AH of a group: %s", vs_reason_info(vs_dev_refusal(q->host->dev))->id);
	if (q->member)
		REQUIRE(s, vs_qp_attach_mcast(q->qp, av.dgid, av.dlid) == VS_OK, "QP %u can't join its group",
			q->number);
}

static void group_leave(struct soak *s, struct qp *q)
{
	struct vs_av av;

	if (q->group_ah == NULL)
		return;
	vs_ah_destroy(q->group_ah);
	group_address(s, q->gid_index, &av);
	if (q->member) {
		REQUIRE(s, vs_qp_destroy(q->qp) == VS_ERR_BUSY, "QP %u is destroyed while in a group", q->number);
		REQUIRE(s, vs_qp_detach_mcast(q->qp, av.dgid, av.dlid) == VS_OK, "QP %u can't leave its group",
			q->number);
	}
}

static void ud_ready(struct soak *s, struct qp *q)
{
	struct vs_qp_attr a = {.state = VS_QPS_RTR, .sq_psn = psn_choose(&s->dice)};

	q->mtu = 4096;
	modify(s, q, &a, 0);
	a.state = VS_QPS_RTS;
	modify(s, q, &a, VS_QP_SQ_PSN);
	for (uint32_t i = 0; i < s->n_qps; i++) {
		struct vs_av av;
		int err;

		if (s->qp[i].type != VS_QPT_UD)
			continue;
		av = way(s, q, &s->qp[i]);
		q->ah[i] = vs_ah_create(q->host->pd, &av, &err);
		REQUIRE(s, q->ah[i] != NULL, "no AH: %s", vs_reason_info(vs_dev_refusal(q->host->dev))->id);
	}
	if (s->mcast)
		group_join(s, q);
}

static void qps_make(struct soak *s)
{
	struct dice *d = &s->dice;
	uint32_t pairs = between(d, 1, MAX_QPS / 2);

	for (uint32_t i = 0; i < pairs; i++) {
		uint32_t kind = below(d, 100), h = below(d, (uint32_t)s->n_hosts);
		uint32_t g =
			(h + (percent(d, 12) ? 0 : between(d, 1, (uint32_t)s->n_hosts - 1))) % (uint32_t)s->n_hosts;
		enum vs_qp_type type = kind < 72 ? VS_QPT_RC : kind < 86 ? VS_QPT_UC : VS_QPT_UD;
		struct qp *a = &s->qp[2 * i], *b = &s->qp[2 * i + 1];

		qp_choose(s, a, type, &s->host[h]);
		qp_choose(s, b, type, &s->host[g]);
		a->peer = b;
		b->peer = a;
		a->gid_index = b->gid_index = s->ib ? 0 : below(d, 3);
	}
	for (int i = 0; i < s->n_hosts; i++) {
		cqs_make(s, &s->host[i]);
		while (receive_share(s, &s->host[i]) < 2)
			s->send_max /= 2;
	}
	for (uint32_t i = 0; i < s->n_qps; i++) {
		qp_make(s, &s->qp[i]);
		qp_init_state(s, &s->qp[i]);
	}
	cm_start(s);
	for (uint32_t i = 0; i < s->n_qps; i += 2)
		if (s->qp[i].type != VS_QPT_UD && s->qp[i].cm == CM_NONE)
			pair_connect(s, &s->qp[i], &s->qp[i + 1]);
	for (uint32_t i = 0; i < s->n_qps; i++)
		if (s->qp[i].type == VS_QPT_UD)
			ud_ready(s, &s->qp[i]);
}

static void windows_make(struct soak *s)
{
	uint32_t n = below(&s->dice, MAX_WINDOWS + 1);

	for (uint32_t i = 0; i < n; i++) {
		struct window *w = &s->window[s->n_windows];
		struct qp *q = &s->qp[below(&s->dice, s->n_qps)];
		int err;

		if (q->type == VS_QPT_UD)
			continue;
		w->owner = q;
		w->type = percent(&s->dice, 70) ? VS_MW_TYPE_2 : VS_MW_TYPE_1;
		w->mw = vs_mw_alloc(q->host->pd, w->type, &err);
		REQUIRE(s, w->mw != NULL, "no window");
		s->n_windows++;
	}
}

/* ---- faults ---- */

static void fault(struct soak *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void fault(struct soak *s, const char *fmt, ...)
{
	struct vs_fault_error e;
	size_t len = s->faults != NULL ? strlen(s->faults) : 0;
	char text[200];
	va_list ap;
	char *grown;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	REQUIRE(s, vs_sim_fault(s->sim, text, &e) >= 0, "%s: column %u: %s", text, e.column, e.text);
	grown = realloc(s->faults, len + strlen(text) + 8);
	if (grown == NULL)
		abort();
	sprintf(grown + len, "    %s\n", text);
	s->faults = grown;
}

static void faults_make(struct soak *s)
{
	struct dice *d = &s->dice;
	/* What hits a packet no more than twice can't use up seven retries. */
	const char *tame = s->mood == STORMY ? "" : " iter=1";
	uint32_t most = s->mood == HOSTILE ? 3 : 20, n;

	if (s->mood == CLEAN || (s->mood == HOSTILE && percent(d, 50)))
		return;
	if (percent(d, 70)) {
		fault(s, "loss: drop %u%%%s", between(d, 1, most), tame);
		s->may_lose = true;
	}
	if (percent(d, 30) && s->mood != STORMY)
		fault(s, "more: drop %u%% iter=2", between(d, 1, most / 2));
	if (percent(d, 40)) {
		fault(s, "noise: corrupt %u%%%s", between(d, 1, most / 2), tame);
		s->may_lose = true;
	}
	n = between(d, 1, 3);
	if (percent(d, 40)) {
		fault(s, "copy: dup x%u %u%%", n, between(d, 1, most / 2));
		s->may_copy = true;
	}
	n = between(d, 1, 8);
	if (percent(d, 40)) {
		fault(s, "swap: reorder %u %u%%", n, between(d, 1, most / 2));
		s->may_disorder = true;
	}
	n = between(d, 1, most / 2);
	if (percent(d, 30)) {
		fault(s, "late: delay %u%% by %uus", n, between(d, 1, 300));
		s->may_disorder = true;
	}
	n = between(d, 1, 19);
	if (percent(d, 20))
		fault(s, "stop: hold %u.%u%% by %uus", n / 10, n % 10, between(d, 1, 300));
	if (percent(d, 20))
		fault(s, "ce: mark %u%%", between(d, 1, 20));
	s->may_lose |= s->faults != NULL && strstr(s->faults, "drop") != NULL;
}

void world_make(struct soak *s)
{
	struct dice *d = &s->dice;
	struct vs_sim_attr a = {.seed = roll(d)};
	uint32_t m = below(d, 100);
	int err;

	a.start_ns = percent(d, 50) ? 0 : roll(d) >> 12;
	s->mood = m < 25 ? CLEAN : m < 70 ? LOSSY : m < 85 ? STORMY : HOSTILE;
	s->ib = percent(d, 25);
	s->ib_local = s->ib && percent(d, 50);
	s->e2e = percent(d, 25);
	s->cc = !s->ib && percent(d, 20);
	s->mcast = !s->ib_local && percent(d, 70);
	s->group_qkey = (uint32_t)roll(d) & 0x7fffffff;
	s->n_hosts = percent(d, 60) ? 2 : (int)between(d, 2, MAX_HOSTS);
	s->send_max = (uint32_t[]){64, 300, 1024, 4096, 8192}[below(d, 5)];
	s->wanted = between(d, 20, percent(d, 20) ? 1500 : 300);
	if (s->watch != NULL)
		a.sink = watch_sink(s->watch);
	s->sim = vs_sim_create(&a, &err);
	REQUIRE(s, s->sim != NULL, "no simulation");
	net_make(s);
	qps_make(s);
	windows_make(s);
	faults_make(s);
}

/* ---- the end ---- */

static void destroy_all(struct soak *s)
{
	for (uint32_t i = 0; i < s->n_qps; i++) {
		for (uint32_t k = 0; k < s->n_qps; k++)
			if (s->qp[i].ah[k] != NULL)
				vs_ah_destroy(s->qp[i].ah[k]);
		group_leave(s, &s->qp[i]);
		REQUIRE(s, vs_qp_destroy(s->qp[i].qp) == VS_OK, "QP %u can't be destroyed", i);
	}
	for (uint32_t i = 0; i < s->n_windows; i++)
		REQUIRE(s, vs_mw_dealloc(s->window[i].mw) == VS_OK, "window %u can't be deallocated", i);
	for (int i = 0; i < s->n_hosts; i++) {
		struct host *h = &s->host[i];

		REQUIRE(s, h->srq == NULL || vs_srq_destroy(h->srq) == VS_OK, "SRQ can't be destroyed");
		for (uint32_t c = 0; c < h->n_cq; c++)
			REQUIRE(s, vs_cq_destroy(h->cq[c]) == VS_OK, "CQ can't be destroyed");
		for (unsigned k = 0; k < MAX_REGIONS; k++)
			REQUIRE(s, vs_mr_dereg(h->region[k].mr) == VS_OK, "region can't be deregistered");
		REQUIRE(s, h->region[PASSING].mr == NULL || vs_mr_dereg(h->region[PASSING].mr) == VS_OK,
			"region can't be deregistered");
		REQUIRE(s, vs_pd_destroy(h->pd) == VS_OK, "protection domain can't be destroyed");
	}
}

void world_end(struct soak *s)
{
	bool flush = percent(&s->dice, 50), tidy = percent(&s->dice, 50);

	cm_end(s);
	while (soak_step(s, VS_NEVER))
		;
	for (uint32_t i = 0; flush && i < s->n_qps; i++)
		qp_give_up(s, &s->qp[i]);
	for (int i = 0; i < s->n_hosts; i++)
		for (uint32_t c = 0; c < s->host[i].n_cq; c++)
			done_poll(s, &s->host[i], c, UINT32_MAX);
	for (uint32_t i = 0; i < s->n_qps; i++)
		if (s->qp[i].erred)
			done_silent(s, &s->qp[i]);
	done_final(s);
	for (int i = 0; i < s->n_hosts; i++) {
		mem_check(s, &s->host[i], "at the end");
		REQUIRE(s, vs_dev_deadline(s->host[i].dev) == VS_NEVER || !flush,
			"host %d: a timer runs in an idle device", i);
	}
	if (tidy)
		destroy_all(s);
	vs_sim_destroy(s->sim);
	s->sim = NULL;
	REQUIRE(s, s->allocated == 0 && s->allocations == 0, "%zu bytes in %zu pieces were not given back",
		s->allocated, s->allocations);
	world_drop(s);
}

void world_drop(struct soak *s)
{
	s->in_step = false;
	while (s->all != NULL) {
		struct wr *w = s->all;

		s->all = w->all;
		free(w);
	}
	for (int i = 0; i < MAX_HOSTS; i++)
		mem_free(&s->host[i]);
	free(s->faults);
	free(s->table);
	s->faults = NULL;
	s->table = NULL;
}
