/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_wire.c - the codec loses nothing: parse(build(p)) == p, build(parse(b)) == b, on random packets
 * and on mutated bytes; and every shape of packet is taken apart where it should be.
 */
#include "pktgen.h"
#include "vs/icrc.h"

#define PACKETS 1200000ul
#define STRINGS 1200000ul

/* ck_assert writes a record for each call; in loops over millions only a failure may. */
#define REQUIRE(cond, ...)                         \
	do {                                       \
		if (!(cond))                       \
			ck_abort_msg(__VA_ARGS__); \
	} while (0)

static int parse_back(struct vs_pkt *q, const struct vs_gen *g, const uint8_t *buf, size_t n)
{
	uint16_t ethertype;
	enum vs_link link = vs_pkt_link(&g->p, &ethertype);

	return vs_pkt_parse(q, link, ethertype, buf, n, n, g->opt);
}

START_TEST(parse_of_build_is_the_packet)
{
	uint64_t seed = 0x5eed1;
	unsigned long counts[VS_GEN_ENCAPS] = {0}, n = vs_gen_count(PACKETS);
	static struct vs_gen g;
	static uint8_t buf[VS_GEN_MAX];

	for (unsigned long i = 0; i < n; i++) {
		uint64_t at = seed;
		struct vs_pkt q;
		int len;

		vs_gen_random(&g, &seed);
		len = vs_pkt_build(&g.p, buf, sizeof(buf));
		REQUIRE(len > 0 && (size_t)len == vs_pkt_size(&g.p), "packet %lu, seed %#lx: build %d", i, at, len);
		REQUIRE(parse_back(&q, &g, buf, (size_t)len) == VS_OK, "packet %lu, seed %#lx: parse", i, at);
		REQUIRE(vs_pkt_equal(&g.p, &q) && vs_pkt_equal(&q, &g.p), "packet %lu, seed %#lx: differs", i, at);
		REQUIRE(!(q.flags & (VS_PKT_SNAPPED | VS_PKT_HDR_MISSING)), "packet %lu, seed %#lx: flags", i, at);
		counts[g.p.encap]++;
	}
	for (unsigned e = 0; e < VS_GEN_ENCAPS; e++)
		ck_assert_uint_gt(counts[e], 0);
}
END_TEST

/* Every bit of a packet is in a field, and equal compares it, so that the property above says something. */
START_TEST(equal_sees_every_bit)
{
	uint64_t seed = 0x5eed2;
	static struct vs_gen g;
	static uint8_t buf[VS_GEN_MAX];
	unsigned long compared = 0;

	for (unsigned i = 0; i < 256 * VS_GEN_ENCAPS; i++) {
		struct vs_pkt q;
		int len;

		vs_gen_legal(&g, &seed, (enum vs_encap)(i / 256), (uint8_t)(i % 256), i % 3 == 0);
		g.p.payload_len &= 15;
		vs_gen_random_ext(&g.p.ext, &seed);
		if (g.p.encap >= VS_ENCAP_ROCEV1)
			vs_gen_vlan(&g.p, &seed);
		vs_gen_trailer(&g, &seed);
		ck_assert_int_eq(vs_pkt_seal(&g.p, VS_SEAL_ALL, buf, sizeof(buf)), VS_OK);
		len = vs_pkt_build(&g.p, buf, sizeof(buf));
		for (int bit = 0; bit < len * 8; bit++) {
			buf[bit / 8] ^= (uint8_t)(1u << bit % 8);
			if (parse_back(&q, &g, buf, (size_t)len) == VS_OK) {
				REQUIRE(!vs_pkt_equal(&g.p, &q), "packet %u: bit %d is in no field", i, bit);
				compared++;
			}
			buf[bit / 8] ^= (uint8_t)(1u << bit % 8);
		}
	}
	ck_assert_uint_gt(compared, 500000);
}
END_TEST

