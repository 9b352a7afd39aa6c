/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * report_count.c - what is counted of each queue pair: requests, bytes, repeats by reason, delays, and where the time
 * of its requests went. A time is counted where both its ends are in the trace.
 */
#include <stdlib.h>
#include <string.h>

#include "map.h"
#include "report.h"
#include "vs/opcode.h"
#include "vs/wire.h"

/* Durations, for their sum and percentiles. */
struct samples {
	uint64_t *v;
	size_t n, cap;
	uint64_t sum;
};

enum delay {
	QUEUED,   /* post to first packet */
	SENDING,  /* first packet to last packet */
	ANSWER,   /* last packet to its answer */
	COMPLETE, /* post to completion */
	UNPOLLED, /* completion to poll */
	DELAYS
};

static const char *const delay_names[DELAYS] = {"queued", "sending", "answer", "completion", "unpolled"};

#define TRIGGERS 8u
#define STATUSES 32u

struct count {
	uint64_t posted, receives, completed, failed, unanswered, bytes;
	uint64_t status[STATUSES];
	uint64_t packets, packet_bytes, answers, again, again_bytes, lost, dropped;
	uint64_t naks, rnr_naks, timeouts, rnr_wait_ns, timer_ns;
	struct {
		const char *name;
		uint64_t n;
	} trigger[TRIGGERS];
	struct samples delay[DELAYS];
	uint64_t first_ns, last_ns;
	bool any;
};

static bool add_sample(struct samples *s, uint64_t v)
{
	void *array = s->v;

	if (!vt_room(&array, &s->cap, s->n, sizeof(*s->v)))
		return false;
	s->v = array;
	s->v[s->n++] = v;
	s->sum += v;
	return true;
}

static int by_size(const void *va, const void *vb)
{
	uint64_t a = *(const uint64_t *)va, b = *(const uint64_t *)vb;

	return a < b ? -1 : a > b;
}

static json_t *samples_json(struct samples *s)
{
	json_t *j = json_object();

	qsort(s->v, s->n, sizeof(*s->v), by_size);
	(void)json_object_set_new(j, "n", json_integer((json_int_t)s->n));
	(void)json_object_set_new(j, "sum", json_integer((json_int_t)s->sum));
	(void)json_object_set_new(j, "p50", json_integer((json_int_t)s->v[s->n / 2]));
	(void)json_object_set_new(j, "p99", json_integer((json_int_t)s->v[s->n * 99 / 100]));
	(void)json_object_set_new(j, "max", json_integer((json_int_t)s->v[s->n - 1]));
	return j;
}

/* ---- operations ---- */

static void span(struct count *c, uint64_t t)
{
	c->first_ns = !c->any || t < c->first_ns ? t : c->first_ns;
	c->last_ns = !c->any || t > c->last_ns ? t : c->last_ns;
	c->any = true;
}

static void between(const struct vt_model *m, struct samples *s, size_t a, size_t b)
{
	if (a != VT_NONE && b != VT_NONE && vt_time(m, b) >= vt_time(m, a))
		(void)add_sample(s, vt_time(m, b) - vt_time(m, a));
}

static void count_op(const struct vt_model *m, struct count *c, size_t op)
{
	const struct vt_op *o = &m->op[op];
	enum vs_wc_status status;
	bool ended = vt_op_status(m, op, &status);

	if (o->flags & VT_OP_RECV) {
		c->receives++;
		return;
	}
	c->posted++;
	if (ended && (unsigned)status < STATUSES)
		c->status[status]++;
	if (ended && status != VS_WC_SUCCESS) {
		c->failed++;
	} else if (ended || o->answer != VT_NONE) {
		c->completed++;
		c->bytes += o->len;
	} else {
		c->unanswered++;
	}
	between(m, &c->delay[QUEUED], o->post, o->first_tx);
	between(m, &c->delay[SENDING], o->first_tx, o->last_tx);
	between(m, &c->delay[ANSWER], o->last_tx, o->answer);
	between(m, &c->delay[COMPLETE], o->post, o->cqe != VT_NONE ? o->cqe : o->poll);
	between(m, &c->delay[UNPOLLED], o->cqe, o->poll);
}

/* ---- events ---- */

static void count_trigger(struct count *c, const char *name)
{
	for (unsigned i = 0; i < TRIGGERS; i++) {
		if (c->trigger[i].name == NULL)
			c->trigger[i].name = name;
		if (strcmp(c->trigger[i].name, name) != 0)
			continue;
		c->trigger[i].n++;
		return;
	}
}

