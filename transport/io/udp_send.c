/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * udp_send.c - batches of packets: equal ones of a flow leave in one segmentation-offload send.
 *
 * The kernel cuts such a send into segments of one size, the last may be shorter, and gives them the IPv4 IDs
 * 0, 1, 2 ...: the ICRC of the k-th segment is made to fit.
 */
#define _GNU_SOURCE /* sendmmsg, recvmmsg */
#include <errno.h>
#include <netinet/udp.h>
#include <string.h>
#include <unistd.h>

#include "io/udp.h"
#include "vs/icrc.h"

#define UDP_BYTES_MAX 65000u /* of one send: a UDP datagram, with room to spare */

/* ---- filling a batch ---- */

uint8_t *vs_udpio_slot(struct vs_udpio *u)
{
	return u->n_frames < VS_UDPIO_BATCH ? u->slots + (size_t)u->n_frames * VS_UDPIO_FRAME : NULL;
}

static uint16_t get16(const uint8_t *b)
{
	return (uint16_t)(b[0] << 8 | b[1]);
}

static void put16(uint8_t *b, uint32_t v)
{
	b[0] = (uint8_t)(v >> 8);
	b[1] = (uint8_t)v;
}

static bool v4(const struct udp_frame *f)
{
	return f->head == HEAD_V4;
}

static const uint8_t *source(const struct udp_frame *f)
{
	return f->ip + (v4(f) ? 12 : 8);
}

static const uint8_t *destination(const struct udp_frame *f)
{
	return f->ip + (v4(f) ? 16 : 24);
}

static size_t address_len(const struct udp_frame *f)
{
	return v4(f) ? 4 : 16;
}

static uint16_t sport(const struct udp_frame *f)
{
	return get16(f->ip + f->head - 8);
}

static uint8_t tclass(const struct udp_frame *f)
{
	return (uint8_t)(v4(f) ? f->ip[1] : f->ip[0] << 4 | f->ip[1] >> 4);
}

static uint8_t ttl(const struct udp_frame *f)
{
	return v4(f) ? f->ip[8] : f->ip[7];
}

static uint32_t flow_label(const struct udp_frame *f)
{
	return v4(f) ? 0 : (uint32_t)(f->ip[1] & 15) << 16 | get16(f->ip + 2);
}

static uint16_t bytes(const struct udp_frame *f)
{
	return (uint16_t)(f->len - f->head);
}

static bool same_flow(const struct udp_frame *a, const struct udp_frame *b)
{
	return a->head == b->head && sport(a) == sport(b) && a->addr == b->addr && tclass(a) == tclass(b) &&
	       ttl(a) == ttl(b) && flow_label(a) == flow_label(b) &&
	       memcmp(destination(a), destination(b), address_len(a)) == 0;
}

static uint8_t own_address(const struct vs_udpio *u, const struct udp_frame *f)
{
	for (unsigned i = 0; i + 1 < u->attr.n_addrs; i++)
		if (memcmp(u->attr.addr[i] + (v4(f) ? 12 : 0), source(f), address_len(f)) == 0)
			return (uint8_t)i;
	return (uint8_t)(u->attr.n_addrs - 1);
}

static void take_room(struct vs_udpio *u, const struct udp_frame *f)
{
	uint8_t gid[16] = {[10] = 0xff, [11] = 0xff};

	memcpy(gid + 16 - address_len(f), destination(f), address_len(f));
	udp_room_take(u, gid, bytes(f));
}

void vs_udpio_commit(struct vs_udpio *u, size_t ip_off, size_t len)
{
	struct udp_frame *f = &u->frame[u->n_frames];
	unsigned chain;

	f->ip = u->slots + (size_t)u->n_frames * VS_UDPIO_FRAME + ip_off;
	f->len = (uint16_t)len;
	f->head = f->ip[0] >> 4 == 4 ? HEAD_V4 : HEAD_V6;
	f->addr = own_address(u, f);
	f->done = false;
	f->next = -1;
	chain = (sport(f) ^ destination(f)[address_len(f) - 1]) % CHAINS;
	if (u->chain_first[chain] < 0)
		u->chain_first[chain] = (int16_t)u->n_frames;
	else
		u->frame[u->chain_last[chain]].next = (int16_t)u->n_frames;
	u->chain_last[chain] = (int16_t)u->n_frames;
	u->n_frames++;
	take_room(u, f);
}

/* ---- the ICRC that belongs to what the kernel will write ---- */

