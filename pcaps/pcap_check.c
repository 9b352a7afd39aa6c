/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * pcap_check.c - vs-pcap check: every packet of a capture through the monitor (transport/monitor), and what it found.
 */
#include "pcap_two.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "vs/vst.h"

#define CMD "check"
#define PROGRESS_EVERY 65536u /* frames between looks at the clock */

static void on_finding(void *ctx, const struct vs_mon_finding *f)
{
	struct vp_check *c = ctx;
	const size_t len = strlen(f->text) + 1;
	struct vp_finding *kept;

	if (c->kept[f->rule] == VP_KEPT_PER_RULE)
		return;
	kept = malloc(sizeof(*kept) + len);
	if (kept == NULL) {
		c->no_memory = true;
		return;
	}
	kept->next = NULL;
	kept->frame = f->frame;
	memcpy(kept->text, f->text, len);
	*c->tail[f->rule] = kept;
	c->tail[f->rule] = &kept->next;
	c->kept[f->rule]++;
}

static void on_packet(void *ctx, const struct vs_mon_packet *in, const struct vs_mon_result *out)
{
	const struct vp_check *c = ctx;

	if (c->packets)
		vp_check_packet(in, out);
}

bool vp_check_begin(struct vp_check *c, const char *path)
{
	struct vs_monitor_attr attr = {.ctx = c, .finding = on_finding};

	memset(c, 0, sizeof(*c));
	c->path = path;
	for (unsigned r = 0; r < VS_RULE_COUNT; r++)
		c->tail[r] = &c->first[r];
	c->judge = (struct vp_judge){.mon = vs_monitor_new(&attr), .ctx = c, .packet = on_packet};
	return c->judge.mon != NULL;
}

void vp_check_end(struct vp_check *c)
{
	vs_monitor_free(c->judge.mon);
	for (unsigned r = 0; r < VS_RULE_COUNT; r++) {
		while (c->first[r] != NULL) {
			struct vp_finding *gone = c->first[r];

			c->first[r] = gone->next;
			free(gone);
		}
	}
}

/* ---- frames ---- */

static bool a_second_passed(struct timespec *last)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (now.tv_sec == last->tv_sec)
		return false;
	*last = now;
	return true;
}

int vp_check_read(struct vp_check *c, const char *path, bool live)
{
	struct vs_io_error err;
	struct vs_capture *file = vs_capture_open(path, &err);
	const bool progress = isatty(STDERR_FILENO);
	struct timespec last = {0};
	struct vs_frame f;
	int ret;

	if (file == NULL)
		return vp_fail(CMD, "%s", err.text);
	while ((ret = vs_capture_next(file, &f, &err)) == 1) {
		vp_judge_frame(&c->judge, &f);
		if (progress && (live || c->judge.frames % PROGRESS_EVERY == 0) && a_second_passed(&last))
			vp_check_progress(c, false);
	}
	if (last.tv_sec != 0)
		vp_check_progress(c, true);
	vs_capture_close(file);
	vs_monitor_end(c->judge.mon);
	if (ret == 0)
		return VP_OK;
	vp_fail(CMD, "%s", err.text);
	return VP_FAILED;
}

/* ---- the command ---- */

static int help(void)
{
	fputs("usage: vs-pcap check [--json | --summary | --packets] FILE\n"
	      "       vs-pcap check [--json | --summary | --packets] -i IFACE\n"
	      "       vs-pcap check [--json | --summary] A B\n\n"
	      "Follows the PSNs of every connection in a capture (- is standard input) and judges it by the rules of\n"
	      "'vs-pcap check --list': what was lost, repeated and refused, and which rules were broken, worst "
	      "first.\n"
	      "Of two captures of the same traffic, taken at two places, it says besides what was lost between them, "
	      "which\n"
	      "way, and how far their clocks are apart.\n\n"
	      "  --json      one JSON object; its keys are a contract, see 'man vs-pcap'\n"
	      "  --summary   how many findings there are of each rule, and the flows, but no single finding\n"
	      "  --packets   before that, one line for each packet: what it is to those before it\n"
	      "  --events F  a .vst file with what programs posted and completed (may be repeated): held against the "
	      "packets\n"
	      "  --list      the rules: id, level, clause, sentence\n"
	      "  -i IFACE    capture from an interface until interrupted (needs CAP_NET_RAW)\n\n"
	      "Exit code: 0 no must-rule is broken, 1 one is, or the file is damaged, 2 it can't be opened,\n"
	      "127 there is no RDMA in it.\n",
	      stdout);
	return vp_flush(CMD);
}

static int list_rules(void)
{
	for (unsigned r = 1; r < VS_RULE_COUNT; r++) {
		const struct vs_rule_info *i = vs_rule_info((enum vs_rule)r);

		printf("%-22s  %-6s  %-8s  %s\n", i->id, vs_rule_level_name(i->level), *i->clause ? i->clause : "-",
		       i->sentence);
	}
	return vp_flush(CMD);
}

