/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_monitor_rules.c - every rule that needs neighbours, once broken and once kept: the monitor finds it where it is
 * broken, and nothing of level MUST where all is kept. Rules of one packet are in test_monitor_packet.c.
 */
#include "monrig.h"
#include "vs/event.h"
#include "vs/verbs.h"

#define RNR_5MS 18 /* 5.12 ms */

/* ---- bits of the BTH ---- */

static void ackreq_unreliable(bool wrong)
{
	make_request(VS_OP_UC_SEND_ONLY, 0, 8);
	rig.p.bth.ackreq = wrong;
	go();
}

static void ackreq_response(bool wrong)
{
	request(VS_OP_RC_SEND_ONLY, 0, 8);
	make_answer(VS_OP_RC_ACKNOWLEDGE, 0, 0, 0x1f, 1);
	rig.p.bth.ackreq = wrong;
	go();
}

static void se_response(bool wrong)
{
	request(VS_OP_RC_SEND_ONLY, 0, 8);
	make_answer(VS_OP_RC_ACKNOWLEDGE, 0, 0, 0x1f, 1);
	rig.p.bth.se = wrong;
	go();
}

static void se_misplaced(bool wrong)
{
	make_request(wrong ? VS_OP_RC_WRITE_ONLY : VS_OP_RC_SEND_ONLY, 0, 8);
	rig.p.bth.se = true;
	go();
}

static void cnp_migreq(bool wrong)
{
	make_answer(VS_OP_CNP, 0, 16, 0, 0);
	rig.p.bth.migreq = wrong;
	go();
}

/* ---- what stays the same ---- */

static void two(bool wrong, void (*change)(void))
{
	request(VS_OP_RC_SEND_ONLY, 0, 8);
	make_request(VS_OP_RC_SEND_ONLY, 1, 8);
	if (wrong)
		change();
	go();
}

static void other_pkey(void)
{
	rig.p.bth.pkey = 0x8001;
}

static void other_migreq(void)
{
	rig.p.bth.migreq = !rig.p.bth.migreq;
}

static void other_sport(void)
{
	rig.p.udp.sport++;
}

static void other_dscp(void)
{
	rig.p.ipv4.tos ^= 0x40;
}

static void other_ect(void)
{
	rig.p.ipv4.tos ^= 2;
}

static void other_ttl(void)
{
	rig.p.ipv4.ttl--;
}

static void pkey_changed(bool wrong)
{
	two(wrong, other_pkey);
}

static void migreq_changed(bool wrong)
{
	two(wrong, other_migreq);
}

static void sport_changed(bool wrong)
{
	two(wrong, other_sport);
}

static void dscp_changed(bool wrong)
{
	two(wrong, other_dscp);
}

static void ect_changed(bool wrong)
{
	two(wrong, other_ect);
}

static void ttl_changed(bool wrong)
{
	two(wrong, other_ttl);
}

static void mtu_changed(bool wrong)
{
	request(VS_OP_RC_SEND_FIRST, 0, 256);
	request(VS_OP_RC_SEND_MIDDLE, 1, wrong ? 512 : 256);
}

static void payload_over_path_mtu(bool wrong)
{
	request(VS_OP_RC_SEND_FIRST, 0, 256);
	request(VS_OP_RC_SEND_LAST, 1, wrong ? 260 : 256);
}

static void cm_mtu_exceeded(bool wrong)
{
	connected(0x100, 0x200);
	request(VS_OP_RC_SEND_ONLY, 0x100, wrong ? 257 : 256);
}

/* ---- requests ---- */

static void opcode_sequence(bool wrong)
{
	request(VS_OP_RC_SEND_FIRST, 0xffffff, 256);
	request(wrong ? VS_OP_RC_SEND_ONLY : VS_OP_RC_SEND_LAST, 0, 8);
}

static void psn_step_read(bool wrong)
{
	read_request(0, 0x1000, 1024);
	request(VS_OP_RC_SEND_ONLY, wrong ? 3 : 2, 8);
}

static void write_length_over(bool wrong)
{
	write_first(0, 256, wrong ? 300 : 512);
	request(VS_OP_RC_WRITE_LAST, 1, 256);
}

