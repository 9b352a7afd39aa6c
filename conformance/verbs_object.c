/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* verbs_object.c - protection domains, memory, windows, queues, channels and address handles of one run. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verbs.h"

int vc_error(int code)
{
	switch (code) {
	case 0:
		return VS_OK;
	case ENOMEM:
	case ENOSPC:
		return VS_ERR_NOSPACE;
	case EBUSY:
		return VS_ERR_BUSY;
	case EPERM:
	case EACCES:
		return VS_ERR_PERM;
	default:
		return VS_ERR_INVAL;
	}
}

/* ---- what is told ---- */

int vc_lacks(struct vc_target *t, const char *what)
{
	if (t->t.lacks == NULL) {
		(void)snprintf(t->lacks, sizeof(t->lacks), "%s", what);
		t->t.lacks = t->lacks;
	}
	return VS_ERR_INVAL;
}

const char *vc_dut_name(const struct vc_target *t)
{
	for (unsigned i = 0; i < t->setup.p->n_nodes; i++)
		if (t->setup.p->node[i].engine)
			return t->setup.p->node[i].name;
	return "dut";
}

void vc_emit(struct vc_target *t, struct vs_event *ev)
{
	const struct vs_event_sink *sink = &t->setup.env->sink;

	if (sink->emit == NULL)
		return;
	if (ev->t_ns == 0)
		ev->t_ns = vc_now_ns();
	if (ev->node[0] == '\0')
		(void)snprintf(ev->node, sizeof(ev->node), "%s", vc_dut_name(t));
	(void)sink->emit(sink->ctx, ev);
}

/* ---- handles ---- */

struct vh *vc_handle(struct vc_target *t, enum obj_kind kind, int node, void *object)
{
	struct vh *h = object != NULL ? calloc(1, sizeof(*h)) : NULL;

	if (h == NULL)
		return NULL;
	h->of = t;
	h->kind = kind;
	h->node = node;
	h->any = object;
	h->next = t->handles;
	t->handles = h;
	return h;
}

struct vh *vc_handle_of(struct vc_target *t, enum obj_kind kind, const void *object)
{
	for (struct vh *h = t->handles; h != NULL; h = h->next)
		if (h->kind == kind && h->any == object)
			return h;
	return NULL;
}

static int made(struct vc_target *t, enum obj_kind kind, int node, void *object, void **h)
{
	int code = errno;

	*h = vc_handle(t, kind, node, object);
	if (object == NULL)
		return vc_error(code != 0 ? code : EINVAL);
	return *h != NULL ? VS_OK : VS_ERR_NOSPACE;
}

static int destroy(struct vh *h)
{
	struct vc_verbs *v = h->of->v;

	switch (h->kind) {
	case O_QP:
		return v->call.destroy_qp(h->qp);
	case O_MW:
		return h->mw->context->ops.dealloc_mw(h->mw);
	case O_MR:
		return v->call.dereg_mr(h->mr);
	case O_AH:
		return v->call.destroy_ah(h->ah);
	case O_SRQ:
		return v->call.destroy_srq(h->srq);
	case O_CQ:
		return v->call.destroy_cq(h->cq);
	case O_CHANNEL:
		return v->call.destroy_comp_channel(h->channel);
	case O_PD:
		return v->call.dealloc_pd(h->pd);
	default:
		return 0;
	}
}

static int leave_group(struct vh *h, unsigned i)
{
	int code = h->of->v->call.detach_mcast(h->qp, &h->group[i].gid, 0);

	if (h->group[i].fd >= 0)
		close(h->group[i].fd);
	h->group[i].fd = -1;
	return code;
}

void vc_handles_free(struct vc_target *t)
{
	/* A window that is bound holds its queue pair in Linux rxe: destroying that first waits for it, for ever. */
	static const enum obj_kind order[] = {O_MW, O_QP, O_MR, O_AH, O_SRQ, O_CQ, O_CHANNEL, O_PD};

	for (struct vh *h = t->handles; h != NULL; h = h->next)
		for (unsigned i = 0; i < h->groups && h->qp != NULL; i++)
			leave_group(h, i);
	vc_groups_left(t);
	for (unsigned k = 0; k < sizeof(order) / sizeof(order[0]); k++)
		for (struct vh *h = t->handles; h != NULL; h = h->next)
			if (h->kind == order[k] && h->any != NULL)
				(void)destroy(h);
	while (t->handles != NULL) {
		struct vh *gone = t->handles;

		t->handles = gone->next;
		free(gone->bytes);
		free(gone);
	}
}

static int t_destroy_object(struct dr_target *dt, enum obj_kind kind, void *object)
{
	struct vh *h = object;
	int code = EINVAL;

	(void)dt;
	(void)kind;
	if (h->any == NULL)
		return VS_ERR_INVAL;
	if (h->kind == O_CHANNEL && h->users > 0)
		return VS_ERR_BUSY; /* libibverbs leaves it open whether it says so */
	code = destroy(h);
	if (code != 0)
		return vc_error(code > 0 ? code : errno);
	if (h->kind == O_CQ && h->channel_of != NULL)
		h->channel_of->users--;
	h->any = NULL; /* its bytes stay: the script may look at them */
	return VS_OK;
}

