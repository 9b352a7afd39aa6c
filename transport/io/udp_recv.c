/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * udp_recv.c - what arrives, as it stood on the wire: headers are written in front of the payload, where it lies.
 *
 * A receive-offload read holds several packets one behind the other; each is handed over before the header of the next
 * is written over its end.
 */
#define _GNU_SOURCE /* sendmmsg, recvmmsg */
#include <linux/in6.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "io/udp.h"
#include "vs/icrc.h"

#define MIN_PACKET 16u /* BTH and ICRC */
#define NATIVE_IDS 128u

static void put16(uint8_t *b, uint32_t v)
{
	b[0] = (uint8_t)(v >> 8);
	b[1] = (uint8_t)v;
}

static uint32_t get_le32(const uint8_t *b)
{
	return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* What came with a read, beside the bytes. */
struct read_info {
	const union udp_address *from, *to;
	uint16_t segment; /* bytes of each packet but the last */
	uint8_t tclass, ttl;
	uint32_t flow_label;
	uint64_t stamp;
};

static uint16_t source_port(const struct read_info *r)
{
	return ntohs(r->from->any.sa_family == AF_INET ? r->from->v4.sin_port : r->from->v6.sin6_port);
}

/* ---- headers ---- */

static void finish_ipv4(uint8_t *ip, uint16_t id)
{
	uint32_t sum = 0;

	put16(ip + 4, id);
	put16(ip + 10, 0);
	for (unsigned i = 0; i < 20; i += 2)
		sum += (uint32_t)(ip[i] << 8 | ip[i + 1]);
	sum = (sum & 0xffff) + (sum >> 16);
	put16(ip + 10, ~(sum + (sum >> 16)) & 0xffff);
}

static uint8_t *write_headers(const struct read_info *r, uint8_t *bth, size_t len)
{
	uint8_t *udp = bth - 8, *ip;

	put16(udp, source_port(r));
	put16(udp + 2, VS_UDP_PORT_ROCE);
	put16(udp + 4, (uint32_t)(8 + len));
	put16(udp + 6, 0);
	if (r->from->any.sa_family == AF_INET) {
		ip = bth - HEAD_V4;
		memset(ip, 0, 20);
		ip[0] = 0x45;
		ip[1] = r->tclass;
		put16(ip + 2, (uint32_t)(HEAD_V4 + len));
		ip[6] = 0x40; /* DF */
		ip[8] = r->ttl;
		ip[9] = IPPROTO_UDP;
		memcpy(ip + 12, &r->from->v4.sin_addr, 4);
		memcpy(ip + 16, &r->to->v4.sin_addr, 4);
		return ip;
	}
	ip = bth - HEAD_V6;
	memset(ip, 0, 40);
	ip[0] = (uint8_t)(0x60 | r->tclass >> 4);
	ip[1] = (uint8_t)((uint32_t)r->tclass << 4 | r->flow_label >> 16);
	put16(ip + 2, r->flow_label & 0xffff);
	put16(ip + 4, (uint32_t)(8 + len));
	ip[6] = IPPROTO_UDP;
	ip[7] = r->ttl;
	memcpy(ip + 8, &r->from->v6.sin6_addr, 16);
	memcpy(ip + 24, &r->to->v6.sin6_addr, 16);
	return ip;
}

/* ---- the IPv4 ID ---- */

uint32_t udp_id_delta(struct vs_udpio *u, size_t len, uint16_t id)
{
	size_t i = len / 4 % DELTAS;
	uint32_t delta = 0;

	if (u->delta[i].len != len) {
		uint32_t factor = vs_icrc_id_factor(len);

		u->delta[i].len = len;
		for (unsigned b = 0; b < 16; b++)
			u->delta[i].bit[b] = vs_icrc_id_delta(factor, (uint16_t)(1u << b));
	}
	for (unsigned b = 0; id != 0; b++, id = (uint16_t)(id >> 1))
		delta ^= id & 1 ? u->delta[i].bit[b] : 0;
	return delta;
}

static struct udp_flow *flow_of(struct vs_udpio *u, const struct read_info *r)
{
	uint32_t addr;
	struct udp_flow *f;

	memcpy(&addr, &r->from->v4.sin_addr, 4);
	f = &u->flow[((addr ^ addr >> 16) * 31u + source_port(r)) % FLOWS];
	if (!f->known || f->sport != source_port(r) || memcmp(f->gid + 12, &addr, 4) != 0) {
		*f = (struct udp_flow){.sport = source_port(r)};
		memcpy(f->gid + 12, &addr, 4);
	}
	return f;
}

/* The ID that makes the ICRC right, if there is an acceptable one. `k`: number of the segment. */
static bool find_id(struct vs_udpio *u, const struct read_info *r, uint8_t *ip, size_t len, uint16_t k, uint16_t *id)
{
	uint32_t zero = 0, seen = get_le32(ip + len - 4);
	struct udp_flow *f;

	if (!vs_icrc_bytes(VS_ENCAP_ROCEV2_IPV4, ip, HEAD_V4, len - 4, &zero))
		return false;
	*id = 0;
	f = flow_of(u, r);
	if (zero != seen) {
		*id = k;
		if ((zero ^ udp_id_delta(u, len - 4, k)) != seen &&
		    (!vs_icrc_id_solve(vs_icrc_id_factor(len - 4), zero ^ seen, id) ||
		     (f->native && *id >= NATIVE_IDS)))
			return false;
	}
	if (!f->known) {
		f->known = true;
		f->native = *id < NATIVE_IDS;
	}
	u->stats.foreign += *id >= NATIVE_IDS;
	return true;
}

static bool judge_ipv6(const uint8_t *ip, size_t len)
{
	uint32_t right;

	return vs_icrc_bytes(VS_ENCAP_ROCEV2_IPV6, ip, HEAD_V6, len - 4, &right) && right == get_le32(ip + len - 4);
}

/* A socket to read from. */
struct source {
	int fd;
	const union udp_address *to;  /* where its packets go */
	const union udp_address *own; /* groups: packets from there are our own; NULL */
};

static bool is_own(const union udp_address *own, const union udp_address *from)
{
	if (own->any.sa_family == AF_INET)
		return own->v4.sin_addr.s_addr == from->v4.sin_addr.s_addr;
	return memcmp(&own->v6.sin6_addr, &from->v6.sin6_addr, 16) == 0;
}

/* ---- packets of one read ---- */

static void take_packet(struct vs_udpio *u, const struct read_info *r, uint8_t *bth, size_t n, uint16_t k,
			vs_udpio_input_fn *fn, void *ctx)
{
	uint8_t *ip = write_headers(r, bth, n);
	size_t len = (size_t)(bth - ip) + n;
	uint16_t id = 0;
	bool good = false;

	if (n >= MIN_PACKET)
		good = r->from->any.sa_family == AF_INET ? find_id(u, r, ip, len, k, &id) : judge_ipv6(ip, len);
	if (r->from->any.sa_family == AF_INET)
		finish_ipv4(ip, good ? id : 0);
	u->stats.received++;
	if (u->attr.tap != NULL)
		u->attr.tap(u->attr.tap_ctx, false, ip, len);
	fn(ctx, ip, len, good);
}

static void read_control(struct msghdr *h, struct read_info *r)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c != NULL; c = CMSG_NXTHDR(h, c)) {
		int v = 0;

		if (c->cmsg_level == SOL_UDP && c->cmsg_type == UDP_GRO) {
			memcpy(&v, CMSG_DATA(c), sizeof(v));
			if (v > 0 && v < UINT16_MAX)
				r->segment = (uint16_t)v;
		} else if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS) {
			struct timespec t;

			memcpy(&t, CMSG_DATA(c), sizeof(t));
			r->stamp = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
		} else if ((c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TTL) ||
			   (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_HOPLIMIT)) {
			memcpy(&v, CMSG_DATA(c), sizeof(v));
			r->ttl = (uint8_t)v;
		} else if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TOS) {
			r->tclass = *CMSG_DATA(c);
		} else if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_TCLASS) {
			memcpy(&v, CMSG_DATA(c), sizeof(v));
			r->tclass = (uint8_t)v;
		} else if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_FLOWINFO) {
			uint32_t info;

			memcpy(&info, CMSG_DATA(c), sizeof(info));
			r->flow_label = ntohl(info) & 0xfffff;
		}
	}
}

