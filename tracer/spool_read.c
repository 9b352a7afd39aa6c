/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * spool_read.c - the records of a spool and of what a killed program had in its rings, those of all threads in the
 * order of their times. Memory is what the rings held, and 16 bytes for every tenth of a second: the spool is mapped,
 * and each ring's chunks are looked for in it as they are needed.
 */
#include <stdlib.h>
#include <string.h>

#include "spool_int.h"

/* ---- words of one ring ---- */

static bool next_chunk(const struct spool_reader *r, struct spool_ring *g)
{
	struct rec_chunk c;

	while (g->scan + sizeof(c) <= r->n) {
		size_t left = r->n - g->scan - sizeof(c);

		memcpy(&c, r->at + g->scan, sizeof(c));
		if (c.magic != REC_CHUNK_MAGIC)
			break; /* damaged: where the next one begins can't be known */
		if (c.words < left / sizeof(uint64_t))
			left = (size_t)c.words * sizeof(uint64_t);
		g->from = r->at + g->scan + sizeof(c);
		g->left = left / sizeof(uint64_t);
		g->scan += sizeof(c) + g->left * sizeof(uint64_t);
		if (g->left < c.words)
			g->scan = r->n; /* cut off */
		if (c.ring == g->ring && g->left > 0)
			return true;
	}
	g->scan = r->n;
	g->left = 0;
	return false;
}

static bool next_word(const struct spool_reader *r, struct spool_ring *g, uint64_t *w)
{
	if (g->left == 0 && !next_chunk(r, g)) {
		if (g->rest == g->n_rest)
			return false;
		*w = r->rest[g->ring].word[g->rest++];
		return true;
	}
	memcpy(w, g->from, sizeof(*w));
	g->from += sizeof(*w);
	g->left--;
	return true;
}

/* ---- time ---- */

/* CLOCK_MONOTONIC when the counter showed that, by the two looks at both around it, or the first and the last one. */
static uint64_t in_ns(const struct spool_reader *r, uint64_t ticks)
{
	const struct spool_look *a = r->look, *b;
	size_t lo = 0, hi = r->n_looks;
	double ns;

	if (hi < 2)
		return ticks;
	b = a + hi - 1;
	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;

		if (r->look[mid].ticks <= ticks)
			lo = mid;
		else
			hi = mid;
	}
	if (ticks >= a->ticks && ticks <= b->ticks) {
		a = &r->look[lo < r->n_looks - 1 ? lo : lo - 1];
		b = a + 1;
	}
	ns = (double)(b->ns - a->ns) / (double)(b->ticks - a->ticks);
	if (ticks < a->ticks) {
		ns *= (double)(a->ticks - ticks);
		return ns < (double)a->ns ? a->ns - (uint64_t)ns : 0;
	}
	ns *= (double)(ticks - a->ticks);
	return ns < (double)(INT64_MAX - a->ns) ? a->ns + (uint64_t)ns : INT64_MAX;
}

static void look(struct spool_reader *r, const struct rec *own)
{
	struct spool_look *grown;

	if (r->n_looks > 0 && (own->a[0] <= r->look[r->n_looks - 1].ticks || own->t_ns <= r->look[r->n_looks - 1].ns))
		return;
	grown = own->t_ns < INT64_MAX ? realloc(r->look, (r->n_looks + 1) * sizeof(*grown)) : NULL;
	if (grown == NULL)
		return;
	r->look = grown;
	r->look[r->n_looks++] = (struct spool_look){own->a[0], own->t_ns};
}

/* ---- records of one ring ---- */

/* What is different from the one that it is like. */
static bool unpack(const struct spool_reader *r, struct spool_ring *g, uint64_t first, union rec_words *u)
{
	union rec_words *like = &g->like[first >> 40 & (REC_LIKE - 1)];
	const bool near = (first & REC_NEAR) != 0;
	const int16_t by = (int16_t)(first >> 16 & UINT16_MAX);

	if (!g->has[like - g->like])
		return false;
	for (unsigned i = 2; i < 8; i++) {
		if ((first >> (48 + i) & 1) == 0)
			continue;
		if (near)
			like->w[i] += (uint64_t)(int64_t)by;
		else if (!next_word(r, g, &like->w[i]))
			return false;
	}
	like->w[0] = g->t + (first & (near ? UINT16_MAX : UINT32_MAX));
	*u = *like;
	return true;
}

static bool whole(const struct spool_reader *r, struct spool_ring *g, uint64_t first, union rec_words *u)
{
	u->w[0] = first;
	for (unsigned i = 1; i < 8; i++)
		if (!next_word(r, g, &u->w[i]))
			return false;
	g->like[rec_like(u)] = *u;
	g->has[rec_like(u)] = true;
	return true;
}

