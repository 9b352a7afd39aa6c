/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * conform.h - vs-conform: what its files share.
 *
 *   main.c       subcommands, exit codes
 *   options.c    the command line of a run
 *   suite.c      case files in, selection by name
 *   inventory.c  the rows that cases are about
 *   list.c       --list and --explain
 *   job.c        one vector on the target: a result, as JSON
 *   detail.c     the evidence in a result
 *   lag.c        how late this process was
 *   ccase*.c     cases in C (ccase.h)
 *   record.c     what a run did: events and frames
 *   judge.c      the monitor beside a run
 *   verdict.c    from what a script says, its class and the evidence to a verdict
 *   known.c      deviation files and profiles
 *   verbs*.c     the target `verbs` (verbs.h)
 *   remote*.c    the target `agent` (remote.h); agent/ is the program at its far side
 *   program.c    the target `program`: what a program does by itself
 *   peer*.c      who talks to a device (peer.h)
 *   pair*.c      the target of two devices; bridge.c is between them (bridge.h)
 *   pool.c       worker processes
 *   watch.c      what a worker was about when it was lost
 *   text.c       the report on a terminal
 *   formats.c    JSON, TAP, JUnit
 *   html.c       one page, made of report.html
 *   diff.c       two reports against each other
 *   doctor.c     what this host and its devices allow
 *   coverage.c   conformance/coverage.md
 *
 * Results are JSON from the moment that they leave the process that made them (docs/conformance-json.md): every report
 * is made from them, and so is a comparison.
 */
#ifndef CONFORM_H
#define CONFORM_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "cli/cli.h"
#include "peer.h"
#include "vs/drill.h"
#include "vs/vst.h"

/* Exit codes (docs/man/vs-conform.1). */
enum { VC_OK = VS_CLI_OK, VC_FAILED = VS_CLI_FINDING, VC_USAGE = VS_CLI_USAGE, VC_NOTHING = VS_CLI_NOTHING };

#define VC_ID 32
#define VC_NAME 320 /* ID[vector] */

/* "vs-conform: text" on stderr, one line; and the end of standard output. */
#define VC_PROGRAM "vs-conform"
#define vc_complain(...) vs_cli_complain(VC_PROGRAM, NULL, __VA_ARGS__)
#define vc_flush() vs_cli_flush(VC_PROGRAM, NULL)
/* The whole file, with a terminator; NULL with a message. *len may be NULL. */
char *vc_read_file(const char *path, size_t most, size_t *len);
/* Could it be written? VC_OK, or VC_USAGE with a message. */
int vc_try_file(const char *path);
/* Writes a file as a whole or not at all. `put` returns false when it can't. VC_OK, or VC_USAGE with a message. */
int vc_write_file(const char *path, bool (*put)(void *ctx, FILE *f), void *ctx);

/* Waits for a process that has ended or was killed. False: it does not end, since the kernel holds it. */
bool vc_reap(pid_t pid, int *status);

/* ---- inventory.c ---- */

/* Columns of conformance/inventory.tsv. */
enum vc_column {
	VC_COL_NUM,
	VC_COL_ID,
	VC_COL_CASE,
	VC_COL_STIMULUS,
	VC_COL_WIRE,
	VC_COL_REQ_CQE,
	VC_COL_RESP_CQE,
	VC_COL_STATE,
	VC_COL_CLASS,
	VC_COL_CLASS_NOTE,
	VC_COL_SOURCE,
	VC_COL_NEEDS,
	VC_COL_VECTORS,
	VC_COL_EVIDENCE,
	VC_COL_AMENDMENT,
	VC_COLUMNS
};
struct vc_row {
	const char *col[VC_COLUMNS];
	unsigned vectors;
};
struct vc_inventory {
	char *text;
	struct vc_row *row;
	size_t n;
};
int vc_inventory_read(struct vc_inventory *inv, const char *path); /* VC_OK, or VC_USAGE with a message */
void vc_inventory_free(struct vc_inventory *inv);
/* NULL: there is none. A case RSE-032-verbs belongs to row RSE-032. */
const struct vc_row *vc_inventory_find(const struct vc_inventory *inv, const char *case_id);

/* ---- suite.c ---- */

struct vc_ccase;

struct vc_case {
	char *path, *text;
	size_t len;
	char id[VC_ID];     /* of the case line, or of the file's name when it can't be read */
	struct vs_drill *d; /* NULL: `err` says what is wrong */
	struct vs_drill_error err;
	const struct vc_ccase *in_c; /* it is written in C (ccase.h): `d` has its header alone */
	const struct vc_row *row;    /* NULL: none */
	bool *chosen;                /* by vector */
	unsigned vectors;
};
struct vc_suite {
	char *dir;
	struct vc_inventory inv;
	struct vc_case *c;
	size_t n;
};
/* Reads every DIR/GROUP/ID.drill, and single files. VC_OK, or VC_USAGE with a message; a wrong script is no mistake
 * here. */
