/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * why_memory.c - keys, ranges and rights, at this end and at the peer. A device that says which it was is believed;
 * elsewhere what the program registered is compared with what the request named.
 */
#include <string.h>

#include "why.h"

/* ---- what is looked for ---- */

struct range {
	uint32_t key;
	uint64_t addr, len;
	uint32_t rights; /* that it takes */
	bool known;
};

/* The registered region with this key at a node, the newest before the symptom. */
static const struct why_mr *region(const struct why *w, size_t node, uint32_t key, bool remote)
{
	for (size_t i = w->n_mr; i > 0; i--)
		if (w->mr[i - 1].node == node && (remote ? w->mr[i - 1].rkey : w->mr[i - 1].lkey) == key)
			return &w->mr[i - 1];
	return NULL;
}

static unsigned regions(const struct why *w, size_t node)
{
	unsigned n = 0;

	for (size_t i = 0; i < w->n_mr; i++)
		n += w->mr[i].node == node;
	return n;
}

static uint32_t remote_right(enum vs_wr_opcode op)
{
	switch (op) {
	case VS_WR_RDMA_READ:
		return VS_ACCESS_REMOTE_READ;
	case VS_WR_ATOMIC_CMP_AND_SWP:
	case VS_WR_ATOMIC_FETCH_AND_ADD:
		return VS_ACCESS_REMOTE_ATOMIC;
	default:
		return VS_ACCESS_REMOTE_WRITE;
	}
}

static bool is_atomic(enum vs_wr_opcode op)
{
	return op == VS_WR_ATOMIC_CMP_AND_SWP || op == VS_WR_ATOMIC_FETCH_AND_ADD;
}

static struct range remote(const struct why *w)
{
	const struct vt_op *o = why_op(w);
	struct range r = {0};

	if (o == NULL || !(o->flags & VT_OP_HAS_RETH))
		return r;
	r = (struct range){o->rkey, o->va, is_atomic(o->opcode) ? 8 : o->len, remote_right(o->opcode), true};
	return r;
}

/* The SGE of the request that fits no region best: one by one. */
static bool next_sge(const struct why *w, size_t *i, struct range *r)
{
	const struct vt_op *o = why_op(w);
	bool writes = o != NULL && (o->flags & VT_OP_RECV || o->opcode == VS_WR_RDMA_READ || is_atomic(o->opcode));

	for (; o != NULL && o->post != VT_NONE && *i < w->m->n_events; (*i)++) {
		const struct vs_event *e = &w->m->ev[*i];

		if (e->type != VS_EV_VERB_SGE || e->qpn != w->me.qpn || !e->has_wr || e->wr_id != o->wr_id ||
		    w->m->ev[o->post].t_ns + 1000000 < e->t_ns || strcmp(e->node, w->m->ev[o->post].node) != 0)
			continue;
		*r = (struct range){(uint32_t)e->a[3], e->a[1], e->a[2], writes ? VS_ACCESS_LOCAL_WRITE : 0, true};
		(*i)++;
		return true;
	}
	return false;
}

static bool outside(const struct why_mr *mr, const struct range *r)
{
	return r->addr < mr->addr || r->addr - mr->addr > mr->len || r->len > mr->len - (r->addr - mr->addr);
}

static bool gone(const struct why *w, const struct why_mr *mr)
{
	return mr->gone != VT_NONE && (w->subject == VT_NONE || mr->gone < w->subject);
}

/* ---- one question of one range ---- */

enum question { KEY, GONE, RANGE, RIGHT, PD };

static void ask(struct why *w, size_t node, const struct range *r, bool is_remote, enum question q)
{
	const struct why_mr *mr = region(w, node, r->key, is_remote);
	const char *name = is_remote ? "rkey" : "lkey";

	if (mr == NULL) {
		if (q == KEY && regions(w, node) > 0)
			why_for(w, WHY_LIKELY + 20, VT_NONE,
				"no region with %s 0x%x is among the %u that were registered there", name, r->key,
				regions(w, node));
		else if (q != KEY && regions(w, node) > 0)
			why_against(w, VT_NONE, "no region has this key at all");
		return;
	}
	if (q == KEY)
		why_against(w, mr->made, "a region with %s 0x%x was registered", name, r->key);
	if (q == GONE && gone(w, mr))
		why_for(w, WHY_LIKELY + 25, mr->gone, "the region with %s 0x%x was deregistered before", name, r->key);
	if (q == GONE && mr->gone == VT_NONE)
		why_against(w, mr->made, "the region is still registered");
	if (q == RANGE && outside(mr, r))
		why_for(w, WHY_LIKELY + 20, mr->made, "0x%llx + %llu is not inside 0x%llx + %llu",
			(unsigned long long)r->addr, (unsigned long long)r->len, (unsigned long long)mr->addr,
			(unsigned long long)mr->len);
	if (q == RANGE && !outside(mr, r))
		why_against(w, mr->made, "the range lies inside the region");
	if (q == RIGHT && (mr->access & r->rights) != r->rights)
		why_for(w, WHY_LIKELY + 20, mr->made, "it was registered with access 0x%x, which lacks 0x%x",
			mr->access, r->rights);
	if (q == RIGHT && (mr->access & r->rights) == r->rights)
		why_against(w, mr->made, "the region has the right that is needed");
	if (q == PD && !outside(mr, r) && (mr->access & r->rights) == r->rights && !gone(w, mr))
		why_for(w, WHY_LIKELY, mr->made, "key, range and rights fit: the protection domain is what is left");
	if (q == PD && (outside(mr, r) || (mr->access & r->rights) != r->rights))
		why_against(w, mr->made, "range or rights are wrong already");
}

