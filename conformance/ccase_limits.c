/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * ccase_limits.c - ROB-009: who makes objects until there are no more is refused with a reason, can destroy them all,
 * and finds as many again (ibv_query_device(3) says how many there are).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ccase.h"
#include "verbs.h"

#define MOST 3000u /* who has more is not exhausted: it would take too long */

struct pile {
	struct vc_verbs *v;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	void *object[MOST];
	unsigned n;
	int why; /* errno of the one that was refused; 0: none was */
};

static uint8_t memory[64];

static void *make_pd(const struct pile *p)
{
	return p->v->call.alloc_pd(p->v->ctx);
}

static void *make_cq(const struct pile *p)
{
	return p->v->call.create_cq(p->v->ctx, 1, NULL, NULL, 0);
}

static void *make_mr(const struct pile *p)
{
	return p->v->call.reg_mr(p->pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE);
}

static void *make_srq(const struct pile *p)
{
	struct ibv_srq_init_attr a = {.attr = {.max_wr = 1, .max_sge = 1}};

	/* cppcheck-suppress returnDanglingLifetime ; libibverbs copies what it is told */
	return p->v->call.create_srq(p->pd, &a);
}

static void *make_qp(const struct pile *p)
{
	struct ibv_qp_init_attr a = {.qp_type = IBV_QPT_RC, .send_cq = p->cq, .recv_cq = p->cq, .cap = {1, 1, 1, 1, 0}};

	/* cppcheck-suppress returnDanglingLifetime ; libibverbs copies what it is told */
	return p->v->call.create_qp(p->pd, &a);
}

static int free_pd(const struct pile *p, void *o)
{
	return p->v->call.dealloc_pd(o);
}

static int free_cq(const struct pile *p, void *o)
{
	return p->v->call.destroy_cq(o);
}

static int free_mr(const struct pile *p, void *o)
{
	return p->v->call.dereg_mr(o);
}

static int free_srq(const struct pile *p, void *o)
{
	return p->v->call.destroy_srq(o);
}

static int free_qp(const struct pile *p, void *o)
{
	return p->v->call.destroy_qp(o);
}

static const struct kind {
	const char *name;
	void *(*make)(const struct pile *p);
	int (*destroy)(const struct pile *p, void *o);
} kinds[] = {
	{"protection domains", make_pd, free_pd},      {"completion queues", make_cq, free_cq},
	{"memory regions", make_mr, free_mr},          {"queue pairs", make_qp, free_qp},
	{"shared receive queues", make_srq, free_srq},
};

static void fill(struct pile *p, const struct kind *k)
{
	for (p->n = 0, p->why = 0; p->n < MOST; p->n++) {
		errno = 0;
		p->object[p->n] = k->make(p);
		if (p->object[p->n] == NULL) {
			p->why = errno != 0 ? errno : -1;
			return;
		}
	}
}

/* How many could not be destroyed. */
static unsigned empty(const struct pile *p, const struct kind *k)
{
	unsigned left = 0;

	for (unsigned i = p->n; i-- > 0;)
		left += k->destroy(p, p->object[i]) != 0;
	return left;
}

/* One kind, to its end and again. */
static void exhaust(struct pile *p, const struct kind *k, struct vs_drill_result *res)
{
	unsigned first, left;

	fill(p, k);
	first = p->n;
	left = empty(p, k);
	if (p->why == EOPNOTSUPP || p->why == ENOSYS)
		return; /* it has none of them */
	if (p->why < 0)
		vc_ccase_say(res, VS_VERDICT_FAIL, "after %u %s the next one is refused, and errno is 0", first,
			     k->name);
	else if (left > 0)
		vc_ccase_say(res, VS_VERDICT_FAIL, "%u of %u %s can't be destroyed", left, first, k->name);
	if (res->verdict != VS_VERDICT_PASS)
		return;
	fill(p, k);
	(void)empty(p, k);
	if (p->n < first)
		vc_ccase_say(res, VS_VERDICT_FAIL, "there were %u %s, and %u when all of them had been destroyed",
			     first, k->name, p->n);
}

static void limits(const struct vc_options *o, const struct vs_drill_env *env, struct vs_drill_result *res)
{
	static struct pile p;
	char why[256];

	(void)env;
	if (o->verbs == NULL) {
		vc_ccase_say(res, VS_VERDICT_SKIP,
			     "it makes calls of libibverbs itself; ROB-009 is about the simulator, too");
		return;
	}
	p = (struct pile){.v = vc_verbs_open(o, why, sizeof(why))};
	if (p.v == NULL) {
		vc_ccase_say(res, VS_VERDICT_ERROR, "%s", why);
		return;
	}
	if (!p.v->reference && !o->hazardous) {
		vc_ccase_say(res, VS_VERDICT_SKIP,
			     "whoever else uses the device finds nothing left: --hazardous runs it");
		return;
	}
	p.pd = p.v->call.alloc_pd(p.v->ctx);
	p.cq = p.v->call.create_cq(p.v->ctx, 1, NULL, NULL, 0);
	if (p.pd == NULL || p.cq == NULL)
		vc_ccase_say(res, VS_VERDICT_ERROR, "the objects that the case needs can't be made");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && res->verdict == VS_VERDICT_PASS; i++)
		exhaust(&p, &kinds[i], res);
	if (p.cq != NULL)
		(void)p.v->call.destroy_cq(p.cq);
	if (p.pd != NULL)
		(void)p.v->call.dealloc_pd(p.pd);
}

const struct vc_ccase vc_ccase_limits = {
	"ccase_limits.c",
	"case   ROB-009-all  \"Objects that are used up are refused with a reason, and are there again when all were "
	"destroyed\"\n"
	"clause \"ibv_query_device(3)\"   class A   needs hazard\n",
	limits,
	true,
};
