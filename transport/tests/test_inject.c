/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_inject.c - packets out to a live network: datagrams through a UDP socket of the loopback, frames through an
 * interface of a network of the test's own.
 *
 * Sending frames takes CAP_NET_RAW. A user who may make a user namespace has it there; who may not sees
 * "skip NAME: reason" for the tests that need it.
 */
#define _GNU_SOURCE /* unshare */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <linux/if_tun.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "vs/err.h"
#include "vs/icrc.h"
#include "vs/inject.h"
#include "vs/wire.h"

#include "runner.h"

#define WAIT_MS 2000

static struct vs_io_error err;

/* ---- datagrams ---- */

static const uint8_t payload[] = {1, 2, 3, 4, 5, 6, 7};

static struct vs_pkt packet(void)
{
	struct vs_pkt p;

	vs_pkt_init(&p, VS_ENCAP_ROCEV1, VS_OP_RC_SEND_ONLY, true);
	p.bth.destqp = 0x123456;
	p.bth.psn = 0xfffffe;
	p.payload = payload;
	p.payload_len = sizeof(payload);
	ck_assert_int_eq(vs_pkt_seal(&p, VS_SEAL_PAD, NULL, 0), VS_OK);
	return p;
}

/* A socket of the loopback, and "ADDRESS:PORT" of it; -1: there is no such family here. */
static int listener(int family, char *name, size_t cap)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	socklen_t len = family == AF_INET ? sizeof(v4) : sizeof(v6);
	struct sockaddr *a = family == AF_INET ? (struct sockaddr *)&v4 : (struct sockaddr *)&v6;
	int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	if (bind(fd, a, len) != 0 || getsockname(fd, a, &len) != 0) {
		close(fd);
		return -1;
	}
	(void)snprintf(name, cap, family == AF_INET ? "127.0.0.1:%u" : "[::1]:%u",
		       ntohs(family == AF_INET ? v4.sin_port : v6.sin6_port));
	return fd;
}

/* The datagram that came, with the IP and UDP headers put in front that it had; its length. */
static size_t received(int fd, int family, uint8_t *buf, size_t cap)
{
	struct sockaddr_storage from = {.ss_family = 0}, to = {.ss_family = 0};
	socklen_t len = sizeof(from), tolen = sizeof(to);
	size_t head = family == AF_INET ? 28 : 48, n;
	struct pollfd p = {.fd = fd, .events = POLLIN};
	uint8_t *udp = buf + head - 8;
	ssize_t got;

	ck_assert_int_eq(poll(&p, 1, WAIT_MS), 1);
	got = recvfrom(fd, buf + head, cap - head, 0, (struct sockaddr *)&from, &len);
	ck_assert_int_gt(got, 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&to, &tolen), 0);
	n = head + (size_t)got;
	memset(buf, 0, head);
	if (family == AF_INET) {
		const struct sockaddr_in *f = (const void *)&from, *t = (const void *)&to;

		buf[0] = 0x45;
		buf[2] = (uint8_t)(n >> 8);
		buf[3] = (uint8_t)n;
		buf[6] = 0x40; /* DF; ID 0 */
		buf[8] = 64;
		buf[9] = IPPROTO_UDP;
		memcpy(buf + 12, &f->sin_addr, 4);
		memcpy(buf + 16, &t->sin_addr, 4);
		memcpy(udp, &f->sin_port, 2);
		memcpy(udp + 2, &t->sin_port, 2);
	} else {
		const struct sockaddr_in6 *f = (const void *)&from, *t = (const void *)&to;

		buf[0] = 0x60;
		buf[4] = (uint8_t)((n - 40) >> 8);
		buf[5] = (uint8_t)(n - 40);
		buf[6] = IPPROTO_UDP;
		buf[7] = 64;
		memcpy(buf + 8, &f->sin6_addr, 16);
		memcpy(buf + 24, &t->sin6_addr, 16);
		memcpy(udp, &f->sin6_port, 2);
		memcpy(udp + 2, &t->sin6_port, 2);
	}
	udp[4] = (uint8_t)((n - (head - 8)) >> 8);
	udp[5] = (uint8_t)(n - (head - 8));
	return n;
}