static void advance(const struct spool_reader *r, struct spool_ring *g)
{
	const uint64_t before = g->next.t_ns;
	union rec_words u;
	uint64_t first;

	g->has_next = next_word(r, g, &first) &&
		      ((first & REC_PACKED) != 0 ? unpack(r, g, first, &u) : whole(r, g, first, &u));
	if (!g->has_next)
		return;
	g->t = u.w[0];
	g->next = u.r;
	if (r->in_ticks && g->ring != REC_OWN)
		g->next.t_ns = in_ns(r, u.w[0]);
	if (g->next.t_ns < before) /* damaged: a recorder's do not go back */
		g->next.t_ns = before;
}

/* ---- all of them ---- */

/* `stand`: words of it in the spool. A program may be killed when they are written, and before its ring says so. */
static void begin(struct spool_reader *r, uint32_t ring, uint64_t stand)
{
	struct spool_ring *g = &r->ring[r->n_rings++];

	memset(g, 0, sizeof(*g));
	g->ring = ring;
	if (ring < SPOOL_RINGS) {
		g->n_rest = r->rest[ring].n;
		if (stand > r->rest[ring].at)
			g->rest = stand - r->rest[ring].at < g->n_rest ? (size_t)(stand - r->rest[ring].at) : g->n_rest;
	}
	advance(r, g);
}

/* How many words of each stand in it. */
static void words_of(const struct spool_reader *r, uint64_t n[SPOOL_RINGS])
{
	struct rec_chunk c;

	for (uint32_t i = 0; i < SPOOL_RINGS; i++)
		n[i] = 0;
	for (size_t at = 0; at + sizeof(c) <= r->n;) {
		uint64_t left = (r->n - at - sizeof(c)) / sizeof(uint64_t);

		memcpy(&c, r->at + at, sizeof(c));
		if (c.magic != REC_CHUNK_MAGIC)
			return;
		if (c.ring < SPOOL_RINGS)
			n[c.ring] += c.words < left ? c.words : left;
		if (c.words > left)
			return;
		at += sizeof(c) + (size_t)c.words * sizeof(uint64_t);
	}
}

void spool_rewind(struct spool_reader *r)
{
	uint64_t n[SPOOL_RINGS];

	r->n_rings = 0;
	r->within = NULL;
	words_of(r, n);
	for (uint32_t i = 0; i < SPOOL_RINGS; i++)
		if (n[i] > 0 || r->rest[i].n > 0)
			begin(r, i, n[i]);
	begin(r, REC_OWN, 0);
}

bool spool_open(struct spool_reader *r, const uint8_t *bytes, size_t n, bool in_ticks)
{
	struct spool_ring *own;

	r->at = bytes;
	r->n = n;
	r->ring = calloc(SPOOL_RINGS + 1, sizeof(*r->ring));
	if (r->ring == NULL)
		return false;
	r->in_ticks = in_ticks;
	for (begin(r, REC_OWN, 0), own = &r->ring[0]; own->has_next; advance(r, own))
		if (own->next.type == REC_TICKS)
			look(r, &own->next);
	spool_rewind(r);
	return true;
}

void spool_close(struct spool_reader *r)
{
	for (unsigned i = 0; i < SPOOL_RINGS; i++)
		free(r->rest[i].word);
	free(r->ring);
	free(r->look);
}

/* One call's, in several records. */
static bool belongs(const struct rec *r, const struct rec *next)
{
	switch (r->type) {
	case REC_SGE:
	case REC_POST_UD:
	case REC_PAYLOAD:
		return next->type >= REC_POST_SEND && next->type <= REC_PAYLOAD && next->qpn == r->qpn;
	case REC_CREATE_QP:
		return next->type == REC_QP_CAPS;
	case REC_MODIFY_QP:
		return next->type == REC_QP_PATH;
	case REC_OPEN:
	case REC_INJECT:
		return r->n == 0xff && next->type == r->type;
	default:
		return false;
	}
}

bool spool_next(struct spool_reader *r, struct rec pair[2])
{
	struct spool_ring *first = r->within;

	for (unsigned i = 0; r->within == NULL && i < r->n_rings; i++)
		if (r->ring[i].has_next && (first == NULL || r->ring[i].next.t_ns < first->next.t_ns))
			first = &r->ring[i];
	if (first == NULL)
		return false;
	pair[0] = first->next;
	pair[1] = (struct rec){0};
	if (r->within != NULL) /* others' may have come between */
		pair[0].t_ns = r->within_t;
	advance(r, first);
	r->within = first->has_next && belongs(&pair[0], &first->next) ? first : NULL;
	r->within_t = pair[0].t_ns;
	if (pair[0].type == REC_QP_PATH && first->has_next && first->next.type == REC_QP_GID) {
		pair[1] = first->next;
		advance(r, first);
	}
	return true;
}
