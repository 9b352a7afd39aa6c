/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * ccase_wait.c - CQ-011, AE-004: destroying an object waits until its events are acknowledged (ibv_get_cq_event(3),
 * ibv_get_async_event(3)).
 *
 * A thread destroys; for a tenth of a second it must not come back, and after the acknowledgement it must.
 */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "ccase.h"
#include "verbs.h"

#define BLOCKED_MS 100
#define PATIENCE_MS 2000

struct scene {
	struct vc_verbs *v;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_qp *qp;
};

struct destroyer {
	struct vc_verbs *v;
	struct ibv_cq *cq; /* or */
	struct ibv_qp *qp;
	int code;
	atomic_bool done;
};

static void *destroy(void *arg)
{
	struct destroyer *d = arg;

	d->code = d->cq != NULL ? d->v->call.destroy_cq(d->cq) : d->v->call.destroy_qp(d->qp);
	atomic_store(&d->done, true);
	return NULL;
}

static bool wait_done(struct destroyer *d, unsigned ms)
{
	const struct timespec nap = {0, 1000000};

	for (unsigned i = 0; i < ms && !atomic_load(&d->done); i++)
		(void)nanosleep(&nap, NULL);
	return atomic_load(&d->done);
}

static void close_scene(struct scene *s)
{
	if (s->qp != NULL)
		(void)s->v->call.destroy_qp(s->qp);
	if (s->srq != NULL)
		(void)s->v->call.destroy_srq(s->srq);
	if (s->cq != NULL)
		(void)s->v->call.destroy_cq(s->cq);
	if (s->channel != NULL)
		(void)s->v->call.destroy_comp_channel(s->channel);
	if (s->pd != NULL)
		(void)s->v->call.dealloc_pd(s->pd);
}

/* To ERR, with a receive that this flushes where receives are the queue pair's own. */
static bool break_it(struct scene *s)
{
	struct ibv_qp_attr to_err = {.qp_state = IBV_QPS_ERR};
	struct ibv_recv_wr wr = {.wr_id = 1}, *bad;

	return (s->srq != NULL || s->qp->context->ops.post_recv(s->qp, &wr, &bad) == 0) &&
	       s->cq->context->ops.req_notify_cq(s->cq, 0) == 0 &&
	       s->v->call.modify_qp(s->qp, &to_err, IBV_QP_STATE) == 0;
}

/* A queue pair in ERR, and what belongs to it. */
static bool open_scene(struct scene *s, const struct vc_options *o, bool with_srq, struct vs_drill_result *res)
{
	struct ibv_srq_init_attr srq = {.attr = {.max_wr = 4, .max_sge = 1}};
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC, .cap = {4, 4, 1, 1, 0}};
	struct ibv_qp_attr to_init = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	const int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
	char why[256];

	*s = (struct scene){.v = o->verbs != NULL ? vc_verbs_open(o, why, sizeof(why)) : NULL};
	if (o->verbs == NULL) {
		vc_ccase_say(res, VS_VERDICT_SKIP,
			     "acknowledging events is the business of libibverbs: the engine has no such call");
		return false;
	}
	if (s->v == NULL) {
		vc_ccase_say(res, VS_VERDICT_ERROR, "%s", why);
		return false;
	}
	s->pd = s->v->call.alloc_pd(s->v->ctx);
	s->channel = s->v->call.create_comp_channel(s->v->ctx);
	s->cq = s->pd != NULL && s->channel != NULL ? s->v->call.create_cq(s->v->ctx, 8, NULL, s->channel, 0) : NULL;
	if (s->cq != NULL && with_srq)
		s->srq = s->v->call.create_srq(s->pd, &srq);
	init.send_cq = init.recv_cq = s->cq;
	init.srq = s->srq;
	if (s->cq != NULL && (s->srq != NULL || !with_srq))
		s->qp = s->v->call.create_qp(s->pd, &init);
	if (s->qp != NULL && s->v->call.modify_qp(s->qp, &to_init, mask) == 0 && break_it(s))
		return true;
	vc_ccase_say(res, VS_VERDICT_ERROR, "the objects that the case is about can't be made");
	close_scene(s);
	return false;
}

static bool readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, PATIENCE_MS) == 1;
}

