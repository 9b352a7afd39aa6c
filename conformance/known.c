/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * known.c - what is known to differ, and what is allowed to: deviation files and profiles.
 *
 * A deviation file has lines "CASE SINCE REASON": CASE is a pattern as on the command line, SINCE a date or a
 * version; one that begins with ~ says that it fails at times: either verdict is what is known. '#' begins a comment.
 * With rule:ID in the place of CASE the line is about all cases in which that rule of the wire was broken, and nothing
 * else was wrong.
 */
#include "conform.h"

#include <stdlib.h>
#include <string.h>

#include "vs/monitor.h"

static char *word(char **at)
{
	char *begin = *at + strspn(*at, " \t");
	size_t n = strcspn(begin, " \t");

	*at = begin + n;
	if (**at != '\0')
		*(*at)++ = '\0';
	return begin;
}

int vc_known_read(struct vc_known *k, const char *path)
{
	size_t lines = 1, number = 0;

	*k = (struct vc_known){.text = vc_read_file(path, 1u << 20, NULL)};
	if (k->text == NULL)
		return VC_USAGE;
	for (const char *c = k->text; *c != '\0'; c++)
		lines += *c == '\n';
	k->line = calloc(lines, sizeof(*k->line));
	if (k->line == NULL)
		return vc_complain("no memory"), VC_USAGE;
	for (char *at = k->text, *next; at != NULL && *at != '\0'; at = next) {
		char *l = at;

		next = strchr(at, '\n');
		if (next != NULL)
			*next++ = '\0';
		number++;
		l[strcspn(l, "#\r")] = '\0';
		if (l[strspn(l, " \t")] == '\0')
			continue;
		k->line[k->n].pattern = word(&l);
		k->line[k->n].since = word(&l);
		l += strspn(l, " \t");
		k->line[k->n].reason = l;
		if (*l == '\0') {
			vc_complain("%s:%zu: a line says CASE SINCE REASON", path, number);
			return VC_USAGE;
		}
		if (strncmp(k->line[k->n].pattern, "rule:", 5) == 0 &&
		    vs_rule_by_id(k->line[k->n].pattern + 5) == VS_RULE_NONE) {
			vc_complain("%s:%zu: there is no rule %s", path, number, k->line[k->n].pattern + 5);
			return VC_USAGE;
		}
		k->n++;
	}
	return VC_OK;
}

void vc_known_free(struct vc_known *k)
{
	free(k->line);
	free(k->text);
}

static bool knows_rule(struct vc_known *k, const char *id, size_t *line)
{
	for (size_t i = 0; i < k->n; i++) {
		if (strncmp(k->line[i].pattern, "rule:", 5) != 0 || strcmp(k->line[i].pattern + 5, id) != 0)
			continue;
		*line = i;
		return k->line[i].used = true;
	}
	return false;
}

/* Rules of the wire alone were broken, and each is one that is known to be. */
static bool knows_rules(struct vc_known *k, const json_t *r, size_t *line)
{
	const json_t *rules = json_object_get(r, "rules"), *rule;
	size_t i;

	json_array_foreach (rules, i, rule)
		if (!knows_rule(k, json_string_value(rule), line))
			return false;
	return json_array_size(rules) > 0;
}

static void as_known(const struct vc_known *k, size_t line, enum vc_verdict to, json_t *r)
{
	char reason[2 * VS_DRILL_TEXT];

	(void)snprintf(reason, sizeof(reason), "%s (known since %s: %s)%s%s",
		       to == VC_XFAIL ? "fails as it is known to" : "holds, and is known not to", k->line[line].since,
		       k->line[line].reason, vc_text(r, "reason")[0] != '\0' ? ": " : "", vc_text(r, "reason"));
	(void)json_object_set_new(r, "verdict", json_string(vc_verdict_name(to)));
	(void)json_object_set_new(r, "reason", json_string(reason));
}

static bool fits(const struct vc_known_line *l, const char *name, const char *id)
{
	return vc_glob(l->pattern, name) || vc_glob(l->pattern, id);
}

bool vc_known_has(const struct vc_known *k, const struct vc_case *c, unsigned vector)
{
	char name[VC_NAME];

	vc_vector_name(c, vector, name);
	for (size_t i = 0; k != NULL && i < k->n; i++)
		if (fits(&k->line[i], name, c->id))
			return true;
	return false;
}

void vc_known_apply(struct vc_known *k, json_t *r)
{
	enum vc_verdict v = vc_verdict_by_name(vc_text(r, "verdict")), to;
	char name[VC_NAME];
	size_t line = 0;

	vc_result_name(r, name);
	for (size_t i = 0; i < k->n; i++) {
		if (!fits(&k->line[i], name, vc_text(r, "id")))
			continue;
		k->line[i].used = true;
		/* What fails as it is known to needs no excuse: that somebody was late explains nothing. And a device
		 * that hangs or dies takes its agent with it. */
		if (v == VC_FAIL || v == VC_WARN || v == VC_INCONCLUSIVE ||
		    (v == VC_ERROR && json_is_true(json_object_get(r, "agent_died"))))
			to = VC_XFAIL;
		else if ((v == VC_PASS || v == VC_VARIANT) && k->line[i].since[0] != '~')
			to = VC_XPASS;
		else
			return;
		as_known(k, i, to, r);
		return;
	}
	if (knows_rules(k, r, &line))
		as_known(k, line, VC_XFAIL, r);
}

int vc_profile_write(const json_t *report, const char *path)
{
	json_t *profile = json_object(), *all = json_object(), *r;
	char name[VC_NAME];
	size_t i;
	int rc;

	json_array_foreach (json_object_get(report, "cases"), i, r) {
		json_t *v = json_object_get(r, "variants");

		if (json_array_size(v) == 0)
			continue;
		vc_result_name(r, name);
		(void)json_object_set(all, name, v);
	}
	(void)json_object_set(profile, "device", json_object_get(report, "device"));
	(void)json_object_set_new(profile, "variants", all);
	rc = vc_write_file(path, vc_put_json, profile);
	json_decref(profile);
	return rc;
}
