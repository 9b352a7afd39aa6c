/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * export_chrome.c - a trace in Chrome's trace event format: a process for each node, two threads for each queue pair.
 *
 * Requests overlap, so they are asynchronous slices (b, e) with an id, never B and E. A packet is a slice of its own
 * thread, since flow arrows (s, f) begin and end at slices; its length only makes it visible. Counters: requests and
 * receives outstanding, credits, rate.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "export.h"
#include "vs/wire.h"

#define SLICE_NS 200u /* longest length of a packet's slice */

struct writer {
	const struct vt_model *m;
	const struct vt_options *o;
	FILE *f;
	bool any;
};

/* ---- pieces ---- */

static void begin(struct writer *w, const char *ph, size_t pid, size_t tid, uint64_t ns)
{
	fprintf(w->f, "%s\n{\"ph\":\"%s\",\"pid\":%zu,\"tid\":%zu,\"ts\":%" PRIu64 ".%03u", w->any ? "," : "", ph, pid,
		tid, ns / 1000, (unsigned)(ns % 1000));
	w->any = true;
}

static void key(const struct writer *w, const char *name, const char *text)
{
	fprintf(w->f, ",\"%s\":", name);
	vt_put_json(w->f, text);
}

static void end(const struct writer *w)
{
	fputc('}', w->f);
}

static size_t pid_of(const struct vt_model *m, size_t i)
{
	size_t node = m->qp_of[i] != UINT32_MAX ? m->qp[m->qp_of[i]].node : vt_find_node(m, m->ev[i].node);

	return node == VT_NONE ? 0 : node + 1;
}

/* Thread of a queue pair's requests and calls, and of its packets. */
static size_t tid_of(const struct vt_model *m, size_t i)
{
	return m->qp_of[i] != UINT32_MAX ? 2 * (size_t)m->qp_of[i] + 1 : 0;
}

static void name_of(struct writer *w, const char *what, size_t pid, size_t tid, const char *name)
{
	begin(w, "M", pid, tid, 0);
	key(w, "name", what);
	fputs(",\"args\":{\"name\":", w->f);
	vt_put_json(w->f, name);
	fputs("}", w->f);
	end(w);
}

static void names(struct writer *w)
{
	const struct vt_model *m = w->m;
	char text[160], qp[128];

	for (size_t i = 0; i < m->n_nodes; i++)
		name_of(w, "process_name", i + 1, 0, m->node[i].title);
	for (size_t i = 0; i < m->n_qps; i++) {
		(void)vt_qp_text(m, i, qp, sizeof(qp));
		name_of(w, "thread_name", m->qp[i].node + (size_t)1, 2 * i + 1, qp);
		(void)snprintf(text, sizeof(text), "%s packets", qp);
		name_of(w, "thread_name", m->qp[i].node + (size_t)1, 2 * i + 2, text);
	}
}

static void args_of(const struct writer *w, const struct vs_event *e)
{
	const struct vs_event_info *info = vs_event_info((enum vs_event_type)e->type);
	char text[256];

	fprintf(w->f, ",\"args\":{\"seq\":%" PRIu64, e->seq);
	if (e->cause != 0)
		fprintf(w->f, ",\"cause\":%" PRIu64, e->cause);
	if (e->has_wr)
		fprintf(w->f, ",\"wr\":\"%" PRIu64 "\"", e->wr_id);
	for (unsigned i = 0; i < info->nargs; i++) {
		if (info->args[i].kind == VS_ARG_SYN && e->a[i] == VS_SYN_NONE)
			continue;
		key(w, info->args[i].name, vt_arg_text(e, i, text, sizeof(text)));
	}
	if (e->inferred)
		fputs(",\"inferred\":true", w->f);
	fputc('}', w->f);
}

/* ---- requests ---- */

static size_t first_of(const struct vt_op *o)
{
	return o->post != VT_NONE ? o->post : o->first_tx != VT_NONE ? o->first_tx : o->fetch;
}

static size_t last_of(const struct vt_op *o)
{
	return o->cqe != VT_NONE ? o->cqe : o->poll != VT_NONE ? o->poll : o->answer;
}

static void request(struct writer *w, size_t op)
{
	const struct vt_model *m = w->m;
	const struct vt_op *o = &m->op[op];
	size_t first = first_of(o), last = last_of(o), pid, tid;
	enum vs_wc_status status;
	uint64_t t0, t1;
	char text[128];

	if (first == VT_NONE || !vt_selected(m, w->o, first))
		return;
	pid = m->qp[o->qp].node + (size_t)1;
	tid = 2 * o->qp + 1;
	t0 = vt_time(m, first);
	t1 = vt_time(m, last != VT_NONE ? last : m->n_events - 1);
	begin(w, "b", pid, tid, t0);
	key(w, "cat", o->flags & VT_OP_RECV ? "receive" : "request");
	key(w, "name", vt_op_text(m, op, text, sizeof(text)));
	fprintf(w->f, ",\"id\":\"%zu\",\"args\":{\"message\":%zu,\"bytes\":%" PRIu64 ",\"packets\":%u,\"again\":%u",
		op + 1, op + 1, o->len, o->packets, o->retransmissions);
	if (vt_op_status(m, op, &status))
		key(w, "status", vs_wc_status_name(status));
	else
		fprintf(w->f, ",\"open\":%s", last == VT_NONE ? "true" : "false");
	fputc('}', w->f);
	end(w);
	begin(w, "e", pid, tid, t1 > t0 ? t1 : t0);
	key(w, "cat", o->flags & VT_OP_RECV ? "receive" : "request");
	key(w, "name", text);
	fprintf(w->f, ",\"id\":\"%zu\"", op + 1);
	end(w);
}

/* ---- packets ---- */

