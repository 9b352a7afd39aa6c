/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* rules.c - rules.def as a table. */
#include <string.h>

#include "vs/monitor.h"

struct row {
	struct vs_rule_info info;
	enum vs_reason reason; /* whose id, clause and sentence count */
};

#define VS_RULE_OF_REASON(ID, level) {{NULL, NULL, NULL, VS_RULE_##level}, VS_REASON_##ID},
#define VS_RULE(ID, id, level, clause, sentence) {{id, clause, sentence, VS_RULE_##level}, VS_REASON_NONE},
static const struct row rows[VS_RULE_COUNT] = {
	{{"none", "", "no rule", VS_RULE_NOTE}, VS_REASON_NONE},
#include "rules.def"
};

/* Filled once, from two tables of constants: whoever comes second writes the same. */
static struct vs_rule_info merged[VS_RULE_COUNT];

const struct vs_rule_info *vs_rule_info(enum vs_rule r)
{
	const struct row *row = &rows[(unsigned)r < VS_RULE_COUNT ? r : VS_RULE_NONE];
	struct vs_rule_info *to = &merged[row - rows];
	const struct vs_reason_info *reason;

	if (row->reason == VS_REASON_NONE)
		return &row->info;
	if (to->id == NULL) {
		reason = vs_reason_info(row->reason);
		to->clause = reason->clause;
		to->sentence = reason->sentence;
		to->level = row->info.level;
		to->id = reason->id;
	}
	return to;
}

enum vs_rule vs_rule_by_id(const char *id)
{
	for (unsigned r = 1; r < VS_RULE_COUNT; r++)
		if (strcmp(vs_rule_info((enum vs_rule)r)->id, id) == 0)
			return (enum vs_rule)r;
	return VS_RULE_NONE;
}

const char *vs_rule_level_name(enum vs_rule_level level)
{
	static const char *const names[] = {"note", "should", "must"};

	return names[level];
}
