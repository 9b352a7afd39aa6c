/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mutate.c - damages captures so that the damage reaches the plugin.
 *
 *   mutate ETHERNET.pcap ERF.pcap COUNT SEED CAPTURE...
 *
 * editcap -E changes any byte of a frame, and most of what it makes never gets past Ethernet, IP or
 * UDP. This takes frames from the given captures, changes what stands behind the UDP header (or in
 * GRH and LRH, where there is no IP), and puts IP lengths, header checksum and UDP length right
 * again. A part of the results gets a right ICRC, a part is cut by a snap length. The first file
 * receives COUNT frames of Ethernet, the second COUNT / 4 of native InfiniBand.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vs/icrc.h"
#include "vs/pktio.h"
#include "vs/wire.h"

#define FRAME_MAX 9216
#define POOL_MAX 20000

struct frame {
	uint8_t *b;
	size_t len;
	bool ib;
};

static struct frame pool[POOL_MAX];
static size_t pool_len;
static uint64_t seed;

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "mutate: %s\n", what);
	exit(1);
}

static uint32_t rnd(uint32_t below)
{
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return (uint32_t)((seed * 0x2545f4914f6cdd1dull) >> 33) % below;
}

/* ---- the pool ---- */

static void pool_add(const struct vs_frame *f)
{
	uint8_t eth[14] = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0, 0};
	uint16_t type = f->link == VS_LINK_IP ? (f->data[0] >> 4 == 6 ? 0x86dd : 0x0800) : f->ethertype;
	size_t front = f->link == VS_LINK_ETHERNET || f->link == VS_LINK_IB ? 0 : sizeof(eth);
	struct frame *to = &pool[pool_len];

	if (pool_len == POOL_MAX || f->caplen < 20 || f->caplen + front > FRAME_MAX)
		return;
	to->len = f->caplen + front;
	to->ib = f->link == VS_LINK_IB;
	to->b = malloc(to->len);
	if (!to->b)
		die("out of memory");
	eth[12] = (uint8_t)(type >> 8);
	eth[13] = (uint8_t)type;
	memcpy(to->b, eth, front);
	memcpy(to->b + front, f->data, f->caplen);
	pool_len++;
}

static void pool_read(const char *path)
{
	struct vs_io_error err;
	struct vs_capture *c = vs_capture_open(path, &err);
	struct vs_frame f;
	int rc;

	if (!c)
		die(err.text);
	while ((rc = vs_capture_next(c, &f, &err)) == 1)
		pool_add(&f);
	if (rc < 0)
		die(err.text);
	vs_capture_close(c);
}

/* ---- where the RDMA packet stands ---- */

struct place {
	size_t net, bth; /* first byte that may be damaged when there is no IP; first byte of the BTH */
	bool ip, tunnel; /* IP and UDP to repair; outer lengths that nobody repairs */
	bool v6;
};

static size_t find_udp_4791(const uint8_t *b, size_t len)
{
	for (size_t i = len >= 20 ? len - 20 : 0; i > 34; i--)
		if (b[i] == 0x12 && b[i + 1] == 0xb7)
			return i + 6;
	return 0;
}

static struct place locate(const struct frame *f)
{
	struct place at = {.net = 0, .bth = 20};
	struct vs_pkt p;

	if (vs_pkt_parse(&p, f->ib ? VS_LINK_IB : VS_LINK_ETHERNET, 0, f->b, f->len, f->len, 0) == 0) {
		at.net = p.net_off;
		at.bth = p.flags & VS_PKT_HAS_BTH ? p.bth_off : 8;
		at.ip = p.encap == VS_ENCAP_ROCEV2_IPV4 || p.encap == VS_ENCAP_ROCEV2_IPV6;
		at.v6 = p.encap == VS_ENCAP_ROCEV2_IPV6;
	} else if (!f->ib) {
		at.bth = find_udp_4791(f->b, f->len);
		at.tunnel = at.bth != 0;
		at.net = at.bth ? at.bth : 14;
		at.bth = at.net;
	}
	return at;
}

/* ---- damage ---- */

static const uint8_t likely[] = {0x00, 0x01, 0x7f, 0x80, 0xff, 0xfe, 0x03, 0x11, 0x1b, 0x45, 0x60};
static const uint8_t attributes[] = {0x01, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a};
static const uint8_t classes[] = {0x01, 0x03, 0x04, 0x05, 0x06, 0x07, 0x07, 0x07, 0x08, 0x09, 0x10, 0x21, 0x32, 0x81};

static void resize(uint8_t *b, size_t *len, size_t at)
{
	size_t n = 1 + rnd(24);

	if (rnd(2) && at + n < *len) {
		memmove(b + at, b + at + n, *len - at - n);
		*len -= n;
	} else if (*len + n <= FRAME_MAX) {
		memmove(b + at + n, b + at, *len - at);
		for (size_t i = 0; i < n; i++)
			b[at + i] = (uint8_t)rnd(256);
		*len += n;
	}
}

