/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* psn.c - vs-trace psn: which flows there are, and the graph of one of them (psn_svg.c). */
#include "psn.h"

#include <stdlib.h>
#include <string.h>

#include "map.h"
#include "vs/opcode.h"
#include "vs/psn.h"
#include "vs/wire.h"

#define CMD "psn"

static int help(void)
{
	fputs("usage: vs-trace psn [options] TRACE\n\n"
	      "Draws the PSNs of one queue pair's requests against time, as a picture (SVG): packets that were sent, "
	      "those\n"
	      "that were sent again or lost, the line up to which all is acknowledged, NAKs and RNR NAKs, timers.\n\n"
	      "  --qp N   that requester; without it, the queue pair that sent the most\n"
	      "  --json   the points instead of a picture\n"
	      "  --from T, --to T, -o FILE  as everywhere: 'vs-trace ladder --help'\n",
	      stdout);
	return vt_flush(CMD);
}

/* ---- points ---- */

static bool add(struct vt_psn_graph *g, struct vt_psn_point p)
{
	void *array = g->point;

	if (!vt_room(&array, &g->cap, g->n, sizeof(*g->point)))
		return false;
	g->point = array;
	g->point[g->n++] = p;
	return true;
}

/* PSNs without the circle, from the first one that was sent. */
static int64_t unwrap(struct vt_psn_graph *g, uint64_t psn)
{
	if (g->n == 0) {
		g->first = (uint32_t)psn & VS_PSN_MASK;
		g->newest = 0;
	}
	return g->newest + vs_psn_diff((uint32_t)psn, vs_psn_add(g->first, (int32_t)(g->newest & VS_PSN_MASK)));
}

static bool on_request(struct vt_psn_graph *g, const struct vt_model *m, size_t i)
{
	const struct vs_event *e = &m->ev[i];
	const struct vt_packet *p = &m->pkt[m->pkt_of[i]];
	enum vt_psn_kind kind = p->flags & VT_PKT_LOST ? VT_PSN_LOST : e->a[7] != 0 ? VT_PSN_AGAIN : VT_PSN_SENT;
	int64_t psn = unwrap(g, e->a[1]);

	g->newest = psn > g->newest ? psn : g->newest; /* lint: psn-ok unwrapped */
	return add(g, (struct vt_psn_point){vt_time(m, i), psn, kind, e->inferred});
}

static bool on_answer(struct vt_psn_graph *g, const struct vt_model *m, size_t i)
{
	const struct vs_event *e = &m->ev[i];
	enum vt_psn_kind kind = VT_PSN_ACKED;

	if (e->a[4] != VS_SYN_NONE && vs_aeth_type((uint8_t)e->a[4]) == VS_AETH_NAK)
		kind = VT_PSN_NAK;
	else if (e->a[4] != VS_SYN_NONE && vs_aeth_type((uint8_t)e->a[4]) == VS_AETH_RNR)
		kind = VT_PSN_RNR;
	/* A NAK acknowledges what is before its PSN. */
	return add(g, (struct vt_psn_point){vt_time(m, i), unwrap(g, e->a[1]), kind, e->inferred});
}

static bool collect(struct vt_psn_graph *g, const struct vt_model *m, const struct vt_options *o)
{
	bool ok = true;

	for (size_t i = 0; ok && i < m->n_events; i++) {
		uint16_t flags = m->ev[i].a[0] < 256 ? vs_opcodes[m->ev[i].a[0]].flags : 0;

		if (m->qp_of[i] != g->qp || vt_time(m, i) < o->from_ns || (o->to_ns != 0 && vt_time(m, i) > o->to_ns))
			continue;
		if (m->ev[i].type == VS_EV_PKT_TX && flags & VS_OPF_Q)
			ok = on_request(g, m, i);
		else if (m->ev[i].type == VS_EV_PKT_RX && flags & VS_OPF_R && g->n > 0)
			ok = on_answer(g, m, i);
		else if (m->ev[i].type == VS_EV_RC_TIMEOUT && g->n > 0)
			ok = add(g, (struct vt_psn_point){vt_time(m, i), unwrap(g, m->ev[i].a[0]), VT_PSN_TIMER,
							  m->ev[i].inferred});
	}
	return ok;
}

