/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * verbs_hostile.c - sends what nobody should take, from several addresses of this host, most of it with right ICRCs:
 *
 * - As the peer of queue pairs that may be attacked (ref0_victim.h): requests of every opcode in sequence, with keys
 *   and addresses that are granted, nearly granted, or of others; answers to requests that wait; CNPs; datagrams.
 * - The same at one whose peer is at another address.
 * - At queue pairs that live and must not notice: from a wrong address anything; from the right one what the header
 *   checks must drop (ICRC, P_Key, version, another transport's opcode, cut headers). A packet with the right address,
 *   QPN and a PSN in the window is believed by any RDMA device, so those are not sent.
 * - At QP 1: connection management with random ids, and other management. At queue pairs that don't exist. Noise.
 *
 *   verbs_hostile VICTIM PEER THIRD SECONDS [TARGETS]     IPv4 addresses; PEER is that of the first peer, whom others
 * follow
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "pktgen.h"
#include "vs/cm.h"
#include "vs/mad.h"
#include "vs/psn.h"

#define FRAME 4500
#define BURST 32u
#define BURST_NS 2000000u /* so that what lives has room beside it */
#define PEER_QPN 0x777777u
#define SOURCES 5u /* the third, and up to four peers */

struct source {
	int fd;
	struct in_addr addr;
	uint16_t port;
};
struct target {
	char kind[16];
	uint32_t qpn, rq_psn, sq_psn, qkey;
};
struct key {
	uint32_t rkey, len;
	uint64_t va;
};
struct live {
	unsigned peer;
	uint32_t qpn;
};

static struct {
	struct in_addr victim;
	struct source source[SOURCES];
	unsigned n_sources;
	struct target target[32];
	struct key key[16];
	struct live live[64];
	unsigned n_targets, n_keys, n_live;
	uint64_t seed, sent, refused;
	uint8_t payload[4096];
} h = {.seed = 4791};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static uint32_t below(uint32_t n)
{
	return vs_gen_below(&h.seed, n);
}

static bool one_in(uint32_t n)
{
	return vs_gen_one_in(&h.seed, n);
}

/* ---- sending ---- */

static void send_bytes(const struct source *s, const uint8_t *bytes, size_t n)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(VS_UDP_PORT_ROCE), .sin_addr = h.victim};

	if (sendto(s->fd, bytes, n, 0, (struct sockaddr *)&to, sizeof(to)) < 0)
		h.refused++;
	else
		h.sent++;
}

/* With everything that belongs to a legal packet, but what `spoil` says; `cut` bytes are left out at its end. */
static void send_packet(const struct source *s, struct vs_pkt *p, bool bad_icrc, size_t cut)
{
	static uint8_t frame[FRAME];
	int n;

	memcpy(p->ipv4.src, &s->addr, 4);
	memcpy(p->ipv4.dst, &h.victim, 4);
	p->udp.sport = s->port;
	p->payload = h.payload;
	p->pad_len = p->bth.padcnt = (uint8_t)(-p->payload_len & 3);
	if (vs_pkt_seal(p, VS_SEAL_LEN | VS_SEAL_CSUM | VS_SEAL_ICRC, frame, sizeof(frame)) != VS_OK)
		return;
	p->icrc ^= bad_icrc ? 1u + below(UINT32_MAX) : 0;
	n = vs_pkt_build(p, frame, sizeof(frame));
	if (n > 28 + (int)cut)
		send_bytes(s, frame + 28, (size_t)n - 28 - cut);
}

static struct vs_pkt packet(uint8_t opcode, uint32_t qpn, uint32_t psn)
{
	struct vs_pkt p;

	vs_pkt_init(&p, VS_ENCAP_ROCEV2_IPV4, opcode, false);
	p.bth.destqp = qpn;
	p.bth.psn = psn & 0xffffff;
	p.bth.ackreq = one_in(2);
	vs_gen_random_ext(&p.ext, &h.seed);
	vs_gen_bytes(&h.seed, h.payload, 64);
	p.payload_len = one_in(2) ? below(64) : one_in(2) ? 1024 : below(4096);
	return p;
}

