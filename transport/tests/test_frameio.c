/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_frameio.c - Ethernet frames as AF_UNIX datagrams, and through an interface of a network of the test's own, where
 * the kernel is who ARP and neighbour discovery are spoken with.
 *
 * The interface takes CAP_NET_RAW. A user who may make a user namespace has it there; who may not sees
 * "skip NAME: reason" for the tests that need it.
 */
#define _GNU_SOURCE /* unshare */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runner.h"
#include "vs/err.h"
#include "vs/frameio.h"
#include "vs/neigh.h"

#define WAIT_MS 2000
#define LEN 64u

static struct vs_io_error err;
static char dir[] = "/tmp/vs-frameio.XXXXXX", a_path[64], b_path[64];

/* What came last, and how many. */
static struct got {
	uint8_t frame[VS_FRAMEIO_MAX];
	size_t len;
	uint64_t stamp;
	unsigned n;
} got;

static void take(void *ctx, uint64_t stamp, const uint8_t *frame, size_t len)
{
	struct got *g = ctx;

	memcpy(g->frame, frame, len);
	g->len = len;
	g->stamp = stamp;
	g->n++;
}

/* Until `n` frames in all have come. */
static void await(struct vs_frameio *f, unsigned n)
{
	struct pollfd p = {.fd = vs_frameio_fd(f), .events = POLLIN};

	while (got.n < n) {
		ck_assert_int_eq(poll(&p, 1, WAIT_MS), 1);
		ck_assert_msg(vs_frameio_receive(f, n - got.n, take, &got, &err) >= 0, "%s", err.text);
	}
}

/* ---- AF_UNIX ---- */

static void set_up(void)
{
	got.n = 0;
	ck_assert_ptr_nonnull(mkdtemp(strcpy(dir, "/tmp/vs-frameio.XXXXXX")));
	(void)snprintf(a_path, sizeof(a_path), "%s/a", dir);
	(void)snprintf(b_path, sizeof(b_path), "%s/b", dir);
}

static void tear_down(void)
{
	(void)unlink(a_path);
	(void)unlink(b_path);
	(void)rmdir(dir);
}

static struct vs_frameio *open_unix(const char *local, const char *remote)
{
	int code = 1;
	struct vs_frameio *f = vs_frameio_unix_open(local, remote, &code, &err);

	ck_assert_msg(f != NULL, "%s", err.text);
	ck_assert_int_eq(code, VS_OK);
	return f;
}

static void refused(const char *local, const char *remote, int want, const char *text)
{
	int code = 1;

	ck_assert_ptr_null(vs_frameio_unix_open(local, remote, &code, &err));
	ck_assert_int_eq(code, want);
	ck_assert_msg(strstr(err.text, text) != NULL, "%s", err.text);
}

START_TEST(a_frame_arrives_whole_and_with_its_time)
{
	struct vs_frameio *a = open_unix(a_path, b_path), *b = open_unix(b_path, a_path);
	uint8_t frame[4096 + 128];
	struct timespec t;

	for (size_t len = 14; len <= sizeof(frame); len += 601) {
		unsigned before = got.n;

		for (size_t i = 0; i < len; i++)
			frame[i] = (uint8_t)(i * 3 + len);
		ck_assert_msg(vs_frameio_send(a, frame, len, &err) == VS_OK, "%s", err.text);
		await(b, before + 1);
		ck_assert_uint_eq(got.len, len);
		ck_assert_mem_eq(got.frame, frame, len);
		(void)clock_gettime(CLOCK_REALTIME, &t);
		ck_assert_uint_le(got.stamp, (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec);
		ck_assert_uint_gt(got.stamp, ((uint64_t)t.tv_sec - 60) * 1000000000u);
	}
	ck_assert_int_eq(vs_frameio_receive(b, 8, take, &got, &err), 0);
	vs_frameio_close(a);
	vs_frameio_close(b);
	ck_assert_int_ne(access(a_path, F_OK), 0);
	ck_assert_int_ne(access(b_path, F_OK), 0);
}
END_TEST

START_TEST(who_is_not_there_may_come_later_and_go_and_come)
{
	struct vs_frameio *a = open_unix(a_path, b_path), *b;
	uint8_t frame[LEN] = {1};

	ck_assert_int_eq(vs_frameio_send(a, frame, LEN, &err), VS_ERR_BUSY);
	ck_assert_msg(strstr(err.text, "nobody receives there") != NULL, "%s", err.text);
	for (unsigned i = 0; i < 2; i++) {
		b = open_unix(b_path, a_path);
		ck_assert_int_eq(vs_frameio_send(a, frame, LEN, &err), VS_OK);
		await(b, i + 1);
		vs_frameio_close(b);
		ck_assert_int_eq(vs_frameio_send(a, frame, LEN, &err), VS_ERR_BUSY);
	}
	vs_frameio_close(a);
}
END_TEST

START_TEST(a_sender_waits_for_a_slow_receiver_and_not_for_one_that_is_stopped)
{
	struct vs_frameio *a = open_unix(a_path, b_path), *b = open_unix(b_path, a_path);
	const unsigned many = 400;
	uint8_t frame[LEN] = {0};
	unsigned sent = 0;
	int rc = VS_OK;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		for (unsigned i = 0; i < many; i++) {
			memcpy(frame, &i, sizeof(i));
			if (vs_frameio_send(a, frame, LEN, &err) != VS_OK)
				_exit(1);
		}
		_exit(0);
	}
	for (unsigned i = 0; i < many; i++) {
		unsigned number;

		await(b, i + 1);
		memcpy(&number, got.frame, sizeof(number));
		ck_assert_uint_eq(number, i);
	}
	ck_assert_int_eq(waitpid(pid, &rc, 0), pid);
	ck_assert_int_eq(rc, 0);
	while (rc == VS_OK && sent++ < 100000)
		rc = vs_frameio_send(a, frame, LEN, &err);
	ck_assert_int_eq(rc, VS_ERR_BUSY);
	ck_assert_msg(strstr(err.text, "takes no frames") != NULL, "%s", err.text);
	vs_frameio_close(a);
	vs_frameio_close(b);
}
END_TEST

