/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_build.c - what the builder refuses and what it does not, and what sealing fills in.
 */
#include "pktgen.h"

static struct vs_gen one;
static uint8_t frame[VS_GEN_MAX];

/* ---- what the builder refuses, and what it does not ---- */

START_TEST(a_number_without_room_is_refused)
{
	static const struct {
		size_t offset, size;
		uint32_t fits, too_big;
		enum vs_encap encap;
		uint8_t opcode;
	} fields[] = {
#define F(member, fit, encap, op) \
	{offsetof(struct vs_pkt, member), sizeof(((struct vs_pkt *)0)->member), fit, (fit) + 1, encap, op}
		F(bth.psn, 0xffffff, VS_ENCAP_BARE, VS_OP_RC_SEND_ONLY),
		F(bth.destqp, 0xffffff, VS_ENCAP_BARE, VS_OP_RC_SEND_ONLY),
		F(bth.padcnt, 3, VS_ENCAP_BARE, VS_OP_RC_SEND_ONLY),
		F(bth.tver, 15, VS_ENCAP_BARE, VS_OP_RC_SEND_ONLY),
		F(bth.resv6, 63, VS_ENCAP_BARE, VS_OP_RC_SEND_ONLY),
		F(bth.resv7, 127, VS_ENCAP_BARE, VS_OP_RC_SEND_ONLY),
		F(ext.aeth.msn, 0xffffff, VS_ENCAP_BARE, VS_OP_RC_ACKNOWLEDGE),
		F(ext.deth.srcqp, 0xffffff, VS_ENCAP_BARE, VS_OP_UD_SEND_ONLY),
		F(ext.rdeth.eecontext, 0xffffff, VS_ENCAP_BARE, VS_OP_RD_SEND_ONLY),
		F(ext.xrceth.xrcsrq, 0xffffff, VS_ENCAP_BARE, VS_OP_XRC_SEND_ONLY),
		F(ext.feth.rsv, 0x3ffffff, VS_ENCAP_BARE, VS_OP_RC_FLUSH),
		F(ext.feth.sel, 3, VS_ENCAP_BARE, VS_OP_RC_FLUSH),
		F(ext.feth.plt, 15, VS_ENCAP_BARE, VS_OP_RC_FLUSH),
		F(lrh.vl, 15, VS_ENCAP_IB, VS_OP_RC_SEND_ONLY),
		F(lrh.lver, 15, VS_ENCAP_IB, VS_OP_RC_SEND_ONLY),
		F(lrh.sl, 15, VS_ENCAP_IB, VS_OP_RC_SEND_ONLY),
		F(lrh.rsv1, 3, VS_ENCAP_IB, VS_OP_RC_SEND_ONLY),
		F(lrh.lnh, 3, VS_ENCAP_IB, VS_OP_RC_SEND_ONLY),
		F(lrh.rsv2, 31, VS_ENCAP_IB, VS_OP_RC_SEND_ONLY),
		F(lrh.pktlen, 0x7ff, VS_ENCAP_IB, VS_OP_RC_SEND_ONLY),
		F(grh.ipver, 15, VS_ENCAP_ROCEV1, VS_OP_RC_SEND_ONLY),
		F(grh.flowlabel, 0xfffff, VS_ENCAP_ROCEV1, VS_OP_RC_SEND_ONLY),
		F(ipv4.version, 15, VS_ENCAP_ROCEV2_IPV4, VS_OP_RC_SEND_ONLY),
		F(ipv4.ihl, 15, VS_ENCAP_ROCEV2_IPV4, VS_OP_RC_SEND_ONLY),
		F(eth.vlan_count, VS_MAX_VLAN, VS_ENCAP_ROCEV2_IPV4, VS_OP_RC_SEND_ONLY),
		F(pad_len, 3, VS_ENCAP_BARE, VS_OP_RC_SEND_ONLY),
#undef F
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		for (int big = 0; big < 2; big++) {
			uint32_t v = big ? fields[i].too_big : fields[i].fits;
			uint8_t *at = (uint8_t *)&one.p + fields[i].offset;
			int n;

			vs_gen_frame(&one, frame, fields[i].encap, fields[i].opcode, 0, false);
			if (fields[i].size == 1)
				*at = (uint8_t)v;
			else if (fields[i].size == 2)
				memcpy(at, &(uint16_t){(uint16_t)v}, 2);
			else
				memcpy(at, &v, 4);
			n = vs_pkt_build(&one.p, frame, sizeof(frame));
			ck_assert_msg(big ? n == VS_ERR_INVAL : n > 0, "field %zu, value %#x: %d", i, v, n);
			if (big)
				ck_assert_int_lt(vs_pkt_seal(&one.p, VS_SEAL_CSUM | VS_SEAL_ICRC, frame, sizeof(frame)),
						 0);
		}
	}
}
END_TEST

