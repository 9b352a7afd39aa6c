/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* mutant.h - included by the sources that mutate.c has written: is fault n the one to commit? */
#ifndef VS_TESTS_MUTANT_H
#define VS_TESTS_MUTANT_H

#include <stdbool.h>
#include <stddef.h>

extern unsigned vs_mutant;            /* 0: none */
extern unsigned char *vs_mutant_seen; /* not NULL: one byte per fault, set where execution came by */

static inline bool vs_mut(unsigned n)
{
	if (vs_mutant_seen != NULL)
		vs_mutant_seen[n] = 1;
	return vs_mutant == n;
}

#endif
