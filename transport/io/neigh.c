/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * neigh.c - ARP and neighbour discovery.
 *
 * Layouts, all big-endian:
 *   ARP   hardware 2 (1), protocol 2 (0x0800), lengths 1 1 (6, 4), operation 2 (1 asks, 2 answers),
 *         sender MAC 6, sender IPv4 4, target MAC 6, target IPv4 4
 *   NS    ICMPv6 type 135, code 0, checksum 2, reserved 4, target 16, options
 *   NA    ICMPv6 type 136, code 0, checksum 2, flags 4 (router, solicited, override from the top), target 16, options
 *   option: type 1 (1 MAC of the source, 2 of the target), length 1 in units of 8 bytes, MAC 6
 * Neighbour discovery that has come over a router is none: the hop limit has to be 255 still.
 */
#include <string.h>

#include "vs/neigh.h"

#define TYPE_IPV4 0x0800u
#define TYPE_ARP 0x0806u
#define TYPE_VLAN 0x8100u
#define TYPE_IPV6 0x86ddu
#define ARP_LEN 28u
#define ARP_ASKS 1u
#define ARP_ANSWERS 2u
#define ND_LEN 24u  /* up to the options */
#define ND_FULL 32u /* with one */
#define ND_ASKS 135u
#define ND_ANSWERS 136u
#define ND_SOLICITED 0x40u
#define ND_OVERRIDE 0x20u
#define OPT_SOURCE 1u
#define OPT_TARGET 2u
#define IPV6_LEN 40u
#define ICMPV6 58u
#define MAX_TAGS 4u