/* Why the packet at i was sent again. */
static const char *trigger_of(const struct vt_model *m, size_t i)
{
	size_t cause = m->cause[i];

	if (cause != VT_NONE && m->ev[cause].type == VS_EV_RC_RNR_WAIT)
		return "rnr_nak";
	if (cause == VT_NONE || m->ev[cause].type != VS_EV_RC_RETRY || m->ev[cause].a[1] == 0)
		return "unknown";
	return (const char *)(uintptr_t)m->ev[cause].a[1];
}

static void count_tx(const struct vt_model *m, struct count *c, size_t i)
{
	const struct vs_event *e = &m->ev[i];
	const struct vt_packet *p = &m->pkt[m->pkt_of[i]];

	c->packets++;
	c->packet_bytes += e->a[3];
	c->answers += (p->flags & VT_PKT_ANSWER) != 0;
	c->lost += (p->flags & VT_PKT_LOST) != 0;
	c->dropped += (p->flags & VT_PKT_DROPPED) != 0;
	if (e->a[7] == 0 || p->flags & VT_PKT_ANSWER)
		return;
	c->again++;
	c->again_bytes += e->a[3];
	count_trigger(c, trigger_of(m, i));
}

static void count_event(const struct vt_model *m, struct count *c, size_t i)
{
	const struct vs_event *e = &m->ev[i];
	size_t cause = m->cause[i];

	span(c, vt_time(m, i));
	switch ((enum vs_event_type)e->type) {
	case VS_EV_PKT_TX:
		count_tx(m, c, i);
		break;
	case VS_EV_PKT_RX:
		if (e->a[4] != VS_SYN_NONE && vs_aeth_type((uint8_t)e->a[4]) == VS_AETH_NAK)
			c->naks++;
		else if (e->a[4] != VS_SYN_NONE && vs_aeth_type((uint8_t)e->a[4]) == VS_AETH_RNR)
			c->rnr_naks++;
		break;
	case VS_EV_RC_RNR_WAIT:
		c->rnr_wait_ns += e->a[1];
		break;
	case VS_EV_RC_TIMEOUT:
		c->timeouts++;
		if (cause != VT_NONE)
			c->timer_ns += vt_time(m, i) - vt_time(m, cause);
		break;
	default:
		break;
	}
}

/* ---- as JSON ---- */

static void number(json_t *j, const char *key, uint64_t v)
{
	(void)json_object_set_new(j, key, json_integer((json_int_t)v));
}

static json_t *statuses(const struct count *c)
{
	json_t *j = json_object();

	for (unsigned i = 0; i < STATUSES; i++)
		if (c->status[i] != 0)
			number(j, vs_wc_status_name((enum vs_wc_status)i), c->status[i]);
	return j;
}

static json_t *again(const struct count *c)
{
	json_t *j = json_object(), *why = json_object();

	number(j, "packets", c->again);
	number(j, "bytes", c->again_bytes);
	(void)json_object_set_new(
		j, "ratio",
		json_real(c->packets - c->answers == 0 ? 0 : (double)c->again / (double)(c->packets - c->answers)));
	for (unsigned i = 0; i < TRIGGERS && c->trigger[i].name != NULL; i++)
		if (c->trigger[i].n != 0)
			number(why, c->trigger[i].name, c->trigger[i].n);
	(void)json_object_set_new(j, "why", why);
	return j;
}

