/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* text.c - ladders for terminals: one line for each thing that happened. */
#include "vs/ladder.h"

#include <stdlib.h>
#include <string.h>

#include "event/internal.h"
#include "vs/cm.h"

#define MAX_NODES 16u
#define TEXT 200u
#define USUAL_WIDTH 56u
#define QUIET_NS 1000000u /* idle for longer is said */
#define RUN_SHOWN 2u      /* of a run of alike packets: so many at each end */

struct ladder {
	const struct vs_event *ev;
	size_t n;
	const struct vs_ladder_options *opt;
	FILE *out;
	unsigned width, nodes;
	const char *node[MAX_NODES];
	uint64_t start_ns, last_ns;
	bool any; /* a line was drawn */
};

/* ---- what an event says ---- */

static void word(const struct vs_event *e, unsigned arg, char *buf, size_t cap)
{
	const struct vs_event_arg *a = &vs_event_info((enum vs_event_type)e->type)->args[arg];
	char space[32];
	const char *w;

	if (a->kind == VS_ARG_STR) {
		(void)snprintf(buf, cap, "%.*s", (int)cap - 1,
			       e->a[arg] != 0 ? (const char *)(uintptr_t)e->a[arg] : "");
		return;
	}
	w = vs_event_word(a->kind, e->a[arg], space);
	if (w != NULL)
		(void)snprintf(buf, cap, "%s", w);
	else
		(void)snprintf(buf, cap, a->kind == VS_ARG_X ? "0x%llx" : "%llu", (unsigned long long)e->a[arg]);
}

static void duration(uint64_t ns, char *buf, size_t cap)
{
	if (ns >= 1000000000)
		(void)snprintf(buf, cap, "%.3g s", (double)ns / 1e9);
	else if (ns >= 1000000)
		(void)snprintf(buf, cap, "%.3g ms", (double)ns / 1e6);
	else
		(void)snprintf(buf, cap, "%.3g us", (double)ns / 1e3);
}

/* The arguments from the first on as name=value; what is 0 or none is left out. */
static void arguments(const struct vs_event *e, unsigned from, char *buf, size_t cap)
{
	const struct vs_event_info *info = vs_event_info((enum vs_event_type)e->type);
	size_t n = 0;

	buf[0] = '\0';
	for (unsigned i = from; i < info->nargs && n < cap; i++) {
		char value[64];

		if (e->a[i] == 0 || (info->args[i].kind == VS_ARG_SYN && e->a[i] == VS_SYN_NONE))
			continue;
		if (info->args[i].kind == VS_ARG_T)
			duration(e->a[i], value, sizeof(value));
		else
			word(e, i, value, sizeof(value));
		n += (size_t)snprintf(buf + n, cap - n, " %s=%s", info->args[i].name, value);
	}
}

static void cqe_text(const struct vs_event *e, char *buf, size_t cap)
{
	char status[40], op[40], why[48] = "";

	word(e, 0, status, sizeof(status));
	word(e, 1, op, sizeof(op));
	if (e->a[0] != 0) {
		word(e, 3, why, sizeof(why));
		(void)snprintf(buf, cap, "wr=%llu completes: %s (%s)", (unsigned long long)e->wr_id, status, why);
	} else {
		(void)snprintf(buf, cap, "wr=%llu %s completes: SUCCESS", (unsigned long long)e->wr_id, op);
	}
}

static void post_text(const struct vs_event *e, const char *call, unsigned len_arg, char *buf, size_t cap)
{
	char op[40] = "";

	if (len_arg > 0)
		word(e, 0, op, sizeof(op));
	(void)snprintf(buf, cap, "%s wr=%llu%s%s %llu bytes%s", call, (unsigned long long)e->wr_id,
		       op[0] != '\0' ? " " : "", op, (unsigned long long)e->a[len_arg],
		       e->a[vs_event_info((enum vs_event_type)e->type)->nargs - 1] != 0 ? ": refused" : "");
}

/* What a node did or what befell it; false: not worth a line. */
static bool note(const struct vs_event *e, char *buf, size_t cap)
{
	const char *name = vs_event_info((enum vs_event_type)e->type)->name, *colon = strchr(name, ':');
	char a[80], b[80];

	switch ((enum vs_event_type)e->type) {
	case VS_EV_VERB_POST_SEND:
		post_text(e, "post_send", 1, buf, cap);
		return true;
	case VS_EV_VERB_POST_RECV:
	case VS_EV_VERB_POST_SRQ_RECV:
		post_text(e, "post_recv", 0, buf, cap);
		return true;
	case VS_EV_VERB_MODIFY_QP:
		word(e, 0, a, sizeof(a));
		word(e, 1, b, sizeof(b));
		(void)snprintf(buf, cap, "modify_qp %s to %s%s", a, b, e->a[3] != 0 ? ": refused" : "");
		return true;
	case VS_EV_CQE:
		cqe_text(e, buf, cap);
		return true;
	case VS_EV_QP_STATE:
		word(e, 2, a, sizeof(a));
		if (strcmp(a, "by_user") == 0)
			return false;
		word(e, 1, b, sizeof(b));
		(void)snprintf(buf, cap, "QP goes to %s (%s)", b, a);
		return true;
	case VS_EV_MARK:
		word(e, 0, a, sizeof(a));
		(void)snprintf(buf, cap, "-- %s --", a);
		return true;
	case VS_EV_VERB_POLL_CQ:
	case VS_EV_VERB_CREATE_QP:
	case VS_EV_VERB_REG_MR:
	case VS_EV_PKT_TX:
	case VS_EV_PKT_RX:
	case VS_EV_CM_TX:
	case VS_EV_CM_RX:
	case VS_EV_WQE_FETCH:
	case VS_EV_WQE_TAKE:
		return false;
	default:
		break;
	}
	if (strncmp(name, "dma:", 4) == 0 || strncmp(name, "fault:", 6) == 0)
		return false;
	arguments(e, 0, a, sizeof(a));
	(void)snprintf(buf, cap, "%s%s", strncmp(name, "verb:", 5) == 0 && colon != NULL ? colon + 1 : name, a);
	return true;
}

