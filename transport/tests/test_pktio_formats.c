/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_pktio_formats.c - what other programs write: pcap and pcapng in both byte orders and every
 * precision, each link type that pktio.h names, and traffic that is not RDMA.
 */
#include "capfile.h"
#include "io/internal.h"
#include "runner.h"
#include "vs/icrc.h"

static struct file file; /* 64 KiB: too much for the stack */

static void fresh(bool big)
{
	memset(&file, 0, sizeof(file));
	file.big = big;
}

/* Reads one packet of `path` and checks that it is the ACK of capfile.h, at `time_ns`. */
static void expect_ack(const char *path, int64_t time_ns, enum vs_encap encap)
{
	struct vs_capture *c = open_good(path);
	struct vs_io_error err;
	struct vs_frame f;
	struct vs_pkt p;

	ck_assert_msg(vs_capture_next_pkt(c, &f, &p, 0, &err) == 1, "%s", err.text);
	ck_assert_int_eq(f.time_ns, time_ns);
	ck_assert_int_eq(p.encap, encap);
	ck_assert_uint_eq(p.bth.opcode, VS_OP_RC_ACKNOWLEDGE);
	ck_assert_uint_eq(p.bth.destqp, 0x12);
	ck_assert_uint_eq(p.bth.psn, 255);
	ck_assert_uint_eq(p.ext.aeth.msn, 1);
	if (encap == VS_ENCAP_ROCEV2_IPV4)
		ck_assert_int_eq(vs_icrc_check(&p, f.data, NULL), VS_CRC_GOOD);
	ck_assert_int_eq(vs_capture_next_pkt(c, &f, &p, 0, &err), 0);
	ck_assert_uint_eq(vs_capture_stats(c).rdma, 1);
	ck_assert_uint_eq(vs_capture_stats(c).other + vs_capture_stats(c).broken, 0);
	vs_capture_close(c);
}

/* Every file that expect_ack reads is read gzipped too. */
static void expect_ack_plain_and_gzipped(int64_t time_ns, enum vs_encap encap)
{
	static struct file gz;

	expect_ack(save("plain", &file), time_ns, encap);
	gz.len = 0;
	gzip_bytes(&gz, file.b, file.len, 6);
	expect_ack(save("gzipped", &gz), time_ns, encap);
}

START_TEST(pcap_is_read_in_both_byte_orders_and_precisions)
{
	bool big = _i & 1, ns = _i & 2;

	fresh(big);
	put_pcap_header(&file, ns ? PCAP_NS : PCAP_US, 101);
	put_pcap_record(&file, 1000, 1234, ack_ipv4, sizeof(ack_ipv4), sizeof(ack_ipv4));
	expect_ack_plain_and_gzipped(1000000000000 + (ns ? 1234 : 1234000), VS_ENCAP_ROCEV2_IPV4);
}
END_TEST

START_TEST(pcapng_is_read_in_both_byte_orders_and_any_precision)
{
	static const int64_t unit_ns[] = {[3] = 1000000, [6] = 1000, [9] = 1};
	bool big = _i & 1;
	uint8_t resol = (uint8_t)(3 + 3 * (_i / 2));

	fresh(big);
	put_shb(&file);
	put_idb(&file, 101, 0, resol);
	put_epb(&file, 0, 5000000007, ack_ipv4, sizeof(ack_ipv4), sizeof(ack_ipv4));
	expect_ack_plain_and_gzipped(5000000007 * unit_ns[resol], VS_ENCAP_ROCEV2_IPV4);
}
END_TEST

START_TEST(pcapng_skips_blocks_that_are_no_packets)
{
	struct vs_capture *c;

	fresh(false);
	put_shb(&file);
	put_idb(&file, 101, 0, 6);
	put_int(&file, 5, 4); /* interface statistics block, empty */
	put_int(&file, 24, 4);
	put_zeros(&file, 12);
	put_int(&file, 24, 4);
	put_epb(&file, 0, 7, ack_ipv4, sizeof(ack_ipv4), sizeof(ack_ipv4));
	expect_ack(save("x.pcapng", &file), 7000, VS_ENCAP_ROCEV2_IPV4);
	c = open_good(in_dir("x.pcapng"));
	ck_assert_str_eq(vs_capture_format(c), "pcapng");
	vs_capture_close(c);
}
END_TEST

