/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_sim_faults.c - every fault of the simulated wire: what it does to a frame, its event, what it leaves alone.
 */
#include "simnet.h"

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

Suite *vs_suite(void)
{
	Suite *s = suite_create("sim_faults");
	TCase *tc = tcase_create("sim_faults");

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
	return s;
}
