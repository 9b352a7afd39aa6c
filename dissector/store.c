/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store.c - records of store.h: bytes in an arena that never moves, found by a table of frames.
 *
 *   mask (2)  flags (2)  class, cause, MORE (1)  [answered_in (4)]  stream  then the varints that `mask` names
 */
#include "store.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK 65536u    /* bytes; no record lies in two */
#define RECORD_MAX 160u /* bytes, at most */
#define BLOCK 4096u     /* frames */
#define MORE 0x80u      /* another record of this frame follows */
#define TEXT_FREE 65536u
#define TEXT_PER_PACKET 8u
#define REPEATS_MIN 64u

enum field {
	F_PLACE = 1u << 0,
	F_MESSAGE = 1u << 1,
	F_REQUEST = 1u << 2,
	F_ORIGINAL = 1u << 3,
	F_CAUSE_FRAME = 1u << 4,
	F_MISSING = 1u << 5,
	F_OUTSTANDING = 1u << 6,
	F_CREDITS = 1u << 7,
	F_WASTED = 1u << 8,
	F_OFFSET = 1u << 9,
	F_RTT = 1u << 10,
	F_WAIT = 1u << 11,
	F_ITER = 1u << 12,
	F_RULES = 1u << 13,
};

struct arena {
	uint8_t **chunk;
	uint32_t chunks, room; /* in use, and places in `chunk` */
	uint32_t used;         /* bytes of the last one */
};

/* A packet that was sent again; open addressing by frame, a power of two. */
struct repeat {
	uint32_t frame, later; /* 0: free */
};

struct cursor {
	uint32_t frame, where;
};

struct rdma_store {
	struct arena records, texts;
	uint32_t **block; /* of frames: where the first record is, 0: none */
	uint32_t blocks;
	uint32_t last_frame, last_at, last_place; /* the newest record; the highest place in its frame */
	struct cursor seen, linked;               /* where to go on in a frame of many packets */
	uint64_t packets, text_bytes;
	struct repeat *repeat;
	uint32_t repeats, repeat_room;
	uint32_t said[VS_RULE_COUNT]; /* newest text of each rule, 0: none */
};

/* ---- arena; 0 is no address ---- */

static uint8_t *at(const struct arena *a, uint32_t where)
{
	return a->chunk[where / CHUNK] + where % CHUNK;
}

/* Room for `len` bytes at *where, that are not taken yet; NULL: none. */
static uint8_t *reserve(struct arena *a, uint32_t len, uint32_t *where)
{
	if (a->chunks == 0 || a->used + len > CHUNK) {
		if (a->chunks == UINT32_MAX / CHUNK)
			return NULL;
		if (a->chunks == a->room) {
			const uint32_t room = a->room == 0 ? 16 : 2 * a->room;
			uint8_t **grown = realloc(a->chunk, room * sizeof(*grown));

			if (grown == NULL)
				return NULL;
			a->chunk = grown;
			a->room = room;
		}
		a->chunk[a->chunks] = malloc(CHUNK);
		if (a->chunk[a->chunks] == NULL)
			return NULL;
		a->used = a->chunks++ == 0; /* address 0 stays free */
	}
	*where = (a->chunks - 1) * CHUNK + a->used;
	return at(a, *where);
}

static void arena_free(struct arena *a)
{
	for (uint32_t i = 0; i < a->chunks; i++)
		free(a->chunk[i]);
	free(a->chunk);
}

/* ---- bytes ---- */

static uint8_t *put32(uint8_t *b, uint32_t v)
{
	memcpy(b, &v, 4);
	return b + 4;
}

static uint8_t *put_varint(uint8_t *b, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*b++ = (uint8_t)(v | 0x80);
	*b++ = (uint8_t)v;
	return b;
}

static uint64_t get_varint(const uint8_t **b)
{
	uint64_t v = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = *(*b)++;
		v |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	return v;
}

/* Varint of a field that is not 0, and its bit. */
static uint8_t *put_field(uint8_t *b, uint16_t *mask, enum field field, uint64_t v)
{
	if (v == 0)
		return b;
	*mask |= (uint16_t)field;
	return put_varint(b, v);
}

static uint32_t get_field(const uint8_t **b, uint16_t mask, enum field field)
{
	return mask & field ? (uint32_t)get_varint(b) : 0;
}

/* Frames as distances: those that are named lie shortly before. 0 is none. */
static uint32_t distance(uint32_t frame, uint32_t other)
{
	return other == 0 ? 0 : frame - other + 1;
}

static uint32_t from_distance(uint32_t frame, uint32_t d)
{
	return d == 0 ? 0 : frame - (d - 1);
}

/* ---- frames ---- */

