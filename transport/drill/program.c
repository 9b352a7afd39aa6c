/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * program.c - a program as target: the script is held against the record of a run.
 *
 * Time goes over the record, event by event. Calls of the script are looked up in it (program_calls.c), each object's
 * in their order, and time goes on to where they were made. A completion has come when the program polled it.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

int program_differs(struct program_target *t, const char *format, ...)
{
	va_list ap;

	if (t->t.differs == NULL) {
		va_start(ap, format);
		(void)vsnprintf(t->differs, sizeof(t->differs), format, ap);
		va_end(ap);
		t->t.differs = t->differs;
	}
	return VS_OK;
}

int program_lacks(struct program_target *t, const char *what)
{
	if (t->t.lacks == NULL) {
		(void)snprintf(t->lacks, sizeof(t->lacks), "%s", what);
		t->t.lacks = t->lacks;
	}
	return VS_OK;
}

/* ---- time ---- */

static void happen(struct program_target *t, size_t i)
{
	const struct vs_event *ev = &t->ev[i];
	const struct dr_ears *ears = &t->setup.ears;
	struct vs_frame f;

	if (ev->t_ns > t->now)
		t->now = ev->t_ns;
	switch (ev->type) {
	case VS_EV_PKT_TX:
		if (vs_record_frame(t->p->record, t->frame++, &f) && program_node(ev->node) >= 0)
			ears->sent(ears->ctx, program_node(ev->node), ev->t_ns, f.link, f.data, f.caplen);
		break;
	case VS_EV_VERB_POLL_CQ:
		t->polled[t->n_polled++] = i;
		break;
	case VS_EV_ASYNC:
		t->asyncs[t->n_asyncs++] = i;
		break;
	default:
		break;
	}
}

void program_reach(struct program_target *t, size_t i)
{
	while (t->at <= i && t->at < t->n)
		happen(t, t->at++);
}

static uint64_t p_now(struct dr_target *dt)
{
	return program_self(dt)->now;
}

static bool p_step(struct dr_target *dt, uint64_t until)
{
	struct program_target *t = program_self(dt);

	if (t->at < t->n && t->ev[t->at].t_ns <= until) {
		program_reach(t, t->at);
		return true;
	}
	if (until > t->now)
		t->now = until;
	return false;
}

static bool p_idle(struct dr_target *dt)
{
	return program_self(dt)->at == program_self(dt)->n;
}

/* ---- what happened ---- */

static void drop_first(size_t *list, size_t *n, size_t k)
{
	memmove(list + k, list + k + 1, (*n - k - 1) * sizeof(list[0]));
	(*n)--;
}

static bool is_named(const struct program_target *t, int node, uint64_t number)
{
	for (const struct program_object *o = t->objects; o != NULL; o = o->next)
		if (o->kind == O_CQ && !o->usual && o->node == node && o->number == number)
			return true;
	return false;
}

static const struct program_object *qp_of(const struct program_target *t, int node, uint32_t qpn)
{
	for (const struct program_object *o = t->objects; o != NULL; o = o->next)
		if (o->kind == O_QP && o->node == node && o->qpn == qpn)
			return o;
	return NULL;
}

/* The queue pair that sent what made this completion: it came of a packet that came, which came of one that left. */
static uint32_t source_of(const struct program_target *t, const struct vs_event *ev)
{
	while (ev->type != VS_EV_PKT_TX && ev->cause > 0 && ev->cause < ev->seq && ev->cause <= t->n)
		ev = &t->ev[ev->cause - 1];
	return ev->type == VS_EV_PKT_TX ? ev->qpn : 0;
}

static void fill_wc(const struct program_target *t, const struct vs_event *ev, struct vs_wc *wc)
{
	const struct program_object *q = qp_of(t, program_node(ev->node), ev->qpn);

	*wc = (struct vs_wc){.wr_id = ev->wr_id,
			     .status = (enum vs_wc_status)ev->a[0],
			     .opcode = (enum vs_wc_opcode)ev->a[1],
			     .byte_len = (uint32_t)ev->a[2],
			     .vendor_err = (uint32_t)ev->a[3],
			     .imm_data = (uint32_t)ev->a[4],
			     .qp_num = ev->qpn,
			     .time_ns = ev->t_ns};
	if (ev->a[4] != 0 || wc->opcode == VS_WC_RECV_RDMA_WITH_IMM)
		wc->wc_flags |= VS_WC_WITH_IMM;
	if (wc->opcode >= VS_WC_RECV)
		wc->src_qp = source_of(t, ev);
	if (q != NULL && q->init.type == VS_QPT_UD && wc->opcode >= VS_WC_RECV)
		wc->wc_flags |= VS_WC_GRH; /* the simulated wire is RoCE */
}