START_TEST(a_socket_that_was_left_over_is_replaced_and_no_other)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), file;
	struct vs_frameio *a, *b;

	strcpy(name.sun_path, a_path);
	ck_assert_int_eq(bind(fd, (const struct sockaddr *)&name, sizeof(name)), 0);
	refused(a_path, b_path, VS_ERR_BUSY, "something is there already");
	close(fd);
	a = open_unix(a_path, b_path); /* who had it is gone */
	refused(a_path, b_path, VS_ERR_BUSY, "something is there already");
	ck_assert_int_eq(unlink(a_path), 0);
	b = open_unix(a_path, b_path);
	vs_frameio_close(a); /* the path is another's now */
	ck_assert_int_eq(access(a_path, F_OK), 0);
	vs_frameio_close(b);
	file = open(a_path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	close(file);
	refused(a_path, b_path, VS_ERR_BUSY, "something is there already");
	ck_assert_int_eq(access(a_path, F_OK), 0);
}
END_TEST

START_TEST(a_path_that_can_be_none_says_so)
{
	char longer[200];

	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	refused(longer, b_path, VS_ERR_INVAL, "the path of a socket has 1 to 107 bytes");
	refused(a_path, longer, VS_ERR_INVAL, "the path of a socket has 1 to 107 bytes");
	refused(a_path, "", VS_ERR_INVAL, "the path of a socket has 1 to 107 bytes");
	refused("/nonexistent/x", b_path, VS_ERR_IO, "make the folder first");
}
END_TEST

/* ---- an interface ---- */

/*
 * A network of the test's own with the interface vst0, an end of which is returned: what is written there comes in at
 * the interface. -1, and says so, when there can be none.
 */
static int own_network(const char *test)
{
	struct ifreq ifr = {.ifr_flags = IFF_TAP | IFF_NO_PI, .ifr_name = "vst0"};
	const char *fork_mode = getenv("CK_FORK");
	int fd;

	got.n = 0;
	if (fork_mode != NULL && strcmp(fork_mode, "no") == 0) {
		printf("skip %s: the rest of the tests would be in its network (CK_FORK=no)\n", test);
		return -1;
	}
	if (unshare(CLONE_NEWNET) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) {
		printf("skip %s: no network namespace for this user (%s)\n", test, strerror(errno));
		return -1;
	}
	fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC);
	if (fd >= 0 && ioctl(fd, TUNSETIFF, &ifr) == 0)
		return fd;
	printf("skip %s: no tap interface (%s)\n", test, strerror(errno));
	return -1;
}

static void set_flags(int flags)
{
	struct ifreq ifr = {.ifr_flags = (short)flags, .ifr_name = "vst0"};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	ck_assert_int_eq(ioctl(fd, SIOCSIFFLAGS, &ifr), 0);
	close(fd);
}

static struct vs_frameio *open_live(const char *filter)
{
	int code = 1;
	struct vs_frameio *f = vs_frameio_live_open("vst0", filter, &code, &err);

	ck_assert_msg(f != NULL, "%s", err.text);
	return f;
}