int vc_suite_read(struct vc_suite *s, const char *dir, char *const *files, size_t n_files);
void vc_suite_free(struct vc_suite *s);
/* Chooses what any pattern fits: RSP-017, RSP-*, RSP-017[mtu=256], RSP. None: everything. As above. */
int vc_suite_choose(struct vc_suite *s, char *const *pattern, size_t n);
size_t vc_suite_chosen(const struct vc_suite *s); /* vectors */
/* "RSP-017[mtu=256]" */
void vc_vector_name(const struct vc_case *c, unsigned vector, char name[VC_NAME]);
/* Where the cases are when nobody says: beside the program, or in the working folder. Static; NULL: nowhere. */
const char *vc_suite_default(void);
bool vc_glob(const char *pattern, const char *text); /* *, ?; nothing else is special */

/* ---- what is wanted of a run ---- */

struct vc_known;

struct vc_options {
	const char *dir;                    /* of the cases */
	const char *name;                   /* of the device, as the user says it */
	const char *device;                 /* settings of the simulator; NULL: none */
	const char *verbs;                  /* device of libibverbs; NULL: the simulator */
	const char *agent;                  /* command that leads to who has it; NULL: we have */
	const char *program;                /* a command; NULL: a device */
	const char *peer, *encap;           /* NULL: the usual one */
	struct vc_peer_spec peer_at;        /* what `peer` says */
	unsigned worker;                    /* which of the processes this is */
	const char *agents[2], *devices[2]; /* where there are two; NULL: not said */
	bool two;                           /* devices: the first node of a script lives on the first */
	unsigned end;                       /* which of these is meant */
	const char *json, *junit, *tap, *html, *profile_out; /* files to write; NULL: none */
	const char *deviations;                              /* file of known deviations; NULL: none */
	const struct vc_known *known;                        /* what it says; NULL: nothing */
	const char *coverage;                                /* file to write; NULL: none */
	bool silent;                                         /* a report goes to standard output: nothing else does */
	bool usual_dir;                                      /* where the cases are anyway */
	bool strict, list, explain, quiet, verbose, hazardous, check;
	unsigned jobs;
	uint64_t seed, budget_ms;
	char **pattern;
	size_t n_patterns;
	char **file;
	size_t n_files;
	char **beside; /* reports of earlier runs, for the coverage table */
	size_t n_beside;
};
/* VC_OK: go on; otherwise *exit_code is what the program returns. */
bool vc_options_read(struct vc_options *o, int argc, char **argv, int *exit_code);
void vc_options_free(struct vc_options *o);

/* ---- record.c, judge.c: what a run did ---- */

#define VC_FRAMES_MAX 4096u
#define VC_EVENTS_MAX 20000u
struct vc_frame {
	uint64_t t_ns;
	char node[16];
	bool lost, ours; /* ours: a device under test sent it */
	enum vs_link link;
	uint32_t len;
	uint8_t *data;
};
struct vc_record {
	struct vc_frame frame[VC_FRAMES_MAX];
	size_t n;
	uint64_t more; /* frames beyond that */
	struct vs_event_log log;
};
void vc_record_attach(struct vc_record *r, struct vs_drill_env *env);
void vc_record_clear(struct vc_record *r);

struct vc_violation {
	bool found;
	char rule[64], clause[32], text[320]; /* the first */
	char rules[512];                      /* all of them, each once, with commas between */
};
/* The rules of level must that a device under test broke on the wire. */
void vc_judge(const struct vc_record *r, struct vc_violation *v);

/* ---- verdict.c ---- */

enum vc_verdict {
	VC_PASS,
	VC_FAIL,
	VC_WARN,
	VC_VARIANT,
	VC_XFAIL,
	VC_XPASS,
	VC_SKIP,
	VC_INCONCLUSIVE,
	VC_ERROR,
	VC_VERDICTS
};
const char *vc_verdict_name(enum vc_verdict v);
enum vc_verdict vc_verdict_by_name(const char *name); /* VC_VERDICTS: none */
struct vc_outcome {
	enum vc_verdict verdict;
	bool by_rule; /* it is about rules of the wire that were broken */
	char reason[2 * VS_DRILL_TEXT];
};
/* By what the script said, class and evidence (docs/conformance-cases.md, "Verdicts"). */
void vc_verdict(const struct vc_case *c, const struct vs_drill_result *res, const struct vc_violation *v, bool strict,
		struct vc_outcome *out);
/* The rule in words: "C9-105", "the rule as restated by ...", "no public clause". */
void vc_clause(const struct vc_case *c, char *buf, size_t cap);
char vc_class(const struct vc_case *c);
const char *vc_evidence(const struct vc_case *c);

/* ---- verbs_lib.c ---- */

