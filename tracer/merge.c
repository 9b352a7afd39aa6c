/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * merge.c - `vs-trace merge`: the records of several programs, devices and hosts, and a capture, as one trace with one
 * clock. The bound for the error of each clock is printed: two events that are nearer than that may have been the other
 * way round.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "merge.h"

#define CMD "merge"

static const char usage[] = "usage: vs-trace merge FILE... -o DIR\n"
			    "\n"
			    "Makes one trace of several records of the same exchange: .vst files of programs and "
			    "devices, on one host or many,\n"
			    "and one capture. Clocks are aligned by packets that two records both have; how far that "
			    "may be wrong is printed.\n"
			    "\n"
			    "  -o DIR            where trace.vst is written, and the capture as wire.pcap\n"
			    "  --help\n"
			    "Exit codes: 0 done, 2 usage or environment.\n";

/* ---- reading ---- */

static bool add(struct merge *g, const struct vs_event *ev, unsigned source, unsigned domain)
{
	if (g->n == g->cap) {
		size_t cap = g->cap == 0 ? 1024 : 2 * g->cap;
		struct merge_event *grown = cap <= VT_EVENTS_MAX * 2u ? realloc(g->ev, cap * sizeof(*grown)) : NULL;

		if (grown == NULL)
			return false;
		g->ev = grown;
		g->cap = cap;
	}
	g->ev[g->n++] = (struct merge_event){.ev = *ev, .source = source, .domain = domain, .old_seq = ev->seq};
	g->devices = g->devices || (!ev->inferred && (ev->type == VS_EV_PKT_TX || ev->type == VS_EV_PKT_RX));
	return true;
}

/* Records of one vantage point have one clock. */
static unsigned domain_of(struct merge *g, const char *name, bool capture)
{
	for (unsigned i = 0; i < g->n_domains; i++)
		if (g->domain[i].capture == capture && strcmp(g->domain[i].name, name) == 0 && name[0] != '\0')
			return i;
	if (g->n_domains == MERGE_DOMAINS)
		return MERGE_DOMAINS - 1;
	snprintf(g->domain[g->n_domains].name, sizeof(g->domain[0].name), "%s", name);
	g->domain[g->n_domains].capture = capture;
	return g->n_domains++;
}

static int read_vst(struct merge *g, const char *cmd, unsigned s)
{
	struct vs_vst_error err = {0};
	const struct vs_vst_header *h;
	struct vs_event ev;
	unsigned domain;
	int rc;

	g->reader[s] = vs_vst_open(g->file[s], &err);
	if (g->reader[s] == NULL)
		return vt_fail(cmd, "%s: line %llu: %s", g->path[s], (unsigned long long)err.line, err.text);
	h = vs_vst_header(g->reader[s]);
	domain = domain_of(g, h->vantage_name[0] != '\0' ? h->vantage_name : g->path[s], false);
	while ((rc = vs_vst_next(g->reader[s], &ev, &err)) != 0) {
		if (rc == VS_ERR_INVAL)
			continue; /* a damaged line costs itself */
		if (rc < 0 || !add(g, &ev, s, domain))
			return vt_fail(cmd, "%s: %s", g->path[s], rc < 0 ? err.text : "no memory, or too many events");
	}
	return VT_OK;
}

static int read_capture(struct merge *g, const char *cmd, unsigned s)
{
	char err[512];
	unsigned domain = domain_of(g, g->path[s], true);

	if (g->model != NULL)
		return vt_fail(cmd, "%s: one capture is enough: join several with mergecap first", g->path[s]);
	g->model = vt_model_load(g->path[s], err, sizeof(err));
	if (g->model == NULL)
		return vt_fail(cmd, "%s", err);
	g->capture = g->path[s];
	for (size_t i = 0; i < g->model->n_events; i++)
		if (!add(g, &g->model->ev[i], s, domain))
			return vt_fail(cmd, "no memory, or too many events");
	return VT_OK;
}

