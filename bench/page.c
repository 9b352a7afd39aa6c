/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * page.c - the page: on what machine, what came out, and for each benchmark a table and a plot. One file, that asks for
 * nothing else. What failed or was left out says so where others have figures.
 */
#include <string.h>

#include "cli/cli.h"
#include "report.h"

static const char head[] =
	"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width\">\n<title>Verbscope: benchmarks</title>\n<style>\n"
	"body{font:16px/1.45 sans-serif;color:#111;background:#fff;max-width:960px;margin:2em auto;padding:0 1em}\n"
	"h1{margin-bottom:.2em}h2{margin:2.2em 0 .3em;border-top:1px solid #bbb;padding-top:1em}p{margin:.4em 0}\n"
	"table{border-collapse:collapse;margin:.8em 0;font-size:15px}th,td{padding:.25em .8em .25em 0;text-align:left;"
	"vertical-align:top}\nthead th{border-bottom:1px solid #111}tbody tr+tr td{border-top:1px solid #ddd}\n"
	".n{text-align:right;white-space:nowrap}code{font:14px monospace;background:#f2f2f2;padding:.1em .3em}\n"
	".note{border-left:4px solid #111;padding:.4em .8em;background:#f2f2f2}svg{width:100%;height:auto}\n"
	"b.failed,b.missed{background:#111;color:#fff;padding:0 .4em}b.skipped{border:1px dashed #111;padding:0 .4em}\n"
	"@media print{h2{break-after:avoid}svg,tr{break-inside:avoid}}\n</style>\n</head>\n<body>\n";

void report_put_text(FILE *f, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	while (*s != '\0') {
		size_t len = vs_cli_char_len(s);

		if (len == 0)
			(void)fputc('?', f);
		else if (*s == '&')
			(void)fputs("&amp;", f);
		else if (*s == '<')
			(void)fputs("&lt;", f);
		else if (*s == '>')
			(void)fputs("&gt;", f);
		else if (*s == '"')
			(void)fputs("&quot;", f);
		else
			(void)fwrite(s, 1, len, f);
		s += len > 0 ? len : 1;
	}
}

static void put(FILE *f, const char *before, const char *text, const char *after)
{
	(void)fputs(before, f);
	report_put_text(f, text);
	(void)fputs(after, f);
}

static void put_number(FILE *f, double value)
{
	char text[64];

	(void)fputs(report_format(value, text, sizeof(text)), f);
}

/* "ok", or a word that is seen. */
static void put_verdict(FILE *f, const json_t *b)
{
	const char *verdict = report_text(b, "verdict");

	if (strcmp(verdict, "ok") == 0) {
		(void)fputs("ok", f);
		return;
	}
	(void)fprintf(f, "<b class=\"%s\">%s</b> ", verdict,
		      strcmp(verdict, "missed") == 0    ? "MISSED"
		      : strcmp(verdict, "skipped") == 0 ? "LEFT OUT"
							: "FAILED");
	report_put_text(f, report_text(b, "reason"));
}

/* ---- machine, overview ---- */

static void put_machine(FILE *f, const json_t *doc)
{
	const json_t *m = json_object_get(doc, "machine");
	double load = report_number(m, "load", 0), cores = report_number(m, "cores", 1);
	char text[64];

	put(f, "<h1>Verbscope: benchmarks</h1>\n<p>Version ", report_text(doc, "version"), ", commit ");
	put(f, "", report_text(doc, "commit"), ", ");
	put(f, "", report_text(doc, "date"), ": ");
	put(f, "<code>", report_text(doc, "command"), "</code></p>\n<table>\n");
	put(f, "<tr><th>Processor</th><td>", report_text(m, "cpu"), "</td></tr>\n");
	(void)fprintf(f, "<tr><th>Cores, memory</th><td>%.0f, %.1f GiB</td></tr>\n", cores,
		      report_number(m, "memory_mb", 0) / 1024);
	put(f, "<tr><th>System</th><td>", report_text(m, "system"), ", ");
	put(f, "kernel ", report_text(m, "kernel"), "</td></tr>\n");
	put(f, "<tr><th>Compiler</th><td>", report_text(m, "compiler"), "</td></tr>\n");
	(void)fprintf(f, "<tr><th>Load at the start</th><td>%s</td></tr>\n</table>\n",
		      report_format(load, text, sizeof(text)));
	if (load > cores / 2)
		(void)fputs("<p class=\"note\">Other programs were running. Rates and delays of wall time are worse "
			    "than this "
			    "machine's when it is idle; ratios of one run suffer less, processor times least.</p>\n",
			    f);
}

static void put_overview(FILE *f, const json_t *benchmarks)
{
	const json_t *b;
	size_t i;

	(void)fputs("<table>\n<thead><tr><th>Benchmark</th><th>What</th><th>Verdict</th><th class=\"n\">Time</th>"
		    "<th class=\"n\">Load</th></tr></thead>\n<tbody>\n",
		    f);
	json_array_foreach (benchmarks, i, b) {
		put(f, "<tr><td><a href=\"#", report_text(b, "name"), "\">");
		put(f, "", report_text(b, "name"), "</a></td><td>");
		put(f, "", report_text(b, "about"), "</td><td>");
		put_verdict(f, b);
		(void)fputs("</td><td class=\"n\">", f);
		if (report_has(b, "seconds"))
			(void)fprintf(f, "%.0f s", report_number(b, "seconds", 0));
		(void)fputs("</td><td class=\"n\">", f);
		if (report_has(b, "load"))
			put_number(f, report_number(b, "load", 0));
		(void)fputs("</td></tr>\n", f);
	}
	(void)fputs("</tbody>\n</table>\n", f);
}

