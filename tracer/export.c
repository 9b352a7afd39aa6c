/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* export.c - vs-trace export: which form, and where to. */
#include "export.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "vs/ladder.h"

#define CMD "export"

enum form { NO_FORM, CHROME, HTML, SVG, MERMAID, CAPTURE };

static const struct {
	const char *name, *suffix;
	enum form form;
} forms[] = {
	{"chrome", ".json", CHROME}, {"perfetto", ".json", CHROME}, {"html", ".html", HTML},
	{"svg", ".svg", SVG},        {"mermaid", ".mmd", MERMAID},  {"capture", ".pcap", CAPTURE},
};
#define FORMS (sizeof(forms) / sizeof(forms[0]))

static int help(void)
{
	fputs("usage: vs-trace export [--format FORM] [options] TRACE\n\n"
	      "Writes a trace for other programs. Without --format the name of the file decides.\n\n"
	      "  chrome   .json  trace events for Perfetto (ui.perfetto.dev) and chrome://tracing\n"
	      "  html     .html  one page to look at in a browser, offline: hover, click, search\n"
	      "  svg      .svg   the ladder as a picture\n"
	      "  mermaid  .mmd   the ladder as a sequence diagram for documents\n"
	      "  capture  .pcap  the packets of the capture, for Wireshark\n\n" VT_OPTIONS_HELP,
	      stdout);
	return vt_flush(CMD);
}

static enum form form_of(const char *name, const char *file)
{
	size_t n = file != NULL ? strlen(file) : 0;

	for (size_t i = 0; i < FORMS; i++) {
		size_t k = strlen(forms[i].suffix);

		if (name != NULL ? strcmp(name, forms[i].name) == 0
				 : n > k && strcmp(file + n - k, forms[i].suffix) == 0)
			return forms[i].form;
	}
	return NO_FORM;
}

static bool ladder(struct vt_model *m, const struct vt_options *o, enum form form, FILE *f)
{
	struct vs_ladder_options opt = {0};
	size_t n;
	struct vs_event *ev = vt_selected_events(m, o, &n);

	if (ev == NULL)
		return false;
	vt_ladder_titles(m, &opt);
	(form == SVG ? vs_ladder_svg : vs_ladder_mermaid)(ev, n, &opt, f);
	free(ev);
	return true;
}

static bool nothing(const struct vt_model *m, const struct vt_options *o)
{
	for (size_t i = 0; i < m->n_events; i++)
		if (vt_selected(m, o, i))
			return false;
	vt_complain(CMD, "%s: nothing in that span or of that queue pair", m->path);
	return true;
}

static int write_form(struct vt_model *m, const struct vt_options *o, enum form form)
{
	struct vs_cli_file out;
	bool ok = true;

	if (nothing(m, o))
		return VT_NOTHING;
	if (form == CAPTURE)
		return vt_export_capture(m, o);
	if (!vt_file_open(&out, CMD, o->out))
		return VT_USAGE;
	if (form == CHROME)
		vt_export_chrome(m, o, out.f);
	else if (form == HTML)
		ok = vt_export_html(m, o, out.f);
	else
		ok = ladder(m, o, form, out.f);
	if (ok)
		return vs_cli_file_close(&out);
	vs_cli_file_abort(&out);
	return vt_fail(CMD, "no memory");
}

/* What is exported may hold payload and keys. */
int vt_export(int argc, char **argv)
{
	static const struct option options[] = {
		VT_OPTIONS_LONG, {"format", required_argument, NULL, 'f'}, {"help", no_argument, NULL, 'h'}, {0}};
	struct vt_options o = {0};
	const char *name = NULL;
	struct vt_model *m;
	int opt, taken, rc;
	enum form form;

	(void)umask(077);
	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":ho:f:", options, NULL)) != -1) {
		if (opt == 'h')
			return help();
		if (opt == 'f')
			name = optarg;
		taken = opt == 'f' ? 1 : vt_option(CMD, opt, optarg, &o);
		if (taken <= 0)
			return taken < 0 ? VT_USAGE : vt_bad_option(CMD, argv, opt);
	}
	form = form_of(name, o.out);
	if (form == NO_FORM && name != NULL)
		return vt_fail(CMD, "--format %s: chrome, html, svg, mermaid or capture", name);
	if (form == NO_FORM)
		return vt_fail(
			CMD, "which form? --format chrome, html, svg, mermaid or capture, or a file with such a name");
	m = vt_open(CMD, argc, argv, optind, &o);
	if (m == NULL)
		return vt_not_open();
	rc = write_form(m, &o, form);
	vt_model_free(m);
	return rc;
}
