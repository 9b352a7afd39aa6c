/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* main.c - vs-agent: the command line. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stream.h"

static const char help_text[] =
	"usage: vs-agent [--device NAME] [--serial PATH]\n"
	"\n"
	"Makes the verbs calls of conformance cases on this host, for a vs-conform on another:\n"
	"\n"
	"  vs-conform --agent 'ssh user@host vs-agent --device NAME' --peer udp:ADDR\n"
	"\n"
	"It is told what to do on standard input and answers on standard output; it opens no port and judges nothing.\n"
	"\n"
	"  --device NAME  a device of libibverbs, or ref0; used when vs-conform names none (the only one there is)\n"
	"  --serial PATH  use this device instead (a serial line, a port of a virtual machine), for one vs-conform\n"
	"                 after the other\n"
	"  -h, --help, --version\n"
	"\n"
	"Exit codes: 0 the stream has ended, 2 usage or environment.\n";

static int options(int argc, char **argv, const char **device, const char **serial)
{
	static const struct option longopts[] = {
		{"device", required_argument, NULL, 'd'},
		{"serial", required_argument, NULL, 's'},
		{"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, 'v'},
		{NULL, 0, NULL, 0},
	};
	int opt;

	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":h", longopts, NULL)) != -1) {
		switch (opt) {
		case 'd':
			*device = optarg;
			break;
		case 's':
			*serial = optarg;
			break;
		case 'h':
		case 'v':
			fputs(opt == 'h' ? help_text : "vs-agent (Verbscope) " VS_VERSION "\n", stdout);
			exit(vs_cli_flush(AG_PROGRAM, NULL));
		default:
			return vs_cli_bad_option(AG_PROGRAM, NULL, argv, opt);
		}
	}
	if (optind < argc)
		return ag_fail("%s: there are no arguments: see vs-agent --help", argv[optind]);
	if (*device != NULL && (strlen(*device) >= AG_NAME || strpbrk(*device, " \n") != NULL))
		return ag_fail("--device %s: no device has such a name", *device);
	return 0;
}

int main(int argc, char **argv)
{
	const char *device = NULL, *serial = NULL;
	int rc = options(argc, argv, &device, &serial);

	return rc != 0 ? rc : ag_serve(device, serial);
}
