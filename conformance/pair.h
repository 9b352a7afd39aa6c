/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* pair.h - between the files of the target of two devices: pair.c (time, wire, opening), pair_calls.c (the verbs). */
#ifndef CONFORM_PAIR_H
#define CONFORM_PAIR_H

#include "bridge.h"
#include "verbs.h"

/* An object: whose, and what that target calls it. */
struct on {
	struct on *next;
	unsigned end;
	void *h;
};

struct pair {
	struct dr_target t; /* first */
	struct dr_target_ops ops;
	struct dr_setup setup;
	struct dr_target *end[2];
	struct program program[2]; /* the script, as each of the devices sees it */
	const char *name[2];
	int node[2]; /* the first of each */
	const struct vc_gids *gids[2];
	struct on *objects;
	unsigned newest; /* whose event was told last */
	uint64_t heard_ns, pkt_id;
};

static inline struct pair *self(struct dr_target *t)
{
	return (struct pair *)(void *)t;
}

static inline unsigned end_of(const struct pair *p, int node)
{
	for (int i = 0; i < node; i++)
		if (p->setup.p->node[i].engine)
			return 1;
	return 0;
}

static inline struct dr_target *of_node(struct dr_target *t, int node)
{
	return self(t)->end[end_of(self(t), node)];
}

/* What either of the two can't do, or what has become of it, is so of both. */
void vc_pair_take_over(struct pair *p);
/* The same, and what the call said. */
static inline int told(struct dr_target *t, int rc)
{
	vc_pair_take_over(self(t));
	return rc;
}

/* Fills in the part of the operations that are verbs. */
void vc_pair_calls(struct dr_target_ops *ops);

#endif
