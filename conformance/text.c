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

bool vc_is_bad(enum vc_verdict v)
{
	return v == VC_FAIL || v == VC_ERROR || v == VC_INCONCLUSIVE;
}

void vc_result_name(const json_t *result, char name[VC_NAME])
{
	const char *vector = vc_text(result, "vector");

	(void)snprintf(name, VC_NAME, vector[0] != '\0' ? "%s[%s]" : "%s%s", vc_text(result, "id"), vector);
}

void vc_progress(size_t done, size_t all, unsigned bad)
{
	if (!isatty(STDERR_FILENO))
		return;
	if (done < all)
		fprintf(stderr, "\r%zu of %zu, %u not as it should be ", done, all, bad);
	else
		fprintf(stderr, "\r%60s\r", "");
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
		vs_cli_put_lines(stdout, c);
		if (*text == '\n' && text[1] != '\0')
			printf("    ");
	}
	if (last != '\n')
		putchar('\n');
}

static void rerun(const json_t *r, const struct vc_options *o)
{
	char name[VC_NAME];

	printf("    again: vs-conform");
	if (o->agent != NULL)
		printf(" --agent '%s'", o->agent);
	if (strcmp(o->name, "sim") != 0 && (o->agent == NULL || *o->verbs != '\0'))
		printf(" --%s '%s'", o->program != NULL ? "program" : "device", o->name);
	if (o->peer != NULL)
		printf(" --peer %s", o->peer);
	if (o->encap != NULL)
		printf(" --encap %s", o->encap);
	if (o->strict)
		printf(" --strict");
	if (o->hazardous)
		printf(" --hazardous");
	if (o->n_files == 0 && !o->usual_dir)
		printf(" --cases '%s'", o->dir);
	if (o->seed != 0)
		printf(" --seed %llu", (unsigned long long)o->seed);
	if (o->n_files > 0)
		printf(" --file '%s'", vc_text(r, "file"));
	vc_result_name(r, name);
	printf(strchr(name, '[') != NULL ? " '%s'\n" : " %s\n", name);
}

void vc_text_result(const json_t *r, const struct vc_options *o)
{
	enum vc_verdict v = vc_verdict_by_name(vc_text(r, "verdict"));
	bool bad = vc_is_bad(v) || v == VC_XPASS;
	char name[VC_NAME];

	if (o->silent || (!bad && !o->verbose && (o->quiet || v != VC_WARN)))
		return;
	printf("%s%-7s%s ", colour(v), vc_verdict_name(v), coloured() ? "\033[0m" : "");
	vc_result_name(r, name);
	vs_cli_put_lines(stdout, name);
	printf("  ");
	vs_cli_put_lines(stdout, vc_text(r, "title"));
	putchar('\n');
	if (vc_text(r, "reason")[0] != '\0')
		indented(vc_text(r, "reason"));
	if (!bad)
		return;
	printf("    ");
	vs_cli_put_lines(stdout, vc_text(r, "file"));
	if (json_object_get(r, "line") != NULL)
		printf(":%d:%d", (int)json_integer_value(json_object_get(r, "line")),
		       (int)json_integer_value(json_object_get(r, "column")));
	putchar('\n');
	printf("    expected: ");
	vs_cli_put_lines(stdout, vc_text(r, "expected"));
	printf("\n    seen:     ");
	vs_cli_put_lines(stdout, vc_text(r, "seen"));
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

	if (o->silent)
		return;
	json_array_foreach (cases, i, r)
		count[vc_verdict_by_name(vc_text(r, "verdict"))]++;
	printf("%zu vectors in %.1f s on %s:", json_array_size(cases), seconds, vc_text(report, "device"));
	for (unsigned v = 0; v < VC_VERDICTS; v++) {
		if (count[v] == 0)
			continue;
		printf("%s %u %s", between, count[v], vc_verdict_name((enum vc_verdict)v));
		between = ",";
	}
	if (vc_text(report, "device_gone")[0] != '\0')
		printf("; the device is gone, the rest was not run\n    ");
	else if (json_is_true(json_object_get(report, "partial")))
		printf("; interrupted, the rest was not run");
	vs_cli_put_lines(stdout, vc_text(report, "device_gone"));
	putchar('\n');
}
