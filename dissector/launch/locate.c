/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locate.c - finds the program in PATH and our plugin beside us, and checks that the two fit.
 *
 * Wireshark looks for plugins in a folder named after its own major.minor version and silently
 * finds nothing when that folder is another version's. So it is checked here. The cheap way: program
 * and plugin must ask for the same libwireshark.so.N, whose number changes with every minor
 * version. Where that cannot be read (the program is a script), the program is asked for its
 * version, which takes about 0.2 s.
 */
#define _GNU_SOURCE
#include "launch.h"

#include "elf_needed.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The folder of the system's plugins, as pkg-config names it; empty when not known. */
#ifndef VS_WIRESHARK_PLUGINS
#define VS_WIRESHARK_PLUGINS ""
#endif

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* The way execvp would find it, but never ourselves under another name. */
static int program_find(char **program, char **problem)
{
	const char *path = getenv("PATH");
	char *denied = NULL, *paths = vs_launch_text("%s", path ? path : "/usr/local/bin:/usr/bin:/bin"), *rest = paths;
	struct stat self = {0}, st;

	if (stat("/proc/self/exe", &self) != 0)
		memset(&self, 0, sizeof(self));
	for (const char *dir; (dir = strsep(&rest, ":"));) {
		char *file = vs_launch_text("%s/%s", *dir ? dir : ".", VS_LAUNCH_PROGRAM);

		if (stat(file, &st) == 0 && S_ISREG(st.st_mode) && !is_same_file(&st, &self)) {
			if (access(file, X_OK) == 0) {
				*program = file;
				free(denied);
				free(paths);
				return 0;
			}
			if (!denied)
				denied = vs_launch_text("%s", file);
		}
		free(file);
	}
	free(paths);
	if (denied) {
		*problem = vs_launch_text("cannot run %s: permission denied", denied);
		free(denied);
		return VS_EXIT_CANNOT_RUN;
	}
	*problem = vs_launch_text("%s is not in PATH; on Debian: apt-get install %s", VS_LAUNCH_PROGRAM,
				  VS_LAUNCH_PACKAGE);
	return VS_EXIT_NOT_FOUND;
}

/* The folder above the one we are in: build/ or a PREFIX. */
static char *root_folder(void)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (n <= 0)
		return NULL;
	self[n] = '\0';
	for (int up = 0; up < 2; up++) {
		slash = strrchr(self, '/');
		if (!slash)
			return NULL;
		*slash = '\0';
	}
	return vs_launch_text("%s", self);
}

/* "4.0" out of the first line of `program -v`; NULL if it does not say. */
static char *program_version(const char *program)
{
	char line[256] = "";
	int out[2];
	pid_t child;

	if (pipe(out) != 0)
		return NULL;
	child = fork();
	if (child == 0) {
		dup2(out[1], STDOUT_FILENO);
		close(STDERR_FILENO);
		execl(program, program, "-v", (char *)NULL);
		_exit(VS_EXIT_CANNOT_RUN);
	}
	close(out[1]);
	FILE *in = fdopen(out[0], "r");
	if (in) {
		if (!fgets(line, sizeof(line), in))
			line[0] = '\0';
		while (fgetc(in) != EOF)
			;
		fclose(in);
	}
	if (child > 0)
		waitpid(child, NULL, 0);
	char *major = line + strcspn(line, "0123456789"), *minor = major + strspn(major, "0123456789");
	if (*minor != '.' || !strspn(minor + 1, "0123456789"))
		return NULL;
	minor[1 + strspn(minor + 1, "0123456789")] = '\0';
	return vs_launch_text("%s", major);
}

static bool is_version(const char *name)
{
	size_t major = strspn(name, "0123456789");
	size_t minor = name[major] == '.' ? strspn(name + major + 1, "0123456789") : 0;

	return major && minor && !name[major + 1 + minor];
}

/* True if the plugin can be loaded by the program, going by the libwireshark that each asks for. */
static bool asks_for_same_library(const char *plugin, const char *program_library)
{
	char library[64];

	return *program_library && vs_elf_needed(plugin, "libwireshark.so.", library, sizeof(library)) &&
	       strcmp(library, program_library) == 0;
}

