/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* words.c - the word that was meant: the one that the fewest letters put in, left out or changed make of it. */
#include <string.h>

#include "cli/cli.h"

static size_t distance(const char *a, const char *b)
{
	size_t row[33], n = strlen(b);

	if (n > 32 || strlen(a) > 32)
		return 99;
	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 0; a[i]; i++) {
		size_t diag = row[0]++;

		for (size_t j = 0; j < n; j++) {
			size_t best = diag + (a[i] != b[j]);

			diag = row[j + 1];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (diag + 1 < best)
				best = diag + 1;
			row[j + 1] = best;
		}
	}
	return row[n];
}

const char *vs_cli_nearest(const char *text, const char *const *words)
{
	const char *best = NULL;
	size_t least = 3;

	for (; *words; words++) {
		size_t d = distance(text, *words);

		if (d < least) {
			least = d;
			best = *words;
		}
	}
	return best;
}
