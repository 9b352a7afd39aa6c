/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * diff.c - vs-trace diff: the first event in which two runs part.
 *
 * Threads and hosts interleave differently from run to run, so each queue pair, and what a node does outside of any, is
 * compared for itself: the first of one run with the first of the other, and so on. Of all differences the earliest
 * counts, since what comes later may follow from it.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "canon.h"
#include "trace.h"

#define CMD "diff"
#define BEFORE 3u /* events that are shown before the difference */

/* What one actor did: places of events. */
struct strand {
	size_t *at;
	size_t n, cap;
};

struct side {
	struct vt_model *m;
	struct vt_canon canon;
	char (*text)[VT_CANON_TEXT]; /* by event */
	struct strand *strand;
	size_t n; /* strands */
};

struct difference {
	size_t strand, place; /* the place in the strand where they part */
	uint64_t t_ns;
	bool found, swapped; /* swapped: it is a strand of the second run, which the first has not */
};

static int help(void)
{
	fputs("usage: vs-trace diff [options] TRACE TRACE\n\n"
	      "Finds the first event in which two runs part. Times, queue pair numbers, keys, addresses and PSNs, "
	      "which\n"
	      "differ in any case, are not compared.\n\n"
	      "  --json   one JSON object\n"
	      "  -o FILE  write there; default: standard output\n\n"
	      "Exit code: 0 no difference, 1 one, 2 usage or environment.\n",
	      stdout);
	return vt_flush(CMD);
}

/* ---- strands ---- */

/* Number of the strand of an event: those of nodes first, then those of queue pairs, each in order of appearance. */
static size_t strand_of(const struct vt_model *m, size_t i)
{
	size_t node;

	if (m->qp_of[i] != UINT32_MAX)
		return m->n_nodes + m->qp_of[i];
	node = vt_find_node(m, m->ev[i].node);
	return node == VT_NONE ? 0 : node;
}

static bool append(struct strand *s, size_t i)
{
	void *array = s->at;

	if (!vt_room(&array, &s->cap, s->n, sizeof(*s->at)))
		return false;
	s->at = array;
	s->at[s->n++] = i;
	return true;
}

static bool prepare(struct side *s)
{
	const struct vt_model *m = s->m;
	bool ok;

	s->canon.m = m;
	s->n = m->n_nodes + m->n_qps;
	s->strand = calloc(s->n + 1, sizeof(*s->strand));
	s->text = malloc((m->n_events + 1) * sizeof(*s->text));
	ok = s->strand != NULL && s->text != NULL;
	for (size_t i = 0; ok && i < m->n_events; i++) {
		if (vt_canon_passes_over(&m->ev[i]))
			continue;
		vt_canon_text(&s->canon, i, s->text[i]);
		ok = append(&s->strand[strand_of(m, i)], i);
	}
	return ok;
}

static void side_free(struct side *s)
{
	for (size_t i = 0; s->strand != NULL && i < s->n; i++)
		free(s->strand[i].at);
	free(s->strand);
	free(s->text);
	vt_canon_free(&s->canon);
	vt_model_free(s->m);
}

/* ---- comparing ---- */

/* The strand of the other side that belongs to strand i: the node with that name, the n-th queue pair. NULL: none. */
static const struct strand *partner(const struct side *a, const struct side *b, size_t i)
{
	size_t node;

	if (i < a->m->n_nodes) {
		node = vt_find_node(b->m, a->m->node[i].name);
		if (node == VT_NONE && i < b->m->n_nodes && vt_find_node(a->m, b->m->node[i].name) == VT_NONE)
			node = i; /* another name for the same place: an address */
		return node != VT_NONE ? &b->strand[node] : NULL;
	}
	i -= a->m->n_nodes;
	return i < b->m->n_qps ? &b->strand[b->m->n_nodes + i] : NULL;
}

static uint64_t time_at(const struct side *s, const struct strand *k, size_t place)
{
	return k != NULL && place < k->n ? vt_time(s->m, k->at[place]) : UINT64_MAX;
}

/* `swapped`: a is the second run, of which those strands count that the first has not. */
static void compare(const struct side *a, const struct side *b, size_t i, bool swapped, struct difference *d)
{
	const struct strand *x = &a->strand[i], *y = partner(a, b, i);
	size_t n = y != NULL ? y->n : 0, k = 0;
	uint64_t t, u;

	while (k < x->n && k < n && strcmp(a->text[x->at[k]], b->text[y->at[k]]) == 0)
		k++;
	if ((k == x->n && k == n) || (swapped && y != NULL))
		return;
	t = time_at(a, x, k);
	u = time_at(b, y, k);
	t = t < u ? t : u;
	if (!d->found || t < d->t_ns)
		*d = (struct difference){i, k, t, true, swapped};
}

/* ---- showing ---- */

static void put_event(const struct side *s, size_t i, FILE *f)
{
	fprintf(f, "%12.2f  #%-6llu ", (double)vt_time(s->m, i) / 1000, (unsigned long long)s->m->ev[i].seq);
	vt_put_padded(f, s->m->ev[i].node, 9);
	vs_cli_put_safe(f, s->text[i]);
	fputc('\n', f);
}