/* Interfaces: raw IP, one that nobody reads, Ethernet with another snap length, raw IP again; a packet of each. */
static void put_mixed(void)
{
	static const uint8_t ethernet[14] = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x08, 0x00};
	uint8_t framed[sizeof(ethernet) + sizeof(ack_ipv4)];

	memcpy(framed, ethernet, sizeof(ethernet));
	memcpy(framed + sizeof(ethernet), ack_ipv4, sizeof(ack_ipv4));
	fresh(false);
	put_shb(&file);
	put_idb(&file, 105, 0, 9);
	put_idb(&file, 101, 0, 9);
	put_epb(&file, 0, 1, "wireless", 8, 8);
	put_epb(&file, 1, 2, ack_ipv4, sizeof(ack_ipv4), sizeof(ack_ipv4));
	put_idb(&file, 1, 96, 6);
	put_idb(&file, 101, 64, 9);
	put_epb(&file, 2, 3, framed, sizeof(framed), sizeof(framed));
	put_epb(&file, 3, 4, ack_ipv4, sizeof(ack_ipv4), sizeof(ack_ipv4));
}

START_TEST(interfaces_of_a_pcapng_may_have_different_link_types)
{
	static const struct {
		const char *linktype;
		uint64_t number;
		int64_t time_ns;
		uint32_t caplen;
	} want[] = {{"RAW", 2, 2, 48}, {"EN10MB", 3, 3000, 62}, {"RAW", 4, 4, 48}};
	struct vs_capture *c;
	struct vs_frame f;
	struct vs_pkt p;

	put_mixed();
	c = open_good(save("mixed.pcapng", &file));
	ck_assert_str_eq(vs_capture_linktype(c), "RAW");
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		ck_assert_int_eq(vs_capture_next_pkt(c, &f, &p, 0, NULL), 1);
		ck_assert_str_eq(vs_capture_linktype(c), want[i].linktype);
		ck_assert_uint_eq(f.number, want[i].number);
		ck_assert_int_eq(f.time_ns, want[i].time_ns);
		ck_assert_uint_eq(f.caplen, want[i].caplen);
		ck_assert_int_eq(vs_icrc_check(&p, f.data, NULL), VS_CRC_GOOD);
	}
	ck_assert_int_eq(vs_capture_next_pkt(c, &f, &p, 0, NULL), 0);
	ck_assert_uint_eq(vs_capture_stats(c).frames, 4);
	ck_assert_uint_eq(vs_capture_stats(c).other, 1);
	vs_capture_close(c);
}
END_TEST

START_TEST(sections_of_a_pcapng_have_interfaces_of_their_own)
{
	struct vs_capture *c;
	struct vs_frame f;
	struct vs_pkt p;

	fresh(false);
	put_shb(&file);
	put_idb(&file, 229, 0, 9);
	put_shb(&file);
	put_idb(&file, 101, 0, 9);
	put_epb(&file, 0, 2, ack_ipv4, sizeof(ack_ipv4), sizeof(ack_ipv4));
	c = open_good(save("sections.pcapng", &file));
	ck_assert_int_eq(vs_capture_next_pkt(c, &f, &p, 0, NULL), 1);
	ck_assert_str_eq(vs_capture_linktype(c), "RAW");
	ck_assert_uint_eq(f.number, 1);
	vs_capture_close(c);
}
END_TEST

START_TEST(a_record_longer_than_the_snap_length_is_kept_whole)
{
	struct vs_capture *c;
	struct vs_frame f;

	fresh(false);
	put_pcap_header(&file, PCAP_US, 101);
	file.b[16] = 20; /* snap length 20, and yet: */
	file.b[17] = 0;
	put_pcap_record(&file, 1, 0, ack_ipv4, sizeof(ack_ipv4), sizeof(ack_ipv4));
	c = open_good(save("x.pcap", &file));
	ck_assert_int_eq(vs_capture_next(c, &f, NULL), 1);
	ck_assert_uint_eq(f.caplen, sizeof(ack_ipv4));
	vs_capture_close(c);
}
END_TEST

/* ---- link types ---- */

/* One record: `head`, then the ACK, in a pcap file of this link type. */
static void put_linked(uint32_t linktype, const uint8_t *head, size_t head_len, const uint8_t *pkt, size_t pkt_len)
{
	uint8_t b[256];

	fresh(false);
	put_pcap_header(&file, PCAP_NS, linktype);
	if (head_len)
		memcpy(b, head, head_len);
	memcpy(b + head_len, pkt, pkt_len);
	put_pcap_record(&file, 9, 8, b, head_len + pkt_len, head_len + pkt_len);
}

