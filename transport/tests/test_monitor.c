/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* test_monitor.c - what the monitor says of packets that break no rule: links, classes, causes, times, bounds. */
#include "monrig.h"

#define RNR_5MS 18 /* 5.12 ms */

static const struct vs_mon_totals *totals(void)
{
	return vs_monitor_totals(rig.m);
}

START_TEST(an_answer_refers_to_its_request_and_tells_the_round_trip)
{
	request(VS_OP_RC_SEND_FIRST, 0xffffff, 256);
	request(VS_OP_RC_SEND_LAST, 0, 8);
	ck_assert_uint_eq(rig.out.message, 1);
	wait_us(9);
	ack(0, 1);
	ck_assert_int_eq(rig.out.class_, VS_MON_RESPONSE);
	ck_assert_uint_eq(rig.out.request, 2);
	ck_assert_uint_eq(rig.out.message, 1);
	ck_assert(rig.out.flags & VS_MON_RTT);
	ck_assert_uint_eq(rig.out.rtt_ns, 10000);
	ck_assert_uint_eq(rig.link.frame, 2);
	ck_assert_uint_eq(rig.link.later, 3);
	ck_assert_int_eq(rig.link.kind, VS_MON_LINK_ANSWERED);
}
END_TEST

START_TEST(one_acknowledgement_may_cover_many)
{
	request(VS_OP_RC_SEND_ONLY, 0, 8);
	ack(0, 1);
	for (uint32_t i = 1; i < 9; i++)
		request(VS_OP_RC_SEND_ONLY, i, 8);
	ck_assert_uint_eq(rig.out.outstanding, 8);
	ack(8, 9);
	ck_assert(rig.out.flags & VS_MON_COALESCED);
	ack(8, 9);
	ck_assert_int_eq(rig.out.class_, VS_MON_DUP_ACK);
	ack(5, 9);
	ck_assert_int_eq(rig.out.class_, VS_MON_GHOST_ACK);
	ck_assert_uint_eq(totals()->ghost_acks, 1);
	request(VS_OP_RC_SEND_ONLY, 9, 8);
	ck_assert_uint_eq(rig.out.outstanding, 1);
	vs_monitor_end(rig.m);
	ck_assert_uint_eq(totals()->unacknowledged, 1);
}
END_TEST

START_TEST(an_acknowledgement_is_linked_to_all_that_it_covers)
{
	for (uint32_t i = 0; i < 3; i++)
		request(VS_OP_RC_SEND_ONLY, i, 8);
	nak(2, VS_NAK_PSN_SEQ, 2); /* before any other answer: 0 and 1 are there */
	ck_assert_uint_eq(rig.answered, 1u << 1 | 1u << 2);
	request(VS_OP_RC_SEND_ONLY, 2, 8);
	read_request(3, 0x1000, 8);
	request(VS_OP_RC_SEND_ONLY, 4, 8);
	ack(4, 5); /* the READ has to be answered with data */
	ck_assert_uint_eq(rig.answered, 1u << 1 | 1u << 2 | 1u << 3 | 1u << 7);
}
END_TEST

START_TEST(retransmissions_name_the_nak_that_asked_for_them)
{
	for (uint32_t i = 0; i < 4; i++)
		request(VS_OP_RC_SEND_ONLY, i, 8);
	nak(1, VS_NAK_PSN_SEQ, 1);
	for (uint32_t i = 1; i < 4; i++) {
		request(VS_OP_RC_SEND_ONLY, i, 8);
		ck_assert_int_eq(rig.out.class_, VS_MON_RETRANSMISSION);
		ck_assert_int_eq(rig.out.cause, VS_MON_CAUSE_NAK);
		ck_assert_uint_eq(rig.out.cause_frame, 5);
		ck_assert_uint_eq(rig.out.original, i + 1);
		ck_assert_uint_eq(rig.out.wasted, 8);
		ck_assert_uint_eq(rig.out.iter, 2);
	}
	ck_assert_uint_eq(totals()->retransmissions, 3);
	ck_assert_uint_eq(totals()->wasted, 24);
	ck_assert_uint_eq(totals()->useful, 32);
}
END_TEST

