/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * svg.c - an exchange as a picture: a line for each node, a slanted arrow for each packet.
 *
 * Down the page runs time, to one scale, with two exceptions: what happens in less time than a line of text needs is
 * moved apart, and long times in which nothing happens are cut out, which is marked. Black on white says everything;
 * the colours repeat it.
 */
#include <stdlib.h>

#include "internal.h"

#define ROW 16.0     /* least distance of two lines of text */
#define GAP_MAX 70.0 /* longest distance that time makes */
#define CUT 26.0     /* height of a cut */
#define SLANT 34.0   /* height of the usual packet */
#define TOP 58.0
#define CHAR 6.7 /* width of a character of the notes */
#define ROWS_MAX 20000u

struct row {
	size_t at; /* event */
	double y;
	uint64_t cut_ns; /* time that is cut out before it */
	size_t folded;   /* instead of an event: so many packets */
	bool end;        /* only the arrival of a packet: no text */
};

struct picture {
	struct ladder_view view;
	const struct vs_ladder_options *opt;
	FILE *out;
	struct row *row;
	size_t n, cap;
	double *y; /* by event; 0: not drawn */
	double px_per_ns, height;
	double first, step, width; /* lanes */
	double rise[LADDER_NODES]; /* by lane: how far down the newest packet came, for one that was lost */
	uint64_t start_ns;
	bool failed;
};

/* ---- text ---- */

static void put(const struct picture *p, const char *text, size_t room)
{
	size_t n = strlen(text), keep = n <= room ? n : room > 1 ? room - 1 : 0;

	for (size_t i = 0; i < keep; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == '<')
			fputs("&lt;", p->out);
		else if (c == '>')
			fputs("&gt;", p->out);
		else if (c == '&')
			fputs("&amp;", p->out);
		else if (c == '"')
			fputs("&quot;", p->out);
		else
			fputc(c < 0x20 || c >= 0x7f ? '?' : c, p->out);
	}
	if (keep < n)
		fputs("\xe2\x80\xa6", p->out);
}

/* A label, whose " -> " becomes an arrow. */
static void put_label(const struct picture *p, const char *label)
{
	const char *at = strstr(label, " -> ");
	char head[LADDER_TEXT];

	if (at == NULL) {
		put(p, label, LADDER_TEXT);
		return;
	}
	(void)snprintf(head, sizeof(head), "%.*s", (int)(at - label), label);
	put(p, head, LADDER_TEXT);
	fputs(" \xe2\x86\x92", p->out);
	put(p, at + 3, LADDER_TEXT);
}

static double since_us(const struct picture *p, uint64_t t)
{
	return t >= p->start_ns ? (double)(t - p->start_ns) / 1000 : -(double)(p->start_ns - t) / 1000;
}

static double lane_x(const struct picture *p, int lane)
{
	return p->first + p->step * lane;
}

/* ---- where everything stands ---- */

static void add_row(struct picture *p, struct row r)
{
	if (p->n == p->cap) {
		size_t cap = p->cap == 0 ? 256 : 2 * p->cap;
		struct row *grown = realloc(p->row, cap * sizeof(*grown));

		p->failed |= grown == NULL;
		if (grown == NULL)
			return;
		p->row = grown;
		p->cap = cap;
	}
	p->row[p->n++] = r;
}

static bool is_arrival(const struct ladder_view *v, size_t i)
{
	size_t tx = ladder_cause(v, i);
	enum vs_event_type type = (enum vs_event_type)v->ev[i].type;

	return (type == VS_EV_PKT_RX || type == VS_EV_PKT_DROP) && tx != LADDER_NONE && v->ev[tx].type == VS_EV_PKT_TX;
}

/* Rows in the order of events: notes, packets that leave, packets that arrive. */
static void collect(struct picture *p, size_t from)
{
	const struct ladder_view *v = &p->view;
	size_t run = 0, done = 0;

	for (size_t i = from; i < v->n && !p->failed && p->n < ROWS_MAX; i++) {
		char text[LADDER_TEXT];

		if (ladder_folds(v, i)) {
			if (done == run) {
				run = ladder_run(v, i, true);
				done = 0;
			}
			if (run <= 2 * LADDER_RUN + 1 || done < LADDER_RUN || done >= run - LADDER_RUN)
				add_row(p, (struct row){.at = i});
			else if (done == LADDER_RUN)
				add_row(p, (struct row){.at = i, .folded = run - (size_t)2 * LADDER_RUN});
			done++;
		} else if (ladder_line(v, i, true, text, sizeof(text))) {
			add_row(p, (struct row){.at = i});
		} else if (is_arrival(v, i)) {
			add_row(p, (struct row){.at = i, .end = true});
		}
	}
}

static int by_time(const void *va, const void *vb)
{
	uint64_t a = *(const uint64_t *)va, b = *(const uint64_t *)vb;

	return a < b ? -1 : a > b;
}