/* What must hold of every packet that parses, whatever the bytes. */
static void require_sane(const struct vs_pkt *p, const uint8_t *buf, size_t cap, size_t wire)
{
	size_t body = (size_t)p->payload_len + p->pad_len;

	REQUIRE(p->payload == buf + p->payload_off, "payload is not at its offset");
	REQUIRE(p->payload_off + body <= p->end_off && p->end_off <= cap, "payload runs over the end");
	REQUIRE(p->net_off <= p->bth_off || !(p->flags & VS_PKT_HAS_BTH), "BTH before the network header");
	REQUIRE(p->pad_len <= sizeof(p->pad), "too much pad");
	REQUIRE(p->trailer_len == 0 || p->trailer + p->trailer_len == buf + cap, "the trailer is not the end");
	REQUIRE((p->missing_len > 0) == !!(p->flags & VS_PKT_SNAPPED), "missing bytes and no flag, or the reverse");
	REQUIRE(p->missing_len <= wire - cap && p->payload_missing_len <= p->missing_len,
		"more missing than there was");
	REQUIRE(!(p->flags & VS_PKT_SNAPPED) || vs_pkt_size(p) == cap, "a cut packet is not all there is");
}

/* Parses, checks, builds back and compares. True when the bytes were RDMA. */
static bool round_trip(enum vs_link link, uint16_t ethertype, const uint8_t *buf, size_t cap, size_t wire, unsigned opt)
{
	static uint8_t again[VS_GEN_MAX];
	struct vs_pkt p, q;
	enum vs_reason reasons[8];
	int rc = vs_pkt_parse(&p, link, ethertype, buf, cap, wire, opt);

	if (rc != VS_OK) {
		REQUIRE(rc == VS_ERR_NOT_RDMA || rc == VS_ERR_SHORT, "parse answers %d", rc);
		REQUIRE(!(p.flags & VS_PKT_SNAPPED) || cap < wire, "SNAPPED, and nothing was cut");
		return false;
	}
	require_sane(&p, buf, cap, wire);
	REQUIRE(vs_pkt_size(&p) == cap, "%zu bytes in, %zu out", cap, vs_pkt_size(&p));
	REQUIRE(vs_pkt_build(&p, again, sizeof(again)) == (int)cap, "it does not build");
	REQUIRE(memcmp(again, buf, cap) == 0, "it builds to other bytes");
	REQUIRE(vs_pkt_parse(&q, link, ethertype, again, cap, wire, opt) == VS_OK, "it does not parse again");
	REQUIRE(vs_pkt_equal(&p, &q) && p.flags == q.flags && p.missing_len == q.missing_len,
		"it parses to another packet");
	vs_icrc_check(&p, buf, NULL);
	vs_vcrc_check(&p, buf, NULL);
	vs_pkt_validate(&p, VS_CRC_UNVERIFIED, VS_CRC_UNVERIFIED, reasons, 8);
	return true;
}

START_TEST(build_of_parse_is_the_bytes)
{
	uint64_t seed = 0x5eed3;
	unsigned long done = 0, tried = 0, n = vs_gen_count(STRINGS);
	static struct vs_gen g;
	static uint8_t whole[VS_GEN_MAX + 64];

	while (done < n) {
		uint16_t ethertype;
		enum vs_link link;
		size_t wire, cap;

		vs_gen_random(&g, &seed);
		link = vs_pkt_link(&g.p, &ethertype);
		wire = vs_gen_mutate(&seed, whole, (size_t)vs_pkt_build(&g.p, whole, VS_GEN_MAX), VS_GEN_MAX);
		if (vs_gen_one_in(&seed, 16))
			link = (enum vs_link)vs_gen_below(&seed, VS_LINK_BTH + 1);
		cap = wire > 0 && vs_gen_one_in(&seed, 4) ? vs_gen_below(&seed, (uint32_t)wire) : wire;
		done += round_trip(link, ethertype, whole, cap, wire, g.opt);
		REQUIRE(++tried < 4 * n + 1000, "most strings do not parse: %lu of %lu", done, tried);
	}
}
END_TEST

