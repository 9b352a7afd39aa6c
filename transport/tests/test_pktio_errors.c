/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_pktio_errors.c - capture files that are broken, and places that can't be written: one clear
 * line that names the file and the frame, what was readable is delivered, nothing is left behind.
 */
#define _GNU_SOURCE /* unshare */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "capfile.h"
#include "runner.h"

static struct file file, gz;

static void fresh(bool big)
{
	memset(&file, 0, sizeof(file));
	file.big = big;
}

/* One line that begins with the name of the file, and holds `want`. */
static void expect_line(const struct vs_io_error *err, const char *path, const char *want)
{
	ck_assert_msg(strncmp(err->text, path, strlen(path)) == 0, "no file name in: %s", err->text);
	ck_assert_msg(strstr(err->text, want) != NULL, "no \"%s\" in: %s", want, err->text);
	ck_assert_msg(strchr(err->text, '\n') == NULL, "two lines: %s", err->text);
	ck_assert_uint_lt(strlen(err->text), VS_IO_ERRLEN - 1); /* not cut */
}

static void expect_no_open(const char *path, const char *want)
{
	struct vs_io_error err;

	ck_assert_ptr_null(vs_capture_open(path, &err));
	expect_line(&err, path, want);
	ck_assert_uint_eq(err.frame, 0);
	ck_assert_ptr_null(vs_capture_open(path, NULL)); /* and without a place for the text */
}

/* `good` frames come, then an error that names frame good + 1, and the same again when asked again. */
static void expect_broken_after(const char *path, uint64_t good, const char *want)
{
	struct vs_capture *c = open_good(path);
	struct vs_io_error err, again;
	struct vs_frame f;
	char frame[32];
	int ret;

	ck_assert_uint_eq(read_all(c, &ret, &err), good);
	ck_assert_int_lt(ret, 0);
	snprintf(frame, sizeof(frame), ": frame %u ", (unsigned)good + 1);
	expect_line(&err, path, frame);
	expect_line(&err, path, want);
	ck_assert_uint_eq(err.frame, good + 1);
	ck_assert_uint_eq(vs_capture_stats(c).frames, good);
	ck_assert_int_eq(vs_capture_next(c, &f, &again), ret);
	ck_assert_str_eq(again.text, err.text);
	vs_capture_close(c);
}

static void put_three_frames(void)
{
	fresh(false);
	put_pcap_header(&file, PCAP_US, 101);
	for (uint32_t i = 0; i < 3; i++)
		put_pcap_record(&file, i, 0, ack_ipv4, sizeof(ack_ipv4), sizeof(ack_ipv4));
}

/* ---- no capture at all ---- */

START_TEST(an_empty_file_is_named)
{
	expect_no_open(save_bytes("empty.pcap", ack_ipv4, 0), "is empty (0 bytes)");
	gz.len = 0;
	gzip_bytes(&gz, NULL, 0, 6);
	expect_no_open(save("empty.gz", &gz), "is empty once decompressed");
}
END_TEST

START_TEST(a_file_that_is_no_capture_is_named)
{
	expect_no_open(save_bytes("elf",
				  (const uint8_t *)"\x7f"
						   "ELF and so on, and so on, and so on",
				  32),
		       "neither pcap nor pcapng (it begins with 7f 45 4c 46)");
	expect_no_open(save_bytes("a", (const uint8_t *)"#!/b", 4), "begins with 23 21 2f 62");
	expect_no_open(save_bytes("b", (const uint8_t *)"x", 1), "ends inside the file header (1 bytes");
}
END_TEST

START_TEST(compressed_files_are_told_apart)
{
	expect_no_open(save_bytes("a.zst", (const uint8_t *)"\x28\xb5\x2f\xfd and so on", 14), "zstd -d");
	expect_no_open(save_bytes("a.lz4", (const uint8_t *)"\x04\x22\x4d\x18 and so on", 14), "lz4 -d");
	expect_no_open(save_bytes("a.xz",
				  (const uint8_t *)"\xfd"
						   "7zXZ and so on",
				  14),
		       "xz -d");
	expect_no_open(save_bytes("a.bz2", (const uint8_t *)"BZh91AY&SY and so on", 18), "bzip2 -d");
	expect_no_open(save_bytes("a.zip", (const uint8_t *)"PK\x03\x04 and so on", 14), "unzip");
	put_three_frames();
	gz.len = 0;
	gzip_bytes(&gz, file.b, file.len, 6);
	file.len = 0;
	gzip_bytes(&file, gz.b, gz.len, 6);
	expect_no_open(save("twice.gz", &file), "gzipped twice");
}
END_TEST

