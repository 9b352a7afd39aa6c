/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* job.c - runs one vector of one case on the target, and makes its result. */
#include "bridge.h"
#include "ccase.h"
#include "remote.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TRIES 7u
#define PAUSE_NS 100000000u /* before the second one; then twice as long each time */

/* The line without its comment and the blanks around it. */
static void set_line(json_t *o, const char *key, const char *line)
{
	char text[VS_DRILL_TEXT];
	bool quoted = false;
	size_t n = 0;

	while (*line == ' ' || *line == '\t')
		line++;
	for (; n < sizeof(text) - 1 && line[n] != '\0' && (quoted || line[n] != '#'); n++)
		quoted ^= line[n] == '"';
	while (n > 0 && (line[n - 1] == ' ' || line[n - 1] == '\t'))
		n--;
	(void)snprintf(text, sizeof(text), "%.*s", (int)n, line);
	vc_set_text(o, key, text);
}

static json_t *identity(const struct vc_case *c, unsigned vector)
{
	char clause[128], vector_name[256] = "", class[2] = {vc_class(c), '\0'};
	json_t *o = json_object();

	if (c->d != NULL)
		(void)vs_drill_vector_name(c->d, vector, vector_name, sizeof(vector_name));
	vc_clause(c, clause, sizeof(clause));
	vc_set_text(o, "id", c->id);
	vc_set_text(o, "vector", vector_name);
	vc_set_text(o, "title", c->d != NULL ? vs_drill_title(c->d) : "");
	vc_set_text(o, "class", class);
	vc_set_text(o, "clause", clause);
	vc_set_text(o, "evidence", vc_evidence(c));
	vc_set_text(o, "file", c->path);
	return o;
}

static void set_outcome(json_t *o, const struct vc_outcome *out)
{
	vc_set_text(o, "verdict", vc_verdict_name(out->verdict));
	vc_set_text(o, "reason", out->reason);
}

json_t *vc_job_lost(const struct vc_case *c, unsigned vector, const char *reason)
{
	struct vc_outcome out = {.verdict = VC_ERROR};
	json_t *o = identity(c, vector);

	(void)snprintf(out.reason, sizeof(out.reason), "%s", reason);
	set_outcome(o, &out);
	vc_set_text(o, "expected", "");
	vc_set_text(o, "seen", reason);
	return o;
}

static json_t *broken_script(const struct vc_case *c)
{
	char reason[VS_DRILL_TEXT + 64];
	json_t *o;

	(void)snprintf(reason, sizeof(reason), "line %u, column %u: %s", c->err.line, c->err.column, c->err.text);
	o = vc_job_lost(c, 0, reason);
	set_line(o, "expected", c->err.source);
	(void)json_object_set_new(o, "line", json_integer(c->err.line));
	(void)json_object_set_new(o, "column", json_integer(c->err.column));
	return o;
}

/* A list of words with commas between; none: no key. */
static void set_words(json_t *o, const char *key, const char *names)
{
	json_t *list = json_array();

	while (*names != '\0') {
		size_t n = strcspn(names, ",");

		(void)json_array_append_new(list, json_stringn(names, n));
		names += n + (names[n] == ',');
	}
	(void)json_object_set_new(o, key, list);
}

static void set_evidence(json_t *o, const struct vc_case *c, const struct vs_drill_result *res,
			 const struct vc_violation *v, const struct vc_outcome *out)
{
	bool at_line = res->verdict == VS_VERDICT_FAIL || res->verdict == VS_VERDICT_ERROR;

	if (at_line && res->at.line > 0) {
		set_line(o, "expected", res->at.source);
		(void)json_object_set_new(o, "line", json_integer(res->at.line));
		(void)json_object_set_new(o, "column", json_integer(res->at.column));
	} else {
		vc_set_text(o, "expected", vs_drill_title(c->d));
	}
	if (at_line)
		vc_set_text(o, "seen", res->at.text);
	else if (out->verdict == VC_PASS)
		vc_set_text(o, "seen", "just that");
	else
		vc_set_text(o, "seen", v->found ? v->text : out->reason);
}