static void damage_once(uint8_t *b, size_t *len, const struct place *at)
{
	size_t from = at->ip || rnd(3) ? at->bth : at->net, i;

	if (from + 12 >= *len)
		from = *len > 20 ? *len - 20 : 0;
	/* the headers are a small part of a packet with payload: aim at them */
	i = from + (rnd(3) ? rnd((uint32_t)(*len - from < 60 ? *len - from : 60)) : rnd((uint32_t)(*len - from)));
	switch (rnd(10)) {
	case 0:
	case 1:
		b[i] ^= (uint8_t)(1u << rnd(8));
		break;
	case 2:
		b[i] = (uint8_t)rnd(256);
		break;
	case 3:
		b[i] = likely[rnd(sizeof(likely))];
		break;
	case 4:
		for (size_t k = i; k < *len && k < i + 4; k++)
			b[k] = likely[rnd(sizeof(likely))];
		break;
	case 5:
		b[at->bth] = (uint8_t)rnd(256);
		break;
	case 6: /* to QP 0 or 1, with some class and attribute: the MAD decoders */
		if (at->bth + 40 < *len) {
			b[at->bth] = 0x64;
			b[at->bth + 5] = b[at->bth + 6] = 0;
			b[at->bth + 7] = (uint8_t)rnd(2);
			b[at->bth + 21] = classes[rnd(sizeof(classes))];
			b[at->bth + 37] = attributes[rnd(sizeof(attributes))];
		}
		break;
	case 7:
		if (!at->tunnel)
			resize(b, len, i);
		break;
	case 8:
		if (!at->tunnel && i > from)
			*len = i;
		break;
	default: /* a piece of another frame */
	{
		const struct frame *other = &pool[rnd((uint32_t)pool_len)];
		size_t n = 4 + rnd(60), src = rnd((uint32_t)other->len);

		for (size_t k = 0; k < n && i + k < *len && src + k < other->len; k++)
			b[i + k] = other->b[src + k];
	}
	}
}

/* ---- repair ---- */

static void put16(uint8_t *at, size_t v)
{
	at[0] = (uint8_t)(v >> 8);
	at[1] = (uint8_t)v;
}

static void repair_ip(uint8_t *b, size_t len, const struct place *at)
{
	uint8_t *ip = b + at->net;
	uint32_t sum = 0;

	put16(b + at->bth - 4, len - at->bth + 8);
	if (at->v6) {
		put16(ip + 4, len - at->net - 40);
		return;
	}
	put16(ip + 2, len - at->net);
	ip[10] = ip[11] = 0;
	for (size_t i = 0; i < (size_t)(ip[0] & 15) * 4; i += 2)
		sum += (uint32_t)(ip[i] << 8 | ip[i + 1]);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	put16(ip + 10, ~sum & 0xffff);
}

/* A right ICRC, so that what depends on it is reached with damaged headers too. */
static void repair_icrc(uint8_t *b, size_t len, bool ib)
{
	struct vs_pkt p;
	uint32_t right;

	if (vs_pkt_parse(&p, ib ? VS_LINK_IB : VS_LINK_ETHERNET, 0, b, len, len, 0) != 0)
		return;
	if (vs_icrc_check(&p, b, &right) != VS_CRC_BAD)
		return;
	for (unsigned i = 0; i < 4; i++)
		b[p.end_off - 4 + i] = (uint8_t)(right >> (8 * i));
}

static void write_one(struct vs_writer *w, const struct frame *f, int64_t time_ns)
{
	static uint8_t b[FRAME_MAX];
	struct place at = locate(f);
	struct vs_io_error err;
	size_t len = f->len, cap;

	memcpy(b, f->b, len);
	for (unsigned n = 1 + rnd(5); n > 0 && len > at.bth + 4; n--)
		damage_once(b, &len, &at);
	if (at.ip && len >= at.bth)
		repair_ip(b, len, &at);
	if (rnd(3) == 0)
		repair_icrc(b, len, f->ib);
	cap = rnd(8) == 0 && len > at.bth ? at.bth + rnd((uint32_t)(len - at.bth)) + 1 : len;
	if (vs_writer_put(w, time_ns, b, (uint32_t)cap, (uint32_t)len, &err) < 0)
		die(err.text);
}

static void write_file(const char *path, bool ib, uint32_t count)
{
	struct vs_io_error err;
	struct vs_writer *w = vs_writer_open(path, ib ? VS_WRITER_ERF_IB : VS_WRITER_ETHERNET, &err);
	uint32_t done = 0;

	if (!w)
		die(err.text);
	for (size_t tries = 0; done < count; tries++) {
		const struct frame *f = &pool[rnd((uint32_t)pool_len)];

		if (tries > (size_t)count * 1000)
			die("no frame of this kind in the captures");
		if (f->ib == ib)
			write_one(w, f, 1767225600000000000ll + (int64_t)done++ * 10000);
	}
	if (vs_writer_close(w, &err) < 0)
		die(err.text);
}

int main(int argc, char **argv)
{
	uint32_t count;

	if (argc < 6) {
		fputs("usage: mutate ETHERNET.pcap ERF.pcap COUNT SEED CAPTURE...\n", stderr);
		return 2;
	}
	count = (uint32_t)strtoul(argv[3], NULL, 10);
	seed = strtoull(argv[4], NULL, 10) * 2 + 1;
	for (int i = 5; i < argc; i++)
		pool_read(argv[i]);
	if (pool_len == 0)
		die("the captures hold no frame");
	write_file(argv[1], false, count);
	write_file(argv[2], true, count / 4);
	return 0;
}
