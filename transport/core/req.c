/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * req.c - the requester of RC and UC: which packet goes out next.
 *
 * PSNs, all on the 24-bit circle:      una_psn        sent_psn        next_psn
 *   ... acknowledged ................ ) outstanding . ) assigned .... ) never used
 * A request gets its PSNs when its first packet goes out; a READ takes as many as its response has
 * packets. Going back (retry.c) only moves the send cursor; PSNs are never assigned twice.
 *
 * Before a request starts it passes its gates in this order: state (SQD starts nothing new), fence, local
 * operations at once, READ/ATOMIC depth, end-to-end credits, PSN window, congestion pace.
 */
#include "core.h"

/* ---- what a work request is ---- */

bool vs_swqe_is_local(const struct vs_swqe *w)
{
	return w->opcode == VS_WR_LOCAL_INV || w->opcode == VS_WR_BIND_MW;
}

bool vs_swqe_is_atomic(const struct vs_swqe *w)
{
	return w->opcode == VS_WR_ATOMIC_CMP_AND_SWP || w->opcode == VS_WR_ATOMIC_FETCH_AND_ADD;
}

/* Completed by a response of its own, never by an ACK; takes a responder resource. */
bool vs_swqe_is_rd_atomic(const struct vs_swqe *w)
{
	return w->opcode == VS_WR_RDMA_READ || vs_swqe_is_atomic(w) || w->opcode == VS_WR_FLUSH ||
	       w->opcode == VS_WR_ATOMIC_WRITE;
}

static bool is_write(const struct vs_swqe *w)
{
	return w->opcode == VS_WR_RDMA_WRITE || w->opcode == VS_WR_RDMA_WRITE_WITH_IMM;
}

/* Takes a receive WQE of the peer: end-to-end credits gate it. */
static bool takes_credit(const struct vs_swqe *w)
{
	return w->opcode == VS_WR_SEND || w->opcode == VS_WR_SEND_WITH_IMM || w->opcode == VS_WR_SEND_WITH_INV ||
	       w->opcode == VS_WR_RDMA_WRITE_WITH_IMM;
}

/* Packets on the wire in the request direction. */
static uint32_t packets(const struct vs_qp *qp, const struct vs_swqe *w)
{
	return vs_swqe_is_rd_atomic(w) ? 1 : vs_psn_count(w->length, qp->mtu);
}

/*
 * Nothing will be sent for now behind `end`. If nobody has asked for an acknowledge of what is out before it, because
 * more was to follow, the last packet goes out again and asks.
 */
static void ask_again(struct vs_qp *qp, uint32_t end)
{
	if (qp->type != VS_QPT_RC || !vs_psn_lt(qp->req.una_psn, end) || !vs_psn_lt(qp->req.asked_psn, end) ||
	    vs_psn_lt(vs_req_cursor_psn(qp), end))
		return;
	vs_req_move_cursor(qp, vs_psn_add(end, -1));
	vs_qp_kick(qp);
}

/* A failed request: it completes when everything before it has, nothing behind it starts. */
static void fail(struct vs_qp *qp, struct vs_swqe *w, enum vs_wc_status status, enum vs_reason why)
{
	w->state = VS_WQE_DONE;
	w->status = (uint8_t)status;
	w->why = (uint16_t)why;
	vs_req_retire(qp);
	ask_again(qp, w->npsn > 0 ? w->first_psn : qp->req.next_psn);
}

/* Entered SQD: a message in progress asks with its last packet, else the newest one that is out does. */
void vs_req_ask_now(struct vs_qp *qp)
{
	if (vs_req_cursor_psn(qp) == qp->req.next_psn)
		ask_again(qp, qp->req.next_psn);
}

/*
 * Completes what is done at the head of the queue. A request that was acknowledged, or done locally,
 * is DONE; the first one that failed takes the QP down.
 */
