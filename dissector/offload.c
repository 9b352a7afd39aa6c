/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * offload.c - segmentation-offload super-packets.
 *
 * A sender that uses UDP_SEGMENT (or hardware that does the like) hands the stack one datagram with
 * many RoCE packets, all of one size but the last; on loopback, and at the sender's own interface, a
 * capture shows it whole. Each packet in it has its own ICRC, computed for the datagram that it
 * becomes: with its own lengths and, for IPv4, the ID counted up.
 *
 * Such a datagram is believed to be one when it does not verify as a single packet and another BTH of
 * the same flow stands where the first packet ends: it has the PSN that follows, or the first packet
 * verifies when it ends there. All packets but the last have that size; should another one of the flow
 * begin elsewhere, it is found by the PSN that follows.
 */
#include "rdma.h"

#include "vs/psn.h"

#define BTH_LEN 12u
#define SEG_MIN 16u                           /* BTH and ICRC */
#define SEG_MAX (12u + 4 + 8 + 28 + 4096 + 4) /* more headers than any data packet has, the largest MTU, ICRC */
#define LENGTH_STEP 4u                        /* payload and pad are a multiple of 4 */

static uint32_t get24(const uint8_t *b)
{
	return (uint32_t)b[0] << 16 | (uint32_t)b[1] << 8 | b[2];
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

static uint32_t carried_icrc(const uint8_t *seg, uint32_t len)
{
	const uint8_t *b = seg + len - 4;

	return (uint32_t)b[3] << 24 | (uint32_t)b[2] << 16 | (uint32_t)b[1] << 8 | b[0];
}

static uint16_t ip_id(const struct rdma_net *net)
{
	return net->encap == VS_ENCAP_ROCEV2_IPV4 ? (uint16_t)((unsigned)net->ip[4] << 8 | net->ip[5]) : 0;
}

static bool first_verifies(const uint8_t *b, uint32_t seg_len, const struct rdma_net *net)
{
	uint32_t right;

	return net->ip != NULL && rdma_crc_icrc_wanted() &&
	       vs_icrc_segment(net->encap, net->ip, net->len, ip_id(net), b, seg_len, &right) &&
	       right == carried_icrc(b, seg_len);
}

uint32_t rdma_offload_segment_len(const struct rdma_ctx *c, const struct rdma_net *net)
{
	uint32_t cap = tvb_captured_length(c->tvb), last;
	const uint8_t *b;

	if (c->start != RDMA_START_BTH || c->icrc.status == VS_CRC_GOOD || !(c->pkt.flags & VS_PKT_HAS_BTH) ||
	    (c->pkt.flags & VS_PKT_FRAGMENT) || c->pinfo->flags.in_error_pkt || cap < SEG_MIN + BTH_LEN)
		return 0;
	b = tvb_get_ptr(c->tvb, 0, (int)cap);
	last = MIN(cap - BTH_LEN, SEG_MAX);
	for (uint32_t len = SEG_MIN; len <= last; len += LENGTH_STEP)
		if (same_flow(b, b + len) && (follows(b, b + len) || first_verifies(b, len, net)))
			return len;
	return 0;
}

uint32_t rdma_offload_next(tvbuff_t *tvb, uint32_t off, uint32_t len)
{
	uint32_t rest = tvb_captured_length(tvb) - off, last;
	const uint8_t *b;

	if (rest < SEG_MIN + BTH_LEN)
		return len;
	b = tvb_get_ptr(tvb, (int)off, (int)rest);
	if (len <= rest - BTH_LEN && same_flow(b, b + len))
		return len;
	last = MIN(rest - BTH_LEN, SEG_MAX);
	for (uint32_t other = SEG_MIN; other <= last; other += LENGTH_STEP)
		if (follows(b, b + other))
			return other;
	return rest > len && rest - len < SEG_MIN ? rest : len; /* no room for another one: its headers are longer */
}

uint32_t rdma_offload_count(tvbuff_t *tvb, uint32_t len)
{
	uint32_t cap = tvb_captured_length(tvb), off = 0, count = 0;

	for (; off < cap; off += len, count++)
		len = rdma_offload_next(tvb, off, len);
	if (off < tvb_reported_length(tvb)) /* what the capture doesn't hold */
		count += (tvb_reported_length(tvb) - off + len - 1) / len;
	return count;
}

void rdma_offload_check(struct rdma_ctx *seg, const struct rdma_net *net, uint32_t k)
{
	uint32_t len = tvb_captured_length(seg->tvb), right = 0, again = 0;
	const uint8_t *b = tvb_get_ptr(seg->tvb, 0, (int)len);

	if (!rdma_crc_icrc_wanted() || !(seg->pkt.flags & VS_PKT_HAS_ICRC) || net->ip == NULL ||
	    !vs_icrc_segment(net->encap, net->ip, net->len, (uint16_t)(ip_id(net) + k), b, len, &right)) {
		seg->icrc.status = VS_CRC_UNVERIFIED;
		seg->icrc.reason =
			seg->pkt.flags & VS_PKT_SNAPPED ? "truncated capture" : "segmentation-offload super-packet";
		return;
	}
	seg->icrc.expected = right;
	if (right == seg->pkt.icrc)
		seg->icrc.status = VS_CRC_GOOD;
	else if (vs_icrc_segment(net->encap, net->ip, net->len, ip_id(net), b, len, &again) && again == seg->pkt.icrc)
		seg->icrc = (struct rdma_crc){VS_CRC_GOOD, again, NULL}; /* an ID that hardware leaves alone */
	else
		seg->icrc.status = VS_CRC_BAD;
}
