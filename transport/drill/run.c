/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * run.c - the runner: statement by statement against a target, and the verdict.
 *
 * A statement that expects something waits for it as long as it says (1 s when it doesn't; states, counters and
 * memory for what is in flight). `one of` looks at the first statement of each alternative until one of them holds.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "run.h"

#define MAX_LAG_NS 5000000u /* who did not look for longer than this may have caused a failure himself */

/* ---- verdicts: the first one wins ---- */

static void verdict(struct run *r, const struct stmt *st, unsigned column, enum vs_verdict v, const char *format,
		    va_list ap)
{
	struct vs_drill_error *e = &r->res->at;

	if (r->failed)
		return;
	r->failed = true;
	r->res->verdict = v;
	if (r->t != NULL && r->t->gone != NULL) { /* whatever was seen, it was not the device's doing */
		r->res->verdict = VS_VERDICT_ERROR;
		(void)snprintf(e->text, sizeof(e->text), "%s", r->t->gone);
		dr_error_at(e, st != NULL ? st->line : r->line, st != NULL ? column : 1, r->d->text, r->d->len);
		return;
	}
	if (r->t != NULL && r->t->lacks != NULL) {
		r->res->verdict = VS_VERDICT_SKIP;
		(void)snprintf(e->text, sizeof(e->text), "%s", r->t->lacks);
		return;
	}
	r->res->doubtful |= r->t != NULL && r->t->ops->lag_ns != NULL &&
			    r->t->ops->lag_ns(r->t) > (r->patient ? r->t->slack_ns / 2 : MAX_LAG_NS);
	(void)vsnprintf(e->text, sizeof(e->text), format, ap);
	dr_error_at(e, st != NULL ? st->line : r->line, st != NULL ? column : 1, r->d->text, r->d->len);
}

void dr_verdict(struct run *r, const struct stmt *st, unsigned column, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	verdict(r, st, column, VS_VERDICT_FAIL, format, ap);
	va_end(ap);
}

void dr_broken(struct run *r, const struct stmt *st, unsigned column, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	verdict(r, st, column, VS_VERDICT_ERROR, format, ap);
	va_end(ap);
}

/* ---- time ---- */

bool dr_step(struct run *r)
{
	if (++r->steps > r->max_steps)
		dr_broken(r, NULL, 0, "more than %llu things happened: does this script end?",
			  (unsigned long long)r->max_steps);
	return !r->failed;
}

bool dr_pass(struct run *r, uint64_t until)
{
	bool more = r->t->ops->step(r->t, until);

	dr_hear(r);
	if (r->t->gone != NULL)
		dr_verdict(r, NULL, 0, "%s", r->t->gone);
	(void)dr_step(r);
	return more && !r->failed;
}

/* ---- statements ---- */

static void statements(struct run *r, const struct stmt *st, uint64_t start, bool first_started);

static void await_one(struct run *r, const struct stmt *st, uint64_t start, uint32_t k)
{
	bool over = false;
	uint64_t until = 0;
	enum outcome o;

	while ((o = dr_observe(r, st, start, k, over, &until)) == PENDING && !r->failed) {
		over = !dr_pass(r, until);
		if (over)
			dr_look_later(r, st, start, k, until);
	}
	if (o == HOLDS && !r->failed)
		dr_consume(r, st, k);
}

/* Those of count=A..B that may come. */
static void await_more(struct run *r, const struct stmt *st, uint64_t start, uint32_t k, uint32_t most)
{
	uint64_t until = 0;

	for (; k < most && !r->failed; k++) {
		enum outcome o;

		while ((o = dr_one_more(r, st, start, k, &until)) == PENDING && dr_pass(r, until))
			;
		if (o == PENDING)
			o = dr_one_more(r, st, start, k, &until);
		if (o != HOLDS)
			return;
		dr_consume(r, st, k);
	}
}

static void await(struct run *r, const struct stmt *st, uint64_t start)
{
	uint32_t most = dr_items(r, st), least = dr_least(r, st, most);

	for (uint32_t k = 0; k < least && !r->failed; k++)
		await_one(r, st, start, k);
	if (least < most)
		await_more(r, st, start, least, most);
}

static void choose_alternative(struct run *r, const struct alternative *a, uint64_t start)
{
	size_t n = strlen(r->variants);

	(void)snprintf(r->variants + n, sizeof(r->variants) - n, "%s%s", n > 0 ? "," : "", a->name);
	statements(r, a->first, start, true);
}

/* Is the first thing that the alternative says a thing to see? Others are done when nothing before them holds. */
static void one_of(struct run *r, const struct stmt *st)
{
	uint64_t start = r->t->ops->now(r->t), over = 0; /* everything up to that has happened */

	for (;;) {
		uint64_t until = VS_NEVER, now = r->t->ops->now(r->t);
		char names[160] = "";

		for (const struct alternative *a = st->alt; a != NULL; a = a->next) {
			struct vs_drill_error keep = r->res->at;
			uint64_t u = now;
			enum outcome o = a->first == NULL ? HOLDS : dr_observe(r, a->first, start, 0, false, &u);

			if (o == PENDING && u <= over)
				o = dr_observe(r, a->first, start, 0, true, &u);
			if (o == FAILS) {
				size_t n = strlen(names);

				if (r->res->verdict == VS_VERDICT_ERROR)
					return;
				(void)snprintf(names + n, sizeof(names) - n, "; %s: %.60s", a->name, r->res->at.text);
				r->failed = false;
				r->res->at = keep;
			}
			if (o == HOLDS) {
				choose_alternative(r, a, start);
				return;
			}
			if (o == PENDING && u < until)
				until = u;
		}
		if (until == VS_NEVER) {
			dr_verdict(r, st, st->column, "none of the alternatives happened%s", names);
			return;
		}
		if (!dr_pass(r, until))
			over = until;
		if (r->failed)
			return;
	}
}

