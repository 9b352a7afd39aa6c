/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_record.c - the recorder without a program: its rings, its clock, and the notation of --inject. Beside it,
 * test_spool.c is about what it leaves, and recorder.sh looks at programs.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../recorder/ring.h"
#include "../spool_int.h"
#include "tests/runner.h"
#include "vs/vst.h"

/* ---- what ring.c needs of the rest ---- */

struct rec_state rec_state = {.dir_fd = -1};

void rec_drain_soon(void)
{
}
static unsigned asked;
void rec_drain_ask(void)
{
	asked++;
}
uint8_t rec_context_index(const struct ibv_context *context)
{
	(void)context;
	return 1;
}

static char dir[] = "/tmp/vs-test-record-XXXXXX";

static void setup(void)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
	rec_state.dir_fd = open(dir, O_RDONLY | O_DIRECTORY);
	atomic_store(&rec_state.on, 1);
	rec_rings_refill();
}

static void teardown(void)
{
	char command[128];

	rec_rings_remove();
	close(rec_state.dir_fd);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	ck_assert_int_eq(system(command), 0);
	memcpy(dir + strlen(dir) - 6, "XXXXXX", 6);
}

/* ---- rings ---- */

static uint64_t now;
static uint64_t test_now(void)
{
	return now;
}

static uint64_t lost(void)
{
	uint64_t n = rec_homeless();

	for (unsigned i = 0; i < rec_ring_count(); i++)
		n += atomic_load(&rec_ring_at(i)->lost);
	return n;
}

/* What stands in the rings and was not drained, for a reader. */
static void take_rest(struct spool_reader *r)
{
	for (unsigned i = 0; i < rec_ring_count(); i++) {
		const struct rec_ring *ring = rec_ring_at(i);
		uint64_t tail = atomic_load(&ring->tail), n = atomic_load(&ring->head) - tail;

		ck_assert_uint_le(n, REC_RING_WORDS);
		r->rest[i].n = n;
		r->rest[i].at = tail;
		r->rest[i].word = malloc((n + 1) * sizeof(uint64_t));
		for (uint64_t k = 0; k < n; k++)
			r->rest[i].word[k] = ring->word[(tail + k) & (REC_RING_WORDS - 1)];
	}
}

static uint64_t written(void)
{
	struct spool_reader r = {0};
	struct rec pair[2];
	uint64_t n = 0;

	take_rest(&r);
	ck_assert(spool_open(&r, NULL, 0, false));
	while (spool_next(&r, pair))
		n++;
	spool_close(&r);
	return n;
}

static void write_some(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		struct rec *r = rec_begin(REC_POST_SEND, NULL);

		if (r != NULL) { /* nothing is as it was */
			memset(r->w, (int)i, sizeof(r->w));
			memset(r->a, (int)i, sizeof(r->a));
		}
		rec_commit();
	}
}

START_TEST(full_ring_drops_and_counts)
{
	const unsigned n = REC_RING_WORDS / 6 + 100; /* at least six words each */

	write_some(n);
	ck_assert_uint_ge(lost(), 100);
	ck_assert_uint_ge(written(), REC_RING_WORDS / 8);
	ck_assert_uint_eq(written() + lost(), n);
}
END_TEST

START_TEST(drained_ring_takes_more)
{
	uint64_t before;
	struct rec_ring *r;

	write_some(REC_RING_WORDS / 6);
	before = lost();
	for (unsigned i = 0; i < rec_ring_count(); i++) {
		r = rec_ring_at(i);
		atomic_store(&r->tail, atomic_load(&r->head));
	}
	write_some(100);
	ck_assert_uint_eq(lost(), before);
}
END_TEST

START_TEST(what_is_not_committed_can_be_taken_back)
{
	uint64_t before = written(), mark = rec_mark();

	ck_assert_ptr_nonnull(rec_begin(REC_POST_SEND, NULL));
	ck_assert_ptr_nonnull(rec_begin(REC_POST_SEND, NULL));
	rec_rewind(mark);
	ck_assert_ptr_nonnull(rec_begin(REC_POST_RECV, NULL));
	rec_commit();
	ck_assert_uint_eq(written(), before + 1);
}
END_TEST

