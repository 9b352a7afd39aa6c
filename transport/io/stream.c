/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * stream.c - the bytes of a capture file, gzip taken off, as a FILE that libpcap reads.
 *
 * Everything that was readable before a fault is delivered before the fault is: a gzip file that
 * was cut short still gives all the frames that are in it.
 */
#define _GNU_SOURCE /* fopencookie */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "io/internal.h"

#define IN_SIZE 65536

enum member { MEMBER_NONE, MEMBER_OPEN, MEMBER_DONE };

struct vs_stream {
	FILE *in;
	bool gzipped, padding; /* padding: zero bytes after the last gzip member were seen */
	enum member member;
	z_stream z;
	uint8_t buf[IN_SIZE];
	size_t pos, len; /* unread input: buf[pos..len) */
	uint8_t head[VS_STREAM_HEAD];
	size_t head_pos, head_len;
	char fault[128];
};

__attribute__((format(printf, 2, 3))) static int fault(struct vs_stream *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(s->fault, sizeof(s->fault), fmt, ap);
	va_end(ap);
	return -1;
}

/*
 * Bytes that were read, 0: end of file, -1: fault. What a descriptor has is taken as it comes,
 * so that the frames of a live pipe are not held back until 64 KiB are together.
 */
static ssize_t take(struct vs_stream *s, uint8_t *out, size_t size)
{
	int fd = fileno(s->in);
	ssize_t n;

	if (fd >= 0) {
		do
			n = read(fd, out, size);
		while (n < 0 && errno == EINTR);
	} else { /* a stream in memory */
		n = (ssize_t)fread(out, 1, size, s->in);
	}
	if (n < 0)
		return fault(s, "reading failed (%s): check the disk or the network share", strerror(errno));
	return n;
}

/* 1: there is unread input; 0: end of file; -1: fault. */
static int fill(struct vs_stream *s)
{
	ssize_t n;

	if (s->pos < s->len)
		return 1;
	s->pos = s->len = 0;
	n = take(s, s->buf, sizeof(s->buf));
	if (n < 0)
		return -1;
	s->len = (size_t)n;
	return n > 0;
}

static size_t read_plain(struct vs_stream *s, uint8_t *out, size_t size)
{
	size_t n;

	if (s->pos == s->len && size >= sizeof(s->buf)) { /* nothing is gained by going over the buffer */
		ssize_t got = take(s, out, size);

		return got > 0 ? (size_t)got : 0;
	}
	if (fill(s) != 1)
		return 0;
	n = s->len - s->pos < size ? s->len - s->pos : size;
	memcpy(out, s->buf + s->pos, n);
	s->pos += n;
	return n;
}

/* Between gzip members: 1 when another one begins, 0 at the end, -1 for a fault. */
static int next_member(struct vs_stream *s)
{
	int more;

	while ((more = fill(s)) == 1) {
		if (s->buf[s->pos] == 0) { /* tape drives and some copiers pad with zeros */
			s->padding = true;
			s->pos++;
			continue;
		}
		if (s->buf[s->pos] != 0x1f || s->padding)
			return fault(s, "bytes that are not gzip follow the gzip data: copy the file again");
		s->member = MEMBER_OPEN;
		inflateReset(&s->z);
		return 1;
	}
	return more;
}

static size_t read_gzip(struct vs_stream *s, uint8_t *out, size_t size)
{
	s->z.next_out = out;
	s->z.avail_out = (uInt)size;
	/* until the buffer is full, or something is there and more would have to be waited for */
	while (s->z.avail_out > 0 && s->fault[0] == '\0' && (s->z.avail_out == size || s->pos < s->len)) {
		int ret;

		if (s->member == MEMBER_DONE && next_member(s) != 1)
			break;
		ret = fill(s);
		if (ret == 0)
			fault(s, "the gzip data ends early: copy the file again");
		if (ret != 1)
			break;
		s->z.next_in = s->buf + s->pos;
		s->z.avail_in = (uInt)(s->len - s->pos);
		ret = inflate(&s->z, Z_NO_FLUSH);
		s->pos = s->len - s->z.avail_in;
		if (ret == Z_STREAM_END)
			s->member = MEMBER_DONE;
		else if (ret != Z_OK)
			fault(s, "the gzip data is damaged (%s): copy the file again",
			      s->z.msg             ? s->z.msg
			      : ret == Z_MEM_ERROR ? "no memory"
						   : "no reason given");
	}
	return size - s->z.avail_out;
}

