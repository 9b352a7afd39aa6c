/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * udp.h - the inside of the UDP wire (vs/udpio.h).
 *
 *   udp.c       its life: addresses, receiving sockets
 *   udp_port.c  sending sockets, one per source port
 *   udp_send.c  batches: which packets go into one segmentation-offload send
 *   udp_recv.c  headers for what arrives, and the IPv4 ID
 *   udp_group.c multicast
 *   udp_room.c  how full the receivers on this host are
 */
#ifndef VS_IO_UDP_H
#define VS_IO_UDP_H

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "vs/udpio.h"
#include "vs/wire.h"

#define USUAL_TTL 64u
#define HEAD_V4 28u /* IP and UDP header */
#define HEAD_V6 48u

union udp_address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/* ---- sending sockets ---- */
#define PORT_SETS 128
#define PORT_WAYS 8
struct udp_port {
	int fd; /* -1: free */
	uint16_t sport;
	uint8_t addr;
	uint64_t used;
};

/* ---- a batch ---- */
struct udp_frame {
	uint8_t *ip; /* first byte of the IP header */
	uint16_t len;
	uint8_t head; /* bytes of IP and UDP header */
	uint8_t addr; /* which of our addresses it comes from */
	bool done;
	int16_t next; /* in the same chain; -1: last */
};
#define CHAINS 256

/* ---- receiving ---- */
#define RECV_SLOTS 8
#define RECV_BUF (65536 + 64)
#define RECV_ROOM 64 /* in front of the datagram, for the headers */
struct udp_slot {
	uint8_t *buf;
	struct iovec iov;
	union udp_address from;
	/* as cmsg wants it */
	struct {
		_Alignas(struct cmsghdr) char bytes[192];
	} control;
};

/* vs_icrc_id_delta, which is dear, from a table: packets have few lengths. */
#define DELTAS 64
uint32_t udp_id_delta(struct vs_udpio *u, size_t len, uint16_t id);

/* What is known about a sender: by address and port. */
#define FLOWS 1024
struct udp_flow {
	uint8_t gid[16];
	uint16_t sport;
	bool native; /* its IDs are ours */
	bool known;
};

/* ---- receivers on this host ---- */
#define ROOMS 64
struct udp_room {
	uint8_t gid[16];
	bool used, local, full;
	uint64_t budget;     /* what may still be charged to it before it is asked again */
	uint64_t full_since; /* 0: not asked yet */
	uint64_t next_ask;
};

/* ---- multicast ---- */
struct udp_group {
	int fd;         /* -1: free */
	unsigned users; /* joins */
	unsigned addr;  /* own address that it belongs to */
	union udp_address to;
};

struct vs_udpio {
	struct vs_udpio_attr attr;
	struct vs_udpio_stats stats;
	union udp_address own[VS_UDPIO_ADDRS];
	int fd[VS_UDPIO_ADDRS]; /* receiving sockets */
	struct udp_group group[VS_UDPIO_GROUPS];
	int epoll;
	bool gso, gro;
	uint32_t rcvbuf; /* as the kernel counts: data and what it needs for it */
	uint64_t stamp;  /* of the packet that is being handed over */
	uint64_t clock;  /* of the sending sockets' use */
	unsigned n_ports, max_ports;
	struct {
		size_t len;
		uint32_t bit[16];
	} delta[DELTAS]; /* of lengths seen: what each bit of an IPv4 ID does to the ICRC */
	struct udp_port port[PORT_SETS][PORT_WAYS];

	uint8_t *slots; /* VS_UDPIO_BATCH of VS_UDPIO_FRAME bytes */
	struct udp_frame frame[VS_UDPIO_BATCH];
	unsigned n_frames;
	int16_t chain_first[CHAINS], chain_last[CHAINS];
	struct mmsghdr out[VS_UDPIO_BATCH];
	struct iovec out_iov[VS_UDPIO_BATCH];
	struct {
		_Alignas(struct cmsghdr) char bytes[96];
	} out_control[VS_UDPIO_BATCH];
	union udp_address out_to[VS_UDPIO_BATCH];

	struct udp_slot slot[RECV_SLOTS];
	struct mmsghdr in[RECV_SLOTS];
	unsigned in_turn; /* which address is read next */
	struct udp_flow flow[FLOWS];

	struct udp_room room[ROOMS];
	int diag;        /* NETLINK_SOCK_DIAG; -1: not to be had */
	unsigned n_full; /* receivers that we wait for */
	bool forgotten;  /* one of those was, since others took its place */
};

/* udp_port.c */
void udp_ports_init(struct vs_udpio *u);
void udp_ports_close(struct vs_udpio *u);
/* The socket that sends from port `sport` of own address `addr`; -1: the port is not to be had. */
int udp_port_fd(struct vs_udpio *u, unsigned addr, uint16_t sport);
bool udp_dont_fragment(int fd, int family);
/* What is multicast leaves by the interface of own address `addr`. */
void udp_multicast_interface(const struct vs_udpio *u, int fd, unsigned addr);

/* udp.c */
void udp_to_address(union udp_address *a, const uint8_t gid[16], uint16_t port);
void udp_receive_options(struct vs_udpio *u, int fd, int family);

/* udp_group.c */
void udp_groups_init(struct vs_udpio *u);
void udp_groups_close(struct vs_udpio *u);

/* udp_room.c */
void udp_room_init(struct vs_udpio *u);
/* `bytes` are going to `gid`. */
void udp_room_take(struct vs_udpio *u, const uint8_t gid[16], uint32_t bytes);

static inline socklen_t udp_addrlen(const union udp_address *a)
{
	return a->any.sa_family == AF_INET ? sizeof(a->v4) : sizeof(a->v6);
}

#endif