/* A call that makes others has its place before them, and what it returned. */
START_TEST(held_record_gets_its_result_behind_those_inside)
{
	struct spool_reader reader = {0};
	struct rec *outer, pair[2];
	union rec_words u;
	uint16_t type[4];
	uint64_t ret[4];

	rec_state.virtual_now = test_now;
	outer = rec_begin_held(REC_CM_CALL, NULL);
	ck_assert_ptr_nonnull(outer);
	ck_assert_ptr_nonnull(rec_begin(REC_MODIFY_QP, NULL));
	rec_commit();
	rec_start(&u, REC_POST_RECV, 0);
	rec_put(&u);
	rec_commit();
	ck_assert_uint_eq(written(), 0); /* nothing before the outer one is known */
	rec_commit_held(rec_begin_held(REC_DESTROY_QP, NULL), 5);
	rec_commit_held(outer, 22);
	take_rest(&reader);
	ck_assert(spool_open(&reader, NULL, 0, false));
	for (unsigned i = 0; i < 4; i++) {
		ck_assert(spool_next(&reader, pair));
		type[i] = pair[0].type;
		ret[i] = pair[0].a[2];
	}
	ck_assert(!spool_next(&reader, pair));
	spool_close(&reader);
	ck_assert(type[0] == REC_CM_CALL && ret[0] == 22);
	ck_assert(type[1] == REC_MODIFY_QP && type[2] == REC_POST_RECV);
	ck_assert(type[3] == REC_DESTROY_QP && ret[3] == 5);
	rec_state.virtual_now = NULL;
}
END_TEST

static uint64_t seq;
static uint64_t test_seq(void)
{
	return seq;
}

/* The types of what stands in the rings, and its wr; how many. */
static unsigned types(uint16_t type[8], uint64_t wr[8])
{
	struct spool_reader reader = {0};
	struct rec pair[2];
	unsigned n = 0;

	take_rest(&reader);
	ck_assert(spool_open(&reader, NULL, 0, false));
	for (; n < 8 && spool_next(&reader, pair); n++) {
		type[n] = pair[0].type;
		wr[n] = pair[0].wr;
	}
	spool_close(&reader);
	return n;
}

/* As a call that fails: it is put as if it went, taken back, and put with what it returned. */
static void put_and_put_again(uint64_t wr)
{
	uint64_t mark = rec_mark();
	union rec_words u;

	rec_start(&u, REC_POST_RECV, 1);
	u.r.wr = wr;
	rec_put(&u);
	rec_rewind(mark);
	u.r.wr++;
	rec_put(&u);
	rec_commit();
}

static void *fails_at_once(void *arg)
{
	put_and_put_again(3);
	return arg;
}

/* Also where the first call of a thread fails, which goes on in another's ring. */
START_TEST(what_was_put_before_there_was_a_ring_can_be_taken_back)
{
	uint16_t type[8];
	uint64_t wr[8];
	pthread_t t;

	ck_assert_int_eq(pthread_create(&t, NULL, fails_at_once, NULL), 0);
	pthread_join(t, NULL);
	ck_assert_int_eq(pthread_create(&t, NULL, fails_at_once, NULL), 0);
	pthread_join(t, NULL);
	ck_assert_uint_eq(types(type, wr), 2);
	ck_assert(wr[0] == 4 && wr[1] == 4);
	ck_assert_uint_gt(atomic_load(&rec_ring_at(0)->head), 8); /* both in one */
}
END_TEST

START_TEST(what_waits_behind_a_held_record_can_be_taken_back)
{
	struct rec *outer = rec_begin_held(REC_CM_CALL, NULL);
	uint16_t type[8];
	uint64_t wr[8];

	put_and_put_again(1);
	put_and_put_again(5);
	rec_commit_held(outer, 0);
	ck_assert_uint_eq(types(type, wr), 3);
	ck_assert(type[0] == REC_CM_CALL && wr[1] == 2 && wr[2] == 6);
}
END_TEST

/* Its place among the devices' events is taken back with it, and told again. */
START_TEST(what_is_put_again_has_its_place)
{
	uint64_t mark, wr[8];
	uint16_t type[8];
	union rec_words u;

	rec_state.virtual_now = test_now;
	rec_state.device_seq = test_seq;
	seq = 7;
	mark = rec_mark();
	for (unsigned i = 0; i < 2; i++) {
		rec_rewind(mark);
		rec_start(&u, REC_POST_RECV, 1);
		rec_put(&u);
	}
	rec_commit();
	rec_state.virtual_now = rec_state.device_seq = NULL;
	ck_assert_uint_eq(types(type, wr), 2);
	ck_assert(type[0] == REC_AT && type[1] == REC_POST_RECV);
}
END_TEST