static void write_length_under(bool wrong)
{
	write_first(0, 256, wrong ? 500 : 264);
	request(VS_OP_RC_WRITE_LAST, 1, 8);
}

/* What is outstanding is known from an acknowledgement of what was before. */
static void acknowledged_before(void)
{
	request(VS_OP_RC_SEND_ONLY, 0xffffff, 8);
	ack(0xffffff, 1);
}

static void repeat_opcode(bool wrong)
{
	acknowledged_before();
	request(VS_OP_RC_SEND_FIRST, 0, 256);
	request(VS_OP_RC_SEND_LAST, 1, 8);
	request(wrong ? VS_OP_RC_SEND_ONLY : VS_OP_RC_SEND_FIRST, 0, 256);
}

static void repeat_length(bool wrong)
{
	acknowledged_before();
	request(VS_OP_RC_SEND_ONLY, 0, 8);
	request(VS_OP_RC_SEND_ONLY, 0, wrong ? 12 : 8);
}

static void repeat_reth(bool wrong)
{
	acknowledged_before();
	request(VS_OP_RC_WRITE_ONLY, 0, 8);
	make_request(VS_OP_RC_WRITE_ONLY, 0, 8);
	rig.p.ext.reth.va += wrong ? 8 : 0;
	go();
}

static void repeat_atomic(bool wrong)
{
	acknowledged_before();
	atomic_request(0, 1);
	atomic_request(0, wrong ? 2 : 1);
}

static void read_retry_subset(bool wrong)
{
	read_request(0, 0x1000, 1024);
	answer(VS_OP_RC_READ_RESPONSE_FIRST, 0, 256, 1);
	answer(VS_OP_RC_READ_RESPONSE_MIDDLE, 1, 256, 1);
	read_request(2, wrong ? 0x1100 : 0x1200, 512);
}

static void repeat_acknowledged(bool wrong)
{
	request(VS_OP_RC_SEND_ONLY, 0, 8);
	request(VS_OP_RC_SEND_ONLY, 1, 8);
	ack(0, 1);
	request(VS_OP_RC_SEND_ONLY, wrong ? 0 : 1, 8);
}

static void go_back_start(bool wrong)
{
	for (uint32_t i = 0; i < 4; i++)
		request(VS_OP_RC_SEND_ONLY, i, 8);
	nak(1, VS_NAK_PSN_SEQ, 1);
	request(VS_OP_RC_SEND_ONLY, wrong ? 2 : 1, 8);
}

static void rnr_too_early(bool wrong)
{
	request(VS_OP_RC_SEND_ONLY, 0, 8);
	rnr(0, RNR_5MS, 0);
	wait_us(wrong ? 4600 : 5120);
	request(VS_OP_RC_SEND_ONLY, 0, 8);
}

static void retry_too_early(bool wrong)
{
	connected(0x100, 0x200);
	request(VS_OP_RC_SEND_ONLY, 0x100, 8);
	ack(0x100, 1);
	request(VS_OP_RC_SEND_ONLY, 0x101, 8);
	wait_us(wrong ? 30000 : 67200);
	request(VS_OP_RC_SEND_ONLY, 0x101, 8);
}

static void retry_exceeded(bool wrong)
{
	connected(0x100, 0x200);
	request(VS_OP_RC_SEND_ONLY, 0x100, 8);
	ack(0x100, 1);
	for (unsigned i = 0; i < (wrong ? 4 : 3); i++) {
		request(VS_OP_RC_SEND_ONLY, 0x101, 8);
		wait_us(70000);
	}
}

static void rnr_retry_exceeded(bool wrong)
{
	connected(0x100, 0x200);
	request(VS_OP_RC_SEND_ONLY, 0x100, 8);
	for (unsigned i = 0; i < (wrong ? 2 : 1); i++) {
		rnr(0x100, RNR_5MS, 0);
		wait_us(5200);
		request(VS_OP_RC_SEND_ONLY, 0x100, 8);
	}
}

static void retry_too_late(bool wrong)
{
	connected(0x100, 0x200);
	request(VS_OP_RC_SEND_ONLY, 0x100, 8);
	ack(0x100, 1);
	request(VS_OP_RC_SEND_ONLY, 0x101, 8);
	wait_us(wrong ? 500000 : 260000);
	request(VS_OP_RC_SEND_ONLY, 0x101, 8);
}

