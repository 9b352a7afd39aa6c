/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * agent.h - vs-agent: the verbs side of conformance cases on another host, told what to do over a stream.
 *
 *   main.c      the command line
 *   stream.c    the stream: standard input and output, or a device like a serial line
 *   session.c   one session: lines in, replies out
 *   run.c       the device; the objects of one run, and what is observed of them
 *   calls.c     the requests that are calls of the verbs
 *   cm.c        those that are about connections, which are calls of librdmacm
 *   ccase.c     cases in C that are about calls of libibverbs
 *   line.c      lines and words            } of both sides
 *   msg.c       structures and memory      }
 *
 * It judges nothing. The calls are those of the target `verbs` (../verbs_*.c), the same code that runs in vs-conform
 * when the device is on its own host. docs/agent-protocol.md is the contract.
 */
#ifndef AG_AGENT_H
#define AG_AGENT_H

#include "../verbs.h"
#include "msg.h"

#define AG_OBJECTS 4096u           /* in one run */
#define AG_CONNS 256u              /* in one run */
#define AG_MEMORY_MAX (256u << 20) /* bytes of regions in one run */
#define AG_OUT_MAX (1u << 20)      /* bytes that wait to be written */
#define AG_STEP_MAX_NS UINT64_C(60000000000)

struct ag_slot {
	struct vh *h;
	struct dr_memory mem; /* O_MR */
	uint8_t *known;       /* O_MR: what the runner knows of it */
};

struct ag_session {
	int out;
	struct ag_reader reader;
	char *text; /* that waits to be written */
	size_t n_text;
	const char *device; /* the usual one; NULL: the only one */
	struct vc_verbs *v; /* NULL: not opened yet */
	char opened[AG_NAME];
	/* A run. */
	struct vc_target *t; /* NULL: there is none */
	struct program prog; /* nodes alone */
	struct vs_drill_env env;
	struct ag_slot slot[AG_OBJECTS]; /* [0]: none */
	uint32_t slots;
	void *conn[AG_CONNS]; /* what the target calls them, by number - 1 */
	uint32_t conns;
	uint64_t memory;
	uint32_t watch[MAX_OBJECTS + MAX_NODES], watches;
	uint64_t step_until_ns; /* 0: no step is under way */
	uint64_t active_ns;     /* when something was asked for, or observed */
	bool greeted;
	bool lost;           /* nobody reads any more */
	struct ag_line line; /* the reply, or an observation */
	struct ag_line args; /* of the reply */
};

/* Takes what came (s->reader) and does it. */
void ag_session_hear(struct ag_session *s);
/* Looks for news when a step is under way. True: one is, and it should be called again soon. */
bool ag_session_step(struct ag_session *s);
/* A new stream: what was said on the old one is over. */
void ag_session_reset(struct ag_session *s, int out);

/* s->line goes out, soon; and now. */
void ag_say(struct ag_session *s);
void ag_flush(struct ag_session *s);

/* run.c */
bool ag_device_open(struct ag_session *s, const char *name, char *why, size_t cap);
void ag_device_tell(const struct ag_session *s, struct ag_line *l);
bool ag_run_begin(struct ag_session *s, char *why, size_t cap); /* s->prog is set */
void ag_run_end(struct ag_session *s);
void ag_run_look(struct ag_session *s); /* what the queues that are watched and the channels have */

/* ccase.c: a case that is written in C; false: there is no such, or no device. */
bool ag_ccase(struct ag_session *s, const char *id);

/* ---- calls.c ---- */

/* Or a negative vs_err. */
enum ag_outcome { AG_DONE = 0, AG_WRONG = 1 /* the request makes no sense */ };
/* Puts what it has to say into s->args. */
typedef int ag_call_fn(struct ag_session *s, struct ag_words *w);
ag_call_fn *ag_call_find(const char *name); /* NULL: there is no such request */
int ag_node(struct ag_session *s, struct ag_words *w);

/* ---- cm.c ---- */

ag_call_fn *ag_cm_find(const char *name);
void ag_cm_look(struct ag_session *s, int node); /* what librdmacm has to tell */

#endif