/* As who drains does it; `n` words were there. How many are. */
static size_t drain_to(uint64_t *words, size_t n)
{
	uint64_t tail = atomic_load(&rec_mine.ring->tail);

	for (; tail != atomic_load(&rec_mine.ring->head); tail++)
		words[n++] = rec_mine.ring->word[tail & (REC_RING_WORDS - 1)];
	atomic_store(&rec_mine.ring->tail, tail);
	return n;
}

/* The first, and `more` behind it. */
static void put_runs(const struct rec *r, unsigned more, uint64_t by)
{
	union rec_words u = {.r = *r};

	rec_put(&u);
	for (unsigned i = 1; i <= more; i++) {
		u.r = r[i];
		i += rec_put_run(&u, more - i, by);
	}
}

/* Records that are alike in part, taken back, drained at any time: what is read is what was written. */
#define WRITTEN 60000u
START_TEST(what_is_read_is_what_was_written)
{
	static struct rec expected[WRITTEN];
	static uint8_t spool[WRITTEN * sizeof(struct rec)];
	static uint64_t words[WRITTEN * 8];
	struct spool_reader reader = {0};
	uint64_t seed = 0x9e3779b97f4a7c15u + (unsigned)_i, mark = 0;
	size_t n = 0, committed = 0, at = 0;
	struct rec pair[2];

	rec_state.virtual_now = test_now;
	now = 1000;
	while (n < WRITTEN) {
		uint64_t x = vs_rand(&seed);
		union rec_words u;

		if (n == committed)
			mark = rec_mark();
		now += x % 100 == 0 ? UINT64_C(1) << 33 : x % 3 == 0 ? 0 : x % 1000;
		rec_start(&u, (enum rec_type)(REC_POST_SEND + x % 3), 1);
		u.r.qpn = 0x11 + (x % 31 == 0 ? (uint32_t)(x >> 8 & 31) : 0);
		u.r.wr = x >> 12 & 1;
		u.r.w[x >> 13 & 3] = (uint32_t)(x >> 16 & 3);
		if (x >> 60 < 8) /* by a little, or anything */
			u.r.a[(x >> 18 & 3) % 3] =
				n > 0 ? expected[n - 1].a[(x >> 18 & 3) % 3] + (x >> 20 & 0x1ffff) - 0x10000 : 5;
		else
			u.r.a[(x >> 18 & 3) % 3] = x >> 20;
		expected[n++] = u.r;
		if (x % 7 == 0) { /* and more, of which each is different from the one before it by the same */
			unsigned more = (unsigned)(x >> 30 & 127) % (WRITTEN - (unsigned)n + 1);

			for (unsigned i = 0; i < more; i++, n++) {
				expected[n] = expected[n - 1];
				expected[n].wr += x >> 28 & 3;
			}
			put_runs(&expected[n - more - 1], more, x >> 28 & 3);
		} else {
			rec_put(&u);
		}
		if ((x >> 50 & 255) == 0) {
			rec_rewind(mark);
			n = committed;
		}
		if ((x >> 44 & 3) == 0) {
			rec_commit();
			committed = n;
		}
		if (n == committed && (x >> 46 & 63) == 0) { /* drain */
			struct rec_chunk c = {
				.magic = REC_SQUEEZED_MAGIC, .ring = 0, .words = (uint32_t)drain_to(words, 0)};

			ck_assert_uint_lt(at + sizeof(c) + REC_SQUEEZED_MAX(c.words), sizeof(spool));
			c.bytes = (uint32_t)rec_squeeze(spool + at + sizeof(c), words, c.words);
			ck_assert_uint_le(c.bytes, REC_SQUEEZED_MAX(c.words));
			memcpy(spool + at, &c, sizeof(c));
			at += sizeof(c) + c.bytes;
		}
	}
	rec_commit();
	take_rest(&reader);
	ck_assert(spool_open(&reader, spool, at, false));
	for (size_t i = 0; i < n; i++) {
		ck_assert_msg(spool_next(&reader, pair), "%zu of %zu", i, n);
		ck_assert_msg(memcmp(&pair[0], &expected[i], sizeof(pair[0])) == 0, "record %zu", i);
	}
	ck_assert(!spool_next(&reader, pair));
	ck_assert_uint_eq(lost(), 0);
	ck_assert_uint_lt(at, n * 48); /* and it is shorter, random as it is */
	spool_close(&reader);
	rec_state.virtual_now = NULL;
}
END_TEST

static void *one_thread(void *arg)
{
	write_some(500);
	return arg;
}

