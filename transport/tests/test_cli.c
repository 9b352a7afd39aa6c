/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* test_cli.c - what the command lines of all programs share: numbers, words, messages in one line, files that are
 * whole. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "runner.h"

/* What CALL prints on stderr and on stdout, as one text. */
static char said[4096];
static int saved[2];

static void listen_to(void)
{
	char name[] = "/tmp/test_cli.XXXXXX";
	int fd = mkstemp(name);

	ck_assert_int_ge(fd, 0);
	(void)unlink(name);
	for (int i = 0; i < 2; i++) {
		fflush(i == 0 ? stdout : stderr);
		saved[i] = dup(i + 1);
		ck_assert_int_ge(dup2(fd, i + 1), 0);
	}
	close(fd);
}

static const char *heard(void)
{
	ssize_t n;

	fflush(stdout);
	fflush(stderr);
	n = pread(1, said, sizeof(said) - 1, 0);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_ge(dup2(saved[i], i + 1), 0);
		close(saved[i]);
	}
	ck_assert_int_ge(n, 0);
	said[n] = '\0';
	return said;
}

START_TEST(a_number_is_the_whole_word_and_in_its_range)
{
	uint64_t v = 77;

	ck_assert(vs_cli_number("0", 0, 5, &v) && v == 0);
	ck_assert(vs_cli_number("0x1F", 0, 31, &v) && v == 31);
	ck_assert(vs_cli_number("010", 0, 99, &v) && v == 10); /* never octal */
	ck_assert(vs_cli_number("18446744073709551615", 0, UINT64_MAX, &v) && v == UINT64_MAX);
	v = 77;
	ck_assert(!vs_cli_number("18446744073709551616", 0, UINT64_MAX, &v));
	ck_assert(!vs_cli_number("6", 0, 5, &v) && !vs_cli_number("0", 1, 5, &v));
	ck_assert(!vs_cli_number("", 0, 5, &v) && !vs_cli_number("-1", 0, UINT64_MAX, &v));
	ck_assert(!vs_cli_number(" 1", 0, 5, &v) && !vs_cli_number("1 ", 0, 5, &v) && !vs_cli_number("+1", 0, 5, &v));
	ck_assert(!vs_cli_number("0x", 0, 5, &v) && !vs_cli_number("1f", 0, 99, &v));
	ck_assert_uint_eq(v, 77); /* what is refused leaves the value */
}
END_TEST

START_TEST(a_time_has_a_unit)
{
	uint64_t ns = 77;

	ck_assert(vs_cli_duration("1.5ms", &ns) && ns == 1500000);
	ck_assert(vs_cli_duration("20us", &ns) && ns == 20000);
	ck_assert(vs_cli_duration("0s", &ns) && ns == 0);
	ck_assert(vs_cli_duration("3ns", &ns) && ns == 3);
	ns = 77;
	ck_assert(!vs_cli_duration("5", &ns) && !vs_cli_duration("ms", &ns) && !vs_cli_duration("1 ms", &ns));
	ck_assert(!vs_cli_duration("0x1s", &ns) && !vs_cli_duration("-1s", &ns) && !vs_cli_duration("1e30s", &ns));
	ck_assert(!vs_cli_duration("nans", &ns) && !vs_cli_duration("1h", &ns));
	ck_assert_uint_eq(ns, 77);
}
END_TEST

START_TEST(the_nearest_word_is_two_letters_away_at_most)
{
	static const char *const words[] = {"ladder", "why", "report", NULL}, *const none[] = {NULL};

	ck_assert_str_eq(vs_cli_nearest("lader", words), "ladder");
	ck_assert_str_eq(vs_cli_nearest("reprot", words), "report");
	ck_assert_str_eq(vs_cli_nearest("why", words), "why");
	ck_assert_ptr_null(vs_cli_nearest("export", words + 3));
	ck_assert_ptr_null(vs_cli_nearest("something else", words));
	ck_assert_ptr_null(vs_cli_nearest("why", none));
	ck_assert_ptr_null(vs_cli_nearest("a word that is longer than any command has a right to be", words));
}
END_TEST