static unsigned take_read(struct vs_udpio *u, const struct source *in, struct mmsghdr *m, vs_udpio_input_fn *fn,
			  void *ctx)
{
	struct udp_slot *s = &u->slot[m - u->in];
	struct read_info r = {.from = &s->from, .to = in->to, .ttl = 64};
	size_t left = m->msg_len;
	uint8_t *p = s->buf + RECV_ROOM;
	unsigned n = 0;

	if (in->own != NULL && is_own(in->own, &s->from))
		return 0;
	read_control(&m->msg_hdr, &r);
	u->stamp = r.stamp;
	do {
		size_t len = r.segment != 0 && r.segment < left ? r.segment : left;

		take_packet(u, &r, p, len, (uint16_t)n, fn, ctx);
		p += len;
		left -= len;
		n++;
	} while (left > 0);
	return n;
}

/* ---- reading ---- */

static void prepare(struct vs_udpio *u, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		struct udp_slot *s = &u->slot[i];

		u->in[i].msg_hdr = (struct msghdr){.msg_name = &s->from,
						   .msg_namelen = sizeof(s->from),
						   .msg_iov = &s->iov,
						   .msg_iovlen = 1,
						   .msg_control = s->control.bytes,
						   .msg_controllen = sizeof(s->control.bytes)};
	}
}