/* Legal packets of every opcode, cut at every byte: they parse or are SHORT, and build to what was captured. */
START_TEST(a_snap_length_loses_nothing_that_was_captured)
{
	uint64_t seed = 0x5eed4;
	static struct vs_gen g;
	static uint8_t buf[VS_GEN_MAX];

	for (unsigned e = 0; e < VS_GEN_ENCAPS; e++) {
		for (unsigned op = 0; op < 256; op++) {
			uint16_t ethertype;
			enum vs_link link;
			size_t n;

			vs_gen_legal(&g, &seed, (enum vs_encap)e, (uint8_t)op, op & 1);
			g.p.payload_len &= 63;
			ck_assert_int_eq(vs_pkt_seal(&g.p, VS_SEAL_ALL, buf, sizeof(buf)), VS_OK);
			n = (size_t)vs_pkt_build(&g.p, buf, sizeof(buf));
			link = vs_pkt_link(&g.p, &ethertype);
			for (size_t cap = 0; cap <= n; cap++) {
				bool parsed = round_trip(link, ethertype, buf, cap, n, 0);

				REQUIRE(parsed || cap < n, "opcode %02x in encap %u does not parse", op, e);
			}
		}
	}
}
END_TEST

/* ---- shapes, one by one ---- */

static struct vs_gen one;
static uint8_t frame[VS_GEN_MAX];

START_TEST(pad_is_neither_payload_nor_icrc)
{
	size_t n = vs_gen_frame(&one, frame, VS_ENCAP_ROCEV1, VS_OP_RC_SEND_ONLY, 5, false);
	struct vs_pkt p;

	ck_assert_int_eq(vs_pkt_parse(&p, VS_LINK_GRH, 0, frame, n, n, 0), VS_OK);
	ck_assert_uint_eq(p.payload_len, 5);
	ck_assert_uint_eq(p.pad_len, 3);
	ck_assert_uint_eq(p.payload_off, 52);
	ck_assert_uint_eq(p.end_off, n);
	ck_assert_uint_eq(p.icrc, one.p.icrc);
	ck_assert_mem_eq(p.payload, one.payload, 5);
}
END_TEST

START_TEST(ethernet_padding_is_trailer)
{
	size_t n = vs_gen_frame(&one, frame, VS_ENCAP_ROCEV2_IPV4, VS_OP_RC_ACKNOWLEDGE, 0, true);
	struct vs_pkt p;

	memset(frame + n, 0xaa, 9);
	ck_assert_int_eq(vs_pkt_parse(&p, VS_LINK_ETHERNET, 0, frame, n + 9, n + 9, 0), VS_OK);
	ck_assert_uint_eq(p.trailer_len, 9);
	ck_assert_uint_eq(p.end_off, n);
	ck_assert_int_eq(vs_icrc_check(&p, frame, NULL), VS_CRC_GOOD);
	/* A snap length that takes the padding alone cuts nothing of the packet. */
	ck_assert_int_eq(vs_pkt_parse(&p, VS_LINK_ETHERNET, 0, frame, n + 2, n + 9, 0), VS_OK);
	ck_assert_uint_eq(p.flags & VS_PKT_SNAPPED, 0);
	ck_assert_int_eq(vs_icrc_check(&p, frame, NULL), VS_CRC_GOOD);
}
END_TEST

