/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * root.c - the two ways past "Wireshark loads no plugins for root".
 *
 * Reading files: a user namespace in which we are user 1000. To the kernel the process still owns
 * root's files, but it holds no capability, which is also the safer way to look at packets from
 * strangers. It cannot capture, and it cannot open what only root's privilege opens (another
 * user's private files).
 *
 * Live capture, namespaces refused, or a file out of reach: the preloaded shim (hide_root.c), and
 * one line on stderr that says so.
 */
#define _GNU_SOURCE
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <linux/capability.h>
#include <pwd.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define INNER_ID 1000

/* Something that must be reachable in the namespace as it is outside. */
struct need {
	char *path;
	int mode; /* for access() */
};

enum { NEEDS_MAX = VS_LAUNCH_FILES_MAX + 3 };

/* What the probe's exit code says; from PROBE_NEED on it is the number of the need that failed. */
enum { PROBE_FITS = 0, PROBE_REFUSED = 1, PROBE_NEED = 2 };

bool vs_root_is_seen(void)
{
	return getuid() == 0 || geteuid() == 0 || getgid() == 0 || getegid() == 0;
}

static int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = write(fd, text, strlen(text));
	close(fd);
	return n == (ssize_t)strlen(text) ? 0 : -1;
}

/* 0, or -1 with errno set; after a failure the process is good for nothing else. */
static int userns_enter(void)
{
	unsigned int uid = geteuid(), gid = getegid();
	char *uid_map = vs_launch_text("%u %u 1", uid ? uid : INNER_ID, uid);
	char *gid_map = vs_launch_text("%u %u 1", gid ? gid : INNER_ID, gid);
	int failed;

	failed = unshare(CLONE_NEWUSER) || write_text("/proc/self/setgroups", "deny") ||
		 write_text("/proc/self/uid_map", uid_map) || write_text("/proc/self/gid_map", gid_map);
	free(uid_map);
	free(gid_map);
	return failed ? -1 : 0;
}

/* What exec does to a process that is not root in its namespace. */
static int capabilities_drop(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};

	return (int)syscall(SYS_capset, &header, none);
}

/* Tries the namespace in a child. */
static int userns_probe(const struct need *need, size_t n)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		if (userns_enter() || capabilities_drop())
			_exit(PROBE_REFUSED);
		for (size_t i = 0; i < n; i++)
			if (access(need[i].path, need[i].mode) != 0)
				_exit(PROBE_NEED + (int)i);
		_exit(PROBE_FITS);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
		return PROBE_REFUSED;
	return WEXITSTATUS(status);
}

/* What not even we can reach is no reason against the namespace: the program will complain. */
static void need_add(struct need *need, size_t *n, char *path, int mode)
{
	if (access(path, mode) == 0)
		need[(*n)++] = (struct need){.path = path, .mode = mode};
	else
		free(path);
}

/* An output file, or the folder that it will be created in. */
static void need_add_output(struct need *need, size_t *n, const char *name)
{
	char *path = vs_launch_text("%s", name);

	if (access(path, F_OK) == 0) {
		need_add(need, n, path, W_OK);
	} else {
		need_add(need, n, vs_launch_text("%s", dirname(path)), W_OK | X_OK);
		free(path);
	}
}

/* The socket of a Wayland session, for Wireshark where there is no X server to fall back on. */
static void need_add_display(struct need *need, size_t *n)
{
	const char *runtime, *wayland;

	if (!VS_LAUNCH_IS_GUI || getenv("DISPLAY"))
		return;
	runtime = getenv("XDG_RUNTIME_DIR");
	wayland = getenv("WAYLAND_DISPLAY");
	if (!wayland)
		return;
	if (*wayland == '/')
		need_add(need, n, vs_launch_text("%s", wayland), W_OK);
	else if (runtime)
		need_add(need, n, vs_launch_text("%s/%s", runtime, wayland), W_OK);
}

/*
 * X's cookie file is often another user's (sudo). If it is out of reach in the namespace, a copy
 * goes along in memory, which leaves nothing behind.
 */