static void set_id(struct vs_udpio *u, struct udp_frame *f, uint16_t id)
{
	uint8_t *icrc = f->ip + f->len - 4;
	uint32_t delta = udp_id_delta(u, f->len - 4u, id);

	put16(f->ip + 4, id);
	for (int i = 0; i < 4; i++)
		icrc[i] ^= (uint8_t)(delta >> (8 * i));
}

/* The port is not to be had: the packet leaves from the receiving socket's. */
static void set_sport(struct udp_frame *f, uint16_t port)
{
	uint8_t *icrc = f->ip + f->len - 4;
	uint32_t right = 0;

	put16(f->ip + f->head - 8, port);
	(void)vs_icrc_bytes(v4(f) ? VS_ENCAP_ROCEV2_IPV4 : VS_ENCAP_ROCEV2_IPV6, f->ip, f->head, f->len - 4u, &right);
	for (int i = 0; i < 4; i++)
		icrc[i] = (uint8_t)(right >> (8 * i));
}

/* ---- one send ---- */

static void to_peer(union udp_address *to, const struct udp_frame *f)
{
	memset(to, 0, sizeof(*to));
	if (v4(f)) {
		to->v4.sin_family = AF_INET;
		to->v4.sin_port = htons(VS_UDP_PORT_ROCE);
		memcpy(&to->v4.sin_addr, destination(f), 4);
		return;
	}
	to->v6.sin6_family = AF_INET6;
	to->v6.sin6_port = htons(VS_UDP_PORT_ROCE);
	to->v6.sin6_flowinfo = htonl(flow_label(f)); /* as it is, unless somebody has leased it (ipv6(7)) */
	memcpy(&to->v6.sin6_addr, destination(f), 16);
}

static void add_control(struct msghdr *m, int level, int type, const void *value, size_t len)
{
	struct cmsghdr *c = (struct cmsghdr *)(void *)((char *)m->msg_control + m->msg_controllen);

	c->cmsg_level = level;
	c->cmsg_type = type;
	c->cmsg_len = CMSG_LEN(len);
	memcpy(CMSG_DATA(c), value, len);
	m->msg_controllen += CMSG_SPACE(len);
}

static void control(struct vs_udpio *u, unsigned m, const struct udp_frame *f, unsigned segments)
{
	struct msghdr *h = &u->out[m].msg_hdr;
	uint16_t size = bytes(f);
	int tc = tclass(f), hops = ttl(f);

	memset(&u->out_control[m], 0, sizeof(u->out_control[m]));
	h->msg_control = &u->out_control[m];
	h->msg_controllen = 0;
	if (segments > 1)
		add_control(h, SOL_UDP, UDP_SEGMENT, &size, sizeof(size));
	if (tc != 0 && v4(f))
		add_control(h, IPPROTO_IP, IP_TOS, &tc, sizeof(tc));
	else if (tc != 0)
		add_control(h, IPPROTO_IPV6, IPV6_TCLASS, &tc, sizeof(tc));
	if (hops != 0 && hops != USUAL_TTL && v4(f))
		add_control(h, IPPROTO_IP, IP_TTL, &hops, sizeof(hops));
	else if (hops != 0 && hops != USUAL_TTL)
		add_control(h, IPPROTO_IPV6, IPV6_HOPLIMIT, &hops, sizeof(hops));
	if (h->msg_controllen == 0)
		h->msg_control = NULL;
}

/* The packets that leave with `first`, into message m from iov on; how many. */
static unsigned gather(struct vs_udpio *u, unsigned first, unsigned m, unsigned iov)
{
	struct udp_frame *f = &u->frame[first];
	unsigned n = 0, total = 0;
	int i = (int)first;

	for (; i >= 0; i = u->frame[i].next) {
		struct udp_frame *g = &u->frame[i];

		if (g->done || (n > 0 && !same_flow(f, g)))
			continue;
		if (n > 0 &&
		    (!u->gso || bytes(g) > bytes(f) || n == VS_UDPIO_SEGMENTS_MAX || total + bytes(g) > UDP_BYTES_MAX))
			break;
		g->done = true;
		if (n > 0 && v4(g))
			set_id(u, g, (uint16_t)n);
		u->out_iov[iov + n] = (struct iovec){g->ip + g->head, bytes(g)};
		total += bytes(g);
		n++;
		if (bytes(g) < bytes(f))
			break;
	}
	to_peer(&u->out_to[m], f);
	u->out[m].msg_hdr = (struct msghdr){.msg_name = &u->out_to[m],
					    .msg_namelen = udp_addrlen(&u->out_to[m]),
					    .msg_iov = &u->out_iov[iov],
					    .msg_iovlen = n};
	control(u, m, f, n);
	return n;
}

