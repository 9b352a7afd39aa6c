/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * remote_command.c - the command that leads to an agent, and everything that it starts: nothing of it outlives the run.
 *
 * A shell runs it, and ssh(1) or a virtual machine may be its grandchild. So there is one in between who is told when
 * the runner ends or has enough (SIGTERM): who adopts all orphans below it, ends them, and then itself. The command
 * stays in the group of the terminal, so that it can ask for a password.
 */
#define _GNU_SOURCE /* close_range, pipe2 */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "remote.h"

#define GRACE_MS 2000 /* for who is told to end */

static void close_all(int from)
{
	if (close_range((unsigned)from, ~0u, 0) <
	    0) /* the pipes of the workers among them: who has them is waited for */
		for (int fd = from; fd < 1024; fd++)
			(void)close(fd);
}

/* Sends a signal to every process whose parent is `parent`, and theirs; how many. */
static unsigned signal_below(pid_t parent, int sig, unsigned depth)
{
	DIR *d = opendir("/proc");
	const struct dirent *e;
	unsigned n = 0;

	while (d != NULL && (e = readdir(d)) != NULL) {
		char path[300], state;
		int pid, above;
		FILE *f;

		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		(void)snprintf(path, sizeof(path), "/proc/%s/stat", e->d_name);
		f = fopen(path, "r");
		if (f == NULL)
			continue;
		/* PID (NAME) STATE PARENT: a name may have blanks, and hardly a parenthesis */
		if (fscanf(f, "%d (%*[^)]) %c %d", &pid, &state, &above) == 3 && above == parent && state != 'Z') {
			n++;
			if (depth > 0)
				n += signal_below(pid, sig, depth - 1);
			(void)kill(pid, sig);
		}
		fclose(f);
	}
	if (d != NULL)
		closedir(d);
	return n;
}

/* Until nobody is left. */
static void end_everybody(void)
{
	const struct timespec nap = {0, 20000000};
	unsigned ms = 0;

	while (signal_below(getpid(), ms == 0 ? SIGTERM : ms < GRACE_MS ? 0 : SIGKILL, 8) > 0 && ms < 2 * GRACE_MS) {
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		(void)nanosleep(&nap, NULL);
		ms += 20;
	}
}

/* Ends as the command does. */
static void stand_between(pid_t command, const sigset_t *wanted)
{
	bool told = command < 0, over = false;
	int status = 0, one;
	pid_t gone;

	close_all(0);
	while (!told && !over) {
		told = sigwaitinfo(wanted, NULL) == SIGTERM;
		while ((gone = waitpid(-1, &one, WNOHANG)) > 0) {
			status = gone == command ? one : status;
			over |= gone == command;
		}
	}
	end_everybody();
	if (over && WIFSIGNALED(status)) {
		(void)sigprocmask(SIG_UNBLOCK, wanted, NULL);
		(void)signal(WTERMSIG(status), SIG_DFL);
		(void)raise(WTERMSIG(status));
	}
	_exit(over ? WEXITSTATUS(status) : 1);
}

static void become(const char *command, const int in[2], const int out[2], const int err[2], pid_t parent)
{
	sigset_t wanted;
	pid_t pid;

	(void)sigemptyset(&wanted);
	(void)sigaddset(&wanted, SIGTERM);
	(void)sigaddset(&wanted, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &wanted, NULL);
	if (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0 || getppid() != parent || prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		_exit(125);
	pid = fork();
	if (pid != 0)
		stand_between(pid, &wanted);
	(void)sigprocmask(SIG_UNBLOCK, &wanted, NULL);
	if (dup2(in[0], 0) < 0 || dup2(out[1], 1) < 0 || dup2(err[1], 2) < 0)
		_exit(125);
	close_all(3);
	(void)signal(SIGPIPE, SIG_DFL);
	(void)execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

static void close_pipe(const int p[2])
{
	for (int i = 0; i < 2; i++)
		if (p[i] >= 0)
			close(p[i]);
}

pid_t vc_command_start(const char *command, int *to, int *from, int *err)
{
	int p[3][2] = {{-1, -1}, {-1, -1}, {-1, -1}};
	const pid_t parent = getpid();
	pid_t pid = -1;

	if (pipe2(p[0], O_CLOEXEC) == 0 && pipe2(p[1], O_CLOEXEC) == 0 && pipe2(p[2], O_CLOEXEC) == 0)
		pid = fork();
	if (pid == 0)
		become(command, p[0], p[1], p[2], parent);
	if (pid < 0) {
		close_pipe(p[0]);
		close_pipe(p[1]);
		close_pipe(p[2]);
		return -1;
	}
	close(p[0][0]);
	close(p[1][1]);
	close(p[2][1]);
	*to = p[0][1];
	*from = p[1][0];
	*err = p[2][0];
	(void)fcntl(*to, F_SETFL, O_NONBLOCK);
	(void)fcntl(*from, F_SETFL, O_NONBLOCK);
	(void)fcntl(*err, F_SETFL, O_NONBLOCK);
	return pid;
}