static void xauthority_carry(void)
{
	const char *set, *home;
	struct need cookie[1];
	size_t n = 0;
	char block[4096];
	ssize_t got;

	if (!VS_LAUNCH_IS_GUI)
		return;
	set = getenv("XAUTHORITY");
	home = getenv("HOME");
	if (!set && !home)
		return;
	need_add(cookie, &n, set ? vs_launch_text("%s", set) : vs_launch_text("%s/.Xauthority", home), R_OK);
	if (!n)
		return;
	if (userns_probe(cookie, 1) == PROBE_NEED) {
		int in = open(cookie[0].path, O_RDONLY | O_CLOEXEC), out = memfd_create("xauthority", 0);

		while (in >= 0 && out >= 0 && (got = read(in, block, sizeof(block))) > 0)
			if (write(out, block, (size_t)got) != got)
				break;
		if (in >= 0)
			close(in);
		if (out >= 0) {
			char *path = vs_launch_text("/proc/self/fd/%d", out);

			vs_launch_setenv("XAUTHORITY", path);
			free(path);
		}
	}
	free(cookie[0].path);
}

/*
 * Inside the namespace the password file names user 1000, who is somebody else: whatever falls back
 * on it is set to what root would get.
 */
static void home_pin(void)
{
	const struct passwd *me = getenv("HOME") ? NULL : getpwuid(getuid());

	if (me && me->pw_dir)
		vs_launch_setenv("HOME", me->pw_dir);
	if (VS_LAUNCH_IS_GUI && !getenv("XDG_RUNTIME_DIR")) {
		const char *tmp = getenv("TMPDIR");
		char *runtime = vs_launch_text("%s/runtime-root", tmp && *tmp ? tmp : "/tmp");
		struct stat st;

		mkdir(runtime, 0700);
		if (lstat(runtime, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == getuid())
			vs_launch_setenv("XDG_RUNTIME_DIR", runtime);
		free(runtime);
	}
}

/* Adds the shim to LD_PRELOAD, whose entries can hold neither a space nor a colon: then by descriptor. */
static void shim_preload(const struct vs_launch_place *place, const char *why)
{
	const char *before = getenv("LD_PRELOAD");
	char *shim = vs_launch_text("%s", place->shim), *list;

	if (access(place->shim, R_OK) != 0)
		vs_launch_die(VS_EXIT_OWN, "%s is missing, and root needs it here; run: make", place->shim);
	if (strpbrk(shim, " :")) {
		int fd = open(shim, O_RDONLY);
		char *number = vs_launch_text("%d", fd);

		if (fd < 0)
			vs_launch_die(VS_EXIT_OWN, "cannot open %s: %s", shim, strerror(errno));
		free(shim);
		shim = vs_launch_text("/proc/self/fd/%d", fd);
		vs_launch_setenv(VS_LAUNCH_FD_ENV, number);
		free(number);
	}
	list = before && *before ? vs_launch_text("%s:%s", shim, before) : vs_launch_text("%s", shim);
	vs_launch_setenv(VS_LAUNCH_PRELOAD_ENV, before ? before : "");
	vs_launch_setenv("LD_PRELOAD", list);
	vs_launch_warn("warning: running with root's rights and with plugins, because %s", why);
	free(list);
	free(shim);
}

void vs_root_prepare(const struct vs_launch_args *args, const struct vs_launch_place *place)
{
	struct need need[NEEDS_MAX];
	char *why = NULL;
	size_t n = 0;
	int probe;

	if (!vs_root_is_seen())
		return;
	if (args->live) {
		shim_preload(place, "a live capture needs them");
		return;
	}
	need_add(need, &n, vs_launch_text("%s", place->plugin), R_OK);
	need_add(need, &n, vs_launch_text("%s", place->program), X_OK);
	for (size_t i = 0; i < args->files; i++) {
		if (args->file[i].is_output)
			need_add_output(need, &n, args->file[i].name);
		else
			need_add(need, &n, vs_launch_text("%s", args->file[i].name), R_OK);
	}
	need_add_display(need, &n);

	probe = userns_probe(need, n);
	if (probe == PROBE_FITS) {
		xauthority_carry();
		home_pin();
		if (userns_enter())
			vs_launch_die(VS_EXIT_OWN, "cannot enter a user namespace: %s", strerror(errno));
	} else {
		why = probe == PROBE_REFUSED ? vs_launch_text("user namespaces are refused here")
					     : vs_launch_text("%s needs them", need[probe - PROBE_NEED].path);
		shim_preload(place, why);
	}
	for (size_t i = 0; i < n; i++)
		free(need[i].path);
	free(why);
}