static void after_fatal_nak(bool wrong)
{
	request(VS_OP_RC_SEND_ONLY, 0, 8);
	nak(0, VS_NAK_REM_ACCESS, 0);
	wait_us(wrong ? 11000 : 1);
	request(VS_OP_RC_SEND_ONLY, 1, 8);
}

static void psn_window(bool wrong)
{
	request(VS_OP_RC_SEND_ONLY, 0, 8);
	ack(0, 1);
	for (uint32_t i = 0; i < (wrong ? 4 : 3); i++) /* each takes 2^21 PSNs */
		read_request(vs_psn_add(1, (int32_t)(i << 21)), 0, 1u << 29);
	answer(VS_OP_RC_READ_RESPONSE_FIRST, 1, 256, 2);
	request(VS_OP_RC_SEND_ONLY, vs_psn_add(1, wrong ? 4 << 21 : 3 << 21), 8);
}

static void read_depth(bool wrong)
{
	connected(0x100, 0x200);
	request(VS_OP_RC_SEND_ONLY, 0x100, 8);
	ack(0x100, 1);
	read_request(0x101, 0x1000, 8);
	if (!wrong)
		answer(VS_OP_RC_READ_RESPONSE_ONLY, 0x101, 8, 2);
	read_request(0x102, 0x1000, 8);
}

/* ---- answers ---- */

static void answer_unsent(bool wrong)
{
	request(VS_OP_RC_SEND_ONLY, 0, 8);
	ack(0, 1);
	request(VS_OP_RC_SEND_ONLY, 1, 8);
	ack(wrong ? 4 : 1, 2);
}

static void answer_kind(bool wrong)
{
	request(VS_OP_RC_SEND_ONLY, 0, 8);
	ack(0, 1);
	if (wrong)
		request(VS_OP_RC_SEND_ONLY, 1, 8);
	else
		read_request(1, 0x1000, 8);
	answer(VS_OP_RC_READ_RESPONSE_ONLY, 1, 8, 2);
}

static void answer_after_fatal(bool wrong)
{
	request(VS_OP_RC_SEND_ONLY, 0, 8);
	request(VS_OP_RC_SEND_ONLY, 1, 8);
	nak(1, VS_NAK_REM_OP, 1);
	ack(wrong ? 1 : 0, wrong ? 2 : 1);
}

static void ack_for_read(bool wrong)
{
	request(VS_OP_RC_SEND_ONLY, 0, 8);
	ack(0, 1);
	read_request(1, 0x1000, 8);
	if (!wrong)
		answer(VS_OP_RC_READ_RESPONSE_ONLY, 1, 8, 2);
	ack(1, 2);
}

static void answer_order(bool wrong)
{
	read_request(0, 0x1000, 8);
	request(VS_OP_RC_SEND_ONLY, 1, 8);
	if (wrong)
		ack(1, 2);
	answer(VS_OP_RC_READ_RESPONSE_ONLY, 0, 8, 1);
	if (!wrong)
		ack(1, 2);
}

static void msn_backward(bool wrong)
{
	request(VS_OP_RC_SEND_ONLY, 0, 8);
	ack(0, 9);
	request(VS_OP_RC_SEND_ONLY, 2, 8);
	request(VS_OP_RC_SEND_ONLY, 1, 8); /* late: it fills the gap */
	ack(1, wrong ? 8 : 10);
}

static void msn_step_under(bool wrong)
{
	for (uint32_t i = 0; i < 3; i++) {
		request(VS_OP_RC_SEND_ONLY, vs_psn_add(0xfffffe, (int32_t)i), 8);
		ack(vs_psn_add(0xfffffe, (int32_t)i), wrong && i == 2 ? 0 : (0xffffff + i) & 0xffffff);
	}
}

static void msn_step_over(bool wrong)
{
	for (uint32_t i = 0; i < 3; i++) {
		request(VS_OP_RC_SEND_ONLY, i, 8);
		ack(i, wrong && i == 2 ? 5 : i + 1);
	}
}

static void nak_repeated(bool wrong)
{
	request(VS_OP_RC_SEND_ONLY, 0, 8);
	request(VS_OP_RC_SEND_ONLY, 1, 8);
	nak(0, VS_NAK_PSN_SEQ, 0);
	if (!wrong)
		request(VS_OP_RC_SEND_ONLY, 0, 8);
	nak(0, VS_NAK_PSN_SEQ, 0);
}