/* Those of a queue pair that sends, receives, completes and is polled in vain: a word each. */
START_TEST(calls_of_one_kind_are_like_each_other)
{
	static const enum rec_type types[] = {REC_POST_SEND, REC_POST_RECV, REC_CQE, REC_POLL_EMPTY};
	uint64_t begun = 0;

	rec_state.virtual_now = test_now;
	for (unsigned qpn = 1; qpn < 200; qpn++) {
		for (unsigned i = 0; i < 400; i++) {
			union rec_words u;

			rec_start(&u, types[i % 4], 1);
			u.r.qpn = types[i % 4] == REC_POLL_EMPTY ? 0 : qpn;
			u.r.wr = i;
			rec_put(&u);
			if (i == 3)
				begun = rec_mine.at;
		}
		ck_assert_uint_eq(rec_mine.at - begun, 396);
		rec_commit();
		atomic_store(&rec_mine.ring->tail, rec_mine.at);
	}
}
END_TEST

START_TEST(who_drains_is_asked_for_it_in_time)
{
	write_some(1);
	asked = 0;
	write_some(REC_MUCH / 8 / 4);
	ck_assert_uint_eq(asked, 0);
	write_some(REC_MUCH / 6);
	ck_assert_uint_eq(asked, 1);
	ck_assert_uint_eq(lost(), 0);
	ck_assert_uint_lt(atomic_load(&rec_mine.ring->head), REC_RING_WORDS / 2);
	for (unsigned i = 0; i < 20; i++) { /* and goes on when it is done */
		atomic_store(&rec_mine.ring->tail, atomic_load(&rec_mine.ring->head));
		write_some(REC_MUCH / 6);
	}
	ck_assert_uint_ge(asked, 10);
	ck_assert_uint_eq(lost(), 0);
}
END_TEST

/* A ring was full in the middle of a batch: what comes behind that is like an older one, and the run is told all the
 * same. */
START_TEST(run_behind_what_was_lost_is_true)
{
	struct spool_reader reader = {.rest[0] = {.word = malloc((REC_RING_WORDS + 1000) * sizeof(uint64_t))}};
	uint64_t wr = 0, lost_wr;
	union rec_words u;
	struct rec run[20], pair[2];

	rec_state.virtual_now = test_now;
	now = 5;
	rec_start(&u, REC_CQE, 1);
	u.r.qpn = 0x11;
	do {
		u.r.wr = wr++;
		rec_put(&u);
	} while (lost() == 0);
	lost_wr = u.r.wr;
	rec_commit();
	reader.rest[0].n = drain_to(reader.rest[0].word, 0);
	for (unsigned i = 0; i < 20; i++) {
		u.r.wr = wr++;
		run[i] = u.r;
	}
	for (unsigned i = 0; i < 20; i++) {
		u.r = run[i];
		i += rec_put_run(&u, 19 - i, 1);
	}
	u.r.wr = wr++;
	rec_put(&u);
	rec_commit();
	reader.rest[0].n = drain_to(reader.rest[0].word, reader.rest[0].n);
	ck_assert(spool_open(&reader, NULL, 0, false));
	for (uint64_t want = 0; want < wr; want++) {
		if (want == lost_wr)
			continue;
		ck_assert(spool_next(&reader, pair));
		ck_assert_uint_eq(pair[0].wr, want);
	}
	ck_assert(!spool_next(&reader, pair));
	ck_assert_uint_eq(lost(), 1);
	spool_close(&reader);
}
END_TEST

