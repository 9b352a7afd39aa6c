/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * capfile.h - capture files made byte by byte, for the tests of transport/io: what they check must
 * not come from the writer that they check.
 */
#ifndef VS_TESTS_CAPFILE_H
#define VS_TESTS_CAPFILE_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "runner.h"
#include "vs/pktio.h"

/* ---- a packet: the RoCEv2 ACK of spec vectors, 10.0.0.1 -> 10.0.0.2, QP 0x12, PSN 255 ---- */

static const uint8_t ack_ipv4[48] = {
	0x45, 0x02, 0x00, 0x30, 0x00, 0x00, 0x40, 0x00, /* IPv4: ECT(0), 48 bytes, DF */
	0x40, 0x11, 0x26, 0xb9, 10,   0,    0,    1,    /* TTL 64, UDP, checksum, source */
	10,   0,    0,    2,                            /* destination */
	0xc1, 0x23, 0x12, 0xb7, 0x00, 0x1c, 0x00, 0x00, /* UDP: 0xc123 -> 4791, 28 bytes, checksum 0 */
	0x11, 0x40, 0xff, 0xff, 0x00, 0x00, 0x00, 0x12, /* BTH: Acknowledge, M, P_Key, DestQP */
	0x00, 0x00, 0x00, 0xff, 0x1f, 0x00, 0x00, 0x01, /* PSN 255; AETH: ACK, MSN 1 */
	0x21, 0xdc, 0x69, 0xfc,                         /* ICRC */
};

/* The same as native IB: LRH (LNH local, LID 1 -> 2, 7 words), BTH, AETH, ICRC (0), VCRC (0). */
static const uint8_t ack_ib[30] = {
	0x00, 0x02, 0x00, 0x02, 0x00, 0x07, 0x00, 0x01, 0x11, 0x40, 0xff, 0xff, 0x00, 0x00, 0x00,
	0x12, 0x00, 0x00, 0x00, 0xff, 0x1f, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
};

static const uint8_t eth_ipv4[14] = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x08, 0x00};

/* ---- a growing file in memory ---- */

struct file {
	bool big; /* byte order of the integers that are put */
	size_t len;
	uint8_t b[1 << 16];
};

static inline void put(struct file *f, const void *data, size_t n)
{
	ck_assert(f->len + n <= sizeof(f->b));
	if (n)
		memcpy(f->b + f->len, data, n);
	f->len += n;
}

/* An integer of 1 to 8 bytes, in the byte order of the file. */
static inline void put_int(struct file *f, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++) {
		uint8_t b = (uint8_t)(v >> 8 * (f->big ? bytes - 1 - i : i));

		put(f, &b, 1);
	}
}

static inline void put_zeros(struct file *f, unsigned n)
{
	while (n-- > 0)
		put(f, "", 1);
}

#define PCAP_US 0xa1b2c3d4u
#define PCAP_NS 0xa1b23c4du

static inline void put_pcap_header(struct file *f, uint32_t magic, uint32_t linktype)
{
	put_int(f, magic, 4);
	put_int(f, 2, 2); /* version 2.4 */
	put_int(f, 4, 2);
	put_int(f, 0, 8);     /* time zone and accuracy: unused */
	put_int(f, 65535, 4); /* snap length */
	put_int(f, linktype, 4);
}

static inline void put_pcap_record(struct file *f, uint32_t sec, uint32_t frac, const void *data, size_t caplen,
				   size_t wirelen)
{
	put_int(f, sec, 4);
	put_int(f, frac, 4);
	put_int(f, caplen, 4);
	put_int(f, wirelen, 4);
	put(f, data, caplen);
}

/* Section header block of pcapng. */
static inline void put_shb(struct file *f)
{
	put_int(f, 0x0a0d0d0a, 4);
	put_int(f, 28, 4);
	put_int(f, 0x1a2b3c4d, 4);
	put_int(f, 1, 2); /* version 1.0 */
	put_int(f, 0, 2);
	put_int(f, UINT64_MAX, 8); /* section length: unknown */
	put_int(f, 28, 4);
}