/* ---- who may be attacked ---- */

/* A key and a range: granted, at its edge, across it, wrapping, or anything. */
static void aim(struct vs_pkt *p)
{
	const struct key *k = &h.key[below(h.n_keys)];
	uint32_t len = one_in(3) ? p->payload_len : one_in(2) ? below(64) : below(2 * k->len);
	uint64_t va = k->va + below(k->len);

	switch (below(8)) {
	case 0:
		va = k->va + k->len - (len < k->len ? len : 0); /* ends where the region does */
		break;
	case 1:
		va = k->va + k->len - len / 2;
		break;
	case 2:
		va = k->va - below(64);
		break;
	case 3:
		va = UINT64_MAX - below(8192);
		break;
	case 4:
		len = one_in(2) ? UINT32_MAX - below(16) : 0x80000000u;
		break;
	default:
		break;
	}
	p->ext.reth.va = va;
	p->ext.reth.rkey = one_in(16) ? p->ext.reth.rkey : k->rkey;
	p->ext.reth.dmalen = len;
	p->ext.atomiceth.va = one_in(4) ? va : va & ~7ull;
	p->ext.atomiceth.rkey = p->ext.reth.rkey;
	p->ext.ieth_rkey = one_in(8) ? k->rkey : p->ext.ieth_rkey;
}

static uint8_t request_opcode(bool uc)
{
	static const uint8_t rc[] = {VS_OP_RC_SEND_ONLY,    VS_OP_RC_WRITE_ONLY,   VS_OP_RC_WRITE_ONLY_IMM,
				     VS_OP_RC_READ_REQUEST, VS_OP_RC_COMPARE_SWAP, VS_OP_RC_FETCH_ADD,
				     VS_OP_RC_WRITE_FIRST,  VS_OP_RC_WRITE_LAST};

	if (one_in(6))
		return (uint8_t)((uc ? 0x20 : 0) | below(0x20));
	return uc ? (uint8_t)(VS_OP_UC_SEND_FIRST + below(12)) : rc[below(sizeof(rc))];
}

/* Requests in sequence, until one of them ends the connection. */
static void requests(const struct target *t)
{
	bool uc = t->kind[0] == 'u';
	uint32_t psn = t->rq_psn;

	for (unsigned i = 0; i < 24; i++) {
		struct vs_pkt p = packet(request_opcode(uc), t->qpn, psn);

		aim(&p);
		if (p.payload_len > 1024)
			p.payload_len = 1024;
		if (one_in(2)) /* the lengths agree */
			p.ext.reth.dmalen = p.payload_len;
		send_packet(&h.source[1], &p, one_in(64), 0);
		psn = vs_psn_add(psn, one_in(16) ? (int32_t)below(4) : 1);
	}
}

static void answers(const struct target *t)
{
	static const uint8_t ops[] = {VS_OP_RC_ACKNOWLEDGE,         VS_OP_RC_ATOMIC_ACKNOWLEDGE,
				      VS_OP_RC_READ_RESPONSE_FIRST, VS_OP_RC_READ_RESPONSE_MIDDLE,
				      VS_OP_RC_READ_RESPONSE_LAST,  VS_OP_RC_READ_RESPONSE_ONLY};
	struct vs_pkt p = packet(ops[below(sizeof(ops))], t->qpn, vs_psn_add(t->sq_psn, (int32_t)below(6) - one_in(8)));

	if (one_in(2))
		p.ext.aeth.syndrome = one_in(2) ? 31 : one_in(2) ? 0x60 | (uint8_t)below(8) : 0x20 | (uint8_t)below(32);
	if (p.bth.opcode == VS_OP_RC_ACKNOWLEDGE || p.bth.opcode == VS_OP_RC_ATOMIC_ACKNOWLEDGE)
		p.payload_len = one_in(8) ? 4 : 0;
	else if (one_in(2))
		p.payload_len = 512;
	send_packet(&h.source[1], &p, false, 0);
}

