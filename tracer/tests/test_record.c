/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_record.c - the recorder without a program: its rings, the notation of --inject, and what `vs-trace run` makes of
 * spools, damaged ones too. Beside it, recorder.sh looks at programs.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../recorder/recorder.h"
#include "../spool.h"
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

static uint64_t written(void)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < rec_ring_count(); i++)
		n += atomic_load(&rec_ring_at(i)->head);
	return n;
}

static uint64_t lost(void)
{
	uint64_t n = rec_homeless();

	for (unsigned i = 0; i < rec_ring_count(); i++)
		n += atomic_load(&rec_ring_at(i)->lost);
	return n;
}

static void write_some(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		(void)rec_begin(REC_POST_SEND, NULL);
		rec_commit();
	}
}

START_TEST(full_ring_drops_and_counts)
{
	uint64_t before = lost();

	write_some(REC_RING_SLOTS + 100);
	ck_assert_uint_le(written(), REC_RING_SLOTS);
	ck_assert_uint_ge(written(), REC_RING_SLOTS - 2);
	ck_assert_uint_eq(written() + lost() - before, REC_RING_SLOTS + 100);
}
END_TEST

START_TEST(drained_ring_takes_more)
{
	struct rec_ring *r;

	write_some(REC_RING_SLOTS);
	for (unsigned i = 0; i < rec_ring_count(); i++) {
		r = rec_ring_at(i);
		atomic_store(&r->tail, atomic_load(&r->head));
	}
	write_some(100);
	ck_assert_uint_ge(written(), REC_RING_SLOTS + 98);
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

static void *one_thread(void *arg)
{
	write_some(1000);
	return arg;
}

START_TEST(threads_have_rings_of_their_own)
{
	pthread_t t[3];

	for (unsigned i = 0; i < 3; i++)
		ck_assert_int_eq(pthread_create(&t[i], NULL, one_thread, NULL), 0);
	for (unsigned i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	ck_assert_uint_eq(written(), 3000);
	ck_assert_uint_eq(lost(), 0);
	/* Those that have ended leave theirs to others. */
	for (unsigned i = 0; i < 20; i++) {
		ck_assert_int_eq(pthread_create(&t[0], NULL, one_thread, NULL), 0);
		pthread_join(t[0], NULL);
	}
	ck_assert_uint_eq(written(), 23000);
	ck_assert_uint_le(rec_ring_count(), 8);
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
	struct rec r[64];
} spool;

static int convert(size_t records, struct vt_spool_result *out, char err[512])
{
	spool.h = head;
	put_file("rec-7.spool", &spool, sizeof(spool.h) + records * sizeof(struct rec));
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

START_TEST(records_of_all_threads_are_put_in_order)
{
	static const uint64_t t[] = {10, 30, 50, 20, 40, 60};
	struct vt_spool_result out;
	char err[512], how[160];
	struct stat st;
	uint64_t last;

	memset(&spool, 0, sizeof(spool));
	for (unsigned i = 0; i < 6; i++)
		spool.r[i] = (struct rec){.t_ns = t[i], .type = REC_POST_SEND, .qpn = 1, .wr = i};
	spool.r[6] = (struct rec){.t_ns = 70, .type = REC_END};
	ck_assert_int_eq(convert(7, &out, err), 1);
	ck_assert_str_eq(out.name, "calls-A-7.vst");
	ck_assert_uint_eq(events(out.name, how, &last), 7);
	ck_assert_str_eq(how, "in order");
	ck_assert_uint_eq(last, 60);
	ck_assert_int_eq(fstatat(rec_state.dir_fd, out.name, &st, 0), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
	ck_assert_int_ne(faccessat(rec_state.dir_fd, "rec-7.spool", F_OK, 0), 0);
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
	const size_t bytes = sizeof(struct rec_ring) + REC_RING_SLOTS * sizeof(struct rec);
	struct rec_ring *r = aligned_alloc(4096, bytes);
	struct vt_spool_result out;
	char err[512], how[160];
	uint64_t last;

	ck_assert_ptr_nonnull(r);
	memset(r, 0, bytes);
	memset(&spool, 0, sizeof(spool));
	spool.r[0] = (struct rec){.t_ns = 5, .type = REC_POST_SEND};
	r->magic = REC_MAGIC;
	r->slots = REC_RING_SLOTS;
	r->tail = REC_RING_SLOTS - 1; /* over the end of the ring */
	r->head = REC_RING_SLOTS + 1;
	r->slot[REC_RING_SLOTS - 1] = (struct rec){.t_ns = 6, .type = REC_POST_RECV};
	r->slot[0] = (struct rec){.t_ns = 7, .type = REC_POST_RECV};
	put_file("rec-7-0.ring", r, bytes);
	ck_assert_int_eq(convert(1, &out, err), 1);
	ck_assert_uint_eq(events(out.name, how, &last), 4);
	ck_assert_uint_eq(last, 7);
	ck_assert_int_ne(faccessat(rec_state.dir_fd, "rec-7-0.ring", F_OK, 0), 0);
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
		for (unsigned i = 0; i < 64; i++)
			spool.r[i].type = (uint16_t)(spool.r[i].type % (REC_END + 3));
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
	tcase_add_test(rings, threads_have_rings_of_their_own);
	tcase_add_loop_test(rules, rules_are_read, 0, sizeof(good) / sizeof(good[0]));
	tcase_add_loop_test(rules, wrong_rules_are_explained, 0, sizeof(bad) / sizeof(bad[0]));
	tcase_add_checked_fixture(spools, setup, teardown);
	tcase_set_timeout(spools, 60); /* a busy machine, and a sanitizer */
	tcase_set_timeout(rings, 60);
	tcase_add_test(spools, records_of_all_threads_are_put_in_order);
	tcase_add_test(spools, spool_without_an_end_was_killed);
	tcase_add_test(spools, what_a_killed_program_had_in_its_ring_is_there);
	tcase_add_test(spools, foreign_spool_is_refused);
	tcase_add_test(spools, random_records_become_a_readable_trace);
	suite_add_tcase(s, rings);
	suite_add_tcase(s, rules);
	suite_add_tcase(s, spools);
	return s;
}