START_TEST(after_an_rnr_nak_the_wait_is_measured)
{
	request(VS_OP_RC_SEND_ONLY, 0, 8);
	rnr(0, RNR_5MS, 0);
	ck_assert(rig.out.flags & VS_MON_RNR);
	wait_us(5200);
	request(VS_OP_RC_SEND_ONLY, 0, 8);
	ck_assert_int_eq(rig.out.cause, VS_MON_CAUSE_RNR);
	ck_assert_uint_eq(rig.out.wait_us, 5201);
	ck_assert_uint_eq(rig.found[VS_RULE_RNR_TOO_EARLY], 0);
}
END_TEST

START_TEST(an_answer_to_a_later_request_implies_a_nak)
{
	request(VS_OP_RC_SEND_ONLY, 0, 8);
	ack(0, 1);
	read_request(1, 0x1000, 8);
	request(VS_OP_RC_SEND_ONLY, 2, 8);
	ack(2, 3);
	ck_assert(rig.out.flags & VS_MON_IMPLIED_NAK);
	read_request(1, 0x1000, 8);
	ck_assert_int_eq(rig.out.cause, VS_MON_CAUSE_IMPLIED);
	ck_assert_uint_eq(rig.out.cause_frame, 5);
	ck_assert(rig.out.flags & VS_MON_DUPLICATE);
}
END_TEST

START_TEST(without_any_reason_it_was_the_timer)
{
	request(VS_OP_RC_SEND_ONLY, 0, 8);
	wait_us(67000);
	request(VS_OP_RC_SEND_ONLY, 0, 8);
	ck_assert_int_eq(rig.out.cause, VS_MON_CAUSE_TIMEOUT);
	ck_assert_uint_eq(rig.out.rtt_ns, 67001000); /* since the loss, at most */
}
END_TEST

START_TEST(no_timer_sends_again_what_is_unreliable)
{
	for (unsigned i = 0; i < 2; i++)
		request(VS_OP_UC_SEND_ONLY, 0, 8);
	ck_assert_int_eq(rig.out.class_, VS_MON_RETRANSMISSION);
	ck_assert_int_eq(rig.out.cause, VS_MON_CAUSE_NONE);
	ck_assert_uint_eq(totals()->cause[VS_MON_CAUSE_TIMEOUT], 0);
	request(VS_OP_RC_SEND_ONLY, 1, 8);
	request(VS_OP_RC_SEND_ONLY, 1, 8);
	ck_assert_int_eq(rig.out.cause, VS_MON_CAUSE_TIMEOUT);
}
END_TEST

START_TEST(the_network_makes_copies_with_the_same_ip_id)
{
	make_request(VS_OP_RC_SEND_ONLY, 0, 8);
	rig.p.ipv4.id = 1;
	go();
	make_request(VS_OP_RC_SEND_ONLY, 1, 8);
	rig.p.ipv4.id = 2;
	rig.icrc = 77;
	go();
	go();
	ck_assert_int_eq(rig.out.class_, VS_MON_NETWORK_DUP);
	rig.p.ipv4.id = 3;
	rig.icrc = 78;
	go();
	ck_assert_int_eq(rig.out.class_, VS_MON_RETRANSMISSION);
	ck_assert_uint_eq(totals()->network_duplicates, 1);
	ck_assert_uint_eq(totals()->retransmissions, 1);
}
END_TEST

START_TEST(a_gap_is_counted_and_what_fills_it_is_late)
{
	request(VS_OP_RC_SEND_ONLY, 0, 8);
	request(VS_OP_RC_SEND_ONLY, 3, 8);
	ck_assert(rig.out.flags & VS_MON_GAP);
	ck_assert_uint_eq(rig.out.missing, 2);
	nak(1, VS_NAK_PSN_SEQ, 1);
	request(VS_OP_RC_SEND_ONLY, 1, 8);
	ck_assert_int_eq(rig.out.class_, VS_MON_LATE);
	ck_assert_int_eq(rig.out.cause, VS_MON_CAUSE_NAK);
	ck_assert_uint_eq(totals()->gaps, 1);
	ck_assert_uint_eq(totals()->retransmissions, 0);
}
END_TEST

