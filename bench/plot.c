/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * plot.c - the figures of a benchmark as SVG: a row for each, in a panel for each unit with an axis of its own. A disc
 * is the figure, a line through it goes from the lowest to the highest round; an open square is what it is compared
 * with, a triangle the aim. Shapes, not colours, tell them apart.
 */
#include <math.h>
#include <string.h>

#include "cli/cli.h"
#include "report.h"

#define WIDTH 880.0
#define LEFT 300.0  /* names */
#define RIGHT 165.0 /* values */
#define ROW 32.0
#define AXIS 58.0 /* below a panel: ticks, unit */
#define TOP 14.0
#define LEGEND 34.0
#define MAX_LABEL 42u
#define LOG_FROM 50.0 /* so far apart, figures are on a scale of powers of ten */

/* The figures of one unit and direction. */
struct panel {
	const char *unit, *better;
	double low, high; /* ends of the axis */
	bool log;
	double top, bottom;
};

struct plot {
	const json_t *figures;
	const char *peer; /* the first one's, for the legend */
	bool aims, peers;
	FILE *f;
};

static bool shown(const json_t *figure)
{
	return report_has(figure, "value");
}

static bool in_panel(const struct panel *p, const json_t *figure)
{
	return shown(figure) && strcmp(report_text(figure, "unit"), p->unit) == 0 &&
	       strcmp(report_text(figure, "better"), p->better) == 0;
}

/* The value that an aim asks for. */
static bool aim_of(const json_t *figure, double *aim)
{
	if (report_has(figure, "aim"))
		*aim = report_number(figure, "aim", 0);
	else if (report_has(figure, "aim_ratio") && report_has(figure, "peer_value"))
		*aim = report_number(figure, "aim_ratio", 0) * report_number(figure, "peer_value", 0);
	else
		return false;
	return true;
}

static double spread_end(const json_t *figure, const char *key, size_t which, double otherwise)
{
	const json_t *end = json_array_get(json_object_get(figure, key), which);

	return json_is_number(end) ? json_number_value(end) : otherwise;
}

/* ---- the axis ---- */

static void widen(struct panel *p, double value)
{
	p->low = fmin(p->low, value);
	p->high = fmax(p->high, value);
}

static void range_of(const struct plot *plot, struct panel *p)
{
	const json_t *g;
	size_t i;

	p->low = HUGE_VAL;
	p->high = -HUGE_VAL;
	json_array_foreach (plot->figures, i, g) {
		double v = report_number(g, "value", 0), peer = report_number(g, "peer_value", v), aim;

		if (!in_panel(p, g))
			continue;
		widen(p, spread_end(g, "spread", 0, v));
		widen(p, spread_end(g, "spread", 1, v));
		widen(p, spread_end(g, "peer_spread", 0, peer));
		widen(p, spread_end(g, "peer_spread", 1, peer));
		if (aim_of(g, &aim))
			widen(p, aim);
	}
	p->log = p->low > 0 && p->high / p->low >= LOG_FROM;
	if (p->log) {
		p->low = pow(10, floor(log10(p->low) + 1e-9));
		p->high = pow(10, ceil(log10(p->high) - 1e-9));
		return;
	}
	p->low = fmin(0, p->low);
	if (p->high <= p->low)
		p->high = p->low + 1;
	p->high += (p->high - p->low) * 0.04;
}

static double place(const struct panel *p, double value)
{
	double part = p->log ? (log10(value) - log10(p->low)) / (log10(p->high) - log10(p->low))
			     : (value - p->low) / (p->high - p->low);

	return LEFT + fmin(1, fmax(0, part)) * (WIDTH - LEFT - RIGHT);
}

static void put_tick(const struct plot *plot, const struct panel *p, double value)
{
	double x = place(p, value);
	char text[64];

	(void)fprintf(plot->f, "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>", x, p->top, p->bottom + 5);
	(void)fprintf(plot->f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n", x, p->bottom + 20,
		      report_format(value, text, sizeof(text)));
}

