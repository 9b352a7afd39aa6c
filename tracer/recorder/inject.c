/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * inject.c - what the rules of --inject make of a call. Whatever is done is recorded, with the rule's text, so that
 * nobody mistakes it for the program's own doing.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ring.h"

#define RULES 32

static struct rec_rule rules[RULES];
static _Atomic uint64_t calls[CALL_COUNT];

void rec_inject_read(void)
{
	const char *text = getenv("VS_INJECT"), *node = getenv("VS_NODE"), *end;

	rec_state.rules = 0;
	for (; text != NULL && *text != '\0' && rec_state.rules < RULES; text = *end != '\0' ? end + 1 : end) {
		char line[128], why[512], *rule = line, *at;

		end = strchr(text, '\n');
		if (end == NULL)
			end = text + strlen(text);
		snprintf(line, sizeof(line), "%.*s", (int)(end - text), text);
		at = strchr(line, '@'); /* "server@post_recv:skip": that process alone */
		if (at != NULL) {
			*at = '\0';
			if (node == NULL || strcmp(node, line) != 0)
				continue;
			rule = at + 1;
		}
		if (rule[0] == '\0')
			continue;
		if (rec_rule_parse(rule, &rules[rec_state.rules], why, sizeof(why)))
			rec_state.rules++;
		else
			fprintf(stderr, "vs-record: VS_INJECT: \"%s\": %s\n", rule, why);
	}
}

static void sleep_ms(uint64_t ms)
{
	struct timespec t = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};

	(void)nanosleep(&t, NULL);
}

static void apply(const struct rec_rule *r, unsigned i, struct injection *in)
{
	switch (r->what) {
	case WHAT_FIELD:
		in->rules |= 1ull << i;
		if (in->verdict == INJECT_NOTHING)
			in->verdict = INJECT_CHANGE;
		break;
	case WHAT_ERRNO:
		in->verdict = INJECT_FAIL;
		in->error = (int)r->value;
		break;
	case WHAT_SKIP:
		in->verdict = INJECT_SKIP;
		break;
	case WHAT_KILL:
		(void)raise(SIGKILL);
		break;
	case WHAT_DELAY:
		sleep_ms(r->value);
		break;
	}
}

struct injection rec_inject(enum rec_call call, const struct ibv_context *context)
{
	struct injection in = {0};
	uint64_t n = atomic_fetch_add(&calls[call], 1) + 1;

	for (unsigned i = 0; i < rec_state.rules; i++) {
		const struct rec_rule *r = &rules[i];

		if (r->call != call || n < r->from || n > r->to)
			continue;
		if (rec_on() && n == r->from) /* told once */
			rec_text(REC_INJECT, context, r->text);
		apply(r, i, &in);
	}
	return in;
}

bool rec_inject_touches(const struct injection *in, enum rec_field field)
{
	for (unsigned i = 0; in->rules != 0 && i < rec_state.rules; i++)
		if ((in->rules & 1ull << i) != 0 && rules[i].field == field)
			return true;
	return false;
}

uint64_t rec_inject_value(const struct injection *in, enum rec_field field, uint64_t v)
{
	for (unsigned i = 0; in->rules != 0 && i < rec_state.rules; i++) {
		if ((in->rules & 1ull << i) == 0 || rules[i].field != field)
			continue;
		v = rules[i].op == '+' ? v + rules[i].value : rules[i].op == '^' ? v ^ rules[i].value : rules[i].value;
	}
	return v;
}
