/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * srq.c - rings of receive work requests, and the shared receive queues made of them.
 */
#include "core.h"

/* ---- the ring ---- */

static size_t slots(const struct vs_rq *rq)
{
	return (size_t)rq->mask + 1;
}

int vs_rq_init(struct vs_dev *dev, struct vs_rq *rq, uint32_t size, uint32_t max_sge)
{
	uint32_t i;

	memset(rq, 0, sizeof(*rq));
	rq->size = size;
	rq->mask = vs_ring_mask(size);
	rq->max_sge = max_sge;
	if (size == 0)
		return VS_OK;
	rq->wqe = vs_alloc(dev, slots(rq) * sizeof(rq->wqe[0]));
	rq->sges = vs_alloc(dev, slots(rq) * (max_sge > 0 ? max_sge : 1) * sizeof(rq->sges[0]));
	if (rq->wqe == NULL || rq->sges == NULL) {
		vs_rq_fini(dev, rq);
		return VS_ERR_NOSPACE;
	}
	for (i = 0; i <= rq->mask; i++)
		rq->wqe[i].sge = &rq->sges[(size_t)i * max_sge];
	return VS_OK;
}

void vs_rq_fini(struct vs_dev *dev, struct vs_rq *rq)
{
	vs_free(dev, rq->wqe, slots(rq) * sizeof(rq->wqe[0]));
	vs_free(dev, rq->sges, slots(rq) * (rq->max_sge > 0 ? rq->max_sge : 1) * sizeof(rq->sges[0]));
	memset(rq, 0, sizeof(*rq));
}

void vs_rq_push(struct vs_rq *rq, const struct vs_recv_wr *wr, uint64_t cause)
{
	struct vs_rwqe *w;
	uint32_t i;

	assert(!vs_rq_full(rq) && wr->num_sge <= rq->max_sge);
	w = vs_rq_at(rq, rq->tail);
	w->wr_id = wr->wr_id;
	w->num_sge = (uint16_t)wr->num_sge;
	w->length = 0;
	w->post_cause = cause;
	for (i = 0; i < wr->num_sge; i++) {
		w->sge[i] = wr->sg_list[i];
		w->length =
			w->length + wr->sg_list[i].length < w->length ? UINT32_MAX : w->length + wr->sg_list[i].length;
	}
	rq->tail++;
}

/* ---- shared receive queues ---- */

struct vs_srq *vs_srq_create(struct vs_pd *pd, const struct vs_srq_attr *attr, uint64_t cookie, int *err)
{
	struct vs_dev *dev = pd->dev;
	struct vs_srq *srq;

	if (attr->max_wr == 0 || attr->max_wr > dev->attr.max_srq_wr || attr->max_sge > dev->attr.max_sge) {
		*err = vs_refuse(dev, VS_ERR_INVAL, VS_REASON_SRQ_SIZE);
		return NULL;
	}
	srq = dev->n_srq < dev->attr.max_srq ? vs_alloc(dev, sizeof(*srq)) : NULL;
	if (srq != NULL && vs_rq_init(dev, &srq->rq, attr->max_wr, attr->max_sge) != VS_OK) {
		vs_free(dev, srq, sizeof(*srq));
		srq = NULL;
	}
	if (srq == NULL) {
		*err = vs_refuse(dev, VS_ERR_NOSPACE, VS_REASON_LIMIT_SRQ);
		return NULL;
	}
	srq->dev = dev;
	srq->pd = pd;
	srq->cookie = cookie;
	vs_list_init(&srq->link);
	vs_list_add_tail(&dev->srqs, &srq->link);
	dev->n_srq++;
	pd->users++;
	*err = VS_OK;
	return srq;
}

void vs_srq_free(struct vs_srq *srq)
{
	struct vs_dev *dev = srq->dev;

	vs_async_forget(dev, srq);
	vs_rq_fini(dev, &srq->rq);
	srq->pd->users--;
	dev->n_srq--;
	vs_list_del(&srq->link);
	vs_free(dev, srq, sizeof(*srq));
}

int vs_srq_destroy(struct vs_srq *srq)
{
	if (srq->users > 0)
		return vs_refuse(srq->dev, VS_ERR_BUSY, VS_REASON_IN_USE);
	vs_srq_free(srq);
	return VS_OK;
}

/* Grows or shrinks the ring to `size`; what is queued stays, in order. */
static int resize(struct vs_srq *srq, uint32_t size)
{
	struct vs_rq bigger;
	int rc = vs_rq_init(srq->dev, &bigger, size, srq->rq.max_sge);

	if (rc != VS_OK)
		return vs_refuse(srq->dev, rc, VS_REASON_LIMIT_SRQ);
	while (!vs_rq_empty(&srq->rq)) {
		const struct vs_rwqe *w = vs_rq_at(&srq->rq, srq->rq.head++);
		const struct vs_recv_wr wr = {.wr_id = w->wr_id, .sg_list = w->sge, .num_sge = w->num_sge};

		vs_rq_push(&bigger, &wr, w->post_cause);
	}
	vs_rq_fini(srq->dev, &srq->rq);
	srq->rq = bigger;
	return VS_OK;
}

int vs_srq_modify(struct vs_srq *srq, const struct vs_srq_attr *attr, unsigned mask)
{
	struct vs_dev *dev = srq->dev;
	uint32_t size = mask & VS_SRQ_MAX_WR ? attr->max_wr : srq->rq.size;
	uint32_t limit = mask & VS_SRQ_LIMIT ? attr->srq_limit : srq->limit;

	if ((mask & ~(unsigned)(VS_SRQ_MAX_WR | VS_SRQ_LIMIT)) != 0)
		return vs_refuse(dev, VS_ERR_INVAL, VS_REASON_ATTR_MASK);
	if ((mask & VS_SRQ_MAX_WR) && (size == 0 || size > dev->attr.max_srq_wr || size < srq->rq.tail - srq->rq.head))
		return vs_refuse(dev, VS_ERR_INVAL, VS_REASON_SRQ_SIZE);
	if (limit > size)
		return vs_refuse(dev, VS_ERR_INVAL, VS_REASON_SRQ_LIMIT);
	if ((mask & VS_SRQ_MAX_WR) && !VS_DEVIATES(dev, SRQ_RESIZE_IGNORED)) {
		int rc = resize(srq, size);

		if (rc != VS_OK)
			return rc;
	}
	srq->limit = limit;
	return VS_OK;
}

void vs_srq_query(const struct vs_srq *srq, struct vs_srq_attr *attr)
{
	attr->max_wr = srq->rq.size;
	attr->max_sge = srq->rq.max_sge;
	attr->srq_limit = srq->limit;
}

int vs_srq_post_recv(struct vs_srq *srq, const struct vs_recv_wr *wr)
{
	struct vs_dev *dev = srq->dev;
	uint64_t a[2] = {0, 0}, ev;
	uint32_t i;

	if (wr->num_sge > srq->rq.max_sge)
		return vs_refuse(dev, VS_ERR_INVAL, VS_REASON_WR_NUM_SGE);
	if (vs_rq_full(&srq->rq))
		return vs_refuse(dev, VS_ERR_NOSPACE, VS_REASON_QUEUE_FULL);
	for (i = 0; i < wr->num_sge; i++)
		a[0] += wr->sg_list[i].length;
	ev = vs_ev_wr(dev, VS_EV_VERB_POST_SRQ_RECV, NULL, wr->wr_id, 0, 2, a);
	vs_rq_push(&srq->rq, wr, ev);
	return VS_OK;
}
