/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * spool_merge.c - on the simulated wire much happens at one instant: the recorder writes down how many events the
 * devices had told by then, so that its records and theirs become one trace in the right order, numbered anew.
 */
#include <stdlib.h>

#include "spool_int.h"

static void advance(struct spool *s)
{
	struct vs_vst_error err;
	int rc;

	do
		rc = vs_vst_next(s->merged, &s->next, &err);
	while (rc == VS_ERR_INVAL);
	s->has_next = rc == 1;
}

bool spool_merge_begin(struct spool *s, FILE *f)
{
	struct vs_vst_error err;

	s->merged = vs_vst_open(f, &err);
	if (s->merged == NULL)
		return false;
	advance(s);
	return true;
}

/* Where an event of the devices stands now; 0: not known, as for want of memory. */
static void remember(struct spool *s, uint64_t old, uint64_t now)
{
	size_t cap = s->cap_now == 0 ? 4096 : s->cap_now;
	uint64_t *grown;

	while (cap <= old && cap < UINT32_MAX)
		cap *= 2;
	if (cap > s->cap_now) {
		grown = realloc(s->now_is, cap * sizeof(*grown));
		if (grown == NULL)
			return;
		for (size_t i = s->cap_now; i < cap; i++)
			grown[i] = 0;
		s->now_is = grown;
		s->cap_now = cap;
	}
	if (old < s->cap_now)
		s->now_is[old] = now;
}

void spool_merge_until(struct spool *s, uint64_t device_seq)
{
	while (s->has_next && s->next.seq <= device_seq) {
		struct vs_event ev = s->next;
		uint64_t old = ev.seq;

		ev.cause = ev.cause < s->cap_now ? s->now_is[ev.cause] : 0;
		spool_put(s, &ev);
		remember(s, old, s->seq);
		advance(s);
	}
}

void spool_merge_end(struct spool *s)
{
	if (s->merged == NULL)
		return;
	spool_merge_until(s, UINT64_MAX);
	vs_vst_close(s->merged);
	s->merged = NULL;
	free(s->now_is);
	s->now_is = NULL;
}
