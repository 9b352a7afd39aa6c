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
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "vs/vst.h"

#define FILE_HEADER 24
#define RECORD_HEADER 16

static const char *program; /* that speaks */

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
		if (next > size || get32(h + 12) == 0) /* no frame is empty: behind the last one are zeros */
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
		fprintf(stderr, "%s: %s: an earlier run that was killed left it: it stays as it is\n", program, part);
	else if (end >= 0 && cut_and_rename(fd, &st, end, part, path))
		fprintf(stderr, "%s: %s: the program was killed: the end may be missing\n", program, path);
	else
		(void)unlink(part);
	close(fd);
}

static void keep_capture(const char *part, const char *path)
{
	keep(part, path, whole_capture);
}

/* The lines of what is packed; NULL: it can't be done. */
static char *lines_of(const char *part, int fd, const struct stat *st)
{
	size_t len = strlen(part) + 8;
	char *text = malloc(len);
	void *data = mmap(NULL, (size_t)st->st_size, PROT_READ, MAP_SHARED, fd, 0);
	int out = -1;
	FILE *f = NULL;
	bool ok = false;

	if (text != NULL && data != MAP_FAILED) {
		snprintf(text, len, "%s.text", part); /* where the program itself would have begun with it */
		out = open(text, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		f = out >= 0 ? fdopen(out, "w") : NULL;
		ok = f != NULL && vs_unpack(data, (size_t)st->st_size, f) == VS_OK;
		ok = f != NULL && fclose(f) == 0 && ok;
		if (f == NULL && out >= 0)
			close(out);
	}
	if (data != MAP_FAILED)
		(void)munmap(data, (size_t)st->st_size);
	if (ok)
		return text;
	if (out >= 0)
		(void)unlink(text);
	free(text);
	return NULL;
}

/* A trace that was packed, when its program was killed: what is whole of it becomes lines, and those what is kept. */
static void keep_trace(const char *part, const char *path)
{
	int fd = open(part, O_RDONLY | O_CLOEXEC);
	uint64_t magic = 0;
	struct stat st;
	char *text = NULL;

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && pread(fd, &magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
	    vs_is_packed(&magic, sizeof(magic))) {
		const struct timespec times[2] = {st.st_atim, st.st_mtim};

		text = lines_of(part, fd, &st);
		if (text != NULL && utimensat(AT_FDCWD, text, times, 0) == 0 && rename(text, part) != 0)
			(void)unlink(text);
		free(text);
	}
	close(fd);
	keep(part, path, whole_trace);
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

typedef void keep_fn(const char *part, const char *path);

static void salvage_one(const char *part, keep_fn *keep_it)
{
	const char *dot = suffix(part);
	char *path;

	if (dot == NULL || writer_lives(dot))
		return;
	path = strndup(part, (size_t)(dot - part));
	if (path != NULL)
		keep_it(part, path);
	free(path);
}

/* What %p and %n of a trace's name stand for is anything. */
static void salvage(const char *path, bool expands, keep_fn *keep_it)
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
			salvage_one(found.gl_pathv[i], keep_it);
		globfree(&found);
	}
	free(pattern);
}

void vs_cli_salvage_capture(const char *who, const char *path)
{
	program = who;
	salvage(path, false, keep_capture);
}

void vs_cli_salvage_trace(const char *who, const char *path)
{
	program = who;
	salvage(path, true, keep_trace);
}
