/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_record.c - the recorder without a program: its rings, the notation of --inject, and what `vs-trace run` makes of
 * spools, damaged ones too. Beside it, recorder.sh looks at programs.
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

/* Records that are alike in part, taken back, drained at any time: what is read is what was written. */
#define WRITTEN 60000u
START_TEST(what_is_read_is_what_was_written)
{
	static struct rec expected[WRITTEN];
	static uint8_t spool[WRITTEN * sizeof(struct rec)];
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
		rec_put(&u);
		if ((x >> 50 & 255) == 0) {
			rec_rewind(mark);
			n = committed;
		}
		if ((x >> 44 & 3) == 0) {
			rec_commit();
			committed = n;
		}
		if (n == committed && (x >> 46 & 63) == 0) { /* drain */
			struct rec_ring *ring = rec_mine.ring;
			struct rec_chunk c = {.magic = REC_CHUNK_MAGIC, .ring = 0};
			uint64_t tail = atomic_load(&ring->tail);

			c.words = atomic_load(&ring->head) - tail;
			ck_assert_uint_lt(at + sizeof(c) + c.words * 8, sizeof(spool));
			memcpy(spool + at, &c, sizeof(c));
			for (at += sizeof(c); tail != atomic_load(&ring->head); tail++, at += 8)
				memcpy(spool + at, &ring->word[tail & (REC_RING_WORDS - 1)], 8);
			atomic_store(&ring->tail, tail);
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

/* ---- spools ---- */

static const struct rec_head head = {
	.magic = REC_MAGIC, .pid = 7, .size = sizeof(struct rec), .program = "prog", .node = "A"};

static void put_file(const char *name, const void *data, size_t n)
{
	int fd = openat(rec_state.dir_fd, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, data, n), (ssize_t)n);
	close(fd);
}

static struct {
	struct rec_head h;
	struct rec_chunk c;
	struct rec r[64];
} spool;

static int convert(size_t records, struct vt_spool_result *out, char err[512])
{
	spool.h = head;
	spool.c = (struct rec_chunk){.magic = REC_CHUNK_MAGIC, .ring = 0, .words = records * 8};
	put_file("rec-7.spool", &spool, offsetof(__typeof__(spool), r) + records * sizeof(struct rec));
	return vt_spool_convert(dir, out, 1, err, 512);
}

/* Events of the file, the last one's text in `how`. */
static unsigned events(const char *name, char *how, uint64_t *last_t)
{
	char path[256];
	struct vs_vst_error err;
	struct vs_vst_reader *r;
	struct vs_event ev;
	unsigned n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "r");
	ck_assert_ptr_nonnull(f);
	r = vs_vst_open(f, &err);
	ck_assert_ptr_nonnull(r);
	*last_t = 0;
	while (vs_vst_next(r, &ev, &err) == 1) {
		ck_assert_uint_ge(ev.t_ns, *last_t);
		*last_t = ev.t_ns;
		n++;
		if (ev.type == VS_EV_REC_END)
			snprintf(how, 160, "%s", (const char *)(uintptr_t)ev.a[1]);
	}
	vs_vst_close(r);
	fclose(f);
	return n;
}

/* A spool of two rings and of what the recorder says itself, in chunks that end within records. */
static size_t put_chunk(uint8_t *to, uint32_t ring, const uint64_t *words, size_t n)
{
	struct rec_chunk c = {.magic = REC_CHUNK_MAGIC, .ring = ring, .words = n};

	memcpy(to, &c, sizeof(c));
	memcpy(to + sizeof(c), words, n * 8);
	return sizeof(c) + n * 8;
}