static int read_source(struct merge *g, const char *cmd, const char *path)
{
	unsigned s = g->n_sources;
	int c;

	if (s == MERGE_SOURCES)
		return vt_fail(cmd, "more than %u files", MERGE_SOURCES);
	g->path[g->n_sources++] = path;
	g->file[s] = fopen(path, "rb");
	if (g->file[s] == NULL)
		return vt_fail(cmd, "%s: can't be opened (%s): check the path", path, strerror(errno));
	c = getc(g->file[s]);
	(void)ungetc(c, g->file[s]);
	if (c == '{')
		return read_vst(g, cmd, s);
	fclose(g->file[s]);
	g->file[s] = NULL;
	return read_capture(g, cmd, s);
}

static void close_all(struct merge *g)
{
	for (unsigned s = 0; s < g->n_sources; s++) {
		vs_vst_close(g->reader[s]);
		if (g->file[s] != NULL)
			fclose(g->file[s]);
	}
	vt_model_free(g->model);
	free(g->ev);
}

/* ---- order ---- */

/* A source keeps its order, even where its times step back. */
static void smooth(struct merge *g)
{
	uint64_t latest[MERGE_SOURCES] = {0};

	for (size_t i = 0; i < g->n; i++) {
		uint64_t *l = &latest[g->ev[i].source];

		if (g->ev[i].ev.t_ns < *l)
			g->ev[i].ev.t_ns = *l;
		*l = g->ev[i].ev.t_ns;
	}
}

static int by_time(const void *va, const void *vb)
{
	const struct merge_event *a = va, *b = vb;

	if (a->ev.t_ns != b->ev.t_ns)
		return a->ev.t_ns < b->ev.t_ns ? -1 : 1;
	if (a->source != b->source)
		return a->source < b->source ? -1 : 1;
	return a->old_seq < b->old_seq ? -1 : a->old_seq > b->old_seq;
}

/* Devices that tell of their packets tell more of them than a capture. */
static void choose(struct merge *g)
{
	size_t n = 0;

	for (size_t i = 0; i < g->n; i++)
		if (!g->devices || !g->domain[g->ev[i].domain].capture)
			g->ev[n++] = g->ev[i];
	g->n = n;
}

/* Who has an address, as a program asked for its own; NULL: nobody did. */
static const char *owner_of(const struct merge *g, const char *address)
{
	for (size_t i = 0; i < g->n; i++) {
		const struct vs_event *e = &g->ev[i].ev;
		const char *gid = e->type == VS_EV_VERB_QUERY_GID ? (const char *)(uintptr_t)e->a[1] : NULL;

		if (gid == NULL)
			continue;
		if (strncmp(gid, "::ffff:", 7) == 0)
			gid += 7;
		if (strcmp(gid, address) == 0)
			return e->node;
	}
	return NULL;
}

/* A capture knows addresses, records have names: one node has one. */
static void name_nodes(struct merge *g)
{
	char address[16] = "", name[16] = "";

	for (size_t i = 0; i < g->n; i++) {
		struct vs_event *e = &g->ev[i].ev;

		if (!g->domain[g->ev[i].domain].capture)
			continue;
		if (strcmp(e->node, address) != 0) {
			const char *owner = owner_of(g, e->node);

			memcpy(address, e->node, sizeof(address));
			memcpy(name, owner != NULL ? owner : e->node, sizeof(name));
		}
		memcpy(e->node, name, sizeof(name));
	}
}

/* ---- writing ---- */

static int write_trace(const struct merge *g, const char *cmd, const char *dir)
{
	struct vs_vst_header h = {.clock = "merged", .build = VS_VERSION};
	char path[4096 + 32];
	struct vs_cli_file f;
	bool ok;

	snprintf(path, sizeof(path), "%s/trace.vst", dir);
	if (!vt_file_open(&f, cmd, path))
		return VT_USAGE;
	ok = vs_vst_put_header(&h, f.f) == VS_OK;
	for (size_t i = 0; ok && i < g->n; i++)
		ok = vs_vst_put(&g->ev[i].ev, f.f) == VS_OK;
	if (ok)
		return vs_cli_file_close(&f);
	vs_cli_file_abort(&f);
	return vt_fail(cmd, "%s: can't be written (%s)", path, strerror(errno));
}