static void nak_acknowledged(bool wrong)
{
	request(VS_OP_RC_SEND_ONLY, 0, 8);
	request(VS_OP_RC_SEND_ONLY, 1, 8);
	ack(wrong ? 1 : 0, 1);
	nak(1, VS_NAK_PSN_SEQ, 1);
}

static void nak_after_rnr(bool wrong)
{
	request(VS_OP_RC_SEND_FIRST, 0, 256);
	request(VS_OP_RC_SEND_LAST, 1, 8);
	if (wrong)
		rnr(0, RNR_5MS, 0);
	nak(0, VS_NAK_PSN_SEQ, 0);
}

static void rnr_not_receive(bool wrong)
{
	request(wrong ? VS_OP_RC_WRITE_ONLY : VS_OP_RC_WRITE_ONLY_IMM, 0, 8);
	rnr(0, RNR_5MS, 0);
}

static void read_response_order(bool wrong)
{
	read_request(0, 0x1000, 768);
	answer(VS_OP_RC_READ_RESPONSE_FIRST, 0, 256, 1);
	answer(wrong ? VS_OP_RC_READ_RESPONSE_LAST : VS_OP_RC_READ_RESPONSE_MIDDLE, 1, 256, 1);
}

static void read_response_length(bool wrong)
{
	read_request(0, 0x1000, 300);
	answer(VS_OP_RC_READ_RESPONSE_FIRST, 0, 256, 1);
	answer(VS_OP_RC_READ_RESPONSE_LAST, 1, wrong ? 48 : 44, 1);
}

static void read_response_start(bool wrong)
{
	read_request(0, 0x1000, 512);
	answer(VS_OP_RC_READ_RESPONSE_FIRST, 0, 256, 1);
	answer(VS_OP_RC_READ_RESPONSE_LAST, 1, 256, 1);
	read_request(1, 0x1100, 256);
	answer(wrong ? VS_OP_RC_READ_RESPONSE_LAST : VS_OP_RC_READ_RESPONSE_ONLY, 1, 256, 1);
}

static void atomic_replay(bool wrong)
{
	atomic_request(0, 1);
	atomic_answer(0, 41);
	atomic_request(0, 1);
	atomic_answer(0, wrong ? 42 : 41);
}

static void broken_accepted(bool wrong)
{
	if (wrong)
		request(VS_OP_RC_SEND_FIRST, 0, 100);
	else
		request(VS_OP_RC_SEND_FIRST, 0, 256);
	ack(0, 0);
}

static void repeat_unanswered(bool wrong)
{
	atomic_request(0, 1);
	atomic_answer(0, 41);
	for (unsigned i = 0; i < (wrong ? 3 : 2); i++)
		atomic_request(0, 1);
}

static void zero_length_refused(bool wrong)
{
	if (wrong)
		read_request(0, 0x1000, 0);
	else
		read_request(0, 0x1000, 8);
	nak(0, VS_NAK_REM_ACCESS, 0);
}

static void credits_exceeded(bool wrong)
{
	request(VS_OP_RC_SEND_ONLY, 0, 8);
	make_answer(VS_OP_RC_ACKNOWLEDGE, 0, 0, wrong ? 1 : 4, 1); /* as many credits */
	go();
	for (uint32_t i = 1; i < 4; i++)
		request(VS_OP_RC_SEND_ONLY, i, 8);
}

/* ---- congestion, CM ---- */

static void cnp_on_nak(bool wrong)
{
	request(VS_OP_RC_SEND_ONLY, 0, 8);
	request(VS_OP_RC_SEND_ONLY, 2, 8);
	if (wrong)
		nak(1, VS_NAK_PSN_SEQ, 1);
	make_answer(VS_OP_CNP, 0, 16, 0, 0);
	go();
}

static void cnp_unmarked(bool wrong)
{
	make_request(VS_OP_RC_SEND_ONLY, 0, 8);
	rig.p.ipv4.tos |= wrong ? 2 : 3;
	go();
	make_answer(VS_OP_CNP, 0, 16, 0, 0);
	go();
}

