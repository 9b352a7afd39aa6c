/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * start.c - the environment for the library, starting a program, and its exit code.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verbs/run/run.h"

#define LIBRARIES "../lib/verbscope/" /* from the folder of vs-run, built or installed */
#ifndef VS_PRELOAD_FIRST
#define VS_PRELOAD_FIRST "" /* a sanitizer's runtime must stand in front of everything */
#endif

/* One of our libraries, absolute. */
static int find_library(const char *name, char path[PATH_MAX])
{
	char self[PATH_MAX], *slash, joined[PATH_MAX + 64];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n <= 0)
		return run_fail("/proc/self/exe can't be read (%s): is /proc mounted?", strerror(errno));
	self[n] = '\0';
	slash = strrchr(self, '/');
	if (slash != NULL)
		*slash = '\0';
	snprintf(joined, sizeof(joined), "%s/" LIBRARIES "%s", self, name);
	if (realpath(joined, path) == NULL)
		return run_fail("%s: is not there (%s): run make, or install again", joined, strerror(errno));
	if (strpbrk(path, ": ") != NULL)
		return run_fail("%s: a folder with a blank or a colon in its name can't be preloaded from", path);
	return 0;
}

static int preload(bool sim)
{
	const char *before = getenv("LD_PRELOAD");
	char verbs[PATH_MAX], cm[PATH_MAX], clock[PATH_MAX] = "", value[5 * PATH_MAX];
	int rc = find_library("libibverbs.so.1", verbs), n;

	if (rc == 0)
		rc = find_library("librdmacm.so.1", cm);
	if (rc == 0 && sim)
		rc = find_library("libvs-clock.so", clock);
	if (rc != 0)
		return rc;
	n = snprintf(value, sizeof(value), "%s%s%s%s%s%s%s:%s", VS_PRELOAD_FIRST,
		     VS_PRELOAD_FIRST[0] != '\0' ? ":" : "", before != NULL ? before : "",
		     before != NULL && before[0] != '\0' ? ":" : "", clock, sim ? ":" : "", verbs, cm);
	if (n < 0 || n >= (int)sizeof(value))
		return run_fail("LD_PRELOAD is too long");
	return setenv("LD_PRELOAD", value, 1) == 0 ? 0 : run_fail("no memory");
}

static void set(const char *name, const char *value)
{
	if (value != NULL)
		(void)setenv(name, value, 1);
	else
		(void)unsetenv(name);
}

static int set_list(const char *name, const char *const *list, unsigned n)
{
	size_t len = 1;
	char *value;

	for (unsigned i = 0; i < n; i++)
		len += strlen(list[i]) + 1;
	value = calloc(1, len);
	if (value == NULL)
		return run_fail("no memory");
	for (unsigned i = 0; i < n; i++) {
		strncat(value, list[i], len - strlen(value) - 1);
		strncat(value, "\n", len - strlen(value) - 1);
	}
	set(name, n > 0 ? value : NULL);
	free(value);
	return 0;
}

int run_environment(const struct run_options *o)
{
	int rc = preload(o->sim);

	/* UCX takes the type of a RoCE packet from wc.sl, where devices of one maker have it, and drops all others. */
	if (o->view)
		(void)setenv("UCX_UD_VERBS_ETH_DGID_CHECK", "n", 0);
	if (rc == 0)
		rc = set_list("VS_IP", o->ip, o->n_ip);
	if (rc == 0)
		rc = set_list("VS_FAULT", o->fault, o->n_fault);
	if (rc == 0)
		rc = set_list("VS_DEVIATION", o->deviation, o->n_deviation);
	set("VS_SIM", o->sim ? "1" : NULL);
	set("VS_IP_MAY_MOVE", o->may_move ? "1" : NULL);
	set("VS_MTU", o->mtu);
	set("VS_DEVICE", o->traits);
	set("VS_SEED", o->seed);
	set("VS_CAPTURE", o->capture);
	set("VS_SNAPLEN", o->snaplen);
	set("VS_TRACE", o->trace);
	set("VS_TRACE_MEMORY", o->trace_memory ? "1" : NULL);
	set("VS_COUNTERS", o->counters ? "1" : NULL);
	set("VS_EXPLAIN", o->explain ? "1" : NULL);
	set("VS_NO_GSO", o->no_gso ? "1" : NULL);
	set("VS_QUIET", o->quiet ? "1" : NULL);
	return rc;
}

int run_exec(char **argv)
{
	execvp(argv[0], argv);
	if (errno == ENOENT) {
		(void)run_fail("%s: there is no such program", argv[0]);
		return 127;
	}
	(void)run_fail("%s: can't be run (%s)", argv[0], strerror(errno));
	return 126;
}

pid_t run_spawn(const char *view, char **argv, int out, int *code)
{
	pid_t pid = fork();

	if (pid < 0) {
		*code = run_fail("%s: can't be started (%s)", argv[0], strerror(errno));
		return -1;
	}
	if (pid == 0) {
		if (out >= 0 && (dup2(out, STDOUT_FILENO) < 0 || dup2(out, STDERR_FILENO) < 0))
			_exit(RUN_FAILED);
		if (view != NULL && run_view(&view, 1) != 0)
			_exit(RUN_FAILED);
		_exit(run_exec(argv));
	}
	return pid;
}

int run_code(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
