/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * eval.c - what expressions, options and data of a script stand for, at the moment when their statement is executed.
 */
#include <stdio.h>
#include <stdlib.h>

#include "packet.h"
#include "vs/cm.h"
#include "vs/mad.h"

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
