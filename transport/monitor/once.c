/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * once.c - which PSNs a flow has carried within the last 2^23, each with its opcode.
 *
 * What is remembered in detail (seen.c) is the newest packets; a repeat is one whose PSN was there at all. So there is
 * one bit for each PSN and opcode: 64 PSNs of one opcode make a word, and the words that are not empty stand in a
 * hash table. In order, 10^6 packets take a quarter of a megabyte; words that the flow has left 2^23 PSNs behind make
 * room when the table is full, so that a flow needs no more than 2^23 bits for an opcode, however long it lasts.
 *
 * Requests and responses have PSNs of their own; their opcodes keep them apart in the table.
 */
#include <stdlib.h>

#include "mon.h"

#define FIRST_WORDS 16u
#define FREE 0u
#define TURN (VS_PSN_MASK + 1)

/* PSN on the line: one turn up, so that what stands behind the first packet of a flow is not negative. */
int64_t mon_once_pos(struct mon_space *s, uint32_t psn)
{
	int32_t d;

	if (!s->any) {
		*s = (struct mon_space){.any = true, .psn = psn, .pos = psn | TURN};
		return s->pos;
	}
	d = vs_psn_diff(psn, s->psn);
	if (d > 0) {
		s->psn = psn;
		s->pos += d;
		return s->pos;
	}
	return s->pos + d;
}

uint32_t mon_once_turn(int64_t pos)
{
	return (uint32_t)((uint64_t)pos >> 24);
}

static uint64_t key_of(uint8_t opcode, int64_t pos)
{
	return ((uint64_t)pos >> 6) << 9 | (uint64_t)opcode << 1 | 1;
}

static bool lives(const struct mon_flow *f, uint64_t key)
{
	const bool response = vs_opcodes[key >> 1 & 0xff].flags & VS_OPF_R;

	return (int64_t)((key >> 9 << 6) | 63) >= f->once_space[response].pos - (int64_t)VS_PSN_HALF;
}

/* The place of `key`, or the free one where it belongs. */
static struct mon_word *place(struct mon_word *w, uint32_t n, uint64_t key)
{
	uint32_t at = (uint32_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (n - 1);

	while (w[at].key != FREE && w[at].key != key)
		at = (at + 1) & (n - 1);
	return &w[at];
}

/* A table with room, without what is too far behind. False: no memory, everything stays. */
static bool make_room(struct mon_flow *f)
{
	uint32_t live = 0, n = f->words == 0 ? FIRST_WORDS : f->words;
	struct mon_word *w;

	for (uint32_t i = 0; i < f->words; i++)
		live += f->word[i].key != FREE && lives(f, f->word[i].key);
	if (live >= n / 2)
		n *= 2;
	w = calloc(n, sizeof(*w));
	if (w == NULL)
		return false;
	for (uint32_t i = 0; i < f->words; i++)
		if (f->word[i].key != FREE && lives(f, f->word[i].key))
			*place(w, n, f->word[i].key) = f->word[i];
	free(f->word);
	f->word = w;
	f->words = n;
	f->words_used = live;
	return true;
}

bool mon_once(struct mon_flow *f, uint8_t opcode, int64_t pos)
{
	const uint64_t key = key_of(opcode, pos), bit = UINT64_C(1) << (pos & 63);
	struct mon_word *w;
	bool before;

	if (f->words == 0 && !make_room(f))
		return false;
	w = place(f->word, f->words, key);
	if (w->key == FREE) {
		if (f->words_used >= f->words / 4 * 3) {
			if (!make_room(f))
				return false;
			w = place(f->word, f->words, key);
		}
		*w = (struct mon_word){.key = key};
		f->words_used++;
	}
	before = w->bits & bit;
	w->bits |= bit;
	return before;
}
