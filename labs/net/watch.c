/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * watch.c - frames, as they leave senders and as they reach hosts: what was sent again, who was marked, CNPs and the
 * times between them, and the capture.
 */
#include <string.h>

#include "internal.h"
#include "vs/opcode.h"
#include "vs/psn.h"

#define CE 3u

/* Frames of a host to the capture: those that reached it, from the first marked one or, of nobody who marks, NAK on. */
static void keep(struct net *net, uint64_t now_ns, bool begins, const uint8_t *frame, size_t len)
{
	struct vs_io_error err;

	net->capture_on |= begins;
	if (net->capture == NULL || !net->capture_on || net->captured == net->config->capture_packets)
		return;
	net->captured++;
	(void)vs_writer_put(net->capture, (int64_t)now_ns, frame, (uint32_t)len, (uint32_t)len, &err);
}

static bool is_nak(const struct vs_pkt *p)
{
	return p->bth.opcode == VS_OP_RC_ACKNOWLEDGE && vs_aeth_type(p->ext.aeth.syndrome) == VS_AETH_NAK;
}

static void data_sent(struct net *net, unsigned i, const struct vs_pkt *p)
{
	struct net_flow *r = &net->result->flow[i];
	struct net_stream *f = &net->flow[i];

	r->packets++;
	r->sport = p->udp.sport;
	if (f->any_psn && vs_psn_le(p->bth.psn, f->newest_psn))
		r->again++;
	else
		f->newest_psn = p->bth.psn;
	f->any_psn = true;
}

static void cnp_came(struct net *net, unsigned i, uint64_t now_ns, const struct vs_pkt *p)
{
	struct net_flow *r = &net->result->flow[i];
	uint64_t gap = now_ns - net->flow[i].last_cnp_ns;

	r->cnps++;
	r->cnp_opcode = p->bth.opcode;
	if (r->cnps == 1)
		r->cnp_ns = now_ns - net->start;
	else if (r->cnp_gap_ns == 0 || gap < r->cnp_gap_ns)
		r->cnp_gap_ns = gap;
	net->flow[i].last_cnp_ns = now_ns;
}

static void marked_came(struct net *net, uint64_t now_ns, const struct vs_pkt *p)
{
	for (unsigned i = 0; i < net->config->senders; i++) {
		struct net_flow *r = &net->result->flow[i];

		if (vs_qp_num(net->flow[i].there) == p->bth.destqp && r->marked_ns == 0)
			r->marked_ns = now_ns - net->start;
	}
}

static void tap(void *ctx, uint64_t now_ns, int node, enum vs_tap_where where, enum vs_link link, const uint8_t *frame,
		size_t len)
{
	struct net *net = ctx;
	unsigned i = 0;
	bool is_marked;
	struct vs_pkt p;

	while (i < net->config->senders && net->host[i].node != node)
		i++;
	if (where == VS_TAP_LOST || (where == VS_TAP_SENT && i == net->config->senders) ||
	    vs_pkt_parse(&p, link, 0, frame, len, len, 0) != VS_OK)
		return;
	is_marked = (p.ipv4.tos & CE) == CE;
	if (where == VS_TAP_SENT) {
		data_sent(net, i, &p);
		return;
	}
	keep(net, now_ns, is_marked || (net->config->cc == NULL && is_nak(&p)), frame, len);
	if (is_marked && i == net->config->senders)
		marked_came(net, now_ns, &p);
	else if (p.bth.opcode == VS_OP_CNP && i < net->config->senders)
		cnp_came(net, i, now_ns, &p);
}

int net_watch(struct net *net)
{
	const struct net_config *c = net->config;
	struct vs_io_error err;

	if (c->capture != NULL) {
		net->capture = vs_writer_open(c->capture, VS_WRITER_ETHERNET, &err);
		if (net->capture == NULL)
			return net_fail(err.text);
	}
	vs_sim_set_tap(net->sim, tap, net);
	return 0;
}

int net_watched(struct net *net)
{
	struct vs_io_error err;

	if (net->capture == NULL || vs_writer_close(net->capture, &err) == VS_OK)
		return 0;
	return net_fail(err.text);
}
