/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * sim_wait.c - the ways in which a program waits, on the simulated wire: each makes virtual time go on, costs no real
 * time, and ends. With several threads, too.
 */
#define _GNU_SOURCE /* ppoll, epoll_pwait2 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sim_ends.h"

/* ---- one thread ---- */

/* A write is under way whose completion makes the descriptor readable. */
static int under_way(void)
{
	ck_assert_int_eq(ibv_req_notify_cq(a.cq, 0), 0);
	post_to(&a, IBV_WR_RDMA_WRITE, &b, 8, 1);
	return a.channel->fd;
}

static void over(void)
{
	struct ibv_cq *cq;
	void *context;

	ck_assert_int_eq(ibv_get_cq_event(a.channel, &cq, &context), 0);
	ibv_ack_cq_events(cq, 1);
	ck_assert_int_eq(poll_for(a.cq).status, IBV_WC_SUCCESS);
}

/* For which descriptor, for how long: 1 when it is readable, 0 when the time is over. */
typedef int wait_fn(int fd, int ms);

static int by_poll(int fd, int ms)
{
	struct pollfd p[2] = {{.fd = -1}, {.fd = fd, .events = POLLIN}};
	int rc = poll(p, 2, ms);

	ck_assert_int_eq(p[1].revents, rc == 1 ? POLLIN : 0);
	return rc;
}

static struct timespec *timespec_of(int ms, struct timespec *ts)
{
	*ts = (struct timespec){ms / 1000, ms % 1000 * 1000000l};
	return ms < 0 ? NULL : ts;
}

static int by_ppoll(int fd, int ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	struct timespec ts;
	sigset_t none;

	sigemptyset(&none);
	return ppoll(&p, 1, timespec_of(ms, &ts), &none);
}

static int by_select(int fd, int ms)
{
	struct timeval tv = {ms / 1000, ms % 1000 * 1000};
	fd_set r, w;
	int rc;

	FD_ZERO(&r);
	FD_ZERO(&w);
	FD_SET(fd, &r);
	rc = select(fd + 1, &r, &w, NULL, ms < 0 ? NULL : &tv);
	ck_assert_int_eq(FD_ISSET(fd, &r) != 0, rc == 1);
	return rc;
}

static int by_pselect(int fd, int ms)
{
	struct timespec ts;
	fd_set r;

	FD_ZERO(&r);
	FD_SET(fd, &r);
	return pselect(fd + 1, &r, NULL, NULL, timespec_of(ms, &ts), NULL);
}

static int by_epoll(int fd, int ms)
{
	struct epoll_event e = {.events = EPOLLIN, .data.u64 = 77};
	int ep = epoll_create1(0), rc;

	ck_assert_int_eq(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e), 0);
	e.data.u64 = 0;
	rc = epoll_wait(ep, &e, 1, ms);
	ck_assert_uint_eq(e.data.u64, rc == 1 ? 77 : 0);
	close(ep);
	return rc;
}

static int by_polled_epoll(int fd, int ms)
{
	struct epoll_event e = {.events = EPOLLIN};
	int ep = epoll_create1(0), rc;

	ck_assert_int_eq(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e), 0);
	rc = by_poll(ep, ms);
	close(ep);
	return rc;
}

static wait_fn *const ways[] = {by_poll, by_ppoll, by_select, by_pselect, by_epoll, by_polled_epoll};
#define WAYS (int)(sizeof(ways) / sizeof(ways[0]))

START_TEST(who_waits_for_a_descriptor_is_woken)
{
	set_up();
	ck_assert_int_eq(ways[_i](under_way(), -1), 1);
	over();
	ck_assert_int_eq(ways[_i](under_way(), 1000), 1);
	over();
	tear_down();
}
END_TEST

START_TEST(a_time_out_is_virtual)
{
	uint64_t real, before;

	set_up();
	real = real_now();
	before = virtual_now();
	ck_assert_int_eq(ways[_i](a.channel->fd, 100000), 0);
	ck_assert_uint_eq(virtual_now() - before, 100 * S);
	ck_assert_uint_lt(real_now() - real, 10 * S);
	tear_down();
}
END_TEST