START_TEST(threads_have_rings_of_their_own)
{
	pthread_t t[3];

	for (unsigned i = 0; i < 3; i++)
		ck_assert_int_eq(pthread_create(&t[i], NULL, one_thread, NULL), 0);
	for (unsigned i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	ck_assert_uint_eq(written(), 1500);
	ck_assert_uint_eq(lost(), 0);
	/* Those that have ended leave theirs to others. */
	for (unsigned i = 0; i < 20; i++) {
		ck_assert_int_eq(pthread_create(&t[0], NULL, one_thread, NULL), 0);
		pthread_join(t[0], NULL);
	}
	ck_assert_uint_eq(written(), 11500);
	ck_assert_uint_le(rec_ring_count(), 8);
}
END_TEST

static pthread_barrier_t all;
static void *one_of_many(void *arg)
{
	write_some(10);
	pthread_barrier_wait(&all);
	return arg;
}

START_TEST(simulated_threads_find_a_ring_without_one_that_drains)
{
	pthread_t t[12];

	rec_state.sim = true;
	ck_assert_int_eq(pthread_barrier_init(&all, NULL, 12), 0);
	for (unsigned i = 0; i < 12; i++)
		ck_assert_int_eq(pthread_create(&t[i], NULL, one_of_many, NULL), 0);
	for (unsigned i = 0; i < 12; i++)
		pthread_join(t[i], NULL);
	rec_state.sim = false;
	pthread_barrier_destroy(&all);
	ck_assert_uint_eq(written(), 120);
	ck_assert_uint_eq(lost(), 0);
}
END_TEST

/* ---- rules ---- */

static const char *const good[] = {
	"post_send:errno=ENOMEM:when=3",
	"post_send:errno=5",
	"post_recv:skip",
	"post_send:rkey^=0x100",
	"post_send:remote_addr+=4096",
	"poll_cq:delay=20",
	"destroy_qp:kill:when=2+",
	"modify_qp:timeout=0:when=3-5",
	"create_cq:cqe=2",
	"reg_mr:access=1:when=2",
};
static const char *const bad[] = {
	"",
	"post_send",
	"nosuch:skip",
	"post_send:rkey",
	"post_recv:rkey=1",
	"post_send:rkey=x",
	"post_send:errno=EWHAT",
	"post_send:skip:when=0",
	"post_send:skip:when=3-2",
	"post_send:skip:when=",
	"poll_cq:delay=99999",
	"post_send:errno=0",
};

START_TEST(rules_are_read)
{
	struct rec_rule r;
	char why[600];

	ck_assert_msg(rec_rule_parse(good[_i], &r, why, sizeof(why)), "%s: %s", good[_i], why);
	ck_assert_str_eq(r.text, good[_i]);
	ck_assert_uint_ge(r.from, 1);
	ck_assert_uint_ge(r.to, r.from);
}
END_TEST

START_TEST(wrong_rules_are_explained)
{
	struct rec_rule r;
	char why[600] = "";

	ck_assert_msg(!rec_rule_parse(bad[_i], &r, why, sizeof(why)), "%s was taken", bad[_i]);
	ck_assert_msg(why[0] != '\0', "%s: nothing is said", bad[_i]);
}
END_TEST

/* ---- clocks ---- */

/* The counter and the clock of this machine, as the recorder asks them. */
START_TEST(the_counter_tells_the_time)
{
	uint64_t ns[2], ticks[2], before, after;
	struct timespec wait = {0, 20000000};

	before = rec_clock_ns(CLOCK_MONOTONIC);
	ticks[0] = rec_clock_ticks(&ns[0]);
	after = rec_clock_ns(CLOCK_MONOTONIC);
	ck_assert(ns[0] >= before && ns[0] <= after);
	(void)nanosleep(&wait, NULL);
	ticks[1] = rec_clock_ticks(&ns[1]);
	ck_assert_uint_gt(ticks[1], ticks[0]);
	ck_assert_uint_ge(ns[1], ns[0] + 20000000);
	if (!rec_clock_can_tick())
		printf("     times come from clock_gettime(2) here: the kernel does not keep its time by the "
		       "counter\n");
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("record");
	TCase *rings = tcase_create("rings"), *rules = tcase_create("rules"), *clocks = tcase_create("clocks");

	tcase_add_checked_fixture(rings, setup, teardown);
	tcase_add_test(rings, full_ring_drops_and_counts);
	tcase_add_test(rings, drained_ring_takes_more);
	tcase_add_test(rings, what_is_not_committed_can_be_taken_back);
	tcase_add_test(rings, held_record_gets_its_result_behind_those_inside);
	tcase_add_test(rings, what_was_put_before_there_was_a_ring_can_be_taken_back);
	tcase_add_test(rings, what_waits_behind_a_held_record_can_be_taken_back);
	tcase_add_test(rings, what_is_put_again_has_its_place);
	tcase_add_loop_test(rings, what_is_read_is_what_was_written, 0, 4);
	tcase_add_test(rings, calls_of_one_kind_are_like_each_other);
	tcase_add_test(rings, who_drains_is_asked_for_it_in_time);
	tcase_add_test(rings, run_behind_what_was_lost_is_true);
	tcase_add_test(rings, threads_have_rings_of_their_own);
	tcase_add_test(rings, simulated_threads_find_a_ring_without_one_that_drains);
	tcase_add_loop_test(rules, rules_are_read, 0, sizeof(good) / sizeof(good[0]));
	tcase_add_loop_test(rules, wrong_rules_are_explained, 0, sizeof(bad) / sizeof(bad[0]));
	tcase_set_timeout(rings, 60); /* a busy machine, and a sanitizer */
	tcase_add_test(clocks, the_counter_tells_the_time);
	suite_add_tcase(s, rings);
	suite_add_tcase(s, rules);
	suite_add_tcase(s, clocks);
	return s;
}
