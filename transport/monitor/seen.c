/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * seen.c - what a flow remembers of its packets: buckets of eight by PSN, that grow up to the window; then the
 * oldest of a bucket makes room.
 */
#include <stdlib.h>

#include "mon.h"

#define WAYS 8u

static struct mon_seen *bucket_of(const struct mon_flow *f, uint32_t psn)
{
	uint32_t h = (psn * UINT32_C(0x9e3779b1)) >> 8;

	return &f->seen[(size_t)(h & (f->buckets - 1)) * WAYS];
}

int64_t mon_pos(const struct mon_space *s, uint32_t psn)
{
	return s->any ? s->pos + vs_psn_diff(psn, s->psn) : (int64_t)psn;
}

struct mon_seen *mon_seen_find(struct mon_flow *f, uint32_t psn, uint8_t opcode, int64_t pos)
{
	struct mon_seen *b;

	if (f->seen == NULL)
		return NULL;
	b = bucket_of(f, psn);
	for (unsigned i = 0; i < WAYS; i++)
		if (b[i].order != 0 && b[i].psn == psn && b[i].opcode == opcode && b[i].pos == pos)
			return &b[i];
	return NULL;
}

struct mon_seen *mon_seen_request(struct mon_flow *f, uint32_t psn, int64_t pos)
{
	struct mon_seen *b, *best = NULL;

	if (f->seen == NULL)
		return NULL;
	b = bucket_of(f, psn);
	for (unsigned i = 0; i < WAYS; i++)
		if (b[i].order != 0 && b[i].request && b[i].psn == psn && b[i].pos == pos && b[i].epoch == f->epoch &&
		    (best == NULL || b[i].order > best->order))
			best = &b[i];
	return best;
}

static struct mon_seen *oldest_of(struct mon_seen *b)
{
	struct mon_seen *old = b;

	for (unsigned i = 1; i < WAYS; i++)
		if (b[i].order < old->order)
			old = &b[i];
	return old;
}

/* Twice the buckets; what was remembered goes along. False: no memory, everything stays. */
static bool grow(struct mon_flow *f)
{
	const uint32_t buckets = f->buckets == 0 ? 1 : 2 * f->buckets;
	struct mon_seen *old = f->seen, *grown = calloc((size_t)buckets * WAYS, sizeof(*grown));
	const size_t n = old != NULL ? (size_t)f->buckets * WAYS : 0;

	if (grown == NULL)
		return false;
	f->seen = grown;
	f->buckets = buckets;
	for (size_t i = 0; i < n; i++)
		if (old[i].order != 0)
			*oldest_of(bucket_of(f, old[i].psn)) = old[i];
	free(old);
	return true;
}

struct mon_seen *mon_seen_add(struct vs_monitor *m, struct mon_flow *f, uint32_t psn)
{
	struct mon_seen *s;

	if (f->seen == NULL && !grow(f))
		return NULL;
	s = oldest_of(bucket_of(f, psn));
	while (s->order != 0 && f->buckets * WAYS < m->attr.window && f->order - s->order < m->attr.window && grow(f))
		s = oldest_of(bucket_of(f, psn));
	*s = (struct mon_seen){.order = ++f->order, .psn = psn};
	return s;
}
