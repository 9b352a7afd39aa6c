/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mk.h - what the files of the capture generator share.
 *
 *   mkcaptures.c  the table of captures, main()
 *   mk_util.c     bytes, packets, wrappers (tunnels, IP, Ethernet), output
 *   mk_roce.c     opcodes, ports, ECN, pads, snap lengths, fragments, segmentation offload
 *   mk_tunnel.c   RoCE inside VXLAN, GENEVE, GRE, MPLS, QinQ and others; tunnels in fragments, mirrored packets
 *   mk_ib.c       native InfiniBand: local, global, raw, subnet management
 *   mk_mad.c      every CM message, and MADs of other classes
 *   mk_rules.c    one packet per broken rule
 *
 * Every capture has the same bytes on every run: addresses, times and payloads come from constants.
 * The generator shares libvs-wire with the plugin; what keeps the two honest are Wireshark's built-in
 * dissector and the recorded captures of rxe, which run.sh compares with.
 */
#ifndef MK_H
#define MK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vs/icrc.h"
#include "vs/psn.h"
#include "vs/wire.h"

#define MK_MAX 66000 /* the largest frame: a segmentation-offload super-packet in Ethernet */

struct mk_buf {
	size_t len;
	uint8_t b[MK_MAX];
};

/* The link types of the captures. */
enum mk_link { MK_ETHERNET, MK_RAW_IP, MK_SLL, MK_SLL2, MK_ERF };

struct mk_out; /* a capture that is being written */

/* One of the two ends of every exchange. */
struct mk_end {
	uint8_t mac[6], ip4[4], ip6[16];
	uint16_t lid;
	uint32_t qpn;
};
extern const struct mk_end mk_a, mk_b;

/* ---- output: any failure ends the program with one line ---- */

struct mk_out *mk_open(const char *path, enum mk_link link);
void mk_close(struct mk_out *o);
void mk_put(struct mk_out *o, const struct mk_buf *f);
/* Cut to `caplen` bytes by a snap length. */
void mk_put_cut(struct mk_out *o, const struct mk_buf *f, size_t caplen);
/* Prints one line and exits 1. */
_Noreturn void mk_die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* ---- packets ---- */

/*
 * A legal packet of `opcode` from mk_a to mk_b, or back when the opcode is a response. Header fields
 * and payload have values that show a shifted or swapped field; the PSN is the caller's.
 */
void mk_packet(struct vs_pkt *p, enum vs_encap encap, uint8_t opcode, bool ethernet);
/* Payload of `len` bytes out of a constant pattern (len <= MK_PAYLOAD_MAX). */
#define MK_PAYLOAD_MAX 4200
void mk_payload(struct vs_pkt *p, uint32_t len);
/* Swaps the two ends of `p`, at every layer that it has. */
void mk_reverse(struct vs_pkt *p);
/* Seals all but what `keep` (set of enum vs_seal) names, and builds into `f`. */
void mk_build_keep(struct vs_pkt *p, unsigned keep, struct mk_buf *f);
void mk_build(struct vs_pkt *p, struct mk_buf *f);

/* ---- wrappers: each puts a header in front of what is in `f` ---- */

void mk_prepend(struct mk_buf *f, const void *hdr, size_t len);
void mk_append(struct mk_buf *f, const void *bytes, size_t len);
void mk_cut_front(struct mk_buf *f, size_t len);
void mk_wrap_eth(struct mk_buf *f, uint16_t ethertype);
void mk_wrap_ip(struct mk_buf *f, bool v6, uint8_t proto);
/* UDP with a checksum of 0. */
void mk_wrap_udp(struct mk_buf *f, uint16_t sport, uint16_t dport);

/*
 * Cuts the IP datagram in `whole` (Ethernet) into fragments of `step` bytes (a multiple of 8), all of IP ID `id`
 * in the low byte, and puts at most `max` of them. mk_ip.c has it.
 */
void mk_put_fragments(struct mk_out *o, const struct mk_buf *whole, bool v6, size_t step, unsigned max, uint8_t id);

static inline void mk_be16(uint8_t *at, unsigned v)
{
	at[0] = (uint8_t)(v >> 8);
	at[1] = (uint8_t)v;
}

static inline void mk_be32(uint8_t *at, uint32_t v)
{
	mk_be16(at, v >> 16);
	mk_be16(at + 2, v & 0xffff);
}

/* ---- the captures: mkcaptures.c has them in one table ---- */

void mk_opcodes_roce(struct mk_out *o);
void mk_opcodes_ib(struct mk_out *o);
void mk_rocev1(struct mk_out *o);
void mk_uc(struct mk_out *o);
void mk_xrc(struct mk_out *o);
void mk_rd(struct mk_out *o);
void mk_dc(struct mk_out *o);
void mk_ecn(struct mk_out *o);
void mk_ports(struct mk_out *o);
void mk_other_port(struct mk_out *o);
void mk_pads(struct mk_out *o);
void mk_aeth(struct mk_out *o);
void mk_crc(struct mk_out *o);
void mk_snap(struct mk_out *o);
void mk_fragments(struct mk_out *o);
void mk_gso(struct mk_out *o);
void mk_ip_options(struct mk_out *o);
void mk_foreign(struct mk_out *o);
void mk_ipv6_extension(struct mk_out *o);
void mk_icmp(struct mk_out *o);
void mk_cooked(struct mk_out *o);
void mk_cooked2(struct mk_out *o);
void mk_rawip(struct mk_out *o);
void mk_short_sends(struct mk_out *o);

void mk_vlan(struct mk_out *o);
void mk_vxlan(struct mk_out *o);
void mk_geneve(struct mk_out *o);
void mk_gre(struct mk_out *o);
void mk_mpls(struct mk_out *o);
void mk_tunnels(struct mk_out *o);
void mk_tunnel_fragments(struct mk_out *o);
void mk_mirror(struct mk_out *o);

void mk_ib(struct mk_out *o);
void mk_ib_crc(struct mk_out *o);
void mk_ib_snap(struct mk_out *o);
void mk_ib_mad(struct mk_out *o);

void mk_cm(struct mk_out *o);

void mk_rules_roce(struct mk_out *o);
void mk_rules_ib(struct mk_out *o);
/*
 * Prints "capture frame reason_id..." for both, or rows of a Markdown table with the sentence; exits 1
 * when a reason of reasons.def has no case.
 */
void mk_rules_list(bool markdown);

#endif
