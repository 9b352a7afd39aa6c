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

/* The chunk at `at`, or what is there of one that is cut off, and where the next one is. False: there is none. */
static bool chunk_at(const struct spool_reader *r, size_t *at, struct rec_chunk *c, struct spool_chunk *chunk)
{
	size_t left, bytes;

	if (r->n - *at < sizeof(*c))
		return false;
	memcpy(c, r->at + *at, sizeof(*c));
	if (c->magic != REC_CHUNK_MAGIC && c->magic != REC_SQUEEZED_MAGIC)
		return false; /* damaged: where the next one begins can't be known */
	left = r->n - *at - sizeof(*c);
	bytes = c->magic == REC_SQUEEZED_MAGIC ? c->bytes : (size_t)c->words * sizeof(uint64_t);
	*chunk = (struct spool_chunk){.at = r->at + *at + sizeof(*c),
				      .left = bytes < left ? bytes : left,
				      .squeezed = c->magic == REC_SQUEEZED_MAGIC};
	*at = bytes < left ? *at + sizeof(*c) + bytes : r->n;
	return true;
}

static bool take(struct spool_chunk *c, void *to, size_t n)
{
	if (c->left < n) {
		c->left = 0;
		return false;
	}
	memcpy(to, c->at, n);
	c->at += n;
	c->left -= n;
	return true;
}

static bool word_of_run(struct spool_chunk *c, uint64_t *w)
{
	uint16_t low;

	if (!take(c, &low, sizeof(low)))
		return false;
	c->run--;
	*w = (c->first & ~(uint64_t)UINT16_MAX) | low;
	return true;
}

/* False: at its end, or where it is damaged. */
static bool word_of(struct spool_chunk *c, uint64_t *w)
{
	uint16_t head;

	if (c->run > 0)
		return word_of_run(c, w);
	if (c->squeezed && c->plain == 0) {
		if (!take(c, &head, sizeof(head)) || (head & REC_ITEM_MAX) == 0) {
			c->left = 0;
			return false;
		}
		c->plain = (head & REC_ITEM_RUN) != 0 ? 1 : head;
		c->run = (head & REC_ITEM_RUN) != 0 ? (head & REC_ITEM_MAX) - 1 : 0;
		if (!take(c, w, sizeof(*w)))
			return false;
		c->first = *w;
		c->plain--;
		return true;
	}
	c->plain -= c->squeezed;
	return take(c, w, sizeof(*w));
}

static bool next_word(const struct spool_reader *r, struct spool_ring *g, uint64_t *w)
{
	struct rec_chunk c;

	while (g->chunk.left == 0 || !word_of(&g->chunk, w)) {
		do
			if (!chunk_at(r, &g->scan, &c, &g->chunk)) {
				g->scan = r->n;
				g->chunk.left = 0;
				if (g->rest == g->n_rest)
					return false;
				*w = r->rest[g->ring].word[g->rest++];
				return true;
			}
		while (c.ring != g->ring);
	}
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
	const uint64_t time = near ? UINT16_MAX : UINT32_MAX;
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
	like->w[0] = g->t + (first & time);
	*u = *like;
	g->again = 0;
	if ((first >> REC_AGAIN_SHIFT & REC_AGAIN_MAX) > 0 && (near || (first & REC_WORDS) == 0))
		g->again = (first & ~time) - (1ull << REC_AGAIN_SHIFT);
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
	uint64_t first = g->again;

	g->has_next = (first != 0 || next_word(r, g, &first)) &&
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
	struct spool_chunk chunk;
	struct rec_chunk c;
	size_t at = 0;
	uint64_t w;

	for (uint32_t i = 0; i < SPOOL_RINGS; i++)
		n[i] = 0;
	while (chunk_at(r, &at, &c, &chunk)) {
		if (c.ring >= SPOOL_RINGS)
			continue;
		if (at < r->n || !chunk.squeezed)
			n[c.ring] += at < r->n ? c.words : chunk.left / sizeof(w);
		else
			while (chunk.left > 0 && word_of(&chunk, &w))
				n[c.ring]++;
	}
}

void spool_rewind(struct spool_reader *r)
{
	uint64_t n[SPOOL_RINGS];

	r->n_rings = 0;
	r->within = NULL;
	words_of(r, n);
	r->words = 0;
	for (uint32_t i = 0; i < SPOOL_RINGS; i++)
		r->words += n[i];
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
