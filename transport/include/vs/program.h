/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * program.h - a program as the device under test: it is started on the simulated wire (vs-run --sim), what it did is
 * recorded, and a script says what should have happened.
 *
 * Nothing is asked of the program: it is any verbs program that opens both devices. The first node of the script is
 * ref0, the second ref1. The lines that make verbs calls in the simulator are expectations here: each must be
 * found in the record, those of one object in their order. docs/drill-language.md has the rules.
 */
#ifndef VS_PROGRAM_H
#define VS_PROGRAM_H

#include "vs/drill.h"
#include "vs/pktio.h"

#define VS_PROGRAM_PATH 4096u

/* What a program did: the events of both devices, and every frame that one of them sent. */
struct vs_record;

/* NULL: `why` says what is wrong with which file. */
struct vs_record *vs_record_read(const char *trace, const char *capture, char *why, size_t cap);
void vs_record_free(struct vs_record *r); /* NULL is fine */
const struct vs_event *vs_record_events(const struct vs_record *r, size_t *n);
/* The k-th frame that was sent, from 0: that of the k-th pkt:tx event. False: there are not so many. */
bool vs_record_frame(const struct vs_record *r, size_t k, struct vs_frame *f);

struct vs_program {
	const char *vs_run; /* its path */
	char *const *argv;  /* NULL at its end; a word $NAME is the value of that name in the vector */
	const char *trace, *capture, *output;        /* files for the record and for what the program writes */
	const char *const *fault, *const *deviation; /* besides those of the script; NULL at their ends, or NULL */
	unsigned limit_ms;                           /* real time that it may take; 0: half a minute */
	/* results */
	struct vs_record *record; /* NULL: there is none; vs_program_clear frees it */
	bool late;                /* it took longer, and was ended */
	int code;                 /* its exit code, 128 and the signal */
	size_t seen;              /* so many events had happened where the run of the script ended */
};

/* Runs the program and one vector of the script on what it did. */
void vs_drill_run_program(const struct vs_drill *d, unsigned vector, const struct vs_drill_env *env,
			  struct vs_program *p, struct vs_drill_result *result);
/* The same with a record that is there already. */
void vs_drill_run_record(const struct vs_drill *d, unsigned vector, const struct vs_drill_env *env,
			 struct vs_program *p, struct vs_drill_result *result);
void vs_program_clear(struct vs_program *p);
/* A new folder for such files, NAME-XXXXXX where TMPDIR says, or in /tmp. False: none can be made in `path`. */
bool vs_program_folder(const char *name, char path[VS_PROGRAM_PATH]);

#endif
