/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_udpio.c - RoCEv2 over UDP sockets, between two addresses of the loopback interface: what arrives is what was
 * sent, the ICRC is right for what the kernel wrote, and nothing is lost while nobody reads.
 */
#include <arpa/inet.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runner.h"
#include "vs/icrc.h"
#include "vs/udpio.h"

#define SPORT 0xc123

static struct vs_udpio *a, *b;
static uint8_t gid_a[16], gid_b[16];

/* ---- two ends ---- */

/* Addresses that no other test that runs now is likely to have. */
static void choose(uint8_t gid[16], unsigned n)
{
	memset(gid, 0, 16);
	gid[10] = gid[11] = 0xff;
	gid[12] = 127;
	gid[13] = (uint8_t)(0x80 | getpid() >> 8);
	gid[14] = (uint8_t)getpid();
	gid[15] = (uint8_t)n;
}

static struct vs_udpio *open_end(const uint8_t gid[16], bool no_gso, uint32_t rcvbuf)
{
	struct vs_udpio_attr attr = {.n_addrs = 1, .no_gso = no_gso, .rcvbuf = rcvbuf};
	struct vs_io_error err;
	struct vs_udpio *u;
	int code;

	memcpy(attr.addr[0], gid, 16);
	u = vs_udpio_open(&attr, &code, &err);
	ck_assert_msg(u != NULL, "%s", err.text);
	return u;
}

static void set_up_with(bool no_gso, uint32_t rcvbuf)
{
	choose(gid_a, 1);
	choose(gid_b, 2);
	a = open_end(gid_a, no_gso, rcvbuf);
	b = open_end(gid_b, no_gso, rcvbuf);
}

static void set_up(bool no_gso)
{
	set_up_with(no_gso, 0);
}

static void tear_down(void)
{
	vs_udpio_close(a);
	vs_udpio_close(b);
}

/* A SEND of `len` bytes from a to b, as an engine makes it. */
static size_t make_packet(uint8_t *buf, uint32_t psn, uint32_t len)
{
	uint8_t payload[4096];
	struct vs_pkt p;
	int n;

	memset(payload, (int)psn, sizeof(payload));
	vs_pkt_init(&p, VS_ENCAP_ROCEV2_IPV4, VS_OP_RC_SEND_ONLY, false);
	memcpy(p.ipv4.src, gid_a + 12, 4);
	memcpy(p.ipv4.dst, gid_b + 12, 4);
	p.udp.sport = SPORT;
	p.bth.psn = psn;
	p.payload = payload;
	p.payload_len = len;
	ck_assert_int_eq(vs_pkt_seal(&p, VS_SEAL_ALL, buf, VS_UDPIO_FRAME), VS_OK);
	n = vs_pkt_build(&p, buf, VS_UDPIO_FRAME);
	ck_assert_int_gt(n, 0);
	return (size_t)n;
}

static void send_packet(uint32_t psn, uint32_t len)
{
	uint8_t *slot = vs_udpio_slot(a);

	ck_assert_ptr_nonnull(slot);
	vs_udpio_commit(a, 0, make_packet(slot, psn, len));
}

/* ---- what arrived ---- */

struct inbox {
	unsigned n, good;
	uint16_t id[256];
	uint32_t psn[256];
	uint8_t last[VS_UDPIO_FRAME];
	size_t last_len;
};

static void take(void *ctx, const uint8_t *ip, size_t len, bool icrc_good)
{
	struct inbox *in = ctx;
	struct vs_pkt p;

	ck_assert_int_eq(vs_pkt_parse(&p, VS_LINK_IP, 0, ip, len, len, 0), VS_OK);
	/* The claim and the packet agree: with the ID that was found, the ICRC checks. */
	ck_assert_int_eq(vs_icrc_check(&p, ip, NULL) == VS_CRC_GOOD, icrc_good);
	if (in->n < 256) {
		in->id[in->n] = p.ipv4.id;
		in->psn[in->n] = p.bth.psn;
	}
	in->n++;
	in->good += icrc_good;
	if (len <= sizeof(in->last)) {
		memcpy(in->last, ip, len);
		in->last_len = len;
	}
}

