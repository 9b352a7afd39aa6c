/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_sim.c - the simulated wire between raw hosts: times, queues, switches, every fault with its event; then
 * devices on it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "runner.h"
#include "vs/icrc.h"
#include "vs/qp.h"
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
	struct got got[64];
	unsigned n;
	unsigned sent, received, lost; /* as the tap saw them */
};

static void on_frame(void *ctx, uint64_t now_ns, enum vs_link link, const uint8_t *frame, size_t len,
		     const struct vs_pkt_meta *meta)
{
	struct raw *raw = ctx;
	struct net *net = raw->net;
	struct got *g = &net->got[net->n++];
	struct vs_pkt p;

	ck_assert_uint_lt(net->n, 64);
	*g = (struct got){.t = now_ns, .host = raw->number, .len = len, .meta = *meta};
	memcpy(g->frame, frame, len);
	if (vs_pkt_parse(&p, link, 0, frame, len, len, 0) == VS_OK)
		g->psn = p.bth.psn;
}

static void on_tap(void *ctx, uint64_t now_ns, int node, enum vs_tap_where where, enum vs_link link,
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

static struct net *net_new(int hosts)
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

static void net_free(struct net *net)
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
static struct net *pair(const struct vs_sim_link *link)
{
	struct net *net = net_new(2);

	ck_assert_int_eq(vs_sim_connect(net->sim, net->host[0], net->host[1], link), VS_OK);
	return net;
}

/* n hosts around a switch; the last one behind `last`, the others behind a plain link. */
static struct net *star(int hosts, const struct vs_sim_link *last)
{
	struct net *net = net_new(hosts);
	const struct vs_sim_link plain = {.latency_ns = 10};
	int sw = vs_sim_add_switch(net->sim, "S");

	for (int i = 0; i < hosts; i++)
		ck_assert_int_eq(vs_sim_connect(net->sim, net->host[i], sw, i + 1 == hosts ? last : &plain), VS_OK);
	return net;
}

static void fault(struct net *net, const char *text)
{
	struct vs_fault_error err;

	ck_assert_msg(vs_sim_fault(net->sim, text, &err) >= 0, "%s: %s", text, err.text);
}

/* A legal packet from one raw host to another. */
static size_t build(uint8_t *buf, int from, int to, enum vs_encap encap, uint32_t psn, uint32_t payload)
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

static size_t send(struct net *net, int from, int to, uint32_t psn, uint32_t payload)
{
	uint8_t buf[VS_FRAME_MAX];
	size_t n = build(buf, from, to, VS_ENCAP_ROCEV2_IPV4, psn, payload);

	ck_assert_int_eq(vs_sim_inject(net->sim, net->host[from], buf, n), VS_OK);
	return n;
}

/* "1 2 4": the PSNs that arrived at a host, in order. */
static const char *arrived(const struct net *net, int host)
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
static const struct vs_event *nth(const struct net *net, enum vs_event_type type, unsigned n)
{
	for (size_t i = 0; i < net->log.n; i++)
		if (net->log.ev[i].type == type && n-- == 0)
			return &net->log.ev[i];
	ck_abort_msg("no %s", vs_event_info(type)->name);
	return NULL;
}

static unsigned count(const struct net *net, enum vs_event_type type)
{
	unsigned n = 0;

	for (size_t i = 0; i < net->log.n; i++)
		n += net->log.ev[i].type == type;
	return n;
}

/* ---- times ---- */

START_TEST(a_frame_takes_its_length_by_the_rate_and_the_latency)
{
	struct net *net = pair(&(struct vs_sim_link){.latency_ns = 700, .rate_bps = 1000000000});
	size_t n = send(net, 0, 1, 1, 100);

	ck_assert(vs_sim_busy(net->sim));
	vs_sim_run(net->sim, VS_NEVER);
	ck_assert(!vs_sim_busy(net->sim));
	ck_assert_uint_eq(net->n, 1);
	ck_assert_uint_eq(net->got[0].t, 8 * n + 700);
	ck_assert_uint_eq(vs_sim_now(net->sim), 8 * n + 700);
	net_free(net);
}
END_TEST

START_TEST(frames_wait_for_the_transmitter_and_both_directions_are_apart)
{
	struct net *net = pair(&(struct vs_sim_link){.latency_ns = 700, .rate_bps = 1000000000});
	size_t n = send(net, 0, 1, 1, 100);

	send(net, 0, 1, 2, 100);
	send(net, 1, 0, 3, 100);
	vs_sim_run(net->sim, VS_NEVER);
	ck_assert_str_eq(arrived(net, 1), "1 2");
	ck_assert_str_eq(arrived(net, 0), "3");
	ck_assert_uint_eq(net->got[2].t, 16 * n + 700);
	for (unsigned i = 0; i < 2; i++)
		ck_assert_uint_eq(net->got[i].t, 8 * n + 700);
	net_free(net);
}
END_TEST

START_TEST(a_link_without_rate_only_delays)
{
	struct net *net = pair(&(struct vs_sim_link){.latency_ns = 5});

	for (uint32_t i = 0; i < 10; i++)
		send(net, 0, 1, i, 1000);
	vs_sim_run(net->sim, VS_NEVER);
	ck_assert_uint_eq(net->n, 10);
	ck_assert_uint_eq(net->got[9].t, 5);
	net_free(net);
}
END_TEST

START_TEST(run_stops_the_clock_where_it_is_told)
{
	struct net *net = pair(&(struct vs_sim_link){.latency_ns = 1000});

	send(net, 0, 1, 1, 0);
	ck_assert_uint_eq(vs_sim_run(net->sim, 999), 0);
	ck_assert_uint_eq(vs_sim_now(net->sim), 999);
	ck_assert(!vs_sim_step(net->sim, 999));
	ck_assert(vs_sim_step(net->sim, 1000));
	ck_assert_uint_eq(net->n, 1);
	ck_assert_uint_eq(vs_sim_run(net->sim, 5000), 0);
	ck_assert_uint_eq(vs_sim_now(net->sim), 5000);
	net_free(net);
}
END_TEST

/* ---- building ---- */

START_TEST(a_host_has_one_link_and_links_make_no_ring)
{
	struct net *net = net_new(2);
	const struct vs_sim_link l = {0};
	int s = vs_sim_add_switch(net->sim, "S"), t = vs_sim_add_switch(net->sim, "T"),
	    u = vs_sim_add_switch(net->sim, "U");

	ck_assert_int_eq(vs_sim_connect(net->sim, net->host[0], net->host[0], &l), VS_ERR_INVAL);
	ck_assert_int_eq(vs_sim_connect(net->sim, net->host[0], 99, &l), VS_ERR_INVAL);
	ck_assert_int_eq(vs_sim_connect(net->sim, -1, net->host[0], &l), VS_ERR_INVAL);
	ck_assert_int_eq(vs_sim_connect(net->sim, net->host[0], s, &l), VS_OK);
	ck_assert_int_eq(vs_sim_connect(net->sim, net->host[0], t, &l), VS_ERR_BUSY);
	ck_assert_int_eq(vs_sim_connect(net->sim, s, t, &l), VS_OK);
	ck_assert_int_eq(vs_sim_connect(net->sim, t, u, &l), VS_OK);
	ck_assert_int_eq(vs_sim_connect(net->sim, u, s, &l), VS_ERR_INVAL);
	ck_assert_int_eq(vs_sim_connect(net->sim, u, net->host[1], &l), VS_OK);
	send(net, 0, 1, 1, 0);
	vs_sim_run(net->sim, VS_NEVER);
	ck_assert_str_eq(arrived(net, 1), "1");
	net_free(net);
}
END_TEST

START_TEST(injection_wants_a_host_and_a_frame_that_fits)
{
	struct net *net = pair(&(struct vs_sim_link){0});
	uint8_t frame[VS_FRAME_MAX + 1] = {0};
	int sw = vs_sim_add_switch(net->sim, "S");

	ck_assert_int_eq(vs_sim_inject(net->sim, sw, frame, 100), VS_ERR_INVAL);
	ck_assert_int_eq(vs_sim_inject(net->sim, 99, frame, 100), VS_ERR_INVAL);
	ck_assert_int_eq(vs_sim_inject(net->sim, net->host[0], frame, 0), VS_ERR_INVAL);
	ck_assert_int_eq(vs_sim_inject(net->sim, net->host[0], frame, VS_FRAME_MAX + 1), VS_ERR_INVAL);
	ck_assert_int_eq(vs_sim_inject(net->sim, net->host[0], frame, VS_FRAME_MAX), VS_OK);
	net_free(net);
}
END_TEST

START_TEST(hosts_get_addresses_that_follow_their_number)
{
	struct net *net = net_new(1);
	struct vs_dev_attr d = {.cm_disabled = true};
	const struct vs_dev_attr *a;
	struct vs_av av;
	int sw = vs_sim_add_switch(net->sim, "S"), h = vs_sim_add_host(net->sim, &d);

	ck_assert_int_gt(h, sw);
	a = vs_dev_attr(vs_sim_dev(net->sim, h));
	ck_assert_str_eq(a->name, "B");
	ck_assert_mem_eq(a->mac, ((uint8_t[]){2, 0, 0, 0, 0, 2}), 6);
	ck_assert_uint_eq(a->lid, 2);
	ck_assert_uint_eq(a->pkeys[0], 0xffff);
	ck_assert_mem_eq(a->gids[0].gid, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\0\0\x02", 16);
	ck_assert_int_eq(a->gids[0].type, VS_GID_ROCEV2);
	ck_assert_int_eq(a->gids[2].type, VS_GID_ROCEV1);
	ck_assert_ptr_null(vs_sim_dev(net->sim, sw));
	ck_assert_ptr_null(vs_sim_dev(net->sim, net->host[0]));
	ck_assert_int_eq(vs_sim_av(net->sim, net->host[0], 1, &av), VS_OK);
	ck_assert_mem_eq(av.dgid, "\xfd\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01", 16);
	ck_assert_int_eq(vs_sim_av(net->sim, sw, 0, &av), VS_ERR_INVAL);
	ck_assert_int_eq(vs_sim_av(net->sim, h, 3, &av), VS_ERR_INVAL);
	ck_assert_int_eq(vs_sim_av(net->sim, h, VS_GID_TABLE_LEN, &av), VS_ERR_INVAL);
	d.link_layer = VS_LL_INFINIBAND;
	ck_assert_int_eq(vs_sim_add_host(net->sim, &d), VS_ERR_INVAL);
	d.link_layer = VS_LL_ETHERNET;
	d.cc.ecn = 3; /* refused by the device */
	ck_assert_int_eq(vs_sim_add_host(net->sim, &d), VS_ERR_INVAL);
	d.cc.ecn = 0;
	ck_assert_int_eq(vs_sim_add_host(net->sim, &d), h + 1);
	net_free(net);
}
END_TEST

/* ---- switches ---- */

START_TEST(a_switch_sends_to_the_addressee_alone)
{
	struct net *net = star(3, &(struct vs_sim_link){.latency_ns = 10});

	send(net, 0, 1, 1, 0);
	send(net, 2, 0, 2, 0);
	vs_sim_run(net->sim, VS_NEVER);
	ck_assert_str_eq(arrived(net, 0), "2");
	ck_assert_str_eq(arrived(net, 1), "1");
	ck_assert_str_eq(arrived(net, 2), "");
	net_free(net);
}
END_TEST

START_TEST(groups_and_unknown_addresses_reach_all_but_the_sender)
{
	struct net *net = star(4, &(struct vs_sim_link){.latency_ns = 10});
	uint8_t frame[VS_FRAME_MAX];
	size_t n = build(frame, 0, 1, VS_ENCAP_ROCEV2_IPV4, 1, 0);

	memcpy(frame, "\x01\x00\x5e\x01\x02\x03", 6);
	ck_assert_int_eq(vs_sim_inject(net->sim, net->host[0], frame, n), VS_OK);
	memcpy(frame, "\x02\xaa\xbb\xcc\xdd\xee", 6);
	ck_assert_int_eq(vs_sim_inject(net->sim, net->host[3], frame, n), VS_OK);
	vs_sim_run(net->sim, VS_NEVER);
	ck_assert_str_eq(arrived(net, 0), "1");
	ck_assert_str_eq(arrived(net, 1), "1 1");
	ck_assert_str_eq(arrived(net, 2), "1 1");
	ck_assert_str_eq(arrived(net, 3), "1");
	net_free(net);
}
END_TEST

START_TEST(what_a_host_sends_to_itself_comes_back)
{
	struct net *net = pair(&(struct vs_sim_link){.latency_ns = 10});

	send(net, 0, 0, 1, 0);
	vs_sim_run(net->sim, VS_NEVER);
	ck_assert_str_eq(arrived(net, 0), "1");
	ck_assert_str_eq(arrived(net, 1), "");
	net_free(net);
}
END_TEST

START_TEST(a_frame_without_a_way_is_lost)
{
	struct net *net = net_new(3);
	int sw = vs_sim_add_switch(net->sim, "S");

	send(net, 0, 1, 1, 0); /* no link */
	ck_assert_uint_eq(net->lost, 1);
	ck_assert_int_eq(vs_sim_connect(net->sim, net->host[0], sw, &(struct vs_sim_link){0}), VS_OK);
	ck_assert_int_eq(vs_sim_connect(net->sim, net->host[2], sw, &(struct vs_sim_link){0}), VS_OK);
	send(net, 0, 1, 2, 0); /* known, and not behind this switch */
	vs_sim_run(net->sim, VS_NEVER);
	ck_assert_uint_eq(net->lost, 2);
	ck_assert_uint_eq(net->n, 0);
	net_free(net);
}
END_TEST

START_TEST(native_infiniband_goes_by_lid)
{
	struct vs_dev_attr d = {.link_layer = VS_LL_INFINIBAND, .cm_disabled = true};
	struct net *net = net_new(0);
	const struct vs_sim_link l = {.latency_ns = 10};
	uint8_t frame[VS_FRAME_MAX];
	int sw = vs_sim_add_switch(net->sim, "S"), h = vs_sim_add_host(net->sim, &d);
	size_t n;

	for (int i = 0; i < 2; i++) {
		net->raw[i] = (struct raw){net, i};
		net->host[i] = vs_sim_add_raw(net->sim, "X", on_frame, &net->raw[i]);
		ck_assert_int_eq(vs_sim_connect(net->sim, net->host[i], sw, &l), VS_OK);
	}
	ck_assert_int_eq(vs_sim_connect(net->sim, h, sw, &l), VS_OK);
	n = build(frame, 1, 2, VS_ENCAP_IB, 7, 8); /* LID 2 to LID 3 */
	ck_assert_int_eq(vs_sim_inject(net->sim, net->host[0], frame, n), VS_OK);
	n = build(frame, 1, 0xc000 - 1, VS_ENCAP_IB_GRH, 8, 8); /* a group */
	ck_assert_int_eq(vs_sim_inject(net->sim, net->host[0], frame, n), VS_OK);
	vs_sim_run(net->sim, VS_NEVER);
	ck_assert_str_eq(arrived(net, 1), "7 8");
	ck_assert_str_eq(arrived(net, 0), "");
	ck_assert_uint_eq(vs_sim_stats(net->sim)->received, 3);
	net_free(net);
}
END_TEST

/* ---- queues ---- */

START_TEST(a_full_queue_drops_and_says_so)
{
	struct net *net = star(2, &(struct vs_sim_link){.rate_bps = 1000000000, .queue_bytes = 2500});
	const struct vs_event *ev;

	for (uint32_t i = 1; i <= 6; i++) /* one on the wire, two of 1058 bytes in the queue */
		send(net, 0, 1, i, 1000);
	vs_sim_run(net->sim, VS_NEVER);
	ck_assert_str_eq(arrived(net, 1), "1 2 3");
	ck_assert_uint_eq(net->lost, 3);
	ck_assert_uint_eq(vs_sim_stats(net->sim)->queue_drops, 3);
	ck_assert_uint_eq(count(net, VS_EV_LINK_QUEUE_DROP), 3);
	ev = nth(net, VS_EV_LINK_QUEUE_DROP, 0);
	ck_assert_str_eq(ev->node, "S");
	ck_assert_uint_eq(ev->pkt_id, 4);
	ck_assert_uint_eq(ev->cause, nth(net, VS_EV_PKT_TX, 3)->seq);
	ck_assert_uint_gt(ev->a[0], 2000);
	net_free(net);
}
END_TEST

START_TEST(a_deep_queue_marks_ect_frames_and_no_others)
{
	struct net *net = star(2, &(struct vs_sim_link){.rate_bps = 1000000000, .ecn_bytes = 2000});
	uint8_t frame[VS_FRAME_MAX];
	size_t n = 0;

	for (uint32_t i = 1; i <= 5; i++)
		n = send(net, 0, 1, i, 1000);
	build(frame, 0, 1, VS_ENCAP_ROCEV1, 6, 1000); /* no ECN there */
	ck_assert_int_eq(vs_sim_inject(net->sim, net->host[0], frame, n), VS_OK);
	vs_sim_run(net->sim, VS_NEVER);
	ck_assert_uint_eq(net->n, 6);
	for (unsigned i = 0; i < 5; i++)
		ck_assert_uint_eq(net->got[i].frame[15] & 3, i < 3 ? 2 : 3);
	ck_assert_uint_eq(vs_sim_stats(net->sim)->ecn_marks, 2);
	ck_assert_uint_eq(count(net, VS_EV_LINK_ECN_MARK), 2);
	ck_assert_uint_eq(nth(net, VS_EV_LINK_ECN_MARK, 0)->pkt_id, 4);
	/* The mark is the cause of what comes of the frame. */
	ck_assert_uint_eq(net->got[3].meta.cause, nth(net, VS_EV_LINK_ECN_MARK, 0)->seq);
	net_free(net);
}
END_TEST

START_TEST(pause_stops_the_sender_whose_frames_fill_the_queue_and_no_other)
{
	/* C is behind a slow link. A fills its queue, B talks to D. */
	struct net *net = net_new(4);
	const struct vs_sim_link fast = {.rate_bps = 100000000000ull, .latency_ns = 10};
	const struct vs_sim_link slow = {
		.rate_bps = 1000000000, .latency_ns = 10, .pause_bytes = 4000, .queue_bytes = 20000};
	int sw = vs_sim_add_switch(net->sim, "S");
	uint64_t last_b = 0;

	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(vs_sim_connect(net->sim, net->host[i], sw, i == 2 ? &slow : &fast), VS_OK);
	for (uint32_t i = 1; i <= 20; i++) {
		send(net, 0, 2, i, 1000);
		send(net, 1, 3, i, 1000);
	}
	vs_sim_run(net->sim, VS_NEVER);
	ck_assert_uint_eq(vs_sim_stats(net->sim)->lost, 0);
	ck_assert_uint_eq(net->n, 40);
	for (unsigned i = 0; i < net->n; i++)
		if (net->got[i].host == 3)
			last_b = net->got[i].t;
	ck_assert_uint_lt(last_b, 5000); /* not held up: 20 frames at 100 Gbit/s */
	ck_assert_uint_ge(vs_sim_stats(net->sim)->pauses, 2);
	ck_assert_uint_eq(count(net, VS_EV_LINK_PAUSE), 2 * vs_sim_stats(net->sim)->pauses);
	ck_assert_uint_eq(nth(net, VS_EV_LINK_PAUSE, 0)->a[0], 1);
	ck_assert_uint_eq(nth(net, VS_EV_LINK_PAUSE, 1)->a[0], 0);
	net_free(net);
}
END_TEST

START_TEST(frames_beyond_the_limit_in_flight_are_dropped)
{
	struct vs_sim_attr a = {.max_in_flight = 3};
	const struct vs_sim_link l = {.latency_ns = 10};
	uint8_t frame[VS_FRAME_MAX];
	struct vs_sim *sim;
	int err, x, y;
	size_t n = build(frame, 0, 1, VS_ENCAP_ROCEV2_IPV4, 1, 0);

	sim = vs_sim_create(&a, &err);
	ck_assert_ptr_nonnull(sim);
	x = vs_sim_add_raw(sim, "A", NULL, NULL);
	y = vs_sim_add_raw(sim, "B", NULL, NULL);
	ck_assert_int_eq(vs_sim_connect(sim, x, y, &l), VS_OK);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(vs_sim_inject(sim, x, frame, n), VS_OK);
	ck_assert_int_eq(vs_sim_inject(sim, x, frame, n), VS_ERR_NOSPACE);
	vs_sim_run(sim, VS_NEVER);
	ck_assert_int_eq(vs_sim_inject(sim, x, frame, n), VS_OK);
	vs_sim_destroy(sim);
}
END_TEST

/* ---- faults ---- */

static void send_numbered(struct net *net, uint32_t n)
{
	for (uint32_t i = 1; i <= n; i++) {
		send(net, 0, 1, i, 16);
		vs_sim_run(net->sim, vs_sim_now(net->sim) + 100);
	}
}

START_TEST(a_dropped_frame_is_lost_with_its_event)
{
	struct net *net = pair(&(struct vs_sim_link){.latency_ns = 10});
	const struct vs_event *ev;

	fault(net, "gone: drop 2nd");
	send_numbered(net, 3);
	vs_sim_run(net->sim, VS_NEVER);
	ck_assert_str_eq(arrived(net, 1), "1 3");
	ck_assert_uint_eq(net->lost, 1);
	ev = nth(net, VS_EV_FAULT_DROP, 0);
	ck_assert_str_eq((const char *)(uintptr_t)ev->a[0], "gone");
	ck_assert_str_eq(ev->node, "wire");
	ck_assert_uint_eq(ev->pkt_id, 2);
	ck_assert_uint_eq(ev->cause, nth(net, VS_EV_PKT_TX, 1)->seq);
	ck_assert_uint_eq(vs_sim_stats(net->sim)->faults[VS_FAULT_DROP], 1);
	net_free(net);
}
END_TEST

START_TEST(a_copied_frame_arrives_again_as_the_same_transmission)
{
	struct net *net = pair(&(struct vs_sim_link){.latency_ns = 10});

	fault(net, "dup x2 2nd");
	send_numbered(net, 3);
	vs_sim_run(net->sim, VS_NEVER);
	ck_assert_str_eq(arrived(net, 1), "1 2 2 2 3");
	for (unsigned i = 1; i <= 3; i++)
		ck_assert_uint_eq(net->got[i].meta.pkt_id, 2);
	ck_assert_uint_eq(count(net, VS_EV_FAULT_DUP), 2);
	ck_assert_uint_eq(net->got[1].meta.cause, nth(net, VS_EV_FAULT_DUP, 0)->seq);
	ck_assert_uint_eq(net->got[2].meta.cause, nth(net, VS_EV_FAULT_DUP, 1)->seq);
	ck_assert_uint_eq(net->got[3].meta.cause, nth(net, VS_EV_PKT_TX, 1)->seq);
	net_free(net);
}
END_TEST

START_TEST(a_delayed_frame_is_passed_by_others)
{
	struct net *net = pair(&(struct vs_sim_link){.latency_ns = 10});
	const struct vs_event *ev;

	fault(net, "delay 2nd by 150ns");
	send_numbered(net, 4);
	vs_sim_run(net->sim, VS_NEVER);
	ck_assert_str_eq(arrived(net, 1), "1 3 2 4");
	ck_assert_uint_eq(net->got[2].t, 100 + 150 + 10);
	ev = nth(net, VS_EV_FAULT_DELAY, 0);
	ck_assert_uint_eq(ev->a[1], 150);
	ck_assert_uint_eq(net->got[2].meta.cause, ev->seq);
	net_free(net);
}
END_TEST

START_TEST(a_held_frame_makes_everything_behind_it_wait)
{
	struct net *net = star(3, &(struct vs_sim_link){.latency_ns = 10});

	fault(net, "hold 2nd by 250ns");
	send_numbered(net, 3);
	send(net, 0, 2, 99, 16); /* another path */
	vs_sim_run(net->sim, VS_NEVER);
	ck_assert_str_eq(arrived(net, 1), "1 2 3");
	ck_assert_str_eq(arrived(net, 2), "99");
	/* Sent at 100 and 200; both leave at 350, after the frame that goes elsewhere at 300. */
	ck_assert_uint_eq(net->got[1].psn, 99);
	ck_assert_uint_eq(net->got[2].t, 350 + 20);
	ck_assert_uint_eq(net->got[3].t, 350 + 20);
	ck_assert_uint_eq(count(net, VS_EV_FAULT_HOLD), 1);
	net_free(net);
}
END_TEST

START_TEST(an_overtaken_frame_goes_behind_the_next_n_of_its_path)
{
	struct net *net = star(3, &(struct vs_sim_link){.latency_ns = 10});

	fault(net, "reorder 2 1st to B");
	send(net, 0, 1, 1, 16);
	send(net, 0, 2, 50, 16); /* another path does not count */
	for (uint32_t i = 2; i <= 4; i++)
		send(net, 0, 1, i, 16);
	vs_sim_run(net->sim, VS_NEVER);
	ck_assert_str_eq(arrived(net, 1), "2 3 1 4");
	ck_assert_uint_eq(nth(net, VS_EV_FAULT_REORDER, 0)->a[1], 2);
	net_free(net);
}
END_TEST

START_TEST(an_overtaken_frame_that_nobody_passes_goes_on_in_time)
{
	struct net *net = pair(&(struct vs_sim_link){.latency_ns = 10});

	fault(net, "reorder 3 1st");
	send(net, 0, 1, 1, 16);
	send(net, 0, 1, 2, 16);
	vs_sim_run(net->sim, VS_NEVER);
	ck_assert_str_eq(arrived(net, 1), "2 1");
	ck_assert_uint_eq(net->got[1].t, VS_SIM_REORDER_MAX_NS + 10);
	send(net, 0, 1, 3, 16); /* nothing is left of it */
	vs_sim_run(net->sim, VS_NEVER);
	ck_assert_str_eq(arrived(net, 1), "2 1 3");
	net_free(net);
}
END_TEST

START_TEST(several_frames_can_be_overtaken_at_once)
{
	struct net *net = pair(&(struct vs_sim_link){.latency_ns = 10});

	fault(net, "reorder 3 1..2");
	for (uint32_t i = 1; i <= 6; i++)
		send(net, 0, 1, i, 16);
	vs_sim_run(net->sim, VS_NEVER);
	ck_assert_str_eq(arrived(net, 1), "3 4 5 1 2 6");
	net_free(net);
}
END_TEST

START_TEST(a_corrupted_frame_differs_in_one_bit_behind_the_bth)
{
	struct net *net = pair(&(struct vs_sim_link){.latency_ns = 10});
	uint8_t want[VS_FRAME_MAX];
	size_t n = build(want, 0, 1, VS_ENCAP_ROCEV2_IPV4, 1, 16);
	const struct vs_event *ev;

	fault(net, "corrupt 1st bit=77");
	fault(net, "corrupt 2nd icrc");
	send(net, 0, 1, 1, 16);
	send(net, 0, 1, 1, 16);
	vs_sim_run(net->sim, VS_NEVER);
	want[42 + 9] ^= 1u << 5;
	ck_assert_mem_eq(net->got[0].frame, want, n);
	want[42 + 9] ^= 1u << 5;
	ck_assert_mem_eq(net->got[1].frame, want, n - 4);
	ck_assert_mem_ne(net->got[1].frame + n - 4, want + n - 4, 4);
	ev = nth(net, VS_EV_FAULT_CORRUPT, 0);
	ck_assert_uint_eq(ev->a[1], 9);
	ck_assert_uint_eq(ev->a[2], 5);
	net_free(net);
}
END_TEST

/* Only the mark changes, and whatever checksum covers it. */
static void check_mark(enum vs_encap encap, size_t byte, uint8_t bits, size_t sum, size_t sum_len)
{
	bool ib = encap == VS_ENCAP_IB || encap == VS_ENCAP_IB_GRH;
	struct vs_dev_attr d = {.link_layer = VS_LL_INFINIBAND, .cm_disabled = true};
	struct net *net = net_new(ib ? 0 : 2);
	uint8_t frame[VS_FRAME_MAX];
	size_t n = build(frame, 0, 1, encap, 1, 20);
	struct vs_pkt p;

	if (ib) { /* a device makes the network an InfiniBand one */
		ck_assert_int_ge(vs_sim_add_host(net->sim, &d), 0);
		for (int i = 0; i < 2; i++) {
			net->raw[i] = (struct raw){net, i};
			net->host[i] = vs_sim_add_raw(net->sim, "X", on_frame, &net->raw[i]);
		}
	}
	ck_assert_int_eq(vs_sim_connect(net->sim, net->host[0], net->host[1], &(struct vs_sim_link){0}), VS_OK);
	fault(net, "mark 1st");
	ck_assert_int_eq(vs_sim_inject(net->sim, net->host[0], frame, n), VS_OK);
	vs_sim_run(net->sim, VS_NEVER);
	ck_assert_uint_eq(net->n, 1);
	ck_assert_uint_eq(net->got[0].len, n);
	for (size_t i = 0; i < n; i++) {
		if (i == byte)
			ck_assert_uint_eq(net->got[0].frame[i], frame[i] | bits);
		else if (i < sum || i >= sum + sum_len)
			ck_assert_msg(net->got[0].frame[i] == frame[i], "byte %zu", i);
	}
	ck_assert_int_eq(vs_pkt_parse(&p, ib ? VS_LINK_IB : VS_LINK_ETHERNET, 0, net->got[0].frame, n, n, 0), VS_OK);
	ck_assert_int_eq(vs_icrc_check(&p, net->got[0].frame, NULL), VS_CRC_GOOD);
	ck_assert_int_ne(vs_vcrc_check(&p, net->got[0].frame, NULL), VS_CRC_BAD);
	ck_assert_uint_eq(vs_pkt_validate(&p, VS_CRC_GOOD, VS_CRC_GOOD, NULL, 0),
			  encap == VS_ENCAP_ROCEV2_IPV4 || encap == VS_ENCAP_ROCEV2_IPV6 ? 1 : 0);
	ck_assert_uint_eq(count(net, VS_EV_FAULT_MARK), 1);
	net_free(net);
}

START_TEST(a_mark_changes_nothing_but_the_mark)
{
	check_mark(VS_ENCAP_ROCEV2_IPV4, 14 + 1, 3, 14 + 10, 2);
	check_mark(VS_ENCAP_ROCEV2_IPV6, 14 + 1, 0x30, 0, 0);
	check_mark(VS_ENCAP_ROCEV1, 14 + 40 + 4, 0x80, 0, 0); /* FECN */
}
END_TEST

START_TEST(a_mark_on_native_infiniband_is_fecn_under_a_right_vcrc)
{
	uint8_t frame[VS_FRAME_MAX];
	size_t n = build(frame, 0, 1, VS_ENCAP_IB, 1, 20);

	check_mark(VS_ENCAP_IB, 8 + 4, 0x80, n - 2, 2);
	n = build(frame, 0, 1, VS_ENCAP_IB_GRH, 1, 20);
	check_mark(VS_ENCAP_IB_GRH, 48 + 4, 0x80, n - 2, 2);
}
END_TEST

START_TEST(all_marks_give_a_right_ipv4_checksum)
{
	/* RFC 1624's corner: a checksum next to 0 and 0xffff. */
	for (unsigned id = 0; id < 65536; id += 7) {
		uint8_t frame[VS_FRAME_MAX], scratch[VS_FRAME_MAX];
		struct vs_pkt p;
		struct net *net;
		uint16_t right;
		size_t n = build(frame, 0, 1, VS_ENCAP_ROCEV2_IPV4, 1, 0);

		if (id % 16384 != 0 && id % 1001 != 0)
			continue;
		ck_assert_int_eq(vs_pkt_parse(&p, VS_LINK_ETHERNET, 0, frame, n, n, 0), VS_OK);
		p.ipv4.id = (uint16_t)id;
		ck_assert_int_eq(vs_pkt_seal(&p, VS_SEAL_ALL, scratch, sizeof(scratch)), VS_OK);
		ck_assert_int_eq(vs_pkt_build(&p, frame, sizeof(frame)), (int)n);
		net = pair(&(struct vs_sim_link){0});
		fault(net, "mark");
		vs_sim_inject(net->sim, net->host[0], frame, n);
		vs_sim_run(net->sim, VS_NEVER);
		ck_assert_int_eq(vs_pkt_parse(&p, VS_LINK_ETHERNET, 0, net->got[0].frame, n, n, 0), VS_OK);
		right = p.ipv4.csum;
		ck_assert_int_eq(vs_pkt_seal(&p, VS_SEAL_CSUM, scratch, sizeof(scratch)), VS_OK);
		ck_assert_uint_eq(p.ipv4.csum, right);
		net_free(net);
	}
}
END_TEST

START_TEST(faults_of_one_frame_add_up_and_chain_their_causes)
{
	struct net *net = pair(&(struct vs_sim_link){.latency_ns = 10});

	fault(net, "mark");
	fault(net, "corrupt bit=200");
	fault(net, "delay by 30ns");
	send(net, 0, 1, 1, 16);
	vs_sim_run(net->sim, VS_NEVER);
	ck_assert_uint_eq(net->got[0].t, 40);
	ck_assert_uint_eq(net->got[0].meta.cause, nth(net, VS_EV_FAULT_DELAY, 0)->seq);
	ck_assert_uint_eq(nth(net, VS_EV_FAULT_DELAY, 0)->cause, nth(net, VS_EV_FAULT_CORRUPT, 0)->seq);
	ck_assert_uint_eq(nth(net, VS_EV_FAULT_CORRUPT, 0)->cause, nth(net, VS_EV_FAULT_MARK, 0)->seq);
	ck_assert_uint_eq(nth(net, VS_EV_FAULT_MARK, 0)->cause, nth(net, VS_EV_PKT_TX, 0)->seq);
	net_free(net);
}
END_TEST

START_TEST(what_is_no_rdma_passes_all_faults)
{
	struct net *net = pair(&(struct vs_sim_link){0});
	uint8_t arp[60] = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x08, 0x06};

	fault(net, "drop");
	ck_assert_int_eq(vs_sim_inject(net->sim, net->host[0], arp, sizeof(arp)), VS_OK);
	vs_sim_run(net->sim, VS_NEVER);
	ck_assert_uint_eq(net->n, 1);
	net_free(net);
}
END_TEST

START_TEST(a_rule_that_is_wrong_is_refused)
{
	struct net *net = pair(&(struct vs_sim_link){0});
	struct vs_fault_error err;

	ck_assert_int_eq(vs_sim_fault(net->sim, "drop 3rd data form A", &err), VS_ERR_INVAL);
	ck_assert_uint_eq(err.column, 15);
	ck_assert_int_eq(vs_sim_fault(net->sim, "drip", NULL), VS_ERR_INVAL);
	ck_assert_ptr_null(vs_fault_set_rule(vs_sim_faults(net->sim), 0));
	net_free(net);
}
END_TEST

/* ---- memory ---- */

struct counted {
	size_t now, calls, fail_at;
};

static void *count_alloc(void *ctx, size_t size)
{
	struct counted *c = ctx;
	size_t *p;

	if (++c->calls == c->fail_at)
		return NULL;
	p = calloc(1, size + 16);
	*p = size;
	c->now += size;
	return p + 2;
}

static void count_free(void *ctx, void *p, size_t size)
{
	struct counted *c = ctx;
	size_t *q = (size_t *)p - 2;

	ck_assert_uint_eq(*q, size);
	c->now -= size;
	free(q);
}

/* Builds a network and sends through it; false when memory ran out on the way. */
static bool exercise(struct counted *c)
{
	struct vs_sim_attr a = {.allocator = {count_alloc, count_free, c}};
	struct vs_dev_attr d = {.cm_disabled = true, .max_qp = 8, .max_mr = 8, .max_mw = 8, .max_mcast_grp = 1};
	const struct vs_sim_link l = {.latency_ns = 5, .rate_bps = 1000000000};
	uint8_t frame[VS_FRAME_MAX];
	size_t n = build(frame, 0, 1, VS_ENCAP_ROCEV2_IPV4, 1, 0);
	int err, h[3], sw;
	bool ok;
	struct vs_sim *sim = vs_sim_create(&a, &err);

	if (sim == NULL) {
		ck_assert_int_eq(err, VS_ERR_NOSPACE);
		return false;
	}
	h[0] = vs_sim_add_raw(sim, "A", NULL, NULL);
	ok = h[0] >= 0 && (h[1] = vs_sim_add_raw(sim, "B", NULL, NULL)) >= 0 &&
	     (h[2] = vs_sim_add_host(sim, &d)) >= 0 && (sw = vs_sim_add_switch(sim, "S")) >= 0;
	for (int i = 0; ok && i < 3; i++)
		ok = vs_sim_connect(sim, h[i], sw, &l) == VS_OK;
	ok = ok && vs_sim_fault(sim, "dup 50%", NULL) >= 0 && vs_sim_fault(sim, "delay 50% by 1us", NULL) >= 0;
	for (int i = 0; ok && i < 100; i++)
		ok = vs_sim_inject(sim, h[0], frame, n) == VS_OK;
	if (ok)
		vs_sim_run(sim, VS_NEVER);
	vs_sim_destroy(sim);
	ck_assert_uint_eq(c->now, 0);
	return ok;
}

START_TEST(every_allocation_may_fail_and_nothing_leaks)
{
	struct counted c = {0};
	size_t calls;

	ck_assert(exercise(&c));
	calls = c.calls;
	ck_assert_uint_gt(calls, 20);
	for (size_t i = 1; i <= calls; i++) {
		c = (struct counted){.fail_at = i};
		/* The last ones are those of limbo and copies: a fault that finds no memory is not done. */
		(void)exercise(&c);
	}
}
END_TEST

/* ---- devices on the wire ---- */

struct side {
	struct vs_dev *dev;
	struct vs_pd *pd;
	struct vs_cq *cq;
	struct vs_qp *qp;
	struct vs_mr *mr;
	uint64_t mem[1024];
};

struct duo {
	struct vs_sim *sim;
	struct vs_event_log log;
	int host[2];
	struct side side[2];
};

static void side_make(struct duo *d, int i, uint32_t depth)
{
	struct side *s = &d->side[i];
	struct vs_qp_init in = {.type = VS_QPT_RC, .cap = {depth, depth, 1, 1, 0}};
	struct vs_mr_attr m = {
		.addr = (uintptr_t)s->mem, .length = sizeof(s->mem), .iova = (uintptr_t)s->mem, .access = 15};
	int err;

	s->dev = vs_sim_dev(d->sim, d->host[i]);
	s->pd = vs_pd_create(s->dev, &err);
	in.send_cq = in.recv_cq = s->cq = vs_cq_create(s->dev, 64, 0, &err);
	s->qp = vs_qp_create(s->pd, &in, &err);
	s->mr = vs_mr_reg(s->pd, &m, &err);
	ck_assert(s->qp != NULL && s->mr != NULL);
}

static void side_connect(struct duo *d, int i)
{
	struct vs_qp_attr a = {.state = VS_QPS_INIT, .port_num = 1, .access_flags = 15};
	struct side *s = &d->side[i];

	ck_assert_int_eq(vs_qp_modify(s->qp, &a, VS_QP_STATE | VS_QP_PORT | VS_QP_PKEY_INDEX | VS_QP_ACCESS_FLAGS), 0);
	a.state = VS_QPS_RTR;
	a.path_mtu = VS_MTU_1024;
	a.dest_qpn = vs_qp_num(d->side[!i].qp);
	a.rq_psn = 0xfffffe;
	a.max_dest_rd_atomic = 3;
	a.min_rnr_timer = 1;
	ck_assert_int_eq(vs_sim_av(d->sim, d->host[!i], 0, &a.av), VS_OK);
	ck_assert_int_eq(vs_qp_modify(s->qp, &a,
				      VS_QP_STATE | VS_QP_AV | VS_QP_PATH_MTU | VS_QP_DEST_QPN | VS_QP_RQ_PSN |
					      VS_QP_MAX_DEST_RD_ATOMIC | VS_QP_MIN_RNR_TIMER),
			 0);
	a.state = VS_QPS_RTS;
	a.sq_psn = 0xfffffe;
	a.timeout = 20; /* 4.3 s */
	a.retry_cnt = 7;
	a.rnr_retry = 7;
	a.max_rd_atomic = 3;
	ck_assert_int_eq(vs_qp_modify(s->qp, &a,
				      VS_QP_STATE | VS_QP_SQ_PSN | VS_QP_TIMEOUT | VS_QP_RETRY_CNT | VS_QP_RNR_RETRY |
					      VS_QP_MAX_QP_RD_ATOMIC),
			 0);
}

static struct duo *duo_new_depth(const struct vs_dev_attr *attr, const struct vs_sim_link *link, uint32_t depth)
{
	struct duo *d = calloc(1, sizeof(*d));
	struct vs_sim_attr a = {.seed = 11};
	int err;

	ck_assert_ptr_nonnull(d);
	vs_event_log_init(&d->log, 0);
	a.sink = vs_event_log_sink(&d->log, VS_LEVEL_EXTRA);
	d->sim = vs_sim_create(&a, &err);
	for (int i = 0; i < 2; i++)
		d->host[i] = vs_sim_add_host(d->sim, attr);
	ck_assert_int_eq(vs_sim_connect(d->sim, d->host[0], d->host[1], link), VS_OK);
	side_make(d, 0, depth);
	side_make(d, 1, depth);
	side_connect(d, 0);
	side_connect(d, 1);
	return d;
}

static struct duo *duo_new(const struct vs_dev_attr *attr, const struct vs_sim_link *link)
{
	return duo_new_depth(attr, link, 16);
}

static void duo_free(struct duo *d)
{
	vs_sim_destroy(d->sim);
	vs_event_log_free(&d->log);
	free(d);
}

static void post(struct duo *d, enum vs_wr_opcode op, uint32_t len, uint64_t wr_id)
{
	struct side *a = &d->side[0], *b = &d->side[1];
	struct vs_sge sge = {(uintptr_t)a->mem, len, vs_mr_lkey(a->mr)};
	struct vs_send_wr wr = {.wr_id = wr_id, .opcode = op, .flags = VS_SEND_SIGNALED, .sg_list = &sge, .num_sge = 1};

	wr.rdma.remote_addr = (uintptr_t)b->mem;
	wr.rdma.rkey = vs_mr_rkey(b->mr);
	ck_assert_int_eq(vs_qp_post_send(a->qp, &wr), VS_OK);
}

static unsigned completed(struct duo *d)
{
	struct vs_wc wc;
	unsigned n = 0;

	while (vs_cq_poll(d->side[0].cq, &wc, 1) == 1) {
		ck_assert_msg(wc.status == VS_WC_SUCCESS, "%s", vs_wc_status_name(wc.status));
		n++;
	}
	return n;
}

START_TEST(a_lost_packet_costs_no_time_but_that_of_the_simulation)
{
	struct vs_dev_attr attr = {.cm_disabled = true};
	struct duo *d = duo_new(&attr, &(struct vs_sim_link){.latency_ns = 1000});
	uint64_t steps;

	ck_assert_int_ge(vs_sim_fault(d->sim, "drop 1st", NULL), 0);
	post(d, VS_WR_RDMA_WRITE, 100, 1);
	steps = vs_sim_run(d->sim, VS_NEVER);
	ck_assert_uint_eq(completed(d), 1);
	ck_assert_uint_eq(vs_sim_now(d->sim), (4096ull << 20) + 2000);
	ck_assert_uint_lt(steps, 20);
	duo_free(d);
}
END_TEST

/* The chain from a completion back to the call that asked for it: through the fault that held it up. */
START_TEST(causes_lead_from_the_completion_to_the_post)
{
	static const char *const way[] = {"cqe",      "pkt:rx",     "pkt:tx", "pkt:rx",        "pkt:tx",
					  "rc:retry", "rc:timeout", "pkt:tx", "verb:post_send"};
	struct vs_dev_attr attr = {.cm_disabled = true};
	struct duo *d = duo_new(&attr, &(struct vs_sim_link){.latency_ns = 1000});
	uint64_t seq = 0;

	ck_assert_int_ge(vs_sim_fault(d->sim, "drop 1st", NULL), 0);
	post(d, VS_WR_RDMA_WRITE, 100, 1);
	vs_sim_run(d->sim, VS_NEVER);
	for (size_t i = 0; i < d->log.n; i++)
		if (d->log.ev[i].type == VS_EV_CQE)
			seq = d->log.ev[i].seq;
	for (size_t i = 0; i < sizeof(way) / sizeof(way[0]); i++) {
		const struct vs_event *ev;

		ck_assert_uint_ne(seq, 0);
		ev = &d->log.ev[seq - 1];
		ck_assert_str_eq(vs_event_info((enum vs_event_type)ev->type)->name, way[i]);
		seq = ev->cause;
	}
	ck_assert_uint_eq(seq, 0);
	duo_free(d);
}
END_TEST

/* Found by the soak: the READ had its PSN and waited for its pace, the acknowledge passed over it. */
START_TEST(a_read_that_waits_for_its_pace_is_sent_when_all_before_it_is_acknowledged)
{
	struct vs_dev_attr attr = {.cm_disabled = true,
				   .cc = {.enabled = true,
					  .ecn = 2,
					  .link_rate_bps = 1000000000,
					  .rate_timer_ns = 1000000000,
					  .alpha_timer_ns = 1000000000,
					  .min_rate_bps = 1000000}};
	struct duo *d = duo_new(&attr, &(struct vs_sim_link){.latency_ns = 10});

	ck_assert_int_ge(vs_sim_fault(d->sim, "mark first 5 data", NULL), 0);
	for (unsigned i = 0; i < 5; i++) {
		post(d, VS_WR_RDMA_WRITE, 1000, i);
		vs_sim_run(d->sim, vs_sim_now(d->sim) + 1000000);
	}
	ck_assert_uint_eq(completed(d), 5);
	post(d, VS_WR_RDMA_WRITE, 1000, 5);
	post(d, VS_WR_RDMA_READ, 1000, 6);
	vs_sim_run(d->sim, vs_sim_now(d->sim) + 1000000);
	ck_assert_uint_eq(completed(d), 2);
	duo_free(d);
}
END_TEST

/* Two billion requests later: every ring goes on across 2^32, whatever its size. */
START_TEST(queues_of_any_size_go_on_when_their_indices_wrap)
{
	struct vs_dev_attr attr = {.cm_disabled = true, .max_rd_atomic = 3};

	for (uint32_t depth = 1; depth <= 7; depth++) {
		struct duo *d = duo_new_depth(&attr, &(struct vs_sim_link){.latency_ns = 10}, depth);
		unsigned done = 0;

		for (int i = 0; i < 2; i++) {
			struct vs_qp *qp = d->side[i].qp;

			qp->sq.head = qp->sq.tail = qp->sq.send = UINT32_MAX - 5;
			qp->rq.head = qp->rq.tail = UINT32_MAX - 5;
			qp->resp.rres_head = qp->resp.rres_tail = UINT32_MAX - 5;
			d->side[i].cq->head = d->side[i].cq->tail = UINT32_MAX - 5;
		}
		for (uint64_t wr = 0; wr < 30; wr++) {
			struct side *b = &d->side[1];
			struct vs_sge sge = {(uintptr_t)b->mem, 64, vs_mr_lkey(b->mr)};
			struct vs_recv_wr recv = {.wr_id = wr, .sg_list = &sge, .num_sge = 1};
			bool atomic = wr % 3 == 0;
			struct vs_wc wc;

			if (!atomic)
				ck_assert_int_eq(vs_qp_post_recv(b->qp, &recv), VS_OK);
			post(d, atomic ? VS_WR_ATOMIC_FETCH_AND_ADD : VS_WR_SEND, atomic ? 8 : 64, wr);
			vs_sim_run(d->sim, vs_sim_now(d->sim) + 1000);
			done += completed(d);
			if (atomic)
				continue;
			ck_assert_int_eq(vs_cq_poll(b->cq, &wc, 1), 1);
			ck_assert_int_eq(wc.status, VS_WC_SUCCESS);
			ck_assert_uint_eq(wc.wr_id, wr);
		}
		ck_assert_uint_eq(done, 30);
		duo_free(d);
	}
}
END_TEST

static char *trace_of(uint64_t seed)
{
	struct vs_dev_attr attr = {.cm_disabled = true, .seed = seed};
	struct duo *d = duo_new(&attr, &(struct vs_sim_link){.latency_ns = 1000, .rate_bps = 10000000000ull});
	struct vs_vst_header h = {.clock = "sim", .build = "test"};
	char *text = NULL;
	size_t len;
	FILE *f;

	ck_assert_int_ge(vs_sim_fault(d->sim, "drop 20%", NULL), 0);
	for (unsigned i = 0; i < 16; i++)
		post(d, i % 2 ? VS_WR_RDMA_READ : VS_WR_RDMA_WRITE, 8000, i);
	vs_sim_run(d->sim, VS_NEVER);
	for (size_t i = 0; i < d->log.n; i++) /* addresses of this process are no business of the seed */
		if (d->log.ev[i].type != VS_EV_PKT_TX && d->log.ev[i].type != VS_EV_PKT_RX)
			memset(d->log.ev[i].a, 0, sizeof(d->log.ev[i].a));
	f = open_memstream(&text, &len);
	ck_assert_int_eq(vs_event_log_write(&d->log, &h, f), VS_OK);
	fclose(f);
	duo_free(d);
	return text;
}

START_TEST(the_same_seed_gives_the_same_trace)
{
	char *a = trace_of(3), *b = trace_of(3), *c = trace_of(4);

	ck_assert_uint_gt(strlen(a), 10000);
	ck_assert_str_eq(a, b);
	ck_assert_str_ne(a, c);
	free(a);
	free(b);
	free(c);
}
END_TEST

static void add_wire(Suite *s)
{
	TCase *tc = tcase_create("wire");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_frame_takes_its_length_by_the_rate_and_the_latency);
	tcase_add_test(tc, frames_wait_for_the_transmitter_and_both_directions_are_apart);
	tcase_add_test(tc, a_link_without_rate_only_delays);
	tcase_add_test(tc, run_stops_the_clock_where_it_is_told);
	tcase_add_test(tc, a_host_has_one_link_and_links_make_no_ring);
	tcase_add_test(tc, injection_wants_a_host_and_a_frame_that_fits);
	tcase_add_test(tc, hosts_get_addresses_that_follow_their_number);
	tcase_add_test(tc, a_switch_sends_to_the_addressee_alone);
	tcase_add_test(tc, groups_and_unknown_addresses_reach_all_but_the_sender);
	tcase_add_test(tc, what_a_host_sends_to_itself_comes_back);
	tcase_add_test(tc, a_frame_without_a_way_is_lost);
	tcase_add_test(tc, native_infiniband_goes_by_lid);
	tcase_add_test(tc, a_full_queue_drops_and_says_so);
	tcase_add_test(tc, a_deep_queue_marks_ect_frames_and_no_others);
	tcase_add_test(tc, pause_stops_the_sender_whose_frames_fill_the_queue_and_no_other);
	tcase_add_test(tc, frames_beyond_the_limit_in_flight_are_dropped);
	tcase_add_test(tc, every_allocation_may_fail_and_nothing_leaks);
	suite_add_tcase(s, tc);
}

