/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * run.c - the runner: statement by statement against a target, and the verdict.
 *
 * A statement that expects something waits for it as long as it says (1 s when it doesn't; states, counters and
 * memory for what is in flight). `one of` looks at the first statement of each alternative until one of them holds.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "packet.h"
#include "vs/cm.h"
#include "vs/icrc.h"
#include "vs/mad.h"

#define MAX_LAG_NS 5000000u /* who did not look for longer than this may have caused a failure himself */

/* ---- verdicts: the first one wins ---- */

static void verdict(struct run *r, const struct stmt *st, unsigned column, enum vs_verdict v, const char *format,
		    va_list ap)
{
	struct vs_drill_error *e = &r->res->at;

	if (r->failed)
		return;
	r->failed = true;
	r->res->verdict = v;
	if (r->t != NULL && r->t->gone != NULL) { /* whatever was seen, it was not the device's doing */
		r->res->verdict = VS_VERDICT_ERROR;
		(void)snprintf(e->text, sizeof(e->text), "%s", r->t->gone);
		dr_error_at(e, st != NULL ? st->line : r->line, st != NULL ? column : 1, r->d->text, r->d->len);
		return;
	}
	if (r->t != NULL && r->t->lacks != NULL) {
		r->res->verdict = VS_VERDICT_SKIP;
		(void)snprintf(e->text, sizeof(e->text), "%s", r->t->lacks);
		return;
	}
	r->res->doubtful |= r->t != NULL && r->t->ops->lag_ns != NULL &&
			    r->t->ops->lag_ns(r->t) > (r->patient ? r->t->slack_ns / 2 : MAX_LAG_NS);
	(void)vsnprintf(e->text, sizeof(e->text), format, ap);
	dr_error_at(e, st != NULL ? st->line : r->line, st != NULL ? column : 1, r->d->text, r->d->len);
}

void dr_verdict(struct run *r, const struct stmt *st, unsigned column, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	verdict(r, st, column, VS_VERDICT_FAIL, format, ap);
	va_end(ap);
}

void dr_broken(struct run *r, const struct stmt *st, unsigned column, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	verdict(r, st, column, VS_VERDICT_ERROR, format, ap);
	va_end(ap);
}

/* ---- values ---- */

/* NAME.FIELD of a packet that came. */
static bool packet_field(struct run *r, const struct stmt *st, const struct expr *e, uint64_t *v)
{
	struct rt_obj *o = dr_rt(r, e->obj);
	struct vs_mad mad;
	size_t n;
	const struct vs_cm_field *f = o->cm.attribute != 0 ? vs_cm_fields(o->cm.attribute, &n) : NULL;

	for (size_t i = 0; f != NULL && i < n; i++) {
		if (strcmp(f[i].name, e->name) != 0 || f[i].width > 64)
			continue;
		*v = vs_cm_field_value(&f[i], o->pkt.payload + VS_MAD_HDR_LEN);
		return true;
	}
	if (o->cm.attribute != 0 && vs_mad_parse(&mad, o->pkt.payload, o->pkt.payload_len) == VS_OK) {
		for (const struct word *w = dr_mad_words; w->name != NULL; w++) {
			if (strcmp(w->name, e->name) != 0)
				continue;
			*v = dr_mad_value(&mad, w->value);
			return true;
		}
	}
	if (o->frame != NULL && e->field != K_NONE && dr_field(&o->pkt, e->field, v))
		return true;
	dr_broken(r, st, e->column, "the packet %s has no %s", e->obj->name, e->name);
	return false;
}

/* How much it really holds: a device may make it larger than it was asked for. */
static uint64_t size_of_queue(struct run *r, const struct rt_obj *o, enum attr attr)
{
	struct vs_srq_attr srq;

	if (attr == A_CQE)
		return r->t->ops->cq_capacity(r->t, o->h);
	r->t->ops->srq_query(r->t, o->h, &srq);
	return srq.max_wr;
}

