/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * remote_news.c - what an agent observes, and when.
 *
 * It looks at the completion queues that the runner has looked at last, after each call and as long as a step lasts: a
 * queue that the script leaves alone is left alone there, too. What it sees has its own time, which is put on our clock
 * when it comes.
 */
#include <stdlib.h>
#include <string.h>

#include "remote.h"

#define MAX_NEWS 100000u
#define STEP_MAX_NS UINT64_C(10000000000)

static struct vc_object *by_number(const struct vc_remote *m, uint32_t n, enum obj_kind kind)
{
	for (struct vc_object *o = m->objects; o != NULL; o = o->next)
		if (o->number == n && (kind == 0 || o->kind == kind))
			return o;
	return NULL;
}

/* ---- what was observed ---- */

static bool keep(struct vc_target *t, const struct vc_news *what)
{
	struct vc_remote *m = t->remote;
	struct vc_news *w = m->n_news < MAX_NEWS ? malloc(sizeof(*w)) : NULL;

	if (w == NULL) {
		vc_link_over(m->link, "the agent tells more than can be kept");
		return true;
	}
	*w = *what;
	w->next = NULL;
	*m->last = w;
	m->last = &w->next;
	m->n_news++;
	t->heard++;
	return true;
}

static bool heard_event(struct vc_target *t, uint64_t when, struct ag_words *w)
{
	struct vs_event ev = {.t_ns = when};

	ag_io_event(&(struct ag_io){.in = w}, &ev);
	if (!ag_at_end(w))
		return false;
	vc_emit(t, &ev);
	return true;
}

static bool heard_memory(struct vc_target *t, bool fill, struct ag_words *w)
{
	struct vc_object *o = by_number(t->remote, (uint32_t)ag_get_num(w, UINT32_MAX), O_MR);
	uint32_t len = o != NULL && o->known != NULL ? o->len : 0, off = (uint32_t)ag_get_num(w, len), n;
	uint8_t bytes[AG_CHUNK];

	if (fill) {
		n = (uint32_t)ag_get_num(w, len - off);
		bytes[0] = (uint8_t)ag_get_num(w, 255);
	} else {
		n = (uint32_t)ag_get_bytes(w, bytes, sizeof(bytes));
	}
	if (!ag_at_end(w) || len == 0 || n > len - off)
		return false;
	for (uint32_t i = 0; i < n; i++)
		o->bytes[off + i] = o->known[off + i] = bytes[fill ? 0 : i];
	return true;
}

bool vc_remote_heard(void *ctx, const char *what, uint64_t when, struct ag_words *w)
{
	struct vc_target *t = ctx;
	struct vc_news v = {.when_ns = when < vc_now_ns() ? when : vc_now_ns()};

	if (strcmp(what, "event") == 0)
		return heard_event(t, v.when_ns, w);
	if (strcmp(what, "mem") == 0 || strcmp(what, "memfill") == 0)
		return heard_memory(t, strcmp(what, "memfill") == 0, w);
	if (strcmp(what, "cqe") == 0) {
		v.kind = W_CQE;
		v.o = by_number(t->remote, (uint32_t)ag_get_num(w, UINT32_MAX), O_CQ);
		ag_io_wc(&(struct ag_io){.in = w}, &v.wc);
		return ag_at_end(w) && v.o != NULL && keep(t, &v);
	}
	v.node = (int)ag_get_num(w, MAX_NODES - 1);
	if (strcmp(what, "async") == 0) {
		v.kind = W_ASYNC;
		v.async = (enum vs_async_type)ag_get_num(w, UINT32_MAX);
		t->v->failed |= (int)v.async == (int)IBV_EVENT_DEVICE_FATAL;
		v.o = by_number(t->remote, (uint32_t)ag_get_num(w, UINT32_MAX), 0);
		return ag_at_end(w) && keep(t, &v);
	}
	if (strcmp(what, "conn") == 0)
		return vc_remote_cm_heard(&v, w) && keep(t, &v);
	v.kind = W_COMP;
	v.o = by_number(t->remote, (uint32_t)ag_get_num(w, UINT32_MAX), O_CQ);
	return strcmp(what, "comp") == 0 && ag_at_end(w) && v.o != NULL && keep(t, &v);
}

bool vc_remote_take(struct vc_remote *m, enum vc_news_kind kind, const struct vc_object *cq, int node,
		    struct vc_news *out)
{
	for (struct vc_news **at = &m->first; *at != NULL; at = &(*at)->next) {
		struct vc_news *w = *at;

		if (w->kind != kind || (kind == W_CQE ? w->o != cq : w->node != node))
			continue;
		*out = *w;
		*at = w->next;
		if (*at == NULL)
			m->last = at;
		m->n_news--;
		m->when_ns = w->when_ns;
		free(w);
		return true;
	}
	return false;
}

