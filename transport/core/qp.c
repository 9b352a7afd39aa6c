/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * qp.c - queue pairs: create, destroy, query, and what an error does to the queues.
 *
 * The error rule: exactly one completion for every accepted work request that must complete, in post
 * order, on the right CQ. The request that failed is completed first, with its own status; then come
 * the flushed ones.
 */
#include "core.h"

#define QP_TIMERS 5

static enum vs_reason check_init(const struct vs_dev *dev, const struct vs_pd *pd, const struct vs_qp_init *init)
{
	const struct vs_qp_cap *c = &init->cap;

	if (init->type != VS_QPT_RC && init->type != VS_QPT_UC && init->type != VS_QPT_UD && init->type != VS_QPT_GSI)
		return VS_REASON_QP_TYPE;
	if (init->send_cq == NULL || init->recv_cq == NULL || init->send_cq->dev != dev || init->recv_cq->dev != dev)
		return VS_REASON_QP_CQ;
	if (init->srq != NULL && (init->srq->dev != dev || init->type == VS_QPT_GSI))
		return VS_REASON_QP_SRQ;
	if (c->max_send_wr > dev->attr.max_qp_wr || c->max_recv_wr > dev->attr.max_qp_wr ||
	    c->max_send_sge > dev->attr.max_sge || c->max_recv_sge > dev->attr.max_sge ||
	    c->max_inline_data > dev->attr.max_inline)
		return VS_REASON_QP_CAP;
	if (init->type == VS_QPT_GSI ? (init->qpn != 0 && init->qpn != VS_QPN_GSI)
				     : init->qpn == 1 || init->qpn >= VS_QPN_MULTICAST)
		return VS_REASON_QPN;
	(void)pd;
	return VS_REASON_NONE;
}

static bool alloc_queues(struct vs_qp *qp)
{
	struct vs_dev *dev = qp->dev;
	const struct vs_qp_cap *c = &qp->init.cap;
	size_t sges = c->max_send_sge > 0 ? c->max_send_sge : 1, slots;
	uint32_t i;

	qp->sq.size = c->max_send_wr;
	qp->sq.mask = vs_ring_mask(c->max_send_wr);
	slots = (size_t)qp->sq.mask + 1;
	if (qp->sq.size > 0) {
		qp->sq.wqe = vs_alloc(dev, slots * sizeof(qp->sq.wqe[0]));
		qp->sq.sges = vs_alloc(dev, slots * sges * sizeof(qp->sq.sges[0]));
		if (c->max_inline_data > 0)
			qp->sq.inline_buf = vs_alloc(dev, slots * c->max_inline_data);
		if (qp->sq.wqe == NULL || qp->sq.sges == NULL || (c->max_inline_data > 0 && qp->sq.inline_buf == NULL))
			return false;
		for (i = 0; i < slots; i++) {
			qp->sq.wqe[i].sge = &qp->sq.sges[i * sges];
			if (qp->sq.inline_buf != NULL)
				qp->sq.wqe[i].inline_data = &qp->sq.inline_buf[(size_t)i * c->max_inline_data];
		}
	}
	if (vs_rq_init(dev, &qp->rq, qp->srq != NULL ? 0 : c->max_recv_wr, c->max_recv_sge) != VS_OK)
		return false;
	qp->resp.wqe_sge_max = qp->srq != NULL ? qp->srq->rq.max_sge : c->max_recv_sge;
	if (qp->resp.wqe_sge_max == 0)
		qp->resp.wqe_sge_max = 1;
	qp->resp.wqe_sge = vs_alloc(dev, qp->resp.wqe_sge_max * sizeof(qp->resp.wqe_sge[0]));
	/* The device's maximum, so that modify never has to allocate. */
	qp->resp.rres_size = qp->type == VS_QPT_RC ? dev->attr.max_rd_atomic : 1;
	qp->resp.rres_mask = vs_ring_mask(qp->resp.rres_size);
	qp->resp.rres = vs_alloc(dev, ((size_t)qp->resp.rres_mask + 1) * sizeof(qp->resp.rres[0]));
	return qp->resp.wqe_sge != NULL && qp->resp.rres != NULL;
}

