/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_names.c - numbers in words: completion statuses and opcodes, work request opcodes, states, async events,
 * counters, deviations. The numbers and names are those of verbs.h and of rxe's counters, written down here once more.
 */
#include <ctype.h>
#include <string.h>

#include "rig.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

struct name {
	int number;
	const char *text;
};

static const struct name statuses[] = {
	{0, "SUCCESS"},
	{1, "LOC_LEN_ERR"},
	{2, "LOC_QP_OP_ERR"},
	{3, "LOC_EEC_OP_ERR"},
	{4, "LOC_PROT_ERR"},
	{5, "WR_FLUSH_ERR"},
	{6, "MW_BIND_ERR"},
	{7, "BAD_RESP_ERR"},
	{8, "LOC_ACCESS_ERR"},
	{9, "REM_INV_REQ_ERR"},
	{10, "REM_ACCESS_ERR"},
	{11, "REM_OP_ERR"},
	{12, "RETRY_EXC_ERR"},
	{13, "RNR_RETRY_EXC_ERR"},
	{14, "LOC_RDD_VIOL_ERR"},
	{15, "REM_INV_RD_REQ_ERR"},
	{16, "REM_ABORT_ERR"},
	{17, "INV_EECN_ERR"},
	{18, "INV_EEC_STATE_ERR"},
	{19, "FATAL_ERR"},
	{20, "RESP_TIMEOUT_ERR"},
	{21, "GENERAL_ERR"},
	{22, "TM_ERR"},
	{23, "TM_RNDV_INCOMPLETE"},
};
static const struct name wr_opcodes[] = {
	{0, "RDMA_WRITE"},
	{1, "RDMA_WRITE_WITH_IMM"},
	{2, "SEND"},
	{3, "SEND_WITH_IMM"},
	{4, "RDMA_READ"},
	{5, "ATOMIC_CMP_AND_SWP"},
	{6, "ATOMIC_FETCH_AND_ADD"},
	{7, "LOCAL_INV"},
	{8, "BIND_MW"},
	{9, "SEND_WITH_INV"},
	{14, "FLUSH"},
	{15, "ATOMIC_WRITE"},
};
static const struct name wc_opcodes[] = {
	{0, "SEND"},
	{1, "RDMA_WRITE"},
	{2, "RDMA_READ"},
	{3, "COMP_SWAP"},
	{4, "FETCH_ADD"},
	{5, "BIND_MW"},
	{6, "LOCAL_INV"},
	{8, "FLUSH"},
	{9, "ATOMIC_WRITE"},
	{128, "RECV"},
	{129, "RECV_RDMA_WITH_IMM"},
};
static const struct name states[] = {{0, "RESET"}, {1, "INIT"}, {2, "RTR"}, {3, "RTS"},
				     {4, "SQD"},   {5, "SQE"},  {6, "ERR"}};
static const struct name async_types[] = {
	{0, "CQ_ERR"},   {1, "QP_FATAL"},           {2, "QP_REQ_ERR"},           {3, "QP_ACCESS_ERR"},
	{4, "COMM_EST"}, {5, "SQ_DRAINED"},         {9, "PORT_ACTIVE"},          {10, "PORT_ERR"},
	{14, "SRQ_ERR"}, {15, "SRQ_LIMIT_REACHED"}, {16, "QP_LAST_WQE_REACHED"}, {18, "GID_CHANGE"},
};

static const char *status(int n)
{
	return vs_wc_status_name((enum vs_wc_status)n);
}

static const char *wr_opcode(int n)
{
	return vs_wr_opcode_name((enum vs_wr_opcode)n);
}

static const char *wc_opcode(int n)
{
	return vs_wc_opcode_name((enum vs_wc_opcode)n);
}

static const char *state(int n)
{
	return vs_qp_state_name((enum vs_qp_state)n);
}

static const char *async(int n)
{
	return vs_async_name((enum vs_async_type)n);
}

