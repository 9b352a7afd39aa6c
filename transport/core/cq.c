/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * cq.c - completion queues: a ring, its events, and what happens when it is full.
 *
 * A completion that finds no room is lost: the queue is unusable from then on, CQ_ERR is raised once
 * (C11-37) and every QP that uses the queue goes to ERR (C9-218).
 */
#include "core.h"

static void cq_event(struct vs_cq *cq, enum vs_event_type type, int rc)
{
	const uint64_t ret = (uint64_t)(int64_t)rc;
	const uint64_t created[] = {cq->size, cq->number, ret}, destroyed[] = {cq->number, ret};

	if (type == VS_EV_DEV_CREATE_CQ)
		vs_ev(cq->dev, type, NULL, 0, 3, created);
	else
		vs_ev(cq->dev, type, NULL, 0, 2, destroyed);
}

struct vs_cq *vs_cq_create(struct vs_dev *dev, uint32_t cqe, uint64_t cookie, int *err)
{
	struct vs_cq *cq;

	if (cqe == 0 || cqe > dev->attr.max_cqe) {
		*err = vs_refuse(dev, VS_ERR_INVAL, VS_REASON_CQ_SIZE);
		return NULL;
	}
	cq = dev->n_cq < dev->attr.max_cq ? vs_alloc(dev, sizeof(*cq)) : NULL;
	if (cq != NULL) {
		cq->mask = vs_ring_mask(cqe);
		cq->wc = vs_alloc(dev, ((size_t)cq->mask + 1) * sizeof(cq->wc[0]));
		if (cq->wc == NULL) {
			vs_free(dev, cq, sizeof(*cq));
			cq = NULL;
		}
	}
	if (cq == NULL) {
		*err = vs_refuse(dev, VS_ERR_NOSPACE, VS_REASON_LIMIT_CQ);
		return NULL;
	}
	cq->dev = dev;
	cq->size = cqe;
	cq->cookie = cookie;
	cq->number = ++dev->next_cq_number;
	vs_list_init(&cq->link);
	vs_list_init(&cq->event_link);
	vs_list_add_tail(&dev->cqs, &cq->link);
	dev->n_cq++;
	cq_event(cq, VS_EV_DEV_CREATE_CQ, VS_OK);
	*err = VS_OK;
	return cq;
}

void vs_cq_free(struct vs_cq *cq)
{
	struct vs_dev *dev = cq->dev;

	vs_async_forget(dev, cq);
	vs_list_del(&cq->event_link);
	vs_list_del(&cq->link);
	dev->n_cq--;
	vs_free(dev, cq->wc, ((size_t)cq->mask + 1) * sizeof(cq->wc[0]));
	vs_free(dev, cq, sizeof(*cq));
}

/* Deviation: the queue goes although QPs use it; they are left without one, so their completions vanish. */
static void cut_off_users(struct vs_cq *cq)
{
	struct vs_node *n;

	for (n = cq->dev->qps.next; n != &cq->dev->qps; n = n->next) {
		struct vs_qp *qp = VS_CONTAINER(n, struct vs_qp, link);

		if (qp->send_cq == cq)
			qp->send_cq = NULL;
		if (qp->recv_cq == cq)
			qp->recv_cq = NULL;
	}
}

int vs_cq_destroy(struct vs_cq *cq)
{
	if (cq->users > 0) {
		if (!VS_DEVIATES(cq->dev, CQ_DESTROY_IN_USE)) {
			int rc = vs_refuse(cq->dev, VS_ERR_BUSY, VS_REASON_IN_USE); /* C11-17 */

			cq_event(cq, VS_EV_DEV_DESTROY_CQ, rc);
			return rc;
		}
		cut_off_users(cq);
	}
	cq_event(cq, VS_EV_DEV_DESTROY_CQ, VS_OK);
	vs_cq_free(cq);
	return VS_OK;
}

int vs_cq_resize(struct vs_cq *cq, uint32_t cqe)
{
	struct vs_dev *dev = cq->dev;
	uint32_t used = cq->tail - cq->head, mask, i;
	struct vs_wc *wc;

	if (cqe == 0 || cqe > dev->attr.max_cqe || cqe < used)
		return vs_refuse(dev, VS_ERR_INVAL, VS_REASON_CQ_SIZE);
	mask = vs_ring_mask(cqe);
	wc = vs_alloc(dev, ((size_t)mask + 1) * sizeof(wc[0]));
	if (wc == NULL)
		return vs_refuse(dev, VS_ERR_NOSPACE, VS_REASON_LIMIT_CQ);
	for (i = 0; i < used; i++)
		wc[i] = cq->wc[(cq->head + i) & cq->mask];
	vs_free(dev, cq->wc, ((size_t)cq->mask + 1) * sizeof(cq->wc[0]));
	cq->wc = wc;
	cq->size = cqe;
	cq->mask = mask;
	cq->head = 0;
	cq->tail = used;
	return VS_OK;
}

