/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * fuzz_copy.c - libFuzzer target: a capture file from anyone is copied with comments. Whatever the bytes are, the copy
 * holds the same frames with the same bytes and times, can be read to its end, and a copy of it is the same again.
 *
 * Bytes that begin like a capture are taken as they are; others become the blocks of a pcapng section whose byte order
 * the first byte decides.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/internal.h"

#define MAX_LEN (1u << 16)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t file[MAX_LEN + 128], first[8 * MAX_LEN + 65536], second[8 * MAX_LEN + 65536];
static char path[64];

static void require(int ok)
{
	if (!ok)
		abort();
}

struct seen {
	uint64_t frames, hash;
	bool opened, clean;
};

static void mix(struct seen *s, const void *data, size_t len)
{
	const uint8_t *b = data;

	for (size_t i = 0; i < len; i++)
		s->hash = (s->hash ^ b[i]) * 0x100000001b3u;
}

static void put(size_t *len, uint64_t value, unsigned bytes, bool big)
{
	for (unsigned i = 0; i < bytes; i++)
		file[(*len)++] = (uint8_t)(value >> 8 * (big ? bytes - 1 - i : i));
}

/* Section header, and an interface of Ethernet. */
static size_t put_headers(bool big)
{
	size_t len = 0;

	put(&len, 0x0a0d0d0a, 4, big);
	put(&len, 28, 4, big);
	put(&len, 0x1a2b3c4d, 4, big);
	put(&len, 1, 2, big);
	put(&len, 0, 2, big);
	put(&len, UINT64_MAX, 8, big);
	put(&len, 28, 4, big);
	put(&len, 1, 4, big);
	put(&len, 20, 4, big);
	put(&len, 1, 2, big);
	put(&len, 0, 2, big);
	put(&len, 0, 4, big);
	put(&len, 20, 4, big);
	return len;
}

static struct seen copy(const uint8_t *data, size_t size)
{
	struct seen s = {.hash = 1};
	FILE *in = fmemopen((void *)(uintptr_t)data, size, "rb");
	struct vs_io_error err, closing;
	struct vs_copy *c;
	struct vs_frame f;
	int ret;

	require(in != NULL);
	c = vs_copy_open_stream(in, "fuzz", path, "Fuzz: ", &err);
	if (c == NULL) {
		require(strncmp(err.text, "fuzz: ", 6) == 0);
		return s;
	}
	s.opened = true;
	while ((ret = vs_copy_next(c, &f, &err)) == 1) {
		require(f.wirelen >= f.caplen);
		s.frames++;
		mix(&s, &f.time_ns, sizeof(f.time_ns));
		mix(&s, &f.wirelen, sizeof(f.wirelen));
		mix(&s, f.data, f.caplen);
		if (s.frames & 1)
			require(vs_copy_comment(c, "odd") == VS_OK);
	}
	s.clean = ret == 0;
	require(ret == 0 || strncmp(err.text, "fuzz: ", 6) == 0);
	require(vs_copy_close(c, &closing) == VS_OK);
	return s;
}

static size_t load(uint8_t *to, size_t cap)
{
	FILE *f = fopen(path, "rb");
	size_t n;

	require(f != NULL);
	n = fread(to, 1, cap, f);
	fclose(f);
	unlink(path);
	require(n < cap);
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const bool capture = vs_stream_is_pcap(data, size) || (size >= 2 && memcmp(data, "\x1f\x8b", 2) == 0) ||
			     (size >= 4 && memcmp(data, "\x0a\x0d\x0d\x0a", 4) == 0);
	struct seen a, b;
	size_t len = 0, n;

	if (size == 0 || size > MAX_LEN)
		return 0;
	if (path[0] == '\0')
		(void)snprintf(path, sizeof(path), "/dev/shm/verbscope-fuzz-%ld", (long)getpid());
	if (!capture)
		len = put_headers(data[0] & 1);
	memcpy(file + len, data + !capture, size - !capture);
	a = copy(file, len + size - !capture);
	if (!a.opened)
		return 0;
	n = load(first, sizeof(first));
	b = copy(first, n);
	require(b.opened == (n > 0) && (b.clean || n == 0));
	require(n == 0 || (a.frames == b.frames && a.hash == b.hash));
	require(n == 0 || (load(second, sizeof(second)) == n && memcmp(first, second, n) == 0));
	return 0;
}
