/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * pair.c - the target of two devices: the first node of a script lives on the first, all others on the second. Each
 * device is a target of its own (verbs or agent); calls go to the one whose node or object they are about. With a
 * bridge between them, what it hears is told as what the devices have sent; without one nobody sees the wire.
 */
#define _GNU_SOURCE /* ppoll */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pair.h"

#define SETTLE_NS 20000000u
#define NO_PEER "between two devices there is no peer that a script could play"

static struct vc_bridge *the_bridge; /* of this process; NULL: there is none */

void vc_pair_take_over(struct pair *p)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct dr_target *e = p->end[i];

		p->t.lacks = p->t.lacks != NULL ? p->t.lacks : e->lacks;
		p->t.gone = p->t.gone != NULL ? p->t.gone : e->gone;
		if (e->clock_error_ns > p->t.clock_error_ns)
			p->t.clock_error_ns = e->clock_error_ns;
	}
}

/* ---- time and wire ---- */

static void tell(struct pair *p, uint64_t when, unsigned end, bool lost, const uint8_t *frame, size_t len)
{
	const struct vs_drill_env *env = p->setup.env;
	struct vs_drill_frame f = {when, p->name[end], lost ? VS_TAP_LOST : VS_TAP_SENT, VS_LINK_ETHERNET, frame, len};
	struct vs_event ev = {.type = VS_EV_PKT_TX, .t_ns = when, .pkt_id = ++p->pkt_id};
	struct vs_pkt k;

	if (env->tap != NULL)
		env->tap(env->tap_ctx, &f);
	if (env->sink.emit == NULL || vs_pkt_parse(&k, VS_LINK_ETHERNET, 0, frame, len, len, 0) != VS_OK)
		return;
	(void)snprintf(ev.node, sizeof(ev.node), "%s", p->name[end]);
	vc_packet_event(&ev, &k);
	(void)env->sink.emit(env->sink.ctx, &ev);
}

static void on_bridge(void *ctx, uint64_t stamp_ns, unsigned end, bool lost, const uint8_t *frame, size_t len)
{
	struct pair *p = ctx;

	const uint64_t when = vc_on_our_clock(stamp_ns);

	tell(p, when, end, lost, frame, len);
	if (p->t.tells_sent)
		p->setup.ears.sent(p->setup.ears.ctx, p->node[end], when, VS_LINK_ETHERNET, frame, len);
	p->heard_ns = vc_now_ns();
}

static uint64_t p_now(struct dr_target *t)
{
	(void)t;
	return vc_now_ns();
}

static bool hear(struct pair *p, const char **broken)
{
	return the_bridge != NULL && vc_bridge_hear(the_bridge, on_bridge, p, broken) > 0;
}

static bool p_step(struct dr_target *t, uint64_t until)
{
	struct pair *p = self(t);
	const char *broken = NULL;
	bool more = hear(p, &broken);

	for (unsigned i = 0; i < 2; i++)
		more |= p->end[i]->ops->step(p->end[i], until);
	more |= hear(p, &broken);
	if (broken != NULL)
		p->t.gone = broken;
	vc_pair_take_over(p);
	return more;
}

static bool p_idle(struct dr_target *t)
{
	struct pair *p = self(t);

	return vc_now_ns() - p->heard_ns > SETTLE_NS && p->end[0]->ops->idle(p->end[0]) &&
	       p->end[1]->ops->idle(p->end[1]);
}

static uint64_t p_lag_ns(struct dr_target *t)
{
	struct pair *p = self(t);
	uint64_t a = p->end[0]->ops->lag_ns(p->end[0]), b = p->end[1]->ops->lag_ns(p->end[1]);

	return a > b ? a : b;
}

static int p_send(struct dr_target *t, const uint8_t *frame, size_t len)
{
	(void)frame;
	(void)len;
	t->lacks = NO_PEER;
	return VS_ERR_INVAL;
}

static int p_fault(struct dr_target *t, const char *rule)
{
	if (the_bridge != NULL)
		return vc_bridge_fault(the_bridge, rule);
	if (rule != NULL)
		t->lacks = "nobody is on the wire who could act a fault";
	return rule != NULL ? VS_ERR_INVAL : VS_OK;
}

static const char *p_idle_fault(struct dr_target *t)
{
	(void)t;
	return the_bridge != NULL ? vc_bridge_idle(the_bridge) : NULL;
}

static int p_av(struct dr_target *t, int node, int encap, struct vs_av *av)
{
	struct dr_target *e = of_node(t, node);

	return told(t, e->ops->av(e, node, encap, av));
}

static void p_mark(struct dr_target *t, const char *text)
{
	self(t)->end[0]->ops->mark(self(t)->end[0], text);
}

