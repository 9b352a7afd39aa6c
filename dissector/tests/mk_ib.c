/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mk_ib.c - native InfiniBand in ERF: local and global, raw ethertype and raw IPv6, bad CRCs, snap lengths. */
#include <string.h>

#include "mk.h"

static void put(struct mk_out *o, struct vs_pkt *p)
{
	struct mk_buf f;

	mk_build(p, &f);
	mk_put(o, &f);
}

/* The same packet again and again, cut at every byte. */
static void put_cut(struct mk_out *o, struct vs_pkt *p)
{
	struct mk_buf f;

	mk_build(p, &f);
	for (size_t cap = 1; cap <= f.len; cap++)
		mk_put_cut(o, &f, cap);
}

/* A raw packet: LNH 0 (RWH with `etype`) or LNH 1 (IPv6); it has a VCRC and no ICRC. */
static void raw(struct mk_out *o, bool ipv6, uint16_t etype, const struct mk_buf *body,
		void (*write)(struct mk_out *, struct vs_pkt *))
{
	struct vs_pkt p;

	vs_pkt_init(&p, VS_ENCAP_IB_RAW, 0, false);
	p.lrh.lnh = ipv6 ? VS_LNH_IPV6 : VS_LNH_RAW;
	p.lrh.slid = mk_a.lid;
	p.lrh.dlid = mk_b.lid;
	p.rwh.etype = etype;
	if (ipv6)
		p.flags &= ~(uint32_t)VS_PKT_HAS_RWH;
	p.payload = body->b;
	p.payload_len = (uint32_t)body->len;
	write(o, &p);
}

static void raw_packets(struct mk_out *o)
{
	static const uint8_t arp[28] = {0,   1, 8, 0, 6, 4, 0, 1, 2, 0, 0,   0, 0, 1,
					192, 0, 2, 1, 0, 0, 0, 0, 0, 0, 192, 0, 2, 2};
	struct mk_buf f = {0};

	mk_append(&f, arp, sizeof(arp));
	raw(o, false, 0x0806, &f, put);
	f.len = 0;
	mk_append(&f, "raw datagram", 12);
	mk_wrap_udp(&f, 40000, 40001);
	mk_wrap_ip(&f, false, 17);
	raw(o, false, 0x0800, &f, put);
	f.len = 0;
	mk_append(&f, "raw datagram", 12);
	mk_wrap_udp(&f, 40000, 40001);
	mk_wrap_ip(&f, true, 17);
	raw(o, true, 0, &f, put);
}

/* IPoIB: 4 bytes (ethertype, reserved) and an IPv4 datagram in a UD SEND Only, with and without GRH. */
static void ipoib(struct mk_out *o, enum vs_encap encap)
{
	static const uint8_t ipv4[4] = {0x08, 0x00, 0, 0};
	struct mk_buf body = {0};
	struct vs_pkt p;

	mk_append(&body, "over InfiniBand!", 16);
	mk_wrap_udp(&body, 40000, 40001);
	mk_wrap_ip(&body, false, 17);
	mk_prepend(&body, ipv4, 4);
	mk_packet(&p, encap, VS_OP_UD_SEND_ONLY, false);
	p.ext.deth.qkey = 0x00000b1b;
	p.bth.ackreq = false;
	p.payload = body.b;
	p.payload_len = (uint32_t)body.len;
	put(o, &p);
}

void mk_ib(struct mk_out *o)
{
	static const enum vs_encap encaps[] = {VS_ENCAP_IB, VS_ENCAP_IB_GRH};
	static const uint8_t opcodes[] = {VS_OP_RC_SEND_FIRST,   VS_OP_RC_SEND_LAST,          VS_OP_RC_ACKNOWLEDGE,
					  VS_OP_RC_READ_REQUEST, VS_OP_RC_READ_RESPONSE_ONLY, VS_OP_UD_SEND_ONLY};

	for (unsigned e = 0; e < 2; e++) {
		for (unsigned i = 0; i < sizeof(opcodes); i++) {
			struct vs_pkt p;

			mk_packet(&p, encaps[e], opcodes[i], false);
			p.bth.psn = 0x7ffffe + i;
			p.lrh.vl = (uint8_t)(3 + i);
			p.lrh.sl = 5;
			p.bth.fecn = i == 1;
			p.bth.becn = i == 2;
			put(o, &p);
		}
		ipoib(o, encaps[e]);
	}
	raw_packets(o);
}

/* By turns: both CRCs good, ICRC bad and VCRC right over it, VCRC bad alone, both bad. */
void mk_ib_crc(struct mk_out *o)
{
	static const enum vs_encap encaps[] = {VS_ENCAP_IB, VS_ENCAP_IB_GRH};

	for (unsigned e = 0; e < 2; e++)
		for (unsigned kind = 0; kind < 4; kind++) {
			struct vs_pkt p;
			struct mk_buf f;

			mk_packet(&p, encaps[e], VS_OP_RC_WRITE_ONLY, false);
			p.bth.psn = 0x000100u + kind;
			mk_build(&p, &f);
			if (kind & 1) {
				p.icrc ^= 0x00010000;
				mk_build_keep(&p, VS_SEAL_ICRC, &f);
			}
			if (kind & 2)
				f.b[f.len - 1] ^= 0x01;
			mk_put(o, &f);
		}
}

void mk_ib_snap(struct mk_out *o)
{
	static const enum vs_encap encaps[] = {VS_ENCAP_IB, VS_ENCAP_IB_GRH};

	for (unsigned e = 0; e < 2; e++) {
		struct vs_pkt p;

		mk_packet(&p, encaps[e], VS_OP_RC_WRITE_ONLY_IMM, false);
		put_cut(o, &p);
	}
	/* RoCEv2 in raw packets: what is cut inside is cut for it, too */
	for (unsigned e = 0; e < 2; e++) {
		struct vs_pkt p;
		struct mk_buf f;

		mk_packet(&p, e ? VS_ENCAP_ROCEV2_IPV6 : VS_ENCAP_ROCEV2_IPV4, VS_OP_RC_SEND_ONLY, false);
		mk_build(&p, &f);
		raw(o, e, 0x0800, &f, put_cut);
	}
}
