/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * ccase.h - cases that a script can't say, written in C: calls that wait for other calls, random walks. They live in
 * the same space of ids. What a script's header says, theirs does, too; the rest is a function.
 *
 *   ccase_wait.c  a destroy that waits until events are acknowledged
 *   ccase_cqex.c  extended completion queues, and times in completions
 *   ccase_limits.c  objects until there are no more
 *   ccase_walk.c  random legal work
 */
#ifndef CONFORM_CCASE_H
#define CONFORM_CCASE_H

#include "conform.h"

struct vc_ccase {
	const char *file;   /* where it is written */
	const char *header; /* case, clause, class, needs, as in a script */
	/* Fills `res` as the runner of scripts does; `env` has the seed and who records. */
	void (*run)(const struct vc_options *o, const struct vs_drill_env *env, struct vs_drill_result *res);
	/* It makes calls of libibverbs itself, without the peer: an agent runs it where these are. */
	bool at_device;
};
extern const struct vc_ccase *const vc_ccases[]; /* NULL at the end */
extern const struct vc_ccase vc_ccase_cq_destroy, vc_ccase_qp_destroy, vc_ccase_cq_ex, vc_ccase_limits, vc_ccase_walk;

/* A verdict with a text. */
__attribute__((format(printf, 3, 4))) void vc_ccase_say(struct vs_drill_result *res, enum vs_verdict v,
							const char *format, ...);

#endif