static uint32_t first_of(const struct rdma_store *s, uint32_t frame)
{
	const uint32_t b = frame / BLOCK;

	return b < s->blocks && s->block[b] != NULL ? s->block[b][frame % BLOCK] : 0;
}

static uint32_t *slot_of(struct rdma_store *s, uint32_t frame)
{
	const uint32_t b = frame / BLOCK;

	if (b >= s->blocks) {
		const uint32_t blocks = b < 64 ? 64 : 2 * b;
		uint32_t **grown = realloc(s->block, blocks * sizeof(*grown));

		if (grown == NULL)
			return NULL;
		memset(grown + s->blocks, 0, (blocks - s->blocks) * sizeof(*grown));
		s->block = grown;
		s->blocks = blocks;
	}
	if (s->block[b] == NULL)
		s->block[b] = calloc(BLOCK, sizeof(uint32_t));
	return s->block[b] != NULL ? &s->block[b][frame % BLOCK] : NULL;
}

/* ---- texts ---- */

/* Address of the text, 0 for none: it says no more than the rule, or too much is kept already. */
static uint32_t keep_text(struct rdma_store *s, uint8_t rule, const char *text)
{
	uint32_t where, len;
	uint8_t *b;

	if (text == NULL || strcmp(text, vs_rule_info((enum vs_rule)rule)->sentence) == 0)
		return 0;
	if (s->said[rule] != 0 && strcmp((const char *)at(&s->texts, s->said[rule]), text) == 0)
		return s->said[rule];
	len = (uint32_t)strlen(text) + 1;
	if (len > CHUNK / 2 || s->text_bytes + len > TEXT_FREE + TEXT_PER_PACKET * s->packets)
		return 0;
	b = reserve(&s->texts, len, &where);
	if (b == NULL)
		return 0;
	memcpy(b, text, len);
	s->texts.used += len;
	s->text_bytes += len;
	s->said[rule] = where;
	return where;
}

/* ---- records ---- */

static uint8_t *put_rules(struct rdma_store *s, uint8_t *b, uint32_t frame, const struct rdma_analysis *a)
{
	*b++ = a->r.rules;
	for (unsigned i = 0; i < a->r.rules && i < VS_MON_RULES; i++) {
		*b++ = a->r.rule[i];
		b = put_varint(b, distance(frame, a->other[i]));
		b = put_varint(b, keep_text(s, a->r.rule[i], a->text[i]));
	}
	return b;
}

static void get_rules(const struct rdma_store *s, const uint8_t *b, uint32_t frame, struct rdma_analysis *a)
{
	a->r.rules = *b++;
	for (unsigned i = 0; i < a->r.rules && i < VS_MON_RULES; i++) {
		uint32_t text;

		a->r.rule[i] = *b++;
		a->other[i] = from_distance(frame, (uint32_t)get_varint(&b));
		text = (uint32_t)get_varint(&b);
		a->text[i] = text != 0 ? (const char *)at(&s->texts, text) : NULL;
	}
}

/* Writes a record at `b`; returns its end. */
static uint8_t *encode(struct rdma_store *s, uint8_t *b, uint32_t frame, uint32_t place, const struct rdma_analysis *a)
{
	const struct vs_mon_result *r = &a->r;
	uint8_t *head = b;
	uint16_t mask = 0;

	b += 4;
	*b++ = (uint8_t)(r->class_ | r->cause << 3);
	if (r->flags & VS_MON_REQUEST)
		b = put32(b, 0);
	b = put_varint(b, r->stream);
	b = put_field(b, &mask, F_PLACE, place);
	b = put_field(b, &mask, F_MESSAGE, distance(frame, r->message));
	b = put_field(b, &mask, F_REQUEST, distance(frame, r->request));
	b = put_field(b, &mask, F_ORIGINAL, distance(frame, r->original));
	b = put_field(b, &mask, F_CAUSE_FRAME, distance(frame, r->cause_frame));
	b = put_field(b, &mask, F_MISSING, r->missing);
	b = put_field(b, &mask, F_OUTSTANDING, r->outstanding);
	b = put_field(b, &mask, F_CREDITS, r->credits);
	b = put_field(b, &mask, F_WASTED, r->wasted);
	b = put_field(b, &mask, F_OFFSET, r->offset);
	b = put_field(b, &mask, F_RTT, r->rtt_ns);
	b = put_field(b, &mask, F_WAIT, r->wait_us);
	b = put_field(b, &mask, F_ITER, r->iter == 1 ? 0 : r->iter + 1u);
	if (r->rules > 0) {
		mask |= F_RULES;
		b = put_rules(s, b, frame, a);
	}
	memcpy(head, &mask, 2);
	memcpy(head + 2, &r->flags, 2);
	return b;
}