static bool object_value(struct run *r, const struct stmt *st, const struct expr *e, uint64_t *v)
{
	struct rt_obj *o = dr_rt(r, e->obj);

	if (e->obj->kind != O_NUMBER && (!o->made || (e->obj->kind == O_MW && o->gone))) {
		dr_broken(r, st, e->column, e->obj->kind == O_PACKET ? "%s was not seen yet" : "%s is not there yet",
			  e->obj->name);
		return false;
	}
	if (e->obj->kind == O_NUMBER) {
		*v = o->number;
		return true;
	}
	switch (e->attr) {
	case A_ADDR:
		*v = o->mem.addr;
		return true;
	case A_LEN:
		*v = o->mem.len;
		return true;
	case A_RKEY:
		*v = e->obj->kind == O_MW ? r->t->ops->mw_rkey(r->t, o->h, e->obj->type == 1) : o->mem.rkey;
		return true;
	case A_LKEY:
		*v = o->mem.lkey;
		return true;
	case A_QPN:
		*v = o->qpn;
		return true;
	case A_PSN:
		*v = o->psn;
		return true;
	case A_CQE:
	case A_MAX_WR:
		*v = size_of_queue(r, o, e->attr);
		return true;
	case A_TIME:
		*v = o->time;
		return true;
	default:
		return packet_field(r, st, e, v);
	}
}

bool dr_eval(struct run *r, const struct stmt *st, const struct expr *e, uint64_t *v)
{
	uint64_t l = 0, m = 0;

	if (e->kind == E_OBJECT)
		return object_value(r, st, e, v);
	if (e->kind == E_LIMIT) {
		*v = r->t->ops->limit(r->t, (int)e->number, (enum dr_limit)e->field);
		return true;
	}
	if ((e->l != NULL && !dr_eval(r, st, e->l, &l)) || (e->r != NULL && !dr_eval(r, st, e->r, &m)))
		return false;
	switch (e->kind) {
	case E_NUMBER:
		*v = e->number;
		break;
	case E_ADD:
		*v = l + m;
		break;
	case E_SUB:
		*v = l - m;
		break;
	case E_MUL:
		*v = l * m;
		break;
	case E_NOT: /* of a key: 32 bits */
		*v = ~l & UINT32_MAX;
		break;
	case E_NEG:
		*v = 0 - l;
		break;
	default:
		if (l > 31) {
			dr_broken(r, st, e->column, "a timer code is 0 to 31");
			return false;
		}
		*v = e->kind == E_RNR_TIME ? vs_rnr_timer_ns((uint8_t)l) : vs_cm_timeout_ns((uint8_t)l);
		break;
	}
	return true;
}

bool dr_value(struct run *r, const struct stmt *st, int id, uint64_t fallback, uint64_t max, uint64_t *v)
{
	const struct option *o = dr_opt(st, id);

	*v = fallback;
	if (o == NULL)
		return true;
	if (o->v.kind == V_FLAG) {
		*v = 1;
		return true;
	}
	if (o->v.kind == V_WORD && o->v.e == NULL) {
		*v = (uint64_t)o->v.word;
		return true;
	}
	if (o->v.e == NULL || !dr_eval(r, st, o->v.e, v))
		return false;
	if (*v <= max)
		return true;
	dr_broken(r, st, o->column, "%s is at most %llu", o->key->name, (unsigned long long)max);
	return false;
}

bool dr_memory(struct run *r, const struct stmt *st, const struct value *v, uint32_t *from, uint32_t *to)
{
	const struct rt_obj *o = dr_rt(r, v->obj);
	uint64_t a = 0, b = o->mem.len;

	if (!o->made) {
		dr_broken(r, st, st->column, "%s is not there yet", v->obj->name);
		return false;
	}
	if (v->e2 != NULL) {
		if (!dr_eval(r, st, v->e, &a) || !dr_eval(r, st, v->e2, &b))
			return false;
	} else if (v->e != NULL && !dr_eval(r, st, v->e, &b)) {
		return false;
	}
	if (a > b || b > UINT32_MAX) {
		dr_broken(r, st, st->column, "%s[%llu:%llu] is no part of a region", v->obj->name,
			  (unsigned long long)a, (unsigned long long)b);
		return false;
	}
	*from = (uint32_t)a;
	*to = (uint32_t)b;
	return true;
}

void dr_read_memory(struct run *r, struct rt_obj *o)
{
	if (o->mem.h != NULL && r->t->ops->mr_read != NULL)
		r->t->ops->mr_read(r->t, &o->mem);
}