static int r_cq_poll(struct dr_target *dt, void *cq, struct vs_wc *wc)
{
	struct vc_remote *m = vc_self(dt)->remote;
	struct vc_news w;

	for (struct vc_object *o = m->objects; m->round_over && o != NULL; o = o->next)
		o->looked_at = false;
	m->round_over = false;
	((struct vc_object *)cq)->looked_at = true;
	if (!vc_remote_take(m, W_CQE, cq, 0, &w))
		return 0;
	*wc = w.wc;
	return 1;
}

static int r_comp_event(struct dr_target *dt, int node, void **cq)
{
	struct vc_news w;

	if (!vc_remote_take(vc_self(dt)->remote, W_COMP, NULL, node, &w))
		return 0;
	*cq = w.o;
	return 1;
}

/* The runner asks for everything, again and again; events of the last node come behind all queues. */
static bool is_last(const struct vc_target *t, int node)
{
	for (unsigned i = (unsigned)node + 1; i < t->setup.p->n_nodes; i++)
		if (t->setup.p->node[i].engine)
			return false;
	return true;
}

static int r_async(struct dr_target *dt, int node, struct vs_async *a)
{
	struct vc_news w;

	vc_self(dt)->remote->round_over |= is_last(vc_self(dt), node);
	if (!vc_remote_take(vc_self(dt)->remote, W_ASYNC, NULL, node, &w))
		return 0;
	*a = (struct vs_async){.type = w.async, .object = w.o};
	return 1;
}

static uint64_t r_when(struct dr_target *dt)
{
	return vc_self(dt)->remote->when_ns;
}

/* ---- time ---- */

/* The queues that were looked at in the newest round are those that the agent looks at. */
void vc_remote_watch(struct vc_target *t)
{
	struct vc_remote *m = t->remote;
	uint32_t now[sizeof(m->watched) / sizeof(m->watched[0])] = {0}, n = 0;
	struct ag_line *l;

	for (const struct vc_object *o = m->objects; o != NULL && n < sizeof(now) / sizeof(now[0]); o = o->next)
		if (o->kind == O_CQ && o->looked_at && !o->gone)
			now[n++] = o->number;
	if (n == m->watches && memcmp(now, m->watched, n * sizeof(now[0])) == 0)
		return;
	memcpy(m->watched, now, n * sizeof(now[0]));
	m->watches = n;
	l = vc_link_begin_told(m->link, "watch");
	ag_put_num(l, n);
	for (uint32_t i = 0; i < n; i++)
		ag_put_num(l, now[i]);
	vc_link_tell(m->link);
	m->step_until_ns = 0;
}

void vc_remote_step(struct vc_target *t, uint64_t until)
{
	struct vc_remote *m = t->remote;
	uint64_t now = vc_now_ns();

	if (m->link->over[0] != '\0')
		return;
	vc_remote_watch(t);
	until = until < now + STEP_MAX_NS ? until : now + STEP_MAX_NS;
	if (until <= now || m->step_until_ns >= until || m->step_until_ns > now + STEP_MAX_NS / 2)
		return;
	ag_put_num(vc_link_begin_told(m->link, "step"), until - now);
	vc_link_tell(m->link);
	m->step_until_ns = until;
}

void vc_remote_hear(struct vc_target *t, bool wait)
{
	struct vc_link *l = t->remote->link;

	if (wait && l->over[0] == '\0') {
		(void)vc_link_begin(l, "look");
		(void)vc_remote_ask_nothing(&t->t);
	}
	if (l->over[0] == '\0')
		vc_link_listen(l);
	t->t.clock_error_ns = vc_clock_error_ns(&l->clock, vc_now_ns());
	if (l->over[0] == '\0' || t->t.gone != NULL)
		return;
	(void)snprintf(t->gone, sizeof(t->gone), "%s", l->over);
	t->t.gone = t->gone;
}

uint64_t vc_remote_lag_ns(struct vc_target *t)
{
	struct vc_link *l = t->remote->link;
	uint64_t lag = 0;

	if (l->over[0] == '\0') {
		(void)vc_link_begin(l, "lag");
		lag = vc_remote_ask_number(&t->t, UINT64_MAX);
	}
	return lag > l->slow_ns ? lag : l->slow_ns;
}

void vc_remote_news_ops(struct dr_target_ops *ops)
{
	ops->cq_poll = r_cq_poll;
	ops->comp_event = r_comp_event;
	ops->async = r_async;
	ops->when = r_when;
}