/* Can the device be opened, and the peer's socket? `why` says why not. In a process of its own. */
bool vc_verbs_try(const struct vc_options *o, char *why, size_t cap);
/* This process is about to end: the peer's wire is closed. */
void vc_verbs_close(void);

/* ---- job.c ---- */

/* Runs one vector, here and now. A new reference; NULL: no memory. */
json_t *vc_job_run(const struct vc_options *o, const struct vc_case *c, unsigned vector);
/* What a result is when nothing of the run could be known. */
json_t *vc_job_lost(const struct vc_case *c, unsigned vector, const char *reason);

/* ---- program.c ---- */

/* Runs the program of the options, and one vector of the script on what it did. */
void vc_program_run(const struct vc_options *o, const struct vc_case *c, unsigned vector,
		    const struct vs_drill_env *env, struct vs_drill_result *res);

/* ---- detail.c ---- */

/* Sets a text, whatever bytes it has. */
void vc_set_text(json_t *o, const char *key, const char *text);
/* The ladder; with `all` also script, packets, completions and a capture. */
void vc_set_details(json_t *o, const struct vc_case *c, const struct vc_record *r, bool all);

/* "peer: SEND_ONLY psn=000001 qp=000017 64 bytes" */
void vc_packet_text(const struct vc_frame *f, char *buf, size_t cap);

/* ---- watch.c ---- */

struct vc_watch {
	char sent[200]; /* the newest packet of the script's peer in this vector; "": none */
	bool failed;    /* the device said so */
};
/* In memory that a worker shares with the runner; NULL: there is none. */
struct vc_watch *vc_watch_new(void);
void vc_watch_free(struct vc_watch *w);
/* In the worker. All of these may be called without a watch. */
void vc_watch_use(struct vc_watch *w);
void vc_watch_begin(void); /* a vector begins */
void vc_watch_sent(const struct vc_frame *f);
void vc_watch_failed(void);

/* ---- pool.c ---- */

#define VC_GONE 1024
/*
 * Runs what is chosen in `jobs` worker processes, and calls `done` for every result in the order of the suite.
 * Returns false when it ended early, and what came until then was handed over: it was interrupted ("" in `gone`), or
 * the device does not answer any more, and `gone` says how that came.
 */
bool vc_pool_run(const struct vc_options *o, const struct vc_suite *s, void (*done)(void *ctx, json_t *result),
		 void *ctx, char gone[VC_GONE]);
bool vc_interrupted(void); /* a signal has ended the run */

/* ---- known.c ---- */

struct vc_known {
	char *text;
	struct vc_known_line {
		const char *pattern, *since, *reason;
		bool used;
	} * line;
	size_t n;
};
int vc_known_read(struct vc_known *k, const char *path);
void vc_known_free(struct vc_known *k);
bool vc_known_has(const struct vc_known *k, const struct vc_case *c, unsigned vector); /* NULL: nothing is known */
/* FAIL, WARN, INCONCLUSIVE, and ERROR of an agent that died of it, become XFAIL, PASS and VARIANT become XPASS, where a
 * line fits. */
void vc_known_apply(struct vc_known *k, json_t *result);
/* {"device", "variants": {"ID[vector]": ["name", ...]}} */
int vc_profile_write(const json_t *report, const char *path);

/* ---- reports ---- */

/* What makes a run fail. */
bool vc_is_bad(enum vc_verdict v);
/* "RSP-017[mtu=256]" of a result. */
void vc_result_name(const json_t *result, char name[VC_NAME]);
/* A report into a file: for vc_write_file. `report` is a json_t. */
bool vc_put_json(void *report, FILE *f);
bool vc_put_tap(void *report, FILE *f);
bool vc_put_junit(void *report, FILE *f);
bool vc_put_html(void *report, FILE *f);
/* The report in a file, a new reference; NULL, with a message: there is none. */
json_t *vc_report_load(const char *path);
/* vs-conform diff A B: an exit code. */
int vc_diff(int argc, char **argv);
/* vs-conform doctor [DEVICE...]: an exit code. */
int vc_doctor(int argc, char **argv);
/* One line on stderr, when that is a terminal: how far. */
void vc_progress(size_t done, size_t all, unsigned bad);

const char *vc_text(const json_t *result, const char *key); /* "" when there is none */
void vc_text_result(const json_t *result, const struct vc_options *o);
void vc_text_summary(const json_t *report, const struct vc_options *o, double seconds);
int vc_list(const struct vc_suite *s);
int vc_explain(const struct vc_suite *s);
/* The table of o->coverage: a column for the report, and one for each of o->beside. */
int vc_coverage_write(const struct vc_suite *s, const json_t *report, const struct vc_options *o);
/* What is wrong with the files as such: ids, classes, vectors against the inventory. Number of complaints. */
unsigned vc_suite_check(const struct vc_suite *s);

#endif
