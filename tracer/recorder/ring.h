/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * ring.h - the way of a record into its thread's ring, for calls of which there are millions a second: all that is
 * done each time is here, for compilers to see through; what is rare is in ring.c.
 */
#ifndef VS_TRACER_RING_H
#define VS_TRACER_RING_H

#include "recorder.h"

#define REC_INLINE static inline __attribute__((always_inline))
#define REC_RARE __attribute__((noinline))
#define REC_USUALLY(x) __builtin_expect((x), 1)

struct rec_mine { /* a thread's */
	struct rec_ring *ring;
	uint64_t from;   /* where it began with this ring */
	uint64_t at;     /* the word that comes next; 0: no ring, or nothing in it */
	uint64_t limit;  /* what may not be reached before who drains is asked again; 0: no ring */
	uint64_t t;      /* of the record before */
	uint64_t seq;    /* of the simulated devices' events, as it was told last */
	unsigned staged; /* begun and not yet in the ring: one, or with `held` what was recorded since */
	bool held;       /* the first of them waits for the end of a call that may make others */
	union rec_words like[REC_LIKE];
};
extern _Thread_local struct rec_mine rec_mine __attribute__((tls_model("initial-exec")));

/* ---- ring.c: what is rare ---- */
REC_RARE bool rec_room_looked_for(unsigned n);
REC_RARE uint64_t rec_place_and_time(void);
REC_RARE void rec_pack_whole(const union rec_words *u, uint64_t like[8]);
REC_RARE void rec_put_behind_staged(const union rec_words *u);
REC_RARE void rec_commit_staged(void);
REC_RARE uint64_t rec_mark_behind_staged(void);
REC_RARE void rec_drain_if_half_full(void);

/* Room for one more, or it is counted as lost. */
REC_INLINE bool rec_room(void)
{
	return REC_USUALLY(rec_mine.at + 8 * (uint64_t)(rec_mine.staged + 1) <= rec_mine.limit) ||
	       rec_room_looked_for(1);
}

/* One word of it behind the others, where it is not as it was: its bit. */
REC_INLINE uint64_t rec_pack_word(uint64_t *word, uint64_t *at, uint64_t *by, uint64_t *like, uint64_t w, unsigned i)
{
	if (REC_USUALLY(*like == w))
		return 0;
	*by = w - *like;
	word[(*at)++ & (REC_RING_WORDS - 1)] = *like = w;
	return 1ull << (48 + i);
}

/* Its words into the ring, for which there must be room. */
REC_INLINE void rec_pack(const union rec_words *u)
{
	const unsigned which = rec_like(u);
	uint64_t *const like = rec_mine.like[which].w, *const word = rec_mine.ring->word;
	uint64_t at = rec_mine.at, by = 0;
	const uint64_t dt = u->w[0] - rec_mine.t, start = at;

	if (REC_USUALLY(like[1] == u->w[1] && dt <= UINT32_MAX)) {
		uint64_t first = REC_PACKED | (uint64_t)which << 40 | dt;

		at++;
		first |= rec_pack_word(word, &at, &by, &like[2], u->w[2], 2);
		first |= rec_pack_word(word, &at, &by, &like[3], u->w[3], 3);
		first |= rec_pack_word(word, &at, &by, &like[4], u->w[4], 4);
		first |= rec_pack_word(word, &at, &by, &like[5], u->w[5], 5);
		first |= rec_pack_word(word, &at, &by, &like[6], u->w[6], 6);
		first |= rec_pack_word(word, &at, &by, &like[7], u->w[7], 7);
		if (at == start + 2 && dt <= UINT16_MAX && by + 0x8000 <= UINT16_MAX) {
			first |= REC_NEAR | (by & UINT16_MAX) << 16;
			at = start + 1;
		}
		word[start & (REC_RING_WORDS - 1)] = first;
		rec_mine.t = u->w[0];
		rec_mine.at = at;
	} else {
		const union rec_words whole = *u; /* so that *u needs no address */

		rec_pack_whole(&whole, like);
	}
}

/* The time of a record that begins now. */
REC_INLINE uint64_t rec_time(void)
{
#if defined(__x86_64__)
	if (REC_USUALLY(rec_state.ticks))
		return __builtin_ia32_rdtsc();
#endif
	return rec_place_and_time();
}

/*
 * A record of this moment, in the caller's memory. What comes a million times a second is filled in word by word
 * instead (rec_time, rec_word1, rec_pair), and never leaves the registers.
 */
REC_INLINE void rec_start(union rec_words *u, enum rec_type type, uint8_t ctx)
{
	*u = (union rec_words){.w = {rec_time(), rec_word1((uint16_t)type, ctx, 0, 0)}};
}

/* Behind what was put before, or counted as lost; it is there when it is committed. */
REC_INLINE void rec_put(const union rec_words *u)
{
	if (!rec_room())
		return;
	if (REC_USUALLY(rec_mine.staged == 0)) {
		rec_pack(u);
	} else {
		const union rec_words copy = *u; /* as there */

		rec_put_behind_staged(&copy);
	}
}

/* What was begun or put since the last one is there. */
REC_INLINE void rec_commit(void)
{
	if (!REC_USUALLY(rec_mine.staged == 0))
		rec_commit_staged();
	else if (rec_mine.ring != NULL)
		atomic_store_explicit(&rec_mine.ring->head, rec_mine.at, memory_order_release);
	if (!REC_USUALLY(rec_state.ticks))
		rec_drain_if_half_full();
}

/* For rec_rewind. */
REC_INLINE uint64_t rec_mark(void)
{
	return REC_USUALLY(rec_mine.staged == 0) ? rec_mine.at : rec_mark_behind_staged();
}

#endif
