/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * udp_room.c - how full the receivers on this host are. A UDP socket has no back-pressure: what does not fit into the
 * receiver's buffer is lost without a word. But the kernel tells anybody who asks how full a socket is
 * (NETLINK_SOCK_DIAG, as ss does), and it is asked each time that a good part of the room could have been used up. So a
 * fast sender and a slow receiver on one host lose nothing, whatever the transport and however many senders there are.
 * Each receiver has a budget of its own: who waits for one sends to the others.
 *
 * A receiver elsewhere, or a kernel that does not answer: nobody is asked, and the sender's window is all there is.
 */
#define _GNU_SOURCE /* sendmmsg, recvmmsg */
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <string.h>
#include <unistd.h>

#include "io/udp.h"

#define STALL_MAX_NS 20000000u /* a receiver that reads nothing for so long is not waited for */
#define ASK_AGAIN_NS 20000u
/* One part in so many of the room is worth sending again for; a receiver that sleeps gets as much. */
#define GRANT 16u
/*
 * What lies in front of a receiver delays its acknowledges: on a slow machine by more than the sender's ACK timer
 * takes, which would then send everything again. So much is not let lie there, however much fits.
 */
#define QUEUE_MAX (2u << 20)
/* What the kernel charges a packet with at most: the next power of two of its bytes, and its own bookkeeping. */
#define CHARGE_FACTOR 2u
#define CHARGE_EACH 768u