START_TEST(bytes_without_address_and_headers_without_bth_are_refused)
{
	vs_gen_frame(&one, frame, VS_ENCAP_BARE, VS_OP_RC_WRITE_ONLY, 8, false);
	one.p.payload = NULL;
	ck_assert_int_eq(vs_pkt_build(&one.p, frame, sizeof(frame)), VS_ERR_INVAL);
	one.p.payload_len = 0;
	ck_assert_int_gt(vs_pkt_build(&one.p, frame, sizeof(frame)), 0);
	one.p.trailer_len = 1;
	ck_assert_int_eq(vs_pkt_build(&one.p, frame, sizeof(frame)), VS_ERR_INVAL);
	one.p.trailer_len = 0;
	one.p.flags &= ~(uint32_t)VS_PKT_HAS_BTH;
	ck_assert_int_eq(vs_pkt_build(&one.p, frame, sizeof(frame)), VS_ERR_INVAL);
	one.p.hdrs = 0;
	ck_assert_int_gt(vs_pkt_build(&one.p, frame, sizeof(frame)), 0);
	one.p.flags |= VS_PKT_HAS_BTH;
	one.p.hdrs = 1u << VS_HDR_COUNT;
	ck_assert_int_eq(vs_pkt_build(&one.p, frame, sizeof(frame)), VS_ERR_INVAL);
}
END_TEST

START_TEST(a_small_buffer_is_left_untouched)
{
	size_t n = vs_gen_frame(&one, frame, VS_ENCAP_IB_GRH, VS_OP_RC_WRITE_ONLY, 21, false);

	memset(frame, 0x55, sizeof(frame));
	for (size_t cap = 0; cap < n; cap++) {
		ck_assert_int_eq(vs_pkt_build(&one.p, frame, cap), VS_ERR_NOSPACE);
		ck_assert_uint_eq(frame[0], 0x55);
	}
	ck_assert_int_eq(vs_pkt_build(&one.p, frame, n), (int)n);
	ck_assert_uint_eq(frame[n], 0x55);
	ck_assert_int_eq(vs_pkt_seal(&one.p, VS_SEAL_ICRC, frame, n - 1), VS_ERR_NOSPACE);
}
END_TEST

START_TEST(seal_touches_only_what_it_is_asked_for)
{
	struct vs_pkt before;

	vs_gen_frame(&one, frame, VS_ENCAP_ROCEV2_IPV4, VS_OP_RC_SEND_ONLY, 5, false);
	one.p.bth.padcnt = 1;
	one.p.udp.len = 7;
	one.p.ipv4.csum = 9;
	one.p.icrc = 11;
	before = one.p;
	ck_assert_int_eq(vs_pkt_seal(&one.p, 0, NULL, 0), VS_OK);
	ck_assert(vs_pkt_equal(&before, &one.p));
	ck_assert_int_eq(vs_pkt_seal(&one.p, VS_SEAL_LEN, NULL, 0), VS_OK);
	ck_assert_uint_eq(one.p.udp.len, 8 + 12 + 8 + 4);
	ck_assert_uint_eq(one.p.ipv4.csum, 9);
	ck_assert_uint_eq(one.p.bth.padcnt, 1);
	ck_assert_uint_eq(one.p.icrc, 11);
	one.p.flags |= VS_PKT_SNAPPED;
	ck_assert_int_eq(vs_pkt_seal(&one.p, VS_SEAL_ALL, frame, sizeof(frame)), VS_ERR_INVAL);
}
END_TEST

