/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * udp.c - the life of a UDP wire: one receiving socket per own address, on port 4791.
 */
#define _GNU_SOURCE /* sendmmsg, recvmmsg */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/in6.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "io/internal.h"
#include "io/udp.h"

#define RCVBUF (8 << 20) /* asked for; the kernel grants what rmem_max allows */

static bool is_ipv4(const uint8_t gid[16])
{
	static const uint8_t prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

	return memcmp(gid, prefix, sizeof(prefix)) == 0;
}

void udp_to_address(union udp_address *a, const uint8_t gid[16], uint16_t port)
{
	memset(a, 0, sizeof(*a));
	if (is_ipv4(gid)) {
		a->v4.sin_family = AF_INET;
		a->v4.sin_port = htons(port);
		memcpy(&a->v4.sin_addr, gid + 12, 4);
		return;
	}
	a->v6.sin6_family = AF_INET6;
	a->v6.sin6_port = htons(port);
	memcpy(&a->v6.sin6_addr, gid, 16);
}

static const char *text_of(const union udp_address *a, char text[INET6_ADDRSTRLEN])
{
	const void *bytes =
		a->any.sa_family == AF_INET ? (const void *)&a->v4.sin_addr : (const void *)&a->v6.sin6_addr;

	return inet_ntop(a->any.sa_family, bytes, text, INET6_ADDRSTRLEN) != NULL ? text : "?";
}

bool udp_dont_fragment(int fd, int family)
{
	int v4 = IP_PMTUDISC_DO, v6 = IPV6_PMTUDISC_DO, on = 1, off = 0;

	if (family == AF_INET)
		return setsockopt(fd, IPPROTO_IP, IP_MTU_DISCOVER, &v4, sizeof(v4)) == 0;
	/* The flow label is that of the packet, or 0. */
	(void)setsockopt(fd, IPPROTO_IPV6, IPV6_FLOWINFO_SEND, &on, sizeof(on));
	(void)setsockopt(fd, IPPROTO_IPV6, IPV6_AUTOFLOWLABEL, &off, sizeof(off));
	return setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)) == 0 &&
	       setsockopt(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, &v6, sizeof(v6)) == 0;
}

static int explain(const union udp_address *a, int *code, struct vs_io_error *err)
{
	char text[INET6_ADDRSTRLEN];
	int e = errno;

	text_of(a, text);
	switch (e) {
	case EADDRINUSE:
		*code = VS_ERR_BUSY;
		return vs_io_fail(err, *code, 0, text, "UDP port 4791 is taken: %s",
				  access("/sys/module/rdma_rxe", F_OK) == 0
					  ? "rdma_rxe is loaded, which has the port on every address"
					  : "another process has this address, and each needs its own");
	case EADDRNOTAVAIL:
		*code = VS_ERR_INVAL;
		return vs_io_fail(err, *code, 0, text, "is no address of this host: 'ip address' lists them");
	case EACCES:
	case EPERM:
		*code = VS_ERR_PERM;
		return vs_io_fail(err, *code, 0, text,
				  "UDP port 4791 can't be opened (%s): a security policy forbids it; allow this "
				  "program UDP sockets, in the seccomp profile of the container for instance",
				  strerror(e));
	case EAFNOSUPPORT:
		*code = VS_ERR_INVAL;
		return vs_io_fail(err, *code, 0, text, "this kernel has no %s",
				  a->any.sa_family == AF_INET ? "IPv4" : "IPv6");
	case EINVAL:
		if (a->any.sa_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&a->v6.sin6_addr)) {
			*code = VS_ERR_INVAL;
			return vs_io_fail(err, *code, 0, text,
					  "is an address of one link, and which one a GID can't say: take another");
		}
		break;
	case EMFILE:
	case ENFILE:
		*code = VS_ERR_IO;
		return vs_io_fail(err, *code, 0, text, "no descriptor for UDP port 4791 is left: raise 'ulimit -n'");
	default:
		break;
	}
	*code = VS_ERR_IO;
	return vs_io_fail(err, *code, 0, text, "UDP port 4791 can't be opened (%s)", strerror(e));
}

void udp_receive_options(struct vs_udpio *u, int fd, int family)
{
	int on = 1, size = u->attr.rcvbuf != 0 ? (int)u->attr.rcvbuf : RCVBUF;
	socklen_t len = sizeof(size);

	/* Each is a help, none a must: without it the feature is missing, not the wire. */
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	if (getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, &len) == 0 && size > 0 &&
	    (u->rcvbuf == 0 || (uint32_t)size < u->rcvbuf))
		u->rcvbuf = (uint32_t)size;
	if (u->gro && setsockopt(fd, SOL_UDP, UDP_GRO, &on, sizeof(on)) != 0)
		u->gro = false;
	if (u->attr.stamps)
		(void)setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on));
	if (family == AF_INET) {
		(void)setsockopt(fd, IPPROTO_IP, IP_RECVTOS, &on, sizeof(on));
		(void)setsockopt(fd, IPPROTO_IP, IP_RECVTTL, &on, sizeof(on));
	} else {
		(void)setsockopt(fd, IPPROTO_IPV6, IPV6_RECVTCLASS, &on, sizeof(on));
		(void)setsockopt(fd, IPPROTO_IPV6, IPV6_RECVHOPLIMIT, &on, sizeof(on));
		/* RoCEv2 has no UDP checksum (A17.3.2.1); over IPv6 the kernel drops what has none, unless told. */
		(void)setsockopt(fd, IPPROTO_UDP, UDP_NO_CHECK6_RX, &on, sizeof(on));
		(void)setsockopt(fd, IPPROTO_IPV6, IPV6_FLOWINFO, &on, sizeof(on));
	}
}

