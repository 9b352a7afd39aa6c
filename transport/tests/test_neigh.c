/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_neigh.c - ARP and neighbour discovery: frames against bytes that were written down from the RFCs, and what is no
 * question of ours, or damaged, is not answered. That a kernel understands them test_frameio.c shows.
 */
#include <string.h>

#include "runner.h"
#include "vs/neigh.h"

static const struct vs_neigh host = {
	.mac = {0x02, 0x76, 0x73, 0, 0, 2},
	.addr = {{[10] = 0xff, 0xff, 10, 9, 0, 2}, {0xfd, 0x09, [15] = 2}, {[10] = 0xff, 0xff, 10, 9, 0, 3}},
	.n_addrs = 3,
};
static const uint8_t other[16] = {[10] = 0xff, 0xff, 10, 9, 0, 1}, other6[16] = {0xfd, 0x09, [15] = 1};

/* Who has 10.9.0.2? Tell 10.9.0.1. */
static const uint8_t arp_question[42] = {
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2,  0, 0, 0, 0, 1, 0x08, 0x06,                   /* Ethernet */
	0,    1,    8,    0,    6,    4,    0,  1,                                           /* a question */
	2,    0,    0,    0,    0,    1,    10, 9, 0, 1, 0, 0, 0,    0,    0, 0, 10, 9, 0, 2 /* */
};
static const uint8_t arp_answer[42] = {2,    0,    0,    0, 0, 1, 0x02, 0x76, 0x73, 0, 0, 2, 0x08, 0x06, /* Ethernet */
				       0,    1,    8,    0, 6, 4, 0,    2,                               /* an answer */
				       0x02, 0x76, 0x73, 0, 0, 2, 10,   9,    0,    2, 2, 0, 0,    0,
				       0,    1,    10,   9, 0, 1};

/* Neighbour solicitation for fd09::2 from fd09::1; the checksum was worked out apart from the code. */
static const uint8_t nd_question[86] = {
	0x33, 0x33, 0xff, 0,    0, 2,  2,  0,   0, 0, 0, 1, 0x86, 0xdd,       /* Ethernet */
	0x60, 0,    0,    0,    0, 32, 58, 255,                               /* IPv6 */
	0xfd, 0x09, 0,    0,    0, 0,  0,  0,   0, 0, 0, 0, 0,    0,    0, 1, /* from */
	0xff, 0x02, 0,    0,    0, 0,  0,  0,   0, 0, 0, 1, 0xff, 0,    0, 2, /* to */
	135,  0,    0x7d, 0x85, 0, 0,  0,  0,                                 /* ICMPv6 */
	0xfd, 0x09, 0,    0,    0, 0,  0,  0,   0, 0, 0, 0, 0,    0,    0, 2, /* about */
	1,    1,    2,    0,    0, 0,  0,  1};

static uint8_t out[VS_NEIGH_FRAME];

START_TEST(an_arp_question_is_answered)
{
	ck_assert_uint_eq(vs_neigh_answer(&host, arp_question, sizeof(arp_question), out), 60);
	ck_assert_mem_eq(out, arp_answer, sizeof(arp_answer));
	for (unsigned i = sizeof(arp_answer); i < 60; i++)
		ck_assert_uint_eq(out[i], 0);
}
END_TEST

START_TEST(a_solicitation_is_answered)
{
	uint8_t mac[6], gid[16];

	ck_assert_uint_eq(vs_neigh_answer(&host, nd_question, sizeof(nd_question), out), 86);
	ck_assert_mem_eq(out, nd_question + 6, 6); /* to who asked */
	ck_assert_mem_eq(out + 6, host.mac, 6);
	ck_assert_mem_eq(out + 22, host.addr[1], 16);
	ck_assert_mem_eq(out + 38, other6, 16);
	ck_assert_uint_eq(out[54], 136);
	ck_assert_uint_eq(out[58], 0x60);             /* solicited, override */
	ck_assert(vs_neigh_tells(out, 86, gid, mac)); /* its checksum is right, too */
	ck_assert_mem_eq(gid, host.addr[1], 16);
	ck_assert_mem_eq(mac, host.mac, 6);
}
END_TEST

START_TEST(who_wants_the_address_for_himself_hears_that_it_is_taken)
{
	uint8_t probe[86];

	memcpy(probe, nd_question, sizeof(probe));
	memset(probe + 22, 0, 16);
	memset(probe + 78, 0, 8); /* RFC 4861: no option from an unspecified address */
	probe[19] = 24;
	probe[56] = 0x7d;
	probe[57] = 0x9a;
	ck_assert_uint_eq(vs_neigh_answer(&host, probe, 78, out), 86);
	ck_assert_mem_eq(out, ((const uint8_t[]){0x33, 0x33, 0, 0, 0, 1}), 6);
	ck_assert_uint_eq(out[58], 0x20); /* nobody asked */
}
END_TEST

