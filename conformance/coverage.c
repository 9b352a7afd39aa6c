/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* coverage.c - the inventory as a table: row, file, what the last run on each target said. */
#include "conform.h"

#include <string.h>

#define COLUMNS 8

struct coverage {
	const struct vc_suite *s;
	json_t *report[COLUMNS]; /* of this run, then of those beside it */
	size_t n;
};

/* The worst of the row's results, in the order of this list. */
static const char *worst(const struct vc_suite *s, const json_t *report, const struct vc_row *row)
{
	static const enum vc_verdict order[] = {VC_ERROR, VC_FAIL,    VC_INCONCLUSIVE, VC_XPASS, VC_XFAIL,
						VC_WARN,  VC_VARIANT, VC_PASS,         VC_SKIP};
	const size_t n = sizeof(order) / sizeof(order[0]);
	size_t best = n, i;
	const json_t *r;

	json_array_foreach (json_object_get(report, "cases"), i, r) {
		enum vc_verdict v = vc_verdict_by_name(vc_text(r, "verdict"));

		if (vc_inventory_find(&s->inv, vc_text(r, "id")) != row)
			continue;
		for (size_t k = 0; k < best; k++)
			if (order[k] == v)
				best = k;
	}
	return best == n ? "" : vc_verdict_name(order[best]);
}

static void cell(FILE *f, const char *text)
{
	for (; *text != '\0'; text++)
		if (*text == '|')
			fputs("\\|", f);
		else
			fputc(*text, f);
}

static unsigned files(FILE *f, const struct vc_suite *s, const struct vc_row *row, unsigned *vectors)
{
	unsigned n = 0;

	for (size_t i = 0; i < s->n; i++) {
		const char *path = s->c[i].path, *at = strstr(path, "/cases/");

		if (s->c[i].in_c != NULL) /* "conformance/FILE.c"; the table stands beside it */
			at = strchr(path, '/');

		if (s->c[i].row != row)
			continue;
		*vectors += s->c[i].vectors;
		if (f != NULL)
			fprintf(f, "%s[%s](%s)", n > 0 ? ", " : "", s->c[i].id, at != NULL ? at + 1 : path);
		n++;
	}
	return n;
}

static void head(FILE *f, const struct coverage *c)
{
	unsigned covered = 0, vectors = 0;

	for (size_t i = 0; i < c->s->inv.n; i++)
		covered += files(NULL, c->s, &c->s->inv.row[i], &vectors) > 0;
	fprintf(f,
		"# Coverage\n\nMade by `make coverage-table` from inventory.tsv, the case files and a run on each "
		"target; "
		"not edited by hand. %u of %zu rows have a file, %u vectors in all.\n",
		covered, c->s->inv.n, vectors);
}

static void group_head(FILE *f, const struct coverage *c, const char *id, size_t n)
{
	fprintf(f, "\n## %.*s\n\n| row | claim | class | evidence | file | vectors |", (int)n, id);
	for (size_t i = 0; i < c->n; i++) {
		fputc(' ', f);
		cell(f, vc_text(c->report[i], "device"));
		fputs(" |", f);
	}
	fputs("\n|---|---|---|---|---|--:|", f);
	for (size_t i = 0; i < c->n; i++)
		fputs("---|", f);
	fputc('\n', f);
}

static bool put(void *ctx, FILE *f)
{
	const struct coverage *c = ctx;
	const char *group = "";

	head(f, c);
	for (size_t i = 0; i < c->s->inv.n; i++) {
		const struct vc_row *row = &c->s->inv.row[i];
		const char *id = row->col[VC_COL_ID];
		size_t n = strcspn(id, "-");
		unsigned vectors = 0;

		if (strncmp(group, id, n + 1) != 0)
			group_head(f, c, id, n);
		group = id;
		fprintf(f, "| %s | ", id);
		cell(f, row->col[VC_COL_CASE]);
		fprintf(f, " | %s | %s | ", row->col[VC_COL_CLASS], row->col[VC_COL_EVIDENCE]);
		(void)files(f, c->s, row, &vectors);
		fprintf(f, " | %u/%u |", vectors, row->vectors);
		for (size_t k = 0; k < c->n; k++)
			fprintf(f, " %s |", worst(c->s, c->report[k], row));
		fputc('\n', f);
	}
	return true;
}

int vc_coverage_write(const struct vc_suite *s, const json_t *report, const struct vc_options *o)
{
	struct coverage c = {.s = s, .n = 1};
	int rc = VC_OK;

	c.report[0] = json_incref((json_t *)(uintptr_t)report);
	for (size_t i = 0; i < o->n_beside && rc == VC_OK; i++) {
		if (c.n == COLUMNS)
			rc = (vc_complain("--beside: more than %d reports", COLUMNS - 1), VC_USAGE);
		else if ((c.report[c.n] = vc_report_load(o->beside[i])) == NULL)
			rc = VC_USAGE;
		else
			c.n++;
	}
	if (rc == VC_OK)
		rc = vc_write_file(o->coverage, put, &c);
	for (size_t i = 0; i < c.n; i++)
		json_decref(c.report[i]);
	return rc;
}
