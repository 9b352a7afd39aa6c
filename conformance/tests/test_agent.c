/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_agent.c - what vs-conform and vs-agent share: lines, structures, changes of memory, and the agent's clock on
 * ours.
 */
#include <stdlib.h>
#include <string.h>

#include "../remote.h"
#include "tests/runner.h"

#define ROUNDS 2000

/* ---- lines ---- */

START_TEST(numbers_and_bytes_come_back)
{
	static const uint64_t numbers[] = {0, 1, 15, 16, 0xffffffff, UINT64_MAX};
	static const uint8_t bytes[] = {0, 0x7f, 0x80, 0xff};
	static struct ag_line l;
	struct ag_words w = {.at = l.text};
	uint8_t back[8];
	char word[AG_WORD_MAX];

	ag_start(&l, "x");
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		ag_put_num(&l, numbers[i]);
	ag_put_bytes(&l, bytes, sizeof(bytes));
	ag_put_bytes(&l, bytes, 0);
	ag_put_text(&l, "a text\nwith \x1b[2J");
	l.text[l.len] = '\0';
	ck_assert(ag_get_word(&w, word) && strcmp(word, "x") == 0);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		ck_assert_uint_eq(ag_get_num(&w, UINT64_MAX), numbers[i]);
	ck_assert_uint_eq(ag_get_bytes(&w, back, sizeof(back)), sizeof(bytes));
	ck_assert_mem_eq(back, bytes, sizeof(bytes));
	ck_assert_uint_eq(ag_get_bytes(&w, back, sizeof(back)), 0);
	ck_assert_str_eq(ag_get_text(&w), "a text?with ?[2J");
	ck_assert(ag_at_end(&w));
}
END_TEST

START_TEST(a_word_that_is_wrong_makes_the_line_bad)
{
	static const char *const numbers[] = {"", " ", "g", "1g", "-1", "0x1", "A", "11111111111111111", "100"};
	static const char *const bytes[] = {"", "a", "abc", "zz", "AA", "--", "0011223344"};
	uint8_t back[4];

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		struct ag_words w = {.at = numbers[i]};

		ck_assert_uint_eq(ag_get_num(&w, 255), 0);
		ck_assert_msg(w.bad && !ag_at_end(&w), "'%s' was taken for a number", numbers[i]);
		ck_assert_uint_eq(ag_get_num(&w, 255), 0); /* and what comes behind it, too */
	}
	for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
		struct ag_words w = {.at = bytes[i]};

		ck_assert_uint_eq(ag_get_bytes(&w, back, sizeof(back)), 0);
		ck_assert_msg(w.bad, "'%s' was taken for bytes", bytes[i]);
	}
}
END_TEST

START_TEST(a_line_that_does_not_fit_is_never_cut)
{
	static struct ag_line l;
	static uint8_t bytes[AG_LINE_MAX];

	ag_start(&l, "x");
	ag_put_bytes(&l, bytes, sizeof(bytes));
	ck_assert(l.full);
	ag_start(&l, "x");
	ck_assert(!l.full);
	ag_put_bytes(&l, bytes, AG_CHUNK); /* what memory needs */
	ck_assert(!l.full);
}
END_TEST

static void feed(struct ag_reader *r, const char *text, size_t n)
{
	size_t cap;
	char *space = ag_reader_space(r, &cap);

	ck_assert_uint_ge(cap, n);
	memcpy(space, text, n);
	ag_reader_got(r, n);
}

START_TEST(lines_come_whole_however_they_arrive)
{
	static struct ag_reader r;
	const char *text = "one\n\ntwo three\r\nfour";
	bool too_long;

	for (size_t i = 0; text[i] != '\0'; i++) {
		char *line;

		feed(&r, text + i, 1);
		line = ag_reader_next(&r, &too_long);
		ck_assert(!too_long);
		ck_assert((line != NULL) == (text[i] == '\n'));
		if (i == 3)
			ck_assert_str_eq(line, "one");
		if (i == 4)
			ck_assert_str_eq(line, "");
		if (i == 15)
			ck_assert_str_eq(line, "two three");
	}
}
END_TEST

START_TEST(a_line_that_is_too_long_is_told_once_and_left_out)
{
	static struct ag_reader r;
	static char as[AG_LINE_MAX];
	bool too_long;
	unsigned told = 0;

	memset(as, 'a', sizeof(as));
	for (unsigned i = 0; i < 3; i++) {
		feed(&r, as, sizeof(as) / 2);
		feed(&r, as, sizeof(as) / 2);
		ck_assert_ptr_null(ag_reader_next(&r, &too_long));
		told += too_long;
	}
	ck_assert_uint_eq(told, 1);
	feed(&r, "aaa\nnext\n", 9);
	ck_assert_str_eq(ag_reader_next(&r, &too_long), "next");
	ck_assert(!too_long && ag_reader_next(&r, &too_long) == NULL);
}
END_TEST

/* ---- structures ---- */