static int p_cq_poll(struct dr_target *dt, void *cq, struct vs_wc *wc)
{
	struct program_target *t = program_self(dt);
	const struct program_object *o = cq;

	for (size_t k = 0; k < t->n_polled; k++) {
		uint64_t cause = t->ev[t->polled[k]].cause;
		const struct vs_event *ev = cause > 0 && cause <= t->n ? &t->ev[cause - 1] : NULL;

		if (ev == NULL || ev->type != VS_EV_CQE || program_node(ev->node) != o->node)
			continue;
		if (o->usual ? is_named(t, o->node, ev->a[5]) : ev->a[5] != o->number)
			continue;
		fill_wc(t, ev, wc);
		drop_first(t->polled, &t->n_polled, k);
		return 1;
	}
	return 0;
}

static int p_async(struct dr_target *dt, int node, struct vs_async *a)
{
	struct program_target *t = program_self(dt);

	for (size_t k = 0; k < t->n_asyncs; k++) {
		const struct vs_event *ev = &t->ev[t->asyncs[k]];

		if (program_node(ev->node) != node)
			continue;
		*a = (struct vs_async){.type = (enum vs_async_type)ev->a[0],
				       .object = (void *)(uintptr_t)qp_of(t, node, ev->qpn)};
		drop_first(t->asyncs, &t->n_asyncs, k);
		return 1;
	}
	return 0;
}

/* Counters are those of the whole run. */
static uint64_t p_counter(struct dr_target *dt, int node, enum vs_counter c)
{
	struct program_target *t = program_self(dt);

	for (size_t i = 0; i < t->n; i++)
		if (t->ev[i].type == VS_EV_DEV_COUNTER && program_node(t->ev[i].node) == node &&
		    strcmp((const char *)(uintptr_t)t->ev[i].a[0], vs_counter_name(c)) == 0)
			return t->ev[i].a[1];
	return 0;
}

static enum vs_reason p_reason(struct dr_target *dt, int node)
{
	return program_self(dt)->reason[node];
}

/* A fault that the script asks for and that never acted: no packet was what it is for. */
static const char *p_idle_fault(struct dr_target *dt)
{
	const struct program_target *t = program_self(dt);

	for (const struct stmt *st = t->setup.p->first; st != NULL; st = st->next) {
		bool acted = st->kind != S_FAULT;

		for (size_t i = 0; i < t->n && !acted; i++)
			acted = t->ev[i].type >= VS_EV_FAULT_DROP && t->ev[i].type <= VS_EV_FAULT_HOLD;
		if (!acted)
			return "of this script";
	}
	return NULL;
}

/* Work that was posted and that no line claims. */
static bool p_unclaimed(struct dr_target *dt, char *why, size_t cap)
{
	const struct program_target *t = program_self(dt);

	for (size_t i = 0; i < t->n; i++) {
		const struct vs_event *ev = &t->ev[i];
		bool send = ev->type == VS_EV_VERB_POST_SEND;

		if (t->used[i] || !(send || ev->type == VS_EV_VERB_POST_RECV))
			continue;
		(void)snprintf(why, cap, "the program also posted %s wr_id=%llu on QP 0x%x of %s: no line says so",
			       send ? "the request" : "the receive", (unsigned long long)ev->wr_id, ev->qpn,
			       t->setup.p->node[program_node(ev->node)].name);
		return true;
	}
	return false;
}

/* ---- what a program has not ---- */

static int p_send(struct dr_target *dt, const uint8_t *frame, size_t len)
{
	(void)frame;
	(void)len;
	return program_lacks(program_self(dt), "nobody sends packets to a program by hand: it has both devices");
}

static int p_fault(struct dr_target *dt, const char *rule)
{
	(void)dt;
	(void)rule; /* vs-run has it, from the beginning */
	return VS_OK;
}

static int p_av(struct dr_target *dt, int node, int encap, struct vs_av *av)
{
	(void)dt;
	(void)node;
	(void)encap;
	*av = (struct vs_av){.is_global = true, .port = 1};
	return VS_OK;
}

static void p_mark(struct dr_target *dt, const char *text)
{
	(void)dt;
	(void)text;
}

static uint32_t p_limit(struct dr_target *dt, int node, enum dr_limit what)
{
	(void)node;
	(void)what;
	(void)program_lacks(program_self(dt), "the limits of a program's device are not in the record");
	return 0;
}