bool dr_bytes(struct run *r, const struct stmt *st, const struct value *v, const uint8_t **bytes, uint32_t *len)
{
	uint64_t n = 0;
	uint32_t from, to;
	uint8_t *made;

	switch (v->kind) {
	case V_BYTES:
		*bytes = v->bytes;
		*len = v->len;
		return true;
	case V_DATA:
		if (v->obj != NULL && !dr_rt(r, v->obj)->made) {
			dr_broken(r, st, st->column, "%s was not seen yet", v->obj->name);
			return false;
		}
		*bytes = v->obj != NULL ? dr_rt(r, v->obj)->pkt.payload : r->data;
		*len = v->obj != NULL ? dr_rt(r, v->obj)->pkt.payload_len : r->data_len;
		return true;
	case V_SLICE:
		if (!dr_memory(r, st, v, &from, &to))
			return false;
		if (to > dr_rt(r, v->obj)->mem.len) {
			dr_broken(r, st, st->column, "%s has %u bytes", v->obj->name, dr_rt(r, v->obj)->mem.len);
			return false;
		}
		dr_read_memory(r, dr_rt(r, v->obj));
		*bytes = dr_rt(r, v->obj)->mem.bytes + from;
		*len = to - from;
		return true;
	default:
		break;
	}
	if (!dr_eval(r, st, v->e, &n))
		return false;
	if (v->kind == V_NUMBER && n > MAX_REGION) {
		dr_broken(r, st, st->column, "data of more than %u bytes", MAX_REGION);
		return false;
	}
	made = dr_alloc(&r->p->arena, v->kind == V_WORD ? 8 : n + 1);
	if (made == NULL) {
		dr_broken(r, st, st->column, "the script needs too much memory");
		return false;
	}
	*bytes = made;
	*len = v->kind == V_WORD ? 8 : (uint32_t)n;
	if (v->kind == V_WORD) {
		memcpy(made, &n, 8);
		return true;
	}
	r->serial++;
	for (uint64_t i = 0; i < n; i++)
		made[i] = (uint8_t)(r->serial * 37 + i + i / 251);
	return true;
}

/* ---- hearing ---- */

static struct seen *push(struct run *r, enum seen_kind kind, int node, size_t extra)
{
	struct seen *s = r->count[kind] < MAX_SEEN ? calloc(1, sizeof(*s) + extra) : NULL;

	if (s == NULL) {
		dr_verdict(r, NULL, 0, "more than %u things happened that nothing in the script takes", MAX_SEEN);
		return NULL;
	}
	s->node = node;
	s->time = kind != SEEN_PACKET && r->t->ops->when != NULL ? r->t->ops->when(r->t) : r->t->ops->now(r->t);
	s->line = r->line;
	if (r->tail[kind] != NULL)
		r->tail[kind]->next = s;
	else
		r->head[kind] = s;
	r->tail[kind] = s;
	r->count[kind]++;
	return s;
}

static struct seen *push_frame(struct run *r, int node, uint64_t now, enum vs_link link, const uint8_t *frame,
			       size_t len)
{
	struct seen *s = push(r, SEEN_PACKET, node, len);

	if (s == NULL)
		return NULL;
	s->time = now;
	s->frame = (uint8_t *)(s + 1);
	s->len = len;
	memcpy(s->frame, frame, len);
	s->parsed = vs_pkt_parse(&s->pkt, link, 0, s->frame, len, len, 0) == VS_OK;
	s->good = s->parsed && vs_icrc_check(&s->pkt, s->frame, NULL) == VS_CRC_GOOD;
	return s;
}

void dr_frame_sent(void *ctx, int node, uint64_t now, enum vs_link link, const uint8_t *frame, size_t len)
{
	struct run *r = ctx;

	if (r->p->watched >> node & 1)
		(void)push_frame(r, node, now, link, frame, len);
}

void dr_frame_heard(void *ctx, uint64_t now, enum vs_link link, const uint8_t *frame, size_t len)
{
	struct run *r = ctx;
	struct seen *s = push_frame(r, dr_peer_node(r->p), now, link, frame, len);

	if (s != NULL && s->good && !(r->p->waived >> WV_PAYLOAD & 1) && !dr_payload_known(r, &s->pkt) &&
	    !dr_payload_known_now(r, &s->pkt))
		dr_verdict(r, NULL, 0, "a packet with PSN 0x%06x carries bytes that nobody gave the device",
			   s->pkt.bth.psn);
}

