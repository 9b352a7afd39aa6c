/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * net.c - net.h on the simulator: a run from its network to its numbers. watch.c sees the frames, flow.c is one sender
 * with its connection.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

const struct net_cc net_dcqcn; /* its address says it all */

int net_fail(const char *what)
{
	(void)fprintf(stderr, "net: %s\n", what);
	return 1;
}

static uint64_t ns(double us)
{
	return (uint64_t)llround(us * 1000);
}

/* ---- congestion control: the device asks, the lab answers ---- */

static bool marked(void *ctx, uint32_t qpn, uint64_t now_ns)
{
	const struct net_host *h = ctx;
	const struct net_cc *cc = h->net->config->cc;

	for (unsigned i = 0; i < h->net->config->senders; i++)
		if (vs_qp_num(h->net->flow[i].there) == qpn)
			return cc->marked(cc->ctx, i, now_ns);
	return false;
}

static uint64_t rate(void *ctx, uint32_t qpn, enum vs_cc_asked why, uint64_t now_ns, uint64_t *again_ns)
{
	const struct net_host *h = ctx;
	const struct net_cc *cc = h->net->config->cc;
	double gbps = cc->rate(cc->ctx, h->number, why == VS_CC_TIMER, now_ns, again_ns);

	(void)qpn;
	h->net->flow[h->number].limit = gbps;
	return gbps > 0 ? (uint64_t)llround(gbps * 1e9) : 1;
}

static struct vs_cc_attr cc_of(struct net *net, struct net_host *h)
{
	const struct net_config *c = net->config;
	struct vs_cc_attr cc = vs_cc_usual((uint64_t)llround(c->gbps * 1e9));

	if (c->cc == NULL)
		return (struct vs_cc_attr){.enabled = false};
	/* Constants for links of today: those of the paper are for 40 Gb/s. */
	cc.rate_timer_ns = 55000;
	cc.rate_ai_bps = 1000000000;
	cc.rate_hai_bps = 4000000000u;
	cc.min_rate_bps = 100000000;
	if (c->cc == &net_dcqcn)
		return cc;
	h->algo = (struct vs_cc_algo){.marked = marked, .rate = rate, .ctx = h};
	cc.algo = &h->algo;
	return cc;
}

/* ---- the network ---- */

static int add_host(struct net *net, unsigned i, const char *name)
{
	struct net_host *h = &net->host[i];
	struct vs_dev_attr attr = {.name = name, .cm_disabled = true, .active_mtu = VS_MTU_4096, .rc_window = 16384};

	h->net = net;
	h->number = i;
	attr.cc = cc_of(net, h);
	h->node = vs_sim_add_host(net->sim, &attr);
	return h->node < 0;
}

static int add_links(struct net *net)
{
	const struct net_config *c = net->config;
	struct vs_sim_link link = {.latency_ns = ns(c->latency_us), .rate_bps = (uint64_t)llround(c->gbps * 1e9)};
	int rc = 0;

	net->sw = vs_sim_add_switch(net->sim, "switch");
	for (unsigned i = 0; i < c->senders; i++)
		rc |= vs_sim_connect(net->sim, net->host[i].node, net->sw, &link);
	link.queue_bytes = c->queue_kb * 1024;
	link.ecn_bytes = c->cc != NULL ? c->ecn_kb * 1024 : 0;
	link.ecn_full_bytes = c->ecn_full_kb * 1024;
	link.ecn_percent = c->ecn_percent;
	link.pause_bytes = c->pause_kb * 1024;
	return rc | vs_sim_connect(net->sim, net->host[c->senders].node, net->sw, &link);
}

static int add_loss(struct net *net)
{
	char rule[48];

	if (net->config->loss <= 0)
		return 0;
	(void)snprintf(rule, sizeof(rule), "drop %.4f%% data to receiver", net->config->loss * 100);
	return vs_sim_fault(net->sim, rule, NULL) < 0;
}

static int set_up(struct net *net)
{
	const struct net_config *c = net->config;
	const struct vs_sim_attr attr = {.seed = c->seed, .start_ns = 1000};
	char name[16];
	int err = 0;

	net->sim = vs_sim_create(&attr, &err);
	if (net->sim == NULL)
		return net_fail("no memory");
	for (unsigned i = 0; i < c->senders; i++) {
		(void)snprintf(name, sizeof(name), "sender%u", i % 100);
		err |= add_host(net, i, name);
	}
	err |= add_host(net, c->senders, "receiver");
	if (err != 0 || add_links(net) != 0 || add_loss(net) != 0)
		return net_fail("this network can't be built");
	for (unsigned i = 0; i < c->senders; i++)
		if (net_flow_open(net, i) != 0)
			return net_fail("a connection can't be made");
	return net_watch(net);
}

