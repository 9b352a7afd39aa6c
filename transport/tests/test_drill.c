/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_drill.c - the language of scenarios: scripts that hold, scripts whose claims are taken away, wrong scripts
 * and broken runs with their exact errors, the examples of the manual, repeatability.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vs/dev.h"
#include "vs/drill.h"

#include "drill/drill_int.h"
#include "runner.h"

#define DIR_OF "transport/tests/drill/"
#define WORD_LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"

static char *read_file(const char *path, size_t *len)
{
	FILE *f = fopen(path, "r");
	char *buf = calloc(1, VS_DRILL_MAX_BYTES + 1);

	ck_assert_msg(f != NULL, "%s can't be opened: tests run in the root of the repository", path);
	ck_assert_ptr_nonnull(buf);
	*len = fread(buf, 1, VS_DRILL_MAX_BYTES, f);
	fclose(f);
	return buf;
}

static struct vs_drill *parse(const char *name, const char *text, size_t len)
{
	struct vs_drill_error err;
	struct vs_drill *d = vs_drill_parse(text, len, &err);

	ck_assert_msg(d != NULL, "%s:%u:%u: %s", name, err.line, err.column, err.text);
	return d;
}

/* All vectors; the first that does not pass goes into *out. */
static bool holds(const struct vs_drill *d, const struct vs_drill_env *env, struct vs_drill_result *out)
{
	*out = (struct vs_drill_result){.verdict = VS_VERDICT_ERROR};
	for (unsigned v = 0; v < vs_drill_vectors(d); v++) {
		vs_drill_run_sim(d, v, env, out);
		if (out->verdict == VS_VERDICT_FAIL || out->verdict == VS_VERDICT_ERROR)
			return false;
	}
	return true;
}

static int is_script(const struct dirent *e)
{
	size_t n = strlen(e->d_name);

	return n > 6 && strcmp(e->d_name + n - 6, ".drill") == 0;
}

static void expect_pass(const char *name, const char *text, size_t len, const struct vs_drill_env *env)
{
	struct vs_drill *d = parse(name, text, len);
	struct vs_drill_result res;
	char said[2048] = "";

	if (!holds(d, env, &res))
		(void)vs_drill_error_format(&res.at, name, said, sizeof(said));
	ck_assert_msg(said[0] == '\0', "%s %s", vs_verdict_name(res.verdict), said);
	vs_drill_free(d);
}

START_TEST(scripts_hold_in_every_encapsulation)
{
	static const char *const encaps[] = {"rocev2-ipv4", "rocev2-ipv6", "rocev1", "ib", "ib-grh", NULL};
	struct dirent **list;
	int n = scandir(DIR_OF, &list, is_script, alphasort);

	ck_assert_int_ge(n, 8);
	for (int i = 0; i < n; i++) {
		char path[512];
		size_t len;
		char *text;

		(void)snprintf(path, sizeof(path), DIR_OF "%s", list[i]->d_name);
		text = read_file(path, &len);
		for (unsigned e = 0; e < 6; e++) {
			struct vs_drill_env env = {.encap = encaps[e], .seed = e};

			expect_pass(list[i]->d_name, text, len, &env);
		}
		free(text);
		free(list[i]);
	}
	free(list);
}
END_TEST

/* ---- claims that are taken away ---- */

/* True: it fails as the table says. */
static bool take_away(char *line)
{
	char *field[5], path[512], *text, *at, *out;
	struct vs_drill_result res;
	struct vs_drill *d;
	size_t len;
	bool right;

	for (unsigned i = 0; i < 5; i++) {
		field[i] = line;
		line = i < 4 ? strchr(line, '\t') : NULL;
		ck_assert_msg(i == 4 || line != NULL, "%s: five fields", field[0]);
		if (line != NULL)
			*line++ = '\0';
	}
	(void)snprintf(path, sizeof(path), DIR_OF "%s.drill", field[0]);
	text = read_file(path, &len);
	at = strstr(text, field[1]);
	ck_assert_msg(at != NULL, "%s does not have: %s", path, field[1]);
	out = calloc(1, len + strlen(field[2]) + 1);
	ck_assert_ptr_nonnull(out);
	(void)sprintf(out, "%.*s%s%s", (int)(at - text), text, field[2], at + strlen(field[1]));
	d = parse(path, out, strlen(out));
	(void)holds(d, NULL, &res);
	right = res.verdict == VS_VERDICT_FAIL && res.at.line == (unsigned)atoi(field[3]) &&
		strstr(res.at.text, field[4]) != NULL;
	if (!right)
		printf("%s: '%s' for '%s': %s line %u: %s\n", path, field[2], field[1], vs_verdict_name(res.verdict),
		       res.at.line, res.at.text);
	vs_drill_free(d);
	free(out);
	free(text);
	return right;
}