/* Writes it, reads it into `to`, and holds that every line that is cut short is bad. */
static void both_ways(void (*io)(struct ag_io *io, void *what), void *from, void *to)
{
	static struct ag_line l;
	static char text[AG_LINE_MAX];
	struct ag_words w = {.at = text};

	ag_start(&l, "");
	io(&(struct ag_io){.out = &l}, from);
	ck_assert(!l.full);
	memcpy(text, l.text, l.len);
	text[l.len] = '\0';
	io(&(struct ag_io){.in = &w}, to);
	ck_assert_msg(ag_at_end(&w), "%s", text);
	for (size_t n = l.len; n-- > 0;) {
		if (text[n] != ' ')
			continue;
		text[n] = '\0';
		w = (struct ag_words){.at = text};
		io(&(struct ag_io){.in = &w}, to);
		ck_assert_msg(w.bad, "'%s' was taken for the whole", text);
	}
	memcpy(text, l.text, l.len);
	text[l.len] = '\0';
	w = (struct ag_words){.at = text};
	io(&(struct ag_io){.in = &w}, to);
}

static void io_wc(struct ag_io *io, void *what)
{
	ag_io_wc(io, what);
}

static void io_attr(struct ag_io *io, void *what)
{
	ag_io_attr(io, what);
}

static void io_send(struct ag_io *io, void *what)
{
	ag_io_send(io, what);
}

static void io_event(struct ag_io *io, void *what)
{
	ag_io_event(io, what);
}

static void io_device(struct ag_io *io, void *what)
{
	ag_io_device(io, what);
}

START_TEST(structures_come_back)
{
	struct vs_wc wc = {
		.wr_id = UINT64_MAX, .status = VS_WC_RNR_RETRY_EXC_ERR, .byte_len = 7, .qp_num = 0xffffff, .sl = 15};
	struct vs_wc wc2 = {.wr_id = 0};
	struct vs_qp_attr a = {.state = VS_QPS_RTS,
			       .qkey = 0x80000000,
			       .av = {.is_global = true, .dgid = {1, [15] = 9}, .dmac = {2}},
			       .rnr_retry = 7};
	struct vs_qp_attr a2 = {.state = VS_QPS_RESET};
	struct vs_event ev = {.type = VS_EV_CQE, .has_wr = true, .wr_id = 3, .qpn = 4, .a = {1, 2, 3, 4}},
			ev2 = {.type = 0};
	struct ag_device d = {.name = "mlx5_0", .limit = {[0] = INT32_MAX, [DR_MAX_INLINE] = -1}, .atomic_write = true},
			 d2 = {.name = ""};

	both_ways(io_wc, &wc, &wc2);
	ck_assert(wc2.wr_id == wc.wr_id && wc2.status == wc.status && wc2.byte_len == 7 && wc2.qp_num == 0xffffff &&
		  wc2.sl == 15);
	both_ways(io_attr, &a, &a2);
	ck_assert(a2.state == a.state && a2.qkey == a.qkey && a2.rnr_retry == 7 && a2.av.is_global &&
		  a2.av.dmac[0] == 2);
	ck_assert_mem_eq(a2.av.dgid, a.av.dgid, 16);
	both_ways(io_event, &ev, &ev2);
	ck_assert(ev2.type == VS_EV_CQE && ev2.has_wr && ev2.wr_id == 3 && ev2.qpn == 4);
	ck_assert_mem_eq(ev2.a, ev.a, 4 * sizeof(ev.a[0]));
	both_ways(io_device, &d, &d2);
	ck_assert(strcmp(d2.name, "mlx5_0") == 0 && d2.limit[0] == INT32_MAX && d2.limit[DR_MAX_INLINE] == -1 &&
		  d2.atomic_write && !d2.atomic);
}
END_TEST

START_TEST(a_work_request_comes_back_with_what_it_points_to)
{
	static struct ag_send s, s2;

	s.wr = (struct vs_send_wr){
		.wr_id = 1, .opcode = VS_WR_ATOMIC_CMP_AND_SWP, .flags = VS_SEND_INLINE, .num_sge = AG_SGES};
	for (uint32_t i = 0; i < AG_SGES; i++)
		s.sge[i] = (struct vs_sge){UINT64_MAX - i, UINT32_MAX - i, i};
	memset(s.data, 0xa5, sizeof(s.data));
	s.wr.inline_len = AG_INLINE;
	s.mw = 77;
	s.wr.atomic.swap = 0x123456789abcdef0;
	both_ways(io_send, &s, &s2);
	ck_assert_mem_eq(s2.sge, s.sge, sizeof(s.sge));
	ck_assert_mem_eq(s2.data, s.data, sizeof(s.data));
	ck_assert(s2.wr.sg_list == s2.sge && s2.wr.inline_data == s2.data && s2.wr.inline_len == AG_INLINE);
	ck_assert(s2.mw == 77 && s2.wr.atomic.swap == s.wr.atomic.swap);
}
END_TEST

