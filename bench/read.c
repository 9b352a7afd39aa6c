/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * read.c - the records of bench/run.sh as one document. A record is a line of JSON. The first describes the run, and
 * must be whole: without it figures mean nothing. What is wrong with a record of a benchmark (a program was killed
 * while it wrote, the disk was full) makes that benchmark one that failed, and takes its figures away.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "report.h"

#define MAX_LINE 65536u

struct reader {
	const char *path;
	unsigned line;
	json_t *doc, *benchmark; /* the latest, borrowed; NULL before the first */
	bool ended;              /* of the latest: nothing follows */
};

const char *report_text(const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));

	return text != NULL ? text : "";
}

bool report_has(const json_t *o, const char *key)
{
	return json_is_number(json_object_get(o, key));
}

double report_number(const json_t *o, const char *key, double otherwise)
{
	return report_has(o, key) ? json_number_value(json_object_get(o, key)) : otherwise;
}

static bool is_text(const json_t *o, const char *key)
{
	return json_string_length(json_object_get(o, key)) > 0;
}

/* Two numbers, the lower one first, around `value`. */
static bool is_spread(const json_t *spread, double value)
{
	double low = json_number_value(json_array_get(spread, 0)), high = json_number_value(json_array_get(spread, 1));

	return json_array_size(spread) == 2 && json_is_number(json_array_get(spread, 0)) &&
	       json_is_number(json_array_get(spread, 1)) && low <= value && value <= high;
}

/* What is wrong with a figure; NULL: nothing. */
static const char *figure_fault(const json_t *f)
{
	static const char *const numbers[] = {"ratio", "aim", "aim_ratio", "peer_value"};
	const json_t *value = json_object_get(f, "value");
	const char *better = report_text(f, "better");

	if (!is_text(f, "name") || !is_text(f, "unit"))
		return "a figure without name or unit";
	if (!json_is_number(value) && !json_is_null(value))
		return "a figure without value";
	if (!json_is_integer(json_object_get(f, "rounds")))
		return "a figure without rounds";
	if (json_is_number(value) && !is_spread(json_object_get(f, "spread"), json_number_value(value)))
		return "a figure whose spread is not around its value";
	if (report_has(f, "peer_value") && json_object_get(f, "peer_spread") != NULL &&
	    !is_spread(json_object_get(f, "peer_spread"), report_number(f, "peer_value", 0)))
		return "a figure whose peer's spread is not around its value";
	if (*better != '\0' && strcmp(better, "more") != 0 && strcmp(better, "less") != 0)
		return "a figure of which neither more nor less is better";
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (json_object_get(f, numbers[i]) != NULL && !report_has(f, numbers[i]))
			return "a figure with a text for a number";
	return NULL;
}

static void set_verdict(json_t *b, const char *verdict, const char *reason)
{
	json_object_set_new(b, "verdict", json_string(verdict));
	json_object_set_new(b, "reason", json_string(reason));
}

/* The benchmark of the line failed. */
static void fail_benchmark(struct reader *r, const char *why)
{
	char reason[160];

	(void)snprintf(reason, sizeof(reason), "what it wrote can't be used: line %u: %s", r->line, why);
	set_verdict(r->benchmark, "failed", reason);
}

static void take_figure(struct reader *r, json_t *record)
{
	const char *fault = figure_fault(record);

	if (fault != NULL) {
		fail_benchmark(r, fault);
		return;
	}
	json_object_del(record, "record");
	json_array_append(json_object_get(r->benchmark, "figures"), record);
}

static void take_benchmark(struct reader *r, json_t *record)
{
	json_t *b = json_pack("{s:s, s:s, s:s, s:s, s:s, s:[]}", "name", report_text(record, "name"), "about",
			      report_text(record, "about"), "command", report_text(record, "command"), "verdict",
			      "failed", "reason", "it did not end", "figures");

	json_array_append_new(json_object_get(r->doc, "benchmarks"), b);
	r->benchmark = b;
	r->ended = false;
}

/* How it ended: its exit code, or why it was not run, beside what it said of itself. */
static void take_end(struct reader *r, const json_t *record)
{
	static const char *const numbers[] = {"seconds", "load"};
	const char *verdict = report_text(record, "verdict"), *reason = report_text(record, "reason");
	json_t *b = r->benchmark;

	r->ended = true;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (report_has(record, numbers[i]))
			json_object_set(b, numbers[i], json_object_get(record, numbers[i]));
	if (strncmp(report_text(b, "reason"), "what it wrote", 13) == 0)
		return;
	if (strcmp(verdict, "failed") == 0 && json_object_get(b, "missed") != NULL)
		set_verdict(b, "missed", report_text(b, "missed"));
	else if (strcmp(verdict, "ok") == 0 && json_array_size(json_object_get(b, "figures")) == 0)
		set_verdict(b, "failed", "it wrote no figure");
	else if (strcmp(verdict, "ok") == 0 || strcmp(verdict, "skipped") == 0)
		set_verdict(b, verdict, reason);
	else
		set_verdict(b, "failed", *reason != '\0' ? reason : "no reason is known");
}

