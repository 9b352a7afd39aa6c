/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* netns.c - namespaces, and a loopback interface in a new one. */
#define _GNU_SOURCE    /* unshare */
#include <arpa/inet.h> /* before linux/ipv6.h, which then leaves out what both have */
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

#include "vs/netns.h"

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

	(void)snprintf(line, sizeof(line), "%u %u 1", uid, uid);
	if (write_file("/proc/self/uid_map", line) != 0)
		return -1;
	(void)write_file("/proc/self/setgroups", "deny"); /* needed before gid_map; old kernels have none */
	(void)snprintf(line, sizeof(line), "%u %u 1", gid, gid);
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

static int add_ipv4(const uint8_t addr[4], unsigned n)
{
	struct ifreq ifr = {.ifr_name = ""};
	struct sockaddr_in sin = {.sin_family = AF_INET};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), rc = -1;

	memcpy(&sin.sin_addr, addr, 4);
	(void)snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "lo:%u", n + 1);
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

int vs_netns_add(const uint8_t gid[16], unsigned n)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	struct in6_addr v6;

	memcpy(&v6, gid, 16);
	if (memcmp(gid, mapped, 12) == 0)
		return gid[12] == 127 || add_ipv4(gid + 12, n) == 0 ? 0 : errno;
	return IN6_IS_ADDR_LOOPBACK(&v6) || add_ipv6(&v6) == 0 ? 0 : errno;
}

int vs_netns_up(void)
{
	return loopback_up() == 0 ? 0 : errno;
}

int vs_netns_unshare(int flags, bool *mapping)
{
	uid_t uid = getuid();
	gid_t gid = getgid();

	*mapping = false;
	if (unshare(flags) == 0)
		return 0;
	if (unshare(CLONE_NEWUSER | flags) != 0)
		return errno;
	*mapping = map_ids(uid, gid) != 0;
	return *mapping ? errno : 0;
}
