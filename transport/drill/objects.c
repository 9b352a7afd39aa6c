/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * objects.c - what a node has besides queue pairs: protection domains, memory, windows, queues, channels, address
 * handles; made, changed, destroyed. A name whose object is destroyed may be given to a new one.
 */
#include <stdlib.h>

#include "run.h"

bool dr_call(struct run *r, const struct stmt *st, int node, int rc)
{
	const struct option *o = dr_opt(st, K_REFUSED);
	enum vs_reason why = rc < 0 ? r->t->ops->reason(r->t, node) : VS_REASON_NONE;

	r->call[node].refused = rc < 0;
	r->call[node].reason = why;
	if (r->t->differs != NULL)
		dr_verdict(r, st, st->column, "%s", r->t->differs);
	else if (rc < 0 && o == NULL && !st->perhaps)
		dr_verdict(r, st, st->column, "the call was refused with %s (%s)", vs_err_name(rc),
			   vs_reason_info(why)->id);
	else if (rc >= 0 && o != NULL)
		dr_verdict(r, st, o->column, "the call was accepted");
	else if (o != NULL && o->v.word > 0 && o->v.word != (int)why && why != VS_REASON_NONE)
		dr_verdict(r, st, o->column, "the call was refused for another reason: %s", vs_reason_info(why)->id);
	return !r->failed && rc >= 0;
}

bool dr_there(struct run *r, const struct stmt *st, const struct obj *o, unsigned column)
{
	const struct rt_obj *rt = dr_rt(r, o);

	if (rt->made && !rt->gone)
		return true;
	dr_broken(r, st, column, "%s is not there", o->name);
	return false;
}

void *dr_pd(struct run *r, const struct stmt *st)
{
	const struct option *o = dr_opt(st, K_PD);

	if (o == NULL || !dr_there(r, st, o->v.obj, o->column))
		return NULL;
	return dr_rt(r, o->v.obj)->h;
}

bool dr_address(struct run *r, const struct stmt *st, struct vs_av *av, bool *said)
{
	static const struct {
		int key;
		uint64_t most;
	} keys[] = {{K_SL, 255}, {K_TCLASS, 255}, {K_HOP_LIMIT, 255}, {K_FLOW_LABEL, UINT32_MAX}, {K_GID_INDEX, 255}};
	const uint64_t usual[5] = {av->sl, av->traffic_class, av->hop_limit, av->flow_label, av->sgid_index};
	uint64_t v[5];

	*said = false;
	for (unsigned i = 0; i < 5; i++) {
		if (!dr_value(r, st, keys[i].key, usual[i], keys[i].most, &v[i]))
			return false;
		*said |= dr_opt(st, keys[i].key) != NULL;
	}
	if (dr_opt(st, K_DGID) != NULL) {
		memcpy(av->dgid, dr_opt(st, K_DGID)->v.bytes, 16);
		*said = true;
	}
	av->sl = (uint8_t)v[0];
	av->traffic_class = (uint8_t)v[1];
	av->hop_limit = (uint8_t)v[2];
	av->flow_label = (uint32_t)v[3];
	av->sgid_index = (uint8_t)v[4];
	return true;
}

/* ---- making ---- */

static int make_mr(struct run *r, const struct stmt *st, struct rt_obj *rt)
{
	uint64_t len, fill, access;
	int rc = VS_OK;

	if (!dr_value(r, st, K_LEN, 0, MAX_REGION, &len) || !dr_value(r, st, K_FILL, 0xee, 255, &fill) ||
	    !dr_value(r, st, K_ACCESS, 0, UINT32_MAX, &access))
		return VS_ERR_INVAL;
	rt->mem = (struct dr_memory){.len = (uint32_t)len};
	if (!r->p->node[st->node].engine) {
		rt->mem.bytes = malloc(len + 1);
		rt->mem.addr = 0x100000000ull + ((uint64_t)st->obj->index << 24);
		rt->mem.rkey = 0x77665500u + st->obj->index * 0x101u;
	} else {
		rc = r->t->ops->mr_reg(r->t, st->node, dr_pd(r, st), (uint32_t)access, &rt->mem);
	}
	if (rc >= 0 && rt->mem.bytes == NULL)
		dr_broken(r, st, st->column, "no memory");
	if (rc < 0 || rt->mem.bytes == NULL)
		return rc < 0 ? rc : VS_ERR_NOSPACE;
	rt->h = rt->mem.h;
	memset(rt->mem.bytes, (int)fill, len);
	if (rt->h != NULL)
		r->t->ops->mr_written(r->t, &rt->mem);
	return rc;
}