START_TEST(read_responses_know_their_place)
{
	read_request(0xfffffe, 0x1000, 1024);
	for (uint32_t i = 0; i < 4; i++) {
		answer(i == 0   ? VS_OP_RC_READ_RESPONSE_FIRST
		       : i == 3 ? VS_OP_RC_READ_RESPONSE_LAST
				: VS_OP_RC_READ_RESPONSE_MIDDLE,
		       vs_psn_add(0xfffffe, (int32_t)i), 256, 1);
		ck_assert_uint_eq(rig.out.request, 1);
		ck_assert_uint_eq(rig.out.offset, 256 * i);
	}
	request(VS_OP_RC_SEND_ONLY, 2, 8);
	ck_assert(!(rig.out.flags & VS_MON_GAP));
	ck_assert_uint_eq(rig_musts(), 0);
}
END_TEST

START_TEST(the_rest_of_a_read_is_a_retransmission_of_it)
{
	read_request(0, 0x1000, 1024);
	answer(VS_OP_RC_READ_RESPONSE_FIRST, 0, 256, 1);
	answer(VS_OP_RC_READ_RESPONSE_LAST, 3, 256, 1);
	ck_assert(rig.out.flags & VS_MON_GAP);
	read_request(1, 0x1100, 768);
	ck_assert_int_eq(rig.out.class_, VS_MON_RETRANSMISSION);
	ck_assert(rig.out.flags & VS_MON_READ_PART);
	ck_assert_uint_eq(rig.out.original, 1);
	ck_assert_uint_eq(rig_musts(), 0);
}
END_TEST

START_TEST(credits_are_told_unless_there_is_no_limit)
{
	request(VS_OP_RC_SEND_ONLY, 0, 8);
	make_answer(VS_OP_RC_ACKNOWLEDGE, 0, 0, 9, 1);
	go();
	ck_assert(rig.out.flags & VS_MON_CREDITS);
	ck_assert_uint_eq(rig.out.credits, 24);
	ack(0, 1);
	ck_assert(!(rig.out.flags & VS_MON_CREDITS));
}
END_TEST

START_TEST(the_other_direction_is_inferred_or_known_from_cm)
{
	request(VS_OP_RC_SEND_ONLY, 0x100, 8);
	ck_assert(!(rig.out.flags & VS_MON_PAIRED));
	ack(0x100, 1);
	ck_assert(rig.out.flags & VS_MON_INFERRED);
	ck_assert_uint_eq(rig.out.stream, 1);
	rig_end();
	rig_begin(NULL);
	connected(0x100, 0x200);
	request(VS_OP_RC_SEND_ONLY, 0x100, 8);
	ack(0x100, 1);
	ck_assert(rig.out.flags & VS_MON_PAIRED);
	ck_assert(!(rig.out.flags & VS_MON_INFERRED));
}
END_TEST

START_TEST(nothing_is_inferred_when_two_connections_are_possible)
{
	request(VS_OP_RC_SEND_ONLY, 0, 8);
	make_request(VS_OP_RC_SEND_ONLY, 0, 8);
	rig.p.bth.destqp++;
	go();
	ack(0, 1);
	ck_assert(!(rig.out.flags & VS_MON_PAIRED));
	ck_assert_uint_eq(rig.out.request, 0);
}
END_TEST

START_TEST(capture_points_are_apart)
{
	request(VS_OP_RC_SEND_ONLY, 0, 8);
	rig.vantage = 1;
	request(VS_OP_RC_SEND_ONLY, 0, 8);
	ck_assert_int_eq(rig.out.class_, VS_MON_NEW);
	ck_assert_uint_eq(totals()->flows, 2);
}
END_TEST

static void ipv4(uint8_t to[4], uint8_t last)
{
	to[0] = 10;
	to[1] = to[2] = 0;
	to[3] = last;
}

