/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * event.c - completion channels and async events. Each is an eventfd that counts the events in a queue: it can be
 * polled, made non-blocking and waited for like the descriptors of the kernel.
 *
 * As libibverbs does: every event that was handed out must be acknowledged, and destroying its object waits for that;
 * events that nobody has fetched go with the object.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "verbs/ref.h"

/* What counts the events of an object that were handed out, and those acknowledged. */
struct ledger {
	uint32_t *taken, *acked;
	pthread_mutex_t *mutex;
	pthread_cond_t *cond;
};

/* False: a port event, which belongs to no object. */
static bool ledger_of(enum ibv_event_type type, void *object, struct ledger *l)
{
	struct ref_cq *cq = object;
	struct ref_srq *srq = object;
	struct ref_qp *qp = object;

	switch (type) {
	case IBV_EVENT_CQ_ERR:
		*l = (struct ledger){&cq->async_events, &cq->ex.async_events_completed, &cq->ex.mutex, &cq->ex.cond};
		return true;
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		*l = (struct ledger){&srq->async_events, &srq->srq.events_completed, &srq->srq.mutex, &srq->srq.cond};
		return true;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		*l = (struct ledger){&qp->async_events, &qp->qp.events_completed, &qp->qp.mutex, &qp->qp.cond};
		return true;
	default:
		return false;
	}
}

/* ---- the queue ---- */

int ref_events_init(struct ref_events *q)
{
	*q = (struct ref_events){.fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE)};
	if (q->fd < 0)
		return errno;
	ref_fd_add(q->fd);
	return 0;
}

void ref_events_fini(struct ref_events *q)
{
	if (q->fd >= 0) {
		ref_fd_remove(q->fd);
		close(q->fd);
	}
	free(q->event);
	*q = (struct ref_events){.fd = -1};
}

void ref_events_push(struct ref_events *q, void *object, enum ibv_event_type type)
{
	const uint64_t one = 1;

	if (q->fd < 0) /* its context is closed */
		return;
	if (q->n == q->cap) {
		unsigned cap = q->cap == 0 ? 64 : 2 * q->cap;
		struct ref_event *more = realloc(q->event, cap * sizeof(*more));

		if (more == NULL) {
			ref_say("no memory for an event: it is lost");
			return;
		}
		q->event = more;
		q->cap = cap;
	}
	q->event[q->n++] = (struct ref_event){object, type};
	if (ref.sim != NULL)
		ref_virtual_signal();
	if (write(q->fd, &one, sizeof(one)) != (ssize_t)sizeof(one))
		ref_say("an event can't be signalled");
}

/* Counts the descriptor down by one without waiting. False: somebody else was faster. */
static bool count_down(const struct ref_events *q)
{
	struct pollfd p = {.fd = q->fd, .events = POLLIN};
	uint64_t one;

	return poll(&p, 1, 0) == 1 && read(q->fd, &one, sizeof(one)) == (ssize_t)sizeof(one);
}

void ref_events_forget(struct ref_events *q, const void *object)
{
	unsigned keep = 0;

	for (unsigned i = 0; i < q->n; i++) {
		if (q->event[i].object == object)
			(void)count_down(q);
		else
			q->event[keep++] = q->event[i];
	}
	q->n = keep;
}

/* Inside: the oldest event, which from now on is to be acknowledged. False: there is none. */
static bool pop(struct ref_events *q, struct ref_event *e)
{
	struct ledger l;

	if (q->n == 0)
		return false;
	*e = q->event[0];
	q->n--;
	for (unsigned i = 0; i < q->n; i++)
		q->event[i] = q->event[i + 1];
	if (e->type == REF_EVENT_COMPLETION)
		((struct ref_cq *)e->object)->comp_events++;
	else if (ledger_of(e->type, e->object, &l))
		++*l.taken;
	return true;
}

/* In virtual time: never in the kernel, where this thread would not move the clock. */
static int take_virtually(struct ref_events *q, struct ref_event *e)
{
	bool counted, found;

	for (;;) {
		if (ref_virtual_wait(q->fd) != 0 || !ref_enter())
			return -1;
		counted = count_down(q);
		found = counted && pop(q, e);
		ref_leave_quiet();
		if (found)
			return 0;
		if (!counted && (fcntl(q->fd, F_GETFL) & O_NONBLOCK)) {
			errno = EAGAIN;
			return -1;
		}
	}
}