static void hear_cq(struct run *r, int node, struct obj *o, void *cq)
{
	struct vs_wc wc;

	while (!r->failed && r->t->ops->cq_poll(r->t, cq, &wc) == 1) {
		struct seen *s = push(r, SEEN_CQE, node, 0);

		if (s == NULL)
			return;
		s->wc = wc;
		s->cq = o;
	}
}

static struct obj *queue_of(struct run *r, int node, const void *cq)
{
	for (unsigned i = 0; i < r->p->n_objs; i++)
		if (r->p->obj[i]->node == node && r->p->obj[i]->kind == O_CQ && r->obj[i].h == cq)
			return r->p->obj[i];
	return NULL;
}

void dr_hear(struct run *r)
{
	struct vs_conn_event ev;
	struct vs_async a;
	struct seen *s;
	void *cq = NULL;

	for (unsigned i = 0; i < r->p->n_objs; i++) {
		struct obj *o = r->p->obj[i];

		if (o->kind == O_CQ && r->obj[i].made && !r->obj[i].gone && !r->obj[i].lazy)
			hear_cq(r, o->node, o, r->obj[i].h);
	}
	for (int n = 0; n < (int)r->p->n_nodes; n++) {
		if (!r->p->node[n].engine)
			continue;
		hear_cq(r, n, NULL, r->cq[n]);
		while (r->t->ops->async(r->t, n, &a) == 1 && (s = push(r, SEEN_ASYNC, n, 0)) != NULL)
			s->async = a;
		while (r->t->ops->comp_event(r->t, n, &cq) == 1 && (s = push(r, SEEN_COMP, n, 0)) != NULL)
			s->cq = queue_of(r, n, cq);
		while (r->t->ops->conn_event(r->t, n, &ev) == 1 && (s = push(r, SEEN_CM, n, 0)) != NULL) {
			s->cm = ev;
			dr_cm_heard(r, n, s);
		}
	}
}

bool dr_step(struct run *r)
{
	if (++r->steps > r->max_steps)
		dr_broken(r, NULL, 0, "more than %llu things happened: does this script end?",
			  (unsigned long long)r->max_steps);
	return !r->failed;
}

bool dr_pass(struct run *r, uint64_t until)
{
	bool more = r->t->ops->step(r->t, until);

	dr_hear(r);
	if (r->t->gone != NULL)
		dr_verdict(r, NULL, 0, "%s", r->t->gone);
	(void)dr_step(r);
	return more && !r->failed;
}

/* ---- statements ---- */

static void statements(struct run *r, const struct stmt *st, uint64_t start, bool first_started);

static void await_one(struct run *r, const struct stmt *st, uint64_t start, uint32_t k)
{
	bool over = false;
	uint64_t until = 0;
	enum outcome o;

	while ((o = dr_observe(r, st, start, k, over, &until)) == PENDING && !r->failed) {
		over = !dr_pass(r, until);
		if (over)
			dr_look_later(r, st, start, k, until);
	}
	if (o == HOLDS && !r->failed)
		dr_consume(r, st, k);
}

/* Those of count=A..B that may come. */
static void await_more(struct run *r, const struct stmt *st, uint64_t start, uint32_t k, uint32_t most)
{
	uint64_t until = 0;

	for (; k < most && !r->failed; k++) {
		enum outcome o;

		while ((o = dr_one_more(r, st, start, k, &until)) == PENDING && dr_pass(r, until))
			;
		if (o == PENDING)
			o = dr_one_more(r, st, start, k, &until);
		if (o != HOLDS)
			return;
		dr_consume(r, st, k);
	}
}

static void await(struct run *r, const struct stmt *st, uint64_t start)
{
	uint32_t most = dr_items(r, st), least = dr_least(r, st, most);

	for (uint32_t k = 0; k < least && !r->failed; k++)
		await_one(r, st, start, k);
	if (least < most)
		await_more(r, st, start, least, most);
}

static void choose_alternative(struct run *r, const struct stmt *st, const struct alternative *a, uint64_t start)
{
	size_t n = strlen(r->variants);

	(void)snprintf(r->variants + n, sizeof(r->variants) - n, "%s%s", n > 0 ? "," : "", a->name);
	(void)st;
	statements(r, a->first, start, true);
}

