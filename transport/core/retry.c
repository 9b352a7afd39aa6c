/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * retry.c - going back: the ACK timer, the RNR timer, and the cursor that they move.
 *
 * Go-back-N: everything from a PSN on goes out again, with the same PSNs, opcodes and bytes. A
 * READ is asked for again from its first missing response. Local operations are never repeated.
 * Timer: T = 4.096 us * 2^timeout (C9-140), 0 never; it runs while something is outstanding and starts anew
 * with every acknowledge that moves on. An RNR wait stops it.
 */
#include "core.h"

static uint64_t ack_timeout_ns(const struct vs_qp *qp)
{
	uint64_t t = 4096ull << qp->attr.timeout;

	if (VS_DEVIATES(qp->dev, TIMEOUT_ADAPTIVE))
		t /= 16;
	if (VS_DEVIATES(qp->dev, TIMEOUT_FLOOR) && t < 500000000ull)
		t = 500000000ull;
	return t;
}

void vs_req_start_timer(struct vs_qp *qp)
{
	bool outstanding = qp->req.una_psn != qp->req.sent_psn;

	if (qp->req.ack_timer.pos != 0 && VS_DEVIATES(qp->dev, SPURIOUS_TIMER))
		return;
	if (qp->attr.timeout == 0 || !outstanding || (qp->req.rnr_wait && !VS_DEVIATES(qp->dev, RNR_DELAY_IGNORED)))
		vs_timer_stop(qp->dev, &qp->req.ack_timer);
	else
		vs_timer_set(qp->dev, &qp->req.ack_timer, qp->dev->now_ns + ack_timeout_ns(qp));
}

/* Puts the send cursor on `psn`; una_psn <= psn < sent_psn. */
void vs_req_move_cursor(struct vs_qp *qp, uint32_t psn)
{
	uint32_t i;

	for (i = qp->sq.head; i != qp->sq.tail; i++) {
		const struct vs_swqe *w = vs_sq_at(qp, i);

		if (w->npsn == 0 || vs_swqe_is_local(w)) {
			if (w->state == VS_WQE_POSTED)
				break;
			continue;
		}
		if (!vs_psn_in(psn, w->first_psn, w->npsn))
			continue;
		qp->sq.send = i;
		qp->sq.send_pkt = vs_swqe_is_rd_atomic(w) ? 0 : vs_psn_add(psn, -(int32_t)w->first_psn);
		/* Deviation: local operations in front of it are repeated too. */
		while (VS_DEVIATES(qp->dev, LOCAL_OPS_REPLAYED) && qp->sq.send != qp->sq.head &&
		       vs_swqe_is_local(vs_sq_at(qp, qp->sq.send - 1))) {
			qp->sq.send--;
			qp->sq.send_pkt = 0;
		}
		return;
	}
}

/* Everything that was sent is acknowledged: nothing needs repeating, the cursor goes to what is new. */
void vs_req_cursor_to_new(struct vs_qp *qp)
{
	while (qp->sq.send != qp->sq.tail) {
		const struct vs_swqe *w = vs_sq_at(qp, qp->sq.send);
		uint32_t left;

		if (w->state == VS_WQE_POSTED || (w->state == VS_WQE_DONE && w->status != VS_WC_SUCCESS))
			return;
		if (w->state ==
		    VS_WQE_ACTIVE) { /* goes on in the middle of its message, or waits for its turn to begin */
			left = vs_psn_add(qp->req.sent_psn, -(int32_t)w->first_psn);
			if (left < w->npsn) {
				qp->sq.send_pkt = vs_swqe_is_rd_atomic(w) ? 0 : left;
				return;
			}
		}
		qp->sq.send++;
		qp->sq.send_pkt = 0;
	}
}

void vs_req_fail_head(struct vs_qp *qp, enum vs_wc_status status, enum vs_reason why)
{
	vs_sq_complete_head(qp, status, why, 0);
	vs_qp_sq_error(qp, why);
}