static int copy_capture(const struct merge *g, const char *cmd, const char *dir)
{
	char path[4096 + 32], buf[65536];
	struct stat a, b;
	struct vs_cli_file to;
	FILE *from;
	size_t n;

	if (g->capture == NULL)
		return VT_OK;
	snprintf(path, sizeof(path), "%s/wire.pcap", dir);
	if (stat(g->capture, &a) == 0 && stat(path, &b) == 0 && a.st_ino == b.st_ino && a.st_dev == b.st_dev)
		return VT_OK;
	from = fopen(g->capture, "rb");
	if (from == NULL)
		return vt_fail(cmd, "%s: can't be opened (%s)", g->capture, strerror(errno));
	if (!vt_file_open(&to, cmd, path)) {
		fclose(from);
		return VT_USAGE;
	}
	while ((n = fread(buf, 1, sizeof(buf), from)) > 0)
		(void)fwrite(buf, 1, n, to.f);
	fclose(from);
	return vs_cli_file_close(&to);
}

static void tell_clocks(const struct merge *g)
{
	char error[32], shift[32];

	for (unsigned i = 0; i < g->n_domains; i++) {
		const struct merge_domain *d = &g->domain[i];

		vs_cli_put_safe(stdout, d->name);
		if (i == 0)
			puts(": its clock is that of the trace");
		else if (!d->known)
			puts(": nothing ties its clock to another: its times are as they were");
		else if (d->error_ns == UINT64_MAX)
			puts(": by wall time; no packet is in both records, so the error is not known");
		else
			printf(": %s%s, at most %s wrong, from %llu packets\n", d->shift_ns < 0 ? "-" : "+",
			       vt_duration_text((uint64_t)llabs(d->shift_ns), shift),
			       vt_duration_text(d->error_ns, error), (unsigned long long)d->pairs);
	}
	printf("%zu events, %llu packets found at both ends\n", g->n, (unsigned long long)g->linked);
}

int merge_files(const char *cmd, char **path, int n, const char *dir, bool tell)
{
	struct merge *g = calloc(1, sizeof(*g));
	int rc = g != NULL ? VT_OK : vt_fail(cmd, "no memory");

	for (int i = 0; rc == VT_OK && i < n; i++)
		rc = read_source(g, cmd, path[i]);
	if (rc == VT_OK && !merge_clocks(g))
		rc = vt_fail(cmd, "no memory");
	if (rc == VT_OK) {
		smooth(g);
		choose(g);
		name_nodes(g);
		qsort(g->ev, g->n, sizeof(g->ev[0]), by_time);
		for (size_t i = 0; i < g->n; i++)
			g->ev[i].ev.seq = i + 1;
		rc = merge_link(g) ? write_trace(g, cmd, dir) : vt_fail(cmd, "no memory");
	}
	if (rc == VT_OK)
		rc = copy_capture(g, cmd, dir);
	if (rc == VT_OK && tell) {
		tell_clocks(g);
		rc = vt_flush(cmd);
	}
	if (g != NULL)
		close_all(g);
	free(g);
	return rc;
}

/* ---- the command ---- */

int vt_merge(int argc, char **argv)
{
	static const struct option options[] = {{"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
	const char *dir = NULL;
	int opt;

	optind = 1;
	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":ho:", options, NULL)) != -1) {
		switch (opt) {
		case 'h':
			fputs(usage, stdout);
			return vt_flush(CMD);
		case 'o':
			dir = optarg;
			break;
		default:
			return vt_bad_option(CMD, argv, opt);
		}
	}
	if (optind == argc || dir == NULL)
		return vt_fail(CMD, "say what and where to: vs-trace merge FILE... -o DIR");
	if (strlen(dir) > 4000 || (mkdir(dir, 0700) != 0 && errno != EEXIST))
		return vt_fail(CMD, "%s: can't be made (%s)", dir, strerror(errno));
	return merge_files(CMD, argv + optind, argc - optind, dir, true);
}
