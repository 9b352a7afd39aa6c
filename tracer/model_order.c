/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * model_order.c - one order and one numbering for the events of all sources.
 *
 * A source is in the order in which things happened to whoever wrote it, and keeps it, even where its times step back.
 * Several are merged by time. A cause stands before what it caused; one that does not is no cause, so that chains end.
 */
#include <stdlib.h>
#include <string.h>

#include "map.h"
#include "model_build.h"

struct key {
	uint64_t t_ns; /* not before anything earlier of the same source */
	uint16_t source;
	size_t at;
};

static int by_time(const void *va, const void *vb)
{
	const struct key *a = va, *b = vb;

	if (a->t_ns != b->t_ns)
		return a->t_ns < b->t_ns ? -1 : 1;
	if (a->source != b->source)
		return a->source < b->source ? -1 : 1;
	return a->at < b->at ? -1 : 1;
}

static bool merge(struct vt_model *m)
{
	struct vt_build *b = m->build;
	struct key *key = malloc(m->n_events * sizeof(*key));
	struct vs_event *ev = malloc(m->n_events * sizeof(*ev));
	uint16_t *source = malloc(m->n_events * sizeof(*source));
	uint64_t latest = 0;

	if (key == NULL || ev == NULL || source == NULL) {
		free(key);
		free(ev);
		free(source);
		return false;
	}
	for (size_t i = 0; i < m->n_events; i++) {
		bool same = i > 0 && b->source[i] == b->source[i - 1];

		latest = same && latest > m->ev[i].t_ns ? latest : m->ev[i].t_ns;
		key[i] = (struct key){latest, b->source[i], i};
	}
	qsort(key, m->n_events, sizeof(*key), by_time);
	for (size_t i = 0; i < m->n_events; i++) {
		ev[i] = m->ev[key[i].at];
		source[i] = key[i].source;
	}
	free(key);
	free(m->ev);
	free(b->source);
	m->ev = ev;
	b->source = source;
	b->cap = m->n_events;
	return true;
}

static bool rises(const struct vt_model *m)
{
	for (size_t i = 0; i < m->n_events; i++)
		if (m->ev[i].seq == 0 || (i > 0 && m->ev[i].seq <= m->ev[i - 1].seq))
			return false;
	return true;
}

/* Causes as places, and the model's own numbers where there are several sources or a source's can't be kept. */
static bool number(struct vt_model *m)
{
	bool keep = m->n_sources == 1 && rises(m);
	struct vt_map place = {0};
	bool ok = true;

	for (size_t i = 0; ok && i < m->n_events; i++) {
		size_t at = m->ev[i].cause != 0 ? vt_map_get(&place, m->build->source[i], m->ev[i].cause) : VT_NONE;

		m->cause[i] = at;
		ok = vt_map_put(&place, m->build->source[i], m->ev[i].seq, i);
		if (!keep)
			m->ev[i].seq = i + 1;
		m->ev[i].cause = at != VT_NONE ? m->ev[at].seq : 0;
	}
	vt_map_free(&place);
	return ok;
}

bool vt_model_order(struct vt_model *m)
{
	if (m->n_events == 0)
		return true;
	if (m->n_sources > 1 && !merge(m))
		return false;
	m->cause = malloc(m->n_events * sizeof(*m->cause));
	if (m->cause == NULL || !number(m))
		return false;
	m->start_ns = m->ev[0].t_ns;
	for (size_t i = 1; i < m->n_events; i++) {
		m->backwards += m->ev[i].t_ns < m->ev[i - 1].t_ns;
		if (m->ev[i].t_ns < m->start_ns)
			m->start_ns = m->ev[i].t_ns;
	}
	return true;
}
