/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_offload.c - several packets in one datagram: found, counted, taken apart and verified.
 */
#include "pktgen.h"
#include "vs/icrc.h"
#include "vs/offload.h"
#include "vs/psn.h"

#define PACKETS 4u
#define PAYLOAD 256u

struct super {
	enum vs_encap encap;
	size_t hdr_len;         /* up to the first BTH */
	uint32_t size[PACKETS]; /* of each packet, ICRC included */
	size_t len;
	uint8_t b[PACKETS * VS_GEN_MAX];
};

/*
 * PACKETS packets of one message as a sender hands them to the stack: each with the ICRC of the datagram it becomes,
 * one IP and UDP header with the lengths of the whole in front. The last one is shorter. `step`: how the ID counts.
 */
static void make_super(struct super *s, enum vs_encap encap, uint16_t step)
{
	static struct vs_gen g;
	static uint8_t buf[VS_GEN_MAX];
	uint32_t psn = 0xfffffe;

	memset(s, 0, sizeof(*s));
	s->encap = encap;
	s->hdr_len = encap == VS_ENCAP_ROCEV2_IPV4 ? 28 : 48;
	s->len = s->hdr_len;
	for (uint32_t k = 0; k < PACKETS; k++) {
		uint64_t seed = 0x650;
		size_t n;

		vs_gen_legal(&g, &seed, encap, VS_OP_RC_WRITE_MIDDLE, false);
		g.p.payload_len = k + 1 < PACKETS ? PAYLOAD : PAYLOAD / 2;
		g.p.bth.psn = vs_psn_add(psn, (int32_t)k);
		g.p.ipv4.id = (uint16_t)(0x1000 + k * step);
		ck_assert_int_eq(vs_pkt_seal(&g.p, VS_SEAL_ALL, buf, sizeof(buf)), VS_OK);
		n = (size_t)vs_pkt_build(&g.p, buf, sizeof(buf));
		if (k == 0)
			memcpy(s->b, buf, s->hdr_len);
		s->size[k] = (uint32_t)(n - s->hdr_len);
		memcpy(s->b + s->len, buf + s->hdr_len, s->size[k]);
		s->len += s->size[k];
	}
	/* The lengths of the whole. */
	{
		const size_t ip_len = s->len - (encap == VS_ENCAP_ROCEV2_IPV4 ? 0 : 40);
		uint8_t *field = s->b + (encap == VS_ENCAP_ROCEV2_IPV4 ? 2 : 4), *udp = s->b + s->hdr_len - 4;
		const size_t udp_len = s->len - s->hdr_len + 8;

		field[0] = (uint8_t)(ip_len >> 8);
		field[1] = (uint8_t)ip_len;
		udp[0] = (uint8_t)(udp_len >> 8);
		udp[1] = (uint8_t)udp_len;
	}
}

static void parse_super(const struct super *s, size_t caplen, struct vs_pkt *p, struct vs_offload *o)
{
	ck_assert_int_eq(vs_pkt_parse(p, VS_LINK_IP, 0, s->b, caplen, s->len, 0), VS_OK);
	ck_assert(vs_icrc_check(p, s->b, NULL) != VS_CRC_GOOD);
	ck_assert(vs_offload_of(p, s->b, caplen, s->len, o));
}

static const enum vs_encap encaps[] = {VS_ENCAP_ROCEV2_IPV4, VS_ENCAP_ROCEV2_IPV6};

START_TEST(packets_of_a_super_packet_are_found_and_verify)
{
	for (unsigned i = 0; i < 4; i++) {
		struct vs_pkt whole, seg;
		struct vs_offload o;
		struct super s;
		uint32_t len, off = 0, k = 0, expected = 0;

		make_super(&s, encaps[i / 2], i % 2); /* the ID counts, or stays */
		parse_super(&s, s.len, &whole, &o);
		ck_assert(!vs_offload_lengths_zero(&o));
		len = vs_offload_first(&o);
		ck_assert_uint_eq(len, s.size[0]);
		ck_assert_uint_eq(vs_offload_count(&o, len), PACKETS);
		for (; off < o.caplen; off += len, k++) {
			len = vs_offload_next(&o, off, len);
			ck_assert_int_eq(vs_offload_packet(&o, &whole, k, off, len, 0, &seg), VS_OK);
			ck_assert_uint_eq(seg.end_off, s.size[k]);
			ck_assert_uint_eq(seg.bth.psn, vs_psn_add(0xfffffe, (int32_t)k));
			ck_assert_int_eq(seg.encap, s.encap);
			ck_assert_uint_eq(seg.udp.len, 8 + s.size[k]);
			ck_assert_uint_eq(s.encap == VS_ENCAP_ROCEV2_IPV4 ? seg.ipv4.total_len : seg.grh.paylen,
					  s.hdr_len + s.size[k] - (s.encap == VS_ENCAP_ROCEV2_IPV4 ? 0 : 40));
			ck_assert_int_eq(vs_offload_icrc(&o, k, off, seg.end_off, seg.icrc, &expected), VS_CRC_GOOD);
			ck_assert_uint_eq(expected, seg.icrc);
			ck_assert_int_eq(vs_offload_icrc(&o, k, off, seg.end_off, seg.icrc ^ 1, &expected), VS_CRC_BAD);
			if (i % 2 == 1 || s.encap == VS_ENCAP_ROCEV2_IPV6) /* which ID was meant is not to be known */
				ck_assert_uint_eq(expected, seg.icrc);
		}
		ck_assert_uint_eq(k, PACKETS);
		ck_assert_uint_eq(off, s.len - s.hdr_len + (s.size[0] - s.size[PACKETS - 1]));
	}
}
END_TEST

