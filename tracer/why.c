/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * why.c - `vs-trace why`: the causes of what went wrong, the surest first, with the evidence for and against each, the
 * rule behind it and what to try.
 */
#include <getopt.h>
#include <jansson.h>
#include <string.h>

#include "vs/opcode.h"
#include "vs/wire.h"
#include "why.h"

#define CMD "why"
#define CHAIN 12 /* causes of causes that are followed */
#define SHOWN 3  /* causes in text; --all: every one that is not ruled out */

static const char usage[] =
	"usage: vs-trace why [options] TRACE\n"
	"\n"
	"Says why a request failed, did not complete, or was slow: the first thing that went wrong, or what is asked "
	"about.\n"
	"\n"
	"  --message N       the N-th operation of the trace, as 'vs-trace story' counts\n"
	"  --cqe N           the N-th completion with an error\n"
	"  --all             every cause that is possible, and those that are ruled out\n"
	"  --json            for programs\n"
	"  --help\n"
	"Exit codes: 0 nothing went wrong, 1 there is an answer, 2 usage or environment, 127 nothing is known.\n";

struct asked {
	uint64_t message, cqe; /* 0: not asked */
	bool all, json;
};

enum { OPT_MESSAGE = 256, OPT_CQE, OPT_ALL, OPT_JSON };

static const struct option options[] = {{"message", required_argument, NULL, OPT_MESSAGE},
					{"cqe", required_argument, NULL, OPT_CQE},
					{"all", no_argument, NULL, OPT_ALL},
					{"json", no_argument, NULL, OPT_JSON},
					{"help", no_argument, NULL, 'h'},
					{NULL, 0, NULL, 0}};

static const char *sure(int score)
{
	return score >= WHY_CERTAIN  ? "certain"
	       : score >= WHY_LIKELY ? "likely"
	       : score > WHY_OUT     ? "possible"
				     : "no sign of it";
}

/* ---- what it is about ---- */

/* Verbs tell what a queue pair is; packets say it themselves. */
static bool unreliable(const struct vt_model *m, const struct vt_op *o)
{
	enum vs_transport t;

	if (o->first_tx == VT_NONE)
		return m->qp[o->qp].type == VS_QPT_UD || m->qp[o->qp].type == VS_QPT_UC;
	t = vs_opcode_transport((uint8_t)m->ev[o->first_tx].a[0]);
	return (t == VS_TRANSPORT_UD || t == VS_TRANSPORT_UC) && m->ev[o->first_tx].a[2] != VS_QPN_GSI;
}

/* Messages over UD and UC of which nothing shows that they arrived: nobody acknowledges them. */
static size_t unacknowledged(const struct vt_model *m)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n_ops; i++) {
		const struct vt_op *o = &m->op[i];
		bool shown = o->recv != VT_NONE || (o->arrived != VT_NONE && !(o->flags & VT_OP_INFERRED));

		n += unreliable(m, o) && !(o->flags & VT_OP_RECV) && !shown;
	}
	return n;
}

static void nothing_text(const struct why *w, char *buf, size_t cap)
{
	size_t n = unacknowledged(w->m);

	if (n == 0)
		(void)snprintf(buf, cap, "nothing in this trace went wrong");
	else
		(void)snprintf(
			buf, cap,
			"nothing in this trace went wrong, but it does not show whether %zu %s over UD or UC arrived: "
			"SUCCESS at the sender means that it left; record the receiver, too",
			n, n == 1 ? "message" : "messages");
}

static void symptom_text(const struct why *w, char *buf, size_t cap)
{
	char op[128] = "", qp[96], name[64] = "";
	const struct vs_event *e = w->subject != VT_NONE ? &w->m->ev[w->subject] : NULL;

	if (w->op != VT_NONE)
		(void)vt_op_text(w->m, w->op, op, sizeof(op));
	else if (e != NULL)
		(void)snprintf(op, sizeof(op), "%s", vs_event_info((enum vs_event_type)e->type)->name);
	(void)why_end_text(w, &w->me, qp, sizeof(qp));
	switch (w->symptom) {
	case WHY_CQE:
		(void)snprintf(buf, cap, "%s on %s failed: %s", op, qp,
			       vs_wc_status_name((enum vs_wc_status)w->status));
		break;
	case WHY_CALL:
		if (e == NULL)
			break;
		(void)snprintf(name, sizeof(name), "%s", vs_event_info((enum vs_event_type)e->type)->name);
		(void)snprintf(
			buf, cap, "%s on %s was refused: %s", strncmp(name, "verb:", 5) == 0 ? name + 5 : name, qp,
			strerror(why_arg(w, w->subject, "ret") < 4096 ? (int)why_arg(w, w->subject, "ret") : 22));
		break;
	case WHY_ASYNC:
		(void)snprintf(buf, cap, "%s reported %s", qp, vs_async_name((enum vs_async_type)w->status));
		break;
	case WHY_NO_CQE:
		(void)snprintf(buf, cap, "%s on %s did not complete", op, qp);
		break;
	case WHY_CONNECTION:
		(void)snprintf(buf, cap, "the connection of %s did not come up", qp);
		break;
	case WHY_SLOW:
		(void)snprintf(buf, cap, "nothing failed, but %s on %s was not smooth", op, qp);
		break;
	case WHY_WOKEN:
		(void)snprintf(buf, cap, "%s on %s was done", op, qp);
		break;
	case WHY_NOTHING:
		nothing_text(w, buf, cap);
		break;
	}
}

