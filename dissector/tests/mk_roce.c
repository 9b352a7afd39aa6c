/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mk_roce.c - RoCE captures that need no more than the wire codec: opcodes, ports, ECN, pads, CRCs. */
#include <string.h>

#include "mk.h"

static void put(struct mk_out *o, struct vs_pkt *p)
{
	struct mk_buf f;

	mk_build(p, &f);
	mk_put(o, &f);
}

/* Every assigned opcode in each of `encaps`. */
static void all_opcodes(struct mk_out *o, const enum vs_encap *encaps, unsigned n, bool ethernet)
{
	for (unsigned e = 0; e < n; e++)
		for (unsigned code = 0; code < 256; code++) {
			struct vs_pkt p;

			/* the code for CNP in native InfiniBand is reserved in RoCE */
			if (!vs_opcodes[code].name || (ethernet && code == VS_OP_CNP_IB))
				continue;
			mk_packet(&p, encaps[e], (uint8_t)code, ethernet);
			put(o, &p);
		}
}

void mk_opcodes_roce(struct mk_out *o)
{
	static const enum vs_encap encaps[] = {VS_ENCAP_ROCEV2_IPV4, VS_ENCAP_ROCEV2_IPV6, VS_ENCAP_ROCEV1};

	all_opcodes(o, encaps, 3, true);
}

void mk_opcodes_ib(struct mk_out *o)
{
	static const enum vs_encap encaps[] = {VS_ENCAP_IB, VS_ENCAP_IB_GRH};

	all_opcodes(o, encaps, 2, false);
}

/* RoCEv1: a WRITE and its ACK, tagged and not, with Ethernet padding and with an FCS-like trailer. */
/* A GRH that announces UDP, and something that is no BTH behind it. */
static void not_iba(struct mk_out *o)
{
	static const char text[] = "no transport header of InfiniBand here";
	struct vs_pkt p;
	struct mk_buf f;

	mk_packet(&p, VS_ENCAP_ROCEV1, VS_OP_RC_SEND_ONLY, true);
	p.grh.nxthdr = 0x11;
	mk_build(&p, &f);
	memcpy(f.b + 14 + 40, text, sizeof(text));
	mk_put(o, &f);
}

void mk_rocev1(struct mk_out *o)
{
	static const uint8_t opcodes[] = {VS_OP_RC_WRITE_ONLY, VS_OP_RC_ACKNOWLEDGE, VS_OP_RC_SEND_ONLY,
					  VS_OP_UC_SEND_ONLY, VS_OP_UD_SEND_ONLY};
	static const uint8_t zero[46];

	for (unsigned vlans = 0; vlans < 2; vlans++)
		for (unsigned i = 0; i < sizeof(opcodes); i++)
			for (unsigned trailer = 0; trailer < 2; trailer++) {
				struct vs_pkt p;

				mk_packet(&p, VS_ENCAP_ROCEV1, opcodes[i], true);
				p.bth.psn = 0xfffffe;
				p.eth.vlan_count = (uint8_t)vlans;
				p.eth.vlan[0] = (struct vs_vlan){0x8100, 0x6064};
				p.trailer = zero;
				p.trailer_len = trailer ? 4 : 0;
				put(o, &p);
			}
	not_iba(o);
}

/* One message exchange of a reliable transport, or all opcodes of an unreliable one. */
static void transport(struct mk_out *o, enum vs_transport t)
{
	uint32_t psn = 0xfffff0;

	for (unsigned code = (unsigned)t << 5; code < ((unsigned)t + 1) << 5; code++) {
		struct vs_pkt p;

		if (!vs_opcodes[code].name)
			continue;
		mk_packet(&p, VS_ENCAP_ROCEV2_IPV4, (uint8_t)code, true);
		p.bth.psn = psn;
		psn = vs_psn_add(psn, 1);
		put(o, &p);
	}
}

void mk_uc(struct mk_out *o)
{
	transport(o, VS_TRANSPORT_UC);
}

void mk_xrc(struct mk_out *o)
{
	transport(o, VS_TRANSPORT_XRC);
}

