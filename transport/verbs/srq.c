/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * srq.c - shared receive queues.
 */
#include <stdlib.h>

#include "verbs/ref.h"

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *srq_init_attr)
{
	struct vs_srq_attr attr = {.max_wr = srq_init_attr->attr.max_wr, .max_sge = srq_init_attr->attr.max_sge};
	static uint32_t last_number;
	struct ref_srq *srq = calloc(1, sizeof(*srq));
	int err = VS_ERR_INVAL;

	if (srq == NULL || !ref_enter()) {
		free(srq);
		return NULL;
	}
	srq->vs = vs_srq_create(ref_pd(pd)->vs, &attr, (uintptr_t)srq, &err);
	if (srq->vs == NULL)
		(void)ref_refuse(ref_pd(pd)->dev, "ibv_create_srq", err);
	else
		ref_context(pd->context)->objects++;
	srq->number = ++last_number;
	ref_leave_quiet();
	if (srq->vs == NULL) {
		free(srq);
		return NULL;
	}
	srq->srq.context = pd->context;
	srq->srq.srq_context = srq_init_attr->srq_context;
	srq->srq.pd = pd;
	pthread_mutex_init(&srq->srq.mutex, NULL);
	pthread_cond_init(&srq->srq.cond, NULL);
	return &srq->srq;
}

/* Basic ones came here by another way; XRC and tag matching are not to be had. */
struct ibv_srq *ref_create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr)
{
	(void)context;
	(void)attr;
	errno = EOPNOTSUPP;
	return NULL;
}

int ref_get_srq_num(struct ibv_srq *srq, uint32_t *number)
{
	*number = ref_srq(srq)->number;
	return 0;
}

int ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *srq_attr, int srq_attr_mask)
{
	const struct vs_srq_attr attr = {.max_wr = srq_attr->max_wr, .srq_limit = srq_attr->srq_limit};
	int rc;

	if (!ref_enter())
		return errno;
	rc = ref_error(ref_dev(srq->context), "ibv_modify_srq",
		       vs_srq_modify(ref_srq(srq)->vs, &attr, (unsigned)srq_attr_mask));
	ref_leave();
	return rc;
}

int ibv_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *srq_attr)
{
	struct vs_srq_attr attr;

	if (!ref_enter())
		return errno;
	vs_srq_query(ref_srq(srq)->vs, &attr);
	ref_leave_quiet();
	*srq_attr = (struct ibv_srq_attr){.max_wr = attr.max_wr, .max_sge = attr.max_sge, .srq_limit = attr.srq_limit};
	return 0;
}

int ibv_destroy_srq(struct ibv_srq *ibsrq)
{
	struct ref_srq *srq = ref_srq(ibsrq);
	int rc;

	if (!ref_enter())
		return errno;
	ref_deliver_events();
	rc = ref_error(ref_dev(ibsrq->context), "ibv_destroy_srq", vs_srq_destroy(srq->vs));
	if (rc == 0) {
		ref_context(ibsrq->context)->objects--;
		ref_events_forget(&ref_context(ibsrq->context)->async, srq);
	}
	ref_leave_quiet();
	if (rc != 0)
		return rc;
	pthread_mutex_lock(&ibsrq->mutex);
	while (ibsrq->events_completed != srq->async_events)
		pthread_cond_wait(&ibsrq->cond, &ibsrq->mutex);
	pthread_mutex_unlock(&ibsrq->mutex);
	pthread_mutex_destroy(&ibsrq->mutex);
	pthread_cond_destroy(&ibsrq->cond);
	free(srq);
	return 0;
}
