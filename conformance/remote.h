/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * remote.h - the target `agent`: a device on another host, behind vs-agent (agent/agent.h).
 *
 *   remote_command.c the command that leads to the agent
 *   remote_link.c    lines to and from it; how it ends
 *   remote_clock.c   the agent's clock on ours, and what that may be wrong by
 *   remote_device.c  which device it has; a new agent in the place of one that died
 *   remote_target.c  one run: the verbs as requests
 *   remote_news.c    observations as they come
 *   remote_cm.c      connections
 */
#ifndef CONFORM_REMOTE_H
#define CONFORM_REMOTE_H

#include <sys/types.h>

#include "agent/msg.h"
#include "verbs.h"

/* ---- remote_clock.c ---- */

/* What is known of another clock: its time is ours and something between lo and hi. */
struct vc_clock {
	bool known;
	int64_t lo, hi;
	uint64_t at_ns; /* on ours: when that was found */
};
/* Something was sent at `sent`, taken there at `took`, answered there at `answered`, and the answer was here at `came`.
 */
void vc_clock_add(struct vc_clock *c, uint64_t sent, uint64_t took, uint64_t answered, uint64_t came);
uint64_t vc_clock_here(const struct vc_clock *c, uint64_t there);
uint64_t vc_clock_error_ns(const struct vc_clock *c, uint64_t now);

/* ---- remote_command.c ---- */

/* Starts it; the descriptors don't block. SIGTERM to what is returned ends everything that it has started. -1: errno.
 */
pid_t vc_command_start(const char *command, int *to, int *from, int *err);

/* ---- remote_link.c ---- */

enum vc_answer { VC_ANSWER_OK, VC_ANSWER_REFUSED, VC_ANSWER_LACKS, VC_ANSWER_FAILED, VC_ANSWER_OVER };

struct vc_link {
	pid_t pid;
	int to, from, err;
	struct ag_reader in;
	struct ag_line line; /* that is being made */
	char said[256];      /* the newest line of the command's standard error */
	size_t n_said;
	bool said_ends;
	char over[640];                    /* why there is no agent any more; "": there is one */
	uint64_t id, hello_ns, timeout_ns; /* how long a greeting, and any other answer, may take */
	uint64_t slow_ns;                  /* the longest that the way took, there and back */
	struct vc_clock clock;
	char verb[AG_WORD_MAX]; /* what was asked for last */
	/* What was observed; false: it makes no sense. */
	bool (*heard)(void *ctx, const char *what, uint64_t when_ns, struct ag_words *w);
	void *ctx;
};
/* Starts the command and greets the agent. NULL: `why` says why not. */
struct vc_link *vc_link_open(const char *command, uint64_t hello_ns, uint64_t timeout_ns, char *why, size_t cap);
/* Greets with something that nobody has said before, and waits for who says it, too. */
void vc_link_greet(struct vc_link *l, const char *nonce);
void vc_link_close(struct vc_link *l); /* NULL is fine */
/* Begins a request that is answered, or one that is not. */
struct ag_line *vc_link_begin(struct vc_link *l, const char *verb);
struct ag_line *vc_link_begin_told(struct vc_link *l, const char *verb);
void vc_link_tell(struct vc_link *l);
/* Sends it and waits. OK: `w` has what was answered; REFUSED: `*code` is a vs_err; LACKS, FAILED: `w` is at a text. */
enum vc_answer vc_link_ask(struct vc_link *l, struct ag_words *w, int *code);
/* Takes what has come; never waits. */
void vc_link_listen(struct vc_link *l);
/* The answer makes no sense: the session is over. */
void vc_link_nonsense(struct vc_link *l);
__attribute__((format(printf, 2, 3))) void vc_link_over(struct vc_link *l, const char *format, ...);

/* ---- remote_device.c ---- */

/* An agent with the device that `o` names, in v->link; a new one if there is none any more. */
bool vc_remote_connect(struct vc_verbs *v, const struct vc_options *o, char *why, size_t cap);

/* Lets the agent run a case that is written in C. */
void vc_remote_ccase(const struct vc_options *o, const char *id, struct vs_drill_result *res);

/* ---- remote_target.c, remote_news.c ---- */

struct vc_object {
	struct vc_object *next;
	enum obj_kind kind;
	uint32_t number, capacity, len;
	uint8_t *bytes, *known; /* O_MR: what the runner sees; what the agent has been told, or has told */
	bool gone;
	bool looked_at; /* O_CQ: in this round */
};

struct vc_news {
	struct vc_news *next;
	enum vc_news_kind { W_CQE, W_ASYNC, W_COMP, W_CONN } kind;
	uint64_t when_ns;
	int node;
	struct vc_object *o;
	union {
		struct vs_wc wc;
		enum vs_async_type async;
		struct vs_conn_event conn; /* its connection: the number as a pointer */
	};
};

/* One run. */
struct vc_remote {
	struct vc_link *link;
	struct vc_object *objects;
	struct vc_news *first, **last;
	unsigned n_news;
	bool round_over;                                    /* the runner has asked for everything */
	uint64_t when_ns;                                   /* of what was handed out last */
	uint32_t watched[MAX_OBJECTS + MAX_NODES], watches; /* what the agent was told */
	uint64_t step_until_ns;                             /* 0: none is under way */
};

bool vc_remote_open(struct vc_target *t, char *why, size_t cap);
void vc_remote_close(struct vc_target *t);
void vc_remote_ops(struct dr_target_ops *ops);
/* Lets the agent look for news until then. */
void vc_remote_step(struct vc_target *t, uint64_t until);
/* Takes what has come; with `wait` everything that has happened until now. */
void vc_remote_hear(struct vc_target *t, bool wait);
uint64_t vc_remote_lag_ns(struct vc_target *t);
/* Tells the agent which queues to look at. */
void vc_remote_watch(struct vc_target *t);
bool vc_remote_heard(void *ctx, const char *what, uint64_t when_ns, struct ag_words *w);
void vc_remote_news_ops(struct dr_target_ops *ops);
/* Begins a request. */
struct ag_line *vc_remote_request(struct dr_target *dt, const char *verb);
/* Sends the request that was begun: a result. When it is VS_OK, `w` has what was answered. */
int vc_remote_ask(struct dr_target *dt, struct ag_words *w);
/* Nothing more was answered than was read: VS_OK. */
int vc_remote_read_all(struct dr_target *dt, const struct ag_words *w);
/* Sends it: a result; a number, 0 when there is none. */
int vc_remote_ask_nothing(struct dr_target *t);
uint64_t vc_remote_ask_number(struct dr_target *t, uint64_t most);
/* The oldest of its kind that is for this queue, or this node. */
bool vc_remote_take(struct vc_remote *m, enum vc_news_kind kind, const struct vc_object *cq, int node,
		    struct vc_news *out);

/* ---- remote_cm.c ---- */

/* After vc_remote_open, for scripts that make connections. False: `why` says why not. */
bool vc_remote_cm_open(struct vc_target *t, char *why, size_t cap);
void vc_remote_cm_close(struct vc_target *t);
/* What is said behind the node. False: it makes no sense. */
bool vc_remote_cm_heard(struct vc_news *v, struct ag_words *w);

#endif
