/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * inject.c - packets out: libnet at the link layer, or a UDP socket.
 *
 * The UDP socket is not connected: Linux gives packets of such a socket with DF the IPv4 ID 0, and those of a
 * connected one a counter, which the ICRC would have to know. Address and port are bound before the first packet,
 * since the ICRC covers both.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <libnet.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/internal.h"
#include "vs/inject.h"

#define ETH_HLEN_VLAN 18 /* a tag comes on top of the interface's MTU */
#define BUF_MAX 65536
#define TRIES_MAX 2000 /* of 1 ms each, while the interface's queue is full */

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

struct vs_injector {
	char name[80]; /* for messages: interface or address */
	libnet_t *net;
	size_t mtu;
	int fd;
	union address from, to;
	socklen_t addrlen;
	uint8_t buf[BUF_MAX];
};

static struct vs_injector *injector_new(const char *name, struct vs_io_error *err)
{
	struct vs_injector *inj = calloc(1, sizeof(*inj));

	vs_io_ok(err);
	if (!inj) {
		vs_io_fail(err, VS_ERR_IO, 0, name, "can't be opened: no memory");
		return NULL;
	}
	inj->fd = -1;
	snprintf(inj->name, sizeof(inj->name), "%.79s", name);
	return inj;
}

void vs_inject_close(struct vs_injector *inj)
{
	if (!inj)
		return;
	if (inj->net)
		libnet_destroy(inj->net);
	if (inj->fd >= 0)
		close(inj->fd);
	free(inj);
}

static struct vs_injector *refuse(struct vs_injector *inj, int *code, int value)
{
	*code = value;
	vs_inject_close(inj);
	return NULL;
}

/* ---- frames ---- */

/* Is there such an interface, up, with Ethernet frames? Fills the MTU. */
static int check_interface(struct vs_injector *inj, const char *name, struct vs_io_error *err)
{
	struct ifreq ifr = {0};
	int ret = 0, fd;

	if (strlen(name) >= sizeof(ifr.ifr_name) || if_nametoindex(name) == 0)
		return vs_io_fail(err, VS_ERR_IO, 0, name, "there is no such interface: 'ip link' lists them");
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return vs_io_fail(err, VS_ERR_IO, 0, name, "can't be asked about (%s)", strerror(errno));
	memcpy(ifr.ifr_name, name, strlen(name));
	if (ioctl(fd, SIOCGIFFLAGS, &ifr) != 0 || !(ifr.ifr_flags & IFF_UP))
		ret = vs_io_fail(err, VS_ERR_IO, 0, name, "the interface is down: 'ip link set %s up' first", name);
	else if (ioctl(fd, SIOCGIFHWADDR, &ifr) != 0 ||
		 (ifr.ifr_hwaddr.sa_family != ARPHRD_ETHER && ifr.ifr_hwaddr.sa_family != ARPHRD_LOOPBACK))
		ret = vs_io_fail(err, VS_ERR_IO, 0, name, "the interface has no Ethernet frames: choose one that has");
	else if (ioctl(fd, SIOCGIFMTU, &ifr) != 0)
		ret = vs_io_fail(err, VS_ERR_IO, 0, name, "its MTU can't be read (%s)", strerror(errno));
	else
		inj->mtu = (size_t)ifr.ifr_mtu;
	close(fd);
	return ret;
}

struct vs_injector *vs_inject_link_open(const char *name, int *code, struct vs_io_error *err)
{
	struct vs_injector *inj = injector_new(name, err);
	char text[LIBNET_ERRBUF_SIZE] = "";
	int fd;

	*code = VS_ERR_IO;
	if (!inj || check_interface(inj, name, err) != 0)
		return refuse(inj, code, VS_ERR_IO);
	fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0); /* libnet does not tell why it is refused */
	if (fd < 0 && (errno == EPERM || errno == EACCES)) {
		vs_io_fail(err, VS_ERR_PERM, 0, name,
			   "frames can't be sent without CAP_NET_RAW: run it as root, or use udp:ADDR");
		return refuse(inj, code, VS_ERR_PERM);
	}
	if (fd >= 0)
		close(fd);
	inj->net = libnet_init(LIBNET_LINK_ADV, name, text);
	if (!inj->net) {
		text[strcspn(text, "\n")] = '\0';
		vs_io_fail(err, VS_ERR_IO, 0, name, "can't be opened for sending: %s", text);
		return refuse(inj, code, VS_ERR_IO);
	}
	*code = 0;
	return inj;
}

