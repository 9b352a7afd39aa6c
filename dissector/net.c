/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * net.c - what stands in front of our bytes: the IP header of RoCEv2, and whether it promises more of
 * the packet than there is.
 *
 * The ICRC of RoCEv2 covers the IP and UDP headers, which a UDP dissector does not get. They stand
 * in the same data source right before the UDP payload, whatever stands before them (VLAN tags,
 * VXLAN, GENEVE, GRE, MPLS, a cooked header): rdma_net_find walks back and believes what it finds
 * only when version, header length, protocol, addresses and ports all say so.
 *
 * A packet can be cut by others than the capture: a tunnel's IP packet was fragmented, and what Wireshark
 * knows of that ends at the inner IP header; or a switch mirrors the first bytes alone.
 */
#include "rdma.h"

#include <epan/ipproto.h>

#define UDP_LEN 8u
#define IPV4_MIN 20u
#define IPV6_LEN 40u
#define GRH_LEN 40u
#define FRAGMENT_LEN 8u
#define IPV4_MF 0x2000u
#define IPV4_OFFSET 0x1fffu

static const char why_reassembled[] = "reassembled from IP fragments: its IP header never existed as one";
static const char why_no_net[] = "no IP and UDP header found in front of it";
static const char why_ext_headers[] = "IPv6 extension headers";

static uint32_t be16(const uint8_t *b)
{
	return (uint32_t)b[0] << 8 | b[1];
}

/* ---- walking back ---- */

static bool address_is(const address *a, int type, const uint8_t *bytes, int len)
{
	return a->type == type && a->len == len && memcmp(a->data, bytes, (size_t)len) == 0;
}

/* `udp` is followed by our payload: do its ports fit what the UDP dissector saw? */
static bool udp_fits(const uint8_t *udp, const packet_info *pinfo)
{
	return be16(udp) == pinfo->srcport && be16(udp + 2) == pinfo->destport;
}

static bool find_ipv4(const uint8_t *udp, size_t before, const packet_info *pinfo, struct rdma_net *net)
{
	for (size_t len = IPV4_MIN; len <= 60 && len <= before; len += 4) {
		const uint8_t *ip = udp - len;

		if (ip[0] != (0x40 | len / 4) || ip[9] != IP_PROTO_UDP || (be16(ip + 6) & IPV4_OFFSET) != 0)
			continue;
		if (!address_is(&pinfo->net_src, AT_IPv4, ip + 12, 4) ||
		    !address_is(&pinfo->net_dst, AT_IPv4, ip + 16, 4))
			continue;
		net->ip = ip;
		net->len = len + UDP_LEN;
		net->encap = VS_ENCAP_ROCEV2_IPV4;
		net->lengths_zero = be16(ip + 2) == 0 || be16(udp + 4) == 0;
		return true;
	}
	return false;
}

static bool find_ipv6(const uint8_t *udp, size_t before, const packet_info *pinfo, struct rdma_net *net)
{
	const uint8_t *ip = udp - IPV6_LEN;

	if (before < IPV6_LEN || ip[0] >> 4 != 6 || ip[6] != IP_PROTO_UDP ||
	    !address_is(&pinfo->net_src, AT_IPv6, ip + 8, 16) || !address_is(&pinfo->net_dst, AT_IPv6, ip + 24, 16))
		return false;
	net->ip = ip;
	net->len = IPV6_LEN + UDP_LEN;
	net->encap = VS_ENCAP_ROCEV2_IPV6;
	net->lengths_zero = be16(ip + 4) == 0 || be16(udp + 4) == 0;
	return true;
}

/* Why there is no IP header in the `before` bytes of the data source in front of the payload; there is a UDP header. */
static const char *why_not_found(size_t before, const packet_info *pinfo)
{
	if (before == UDP_LEN)
		return why_reassembled; /* the IP payload has become a data source of its own */
	if (pinfo->net_src.type == AT_IPv6)
		return why_ext_headers;
	return why_no_net;
}