void vs_req_retire(struct vs_qp *qp)
{
	while (qp->sq.head != qp->sq.tail) {
		struct vs_swqe *w = vs_sq_at(qp, qp->sq.head);
		enum vs_wc_status status = (enum vs_wc_status)w->status;
		enum vs_reason why = (enum vs_reason)w->why;

		if (w->state != VS_WQE_DONE)
			break;
		vs_sq_complete_head(qp, status, why, vs_swqe_is_rd_atomic(w) ? w->length : 0);
		if (status != VS_WC_SUCCESS) {
			vs_qp_sq_error(qp, why);
			return;
		}
	}
	vs_req_check_drained(qp);
}

void vs_req_check_drained(struct vs_qp *qp)
{
	if (qp->attr.state != VS_QPS_SQD || qp->req.drained_told || qp->sq.head != qp->sq.send)
		return;
	if (qp->sq.head != qp->sq.tail && vs_sq_at(qp, qp->sq.head)->state != VS_WQE_POSTED)
		return; /* a message in progress */
	qp->attr.sq_draining = 0;
	qp->req.drained_told = true;
	if (qp->attr.en_sqd_async_notify)
		vs_async_push(qp->dev, VS_EVENT_SQ_DRAINED, qp, qp->init.cookie);
}

void vs_req_reset(struct vs_qp *qp)
{
	qp->req.next_psn = qp->req.sent_psn = qp->req.una_psn = qp->req.asked_psn = qp->attr.sq_psn;
	qp->req.ssn = 0;
	qp->req.lsn = 0;
	qp->req.has_lsn = false;
	qp->req.rd_atomic_out = 0;
	qp->req.since_ackreq = 0;
	qp->req.rnr_wait = qp->req.gap_told = qp->req.probed = qp->req.credit_told = false;
	qp->req.retry_cause = qp->req.tx_cause = 0;
	vs_cc_reset(qp);
}

/* ---- gates ---- */

static void run_local(struct vs_qp *qp, struct vs_swqe *w)
{
	enum vs_reason r =
		w->opcode == VS_WR_BIND_MW ? vs_mw_bind(qp, w) : vs_key_invalidate(qp, w->invalidate_rkey, false);
	enum vs_wc_status bad = w->opcode == VS_WR_BIND_MW ? VS_WC_MW_BIND_ERR : VS_WC_LOC_QP_OP_ERR;

	if (r == VS_REASON_MW_NOT_FREE && VS_DEVIATES(qp->dev, BIND_STATUS_WRONG))
		bad = VS_WC_LOC_QP_OP_ERR;
	if (r != VS_REASON_NONE) {
		fail(qp, w, bad, r);
		return;
	}
	w->state = VS_WQE_DONE;
	vs_req_retire(qp);
}

/* A local invalidate waits for everything before it; another request for the fence it carries. */
static bool gate_fence(struct vs_qp *qp, const struct vs_swqe *w, uint32_t index)
{
	if (w->opcode == VS_WR_LOCAL_INV)
		return VS_DEVIATES(qp->dev, LOCAL_INV_NO_FENCE) ? qp->req.rd_atomic_out == 0 : index == qp->sq.head;
	if (!(w->flags & VS_SEND_FENCE) || VS_DEVIATES(qp->dev, FENCE_IGNORED))
		return true;
	if (VS_DEVIATES(qp->dev, FENCE_FIRST_READ) && qp->req.fence_seen > qp->req.rd_atomic_out)
		return true;
	qp->req.fence_seen = qp->req.rd_atomic_out;
	return qp->req.rd_atomic_out == 0;
}

