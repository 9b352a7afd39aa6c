/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * fuzz_device.c - a device for the fuzzer of vs-agent: every call of libibverbs works, touches what it is given as a
 * library would, and does nothing. A completion comes for each request, an event for each queue that is armed. Time
 * passes by itself.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_device.h"

#define EVENTS 8u

static struct ibv_context ctx;
static struct ibv_cq *armed[EVENTS];
static struct ibv_async_event asyncs[EVENTS];
static unsigned n_armed, n_asyncs, n_completions;

#define NEW(type) ((type *)calloc(1, sizeof(type)))

static int gone(void *object)
{
	free(object);
	return 0;
}

static struct ibv_pd *alloc_pd(struct ibv_context *c)
{
	struct ibv_pd *pd = NEW(struct ibv_pd);

	pd->context = c;
	return pd;
}

static int dealloc_pd(struct ibv_pd *pd)
{
	return gone(pd);
}

static struct ibv_mr *reg_mr(struct ibv_pd *pd, void *addr, size_t len, int access)
{
	struct ibv_mr *mr = NEW(struct ibv_mr);

	(void)access;
	*mr = (struct ibv_mr){.context = pd->context, .pd = pd, .addr = addr, .length = len, .lkey = 1, .rkey = 2};
	return mr;
}

static int rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t len, int access)
{
	(void)access;
	if (flags & IBV_REREG_MR_CHANGE_PD)
		mr->pd = pd;
	if (flags & IBV_REREG_MR_CHANGE_TRANSLATION && len > 0)
		((volatile uint8_t *)addr)[len - 1] = ((volatile uint8_t *)addr)[0];
	mr->lkey++;
	return 0;
}

static int dereg_mr(struct ibv_mr *mr)
{
	return gone(mr);
}

static struct ibv_mw *alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct ibv_mw *mw = NEW(struct ibv_mw);

	*mw = (struct ibv_mw){.context = pd->context, .pd = pd, .type = type, .rkey = 3};
	return mw;
}

static int dealloc_mw(struct ibv_mw *mw)
{
	return gone(mw);
}

static int bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *b)
{
	mw->rkey += b->bind_info.mr != NULL ? b->bind_info.mr->rkey : qp->qp_num;
	return 0;
}

static struct ibv_comp_channel *create_comp_channel(struct ibv_context *c)
{
	struct ibv_comp_channel *ch = NEW(struct ibv_comp_channel);

	ch->context = c;
	ch->fd = -1;
	return ch;
}

static int destroy_comp_channel(struct ibv_comp_channel *ch)
{
	return gone(ch);
}

static struct ibv_cq *create_cq(struct ibv_context *c, int cqe, void *user, struct ibv_comp_channel *ch, int vector)
{
	struct ibv_cq *cq = NEW(struct ibv_cq);

	(void)vector;
	*cq = (struct ibv_cq){.context = c, .channel = ch, .cq_context = user, .cqe = cqe};
	return cq;
}

static int resize_cq(struct ibv_cq *cq, int cqe)
{
	cq->cqe = cqe;
	return 0;
}

static int destroy_cq(struct ibv_cq *cq)
{
	for (unsigned i = 0; i < n_armed; i++)
		if (armed[i] == cq)
			armed[i--] = armed[--n_armed];
	return gone(cq);
}

static int req_notify_cq(struct ibv_cq *cq, int solicited)
{
	(void)solicited;
	if (n_armed < EVENTS)
		armed[n_armed++] = cq;
	return 0;
}

static int get_cq_event(struct ibv_comp_channel *ch, struct ibv_cq **cq, void **user)
{
	for (unsigned i = 0; i < n_armed; i++) {
		if (armed[i]->channel != ch)
			continue;
		*cq = armed[i];
		*user = armed[i]->cq_context;
		armed[i] = armed[--n_armed];
		return 0;
	}
	errno = EAGAIN;
	return -1;
}

static void ack_cq_events(struct ibv_cq *cq, unsigned n)
{
	cq->comp_events_completed += n;
}

static int poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	if (n_completions == 0 || n < 1)
		return 0;
	n_completions--;
	*wc = (struct ibv_wc){
		.wr_id = 1, .status = IBV_WC_SUCCESS, .byte_len = (uint32_t)cq->cqe, .wc_flags = IBV_WC_WITH_IMM};
	return 1;
}

static struct ibv_srq *create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *a)
{
	struct ibv_srq *srq = NEW(struct ibv_srq);

	*srq = (struct ibv_srq){.context = pd->context, .pd = pd, .events_completed = a->attr.max_wr};
	return srq;
}

static int modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *a, int mask)
{
	srq->events_completed = a->max_wr;
	return mask == 0 ? EINVAL : 0;
}

static int query_srq(struct ibv_srq *srq, struct ibv_srq_attr *a)
{
	*a = (struct ibv_srq_attr){.max_wr = srq->events_completed};
	return 0;
}

static int destroy_srq(struct ibv_srq *srq)
{
	return gone(srq);
}

static struct ibv_qp *create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *a)
{
	struct ibv_qp *qp;

	if (a->send_cq->context != pd->context || a->recv_cq->context != pd->context)
		return NULL;
	qp = NEW(struct ibv_qp);
	*qp = (struct ibv_qp){.context = pd->context,
			      .pd = pd,
			      .send_cq = a->send_cq,
			      .recv_cq = a->recv_cq,
			      .srq = a->srq,
			      .qp_num = 7,
			      .qp_type = a->qp_type};
	return qp;
}

