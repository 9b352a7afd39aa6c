/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* test_spool.c - what `vs-trace run` makes of spools and of what is left in rings, damaged ones too. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../recorder/recorder.h"
#include "../spool_int.h"
#include "tests/runner.h"
#include "vs/vst.h"

static char dir[] = "/tmp/vs-test-spool-XXXXXX";
static int dir_fd;

static void setup(void)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
	dir_fd = open(dir, O_RDONLY | O_DIRECTORY);
}

static void teardown(void)
{
	char command[128];

	close(dir_fd);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	ck_assert_int_eq(system(command), 0);
	memcpy(dir + strlen(dir) - 6, "XXXXXX", 6);
}

static const struct rec_head head = {
	.magic = REC_MAGIC, .pid = 7, .size = sizeof(struct rec), .program = "prog", .node = "A"};

static void put_file(const char *name, const void *data, size_t n)
{
	int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

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
	spool.c = (struct rec_chunk){.magic = REC_CHUNK_MAGIC, .ring = 0, .words = (uint32_t)records * 8};
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
	struct rec_chunk c = {.magic = REC_CHUNK_MAGIC, .ring = ring, .words = (uint32_t)n};

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
	ck_assert_int_eq(fstatat(dir_fd, out.name, &st, 0), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
	ck_assert_int_ne(faccessat(dir_fd, "rec-7.spool", F_OK, 0), 0);
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

/* Squeezed, and cut off wherever: what is whole there is read, and the rest from the ring. */
START_TEST(squeezed_words_are_read_as_far_as_they_go)
{
	enum { RECORDS = 60, WORDS = 8 + RECORDS - 1 };
	union rec_words u = {.r = {.t_ns = 6, .type = REC_POST_RECV}};
	uint8_t bytes[sizeof(struct rec_chunk) + REC_SQUEEZED_MAX(WORDS)];
	uint64_t words[WORDS];
	struct rec_chunk c = {.magic = REC_SQUEEZED_MAGIC, .words = WORDS};

	memcpy(words, u.w, sizeof(u.w));
	for (unsigned i = 8; i < WORDS; i++) /* runs of several lengths */
		words[i] = REC_PACKED | REC_NEAR | REC_WORD(2) | (uint64_t)rec_like(&u) << 40 |
			   (i % 16 < 11 ? 1u : 2u) << 16 | i;
	c.bytes = (uint32_t)rec_squeeze(bytes + sizeof(c), words, WORDS);
	ck_assert_uint_lt(c.bytes, WORDS * 6);
	memcpy(bytes, &c, sizeof(c));
	for (size_t n = 0; n <= sizeof(c) + c.bytes; n++) {
		struct spool_reader r = {.rest[0] = {.word = malloc(sizeof(words)), .n = WORDS}};
		uint64_t t = 6, wr = 0;
		struct rec pair[2];

		ck_assert_ptr_nonnull(r.rest[0].word);
		memcpy(r.rest[0].word, words, sizeof(words));
		ck_assert(spool_open(&r, bytes, n, false));
		for (unsigned i = 8; i <= WORDS; i++) {
			ck_assert(spool_next(&r, pair));
			ck_assert_uint_eq(pair[0].t_ns, t);
			ck_assert_uint_eq(pair[0].wr, wr);
			t += i;
			wr += i % 16 < 11 ? 1 : 2;
		}
		ck_assert(!spool_next(&r, pair));
		spool_close(&r);
	}
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

#define RING_BYTES (sizeof(struct rec_ring) + REC_RING_WORDS * sizeof(uint64_t))

/* An empty ring, the caller's to free, beside a spool with one record of time 5. */
static struct rec_ring *ring_and_spool(void)
{
	struct rec_ring *r = aligned_alloc(4096, RING_BYTES);

	ck_assert_ptr_nonnull(r);
	memset(r, 0, RING_BYTES);
	r->magic = REC_MAGIC;
	r->words = REC_RING_WORDS;
	memset(&spool, 0, sizeof(spool));
	spool.r[0] = (struct rec){.t_ns = 5, .type = REC_POST_SEND};
	return r;
}

START_TEST(what_a_killed_program_had_in_its_ring_is_there)
{
	struct rec_ring *r = ring_and_spool();
	struct vt_spool_result out;
	char err[512], how[160];
	uint64_t last;
	union rec_words u = {.r = {.t_ns = 6, .type = REC_POST_RECV}};

	r->tail = REC_RING_WORDS - 3; /* over the end of the ring */
	r->head = REC_RING_WORDS + 6;
	for (unsigned i = 0; i < 8; i++)
		r->word[(REC_RING_WORDS - 3 + i) & (REC_RING_WORDS - 1)] = u.w[i];
	/* One like it, a nanosecond later. */
	r->word[5] = REC_PACKED | (uint64_t)rec_like(&u) << 40 | 1;
	put_file("rec-7-0.ring", r, RING_BYTES);
	ck_assert_int_eq(convert(1, &out, err), 1);
	ck_assert_uint_eq(events(out.name, how, &last), 4);
	ck_assert_uint_eq(last, 7);
	ck_assert_int_ne(faccessat(dir_fd, "rec-7-0.ring", F_OK, 0), 0);
	free(r);
}
END_TEST

/* What a full disk took is told; what stands in a ring behind what is missing can't be read. */
START_TEST(full_disk_is_told_of)
{
	struct rec_ring *r = ring_and_spool();
	struct vt_spool_result out;
	char err[512], how[160];
	uint64_t last;

	r->head = 1;
	r->word[0] = REC_PACKED | (uint64_t)rec_like((const union rec_words *)&spool.r[0]) << 40 | 1;
	r->error = ENOSPC;
	r->unwritten = 800;
	put_file("rec-7-0.ring", r, RING_BYTES);
	ck_assert_int_eq(convert(1, &out, err), 1);
	ck_assert_uint_eq(events(out.name, how, &last), 2);
	ck_assert_ptr_nonnull(strstr(how, "the disk took no more"));
	ck_assert_ptr_nonnull(strstr(how, "about 100 records are missing")); /* eight words each */
	ck_assert_uint_eq(out.lost, 100);
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
	ck_assert_int_eq(faccessat(dir_fd, "rec-7.spool", F_OK, 0), 0);
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
	Suite *s = suite_create("spool");
	TCase *tc = tcase_create("spools");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60); /* a busy machine, and a sanitizer */
	tcase_add_test(tc, records_of_all_threads_are_put_in_order);
	tcase_add_test(tc, squeezed_words_are_read_as_far_as_they_go);
	tcase_add_test(tc, what_belongs_together_is_not_parted);
	tcase_add_loop_test(tc, what_is_in_the_spool_and_in_the_ring_is_read_once, 0, 21);
	tcase_add_test(tc, ticks_become_nanoseconds);
	tcase_add_test(tc, full_disk_is_told_of);
	tcase_add_test(tc, spool_without_an_end_was_killed);
	tcase_add_test(tc, what_a_killed_program_had_in_its_ring_is_there);
	tcase_add_test(tc, foreign_spool_is_refused);
	tcase_add_test(tc, random_records_become_a_readable_trace);
	suite_add_tcase(s, tc);
	return s;
}