START_TEST(ethernet_with_and_without_tags_is_read)
{
	static const uint8_t heads[3][22] = {
		{2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x08, 0x00},
		{2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x81, 0x00, 0x60, 0x05, 0x08, 0x00}, /* VLAN 5 */
		{2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x88, 0xa8, 0x00, 0x09, 0x81, 0x00, 0x60, 0x05, 0x08, 0x00},
	};

	put_linked(1, heads[_i], 14 + 4 * (size_t)_i, ack_ipv4, sizeof(ack_ipv4));
	expect_ack(save("x.pcap", &file), 9000000008, VS_ENCAP_ROCEV2_IPV4);
}
END_TEST

START_TEST(raw_ip_is_read_by_each_of_its_numbers)
{
	static const uint32_t linktypes[] = {12, 14, 101, 228};

	put_linked(linktypes[_i], NULL, 0, ack_ipv4, sizeof(ack_ipv4));
	expect_ack(save("x.pcap", &file), 9000000008, VS_ENCAP_ROCEV2_IPV4);
}
END_TEST

START_TEST(raw_ipv6_is_read)
{
	/* version 6, payload 28 (UDP, BTH, AETH, ICRC), UDP, hop limit 64, fd00::1 -> fd00::2; ICRC of the vectors */
	uint8_t b[68] = {0x60, 0x20, 0, 0, 0, 28, 17, 64, 0xfd, [23] = 1, [24] = 0xfd, [39] = 2};
	static const uint8_t icrc[4] = {0x16, 0x19, 0x02, 0x5b};
	struct vs_capture *c;
	struct vs_frame f;
	struct vs_pkt p;

	memcpy(b + 40, ack_ipv4 + 20, 28);
	memcpy(b + 64, icrc, 4);
	put_linked(229, NULL, 0, b, sizeof(b));
	c = open_good(save("x.pcap", &file));
	ck_assert_str_eq(vs_capture_linktype(c), "IPV6");
	ck_assert_int_eq(vs_capture_next_pkt(c, &f, &p, 0, NULL), 1);
	ck_assert_int_eq(p.encap, VS_ENCAP_ROCEV2_IPV6);
	ck_assert_int_eq(vs_icrc_check(&p, f.data, NULL), VS_CRC_GOOD);
	vs_capture_close(c);
}
END_TEST

START_TEST(linux_cooked_captures_are_read)
{
	/* packet type 0, ARPHRD 1, address length 6, address, protocol; with a tag the protocol is 0x8100 */
	static const uint8_t sll[] = {0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, 0x08, 0x00};
	static const uint8_t sll_vlan[] = {0, 0, 0, 1, 0,    6,    2,    0,    0,    0,
					   0, 1, 0, 0, 0x81, 0x00, 0x00, 0x05, 0x08, 0x00};
	/* protocol, reserved, interface 3, ARPHRD 1, packet type 0, address length 6, address */
	static const uint8_t sll2[] = {0x08, 0x00, 0, 0, 0, 0, 0, 3, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0};

	put_linked(113, sll, sizeof(sll), ack_ipv4, sizeof(ack_ipv4));
	expect_ack(save("sll.pcap", &file), 9000000008, VS_ENCAP_ROCEV2_IPV4);
	put_linked(113, sll_vlan, sizeof(sll_vlan), ack_ipv4, sizeof(ack_ipv4));
	expect_ack(save("vlan.pcap", &file), 9000000008, VS_ENCAP_ROCEV2_IPV4);
	put_linked(276, sll2, sizeof(sll2), ack_ipv4, sizeof(ack_ipv4));
	expect_ack(save("sll2.pcap", &file), 9000000008, VS_ENCAP_ROCEV2_IPV4);
}
END_TEST

START_TEST(infiniband_is_read_from_erf_and_by_its_own_number)
{
	/* 0.75 s + 7 s, type, flags, rlen 46 + what `ext` has, none lost, wlen 30 */
	uint8_t erf[32] = {0, 0, 0, 0xc0, 7, 0, 0, 0, 21, 4, 0, 46, 0, 0, 0, 30};

	put_linked(197, erf, 16, ack_ib, sizeof(ack_ib));
	expect_ack(save("erf.pcap", &file), 7750000000, VS_ENCAP_IB);
	erf[8] = 25; /* the link type, and yet a whole packet */
	put_linked(197, erf, 16, ack_ib, sizeof(ack_ib));
	expect_ack(save("erf25.pcap", &file), 7750000000, VS_ENCAP_IB);
	erf[8] = 0x80 | 21; /* two extension headers of 8 bytes; bit 7 of the first: another one follows */
	erf[16] = 0x80 | 3;
	erf[24] = 3;
	erf[11] = 62;
	put_linked(197, erf, 32, ack_ib, sizeof(ack_ib));
	expect_ack(save("ext.pcap", &file), 7750000000, VS_ENCAP_IB);
	put_linked(247, NULL, 0, ack_ib, sizeof(ack_ib));
	expect_ack(save("ib.pcap", &file), 9000000008, VS_ENCAP_IB);
}
END_TEST

