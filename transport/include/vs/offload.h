/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * offload.h - several RoCEv2 packets in one captured datagram, and lengths that were never filled in.
 *
 * A sender that uses UDP_SEGMENT, or hardware that does the like, hands the stack one datagram with many
 * RoCE packets, all of one size but the last; on loopback, and at the sender's own interface, a capture
 * shows it whole. Each packet in it has its own ICRC, computed for the datagram that it becomes: with its
 * own lengths and, for IPv4, an ID that counts up from packet to packet (Linux) or stays.
 *
 * Nothing here allocates; all pointers are borrowed from the caller's buffer.
 */
#ifndef VS_OFFLOAD_H
#define VS_OFFLOAD_H

#include <stddef.h>
#include <stdint.h>

#include "vs/wire.h"

/* What stands behind one UDP header. */
struct vs_offload {
	enum vs_encap encap; /* VS_ENCAP_ROCEV2_IPV4 or _IPV6 */
	const uint8_t *net;  /* IP and UDP header, net_len bytes; NULL: not known, or no ICRC is to be checked */
	size_t net_len;
	const uint8_t *data;  /* the first BTH */
	uint32_t caplen, len; /* bytes from `data` on: captured, and on the wire */
};

/* Fills `o` for the packet that was parsed from `buf`: false when it is not RoCEv2, or has no BTH. */
bool vs_offload_of(const struct vs_pkt *p, const uint8_t *buf, size_t caplen, size_t wirelen, struct vs_offload *o);

/* A length field of IP or UDP is 0: segmentation offload fills it in later. */
bool vs_offload_lengths_zero(const struct vs_offload *o);

/*
 * Bytes of the first packet when there are several, ICRC included; 0 when there is one. To be asked only for
 * what does not verify as a single packet. Believed are two BTHs of one flow where the first packet ends and
 * the second has the PSN that follows, or the first verifies when it ends there.
 */
uint32_t vs_offload_first(const struct vs_offload *o);

/* Bytes of the packet at `off` < caplen, when the one before it had `len`: usually the same. Never 0. */
uint32_t vs_offload_next(const struct vs_offload *o, uint32_t off, uint32_t len);

/* How many packets there are, those that the capture cut off included; `len` from vs_offload_first. */
uint32_t vs_offload_count(const struct vs_offload *o, uint32_t len);

/*
 * ICRC of packet number `k` from 0 on, whose `len` bytes begin at `off`, with the lengths it gets when it is
 * sent; the ID counted up, or the same for all. `carried` is the ICRC in it. Unverified when it is not whole in
 * the capture or `net` is NULL. `expected` may be NULL.
 */
enum vs_crc_status vs_offload_icrc(const struct vs_offload *o, uint32_t k, uint32_t off, uint32_t len, uint32_t carried,
				   uint32_t *expected);

/*
 * Packet number `k` as one of its own: `seg` is parsed from its bytes, with the network headers of `whole` and
 * the lengths (and IPv4 ID) that it gets when it is sent. Offsets in `seg` count from o->data + off. Returns
 * what vs_pkt_parse does. `opt` as there.
 */
int vs_offload_packet(const struct vs_offload *o, const struct vs_pkt *whole, uint32_t k, uint32_t off, uint32_t len,
		      unsigned opt, struct vs_pkt *seg);

#endif
