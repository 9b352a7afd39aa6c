/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * soak_passing.c - a region that comes and goes while everything else works: registered again in place, or given back
 * and made anew. Well-behaved programs wait until the requests that name it are done; in a hostile mood they do not,
 * and those requests may fail. Its old keys must be dead from then on.
 */
#include "soak.h"

void passing_make(struct soak *s, struct host *h)
{
	struct region *r = &h->region[PASSING];
	uint64_t addr = mem_address(s, h);
	struct vs_mr_attr a = {.addr = addr, .length = ARENA, .iova = roll(&s->dice) & 0xfffffffffff8ull};
	int err;

	a.access = VS_ACCESS_LOCAL_WRITE | VS_ACCESS_REMOTE_WRITE | VS_ACCESS_REMOTE_READ | VS_ACCESS_REMOTE_ATOMIC |
		   VS_ACCESS_FLUSH_GLOBAL | VS_ACCESS_FLUSH_PERSISTENT;
	r->iova = a.iova;
	r->mr = vs_mr_reg(h->pd, &a, &err);
	REQUIRE(s, r->mr != NULL, "no region: %s", vs_reason_info(vs_dev_refusal(h->dev))->id);
}

bool passing_open(const struct host *h)
{
	return h->region[PASSING].mr != NULL && !h->passing.shut;
}

void passing_enter(struct wr *w)
{
	for (uint32_t i = 0; i < w->local.n; i++)
		w->near |= w->local.region[i] == PASSING;
	if (w->near)
		w->host->passing.users++;
	if (w->far)
		w->rhost->passing.users++;
}

void passing_leave(struct wr *w)
{
	if (w->near)
		w->host->passing.users--;
	if (w->far)
		w->rhost->passing.users--;
	w->near = w->far = false;
}

/* Requests in flight that name the region of `h`: whatever is said of them, it is no news. */
static void put_at_risk(struct soak *s, const struct host *h)
{
	for (struct wr *w = s->all; w != NULL; w = w->all) {
		struct qp *q = w->qp;

		if (!(w->near && w->host == h) && !(w->far && w->rhost == h))
			continue;
		w->risky = true;
		if (q->type == VS_QPT_RC)
			q->doomed = q->peer->doomed = true;
		else
			q->sq_bad = true;
	}
}

static void again_in_place(struct soak *s, struct host *h)
{
	struct region *r = &h->region[PASSING];
	struct vs_mr_attr a = {.addr = mem_address(s, h), .length = ARENA, .iova = roll(&s->dice) & 0xfffffffffff8ull};

	REQUIRE(s, vs_mr_rereg(r->mr, VS_REREG_TRANSLATION, NULL, &a) == VS_OK, "a region can't be registered again");
	r->iova = a.iova;
	REQUIRE(s, vs_mr_lkey(r->mr) != h->passing.dead_lkey && vs_mr_rkey(r->mr) != h->passing.dead_rkey,
		"a region keeps its keys when it is registered again");
}

static void renew(struct soak *s, struct host *h)
{
	struct region *r = &h->region[PASSING];

	h->passing.dead_lkey = vs_mr_lkey(r->mr);
	h->passing.dead_rkey = vs_mr_rkey(r->mr);
	h->passing.shut = false;
	s->renewals++;
	if (percent(&s->dice, 60)) {
		again_in_place(s, h);
		return;
	}
	REQUIRE(s, vs_mr_dereg(r->mr) == VS_OK, "a region can't be deregistered");
	r->mr = NULL;
}

static void one(struct soak *s, struct host *h)
{
	if (h->region[PASSING].mr == NULL) {
		if (percent(&s->dice, 20))
			passing_make(s, h);
	} else if (h->passing.shut) {
		if (h->passing.users == 0)
			renew(s, h);
	} else if (s->mood == HOSTILE && h->passing.users > 0 && below(&s->dice, 1000) < 2) {
		put_at_risk(s, h);
		renew(s, h);
	} else {
		h->passing.shut = percent(&s->dice, 3);
	}
}

void passing_some(struct soak *s)
{
	for (int i = 0; i < s->n_hosts; i++)
		one(s, &s->host[i]);
}
