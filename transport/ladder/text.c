/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* text.c - ladders for terminals: one line for each thing that happened. */
#include <stdlib.h>

#include "internal.h"

#define USUAL_WIDTH 56u
#define STAMP 12u         /* columns of the time */
#define SIDE_FROM 110u    /* columns from which there is room beside the right line */
#define QUIET_NS 1000000u /* idle for longer is said */
#define LEAD 7u           /* dashes before a label */
#define LINE 1024u

enum look { PLAIN, GOOD, BAD, AGAIN, QUIET };

static const struct glyphs {
	const char *bar, *dash, *dashed, *right, *left, *lost, *unsure, *dot, *brings, *cut;
} ascii = {"|", "-", "-", ">", "<", "x", "?", "o", "->", "..."},
  unicode = {"\xe2\x94\x82", "\xe2\x94\x80", "\xe2\x95\x8c", "\xe2\x96\xb6", "\xe2\x97\x80", "\xe2\x9c\x95", "?",
	     "\xe2\x97\x8f", "\xe2\x86\x92", "\xe2\x80\xa6"};

struct ladder {
	struct ladder_view view;
	const struct vs_ladder_options *opt;
	const struct glyphs *g;
	FILE *out;
	unsigned width, columns;
	uint64_t start_ns, last_ns;
	bool any; /* a line was drawn */
	bool side;
};

/* ---- text that is measured ---- */

/* A piece of a line: bytes, and the columns that they take. */
struct piece {
	char text[LINE];
	size_t len;
	unsigned cols;
};

static void add(struct piece *p, const char *glyph)
{
	size_t n = strlen(glyph);

	if (p->len + n >= sizeof(p->text))
		return;
	memcpy(p->text + p->len, glyph, n + 1);
	p->len += n;
	p->cols++;
}

static void repeat(struct piece *p, const char *glyph, unsigned n)
{
	while (n-- > 0)
		add(p, glyph);
}

/* Text of events, harmless: control characters and what is no ASCII as '?'. Cut where it gets too long. */
static void put(const struct ladder *l, struct piece *p, const char *text, unsigned room)
{
	size_t n = strlen(text), cut = strlen(l->g->cut) == 3 && l->g == &ascii ? 3 : 1, keep;

	keep = n <= room ? n : room > cut ? room - cut : 0;
	for (size_t i = 0; i < keep; i++) {
		const char c[2] = {(unsigned char)text[i] < 0x20 || (unsigned char)text[i] >= 0x7f ? '?' : text[i], 0};

		add(p, c);
	}
	if (keep < n && room > cut) {
		add(p, l->g->cut);
		p->cols += (unsigned)cut - 1;
	}
}

/* What events say has no arrow but this one. */
static void put_label(const struct ladder *l, struct piece *p, const char *label, unsigned room)
{
	const char *at = l->g == &unicode ? strstr(label, " -> ") : NULL;
	char head[LADDER_TEXT];

	if (at == NULL || strlen(label) > room + 1) {
		put(l, p, label, room);
		return;
	}
	(void)snprintf(head, sizeof(head), "%.*s ", (int)(at - label), label);
	put(l, p, head, room);
	add(p, l->g->brings);
	put(l, p, at + 3, room);
}

static void write_piece(const struct ladder *l, const struct piece *p, enum look look)
{
	static const char *const on[] = {
		[PLAIN] = "", [GOOD] = "\033[32m", [BAD] = "\033[1;31m", [AGAIN] = "\033[33m", [QUIET] = "\033[2m"};
	bool colour = l->opt != NULL && l->opt->colour && look != PLAIN;

	if (colour)
		fputs(on[look], l->out);
	fwrite(p->text, 1, p->len, l->out);
	if (colour)
		fputs("\033[0m", l->out);
}

static void stamp(struct ladder *l, uint64_t t)
{
	char idle[32];
	struct piece p = {.len = 0};

	if (l->any && t > l->last_ns && t - l->last_ns >= QUIET_NS) {
		ladder_duration(t - l->last_ns, idle, sizeof(idle));
		p.len = (size_t)snprintf(p.text, sizeof(p.text), "%*s~ %s later ~", (int)STAMP, "", idle);
		write_piece(l, &p, QUIET);
		fputc('\n', l->out);
	}
	fprintf(l->out, "%10.2f  ",
		t >= l->start_ns ? (double)(t - l->start_ns) / 1000 : -(double)(l->start_ns - t) / 1000);
	l->last_ns = t;
	l->any = true;
}

/* ---- notes ---- */

static enum look look_of(const struct ladder_view *v, size_t i)
{
	static const enum look looks[] = {
		[LADDER_PLAIN] = PLAIN, [LADDER_GOOD] = GOOD, [LADDER_BAD] = BAD, [LADDER_AGAIN] = AGAIN};

	return looks[ladder_look(v, i)];
}

