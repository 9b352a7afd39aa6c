/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * calls.c - requests that are calls of the verbs: each reads its words, makes one call of the target and says what came
 * of it. An object that is not there, or of another kind, is never passed on.
 */
#include <stdlib.h>
#include <string.h>

#include "agent.h"

/* ---- objects ---- */

static struct ag_slot *slot(struct ag_session *s, struct ag_words *w, enum obj_kind kind)
{
	uint32_t n = (uint32_t)ag_get_num(w, AG_OBJECTS - 1);

	if (n == 0 || n > s->slots || s->slot[n].h == NULL || s->slot[n].h->kind != kind) {
		w->bad = true;
		return NULL;
	}
	return &s->slot[n];
}

/* By its number, and it was not destroyed; 0 is NULL where that is fine. */
static struct vh *by_number(struct ag_session *s, struct ag_words *w, uint32_t n, enum obj_kind kind, bool may_be_none)
{
	if (n == 0 && may_be_none)
		return NULL;
	if (n == 0 || n > s->slots || s->slot[n].h == NULL || s->slot[n].h->kind != kind || s->slot[n].h->any == NULL)
		w->bad = true;
	return w->bad ? NULL : s->slot[n].h;
}

static struct vh *live(struct ag_session *s, struct ag_words *w, enum obj_kind kind)
{
	return by_number(s, w, (uint32_t)ag_get_num(w, AG_OBJECTS - 1), kind, false);
}

static struct vh *live_or_none(struct ag_session *s, struct ag_words *w, enum obj_kind kind)
{
	return by_number(s, w, (uint32_t)ag_get_num(w, AG_OBJECTS - 1), kind, true);
}

int ag_node(struct ag_session *s, struct ag_words *w)
{
	return (int)ag_get_num(w, s->prog.n_nodes > 0 ? s->prog.n_nodes - 1 : 0);
}

/* Gives the object a number, and says it. */
static int made(struct ag_session *s, int rc, struct vh *h)
{
	if (rc < 0)
		return rc;
	s->slot[++s->slots] = (struct ag_slot){.h = h};
	ag_put_num(&s->args, s->slots);
	return AG_DONE;
}

static bool room(const struct ag_session *s, struct ag_words *w)
{
	w->bad |= s->slots == AG_OBJECTS - 1;
	return !w->bad;
}

/* An object that needs nothing but its node. */
static int plain(struct ag_session *s, struct ag_words *w, int (*create)(struct dr_target *t, int node, void **h))
{
	int n = ag_node(s, w), rc;
	void *h = NULL;

	if (!room(s, w) || !ag_at_end(w))
		return AG_WRONG;
	rc = create(&s->t->t, n, &h);
	return made(s, rc, h);
}

static int call_pd(struct ag_session *s, struct ag_words *w)
{
	return plain(s, w, s->t->ops.pd_create);
}

static int call_channel(struct ag_session *s, struct ag_words *w)
{
	return plain(s, w, s->t->ops.channel_create);
}

static int call_cq(struct ag_session *s, struct ag_words *w)
{
	int n = ag_node(s, w), rc;
	uint32_t cqe = (uint32_t)ag_get_num(w, UINT32_MAX);
	struct vh *channel = live_or_none(s, w, O_CHANNEL);
	void *h = NULL;

	if (!room(s, w) || !ag_at_end(w))
		return AG_WRONG;
	rc = s->t->ops.cq_create(&s->t->t, n, cqe, channel, &h);
	rc = made(s, rc, h);
	if (rc == AG_DONE)
		ag_put_num(&s->args, s->t->ops.cq_capacity(&s->t->t, h));
	return rc;
}

static int call_resize(struct ag_session *s, struct ag_words *w)
{
	struct vh *cq = live(s, w, O_CQ);
	uint32_t cqe = (uint32_t)ag_get_num(w, UINT32_MAX);
	int rc;

	if (!ag_at_end(w))
		return AG_WRONG;
	rc = s->t->ops.cq_resize(&s->t->t, cq, cqe);
	if (rc >= 0)
		ag_put_num(&s->args, s->t->ops.cq_capacity(&s->t->t, cq));
	return rc;
}

static int call_srq(struct ag_session *s, struct ag_words *w)
{
	struct vs_srq_attr a = {0, 0, 0};
	int n = ag_node(s, w), rc;
	struct vh *pd = live_or_none(s, w, O_PD);
	void *h = NULL;

	ag_io_srq(&(struct ag_io){.in = w}, &a);
	if (!room(s, w) || !ag_at_end(w))
		return AG_WRONG;
	rc = s->t->ops.srq_create(&s->t->t, n, pd, &a, &h);
	return made(s, rc, h);
}