/* The ones' complement sum over the header, checksum included, is all ones. */
static uint32_t header_sum(const uint8_t *b, size_t n)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < n; i += 2)
		sum += (uint32_t)b[i] << 8 | b[i + 1];
	while (sum > 0xffff)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

START_TEST(sealed_ipv4_headers_add_up)
{
	uint64_t seed = 0xc5;

	for (unsigned long i = 0; i < vs_gen_count(50000);) {
		vs_gen_random(&one, &seed);
		if (one.p.encap != VS_ENCAP_ROCEV2_IPV4 || (one.p.flags & VS_PKT_HAS_ETH) || one.p.eth.vlan_count > 0)
			continue;
		if (vs_pkt_seal(&one.p, VS_SEAL_CSUM, NULL, 0) != VS_OK || one.p.udp.csum != 0 ||
		    vs_pkt_build(&one.p, frame, sizeof(frame)) < 0 || header_sum(frame, one.p.ipv4.ihl * 4u) != 0xffff)
			ck_abort_msg("packet %lu: checksum %#x", i, one.p.ipv4.csum);
		i++;
	}
	/* One header with every ID: some of the sums carry, and then carry again. */
	vs_gen_frame(&one, frame, VS_ENCAP_ROCEV2_IPV4, VS_OP_RC_ACKNOWLEDGE, 0, false);
	for (uint32_t id = 0; id <= 0xffff; id++) {
		one.p.ipv4.id = (uint16_t)id;
		if (vs_pkt_seal(&one.p, VS_SEAL_CSUM, NULL, 0) != VS_OK ||
		    vs_pkt_build(&one.p, frame, sizeof(frame)) < 0 || header_sum(frame, 20) != 0xffff)
			ck_abort_msg("id %#x: checksum %#x", id, one.p.ipv4.csum);
	}
}
END_TEST

START_TEST(sealed_lengths_are_those_of_the_bytes)
{
	size_t n = vs_gen_frame(&one, frame, VS_ENCAP_ROCEV2_IPV4, VS_OP_RC_SEND_ONLY, 5, true);

	ck_assert_uint_eq(n, 14 + 20 + 8 + 12 + 5 + 3 + 4);
	ck_assert_uint_eq(one.p.ipv4.total_len, n - 14);
	ck_assert_uint_eq(one.p.udp.len, n - 34);
	ck_assert_uint_eq(one.p.bth.padcnt, 3);
	n = vs_gen_frame(&one, frame, VS_ENCAP_ROCEV2_IPV6, VS_OP_RC_SEND_ONLY, 6, false);
	ck_assert_uint_eq(one.p.grh.paylen, n - 40);
	ck_assert_uint_eq(one.p.udp.len, n - 40);
	ck_assert_uint_eq(one.p.pad_len, 2);
	n = vs_gen_frame(&one, frame, VS_ENCAP_ROCEV1, VS_OP_RC_SEND_ONLY, 8, false);
	ck_assert_uint_eq(one.p.grh.paylen, n - 40);
	ck_assert_uint_eq(one.p.pad_len, 0);
	n = vs_gen_frame(&one, frame, VS_ENCAP_IB_GRH, VS_OP_RC_SEND_ONLY, 7, false);
	ck_assert_uint_eq(one.p.lrh.pktlen * 4u, n - 2);
	ck_assert_uint_eq(one.p.grh.paylen, n - 2 - 48);
	n = vs_gen_frame(&one, frame, VS_ENCAP_IB_RAW, 0, 16, false);
	ck_assert_uint_eq(n, 8 + 4 + 16 + 2);
	ck_assert_uint_eq(one.p.lrh.pktlen * 4u, n - 2);
}
END_TEST

