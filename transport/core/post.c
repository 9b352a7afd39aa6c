/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * post.c - posting work requests: what can be known at once is refused at once; the rest becomes a WQE.
 *
 * Posts in ERR (and sends in SQE) are accepted and complete as flushed (11.4.1.1). Sends in RESET, INIT
 * and RTR, and receives in RESET, are immediate errors (C10-96, C10-97.2.1).
 */
#include "core.h"

/* Which transport takes which request (ibv_post_send). */
static bool supported(enum vs_qp_type type, enum vs_wr_opcode op)
{
	switch (op) {
	case VS_WR_SEND:
	case VS_WR_SEND_WITH_IMM:
		return true;
	case VS_WR_RDMA_WRITE:
	case VS_WR_RDMA_WRITE_WITH_IMM:
	case VS_WR_LOCAL_INV:
	case VS_WR_BIND_MW:
		return type == VS_QPT_RC || type == VS_QPT_UC;
	case VS_WR_RDMA_READ:
	case VS_WR_ATOMIC_CMP_AND_SWP:
	case VS_WR_ATOMIC_FETCH_AND_ADD:
	case VS_WR_SEND_WITH_INV:
	case VS_WR_FLUSH:
	case VS_WR_ATOMIC_WRITE:
		return type == VS_QPT_RC;
	default:
		return false;
	}
}

static bool inline_allowed(enum vs_wr_opcode op)
{
	return op == VS_WR_SEND || op == VS_WR_SEND_WITH_IMM || op == VS_WR_SEND_WITH_INV || op == VS_WR_RDMA_WRITE ||
	       op == VS_WR_RDMA_WRITE_WITH_IMM || op == VS_WR_ATOMIC_WRITE;
}

static enum vs_reason check_flush(const struct vs_send_wr *wr)
{
	return wr->flush.sel > 1 || wr->flush.plt == 0 || wr->flush.plt > 3 ? VS_REASON_WR_FLUSH : VS_REASON_NONE;
}

static enum vs_reason check_send(const struct vs_qp *qp, const struct vs_send_wr *wr, uint64_t length)
{
	bool inl = (wr->flags & VS_SEND_INLINE) != 0;

	if (qp->attr.state == VS_QPS_RESET || qp->attr.state == VS_QPS_INIT || qp->attr.state == VS_QPS_RTR)
		return VS_REASON_POST_STATE;
	if (!supported(qp->type, wr->opcode))
		return VS_REASON_WR_OPCODE;
	if (wr->flags & ~(unsigned)(VS_SEND_FENCE | VS_SEND_SIGNALED | VS_SEND_SOLICITED | VS_SEND_INLINE))
		return VS_REASON_WR_FLAGS;
	if (inl && !inline_allowed(wr->opcode))
		return VS_REASON_WR_INLINE_OP;
	if (inl && wr->inline_len > qp->init.cap.max_inline_data)
		return VS_REASON_WR_INLINE_LEN;
	if (!inl && wr->num_sge > qp->init.cap.max_send_sge)
		return VS_REASON_WR_NUM_SGE;
	if (length > VS_DMALEN_MAX)
		return VS_REASON_WR_LENGTH;
	if ((qp->type == VS_QPT_UD || qp->type == VS_QPT_GSI) && (wr->ud.ah == NULL || wr->ud.remote_qpn > 0xffffff))
		return VS_REASON_WR_AH;
	if (wr->opcode == VS_WR_BIND_MW && wr->bind.mw == NULL)
		return VS_REASON_MW_GONE;
	return wr->opcode == VS_WR_FLUSH ? check_flush(wr) : VS_REASON_NONE;
}

/* Of a list that is longer than the QP takes, nothing is read. */
static uint64_t send_length(const struct vs_qp *qp, const struct vs_send_wr *wr)
{
	uint64_t length = 0;
	uint32_t i;

	if (wr->opcode == VS_WR_FLUSH)
		return wr->flush.length;
	if (wr->opcode == VS_WR_LOCAL_INV || wr->opcode == VS_WR_BIND_MW)
		return 0;
	if (wr->flags & VS_SEND_INLINE)
		return wr->inline_len;
	for (i = 0; i < wr->num_sge && wr->num_sge <= qp->init.cap.max_send_sge; i++)
		length += wr->sg_list[i].length;
	return length;
}

static void fill_bind(struct vs_swqe *w, const struct vs_send_wr *wr)
{
	struct vs_mw *mw = wr->bind.mw;

	w->bind.mw_key = mw->rkey;
	w->bind.mr_lkey = wr->bind.mr != NULL ? wr->bind.mr->lkey : 0;
	w->bind.rkey = mw->type == VS_MW_TYPE_1 ? vs_mw_post_bind(mw) : wr->bind.rkey;
	w->bind.access = wr->bind.access;
	w->bind.addr = wr->bind.addr;
	w->bind.length = wr->bind.length;
}

