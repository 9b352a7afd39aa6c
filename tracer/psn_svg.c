/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * psn_svg.c - the picture of vs-trace psn: time to the right, PSNs upwards. Every mark has a form of its own, so that
 * the picture says the same in black and white.
 */
#include "psn.h"
#include "vs/psn.h"

#define W 1000.0
#define H 560.0
#define LEFT 96.0
#define RIGHT 24.0
#define TOP 60.0
#define BOTTOM 84.0
#define GRID_MAX 24u /* lines each way; step_of makes half as many */

struct axes {
	double t0, t1, p0, p1;
};

static double x_of(const struct axes *a, double t)
{
	return LEFT + (t - a->t0) / (a->t1 - a->t0) * (W - LEFT - RIGHT);
}

static double y_of(const struct axes *a, double psn)
{
	return H - BOTTOM - (psn - a->p0) / (a->p1 - a->p0) * (H - TOP - BOTTOM); /* lint: psn-ok unwrapped */
}

static struct axes axes_of(const struct vt_psn_graph *g)
{
	struct axes a = {(double)g->point[0].t_ns, (double)g->point[0].t_ns, 0, 0};

	for (size_t i = 0; i < g->n; i++) {
		double t = (double)g->point[i].t_ns, p = (double)g->point[i].psn;

		a.t0 = t < a.t0 ? t : a.t0;
		a.t1 = t > a.t1 ? t : a.t1;
		a.p0 = p < a.p0 ? p : a.p0;
		a.p1 = p > a.p1 ? p : a.p1;
	}
	a.p1 += 1;
	a.p0 -= (a.p1 - a.p0) * 0.03 + 0.5;
	a.p1 += (a.p1 - a.p0) * 0.03;
	a.t1 += a.t1 > a.t0 ? (a.t1 - a.t0) * 0.02 : 1000;
	return a;
}

/* A step of 1, 2 or 5 times a power of ten, of which about `n` fit. */
static double step_of(double span, double n)
{
	double raw = span / n, s = 1;

	while (s * 10 <= raw)
		s *= 10;
	while (s > raw && s > 1e-9)
		s /= 10;
	return raw > 5 * s ? 10 * s : raw > 2 * s ? 5 * s : raw > s ? 2 * s : s;
}

static void head(const struct vt_psn_graph *g, const struct vt_model *m, FILE *f)
{
	char text[128];

	fprintf(f,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n"
		"<title>PSNs against time</title>\n"
		"<style>text{font:12px DejaVu Sans,Arial,sans-serif;fill:#111}.grid{stroke:#ddd}.axis{stroke:#111;"
		"stroke-width:1.2;fill:none}.h{font-size:15px;font-weight:bold}.s{color:#666}.sent{fill:#1a3f7a}"
		".again{fill:#fff;stroke:#8a4b00;stroke-width:1.6}.lost{stroke:#a4001a;stroke-width:2;fill:none}"
		".nak{fill:#a4001a}.rnr{fill:#fff;stroke:#a4001a;stroke-width:1.6}.timer{stroke:#111;stroke-dasharray:"
		"2 3}"
		".ack{stroke:#1c6b2e;stroke-width:1.8;fill:none}</style>\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n<text class=\"h\" x=\"%.0f\" y=\"26\">",
		W, H, W, H, LEFT);
	vt_put_xml(f, vt_qp_text(m, g->qp, text, sizeof(text)));
	if (m->qp[g->qp].peer != VT_NONE) {
		fputs(" \xe2\x86\x92 ", f);
		vt_put_xml(f, vt_qp_text(m, m->qp[g->qp].peer, text, sizeof(text)));
	}
	fprintf(f,
		"</text>\n<text x=\"%.0f\" y=\"45\">PSNs of its requests; the circle of 24 bits is unrolled from "
		"0x%06x</text>\n",
		LEFT, g->first);
}

static void grid(const struct vt_psn_graph *g, const struct axes *a, FILE *f)
{
	double st = step_of(a->t1 - a->t0, 8), sp = step_of(a->p1 - a->p0, 8);
	bool ms = a->t1 - a->t0 >= 5e6;

	sp = sp < 1 ? 1 : sp;
	for (unsigned k = 0; k < GRID_MAX; k++) {
		double t = st * ((double)(int64_t)(a->t0 / st) + k);

		if (t < a->t0 || t > a->t1)
			continue;
		fprintf(f,
			"<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/><text x=\"%.1f\" y=\"%.1f\" "
			"text-anchor=\"middle\">%g</text>\n",
			x_of(a, t), TOP, H - BOTTOM, x_of(a, t), H - BOTTOM + 17, ms ? t / 1e6 : t / 1e3);
	}
	for (unsigned k = 0; k < GRID_MAX; k++) {
		double p = sp * ((double)(int64_t)(a->p0 / sp) + k);

		if (p < a->p0 || p > a->p1)
			continue;
		fprintf(f,
			"<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/><text x=\"%.1f\" y=\"%.1f\" "
			"text-anchor=\"end\">%06x</text>\n",
			LEFT, y_of(a, p), W - RIGHT, LEFT - 8, y_of(a, p) + 4,
			vs_psn_add(g->first, (int32_t)((int64_t)p % 0x1000000)));
	}
	fprintf(f, "<path class=\"axis\" d=\"M%.1f %.1fV%.1fH%.1f\"/>\n", LEFT, TOP, H - BOTTOM, W - RIGHT);
	fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">t (%s)</text>\n", W - RIGHT, H - BOTTOM + 34,
		ms ? "ms" : "us");
}

