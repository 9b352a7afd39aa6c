/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * agent_shim.c - stands between vs-conform and vs-agent, and does what the way between two hosts, or the far one, may
 * do.
 *
 *   agent_shim MODE LINE STARTS COMMAND ARG...
 *
 * At the start after STARTS others (counted in the file $SHIM_COUNT) and before line LINE from the agent:
 *
 *   none      nothing
 *   kill      the agent is killed
 *   hang      nothing is passed on any more
 *   garbage   a line that no agent says
 *   long      a line that is too long
 *   half      half of the line, and the end
 *   binary    bytes that are no text
 *   slow      from here on every line takes 8 ms
 *   pty       nothing, but the agent is at a terminal: COMMAND --serial TERMINAL
 */
#define _GNU_SOURCE /* openpty's friends */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pid_t child;
static const char *mode;
static unsigned long at_line, lines;
static bool acting, slow;

static bool put(int fd, const char *bytes, size_t n)
{
	while (n > 0) {
		ssize_t k = write(fd, bytes, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return false;
		bytes += k;
		n -= (size_t)k;
	}
	return true;
}

static void finish(int code)
{
	if (child > 0) {
		(void)kill(child, SIGKILL);
		(void)waitpid(child, NULL, 0);
	}
	exit(code);
}

/* Before a line is passed on. */
static void act(const char *line, size_t n)
{
	static const char binary[] = "= \x01\x80\x1b[2J \xff\n";
	static char long_line[20001];

	if (strcmp(mode, "kill") == 0) {
		finish(7);
	} else if (strcmp(mode, "hang") == 0) {
		for (;;)
			(void)pause();
	} else if (strcmp(mode, "garbage") == 0) {
		(void)put(1, "you have new mail\n", 18);
	} else if (strcmp(mode, "long") == 0) {
		memset(long_line, 'a', sizeof(long_line) - 1);
		long_line[sizeof(long_line) - 1] = '\n';
		(void)put(1, long_line, sizeof(long_line));
	} else if (strcmp(mode, "half") == 0) {
		(void)put(1, line, n / 2);
		finish(0);
	} else if (strcmp(mode, "binary") == 0) {
		(void)put(1, binary, sizeof(binary) - 1);
	} else if (strcmp(mode, "slow") == 0) {
		slow = true;
	}
}

static void pass_line(const char *line, size_t n)
{
	const struct timespec nap = {0, 8000000};

	if (acting && ++lines == at_line)
		act(line, n);
	if (slow)
		(void)nanosleep(&nap, NULL);
	if (!put(1, line, n))
		finish(0);
}

/* Whole lines; what comes without an end is passed on at the end. */
static void pass(int from)
{
	static char buf[1 << 16];
	static size_t have;
	ssize_t n = read(from, buf + have, sizeof(buf) - have);
	char *at = buf, *end;

	if (n <= 0)
		finish(0);
	have += (size_t)n;
	while ((end = memchr(at, '\n', have - (size_t)(at - buf))) != NULL) {
		pass_line(at, (size_t)(end - at) + 1);
		at = end + 1;
	}
	have -= (size_t)(at - buf);
	memmove(buf, at, have);
}

static bool is_ours(unsigned long after)
{
	const char *path = getenv("SHIM_COUNT");
	unsigned long n = 0;
	FILE *f = path != NULL ? fopen(path, "r+") : NULL;

	if (f == NULL)
		return after == 0;
	if (fscanf(f, "%lu", &n) != 1)
		n = 0;
	rewind(f);
	(void)fprintf(f, "%lu\n", n + 1);
	(void)fclose(f);
	return n == after;
}

/* A terminal whose other end is ours; its name. */
static int terminal(char name[128])
{
	int fd = posix_openpt(O_RDWR | O_NOCTTY);

	if (fd < 0 || grantpt(fd) != 0 || unlockpt(fd) != 0 || ptsname_r(fd, name, 128) != 0) {
		perror("agent_shim: a terminal");
		exit(2);
	}
	return fd;
}

static void start(char **command, int *to, int *from)
{
	int in[2], out[2], keep = -1, fd = -1;
	char name[128];

	if (strcmp(mode, "pty") == 0) {
		char *argv[] = {command[0], "--device", "ref0", "--serial", name, NULL};

		fd = *to = *from = terminal(name);
		keep = open(name, O_RDWR | O_NOCTTY); /* so that it does not hang up before the agent is there */
		child = fork();
		if (child == 0) {
			close(fd);
			close(keep);
			(void)execv(argv[0], argv);
			_exit(127);
		}
		return;
	}
	if (pipe(in) != 0 || pipe(out) != 0)
		exit(2);
	child = fork();
	if (child == 0) {
		(void)dup2(in[0], 0);
		(void)dup2(out[1], 1);
		for (int i = 0; i < 2; i++)
			(void)(close(in[i]), close(out[i]));
		(void)execv(command[0], command);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	*to = in[1];
	*from = out[0];
}

int main(int argc, char **argv)
{
	int to, from;
	char buf[4096];

	if (argc < 5)
		return 2;
	mode = argv[1];
	at_line = strtoul(argv[2], NULL, 10);
	acting = is_ours(strtoul(argv[3], NULL, 10));
	(void)signal(SIGPIPE, SIG_IGN);
	start(argv + 4, &to, &from);
	for (;;) {
		struct pollfd fd[2] = {{.fd = 0, .events = POLLIN}, {.fd = from, .events = POLLIN}};

		if (poll(fd, 2, -1) < 0 && errno != EINTR)
			finish(2);
		if (fd[0].revents != 0) {
			ssize_t n = read(0, buf, sizeof(buf));

			if (n <= 0 || !put(to, buf, (size_t)n))
				finish(0);
		}
		if (fd[1].revents != 0)
			pass(from);
	}
}