#define EVENTS_MAX 16u

struct options {
	bool json, summary, packets;
	const char *iface, *file;
	const char *events[EVENTS_MAX]; /* .vst files */
	unsigned n_events;
};

static int print(const struct vp_check *c, const struct options *o, int read)
{
	const struct vs_mon_totals *t = vs_monitor_totals(c->judge.mon);
	int flushed;

	if (c->no_memory)
		return vp_fail(CMD, "%s: no memory for what was found", c->path);
	if (o->json)
		vp_check_json_print(vp_check_json(c));
	else
		vp_check_text(c, o->summary);
	flushed = vp_flush(CMD);
	if (flushed != VP_OK || read != VP_OK)
		return flushed > read ? flushed : read;
	if (t->broken[VS_RULE_MUST] > 0)
		return VP_FAILED;
	return c->judge.rdma > 0 || c->judge.broken > 0 ? VP_OK : VP_NOTHING;
}

static int feed_events(struct vp_check *c, const char *path)
{
	FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
	struct vs_vst_error err = {0};
	struct vs_vst_reader *r;
	struct vs_event ev;
	int ret;

	if (f == NULL)
		return vp_fail(CMD, "%s: can't be opened (%s): check the path", path, strerror(errno));
	r = vs_vst_open(f, &err);
	ret = r != NULL ? 1 : VS_ERR_INVAL;
	while (ret == 1 && (ret = vs_vst_next(r, &ev, &err)) == 1)
		vs_monitor_event(c->judge.mon, &ev);
	vs_vst_close(r);
	if (f != stdin)
		fclose(f);
	if (ret == 0)
		return VP_OK;
	return vp_fail(CMD, "%s: line %llu: %s", path, (unsigned long long)err.line, err.text);
}

static int feed_all_events(struct vp_check *c, const struct options *o)
{
	for (unsigned i = 0; i < o->n_events; i++)
		if (feed_events(c, o->events[i]) != VP_OK)
			return VP_USAGE;
	return VP_OK;
}

static int check(const struct options *o)
{
	struct vp_live *live = NULL;
	struct vp_check c;
	int ret;

	if (!vp_check_begin(&c, o->iface != NULL ? o->iface : o->file))
		return vp_fail(CMD, "no memory");
	c.packets = o->packets;
	if (feed_all_events(&c, o) != VP_OK) {
		vp_check_end(&c);
		return VP_USAGE;
	}
	if (o->iface != NULL) {
		live = vp_live_begin(CMD, o->iface);
		if (live == NULL) {
			vp_check_end(&c);
			return VP_USAGE;
		}
	}
	ret = vp_check_read(&c, live != NULL ? vp_live_path(live) : o->file, live != NULL);
	if (live != NULL && vp_live_end(live) != VP_OK && ret == VP_OK)
		ret = vp_fail(CMD, "%s: the capture ended with an error", o->iface);
	if (ret != VP_USAGE)
		ret = print(&c, o, ret);
	vp_check_end(&c);
	return ret;
}

int vp_check(int argc, char **argv)
{
	static const struct option options[] = {{"json", no_argument, NULL, 'j'},
						{"summary", no_argument, NULL, 's'},
						{"packets", no_argument, NULL, 'p'},
						{"list", no_argument, NULL, 'l'},
						{"events", required_argument, NULL, 'e'},
						{"help", no_argument, NULL, 'h'},
						{0}};
	struct options o = {0};
	int opt;

	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":hi:", options, NULL)) != -1) {
		if (opt == 'j')
			o.json = true;
		else if (opt == 's')
			o.summary = true;
		else if (opt == 'p')
			o.packets = true;
		else if (opt == 'i')
			o.iface = optarg;
		else if (opt == 'e' && o.n_events < EVENTS_MAX)
			o.events[o.n_events++] = optarg;
		else if (opt == 'e')
			return vp_fail(CMD, "more than %u files of events", EVENTS_MAX);
		else if (opt == 'l')
			return list_rules();
		else
			return opt == 'h' ? help() : vp_bad_option(CMD, argv, opt);
	}
	if (o.json + o.summary + o.packets > 1)
		return vp_fail(CMD, "one of --json, --summary and --packets, not more");
	if (argc - optind == 2 && o.iface == NULL && !o.packets && o.n_events == 0)
		return vp_two_run(argv[optind], argv[optind + 1], o.json, o.summary);
	if (argc - optind != (o.iface == NULL))
		return vp_fail(
			CMD,
			"needs one FILE, two without --packets and --events, or -i IFACE: see 'vs-pcap check --help'");
	o.file = argv[optind];
	return check(&o);
}