bool vs_req_go_back(struct vs_qp *qp, uint32_t psn, const char *trigger)
{
	struct vs_dev *dev = qp->dev;
	bool infinite = qp->attr.retry_cnt == 7 && VS_DEVIATES(dev, RETRY7_INFINITE);
	uint64_t a[4] = {psn, (uint64_t)(uintptr_t)trigger, 0, 0};

	if (qp->req.retry_left == 0 && !infinite) {
		dev->counter[VS_CNT_RETRY_EXCEEDED_ERR]++;
		vs_req_fail_head(qp, VS_WC_RETRY_EXC_ERR, VS_REASON_RETRY_EXCEEDED);
		return false;
	}
	if (!infinite)
		qp->req.retry_left--;
	dev->counter[VS_CNT_COMPLETER_RETRY_ERR]++;
	vs_req_move_cursor(qp, psn);
	a[2] = qp->req.retry_left;
	a[3] = vs_psn_add(qp->req.sent_psn, -(int32_t)psn);
	qp->req.retry_cause = vs_ev(dev, VS_EV_RC_RETRY, qp, dev->cause, 4, a);
	vs_req_start_timer(qp);
	vs_qp_kick(qp);
	return true;
}

static uint64_t rnr_wait_ns(const struct vs_qp *qp, uint8_t code)
{
	uint64_t t = vs_rnr_timer_ns(code);

	if (code == 25 && VS_DEVIATES(qp->dev, RNR_CODE25))
		t = 61410000ull;
	if (code > 0 && VS_DEVIATES(qp->dev, RNR_TIMER_LINEAR))
		t = code * 10000ull;
	return VS_DEVIATES(qp->dev, RNR_EARLY) ? t - t / 10 : t;
}

void vs_req_rnr(struct vs_qp *qp, uint32_t psn, uint8_t code)
{
	struct vs_dev *dev = qp->dev;
	uint64_t wait = rnr_wait_ns(qp, code);
	uint64_t a[3] = {psn, wait, 0};

	if (qp->req.rnr_left == 0) {
		dev->counter[VS_CNT_RETRY_RNR_EXCEEDED_ERR]++;
		vs_req_fail_head(qp, VS_WC_RNR_RETRY_EXC_ERR, VS_REASON_RNR_RETRY_EXCEEDED);
		return;
	}
	if (qp->attr.rnr_retry != 7)
		qp->req.rnr_left--;
	vs_req_move_cursor(qp, psn);
	qp->req.rnr_wait = true;
	a[2] = qp->req.rnr_left;
	qp->req.retry_cause = vs_ev(dev, VS_EV_RC_RNR_WAIT, qp, dev->cause, 3, a);
	vs_req_start_timer(qp);
	vs_timer_set(dev, &qp->req.rnr_timer, dev->now_ns + wait);
}

static void ack_timer_fired(struct vs_qp *qp)
{
	struct vs_dev *dev = qp->dev;
	const uint64_t a[] = {qp->req.una_psn, qp->req.retry_left};

	if (qp->attr.state != VS_QPS_RTS && qp->attr.state != VS_QPS_SQD)
		return;
	if (qp->req.rnr_wait) { /* deviation RNR_DELAY_IGNORED: the wait is cut short */
		qp->req.rnr_wait = false;
		vs_timer_stop(dev, &qp->req.rnr_timer);
	}
	if (qp->req.una_psn == qp->req.sent_psn)
		return;
	dev->counter[VS_CNT_LOCAL_ACK_TIMEOUT_ERR]++;
	dev->cause = vs_ev(dev, VS_EV_RC_TIMEOUT, qp, qp->req.tx_cause, 2, a);
	qp->req.gap_told = false;
	vs_req_go_back(qp, qp->req.una_psn, "ack_timeout");
}

void vs_req_timer(struct vs_qp *qp, enum vs_timer_kind kind)
{
	switch (kind) {
	case VS_TIMER_ACK:
		ack_timer_fired(qp);
		break;
	case VS_TIMER_RNR:
		qp->req.rnr_wait = false;
		vs_req_start_timer(qp);
		vs_qp_kick(qp);
		break;
	default:
		vs_qp_kick(qp);
		break;
	}
}
