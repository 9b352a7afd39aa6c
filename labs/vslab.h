/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * vslab.h - vs-lab: what its files share.
 *
 *   main.c      the command line
 *   catalog.c   the labs that there are: a folder with a file `lab` each
 *   progress.c  what this learner has done, in the folder of the learner's work
 *   files.c     reading, writing, copying
 *   words.c     filling {names} of a text with numbers that differ from learner to learner
 *   start.c     start and reset: the folder of a lab
 *   predict.c   the learner's answers in predict.txt
 *   truth.c     what is right, computed from the record of a run
 *   build.c     compiling and running
 *   check.c     check: the scripts of a lab against the learner's program
 *   teach.c     what a check says when something does not hold
 *   show.c      show: ladder, packets, predictions beside observations
 *   hint.c      hint: one more each time
 *   streams.c   runs of simulated devices for a scoreboard (streams.h)
 *   forensics.c captures instead of a program (forensics.h), and the truth about them
 *   findings.c  what a learner says of them, and the display filters
 *   doctor.c    doctor: what is missing on this machine
 *
 * Everything that a learner reads is there in two languages: T(english, korean).
 */
#ifndef VSLAB_H
#define VSLAB_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/cli.h"
#include "vs/program.h"

/* Exit codes (docs/man/vs-lab.1). */
enum { VL_OK = VS_CLI_OK, VL_OPEN = VS_CLI_FINDING, VL_USAGE = VS_CLI_USAGE };

#define VL_LABS 32u
#define VL_QUESTIONS 16u
#define VL_TEXT 160u
#define VL_HASH 65u
#define VL_HINTS 5u /* the last one is the way from the starter to the solution */

extern bool vl_korean;
#define T(english, korean) (vl_korean ? (korean) : (english))

/* "vs-lab: text" on stderr, one line. */
#define vl_complain(...) vs_cli_complain("vs-lab", NULL, __VA_ARGS__)

/* ---- catalog.c ---- */

struct vl_lab {
	char id[4];         /* "03" */
	char dir[PATH_MAX]; /* of the lab */
	char name[64];      /* of that folder: "03-first-send" */
	char title[2][VL_TEXT], stage[2][VL_TEXT];
	char tracks[16];     /* "app", "dv", "both" */
	char kind[16];       /* docs/labs.md: program, warmup, unit, scoreboard, forensics */
	char run[VL_TEXT];   /* arguments of the run that questions are about */
	char libs[VL_TEXT];  /* for the linker */
	char fault[VL_TEXT]; /* that befalls that run */
	bool observed;       /* a unit with a finished program observe.c, whose run that is */
	unsigned minutes;
};
bool vl_is(const struct vl_lab *lab, const char *kind);
bool vl_has_record(const struct vl_lab *lab); /* the learner's program is run and recorded */
/* The file in the folder of the work that the learner changes. */
const char *vl_product(const struct vl_lab *lab);
/* Reads the labs below `dir`; how many, or -1 with a message. */
int vl_catalog(const char *dir, struct vl_lab lab[VL_LABS]);
/* The folder of the labs: beside this program, built or installed. NULL: it is not there. */
const char *vl_labs_dir(void);
/* A program beside this one: "vs-run". False: it is not there. */
bool vl_beside(const char *name, char path[PATH_MAX]);

/* ---- progress.c ---- */

struct vl_entry {
	char id[4];
	bool started, passed;
	unsigned hints;
	size_t seen;                        /* events up to where the newest check stopped; 0: it did not */
	char answer[VL_QUESTIONS][VL_HASH]; /* by question, from 1; "": none */
};
struct vl_progress {
	char home[PATH_MAX]; /* the folder of the learner's work */
	uint32_t seed;
	char salt[33];
	struct vl_entry entry[VL_LABS];
	size_t n;
};
/* VS_LAB_DIR or ~/verbscope-labs. False with a message. `seed` 0: the learner's own, or a new one. */
bool vl_progress_read(struct vl_progress *p, uint32_t seed);
bool vl_progress_write(const struct vl_progress *p);
struct vl_entry *vl_entry(struct vl_progress *p, const char *id); /* made when it is not there */

struct vl_session {
	struct vl_lab lab[VL_LABS];
	unsigned n;
	struct vl_progress progress;
};
/* The folder of the learner's work on a lab, or a file in it. */
void vl_work(const struct vl_session *s, const struct vl_lab *lab, const char *file, char path[PATH_MAX]);

/* ---- files.c ---- */