static void put_axis(const struct plot *plot, const struct panel *p)
{
	double step = report_step((p->high - p->low) / (p->high >= 1e6 ? 4 : 6)); /* long numbers need room */

	if (p->log) {
		int first = (int)lround(log10(p->low)), last = (int)lround(log10(p->high));

		for (int e = first; e <= last; e += (last - first) / 7 + 1)
			put_tick(plot, p, pow(10, e));
	} else {
		long first = lround(ceil(p->low / step)), last = lround(floor(p->high / step));

		for (long i = first; i <= last; i++)
			put_tick(plot, p, (double)i * step);
	}
	(void)fprintf(plot->f, "<path class=\"axis\" d=\"M%.1f %.1fV%.1fH%.1f\"/>\n", LEFT, p->top, p->bottom,
		      WIDTH - RIGHT);
	(void)fprintf(plot->f, "<text class=\"unit\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">",
		      (LEFT + WIDTH - RIGHT) / 2, p->bottom + 40);
	report_put_text(plot->f, p->unit);
	if (*p->better != '\0')
		(void)fputs(strcmp(p->better, "more") == 0 ? " (more is better →)" : " (← less is better)", plot->f);
	(void)fprintf(plot->f, "%s</text>\n", p->log ? ", powers of ten" : "");
}

/* ---- a row ---- */

/* As much as fits in front of the axis; the table has all of it. */
static void put_label(const struct plot *plot, double y, const char *name)
{
	char text[4 * MAX_LABEL + 8];
	size_t at = 0, chars = 0;

	while (name[at] != '\0' && chars < MAX_LABEL && at + 4 < sizeof(text)) {
		size_t len = vs_cli_char_len((const unsigned char *)name + at);

		memcpy(text + at, name + at, len > 0 ? len : 1);
		at += len > 0 ? len : 1;
		chars++;
	}
	text[at] = '\0';
	(void)fprintf(plot->f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">", LEFT - 10, y + 4);
	report_put_text(plot->f, text);
	(void)fprintf(plot->f, "%s</text>\n", name[at] != '\0' ? "…" : "");
}

static void put_whisker(const struct plot *plot, const struct panel *p, double y, double low, double high)
{
	double a = place(p, low), b = place(p, high);

	if (b - a >= 1)
		(void)fprintf(plot->f, "<path class=\"spread\" d=\"M%.1f %.1fv8M%.1f %.1fH%.1fM%.1f %.1fv8\"/>", a,
			      y - 4, a, y, b, b, y - 4);
}

static void put_value(const struct plot *plot, const json_t *figure, double y)
{
	char text[64];

	(void)fprintf(plot->f, "<text x=\"%.1f\" y=\"%.1f\">%s", WIDTH - RIGHT + 12, y + 4,
		      report_format(report_number(figure, "value", 0), text, sizeof(text)));
	if (report_has(figure, "ratio"))
		(void)fprintf(plot->f, " (%s ×)", report_format(report_number(figure, "ratio", 0), text, sizeof(text)));
	(void)fputs("</text>\n", plot->f);
}

static void put_row(const struct plot *plot, const struct panel *p, const json_t *figure, double y)
{
	double v = report_number(figure, "value", 0), aim, ours = y;

	put_label(plot, y, report_text(figure, "name"));
	if (report_has(figure, "peer_value")) {
		double peer = report_number(figure, "peer_value", 0), theirs = y + 6;

		ours = y - 6;
		put_whisker(plot, p, theirs, spread_end(figure, "peer_spread", 0, peer),
			    spread_end(figure, "peer_spread", 1, peer));
		(void)fprintf(plot->f, "<path class=\"peer\" d=\"M%.1f %.1fh9v9h-9z\"/>", place(p, peer) - 4.5,
			      theirs - 4.5);
	}
	put_whisker(plot, p, ours, spread_end(figure, "spread", 0, v), spread_end(figure, "spread", 1, v));
	(void)fprintf(plot->f, "<circle class=\"ours\" cx=\"%.1f\" cy=\"%.1f\" r=\"5\"/>", place(p, v), ours);
	if (aim_of(figure, &aim))
		(void)fprintf(plot->f, "<path class=\"aim\" d=\"M%.1f %.1fl6 9h-12z\"/>", place(p, aim), y + 3);
	put_value(plot, figure, y);
}

