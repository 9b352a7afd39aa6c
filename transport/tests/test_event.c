/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_event.c - the list of events, their .vst form, the log: golden file, round trip of random events, what a
 * reader meets in files that others wrote.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"
#include "vs/opcode.h"
#include "vs/reason.h"
#include "vs/verbs.h"
#include "vs/vst.h"

#define GOLDEN "transport/tests/golden/events.vst"

/* ---- helpers ---- */

/* What a writer writes, as one string. Freed by the caller. */
static char *written(int (*write)(void *ctx, FILE *f), void *ctx)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(write(ctx, f), VS_OK);
	fclose(f);
	return text;
}

static FILE *file_of(const char *text)
{
	FILE *f = fmemopen((void *)(uintptr_t)text, strlen(text), "r");

	ck_assert_ptr_nonnull(f);
	return f;
}

#define HEADER "{\"vst\":\"0.1\",\"clock\":\"sim\",\"unit\":\"ns\"}\n"

/* Reads the one event in `line`, behind a plain header. The return of vs_vst_next. */
static int read_one(const char *line, struct vs_event *ev, struct vs_vst_error *err)
{
	static struct vs_vst_reader *reader; /* the texts of an event live as long as it */
	static char text[4096];
	FILE *f;
	int rc;

	snprintf(text, sizeof(text), HEADER "%s\n", line);
	f = file_of(text);
	vs_vst_close(reader);
	reader = vs_vst_open(f, err);
	ck_assert_msg(reader != NULL, "%s", err->text);
	rc = vs_vst_next(reader, ev, err);
	fclose(f);
	return rc;
}

static struct vs_event event(enum vs_event_type type, uint64_t seq)
{
	struct vs_event ev = {.seq = seq, .t_ns = 4000000 + 10 * seq, .type = (uint16_t)type, .node = "A"};

	return ev;
}

/* ---- the list ---- */

START_TEST(every_event_has_a_name_and_is_found_by_it)
{
	for (unsigned t = VS_EV_NONE + 1; t < VS_EV_COUNT; t++) {
		const struct vs_event_info *info = vs_event_info((enum vs_event_type)t);

		ck_assert_msg(strchr(info->name, ':') != NULL || strcmp(info->name, "cqe") == 0 ||
				      strcmp(info->name, "async") == 0 || strcmp(info->name, "mark") == 0,
			      "%s", info->name);
		ck_assert_uint_eq(vs_event_by_name(info->name), t);
		ck_assert_uint_le(info->nargs, VS_EVENT_MAX_ARGS);
	}
	ck_assert_int_eq(vs_event_by_name("pkt:nonsense"), VS_EV_NONE);
	ck_assert_str_eq(vs_event_info((enum vs_event_type)VS_EV_COUNT)->name, "none");
}
END_TEST

START_TEST(arguments_have_names_that_nothing_else_has)
{
	static const char *const common[] = {"seq", "t", "node", "ev", "qpn", "wr", "pkt", "cause", "inferred"};

	for (unsigned t = VS_EV_NONE + 1; t < VS_EV_COUNT; t++) {
		const struct vs_event_info *info = vs_event_info((enum vs_event_type)t);

		for (unsigned i = 0; i < info->nargs; i++) {
			ck_assert_ptr_nonnull(info->args[i].name);
			for (unsigned k = 0; k < i; k++)
				ck_assert_str_ne(info->args[i].name, info->args[k].name);
			for (unsigned k = 0; k < sizeof(common) / sizeof(common[0]); k++)
				ck_assert_str_ne(info->args[i].name, common[k]);
		}
	}
}
END_TEST

/* ---- the golden file: one event of every type, with values that have words ---- */