/* Sends a packet to itself; false: there is no such family. */
static bool round_trip(int family, uint32_t icrc_error)
{
	struct vs_pkt p = packet(), q;
	struct vs_injector *inj;
	uint8_t buf[512];
	char name[64];
	int fd = listener(family, name, sizeof(name)), code = 1;
	uint32_t icrc;
	size_t n;

	if (fd < 0)
		return false;
	inj = vs_inject_udp_open(name, &code, &err);
	ck_assert_msg(inj != NULL, "%s", err.text);
	ck_assert_int_eq(code, 0);
	ck_assert(vs_inject_udp_is_loopback(name));
	ck_assert_int_eq(vs_inject_pkt(inj, &p, icrc_error, &err), 0);
	n = received(fd, family, buf, sizeof(buf));
	ck_assert_int_eq(vs_pkt_parse(&q, VS_LINK_IP, 0, buf, n, n, VS_PARSE_ANY_PORT), VS_OK);
	ck_assert_uint_eq(q.bth.destqp, 0x123456);
	ck_assert_uint_eq(q.bth.psn, 0xfffffe);
	ck_assert_uint_eq(q.bth.opcode, VS_OP_RC_SEND_ONLY);
	ck_assert_uint_eq(q.payload_len, sizeof(payload));
	ck_assert_mem_eq(q.payload, payload, sizeof(payload));
	ck_assert_int_eq(vs_icrc_check(&q, buf, &icrc), icrc_error == 0 ? VS_CRC_GOOD : VS_CRC_BAD);
	ck_assert_uint_eq(q.icrc ^ icrc, icrc_error);
	vs_inject_close(inj);
	close(fd);
	return true;
}

START_TEST(a_datagram_arrives_with_the_icrc_of_its_addresses)
{
	ck_assert(round_trip(AF_INET, 0));
	if (!round_trip(AF_INET6, 0))
		puts("skip a_datagram_arrives_with_the_icrc_of_its_addresses (IPv6): there is no ::1 here");
}
END_TEST

START_TEST(a_wrong_icrc_is_wrong_by_just_what_was_asked)
{
	ck_assert(round_trip(AF_INET, 0x80000001));
	ck_assert(round_trip(AF_INET, 1));
}
END_TEST

START_TEST(what_is_no_address_is_refused)
{
	static const char *const wrong[] = {
		"",
		"localhost",
		"127.0.0.1:",
		"127.0.0.1:0",
		"127.0.0.1:65536",
		"127.0.0.1:47x",
		"127.0.0.1:-1",
		"127.0.0.1: 1",
		"127.0.0",
		"256.0.0.1",
		"[::1",
		"[::1]4791",
		"[::1]:",
		"[::1]:99999",
		"[127.0.0.1",
		"::g",
		"1111111111111111111111111111111111111111111111111111111111111111111111111111111111"};

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		int code = 1;

		ck_assert_msg(vs_inject_udp_open(wrong[i], &code, &err) == NULL, "'%s' was accepted", wrong[i]);
		ck_assert_int_eq(code, VS_ERR_INVAL);
		ck_assert_msg(strstr(err.text, "is no address: write 127.0.0.1") != NULL, "%s", err.text);
	}
}
END_TEST

START_TEST(addresses_are_read_with_and_without_a_port)
{
	static const struct {
		const char *text;
		bool loopback;
	} good[] = {{"127.0.0.1", true},
		    {"127.0.0.1:4791", true},
		    {"127.1.2.3:1", true},
		    {"::1", true},
		    {"[::1]", true},
		    {"[::1]:65535", true},
		    {"[127.0.0.1]:1", true},
		    {"::ffff:127.0.0.1", true},
		    {"10.0.0.1", false},
		    {"fd00::1", false},
		    {"[::ffff:10.0.0.1]:1", false}};

	for (unsigned i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		int code = 1;
		struct vs_injector *inj = vs_inject_udp_open(good[i].text, &code, &err);

		ck_assert_msg(vs_inject_udp_is_loopback(good[i].text) == good[i].loopback, "%s", good[i].text);
		if (inj == NULL) { /* no route to it from here */
			ck_assert_msg(code == VS_ERR_IO, "%s: %s", good[i].text, err.text);
			ck_assert_msg(strstr(err.text, "ip route get") != NULL, "%s", err.text);
			printf("skip addresses_are_read_with_and_without_a_port (%s): no route to it\n", good[i].text);
			continue;
		}
		vs_inject_close(inj);
	}
}
END_TEST

