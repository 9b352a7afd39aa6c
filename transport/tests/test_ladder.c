/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* test_ladder.c - an exchange as text: arrows, what was lost, long runs, times in which nothing happens, hostile texts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vs/drill.h"
#include "vs/ladder.h"
#include "vs/vst.h"

#include "runner.h"

/* The ladder of a script; the caller frees it. */
static char *draw(const char *script, const struct vs_ladder_options *opt)
{
	struct vs_drill_error err;
	struct vs_drill *d = vs_drill_parse(script, strlen(script), &err);
	struct vs_drill_result res;
	struct vs_event_log log;
	struct vs_drill_env env = {.seed = 1};
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	ck_assert_msg(d != NULL, "line %u: %s", err.line, err.text);
	vs_event_log_init(&log, 0);
	env.sink = vs_event_log_sink(&log, VS_LEVEL_BASE);
	vs_drill_run_sim(d, 0, &env, &res);
	ck_assert_msg(res.verdict == VS_VERDICT_PASS, "line %u: %s", res.at.line, res.at.text);
	vs_ladder_text(log.ev, log.n, opt, f);
	ck_assert_int_eq(fclose(f), 0);
	vs_event_log_free(&log);
	vs_drill_free(d);
	return text;
}

static const char lossy[] = "case T \"t\"\nnode A B\nqp A.q <-> B.q rc mtu=256\nmr A.src len=512\n"
			    "mr B.dst len=512 access=local_write,remote_write\nfault drop 1st data from A\n"
			    "A post write wr=7 src to=B.dst\nA cqe wr=7 WRITE SUCCESS\n";

START_TEST(packets_are_arrows_and_lost_ones_end_in_an_x)
{
	char *t = draw(lossy, NULL);

	ck_assert_ptr_nonnull(strstr(t, "o post_send wr=7 RDMA_WRITE 512 bytes"));
	ck_assert_ptr_nonnull(strstr(t, "|------- WRITE_FIRST fffffa 256 bytes"));
	ck_assert_ptr_nonnull(strstr(t, "x         | lost"));
	ck_assert_ptr_nonnull(strstr(t, "|<------ NAK_SEQ fffffa"));
	ck_assert_ptr_nonnull(strstr(t, "[retx 1]"));
	ck_assert_ptr_nonnull(strstr(t, "wr=7 RDMA_WRITE completes: SUCCESS"));
	free(t);
}
END_TEST

START_TEST(arrows_end_at_the_line_of_the_other_node)
{
	char *t = draw(lossy, NULL), *save = NULL;
	unsigned arrows = 0;

	for (char *l = strtok_r(t, "\n", &save); l != NULL; l = strtok_r(NULL, "\n", &save)) {
		if (strstr(l, "----") == NULL)
			continue;
		ck_assert_msg(strlen(l) >= 12 + 58 && l[12] == '|' && l[12 + 57] == '|', "%s", l);
		arrows++;
	}
	ck_assert_uint_ge(arrows, 5);
	free(t);
}
END_TEST

START_TEST(long_runs_and_long_times_are_folded)
{
	char *t = draw("case T \"t\"\nnode A B\nqp A.q <-> B.q rc mtu=256\nmr A.src len=5120\n"
		       "mr B.dst len=5120 access=local_write,remote_write\nfault drop 1st ack\n"
		       "A post write wr=1 src to=B.dst\nA cqe wr=1 WRITE SUCCESS\nwait 20ms\n"
		       "A post write wr=2 src to=B.dst\nA cqe wr=2 WRITE SUCCESS\n",
		       NULL);

	ck_assert_ptr_nonnull(strstr(t, "more like that"));
	ck_assert_ptr_nonnull(strstr(t, " later ~"));
	free(t);
}
END_TEST

START_TEST(messages_of_the_connection_manager_have_their_names)
{
	char *t = draw("case T \"t\"\nnode A B\nB cm listen q service=7\nA cm connect q service=7 to=B\n"
		       "A cm event ESTABLISHED\nB cm event ESTABLISHED\n",
		       NULL);

	ck_assert_ptr_nonnull(strstr(t, "|------- CM REQ "));
	ck_assert_ptr_nonnull(strstr(t, "|<------ CM REP "));
	free(t);
}
END_TEST

START_TEST(more_than_two_nodes_are_a_list)
{
	char *t = draw("case T \"t\"\nnode A B C\nqp A.q <-> B.q rc\nqp C.q <-> B.r rc\nmr A.src len=64\n"
		       "mr C.src len=8\nmr B.dst len=64 access=local_write,remote_write\n"
		       "A post write wr=7 src to=B.dst\nA cqe wr=7 WRITE SUCCESS\n"
		       "C post write wr=8 src to=B.dst\nC cqe wr=8 WRITE SUCCESS\n",
		       NULL);

	ck_assert_ptr_nonnull(strstr(t, "A --> WRITE_ONLY"));
	ck_assert_ptr_nonnull(strstr(t, "A: post_send wr=7"));
	free(t);
}
END_TEST

