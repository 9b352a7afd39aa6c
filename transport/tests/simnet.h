/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * simnet.h - a simulated network of raw hosts that remember what they get, for the tests of the wire.
 */
#ifndef VS_TESTS_SIMNET_H
#define VS_TESTS_SIMNET_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"
#include "vs/icrc.h"
#include "vs/sim.h"
#include "vs/vst.h"

/* ---- a network of raw hosts that remember what they get ---- */

struct got {
	uint64_t t;
	int host; /* raw host that got it */
	size_t len;
	uint32_t psn;
	struct vs_pkt_meta meta;
	uint8_t frame[VS_FRAME_MAX];
};

struct net {
	struct vs_sim *sim;
	struct vs_event_log log;
	int host[4];
	struct raw {
		struct net *net;
		int number;
	} raw[4];
	struct got got[128];
	unsigned n;
	unsigned sent, received, lost; /* as the tap saw them */
};

static inline void on_frame(void *ctx, uint64_t now_ns, enum vs_link link, const uint8_t *frame, size_t len,
			    const struct vs_pkt_meta *meta)
{
	struct raw *raw = ctx;
	struct net *net = raw->net;
	struct got *g = &net->got[net->n++];
	struct vs_pkt p;

	ck_assert_uint_lt(net->n, 128);
	*g = (struct got){.t = now_ns, .host = raw->number, .len = len, .meta = *meta};
	memcpy(g->frame, frame, len);
	if (vs_pkt_parse(&p, link, 0, frame, len, len, 0) == VS_OK)
		g->psn = p.bth.psn;
}

static inline void on_tap(void *ctx, uint64_t now_ns, int node, enum vs_tap_where where, enum vs_link link,
			  const uint8_t *frame, size_t len)
{
	struct net *net = ctx;

	ck_assert_uint_eq(now_ns, vs_sim_now(net->sim));
	ck_assert(frame != NULL && len > 0 && node >= 0);
	(void)link;
	net->sent += where == VS_TAP_SENT;
	net->received += where == VS_TAP_RECEIVED;
	net->lost += where == VS_TAP_LOST;
}

static inline struct net *net_new(int hosts)
{
	struct net *net = calloc(1, sizeof(*net));
	struct vs_sim_attr a = {.seed = 5};
	int err;

	ck_assert_ptr_nonnull(net);
	vs_event_log_init(&net->log, 0);
	a.sink = vs_event_log_sink(&net->log, VS_LEVEL_EXTRA);
	net->sim = vs_sim_create(&a, &err);
	ck_assert_ptr_nonnull(net->sim);
	vs_sim_set_tap(net->sim, on_tap, net);
	for (int i = 0; i < hosts; i++) {
		char name[2] = {(char)('A' + i), '\0'};

		net->raw[i] = (struct raw){net, i};
		net->host[i] = vs_sim_add_raw(net->sim, name, on_frame, &net->raw[i]);
		ck_assert_int_ge(net->host[i], 0);
	}
	return net;
}

static inline void net_free(struct net *net)
{
	const struct vs_sim_stats *st = vs_sim_stats(net->sim);

	ck_assert_uint_eq(st->sent, net->sent);
	ck_assert_uint_eq(st->received, net->received);
	ck_assert_uint_eq(st->lost, net->lost);
	vs_sim_destroy(net->sim);
	vs_event_log_free(&net->log);
	free(net);
}

/* Two hosts and one link. */
static inline struct net *pair(const struct vs_sim_link *link)
{
	struct net *net = net_new(2);

	ck_assert_int_eq(vs_sim_connect(net->sim, net->host[0], net->host[1], link), VS_OK);
	return net;
}

/* n hosts around a switch; the last one behind `last`, the others behind a plain link. */
static inline struct net *star(int hosts, const struct vs_sim_link *last)
{
	struct net *net = net_new(hosts);
	const struct vs_sim_link plain = {.latency_ns = 10};
	int sw = vs_sim_add_switch(net->sim, "S");

	for (int i = 0; i < hosts; i++)
		ck_assert_int_eq(vs_sim_connect(net->sim, net->host[i], sw, i + 1 == hosts ? last : &plain), VS_OK);
	return net;
}

static inline void fault(struct net *net, const char *text)
{
	struct vs_fault_error err;

	ck_assert_msg(vs_sim_fault(net->sim, text, &err) >= 0, "%s: %s", text, err.text);
}

/* A legal packet from one raw host to another. */
static inline size_t build(uint8_t *buf, int from, int to, enum vs_encap encap, uint32_t psn, uint32_t payload)
{
	static const uint8_t zeros[4096];
	uint8_t scratch[VS_FRAME_MAX];
	struct vs_pkt p;
	int n;

	vs_pkt_init(&p, encap, VS_OP_RC_SEND_ONLY, true);
	p.eth.src[0] = p.eth.dst[0] = 2;
	p.eth.src[5] = (uint8_t)(from + 1);
	p.eth.dst[5] = (uint8_t)(to + 1);
	memcpy(p.ipv4.src, (uint8_t[]){10, 0, 0, (uint8_t)(from + 1)}, 4);
	memcpy(p.ipv4.dst, (uint8_t[]){10, 0, 0, (uint8_t)(to + 1)}, 4);
	p.ipv4.tos = 2; /* ECT(0) */
	p.grh.tclass = 2;
	p.lrh.slid = (uint16_t)(from + 1);
	p.lrh.dlid = (uint16_t)(to + 1);
	p.bth.destqp = 5;
	p.bth.psn = psn;
	p.payload = zeros;
	p.payload_len = payload;
	ck_assert_int_eq(vs_pkt_seal(&p, VS_SEAL_ALL, scratch, sizeof(scratch)), VS_OK);
	n = vs_pkt_build(&p, buf, VS_FRAME_MAX);
	ck_assert_int_gt(n, 0);
	return (size_t)n;
}

static inline size_t send(struct net *net, int from, int to, uint32_t psn, uint32_t payload)
{
	uint8_t buf[VS_FRAME_MAX];
	size_t n = build(buf, from, to, VS_ENCAP_ROCEV2_IPV4, psn, payload);

	ck_assert_int_eq(vs_sim_inject(net->sim, net->host[from], buf, n), VS_OK);
	return n;
}

/* "1 2 4": the PSNs that arrived at a host, in order. */
static inline const char *arrived(const struct net *net, int host)
{
	static char out[256];
	size_t len = 0;

	out[0] = '\0';
	for (unsigned i = 0; i < net->n; i++)
		if (net->got[i].host == host)
			len += (size_t)snprintf(out + len, sizeof(out) - len, "%s%u", len > 0 ? " " : "",
						net->got[i].psn);
	return out;
}

/* The n-th event of a type (from 0); fails when there are fewer. */
static inline const struct vs_event *nth(const struct net *net, enum vs_event_type type, unsigned n)
{
	for (size_t i = 0; i < net->log.n; i++)
		if (net->log.ev[i].type == type && n-- == 0)
			return &net->log.ev[i];
	ck_abort_msg("no %s", vs_event_info(type)->name);
	return NULL;
}

static inline unsigned count(const struct net *net, enum vs_event_type type)
{
	unsigned n = 0;

	for (size_t i = 0; i < net->log.n; i++)
		n += net->log.ev[i].type == type;
	return n;
}

#endif
