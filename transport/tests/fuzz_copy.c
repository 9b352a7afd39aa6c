/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * fuzz_copy.c - libFuzzer target: a capture file from anyone is copied with comments. Whatever the bytes are, the copy
 * holds the same frames with the same bytes and times, can be read to its end, and a copy of it is the same again.
 *
 * Bytes that begin like a capture are taken as they are; others become the blocks of a pcapng section whose byte order
 * the first byte decides.
 */
#include <unistd.h>

#include "fuzz_file.h"

#define MAX_LEN (1u << 16)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t file[MAX_LEN + 128], first[8 * MAX_LEN + 65536], second[8 * MAX_LEN + 65536];
static char path[64];

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
	const bool capture = begins_like_a_capture(data, size);
	struct seen a, b;
	size_t len = 0, n;

	if (size == 0 || size > MAX_LEN)
		return 0;
	if (path[0] == '\0')
		(void)snprintf(path, sizeof(path), "/dev/shm/verbscope-fuzz-%ld", (long)getpid());
	if (!capture)
		len = put_pcapng(file, 1, data[0] & 1);
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
