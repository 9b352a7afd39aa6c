/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * verdict.c - from what a script says, its class and the evidence for its rule to a verdict and its words.
 *
 *   N quoted    FAIL  violates C9-105
 *   N quoted2   FAIL  differs from the rule as restated by ...
 *   N otherwise FAIL  differs from expected behaviour (no public clause)
 *   A           FAIL  breaks the API contract
 *   S           WARN, FAIL with --strict
 *   I           VARIANT inside the allowed set, FAIL outside
 *   R           WARN: reported only
 *
 * Alternatives of `one of` are judged by their names: expected, deviation_X, warn_X, and all others are variants.
 */
#include "conform.h"

#include <string.h>

static const char *const names[VC_VERDICTS] = {
	[VC_PASS] = "PASS",   [VC_FAIL] = "FAIL",   [VC_WARN] = "WARN", [VC_VARIANT] = "VARIANT",
	[VC_XFAIL] = "XFAIL", [VC_XPASS] = "XPASS", [VC_SKIP] = "SKIP", [VC_INCONCLUSIVE] = "INCONCLUSIVE",
	[VC_ERROR] = "ERROR",
};

const char *vc_verdict_name(enum vc_verdict v)
{
	return names[v];
}

enum vc_verdict vc_verdict_by_name(const char *name)
{
	unsigned v = 0;

	while (v < VC_VERDICTS && strcmp(names[v], name) != 0)
		v++;
	return (enum vc_verdict)v;
}

char vc_class(const struct vc_case *c)
{
	if (c->row != NULL)
		return c->row->col[VC_COL_CLASS][0];
	return c->d != NULL && vs_drill_class(c->d) != 0 ? vs_drill_class(c->d) : 'N';
}

const char *vc_evidence(const struct vc_case *c)
{
	return c->row != NULL ? c->row->col[VC_COL_EVIDENCE] : "none";
}

static bool is_quoted(const struct vc_case *c)
{
	return strcmp(vc_evidence(c), "quoted") == 0 || strcmp(vc_evidence(c), "quoted1") == 0;
}

/* The source in the row that is marked [q], up to its mark. */
static void quoted_source(const struct vc_case *c, char *buf, size_t cap)
{
	const char *s = c->row->col[VC_COL_SOURCE], *end = strstr(s, "[q]"), *from;

	buf[0] = '\0';
	if (end == NULL)
		return;
	for (from = end; from > s && from[-1] != ';' && from[-1] != ',' && from[-1] != '('; from--)
		;
	while (*from == ' ')
		from++;
	(void)snprintf(buf, cap, "%.*s", (int)(end - from), from);
}

void vc_clause(const struct vc_case *c, char *buf, size_t cap)
{
	const char *said = c->d != NULL ? vs_drill_clause(c->d) : "";

	if (said[0] != '\0')
		(void)snprintf(buf, cap, "%s", said);
	else if (c->row != NULL && is_quoted(c))
		quoted_source(c, buf, cap);
	else
		buf[0] = '\0';
}

/* "violates C9-105" and the like. */
static void wording(const struct vc_case *c, char *buf, size_t cap)
{
	char clause[128];

	vc_clause(c, clause, sizeof(clause));
	switch (vc_class(c)) {
	case 'A':
		(void)snprintf(buf, cap, "breaks the API contract%s%s%s", clause[0] != '\0' ? " (" : "", clause,
			       clause[0] != '\0' ? ")" : "");
		return;
	case 'S':
		(void)snprintf(buf, cap, "does not follow advice%s%s%s", clause[0] != '\0' ? " (" : "", clause,
			       clause[0] != '\0' ? ")" : "");
		return;
	case 'I':
		(void)snprintf(buf, cap, "is none of the allowed behaviours");
		return;
	case 'R':
		(void)snprintf(buf, cap, "reported only");
		return;
	default:
		break;
	}
	if (is_quoted(c) && clause[0] != '\0')
		(void)snprintf(buf, cap, "violates %s", clause);
	else if (strcmp(vc_evidence(c), "quoted2") == 0)
		(void)snprintf(buf, cap, "differs from the rule as restated by %s",
			       clause[0] != '\0' ? clause : "a book or manual");
	else
		(void)snprintf(buf, cap, "differs from expected behaviour (no public clause)");
}