/* Columns for text, when `used` of a line are taken. */
static unsigned room_for(const struct ladder *l, unsigned used)
{
	if (l->columns == 0)
		return LADDER_TEXT;
	return l->columns > used ? l->columns - used : 0;
}

/* A note of the left node: at its line, and the right line behind it when there is room. */
static void note_left(const struct ladder *l, struct piece *p, const char *text)
{
	unsigned room = room_for(l, STAMP + 2);

	add(p, l->g->dot);
	add(p, " ");
	put(l, p, text, room);
	if (p->cols > l->width + 1)
		return;
	repeat(p, " ", l->width + 1 - p->cols);
	add(p, l->g->bar);
}

/* A note of the right node: beside its line, or ending at it. */
static void note_right(const struct ladder *l, struct piece *p, const char *text)
{
	struct piece t = {.len = 0};

	add(p, l->g->bar);
	if (l->side) {
		repeat(p, " ", l->width);
		add(p, l->g->dot);
		add(p, " ");
		put(l, p, text, room_for(l, STAMP + l->width + 3));
		return;
	}
	put(l, &t, text, l->width - 2);
	repeat(p, " ", l->width - 1 - t.cols);
	memcpy(p->text + p->len, t.text, t.len);
	p->len += t.len;
	add(p, " ");
	add(p, l->g->dot);
}

static void draw_note(struct ladder *l, size_t i, const char *text)
{
	const struct vs_event *e = &l->view.ev[i];
	int at = ladder_lane(&l->view, e->node);
	struct piece p = {.len = 0};
	char line[LADDER_TEXT + 32];

	stamp(l, e->t_ns);
	if (l->view.nodes != 2 || at < 0) {
		(void)snprintf(line, sizeof(line), "%s: %s", e->node, text);
		put(l, &p, line, room_for(l, STAMP));
	} else if (at == 0) {
		note_left(l, &p, text);
	} else {
		note_right(l, &p, text);
	}
	write_piece(l, &p, look_of(&l->view, i));
	fputc('\n', l->out);
}

/* ---- arrows ---- */

static const char *dash_of(const struct ladder *l, size_t i)
{
	return l->view.ev[i].inferred ? l->g->dashed : l->g->dash;
}

/* `n` dashes of the packet at i; in ASCII every second one of what is inferred is left out. */
static void dashes(const struct ladder *l, struct piece *p, size_t i, unsigned n)
{
	bool gaps = l->view.ev[i].inferred && l->g == &ascii;

	for (unsigned k = 0; k < n; k++)
		add(p, gaps && k % 2 == 1 ? " " : dash_of(l, i));
}

static void arrow_right(const struct ladder *l, struct piece *p, size_t i, const char *label, const char *end)
{
	unsigned fill;

	add(p, l->g->bar);
	dashes(l, p, i, LEAD);
	add(p, " ");
	put_label(l, p, label, l->width - LEAD - 3);
	add(p, " ");
	fill = p->cols < l->width ? l->width - p->cols : 0;
	if (end == NULL) {
		dashes(l, p, i, fill);
		add(p, l->g->right);
	} else {
		dashes(l, p, i, fill / 2);
		add(p, end);
		repeat(p, " ", fill - fill / 2);
	}
	add(p, l->g->bar);
}

static void arrow_left(const struct ladder *l, struct piece *p, size_t i, const char *label, const char *end)
{
	add(p, l->g->bar);
	if (end == NULL) {
		add(p, l->g->left);
		dashes(l, p, i, LEAD - 1);
	} else {
		repeat(p, " ", 2);
		add(p, end);
		dashes(l, p, i, LEAD - 3);
	}
	add(p, " ");
	put_label(l, p, label, l->width - LEAD - 3);
	add(p, " ");
	dashes(l, p, i, p->cols <= l->width ? l->width + 1 - p->cols : 0);
	add(p, l->g->bar);
}

/* What stands behind an arrow: why it was lost, what its arrival led to. */
static void beside(struct ladder *l, size_t i, struct piece *p)
{
	char text[LADDER_TEXT];

	ladder_beside(&l->view, i, l->side, text, sizeof(text));
	if (text[0] == '\0')
		return;
	if (l->side) {
		add(p, " ");
		put(l, p, text, room_for(l, STAMP + l->width + 3));
		return;
	}
	fputc('\n', l->out);
	fprintf(l->out, "%*s", (int)STAMP, "");
	p->len = p->cols = 0;
	note_right(l, p, text);
	p->len -= strlen(l->g->dot); /* it happened to nobody */
	p->text[p->len] = '\0';
	add(p, l->g->bar);
}