START_TEST(records_of_all_threads_are_put_in_order)
{
	static const uint64_t t[] = {10, 30, 50, 20, 40, 60};
	union rec_words end = {.r = {.t_ns = 70, .type = REC_END}};
	uint8_t bytes[2048];
	struct vt_spool_result out;
	char err[512], how[160];
	uint64_t words[2][3 * 8];
	size_t n = sizeof(head);
	struct stat st;
	uint64_t last;

	for (unsigned i = 0; i < 6; i++) {
		union rec_words u = {.r = {.t_ns = t[i], .type = REC_POST_SEND, .qpn = 1, .wr = i}};

		memcpy(&words[i / 3][i % 3 * 8], u.w, sizeof(u.w));
	}
	memcpy(bytes, &head, sizeof(head));
	n += put_chunk(bytes + n, 0, words[0], 11);
	n += put_chunk(bytes + n, 5, words[1], 20);
	n += put_chunk(bytes + n, 0, words[0] + 11, 13);
	n += put_chunk(bytes + n, 5, words[1] + 20, 4);
	n += put_chunk(bytes + n, REC_OWN, end.w, 8);
	put_file("rec-7.spool", bytes, n);
	ck_assert_int_eq(vt_spool_convert(dir, &out, 1, err, 512), 1);
	ck_assert_str_eq(out.name, "calls-A-7.vst");
	ck_assert_uint_eq(events(out.name, how, &last), 7);
	ck_assert_str_eq(how, "in order");
	ck_assert_uint_eq(last, 60);
	ck_assert_int_eq(fstatat(rec_state.dir_fd, out.name, &st, 0), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
	ck_assert_int_ne(faccessat(rec_state.dir_fd, "rec-7.spool", F_OK, 0), 0);
}
END_TEST

/* Times in ticks, 2.5 of them a nanosecond, then 2: before, between and behind the looks at both clocks. */
START_TEST(ticks_become_nanoseconds)
{
	static const uint64_t look[][2] = {{1000, 1000}, {3500, 2000}, {5500, 3000}};
	static const struct {
		uint64_t ticks, ns;
	} is[] = {{500, 778}, {1000, 1000}, {2250, 1500}, {3500, 2000}, {4500, 2500}, {5500, 3000}, {10000, 5000}};
	struct spool_reader r = {0};
	uint8_t bytes[2048];
	struct rec pair[2];
	union rec_words u;
	size_t n = 0;

	for (unsigned i = 0; i < 3; i++) {
		u = (union rec_words){.r = {.t_ns = look[i][1], .type = REC_TICKS, .a = {look[i][0]}}};
		n += put_chunk(bytes + n, REC_OWN, u.w, 8);
	}
	for (unsigned i = 0; i < sizeof(is) / sizeof(is[0]); i++) {
		u = (union rec_words){.r = {.t_ns = is[i].ticks, .type = REC_POST_SEND}};
		n += put_chunk(bytes + n, 3, u.w, 8);
	}
	ck_assert(spool_open(&r, bytes, n, true));
	for (unsigned i = 0; i < sizeof(is) / sizeof(is[0]);) {
		ck_assert(spool_next(&r, pair));
		if (pair[0].type != REC_POST_SEND)
			continue;
		ck_assert_msg(pair[0].t_ns + 1 >= is[i].ns && pair[0].t_ns <= is[i].ns + 1, "%llu ticks: %llu ns",
			      (unsigned long long)is[i].ticks, (unsigned long long)pair[0].t_ns);
		i++;
	}
	spool_close(&r);
}
END_TEST

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

/* A program is killed when its words are written, all of them or some, and before its ring says so. */
START_TEST(what_is_in_the_spool_and_in_the_ring_is_read_once)
{
	uint64_t *word = malloc(20 * sizeof(*word));
	union rec_words u = {.r = {.t_ns = 6, .type = REC_POST_RECV}};
	uint8_t bytes[sizeof(struct rec_chunk) + 20 * sizeof(*word)];
	struct rec_chunk c = {.magic = REC_CHUNK_MAGIC, .words = 20};
	struct spool_reader r = {.rest[0] = {.word = word, .n = 20}};
	struct rec pair[2];

	ck_assert_ptr_nonnull(word);
	memcpy(word, u.w, sizeof(u.w));
	for (unsigned i = 8; i < 20; i++) /* each like that, and its wr one more */
		word[i] = REC_PACKED | REC_NEAR | 1ull << 50 | (uint64_t)rec_like(&u) << 40 | 1u << 16 | 1;
	memcpy(bytes, &c, sizeof(c));
	memcpy(bytes + sizeof(c), word, (unsigned)_i * sizeof(*word));
	ck_assert(spool_open(&r, bytes, sizeof(c) + (unsigned)_i * sizeof(*word) + (_i < 20 ? 3 : 0), false));
	for (unsigned i = 0; i < 13; i++) {
		ck_assert(spool_next(&r, pair));
		ck_assert_uint_eq(pair[0].t_ns, 6 + i);
		ck_assert_uint_eq(pair[0].wr, i);
	}
	ck_assert(!spool_next(&r, pair));
	spool_close(&r);
}
END_TEST

/* One request's records stay together, whatever another thread did meanwhile. */
START_TEST(what_belongs_together_is_not_parted)
{
	static const struct rec of[2][3] = {
		{{.t_ns = 10, .type = REC_SGE, .n = 1, .qpn = 1},
		 {.t_ns = 30, .type = REC_SGE, .n = 2, .qpn = 1},
		 {.t_ns = 50, .type = REC_POST_SEND, .n = 3, .qpn = 1}},
		{{.t_ns = 20, .type = REC_SGE, .n = 1, .qpn = 2},
		 {.t_ns = 40, .type = REC_POST_SEND, .n = 2, .qpn = 2},
		 {.t_ns = 60, .type = REC_CQE, .qpn = 2}},
	};
	static const uint32_t qpn[] = {1, 1, 1, 2, 2, 2};
	struct spool_reader r = {0};
	uint8_t bytes[2048];
	struct rec pair[2];
	uint64_t before = 0;
	size_t n = 0;

	for (unsigned i = 0; i < 2; i++)
		n += put_chunk(bytes + n, i, (const uint64_t *)(const void *)of[i], 3 * 8);
	ck_assert(spool_open(&r, bytes, n, false));
	for (unsigned i = 0; i < 6; i++) {
		ck_assert(spool_next(&r, pair));
		ck_assert_uint_eq(pair[0].qpn, qpn[i]);
		ck_assert_uint_ge(pair[0].t_ns, before);
		before = pair[0].t_ns;
	}
	ck_assert_uint_eq(before, 60);
	spool_close(&r);
}
END_TEST

START_TEST(spool_without_an_end_was_killed)
{
	struct vt_spool_result out;
	char err[512], how[160];
	uint64_t last;

	memset(&spool, 0, sizeof(spool));
	spool.r[0] = (struct rec){.t_ns = 5, .type = REC_POST_SEND};
	ck_assert_int_eq(convert(1, &out, err), 1);
	ck_assert_uint_eq(events(out.name, how, &last), 2);
	ck_assert_ptr_nonnull(strstr(how, "killed"));
	ck_assert_ptr_nonnull(strstr(out.note, "killed"));
}
END_TEST

START_TEST(what_a_killed_program_had_in_its_ring_is_there)
{
	const size_t bytes = sizeof(struct rec_ring) + REC_RING_WORDS * sizeof(uint64_t);
	struct rec_ring *r = aligned_alloc(4096, bytes);
	struct vt_spool_result out;
	char err[512], how[160];
	uint64_t last;
	union rec_words u = {.r = {.t_ns = 6, .type = REC_POST_RECV}};

	ck_assert_ptr_nonnull(r);
	memset(r, 0, bytes);
	memset(&spool, 0, sizeof(spool));
	spool.r[0] = (struct rec){.t_ns = 5, .type = REC_POST_SEND};
	r->magic = REC_MAGIC;
	r->words = REC_RING_WORDS;
	r->tail = REC_RING_WORDS - 3; /* over the end of the ring */
	r->head = REC_RING_WORDS + 6;
	for (unsigned i = 0; i < 8; i++)
		r->word[(REC_RING_WORDS - 3 + i) & (REC_RING_WORDS - 1)] = u.w[i];
	/* One like it, a nanosecond later. */
	r->word[5] = REC_PACKED | (uint64_t)rec_like(&u) << 40 | 1;
	put_file("rec-7-0.ring", r, bytes);
	ck_assert_int_eq(convert(1, &out, err), 1);
	ck_assert_uint_eq(events(out.name, how, &last), 4);
	ck_assert_uint_eq(last, 7);
	ck_assert_int_ne(faccessat(rec_state.dir_fd, "rec-7-0.ring", F_OK, 0), 0);
	free(r);
}
END_TEST

/* What a full disk took is told; what stands in a ring behind what is missing can't be read. */
START_TEST(full_disk_is_told_of)
{
	const size_t bytes = sizeof(struct rec_ring) + REC_RING_WORDS * sizeof(uint64_t);
	struct rec_ring *r = aligned_alloc(4096, bytes);
	struct vt_spool_result out;
	char err[512], how[160];
	uint64_t last;

	ck_assert_ptr_nonnull(r);
	memset(r, 0, bytes);
	memset(&spool, 0, sizeof(spool));
	spool.r[0] = (struct rec){.t_ns = 5, .type = REC_POST_SEND};
	r->magic = REC_MAGIC;
	r->words = REC_RING_WORDS;
	r->head = 1;
	r->word[0] = REC_PACKED | (uint64_t)rec_like((const union rec_words *)&spool.r[0]) << 40 | 1;
	r->error = ENOSPC;
	r->unwritten = 800;
	put_file("rec-7-0.ring", r, bytes);
	ck_assert_int_eq(convert(1, &out, err), 1);
	ck_assert_uint_eq(events(out.name, how, &last), 2);
	ck_assert_ptr_nonnull(strstr(how, "the disk took no more"));
	ck_assert_ptr_nonnull(strstr(how, "about 80 records are missing")); /* ten words each, with a chunk's head */
	ck_assert_uint_eq(out.lost, 80);
	free(r);
}
END_TEST

START_TEST(foreign_spool_is_refused)
{
	struct vt_spool_result out;
	char err[512] = "";

	put_file("rec-7.spool", "hello", 5);
	ck_assert_int_eq(vt_spool_convert(dir, &out, 1, err, sizeof(err)), -1);
	ck_assert_ptr_nonnull(strstr(err, "is no spool"));
	ck_assert_int_eq(faccessat(rec_state.dir_fd, "rec-7.spool", F_OK, 0), 0);
}
END_TEST

/* Anything may stand in a record: no value makes it crash, and what comes out can be read. */
START_TEST(random_records_become_a_readable_trace)
{
	struct vt_spool_result out;
	char err[512], how[160];
	uint64_t seed = 88172645463325252ull, last;

	for (unsigned round = 0; round < 50; round++) {
		uint8_t *p = (uint8_t *)spool.r;

		for (size_t i = 0; i < sizeof(spool.r); i++)
			p[i] = (uint8_t)(vs_rand(&seed) >> 32);
		for (unsigned i = 0; i < 64; i++) {
			spool.r[i].t_ns &= round % 2 == 0 ? ~REC_PACKED : UINT64_MAX; /* whole, or as it comes */
			spool.r[i].type = (uint16_t)(spool.r[i].type % (REC_END + 3));
		}
		ck_assert_int_eq(convert(64, &out, err), 1);
		ck_assert_uint_ge(events(out.name, how, &last), 1);
	}
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("record");
	TCase *rings = tcase_create("rings"), *rules = tcase_create("rules"), *spools = tcase_create("spools");

	tcase_add_checked_fixture(rings, setup, teardown);
	tcase_add_test(rings, full_ring_drops_and_counts);
	tcase_add_test(rings, drained_ring_takes_more);
	tcase_add_test(rings, what_is_not_committed_can_be_taken_back);
	tcase_add_test(rings, held_record_gets_its_result_behind_those_inside);
	tcase_add_test(rings, what_was_put_before_there_was_a_ring_can_be_taken_back);
	tcase_add_test(rings, what_waits_behind_a_held_record_can_be_taken_back);
	tcase_add_test(rings, what_is_put_again_has_its_place);
	tcase_add_loop_test(rings, what_is_read_is_what_was_written, 0, 4);
	tcase_add_test(rings, threads_have_rings_of_their_own);
	tcase_add_test(rings, simulated_threads_find_a_ring_without_one_that_drains);
	tcase_add_loop_test(rules, rules_are_read, 0, sizeof(good) / sizeof(good[0]));
	tcase_add_loop_test(rules, wrong_rules_are_explained, 0, sizeof(bad) / sizeof(bad[0]));
	tcase_add_checked_fixture(spools, setup, teardown);
	tcase_set_timeout(spools, 60); /* a busy machine, and a sanitizer */
	tcase_set_timeout(rings, 60);
	tcase_add_test(spools, records_of_all_threads_are_put_in_order);
	tcase_add_test(spools, what_belongs_together_is_not_parted);
	tcase_add_loop_test(spools, what_is_in_the_spool_and_in_the_ring_is_read_once, 0, 21);
	tcase_add_test(spools, ticks_become_nanoseconds);
	tcase_add_test(spools, the_counter_tells_the_time);
	tcase_add_test(spools, full_disk_is_told_of);
	tcase_add_test(spools, spool_without_an_end_was_killed);
	tcase_add_test(spools, what_a_killed_program_had_in_its_ring_is_there);
	tcase_add_test(spools, foreign_spool_is_refused);
	tcase_add_test(spools, random_records_become_a_readable_trace);
	suite_add_tcase(s, rings);
	suite_add_tcase(s, rules);
	suite_add_tcase(s, spools);
	return s;
}