static const struct {
	const char *(*get)(int n);
	const struct name *names;
	size_t count;
} groups[] = {
	{status, statuses, COUNT(statuses)},        {wr_opcode, wr_opcodes, COUNT(wr_opcodes)},
	{wc_opcode, wc_opcodes, COUNT(wc_opcodes)}, {state, states, COUNT(states)},
	{async, async_types, COUNT(async_types)},
};

START_TEST(every_number_of_the_verbs_has_its_name_and_no_other_number_has_one)
{
	size_t i = 0;
	int n;

	for (n = 0; n < 400; n++) {
		const char *want = "?";

		if (i < groups[_i].count && groups[_i].names[i].number == n)
			want = groups[_i].names[i++].text;
		ck_assert_str_eq(groups[_i].get(n), want);
	}
	ck_assert_uint_eq(i, groups[_i].count);
	ck_assert_str_eq(groups[_i].get(-1), "?");
	ck_assert_str_eq(groups[_i].get(INT32_MIN), "?");
	ck_assert_str_eq(groups[_i].get(INT32_MAX), "?");
}
END_TEST

START_TEST(the_numbers_are_those_of_libibverbs)
{
	ck_assert_int_eq(VS_WC_WR_FLUSH_ERR, 5);
	ck_assert_int_eq(VS_WC_GENERAL_ERR, 21);
	ck_assert_int_eq(VS_WR_ATOMIC_WRITE, 15);
	ck_assert_int_eq(VS_WC_RECV_RDMA_WITH_IMM, 129);
	ck_assert_int_eq(VS_QPS_ERR, 6);
	ck_assert_int_eq(VS_EVENT_GID_CHANGE, 18);
	ck_assert_uint_eq(VS_QP_STATE | VS_QP_CUR_STATE | VS_QP_EN_SQD_ASYNC_NOTIFY | VS_QP_ACCESS_FLAGS, 0xf);
	ck_assert_uint_eq(VS_QP_DEST_QPN, 1u << 20);
	ck_assert_uint_eq(VS_QP_RATE_LIMIT, 1u << 25);
	ck_assert_uint_eq(VS_ACCESS_FLUSH_PERSISTENT, 512);
	ck_assert(VS_QPT_RC == 2 && VS_QPT_UC == 3 && VS_QPT_UD == 4 && VS_QPT_GSI == 1);
}
END_TEST

/* ---- counters ---- */

START_TEST(the_first_counters_are_rxes)
{
	static const char *const rxe[] = {
		"sent_pkts",           "rcvd_pkts",
		"duplicate_request",   "out_of_seq_request",
		"rcvd_rnr_err",        "send_rnr_err",
		"rcvd_seq_err",        "ack_deferred",
		"retry_exceeded_err",  "retry_rnr_exceeded_err",
		"completer_retry_err", "send_err",
		"link_downed",         "rdma_sends",
		"rdma_recvs",
	};
	unsigned i;

	for (i = 0; i < COUNT(rxe); i++)
		ck_assert_str_eq(vs_counter_name((enum vs_counter)i), rxe[i]);
}
END_TEST

static void lower_case_word(const char *name)
{
	const char *c;

	ck_assert(islower((unsigned char)name[0]));
	for (c = name; *c != '\0'; c++)
		ck_assert_msg(islower((unsigned char)*c) || isdigit((unsigned char)*c) || *c == '_', "%s", name);
}

START_TEST(every_counter_has_a_name_of_its_own_and_starts_at_0)
{
	struct rig *r = rig_new(NULL);
	unsigned i, j;

	for (i = 0; i < VS_CNT_COUNT; i++) {
		const char *name = vs_counter_name((enum vs_counter)i);

		lower_case_word(name);
		for (j = 0; j < i; j++)
			ck_assert_str_ne(name, vs_counter_name((enum vs_counter)j));
		ck_assert_uint_eq(vs_dev_counter(r->dev, (enum vs_counter)i), 0);
	}
	ck_assert_str_eq(vs_counter_name(VS_CNT_COUNT), "?");
	ck_assert_str_eq(vs_counter_name((enum vs_counter) - 1), "?");
	ck_assert_uint_eq(vs_dev_counter(r->dev, VS_CNT_COUNT), 0);
	ck_assert_uint_eq(vs_dev_counter(r->dev, (enum vs_counter) - 1), 0);
	rig_free(r);
}
END_TEST