START_TEST(more_parts_than_there_is_room_for_are_refused)
{
	static struct ag_send s;
	struct ag_words w = {.at = "1 2 0 11 0 0 0"};

	ag_io_send(&(struct ag_io){.in = &w}, &s);
	ck_assert(w.bad && s.wr.num_sge == 0);
}
END_TEST

/* ---- memory ---- */

START_TEST(changes_of_memory_make_a_copy_the_same)
{
	static uint8_t now[20000], known[20000], copy[20000];
	uint64_t seed = 1;

	for (unsigned round = 0; round < ROUNDS; round++) {
		uint32_t len = (uint32_t)(vs_rand(&seed) % sizeof(now)) + 1, at = 0, pieces = 0, last = 0;
		struct ag_piece p;

		for (unsigned k = (unsigned)(vs_rand(&seed) % 8); k > 0; k--) {
			uint32_t from = (uint32_t)(vs_rand(&seed) % len),
				 n = (uint32_t)(vs_rand(&seed) % (len - from)) + 1;

			if (k % 3 == 0)
				memset(now + from, (int)(k & 255), n);
			for (uint32_t i = 0; k % 3 != 0 && i < n && i < 300; i++)
				now[from + i] = (uint8_t)vs_rand(&seed);
		}
		while (ag_changed(now, known, len, &at, &p)) {
			ck_assert(p.len > 0 && p.off >= last && p.off + p.len <= len && (p.fill || p.len <= AG_CHUNK));
			last = p.off + p.len;
			pieces++;
			if (p.fill)
				memset(copy + p.off, now[p.off], p.len);
			else
				memcpy(copy + p.off, now + p.off, p.len);
		}
		ck_assert_mem_eq(now, known, len);
		ck_assert_mem_eq(now, copy, len);
		ck_assert_uint_lt(pieces, 2000);
	}
}
END_TEST

/* ---- the clock ---- */

START_TEST(the_true_difference_is_always_within_the_error)
{
	uint64_t seed = 7;

	for (unsigned round = 0; round < 200; round++) {
		const int64_t offset = (int64_t)(vs_rand(&seed) >> 20) - (INT64_C(1) << 43);
		const int64_t ppm = (int64_t)(vs_rand(&seed) % 201) - 100; /* how fast the other clock runs away */
		uint64_t t = UINT64_C(1) << 44;
		struct vc_clock c = {.known = false};

		for (unsigned i = 0; i < 200; i++) {
			uint64_t sent = t, took = sent + vs_rand(&seed) % 500000,
				 answered = took + vs_rand(&seed) % 100000;
			uint64_t came = answered + vs_rand(&seed) % 500000, there, here, error;

#define THERE(x) ((uint64_t)((int64_t)(x) + offset + (int64_t)((x) - (UINT64_C(1) << 44)) * ppm / 1000000))
			vc_clock_add(&c, sent, THERE(took), THERE(answered), came);
			t = came + vs_rand(&seed) % 100000000;
			there = THERE(t);
			here = vc_clock_here(&c, there);
			error = vc_clock_error_ns(&c, t);
			ck_assert_msg((here > t ? here - t : t - here) <= error,
				      "round %u: %lld ns off, the error is %llu", round, (long long)(here - t),
				      (unsigned long long)error);
			ck_assert_uint_le(error, 2000000);
		}
	}
}
END_TEST

START_TEST(a_clock_that_was_set_is_learned_anew)
{
	struct vc_clock c = {.known = false};

	ck_assert_uint_gt(vc_clock_error_ns(&c, 5), UINT32_MAX);
	vc_clock_add(&c, 1000, 1000100, 1000200, 1300);
	ck_assert_uint_eq(vc_clock_here(&c, 1000100), 1100);
	vc_clock_add(&c, 2000, 5000100, 5000200, 2300);
	ck_assert_uint_eq(vc_clock_here(&c, 5000100), 2100);
	vc_clock_add(&c, 3000, 10, 9, 3300); /* it went back between question and answer: nothing is learned */
	ck_assert_uint_eq(vc_clock_here(&c, 5000100), 2100);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("agent");
	TCase *t = tcase_create("agent");

	tcase_set_timeout(t, 60);
	tcase_add_test(t, numbers_and_bytes_come_back);
	tcase_add_test(t, a_word_that_is_wrong_makes_the_line_bad);
	tcase_add_test(t, a_line_that_does_not_fit_is_never_cut);
	tcase_add_test(t, lines_come_whole_however_they_arrive);
	tcase_add_test(t, a_line_that_is_too_long_is_told_once_and_left_out);
	tcase_add_test(t, structures_come_back);
	tcase_add_test(t, a_work_request_comes_back_with_what_it_points_to);
	tcase_add_test(t, more_parts_than_there_is_room_for_are_refused);
	tcase_add_test(t, changes_of_memory_make_a_copy_the_same);
	tcase_add_test(t, the_true_difference_is_always_within_the_error);
	tcase_add_test(t, a_clock_that_was_set_is_learned_anew);
	suite_add_tcase(s, t);
	return s;
}