/* The scale: the usual packet takes SLANT. */
static bool choose_scale(struct picture *p)
{
	const struct ladder_view *v = &p->view;
	uint64_t *delay = malloc((v->n + 1) * sizeof(*delay)), usual;
	size_t n = 0;

	if (delay == NULL)
		return false;
	for (size_t i = 0; i < v->n; i++) {
		size_t rx = v->ev[i].type == VS_EV_PKT_TX ? v->pkt[i].rx : LADDER_NONE;

		if (rx != LADDER_NONE && v->ev[rx].t_ns > v->ev[i].t_ns)
			delay[n++] = v->ev[rx].t_ns - v->ev[i].t_ns;
	}
	qsort(delay, n, sizeof(*delay), by_time);
	usual = n > 0 ? delay[n / 2] : 100000;
	p->px_per_ns = SLANT / (double)usual;
	free(delay);
	return true;
}

static void place(struct picture *p)
{
	const struct ladder_view *v = &p->view;
	double y = TOP, text_y = 0, end_y[LADDER_NODES] = {0};
	uint64_t t = p->n > 0 ? v->ev[p->row[0].at].t_ns : 0;

	for (size_t i = 0; i < p->n; i++) {
		struct row *r = &p->row[i];
		uint64_t now = v->ev[r->at].t_ns, dt = now > t ? now - t : 0;
		double by = (double)dt * p->px_per_ns;
		int lane = ladder_lane(v, v->ev[r->at].node);

		if (by > GAP_MAX) {
			r->cut_ns = dt;
			by = CUT + ROW;
		}
		y += by;
		if (!r->end) {
			y = y < text_y + ROW ? text_y + ROW : y;
			text_y = y;
		} else if (lane >= 0) { /* so that arrows of a burst don't end in one point */
			y = y < end_y[lane] + ROW ? end_y[lane] + ROW : y;
			end_y[lane] = y;
		}
		t = now > t ? now : t;
		r->y = p->y[r->at] = y;
	}
	p->height = y + 64;
}

/* ---- drawing ---- */

/* What a pointer that rests on it shows. */
static void hover(const struct picture *p, size_t i)
{
	const struct vs_event *e = &p->view.ev[i];
	const struct vs_event_info *info = vs_event_info((enum vs_event_type)e->type);
	char text[LADDER_TEXT];

	(void)snprintf(text, sizeof(text), "#%llu %s at %.3f us%s", (unsigned long long)e->seq, info->name,
		       since_us(p, e->t_ns), e->inferred ? ", concluded from the capture" : "");
	fputs("<title>", p->out);
	put(p, text, LADDER_TEXT);
	fputs("</title>", p->out);
}

static const char *class_of(const struct ladder_view *v, size_t i)
{
	static const char *const name[] = {
		[LADDER_PLAIN] = "plain", [LADDER_GOOD] = "good", [LADDER_BAD] = "bad", [LADDER_AGAIN] = "again"};

	return name[ladder_look(v, i)];
}

