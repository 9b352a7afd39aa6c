/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * hook.c - contexts whose operations are ours. Posting and polling go through a table in the context, so they are
 * caught whoever calls them. A context is hooked when it is opened, or when it is first seen: librdmacm opens its own.
 *
 * Reading takes no lock: an entry is complete before it is published, and stays.
 */
#include <pthread.h>
#include <string.h>

#include "recorder.h"

static struct hooked hooks[HOOKED_MAX];
static struct ibv_context *_Atomic hook_of[HOOKED_MAX]; /* NULL: from there on none */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

const struct hooked *rec_hooked(const struct ibv_context *context)
{
	for (unsigned i = 0; i < HOOKED_MAX; i++) {
		const struct ibv_context *c = atomic_load_explicit(&hook_of[i], memory_order_acquire);

		if (c == context)
			return &hooks[i];
		if (c == NULL)
			break;
	}
	return NULL;
}

uint8_t rec_context_index(const struct ibv_context *context)
{
	const struct hooked *h = rec_hooked(context);

	return h != NULL ? h->index : 0;
}

/* A context of an older library ends before it: the struct grows at its front. */
#define HAS(v, op) \
	((v) != NULL && (v)->sz >= sizeof(struct verbs_context) - offsetof(struct verbs_context, op) && (v)->op != NULL)

static void remember(struct hooked *h, struct ibv_context *context)
{
	struct verbs_context *v = verbs_get_ctx(context);

	h->context = context;
	h->index = (uint8_t)(h - hooks + 1);
	h->ops = context->ops;
	h->create_cq_ex = HAS(v, create_cq_ex) ? v->create_cq_ex : NULL;
	h->create_qp_ex = HAS(v, create_qp_ex) ? v->create_qp_ex : NULL;
	h->create_srq_ex = HAS(v, create_srq_ex) ? v->create_srq_ex : NULL;
	if (h->index != REC_FIRST)
		return;
	rec_state.post_send = h->ops.post_send;
	rec_state.post_recv = h->ops.post_recv;
	rec_state.post_srq_recv = h->ops.post_srq_recv;
	rec_state.poll_cq = h->ops.poll_cq;
	atomic_store_explicit(&rec_state.context, context, memory_order_release);
}

static void replace(const struct hooked *h, struct ibv_context *context)
{
	struct verbs_context *v = verbs_get_ctx(context);
	struct ibv_context_ops *o = &context->ops;

	if (o->post_send != NULL)
		o->post_send = rec_post_send;
	if (o->post_recv != NULL)
		o->post_recv = rec_post_recv;
	if (o->post_srq_recv != NULL)
		o->post_srq_recv = rec_post_srq_recv;
	if (o->poll_cq != NULL)
		o->poll_cq = rec_poll_cq;
	if (o->req_notify_cq != NULL)
		o->req_notify_cq = rec_req_notify_cq;
	if (h->create_cq_ex != NULL)
		v->create_cq_ex = rec_create_cq_ex;
	if (h->create_qp_ex != NULL)
		v->create_qp_ex = rec_create_qp_ex;
	if (h->create_srq_ex != NULL)
		v->create_srq_ex = rec_create_srq_ex;
}

/* A place is used again for the next context at the same address only, which is how most allocators behave. */
static int place_for(const struct ibv_context *context)
{
	for (int i = 0; i < HOOKED_MAX; i++)
		if (hook_of[i] == NULL || hook_of[i] == context)
			return i;
	return -1;
}

void rec_hook(struct ibv_context *context)
{
	int i;

	if (context == NULL || context->ops.post_send == rec_post_send)
		return;
	pthread_mutex_lock(&lock);
	i = context->ops.post_send != rec_post_send ? place_for(context) : -1;
	if (i >= 0) {
		remember(&hooks[i], context);
		atomic_store_explicit(&hook_of[i], context, memory_order_release);
		replace(&hooks[i], context);
	}
	pthread_mutex_unlock(&lock);
	if (i >= 0)
		rec_text(REC_OPEN, context, context->device != NULL ? context->device->name : "");
}

/* ---- numbers for completion queues ---- */

#define CQS 4096 /* beyond that they have none */

uint32_t rec_cq_number(const struct ibv_cq *cq)
{
	static struct {
		const struct ibv_cq *_Atomic cq;
		_Atomic uint32_t number;
	} known[CQS];
	static _Atomic uint32_t last[HOOKED_MAX + 1]; /* of each context, as a device numbers its own */
	uint32_t at = (uint32_t)((uintptr_t)cq >> 4) * 2654435761u % CQS;

	for (uint32_t i = 0; cq != NULL && i < CQS; i++, at = (at + 1) % CQS) {
		const struct ibv_cq *found = atomic_load_explicit(&known[at].cq, memory_order_acquire);

		if (found == NULL && atomic_compare_exchange_strong(&known[at].cq, &found, cq)) {
			atomic_store(&known[at].number, atomic_fetch_add(&last[rec_context_index(cq->context)], 1) + 1);
			found = cq;
		}
		if (found == cq)
			return atomic_load_explicit(&known[at].number, memory_order_relaxed);
	}
	return 0;
}
