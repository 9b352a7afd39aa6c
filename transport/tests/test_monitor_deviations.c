/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_monitor_deviations.c - known defects of real devices, as the monitor sees them: the scenario of a row runs clean
 * and with its defect; the rule of the row is broken in the second run more often than in the first.
 *
 * Those that show in what the program saw are found with the events of the run beside its packets. The defects that
 * leave no trace in either, or none that could not be something legal, are listed with the reason. docs/monitor.md has
 * all of them, and this file holds it to that.
 */
#include <stdio.h>
#include <stdlib.h>

#include "monrig.h"
#include "vs/dev.h"
#include "vs/drill.h"
#include "vs/event.h"
#include "vs/icrc.h"

static void on_frame(void *ctx, const struct vs_drill_frame *f)
{
	struct vs_mon_packet in = {
		.frame = ++rig.frame, .time_ns = (int64_t)f->now_ns, .pkt = &rig.p, .vcrc = VS_CRC_UNVERIFIED};

	(void)ctx;
	if (f->where != VS_TAP_SENT || vs_pkt_parse(&rig.p, f->link, 0, f->data, f->len, f->len, 0) != VS_OK)
		return;
	in.icrc = rig.p.flags & VS_PKT_HAS_BTH ? vs_icrc_check(&rig.p, f->data, NULL) : VS_CRC_UNVERIFIED;
	vs_monitor_packet(rig.m, &in, &rig.out);
}

static uint64_t on_event(void *ctx, const struct vs_event *ev)
{
	uint64_t *seq = ctx;

	vs_monitor_event(rig.m, ev);
	return ++*seq;
}

/* The text of a file, or the lines that `name` has. */
static const char *read_script(const char *name)
{
	static char text[65536];
	size_t n;
	FILE *f;

	if (strchr(name, '\n') != NULL) {
		(void)snprintf(text, sizeof(text), "case x \"x\"\n%s", name);
		return text;
	}
	f = fopen(name, "r");
	ck_assert_msg(f != NULL, "%s can't be read", name);
	n = fread(text, 1, sizeof(text) - 1, f);
	(void)fclose(f);
	text[n] = '\0';
	return text;
}

/* What is found in all vectors of a script. */
static void run(const char *name, uint64_t deviations, unsigned found[VS_RULE_COUNT])
{
	const char *text = read_script(name);
	struct vs_drill_error err;
	struct vs_drill *d = vs_drill_parse(text, strlen(text), &err);

	ck_assert_msg(d != NULL, "%s", err.text);
	memset(found, 0, VS_RULE_COUNT * sizeof(*found));
	for (unsigned v = 0; v < vs_drill_vectors(d); v++) {
		uint64_t seq = 0;
		const struct vs_drill_env env = {.tap = on_frame,
						 .sink = {.emit = on_event, .ctx = &seq, .level = VS_LEVEL_CORE},
						 .deviations = deviations};
		struct vs_drill_result result;

		rig_begin(NULL);
		vs_drill_run_sim(d, v, &env, &result);
		vs_monitor_end(rig.m);
		for (unsigned r = 0; r < VS_RULE_COUNT; r++)
			found[r] += rig.found[r];
		rig_end();
	}
	vs_drill_free(d);
}

#define SCENARIOS "pcaps/scenarios/"
#define ONE_QP "qp dut.q <-> peer rc psn=0x1000 timeout=8\nmr dut.m len=4096 access=local_write,remote_write\n"
#define TWO_QPS                                                                                           \
	"node A B\nqp A.q <-> B.q rc psn=0x1000 peer_psn=0x2000 timeout=8\nmr A.m len=64\nmr B.m len=64 " \
	"access=local_write\n"
#define CONNECTED                                                                                                \
	"needs cm\nnode A B\nmr A.m len=64\nmr B.m len=64 access=local_write\nB cm listen q service=0x1061b58\n" \
	"A cm connect q service=0x1061b58 to=B\nA cm event ESTABLISHED\nB cm event ESTABLISHED\n"                \
	"B post recv wr=1..2 m\nfault drop 2..99 send from A\nA post send wr=1 m\nA cqe wr=1 SEND SUCCESS\n"     \
	"A post send wr=2 m\n"

#define READ_ON_UC                                                                                                  \
	"node A B\nqp A.q <-> B.q uc\nmr A.m len=8 access=local_write\nmr B.m len=8 access=local_write,"            \
	"remote_write,remote_read\nA post read wr=1 m to=B.m (refusal allowed)\nA post write wr=2 m to=B.m\nA cqe " \
	"wr=2 WRITE SUCCESS\n"
#define AGAIN "peer> FETCH_ADD psn=+0 va=m add=5\nwait 1ms\n"