/* The REQ says the addresses in its path, in its private data, or not at all. */
START_TEST(cm_messages_from_other_addresses_tell_the_flows_all_the_same)
{
	struct vs_cm_msg req = {.attribute = VS_CM_ATTR_REQ}, rep = {.attribute = VS_CM_ATTR_REP};
	struct vs_rdmacm_hdr h = {.ip_version = 4};

	req.req.local_comm_id = rep.rep.remote_comm_id = 5;
	req.req.qpn = MONRIG_QP_A;
	rep.rep.qpn = MONRIG_QP_B;
	req.req.service_id = vs_rdmacm_service(VS_RDMACM_PS_TCP, 7471);
	if (_i == 0) {
		memset(req.req.primary_local_gid + 10, 0xff, 2);
		memset(req.req.primary_remote_gid + 10, 0xff, 2);
		ipv4(req.req.primary_local_gid + 12, 1);
		ipv4(req.req.primary_remote_gid + 12, 2);
	} else if (_i == 1) {
		ipv4(h.src + 12, 1);
		ipv4(h.dst + 12, 2);
		ck_assert_int_eq(vs_rdmacm_build(&h, req.req.private_data), VS_OK);
	}
	make_cm(true, &req);
	ipv4(rig.p.ipv4.src, 101);
	ipv4(rig.p.ipv4.dst, 102);
	go();
	make_cm(false, &rep);
	ipv4(rig.p.ipv4.src, 102);
	ipv4(rig.p.ipv4.dst, 101);
	go();
	request(VS_OP_RC_SEND_ONLY, 0, 8);
	make_answer(VS_OP_RC_ACKNOWLEDGE, 0, 0, 0x1f, 1);
	go();
	ck_assert(rig.out.flags & VS_MON_PAIRED);
	ck_assert_int_eq((rig.out.flags & VS_MON_INFERRED) != 0, _i == 2);
}
END_TEST

START_TEST(a_clock_that_jumps_gives_no_times_and_no_claims)
{
	request(VS_OP_RC_SEND_ONLY, 0, 8);
	rig.now_ns = INT64_MAX - 2000000;
	ack(0, 1);
	ck_assert(!(rig.out.flags & VS_MON_RTT));
	request(VS_OP_RC_SEND_ONLY, 1, 8);
	rnr(1, RNR_5MS, 1);
	rig.now_ns = INT64_MIN;
	request(VS_OP_RC_SEND_ONLY, 1, 8);
	ck_assert_int_eq(rig.out.cause, VS_MON_CAUSE_RNR);
	ck_assert_uint_eq(rig.out.wait_us, 0);
	ck_assert_uint_eq(rig.found[VS_RULE_RNR_TOO_EARLY], 0);
}
END_TEST

/* mergecap -a: two captures of connections with the same queue pairs, each from the same time on. */
START_TEST(captures_that_are_joined_may_be_of_two_connections)
{
	for (unsigned joined = 0; joined < 2; joined++) {
		rig_end();
		rig_begin(NULL);
		request(VS_OP_RC_SEND_ONLY, 0, 8);
		ack(0, 1);
		request(VS_OP_RC_SEND_FIRST, 1, 256);
		request(VS_OP_RC_SEND_MIDDLE, 2, 256);
		wait_us(joined ? -5000 : 5000);
		request(VS_OP_RC_SEND_ONLY, 2, 8);
		request(VS_OP_RC_SEND_FIRST, 3, 1024);
		ck_assert_uint_eq(rig.found[VS_RULE_OPCODE_SEQUENCE] == 0, joined);
		ck_assert_uint_eq(rig.found[VS_RULE_MTU_CHANGED] == 0, joined);
		ck_assert_uint_eq(rig_musts() == 0, joined);
	}
}
END_TEST

START_TEST(another_transport_is_another_connection)
{
	request(VS_OP_RC_WRITE_ONLY, 0, 8);
	request(VS_OP_UC_SEND_MIDDLE, 1, 256);
	ck_assert_uint_eq(rig_musts(), 0);
	request(VS_OP_UC_SEND_ONLY, 2, 8);
	ck_assert_uint_eq(rig.found[VS_RULE_OPCODE_SEQUENCE], 1);
}
END_TEST

