/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * hear.c - what happens is put into the queues of the run, with its time: packets, completions, events.
 */
#include <stdlib.h>

#include "packet.h"
#include "vs/icrc.h"

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
