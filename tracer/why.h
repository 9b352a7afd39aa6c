/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * why.h - the inside of `vs-trace why`.
 *
 *   why.c           the command: what is asked about, and the answer in text and JSON
 *   why_symptom.c   what went wrong first; what else did
 *   why_facts.c     what the trace knows of the two queue pairs, their memory and the packets between them
 *   causes.def      the causes;  why_table.c: which of them a symptom can have, the likely ones first
 *   why_memory.c why_peer.c why_local.c why_slow.c   judging: evidence for and against each cause
 *
 * A cause gets evidence from the events alone. The rules that were injected (fault:inject) are told of, but prove
 * nothing.
 */
#ifndef VT_WHY_H
#define VT_WHY_H

#include "trace.h"
#include "vs/reason.h"
#include "vs/verbs.h"

enum vt_cause {
	VT_CAUSE_NONE,
#define VT_CAUSE(ID, ...) VT_CAUSE_##ID,
#include "causes.def"
	VT_CAUSE_COUNT
};
struct vt_cause_info {
	const char *id, *text, *rule, *advice;
};
const struct vt_cause_info *vt_cause_info(enum vt_cause c); /* never NULL */

enum why_symptom {
	WHY_NOTHING,
	WHY_CQE,        /* a completion with an error: status */
	WHY_CALL,       /* a verb that was refused */
	WHY_ASYNC,      /* an asynchronous event: status is its type */
	WHY_NO_CQE,     /* a request that did not complete */
	WHY_CONNECTION, /* that never came up */
	WHY_SLOW,       /* nothing failed, but it was not smooth */
	WHY_WOKEN,      /* asked about a request that was done */
};

/* How sure. */
enum { WHY_CERTAIN = 100, WHY_LIKELY = 60, WHY_POSSIBLE = 20, WHY_OUT = 0 };

#define WHY_LINES 6
struct why_verdict {
	enum vt_cause cause;
	int score;
	unsigned n_for, n_against;
	char pro[WHY_LINES][200], con[WHY_LINES][200];
};

struct why_mr {
	size_t node, made, gone; /* events; gone VT_NONE: not deregistered */
	uint64_t addr, len;
	uint32_t lkey, rkey, access;
};

/* One end. */
struct why_end {
	size_t node, qp; /* VT_NONE: not known */
	uint32_t qpn;
	bool recorded;               /* its verbs are in the trace */
	size_t rtr, rts, init, caps; /* verb:qp_rtr ... in force; VT_NONE */
	size_t created, destroyed;
	size_t failed;          /* its first completion with an error, not flushed, before the symptom; VT_NONE */
	size_t failed_later;    /* the same, whenever it came */
	enum vs_qp_state state; /* when the symptom was seen */
	bool state_known;
};

struct why_facts {
	/* packets of the request, or of the queue pair where no request is known */
	uint32_t sent, resent, arrived, lost, dropped, answers, answers_lost, answered;
	uint32_t nak[5], rnr, timeouts, retries, acked_late;
	size_t first_nak, first_rnr, first_lost, first_answer_lost, first_timeout, first_drop;
	uint32_t from_peer;             /* packets of the connection that came from there at all */
	bool progress;                  /* something of this queue pair was acknowledged */
	size_t reason[VS_REASON_COUNT]; /* where a device said so; VT_NONE */
};

struct why {
	const struct vt_model *m;
	enum why_symptom symptom;
	unsigned status;
	size_t subject; /* the event that is asked about; VT_NONE */
	size_t op;      /* VT_NONE */
	struct why_end me, peer;
	struct why_facts f;
	struct why_mr *mr;
	size_t n_mr;
	size_t more;           /* symptoms besides */
	struct why_verdict *v; /* judged, the surest first */
	size_t n_v;
	struct why_verdict *now; /* that is being judged */
};

/* why_symptom.c: fills in symptom, status, subject, op. */
void why_find(struct why *w);
void why_about_event(struct why *w, size_t i);
void why_about_op(struct why *w, size_t op);
/* why_facts.c. False: no memory. */
bool why_gather(struct why *w);
/* why_table.c: judges; false: no memory. */
bool why_judge(struct why *w);
void why_free(struct why *w);

/* ---- for judging ---- */
/* Evidence; `event` is cited, VT_NONE: none. `score` counts when it is more than what the cause has. */
void why_for(struct why *w, int score, size_t event, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* Rules it out. */
void why_against(struct why *w, size_t event, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* A device said this reason: certain, and cited. */
bool why_said(struct why *w, enum vs_reason r);
/* An argument of an event; 0 where there is none. */
uint64_t why_arg(const struct why *w, size_t event, const char *name);
const char *why_text_arg(const struct why *w, size_t event, const char *name);
const char *why_end_text(const struct why *w, const struct why_end *e, char *buf, size_t cap);
const struct vt_op *why_op(const struct why *w);         /* NULL: none */
size_t why_last_event(const struct why *w, size_t node); /* the end of its record left out; 0: none */

typedef void why_judge_fn(struct why *w);
extern why_judge_fn *const why_memory_judge[VT_CAUSE_COUNT], *const why_peer_judge[VT_CAUSE_COUNT],
								     *const why_local_judge[VT_CAUSE_COUNT],
									     *const why_slow_judge[VT_CAUSE_COUNT];

#endif