static void draw_note(const struct picture *p, const struct row *r)
{
	const struct ladder_view *v = &p->view;
	int lane = ladder_lane(v, v->ev[r->at].node);
	double x = lane < 0 ? p->first + p->step / 2 : lane_x(p, lane);
	bool left = lane == 0 && v->nodes == 2;
	size_t room = (size_t)((left ? p->first - 96 : v->nodes == 2 ? p->width - x - 12 : p->step - 16) / CHAR);
	char text[LADDER_TEXT];

	(void)ladder_note(v, r->at, text, sizeof(text));
	fprintf(p->out, "<g class=\"%s\">", class_of(v, r->at));
	hover(p, r->at);
	if (lane >= 0)
		fprintf(p->out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>", x, r->y);
	fprintf(p->out, "<text x=\"%.1f\" y=\"%.1f\"%s>",
		left       ? x - 8
		: lane < 0 ? x
			   : x + 8,
		r->y + 4,
		left       ? " text-anchor=\"end\""
		: lane < 0 ? " text-anchor=\"middle\""
			   : "");
	put(p, text, lane < 0 ? (size_t)(p->step / CHAR) : room);
	fputs("</text></g>\n", p->out);
}

/* What stands behind an arrow's end: why it was lost, what its arrival led to. */
static void draw_beside(const struct picture *p, size_t i, double x, double y, bool right)
{
	char text[LADDER_TEXT];

	ladder_beside(&p->view, i, true, text, sizeof(text));
	if (text[0] == '\0')
		return;
	fprintf(p->out, "<text class=\"label %s\" x=\"%.1f\" y=\"%.1f\"%s>", class_of(&p->view, i),
		x + (right ? 8 : -8), y + 4, right ? "" : " text-anchor=\"end\"");
	put(p, text, (size_t)((right ? p->width - x - 10 : x - 96) / CHAR));
	fputs("</text>", p->out);
}

static void draw_end(const struct picture *p, size_t i, double x, double y, double back, bool sure)
{
	const struct ladder_packet *k = &p->view.pkt[i];

	if (k->lost != LADDER_NONE)
		fprintf(p->out, "<path class=\"x\" d=\"M%.1f %.1fl10 10m0 -10l-10 10\"/>", x - 5, y - 5);
	else if (!sure)
		fprintf(p->out, "<text class=\"q\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">?</text>",
			x - back * 10, y + 5);
	else
		fprintf(p->out, "<path class=\"head\" d=\"M%.1f %.1fl%.1f -4v8z\"/>", x, y, back * 9);
}

static void draw_arrow(struct picture *p, const struct row *r)
{
	const struct ladder_view *v = &p->view;
	const struct ladder_packet *k = &v->pkt[r->at];
	int from = ladder_lane(v, v->ev[r->at].node), to = ladder_other(v, r->at);
	double x1, x2, y2, slope, back;
	bool sure = !ladder_unsure(v, r->at), whole = k->lost == LADDER_NONE && sure;
	size_t there = k->rx != LADDER_NONE ? k->rx : k->drop;
	char label[LADDER_TEXT];

	if (from < 0 || to < 0)
		return;
	x1 = lane_x(p, from);
	x2 = lane_x(p, to);
	if (there != LADDER_NONE && p->y[there] > 0)
		p->rise[from] = p->y[there] - r->y;
	else if (p->rise[from] <= 0 && !v->ev[r->at].inferred)
		p->rise[from] = SLANT;
	y2 = r->y + p->rise[from];
	if (!whole) {
		x2 = x1 + (x2 - x1) * 0.72;
		y2 = r->y + (y2 - r->y) * 0.72;
	}
	back = x2 > x1 ? -1 : 1;
	slope = (y2 - r->y) / (x2 - x1);
	ladder_label(v, r->at, "->", label, sizeof(label));
	fprintf(p->out, "<g class=\"%s%s%s\">", class_of(v, r->at), v->ev[r->at].inferred ? " inferred" : "",
		v->ev[r->at].a[7] != 0 ? " twice" : "");
	hover(p, r->at);
	fprintf(p->out, "<path class=\"line\" d=\"M%.1f %.1fL%.1f %.1f\"/>", x1, r->y, x2, y2);
	draw_end(p, r->at, x2, y2, back, sure);
	fprintf(p->out, "<text class=\"label\" transform=\"translate(%.1f %.1f) rotate(%.2f)\"%s>", x1 - back * 14,
		r->y - back * 14 * slope - 4, 57.29578 * slope / (1 + slope * slope / 3),
		back < 0 ? "" : " text-anchor=\"end\"");
	put_label(p, label);
	fputs("</text>", p->out);
	draw_beside(p, r->at, x2, y2, back < 0);
	fputs("</g>\n", p->out);
}

static void draw_folded(const struct picture *p, const struct row *r)
{
	double x = p->first + p->step / 2;

	fprintf(p->out,
		"<text class=\"fold\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">\xe2\x80\xa6 %zu more like that "
		"\xe2\x80\xa6</text>\n",
		x, r->y + 4, r->folded);
}

static void draw_cut(const struct picture *p, const struct row *r)
{
	double y = r->y - ROW - CUT / 2 + 4;
	char text[32];

	ladder_duration(r->cut_ns, text, sizeof(text));
	for (unsigned i = 0; i < p->view.nodes; i++)
		fprintf(p->out, "<path class=\"cut\" d=\"M%.1f %.1fl-6 4l12 6l-6 4\"/>", lane_x(p, (int)i), y - 7);
	fprintf(p->out, "<text class=\"fold\" x=\"10\" y=\"%.1f\">~ %s ~</text>\n", y + 4, text);
}

static void draw_time(const struct picture *p, size_t i, double *last_y)
{
	const struct row *r = &p->row[i];

	if (r->end || r->y < *last_y + ROW - 1)
		return;
	if (i > 0 && p->view.ev[p->row[i - 1].at].t_ns == p->view.ev[r->at].t_ns && !p->row[i - 1].end &&
	    r->y - p->row[i - 1].y < ROW + 1)
		return;
	fprintf(p->out, "<text class=\"t\" x=\"80\" y=\"%.1f\" text-anchor=\"end\">%.2f</text>\n", r->y + 4,
		since_us(p, p->view.ev[r->at].t_ns));
	*last_y = r->y;
}

static void head(const struct picture *p)
{
	fprintf(p->out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n"
		"<title>RDMA ladder</title>\n"
		"<style>text{font:11px DejaVu Sans Mono,Consolas,monospace;fill:#111}.t,.fold{fill:#444}"
		".fold{font-style:italic}.lane{stroke:#111;stroke-width:1.4}.line{stroke:#1a3f7a;stroke-width:1.3;fill:"
		"none}"
		".head,circle{fill:#1a3f7a}.good .line{stroke:#1c6b2e}.good .head,.good circle{fill:#1c6b2e}"
		".bad .line{stroke:#a4001a}.bad .head,.bad circle{fill:#a4001a}.bad text,text.bad{fill:#a4001a;"
		"font-weight:bold}.again .line{stroke:#8a4b00}.again .head,.again circle{fill:#8a4b00}"
		".again text,text.again{fill:#8a4b00}.twice .line{stroke-width:2.6}.inferred .line{stroke-dasharray:7 "
		"3}"
		".x{stroke:#a4001a;stroke-width:2.4;fill:none}.q{font-weight:bold;font-size:14px}"
		".cut{stroke:#111;stroke-width:1.2;fill:#fff}.label{paint-order:stroke;stroke:#fff;stroke-width:3px}"
		".node{font-weight:bold;font-size:13px}</style>\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
		p->width, p->height, p->width, p->height);
	fprintf(p->out, "<text class=\"t\" x=\"80\" y=\"24\" text-anchor=\"end\">t (us)</text>\n");
	for (unsigned i = 0; i < p->view.nodes; i++) {
		fprintf(p->out, "<text class=\"node\" x=\"%.1f\" y=\"24\" text-anchor=\"middle\">", lane_x(p, (int)i));
		put(p, ladder_title(&p->view, p->opt, i), 40);
		fprintf(p->out, "</text><path class=\"lane\" d=\"M%.1f 34V%.1f\"/>\n", lane_x(p, (int)i),
			p->height - 44);
	}
}

static void legend(const struct picture *p)
{
	bool inferred = false, lost = false, unsure = false;

	for (size_t i = 0; i < p->n; i++) {
		inferred |= p->view.ev[p->row[i].at].inferred;
		lost |= p->view.pkt[p->row[i].at].lost != LADDER_NONE;
		unsure |= p->view.ev[p->row[i].at].type == VS_EV_PKT_TX && ladder_unsure(&p->view, p->row[i].at);
	}
	fprintf(p->out, "<text class=\"fold\" x=\"10\" y=\"%.1f\">", p->height - 14);
	fputs("a heavy line: sent again", p->out);
	if (lost)
		fputs("; a cross: lost", p->out);
	if (unsure)
		fputs("; ?: nothing shows that it arrived", p->out);
	if (inferred)
		fputs("; dashed: who, why and what became of it were concluded from the capture", p->out);
	fputs("; ~ t ~: nothing happened</text>\n</svg>\n", p->out);
}

static void draw(struct picture *p, size_t skipped)
{
	double last_y = 0;

	head(p);
	if (skipped != 0)
		fprintf(p->out, "<text class=\"fold\" x=\"80\" y=\"46\">\xe2\x80\xa6 %zu events before</text>\n",
			skipped);
	for (size_t i = 0; i < p->n; i++) {
		const struct row *r = &p->row[i];

		if (r->cut_ns != 0)
			draw_cut(p, r);
		draw_time(p, i, &last_y);
		if (r->end)
			continue;
		if (r->folded != 0)
			draw_folded(p, r);
		else if (p->view.ev[r->at].type == VS_EV_PKT_TX)
			draw_arrow(p, r);
		else
			draw_note(p, r);
	}
	legend(p);
}

void vs_ladder_svg(const struct vs_event *ev, size_t n, const struct vs_ladder_options *opt, FILE *out)
{
	struct picture p = {.opt = opt, .out = out, .first = 470, .step = 420};
	size_t skip = opt != NULL && opt->max_lines != 0 && n > opt->max_lines ? n - opt->max_lines : 0;

	p.y = calloc(n + 1, sizeof(*p.y));
	p.start_ns = opt != NULL && opt->start_ns != 0 ? opt->start_ns : n > 0 ? ev[0].t_ns : 0;
	p.failed = p.y == NULL || !ladder_view_init(&p.view, ev, n, opt != NULL ? opt->other : NULL);
	if (!p.failed) {
		if (p.view.nodes > 2) {
			p.first = 150;
			p.step = 300;
		}
		p.width = p.view.nodes == 2 ? 1240 : p.first + p.step * (p.view.nodes < 1 ? 1 : p.view.nodes);
		collect(&p, skip);
		p.failed |= !choose_scale(&p);
	}
	if (!p.failed) {
		place(&p);
		draw(&p, skip);
	} else {
		fputs("<svg xmlns=\"http://www.w3.org/2000/svg\"><text y=\"20\">no memory</text></svg>\n", out);
	}
	ladder_view_free(&p.view);
	free(p.row);
	free(p.y);
}