static bool open_receiver(struct vs_udpio *u, unsigned i)
{
	int family = u->own[i].any.sa_family;

	u->fd[i] = socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (u->fd[i] < 0 || !udp_dont_fragment(u->fd[i], family) ||
	    bind(u->fd[i], &u->own[i].any, udp_addrlen(&u->own[i])) != 0)
		return false;
	udp_receive_options(u, u->fd[i], family);
	return true;
}

/* One descriptor stands for all. */
static bool open_epoll(struct vs_udpio *u)
{
	u->epoll = epoll_create1(EPOLL_CLOEXEC);
	for (unsigned i = 0; u->epoll >= 0 && i < u->attr.n_addrs; i++) {
		struct epoll_event ev = {.events = EPOLLIN};

		if (epoll_ctl(u->epoll, EPOLL_CTL_ADD, u->fd[i], &ev) != 0)
			return false;
	}
	return u->epoll >= 0;
}

static bool alloc_buffers(struct vs_udpio *u)
{
	u->slots = malloc((size_t)VS_UDPIO_BATCH * VS_UDPIO_FRAME);
	for (unsigned i = 0; i < RECV_SLOTS; i++) {
		struct udp_slot *s = &u->slot[i];

		s->buf = malloc(RECV_BUF);
		if (s->buf == NULL)
			return false;
		s->iov.iov_base = s->buf + RECV_ROOM;
		s->iov.iov_len = RECV_BUF - RECV_ROOM;
	}
	return u->slots != NULL;
}

struct vs_udpio *vs_udpio_open(const struct vs_udpio_attr *attr, int *code, struct vs_io_error *err)
{
	struct vs_udpio *u = attr->n_addrs >= 1 && attr->n_addrs <= VS_UDPIO_ADDRS ? calloc(1, sizeof(*u)) : NULL;

	vs_io_ok(err);
	*code = VS_ERR_IO;
	if (u == NULL) {
		vs_io_fail(err, VS_ERR_IO, 0, "udp", "can't be opened: no memory, or no address given");
		return NULL;
	}
	u->attr = *attr;
	u->epoll = u->diag = -1;
	u->gso = u->gro = !attr->no_gso;
	for (unsigned i = 0; i < VS_UDPIO_ADDRS; i++)
		u->fd[i] = -1;
	udp_ports_init(u);
	udp_groups_init(u);
	for (unsigned i = 0; i < CHAINS; i++)
		u->chain_first[i] = -1;
	if (!alloc_buffers(u)) {
		vs_io_fail(err, VS_ERR_IO, 0, "udp", "can't be opened: no memory");
		vs_udpio_close(u);
		return NULL;
	}
	for (unsigned i = 0; i < attr->n_addrs; i++) {
		udp_to_address(&u->own[i], attr->addr[i], VS_UDP_PORT_ROCE);
		if (!open_receiver(u, i)) {
			(void)explain(&u->own[i], code, err);
			vs_udpio_close(u);
			return NULL;
		}
	}
	if (!open_epoll(u)) {
		vs_io_fail(err, VS_ERR_IO, 0, "udp", "can't wait for several addresses (%s)", strerror(errno));
		vs_udpio_close(u);
		return NULL;
	}
	udp_room_init(u);
	*code = VS_OK;
	return u;
}

void vs_udpio_close(struct vs_udpio *u)
{
	if (u == NULL)
		return;
	udp_ports_close(u);
	udp_groups_close(u);
	for (unsigned i = 0; i < VS_UDPIO_ADDRS; i++)
		if (u->fd[i] >= 0)
			close(u->fd[i]);
	if (u->epoll >= 0)
		close(u->epoll);
	if (u->diag >= 0)
		close(u->diag);
	for (unsigned i = 0; i < RECV_SLOTS; i++)
		free(u->slot[i].buf);
	free(u->slots);
	free(u);
}

int vs_udpio_fd(const struct vs_udpio *u)
{
	return u->epoll;
}

const struct vs_udpio_stats *vs_udpio_stats(const struct vs_udpio *u)
{
	return &u->stats;
}

/*
 * The kernel charges a datagram with the memory it takes: about twice its size where it is small or a page and a
 * bit. Half of the buffer is for everybody else who sends to it.
 */
uint32_t vs_udpio_window(const struct vs_udpio *u, uint32_t mtu)
{
	uint32_t packets = u->rcvbuf / 2 / (2 * mtu + 768);

	return packets < 16 ? 16 : packets;
}