/* ---- the run ---- */

static void take_sample(struct net *net)
{
	const struct net_config *c = net->config;
	struct net_sample *s = &c->sample[net->result->samples++];
	struct vs_sim_queue q = {0};

	(void)vs_sim_queue(net->sim, net->sw, net->host[c->senders].node, &q);
	*s = (struct net_sample){.us = (double)(vs_sim_now(net->sim) - net->start) / 1000,
				 .queue_kb = (double)q.bytes / 1024};
	for (unsigned i = 0; i < c->senders; i++)
		s->gbps[i] = net->flow[i].open ? fmin(net->flow[i].limit, c->gbps) : 0;
}

/* When something has to be done besides: a sender begins, a sample is due, measuring begins. */
static uint64_t next_stop(const struct net *net, uint64_t end)
{
	const struct net_config *c = net->config;
	uint64_t now = vs_sim_now(net->sim), t = end, from = net->start + ns(c->from_us);

	if (from > now && from < t)
		t = from;
	for (unsigned i = 0; i < c->senders; i++)
		if (!net->flow[i].open && net->flow[i].begin < t)
			t = net->flow[i].begin;
	if (c->sample != NULL && net->result->samples < c->samples) {
		uint64_t due = net->start + ns(c->sample_us * net->result->samples);

		t = due < t ? due : t;
	}
	return t;
}

static void at_stop(struct net *net)
{
	const struct net_config *c = net->config;
	uint64_t now = vs_sim_now(net->sim);

	for (unsigned i = 0; i < c->senders; i++) {
		if (!net->flow[i].open && net->flow[i].begin <= now)
			net->flow[i].open = true;
		net_flow_go_on(&net->flow[i]);
		if (now <= net->start + ns(c->from_us))
			net->flow[i].before = net->flow[i].done;
	}
	if (c->sample != NULL && net->result->samples < c->samples &&
	    now >= net->start + ns(c->sample_us * net->result->samples))
		take_sample(net);
}

static void run(struct net *net)
{
	uint64_t end = net->start + ns(net->config->end_us), steps = 0;

	at_stop(net);
	while (vs_sim_now(net->sim) < end) {
		uint64_t stop = next_stop(net, end);

		while (vs_sim_step(net->sim, stop))
			if (++steps % 8 == 0)
				for (unsigned i = 0; i < net->config->senders; i++)
					net_flow_go_on(&net->flow[i]);
		(void)vs_sim_run(net->sim, stop); /* the clock, to there */
		at_stop(net);
	}
}

static void count(struct net *net)
{
	const struct net_config *c = net->config;
	struct net_result *r = net->result;
	struct vs_sim_queue q;
	double us = c->end_us - c->from_us;

	for (unsigned i = 0; i < c->senders; i++) {
		net_flow_count(net, i, us);
		r->gbps += r->flow[i].gbps;
		if (vs_sim_queue(net->sim, net->host[i].node, net->sw, &q) == VS_OK)
			r->paused_us += (double)q.paused_ns / 1000;
	}
	if (vs_sim_queue(net->sim, net->sw, net->host[c->senders].node, &q) == VS_OK) {
		r->queue_kb = (double)q.max_bytes / 1024;
		r->drops = q.drops;
		r->marks = q.ecn_marks;
		r->pauses = q.pauses;
	}
	r->lost = vs_sim_stats(net->sim)->lost;
}

int net_run(const struct net_config *config, struct net_result *result)
{
	struct net *net = calloc(1, sizeof(*net));
	int rc;

	*result = (struct net_result){.samples = 0};
	if (net == NULL || config->senders == 0 || config->senders > NET_SENDERS || config->gbps <= 0 ||
	    config->end_us <= config->from_us) {
		free(net);
		return net_fail("1 to 16 senders, a rate, and a time to measure are needed");
	}
	net->config = config;
	net->result = result;
	rc = set_up(net);
	if (rc == 0) {
		net->start = vs_sim_now(net->sim);
		for (unsigned i = 0; i < config->senders; i++)
			net->flow[i].begin = net->start + ns(config->start_us[i]);
		run(net);
		count(net);
		rc = net_watched(net);
	}
	vs_sim_destroy(net->sim);
	for (unsigned i = 0; i < config->senders; i++)
		free(net->flow[i].memory);
	free(net);
	return rc;
}
