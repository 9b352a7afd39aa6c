/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* fuzz_file.h - what the fuzz targets that read capture files share: a header to put in front, and what was read. */
#ifndef VS_TEST_FUZZ_FILE_H
#define VS_TEST_FUZZ_FILE_H

#include <stdlib.h>
#include <string.h>

#include "io/internal.h"

static inline void require(int ok)
{
	if (!ok)
		abort();
}

static inline void put(uint8_t *file, size_t *len, unsigned value, unsigned bytes, bool big)
{
	for (unsigned i = 0; i < bytes; i++)
		file[(*len)++] = (uint8_t)(value >> 8 * (big ? bytes - 1 - i : i));
}

/* Section header and one interface: 48 bytes. */
static inline size_t put_pcapng(uint8_t *file, unsigned linktype, bool big)
{
	size_t len = 0;

	put(file, &len, 0x0a0d0d0a, 4, big);
	put(file, &len, 28, 4, big);
	put(file, &len, 0x1a2b3c4d, 4, big);
	put(file, &len, 1, 2, big);
	put(file, &len, 0, 2, big);
	put(file, &len, 0xffffffff, 4, big);
	put(file, &len, 0xffffffff, 4, big);
	put(file, &len, 28, 4, big);
	put(file, &len, 1, 4, big);
	put(file, &len, 20, 4, big);
	put(file, &len, linktype, 2, big);
	put(file, &len, 0, 2, big);
	put(file, &len, 0, 4, big);
	put(file, &len, 20, 4, big);
	return len;
}

static inline bool begins_like_a_capture(const uint8_t *data, size_t size)
{
	return vs_stream_is_pcap(data, size) || (size >= 4 && memcmp(data, "\x0a\x0d\x0d\x0a", 4) == 0) ||
	       (size >= 2 && memcmp(data, "\x1f\x8b", 2) == 0);
}

struct seen {
	uint64_t frames, hash;
	bool opened, clean;
};

static inline void mix(struct seen *s, const void *data, size_t len)
{
	const uint8_t *b = data;

	for (size_t i = 0; i < len; i++)
		s->hash = (s->hash ^ b[i]) * 0x100000001b3u;
}

#endif
