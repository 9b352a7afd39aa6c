/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * seen.c - what a flow remembers of its packets: buckets of eight by PSN, that grow up to the window; then the
 * oldest of a bucket makes room.
 */
#include <stdlib.h>

#include "mon.h"

#define WAYS 8u

/* Where the bucket of this PSN begins, in `seen` and in `tag`: tags are PSNs, close together so that most are never
 * read from far away. A free place has a tag that no PSN is.
 */
static size_t bucket_of(const struct mon_flow *f, uint32_t psn)
{
	/* four in a row share a bucket; further bits are mixed in, for READs that go on in large steps */
	uint32_t h = (psn >> 2) + (psn >> 12) * UINT32_C(0x9e3779b1);

	return (size_t)(h & (f->buckets - 1)) * WAYS;
}

int64_t mon_pos(const struct mon_space *s, uint32_t psn)
{
	return s->any ? s->pos + vs_psn_diff(psn, s->psn) : (int64_t)psn;
}

struct mon_seen *mon_seen_find(struct mon_flow *f, uint32_t psn, uint8_t opcode, int64_t once_pos)
{
	size_t b;

	if (f->seen == NULL)
		return NULL;
	b = bucket_of(f, psn);
	for (size_t i = b; i < b + WAYS; i++)
		if (f->tag[i].psn == psn && f->seen[i].opcode == opcode && f->seen[i].once_pos == once_pos)
			return &f->seen[i];
	return NULL;
}

struct mon_seen *mon_seen_request(struct mon_flow *f, uint32_t psn, int64_t pos)
{
	struct mon_seen *best = NULL;
	size_t b;

	if (f->seen == NULL)
		return NULL;
	b = bucket_of(f, psn);
	for (size_t i = b; i < b + WAYS; i++) {
		struct mon_seen *s = &f->seen[i];

		if (f->tag[i].psn == psn && s->request && s->pos == pos && s->epoch == f->epoch &&
		    (best == NULL || s->order > best->order))
			best = s;
	}
	return best;
}

/* A free place, or the oldest. */
static size_t oldest_of(const struct mon_flow *f, uint32_t psn)
{
	const size_t b = bucket_of(f, psn);
	size_t old = b;

	for (size_t i = b; i < b + WAYS; i++) {
		if (f->tag[i].psn == MON_NO_TAG)
			return i;
		if ((int32_t)(f->tag[i].order - f->tag[old].order) < 0)
			old = i;
	}
	return old;
}

/* Twice the buckets; what was remembered goes along. False: no memory, everything stays. */
static bool grow(struct mon_flow *f)
{
	const uint32_t buckets = f->buckets == 0 ? 1 : 2 * f->buckets;
	struct mon_seen *old = f->seen, *grown = calloc((size_t)buckets * WAYS, sizeof(*grown));
	struct mon_tag *old_tag = f->tag, *tag = calloc((size_t)buckets * WAYS, sizeof(*tag));
	const size_t n = old != NULL ? (size_t)f->buckets * WAYS : 0;

	if (grown == NULL || tag == NULL) {
		free(grown);
		free(tag);
		return false;
	}
	for (size_t i = 0; i < (size_t)buckets * WAYS; i++)
		tag[i].psn = MON_NO_TAG;
	f->seen = grown;
	f->tag = tag;
	f->buckets = buckets;
	for (size_t i = 0; i < n; i++) {
		size_t at;

		if (old[i].order == 0)
			continue;
		at = oldest_of(f, old[i].psn);
		f->seen[at] = old[i];
		f->tag[at] = old_tag[i];
	}
	free(old);
	free(old_tag);
	return true;
}

struct mon_seen *mon_seen_add(struct vs_monitor *m, struct mon_flow *f, uint32_t psn)
{
	size_t at;

	if (f->seen == NULL && !grow(f))
		return NULL;
	at = oldest_of(f, psn);
	while (f->seen[at].order != 0 && f->buckets * WAYS < m->attr.window &&
	       f->order - f->seen[at].order < m->attr.window && grow(f))
		at = oldest_of(f, psn);
	f->seen[at] = (struct mon_seen){.order = ++f->order, .psn = psn};
	f->tag[at] = (struct mon_tag){psn, (uint32_t)f->order};
	return &f->seen[at];
}
