/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_sim.c - the simulated wire between raw hosts: times, links, switches, queues, memory.
 */
#include "simnet.h"

/* ---- times ---- */

START_TEST(a_frame_takes_its_length_by_the_rate_and_the_latency)
{
	struct net *net = pair(&(struct vs_sim_link){.latency_ns = 700, .rate_bps = 1000000000});
	size_t n = send(net, 0, 1, 1, 100);

	ck_assert(vs_sim_busy(net->sim));
	ck_assert_uint_eq(vs_sim_next(net->sim), 8 * n + 700);
	vs_sim_run(net->sim, VS_NEVER);
	ck_assert(!vs_sim_busy(net->sim));
	ck_assert_uint_eq(vs_sim_next(net->sim), VS_NEVER);
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

START_TEST(the_word_to_pause_needs_its_latency_and_what_is_on_the_way_still_comes)
{
	struct net *net = net_new(2);
	/* A frame takes 105.8 ns from A, and ten times as long to B: the fourth meets two in the queue. */
	const struct vs_sim_link fast = {.rate_bps = 80000000000ull, .latency_ns = 1000};
	const struct vs_sim_link slow = {.rate_bps = 8000000000ull, .latency_ns = 10, .pause_bytes = 3000};
	int sw = vs_sim_add_switch(net->sim, "S");
	struct vs_sim_queue q;
	uint64_t told;

	ck_assert_int_eq(vs_sim_connect(net->sim, net->host[0], sw, &fast), VS_OK);
	ck_assert_int_eq(vs_sim_connect(net->sim, net->host[1], sw, &slow), VS_OK);
	for (uint32_t i = 1; i <= 100; i++)
		send(net, 0, 1, i, 1000);
	while (vs_sim_stats(net->sim)->pauses == 0)
		ck_assert(vs_sim_step(net->sim, VS_NEVER));
	told = vs_sim_now(net->sim);
	ck_assert_int_eq(vs_sim_queue(net->sim, net->host[0], sw, &q), VS_OK);
	ck_assert_uint_eq(q.paused_ns, 0);
	vs_sim_run(net->sim, told + 1000);
	ck_assert_int_eq(vs_sim_queue(net->sim, net->host[0], sw, &q), VS_OK);
	vs_sim_run(net->sim, told + 1500);
	told = q.sent_bytes; /* nothing more is sent, but what was sent on the way to B arrives */
	ck_assert_int_eq(vs_sim_queue(net->sim, net->host[0], sw, &q), VS_OK);
	ck_assert_uint_eq(q.sent_bytes, told);
	ck_assert_uint_eq(q.paused_ns, 500);
	vs_sim_run(net->sim, VS_NEVER);
	ck_assert_uint_eq(net->n, 100);
	ck_assert_int_eq(vs_sim_queue(net->sim, sw, net->host[1], &q), VS_OK);
	ck_assert_uint_eq(q.pauses, vs_sim_stats(net->sim)->pauses);
	ck_assert_uint_gt(q.max_bytes, 3000 + 2 * 1000 * 8); /* two latencies of A's rate, less what left meanwhile */
	ck_assert_uint_lt(q.max_bytes, 3000 + 2 * 1000 * 10 + 2 * 1058);
	ck_assert_uint_eq(q.bytes, 0);
	ck_assert_int_eq(vs_sim_queue(net->sim, net->host[0], net->host[1], &q), VS_ERR_INVAL);
	net_free(net);
}
END_TEST

START_TEST(a_queue_counts_what_it_drops_and_marks_and_how_deep_it_was)
{
	struct net *net = net_new(2);
	const struct vs_sim_link fast = {.rate_bps = 100000000000ull};
	const struct vs_sim_link slow = {.rate_bps = 1000000000, .queue_bytes = 5000, .ecn_bytes = 2000};
	int sw = vs_sim_add_switch(net->sim, "S");
	struct vs_sim_queue q;
	size_t n = 0;

	ck_assert_int_eq(vs_sim_connect(net->sim, net->host[0], sw, &fast), VS_OK);
	ck_assert_int_eq(vs_sim_connect(net->sim, net->host[1], sw, &slow), VS_OK);
	for (uint32_t i = 1; i <= 10; i++)
		n = send(net, 0, 1, i, 1000);
	vs_sim_run(net->sim, VS_NEVER);
	ck_assert_int_eq(vs_sim_queue(net->sim, sw, net->host[1], &q), VS_OK);
	ck_assert_uint_eq(q.max_bytes, 4 * n); /* one on the wire, four behind it */
	ck_assert_uint_eq(q.drops, 5);
	ck_assert_uint_eq(q.ecn_marks, 2);
	ck_assert_uint_eq(q.sent_bytes, 5 * n);
	ck_assert_uint_eq(q.pauses + q.paused_ns, 0);
	ck_assert_int_eq(vs_sim_queue(net->sim, net->host[1], sw, &q), VS_OK);
	ck_assert_uint_eq(q.drops + q.ecn_marks + q.max_bytes + q.sent_bytes, 0);
	net_free(net);
}
END_TEST

START_TEST(between_two_depths_marks_are_a_matter_of_chance)
{
	/* The queue gets as deep as 100 frames: no mark below 20, all from 60 on, up to half of them between. */
	struct net *net = net_new(2);
	const struct vs_sim_link fast = {.rate_bps = 100000000000ull};
	struct vs_sim_link slow = {.rate_bps = 1000000, .ecn_percent = 50};
	int sw = vs_sim_add_switch(net->sim, "S");
	unsigned marked[3] = {0};
	uint8_t frame[VS_FRAME_MAX];
	size_t n = build(frame, 0, 1, VS_ENCAP_ROCEV2_IPV4, 1, 1000);

	slow.ecn_bytes = (uint32_t)(20 * n);
	slow.ecn_full_bytes = (uint32_t)(60 * n);
	ck_assert_int_eq(vs_sim_connect(net->sim, net->host[0], sw, &fast), VS_OK);
	ck_assert_int_eq(vs_sim_connect(net->sim, net->host[1], sw, &slow), VS_OK);
	for (uint32_t i = 0; i <= 100; i++)
		send(net, 0, 1, i, 1000);
	vs_sim_run(net->sim, VS_NEVER);
	ck_assert_uint_eq(net->n, 101);
	for (unsigned i = 1; i < net->n; i++) /* the first one waits nowhere, i - 1 wait before the i-th */
		if ((net->got[i].frame[15] & 3) == 3)
			marked[i - 1 < 20 ? 0 : i - 1 < 60 ? 1 : 2]++;
	ck_assert_uint_eq(marked[0], 0);
	ck_assert_uint_ge(marked[1], 3); /* ten are to be expected */
	ck_assert_uint_le(marked[1], 20);
	ck_assert_uint_eq(marked[2], 40);
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

Suite *vs_suite(void)
{
	Suite *s = suite_create("sim");
	TCase *tc = tcase_create("sim");

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
	tcase_add_test(tc, the_word_to_pause_needs_its_latency_and_what_is_on_the_way_still_comes);
	tcase_add_test(tc, a_queue_counts_what_it_drops_and_marks_and_how_deep_it_was);
	tcase_add_test(tc, between_two_depths_marks_are_a_matter_of_chance);
	tcase_add_test(tc, frames_beyond_the_limit_in_flight_are_dropped);
	tcase_add_test(tc, every_allocation_may_fail_and_nothing_leaks);
	suite_add_tcase(s, tc);
	return s;
}
