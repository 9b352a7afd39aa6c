/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * verbs_hostile.c - sends what nobody should take: packets of every opcode with random headers, to the queue pairs that
 * are named and to any other, most of them with the right ICRC.
 *
 *   verbs_hostile FROM TO SECONDS [QPN...]     IPv4 addresses; prints how many it sent
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <time.h>

#include "pktgen.h"
#include "vs/udpio.h"

struct job {
	uint8_t from[16], to[16];
	uint32_t qpn[32];
	unsigned n_qpn;
	uint64_t seed;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static bool parse(uint8_t gid[16], const char *text)
{
	memset(gid, 0, 16);
	gid[10] = gid[11] = 0xff;
	return inet_pton(AF_INET, text, gid + 12) == 1;
}

/* Mostly what exists: an opcode with its headers, a QP that is there, a key that both are members of. */
static void spoil(struct job *j, struct vs_pkt *p, const uint8_t *payload)
{
	uint64_t *s = &j->seed;

	vs_gen_random_bth(p, s);
	if (j->n_qpn > 0 && !vs_gen_one_in(s, 4))
		p->bth.destqp = j->qpn[vs_gen_below(s, j->n_qpn)];
	else if (vs_gen_one_in(s, 2))
		p->bth.destqp = vs_gen_one_in(s, 2) ? 1 : 0xffffff;
	if (!vs_gen_one_in(s, 4)) {
		p->bth.pkey = 0xffff;
		p->bth.tver = 0;
	}
	vs_gen_bytes(s, &p->ext, sizeof(p->ext));
	p->ext.reth.dmalen = vs_gen_one_in(s, 2) ? vs_gen_below(s, 4096) : vs_gen_bits(s, 32);
	p->ext.feth.sel = (uint8_t)vs_gen_bits(s, 2);
	p->ext.feth.plt = (uint8_t)vs_gen_bits(s, 4);
	p->ext.aeth.msn &= 0xffffff;
	p->ext.deth.srcqp &= 0xffffff;
	p->ext.rdeth.eecontext &= 0xffffff;
	p->ext.xrceth.xrcsrq &= 0xffffff;
	p->ext.feth.rsv &= 0x3ffffff;
	p->payload = payload;
	p->payload_len = vs_gen_one_in(s, 2) ? vs_gen_below(s, 64) : vs_gen_below(s, 4096);
	p->pad_len = (uint8_t)(-p->payload_len & 3);
}

static void send_one(struct job *j, struct vs_udpio *u)
{
	static uint8_t payload[4096];
	uint8_t *slot = vs_udpio_slot(u), code = (uint8_t)vs_gen_bits(&j->seed, 8);
	struct vs_pkt p;
	int n;

	if (slot == NULL) {
		vs_udpio_flush(u);
		slot = vs_udpio_slot(u);
	}
	vs_gen_bytes(&j->seed, payload, 64);
	vs_pkt_init(&p, VS_ENCAP_ROCEV2_IPV4, code, false);
	memcpy(p.ipv4.src, j->from + 12, 4);
	memcpy(p.ipv4.dst, j->to + 12, 4);
	p.udp.sport = (uint16_t)(0xc000 | vs_gen_bits(&j->seed, 3));
	spoil(j, &p, payload);
	if (vs_pkt_seal(&p, VS_SEAL_LEN | VS_SEAL_CSUM | VS_SEAL_ICRC, slot, VS_UDPIO_FRAME) != VS_OK)
		return;
	p.icrc ^= vs_gen_one_in(&j->seed, 10) ? vs_gen_bits(&j->seed, 32) : 0;
	n = vs_pkt_build(&p, slot, VS_UDPIO_FRAME);
	if (n > 0)
		vs_udpio_commit(u, 0, (size_t)n);
}

int main(int argc, char **argv)
{
	struct vs_udpio_attr attr = {.n_addrs = 1};
	struct job j = {.seed = 4791};
	struct vs_io_error err;
	struct vs_udpio *u;
	uint64_t end;
	int code;

	if (argc < 4 || !parse(j.from, argv[1]) || !parse(j.to, argv[2])) {
		fprintf(stderr, "usage: verbs_hostile FROM TO SECONDS [QPN...]\n");
		return 2;
	}
	for (int i = 4; i < argc && j.n_qpn < 32; i++)
		j.qpn[j.n_qpn++] = (uint32_t)strtoul(argv[i], NULL, 0);
	memcpy(attr.addr[0], j.from, 16);
	u = vs_udpio_open(&attr, &code, &err);
	if (u == NULL) {
		fprintf(stderr, "verbs_hostile: %s\n", err.text);
		return 2;
	}
	for (end = now_ns() + strtoull(argv[3], NULL, 10) * 1000000000u; now_ns() < end;)
		for (unsigned i = 0; i < 32 && vs_udpio_ready(u, now_ns()); i++)
			send_one(&j, u);
	vs_udpio_flush(u);
	printf("%llu hostile packets\n", (unsigned long long)vs_udpio_stats(u)->sent);
	vs_udpio_close(u);
	return 0;
}