static void free_queues(struct vs_qp *qp)
{
	struct vs_dev *dev = qp->dev;
	const struct vs_qp_cap *c = &qp->init.cap;
	size_t sges = c->max_send_sge > 0 ? c->max_send_sge : 1, slots = (size_t)qp->sq.mask + 1;

	vs_free(dev, qp->sq.wqe, slots * sizeof(qp->sq.wqe[0]));
	vs_free(dev, qp->sq.sges, slots * sges * sizeof(qp->sq.sges[0]));
	vs_free(dev, qp->sq.inline_buf, slots * c->max_inline_data);
	vs_rq_fini(dev, &qp->rq);
	vs_free(dev, qp->resp.wqe_sge, qp->resp.wqe_sge_max * sizeof(qp->resp.wqe_sge[0]));
	vs_free(dev, qp->resp.rres, ((size_t)qp->resp.rres_mask + 1) * sizeof(qp->resp.rres[0]));
}

static void init_timers(struct vs_qp *qp)
{
	vs_timer_init(&qp->req.ack_timer, VS_TIMER_ACK, qp);
	vs_timer_init(&qp->req.rnr_timer, VS_TIMER_RNR, qp);
	vs_timer_init(&qp->req.pace_timer, VS_TIMER_PACE, qp);
	vs_timer_init(&qp->cc.rate_timer, VS_TIMER_RATE, qp);
	vs_timer_init(&qp->cc.alpha_timer, VS_TIMER_ALPHA, qp);
}

static void stop_timers(struct vs_qp *qp)
{
	vs_timer_stop(qp->dev, &qp->req.ack_timer);
	vs_timer_stop(qp->dev, &qp->req.rnr_timer);
	vs_timer_stop(qp->dev, &qp->req.pace_timer);
	vs_timer_stop(qp->dev, &qp->cc.rate_timer);
	vs_timer_stop(qp->dev, &qp->cc.alpha_timer);
}

static struct vs_qp *qp_new(struct vs_pd *pd, const struct vs_qp_init *init)
{
	struct vs_dev *dev = pd->dev;
	struct vs_qp *qp = dev->n_qp < dev->attr.max_qp ? vs_alloc(dev, sizeof(*qp)) : NULL;

	if (qp == NULL)
		return NULL;
	qp->dev = dev;
	qp->pd = pd;
	qp->type = init->type;
	qp->init = *init;
	qp->srq = init->srq;
	qp->send_cq = init->send_cq;
	qp->recv_cq = init->recv_cq;
	qp->attr.state = VS_QPS_RESET;
	init_timers(qp);
	if (!alloc_queues(qp) || vs_timer_reserve(dev, QP_TIMERS) != VS_OK) {
		free_queues(qp);
		vs_free(dev, qp, sizeof(*qp));
		return NULL;
	}
	return qp;
}

struct vs_qp *vs_qp_create(struct vs_pd *pd, const struct vs_qp_init *init, int *err)
{
	struct vs_dev *dev = pd->dev;
	enum vs_reason r = check_init(dev, pd, init);
	uint32_t qpn = init->type == VS_QPT_GSI ? VS_QPN_GSI : init->qpn;
	uint64_t a[] = {init->type, 0};
	struct vs_qp *qp;

	if (r != VS_REASON_NONE) {
		*err = vs_refuse(dev, VS_ERR_INVAL, r);
		return NULL;
	}
	if (qpn != 0 && (vs_qp_find(dev, qpn) != NULL || (qpn == VS_QPN_GSI && !dev->attr.cm_disabled))) {
		*err = vs_refuse(dev, VS_ERR_BUSY, VS_REASON_QPN);
		return NULL;
	}
	qp = qp_new(pd, init);
	if (qp == NULL) {
		*err = vs_refuse(dev, VS_ERR_NOSPACE, VS_REASON_LIMIT_QP);
		return NULL;
	}
	qp->qpn = qpn != 0 ? qpn : vs_qpn_choose(dev);
	qp->init.qpn = qp->qpn;
	vs_list_init(&qp->link);
	vs_list_init(&qp->ready);
	vs_list_add_tail(&dev->qps, &qp->link);
	vs_qp_table_add(dev, qp);
	dev->n_qp++;
	pd->users++;
	qp->send_cq->users++;
	qp->recv_cq->users++;
	if (qp->srq != NULL)
		qp->srq->users++;
	vs_ev(dev, VS_EV_VERB_CREATE_QP, qp, 0, 2, a);
	*err = VS_OK;
	return qp;
}

void vs_qp_free(struct vs_qp *qp)
{
	struct vs_dev *dev = qp->dev;

	stop_timers(qp);
	vs_timer_unreserve(dev, QP_TIMERS);
	vs_mw_qp_gone(qp);
	vs_async_forget(dev, qp);
	vs_qp_table_del(dev, qp);
	vs_list_del(&qp->ready);
	vs_list_del(&qp->link);
	dev->n_qp--;
	qp->pd->users--;
	if (qp->send_cq != NULL)
		qp->send_cq->users--;
	if (qp->recv_cq != NULL)
		qp->recv_cq->users--;
	if (qp->srq != NULL)
		qp->srq->users--;
	free_queues(qp);
	vs_free(dev, qp, sizeof(*qp));
}

