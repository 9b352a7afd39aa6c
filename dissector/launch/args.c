/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * args.c - what a command line for tshark or Wireshark asks for.
 *
 * The launcher passes every argument on untouched; it only has to know whether the run captures
 * live (then root's rights are needed), which files it opens, and which profile it names. Short
 * options cluster ("-ni eth0") and long ones may be abbreviated ("--inter=lo"), so this is getopt's
 * work: the tables are the options of tshark and Wireshark 4.0, with those of 4.2 to 4.6 where
 * they take an argument. What getopt does not know, or finds no argument for, is left to the program to complain about.
 */
#define _GNU_SOURCE
#include "launch.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_LIST_TSTAMP = 256, OPT_WITH_ARGUMENT };

#define CAPTURE_SHORT "a:A:b:B:c:Df:i:ILps:y:"
#define DISSECT_SHORT "d:K:nN:t:u:"
/* The colon in front: a missing argument is told from an unknown option. */
#ifdef VS_LAUNCH_GUI
static const char short_options[] = ":" CAPTURE_SHORT DISSECT_SHORT "C:g:HhjJ:klm:o:P:r:R:Svw:X:Y:z:";
#else
/* The plus sign: the first word that is no option ends the options. */
static const char short_options[] =
	"+:2" CAPTURE_SHORT DISSECT_SHORT "M:C:e:E:F:gG:hH:j:J:lo:O:PqQr:R:S:T:U:vVw:W:xX:Y:z:";
#endif

static const struct option long_options[] = {
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, 'v'},
	{"autostop", required_argument, NULL, 'a'},
	{"ring-buffer", required_argument, NULL, 'b'},
	{"buffer-size", required_argument, NULL, 'B'},
	{"list-interfaces", no_argument, NULL, 'D'},
	{"interface", required_argument, NULL, 'i'},
	{"monitor-mode", no_argument, NULL, 'I'},
	{"list-data-link-types", no_argument, NULL, 'L'},
	{"no-promiscuous-mode", no_argument, NULL, 'p'},
	{"snapshot-length", required_argument, NULL, 's'},
	{"linktype", required_argument, NULL, 'y'},
	{"list-time-stamp-types", no_argument, NULL, OPT_LIST_TSTAMP},
	{"read-file", required_argument, NULL, 'r'},
	{"read-filter", required_argument, NULL, 'R'},
	{"display-filter", required_argument, NULL, 'Y'},
	{"time-stamp-type", required_argument, NULL, OPT_WITH_ARGUMENT},
	{"compress-type", required_argument, NULL, OPT_WITH_ARGUMENT},
	{"compress", required_argument, NULL, OPT_WITH_ARGUMENT},
	{"temp-dir", required_argument, NULL, OPT_WITH_ARGUMENT},
	{"update-interval", required_argument, NULL, OPT_WITH_ARGUMENT},
	{"disable-protocol", required_argument, NULL, OPT_WITH_ARGUMENT},
	{"enable-protocol", required_argument, NULL, OPT_WITH_ARGUMENT},
	{"only-protocols", required_argument, NULL, OPT_WITH_ARGUMENT},
	{"enable-heuristic", required_argument, NULL, OPT_WITH_ARGUMENT},
	{"disable-heuristic", required_argument, NULL, OPT_WITH_ARGUMENT},
	{"export-objects", required_argument, NULL, OPT_WITH_ARGUMENT},
	{"export-tls-session-keys", required_argument, NULL, OPT_WITH_ARGUMENT},
	{"elastic-mapping-filter", required_argument, NULL, OPT_WITH_ARGUMENT},
	{"capture-comment", required_argument, NULL, OPT_WITH_ARGUMENT},
	{"hexdump", required_argument, NULL, OPT_WITH_ARGUMENT},
	{"selected-frame", required_argument, NULL, OPT_WITH_ARGUMENT},
	{"log-level", required_argument, NULL, OPT_WITH_ARGUMENT},
	{"log-fatal", required_argument, NULL, OPT_WITH_ARGUMENT},
	{"log-domain", required_argument, NULL, OPT_WITH_ARGUMENT},
	{"log-domains", required_argument, NULL, OPT_WITH_ARGUMENT},
	{"log-fatal-domain", required_argument, NULL, OPT_WITH_ARGUMENT},
	{"log-fatal-domains", required_argument, NULL, OPT_WITH_ARGUMENT},
	{"log-file", required_argument, NULL, OPT_WITH_ARGUMENT},
	{"log-debug", required_argument, NULL, OPT_WITH_ARGUMENT},
	{"log-noisy", required_argument, NULL, OPT_WITH_ARGUMENT},
#ifdef VS_LAUNCH_GUI
	{"display", required_argument, NULL, OPT_WITH_ARGUMENT},
	{"fullscreen", no_argument, NULL, 0},
#else
	{"print", no_argument, NULL, 'P'},
	{"color", no_argument, NULL, 0},
	{"no-duplicate-keys", no_argument, NULL, 0},
#endif
	{NULL, 0, NULL, 0},
};

/* "-" is standard input or output: already open. */
static void file_add(struct vs_launch_args *args, const char *name, bool is_output)
{
	if (strcmp(name, "-") != 0 && args->files < VS_LAUNCH_FILES_MAX)
		args->file[args->files++] = (struct vs_launch_file){.name = name, .is_output = is_output};
}

/* The files that options name: capture in and out, host names, key tables, a Lua script. */
static void file_of_option(struct vs_launch_args *args, int opt)
{
	static const char lua[] = "lua_script:";

	if (opt == 'r' || opt == 'K' || (!VS_LAUNCH_IS_GUI && opt == 'H'))
		file_add(args, optarg, false);
	else if (opt == 'w')
		file_add(args, optarg, true);
	else if (opt == 'X' && strncmp(optarg, lua, strlen(lua)) == 0)
		file_add(args, optarg + strlen(lua), false);
}

/* True for the options that print something and exit without a packet: that an argument is missing, for one. */
static bool only_prints(int opt)
{
	return opt == ':' || opt == 'h' || opt == 'v' || opt == 'G' || (opt == 'z' && strcmp(optarg, "help") == 0);
}

struct vs_launch_args vs_launch_args_parse(int argc, char **argv)
{
	struct vs_launch_args args = {0};
	bool names_interface = false, has_input = false;
	int opt;

	/* getopt reorders what it reads. */
	char **copy = calloc((size_t)argc + 1, sizeof(*copy));
	if (!copy)
		vs_launch_die(VS_EXIT_OWN, "out of memory");
	memcpy(copy, argv, (size_t)argc * sizeof(*copy));

	opterr = 0;
	optind = 0; /* glibc: start afresh, and look at '+' */
	while ((opt = getopt_long(argc, copy, short_options, long_options, NULL)) != -1) {
		if (opt == 'i' || opt == 'D' || opt == 'L' || opt == OPT_LIST_TSTAMP ||
		    (VS_LAUNCH_IS_GUI && opt == 'k')) {
			names_interface = true;
		} else if (opt == 'r') {
			has_input = true;
		} else if (opt == 'C') {
			args.profile = optarg;
		} else if (VS_LAUNCH_IS_GUI && opt == 'P') {
			args.own_config = true;
		} else if (only_prints(opt)) {
			args.prints = true;
		}
		file_of_option(&args, opt);
	}
	/* Wireshark opens the first word that is no option. */
	if (VS_LAUNCH_IS_GUI && !has_input && optind < argc) {
		has_input = true;
		file_add(&args, copy[optind], false);
	}
	args.live = names_interface || (!has_input && !args.prints);
	free(copy);
	return args;
}
