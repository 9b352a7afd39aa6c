/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * bench_drill.c - how long scripts take: a thousand of those that are named, over and over, each parsed and run in
 * the simulator with all its vectors. 5 s of one core is what they may take.
 *
 * Usage: bench_drill FILE.drill...
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "figure.h"
#include "vs/drill.h"

#define SCRIPTS 1000
#define MAY_TAKE_S 5.0
#define MAX_FILES 256

struct script {
	const char *name;
	char *text;
	size_t len;
};

struct sum {
	double parse_s, run_s;
	unsigned long vectors, statements;
};

static double now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void read_script(struct script *s, const char *path)
{
	FILE *f = fopen(path, "r");

	s->name = path;
	s->text = malloc(VS_DRILL_MAX_BYTES);
	if (f == NULL || s->text == NULL) {
		fprintf(stderr, "bench-drill: %s can't be read\n", path);
		exit(2);
	}
	s->len = fread(s->text, 1, VS_DRILL_MAX_BYTES, f);
	(void)fclose(f);
}

static void run_script(const struct script *s, struct sum *sum)
{
	struct vs_drill_error err;
	struct vs_drill_result res;
	double begin = now(), parsed;
	struct vs_drill *d = vs_drill_parse(s->text, s->len, &err);

	parsed = now();
	for (unsigned v = 0; d != NULL && v < vs_drill_vectors(d); v++) {
		vs_drill_run_sim(d, v, NULL, &res);
		if (res.verdict == VS_VERDICT_FAIL || res.verdict == VS_VERDICT_ERROR) {
			fprintf(stderr, "bench-drill: %s:%u: %s\n", s->name, res.at.line, res.at.text);
			exit(1);
		}
		sum->vectors++;
		sum->statements += res.steps;
	}
	if (d == NULL) {
		fprintf(stderr, "bench-drill: %s:%u: %s\n", s->name, err.line, err.text);
		exit(1);
	}
	vs_drill_free(d);
	sum->parse_s += parsed - begin;
	sum->run_s += now() - parsed;
}

int main(int argc, char **argv)
{
	static struct script script[MAX_FILES];
	struct sum sum = {0, 0, 0, 0};
	int n = argc - 1;

	if (n < 1 || n > MAX_FILES) {
		fprintf(stderr, "usage: bench_drill FILE.drill... (at most %d)\n", MAX_FILES);
		return 2;
	}
	for (int i = 0; i < n; i++)
		read_script(&script[i], argv[i + 1]);
	for (int i = 0; i < SCRIPTS; i++)
		run_script(&script[i % n], &sum);
	printf("bench-drill: %d scripts (%d files; %lu vectors, %lu statements) on one core\n", SCRIPTS, n, sum.vectors,
	       sum.statements);
	printf("  parsed in %.3f s, run in %.3f s: %.3f s, %.1f %% of the %.0f s that they may take\n", sum.parse_s,
	       sum.run_s, sum.parse_s + sum.run_s, 100 * (sum.parse_s + sum.run_s) / MAY_TAKE_S, MAY_TAKE_S);
	figure_put(&(struct figure){.name = "a thousand scripts",
				    .unit = "s of processor time",
				    .better = "less",
				    .value = sum.parse_s + sum.run_s,
				    .aim = MAY_TAKE_S});
	for (int i = 0; i < n; i++)
		free(script[i].text);
	return 0;
}
