/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * config.c - the profile for people who have not installed it.
 *
 * Wireshark takes a profile only from its configuration folder, and remembers there which profile
 * was used last: the next plain `wireshark` would start in ours. So vs-wireshark without -C works
 * in a configuration folder of its own, ~/.config/verbscope/wireshark, and leaves the user's alone.
 *
 * The profile is copied there. When ours changes, the files that the user has not touched are
 * replaced: those that are still what was shipped last time, of which "shipped/" keeps a copy.
 */
#define _GNU_SOURCE
#include "launch.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* $XDG_CONFIG_HOME or ~/.config; NULL without a home. */
static char *config_home(void)
{
	const char *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	if (xdg && *xdg == '/')
		return vs_launch_text("%s", xdg);
	return home && *home ? vs_launch_text("%s/.config", home) : NULL;
}

static bool is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Looks where Wireshark looks: the XDG folder, and if there is none, ~/.wireshark. */
static bool user_has_profile(void)
{
	const char *home = getenv("HOME");
	char *base = config_home(), *folder = NULL, *profile;
	bool has;

	if (base)
		folder = vs_launch_text("%s/wireshark", base);
	if ((!folder || !is_folder(folder)) && home) {
		free(folder);
		folder = vs_launch_text("%s/.wireshark", home);
	}
	free(base);
	if (!folder)
		return false;
	profile = vs_launch_text("%s/profiles/" VS_LAUNCH_PROFILE, folder);
	has = is_folder(profile);
	free(profile);
	free(folder);
	return has;
}

/* mkdir -p, for our own folders: private. */
static bool folder_make(const char *path)
{
	char *copy = vs_launch_text("%s", path);

	for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(copy, 0700);
		*slash = '/';
	}
	mkdir(copy, 0700);
	free(copy);
	return is_folder(path) && access(path, W_OK | X_OK) == 0;
}

/* True if what we put below `path` will not surprise the owner: sudo may leave us another's HOME. */
static bool is_ours(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && st.st_uid == geteuid();
}

/* Where vs-wireshark keeps its settings; a passing folder if the home cannot be written. */
static char *own_folder(void)
{
	const char *tmp = getenv("TMPDIR"), *home = getenv("HOME");
	char *base = config_home(), *folder = NULL;

	if (base && (is_ours(base) || (home && !is_folder(base) && is_ours(home))))
		folder = vs_launch_text("%s/verbscope/wireshark", base);
	free(base);
	if (folder && folder_make(folder))
		return folder;
	free(folder);
	folder = vs_launch_text("%s/verbscope-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(folder))
		vs_launch_die(VS_EXIT_OWN, "no folder for settings: %s: %s; set HOME or TMPDIR, or use -C Default",
			      folder, strerror(errno));
	vs_launch_warn("note: the home folder cannot be used; settings are kept in %s", folder);
	return folder;
}

/* Writes beside and renames, so that no reader sees half a file. */
static void file_copy(const char *from, const char *to)
{
	char *part = vs_launch_text("%s.%ld", to, (long)getpid()), block[4096];
	FILE *in = fopen(from, "rbe"), *out = fopen(part, "wbe");
	bool ok = in && out;
	size_t n;

	while (ok && (n = fread(block, 1, sizeof(block), in)) > 0)
		ok = fwrite(block, 1, n, out) == n;
	if (in)
		fclose(in);
	if (out && fclose(out) != 0)
		ok = false;
	if (!ok || rename(part, to) != 0) {
		vs_launch_warn("warning: cannot write %s: %s", to, strerror(errno));
		unlink(part);
	}
	free(part);
}

static void file_refresh(const char *ours, const char *users, const char *shipped)
{
	bool untouched = access(users, F_OK) != 0 || vs_launch_is_same_content(users, shipped);

	if (vs_launch_is_same_content(ours, shipped) && access(users, F_OK) == 0)
		return;
	if (untouched)
		file_copy(ours, users);
	file_copy(ours, shipped);
}

/* Copies the files directly in `ours` to `users`, as far as they are to be replaced. */
static void folder_refresh(const char *ours, const char *users, const char *shipped)
{
	struct dirent *entry;
	DIR *dir = opendir(ours);

	if (!dir)
		vs_launch_die(VS_EXIT_OWN, "no profile in %s; run: make, or use -C Default", ours);
	folder_make(users);
	folder_make(shipped);
	while ((entry = readdir(dir))) {
		char *from = vs_launch_text("%s/%s", ours, entry->d_name);
		char *to = vs_launch_text("%s/%s", users, entry->d_name);
		char *last = vs_launch_text("%s/%s", shipped, entry->d_name);

		if (!is_folder(from))
			file_refresh(from, to, last);
		free(from);
		free(to);
		free(last);
	}
	closedir(dir);
}

/* The folder itself has settings that belong to no profile: the size of the first window. */
static void config_refresh(const char *folder, const struct vs_launch_place *place)
{
	char *ours = vs_launch_text("%s/profiles/" VS_LAUNCH_PROFILE, place->config);
	char *users = vs_launch_text("%s/profiles/" VS_LAUNCH_PROFILE, folder);
	char *shipped = vs_launch_text("%s/shipped", folder);
	char *shipped_profile = vs_launch_text("%s/profile", shipped);

	folder_refresh(place->config, folder, shipped);
	folder_refresh(ours, users, shipped_profile);
	free(ours);
	free(users);
	free(shipped);
	free(shipped_profile);
}

const char *vs_config_prepare(const struct vs_launch_args *args, const struct vs_launch_place *place)
{
	bool chosen = args->profile && strcmp(args->profile, VS_LAUNCH_PROFILE) == 0;
	char *folder;

	if (args->prints || args->own_config || getenv("WIRESHARK_CONFIG_DIR"))
		return NULL;
	if (!VS_LAUNCH_IS_GUI) {
		/* tshark only reads its configuration: the one in the build will do. */
		if (chosen && !user_has_profile())
			vs_launch_setenv("WIRESHARK_CONFIG_DIR", place->config);
		return NULL;
	}
	if (args->profile && (!chosen || user_has_profile()))
		return NULL;
	folder = own_folder();
	config_refresh(folder, place);
	vs_launch_setenv("WIRESHARK_CONFIG_DIR", folder);
	free(folder);
	return args->profile ? NULL : VS_LAUNCH_PROFILE;
}