/* "CM REQ": the message that caused the packet, when the connection manager sent it. */
static bool cm_message(const struct ladder *l, const struct vs_event *e, char *buf, size_t cap)
{
	const struct vs_event *cause;
	const struct vs_cm_info *info;

	if (e->cause < l->ev[0].seq || e->cause - l->ev[0].seq >= l->n)
		return false;
	cause = &l->ev[e->cause - l->ev[0].seq];
	if (cause->type != VS_EV_CM_TX)
		return false;
	info = vs_cm_info((uint16_t)cause->a[0]);
	(void)snprintf(buf, cap, "CM %s", info != NULL ? info->abbrev : "message");
	return true;
}

/* What stands on the arrow of a packet. */
static void label(const struct ladder *l, const struct vs_event *e, char *buf, size_t cap)
{
	char opc[48], syn[40] = "", more[80];

	word(e, 0, opc, sizeof(opc));
	(void)cm_message(l, e, opc, sizeof(opc));
	if (e->a[4] != VS_SYN_NONE)
		word(e, 4, syn, sizeof(syn));
	if (syn[0] != '\0' && strcmp(syn, "ACK") != 0 && strcmp(opc, "ACK") == 0)
		(void)snprintf(opc, sizeof(opc), "%s", syn);
	more[0] = '\0';
	if (e->a[5] != 0 && syn[0] != '\0')
		(void)snprintf(more, sizeof(more), " msn=%llu", (unsigned long long)e->a[5]);
	(void)snprintf(buf, cap, "%s %06llx%s%s", opc, (unsigned long long)e->a[1], more,
		       e->a[6] != 0 ? " ackreq" : "");
	if (e->a[3] != 0)
		(void)snprintf(buf + strlen(buf), cap - strlen(buf), " %llu bytes", (unsigned long long)e->a[3]);
	if (e->a[7] != 0)
		(void)snprintf(buf + strlen(buf), cap - strlen(buf), " [retx %llu]", (unsigned long long)e->a[7]);
}

/* ---- lines ---- */

