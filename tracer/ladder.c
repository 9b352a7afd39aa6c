/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* ladder.c - vs-trace ladder: the exchange as a diagram of lines of text. */
#include <getopt.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "trace.h"
#include "vs/ladder.h"

#define CMD "ladder"

static int help(void)
{
	fputs("usage: vs-trace ladder [options] TRACE\n\n"
	      "Draws what happened: verbs beside the node that called them, packets as arrows between the nodes.\n"
	      "What was lost ends in x, what may have been in ?; what was concluded from a capture is dashed.\n\n"
	      "  --columns N       width: 60 to 400; default: that of the terminal, else 120; from 110 on there is\n"
	      "                    room beside the right line\n"
	      "  --ascii, --utf8   characters; default: by the locale, ASCII where it goes to no terminal\n"
	      "  --whole           long runs of packets of one kind are not folded\n"
	      "  --svg             a picture (SVG) instead\n" VT_OPTIONS_HELP
	      "Colour on terminals alone, and not with NO_COLOR.\n",
	      stdout);
	return vt_flush(CMD);
}

struct vs_event *vt_selected_events(const struct vt_model *m, const struct vt_options *o, size_t *n)
{
	struct vs_event *ev = malloc((m->n_events + 1) * sizeof(*ev));

	*n = 0;
	for (size_t i = 0; ev != NULL && i < m->n_events; i++)
		if (vt_selected(m, o, i))
			ev[(*n)++] = m->ev[i];
	return ev;
}

static const char *title_of(void *ctx, const char *name)
{
	const struct vt_model *m = ctx;
	size_t node = vt_find_node(m, name);

	return node != VT_NONE ? m->node[node].title : NULL;
}

void vt_ladder_titles(struct vt_model *m, struct vs_ladder_options *opt)
{
	opt->start_ns = m->start_ns;
	opt->title = title_of;
	opt->title_ctx = m;
}

struct choice {
	struct vt_options o;
	unsigned columns;
	bool ascii, utf8, whole, svg;
};

static unsigned terminal_columns(void)
{
	struct winsize w;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) != 0 || w.ws_col < 60)
		return 0;
	return w.ws_col;
}

static void choose(const struct choice *c, struct vs_ladder_options *opt)
{
	const char *no_colour = getenv("NO_COLOR");
	bool tty = c->o.out == NULL && isatty(STDOUT_FILENO) == 1;

	opt->columns = c->columns != 0 ? c->columns : tty ? terminal_columns() : 0;
	if (opt->columns == 0)
		opt->columns = 120;
	opt->colour = tty && (no_colour == NULL || no_colour[0] == '\0');
	opt->utf8 = c->utf8 ||
		    (tty && !c->ascii && setlocale(LC_CTYPE, "") != NULL && strcmp(nl_langinfo(CODESET), "UTF-8") == 0);
	opt->whole = c->whole;
}

static int draw(struct vt_model *m, const struct choice *c)
{
	struct vs_ladder_options opt = {0};
	const char *missing[8];
	size_t n, n_missing = vt_missing(m, missing, 8);
	struct vs_event *ev = vt_selected_events(m, &c->o, &n);
	struct vs_cli_file out;

	if (ev == NULL)
		return vt_fail(CMD, "no memory");
	if (n == 0) {
		free(ev);
		vt_complain(CMD, "%s: nothing in that span or of that queue pair", m->path);
		return VT_NOTHING;
	}
	if (!vt_file_open(&out, CMD, c->o.out)) {
		free(ev);
		return VT_USAGE;
	}
	choose(c, &opt);
	vt_ladder_titles(m, &opt);
	for (size_t i = 0; !c->svg && i < n_missing; i++)
		fprintf(out.f, "(%s)\n", missing[i]);
	(c->svg ? vs_ladder_svg : vs_ladder_text)(ev, n, &opt, out.f);
	free(ev);
	return vs_cli_file_close(&out);
}

static int take(struct choice *c, int opt, const char *value)
{
	uint64_t n;

	switch (opt) {
	case 'c':
		if (!vs_cli_number(value, 0, 400, &n) || n < 60) {
			vt_complain(CMD, "--columns %s: from 60 to 400", value);
			return -1;
		}
		c->columns = (unsigned)n;
		return 1;
	case 'a':
		return c->ascii = true;
	case 'u':
		return c->utf8 = true;
	case 'w':
		return c->whole = true;
	case 's':
		return c->svg = true;
	default:
		return vt_option(CMD, opt, value, &c->o);
	}
}

int vt_ladder(int argc, char **argv)
{
	static const struct option options[] = {VT_OPTIONS_LONG,
						{"columns", required_argument, NULL, 'c'},
						{"ascii", no_argument, NULL, 'a'},
						{"utf8", no_argument, NULL, 'u'},
						{"whole", no_argument, NULL, 'w'},
						{"svg", no_argument, NULL, 's'},
						{"help", no_argument, NULL, 'h'},
						{0}};
	struct choice c = {0};
	struct vt_model *m;
	int opt, taken, rc;

	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":ho:", options, NULL)) != -1) {
		if (opt == 'h')
			return help();
		taken = take(&c, opt, optarg);
		if (taken < 0)
			return VT_USAGE;
		if (taken == 0)
			return vt_bad_option(CMD, argv, opt);
	}
	m = vt_open(CMD, argc, argv, optind, &c.o);
	if (m == NULL)
		return vt_not_open();
	rc = draw(m, &c);
	vt_model_free(m);
	return rc;
}