char *vl_read(const char *path, size_t *len); /* NULL: not there */
bool vl_write(const char *path, const char *text, size_t len);
bool vl_exists(const char *path);
bool vl_is_newer(const char *path, const char *than); /* than that file, by more than a moment */
bool vl_make_dirs(const char *path);
/* DIR/NAME, or DIR/NAME with .ko before its end where the language is Korean. */
void vl_localized(const char *dir, const char *stem, const char *end, char path[PATH_MAX]);

/* ---- words.c ---- */

/* `text` with every {name} of the lab's file `vars` filled in for this seed. To be freed; NULL: no memory. */
char *vl_fill(const struct vl_lab *lab, uint32_t seed, const char *text);

/* ---- predict.c ---- */

struct vl_question {
	unsigned number; /* 0: there is none */
	char answer[VL_TEXT];
};
/* Reads answers from predict.txt. How many questions it has; -1 with a message. */
int vl_predictions(const char *path, struct vl_question q[VL_QUESTIONS]);
void vl_hash_answer(const struct vl_progress *p, const char *lab, unsigned question, const char *answer,
		    char hash[VL_HASH]);
/* The form in which answers are compared: numbers without their spelling, words in lower case. */
void vl_normalize(const char *answer, char out[VL_TEXT]);
/* The same number at two digits: rounded, one more, one less. */
void vl_rounded(const char *answer, int step, char out[VL_TEXT]);

/* ---- truth.c ---- */

struct vl_truth {
	unsigned question; /* 0: none */
	bool must;         /* the learner has to have it right */
	bool rounded;      /* two digits are enough */
	char value[VL_TEXT];
};
/*
 * Computes the lab's file `truth` from the record of a run (may be NULL) and what the program printed. How many; -1
 * with a message.
 */
int vl_truths(const struct vl_lab *lab, uint32_t seed, const struct vs_record *record, const char *output,
	      struct vl_truth t[VL_QUESTIONS]);

/*
 * "EXPRESSION == EXPRESSION" of a run, both values as text. 1: it holds, 0: it does not, -1: it can't be understood.
 */
int vl_claim(const char *claim, const struct vs_record *record, const char *output, char left[VL_TEXT],
	     char right[VL_TEXT]);
/* "pkt:tx node=B opc=ACK": does the event fit the words that stand in count[...]? */
bool vl_event_fits(const struct vs_event *ev, const char *filter);

/* ---- build.c ---- */

/* Compiles SOURCE of a lab; `work` is the folder of the work. False: the compiler's words are on stderr, or, `quiet`,
 * nowhere. */
bool vl_compile(const struct vl_lab *lab, const char *source, const char *binary, const char *work, bool quiet);
/* Runs argv in the foreground, its output to a file (NULL: ours). Its exit code; -1 with a message. */
int vl_run(char *const argv[], const char *output);
/* The arguments of a lab's program: words, with $seed filled in. The array is NULL-terminated and points into `text`.
 */
void vl_arguments(char *text, const char *binary, uint32_t seed, char seed_text[16], char *argv[32]);
/* Runs the check of a unit, which is the program; for a scoreboard on the simulated wire, with runs to judge. As
 * vl_run. */
int vl_unit_run(const struct vl_session *s, const struct vl_lab *lab, const char *binary, const char *output);
/* What a run leaves in the folder of the work. */
struct vl_traces {
	char trace[PATH_MAX], capture[PATH_MAX], output[PATH_MAX];
};
void vl_traces(const struct vl_session *s, const struct vl_lab *lab, const char *dir, struct vl_traces *t);
/* The finished program of a lab whose own is functions, in the folder of the work. */
bool vl_compile_observed(const struct vl_lab *lab, const char *binary);
/* The run that the questions are about: the record is in `p`. False with a message. */
bool vl_plain_run(const struct vl_session *s, const struct vl_lab *lab, const char *binary, const struct vl_traces *t,
		  struct vs_program *p);

/* ---- the commands: exit codes ---- */

int vl_list(struct vl_session *s);
int vl_start(struct vl_session *s, const struct vl_lab *lab);
int vl_reset(struct vl_session *s, const struct vl_lab *lab);
int vl_check(struct vl_session *s, const struct vl_lab *lab);
int vl_hint(struct vl_session *s, const struct vl_lab *lab);
int vl_show(struct vl_session *s, const struct vl_lab *lab, size_t to);
int vl_show_udp(struct vl_session *s, const struct vl_lab *lab);
int vl_doctor(struct vl_session *s);

/* ---- show.c: also for the end of a check that holds ---- */
void vl_observations(struct vl_session *s, const struct vl_lab *lab);

/* ---- teach.c ---- */
void vl_teach(const struct vl_session *s, const struct vl_lab *lab, const char *script, const char *text,
	      const struct vs_drill_result *res, const struct vs_program *p, const struct vl_traces *t);

#endif