/* Segmentation offload was refused: the packets one by one, with the IDs they then have. */
static void send_singly(struct vs_udpio *u, int fd, struct msghdr *h)
{
	for (size_t i = 0; i < h->msg_iovlen; i++) {
		struct iovec *v = &h->msg_iov[i];
		struct msghdr one = {
			.msg_name = h->msg_name, .msg_namelen = h->msg_namelen, .msg_iov = v, .msg_iovlen = 1};

		if (i > 0 && ((union udp_address *)h->msg_name)->any.sa_family == AF_INET) {
			uint8_t *icrc = (uint8_t *)v->iov_base + v->iov_len - 4;
			uint32_t delta = udp_id_delta(u, HEAD_V4 + v->iov_len - 4, (uint16_t)i);

			for (int b = 0; b < 4; b++)
				icrc[b] ^= (uint8_t)(delta >> (8 * b));
		}
		u->stats.send_calls++;
		if (sendmsg(fd, &one, MSG_NOSIGNAL) < 0)
			u->stats.refused++;
	}
}

/* The kernel would not send message m: what is to be done about it. */
static void refused(struct vs_udpio *u, int fd, unsigned m)
{
	struct msghdr *h = &u->out[m].msg_hdr;

	if (h->msg_iovlen > 1 && (errno == EINVAL || errno == EIO || errno == ENOPROTOOPT || errno == EOPNOTSUPP)) {
		u->gso = false; /* this kernel or device can't: never again */
		send_singly(u, fd, h);
		return;
	}
	if (errno == EMSGSIZE)
		u->stats.too_big += h->msg_iovlen;
	u->stats.refused += h->msg_iovlen;
}

static void send_messages(struct vs_udpio *u, int fd, unsigned n)
{
	for (unsigned done = 0; done < n;) {
		int rc = sendmmsg(fd, &u->out[done], n - done, MSG_NOSIGNAL);

		u->stats.send_calls++;
		if (rc > 0) {
			done += (unsigned)rc;
		} else if (errno != EINTR) {
			refused(u, fd, done);
			done++;
		}
	}
}

/* ---- flush ---- */

static void tap_all(struct vs_udpio *u)
{
	for (unsigned i = 0; u->attr.tap != NULL && i < u->n_frames; i++) {
		struct udp_frame *f = &u->frame[i];

		if (v4(f)) {
			uint32_t sum = 0;

			put16(f->ip + 10, 0);
			for (unsigned b = 0; b < 20; b += 2)
				sum += get16(f->ip + b);
			sum = (sum & 0xffff) + (sum >> 16);
			put16(f->ip + 10, ~(sum + (sum >> 16)) & 0xffff);
		}
		u->attr.tap(u->attr.tap_ctx, true, f->ip, f->len);
	}
}

/* The socket for a packet; where its port is not to be had, another one. */
static int socket_for(struct vs_udpio *u, struct udp_frame *f)
{
	int fd = udp_port_fd(u, f->addr, sport(f));

	if (fd >= 0)
		return fd;
	for (int i = (int)(f - u->frame), first = i; i >= 0; i = u->frame[i].next)
		if (i != first && same_flow(f, &u->frame[i]))
			set_sport(&u->frame[i], VS_UDP_PORT_ROCE);
	set_sport(f, VS_UDP_PORT_ROCE);
	return u->fd[f->addr];
}

void vs_udpio_flush(struct vs_udpio *u)
{
	unsigned m = 0, iov = 0;
	int fd = -1, port = -1;

	for (unsigned i = 0; i < u->n_frames; i++) {
		struct udp_frame *f = &u->frame[i];

		if (f->done)
			continue;
		if (port != (f->addr << 16 | sport(f))) {
			send_messages(u, fd, m); /* before its socket can be closed to make room */
			m = 0;
			port = f->addr << 16 | sport(f);
			fd = socket_for(u, f);
			if (sport(f) == VS_UDP_PORT_ROCE)
				port = -1;
		}
		iov += gather(u, i, m, iov);
		m++;
	}
	send_messages(u, fd, m);
	u->stats.sent += u->n_frames;
	tap_all(u);
	u->n_frames = 0;
	for (unsigned c = 0; c < CHAINS; c++)
		u->chain_first[c] = -1;
}
