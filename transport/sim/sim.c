/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * sim.c - life of a simulation, and the loop that jumps to the next instant.
 *
 * A step is one round at one instant: arrivals, timers, frames that leave limbo, then what devices and queues
 * have to send. What a round causes at the same instant (an answer on a wire without latency) is the next step.
 */
#include <stdlib.h>

#include "internal.h"

/* ---- memory, events, taps ---- */

static void *host_alloc(void *ctx, size_t size)
{
	(void)ctx;
	return calloc(1, size);
}

static void host_free(void *ctx, void *p, size_t size)
{
	(void)ctx;
	(void)size;
	free(p);
}

void *vs_sim_alloc(struct vs_sim *sim, size_t size)
{
	return sim->attr.allocator.alloc(sim->attr.allocator.ctx, size);
}

void vs_sim_free(struct vs_sim *sim, void *p, size_t size)
{
	if (p != NULL)
		sim->attr.allocator.free(sim->attr.allocator.ctx, p, size);
}

/* Room for one more behind the n elements of an array of pointers. */
bool vs_sim_grow(struct vs_sim *sim, void *array, uint32_t *cap, uint32_t n, size_t size)
{
	uint32_t more = *cap == 0 ? 16 : 2 * *cap;
	void *old, *grown;

	if (n < *cap)
		return true;
	grown = vs_sim_alloc(sim, more * size);
	if (grown == NULL)
		return false;
	memcpy(&old, array, sizeof(old));
	if (n > 0)
		memcpy(grown, old, n * size);
	vs_sim_free(sim, old, *cap * size);
	memcpy(array, &grown, sizeof(grown));
	*cap = more;
	return true;
}

uint64_t vs_sim_event(struct vs_sim *sim, enum vs_event_type type, const char *node, const struct vs_pkt_meta *meta,
		      unsigned n, const uint64_t *a)
{
	struct vs_event ev = {.t_ns = sim->now, .cause = meta->cause, .pkt_id = meta->pkt_id, .type = (uint16_t)type};

	if (sim->attr.sink.emit == NULL || vs_event_info(type)->level > sim->attr.sink.level)
		return meta->cause;
	for (size_t i = 0; node[i] != '\0' && i + 1 < sizeof(ev.node); i++)
		ev.node[i] = node[i];
	memcpy(ev.a, a, n * sizeof(a[0]));
	return sim->attr.sink.emit(sim->attr.sink.ctx, &ev);
}

void vs_sim_tell(struct vs_sim *sim, int node, enum vs_tap_where where, const struct vs_sim_frame *f)
{
	sim->stats.sent += where == VS_TAP_SENT;
	sim->stats.received += where == VS_TAP_RECEIVED;
	sim->stats.lost += where == VS_TAP_LOST;
	if (sim->tap != NULL)
		sim->tap(sim->tap_ctx, sim->now, node, where, sim->link, f->buf, f->len);
}

/* ---- life ---- */

struct vs_sim *vs_sim_create(const struct vs_sim_attr *attr, int *err)
{
	struct vs_sim_attr a = *attr;
	struct vs_sim *sim;
	void *faults;

	if (a.allocator.alloc == NULL)
		a.allocator = (struct vs_allocator){host_alloc, host_free, NULL};
	if (a.max_in_flight == 0)
		a.max_in_flight = 65536;
	sim = a.allocator.alloc(a.allocator.ctx, sizeof(*sim));
	faults = a.allocator.alloc(a.allocator.ctx, vs_fault_set_size());
	if (sim == NULL || faults == NULL) {
		if (sim != NULL)
			a.allocator.free(a.allocator.ctx, sim, sizeof(*sim));
		if (faults != NULL)
			a.allocator.free(a.allocator.ctx, faults, vs_fault_set_size());
		*err = VS_ERR_NOSPACE;
		return NULL;
	}
	sim->attr = a;
	sim->now = a.start_ns;
	sim->random = a.seed;
	sim->faults = vs_fault_set_init(faults, a.seed);
	*err = VS_OK;
	return sim;
}

void vs_sim_destroy(struct vs_sim *sim)
{
	struct vs_allocator al;

	if (sim == NULL)
		return;
	for (int i = 0; i < sim->n_nodes; i++)
		vs_node_free(sim, sim->node[i]);
	vs_sim_free(sim, sim->node, sim->node_cap * sizeof(struct vs_sim_node *));
	for (uint32_t i = 0; i < sim->n_pipes; i += 2)
		vs_sim_free(sim, sim->pipe[i], 2 * sizeof(struct vs_pipe));
	vs_sim_free(sim, sim->pipe, sim->pipe_cap * sizeof(struct vs_pipe *));
	vs_paths_fini(sim);
	vs_frames_fini(sim);
	vs_sim_free(sim, sim->faults, vs_fault_set_size());
	al = sim->attr.allocator;
	al.free(al.ctx, sim, sizeof(*sim));
}