/* ---- opening ---- */

static void p_destroy(struct dr_target *t)
{
	struct pair *p = self(t);

	for (unsigned i = 0; i < 2; i++)
		if (p->end[i] != NULL)
			p->end[i]->ops->destroy(p->end[i]);
	while (p->objects != NULL) {
		struct on *gone = p->objects;

		p->objects = gone->next;
		free(gone);
	}
	free(p);
}

/* What is wanted of each device alone. */
static struct vc_options alone[2];

static bool ready(const struct vc_options *o, char *why, size_t cap)
{
	for (unsigned i = 0; i < 2; i++) {
		alone[i] = *o;
		alone[i].end = i;
		alone[i].agent = o->agents[i];
		if (o->devices[i] != NULL)
			alone[i].verbs = alone[i].name = o->devices[i];
		alone[i].two = false;
		alone[i].peer = "loop";
		alone[i].peer_at.kind = VC_PEER_NONE;
		if (vc_verbs_open(&alone[i], why, cap) == NULL)
			return false;
	}
	if (the_bridge == NULL && o->peer_at.kind == VC_PEER_BRIDGE)
		the_bridge = vc_bridge_open(&o->peer_at, why, cap);
	return the_bridge != NULL || o->peer_at.kind != VC_PEER_BRIDGE;
}

bool vc_pair_try(const struct vc_options *o, char *why, size_t cap)
{
	return ready(o, why, cap);
}

void vc_pair_close(void)
{
	vc_bridge_close(the_bridge);
	the_bridge = NULL;
}

/* The script as one device sees it: the nodes of the other are not its own. */
static bool open_end(struct pair *p, unsigned i, char *why, size_t cap, bool *skip)
{
	struct dr_setup s = p->setup;

	p->program[i] = *p->setup.p;
	p->name[i] = "";
	for (unsigned n = p->setup.p->n_nodes; n-- > 0;) {
		if (!p->setup.p->node[n].engine)
			continue;
		p->program[i].node[n].engine = end_of(p, (int)n) == i;
		if (!p->program[i].node[n].engine)
			continue;
		p->name[i] = p->setup.p->node[n].name;
		p->node[i] = (int)n;
	}
	s.p = &p->program[i];
	s.ears = (struct dr_ears){.ctx = NULL};
	p->end[i] = vc_target_open(&alone[i], &s, why, cap, skip);
	if (p->end[i] == NULL)
		return false;
	p->gids[i] = &vc_self(p->end[i])->v->gids;
	return true;
}

static uint64_t more(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Then whoever sent a frame is known by where it came from. */
static bool has_two_nodes(const struct pair *p)
{
	unsigned n = 0;

	for (unsigned i = 0; i < p->setup.p->n_nodes; i++)
		n += p->setup.p->node[i].engine;
	return n == 2;
}

static void set_up(struct pair *p)
{
	const struct dr_target *a = p->end[0], *b = p->end[1];

	p->ops = (struct dr_target_ops){.destroy = p_destroy,
					.now = p_now,
					.step = p_step,
					.idle = p_idle,
					.lag_ns = p_lag_ns,
					.send = p_send,
					.fault = p_fault,
					.idle_fault = p_idle_fault,
					.av = p_av,
					.mark = p_mark};
	vc_pair_calls(&p->ops);
	p->t = (struct dr_target){.ops = &p->ops,
				  .tells_sent = the_bridge != NULL && p->setup.ears.sent != NULL && has_two_nodes(p),
				  .settle_ns = more(SETTLE_NS, more(a->settle_ns, b->settle_ns)),
				  .patience_ns = more(a->patience_ns, b->patience_ns),
				  .slack_ns = more(a->slack_ns, b->slack_ns),
				  .early_ns = more(a->early_ns, b->early_ns),
				  .doubt_ns = more(a->doubt_ns, b->doubt_ns)};
	vc_pair_take_over(p);
}

struct dr_target *vc_pair_open(void *ctx, const struct dr_setup *s, char *why, size_t cap, bool *skip)
{
	struct pair *p;

	if (s->p->raw_peer) {
		(void)snprintf(why, cap, NO_PEER);
		*skip = true;
		return NULL;
	}
	if (!ready(ctx, why, cap))
		return NULL;
	p = calloc(1, sizeof(*p));
	if (p == NULL)
		return NULL;
	p->setup = *s;
	if (!open_end(p, 0, why, cap, skip) || !open_end(p, 1, why, cap, skip) ||
	    (the_bridge != NULL && !vc_bridge_begin(the_bridge, s->env->seed, p->name[0], p->name[1]))) {
		p_destroy(&p->t);
		return NULL;
	}
	set_up(p);
	return &p->t;
}
