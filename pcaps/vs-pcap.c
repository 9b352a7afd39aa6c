/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* vs-pcap.c - captures: the table of subcommands. */
#include "pcap_common.h"

static const struct vs_cli_command commands[] = {
	{"gen", vp_gen, "run scenario scripts in the simulator, and write their packets"},
	{"info", vp_info, "count packets, CRCs and flows"},
	{"check", vp_check, "follow PSNs, judge by the rules, say what was lost, repeated and broken"},
	{"annotate", vp_annotate, "put what check finds into packet comments of a copy"},
	{"convert", vp_convert, "put RDMA packets into another encapsulation"},
	{"edit", vp_edit, "drop, copy, reorder, damage, delay, mark, rewrite and split packets"},
	{"inject", vp_inject, "make one packet and send it, or write it"},
	{"replay", vp_replay, "send a capture to an interface or a UDP address"},
};

int main(int argc, char **argv)
{
	static const struct vs_cli_commands c = {
		.program = VP_PROGRAM,
		.command = commands,
		.n = sizeof(commands) / sizeof(commands[0]),
		.about = "'vs-pcap COMMAND --help' says more, 'man vs-pcap' everything.\n"
			 "  --help, --version\n"
			 "Exit codes: 0 done, 1 a file or packet was not as it should be, 2 usage or environment,\n"
			 "127 nothing applicable.\n",
	};

	return vs_cli_main(&c, argc, argv);
}
