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

struct rec_mine { /* a thread's; all but the last in one line of the cache */
	_Alignas(64) struct rec_ring *ring;
	uint64_t from;   /* where it began with this ring */
	uint64_t at;     /* the word that comes next; 0: no ring, or nothing in it */
	uint64_t limit;  /* what may not be reached before who drains is asked again; 0: no ring */
	uint64_t t;      /* of the record before */
	uint64_t seq;    /* of the simulated devices' events, as it was told last */
	unsigned staged; /* begun and not yet in the ring: one, or with `held` what was recorded since */
	bool held;       /* the first of them waits for the end of a call that may make others */
	_Alignas(64) union rec_words like[REC_LIKE];
};
extern _Thread_local struct rec_mine rec_mine __attribute__((tls_model("initial-exec")));

/* ---- ring.c: what is rare ---- */
REC_RARE uint64_t rec_place_and_time(void);
REC_RARE void rec_put_any(const union rec_words *u);
REC_RARE void rec_commit_any(void);
REC_RARE uint64_t rec_mark_behind_staged(void);

/* A difference that 16 bits tell. */
REC_INLINE bool rec_is_near(uint64_t by)
{
	return by + 0x8000 <= UINT16_MAX;
}

/*
 * Its words into the ring, if it is like one before it but for the request's number or the address of its memory, and
 * soon after the last: nearly always. What the compiler makes of this is small, and it has to be: between two records
 * the program and the kernel use the caches of the processor.
 */
REC_INLINE bool rec_pack_near(const union rec_words *u)
{
	const unsigned which = rec_like(u);
	uint64_t *const like = rec_mine.like[which].w;
	const uint64_t dt = u->w[0] - rec_mine.t, by2 = u->w[2] - like[2], by6 = u->w[6] - like[6], by = by2 + by6;

	if (((u->w[1] ^ like[1]) | (u->w[3] ^ like[3]) | (u->w[4] ^ like[4]) | (u->w[5] ^ like[5]) |
	     (u->w[7] ^ like[7])) != 0 ||
	    (by2 != 0 && by6 != 0) || !rec_is_near(by) || dt > UINT16_MAX)
		return false;
	rec_mine.ring->word[rec_mine.at & (REC_RING_WORDS - 1)] = REC_PACKED | REC_NEAR | (by2 != 0 ? REC_WORD(2) : 0) |
								  (by6 != 0 ? REC_WORD(6) : 0) | (uint64_t)which << 40 |
								  (by & UINT16_MAX) << 16 | dt;
	like[2] = u->w[2];
	like[6] = u->w[6];
	rec_mine.t = u->w[0];
	rec_mine.at++;
	return true;
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
	if (!REC_USUALLY(rec_mine.staged == 0 && rec_mine.at + 8 <= rec_mine.limit && rec_pack_near(u))) {
		const union rec_words copy = *u; /* so that *u needs no address */

		rec_put_any(&copy);
	}
}

/*
 * The same, and up to `n` behind it that are as different from the one before them as it is, by `by` in word 2 and in
 * nothing else, time included. How many of those were put, too.
 */
REC_INLINE unsigned rec_put_run(const union rec_words *u, unsigned n, uint64_t by)
{
	const uint64_t at = rec_mine.at, as_said = (by != 0 ? REC_WORD(2) : 0) | (by & UINT16_MAX) << 16;
	uint64_t *word;

	rec_put(u);
	if (n == 0 || rec_mine.at != at + 1) /* in more words than one, or not yet, or there was no room */
		return 0;
	word = &rec_mine.ring->word[at & (REC_RING_WORDS - 1)];
	if ((*word & (REC_WORDS | UINT64_C(0xffff0000))) != as_said)
		return 0; /* the one before is lost, and this is like an older one */
	n = n < REC_AGAIN_MAX ? n : REC_AGAIN_MAX;
	*word |= (uint64_t)n << REC_AGAIN_SHIFT;
	rec_mine.like[rec_like(u)].w[2] += n * by;
	return n;
}

/* What was begun or put since the last one is there. */
REC_INLINE void rec_commit(void)
{
	if (REC_USUALLY(rec_mine.staged == 0 && rec_mine.ring != NULL && rec_state.ticks))
		atomic_store_explicit(&rec_mine.ring->head, rec_mine.at, memory_order_release);
	else
		rec_commit_any();
}

/* For rec_rewind. */
REC_INLINE uint64_t rec_mark(void)
{
	return REC_USUALLY(rec_mine.staged == 0) ? rec_mine.at : rec_mark_behind_staged();
}

#endif
