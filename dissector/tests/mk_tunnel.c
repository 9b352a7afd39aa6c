/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mk_tunnel.c - RoCE inside VXLAN, GENEVE, GRE and MPLS, and behind VLAN tags. The ICRC covers the inner
 * IP header and nothing outside of it, so a verifier has to walk back from the UDP payload.
 */
#include <string.h>

#include "mk.h"

#define ETHERTYPE_TEB 0x6558 /* transparent Ethernet bridging */
#define ETHERTYPE_MPLS 0x8847

static const uint8_t opcodes[] = {VS_OP_RC_WRITE_ONLY, VS_OP_RC_ACKNOWLEDGE, VS_OP_UD_SEND_ONLY_IMM};
#define OPCODES (sizeof(opcodes))

static const enum vs_encap encaps[] = {VS_ENCAP_ROCEV2_IPV4, VS_ENCAP_ROCEV2_IPV6, VS_ENCAP_ROCEV1};
static const uint16_t ethertypes[] = {0x0800, 0x86dd, 0x8915};

/* The inner packet: encapsulation number `e`, opcode number `k`, with or without its Ethernet header. */
static void inner(struct mk_buf *f, unsigned e, unsigned k, bool ethernet)
{
	struct vs_pkt p;

	mk_packet(&p, encaps[e], opcodes[k], ethernet);
	mk_build(&p, f);
}

/* Outer IP and Ethernet around a tunnel protocol that runs over `proto`. */
static void outer(struct mk_out *o, struct mk_buf *f, bool v6, uint8_t proto)
{
	mk_wrap_ip(f, v6, proto);
	mk_wrap_eth(f, v6 ? 0x86dd : 0x0800);
	mk_put(o, f);
}

/* One VLAN tag, QinQ (0x88a8 + 0x8100) and two 0x8100 tags, in front of each encapsulation. */
void mk_vlan(struct mk_out *o)
{
	for (unsigned tags = 0; tags < 3; tags++)
		for (unsigned e = 0; e < 3; e++)
			for (unsigned k = 0; k < OPCODES; k++) {
				struct vs_pkt p;
				struct mk_buf f;

				mk_packet(&p, encaps[e], opcodes[k], true);
				p.eth.vlan_count = tags == 0 ? 1 : 2;
				p.eth.vlan[0] = (struct vs_vlan){tags == 1 ? 0x88a8 : 0x8100, 0x6064};
				p.eth.vlan[1] = (struct vs_vlan){0x8100, 0x2007};
				mk_build(&p, &f);
				mk_put(o, &f);
			}
}

void mk_vxlan(struct mk_out *o)
{
	static const uint8_t vxlan[8] = {0x08, 0, 0, 0, 0, 0x12, 0x34, 0};

	for (unsigned v6 = 0; v6 < 2; v6++)
		for (unsigned e = 0; e < 3; e++)
			for (unsigned k = 0; k < OPCODES; k++) {
				struct mk_buf f;

				inner(&f, e, k, true);
				mk_prepend(&f, vxlan, sizeof(vxlan));
				mk_wrap_udp(&f, 51000, 4789);
				outer(o, &f, v6, 17);
			}
}

/* Without and with an option (8 bytes of class 0x0103). */
void mk_geneve(struct mk_out *o)
{
	static const uint8_t plain[8] = {0x00, 0, 0x65, 0x58, 0, 0x12, 0x34, 0};
	static const uint8_t option[16] = {0x02, 0, 0x65, 0x58, 0, 0x12, 0x34, 0, 0x01, 0x03, 0x01, 0x01, 1, 2, 3, 4};

	for (unsigned v6 = 0; v6 < 2; v6++)
		for (unsigned e = 0; e < 3; e++)
			for (unsigned k = 0; k < OPCODES; k++) {
				struct mk_buf f;

				inner(&f, e, k, true);
				mk_prepend(&f, k & 1 ? option : plain, k & 1 ? sizeof(option) : sizeof(plain));
				mk_wrap_udp(&f, 51001, 6081);
				outer(o, &f, v6, 17);
			}
}

/* IP in GRE (plain and with a key), then Ethernet in GRE. */
void mk_gre(struct mk_out *o)
{
	for (unsigned v6 = 0; v6 < 2; v6++)
		for (unsigned e = 0; e < 3; e++)
			for (unsigned k = 0; k < OPCODES; k++)
				for (unsigned teb = encaps[e] == VS_ENCAP_ROCEV1; teb < 2; teb++) {
					uint8_t gre[8] = {(k & 1) ? 0x20 : 0, 0, 0, 0, 0xca, 0xfe, 0, 1};
					struct mk_buf f;

					inner(&f, e, k, teb);
					mk_be16(gre + 2, teb ? ETHERTYPE_TEB : ethertypes[e]);
					mk_prepend(&f, gre, k & 1 ? 8 : 4);
					outer(o, &f, v6, 47);
				}
}

/* One and two labels in front of IP; Ethernet in a pseudowire has no ethertype and is left to its users. */
void mk_mpls(struct mk_out *o)
{
	static const uint8_t one[4] = {0, 0x3e, 0x81, 64};
	static const uint8_t two[8] = {0, 0x3e, 0x80, 64, 0, 0x3e, 0x91, 64};

	for (unsigned e = 0; e < 2; e++)
		for (unsigned k = 0; k < OPCODES; k++) {
			struct mk_buf f;

			inner(&f, e, k, false);
			mk_prepend(&f, k & 1 ? two : one, k & 1 ? sizeof(two) : sizeof(one));
			mk_wrap_eth(&f, ETHERTYPE_MPLS);
			mk_put(o, &f);
		}
}
