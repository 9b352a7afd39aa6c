/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mkbench.c - writes the capture of bench-dissector: full-length RoCEv2/IPv4 packets with right ICRCs.
 *
 *   mkbench FILE PACKETS
 *
 * 64 connections in turn; each does two 4 KiB WRITEs and their ACKs, a 4 KiB READ and its four
 * responses, a 1 KiB SEND and its ACK: 17 packets, all data packets with 1 KiB of payload.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vs/icrc.h"
#include "vs/pktio.h"
#include "vs/psn.h"
#include "vs/wire.h"

#define QPS 64u
#define MTU 1024u

struct bench {
	struct vs_writer *w;
	uint64_t packets, wanted;
	int64_t now_ns;
	uint32_t psn[QPS], msn[QPS];
	uint8_t payload[MTU];
};

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "mkbench: %s\n", what);
	exit(1);
}

/* Queue pair `qp`'s packet from the requester (or, for a response, to it). */
static void put(struct bench *b, unsigned qp, uint8_t opcode, uint32_t psn)
{
	static uint8_t buf[2048], scratch[2048];
	const struct vs_opcode_info *op = &vs_opcodes[opcode];
	const bool back = op->flags & VS_OPF_R;
	struct vs_io_error err;
	struct vs_pkt p;
	int n;

	if (b->packets >= b->wanted)
		return;
	vs_pkt_init(&p, VS_ENCAP_ROCEV2_IPV4, opcode, true);
	memcpy(p.eth.dst, back ? "\2\0\0\0\0\1" : "\2\0\0\0\0\2", 6);
	memcpy(p.eth.src, back ? "\2\0\0\0\0\2" : "\2\0\0\0\0\1", 6);
	memcpy(p.ipv4.src, back ? "\xc0\0\2\2" : "\xc0\0\2\1", 4);
	memcpy(p.ipv4.dst, back ? "\xc0\0\2\1" : "\xc0\0\2\2", 4);
	p.udp.sport = (uint16_t)(0xc000 + qp * 37);
	p.bth.destqp = (back ? 0x000100u : 0x000200u) + qp;
	p.bth.psn = psn;
	p.bth.ackreq = (op->flags & VS_OPF_E) && !back;
	p.ext.reth.va = 0x7f0000000000ull + qp * 0x10000ull;
	p.ext.reth.rkey = 0x1000 + qp;
	p.ext.reth.dmalen = 4 * MTU;
	p.ext.aeth.syndrome = 0x1f;
	p.ext.aeth.msn = b->msn[qp];
	p.payload = b->payload;
	p.payload_len = op->payload == VS_PAYLOAD_NONE ? 0 : MTU;
	if (vs_pkt_seal(&p, VS_SEAL_ALL, scratch, sizeof(scratch)) < 0)
		die("seal failed");
	n = vs_pkt_build(&p, buf, sizeof(buf));
	if (n < 0)
		die("build failed");
	if (vs_writer_put(b->w, b->now_ns, buf, (uint32_t)n, (uint32_t)n, &err) < 0)
		die(err.text);
	b->now_ns += 1000;
	b->packets++;
}

static uint32_t next_psn(struct bench *b, unsigned qp)
{
	uint32_t psn = b->psn[qp];

	b->psn[qp] = vs_psn_add(psn, 1);
	return psn;
}

static void ack(struct bench *b, unsigned qp)
{
	b->msn[qp] = vs_psn_add(b->msn[qp], 1);
	put(b, qp, VS_OP_RC_ACKNOWLEDGE, vs_psn_add(b->psn[qp], -1));
}

static void write_4k(struct bench *b, unsigned qp)
{
	put(b, qp, VS_OP_RC_WRITE_FIRST, next_psn(b, qp));
	put(b, qp, VS_OP_RC_WRITE_MIDDLE, next_psn(b, qp));
	put(b, qp, VS_OP_RC_WRITE_MIDDLE, next_psn(b, qp));
	put(b, qp, VS_OP_RC_WRITE_LAST, next_psn(b, qp));
	ack(b, qp);
}

static void read_4k(struct bench *b, unsigned qp)
{
	uint32_t psn = b->psn[qp];

	b->psn[qp] = vs_psn_add(psn, 4);
	b->msn[qp] = vs_psn_add(b->msn[qp], 1);
	put(b, qp, VS_OP_RC_READ_REQUEST, psn);
	put(b, qp, VS_OP_RC_READ_RESPONSE_FIRST, psn);
	put(b, qp, VS_OP_RC_READ_RESPONSE_MIDDLE, vs_psn_add(psn, 1));
	put(b, qp, VS_OP_RC_READ_RESPONSE_MIDDLE, vs_psn_add(psn, 2));
	put(b, qp, VS_OP_RC_READ_RESPONSE_LAST, vs_psn_add(psn, 3));
}

static void send_1k(struct bench *b, unsigned qp)
{
	put(b, qp, VS_OP_RC_SEND_ONLY, next_psn(b, qp));
	ack(b, qp);
}

int main(int argc, char **argv)
{
	struct bench b = {.now_ns = 1767225600000000000ll};
	struct vs_io_error err;

	if (argc != 3) {
		fputs("usage: mkbench FILE PACKETS\n", stderr);
		return 2;
	}
	b.wanted = strtoull(argv[2], NULL, 10);
	for (unsigned i = 0; i < MTU; i++)
		b.payload[i] = (uint8_t)(i * 13 + i / 256);
	b.w = vs_writer_open(argv[1], VS_WRITER_ETHERNET, &err);
	if (!b.w)
		die(err.text);
	for (unsigned qp = 0; b.packets < b.wanted; qp = (qp + 1) % QPS) {
		write_4k(&b, qp);
		write_4k(&b, qp);
		read_4k(&b, qp);
		send_1k(&b, qp);
	}
	if (vs_writer_close(b.w, &err) < 0)
		die(err.text);
	return 0;
}
