/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ulp_bytes.h - how the header checks read bytes: never beyond what was captured.
 */
#ifndef RDMA_ULP_BYTES_H
#define RDMA_ULP_BYTES_H

#include <stddef.h>

#include "ulp_fit.h"

static inline bool has(const struct ulp_bytes *b, uint32_t off, uint32_t n)
{
	return off <= b->cap && n <= b->cap - off;
}

static inline uint16_t be16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t be24(const uint8_t *p)
{
	return (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
}

static inline uint32_t be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | be24(p + 1);
}

static inline uint16_t le16(const uint8_t *p)
{
	return (uint16_t)(p[1] << 8 | p[0]);
}

static inline uint32_t le32(const uint8_t *p)
{
	return (uint32_t)le16(p + 2) << 16 | le16(p);
}

static inline bool all_zero(const struct ulp_bytes *b, uint32_t off, uint32_t n)
{
	uint8_t any = 0;
	if (!has(b, off, n))
		return false;
	for (uint32_t i = 0; i < n; i++)
		any |= b->p[off + i];
	return any == 0;
}

/* A GID that a port can have: IPv4-mapped, link local, unique local or global unicast. */
static inline bool gid_plausible(const uint8_t *gid)
{
	struct ulp_bytes b = {.p = gid, .cap = 16, .len = 16};
	if (all_zero(&b, 0, 10))
		return be16(gid + 10) == 0xffff && be32(gid + 12) != 0;
	return be16(gid) == 0xfe80 || (gid[0] & 0xfe) == 0xfc || (gid[0] & 0xe0) == 0x20;
}

#endif
