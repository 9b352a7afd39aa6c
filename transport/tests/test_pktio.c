/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_pktio.c - capture files that are in order: what is written comes back, and every kind of
 * file and link type that pktio.h names is read. Broken files: test_pktio_errors.c.
 */
#include <fcntl.h>
#include <inttypes.h>

#include "capfile.h"
#include "runner.h"
#include "vs/icrc.h"

static struct file file; /* 64 KiB: too much for the stack */

static void fresh(bool big)
{
	memset(&file, 0, sizeof(file));
	file.big = big;
}

/* ---- write, then read ---- */

struct written {
	int64_t time_ns;
	uint32_t caplen, wirelen;
};

static const struct kind {
	enum vs_writer_kind kind;
	enum vs_link link;
	const char *linktype;
} kinds[] = {
	{VS_WRITER_ETHERNET, VS_LINK_ETHERNET, "EN10MB"},
	{VS_WRITER_RAW_IP, VS_LINK_IP, "RAW"},
	{VS_WRITER_ERF_IB, VS_LINK_IB, "ERF"},
};

static void fill_frame(uint8_t *b, size_t len, uint64_t seed)
{
	for (size_t i = 0; i < len; i++)
		b[i] = (uint8_t)(vs_rand(&seed) >> 32);
}

static void write_all(const char *path, enum vs_writer_kind kind, const struct written *w, unsigned n)
{
	struct vs_io_error err;
	struct vs_writer *out = vs_writer_open(path, kind, &err);
	static uint8_t b[65536];

	ck_assert_msg(out != NULL, "%s", err.text);
	for (unsigned i = 0; i < n; i++) {
		fill_frame(b, w[i].caplen, i + 1);
		ck_assert_msg(vs_writer_put(out, w[i].time_ns, b, w[i].caplen, w[i].wirelen, &err) == 0, "%s",
			      err.text);
	}
	ck_assert_msg(vs_writer_close(out, &err) == 0, "%s", err.text);
}

static void expect_all(const char *path, const struct kind *kind, const struct written *w, unsigned n)
{
	struct vs_capture *c = open_good(path);
	struct vs_io_error err;
	struct vs_frame f;
	static uint8_t b[65536];

	ck_assert_str_eq(vs_capture_linktype(c), kind->linktype);
	ck_assert_str_eq(vs_capture_format(c), "pcap");
	for (unsigned i = 0; i < n; i++) {
		ck_assert_msg(vs_capture_next(c, &f, &err) == 1, "frame %u: %s", i + 1, err.text);
		ck_assert_uint_eq(f.number, i + 1);
		ck_assert_int_eq(f.time_ns, w[i].time_ns);
		ck_assert_uint_eq(f.caplen, w[i].caplen);
		ck_assert_uint_eq(f.wirelen, w[i].wirelen);
		ck_assert_int_eq(f.link, kind->link);
		fill_frame(b, w[i].caplen, i + 1);
		ck_assert_mem_eq(f.data, b, w[i].caplen);
	}
	ck_assert_int_eq(vs_capture_next(c, &f, &err), 0);
	ck_assert_int_eq(vs_capture_next(c, &f, &err), 0);
	ck_assert_uint_eq(vs_capture_stats(c).frames, n);
	vs_capture_close(c);
}

static const struct written edge_frames[] = {
	{0, 60, 60},
	{1, 1, 1},
	{999999999, 256, 256},
	{1700000000123456789, 4200, 4200},
	{1700000000000000001, 96, 4200},  /* cut by a snap length */
	{1600000000000000000, 60, 60},    /* time runs backwards */
	{2147483648000000007, 60, 60},    /* after 2038 */
	{4294967295999999999, 20, 65535}, /* the last nanosecond of 32-bit seconds */
	{5, 0, 60},                       /* nothing captured */
};
#define EDGE_FRAMES (sizeof(edge_frames) / sizeof(edge_frames[0]))

START_TEST(what_is_written_comes_back_exact_to_the_nanosecond)
{
	const char *path = in_dir("edge.pcap");

	write_all(path, kinds[_i].kind, edge_frames, EDGE_FRAMES);
	expect_all(path, &kinds[_i], edge_frames, EDGE_FRAMES);
	ck_assert_uint_eq(count_files(), 1); /* the temporary file is gone */
}
END_TEST

START_TEST(random_times_and_lengths_come_back)
{
	enum { N = 1500 };
	static struct written w[N];
	uint64_t seed = 4711 + (uint64_t)_i;
	const char *path = in_dir("random.pcap");

	for (unsigned i = 0; i < N; i++) {
		w[i].time_ns = (int64_t)(vs_rand(&seed) % 4294967296000000000u);
		w[i].wirelen = (uint32_t)(vs_rand(&seed) % 300);
		w[i].caplen = w[i].wirelen - (uint32_t)(vs_rand(&seed) % (w[i].wirelen + 1));
	}
	write_all(path, kinds[_i].kind, w, N);
	expect_all(path, &kinds[_i], w, N);
}
END_TEST

