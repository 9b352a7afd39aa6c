/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* test_copy.c - a capture into a pcapng, with comments on its packets: nothing else changes. */
#include "capfile.h"
#include "io/internal.h"
#include "runner.h"

#define MARK "Ours: "
#define BIG 65536

static struct file in, want;
static uint8_t out[BIG];
static size_t out_len;
static uint64_t frames;
static struct vs_copy_stats stats;
static struct vs_frame seen[16];

static void block(struct file *f, uint32_t type, const void *body, uint32_t len)
{
	const uint32_t pad = (4 - len % 4) % 4;

	put_int(f, type, 4);
	put_int(f, 12 + len + pad, 4);
	put(f, body, len);
	put_zeros(f, pad);
	put_int(f, 12 + len + pad, 4);
}

static void option(struct file *f, unsigned code, const char *value)
{
	put_int(f, code, 2);
	put_int(f, strlen(value), 2);
	put(f, value, strlen(value));
	put_zeros(f, (unsigned)(4 - strlen(value) % 4) % 4);
}

/* An Enhanced Packet Block (or, with `old`, the Packet Block) with options of text. */
static void packet(struct file *f, bool old, uint32_t interface, uint64_t ts, const char *const *options)
{
	struct file body = {.big = f->big};

	put_int(&body, interface, old ? 2 : 4);
	if (old)
		put_int(&body, 7, 2); /* drops */
	put_int(&body, ts >> 32, 4);
	put_int(&body, ts & 0xffffffff, 4);
	put_int(&body, sizeof(ack_ib), 4); /* 30 bytes: two of padding */
	put_int(&body, sizeof(ack_ib), 4);
	put(&body, ack_ib, sizeof(ack_ib));
	put_zeros(&body, 2);
	for (unsigned i = 0; options != NULL && options[i] != NULL; i++)
		option(&body, strncmp(options[i], "hash", 4) == 0 ? 3 : 1, options[i]);
	if (options != NULL)
		put_int(&body, 0, 4);
	block(f, old ? 2 : 6, body.b, (uint32_t)body.len);
}

/* Copies `in`, with `text` on every frame; what came out is in `out`. What vs_copy_next said last. */
static int copy(const char *text, struct vs_io_error *err)
{
	const char *from = save("in", &in), *to = in_dir("out");
	struct vs_copy *c = vs_copy_open(from, to, MARK, err);
	struct vs_io_error closing;
	struct vs_frame f;
	int ret;

	ck_assert_msg(c != NULL, "%s", err->text);
	frames = 0;
	while ((ret = vs_copy_next(c, &f, err)) == 1) {
		if (frames < 16)
			seen[frames] = f;
		frames++;
		if (text != NULL)
			ck_assert_int_eq(vs_copy_comment(c, text), VS_OK);
	}
	stats = vs_copy_stats(c);
	ck_assert_msg(vs_copy_close(c, &closing) == VS_OK, "%s", closing.text);
	out_len = load_bytes(to, out, sizeof(out));
	ck_assert_uint_eq(count_files(), 2);
	return ret;
}

static void copied(const char *text)
{
	struct vs_io_error err;

	ck_assert_msg(copy(text, &err) == 0, "%s", err.text);
}

static void expect(const struct file *f)
{
	ck_assert_uint_eq(out_len, f->len);
	for (size_t i = 0; i < out_len; i++)
		ck_assert_msg(out[i] == f->b[i], "byte %zu: %02x, expected %02x", i, out[i], f->b[i]);
}

static void begin(bool big)
{
	in = (struct file){.big = big};
	want = (struct file){.big = big};
}

#define BOTH(call)                    \
	do {                          \
		struct file *f = &in; \
		call;                 \
		f = &want;            \
		call;                 \
	} while (0)

/* Everything there is in such a file. `first`, `second`: options of the two packets in what is wanted. */
static void rich(bool big, const char *const *first, const char *const *second)
{
	static const char *const had[] = {"a comment", "hash of the packet", NULL};

	begin(big);
	BOTH(put_shb(f));
	BOTH(put_idb(f, 247, 0, 9));
	BOTH(block(f, 4, "names", 5));
	BOTH(block(f, 10, "secrets of TLS", 14));
	BOTH(block(f, 0x0bad, "someone's own", 13));
	BOTH(put_idb(f, 1, 1000, 3));
	packet(&in, false, 0, 1000000007, had);
	packet(&want, false, 0, 1000000007, first);
	BOTH(block(f, 5, "statistics!!", 12));
	packet(&in, true, 0, 1000000009, NULL);
	packet(&want, true, 0, 1000000009, second);
	BOTH(block(f, 0x12345678, "of the future", 13));
}

