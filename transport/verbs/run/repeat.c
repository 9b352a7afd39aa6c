/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * repeat.c - the same addresses every time: packets hold them (the virtual address of a RETH), so a capture repeats
 * only when the program's memory lies where it lay. No address space randomization, and a stack that begins at the same
 * place whatever is in the environment.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>

#include "verbs/run/run.h"

#define ROUND 65536u /* environments up to this size are alike */

extern char **environ;

/* What a list takes on the new stack: its strings, and a pointer to each. */
static size_t size_of(char **list, size_t *n)
{
	size_t bytes = 0;

	for (; *list != NULL; list++, ++*n)
		bytes += strlen(*list) + 1;
	return bytes;
}

/* A variable fills up what is missing of ROUND. */
static int fill_up(char **argv)
{
	size_t n = 1, bytes = size_of(argv, &n) + size_of(environ, &n) + strlen("VS_PAD=") + 1, missing;
	char *pad;
	int rc;

	missing = (ROUND - (bytes + n * sizeof(char *)) % ROUND) % ROUND;
	pad = malloc(missing + 1);
	if (pad == NULL)
		return run_fail("no memory");
	memset(pad, '.', missing);
	pad[missing] = '\0';
	rc = setenv("VS_PAD", pad, 1);
	free(pad);
	return rc == 0 ? 0 : run_fail("no memory");
}

int run_same_addresses(char **argv)
{
	size_t n = 1;
	int now = personality(0xffffffff);

	/* Where that is forbidden, everything else repeats. */
	if (now >= 0)
		(void)personality((unsigned long)now | ADDR_NO_RANDOMIZE);
	(void)unsetenv("VS_PAD");
	(void)unsetenv("VS_EVEN");
	(void)size_of(argv, &n);
	(void)size_of(environ, &n);
	/* The kernel copies strings, then pointers, and rounds to 16 bytes after each: an even number of them. */
	if (n % 2 != 0 && setenv("VS_EVEN", "", 1) != 0)
		return run_fail("no memory");
	return fill_up(argv);
}
