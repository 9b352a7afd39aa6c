/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * psn.h - 24-bit sequence number arithmetic, the only place where PSNs (and MSNs, SSNs) are
 * compared, added or subtracted. `make lint` refuses a raw `<` between PSNs anywhere else.
 *
 * PSNs live on a circle of 2^24. b is "after" a when the way forward from a to b is shorter than
 * half the circle. At exactly half (2^23 apart) neither is after the other in the signed sense:
 * vs_psn_diff gives -2^23, which puts the far point behind (spec: at most 2^23 PSNs outstanding;
 * the valid and the invalid half are 2^23 each).
 */
#ifndef VS_PSN_H
#define VS_PSN_H

#include <stdbool.h>
#include <stdint.h>

#define VS_PSN_MASK 0xffffffu
#define VS_PSN_HALF 0x800000u

/* p + n on the circle; n may be negative. Bits of p above 24 are ignored. */
static inline uint32_t vs_psn_add(uint32_t p, int32_t n)
{
	return (p + (uint32_t)n) & VS_PSN_MASK;
}

/* Signed distance from b to a, in -2^23 .. 2^23-1: positive when a is ahead of b. */
static inline int32_t vs_psn_diff(uint32_t a, uint32_t b)
{
	uint32_t d = (a - b) & VS_PSN_MASK;

	return d >= VS_PSN_HALF ? (int32_t)d - 0x1000000 : (int32_t)d;
}

static inline bool vs_psn_lt(uint32_t a, uint32_t b)
{
	return vs_psn_diff(a, b) < 0;
}

static inline bool vs_psn_le(uint32_t a, uint32_t b)
{
	return vs_psn_diff(a, b) <= 0;
}

static inline bool vs_psn_gt(uint32_t a, uint32_t b)
{
	return vs_psn_diff(a, b) > 0;
}

static inline bool vs_psn_ge(uint32_t a, uint32_t b)
{
	return vs_psn_diff(a, b) >= 0;
}

/* True when p lies in the half-open window [first, first + n), n in 0 .. 2^23. */
static inline bool vs_psn_in(uint32_t p, uint32_t first, uint32_t n)
{
	return ((p - first) & VS_PSN_MASK) < n;
}

/*
 * PSNs that a message or a READ response of `len` bytes takes at path MTU `mtu` (bytes, not 0):
 * at least one, since a zero-length message is one packet.
 */
static inline uint32_t vs_psn_count(uint32_t len, uint32_t mtu)
{
	return len == 0 ? 1 : (uint32_t)(((uint64_t)len + mtu - 1) / mtu);
}

#endif
