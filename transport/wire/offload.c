/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * offload.c - super-packets of UDP segmentation offload, taken apart (offload.h).
 *
 * All packets but the last have the size of the first; should another one of the flow begin elsewhere, it is
 * found by the PSN that follows.
 */
#include "vs/offload.h"

#include <string.h>

#include "bytes.h"
#include "vs/icrc.h"
#include "vs/psn.h"

#define BTH_LEN 12u
#define UDP_LEN 8u
#define IPV6_LEN 40u
#define SEG_MIN 16u                           /* BTH and ICRC */
#define SEG_MAX (12u + 4 + 8 + 28 + 4096 + 4) /* more headers than any data packet has, the largest MTU, ICRC */
#define LENGTH_STEP 4u                        /* payload and pad are a multiple of 4 */

bool vs_offload_of(const struct vs_pkt *p, const uint8_t *buf, size_t caplen, size_t wirelen, struct vs_offload *o)
{
	/* Behind what a snap length cut nothing else can stand. */
	const size_t beyond = p->flags & VS_PKT_SNAPPED ? 0 : p->trailer_len;

	if ((p->encap != VS_ENCAP_ROCEV2_IPV4 && p->encap != VS_ENCAP_ROCEV2_IPV6) || !(p->flags & VS_PKT_HAS_BTH) ||
	    (p->flags & VS_PKT_FRAGMENT))
		return false;
	*o = (struct vs_offload){
		.encap = p->encap,
		.net = buf + p->net_off,
		.net_len = p->bth_off - p->net_off,
		.data = buf + p->bth_off,
		.caplen = (uint32_t)(caplen - p->bth_off - beyond),
		.len = (uint32_t)(wirelen - p->bth_off - beyond),
	};
	return true;
}

bool vs_offload_lengths_zero(const struct vs_offload *o)
{
	return o->net != NULL &&
	       (get16(o->net + (o->encap == VS_ENCAP_ROCEV2_IPV4 ? 2 : 4)) == 0 || get16(o->net + o->net_len - 4) == 0);
}

/* Two BTHs of one flow: transport, TVer, P_Key and destination QP are the same. */
static bool same_flow(const uint8_t *a, const uint8_t *b)
{
	return memcmp(a + 5, b + 5, 3) == 0 && a[0] >> 5 == b[0] >> 5 && memcmp(a + 2, b + 2, 2) == 0 &&
	       ((a[1] ^ b[1]) & 0x0f) == 0;
}

static bool follows(const uint8_t *a, const uint8_t *b)
{
	return same_flow(a, b) && get24(b + 9) == vs_psn_add(get24(a + 9), 1);
}

static uint16_t ip_id(const struct vs_offload *o)
{
	return o->encap == VS_ENCAP_ROCEV2_IPV4 ? get16(o->net + 4) : 0;
}

static bool first_verifies(const struct vs_offload *o, uint32_t len)
{
	return vs_offload_icrc(o, 0, 0, len, get32le(o->data + len - 4), NULL) == VS_CRC_GOOD;
}

uint32_t vs_offload_first(const struct vs_offload *o)
{
	uint32_t last;

	if (o->caplen < SEG_MIN + BTH_LEN)
		return 0;
	last = o->caplen - BTH_LEN < SEG_MAX ? o->caplen - BTH_LEN : SEG_MAX;
	for (uint32_t len = SEG_MIN; len <= last; len += LENGTH_STEP)
		if (same_flow(o->data, o->data + len) && (follows(o->data, o->data + len) || first_verifies(o, len)))
			return len;
	return 0;
}

uint32_t vs_offload_next(const struct vs_offload *o, uint32_t off, uint32_t len)
{
	const uint8_t *b = o->data + off;
	uint32_t rest = o->caplen - off, last;

	if (rest < SEG_MIN + BTH_LEN || (len <= rest - BTH_LEN && same_flow(b, b + len)))
		return len;
	last = rest - BTH_LEN < SEG_MAX ? rest - BTH_LEN : SEG_MAX;
	for (uint32_t other = SEG_MIN; other <= last; other += LENGTH_STEP)
		if (follows(b, b + other))
			return other;
	return rest > len && rest - len < SEG_MIN ? rest : len; /* no room for another one: its headers are longer */
}

uint32_t vs_offload_count(const struct vs_offload *o, uint32_t len)
{
	uint32_t off = 0, count = 0;

	for (; off < o->caplen; off += len, count++)
		len = vs_offload_next(o, off, len);
	if (off < o->len) /* what the capture doesn't hold */
		count += (o->len - off + len - 1) / len;
	return count;
}

enum vs_crc_status vs_offload_icrc(const struct vs_offload *o, uint32_t k, uint32_t off, uint32_t len, uint32_t carried,
				   uint32_t *expected)
{
	uint32_t right, again;

	if (o->net == NULL || len > o->caplen - off ||
	    !vs_icrc_segment(o->encap, o->net, o->net_len, (uint16_t)(ip_id(o) + k), o->data + off, len, &right))
		return VS_CRC_UNVERIFIED;
	if (expected != NULL)
		*expected = right;
	if (right == carried)
		return VS_CRC_GOOD;
	if (k == 0 || !vs_icrc_segment(o->encap, o->net, o->net_len, ip_id(o), o->data + off, len, &again) ||
	    again != carried)
		return VS_CRC_BAD;
	if (expected != NULL) /* an ID that hardware leaves alone */
		*expected = again;
	return VS_CRC_GOOD;
}

int vs_offload_packet(const struct vs_offload *o, const struct vs_pkt *whole, uint32_t k, uint32_t off, uint32_t len,
		      unsigned opt, struct vs_pkt *seg)
{
	const uint32_t caplen = o->caplen - off < len ? o->caplen - off : len;
	const uint32_t wirelen = o->len - off < len ? o->len - off : len;
	int err = vs_pkt_parse(seg, VS_LINK_BTH, 0, o->data + off, caplen, wirelen, opt);

	if (err != VS_OK)
		return err;
	seg->encap = whole->encap;
	seg->eth = whole->eth;
	seg->flags |= whole->flags & VS_PKT_HAS_ETH;
	seg->grh = whole->grh;
	seg->ipv4 = whole->ipv4;
	seg->udp = whole->udp;
	seg->udp.len = (uint16_t)(UDP_LEN + wirelen);
	seg->ipv4.total_len = (uint16_t)(o->net_len + wirelen);
	seg->ipv4.id = (uint16_t)(whole->ipv4.id + k);
	if (o->encap == VS_ENCAP_ROCEV2_IPV6)
		seg->grh.paylen = (uint16_t)(o->net_len - IPV6_LEN + wirelen);
	return VS_OK;
}