START_TEST(a_read_without_its_length_covers_its_own_psn)
{
	struct vs_mon_packet in = {.pkt = &rig.p, .icrc = VS_CRC_UNVERIFIED, .vcrc = VS_CRC_UNVERIFIED};

	request(VS_OP_RC_SEND_ONLY, 0, 8);
	request(VS_OP_RC_SEND_ONLY, 4, 8);
	make_request(VS_OP_RC_READ_REQUEST, 1, 0);
	rig.p.hdrs &= ~(uint32_t)VS_HDR_RETH;
	rig.p.flags |= VS_PKT_SNAPPED | VS_PKT_HDR_MISSING;
	in.frame = ++rig.frame;
	in.time_ns = rig.now_ns;
	vs_monitor_packet(rig.m, &in, &rig.out);
	ack(4, 3);
	ck_assert_uint_eq(rig.found[VS_RULE_ACK_FOR_READ], 0);
	ack(1, 3);
	ck_assert_uint_eq(rig.found[VS_RULE_ACK_FOR_READ], 1);
}
END_TEST

START_TEST(a_psn_far_away_is_another_connection)
{
	request(VS_OP_RC_SEND_FIRST, 0, 256);
	request(VS_OP_RC_WRITE_ONLY, 0x400000, 1024);
	ck_assert_int_eq(rig.out.class_, VS_MON_NEW);
	ck_assert_uint_eq(rig_musts(), 0);
}
END_TEST

START_TEST(memory_is_bounded_by_window_and_flows)
{
	const struct vs_monitor_attr attr = {.window = 64, .max_flows = 4};

	rig_end();
	rig_begin(&attr);
	for (uint32_t i = 0; i < 100; i++) {
		make_request(VS_OP_RC_SEND_ONLY, i, 8);
		rig.p.bth.destqp = 0x100 + i % 10;
		go();
	}
	ck_assert_uint_eq(totals()->forgotten, 96);
	rig_end();
	rig_begin(&attr);
	for (uint32_t i = 0; i < 10000; i++)
		request(VS_OP_RC_SEND_ONLY, i, 8);
	request(VS_OP_RC_SEND_ONLY, 9990, 8);
	ck_assert_int_eq(rig.out.class_, VS_MON_RETRANSMISSION);
	ck_assert_uint_eq(rig.out.original, 9991);
	request(VS_OP_RC_SEND_ONLY, 1, 8); /* forgotten, save that it was there */
	ck_assert_int_eq(rig.out.class_, VS_MON_RETRANSMISSION);
	ck_assert_uint_eq(rig.out.original, 0);
	request(VS_OP_RC_SEND_LAST, 2, 8); /* never was: another opcode */
	ck_assert(!(rig.out.flags & VS_MON_REPEAT));
	ck_assert_uint_eq(totals()->retransmissions, 2);
}
END_TEST

/* Twice around the circle: those of the first turn are too far behind to be repeated by the second. */
START_TEST(a_repeat_is_within_the_last_2_23_psns)
{
	const int32_t step = 1024, far = VS_PSN_HALF - 1024;
	uint32_t psn = 0xfffff0;

	for (uint32_t i = 0; i < 2 * (VS_PSN_MASK + 1) / 1024; i++, psn = vs_psn_add(psn, step)) {
		request(VS_OP_RC_SEND_ONLY, psn, 8);
		ck_assert(!(rig.out.flags & VS_MON_REPEAT));
	}
	psn = vs_psn_add(psn, -step);
	request(VS_OP_RC_SEND_ONLY, vs_psn_add(psn, -far), 8);
	ck_assert(rig.out.flags & VS_MON_REPEAT);
	request(VS_OP_RC_SEND_ONLY, vs_psn_add(psn, -far + 1), 8);
	ck_assert(!(rig.out.flags & VS_MON_REPEAT));
	ck_assert_uint_eq(totals()->retransmissions, 1);
}
END_TEST

START_TEST(requests_and_responses_of_one_flow_have_psns_of_their_own)
{
	for (uint32_t i = 0; i < 4; i++) {
		make_answer(VS_OP_RC_READ_RESPONSE_ONLY, 0x700000 * i, 8, 0x1f, 0);
		rig.p.bth.destqp = 0x22;
		memcpy(rig.p.ipv4.src, "\x0a\0\0\1", 4);
		memcpy(rig.p.ipv4.dst, "\x0a\0\0\2", 4);
		go();
		request(VS_OP_RC_SEND_ONLY, 5, 8);
	}
	ck_assert_uint_eq(totals()->flows, 1);
	ck_assert_uint_eq(totals()->retransmissions, 3);
}
END_TEST