/* After a refused send: 0 when it is worth another try. */
static int wait_for_room(struct vs_injector *inj, unsigned tries, size_t len, struct vs_io_error *err)
{
	int e = errno;

	if (e == EINTR)
		return 0;
	if ((e == ENOBUFS || e == EAGAIN) && tries < TRIES_MAX) {
		poll(NULL, 0, 1);
		return 0;
	}
	if (e == EMSGSIZE)
		return vs_io_fail(err, VS_ERR_INVAL, 0, inj->name, "%zu bytes are more than the path takes", len);
	return vs_io_fail(err, VS_ERR_IO, 0, inj->name, "can't be sent to (%s)%s", strerror(e),
			  e == ENETDOWN || e == ENXIO ? ": the interface went away or down" : "");
}

int vs_inject_frame(struct vs_injector *inj, const uint8_t *data, size_t len, struct vs_io_error *err)
{
	for (unsigned tries = 0;; tries++) {
		int ret;

		if (len < 14 || len > inj->mtu + ETH_HLEN_VLAN)
			return vs_io_fail(err, VS_ERR_INVAL, 0, inj->name,
					  "a frame of %zu bytes can't be sent: the MTU is %zu", len, inj->mtu);
		if (libnet_adv_write_link(inj->net, data, (uint32_t)len) == (int)len)
			return 0;
		ret = wait_for_room(inj, tries, len, err);
		if (ret != 0)
			return ret;
	}
}

/* ---- UDP ---- */

/* Address and optional port; false when `text` is neither. */
static bool parse_address(const char *text, union address *a)
{
	char host[80], *end, *port = NULL;
	long n = VS_UDP_PORT_ROCE;

	memset(a, 0, sizeof(*a));
	if (strlen(text) >= sizeof(host))
		return false;
	snprintf(host, sizeof(host), "%s", text);
	if (host[0] == '[') {
		end = strchr(host, ']');
		if (!end || (end[1] != '\0' && end[1] != ':'))
			return false;
		port = end[1] == ':' ? end + 2 : NULL;
		*end = '\0';
		memmove(host, host + 1, strlen(host + 1) + 1);
	} else if (strchr(host, ':') && strchr(host, ':') == strrchr(host, ':')) {
		port = strchr(host, ':') + 1;
		port[-1] = '\0';
	}
	if (port) {
		n = strtol(port, &end, 10);
		if (*port < '0' || *port > '9' || *end != '\0' || n < 1 || n > 65535)
			return false;
	}
	if (inet_pton(AF_INET, host, &a->v4.sin_addr) == 1) {
		a->v4.sin_family = AF_INET;
		a->v4.sin_port = htons((uint16_t)n);
		return true;
	}
	if (inet_pton(AF_INET6, host, &a->v6.sin6_addr) != 1)
		return false;
	a->v6.sin6_family = AF_INET6;
	a->v6.sin6_port = htons((uint16_t)n);
	return true;
}

/* The address that the kernel would send from; connecting a UDP socket sends nothing. */
static int find_source(struct vs_injector *inj)
{
	socklen_t len = inj->addrlen;
	int fd = socket(inj->to.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0), ret = -1;

	if (fd < 0)
		return -1;
	if (connect(fd, &inj->to.any, inj->addrlen) == 0 && getsockname(fd, &inj->from.any, &len) == 0)
		ret = 0;
	close(fd);
	if (inj->to.any.sa_family == AF_INET)
		inj->from.v4.sin_port = 0;
	else
		inj->from.v6.sin6_port = 0;
	return ret;
}