uint32_t vs_cq_capacity(const struct vs_cq *cq)
{
	return cq->size;
}

/* The program knows now that these are over. */
static void free_slots(struct vs_dev *dev, const struct vs_wc *wc)
{
	struct vs_qp *qp = wc->of_sq && dev->attr.hold_slots ? vs_qp_find(dev, wc->qp_num) : NULL;

	if (qp != NULL && qp->sq.tail - wc->sq_end <= qp->sq.tail - qp->sq.freed)
		qp->sq.freed = wc->sq_end;
}

int vs_cq_poll(struct vs_cq *cq, struct vs_wc *wc, int n)
{
	struct vs_dev *dev = cq->dev;
	int got = 0;

	if (cq->overflown)
		return vs_refuse(dev, VS_ERR_INVAL, VS_REASON_CQ_OVERFLOW);
	while (got < n && cq->head != cq->tail) {
		wc[got] = cq->wc[cq->head++ & cq->mask];
		free_slots(dev, &wc[got]);
		if (VS_EV_ON(dev, VS_LEVEL_BASE)) {
			const uint64_t a[] = {wc[got].status, wc[got].opcode};

			vs_ev_wr(dev, VS_EV_VERB_POLL_CQ, NULL, wc[got].wr_id, wc[got].cause, 2, a);
		}
		got++;
	}
	return got;
}

void vs_cq_forget(struct vs_cq *cq, uint32_t qpn)
{
	uint32_t i, keep = cq->head;

	for (i = cq->head; i != cq->tail; i++)
		if (cq->wc[i & cq->mask].qp_num != qpn)
			cq->wc[keep++ & cq->mask] = cq->wc[i & cq->mask];
	cq->tail = keep;
}

void vs_cq_arm(struct vs_cq *cq, bool solicited_only)
{
	if (!solicited_only)
		cq->armed = 2;
	else if (cq->armed == 0)
		cq->armed = 1;
}

static void fire(struct vs_cq *cq)
{
	cq->armed = 0;
	cq->events++;
	if (!vs_list_linked(&cq->event_link))
		vs_list_add_tail(&cq->dev->comp_events, &cq->event_link);
}

int vs_dev_poll_comp_event(struct vs_dev *dev, struct vs_cq **cq, uint64_t *cookie)
{
	struct vs_cq *c;

	if (vs_list_empty(&dev->comp_events))
		return 0;
	c = VS_CONTAINER(dev->comp_events.next, struct vs_cq, event_link);
	vs_list_del(&c->event_link);
	if (--c->events > 0)
		vs_list_add_tail(&dev->comp_events, &c->event_link);
	*cq = c;
	*cookie = c->cookie;
	return 1;
}

static void overflow(struct vs_cq *cq)
{
	struct vs_dev *dev = cq->dev;
	const uint64_t a[] = {cq->number};
	struct vs_node *n;

	cq->overflown = true;
	dev->counter[VS_CNT_CQ_OVERFLOWS]++;
	vs_ev(dev, VS_EV_CQ_OVERFLOW, NULL, dev->cause, 1, a);
	vs_async_push(dev, VS_EVENT_CQ_ERR, cq, cq->cookie);
	for (n = dev->qps.next; n != &dev->qps; n = n->next) {
		struct vs_qp *qp = VS_CONTAINER(n, struct vs_qp, link);

		if (qp->send_cq == cq || qp->recv_cq == cq)
			vs_qp_error(qp, VS_REASON_CQ_OVERFLOW);
	}
}

void vs_cq_push(struct vs_cq *cq, struct vs_qp *qp, const struct vs_wc *wc, bool solicited)
{
	struct vs_dev *dev = qp->dev;
	const uint64_t a[] = {wc->status,     wc->opcode,   wc->byte_len,
			      wc->vendor_err, wc->imm_data, cq != NULL ? cq->number : 0};
	uint64_t ev = vs_ev_wr(dev, VS_EV_CQE, qp, wc->wr_id, dev->cause, 6, a);
	struct vs_wc *slot;

	if (cq == NULL || cq->overflown)
		return;
	if (cq->tail - cq->head == cq->size) {
		overflow(cq);
		return;
	}
	slot = &cq->wc[cq->tail++ & cq->mask];
	*slot = *wc;
	slot->qp_num = qp->qpn;
	slot->time_ns = dev->now_ns;
	slot->cause = ev;
	/* A failed completion counts as solicited. */
	if (cq->armed == 2 || (cq->armed == 1 && (solicited || wc->status != VS_WC_SUCCESS)))
		fire(cq);
}
