/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * salvage.c - a program that is killed can't close its capture or trace: what is whole of it is kept under its name.
 */
#include <fcntl.h>
#include <glob.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "verbs/run/run.h"

#define FILE_HEADER 24
#define RECORD_HEADER 16

static uint32_t get32(const uint8_t *b)
{
	return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* Bytes of a file that are whole records; -1: not even its header. */
typedef off_t whole_fn(int fd, off_t size);

static off_t whole_capture(int fd, off_t size)
{
	off_t at = FILE_HEADER;

	if (size < FILE_HEADER)
		return -1;
	while (at + RECORD_HEADER <= size) {
		uint8_t h[RECORD_HEADER];
		off_t next;

		if (pread(fd, h, sizeof(h), at) != (ssize_t)sizeof(h))
			break;
		next = at + RECORD_HEADER + (off_t)get32(h + 8);
		if (next > size)
			break;
		at = next;
	}
	return at;
}

/* Whole lines. */
static off_t whole_trace(int fd, off_t size)
{
	char c;

	while (size > 0 && (pread(fd, &c, 1, size - 1) != 1 || c != '\n'))
		size--;
	return size > 0 ? size : -1;
}

static bool older(const struct stat *a, const struct stat *b)
{
	if (a->st_mtim.tv_sec != b->st_mtim.tv_sec)
		return a->st_mtim.tv_sec < b->st_mtim.tv_sec;
	return a->st_mtim.tv_nsec < b->st_mtim.tv_nsec;
}

/* What is whole becomes `path`, with the time of its last change: it says which of several is the newest. */
static bool cut_and_rename(int fd, const struct stat *st, off_t end, const char *part, const char *path)
{
	const struct timespec times[2] = {st->st_atim, st->st_mtim};

	return ftruncate(fd, end) == 0 && futimens(fd, times) == 0 && rename(part, path) == 0;
}

/* What an earlier run left must not take the place of what this one wrote. */
static void keep(const char *part, const char *path, whole_fn *whole)
{
	int fd = open(part, O_RDWR | O_CLOEXEC);
	struct stat st, there;
	off_t end;

	if (fd < 0)
		return;
	end = fstat(fd, &st) == 0 ? whole(fd, st.st_size) : -1;
	if (end >= 0 && stat(path, &there) == 0 && older(&st, &there))
		fprintf(stderr, "vs-run: %s: an earlier run that was killed left it: it stays as it is\n", part);
	else if (end >= 0 && cut_and_rename(fd, &st, end, part, path))
		fprintf(stderr, "vs-run: %s: the program was killed: the end may be missing\n", path);
	else
		(void)unlink(part);
	close(fd);
}

/* The dot before "PID-N.part" in PATH.PID-N.part; NULL: it has another name. */
static const char *suffix(const char *part)
{
	const char *dot = strrchr(part, '.'); /* of ".part" */

	while (dot != NULL && dot > part && *--dot != '.')
		;
	return dot != NULL && dot > part && strtol(dot + 1, NULL, 10) > 0 ? dot : NULL;
}

/* Who writes it is in its name. */
static bool writer_lives(const char *dot)
{
	long pid = strtol(dot + 1, NULL, 10);
	char name[64], state = 'X';
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%ld/stat", pid);
	f = fopen(name, "re");
	if (f == NULL)
		return false;
	if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = 'R';
	fclose(f);
	return state != 'Z' && state != 'X';
}

static void salvage_one(const char *part, whole_fn *whole)
{
	const char *dot = suffix(part);
	char *path;

	if (dot == NULL || writer_lives(dot))
		return;
	path = strndup(part, (size_t)(dot - part));
	if (path != NULL)
		keep(part, path, whole);
	free(path);
}

/* What %p and %n of a trace's name stand for is anything. */
static void salvage(const char *path, bool expands, whole_fn *whole)
{
	size_t cap = strlen(path) * 2 + 48, n = 0;
	char *pattern = malloc(cap);
	glob_t found;

	if (pattern == NULL)
		return;
	for (const char *c = path; *c != '\0'; c++) {
		if (expands && c[0] == '%' && (c[1] == 'p' || c[1] == 'n')) {
			pattern[n++] = '*';
			c++;
			continue;
		}
		if (strchr("*?[\\", *c) != NULL)
			pattern[n++] = '\\';
		pattern[n++] = *c;
	}
	snprintf(pattern + n, cap - n, ".[0-9]*-[0-9]*.part");
	if (glob(pattern, 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			salvage_one(found.gl_pathv[i], whole);
		globfree(&found);
	}
	free(pattern);
}

void run_salvage_capture(const char *path)
{
	salvage(path, false, whole_capture);
}

void run_salvage_trace(const char *path)
{
	salvage(path, true, whole_trace);
}
