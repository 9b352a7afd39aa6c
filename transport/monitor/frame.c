/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* frame.c - the frames of a capture through the monitor: CRCs are checked, super-packets taken apart. */
#include "vs/icrc.h"
#include "vs/monitor.h"
#include "vs/offload.h"

struct feed {
	struct vs_monitor *m;
	const struct vs_mon_frame *f;
	vs_mon_each *each;
	void *ctx;
	unsigned n;
};

static void feed(struct feed *d, const struct vs_pkt *p, enum vs_crc_status icrc, enum vs_crc_status vcrc,
		 bool offloaded)
{
	const struct vs_mon_packet in = {.frame = d->f->number,
					 .time_ns = d->f->time_ns,
					 .vantage = d->f->vantage,
					 .pkt = p,
					 .icrc = icrc,
					 .vcrc = vcrc,
					 .offloaded = offloaded};
	struct vs_mon_result out;

	d->n++;
	vs_monitor_packet(d->m, &in, &out);
	if (d->each != NULL)
		d->each(d->ctx, &in, &out);
}

/* The packets of a super-packet, of which the first has `len` bytes. */
static void feed_super(struct feed *d, const struct vs_pkt *p, const struct vs_offload *o, uint32_t len)
{
	struct vs_pkt seg;

	for (uint32_t k = 0, off = 0; off < o->caplen; k++, off += len) {
		enum vs_crc_status icrc = VS_CRC_UNVERIFIED;

		len = vs_offload_next(o, off, len);
		if (vs_offload_packet(o, p, k, off, len, 0, &seg) != VS_OK)
			continue;
		if (seg.flags & VS_PKT_HAS_ICRC)
			icrc = vs_offload_icrc(o, k, off, seg.end_off, seg.icrc, NULL);
		feed(d, &seg, icrc, VS_CRC_UNVERIFIED, true);
	}
}

static bool is_native(const struct vs_pkt *p)
{
	return p->encap == VS_ENCAP_IB || p->encap == VS_ENCAP_IB_GRH || p->encap == VS_ENCAP_IB_RAW;
}

unsigned vs_monitor_frame(struct vs_monitor *m, const struct vs_mon_frame *f, const struct vs_pkt *p, vs_mon_each *each,
			  void *ctx)
{
	enum vs_crc_status icrc = VS_CRC_UNVERIFIED, vcrc = VS_CRC_UNVERIFIED;
	struct feed d = {m, f, each, ctx, 0};
	struct vs_offload o;
	uint32_t len;

	if (is_native(p))
		vcrc = vs_vcrc_check(p, f->data, NULL);
	if (p->flags & VS_PKT_HAS_BTH)
		icrc = vs_icrc_check(p, f->data, NULL);
	if (icrc == VS_CRC_GOOD || !(p->flags & VS_PKT_HAS_BTH) ||
	    !vs_offload_of(p, f->data, f->caplen, f->wirelen, &o)) {
		feed(&d, p, icrc, vcrc, false);
		return d.n;
	}
	len = vs_offload_first(&o);
	if (len > 0) {
		feed_super(&d, p, &o, len);
	} else if (p->flags & VS_PKT_HAS_ICRC && vs_offload_lengths_zero(&o)) {
		/* a mismatch proves nothing while lengths are still to be filled in */
		icrc = vs_offload_icrc(&o, 0, 0, p->end_off - p->bth_off, p->icrc, NULL);
		feed(&d, p, icrc == VS_CRC_GOOD ? VS_CRC_GOOD : VS_CRC_UNVERIFIED, vcrc, true);
	} else {
		feed(&d, p, icrc, vcrc, false);
	}
	return d.n;
}