static void receive(struct inbox *in, unsigned wanted)
{
	for (unsigned tries = 0; in->n < wanted && tries < 1000; tries++)
		if (vs_udpio_receive(b, 1000, take, in) == 0)
			usleep(1000);
}

/* ---- claims ---- */

START_TEST(a_packet_arrives_as_it_was_sent)
{
	uint8_t sent[VS_UDPIO_FRAME];
	struct inbox in = {0};
	size_t len;

	set_up(_i == 1);
	len = make_packet(sent, 7, 333);
	send_packet(7, 333);
	vs_udpio_flush(a);
	receive(&in, 1);
	ck_assert_uint_eq(in.n, 1);
	ck_assert_uint_eq(in.good, 1);
	ck_assert_uint_eq(in.last_len, len);
	ck_assert_mem_eq(in.last, sent, len);
	tear_down();
}
END_TEST

START_TEST(equal_packets_leave_in_one_send_and_all_icrcs_fit)
{
	struct inbox in = {0};

	set_up(false);
	for (uint32_t i = 0; i < 10; i++)
		send_packet(i, 1024);
	send_packet(10, 100); /* a shorter one ends the send */
	send_packet(11, 1024);
	vs_udpio_flush(a);
	receive(&in, 12);
	ck_assert_uint_eq(in.n, 12);
	ck_assert_uint_eq(in.good, 12);
	for (uint32_t i = 0; i < 12; i++)
		ck_assert_uint_eq(in.psn[i], i);
	ck_assert_uint_eq(vs_udpio_stats(a)->sent, 12);
	ck_assert_uint_le(vs_udpio_stats(a)->send_calls, 2);
	ck_assert_uint_eq(in.id[0], 0);
	ck_assert_uint_eq(in.id[10], 10);
	ck_assert_uint_eq(in.id[11], 0);
	tear_down();
}
END_TEST

START_TEST(without_offload_every_packet_has_id_0)
{
	struct inbox in = {0};

	set_up(true);
	for (uint32_t i = 0; i < 100; i++)
		send_packet(i, 512);
	vs_udpio_flush(a);
	receive(&in, 100);
	ck_assert_uint_eq(in.good, 100);
	for (uint32_t i = 0; i < 100; i++) {
		ck_assert_uint_eq(in.id[i], 0);
		ck_assert_uint_eq(in.psn[i], i);
	}
	tear_down();
}
END_TEST

/* A packet as another sender would send it, from a socket of our own: the ICRC stands for `id`, XORed with `error`. */
static void send_foreign(uint16_t sport, uint16_t id, uint32_t error)
{
	struct sockaddr_in from = {.sin_family = AF_INET, .sin_port = htons(sport)}, to = {.sin_family = AF_INET};
	uint8_t buf[VS_UDPIO_FRAME], payload[64] = {1, 2, 3};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), n;
	struct vs_pkt p;

	vs_pkt_init(&p, VS_ENCAP_ROCEV2_IPV4, VS_OP_RC_SEND_ONLY, false);
	memcpy(p.ipv4.src, gid_a + 12, 4);
	memcpy(p.ipv4.dst, gid_b + 12, 4);
	p.ipv4.id = id;
	p.udp.sport = sport;
	p.payload = payload;
	p.payload_len = sizeof(payload);
	ck_assert_int_eq(vs_pkt_seal(&p, VS_SEAL_ALL, buf, sizeof(buf)), VS_OK);
	p.icrc ^= error;
	n = vs_pkt_build(&p, buf, sizeof(buf));
	memcpy(&from.sin_addr, gid_a + 12, 4);
	memcpy(&to.sin_addr, gid_b + 12, 4);
	to.sin_port = htons(VS_UDP_PORT_ROCE);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&from, sizeof(from)), 0);
	ck_assert_int_eq(sendto(fd, buf + 28, (size_t)n - 28, 0, (struct sockaddr *)&to, sizeof(to)), n - 28);
	close(fd);
}