static int make_cq(struct run *r, const struct stmt *st, struct rt_obj *rt)
{
	const struct option *ch = dr_opt(st, K_CHANNEL);
	uint64_t n;

	if (!dr_value(r, st, K_CQE, 0, UINT32_MAX, &n) || (ch != NULL && !dr_there(r, st, ch->v.obj, ch->column)))
		return VS_ERR_INVAL;
	rt->lazy = dr_opt(st, K_LAZY) != NULL;
	rt->channel = ch != NULL ? ch->v.obj : NULL;
	return r->t->ops->cq_create(r->t, st->node, (uint32_t)n, ch != NULL ? dr_rt(r, ch->v.obj)->h : NULL, &rt->h);
}

static int make_srq(struct run *r, const struct stmt *st, struct rt_obj *rt)
{
	uint64_t n, sge, limit;
	struct vs_srq_attr a;

	if (!dr_value(r, st, K_MAX_WR, 64, UINT32_MAX, &n) || !dr_value(r, st, K_MAX_SGE, 4, UINT32_MAX, &sge) ||
	    !dr_value(r, st, K_LIMIT, 0, UINT32_MAX, &limit))
		return VS_ERR_INVAL;
	a = (struct vs_srq_attr){(uint32_t)n, (uint32_t)sge, (uint32_t)limit};
	return r->t->ops->srq_create(r->t, st->node, dr_pd(r, st), &a, &rt->h);
}

static int make_mw(struct run *r, const struct stmt *st, struct rt_obj *rt)
{
	uint64_t type;

	if (!dr_value(r, st, K_TYPE, 1, 2, &type))
		return VS_ERR_INVAL;
	st->obj->type = (int)type;
	return r->t->ops->mw_alloc(r->t, st->node, dr_pd(r, st), (enum vs_mw_type)type, &rt->h);
}

static int make_ah(struct run *r, const struct stmt *st, struct rt_obj *rt)
{
	const struct option *to = dr_opt(st, K_TO), *gid = dr_opt(st, K_MGID), *encap = dr_opt(st, K_ENCAP);
	int node = to == NULL ? st->node : to->v.kind == V_OBJECT ? to->v.obj->node : to->v.word;
	struct vs_av av;
	bool said = false;

	if ((to != NULL && to->v.kind == V_SLICE) || (to == NULL && gid == NULL)) {
		dr_broken(r, st, st->column, "an address handle needs to=NODE or mgid=");
		return VS_ERR_INVAL;
	}
	if (r->t->ops->av(r->t, node, encap != NULL ? encap->v.word : -1, &av) < 0) {
		dr_broken(r, st, st->column, "there is no way to that node");
		return VS_ERR_INVAL;
	}
	if (gid != NULL)
		dr_group_address(r, gid->v.bytes, encap != NULL ? encap->v.word : r->encap, &av);
	if (!dr_address(r, st, &av, &said))
		return VS_ERR_INVAL;
	return r->t->ops->ah_create(r->t, st->node, dr_pd(r, st), &av, &rt->h);
}

/*
 * A group as an encapsulation names it, so that a script with a group runs in every one: IPv4 has 239 and the last
 * three bytes, or the IPv4 address that is inside; all others ff0e::ffff:a.b.c.d for an IPv4 address. As vs-pcap
 * convert.
 */
void dr_group_gid(const uint8_t gid[16], int encap, uint8_t out[16])
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	static const uint8_t inside[12] = {0xff, 0x0e, [10] = 0xff, [11] = 0xff};
	bool v4 = memcmp(gid, mapped, 12) == 0;

	memmove(out, gid, 16);
	if (encap != EN_ROCEV2_IPV4 && v4)
		memcpy(out, inside, 12);
	if (encap != EN_ROCEV2_IPV4 || v4)
		return;
	memcpy(out, mapped, 12);
	if (memcmp(gid, inside, 12) != 0)
		out[12] = 239;
}

void dr_group_address(struct run *r, const uint8_t gid[16], int encap, struct vs_av *av)
{
	av->is_global = true;
	dr_group_gid(gid, encap, av->dgid);
	memset(av->dmac, 0, 6);
	av->dlid = r->encap >= EN_IB ? 0xc000 : 0;
}

void dr_make(struct run *r, const struct stmt *st)
{
	struct rt_obj *rt = dr_rt(r, st->obj);
	int rc;

	if (rt->made && !rt->gone) {
		dr_broken(r, st, st->column, "%s is there already", st->obj->name);
		return;
	}
	switch (st->kind) {
	case S_PD:
		rc = r->t->ops->pd_create(r->t, st->node, &rt->h);
		break;
	case S_CHANNEL:
		rc = r->t->ops->channel_create(r->t, st->node, &rt->h);
		break;
	case S_AH:
		rc = make_ah(r, st, rt);
		break;
	case S_MR:
		rc = make_mr(r, st, rt);
		break;
	case S_MW:
		rc = make_mw(r, st, rt);
		break;
	case S_CQ:
		rc = make_cq(r, st, rt);
		break;
	default:
		rc = make_srq(r, st, rt);
		break;
	}
	if (r->failed)
		return;
	rt->made = dr_call(r, st, st->node, rc);
	rt->gone = false;
	if (rt->made && st->kind == S_MR)
		dr_payload_region(r, rt);
}

