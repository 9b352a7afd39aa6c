/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * impair.c - faults act where a frame leaves its host: dropped, copied, damaged, marked, or kept in limbo
 * until its time has come.
 *
 * Each makes its event, and becomes the cause of what the frame does next: the receiver's pkt:rx leads to
 * fault:delay, and that to pkt:tx. A copy has the pkt_id of its original.
 *
 * A frame that is overtaken waits until N others of the same path (sender, addressee) have gone by, at most
 * VS_SIM_REORDER_MAX_NS. A held frame makes everything behind it on its path wait too.
 */
#include "internal.h"

/* ---- limbo: a heap by time, then by order of arrival ---- */

static bool earlier(const struct vs_sim_frame *a, const struct vs_sim_frame *b)
{
	return a->when != b->when ? a->when < b->when : a->serial < b->serial;
}

static void place(struct vs_sim *sim, uint32_t i, struct vs_sim_frame *f)
{
	sim->limbo[i] = f;
	f->limbo = i + 1;
}

static void sift_up(struct vs_sim *sim, uint32_t i, struct vs_sim_frame *f)
{
	while (i > 0 && earlier(f, sim->limbo[(i - 1) / 2])) {
		place(sim, i, sim->limbo[(i - 1) / 2]);
		i = (i - 1) / 2;
	}
	place(sim, i, f);
}

static struct vs_sim_frame *limbo_pop(struct vs_sim *sim)
{
	struct vs_sim_frame *top = sim->limbo[0], *last = sim->limbo[--sim->n_limbo];
	uint32_t i = 0;

	top->limbo = 0;
	if (sim->n_limbo == 0)
		return top;
	for (;;) {
		uint32_t child = 2 * i + 1;

		if (child >= sim->n_limbo)
			break;
		if (child + 1 < sim->n_limbo && earlier(sim->limbo[child + 1], sim->limbo[child]))
			child++;
		if (!earlier(sim->limbo[child], last))
			break;
		place(sim, i, sim->limbo[child]);
		i = child;
	}
	place(sim, i, last);
	return top;
}

static bool limbo_push(struct vs_sim *sim, struct vs_sim_frame *f, uint64_t when)
{
	if (!vs_sim_grow(sim, &sim->limbo, &sim->limbo_cap, sim->n_limbo, sizeof(struct vs_sim_frame *)))
		return false;
	f->when = when;
	f->serial = ++sim->serial;
	sift_up(sim, sim->n_limbo++, f);
	return true;
}

/* ---- paths ---- */

static size_t paths_size(int nodes)
{
	return (size_t)nodes * ((size_t)nodes + 1) * sizeof(struct vs_path);
}

/* NULL: no memory. */
static struct vs_path *path_of(struct vs_sim *sim, int from, int to)
{
	int n = sim->n_nodes, old = sim->path_nodes;

	if (old != n) {
		struct vs_path *grown = vs_sim_alloc(sim, paths_size(n));

		if (grown == NULL)
			return NULL;
		for (int i = 0; i < old; i++)
			memcpy(&grown[i * (n + 1)], &sim->path[i * (old + 1)], (size_t)(old + 1) * sizeof(*grown));
		vs_sim_free(sim, sim->path, paths_size(old));
		sim->path = grown;
		sim->path_nodes = n;
	}
	return &sim->path[from * (n + 1) + to + 1];
}

void vs_paths_fini(struct vs_sim *sim)
{
	vs_sim_free(sim, sim->path, paths_size(sim->path_nodes));
	vs_sim_free(sim, sim->limbo, sim->limbo_cap * sizeof(struct vs_sim_frame *));
}

/* One more frame has gone by: those that wait for it alone go right behind it. */
static void gone_by(struct vs_sim *sim, struct vs_path *path)
{
	struct vs_sim_frame **link = &path->overtaken;

	while (*link != NULL) {
		struct vs_sim_frame *f = *link;

		if (--f->passes > 0) {
			link = &f->next;
			continue;
		}
		*link = f->next;
		f->when = sim->now;
		sift_up(sim, f->limbo - 1, f);
	}
}

static void forget_overtaken(struct vs_path *path, const struct vs_sim_frame *f)
{
	struct vs_sim_frame **link = &path->overtaken;

	while (*link != NULL && *link != f)
		link = &(*link)->next;
	if (*link != NULL)
		*link = f->next;
}

void vs_limbo_release(struct vs_sim *sim)
{
	while (sim->n_limbo > 0 && sim->limbo[0]->when <= sim->now) {
		struct vs_sim_frame *f = limbo_pop(sim);
		struct vs_path *path = path_of(sim, f->from, f->to);

		if (path != NULL && f->passes > 0)
			forget_overtaken(path, f);
		if (path != NULL && f->passes == 0)
			gone_by(sim, path);
		f->passes = 0;
		vs_enter_wire(sim, f);
	}
}

