/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * fuzz_spool.c - libFuzzer on what a recorder leaves on the disk, the spool and the ring of a program that was killed:
 * whatever stands in them, it becomes a .vst of which every line is an event, or a message.
 *
 * An input is a spool; its last byte says how many words of its end stand in a ring instead. Its head is made right,
 * save in one input of sixteen: else few would get beyond it. So is the first chunk's, save in one of eight.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../recorder/rec.h"
#include "../spool.h"
#include "vs/vst.h"

#define RING_BYTES (sizeof(struct rec_ring) + REC_RING_WORDS * sizeof(uint64_t))
#define PID 7

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char dir[64];

static void require(bool ok)
{
	if (!ok)
		abort();
}

static int create(const char *name)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	require(fd >= 0);
	return fd;
}

static void remove_dir(void)
{
	(void)rmdir(dir);
}

/* Where files are memory, if there is such a place. */
static void make_dir(void)
{
	if (dir[0] != '\0')
		return;
	snprintf(dir, sizeof(dir), "/dev/shm/fuzz_spool.XXXXXX");
	if (mkdtemp(dir) == NULL) {
		snprintf(dir, sizeof(dir), "/tmp/fuzz_spool.XXXXXX");
		require(mkdtemp(dir) != NULL);
	}
	require(atexit(remove_dir) == 0);
}

static void write_spool(const uint8_t *data, size_t size)
{
	int fd = create("rec-7.spool");
	struct rec_chunk c;
	struct rec_head h;

	if (size >= sizeof(h) && data[0] % 16 != 0) {
		memcpy(&h, data, sizeof(h));
		h.magic = REC_MAGIC;
		h.size = sizeof(struct rec);
		h.pid = PID;
		require(write(fd, &h, sizeof(h)) == (ssize_t)sizeof(h));
		data += sizeof(h);
		size -= sizeof(h);
	}
	if (size >= sizeof(c) && data[0] % 8 != 0) {
		memcpy(&c, data, sizeof(c));
		c.magic = (c.magic >> 24) % 2 != 0 ? REC_CHUNK_MAGIC : REC_SQUEEZED_MAGIC;
		c.words &= 0xff;
		c.bytes &= 0x3ff;
		c.ring = c.ring % 4 != 3 ? c.ring % 4 : REC_OWN;
		require(write(fd, &c, sizeof(c)) == (ssize_t)sizeof(c));
		data += sizeof(c);
		size -= sizeof(c);
	}
	require(write(fd, data, size) == (ssize_t)size);
	close(fd);
}

/* n words, at the end of the ring and round it; the counters are not always true. */
static void write_ring(const uint8_t *words, size_t n, uint8_t how)
{
	struct rec_ring h = {.magic = REC_MAGIC, .words = REC_RING_WORDS};
	int fd = create("rec-7-0.ring");

	h.tail = REC_RING_WORDS - 2;
	h.head = h.tail + n + (how & 16 ? 3 : 0) + (how & 32 ? REC_RING_WORDS : 0) - (how & 64 ? n + 1 : 0);
	h.error = how & 128 ? ENOSPC : 0;
	h.unwritten = how & 128 ? n : 0;
	require(ftruncate(fd, (off_t)RING_BYTES) == 0 && pwrite(fd, &h, sizeof(h), 0) == (ssize_t)sizeof(h));
	for (size_t i = 0; i < n; i++) {
		size_t at = (REC_RING_WORDS - 2 + i) % REC_RING_WORDS;

		require(pwrite(fd, words + i * sizeof(uint64_t), sizeof(uint64_t),
			       (off_t)(offsetof(struct rec_ring, word) + at * sizeof(uint64_t))) ==
			(ssize_t)sizeof(uint64_t));
	}
	close(fd);
}

static void read_back(const char *path)
{
	struct vs_vst_error err;
	struct vs_vst_reader *r;
	struct vs_event ev;
	FILE *f = fopen(path, "r");
	int rc;

	require(f != NULL);
	r = vs_vst_open(f, &err);
	require(r != NULL);
	while ((rc = vs_vst_next(r, &ev, &err)) == 1)
		require(ev.type != VS_EV_NONE);
	if (rc < 0)
		fprintf(stderr, "line %llu: %s\n", (unsigned long long)err.line, err.text);
	require(rc == 0 && !vs_vst_cut(r));
	vs_vst_close(r);
	fclose(f);
}

/* Reads what is there, and leaves nothing. */
static unsigned sweep(void)
{
	DIR *d = opendir(dir);
	char path[512];
	unsigned vst = 0;
	const struct dirent *e;

	require(d != NULL);
	while ((e = readdir(d)) != NULL) {
		size_t n = strlen(e->d_name);

		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		require(n < 5 || strcmp(e->d_name + n - 5, ".part") != 0);
		if (n > 4 && strcmp(e->d_name + n - 4, ".vst") == 0) {
			read_back(path);
			vst++;
		}
		(void)unlink(path);
	}
	closedir(d);
	return vst;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct vt_spool_result out[4];
	char err[512] = "";
	size_t in_ring;
	int n;

	if (size == 0)
		return 0;
	make_dir();
	in_ring = data[size - 1] & 15;
	if (in_ring * sizeof(uint64_t) > size - 1)
		in_ring = 0;
	write_spool(data, size - 1 - in_ring * sizeof(uint64_t));
	if (in_ring > 0)
		write_ring(data + size - 1 - in_ring * sizeof(uint64_t), in_ring, data[size - 1]);
	n = vt_spool_convert(dir, out, sizeof(out) / sizeof(out[0]), err, sizeof(err));
	require(n == 1 || (n == -1 && err[0] != '\0'));
	require(sweep() == (n == 1 ? 1u : 0u));
	return 0;
}
