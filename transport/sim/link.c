/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * link.c - pipes and switches.
 *
 * A pipe is one direction of a link: queue -> transmitter (rate) -> wire (latency). A device puts its next
 * frame on an idle transmitter, as a NIC does: queues fill in switches, and in front of a host only by what is
 * injected, copied or released there.
 *
 * A switch forwards whole frames along the one way there is (links never close a ring); groups and unknown
 * addresses go out of every other port. PFC: a frame that meets a queue of pause_bytes or more stops the pipe
 * that brought it, until the queue is down to half of that. Both words travel back over the link's latency.
 */
#include "internal.h"

int vs_pipe_pair(struct vs_sim *sim, int a, int b, const struct vs_sim_link *link, struct vs_pipe **ab)
{
	struct vs_pipe *p = NULL;

	/* Both numbers are even. */
	if (vs_sim_grow(sim, &sim->pipe, &sim->pipe_cap, sim->n_pipes, sizeof(struct vs_pipe *)))
		p = vs_sim_alloc(sim, 2 * sizeof(*p));
	if (p == NULL)
		return VS_ERR_NOSPACE;
	p[0] = (struct vs_pipe){.from = a, .to = b, .back = &p[1], .attr = *link};
	p[1] = (struct vs_pipe){.from = b, .to = a, .back = &p[0], .attr = *link};
	sim->pipe[sim->n_pipes++] = &p[0];
	sim->pipe[sim->n_pipes++] = &p[1];
	*ab = p;
	return VS_OK;
}

static const char *place(const struct vs_sim *sim, const struct vs_pipe *p)
{
	return sim->node[p->from]->kind == VS_NODE_SWITCH ? sim->node[p->from]->name : "wire";
}

/* ---- PFC ---- */

static void pause_event(struct vs_sim *sim, const struct vs_pipe *p, const struct vs_sim_frame *f, bool on)
{
	const uint64_t a[] = {on};
	struct vs_pkt_meta none = {0};

	sim->stats.pauses += on;
	vs_sim_event(sim, VS_EV_LINK_PAUSE, place(sim, p), f != NULL ? &f->meta : &none, 1, a);
}

static void obey(struct vs_sim *sim, struct vs_pipe *p, bool on)
{
	if (on && p->paused++ == 0)
		p->paused_at = sim->now;
	else if (!on && --p->paused == 0)
		p->stats.paused_ns += sim->now - p->paused_at;
}

/* To the transmitter of `to`: pause, or go on. */
static void say(struct vs_sim *sim, struct vs_pipe *to, bool on)
{
	struct vs_sim_frame *word = vs_frame_new(sim);

	if (word == NULL) { /* too many frames are in flight: the word is there at once, rather than never */
		obey(sim, to, on);
		return;
	}
	word->when = sim->now + to->attr.latency_ns;
	word->passes = on;
	vs_fifo_push(&to->words, word);
}

bool vs_pipe_obey(struct vs_sim *sim, struct vs_pipe *p)
{
	bool any = false;

	while (p->words.head != NULL && p->words.head->when <= sim->now) {
		struct vs_sim_frame *word = vs_fifo_pop(&p->words);

		obey(sim, p, word->passes != 0);
		vs_frame_free(sim, word);
		any = true;
	}
	return any;
}

static void stop_sender(struct vs_sim *sim, struct vs_pipe *p, const struct vs_sim_frame *f)
{
	struct vs_sim_node *sw = sim->node[p->from];
	bool *stopped;

	if (p->attr.pause_bytes == 0 || p->queued < p->attr.pause_bytes || f->in == NULL)
		return;
	stopped = &sw->stopped[p->port * sw->n_ports + f->in->back->port];
	if (*stopped)
		return;
	*stopped = true;
	p->stats.pauses++;
	say(sim, f->in, true);
	pause_event(sim, p, f, true);
}

static void resume_senders(struct vs_sim *sim, struct vs_pipe *p)
{
	struct vs_sim_node *sw = sim->node[p->from];

	if (p->attr.pause_bytes == 0 || p->queued > p->attr.pause_bytes / 2 || sw->stopped == NULL)
		return;
	for (uint32_t i = 0; i < sw->n_ports; i++) {
		bool *stopped = &sw->stopped[p->port * sw->n_ports + i];

		if (!*stopped)
			continue;
		*stopped = false;
		say(sim, sw->port[i]->back, false);
		pause_event(sim, p, NULL, false);
	}
}

/* ---- pipes ---- */

static uint64_t duration_ns(const struct vs_pipe *p, uint32_t len)
{
	return p->attr.rate_bps == 0 ? 0 : ((uint64_t)len * 8000000000ull + p->attr.rate_bps - 1) / p->attr.rate_bps;
}