START_TEST(a_length_without_room_is_refused)
{
	static const uint8_t huge[70000];

	vs_gen_frame(&one, frame, VS_ENCAP_ROCEV2_IPV4, VS_OP_RC_SEND_ONLY, 0, false);
	one.p.payload = huge;
	one.p.payload_len = 65535 - 20 - 8 - 12 - 4 - 3;
	ck_assert_int_eq(vs_pkt_seal(&one.p, VS_SEAL_PAD | VS_SEAL_LEN, NULL, 0), VS_OK);
	one.p.payload_len += 4;
	ck_assert_int_eq(vs_pkt_seal(&one.p, VS_SEAL_PAD | VS_SEAL_LEN, NULL, 0), VS_ERR_INVAL);
	vs_gen_frame(&one, frame, VS_ENCAP_IB, VS_OP_RC_SEND_ONLY, 0, false);
	one.p.payload = huge;
	one.p.payload_len = 0x7ff * 4 - 8 - 12 - 4;
	ck_assert_int_eq(vs_pkt_seal(&one.p, VS_SEAL_PAD | VS_SEAL_LEN, NULL, 0), VS_OK);
	ck_assert_uint_eq(one.p.lrh.pktlen, 0x7ff);
	one.p.payload_len += 4;
	ck_assert_int_eq(vs_pkt_seal(&one.p, VS_SEAL_PAD | VS_SEAL_LEN, NULL, 0), VS_ERR_INVAL);
}
END_TEST

START_TEST(the_icrc_of_a_bare_packet_stays)
{
	vs_gen_frame(&one, frame, VS_ENCAP_BARE, VS_OP_RC_SEND_ONLY, 4, false);
	one.p.icrc = 0x12345678;
	ck_assert_int_eq(vs_pkt_seal(&one.p, VS_SEAL_ALL, frame, sizeof(frame)), VS_OK);
	ck_assert_uint_eq(one.p.icrc, 0x12345678);
	/* Turned on where there is one, and nowhere else. */
	vs_gen_frame(&one, frame, VS_ENCAP_IB, VS_OP_RC_SEND_ONLY, 4, false);
	one.p.flags = VS_PKT_HAS_BTH;
	ck_assert_int_eq(vs_pkt_seal(&one.p, VS_SEAL_ALL, frame, sizeof(frame)), VS_OK);
	ck_assert_uint_eq(one.p.flags, VS_PKT_HAS_BTH | VS_PKT_HAS_ICRC | VS_PKT_HAS_VCRC);
	vs_gen_frame(&one, frame, VS_ENCAP_ROCEV1, VS_OP_RC_SEND_ONLY, 4, false);
	one.p.flags = VS_PKT_HAS_BTH;
	one.p.vcrc = 0x1234;
	ck_assert_int_eq(vs_pkt_seal(&one.p, VS_SEAL_ALL, frame, sizeof(frame)), VS_OK);
	ck_assert_uint_eq(one.p.flags, VS_PKT_HAS_BTH | VS_PKT_HAS_ICRC);
	ck_assert_uint_eq(one.p.vcrc, 0x1234);
}
END_TEST

START_TEST(a_skeleton_has_what_wire_h_promises)
{
	struct vs_pkt p;

	vs_pkt_init(&p, VS_ENCAP_ROCEV2_IPV4, VS_OP_RC_WRITE_ONLY, true);
	ck_assert_uint_eq(p.flags, VS_PKT_HAS_ETH | VS_PKT_HAS_BTH | VS_PKT_HAS_ICRC);
	ck_assert_uint_eq(p.hdrs, VS_HDR_RETH);
	ck_assert_uint_eq(p.eth.ethertype, VS_ETHERTYPE_IPV4);
	ck_assert_uint_eq(p.ipv4.ttl, 64);
	ck_assert_uint_eq(p.ipv4.frag, 0x4000);
	ck_assert_uint_eq(p.udp.dport, VS_UDP_PORT_ROCE);
	ck_assert_uint_eq(p.bth.pkey, 0xffff);
	vs_pkt_init(&p, VS_ENCAP_ROCEV2_IPV6, VS_OP_CNP, false);
	ck_assert_uint_eq(p.flags, VS_PKT_HAS_BTH | VS_PKT_HAS_ICRC);
	ck_assert_uint_eq(p.eth.ethertype, 0);
	ck_assert_uint_eq(p.grh.nxthdr, 17);
	ck_assert_uint_eq(p.grh.hoplmt, 64);
	ck_assert_uint_eq(p.payload_len, 16);
	vs_pkt_init(&p, VS_ENCAP_IB_GRH, VS_OP_RC_SEND_ONLY, true);
	ck_assert_uint_eq(p.flags, VS_PKT_HAS_BTH | VS_PKT_HAS_ICRC | VS_PKT_HAS_VCRC);
	ck_assert_uint_eq(p.lrh.lnh, VS_LNH_IBA_GLOBAL);
	ck_assert_uint_eq(p.grh.nxthdr, VS_GRH_NXTHDR_IBA);
	vs_pkt_init(&p, VS_ENCAP_IB_RAW, 0, false);
	ck_assert_uint_eq(p.flags, VS_PKT_HAS_RWH | VS_PKT_HAS_VCRC);
}
END_TEST

