/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * run.c - `vs-trace run`: a program with the recorder preloaded, and on the reference device with what the device
 * itself can tell, in a folder.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "merge.h"
#include "run.h"

#define CMD "run"
#define HEADERS 96u /* of a packet: IPv6, UDP, BTH and the longest that comes behind it */
#define RECORDER "../lib/verbscope/libvs-record.so" /* from the folder of vs-trace, built or installed */
#ifndef VS_PRELOAD_FIRST
#define VS_PRELOAD_FIRST "" /* a sanitizer's runtime must stand in front of everything */
#endif

/* Something beside this program. */
static int beside(const char *name, char path[PATH_MAX])
{
	char self[PATH_MAX], joined[PATH_MAX + 64], *slash;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = '\0';
	slash = strrchr(self, '/');
	if (slash != NULL)
		*slash = '\0';
	snprintf(joined, sizeof(joined), "%s/%s", self, name);
	if (realpath(joined, path) != NULL && strpbrk(path, ": ") == NULL)
		return 0;
	vt_complain(CMD,
		    "%s: is not there, or in a folder with a blank or colon in its name: run make, or install again",
		    joined);
	return RUN_FAILED;
}

static int preload(void)
{
	const char *before = getenv("LD_PRELOAD");
	char path[PATH_MAX], value[3 * PATH_MAX];
	int rc = beside(RECORDER, path), n;

	if (rc != 0)
		return rc;
	n = snprintf(value, sizeof(value), "%s%s%s%s%s", VS_PRELOAD_FIRST, VS_PRELOAD_FIRST[0] != '\0' ? ":" : "", path,
		     before != NULL && before[0] != '\0' ? ":" : "", before != NULL ? before : "");
	if (n < 0 || n >= (int)sizeof(value)) {
		vt_complain(CMD, "LD_PRELOAD is too long");
		return RUN_FAILED;
	}
	(void)setenv("LD_PRELOAD", value, 1);
	return 0;
}

static void environment(const struct run *r)
{
	(void)setenv("VS_RECORD", r->dir, 1);
	if (r->payload != NULL)
		(void)setenv("VS_RECORD_PAYLOAD", r->payload, 1);
	else
		(void)unsetenv("VS_RECORD_PAYLOAD");
	if (r->inject[0] != '\0')
		(void)setenv("VS_INJECT", r->inject, 1);
	else
		(void)unsetenv("VS_INJECT");
	if (r->device == RUN_SYSTEM)
		(void)unsetenv("VS_SIM");
}

/* The program, or vs-run with the program. NULL: no memory. */
static char **command(const struct run *r, char *vs_run, char *trace, char *capture, char *snaplen)
{
	size_t n = 0, at = 0;
	char **argv;

	while (r->argv[n] != NULL)
		n++;
	argv = calloc(n + RUN_WORDS + 16, sizeof(char *));
	if (argv == NULL)
		return NULL;
	if (r->device != RUN_SYSTEM) {
		argv[at++] = vs_run;
		if (r->device == RUN_PAIR || r->device == RUN_SIM)
			argv[at++] = (char *)(uintptr_t)(r->device == RUN_PAIR ? "--pair" : "--sim");
		if (!r->light) {
			argv[at++] = (char *)(uintptr_t) "--trace";
			argv[at++] = trace;
			argv[at++] = (char *)(uintptr_t) "--capture";
			argv[at++] = capture;
			if (r->device != RUN_SIM) {
				argv[at++] = (char *)(uintptr_t) "--snaplen";
				argv[at++] = snaplen;
			}
		}
		for (unsigned i = 0; i < r->n_words; i++)
			argv[at++] = (char *)(uintptr_t)r->word[i];
		argv[at++] = (char *)(uintptr_t) "--";
	}
	memcpy(argv + at, r->argv, n * sizeof(char *));
	return argv;
}

_Noreturn static void become(char **argv)
{
	if (argv[0] != NULL)
		execvp(argv[0], argv);
	vt_complain(CMD, "%s: %s", argv[0] != NULL ? argv[0] : "",
		    errno == ENOENT ? "there is no such program" : strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

static int start_and_wait(struct run *r, char **argv)
{
	int status;
	pid_t pid = fork();

	if (pid < 0) {
		vt_complain(CMD, "%s: can't be started (%s)", argv[0], strerror(errno));
		return RUN_FAILED;
	}
	if (pid == 0) {
		environment(r);
		if (preload() != 0)
			_exit(RUN_FAILED);
		become(argv);
	}
	status = vs_cli_wait(pid);
	r->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	r->code = r->signal != 0 ? 128 + r->signal : WEXITSTATUS(status);
	return 0;
}

static int is_vst(const struct dirent *d)
{
	size_t n = strlen(d->d_name);

	return n > 4 && strcmp(d->d_name + n - 4, ".vst") == 0;
}

/* Several processes that talked to each other: what one sent and the other took becomes one packet, in trace.vst. */
int vt_run_join(const struct run *r)
{
	static char path[RUN_PROCESSES][PATH_MAX];
	char *list[RUN_PROCESSES];
	struct dirent **found = NULL;
	int n = scandir(r->dir, &found, is_vst, alphasort), rc = VT_OK;

	for (int i = 0; i < n; i++) {
		if (i < RUN_PROCESSES && snprintf(path[i], PATH_MAX, "%s/%s", r->dir, found[i]->d_name) < PATH_MAX)
			list[i] = path[i];
		else
			rc = VT_USAGE;
		free(found[i]);
	}
	free(found);
	if (rc == VT_OK && n > 2 && n <= MERGE_SOURCES)
		rc = merge_files(CMD, list, n, r->dir, false);
	return rc == VT_OK ? 0 : RUN_FAILED;
}

int vt_run(int argc, char **argv)
{
	static struct run r;
	char vs_run[PATH_MAX], trace[PATH_MAX + 64], capture[PATH_MAX + 64], snaplen[16], err[PATH_MAX + 512] = "";
	char **words;
	int rc = vt_run_parse(&r, argc, argv);

	if (rc >= 0)
		return rc;
	if (r.device != RUN_SYSTEM && beside("vs-run", vs_run) != 0)
		return RUN_FAILED;
	snprintf(trace, sizeof(trace), r.device == RUN_SIM ? "%s/device.vst" : "%s/device-%%n-%%p.vst", r.dir);
	snprintf(capture, sizeof(capture), "%s/wire.pcap", r.dir);
	snprintf(snaplen, sizeof(snaplen), "%u",
		 HEADERS + (r.payload != NULL ? (unsigned)strtoul(r.payload, NULL, 10) : 0));
	words = command(&r, vs_run, trace, capture, snaplen);
	rc = words != NULL ? start_and_wait(&r, words) : RUN_FAILED;
	free(words);
	if (rc != 0)
		return rc;
	r.n_processes = vt_spool_convert(r.dir, r.process, RUN_PROCESSES, err, sizeof(err));
	if (r.n_processes < 0) {
		vt_complain(CMD, "%s", err);
		return RUN_FAILED;
	}
	rc = r.device == RUN_SYSTEM || r.device == RUN_SIM || r.light ? 0 : vt_run_join(&r);
	if (rc == 0)
		rc = vt_run_meta(&r);
	vt_run_tell(&r);
	return rc != 0 ? rc : r.code;
}