START_TEST(a_packet_that_is_not_whole_is_not_sent)
{
	static const uint32_t flags[] = {VS_PKT_SNAPPED, VS_PKT_FRAGMENT};
	int code = 1, fd;
	struct vs_injector *inj;
	char name[64];

	fd = listener(AF_INET, name, sizeof(name));
	ck_assert_int_ge(fd, 0);
	inj = vs_inject_udp_open(name, &code, &err);
	ck_assert_ptr_nonnull(inj);
	for (unsigned i = 0; i < 3; i++) {
		struct vs_pkt p = packet();
		struct pollfd pfd = {.fd = fd, .events = POLLIN};

		if (i < 2)
			p.flags |= flags[i];
		else
			p.flags &= ~(uint32_t)VS_PKT_HAS_BTH;
		ck_assert_int_eq(vs_inject_pkt(inj, &p, 0, &err), VS_ERR_INVAL);
		ck_assert_msg(strstr(err.text, "a packet that is not whole can't be sent") != NULL, "%s", err.text);
		ck_assert_msg(strncmp(err.text, name, strlen(name)) == 0, "it names %s: %s", name, err.text);
		ck_assert_int_eq(poll(&pfd, 1, 0), 0);
	}
	vs_inject_close(inj);
	close(fd);
}
END_TEST

START_TEST(a_packet_that_is_too_long_for_ip_is_refused)
{
	static uint8_t much[70000];
	struct vs_pkt p = packet();
	struct vs_injector *inj;
	int code = 1;

	inj = vs_inject_udp_open("127.0.0.1:9", &code, &err);
	ck_assert_msg(inj != NULL, "%s", err.text);
	p.payload = much;
	p.payload_len = sizeof(much);
	ck_assert_int_eq(vs_inject_pkt(inj, &p, 0, &err), VS_ERR_INVAL);
	ck_assert_msg(strstr(err.text, "a packet can't be built: it is too long") != NULL, "%s", err.text);
	vs_inject_close(inj);
}
END_TEST

START_TEST(nobody_needs_to_listen)
{
	struct vs_pkt p = packet();
	struct vs_injector *inj;
	char name[64];
	int fd = listener(AF_INET, name, sizeof(name)), code = 1;

	ck_assert_int_ge(fd, 0);
	close(fd);
	inj = vs_inject_udp_open(name, &code, &err);
	ck_assert_ptr_nonnull(inj);
	for (unsigned i = 0; i < 10; i++) /* an ICMP error must not stop the next one */
		ck_assert_int_eq(vs_inject_pkt(inj, &p, 0, &err), 0);
	vs_inject_close(inj);
	vs_inject_close(NULL);
}
END_TEST

START_TEST(errors_may_be_of_no_interest)
{
	struct vs_pkt p = packet();
	struct vs_injector *inj;
	int code = 1;

	ck_assert_ptr_null(vs_inject_udp_open("nowhere", &code, NULL));
	ck_assert_ptr_null(vs_inject_link_open("vs-none0", &code, NULL));
	inj = vs_inject_udp_open("127.0.0.1:9", &code, NULL);
	ck_assert_ptr_nonnull(inj);
	p.flags |= VS_PKT_SNAPPED;
	ck_assert_int_eq(vs_inject_pkt(inj, &p, 0, NULL), VS_ERR_INVAL);
	vs_inject_close(inj);
}
END_TEST

/* ---- frames ---- */

START_TEST(an_interface_that_is_not_there_is_named)
{
	static const char *const names[] = {"vs-none0", "a-name-that-is-too-long", ""};

	for (unsigned i = 0; i < 3; i++) {
		int code = 1;

		ck_assert_ptr_null(vs_inject_link_open(names[i], &code, &err));
		ck_assert_int_eq(code, VS_ERR_IO);
		ck_assert_msg(strstr(err.text, "there is no such interface: 'ip link' lists them") != NULL, "%s",
			      err.text);
	}
}
END_TEST

/* lo: up or down, or its MTU. */
static bool lo_request(unsigned long request, int value)
{
	struct ifreq ifr = {.ifr_name = "lo"};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool ok;

	if (request == SIOCSIFMTU)
		ifr.ifr_mtu = value;
	else
		ifr.ifr_flags = (short)(value ? IFF_UP : 0);
	ok = fd >= 0 && ioctl(fd, request, &ifr) == 0;
	if (fd >= 0)
		close(fd);
	return ok;
}