static int p_set_gid(struct dr_target *dt, int node, unsigned index, const uint8_t gid[16], int encap)
{
	(void)node;
	(void)index;
	(void)gid;
	(void)encap;
	return program_lacks(program_self(dt), "the GIDs of a program's devices are fixed");
}

static int p_set_port(struct dr_target *dt, int node, bool up)
{
	(void)node;
	(void)up;
	return program_lacks(program_self(dt), "the ports of a program's devices are always up");
}

static int p_comp_event(struct dr_target *dt, int node, void **cq)
{
	(void)dt;
	(void)node;
	(void)cq;
	return 0;
}

static int p_conn_event(struct dr_target *dt, int node, struct vs_conn_event *e)
{
	(void)dt;
	(void)node;
	(void)e;
	return 0;
}

/* ---- open, close ---- */

static void p_destroy(struct dr_target *dt)
{
	struct program_target *t = program_self(dt);

	t->p->seen = t->at;
	while (t->objects != NULL) {
		struct program_object *o = t->objects;

		t->objects = o->next;
		free(o->mem.bytes);
		free(o);
	}
	free(t->used);
	free(t->polled);
	free(t->asyncs);
	free(t);
}

static const char *unfit(const struct dr_setup *s)
{
	if (s->p->n_nodes > 2)
		return "a program has two devices";
	for (unsigned i = 0; i < s->p->n_nodes; i++)
		if (!s->p->node[i].engine)
			return "the script plays the peer: a program has both devices, so it needs a node line";
	return s->encap != EN_ROCEV2_IPV4 ? "a program's devices send RoCEv2 over IPv4" : NULL;
}

static void set_ops(struct program_target *t)
{
	t->ops = (struct dr_target_ops){
		.destroy = p_destroy,
		.now = p_now,
		.step = p_step,
		.idle = p_idle,
		.send = p_send,
		.fault = p_fault,
		.idle_fault = p_idle_fault,
		.unclaimed = p_unclaimed,
		.av = p_av,
		.mark = p_mark,
		.limit = p_limit,
		.set_gid = p_set_gid,
		.set_port = p_set_port,
		.cq_poll = p_cq_poll,
		.comp_event = p_comp_event,
		.async = p_async,
		.counter = p_counter,
		.reason = p_reason,
		.conn_event = p_conn_event,
	};
	program_calls(&t->ops);
	t->t.ops = &t->ops;
	t->t.settle_ns = 20000; /* there and back on the wire of vs-run */
	t->t.patience_ns = UINT64_C(60000000000);
	t->t.tells_sent = t->t.recorded = true;
}

static struct dr_target *open_program(void *ctx, const struct dr_setup *s, char *why, size_t cap, bool *skip)
{
	struct vs_program *p = ctx;
	struct program_target *t;
	const char *no = unfit(s);
	char vector[256] = "";

	if (no != NULL) {
		*skip = true;
		(void)snprintf(why, cap, "%s", no);
		return NULL;
	}
	(void)vs_drill_vector_name(s->d, s->vector, vector, sizeof(vector));
	if (p->record == NULL) {
		if (!program_start(p, s, s->env, vector, why, cap))
			return NULL;
		p->record = vs_record_read(p->trace, p->capture, why, cap);
	}
	t = p->record != NULL ? calloc(1, sizeof(*t)) : NULL;
	if (t == NULL)
		return NULL;
	t->setup = *s;
	t->p = p;
	t->ev = vs_record_events(p->record, &t->n);
	t->used = calloc(t->n + 1, sizeof(t->used[0]));
	t->polled = calloc(t->n + 1, sizeof(t->polled[0]));
	t->asyncs = calloc(t->n + 1, sizeof(t->asyncs[0]));
	set_ops(t);
	if (t->used != NULL && t->polled != NULL && t->asyncs != NULL)
		return &t->t;
	p_destroy(&t->t);
	return NULL;
}

void vs_drill_run_record(const struct vs_drill *d, unsigned vector, const struct vs_drill_env *env,
			 struct vs_program *p, struct vs_drill_result *result)
{
	dr_run(d, vector, env, open_program, p, result);
}

void vs_drill_run_program(const struct vs_drill *d, unsigned vector, const struct vs_drill_env *env,
			  struct vs_program *p, struct vs_drill_result *result)
{
	vs_program_clear(p);
	p->seen = 0;
	p->code = 0;
	vs_drill_run_record(d, vector, env, p, result);
}