void mk_rd(struct mk_out *o)
{
	transport(o, VS_TRANSPORT_RD);
}

/*
 * What a Mellanox adapter sends for Dynamically Connected transport, as far as it is publicly known:
 * opcodes of the RD range with headers of their own (vs_opcode_hdrs_dc). Last come 0x55 without and
 * with SE: connect, and not.
 */
void mk_dc(struct mk_out *o)
{
	static const uint8_t opcodes[] = {0x44, 0x46, 0x47, 0x48, 0x4a, 0x4c, 0x50, 0x51, 0x53, 0x52, 0x55, 0x55};

	for (unsigned i = 0; i < sizeof(opcodes); i++) {
		struct vs_pkt p;

		mk_packet(&p, VS_ENCAP_ROCEV2_IPV4, opcodes[i], true);
		p.bth.se = i == sizeof(opcodes) - 1;
		p.hdrs = vs_opcode_hdrs_dc(opcodes[i], p.bth.se);
		put(o, &p);
	}
}

/* A congested path: ECT(0), ECT(1), CE marks, then CNPs with and without BECN, and FECN set on RoCE. */
void mk_ecn(struct mk_out *o)
{
	static const enum vs_encap encaps[] = {VS_ENCAP_ROCEV2_IPV4, VS_ENCAP_ROCEV2_IPV6};

	for (unsigned e = 0; e < 2; e++) {
		struct vs_pkt p;

		for (uint8_t ecn = 0; ecn < 4; ecn++) {
			mk_packet(&p, encaps[e], VS_OP_RC_WRITE_ONLY, true);
			p.bth.psn = 0x000100u + ecn;
			p.ipv4.tos = p.grh.tclass = (uint8_t)(0x68 | ecn); /* DSCP 26 */
			put(o, &p);
		}
		for (unsigned becn = 0; becn < 2; becn++) {
			mk_packet(&p, encaps[e], VS_OP_CNP, true);
			mk_reverse(&p);
			p.ipv4.tos = p.grh.tclass = 0xc2; /* DSCP 48, as ConnectX-4 Lx sends it */
			p.bth.becn = becn;
			put(o, &p);
		}
		mk_packet(&p, encaps[e], VS_OP_RC_SEND_ONLY, true);
		p.bth.fecn = true;
		put(o, &p);
		p.bth.becn = true;
		put(o, &p);
	}
}

/* UDP source ports that other protocols own: the built-in loses those below 4791. */
void mk_ports(struct mk_out *o)
{
	static const uint16_t ports[] = {7,    53,   67,   68,   69,   111,  123,  137,   161,  319,
					 320,  443,  500,  514,  520,  1701, 1812, 2049,  2152, 4500,
					 4789, 4790, 4791, 4792, 5060, 5353, 6081, 49152, 65535};
	static const uint8_t opcodes[] = {VS_OP_RC_SEND_ONLY, VS_OP_RC_ACKNOWLEDGE};

	for (unsigned i = 0; i < sizeof(ports) / sizeof(ports[0]); i++)
		for (unsigned k = 0; k < 2; k++) {
			struct vs_pkt p;

			mk_packet(&p, i & 1 ? VS_ENCAP_ROCEV2_IPV6 : VS_ENCAP_ROCEV2_IPV4, opcodes[k], true);
			p.bth.psn = 0x000200u + i;
			p.udp.sport = ports[i];
			put(o, &p);
		}
}

/* RoCEv2 on a UDP port of somebody's own, for preference rdma.udp.ports and for Decode As. */
void mk_other_port(struct mk_out *o)
{
	static const uint8_t opcodes[] = {VS_OP_RC_SEND_ONLY, VS_OP_RC_ACKNOWLEDGE};

	for (unsigned k = 0; k < 2; k++) {
		struct vs_pkt p;

		mk_packet(&p, VS_ENCAP_ROCEV2_IPV4, opcodes[k], true);
		p.udp.dport = 14791;
		put(o, &p);
	}
}