int vs_qp_destroy(struct vs_qp *qp)
{
	struct vs_dev *dev = qp->dev;
	uint64_t a[] = {0};

	if (qp->mcast_groups > 0)
		return vs_refuse(dev, VS_ERR_BUSY, VS_REASON_IN_USE); /* o10-2.2.3 */
	vs_ev(dev, VS_EV_VERB_DESTROY_QP, qp, 0, 1, a);
	vs_qp_free(qp);
	return VS_OK;
}

uint32_t vs_qp_num(const struct vs_qp *qp)
{
	return qp->qpn;
}

enum vs_qp_state vs_qp_state(const struct vs_qp *qp)
{
	return qp->attr.state;
}

uint64_t vs_qp_cookie(const struct vs_qp *qp)
{
	return qp->init.cookie;
}

void vs_qp_query(const struct vs_qp *qp, struct vs_qp_attr *attr, struct vs_qp_init *init)
{
	if (attr != NULL) {
		*attr = qp->attr;
		attr->cur_state = attr->state;
	}
	if (init != NULL)
		*init = qp->init;
}

/* ---- RESET: everything is forgotten, nothing completes ---- */

void vs_qp_reset(struct vs_qp *qp)
{
	stop_timers(qp);
	vs_list_del(&qp->ready);
	qp->sq.head = qp->sq.tail = qp->sq.freed = qp->sq.send = qp->sq.send_pkt = 0;
	qp->rq.head = qp->rq.tail = 0;
	vs_mw_qp_gone(qp);
	vs_req_reset(qp);
	vs_resp_reset(qp);
	memset(&qp->attr, 0, sizeof(qp->attr));
	qp->attr.state = VS_QPS_RESET;
}

/* ---- completing ---- */

static void push_sq(struct vs_qp *qp, const struct vs_swqe *w, enum vs_wc_status status, enum vs_reason why,
		    uint32_t byte_len)
{
	const struct vs_wc wc = {.wr_id = w->wr_id,
				 .status = status,
				 .opcode = vs_wr_completes_as(w->opcode),
				 .vendor_err = (uint32_t)why,
				 .byte_len = byte_len,
				 .of_sq = true,
				 .sq_end = qp->sq.head};
	bool signaled = (w->flags & VS_SEND_SIGNALED) != 0 || qp->init.sq_sig_all;

	if (status == VS_WC_SUCCESS && !signaled)
		return;
	if (!signaled && status != VS_WC_WR_FLUSH_ERR && VS_DEVIATES(qp->dev, UNSIGNALED_ERR_SILENT))
		return;
	vs_cq_push(qp->send_cq, qp, &wc, false);
}

void vs_sq_complete_head(struct vs_qp *qp, enum vs_wc_status status, enum vs_reason why, uint32_t byte_len)
{
	/* The head moves first: an overflow of the CQ inside push flushes what is left, not this one again. */
	const struct vs_swqe w = *vs_sq_at(qp, qp->sq.head);

	assert(qp->sq.head != qp->sq.tail);
	qp->sq.head++;
	if ((int32_t)(qp->sq.send - qp->sq.head) < 0) {
		qp->sq.send = qp->sq.head;
		qp->sq.send_pkt = 0;
	}
	if (status == VS_WC_SUCCESS &&
	    (w.opcode == VS_WR_SEND || w.opcode == VS_WR_SEND_WITH_IMM || w.opcode == VS_WR_SEND_WITH_INV))
		qp->dev->counter[VS_CNT_RDMA_SENDS]++;
	push_sq(qp, &w, status, why, byte_len);
}

/* Deviation: the newest first. */
static void flush_backwards(struct vs_qp *qp)
{
	uint32_t first = qp->sq.head, i = qp->sq.tail;

	qp->sq.head = qp->sq.send = i;
	qp->sq.send_pkt = 0;
	while (i != first) {
		const struct vs_swqe w = *vs_sq_at(qp, --i);

		push_sq(qp, &w, VS_WC_WR_FLUSH_ERR, VS_REASON_FLUSHED, 0);
	}
}

void vs_qp_flush_sq(struct vs_qp *qp)
{
	if (VS_DEVIATES(qp->dev, FLUSH_REVERSED))
		flush_backwards(qp);
	while (qp->sq.head != qp->sq.tail)
		vs_sq_complete_head(qp, VS_WC_WR_FLUSH_ERR, VS_REASON_FLUSHED, 0);
}

