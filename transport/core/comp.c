/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * comp.c - what a response means for the requester.
 *
 *   ACK at PSN p        acknowledges every SEND and WRITE up to p (coalescing, 9.7.5.1.2). READs, atomics, FLUSH
 *                       and ATOMIC WRITE are completed by their own responses alone: an ACK beyond one that
 *                       is open is an implied NAK for it; an ACK at one of its own PSNs is an unsolicited
 *                       acknowledge and changes nothing but credits.
 *   NAK, RNR at p       acknowledges everything before p, in the same way, then speaks of the request at p.
 *   READ response at p  acknowledges what stands before the READ; p has to be the next one missing.
 *
 * PSNs outside [una, sent) are ghosts: too old (credits may be updated) or never sent; both are ignored.
 */
#include "core.h"

static void new_credits(struct vs_qp *qp, const struct vs_rx *rx)
{
	uint8_t syndrome = rx->p.ext.aeth.syndrome;
	uint32_t credits;

	if (vs_aeth_type(syndrome) != VS_AETH_ACK)
		return;
	credits = vs_aeth_credits(syndrome & 0x1f);
	qp->req.probed = qp->req.credit_told = false;
	if (credits == VS_CREDITS_UNLIMITED || !qp->dev->attr.e2e_credits) {
		qp->req.has_lsn = false;
	} else {
		qp->req.has_lsn = true;
		qp->req.lsn = vs_psn_add(rx->p.ext.aeth.msn, (int32_t)credits);
	}
	vs_qp_kick(qp);
}

/* Something moved on: full retries again, the timer starts anew, gates may open. */
static void progress(struct vs_qp *qp)
{
	if (!VS_DEVIATES(qp->dev, RETRY_NOT_RESET))
		qp->req.retry_left = qp->attr.retry_cnt;
	qp->req.rnr_left = qp->attr.rnr_retry;
	qp->req.gap_told = false;
	vs_req_start_timer(qp);
	vs_qp_kick(qp);
}

static struct vs_swqe *head(struct vs_qp *qp)
{
	return qp->sq.head != qp->sq.tail ? vs_sq_at(qp, qp->sq.head) : NULL;
}

/* The request that PSN belongs to, which is outstanding; local operations take none. */
static struct vs_swqe *find(struct vs_qp *qp, uint32_t psn)
{
	uint32_t i = qp->sq.head;

	while (!vs_psn_in(psn, vs_sq_at(qp, i)->first_psn, vs_sq_at(qp, i)->npsn)) {
		i++;
		assert(i != qp->sq.tail);
	}
	return vs_sq_at(qp, i);
}

static void finish(struct vs_qp *qp, struct vs_swqe *w)
{
	w->state = VS_WQE_DONE;
	if (vs_swqe_is_rd_atomic(w))
		qp->req.rd_atomic_out--;
}

enum acked { ACKED_ALL, ACKED_UP_TO_OPEN_READ, ACKED_QP_DEAD };

/*
 * Acknowledges every PSN before `end`, oldest request first. Stops in front of an open READ or atomic:
 * *open is set then. Completions are made on the way.
 */
static enum acked ack_before(struct vs_qp *qp, uint32_t end, struct vs_swqe **open)
{
	uint32_t before = qp->req.una_psn;
	enum acked result = ACKED_ALL;
	struct vs_swqe *w;

	while ((w = head(qp)) != NULL && vs_psn_lt(qp->req.una_psn, end)) {
		uint32_t last_plus_1 = vs_psn_add(w->first_psn, (int32_t)w->npsn);

		assert(w->state == VS_WQE_ACTIVE); /* what is done has left the queue */
		if (vs_swqe_is_rd_atomic(w)) {
			*open = w;
			result = ACKED_UP_TO_OPEN_READ;
			break;
		}
		if (vs_psn_lt(end, last_plus_1)) { /* part of a message */
			qp->req.una_psn = end;
			break;
		}
		qp->req.una_psn = last_plus_1;
		finish(qp, w);
		vs_req_retire(qp);
	}
	if (qp->attr.state == VS_QPS_ERR)
		return ACKED_QP_DEAD;
	/* The cursor never stands behind what is acknowledged. */
	if (vs_psn_lt(vs_req_cursor_psn(qp), qp->req.una_psn) && qp->req.una_psn != qp->req.sent_psn)
		vs_req_move_cursor(qp, qp->req.una_psn);
	else if (qp->req.una_psn == qp->req.sent_psn)
		vs_req_cursor_to_new(qp);
	if (qp->req.una_psn != before)
		progress(qp);
	return result;
}

