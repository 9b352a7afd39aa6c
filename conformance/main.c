/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* main.c - vs-conform: runs the suite, and says how it ended. */
#include "conform.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct session {
	const struct vc_options *o;
	struct vc_known known;
	json_t *cases;
	size_t all;
	unsigned bad;
};

static void on_result(void *ctx, json_t *result)
{
	struct session *s = ctx;

	vc_known_apply(&s->known, result);
	s->bad += vc_is_bad(vc_verdict_by_name(vc_text(result, "verdict")));
	vc_progress(s->all, s->all, 0);
	vc_text_result(result, s->o);
	(void)json_array_append_new(s->cases, result);
	vc_progress(json_array_size(s->cases), s->all, s->bad);
}

static int exit_code(const json_t *report)
{
	bool ran = false, bad = json_is_true(json_object_get(report, "partial"));
	const json_t *r;
	size_t i;

	json_array_foreach (json_object_get(report, "cases"), i, r) {
		enum vc_verdict v = vc_verdict_by_name(vc_text(r, "verdict"));

		ran |= v != VC_SKIP;
		bad |= vc_is_bad(v);
	}
	return bad ? VC_FAILED : ran ? VC_OK : VC_NOTHING;
}

/* Before a run that may take hours: could all that is to be written be? */
static int try_files(const struct vc_options *o)
{
	const char *const path[] = {o->json, o->tap, o->junit, o->html, o->profile_out, o->coverage};
	int rc = VC_OK;

	for (size_t i = 0; i < sizeof(path) / sizeof(path[0]); i++)
		if (path[i] != NULL && vc_try_file(path[i]) != VC_OK)
			rc = VC_USAGE;
	return rc;
}

/* A report could not be written: the results are kept where there is room. */
static void keep_results(json_t *report)
{
	const char *dir = getenv("TMPDIR");
	char path[512];
	bool ok;
	int fd;
	FILE *f;

	(void)snprintf(path, sizeof(path), "%.480s/vs-conform-XXXXXX", dir != NULL ? dir : "/tmp");
	fd = mkstemp(path);
	if (fd < 0)
		return;
	f = fdopen(fd, "w");
	if (f == NULL) {
		close(fd);
		return;
	}
	ok = vc_put_json(report, f);
	if (fclose(f) == 0 && ok)
		vc_complain("the results are kept in %s, as JSON", path);
	else
		(void)unlink(path);
}

static int reports(const struct vc_options *o, const struct vc_suite *suite, json_t *report)
{
	const struct {
		const char *path;
		bool (*put)(void *report, FILE *f);
	} files[] = {{o->json, vc_put_json}, {o->tap, vc_put_tap}, {o->junit, vc_put_junit}, {o->html, vc_put_html}};
	int rc = VC_OK;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (files[i].path != NULL && vc_write_file(files[i].path, files[i].put, report) != VC_OK)
			rc = VC_USAGE;
	if (o->profile_out != NULL && vc_profile_write(report, o->profile_out) != VC_OK)
		rc = VC_USAGE;
	if (o->coverage != NULL && vc_coverage_write(suite, report, o) != VC_OK)
		rc = VC_USAGE;
	return rc;
}

static json_t *new_report(const struct vc_options *o)
{
	time_t now = time(NULL);
	char started[32];
	struct tm tm;

	(void)strftime(started, sizeof(started), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
	return json_pack("{s:i, s:s, s:s, s:s, s:s, s:s, s:I, s:[]}", "format", 1, "program", "vs-conform " VS_VERSION,
			 "device", o->name, "target",
			 o->agent != NULL     ? "agent"
			 : o->program != NULL ? "program"
			 : o->verbs != NULL   ? "verbs"
					      : "sim",
			 "peer",
			 o->peer != NULL    ? o->peer
			 : o->verbs != NULL ? "script over udp, loop"
					    : "script, engine",
			 "started", started, "seed", (json_int_t)o->seed, "cases");
}

static int run(const struct vc_options *o, const struct vc_suite *suite)
{
	json_t *report = new_report(o);
	struct session s = {.o = o, .all = vc_suite_chosen(suite)};
	struct vc_options with = *o;
	char gone[VC_GONE] = "";
	struct timespec a, b;
	double seconds;
	int rc;

	if (report == NULL)
		return vc_complain("no memory"), VC_USAGE;
	rc = try_files(o);
	if (rc == VC_OK && o->deviations != NULL)
		rc = vc_known_read(&s.known, o->deviations);
	if (rc == VC_OK) {
		s.cases = json_object_get(report, "cases");
		(void)clock_gettime(CLOCK_MONOTONIC, &a);
		with.known = &s.known;
		if (!vc_pool_run(&with, suite, on_result, &s, gone))
			(void)json_object_set_new(report, "partial", json_true());
		if (gone[0] != '\0')
			vc_set_text(report, "device_gone", gone);
		(void)clock_gettime(CLOCK_MONOTONIC, &b);
		seconds = (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9;
		(void)json_object_set_new(report, "seconds", json_real(seconds));
		vc_text_summary(report, o, seconds);
		rc = reports(o, suite, report);
		if (rc != VC_OK)
			keep_results(report);
		if (rc == VC_OK)
			rc = exit_code(report);
		if (vc_flush() != VC_OK)
			rc = VC_USAGE;
	}
	vc_known_free(&s.known);
	json_decref(report);
	return rc;
}

int main(int argc, char **argv)
{
	struct vc_options o;
	struct vc_suite suite;
	char why[640] = "";
	int rc;

	if (argc > 1 && strcmp(argv[1], "diff") == 0)
		return vc_diff(argc - 2, argv + 2);
	if (argc > 1 && strcmp(argv[1], "doctor") == 0)
		return vc_doctor(argc - 2, argv + 2);
	if (!vc_options_read(&o, argc, argv, &rc)) {
		vc_options_free(&o);
		return rc;
	}
	rc = vc_suite_read(&suite, o.dir, o.file, o.n_files);
	if (rc == VC_OK)
		rc = vc_suite_choose(&suite, o.pattern, o.n_patterns);
	if (rc == VC_OK && o.check)
		rc = vc_suite_check(&suite) > 0 ? VC_FAILED : VC_OK;
	else if (rc == VC_OK && o.list)
		rc = vc_list(&suite);
	else if (rc == VC_OK && o.explain)
		rc = vc_explain(&suite);
	else if (rc == VC_OK && o.verbs != NULL && !vc_verbs_try(&o, why, sizeof(why)))
		rc = (vc_complain("--%s %s: %s", o.agent != NULL ? "agent" : "device",
				  o.agent != NULL ? o.agent : o.verbs, why),
		      VC_USAGE);
	else if (rc == VC_OK)
		rc = run(&o, &suite);
	vc_suite_free(&suite);
	vc_options_free(&o);
	return rc;
}
