/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_pktio.c - what is written comes back, whole and in its place. What others write:
 * test_pktio_formats.c. What is broken: test_pktio_errors.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "capfile.h"
#include "runner.h"

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
		0x02, 0x00, 0x00, 0x00, 0x01, 0x65, 0xcd, 0x1d, /* pcap: 2 s, 500000001 ns */
		0x12, 0x00, 0x00, 0x00, 0x19, 0x00, 0x00, 0x00, /* 18 of 25 bytes: 16 of them ERF header */
		0x05, 0x00, 0x00, 0x80, 0x02, 0x00, 0x00, 0x00, /* ERF: 0.5 s + 4.29 / 2^32 s rounded up, 2 s */
		0x15, 0x0c, 0x00, 0x12, 0x00, 0x00, 0x00, 0x09, /* type 21, cut, rlen 18, none lost, wlen 9 */
		0xaa, 0xbb,
	};
	const char *path = in_dir("golden.pcap");
	struct vs_writer *w = vs_writer_open(path, VS_WRITER_ERF_IB, NULL);

	ck_assert_int_eq(vs_writer_put(w, 2500000001, (const uint8_t *)"\xaa\xbb", 2, 9, NULL), 0);
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

/* The writer of a process that was killed: its file has a name, and whole frames. */
/* And as many as there may be. */
static bool only_zeros_behind(const char *path, off_t from)
{
	FILE *f = fopen(path, "rb");
	size_t n = 0;
	int c;

	ck_assert(f != NULL && fseeko(f, from, SEEK_SET) == 0);
	while ((c = getc(f)) == 0)
		n++;
	fclose(f);
	return c == EOF && n > 0;
}

START_TEST(what_a_killed_process_has_put_is_kept_where_that_is_wanted)
{
	const off_t end = 24 + 16 + 60;
	const char *path = in_dir("x.pcap");
	char part[300];
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		struct vs_writer *w = vs_writer_open_kept(path, VS_WRITER_ETHERNET, NULL);
		static uint8_t b[65536];

		fill_frame(b, edge_frames[0].caplen, 1);
		if (w != NULL && vs_writer_put(w, edge_frames[0].time_ns, b, 60, 60, NULL) == 0)
			(void)raise(SIGKILL);
		_exit(1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status));
	ck_assert_int_ne(access(path, F_OK), 0);
	snprintf(part, sizeof(part), "%s.%ld-0.part", path, (long)pid);
	ck_assert(only_zeros_behind(part, end));
	ck_assert_int_eq(truncate(part, end), 0);
	expect_all(part, &kinds[0], edge_frames, 1);
	ck_assert_int_eq(rename(part, path), 0); /* the fixture takes it away */
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

/* A null device of our own: a writer that replaced it instead would take /dev/null from the whole machine. */
START_TEST(devices_are_written_straight)
{
	const char *null = in_dir("null");
	struct stat st;
	int fd = -1;

	if (mknod(null, S_IFCHR | 0600, makedev(1, 3)) == 0)
		fd = open(null, O_WRONLY);
	if (fd < 0) { /* only root makes devices, and a file system may be mounted without them */
		printf("skip devices_are_written_straight: no device node can be made and opened here: %s\n",
		       strerror(errno));
		return;
	}
	close(fd);
	write_all(null, VS_WRITER_ETHERNET, edge_frames, 3);
	ck_assert_int_eq(lstat(null, &st), 0);
	ck_assert(S_ISCHR(st.st_mode));
	ck_assert_uint_eq(count_files(), 1);
}
END_TEST

START_TEST(fifos_are_written_straight)
{
	const char *fifo = in_dir("fifo");
	struct vs_capture *c;
	int ret, fd;

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

START_TEST(frames_of_a_live_gzipped_pipe_are_not_held_back)
{
	const char *fifo = in_dir("fifo");
	struct vs_capture *c;
	struct vs_frame f;
	z_stream z = {0};
	uint8_t out[512];
	int fd;

	fresh(false);
	put_pcap_header(&file, PCAP_NS, 101);
	put_pcap_record(&file, 1, 2, ack_ipv4, sizeof(ack_ipv4), sizeof(ack_ipv4));
	ck_assert_int_eq(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = file.b;
	z.avail_in = (uInt)file.len;
	z.next_out = out;
	z.avail_out = sizeof(out);
	ck_assert_int_eq(deflate(&z, Z_SYNC_FLUSH), Z_OK); /* and no end yet */
	ck_assert_int_eq(mkfifo(fifo, 0600), 0);
	fd = open(fifo, O_RDWR);
	ck_assert_int_eq(write(fd, out, sizeof(out) - z.avail_out), (ssize_t)(sizeof(out) - z.avail_out));
	c = open_good(fifo);
	ck_assert_int_eq(vs_capture_next(c, &f, NULL), 1);
	ck_assert_int_eq(f.time_ns, 1000000002);
	vs_capture_close(c);
	close(fd);
	deflateEnd(&z);
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
	tcase_add_test(t, what_a_killed_process_has_put_is_kept_where_that_is_wanted);
	tcase_add_test(t, a_symbolic_link_stays_and_permissions_stay);
	tcase_add_test(t, devices_are_written_straight);
	tcase_add_test(t, fifos_are_written_straight);
	tcase_add_test(t, a_dash_is_standard_input_and_standard_output);
	tcase_add_test(t, frames_of_a_live_gzipped_pipe_are_not_held_back);
	suite_add_tcase(s, t);
	return s;
}