static void datagram(const struct target *t)
{
	struct vs_pkt p = packet(one_in(4) ? VS_OP_UD_SEND_ONLY_IMM : VS_OP_UD_SEND_ONLY, t->qpn, below(1 << 24));

	p.ext.deth.qkey = one_in(4) ? p.ext.deth.qkey : t->qkey;
	if (one_in(2))
		p.payload_len = 460 + below(64); /* the receive takes 512, 40 of them for the GRH */
	send_packet(&h.source[below(h.n_sources)], &p, false, 0);
}

static void attack_target(void)
{
	const struct target *t = &h.target[below(h.n_targets)];

	if (one_in(32)) {
		struct vs_pkt p = packet(VS_OP_CNP, t->qpn, 0);

		p.bth.becn = true;
		p.payload_len = 16;
		send_packet(&h.source[1], &p, false, 0);
	} else if (strcmp(t->kind, "ud") == 0) {
		datagram(t);
	} else if ((t->kind[0] == 'r' || t->kind[0] == 'f') && one_in(4)) {
		answers(t);
	} else {
		requests(t);
	}
}

/* ---- who lives ---- */

static void attack_live(void)
{
	const struct live *l = &h.live[below(h.n_live)];
	struct vs_pkt p = packet((uint8_t)below(0x18), l->qpn, below(1 << 24));
	const struct source *s = &h.source[1 + l->peer];
	size_t cut = 0;
	bool bad = false;

	if (h.n_keys > 0)
		aim(&p);
	switch (1 + l->peer < h.n_sources ? below(6) : 0) {
	case 0:
		s = &h.source[0]; /* somebody else: an RC queue pair listens to its peer alone */
		break;
	case 1:
		bad = true;
		break;
	case 2:
		p.bth.pkey = (uint16_t)(0x8000 | below(0x7fff));
		break;
	case 3:
		p.bth.tver = (uint8_t)(1 + below(15));
		break;
	case 4:
		p = packet((uint8_t)(0x20 + below(0xe0 - 0x20)), l->qpn, below(1 << 24));
		if (p.bth.opcode == VS_OP_CNP)
			p.bth.opcode = 0xff;
		break;
	default:
		p = packet(VS_OP_RC_COMPARE_SWAP, l->qpn, below(1 << 24));
		p.payload_len = 0;
		cut = 8 + below(24); /* of the AtomicETH and ICRC */
		break;
	}
	send_packet(s, &p, bad, cut);
}

/* ---- everybody ---- */

static void management(void)
{
	static const uint16_t attributes[] = {
		VS_CM_ATTR_REQ,  VS_CM_ATTR_REP,  VS_CM_ATTR_RTU,      VS_CM_ATTR_REJ,      VS_CM_ATTR_MRA,
		VS_CM_ATTR_DREQ, VS_CM_ATTR_DREP, VS_CM_ATTR_SIDR_REQ, VS_CM_ATTR_SIDR_REP, VS_CM_ATTR_LAP};
	struct vs_mad m = {.base_version = 1,
			   .mgmt_class = one_in(8) ? (uint8_t)below(256) : VS_MAD_CLASS_CM,
			   .class_version = one_in(8) ? (uint8_t)below(4) : VS_CM_CLASS_VERSION,
			   .method = one_in(8) ? (uint8_t)below(256) : VS_MAD_METHOD_SEND,
			   .transaction_id = vs_rand(&h.seed),
			   .attribute_id = attributes[below(sizeof(attributes) / sizeof(attributes[0]))]};
	struct vs_pkt p = packet(VS_OP_UD_SEND_ONLY, 1, below(1 << 24));

	vs_gen_bytes(&h.seed, h.payload, VS_MAD_LEN);
	if (one_in(2)) /* ids that a connection could have */
		memset(h.payload + VS_MAD_HDR_LEN, 0, 3), memset(h.payload + VS_MAD_HDR_LEN + 4, 0, 3);
	vs_mad_build(&m, h.payload);
	p.payload_len = one_in(16) ? below(300) : VS_MAD_LEN;
	p.ext.deth.qkey = one_in(16) ? p.ext.deth.qkey : VS_GSI_QKEY;
	p.ext.deth.srcqp = one_in(4) ? p.ext.deth.srcqp : 1;
	send_packet(&h.source[below(h.n_sources)], &p, one_in(64), 0);
}

