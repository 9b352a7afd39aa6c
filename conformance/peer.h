/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * peer.h - the wire on which scripts play the peer of a device that is outside of this process, or beside it: what a
 * target sends and hears there. Which one the user says with --peer.
 *
 *   peer.c        opens it
 *   peer_addr.c   which addresses are near it
 *   peer_spec.c   the text behind --peer
 *   peer_udp.c    a UDP socket of this host: the kernel writes Ethernet, IP and UDP headers
 *   peer_frame.c  whole frames, through an interface or as AF_UNIX datagrams: a host that exists in these alone
 */
#ifndef CONFORM_PEER_H
#define CONFORM_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VC_PEER_ENCAPS 3u /* EN_ROCEV2_IPV4, EN_ROCEV2_IPV6, EN_ROCEV1 */

struct vc_peer;

/* A frame came, destination MAC first. `stamp_ns`: when the kernel got it, CLOCK_REALTIME; 0: it did not say. */
typedef void vc_peer_fn(void *ctx, uint64_t stamp_ns, const uint8_t *frame, size_t len);

struct vc_peer_ops {
	void (*close)(struct vc_peer *p);
	int (*fd)(const struct vc_peer *p); /* readable when frames wait */
	/* NULL: it is sent, or will be with the next flush. Else why this peer can't send such a frame; static. */
	const char *(*send)(struct vc_peer *p, const uint8_t *frame, size_t len);
	void (*flush)(struct vc_peer *p);
	/* At most about `max` frames that are RDMA and for the peer, whoever sent them; how many. Never blocks. */
	unsigned (*receive)(struct vc_peer *p, unsigned max, vc_peer_fn *fn, void *ctx);
	bool (*join)(struct vc_peer *p, const uint8_t gid[16]); /* frames of a multicast group, too */
	void (*leave)(struct vc_peer *p, const uint8_t gid[16]);
	/* The MAC address of a device's GID. False: nobody answers for it. */
	bool (*resolve)(struct vc_peer *p, const uint8_t gid[16], uint8_t mac[6]);
};

struct vc_peer {
	const struct vc_peer_ops *ops;
	bool has[VC_PEER_ENCAPS];        /* by enum dr_encap: it speaks that, from */
	uint8_t gid[VC_PEER_ENCAPS][16]; /* ::ffff:a.b.c.d for IPv4 */
	uint8_t mac[6];                  /* zero: not its business */
	uint16_t vlan;                   /* its frames are tagged so; 0: they are not */
	uint64_t jitter_ns;              /* what times of frames may be wrong by */
	bool whole;                      /* it sends and shows frames as they are, from the first byte on */
	char broken[256];                /* it works no more: what happened; "": it works */
};

/* Where frames come and go. */
struct vc_peer_end {
	bool is_socket;
	char at[108], remote[108]; /* an interface; paths of sockets */
};
/* What the user has said of a peer. */
struct vc_peer_spec {
	enum vc_peer_kind { VC_PEER_NONE, VC_PEER_UDP, VC_PEER_RAW, VC_PEER_UNIX, VC_PEER_BRIDGE } kind;
	struct vc_peer_end end[2]; /* a bridge has two */
	bool has[VC_PEER_ENCAPS];
	uint8_t gid[VC_PEER_ENCAPS][16];
	bool has_mac;
	uint8_t mac[6];
	uint16_t vlan;
	unsigned count; /* that many peers, with addresses one behind the other: as many processes can use them */
};
/* "udp:A", "raw:IFACE,ip=A...", "unix:PATH,remote=PATH,ip=A...", "bridge:...", "loop". False: `why` says what is wrong
 * with it. */
bool vc_peer_spec_read(struct vc_peer_spec *s, const char *text, char *why, size_t cap);

/* `number` of `count`: which of the peers this process uses. NULL: `why` says what is wrong, and what to do. */
struct vc_peer *vc_peer_open(const struct vc_peer_spec *s, unsigned number, char *why, size_t cap);
void vc_peer_close(struct vc_peer *p); /* NULL is fine */

#define VC_ADDRESS 46u /* bytes of an address as text */
void vc_gid_text(const uint8_t gid[16], char text[VC_ADDRESS]);
/* Is `a` at least as near to the peer as `b`, by its network? */
bool vc_peer_is_nearer(const struct vc_peer *p, int encap, const uint8_t a[16], const uint8_t b[16]);
/* The `number`-th address of this host that is in the network of the peer's. False: there is none. */
bool vc_peer_beside(const struct vc_peer *p, int encap, unsigned number, char text[VC_ADDRESS]);

/* peer_udp.c: *busy says that another address may do. */
struct vc_udp_addresses {
	uint8_t ipv4[16], ipv6[16]; /* zeros: none */
	uint8_t src[16];            /* another one that scripts may send from; zeros: none */
};
struct vc_peer *vc_peer_udp(const struct vc_udp_addresses *a, bool *busy, char *why, size_t cap);
/* peer_frame.c */
struct vc_peer *vc_peer_frame(const struct vc_peer_spec *s, unsigned number, char *why, size_t cap);

#endif
