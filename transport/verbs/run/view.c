/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * view.c - a private view of /sys/class and /dev in which ref0 has the files of a kernel's device (--view). It is made
 * in a mount namespace and nobody else sees it. Where a folder to be filled does not exist, its parent gets a twin: a
 * tmpfs in which everything else is bound at its place. Real RDMA devices are hidden, as the library hides them.
 */
#define _GNU_SOURCE /* unshare, O_PATH */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "verbs/run/run.h"

static int fail(const char *what)
{
	return run_fail("--view: %s (%s)%s", what, strerror(errno),
			errno == EACCES || errno == EPERM
				? ": a security policy forbids mounts here: try "
				  "'sysctl kernel.apparmor_restrict_unprivileged_userns=0', or run as root"
				: "");
}

static int mount_tmpfs(const char *path)
{
	return mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=755,size=4m");
}

static int bind_fd(int fd, const char *path)
{
	char from[40];

	snprintf(from, sizeof(from), "/proc/self/fd/%d", fd);
	return mount(from, path, NULL, MS_BIND | MS_REC, NULL);
}

static int make_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);

	return fd < 0 ? -1 : close(fd);
}

/* One entry of the folder `old`, at its place in the tmpfs that now covers it. */
static int twin_entry(int old, const char *folder, const char *name)
{
	char path[512], target[512];
	int fd = openat(old, name, O_PATH | O_NOFOLLOW | O_CLOEXEC), rc;
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) != 0 || snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path)) {
		rc = -1;
	} else if (S_ISLNK(st.st_mode)) {
		n = readlinkat(old, name, target, sizeof(target) - 1);
		target[n > 0 ? n : 0] = '\0';
		rc = n > 0 ? symlink(target, path) : -1;
	} else {
		rc = S_ISDIR(st.st_mode) ? mkdir(path, 0755) : make_file(path);
		if (rc == 0)
			rc = bind_fd(fd, path);
	}
	if (fd >= 0)
		close(fd);
	return rc;
}

/* What can't be bound, an entry that has just gone for instance, is missing: no reason to give up. */
static int twin(const char *folder)
{
	int old = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = old >= 0 ? fdopendir(dup(old)) : NULL;
	struct dirent *e;

	if (d == NULL || mount_tmpfs(folder) != 0) {
		(void)fail(folder);
		if (d != NULL)
			closedir(d);
		if (old >= 0)
			close(old);
		return RUN_FAILED;
	}
	while ((e = readdir(d)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			(void)twin_entry(old, folder, e->d_name);
	closedir(d);
	close(old);
	return 0;
}

/* A folder of our own below `parent`, there or not; an open descriptor of it, or -1 after a line. */
static int own_folder(const char *parent, const char *name)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", parent, name);
	if (access(path, F_OK) == 0) {
		if (mount_tmpfs(path) != 0) {
			(void)fail(path);
			return -1;
		}
	} else if ((errno = 0, mkdir(path, 0755)) != 0) {
		(void)fail(path);
		return -1;
	}
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		(void)fail(path);
	return fd;
}

static bool missing(const char *path)
{
	return access(path, F_OK) != 0;
}

/* ---- the three folders ---- */

static int view_class(const uint8_t gid[][16], unsigned n)
{
	int device, verbs, rc = 0;

	if (missing("/sys/class/infiniband") || missing("/sys/class/infiniband_verbs"))
		rc = twin("/sys/class");
	if (rc == 0 && !missing("/sys/class/infiniband_mad") && mount_tmpfs("/sys/class/infiniband_mad") != 0)
		rc = fail("/sys/class/infiniband_mad");
	if (rc != 0)
		return rc;
	device = own_folder("/sys/class", "infiniband");
	verbs = device >= 0 ? own_folder("/sys/class", "infiniband_verbs") : -1;
	if (verbs < 0 || !run_sysfs_device(device, gid, n) || !run_sysfs_verbs(verbs))
		rc = verbs < 0 ? RUN_FAILED : fail("the files below /sys/class can't be written");
	if (device >= 0)
		close(device);
	if (verbs >= 0)
		close(verbs);
	return rc;
}

static int view_nodes(void)
{
	static const char *const node[] = {"/dev/infiniband/uverbs0", "/dev/infiniband/rdma_cm"};
	int null = open("/dev/null", O_PATH | O_CLOEXEC), rc = 0, fd;

	if (missing("/dev/infiniband"))
		rc = twin("/dev");
	fd = rc == 0 ? own_folder("/dev", "infiniband") : -1;
	if (fd < 0)
		rc = RUN_FAILED;
	else
		close(fd);
	for (unsigned i = 0; rc == 0 && i < 2; i++)
		if (make_file(node[i]) != 0 || bind_fd(null, node[i]) != 0)
			rc = fail(node[i]);
	if (null >= 0)
		close(null);
	return rc;
}

int run_view(const char *const *ip, unsigned n_ip)
{
	uint8_t gid[RUN_ADDRS][16];
	char *cwd = getcwd(NULL, 0);
	int rc = run_unshare(CLONE_NEWNS, "--view");

	for (unsigned i = 0; i < n_ip; i++)
		if (!run_parse_ip(ip[i], gid[i]))
			return RUN_FAILED; /* checked before */
	if (rc == 0 && mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) != 0)
		rc = fail("/ can't be made private");
	if (rc == 0)
		rc = view_class((const uint8_t(*)[16])gid, n_ip);
	if (rc == 0)
		rc = view_nodes();
	if (rc == 0 && cwd != NULL && chdir(cwd) != 0) /* it may lie below what is covered now */
		rc = fail(cwd);
	free(cwd);
	return rc;
}