static int call_srq_modify(struct ag_session *s, struct ag_words *w)
{
	struct vh *srq = live(s, w, O_SRQ);
	struct vs_srq_attr a = {0, 0, 0};
	unsigned mask;

	ag_io_srq(&(struct ag_io){.in = w}, &a);
	mask = (unsigned)ag_get_num(w, UINT32_MAX);
	if (!ag_at_end(w))
		return AG_WRONG;
	return s->t->ops.srq_modify(&s->t->t, srq, &a, mask);
}

static int call_srq_query(struct ag_session *s, struct ag_words *w)
{
	struct vh *srq = live(s, w, O_SRQ);
	struct vs_srq_attr a = {0, 0, 0};

	if (!ag_at_end(w))
		return AG_WRONG;
	s->t->ops.srq_query(&s->t->t, srq, &a);
	ag_io_srq(&(struct ag_io){.out = &s->args}, &a);
	return AG_DONE;
}

/* ---- memory ---- */

static int call_mr(struct ag_session *s, struct ag_words *w)
{
	int n = ag_node(s, w), rc;
	struct vh *pd = live_or_none(s, w, O_PD);
	uint32_t access = (uint32_t)ag_get_num(w, UINT32_MAX);
	struct dr_memory m = {.len = (uint32_t)ag_get_num(w, AG_MEMORY_MAX - s->memory)};
	uint8_t *known;

	if (!room(s, w) || !ag_at_end(w))
		return AG_WRONG;
	known = calloc(1, (size_t)m.len + 1);
	if (known == NULL)
		return VS_ERR_NOSPACE;
	rc = s->t->ops.mr_reg(&s->t->t, n, pd, access, &m);
	if (rc < 0) {
		free(known);
		return rc;
	}
	if (m.len > 0)
		memset(m.bytes, 0, m.len);
	s->memory += m.len;
	rc = made(s, rc, m.h);
	s->slot[s->slots].mem = m;
	s->slot[s->slots].known = known;
	ag_put_num(&s->args, m.addr);
	ag_put_num(&s->args, m.lkey);
	ag_put_num(&s->args, m.rkey);
	return rc;
}

static int call_rereg(struct ag_session *s, struct ag_words *w)
{
	struct ag_slot *mr = slot(s, w, O_MR);
	unsigned flags = (unsigned)ag_get_num(w, 7);
	struct vh *pd = live_or_none(s, w, O_PD);
	uint32_t access = (uint32_t)ag_get_num(w, UINT32_MAX);
	uint32_t to = mr != NULL ? mr->mem.len : 0, from = (uint32_t)ag_get_num(w, to);
	int rc;

	to = (uint32_t)ag_get_num(w, to);
	if (!ag_at_end(w) || from > to || mr->h->any == NULL)
		return AG_WRONG;
	rc = s->t->ops.mr_rereg(&s->t->t, &mr->mem, flags, pd, access, from, to);
	ag_put_num(&s->args, mr->mem.lkey);
	ag_put_num(&s->args, mr->mem.rkey);
	return rc;
}

/* The application wrote; no reply. The bytes stay when the region is gone. */
static int call_put(struct ag_session *s, struct ag_words *w)
{
	struct ag_slot *mr = slot(s, w, O_MR);
	uint32_t off = (uint32_t)ag_get_num(w, mr != NULL ? mr->mem.len : 0);
	uint8_t bytes[AG_CHUNK];
	uint32_t n = (uint32_t)ag_get_bytes(w, bytes, sizeof(bytes));

	if (!ag_at_end(w) || n > mr->mem.len - off)
		return AG_WRONG;
	memcpy(mr->mem.bytes + off, bytes, n);
	memcpy(mr->known + off, bytes, n);
	return AG_DONE;
}

static int call_fill(struct ag_session *s, struct ag_words *w)
{
	struct ag_slot *mr = slot(s, w, O_MR);
	uint32_t off = (uint32_t)ag_get_num(w, mr != NULL ? mr->mem.len : 0);
	uint32_t n = (uint32_t)ag_get_num(w, mr != NULL ? mr->mem.len - off : 0);
	int byte = (int)ag_get_num(w, 255);

	if (!ag_at_end(w))
		return AG_WRONG;
	memset(mr->mem.bytes + off, byte, n);
	memset(mr->known + off, byte, n);
	return AG_DONE;
}