static json_t *qp_json(const struct vt_model *m, size_t qp, struct count *c)
{
	json_t *j = json_object(), *times = json_object();
	uint64_t ns = c->last_ns - c->first_ns;
	char text[128];

	(void)json_object_set_new(j, "qp", json_string(vt_qp_text(m, qp, text, sizeof(text))));
	if (m->qp[qp].peer != VT_NONE)
		(void)json_object_set_new(j, "peer", json_string(vt_qp_text(m, m->qp[qp].peer, text, sizeof(text))));
	number(j, "requests", c->posted);
	number(j, "receives", c->receives);
	number(j, "completed", c->completed);
	number(j, "failed", c->failed);
	number(j, "open", c->unanswered);
	(void)json_object_set_new(j, "status", statuses(c));
	number(j, "bytes", c->bytes);
	number(j, "span", ns);
	number(j, "goodput_bps", ns == 0 ? 0 : (uint64_t)((double)c->bytes * 8e9 / (double)ns));
	number(j, "packets", c->packets);
	number(j, "answers", c->answers);
	number(j, "packet_bytes", c->packet_bytes);
	number(j, "lost", c->lost);
	number(j, "dropped", c->dropped);
	(void)json_object_set_new(j, "again", again(c));
	number(j, "naks", c->naks);
	number(j, "rnr_naks", c->rnr_naks);
	number(j, "timeouts", c->timeouts);
	number(times, "rnr_timer", c->rnr_wait_ns);
	number(times, "ack_timer", c->timer_ns);
	for (unsigned i = 0; i < DELAYS; i++)
		if (c->delay[i].n != 0)
			(void)json_object_set_new(times, delay_names[i], samples_json(&c->delay[i]));
	(void)json_object_set_new(j, "times", times);
	return j;
}

/* The entry of a rule in the list, made when there is none. */
static json_t *finding(json_t *list, const char *rule)
{
	const struct vs_rule_info *info = vs_rule_info(vs_rule_by_id(rule));
	json_t *j;
	size_t k;

	json_array_foreach (list, k, j) {
		if (strcmp(json_string_value(json_object_get(j, "rule")), rule) == 0)
			return j;
	}
	j = json_object();
	(void)json_object_set_new(j, "rule", json_string(rule));
	(void)json_object_set_new(j, "level", json_string(vs_rule_level_name(info->level)));
	(void)json_object_set_new(j, "clause", json_string(info->clause));
	(void)json_object_set_new(j, "sentence", json_string(info->sentence));
	number(j, "n", 0);
	(void)json_array_append_new(list, j);
	return j;
}

static json_t *findings(const struct vt_model *m, const struct vt_options *o)
{
	json_t *list = json_array(), *j;

	for (size_t i = 0; i < m->n_events; i++) {
		if (m->ev[i].type != VS_EV_MON_RULE || m->ev[i].a[0] == 0 || !vt_selected(m, o, i))
			continue;
		j = finding(list, (const char *)(uintptr_t)m->ev[i].a[0]);
		number(j, "n", (uint64_t)json_integer_value(json_object_get(j, "n")) + 1);
	}
	return list;
}

static bool wanted(const struct vt_model *m, const struct vt_options *o, size_t qp)
{
	const struct vt_qp *q = &m->qp[qp];

	return !o->has_qp || q->qpn == o->qpn || (q->peer != VT_NONE && m->qp[q->peer].qpn == o->qpn);
}

static size_t begin_of(const struct vt_op *o)
{
	return o->post != VT_NONE ? o->post : o->first_tx != VT_NONE ? o->first_tx : o->fetch;
}

json_t *vt_report_of(const struct vt_model *m, const struct vt_options *o)
{
	struct count *c = calloc(m->n_qps + 1, sizeof(*c));
	json_t *j = json_object(), *qps = json_array(), *missing = json_array();
	const char *text[8];
	size_t n = vt_missing(m, text, 8);

	if (c == NULL)
		return NULL;
	for (size_t i = 0; i < m->n_events; i++)
		if (m->qp_of[i] != UINT32_MAX && vt_selected(m, o, i))
			count_event(m, &c[m->qp_of[i]], i);
	for (size_t i = 0; i < m->n_ops; i++)
		if (begin_of(&m->op[i]) == VT_NONE || vt_selected(m, o, begin_of(&m->op[i])))
			count_op(m, &c[m->op[i].qp], i);
	(void)json_object_set_new(j, "trace", json_string(m->path));
	number(j, "events", m->n_events);
	number(j, "span", m->n_events > 0 ? vt_time(m, m->n_events - 1) : 0);
	for (size_t i = 0; i < n; i++)
		(void)json_array_append_new(missing, json_string(text[i]));
	(void)json_object_set_new(j, "missing", missing);
	for (size_t i = 0; i < m->n_qps; i++) {
		if (wanted(m, o, i) && c[i].any)
			(void)json_array_append_new(qps, qp_json(m, i, &c[i]));
		for (unsigned k = 0; k < DELAYS; k++)
			free(c[i].delay[k].v);
	}
	free(c);
	(void)json_object_set_new(j, "qps", qps);
	(void)json_object_set_new(j, "findings", findings(m, o));
	return j;
}