struct head {
	uint16_t mask, flags;
	uint8_t kind; /* class, cause, MORE */
};

static struct head head_of(const uint8_t *b)
{
	struct head h;

	memcpy(&h.mask, b, 2);
	memcpy(&h.flags, b + 2, 2);
	h.kind = b[4];
	return h;
}

static void decode(const struct rdma_store *s, const uint8_t *b, uint32_t frame, struct rdma_analysis *a)
{
	const struct head h = head_of(b);
	struct vs_mon_result *r = &a->r;
	uint32_t iter;

	memset(a, 0, sizeof(*a));
	r->flags = h.flags;
	r->class_ = h.kind & 7;
	r->cause = h.kind >> 3 & 7;
	b += 5;
	if (h.flags & VS_MON_REQUEST) {
		memcpy(&a->answered_in, b, 4);
		b += 4;
	}
	r->stream = (uint32_t)get_varint(&b);
	(void)get_field(&b, h.mask, F_PLACE);
	r->message = from_distance(frame, get_field(&b, h.mask, F_MESSAGE));
	r->request = from_distance(frame, get_field(&b, h.mask, F_REQUEST));
	r->original = from_distance(frame, get_field(&b, h.mask, F_ORIGINAL));
	r->cause_frame = from_distance(frame, get_field(&b, h.mask, F_CAUSE_FRAME));
	r->missing = get_field(&b, h.mask, F_MISSING);
	r->outstanding = get_field(&b, h.mask, F_OUTSTANDING);
	r->credits = get_field(&b, h.mask, F_CREDITS);
	r->wasted = get_field(&b, h.mask, F_WASTED);
	r->offset = get_field(&b, h.mask, F_OFFSET);
	r->rtt_ns = h.mask & F_RTT ? get_varint(&b) : 0;
	r->wait_us = get_field(&b, h.mask, F_WAIT);
	iter = get_field(&b, h.mask, F_ITER);
	r->iter = (uint8_t)(iter == 0 ? 1 : iter - 1);
	if (h.mask & F_RULES)
		get_rules(s, b, frame, a);
}

static uint32_t place_of(const uint8_t *b)
{
	const struct head h = head_of(b);

	b += h.flags & VS_MON_REQUEST ? 9 : 5;
	(void)get_varint(&b);
	return get_field(&b, h.mask, F_PLACE);
}

/* Behind the record at `b`; where the next one would begin in this chunk. */
static const uint8_t *skip(const uint8_t *b)
{
	const struct head h = head_of(b);

	b += h.flags & VS_MON_REQUEST ? 9 : 5;
	(void)get_varint(&b);
	for (unsigned field = F_PLACE; field < F_RULES; field <<= 1)
		if (h.mask & field)
			(void)get_varint(&b);
	if (h.mask & F_RULES) {
		const unsigned rules = *b++;

		for (unsigned i = 0; i < rules && i < VS_MON_RULES; i++) {
			b++;
			(void)get_varint(&b);
			(void)get_varint(&b);
		}
	}
	return b;
}

/* The record of the same frame after that at `where`; 0: none. */
static uint32_t next_of(const struct rdma_store *s, uint32_t where)
{
	const uint8_t *b = at(&s->records, where);
	uint32_t next;

	if (!(head_of(b).kind & MORE))
		return 0;
	next = where + (uint32_t)(skip(b) - b);
	return next % CHUNK + RECORD_MAX > CHUNK ? (next / CHUNK + 1) * CHUNK : next;
}

/* ---- the calls ---- */

struct rdma_store *rdma_store_new(void)
{
	return calloc(1, sizeof(struct rdma_store));
}

void rdma_store_free(struct rdma_store *s)
{
	if (s == NULL)
		return;
	arena_free(&s->records);
	arena_free(&s->texts);
	for (uint32_t i = 0; i < s->blocks; i++)
		free(s->block[i]);
	free(s->block);
	free(s->repeat);
	free(s);
}

static uint32_t find_repeat(const struct rdma_store *s, uint32_t frame)
{
	uint32_t i = frame * UINT32_C(0x9e3779b1) & (s->repeat_room - 1);

	while (s->repeat[i].frame != 0 && s->repeat[i].frame != frame)
		i = (i + 1) & (s->repeat_room - 1);
	return i;
}

