/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * cq.c - completion queues. Polling an empty one makes progress: no thread need wake up.
 */
#include <arpa/inet.h>
#include <sched.h>
#include <stdlib.h>

#include "verbs/ref.h"

struct ref_cq *ref_cq_new(struct ibv_context *context, uint32_t cqe, void *cq_context, struct ibv_comp_channel *channel)
{
	struct ref_cq *cq = calloc(1, sizeof(*cq));
	int err = VS_ERR_INVAL;

	if (channel != NULL && ref_dev(channel->context) != ref_dev(context)) {
		errno = ref_mixed("ibv_create_cq");
		free(cq);
		return NULL;
	}
	if (cq == NULL || !ref_enter()) {
		free(cq);
		return NULL;
	}
	cq->vs = vs_cq_create(ref_dev(context), cqe, (uintptr_t)cq, &err);
	if (cq->vs == NULL)
		(void)ref_refuse(ref_dev(context), "ibv_create_cq", err);
	else
		ref_context(context)->objects++;
	if (cq->vs != NULL && channel != NULL)
		channel->refcnt++;
	ref_leave_quiet();
	if (cq->vs == NULL) {
		free(cq);
		return NULL;
	}
	cq->ex.context = context;
	cq->ex.channel = channel;
	cq->ex.cq_context = cq_context;
	cq->ex.cqe = (int)cqe;
	pthread_mutex_init(&cq->ex.mutex, NULL);
	pthread_cond_init(&cq->ex.cond, NULL);
	return cq;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context, struct ibv_comp_channel *channel,
			     int comp_vector)
{
	struct ref_cq *cq;

	if (cqe <= 0 || comp_vector < 0 || comp_vector >= context->num_comp_vectors) {
		errno = EINVAL;
		return NULL;
	}
	cq = ref_cq_new(context, (uint32_t)cqe, cq_context, channel);
	return cq != NULL ? ibv_cq_ex_to_cq(&cq->ex) : NULL;
}

int ibv_resize_cq(struct ibv_cq *cq, int cqe)
{
	int rc;

	if (cqe <= 0)
		return EINVAL;
	if (!ref_enter())
		return errno;
	rc = ref_error(ref_dev(cq->context), "ibv_resize_cq", vs_cq_resize(ref_cq(cq)->vs, (uint32_t)cqe));
	if (rc == 0)
		cq->cqe = cqe;
	ref_leave_quiet();
	return rc;
}

int ibv_destroy_cq(struct ibv_cq *ibcq)
{
	struct ref_cq *cq = ref_cq(ibcq);
	int rc;

	if (!ref_enter())
		return errno;
	ref_deliver_events();
	rc = ref_error(ref_dev(ibcq->context), "ibv_destroy_cq", vs_cq_destroy(cq->vs));
	if (rc == 0) {
		ref_context(ibcq->context)->objects--;
		ref_events_forget(&ref_context(ibcq->context)->async, cq);
		if (ibcq->channel != NULL) {
			ref_events_forget(&((struct ref_channel *)ibcq->channel)->events, cq);
			ibcq->channel->refcnt--;
		}
	}
	ref_leave_quiet();
	if (rc != 0)
		return rc;
	pthread_mutex_lock(&ibcq->mutex);
	while (ibcq->comp_events_completed != cq->comp_events || ibcq->async_events_completed != cq->async_events)
		pthread_cond_wait(&ibcq->cond, &ibcq->mutex);
	pthread_mutex_unlock(&ibcq->mutex);
	pthread_mutex_destroy(&ibcq->mutex);
	pthread_cond_destroy(&ibcq->cond);
	free(cq);
	return 0;
}

/* ---- polling ---- */

int ref_cq_take(struct ref_cq *cq, struct vs_wc *wc, int n)
{
	int got = vs_cq_poll(cq->vs, wc, n);

	if (got != 0)
		return got;
	if (ref.sim != NULL)
		return ref_virtual_look() ? vs_cq_poll(cq->vs, wc, n) : 0;
	return ref_poll_wire() ? vs_cq_poll(cq->vs, wc, n) : 0;
}

static void to_ibv(struct ibv_wc *to, const struct vs_wc *wc)
{
	to->wr_id = wc->wr_id;
	to->status = (enum ibv_wc_status)wc->status;
	to->opcode = (enum ibv_wc_opcode)wc->opcode;
	to->vendor_err = wc->vendor_err;
	to->byte_len = wc->byte_len;
	if (wc->wc_flags & VS_WC_WITH_INV)
		to->invalidated_rkey = wc->invalidated_rkey;
	else
		to->imm_data = htonl(wc->imm_data);
	to->qp_num = wc->qp_num;
	to->src_qp = wc->src_qp;
	to->wc_flags = wc->wc_flags;
	to->pkey_index = wc->pkey_index;
	to->slid = wc->slid;
	to->sl = wc->sl;
	to->dlid_path_bits = wc->dlid_path_bits;
}

#define CHUNK 32

int ref_poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *out)
{
	struct vs_wc wc[CHUNK];
	int total = 0, got;
	bool yield;

	if (!ref_enter_fast())
		return -1;
	do {
		got = ref_cq_take(ref_cq(cq), wc, n - total < CHUNK ? n - total : CHUNK);
		for (int i = 0; i < got; i++) {
			ref_explain_wc(ref_dev(cq->context), &wc[i]);
			to_ibv(&out[total + i], &wc[i]);
		}
		if (got > 0)
			total += got;
	} while (got == CHUNK && total < n);
	yield = total == 0 && got == 0 && !ref.stepped;
	ref_leave_poll(total);
	if (yield)
		sched_yield(); /* somebody else has to send what we wait for */
	return total > 0 ? total : got < 0 ? -1 : 0;
}

int ref_req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	bool wake;

	if (!ref_enter())
		return errno;
	vs_cq_arm(ref_cq(cq)->vs, solicited_only != 0);
	wake = atomic_exchange(&ref.ticking, false);
	ref_leave();
	if (wake)
		ref_kick(); /* who arms is about to wait */
	return 0;
}
