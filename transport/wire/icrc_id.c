/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * icrc_id.c - what the IPv4 ID does to the ICRC, and which ID it must have been.
 *
 * A UDP socket never tells the IPv4 ID of what it receives, and the ICRC covers it. A CRC is linear: another ID
 * changes it by an XOR that depends on the two bytes and on how many bytes follow them, nothing else. So the ICRC of
 * a packet with ID 0 becomes that of any other ID with one multiplication, and an ICRC that is wrong for ID 0
 * names the ID for which it is right, if there is one.
 *
 * Polynomials over GF(2) modulo that of CRC-32, reflected: bit 31 is x^0.
 */
#include <libdeflate.h>

#include "vs/icrc.h"

#define POLY 0xedb88320u
#define ID_OFFSET 4u /* of the ID in the IPv4 header */

static uint32_t multiply(uint32_t a, uint32_t b)
{
	uint32_t product = 0;

	for (; a != 0; a <<= 1) {
		if (a & 0x80000000u)
			product ^= b;
		b = b & 1 ? b >> 1 ^ POLY : b >> 1;
	}
	return product;
}

/* x^(8 n) */
static uint32_t power(size_t n)
{
	uint32_t result = 0x80000000u, square = 0x00800000u; /* 1, x^8 */

	for (; n != 0; n >>= 1) {
		if (n & 1)
			result = multiply(square, result);
		square = multiply(square, square);
	}
	return result;
}

uint32_t vs_icrc_id_factor(size_t len)
{
	return len < ID_OFFSET + 2 ? 0 : power(len - ID_OFFSET - 2);
}

uint32_t vs_icrc_id_delta(uint32_t factor, uint16_t id)
{
	static const uint8_t zero[2];
	const uint8_t bytes[2] = {(uint8_t)(id >> 8), (uint8_t)id};

	if (id == 0)
		return 0;
	return multiply(libdeflate_crc32(0, bytes, 2) ^ libdeflate_crc32(0, zero, 2), factor);
}

bool vs_icrc_id_solve(uint32_t factor, uint32_t difference, uint16_t *id)
{
	uint32_t pivot[32] = {0}; /* by highest bit */
	uint16_t made_of[32] = {0}, found = 0;

	if (factor == 0)
		return false;
	for (int i = 0; i < 16; i++) {
		uint32_t d = vs_icrc_id_delta(factor, (uint16_t)(1u << i));
		uint16_t of = (uint16_t)(1u << i);

		for (int bit = 31; bit >= 0 && d != 0; bit--) {
			if (!(d >> bit & 1))
				continue;
			if (pivot[bit] == 0) {
				pivot[bit] = d;
				made_of[bit] = of;
				break;
			}
			d ^= pivot[bit];
			of ^= made_of[bit];
		}
	}
	for (int bit = 31; bit >= 0; bit--) {
		if (difference >> bit & 1) {
			difference ^= pivot[bit];
			found ^= made_of[bit];
		}
	}
	*id = found;
	return difference == 0;
}