static bool gate_credit(struct vs_qp *qp, const struct vs_swqe *w)
{
	if (!qp->req.has_lsn || !takes_credit(w) || vs_psn_le(vs_psn_add(qp->req.ssn, 1), qp->req.lsn))
		return true;
	/* Without credit one request may go beyond the limit, to hear of new credits (9.7.7.2.5). */
	if (!qp->req.probed && qp->req.una_psn == qp->req.next_psn) {
		qp->req.probed = true;
		return true;
	}
	if (!qp->req.credit_told) {
		const uint64_t a[] = {vs_psn_add(qp->req.ssn, 1), qp->req.lsn};

		qp->req.credit_told = true;
		vs_ev_wr(qp->dev, VS_EV_RC_CREDIT_WAIT, qp, w->wr_id, w->post_cause, 2, a);
	}
	return false;
}

static bool gate_window(const struct vs_qp *qp, uint32_t npsn)
{
	uint32_t out = vs_psn_add(qp->req.next_psn, -(int32_t)qp->req.una_psn);

	return out + npsn <= VS_PSN_HALF;
}

/* Faults of the request itself, found before anything of it is sent. */
static enum vs_wc_status check_local(struct vs_qp *qp, const struct vs_swqe *w, enum vs_reason *why)
{
	bool eight = vs_swqe_is_atomic(w) || w->opcode == VS_WR_ATOMIC_WRITE;
	uint64_t host;
	uint32_t i;

	if (vs_swqe_is_rd_atomic(w) && qp->attr.max_rd_atomic == 0) {
		*why = VS_REASON_RD_ATOMIC;
		return VS_WC_LOC_QP_OP_ERR;
	}
	if (eight && w->length != 8 && !VS_DEVIATES(qp->dev, ATOMIC_SGE_ANY_SIZE)) {
		*why = VS_REASON_ATOMIC_LENGTH;
		return VS_WC_LOC_LEN_ERR;
	}
	/* The sink of READs and atomics is checked when data comes: a remote fault is then said first. */
	if (vs_swqe_is_local(w) || w->flags & VS_SEND_INLINE ||
	    (vs_swqe_is_rd_atomic(w) && w->opcode != VS_WR_ATOMIC_WRITE))
		return VS_WC_SUCCESS;
	for (i = 0; i < w->num_sge; i++) {
		if (w->sge[i].length == 0)
			continue;
		*why = vs_key_check_local(qp->pd, w->sge[i].lkey, w->sge[i].addr, w->sge[i].length, 0, &host);
		if (*why != VS_REASON_NONE)
			return VS_WC_LOC_PROT_ERR;
	}
	return VS_WC_SUCCESS;
}

/* Lets the request at the cursor begin: true when it has PSNs and its first packet may go. */
static bool start(struct vs_qp *qp, struct vs_swqe *w)
{
	enum vs_reason why = VS_REASON_NONE;
	enum vs_wc_status status;
	uint32_t npsn;

	qp->dev->cause = w->post_cause;
	if (qp->attr.state != VS_QPS_RTS || !gate_fence(qp, w, qp->sq.send))
		return false;
	if (vs_swqe_is_local(w)) {
		qp->sq.send++;
		qp->sq.send_pkt = 0;
		run_local(qp, w);
		return false;
	}
	status = check_local(qp, w, &why);
	if (status != VS_WC_SUCCESS) {
		fail(qp, w, status, why);
		return false;
	}
	npsn = w->opcode == VS_WR_RDMA_READ ? vs_psn_count(w->length, qp->mtu) : packets(qp, w);
	if (vs_swqe_is_rd_atomic(w) && qp->req.rd_atomic_out >= qp->attr.max_rd_atomic)
		return false;
	if (!gate_credit(qp, w))
		return false;
	if (!gate_window(qp, npsn)) {
		ask_again(qp, qp->req.next_psn);
		return false;
	}
	w->state = VS_WQE_ACTIVE;
	w->first_psn = qp->req.next_psn;
	w->npsn = npsn;
	w->read_start = 0;
	qp->req.next_psn = vs_psn_add(qp->req.next_psn, (int32_t)npsn);
	qp->req.ssn = vs_psn_add(qp->req.ssn, 1); /* of every message, as the MSN of the peer counts them */
	if (vs_swqe_is_rd_atomic(w))
		qp->req.rd_atomic_out++;
	if (VS_EV_ON(qp->dev, VS_LEVEL_EXTRA)) {
		const uint64_t a[] = {w->opcode, w->length, w->first_psn};

		vs_ev_wr(qp->dev, VS_EV_WQE_FETCH, qp, w->wr_id, w->post_cause, 3, a);
	}
	return true;
}

