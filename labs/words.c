/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * words.c - {name} in texts of a lab: numbers that differ from learner to learner. The lab's file `vars` has lines
 *
 *   rate pick 25 100 200 400        one of these
 *   len  range 1500 4000            a number from here to there
 *   size mod 1500 4000              the first number, and the seed modulo the second: what a program can compute, too
 *
 * {seed} is the learner's seed.
 */
#include <stdlib.h>
#include <string.h>

#include "vslab.h"

static uint64_t draw(uint32_t seed, const char *name)
{
	uint64_t x = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;

	for (; *name != '\0'; name++)
		x = (x ^ (uint8_t)*name) * UINT64_C(0x100000001b3);
	x ^= x >> 29;
	return x * UINT64_C(0xbf58476d1ce4e5b9) >> 16;
}

/* The value that a line "NAME pick|range ..." gives. */
static void value_of(char *line, uint64_t drawn, uint32_t seed, char out[32])
{
	char *save = NULL, *how = strtok_r(line, " \t", &save), *word[32];
	unsigned n = 0;

	while (n < 32 && (word[n] = strtok_r(NULL, " \t", &save)) != NULL)
		n++;
	if (how != NULL && strcmp(how, "range") == 0 && n == 2) {
		unsigned long long a = strtoull(word[0], NULL, 0), b = strtoull(word[1], NULL, 0);

		(void)snprintf(out, 32, "%llu", a + drawn % (b - a + 1));
	} else if (how != NULL && strcmp(how, "mod") == 0 && n == 2) {
		(void)snprintf(out, 32, "%llu", strtoull(word[0], NULL, 0) + seed % strtoull(word[1], NULL, 0));
	} else if (n > 0) {
		(void)snprintf(out, 32, "%s", word[drawn % n]);
	}
}

static void lookup(const char *vars, uint32_t seed, const char *name, size_t len, char out[32])
{
	char key[32], line[256];

	(void)snprintf(key, sizeof(key), "%.*s", (int)len, name);
	(void)snprintf(out, 32, "{%.28s}", key);
	if (strcmp(key, "seed") == 0)
		(void)snprintf(out, 32, "%u", seed);
	for (const char *at = vars; at != NULL && *at != '\0';) {
		size_t n = strcspn(at, "\n");

		if (n > len && n < sizeof(line) && memcmp(at, key, len) == 0 && (at[len] == ' ' || at[len] == '\t')) {
			(void)snprintf(line, sizeof(line), "%.*s", (int)(n - len), at + len);
			value_of(line, draw(seed, key), seed, out);
			return;
		}
		at += n + (at[n] == '\n');
	}
}

char *vl_fill(const struct vl_lab *lab, uint32_t seed, const char *text)
{
	char path[PATH_MAX], *vars, *out = NULL;
	size_t cap = strlen(text) * 2 + 4096, n = 0;

	(void)snprintf(path, sizeof(path), "%.*s/vars", PATH_MAX - 8, lab->dir);
	vars = vl_read(path, NULL);
	out = malloc(cap);
	while (out != NULL && *text != '\0' && n + 40 < cap) {
		size_t len = *text == '{' ? strcspn(text + 1, "}{ \n") : 0;
		char value[32];

		if (len == 0 || text[len + 1] != '}') {
			out[n++] = *text++;
			continue;
		}
		lookup(vars, seed, text + 1, len, value);
		n += (size_t)snprintf(out + n, cap - n, "%s", value);
		text += len + 2;
	}
	if (out != NULL)
		out[n] = '\0';
	free(vars);
	return out;
}
