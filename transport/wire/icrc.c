/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * icrc.c - the invariant CRC, in every encapsulation (the masks are listed in icrc.h).
 *
 * The headers up to BTH byte 4 are copied into a small buffer, masked there and fed to the CRC; the
 * rest of the packet is fed where it stands. The eight bytes of ones that stand in for the LRH are
 * never fed: their effect is the seed.
 */
#include "vs/icrc.h"

#include <libdeflate.h>
#include <string.h>

#include "bytes.h"

/* The running CRC after eight bytes 0xff, as libdeflate takes it (the complement of 0xdebb20e3). */
#define SEED_LRH_ONES 0x2144df1cu

#define BTH_MASKED 5 /* bytes of the BTH that go through the buffer: FECN, BECN and Resv6 are in the fifth */

/* IPv4: TOS, TTL, header checksum; UDP checksum. */
static bool mask_ipv4(uint8_t *b, size_t bth_off)
{
	size_t ip_len = (size_t)(b[0] & 0x0f) * 4;

	if (bth_off < 28 || ip_len < 20 || bth_off < ip_len + 8)
		return false;
	b[1] = 0xff;
	b[8] = 0xff;
	b[10] = b[11] = 0xff;
	b[bth_off - 2] = b[bth_off - 1] = 0xff;
	return true;
}

/* GRH and IPv6: traffic class, flow label, hop limit. */
static void mask_grh(uint8_t *b)
{
	b[0] |= 0x0f;
	b[1] = b[2] = b[3] = 0xff;
	b[7] = 0xff;
}

/* Masks the network header in `b` (bth_off bytes). Skips what the seed stands for: *skip bytes. */
static bool mask_net(enum vs_encap encap, uint8_t *b, size_t bth_off, size_t *skip, uint32_t *seed)
{
	*skip = 0;
	*seed = SEED_LRH_ONES;
	switch (encap) {
	case VS_ENCAP_IB:
		*seed = 0;
		b[0] |= 0xf0;
		return bth_off == 8;
	case VS_ENCAP_IB_GRH:
		*skip = 8;
		mask_grh(b + 8);
		return bth_off == 48;
	case VS_ENCAP_ROCEV1:
		mask_grh(b);
		return bth_off == 40;
	case VS_ENCAP_ROCEV2_IPV4:
		return mask_ipv4(b, bth_off);
	case VS_ENCAP_ROCEV2_IPV6:
		if (bth_off < 48)
			return false;
		mask_grh(b);
		b[bth_off - 2] = b[bth_off - 1] = 0xff;
		return true;
	case VS_ENCAP_BARE:
	case VS_ENCAP_IB_RAW:
		break;
	}
	return false;
}

bool vs_icrc_bytes(enum vs_encap encap, const uint8_t *net, size_t bth_off, size_t len, uint32_t *icrc)
{
	uint8_t b[VS_ICRC_PREFIX_MAX + BTH_MASKED] = {0};
	size_t n = bth_off + BTH_MASKED, skip;
	uint32_t crc;

	if (bth_off > VS_ICRC_PREFIX_MAX || n > len)
		return false;
	memcpy(b, net, n);
	if (!mask_net(encap, b, bth_off, &skip, &crc))
		return false;
	b[bth_off + 4] = 0xff;
	crc = libdeflate_crc32(crc, b + skip, n - skip);
	*icrc = libdeflate_crc32(crc, net + n, len - n);
	return true;
}

bool vs_icrc_segment(enum vs_encap encap, const uint8_t *hdr, size_t hdr_len, uint16_t ip_id, const uint8_t *seg,
		     size_t seg_len, uint32_t *icrc)
{
	uint8_t b[VS_ICRC_PREFIX_MAX + BTH_MASKED] = {0};
	size_t skip;
	uint32_t crc;

	if (hdr_len > VS_ICRC_PREFIX_MAX || seg_len < BTH_MASKED + 4 || hdr_len + seg_len > UINT16_MAX)
		return false;
	memcpy(b, hdr, hdr_len);
	memcpy(b + hdr_len, seg, BTH_MASKED);
	if ((encap != VS_ENCAP_ROCEV2_IPV4 && encap != VS_ENCAP_ROCEV2_IPV6) ||
	    !mask_net(encap, b, hdr_len, &skip, &crc))
		return false;
	if (encap == VS_ENCAP_ROCEV2_IPV4) {
		put16(b + 2, (uint32_t)(hdr_len + seg_len));
		put16(b + 4, ip_id);
	} else {
		put16(b + 4, (uint32_t)(hdr_len - 40 + seg_len));
	}
	put16(b + hdr_len - 4, (uint32_t)(8 + seg_len));
	b[hdr_len + 4] = 0xff;
	crc = libdeflate_crc32(crc, b, hdr_len + BTH_MASKED);
	*icrc = libdeflate_crc32(crc, seg + BTH_MASKED, seg_len - BTH_MASKED - 4);
	return true;
}

enum vs_crc_status vs_icrc_check(const struct vs_pkt *p, const uint8_t *buf, uint32_t *expected)
{
	uint32_t right;

	if (!(p->flags & VS_PKT_HAS_ICRC) || (p->flags & VS_PKT_FRAGMENT) || p->bth_off < p->net_off ||
	    p->end_off < p->net_off + 4)
		return VS_CRC_UNVERIFIED;
	if (!vs_icrc_bytes(p->encap, buf + p->net_off, p->bth_off - p->net_off, p->end_off - 4 - p->net_off, &right))
		return VS_CRC_UNVERIFIED;
	if (expected != NULL)
		*expected = right;
	return right == p->icrc ? VS_CRC_GOOD : VS_CRC_BAD;
}