static void fill_golden(struct vs_event *ev)
{
	const struct vs_event_info *info = vs_event_info((enum vs_event_type)ev->type);

	for (unsigned i = 0; i < info->nargs; i++) {
		static const uint64_t sample[] = {
			[VS_ARG_D] = 3072,
			[VS_ARG_X] = 0xfffffe,
			[VS_ARG_T] = 67108864,
			[VS_ARG_B] = 1,
			[VS_ARG_OPC] = VS_OP_RC_WRITE_FIRST,
			[VS_ARG_SYN] = 0x60,
			[VS_ARG_WR] = VS_WR_RDMA_WRITE,
			[VS_ARG_WCS] = VS_WC_RETRY_EXC_ERR,
			[VS_ARG_WCO] = VS_WC_RECV_RDMA_WITH_IMM,
			[VS_ARG_QPS] = VS_QPS_RTR,
			[VS_ARG_ASY] = VS_EVENT_COMM_EST,
			[VS_ARG_RSN] = VS_REASON_PKT_SHORT,
		};

		ev->a[i] = info->args[i].kind == VS_ARG_STR ? (uintptr_t) "drop 3rd \"data\" from A"
							    : sample[info->args[i].kind];
	}
}

static int write_golden(void *ctx, FILE *f)
{
	struct vs_vst_header h = {.clock = "sim", .vantage_name = "A", .vantage_type = "requester", .build = "test"};
	int rc;

	(void)ctx;
	h.has_seed = true;
	h.seed = 42;
	rc = vs_vst_put_header(&h, f);
	for (unsigned t = VS_EV_NONE + 1; rc == VS_OK && t < VS_EV_COUNT; t++) {
		struct vs_event ev = event((enum vs_event_type)t, t);

		ev.qpn = t % 3 == 0 ? 0 : 0x11;
		ev.has_wr = t % 2 == 0;
		ev.wr_id = t % 2 == 0 ? t : 0;
		ev.pkt_id = t % 4;
		ev.cause = t - 1;
		ev.inferred = t % 5 == 0;
		fill_golden(&ev);
		rc = vs_vst_put(&ev, f);
	}
	return rc;
}

/* VS_UPDATE=1 writes it anew: read the difference before it is committed. */
START_TEST(every_event_is_written_as_in_the_golden_file)
{
	char *got = written(write_golden, NULL), want[32768];
	FILE *f;
	size_t n;

	if (getenv("VS_UPDATE") != NULL) {
		f = fopen(GOLDEN, "w");
		ck_assert(f != NULL && fputs(got, f) >= 0 && fclose(f) == 0);
	}
	f = fopen(GOLDEN, "r");
	ck_assert_msg(f != NULL, "%s is missing (run in the root of the repository)", GOLDEN);
	n = fread(want, 1, sizeof(want) - 1, f);
	want[n] = '\0';
	fclose(f);
	ck_assert_str_eq(got, want);
	free(got);
}
END_TEST

START_TEST(a_line_looks_as_the_design_says)
{
	struct vs_event ev = event(VS_EV_RC_RETRY, 142);
	char line[512];

	ev.qpn = 0x11;
	ev.cause = 141;
	ev.a[0] = 0xffffff;
	ev.a[1] = (uintptr_t) "nak_sequence";
	ev.a[2] = 6;
	ev.a[3] = 2;
	ck_assert_int_gt(vs_vst_format(&ev, line, sizeof(line)), 0);
	ck_assert_str_eq(line, "{\"seq\":142,\"t\":\"4001420\",\"node\":\"A\",\"ev\":\"rc:retry\",\"qpn\":\"0x11\","
			       "\"from\":\"0xffffff\",\"trigger\":\"nak_sequence\",\"left\":6,\"packets\":2,"
			       "\"cause\":141}");
}
END_TEST

START_TEST(syndromes_are_words_and_a_packet_without_aeth_has_none)
{
	static const struct {
		uint64_t syn;
		const char *want;
	} cases[] = {
		{0x1f, ",\"syn\":\"ACK\","},     {0x05, ",\"syn\":\"ACK:5\","},          {0x2e, ",\"syn\":\"RNR:14\","},
		{0x60, ",\"syn\":\"NAK_SEQ\","}, {0x62, ",\"syn\":\"NAK_REM_ACCESS\","}, {0x65, ",\"syn\":101,"},
		{0x45, ",\"syn\":69,"},          {VS_SYN_NONE, ",\"len\":0,\"msn\":"}};
	char line[512];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vs_event ev = event(VS_EV_PKT_RX, 1);

		ev.a[4] = cases[i].syn;
		ck_assert_int_gt(vs_vst_format(&ev, line, sizeof(line)), 0);
		ck_assert_msg(strstr(line, cases[i].want) != NULL, "%s in %s", cases[i].want, line);
	}
}
END_TEST

