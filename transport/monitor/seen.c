/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * seen.c - what a flow remembers of its newest packets: a ring that grows up to the window, and chains through it of
 * packets whose PSNs hash alike, newest first.
 *
 * Packets have numbers, from 1; number n stands at n - 1 in the ring until n + size comes. A chain goes to smaller and
 * smaller numbers and ends where one is too old to be in the ring: so nothing is ever unlinked. Memory is touched in
 * order, and only as much as there are packets.
 */
#include <stdlib.h>

#include "mon.h"

#define FIRST 8u

/* Where the chain of this PSN begins; neighbours are neighbours, READs that go on in large steps are spread. */
static uint32_t *head_of(const struct mon_flow *f, uint32_t psn)
{
	return &f->head[(psn ^ (psn >> 12) * UINT32_C(0x9e3779b1)) & (f->ring - 1)];
}

/* Packet `n` of the flow; NULL: it is too old, or none (0). */
static struct mon_seen *nth(const struct mon_flow *f, uint32_t n)
{
	return n != 0 && f->order - n < f->ring ? &f->seen[(n - 1) & (f->ring - 1)] : NULL;
}

/* The next in the chain. A place that was taken by a newer packet is no longer of it. */
static struct mon_seen *older(const struct mon_flow *f, const struct mon_seen *s)
{
	return f->order - s->before > f->order - s->order ? nth(f, s->before) : NULL;
}

int64_t mon_pos(const struct mon_space *s, uint32_t psn)
{
	return s->any ? s->pos + vs_psn_diff(psn, s->psn) : (int64_t)psn;
}

struct mon_seen *mon_seen_find(struct mon_flow *f, uint32_t psn, uint8_t opcode, uint32_t turn)
{
	if (f->seen == NULL)
		return NULL;
	for (struct mon_seen *s = nth(f, *head_of(f, psn)); s != NULL; s = older(f, s))
		if (s->psn == psn && s->opcode == opcode && s->turn == turn)
			return s;
	return NULL;
}

struct mon_seen *mon_seen_request(struct mon_flow *f, uint32_t psn, int64_t pos)
{
	if (f->seen == NULL)
		return NULL;
	for (struct mon_seen *s = nth(f, *head_of(f, psn)); s != NULL; s = older(f, s))
		if (s->psn == psn && s->request && s->pos == pos && s->epoch == f->epoch)
			return s;
	return NULL;
}

static void link_in(struct mon_flow *f, struct mon_seen *s)
{
	uint32_t *head = head_of(f, s->psn);

	s->before = *head;
	*head = s->order;
}

/* A larger ring; what was remembered keeps its place. False: no memory, everything stays. */
static bool grow(struct mon_flow *f)
{
	const uint32_t ring = f->ring == 0 ? FIRST : 2 * f->ring;
	uint32_t *head = calloc(ring, sizeof(*head));
	struct mon_seen *seen = head != NULL ? realloc(f->seen, ring * sizeof(*seen)) : NULL;

	if (seen == NULL) {
		free(head);
		return false;
	}
	free(f->head);
	f->seen = seen;
	f->head = head;
	f->ring = ring;
	for (uint32_t i = 0; i < f->order; i++)
		link_in(f, &f->seen[i]);
	return true;
}

struct mon_seen *mon_seen_add(struct vs_monitor *m, struct mon_flow *f, uint32_t psn)
{
	struct mon_seen *s;

	if ((f->ring == 0 || (f->order == f->ring && 2 * f->ring <= m->attr.window)) && !grow(f) && f->ring == 0)
		return NULL;
	if (++f->order == 0) /* 2^32 packets: 0 is none */
		f->order = f->ring;
	s = &f->seen[(f->order - 1) & (f->ring - 1)];
	*s = (struct mon_seen){.psn = psn, .order = f->order};
	link_in(f, s);
	__builtin_prefetch(&f->seen[f->order & (f->ring - 1)],
			   1); /* the next one's place has not been touched for long */
	return s;
}
