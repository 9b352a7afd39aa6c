/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* text.c - the report on a terminal: failures as they come, then the count. */
#include "conform.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *vc_text(const json_t *result, const char *key)
{
	const char *s = json_string_value(json_object_get(result, key));

	return s != NULL ? s : "";
}

static bool coloured(void)
{
	return isatty(STDOUT_FILENO) && getenv("NO_COLOR") == NULL;
}

static const char *colour(enum vc_verdict v)
{
	if (!coloured())
		return "";
	switch (v) {
	case VC_PASS:
	case VC_VARIANT:
	case VC_XFAIL:
		return "\033[32m";
	case VC_FAIL:
	case VC_ERROR:
	case VC_XPASS:
	case VC_INCONCLUSIVE:
		return "\033[31m";
	default:
		return "\033[33m";
	}
}

static void indented(const char *text)
{
	char last = '\0';

	printf("    ");
	for (; *text != '\0'; text++) {
		char c[2] = {*text, '\0'};

		last = *text;
		vc_put_safe(stdout, c);
		if (*text == '\n' && text[1] != '\0')
			printf("    ");
	}
	if (last != '\n')
		putchar('\n');
}

static void rerun(const json_t *r, const struct vc_options *o)
{
	const char *v = vc_text(r, "vector");

	printf("    again: vs-conform");
	if (o->device != NULL)
		printf(" --device 'sim:%s'", o->device);
	if (o->encap != NULL)
		printf(" --encap %s", o->encap);
	if (o->seed != 0)
		printf(" --seed %llu", (unsigned long long)o->seed);
	if (o->n_files > 0)
		printf(" --file '%s'", vc_text(r, "file"));
	printf(v[0] != '\0' ? " '%s[%s]'\n" : " %s\n", vc_text(r, "id"), v);
}

void vc_text_result(const json_t *r, const struct vc_options *o)
{
	enum vc_verdict v = vc_verdict_by_name(vc_text(r, "verdict"));
	bool bad = v == VC_FAIL || v == VC_ERROR || v == VC_XPASS || v == VC_INCONCLUSIVE;
	const char *vector = vc_text(r, "vector");

	if (!bad && !o->verbose && (o->quiet || v != VC_WARN))
		return;
	printf("%s%-7s%s ", colour(v), vc_verdict_name(v), coloured() ? "\033[0m" : "");
	vc_put_safe(stdout, vc_text(r, "id"));
	if (vector[0] != '\0') {
		putchar('[');
		vc_put_safe(stdout, vector);
		putchar(']');
	}
	printf("  ");
	vc_put_safe(stdout, vc_text(r, "title"));
	putchar('\n');
	if (vc_text(r, "reason")[0] != '\0')
		indented(vc_text(r, "reason"));
	if (!bad)
		return;
	printf("    ");
	vc_put_safe(stdout, vc_text(r, "file"));
	if (json_object_get(r, "line") != NULL)
		printf(":%d:%d", (int)json_integer_value(json_object_get(r, "line")),
		       (int)json_integer_value(json_object_get(r, "column")));
	putchar('\n');
	printf("    expected: ");
	vc_put_safe(stdout, vc_text(r, "expected"));
	printf("\n    seen:     ");
	vc_put_safe(stdout, vc_text(r, "seen"));
	putchar('\n');
	if (vc_text(r, "ladder")[0] != '\0')
		indented(vc_text(r, "ladder"));
	rerun(r, o);
}

void vc_text_summary(const json_t *report, const struct vc_options *o, double seconds)
{
	const json_t *cases = json_object_get(report, "cases"), *r;
	unsigned count[VC_VERDICTS + 1] = {0};
	const char *between = "";
	size_t i;

	json_array_foreach(cases, i, r) count[vc_verdict_by_name(vc_text(r, "verdict"))]++;
	printf("%zu vectors in %.1f s on %s:", json_array_size(cases), seconds, vc_text(report, "device"));
	for (unsigned v = 0; v < VC_VERDICTS; v++) {
		if (count[v] == 0)
			continue;
		printf("%s %u %s", between, count[v], vc_verdict_name((enum vc_verdict)v));
		between = ",";
	}
	if (json_is_true(json_object_get(report, "partial")))
		printf("; interrupted, the rest was not run");
	putchar('\n');
	(void)o;
}
