/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mk_ip.c - what IP and the capture do to RoCE: snap lengths, fragments, segmentation offload, options. */
#include <string.h>

#include "mk.h"

#define ETH 14

/* One packet of each encapsulation with a header of its own, cut at every length. */
void mk_snap(struct mk_out *o)
{
	static const struct {
		enum vs_encap encap;
		uint8_t opcode;
	} what[] = {
		{VS_ENCAP_ROCEV2_IPV4, VS_OP_RC_WRITE_ONLY_IMM}, {VS_ENCAP_ROCEV2_IPV6, VS_OP_RC_ATOMIC_ACKNOWLEDGE},
		{VS_ENCAP_ROCEV1, VS_OP_UD_SEND_ONLY},           {VS_ENCAP_ROCEV2_IPV4, VS_OP_RC_COMPARE_SWAP},
		{VS_ENCAP_ROCEV2_IPV4, VS_OP_XRC_WRITE_ONLY},    {VS_ENCAP_ROCEV2_IPV4, VS_OP_RC_FLUSH},
	};

	for (unsigned i = 0; i < sizeof(what) / sizeof(what[0]); i++) {
		struct vs_pkt p;
		struct mk_buf f;

		mk_packet(&p, what[i].encap, what[i].opcode, true);
		mk_build(&p, &f);
		for (size_t cap = 1; cap <= f.len; cap++)
			mk_put_cut(o, &f, cap);
	}
}

static void set_ip4_csum(uint8_t *ip)
{
	uint32_t sum = 0;
	size_t len = (size_t)(ip[0] & 15) * 4;

	ip[10] = ip[11] = 0;
	for (size_t i = 0; i < len; i += 2)
		sum += (uint32_t)(ip[i] << 8 | ip[i + 1]);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	mk_be16(ip + 10, ~sum & 0xffff);
}

/*
 * Cuts the IP datagram in `whole` (Ethernet) into fragments of `step` bytes (a multiple of 8) and puts
 * at most `max` of them.
 */
static void fragment4(struct mk_out *o, const struct mk_buf *whole, size_t step, unsigned max)
{
	const size_t data = whole->len - ETH - 20;

	for (size_t off = 0; off < data && max-- > 0; off += step) {
		size_t n = data - off < step ? data - off : step;
		struct mk_buf f;

		memcpy(f.b, whole->b, ETH + 20);
		memcpy(f.b + ETH + 20, whole->b + ETH + 20 + off, n);
		f.len = ETH + 20 + n;
		mk_be16(f.b + ETH + 2, (unsigned)(20 + n));
		mk_be16(f.b + ETH + 6, (unsigned)(off / 8) | (off + n < data ? 0x2000u : 0));
		set_ip4_csum(f.b + ETH);
		mk_put(o, &f);
	}
}

static void fragment6(struct mk_out *o, const struct mk_buf *whole, size_t step, unsigned max, uint8_t id)
{
	const size_t data = whole->len - ETH - 40;

	for (size_t off = 0; off < data && max-- > 0; off += step) {
		size_t n = data - off < step ? data - off : step;
		uint8_t ext[8] = {17, 0, 0, 0, 0, 0, 0xbe, id};
		struct mk_buf f;

		mk_be16(ext + 2, (unsigned)off | (off + n < data ? 1u : 0));
		memcpy(f.b, whole->b, ETH + 40);
		f.b[ETH + 6] = 44;
		mk_be16(f.b + ETH + 4, (unsigned)(8 + n));
		memcpy(f.b + ETH + 40, ext, 8);
		memcpy(f.b + ETH + 48, whole->b + ETH + 40 + off, n);
		f.len = ETH + 48 + n;
		mk_put(o, &f);
	}
}

void mk_put_fragments(struct mk_out *o, const struct mk_buf *whole, bool v6, size_t step, unsigned max, uint8_t id)
{
	struct mk_buf f = *whole;

	if (v6) {
		fragment6(o, &f, step, max, id);
	} else {
		f.b[ETH + 5] = id;
		fragment4(o, &f, step, max);
	}
}

