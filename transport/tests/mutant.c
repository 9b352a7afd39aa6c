/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * mutant.c - linked into every test program of `make mutants`, into nothing else.
 *
 * VS_MUTANT=n in the environment commits fault n. VS_MUTANT_SEEN=FILE notes which faults the program comes by: one
 * byte each, shared with children. A failed assertion ends the program at once: what comes after it says nothing new.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mutant.h"

#define SEEN_BYTES 65536

unsigned vs_mutant;
unsigned char *vs_mutant_seen;

static void see(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
	void *p = MAP_FAILED;

	if (fd >= 0 && ftruncate(fd, SEEN_BYTES) == 0)
		p = mmap(NULL, SEEN_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED) {
		perror(path);
		exit(2);
	}
	vs_mutant_seen = p;
	close(fd);
}

__attribute__((constructor)) static void choose(void)
{
	const char *number = getenv("VS_MUTANT"), *seen = getenv("VS_MUTANT_SEEN");

	if (number != NULL)
		vs_mutant = (unsigned)strtoul(number, NULL, 10);
	if (seen != NULL)
		see(seen);
}

/* In the place of Check's (linked with --wrap). */
_Noreturn void __wrap__ck_assert_failed(const char *file, int line, const char *expr, const char *msg, ...);

void __wrap__ck_assert_failed(const char *file, int line, const char *expr, const char *msg, ...)
{
	va_list ap;

	fprintf(stderr, "%s:%d: %s: ", file, line, expr);
	if (msg != NULL) {
		va_start(ap, msg);
		vfprintf(stderr, msg, ap);
		va_end(ap);
	}
	fprintf(stderr, "\n");
	_exit(1);
}