/* A network of the test's own, where it may do everything; false, and says so, when there can be none. */
static bool own_network(const char *test)
{
	const char *fork_mode = getenv("CK_FORK");

	if (fork_mode != NULL && strcmp(fork_mode, "no") == 0) {
		printf("skip %s: the rest of the tests would be in its network (CK_FORK=no)\n", test);
		return false;
	}
	if (unshare(CLONE_NEWNET) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0)
		return true;
	printf("skip %s: no network namespace for this user (%s)\n", test, strerror(errno));
	return false;
}

/* Sees every frame on lo. */
static int sniffer(void)
{
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL));
	struct sockaddr_ll a = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL)};

	a.sll_ifindex = (int)if_nametoindex("lo");
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

START_TEST(a_frame_leaves_as_it_is)
{
	uint8_t frame[1514], got[2048];
	struct vs_injector *inj;
	struct pollfd p = {.events = POLLIN};
	int code = 1;

	if (!own_network("a_frame_leaves_as_it_is"))
		return;
	ck_assert(lo_request(SIOCSIFMTU, 1500) && lo_request(SIOCSIFFLAGS, 1));
	p.fd = sniffer();
	inj = vs_inject_link_open("lo", &code, &err);
	ck_assert_msg(inj != NULL, "%s", err.text);
	ck_assert_int_eq(code, 0);
	for (size_t len = 14; len <= sizeof(frame); len += 375) {
		for (size_t i = 0; i < len; i++)
			frame[i] = (uint8_t)(i * 7 + len);
		frame[12] = 0x89; /* RoCEv1: the network does not look at it */
		frame[13] = 0x15;
		ck_assert_msg(vs_inject_frame(inj, frame, len, &err) == 0, "%s", err.text);
		ck_assert_int_eq(poll(&p, 1, WAIT_MS), 1);
		ck_assert_int_eq(recv(p.fd, got, sizeof(got), 0), (int)len);
		ck_assert_mem_eq(got, frame, len);
		while (poll(&p, 1, 0) == 1) /* lo shows it again when it comes back */
			ck_assert_int_gt(recv(p.fd, got, sizeof(got), 0), 0);
	}
	vs_inject_close(inj);
	close(p.fd);
}
END_TEST

START_TEST(a_frame_has_fourteen_bytes_to_the_mtu_and_a_tag)
{
	static uint8_t frame[2000];
	static const size_t wrong[] = {0, 13, 1519, 2000};
	struct vs_injector *inj;
	int code = 1;

	if (!own_network("a_frame_has_fourteen_bytes_to_the_mtu_and_a_tag"))
		return;
	ck_assert(lo_request(SIOCSIFMTU, 1500) && lo_request(SIOCSIFFLAGS, 1));
	inj = vs_inject_link_open("lo", &code, &err);
	ck_assert_msg(inj != NULL, "%s", err.text);
	for (unsigned i = 0; i < 4; i++) {
		char want[80];

		(void)snprintf(want, sizeof(want), "a frame of %zu bytes can't be sent: the MTU is 1500", wrong[i]);
		ck_assert_int_eq(vs_inject_frame(inj, frame, wrong[i], &err), VS_ERR_INVAL);
		ck_assert_msg(strstr(err.text, want) != NULL, "%s", err.text);
	}
	vs_inject_close(inj);
}
END_TEST

START_TEST(an_interface_that_is_down_is_said_to_be_down)
{
	static uint8_t frame[64];
	struct vs_injector *inj;
	int code = 1;

	if (!own_network("an_interface_that_is_down_is_said_to_be_down"))
		return;
	ck_assert_ptr_null(vs_inject_link_open("lo", &code, &err)); /* as a new network begins */
	ck_assert_int_eq(code, VS_ERR_IO);
	ck_assert_msg(strstr(err.text, "the interface is down: 'ip link set lo up' first") != NULL, "%s", err.text);
	ck_assert(lo_request(SIOCSIFFLAGS, 1));
	inj = vs_inject_link_open("lo", &code, &err);
	ck_assert_msg(inj != NULL, "%s", err.text);
	ck_assert(lo_request(SIOCSIFFLAGS, 0)); /* while it is in use */
	ck_assert_int_eq(vs_inject_frame(inj, frame, sizeof(frame), &err), VS_ERR_IO);
	ck_assert_msg(strstr(err.text, "the interface went away or down") != NULL, "%s", err.text);
	vs_inject_close(inj);
}
END_TEST

