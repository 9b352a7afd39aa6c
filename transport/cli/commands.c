/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* commands.c - a program that is a table of subcommands. */
#include <string.h>

#include "cli/cli.h"

#define COMMANDS 32u

static int help(const struct vs_cli_commands *c, FILE *out)
{
	fprintf(out, "usage: %s COMMAND ...\n\n", c->program);
	for (size_t i = 0; i < c->n; i++)
		fprintf(out, "  %-9s%s\n", c->command[i].name, c->command[i].text);
	fprintf(out, "\n%s", c->about);
	return out == stdout ? vs_cli_flush(c->program, "--help") : VS_CLI_USAGE;
}

static int unknown(const struct vs_cli_commands *c, const char *word)
{
	const char *names[COMMANDS + 1] = {NULL}, *near;

	for (size_t i = 0; i < c->n && i < COMMANDS; i++)
		names[i] = c->command[i].name;
	near = vs_cli_nearest(word, names);
	vs_cli_complain(c->program, NULL, "no such command: %s%s%s%s: '%s --help' lists them", word,
			near != NULL ? " (did you mean " : "", near != NULL ? near : "", near != NULL ? "?)" : "",
			c->program);
	return VS_CLI_USAGE;
}

int vs_cli_main(const struct vs_cli_commands *c, int argc, char **argv)
{
	if (argc < 2)
		return help(c, stderr);
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return help(c, stdout);
	if (strcmp(argv[1], "--version") == 0) {
		printf("%s (Verbscope) %s\n", c->program, VS_VERSION);
		return vs_cli_flush(c->program, "--version");
	}
	for (size_t i = 0; i < c->n; i++)
		if (strcmp(argv[1], c->command[i].name) == 0)
			return c->command[i].run(argc - 1, argv + 1);
	return unknown(c, argv[1]);
}