/* ---- faults, taps, injection ---- */

struct vs_fault_set *vs_sim_faults(struct vs_sim *sim)
{
	return sim->faults;
}

int vs_sim_fault(struct vs_sim *sim, const char *text, struct vs_fault_error *err)
{
	struct vs_fault_rule r;
	int rc = vs_fault_parse(text, strlen(text), &r, err);

	return rc < 0 ? rc : vs_fault_set_add(sim->faults, &r);
}

void vs_sim_set_tap(struct vs_sim *sim, vs_sim_tap_fn *fn, void *ctx)
{
	sim->tap = fn;
	sim->tap_ctx = ctx;
}

void vs_enter_wire(struct vs_sim *sim, struct vs_sim_frame *f)
{
	struct vs_sim_node *n = sim->node[f->from];

	if (n->n_ports > 0) {
		vs_pipe_send(sim, f->to == f->from ? n->loop : n->port[0], f);
		return;
	}
	vs_sim_tell(sim, f->from, VS_TAP_LOST, f);
	vs_frame_free(sim, f);
}

void vs_leave_host(struct vs_sim *sim, struct vs_sim_frame *f)
{
	f->to = vs_frame_destination(sim, f);
	vs_sim_tell(sim, f->from, VS_TAP_SENT, f);
	if (vs_fault_set_rule(sim->faults, 0) != NULL || sim->n_limbo > 0) {
		if (vs_impair(sim, f))
			vs_enter_wire(sim, f);
		vs_limbo_release(sim);
		return;
	}
	vs_enter_wire(sim, f);
}

/* A raw host's frame has its pkt:tx too, so that what follows has a cause. */
static void inject_event(struct vs_sim *sim, struct vs_sim_frame *f)
{
	struct vs_pkt p;
	bool aeth;

	f->meta.pkt_id = ++sim->pkt_counter;
	if (vs_pkt_parse(&p, sim->link, 0, f->buf, f->len, f->len, 0) != VS_OK)
		return;
	aeth = (p.hdrs & VS_HDR_AETH) != 0;
	f->meta.cause = vs_sim_event(sim, VS_EV_PKT_TX, sim->node[f->from]->name, &f->meta, 8,
				     (const uint64_t[]){p.bth.opcode, p.bth.psn, p.bth.destqp, p.payload_len,
							aeth ? p.ext.aeth.syndrome : VS_SYN_NONE,
							aeth ? p.ext.aeth.msn : 0, p.bth.ackreq, 0});
}

int vs_sim_inject(struct vs_sim *sim, int host, const uint8_t *frame, size_t len)
{
	struct vs_sim_frame *f;

	if (!vs_node_is_host(sim, host) || len == 0 || len > VS_FRAME_MAX)
		return VS_ERR_INVAL;
	f = vs_frame_new(sim);
	if (f == NULL)
		return VS_ERR_NOSPACE;
	memcpy(f->buf, frame, len);
	f->len = (uint32_t)len;
	f->from = host;
	inject_event(sim, f);
	vs_leave_host(sim, f);
	return VS_OK;
}

/* ---- the loop ---- */

uint64_t vs_sim_now(const struct vs_sim *sim)
{
	return sim->now;
}

