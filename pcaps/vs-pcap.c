/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* vs-pcap.c - captures: the table of subcommands. */
#include <string.h>

#include "pcap_common.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *text;
} commands[] = {
	{"gen", vp_gen, "run scenario scripts in the simulator, and write their packets"},
	{"info", vp_info, "count packets, CRCs and flows"},
	{"check", vp_check, "follow PSNs, judge by the rules, say what was lost, repeated and broken"},
	{"annotate", vp_annotate, "put what check finds into packet comments of a copy"},
	{"convert", vp_convert, "put RDMA packets into another encapsulation"},
	{"edit", vp_edit, "drop, copy, reorder, damage, delay, mark, rewrite and split packets"},
	{"inject", vp_inject, "make one packet and send it, or write it"},
	{"replay", vp_replay, "send a capture to an interface or a UDP address"},
};
#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static int help(FILE *out)
{
	fputs("usage: vs-pcap COMMAND ...\n\n", out);
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(out, "  %-9s%s\n", commands[i].name, commands[i].text);
	fputs("\n'vs-pcap COMMAND --help' says more, 'man vs-pcap' everything.\n"
	      "  --help, --version\n"
	      "Exit codes: 0 done, 1 a file or packet was not as it should be, 2 usage or environment,\n"
	      "127 nothing applicable.\n",
	      out);
	return out == stdout ? vp_flush("--help") : VP_USAGE;
}

static int unknown(const char *word)
{
	const char *names[COMMANDS + 1] = {NULL}, *near;

	for (size_t i = 0; i < COMMANDS; i++)
		names[i] = commands[i].name;
	near = vp_nearest(word, names);
	fprintf(stderr, "vs-pcap: no such command: ");
	for (const char *c = word; *c; c++)
		fputc((unsigned char)*c < 0x20 || *c == 0x7f ? '?' : *c, stderr);
	if (near)
		fprintf(stderr, " (did you mean %s?)", near);
	fputs(": 'vs-pcap --help' lists them\n", stderr);
	return VP_USAGE;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return help(stderr);
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return help(stdout);
	if (strcmp(argv[1], "--version") == 0) {
		puts("vs-pcap (Verbscope) " VS_VERSION);
		return vp_flush("--version");
	}
	for (size_t i = 0; i < COMMANDS; i++)
		if (strcmp(argv[1], commands[i].name) == 0)
			return commands[i].run(argc - 1, argv + 1);
	return unknown(argv[1]);
}
