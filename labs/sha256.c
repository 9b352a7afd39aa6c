/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* sha256.c - SHA-256 (FIPS 180-4), for answers that should not be read by accident. */
#include <string.h>

#include "vslab.h"

__extension__ typedef unsigned __int128 u128;

static uint32_t rotr(uint32_t x, unsigned n)
{
	return x >> n | x << (32 - n);
}

/* The first 32 bits of the fractional part of a root of a prime, exactly: the constants of the standard. */
static uint32_t fraction_of_root(unsigned prime, bool cube)
{
	/* The largest r with r^k <= prime * 2^(32k), and of that the low 32 bits. */
	u128 target = (u128)prime << (cube ? 96 : 64);
	uint64_t low = 0, high = UINT64_C(1) << (cube ? 35 : 37);

	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;
		u128 power = (u128)middle * middle * (cube ? middle : 1);

		if (power <= target)
			low = middle;
		else
			high = middle;
	}
	return (uint32_t)low;
}

static void constants(uint32_t h[8], uint32_t k[64])
{
	unsigned n = 0;

	for (unsigned p = 2; n < 64; p++) {
		bool prime = true;

		for (unsigned d = 2; d * d <= p; d++)
			prime &= p % d != 0;
		if (!prime)
			continue;
		if (n < 8)
			h[n] = fraction_of_root(p, false);
		k[n++] = fraction_of_root(p, true);
	}
}

static void block(uint32_t h[8], const uint32_t k[64], const uint8_t *p)
{
	uint32_t w[64], v[8];

	for (unsigned i = 0; i < 16; i++)
		w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 | (uint32_t)p[4 * i + 2] << 8 |
		       p[4 * i + 3];
	for (unsigned i = 16; i < 64; i++)
		w[i] = w[i - 16] + (rotr(w[i - 15], 7) ^ rotr(w[i - 15], 18) ^ w[i - 15] >> 3) + w[i - 7] +
		       (rotr(w[i - 2], 17) ^ rotr(w[i - 2], 19) ^ w[i - 2] >> 10);
	memcpy(v, h, sizeof(v));
	for (unsigned i = 0; i < 64; i++) {
		uint32_t a = v[7] + (rotr(v[4], 6) ^ rotr(v[4], 11) ^ rotr(v[4], 25)) +
			     ((v[4] & v[5]) ^ (~v[4] & v[6])) + k[i] + w[i];
		uint32_t b = (rotr(v[0], 2) ^ rotr(v[0], 13) ^ rotr(v[0], 22)) +
			     ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));

		memmove(v + 1, v, 7 * sizeof(v[0]));
		v[4] += a;
		v[0] = a + b;
	}
	for (unsigned i = 0; i < 8; i++)
		h[i] += v[i];
}

void vl_sha256(const void *data, size_t len, char hex[VL_HASH])
{
	uint32_t h[8], k[64];
	const uint8_t *p = data;
	uint8_t tail[128] = {0};
	size_t whole = len / 64 * 64, rest = len - whole, end = rest < 56 ? 64 : 128;

	constants(h, k);
	for (size_t i = 0; i < whole; i += 64)
		block(h, k, p + i);
	memcpy(tail, p + whole, rest);
	tail[rest] = 0x80;
	for (unsigned i = 0; i < 8; i++)
		tail[end - 1 - i] = (uint8_t)((uint64_t)len * 8 >> 8 * i);
	for (size_t i = 0; i < end; i += 64)
		block(h, k, tail + i);
	for (unsigned i = 0; i < 8; i++)
		(void)snprintf(hex + 8 * i, 9, "%08x", h[i]);
}