START_TEST(the_ip_id_of_a_foreign_sender_is_solved)
{
	struct inbox in = {0};

	set_up(false);
	send_foreign(50001, 0x718c, 0);
	send_foreign(50001, 0x718d, 0);
	send_foreign(50001, 0, 0);
	receive(&in, 3);
	ck_assert_uint_eq(in.good, 3);
	ck_assert_uint_eq(in.id[0], 0x718c);
	ck_assert_uint_eq(in.id[1], 0x718d);
	ck_assert_uint_eq(in.id[2], 0);
	ck_assert_uint_eq(vs_udpio_stats(b)->foreign, 2);
	tear_down();
}
END_TEST

/* ::1 is one address for all: another process may have it for a while. */
static struct vs_udpio *open_ipv6(void)
{
	struct vs_udpio_attr attr = {.n_addrs = 1, .addr = {{[15] = 1}}};
	struct vs_io_error err;
	struct vs_udpio *u = NULL;
	int code = VS_ERR_BUSY;

	for (unsigned i = 0; u == NULL && code == VS_ERR_BUSY && i < 200; i++) {
		u = vs_udpio_open(&attr, &code, &err);
		if (u == NULL)
			usleep(50000);
	}
	ck_assert_msg(u != NULL, "%s", err.text);
	return u;
}

/* As Linux rxe sends: RoCEv2 has no UDP checksum, over IPv6 neither. */
START_TEST(a_packet_over_ipv6_needs_no_udp_checksum)
{
	struct sockaddr_in6 to = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT}, from = to;
	uint8_t buf[VS_UDPIO_FRAME], payload[64] = {1, 2, 3};
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0), on = 1, n;
	struct inbox in = {0};
	struct vs_pkt p;

	b = open_ipv6();
	vs_pkt_init(&p, VS_ENCAP_ROCEV2_IPV6, VS_OP_RC_SEND_ONLY, false);
	p.grh.sgid[15] = p.grh.dgid[15] = 1;
	p.udp.sport = 50005;
	p.payload = payload;
	p.payload_len = sizeof(payload);
	ck_assert_int_eq(vs_pkt_seal(&p, VS_SEAL_ALL, buf, sizeof(buf)), VS_OK);
	n = vs_pkt_build(&p, buf, sizeof(buf));
	from.sin6_port = htons(50005);
	to.sin6_port = htons(VS_UDP_PORT_ROCE);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&from, sizeof(from)), 0);
	ck_assert_int_eq(setsockopt(fd, IPPROTO_UDP, UDP_NO_CHECK6_TX, &on, sizeof(on)), 0);
	ck_assert_int_eq(sendto(fd, buf + 48, (size_t)n - 48, 0, (struct sockaddr *)&to, sizeof(to)), n - 48);
	receive(&in, 1);
	ck_assert_uint_eq(in.good, 1);
	close(fd);
	vs_udpio_close(b);
}
END_TEST

START_TEST(damage_is_found_whoever_sent_it)
{
	struct inbox in = {0};

	set_up(false);
	send_foreign(50002, 0x1234, 0);
	send_foreign(50002, 0x1234, 0x00010000);
	send_foreign(50003, 0, 0x80000000);
	receive(&in, 3);
	ck_assert_uint_eq(in.n, 3);
	ck_assert_uint_eq(in.good, 1);
	tear_down();
}
END_TEST

START_TEST(who_has_sent_with_our_ids_is_held_to_them)
{
	struct inbox in = {0};

	set_up(false);
	send_foreign(50004, 0, 0);
	send_foreign(50004, 0x4321, 0);
	send_foreign(50004, 5, 0);
	receive(&in, 3);
	ck_assert_uint_eq(in.n, 3);
	ck_assert_uint_eq(in.good, 2);
	tear_down();
}
END_TEST

/*
 * Many times what the receiver can hold, be it the default of most systems; it reads only when the sender is told to
 * wait, and then only a little.
 */