static enum vc_verdict severity(const struct vc_case *c, bool strict)
{
	switch (vc_class(c)) {
	case 'S':
		return strict ? VC_FAIL : VC_WARN;
	case 'R':
		return VC_WARN;
	default:
		return VC_FAIL;
	}
}

/* One alternative that was taken: the worst of all decides. */
static void alternative(const struct vc_case *c, const char *name, size_t n, bool strict, struct vc_outcome *out)
{
	char cls = vc_class(c), words[192];
	enum vc_verdict v = VC_VARIANT;

	if (n == 8 && memcmp(name, "expected", 8) == 0)
		return;
	if (n > 5 && memcmp(name, "warn_", 5) == 0)
		v = strict && cls != 'R' ? VC_FAIL : VC_WARN;
	else if (n > 10 && memcmp(name, "deviation_", 10) == 0)
		v = cls == 'N' || cls == 'A' ? VC_FAIL : strict && cls != 'R' ? VC_FAIL : VC_WARN;
	if (out->verdict == VC_FAIL || (out->verdict == VC_WARN && v == VC_VARIANT))
		return;
	wording(c, words, sizeof(words));
	out->verdict = v;
	if (v == VC_VARIANT)
		(void)snprintf(out->reason, sizeof(out->reason), "an allowed variant: %.*s", (int)n, name);
	else if (v == VC_FAIL)
		(void)snprintf(out->reason, sizeof(out->reason), "%s: %.*s", words, (int)n, name);
	else
		(void)snprintf(out->reason, sizeof(out->reason), "not what is expected: %.*s", (int)n, name);
}

static void variants(const struct vc_case *c, const char *taken, bool strict, struct vc_outcome *out)
{
	out->verdict = VC_PASS;
	while (*taken != '\0') {
		size_t n = strcspn(taken, ",");

		alternative(c, taken, n, strict, out);
		taken += n + (taken[n] == ',');
	}
}

static void violation(const struct vc_case *c, const struct vc_violation *v, struct vc_outcome *out)
{
	if (!v->found || (c->d != NULL && vs_drill_waives(c->d, "monitor")))
		return;
	out->verdict = vc_class(c) == 'R' ? VC_WARN : VC_FAIL;
	out->by_rule = true;
	(void)snprintf(out->reason, sizeof(out->reason), "breaks a rule of the wire, %s%s%s%s: %s", v->rule,
		       v->clause[0] != '\0' ? " (" : "", v->clause, v->clause[0] != '\0' ? ")" : "", v->text);
}

void vc_verdict(const struct vc_case *c, const struct vs_drill_result *res, const struct vc_violation *v, bool strict,
		struct vc_outcome *out)
{
	char words[192];

	*out = (struct vc_outcome){.verdict = VC_PASS};
	switch (res->verdict) {
	case VS_VERDICT_PASS:
	case VS_VERDICT_VARIANT:
		variants(c, res->variant, strict, out);
		if (out->verdict != VC_FAIL)
			violation(c, v, out);
		break;
	case VS_VERDICT_FAIL:
		wording(c, words, sizeof(words));
		out->verdict = severity(c, strict);
		(void)snprintf(out->reason, sizeof(out->reason), "%s: %s", words, res->at.text);
		if (res->doubtful) {
			out->verdict = VC_INCONCLUSIVE;
			(void)snprintf(out->reason, sizeof(out->reason), "the runner or the host was late: %s",
				       res->at.text);
		}
		break;
	case VS_VERDICT_SKIP:
		out->verdict = VC_SKIP;
		(void)snprintf(out->reason, sizeof(out->reason), "%s", res->at.text);
		break;
	default:
		out->verdict = VC_ERROR;
		(void)snprintf(out->reason, sizeof(out->reason), "%s", res->at.text);
		break;
	}
}