/* Window of packets in flight. A READ request adds one, whatever PSNs it takes: its depth is limited elsewhere. */
static bool window_open(const struct vs_qp *qp, const struct vs_swqe *w)
{
	uint32_t flight = vs_psn_add(qp->req.sent_psn, -(int32_t)qp->req.una_psn);

	return flight < qp->dev->attr.rc_window || qp->type == VS_QPT_UC || vs_swqe_is_rd_atomic(w);
}

static bool may_send(const struct vs_qp *qp)
{
	enum vs_qp_state s = qp->attr.state;

	return (s == VS_QPS_RTS || s == VS_QPS_SQD) && !qp->req.rnr_wait && qp->sq.send != qp->sq.tail;
}

/* Deviation: going back repeats what is not idempotent. */
static void run_local_again(struct vs_qp *qp, struct vs_swqe *w)
{
	enum vs_reason r =
		w->opcode == VS_WR_BIND_MW ? vs_mw_bind(qp, w) : vs_key_invalidate(qp, w->invalidate_rkey, false);

	if (r != VS_REASON_NONE)
		fail(qp, w, w->opcode == VS_WR_BIND_MW ? VS_WC_MW_BIND_ERR : VS_WC_LOC_QP_OP_ERR, r);
}

/* The request whose packet is next, or NULL. Runs local operations and fails bad requests on the way. */
static struct vs_swqe *next_request(struct vs_qp *qp)
{
	while (may_send(qp)) {
		struct vs_swqe *w = vs_sq_at(qp, qp->sq.send);
		uint32_t index = qp->sq.send;

		if (w->state == VS_WQE_DONE) { /* local operation or answered READ that a retry passes over */
			if (w->status != VS_WC_SUCCESS)
				return NULL;
			if (vs_swqe_is_local(w) && VS_DEVIATES(qp->dev, LOCAL_OPS_REPLAYED))
				run_local_again(qp, w);
			if (w->status != VS_WC_SUCCESS)
				return NULL;
			qp->sq.send++;
			qp->sq.send_pkt = 0;
			continue;
		}
		if (w->state == VS_WQE_POSTED) {
			if (!start(qp, w)) {
				if (qp->sq.send == index)
					return NULL;
				continue;
			}
		}
		assert(qp->sq.send_pkt < packets(qp, w)); /* the last one moved the cursor on */
		return w;
	}
	return NULL;
}

/* ---- packets ---- */

static uint8_t position(uint8_t first, uint8_t middle, uint8_t last, uint8_t only, uint32_t i, uint32_t n)
{
	if (n == 1)
		return only;
	return i == 0 ? first : i + 1 == n ? last : middle;
}