START_TEST(without_comments_every_byte_stays)
{
	static const char *const had[] = {"a comment", "hash of the packet", NULL};

	rich(_i, had, NULL);
	copied(NULL);
	expect(&want);
	ck_assert_uint_eq(stats.frames, 3); /* with the custom block, as Wireshark counts */
}
END_TEST

START_TEST(comments_follow_the_options_that_are_there)
{
	static const char *const first[] = {"a comment", "hash of the packet", MARK "new", NULL};
	static const char *const second[] = {MARK "new", NULL};

	rich(_i, first, second);
	copied("new");
	expect(&want);
	ck_assert_uint_eq(frames, 2);
	ck_assert_uint_eq(stats.comments, 2);
	ck_assert_uint_eq(seen[0].number, 2);
	ck_assert_int_eq(seen[0].time_ns, 1000000007);
	ck_assert_int_eq(seen[0].link, VS_LINK_IB);
}
END_TEST

START_TEST(a_second_copy_replaces_the_comments_of_the_first)
{
	static const char *const first[] = {"a comment", "hash of the packet", MARK "other words", NULL};
	static const char *const second[] = {MARK "other words", NULL}, *const had[] = {"a comment",
											"hash of the packet", NULL};

	rich(false, first, second);
	copied("new");
	memcpy(in.b, out, in.len = out_len);
	copied("other words");
	expect(&want);
	memcpy(in.b, out, in.len = out_len);
	copied("other words");
	expect(&want);
	rich(false, had, NULL);
	copied("new");
	memcpy(in.b, out, in.len = out_len);
	copied(NULL);
	expect(&want);
}
END_TEST

START_TEST(the_length_of_a_section_becomes_unknown)
{
	begin(false);
	BOTH(put_shb(f));
	in.b[16] = 32;
	memset(in.b + 17, 0, 7);
	BOTH(put_idb(f, 1, 0, 6));
	copied(NULL);
	expect(&want);
}
END_TEST

START_TEST(sections_have_their_own_byte_order_and_interfaces)
{
	begin(false);
	put_shb(&in);
	put_idb(&in, 247, 0, 9);
	packet(&in, false, 0, 1, NULL);
	in.big = true;
	put_shb(&in);
	put_idb(&in, 1, 0, 0);
	put_idb(&in, 228, 0, 6);
	put_epb(&in, 1, 5000000, ack_ipv4, sizeof(ack_ipv4), 60);
	put_epb(&in, 0, 7, eth_ipv4, sizeof(eth_ipv4), 60);
	copied("text");
	ck_assert_uint_eq(frames, 3);
	ck_assert_int_eq(seen[0].link, VS_LINK_IB);
	ck_assert_int_eq(seen[1].link, VS_LINK_IP);
	ck_assert_int_eq(seen[1].time_ns, 5000000000);
	ck_assert_uint_eq(seen[1].wirelen, 60);
	ck_assert_int_eq(seen[2].link, VS_LINK_ETHERNET);
	ck_assert_int_eq(seen[2].time_ns, 7000000000);
	ck_assert_uint_eq(out_len, in.len + 3 * (4 + 12 + 4));
}
END_TEST

/* 10^-n and 2^-n seconds, and what does not fit. */
START_TEST(time_stamps_have_the_resolution_of_their_interface)
{
	static const struct {
		uint8_t resolution;
		uint64_t stamp;
		int64_t ns;
	} cases[] = {{6, 1500000, 1500000000},
		     {9, 1500000000, 1500000000},
		     {0, 3, 3000000000},
		     {12, 1500000000123, 1500000000},
		     {18, UINT64_C(1500000000000000000), 1500000000},
		     {0x80 | 10, 1536, 1500000000},
		     {0x80 | 32, UINT64_C(0x180000000), 1500000000},
		     {0x80 | 63, UINT64_C(0xc000000000000000), 1500000000},
		     {100, 5, 0},
		     {0xff, 5, 0},
		     {0, UINT64_MAX, INT64_MAX}};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin(i & 1);
		put_shb(&in);
		put_idb(&in, 1, 0, cases[i].resolution);
		put_epb(&in, 0, cases[i].stamp, eth_ipv4, sizeof(eth_ipv4), 14);
		copied(NULL);
		ck_assert_msg(seen[0].time_ns == cases[i].ns, "resolution %u: %lld", cases[i].resolution,
			      (long long)seen[0].time_ns);
	}
}
END_TEST

START_TEST(a_simple_packet_has_no_place_for_comments)
{
	begin(false);
	BOTH(put_shb(f));
	BOTH(put_idb(f, 1, 0, 6));
	BOTH(block(f, 3, "\x04\0\0\0four", 8));
	copied("text");
	expect(&want);
	ck_assert_uint_eq(frames, 1);
	ck_assert_uint_eq(stats.bare, 1);
	ck_assert_uint_eq(stats.comments, 0);
}
END_TEST