/* An interface "vstun0" that is up, with Ethernet frames (IFF_TAP) or without; -1, and says so: there can be none. */
static int tunnel(const char *test, int mode)
{
	struct ifreq ifr = {.ifr_flags = (short)(mode | IFF_NO_PI), .ifr_name = "vstun0"};
	int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC), sock;

	if (fd < 0 || ioctl(fd, TUNSETIFF, &ifr) != 0) {
		printf("skip %s: no tun interface (%s)\n", test, strerror(errno));
		return -1;
	}
	sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ifr.ifr_flags = IFF_UP;
	ck_assert_int_eq(ioctl(sock, SIOCSIFFLAGS, &ifr), 0);
	close(sock);
	return fd;
}

START_TEST(a_tagged_frame_may_be_four_bytes_longer)
{
	uint8_t frame[1518] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x81, 0x00, 0x00, 0x05, 0x89, 0x15}, got[2048];
	struct pollfd p = {.events = POLLIN};
	struct vs_injector *inj;
	ssize_t n = 0;
	int code = 1;

	if (!own_network("a_tagged_frame_may_be_four_bytes_longer"))
		return;
	p.fd = tunnel("a_tagged_frame_may_be_four_bytes_longer", IFF_TAP);
	if (p.fd < 0)
		return;
	inj = vs_inject_link_open("vstun0", &code, &err);
	ck_assert_msg(inj != NULL, "%s", err.text);
	ck_assert_msg(vs_inject_frame(inj, frame, sizeof(frame), &err) == 0, "%s", err.text);
	while (n != (ssize_t)sizeof(frame) &&
	       poll(&p, 1, WAIT_MS) == 1) /* the kernel says something on a new interface */
		n = read(p.fd, got, sizeof(got));
	ck_assert_int_eq(n, sizeof(frame));
	ck_assert_mem_eq(got, frame, sizeof(frame));
	frame[12] = 0x89; /* no tag: the interface takes as much as its MTU says */
	ck_assert_int_eq(vs_inject_frame(inj, frame, sizeof(frame), &err), VS_ERR_INVAL);
	ck_assert_msg(strstr(err.text, "1518 bytes are more than the path takes") != NULL, "%s", err.text);
	vs_inject_close(inj);
	close(p.fd);
}
END_TEST

START_TEST(an_interface_without_ethernet_is_refused)
{
	int code = 1, fd;

	if (!own_network("an_interface_without_ethernet_is_refused"))
		return;
	fd = tunnel("an_interface_without_ethernet_is_refused", IFF_TUN);
	if (fd < 0)
		return;
	ck_assert_ptr_null(vs_inject_link_open("vstun0", &code, &err));
	ck_assert_int_eq(code, VS_ERR_IO);
	ck_assert_msg(strstr(err.text, "the interface has no Ethernet frames: choose one that has") != NULL, "%s",
		      err.text);
	close(fd);
}
END_TEST

START_TEST(without_the_privilege_it_says_what_to_do)
{
	const char *fork_mode = getenv("CK_FORK");
	int code = 1;

	if (geteuid() == 0 && (fork_mode == NULL || strcmp(fork_mode, "no") != 0) &&
	    setresuid(65534, 65534, 65534) != 0)
		printf("note: user 65534 can't be taken (%s)\n", strerror(errno));
	if (vs_inject_link_open("lo", &code, &err) != NULL || code == VS_ERR_IO) {
		printf("skip without_the_privilege_it_says_what_to_do: %s\n",
		       code == VS_ERR_IO ? err.text : "this user has the privilege");
		return;
	}
	ck_assert_int_eq(code, VS_ERR_PERM);
	ck_assert_msg(strstr(err.text, "frames can't be sent without CAP_NET_RAW: run it as root, or use udp:ADDR") !=
			      NULL,
		      "%s", err.text);
}
END_TEST