/* ---- making ---- */

static struct ibv_pd *pd_of(struct vc_target *t, void *pd)
{
	return pd != NULL ? ((struct vh *)pd)->pd : t->pd->pd;
}

static int t_pd_create(struct dr_target *dt, int node, void **h)
{
	struct vc_target *t = vc_self(dt);

	errno = 0;
	return made(t, O_PD, node, t->v->call.alloc_pd(t->v->ctx), h);
}

static int t_channel_create(struct dr_target *dt, int node, void **h)
{
	struct vc_target *t = vc_self(dt);
	struct ibv_comp_channel *c;

	errno = 0;
	c = t->v->call.create_comp_channel(t->v->ctx);
	if (c != NULL)
		(void)fcntl(c->fd, F_SETFL, fcntl(c->fd, F_GETFL) | O_NONBLOCK);
	return made(t, O_CHANNEL, node, c, h);
}

static int t_cq_create(struct dr_target *dt, int node, uint32_t cqe, void *channel, void **h)
{
	struct vc_target *t = vc_self(dt);
	struct vh *ch = channel != NULL ? channel : t->channel;
	int most = t->v->attr.max_cqe, rc;

	/* The runner's own queue is as big as the device has them. */
	if (cqe == 16384 && most > 0 && cqe > (uint32_t)most)
		cqe = (uint32_t)most;
	errno = 0;
	rc = made(t, O_CQ, node, t->v->call.create_cq(t->v->ctx, (int)cqe, NULL, ch->channel, 0), h);
	if (rc < 0)
		return rc;
	((struct vh *)*h)->channel_of = ch;
	ch->users++;
	return rc;
}

static int t_cq_resize(struct dr_target *dt, void *cq, uint32_t cqe)
{
	return vc_error(vc_self(dt)->v->call.resize_cq(((struct vh *)cq)->cq, (int)cqe));
}

static uint32_t t_cq_capacity(struct dr_target *dt, void *cq)
{
	(void)dt;
	return (uint32_t)((struct vh *)cq)->cq->cqe;
}

static int t_srq_create(struct dr_target *dt, int node, void *pd, const struct vs_srq_attr *a, void **h)
{
	struct vc_target *t = vc_self(dt);
	struct ibv_srq_init_attr init = {.attr = {.max_wr = a->max_wr, .max_sge = a->max_sge}};
	struct ibv_srq_attr limit = {.srq_limit = a->srq_limit};
	int rc;

	errno = 0;
	rc = made(t, O_SRQ, node, t->v->call.create_srq(pd_of(t, pd), &init), h);
	/* A limit is armed by a modify. */
	if (rc < 0 || a->srq_limit == 0)
		return rc;
	return vc_error(t->v->call.modify_srq(((struct vh *)*h)->srq, &limit, IBV_SRQ_LIMIT));
}

static int t_srq_modify(struct dr_target *dt, void *srq, const struct vs_srq_attr *a, unsigned mask)
{
	struct ibv_srq_attr attr = {.max_wr = a->max_wr, .srq_limit = a->srq_limit};
	int what = (mask & VS_SRQ_MAX_WR ? IBV_SRQ_MAX_WR : 0) | (mask & VS_SRQ_LIMIT ? IBV_SRQ_LIMIT : 0);

	return vc_error(vc_self(dt)->v->call.modify_srq(((struct vh *)srq)->srq, &attr, what));
}

static void t_srq_query(struct dr_target *dt, void *srq, struct vs_srq_attr *a)
{
	struct ibv_srq_attr attr = {.max_wr = 0};

	if (vc_self(dt)->v->call.query_srq(((struct vh *)srq)->srq, &attr) != 0)
		(void)vc_lacks(vc_self(dt), "the device can't query a shared receive queue");
	*a = (struct vs_srq_attr){attr.max_wr, attr.max_sge, attr.srq_limit};
}

/* ---- memory ---- */

static int t_mr_reg(struct dr_target *dt, int node, void *pd, uint32_t access, struct dr_memory *m)
{
	struct vc_target *t = vc_self(dt);
	void *bytes = NULL, *h;
	struct ibv_mr *mr;
	int rc;

	if (access & (VS_ACCESS_FLUSH_GLOBAL | VS_ACCESS_FLUSH_PERSISTENT))
		return vc_lacks(t, "libibverbs has no FLUSH in this version");
	if (posix_memalign(&bytes, 4096, m->len > 0 ? m->len : 1) != 0)
		return VS_ERR_NOSPACE;
	errno = 0;
	mr = t->v->call.reg_mr(pd_of(t, pd), bytes, m->len, (int)access);
	rc = made(t, O_MR, node, mr, &h);
	if (rc < 0) {
		free(bytes);
		return rc;
	}
	((struct vh *)h)->bytes = bytes;
	m->h = h;
	m->bytes = bytes;
	m->addr = access & VS_ACCESS_ZERO_BASED ? 0 : (uintptr_t)bytes;
	m->lkey = mr->lkey;
	m->rkey = mr->rkey;
	return VS_OK;
}