START_TEST(frames_come_in_and_go_out_as_they_are)
{
	static const uint8_t tagged[18] = {2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 1, 0x81, 0, 0, 5, 0x89, 0x15};
	int fd = own_network("frames_come_in_and_go_out_as_they_are");
	struct pollfd p = {.fd = fd, .events = POLLIN};
	struct vs_frameio *f;
	uint8_t frame[1514], seen[2000];
	ssize_t n = 0;

	if (fd < 0)
		return;
	set_flags(IFF_UP);
	f = open_live("ether dst 02:00:00:00:00:09");
	for (size_t i = 0; i < sizeof(frame); i++)
		frame[i] = (uint8_t)(i * 5);
	memcpy(frame, tagged, sizeof(tagged));
	ck_assert_int_eq(write(fd, frame, sizeof(frame)), sizeof(frame)); /* to a host that is not this one */
	await(f, 1);
	ck_assert_uint_eq(got.len, sizeof(frame));
	ck_assert_mem_eq(got.frame, frame, sizeof(frame));
	ck_assert_uint_ne(got.stamp, 0);
	ck_assert_int_eq(vs_frameio_send(f, frame, sizeof(frame), &err), VS_OK);
	while (n != (ssize_t)sizeof(frame)) { /* the kernel may send something of its own */
		ck_assert_int_eq(poll(&p, 1, WAIT_MS), 1);
		n = read(fd, seen, sizeof(seen));
	}
	ck_assert_mem_eq(seen, frame, sizeof(frame));
	ck_assert_int_eq(vs_frameio_receive(f, 8, take, &got, &err), 0); /* what goes out does not come in */
	frame[5] = 8;
	ck_assert_int_eq(write(fd, frame, sizeof(frame)), sizeof(frame)); /* the filter */
	ck_assert_int_eq(vs_frameio_receive(f, 8, take, &got, &err), 0);
	vs_frameio_close(f);
	close(fd);
}
END_TEST

START_TEST(an_interface_that_goes_away_says_so)
{
	int fd = own_network("an_interface_that_goes_away_says_so"), rc = 0;
	struct vs_frameio *f;
	uint8_t frame[LEN] = {2};
	int code = 1;

	if (fd < 0)
		return;
	ck_assert_ptr_null(vs_frameio_live_open("vst0", NULL, &code, &err));
	ck_assert_msg(strstr(err.text, "the interface is down: 'ip link set vst0 up' first") != NULL, "%s", err.text);
	ck_assert_ptr_null(vs_frameio_live_open("nonesuch", NULL, &code, &err));
	ck_assert_msg(strstr(err.text, "there is no such interface") != NULL, "%s", err.text);
	set_flags(IFF_UP);
	f = open_live(NULL);
	if (_i == 0)
		set_flags(0);
	else
		close(fd);
	for (unsigned i = 0; i < 100 && rc >= 0; i++) {
		rc = vs_frameio_receive(f, 8, take, &got, &err);
		(void)poll(NULL, 0, 10);
	}
	ck_assert_int_eq(rc, VS_ERR_IO);
	ck_assert_msg(strstr(err.text, "vst0: the interface went away or down") != NULL, "%s", err.text);
	ck_assert_int_eq(vs_frameio_send(f, frame, LEN, &err), VS_ERR_IO);
	vs_frameio_close(f);
}
END_TEST

/* ---- the kernel as neighbour ---- */

static void set_address(void)
{
	struct ifreq ifr = {.ifr_name = "vst0"};
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x0a090001)};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	memcpy(&ifr.ifr_addr, &in, sizeof(in));
	ck_assert_int_eq(ioctl(fd, SIOCSIFADDR, &ifr), 0);
	in.sin_addr.s_addr = htonl(0xffffff00);
	memcpy(&ifr.ifr_netmask, &in, sizeof(in));
	ck_assert_int_eq(ioctl(fd, SIOCSIFNETMASK, &ifr), 0);
	close(fd);
}

/* The answer to the next question of the kernel; its bytes. */
static size_t answer_kernel(int fd, const struct vs_neigh *n, uint8_t answer[VS_NEIGH_FRAME])
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	for (;;) {
		uint8_t frame[2000];
		ssize_t len;
		size_t m;

		ck_assert_int_eq(poll(&p, 1, WAIT_MS), 1);
		len = read(fd, frame, sizeof(frame));
		ck_assert_int_gt(len, 0);
		m = vs_neigh_answer(n, frame, (size_t)len, answer);
		if (m > 0)
			return m;
	}
}

