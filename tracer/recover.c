/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * recover.c - `vs-trace recover`: when `vs-trace run` itself was killed, its programs went on or died, and left what
 * they had recorded; this does what it would have done at their end.
 */
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "run.h"

#define CMD "recover"
#define RECORDER "libvs-record.so"

static const char usage[] =
	"usage: vs-trace recover DIR\n"
	"\n"
	"Makes a trace of what a 'vs-trace run -o DIR' left that was killed before its end: the programs must have "
	"ended.\n"
	"What they had recorded until then is all there; the last event of each says what is missing.\n"
	"  --help\n";

static const struct option options[] = {{"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};

static int is_spool(const struct dirent *d)
{
	size_t n = strlen(d->d_name);

	return strncmp(d->d_name, "rec-", 4) == 0 && n > 6 && strcmp(d->d_name + n - 6, ".spool") == 0;
}

/* A process of that number that has our library: another one may have got the number since. */
static bool records(long pid)
{
	char path[64], line[PATH_MAX + 128];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/maps", pid);
	f = fopen(path, "re");
	while (f != NULL && !found && fgets(line, sizeof(line), f) != NULL)
		found = strstr(line, RECORDER) != NULL;
	if (f != NULL)
		fclose(f);
	return found;
}

/* VT_OK; VT_NOTHING: nothing is left there; VT_USAGE: somebody still writes. */
static int look(const char *dir)
{
	struct dirent **list = NULL;
	int n = scandir(dir, &list, is_spool, alphasort), rc = n > 0 ? VT_OK : n == 0 ? VT_NOTHING : VT_USAGE;

	if (n < 0)
		vt_complain(CMD, "%s: can't be read (%s)", dir, strerror(errno));
	if (n == 0)
		vt_complain(CMD, "%s: holds nothing that is not yet a trace", dir);
	for (int i = 0; i < n; i++) {
		long pid = strtol(list[i]->d_name + 4, NULL, 10);

		if (rc == VT_OK && records(pid)) {
			vt_complain(CMD, "%s: process %ld still records there: wait for its end, or end it", dir, pid);
			rc = VT_USAGE;
		}
		free(list[i]);
	}
	free(list);
	return rc;
}

static bool is_there(const struct run *r, const char *name)
{
	char path[PATH_MAX + 64];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", r->dir, name);
	return stat(path, &st) == 0;
}

/* Captures and traces of the devices whose writers are no more. */
static void salvage(const struct run *r)
{
	static const char *const traces[] = {"device-%n-%p.vst", "device.vst"};
	char path[PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s/wire.pcap", r->dir);
	vs_cli_salvage_capture(VT_PROGRAM, path);
	for (size_t i = 0; i < sizeof(traces) / sizeof(traces[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", r->dir, traces[i]);
		vs_cli_salvage_trace(VT_PROGRAM, path);
	}
}

static int recover(struct run *r)
{
	char err[PATH_MAX + 512] = "";

	salvage(r);
	r->device = is_there(r, "device.vst") ? RUN_SIM : RUN_AUTO;
	r->n_processes = vt_spool_convert(r->dir, r->process, RUN_PROCESSES, err, sizeof(err));
	if (r->n_processes < 0)
		return vt_fail(CMD, "%s", err);
	if ((r->device != RUN_SIM && vt_run_join(r) != 0) || vt_run_meta(r) != 0)
		return VT_USAGE;
	vt_run_tell(r);
	return VT_OK;
}

int vt_recover(int argc, char **argv)
{
	static struct run r;
	static char *nothing[] = {NULL}; /* what was run is not known any more */
	int opt, rc;

	optind = 1;
	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		if (opt != 'h')
			return vt_bad_option(CMD, argv, opt);
		fputs(usage, stdout);
		return vt_flush(CMD);
	}
	if (argc - optind != 1)
		return vt_fail(CMD, "which folder? one: 'vs-trace recover --help' shows how it is called");
	if (realpath(argv[optind], r.dir) == NULL || strlen(r.dir) > 400 || strpbrk(r.dir, "%\n") != NULL)
		return vt_fail(CMD, "%s: is no folder of a run", argv[optind]);
	r.argv = nothing;
	rc = look(r.dir);
	return rc == VT_OK ? recover(&r) : rc;
}