START_TEST(without_an_erf_time_the_pcap_time_counts)
{
	static const uint8_t erf[16] = {[8] = 21, 4, 0, 46, 0, 0, 0, 30};

	put_linked(197, erf, 16, ack_ib, sizeof(ack_ib));
	expect_ack(save("x.pcap", &file), 9000000008, VS_ENCAP_IB);
}
END_TEST

START_TEST(an_erf_time_is_rounded_to_the_nearest_nanosecond)
{
	static const uint8_t erf[16] = {3, 0, 0, 0, 7, 0, 0, 0, 21, 4, 0, 46, 0, 0, 0, 30}; /* 3 / 2^32 s: 0.7 ns */

	put_linked(197, erf, 16, ack_ib, sizeof(ack_ib));
	expect_ack(save("x.pcap", &file), 7000000001, VS_ENCAP_IB);
}
END_TEST

START_TEST(a_wire_length_below_the_captured_one_is_not_believed)
{
	struct vs_capture *c;
	struct vs_frame f;

	fresh(false);
	put_pcap_header(&file, PCAP_US, 101);
	put_pcap_record(&file, 1, 0, ack_ipv4, sizeof(ack_ipv4), 10);
	c = open_good(save("x.pcap", &file));
	ck_assert_int_eq(vs_capture_next(c, &f, NULL), 1);
	ck_assert_uint_eq(f.caplen, sizeof(ack_ipv4));
	ck_assert_uint_eq(f.wirelen, sizeof(ack_ipv4));
	vs_capture_close(c);
}
END_TEST

/* On the heap, so that a sanitizer or valgrind sees a byte too many. */
START_TEST(link_headers_are_taken_off_without_reading_beyond)
{
	static const int dlts[] = {1, 12, 14, 113, 276, 101, 228, 229, 197, 247};

	for (uint32_t len = 0; len < 80; len++) {
		uint8_t *b = malloc(len ? len : 1);

		for (size_t i = 0; i < sizeof(dlts) / sizeof(dlts[0]); i++) {
			struct vs_frame f = {.caplen = len, .wirelen = len, .data = b};

			memset(b, 0xff, len ? len : 1); /* ERF: extension headers without end */
			vs_link_peel(dlts[i], &f);
			ck_assert_uint_le(f.caplen, f.wirelen);
			ck_assert_uint_le(f.caplen, len);
		}
		free(b);
	}
}
END_TEST

START_TEST(padding_of_an_erf_record_is_not_the_packet)
{
	static const uint8_t erf[16] = {0, 0, 0, 0, 7, 0, 0, 0, 21, 4, 0, 48, 0, 0, 0, 30};
	uint8_t b[32] = {0};
	struct vs_capture *c;
	struct vs_frame f;

	memcpy(b, ack_ib, sizeof(ack_ib));
	put_linked(197, erf, 16, b, sizeof(b));
	c = open_good(save("x.pcap", &file));
	ck_assert_int_eq(vs_capture_next(c, &f, NULL), 1);
	ck_assert_uint_eq(f.caplen, 30);
	ck_assert_uint_eq(f.wirelen, 30);
	vs_capture_close(c);
}
END_TEST

/* ---- other traffic ---- */

START_TEST(other_traffic_is_passed_over_and_counted)
{
	static const uint8_t arp[14 + 28] = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x08, 0x06, 0, 1, 8, 0, 6, 4, 0, 1};
	uint8_t b[14 + 48];
	struct vs_capture *c;
	struct vs_io_error err;
	struct vs_frame f;
	struct vs_pkt p;
	struct vs_capture_stats st;

	fresh(false);
	put_pcap_header(&file, PCAP_US, 1);
	put_pcap_record(&file, 1, 0, arp, sizeof(arp), sizeof(arp));
	memcpy(b, eth_ipv4, 14);
	memcpy(b + 14, ack_ipv4, 48);
	put_pcap_record(&file, 2, 0, b, sizeof(b), sizeof(b));
	b[14 + 9] = 6; /* TCP */
	put_pcap_record(&file, 3, 0, b, sizeof(b), sizeof(b));
	b[14 + 9] = 17;
	put_pcap_record(&file, 4, 0, b, 14 + 20 + 8 + 5, sizeof(b)); /* cut inside the BTH */
	put_pcap_record(&file, 5, 0, b, sizeof(b) - 2, sizeof(b));   /* cut inside the ICRC */
	put_pcap_record(&file, 6, 0, b, 5, sizeof(b));               /* cut inside the Ethernet header */
	c = open_good(save("x.pcap", &file));
	ck_assert_int_eq(vs_capture_next_pkt(c, &f, &p, 0, &err), 1);
	ck_assert_uint_eq(f.number, 2);
	ck_assert_int_eq(vs_capture_next_pkt(c, &f, &p, 0, &err), 1);
	ck_assert_uint_eq(f.number, 5);
	ck_assert(p.flags & VS_PKT_SNAPPED);
	ck_assert_int_eq(vs_capture_next_pkt(c, &f, &p, 0, &err), 0);
	st = vs_capture_stats(c);
	ck_assert_uint_eq(st.frames, 6);
	ck_assert_uint_eq(st.rdma, 2);
	ck_assert_uint_eq(st.other, 3);
	ck_assert_uint_eq(st.broken, 1);
	ck_assert_uint_eq(st.snapped, 2);
	vs_capture_close(c);
}
END_TEST