static uint8_t request_opcode(const struct vs_qp *qp, const struct vs_swqe *w, uint32_t i, uint32_t n)
{
	uint8_t base = qp->type == VS_QPT_UC ? VS_TRANSPORT_UC << 5 : VS_TRANSPORT_RC << 5;
	uint8_t op;

	switch (w->opcode) {
	case VS_WR_SEND_WITH_IMM:
		op = position(VS_OP_RC_SEND_FIRST, VS_OP_RC_SEND_MIDDLE, VS_OP_RC_SEND_LAST_IMM, VS_OP_RC_SEND_ONLY_IMM,
			      i, n);
		break;
	case VS_WR_SEND_WITH_INV:
		op = position(VS_OP_RC_SEND_FIRST, VS_OP_RC_SEND_MIDDLE, VS_OP_RC_SEND_LAST_INV, VS_OP_RC_SEND_ONLY_INV,
			      i, n);
		break;
	case VS_WR_RDMA_WRITE:
		op = position(VS_OP_RC_WRITE_FIRST, VS_OP_RC_WRITE_MIDDLE, VS_OP_RC_WRITE_LAST, VS_OP_RC_WRITE_ONLY, i,
			      n);
		break;
	case VS_WR_RDMA_WRITE_WITH_IMM:
		op = position(VS_OP_RC_WRITE_FIRST, VS_OP_RC_WRITE_MIDDLE, VS_OP_RC_WRITE_LAST_IMM,
			      VS_OP_RC_WRITE_ONLY_IMM, i, n);
		break;
	case VS_WR_RDMA_READ:
		op = VS_OP_RC_READ_REQUEST;
		break;
	case VS_WR_ATOMIC_CMP_AND_SWP:
		op = VS_OP_RC_COMPARE_SWAP;
		break;
	case VS_WR_ATOMIC_FETCH_AND_ADD:
		op = VS_OP_RC_FETCH_ADD;
		break;
	case VS_WR_FLUSH:
		op = VS_OP_RC_FLUSH;
		break;
	case VS_WR_ATOMIC_WRITE:
		op = VS_OP_RC_ATOMIC_WRITE;
		break;
	default:
		op = position(VS_OP_RC_SEND_FIRST, VS_OP_RC_SEND_MIDDLE, VS_OP_RC_SEND_LAST, VS_OP_RC_SEND_ONLY, i, n);
		break;
	}
	return (uint8_t)(base | op);
}

/* Payload bytes [offset, offset + len) of the message, from the SGEs or the inline copy. */
enum vs_reason vs_swqe_gather(struct vs_qp *qp, const struct vs_swqe *w, uint32_t offset, uint8_t *dst, uint32_t len)
{
	uint32_t i;

	if (w->flags & VS_SEND_INLINE) {
		if (len > 0) /* a QP without room for inline data may still send none of it inline */
			memcpy(dst, w->inline_data + offset, len);
		return VS_REASON_NONE;
	}
	for (i = 0; i < w->num_sge && len > 0; i++) {
		const struct vs_sge *s = &w->sge[i];
		uint32_t n = s->length > offset ? s->length - offset : 0;
		enum vs_reason r;
		uint64_t host;

		if (n == 0) {
			offset -= s->length;
			continue;
		}
		n = n < len ? n : len;
		r = vs_key_check_local(qp->pd, s->lkey, s->addr + offset, n, 0, &host);
		if (r != VS_REASON_NONE)
			return r;
		vs_dma_read(qp->dev, qp, s->lkey, host, dst, n);
		dst += n;
		len -= n;
		offset = 0;
	}
	return VS_REASON_NONE;
}

static void fill_headers(const struct vs_qp *qp, const struct vs_swqe *w, struct vs_pkt *p, uint32_t i, uint32_t n)
{
	struct vs_ext *e = &p->ext;

	if (p->hdrs & VS_HDR_RETH) {
		uint32_t skip = w->opcode == VS_WR_RDMA_READ ? w->responses_done * qp->mtu : 0;

		e->reth.va = w->remote_addr + skip;
		e->reth.rkey = w->rkey;
		e->reth.dmalen = w->length - skip;
	}
	if (p->hdrs & VS_HDR_ATOMICETH) {
		bool cas = w->opcode == VS_WR_ATOMIC_CMP_AND_SWP;

		e->atomiceth.va = w->remote_addr;
		e->atomiceth.rkey = w->rkey;
		e->atomiceth.swapadd = cas ? w->swap : w->compare_add;
		e->atomiceth.compare = cas ? w->compare_add : 0;
	}
	if (p->hdrs & VS_HDR_FETH) {
		e->feth.rsv = 0;
		e->feth.plt = w->flush_plt;
		e->feth.sel = w->flush_sel;
	}
	if (p->hdrs & VS_HDR_IMMDT)
		e->immdt = w->imm_data;
	if (p->hdrs & VS_HDR_IETH)
		e->ieth_rkey = w->invalidate_rkey;
	/* Solicited event: only where a receive completes. */
	p->bth.se = i + 1 == n && (w->flags & VS_SEND_SOLICITED) && takes_credit(w);
}

