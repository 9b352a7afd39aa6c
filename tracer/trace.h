/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * trace.h - what the subcommands of vs-trace share: errors, options, files.
 *
 *   main.c          the table of subcommands
 *   common.c        errors, options that several have, output files
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

#include "model.h"

/* Exit codes (docs/man/vs-trace.1). */
enum { VT_OK = 0, VT_FINDING = 1, VT_USAGE = 2, VT_NOTHING = 127 };

int vt_run(int argc, char **argv);
int vt_merge(int argc, char **argv);
int vt_ladder(int argc, char **argv);
int vt_psn(int argc, char **argv);
int vt_report(int argc, char **argv);
int vt_story(int argc, char **argv);
int vt_why(int argc, char **argv);
int vt_dma(int argc, char **argv);
int vt_diff(int argc, char **argv);
int vt_export(int argc, char **argv);

/* "vs-trace CMD: text" on stderr, control characters as '?'. */
void vt_complain(const char *cmd, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* What getopt_long complained about, in our words. `opt` is what it returned: '?' or ':'. */
void vt_complain_option(const char *cmd, char **argv, int opt);
/* The same, and its value is VT_USAGE; macros, so that an analyzer of one file sees the value. */
static inline int vt_usage(void)
{
	return VT_USAGE;
}
#define vt_fail(...) (vt_complain(__VA_ARGS__), vt_usage())
#define vt_bad_option(cmd, argv, opt) (vt_complain_option(cmd, argv, opt), vt_usage())
/* Makes stdout reach its end: VT_OK, or VT_USAGE with a message when it can't be written. */
int vt_flush(const char *cmd);

/* Decimal or 0x hex, all of `text`, at most `max`. */
bool vt_number(const char *text, uint64_t max, uint64_t *value);
/* "1.5ms": number with ns, us, ms or s. */
bool vt_duration(const char *text, uint64_t *ns);
/* 1500 -> "1.5 us"; three digits. */
const char *vt_duration_text(uint64_t ns, char buf[32]);
/* The word in `words` (NULL-terminated) that differs least from `text`; NULL when none is near. */
const char *vt_nearest(const char *text, const char *const *words);

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

/*
 * A file that is written whole: text goes to a temporary file beside PATH, with mode 0600 (a trace holds keys, and may
 * hold payload), and is renamed at the end. PATH NULL or "-": standard output.
 */
struct vt_file {
	const char *cmd;
	char *path, *part; /* NULL: standard output */
	FILE *f;
};
bool vt_file_open(struct vt_file *f, const char *cmd, const char *path);
int vt_file_close(struct vt_file *f); /* VT_OK, or VT_USAGE with a message */
void vt_file_abort(struct vt_file *f);

/* Text from a trace or a packet, harmless in a terminal: control characters as '?', what is no UTF-8 too. */
void vt_put_safe(FILE *f, const char *text);
void vt_put_padded(FILE *f, const char *text, unsigned width); /* with spaces up to so many columns */
/* The same as a JSON string with its quotes, without any '<', since JSON stands in HTML, too; and what is in the
 * quotes. */
void vt_put_json(FILE *f, const char *text);
void vt_put_json_part(FILE *f, const char *text);
/* The same between tags, or in quotes, of XML. */
void vt_put_xml(FILE *f, const char *text);

#endif
