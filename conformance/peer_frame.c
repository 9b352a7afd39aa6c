/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * peer_frame.c - the peer as a host of its own on an Ethernet, that exists in its frames alone: through an interface
 * (raw:), with addresses that this host does not have, or through an AF_UNIX socket (unix:), to a virtual machine.
 *
 * It answers whoever asks for its addresses (ARP, neighbour discovery) whenever frames are received, and takes of all
 * others those of RDMA that are for it. Frames of scripts leave as they are; where the peer is in a VLAN and a frame
 * has no tag, it gets one.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "drill/drill_int.h"
#include "peer.h"
#include "vs/frameio.h"
#include "vs/neigh.h"

#define ASK_NS 200000000u /* between two questions */
#define ASKS 10u
#define NEIGHBOURS 8u
#define GROUPS 8u
#define ETH_LEN 14u
#define JITTER_RAW_NS 100000u
#define JITTER_UNIX_NS 1000000u /* a process forwards the frames, and has to be woken up */
#define TAG_LEN 4u
#define TYPE_AT 12u

struct peer_frame {
	struct vc_peer p; /* first */
	struct vs_frameio *io;
	struct vs_neigh self;
	struct neighbour {
		uint8_t gid[16], mac[6];
	} neighbour[NEIGHBOURS];
	unsigned n_neighbours;
	uint8_t group[GROUPS][6]; /* MACs */
	unsigned n_groups;
	unsigned taken; /* frames of RDMA, in this round */
	vc_peer_fn *fn; /* whom what is being received is for; NULL: nobody */
	void *ctx;
};

static struct peer_frame *self(struct vc_peer *p)
{
	return (struct peer_frame *)p;
}

static void frame_close(struct vc_peer *p)
{
	vs_frameio_close(self(p)->io);
	free(p);
}

static int frame_fd(const struct vc_peer *p)
{
	return vs_frameio_fd(((const struct peer_frame *)p)->io);
}

/* What went wrong for good. */
static void broken(struct vc_peer *p, const struct vs_io_error *err)
{
	if (p->broken[0] == '\0')
		(void)snprintf(p->broken, sizeof(p->broken), "the peer's wire is gone: %.200s", err->text);
}

/* ---- out ---- */

static bool is_tag(const uint8_t *type)
{
	return (type[0] == 0x81 && type[1] == 0x00) || (type[0] == 0x88 && type[1] == 0xa8);
}

static int put(struct vc_peer *p, const uint8_t *frame, size_t len)
{
	struct vs_io_error err;
	int rc = vs_frameio_send(self(p)->io, frame, len, &err);

	if (rc == VS_ERR_IO)
		broken(p, &err);
	return rc; /* VS_ERR_BUSY: it is lost, as on a cable that nobody is at */
}

static const char *frame_send(struct vc_peer *p, const uint8_t *frame, size_t len)
{
	uint8_t tagged[VS_FRAME_MAX + 64 + TAG_LEN];

	if (len < ETH_LEN || len > sizeof(tagged) - TAG_LEN)
		return "a frame has a header of 14 bytes, and room for a path MTU of 4096";
	if (p->vlan != 0 && !is_tag(frame + TYPE_AT)) {
		memcpy(tagged, frame, TYPE_AT);
		memcpy(tagged + TYPE_AT, (const uint8_t[]){0x81, 0, (uint8_t)(p->vlan >> 8), (uint8_t)p->vlan},
		       TAG_LEN);
		memcpy(tagged + TYPE_AT + TAG_LEN, frame + TYPE_AT, len - TYPE_AT);
		frame = tagged;
		len += TAG_LEN;
	}
	return put(p, frame, len) == VS_ERR_INVAL ? "the MTU of the interface is too small for the frame" : NULL;
}

static void frame_flush(struct vc_peer *p)
{
	(void)p; /* nothing waits */
}

/* ---- in ---- */

static struct neighbour *find(struct peer_frame *f, const uint8_t gid[16])
{
	for (unsigned i = 0; i < f->n_neighbours; i++)
		if (memcmp(f->neighbour[i].gid, gid, 16) == 0)
			return &f->neighbour[i];
	return NULL;
}

static void learn(struct peer_frame *f, const uint8_t *frame, size_t len)
{
	uint8_t gid[16], mac[6];
	struct neighbour *n;

	if (!vs_neigh_tells(frame, len, gid, mac) || (n = find(f, gid)) == NULL)
		return; /* nobody that was asked for */
	memcpy(n->mac, mac, 6);
}

