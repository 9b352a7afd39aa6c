/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * cq_ex.c - extended completion queues: ibv_start_poll and its relatives are functions in the queue, which are replaced
 * there. What a program does not ask of a completion is asked here, where the queue can tell.
 */
#include <pthread.h>
#include <string.h>

#include "ring.h"

#define CQS 1024 /* beyond that, polls go straight to the device's */

struct polled {
	const struct ibv_cq *_Atomic cq;
	int (*start)(struct ibv_cq_ex *, struct ibv_poll_cq_attr *);
	int (*next)(struct ibv_cq_ex *);
};
static struct polled table[CQS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char gone;

static struct polled *find(const struct ibv_cq *cq, bool for_new)
{
	uint32_t at = (uint32_t)((uintptr_t)cq >> 5) * 2654435761u % CQS;

	for (uint32_t i = 0; i < CQS; i++, at = (at + 1) % CQS) {
		const struct ibv_cq *found = atomic_load_explicit(&table[at].cq, memory_order_acquire);

		if (found == cq || (for_new && (found == NULL || found == (const void *)&gone)))
			return &table[at];
		if (found == NULL)
			break;
	}
	return NULL;
}

static void record(struct ibv_cq_ex *cq)
{
	const struct ibv_cq *base = ibv_cq_ex_to_cq(cq);
	enum ibv_wc_opcode op;
	union rec_words u;
	struct rec *r = &u.r;

	rec_start(&u, REC_CQE, rec_context_index(cq->context));
	rec_put_empty_polls(r->t_ns, r->ctx, base);
	op = cq->status == IBV_WC_SUCCESS ? ibv_wc_read_opcode(cq) : IBV_WC_SEND;
	r->qpn = cq->read_qp_num != NULL ? ibv_wc_read_qp_num(cq) : 0;
	r->wr = cq->wr_id;
	r->w[0] = (uint32_t)cq->status | (uint32_t)op << 8;
	r->w[1] = cq->status == IBV_WC_SUCCESS && cq->read_byte_len != NULL ? ibv_wc_read_byte_len(cq) : 0;
	r->w[3] = rec_cq_number(base);
	r->a[0] = cq->status != IBV_WC_SUCCESS ? ibv_wc_read_vendor_err(cq) : 0;
	rec_put(&u);
	rec_commit();
}

static int polled(struct ibv_cq_ex *cq, int rc)
{
	const struct ibv_cq *base = ibv_cq_ex_to_cq(cq);
	struct rec *r;

	if (!rec_on())
		return rc;
	if (rc == 0) {
		record(cq);
	} else if (rc == ENOENT) {
		rec_count_empty(base);
	} else if ((r = rec_begin(REC_POLL_FAIL, cq->context)) != NULL) {
		r->w[3] = rec_cq_number(base);
		r->a[0] = (uint64_t)(int64_t)rc;
		rec_commit();
	}
	return rc;
}

static int start_poll(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr)
{
	return polled(cq, find(ibv_cq_ex_to_cq(cq), false)->start(cq, attr));
}

/* The end of a batch is no empty poll. */
static int next_poll(struct ibv_cq_ex *cq)
{
	int rc = find(ibv_cq_ex_to_cq(cq), false)->next(cq);

	if (rc == 0 && rec_on())
		record(cq);
	return rc;
}

void rec_cq_ex_hook(struct ibv_cq_ex *cq)
{
	struct polled *p;

	if (cq == NULL || cq->start_poll == NULL || cq->start_poll == start_poll)
		return;
	pthread_mutex_lock(&lock);
	p = find(ibv_cq_ex_to_cq(cq), true);
	if (p != NULL) {
		p->start = cq->start_poll;
		p->next = cq->next_poll;
		atomic_store_explicit(&p->cq, ibv_cq_ex_to_cq(cq), memory_order_release);
		cq->start_poll = start_poll;
		cq->next_poll = next_poll;
	}
	pthread_mutex_unlock(&lock);
}

/* Its functions are the device's again, for a queue that could not be destroyed; NULL: it has none of ours. */
struct ibv_cq_ex *rec_cq_ex_unhook(struct ibv_cq *cq)
{
	struct polled *p = find(cq, false);
	struct ibv_cq_ex *ex;

	if (p == NULL)
		return NULL;
	ex = (struct ibv_cq_ex *)(void *)cq; /* the reverse of ibv_cq_ex_to_cq */
	ex->start_poll = p->start;
	ex->next_poll = p->next;
	atomic_store(&p->cq, (const struct ibv_cq *)(const void *)&gone);
	return ex;
}