/* Says what has changed since the runner was told last. */
static int call_get(struct ag_session *s, struct ag_words *w)
{
	struct ag_slot *mr = slot(s, w, O_MR);
	struct ag_piece p;
	uint32_t at = 0;

	if (!ag_at_end(w))
		return AG_WRONG;
	while (ag_changed(mr->mem.bytes, mr->known, mr->mem.len, &at, &p)) {
		ag_start(&s->line, p.fill ? "! 0 memfill" : "! 0 mem");
		ag_put_num(&s->line, (uint64_t)(mr - s->slot));
		ag_put_num(&s->line, p.off);
		if (p.fill) {
			ag_put_num(&s->line, p.len);
			ag_put_num(&s->line, mr->known[p.off]);
		} else {
			ag_put_bytes(&s->line, mr->known + p.off, p.len);
		}
		ag_say(s);
	}
	return AG_DONE;
}

static int call_mw(struct ag_session *s, struct ag_words *w)
{
	int n = ag_node(s, w), rc;
	struct vh *pd = live_or_none(s, w, O_PD);
	unsigned type = (unsigned)ag_get_num(w, 2);
	void *h = NULL;

	if (!room(s, w) || !ag_at_end(w))
		return AG_WRONG;
	rc = s->t->ops.mw_alloc(&s->t->t, n, pd, (enum vs_mw_type)type, &h);
	return made(s, rc, h);
}

static int call_mw_rkey(struct ag_session *s, struct ag_words *w)
{
	struct ag_slot *mw = slot(s, w, O_MW);
	bool posted = ag_get_num(w, 1) != 0;

	if (!ag_at_end(w))
		return AG_WRONG;
	ag_put_num(&s->args, s->t->ops.mw_rkey(&s->t->t, mw->h, posted));
	return AG_DONE;
}

/* ---- queue pairs ---- */

static int call_qp(struct ag_session *s, struct ag_words *w)
{
	int n = ag_node(s, w), rc;
	struct ag_qp q = {.pd = 0};
	uint32_t qpn = 0;
	struct vh *pd;
	void *h = NULL;

	ag_io_qp(&(struct ag_io){.in = w}, &q);
	pd = by_number(s, w, q.pd, O_PD, true);
	q.init.send_cq = (void *)by_number(s, w, q.send_cq, O_CQ, false);
	q.init.recv_cq = (void *)by_number(s, w, q.recv_cq, O_CQ, false);
	q.init.srq = (void *)by_number(s, w, q.srq, O_SRQ, true);
	if (!room(s, w) || !ag_at_end(w))
		return AG_WRONG;
	rc = s->t->ops.qp_create(&s->t->t, n, pd, &q.init, &h, &qpn);
	rc = made(s, rc, h);
	if (rc == AG_DONE)
		ag_put_num(&s->args, qpn);
	return rc;
}

static int call_modify(struct ag_session *s, struct ag_words *w)
{
	struct vh *qp = live(s, w, O_QP);
	struct vs_qp_attr a = {.state = VS_QPS_RESET};
	uint32_t mask;

	ag_io_attr(&(struct ag_io){.in = w}, &a);
	mask = (uint32_t)ag_get_num(w, UINT32_MAX);
	if (!ag_at_end(w))
		return AG_WRONG;
	return s->t->ops.qp_modify(&s->t->t, qp, &a, mask);
}

static int call_query(struct ag_session *s, struct ag_words *w)
{
	struct vh *qp = live(s, w, O_QP);
	struct vs_qp_attr a = {.state = VS_QPS_RESET};
	struct vs_qp_init init = {.send_cq = NULL};
	struct ag_io io = {.out = &s->args};

	if (!ag_at_end(w))
		return AG_WRONG;
	s->t->ops.qp_query(&s->t->t, qp, &a, &init);
	ag_io_attr(&io, &a);
	ag_io_cap(&io, &init.cap);
	return AG_DONE;
}

static int call_state(struct ag_session *s, struct ag_words *w)
{
	struct vh *qp = live(s, w, O_QP);

	if (!ag_at_end(w))
		return AG_WRONG;
	ag_put_num(&s->args, (uint64_t)s->t->ops.qp_state(&s->t->t, qp));
	return AG_DONE;
}

static int call_ah(struct ag_session *s, struct ag_words *w)
{
	int n = ag_node(s, w), rc;
	struct vh *pd = live_or_none(s, w, O_PD);
	struct vs_av av = {.port = 0};
	void *h = NULL;

	ag_io_av(&(struct ag_io){.in = w}, &av);
	if (!room(s, w) || !ag_at_end(w))
		return AG_WRONG;
	rc = s->t->ops.ah_create(&s->t->t, n, pd, &av, &h);
	return made(s, rc, h);
}