START_TEST(tags_are_peeled_with_and_without_ethernet_header)
{
	static const uint16_t tpids[] = {0x88a8, 0x8100, 0x9100, 0x9200};
	size_t plain = vs_gen_frame(&one, frame, VS_ENCAP_ROCEV2_IPV6, VS_OP_UC_SEND_ONLY, 8, true);

	for (uint8_t depth = 0; depth <= VS_MAX_VLAN; depth++) {
		struct vs_pkt p;
		size_t n;

		one.p.eth.vlan_count = depth;
		for (unsigned i = 0; i < depth; i++)
			one.p.eth.vlan[i] = (struct vs_vlan){tpids[i], (uint16_t)(100 + i)};
		n = (size_t)vs_pkt_build(&one.p, frame, sizeof(frame));
		ck_assert_uint_eq(n, plain + 4u * depth);
		ck_assert_int_eq(vs_pkt_parse(&p, VS_LINK_ETHERNET, 0, frame, n, n, 0), VS_OK);
		ck_assert(vs_pkt_equal(&p, &one.p));
		ck_assert_int_eq(vs_icrc_check(&p, frame, NULL), VS_CRC_GOOD);
		/* As Linux cooked captures give it: the first type is told, the bytes begin behind it. */
		ck_assert_int_eq(vs_pkt_parse(&p, VS_LINK_ETHERTYPE, depth > 0 ? tpids[0] : VS_ETHERTYPE_IPV6,
					      frame + 14, n - 14, n - 14, 0),
				 VS_OK);
		ck_assert_uint_eq(p.eth.vlan_count, depth);
		ck_assert_int_eq(vs_icrc_check(&p, frame + 14, NULL), VS_CRC_GOOD);
	}
	/* One tag more than is understood is other traffic. */
	memmove(frame + 16, frame + 12, plain + 16);
	frame[12] = 0x81;
	frame[13] = 0x00;
	struct vs_pkt p;
	ck_assert_int_eq(vs_pkt_parse(&p, VS_LINK_ETHERNET, 0, frame, plain + 20, plain + 20, 0), VS_ERR_NOT_RDMA);
}
END_TEST

START_TEST(only_the_destination_port_counts)
{
	size_t n = vs_gen_frame(&one, frame, VS_ENCAP_ROCEV2_IPV4, VS_OP_RC_SEND_ONLY, 8, false);
	struct vs_pkt p;

	frame[20] = 0; /* source port 69 */
	frame[21] = 69;
	ck_assert_int_eq(vs_pkt_parse(&p, VS_LINK_IP, 0, frame, n, n, 0), VS_OK);
	frame[20] = 4791 >> 8;
	frame[21] = 4791 & 0xff;
	frame[23] ^= 1;
	ck_assert_int_eq(vs_pkt_parse(&p, VS_LINK_IP, 0, frame, n, n, 0), VS_ERR_NOT_RDMA);
	ck_assert_int_eq(vs_pkt_parse(&p, VS_LINK_IP, 0, frame, n, n, VS_PARSE_ANY_PORT), VS_OK);
}
END_TEST

START_TEST(only_the_first_fragment_parses_and_has_no_icrc)
{
	size_t n = vs_gen_frame(&one, frame, VS_ENCAP_ROCEV2_IPV4, VS_OP_RC_SEND_ONLY, 100, false);
	struct vs_pkt p;

	frame[6] = 0x20; /* more fragments */
	ck_assert_int_eq(vs_pkt_parse(&p, VS_LINK_IP, 0, frame, n, n, 0), VS_OK);
	ck_assert_uint_eq(p.flags & (VS_PKT_FRAGMENT | VS_PKT_HAS_ICRC), VS_PKT_FRAGMENT);
	ck_assert_uint_eq(p.payload_len, 104);
	ck_assert_int_eq(vs_icrc_check(&p, frame, NULL), VS_CRC_UNVERIFIED);
	frame[7] = 1; /* and an offset */
	ck_assert_int_eq(vs_pkt_parse(&p, VS_LINK_IP, 0, frame, n, n, 0), VS_ERR_NOT_RDMA);
	frame[6] = 0;
	ck_assert_int_eq(vs_pkt_parse(&p, VS_LINK_IP, 0, frame, n, n, 0), VS_ERR_NOT_RDMA);
}
END_TEST