/* Destroys while `acknowledge` is still to come. False: the thread never came back, and has what it was given. */
static bool judge(struct destroyer *d, void (*acknowledge)(void *ctx), void *ctx, struct vs_drill_result *res)
{
	bool early;
	pthread_t thread;

	if (pthread_create(&thread, NULL, destroy, d) != 0) {
		vc_ccase_say(res, VS_VERDICT_ERROR, "a thread can't be made");
		acknowledge(ctx);
		return false;
	}
	early = wait_done(d, BLOCKED_MS);
	acknowledge(ctx);
	if (!wait_done(d, PATIENCE_MS)) {
		vc_ccase_say(res, VS_VERDICT_FAIL, "the destroy did not come back after the acknowledgement");
		(void)pthread_detach(thread);
		return false;
	}
	(void)pthread_join(thread, NULL);
	if (early)
		vc_ccase_say(res, VS_VERDICT_FAIL, "the destroy came back before the event was acknowledged");
	else if (d->code != 0)
		vc_ccase_say(res, VS_VERDICT_FAIL, "the destroy was refused after the acknowledgement (%d)", d->code);
	return true;
}

static void acknowledge_cq(void *ctx)
{
	const struct scene *s = ctx;

	s->v->call.ack_cq_events(s->cq, 1);
}

/* Of the receive that was flushed, or of requests that are posted now and flushed at once: devices differ. */
static bool completion_event(struct scene *s)
{
	struct ibv_recv_wr recv = {.wr_id = 2}, *bad_recv;
	struct ibv_send_wr send = {.wr_id = 3, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED}, *bad_send;
	struct ibv_cq *cq;
	void *ctx;

	return (readable(s->channel->fd) ||
		(s->qp->context->ops.post_recv(s->qp, &recv, &bad_recv) == 0 && readable(s->channel->fd)) ||
		(s->qp->context->ops.post_send(s->qp, &send, &bad_send) == 0 && readable(s->channel->fd))) &&
	       s->v->call.get_cq_event(s->channel, &cq, &ctx) == 0;
}

static void cq_destroy(const struct vc_options *o, const struct vs_drill_env *env, struct vs_drill_result *res)
{
	static struct destroyer d; /* a thread that never comes back still has it */
	struct scene s;

	(void)env;
	if (!open_scene(&s, o, false, res))
		return;
	if (!completion_event(&s)) {
		vc_ccase_say(res, VS_VERDICT_SKIP, "the device raises no completion event for what is flushed");
		close_scene(&s);
		return;
	}
	(void)s.v->call.destroy_qp(s.qp);
	s.qp = NULL;
	d = (struct destroyer){.v = s.v, .cq = s.cq};
	if (judge(&d, acknowledge_cq, &s, res))
		s.cq = NULL;
	else
		s.cq = NULL, s.channel = NULL, s.pd = NULL; /* they are in use */
	close_scene(&s);
}

static void acknowledge_async(void *ctx)
{
	void **args = ctx;
	const struct scene *s = args[0];

	s->v->call.ack_async_event(args[1]);
}

static void qp_destroy(const struct vc_options *o, const struct vs_drill_env *env, struct vs_drill_result *res)
{
	static struct destroyer d;
	struct ibv_async_event ev;
	struct scene s;
	void *args[] = {&s, &ev};

	(void)env;
	if (!open_scene(&s, o, true, res))
		return;
	/* A queue pair of a shared receive queue that goes to ERR has an event. */
	if (!readable(s.v->ctx->async_fd) || s.v->call.get_async_event(s.v->ctx, &ev) != 0) {
		vc_ccase_say(res, VS_VERDICT_SKIP, "the device has no LAST_WQE_REACHED that could be waited for");
		close_scene(&s);
		return;
	}
	d = (struct destroyer){.v = s.v, .qp = s.qp};
	if (judge(&d, acknowledge_async, args, res))
		s.qp = NULL;
	else
		s.qp = NULL, s.srq = NULL, s.cq = NULL, s.channel = NULL, s.pd = NULL; /* they are in use */
	close_scene(&s);
}

const struct vc_ccase vc_ccase_cq_destroy = {
	"ccase_wait.c",
	"case   CQ-011  \"Destroying a completion queue waits until its events are acknowledged\"\n"
	"clause \"ibv_get_cq_event(3)\"   class A\n",
	cq_destroy,
	true,
};
const struct vc_ccase vc_ccase_qp_destroy = {
	"ccase_wait.c",
	"case   AE-004  \"Destroying a queue pair waits until its events are acknowledged\"\n"
	"clause \"ibv_get_async_event(3)\"   class A   needs srq\n",
	qp_destroy,
	true,
};