/* Interface description block; time stamps in units of 10^-tsresol s. */
static inline void put_idb(struct file *f, uint16_t linktype, uint32_t snaplen, uint8_t tsresol)
{
	put_int(f, 1, 4);
	put_int(f, 32, 4);
	put_int(f, linktype, 2);
	put_int(f, 0, 2);
	put_int(f, snaplen, 4);
	put_int(f, 9, 2); /* option if_tsresol, 1 byte and 3 of padding */
	put_int(f, 1, 2);
	put(f, &tsresol, 1);
	put(f, "\0\0\0", 3);
	put_int(f, 0, 4); /* end of options */
	put_int(f, 32, 4);
}

/* Enhanced packet block. */
static inline void put_epb(struct file *f, uint32_t interface, uint64_t ts, const void *data, size_t caplen,
			   size_t wirelen)
{
	size_t pad = (4 - caplen % 4) % 4;

	put_int(f, 6, 4);
	put_int(f, 32 + caplen + pad, 4);
	put_int(f, interface, 4);
	put_int(f, ts >> 32, 4);
	put_int(f, ts & 0xffffffff, 4);
	put_int(f, caplen, 4);
	put_int(f, wirelen, 4);
	put(f, data, caplen);
	put(f, "\0\0\0", pad);
	put_int(f, 32 + caplen + pad, 4);
}

/* ---- files on disk ---- */

static char dir[256]; /* of the running test; made and removed by the fixture */

static inline void make_dir(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(dir, sizeof(dir), "%s/verbscope-test-XXXXXX", tmp && strlen(tmp) < 200 ? tmp : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(dir));
}

static inline unsigned count_files(void)
{
	DIR *d = opendir(dir);
	unsigned n = 0;

	ck_assert_ptr_nonnull(d);
	for (struct dirent *e = readdir(d); e; e = readdir(d))
		n += e->d_name[0] != '.' || strlen(e->d_name) > 2;
	closedir(d);
	return n;
}

static inline void remove_dir(void)
{
	char path[512];
	DIR *d;

	chmod(dir, 0700);
	d = opendir(dir);
	for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		if (unlink(path) != 0)
			rmdir(path);
	}
	if (d)
		closedir(d);
	rmdir(dir);
}

/* A path in the directory of the test; good until the eighth call after this one. */
static inline const char *in_dir(const char *name)
{
	static char paths[8][512];
	static unsigned next;
	char *p = paths[next++ % 8];

	snprintf(p, sizeof(paths[0]), "%s/%s", dir, name);
	return p;
}

static inline const char *save_bytes(const char *name, const uint8_t *b, size_t len)
{
	const char *path = in_dir(name);
	FILE *f = fopen(path, "wb");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(b, 1, len, f), len);
	ck_assert_int_eq(fclose(f), 0);
	return path;
}

static inline const char *save(const char *name, const struct file *f)
{
	return save_bytes(name, f->b, f->len);
}

static inline size_t load_bytes(const char *path, uint8_t *b, size_t cap)
{
	FILE *f = fopen(path, "rb");
	size_t n;

	ck_assert_ptr_nonnull(f);
	n = fread(b, 1, cap, f);
	fclose(f);
	ck_assert_uint_lt(n, cap);
	return n;
}

/* `in` as one gzip member; deflated without compression, so that a cut hits every kind of byte. */
static inline void gzip_bytes(struct file *out, const uint8_t *in, size_t len, int level)
{
	z_stream z = {0};

	ck_assert_int_eq(deflateInit2(&z, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = (Bytef *)(uintptr_t)in;
	z.avail_in = (uInt)len;
	z.next_out = out->b + out->len;
	z.avail_out = (uInt)(sizeof(out->b) - out->len);
	ck_assert_int_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
	out->len = sizeof(out->b) - z.avail_out;
	deflateEnd(&z);
}

static inline struct vs_capture *open_good(const char *path)
{
	struct vs_io_error err;
	struct vs_capture *c = vs_capture_open(path, &err);

	ck_assert_msg(c != NULL, "%s", err.text);
	ck_assert_str_eq(err.text, "");
	return c;
}

/* Reads to the end; the number of frames. `ret` and `err` are the last answer. */
static inline uint64_t read_all(struct vs_capture *c, int *ret, struct vs_io_error *err)
{
	struct vs_frame f;
	uint64_t n = 0;

	while ((*ret = vs_capture_next(c, &f, err)) == 1)
		ck_assert_uint_eq(f.number, ++n);
	return n;
}

#endif