/* One record of this link type that holds no RDMA, of `len` bytes of `b`. */
static void expect_other(uint32_t linktype, const uint8_t *b, size_t len)
{
	struct vs_capture *c;
	struct vs_io_error err;
	struct vs_frame f;
	struct vs_pkt p;

	put_linked(linktype, NULL, 0, b, len);
	c = open_good(save("other.pcap", &file));
	ck_assert_msg(vs_capture_next_pkt(c, &f, &p, 0, &err) == 0, "link type %u, %zu bytes", linktype, len);
	ck_assert_uint_eq(vs_capture_stats(c).other, 1);
	vs_capture_close(c);
}

START_TEST(records_shorter_than_their_link_header_are_other_traffic)
{
	static const uint8_t zeros[40];
	/* type 21, announcing an extension header that is not there */
	static const uint8_t erf_ext[16] = {0, 0, 0, 0, 7, 0, 0, 0, 0x80 | 21, 4, 0, 46, 0, 0, 0, 30};

	for (size_t len = 0; len < 16; len++) {
		expect_other(113, zeros, len);
		expect_other(276, zeros, len);
		expect_other(197, zeros, len);
		expect_other(101, zeros, len);
	}
	expect_other(197, erf_ext, sizeof(erf_ext));
}
END_TEST

START_TEST(other_erf_types_and_link_packets_are_other_traffic)
{
	uint8_t erf[22] = {0, 0, 0, 0, 7, 0, 0, 0, 25, 4, 0, 22, 0, 0, 0, 6};

	expect_other(197, erf, sizeof(erf)); /* flow control: 6 bytes */
	erf[8] = 2;                          /* Ethernet */
	expect_other(197, erf, sizeof(erf));
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("pktio formats");
	TCase *t = tcase_create("files in order");

	tcase_add_checked_fixture(t, make_dir, remove_dir);
	tcase_add_loop_test(t, pcap_is_read_in_both_byte_orders_and_precisions, 0, 4);
	tcase_add_loop_test(t, pcapng_is_read_in_both_byte_orders_and_any_precision, 0, 6);
	tcase_add_test(t, pcapng_skips_blocks_that_are_no_packets);
	tcase_add_test(t, interfaces_of_a_pcapng_may_have_different_link_types);
	tcase_add_test(t, sections_of_a_pcapng_have_interfaces_of_their_own);
	tcase_add_test(t, a_record_longer_than_the_snap_length_is_kept_whole);
	tcase_add_loop_test(t, ethernet_with_and_without_tags_is_read, 0, 3);
	tcase_add_loop_test(t, raw_ip_is_read_by_each_of_its_numbers, 0, 4);
	tcase_add_test(t, raw_ipv6_is_read);
	tcase_add_test(t, linux_cooked_captures_are_read);
	tcase_add_test(t, infiniband_is_read_from_erf_and_by_its_own_number);
	tcase_add_test(t, without_an_erf_time_the_pcap_time_counts);
	tcase_add_test(t, an_erf_time_is_rounded_to_the_nearest_nanosecond);
	tcase_add_test(t, a_wire_length_below_the_captured_one_is_not_believed);
	tcase_add_test(t, link_headers_are_taken_off_without_reading_beyond);
	tcase_add_test(t, padding_of_an_erf_record_is_not_the_packet);
	tcase_add_test(t, other_traffic_is_passed_over_and_counted);
	tcase_add_test(t, records_shorter_than_their_link_header_are_other_traffic);
	tcase_add_test(t, other_erf_types_and_link_packets_are_other_traffic);
	suite_add_tcase(s, t);
	return s;
}
