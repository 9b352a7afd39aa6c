/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * peer_udp.c - the peer on a UDP socket of this host: no privilege, but the kernel writes all headers below the BTH, so
 * a script has no say in them, and sees little of those that come.
 */
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drill/drill_int.h"
#include "peer.h"
#include "vs/udpio.h"

#define ETH_LEN 14u
#define JITTER_NS 100000u

struct peer_udp {
	struct vc_peer p; /* first */
	struct vs_udpio *io;
	struct vc_udp_addresses at;
	vc_peer_fn *fn; /* whom what is being received is for */
	void *ctx;
};

static struct peer_udp *self(struct vc_peer *p)
{
	return (struct peer_udp *)p;
}

static void udp_close(struct vc_peer *p)
{
	vs_udpio_close(self(p)->io);
	free(p);
}

static int udp_fd(const struct vc_peer *p)
{
	return vs_udpio_fd(((const struct peer_udp *)p)->io);
}

static bool is_own(const struct peer_udp *u, const uint8_t *ipv4)
{
	return memcmp(ipv4, u->at.ipv4 + 12, 4) == 0 || (u->at.src[15] != 0 && memcmp(ipv4, u->at.src + 12, 4) == 0);
}

/* What a socket writes itself is not the script's to choose. */
static bool is_plain_ipv4(const struct peer_udp *u, const struct vs_pkt *p)
{
	return p->eth.ethertype == VS_ETHERTYPE_IPV4 && p->ipv4.ihl == 5 && p->ipv4.id == 0 && p->ipv4.frag == 0x4000 &&
	       p->ipv4.protocol == IPPROTO_UDP && p->ipv4.total_len == p->udp.len + 20 && p->ipv4.ttl != 0 &&
	       is_own(u, p->ipv4.src);
}

static bool is_plain_ipv6(const struct peer_udp *u, const struct vs_pkt *p)
{
	return p->eth.ethertype == VS_ETHERTYPE_IPV6 && p->grh.ipver == 6 && p->grh.nxthdr == IPPROTO_UDP &&
	       p->grh.paylen == p->udp.len && p->grh.hoplmt != 0 && memcmp(p->grh.sgid, u->at.ipv6, 16) == 0;
}

static const char *not_by_socket(const struct peer_udp *u, const struct vs_pkt *p)
{
	bool v4 = p->encap == VS_ENCAP_ROCEV2_IPV4;

	if (p->eth.vlan_count > 0 || (!v4 && p->encap != VS_ENCAP_ROCEV2_IPV6))
		return "a UDP socket sends RoCEv2 alone";
	if (v4 ? !is_plain_ipv4(u, p) : !is_plain_ipv6(u, p))
		return "a UDP socket writes the IP header itself";
	if (p->udp.dport != VS_UDP_PORT_ROCE || p->udp.csum != 0)
		return "a UDP socket writes the UDP header itself";
	return NULL;
}

static const char *udp_send(struct vc_peer *p, const uint8_t *frame, size_t len)
{
	struct vs_udpio *io = self(p)->io;
	const char *why;
	struct vs_pkt k;
	uint8_t *slot;

	if (len <= ETH_LEN || len - ETH_LEN > VS_UDPIO_FRAME ||
	    vs_pkt_parse(&k, VS_LINK_ETHERNET, 0, frame, len, len, VS_PARSE_ANY_PORT) != VS_OK)
		return "a UDP socket sends no such frame";
	why = not_by_socket(self(p), &k);
	if (why == NULL && (size_t)k.udp.len + (k.encap == VS_ENCAP_ROCEV2_IPV4 ? 20 : 40) + ETH_LEN != len)
		why = "a UDP socket writes the lengths itself";
	if (why != NULL)
		return why;
	slot = vs_udpio_slot(io);
	if (slot == NULL) {
		vs_udpio_flush(io);
		slot = vs_udpio_slot(io);
	}
	memcpy(slot, frame + ETH_LEN, len - ETH_LEN);
	vs_udpio_commit(io, 0, len - ETH_LEN);
	return NULL; /* it leaves with those that are sent at the same time */
}

static void udp_flush(struct vc_peer *p)
{
	vs_udpio_flush(self(p)->io);
}

static void on_packet(void *ctx, const uint8_t *ip, size_t len, bool icrc_good)
{
	struct peer_udp *u = ctx;
	uint8_t frame[VS_UDPIO_FRAME + ETH_LEN] = {0};
	bool v4 = ip[0] >> 4 == 4;

	(void)icrc_good;
	if (len > VS_UDPIO_FRAME || len < (v4 ? 28u : 48u) + 12u)
		return;
	frame[12] = v4 ? 0x08 : 0x86;
	frame[13] = v4 ? 0x00 : 0xdd;
	memcpy(frame + ETH_LEN, ip, len);
	u->fn(u->ctx, vs_udpio_stamp(u->io), frame, len + ETH_LEN);
}

static unsigned udp_receive(struct vc_peer *p, unsigned max, vc_peer_fn *fn, void *ctx)
{
	self(p)->fn = fn;
	self(p)->ctx = ctx;
	return vs_udpio_receive(self(p)->io, max, on_packet, self(p));
}

static bool udp_join(struct vc_peer *p, const uint8_t gid[16])
{
	return vs_udpio_join(self(p)->io, gid) == VS_OK;
}

static void udp_leave(struct vc_peer *p, const uint8_t gid[16])
{
	vs_udpio_leave(self(p)->io, gid);
}

/* The kernel finds the way. */
static bool udp_resolve(struct vc_peer *p, const uint8_t gid[16], uint8_t mac[6])
{
	(void)p;
	(void)gid;
	memset(mac, 0, 6);
	return true;
}

static const struct vc_peer_ops ops = {.close = udp_close,
				       .fd = udp_fd,
				       .send = udp_send,
				       .flush = udp_flush,
				       .receive = udp_receive,
				       .join = udp_join,
				       .leave = udp_leave,
				       .resolve = udp_resolve};

static void add(struct vs_udpio_attr *a, const uint8_t gid[16])
{
	if (gid[15] != 0)
		memcpy(a->addr[a->n_addrs++], gid, 16);
}

struct vc_peer *vc_peer_udp(const struct vc_udp_addresses *at, bool *busy, char *why, size_t cap)
{
	struct vs_udpio_attr a = {.no_gso = true, .stamps = true};
	struct peer_udp *u = calloc(1, sizeof(*u));
	struct vs_io_error err = {.text = "no memory"};
	int code = VS_ERR_IO;

	add(&a, at->ipv4);
	add(&a, at->ipv6);
	add(&a, at->src);
	if (u != NULL)
		u->io = vs_udpio_open(&a, &code, &err);
	*busy = code == VS_ERR_BUSY;
	if (u == NULL || u->io == NULL) {
		(void)snprintf(why, cap, "the peer's socket can't be opened: %.200s", err.text);
		free(u);
		return NULL;
	}
	u->p.ops = &ops;
	u->p.jitter_ns = JITTER_NS;
	u->at = *at;
	u->p.has[EN_ROCEV2_IPV4] = at->ipv4[15] != 0;
	u->p.has[EN_ROCEV2_IPV6] = at->ipv6[15] != 0;
	memcpy(u->p.gid[EN_ROCEV2_IPV4], at->ipv4, 16);
	memcpy(u->p.gid[EN_ROCEV2_IPV6], at->ipv6, 16);
	return &u->p;
}