const struct vs_sim_stats *vs_sim_stats(const struct vs_sim *sim)
{
	return &sim->stats;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* When the host's device can put its next frame on the wire; VS_NEVER: it has none, or something must happen first. */
static uint64_t next_output(const struct vs_sim_node *n)
{
	const struct vs_pipe *p = n->n_ports > 0 ? n->port[0] : NULL;

	if (!vs_dev_has_output(n->dev))
		return VS_NEVER;
	if (p == NULL)
		return 0;
	return p->paused > 0 || p->queue.head != NULL ? VS_NEVER : p->free_at;
}

static uint64_t next_instant(const struct vs_sim *sim)
{
	uint64_t t = sim->n_limbo > 0 ? sim->limbo[0]->when : VS_NEVER;

	for (uint32_t i = 0; i < sim->n_pipes; i++) {
		const struct vs_pipe *p = sim->pipe[i];

		if (p->wire.head != NULL)
			t = earlier(t, p->wire.head->when);
		if (p->words.head != NULL)
			t = earlier(t, p->words.head->when);
		if (p->queue.head != NULL && p->paused == 0)
			t = earlier(t, p->free_at);
	}
	for (int i = 0; i < sim->n_nodes; i++) {
		const struct vs_sim_node *n = sim->node[i];

		if (n->dev != NULL)
			t = earlier(t, earlier(vs_dev_deadline(n->dev), next_output(n)));
	}
	return t == VS_NEVER || t > sim->now ? t : sim->now;
}

static void arrive(struct vs_sim *sim, struct vs_pipe *p, struct vs_sim_frame *f)
{
	struct vs_sim_node *n = sim->node[p->to];

	if (n->kind == VS_NODE_SWITCH) {
		f->in = p;
		vs_switch_forward(sim, p->to, f);
		return;
	}
	vs_sim_tell(sim, p->to, VS_TAP_RECEIVED, f);
	if (n->kind == VS_NODE_HOST)
		vs_dev_input(n->dev, sim->link, f->buf, f->len, &f->meta, sim->now);
	else if (n->raw != NULL)
		n->raw(n->raw_ctx, sim->now, sim->link, f->buf, f->len, &f->meta);
	vs_frame_free(sim, f);
}

static bool deliver(struct vs_sim *sim)
{
	bool any = false;

	for (uint32_t i = 0; i < sim->n_pipes; i++) {
		struct vs_pipe *p = sim->pipe[i];

		any |= vs_pipe_obey(sim, p);
		while (p->wire.head != NULL && p->wire.head->when <= sim->now) {
			arrive(sim, p, vs_fifo_pop(&p->wire));
			any = true;
		}
	}
	return any;
}

static bool expire(struct vs_sim *sim)
{
	bool any = false;

	for (int i = 0; i < sim->n_nodes; i++) {
		struct vs_dev *dev = sim->node[i]->dev;

		if (dev == NULL)
			continue;
		vs_dev_set_now(dev, sim->now);
		if (vs_dev_deadline(dev) <= sim->now) {
			vs_dev_expire(dev, sim->now);
			any = true;
		}
	}
	return any;
}

/* One frame of a device. False: it has nothing to send now. */
static bool pull(struct vs_sim *sim, int node)
{
	struct vs_sim_frame *f = vs_frame_new(sim);
	struct vs_pkt_meta meta;
	uint8_t lost[VS_FRAME_MAX];
	const uint64_t a[] = {0};
	size_t n;

	if (f == NULL) {
		n = vs_dev_output(sim->node[node]->dev, lost, sizeof(lost), &meta, sim->now);
		if (n == 0)
			return false;
		sim->stats.sent++;
		sim->stats.lost++;
		sim->stats.queue_drops++;
		vs_sim_event(sim, VS_EV_LINK_QUEUE_DROP, "wire", &meta, 1, a);
		return true;
	}
	n = vs_dev_output(sim->node[node]->dev, f->buf, sizeof(f->buf), &f->meta, sim->now);
	if (n == 0) {
		vs_frame_free(sim, f);
		return false;
	}
	f->len = (uint32_t)n;
	f->from = node;
	vs_leave_host(sim, f);
	return true;
}

static bool transmit(struct vs_sim *sim)
{
	bool any = false;

	for (uint32_t i = 0; i < sim->n_pipes; i++) {
		struct vs_pipe *p = sim->pipe[i];

		if (p->queue.head != NULL && p->paused == 0 && p->free_at <= sim->now) {
			vs_pipe_transmit(sim, p);
			any = true;
		}
	}
	for (int i = 0; i < sim->n_nodes; i++) {
		struct vs_sim_node *n = sim->node[i];

		if (n->dev == NULL)
			continue;
		while ((n->n_ports == 0 || vs_pipe_idle(sim, n->port[0])) && pull(sim, i))
			any = true;
	}
	return any;
}

uint64_t vs_sim_next(const struct vs_sim *sim)
{
	return next_instant(sim);
}

bool vs_sim_busy(const struct vs_sim *sim)
{
	return next_instant(sim) != VS_NEVER;
}

bool vs_sim_step(struct vs_sim *sim, uint64_t limit_ns)
{
	uint64_t t = next_instant(sim);
	bool any;

	if (t == VS_NEVER || t > limit_ns)
		return false;
	sim->now = t;
	any = deliver(sim);
	any |= expire(sim);
	if (sim->n_limbo > 0 && sim->limbo[0]->when <= sim->now) {
		vs_limbo_release(sim);
		any = true;
	}
	any |= transmit(sim);
	/* A device that was asked and had nothing to send after all is not asked again at once. */
	assert(any || next_instant(sim) > t);
	(void)any;
	return true;
}

uint64_t vs_sim_run(struct vs_sim *sim, uint64_t until_ns)
{
	uint64_t steps = 0;

	while (vs_sim_step(sim, until_ns))
		steps++;
	if (until_ns != VS_NEVER && sim->now < until_ns) {
		sim->now = until_ns;
		for (int i = 0; i < sim->n_nodes; i++)
			if (sim->node[i]->dev != NULL)
				vs_dev_set_now(sim->node[i]->dev, until_ns);
	}
	return steps;
}
