/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* say.c - messages: one line on stderr, after what was printed before, in which nothing moves a terminal's cursor. */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <string.h>

#include "cli/cli.h"

void vs_cli_complain(const char *program, const char *cmd, const char *fmt, ...)
{
	char text[2048];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	(void)fflush(stdout);
	fprintf(stderr, "%s%s%s: ", program, cmd != NULL ? " " : "", cmd != NULL ? cmd : "");
	vs_cli_put_safe(stderr, text);
	fputc('\n', stderr);
}

void vs_cli_complain_option(const char *program, const char *cmd, char **argv, int opt)
{
	const char *word = optind > 0 ? argv[optind - 1] : "";
	const char *space = cmd != NULL ? " " : "", *name = cmd != NULL ? cmd : "";

	if (opt == ':')
		vs_cli_complain(program, cmd, "%s needs a value: '%s%s%s --help' says which", word, program, space,
				name);
	else
		vs_cli_complain(program, cmd, "option %s is not known or takes no value: see '%s%s%s --help'", word,
				program, space, name);
}

int vs_cli_flush(const char *program, const char *cmd)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return VS_CLI_OK;
	return vs_cli_fail(program, cmd, "standard output can't be written (%s)", strerror(errno ? errno : EIO));
}