START_TEST(options_that_cant_be_read_stay_as_they_are)
{
	static const uint8_t body[] = {0, 0, 0, 0, 0,   0,   0,   0,   1, 0, 0,  0, 4,   0,   0,   0,
				       4, 0, 0, 0, 'd', 'a', 't', 'a', 1, 0, 99, 0, 'x', 'x', 'x', 'x'};

	begin(false);
	BOTH(put_shb(f));
	BOTH(put_idb(f, 1, 0, 6));
	BOTH(block(f, 6, body, sizeof(body)));
	copied("text");
	expect(&want);
}
END_TEST

/* ---- pcap ---- */

START_TEST(a_pcap_becomes_a_pcapng_with_the_same_packets_and_times)
{
	static const struct {
		uint32_t magic, part;
		bool big;
	} cases[] = {{PCAP_US, 999999, false}, {PCAP_US, 1, true}, {PCAP_NS, 999999999, false}, {PCAP_NS, 1, true}};
	struct vs_io_error err;

	for (unsigned i = 0; i < 4; i++) {
		const int64_t ns = cases[i].magic == PCAP_NS ? cases[i].part : cases[i].part * INT64_C(1000);
		struct vs_capture *c;
		struct vs_frame f;

		begin(cases[i].big);
		put_pcap_header(&in, cases[i].magic, 228);
		put_pcap_record(&in, 4000000000, cases[i].part, ack_ipv4, 45, 48);
		copied("text");
		c = open_good(in_dir("out"));
		ck_assert_str_eq(vs_capture_format(c), "pcapng");
		ck_assert_str_eq(vs_capture_linktype(c), "IPV4");
		ck_assert_int_eq(vs_capture_next(c, &f, &err), 1);
		ck_assert_int_eq(f.time_ns, 4000000000 * INT64_C(1000000000) + ns);
		ck_assert_int_eq(seen[0].time_ns, f.time_ns);
		ck_assert_uint_eq(f.caplen, 45);
		ck_assert_uint_eq(f.wirelen, 48);
		ck_assert_mem_eq(f.data, ack_ipv4, 45);
		ck_assert_int_eq(vs_capture_next(c, &f, &err), 0);
		vs_capture_close(c);
	}
}
END_TEST

START_TEST(records_of_the_patched_pcap_have_longer_headers)
{
	begin(false);
	put_pcap_header(&in, 0xa1b2cd34, 228);
	for (unsigned i = 0; i < 2; i++) {
		put_int(&in, 5, 4);
		put_int(&in, 6, 4);
		put_int(&in, sizeof(ack_ipv4), 4);
		put_int(&in, sizeof(ack_ipv4), 4);
		put_zeros(&in, 8);
		put(&in, ack_ipv4, sizeof(ack_ipv4));
	}
	copied("text");
	ck_assert_uint_eq(frames, 2);
	ck_assert_int_eq(seen[1].time_ns, 5000006000);
}
END_TEST

/* ---- damage ---- */

/* Every prefix: what is whole is copied, and the line says what is not. */
static void cut_everywhere(void)
{
	const size_t whole = in.len;
	struct vs_io_error err;
	uint64_t before = 0;
	struct file cut = in;

	for (in.len = 32; in.len < whole; in.len++) {
		const int ret = copy("text", &err);

		ck_assert(frames >= before);
		before = frames;
		ck_assert(ret == 0 || (ret < 0 && strstr(err.text, "can't be read") != NULL));
		ck_assert(ret == 0 || err.frame == stats.frames + 1);
	}
	in = cut;
	copied("text");
	ck_assert_uint_eq(frames, before + 1);
}

START_TEST(what_is_whole_before_a_cut_is_copied)
{
	if (_i == 2) {
		begin(false);
		put_pcap_header(&in, PCAP_NS, 228);
		for (unsigned i = 0; i < 3; i++)
			put_pcap_record(&in, 5, 6, ack_ipv4, sizeof(ack_ipv4), 48);
	} else {
		begin(_i);
		put_shb(&in);
		put_idb(&in, 247, 0, 9);
		block(&in, 4, "names", 5);
		packet(&in, false, 0, 7, NULL);
		packet(&in, true, 0, 8, NULL);
	}
	cut_everywhere();
}
END_TEST