START_TEST(gzipped_captures_come_back_the_same)
{
	static struct file gz;
	const char *path = in_dir("edge.pcap");

	write_all(path, kinds[_i].kind, edge_frames, EDGE_FRAMES);
	fresh(false);
	file.len = load_bytes(path, file.b, sizeof(file.b));
	gz.len = 0;
	gzip_bytes(&gz, file.b, file.len, 9);
	expect_all(save("edge.pcap.gz", &gz), &kinds[_i], edge_frames, EDGE_FRAMES);

	/* two members one after the other, as `cat a.gz b.gz` makes; then zero padding */
	gz.len = 0;
	gzip_bytes(&gz, file.b, 100, 9);
	gzip_bytes(&gz, file.b + 100, file.len - 100, 1);
	put(&gz, "\0\0\0\0\0", 5);
	expect_all(save("members.gz", &gz), &kinds[_i], edge_frames, EDGE_FRAMES);
}
END_TEST

START_TEST(the_bytes_of_a_pcap_file_are_these)
{
	static const uint8_t want[] = {
		0x4d, 0x3c, 0xb2, 0xa1, 2, 0, 4, 0, 0,    0,    0, 0, 0, 0, 0, 0, /* magic (ns), version 2.4 */
		0x00, 0x00, 0x04, 0x00, 1, 0, 0, 0,                               /* snap length 262144, Ethernet */
		0x02, 0x00, 0x00, 0x00, 3, 0, 0, 0,                               /* 2 s, 3 ns */
		0x02, 0x00, 0x00, 0x00, 9, 0, 0, 0, 0xaa, 0xbb,                   /* 2 of 9 bytes */
	};
	const char *path = in_dir("golden.pcap");
	struct vs_writer *w = vs_writer_open(path, VS_WRITER_ETHERNET, NULL);

	ck_assert_int_eq(vs_writer_put(w, 2000000003, (const uint8_t *)"\xaa\xbb", 2, 9, NULL), 0);
	ck_assert_int_eq(vs_writer_close(w, NULL), 0);
	fresh(false);
	file.len = load_bytes(path, file.b, sizeof(file.b));
	ck_assert_uint_eq(file.len, sizeof(want));
	ck_assert_mem_eq(file.b, want, sizeof(want));
}
END_TEST

START_TEST(the_bytes_of_an_erf_record_are_these)
{
	static const uint8_t want[] = {
		0x02, 0x00, 0x00, 0x00, 0x00, 0x65, 0xcd, 0x1d, /* pcap: 2 s, 500000000 ns */
		0x12, 0x00, 0x00, 0x00, 0x19, 0x00, 0x00, 0x00, /* 18 of 25 bytes: 16 of them ERF header */
		0x00, 0x00, 0x00, 0x80, 0x02, 0x00, 0x00, 0x00, /* ERF: half a second, 2 s, low byte first */
		0x15, 0x0c, 0x00, 0x12, 0x00, 0x00, 0x00, 0x09, /* type 21, cut, rlen 18, none lost, wlen 9 */
		0xaa, 0xbb,
	};
	const char *path = in_dir("golden.pcap");
	struct vs_writer *w = vs_writer_open(path, VS_WRITER_ERF_IB, NULL);

	ck_assert_int_eq(vs_writer_put(w, 2500000000, (const uint8_t *)"\xaa\xbb", 2, 9, NULL), 0);
	ck_assert_int_eq(vs_writer_close(w, NULL), 0);
	fresh(false);
	file.len = load_bytes(path, file.b, sizeof(file.b));
	ck_assert_uint_eq(file.len, 24 + sizeof(want));
	ck_assert_uint_eq(file.b[20], 197);
	ck_assert_mem_eq(file.b + 24, want, sizeof(want));
}
END_TEST

/* ---- where the file stands while it is written ---- */

START_TEST(nothing_stands_at_the_path_before_close)
{
	const char *path = in_dir("x.pcap");
	struct vs_writer *w = vs_writer_open(path, VS_WRITER_ETHERNET, NULL);

	ck_assert_int_eq(vs_writer_put(w, 0, eth_ipv4, 14, 14, NULL), 0);
	ck_assert_int_ne(access(path, F_OK), 0);
	ck_assert_int_eq(vs_writer_close(w, NULL), 0);
	ck_assert_int_eq(access(path, F_OK), 0);
	ck_assert_uint_eq(count_files(), 1);
}
END_TEST

START_TEST(abort_leaves_the_old_file_alone_and_nothing_behind)
{
	const char *path = save_bytes("x.pcap", (const uint8_t *)"old", 3);
	struct vs_writer *w = vs_writer_open(path, VS_WRITER_ETHERNET, NULL);
	uint8_t b[8];

	ck_assert_int_eq(vs_writer_put(w, 0, eth_ipv4, 14, 14, NULL), 0);
	vs_writer_abort(w);
	ck_assert_uint_eq(load_bytes(path, b, sizeof(b)), 3);
	ck_assert_uint_eq(count_files(), 1);
	vs_writer_abort(NULL);
}
END_TEST