static int t_mr_rereg(struct dr_target *dt, struct dr_memory *m, unsigned flags, void *pd, uint32_t access,
		      uint32_t from, uint32_t to)
{
	struct vc_target *t = vc_self(dt);
	struct vh *h = m->h;
	int what = (flags & VS_REREG_TRANSLATION ? IBV_REREG_MR_CHANGE_TRANSLATION : 0) |
		   (flags & VS_REREG_PD ? IBV_REREG_MR_CHANGE_PD : 0) |
		   (flags & VS_REREG_ACCESS ? IBV_REREG_MR_CHANGE_ACCESS : 0);
	int code;

	errno = 0;
	code = t->v->call.rereg_mr(h->mr, what, pd != NULL ? ((struct vh *)pd)->pd : NULL, m->bytes + from, to - from,
				   (int)access);
	m->lkey = h->mr->lkey;
	m->rkey = h->mr->rkey;
	if (code != 0 && errno == EOPNOTSUPP)
		return vc_lacks(t, "the device's library registers no region anew");
	return code == 0 ? VS_OK : vc_error(errno != 0 ? errno : EINVAL);
}

static void t_mr_written(struct dr_target *dt, struct dr_memory *m)
{
	(void)dt; /* the device reads the same bytes */
	(void)m;
}

static int t_mw_alloc(struct dr_target *dt, int node, void *pd, enum vs_mw_type type, void **h)
{
	struct vc_target *t = vc_self(dt);
	struct ibv_pd *p = pd_of(t, pd);
	int rc;

	if (t->v->ctx->ops.alloc_mw == NULL)
		return vc_lacks(t, "the device has no memory windows");
	errno = 0;
	rc = made(t, O_MW, node, t->v->ctx->ops.alloc_mw(p, type == VS_MW_TYPE_1 ? IBV_MW_TYPE_1 : IBV_MW_TYPE_2), h);
	if (rc == VS_OK)
		((struct vh *)*h)->rkey = ((struct vh *)*h)->mw->rkey;
	return rc;
}

static uint32_t t_mw_rkey(struct dr_target *dt, void *object, bool posted)
{
	const struct vh *h = object;

	(void)dt;
	(void)posted;
	return h->mw != NULL && h->mw->type == IBV_MW_TYPE_1 ? h->mw->rkey : h->rkey;
}

/* ---- address handles, groups ---- */

static int t_ah_create(struct dr_target *dt, int node, void *pd, const struct vs_av *av, void **h)
{
	struct vc_target *t = vc_self(dt);
	struct ibv_ah_attr a = {.is_global = 1,
				.port_num = av->port,
				.sl = av->sl,
				.grh = {.flow_label = av->flow_label,
					.sgid_index = av->sgid_index,
					.hop_limit = av->hop_limit,
					.traffic_class = av->traffic_class}};

	memcpy(a.grh.dgid.raw, av->dgid, 16);
	vc_group_heard(t, av->dgid);
	errno = 0;
	return made(t, O_AH, node, t->v->call.create_ah(pd_of(t, pd), &a), h);
}

static int attach(struct vc_target *t, struct vh *h, const union ibv_gid *gid)
{
	int code = t->v->call.attach_mcast(h->qp, gid, 0);

	if (code != 0)
		return vc_error(code);
	if (h->groups < sizeof(h->group) / sizeof(h->group[0])) {
		h->group[h->groups].gid = *gid;
		h->group[h->groups++].fd = vc_ip_join(t->v, gid->raw);
	}
	return VS_OK;
}

static int t_group(struct dr_target *dt, void *qp, const uint8_t mgid[16], bool joins)
{
	struct vc_target *t = vc_self(dt);
	struct vh *h = qp;
	union ibv_gid gid = {.raw = {0}};

	memcpy(gid.raw, mgid, 16);
	if (joins)
		return attach(t, h, &gid);
	for (unsigned i = 0; i < h->groups; i++) {
		if (memcmp(&h->group[i].gid, &gid, sizeof(gid)) == 0) {
			int code = leave_group(h, i);

			if (code != 0)
				return vc_error(code);
			h->group[i] = h->group[--h->groups];
			return VS_OK;
		}
	}
	return vc_error(t->v->call.detach_mcast(h->qp, &gid, 0));
}

void vc_object_ops(struct dr_target_ops *ops)
{
	ops->pd_create = t_pd_create;
	ops->channel_create = t_channel_create;
	ops->cq_create = t_cq_create;
	ops->cq_resize = t_cq_resize;
	ops->cq_capacity = t_cq_capacity;
	ops->srq_create = t_srq_create;
	ops->srq_modify = t_srq_modify;
	ops->srq_query = t_srq_query;
	ops->mr_reg = t_mr_reg;
	ops->mr_rereg = t_mr_rereg;
	ops->mr_written = t_mr_written;
	ops->mw_alloc = t_mw_alloc;
	ops->mw_rkey = t_mw_rkey;
	ops->ah_create = t_ah_create;
	ops->group = t_group;
	ops->destroy_object = t_destroy_object;
}