/* Whether a sender numbers its packets is known when two differ. */
START_TEST(a_copy_of_the_first_packet_is_counted_when_ip_ids_differ)
{
	make_request(VS_OP_RC_SEND_ONLY, 0, 8);
	rig.icrc = 7;
	rig.p.ipv4.id = 1;
	go();
	rig.icrc = 7;
	go();
	ck_assert_uint_eq(totals()->retransmissions, 1);
	make_request(VS_OP_RC_SEND_ONLY, 1, 8);
	rig.p.ipv4.id = 2;
	go();
	ck_assert_uint_eq(totals()->retransmissions, 0);
	ck_assert_uint_eq(totals()->network_duplicates, 1);
}
END_TEST

START_TEST(a_result_fits_64_bytes)
{
	ck_assert_uint_le(sizeof(struct vs_mon_result), 64);
}
END_TEST

static bool count_flows(void *ctx, const struct vs_mon_flow_info *f)
{
	unsigned *n = ctx;

	ck_assert_uint_eq(f->stream, 1);
	ck_assert(f->paired && f->inferred);
	ck_assert_uint_eq(f->addr_len, 4);
	++*n;
	return true;
}

START_TEST(flows_are_listed_with_what_is_known_of_them)
{
	unsigned n = 0;

	request(VS_OP_RC_SEND_ONLY, 0, 8);
	ack(0, 1);
	vs_monitor_flows(rig.m, count_flows, &n);
	ck_assert_uint_eq(n, 2);
}
END_TEST

static void setup(void)
{
	rig_begin(NULL);
}

static void teardown(void)
{
	rig_end();
}

Suite *vs_suite(void)
{
	Suite *s = suite_create("monitor");
	TCase *tc = tcase_create("packets");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, an_answer_refers_to_its_request_and_tells_the_round_trip);
	tcase_add_test(tc, one_acknowledgement_may_cover_many);
	tcase_add_test(tc, an_acknowledgement_is_linked_to_all_that_it_covers);
	tcase_add_test(tc, retransmissions_name_the_nak_that_asked_for_them);
	tcase_add_test(tc, after_an_rnr_nak_the_wait_is_measured);
	tcase_add_test(tc, an_answer_to_a_later_request_implies_a_nak);
	tcase_add_test(tc, without_any_reason_it_was_the_timer);
	tcase_add_test(tc, no_timer_sends_again_what_is_unreliable);
	tcase_add_test(tc, the_network_makes_copies_with_the_same_ip_id);
	tcase_add_test(tc, a_gap_is_counted_and_what_fills_it_is_late);
	tcase_add_test(tc, read_responses_know_their_place);
	tcase_add_test(tc, the_rest_of_a_read_is_a_retransmission_of_it);
	tcase_add_test(tc, credits_are_told_unless_there_is_no_limit);
	tcase_add_test(tc, the_other_direction_is_inferred_or_known_from_cm);
	tcase_add_test(tc, nothing_is_inferred_when_two_connections_are_possible);
	tcase_add_test(tc, capture_points_are_apart);
	tcase_add_loop_test(tc, cm_messages_from_other_addresses_tell_the_flows_all_the_same, 0, 3);
	tcase_add_test(tc, a_clock_that_jumps_gives_no_times_and_no_claims);
	tcase_add_test(tc, captures_that_are_joined_may_be_of_two_connections);
	tcase_add_test(tc, another_transport_is_another_connection);
	tcase_add_test(tc, a_read_without_its_length_covers_its_own_psn);
	tcase_add_test(tc, a_psn_far_away_is_another_connection);
	tcase_add_test(tc, memory_is_bounded_by_window_and_flows);
	tcase_add_test(tc, a_repeat_is_within_the_last_2_23_psns);
	tcase_add_test(tc, requests_and_responses_of_one_flow_have_psns_of_their_own);
	tcase_add_test(tc, a_copy_of_the_first_packet_is_counted_when_ip_ids_differ);
	tcase_add_test(tc, a_result_fits_64_bytes);
	tcase_add_test(tc, flows_are_listed_with_what_is_known_of_them);
	suite_add_tcase(s, tc);
	return s;
}