/* ---- text ---- */

static void print_verdict(const struct why_verdict *v, unsigned n)
{
	const struct vt_cause_info *c = vt_cause_info(v->cause);

	printf("%3u. %s [%s, %s]\n", n, c->text, c->id, sure(v->score));
	for (unsigned i = 0; i < v->n_for; i++) {
		fputs("     for      ", stdout);
		vs_cli_put_safe(stdout, v->pro[i]);
		putchar('\n');
	}
	for (unsigned i = 0; i < v->n_against; i++) {
		fputs("     against  ", stdout);
		vs_cli_put_safe(stdout, v->con[i]);
		putchar('\n');
	}
	if (c->rule[0] != '\0')
		printf("     rule     %s\n", c->rule);
	printf("     try      %s\n", c->advice);
}

static void print_ruled_out(const struct why *w, bool all)
{
	for (size_t i = 0; i < w->n_v; i++) {
		const struct why_verdict *v = &w->v[i];

		if (v->n_against == 0 || v->score > WHY_OUT)
			continue;
		printf("     not %s: ", vt_cause_info(v->cause)->id);
		vs_cli_put_safe(stdout, v->con[0]);
		putchar('\n');
		if (!all && i > 24)
			break;
	}
}

/* From the first cause to the symptom: what led to what. */
static void print_chain(const struct why *w)
{
	size_t chain[CHAIN], n = 0;

	for (size_t i = w->subject; i != VT_NONE && n < CHAIN; i = w->m->cause[i])
		chain[n++] = i;
	for (size_t i = n; n > 1 && i > 0; i--) {
		const struct vs_event *e = &w->m->ev[chain[i - 1]];
		const struct vs_event_info *info = vs_event_info((enum vs_event_type)e->type);
		size_t pkt = w->m->pkt_of[chain[i - 1]];
		char buf[160];

		printf("  %s %8.3f us  ", i == n ? "chain " : "      ", (double)vt_time(w->m, chain[i - 1]) / 1e3);
		vs_cli_put_safe(stdout, e->node);
		printf(" %s", info->name);
		for (unsigned a = 0; a < info->nargs && a < 2; a++) {
			fputs(a == 0 ? " " : ", ", stdout);
			printf("%s ", info->args[a].name);
			vs_cli_put_safe(stdout, vt_arg_text(e, a, buf, sizeof(buf)));
		}
		if ((e->type == VS_EV_PKT_TX || e->type == VS_EV_PKT_RX) && e->a[4] != VS_SYN_NONE)
			printf(", %s", vt_arg_text(e, 4, buf, sizeof(buf)));
		if (pkt != VT_NONE && w->m->pkt[pkt].frame != 0)
			printf(" (frame %u)", w->m->pkt[pkt].frame);
		putchar('\n');
	}
}

static void print_notes(const struct why *w)
{
	const char *missing[4];
	size_t n = vt_missing(w->m, missing, 4);

	for (size_t i = 0; i < w->m->n_events; i++) {
		const struct vs_event *e = &w->m->ev[i];
		bool inject = e->type == VS_EV_FAULT_INJECT;

		if (!inject && e->type != VS_EV_REC_LOST &&
		    (e->type != VS_EV_REC_END || strcmp(why_text_arg(w, i, "how"), "in order") == 0))
			continue;
		fputs("note: ", stdout);
		vs_cli_put_safe(stdout, e->node);
		fputs(inject ? ": --inject " : ": ", stdout);
		vs_cli_put_safe(stdout, why_text_arg(w, i,
						     inject                      ? "rule"
						     : e->type == VS_EV_REC_LOST ? "why"
										 : "how"));
		putchar('\n');
	}
	for (size_t i = 0; i < n; i++)
		printf("note: %s\n", missing[i]);
	if (w->more > 0)
		printf("note: %zu more calls or completions failed; 'vs-trace why --cqe N' asks about the N-th\n",
		       w->more);
}

