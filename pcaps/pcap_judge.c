/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* pcap_judge.c - the frames of a capture through the monitor: CRCs are checked, super-packets taken apart. */
#include "pcap_check.h"

#include "vs/icrc.h"

static void feed(struct vp_judge *j, const struct vs_frame *f, const struct vs_pkt *p, enum vs_crc_status icrc,
		 enum vs_crc_status vcrc, bool offloaded)
{
	const struct vs_mon_packet in = {.frame = (uint32_t)f->number,
					 .time_ns = f->time_ns,
					 .vantage = j->vantage,
					 .pkt = p,
					 .icrc = icrc,
					 .vcrc = vcrc,
					 .offloaded = offloaded};
	struct vs_mon_result out;

	j->rdma++;
	vs_monitor_packet(j->mon, &in, &out);
	if (j->packet != NULL)
		j->packet(j->ctx, &in, &out);
}

/* The packets of a super-packet, of which the first has `len` bytes. */
static void feed_super(struct vp_judge *j, const struct vs_frame *f, const struct vs_pkt *p, const struct vs_offload *o,
		       uint32_t len)
{
	struct vs_pkt seg;

	j->supers++;
	for (uint32_t k = 0, off = 0; off < o->caplen; k++, off += len) {
		enum vs_crc_status icrc = VS_CRC_UNVERIFIED;

		len = vs_offload_next(o, off, len);
		if (vs_offload_packet(o, p, k, off, len, 0, &seg) != VS_OK)
			continue;
		if (seg.flags & VS_PKT_HAS_ICRC)
			icrc = vs_offload_icrc(o, k, off, seg.end_off, seg.icrc, NULL);
		feed(j, f, &seg, icrc, VS_CRC_UNVERIFIED, true);
	}
}

static bool is_native(const struct vs_pkt *p)
{
	return p->encap == VS_ENCAP_IB || p->encap == VS_ENCAP_IB_GRH || p->encap == VS_ENCAP_IB_RAW;
}

static void judge(struct vp_judge *j, const struct vs_frame *f, const struct vs_pkt *p)
{
	enum vs_crc_status icrc = VS_CRC_UNVERIFIED, vcrc = VS_CRC_UNVERIFIED;
	struct vs_offload o;
	uint32_t len;

	if (is_native(p))
		vcrc = vs_vcrc_check(p, f->data, NULL);
	if (p->flags & VS_PKT_HAS_BTH)
		icrc = vs_icrc_check(p, f->data, NULL);
	if (icrc == VS_CRC_GOOD || !(p->flags & VS_PKT_HAS_BTH)) {
		feed(j, f, p, icrc, vcrc, false);
		return;
	}
	len = vp_super_of(p, f, &o);
	if (len > 0) {
		feed_super(j, f, p, &o, len);
		return;
	}
	if (p->flags & VS_PKT_HAS_ICRC && vs_offload_of(p, f->data, f->caplen, f->wirelen, &o) &&
	    vs_offload_lengths_zero(&o)) {
		/* a mismatch proves nothing while lengths are still to be filled in */
		icrc = vs_offload_icrc(&o, 0, 0, p->end_off - p->bth_off, p->icrc, NULL);
		feed(j, f, p, icrc == VS_CRC_GOOD ? VS_CRC_GOOD : VS_CRC_UNVERIFIED, vcrc, true);
		return;
	}
	feed(j, f, p, icrc, vcrc, false);
}

void vp_judge_frame(struct vp_judge *j, const struct vs_frame *f)
{
	struct vs_pkt p;
	int ret = vs_pkt_parse(&p, f->link, f->ethertype, f->data, f->caplen, f->wirelen, 0);

	if (j->frames == 0 || f->time_ns < j->first_ns)
		j->first_ns = f->time_ns;
	if (j->frames == 0 || f->time_ns > j->last_ns)
		j->last_ns = f->time_ns;
	j->frames++;
	if (ret == VS_ERR_NOT_RDMA) {
		j->other++;
		return;
	}
	j->snapped += (p.flags & VS_PKT_SNAPPED) != 0;
	if (ret != 0) {
		j->broken++;
		return;
	}
	judge(j, f, &p);
}