/* ---- which ---- */

static size_t busiest(const struct vt_model *m)
{
	uint64_t *n = calloc(m->n_qps + 1, sizeof(*n));
	size_t best = VT_NONE;

	for (size_t i = 0; n != NULL && i < m->n_events; i++)
		if (m->ev[i].type == VS_EV_PKT_TX && m->ev[i].a[0] < 256 && vs_opcodes[m->ev[i].a[0]].flags & VS_OPF_Q)
			n[m->qp_of[i]]++;
	for (size_t q = 0; n != NULL && q < m->n_qps; q++)
		if (n[q] > 0 && (best == VT_NONE || n[q] > n[best]))
			best = q;
	free(n);
	return best;
}

static size_t chosen(const struct vt_model *m, const struct vt_options *o)
{
	if (!o->has_qp)
		return busiest(m);
	for (size_t q = 0; q < m->n_qps; q++)
		for (size_t i = 0; m->qp[q].qpn == o->qpn && i < m->n_events; i++)
			if (m->qp_of[i] == q && m->ev[i].type == VS_EV_PKT_TX && m->ev[i].a[0] < 256 &&
			    vs_opcodes[m->ev[i].a[0]].flags & VS_OPF_Q)
				return q;
	return VT_NONE;
}

const char *vt_psn_kind_name(enum vt_psn_kind kind)
{
	static const char *const names[] = {
		[VT_PSN_SENT] = "sent", [VT_PSN_AGAIN] = "again", [VT_PSN_LOST] = "lost",  [VT_PSN_ACKED] = "acked",
		[VT_PSN_NAK] = "nak",   [VT_PSN_RNR] = "rnr",     [VT_PSN_TIMER] = "timer"};

	return names[kind];
}

static void put_json(const struct vt_psn_graph *g, const struct vt_model *m, FILE *f)
{
	char text[128];

	fputs("{\"qp\":", f);
	vt_put_json(f, vt_qp_text(m, g->qp, text, sizeof(text)));
	fprintf(f, ",\"first_psn\":\"0x%06x\",\"points\":[", g->first);
	for (size_t i = 0; i < g->n; i++)
		fprintf(f, "%s\n{\"t\":\"%llu\",\"psn\":%lld,\"kind\":\"%s\"%s}", i > 0 ? "," : "",
			(unsigned long long)g->point[i].t_ns, (long long)g->point[i].psn,
			vt_psn_kind_name(g->point[i].kind), g->point[i].inferred ? ",\"inferred\":true" : "");
	fputs("\n]}\n", f);
}

static int draw(struct vt_model *m, const struct vt_options *o, bool json)
{
	struct vt_psn_graph g = {.qp = chosen(m, o)};
	struct vs_cli_file out;
	bool ok;

	if (g.qp == VT_NONE) {
		vt_complain(CMD, "%s: no request packets%s: there is nothing to draw", m->path,
			    o->has_qp ? " of that queue pair" : "");
		return VT_NOTHING;
	}
	ok = collect(&g, m, o);
	if (ok && g.n == 0) {
		vt_complain(CMD, "%s: nothing in that span", m->path);
		return VT_NOTHING;
	}
	if (!ok || !vt_file_open(&out, CMD, o->out)) {
		free(g.point);
		return ok ? VT_USAGE : vt_fail(CMD, "no memory");
	}
	if (json)
		put_json(&g, m, out.f);
	else
		vt_psn_svg(&g, m, out.f);
	free(g.point);
	return vs_cli_file_close(&out);
}

int vt_psn(int argc, char **argv)
{
	return vt_command(CMD, argc, argv, help, draw);
}