START_TEST(a_full_receiver_stops_the_sender_and_nothing_is_lost)
{
	const uint32_t size = _i / 2 % 2 == 0 ? 4096 : 8;
	static struct inbox in;
	unsigned sent = 0, waits = 0;
	uint64_t now = 1;

	memset(&in, 0, sizeof(in));
	set_up_with(_i % 2 == 1, _i < 4 ? 0 : 212992);
	while (sent < 20 * 2048) {
		now += 1000;
		if (!vs_udpio_ready(a, now)) {
			waits++;
			now += 20000;
			(void)vs_udpio_receive(b, 64, take, &in);
			continue;
		}
		if (vs_udpio_slot(a) == NULL)
			vs_udpio_flush(a);
		send_packet(sent++ & 0xffffff, size);
	}
	vs_udpio_flush(a);
	receive(&in, sent);
	ck_assert_uint_eq(vs_udpio_stats(a)->refused, 0);
	ck_assert_uint_eq(in.n, sent);
	if (size == 4096) {
		ck_assert_uint_gt(waits, 0);
		ck_assert_uint_gt(vs_udpio_stats(a)->stalls, 0);
	}
	tear_down();
}
END_TEST

START_TEST(who_never_reads_is_not_waited_for_for_ever)
{
	uint64_t now = 1;
	unsigned waits = 0;

	set_up(false);
	while (vs_udpio_ready(a, now) && now < 100000) {
		for (unsigned i = 0; i < 16; i++)
			send_packet(i, 4096);
		vs_udpio_flush(a);
		now++;
	}
	ck_assert(!vs_udpio_ready(a, now));
	while (!vs_udpio_ready(a, now) && waits < 100000) {
		now += 25000;
		waits++;
	}
	ck_assert_uint_lt(waits, 1000);
	tear_down();
}
END_TEST

/* As send_packet, to another end. */
static void send_to(const uint8_t gid[16], uint32_t psn, uint32_t len)
{
	uint8_t before[16];

	memcpy(before, gid_b, 16);
	memcpy(gid_b, gid, 16);
	send_packet(psn, len);
	vs_udpio_flush(a);
	memcpy(gid_b, before, 16);
}

/* b never reads. c does, and gets everything while b is full: nobody waits for anybody but the own receiver. */
START_TEST(a_full_receiver_does_not_hold_up_others)
{
	uint8_t gid_c[16];
	struct vs_udpio *c;
	struct inbox in = {0};
	unsigned to_b = 0, to_c = 0;
	uint64_t now = 1;

	set_up(_i == 1);
	choose(gid_c, 3);
	c = open_end(gid_c, _i == 1, 0);
	while (to_b < 100000 && (vs_udpio_look(a, now) || vs_udpio_has_room(a, gid_b)))
		send_to(gid_b, to_b++, 4096);
	ck_assert(!vs_udpio_has_room(a, gid_b));
	/* A burst fills c's budget, too: it is asked, has room, and goes on. For 10 ms at most: b is still waited for.
	 */
	for (now += 1000; to_c < 5000; now += 2000) {
		(void)vs_udpio_look(a, now);
		ck_assert(!vs_udpio_has_room(a, gid_b));
		for (unsigned i = 0; i < 8 && vs_udpio_has_room(a, gid_c); i++)
			send_to(gid_c, to_c++, 4096);
		(void)vs_udpio_receive(c, 64, take, &in);
	}
	while (vs_udpio_receive(c, 64, take, &in) > 0)
		;
	ck_assert_uint_eq(in.n, to_c);
	ck_assert_uint_eq(in.good, to_c);
	/* After a while b gets a little, and after that nothing again. */
	now += 25000000;
	ck_assert(vs_udpio_look(a, now));
	ck_assert(vs_udpio_has_room(a, gid_b));
	for (to_b = 0; to_b < 1000 && (vs_udpio_look(a, now) || vs_udpio_has_room(a, gid_b)); to_b++)
		send_to(gid_b, to_b, 4096);
	ck_assert_uint_gt(to_b, 0);
	ck_assert_uint_lt(to_b, 1000);
	vs_udpio_close(c);
	tear_down();
}
END_TEST

/* A datagram from a to everybody in the group, as make_packet makes one to b. */
static void send_to_group(const uint8_t group[16])
{
	uint8_t before[16], *slot = vs_udpio_slot(a);

	memcpy(before, gid_b, 16);
	memcpy(gid_b, group, 16);
	vs_udpio_commit(a, 0, make_packet(slot, 1, 64));
	vs_udpio_flush(a);
	memcpy(gid_b, before, 16);
}