static void cm_rej_reason(bool wrong)
{
	struct vs_cm_msg m = {.attribute = VS_CM_ATTR_REJ};

	m.rej.reason = wrong ? 13 : 28;
	make_cm(false, &m);
	go();
}

static void cm_class(bool wrong)
{
	struct vs_cm_msg m = {.attribute = VS_CM_ATTR_RTU};

	make_cm(true, &m);
	((uint8_t *)(uintptr_t)rig.p.payload)[2] = wrong ? 1 : 2;
	go();
}

static void cm_first_psn(bool wrong)
{
	connected(0x100, 0x200);
	request(VS_OP_RC_SEND_ONLY, wrong ? 0x101 : 0x100, 8);
}

static void cm_tclass(bool wrong)
{
	connected(0x100, 0x200);
	make_request(VS_OP_RC_SEND_ONLY, 0x100, 8);
	rig.p.ipv4.tos = wrong ? 0x60 : 2;
	go();
}

static void cm_repeat_changed(bool wrong)
{
	struct vs_cm_msg m = {.attribute = VS_CM_ATTR_REQ};

	m.req.local_comm_id = 9;
	make_cm(true, &m);
	go();
	m.req.retry_count = wrong;
	make_cm(true, &m);
	go();
}

/* ---- events beside the packets: of A, whose queue pair is 0x11 ---- */

static void posted(uint64_t wr, uint64_t op)
{
	const struct vs_event ev = {.type = VS_EV_VERB_POST_SEND,
				    .node = "A",
				    .qpn = MONRIG_QP_A,
				    .has_wr = true,
				    .wr_id = wr,
				    .a = {op, 8, 0, 0, VS_SEND_SIGNALED, 0}};

	vs_monitor_event(rig.m, &ev);
}

static void completed(uint64_t wr, uint64_t status, uint64_t op, uint64_t cq)
{
	const struct vs_event ev = {.type = VS_EV_CQE,
				    .node = "A",
				    .qpn = MONRIG_QP_A,
				    .has_wr = true,
				    .wr_id = wr,
				    .a = {status, op, 0, 0, 0, cq}};

	vs_monitor_event(rig.m, &ev);
}

static void in_error(void)
{
	const struct vs_event ev = {
		.type = VS_EV_QP_STATE, .node = "A", .qpn = MONRIG_QP_A, .a = {VS_QPS_RTS, VS_QPS_ERR, 0}};

	vs_monitor_event(rig.m, &ev);
}

static void completion_status(bool wrong)
{
	posted(1, VS_WR_RDMA_WRITE);
	request(VS_OP_RC_WRITE_ONLY, 0, 8);
	nak(0, VS_NAK_REM_ACCESS, 0);
	completed(1, wrong ? VS_WC_REM_OP_ERR : VS_WC_REM_ACCESS_ERR, VS_WC_RDMA_WRITE, 1);
	vs_monitor_end(rig.m);
}

static void completion_missing(bool wrong)
{
	posted(1, VS_WR_SEND);
	posted(2, VS_WR_SEND);
	request(VS_OP_RC_SEND_ONLY, 0, 8);
	request(VS_OP_RC_SEND_ONLY, 1, 8);
	ack(1, 2);
	if (!wrong)
		completed(1, VS_WC_SUCCESS, VS_WC_SEND, 1);
	completed(2, VS_WC_SUCCESS, VS_WC_SEND, 1);
	vs_monitor_end(rig.m);
}

static void completion_queue(bool wrong)
{
	completed(1, VS_WC_SUCCESS, VS_WC_RECV, 2);
	completed(2, VS_WC_WR_FLUSH_ERR, VS_WC_RECV, wrong ? 1 : 2);
	completed(3, VS_WC_WR_FLUSH_ERR, VS_WC_SEND, 1);
	vs_monitor_end(rig.m);
}

static void post_unfinished(bool wrong)
{
	posted(1, VS_WR_SEND);
	in_error();
	posted(2, VS_WR_SEND);
	completed(1, VS_WC_WR_FLUSH_ERR, VS_WC_SEND, 1);
	if (!wrong)
		completed(2, VS_WC_WR_FLUSH_ERR, VS_WC_SEND, 1);
	vs_monitor_end(rig.m);
}