/* Up to which PSN everything is acknowledged, as a staircase. */
static void acknowledged(const struct vt_psn_graph *g, const struct axes *a, FILE *f)
{
	int64_t upto = -1;
	bool any = false;

	for (size_t i = 0; i < g->n; i++) {
		const struct vt_psn_point *p = &g->point[i];
		int64_t now = p->kind == VT_PSN_ACKED ? p->psn : p->psn - 1; /* lint: psn-ok unwrapped */

		if (p->kind != VT_PSN_ACKED && p->kind != VT_PSN_NAK && p->kind != VT_PSN_RNR)
			continue;
		if (now <= upto)
			continue;
		fprintf(f, any ? "H%.1fV%.1f" : "<path class=\"ack\" d=\"M%.1f %.1f", x_of(a, (double)p->t_ns),
			y_of(a, (double)now + 0.5));
		upto = now;
		any = true;
	}
	if (any)
		fprintf(f, "H%.1f\"/>\n", x_of(a, a->t1));
}

static void mark(enum vt_psn_kind kind, double x, double y, FILE *f)
{
	switch (kind) {
	case VT_PSN_SENT:
		fprintf(f, "<circle class=\"sent\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>\n", x, y);
		break;
	case VT_PSN_AGAIN:
		fprintf(f, "<rect class=\"again\" x=\"%.1f\" y=\"%.1f\" width=\"7\" height=\"7\"/>\n", x - 3.5,
			y - 3.5);
		break;
	case VT_PSN_LOST:
		fprintf(f, "<path class=\"lost\" d=\"M%.1f %.1fl8 8m0 -8l-8 8\"/>\n", x - 4, y - 4);
		break;
	case VT_PSN_NAK:
		fprintf(f, "<path class=\"nak\" d=\"M%.1f %.1fl6 10h-12z\"/>\n", x, y - 6);
		break;
	case VT_PSN_RNR:
		fprintf(f, "<path class=\"rnr\" d=\"M%.1f %.1fl6 10h-12z\"/>\n", x, y - 6);
		break;
	case VT_PSN_TIMER:
		fprintf(f, "<path class=\"timer\" d=\"M%.1f %.1fV%.1f\"/>\n", x, TOP, H - BOTTOM);
		break;
	case VT_PSN_ACKED:
		break;
	}
}

static void legend(const struct vt_psn_graph *g, FILE *f)
{
	static const char *const text[] = {[VT_PSN_SENT] = "sent",      [VT_PSN_AGAIN] = "sent again",
					   [VT_PSN_LOST] = "lost",      [VT_PSN_ACKED] = "acknowledged up to here",
					   [VT_PSN_NAK] = "NAK",        [VT_PSN_RNR] = "RNR NAK",
					   [VT_PSN_TIMER] = "ACK timer"};
	bool seen[VT_PSN_TIMER + 1] = {false}, inferred = false;
	double x = LEFT, y = H - 22;

	for (size_t i = 0; i < g->n; i++) {
		seen[g->point[i].kind] = true;
		inferred |= g->point[i].inferred;
	}
	for (unsigned k = 0; k <= VT_PSN_TIMER; k++) {
		if (!seen[k])
			continue;
		if (k == VT_PSN_ACKED)
			fprintf(f, "<path class=\"ack\" d=\"M%.1f %.1fh14\"/>", x - 6, y - 4);
		else if (k == VT_PSN_TIMER)
			fprintf(f, "<path class=\"timer\" d=\"M%.1f %.1fv16\"/>", x, y - 12);
		else
			mark((enum vt_psn_kind)k, x, y - 4, f);
		fprintf(f, "<text x=\"%.1f\" y=\"%.1f\">%s</text>\n", x + 13, y, text[k]);
		x += 40 + 7.2 * (double)sizeof("acknowledged up to here") * (k == VT_PSN_ACKED ? 1 : 0.42);
	}
	if (inferred)
		fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">concluded from a capture</text>\n",
			W - RIGHT, y);
}

void vt_psn_svg(const struct vt_psn_graph *g, const struct vt_model *m, FILE *f)
{
	struct axes a = axes_of(g);

	head(g, m, f);
	grid(g, &a, f);
	acknowledged(g, &a, f);
	for (size_t i = 0; i < g->n; i++)
		mark(g->point[i].kind, x_of(&a, (double)g->point[i].t_ns), y_of(&a, (double)g->point[i].psn), f);
	legend(g, f);
	fputs("</svg>\n", f);
}