/* ---- what a verdict says ---- */

/* The name of the rule of this action; makes its event, which is the frame's cause from now on. */
static void tell(struct vs_sim *sim, struct vs_sim_frame *f, const struct vs_fault_verdict *v,
		 enum vs_fault_action action, enum vs_event_type type, unsigned n, uint64_t x, uint64_t y)
{
	const char *name = "";
	uint64_t seq;

	sim->stats.faults[action]++;
	for (unsigned k = 0; k < 4 && v->rule[k] >= 0; k++) {
		const struct vs_fault_rule *r = vs_fault_set_rule(sim->faults, v->rule[k]);

		if (r != NULL && r->action == action) {
			name = r->name;
			break;
		}
	}
	seq = vs_sim_event(sim, type, "wire", &f->meta, n, (const uint64_t[]){(uintptr_t)name, x, y});
	if (seq != 0)
		f->meta.cause = seq;
}

static void damage(struct vs_sim *sim, struct vs_sim_frame *f, const struct vs_fault_verdict *v, uint32_t bth_off)
{
	uint32_t byte = bth_off + v->corrupt_bit / 8;

	if (byte >= f->len)
		return;
	f->buf[byte] ^= (uint8_t)(1u << v->corrupt_bit % 8);
	tell(sim, f, v, VS_FAULT_CORRUPT, VS_EV_FAULT_CORRUPT, 3, v->corrupt_bit / 8, v->corrupt_bit % 8);
}

static void send_copies(struct vs_sim *sim, const struct vs_sim_frame *f, const struct vs_fault_verdict *v)
{
	for (uint32_t i = 0; i < v->copies; i++) {
		struct vs_sim_frame *copy = vs_frame_new(sim);

		if (copy == NULL)
			return;
		memcpy(copy, f, offsetof(struct vs_sim_frame, buf) + f->len);
		tell(sim, copy, v, VS_FAULT_DUP, VS_EV_FAULT_DUP, 1, 0, 0);
		vs_enter_wire(sim, copy);
	}
}

/* Delayed, held, overtaken: true when the frame waits in limbo. */
static bool keep_back(struct vs_sim *sim, struct vs_sim_frame *f, const struct vs_fault_verdict *v,
		      struct vs_path *path)
{
	uint64_t until = sim->now + v->delay_ns;

	if (v->delay_ns > 0)
		tell(sim, f, v, VS_FAULT_DELAY, VS_EV_FAULT_DELAY, 2, v->delay_ns, 0);
	if (v->hold_ns > 0) {
		tell(sim, f, v, VS_FAULT_HOLD, VS_EV_FAULT_HOLD, 1, 0, 0);
		if (path->hold_until < sim->now + v->hold_ns)
			path->hold_until = sim->now + v->hold_ns;
	}
	if (until < path->hold_until)
		until = path->hold_until;
	if (v->reorder > 0) {
		tell(sim, f, v, VS_FAULT_REORDER, VS_EV_FAULT_REORDER, 2, v->reorder, 0);
		if (!limbo_push(sim, f, until + VS_SIM_REORDER_MAX_NS))
			return false;
		f->passes = v->reorder;
		f->next = path->overtaken;
		path->overtaken = f;
		return true;
	}
	/* Behind a frame that is held until this very instant there may be others yet. */
	return (until > sim->now || (path->hold_until == sim->now && sim->now > 0)) && limbo_push(sim, f, until);
}

bool vs_impair(struct vs_sim *sim, struct vs_sim_frame *f)
{
	struct vs_path *path = path_of(sim, f->from, f->to);
	struct vs_fault_verdict v;
	struct vs_pkt p;

	if (path == NULL || vs_pkt_parse(&p, sim->link, 0, f->buf, f->len, f->len, 0) != VS_OK)
		return true;
	vs_fault_judge(sim->faults, &p, p.end_off - p.bth_off, sim->node[f->from]->name,
		       f->to >= 0 ? sim->node[f->to]->name : "", &v);
	if (v.drop) {
		tell(sim, f, &v, VS_FAULT_DROP, VS_EV_FAULT_DROP, 1, 0, 0);
		vs_sim_tell(sim, f->from, VS_TAP_LOST, f);
		vs_frame_free(sim, f);
		return false;
	}
	if (v.mark && vs_frame_mark(sim, f, false))
		tell(sim, f, &v, VS_FAULT_MARK, VS_EV_FAULT_MARK, 1, 0, 0);
	if (v.corrupt)
		damage(sim, f, &v, p.bth_off);
	send_copies(sim, f, &v);
	if (keep_back(sim, f, &v, path))
		return false;
	gone_by(sim, path);
	return true;
}