/* What stands behind the request at the cursor can start without hearing from the peer first. */
static bool next_flows(const struct vs_qp *qp)
{
	const struct vs_swqe *next;

	if (qp->sq.send + 1 == qp->sq.tail || qp->attr.state != VS_QPS_RTS || qp->dev->attr.e2e_credits)
		return false;
	next = vs_sq_at(qp, qp->sq.send + 1);
	return !vs_swqe_is_local(next) && !(next->flags & VS_SEND_FENCE);
}

/*
 * Half of the ACK timeout has passed, and of what is out nothing has been asked for: on a device whose QPs take turns,
 * a QP may send its n-th packet too late.
 */
static bool time_presses(const struct vs_qp *qp)
{
	return qp->req.ack_timer.pos != 0 && vs_psn_le(qp->req.asked_psn, qp->req.una_psn) &&
	       qp->req.ack_timer.when < qp->dev->now_ns + (2048ull << qp->attr.timeout);
}

/*
 * AckReq: on the last packet of a request that is signaled, repeated, or followed by nothing that flows;
 * on every n-th packet; where the window closes; when time presses. So nothing ever waits for an acknowledge that
 * nobody asked for.
 */
static bool want_ack(struct vs_qp *qp, const struct vs_swqe *w, uint32_t i, uint32_t n, uint32_t psn)
{
	bool last = i + 1 == n;
	bool ask;

	if (qp->type == VS_QPT_UC)
		return VS_DEVIATES(qp->dev, ACKREQ_UNRELIABLE);
	ask = (last && ((w->flags & VS_SEND_SIGNALED) || qp->init.sq_sig_all || vs_swqe_is_rd_atomic(w) ||
			!next_flows(qp) || vs_psn_lt(psn, qp->req.sent_psn))) ||
	      qp->req.since_ackreq + 1 >= qp->dev->attr.ack_every ||
	      vs_psn_add(psn, 1 - (int32_t)qp->req.una_psn) >= qp->dev->attr.rc_window || qp->req.probed ||
	      time_presses(qp);
	qp->req.since_ackreq = ask ? 0 : qp->req.since_ackreq + 1;
	return ask;
}

static void note_sent(struct vs_qp *qp, struct vs_tx *tx, uint32_t psn, uint32_t end_psn)
{
	tx->retx = vs_psn_lt(psn, qp->req.sent_psn); /* went out before */
	if (vs_psn_gt(end_psn, qp->req.sent_psn))
		qp->req.sent_psn = end_psn;
	if (tx->p.bth.ackreq && vs_psn_gt(end_psn, qp->req.asked_psn))
		qp->req.asked_psn = end_psn;
	if (qp->type == VS_QPT_RC && qp->req.ack_timer.pos == 0)
		vs_req_start_timer(qp);
}

static bool pace(struct vs_qp *qp)
{
	struct vs_dev *dev = qp->dev;

	if (qp->req.rate_bps == 0 || qp->req.next_tx_ns <= dev->now_ns)
		return true;
	vs_timer_set(dev, &qp->req.pace_timer, qp->req.next_tx_ns);
	return false;
}