START_TEST(a_claim_that_is_taken_away_fails_in_its_line)
{
	size_t len;
	char *table = read_file(DIR_OF "takeaways.table", &len), *save = NULL;
	unsigned n = 0, wrong = 0;

	for (char *l = strtok_r(table, "\n", &save); l != NULL; l = strtok_r(NULL, "\n", &save)) {
		if (*l == '#')
			continue;
		wrong += !take_away(l);
		n++;
	}
	ck_assert_uint_eq(wrong, 0);
	ck_assert_uint_ge(n, 35);
	free(table);
}
END_TEST

/* ---- wrong scripts ---- */

/* A table of scripts: == TITLE, the script, => WHAT IS SAID. Calls `said` for each; how many there are. */
static unsigned each_row(const char *path, void (*said)(const char *script, size_t len, char *buf, size_t cap))
{
	size_t len;
	char *table = read_file(path, &len), *p = strstr(table, "\n== ");
	unsigned n = 0;

	while (p != NULL) {
		char *title = p + 4, *body = strchr(title, '\n') + 1, *want = strstr(body - 1, "\n=> ") + 1;
		char got[1200] = "=> ", *end = strchr(want, '\n');

		ck_assert_ptr_nonnull(end);
		said(body, (size_t)(want - body), got + 3, sizeof(got) - 3);
		ck_assert_msg(strlen(got) == (size_t)(end - want) && memcmp(got, want, strlen(got)) == 0,
			      "%.*s%s\nnot\n%.*s", (int)(body - title), title, got, (int)(end - want), want);
		n++;
		p = strncmp(end, "\n== ", 4) == 0 ? end : NULL;
		ck_assert_msg(p != NULL || end[1] == '\0', "behind %.*s", (int)(body - title), title);
	}
	free(table);
	return n;
}

/* The line that an error shows is the one that it names, and its caret is on it. */
static void shows_its_line(const struct vs_drill_error *e, const char *script, size_t len)
{
	const char *line = script;

	for (unsigned i = 1; i < e->line; i++)
		line = (const char *)memchr(line, '\n', len - (size_t)(line - script)) + 1;
	if (e->line == 0)
		return;
	ck_assert_uint_le(e->column, strlen(e->source) + 1);
	for (size_t i = 0; e->source[i] != '\0'; i++)
		ck_assert_msg(e->source[i] == line[i] || e->source[i] == '?', "'%s' is shown for '%.40s'", e->source,
			      line);
}

static void said_of_wrong(const char *script, size_t len, char *buf, size_t cap)
{
	struct vs_drill_error err;

	ck_assert_msg(vs_drill_parse(script, len, &err) == NULL, "accepted: %.*s", (int)len, script);
	shows_its_line(&err, script, len);
	(void)snprintf(buf, cap, "%u:%u: %s", err.line, err.column, err.text);
}

START_TEST(wrong_scripts_have_exactly_these_errors)
{
	ck_assert_uint_ge(each_row(DIR_OF "wrong.table", said_of_wrong), 160);
}
END_TEST

