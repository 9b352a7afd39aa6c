/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* main.c - vs-trace: the table of subcommands. */
#include "trace.h"

static const struct vs_cli_command commands[] = {
	{"run", vt_run, "run a program and record what it calls, and what comes of it"},
	{"recover", vt_recover, "make a trace of what a run left that was killed itself"},
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

int main(int argc, char **argv)
{
	static const struct vs_cli_commands c = {
		.program = VT_PROGRAM,
		.command = commands,
		.n = sizeof(commands) / sizeof(commands[0]),
		.about = "A trace is a .vst file, a capture, or the folder that 'vs-trace run' made.\n"
			 "'vs-trace COMMAND --help' says more, 'man vs-trace' everything.\n"
			 "  --help, --version\n"
			 "Exit codes: 0 done, 1 there is a finding, 2 usage or environment, 127 nothing applicable.\n",
	};

	return vs_cli_main(&c, argc, argv);
}