/* Of several SGEs one that is wrong is enough. */
static void ask_local(struct why *w, enum question q)
{
	struct why_verdict best = *w->now, start = *w->now;
	struct range r;
	size_t i = 0;

	while (next_sge(w, &i, &r)) {
		*w->now = start;
		ask(w, w->me.node, &r, false, q);
		if (w->now->score > best.score || (best.n_for == 0 && w->now->n_against > 0))
			best = *w->now;
	}
	*w->now = best;
}

static void ask_remote(struct why *w, enum question q)
{
	struct range r = remote(w);

	if (r.known && w->peer.recorded)
		ask(w, w->peer.node, &r, true, q);
}

static void lkey_unknown(struct why *w)
{
	if (!why_said(w, VS_REASON_LKEY_INVALID))
		ask_local(w, KEY);
}
static void lkey_gone(struct why *w)
{
	ask_local(w, GONE);
	if (w->now->score > 0)
		w->now->score =
			WHY_CERTAIN + 1; /* of the two that a device calls an unknown key, the one that says more */
}
static void lkey_range(struct why *w)
{
	if (!why_said(w, VS_REASON_LKEY_RANGE))
		ask_local(w, RANGE);
}
static void lkey_right(struct why *w)
{
	if (!why_said(w, VS_REASON_LKEY_ACCESS))
		ask_local(w, RIGHT);
}
static void lkey_pd(struct why *w)
{
	if (!why_said(w, VS_REASON_LKEY_PD))
		ask_local(w, PD);
}
static void rkey_unknown(struct why *w)
{
	if (!why_said(w, VS_REASON_RKEY_INVALID))
		ask_remote(w, KEY);
}
static void rkey_gone(struct why *w)
{
	ask_remote(w, GONE);
	if (w->now->score > 0)
		w->now->score = WHY_CERTAIN + 1;
}
static void rkey_range(struct why *w)
{
	if (!why_said(w, VS_REASON_RKEY_RANGE))
		ask_remote(w, RANGE);
}
static void rkey_right(struct why *w)
{
	if (!why_said(w, VS_REASON_RKEY_ACCESS))
		ask_remote(w, RIGHT);
}
static void rkey_pd(struct why *w)
{
	if (!why_said(w, VS_REASON_RKEY_PD) && !why_said(w, VS_REASON_RKEY_QP))
		ask_remote(w, PD);
}

/* From packets alone nobody can tell which of the three it was. */
static void remote_access(struct why *w)
{
	struct range r = remote(w);

	if (w->peer.recorded && regions(w, w->peer.node) > 0) {
		why_against(w, VT_NONE, "the peer's regions are in the trace: see the other causes");
		return;
	}
	why_for(w, WHY_LIKELY, w->f.first_nak, "NAK: remote access error");
	if (r.known)
		why_for(w, WHY_LIKELY, VT_NONE, "it asked for 0x%llx + %llu with R_Key 0x%x",
			(unsigned long long)r.addr, (unsigned long long)r.len, r.key);
}

why_judge_fn *const why_memory_judge[VT_CAUSE_COUNT] = {
	[VT_CAUSE_LKEY_UNKNOWN] = lkey_unknown,
	[VT_CAUSE_LKEY_GONE] = lkey_gone,
	[VT_CAUSE_LKEY_RANGE] = lkey_range,
	[VT_CAUSE_LKEY_RIGHT] = lkey_right,
	[VT_CAUSE_LKEY_PD] = lkey_pd,
	[VT_CAUSE_RKEY_UNKNOWN] = rkey_unknown,
	[VT_CAUSE_RKEY_GONE] = rkey_gone,
	[VT_CAUSE_RKEY_RANGE] = rkey_range,
	[VT_CAUSE_RKEY_RIGHT] = rkey_right,
	[VT_CAUSE_RKEY_PD] = rkey_pd,
	[VT_CAUSE_REMOTE_ACCESS] = remote_access,
};