START_TEST(a_message_is_one_line_that_does_no_harm)
{
	listen_to();
	printf("before ");
	vs_cli_complain("vs-x", "cmd", "%s", "a\x1b[2Jb\nc\x7f \xe2\x80\xae \xff \xc2\x9b \xec\x8b\xa4");
	ck_assert_str_eq(heard(), "before vs-x cmd: a?[2Jb?c? ??? ? ?? \xec\x8b\xa4\n");
	listen_to();
	ck_assert_int_eq(vs_cli_fail("vs-x", NULL, "%d", 5), VS_CLI_USAGE);
	ck_assert_str_eq(heard(), "vs-x: 5\n");
	listen_to();
	vs_cli_put_lines(stdout, "a\tb\nc\rd");
	ck_assert_str_eq(heard(), "a\tb\nc?d");
}
END_TEST

static int complain_of(const char *cmd, char *a, char *b)
{
	static const struct option longopts[] = {{"to", required_argument, NULL, 't'}, {NULL, 0, NULL, 0}};
	char program[] = "x", *argv[] = {program, a, b, NULL};
	int opt;

	optind = 0;
	opterr = 0;
	opt = getopt_long(2, argv, ":", longopts, NULL);
	return vs_cli_bad_option("vs-x", cmd, argv, opt);
}

START_TEST(a_wrong_option_is_named_and_help_is_too)
{
	char to[] = "--to", tow[] = "--tow";

	listen_to();
	ck_assert_int_eq(complain_of("cmd", to, NULL), VS_CLI_USAGE);
	ck_assert_str_eq(heard(), "vs-x cmd: --to needs a value: 'vs-x cmd --help' says which\n");
	listen_to();
	ck_assert_int_eq(complain_of(NULL, tow, NULL), VS_CLI_USAGE);
	ck_assert_str_eq(heard(), "vs-x: option --tow is not known or takes no value: see 'vs-x --help'\n");
}
END_TEST

static int count_arguments(int argc, char **argv)
{
	return strcmp(argv[0], "count") == 0 ? argc : -1;
}

static int run_table(char *a, char *b)
{
	static const struct vs_cli_command command[] = {{"count", count_arguments, "counts"}};
	static const struct vs_cli_commands c = {"vs-x", command, 1, "about\n"};
	char program[] = "vs-x", *argv[] = {program, a, b, NULL};

	return vs_cli_main(&c, a == NULL ? 1 : b == NULL ? 2 : 3, argv);
}

START_TEST(a_table_of_subcommands_runs_the_one_that_is_named)
{
	char count[] = "count", arg[] = "arg", help[] = "--help", version[] = "--version", near[] = "cuont",
	     far[] = "e\nvil";

	ck_assert_int_eq(run_table(count, arg), 2);
	listen_to();
	ck_assert_int_eq(run_table(help, NULL), VS_CLI_OK);
	ck_assert_str_eq(heard(), "usage: vs-x COMMAND ...\n\n  count    counts\n\nabout\n");
	listen_to();
	ck_assert_int_eq(run_table(NULL, NULL), VS_CLI_USAGE);
	ck_assert_str_eq(heard(), "usage: vs-x COMMAND ...\n\n  count    counts\n\nabout\n");
	listen_to();
	ck_assert_int_eq(run_table(version, NULL), VS_CLI_OK);
	ck_assert_str_eq(heard(), "vs-x (Verbscope) " VS_VERSION "\n");
	listen_to();
	ck_assert_int_eq(run_table(near, NULL), VS_CLI_USAGE);
	ck_assert_str_eq(heard(), "vs-x: no such command: cuont (did you mean count?): 'vs-x --help' lists them\n");
	listen_to();
	ck_assert_int_eq(run_table(far, NULL), VS_CLI_USAGE);
	ck_assert_str_eq(heard(), "vs-x: no such command: e?vil: 'vs-x --help' lists them\n");
}
END_TEST