START_TEST(an_unsupported_link_type_is_named)
{
	fresh(false);
	put_pcap_header(&file, PCAP_US, 105);
	expect_no_open(save("wifi.pcap", &file), "link type 105 (IEEE802_11) is not read");
	fresh(false);
	put_shb(&file);
	put_idb(&file, 105, 0, 9);
	put_idb(&file, 60000, 0, 9);
	expect_no_open(save("wifi.pcapng", &file), "link type 105 (IEEE802_11) is not read");
	fresh(false);
	put_shb(&file);
	expect_no_open(save("empty.pcapng", &file), "no interface is described, so nothing was captured");
	fresh(false);
	put_pcap_header(&file, PCAP_US, 60000);
	expect_no_open(save("what.pcap", &file), "link type 60000 (unknown to libpcap) is not read");
}
END_TEST

START_TEST(an_unknown_version_is_an_error)
{
	put_three_frames();
	file.b[4] = 9;
	expect_no_open(save("v9.pcap", &file), "the file header can't be read");
}
END_TEST

START_TEST(a_path_that_is_no_file_is_named)
{
	expect_no_open(dir, "is a directory");
	expect_no_open(in_dir("nowhere.pcap"), "can't be opened (No such file or directory): check the path");
}
END_TEST

/*
 * Root may do everything as long as its capabilities are in effect; without them it is bound by the
 * permissions of files as anybody is.
 */
static void use_capabilities(bool on)
{
	struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct d[2] = {0};

	ck_assert_int_eq(syscall(SYS_capget, &h, d), 0);
	for (unsigned i = 0; i < 2; i++)
		d[i].effective = on ? d[i].permitted : 0;
	ck_assert_int_eq(syscall(SYS_capset, &h, d), 0);
}

START_TEST(a_file_that_may_not_be_read_is_named)
{
	const char *path = save_bytes("secret.pcap", ack_ipv4, sizeof(ack_ipv4));

	ck_assert_int_eq(chmod(path, 0), 0);
	use_capabilities(false);
	expect_no_open(path, "can't be opened (Permission denied): ask for read permission");
	use_capabilities(true);
}
END_TEST

START_TEST(names_are_shown_on_one_line_and_to_their_end)
{
	struct vs_io_error err;
	char longest[3000];

	ck_assert_ptr_null(vs_capture_open(in_dir("a\nb\x1b[31m.pcap"), &err));
	ck_assert_ptr_nonnull(strstr(err.text, "a?b?[31m.pcap: can't be opened"));
	memset(longest, 'x', sizeof(longest));
	memcpy(longest, "/tmp/", 5);
	strcpy(longest + sizeof(longest) - 10, "/end.pcap");
	ck_assert_ptr_null(vs_capture_open(longest, &err));
	ck_assert_ptr_nonnull(
		strstr(err.text, "/end.pcap: can't be opened (File name too long): choose a shorter name"));
}
END_TEST

/* ---- captures that end too early ---- */

/* Cuts `whole` at every length; ends[i] is where frame i + 1 ends, `header` where the first begins. */
static void cut_everywhere(const struct file *whole, size_t header, const size_t *ends, uint64_t n)
{
	for (size_t len = 1; len < whole->len; len++) {
		const char *path = save_bytes("cut", whole->b, len);
		uint64_t good = 0;

		while (good < n && ends[good] <= len)
			good++;
		if (len < header) {
			expect_no_open(path,
				       len < 24 ? "ends inside the file header" : "the file header can't be read");
		} else if (len == header || (good > 0 && ends[good - 1] == len)) {
			struct vs_capture *c = open_good(path);
			int ret;

			ck_assert_uint_eq(read_all(c, &ret, NULL), good);
			ck_assert_int_eq(ret, 0);
			vs_capture_close(c);
		} else {
			expect_broken_after(path, good, "the file ends inside it");
		}
	}
}

START_TEST(pcap_cut_anywhere_gives_all_whole_frames_and_names_the_next)
{
	static const size_t ends[] = {24 + 64, 24 + 128, 24 + 192};

	put_three_frames();
	cut_everywhere(&file, 24, ends, 3);
}
END_TEST

START_TEST(pcapng_cut_anywhere_gives_all_whole_frames_and_names_the_next)
{
	size_t header, ends[3];

	fresh(false);
	put_shb(&file);
	put_idb(&file, 101, 0, 9);
	header = file.len;
	for (unsigned i = 0; i < 3; i++) {
		put_epb(&file, 0, i, ack_ipv4, 47, sizeof(ack_ipv4));
		ends[i] = file.len;
	}
	cut_everywhere(&file, header, ends, 3);
}
END_TEST

