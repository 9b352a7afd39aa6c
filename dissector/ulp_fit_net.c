/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ulp_fit_net.c - header checks of what carries network packets or Fibre Channel over InfiniBand.
 *
 * Layouts: RFC 4391 (IPoIB: ethertype, two reserved bytes), RFC 791, RFC 8200, RFC 826, Mellanox
 * EoIB and FCoIB encapsulation headers. What proves an IPv4 packet is its header checksum and
 * length, an IPv6 packet its version and length, an ARP packet its constants, a Fibre Channel frame
 * its CRC.
 */
#include "ulp_fit.h"

#include <libdeflate.h>

#include "ulp_bytes.h"

/* A network packet in the rest of the bytes; `slack`: bytes may follow it (a frame of Ethernet's minimum size). */
static bool ipv4_fits(const struct ulp_bytes *b, uint32_t off, bool slack)
{
	if (!has(b, off, 20) || b->p[off] >> 4 != 4)
		return false;
	uint32_t head = (b->p[off] & 15u) * 4, total = be16(b->p + off + 2), room = b->len - off, sum = 0;
	if (head < 20 || !has(b, off, head) || total < head)
		return false;
	if (b->whole ? total > room || (!slack && total != room) : total <= room)
		return false;
	for (uint32_t i = 0; i < head; i += 2)
		sum += be16(b->p + off + i);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return sum == 0xffff;
}

static bool ipv6_fits(const struct ulp_bytes *b, uint32_t off, bool slack)
{
	if (!has(b, off, 40) || b->p[off] >> 4 != 6)
		return false;
	uint32_t total = 40u + be16(b->p + off + 4), room = b->len - off;
	if (b->whole ? total > room || (!slack && total != room) : total <= room)
		return false;
	/* the source is no multicast group, and the hop limit let it get here */
	return b->p[off + 8] != 0xff && b->p[off + 7] != 0;
}

static bool arp_fits(const struct ulp_bytes *b, uint32_t off, bool slack)
{
	if (!has(b, off, 8))
		return false;
	uint32_t type = be16(b->p + off), hlen = b->p[off + 4], plen = b->p[off + 5], op = be16(b->p + off + 6);
	uint32_t total = 8 + 2 * (hlen + plen), room = b->len - off;
	if (be16(b->p + off + 2) != 0x0800 || plen != 4 || op == 0 || op > 9)
		return false;
	if (!((type == 32 && hlen == 20) || (type == 1 && hlen == 6)))
		return false;
	return b->whole && (total == room || (slack && total < room));
}

static bool network_fits(const struct ulp_bytes *b, uint16_t ethertype, uint32_t off, bool slack)
{
	switch (ethertype) {
	case 0x0800:
		return ipv4_fits(b, off, slack);
	case 0x86dd:
		return ipv6_fits(b, off, slack);
	case 0x0806: /* ARP */
	case 0x8035: /* RARP */
		return arp_fits(b, off, slack);
	default:
		return false;
	}
}

bool ulp_fit_ether(const struct ulp_bytes *b)
{
	if (!has(b, 0, 4) || be16(b->p + 2) != 0)
		return false;
	return network_fits(b, be16(b->p), 4, false);
}

/* Version 1100b in the high bits, one fragment; then an Ethernet frame without FCS. */
bool ulp_fit_eoib(const struct ulp_bytes *b)
{
	uint32_t off = 4 + 12;

	if (!b->ud || !has(b, 0, 4 + 14) || b->p[0] >> 4 != 0xc)
		return false;
	if ((b->p[1] & 0x3f) != 0) /* a later segment, or more to come: nothing to look at */
		return !b->alone;
	uint16_t ethertype = be16(b->p + off);
	if (ethertype == 0x8100 && has(b, off, 6)) {
		off += 4;
		ethertype = be16(b->p + off);
	}
	return !b->alone || network_fits(b, ethertype, off + 2, b->len <= 4 + 64);
}

static bool fc_delimiter(const uint8_t *codes, uint8_t code)
{
	for (; *codes != 0; codes++)
		if (*codes == code)
			return true;
	return false;
}

/* 16 bytes of header ending with SOF; the FC frame; its CRC; EOF and 3 reserved bytes. */
bool ulp_fit_fcoib(const struct ulp_bytes *b)
{
	static const uint8_t sof[] = {0x28, 0x29, 0x2d, 0x2e, 0x31, 0x35, 0x36, 0x39, 0};
	static const uint8_t eof[] = {0x41, 0x42, 0x44, 0x46, 0x49, 0x4e, 0x4f, 0x50, 0};

	if (!b->ud || b->len < 16 + 24 + 8 || b->cap < b->len || b->p[0] >> 6 != 1)
		return false;
	const uint8_t *crc = b->p + b->len - 8;
	if (!fc_delimiter(sof, b->p[15]) || !fc_delimiter(eof, crc[4]) || be24(crc + 5) != 0)
		return false;
	return !b->alone || libdeflate_crc32(0, b->p + 16, (size_t)(crc - b->p) - 16) == le32(crc);
}