static bool take_run(struct reader *r, const json_t *record)
{
	static const char *const texts[] = {"version", "commit", "date",   "command",
					    "cpu",     "kernel", "system", "compiler"};
	static const char *const numbers[] = {"cores", "memory_mb", "load"};
	json_t *machine = json_object();

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (!is_text(record, texts[i])) {
			vs_cli_complain(PROGRAM, NULL, "%s:%u: the run has no '%s'", r->path, r->line, texts[i]);
			json_decref(machine);
			return false;
		}
		json_object_set(i < 4 ? r->doc : machine, texts[i], json_object_get(record, texts[i]));
	}
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (!report_has(record, numbers[i])) {
			vs_cli_complain(PROGRAM, NULL, "%s:%u: the run has no '%s'", r->path, r->line, numbers[i]);
			json_decref(machine);
			return false;
		}
		json_object_set(machine, numbers[i], json_object_get(record, numbers[i]));
	}
	json_object_set_new(r->doc, "machine", machine);
	json_object_set_new(r->doc, "benchmarks", json_array());
	return true;
}

/* One record. False: the report can't be made. */
static bool take(struct reader *r, json_t *record)
{
	const char *kind = report_text(record, "record");

	if (json_object_get(r->doc, "benchmarks") == NULL) {
		if (strcmp(kind, "run") == 0)
			return take_run(r, record);
		vs_cli_complain(PROGRAM, NULL, "%s:%u: the first record must be of a run; make bench writes it",
				r->path, r->line);
		return false;
	}
	if (strcmp(kind, "benchmark") == 0) {
		take_benchmark(r, record);
	} else if (r->benchmark == NULL || r->ended) {
		vs_cli_complain(PROGRAM, NULL, "%s:%u: a record that belongs to no benchmark", r->path, r->line);
		return false;
	} else if (strcmp(kind, "end") == 0) {
		take_end(r, record);
	} else if (strcmp(kind, "figure") == 0) {
		take_figure(r, record);
	} else if (strcmp(kind, "missed") == 0) {
		json_object_set(r->benchmark, "missed", json_object_get(record, "reason"));
	} else {
		fail_benchmark(r, "no record");
	}
	return true;
}

static bool take_line(struct reader *r, const char *text, size_t len)
{
	json_error_t error;
	json_t *record;
	bool ok = true;

	if (strspn(text, " \t\n") == len)
		return true;
	record = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
	if (json_is_object(record)) {
		ok = take(r, record);
	} else if (r->benchmark != NULL && !r->ended) {
		fail_benchmark(r, "no JSON object");
	} else {
		vs_cli_complain(PROGRAM, NULL, "%s:%u: no JSON object", r->path, r->line);
		ok = false;
	}
	json_decref(record);
	return ok;
}

/* A number that came of a failed benchmark is none. */
static void settle(json_t *doc)
{
	json_t *b;
	size_t i;

	json_array_foreach (json_object_get(doc, "benchmarks"), i, b) {
		const char *verdict = report_text(b, "verdict");

		json_object_del(b, "missed");
		if (strcmp(verdict, "ok") != 0 && strcmp(verdict, "missed") != 0)
			json_array_clear(json_object_get(b, "figures"));
	}
}

static bool take_lines(struct reader *r, FILE *f)
{
	static char text[MAX_LINE];
	bool ok = true;

	while (ok && fgets(text, sizeof(text), f) != NULL) {
		size_t len = strlen(text);

		r->line++;
		if (len == sizeof(text) - 1 && text[len - 1] != '\n') {
			vs_cli_complain(PROGRAM, NULL, "%s:%u: the line is too long", r->path, r->line);
			return false;
		}
		ok = take_line(r, text, len);
	}
	if (ok && ferror(f)) {
		vs_cli_complain(PROGRAM, NULL, "%s: can't be read (%s)", r->path, strerror(errno));
		ok = false;
	}
	if (ok && r->line == 0) {
		vs_cli_complain(PROGRAM, NULL, "%s: it is empty; make bench writes it", r->path);
		ok = false;
	}
	return ok;
}

json_t *report_read(const char *path)
{
	struct reader r = {.path = path};
	FILE *f = fopen(path, "r");
	bool ok;

	if (f == NULL) {
		vs_cli_complain(PROGRAM, NULL, "%s: can't be read (%s)", path, strerror(errno));
		return NULL;
	}
	r.doc = json_pack("{s:s}", "schema", SCHEMA);
	ok = r.doc != NULL && take_lines(&r, f);
	(void)fclose(f);
	if (ok && json_object_get(r.doc, "benchmarks") == NULL) {
		vs_cli_complain(PROGRAM, NULL, "%s: it has no record of a run; make bench writes it", path);
		ok = false;
	}
	if (!ok) {
		json_decref(r.doc);
		return NULL;
	}
	settle(r.doc);
	return r.doc;
}