START_TEST(gzip_cut_anywhere_gives_what_is_there_and_names_the_next)
{
	unsigned opened = 0;
	uint64_t most = 0;

	put_three_frames();
	gz.len = 0;
	gzip_bytes(&gz, file.b, file.len, _i); /* level 0: stored bytes; 9: packed */
	for (size_t len = 2; len < gz.len; len++) {
		const char *path = save_bytes("cut.gz", gz.b, len);
		struct vs_io_error err;
		struct vs_capture *c = vs_capture_open(path, &err);
		uint64_t good;
		int ret;

		if (!c) {
			expect_no_open(path, "the gzip data ends early");
			continue;
		}
		opened++;
		good = read_all(c, &ret, &err);
		vs_capture_close(c);
		expect_broken_after(path, good, "the gzip data ends early");
		ck_assert_uint_ge(good, most); /* more bytes, not fewer frames */
		most = good;
	}
	ck_assert_uint_eq(most, 3);
	ck_assert_uint_gt(opened, 8);
}
END_TEST

/* ---- captures that are damaged ---- */

START_TEST(gzip_with_any_byte_damaged_is_an_error)
{
	put_three_frames();
	gz.len = 0;
	gzip_bytes(&gz, file.b, file.len, _i);
	for (size_t i = 10; i < gz.len; i++) { /* bytes 0..9: magic, time and system; nothing depends on these */
		struct vs_io_error err;
		struct vs_capture *c;
		const char *path;
		int ret = -1;

		gz.b[i] ^= 0x55;
		path = save("bad.gz", &gz);
		gz.b[i] ^= 0x55;
		c = vs_capture_open(path, &err);
		if (c) /* the checksum at the end finds it at the latest */
			read_all(c, &ret, &err);
		ck_assert_int_lt(ret, 0);
		expect_line(&err, path, ": ");
		vs_capture_close(c);
	}
}
END_TEST

START_TEST(a_wrong_gzip_checksum_is_told_after_the_frames)
{
	put_three_frames();
	gz.len = 0;
	gzip_bytes(&gz, file.b, file.len, 6);
	gz.b[gz.len - 8] ^= 1;
	expect_broken_after(save("crc.gz", &gz), 3, "the gzip data is damaged (incorrect data check)");
	gz.b[gz.len - 8] ^= 1;
	put(&gz, "garbage", 7);
	expect_broken_after(save("more.gz", &gz), 3, "bytes that are not gzip follow the gzip data");
	gz.len -= 7;
	put(&gz, "\0\0\x1f", 3); /* after padding nothing can follow */
	expect_broken_after(save("pad.gz", &gz), 3, "bytes that are not gzip follow the gzip data");
}
END_TEST

START_TEST(an_absurd_record_length_is_told_with_the_frame)
{
	static const uint32_t lengths[] = {262145, 0x7fffffff, 0x80000000, 0xffffffff};

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		put_three_frames();
		for (unsigned b = 0; b < 4; b++)
			file.b[24 + 2 * 64 + 8 + b] = (uint8_t)(lengths[i] >> 8 * b);
		expect_broken_after(save("absurd.pcap", &file), 2, "invalid packet capture length");
		file.len = 0;
		put_shb(&file);
		put_idb(&file, 101, 0, 9);
		put_epb(&file, 0, 0, ack_ipv4, 48, 48);
		put_int(&file, 6, 4);
		put_int(&file, lengths[i], 4);
		put_zeros(&file, 24);
		expect_broken_after(save("absurd.pcapng", &file), 1, "the file is damaged from here on");
	}
}
END_TEST

START_TEST(a_packet_of_an_unknown_interface_is_an_error)
{
	fresh(true);
	put_shb(&file);
	put_idb(&file, 101, 0, 9);
	put_epb(&file, 0, 0, ack_ipv4, 48, 48);
	put_epb(&file, 4, 0, ack_ipv4, 48, 48);
	expect_broken_after(save("x.pcapng", &file), 1,
			    "it names an interface that the file does not describe before it");
}
END_TEST

/* ---- places that can't be written ---- */

static void expect_no_writer(const char *path, const char *want)
{
	struct vs_io_error err;

	ck_assert_ptr_null(vs_writer_open(path, VS_WRITER_ETHERNET, &err));
	expect_line(&err, path, want);
	ck_assert_ptr_null(vs_writer_open(path, VS_WRITER_ETHERNET, NULL));
}

