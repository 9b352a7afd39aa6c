/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* main.c - vs-trace: the table of subcommands. */
#include <string.h>

#include "trace.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *text;
} commands[] = {
	{"run", vt_run, "run a program and record what it calls, and what comes of it"},
	{"merge", vt_merge, "make one trace of the records of several programs, devices and hosts"},
	{"ladder", vt_ladder, "draw what happened: verbs, packets between the nodes, losses and repeats"},
	{"why", vt_why, "say why a request failed, did not complete, or was slow"},
	{"story", vt_story, "tell one operation step by step, from its post to its completion"},
	{"report", vt_report, "count: requests, bytes, rates, repeats by reason, delays, where time went"},
	{"dma", vt_dma, "list what the devices read and wrote of the programs' memory, and audit it"},
	{"psn", vt_psn, "draw PSNs against time: sent, acknowledged, sent again"},
	{"diff", vt_diff, "find the first difference between two runs"},
	{"export", vt_export, "write a trace for Perfetto, a browser, a document or Wireshark"},
};
#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static int help(FILE *out)
{
	fputs("usage: vs-trace COMMAND ...\n\n", out);
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(out, "  %-9s%s\n", commands[i].name, commands[i].text);
	fputs("\nA trace is a .vst file, a capture, or the folder that 'vs-trace run' made.\n"
	      "'vs-trace COMMAND --help' says more, 'man vs-trace' everything.\n"
	      "  --help, --version\n"
	      "Exit codes: 0 done, 1 there is a finding, 2 usage or environment, 127 nothing applicable.\n",
	      out);
	return out == stdout ? vt_flush("--help") : VT_USAGE;
}

static int unknown(const char *word)
{
	const char *names[COMMANDS + 1] = {NULL}, *near;

	for (size_t i = 0; i < COMMANDS; i++)
		names[i] = commands[i].name;
	near = vt_nearest(word, names);
	fputs("vs-trace: no such command: ", stderr);
	vt_put_safe(stderr, word);
	if (near)
		fprintf(stderr, " (did you mean %s?)", near);
	fputs(": 'vs-trace --help' lists them\n", stderr);
	return VT_USAGE;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return help(stderr);
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return help(stdout);
	if (strcmp(argv[1], "--version") == 0) {
		puts("vs-trace (Verbscope) " VS_VERSION);
		return vt_flush("--version");
	}
	for (size_t i = 0; i < COMMANDS; i++)
		if (strcmp(argv[1], commands[i].name) == 0)
			return commands[i].run(argc - 1, argv + 1);
	return unknown(argv[1]);
}