static int open_socket(struct vs_injector *inj)
{
	bool v4 = inj->to.any.sa_family == AF_INET;
	int pmtu = v4 ? IP_PMTUDISC_DO : IPV6_PMTUDISC_DO;
	socklen_t len = inj->addrlen;

	if (find_source(inj) != 0)
		return -1;
	inj->fd = socket(inj->to.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (inj->fd < 0)
		return -1;
	if (setsockopt(inj->fd, v4 ? IPPROTO_IP : IPPROTO_IPV6, v4 ? IP_MTU_DISCOVER : IPV6_MTU_DISCOVER, &pmtu,
		       sizeof(pmtu)) != 0)
		return -1;
	if (bind(inj->fd, &inj->from.any, inj->addrlen) != 0)
		return -1;
	return getsockname(inj->fd, &inj->from.any, &len);
}

struct vs_injector *vs_inject_udp_open(const char *addr, int *code, struct vs_io_error *err)
{
	struct vs_injector *inj = injector_new(addr, err);

	*code = VS_ERR_IO;
	if (!inj)
		return NULL;
	if (!parse_address(addr, &inj->to)) {
		vs_io_fail(err, VS_ERR_INVAL, 0, addr,
			   "is no address: write 127.0.0.1, 127.0.0.1:4791, ::1 or [::1]:4791");
		return refuse(inj, code, VS_ERR_INVAL);
	}
	inj->addrlen = inj->to.any.sa_family == AF_INET ? sizeof(inj->to.v4) : sizeof(inj->to.v6);
	if (open_socket(inj) != 0) {
		vs_io_fail(err, VS_ERR_IO, 0, addr, "can't be sent to (%s): check 'ip route get'", strerror(errno));
		return refuse(inj, code, VS_ERR_IO);
	}
	*code = 0;
	return inj;
}

bool vs_inject_udp_is_loopback(const char *addr)
{
	union address to;

	if (!parse_address(addr, &to))
		return true;
	if (to.any.sa_family == AF_INET)
		return ntohl(to.v4.sin_addr.s_addr) >> 24 == 127;
	if (IN6_IS_ADDR_V4MAPPED(&to.v6.sin6_addr))
		return to.v6.sin6_addr.s6_addr[12] == 127;
	return IN6_IS_ADDR_LOOPBACK(&to.v6.sin6_addr);
}

/* The packet as it will be on the wire, as far as the ICRC sees it. */
static void as_sent(const struct vs_injector *inj, const struct vs_pkt *p, struct vs_pkt *q)
{
	bool v4 = inj->to.any.sa_family == AF_INET;

	vs_pkt_init(q, v4 ? VS_ENCAP_ROCEV2_IPV4 : VS_ENCAP_ROCEV2_IPV6, p->bth.opcode, false);
	q->flags |= p->flags & VS_PKT_HDR_MISSING;
	q->hdrs = p->hdrs;
	q->bth = p->bth;
	q->ext = p->ext;
	q->payload = p->payload;
	q->payload_len = p->payload_len;
	q->pad_len = p->pad_len;
	memcpy(q->pad, p->pad, sizeof(q->pad));
	if (v4) {
		memcpy(q->ipv4.src, &inj->from.v4.sin_addr, 4);
		memcpy(q->ipv4.dst, &inj->to.v4.sin_addr, 4);
		q->udp.sport = ntohs(inj->from.v4.sin_port);
		q->udp.dport = ntohs(inj->to.v4.sin_port);
	} else {
		memcpy(q->grh.sgid, &inj->from.v6.sin6_addr, 16);
		memcpy(q->grh.dgid, &inj->to.v6.sin6_addr, 16);
		q->udp.sport = ntohs(inj->from.v6.sin6_port);
		q->udp.dport = ntohs(inj->to.v6.sin6_port);
	}
}

int vs_inject_pkt(struct vs_injector *inj, const struct vs_pkt *p, uint32_t icrc_error, struct vs_io_error *err)
{
	size_t head = inj->to.any.sa_family == AF_INET ? 28 : 48;
	struct vs_pkt q;
	int n;

	if ((p->flags & (VS_PKT_SNAPPED | VS_PKT_FRAGMENT)) || !(p->flags & VS_PKT_HAS_BTH))
		return vs_io_fail(err, VS_ERR_INVAL, 0, inj->name, "a packet that is not whole can't be sent");
	as_sent(inj, p, &q);
	if (vs_pkt_seal(&q, VS_SEAL_LEN | VS_SEAL_CSUM | VS_SEAL_ICRC, inj->buf, sizeof(inj->buf)) != 0)
		return vs_io_fail(err, VS_ERR_INVAL, 0, inj->name, "a packet can't be built: it is too long");
	q.icrc ^= icrc_error;
	n = vs_pkt_build(&q, inj->buf, sizeof(inj->buf));
	if (n < (int)head)
		return vs_io_fail(err, VS_ERR_INVAL, 0, inj->name, "a packet can't be built");
	for (unsigned tries = 0;; tries++) {
		size_t len = (size_t)n - head;
		int ret;

		if (sendto(inj->fd, inj->buf + head, len, 0, &inj->to.any, inj->addrlen) == (ssize_t)len)
			return 0;
		ret = wait_for_room(inj, tries, len, err);
		if (ret != 0)
			return ret;
	}
}