START_TEST(what_a_double_would_round_is_a_string)
{
	struct vs_event ev = event(VS_EV_VERB_POST_RECV, 1);
	char line[512];

	ev.has_wr = true;
	ev.wr_id = (1ull << 53) - 1;
	ev.a[1] = (uint64_t)(int64_t)VS_ERR_NOSPACE;
	ck_assert_int_gt(vs_vst_format(&ev, line, sizeof(line)), 0);
	ck_assert_ptr_nonnull(strstr(line, "\"wr\":9007199254740991,"));
	ck_assert_ptr_nonnull(strstr(line, "\"ret\":-2}"));
	ev.wr_id = 1ull << 53;
	ck_assert_int_gt(vs_vst_format(&ev, line, sizeof(line)), 0);
	ck_assert_ptr_nonnull(strstr(line, "\"wr\":\"9007199254740992\","));
}
END_TEST

START_TEST(a_buffer_that_is_too_small_is_refused)
{
	struct vs_event ev = event(VS_EV_PKT_TX, 1);
	char line[512];
	int n = vs_vst_format(&ev, line, sizeof(line));

	ck_assert_int_gt(n, 0);
	ck_assert_int_eq(vs_vst_format(&ev, line, (size_t)n + 1), n);
	for (int cap = 0; cap <= n; cap++)
		ck_assert_int_eq(vs_vst_format(&ev, line, (size_t)cap), VS_ERR_NOSPACE);
}
END_TEST

/* ---- round trip ---- */

static const char *random_text(uint64_t *seed, char buf[64])
{
	size_t n = vs_rand(seed) % 40, len = 0;

	while (n-- > 0) {
		static const char *const pieces[] = {"a",    "Z", "\"", "\\", "\n", "\t", "\x01",
						     "\x7f", "/", "<",  "é",  "€",  "𝄞",  " "};

		len += (size_t)snprintf(buf + len, 64 - len, "%s", pieces[vs_rand(seed) % 14]);
		if (len > 56)
			break;
	}
	buf[len] = '\0';
	return buf;
}

static uint64_t random_number(uint64_t *seed)
{
	return vs_rand(seed) >> vs_rand(seed) % 64;
}

static uint64_t random_arg(uint64_t *seed, enum vs_arg_kind kind, char text[64])
{
	switch (kind) {
	case VS_ARG_B:
		return vs_rand(seed) % 2;
	case VS_ARG_STR:
		return (uintptr_t)random_text(seed, text);
	case VS_ARG_SYN:
		return vs_rand(seed) % 8 == 0 ? VS_SYN_NONE : vs_rand(seed) % 300;
	case VS_ARG_D:
	case VS_ARG_X:
	case VS_ARG_T:
		return random_number(seed);
	default:
		return vs_rand(seed) % 16 == 0 ? random_number(seed) : vs_rand(seed) % 300;
	}
}

static void random_event(uint64_t *seed, struct vs_event *ev, char text[VS_EVENT_MAX_ARGS][64])
{
	const struct vs_event_info *info;

	memset(ev, 0, sizeof(*ev));
	ev->type = (uint16_t)(1 + vs_rand(seed) % (VS_EV_COUNT - 1));
	info = vs_event_info((enum vs_event_type)ev->type);
	ev->seq = random_number(seed);
	ev->t_ns = random_number(seed);
	ev->cause = random_number(seed);
	ev->pkt_id = random_number(seed);
	ev->has_wr = vs_rand(seed) % 2;
	ev->wr_id = ev->has_wr ? random_number(seed) : 0;
	ev->qpn = (uint32_t)(random_number(seed) & 0xffffff);
	ev->inferred = vs_rand(seed) % 2;
	snprintf(ev->node, sizeof(ev->node), "N%u", (unsigned)(vs_rand(seed) % 1000));
	for (unsigned i = 0; i < info->nargs; i++)
		ev->a[i] = random_arg(seed, info->args[i].kind, text[i]);
}