static void implied_nak(struct vs_qp *qp, const struct vs_swqe *open)
{
	if (qp->req.gap_told)
		return;
	qp->dev->counter[VS_CNT_IMPLIED_NAK_SEQ_ERR]++;
	if (vs_req_go_back(qp, vs_psn_add(open->first_psn, (int32_t)open->responses_done), "implied_nak"))
		qp->req.gap_told = true;
}

static void bad_response(struct vs_qp *qp, enum vs_wc_status status, enum vs_reason why)
{
	vs_req_fail_head(qp, status, why);
}

/* ---- Acknowledge packets: ACK, RNR NAK, NAK ---- */

static void positive_ack(struct vs_qp *qp, struct vs_rx *rx)
{
	uint32_t psn = rx->p.bth.psn;
	struct vs_swqe *open = NULL, *at = find(qp, psn);

	/* At a PSN of an open READ or atomic: an unsolicited acknowledge. It covers what stands before. */
	if (vs_swqe_is_rd_atomic(at)) {
		bool whole = psn == vs_psn_add(at->first_psn, (int32_t)at->npsn - 1);

		if (ack_before(qp, at->first_psn, &open) == ACKED_UP_TO_OPEN_READ)
			implied_nak(qp, open);
		else if (whole && at->opcode == VS_WR_RDMA_READ && VS_DEVIATES(qp->dev, ACK_COMPLETES_READ)) {
			qp->req.una_psn = vs_psn_add(psn, 1);
			finish(qp, at);
			vs_req_retire(qp);
			progress(qp);
		}
		return;
	}
	if (ack_before(qp, vs_psn_add(psn, 1), &open) == ACKED_UP_TO_OPEN_READ)
		implied_nak(qp, open);
}

static void fatal_nak(struct vs_qp *qp, uint8_t code)
{
	switch (code) {
	case VS_NAK_INV_REQ:
		bad_response(qp, VS_WC_REM_INV_REQ_ERR, VS_REASON_NAK_INV_REQ);
		break;
	case VS_NAK_REM_ACCESS:
		bad_response(qp, VS_WC_REM_ACCESS_ERR, VS_REASON_NAK_REM_ACCESS);
		break;
	case VS_NAK_REM_OP:
		bad_response(qp, VS_DEVIATES(qp->dev, REM_OP_AS_ACCESS) ? VS_WC_REM_ACCESS_ERR : VS_WC_REM_OP_ERR,
			     VS_REASON_NAK_REM_OP);
		break;
	default:
		break;
	}
}

static void negative_ack(struct vs_qp *qp, struct vs_rx *rx)
{
	struct vs_dev *dev = qp->dev;
	uint8_t syndrome = rx->p.ext.aeth.syndrome, code = syndrome & 0x1f;
	bool rnr = vs_aeth_type(syndrome) == VS_AETH_RNR;
	uint32_t psn = rx->p.bth.psn;
	struct vs_swqe *open = NULL;

	if (rnr)
		dev->counter[VS_CNT_RCVD_RNR_ERR]++;
	else if (code == VS_NAK_PSN_SEQ)
		dev->counter[VS_CNT_RCVD_SEQ_ERR]++;
	switch (ack_before(qp, psn, &open)) {
	case ACKED_QP_DEAD:
		return;
	case ACKED_UP_TO_OPEN_READ:
		/* The NAK itself lies beyond a READ whose data is missing: that has to come first. */
		implied_nak(qp, open);
		return;
	case ACKED_ALL:
		break;
	}
	if (rnr) {
		if (!qp->req.rnr_wait)
			vs_req_rnr(qp, psn, code);
		return;
	}
	if (code == VS_NAK_PSN_SEQ) {
		/* The same NAK again, before anything of the repeat has left, asks for nothing new. */
		if (!qp->req.rnr_wait && vs_req_cursor_psn(qp) != psn)
			vs_req_go_back(qp, psn, "nak_sequence");
		return;
	}
	fatal_nak(qp, code);
}