static void draw_arrow(struct ladder *l, size_t i)
{
	const struct ladder_view *v = &l->view;
	const struct vs_event *e = &v->ev[i];
	const char *end = v->pkt[i].lost != LADDER_NONE ? l->g->lost : ladder_unsure(v, i) ? l->g->unsure : NULL;
	int from = ladder_lane(v, e->node);
	char label[LADDER_TEXT], line[LADDER_TEXT + 32];
	struct piece p = {.len = 0}, b = {.len = 0};

	ladder_label(v, i, "->", label, sizeof(label));
	stamp(l, e->t_ns);
	if (v->nodes != 2 || from < 0) {
		(void)snprintf(line, sizeof(line), "%s %s %s", e->node, end != NULL ? "--x" : "-->", label);
		put(l, &p, line, room_for(l, STAMP));
	} else if (from == 0) {
		arrow_right(l, &p, i, label, end);
	} else {
		arrow_left(l, &p, i, label, end);
	}
	write_piece(l, &p, look_of(v, i));
	if (v->nodes == 2)
		beside(l, i, &b);
	write_piece(l, &b, look_of(v, i) == BAD ? BAD : AGAIN);
	fputc('\n', l->out);
}

/* ---- the whole ---- */

static bool beside_arrows(const struct ladder *l)
{
	return l->side && l->view.nodes == 2;
}

static void draw_one(struct ladder *l, size_t i)
{
	char text[LADDER_TEXT];

	if (l->view.ev[i].type == VS_EV_PKT_TX)
		draw_arrow(l, i);
	else if (ladder_note(&l->view, i, text, sizeof(text)))
		draw_note(l, i, text);
}

/* Draws a run from event `i` on; the index of its last event. */
static size_t draw_run(struct ladder *l, size_t i, size_t n)
{
	bool fold = n > 2 * LADDER_RUN + 1 && !(l->opt != NULL && l->opt->whole);
	size_t first = i, done = 0;

	for (; done < n; i++) {
		if (i != first && !ladder_alike(&l->view, first, i))
			continue;
		if (!fold || done < LADDER_RUN || done >= n - LADDER_RUN)
			draw_one(l, i);
		else if (done == LADDER_RUN)
			fprintf(l->out, "%*s%s %zu more like that\n", (int)STAMP, "", l->g->cut, n - 2 * LADDER_RUN);
		done++;
	}
	return i - 1;
}

static void head(const struct ladder *l)
{
	struct piece p = {.len = 0}, q = {.len = 0};

	fprintf(l->out, "%10s", "t(us)");
	if (l->view.nodes != 2) {
		fputc('\n', l->out);
		return;
	}
	put(l, &p, ladder_title(&l->view, l->opt, 0), l->width / 2);
	put(l, &q, ladder_title(&l->view, l->opt, 1), l->side ? room_for(l, STAMP + l->width + 1) : l->width / 2);
	fputs("  ", l->out);
	write_piece(l, &p, PLAIN);
	fprintf(l->out, "%*s", (int)(l->width + (l->side ? 1 : 2) - p.cols - (l->side ? 0 : q.cols)), "");
	write_piece(l, &q, PLAIN);
	fputc('\n', l->out);
}

static void measure(struct ladder *l)
{
	const struct vs_ladder_options *o = l->opt;
	unsigned given = o != NULL ? o->width : 0;

	l->columns = o == NULL || o->columns == 0 ? 0 : o->columns < 60 ? 60 : o->columns > 400 ? 400 : o->columns;
	l->side = l->columns == 0 || l->columns >= SIDE_FROM;
	if (l->columns == 0)
		l->width = given != 0 ? given : USUAL_WIDTH;
	else
		l->width = l->side ? 64 : l->columns - STAMP - 2;
	l->width = l->width < 24 ? 24 : l->width > 160 ? 160 : l->width;
	l->g = o != NULL && o->utf8 ? &unicode : &ascii;
}

void vs_ladder_text(const struct vs_event *ev, size_t n, const struct vs_ladder_options *opt, FILE *out)
{
	struct ladder l = {.opt = opt, .out = out};
	size_t skip = 0;

	measure(&l);
	if (!ladder_view_init(&l.view, ev, n, opt != NULL ? opt->other : NULL)) {
		fputs("no memory for a ladder\n", out);
		return;
	}
	head(&l);
	if (opt != NULL && opt->max_lines != 0 && n > opt->max_lines) {
		skip = n - opt->max_lines;
		fprintf(out, "%*s%s %zu events before\n", (int)STAMP, "", l.g->cut, skip);
	}
	l.start_ns = opt != NULL && opt->start_ns != 0 ? opt->start_ns : n > 0 ? ev[0].t_ns : 0;
	for (size_t i = skip; i < n; i++) {
		char text[LADDER_TEXT];

		if (ladder_folds(&l.view, i))
			i = draw_run(&l, i, ladder_run(&l.view, i, beside_arrows(&l)));
		else if (ladder_line(&l.view, i, beside_arrows(&l), text, sizeof(text)))
			draw_note(&l, i, text);
	}
	ladder_view_free(&l.view);
}
