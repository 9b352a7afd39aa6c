/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* ladder.c - vs-trace ladder: the exchange as a diagram of lines of text. */
#include <getopt.h>
#include <stdlib.h>

#include "trace.h"
#include "vs/ladder.h"

#define CMD "ladder"

static int help(void)
{
	fputs("usage: vs-trace ladder [options] TRACE\n\n"
	      "Draws what happened: verbs beside the node that called them, packets as arrows between the "
	      "nodes.\n\n" VT_OPTIONS_HELP,
	      stdout);
	return vt_flush(CMD);
}

/* The events that were asked for. NULL: no memory. */
static struct vs_event *selected(const struct vt_model *m, const struct vt_options *o, size_t *n)
{
	struct vs_event *ev = malloc((m->n_events + 1) * sizeof(*ev));

	*n = 0;
	for (size_t i = 0; ev != NULL && i < m->n_events; i++)
		if (vt_selected(m, o, i))
			ev[(*n)++] = m->ev[i];
	return ev;
}

static int draw(const struct vt_model *m, const struct vt_options *o)
{
	struct vs_ladder_options opt = {0};
	struct vt_file out;
	struct vs_event *ev;
	size_t n;

	ev = selected(m, o, &n);
	if (ev == NULL)
		return vt_fail(CMD, "no memory");
	if (n == 0) {
		free(ev);
		vt_complain(CMD, "%s: nothing in that span or of that queue pair", m->path);
		return VT_NOTHING;
	}
	if (!vt_file_open(&out, CMD, o->out)) {
		free(ev);
		return VT_USAGE;
	}
	vs_ladder_text(ev, n, &opt, out.f);
	free(ev);
	return vt_file_close(&out);
}

int vt_ladder(int argc, char **argv)
{
	static const struct option options[] = {VT_OPTIONS_LONG, {"help", no_argument, NULL, 'h'}, {0}};
	struct vt_options o = {0};
	struct vt_model *m;
	int opt, taken, rc;

	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":ho:", options, NULL)) != -1) {
		if (opt == 'h')
			return help();
		taken = vt_option(CMD, opt, optarg, &o);
		if (taken < 0)
			return VT_USAGE;
		if (taken == 0)
			return vt_bad_option(CMD, argv, opt);
	}
	m = vt_open(CMD, argc, argv, optind, &o);
	if (m == NULL)
		return VT_USAGE;
	rc = draw(m, &o);
	vt_model_free(m);
	return rc;
}