/* One call on one socket; packets, or -1 when nothing waits. */
static int receive_once(struct vs_udpio *u, const struct source *in, unsigned reads, vs_udpio_input_fn *fn, void *ctx)
{
	unsigned packets = 0;
	int n;

	prepare(u, reads);
	n = recvmmsg(in->fd, u->in, reads, MSG_DONTWAIT, NULL);
	if (n <= 0)
		return -1;
	u->stats.receive_calls++;
	for (int i = 0; i < n; i++)
		packets += take_read(u, in, &u->in[i], fn, ctx);
	return n < (int)reads ? -1 - (int)packets : (int)packets;
}

static unsigned receive_from(struct vs_udpio *u, const struct source *in, unsigned max, vs_udpio_input_fn *fn,
			     void *ctx)
{
	unsigned got = 0;

	while (got < max) {
		unsigned left = max - got;
		int n = receive_once(u, in, left < RECV_SLOTS ? left : RECV_SLOTS, fn, ctx);

		if (n < 0)
			return got + (unsigned)(-1 - n);
		got += (unsigned)n;
	}
	return got;
}

uint64_t vs_udpio_stamp(const struct vs_udpio *u)
{
	return u->stamp;
}

unsigned vs_udpio_receive(struct vs_udpio *u, unsigned max, vs_udpio_input_fn *fn, void *ctx)
{
	unsigned got = 0;

	for (unsigned i = 0; i < u->attr.n_addrs && got < max; i++) {
		unsigned addr = (u->in_turn + i) % u->attr.n_addrs;
		const struct source in = {u->fd[addr], &u->own[addr], NULL};

		got += receive_from(u, &in, max - got, fn, ctx);
	}
	for (unsigned i = 0; i < VS_UDPIO_GROUPS && u->group[i].fd >= 0; i++) {
		const struct source in = {u->group[i].fd, &u->group[i].to, &u->own[u->group[i].addr]};

		got += receive_from(u, &in, RECV_SLOTS, fn, ctx);
	}
	u->in_turn++;
	return got;
}
