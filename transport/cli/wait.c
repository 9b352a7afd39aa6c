/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * wait.c - waiting for a program that was wrapped, so that what it leaves behind can be looked after whatever ends it:
 * what the terminal sends, it gets itself; what is sent to us alone is passed on.
 */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "cli/cli.h"

static volatile sig_atomic_t child;

static void pass_on(int signal_number)
{
	int saved = errno;

	if (child > 0)
		(void)kill((pid_t)child, signal_number);
	errno = saved;
}

int vs_cli_wait(pid_t pid)
{
	struct sigaction act = {.sa_handler = pass_on};
	int status = 0;

	child = (sig_atomic_t)pid;
	(void)sigemptyset(&act.sa_mask);
	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGQUIT, SIG_IGN);
	(void)sigaction(SIGTERM, &act, NULL);
	(void)sigaction(SIGHUP, &act, NULL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	child = 0;
	return status;
}