static void put_panel(const struct plot *plot, struct panel *p, double *y)
{
	const json_t *g;
	size_t i, rows = 0;

	range_of(plot, p);
	json_array_foreach (plot->figures, i, g)
		rows += in_panel(p, g);
	p->top = *y;
	p->bottom = *y + ROW * (double)rows;
	put_axis(plot, p);
	rows = 0;
	json_array_foreach (plot->figures, i, g) {
		if (in_panel(p, g))
			put_row(plot, p, g, p->top + ROW * ((double)rows++ + 0.5));
	}
	*y = p->bottom + AXIS;
}

/* ---- the whole ---- */

/* The panel that begins with figure `i`; false: it is in an earlier one. */
static bool panel_begins(const struct plot *plot, size_t i, struct panel *p)
{
	const json_t *g = json_array_get(plot->figures, i);

	*p = (struct panel){.unit = report_text(g, "unit"), .better = report_text(g, "better")};
	for (size_t k = 0; k < i; k++)
		if (in_panel(p, json_array_get(plot->figures, k)))
			return false;
	return shown(g);
}

static double height_of(struct plot *plot)
{
	double height = TOP + LEGEND, aim;
	struct panel p;
	const json_t *g;
	size_t i;

	json_array_foreach (plot->figures, i, g) {
		height += panel_begins(plot, i, &p) ? AXIS : 0;
		height += shown(g) ? ROW : 0;
		if (!shown(g))
			continue;
		plot->aims |= aim_of(g, &aim);
		if (report_has(g, "peer_value")) {
			plot->peer = plot->peer == NULL || strcmp(plot->peer, report_text(g, "peer")) == 0
					     ? report_text(g, "peer")
					     : "what it is compared with";
			plot->peers = true;
		}
	}
	return height;
}

static void put_legend(const struct plot *plot, double y)
{
	double x = LEFT;

	(void)fprintf(plot->f,
		      "<path class=\"spread\" d=\"M%.1f %.1fv8m0 -4h26m0 -4v8\"/><circle class=\"ours\" cx=\"%.1f\" "
		      "cy=\"%.1f\" "
		      "r=\"5\"/><text x=\"%.1f\" y=\"%.1f\">figure, lowest to highest round</text>\n",
		      x, y - 4, x + 13, y, x + 34, y + 4);
	x += 260;
	if (plot->peers) {
		(void)fprintf(plot->f, "<path class=\"peer\" d=\"M%.1f %.1fh9v9h-9z\"/><text x=\"%.1f\" y=\"%.1f\">", x,
			      y - 4.5, x + 16, y + 4);
		report_put_text(plot->f, plot->peer);
		(void)fputs("</text>\n", plot->f);
		x += 190;
	}
	if (plot->aims)
		(void)fprintf(plot->f,
			      "<path class=\"aim\" d=\"M%.1f %.1fl6 9h-12z\"/><text x=\"%.1f\" y=\"%.1f\">aim</text>\n",
			      x, y - 5, x + 12, y + 4);
}

void report_put_plot(const json_t *benchmark, FILE *f)
{
	struct plot plot = {.figures = json_object_get(benchmark, "figures"), .f = f};
	double y = TOP, height = height_of(&plot);
	struct panel p;

	(void)fprintf(f, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" role=\"img\">\n<title>",
		      WIDTH, height);
	report_put_text(f, report_text(benchmark, "about"));
	(void)fputs(
		"</title>\n"
		"<style>text{font:13px sans-serif;fill:#111}.unit{font-weight:bold}.grid{stroke:#ddd}"
		".axis,.spread{stroke:#111;fill:none}.spread{stroke-width:1.6}.ours{fill:#0b4f8a;stroke:#fff}"
		".peer{fill:#fff;stroke:#111;stroke-width:1.6}.aim{fill:none;stroke:#b04a00;stroke-width:1.6}</style>\n"
		"<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
		f);
	for (size_t i = 0; i < json_array_size(plot.figures); i++)
		if (panel_begins(&plot, i, &p))
			put_panel(&plot, &p, &y);
	put_legend(&plot, y + 8);
	(void)fputs("</svg>\n", f);
}