/* ---- changing ---- */

/* rereg NAME[a:b] access= pd=: what is said changes. */
static void rereg(struct run *r, const struct stmt *st, struct rt_obj *rt)
{
	uint32_t from = 0, to = rt->mem.len;
	unsigned flags = 0;
	uint64_t access;
	void *pd = dr_pd(r, st);

	if (!dr_value(r, st, K_ACCESS, 0, UINT32_MAX, &access))
		return;
	if (st->left.e != NULL) {
		if (!dr_memory(r, st, &st->left, &from, &to))
			return;
		if (to > rt->mem.len) {
			dr_broken(r, st, st->column, "%s has %u bytes", st->obj->name, rt->mem.len);
			return;
		}
		flags |= VS_REREG_TRANSLATION;
	}
	flags |= dr_opt(st, K_ACCESS) != NULL ? VS_REREG_ACCESS : 0u;
	flags |= pd != NULL ? VS_REREG_PD : 0u;
	if (!r->failed)
		(void)dr_call(r, st, st->node,
			      r->t->ops->mr_rereg(r->t, &rt->mem, flags, pd, (uint32_t)access, from, to));
}

void dr_change(struct run *r, const struct stmt *st)
{
	struct rt_obj *rt = dr_rt(r, st->obj);
	uint64_t n, limit;

	if (!dr_there(r, st, st->obj, st->column))
		return;
	if (st->kind == S_REREG) {
		rereg(r, st, rt);
	} else if (st->obj->kind == O_CQ) {
		if (dr_value(r, st, K_CQE, 0, UINT32_MAX, &n))
			(void)dr_call(r, st, st->node, r->t->ops->cq_resize(r->t, rt->h, (uint32_t)n));
	} else if (dr_value(r, st, K_MAX_WR, 0, UINT32_MAX, &n) && dr_value(r, st, K_LIMIT, 0, UINT32_MAX, &limit)) {
		struct vs_srq_attr a = {.max_wr = (uint32_t)n, .srq_limit = (uint32_t)limit};
		unsigned mask = (dr_opt(st, K_MAX_WR) != NULL ? VS_SRQ_MAX_WR : 0u) |
				(dr_opt(st, K_LIMIT) != NULL ? VS_SRQ_LIMIT : 0u);

		(void)dr_call(r, st, st->node, r->t->ops->srq_modify(r->t, rt->h, &a, mask));
	}
}

void dr_destroy(struct run *r, const struct stmt *st)
{
	struct rt_obj *rt = dr_rt(r, st->obj);

	if (!dr_there(r, st, st->obj, st->column))
		return;
	if (!dr_call(r, st, st->node, r->t->ops->destroy_object(r->t, st->obj->kind, rt->h)))
		return;
	rt->gone = true;
	if (st->obj->kind != O_AH) /* a datagram may still name it: what then happens is the claim */
		rt->h = NULL;
}

/* ---- other calls ---- */

void dr_group(struct run *r, const struct stmt *st)
{
	uint8_t gid[16];

	dr_group_gid(dr_opt(st, K_MGID)->v.bytes, r->encap, gid);
	if (dr_there(r, st, st->obj, st->column))
		(void)dr_call(r, st, st->node, r->t->ops->group(r->t, dr_rt(r, st->obj)->h, gid, st->kind == S_ATTACH));
}

void dr_arm(struct run *r, const struct stmt *st)
{
	const struct option *cq = dr_opt(st, K_CQ);

	if (cq == NULL || dr_there(r, st, cq->v.obj, cq->column))
		r->t->ops->cq_arm(r->t, cq != NULL ? dr_rt(r, cq->v.obj)->h : r->cq[st->node],
				  dr_opt(st, K_SOLICITED) != NULL);
}

/* What was accepted and will not complete any more. */
void dr_forget(struct run *r, const struct obj *queue)
{
	for (struct pending **at = &r->pending; *at != NULL;) {
		struct pending *p = *at;

		if (p->q != queue) {
			at = &p->next;
			continue;
		}
		*at = p->next;
		free(p);
	}
	for (r->pending_tail = &r->pending; *r->pending_tail != NULL;)
		r->pending_tail = &(*r->pending_tail)->next;
}