START_TEST(a_fragment_by_what_carries_it_is_not_accused_of_what_is_elsewhere)
{
	static const enum vs_encap encaps[] = {VS_ENCAP_ROCEV2_IPV4, VS_ENCAP_ROCEV2_IPV6, VS_ENCAP_ROCEV1};
	static const enum vs_link links[] = {VS_LINK_IP, VS_LINK_IP, VS_LINK_GRH};

	for (unsigned e = 0; e < 3; e++) {
		size_t n = vs_gen_frame(&one, frame, encaps[e], VS_OP_RC_SEND_FIRST, 256, false);
		enum vs_reason why[8];
		struct vs_pkt p;

		for (size_t there = n - 1; there >= n - 256; there--) {
			ck_assert_int_eq(vs_pkt_parse(&p, links[e], 0, frame, there, there, VS_PARSE_FRAGMENT), VS_OK);
			ck_assert_uint_eq(p.flags & (VS_PKT_FRAGMENT | VS_PKT_HAS_ICRC), VS_PKT_FRAGMENT);
			ck_assert_int_eq(vs_icrc_check(&p, frame, NULL), VS_CRC_UNVERIFIED);
			ck_assert_uint_eq(vs_pkt_validate(&p, VS_CRC_UNVERIFIED, VS_CRC_UNVERIFIED, why, 8), 0);
		}
		ck_assert_int_eq(vs_pkt_parse(&p, links[e], 0, frame, n - 1, n - 1, 0), VS_OK);
		ck_assert_uint_gt(vs_pkt_validate(&p, VS_CRC_UNVERIFIED, VS_CRC_UNVERIFIED, why, 8), 0);
	}
}
END_TEST

START_TEST(ipv4_options_stand_before_udp)
{
	size_t plain = vs_gen_frame(&one, frame, VS_ENCAP_ROCEV2_IPV4, VS_OP_RC_SEND_ONLY, 8, false), n;
	struct vs_pkt p;

	one.p.ipv4.ihl = 15;
	memset(one.p.ipv4.options, 1, 40);
	ck_assert_int_eq(vs_pkt_seal(&one.p, VS_SEAL_ALL, frame, sizeof(frame)), VS_OK);
	n = (size_t)vs_pkt_build(&one.p, frame, sizeof(frame));
	ck_assert_uint_eq(n, plain + 40);
	ck_assert_int_eq(vs_pkt_parse(&p, VS_LINK_IP, 0, frame, n, n, 0), VS_OK);
	ck_assert_uint_eq(p.bth_off, 68);
	ck_assert(vs_pkt_equal(&p, &one.p));
	ck_assert_int_eq(vs_icrc_check(&p, frame, NULL), VS_CRC_GOOD);
}
END_TEST

START_TEST(lengths_that_promise_more_take_all_there_is)
{
	size_t n = vs_gen_frame(&one, frame, VS_ENCAP_ROCEV2_IPV4, VS_OP_RC_SEND_ONLY, 8, false);
	struct vs_pkt p;

	frame[24] = 0xff; /* UDP length */
	ck_assert_int_eq(vs_pkt_parse(&p, VS_LINK_IP, 0, frame, n, n, 0), VS_OK);
	ck_assert_uint_eq(p.payload_len, 8);
	ck_assert_uint_eq(p.end_off, n);
	frame[24] = frame[25] = 0; /* too small to hold a BTH: not believed either */
	ck_assert_int_eq(vs_pkt_parse(&p, VS_LINK_IP, 0, frame, n, n, 0), VS_OK);
	ck_assert_uint_eq(p.payload_len, 8);
}
END_TEST

/* The smallest length that holds a BTH is believed; one less is not, and all there is counts. */
START_TEST(a_length_counts_from_the_first_that_holds_a_bth)
{
	static const struct {
		enum vs_encap encap;
		enum vs_link link;
		size_t field; /* offset of the length, and where the packet that it measures begins */
		size_t begin;
		unsigned least;
	} lengths[] = {
		{VS_ENCAP_ROCEV2_IPV4, VS_LINK_IP, 2, 0, 20 + 8 + 12},
		{VS_ENCAP_ROCEV2_IPV4, VS_LINK_IP, 24, 20, 8 + 12},
		{VS_ENCAP_ROCEV2_IPV6, VS_LINK_IP, 4, 40, 8 + 12},
		{VS_ENCAP_ROCEV2_IPV6, VS_LINK_IP, 44, 40, 8 + 12},
		{VS_ENCAP_ROCEV1, VS_LINK_GRH, 4, 40, 12},
	};

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		size_t n = vs_gen_frame(&one, frame, lengths[i].encap, VS_OP_RC_SEND_ONLY, 8, false);
		struct vs_pkt p;

		frame[lengths[i].field] = 0;
		frame[lengths[i].field + 1] = (uint8_t)lengths[i].least;
		ck_assert_int_eq(vs_pkt_parse(&p, lengths[i].link, 0, frame, n, n, 0), VS_OK);
		ck_assert_uint_eq(p.end_off, lengths[i].begin + lengths[i].least);
		ck_assert_uint_eq(p.trailer_len, n - p.end_off);
		frame[lengths[i].field + 1]--;
		ck_assert_int_eq(vs_pkt_parse(&p, lengths[i].link, 0, frame, n, n, 0), VS_OK);
		ck_assert_uint_eq(p.end_off, n);
	}
}
END_TEST