START_TEST(a_packet_that_the_path_does_not_take_is_refused)
{
	static uint8_t much[2000];
	struct vs_pkt p = packet();
	struct vs_injector *inj;
	int code = 1;

	if (!own_network("a_packet_that_the_path_does_not_take_is_refused"))
		return;
	ck_assert(lo_request(SIOCSIFMTU, 1500) && lo_request(SIOCSIFFLAGS, 1));
	inj = vs_inject_udp_open("127.0.0.1:9", &code, &err);
	ck_assert_msg(inj != NULL, "%s", err.text);
	p.payload = much;
	p.payload_len = sizeof(much);
	ck_assert_int_eq(vs_pkt_seal(&p, VS_SEAL_PAD, NULL, 0), VS_OK);
	ck_assert_int_eq(vs_inject_pkt(inj, &p, 0, &err), VS_ERR_INVAL);
	ck_assert_msg(strstr(err.text, "2016 bytes are more than the path takes") != NULL, "%s", err.text);
	vs_inject_close(inj);
}
END_TEST

/* What the ICRC of a datagram takes for granted: the kernel sends IPv4 ID 0 and DF from such a socket. */
START_TEST(the_kernel_sends_id_zero_and_df)
{
	struct vs_pkt pkt = packet();
	struct pollfd p = {.events = POLLIN};
	struct vs_injector *inj;
	uint8_t got[512];
	unsigned seen = 0;
	int code = 1;

	if (!own_network("the_kernel_sends_id_zero_and_df"))
		return;
	ck_assert(lo_request(SIOCSIFFLAGS, 1));
	p.fd = sniffer();
	inj = vs_inject_udp_open("127.0.0.1", &code, &err);
	ck_assert_msg(inj != NULL, "%s", err.text);
	for (unsigned i = 0; i < 3; i++)
		ck_assert_msg(vs_inject_pkt(inj, &pkt, 0, &err) == 0, "%s", err.text);
	while (seen < 3 && poll(&p, 1, WAIT_MS) == 1) {
		ssize_t n = recv(p.fd, got, sizeof(got), 0);
		struct vs_pkt q;

		ck_assert_int_gt(n, 42);
		if (got[12] != 0x08 || got[23] != IPPROTO_UDP)
			continue; /* ICMP: nobody listens */
		ck_assert_int_eq(vs_pkt_parse(&q, VS_LINK_ETHERNET, 0, got, (size_t)n, (size_t)n, 0), VS_OK);
		ck_assert_uint_eq(q.ipv4.id, 0);
		ck_assert_uint_eq(q.ipv4.frag, 0x4000);
		ck_assert_uint_ge(q.udp.sport, 1);
		ck_assert_int_eq(vs_icrc_check(&q, got, NULL), VS_CRC_GOOD);
		seen++;
	}
	ck_assert_uint_eq(seen, 3);
	vs_inject_close(inj);
	close(p.fd);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("inject");
	TCase *udp = tcase_create("datagrams"), *link = tcase_create("frames");

	tcase_set_timeout(udp, 30);
	tcase_add_test(udp, a_datagram_arrives_with_the_icrc_of_its_addresses);
	tcase_add_test(udp, a_wrong_icrc_is_wrong_by_just_what_was_asked);
	tcase_add_test(udp, what_is_no_address_is_refused);
	tcase_add_test(udp, addresses_are_read_with_and_without_a_port);
	tcase_add_test(udp, a_packet_that_is_not_whole_is_not_sent);
	tcase_add_test(udp, a_packet_that_is_too_long_for_ip_is_refused);
	tcase_add_test(udp, nobody_needs_to_listen);
	tcase_add_test(udp, errors_may_be_of_no_interest);
	suite_add_tcase(s, udp);
	tcase_set_timeout(link, 30);
	tcase_add_test(link, an_interface_that_is_not_there_is_named);
	tcase_add_test(link, a_frame_leaves_as_it_is);
	tcase_add_test(link, a_frame_has_fourteen_bytes_to_the_mtu_and_a_tag);
	tcase_add_test(link, an_interface_that_is_down_is_said_to_be_down);
	tcase_add_test(link, a_tagged_frame_may_be_four_bytes_longer);
	tcase_add_test(link, an_interface_without_ethernet_is_refused);
	tcase_add_test(link, without_the_privilege_it_says_what_to_do);
	tcase_add_test(link, a_packet_that_the_path_does_not_take_is_refused);
	tcase_add_test(link, the_kernel_sends_id_zero_and_df);
	suite_add_tcase(s, link);
	return s;
}
