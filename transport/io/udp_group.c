/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * udp_group.c - multicast: a receiving socket per group, which other processes of the host may have, too. It joins on
 * the interface of one of our own addresses, the loopback interface included.
 */
#define _GNU_SOURCE /* struct ip_mreqn */
#include <ifaddrs.h>
#include <net/if.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "io/udp.h"

void udp_groups_init(struct vs_udpio *u)
{
	for (unsigned i = 0; i < VS_UDPIO_GROUPS; i++)
		u->group[i].fd = -1;
}

void udp_groups_close(struct vs_udpio *u)
{
	for (unsigned i = 0; i < VS_UDPIO_GROUPS; i++)
		if (u->group[i].fd >= 0)
			close(u->group[i].fd);
}

/* ---- interfaces ---- */

static bool same_address(const struct sockaddr *there, const union udp_address *own)
{
	union udp_address a = {.any.sa_family = AF_UNSPEC};

	if (there == NULL || there->sa_family != own->any.sa_family)
		return false;
	memcpy(&a, there, udp_addrlen(own));
	if (own->any.sa_family == AF_INET)
		return a.v4.sin_addr.s_addr == own->v4.sin_addr.s_addr;
	return memcmp(&a.v6.sin6_addr, &own->v6.sin6_addr, 16) == 0;
}

/* The interface that has the address; lo has all of 127.0.0.0/8 and names only one of them. */
static unsigned interface_of(const union udp_address *own)
{
	struct ifaddrs *all;
	unsigned index = 0;

	if (own->any.sa_family == AF_INET && ntohl(own->v4.sin_addr.s_addr) >> 24 == 127)
		return if_nametoindex("lo");
	if (getifaddrs(&all) != 0)
		return 0;
	for (const struct ifaddrs *i = all; i != NULL && index == 0; i = i->ifa_next)
		if (same_address(i->ifa_addr, own))
			index = if_nametoindex(i->ifa_name);
	freeifaddrs(all);
	return index;
}

void udp_multicast_interface(const struct vs_udpio *u, int fd, unsigned addr)
{
	int index = (int)interface_of(&u->own[addr]);
	struct ip_mreqn m = {.imr_ifindex = index};

	/* Only multicast needs it. */
	if (u->own[addr].any.sa_family == AF_INET)
		(void)setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &m, sizeof(m));
	else
		(void)setsockopt(fd, IPPROTO_IPV6, IPV6_MULTICAST_IF, &index, sizeof(index));
}

/* ---- joining ---- */

static bool is_multicast(const union udp_address *a)
{
	if (a->any.sa_family == AF_INET)
		return IN_MULTICAST(ntohl(a->v4.sin_addr.s_addr));
	return IN6_IS_ADDR_MULTICAST(&a->v6.sin6_addr);
}

static struct udp_group *find(struct vs_udpio *u, const union udp_address *to)
{
	for (unsigned i = 0; i < VS_UDPIO_GROUPS && u->group[i].fd >= 0; i++)
		if (same_address(&u->group[i].to.any, to))
			return &u->group[i];
	return NULL;
}

static bool join(const struct vs_udpio *u, int fd, unsigned addr, const union udp_address *to)
{
	unsigned index = interface_of(&u->own[addr]);

	if (to->any.sa_family == AF_INET) {
		struct ip_mreqn m = {.imr_multiaddr = to->v4.sin_addr, .imr_ifindex = (int)index};
		int all = 0; /* of the groups that other sockets have joined, nothing */

		(void)setsockopt(fd, IPPROTO_IP, IP_MULTICAST_ALL, &all, sizeof(all));
		return setsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &m, sizeof(m)) == 0;
	} else {
		struct ipv6_mreq m = {.ipv6mr_multiaddr = to->v6.sin6_addr, .ipv6mr_interface = index};

		return setsockopt(fd, IPPROTO_IPV6, IPV6_ADD_MEMBERSHIP, &m, sizeof(m)) == 0;
	}
}

static int open_group(struct vs_udpio *u, unsigned addr, const union udp_address *to)
{
	int family = to->any.sa_family, on = 1;
	int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct epoll_event ev = {.events = EPOLLIN};

	if (fd < 0)
		return -1;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 || !udp_dont_fragment(fd, family) ||
	    bind(fd, &to->any, udp_addrlen(to)) != 0 || !join(u, fd, addr, to) ||
	    epoll_ctl(u->epoll, EPOLL_CTL_ADD, fd, &ev) != 0) {
		close(fd);
		return -1;
	}
	udp_receive_options(u, fd, family);
	return fd;
}

int vs_udpio_join(struct vs_udpio *u, const uint8_t gid[16])
{
	union udp_address to;
	struct udp_group *g;
	unsigned addr = 0, i = 0;

	udp_to_address(&to, gid, VS_UDP_PORT_ROCE);
	while (addr < u->attr.n_addrs && u->own[addr].any.sa_family != to.any.sa_family)
		addr++;
	if (!is_multicast(&to) || addr == u->attr.n_addrs)
		return VS_ERR_INVAL;
	g = find(u, &to);
	if (g != NULL) {
		g->users++;
		return VS_OK;
	}
	while (i < VS_UDPIO_GROUPS && u->group[i].fd >= 0)
		i++;
	if (i == VS_UDPIO_GROUPS)
		return VS_ERR_NOSPACE;
	g = &u->group[i];
	*g = (struct udp_group){.fd = open_group(u, addr, &to), .users = 1, .addr = addr, .to = to};
	return g->fd >= 0 ? VS_OK : VS_ERR_IO;
}

/* The last one takes the place of one that goes, so that the first free place ends the list. */
void vs_udpio_leave(struct vs_udpio *u, const uint8_t gid[16])
{
	union udp_address to;
	struct udp_group *g, *last;

	udp_to_address(&to, gid, VS_UDP_PORT_ROCE);
	g = find(u, &to);
	if (g == NULL || --g->users > 0)
		return;
	close(g->fd);
	for (last = g; last + 1 < u->group + VS_UDPIO_GROUPS && last[1].fd >= 0; last++)
		;
	*g = *last;
	last->fd = -1;
}