static int call_group(struct ag_session *s, struct ag_words *w)
{
	struct vh *qp = live(s, w, O_QP);
	uint8_t gid[16] = {0};
	bool attach;

	ag_array(&(struct ag_io){.in = w}, gid, 16);
	attach = ag_get_num(w, 1) != 0;
	if (!ag_at_end(w))
		return AG_WRONG;
	return s->t->ops.group(&s->t->t, qp, gid, attach);
}

static int call_destroy(struct ag_session *s, struct ag_words *w)
{
	enum obj_kind kind = (enum obj_kind)ag_get_num(w, O_NUMBER);
	struct ag_slot *o = slot(s, w, kind);
	int rc;

	if (!ag_at_end(w))
		return AG_WRONG;
	rc = s->t->ops.destroy_object(&s->t->t, kind, o->h);
	for (uint32_t i = 0; rc >= 0 && i < s->watches; i++)
		if (s->watch[i] == (uint32_t)(o - s->slot))
			s->watch[i] = s->watch[--s->watches];
	return rc;
}

/* ---- work ---- */

static int call_send(struct ag_session *s, struct ag_words *w)
{
	struct vh *qp = live(s, w, O_QP);
	struct ag_send r = {.ah = 0};

	ag_io_send(&(struct ag_io){.in = w}, &r);
	/* One that was destroyed is the target's to refuse. */
	if (r.ah > s->slots || (r.ah != 0 && s->slot[r.ah].h->kind != O_AH))
		w->bad = true;
	r.wr.ud.ah = !w->bad && r.ah != 0 ? (void *)s->slot[r.ah].h : NULL;
	r.wr.bind.mw = (void *)by_number(s, w, r.mw, O_MW, r.wr.opcode != VS_WR_BIND_MW);
	r.wr.bind.mr = (void *)by_number(s, w, r.mr, O_MR, true);
	if (!ag_at_end(w) || (r.ah == 0 && qp->qp->qp_type == IBV_QPT_UD))
		return AG_WRONG;
	return s->t->ops.post_send(&s->t->t, qp, &r.wr);
}

static int call_recv(struct ag_session *s, struct ag_words *w)
{
	struct vh *qp = live_or_none(s, w, O_QP), *srq = live_or_none(s, w, O_SRQ);
	struct ag_recv r = {.wr = {.wr_id = 0}};

	ag_io_recv(&(struct ag_io){.in = w}, &r);
	if (!ag_at_end(w) || (qp == NULL) == (srq == NULL))
		return AG_WRONG;
	return s->t->ops.post_recv(&s->t->t, qp, srq, &r.wr);
}

static int call_arm(struct ag_session *s, struct ag_words *w)
{
	struct vh *cq = live(s, w, O_CQ);
	bool solicited = ag_get_num(w, 1) != 0;

	if (!ag_at_end(w))
		return AG_WRONG;
	s->t->ops.cq_arm(&s->t->t, cq, solicited);
	return AG_DONE;
}

static int call_counter(struct ag_session *s, struct ag_words *w)
{
	int n = ag_node(s, w);
	enum vs_counter c = (enum vs_counter)ag_get_num(w, VS_CNT_COUNT - 1);

	if (!ag_at_end(w))
		return AG_WRONG;
	ag_put_num(&s->args, s->t->ops.counter(&s->t->t, n, c));
	return AG_DONE;
}

ag_call_fn *ag_call_find(const char *name)
{
	static const struct {
		const char *name;
		ag_call_fn *fn;
	} calls[] = {
		{"pd", call_pd},
		{"channel", call_channel},
		{"cq", call_cq},
		{"resize", call_resize},
		{"srq", call_srq},
		{"srq_modify", call_srq_modify},
		{"srq_query", call_srq_query},
		{"mr", call_mr},
		{"rereg", call_rereg},
		{"put", call_put},
		{"fill", call_fill},
		{"get", call_get},
		{"mw", call_mw},
		{"mw_rkey", call_mw_rkey},
		{"qp", call_qp},
		{"modify", call_modify},
		{"query", call_query},
		{"state", call_state},
		{"ah", call_ah},
		{"group", call_group},
		{"destroy", call_destroy},
		{"send", call_send},
		{"recv", call_recv},
		{"arm", call_arm},
		{"counter", call_counter},
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strcmp(name, calls[i].name) == 0)
			return calls[i].fn;
	return ag_cm_find(name);
}