/* Is the first thing that the alternative says a thing to see? Others are done when nothing before them holds. */
static void one_of(struct run *r, const struct stmt *st)
{
	uint64_t start = r->t->ops->now(r->t), over = 0; /* everything up to that has happened */

	for (;;) {
		uint64_t until = VS_NEVER, now = r->t->ops->now(r->t);
		char names[160] = "";

		for (const struct alternative *a = st->alt; a != NULL; a = a->next) {
			struct vs_drill_error keep = r->res->at;
			uint64_t u = now;
			enum outcome o = a->first == NULL ? HOLDS : dr_observe(r, a->first, start, 0, false, &u);

			if (o == PENDING && u <= over)
				o = dr_observe(r, a->first, start, 0, true, &u);
			if (o == FAILS) {
				size_t n = strlen(names);

				if (r->res->verdict == VS_VERDICT_ERROR)
					return;
				(void)snprintf(names + n, sizeof(names) - n, "; %s: %.60s", a->name, r->res->at.text);
				r->failed = false;
				r->res->at = keep;
			}
			if (o == HOLDS) {
				choose_alternative(r, st, a, start);
				return;
			}
			if (o == PENDING && u < until)
				until = u;
		}
		if (until == VS_NEVER) {
			dr_verdict(r, st, st->column, "none of the alternatives happened%s", names);
			return;
		}
		if (!dr_pass(r, until))
			over = until;
		if (r->failed)
			return;
	}
}

static void repeat(struct run *r, const struct stmt *st)
{
	uint64_t first = 1, last = 0;

	if (!dr_eval(r, st, st->left.e, st->obj != NULL ? &first : &last) ||
	    (st->obj != NULL && !dr_eval(r, st, st->left.e2, &last)))
		return;
	for (uint64_t i = first; i <= last && !r->failed; i++) {
		if (st->obj != NULL)
			dr_rt(r, st->obj)->number = i;
		statements(r, st->alt->first, 0, false);
		if (i == UINT64_MAX)
			break;
	}
}

static void statements(struct run *r, const struct stmt *st, uint64_t start, bool first_started)
{
	for (; st != NULL && !r->failed; st = st->next) {
		r->line = st->line;
		if (++r->res->steps > r->max_steps / 10) {
			dr_broken(r, st, st->column, "more than %llu statements were executed: does this script end?",
				  (unsigned long long)r->max_steps / 10);
			return;
		}
		if (st->watched && !r->t->tells_sent)
			r->t->lacks = "nobody hears what an engine sends to another one here";
		if (!first_started)
			start = r->t->ops->now(r->t);
		first_started = false;
		if (st->kind == S_ONE_OF)
			one_of(r, st);
		else if (st->kind == S_REPEAT)
			repeat(r, st);
		else if (dr_items(r, st) > 0)
			await(r, st, start);
		else
			dr_execute(r, st);
		if (r->t->differs != NULL)
			dr_verdict(r, st, st->column, "%s", r->t->differs);
		if (!r->failed)
			dr_hear(r);
		if (r->t->lacks != NULL || r->t->gone != NULL)
			dr_verdict(r, st, st->column, "%s", r->t->gone != NULL ? r->t->gone : r->t->lacks);
	}
}

/* ---- setting up ---- */

static bool node_option(struct run *r, struct dr_setup *s, const struct stmt *st)
{
	struct dr_node_opt *o = &s->node[st->node];
	uint64_t ack = 0, window = 0, rd = 0, mtu = 0, msn = 0;

	if (!dr_value(r, st, K_ACK_EVERY, 0, 4096, &ack) || !dr_value(r, st, K_WINDOW, 0, 0x7fffff, &window) ||
	    !dr_value(r, st, K_RD_ATOMIC, 0, 255, &rd) || !dr_value(r, st, K_MTU, 0, 4096, &mtu) ||
	    !dr_value(r, st, K_MSN, 0, VS_PSN_MASK, &msn))
		return false;
	o->ack_every = (uint32_t)ack;
	o->window = (uint32_t)window;
	o->max_rd_atomic = (uint32_t)rd;
	o->mtu = (uint32_t)mtu;
	o->msn = (uint32_t)msn;
	o->e2e_credits = dr_opt(st, K_E2E) != NULL;
	o->cc |= dr_opt(st, K_CC) != NULL;
	o->privileged_qkey = dr_opt(st, K_PRIVILEGED) != NULL;
	return true;
}

