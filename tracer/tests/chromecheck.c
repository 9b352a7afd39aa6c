/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * chromecheck.c - does a file keep the rules of the trace event format that viewers rely on? Written from the format's
 * description, with no code of vs-trace.
 *
 *   chromecheck FILE...   one line a broken rule; exit 1 when there was one
 *
 * Held: the keys that each phase needs, and their types; every b has one e of the same category, id and process, not
 * before it; every s has one f of the same category and id, not before it, and both stand on a slice; slices of a
 * thread do not overlap, unless one holds the other; counters are numbers.
 */
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *file;
static unsigned broken;

static void bad(size_t i, const char *what)
{
	if (broken++ < 20)
		printf("%s: event %zu: %s\n", file, i, what);
}

static double number(const json_t *e, const char *key)
{
	return json_number_value(json_object_get(e, key));
}

static const char *text(const json_t *e, const char *key)
{
	const char *t = json_string_value(json_object_get(e, key));

	return t != NULL ? t : "";
}

static bool phase(const json_t *e, const char *ph)
{
	return strcmp(text(e, "ph"), ph) == 0;
}

/* ---- every event for itself ---- */

static void counter(size_t i, const json_t *e)
{
	json_t *args = json_object_get(e, "args"), *v;
	const char *key;

	if (json_object_size(args) == 0)
		bad(i, "a counter without values");
	json_object_foreach (args, key, v)
		if (!json_is_number(v))
			bad(i, "a counter that is no number");
}

static void one(size_t i, const json_t *e)
{
	if (!json_is_object(e)) {
		bad(i, "no object");
		return;
	}
	if (strlen(text(e, "ph")) != 1 || strchr("MbeXsfiC", *text(e, "ph")) == NULL)
		bad(i, "an unknown phase");
	if (!json_is_integer(json_object_get(e, "pid")) || !json_is_integer(json_object_get(e, "tid")))
		bad(i, "no pid or no tid");
	if (*text(e, "name") == '\0')
		bad(i, "no name");
	if (!json_is_number(json_object_get(e, "ts")) || number(e, "ts") < 0)
		bad(i, "no time");
	if (phase(e, "X") && (!json_is_number(json_object_get(e, "dur")) || number(e, "dur") < 0))
		bad(i, "a slice without a duration");
	if (strchr("besf", *text(e, "ph")) != NULL && (*text(e, "id") == '\0' || *text(e, "cat") == '\0'))
		bad(i, "no id or no category");
	if (phase(e, "i") && strchr("gpt", *text(e, "s")) == NULL)
		bad(i, "an instant without a scope");
	if (phase(e, "C"))
		counter(i, e);
	if (phase(e, "M") && *text(json_object_get(e, "args"), "name") == '\0')
		bad(i, "metadata without a name");
}

/* ---- pairs ---- */

struct end {
	const char *ph, *cat, *id;
	long long pid, tid;
	double ts;
	size_t at;
};

static int by_id(const void *va, const void *vb)
{
	const struct end *a = va, *b = vb;
	int c = strcmp(a->cat, b->cat);

	if (c == 0)
		c = strcmp(a->id, b->id);
	if (c == 0)
		c = strcmp(a->ph, b->ph); /* b before e; s is told apart below */
	return c != 0 ? c : a->at < b->at ? -1 : 1;
}

static void pairs(const json_t *list, const char *first, const char *second, bool same_process)
{
	struct end *end = calloc(json_array_size(list) + 2, sizeof(*end));
	size_t n = 0, i;
	const json_t *e;

	json_array_foreach (list, i, e) {
		if (!phase(e, first) && !phase(e, second))
			continue;
		/* "1" sorts before "2", whatever the letters are. */
		end[n++] = (struct end){phase(e, first) ? "1" : "2",
					text(e, "cat"),
					text(e, "id"),
					json_integer_value(json_object_get(e, "pid")),
					json_integer_value(json_object_get(e, "tid")),
					number(e, "ts"),
					i};
	}
	qsort(end, n, sizeof(*end), by_id);
	for (i = 0; i < n; i += 2) {
		bool two =
			i + 1 < n && strcmp(end[i].cat, end[i + 1].cat) == 0 && strcmp(end[i].id, end[i + 1].id) == 0;

		if (!two || end[i].ph[0] != '1' || end[i + 1].ph[0] != '2') {
			bad(end[i].at, *first == 'b' ? "b and e do not come in pairs" : "s and f do not come in pairs");
			break;
		}
		if (end[i + 1].ts < end[i].ts)
			bad(end[i].at, "ends before it begins");
		if (same_process && end[i].pid != end[i + 1].pid)
			bad(end[i].at, "b and e are of two processes");
	}
	free(end);
}

/* ---- slices ---- */

struct slice {
	long long pid, tid;
	double ts, dur;
	size_t at;
};

static int by_thread(const void *va, const void *vb)
{
	const struct slice *a = va, *b = vb;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	if (a->ts < b->ts || a->ts > b->ts)
		return a->ts < b->ts ? -1 : 1;
	return a->dur > b->dur ? -1 : a->dur < b->dur;
}

static void slices(const json_t *list)
{
	struct slice *s = calloc(json_array_size(list) + 1, sizeof(*s));
	double *open = calloc(json_array_size(list) + 1, sizeof(*open)); /* ends of the slices that hold the next */
	size_t n = 0, depth = 0, i;
	const json_t *e;

	json_array_foreach (list, i, e)
		if (phase(e, "X"))
			s[n++] = (struct slice){json_integer_value(json_object_get(e, "pid")),
						json_integer_value(json_object_get(e, "tid")), number(e, "ts"),
						number(e, "dur"), i};
	qsort(s, n, sizeof(*s), by_thread);
	for (i = 0; i < n; i++) {
		if (i > 0 && (s[i].pid != s[i - 1].pid || s[i].tid != s[i - 1].tid))
			depth = 0;
		while (depth > 0 && open[depth - 1] <= s[i].ts + 1e-6)
			depth--;
		if (depth > 0 && s[i].ts + s[i].dur > open[depth - 1] + 1e-6)
			bad(s[i].at, "slices of a thread overlap");
		open[depth++] = s[i].ts + s[i].dur;
	}
	free(open);
	json_array_foreach (list, i, e) {
		bool found = false;

		if (!phase(e, "s") && !phase(e, "f"))
			continue;
		for (size_t k = 0; k < n && !found; k++)
			found = s[k].pid == json_integer_value(json_object_get(e, "pid")) &&
				s[k].tid == json_integer_value(json_object_get(e, "tid")) &&
				fabs(s[k].ts - number(e, "ts")) < 1e-6;
		if (!found)
			bad(i, "an arrow that stands on no slice");
	}
	free(s);
}

static void check(const char *path)
{
	json_error_t err;
	json_t *j = json_load_file(path, 0, &err);
	const json_t *list = json_object_get(j, "traceEvents"), *e;
	size_t i;

	file = path;
	if (!json_is_array(list) || json_array_size(list) == 0) {
		printf("%s: no traceEvents: %s\n", path, j == NULL ? err.text : "an empty list");
		broken++;
	} else {
		json_array_foreach (list, i, e)
			one(i, e);
		pairs(list, "b", "e", true);
		pairs(list, "s", "f", false);
		slices(list);
	}
	json_decref(j);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		check(argv[i]);
	return broken != 0 || argc < 2;
}
