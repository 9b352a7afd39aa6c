/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_icrc.c - the two CRCs: against vectors that other people's devices and programs made, and
 * against the definition, bit by bit, on random packets of every encapsulation.
 */
#include "pktgen.h"
#include "vs/icrc.h"

#define REQUIRE(cond, ...)                         \
	do {                                       \
		if (!(cond))                       \
			ck_abort_msg(__VA_ARGS__); \
	} while (0)

/* ---- the definition ---- */

static uint32_t crc32_bitwise(uint32_t crc, const uint8_t *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		crc ^= b[i];
		for (int k = 0; k < 8; k++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return crc;
}

static uint16_t vcrc_bitwise(const uint8_t *b, size_t n)
{
	uint32_t crc = 0xffff;

	for (size_t i = 0; i < n; i++) {
		crc ^= b[i];
		for (int k = 0; k < 8; k++)
			crc = crc >> 1 ^ (crc & 1 ? 0xd008u : 0);
	}
	return (uint16_t)~crc;
}

/* The bits of byte `i` (from the network header on) that are replaced by ones. */
static uint8_t mask_of(enum vs_encap encap, size_t i, size_t bth_off)
{
	static const uint8_t ib[8] = {0xf0};
	static const uint8_t grh[8] = {0x0f, 0xff, 0xff, 0xff, 0, 0, 0, 0xff};
	static const uint8_t ipv4[12] = {0, 0xff, 0, 0, 0, 0, 0, 0, 0xff, 0, 0xff, 0xff};
	bool udp = encap == VS_ENCAP_ROCEV2_IPV4 || encap == VS_ENCAP_ROCEV2_IPV6;

	if (i == bth_off + 4 || (udp && (i == bth_off - 2 || i == bth_off - 1)))
		return 0xff;
	switch (encap) {
	case VS_ENCAP_IB:
		return i < 8 ? ib[i] : 0;
	case VS_ENCAP_IB_GRH:
		if (i < 8)
			return 0xff;
		return i < 16 ? grh[i - 8] : 0;
	case VS_ENCAP_ROCEV2_IPV4:
		return i < 12 ? ipv4[i] : 0;
	default:
		return i < 8 ? grh[i] : 0;
	}
}

static uint32_t icrc_bitwise(enum vs_encap encap, const uint8_t *net, size_t bth_off, size_t len)
{
	static const uint8_t ones[8] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	uint32_t crc = 0xffffffff;

	if (encap != VS_ENCAP_IB && encap != VS_ENCAP_IB_GRH)
		crc = crc32_bitwise(crc, ones, 8);
	for (size_t i = 0; i < len; i++) {
		uint8_t b = net[i] | mask_of(encap, i, bth_off);

		crc = crc32_bitwise(crc, &b, 1);
	}
	return ~crc;
}

/* ---- vectors ---- */

/*
 * Packets from the network header through the ICRC. The first five come from scapy's RoCE tests (two
 * made there, three captured on ConnectX adapters); the last two were computed for this project.
 */
static const struct vector {
	const char *name;
	enum vs_encap encap;
	enum vs_link link;
	uint8_t opcode;
	uint32_t destqp, psn;
	const char *hex;
} vectors[] = {
	{"UC SEND Only over IPv4", VS_ENCAP_ROCEV2_IPV4, VS_LINK_IP, VS_OP_UC_SEND_ONLY, 0xd3, 0xcf1710,
	 "45010040 04784000 4011 @@@@ c0a80007 c0a80007 c000 12b7 002c aca2"
	 "2460ffff 000000d3 00cf1710 4630818b e28935d9 0e9a9550 5401be88 5e500000 78f353f3"},
	{"UC SEND Only over IPv6", VS_ENCAP_ROCEV2_IPV6, VS_LINK_IP, VS_OP_UC_SEND_ONLY, 0xd3, 0xcf1710,
	 "6e21face 002c 11 ff 20220000000000000000000000001023 20230000000000000000000000001024 c000 12b7 002c e7c5"
	 "2460ffff 000000d3 00cf1710 4630818b e28935d9 0e9a9550 5401be88 5e500000 3e5b743b"},
	{"CNP of a ConnectX-4 Lx", VS_ENCAP_ROCEV2_IPV4, VS_LINK_IP, VS_OP_CNP, 0x118, 0,
	 "45c2003c 718c4000 40119161 0a001101 0a001201 000012b7 00280000 8100ffff 40000118 00000000"
	 "00000000 00000000 00000000 00000000 82fd002a"},
	{"RoCEv1 WRITE Only", VS_ENCAP_ROCEV1, VS_LINK_GRH, VS_OP_RC_WRITE_ONLY, 0x10a, 0xa788bc,
	 "60200000 00281b40 00000000 00000000 0000ffff 0f000002 00000000 00000000 0000ffff 0f000002"
	 "0a70ffff 0000010a 80a788bc 000055d4 c0726000 000047b3 00000005 00000000 01000000 e3d856bb"},
	{"RoCEv1 ACK", VS_ENCAP_ROCEV1, VS_LINK_GRH, VS_OP_RC_ACKNOWLEDGE, 0x109, 0xa788c0,
	 "60200000 00141b40 00000000 00000000 0000ffff 0f000002 00000000 00000000 0000ffff 0f000002"
	 "1140ffff 00000109 00a788c0 00000005 25f0c038"},
	{"ACK over IPv4", VS_ENCAP_ROCEV2_IPV4, VS_LINK_IP, VS_OP_RC_ACKNOWLEDGE, 0x12, 0xff,
	 "45020030 00004000 4011 @@@@ 0a000001 0a000002 c12312b7 001c0000 1140ffff 00000012 000000ff 1f000001 "
	 "21dc69fc"},
	{"ACK over IPv6", VS_ENCAP_ROCEV2_IPV6, VS_LINK_IP, VS_OP_RC_ACKNOWLEDGE, 0x12, 0xff,
	 "60200000 001c1140 fd000000 00000000 00000000 00000001 fd000000 00000000 00000000 00000002"
	 "c12312b7 001c0000 1140ffff 00000012 000000ff 1f000001 1619025b"},
};
#define VECTORS (sizeof(vectors) / sizeof(vectors[0]))

/* Hex to bytes; blanks are skipped, "@@@@" stands for the IPv4 header checksum, which the ICRC does not see. */
static size_t unhex(const char *hex, uint8_t *b)
{
	static const char digits[] = "0123456789abcdef";
	size_t n = 0;

	for (; *hex != '\0'; hex++) {
		const char *d = strchr(digits, *hex);

		if (*hex == ' ')
			continue;
		if (n % 2 == 0)
			b[n / 2] = 0;
		b[n / 2] = (uint8_t)(b[n / 2] << 4 | (d != NULL ? (uint8_t)(d - digits) : 0));
		n++;
	}
	ck_assert_uint_eq(n % 2, 0);
	return n / 2;
}

static void load(const struct vector *v, struct vs_pkt *p, uint8_t *buf, size_t *len)
{
	*len = unhex(v->hex, buf);
	ck_assert_int_eq(vs_pkt_parse(p, v->link, 0, buf, *len, *len, 0), VS_OK);
}

START_TEST(published_vectors_verify)
{
	for (size_t i = 0; i < VECTORS; i++) {
		const struct vector *v = &vectors[i];
		uint8_t buf[256] = {0}, again[256];
		uint32_t expected = 0;
		struct vs_pkt p;
		size_t len;

		load(v, &p, buf, &len);
		ck_assert_int_eq(p.encap, v->encap);
		ck_assert_uint_eq(p.bth.opcode, v->opcode);
		ck_assert_uint_eq(p.bth.destqp, v->destqp);
		ck_assert_uint_eq(p.bth.psn, v->psn);
		ck_assert_msg(vs_icrc_check(&p, buf, &expected) == VS_CRC_GOOD, "%s: %#x", v->name, expected);
		ck_assert_uint_eq(expected, p.icrc);
		/* And forward: sealing the same packet with a wrong ICRC gives these bytes. */
		p.icrc = 0;
		ck_assert_int_eq(vs_pkt_seal(&p, VS_SEAL_ICRC, again, sizeof(again)), VS_OK);
		ck_assert_int_eq(vs_pkt_build(&p, again, sizeof(again)), (int)len);
		ck_assert_mem_eq(again, buf, len);
	}
}
END_TEST

/* Every bit of every vector: a flip is noticed exactly when the bit is not masked. */
START_TEST(a_flipped_bit_is_bad_unless_masked)
{
	for (size_t i = 0; i < VECTORS; i++) {
		const struct vector *v = &vectors[i];
		unsigned bad = 0, good = 0;
		uint8_t buf[256] = {0};
		struct vs_pkt p;
		size_t len, bth;

		load(v, &p, buf, &len);
		bth = p.bth_off;
		for (size_t bit = 0; bit < (len - 4) * 8; bit++) {
			bool masked = mask_of(v->encap, bit / 8, bth) & (1u << bit % 8);
			uint32_t icrc;

			if (bit < 4 && v->encap == VS_ENCAP_ROCEV2_IPV4)
				continue; /* the IHL moves the BTH: not a question about one bit */
			buf[bit / 8] ^= (uint8_t)(1u << bit % 8);
			ck_assert(vs_icrc_bytes(v->encap, buf, bth, len - 4, &icrc));
			REQUIRE((icrc == p.icrc) == masked, "%s: byte %zu bit %zu", v->name, bit / 8, bit % 8);
			/* The check itself, on the packet as it was parsed. */
			REQUIRE(vs_icrc_check(&p, buf, NULL) == (masked ? VS_CRC_GOOD : VS_CRC_BAD), "%s: byte %zu",
				v->name, bit / 8);
			buf[bit / 8] ^= (uint8_t)(1u << bit % 8);
			*(masked ? &good : &bad) += 1;
		}
		for (unsigned bit = 0; bit < 32; bit++) {
			p.icrc ^= 1u << bit;
			ck_assert_int_eq(vs_icrc_check(&p, buf, NULL), VS_CRC_BAD);
			p.icrc ^= 1u << bit;
		}
		ck_assert_uint_gt(bad, 100);
		ck_assert_uint_gt(good, 40);
	}
}
END_TEST

/* ---- against the definition ---- */

START_TEST(icrc_is_the_definition_in_every_encapsulation)
{
	uint64_t seed = 0x1c4c;
	static struct vs_gen g;
	static uint8_t buf[VS_GEN_MAX];
	unsigned seen[VS_GEN_ENCAPS] = {0};

	for (unsigned long i = 0; i < vs_gen_count(20000); i++) {
		struct vs_pkt p;
		uint16_t ethertype;
		enum vs_link link;
		uint32_t expected;
		size_t net;
		int n;

		vs_gen_random(&g, &seed);
		if (!(g.p.flags & VS_PKT_HAS_ICRC) || g.p.encap == VS_ENCAP_BARE)
			continue;
		ck_assert_int_eq(vs_pkt_seal(&g.p, VS_SEAL_ICRC | VS_SEAL_VCRC, buf, sizeof(buf)), VS_OK);
		n = vs_pkt_build(&g.p, buf, sizeof(buf));
		link = vs_pkt_link(&g.p, &ethertype);
		REQUIRE(vs_pkt_parse(&p, link, ethertype, buf, (size_t)n, (size_t)n, g.opt) == 0, "packet %lu: parse",
			i);
		net = p.net_off;
		expected = icrc_bitwise(p.encap, buf + net, p.bth_off - net, p.end_off - 4 - net);
		REQUIRE(p.icrc == expected, "packet %lu, encap %d: %#x, should be %#x", i, p.encap, p.icrc, expected);
		REQUIRE(vs_icrc_check(&p, buf, NULL) == VS_CRC_GOOD, "packet %lu: check", i);
		if (p.flags & VS_PKT_HAS_VCRC) {
			REQUIRE(p.vcrc == vcrc_bitwise(buf + net, p.end_off - net), "packet %lu: VCRC", i);
			REQUIRE(vs_vcrc_check(&p, buf, NULL) == VS_CRC_GOOD, "packet %lu: VCRC check", i);
		}
		seen[p.encap]++;
	}
	for (unsigned e = 0; e < VS_GEN_ENCAPS; e++)
		ck_assert_msg(seen[e] > 0 || e == VS_ENCAP_BARE || e == VS_ENCAP_IB_RAW, "encap %u was never seen", e);
}
END_TEST

START_TEST(vcrc_is_the_definition)
{
	static uint8_t b[4200];
	uint64_t seed = 0x7c4c;

	/* One byte behind 0 to 7 others goes through every entry of every table. */
	for (unsigned at = 0; at < 8; at++) {
		memset(b, 0, 16);
		for (unsigned v = 0; v < 256; v++) {
			b[at] = (uint8_t)v;
			for (size_t n = at + 1; n <= 16; n++)
				REQUIRE(vs_vcrc_bytes(b, n) == vcrc_bitwise(b, n), "byte %u = %02x, %zu bytes", at, v,
					n);
		}
	}
	for (size_t n = 0; n <= 300; n++) {
		vs_gen_bytes(&seed, b, sizeof(b));
		REQUIRE(vs_vcrc_bytes(b, n) == vcrc_bitwise(b, n), "%zu random bytes", n);
	}
	for (unsigned long i = 0; i < vs_gen_count(2000); i++) {
		size_t n = vs_gen_below(&seed, sizeof(b));

		vs_gen_bytes(&seed, b, sizeof(b));
		REQUIRE(vs_vcrc_bytes(b, n) == vcrc_bitwise(b, n), "%zu random bytes", n);
	}
	ck_assert_uint_eq(vs_vcrc_bytes(b, 0), 0);
}
END_TEST

START_TEST(a_flipped_bit_makes_the_vcrc_bad)
{
	uint64_t seed = 0x7c4d;
	static struct vs_gen g;
	static uint8_t buf[VS_GEN_MAX];
	struct vs_pkt p;
	size_t n;

	vs_gen_legal(&g, &seed, VS_ENCAP_IB_GRH, VS_OP_RC_SEND_ONLY, false);
	ck_assert_int_eq(vs_pkt_seal(&g.p, VS_SEAL_ALL, buf, sizeof(buf)), VS_OK);
	n = (size_t)vs_pkt_build(&g.p, buf, sizeof(buf));
	ck_assert_int_eq(vs_pkt_parse(&p, VS_LINK_IB, 0, buf, n, n, 0), VS_OK);
	for (size_t bit = 0; bit < (n - 2) * 8; bit++) {
		uint16_t expected = p.vcrc;

		buf[bit / 8] ^= (uint8_t)(1u << bit % 8);
		REQUIRE(vs_vcrc_check(&p, buf, &expected) == VS_CRC_BAD && expected != p.vcrc, "bit %zu", bit);
		buf[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	ck_assert_int_eq(vs_vcrc_check(&p, buf, NULL), VS_CRC_GOOD);
}
END_TEST

/* ---- when there is nothing to verify ---- */

START_TEST(what_cannot_be_verified_says_so)
{
	static struct vs_gen g;
	static uint8_t buf[VS_GEN_MAX];
	uint64_t seed = 0x1c4d;
	struct vs_pkt p;
	size_t n;

	vs_gen_legal(&g, &seed, VS_ENCAP_IB, VS_OP_RC_SEND_ONLY, false);
	ck_assert_int_eq(vs_pkt_seal(&g.p, VS_SEAL_ALL, buf, sizeof(buf)), VS_OK);
	n = (size_t)vs_pkt_build(&g.p, buf, sizeof(buf));
	for (size_t cap = 20; cap <= n; cap++) {
		ck_assert_int_eq(vs_pkt_parse(&p, VS_LINK_IB, 0, buf, cap, n, 0), VS_OK);
		/* The ICRC needs itself and what stands before it; the VCRC two bytes more. */
		ck_assert_int_eq(vs_icrc_check(&p, buf, NULL), cap >= n - 2 ? VS_CRC_GOOD : VS_CRC_UNVERIFIED);
		ck_assert_int_eq(vs_vcrc_check(&p, buf, NULL), cap == n ? VS_CRC_GOOD : VS_CRC_UNVERIFIED);
	}
	ck_assert_int_eq(vs_pkt_parse(&p, VS_LINK_BTH, 0, buf + 8, n - 10, n - 10, 0), VS_OK);
	ck_assert_int_eq(vs_icrc_check(&p, buf + 8, NULL), VS_CRC_UNVERIFIED);
	ck_assert_int_eq(vs_vcrc_check(&p, buf + 8, NULL), VS_CRC_UNVERIFIED);
}
END_TEST

START_TEST(offsets_that_do_not_fit_are_refused)
{
	uint8_t buf[VS_ICRC_PREFIX_MAX + 64] = {0x45};
	uint32_t icrc;

	ck_assert(vs_icrc_bytes(VS_ENCAP_ROCEV2_IPV4, buf, 28, 33, &icrc));
	ck_assert(!vs_icrc_bytes(VS_ENCAP_ROCEV2_IPV4, buf, 28, 32, &icrc));
	ck_assert(!vs_icrc_bytes(VS_ENCAP_ROCEV2_IPV4, buf, 27, 60, &icrc));
	ck_assert(!vs_icrc_bytes(VS_ENCAP_ROCEV2_IPV6, buf, 47, 60, &icrc));
	ck_assert(!vs_icrc_bytes(VS_ENCAP_ROCEV1, buf, 41, 60, &icrc));
	ck_assert(!vs_icrc_bytes(VS_ENCAP_IB, buf, 9, 60, &icrc));
	ck_assert(!vs_icrc_bytes(VS_ENCAP_IB_GRH, buf, 40, 60, &icrc));
	ck_assert(!vs_icrc_bytes(VS_ENCAP_BARE, buf, 0, 60, &icrc));
	ck_assert(!vs_icrc_bytes(VS_ENCAP_IB_RAW, buf, 8, 60, &icrc));
	ck_assert(!vs_icrc_bytes(VS_ENCAP_ROCEV2_IPV6, buf, VS_ICRC_PREFIX_MAX + 1, sizeof(buf), &icrc));
	buf[0] = 0x46; /* IHL 6 needs 32 bytes before the BTH */
	ck_assert(!vs_icrc_bytes(VS_ENCAP_ROCEV2_IPV4, buf, 28, 60, &icrc));
	ck_assert(vs_icrc_bytes(VS_ENCAP_ROCEV2_IPV4, buf, 32, 60, &icrc));
	buf[0] = 0x44;
	ck_assert(!vs_icrc_bytes(VS_ENCAP_ROCEV2_IPV4, buf, 28, 60, &icrc));
}
END_TEST

/* ---- segmentation offload ---- */

/* A super-packet: one IP and UDP header in front of three packets; each has the ICRC of the datagram it will become. */
static void check_super_packet(enum vs_encap encap, size_t hdr_len)
{
	static struct vs_gen g;
	static uint8_t buf[VS_GEN_MAX], super[3 * VS_GEN_MAX];
	uint64_t seed = 0x650;
	size_t seg_len = 0, len = hdr_len;

	for (uint16_t k = 0; k < 3; k++) {
		size_t n;

		vs_gen_legal(&g, &seed, encap, VS_OP_RC_WRITE_MIDDLE, false);
		g.p.payload_len = 256;
		g.p.ipv4.id = k;
		ck_assert_int_eq(vs_pkt_seal(&g.p, VS_SEAL_ALL, buf, sizeof(buf)), VS_OK);
		n = (size_t)vs_pkt_build(&g.p, buf, sizeof(buf));
		memcpy(super + len, buf + hdr_len, n - hdr_len);
		len += n - hdr_len;
		seg_len = n - hdr_len;
		if (k == 0)
			memcpy(super, buf, hdr_len);
	}
	/* What a capture on the sending host shows: lengths of the whole, checksums of nothing. */
	memset(super + (encap == VS_ENCAP_ROCEV2_IPV4 ? 2 : 4), 0x77, 2);
	memset(super + hdr_len - 4, 0x77, 4);
	for (uint16_t k = 0; k < 3; k++) {
		const uint8_t *seg = super + hdr_len + k * seg_len;
		uint32_t icrc = 0, carried = (uint32_t)seg[seg_len - 4] | (uint32_t)seg[seg_len - 3] << 8 |
					     (uint32_t)seg[seg_len - 2] << 16 | (uint32_t)seg[seg_len - 1] << 24;

		ck_assert(vs_icrc_segment(encap, super, hdr_len, k, seg, seg_len, &icrc));
		ck_assert_uint_eq(icrc, carried);
		ck_assert(vs_icrc_segment(encap, super, hdr_len, k + 1, seg, seg_len, &icrc));
		ck_assert_int_eq(icrc == carried, encap == VS_ENCAP_ROCEV2_IPV6);
	}
	ck_assert(!vs_icrc_segment(VS_ENCAP_ROCEV1, super, hdr_len, 0, super + hdr_len, seg_len, &(uint32_t){0}));
	ck_assert(!vs_icrc_segment(encap, super, hdr_len, 0, super + hdr_len, 8, &(uint32_t){0}));
	ck_assert(!vs_icrc_segment(encap, super, hdr_len - 1, 0, super + hdr_len, seg_len, &(uint32_t){0}));
}

START_TEST(segments_of_a_super_packet_verify_one_by_one)
{
	check_super_packet(VS_ENCAP_ROCEV2_IPV4, 28);
	check_super_packet(VS_ENCAP_ROCEV2_IPV6, 48);
}
END_TEST

/* Every ID of random IPv4 packets: the delta makes the ICRC of another ID, and the ID is found again from the ICRC. */
START_TEST(an_ip_id_changes_the_icrc_by_its_delta_and_is_found_again)
{
	uint64_t seed = 4791;

	for (unsigned i = 0; i < 2000; i++) {
		uint8_t net[28 + 4096];
		size_t len = 28 + 12 + vs_gen_below(&seed, 4000);
		uint16_t id = (uint16_t)vs_rand(&seed), found = 0;
		uint32_t zero, other, factor = vs_icrc_id_factor(len);

		vs_gen_bytes(&seed, net, len);
		net[0] = 0x45;
		net[4] = net[5] = 0;
		ck_assert(vs_icrc_bytes(VS_ENCAP_ROCEV2_IPV4, net, 28, len, &zero));
		net[4] = (uint8_t)(id >> 8);
		net[5] = (uint8_t)id;
		ck_assert(vs_icrc_bytes(VS_ENCAP_ROCEV2_IPV4, net, 28, len, &other));
		ck_assert_uint_eq(zero ^ vs_icrc_id_delta(factor, id), other);
		ck_assert(vs_icrc_id_solve(factor, zero ^ other, &found));
		ck_assert_uint_eq(found, id);
	}
}
END_TEST

/* 16 of 32 bits are left: of random differences about one in 2^16 has an ID. */
START_TEST(most_damage_is_explained_by_no_ip_id)
{
	uint64_t seed = 91;
	unsigned explained = 0;

	for (unsigned i = 0; i < 100000; i++) {
		uint16_t id;

		explained += vs_icrc_id_solve(vs_icrc_id_factor(100 + i % 4000), (uint32_t)vs_rand(&seed) | 1, &id);
	}
	ck_assert_uint_le(explained, 12);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("icrc");
	TCase *tc = tcase_create("icrc");

	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, published_vectors_verify);
	tcase_add_test(tc, a_flipped_bit_is_bad_unless_masked);
	tcase_add_test(tc, icrc_is_the_definition_in_every_encapsulation);
	tcase_add_test(tc, vcrc_is_the_definition);
	tcase_add_test(tc, a_flipped_bit_makes_the_vcrc_bad);
	tcase_add_test(tc, what_cannot_be_verified_says_so);
	tcase_add_test(tc, offsets_that_do_not_fit_are_refused);
	tcase_add_test(tc, segments_of_a_super_packet_verify_one_by_one);
	tcase_add_test(tc, an_ip_id_changes_the_icrc_by_its_delta_and_is_found_again);
	tcase_add_test(tc, most_damage_is_explained_by_no_ip_id);
	suite_add_tcase(s, tc);
	return s;
}
