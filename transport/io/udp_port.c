/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * udp_port.c - sending sockets: one per source port, which a queue pair keeps for its life (A17.3.2.1). Ports are
 * made when first used, up to half of the descriptors that the process may have; then one that was not used for
 * longest gives way, or there is none. Nobody says when a queue pair is gone: sockets that were not used while others
 * were for long are closed when one more is made.
 */
#define _GNU_SOURCE /* sendmmsg, recvmmsg */
#include <netinet/udp.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "io/udp.h"

#define SNDBUF (4 << 20)
#define IDLE 100000u /* uses of others */

void udp_ports_init(struct vs_udpio *u)
{
	struct rlimit r;

	u->max_ports = PORT_SETS * PORT_WAYS;
	if (getrlimit(RLIMIT_NOFILE, &r) == 0 && r.rlim_cur / 2 < u->max_ports)
		u->max_ports = (unsigned)(r.rlim_cur / 2);
	for (unsigned s = 0; s < PORT_SETS; s++)
		for (unsigned w = 0; w < PORT_WAYS; w++)
			u->port[s][w].fd = -1;
}

void udp_ports_close(struct vs_udpio *u)
{
	for (unsigned s = 0; s < PORT_SETS; s++)
		for (unsigned w = 0; w < PORT_WAYS; w++)
			if (u->port[s][w].fd >= 0)
				close(u->port[s][w].fd);
}

/*
 * RoCEv2 has no UDP checksum (A17.3.2.4), and who captures on this host would see half of one where an interface is to
 * fill it in. A segmentation-offload send can't do without.
 */
static void no_checksum(int fd, int family)
{
	int on = 1;

	if (family == AF_INET)
		(void)setsockopt(fd, SOL_SOCKET, SO_NO_CHECK, &on, sizeof(on));
	else
		(void)setsockopt(fd, IPPROTO_UDP, UDP_NO_CHECK6_TX, &on, sizeof(on));
}

static int open_port(const struct vs_udpio *u, unsigned addr, uint16_t sport)
{
	union udp_address from = u->own[addr];
	int family = from.any.sa_family, size = SNDBUF;
	int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	if (family == AF_INET)
		from.v4.sin_port = htons(sport);
	else
		from.v6.sin6_port = htons(sport);
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	udp_multicast_interface(u, fd, addr);
	if (u->attr.no_gso)
		no_checksum(fd, family);
	if (!udp_dont_fragment(fd, family) || bind(fd, &from.any, udp_addrlen(&from)) != 0) {
		close(fd);
		return -1;
	}
	return fd;
}

static void close_idle(struct vs_udpio *u)
{
	for (unsigned i = 0; i < PORT_SETS * PORT_WAYS; i++) {
		struct udp_port *p = &u->port[i / PORT_WAYS][i % PORT_WAYS];

		if (p->fd < 0 || u->clock - p->used < IDLE)
			continue;
		close(p->fd);
		p->fd = -1;
		u->n_ports--;
	}
}

int udp_port_fd(struct vs_udpio *u, unsigned addr, uint16_t sport)
{
	struct udp_port *set = u->port[sport % PORT_SETS], *victim = &set[0];
	int fd;

	u->clock++;
	for (unsigned w = 0; w < PORT_WAYS; w++) {
		struct udp_port *p = &set[w];

		if (p->fd >= 0 && p->sport == sport && p->addr == addr) {
			p->used = u->clock;
			return p->fd;
		}
		if (p->fd < 0 ? victim->fd >= 0 : victim->fd >= 0 && p->used < victim->used)
			victim = p;
	}
	close_idle(u);
	if (victim->fd < 0 && u->n_ports >= u->max_ports)
		return -1;
	fd = open_port(u, addr, sport);
	if (fd < 0)
		return -1;
	if (victim->fd >= 0)
		close(victim->fd);
	else
		u->n_ports++;
	*victim = (struct udp_port){.fd = fd, .sport = sport, .addr = (uint8_t)addr, .used = u->clock};
	return fd;
}