/* Payloads of 0 to 9 bytes: pad 0 to 3, and Ethernet padding where the frame is under 60 bytes. */
void mk_pads(struct mk_out *o)
{
	static const uint8_t opcodes[] = {VS_OP_RC_SEND_ONLY, VS_OP_RC_WRITE_ONLY, VS_OP_RC_READ_RESPONSE_ONLY,
					  VS_OP_UD_SEND_ONLY_IMM};
	static const uint8_t zero[46];

	for (unsigned i = 0; i < sizeof(opcodes); i++)
		for (uint32_t len = 0; len < 10; len++) {
			struct vs_pkt p;
			struct mk_buf f;

			mk_packet(&p, VS_ENCAP_ROCEV2_IPV4, opcodes[i], true);
			p.bth.psn = len;
			p.ext.reth.dmalen = len;
			mk_payload(&p, len);
			mk_build(&p, &f);
			if (f.len < 60)
				mk_append(&f, zero, 60 - f.len);
			mk_put(o, &f);
		}
}

/* Every AETH syndrome in an Acknowledge. */
void mk_aeth(struct mk_out *o)
{
	for (unsigned syndrome = 0; syndrome < 128; syndrome++) {
		struct vs_pkt p;

		mk_packet(&p, VS_ENCAP_ROCEV2_IPV4, VS_OP_RC_ACKNOWLEDGE, true);
		p.bth.psn = 0x000100u + syndrome;
		p.ext.aeth.syndrome = (uint8_t)syndrome;
		p.ext.aeth.msn = 0xffff00u + syndrome;
		put(o, &p);
	}
}

/* Good ICRCs between bad ones: every bit of the ICRC wrong, one bit of it, one bit of the payload. */
void mk_crc(struct mk_out *o)
{
	static const enum vs_encap encaps[] = {VS_ENCAP_ROCEV2_IPV4, VS_ENCAP_ROCEV2_IPV6, VS_ENCAP_ROCEV1};

	for (unsigned e = 0; e < 3; e++)
		for (unsigned kind = 0; kind < 5; kind++) {
			struct vs_pkt p;
			struct mk_buf f;

			mk_packet(&p, encaps[e], VS_OP_RC_WRITE_ONLY, true);
			p.bth.psn = 0x000100u + kind;
			mk_build(&p, &f);
			if (kind == 1)
				for (unsigned i = 1; i <= 4; i++)
					f.b[f.len - i] ^= 0xff;
			else if (kind == 2)
				f.b[f.len - 1] ^= 0x80;
			else if (kind == 3)
				f.b[f.len - 9] ^= 0x01;
			mk_put(o, &f);
		}
}

/*
 * SENDs that the stock heuristics like to claim without any evidence: shorter than they read, all
 * zeros, and words that look like the start of RPC-over-RDMA, NVMe, SMB Direct or SMC headers.
 */
void mk_short_sends(struct mk_out *o)
{
	static const uint8_t zero[64], one[64] = {0, 0, 0, 0, 0, 0, 0, 1};
	static const uint8_t smc[] = "\xe2\xd4\xc3\xd9";
	const struct {
		const uint8_t *bytes;
		uint32_t len;
	} bait[] = {{zero, 64}, {zero, 28}, {zero, 20}, {one, 64}, {smc, 4}};

	for (uint32_t len = 0; len < 40; len++) {
		struct vs_pkt p;

		mk_packet(&p, VS_ENCAP_ROCEV2_IPV4, VS_OP_RC_SEND_ONLY, true);
		p.bth.psn = len;
		mk_payload(&p, len);
		put(o, &p);
	}
	for (unsigned i = 0; i < sizeof(bait) / sizeof(bait[0]); i++) {
		struct vs_pkt p;

		mk_packet(&p, VS_ENCAP_ROCEV2_IPV4, i & 1 ? VS_OP_RC_WRITE_ONLY : VS_OP_RC_SEND_ONLY, true);
		p.bth.psn = 0x000100u + i;
		p.payload = bait[i].bytes;
		p.payload_len = p.ext.reth.dmalen = bait[i].len;
		put(o, &p);
	}
}