/* The record of a packet; 0: none. Mostly they are asked for one after another. */
static uint32_t find(struct rdma_store *s, uint32_t frame, uint32_t place)
{
	const uint32_t first = first_of(s, frame);
	uint32_t where = s->seen.frame == frame && first != 0 ? s->seen.where : first;

	while (where != 0 && place_of(at(&s->records, where)) != place)
		where = next_of(s, where);
	if (where == 0)
		for (where = first; where != 0 && place_of(at(&s->records, where)) != place;)
			where = next_of(s, where);
	if (where != 0)
		s->seen = (struct cursor){frame, where};
	return where;
}

bool rdma_store_put(struct rdma_store *s, uint32_t frame, uint32_t place, const struct rdma_analysis *a)
{
	/* with a read filter the number of a frame that it drops is that of the next frame too, which takes its place
	 */
	const bool again =
		frame == s->last_frame && s->last_at != 0 && (place > s->last_place || find(s, frame, place) == 0);
	uint32_t where, *slot = again ? NULL : slot_of(s, frame);
	uint8_t *b = reserve(&s->records, RECORD_MAX, &where);

	if (b == NULL || (!again && slot == NULL))
		return false;
	s->packets++;
	s->records.used += (uint32_t)(encode(s, b, frame, place, a) - b);
	if (again) {
		at(&s->records, s->last_at)[4] |= MORE;
	} else {
		*slot = where;
		s->seen.frame = s->linked.frame = 0;
	}
	s->last_place = again && s->last_place > place ? s->last_place : place;
	s->last_frame = frame;
	s->last_at = where;
	return true;
}

bool rdma_store_get(struct rdma_store *s, uint32_t frame, uint32_t place, struct rdma_analysis *a)
{
	const uint32_t where = find(s, frame, place);

	if (where == 0)
		return false;
	decode(s, at(&s->records, where), frame, a);
	/* of frames that hold several it is not known which */
	if (s->repeats > 0 && where == first_of(s, frame) && next_of(s, where) == 0)
		a->repeated_in = s->repeat[find_repeat(s, frame)].later;
	return true;
}

bool rdma_store_first(const struct rdma_store *s, uint32_t frame, struct rdma_analysis *a)
{
	for (uint32_t where = first_of(s, frame); where != 0; where = next_of(s, where)) {
		decode(s, at(&s->records, where), frame, a);
		if (a->r.stream != 0)
			return true;
	}
	return false;
}

/* ---- links to later frames ---- */

static bool grow_repeats(struct rdma_store *s)
{
	const uint32_t old_room = s->repeat_room;
	struct repeat *old = s->repeat;

	s->repeat_room = old_room == 0 ? REPEATS_MIN : 2 * old_room;
	s->repeat = calloc(s->repeat_room, sizeof(*s->repeat));
	if (s->repeat == NULL) {
		s->repeat = old;
		s->repeat_room = old_room;
		return false;
	}
	for (uint32_t i = 0; i < old_room; i++)
		if (old[i].frame != 0)
			s->repeat[find_repeat(s, old[i].frame)] = old[i];
	free(old);
	return true;
}

static void repeated(struct rdma_store *s, uint32_t frame, uint32_t later)
{
	struct repeat *r;

	if (s->repeats >= s->repeat_room / 2 && !grow_repeats(s))
		return;
	r = &s->repeat[find_repeat(s, frame)];
	if (r->frame != 0)
		return;
	*r = (struct repeat){frame, later};
	s->repeats++;
}

static void answered(struct rdma_store *s, uint32_t frame, uint32_t later)
{
	/* the first request of this frame that waits; those before have their answer */
	uint32_t where = s->linked.frame == frame ? s->linked.where : first_of(s, frame);

	for (; where != 0; where = next_of(s, where)) {
		uint8_t *b = at(&s->records, where);
		uint32_t there;

		if (!(head_of(b).flags & VS_MON_REQUEST))
			continue;
		memcpy(&there, b + 5, 4);
		if (there != 0)
			continue;
		(void)put32(b + 5, later);
		s->linked = (struct cursor){frame, where};
		return;
	}
}

void rdma_store_link(struct rdma_store *s, uint32_t frame, enum vs_mon_link kind, uint32_t later)
{
	if (frame == 0)
		return;
	if (kind == VS_MON_LINK_REPEATED)
		repeated(s, frame, later);
	else
		answered(s, frame, later);
}

/* ---- how much ---- */

size_t rdma_store_bytes(const struct rdma_store *s)
{
	size_t n = sizeof(*s) + ((size_t)s->records.chunks + s->texts.chunks) * CHUNK;

	n += ((size_t)s->records.room + s->texts.room) * sizeof(uint8_t *) + s->blocks * sizeof(uint32_t *);
	for (uint32_t i = 0; i < s->blocks; i++)
		n += s->block[i] != NULL ? BLOCK * sizeof(uint32_t) : 0;
	return n + s->repeat_room * sizeof(struct repeat);
}
