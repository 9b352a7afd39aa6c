/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* run.c - the device; the objects of one run of a case, and what is observed of them. */
#include <stdlib.h>
#include <string.h>

#include "../verbs_cm.h"
#include "agent.h"

/* ---- the device ---- */

/* The only one; NULL: there are several, or none. */
static const char *sole_device(struct vc_verbs *v, char *why, size_t cap)
{
	static char name[AG_NAME];
	struct ibv_device **list = v->call.get_device_list(NULL);
	unsigned n = 0;
	size_t at;

	(void)snprintf(why, cap, "which device? --device names one of:");
	for (; list != NULL && list[n] != NULL; n++) {
		at = strlen(why);
		(void)snprintf(why + at, cap - at, " %s", v->call.get_device_name(list[n]));
		(void)snprintf(name, sizeof(name), "%s", v->call.get_device_name(list[n]));
	}
	if (n == 0)
		(void)snprintf(why, cap, "there is no RDMA device on this host");
	if (list != NULL)
		v->call.free_device_list(list);
	return n == 1 ? name : NULL;
}

bool ag_device_open(struct ag_session *s, const char *name, char *why, size_t cap)
{
	static struct vc_verbs v;

	if (name == NULL)
		name = s->device;
	if (s->v != NULL && (name == NULL || strcmp(name, s->opened) == 0))
		return true;
	if (s->v != NULL) {
		(void)snprintf(why, cap, "this agent has %s open already: start another one for %s", s->opened, name);
		return false;
	}
	if (name == NULL) {
		if (!vc_library_open(&v, why, cap))
			return false;
		name = sole_device(&v, why, cap);
	}
	if (name == NULL || !vc_device_open(&v, name, true, why, cap))
		return false;
	(void)snprintf(s->opened, sizeof(s->opened), "%s", name);
	s->v = &v;
	return true;
}

void ag_device_tell(const struct ag_session *s, struct ag_line *l)
{
	const struct ibv_device_attr *a = &s->v->attr;
	struct ag_device d = {
		.reference = s->v->reference,
		.limit =
			{
				[DR_MAX_QP] = a->max_qp,
				[DR_MAX_CQ] = a->max_cq,
				[DR_MAX_MR] = a->max_mr,
				[DR_MAX_MW] = a->max_mw,
				[DR_MAX_SRQ] = a->max_srq,
				[DR_MAX_AH] = a->max_ah,
				[DR_MAX_PD] = a->max_pd,
				[DR_MAX_QP_WR] = a->max_qp_wr,
				[DR_MAX_SRQ_WR] = a->max_srq_wr,
				[DR_MAX_CQE] = a->max_cqe,
				[DR_MAX_SGE] = a->max_sge,
				[DR_MAX_INLINE] = -1,
				[DR_MAX_RD_ATOMIC] = a->max_qp_rd_atom,
			},
		.max_mcast = (uint32_t)a->max_mcast_grp,
		.atomic = a->atomic_cap != IBV_ATOMIC_NONE,
		.atomic_write = s->v->atomic_write,
		.cm = vc_cm_there(s->v),
	};

	memcpy(d.name, s->opened, sizeof(d.name));
	d.gids = s->v->gids;
	ag_io_device(&(struct ag_io){.out = l}, &d);
}

/* ---- a run ---- */

/* The peer is somewhere else, and so are its ears. */
void vc_group_heard(struct vc_target *t, const uint8_t gid[16])
{
	(void)t;
	(void)gid;
}

void vc_groups_left(struct vc_target *t)
{
	(void)t;
}

void vc_cm_part(struct vc_target *t)
{
	(void)t;
}

/* The target's events go to the runner. */
static uint64_t tell_event(void *ctx, const struct vs_event *ev)
{
	struct ag_session *s = ctx;
	struct vs_event copy = *ev;

	ag_start(&s->line, "!");
	ag_put_num(&s->line, ev->t_ns);
	ag_put_word(&s->line, "event");
	ag_io_event(&(struct ag_io){.out = &s->line}, &copy);
	ag_say(s);
	return 0;
}

bool ag_run_begin(struct ag_session *s, char *why, size_t cap)
{
	void *pd = NULL, *channel = NULL;
	struct vc_target *t = calloc(1, sizeof(*t));

	if (t == NULL) {
		(void)snprintf(why, cap, "no memory");
		return false;
	}
	s->env = (struct vs_drill_env){.sink = {.emit = tell_event, .ctx = s, .level = VS_LEVEL_EXTRA}};
	t->v = s->v;
	t->setup.p = &s->prog;
	t->setup.env = &s->env;
	t->groups_fd = -1;
	t->t.ops = &t->ops;
	vc_object_ops(&t->ops);
	vc_qp_ops(&t->ops);
	vc_work_ops(&t->ops);
	vc_rig_ops(&t->ops);
	vc_counters_begin(t);
	s->t = t;
	if (t->ops.pd_create(&t->t, 0, &pd) < 0 || t->ops.channel_create(&t->t, 0, &channel) < 0) {
		(void)snprintf(why, cap, "the device has no protection domain left");
		ag_run_end(s);
		return false;
	}
	t->pd = pd;
	t->channel = channel;
	vc_lag_watch(&t->lag, vc_now_ns(), true);
	return true;
}

void ag_run_end(struct ag_session *s)
{
	if (s->t == NULL)
		return;
	vc_cm_close(s->t);
	vc_handles_free(s->t);
	free(s->t);
	s->t = NULL;
	for (uint32_t i = 1; i <= s->slots; i++)
		free(s->slot[i].known);
	s->slots = s->watches = s->conns = 0;
	s->memory = 0;
	s->step_until_ns = 0;
}

static uint32_t number_of(const struct ag_session *s, const void *h)
{
	for (uint32_t i = 1; i <= s->slots; i++)
		if (s->slot[i].h == h)
			return i;
	return 0;
}

static void observed(struct ag_session *s, const char *what)
{
	ag_start(&s->line, "!");
	ag_put_num(&s->line, vc_now_ns());
	ag_put_word(&s->line, what);
}

static void look_at_node(struct ag_session *s, int node)
{
	struct dr_target *t = &s->t->t;
	struct vs_async a;
	void *cq;

	while (t->ops->async(t, node, &a) == 1) {
		observed(s, "async");
		ag_put_num(&s->line, (uint64_t)node);
		ag_put_num(&s->line, (uint64_t)a.type);
		ag_put_num(&s->line, number_of(s, a.object));
		ag_say(s);
	}
	while (t->ops->comp_event(t, node, &cq) == 1) {
		observed(s, "comp");
		ag_put_num(&s->line, (uint64_t)node);
		ag_put_num(&s->line, number_of(s, cq));
		ag_say(s);
	}
	if (s->t->cm != NULL)
		ag_cm_look(s, node);
}

void ag_run_look(struct ag_session *s)
{
	struct vs_wc wc;

	for (uint32_t i = 0; i < s->watches; i++) {
		while (s->t->ops.cq_poll(&s->t->t, s->slot[s->watch[i]].h, &wc) == 1) {
			observed(s, "cqe");
			ag_put_num(&s->line, s->watch[i]);
			ag_io_wc(&(struct ag_io){.out = &s->line}, &wc);
			ag_say(s);
		}
	}
	for (unsigned n = 0; n < s->prog.n_nodes; n++)
		if (s->prog.node[n].engine)
			look_at_node(s, (int)n);
}
