/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * fuzz_capture.c - libFuzzer target: a capture file from anyone. Whatever the bytes are, reading
 * ends, gives frames whose bytes can be read, and says one clear line when something is wrong; and
 * the same file gzipped gives the same frames.
 *
 * Bytes that begin like a capture are taken as they are. Others get a header in front, chosen by
 * their first byte, so that every link type and both formats are reached soon.
 */
#include <zlib.h>

#include "fuzz_file.h"

#define MAX_LEN (1u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- the file ---- */

static uint8_t file[MAX_LEN + 64], packed[2 * MAX_LEN];

static size_t put_header(uint8_t choice)
{
	static const unsigned linktypes[] = {1, 113, 276, 101, 228, 229, 197, 247};
	unsigned linktype = linktypes[choice & 7];
	bool big = choice & 8;
	size_t len = 0;

	if (choice & 16)
		return put_pcapng(file, linktype, big);
	put(file, &len, choice & 32 ? 0xa1b23c4d : 0xa1b2c3d4, 4, big);
	put(file, &len, 2, 2, big);
	put(file, &len, 4, 2, big);
	put(file, &len, 0, 4, big);
	put(file, &len, 0, 4, big);
	put(file, &len, 65535, 4, big);
	put(file, &len, linktype, 4, big);
	return len;
}

/* ---- reading it ---- */

static void check_line(const struct vs_io_error *err)
{
	require(strncmp(err->text, "fuzz: ", 6) == 0 && strlen(err->text) > 20);
	for (const char *p = err->text; *p; p++)
		require((unsigned char)*p >= 0x20);
}

static struct seen read_all(const uint8_t *data, size_t size)
{
	struct seen s = {.hash = 1};
	FILE *in = fmemopen((void *)(uintptr_t)data, size, "rb");
	struct vs_io_error err, again;
	struct vs_capture *c;
	struct vs_frame f;
	struct vs_pkt p;
	int ret;

	require(in != NULL);
	c = vs_capture_open_stream(in, "fuzz", &err);
	if (!c) {
		check_line(&err);
		return s;
	}
	s.opened = true;
	while ((ret = vs_capture_next(c, &f, &err)) == 1) {
		/* What is no packet has a number, too, in a pcapng. */
		require(f.number > s.frames && f.wirelen >= f.caplen && err.text[0] == '\0');
		s.frames = f.number;
		mix(&s, &f.time_ns, sizeof(f.time_ns));
		mix(&s, &f.wirelen, sizeof(f.wirelen));
		mix(&s, &f.ethertype, sizeof(f.ethertype));
		mix(&s, f.data, f.caplen);
		vs_pkt_parse(&p, f.link, f.ethertype, f.data, f.caplen, f.wirelen, 0);
	}
	s.clean = ret == 0;
	require(vs_capture_stats(c).frames == s.frames);
	if (ret != 0) {
		check_line(&err);
		require(err.frame > s.frames);
	}
	require(vs_capture_next_pkt(c, &f, &p, 0, &again) == ret && strcmp(again.text, err.text) == 0);
	vs_capture_close(c);
	return s;
}

static size_t gzip(const uint8_t *data, size_t size)
{
	z_stream z = {0};

	require(deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
	z.next_in = (Bytef *)(uintptr_t)data;
	z.avail_in = (uInt)size;
	z.next_out = packed;
	z.avail_out = sizeof(packed);
	require(deflate(&z, Z_FINISH) == Z_STREAM_END);
	deflateEnd(&z);
	return sizeof(packed) - z.avail_out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct seen plain, zipped;
	size_t len = 0;

	if (size == 0 || size > MAX_LEN)
		return 0;
	if (!begins_like_a_capture(data, size))
		len = put_header(data[0]);
	memcpy(file + len, data + (len ? 1 : 0), size - (len ? 1 : 0));
	len += size - (len ? 1 : 0);
	plain = read_all(file, len);
	if (file[0] == 0x1f) /* gzipped twice is refused */
		return 0;
	zipped = read_all(packed, gzip(file, len));
	require(plain.opened == zipped.opened && plain.clean == zipped.clean);
	require(plain.frames == zipped.frames && plain.hash == zipped.hash);
	return 0;
}
