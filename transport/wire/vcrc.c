/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * vcrc.c - the variant CRC of native InfiniBand: CRC-16, x^16 + x^12 + x^3 + x + 1, reflected.
 *
 * Eight bytes per step ("slicing"): table k holds the CRC of one byte with k zero bytes behind it.
 * A CRC is linear, so a table follows from the eight values at the powers of two, and the
 * preprocessor can spread them out; test_icrc compares every entry with the bitwise definition.
 */
#include "vs/icrc.h"

#define T1(x, a) (x), (x) ^ (a)
#define T2(x, a, b) T1(x, a), T1((x) ^ (b), a)
#define T3(x, a, b, c) T2(x, a, b), T2((x) ^ (c), a, b)
#define T4(x, a, b, c, d) T3(x, a, b, c), T3((x) ^ (d), a, b, c)
#define T5(x, a, b, c, d, e) T4(x, a, b, c, d), T4((x) ^ (e), a, b, c, d)
#define T6(x, a, b, c, d, e, f) T5(x, a, b, c, d, e), T5((x) ^ (f), a, b, c, d, e)
#define T7(x, a, b, c, d, e, f, g) T6(x, a, b, c, d, e, f), T6((x) ^ (g), a, b, c, d, e, f)
#define ROW256(a, b, c, d, e, f, g, h)                                 \
	{                                                              \
		T7(0, a, b, c, d, e, f, g), T7(h, a, b, c, d, e, f, g) \
	}

/* Row k, argument i: the CRC of the byte 1 << i with k zero bytes behind it. */
static const uint16_t table[8][256] = {
	ROW256(0x1ba1, 0x3742, 0x6e84, 0xdd08, 0x1a01, 0x3402, 0x6804, 0xd008),
	ROW256(0xffb0, 0x5f71, 0xbee2, 0xddd5, 0x1bbb, 0x3776, 0x6eec, 0xddd8),
	ROW256(0xfef4, 0x5df9, 0xbbf2, 0xd7f5, 0x0ffb, 0x1ff6, 0x3fec, 0x7fd8),
	ROW256(0xf875, 0x50fb, 0xa1f6, 0xe3fd, 0x67eb, 0xcfd6, 0x3fbd, 0x7f7a),
	ROW256(0x33da, 0x67b4, 0xcf68, 0x3ec1, 0x7d82, 0xfb04, 0x5619, 0xac32),
	ROW256(0x4874, 0x90e8, 0x81c1, 0xa393, 0xe737, 0x6e7f, 0xdcfe, 0x19ed),
	ROW256(0x28cb, 0x5196, 0xa32c, 0xe649, 0x6c83, 0xd906, 0x121d, 0x243a),
	ROW256(0x49cf, 0x939e, 0x872d, 0xae4b, 0xfc87, 0x591f, 0xb23e, 0xc46d),
};

uint16_t vs_vcrc_bytes(const uint8_t *lrh, size_t len)
{
	uint32_t crc = 0xffff;

	for (; len >= 8; len -= 8, lrh += 8) {
		uint32_t lo = crc ^ lrh[0], hi = (crc >> 8) ^ lrh[1];

		crc = (uint32_t)table[7][lo & 0xff] ^ table[6][hi & 0xff] ^ table[5][lrh[2]] ^ table[4][lrh[3]] ^
		      table[3][lrh[4]] ^ table[2][lrh[5]] ^ table[1][lrh[6]] ^ table[0][lrh[7]];
	}
	for (; len > 0; len--, lrh++)
		crc = (crc >> 8) ^ table[0][(crc ^ *lrh) & 0xff];
	return (uint16_t)(crc ^ 0xffff);
}

enum vs_crc_status vs_vcrc_check(const struct vs_pkt *p, const uint8_t *buf, uint16_t *expected)
{
	uint16_t right;

	if (!(p->flags & VS_PKT_HAS_VCRC) || p->end_off < p->net_off)
		return VS_CRC_UNVERIFIED;
	right = vs_vcrc_bytes(buf + p->net_off, p->end_off - p->net_off);
	if (expected != NULL)
		*expected = right;
	return right == p->vcrc ? VS_CRC_GOOD : VS_CRC_BAD;
}