/* ---- a benchmark ---- */

static const char *of_rounds(const json_t *g)
{
	const char *how = report_text(g, "how");

	return strcmp(how, "most") == 0 ? "most of" : strcmp(how, "least") == 0 ? "least of" : "median of";
}

static void put_rounds(FILE *f, const json_t *g)
{
	double all = report_number(g, "rounds", 0), bad = report_number(g, "failed_rounds", 0);

	if (all <= 1)
		(void)fputs(bad > 0 ? "failed" : "once", f);
	else
		(void)fprintf(f, "%s %.0f", of_rounds(g), all - bad);
	if (all > 1 && bad > 0)
		(void)fprintf(f, " (%.0f failed)", bad);
}

static void put_aim(FILE *f, const json_t *g)
{
	bool of_ratio = report_has(g, "aim_ratio"), less = strcmp(report_text(g, "better"), "less") == 0;
	double aim = report_number(g, of_ratio ? "aim_ratio" : "aim", 0);
	const char *key = of_ratio ? "ratio" : "value";

	if (!of_ratio && !report_has(g, "aim"))
		return;
	(void)fprintf(f, "%s ", less ? "≤" : "≥");
	put_number(f, aim);
	(void)fputs(of_ratio ? " ×" : "", f);
	if (report_has(g, key)) {
		double is = report_number(g, key, 0);

		(void)fputs((less ? is <= aim : is >= aim) ? ", reached" : ", <b class=\"missed\">missed</b>", f);
	}
}

static void put_figure(FILE *f, const json_t *g)
{
	const json_t *spread = json_object_get(g, "spread");

	put(f, "<tr><td>", report_text(g, "name"), "</td><td class=\"n\">");
	if (report_has(g, "value")) {
		put_number(f, report_number(g, "value", 0));
		put(f, " ", report_text(g, "unit"), "</td><td class=\"n\">");
		if (report_number(g, "rounds", 0) > 1) {
			put_number(f, json_number_value(json_array_get(spread, 0)));
			(void)fputs(" to ", f);
			put_number(f, json_number_value(json_array_get(spread, 1)));
		}
	} else {
		(void)fputs("<b class=\"failed\">no result</b></td><td>", f);
	}
	(void)fputs("</td><td>", f);
	put_rounds(f, g);
	(void)fputs("</td><td>", f);
	if (report_has(g, "peer_value")) {
		put(f, "", report_text(g, "peer"), ": ");
		put_number(f, report_number(g, "peer_value", 0));
	} else if (*report_text(g, "peer") != '\0') {
		put(f, "", report_text(g, "peer"), ": <b class=\"failed\">no result</b>");
	}
	(void)fputs("</td><td class=\"n\">", f);
	if (report_has(g, "ratio")) {
		put_number(f, report_number(g, "ratio", 0));
		(void)fputs(" ×", f);
	}
	(void)fputs("</td><td>", f);
	put_aim(f, g);
	(void)fputs("</td></tr>\n", f);
}

static void put_benchmark(FILE *f, const json_t *b)
{
	const json_t *figures = json_object_get(b, "figures"), *g;
	bool any = false;
	size_t i;

	put(f, "<h2 id=\"", report_text(b, "name"), "\">");
	put(f, "", report_text(b, "name"), "</h2>\n<p>");
	put(f, "", report_text(b, "about"), ": ");
	put(f, "<code>", report_text(b, "command"), "</code></p>\n");
	if (strcmp(report_text(b, "verdict"), "ok") != 0) {
		(void)fputs("<p class=\"note\">", f);
		put_verdict(f, b);
		(void)fputs("</p>\n", f);
	}
	if (json_array_size(figures) == 0)
		return;
	(void)fputs("<table>\n<thead><tr><th>Figure</th><th class=\"n\">Value</th><th class=\"n\">Rounds from, "
		    "to</th><th>Of</th>"
		    "<th>Beside</th><th class=\"n\">Ratio</th><th>Aim</th></tr></thead>\n<tbody>\n",
		    f);
	json_array_foreach (figures, i, g) {
		put_figure(f, g);
		any |= report_has(g, "value");
	}
	(void)fputs("</tbody>\n</table>\n", f);
	if (any)
		report_put_plot(b, f);
}

void report_put_page(const json_t *doc, FILE *f)
{
	const json_t *benchmarks = json_object_get(doc, "benchmarks"), *b;
	size_t i;

	(void)fputs(head, f);
	put_machine(f, doc);
	put_overview(f, benchmarks);
	json_array_foreach (benchmarks, i, b)
		put_benchmark(f, b);
	(void)fputs("</body>\n</html>\n", f);
}
