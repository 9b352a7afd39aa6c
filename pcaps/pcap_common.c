/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* pcap_common.c - CRCs of changed packets. */
#include "pcap_common.h"

#include "vs/icrc.h"

uint32_t vp_icrc_error(const struct vs_pkt *p, const uint8_t *buf)
{
	uint32_t right;

	return vs_icrc_check(p, buf, &right) == VS_CRC_BAD ? p->icrc ^ right : 0;
}

uint32_t vp_super_of(const struct vs_pkt *p, const struct vs_frame *f, struct vs_offload *o)
{
	if (!vs_offload_of(p, f->data, f->caplen, f->wirelen, o) || vs_icrc_check(p, f->data, NULL) == VS_CRC_GOOD)
		return 0;
	return vs_offload_first(o);
}

uint32_t vp_super_icrc_error(const struct vs_offload *o, const struct vs_pkt *seg, uint32_t k, uint32_t off)
{
	uint32_t right;

	if (!(seg->flags & VS_PKT_HAS_ICRC) ||
	    vs_offload_icrc(o, k, off, seg->end_off, seg->icrc, &right) != VS_CRC_BAD)
		return 0;
	return seg->icrc ^ right;
}

int vp_reseal(struct vs_pkt *p, uint32_t icrc_error)
{
	static uint8_t scratch[VP_FRAME_MAX];
	uint32_t snapped = p->flags & VS_PKT_SNAPPED;
	unsigned what = VS_SEAL_CSUM;
	int ret;

	if (!snapped && (p->flags & VS_PKT_HAS_ICRC) && !(p->flags & VS_PKT_FRAGMENT))
		what |= VS_SEAL_ICRC;
	p->flags &= ~(uint32_t)VS_PKT_SNAPPED;
	ret = vs_pkt_seal(p, what, scratch, sizeof(scratch));
	p->flags |= snapped;
	if (ret != 0 || !(what & VS_SEAL_ICRC))
		return ret;
	p->icrc ^= icrc_error;
	return p->flags & VS_PKT_HAS_VCRC ? vs_pkt_seal(p, VS_SEAL_VCRC, scratch, sizeof(scratch)) : 0;
}