static void fill(struct vs_qp *qp, struct vs_swqe *w, const struct vs_send_wr *wr, uint32_t length)
{
	bool atomic = wr->opcode == VS_WR_ATOMIC_CMP_AND_SWP || wr->opcode == VS_WR_ATOMIC_FETCH_AND_ADD;

	w->wr_id = wr->wr_id;
	w->opcode = wr->opcode;
	w->flags = wr->flags;
	w->state = VS_WQE_POSTED;
	w->status = VS_WC_SUCCESS;
	w->why = VS_REASON_NONE;
	w->length = length;
	w->imm_data = wr->imm_data;
	w->invalidate_rkey = wr->invalidate_rkey;
	w->remote_addr = wr->rdma.remote_addr;
	w->rkey = wr->rdma.rkey;
	if (!(atomic && qp->sq.tail > qp->sq.mask && VS_DEVIATES(qp->dev, STALE_WQE))) {
		w->compare_add = wr->atomic.compare_add;
		w->swap = wr->atomic.swap;
	}
	w->flush_plt = wr->flush.plt;
	w->flush_sel = wr->flush.sel;
	w->first_psn = w->npsn = w->responses_done = w->read_start = 0;
	w->num_sge = 0;
	if (wr->flags & VS_SEND_INLINE) {
		if (length > 0)
			memcpy(w->inline_data, wr->inline_data, length);
	} else if (wr->num_sge > 0 && wr->opcode != VS_WR_FLUSH) {
		w->num_sge = (uint16_t)wr->num_sge;
		memcpy(w->sge, wr->sg_list, wr->num_sge * sizeof(w->sge[0]));
	}
	if (wr->ud.ah != NULL) {
		w->av = wr->ud.ah->av;
		w->ah_pd_differs = wr->ud.ah->pd != qp->pd;
		w->remote_qpn = wr->ud.remote_qpn;
		w->remote_qkey = wr->ud.remote_qkey;
	}
	if (wr->opcode == VS_WR_BIND_MW)
		fill_bind(w, wr);
}

static int refuse_send(struct vs_qp *qp, enum vs_reason r)
{
	if (VS_DEVIATES(qp->dev, POST_ERR_SWALLOWED) && r != VS_REASON_POST_STATE)
		return VS_OK;
	if (VS_DEVIATES(qp->dev, UNSUPPORTED_OP_SILENT) && r == VS_REASON_WR_OPCODE)
		return VS_OK;
	return vs_refuse(qp->dev, r == VS_REASON_QUEUE_FULL ? VS_ERR_NOSPACE : VS_ERR_INVAL, r);
}

bool vs_qp_in_flight(const struct vs_qp *qp)
{
	return qp->type == VS_QPT_RC && qp->attr.state == VS_QPS_RTS && qp->req.una_psn != qp->req.sent_psn;
}

uint32_t vs_qp_send_room(const struct vs_qp *qp)
{
	return qp->sq.size - (qp->sq.tail - (qp->dev->attr.hold_slots ? qp->sq.freed : qp->sq.head));
}

int vs_qp_post_send(struct vs_qp *qp, const struct vs_send_wr *wr)
{
	uint64_t length = send_length(qp, wr);
	enum vs_reason r = check_send(qp, wr, length);
	uint64_t a[] = {wr->opcode, length, wr->rdma.remote_addr, wr->rdma.rkey, wr->flags, 0};
	struct vs_swqe *w;

	if (r == VS_REASON_NONE && vs_qp_send_room(qp) == 0)
		r = VS_REASON_QUEUE_FULL;
	if (r != VS_REASON_NONE) {
		int rc = refuse_send(qp, r);

		a[5] = (uint64_t)(int64_t)rc;
		vs_ev_wr(qp->dev, VS_EV_VERB_POST_SEND, qp, wr->wr_id, 0, 6, a);
		return rc;
	}
	w = vs_sq_at(qp, qp->sq.tail);
	fill(qp, w, wr, (uint32_t)length);
	w->post_cause = vs_ev_wr(qp->dev, VS_EV_VERB_POST_SEND, qp, wr->wr_id, 0, 6, a);
	qp->sq.tail++;
	if (qp->attr.state == VS_QPS_ERR || qp->attr.state == VS_QPS_SQE) {
		qp->dev->cause = w->post_cause;
		if (VS_DEVIATES(qp->dev, ERR_POST_NOT_FLUSHED))
			qp->sq.head = qp->sq.tail;
		else
			vs_qp_flush_sq(qp);
		qp->dev->cause = 0;
		return VS_OK;
	}
	vs_qp_kick(qp);
	return VS_OK;
}

int vs_qp_post_recv(struct vs_qp *qp, const struct vs_recv_wr *wr)
{
	struct vs_dev *dev = qp->dev;
	uint64_t a[2] = {0, 0}, ev;
	enum vs_reason r = VS_REASON_NONE;
	uint32_t i;

	if (qp->attr.state == VS_QPS_RESET)
		r = VS_REASON_POST_STATE;
	else if (qp->srq != NULL)
		r = VS_REASON_POST_SRQ;
	else if (wr->num_sge > qp->rq.max_sge)
		r = VS_REASON_WR_NUM_SGE;
	else if (vs_rq_full(&qp->rq))
		r = VS_REASON_QUEUE_FULL;
	for (i = 0; r == VS_REASON_NONE && i < wr->num_sge; i++)
		a[0] += wr->sg_list[i].length;
	if (r != VS_REASON_NONE) {
		int rc = vs_refuse(dev, r == VS_REASON_QUEUE_FULL ? VS_ERR_NOSPACE : VS_ERR_INVAL, r);

		a[1] = (uint64_t)(int64_t)rc;
		vs_ev_wr(dev, VS_EV_VERB_POST_RECV, qp, wr->wr_id, 0, 2, a);
		return rc;
	}
	ev = vs_ev_wr(dev, VS_EV_VERB_POST_RECV, qp, wr->wr_id, 0, 2, a);
	vs_rq_push(&qp->rq, wr, ev);
	if (qp->attr.state == VS_QPS_ERR) {
		dev->cause = ev;
		if (VS_DEVIATES(dev, ERR_POST_NOT_FLUSHED))
			qp->rq.head = qp->rq.tail;
		else
			vs_qp_flush_rq(qp);
		dev->cause = 0;
	}
	return VS_OK;
}
