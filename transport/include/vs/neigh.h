/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * neigh.h - who has which IP address on an Ethernet, in frames: ARP (RFC 826) and neighbour discovery (RFC 4861), as
 * far as a host needs it that nothing but these frames makes a host of.
 *
 * Pure: frames in, frames out. Addresses are GIDs, ::ffff:a.b.c.d for IPv4.
 */
#ifndef VS_NEIGH_H
#define VS_NEIGH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VS_NEIGH_FRAME 96u /* bytes that the longest of these frames needs */
#define VS_NEIGH_ADDRS 4u

struct vs_neigh {
	uint8_t mac[6];
	uint8_t addr[VS_NEIGH_ADDRS][16]; /* own addresses; of each family the first is the one that asks */
	unsigned n_addrs;
	uint16_t vlan; /* what is sent has this tag; 0: none */
};

/*
 * The answer to a frame that asks for one of the own addresses; bytes in `out`, 0: it asks for none. Tags of the
 * question do not matter.
 */
size_t vs_neigh_answer(const struct vs_neigh *n, const uint8_t *frame, size_t len, uint8_t out[VS_NEIGH_FRAME]);

/* Asks who has `addr`. 0: there is no own address of its family. */
size_t vs_neigh_ask(const struct vs_neigh *n, const uint8_t addr[16], uint8_t out[VS_NEIGH_FRAME]);

/* Says that the own address `i` is at this MAC (a gratuitous ARP, an unsolicited advertisement). 0: it is multicast. */
size_t vs_neigh_announce(const struct vs_neigh *n, unsigned i, uint8_t out[VS_NEIGH_FRAME]);

/* Does the frame tell at which MAC somebody is? Questions do, too. */
bool vs_neigh_tells(const uint8_t *frame, size_t len, uint8_t addr[16], uint8_t mac[6]);

/* The MAC of a multicast GID (RFC 1112, RFC 2464); false: it is none. */
bool vs_neigh_group(const uint8_t gid[16], uint8_t mac[6]);

#endif