static void add_faults(Suite *s)
{
	TCase *tc = tcase_create("faults");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_dropped_frame_is_lost_with_its_event);
	tcase_add_test(tc, a_copied_frame_arrives_again_as_the_same_transmission);
	tcase_add_test(tc, a_delayed_frame_is_passed_by_others);
	tcase_add_test(tc, a_held_frame_makes_everything_behind_it_wait);
	tcase_add_test(tc, an_overtaken_frame_goes_behind_the_next_n_of_its_path);
	tcase_add_test(tc, an_overtaken_frame_that_nobody_passes_goes_on_in_time);
	tcase_add_test(tc, several_frames_can_be_overtaken_at_once);
	tcase_add_test(tc, a_corrupted_frame_differs_in_one_bit_behind_the_bth);
	tcase_add_test(tc, a_mark_changes_nothing_but_the_mark);
	tcase_add_test(tc, a_mark_on_native_infiniband_is_fecn_under_a_right_vcrc);
	tcase_add_test(tc, all_marks_give_a_right_ipv4_checksum);
	tcase_add_test(tc, faults_of_one_frame_add_up_and_chain_their_causes);
	tcase_add_test(tc, what_is_no_rdma_passes_all_faults);
	tcase_add_test(tc, a_rule_that_is_wrong_is_refused);
	suite_add_tcase(s, tc);
}

Suite *vs_suite(void)
{
	Suite *s = suite_create("sim");
	TCase *tc = tcase_create("devices");

	add_wire(s);
	add_faults(s);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_lost_packet_costs_no_time_but_that_of_the_simulation);
	tcase_add_test(tc, causes_lead_from_the_completion_to_the_post);
	tcase_add_test(tc, a_read_that_waits_for_its_pace_is_sent_when_all_before_it_is_acknowledged);
	tcase_add_test(tc, queues_of_any_size_go_on_when_their_indices_wrap);
	tcase_add_test(tc, the_same_seed_gives_the_same_trace);
	suite_add_tcase(s, tc);
	return s;
}