/* Where the wire shows a defect, or the events beside it. `script`: a file, or the lines of one. */
static const struct {
	enum vs_deviation deviation;
	enum vs_rule rule;
	const char *script;
} rows[] = {
	{VS_DEVIATION_LENGTH_UNCHECKED, VS_RULE_BROKEN_ACCEPTED,
	 ONE_QP "peer> WRITE_FIRST psn=+0 va=m dmalen=512 data=100 ackreq\nwait 1ms\n"},
	{VS_DEVIATION_ATOMIC_WRITE_ANY_LENGTH, VS_RULE_BROKEN_ACCEPTED, SCENARIOS "malformed-payload.drill"},
	{VS_DEVIATION_ATOMIC_MISALIGNED_OK, VS_RULE_BROKEN_ACCEPTED, SCENARIOS "malformed-reth.drill"},
	{VS_DEVIATION_RNR_DELAY_IGNORED, VS_RULE_RNR_TOO_EARLY,
	 ONE_QP "dut post send wr=1 m[0:8]\npeer< SEND_ONLY psn=+0\npeer> NAK rnr timer=18 psn=+0 msn=0\npeer< "
		"SEND_ONLY psn=+0\n"},
	{VS_DEVIATION_RNR_EARLY, VS_RULE_RNR_TOO_EARLY, SCENARIOS "rnr-storm.drill"},
	{VS_DEVIATION_RNR_CODE25, VS_RULE_RNR_TOO_EARLY,
	 ONE_QP "dut post send wr=1 m[0:8]\npeer< SEND_ONLY psn=+0\npeer> NAK rnr timer=25 psn=+0 msn=0\npeer< "
		"SEND_ONLY psn=+0\n"},
	{VS_DEVIATION_ATOMIC_REPLAY_LOST, VS_RULE_REPEAT_UNANSWERED, SCENARIOS "loss-atomic-response.drill"},
	{VS_DEVIATION_READ_REPLAY_LOST, VS_RULE_REPEAT_UNANSWERED, SCENARIOS "loss-read-response-first.drill"},
	{VS_DEVIATION_ZERO_LEN_RKEY_CHECKED, VS_RULE_ZERO_LENGTH_REFUSED,
	 ONE_QP "peer> WRITE_ONLY psn=+0 va=0x1234 rkey=0x99 data=0 ackreq\nwait 1ms\n"},
	{VS_DEVIATION_ATOMIC_NAK_OPCODE, VS_RULE_AETH_READ_NAK, SCENARIOS "malformed-reth.drill"},
	{VS_DEVIATION_MCAST_WRONG_QPN, VS_RULE_MCAST_QPN, SCENARIOS "ud-multicast.drill"},
	{VS_DEVIATION_ACKREQ_UNRELIABLE, VS_RULE_ACKREQ_UNRELIABLE, SCENARIOS "uc-messages.drill"},
	{VS_DEVIATION_RETRY7_INFINITE, VS_RULE_RETRY_EXCEEDED, CONNECTED "wait 20s\n"},
	{VS_DEVIATION_CNP_ON_NAK, VS_RULE_CNP_ON_NAK, SCENARIOS "loss-middle.drill"},
	{VS_DEVIATION_TIMEOUT_ADAPTIVE, VS_RULE_RETRY_TOO_EARLY, CONNECTED "wait 2s\n"},
	{VS_DEVIATION_TIMEOUT_FLOOR, VS_RULE_RETRY_TOO_LATE, CONNECTED "wait 9s\n"},
	{VS_DEVIATION_RESOURCES_LOST_ON_MODIFY, VS_RULE_REPEAT_UNANSWERED,
	 "qp dut.q <-> peer rc psn=0x1000 max_dest_rd_atomic=4\nmr dut.m len=64 access=local_write,remote_atomic\n"
	 "peer> FETCH_ADD psn=+0 va=m add=5\npeer< ATOMIC_ACK psn=+0\ndut modify state=RTS max_dest_rd_atomic=1 "
	 "(refusal allowed)\n" AGAIN AGAIN AGAIN},
	{VS_DEVIATION_REM_OP_AS_ACCESS, VS_RULE_COMPLETION_STATUS, SCENARIOS "nak-remote-operational.drill"},
	{VS_DEVIATION_ACK_COMPLETES_READ, VS_RULE_READ_WITHOUT_DATA,
	 "qp dut.q <-> peer rc psn=0x1000 timeout=20\nmr dut.m len=64 access=local_write\nmr peer.m len=64 "
	 "access=remote_read\ndut post read wr=1 m from=peer.m\npeer< READ_REQUEST psn=+0\npeer> ACK psn=+0 "
	 "msn=1\nwait 1ms\n"},
	{VS_DEVIATION_ERR_POST_NOT_FLUSHED, VS_RULE_POST_UNFINISHED,
	 ONE_QP "dut modify state=ERR\ndut post send wr=1 m[0:8]\nwait 1ms\n"},
	{VS_DEVIATION_RQ_NOT_FLUSHED, VS_RULE_POST_UNFINISHED,
	 ONE_QP "dut post recv wr=1..2 each=m[64]\ndut modify state=ERR\nwait 1ms\n"},
	{VS_DEVIATION_NO_FLUSH_FROM_RTR, VS_RULE_POST_UNFINISHED,
	 "qp dut.q <-> peer rc state=RTR\nmr dut.m len=64 access=local_write\ndut post recv wr=1 m\ndut modify "
	 "state=ERR\nwait 1ms\n"},
	{VS_DEVIATION_POST_ERR_SWALLOWED, VS_RULE_COMPLETION_MISSING, READ_ON_UC},
	{VS_DEVIATION_UNSUPPORTED_OP_SILENT, VS_RULE_COMPLETION_MISSING, READ_ON_UC},
	{VS_DEVIATION_UNSIGNALED_ERR_SILENT, VS_RULE_COMPLETION_MISSING,
	 "node A B\nqp A.q <-> B.q rc psn=0x1000\nmr A.m len=64 access=local_write\nmr B.m len=64 "
	 "access=local_write,remote_write\nA post write wr=1 m[0:8] to=B.m rkey=~B.m.rkey unsignaled\nA post write "
	 "wr=2 "
	 "m[0:8] to=B.m\nwait 1ms\n"},
	{VS_DEVIATION_FLUSH_WRONG_CQ, VS_RULE_COMPLETION_QUEUE,
	 "cq dut.s cqe=16\ncq dut.r cqe=16\nqp dut.q <-> peer rc psn=0x1000 send_cq=s recv_cq=r\nmr dut.m len=64 "
	 "access=local_write\ndut post recv wr=10..11 m\npeer> SEND_ONLY psn=+0 data=8 ackreq\npeer< ACK psn=+0\ndut "
	 "modify state=ERR\nwait 1ms\n"},
	{VS_DEVIATION_ACK_NEXT_PSN, VS_RULE_ANSWER_UNSENT, SCENARIOS "write-segmented.drill"},
	{VS_DEVIATION_ATOMIC_REEXECUTED, VS_RULE_ATOMIC_REPLAY, SCENARIOS "loss-atomic-response.drill"},
	{VS_DEVIATION_RNR_TIMER_LINEAR, VS_RULE_RNR_TOO_EARLY, SCENARIOS "rnr-storm.drill"},
};
#define ROWS ((int)(sizeof(rows) / sizeof(rows[0])))