static void strangers(void)
{
	struct vs_pkt p = packet((uint8_t)below(256), one_in(4) ? 0xffffff : below(1 << 24), below(1 << 24));

	if (one_in(4)) {
		vs_gen_random_bth(&p, &h.seed);
		p.bth.destqp = one_in(2) ? 0 : below(1 << 24);
	}
	send_packet(&h.source[below(h.n_sources)], &p, one_in(8), one_in(8) ? below(20) : 0);
}

static void noise(void)
{
	static uint8_t bytes[60000];
	size_t n = one_in(4) ? below(sizeof(bytes)) : below(64);

	vs_gen_bytes(&h.seed, bytes, n < 256 ? n : 256);
	send_bytes(&h.source[below(h.n_sources)], bytes, n);
}

static void attack(void)
{
	uint32_t r = below(20);

	if (r < 8 && h.n_targets > 0)
		attack_target();
	else if (r < 13 && h.n_live > 0)
		attack_live();
	else if (r < 16)
		management();
	else if (r < 19)
		strangers();
	else
		noise();
}

/* ---- setting up ---- */

static bool open_source(struct in_addr addr)
{
	struct source *s = &h.source[h.n_sources];
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = addr};
	socklen_t len = sizeof(a);
	int df = IP_PMTUDISC_DO;

	*s = (struct source){.fd = socket(AF_INET, SOCK_DGRAM, 0), .addr = addr};
	if (s->fd < 0 || setsockopt(s->fd, IPPROTO_IP, IP_MTU_DISCOVER, &df, sizeof(df)) != 0 ||
	    bind(s->fd, (struct sockaddr *)&a, sizeof(a)) != 0 ||
	    getsockname(s->fd, (struct sockaddr *)&a, &len) != 0) {
		fprintf(stderr, "verbs_hostile: %s: %s\n", inet_ntoa(addr), strerror(errno));
		return false;
	}
	s->port = ntohs(a.sin_port);
	h.n_sources++;
	return true;
}

static bool read_targets(const char *path)
{
	FILE *f = fopen(path, "r");
	char line[256], name[16];
	struct target t;
	struct live l;
	struct key k;
	unsigned long long va;

	while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		if (sscanf(line, "qp %15s %u %u %u %u", t.kind, &t.qpn, &t.rq_psn, &t.sq_psn, &t.qkey) == 5 &&
		    h.n_targets < 32) {
			h.target[h.n_targets++] = t;
		} else if (sscanf(line, "live %u %u", &l.peer, &l.qpn) == 2 && h.n_live < 64) {
			h.live[h.n_live++] = l;
		} else if (sscanf(line, "key %15s %u %llu %u", name, &k.rkey, &va, &k.len) == 4 && h.n_keys < 16) {
			k.va = va;
			h.key[h.n_keys++] = k;
		}
	}
	if (f != NULL)
		fclose(f);
	return h.n_targets > 0 && h.n_keys > 0;
}

int main(int argc, char **argv)
{
	struct in_addr peer, third;
	uint64_t end;

	if (argc < 5 || inet_pton(AF_INET, argv[1], &h.victim) != 1 || inet_pton(AF_INET, argv[2], &peer) != 1 ||
	    inet_pton(AF_INET, argv[3], &third) != 1 || (argc > 5 && !read_targets(argv[5]))) {
		fprintf(stderr, "usage: verbs_hostile VICTIM PEER THIRD SECONDS [TARGETS]\n");
		return 2;
	}
	if (!open_source(third))
		return 2;
	for (unsigned i = 0; i + 1 < SOURCES; i++, peer.s_addr = htonl(ntohl(peer.s_addr) + 1))
		if (!open_source(peer))
			return 2;
	for (end = now_ns() + strtoull(argv[4], NULL, 10) * 1000000000u; now_ns() < end;) {
		const struct timespec pause = {.tv_nsec = BURST_NS};

		for (unsigned i = 0; i < BURST; i++)
			attack();
		nanosleep(&pause, NULL);
	}
	printf("%llu hostile packets\n", (unsigned long long)h.sent);
	return h.sent == 0;
}