static void safe(FILE *f, const char *text)
{
	for (; *text != '\0'; text++)
		fputc((unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text, f);
}

static void stamp(struct ladder *l, uint64_t t)
{
	char idle[32];

	if (l->any && t > l->last_ns && t - l->last_ns >= QUIET_NS) {
		duration(t - l->last_ns, idle, sizeof(idle));
		fprintf(l->out, "%12s~ %s later ~\n", "", idle);
	}
	fprintf(l->out, "%10.2f  ", (double)(t - l->start_ns) / 1000);
	l->last_ns = t;
	l->any = true;
}

static int lane(const struct ladder *l, const char *node)
{
	for (unsigned i = 0; i < l->nodes; i++)
		if (strcmp(l->node[i], node) == 0)
			return (int)i;
	return -1;
}

static void draw_note(struct ladder *l, const struct vs_event *e, const char *text)
{
	int at = lane(l, e->node);

	stamp(l, e->t_ns);
	if (l->nodes != 2 || at < 0) {
		safe(l->out, e->node);
		fputs(": ", l->out);
		safe(l->out, text);
	} else if (at == 0) {
		int pad = (int)l->width - 1 - (int)strlen(text);

		fputs("o ", l->out);
		safe(l->out, text);
		fprintf(l->out, "%*s%s", pad > 0 ? pad : 0, "", pad >= 0 ? "|" : "");
	} else {
		fprintf(l->out, "|%*so ", (int)l->width, "");
		safe(l->out, text);
	}
	fputc('\n', l->out);
}

/* What became of a packet: NULL: it arrived, or nobody says otherwise. */
static const struct vs_event *fate(const struct ladder *l, size_t i)
{
	for (size_t k = i + 1; k < l->n; k++) {
		const struct vs_event *e = &l->ev[k];

		if (e->pkt_id != l->ev[i].pkt_id || e->pkt_id == 0)
			continue;
		if (e->type == VS_EV_FAULT_DROP || e->type == VS_EV_LINK_QUEUE_DROP)
			return e;
		if (e->type == VS_EV_PKT_RX)
			return NULL;
	}
	return NULL;
}

static void dashes(FILE *f, unsigned n)
{
	while (n-- > 0)
		fputc('-', f);
}

static void draw_arrow(struct ladder *l, size_t i)
{
	const struct vs_event *e = &l->ev[i], *lost = fate(l, i);
	unsigned room = l->width > 10 ? l->width - 10 : 10, len, rest;
	int from = lane(l, e->node);
	char text[TEXT];

	label(l, e, text, sizeof(text));
	stamp(l, e->t_ns);
	if (l->nodes != 2 || from < 0) {
		safe(l->out, e->node);
		fputs(lost != NULL ? " --x " : " --> ", l->out);
		safe(l->out, text);
		fputc('\n', l->out);
		return;
	}
	text[room < sizeof(text) ? room : sizeof(text) - 1] = '\0';
	len = (unsigned)strlen(text);
	rest = l->width - 10 - len;
	fputs(from == 0 ? "|------- " : lost != NULL ? "|  x---- " : "|<------ ", l->out);
	safe(l->out, text);
	fputc(' ', l->out);
	if (from == 0 && lost != NULL) {
		dashes(l->out, rest / 2);
		fprintf(l->out, "x%*s|", (int)(rest - rest / 2), "");
	} else {
		dashes(l->out, from == 0 ? rest : rest + 1);
		fputs(from == 0 ? ">|" : "|", l->out);
	}
	if (lost != NULL)
		fputs(" lost", l->out);
	fputc('\n', l->out);
}

/* ---- the whole ---- */

static void find_nodes(struct ladder *l)
{
	for (size_t i = 0; i < l->n; i++) {
		const char *name = l->ev[i].node;

		if (name[0] == '\0' || strcmp(name, "script") == 0 || strcmp(name, "wire") == 0 ||
		    strcmp(name, "switch") == 0 || lane(l, name) >= 0)
			continue;
		if (l->nodes < MAX_NODES)
			l->node[l->nodes++] = name;
	}
	if (l->nodes == 1 && l->opt != NULL && l->opt->other != NULL)
		l->node[l->nodes++] = l->opt->other;
}

static bool alike(const struct vs_event *a, const struct vs_event *b)
{
	return a->type == VS_EV_PKT_TX && b->type == VS_EV_PKT_TX && a->a[0] == b->a[0] && a->a[4] == b->a[4] &&
	       strcmp(a->node, b->node) == 0;
}

/* Packets of one kind that follow each other, other packets' arrival apart. */
static size_t run_length(const struct ladder *l, size_t i)
{
	size_t n = 1;

	for (size_t k = i + 1; k < l->n; k++) {
		char text[TEXT];

		if (alike(&l->ev[i], &l->ev[k]))
			n++;
		else if (l->ev[k].type == VS_EV_PKT_TX || note(&l->ev[k], text, sizeof(text)))
			break;
	}
	return n;
}

/* Draws a run from event `i` on; the index of its last event. */
static size_t draw_run(struct ladder *l, size_t i, size_t n)
{
	size_t first = i, done = 0;

	for (; done < n; i++) {
		if (!alike(&l->ev[first], &l->ev[i]))
			continue;
		if (n <= 2 * RUN_SHOWN + 1 || done < RUN_SHOWN || done >= n - RUN_SHOWN)
			draw_arrow(l, i);
		else if (done == RUN_SHOWN)
			fprintf(l->out, "%12s... %zu more like that\n", "", n - 2 * RUN_SHOWN);
		done++;
	}
	return i - 1;
}

static void head_of_two(const struct ladder *l)
{
	int pad = (int)l->width + 1 - (int)strlen(l->node[0]);

	fprintf(l->out, "%10s  ", "t(us)");
	safe(l->out, l->node[0]);
	fprintf(l->out, "%*s", pad, "");
	safe(l->out, l->node[1]);
	fputc('\n', l->out);
}

static void head(const struct ladder *l)
{
	if (l->nodes == 2)
		head_of_two(l);
	else
		fprintf(l->out, "%10s\n", "t(us)");
}

void vs_ladder_text(const struct vs_event *ev, size_t n, const struct vs_ladder_options *opt, FILE *out)
{
	struct ladder l = {.ev = ev, .n = n, .opt = opt, .out = out, .width = USUAL_WIDTH};
	size_t skip = 0;

	if (opt != NULL && opt->width != 0)
		l.width = opt->width < 24 ? 24 : opt->width > 160 ? 160 : opt->width;
	find_nodes(&l);
	head(&l);
	if (opt != NULL && opt->max_lines != 0 && n > opt->max_lines) {
		skip = n - opt->max_lines;
		fprintf(out, "%12s... %zu events before\n", "", skip);
	}
	l.start_ns = n > 0 ? ev[0].t_ns : 0;
	for (size_t i = skip; i < n; i++) {
		char text[TEXT];

		if (ev[i].type == VS_EV_PKT_TX)
			i = draw_run(&l, i, run_length(&l, i));
		else if (note(&ev[i], text, sizeof(text)))
			draw_note(&l, &ev[i], text);
	}
}