/* ---- READ responses ---- */

/*
 * Response number k of a READ: First/Only where a request began (the whole READ, or the newest
 * repeat from its first missing response), Middle/Last elsewhere; where a repeat began, answers to the
 * request before it may still arrive as Middle/Last. Wrong start: BAD_RESP_ERR; wrong size: LOC_LEN_ERR.
 */
static enum vs_wc_status check_read_response(const struct vs_qp *qp, const struct vs_swqe *w, const struct vs_pkt *p,
					     enum vs_reason *why)
{
	uint32_t k = w->responses_done, left = w->length - k * qp->mtu;
	bool last = k + 1 == w->npsn;
	bool first_op = p->bth.opcode == VS_OP_RC_READ_RESPONSE_FIRST || p->bth.opcode == VS_OP_RC_READ_RESPONSE_ONLY;
	bool last_op = p->bth.opcode == VS_OP_RC_READ_RESPONSE_LAST || p->bth.opcode == VS_OP_RC_READ_RESPONSE_ONLY;
	bool may_start = k == 0 || k == w->read_start, must_start = k == 0;

	*why = VS_REASON_READ_RESPONSE_SEQUENCE;
	if (first_op ? !may_start : must_start)
		return VS_WC_BAD_RESP_ERR;
	if ((p->hdrs & VS_HDR_AETH) && vs_aeth_type(p->ext.aeth.syndrome) != VS_AETH_ACK)
		return VS_WC_BAD_RESP_ERR;
	*why = VS_REASON_READ_RESPONSE_LENGTH;
	if (last_op != last || p->payload_len != (last ? left : qp->mtu))
		return VS_WC_LOC_LEN_ERR;
	return VS_WC_SUCCESS;
}

/* The last PSN of the request at the head has its answer. */
static void answered(struct vs_qp *qp, struct vs_swqe *w)
{
	qp->req.una_psn = vs_psn_add(qp->req.una_psn, 1);
	finish(qp, w);
	progress(qp);
	vs_req_retire(qp);
}

static void take_read_data(struct vs_qp *qp, struct vs_swqe *w, const struct vs_pkt *p)
{
	enum vs_reason why;
	enum vs_wc_status status = check_read_response(qp, w, p, &why);

	if (status == VS_WC_SUCCESS) {
		why = vs_scatter(qp, qp->pd, w->sge, w->num_sge, w->responses_done * qp->mtu, p->payload,
				 p->payload_len);
		if (why != VS_REASON_NONE)
			status = VS_WC_LOC_PROT_ERR;
	}
	if (status != VS_WC_SUCCESS) {
		bad_response(qp, status, why);
		return;
	}
	w->responses_done++;
	if (w->responses_done == w->npsn) {
		answered(qp, w);
	} else {
		qp->req.una_psn = vs_psn_add(qp->req.una_psn, 1);
		progress(qp);
	}
}

/* FLUSH and ATOMIC WRITE: READ Response Only without payload. */
static void take_empty_response(struct vs_qp *qp, struct vs_swqe *w, const struct vs_pkt *p)
{
	if (p->bth.opcode != VS_OP_RC_READ_RESPONSE_ONLY || p->payload_len != 0 ||
	    vs_aeth_type(p->ext.aeth.syndrome) != VS_AETH_ACK) {
		bad_response(qp, VS_WC_BAD_RESP_ERR, VS_REASON_RESPONSE_OPCODE);
		return;
	}
	answered(qp, w);
}

