/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * mermaid.c - an exchange as a sequence diagram for documents (mermaid.js.org, "sequenceDiagram"). Its arrows have no
 * scale of time, so times in which nothing happens are notes.
 */
#include "internal.h"

#define QUIET_NS 1000000u

struct diagram {
	struct ladder_view view;
	FILE *out;
};

/* Text without what Mermaid takes for its own: it knows #code; for characters. */
static void put(const struct diagram *d, const char *text)
{
	for (; *text != '\0'; text++) {
		unsigned char c = (unsigned char)*text;

		if (c < 0x20 || c >= 0x7f)
			fputc('?', d->out);
		else if (strchr("#;<>&\"%{}[]`\\", c) != NULL)
			fprintf(d->out, "#%u;", c);
		else
			fputc(c, d->out);
	}
}

static void put_idle(const struct diagram *d, uint64_t ns)
{
	char text[32];

	if (ns < QUIET_NS || d->view.nodes < 1)
		return;
	ladder_duration(ns, text, sizeof(text));
	fprintf(d->out, "    Note over N0%s: %s later\n", d->view.nodes > 1 ? ",N1" : "", text);
}

static void put_note(const struct diagram *d, size_t i, const char *text)
{
	int lane = ladder_lane(&d->view, d->view.ev[i].node);

	if (lane < 0)
		fprintf(d->out, "    Note over N0: ");
	else
		fprintf(d->out, "    Note %s N%d: ", lane == 0 ? "left of" : "right of", lane);
	put(d, text);
	fputc('\n', d->out);
}

static void put_arrow(const struct diagram *d, size_t i)
{
	const struct ladder_view *v = &d->view;
	const struct ladder_packet *p = &v->pkt[i];
	int from = ladder_lane(v, v->ev[i].node), to = ladder_other(v, i);
	bool lost = p->lost != LADDER_NONE || ladder_unsure(v, i);
	char text[LADDER_TEXT], beside[LADDER_TEXT];

	if (from < 0 || to < 0)
		return;
	ladder_label(v, i, "completes", text, sizeof(text));
	ladder_beside(v, i, true, beside, sizeof(beside));
	fprintf(d->out, "    N%d%s%sN%d: ", from, v->ev[i].inferred ? "--" : "-", lost ? "x" : ">>", to);
	put(d, text);
	if (beside[0] != '\0') {
		fputs(" (", d->out);
		put(d, beside);
		fputs(")", d->out);
	}
	fputc('\n', d->out);
}

static void put_one(const struct diagram *d, size_t i)
{
	char text[LADDER_TEXT];

	if (d->view.ev[i].type == VS_EV_PKT_TX)
		put_arrow(d, i);
	else if (ladder_note(&d->view, i, text, sizeof(text)))
		put_note(d, i, text);
}

/* A run of what is alike; the index of its last event. */
static size_t put_run(const struct diagram *d, size_t i)
{
	size_t n = ladder_run(&d->view, i, true), first = i, done = 0;
	bool fold = n > 2 * LADDER_RUN + 1;

	for (; done < n; i++) {
		if (i != first && !ladder_alike(&d->view, first, i))
			continue;
		if (!fold || done < LADDER_RUN || done >= n - LADDER_RUN)
			put_one(d, i);
		else if (done == LADDER_RUN)
			fprintf(d->out, "    Note over N0: %zu more like that\n", n - (size_t)2 * LADDER_RUN);
		done++;
	}
	return i - 1;
}

void vs_ladder_mermaid(const struct vs_event *ev, size_t n, const struct vs_ladder_options *opt, FILE *out)
{
	struct diagram d = {.out = out};
	uint64_t last = n > 0 ? ev[0].t_ns : 0;

	fputs("sequenceDiagram\n", out);
	if (!ladder_view_init(&d.view, ev, n, opt != NULL ? opt->other : NULL)) {
		fputs("    %% no memory\n", out);
		return;
	}
	for (unsigned i = 0; i < d.view.nodes; i++) {
		fprintf(out, "    participant N%u as ", i);
		put(&d, ladder_title(&d.view, opt, i));
		fputc('\n', out);
	}
	for (size_t i = 0; i < n; i++) {
		bool run = ladder_folds(&d.view, i);
		char text[LADDER_TEXT];

		if (!run && !ladder_line(&d.view, i, true, text, sizeof(text)))
			continue;
		put_idle(&d, ev[i].t_ns > last ? ev[i].t_ns - last : 0);
		if (run)
			i = put_run(&d, i);
		else
			put_note(&d, i, text);
		last = ev[i].t_ns;
	}
	ladder_view_free(&d.view);
}
