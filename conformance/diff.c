/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* diff.c - vs-conform diff A B: what changed between two runs, regressions first. */
#include "conform.h"

#include <string.h>

json_t *vc_report_load(const char *path)
{
	json_error_t err;
	json_t *report = json_load_file(path, 0, &err);

	if (report == NULL) {
		vc_complain("%s: can't be read as a report: line %d: %s", path, err.line, err.text);
		return NULL;
	}
	if (json_is_array(json_object_get(report, "cases")))
		return report;
	vc_complain("%s: is no report of vs-conform: it has no list of cases (--json writes one)", path);
	json_decref(report);
	return NULL;
}

/* How bad: a step up is a regression. */
static unsigned badness(const char *verdict)
{
	switch (vc_verdict_by_name(verdict)) {
	case VC_PASS:
	case VC_XPASS:
		return 0;
	case VC_VARIANT:
		return 1;
	case VC_SKIP:
		return 2;
	case VC_WARN:
	case VC_XFAIL:
		return 3;
	case VC_INCONCLUSIVE:
		return 4;
	default:
		return 5;
	}
}

/* id[vector] -> result */
static json_t *index_of(const json_t *report)
{
	json_t *all = json_object(), *r;
	char name[VC_NAME];
	size_t i;

	json_array_foreach (json_object_get(report, "cases"), i, r) {
		vc_result_name(r, name);
		(void)json_object_set(all, name, r);
	}
	return all;
}

enum change { REGRESSION, GONE, OTHER, NEW, BETTER, CHANGES };

static enum change compare(const json_t *a, const json_t *b, bool *same)
{
	const char *x = vc_text(a, "verdict"), *y = vc_text(b, "verdict");

	*same = false;
	if (b == NULL)
		return GONE;
	if (a == NULL)
		return vc_is_bad(vc_verdict_by_name(y)) ? REGRESSION : NEW;
	if (strcmp(x, y) != 0 && badness(x) != badness(y))
		return badness(y) > badness(x) ? REGRESSION : BETTER;
	*same = strcmp(x, y) == 0 && json_equal(json_object_get(a, "variants"), json_object_get(b, "variants"));
	return OTHER;
}

static void print_change(const char *name, const json_t *a, const json_t *b)
{
	const char *reason = vc_text(b != NULL ? b : a, "reason");

	printf("  ");
	vs_cli_put_lines(stdout, name);
	printf("  ");
	vs_cli_put_lines(stdout, a != NULL ? vc_text(a, "verdict") : "-");
	printf(" -> ");
	vs_cli_put_lines(stdout, b != NULL ? vc_text(b, "verdict") : "-");
	if (reason[0] != '\0') {
		printf("  ");
		vs_cli_put_lines(stdout, reason);
	}
	putchar('\n');
}

static unsigned print_all(enum change which, const char *title, json_t *a, json_t *b)
{
	json_t *names = json_object(), *r;
	const char *name;
	unsigned n = 0;

	/* Those of both, in the order of the second, then what is gone. */
	(void)json_object_update(names, b);
	(void)json_object_update(names, a);
	json_object_foreach (names, name, r) {
		const json_t *x = json_object_get(a, name), *y = json_object_get(b, name);
		bool same;

		if (compare(x, y, &same) != which || same)
			continue;
		if (n++ == 0)
			printf("%s:\n", title);
		print_change(name, x, y);
	}
	json_decref(names);
	return n;
}

int vc_diff(int argc, char **argv)
{
	static const char *const titles[CHANGES] = {"worse", "not run any more", "different", "new", "better"};
	json_t *first, *second, *a, *b;
	unsigned count[CHANGES], all = 0;

	if (argc != 2 || argv[0][0] == '-' || argv[1][0] == '-') {
		vc_complain("diff takes two reports that --json wrote: vs-conform diff BEFORE AFTER");
		return VC_USAGE;
	}
	first = vc_report_load(argv[0]);
	second = first != NULL ? vc_report_load(argv[1]) : NULL;
	if (second == NULL) {
		json_decref(first);
		return VC_USAGE;
	}
	a = index_of(first);
	b = index_of(second);
	for (unsigned c = 0; c < CHANGES; c++)
		all += count[c] = print_all((enum change)c, titles[c], a, b);
	if (all == 0)
		puts("no difference");
	json_decref(a);
	json_decref(b);
	json_decref(first);
	json_decref(second);
	if (vc_flush() != VC_OK)
		return VC_USAGE;
	return count[REGRESSION] > 0 ? VC_FAILED : VC_OK;
}