static void require_same(const struct vs_event *a, const struct vs_event *b, const char *line)
{
	const struct vs_event_info *info = vs_event_info((enum vs_event_type)a->type);

	ck_assert_msg(a->seq == b->seq && a->t_ns == b->t_ns && a->cause == b->cause && a->pkt_id == b->pkt_id &&
			      a->has_wr == b->has_wr && a->wr_id == b->wr_id && a->qpn == b->qpn &&
			      a->type == b->type && a->inferred == b->inferred && strcmp(a->node, b->node) == 0,
		      "%s", line);
	for (unsigned i = 0; i < info->nargs; i++) {
		if (info->args[i].kind == VS_ARG_STR)
			ck_assert_msg(strcmp((const char *)(uintptr_t)a->a[i], (const char *)(uintptr_t)b->a[i]) == 0,
				      "%s: %s", info->args[i].name, line);
		else
			ck_assert_msg(a->a[i] == b->a[i], "%s: %llx, %llx: %s", info->args[i].name,
				      (unsigned long long)a->a[i], (unsigned long long)b->a[i], line);
	}
}

START_TEST(reading_what_was_written_gives_the_same_events)
{
	static char text[VS_EVENT_MAX_ARGS][64];
	uint64_t seed = 0x5eed;

	for (unsigned i = 0; i < 20000; i++) {
		struct vs_event ev, back;
		struct vs_vst_error err;
		char line[2048], again[2048];
		int rc;

		random_event(&seed, &ev, text);
		ck_assert_int_gt(vs_vst_format(&ev, line, sizeof(line)), 0);
		rc = read_one(line, &back, &err);
		ck_assert_msg(rc == 1, "%s: %s", rc < 0 ? err.text : "nothing", line);
		require_same(&ev, &back, line);
		ck_assert_int_gt(vs_vst_format(&back, again, sizeof(again)), 0);
		ck_assert_str_eq(line, again);
	}
}
END_TEST

START_TEST(every_word_leads_back_to_its_value)
{
	for (unsigned t = VS_EV_NONE + 1; t < VS_EV_COUNT; t++) {
		const struct vs_event_info *info = vs_event_info((enum vs_event_type)t);

		for (unsigned i = 0; i < info->nargs; i++) {
			if (info->args[i].kind == VS_ARG_STR)
				continue;
			for (uint64_t v = 0; v < (info->args[i].kind == VS_ARG_B ? 2 : 520); v++) {
				struct vs_event ev = event((enum vs_event_type)t, 1), back;
				struct vs_vst_error err;
				char line[1024];

				ev.a[i] = v;
				ck_assert_int_gt(vs_vst_format(&ev, line, sizeof(line)), 0);
				ck_assert_int_eq(read_one(line, &back, &err), 1);
				ck_assert_msg(back.a[i] == v, "%s", line);
			}
		}
	}
}
END_TEST

/* ---- files that others wrote ---- */

START_TEST(unknown_keys_are_passed_over)
{
	struct vs_event ev;
	struct vs_vst_error err;

	ck_assert_int_eq(read_one("{\"seq\":7,\"t\":\"9\",\"ev\":\"mark\",\"node\":\"B\",\"text\":\"x\",\"new\":{"
				  "\"deep\":[1,2]}}",
				  &ev, &err),
			 1);
	ck_assert_uint_eq(ev.type, VS_EV_MARK);
	ck_assert_str_eq((const char *)(uintptr_t)ev.a[0], "x");
	ck_assert_str_eq(ev.node, "B");
}
END_TEST

START_TEST(unknown_events_are_kept_as_they_stood)
{
	static const char line[] =
		"{\"seq\": 7, \"t\": \"9\", \"ev\": \"future:thing\", \"node\": \"B\", \"depth\": 3}";
	struct vs_event ev;
	struct vs_vst_error err;
	char back[256];

	ck_assert_int_eq(read_one(line, &ev, &err), 1);
	ck_assert_uint_eq(ev.type, VS_EV_NONE);
	ck_assert_uint_eq(ev.seq, 7);
	ck_assert_int_gt(vs_vst_format(&ev, back, sizeof(back)), 0);
	ck_assert_str_eq(back, line);
}
END_TEST