START_TEST(a_symbolic_link_stays_and_permissions_stay)
{
	const char *path = save_bytes("x.pcap", (const uint8_t *)"old", 3), *link = in_dir("link.pcap");
	struct stat st;

	ck_assert_int_eq(chmod(path, 0600), 0);
	ck_assert_int_eq(symlink("x.pcap", link), 0);
	write_all(link, VS_WRITER_ETHERNET, edge_frames, 1);
	ck_assert_int_eq(lstat(link, &st), 0);
	ck_assert(S_ISLNK(st.st_mode));
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
	expect_all(path, &kinds[0], edge_frames, 1);
}
END_TEST

START_TEST(devices_and_fifos_are_written_straight)
{
	const char *fifo = in_dir("fifo");
	struct vs_capture *c;
	struct stat st;
	int ret, fd;

	write_all("/dev/null", VS_WRITER_ETHERNET, edge_frames, 3);
	ck_assert_int_eq(stat("/dev/null", &st), 0);
	ck_assert(S_ISCHR(st.st_mode));

	ck_assert_int_eq(mkfifo(fifo, 0600), 0);
	fd = open(fifo, O_RDWR); /* so that neither end waits for the other */
	ck_assert_int_ge(fd, 0);
	write_all(fifo, VS_WRITER_ETHERNET, edge_frames, 3);
	c = open_good(fifo);
	for (unsigned i = 0; i < 3; i++) {
		struct vs_frame f;

		ret = vs_capture_next(c, &f, NULL);
		ck_assert_int_eq(ret, 1);
		ck_assert_uint_eq(f.caplen, edge_frames[i].caplen);
	}
	vs_capture_close(c);
	close(fd);
}
END_TEST

START_TEST(a_dash_is_standard_input_and_standard_output)
{
	const char *path = in_dir("x.pcap");
	int out = dup(1), in = dup(0), fd;

	fflush(stdout);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	ck_assert_int_eq(dup2(fd, 1), 1);
	close(fd);
	write_all("-", VS_WRITER_ETHERNET, edge_frames, EDGE_FRAMES);
	ck_assert_int_eq(dup2(out, 1), 1);
	close(out);

	fd = open(path, O_RDONLY);
	ck_assert_int_eq(dup2(fd, 0), 0);
	close(fd);
	expect_all("-", &kinds[0], edge_frames, EDGE_FRAMES);
	ck_assert_int_ge(fcntl(0, F_GETFD), 0); /* not closed */
	dup2(in, 0);
	close(in);
}
END_TEST

/* ---- formats that others write ---- */

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
	Suite *s = suite_create("pktio");
	TCase *t = tcase_create("files in order");

	tcase_add_checked_fixture(t, make_dir, remove_dir);
	tcase_add_loop_test(t, what_is_written_comes_back_exact_to_the_nanosecond, 0, 3);
	tcase_add_loop_test(t, random_times_and_lengths_come_back, 0, 3);
	tcase_add_loop_test(t, gzipped_captures_come_back_the_same, 0, 3);
	tcase_add_test(t, the_bytes_of_a_pcap_file_are_these);
	tcase_add_test(t, the_bytes_of_an_erf_record_are_these);
	tcase_add_test(t, nothing_stands_at_the_path_before_close);
	tcase_add_test(t, abort_leaves_the_old_file_alone_and_nothing_behind);
	tcase_add_test(t, a_symbolic_link_stays_and_permissions_stay);
	tcase_add_test(t, devices_and_fifos_are_written_straight);
	tcase_add_test(t, a_dash_is_standard_input_and_standard_output);
	tcase_add_loop_test(t, pcap_is_read_in_both_byte_orders_and_precisions, 0, 4);
	tcase_add_loop_test(t, pcapng_is_read_in_both_byte_orders_and_any_precision, 0, 6);
	tcase_add_test(t, pcapng_skips_blocks_that_are_no_packets);
	tcase_add_test(t, a_record_longer_than_the_snap_length_is_kept_whole);
	tcase_add_loop_test(t, ethernet_with_and_without_tags_is_read, 0, 3);
	tcase_add_loop_test(t, raw_ip_is_read_by_each_of_its_numbers, 0, 4);
	tcase_add_test(t, raw_ipv6_is_read);
	tcase_add_test(t, linux_cooked_captures_are_read);
	tcase_add_test(t, infiniband_is_read_from_erf_and_by_its_own_number);
	tcase_add_test(t, padding_of_an_erf_record_is_not_the_packet);
	tcase_add_test(t, other_traffic_is_passed_over_and_counted);
	tcase_add_test(t, records_shorter_than_their_link_header_are_other_traffic);
	tcase_add_test(t, other_erf_types_and_link_packets_are_other_traffic);
	suite_add_tcase(s, t);
	return s;
}
