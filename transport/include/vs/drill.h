/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * drill.h - scenario scripts: one text file is one exchange and one claim.
 *
 * A script is parsed once (vs_drill_parse), has one or more vectors (its `matrix`), and each vector
 * runs against a target (vs_drill_run_sim: the simulator). The script never knows where the device under
 * test lives. The language: docs/drill-language.md.
 *
 * A script error is a verdict with line, column and a caret, never a crash; everything is limited.
 */
#ifndef VS_DRILL_H
#define VS_DRILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vs/event.h"
#include "vs/sim.h" /* enum vs_tap_where */
#include "vs/wire.h"

#define VS_DRILL_MAX_BYTES (256u * 1024)
#define VS_DRILL_MAX_LINES 4096u
#define VS_DRILL_MAX_VECTORS 4096u
#define VS_DRILL_MAX_MATRIX 8u
#define VS_DRILL_MAX_WORK 65536u /* lines times vectors */
#define VS_DRILL_TEXT 512u

enum vs_verdict {
	VS_VERDICT_PASS,
	VS_VERDICT_FAIL,
	VS_VERDICT_VARIANT, /* passed, by way of a named alternative that is recorded */
	VS_VERDICT_SKIP,    /* the target can't give what the script needs */
	VS_VERDICT_ERROR,   /* the script is wrong, or the target broke */
};
const char *vs_verdict_name(enum vs_verdict v);

/* Where a script is wrong, or where what happened differs from it. */
struct vs_drill_error {
	unsigned line, column;      /* 1-based; 0: the file as a whole */
	char text[VS_DRILL_TEXT];   /* what is wrong, what was expected, a suggestion */
	char source[VS_DRILL_TEXT]; /* the line itself */
};
/* "file:line:column: text\n  the line\n     ^\n" into buf; bytes as snprintf. */
int vs_drill_error_format(const struct vs_drill_error *e, const char *file, char *buf, size_t cap);

struct vs_drill; /* a parsed script */

/* NULL with *err filled. `text` needs no terminator and is copied. */
struct vs_drill *vs_drill_parse(const char *text, size_t len, struct vs_drill_error *err);
void vs_drill_free(struct vs_drill *d); /* NULL is fine */

const char *vs_drill_id(const struct vs_drill *d);
const char *vs_drill_title(const struct vs_drill *d);
const char *vs_drill_clause(const struct vs_drill *d); /* "" when none is given */
char vs_drill_class(const struct vs_drill *d);         /* 'N', 'S', 'A', 'I', 'R'; 0: none given */
bool vs_drill_needs(const struct vs_drill *d, const char *word);
/* Does any vector waive this invariant ("leftover_packet", "monitor" ...)? */
bool vs_drill_waives(const struct vs_drill *d, const char *invariant);
unsigned vs_drill_vectors(const struct vs_drill *d); /* at least 1 */
/* "mtu=256,len=5" into buf, "" for a script without matrix; bytes as snprintf. */
int vs_drill_vector_name(const struct vs_drill *d, unsigned vector, char *buf, size_t cap);

struct vs_drill_result {
	enum vs_verdict verdict;
	char variant[256];        /* VARIANT: names of the alternatives taken, comma separated */
	struct vs_drill_error at; /* FAIL, ERROR: where and why */
	bool doubtful;            /* FAIL, and it may have been the runner who was late (targets in real time) */
	bool late;                /* VARIANT, and somebody did not look for so long that another one may be the truth */
	uint64_t steps;           /* statements executed */
	uint64_t time_ns;         /* virtual time that it took */
};

/* One frame, as the wire tells of it; valid during the call. */
struct vs_drill_frame {
	uint64_t now_ns;
	const char *node; /* whom it leaves, reaches, or was lost behind ("switch") */
	enum vs_tap_where where;
	enum vs_link link;
	const uint8_t *data;
	size_t len;
};

/* What a run needs; zeros are defaults. */
struct vs_drill_env {
	uint64_t seed;
	struct vs_event_sink sink; /* sees all events of the run; emit NULL: none */
	/* Every frame that leaves a node, reaches one or is lost: for captures. */
	void (*tap)(void *ctx, const struct vs_drill_frame *frame);
	void *tap_ctx;
	const char *encap; /* "rocev2-ipv4" (default), "rocev2-ipv6", "rocev1", "ib", "ib-grh"; overrides the script */
	uint16_t vlan;     /* 1 to 4094: overrides the script; 0: as the script says */
	uint64_t deviations; /* of the engines; vs/dev.h */
	/* Settings of the target's own, as text that only the target reads; NULL: none. The simulator knows
	 * "deviation=NAME[,NAME...]", added to `deviations`. */
	const char *device;
	/* So much may happen in a run (instants of the simulation, packets, work requests), and a tenth as many
	 * statements may be executed; more is an ERROR. 0: 2,000,000. */
	uint64_t max_steps;
	bool hasty; /* whether what did not come in time comes later is not wanted to be known */
};

/* Runs one vector in the simulator. */
void vs_drill_run_sim(const struct vs_drill *d, unsigned vector, const struct vs_drill_env *env,
		      struct vs_drill_result *result);

#endif