static unsigned arrives_at(struct vs_udpio *u)
{
	struct inbox in = {0};

	for (unsigned tries = 0; tries < 50 && in.n == 0; tries++) {
		(void)vs_udpio_receive(u, 100, take, &in);
		usleep(1000);
	}
	(void)vs_udpio_receive(u, 100, take, &in); /* nor twice */
	ck_assert_uint_eq(in.good, in.n);
	return in.n;
}

START_TEST(multicast_reaches_every_member_but_the_sender_once)
{
	uint8_t group[16], gid_c[16];
	struct vs_udpio *c;

	set_up(_i == 1);
	choose(gid_c, 3);
	c = open_end(gid_c, false, 0);
	choose(group, 9);
	group[12] = 239;
	ck_assert_int_eq(vs_udpio_join(a, group), VS_OK);
	ck_assert_int_eq(vs_udpio_join(b, group), VS_OK);
	ck_assert_int_eq(vs_udpio_join(b, group), VS_OK);
	ck_assert_int_eq(vs_udpio_join(b, gid_b), VS_ERR_INVAL);
	send_to_group(group);
	ck_assert_uint_eq(arrives_at(b), 1);
	ck_assert_uint_eq(arrives_at(a), 0);
	ck_assert_uint_eq(arrives_at(c), 0);
	vs_udpio_leave(b, group);
	ck_assert_int_eq(vs_udpio_join(c, group), VS_OK);
	send_to_group(group);
	ck_assert_uint_eq(arrives_at(b), 1);
	ck_assert_uint_eq(arrives_at(c), 1);
	vs_udpio_leave(b, group);
	send_to_group(group);
	ck_assert_uint_eq(arrives_at(b), 0);
	ck_assert_uint_eq(arrives_at(c), 1);
	vs_udpio_close(c);
	tear_down();
}
END_TEST

START_TEST(an_address_that_is_taken_or_not_local_says_so)
{
	struct vs_udpio_attr attr = {.n_addrs = 1};
	struct vs_io_error err;
	int code = 0;

	set_up(false);
	memcpy(attr.addr[0], gid_a, 16);
	ck_assert_ptr_null(vs_udpio_open(&attr, &code, &err));
	ck_assert_int_eq(code, VS_ERR_BUSY);
	ck_assert_ptr_nonnull(strstr(err.text, "has th")); /* another process, or rdma_rxe */
	attr.addr[0][12] = 192;                            /* TEST-NET-1 */
	attr.addr[0][13] = 0;
	attr.addr[0][14] = 2;
	ck_assert_ptr_null(vs_udpio_open(&attr, &code, &err));
	ck_assert_int_eq(code, VS_ERR_INVAL);
	ck_assert_ptr_nonnull(strstr(err.text, "no address of this host"));
	tear_down();
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("udpio");
	TCase *t = tcase_create("wire");

	tcase_add_loop_test(t, a_packet_arrives_as_it_was_sent, 0, 2);
	tcase_add_test(t, equal_packets_leave_in_one_send_and_all_icrcs_fit);
	tcase_add_test(t, without_offload_every_packet_has_id_0);
	tcase_add_test(t, the_ip_id_of_a_foreign_sender_is_solved);
	tcase_add_test(t, a_packet_over_ipv6_needs_no_udp_checksum);
	tcase_add_test(t, damage_is_found_whoever_sent_it);
	tcase_add_test(t, who_has_sent_with_our_ids_is_held_to_them);
	tcase_add_loop_test(t, a_full_receiver_stops_the_sender_and_nothing_is_lost, 0, 8);
	tcase_add_test(t, who_never_reads_is_not_waited_for_for_ever);
	tcase_add_loop_test(t, a_full_receiver_does_not_hold_up_others, 0, 2);
	tcase_add_loop_test(t, multicast_reaches_every_member_but_the_sender_once, 0, 2);
	tcase_add_test(t, an_address_that_is_taken_or_not_local_says_so);
	tcase_set_timeout(t, 30);
	suite_add_tcase(s, t);
	return s;
}