/* ---- files ---- */

static char dir[] = "/tmp/test_cli.XXXXXX", path[64];

static void make_dir(void)
{
	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	(void)snprintf(path, sizeof(path), "%s/f", dir);
}

static void remove_dir(void)
{
	(void)unlink(path);
	ck_assert_int_eq(rmdir(dir), 0); /* nothing else was left there */
}

static const char *contents(void)
{
	ssize_t n = -1;
	int fd = open(path, O_RDONLY);

	if (fd >= 0) {
		n = read(fd, said, sizeof(said) - 1);
		close(fd);
	}
	said[n > 0 ? n : 0] = '\0';
	return n < 0 ? NULL : said;
}

START_TEST(a_file_appears_when_it_is_whole)
{
	struct vs_cli_file f;
	struct stat st;

	ck_assert(vs_cli_file_open(&f, "vs-x", NULL, path, VS_CLI_PRIVATE));
	fputs("old", f.f);
	fflush(f.f);
	ck_assert_ptr_null(contents());
	ck_assert_int_eq(vs_cli_file_close(&f), VS_CLI_OK);
	ck_assert_str_eq(contents(), "old");
	ck_assert(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600);

	ck_assert(vs_cli_file_open(&f, "vs-x", NULL, path, VS_CLI_PUBLIC));
	fputs("half of the ne", f.f);
	vs_cli_file_abort(&f);
	ck_assert_str_eq(contents(), "old");

	(void)umask(022);
	ck_assert(vs_cli_file_open(&f, "vs-x", NULL, path, VS_CLI_PUBLIC));
	fputs("new", f.f);
	ck_assert_int_eq(vs_cli_file_close(&f), VS_CLI_OK);
	ck_assert_str_eq(contents(), "new");
	ck_assert(stat(path, &st) == 0 && (st.st_mode & 0777) == 0644);
}
END_TEST

START_TEST(what_cannot_be_written_is_said)
{
	struct vs_cli_file f;
	char in_none[80];

	(void)snprintf(in_none, sizeof(in_none), "%s/none/f", dir);
	listen_to();
	ck_assert(!vs_cli_file_open(&f, "vs-x", "cmd", in_none, VS_CLI_PRIVATE));
	ck_assert_ptr_nonnull(strstr(heard(), "/none/f: can't be written (No such file or directory)\n"));

	listen_to();
	ck_assert(!vs_cli_file_open(&f, "vs-x", "cmd", dir, VS_CLI_PRIVATE));
	ck_assert_ptr_nonnull(strstr(heard(), ": can't be written (Is a directory)\n"));

	ck_assert(vs_cli_file_open(&f, "vs-x", "cmd", "/dev/full", VS_CLI_PUBLIC));
	fputs("text", f.f);
	listen_to();
	ck_assert_int_eq(vs_cli_file_close(&f), VS_CLI_USAGE);
	ck_assert_str_eq(heard(), "vs-x cmd: /dev/full: can't be written (No space left on device)\n");
}
END_TEST

/* ---- waiting ---- */

/* Its handlers stand: /proc has a mask of the signals that a process catches. */
static bool waits(pid_t pid)
{
	unsigned long long caught = 0;
	char name[64], line[256];
	FILE *f;

	(void)snprintf(name, sizeof(name), "/proc/%ld/status", (long)pid);
	f = fopen(name, "re");
	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f) != NULL)
		if (sscanf(line, "SigCgt: %llx", &caught) == 1)
			break;
	fclose(f);
	return (caught >> (SIGHUP - 1) & 1) != 0; /* the last that it sets */
}

/* Check has handlers of its own. */
static void as_a_program_begins(void)
{
	static const int signals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		(void)signal(signals[i], SIG_DFL);
}

