/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* test_trace.c - the model of vs-trace: what belongs to which request, what became of packets, strange input. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../model_build.h"
#include "vs/psn.h"

#include "tests/runner.h"

#define HEAD "{\"vst\":\"0.1\",\"clock\":\"sim\",\"unit\":\"ns\"}\n"
#define EV(seq, t, node, rest) "{\"seq\":" #seq ",\"t\":\"" #t "\",\"node\":\"" node "\"," rest "}\n"
#define POST(seq, t, wr, len)                                                                              \
	EV(seq, t, "A",                                                                                    \
	   "\"ev\":\"verb:post_send\",\"qpn\":\"0x11\",\"wr\":" #wr ",\"op\":\"RDMA_WRITE\",\"len\":" #len \
	   ",\"flags\":\"0x2\",\"ret\":0")
#define TX(seq, t, node, qpn, pkt, opc, psn, dqpn, more)                                               \
	EV(seq, t, node,                                                                               \
	   "\"ev\":\"pkt:tx\",\"qpn\":\"" qpn "\",\"pkt\":" #pkt ",\"opc\":\"" opc "\",\"psn\":\"" psn \
	   "\",\"dqpn\":\"" dqpn "\"," more)
#define RX(seq, t, node, qpn, pkt, opc, psn, more) \
	EV(seq, t, node,                           \
	   "\"ev\":\"pkt:rx\",\"qpn\":\"" qpn "\",\"pkt\":" #pkt ",\"opc\":\"" opc "\",\"psn\":\"" psn "\"," more)

static struct vt_model *model(const char *text)
{
	FILE *f = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	struct vt_model *m;
	char err[256];

	ck_assert_ptr_nonnull(f);
	m = vt_model_load_vst(f, "test", err, sizeof(err));
	fclose(f);
	ck_assert_msg(m != NULL, "%s", err);
	return m;
}

static const char *refusal(const char *text, char err[256])
{
	FILE *f = fmemopen((void *)(uintptr_t)text, strlen(text), "r");

	ck_assert_ptr_nonnull(f);
	ck_assert_ptr_null(vt_model_load_vst(f, "test", err, 256));
	fclose(f);
	return err;
}

static struct vt_model *capture(const char *name)
{
	char path[256], err[256];
	struct vt_model *m;

	(void)snprintf(path, sizeof(path), "pcaps/recorded/%s.pcap", name);
	m = vt_model_load(path, err, sizeof(err));
	ck_assert_msg(m != NULL, "%s", err);
	return m;
}

/* Two WRITEs with one wr_id; a packet of the first is lost and sent again after the second has left. */
static const char two_writes[] = HEAD POST(1, 100, 7, 2048) POST(2, 110, 7, 8) TX(
	3, 120, "A", "0x11", 1, "WRITE_FIRST", "0xffffff", "0x22",
	"\"len\":1024,\"ackreq\":false,\"retx\":0,\"wr\":7,\"cause\":1") TX(4, 130, "A", "0x11", 2, "WRITE_LAST", "0x0",
									    "0x22",
									    "\"len\":1024,\"ackreq\":true,\"retx\":0,"
									    "\"wr\":7,\"cause\":1")
	EV(5, 140, "wire", "\"ev\":\"fault:drop\",\"pkt\":2,\"rule\":\"r\",\"cause\":4") TX(
		6, 150, "A", "0x11", 3, "WRITE_ONLY", "0x1", "0x22",
		"\"len\":8,\"ackreq\":true,\"retx\":0,\"wr\":7,\"cause\":2") RX(7, 160, "B", "0x22", 1, "WRITE_FIRST",
										"0xffffff", "\"len\":1024,\"cause\":3")
		TX(8, 165, "B", "0x22", 4, "ACK", "0xffffff", "0x11", "\"syn\":\"ACK\",\"msn\":0,\"cause\":7")
			RX(9, 170, "A", "0x11", 4, "ACK", "0xffffff", "\"syn\":\"ACK\",\"msn\":0,\"cause\":8") TX(
				10, 180, "A", "0x11", 5, "WRITE_LAST", "0x0", "0x22",
				"\"len\":1024,\"ackreq\":true,\"retx\":1,\"wr\":7,\"cause\":1")
				RX(11, 190, "B", "0x22", 5, "WRITE_LAST", "0x0", "\"len\":1024,\"cause\":10") RX(
					12, 190, "B", "0x22", 3, "WRITE_ONLY", "0x1", "\"len\":8,\"cause\":6")
					TX(13, 200, "B", "0x22", 6, "ACK", "0x1", "0x11",
					   "\"syn\":\"ACK\",\"msn\":2,\"cause\":12") RX(14, 210, "A", "0x11", 6, "ACK",
											"0x1",
											"\"syn\":\"ACK\",\"msn\":2,"
											"\"cause\":13")
						EV(15, 210, "A",
						   "\"ev\":\"cqe\",\"qpn\":\"0x11\",\"wr\":7,\"pkt\":6,\"status\":"
						   "\"SUCCESS\",\"op\":\"RDMA_WRITE\",\"cause\":14")
							EV(16, 210, "A",
							   "\"ev\":\"cqe\",\"qpn\":\"0x11\",\"wr\":7,\"pkt\":6,"
							   "\"status\":\"SUCCESS\",\"op\":\"RDMA_WRITE\",\"cause\":14")
								EV(17, 220, "A",
								   "\"ev\":\"verb:poll_cq\",\"wr\":7,\"status\":"
								   "\"SUCCESS\",\"op\":\"RDMA_WRITE\",\"cause\":15");

START_TEST(requests_with_the_same_wr_id_are_told_apart)
{
	struct vt_model *m = model(two_writes);

	ck_assert_uint_eq(m->n_ops, 2);
	ck_assert_uint_eq(m->op[0].post, 0);
	ck_assert_uint_eq(m->op[1].post, 1);
	ck_assert_uint_eq(m->op[0].cqe, 14);
	ck_assert_uint_eq(m->op[1].cqe, 15);
	ck_assert_uint_eq(m->op[0].poll, 16);
	ck_assert_uint_eq(m->op[1].poll, VT_NONE);
	vt_model_free(m);
}
END_TEST

START_TEST(a_retransmission_belongs_to_the_request_that_has_its_psn)
{
	struct vt_model *m = model(two_writes);

	ck_assert_uint_eq(m->op_of[9], 0);
	ck_assert_uint_eq(m->op[0].packets, 3);
	ck_assert_uint_eq(m->op[0].retransmissions, 1);
	ck_assert_uint_eq(m->op[0].wasted, 1024);
	ck_assert_uint_eq(m->op[0].first_psn, 0xffffff);
	ck_assert_uint_eq(m->op[0].last_psn, 0);
	ck_assert_uint_eq(m->op[1].packets, 1);
	ck_assert_uint_eq(m->op[1].first_psn, 1);
	vt_model_free(m);
}
END_TEST

START_TEST(an_ack_of_the_first_packet_does_not_answer_the_request)
{
	struct vt_model *m = model(two_writes);

	ck_assert_uint_eq(m->op[0].answer, 13);
	ck_assert_uint_eq(m->op[1].answer, 13);
	ck_assert_uint_eq(m->op[0].arrived, 10);
	vt_model_free(m);
}
END_TEST

START_TEST(packets_know_what_became_of_them)
{
	struct vt_model *m = model(two_writes);

	ck_assert_uint_eq(m->n_pkts, 6);
	ck_assert_uint_eq(m->pkt[1].flags & VT_PKT_LOST, VT_PKT_LOST);
	ck_assert_uint_eq(m->pkt[1].fate, 4);
	ck_assert_uint_eq(m->pkt[1].rx, VT_NONE);
	ck_assert_uint_eq(m->pkt[0].rx, 6);
	ck_assert_uint_eq(m->pkt[3].flags & VT_PKT_ANSWER, VT_PKT_ANSWER);
	ck_assert_uint_eq(m->qp[0].peer, 1);
	ck_assert_uint_eq(m->qp[1].peer, 0);
	vt_model_free(m);
}
END_TEST

START_TEST(a_send_is_joined_with_the_receive_that_it_consumes)
{
	struct vt_model *m = model(
		HEAD EV(1, 1, "B", "\"ev\":\"verb:post_recv\",\"qpn\":\"0x22\",\"wr\":9,\"len\":64,\"ret\":0")
			EV(2, 2, "A",
			   "\"ev\":\"verb:post_send\",\"qpn\":\"0x11\",\"wr\":1,\"op\":\"SEND\",\"len\":5,\"ret\":0")
				TX(3, 3, "A", "0x11", 1, "SEND_ONLY", "0x5", "0x22",
				   "\"len\":5,\"ackreq\":true,\"retx\":0,\"wr\":1,\"cause\":2")
					RX(4, 4, "B", "0x22", 1, "SEND_ONLY", "0x5", "\"len\":5,\"cause\":3")
						EV(5, 4, "B",
						   "\"ev\":\"cqe\",\"qpn\":\"0x22\",\"wr\":9,\"pkt\":1,\"status\":"
						   "\"SUCCESS\",\"op\":\"RECV\",\"cause\":4"));

	ck_assert_uint_eq(m->n_ops, 2);
	ck_assert_uint_eq(m->op[0].by, 1);
	ck_assert_uint_eq(m->op[1].recv, 0);
	ck_assert_uint_eq(m->op[0].cqe, 4);
	vt_model_free(m);
}
END_TEST

START_TEST(a_poll_alone_completes_where_a_recorder_saw_no_more)
{
	struct vt_model *m = model(HEAD POST(1, 1, 3, 8) EV(
		2, 9, "A",
		"\"ev\":\"verb:poll_cq\",\"qpn\":\"0x11\",\"wr\":3,\"status\":\"REM_ACCESS_ERR\",\"op\":\"SEND\""));
	enum vs_wc_status status;

	ck_assert(vt_op_status(m, 0, &status));
	ck_assert_int_eq(status, VS_WC_REM_ACCESS_ERR);
	ck_assert_uint_eq(m->op[0].cqe, VT_NONE);
	ck_assert(!m->has_packets && m->has_verbs);
	vt_model_free(m);
}
END_TEST

START_TEST(refused_posts_are_no_operations)
{
	struct vt_model *m = model(
		HEAD EV(1, 1, "A",
			"\"ev\":\"verb:post_send\",\"qpn\":\"0x11\",\"wr\":1,\"op\":\"SEND\",\"len\":5,\"ret\":-22"));

	ck_assert_uint_eq(m->n_ops, 0);
	vt_model_free(m);
}
END_TEST

START_TEST(a_cause_that_is_not_before_its_effect_is_none)
{
	struct vt_model *m = model(HEAD EV(1, 1, "A", "\"ev\":\"mark\",\"text\":\"a\",\"cause\":2")
					   EV(2, 2, "A", "\"ev\":\"mark\",\"text\":\"b\",\"cause\":2")
						   EV(3, 3, "A", "\"ev\":\"mark\",\"text\":\"c\",\"cause\":1"));

	ck_assert_uint_eq(m->cause[0], VT_NONE);
	ck_assert_uint_eq(m->cause[1], VT_NONE);
	ck_assert_uint_eq(m->ev[1].cause, 0);
	ck_assert_uint_eq(m->cause[2], 0);
	vt_model_free(m);
}
END_TEST

START_TEST(numbers_that_do_not_rise_are_given_out_anew)
{
	struct vt_model *m = model(HEAD EV(9, 1, "A", "\"ev\":\"mark\",\"text\":\"a\"")
					   EV(9, 2, "A", "\"ev\":\"mark\",\"text\":\"b\"")
						   EV(4, 3, "A", "\"ev\":\"mark\",\"text\":\"c\",\"cause\":9"));

	ck_assert_uint_eq(m->ev[0].seq, 1);
	ck_assert_uint_eq(m->ev[2].seq, 3);
	ck_assert_uint_eq(m->cause[2], 1); /* the newest that had the number */
	ck_assert_uint_eq(vt_find_seq(m, 2), 1);
	vt_model_free(m);
}
END_TEST

static void add(struct vt_model *m, const char *text)
{
	FILE *f = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	char err[256];

	ck_assert_ptr_nonnull(f);
	ck_assert_msg(vt_model_add_vst(m, f, "part", err, sizeof(err)), "%s", err);
	fclose(f);
}

START_TEST(several_sources_get_one_order_and_one_numbering)
{
	struct vt_model *m = vt_model_new("both");
	char err[256];

	add(m, HEAD EV(1, 10, "A", "\"ev\":\"mark\",\"text\":\"a\"")
		       EV(2, 30, "A", "\"ev\":\"mark\",\"text\":\"c\",\"cause\":1"));
	add(m, HEAD EV(1, 20, "B", "\"ev\":\"mark\",\"text\":\"b\"")
		       EV(2, 5, "B", "\"ev\":\"mark\",\"text\":\"b2\",\"cause\":1"));
	ck_assert_msg(vt_model_finish(m, err, sizeof(err)), "%s", err);
	ck_assert_str_eq(m->ev[0].node, "A");
	ck_assert_str_eq(m->ev[1].node, "B");
	ck_assert_str_eq(m->ev[2].node, "B"); /* keeps its place behind the one before, though its time steps back */
	ck_assert_str_eq(m->ev[3].node, "A");
	ck_assert_uint_eq(m->cause[2], 1);
	ck_assert_uint_eq(m->cause[3], 0);
	ck_assert_uint_eq(m->ev[3].seq, 4);
	ck_assert_uint_eq(m->backwards, 1);
	vt_model_free(m);
}
END_TEST

START_TEST(lines_that_are_no_events_are_counted_and_passed_over)
{
	struct vt_model *m = model(HEAD EV(1, 1, "A", "\"ev\":\"mark\",\"text\":\"a\"") "nonsense\n{\"seq\":2}\n" EV(
		3, 3, "A", "\"ev\":\"new:thing\"") "{\"seq\":4,\"t\":\"4\",\"no");

	ck_assert_uint_eq(m->n_events, 2);
	ck_assert_uint_eq(m->source[0].bad_lines, 2);
	ck_assert_uint_eq(m->source[0].unknown, 1);
	ck_assert(m->source[0].cut);
	ck_assert_ptr_nonnull(strstr(m->source[0].note, "line 3"));
	vt_model_free(m);
}
END_TEST

START_TEST(strange_input_gets_an_error_that_says_what)
{
	char err[256];

	ck_assert_ptr_nonnull(strstr(refusal("{\"a\":1}\n", err), "no .vst file"));
	ck_assert_ptr_nonnull(strstr(refusal(HEAD, err), "no events in it"));
	ck_assert_ptr_nonnull(strstr(refusal("{\"vst\":\"7\",\"unit\":\"ns\"}\n", err), "version 7"));
	ck_assert_ptr_null(vt_model_load("/nowhere/at/all", err, sizeof(err)));
	ck_assert_ptr_nonnull(strstr(err, "can't be opened"));
	ck_assert_ptr_null(vt_model_load("/dev/null", err, sizeof(err)));
	ck_assert_ptr_nonnull(strstr(err, "empty"));
	ck_assert_ptr_null(vt_model_load("docs/man", err, sizeof(err)));
	ck_assert_ptr_nonnull(strstr(err, "no .vst and no wire.pcap"));
	ck_assert_ptr_null(vt_model_load("README.md", err, sizeof(err)));
	ck_assert_ptr_nonnull(strstr(err, "README.md"));
}
END_TEST

/* ---- captures ---- */

START_TEST(a_captured_packet_that_a_nak_asks_for_was_lost)
{
	struct vt_model *m = capture("loss_send_req_mid");
	size_t lost = 0;

	for (size_t i = 0; i < m->n_pkts; i++) {
		if (!(m->pkt[i].flags & VT_PKT_LOST))
			continue;
		lost++;
		ck_assert_uint_eq(m->pkt[i].frame, 7);
		ck_assert(m->pkt[i].inferred);
	}
	ck_assert_uint_eq(lost, 1);
	ck_assert_uint_eq(m->n_ops, 4);
	ck_assert_uint_eq(m->op[1].retransmissions, 2);
	ck_assert_uint_eq(m->op[1].len, 4096);
	ck_assert(m->inferred && !m->has_verbs);
	vt_model_free(m);
}
END_TEST

START_TEST(a_nak_after_an_rnr_nak_tells_of_no_loss)
{
	struct vt_model *m = capture("rnr_ok");

	for (size_t i = 0; i < m->n_pkts; i++)
		ck_assert_uint_eq(m->pkt[i].flags & VT_PKT_LOST, 0);
	ck_assert_uint_eq(m->n_ops, 1);
	ck_assert_uint_eq(m->op[0].retransmissions, 6);
	vt_model_free(m);
}
END_TEST

START_TEST(both_ends_of_a_captured_connection_are_known)
{
	struct vt_model *m = capture("rc_read_v6");

	ck_assert_uint_eq(m->n_qps, 2);
	ck_assert_uint_eq(m->qp[0].peer, 1);
	ck_assert_uint_ne(m->qp[0].qpn, 0);
	ck_assert_str_eq(m->node[m->qp[0].node].title, "fd77::1");
	ck_assert_uint_eq(m->n_ops, 4);
	ck_assert_int_eq(m->op[1].opcode, VS_WR_RDMA_READ);
	ck_assert_uint_eq(m->op[1].len, 5 * 1024 + 9);
	ck_assert_uint_eq(m->op[1].responses, 6);
	ck_assert_int_eq(vs_psn_diff(m->op[1].last_psn, m->op[1].first_psn), 5);
	vt_model_free(m);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("trace");
	TCase *tc = tcase_create("model");

	tcase_add_test(tc, requests_with_the_same_wr_id_are_told_apart);
	tcase_add_test(tc, a_retransmission_belongs_to_the_request_that_has_its_psn);
	tcase_add_test(tc, an_ack_of_the_first_packet_does_not_answer_the_request);
	tcase_add_test(tc, packets_know_what_became_of_them);
	tcase_add_test(tc, a_send_is_joined_with_the_receive_that_it_consumes);
	tcase_add_test(tc, a_poll_alone_completes_where_a_recorder_saw_no_more);
	tcase_add_test(tc, refused_posts_are_no_operations);
	tcase_add_test(tc, a_cause_that_is_not_before_its_effect_is_none);
	tcase_add_test(tc, numbers_that_do_not_rise_are_given_out_anew);
	tcase_add_test(tc, several_sources_get_one_order_and_one_numbering);
	tcase_add_test(tc, lines_that_are_no_events_are_counted_and_passed_over);
	tcase_add_test(tc, strange_input_gets_an_error_that_says_what);
	tcase_add_test(tc, a_captured_packet_that_a_nak_asks_for_was_lost);
	tcase_add_test(tc, a_nak_after_an_rnr_nak_tells_of_no_loss);
	tcase_add_test(tc, both_ends_of_a_captured_connection_are_known);
	suite_add_tcase(s, tc);
	return s;
}
