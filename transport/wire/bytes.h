/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * bytes.h - big-endian numbers at unaligned places. Internal to transport/wire.
 */
#ifndef VS_WIRE_BYTES_H
#define VS_WIRE_BYTES_H

#include <stdint.h>

static inline uint16_t get16(const uint8_t *b)
{
	return (uint16_t)(b[0] << 8 | b[1]);
}

static inline uint32_t get24(const uint8_t *b)
{
	return (uint32_t)b[0] << 16 | (uint32_t)b[1] << 8 | b[2];
}

static inline uint32_t get32(const uint8_t *b)
{
	return (uint32_t)get16(b) << 16 | get16(b + 2);
}

static inline uint64_t get64(const uint8_t *b)
{
	return (uint64_t)get32(b) << 32 | get32(b + 4);
}

/* The CRCs are the only little-endian fields. */
static inline uint16_t get16le(const uint8_t *b)
{
	return (uint16_t)(b[1] << 8 | b[0]);
}

static inline uint32_t get32le(const uint8_t *b)
{
	return (uint32_t)get16le(b + 2) << 16 | get16le(b);
}

static inline void put16(uint8_t *b, uint32_t v)
{
	b[0] = (uint8_t)(v >> 8);
	b[1] = (uint8_t)v;
}

static inline void put24(uint8_t *b, uint32_t v)
{
	b[0] = (uint8_t)(v >> 16);
	put16(b + 1, v);
}

static inline void put32(uint8_t *b, uint32_t v)
{
	put16(b, v >> 16);
	put16(b + 2, v);
}

static inline void put64(uint8_t *b, uint64_t v)
{
	put32(b, (uint32_t)(v >> 32));
	put32(b + 4, (uint32_t)v);
}

static inline void put16le(uint8_t *b, uint32_t v)
{
	b[0] = (uint8_t)v;
	b[1] = (uint8_t)(v >> 8);
}

static inline void put32le(uint8_t *b, uint32_t v)
{
	put16le(b, v);
	put16le(b + 2, v >> 16);
}

#endif