static void repeat(struct run *r, const struct stmt *st)
{
	uint64_t first = 1, last = 0;

	if (!dr_eval(r, st, st->left.e, st->obj != NULL ? &first : &last) ||
	    (st->obj != NULL && !dr_eval(r, st, st->left.e2, &last)))
		return;
	for (uint64_t i = first; i <= last && !r->failed; i++) {
		if (st->obj != NULL)
			dr_rt(r, st->obj)->number = i;
		statements(r, st->alt->first, 0, false);
		if (i == UINT64_MAX)
			break;
	}
}

static void statements(struct run *r, const struct stmt *st, uint64_t start, bool first_started)
{
	for (; st != NULL && !r->failed; st = st->next) {
		r->line = st->line;
		if (++r->res->steps > r->max_steps / 10) {
			dr_broken(r, st, st->column, "more than %llu statements were executed: does this script end?",
				  (unsigned long long)r->max_steps / 10);
			return;
		}
		if (st->watched && !r->t->tells_sent)
			r->t->lacks = "nobody hears what an engine sends to another one here";
		if (!first_started)
			start = r->t->ops->now(r->t);
		first_started = false;
		if (st->kind == S_ONE_OF)
			one_of(r, st);
		else if (st->kind == S_REPEAT)
			repeat(r, st);
		else if (dr_items(r, st) > 0)
			await(r, st, start);
		else
			dr_execute(r, st);
		if (r->t->differs != NULL)
			dr_verdict(r, st, st->column, "%s", r->t->differs);
		if (!r->failed)
			dr_hear(r);
		if (r->t->lacks != NULL || r->t->gone != NULL)
			dr_verdict(r, st, st->column, "%s", r->t->gone != NULL ? r->t->gone : r->t->lacks);
	}
}

/* ---- a run ---- */

static void run_vector(struct run *r)
{
	const char *why = r->p->skip != NULL ? r->p->skip : dr_lacking(r);
	uint64_t begin, end;

	if (why == NULL && r->open != dr_sim_open && r->d->sim_only[0] != '\0')
		why = r->d->sim_only;
	if (why != NULL) {
		r->res->verdict = VS_VERDICT_SKIP;
		(void)snprintf(r->res->at.text, sizeof(r->res->at.text), "%s", why);
		return;
	}
	if (!dr_open(r))
		return;
	begin = r->t->slack_ns > 0 ? r->t->ops->now(r->t) : 0; /* real clocks begin anywhere */
	statements(r, r->p->first, 0, false);
	end = r->t->ops->now(r->t) + (r->t->recorded ? UINT64_C(3600000000000) : r->t->settle_ns);
	while (!r->failed && dr_pass(r, end))
		;
	if (!r->failed)
		dr_leftovers(r);
	r->res->time_ns = r->t->ops->now(r->t) - begin;
	if (!r->failed && r->variants[0] != '\0') {
		r->res->verdict = VS_VERDICT_VARIANT;
		r->res->late = r->t->ops->lag_ns != NULL && r->t->ops->lag_ns(r->t) > r->t->slack_ns / 2;
		memcpy(r->res->variant, r->variants, sizeof(r->res->variant));
	}
}

void dr_run(const struct vs_drill *d, unsigned vector, const struct vs_drill_env *env, dr_open_fn *open, void *ctx,
	    struct vs_drill_result *result)
{
	static const struct vs_drill_env none;
	struct program p = {.n_nodes = 0};
	struct run *r = calloc(1, sizeof(*r));

	*result = (struct vs_drill_result){.verdict = VS_VERDICT_PASS};
	if (r == NULL || vector >= d->vectors) {
		result->verdict = VS_VERDICT_ERROR;
		(void)snprintf(result->at.text, sizeof(result->at.text),
			       r == NULL ? "no memory" : "there is no vector %u", vector);
		free(r);
		return;
	}
	r->d = d;
	r->p = &p;
	r->env = env != NULL ? env : &none;
	r->open = open;
	r->vector = vector;
	r->open_ctx = ctx;
	r->res = result;
	r->max_steps = r->env->max_steps != 0 ? r->env->max_steps : MAX_STEPS;
	r->pending_tail = &r->pending;
	/* Only reading: the header of the script is as it was. */
	if (dr_parse_vector((struct vs_drill *)(uintptr_t)d, vector, &p, &result->at)) {
		if (r->env->vlan != 0)
			p.vlan = r->env->vlan;
		run_vector(r);
	} else {
		result->verdict = VS_VERDICT_ERROR;
	}
	dr_close(r);
	dr_arena_free(&p.arena);
	free(r);
}

void vs_drill_run_sim(const struct vs_drill *d, unsigned vector, const struct vs_drill_env *env,
		      struct vs_drill_result *result)
{
	dr_run(d, vector, env, dr_sim_open, NULL, result);
}