static void read_without_data(bool wrong)
{
	posted(1, VS_WR_RDMA_READ);
	read_request(0, 0x1000, 8);
	if (wrong)
		ack(0, 1);
	else
		answer(VS_OP_RC_READ_RESPONSE_ONLY, 0, 8, 1);
	completed(1, VS_WC_SUCCESS, VS_WC_RDMA_READ, 1);
	vs_monitor_end(rig.m);
}

#define ROW(ID, name)              \
	{                          \
		VS_RULE_##ID, name \
	}
static const struct {
	enum vs_rule rule;
	void (*run)(bool wrong);
} rows[] = {
	ROW(ACKREQ_UNRELIABLE, ackreq_unreliable),
	ROW(ACKREQ_RESPONSE, ackreq_response),
	ROW(SE_RESPONSE, se_response),
	ROW(SE_MISPLACED, se_misplaced),
	ROW(CNP_MIGREQ, cnp_migreq),
	ROW(PKEY_CHANGED, pkey_changed),
	ROW(MIGREQ_CHANGED, migreq_changed),
	ROW(SPORT_CHANGED, sport_changed),
	ROW(DSCP_CHANGED, dscp_changed),
	ROW(ECT_CHANGED, ect_changed),
	ROW(TTL_CHANGED, ttl_changed),
	ROW(MTU_CHANGED, mtu_changed),
	ROW(PAYLOAD_OVER_PATH_MTU, payload_over_path_mtu),
	ROW(CM_MTU_EXCEEDED, cm_mtu_exceeded),
	ROW(OPCODE_SEQUENCE, opcode_sequence),
	ROW(PSN_STEP_READ, psn_step_read),
	ROW(WRITE_LENGTH_OVER, write_length_over),
	ROW(WRITE_LENGTH_UNDER, write_length_under),
	ROW(REPEAT_OPCODE, repeat_opcode),
	ROW(REPEAT_LENGTH, repeat_length),
	ROW(REPEAT_RETH, repeat_reth),
	ROW(REPEAT_ATOMIC, repeat_atomic),
	ROW(READ_RETRY_SUBSET, read_retry_subset),
	ROW(REPEAT_ACKNOWLEDGED, repeat_acknowledged),
	ROW(GO_BACK_START, go_back_start),
	ROW(RNR_TOO_EARLY, rnr_too_early),
	ROW(RETRY_TOO_EARLY, retry_too_early),
	ROW(RETRY_EXCEEDED, retry_exceeded),
	ROW(RNR_RETRY_EXCEEDED, rnr_retry_exceeded),
	ROW(AFTER_FATAL_NAK, after_fatal_nak),
	ROW(PSN_WINDOW, psn_window),
	ROW(READ_DEPTH, read_depth),
	ROW(ANSWER_UNSENT, answer_unsent),
	ROW(ANSWER_KIND, answer_kind),
	ROW(ANSWER_AFTER_FATAL, answer_after_fatal),
	ROW(ACK_FOR_READ, ack_for_read),
	ROW(ANSWER_ORDER, answer_order),
	ROW(MSN_BACKWARD, msn_backward),
	ROW(MSN_STEP_UNDER, msn_step_under),
	ROW(MSN_STEP_OVER, msn_step_over),
	ROW(NAK_REPEATED, nak_repeated),
	ROW(NAK_ACKNOWLEDGED, nak_acknowledged),
	ROW(NAK_AFTER_RNR, nak_after_rnr),
	ROW(RNR_NOT_RECEIVE, rnr_not_receive),
	ROW(READ_RESPONSE_ORDER, read_response_order),
	ROW(READ_RESPONSE_LENGTH, read_response_length),
	ROW(READ_RESPONSE_START, read_response_start),
	ROW(ATOMIC_REPLAY, atomic_replay),
	ROW(CREDITS_EXCEEDED, credits_exceeded),
	ROW(CNP_ON_NAK, cnp_on_nak),
	ROW(CNP_UNMARKED, cnp_unmarked),
	ROW(CM_REJ_REASON, cm_rej_reason),
	ROW(CM_CLASS, cm_class),
	ROW(CM_FIRST_PSN, cm_first_psn),
	ROW(CM_REPEAT_CHANGED, cm_repeat_changed),
	ROW(CM_TCLASS, cm_tclass),
	ROW(RETRY_TOO_LATE, retry_too_late),
	ROW(BROKEN_ACCEPTED, broken_accepted),
	ROW(REPEAT_UNANSWERED, repeat_unanswered),
	ROW(ZERO_LENGTH_REFUSED, zero_length_refused),
	ROW(COMPLETION_STATUS, completion_status),
	ROW(COMPLETION_MISSING, completion_missing),
	ROW(COMPLETION_QUEUE, completion_queue),
	ROW(POST_UNFINISHED, post_unfinished),
	ROW(READ_WITHOUT_DATA, read_without_data),
};
#define ROWS ((int)(sizeof(rows) / sizeof(rows[0])))

