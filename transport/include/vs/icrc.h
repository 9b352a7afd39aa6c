/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * icrc.h - the two CRCs that protect an InfiniBand packet.
 *
 * ICRC: CRC-32 (0x04C11DB7 reflected, all-ones preset, complemented, low byte first) over the
 * packet with the fields that routers may change replaced by ones:
 *   native IB without GRH   LRH with VL = 1111
 *   native IB with GRH      8 bytes of ones for the LRH; GRH TClass, FlowLabel, HopLmt
 *   RoCEv1                  the same
 *   RoCEv2/IPv4             8 bytes of ones; TOS, TTL, header checksum; UDP checksum
 *   RoCEv2/IPv6             8 bytes of ones; Traffic Class, Flow Label, Hop Limit; UDP checksum
 *   all                     BTH byte 4 (FECN, BECN, Resv6)
 * It ends with the last pad byte. Ethernet and VLAN headers are never covered.
 *
 * VCRC: CRC-16 x^16+x^12+x^3+x+1 (0x100B; reflected 0xD008), all-ones preset, complemented, low
 * byte first, over LRH .. ICRC as they stand on this link. Native IB only.
 */
#ifndef VS_ICRC_H
#define VS_ICRC_H

#include <stddef.h>
#include <stdint.h>

#include "vs/wire.h"

#define VS_ICRC_PREFIX_MAX 128 /* most bytes that may stand before the BTH (IPv4 with options: 68) */

/*
 * ICRC of a packet whose bytes are contiguous: `net` is the first byte of LRH, GRH or IP header (by
 * `encap`), the BTH begins at net + bth_off, `len` bytes run from `net` to the last byte before the
 * ICRC. Needs bth_off + 5 <= len, bth_off <= VS_ICRC_PREFIX_MAX and room for the headers that `encap`
 * names (IPv4: IHL decides, at least 28 bytes before the BTH); false is returned otherwise, or for an
 * encap without ICRC. The UDP checksum is taken to stand right before the BTH.
 */
bool vs_icrc_bytes(enum vs_encap encap, const uint8_t *net, size_t bth_off, size_t len, uint32_t *icrc);

/*
 * The same for a single segment of a UDP segmentation-offload super-packet: as if the IPv4 total
 * length / IPv6 payload length and the UDP length were those of a datagram with `seg_len` bytes
 * after the UDP header (ICRC included), and the IPv4 ID were `ip_id`. `hdr`..`hdr_len` is IP header +
 * UDP header; `seg` is the segment, BTH first. Linux numbers the segments of one send id, id + 1, ...
 * False for other encapsulations, or when a length is impossible.
 */
bool vs_icrc_segment(enum vs_encap encap, const uint8_t *hdr, size_t hdr_len, uint16_t ip_id, const uint8_t *seg,
		     size_t seg_len, uint32_t *icrc);

/*
 * IPv4 ID and ICRC. The ICRC of a RoCEv2/IPv4 packet with ID `id` is that of the same packet with ID 0, XOR
 * vs_icrc_id_delta(vs_icrc_id_factor(len), id), where `len` counts the bytes from the IP header up to the ICRC.
 */
uint32_t vs_icrc_id_factor(size_t len);
uint32_t vs_icrc_id_delta(uint32_t factor, uint16_t id);
/*
 * The ID that a packet must have had whose ICRC differs by `difference` from the one it would have with ID 0. False:
 * no ID explains it. One damaged packet in 2^16 finds an ID.
 */
bool vs_icrc_id_solve(uint32_t factor, uint32_t difference, uint16_t *id);

/*
 * Compares the ICRC that `p` carries with the right one. `buf` is the buffer that `p` was parsed
 * from. Good, Bad, or Unverified when the packet is cut before the end of the ICRC, fragmented, bare
 * or has no ICRC;
 * `expected` (may be NULL) gets the right value when it could be computed.
 */
enum vs_crc_status vs_icrc_check(const struct vs_pkt *p, const uint8_t *buf, uint32_t *expected);

/* VCRC over LRH .. ICRC: `len` bytes. */
uint16_t vs_vcrc_bytes(const uint8_t *lrh, size_t len);

/* As vs_icrc_check, for the VCRC of native IB. */
enum vs_crc_status vs_vcrc_check(const struct vs_pkt *p, const uint8_t *buf, uint16_t *expected);

#endif