/* The first vector that does not pass; "# deviation NAME" as first line asks for a defect of the engine. */
static void said_of_broken(const char *script, size_t len, char *buf, size_t cap)
{
	struct vs_drill_env env = {.seed = 0};
	struct vs_drill_result res;
	struct vs_drill *d = parse("table", script, len);
	char name[64];

	if (sscanf(script, "# deviation %63s", name) == 1)
		env.deviations = UINT64_C(1) << vs_deviation_by_name(name);
	(void)holds(d, &env, &res);
	shows_its_line(&res.at, script, len);
	(void)snprintf(buf, cap, "%s %u:%u: %s", vs_verdict_name(res.verdict), res.at.line, res.at.column, res.at.text);
	vs_drill_free(d);
}

START_TEST(broken_runs_say_exactly_this)
{
	ck_assert_uint_ge(each_row(DIR_OF "broken.table", said_of_broken), 80);
}
END_TEST

START_TEST(limits_are_errors_not_crashes)
{
	static const struct {
		const char *what, *unit;
		unsigned times;
		const char *want;
	} rows[] = {
		{"bytes", "# a comment of some length that fills the file\n", 6000,
		 "a script has at most 262144 bytes"},
		{"lines", "\n", 5000, "a script has at most 4096 lines"},
		{"a line", "#1234567890", 60, "a line has at most 480 bytes"},
		{"tokens", "a ", 120, "more than 95 words and signs on one line"},
		{"nesting", "wait (((((((((((((((((((((((((((((((", 1, "too many parentheses and signs in each other"},
		{"names", "mr dut.b%u len=1\n", 200, "more than 128 names in one script"},
	};
	struct vs_drill_error err;

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t cap = 64 + rows[i].times * 64u, n;
		char *text = malloc(cap);

		ck_assert_ptr_nonnull(text);
		n = (size_t)snprintf(text, cap, "case X-1 \"t\"\n");
		for (unsigned k = 0; k < rows[i].times; k++) {
			const char *mark = strstr(rows[i].unit, "%u");

			if (mark == NULL)
				n += (size_t)snprintf(text + n, cap - n, "%s", rows[i].unit);
			else
				n += (size_t)snprintf(text + n, cap - n, "%.*s%u%s", (int)(mark - rows[i].unit),
						      rows[i].unit, k, mark + 2);
		}
		ck_assert_msg(vs_drill_parse(text, n, &err) == NULL, "%s: accepted", rows[i].what);
		ck_assert_msg(strcmp(err.text, rows[i].want) == 0, "%s: %s", rows[i].what, err.text);
		free(text);
	}
	ck_assert_ptr_null(vs_drill_parse("case X-1 \"t\"\n\0\n", 15, &err));
	ck_assert_str_eq(err.text, "a script is text: this line has a zero byte");
}
END_TEST

START_TEST(an_error_is_shown_with_its_line_and_a_caret)
{
	static const char text[] = "case X-1 \"t\"\n\tmr\tdut.buf lem=4\n";
	struct vs_drill_error err;
	char buf[512];

	ck_assert_ptr_null(vs_drill_parse(text, sizeof(text) - 1, &err));
	(void)vs_drill_error_format(&err, "a.drill", buf, sizeof(buf));
	ck_assert_str_eq(buf, "a.drill:2:13: expected a key of this statement, not 'lem', did you mean len?\n"
			      "  \tmr\tdut.buf lem=4\n"
			      "  \t  \t        ^\n");
}
END_TEST

/* ---- the manual ---- */

/* ```drill blocks of docs/drill-language.md: whole scripts, or lines behind the header that the manual names. */
START_TEST(the_examples_of_the_manual_run)
{
	static const char head[] =
		"case DOC \"example\"\n"
		"qp dut.q <-> peer rc psn=0xfffffe\n"
		"mr dut.buf len=4096 fill=0 access=local_write,remote_write,remote_read,remote_atomic,mw_bind\n"
		"mr peer.mem len=4096 fill=0x22 access=remote_read,remote_write\n";
	size_t len;
	char *doc = read_file("docs/drill-language.md", &len), *p = doc;
	unsigned n = 0;

	while ((p = strstr(p, "\n```drill\n")) != NULL) {
		char *begin = p + 10, *end = strstr(begin, "\n```"), *text, name[32];

		ck_assert_ptr_nonnull(end);
		text = calloc(1, sizeof(head) + (size_t)(end - begin) + 2);
		ck_assert_ptr_nonnull(text);
		(void)sprintf(text, "%s%.*s\n", strncmp(begin, "case", 4) == 0 ? "" : head, (int)(end - begin), begin);
		(void)snprintf(name, sizeof(name), "example %u", ++n);
		expect_pass(name, text, strlen(text), NULL);
		free(text);
		p = end;
	}
	ck_assert_uint_ge(n, 20);
	free(doc);
}
END_TEST