/* Looks through plugins/M.m/epan/ for the one that fits; without one, `place->version` is any that is there. */
static int plugin_find(struct vs_launch_place *place, char **problem)
{
	char library[64] = "", *wanted = NULL;
	bool fits = false;
	struct dirent *entry;
	DIR *dir = opendir(place->plugins);

	/* Only a program that does not name its library is asked, before the search. */
	if (dir && !vs_elf_needed(place->program, "libwireshark.so.", library, sizeof(library)))
		wanted = program_version(place->program);
	while (dir && !fits && (entry = readdir(dir))) {
		char *plugin;

		if (!is_version(entry->d_name))
			continue;
		plugin = vs_launch_text("%s/%s/epan/" VS_LAUNCH_PLUGIN, place->plugins, entry->d_name);
		if (access(plugin, R_OK) != 0) {
			free(plugin);
			continue;
		}
		fits = wanted ? strcmp(wanted, entry->d_name) == 0 : asks_for_same_library(plugin, library);
		free(place->version);
		place->version = vs_launch_text("%s", entry->d_name);
		free(place->plugin);
		place->plugin = plugin;
	}
	if (dir)
		closedir(dir);
	if (fits) {
		free(wanted);
		return 0;
	}
	if (!place->plugin) {
		*problem = vs_launch_text("no %s under %s; build it first: make", VS_LAUNCH_PLUGIN, place->plugins);
	} else {
		if (!wanted)
			wanted = program_version(place->program);
		*problem =
			vs_launch_text("the plugin is for Wireshark %s, but %s is version %s; install that version's "
				       "headers (wireshark-dev) and run: make clean all",
				       place->version, place->program, wanted ? wanted : "unknown");
	}
	free(wanted);
	return VS_EXIT_OWN;
}

static int place_fill(struct vs_launch_place *place, char **problem)
{
	char *root = root_folder();
	int code;

	if (!root) {
		*problem = vs_launch_text("cannot tell where I am: /proc/self/exe: %s", strerror(errno));
		return VS_EXIT_OWN;
	}
	place->plugins = vs_launch_text("%s/plugins", root);
	if (access(place->plugins, F_OK) != 0) {
		char *installed = vs_launch_text("%s/lib/verbscope/plugins", root);

		if (access(installed, F_OK) == 0) {
			free(place->plugins);
			place->plugins = installed;
		} else {
			free(installed);
		}
	}
	place->shim = vs_launch_text("%s/lib/verbscope/" VS_LAUNCH_SHIM, root);
	place->config = vs_launch_text("%s/share/verbscope/wireshark", root);
	free(root);
	code = program_find(&place->program, problem);
	return code ? code : plugin_find(place, problem);
}

struct vs_launch_place vs_launch_place_find(void)
{
	struct vs_launch_place place = {0};
	char *problem = NULL;
	int code = place_fill(&place, &problem);

	if (code)
		vs_launch_die(code, "%s", problem);
	return place;
}

struct vs_launch_place vs_launch_place_peek(void)
{
	struct vs_launch_place place = {0};
	char *problem = NULL;

	place_fill(&place, &problem);
	free(problem);
	return place;
}

bool vs_launch_is_same_content(const char *name_a, const char *name_b)
{
	FILE *a = fopen(name_a, "rbe"), *b = fopen(name_b, "rbe");
	bool same = a && b;

	while (same) {
		char block_a[16384], block_b[16384];
		size_t n_a = fread(block_a, 1, sizeof(block_a), a), n_b = fread(block_b, 1, sizeof(block_b), b);

		same = n_a == n_b && memcmp(block_a, block_b, n_a) == 0;
		if (!n_a)
			break;
	}
	if (a)
		fclose(a);
	if (b)
		fclose(b);
	return same;
}

bool vs_launch_plugin_is_installed(const struct vs_launch_place *place)
{
	const char *home = getenv("HOME");
	char *personal;
	bool same;

	if (!home || !*home)
		return false;
	personal = vs_launch_text("%s/.local/lib/wireshark/plugins/%s/epan/" VS_LAUNCH_PLUGIN, home, place->version);
	same = vs_launch_is_same_content(place->plugin, personal);
	free(personal);
	return same;
}

/* How many files of a system folder have no namesake in ours. */
static unsigned int count_unlinked(const struct vs_launch_place *place, const char *kind)
{
	char *theirs = vs_launch_text("%s/%s/%s", VS_WIRESHARK_PLUGINS, place->version, kind);
	DIR *dir = opendir(theirs);
	struct dirent *entry;
	unsigned int n = 0;

	while (dir && (entry = readdir(dir))) {
		char *ours = vs_launch_text("%s/%s/%s/%s", place->plugins, place->version, kind, entry->d_name);

		n += access(ours, F_OK) != 0;
		free(ours);
	}
	if (dir)
		closedir(dir);
	free(theirs);
	return n;
}

void vs_launch_plugins_check(const struct vs_launch_place *place)
{
	unsigned int n =
		count_unlinked(place, "epan") + count_unlinked(place, "wiretap") + count_unlinked(place, "codecs");

	if (n)
		vs_launch_warn(
			"warning: %u of the system's Wireshark plugins came after the build and will be missing; "
			"run: make",
			n);
}