void vs_rq_take(struct vs_qp *qp)
{
	struct vs_rq *rq = qp->srq != NULL ? &qp->srq->rq : &qp->rq;
	const struct vs_rwqe *w;
	struct vs_srq *srq = qp->srq;
	uint64_t a[2];

	assert(!qp->resp.has_wqe && !vs_rq_empty(rq));
	w = vs_rq_at(rq, rq->head++);
	qp->resp.wqe = *w;
	qp->resp.wqe.sge = qp->resp.wqe_sge;
	memcpy(qp->resp.wqe_sge, w->sge, w->num_sge * sizeof(w->sge[0]));
	qp->resp.has_wqe = true;
	a[0] = w->length;
	a[1] = srq != NULL;
	vs_ev_wr(qp->dev, VS_EV_WQE_TAKE, qp, w->wr_id, qp->dev->cause, 2, a);
	if (srq != NULL && srq->limit > 0 && rq->tail - rq->head < srq->limit) {
		srq->limit = 0; /* once, then disarmed */
		vs_async_push(qp->dev,
			      VS_DEVIATES(qp->dev, SRQ_LIMIT_AS_ERR) ? VS_EVENT_SRQ_ERR : VS_EVENT_SRQ_LIMIT_REACHED,
			      srq, srq->cookie);
	}
}

void vs_rq_complete(struct vs_qp *qp, struct vs_wc *wc, bool solicited)
{
	assert(qp->resp.has_wqe);
	qp->resp.has_wqe = false;
	wc->wr_id = qp->resp.wqe.wr_id;
	if (wc->status == VS_WC_SUCCESS)
		qp->dev->counter[VS_CNT_RDMA_RECVS]++;
	vs_cq_push(qp->recv_cq, qp, wc, solicited);
}

void vs_qp_flush_rq(struct vs_qp *qp)
{
	struct vs_cq *cq = VS_DEVIATES(qp->dev, FLUSH_WRONG_CQ) ? qp->send_cq : qp->recv_cq;

	if (VS_DEVIATES(qp->dev, RQ_NOT_FLUSHED)) {
		qp->resp.has_wqe = false;
		qp->rq.head = qp->rq.tail;
		return;
	}
	for (;;) {
		struct vs_wc wc = {.status = VS_WC_WR_FLUSH_ERR, .opcode = VS_WC_RECV, .vendor_err = VS_REASON_FLUSHED};

		if (qp->resp.has_wqe) {
			qp->resp.has_wqe = false;
			wc.wr_id = qp->resp.wqe.wr_id;
		} else if (!vs_rq_empty(&qp->rq)) {
			wc.wr_id = vs_rq_at(&qp->rq, qp->rq.head++)->wr_id;
		} else {
			return;
		}
		vs_cq_push(cq, qp, &wc, false);
	}
}

void vs_qp_error(struct vs_qp *qp, enum vs_reason r)
{
	enum vs_qp_state from = qp->attr.state;

	if (from == VS_QPS_ERR || from == VS_QPS_RESET)
		return;
	vs_qp_set_state(qp, VS_QPS_ERR, r);
	stop_timers(qp);
	qp->attr.sq_draining = 0;
	qp->cc.cnp_due = false;
	if (!qp->resp.dying)
		vs_answers_clear(qp); /* no further packets, but for the NAK that says why */
	if (from == VS_QPS_RTR && VS_DEVIATES(qp->dev, NO_FLUSH_FROM_RTR)) {
		qp->sq.head = qp->sq.tail;
		qp->rq.head = qp->rq.tail;
		return;
	}
	vs_qp_flush_sq(qp);
	vs_qp_flush_rq(qp);
	if (qp->srq != NULL && !VS_DEVIATES(qp->dev, NO_LAST_WQE))
		vs_async_push(qp->dev, VS_EVENT_QP_LAST_WQE_REACHED, qp, qp->init.cookie);
}

void vs_qp_sq_error(struct vs_qp *qp, enum vs_reason r)
{
	if (qp->type == VS_QPT_RC || qp->attr.state == VS_QPS_ERR) {
		vs_qp_error(qp, r);
		return;
	}
	if (qp->attr.state != VS_QPS_RTS && qp->attr.state != VS_QPS_SQD)
		return;
	vs_qp_set_state(qp, VS_QPS_SQE, r);
	qp->attr.sq_draining = 0;
	vs_qp_flush_sq(qp);
}
