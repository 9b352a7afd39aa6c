/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* test_grow.c - files that grow through a mapping: what was put is in them at once, whatever becomes of the process. */
#define _GNU_SOURCE /* memfd_create */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner.h"
#include "vs/grow.h"

#define MIB (1u << 20)

static int file(void)
{
	int fd = memfd_create("grow", MFD_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	return fd;
}

static off_t size_of(int fd)
{
	return lseek(fd, 0, SEEK_END);
}

static uint8_t byte_at(uint64_t place)
{
	return (uint8_t)(place * 31 + place / 251 + 1);
}

/* Records of this many bytes, a head of 8. */
static void put_some(struct vs_grow *g, size_t len, unsigned n)
{
	uint8_t *b = malloc(len);

	ck_assert_ptr_nonnull(b);
	for (unsigned i = 0; i < n; i++) {
		for (size_t k = 0; k < len; k++)
			b[k] = byte_at(vs_grow_length(g) + k);
		ck_assert_int_eq(vs_grow_put(g, b, 8, b + 8, len - 8), 0);
	}
	free(b);
}

static void holds(int fd, uint64_t from, uint64_t to)
{
	uint8_t b[4096];

	for (uint64_t at = from; at < to;) {
		ssize_t n = pread(fd, b, sizeof(b), (off_t)at);

		ck_assert_int_gt(n, 0);
		for (ssize_t i = 0; i < n && at < to; i++, at++)
			if (b[i] != byte_at(at)) /* an assertion takes longer than all the rest */
				ck_abort_msg("at %llu", (unsigned long long)at);
	}
}

START_TEST(what_was_put_is_in_the_file_also_across_windows)
{
	static const size_t lengths[] = {16, 104, 1000, 70001, MIB + 13};
	size_t len = lengths[_i];
	unsigned n = (unsigned)(2 * MIB / len) + 1;
	int fd = file();
	struct vs_grow *g = vs_grow_open(fd);

	ck_assert_ptr_nonnull(g);
	put_some(g, len, n);
	ck_assert_uint_eq(vs_grow_length(g), len * n);
	ck_assert_int_ge(size_of(fd), (off_t)(len * n));
	ck_assert_int_eq(vs_grow_close(g), 0);
	ck_assert_int_eq(size_of(fd), (off_t)(len * n));
	holds(fd, 0, len * n);
	close(fd);
}
END_TEST

START_TEST(what_stands_in_it_stays)
{
	int fd = file();
	uint8_t b[24];
	struct vs_grow *g;

	for (unsigned i = 0; i < sizeof(b); i++)
		b[i] = byte_at(i);
	ck_assert_int_eq(write(fd, b, sizeof(b)), sizeof(b));
	g = vs_grow_open(fd);
	ck_assert_ptr_nonnull(g);
	put_some(g, 100, 10);
	ck_assert_int_eq(vs_grow_close(g), 0);
	ck_assert_int_eq(size_of(fd), 1024);
	holds(fd, 0, 1024);
	close(fd);
}
END_TEST

/* A child is killed between two puts: what it put before is there, and zeros behind. */
START_TEST(what_a_killed_process_has_put_is_there)
{
	int fd = file(), status;
	pid_t pid = fork();
	uint8_t zeros[64], none[64] = {0};

	if (pid == 0) {
		struct vs_grow *g = vs_grow_open(fd);

		if (g != NULL)
			put_some(g, 1000, 1200);
		(void)raise(SIGKILL);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	holds(fd, 0, 1200000);
	ck_assert_int_eq(pread(fd, zeros, sizeof(zeros), 1200000), sizeof(zeros));
	ck_assert_mem_eq(zeros, none, sizeof(zeros));
	close(fd);
}
END_TEST

/* Where a file may not grow: an error at once and for ever, no signal, and what was put stays. */
START_TEST(a_full_disk_is_an_error_and_no_signal)
{
	struct rlimit before, limit;
	int fd = file(), rc = 0;
	uint8_t b[1024] = {0};
	struct vs_grow *g;
	uint64_t put;

	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
	(void)signal(SIGXFSZ, SIG_IGN);
	g = vs_grow_open(fd);
	ck_assert_ptr_nonnull(g);
	limit = before;
	limit.rlim_cur = 2 * MIB;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	for (unsigned i = 0; i < 4 * MIB / sizeof(b) && rc == 0; i++)
		rc = vs_grow_put(g, b, 8, b + 8, sizeof(b) - 8);
	(void)setrlimit(RLIMIT_FSIZE, &before);
	ck_assert_int_eq(rc, EFBIG);
	put = vs_grow_length(g);
	ck_assert_uint_eq(put, 2 * MIB);
	ck_assert_int_eq(vs_grow_put(g, b, 8, b, 8), EFBIG);
	ck_assert_int_eq(vs_grow_close(g), EFBIG);
	ck_assert_int_eq(size_of(fd), (off_t)put);
	close(fd);
}
END_TEST

START_TEST(a_descriptor_that_has_become_another_file_is_left_alone)
{
	int fd = file(), other = file(), rc = 0;
	struct vs_grow *g = vs_grow_open(fd);
	uint8_t b[1024] = {0};

	ck_assert_ptr_nonnull(g);
	ck_assert_int_eq(dup2(other, fd), fd);
	for (unsigned i = 0; i < 2 * MIB / sizeof(b) && rc == 0; i++)
		rc = vs_grow_put(g, b, 8, b + 8, sizeof(b) - 8);
	ck_assert_int_eq(rc, EBADF);
	ck_assert_int_eq(vs_grow_close(g), EBADF);
	ck_assert_int_eq(size_of(other), 0);
	close(fd);
	close(other);
}
END_TEST

START_TEST(what_is_no_regular_file_cant_grow)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_ptr_null(vs_grow_open(fd));
	ck_assert_int_eq(errno, ENODEV);
	ck_assert_ptr_null(vs_grow_open(-1));
	close(fd);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("grow");
	TCase *tc = tcase_create("grow");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, what_was_put_is_in_the_file_also_across_windows, 0, 5);
	tcase_add_test(tc, what_stands_in_it_stays);
	tcase_add_test(tc, what_a_killed_process_has_put_is_there);
	tcase_add_test(tc, a_full_disk_is_an_error_and_no_signal);
	tcase_add_test(tc, a_descriptor_that_has_become_another_file_is_left_alone);
	tcase_add_test(tc, what_is_no_regular_file_cant_grow);
	suite_add_tcase(s, tc);
	return s;
}