/* Nothing says that a second packet begins anywhere: neither flow nor PSN. */
START_TEST(one_packet_with_a_bad_crc_is_one_packet)
{
	struct vs_pkt whole;
	struct vs_offload o;
	struct super s;

	make_super(&s, VS_ENCAP_ROCEV2_IPV4, 1);
	for (unsigned k = 1; k < PACKETS; k++)
		s.b[s.hdr_len + k * s.size[0] + 5] ^= 0x55; /* destination QP */
	s.b[s.hdr_len + s.size[0] - 1] ^= 1;
	parse_super(&s, s.len, &whole, &o);
	ck_assert_uint_eq(vs_offload_first(&o), 0);
}
END_TEST

START_TEST(a_wrong_psn_is_found_by_the_icrc_of_the_first)
{
	struct vs_pkt whole;
	struct vs_offload o;
	struct super s;

	make_super(&s, VS_ENCAP_ROCEV2_IPV6, 1);
	s.b[s.hdr_len + s.size[0] + 11] ^= 0x40; /* PSN of the second */
	parse_super(&s, s.len, &whole, &o);
	ck_assert_uint_eq(vs_offload_first(&o), s.size[0]);
	o.net = NULL; /* the ICRC is not to be asked */
	ck_assert_uint_ne(vs_offload_first(&o), s.size[0]);
}
END_TEST

START_TEST(what_a_capture_cut_off_is_counted_and_not_verified)
{
	struct vs_pkt whole, seg;
	struct vs_offload o;
	struct super s;
	size_t cap;

	make_super(&s, VS_ENCAP_ROCEV2_IPV4, 1);
	cap = s.hdr_len + s.size[0] + s.size[1] - 10;
	parse_super(&s, cap, &whole, &o);
	ck_assert_uint_eq(vs_offload_first(&o), s.size[0]);
	ck_assert_uint_eq(vs_offload_count(&o, s.size[0]), PACKETS);
	ck_assert_int_eq(vs_offload_packet(&o, &whole, 1, s.size[0], s.size[0], 0, &seg), VS_OK);
	ck_assert(seg.flags & VS_PKT_SNAPPED);
	ck_assert_int_eq(vs_offload_icrc(&o, 1, s.size[0], s.size[0], 0, NULL), VS_CRC_UNVERIFIED);
	o.net = NULL;
	ck_assert_int_eq(vs_offload_icrc(&o, 0, 0, s.size[0], 0, NULL), VS_CRC_UNVERIFIED);
}
END_TEST

START_TEST(lengths_that_were_never_filled_in_are_seen)
{
	for (unsigned i = 0; i < 2; i++) {
		struct vs_offload o;
		struct super s;

		make_super(&s, encaps[i], 1);
		o = (struct vs_offload){.encap = s.encap, .net = s.b, .net_len = s.hdr_len};
		ck_assert(!vs_offload_lengths_zero(&o));
		memset(s.b + s.hdr_len - 4, 0, 2);
		ck_assert(vs_offload_lengths_zero(&o));
		make_super(&s, encaps[i], 1);
		memset(s.b + (s.encap == VS_ENCAP_ROCEV2_IPV4 ? 2 : 4), 0, 2);
		ck_assert(vs_offload_lengths_zero(&o));
	}
}
END_TEST

START_TEST(only_rocev2_is_taken_apart)
{
	static struct vs_gen g;
	static uint8_t buf[VS_GEN_MAX];
	uint64_t seed = 1;
	struct vs_offload o;
	struct vs_pkt p;
	size_t n;

	vs_gen_legal(&g, &seed, VS_ENCAP_ROCEV1, VS_OP_RC_WRITE_MIDDLE, false);
	ck_assert_int_eq(vs_pkt_seal(&g.p, VS_SEAL_ALL, buf, sizeof(buf)), VS_OK);
	n = (size_t)vs_pkt_build(&g.p, buf, sizeof(buf));
	p = g.p;
	p.flags |= VS_PKT_HAS_BTH;
	ck_assert(!vs_offload_of(&p, buf, n, n, &o));
	p.encap = VS_ENCAP_ROCEV2_IPV4;
	p.flags |= VS_PKT_FRAGMENT;
	ck_assert(!vs_offload_of(&p, buf, n, n, &o));
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("offload");
	TCase *tc = tcase_create("offload");

	tcase_add_test(tc, packets_of_a_super_packet_are_found_and_verify);
	tcase_add_test(tc, one_packet_with_a_bad_crc_is_one_packet);
	tcase_add_test(tc, a_wrong_psn_is_found_by_the_icrc_of_the_first);
	tcase_add_test(tc, what_a_capture_cut_off_is_counted_and_not_verified);
	tcase_add_test(tc, lengths_that_were_never_filled_in_are_seen);
	tcase_add_test(tc, only_rocev2_is_taken_apart);
	suite_add_tcase(s, tc);
	return s;
}
