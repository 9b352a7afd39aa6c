/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * merge_clock.c - how far two clocks are apart. A packet never arrives before it was sent, so each that both records
 * have bounds the offset from one side; those of the other direction bound it from the other. The middle is taken, and
 * half of what is left is the error. Records without packets of their own are bounded by a capture all the same: what
 * is posted is sent later, and a completion comes after its acknowledge.
 */
#include <stdlib.h>

#include "map.h"
#include "merge.h"

/* The least that `to`'s clock showed more than `from`'s for one thing that happened first there and then here. */
struct bound {
	int64_t least;
	uint64_t pairs;
};

static void tighten(struct bound *b, const struct merge_event *from, const struct merge_event *to)
{
	int64_t d = (int64_t)(to->ev.t_ns - from->ev.t_ns);

	if (b->pairs++ == 0 || d < b->least)
		b->least = d;
}

static bool is_packet(const struct merge_event *e, enum vs_event_type type)
{
	return e->ev.type == type;
}

/* Opcode, PSN and destination name a packet; its repeats are told apart by their order. */
static uint64_t packet_key(const struct vs_event *e)
{
	return (e->a[0] & 0xff) << 56 ^ (e->a[1] & 0xffffff) << 28 ^ (e->a[2] & 0xffffff);
}

struct walk {
	struct vt_map seen; /* key, occurrence: index of the first record's event */
	struct vt_map count[2];
};

/* How often this key came before; false: no memory. */
static bool nth(struct vt_map *count, uint64_t key, uint64_t *n)
{
	size_t before = vt_map_get(count, key, 0);

	*n = before == SIZE_MAX ? 0 : before;
	return vt_map_put(count, key, 0, *n + 1);
}

/*
 * Packets that `from` sent and `to` took, or saw. What `to` is decides what it knows of them: a capture sees them pass.
 */
static bool sent_and_seen(struct merge *g, unsigned from, unsigned to, struct bound *b)
{
	enum vs_event_type seen = g->domain[to].capture ? VS_EV_PKT_TX : VS_EV_PKT_RX;
	struct walk w = {0};
	bool ok = true;

	for (size_t i = 0; ok && i < g->n; i++) {
		const struct merge_event *e = &g->ev[i];
		uint64_t key = packet_key(&e->ev), n;

		if (e->domain == from && is_packet(e, VS_EV_PKT_TX))
			ok = nth(&w.count[0], key, &n) && vt_map_put(&w.seen, key, n, i);
	}
	for (size_t i = 0; ok && i < g->n; i++) {
		const struct merge_event *e = &g->ev[i];
		uint64_t key = packet_key(&e->ev), n;
		size_t at;

		if (e->domain != to || !is_packet(e, seen))
			continue;
		ok = nth(&w.count[1], key, &n);
		at = vt_map_get(&w.seen, key, n);
		if (at != SIZE_MAX)
			tighten(b, &g->ev[at], e);
	}
	vt_map_free(&w.seen);
	vt_map_free(&w.count[0]);
	vt_map_free(&w.count[1]);
	return ok;
}

/* ---- calls and a capture ---- */

/* The n-th request that the capture shows on its way to this queue pair. */
static size_t captured(const struct merge *g, uint32_t dqpn, uint64_t n)
{
	const struct vt_model *m = g->model;

	for (size_t i = 0; i < m->n_ops; i++) {
		size_t peer = m->qp[m->op[i].qp].peer;

		if (peer != VT_NONE && m->qp[peer].qpn == dqpn && n-- == 0)
			return i;
	}
	return VT_NONE;
}

