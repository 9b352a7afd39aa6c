/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * udpio.h - RoCEv2 over UDP sockets: no privilege, no kernel module.
 *
 * Packets go in and out as they would stand on the wire, IP header first. Linux writes the real IP header, so some
 * of its fields are not ours to choose, and the ICRC covers them: sockets are never connected and have path MTU
 * discovery on, which makes the IPv4 ID 0 (k for the k-th segment of one segmentation-offload send) with DF.
 *
 * What a socket does not tell is filled in: TTL 64 and the IPv4 ID. For the ID the ICRC itself is asked: 0 and the
 * number of the segment are tried, then the ID is solved from the difference. A flow (source address and port) that
 * has once come with an ID below 128 is taken to be one of ours, and no other ID is accepted from it: the check
 * keeps at least 25 of its 32 bits. Of other senders any ID is accepted: 16 bits are left to find damage with.
 *
 * Not thread-safe: one caller at a time.
 */
#ifndef VS_UDPIO_H
#define VS_UDPIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vs/pktio.h"

#define VS_UDPIO_ADDRS 4         /* own addresses */
#define VS_UDPIO_FRAME 4352      /* bytes of a slot: Ethernet header to ICRC at the largest path MTU */
#define VS_UDPIO_GROUPS 32       /* multicast groups */
#define VS_UDPIO_BATCH 128       /* slots */
#define VS_UDPIO_SEGMENTS_MAX 64 /* packets in one segmentation-offload send */

struct vs_udpio;

struct vs_udpio_attr {
	uint8_t addr[VS_UDPIO_ADDRS][16]; /* ::ffff:a.b.c.d for IPv4 */
	unsigned n_addrs;                 /* 1 .. VS_UDPIO_ADDRS */
	bool no_gso;                      /* neither UDP_SEGMENT nor UDP_GRO */
	bool stamps;                      /* the kernel says when packets came: vs_udpio_stamp */
	uint32_t rcvbuf;                  /* bytes to ask for; 0: as many as there is use for. rmem_max limits them */
	/* Every packet as it leaves and arrives, IP header first, checksums and ID as on the wire. NULL: nobody looks.
	 */
	void (*tap)(void *ctx, bool sent, const uint8_t *ip, size_t len);
	void *tap_ctx;
};

struct vs_udpio_stats {
	uint64_t sent, send_calls, received, receive_calls;
	uint64_t refused; /* the kernel would not send it: as good as lost */
	uint64_t too_big; /* of these: larger than the MTU of the way */
	uint64_t stalls;  /* times that a receiver on this host was found full */
	uint64_t foreign; /* packets accepted with an IP ID that was solved */
};

/*
 * Binds UDP port 4791 on every address. NULL: *code is VS_ERR_BUSY (somebody has the port), VS_ERR_INVAL (the address
 * is not one of this host), VS_ERR_PERM, VS_ERR_IO; `err` says it in a line.
 */
struct vs_udpio *vs_udpio_open(const struct vs_udpio_attr *attr, int *code, struct vs_io_error *err);
void vs_udpio_close(struct vs_udpio *u); /* NULL is fine */
/* A descriptor that is readable when packets wait. */
int vs_udpio_fd(const struct vs_udpio *u);
const struct vs_udpio_stats *vs_udpio_stats(const struct vs_udpio *u);

/*
 * Takes packets to a multicast GID (::ffff:224.0.0.0/4, ff00::/8) too, on the interface of the first address of its
 * family, except those that this wire has sent itself; a second join is counted. 0, VS_ERR_INVAL (no multicast GID, or
 * no address of its family), VS_ERR_NOSPACE (VS_UDPIO_GROUPS), VS_ERR_IO (the kernel refuses).
 */
int vs_udpio_join(struct vs_udpio *u, const uint8_t gid[16]);
void vs_udpio_leave(struct vs_udpio *u, const uint8_t gid[16]); /* takes back one join */

/*
 * Packets of `mtu` payload bytes that a receiver like this one can hold while nobody reads: what may be under way to
 * it. At least 16.
 */
uint32_t vs_udpio_window(const struct vs_udpio *u, uint32_t mtu);

/* A packet came: `ip` is valid during the call. With icrc_good it need not be checked again. */
typedef void vs_udpio_input_fn(void *ctx, const uint8_t *ip, size_t len, bool icrc_good);
/* Hands over what waits, at most about `max` packets; how many. Never blocks. */
unsigned vs_udpio_receive(struct vs_udpio *u, unsigned max, vs_udpio_input_fn *fn, void *ctx);

/* During the call of a vs_udpio_input_fn: when the kernel got the packet, CLOCK_REALTIME in ns; 0: it did not say. */
uint64_t vs_udpio_stamp(const struct vs_udpio *u);

/*
 * Sending in batches: take a slot, write a packet into it, commit it; flush sends all. Packets of one flow leave in the
 * order they were committed. NULL: the batch is full, flush first.
 */
uint8_t *vs_udpio_slot(struct vs_udpio *u);
/* The newest slot holds a packet whose IP header is at `ip_off`, `len` bytes from there on, ICRC right for ID 0. */
void vs_udpio_commit(struct vs_udpio *u, size_t ip_off, size_t len);
void vs_udpio_flush(struct vs_udpio *u);
/*
 * A UDP socket has no back-pressure, so receivers on this host are watched. False: the one at this GID (::ffff:a.b.c.d
 * for IPv4) is full, so send nothing there for a while (tens of microseconds) if it can wait. It turns true again, in
 * vs_udpio_look, when there is room; after some milliseconds in any case, for a little.
 */
bool vs_udpio_has_room(const struct vs_udpio *u, const uint8_t gid[16]);
/* Looks at the receivers that are full, having flushed. True: one of them has room again. */
bool vs_udpio_look(struct vs_udpio *u, uint64_t now_ns);
/* For who sends to one receiver: looks, and is true when none is full. */
bool vs_udpio_ready(struct vs_udpio *u, uint64_t now_ns);

#endif
