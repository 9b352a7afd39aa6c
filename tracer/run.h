/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* run.h - the inside of `vs-trace run`: run.c starts and waits, run_options.c reads the command line, run_meta.c
 * reports. recover.c does the rest of a run that was killed. */
#ifndef VT_RUN_H
#define VT_RUN_H

#include <limits.h>

#include "spool.h"
#include "trace.h"

#define RUN_FAILED 125 /* as env(1) */
#define RUN_WORDS 64
#define RUN_PROCESSES 256
#define RUN_INJECT 4096

enum run_device { RUN_AUTO, RUN_SYSTEM, RUN_REF0, RUN_PAIR, RUN_SIM };

struct run {
	enum run_device device;
	char dir[PATH_MAX];          /* absolute */
	const char *word[RUN_WORDS]; /* options for vs-run */
	unsigned n_words;
	char inject[RUN_INJECT]; /* rules, one a line */
	const char *payload;     /* NULL: none */
	bool light;              /* calls alone: no events of the device, no capture */
	bool fault;
	char **argv; /* the program */
	int code;    /* its exit code */
	int signal;  /* that killed it; 0: none */
	struct vt_spool_result process[RUN_PROCESSES];
	int n_processes;
};

/* -1: go on; otherwise the exit code. */
int vt_run_parse(struct run *r, int argc, char **argv);
/* run.c: what several processes recorded becomes trace.vst. 0 or RUN_FAILED. */
int vt_run_join(const struct run *r);
/* DIR/meta.json, and the lines that a person sees. */
int vt_run_meta(const struct run *r);
void vt_run_tell(const struct run *r);
const char *vt_run_device_text(const struct run *r);
/* What a trace made like this can't show: a sentence, or NULL. */
const char *vt_run_unseen(const struct run *r);

#endif
