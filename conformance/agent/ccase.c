/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * ccase.c - cases that are written in C and make calls of libibverbs that wait for each other: they run here, in one
 * process with the library, and what they found goes to the runner.
 */
#include <string.h>

#include "../ccase.h"
#include "agent.h"

static struct vc_verbs *device;

/* What the case asks for is open already. */
struct vc_verbs *vc_verbs_open(const struct vc_options *o, char *why, size_t cap)
{
	(void)o;
	(void)why;
	(void)cap;
	return device;
}

bool ag_ccase(struct ag_session *s, const char *id)
{
	static const struct {
		const char *id;
		const struct vc_ccase *c;
	} cases[] = {{"CQ-011", &vc_ccase_cq_destroy},
		     {"AE-004", &vc_ccase_qp_destroy},
		     {"CQ-018-ex", &vc_ccase_cq_ex},
		     {"ROB-009-all", &vc_ccase_limits}};
	const struct vc_options o = {.verbs = s->opened};
	struct vs_drill_result res = {.verdict = VS_VERDICT_PASS};

	device = s->v;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (strcmp(id, cases[i].id) != 0)
			continue;
		cases[i].c->run(&o, NULL, &res);
		ag_put_num(&s->args, (uint64_t)res.verdict);
		ag_put_text(&s->args, res.at.text);
		return true;
	}
	return false;
}