static struct vs_pkt parse_ib(size_t cap, size_t wire, unsigned pktlen)
{
	struct vs_pkt p;

	frame[4] = (uint8_t)(pktlen >> 8);
	frame[5] = (uint8_t)pktlen;
	ck_assert_int_eq(vs_pkt_parse(&p, VS_LINK_IB, 0, frame, cap, wire, 0), VS_OK);
	return p;
}

START_TEST(pktlen_of_the_lrh_places_the_vcrc)
{
	size_t n =
		vs_gen_frame(&one, frame, VS_ENCAP_IB_GRH, VS_OP_RC_SEND_ONLY, 8, false); /* 8 + 40 + 12 + 8 + 4 + 2 */
	unsigned right = (unsigned)(n - 2) / 4;

	ck_assert_uint_eq(parse_ib(n, n, right).end_off, n - 2);
	ck_assert_uint_eq(parse_ib(n, n, right - 1).end_off, n - 6);
	ck_assert_uint_eq(parse_ib(n, n, right - 1).trailer_len, 4);
	/* LRH, GRH and BTH at least. */
	ck_assert_uint_eq(parse_ib(n, n, 15).end_off, 60);
	ck_assert_uint_eq(parse_ib(n, n, 14).end_off, n - 2);
	/* Impossible: 4n + 2 bytes end with a VCRC, others do not. */
	ck_assert_uint_eq(parse_ib(n, n, 0).vcrc, one.p.vcrc);
	ck_assert_uint_eq(parse_ib(n, n, 0x7ff).end_off, n - 2);
	ck_assert_uint_eq(parse_ib(n - 2, n - 2, 0x7ff).end_off, n - 2);
	ck_assert_uint_eq(parse_ib(n - 2, n - 2, 0x7ff).flags & VS_PKT_HAS_VCRC, 0);
	ck_assert_uint_eq(parse_ib(n - 1, n - 1, 0x7ff).end_off, n - 1);
	/* Another next header than IBA needs no room for a BTH. */
	frame[8 + 6] = 59;
	ck_assert_uint_eq(parse_ib(n, n, 12).end_off, 48);
	ck_assert_uint_eq(parse_ib(n, n, 11).end_off, n - 2);

	n = vs_gen_frame(&one, frame, VS_ENCAP_IB, VS_OP_RC_SEND_ONLY, 8, false);
	ck_assert_uint_eq(parse_ib(n, n, 5).end_off, 20);
	ck_assert_uint_eq(parse_ib(n, n, 4).end_off, n - 2);
	/* An LRH alone, and an LRH and a VCRC. */
	ck_assert_uint_eq(parse_ib(8, 8, 0).end_off, 8);
	ck_assert_uint_eq(parse_ib(10, 10, 0).end_off, 8);
	ck_assert_uint_eq(parse_ib(10, 10, 0).flags & (VS_PKT_HAS_VCRC | VS_PKT_HDR_MISSING | VS_PKT_HAS_BTH),
			  VS_PKT_HAS_VCRC | VS_PKT_HDR_MISSING);
}
END_TEST

