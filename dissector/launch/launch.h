/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * launch.h - what the files of vs-tshark and vs-wireshark share.
 *
 *   launch.c     main: picks the way in, sets the environment, executes
 *   args.c       what the command line asks for: a live capture, a file, a profile
 *   locate.c     the program in PATH, our plugin beside us, and whether the two fit
 *   root.c       the two ways past "root loads no plugins": a user namespace, or the shim
 *   config.c     the profile for people who have not installed it
 *   hide_root.c  the shim (its own shared object)
 *
 * Both programs are the same sources; VS_LAUNCH_GUI says which one is being compiled.
 */
#ifndef VS_LAUNCH_H
#define VS_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>

#ifdef VS_LAUNCH_GUI
#define VS_LAUNCH_IS_GUI true
#define VS_LAUNCH_NAME "vs-wireshark"
#define VS_LAUNCH_PROGRAM "wireshark"
#define VS_LAUNCH_PACKAGE "wireshark"
#else
#define VS_LAUNCH_IS_GUI false
#define VS_LAUNCH_NAME "vs-tshark"
#define VS_LAUNCH_PROGRAM "tshark"
#define VS_LAUNCH_PACKAGE "tshark"
#endif

#define VS_LAUNCH_PROFILE "Verbscope"
#define VS_LAUNCH_PLUGIN "verbscope.so"
#define VS_LAUNCH_SHIM "vs-hide-root.so"
/* What LD_PRELOAD was before the shim, and the descriptor that the shim was loaded from. */
#define VS_LAUNCH_PRELOAD_ENV "VS_LAUNCH_PRELOAD"
#define VS_LAUNCH_FD_ENV "VS_LAUNCH_FD"

/* Exit codes of our own failures, as env(1) has them. */
enum { VS_EXIT_OWN = 125, VS_EXIT_CANNOT_RUN = 126, VS_EXIT_NOT_FOUND = 127 };

/* A file that the command line names; it must stay within reach. */
struct vs_launch_file {
	const char *name;
	bool is_output;
};

enum { VS_LAUNCH_FILES_MAX = 16 };

/* What the command line asks for. The strings point into argv. */
struct vs_launch_args {
	bool live;           /* names or lists interfaces, or reads no file: needs what rights we have */
	bool prints;         /* prints help, a version or a report, and reads no packet */
	bool own_config;     /* -P: the user chose another configuration folder */
	const char *profile; /* -C, or NULL */
	size_t files;
	struct vs_launch_file file[VS_LAUNCH_FILES_MAX];
};

/* Where everything is. Strings are malloc'ed and live until exec. */
struct vs_launch_place {
	char *program; /* tshark or wireshark */
	char *plugins; /* for WIRESHARK_PLUGIN_DIR */
	char *plugin;  /* plugins/M.m/epan/verbscope.so */
	char *version; /* M.m, the folder's name */
	char *shim;
	char *config; /* a Wireshark configuration folder with our profile in it */
};

/* One line on stderr, with the program's name in front. */
void vs_launch_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void vs_launch_die(int code, const char *fmt, ...) __attribute__((format(printf, 2, 3), noreturn));
/* malloc'ed text; running out of memory is our own failure. */
char *vs_launch_text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void vs_launch_setenv(const char *name, const char *value);

struct vs_launch_args vs_launch_args_parse(int argc, char **argv);

/* Dies with 125, 126 or 127 when something is missing or does not fit. */
struct vs_launch_place vs_launch_place_find(void);
/* The same for --version: NULL for what was not found, no message. */
struct vs_launch_place vs_launch_place_peek(void);
/* True if the user's own plugin folder holds the very same plugin, so that ours need not be named. */
bool vs_launch_plugin_is_installed(const struct vs_launch_place *place);
bool vs_launch_is_same_content(const char *name_a, const char *name_b);
/* Says so if the system has plugins that `make` did not link beside ours. */
void vs_launch_plugins_check(const struct vs_launch_place *place);

/* The test that Wireshark makes before it refuses plugins. */
bool vs_root_is_seen(void);
/* Prepares the calling process so that `place->program` accepts plugins; warns if that takes the shim. */
void vs_root_prepare(const struct vs_launch_args *args, const struct vs_launch_place *place);

/*
 * Makes the profile available. Returns the profile's name if "-C name" must be added to the
 * command line, else NULL.
 */
const char *vs_config_prepare(const struct vs_launch_args *args, const struct vs_launch_place *place);

#endif
