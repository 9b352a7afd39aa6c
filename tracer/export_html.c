/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * export_html.c - a trace as one page for a browser: page.html with the events in it as JSON. It loads nothing. Texts
 * are escaped twice over: as JSON strings without '<', and by the page when it shows them.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "export.h"
#include "ladder/internal.h"
#include "vs/reason.h"

extern const char *const vt_page_line[];

enum flag { INFERRED = 1, TWICE = 2, LOST = 4, UNSURE = 8, SENT = 16, ARRIVED = 32 };

struct page {
	const struct vt_model *m;
	FILE *f;
	struct vs_event *ev; /* those that were asked for */
	size_t n;
	size_t *model;                  /* their places in the model */
	size_t *shown;                  /* by place in the model: place in ev[]; VT_NONE */
	const struct ladder_view *view; /* of ev[] */
};

/* ---- an event ---- */

/* "name=value" for each argument, a line each; reasons and rules with their sentences. */
static void detail(char *buf, size_t cap, const struct vs_event *e)
{
	const struct vs_event_info *info = vs_event_info((enum vs_event_type)e->type);
	size_t n = 0;

	buf[0] = '\0';
	if (e->has_wr)
		n += (size_t)snprintf(buf, cap, "wr=%" PRIu64 "\n", e->wr_id);
	for (unsigned i = 0; i < info->nargs && n < cap; i++) {
		char text[256];

		if (info->args[i].kind == VS_ARG_SYN && e->a[i] == VS_SYN_NONE)
			continue;
		n += (size_t)snprintf(buf + n, cap - n, "%s=%s\n", info->args[i].name,
				      vt_arg_text(e, i, text, sizeof(text)));
		if (info->args[i].kind == VS_ARG_RSN && e->a[i] != 0 && n < cap) {
			const struct vs_reason_info *r = vs_reason_info((enum vs_reason)e->a[i]);

			n += (size_t)snprintf(buf + n, cap - n, "because=%s\n%s%s%s", r->sentence,
					      r->clause[0] != '\0' ? "clause=" : "", r->clause,
					      r->clause[0] != '\0' ? "\n" : "");
		}
	}
	if (e->type == VS_EV_MON_RULE && e->a[0] != 0 && n < cap)
		(void)snprintf(buf + n, cap - n, "because=%s\n",
			       vs_rule_info(vs_rule_by_id((const char *)(uintptr_t)e->a[0]))->sentence);
}

/* Newlines part the lines of details, and a tab what stands on an arrow from what stands beside it. */
static void put_text(FILE *f, const char *text)
{
	char line[2048];
	size_t n = 0;
	const char *at = text;

	fputc('"', f);
	for (;; at++) {
		if (*at != '\0' && *at != '\n' && *at != '\t' && n + 1 < sizeof(line)) {
			line[n++] = *at;
			continue;
		}
		line[n] = '\0';
		n = 0;
		vt_put_json_part(f, line);
		if (*at == '\0')
			break;
		fputs(*at == '\n' ? "\\n" : *at == '\t' ? "\\t" : "", f);
	}
	fputc('"', f);
}

static unsigned flags_of(const struct page *p, size_t k)
{
	const struct ladder_packet *l = &p->view->pkt[k];
	const struct vs_event *e = &p->ev[k];
	unsigned flags = e->inferred ? INFERRED : 0;
	size_t tx = ladder_cause(p->view, k);

	if ((e->type == VS_EV_PKT_RX || e->type == VS_EV_PKT_DROP) && tx != LADDER_NONE &&
	    p->ev[tx].type == VS_EV_PKT_TX)
		flags |= ARRIVED;
	if (e->type != VS_EV_PKT_TX)
		return flags;
	return flags | SENT | (e->a[7] != 0 ? TWICE : 0) | (l->lost != LADDER_NONE ? LOST : 0) |
	       (ladder_unsure(p->view, k) ? UNSURE : 0);
}

static void text_of(const struct page *p, size_t k, char *buf, size_t cap)
{
	size_t n;

	buf[0] = '\0';
	if (p->ev[k].type != VS_EV_PKT_TX) {
		if (!ladder_line(p->view, k, true, buf, cap))
			buf[0] = '\0';
		for (char *c = buf; *c != '\0'; c++)
			*c = *c == '\t' || *c == '\n' ? ' ' : *c;
		return;
	}
	ladder_label(p->view, k, "\xe2\x86\x92", buf, cap);
	n = strlen(buf);
	if (n + 2 >= cap)
		return;
	ladder_beside(p->view, k, true, buf + n + 1, cap - n - 1);
	for (char *c = buf + n + 1; *c != '\0'; c++)
		*c = *c == '\t' || *c == '\n' ? ' ' : *c;
	if (buf[n + 1] != '\0')
		buf[n] = '\t';
}

static long long index_of(const struct page *p, size_t i)
{
	return i == VT_NONE || p->shown[i] == VT_NONE ? -1 : (long long)p->shown[i];
}