START_TEST(a_place_that_can_not_be_written_is_named)
{
	expect_no_writer(in_dir("no/such/x.pcap"),
			 "can't be written (No such file or directory): make the directory first");
	expect_no_writer(dir, "is a directory");
	expect_no_writer("", "can't be written");
	ck_assert_uint_eq(count_files(), 0);
	ck_assert_int_eq(chmod(dir, 0555), 0);
	use_capabilities(false);
	expect_no_writer(in_dir("x.pcap"),
			 "can't be written (Permission denied): choose a directory that you may write to");
	use_capabilities(true);
}
END_TEST

/* Writes until it fails, 4 MiB at most; then close must fail too, with the same line. */
static void write_until_full(const char *path, const char *want)
{
	static const uint8_t frame[4096];
	struct vs_io_error err, again;
	struct vs_writer *w = vs_writer_open(path, VS_WRITER_ETHERNET, &err);
	int ret = 0;

	ck_assert_msg(w != NULL, "%s", err.text);
	for (unsigned i = 0; i < 1000 && ret == 0; i++)
		ret = vs_writer_put(w, i, frame, sizeof(frame), sizeof(frame), &err);
	ck_assert_int_lt(ret, 0);
	expect_line(&err, path, want);
	ck_assert_int_lt(vs_writer_put(w, 0, frame, 1, 1, NULL), 0);
	ck_assert_int_eq(vs_writer_close(w, &again), ret);
	ck_assert_str_eq(err.text, again.text);
}

START_TEST(a_full_disk_is_one_line)
{
	struct vs_io_error err;
	struct vs_writer *w;

	write_until_full("/dev/full", "can't be written (No space left on device): make room");
	/* so few bytes that only close finds out */
	w = vs_writer_open("/dev/full", VS_WRITER_ETHERNET, &err);
	ck_assert_int_eq(vs_writer_put(w, 0, ack_ipv4, 48, 48, &err), 0);
	ck_assert_int_lt(vs_writer_close(w, &err), 0);
	expect_line(&err, "/dev/full", "can't be written to the end (No space left on device): make room");
}
END_TEST

START_TEST(a_file_that_may_not_grow_is_left_neither_whole_nor_half)
{
	const struct rlimit small = {.rlim_cur = 10000, .rlim_max = RLIM_INFINITY};
	const char *path = save_bytes("x.pcap", (const uint8_t *)"old", 3);
	struct rlimit before;
	uint8_t b[8];

	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &(struct rlimit){small.rlim_cur, before.rlim_max}), 0);
	signal(SIGXFSZ, SIG_IGN);
	write_until_full(path, "can't be written (File too large): raise the file size limit");
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
	ck_assert_uint_eq(load_bytes(path, b, sizeof(b)), 3); /* the old file */
	ck_assert_uint_eq(count_files(), 1);
}
END_TEST

static void write_proc(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd >= 0) {
		(void)!write(fd, text, strlen(text));
		close(fd);
	}
}

/* Namespaces in which this process is root and may mount. */
static bool be_alone(void)
{
	char uid[32], gid[32];
	bool root = geteuid() == 0;

	snprintf(uid, sizeof(uid), "0 %u 1", (unsigned)geteuid());
	snprintf(gid, sizeof(gid), "0 %u 1", (unsigned)getegid());
	if (unshare(CLONE_NEWNS | (root ? 0 : CLONE_NEWUSER)) != 0)
		return false;
	if (!root) {
		write_proc("/proc/self/setgroups", "deny");
		write_proc("/proc/self/uid_map", uid);
		write_proc("/proc/self/gid_map", gid);
	}
	return mount("none", "/", "", MS_REC | MS_PRIVATE, NULL) == 0;
}

/* In a child with a file system of its own, 64 KiB large: 0 when all is well, 77 when not allowed. */
static int full_file_system(void)
{
	if (!be_alone() || mount("t", dir, "tmpfs", 0, "size=64k") != 0)
		return 77;
	write_until_full(in_dir("x.pcap"), "can't be written (No space left on device): make room");
	return count_files() == 0 ? 0 : 1;
}