/* A WRITE cut into three IP fragments, then a first fragment whose rest never comes; IPv4 and IPv6. */
void mk_fragments(struct mk_out *o)
{
	for (unsigned v6 = 0; v6 < 2; v6++)
		for (unsigned lone = 0; lone < 2; lone++) {
			struct vs_pkt p;
			struct mk_buf f;

			mk_packet(&p, v6 ? VS_ENCAP_ROCEV2_IPV6 : VS_ENCAP_ROCEV2_IPV4, VS_OP_RC_WRITE_ONLY, true);
			mk_payload(&p, 600);
			p.ext.reth.dmalen = 600;
			p.ipv4.frag = 0;
			p.ipv4.id = (uint16_t)(0x4000 + lone);
			p.bth.psn = vs_psn_add(p.bth.psn, (int32_t)lone);
			mk_build(&p, &f);
			if (v6)
				fragment6(o, &f, 264, lone ? 1 : 3, (uint8_t)lone);
			else
				fragment4(o, &f, 264, lone ? 1 : 3);
		}
}

/* Appends packet `p` to the super-packet `f`, which has one IP and UDP header in front. */
static void add_segment(struct mk_buf *f, struct vs_pkt *p, size_t hdr)
{
	struct mk_buf seg;

	mk_build(p, &seg);
	if (f->len == 0)
		mk_append(f, seg.b, seg.len);
	else
		mk_append(f, seg.b + hdr, seg.len - hdr);
}

/*
 * What a capture on loopback or veth shows of a sender that uses UDP segmentation offload: one IP and
 * UDP header, then the datagrams' payloads back to back, all but the last of the same size. On the
 * wire the kernel gives the k-th datagram the IP ID id + k, and that is what its ICRC covers. A First
 * packet is longer than a Middle by its RETH, so the offload starts at the second packet of a message.
 * `kind`: SAME_ID, as hardware may do it; READ, which no kernel puts together: First and Last are longer.
 * `bad`: number of the segment whose ICRC is wrong, or -1.
 */
enum super_kind { WRITE, SAME_ID, READ };

static uint8_t super_opcode(enum super_kind kind, bool first, bool last)
{
	if (kind == READ)
		return first  ? VS_OP_RC_READ_RESPONSE_FIRST
		       : last ? VS_OP_RC_READ_RESPONSE_LAST
			      : VS_OP_RC_READ_RESPONSE_MIDDLE;
	return last ? VS_OP_RC_WRITE_LAST : VS_OP_RC_WRITE_MIDDLE;
}

static void super_build(struct mk_buf *f, bool v6, enum super_kind kind, unsigned segments, uint32_t payload,
			uint32_t last, uint16_t id, int bad)
{
	const size_t hdr = ETH + (v6 ? 40u : 20u) + 8;

	f->len = 0;
	for (unsigned k = 0; k < segments; k++) {
		const bool at_end = k == segments - 1;
		struct vs_pkt p;

		mk_packet(&p, v6 ? VS_ENCAP_ROCEV2_IPV6 : VS_ENCAP_ROCEV2_IPV4, super_opcode(kind, k == 0, at_end),
			  true);
		mk_payload(&p, at_end ? last : payload);
		p.bth.psn = 0x000300u + k;
		p.bth.ackreq = at_end && kind != READ;
		p.ipv4.id = (uint16_t)(kind == SAME_ID ? id : id + k);
		add_segment(f, &p, hdr);
		if ((int)k == bad)
			f->b[f->len - 2] ^= 0x10;
	}
	mk_be16(f->b + hdr - 4, (unsigned)(f->len - hdr + 8));
	if (v6) {
		mk_be16(f->b + ETH + 4, (unsigned)(f->len - ETH - 40));
	} else {
		mk_be16(f->b + ETH + 2, (unsigned)(f->len - ETH));
		set_ip4_csum(f->b + ETH);
	}
}

static void super_packet(struct mk_out *o, bool v6, enum super_kind kind, unsigned segments, uint32_t payload,
			 uint32_t last, uint16_t id, int bad)
{
	struct mk_buf f;

	super_build(&f, v6, kind, segments, payload, last, id, bad);
	mk_put(o, &f);
}