static bool is_for_us(const struct peer_frame *f, const uint8_t *dst)
{
	if (memcmp(dst, f->p.mac, 6) == 0)
		return true;
	for (unsigned i = 0; i < f->n_groups; i++)
		if (memcmp(dst, f->group[i], 6) == 0)
			return true;
	return false;
}

/* To one of its addresses, or to a group; what has no address is RoCE all the same. */
static bool is_addressed(const struct peer_frame *f, const struct vs_pkt *k)
{
	uint8_t gid[16] = {[10] = 0xff, [11] = 0xff}, mac[6];

	if (k->encap == VS_ENCAP_ROCEV2_IPV4)
		memcpy(gid + 12, k->ipv4.dst, 4);
	else
		memcpy(gid, k->grh.dgid, 16);
	for (unsigned e = 0; e < VC_PEER_ENCAPS; e++)
		if (f->p.has[e] && memcmp(gid, f->p.gid[e], 16) == 0)
			return true;
	return vs_neigh_group(gid, mac);
}

static void on_frame(void *ctx, uint64_t stamp, const uint8_t *frame, size_t len)
{
	struct peer_frame *f = ctx;
	uint8_t answer[VS_NEIGH_FRAME];
	struct vs_pkt k;
	size_t n;

	if (len < ETH_LEN || memcmp(frame + 6, f->p.mac, 6) == 0)
		return;
	n = vs_neigh_answer(&f->self, frame, len, answer);
	if (n > 0)
		(void)put(&f->p, answer, n);
	learn(f, frame, len);
	if (f->fn == NULL || !is_for_us(f, frame) ||
	    vs_pkt_parse(&k, VS_LINK_ETHERNET, 0, frame, len, len, 0) != VS_OK || !is_addressed(f, &k))
		return;
	f->taken++;
	f->fn(f->ctx, stamp, frame, len);
}

static unsigned frame_receive(struct vc_peer *p, unsigned max, vc_peer_fn *fn, void *ctx)
{
	struct peer_frame *f = self(p);
	struct vs_io_error err;

	if (p->broken[0] != '\0')
		return 0;
	f->fn = fn;
	f->ctx = ctx;
	f->taken = 0;
	if (vs_frameio_receive(f->io, max, on_frame, f, &err) < 0)
		broken(p, &err);
	return f->taken;
}

/* ---- groups, neighbours ---- */

static bool frame_join(struct vc_peer *p, const uint8_t gid[16])
{
	struct peer_frame *f = self(p);

	if (f->n_groups == GROUPS || !vs_neigh_group(gid, f->group[f->n_groups]))
		return false;
	f->n_groups++;
	return true;
}

static void frame_leave(struct vc_peer *p, const uint8_t gid[16])
{
	struct peer_frame *f = self(p);
	uint8_t mac[6];

	if (!vs_neigh_group(gid, mac))
		return;
	for (unsigned i = 0; i < f->n_groups; i++) {
		if (memcmp(f->group[i], mac, 6) != 0)
			continue;
		memmove(f->group[i], f->group[--f->n_groups], 6);
		return;
	}
}

static uint64_t now_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static bool is_known(const struct neighbour *n)
{
	static const uint8_t none[6];

	return memcmp(n->mac, none, 6) != 0;
}

static bool ask(struct peer_frame *f, const uint8_t gid[16])
{
	uint8_t frame[VS_NEIGH_FRAME];
	size_t len = vs_neigh_ask(&f->self, gid, frame);

	return len > 0 && put(&f->p, frame, len) != VS_ERR_IO;
}

/* Asks until it is known, for two seconds at most; once more for what is known already, without waiting. */
static bool frame_resolve(struct vc_peer *p, const uint8_t gid[16], uint8_t mac[6])
{
	struct peer_frame *f = self(p);
	struct neighbour *n = find(f, gid);

	if (n == NULL) {
		n = &f->neighbour[f->n_neighbours < NEIGHBOURS ? f->n_neighbours++ : NEIGHBOURS - 1];
		*n = (struct neighbour){.mac = {0}};
		memcpy(n->gid, gid, 16);
	}
	for (unsigned i = 0; i < ASKS && ask(f, gid) && !is_known(n); i++) {
		uint64_t until = now_ns() + ASK_NS, now;

		while (!is_known(n) && p->broken[0] == '\0' && (now = now_ns()) < until) {
			struct pollfd fd = {.fd = vs_frameio_fd(f->io), .events = POLLIN};

			(void)poll(&fd, 1, (int)((until - now) / 1000000u) + 1);
			(void)frame_receive(p, 64, NULL, NULL);
		}
	}
	memcpy(mac, n->mac, 6);
	return is_known(n) && p->broken[0] == '\0';
}

/* ---- opening ---- */