START_TEST(native_ib_without_bth_keeps_its_payload)
{
	size_t n = vs_gen_frame(&one, frame, VS_ENCAP_IB_GRH, VS_OP_UD_SEND_ONLY, 16, false);
	struct vs_pkt p;

	frame[8 + 6] = 59; /* no next header: not IBA */
	ck_assert_int_eq(vs_pkt_parse(&p, VS_LINK_IB, 0, frame, n, n, 0), VS_OK);
	ck_assert_int_eq(p.encap, VS_ENCAP_IB_GRH);
	ck_assert_uint_eq(p.flags & (VS_PKT_HAS_BTH | VS_PKT_HAS_ICRC | VS_PKT_HAS_VCRC), VS_PKT_HAS_VCRC);
	ck_assert_uint_eq(p.payload_len, 12 + 8 + 16 + 4);

	frame[1] = (uint8_t)((frame[1] & ~3) | VS_LNH_RAW);
	ck_assert_int_eq(vs_pkt_parse(&p, VS_LINK_IB, 0, frame, n, n, 0), VS_OK);
	ck_assert_int_eq(p.encap, VS_ENCAP_IB_RAW);
	ck_assert_uint_eq(p.flags & VS_PKT_HAS_RWH, VS_PKT_HAS_RWH);
	ck_assert_uint_eq(p.rwh.etype, 0);
	ck_assert_uint_eq(p.payload_off, 12);

	frame[1] = (uint8_t)((frame[1] & ~3) | VS_LNH_IPV6);
	ck_assert_int_eq(vs_pkt_parse(&p, VS_LINK_IB, 0, frame, n, n, 0), VS_OK);
	ck_assert_int_eq(p.encap, VS_ENCAP_IB_RAW);
	ck_assert_uint_eq(p.payload_off, 8);
	ck_assert_int_eq(vs_icrc_check(&p, frame, NULL), VS_CRC_UNVERIFIED);
}
END_TEST

START_TEST(a_packet_that_ends_in_its_headers_keeps_the_whole_ones)
{
	size_t n = vs_gen_frame(&one, frame, VS_ENCAP_BARE, VS_OP_RD_COMPARE_SWAP, 0, false);
	struct vs_pkt p;

	ck_assert_uint_eq(n, 12 + 4 + 8 + 28 + 4);
	/* Cut short on the wire: RDETH and DETH are whole, of the AtomicETH 10 bytes are left, then 4 of ICRC. */
	ck_assert_int_eq(vs_pkt_parse(&p, VS_LINK_BTH, 0, frame, 38, 38, 0), VS_OK);
	ck_assert_uint_eq(p.hdrs, VS_HDR_RDETH | VS_HDR_DETH);
	ck_assert_uint_eq(p.flags & (VS_PKT_HDR_MISSING | VS_PKT_SNAPPED), VS_PKT_HDR_MISSING);
	ck_assert_uint_eq(p.payload_len, 10);
	/* Cut by the capture. */
	ck_assert_int_eq(vs_pkt_parse(&p, VS_LINK_BTH, 0, frame, 38, n, 0), VS_OK);
	ck_assert_uint_eq(p.flags & (VS_PKT_HDR_MISSING | VS_PKT_SNAPPED), VS_PKT_HDR_MISSING | VS_PKT_SNAPPED);
	ck_assert_uint_eq(p.payload_len, 14);
	ck_assert_uint_eq(p.missing_len, n - 38);
}
END_TEST

