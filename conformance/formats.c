/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* formats.c - a report as JSON, TAP 14 and JUnit XML. */
#include "conform.h"

#include <string.h>

/* ---- JSON ---- */

bool vc_put_json(void *report, FILE *f)
{
	return json_dumpf(report, f, JSON_INDENT(1)) == 0 && fputc('\n', f) != EOF;
}

/* ---- TAP 14 ---- */

/* A description has no newline, and # and \ are escaped. */
static void tap_text(FILE *f, const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text == '#' || *text == '\\')
			fputc('\\', f);
		fputc((unsigned char)*text < 0x20 || *text == 0x7f ? ' ' : *text, f);
	}
}

/* A YAML string between double quotes. */
static void yaml(FILE *f, const char *key, const char *text)
{
	fprintf(f, "  %s: \"", key);
	for (; *text != '\0'; text++) {
		if (*text == '"' || *text == '\\')
			fprintf(f, "\\%c", *text);
		else if ((unsigned char)*text < 0x20 || *text == 0x7f)
			fprintf(f, "\\x%02x", (unsigned char)*text);
		else
			fputc(*text, f);
	}
	fputs("\"\n", f);
}

static void tap_result(FILE *f, size_t number, const json_t *r)
{
	enum vc_verdict v = vc_verdict_by_name(vc_text(r, "verdict"));
	bool bad = vc_is_bad(v), todo = v == VC_XFAIL || v == VC_XPASS;
	char name[VC_NAME];

	vc_result_name(r, name);
	fprintf(f, "%s %zu - ", bad || v == VC_XFAIL ? "not ok" : "ok", number);
	tap_text(f, name);
	fputc(' ', f);
	tap_text(f, vc_text(r, "title"));
	if (v == VC_SKIP || todo) {
		fputs(todo ? " # TODO " : " # SKIP ", f);
		tap_text(f, vc_text(r, "reason"));
	}
	fputc('\n', f);
	if (v == VC_PASS || v == VC_SKIP)
		return;
	fputs("  ---\n", f);
	yaml(f, "verdict", vc_text(r, "verdict"));
	yaml(f, "reason", vc_text(r, "reason"));
	yaml(f, "expected", vc_text(r, "expected"));
	yaml(f, "seen", vc_text(r, "seen"));
	yaml(f, "file", vc_text(r, "file"));
	fputs("  ...\n", f);
}

bool vc_put_tap(void *report, FILE *f)
{
	const json_t *cases = json_object_get(report, "cases"), *r;
	size_t i;

	fprintf(f, "TAP version 14\n1..%zu\n", json_array_size(cases));
	json_array_foreach (cases, i, r)
		tap_result(f, i + 1, r);
	if (json_is_true(json_object_get(report, "partial"))) {
		const char *gone = vc_text(report, "device_gone");

		fputs("Bail out! ", f);
		vs_cli_put_lines(f, gone[0] != '\0' ? gone : "interrupted");
		fputc('\n', f);
	}
	return true;
}

/* ---- JUnit XML ---- */

static void xml(FILE *f, const char *text)
{
	for (; *text != '\0'; text++) {
		switch (*text) {
		case '<':
			fputs("&lt;", f);
			break;
		case '>':
			fputs("&gt;", f);
			break;
		case '&':
			fputs("&amp;", f);
			break;
		case '"':
			fputs("&quot;", f);
			break;
		case '\n':
			fputs("&#10;", f);
			break;
		default:
			fputc((unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text, f);
			break;
		}
	}
}

static void attribute(FILE *f, const char *name, const char *text)
{
	fprintf(f, " %s=\"", name);
	xml(f, text);
	fputc('"', f);
}

static void junit_problem(FILE *f, const char *element, const json_t *r)
{
	fprintf(f, "   <%s", element);
	attribute(f, "message", vc_text(r, "reason"));
	if (strcmp(element, "skipped") == 0) {
		fputs("/>\n", f);
		return;
	}
	attribute(f, "type", vc_text(r, "verdict"));
	fputs(">expected: ", f);
	xml(f, vc_text(r, "expected"));
	fputs("&#10;seen: ", f);
	xml(f, vc_text(r, "seen"));
	fputs("&#10;", f);
	xml(f, vc_text(r, "ladder"));
	fprintf(f, "</%s>\n", element);
}

static void junit_result(FILE *f, const json_t *r)
{
	enum vc_verdict v = vc_verdict_by_name(vc_text(r, "verdict"));
	char name[VC_NAME + 200], group[VC_ID];

	vc_result_name(r, name);
	(void)snprintf(name + strlen(name), sizeof(name) - strlen(name), " %s", vc_text(r, "title"));
	(void)snprintf(group, sizeof(group), "%.*s", (int)strcspn(vc_text(r, "id"), "-"), vc_text(r, "id"));
	fputs("  <testcase", f);
	attribute(f, "classname", group);
	attribute(f, "name", name);
	attribute(f, "file", vc_text(r, "file"));
	fprintf(f, " time=\"%.6f\">\n", json_real_value(json_object_get(r, "seconds")));
	if (v == VC_FAIL || v == VC_INCONCLUSIVE)
		junit_problem(f, "failure", r);
	else if (v == VC_ERROR)
		junit_problem(f, "error", r);
	else if (v == VC_SKIP || v == VC_XFAIL)
		junit_problem(f, "skipped", r);
	else if (v != VC_PASS) {
		fputs("   <system-out>", f);
		xml(f, vc_text(r, "verdict"));
		fputs(": ", f);
		xml(f, vc_text(r, "reason"));
		fputs("</system-out>\n", f);
	}
	fputs("  </testcase>\n", f);
}

bool vc_put_junit(void *report, FILE *f)
{
	const json_t *cases = json_object_get(report, "cases"), *r;
	unsigned count[VC_VERDICTS + 1] = {0};
	size_t i;

	json_array_foreach (cases, i, r)
		count[vc_verdict_by_name(vc_text(r, "verdict"))]++;
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n <testsuite name=\"vs-conform\"", f);
	fprintf(f, " tests=\"%zu\" failures=\"%u\" errors=\"%u\" skipped=\"%u\" time=\"%.3f\"", json_array_size(cases),
		count[VC_FAIL] + count[VC_INCONCLUSIVE], count[VC_ERROR], count[VC_SKIP] + count[VC_XFAIL],
		json_real_value(json_object_get(report, "seconds")));
	attribute(f, "timestamp", vc_text(report, "started"));
	attribute(f, "hostname", vc_text(report, "device"));
	fputs(">\n", f);
	json_array_foreach (cases, i, r)
		junit_result(f, r);
	fputs(" </testsuite>\n</testsuites>\n", f);
	return true;
}