START_TEST(two_that_exchange_packets_have_lines_whoever_else_is_there)
{
	char *t = draw("case T \"t\"\nnode A B C\nqp A.q <-> B.q rc\nmr A.src len=64\nmr C.x len=8\n"
		       "mr B.dst len=64 access=local_write,remote_write\nA post write wr=7 src to=B.dst\n"
		       "A cqe wr=7 WRITE SUCCESS\n",
		       NULL);

	ck_assert_ptr_nonnull(strstr(t, "|------- WRITE_ONLY"));
	ck_assert_ptr_nonnull(strstr(t, "o post_send wr=7"));
	free(t);
}
END_TEST

START_TEST(long_runs_of_posts_are_folded_unless_all_is_asked_for)
{
	struct vs_ladder_options opt = {.columns = 80};
	struct vs_event ev[40];
	char *text = NULL;
	size_t len;
	FILE *f;

	for (unsigned i = 0; i < 40; i++)
		ev[i] = (struct vs_event){.seq = i + 1,
					  .type = VS_EV_VERB_POST_RECV,
					  .wr_id = i,
					  .has_wr = true,
					  .node = "A",
					  .a = {64, i == 39}}; /* the last one is refused */
	for (unsigned whole = 0; whole < 2; whole++) {
		opt.whole = whole != 0;
		f = open_memstream(&text, &len);
		vs_ladder_text(ev, 40, &opt, f);
		ck_assert_int_eq(fclose(f), 0);
		ck_assert_int_eq(strstr(text, "... 35 more like that") != NULL, whole == 0);
		ck_assert_int_eq(strstr(text, "wr=20 ") != NULL, whole != 0);
		ck_assert_ptr_nonnull(strstr(text, "wr=39 64 bytes: refused"));
		free(text);
	}
}
END_TEST

START_TEST(any_events_and_widths_are_drawn)
{
	struct vs_event ev[200] = {{.seq = 0}};
	unsigned widths[] = {0, 1, 24, 31, 160, 100000};
	uint32_t rnd = 1;

	for (unsigned round = 0; round < 400; round++) {
		const struct vs_ladder_options opt = {
			.width = widths[round % 6], .max_lines = round % 7, .other = "peer", .columns = round % 5 * 50};
		char *text = NULL;
		size_t len;
		FILE *f = open_memstream(&text, &len);

		for (unsigned i = 0; i < 200; i++) {
			const struct vs_event_info *info;

			rnd = rnd * 1664525 + 1013904223;
			ev[i] = (struct vs_event){.seq = i + 1,
						  .t_ns = rnd % 5000000,
						  .type = (uint16_t)(rnd >> 8) % VS_EV_COUNT,
						  .pkt_id = rnd >> 28,
						  .cause = rnd >> 24};
			(void)snprintf(ev[i].node, sizeof(ev[i].node), round % 3 == 0 ? "n%u" : "%c\033[31m",
				       (rnd >> 20) % (round % 3 == 0 ? 20 : 2) + 'A');
			info = vs_event_info((enum vs_event_type)ev[i].type);
			for (unsigned a = 0; a < info->nargs; a++)
				ev[i].a[a] =
					info->args[a].kind == VS_ARG_STR ? (uintptr_t) "\033[2J\n" : rnd >> (a * 3);
		}
		vs_ladder_text(ev, round % 201, &opt, f);
		if (round % 10 == 0) {
			vs_ladder_svg(ev, round % 201, &opt, f);
			vs_ladder_mermaid(ev, round % 201, &opt, f);
		}
		ck_assert_int_eq(fclose(f), 0);
		ck_assert_ptr_null(strchr(text, '\033'));
		free(text);
	}
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("ladder");
	TCase *tc = tcase_create("ladder");

	tcase_add_test(tc, packets_are_arrows_and_lost_ones_end_in_an_x);
	tcase_add_test(tc, arrows_end_at_the_line_of_the_other_node);
	tcase_add_test(tc, long_runs_and_long_times_are_folded);
	tcase_add_test(tc, messages_of_the_connection_manager_have_their_names);
	tcase_add_test(tc, more_than_two_nodes_are_a_list);
	tcase_add_test(tc, two_that_exchange_packets_have_lines_whoever_else_is_there);
	tcase_add_test(tc, long_runs_of_posts_are_folded_unless_all_is_asked_for);
	tcase_add_test(tc, any_events_and_widths_are_drawn);
	suite_add_tcase(s, tc);
	return s;
}