START_TEST(too_short_says_whose_fault_it_is)
{
	size_t n = vs_gen_frame(&one, frame, VS_ENCAP_ROCEV2_IPV4, VS_OP_RC_SEND_ONLY, 8, false);
	struct vs_pkt p;

	ck_assert_int_eq(vs_pkt_parse(&p, VS_LINK_IP, 0, frame, 39, n, 0), VS_ERR_SHORT);
	ck_assert_uint_eq(p.flags, VS_PKT_SNAPPED);
	ck_assert_int_eq(vs_pkt_parse(&p, VS_LINK_IP, 0, frame, 39, 40, 0), VS_ERR_SHORT);
	ck_assert_uint_eq(p.flags, VS_PKT_SNAPPED);
	ck_assert_int_eq(vs_pkt_parse(&p, VS_LINK_IP, 0, frame, 39, 39, 0), VS_ERR_SHORT);
	ck_assert_uint_eq(p.flags, 0);
	ck_assert_int_eq(vs_pkt_parse(&p, VS_LINK_IB, 0, frame, 7, 7, 0), VS_ERR_SHORT);
	ck_assert_int_eq(vs_pkt_parse(&p, VS_LINK_GRH, 0, frame, 51, 51, 0), VS_ERR_SHORT);
	ck_assert_int_eq(vs_pkt_parse(&p, VS_LINK_BTH, 0, frame, 9, 8, 0), VS_ERR_INVAL);
}
END_TEST

START_TEST(payload_on_the_wire_is_known_when_it_was_cut)
{
	size_t n = vs_gen_frame(&one, frame, VS_ENCAP_ROCEV2_IPV4, VS_OP_RC_SEND_ONLY, 57, true);
	struct vs_pkt p;

	for (size_t cap = 54; cap <= n; cap++) {
		ck_assert_int_eq(vs_pkt_parse(&p, VS_LINK_ETHERNET, 0, frame, cap, n, 0), VS_OK);
		ck_assert_uint_eq(p.payload_len + p.payload_missing_len, 57);
		ck_assert_uint_eq(p.missing_len, n - cap);
	}
	n = vs_gen_frame(&one, frame, VS_ENCAP_IB_RAW, 0, 56, false);
	for (size_t cap = 12; cap <= n; cap++) {
		ck_assert_int_eq(vs_pkt_parse(&p, VS_LINK_IB, 0, frame, cap, n, 0), VS_OK);
		ck_assert_uint_eq(p.payload_len + p.payload_missing_len, 56);
		ck_assert_uint_eq(p.missing_len, n - cap);
	}
	/* Where a header is cut already, where the payload would begin is not said. */
	ck_assert_int_eq(vs_pkt_parse(&p, VS_LINK_IB, 0, frame, 11, n, 0), VS_OK);
	ck_assert_uint_eq(p.flags & VS_PKT_HDR_MISSING, VS_PKT_HDR_MISSING);
	ck_assert_uint_eq(p.payload_missing_len, 0);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("wire");
	TCase *shapes = tcase_create("shapes"), *loss = tcase_create("nothing is lost");

	tcase_add_test(shapes, pad_is_neither_payload_nor_icrc);
	tcase_add_test(shapes, ethernet_padding_is_trailer);
	tcase_add_test(shapes, tags_are_peeled_with_and_without_ethernet_header);
	tcase_add_test(shapes, only_the_destination_port_counts);
	tcase_add_test(shapes, only_the_first_fragment_parses_and_has_no_icrc);
	tcase_add_test(shapes, a_fragment_by_what_carries_it_is_not_accused_of_what_is_elsewhere);
	tcase_add_test(shapes, ipv4_options_stand_before_udp);
	tcase_add_test(shapes, lengths_that_promise_more_take_all_there_is);
	tcase_add_test(shapes, a_length_counts_from_the_first_that_holds_a_bth);
	tcase_add_test(shapes, pktlen_of_the_lrh_places_the_vcrc);
	tcase_add_test(shapes, native_ib_without_bth_keeps_its_payload);
	tcase_add_test(shapes, a_packet_that_ends_in_its_headers_keeps_the_whole_ones);
	tcase_add_test(shapes, too_short_says_whose_fault_it_is);
	tcase_add_test(shapes, payload_on_the_wire_is_known_when_it_was_cut);
	suite_add_tcase(s, shapes);
	tcase_set_timeout(loss, 300);
	tcase_add_test(loss, parse_of_build_is_the_packet);
	tcase_add_test(loss, equal_sees_every_bit);
	tcase_add_test(loss, build_of_parse_is_the_bytes);
	tcase_add_test(loss, a_snap_length_loses_nothing_that_was_captured);
	suite_add_tcase(s, loss);
	return s;
}