/* The end of a packet's slice: before the next packet event of the same queue pair. */
static uint64_t slice(const struct vt_model *m, size_t i)
{
	uint64_t t = vt_time(m, i);

	for (size_t k = i + 1; k < m->n_events && vt_time(m, k) < t + SLICE_NS; k++)
		if (m->qp_of[k] == m->qp_of[i] && (m->ev[k].type == VS_EV_PKT_TX || m->ev[k].type == VS_EV_PKT_RX))
			return vt_time(m, k) > t ? vt_time(m, k) - t : 0;
	return SLICE_NS;
}

static void packet(struct writer *w, size_t i)
{
	const struct vt_model *m = w->m;
	const struct vs_event *e = &m->ev[i];
	const struct vt_packet *p = &m->pkt[m->pkt_of[i]];
	bool arrow = p->tx != VT_NONE && p->rx != VT_NONE && vt_selected(m, w->o, p->tx) &&
		     vt_selected(m, w->o, p->rx) && vt_time(m, p->tx) <= vt_time(m, p->rx) &&
		     (i == p->tx || i == p->rx);
	size_t pid = pid_of(m, i), tid = tid_of(m, i) + 1;
	uint64_t t = vt_time(m, i), dur = slice(m, i);
	char opc[48], text[96];

	(void)snprintf(text, sizeof(text), "%s %06" PRIx64 "%s%s", vt_arg_text(e, 0, opc, sizeof(opc)), e->a[1],
		       e->type == VS_EV_PKT_TX && e->a[7] != 0 ? " again" : "",
		       e->type == VS_EV_PKT_TX && p->flags & VT_PKT_LOST ? " lost" : "");
	begin(w, "X", pid, tid, t);
	fprintf(w->f, ",\"dur\":%" PRIu64 ".%03u", dur / 1000, (unsigned)(dur % 1000));
	key(w, "cat", e->type == VS_EV_PKT_TX ? "sent" : "received");
	key(w, "name", text);
	args_of(w, e);
	end(w);
	if (!arrow)
		return;
	begin(w, i == p->tx ? "s" : "f", pid, tid, t);
	fprintf(w->f, ",\"id\":\"%" PRIu64 "\",\"cat\":\"packet\",\"name\":\"packet\"%s", p->id,
		i == p->tx ? "" : ",\"bp\":\"e\"");
	end(w);
}

/* ---- counters ---- */

static void counter(struct writer *w, size_t i, const char *name, const char *unit, uint64_t value)
{
	char text[64];

	(void)snprintf(text, sizeof(text), "QP 0x%x %s", w->m->qp[w->m->qp_of[i]].qpn, name);
	begin(w, "C", pid_of(w->m, i), tid_of(w->m, i), vt_time(w->m, i));
	key(w, "name", text);
	fprintf(w->f, ",\"args\":{\"%s\":%" PRIu64 "}", unit, value);
	end(w);
}

/* Requests that were posted and are not completed, in both queues of each QP. */
static void queues(struct writer *w)
{
	const struct vt_model *m = w->m;
	uint64_t *depth = calloc(2 * m->n_qps + 2, sizeof(*depth)), *d;

	for (size_t i = 0; depth != NULL && i < m->n_events; i++) {
		const struct vt_op *o = m->op_of[i] != VT_NONE ? &m->op[m->op_of[i]] : NULL;
		bool receive;

		if (o == NULL || m->qp_of[i] != o->qp || (i != first_of(o) && i != last_of(o)))
			continue;
		receive = (o->flags & VT_OP_RECV) != 0;
		d = &depth[2 * o->qp + receive];
		*d += i == first_of(o) ? 1 : *d > 0 ? UINT64_MAX : 0;
		if (vt_selected(m, w->o, i))
			counter(w, i, receive ? "receives" : "outstanding", "requests", *d);
	}
	free(depth);
}

static void other_counters(struct writer *w, size_t i)
{
	const struct vs_event *e = &w->m->ev[i];

	if (w->m->qp_of[i] == UINT32_MAX)
		return;
	if (e->type == VS_EV_PKT_RX && e->a[4] != VS_SYN_NONE && vs_aeth_type((uint8_t)e->a[4]) == VS_AETH_ACK &&
	    vs_aeth_credits(e->a[4] & 0x1f) != VS_CREDITS_UNLIMITED)
		counter(w, i, "credits", "receives", vs_aeth_credits(e->a[4] & 0x1f));
	if (e->type == VS_EV_CC_RATE || e->type == VS_EV_CC_CNP_RX)
		counter(w, i, "rate", "bit/s", e->a[0]);
}

static void instant(struct writer *w, size_t i)
{
	const struct vs_event *e = &w->m->ev[i];

	begin(w, "i", pid_of(w->m, i), tid_of(w->m, i), vt_time(w->m, i));
	key(w, "cat", "event");
	key(w, "name", vs_event_info((enum vs_event_type)e->type)->name);
	fputs(",\"s\":\"t\"", w->f);
	args_of(w, e);
	end(w);
}

void vt_export_chrome(const struct vt_model *m, const struct vt_options *o, FILE *f)
{
	struct writer w = {m, o, f, false};

	fputs("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"made by\":\"vs-trace\"},\"traceEvents\":[", f);
	names(&w);
	for (size_t i = 0; i < m->n_ops; i++)
		request(&w, i);
	for (size_t i = 0; i < m->n_events; i++) {
		if (!vt_selected(m, o, i))
			continue;
		if (m->ev[i].type == VS_EV_PKT_TX || m->ev[i].type == VS_EV_PKT_RX)
			packet(&w, i);
		else
			instant(&w, i);
		other_counters(&w, i);
	}
	queues(&w);
	fputs("\n]}\n", f);
}