/* A child that says on a pipe that it is ready, then ends as it is told; the parent of it is a child, too: it is sent
 * signals. */
static pid_t wrapped(int by, int *status)
{
	int ready[2], st = 0;
	pid_t wrapper;
	char c;

	ck_assert_int_eq(pipe(ready), 0);
	wrapper = fork();
	if (wrapper == 0) {
		pid_t program;

		as_a_program_begins();
		program = fork();
		if (program == 0) {
			if (by == 0)
				_exit(7);
			(void)!write(ready[1], "x", 1);
			for (;;)
				(void)pause();
		}
		st = vs_cli_wait(program);
		_exit(WIFSIGNALED(st) ? 100 + WTERMSIG(st) : WEXITSTATUS(st));
	}
	ck_assert_int_gt(wrapper, 0);
	if (by != 0) {
		ck_assert_int_eq(read(ready[0], &c, 1), 1);
		/* It may not yet wait: what is sent until then ends it. */
		while (!waits(wrapper))
			(void)usleep(1000);
		ck_assert_int_eq(kill(wrapper, by), 0);
	}
	close(ready[0]);
	close(ready[1]);
	ck_assert_int_eq(waitpid(wrapper, status, 0), wrapper);
	return wrapper;
}

START_TEST(a_wrapped_program_is_waited_for)
{
	int status;

	(void)wrapped(0, &status);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}
END_TEST

START_TEST(what_is_sent_to_a_wrapper_reaches_its_program)
{
	static const int signals[] = {SIGTERM, SIGHUP};
	int status;

	(void)wrapped(signals[_i], &status);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 100 + signals[_i]);
}
END_TEST

/* What a terminal sends reaches both; the wrapper outlives it. */
START_TEST(a_wrapper_outlives_what_a_terminal_sends)
{
	int ready[2], status, st;
	pid_t wrapper;
	char c;

	ck_assert_int_eq(pipe(ready), 0);
	wrapper = fork();
	if (wrapper == 0) {
		pid_t program;

		(void)setpgid(0, 0);
		as_a_program_begins();
		program = fork();
		if (program == 0) {
			(void)!write(ready[1], "x", 1);
			for (;;)
				(void)pause();
		}
		st = vs_cli_wait(program);
		_exit(WIFSIGNALED(st) ? 100 + WTERMSIG(st) : WEXITSTATUS(st));
	}
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	while (!waits(wrapper))
		(void)usleep(1000);
	ck_assert_int_eq(kill(-wrapper, SIGINT), 0);
	ck_assert_int_eq(waitpid(wrapper, &status, 0), wrapper);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 100 + SIGINT);
	close(ready[0]);
	close(ready[1]);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("cli");
	TCase *tc = tcase_create("words"), *files = tcase_create("files"), *waiting = tcase_create("waiting");

	tcase_add_test(tc, a_number_is_the_whole_word_and_in_its_range);
	tcase_add_test(tc, a_time_has_a_unit);
	tcase_add_test(tc, the_nearest_word_is_two_letters_away_at_most);
	tcase_add_test(tc, a_message_is_one_line_that_does_no_harm);
	tcase_add_test(tc, a_wrong_option_is_named_and_help_is_too);
	tcase_add_test(tc, a_table_of_subcommands_runs_the_one_that_is_named);
	suite_add_tcase(s, tc);
	tcase_add_checked_fixture(files, make_dir, remove_dir);
	tcase_add_test(files, a_file_appears_when_it_is_whole);
	tcase_add_test(files, what_cannot_be_written_is_said);
	suite_add_tcase(s, files);
	tcase_set_timeout(waiting, 60);
	tcase_add_test(waiting, a_wrapped_program_is_waited_for);
	tcase_add_loop_test(waiting, what_is_sent_to_a_wrapper_reaches_its_program, 0, 2);
	tcase_add_test(waiting, a_wrapper_outlives_what_a_terminal_sends);
	suite_add_tcase(s, waiting);
	return s;
}