static const uint8_t everybody[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
static const uint8_t unspecified[16];
static const uint8_t all_nodes[16] = {0xff, 2, [15] = 1};

static void put16(uint8_t *b, unsigned v)
{
	b[0] = (uint8_t)(v >> 8);
	b[1] = (uint8_t)v;
}

static unsigned get16(const uint8_t *b)
{
	return (unsigned)b[0] << 8 | b[1];
}

static bool is_v4(const uint8_t gid[16])
{
	return memcmp(gid, mapped, 12) == 0;
}

bool vs_neigh_group(const uint8_t gid[16], uint8_t mac[6])
{
	if (is_v4(gid) && gid[12] >> 4 == 14) {
		memcpy(mac, (const uint8_t[]){1, 0, 0x5e, gid[13] & 0x7f, gid[14], gid[15]}, 6);
		return true;
	}
	if (gid[0] != 0xff)
		return false;
	memcpy(mac, (const uint8_t[]){0x33, 0x33, gid[12], gid[13], gid[14], gid[15]}, 6);
	return true;
}

/* ---- reading ---- */

/* A question or an answer, whichever protocol it is of. */
struct message {
	bool v4, asks;
	uint8_t about[16]; /* whose MAC is asked for, or told */
	uint8_t from[16];  /* who says it; unspecified: it has no address yet */
	uint8_t mac[6];    /* of who says it; in an answer of whom it is about */
	bool has_mac;
};

static void map(uint8_t gid[16], const uint8_t *v4)
{
	memcpy(gid, mapped, 12);
	memcpy(gid + 12, v4, 4);
}

static bool read_arp(const uint8_t *b, size_t len, struct message *m)
{
	static const uint8_t usual[6] = {0, 1, 8, 0, 6, 4};
	unsigned op;

	if (len < ARP_LEN || memcmp(b, usual, 6) != 0)
		return false;
	op = get16(b + 6);
	if (op != ARP_ASKS && op != ARP_ANSWERS)
		return false;
	*m = (struct message){.v4 = true, .asks = op == ARP_ASKS, .has_mac = true};
	memcpy(m->mac, b + 8, 6);
	if (memcmp(b + 14, unspecified, 4) != 0) /* a probe has no sender yet: RFC 5227 */
		map(m->from, b + 14);
	map(m->about, m->asks ? b + 24 : b + 14);
	return true;
}

static uint16_t icmp_sum(const uint8_t *ip)
{
	unsigned len = get16(ip + 4);
	uint32_t sum = len + ICMPV6;

	for (unsigned i = 0; i < 32 + len; i += 2)
		sum += (uint32_t)ip[8 + i] << 8 | (i + 1 < 32 + len ? ip[9 + i] : 0u);
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

static bool read_nd(const uint8_t *ip, size_t len, struct message *m)
{
	const uint8_t *icmp = ip + IPV6_LEN;
	unsigned want, n;

	if (len < IPV6_LEN + ND_LEN || ip[6] != ICMPV6 || ip[7] != 255)
		return false;
	n = get16(ip + 4);
	if (n < ND_LEN || n > len - IPV6_LEN || (icmp[0] != ND_ASKS && icmp[0] != ND_ANSWERS) || icmp_sum(ip) != 0)
		return false;
	*m = (struct message){.asks = icmp[0] == ND_ASKS};
	memcpy(m->from, ip + 8, 16);
	memcpy(m->about, icmp + 8, 16);
	want = m->asks ? OPT_SOURCE : OPT_TARGET;
	for (unsigned at = ND_LEN; at + 8 <= n && icmp[at + 1] != 0; at += icmp[at + 1] * 8u) {
		if (icmp[at] != want)
			continue;
		memcpy(m->mac, icmp + at + 2, 6);
		m->has_mac = true;
	}
	return true;
}

static bool read_message(const uint8_t *frame, size_t len, struct message *m)
{
	size_t at = 12;

	for (unsigned i = 0; i < MAX_TAGS && len >= at + 6; i++) {
		unsigned t = get16(frame + at);

		if (t != TYPE_VLAN && t != 0x88a8)
			break;
		at += 4;
	}
	if (len < at + 2)
		return false;
	if (get16(frame + at) == TYPE_ARP)
		return read_arp(frame + at + 2, len - at - 2, m);
	return get16(frame + at) == TYPE_IPV6 && read_nd(frame + at + 2, len - at - 2, m);
}

/* ---- writing ---- */

static uint8_t *start(const struct vs_neigh *n, uint8_t *out, const uint8_t to[6], unsigned type)
{
	memset(out, 0, VS_NEIGH_FRAME);
	memcpy(out, to, 6);
	memcpy(out + 6, n->mac, 6);
	out += 12;
	if (n->vlan != 0) {
		put16(out, TYPE_VLAN);
		put16(out + 2, n->vlan);
		out += 4;
	}
	put16(out, type);
	return out + 2;
}

static size_t write_arp(const struct vs_neigh *n, uint8_t *out, const uint8_t to[6], unsigned op, const uint8_t *own,
			const uint8_t *target_mac, const uint8_t *target)
{
	uint8_t *b = start(n, out, to, TYPE_ARP);

	put16(b, 1);
	put16(b + 2, TYPE_IPV4);
	b[4] = 6;
	b[5] = 4;
	put16(b + 6, op);
	memcpy(b + 8, n->mac, 6);
	memcpy(b + 14, own, 4);
	memcpy(b + 18, target_mac, 6);
	memcpy(b + 24, target, 4);
	b += ARP_LEN;
	return b - out < 60 ? 60 : (size_t)(b - out); /* the shortest frame of Ethernet, without its FCS */
}

static size_t write_nd(const struct vs_neigh *n, uint8_t *out, const uint8_t to[6], const uint8_t *own,
		       const uint8_t *dest, unsigned type, unsigned flags, const uint8_t *about)
{
	uint8_t *ip = start(n, out, to, TYPE_IPV6), *icmp = ip + IPV6_LEN;

	ip[0] = 0x60;
	put16(ip + 4, ND_FULL);
	ip[6] = ICMPV6;
	ip[7] = 255;
	memcpy(ip + 8, own, 16);
	memcpy(ip + 24, dest, 16);
	icmp[0] = (uint8_t)type;
	icmp[4] = (uint8_t)flags;
	memcpy(icmp + 8, about, 16);
	icmp[ND_LEN] = type == ND_ASKS ? OPT_SOURCE : OPT_TARGET;
	icmp[ND_LEN + 1] = 1;
	memcpy(icmp + ND_LEN + 2, n->mac, 6);
	put16(icmp + 2, icmp_sum(ip));
	return (size_t)(icmp + ND_FULL - out);
}

static const uint8_t *own_of(const struct vs_neigh *n, bool v4)
{
	for (unsigned i = 0; i < n->n_addrs; i++)
		if (is_v4(n->addr[i]) == v4)
			return n->addr[i];
	return NULL;
}

size_t vs_neigh_answer(const struct vs_neigh *n, const uint8_t *frame, size_t len, uint8_t out[VS_NEIGH_FRAME])
{
	uint8_t group[6];
	const uint8_t *own = NULL;
	struct message m;

	if (!read_message(frame, len, &m) || !m.asks)
		return 0;
	for (unsigned i = 0; i < n->n_addrs; i++)
		if (memcmp(n->addr[i], m.about, 16) == 0)
			own = n->addr[i];
	if (own == NULL)
		return 0;
	if (m.v4)
		return write_arp(n, out, m.mac, ARP_ANSWERS, own + 12, m.mac, m.from + 12);
	if (memcmp(m.from, unspecified, 16) == 0) { /* somebody wants this address for himself */
		(void)vs_neigh_group(all_nodes, group);
		return write_nd(n, out, group, own, all_nodes, ND_ANSWERS, ND_OVERRIDE, own);
	}
	return write_nd(n, out, m.has_mac ? m.mac : frame + 6, own, m.from, ND_ANSWERS, ND_SOLICITED | ND_OVERRIDE,
			own);
}

size_t vs_neigh_ask(const struct vs_neigh *n, const uint8_t addr[16], uint8_t out[VS_NEIGH_FRAME])
{
	uint8_t solicited[16] = {0xff, 2, [11] = 1, [12] = 0xff}, mac[6];
	const uint8_t *own = own_of(n, is_v4(addr));

	if (own == NULL)
		return 0;
	if (is_v4(addr))
		return write_arp(n, out, everybody, ARP_ASKS, own + 12, unspecified, addr + 12);
	memcpy(solicited + 13, addr + 13, 3);
	(void)vs_neigh_group(solicited, mac);
	return write_nd(n, out, mac, own, solicited, ND_ASKS, 0, addr);
}

size_t vs_neigh_announce(const struct vs_neigh *n, unsigned i, uint8_t out[VS_NEIGH_FRAME])
{
	const uint8_t *own = n->addr[i];
	uint8_t mac[6];

	if (vs_neigh_group(own, mac))
		return 0;
	if (is_v4(own))
		return write_arp(n, out, everybody, ARP_ASKS, own + 12, unspecified, own + 12);
	(void)vs_neigh_group(all_nodes, mac);
	return write_nd(n, out, mac, own, all_nodes, ND_ANSWERS, ND_OVERRIDE, own);
}

bool vs_neigh_tells(const uint8_t *frame, size_t len, uint8_t addr[16], uint8_t mac[6])
{
	struct message m;

	if (!read_message(frame, len, &m) || !m.has_mac)
		return false;
	memcpy(addr, m.asks ? m.from : m.about, 16);
	memcpy(mac, m.mac, 6);
	return memcmp(addr, unspecified, 16) != 0;
}
