/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * setup.c - the target of a run: opened as the script's declarations want it, and taken down again.
 */
#include <stdio.h>
#include <stdlib.h>

#include "run.h"
#include "vs/psn.h"

static bool node_option(struct run *r, struct dr_setup *s, const struct stmt *st)
{
	struct dr_node_opt *o = &s->node[st->node];
	uint64_t ack = 0, window = 0, rd = 0, mtu = 0, msn = 0;

	if (!dr_value(r, st, K_ACK_EVERY, 0, 4096, &ack) || !dr_value(r, st, K_WINDOW, 0, 0x7fffff, &window) ||
	    !dr_value(r, st, K_RD_ATOMIC, 0, 255, &rd) || !dr_value(r, st, K_MTU, 0, 4096, &mtu) ||
	    !dr_value(r, st, K_MSN, 0, VS_PSN_MASK, &msn))
		return false;
	o->ack_every = (uint32_t)ack;
	o->window = (uint32_t)window;
	o->max_rd_atomic = (uint32_t)rd;
	o->mtu = (uint32_t)mtu;
	o->msn = (uint32_t)msn;
	o->e2e_credits = dr_opt(st, K_E2E) != NULL;
	o->cc |= dr_opt(st, K_CC) != NULL;
	o->privileged_qkey = dr_opt(st, K_PRIVILEGED) != NULL;
	return true;
}

static bool link_option(struct run *r, struct dr_setup *s, const struct stmt *st)
{
	uint64_t queue = 0, ecn = 0, pause = 0;

	if (!dr_value(r, st, K_LATENCY, s->latency_ns, 10000000000u, &s->latency_ns) ||
	    !dr_value(r, st, K_RATE, s->rate_bps, 4000000000000u, &s->rate_bps) ||
	    !dr_value(r, st, K_QUEUE, 0, UINT32_MAX, &queue) || !dr_value(r, st, K_ECN, 0, UINT32_MAX, &ecn) ||
	    !dr_value(r, st, K_PAUSE, 0, UINT32_MAX, &pause))
		return false;
	s->queue_bytes = (uint32_t)queue;
	s->ecn_bytes = (uint32_t)ecn;
	s->pause_bytes = (uint32_t)pause;
	return true;
}

static int encap_of(const struct run *r)
{
	const char *name = r->env->encap;

	for (const struct word *w = dr_encap_words; name != NULL && w->name != NULL; w++)
		if (strcmp(w->name, name) == 0)
			return w->value;
	if (name != NULL)
		return -1;
	return r->p->encap >= 0 ? r->p->encap : EN_ROCEV2_IPV4;
}

bool dr_open(struct run *r)
{
	struct dr_setup s = {.d = r->d,
			     .p = r->p,
			     .env = r->env,
			     .vector = r->vector,
			     .latency_ns = 1000,
			     .ears = {dr_frame_heard, dr_frame_sent, r}};
	char why[VS_DRILL_TEXT / 2] = "no memory";
	bool skip = false;

	r->encap = s.encap = encap_of(r);
	if (s.encap < 0) {
		dr_broken(r, NULL, 0, "there is no encapsulation %s", r->env->encap);
		return false;
	}
	for (unsigned n = 0; n < r->p->n_nodes; n++) {
		memcpy(s.node[n].pkeys, r->p->pkeys[n], sizeof(s.node[n].pkeys));
		s.node[n].cc = vs_drill_needs(r->d, "cc");
	}
	for (const struct stmt *st = r->p->first; st != NULL && !r->failed; st = st->next)
		if (st->kind == S_DEVICE ? !node_option(r, &s, st) : st->kind == S_LINK && !link_option(r, &s, st))
			return false;
	r->t = r->open(r->open_ctx, &s, why, sizeof(why), &skip);
	if (r->t == NULL) {
		dr_broken(r, NULL, 0, "%s", why);
		if (skip)
			r->res->verdict = VS_VERDICT_SKIP;
		return false;
	}
	for (unsigned i = 0; i < r->p->n_objs; i++) {
		const struct obj *o = r->p->obj[i];

		r->obj[i].encap = r->encap;
		if (o->kind != O_QP || r->p->node[o->node].engine)
			continue;
		r->obj[i].made = true;
		r->obj[i].qpn = r->t->peer_qpn + i * r->t->peer_qpn_step;
		r->obj[i].mtu = 1024;
		r->obj[i].qkey = 0x11111111;
	}
	for (int i = 0; i < (int)r->p->n_nodes; i++) {
		if (r->p->node[i].engine && r->t->ops->cq_create(r->t, i, 16384, NULL, &r->cq[i]) < 0) {
			dr_broken(r, NULL, 0, "there is no room for a completion queue");
			return false;
		}
	}
	return true;
}

void dr_close(struct run *r)
{
	if (r->t != NULL)
		r->t->ops->destroy(r->t);
	for (unsigned k = 0; k < SEEN_KINDS; k++) {
		while (r->head[k] != NULL) {
			struct seen *s = r->head[k];

			r->head[k] = s->next;
			free(s);
		}
	}
	while (r->pending != NULL) {
		struct pending *p = r->pending;

		r->pending = p->next;
		free(p);
	}
	for (unsigned i = 0; i < r->p->n_objs; i++) {
		free(r->obj[i].frame);
		/* The peer's memory is the script's own. */
		if (r->p->obj[i]->kind == O_MR && !r->p->node[r->p->obj[i]->node].engine)
			free(r->obj[i].mem.bytes);
	}
	free(r->data);
	dr_payload_free(r);
}

const char *dr_lacking(const struct run *r)
{
	static const struct {
		enum dr_need need;
		unsigned where; /* 1 << enum dr_encap: where it is */
		const char *text;
	} rows[] = {
		{ND_ECN, 1u << EN_ROCEV2_IPV4 | 1u << EN_ROCEV2_IPV6, "there is no ECN without an IP header"},
		{ND_GRH, ~(1u << EN_IB), "there is no GRH on a native link without it"},
		{ND_ETHERNET, 1u << EN_ROCEV2_IPV4 | 1u << EN_ROCEV2_IPV6 | 1u << EN_ROCEV1,
		 "there is no Ethernet header on a native link"},
		{ND_UDP, 1u << EN_ROCEV2_IPV4 | 1u << EN_ROCEV2_IPV6, "there is no UDP but in RoCEv2"},
		{ND_IPV4, 1u << EN_ROCEV2_IPV4, "the packets have no IPv4 header"},
		{ND_IPV6, 1u << EN_ROCEV2_IPV6, "the packets have no IPv6 header"},
		{ND_LRH, 1u << EN_IB | 1u << EN_IB_GRH, "there is no LRH on Ethernet"},
		{ND_LOCAL, 1u << EN_IB, "the packets have global addresses too"},
	};
	int encap = encap_of(r);

	if (encap < 0) /* said elsewhere */
		return NULL;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (r->d->needs >> rows[i].need & 1 && !(rows[i].where >> encap & 1))
			return rows[i].text;
	return NULL;
}