/* A count that belongs to an event which is gone, or which another thread took, is waited for again. */
int ref_events_take(struct ref_events *q, struct ref_event *e)
{
	uint64_t one;
	bool found;

	if (ref.sim != NULL)
		return take_virtually(q, e);
	do {
		if (read(q->fd, &one, sizeof(one)) != (ssize_t)sizeof(one))
			return -1;
		if (!ref_enter())
			return -1;
		found = pop(q, e);
		ref_leave_quiet();
	} while (!found);
	return 0;
}

/* ---- from the engine ---- */

static void deliver_async(const struct vs_dev *dev, const struct vs_async *a)
{
	void *object = (void *)(uintptr_t)a->cookie;
	enum ibv_event_type type = (enum ibv_event_type)a->type;

	switch (a->type) {
	case VS_EVENT_CQ_ERR:
		ref_events_push(&ref_context(((struct ref_cq *)object)->ex.context)->async, object, type);
		return;
	case VS_EVENT_SRQ_ERR:
	case VS_EVENT_SRQ_LIMIT_REACHED:
		ref_events_push(&ref_context(((struct ref_srq *)object)->srq.context)->async, object, type);
		return;
	case VS_EVENT_QP_FATAL:
	case VS_EVENT_QP_REQ_ERR:
	case VS_EVENT_QP_ACCESS_ERR:
	case VS_EVENT_COMM_EST:
	case VS_EVENT_SQ_DRAINED:
	case VS_EVENT_QP_LAST_WQE_REACHED:
		ref_events_push(&ref_context(((struct ref_qp *)object)->qp.context)->async, object, type);
		return;
	case VS_EVENT_PORT_ACTIVE:
	case VS_EVENT_PORT_ERR:
	case VS_EVENT_GID_CHANGE:
		for (struct ref_context *c = ref.contexts; c != NULL; c = c->next)
			if (c->dev == dev)
				ref_events_push(&c->async, NULL, type);
		return;
	}
}

static void deliver_from(struct vs_dev *dev)
{
	struct vs_async a;
	struct vs_cq *cq;
	uint64_t cookie;

	while (vs_dev_poll_comp_event(dev, &cq, &cookie)) {
		struct ref_cq *c = (struct ref_cq *)(uintptr_t)cookie;

		if (c->ex.channel != NULL)
			ref_events_push(&((struct ref_channel *)c->ex.channel)->events, c, REF_EVENT_COMPLETION);
	}
	while (vs_dev_poll_async(dev, &a))
		deliver_async(dev, &a);
}

void ref_deliver_events(void)
{
	for (unsigned i = 0; i < ref.n_devs; i++)
		deliver_from(ref.dev[i]);
	if (ref.deliver_conn != NULL)
		ref.deliver_conn();
}

/* ---- completion channels ---- */

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	struct ref_channel *ch = calloc(1, sizeof(*ch));
	int rc = ch != NULL ? ref_events_init(&ch->events) : ENOMEM;

	if (rc != 0) {
		free(ch);
		errno = rc;
		return NULL;
	}
	ch->channel.context = context;
	ch->channel.fd = ch->events.fd;
	return &ch->channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	struct ref_channel *ch = (struct ref_channel *)channel;

	if (channel->refcnt > 0)
		return EBUSY;
	ref_events_fini(&ch->events);
	free(ch);
	return 0;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context)
{
	struct ref_event e;

	/* Who waits here wants to hear of what it has posted. */
	if (ref.sim == NULL && ref_enter())
		ref_leave();
	if (ref_events_take(&((struct ref_channel *)channel)->events, &e) != 0)
		return -1;
	*cq = e.object;
	*cq_context = (*cq)->cq_context;
	return 0;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int nevents)
{
	pthread_mutex_lock(&cq->mutex);
	cq->comp_events_completed += nevents;
	pthread_cond_broadcast(&cq->cond);
	pthread_mutex_unlock(&cq->mutex);
}

/* ---- async events ---- */

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	struct ref_event e;

	if (ref_events_take(&ref_context(context)->async, &e) != 0)
		return -1;
	event->event_type = e.type;
	event->element.cq = e.object;
	if (e.object == NULL)
		event->element.port_num = 1;
	return 0;
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
	struct ledger l;

	if (!ledger_of(event->event_type, event->element.cq, &l))
		return;
	pthread_mutex_lock(l.mutex);
	++*l.acked;
	pthread_cond_broadcast(l.cond);
	pthread_mutex_unlock(l.mutex);
}