/* The runner hands the context back as it is. */
static void run_on_target(const struct vc_options *o, const struct vc_case *c, unsigned vector,
			  const struct vs_drill_env *env, struct vs_drill_result *res)
{
	if (o->program != NULL) {
		vc_program_run(o, c, vector, env, res);
	} else if (c->in_c != NULL) {
		*res = (struct vs_drill_result){.verdict = VS_VERDICT_PASS};
		if (o->agent != NULL && c->in_c->at_device)
			vc_remote_ccase(o, c->id, res);
		else
			c->in_c->run(o, env, res);
	} else if (o->verbs == NULL)
		vs_drill_run_sim(c->d, vector, env, res);
	else
		dr_run(c->d, vector, env, o->two ? vc_pair_open : vc_target_open, (void *)(uintptr_t)o, res);
}

/* The runner's own lateness is no news of the device. What fails as it is known to needs no such excuse. */
static bool is_settled(const struct vs_drill_result *res, const struct vc_outcome *out, bool known)
{
	bool bad = out->verdict == VC_WARN || out->verdict == VC_FAIL || out->verdict == VC_INCONCLUSIVE;

	if (known)
		return bad || !res->late;
	return out->verdict != VC_INCONCLUSIVE && !(res->late && bad);
}

/* Whoever was late may be so for seconds: a host that starts programs, another guest that boots. */
static void pause_before(unsigned again)
{
	const uint64_t ns = (uint64_t)PAUSE_NS << (again - 1);
	const struct timespec t = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};

	(void)nanosleep(&t, NULL);
}

/* Runs it, and where the runner may have been at fault once more. */
static void run_vector(const struct vc_options *o, const struct vc_case *c, unsigned vector, struct vc_record *record,
		       struct vs_drill_result *res, struct vc_violation *violation, struct vc_outcome *out)
{
	const bool known = vc_known_has(o->known, c, vector);

	for (unsigned i = 0; i < TRIES; i++) {
		struct vs_drill_env env = {.seed = o->seed, .encap = o->encap, .device = o->device, .hasty = known};

		if (i > 0)
			pause_before(i);
		vc_record_clear(record);
		vc_record_attach(record, &env);
		run_on_target(o, c, vector, &env, res);
		vc_judge(record, violation);
		vc_verdict(c, res, violation, o->strict, out);
		if (is_settled(res, out, known))
			return;
	}
}

static json_t *run_here(const struct vc_options *o, const struct vc_case *c, unsigned vector)
{
	static struct vc_record record;
	struct vc_violation violation = {.found = false};
	struct vs_drill_result res;
	struct vc_outcome out;
	struct timespec a, b;
	json_t *result;
	bool bad, died;

	if (c->d == NULL)
		return broken_script(c);
	vc_watch_begin();
	(void)clock_gettime(CLOCK_MONOTONIC, &a);
	run_vector(o, c, vector, &record, &res, &violation, &out);
	(void)clock_gettime(CLOCK_MONOTONIC, &b);
	result = identity(c, vector);
	set_outcome(result, &out);
	set_words(result, "variants", res.variant);
	if (out.by_rule)
		set_words(result, "rules", violation.rules);
	set_evidence(result, c, &res, &violation, &out);
	(void)json_object_set_new(result, "seconds",
				  json_real((double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9));
	(void)json_object_set_new(result, "time_ns", json_integer((json_int_t)res.time_ns));
	died = out.verdict == VC_ERROR && vc_agent_died();
	if (died)
		(void)json_object_set_new(result, "agent_died", json_true());
	bad = vc_is_bad(out.verdict) || out.verdict == VC_WARN;
	/* What takes a host down is told, and not how it is done. */
	if ((bad || o->html != NULL) && !(died && vs_drill_needs(c->d, "hazard")))
		vc_set_details(result, c, &record, o->html != NULL);
	vc_record_clear(&record);
	return result;
}

json_t *vc_job_run(const struct vc_options *o, const struct vc_case *c, unsigned vector)
{
	json_t *result = run_here(o, c, vector);

	if (o->verbs == NULL || !vc_fresh_wanted())
		return result;
	json_decref(result);
	return vc_fresh_run(o, c, vector, run_here);
}