/* The IP length left to the network card, of one packet and of a super-packet. */
static void length_zero(struct mk_out *o)
{
	struct vs_pkt p;
	struct mk_buf f;

	mk_packet(&p, VS_ENCAP_ROCEV2_IPV4, VS_OP_RC_WRITE_ONLY, true);
	mk_build(&p, &f);
	mk_be16(f.b + ETH + 2, 0);
	set_ip4_csum(f.b + ETH);
	mk_put(o, &f);
	super_build(&f, false, WRITE, 3, 256, 256, 0x6000, -1);
	mk_be16(f.b + ETH + 2, 0);
	set_ip4_csum(f.b + ETH);
	mk_put(o, &f);
}

/*
 * Super-packets of 2 to 16 segments, IP IDs that wrap, a short last segment, bad ICRCs, an IP length of 0, one that the
 * snap length cut in its third segment.
 */
void mk_gso(struct mk_out *o)
{
	struct mk_buf f;

	for (unsigned v6 = 0; v6 < 2; v6++) {
		super_packet(o, v6, WRITE, 2, 256, 256, 0x1000, -1);
		super_packet(o, v6, WRITE, 3, 1024, 45, 0xfffe, -1);
		super_packet(o, v6, WRITE, 16, 1024, 1024, 0x2000, -1);
		super_packet(o, v6, WRITE, 5, 256, 1, 0, -1);
		super_packet(o, v6, WRITE, 4, 512, 512, 0x3000, 2);
	}
	super_packet(o, false, SAME_ID, 3, 256, 256, 0x4000, -1);
	super_packet(o, false, READ, 4, 256, 256, 0x5000, -1);
	super_packet(o, true, READ, 4, 512, 9, 0, 0);
	length_zero(o);
	super_build(&f, false, WRITE, 4, 256, 256, 0x7000, -1);
	for (unsigned k = 0; k < 2; k++)
		f.b[ETH + 28 + k * 272 + 20] ^= 1; /* payload of the first two */
	mk_put_cut(o, &f, ETH + 28 + 2 * 272 + 100);
}

/* Options: an IPv4 header with a router alert (IHL 6); the ICRC covers it, RoCEv2 forbids it. */
void mk_ip_options(struct mk_out *o)
{
	static const uint8_t alert[4] = {0x94, 0x04, 0, 0};
	static const uint8_t opcodes[] = {VS_OP_RC_WRITE_ONLY, VS_OP_RC_ACKNOWLEDGE, VS_OP_UD_SEND_ONLY};

	for (unsigned i = 0; i < sizeof(opcodes); i++) {
		struct vs_pkt p;
		struct mk_buf f;

		mk_packet(&p, VS_ENCAP_ROCEV2_IPV4, opcodes[i], true);
		p.ipv4.ihl = 6;
		memcpy(p.ipv4.options, alert, sizeof(alert));
		mk_build(&p, &f);
		mk_put(o, &f);
	}
}

/* Not RDMA at all: DNS of a client whose ephemeral port happens to be 4791, question and answer. */
void mk_foreign(struct mk_out *o)
{
	static const uint8_t question[] = "\x1a\x2b\1\0\0\1\0\0\0\0\0\0\7example\3com\0\0\1\0\1";
	static const uint8_t answer[16] = {0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0x0e, 0x10, 0, 4, 192, 0, 2, 80};

	for (unsigned reply = 0; reply < 2; reply++) {
		struct mk_buf f = {0};

		mk_append(&f, question, sizeof(question) - 1);
		if (reply) {
			f.b[2] = 0x81;
			f.b[3] = 0x80;
			f.b[7] = 1;
			mk_append(&f, answer, sizeof(answer));
		}
		mk_wrap_udp(&f, reply ? 53 : VS_UDP_PORT_ROCE, reply ? VS_UDP_PORT_ROCE : 53);
		mk_wrap_ip(&f, false, 17);
		mk_wrap_eth(&f, 0x0800);
		mk_put(o, &f);
	}
}

/* An IPv6 header with a hop-by-hop extension (two PadN of nothing) between it and UDP. */
void mk_ipv6_extension(struct mk_out *o)
{
	static const uint8_t hop_by_hop[8] = {17, 0, 1, 4, 0, 0, 0, 0};
	struct vs_pkt p;
	struct mk_buf f;

	mk_packet(&p, VS_ENCAP_ROCEV2_IPV6, VS_OP_RC_WRITE_ONLY, true);
	mk_build(&p, &f);
	f.b[ETH + 6] = 0; /* hop-by-hop comes first */
	mk_be16(f.b + ETH + 4, (unsigned)(f.len - ETH - 40 + sizeof(hop_by_hop)));
	memmove(f.b + ETH + 48, f.b + ETH + 40, f.len - ETH - 40);
	memcpy(f.b + ETH + 40, hop_by_hop, sizeof(hop_by_hop));
	f.len += sizeof(hop_by_hop);
	mk_put(o, &f);
}

