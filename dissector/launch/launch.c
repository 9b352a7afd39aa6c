/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * launch.c - vs-tshark and vs-wireshark: the program, with our plugin, from any user.
 *
 * Everything is prepared in this process, which then becomes the program: its exit code, signals
 * and terminal are the program's own. Arguments are passed on as they are.
 */
#define _GNU_SOURCE
#include "launch.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void vs_launch_warn(const char *fmt, ...)
{
	va_list ap;

	fputs(VS_LAUNCH_NAME ": ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

void vs_launch_die(int code, const char *fmt, ...)
{
	va_list ap;

	fputs(VS_LAUNCH_NAME ": ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(code);
}

char *vs_launch_text(const char *fmt, ...)
{
	char *text;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0)
		vs_launch_die(VS_EXIT_OWN, "out of memory");
	return text;
}

void vs_launch_setenv(const char *name, const char *value)
{
	if (setenv(name, value, 1) != 0)
		vs_launch_die(VS_EXIT_OWN, "cannot set %s: %s", name, strerror(errno));
}

static void help_print(void)
{
	fputs("Usage: " VS_LAUNCH_NAME " [options of " VS_LAUNCH_PROGRAM "]\n"
	      "\n"
	      "Runs " VS_LAUNCH_PROGRAM " with Verbscope's plugin: InfiniBand and RoCE, decoded and checked.\n"
	      "Works for root too, for whom " VS_LAUNCH_PROGRAM " loads no plugins.\n"
	      "\n"
	      "  " VS_LAUNCH_NAME " -r FILE     decode a capture\n"
	      "  " VS_LAUNCH_NAME " -i IFACE    capture and decode\n"
	      "  " VS_LAUNCH_NAME " --help      this text (-h: that of " VS_LAUNCH_PROGRAM ")\n"
	      "  " VS_LAUNCH_NAME " --version   Verbscope's version (-v: that of " VS_LAUNCH_PROGRAM ")\n"
	      "\n"
	      "--help and --version are ours only in first place. Everything else goes to " VS_LAUNCH_PROGRAM "\n"
	      "as it is.\n"
	      "\n",
	      stdout);
	if (VS_LAUNCH_IS_GUI)
		fputs("Without -C the profile " VS_LAUNCH_PROFILE
		      " is used, and settings are kept apart from those of your\n"
		      "own Wireshark. With -C PROFILE (-C Default) your own configuration is used.\n",
		      stdout);
	else
		fputs("-C " VS_LAUNCH_PROFILE " shows our columns and colours; it need not be installed.\n", stdout);
	fputs("\n"
	      "Exit code: that of " VS_LAUNCH_PROGRAM "; 125 if " VS_LAUNCH_NAME
	      " itself fails, 126 if " VS_LAUNCH_PROGRAM "\n"
	      "cannot be run, 127 if it is not installed.\n",
	      stdout);
}

static void version_print(void)
{
	struct vs_launch_place place = vs_launch_place_peek();

	printf("%s %s\n", VS_LAUNCH_NAME, VS_VERSION);
	if (place.plugin)
		printf("plugin  %s (for Wireshark %s)\n", place.plugin, place.version);
	else
		printf("plugin  not built\n");
	printf("program %s\n", place.program ? place.program : "not in PATH");
}

/* The program's own arguments: ours, with the profile in front if one was chosen. */
static char **arguments_make(int argc, char **argv, const struct vs_launch_place *place, const char *profile)
{
	char **out = calloc((size_t)argc + 3, sizeof(*out));
	size_t n = 0;

	if (!out)
		vs_launch_die(VS_EXIT_OWN, "out of memory");
	out[n++] = place->program;
	if (profile) {
		out[n++] = vs_launch_text("-C");
		out[n++] = vs_launch_text("%s", profile);
	}
	for (int i = 1; i < argc; i++)
		out[n++] = argv[i];
	return out;
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "--help") == 0) {
		help_print();
		return 0;
	}
	if (argc > 1 && strcmp(argv[1], "--version") == 0) {
		version_print();
		return 0;
	}

	struct vs_launch_args args = vs_launch_args_parse(argc, argv);
	struct vs_launch_place place = vs_launch_place_find();
	char **arguments = arguments_make(argc, argv, &place, vs_config_prepare(&args, &place));

	if (!vs_launch_plugin_is_installed(&place)) {
		vs_launch_plugins_check(&place);
		vs_launch_setenv("WIRESHARK_PLUGIN_DIR", place.plugins);
	}
	vs_root_prepare(&args, &place);
	execv(place.program, arguments);
	vs_launch_die(errno == ENOENT ? VS_EXIT_NOT_FOUND : VS_EXIT_CANNOT_RUN, "cannot run %s: %s", place.program,
		      strerror(errno));
}
