/* SPDX-License-Identifier: GPL-2.0-or-later */
/* peak.c - peak COMMAND...: runs it, and says on stderr how many KiB of memory it had at most, and its CPU time in ms.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static long ms(struct timeval t)
{
	return t.tv_sec * 1000 + t.tv_usec / 1000;
}

int main(int argc, char **argv)
{
	struct rusage used;
	int status;
	pid_t pid;

	if (argc < 2) {
		fputs("peak: which command?\n", stderr);
		return 2;
	}
	pid = fork();
	if (pid == 0) {
		execvp(argv[1], argv + 1);
		fprintf(stderr, "peak: %s: %s\n", argv[1], strerror(errno));
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &used) != pid) {
		fprintf(stderr, "peak: %s\n", strerror(errno));
		return 2;
	}
	fprintf(stderr, "%ld %ld\n", used.ru_maxrss, ms(used.ru_utime) + ms(used.ru_stime));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