START_TEST(a_broken_rule_is_found_and_a_kept_one_is_not)
{
	const enum vs_rule rule = rows[_i].rule;
	const char *id = vs_rule_info(rule)->id;

	rig_begin(NULL);
	rows[_i].run(false);
	ck_assert_msg(rig.found[rule] == 0, "%s is found where it is kept: %s", id, rig.text);
	ck_assert_msg(rig_musts() == 0, "%s is kept, and another must-rule is not: %s", id, rig.text);
	rig_end();
	rig_begin(NULL);
	rows[_i].run(true);
	ck_assert_msg(rig.found[rule] > 0, "%s is broken and not found", id);
	ck_assert_uint_eq(vs_monitor_totals(rig.m)->by_rule[rule], rig.found[rule]);
	rig_end();
}
END_TEST

/* A message of 2^31 bytes and more has half a million packets: not for a table. */
START_TEST(a_message_longer_than_2_31_bytes_is_found)
{
	const uint32_t packets = VS_DMALEN_MAX / 4096;

	rig_begin(NULL);
	write_first(0, 4096, VS_DMALEN_MAX);
	for (uint32_t i = 1; i < packets; i++)
		request(VS_OP_RC_WRITE_MIDDLE, i, 4096);
	ck_assert_uint_eq(rig.found[VS_RULE_MESSAGE_LENGTH], 0);
	request(VS_OP_RC_WRITE_MIDDLE, packets, 4096);
	ck_assert_uint_eq(rig.found[VS_RULE_MESSAGE_LENGTH], 1);
	rig_end();
}
END_TEST

static bool of_one_packet(unsigned r)
{
	const enum vs_reason reason = vs_reason_by_id(vs_rule_info((enum vs_rule)r)->id);

	return reason != VS_REASON_NONE && reason <= VS_REASON_WIRE_LAST;
}

START_TEST(every_rule_has_a_test)
{
	for (unsigned r = 1; r < VS_RULE_COUNT; r++) {
		bool has = of_one_packet(r) || r == VS_RULE_MESSAGE_LENGTH;

		for (int i = 0; i < ROWS; i++)
			has |= rows[i].rule == (enum vs_rule)r;
		ck_assert_msg(has, "%s has no test", vs_rule_info((enum vs_rule)r)->id);
	}
}
END_TEST

START_TEST(rules_have_stable_ids_levels_and_sentences)
{
	ck_assert_int_ge(VS_RULE_COUNT - 1, 60);
	ck_assert_int_lt(VS_RULE_COUNT, 256); /* vs_mon_result.rule */
	for (unsigned r = 1; r < VS_RULE_COUNT; r++) {
		const struct vs_rule_info *i = vs_rule_info((enum vs_rule)r);

		ck_assert_int_eq(vs_rule_by_id(i->id), (int)r);
		ck_assert(*i->sentence != '\0' && i->sentence[strlen(i->sentence) - 1] != '.');
	}
	ck_assert_int_eq(vs_rule_by_id("udp_csum"), VS_RULE_NONE);
	ck_assert_str_eq(vs_rule_info((enum vs_rule)9999)->id, "none");
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("monitor_rules");
	TCase *tc = tcase_create("rules");

	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, a_broken_rule_is_found_and_a_kept_one_is_not, 0, ROWS);
	tcase_add_test(tc, a_message_longer_than_2_31_bytes_is_found);
	tcase_add_test(tc, every_rule_has_a_test);
	tcase_add_test(tc, rules_have_stable_ids_levels_and_sentences);
	suite_add_tcase(s, tc);
	return s;
}