START_TEST(lengths_that_cant_be_are_said_to_be_damage)
{
	static const uint32_t lengths[] = {0, 4, 8, 13, 60, 68, 0x1000004, 0x7ffffffc, 0xfffffffc, 0xffffffff};
	struct vs_io_error err;

	for (unsigned i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		size_t at;

		begin(false);
		put_shb(&in);
		put_idb(&in, 247, 0, 9);
		packet(&in, false, 0, 7, NULL);
		at = in.len;
		packet(&in, false, 0, 7, NULL);
		packet(&in, false, 0, 7, NULL);
		for (unsigned k = 0; k < 4; k++)
			in.b[at + 4 + k] = (uint8_t)(lengths[i] >> 8 * k);
		ck_assert_int_lt(copy("text", &err), 0);
		ck_assert_uint_eq(frames, 1);
		ck_assert_uint_eq(err.frame, 2);
	}
	for (unsigned i = 0; i < 2; i++) { /* of the packet in its block; its interface */
		begin(false);
		put_shb(&in);
		put_idb(&in, 247, 0, 9);
		packet(&in, false, 0, 7, NULL);
		in.b[28 + 32 + (i ? 20 : 8)] = 0x55;
		ck_assert_int_lt(copy("text", &err), 0);
		ck_assert_uint_eq(frames, 0);
	}
}
END_TEST

/* ---- comments ---- */

START_TEST(long_comments_are_cut_and_too_many_are_refused)
{
	static char text[2 * VS_COPY_COMMENT_MAX];
	struct vs_io_error err;
	struct vs_frame f;
	struct vs_copy *c;
	unsigned n = 0;

	begin(false);
	put_shb(&in);
	put_idb(&in, 1, 0, 9);
	put_epb(&in, 0, 7, eth_ipv4, sizeof(eth_ipv4), 14);
	memset(text, 'x', sizeof(text) - 1);
	c = vs_copy_open(save("in", &in), in_dir("out"), MARK, &err);
	ck_assert_ptr_nonnull(c);
	ck_assert_int_eq(vs_copy_comment(c, "no frame yet"), VS_ERR_INVAL);
	ck_assert_int_eq(vs_copy_next(c, &f, &err), 1);
	while (vs_copy_comment(c, text) == VS_OK)
		n++;
	ck_assert_uint_ge(n, 32);
	ck_assert_uint_le(n, 128);
	ck_assert_int_eq(vs_copy_next(c, &f, &err), 0);
	ck_assert_int_eq(vs_copy_close(c, &err), VS_OK);
	vs_capture_close(open_good(in_dir("out")));
}
END_TEST

START_TEST(a_copy_that_is_given_up_leaves_nothing)
{
	struct vs_io_error err;
	struct vs_frame f;
	struct vs_copy *c;

	rich(false, NULL, NULL);
	c = vs_copy_open(save("in", &in), in_dir("out"), MARK, &err);
	ck_assert_int_eq(vs_copy_next(c, &f, &err), 1);
	vs_copy_abort(c);
	vs_copy_abort(NULL);
	ck_assert_uint_eq(count_files(), 1);
	ck_assert_ptr_null(vs_copy_open(in_dir("absent"), in_dir("out"), NULL, &err));
	ck_assert_ptr_null(vs_copy_open(save("no-capture", &(struct file){.len = 30}), in_dir("out"), NULL, &err));
	ck_assert_uint_eq(count_files(), 2);
}
END_TEST

START_TEST(a_full_disk_is_an_error)
{
	struct vs_io_error err;
	struct vs_frame f;
	struct vs_copy *c;
	int ret;

	rich(false, NULL, NULL);
	c = vs_copy_open(save("in", &in), "/dev/full", MARK, &err);
	ck_assert_ptr_nonnull(c);
	while ((ret = vs_copy_next(c, &f, &err)) == 1)
		;
	ck_assert_int_eq(vs_copy_close(c, &err), VS_ERR_IO);
	ck_assert_ptr_nonnull(strstr(err.text, "No space left"));
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("copy");
	TCase *tc = tcase_create("copy");

	tcase_add_checked_fixture(tc, make_dir, remove_dir);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, without_comments_every_byte_stays, 0, 2);
	tcase_add_loop_test(tc, comments_follow_the_options_that_are_there, 0, 2);
	tcase_add_test(tc, a_second_copy_replaces_the_comments_of_the_first);
	tcase_add_test(tc, the_length_of_a_section_becomes_unknown);
	tcase_add_test(tc, sections_have_their_own_byte_order_and_interfaces);
	tcase_add_test(tc, time_stamps_have_the_resolution_of_their_interface);
	tcase_add_test(tc, a_simple_packet_has_no_place_for_comments);
	tcase_add_test(tc, options_that_cant_be_read_stay_as_they_are);
	tcase_add_test(tc, a_pcap_becomes_a_pcapng_with_the_same_packets_and_times);
	tcase_add_test(tc, records_of_the_patched_pcap_have_longer_headers);
	tcase_add_loop_test(tc, what_is_whole_before_a_cut_is_copied, 0, 3);
	tcase_add_test(tc, lengths_that_cant_be_are_said_to_be_damage);
	tcase_add_test(tc, long_comments_are_cut_and_too_many_are_refused);
	tcase_add_test(tc, a_copy_that_is_given_up_leaves_nothing);
	tcase_add_test(tc, a_full_disk_is_an_error);
	suite_add_tcase(s, tc);
	return s;
}