void vs_pipe_transmit(struct vs_sim *sim, struct vs_pipe *p)
{
	while (p->queue.head != NULL && p->paused == 0 && p->free_at <= sim->now) {
		struct vs_sim_frame *f = vs_fifo_pop(&p->queue);

		p->queued -= f->len;
		p->stats.sent_bytes += f->len;
		p->free_at = sim->now + duration_ns(p, f->len);
		f->when = p->free_at + p->attr.latency_ns;
		vs_fifo_push(&p->wire, f);
		resume_senders(sim, p);
	}
}

static void lose_at_queue(struct vs_sim *sim, struct vs_pipe *p, struct vs_sim_frame *f)
{
	const uint64_t a[] = {p->queued};

	vs_sim_event(sim, VS_EV_LINK_QUEUE_DROP, place(sim, p), &f->meta, 1, a);
	sim->stats.queue_drops++;
	p->stats.drops++;
	vs_sim_tell(sim, p->from, VS_TAP_LOST, f);
	vs_frame_free(sim, f);
}

/* 0 to n - 1 (splitmix64). */
static uint64_t draw(struct vs_sim *sim, uint64_t n)
{
	uint64_t z = sim->random += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return (z ^ z >> 31) % n;
}

/* The queue is deep enough for a mark; between the two depths that is a matter of chance. */
static bool is_to_mark(struct vs_sim *sim, const struct vs_pipe *p)
{
	const struct vs_sim_link *a = &p->attr;

	if (a->ecn_bytes == 0 || p->queued < a->ecn_bytes)
		return false;
	if (a->ecn_full_bytes <= a->ecn_bytes || p->queued >= a->ecn_full_bytes)
		return true;
	return draw(sim, 100ull * (a->ecn_full_bytes - a->ecn_bytes)) <
	       (p->queued - a->ecn_bytes) * (uint64_t)a->ecn_percent;
}

void vs_pipe_send(struct vs_sim *sim, struct vs_pipe *p, struct vs_sim_frame *f)
{
	const uint64_t a[] = {p->queued};

	if (!vs_pipe_idle(sim, p)) {
		if (p->attr.queue_bytes != 0 && p->queued + f->len > p->attr.queue_bytes) {
			lose_at_queue(sim, p, f);
			return;
		}
		if (is_to_mark(sim, p) && vs_frame_mark(sim, f, true)) {
			sim->stats.ecn_marks++;
			p->stats.ecn_marks++;
			f->meta.cause = vs_sim_event(sim, VS_EV_LINK_ECN_MARK, place(sim, p), &f->meta, 1, a);
		}
	}
	p->queued += f->len;
	if (p->queued > p->stats.max_bytes && !vs_pipe_idle(sim, p)) /* a frame that goes on at once waits nowhere */
		p->stats.max_bytes = p->queued;
	vs_fifo_push(&p->queue, f);
	stop_sender(sim, p, f);
	vs_pipe_transmit(sim, p);
}

int vs_sim_queue(const struct vs_sim *sim, int from, int to, struct vs_sim_queue *q)
{
	for (uint32_t i = 0; i < sim->n_pipes; i++) {
		const struct vs_pipe *p = sim->pipe[i];

		if (p->from != from || p->to != to || from == to)
			continue;
		*q = p->stats;
		q->bytes = p->queued;
		if (p->paused > 0)
			q->paused_ns += sim->now - p->paused_at;
		return VS_OK;
	}
	return VS_ERR_INVAL;
}

/* ---- switches ---- */

/* The port of `node` behind which `host` is, not looking back through `came`; NULL: it is not there. */
static struct vs_pipe *way_to(const struct vs_sim *sim, int node, int host, const struct vs_pipe *came)
{
	const struct vs_sim_node *n = sim->node[node];

	for (uint32_t i = 0; i < n->n_ports; i++) {
		struct vs_pipe *p = n->port[i];

		if (came != NULL && p == came->back)
			continue;
		if (p->to == host || (sim->node[p->to]->kind == VS_NODE_SWITCH && way_to(sim, p->to, host, p) != NULL))
			return p;
	}
	return NULL;
}

static void flood(struct vs_sim *sim, struct vs_sim_node *sw, struct vs_sim_frame *f)
{
	const struct vs_pipe *in = f->in;

	for (uint32_t i = 0; i < sw->n_ports; i++) {
		struct vs_sim_frame *copy;

		if (in != NULL && sw->port[i] == in->back)
			continue;
		copy = vs_frame_new(sim);
		if (copy == NULL)
			break;
		memcpy(copy, f, offsetof(struct vs_sim_frame, buf) + f->len);
		vs_pipe_send(sim, sw->port[i], copy);
	}
	vs_frame_free(sim, f);
}

void vs_switch_forward(struct vs_sim *sim, int node, struct vs_sim_frame *f)
{
	struct vs_pipe *p;

	if (f->to < 0) {
		flood(sim, sim->node[node], f);
		return;
	}
	p = way_to(sim, node, f->to, f->in);
	if (p != NULL) {
		vs_pipe_send(sim, p, f);
		return;
	}
	vs_sim_tell(sim, node, VS_TAP_LOST, f);
	vs_frame_free(sim, f);
}