START_TEST(packets_of_another_shape_are_not_equal)
{
	static const uint32_t flags[] = {VS_PKT_HAS_ICRC, VS_PKT_HAS_VCRC, VS_PKT_HAS_BTH, VS_PKT_HAS_ETH,
					 VS_PKT_HAS_RWH};
	struct vs_pkt p;

	vs_gen_frame(&one, frame, VS_ENCAP_ROCEV1, VS_OP_RC_SEND_ONLY, 8, true);
	p = one.p;
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		p.flags ^= flags[i];
		ck_assert_msg(!vs_pkt_equal(&p, &one.p), "flag %#x", flags[i]);
		p.flags ^= flags[i];
	}
	p.encap = VS_ENCAP_BARE;
	ck_assert(!vs_pkt_equal(&p, &one.p));
	p = one.p;
	p.hdrs = VS_HDR_IMMDT;
	ck_assert(!vs_pkt_equal(&p, &one.p));
	p = one.p;
	p.pad_len = 1;
	ck_assert(!vs_pkt_equal(&p, &one.p));
	/* What does not reach the wire does not count. */
	p = one.p;
	p.lrh.dlid = 77;
	p.ext.immdt = 5;
	p.bth_off = 3;
	p.flags |= VS_PKT_SNAPPED;
	ck_assert(vs_pkt_equal(&p, &one.p));
	/* What does not build equals nothing. */
	p.eth.vlan_count = one.p.eth.vlan_count = VS_MAX_VLAN + 1;
	ck_assert(!vs_pkt_equal(&p, &one.p));
	p.eth.vlan_count = one.p.eth.vlan_count = 0;
	p.pad_len = one.p.pad_len = 4;
	ck_assert(!vs_pkt_equal(&p, &one.p));
}
END_TEST

START_TEST(a_small_scratch_is_enough_for_lengths_and_checksums)
{
	vs_gen_frame(&one, frame, VS_ENCAP_ROCEV2_IPV6, VS_OP_RC_SEND_ONLY, 5, false);
	ck_assert_int_eq(vs_pkt_seal(&one.p, VS_SEAL_PAD | VS_SEAL_LEN | VS_SEAL_CSUM, NULL, 0), VS_OK);
	/* Before anything is sealed, size + VS_SEAL_ROOM is enough for all of it. */
	vs_gen_frame(&one, frame, VS_ENCAP_IB, VS_OP_RC_SEND_ONLY, 5, false);
	one.p.flags &= ~(uint32_t)(VS_PKT_HAS_ICRC | VS_PKT_HAS_VCRC);
	one.p.pad_len = 0;
	ck_assert_int_eq(vs_pkt_seal(&one.p, VS_SEAL_ALL, frame, vs_pkt_size(&one.p) + VS_SEAL_ROOM), VS_OK);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("build");
	TCase *tc = tcase_create("build and seal");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_number_without_room_is_refused);
	tcase_add_test(tc, bytes_without_address_and_headers_without_bth_are_refused);
	tcase_add_test(tc, a_small_buffer_is_left_untouched);
	tcase_add_test(tc, seal_touches_only_what_it_is_asked_for);
	tcase_add_test(tc, sealed_ipv4_headers_add_up);
	tcase_add_test(tc, sealed_lengths_are_those_of_the_bytes);
	tcase_add_test(tc, a_length_without_room_is_refused);
	tcase_add_test(tc, the_icrc_of_a_bare_packet_stays);
	tcase_add_test(tc, a_skeleton_has_what_wire_h_promises);
	tcase_add_test(tc, packets_of_another_shape_are_not_equal);
	tcase_add_test(tc, a_small_scratch_is_enough_for_lengths_and_checksums);
	suite_add_tcase(s, tc);
	return s;
}