/* Does it tell where `addr` is, before nothing more comes for so long? */
static bool kernel_tells(int fd, const uint8_t addr[16], int wait_ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	while (poll(&p, 1, wait_ms) == 1) {
		uint8_t frame[2000], gid[16], mac[6];
		ssize_t len = read(fd, frame, sizeof(frame));

		if (len > 0 && vs_neigh_tells(frame, (size_t)len, gid, mac) && memcmp(gid, addr, 16) == 0)
			return true;
	}
	return false;
}

START_TEST(the_kernel_answers_and_understands_arp)
{
	const struct vs_neigh n = {.mac = {2, 0, 0, 0, 0, 9}, .addr = {{[10] = 0xff, 0xff, 10, 9, 0, 2}}, .n_addrs = 1};
	static const uint8_t kernel[16] = {[10] = 0xff, 0xff, 10, 9, 0, 1};
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x0a090002), .sin_port = htons(4791)};
	int fd = own_network("the_kernel_answers_and_understands_arp"), s;
	struct pollfd p = {.fd = fd, .events = POLLIN};
	uint8_t out[VS_NEIGH_FRAME], frame[2000] = {0};
	ssize_t len = 0;
	size_t m;

	if (fd < 0)
		return;
	set_flags(IFF_UP);
	set_address();
	s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(sendto(s, "x", 1, 0, (const struct sockaddr *)&to, sizeof(to)), 1);
	m = answer_kernel(fd, &n, out);
	ck_assert_int_eq(write(fd, out, m), (ssize_t)m);
	while (len < 14 || frame[12] != 8 || frame[13] != 0) { /* the datagram, to the MAC that it was told */
		ck_assert_int_eq(poll(&p, 1, WAIT_MS), 1);
		len = read(fd, frame, sizeof(frame));
	}
	ck_assert_mem_eq(frame, n.mac, 6);
	m = vs_neigh_ask(&n, kernel, out);
	ck_assert_int_eq(write(fd, out, m), (ssize_t)m);
	ck_assert(kernel_tells(fd, kernel, WAIT_MS));
	close(s);
	close(fd);
}
END_TEST

/* Its link-local address is its own, made of the MAC; who is asked learns where who asks is. */
START_TEST(the_kernel_answers_neighbour_solicitations)
{
	struct vs_neigh n = {.mac = {2, 0, 0, 0, 0, 9}, .addr = {{0xfe, 0x80, [15] = 9}}, .n_addrs = 1};
	int fd = own_network("the_kernel_answers_neighbour_solicitations");
	uint8_t out[VS_NEIGH_FRAME], kernel[16] = {0xfe, 0x80};
	bool told = false;
	struct ifreq ifr = {.ifr_name = "vst0"};
	const uint8_t *mac = (const uint8_t *)ifr.ifr_hwaddr.sa_data;
	FILE *f;
	size_t m;
	int s;

	if (fd < 0)
		return;
	f = fopen("/proc/sys/net/ipv6/conf/vst0/accept_dad", "w");
	if (f == NULL) {
		puts("skip the_kernel_answers_neighbour_solicitations: there is no IPv6 here");
		close(fd);
		return;
	}
	fputs("0\n", f);
	fclose(f);
	s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(ioctl(s, SIOCGIFHWADDR, &ifr), 0);
	close(s);
	memcpy(kernel + 8, ((const uint8_t[]){mac[0] ^ 2, mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5]}), 8);
	set_flags(IFF_UP);
	for (unsigned i = 0; i < 200 && !told; i++) { /* it gets the address when it has time */
		m = vs_neigh_ask(&n, kernel, out);
		ck_assert_int_eq(write(fd, out, m), (ssize_t)m);
		told = kernel_tells(fd, kernel, 50);
	}
	ck_assert(told);
	close(fd);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("frameio");
	TCase *u = tcase_create("unix"), *l = tcase_create("live");

	tcase_add_checked_fixture(u, set_up, tear_down);
	tcase_add_test(u, a_frame_arrives_whole_and_with_its_time);
	tcase_add_test(u, who_is_not_there_may_come_later_and_go_and_come);
	tcase_add_test(u, a_sender_waits_for_a_slow_receiver_and_not_for_one_that_is_stopped);
	tcase_add_test(u, a_socket_that_was_left_over_is_replaced_and_no_other);
	tcase_add_test(u, a_path_that_can_be_none_says_so);
	tcase_add_test(l, frames_come_in_and_go_out_as_they_are);
	tcase_add_loop_test(l, an_interface_that_goes_away_says_so, 0, 2);
	tcase_add_test(l, the_kernel_answers_and_understands_arp);
	tcase_add_test(l, the_kernel_answers_neighbour_solicitations);
	tcase_set_timeout(u, 30);
	tcase_set_timeout(l, 30);
	suite_add_tcase(s, u);
	suite_add_tcase(s, l);
	return s;
}