static bool link_option(struct run *r, struct dr_setup *s, const struct stmt *st)
{
	uint64_t queue = 0, ecn = 0, pause = 0;

	if (!dr_value(r, st, K_LATENCY, s->latency_ns, 10000000000u, &s->latency_ns) ||
	    !dr_value(r, st, K_RATE, s->rate_bps, 4000000000000u, &s->rate_bps) ||
	    !dr_value(r, st, K_QUEUE, 0, UINT32_MAX, &queue) || !dr_value(r, st, K_ECN, 0, UINT32_MAX, &ecn) ||
	    !dr_value(r, st, K_PAUSE, 0, UINT32_MAX, &pause))
		return false;
	s->queue_bytes = (uint32_t)queue;
	s->ecn_bytes = (uint32_t)ecn;
	s->pause_bytes = (uint32_t)pause;
	return true;
}

static int encap_of(const struct run *r)
{
	const char *name = r->env->encap;

	for (const struct word *w = dr_encap_words; name != NULL && w->name != NULL; w++)
		if (strcmp(w->name, name) == 0)
			return w->value;
	if (name != NULL)
		return -1;
	return r->p->encap >= 0 ? r->p->encap : EN_ROCEV2_IPV4;
}

static bool open_target(struct run *r)
{
	struct dr_setup s = {.d = r->d,
			     .p = r->p,
			     .env = r->env,
			     .vector = r->vector,
			     .latency_ns = 1000,
			     .ears = {dr_frame_heard, dr_frame_sent, r}};
	char why[VS_DRILL_TEXT / 2] = "no memory";
	bool skip = false;

	r->encap = s.encap = encap_of(r);
	if (s.encap < 0) {
		dr_broken(r, NULL, 0, "there is no encapsulation %s", r->env->encap);
		return false;
	}
	for (unsigned n = 0; n < r->p->n_nodes; n++) {
		memcpy(s.node[n].pkeys, r->p->pkeys[n], sizeof(s.node[n].pkeys));
		s.node[n].cc = vs_drill_needs(r->d, "cc");
	}
	for (const struct stmt *st = r->p->first; st != NULL && !r->failed; st = st->next)
		if (st->kind == S_DEVICE ? !node_option(r, &s, st) : st->kind == S_LINK && !link_option(r, &s, st))
			return false;
	r->t = r->open(r->open_ctx, &s, why, sizeof(why), &skip);
	if (r->t == NULL) {
		dr_broken(r, NULL, 0, "%s", why);
		if (skip)
			r->res->verdict = VS_VERDICT_SKIP;
		return false;
	}
	for (unsigned i = 0; i < r->p->n_objs; i++) {
		const struct obj *o = r->p->obj[i];

		r->obj[i].encap = r->encap;
		if (o->kind != O_QP || r->p->node[o->node].engine)
			continue;
		r->obj[i].made = true;
		r->obj[i].qpn = r->t->peer_qpn + i * r->t->peer_qpn_step;
		r->obj[i].mtu = 1024;
		r->obj[i].qkey = 0x11111111;
	}
	for (int i = 0; i < (int)r->p->n_nodes; i++) {
		if (r->p->node[i].engine && r->t->ops->cq_create(r->t, i, 16384, NULL, &r->cq[i]) < 0) {
			dr_broken(r, NULL, 0, "there is no room for a completion queue");
			return false;
		}
	}
	return true;
}

static void close_run(struct run *r)
{
	if (r->t != NULL)
		r->t->ops->destroy(r->t);
	for (unsigned k = 0; k < SEEN_KINDS; k++) {
		while (r->head[k] != NULL) {
			struct seen *s = r->head[k];

			r->head[k] = s->next;
			free(s);
		}
	}
	while (r->pending != NULL) {
		struct pending *p = r->pending;

		r->pending = p->next;
		free(p);
	}
	for (unsigned i = 0; i < r->p->n_objs; i++) {
		free(r->obj[i].frame);
		/* The peer's memory is the script's own. */
		if (r->p->obj[i]->kind == O_MR && !r->p->node[r->p->obj[i]->node].engine)
			free(r->obj[i].mem.bytes);
	}
	free(r->data);
	dr_payload_free(r);
}