/* Where it does not, and why no capture could prove them. */
enum unseen {
	VERBS,           /* statuses, events and calls of the program alone, none of them against the packets */
	SILENCE,         /* something is missing: a frame that the capture misses looks the same */
	UNKNOWN_SETTING, /* legal with other settings of the queue pair, which no frame tells */
};
static const struct {
	enum vs_deviation deviation;
	enum unseen why;
} unseen[] = {
	{VS_DEVIATION_UD_SHORT_IS_FATAL, VERBS},
	{VS_DEVIATION_NO_NAK_WITHOUT_WQE, SILENCE},
	{VS_DEVIATION_LOCAL_OPS_REPLAYED, VERBS},
	{VS_DEVIATION_SPURIOUS_TIMER, UNKNOWN_SETTING},
	{VS_DEVIATION_MW_SAME_KEY_REFUSED, VERBS},
	{VS_DEVIATION_LOCAL_INV_WRONG_KEY, VERBS},
	{VS_DEVIATION_CQ_DESTROY_IN_USE, VERBS},
	{VS_DEVIATION_MCAST_NOT_LOOPED, SILENCE},
	{VS_DEVIATION_NO_ACCESS_EVENT, VERBS},
	{VS_DEVIATION_ATOMIC_LKEY_STATUS_UNSET, VERBS},
	{VS_DEVIATION_COUNT_BEFORE_ICRC, VERBS},
	{VS_DEVIATION_BIND_STATUS_WRONG, VERBS},
	{VS_DEVIATION_LOCAL_INV_NO_FENCE, VERBS},
	{VS_DEVIATION_FENCE_IGNORED, UNKNOWN_SETTING},
	{VS_DEVIATION_STALE_WQE, UNKNOWN_SETTING},
	{VS_DEVIATION_AH_ROCEV1_REFUSED, SILENCE},
	{VS_DEVIATION_PKEY_INDEX_UNCHECKED, UNKNOWN_SETTING},
	{VS_DEVIATION_TCLASS_AS_DSCP, UNKNOWN_SETTING},
	{VS_DEVIATION_SRQ_LIMIT_AS_ERR, VERBS},
	{VS_DEVIATION_SRQ_RESIZE_IGNORED, VERBS},
	{VS_DEVIATION_MTU_UNCHECKED, UNKNOWN_SETTING},
	{VS_DEVIATION_NO_LAST_WQE, VERBS},
	{VS_DEVIATION_FENCE_FIRST_READ, UNKNOWN_SETTING},
	{VS_DEVIATION_MW_RANGE_UNCHECKED, VERBS},
	{VS_DEVIATION_ATOMIC_SGE_ANY_SIZE, VERBS},
	{VS_DEVIATION_MCAST_ANY_QP, UNKNOWN_SETTING},
	{VS_DEVIATION_NO_DREP_UNKNOWN, SILENCE},
	{VS_DEVIATION_MIGREQ_REQUIRED, SILENCE},
	{VS_DEVIATION_PSN_NO_WRAP, SILENCE},
	{VS_DEVIATION_DUP_SEND_DELIVERED, VERBS},
	{VS_DEVIATION_RANGE_OFF_BY_ONE, VERBS},
	{VS_DEVIATION_RECV_LENGTH_PER_PACKET, VERBS},
	{VS_DEVIATION_RETRY_NOT_RESET, UNKNOWN_SETTING},
	{VS_DEVIATION_FLUSH_REVERSED, VERBS},
};
#define UNSEEN (sizeof(unseen) / sizeof(unseen[0]))

