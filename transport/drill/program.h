/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * program.h - between the files of the target `program`: program_start.c (the process), program_record.c (what it did),
 * program.c (time, packets, completions), program_calls.c (the calls that a script claims).
 */
#ifndef VS_DRILL_PROGRAM_H
#define VS_DRILL_PROGRAM_H

#include "target.h"
#include "vs/program.h"

#define PROGRAM_CQS 64u

/* A queue pair, region, queue or domain of the script, and which of the record's it is. */
struct program_object {
	struct program_object *next;
	enum obj_kind kind;
	int node;
	uint32_t qpn, number;      /* number: of a completion queue */
	const struct vs_event *at; /* that made it */
	struct dr_memory mem;
	bool usual; /* every completion queue that the script does not name */
	struct vs_qp_init init;
};

struct program_target {
	struct dr_target t;
	struct dr_target_ops ops;
	struct dr_setup setup;
	struct vs_program *p;
	const struct vs_event *ev;
	size_t n, at; /* events before `at` have happened */
	size_t frame; /* of the next pkt:tx */
	bool *used;   /* calls that the script has claimed */
	uint64_t now;
	enum vs_reason reason[MAX_NODES];
	struct program_object *objects;
	size_t *polled; /* events of polls that nobody took yet, in order */
	size_t n_polled;
	size_t *asyncs, n_asyncs;
	char lacks[256], differs[256];
};

static inline struct program_target *program_self(struct dr_target *t)
{
	return (struct program_target *)t;
}

/* A file that vs-run left. */
struct vs_event_log;
struct vs_record;

/* Starts the program, with the faults of the script. False: `why`. */
bool program_start(struct vs_program *p, const struct dr_setup *s, const struct vs_drill_env *env, const char *vector,
		   char *why, size_t cap);
/* Which device a node of the script is: "ref0". */
const char *program_device(int node);
int program_node(const char *device); /* -1: none */
/* The run differs from the script: the first text counts. VS_OK, as if the call had been made. */
int program_differs(struct program_target *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
int program_lacks(struct program_target *t, const char *what);
/* Everything up to and with event i has happened. */
void program_reach(struct program_target *t, size_t i);
void program_calls(struct dr_target_ops *ops);

#endif