/*
 * Port unreachable and fragmentation needed: ICMP quotes the beginning of a RoCEv2 packet, all of it, or all of it
 * after somebody changed it on the way.
 */
void mk_icmp(struct mk_out *o)
{
	for (unsigned v6 = 0; v6 < 2; v6++)
		for (unsigned quoted = 0; quoted < 4; quoted++) {
			const size_t ip = v6 ? 40 : 20;
			uint8_t icmp[8] = {v6 ? 1 : 3, v6 ? 4 : 3};
			struct vs_pkt p;
			struct mk_buf f;

			mk_packet(&p, v6 ? VS_ENCAP_ROCEV2_IPV6 : VS_ENCAP_ROCEV2_IPV4, VS_OP_RC_WRITE_ONLY, false);
			mk_build(&p, &f);
			if (quoted == 0)
				f.len = ip + 8; /* all that RFC 792 asks for: no BTH at all */
			else if (quoted == 1)
				f.len = ip + 8 + 20;
			else if (quoted == 3)
				f.b[f.len - 6] ^= 1;
			mk_prepend(&f, icmp, sizeof(icmp));
			mk_wrap_ip(&f, v6, v6 ? 58 : 1);
			mk_wrap_eth(&f, v6 ? 0x86dd : 0x0800);
			mk_put(o, &f);
		}
}

/* Frames of the "any" device: the same packets behind a cooked header. `sll2` has a header of 20 bytes. */
static void cooked(struct mk_out *o, bool sll2)
{
	static const enum vs_encap encaps[] = {VS_ENCAP_ROCEV2_IPV4, VS_ENCAP_ROCEV2_IPV6, VS_ENCAP_ROCEV1};
	static const uint16_t ethertype[] = {0x0800, 0x86dd, 0x8915};

	for (unsigned e = 0; e < 3; e++)
		for (unsigned k = 0; k < 2; k++) {
			uint8_t h[20] = {0};
			struct vs_pkt p;
			struct mk_buf f;

			mk_packet(&p, encaps[e], k ? VS_OP_RC_ACKNOWLEDGE : VS_OP_RC_WRITE_ONLY, false);
			mk_build(&p, &f);
			if (sll2) {
				mk_be16(h, ethertype[e]);
				mk_be32(h + 4, 2); /* interface index */
				mk_be16(h + 8, 1); /* ARPHRD_ETHER */
				h[10] = k ? 0 : 4; /* to us, from us */
				h[11] = 6;
				memcpy(h + 12, mk_a.mac, 6);
			} else {
				mk_be16(h, k ? 0 : 4);
				mk_be16(h + 2, 1);
				mk_be16(h + 4, 6);
				memcpy(h + 6, mk_a.mac, 6);
				mk_be16(h + 14, ethertype[e]);
			}
			mk_prepend(&f, h, sll2 ? 20 : 16);
			mk_put(o, &f);
		}
}

void mk_cooked(struct mk_out *o)
{
	cooked(o, false);
}

void mk_cooked2(struct mk_out *o)
{
	cooked(o, true);
}

void mk_rawip(struct mk_out *o)
{
	static const uint8_t opcodes[] = {VS_OP_RC_SEND_FIRST, VS_OP_RC_SEND_LAST, VS_OP_RC_ACKNOWLEDGE, VS_OP_CNP};

	for (unsigned v6 = 0; v6 < 2; v6++)
		for (unsigned i = 0; i < sizeof(opcodes); i++) {
			struct vs_pkt p;
			struct mk_buf f;

			mk_packet(&p, v6 ? VS_ENCAP_ROCEV2_IPV6 : VS_ENCAP_ROCEV2_IPV4, opcodes[i], false);
			mk_build(&p, &f);
			mk_put(o, &f);
		}
}