/* The acknowledge would come after 2 us; nobody is there, and the time-out is before the retries are. */
START_TEST(a_time_out_comes_in_the_middle_of_what_is_under_way)
{
	uint64_t before;
	int fd;

	set_up();
	ck_assert_int_eq(ibv_destroy_qp(b.qp), 0);
	b.qp = NULL;
	before = virtual_now();
	fd = under_way();
	ck_assert_int_eq(ways[_i](fd, 100), 0);
	ck_assert_uint_eq(virtual_now() - before, 100 * MS);
	ck_assert_int_eq(ways[_i](fd, -1), 1);
	ck_assert_uint_gt(virtual_now() - before, 500 * MS);
	ck_assert_int_eq(block_for(&a).status, IBV_WC_RETRY_EXC_ERR);
	tear_down();
}
END_TEST

START_TEST(asking_again_and_again_makes_time_pass)
{
	int i = 0;

	set_up();
	under_way();
	while (i < 100 && ways[_i](a.channel->fd, 0) == 0)
		i++;
	ck_assert_int_lt(i, 100);
	over();
	tear_down();
}
END_TEST

START_TEST(a_channel_that_does_not_block_is_asked_again_and_again)
{
	struct ibv_cq *cq;
	void *context;
	int i = 0;

	set_up();
	ck_assert_int_eq(fcntl(a.channel->fd, F_SETFL, O_NONBLOCK), 0);
	under_way();
	while (i < 100 && ibv_get_cq_event(a.channel, &cq, &context) != 0) {
		ck_assert_int_eq(errno, EAGAIN);
		i++;
	}
	ck_assert_int_gt(i, 0);
	ck_assert_int_lt(i, 100);
	ibv_ack_cq_events(cq, 1);
	tear_down();
}
END_TEST

START_TEST(a_read_of_the_descriptor_waits_as_the_verb_does)
{
	uint64_t count;

	set_up();
	ck_assert_int_eq(read(under_way(), &count, sizeof(count)), sizeof(count));
	ck_assert_int_eq(poll_for(a.cq).status, IBV_WC_SUCCESS);
	ck_assert_int_eq(ibv_destroy_qp(a.qp), 0); /* the event goes with its queue */
	ck_assert_int_eq(ibv_destroy_cq(a.cq), 0);
}
END_TEST

/* Another's descriptor is looked at, and its time-out is real. */
START_TEST(other_descriptors_are_not_forgotten)
{
	int other = eventfd(0, 0);
	struct pollfd p[2] = {{.fd = other, .events = POLLIN}};
	uint64_t real;

	set_up();
	p[1] = (struct pollfd){.fd = under_way(), .events = POLLIN};
	ck_assert_int_eq(poll(p, 2, -1), 1);
	ck_assert_int_eq(p[1].revents, POLLIN);
	over();
	real = real_now();
	ck_assert_int_eq(poll(p, 2, 50), 0);
	ck_assert_uint_ge(real_now() - real, 50 * MS);
	ck_assert_int_eq(write(other, &real, sizeof(real)), sizeof(real));
	ck_assert_int_eq(poll(p, 2, -1), 1);
	ck_assert_int_eq(p[0].revents, POLLIN);
	close(other);
	tear_down();
}
END_TEST

START_TEST(an_async_event_is_waited_for)
{
	struct ibv_async_event event;
	struct pollfd p;

	set_up();
	b.mr->rkey ^= 0x100;
	post_to(&a, IBV_WR_RDMA_WRITE, &b, 8, 9);
	b.mr->rkey ^= 0x100;
	p = (struct pollfd){.fd = b.ctx->async_fd, .events = POLLIN};
	ck_assert_int_eq(poll(&p, 1, -1), 1);
	do {
		ck_assert_int_eq(ibv_get_async_event(b.ctx, &event), 0);
		ck_assert_ptr_eq(event.element.qp, b.qp);
		ibv_ack_async_event(&event);
	} while (event.event_type == IBV_EVENT_COMM_EST);
	ck_assert_int_eq(event.event_type, IBV_EVENT_QP_ACCESS_ERR);
	ck_assert_int_eq(poll_for(a.cq).status, IBV_WC_REM_ACCESS_ERR);
	tear_down();
}
END_TEST

static int by_nanosleep(int fd, int ms)
{
	struct timespec ts;

	(void)fd;
	return nanosleep(timespec_of(ms, &ts), NULL);
}