/* The causes of an event, the first one first. */
static void put_causes(const struct side *s, size_t i, FILE *f)
{
	size_t chain[16], n = 0;

	for (size_t c = s->m->cause[i]; c != VT_NONE && n < 16; c = s->m->cause[c])
		chain[n++] = c;
	if (n == 0)
		return;
	fputs("    it follows from\n", f);
	while (n-- > 0)
		if (!vt_canon_passes_over(&s->m->ev[chain[n]]))
			put_event(s, chain[n], f);
}

static void put_side(const char *name, const struct side *s, const struct strand *k, size_t place, FILE *f)
{
	fputs("  ", f);
	vs_cli_put_safe(f, name);
	if (k == NULL || place >= k->n) {
		fputs(": nothing more\n", f);
		return;
	}
	fputs(":\n", f);
	put_event(s, k->at[place], f);
	put_causes(s, k->at[place], f);
}

static const char *where(const struct side *s, const struct difference *d, char *buf, size_t cap)
{
	if (d->strand < s->m->n_nodes)
		return s->m->node[d->strand].title;
	return vt_qp_text(s->m, d->strand - s->m->n_nodes, buf, cap);
}

/* The strand in both runs; NULL where a run has none. */
static void strands(const struct side *a, const struct side *b, const struct difference *d, const struct strand *k[2])
{
	k[0] = d->swapped ? NULL : &a->strand[d->strand];
	k[1] = d->swapped ? &b->strand[d->strand] : partner(a, b, d->strand);
}

static void put_text(const struct side *a, const struct side *b, const struct difference *d, FILE *f)
{
	const struct strand *k[2];
	char text[128];

	if (!d->found) {
		fprintf(f, "the same: %zu events, %zu queue pairs\n", a->m->n_events, a->m->n_qps);
		return;
	}
	strands(a, b, d, k);
	fputs("the first difference: ", f);
	vs_cli_put_safe(f, where(d->swapped ? b : a, d, text, sizeof(text)));
	fprintf(f, ", after %zu events that are the same\n", d->place);
	for (size_t i = d->place > BEFORE ? d->place - BEFORE : 0; i < d->place; i++)
		put_event(a, k[0]->at[i], f);
	put_side(a->m->path, a, k[0], d->place, f);
	put_side(b->m->path, b, k[1], d->place, f);
}

static void put_json_side(const struct side *s, const struct strand *k, size_t place, FILE *f)
{
	if (k == NULL || place >= k->n) {
		fputs("null", f);
		return;
	}
	fprintf(f, "{\"seq\":%llu,\"t\":\"%llu\",\"node\":", (unsigned long long)s->m->ev[k->at[place]].seq,
		(unsigned long long)vt_time(s->m, k->at[place]));
	vt_put_json(f, s->m->ev[k->at[place]].node);
	fputs(",\"event\":", f);
	vt_put_json(f, s->text[k->at[place]]);
	fputs("}", f);
}

static void put_json(const struct side *a, const struct side *b, const struct difference *d, FILE *f)
{
	const struct strand *k[2];
	char text[128];

	fprintf(f, "{\"same\":%s", d->found ? "false" : "true");
	if (d->found) {
		strands(a, b, d, k);
		fputs(",\"where\":", f);
		vt_put_json(f, where(d->swapped ? b : a, d, text, sizeof(text)));
		fprintf(f, ",\"same_events\":%zu,\"a\":", d->place);
		put_json_side(a, k[0], d->place, f);
		fputs(",\"b\":", f);
		put_json_side(b, k[1], d->place, f);
	}
	fputs("}\n", f);
}

static int show(struct side *a, struct side *b, const char *path, bool json)
{
	struct difference d = {.found = false};
	struct vs_cli_file out;
	int rc;

	if (!prepare(a) || !prepare(b))
		return vt_fail(CMD, "no memory");
	for (size_t i = 0; i < a->n; i++)
		compare(a, b, i, false, &d);
	for (size_t i = 0; i < b->n; i++)
		compare(b, a, i, true, &d);
	if (!vt_file_open(&out, CMD, path))
		return VT_USAGE;
	(json ? put_json : put_text)(a, b, &d, out.f);
	rc = vs_cli_file_close(&out);
	return rc != VT_OK ? rc : d.found ? VT_FINDING : VT_OK;
}

int vt_diff(int argc, char **argv)
{
	static const struct option options[] = {
		{"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {0}};
	struct side a = {0}, b = {0};
	const char *path = NULL;
	bool json = false;
	int opt, rc = VT_USAGE;

	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":ho:", options, NULL)) != -1) {
		if (opt == 'h')
			return help();
		if (opt == 'j')
			json = true;
		else if (opt == 'o')
			path = optarg;
		else
			return vt_bad_option(CMD, argv, opt);
	}
	if (argc - optind != 2)
		return vt_fail(CMD, "two traces, please: 'vs-trace diff --help' shows how it is called");
	a.m = vt_open(CMD, optind + 1, argv, optind, NULL);
	b.m = a.m != NULL ? vt_open(CMD, optind + 2, argv, optind + 1, NULL) : NULL;
	if (b.m == NULL)
		rc = vt_not_open();
	else
		rc = show(&a, &b, path, json);
	side_free(&a);
	side_free(&b);
	return rc;
}
