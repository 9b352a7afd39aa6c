/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * grow.c - appending through a mapping, a window at a time. Its blocks are allocated before they are written to, so
 * that a full disk is an error here and no SIGBUS later, and its pages are there when the first byte goes in: one stop
 * of a tenth of a millisecond for each window instead of a fault for each page.
 */
#define _GNU_SOURCE /* MAP_POPULATE */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vs/grow.h"

#define WINDOW ((uint64_t)1 << 20)

struct vs_grow {
	int fd;
	dev_t dev; /* a program may have closed our descriptor, and opened a file of its own under that number */
	ino_t ino;
	int error;
	uint8_t *at;   /* the window; NULL: none yet */
	uint64_t from; /* where it begins in the file, a multiple of its size */
	uint64_t end;  /* of what was put */
};

static void unmap(struct vs_grow *g)
{
	if (g->at != NULL)
		(void)munmap(g->at, WINDOW);
	g->at = NULL;
}

/* The window that holds this place. */
static int turn_to(struct vs_grow *g, uint64_t place)
{
	uint64_t from = place & ~(WINDOW - 1);
	struct stat st;
	void *p;
	int rc;

	if (g->at != NULL && g->from == from)
		return 0;
	unmap(g);
	if (fstat(g->fd, &st) != 0 || st.st_dev != g->dev || st.st_ino != g->ino)
		return EBADF;
	do
		rc = posix_fallocate(g->fd, (off_t)from, (off_t)WINDOW);
	while (rc == EINTR);
	if (rc != 0)
		return rc;
	p = mmap(NULL, WINDOW, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, g->fd, (off_t)from);
	rc = errno;
	if (p == MAP_FAILED)
		return rc != 0 ? rc : ENOMEM;
	(void)madvise(p, WINDOW, MADV_DONTDUMP);
	g->at = p;
	g->from = from;
	return 0;
}

struct vs_grow *vs_grow_open(int fd)
{
	struct vs_grow *g = calloc(1, sizeof(*g));
	struct stat st;
	int rc = g == NULL ? ENOMEM : fstat(fd, &st) != 0 ? errno : S_ISREG(st.st_mode) ? 0 : ENODEV;

	if (rc == 0) {
		g->fd = fd;
		g->dev = st.st_dev;
		g->ino = st.st_ino;
		g->end = (uint64_t)st.st_size;
		rc = turn_to(g, g->end);
	}
	if (rc == 0)
		return g;
	if (g != NULL && g->fd == fd)
		(void)!ftruncate(fd, (off_t)g->end);
	free(g);
	errno = rc;
	return NULL;
}

/* Across the end of the window, where that is. */
static int copy(struct vs_grow *g, uint64_t place, const uint8_t *from, size_t n)
{
	while (n > 0) {
		size_t part = (size_t)(WINDOW - (place & (WINDOW - 1)));
		int rc = turn_to(g, place);

		if (rc != 0)
			return rc;
		part = part < n ? part : n;
		memcpy(g->at + (place & (WINDOW - 1)), from, part);
		place += part;
		from += part;
		n -= part;
	}
	return 0;
}

int vs_grow_put(struct vs_grow *g, const void *head, size_t n_head, const void *rest, size_t n_rest)
{
	uint64_t at = g->end;

	if (g->error == 0 && n_rest > 0)
		g->error = copy(g, at + n_head, rest, n_rest);
	atomic_signal_fence(memory_order_release); /* who is killed between the two has no head in the file */
	if (g->error == 0)
		g->error = copy(g, at, head, n_head);
	if (g->error != 0)
		return g->error;
	g->end = at + n_head + n_rest;
	return 0;
}

uint64_t vs_grow_length(const struct vs_grow *g)
{
	return g->end;
}

int vs_grow_close(struct vs_grow *g)
{
	int rc = g->error;
	struct stat st;

	unmap(g);
	if (fstat(g->fd, &st) != 0 || st.st_dev != g->dev || st.st_ino != g->ino)
		rc = rc != 0 ? rc : EBADF;
	else if (ftruncate(g->fd, (off_t)g->end) != 0 && rc == 0)
		rc = errno;
	free(g);
	return rc;
}

void vs_grow_forget(struct vs_grow *g)
{
	if (g == NULL)
		return;
	unmap(g);
	free(g);
}