/* Is `word` in `doc` as a word of its own? */
static bool has_word(const char *doc, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = strstr(doc, word); p != NULL; p = strstr(p + 1, word))
		if (strchr(WORD_LETTERS, p[-1]) == NULL && strchr(WORD_LETTERS, p[n]) == NULL)
			return true;
	return false;
}

/* Who writes a script knows the words from the manual alone. */
START_TEST(the_manual_names_every_word_of_a_closed_list)
{
	static const struct word *const lists[] = {dr_verb_words,      dr_access_words,    dr_state_words,
						   dr_wc_status_words, dr_wc_opcode_words, dr_async_words,
						   dr_encap_words,     dr_cm_event_words,  dr_need_words,
						   dr_waive_words,     dr_limit_words};
	size_t len;
	char *doc = read_file("docs/drill-language.md", &len);

	for (unsigned i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		for (const struct word *w = lists[i]; w->name != NULL; w++)
			ck_assert_msg(has_word(doc, w->name), "docs/drill-language.md does not name %s", w->name);
	for (int c = 0; c < VS_CNT_COUNT; c++)
		ck_assert_msg(has_word(doc, vs_counter_name((enum vs_counter)c)),
			      "docs/drill-language.md does not name %s", vs_counter_name((enum vs_counter)c));
	ck_assert(!has_word(doc, "leftover")); /* a part of words is none */
	free(doc);
}
END_TEST

/* ---- runs ---- */

struct trace {
	uint64_t hash, frames;
};

static void tap(void *ctx, const struct vs_drill_frame *f)
{
	struct trace *t = ctx;

	if (f->where != VS_TAP_SENT)
		return;
	t->hash = (t->hash ^ f->now_ns ^ (uint64_t)f->link) * 0x100000001b3ull;
	for (size_t i = 0; i < f->len; i++)
		t->hash = (t->hash ^ f->data[i]) * 0x100000001b3ull;
	t->frames++;
}

START_TEST(the_same_seed_gives_the_same_bytes)
{
	size_t len;
	char *text = read_file(DIR_OF "mixed.drill", &len);
	struct vs_drill *d = parse("mixed", text, len);
	struct trace a = {0, 0}, b = {0, 0}, c = {0, 0};
	struct vs_drill_env env = {.seed = 7, .tap = tap, .tap_ctx = &a};
	struct vs_drill_result res;

	ck_assert(holds(d, &env, &res));
	env.tap_ctx = &b;
	ck_assert(holds(d, &env, &res));
	env.tap_ctx = &c;
	env.seed = 8;
	ck_assert(holds(d, &env, &res));
	ck_assert_uint_gt(a.frames, 6);
	ck_assert(a.hash == b.hash && a.frames == b.frames);
	ck_assert(a.hash != c.hash);
	vs_drill_free(d);
	free(text);
}
END_TEST

START_TEST(the_alternative_that_was_taken_is_recorded)
{
	static const char text[] = "case X-1 \"t\"\nqp dut.q <-> peer rc\n"
				   "dut one of\n"
				   "  event:  async COMM_EST\n"
				   "          dut state ERR\n"
				   "  silent: no async for 5ms\n"
				   "          dut state RTS\n"
				   "one of\n"
				   "  other: peer< nothing for 9ms\n"
				   "  quick: dut no cqe for 1ms\n";
	struct vs_drill *d = parse("text", text, sizeof(text) - 1);
	struct vs_drill_result res;

	vs_drill_run_sim(d, 0, NULL, &res);
	ck_assert_int_eq(res.verdict, VS_VERDICT_VARIANT);
	ck_assert_str_eq(res.variant, "silent,quick");
	ck_assert_uint_eq(res.time_ns, 1000 + 6000000 + 18000);
	vs_drill_free(d);
}
END_TEST

START_TEST(an_alternative_whose_time_is_over_leaves_the_others)
{
	static const char text[] = "case X-1 \"t\"\nqp dut.q <-> peer rc\nmr dut.b len=8\ndut post send wr=1 b\n"
				   "peer< SEND_ONLY psn=+0\n"
				   "one of\n"
				   "  early: dut cqe wr=1 SEND SUCCESS within 1ms\n"
				   "  late:  peer< SEND_ONLY psn=+0\n"
				   "peer> ACK psn=+0 msn=1\n"
				   "dut cqe wr=1 SEND SUCCESS\n"
				   "mr dut.no len=8 access=remote_write refused\n"
				   "mr dut.no len=8 access=local_write\n";
	struct vs_drill *d = parse("text", text, sizeof(text) - 1);
	struct vs_drill_result res;

	vs_drill_run_sim(d, 0, NULL, &res);
	ck_assert_msg(res.verdict == VS_VERDICT_VARIANT, "%s", res.at.text);
	ck_assert_str_eq(res.variant, "late");
	vs_drill_free(d);
}
END_TEST

START_TEST(what_a_target_cannot_give_is_skipped)
{
	static const char text[] = "case X-1 \"t\"\nneeds ecn\nqp dut.q <-> peer rc\n";
	struct vs_drill *d = parse("text", text, sizeof(text) - 1);
	struct vs_drill_env env = {.encap = "rocev1"};
	struct vs_drill_result res;

	vs_drill_run_sim(d, 0, &env, &res);
	ck_assert_int_eq(res.verdict, VS_VERDICT_SKIP);
	ck_assert_str_eq(res.at.text, "there is no ECN without an IP header");
	env.encap = "rocev3";
	vs_drill_run_sim(d, 0, &env, &res);
	ck_assert_int_eq(res.verdict, VS_VERDICT_ERROR);
	ck_assert_str_eq(res.at.text, "there is no encapsulation rocev3");
	vs_drill_run_sim(d, 0, NULL, &res);
	ck_assert_int_eq(res.verdict, VS_VERDICT_PASS);
	vs_drill_free(d);
}
END_TEST

START_TEST(defects_of_an_engine_are_seen)
{
	static const struct {
		const char *script;
		enum vs_deviation deviation;
		enum vs_verdict verdict;
		unsigned line;
		const char *said; /* of a VARIANT: which */
	} rows[] = {
		{"rnr-wait-is-honoured", VS_DEVIATION_RNR_DELAY_IGNORED, VS_VERDICT_FAIL, 11, "too early, by"},
		{"rnr-wait-is-honoured", VS_DEVIATION_RNR_CODE25, VS_VERDICT_FAIL, 11, "too early, by 28 us"},
		{"bad-rkey-write", VS_DEVIATION_NO_ACCESS_EVENT, VS_VERDICT_VARIANT, 0, "silent"},
		{"bad-rkey-write", VS_DEVIATION_RQ_NOT_FLUSHED, VS_VERDICT_FAIL, 16, "nothing came within"},
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct vs_drill_env env = {.deviations = 1ull << rows[i].deviation};
		struct vs_drill_result res;
		struct vs_drill *d;
		char path[256], *text;
		size_t len;

		(void)snprintf(path, sizeof(path), DIR_OF "%s.drill", rows[i].script);
		text = read_file(path, &len);
		d = parse(path, text, len);
		(void)holds(d, &env, &res);
		ck_assert_msg(res.verdict == rows[i].verdict && res.at.line == rows[i].line &&
				      strstr(res.verdict == VS_VERDICT_VARIANT ? res.variant : res.at.text,
					     rows[i].said) != NULL,
			      "%s with %s: %s line %u: %s", path, vs_deviation_name(rows[i].deviation),
			      vs_verdict_name(res.verdict), res.at.line, res.at.text);
		vs_drill_free(d);
		free(text);
	}
}
END_TEST

struct story {
	unsigned events, marks;
	uint64_t last;
};

static uint64_t listen(void *ctx, const struct vs_event *ev)
{
	struct story *s = ctx;

	ck_assert_uint_ge(ev->t_ns, s->last);
	s->last = ev->t_ns;
	if (ev->type == VS_EV_MARK && strcmp((const char *)(uintptr_t)ev->a[0], "half way") == 0)
		s->marks++;
	return ++s->events;
}

START_TEST(a_run_tells_its_events_and_the_marks_of_the_script)
{
	static const char text[] =
		"case X-1 \"t\"\nqp dut.q <-> peer rc\nmr dut.b len=8\nmark \"half way\"\n"
		"dut post send wr=1 b\npeer< SEND_ONLY psn=+0\npeer> ACK psn=+0 msn=1\ndut cqe wr=1 SEND SUCCESS\n";
	struct vs_drill *d = parse("text", text, sizeof(text) - 1);
	struct story s = {0, 0, 0};
	struct vs_drill_env env = {.sink = {.emit = listen, .ctx = &s, .level = VS_LEVEL_EXTRA}};
	struct vs_drill_result res;

	vs_drill_run_sim(d, 0, &env, &res);
	ck_assert_int_eq(res.verdict, VS_VERDICT_PASS);
	ck_assert_uint_eq(s.marks, 1);
	ck_assert_uint_gt(s.events, 10);
	vs_drill_free(d);
}
END_TEST

START_TEST(vectors_have_names_and_the_header_can_be_asked)
{
	static const char text[] =
		"case X-9 \"claim\"\nclause C9-1 class N needs peer, cm\nmatrix a = 1 2\nmatrix b = 7..9\n"
		"qp dut.q <-> peer rc timeout=$a retry_cnt=7\nwait 1ms * $b\n";
	struct vs_drill *d = parse("text", text, sizeof(text) - 1);
	char name[32];

	ck_assert_uint_eq(vs_drill_vectors(d), 6);
	ck_assert_int_eq(vs_drill_vector_name(d, 4, name, sizeof(name)), 7);
	ck_assert_str_eq(name, "a=2,b=8");
	ck_assert_str_eq(vs_drill_id(d), "X-9");
	ck_assert_str_eq(vs_drill_title(d), "claim");
	ck_assert_str_eq(vs_drill_clause(d), "C9-1");
	ck_assert_int_eq(vs_drill_class(d), 'N');
	ck_assert(vs_drill_needs(d, "peer") && vs_drill_needs(d, "cm") && !vs_drill_needs(d, "ud"));
	vs_drill_free(d);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("drill");
	TCase *tc = tcase_create("drill");

	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, scripts_hold_in_every_encapsulation);
	tcase_add_test(tc, a_claim_that_is_taken_away_fails_in_its_line);
	tcase_add_test(tc, wrong_scripts_have_exactly_these_errors);
	tcase_add_test(tc, limits_are_errors_not_crashes);
	tcase_add_test(tc, an_error_is_shown_with_its_line_and_a_caret);
	tcase_add_test(tc, the_examples_of_the_manual_run);
	tcase_add_test(tc, the_manual_names_every_word_of_a_closed_list);
	tcase_add_test(tc, the_same_seed_gives_the_same_bytes);
	tcase_add_test(tc, the_alternative_that_was_taken_is_recorded);
	tcase_add_test(tc, an_alternative_whose_time_is_over_leaves_the_others);
	tcase_add_test(tc, what_a_target_cannot_give_is_skipped);
	tcase_add_test(tc, broken_runs_say_exactly_this);
	tcase_add_test(tc, defects_of_an_engine_are_seen);
	tcase_add_test(tc, a_run_tells_its_events_and_the_marks_of_the_script);
	tcase_add_test(tc, vectors_have_names_and_the_header_can_be_asked);
	suite_add_tcase(s, tc);
	return s;
}
