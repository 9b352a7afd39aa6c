/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * offload.c - segmentation-offload super-packets (vs/offload.h) in terms of tvbuffs and preferences.
 */
#include "rdma.h"

#include "vs/offload.h"

/* The captured bytes of `tvb` as what a UDP header is followed by. */
static struct vs_offload offload_of(tvbuff_t *tvb, const struct rdma_net *net)
{
	struct vs_offload o = {
		.encap = VS_ENCAP_ROCEV2_IPV4, .caplen = tvb_captured_length(tvb), .len = tvb_reported_length(tvb)};

	o.data = tvb_get_ptr(tvb, 0, (int)o.caplen);
	if (net != NULL && net->ip != NULL && rdma_crc_icrc_wanted()) {
		o.encap = net->encap;
		o.net = net->ip;
		o.net_len = net->len;
	}
	return o;
}

uint32_t rdma_offload_segment_len(const struct rdma_ctx *c, const struct rdma_net *net)
{
	struct vs_offload o;

	if (c->start != RDMA_START_BTH || c->icrc.status == VS_CRC_GOOD || !(c->pkt.flags & VS_PKT_HAS_BTH) ||
	    (c->pkt.flags & VS_PKT_FRAGMENT) || c->pinfo->flags.in_error_pkt)
		return 0;
	o = offload_of(c->tvb, net);
	return vs_offload_first(&o);
}

uint32_t rdma_offload_next(tvbuff_t *tvb, uint32_t off, uint32_t len)
{
	struct vs_offload o = offload_of(tvb, NULL);

	return vs_offload_next(&o, off, len);
}

uint32_t rdma_offload_count(tvbuff_t *tvb, uint32_t len)
{
	struct vs_offload o = offload_of(tvb, NULL);

	return vs_offload_count(&o, len);
}

bool rdma_offload_packet(tvbuff_t *tvb, const struct rdma_net *net, const struct vs_pkt *whole, uint32_t k,
			 uint32_t off, uint32_t len, unsigned opt, struct vs_pkt *seg)
{
	struct vs_offload o = offload_of(tvb, net);

	return vs_offload_packet(&o, whole, k, off, len, opt, seg) == VS_OK;
}

void rdma_offload_check(struct rdma_ctx *seg, const struct rdma_net *net, uint32_t k)
{
	struct vs_offload o = offload_of(seg->tvb, net);

	seg->icrc.status = VS_CRC_UNVERIFIED;
	if (seg->pkt.flags & VS_PKT_HAS_ICRC)
		seg->icrc.status = vs_offload_icrc(&o, k, 0, o.caplen, seg->pkt.icrc, &seg->icrc.expected);
	if (seg->icrc.status == VS_CRC_UNVERIFIED)
		seg->icrc.reason =
			seg->pkt.flags & VS_PKT_SNAPPED ? "truncated capture" : "segmentation-offload super-packet";
}