/* ---- deviations ---- */

#define VS_DEVIATION(ID, name, known_bug, text, must, may) {#ID, name, known_bug, text, must, may},
static const struct {
	const char *id, *name;
	int known_bug;
	const char *text, *must, *may;
} deviations[] = {
#include "deviations.def"
};

START_TEST(every_deviation_is_found_by_its_name)
{
	unsigned i, j;

	ck_assert_uint_eq(COUNT(deviations), VS_DEVIATION_COUNT);
	ck_assert_int_le(VS_DEVIATION_COUNT, 64); /* they are bits of one word */
	for (i = 0; i < VS_DEVIATION_COUNT; i++) {
		const char *name = vs_deviation_name((enum vs_deviation)i);

		ck_assert_str_eq(name, deviations[i].name);
		ck_assert_int_eq(vs_deviation_by_name(name), i);
		lower_case_word(name);
		for (j = 0; name[j] != '\0'; j++) /* the name is the id in lower case */
			ck_assert_int_eq(toupper((unsigned char)name[j]), deviations[i].id[j]);
		ck_assert_uint_eq(strlen(deviations[i].id), j);
	}
}
END_TEST

START_TEST(what_is_no_deviation_is_not_found)
{
	static const char *const no[] = {"", "?", "none", "rnr_early ", "RNR_EARLY", "rnr_earl", "rnr_early2"};
	unsigned i;

	for (i = 0; i < COUNT(no); i++)
		ck_assert_int_eq(vs_deviation_by_name(no[i]), VS_DEVIATION_COUNT);
	ck_assert_str_eq(vs_deviation_name(VS_DEVIATION_COUNT), "?");
	ck_assert_str_eq(vs_deviation_name((enum vs_deviation) - 1), "?");
}
END_TEST

/* "QPS-024 CQ-016": groups of capitals, a hyphen, three digits. */
static unsigned case_ids(const char *list)
{
	unsigned n = 0;

	while (*list != '\0') {
		while (isupper((unsigned char)*list))
			list++;
		ck_assert_int_eq(*list++, '-');
		ck_assert(isdigit((unsigned char)list[0]) && isdigit((unsigned char)list[1]) &&
			  isdigit((unsigned char)list[2]));
		list += 3;
		ck_assert(*list == '\0' || *list == ' ');
		list += *list == ' ';
		n++;
	}
	return n;
}

START_TEST(every_deviation_says_what_it_is_and_names_cases_that_have_to_fail)
{
	unsigned i;

	for (i = 0; i < VS_DEVIATION_COUNT; i++) {
		ck_assert(deviations[i].known_bug >= 0 && deviations[i].known_bug <= 76);
		ck_assert_uint_gt(strlen(deviations[i].text), 15);
		ck_assert_uint_gt(case_ids(deviations[i].must), 0);
	}
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("names");
	TCase *tc = tcase_create("names");

	tcase_add_loop_test(tc, every_number_of_the_verbs_has_its_name_and_no_other_number_has_one, 0, COUNT(groups));
	tcase_add_test(tc, the_numbers_are_those_of_libibverbs);
	tcase_add_test(tc, the_first_counters_are_rxes);
	tcase_add_test(tc, every_counter_has_a_name_of_its_own_and_starts_at_0);
	tcase_add_test(tc, every_deviation_is_found_by_its_name);
	tcase_add_test(tc, what_is_no_deviation_is_not_found);
	tcase_add_test(tc, every_deviation_says_what_it_is_and_names_cases_that_have_to_fail);
	suite_add_tcase(s, tc);
	return s;
}
