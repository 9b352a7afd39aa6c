/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* model_look.c - questions to a model that several commands have. */
#include <stdio.h>
#include <string.h>

#include "event/internal.h"
#include "model.h"

size_t vt_find_node(const struct vt_model *m, const char *name)
{
	for (size_t i = 0; i < m->n_nodes; i++)
		if (strcmp(m->node[i].name, name) == 0)
			return i;
	return VT_NONE;
}

size_t vt_find_seq(const struct vt_model *m, uint64_t seq)
{
	size_t low = 0, high = m->n_events;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (m->ev[mid].seq < seq)
			low = mid + 1;
		else
			high = mid;
	}
	return low < m->n_events && m->ev[low].seq == seq ? low : VT_NONE;
}

bool vt_arg(const struct vs_event *ev, const char *name, uint64_t *value)
{
	const struct vs_event_info *info = vs_event_info((enum vs_event_type)ev->type);

	for (unsigned i = 0; i < info->nargs; i++) {
		if (strcmp(info->args[i].name, name) != 0)
			continue;
		*value = ev->a[i];
		return true;
	}
	return false;
}

const char *vt_arg_text(const struct vs_event *ev, unsigned n, char *buf, size_t cap)
{
	const struct vs_event_info *info = vs_event_info((enum vs_event_type)ev->type);
	char space[32];
	const char *w;

	(void)snprintf(buf, cap, "%s", "");
	if (n >= info->nargs)
		return buf;
	switch (info->args[n].kind) {
	case VS_ARG_STR:
		(void)snprintf(buf, cap, "%s", ev->a[n] != 0 ? (const char *)(uintptr_t)ev->a[n] : "");
		return buf;
	case VS_ARG_D:
		(void)snprintf(buf, cap, "%lld", (long long)ev->a[n]);
		return buf;
	case VS_ARG_X:
		(void)snprintf(buf, cap, "0x%llx", (unsigned long long)ev->a[n]);
		return buf;
	case VS_ARG_B:
		(void)snprintf(buf, cap, "%s", ev->a[n] != 0 ? "true" : "false");
		return buf;
	default:
		break;
	}
	w = vs_event_word(info->args[n].kind, ev->a[n], space);
	if (w != NULL)
		(void)snprintf(buf, cap, "%s", w);
	else
		(void)snprintf(buf, cap, "%llu", (unsigned long long)ev->a[n]);
	return buf;
}

uint64_t vt_time(const struct vt_model *m, size_t event)
{
	return event < m->n_events && m->ev[event].t_ns > m->start_ns ? m->ev[event].t_ns - m->start_ns : 0;
}

const char *vt_op_text(const struct vt_model *m, size_t op, char *buf, size_t cap)
{
	const struct vt_op *o = &m->op[op];
	const char *what = o->flags & VT_OP_RECV ? "RECV" : vs_wr_opcode_name(o->opcode);
	char wr[32] = "", len[32] = "";

	if (o->flags & VT_OP_HAS_WR)
		(void)snprintf(wr, sizeof(wr), " wr=%llu", (unsigned long long)o->wr_id);
	if (o->flags & VT_OP_HAS_LEN)
		(void)snprintf(len, sizeof(len), " %llu bytes", (unsigned long long)o->len);
	(void)snprintf(buf, cap, "%s%s%s", what, wr, len);
	return buf;
}

const char *vt_qp_text(const struct vt_model *m, size_t qp, char *buf, size_t cap)
{
	const struct vt_qp *q = &m->qp[qp];

	if (q->qpn != 0)
		(void)snprintf(buf, cap, "%s QP 0x%x", m->node[q->node].title, q->qpn);
	else
		(void)snprintf(buf, cap, "%s QP ?", m->node[q->node].title);
	return buf;
}

bool vt_op_status(const struct vt_model *m, size_t op, enum vs_wc_status *status)
{
	const struct vt_op *o = &m->op[op];
	size_t at = o->cqe != VT_NONE ? o->cqe : o->poll;

	if (at == VT_NONE)
		return false;
	*status = (enum vs_wc_status)m->ev[at].a[0];
	return true;
}

size_t vt_missing(const struct vt_model *m, const char **text, size_t cap)
{
	size_t n = 0;

	if (!m->has_verbs && n < cap)
		text[n++] = "no verbs are in this trace, only packets: posts, completions and memory accesses of the "
			    "programs "
			    "can't be shown";
	if (!m->has_packets && n < cap)
		text[n++] = "no packets are in this trace, only verbs: was the traffic offloaded to a device, or not "
			    "captured?";
	if (m->inferred && n < cap)
		text[n++] = "who sent a packet, what it answers and whether it arrived were concluded from the capture";
	if (m->backwards != 0 && n < cap)
		text[n++] = "some times run backwards: the events stand in the order in which they were recorded";
	return n;
}
