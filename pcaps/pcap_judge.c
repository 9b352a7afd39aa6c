/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* pcap_judge.c - the frames of a capture through the monitor, counted. */
#include "pcap_check.h"

static void on_packet(void *ctx, const struct vs_mon_packet *in, const struct vs_mon_result *out)
{
	struct vp_judge *j = ctx;

	j->rdma++;
	if (j->packet != NULL)
		j->packet(j->ctx, in, out);
}

void vp_judge_frame(struct vp_judge *j, const struct vs_frame *f)
{
	const struct vs_mon_frame frame = {.number = (uint32_t)f->number,
					   .time_ns = f->time_ns,
					   .vantage = j->vantage,
					   .data = f->data,
					   .caplen = f->caplen,
					   .wirelen = f->wirelen};
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
	j->supers += vs_monitor_frame(j->mon, &frame, &p, on_packet, j) > 1;
}