static void take_atomic(struct vs_qp *qp, struct vs_swqe *w, const struct vs_pkt *p)
{
	uint64_t value = p->ext.atomicack_origdata;
	enum vs_reason why;

	if (!vs_swqe_is_atomic(w) || vs_aeth_type(p->ext.aeth.syndrome) != VS_AETH_ACK) {
		bad_response(qp, VS_WC_BAD_RESP_ERR, VS_REASON_RESPONSE_OPCODE);
		return;
	}
	why = vs_scatter(qp, qp->pd, w->sge, w->num_sge, 0, (const uint8_t *)&value, sizeof(value));
	if (why != VS_REASON_NONE && !VS_DEVIATES(qp->dev, ATOMIC_LKEY_STATUS_UNSET)) {
		bad_response(qp, VS_WC_LOC_PROT_ERR, why);
		return;
	}
	answered(qp, w);
}

/* A response with data of its own: READ response or ATOMIC Acknowledge. */
static void data_response(struct vs_qp *qp, struct vs_rx *rx)
{
	const struct vs_pkt *p = &rx->p;
	struct vs_swqe *w = find(qp, p->bth.psn), *open = NULL;
	uint32_t k;

	if (!vs_swqe_is_rd_atomic(w)) { /* answers a SEND or WRITE */
		if (ack_before(qp, w->first_psn, &open) == ACKED_ALL)
			bad_response(qp, VS_WC_BAD_RESP_ERR, VS_REASON_RESPONSE_OPCODE);
		return;
	}
	switch (ack_before(qp, w->first_psn, &open)) {
	case ACKED_QP_DEAD:
		return;
	case ACKED_UP_TO_OPEN_READ:
		implied_nak(qp, open);
		return;
	case ACKED_ALL:
		break;
	}
	k = vs_psn_add(p->bth.psn, -(int32_t)w->first_psn);
	/* Never less: una_psn is the first that is missing. */
	if (k > w->responses_done) {
		implied_nak(qp, w); /* responses in between are missing */
		return;
	}
	if (p->bth.opcode == VS_OP_RC_ATOMIC_ACKNOWLEDGE)
		take_atomic(qp, w, p);
	else if (w->opcode == VS_WR_RDMA_READ)
		take_read_data(qp, w, p);
	else if (vs_swqe_is_atomic(w))
		bad_response(qp, VS_WC_BAD_RESP_ERR, VS_REASON_RESPONSE_OPCODE);
	else
		take_empty_response(qp, w, p);
}

void vs_comp_response(struct vs_rx *rx)
{
	struct vs_qp *qp = rx->qp;
	const struct vs_pkt *p = &rx->p;
	uint32_t outstanding = vs_psn_add(qp->req.sent_psn, -(int32_t)qp->req.una_psn);
	enum vs_aeth_type type = vs_aeth_type(p->ext.aeth.syndrome);

	if (!vs_psn_in(p->bth.psn, qp->req.una_psn, outstanding)) {
		const uint64_t a[] = {p->bth.psn, p->hdrs & VS_HDR_AETH ? p->ext.aeth.syndrome : VS_SYN_NONE};

		vs_ev(qp->dev, VS_EV_RC_GHOST, qp, rx->ev, 2, a);
		/* The newest acknowledge may be repeated to give credits. */
		if (p->bth.opcode == VS_OP_RC_ACKNOWLEDGE && p->bth.psn == vs_psn_add(qp->req.una_psn, -1))
			new_credits(qp, rx);
		return;
	}
	/* A NAK of an atomic may come with the ATOMIC opcode: the syndrome decides. */
	if (p->bth.opcode == VS_OP_RC_ACKNOWLEDGE ||
	    (p->bth.opcode == VS_OP_RC_ATOMIC_ACKNOWLEDGE && (type == VS_AETH_NAK || type == VS_AETH_RNR))) {
		if (type == VS_AETH_ACK) {
			new_credits(qp, rx);
			positive_ack(qp, rx);
		} else if (type == VS_AETH_RNR ||
			   (type == VS_AETH_NAK && (p->ext.aeth.syndrome & 0x1f) <= VS_NAK_REM_OP)) {
			negative_ack(qp, rx);
		}
		return; /* reserved types and codes are discarded */
	}
	if (p->hdrs & VS_HDR_AETH)
		new_credits(qp, rx);
	data_response(qp, rx);
}
