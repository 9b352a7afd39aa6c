/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * figure.h - how a benchmark in C hands over what it has measured: bench/figures.sh says how, bench/README.md in what
 * form.
 */
#ifndef VS_TESTS_FIGURE_H
#define VS_TESTS_FIGURE_H

#include <stdio.h>
#include <stdlib.h>

/* Of several rounds, of which `value` was chosen; what is not known is NULL or 0. Texts hold nothing that JSON escapes.
 */
struct figure {
	const char *name, *unit, *better, *how;
	double value, low, high;
	unsigned rounds;
	const char *peer;
	double peer_value, aim, aim_ratio;
};

static inline void figure_put(const struct figure *g)
{
	const char *path = getenv("VS_BENCH_FIGURES");
	FILE *f = path != NULL && *path != '\0' ? fopen(path, "a") : NULL;

	if (f == NULL)
		return;
	(void)fprintf(f,
		      "{\"record\": \"figure\", \"name\": \"%s\", \"unit\": \"%s\", \"value\": %.9g, \"how\": \"%s\"",
		      g->name, g->unit, g->value, g->how != NULL ? g->how : "median");
	(void)fprintf(f, ", \"rounds\": %u, \"failed_rounds\": 0, \"spread\": [%.9g, %.9g]",
		      g->rounds > 0 ? g->rounds : 1, g->rounds > 0 ? g->low : g->value,
		      g->rounds > 0 ? g->high : g->value);
	if (g->better != NULL)
		(void)fprintf(f, ", \"better\": \"%s\"", g->better);
	if (g->peer != NULL && g->peer_value > 0)
		(void)fprintf(f, ", \"peer\": \"%s\", \"peer_value\": %.9g, \"ratio\": %.9g", g->peer, g->peer_value,
			      g->value / g->peer_value);
	if (g->aim > 0)
		(void)fprintf(f, ", \"aim\": %.9g", g->aim);
	if (g->aim_ratio > 0)
		(void)fprintf(f, ", \"aim_ratio\": %.9g", g->aim_ratio);
	(void)fputs("}\n", f);
	(void)fclose(f);
}

#endif