void udp_room_init(struct vs_udpio *u)
{
	struct timeval limit = {.tv_usec = 100000};

	u->diag = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	if (u->diag >= 0)
		(void)setsockopt(u->diag, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
}

/* ---- asking the kernel ---- */

struct question {
	struct nlmsghdr nlh;
	struct inet_diag_req_v2 req;
};

static void to_room(union udp_address *to, const struct udp_room *r)
{
	static const uint8_t prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

	memset(to, 0, sizeof(*to));
	to->any.sa_family = memcmp(r->gid, prefix, sizeof(prefix)) == 0 ? AF_INET : AF_INET6;
}

static void ask_for(struct question *q, const struct udp_room *room, const union udp_address *to)
{
	memset(q, 0, sizeof(*q));
	q->nlh.nlmsg_len = sizeof(*q);
	q->nlh.nlmsg_type = SOCK_DIAG_BY_FAMILY;
	q->nlh.nlmsg_flags = NLM_F_REQUEST;
	q->req.sdiag_family = (uint8_t)to->any.sa_family;
	q->req.sdiag_protocol = IPPROTO_UDP;
	q->req.idiag_ext = 1 << (INET_DIAG_SKMEMINFO - 1);
	q->req.idiag_states = UINT32_MAX;
	/* The kernel looks for the socket that a packet from src to dst would go to. */
	q->req.id.idiag_dport = htons(VS_UDP_PORT_ROCE);
	q->req.id.idiag_sport = htons(VS_UDP_PORT_ROCE);
	q->req.id.idiag_cookie[0] = q->req.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
	if (to->any.sa_family == AF_INET)
		memcpy(q->req.id.idiag_dst, room->gid + 12, 4);
	else
		memcpy(q->req.id.idiag_dst, room->gid, 16);
}

/* Memory in use and allowed of the socket in an answer. */
static bool read_answer(const char *buf, size_t len, uint32_t *used, uint32_t *allowed)
{
	const struct nlmsghdr *h = (const void *)buf;
	const struct inet_diag_msg *m = (const void *)(buf + NLMSG_HDRLEN);
	size_t at = NLMSG_HDRLEN + NLMSG_ALIGN(sizeof(*m));

	if (len < at || h->nlmsg_type != SOCK_DIAG_BY_FAMILY || h->nlmsg_len > len)
		return false;
	while (at + sizeof(struct nlattr) <= h->nlmsg_len) {
		struct nlattr a;

		memcpy(&a, buf + at, sizeof(a));
		if (a.nla_len < sizeof(a) || at + a.nla_len > h->nlmsg_len)
			return false;
		if (a.nla_type == INET_DIAG_SKMEMINFO && a.nla_len >= sizeof(a) + 8) {
			memcpy(used, buf + at + sizeof(a) + 4 * SK_MEMINFO_RMEM_ALLOC, 4);
			memcpy(allowed, buf + at + sizeof(a) + 4 * SK_MEMINFO_RCVBUF, 4);
			return true;
		}
		at += NLMSG_ALIGN(a.nla_len);
	}
	return false;
}

static bool ask(struct vs_udpio *u, const struct udp_room *room, const union udp_address *to, uint32_t *used,
		uint32_t *allowed)
{
	struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
	struct question q;
	struct {
		_Alignas(struct nlmsghdr) char bytes[1024];
	} answer;
	ssize_t n;

	ask_for(&q, room, to);
	if (sendto(u->diag, &q, sizeof(q), 0, (struct sockaddr *)&kernel, sizeof(kernel)) != (ssize_t)sizeof(q))
		return false;
	n = recv(u->diag, answer.bytes, sizeof(answer.bytes), 0);
	return n > 0 && read_answer(answer.bytes, (size_t)n, used, allowed);
}

/* ---- budgets ---- */

static unsigned index_of(const uint8_t gid[16])
{
	unsigned h = 0;

	for (unsigned i = 12; i < 16; i++)
		h = h * 31 + gid[i];
	return h % ROOMS;
}

static void open_again(struct vs_udpio *u, struct udp_room *r)
{
	if (r->full)
		u->n_full--;
	r->full = false;
}

static struct udp_room *room_of(struct vs_udpio *u, const uint8_t gid[16])
{
	struct udp_room *r = &u->room[index_of(gid)];

	if (!r->used || memcmp(r->gid, gid, 16) != 0) {
		u->forgotten |= r->full;
		open_again(u, r);
		*r = (struct udp_room){.used = true,
				       .local = true,
				       .budget = u->rcvbuf / 8 < QUEUE_MAX ? u->rcvbuf / 8 : QUEUE_MAX / 2};
		memcpy(r->gid, gid, 16);
	}
	return r;
}

bool vs_udpio_has_room(const struct vs_udpio *u, const uint8_t gid[16])
{
	const struct udp_room *r = &u->room[index_of(gid)];

	return u->n_full == 0 || !r->full || memcmp(r->gid, gid, 16) != 0;
}

/* A new budget; 0: there is no room now. */
static void refill(struct vs_udpio *u, struct udp_room *r, uint64_t now_ns)
{
	uint32_t used = 0, allowed = 0, free_bytes;
	union udp_address to;

	to_room(&to, r);
	if (!ask(u, r, &to, &used, &allowed)) {
		r->local = false; /* nobody there, or elsewhere: asked again when the entry is made anew */
		return;
	}
	allowed = allowed / 4 * 3 < QUEUE_MAX ? allowed / 4 * 3 : QUEUE_MAX;
	free_bytes = used < allowed ? allowed - used : 0;
	r->budget = free_bytes / 2; /* others may send too */
	if (r->budget >= allowed / GRANT)
		return;
	r->budget = 0;
	if (r->full_since == 0) {
		r->full_since = now_ns;
		u->stats.stalls++;
	}
	if (now_ns - r->full_since >= STALL_MAX_NS)
		r->budget = allowed / GRANT; /* it sleeps, and may lose this */
}

void udp_room_take(struct vs_udpio *u, const uint8_t gid[16], uint32_t bytes)
{
	uint64_t cost = CHARGE_FACTOR * bytes + CHARGE_EACH;
	struct udp_room *r;

	if (u->diag < 0)
		return;
	r = room_of(u, gid);
	if (!r->local)
		return;
	if (r->budget > cost) {
		r->budget -= cost;
		return;
	}
	r->budget = 0;
	if (!r->full) {
		r->full = true;
		r->full_since = r->next_ask = 0;
		u->n_full++;
	}
}

/* The kernel is asked once everything that is to count has been sent. */
bool vs_udpio_look(struct vs_udpio *u, uint64_t now_ns)
{
	bool opened = u->forgotten;

	u->forgotten = false;
	for (unsigned i = 0; i < ROOMS && u->n_full > 0; i++) {
		struct udp_room *r = &u->room[i];

		if (!r->full || now_ns < r->next_ask)
			continue;
		vs_udpio_flush(u);
		refill(u, r, now_ns);
		if (r->local && r->budget == 0) {
			r->next_ask = now_ns + ASK_AGAIN_NS;
		} else {
			open_again(u, r);
			opened = true;
		}
	}
	return opened;
}

bool vs_udpio_ready(struct vs_udpio *u, uint64_t now_ns)
{
	(void)vs_udpio_look(u, now_ns);
	return u->n_full == 0;
}