static void print_text(const struct why *w, const struct asked *a)
{
	char what[320];
	unsigned n = 0;

	symptom_text(w, what, sizeof(what));
	vs_cli_put_safe(stdout, what);
	if (w->subject != VT_NONE)
		printf(" (event %llu, at %.3f us)", (unsigned long long)w->m->ev[w->subject].seq,
		       (double)vt_time(w->m, w->subject) / 1e3);
	putchar('\n');
	for (size_t i = 0; i < w->n_v && (a->all || n < SHOWN); i++)
		if (w->v[i].score > WHY_OUT && (a->all || n == 0 || w->v[i].score * 3 > w->v[0].score))
			print_verdict(&w->v[i], ++n);
	if (n == 0 && w->symptom != WHY_NOTHING)
		puts("  the trace does not tell why: record both ends, with their packets");
	if (w->symptom != WHY_NOTHING)
		print_ruled_out(w, a->all);
	print_chain(w);
	print_notes(w);
}

/* ---- JSON ---- */

static json_t *lines(const char (*line)[200], unsigned n)
{
	json_t *o = json_array();

	for (unsigned i = 0; i < n; i++) {
		json_t *text = json_string(line[i]);

		(void)json_array_append_new(o, text != NULL ? text : json_string("(not UTF-8)"));
	}
	return o;
}

static void print_json(const struct why *w)
{
	json_t *o, *causes = json_array();
	char what[320];

	symptom_text(w, what, sizeof(what));
	for (size_t i = 0; i < w->n_v; i++) {
		const struct why_verdict *v = &w->v[i];
		const struct vt_cause_info *c = vt_cause_info(v->cause);

		if (v->score == WHY_OUT && v->n_against == 0)
			continue;
		(void)json_array_append_new(
			causes, json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:o}", "id", c->id, "text", c->text, "sure",
					  v->score == WHY_OUT ? "ruled out" : sure(v->score), "rule", c->rule, "try",
					  c->advice, "for", lines((const char(*)[200])v->pro, v->n_for), "against",
					  lines((const char(*)[200])v->con, v->n_against)));
	}
	o = json_pack("{s:s, s:o}", "symptom", what, "causes", causes);
	if (o != NULL && w->subject != VT_NONE)
		(void)json_object_set_new(o, "event", json_integer((json_int_t)w->m->ev[w->subject].seq));
	(void)json_dumpf(o, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(o);
}

/* ---- the command ---- */

static int parse(int argc, char **argv, struct asked *a)
{
	int opt;

	optind = 1;
	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		switch (opt) {
		case 'h':
			fputs(usage, stdout);
			return vt_flush(CMD);
		case OPT_MESSAGE:
		case OPT_CQE:
			if (!vs_cli_number(optarg, 0, UINT32_MAX, opt == OPT_CQE ? &a->cqe : &a->message) ||
			    optarg[0] == '0')
				return vt_fail(CMD, "%s: write a number from 1 on", optarg);
			break;
		case OPT_ALL:
			a->all = true;
			break;
		case OPT_JSON:
			a->json = true;
			break;
		default:
			return vt_bad_option(CMD, argv, opt);
		}
	}
	return -1;
}

/* False: there is no such thing, said. */
static bool aim(struct why *w, const struct asked *a)
{
	uint64_t n = 0;

	if (a->message > 0 && a->message <= w->m->n_ops) {
		why_about_op(w, (size_t)a->message - 1);
		return true;
	}
	if (a->message > 0) {
		vt_complain(CMD, "--message %llu: there are %zu", (unsigned long long)a->message, w->m->n_ops);
		return false;
	}
	if (a->cqe == 0) {
		why_find(w);
		return true;
	}
	for (size_t i = 0; i < w->m->n_events; i++)
		if (w->m->ev[i].type == VS_EV_CQE && w->m->ev[i].a[0] != VS_WC_SUCCESS && ++n == a->cqe) {
			why_about_event(w, i);
			return true;
		}
	vt_complain(CMD, "--cqe %llu: there are %llu completions with an error", (unsigned long long)a->cqe,
		    (unsigned long long)n);
	return false;
}

int vt_why(int argc, char **argv)
{
	static struct why w; /* much of it is zero */
	struct asked a = {0};
	struct vt_model *m;
	int rc = parse(argc, argv, &a);
	bool known;

	if (rc >= 0)
		return rc;
	m = vt_open(CMD, argc, argv, optind, NULL);
	if (m == NULL)
		return vt_not_open();
	memset(&w, 0, sizeof(w));
	w.m = m;
	w.subject = w.op = VT_NONE;
	if (!aim(&w, &a)) {
		vt_model_free(m);
		return VT_NOTHING;
	}
	if (!why_gather(&w) || !why_judge(&w)) {
		why_free(&w);
		vt_model_free(m);
		return vt_fail(CMD, "no memory");
	}
	known = w.n_v > 0 && w.v[0].score > WHY_OUT;
	if (a.json)
		print_json(&w);
	else
		print_text(&w, &a);
	rc = vt_flush(CMD) != VT_OK ? VT_USAGE : w.symptom == WHY_NOTHING ? VT_OK : known ? VT_FINDING : VT_NOTHING;
	why_free(&w);
	vt_model_free(m);
	return rc;
}
