/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * trace.h - what the subcommands of vs-trace share (cli/cli.h is what all programs share).
 *
 *   main.c          the table of subcommands
 *   common.c        options that several have
 *   output.c        text in tables, JSON and XML
 *   model*.c        a trace in memory (model.h)
 *   ladder.c ...    one subcommand each
 *   recorder/       what `vs-trace run` preloads into a program
 */
#ifndef VT_TRACE_H
#define VT_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/cli.h"
#include "model.h"

/* Exit codes (docs/man/vs-trace.1). */
enum { VT_OK = VS_CLI_OK, VT_FINDING = VS_CLI_FINDING, VT_USAGE = VS_CLI_USAGE, VT_NOTHING = VS_CLI_NOTHING };

int vt_run(int argc, char **argv);
int vt_recover(int argc, char **argv);
int vt_merge(int argc, char **argv);
int vt_ladder(int argc, char **argv);
int vt_psn(int argc, char **argv);
int vt_report(int argc, char **argv);
int vt_story(int argc, char **argv);
int vt_why(int argc, char **argv);
int vt_dma(int argc, char **argv);
int vt_diff(int argc, char **argv);
int vt_export(int argc, char **argv);

/* "vs-trace CMD: text" on stderr; the same as an exit code; what getopt_long complained about; the end of stdout. */
#define VT_PROGRAM "vs-trace"
#define vt_complain(cmd, ...) vs_cli_complain(VT_PROGRAM, (cmd), __VA_ARGS__)
#define vt_fail(cmd, ...) vs_cli_fail(VT_PROGRAM, (cmd), __VA_ARGS__)
#define vt_complain_option(cmd, argv, opt) vs_cli_complain_option(VT_PROGRAM, (cmd), (argv), (opt))
#define vt_bad_option(cmd, argv, opt) vs_cli_bad_option(VT_PROGRAM, (cmd), (argv), (opt))
#define vt_flush(cmd) vs_cli_flush(VT_PROGRAM, (cmd))
/* A trace holds keys, and may hold payload. */
#define vt_file_open(f, cmd, path) vs_cli_file_open((f), VT_PROGRAM, (cmd), (path), VS_CLI_PRIVATE)

/* 1500 -> "1.5 us"; three digits. */
const char *vt_duration_text(uint64_t ns, char buf[32]);
/* What most commands take: --from, --to, --qp, -o. */
struct vt_options {
	uint64_t from_ns, to_ns; /* since the first event; to_ns 0: to the end */
	bool has_qp;
	uint32_t qpn;
	const char *out; /* NULL: standard output */
};
/* Letters that vt_option takes, for getopt_long's `val`s; VT_OPTIONS_LONG holds their rows. */
enum { VT_OPT_FROM = 0x100, VT_OPT_TO, VT_OPT_QP, VT_OPT_LAST };
#define VT_OPTIONS_LONG                                                                             \
	{"from", required_argument, NULL, VT_OPT_FROM}, {"to", required_argument, NULL, VT_OPT_TO}, \
	{                                                                                           \
		"qp", required_argument, NULL, VT_OPT_QP                                            \
	}
#define VT_OPTIONS_HELP                                                                      \
	"  --from T, --to T  only that span of time, from the first event on: 1.5ms, 20us\n" \
	"  --qp N            only that queue pair and its peer\n"                            \
	"  -o FILE           write there, when it is whole; default: standard output\n"
/* 1: taken; 0: not one of these; negative: wrong, and said so. */
int vt_option(const char *cmd, int opt, const char *value, struct vt_options *o);

/* The model of the one path that is left on the command line; NULL with a message. */
struct vt_model *vt_open(const char *cmd, int argc, char **argv, int first, const struct vt_options *o);
/* The exit code when there is none: VT_NOTHING when it can be read and has no RDMA in it, else VT_USAGE. */
int vt_not_open(void);
/* A command that has these options, --json and --help, and shows the one trace on its command line. */
int vt_command(const char *cmd, int argc, char **argv, int (*help)(void),
	       int (*show)(struct vt_model *m, const struct vt_options *o, bool json));
/* Is the event in the span that was asked for, and of the queue pair or its peer? All are when nothing was asked. */
bool vt_selected(const struct vt_model *m, const struct vt_options *o, size_t event);

struct vs_ladder_options;
/* The events that were asked for, *n of them, to be freed. NULL: no memory. */
struct vs_event *vt_selected_events(const struct vt_model *m, const struct vt_options *o, size_t *n);
/* What every ladder of the model has: where its times begin, what its lines are called. */
void vt_ladder_titles(struct vt_model *m, struct vs_ladder_options *opt);

/* Text from a trace or a packet, as vs_cli_put_safe puts it: */
void vt_put_padded(FILE *f, const char *text, unsigned width); /* with spaces up to so many columns */
/* The same as a JSON string with its quotes, without any '<', since JSON stands in HTML, too; and what is in the
 * quotes. */
void vt_put_json(FILE *f, const char *text);
void vt_put_json_part(FILE *f, const char *text);
/* The same between tags, or in quotes, of XML. */
void vt_put_xml(FILE *f, const char *text);

#endif
