/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * netns.c - a network namespace with nothing but its own loopback interface: every port is free there. An ordinary
 * user gets one inside a user namespace in which it keeps its own number.
 */
#define _GNU_SOURCE /* unshare */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "verbs/run/run.h"

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), rc;

	if (fd < 0)
		return -1;
	rc = write(fd, text, strlen(text)) == (ssize_t)strlen(text) ? 0 : -1;
	close(fd);
	return rc;
}

static int map_ids(uid_t uid, gid_t gid)
{
	char line[64];

	snprintf(line, sizeof(line), "%u %u 1", uid, uid);
	if (write_file("/proc/self/uid_map", line) != 0)
		return -1;
	(void)write_file("/proc/self/setgroups", "deny"); /* needed before gid_map; old kernels have none */
	snprintf(line, sizeof(line), "%u %u 1", gid, gid);
	return write_file("/proc/self/gid_map", line);
}

static int loopback_up(void)
{
	struct ifreq ifr = {.ifr_name = "lo"};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), rc = -1;

	if (fd < 0)
		return -1;
	if (ioctl(fd, SIOCGIFFLAGS, &ifr) == 0) {
		ifr.ifr_flags = (short)(ifr.ifr_flags | IFF_UP);
		rc = ioctl(fd, SIOCSIFFLAGS, &ifr);
	}
	close(fd);
	return rc;
}

int run_netns(void)
{
	uid_t uid = getuid();
	gid_t gid = getgid();

	if (unshare(CLONE_NEWNET) != 0) {
		if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
			return run_fail("--netns: no namespaces for ordinary users here (%s): try "
					"'sysctl kernel.unprivileged_userns_clone=1', or run as root",
					strerror(errno));
		if (map_ids(uid, gid) != 0)
			return run_fail("--netns: the user can't be mapped (%s)", strerror(errno));
	}
	if (loopback_up() != 0)
		return run_fail("--netns: its loopback interface can't be set up (%s)", strerror(errno));
	return 0;
}
