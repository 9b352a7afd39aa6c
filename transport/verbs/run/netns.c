/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * netns.c - namespaces; a network namespace with nothing but its own loopback interface: every port is free there. An
 * ordinary user gets one inside a user namespace in which it keeps its own number.
 */
#define _GNU_SOURCE /* unshare */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ipv6.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
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

/* An address of the namespace's own, on its loopback interface: n-th of them. */
static int add_ipv4(struct in_addr addr, unsigned n)
{
	struct ifreq ifr = {.ifr_name = ""};
	struct sockaddr_in sin = {.sin_family = AF_INET, .sin_addr = addr};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), rc = -1;

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "lo:%u", n + 1);
	memcpy(&ifr.ifr_addr, &sin, sizeof(sin));
	if (fd >= 0) {
		rc = ioctl(fd, SIOCSIFADDR, &ifr);
		close(fd);
	}
	return rc;
}

/* The kernel looks for a while whether somebody else has a new address. */
static int wait_for_ipv6(int fd, const struct in6_addr *addr)
{
	const struct sockaddr_in6 sin6 = {.sin6_family = AF_INET6, .sin6_addr = *addr};
	int rc = -1;

	for (int ms = 0; rc != 0 && ms < 3000; ms += 10) {
		rc = bind(fd, (const struct sockaddr *)&sin6, sizeof(sin6));
		if (rc != 0 && errno != EADDRNOTAVAIL)
			break;
		if (rc != 0)
			poll(NULL, 0, 10);
	}
	return rc;
}

static int add_ipv6(const struct in6_addr *addr)
{
	struct in6_ifreq ifr = {.ifr6_addr = *addr, .ifr6_prefixlen = 128, .ifr6_ifindex = (int)if_nametoindex("lo")};
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0), rc = -1;

	if (fd >= 0) {
		rc = ioctl(fd, SIOCSIFADDR, &ifr);
		if (rc == 0 || errno == EEXIST)
			rc = wait_for_ipv6(fd, addr);
		close(fd);
	}
	return rc;
}

/* Any address can be had in here: nobody else is there. */
static int add_addresses(const struct run_options *o)
{
	for (unsigned i = 0; i < o->n_ip; i++) {
		struct in6_addr v6;
		struct in_addr v4;
		int rc = 0;

		if (inet_pton(AF_INET, o->ip[i], &v4) == 1)
			rc = ntohl(v4.s_addr) >> 24 == 127 ? 0 : add_ipv4(v4, i);
		else if (inet_pton(AF_INET6, o->ip[i], &v6) == 1)
			rc = IN6_IS_ADDR_LOOPBACK(&v6) ? 0 : add_ipv6(&v6);
		if (rc != 0)
			return run_fail("--netns: %s can't be added to its loopback interface (%s)", o->ip[i],
					strerror(errno));
	}
	return 0;
}

#define POLICY "try 'sysctl kernel.apparmor_restrict_unprivileged_userns=0'"

static const char *how_to_unshare(int error)
{
	switch (error) {
	case ENOSPC:
		return "try 'sysctl user.max_user_namespaces=10000'";
	case EINVAL:
	case ENOSYS:
		return "this kernel has none (CONFIG_USER_NS)";
	default:
		return "try 'sysctl kernel.unprivileged_userns_clone=1', allow unshare in the container's seccomp "
		       "profile";
	}
}

int run_unshare(int flags, const char *option)
{
	uid_t uid = getuid();
	gid_t gid = getgid();

	if (unshare(flags) == 0)
		return 0;
	if (unshare(CLONE_NEWUSER | flags) != 0)
		return run_fail("%s: no namespaces for ordinary users here (%s): %s, or run as root", option,
				strerror(errno), how_to_unshare(errno));
	if (map_ids(uid, gid) != 0)
		return run_fail("%s: the user can't be mapped in a namespace (%s): " POLICY ", or run as root", option,
				strerror(errno));
	return 0;
}

int run_netns(const struct run_options *o)
{
	int rc = run_unshare(CLONE_NEWNET, "--netns");

	if (rc != 0)
		return rc;
	if (loopback_up() != 0)
		return run_fail("--netns: its loopback interface can't be set up (%s)", strerror(errno));
	return add_addresses(o);
}