static int by_clock_nanosleep(int fd, int ms)
{
	struct timespec ts;

	(void)fd;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	ts.tv_sec += ms / 1000;
	return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

static int by_usleep(int fd, int ms)
{
	(void)fd;
	return usleep((useconds_t)ms * 1000);
}

static int by_sleep(int fd, int ms)
{
	(void)fd;
	return (int)sleep((unsigned)ms / 1000);
}

static int by_empty_poll(int fd, int ms)
{
	(void)fd;
	return poll(NULL, 0, ms);
}

static int by_empty_select(int fd, int ms)
{
	struct timeval tv = {ms / 1000, ms % 1000 * 1000};

	(void)fd;
	return select(0, NULL, NULL, NULL, &tv);
}

static wait_fn *const sleeps[] = {by_nanosleep, by_clock_nanosleep, by_usleep,
				  by_sleep,     by_empty_poll,      by_empty_select};
#define SLEEPS (int)(sizeof(sleeps) / sizeof(sleeps[0]))

/* As many a first program has it: post, sleep, look once. */
START_TEST(after_a_sleep_the_completion_is_there)
{
	struct ibv_wc wc;
	uint64_t real, before;

	set_up();
	real = real_now();
	before = virtual_now();
	post_to(&a, IBV_WR_RDMA_WRITE, &b, 8, 1);
	ck_assert_int_eq(sleeps[_i](-1, 30000), 0);
	ck_assert_int_eq(ibv_poll_cq(a.cq, 1, &wc), 1);
	ck_assert_uint_ge(virtual_now() - before, 29 * S); /* an absolute time was computed before */
	ck_assert_uint_le(virtual_now() - before, 30 * S);
	ck_assert_uint_lt(real_now() - real, 10 * S);
	tear_down();
}
END_TEST

/* Nothing happens in it: whoever sleeps waits for people or other processes. */
START_TEST(a_sleep_in_which_nothing_is_under_way_is_real_too)
{
	uint64_t real, before;

	set_up();
	real = real_now();
	before = virtual_now();
	ck_assert_int_eq(usleep(30000), 0);
	ck_assert_uint_ge(real_now() - real, 30 * MS);
	ck_assert_uint_eq(virtual_now() - before, 30 * MS);
	tear_down();
}
END_TEST

static void ignore(int sig)
{
	(void)sig;
}

START_TEST(a_signal_ends_a_wait_that_has_no_end)
{
	struct sigaction sa = {.sa_handler = ignore};
	struct ibv_cq *cq;
	void *context;

	set_up();
	ck_assert_int_eq(sigaction(SIGALRM, &sa, NULL), 0);
	(void)ualarm(50000, 0);
	ck_assert_int_eq(ibv_get_cq_event(a.channel, &cq, &context), -1);
	ck_assert_int_eq(errno, EINTR);
	/* The peer has no receive, and is asked for ever: time passes, and nothing comes of it. */
	post_to(&a, IBV_WR_SEND, &b, 8, 1);
	(void)ualarm(50000, 50000);
	ck_assert_int_eq(poll(&(struct pollfd){.fd = a.channel->fd, .events = POLLIN}, 1, -1), -1);
	ck_assert_int_eq(errno, EINTR);
	(void)ualarm(0, 0);
	tear_down();
}
END_TEST

/* By a way that nobody sees: after two seconds the clock goes by itself. */
START_TEST(memory_that_is_watched_without_a_verb_changes_in_the_end)
{
	set_up();
	a.buf[0] = 1;
	post_to(&a, IBV_WR_RDMA_WRITE, &b, 8, 1);
	for (int i = 0; i < 500 && ((volatile uint8_t *)b.buf)[0] == 0; i++)
		sleep_unseen(20);
	ck_assert_uint_eq(b.buf[0], 1);
	ck_assert_int_eq(poll_for(a.cq).status, IBV_WC_SUCCESS);
	tear_down();
}
END_TEST

START_TEST(a_child_sleeps_really_and_has_no_device)
{
	int status;
	pid_t pid;

	set_up();
	post_to(&a, IBV_WR_RDMA_WRITE, &b, 8, 1);
	pid = fork();
	if (pid == 0) {
		uint64_t real = real_now();
		struct ibv_wc wc;
		bool ok = usleep(20000) == 0 && real_now() - real >= 20 * MS && ibv_poll_cq(a.cq, 1, &wc) < 0 &&
			  poll(&(struct pollfd){.fd = a.channel->fd, .events = POLLIN}, 1, 10) == 0;

		_exit(ok ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(poll_for(a.cq).status, IBV_WC_SUCCESS);
	tear_down();
}
END_TEST

/* ---- two threads ---- */

#define ROUNDS 300

static void *serve_by_events(void *arg)
{
	(void)arg;
	for (int i = 0; i < ROUNDS; i++) {
		post_recv(&b, 1);
		ck_assert_int_eq(block_for(&b).opcode, IBV_WC_RECV);
		post_to(&b, IBV_WR_SEND, &a, 64, 2);
		ck_assert_int_eq(block_for(&b).opcode, IBV_WC_SEND);
	}
	return NULL;
}

static void *serve_by_polling(void *arg)
{
	struct ibv_wc wc;

	(void)arg;
	for (int i = 0; i < ROUNDS; i++) {
		post_recv(&b, 1);
		while (ibv_poll_cq(b.cq, 1, &wc) == 0)
			;
		post_to(&b, IBV_WR_SEND, &a, 64, 2);
		while (ibv_poll_cq(b.cq, 1, &wc) == 0)
			;
	}
	return NULL;
}

static void ping_pong(void *(*server)(void *))
{
	pthread_t thread;

	rnr_timer = 1;
	set_up();
	post_recv(&a, 1);
	ck_assert_int_eq(pthread_create(&thread, NULL, server, NULL), 0);
	for (int i = 0; i < ROUNDS; i++) {
		post_to(&a, IBV_WR_SEND, &b, 64, 2);
		for (int n = 0; n < 2; n++)
			ck_assert_int_eq(block_for(&a).status, IBV_WC_SUCCESS);
		post_recv(&a, 1);
	}
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	tear_down();
}

START_TEST(two_threads_that_block_play_ping_pong)
{
	ping_pong(serve_by_events);
}
END_TEST

START_TEST(a_thread_that_blocks_and_one_that_polls_play_ping_pong)
{
	ping_pong(serve_by_polling);
}
END_TEST

static atomic_int taken;

/* Two wait for events of one channel: each event wakes one, and the other goes on waiting in virtual time. */
static void *take_events(void *arg)
{
	struct ibv_cq *cq;
	void *context;

	while (atomic_fetch_add(&taken, 1) < *(const int *)arg) {
		ck_assert_int_eq(ibv_get_cq_event(b.channel, &cq, &context), 0);
		ibv_ack_cq_events(cq, 1);
		ck_assert_int_eq(poll_for(b.cq).status, IBV_WC_SUCCESS);
		ck_assert_int_eq(ibv_req_notify_cq(b.cq, 0), 0);
		post_to(&a, IBV_WR_SEND, &b, 8, 1);
	}
	return NULL;
}

START_TEST(two_threads_share_a_channel)
{
	const int rounds = 60; /* of which the last two leave a message under way */
	pthread_t thread[2];

	set_up();
	for (int i = 0; i < rounds + 2; i++)
		post_recv(&b, 1);
	ck_assert_int_eq(ibv_req_notify_cq(b.cq, 0), 0);
	post_to(&a, IBV_WR_SEND, &b, 8, 1);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(pthread_create(&thread[i], NULL, take_events, (void *)(uintptr_t)&rounds), 0);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(pthread_join(thread[i], NULL), 0);
	ck_assert_int_eq(atomic_load(&taken), rounds + 2);
	tear_down();
}
END_TEST

static atomic_bool posted;

static void *post_late(void *arg)
{
	(void)arg;
	sleep_unseen(50);
	post_recv(&b, 1);
	atomic_store(&posted, true);
	return NULL;
}

/* The sender asks again every 10 us of virtual time: without patience, some 10,000 times until then. */
START_TEST(a_thread_that_waits_does_not_outrun_one_that_is_about_to_post)
{
	uint64_t real, before;
	pthread_t thread;

	rnr_timer = 1;
	set_up();
	ck_assert_int_eq(pthread_create(&thread, NULL, post_late, NULL), 0);
	real = real_now();
	before = virtual_now();
	post_to(&a, IBV_WR_SEND, &b, 8, 1);
	ck_assert_int_eq(block_for(&a).status, IBV_WC_SUCCESS);
	ck_assert(atomic_load(&posted));
	ck_assert_uint_lt(virtual_now() - before, (real_now() - real) / 50);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	tear_down();
}
END_TEST

static void *send_late(void *arg)
{
	(void)arg;
	sleep_unseen(50);
	post_to(&a, IBV_WR_SEND, &b, 8, 1);
	return NULL;
}

/* The waiting thread alone moves the clock: the other has posted and looks no more. */
START_TEST(what_another_thread_posts_ends_a_wait)
{
	pthread_t thread;

	set_up();
	post_recv(&b, 1);
	ck_assert_int_eq(ibv_req_notify_cq(b.cq, 0), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, send_late, NULL), 0);
	ck_assert_int_eq(ways[_i](b.channel->fd, 100000), 1);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	tear_down();
}
END_TEST

START_TEST(a_time_out_among_threads_is_real)
{
	pthread_t thread;
	uint64_t real, before;

	set_up();
	ck_assert_int_eq(pthread_create(&thread, NULL, post_late, NULL), 0);
	real = real_now();
	before = virtual_now();
	ck_assert_int_eq(ways[_i](a.channel->fd, 30), 0);
	ck_assert_uint_ge(real_now() - real, 30 * MS);
	ck_assert_uint_ge(virtual_now() - before, 30 * MS);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	tear_down();
}
END_TEST

#ifndef __SANITIZE_ADDRESS__
static void *wait_for_ever(void *arg)
{
	struct ibv_cq *cq;
	void *context;

	(void)arg;
	(void)ibv_get_cq_event(b.channel, &cq, &context);
	return NULL;
}

START_TEST(a_thread_that_waits_can_be_cancelled)
{
	pthread_t thread;
	void *result;

	set_up();
	ck_assert_int_eq(pthread_create(&thread, NULL, wait_for_ever, NULL), 0);
	sleep_unseen(20);
	ck_assert_int_eq(pthread_cancel(thread), 0);
	ck_assert_int_eq(pthread_join(thread, &result), 0);
	ck_assert_ptr_eq(result, PTHREAD_CANCELED);
	post_to(&a, IBV_WR_RDMA_WRITE, &b, 8, 1);
	ck_assert_int_eq(block_for(&a).status, IBV_WC_SUCCESS);
	tear_down();
}
END_TEST
#endif

void add_waits(Suite *s)
{
	TCase *tc = tcase_create("waiting");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, who_waits_for_a_descriptor_is_woken, 0, WAYS);
	tcase_add_loop_test(tc, a_time_out_is_virtual, 0, WAYS);
	tcase_add_loop_test(tc, a_time_out_comes_in_the_middle_of_what_is_under_way, 0, WAYS);
	tcase_add_loop_test(tc, asking_again_and_again_makes_time_pass, 0, WAYS);
	tcase_add_test(tc, a_channel_that_does_not_block_is_asked_again_and_again);
	tcase_add_test(tc, a_read_of_the_descriptor_waits_as_the_verb_does);
	tcase_add_test(tc, other_descriptors_are_not_forgotten);
	tcase_add_test(tc, an_async_event_is_waited_for);
	tcase_add_loop_test(tc, after_a_sleep_the_completion_is_there, 0, SLEEPS);
	tcase_add_test(tc, a_sleep_in_which_nothing_is_under_way_is_real_too);
	tcase_add_test(tc, a_signal_ends_a_wait_that_has_no_end);
	tcase_add_test(tc, memory_that_is_watched_without_a_verb_changes_in_the_end);
	tcase_add_test(tc, a_child_sleeps_really_and_has_no_device);
	suite_add_tcase(s, tc);
	tc = tcase_create("threads in verbs"); /* alone, for check-tsan */
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, two_threads_that_block_play_ping_pong);
	tcase_add_test(tc, a_thread_that_blocks_and_one_that_polls_play_ping_pong);
	tcase_add_test(tc, two_threads_share_a_channel);
	tcase_add_test(tc, a_thread_that_waits_does_not_outrun_one_that_is_about_to_post);
	suite_add_tcase(s, tc);
	tc = tcase_create("threads");
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, what_another_thread_posts_ends_a_wait, 0, WAYS);
	tcase_add_loop_test(tc, a_time_out_among_threads_is_real, 0, WAYS);
#ifndef __SANITIZE_ADDRESS__ /* which stumbles over the stack of a cancelled thread */
	tcase_add_test(tc, a_thread_that_waits_can_be_cancelled);
#endif
	suite_add_tcase(s, tc);
}