START_TEST(every_defect_is_found_or_said_to_be_invisible)
{
	for (unsigned d = 0; d < VS_DEVIATION_COUNT; d++) {
		unsigned n = 0;

		for (int i = 0; i < ROWS; i++)
			n += rows[i].deviation == (enum vs_deviation)d;
		for (size_t i = 0; i < UNSEEN; i++)
			n += unseen[i].deviation == (enum vs_deviation)d && unseen[i].why <= UNKNOWN_SETTING;
		ck_assert_msg(n == 1, "%s is in %u rows", vs_deviation_name((enum vs_deviation)d), n);
	}
}
END_TEST

/* A row for each in docs/monitor.md, with the rule that finds it, or the kind of reason. */
START_TEST(the_page_about_the_monitor_says_of_each_defect_what_finds_it)
{
	static const char *const words[] = {"program: ", "silence: ", "setting: "};
	const char *text = read_script("docs/monitor.md");
	char want[200];

	for (int i = 0; i < ROWS; i++) {
		const char *row;

		(void)snprintf(want, sizeof(want), "\n| `%s` | ", vs_deviation_name(rows[i].deviation));
		row = strstr(text, want);
		ck_assert_msg(row != NULL, "no row for %s", want);
		(void)snprintf(want, sizeof(want), " | `%s` | ", vs_rule_info(rows[i].rule)->id);
		ck_assert_msg(strstr(row, want) != NULL && strstr(row, want) < strchr(row + 1, '\n'),
			      "%s is not in %.60s", want, row + 1);
	}
	for (size_t i = 0; i < UNSEEN; i++) {
		const char *row;

		(void)snprintf(want, sizeof(want), "\n| `%s` | ", vs_deviation_name(unseen[i].deviation));
		row = strstr(text, want);
		ck_assert_msg(row != NULL, "no row for %s", want);
		(void)snprintf(want, sizeof(want), " | - | %s", words[unseen[i].why]);
		ck_assert_msg(strstr(row, want) != NULL && strstr(row, want) < strchr(row + 1, '\n'),
			      "%s is not in %.60s", want, row + 1);
	}
}
END_TEST

START_TEST(a_defect_that_shows_on_the_wire_is_found)
{
	static unsigned clean[VS_RULE_COUNT], with[VS_RULE_COUNT];
	const char *id = vs_rule_info(rows[_i].rule)->id, *name = vs_deviation_name(rows[_i].deviation);

	run(rows[_i].script, 0, clean);
	run(rows[_i].script, UINT64_C(1) << rows[_i].deviation, with);
	ck_assert_msg(with[rows[_i].rule] > clean[rows[_i].rule], "%s: %s is found %u times with it, %u times without",
		      name, id, with[rows[_i].rule], clean[rows[_i].rule]);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("monitor_deviations");
	TCase *tc = tcase_create("deviations");

	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, a_defect_that_shows_on_the_wire_is_found, 0, ROWS);
	tcase_add_test(tc, every_defect_is_found_or_said_to_be_invisible);
	tcase_add_test(tc, the_page_about_the_monitor_says_of_each_defect_what_finds_it);
	suite_add_tcase(s, tc);
	return s;
}
