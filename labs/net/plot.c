/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * plot.c - a plot as SVG: axes with their numbers, lines, a legend. Colours are those that people tell apart with any
 * eyes (Okabe, Ito).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

#define WIDTH 860.0
#define HEIGHT 480.0
#define LEFT 70.0
#define RIGHT 30.0
#define TOP 50.0
#define BOTTOM 72.0
#define LEGEND 22.0

static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
				      "#56b4e9", "#e69f00", "#000000", "#999999"};
#define COLOURS (sizeof(colours) / sizeof(colours[0]))

struct frame {
	const struct plot *p;
	double bottom; /* of the area, above the legend */
	FILE *out;
};

static double place_x(const struct frame *f, double x)
{
	const struct plot *p = f->p;
	double part;

	if (p->log_x) {
		double lo = log10(p->x_min), hi = log10(p->x_max);

		part = x <= 0 ? 0 : (log10(x) - lo) / (hi - lo);
	} else {
		part = (x - p->x_min) / (p->x_max - p->x_min);
	}
	return LEFT + fmin(1, fmax(0, part)) * (WIDTH - LEFT - RIGHT);
}

static double place_y(const struct frame *f, double y)
{
	return f->bottom - fmin(1.02, fmax(0, y / f->p->y_max)) * (f->bottom - TOP);
}

/* 1, 2 or 5 times a power of ten: about six of them up to the maximum. */
static double step_of(double range)
{
	double raw = range / 6, ten = pow(10, floor(log10(raw)));

	return raw / ten <= 1 ? ten : raw / ten <= 2 ? 2 * ten : raw / ten <= 5 ? 5 * ten : 10 * ten;
}

static void escape(FILE *out, const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text == '&')
			(void)fputs("&amp;", out);
		else if (*text == '<')
			(void)fputs("&lt;", out);
		else
			(void)fputc(*text, out);
	}
}

static void text_at(const struct frame *f, double x, double y, const char *anchor, const char *more, const char *text)
{
	(void)fprintf(f->out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"%s>", x, y, anchor, more);
	escape(f->out, text);
	(void)fputs("</text>\n", f->out);
}

static void tick_x(const struct frame *f, double x, const char *text)
{
	double at = place_x(f, x);

	(void)fprintf(f->out, "<path d=\"M%.1f %.1fV%.1f\" class=\"grid\"/>\n", at, TOP, f->bottom + 5);
	text_at(f, at, f->bottom + 20, "middle", "", text);
}

static void number_x(const struct frame *f, double x)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "%g", x);
	tick_x(f, x, text);
}

static void axes(const struct frame *f)
{
	const struct plot *p = f->p;
	double step = step_of(p->y_max);
	char text[32];

	for (unsigned i = 0; i * step <= p->y_max * 1.001; i++) {
		double y = i * step;

		(void)fprintf(f->out, "<path d=\"M%.1f %.1fH%.1f\" class=\"grid\"/>\n", LEFT, place_y(f, y),
			      WIDTH - RIGHT);
		(void)snprintf(text, sizeof(text), "%g", y);
		text_at(f, LEFT - 8, place_y(f, y) + 4, "end", "", text);
	}
	if (p->log_x) {
		tick_x(f, 0, "0");
		for (unsigned i = 1; p->x_min * pow(10, i) <= p->x_max * 1.001; i++)
			number_x(f, p->x_min * pow(10, i));
	} else {
		step = step_of(p->x_max - p->x_min);
		for (unsigned i = 0; p->x_min + i * step <= p->x_max * 1.001; i++)
			number_x(f, p->x_min + i * step);
	}
	(void)fprintf(f->out, "<path d=\"M%.1f %.1fV%.1fH%.1f\" class=\"axis\"/>\n", LEFT, TOP, f->bottom,
		      WIDTH - RIGHT);
	text_at(f, (LEFT + WIDTH - RIGHT) / 2, f->bottom + 42, "middle", "", p->x_name);
	(void)snprintf(text, sizeof(text), " transform=\"rotate(-90 18 %.0f)\"", (TOP + f->bottom) / 2);
	text_at(f, 18, (TOP + f->bottom) / 2, "middle", text, p->y_name);
	text_at(f, WIDTH / 2, 28, "middle", " class=\"title\"", p->title);
}

/* A dashed line goes with the one before it. */
static const char *colour_of(const struct plot *p, unsigned i)
{
	unsigned n = 0;

	for (unsigned k = 1; k <= i; k++)
		n += !p->line[k].dashed;
	return colours[n % COLOURS];
}

static void line(const struct frame *f, unsigned i)
{
	const struct plot_line *l = &f->p->line[i];
	const char *colour = colour_of(f->p, i), *dash = l->dashed ? " stroke-dasharray=\"6 5\"" : "";
	unsigned row = i / 2;
	double y = f->bottom + BOTTOM + LEGEND * row, x = LEFT + (i % 2) * (WIDTH - LEFT) / 2;

	(void)fprintf(f->out, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\"%s points=\"", colour, dash);
	for (unsigned k = 0; k < l->n; k++)
		(void)fprintf(f->out, "%s%.1f,%.1f", k > 0 ? " " : "", place_x(f, l->x[k]), place_y(f, l->y[k]));
	(void)fputs("\"/>\n", f->out);
	for (unsigned k = 0; k < l->n && l->n <= 24 && !l->dashed; k++)
		(void)fprintf(f->out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"%s\"/>\n", place_x(f, l->x[k]),
			      place_y(f, l->y[k]), colour);
	(void)fprintf(f->out, "<path d=\"M%.1f %.1fh28\" stroke=\"%s\" stroke-width=\"3\"%s/>\n", x, y - 4, colour,
		      dash);
	text_at(f, x + 36, y, "start", "", l->name);
}

int plot_write(const struct plot *p, const char *path)
{
	unsigned rows = (p->lines + 1) / 2;
	double height = HEIGHT + LEGEND * rows;
	struct frame f = {.p = p, .bottom = HEIGHT - BOTTOM};
	char part[512];
	int rc;

	(void)snprintf(part, sizeof(part), "%.500s.part", path);
	f.out = fopen(part, "w");
	if (f.out == NULL)
		return net_fail("the plot can't be written");
	(void)fprintf(
		f.out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n"
		"<style>text{font:14px sans-serif;fill:#222}.title{font:bold 17px sans-serif}"
		".grid{stroke:#ddd;fill:none}.axis{stroke:#222;fill:none}</style>\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
		WIDTH, height, WIDTH, height);
	axes(&f);
	for (unsigned i = 0; i < p->lines; i++)
		line(&f, i);
	(void)fputs("</svg>\n", f.out);
	rc = ferror(f.out) != 0;
	rc |= fclose(f.out) != 0;
	if (rc == 0 && rename(part, path) == 0)
		return 0;
	(void)unlink(part);
	return net_fail("the plot can't be written");
}