static const struct vc_peer_ops ops = {.close = frame_close,
				       .fd = frame_fd,
				       .send = frame_send,
				       .flush = frame_flush,
				       .receive = frame_receive,
				       .join = frame_join,
				       .leave = frame_leave,
				       .resolve = frame_resolve};

/* Adds to the host part of an address; the caller's range does not leave it. */
static void add(uint8_t gid[16], unsigned number)
{
	for (unsigned i = 16; i-- > 12 && number > 0; number >>= 8) {
		number += gid[i];
		gid[i] = (uint8_t)number;
	}
}

/* Addresses, and a MAC that is made of them where none is said: locally administered, as that of every invention. */
static void identity(struct peer_frame *f, const struct vc_peer_spec *s, unsigned number)
{
	struct vc_peer *p = &f->p;
	const uint8_t *low;

	for (unsigned e = 0; e < VC_PEER_ENCAPS; e++) {
		p->has[e] = s->has[e];
		memcpy(p->gid[e], s->gid[e], 16);
		add(p->gid[e], number);
	}
	low = p->has[EN_ROCEV2_IPV4] ? p->gid[EN_ROCEV2_IPV4] : p->gid[EN_ROCEV2_IPV6];
	memcpy(p->mac, (const uint8_t[]){0x02, 0x76, 0x73, low[13], low[14], low[15]}, 6);
	if (s->has_mac) {
		memcpy(p->mac, s->mac, 6);
		p->mac[5] = (uint8_t)(p->mac[5] + number);
	}
	/* RoCEv1 knows hosts by the same addresses. */
	p->has[EN_ROCEV1] = true;
	memcpy(p->gid[EN_ROCEV1], p->has[EN_ROCEV2_IPV4] ? p->gid[EN_ROCEV2_IPV4] : p->gid[EN_ROCEV2_IPV6], 16);
	p->vlan = s->vlan;
	memcpy(f->self.mac, p->mac, 6);
	f->self.vlan = s->vlan;
	for (unsigned e = EN_ROCEV2_IPV4; e <= EN_ROCEV2_IPV6; e++)
		if (p->has[e])
			memcpy(f->self.addr[f->self.n_addrs++], p->gid[e], 16);
}

/* The path of the `number`-th: where it has a %, that stands there. */
static void socket_path(char *path, size_t cap, const char *text, unsigned number)
{
	const char *at = strchr(text, '%');

	if (at != NULL)
		(void)snprintf(path, cap, "%.*s%u%s", (int)(at - text), text, number, at + 1);
	else
		(void)snprintf(path, cap, "%s", text);
}

static struct vs_frameio *open_io(const struct peer_frame *f, const struct vc_peer_spec *s, unsigned number,
				  struct vs_io_error *err)
{
	const uint8_t *m = f->p.mac;
	char filter[96], here[128], there[128];
	int code;

	if (s->kind == VC_PEER_UNIX) {
		socket_path(here, sizeof(here), s->end[0].at, number);
		socket_path(there, sizeof(there), s->end[0].remote, number);
		return vs_frameio_unix_open(here, there, &code, err);
	}
	/* also what libpcap can't tell to be in a VLAN, because the driver has taken the tag off */
	(void)snprintf(filter, sizeof(filter), "ether dst %02x:%02x:%02x:%02x:%02x:%02x or ether multicast", m[0], m[1],
		       m[2], m[3], m[4], m[5]);
	return vs_frameio_live_open(s->end[0].at, filter, &code, err);
}

struct vc_peer *vc_peer_frame(const struct vc_peer_spec *s, unsigned number, char *why, size_t cap)
{
	struct peer_frame *f = calloc(1, sizeof(*f));
	struct vs_io_error err = {.text = "no memory"};
	uint8_t frame[VS_NEIGH_FRAME];

	if (f != NULL) {
		/* behind sockets each has a network of its own */
		identity(f, s, s->kind == VC_PEER_UNIX ? 0 : number);
		f->io = open_io(f, s, number, &err);
	}
	if (f == NULL || f->io == NULL) {
		(void)snprintf(why, cap, "--peer: %s", err.text);
		free(f);
		return NULL;
	}
	f->p.ops = &ops;
	f->p.jitter_ns = s->kind == VC_PEER_UNIX ? JITTER_UNIX_NS : JITTER_RAW_NS;
	f->p.whole = true;
	/* Who has spoken with another peer at these addresses has to hear that there is a new one. */
	for (unsigned i = 0; i < f->self.n_addrs; i++)
		(void)put(&f->p, frame, vs_neigh_announce(&f->self, i, frame));
	return &f->p;
}
