/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * cli.h - what the command lines of the programs share, so that all of them say the same thing in the same words: one
 * line that says what, where and what to do; the exit codes; files that appear when they are whole.
 *
 *   say.c      messages, what is wrong with an option, the end of standard output
 *   commands.c the table of subcommands
 *   number.c   numbers and times
 *   words.c    the word that was meant
 *   text.c     text that does no harm in a terminal
 *   file.c     files that are written whole
 *   wait.c     waiting for a program that is wrapped
 */
#ifndef VS_CLI_H
#define VS_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* Exit codes of all programs; those that wrap another return its code, and FAILED when they fail themselves. */
enum { VS_CLI_OK = 0, VS_CLI_FINDING = 1, VS_CLI_USAGE = 2, VS_CLI_FAILED = 125, VS_CLI_NOTHING = 127 };

/* ---- say.c ---- */

/* "PROGRAM CMD: text" on stderr, in one line that does no harm; `cmd` NULL: "PROGRAM: text". */
void vs_cli_complain(const char *program, const char *cmd, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/*
 * What getopt_long complained about, in our words. `opt` is what it returned: '?' or ':' (optstring begins with ':',
 * opterr is 0).
 */
void vs_cli_complain_option(const char *program, const char *cmd, char **argv, int opt);
/* The same, and its value is VS_CLI_USAGE; macros, so that an analyzer of one file sees the value. */
static inline int vs_cli_usage(void)
{
	return VS_CLI_USAGE;
}
#define vs_cli_fail(...) (vs_cli_complain(__VA_ARGS__), vs_cli_usage())
#define vs_cli_bad_option(program, cmd, argv, opt) \
	(vs_cli_complain_option((program), (cmd), (argv), (opt)), vs_cli_usage())
/* Makes stdout reach its end: VS_CLI_OK, or VS_CLI_USAGE with a message when it can't be written. */
int vs_cli_flush(const char *program, const char *cmd);

/* ---- commands.c ---- */

struct vs_cli_command {
	const char *name;
	int (*run)(int argc, char **argv); /* argv[0] is the command's name */
	const char *text;
};
struct vs_cli_commands {
	const char *program;
	const struct vs_cli_command *command;
	size_t n;
	const char *about; /* what --help says below the table */
};
/* The main program of one with subcommands: runs the one that argv[1] names; --help, --version. */
int vs_cli_main(const struct vs_cli_commands *c, int argc, char **argv);

/* ---- number.c ---- */

/* Decimal or 0x hexadecimal, all of `text`, from `least` to `most`. */
bool vs_cli_number(const char *text, uint64_t least, uint64_t most, uint64_t *value);
/* "1.5ms": number with ns, us, ms or s. */
bool vs_cli_duration(const char *text, uint64_t *ns);

/* ---- words.c ---- */

/* The word in `words` (NULL-terminated) that differs least from `text`; NULL when none is near. */
const char *vs_cli_nearest(const char *text, const char *const *words);

/* ---- text.c ---- */

/* Bytes of the UTF-8 character at `s`; 0: it is none, or one that commands a terminal or turns text around. */
size_t vs_cli_char_len(const unsigned char *s);
/* Text from a packet, a file or a command line, in one line: what vs_cli_char_len refuses as '?'. */
void vs_cli_put_safe(FILE *f, const char *text);
/* The same in several lines: newlines and tabs stay. */
void vs_cli_put_lines(FILE *f, const char *text);

/* ---- file.c ---- */

/*
 * A file that is written whole: text goes to a temporary file beside PATH, and is renamed at the end. PATH NULL or "-":
 * standard output. What exists and is no file (a FIFO, /dev/null) is written straight.
 */
struct vs_cli_file {
	const char *program, *cmd;
	char *path, *part; /* NULL: standard output; written straight */
	FILE *f;
};
enum vs_cli_mode { VS_CLI_PRIVATE, VS_CLI_PUBLIC }; /* 0600, for what may hold keys; what the umask allows */
bool vs_cli_file_open(struct vs_cli_file *f, const char *program, const char *cmd, const char *path,
		      enum vs_cli_mode mode);
int vs_cli_file_close(struct vs_cli_file *f); /* VS_CLI_OK, or VS_CLI_USAGE with a message */
void vs_cli_file_abort(struct vs_cli_file *f);

/* ---- salvage.c ---- */

/*
 * What a process that is no more was writing to `path` gets that name, as far as it is whole; `who` says so on
 * stderr. In the name of a trace %p and %n stand for anything.
 */
void vs_cli_salvage_capture(const char *who, const char *path);
void vs_cli_salvage_trace(const char *who, const char *path);

/* ---- wait.c ---- */

/*
 * Waits for the program that a program wraps: its status, as of waitpid(2). SIGINT and SIGQUIT are the program's alone;
 * SIGTERM and SIGHUP are passed on.
 */
int vs_cli_wait(pid_t pid);

#endif