/* At least one byte, or 0 at the end of file or before a fault. */
static size_t read_body(struct vs_stream *s, uint8_t *out, size_t size)
{
	if (s->fault[0] != '\0' || size == 0)
		return 0;
	return s->gzipped ? read_gzip(s, out, size) : read_plain(s, out, size);
}

static ssize_t cookie_read(void *cookie, char *out, size_t size)
{
	struct vs_stream *s = cookie;
	size_t n;

	if (size > 1u << 30) /* zlib counts in unsigned int */
		size = 1u << 30;
	if (s->head_pos < s->head_len) {
		n = s->head_len - s->head_pos < size ? s->head_len - s->head_pos : size;
		memcpy(out, s->head + s->head_pos, n);
		if (vs_stream_is_pcap(s->head, s->head_len)) /* the snap length: see internal.h */
			for (size_t i = 16; i < 20; i++)
				if (i >= s->head_pos && i < s->head_pos + n)
					out[i - s->head_pos] = 0;
		s->head_pos += n;
		return (ssize_t)n;
	}
	n = read_body(s, (uint8_t *)out, size);
	if (n == 0 && s->fault[0] != '\0') {
		errno = EIO;
		return -1;
	}
	return (ssize_t)n;
}

bool vs_stream_is_pcap(const uint8_t *head, size_t len)
{
	static const uint8_t magic[][4] = {
		{0xa1, 0xb2, 0xc3, 0xd4}, {0xd4, 0xc3, 0xb2, 0xa1}, /* microseconds */
		{0xa1, 0xb2, 0x3c, 0x4d}, {0x4d, 0x3c, 0xb2, 0xa1}, /* nanoseconds */
		{0xa1, 0xb2, 0xcd, 0x34}, {0x34, 0xcd, 0xb2, 0xa1}, /* a patch of 1999, longer records */
	};

	for (size_t i = 0; len >= 4 && i < sizeof(magic) / sizeof(magic[0]); i++)
		if (memcmp(head, magic[i], 4) == 0)
			return true;
	return false;
}

struct vs_stream *vs_stream_new(FILE *in)
{
	struct vs_stream *s = calloc(1, sizeof(*s));
	size_t n;

	if (!s)
		return NULL;
	s->in = in;
	if (fill(s) == 1 && s->len >= 2 && s->buf[0] == 0x1f && s->buf[1] == 0x8b) {
		if (inflateInit2(&s->z, 15 + 16) != Z_OK) { /* 16: a gzip header, not a zlib one */
			free(s);
			return NULL;
		}
		s->gzipped = true;
		s->member = MEMBER_OPEN;
	}
	do {
		n = read_body(s, s->head + s->head_len, sizeof(s->head) - s->head_len);
		s->head_len += n;
	} while (n > 0);
	return s;
}

const uint8_t *vs_stream_head(const struct vs_stream *s, size_t *len)
{
	*len = s->head_len;
	return s->head;
}

bool vs_stream_gzipped(const struct vs_stream *s)
{
	return s->gzipped;
}

FILE *vs_stream_file(struct vs_stream *s)
{
	cookie_io_functions_t io = {.read = cookie_read};
	FILE *f = fopencookie(s, "r", io);

	if (f)
		(void)setvbuf(f, NULL, _IOFBF, IN_SIZE);
	return f;
}

const char *vs_stream_fault(const struct vs_stream *s)
{
	return s->fault[0] != '\0' ? s->fault : NULL;
}

void vs_stream_free(struct vs_stream *s)
{
	if (!s)
		return;
	if (s->gzipped)
		inflateEnd(&s->z);
	free(s);
}