/* What the script needs and this encapsulation does not have; NULL: nothing. All else is in the simulator. */
static const char *lacking(const struct run *r)
{
	static const struct {
		enum dr_need need;
		unsigned where; /* 1 << enum dr_encap: where it is */
		const char *text;
	} rows[] = {
		{ND_ECN, 1u << EN_ROCEV2_IPV4 | 1u << EN_ROCEV2_IPV6, "there is no ECN without an IP header"},
		{ND_GRH, ~(1u << EN_IB), "there is no GRH on a native link without it"},
		{ND_ETHERNET, 1u << EN_ROCEV2_IPV4 | 1u << EN_ROCEV2_IPV6 | 1u << EN_ROCEV1,
		 "there is no Ethernet header on a native link"},
		{ND_UDP, 1u << EN_ROCEV2_IPV4 | 1u << EN_ROCEV2_IPV6, "there is no UDP but in RoCEv2"},
		{ND_IPV4, 1u << EN_ROCEV2_IPV4, "the packets have no IPv4 header"},
		{ND_IPV6, 1u << EN_ROCEV2_IPV6, "the packets have no IPv6 header"},
		{ND_LRH, 1u << EN_IB | 1u << EN_IB_GRH, "there is no LRH on Ethernet"},
		{ND_LOCAL, 1u << EN_IB, "the packets have global addresses too"},
	};
	int encap = encap_of(r);

	if (encap < 0) /* said elsewhere */
		return NULL;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (r->d->needs >> rows[i].need & 1 && !(rows[i].where >> encap & 1))
			return rows[i].text;
	return NULL;
}

static void run_vector(struct run *r)
{
	uint64_t begin, end;

	const char *why = r->p->skip != NULL ? r->p->skip : lacking(r);

	if (why == NULL && r->open != dr_sim_open && r->d->sim_only[0] != '\0')
		why = r->d->sim_only;

	if (why != NULL) {
		r->res->verdict = VS_VERDICT_SKIP;
		(void)snprintf(r->res->at.text, sizeof(r->res->at.text), "%s", why);
		return;
	}
	if (!open_target(r))
		return;
	begin = r->t->slack_ns > 0 ? r->t->ops->now(r->t) : 0; /* real clocks begin anywhere */
	statements(r, r->p->first, 0, false);
	end = r->t->ops->now(r->t) + (r->t->recorded ? UINT64_C(3600000000000) : r->t->settle_ns);
	while (!r->failed && dr_pass(r, end))
		;
	if (!r->failed)
		dr_leftovers(r);
	r->res->time_ns = r->t->ops->now(r->t) - begin;
	if (!r->failed && r->variants[0] != '\0') {
		r->res->verdict = VS_VERDICT_VARIANT;
		r->res->late = r->t->ops->lag_ns != NULL && r->t->ops->lag_ns(r->t) > r->t->slack_ns / 2;
		memcpy(r->res->variant, r->variants, sizeof(r->res->variant));
	}
}

void dr_run(const struct vs_drill *d, unsigned vector, const struct vs_drill_env *env, dr_open_fn *open, void *ctx,
	    struct vs_drill_result *result)
{
	static const struct vs_drill_env none;
	struct program p = {.n_nodes = 0};
	struct run *r = calloc(1, sizeof(*r));

	*result = (struct vs_drill_result){.verdict = VS_VERDICT_PASS};
	if (r == NULL || vector >= d->vectors) {
		result->verdict = VS_VERDICT_ERROR;
		(void)snprintf(result->at.text, sizeof(result->at.text),
			       r == NULL ? "no memory" : "there is no vector %u", vector);
		free(r);
		return;
	}
	r->d = d;
	r->p = &p;
	r->env = env != NULL ? env : &none;
	r->open = open;
	r->vector = vector;
	r->open_ctx = ctx;
	r->res = result;
	r->max_steps = r->env->max_steps != 0 ? r->env->max_steps : MAX_STEPS;
	r->pending_tail = &r->pending;
	/* Only reading: the header of the script is as it was. */
	if (dr_parse_vector((struct vs_drill *)(uintptr_t)d, vector, &p, &result->at)) {
		if (r->env->vlan != 0)
			p.vlan = r->env->vlan;
		run_vector(r);
	} else {
		result->verdict = VS_VERDICT_ERROR;
	}
	close_run(r);
	dr_arena_free(&p.arena);
	free(r);
}

void vs_drill_run_sim(const struct vs_drill *d, unsigned vector, const struct vs_drill_env *env,
		      struct vs_drill_result *result)
{
	dr_run(d, vector, env, dr_sim_open, NULL, result);
}