size_t vs_req_output(struct vs_qp *qp, uint8_t *buf, size_t cap, struct vs_pkt_meta *meta)
{
	struct vs_tx *tx = &qp->dev->tx;
	struct vs_swqe *w;
	uint32_t i, n, psn, len;
	enum vs_reason r;
	size_t size;

	w = next_request(qp);
	if (w == NULL || (!window_open(qp, w) && vs_psn_ge(vs_req_cursor_psn(qp), qp->req.sent_psn)) || !pace(qp))
		return 0;
	if (!vs_tx_has_source(qp->dev, &qp->attr.av)) {
		qp->dev->counter[VS_CNT_SEND_ERR]++;
		fail(qp, w, VS_WC_LOC_QP_OP_ERR, VS_REASON_GID_INDEX);
		return 0;
	}
	i = qp->sq.send_pkt;
	n = packets(qp, w);
	psn = w->opcode == VS_WR_RDMA_READ ? vs_psn_add(w->first_psn, (int32_t)w->responses_done)
					   : vs_psn_add(w->first_psn, (int32_t)i);
	vs_tx_init(qp, tx, request_opcode(qp, w, i, n), NULL);
	tx->cause = qp->dev->cause =
		vs_psn_lt(psn, qp->req.sent_psn) && qp->req.retry_cause != 0 ? qp->req.retry_cause : w->post_cause;
	tx->has_wr = true;
	tx->wr_id = w->wr_id;
	tx->p.bth.psn = psn;
	fill_headers(qp, w, &tx->p, i, n);
	if (is_write(w) || takes_credit(w) || w->opcode == VS_WR_ATOMIC_WRITE) {
		len = w->length - i * qp->mtu;
		len = len < qp->mtu ? len : qp->mtu;
		r = vs_swqe_gather(qp, w, i * qp->mtu, tx->payload, len);
		if (r != VS_REASON_NONE) {
			fail(qp, w, VS_WC_LOC_PROT_ERR, r);
			return 0;
		}
		tx->p.payload_len = len;
	}
	if (w->opcode == VS_WR_RDMA_READ)
		w->read_start = w->responses_done;
	tx->p.bth.ackreq = want_ack(qp, w, i, n, psn);
	note_sent(qp, tx, psn,
		  w->opcode == VS_WR_RDMA_READ ? vs_psn_add(w->first_psn, (int32_t)w->npsn) : vs_psn_add(psn, 1));
	qp->sq.send_pkt++;
	if (qp->sq.send_pkt >= n) {
		qp->sq.send++;
		qp->sq.send_pkt = 0;
	}
	size = vs_tx_finish(qp, tx, buf, cap, meta);
	qp->req.tx_cause = qp->dev->cause = meta->cause;
	if (qp->type == VS_QPT_UC && i + 1 == n) {
		qp->req.una_psn = vs_psn_add(psn, 1);
		w->state = VS_WQE_DONE;
		vs_req_retire(qp);
	}
	return size;
}

/* PSN that the cursor stands at. */
uint32_t vs_req_cursor_psn(const struct vs_qp *qp)
{
	const struct vs_swqe *w;

	if (qp->sq.send == qp->sq.tail)
		return qp->req.next_psn;
	w = vs_sq_at(qp, qp->sq.send);
	if (w->npsn == 0) /* not started, local, or failed before it was */
		return qp->req.next_psn;
	if (w->opcode == VS_WR_RDMA_READ)
		return vs_psn_add(w->first_psn, (int32_t)w->responses_done);
	return vs_psn_add(w->first_psn, (int32_t)qp->sq.send_pkt);
}

/* May vs_req_output send now? Gates are left out: a QP whose request waits leaves the ready list when it is asked. */
bool vs_req_has_output(const struct vs_qp *qp)
{
	const struct vs_swqe *w;

	if (!may_send(qp) || (qp->req.rate_bps != 0 && qp->req.next_tx_ns > qp->dev->now_ns))
		return false;
	w = vs_sq_at(qp, qp->sq.send);
	if (w->state == VS_WQE_ACTIVE)
		return window_open(qp, w) || vs_psn_lt(vs_req_cursor_psn(qp), qp->req.sent_psn);
	return w->state == VS_WQE_POSTED ? qp->attr.state == VS_QPS_RTS && window_open(qp, w)
					 : w->status == VS_WC_SUCCESS;
}