START_TEST(a_full_file_system_has_nothing_left_behind)
{
	pid_t pid = fork();
	int status;

	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		_exit(full_file_system());
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		fprintf(stderr,
			"a_full_file_system_has_nothing_left_behind: not run, this user may not mount a tmpfs\n");
	else
		ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

START_TEST(a_closed_pipe_is_an_error)
{
	static const uint8_t frame[4096];
	int out = dup(1), fd[2], ret = 0;
	struct vs_io_error err;
	struct vs_writer *w;

	fflush(stdout);
	signal(SIGPIPE, SIG_IGN);
	ck_assert_int_eq(pipe(fd), 0);
	close(fd[0]);
	dup2(fd[1], 1);
	close(fd[1]);
	w = vs_writer_open("-", VS_WRITER_RAW_IP, &err);
	for (unsigned i = 0; i < 100 && ret == 0; i++)
		ret = vs_writer_put(w, i, frame, sizeof(frame), sizeof(frame), &err);
	ck_assert_int_lt(ret, 0);
	ck_assert_int_lt(vs_writer_close(w, &err), 0);
	expect_line(&err, "standard output", "can't be written (Broken pipe): the reader of the pipe went away");
	dup2(out, 1);
	close(out);
}
END_TEST

START_TEST(frames_that_do_not_fit_are_refused_and_the_file_stays_good)
{
	static const uint8_t big[262145];
	static const struct {
		enum vs_writer_kind kind;
		int64_t time_ns;
		uint32_t caplen, wirelen;
		const char *want;
	} bad[] = {
		{VS_WRITER_ETHERNET, 0, 5, 4, "a frame of 4 bytes can't have 5 captured"},
		{VS_WRITER_ETHERNET, 0, 262145, 262145, "too long: 262144 at most"},
		{VS_WRITER_ETHERNET, -1, 4, 4, "does not fit"},
		{VS_WRITER_ETHERNET, 4294967296000000000, 4, 4, "does not fit"},
		{VS_WRITER_ERF_IB, 0, 65520, 65520, "too long: 65519 at most"},
		{VS_WRITER_ERF_IB, 0, 4, 65536, "too long for ERF"},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const char *path = in_dir("x.pcap");
		struct vs_io_error err;
		struct vs_writer *w = vs_writer_open(path, bad[i].kind, &err);
		struct vs_capture *c;
		int ret;

		ck_assert_int_eq(vs_writer_put(w, 1, big, 40, 40, &err), 0);
		ck_assert_int_eq(vs_writer_put(w, bad[i].time_ns, big, bad[i].caplen, bad[i].wirelen, &err),
				 VS_ERR_INVAL);
		expect_line(&err, path, bad[i].want);
		ck_assert_int_eq(vs_writer_put(w, 2, big, 40, 40, &err), 0);
		ck_assert_int_eq(vs_writer_close(w, &err), 0);
		c = open_good(path);
		ck_assert_uint_eq(read_all(c, &ret, &err), 2);
		ck_assert_int_eq(ret, 0);
		vs_capture_close(c);
	}
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("pktio errors");
	TCase *t = tcase_create("broken files");

	tcase_add_checked_fixture(t, make_dir, remove_dir);
	tcase_set_timeout(t, 120); /* valgrind */
	tcase_add_test(t, an_empty_file_is_named);
	tcase_add_test(t, a_file_that_is_no_capture_is_named);
	tcase_add_test(t, compressed_files_are_told_apart);
	tcase_add_test(t, an_unsupported_link_type_is_named);
	tcase_add_test(t, an_unknown_version_is_an_error);
	tcase_add_test(t, a_path_that_is_no_file_is_named);
	tcase_add_test(t, a_file_that_may_not_be_read_is_named);
	tcase_add_test(t, names_are_shown_on_one_line_and_to_their_end);
	tcase_add_test(t, pcap_cut_anywhere_gives_all_whole_frames_and_names_the_next);
	tcase_add_test(t, pcapng_cut_anywhere_gives_all_whole_frames_and_names_the_next);
	tcase_add_loop_test(t, gzip_cut_anywhere_gives_what_is_there_and_names_the_next, 0, 10);
	tcase_add_loop_test(t, gzip_with_any_byte_damaged_is_an_error, 0, 10);
	tcase_add_test(t, a_wrong_gzip_checksum_is_told_after_the_frames);
	tcase_add_test(t, an_absurd_record_length_is_told_with_the_frame);
	tcase_add_test(t, a_packet_of_an_unknown_interface_is_an_error);
	tcase_add_test(t, a_place_that_can_not_be_written_is_named);
	tcase_add_test(t, a_full_disk_is_one_line);
	tcase_add_test(t, a_file_that_may_not_grow_is_left_neither_whole_nor_half);
	tcase_add_test(t, a_full_file_system_has_nothing_left_behind);
	tcase_add_test(t, a_closed_pipe_is_an_error);
	tcase_add_test(t, frames_that_do_not_fit_are_refused_and_the_file_stays_good);
	suite_add_tcase(s, t);
	return s;
}