START_TEST(numbers_may_be_strings_and_strings_of_numbers_numbers)
{
	struct vs_event ev;
	struct vs_vst_error err;

	ck_assert_int_eq(
		read_one("{\"seq\":\"7\",\"t\":9,\"ev\":\"pkt:rx\",\"opc\":\"0x11\",\"psn\":5,\"qpn\":17}", &ev, &err),
		1);
	ck_assert_uint_eq(ev.seq, 7);
	ck_assert_uint_eq(ev.t_ns, 9);
	ck_assert_uint_eq(ev.a[0], 0x11);
	ck_assert_uint_eq(ev.a[1], 5);
	ck_assert_uint_eq(ev.qpn, 17);
	ck_assert_uint_eq(ev.a[4], VS_SYN_NONE);
}
END_TEST

START_TEST(a_broken_line_is_named_and_the_next_one_is_read)
{
	static const struct {
		const char *line, *text;
	} cases[] = {
		{"{\"seq\":1", "no JSON"},
		{"[]", "no JSON object"},
		{"", "an empty line"},
		{"{\"t\":\"1\",\"ev\":\"mark\"}", "no \"seq\""},
		{"{\"seq\":1,\"ev\":\"mark\"}", "no \"t\""},
		{"{\"seq\":1,\"t\":\"1\"}", "no \"ev\""},
		{"{\"seq\":1,\"t\":\"1\",\"ev\":7}", "no \"ev\""},
		{"{\"seq\":1.5,\"t\":\"1\",\"ev\":\"mark\"}", "\"seq\" is no number"},
		{"{\"seq\":1,\"t\":\"x\",\"ev\":\"mark\"}", "\"t\" is no number"},
		{"{\"seq\":1,\"t\":\"\",\"ev\":\"mark\"}", "\"t\" is no number"},
		{"{\"seq\":1,\"t\":\"99999999999999999999\",\"ev\":\"mark\"}", "\"t\" is no number"},
		{"{\"seq\":1,\"t\":\"1\",\"ev\":\"mark\",\"text\":5}", "\"text\" is no text"},
		{"{\"seq\":1,\"t\":\"1\",\"ev\":\"mark\",\"node\":\"a name of 16 byte\"}",
		 "\"node\" is longer than 15 bytes"},
		{"{\"seq\":1,\"t\":\"1\",\"ev\":\"mark\",\"qpn\":\"0x1000000\"}", "\"qpn\" is wider than 24 bits"},
		{"{\"seq\":1,\"t\":\"1\",\"ev\":\"cqe\",\"status\":\"FINE\"}", "\"status\" has an unknown value"},
		{"{\"seq\":1,\"t\":\"1\",\"ev\":\"link:pause\",\"on\":1}", "\"on\" is neither true nor false"},
		{"{\"seq\":1,\"seq\":2,\"t\":\"1\",\"ev\":\"mark\"}", "no JSON: duplicate object key"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vs_vst_error err;
		struct vs_vst_reader *r;
		struct vs_event ev;
		char text[1024];
		FILE *f;

		snprintf(text, sizeof(text), HEADER "{\"seq\":1,\"t\":\"1\",\"ev\":\"mark\"}\n%s\n%s", cases[i].line,
			 "{\"seq\":3,\"t\":\"1\",\"ev\":\"mark\"}\n");
		f = file_of(text);
		r = vs_vst_open(f, &err);
		ck_assert_ptr_nonnull(r);
		ck_assert_int_eq(vs_vst_next(r, &ev, &err), 1);
		ck_assert_int_eq(vs_vst_next(r, &ev, &err), VS_ERR_INVAL);
		ck_assert_uint_eq(err.line, 3);
		ck_assert_msg(strncmp(err.text, cases[i].text, strlen(cases[i].text)) == 0, "%s: %s", cases[i].line,
			      err.text);
		ck_assert_int_eq(vs_vst_next(r, &ev, &err), 1);
		ck_assert_uint_eq(ev.seq, 3);
		ck_assert_int_eq(vs_vst_next(r, &ev, &err), 0);
		ck_assert(!vs_vst_cut(r));
		vs_vst_close(r);
		fclose(f);
	}
}
END_TEST

START_TEST(a_file_that_is_no_trace_is_refused)
{
	static const struct {
		const char *file, *text;
	} cases[] = {
		{"\n", "no JSON"},
		{"{\"seq\":1}\n", "no \"vst\""},
		{"{\"vst\":\"1.0\"}\n", "version 1.0"},
		{"{\"vst\":\"0.1\",\"unit\":\"us\"}\n", "times in us"},
		{"{\"vst\":0.1}\n", "\"vst\" is no text"},
		{"\x0a\x0d\x0d\x0a binary", "no JSON"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vs_vst_error err;
		FILE *f = file_of(cases[i].file);

		ck_assert_ptr_null(vs_vst_open(f, &err));
		ck_assert_uint_eq(err.line, 1);
		ck_assert_msg(strncmp(err.text, cases[i].text, strlen(cases[i].text)) == 0, "%s", err.text);
		fclose(f);
	}
}
END_TEST

START_TEST(a_header_is_read_as_it_was_written)
{
	struct vs_vst_header h = {
		.clock = "monotonic", .vantage_name = "B", .vantage_type = "responder", .build = "0.1.0"};
	struct vs_vst_error err;
	struct vs_vst_reader *r;
	char line[512];
	FILE *f;

	h.has_seed = true;
	h.seed = UINT64_MAX;
	ck_assert_int_gt(vs_vst_format_header(&h, line, sizeof(line)), 0);
	f = file_of(line);
	r = vs_vst_open(f, &err);
	ck_assert_msg(r != NULL, "%s", err.text);
	strcpy(h.version, VS_VST_VERSION);
	ck_assert_mem_eq(vs_vst_header(r), &h, sizeof(h));
	vs_vst_close(r);
	fclose(f);
}
END_TEST

START_TEST(a_last_line_that_was_cut_is_the_end)
{
	struct vs_vst_error err;
	struct vs_event ev;
	FILE *f = file_of(HEADER "{\"seq\":1,\"t\":\"1\",\"ev\":\"mark\"}\n{\"seq\":2,\"t\":\"2\",\"e");
	struct vs_vst_reader *r = vs_vst_open(f, &err);

	ck_assert_int_eq(vs_vst_next(r, &ev, &err), 1);
	ck_assert_int_eq(vs_vst_next(r, &ev, &err), 0);
	ck_assert(vs_vst_cut(r));
	ck_assert_int_eq(vs_vst_next(r, &ev, &err), 0);
	vs_vst_close(r);
	fclose(f);
}
END_TEST

START_TEST(text_that_is_no_utf8_is_still_written_as_json)
{
	struct vs_event ev = event(VS_EV_MARK, 1), back;
	struct vs_vst_error err;
	char line[512];

	ev.a[0] = (uintptr_t) "a\xff\xc0\xaf\xed\xa0\x80z";
	ck_assert_int_gt(vs_vst_format(&ev, line, sizeof(line)), 0);
	ck_assert_int_eq(read_one(line, &back, &err), 1);
	ck_assert_ptr_nonnull(strstr((const char *)(uintptr_t)back.a[0], "\xef\xbf\xbd"));
}
END_TEST

START_TEST(names_that_are_no_utf8_still_fit_where_they_are_read)
{
	struct vs_event ev = event(VS_EV_MARK, 1), back;
	struct vs_vst_header h = {0};
	struct vs_vst_reader *r;
	struct vs_vst_error err;
	char text[4096];
	FILE *f = fmemopen(text, sizeof(text), "w+");

	memset(ev.node, 0xc2, sizeof(ev.node) - 1);
	ev.node[0] = 'n';
	memset(h.clock, 0xff, sizeof(h.clock) - 1);
	memset(h.vantage_name, 0xff, sizeof(h.vantage_name) - 1);
	memset(h.vantage_type, 0xff, sizeof(h.vantage_type) - 1);
	memset(h.build, 0xff, sizeof(h.build) - 1);
	ck_assert_int_eq(vs_vst_put_header(&h, f), VS_OK);
	ck_assert_int_eq(vs_vst_put(&ev, f), VS_OK);
	rewind(f);
	r = vs_vst_open(f, &err);
	ck_assert_msg(r != NULL, "%s", err.text);
	ck_assert_uint_eq(strlen(vs_vst_header(r)->vantage_name), VS_VST_TEXT - 1);
	ck_assert_msg(vs_vst_next(r, &back, &err) == 1, "%s", err.text);
	ck_assert_str_eq(back.node, "n\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	vs_vst_close(r);
	fclose(f);
}
END_TEST

/* ---- the log ---- */

START_TEST(the_log_numbers_events_and_owns_their_texts)
{
	struct vs_event_log log;
	struct vs_event_sink sink;
	char rule[] = "loss";

	vs_event_log_init(&log, 0);
	sink = vs_event_log_sink(&log, VS_LEVEL_BASE);
	ck_assert_int_eq(sink.level, VS_LEVEL_BASE);
	for (uint64_t i = 1; i <= 1000; i++) {
		struct vs_event ev = event(VS_EV_FAULT_DROP, 0);

		ev.a[0] = (uintptr_t)rule;
		ck_assert_uint_eq(sink.emit(sink.ctx, &ev), i);
	}
	memset(rule, '#', 4);
	ck_assert_uint_eq(log.n, 1000);
	for (size_t i = 0; i < log.n; i++) {
		ck_assert_uint_eq(log.ev[i].seq, i + 1);
		ck_assert_str_eq((const char *)(uintptr_t)log.ev[i].a[0], "loss");
	}
	vs_event_log_free(&log);
}
END_TEST

START_TEST(a_log_with_a_limit_goes_on_numbering)
{
	struct vs_event_log log;
	struct vs_event_sink sink;

	vs_event_log_init(&log, 3);
	sink = vs_event_log_sink(&log, VS_LEVEL_CORE);
	for (uint64_t i = 1; i <= 5; i++) {
		struct vs_event ev = event(VS_EV_MARK, 0);

		ck_assert_uint_eq(sink.emit(sink.ctx, &ev), i);
	}
	ck_assert_uint_eq(log.n, 3);
	ck_assert_uint_eq(log.lost, 2);
	vs_event_log_free(&log);
}
END_TEST

static int write_log(void *ctx, FILE *f)
{
	struct vs_vst_header h = {.clock = "sim", .build = "test"};

	return vs_event_log_write(ctx, &h, f);
}

START_TEST(a_log_is_written_with_its_header)
{
	struct vs_event_log log;
	struct vs_event_sink sink;
	struct vs_event ev = event(VS_EV_MARK, 0);
	char *text;

	vs_event_log_init(&log, 0);
	sink = vs_event_log_sink(&log, VS_LEVEL_CORE);
	ev.a[0] = (uintptr_t) "here";
	sink.emit(sink.ctx, &ev);
	text = written(write_log, &log);
	ck_assert_str_eq(text, "{\"vst\":\"0.1\",\"clock\":\"sim\",\"unit\":\"ns\",\"build\":\"test\"}\n"
			       "{\"seq\":1,\"t\":\"4000000\",\"node\":\"A\",\"ev\":\"mark\",\"text\":\"here\"}\n");
	free(text);
	vs_event_log_free(&log);
}
END_TEST

/* ---- packed ---- */

static char *unpacked(const void *data, size_t n, int *rc)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	ck_assert_ptr_nonnull(f);
	*rc = vs_unpack(data, n, f);
	fclose(f);
	return text;
}

/* One event of every type, as in the golden file; how many bytes, and where the last one begins. */
static size_t pack_golden(uint8_t *buf, size_t cap, size_t *last)
{
	struct vs_vst_header h = {.clock = "sim", .vantage_name = "A", .vantage_type = "requester", .build = "test"};
	size_t at;

	h.has_seed = true;
	h.seed = 42;
	at = vs_pack_header(&h, buf, cap);
	ck_assert_uint_gt(at, 0);
	for (unsigned t = VS_EV_NONE + 1; t < VS_EV_COUNT; t++) {
		struct vs_event ev = event((enum vs_event_type)t, t);
		size_t n;

		ev.qpn = t % 3 == 0 ? 0 : 0x11;
		ev.has_wr = t % 2 == 0;
		ev.wr_id = t % 2 == 0 ? t : 0;
		ev.pkt_id = t % 4;
		ev.cause = t - 1;
		ev.inferred = t % 5 == 0;
		fill_golden(&ev);
		*last = at;
		n = vs_pack(&ev, buf + at, cap - at);
		ck_assert_uint_gt(n, 0);
		ck_assert_uint_eq(n % 8, 0);
		at += n;
	}
	return at;
}

START_TEST(what_is_packed_becomes_the_same_lines)
{
	static _Alignas(8) uint8_t buf[65536]; /* zeros behind the last one */
	char *want = written(write_golden, NULL), *got;
	size_t last, n = pack_golden(buf, sizeof(buf), &last);
	int rc;

	ck_assert(vs_is_packed(buf, n) && !vs_is_packed(want, strlen(want)));
	for (int i = 0; i < 2; i++) {
		got = unpacked(buf, i == 0 ? n : sizeof(buf), &rc);
		ck_assert_int_eq(rc, VS_OK);
		ck_assert_str_eq(got, want);
		free(got);
	}
	free(want);
}
END_TEST

START_TEST(of_what_is_packed_and_cut_every_whole_event_is_had)
{
	static _Alignas(8) uint8_t buf[65536];
	size_t last, n = pack_golden(buf, sizeof(buf), &last);
	char *want, *got;
	int rc;

	want = unpacked(buf, last, &rc);
	for (size_t cut = last; cut < n; cut += 4) {
		got = unpacked(buf, cut, &rc);
		ck_assert_int_eq(rc, VS_OK);
		ck_assert_str_eq(got, want);
		free(got);
	}
	memset(buf + last, 0, VS_PACKED_LEAD); /* killed before its head was written */
	got = unpacked(buf, n, &rc);
	ck_assert_str_eq(got, want);
	free(got);
	free(want);
	buf[0] ^= 1;
	got = unpacked(buf, n, &rc);
	ck_assert_int_eq(rc, VS_ERR_INVAL);
	free(got);
}
END_TEST

START_TEST(nothing_is_packed_beyond_the_buffer)
{
	_Alignas(8) uint8_t buf[256];
	struct vs_event ev = event(VS_EV_MARK, 0);
	size_t n;

	ev.a[0] = (uintptr_t) "a text of some length";
	n = vs_pack(&ev, buf, sizeof(buf));
	ck_assert_uint_gt(n, 0);
	for (size_t cap = 0; cap < n; cap++) {
		memset(buf, 0xee, sizeof(buf));
		ck_assert_uint_eq(vs_pack(&ev, buf, cap), 0);
		for (size_t i = cap; i < sizeof(buf); i++)
			ck_assert_uint_eq(buf[i], 0xee);
	}
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("event");
	TCase *tc = tcase_create("event");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, every_event_has_a_name_and_is_found_by_it);
	tcase_add_test(tc, arguments_have_names_that_nothing_else_has);
	tcase_add_test(tc, every_event_is_written_as_in_the_golden_file);
	tcase_add_test(tc, a_line_looks_as_the_design_says);
	tcase_add_test(tc, syndromes_are_words_and_a_packet_without_aeth_has_none);
	tcase_add_test(tc, what_a_double_would_round_is_a_string);
	tcase_add_test(tc, a_buffer_that_is_too_small_is_refused);
	tcase_add_test(tc, reading_what_was_written_gives_the_same_events);
	tcase_add_test(tc, every_word_leads_back_to_its_value);
	tcase_add_test(tc, unknown_keys_are_passed_over);
	tcase_add_test(tc, unknown_events_are_kept_as_they_stood);
	tcase_add_test(tc, numbers_may_be_strings_and_strings_of_numbers_numbers);
	tcase_add_test(tc, a_broken_line_is_named_and_the_next_one_is_read);
	tcase_add_test(tc, a_file_that_is_no_trace_is_refused);
	tcase_add_test(tc, a_header_is_read_as_it_was_written);
	tcase_add_test(tc, a_last_line_that_was_cut_is_the_end);
	tcase_add_test(tc, text_that_is_no_utf8_is_still_written_as_json);
	tcase_add_test(tc, names_that_are_no_utf8_still_fit_where_they_are_read);
	tcase_add_test(tc, the_log_numbers_events_and_owns_their_texts);
	tcase_add_test(tc, a_log_with_a_limit_goes_on_numbering);
	tcase_add_test(tc, a_log_is_written_with_its_header);
	tcase_add_test(tc, what_is_packed_becomes_the_same_lines);
	tcase_add_test(tc, of_what_is_packed_and_cut_every_whole_event_is_had);
	tcase_add_test(tc, nothing_is_packed_beyond_the_buffer);
	suite_add_tcase(s, tc);
	return s;
}