void rdma_net_find(tvbuff_t *tvb, const packet_info *pinfo, struct rdma_net *net)
{
	tvbuff_t *source = tvb_get_ds_tvb(tvb);
	int before = tvb_raw_offset(tvb);
	const uint8_t *bytes, *udp;
	bool found;

	memset(net, 0, sizeof(*net));
	net->reason = why_no_net;
	if (source == NULL || before < (int)UDP_LEN || pinfo->ptype != PT_UDP)
		return;
	/* From the start of the data source through our payload: the parser will read on from the IP header. */
	bytes = tvb_get_ptr(source, 0, before + (int)tvb_captured_length(tvb));
	udp = bytes + before - UDP_LEN;
	if (!udp_fits(udp, pinfo))
		return;
	if (pinfo->net_src.type == AT_IPv4)
		found = find_ipv4(udp, (size_t)before - UDP_LEN, pinfo, net);
	else
		found = find_ipv6(udp, (size_t)before - UDP_LEN, pinfo, net);
	net->reason = found ? NULL : why_not_found((size_t)before, pinfo);
}

/* ---- what is missing ---- */

/* Bytes from our first one on that the headers promise, when they agree; 0 when they don't, or say nothing. */
static uint32_t promised(const struct rdma_ctx *c, const struct rdma_net *net)
{
	uint32_t ip, udp;

	if (c->start == RDMA_START_GRH)
		return tvb_captured_length(c->tvb) < 6 ? 0 : GRH_LEN + tvb_get_ntohs(c->tvb, 4); /* PayLen */
	if (net->ip == NULL)
		return 0;
	udp = be16(net->ip + net->len - 4);
	ip = net->encap == VS_ENCAP_ROCEV2_IPV4 ? be16(net->ip + 2) - (uint32_t)(net->len - UDP_LEN)
						: be16(net->ip + 4);
	return ip == udp && udp > UDP_LEN ? udp - UDP_LEN : 0;
}

static bool ipv4_sum_fits(const uint8_t *ip, size_t len)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < len; i += 2)
		sum += be16(ip + i);
	sum = (sum & 0xffff) + (sum >> 16);
	return sum == 0xffff || be16(ip + 10) == 0; /* 0: left to the network card */
}

/* Whether a first fragment of `there` bytes begins at `ip`, with `head` bytes in front of what it carries at most. */
static bool is_fragment4(const uint8_t *ip, size_t head, size_t there)
{
	size_t len = (size_t)(ip[0] & 0x0f) * 4;

	return head >= IPV4_MIN && ip[0] >> 4 == 4 && len >= IPV4_MIN && len <= head && be16(ip + 2) == there &&
	       (be16(ip + 6) & (IPV4_MF | IPV4_OFFSET)) == IPV4_MF && ipv4_sum_fits(ip, len);
}

static bool is_fragment6(const uint8_t *ip, size_t head, size_t there)
{
	size_t at = IPV6_LEN;
	uint8_t next;

	if (head < IPV6_LEN + FRAGMENT_LEN || ip[0] >> 4 != 6 || IPV6_LEN + be16(ip + 4) != there)
		return false;
	next = ip[6];
	while (next == IP_PROTO_HOPOPTS || next == IP_PROTO_ROUTING || next == IP_PROTO_DSTOPTS) {
		next = ip[at];
		at += 8 + (size_t)ip[at + 1] * 8;
		if (at + FRAGMENT_LEN > head)
			return false;
	}
	return next == IP_PROTO_FRAGMENT && (be16(ip + at + 2) & ~6u) == 1; /* offset 0, more to come */
}

/* Whether somewhere in front of us a first fragment begins that ends where our bytes end. */
static bool in_fragment(tvbuff_t *tvb)
{
	tvbuff_t *source = tvb_get_ds_tvb(tvb);
	int before = tvb_raw_offset(tvb);
	size_t end = (size_t)before + tvb_reported_length(tvb);
	const uint8_t *b;

	if (source == NULL || before < (int)IPV4_MIN)
		return false;
	b = tvb_get_ptr(source, 0, before);
	for (size_t at = 0; at + IPV4_MIN <= (size_t)before; at++)
		if (is_fragment4(b + at, (size_t)before - at, end - at) ||
		    is_fragment6(b + at, (size_t)before - at, end - at))
			return true;
	return false;
}

enum rdma_cut rdma_net_cut(const struct rdma_ctx *c, const struct rdma_net *net, uint32_t *wire)
{
	uint32_t there = tvb_reported_length(c->tvb), all = promised(c, net);

	*wire = there;
	if (all <= there)
		return RDMA_CUT_NOT;
	if (in_fragment(c->tvb))
		return RDMA_CUT_FRAGMENT;
	*wire = all;
	return RDMA_CUT_BEFORE;
}