static void bound_by_calls(struct merge *g, unsigned calls, struct bound *to, struct bound *back)
{
	const struct vt_model *m = g->model;

	for (size_t i = 0; i < g->n; i++) {
		uint32_t qpn = g->ev[i].ev.qpn, dqpn = (uint32_t)g->ev[i].ev.a[1];
		uint64_t posts = 0, cqes = 0;

		if (g->ev[i].domain != calls || g->ev[i].ev.type != VS_EV_VERB_QP_RTR || dqpn == 0)
			continue;
		for (size_t j = 0; j < g->n; j++) {
			const struct merge_event *e = &g->ev[j];
			bool post = e->ev.type == VS_EV_VERB_POST_SEND && e->ev.a[5] == 0;
			bool cqe = e->ev.type == VS_EV_CQE && e->ev.a[0] == 0 && e->ev.a[1] < VS_WC_RECV;
			struct merge_event frame = {0};
			size_t op;

			if (e->domain != calls || e->ev.qpn != qpn || (!post && !cqe))
				continue;
			op = captured(g, dqpn, post ? posts++ : cqes++);
			if (op == VT_NONE)
				continue;
			if (post && m->op[op].first_tx != VT_NONE) {
				frame.ev.t_ns = m->ev[m->op[op].first_tx].t_ns;
				tighten(to, e, &frame);
			} else if (cqe && m->op[op].answer != VT_NONE) {
				frame.ev.t_ns = m->ev[m->op[op].answer].t_ns;
				tighten(back, &frame, e);
			}
		}
	}
}

/* ---- offsets ---- */

static bool measure(struct merge *g, unsigned known, unsigned other)
{
	struct merge_domain *k = &g->domain[known], *o = &g->domain[other];
	struct bound to = {0}, back = {0};
	int64_t offset;

	/* A capture sees a packet pass once: from each end's view it is both after the sending and before the arrival.
	 */
	if (!sent_and_seen(g, known, other, &to) || !sent_and_seen(g, other, known, &back))
		return false;
	if (o->capture && g->model != NULL && to.pairs == 0)
		bound_by_calls(g, known, &to, &back);
	else if (k->capture && g->model != NULL && to.pairs == 0)
		bound_by_calls(g, other, &back, &to);
	if (to.pairs == 0 || back.pairs == 0)
		return true;
	/* least(to) = offset + delay, least(back) = -offset + delay */
	offset = (to.least - back.least) / 2;
	o->error_ns = (uint64_t)llabs(to.least + back.least) / 2 + k->error_ns;
	if (to.least + back.least < 0) /* an arrival was noted before its sending: by as much the notes may be wrong */
		o->error_ns += (uint64_t) - (to.least + back.least);
	o->pairs = to.pairs + back.pairs;
	o->shift_ns = k->shift_ns - offset;
	if ((uint64_t)llabs(offset) <= o->error_ns && !o->capture && !k->capture)
		o->shift_ns = k->shift_ns; /* they may well be one clock */
	o->known = true;
	return true;
}

/* Wall time at a record's zero, as its own samples say; 0: it has none. */
static int64_t wall_offset(const struct merge *g, unsigned domain)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->ev[i].domain == domain && g->ev[i].ev.type == VS_EV_REC_CLOCK)
			return (int64_t)(g->ev[i].ev.a[0] - g->ev[i].ev.t_ns);
	return 0;
}

/* Without a packet that both have: by wall time, which two hosts agree on as well as their NTP does. */
static void by_wall_time(struct merge *g, unsigned other)
{
	int64_t first = wall_offset(g, 0), its = g->domain[other].capture ? 0 : wall_offset(g, other);

	if (first == 0 || (its == 0 && !g->domain[other].capture))
		return;
	g->domain[other].shift_ns = its - first;
	g->domain[other].error_ns = UINT64_MAX;
	g->domain[other].known = true;
}

bool merge_clocks(struct merge *g)
{
	bool again = true;

	g->domain[0].known = true;
	while (again) {
		again = false;
		for (unsigned k = 0; k < g->n_domains; k++)
			for (unsigned o = 0; g->domain[k].known && o < g->n_domains; o++) {
				if (g->domain[o].known)
					continue;
				if (!measure(g, k, o))
					return false;
				again = again || g->domain[o].known;
			}
	}
	for (unsigned o = 1; o < g->n_domains; o++)
		if (!g->domain[o].known)
			by_wall_time(g, o);
	for (size_t i = 0; i < g->n; i++)
		g->ev[i].ev.t_ns += (uint64_t)g->domain[g->ev[i].domain].shift_ns;
	return true;
}