static int modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *a, int mask)
{
	if (!(mask & IBV_QP_STATE))
		return EINVAL;
	qp->state = a->qp_state;
	if (a->qp_state == IBV_QPS_ERR && n_asyncs < EVENTS)
		asyncs[n_asyncs++] = (struct ibv_async_event){.element.qp = qp, .event_type = IBV_EVENT_QP_FATAL};
	return 0;
}

static int query_qp(struct ibv_qp *qp, struct ibv_qp_attr *a, int mask, struct ibv_qp_init_attr *init)
{
	(void)mask;
	*a = (struct ibv_qp_attr){.qp_state = qp->state};
	*init = (struct ibv_qp_init_attr){.qp_type = qp->qp_type};
	return 0;
}

static int destroy_qp(struct ibv_qp *qp)
{
	for (unsigned i = 0; i < n_asyncs; i++)
		if (asyncs[i].element.qp == qp)
			asyncs[i--] = asyncs[--n_asyncs];
	return gone(qp);
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	uint64_t sum = 0;

	*bad = wr;
	for (int i = 0; i < wr->num_sge; i++)
		sum += wr->sg_list[i].length;
	if (wr->send_flags & IBV_SEND_INLINE)
		for (uint32_t i = 0; i < wr->sg_list[0].length; i++)
			sum += ((const uint8_t *)(uintptr_t)wr->sg_list[0].addr)[i];
	if (qp->qp_type == IBV_QPT_UD)
		sum += wr->wr.ud.ah->handle;
	if (wr->opcode == IBV_WR_BIND_MW)
		sum += wr->bind_mw.mw->rkey + (wr->bind_mw.bind_info.mr != NULL ? wr->bind_mw.bind_info.mr->rkey : 0);
	n_completions++;
	return sum % 16 == 7 ? ENOMEM : 0;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	*bad = wr;
	return qp->state == IBV_QPS_RESET ? EINVAL : 0;
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	*bad = wr;
	return (int)(srq->events_completed & 1u);
}

static struct ibv_ah *create_ah(struct ibv_pd *pd, struct ibv_ah_attr *a)
{
	struct ibv_ah *ah = NEW(struct ibv_ah);

	*ah = (struct ibv_ah){.context = pd->context, .pd = pd, .handle = a->port_num};
	return ah;
}

static int destroy_ah(struct ibv_ah *ah)
{
	return gone(ah);
}

static int group(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	return qp->qp_type == IBV_QPT_UD && gid->raw[0] == 0xff && lid == 0 ? 0 : EINVAL;
}

static int get_async_event(struct ibv_context *c, struct ibv_async_event *ev)
{
	(void)c;
	if (n_asyncs == 0)
		return -1;
	*ev = asyncs[--n_asyncs];
	return 0;
}

static void ack_async_event(struct ibv_async_event *ev)
{
	ev->element.qp->events_completed++;
}

/* ---- time: the same in every run ---- */

static uint64_t now_ns;

uint64_t vc_now_ns(void)
{
	return now_ns += 1000;
}

void vc_lag_watch(struct vc_lag *l, uint64_t now, bool at_once)
{
	(void)at_once;
	l->window_ns = now;
}

void vc_lag_looked(struct vc_lag *l, uint64_t now)
{
	l->looked_ns = now;
}

static const char *get_device_name(struct ibv_device *d)
{
	(void)d;
	return "fake0";
}

static int query_device(struct ibv_context *c, struct ibv_device_attr *a)
{
	(void)c;
	*a = (struct ibv_device_attr){.max_cqe = 100, .max_mw = 4, .max_srq = 4};
	return 0;
}

static int query_port(struct ibv_context *c, uint8_t port, struct _compat_ibv_port_attr *a)
{
	(void)c, (void)port;
	memset(a, 0, sizeof(struct ibv_port_attr));
	return 0;
}

static int query_gid(struct ibv_context *c, uint8_t port, int index, union ibv_gid *gid)
{
	(void)c, (void)port, (void)index;
	memset(gid, 0, sizeof(*gid));
	return 0;
}

void fuzz_device(struct vc_verbs *v)
{
	now_ns = 0;
	memset(v, 0, sizeof(*v));
	n_armed = n_asyncs = n_completions = 0;
	ctx.async_fd = -1;
	ctx.ops.alloc_mw = alloc_mw;
	ctx.ops.dealloc_mw = dealloc_mw;
	ctx.ops.bind_mw = bind_mw;
	ctx.ops.poll_cq = poll_cq;
	ctx.ops.req_notify_cq = req_notify_cq;
	ctx.ops.post_send = post_send;
	ctx.ops.post_recv = post_recv;
	ctx.ops.post_srq_recv = post_srq_recv;
	v->ctx = &ctx;
	(void)query_device(&ctx, &v->attr);
#define SET(name) v->call.name = name
	SET(alloc_pd), SET(dealloc_pd), SET(reg_mr), SET(rereg_mr), SET(dereg_mr), SET(create_comp_channel);
	SET(destroy_comp_channel), SET(create_cq), SET(resize_cq), SET(destroy_cq), SET(get_cq_event),
		SET(ack_cq_events);
	SET(create_srq), SET(modify_srq), SET(query_srq), SET(destroy_srq), SET(create_qp), SET(modify_qp),
		SET(query_qp);
	SET(get_device_name), SET(query_device), SET(query_port), SET(query_gid);
	SET(destroy_qp), SET(create_ah), SET(destroy_ah), SET(get_async_event), SET(ack_async_event);
#undef SET
	v->call.attach_mcast = v->call.detach_mcast = group;
}