START_TEST(questions_of_ours_are_answered_by_ourselves)
{
	struct vs_neigh there = {.mac = {2, 0, 0, 0, 0, 1}, .n_addrs = 2};
	uint8_t mac[6], gid[16], answer[VS_NEIGH_FRAME];

	memcpy(there.addr[0], other, 16);
	memcpy(there.addr[1], other6, 16);
	for (unsigned vlan = 0; vlan < 2; vlan++) {
		struct vs_neigh here = host;

		here.vlan = vlan != 0 ? 5 : 0;
		for (unsigned i = 0; i < 2; i++) {
			size_t n = vs_neigh_ask(&here, there.addr[i], out);

			ck_assert_uint_gt(n, 0);
			ck_assert_uint_eq(out[12] == 0x81 && out[15] == 5, vlan);
			ck_assert(vs_neigh_tells(out, n, gid, mac)); /* a question tells where who asks is */
			ck_assert_mem_eq(gid, host.addr[i], 16);
			ck_assert_mem_eq(mac, host.mac, 6);
			n = vs_neigh_answer(&there, out, n, answer);
			ck_assert_uint_gt(n, 0);
			ck_assert(vs_neigh_tells(answer, n, gid, mac));
			ck_assert_mem_eq(gid, there.addr[i], 16);
			ck_assert_mem_eq(mac, there.mac, 6);
			ck_assert_uint_eq(vs_neigh_answer(&here, answer, n, out), 0); /* an answer is no question */
		}
	}
}
END_TEST

START_TEST(other_addresses_are_not_ours)
{
	uint8_t q[86];

	memcpy(q, arp_question, sizeof(arp_question));
	q[41] = 9;
	ck_assert_uint_eq(vs_neigh_answer(&host, q, 42, out), 0);
	q[41] = 3; /* the third address */
	ck_assert_uint_eq(vs_neigh_answer(&host, q, 42, out), 60);
	ck_assert_uint_eq(out[31], 3);
	ck_assert_uint_eq(vs_neigh_ask(&(struct vs_neigh){.n_addrs = 0}, other, out), 0);
}
END_TEST

/* Every bit behind the flow label matters. */
START_TEST(damage_is_not_answered)
{
	uint8_t q[86];

	for (unsigned bit = 18 * 8; bit < sizeof(q) * 8; bit++) {
		memcpy(q, nd_question, sizeof(q));
		q[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
		ck_assert_msg(vs_neigh_answer(&host, q, sizeof(q), out) == 0, "bit %u", bit);
	}
	q[21] = 254; /* it came over a router */
	ck_assert_uint_eq(vs_neigh_answer(&host, q, sizeof(q), out), 0);
}
END_TEST

START_TEST(whatever_is_cut_is_read_no_further)
{
	uint8_t mac[6], gid[16];
	uint64_t seed = 7;

	for (size_t n = 0; n < sizeof(nd_question); n++)
		ck_assert_uint_eq(vs_neigh_answer(&host, nd_question, n, out), 0);
	for (size_t n = 0; n < sizeof(arp_question); n++)
		ck_assert_uint_eq(vs_neigh_answer(&host, arp_question, n, out), 0);
	for (unsigned i = 0; i < 20000; i++) { /* for the sanitizers */
		uint8_t frame[96];
		size_t n = vs_rand(&seed) % sizeof(frame);

		for (size_t k = 0; k < sizeof(frame); k++)
			frame[k] = (uint8_t)vs_rand(&seed);
		memcpy(frame, i % 2 != 0 ? nd_question : arp_question, i % 42 < n ? i % 42 : n);
		(void)vs_neigh_answer(&host, frame, n, out);
		(void)vs_neigh_tells(frame, n, gid, mac);
	}
}
END_TEST

START_TEST(groups_have_the_macs_of_the_rfcs)
{
	static const struct {
		uint8_t gid[16], mac[6];
	} rows[] = {
		{{[10] = 0xff, 0xff, 239, 0x81, 2, 3}, {1, 0, 0x5e, 1, 2, 3}},
		{{[10] = 0xff, 0xff, 224, 0, 0, 1}, {1, 0, 0x5e, 0, 0, 1}},
		{{0xff, 0x0e, [12] = 1, 2, 3, 4}, {0x33, 0x33, 1, 2, 3, 4}},
	};
	uint8_t mac[6];

	for (unsigned i = 0; i < 3; i++) {
		ck_assert(vs_neigh_group(rows[i].gid, mac));
		ck_assert_mem_eq(mac, rows[i].mac, 6);
	}
	ck_assert(!vs_neigh_group(other, mac));
	ck_assert(!vs_neigh_group(other6, mac));
	ck_assert(!vs_neigh_group((const uint8_t[16]){[10] = 0xff, 0xff, 240, 0, 0, 1}, mac));
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("neigh");
	TCase *t = tcase_create("frames");

	tcase_add_test(t, an_arp_question_is_answered);
	tcase_add_test(t, a_solicitation_is_answered);
	tcase_add_test(t, who_wants_the_address_for_himself_hears_that_it_is_taken);
	tcase_add_test(t, questions_of_ours_are_answered_by_ourselves);
	tcase_add_test(t, other_addresses_are_not_ours);
	tcase_add_test(t, damage_is_not_answered);
	tcase_add_test(t, whatever_is_cut_is_read_no_further);
	tcase_add_test(t, groups_have_the_macs_of_the_rfcs);
	suite_add_tcase(s, t);
	return s;
}