static void put_event(const struct page *p, size_t k)
{
	const struct vt_model *m = p->m;
	const struct vs_event *e = &p->ev[k];
	size_t i = p->model[k], node = vt_find_node(m, e->node);
	char text[2 * LADDER_TEXT], more[2048];

	text_of(p, k, text, sizeof(text));
	detail(more, sizeof(more), e);
	fprintf(p->f, "%s\n[%" PRIu64 ",%" PRIu64 ",%lld,%lld,", k > 0 ? "," : "", e->seq, vt_time(m, i),
		node == VT_NONE || m->node[node].wire ? -1 : (long long)node,
		m->qp_of[i] == UINT32_MAX ? -1 : (long long)m->qp_of[i]);
	vt_put_json(p->f, vs_event_info((enum vs_event_type)e->type)->name);
	fputc(',', p->f);
	put_text(p->f, text);
	fprintf(p->f, ",%lld,%lld,%lld,%u,%u,", index_of(p, m->cause[i]),
		m->pkt_of[i] == VT_NONE ? -1 : (long long)m->pkt_of[i],
		m->op_of[i] == VT_NONE ? -1 : (long long)m->op_of[i], (unsigned)ladder_look(p->view, k),
		flags_of(p, k));
	put_text(p->f, more);
	fputc(']', p->f);
}

/* ---- the whole ---- */

static void put_data(const struct page *p)
{
	const struct vt_model *m = p->m;
	const char *missing[8];
	size_t n = vt_missing(m, missing, 8);
	char text[160];

	fputs("{\"title\":", p->f);
	vt_put_json(p->f, m->path);
	fputs(",\"missing\":[", p->f);
	for (size_t i = 0; i < n; i++) {
		fputs(i > 0 ? "," : "", p->f);
		vt_put_json(p->f, missing[i]);
	}
	fputs("],\n\"nodes\":[", p->f);
	for (size_t i = 0; i < m->n_nodes; i++) {
		fputs(i > 0 ? "," : "", p->f);
		vt_put_json(p->f, m->node[i].title);
	}
	fputs("],\n\"qps\":[", p->f);
	for (size_t i = 0; i < m->n_qps; i++) {
		fprintf(p->f, "%s\n{\"n\":%u,\"p\":%lld,\"t\":", i > 0 ? "," : "", m->qp[i].node,
			m->qp[i].peer == VT_NONE ? -1 : (long long)m->qp[i].peer);
		vt_put_json(p->f, vt_qp_text(m, i, text, sizeof(text)));
		fputc('}', p->f);
	}
	fputs("],\n\"ops\":[", p->f);
	for (size_t i = 0; i < m->n_ops; i++) {
		fprintf(p->f, "%s\n{\"n\":%zu,\"t\":", i > 0 ? "," : "", i + 1);
		vt_put_json(p->f, vt_op_text(m, i, text, sizeof(text)));
		fputc('}', p->f);
	}
	fputs("],\n\"pk\":[", p->f);
	for (size_t i = 0; i < m->n_pkts; i++)
		fprintf(p->f, "%s[%lld,%lld]", i > 0 ? "," : "", index_of(p, m->pkt[i].tx),
			index_of(p, m->pkt[i].rx != VT_NONE            ? m->pkt[i].rx
				    : m->pkt[i].flags & VT_PKT_DROPPED ? m->pkt[i].fate
								       : VT_NONE));
	fputs("],\n\"ev\":[", p->f);
	for (size_t k = 0; k < p->n; k++)
		put_event(p, k);
	fputs("\n]}", p->f);
}

static bool prepare(struct page *p, const struct vt_options *o)
{
	const struct vt_model *m = p->m;

	p->ev = malloc((m->n_events + 1) * sizeof(*p->ev));
	p->model = malloc((m->n_events + 1) * sizeof(*p->model));
	p->shown = malloc((m->n_events + 1) * sizeof(*p->shown));
	if (p->ev == NULL || p->model == NULL || p->shown == NULL)
		return false;
	for (size_t i = 0; i < m->n_events; i++) {
		p->shown[i] = VT_NONE;
		if (!vt_selected(m, o, i))
			continue;
		p->shown[i] = p->n;
		p->model[p->n] = i;
		p->ev[p->n++] = m->ev[i];
	}
	return true;
}

bool vt_export_html(const struct vt_model *m, const struct vt_options *o, FILE *f)
{
	static const char place[] = "@TRACE@";
	struct ladder_view view = {.n = 0};
	struct page p = {.m = m, .f = f, .view = &view};
	bool ok = prepare(&p, o) && ladder_view_init(&view, p.ev, p.n, NULL);

	for (size_t i = 0; ok && vt_page_line[i] != NULL; i++) {
		const char *at = strstr(vt_page_line[i], place);

		if (at == NULL) {
			fputs(vt_page_line[i], f);
			continue;
		}
		fwrite(vt_page_line[i], 1, (size_t)(at - vt_page_line[i]), f);
		put_data(&p);
		fputs(at + strlen(place), f);
	}
	ladder_view_free(&view);
	free(p.ev);
	free(p.model);
	free(p.shown);
	return ok;
}
