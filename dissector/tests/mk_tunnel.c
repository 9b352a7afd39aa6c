/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mk_tunnel.c - RoCE inside VXLAN, GENEVE, GRE, MPLS and others, and behind VLAN tags. The ICRC covers the inner
 * IP header and nothing outside of it, so a verifier has to walk back from the UDP payload. And what tunnels do to
 * it: the outer packet in fragments, mirrored packets that are cut.
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

/* One byte of version, protocol and the like each: PPPoE, VXLAN-GPE with IP and with Ethernet, IP in IP, GTP-U. */
void mk_tunnels(struct mk_out *o)
{
	for (unsigned e = 0; e < 2; e++) {
		const uint8_t gpe_ip[8] = {0x0c, 0, 0, e ? 2 : 1, 0, 0x12, 0x34, 0};
		static const uint8_t gpe_eth[8] = {0x0c, 0, 0, 3, 0, 0x12, 0x34, 0};
		uint8_t pppoe[8] = {0x11, 0, 0, 1, 0, 0, 0, e ? 0x57 : 0x21}, gtp[8] = {0x30, 0xff, 0, 0, 0, 0, 0, 1};
		struct mk_buf f;

		inner(&f, e, 0, false);
		mk_be16(pppoe + 4, (unsigned)f.len + 2);
		mk_prepend(&f, pppoe, sizeof(pppoe));
		mk_wrap_eth(&f, 0x8864);
		mk_put(o, &f);
		inner(&f, e, 0, false);
		mk_prepend(&f, gpe_ip, sizeof(gpe_ip));
		mk_wrap_udp(&f, 51002, 4790);
		outer(o, &f, false, 17);
		inner(&f, e, 0, true);
		mk_prepend(&f, gpe_eth, sizeof(gpe_eth));
		mk_wrap_udp(&f, 51002, 4790);
		outer(o, &f, true, 17);
		inner(&f, e, 0, false);
		outer(o, &f, false, e ? 41 : 4);
		inner(&f, e, 0, false);
		mk_be16(gtp + 2, (unsigned)f.len);
		mk_prepend(&f, gtp, sizeof(gtp));
		mk_wrap_udp(&f, 2152, 2152);
		outer(o, &f, false, 17);
	}
}

/*
 * VXLAN (and, without it, GRE) whose outer IP packet is in two fragments, then a first fragment whose rest never
 * comes. The first one ends inside the payload of the inner packet.
 */
void mk_tunnel_fragments(struct mk_out *o)
{
	static const uint8_t vxlan[8] = {0x08, 0, 0, 0, 0, 0x12, 0x34, 0};

	for (unsigned v6 = 0; v6 < 2; v6++)
		for (unsigned e = 0; e < 3; e++)
			for (unsigned lone = 0; lone < 2; lone++) {
				const bool gre = e == 0 && v6 == 0;
				const uint8_t ip_in_gre[4] = {0, 0, 0x08, 0};
				struct mk_buf f;

				inner(&f, e, 2, !gre);
				mk_prepend(&f, gre ? ip_in_gre : vxlan, gre ? sizeof(ip_in_gre) : sizeof(vxlan));
				if (!gre)
					mk_wrap_udp(&f, 51003, 4789);
				mk_wrap_ip(&f, v6, gre ? 47 : 17);
				mk_wrap_eth(&f, v6 ? 0x86dd : 0x0800);
				mk_put_fragments(o, &f, v6, 112, lone ? 1 : 2, (uint8_t)(0x80 + e * 2 + lone));
			}
}

static void mirrored(struct mk_out *o, struct mk_buf *f)
{
	static const uint8_t gre[8] = {0x10, 0, 0x88, 0xbe, 0, 0, 0, 1};
	static const uint8_t erspan[8] = {0x10, 0x64, 0, 0x07, 0, 0, 0, 0};

	mk_prepend(f, erspan, sizeof(erspan));
	mk_prepend(f, gre, sizeof(gre));
	outer(o, f, false, 47);
}

/*
 * What a switch mirrors in ERSPAN type II: whole packets, then their first bytes alone. Nothing but the lengths in
 * their headers tells that bytes are missing. At last the same without ERSPAN: a capture that forgot the real length.
 */
void mk_mirror(struct mk_out *o)
{
	static const unsigned cuts[] = {46, 60, 72, 98, 104}; /* in BTH, RETH, payload, pad, ICRC of RoCEv2 over IPv4 */
	static const unsigned longer[] = {0, 20, 12};         /* network headers than those */
	struct mk_buf f;

	for (unsigned e = 0; e < 3; e++) {
		inner(&f, e, 0, true);
		mirrored(o, &f);
		for (unsigned i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
			inner(&f, e, 0, true);
			f.len = cuts[i] + longer[e];
			mirrored(o, &f);
		}
		inner(&f, e, 0, true);
		f.len -= 17;
		mk_put(o, &f);
	}
	inner(&f, 2, 0, true);
	f.len = 34; /* in the GRH */
	mirrored(o, &f);
}
