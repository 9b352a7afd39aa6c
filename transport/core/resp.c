/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * resp.c - the responder of RC and UC: const check stages in the specification's order, then one
 * stage that commits. Lay INVENTORY's RSE group beside it.
 *
 *   1  check_psn          expected, duplicate (answer.c), ahead (NAK sequence, once)       C9-105, C9-114
 *   2  check_sequence     First/Middle/Last/Only in the order of a message                  RSE-001..004
 *   3  check_opcode       reserved; what the QP's access flags allow                        RSE-005, -027
 *   4  check_length       payload against path MTU, DMALen against payload                  C9-92, C9-94
 *   5  check_resources    a receive WQE (RNR), a READ/ATOMIC resource                       RSE-036..042
 *   6  check_remote       alignment, R_Key, rights, range                                   RSE-019..033
 *   7  check_receive      the receive buffer: size, local keys                              RSE-015..018
 *      commit             DMA, completion, MSN, ePSN, answer
 *
 * A stage looks and says; nothing changes before commit. Its verdict is an action with a syndrome and a
 * reason. Fatal verdicts: NAK to the requester, completion or async event here, QP to ERR (classes A and C).
 */
#include "core.h"

enum action { PASS, DROP, RNR, NAK_SEQ, NAK_FATAL };

struct verdict {
	enum action action;
	uint8_t nak; /* enum vs_nak, with NAK_FATAL */
	enum vs_reason reason;
	enum vs_wc_status status; /* of the open receive WQE, with NAK_FATAL */
};

/* What the stages need of one request; filled once. */
struct request {
	struct vs_rx *rx;
	struct vs_qp *qp;
	const struct vs_pkt *p;
	const struct vs_opcode_info *op;
	uint8_t kind; /* opcode without the transport bits */
	bool send, write, read, atomic, flush, atomic_write;
	bool starts, ends;
	bool takes_wqe; /* needs a receive WQE now, if none is held */
	uint64_t host;  /* found by check_remote */
	uint64_t flush_len;
};

static struct verdict pass(void)
{
	return (struct verdict){.action = PASS};
}

static struct verdict silent(enum vs_reason r)
{
	return (struct verdict){.action = DROP, .reason = r};
}

static struct verdict fatal(enum vs_nak nak, enum vs_reason r, enum vs_wc_status status)
{
	return (struct verdict){.action = NAK_FATAL, .nak = (uint8_t)nak, .reason = r, .status = status};
}

static struct verdict invalid(enum vs_reason r)
{
	return fatal(VS_NAK_INV_REQ, r, VS_WC_REM_INV_REQ_ERR);
}

static struct request look(struct vs_rx *rx)
{
	struct request q = {.rx = rx, .qp = rx->qp, .p = &rx->p, .op = &vs_opcodes[rx->p.bth.opcode]};

	q.kind = rx->p.bth.opcode & 0x1f;
	q.send = (q.op->flags & VS_OPF_S) != 0;
	q.write = (q.op->flags & VS_OPF_W) != 0;
	q.read = (q.op->flags & VS_OPF_D) != 0;
	q.atomic = (q.op->flags & VS_OPF_A) != 0;
	q.flush = q.kind == VS_OP_RC_FLUSH;
	q.atomic_write = q.kind == VS_OP_RC_ATOMIC_WRITE;
	q.starts = (q.op->flags & VS_OPF_B) != 0;
	q.ends = (q.op->flags & VS_OPF_E) != 0;
	q.takes_wqe = (q.send && q.starts) || (q.write && q.ends && (q.op->flags & VS_OPF_I));
	return q;
}

/* ---- 2: the order of a message ---- */

static bool continues(uint8_t last, uint8_t now)
{
	bool send = vs_opcodes[now].flags & VS_OPF_S;

	return !!(vs_opcodes[last].flags & VS_OPF_S) == send;
}

static struct verdict check_sequence(const struct request *q)
{
	const struct vs_qp *qp = q->qp;

	if (q->op->name == NULL)
		return pass(); /* reserved: the next stage speaks */
	if (q->starts)
		return qp->resp.in_message ? invalid(VS_REASON_OPCODE_SEQUENCE) : pass();
	if (!qp->resp.in_message || !continues(qp->resp.last_opcode, q->p->bth.opcode))
		return invalid(VS_REASON_OPCODE_SEQUENCE);
	return pass();
}

/* ---- 3: does this QP take it ---- */

static struct verdict check_opcode(const struct request *q)
{
	uint32_t flags = q->qp->attr.access_flags, plt = q->p->ext.feth.plt;

	if (q->op->name == NULL)
		return invalid(VS_REASON_BTH_OPCODE_RESERVED);
	if ((q->write || q->atomic_write) && !(flags & VS_ACCESS_REMOTE_WRITE))
		return invalid(VS_REASON_QP_ACCESS);
	if (q->read && !(flags & VS_ACCESS_REMOTE_READ))
		return invalid(VS_REASON_QP_ACCESS);
	if (q->atomic && !(flags & VS_ACCESS_REMOTE_ATOMIC))
		return invalid(VS_REASON_QP_ACCESS);
	if (q->flush &&
	    (((plt & 1) && !(flags & VS_ACCESS_FLUSH_GLOBAL)) || ((plt & 2) && !(flags & VS_ACCESS_FLUSH_PERSISTENT))))
		return invalid(VS_REASON_QP_ACCESS);
	if (q->flush && (plt == 0 || q->p->ext.feth.sel > 1))
		return invalid(VS_REASON_FETH_PLT);
	return pass();
}

/* ---- 4: lengths ---- */

static struct verdict check_length(const struct request *q)
{
	const struct vs_qp *qp = q->qp;
	uint32_t len = q->p->payload_len, mtu = qp->mtu;
	bool bad = false;

	switch ((enum vs_payload_rule)q->op->payload) {
	case VS_PAYLOAD_FULL:
		bad = len != mtu;
		break;
	case VS_PAYLOAD_LAST:
		bad = len == 0 || len > mtu;
		break;
	case VS_PAYLOAD_ONLY:
		bad = len > mtu;
		break;
	case VS_PAYLOAD_NONE:
		bad = len != 0;
		break;
	case VS_PAYLOAD_EIGHT:
		bad = len != 8;
		break;
	default:
		break;
	}
	if (q->atomic_write && VS_DEVIATES(qp->dev, ATOMIC_WRITE_ANY_LENGTH))
		return pass();
	if (bad && !VS_DEVIATES(qp->dev, LENGTH_UNCHECKED))
		return invalid(VS_REASON_PAYLOAD_LENGTH);
	if ((q->p->hdrs & VS_HDR_RETH) && !q->flush && q->p->ext.reth.dmalen > VS_DMALEN_MAX)
		return invalid(VS_REASON_RETH_DMALEN_MAX);
	if (q->atomic_write && q->p->ext.reth.dmalen != 8)
		return invalid(VS_REASON_PAYLOAD_NOT_EIGHT);
	if (q->write) {
		uint64_t total = (q->starts ? 0 : qp->resp.received) + (uint64_t)len;
		uint32_t dmalen = q->starts ? q->p->ext.reth.dmalen : qp->resp.dmalen;

		if (total > dmalen || (q->ends ? total != dmalen : total == dmalen))
			return invalid(VS_REASON_RETH_DMALEN_PAYLOAD);
	}
	return pass();
}

/* ---- 5: resources ---- */

static struct verdict check_resources(const struct request *q)
{
	struct vs_qp *qp = q->qp;
	const struct vs_rq *rq = qp->srq != NULL ? &qp->srq->rq : &qp->rq;
	bool rd_atomic = q->read || q->atomic || q->flush || q->atomic_write;

	if (q->takes_wqe && !qp->resp.has_wqe && vs_rq_empty(rq))
		return (struct verdict){.action = RNR, .reason = VS_REASON_NO_RECEIVE};
	if (rd_atomic && qp->attr.max_dest_rd_atomic == 0)
		return invalid(VS_REASON_RD_ATOMIC);
	if (rd_atomic && vs_resp_reads_waiting(qp) >= qp->attr.max_dest_rd_atomic)
		return invalid(VS_REASON_RD_ATOMIC);
	/* No place to note the answer: as if the packet were lost, the requester comes again. */
	return vs_answer_room(qp) ? pass() : silent(VS_REASON_ANSWER_ROOM);
}

/* ---- 6: the memory that the request names ---- */

static struct verdict check_flush(struct request *q)
{
	const struct vs_ext *e = &q->p->ext;
	uint32_t access =
		(e->feth.plt & 1 ? VS_ACCESS_FLUSH_GLOBAL : 0) | (e->feth.plt & 2 ? VS_ACCESS_FLUSH_PERSISTENT : 0);
	enum vs_reason r;

	/* The R_Key is always checked (oA19-13); at MR level the range is the region's. */
	if (e->feth.sel == 1) {
		r = vs_key_region(q->qp, e->reth.rkey, access, &q->host, &q->flush_len);
	} else {
		q->flush_len = e->reth.dmalen;
		r = vs_key_check_remote(q->qp, e->reth.rkey, e->reth.va, e->reth.dmalen, access, &q->host);
	}
	return r == VS_REASON_NONE ? pass() : fatal(VS_NAK_REM_ACCESS, r, VS_WC_LOC_ACCESS_ERR);
}

static struct verdict check_remote(struct request *q)
{
	const struct vs_qp *qp = q->qp;
	const struct vs_ext *e = &q->p->ext;
	enum vs_reason r = VS_REASON_NONE;
	uint32_t len = q->p->payload_len;

	if (q->flush)
		return check_flush(q);
	if (q->atomic) {
		if (e->atomiceth.va % 8 != 0 && !VS_DEVIATES(qp->dev, ATOMIC_MISALIGNED_OK))
			return invalid(VS_REASON_ATOMIC_ALIGN);
		r = vs_key_check_remote(qp, e->atomiceth.rkey, e->atomiceth.va, 8, VS_ACCESS_REMOTE_ATOMIC, &q->host);
	} else if (q->atomic_write) {
		if (e->reth.va % 8 != 0)
			return invalid(VS_REASON_ATOMIC_ALIGN);
		r = vs_key_check_remote(qp, e->reth.rkey, e->reth.va, 8, VS_ACCESS_REMOTE_WRITE, &q->host);
	} else if (q->read) {
		/* A zero-length READ or WRITE never looks at the key (C9-88). */
		if (e->reth.dmalen > 0 || VS_DEVIATES(qp->dev, ZERO_LEN_RKEY_CHECKED))
			r = vs_key_check_remote(qp, e->reth.rkey, e->reth.va, e->reth.dmalen, VS_ACCESS_REMOTE_READ,
						&q->host);
	} else if (q->write) {
		uint32_t dmalen = q->starts ? e->reth.dmalen : qp->resp.dmalen;

		/* At the start the whole range is judged, later each packet: the region may go meanwhile. */
		if (q->starts && (dmalen > 0 || VS_DEVIATES(qp->dev, ZERO_LEN_RKEY_CHECKED)))
			r = vs_key_check_remote(qp, e->reth.rkey, e->reth.va, dmalen, VS_ACCESS_REMOTE_WRITE, &q->host);
		else if (!q->starts && len > 0)
			r = vs_key_check_remote(qp, qp->resp.rkey, qp->resp.va, len, VS_ACCESS_REMOTE_WRITE, &q->host);
	}
	return r == VS_REASON_NONE ? pass() : fatal(VS_NAK_REM_ACCESS, r, VS_WC_LOC_ACCESS_ERR);
}

/* ---- 7: the receive buffer ---- */

static struct verdict check_receive(const struct request *q)
{
	struct vs_qp *qp = q->qp;
	const struct vs_rq *rq = qp->srq != NULL ? &qp->srq->rq : &qp->rq;
	uint32_t offset = q->starts ? 0 : qp->resp.received;
	uint32_t before = VS_DEVIATES(qp->dev, RECV_LENGTH_PER_PACKET) ? 0 : offset;
	const struct vs_rwqe *wqe;
	enum vs_reason r;

	if (!q->send)
		return pass();
	wqe = qp->resp.has_wqe ? &qp->resp.wqe : vs_rq_at(rq, rq->head);
	if ((uint64_t)before + q->p->payload_len > wqe->length)
		return fatal(VS_NAK_INV_REQ, VS_REASON_RECEIVE_LENGTH, VS_WC_LOC_LEN_ERR);
	r = vs_rwqe_scatter(qp, wqe, offset, NULL, q->p->payload_len);
	return r == VS_REASON_NONE ? pass() : fatal(VS_NAK_REM_OP, r, VS_WC_LOC_PROT_ERR);
}

/* ---- commit ---- */

static void complete_receive(struct request *q)
{
	struct vs_qp *qp = q->qp;
	struct vs_wc wc = {.status = VS_WC_SUCCESS, .src_qp = qp->attr.dest_qpn, .pkey_index = qp->attr.pkey_index};

	wc.opcode = q->write ? VS_WC_RECV_RDMA_WITH_IMM : VS_WC_RECV;
	wc.byte_len = qp->resp.received;
	wc.slid = q->rx->slid;
	wc.sl = q->rx->sl;
	if (q->p->encap != VS_ENCAP_IB)
		wc.wc_flags |= VS_WC_GRH;
	if (q->op->flags & VS_OPF_I) {
		wc.imm_data = q->p->ext.immdt;
		wc.wc_flags |= VS_WC_WITH_IMM;
	}
	if (q->op->flags & VS_OPF_V) {
		wc.invalidated_rkey = q->p->ext.ieth_rkey;
		wc.wc_flags |= VS_WC_WITH_INV;
	}
	vs_rq_complete(qp, &wc, q->p->bth.se);
}

static void comm_established(struct vs_qp *qp)
{
	if (qp->attr.state != VS_QPS_RTR || qp->resp.comm_est)
		return;
	qp->resp.comm_est = true;
	vs_async_push(qp->dev, VS_EVENT_COMM_EST, qp, qp->init.cookie);
	vs_conn_comm_est(qp);
}

static uint64_t run_atomic(struct request *q)
{
	const struct vs_dma_ops *dma = &q->qp->dev->attr.dma;
	const struct vs_ext *e = &q->p->ext;
	uint64_t before, after;

	if (q->kind == VS_OP_RC_FETCH_ADD) {
		before = dma->fetch_add(dma->ctx, q->host, e->atomiceth.swapadd);
		after = before + e->atomiceth.swapadd;
	} else {
		before = dma->cmp_swap(dma->ctx, q->host, e->atomiceth.compare, e->atomiceth.swapadd);
		after = before == e->atomiceth.compare ? e->atomiceth.swapadd : before;
	}
	if (VS_EV_ON(q->qp->dev, VS_LEVEL_EXTRA)) {
		const uint64_t a[] = {q->host, before, after, e->atomiceth.rkey};

		vs_ev(q->qp->dev, VS_EV_DMA_ATOMIC, q->qp, q->rx->ev, 4, a);
	}
	return before;
}

static uint64_t load_host64(const uint8_t *b)
{
	uint64_t v;

	memcpy(&v, b, 8); /* the payload is memory content, not a wire integer */
	return v;
}

/* READ, atomics, FLUSH, ATOMIC WRITE: executed, saved for duplicates, answered. */
static void commit_rd_atomic(struct request *q)
{
	struct vs_qp *qp = q->qp;
	const struct vs_ext *e = &q->p->ext;
	struct vs_rres res = {.opcode = q->p->bth.opcode, .first_psn = q->p->bth.psn, .npsn = 1};

	qp->resp.msn = vs_psn_add(qp->resp.msn, 1); /* early for a READ, as C9-148 allows */
	res.msn = qp->resp.msn;
	if (q->atomic) {
		res.kind = VS_RRES_ATOMIC;
		res.va = e->atomiceth.va;
		res.rkey = e->atomiceth.rkey;
		res.swapadd = e->atomiceth.swapadd;
		res.compare = e->atomiceth.compare;
		res.orig = run_atomic(q);
	} else {
		res.va = e->reth.va;
		res.rkey = e->reth.rkey;
		res.length = e->reth.dmalen;
	}
	if (q->read) {
		res.kind = VS_RRES_READ;
		res.npsn = vs_psn_count(res.length, qp->mtu);
	} else if (q->flush) {
		res.kind = VS_RRES_FLUSH;
		if (qp->dev->attr.dma.flush != NULL)
			qp->dev->attr.dma.flush(qp->dev->attr.dma.ctx, q->host, q->flush_len, e->feth.plt);
	} else if (q->atomic_write) {
		res.kind = VS_RRES_ATOMIC_WRITE;
		if (q->p->payload_len >= 8)
			qp->dev->attr.dma.write8(qp->dev->attr.dma.ctx, q->host, load_host64(q->p->payload));
		else
			vs_dma_write(qp->dev, qp, res.rkey, q->host, q->p->payload, q->p->payload_len);
	}
	vs_rres_save(qp, &res);
	vs_answer_saved(qp, &res, res.first_psn, res.npsn, res.va, res.length, res.msn);
}

static void commit_data(struct request *q)
{
	struct vs_qp *qp = q->qp;
	const struct vs_pkt *p = q->p;
	uint32_t len = p->payload_len;

	if (q->starts) {
		qp->resp.received = 0;
		if (q->write) {
			qp->resp.va = p->ext.reth.va;
			qp->resp.rkey = p->ext.reth.rkey;
			qp->resp.dmalen = p->ext.reth.dmalen;
		}
	}
	if (q->takes_wqe && !qp->resp.has_wqe)
		vs_rq_take(qp);
	if (q->send) {
		enum vs_reason r = vs_rwqe_scatter(qp, &qp->resp.wqe, qp->resp.received, p->payload, len);

		assert(r == VS_REASON_NONE);
		(void)r;
	} else if (len > 0) {
		vs_dma_write(qp->dev, qp, qp->resp.rkey, q->host, p->payload, len);
		qp->resp.va += len;
	}
	qp->resp.received += len;
	qp->resp.in_message = !q->ends;
	qp->resp.last_opcode = p->bth.opcode;
	if (q->ends)
		qp->resp.msn = vs_psn_add(qp->resp.msn, 1);
}

/* SEND with Invalidate: class J. The message stands; a key that can't be invalidated takes the QP down. */
static enum vs_reason invalidate(struct request *q)
{
	return q->op->flags & VS_OPF_V ? vs_key_invalidate(q->qp, q->p->ext.ieth_rkey, true) : VS_REASON_NONE;
}

static void commit(struct request *q)
{
	struct vs_qp *qp = q->qp;
	uint32_t psn = q->p->bth.psn;
	enum vs_reason inv;

	qp->resp.nak_seq_sent = qp->resp.rnr_sent = false;
	comm_established(qp);
	if (q->read || q->atomic || q->flush || q->atomic_write) {
		commit_rd_atomic(q);
		qp->resp.epsn = vs_psn_add(psn, (int32_t)(q->read ? vs_psn_count(q->p->ext.reth.dmalen, qp->mtu) : 1));
		return;
	}
	commit_data(q);
	qp->resp.epsn = vs_psn_add(psn, 1);
	inv = invalidate(q);
	if (inv != VS_REASON_NONE) {
		struct vs_wc wc = {.status = VS_WC_REM_INV_REQ_ERR, .opcode = VS_WC_RECV, .vendor_err = (uint32_t)inv};

		vs_rq_complete(qp, &wc, true);
		vs_qp_error(qp, inv);
		return;
	}
	if (q->ends && (q->send || (q->op->flags & VS_OPF_I)))
		complete_receive(q);
	if (qp->attr.state == VS_QPS_ERR) /* the CQ overflowed: no acknowledge (class G) */
		return;
	if (qp->type == VS_QPT_RC && q->p->bth.ackreq)
		vs_answer_ack(qp, VS_DEVIATES(qp->dev, ACK_NEXT_PSN) ? qp->resp.epsn : psn, qp->resp.msn);
}

/* ---- verdicts ---- */

/*
 * Classes A and C: the NAK, then a completion with an error when the message holds a receive WQE,
 * otherwise an affiliated async event (C9-222.1.1), then ERR. UC has no NAK and stays alive.
 */
static void fatal_at_responder(struct request *q, const struct verdict *v)
{
	struct vs_qp *qp = q->qp;
	struct vs_dev *dev = qp->dev;
	/* A fault of the receive buffer takes the WQE it was found in; others end an open message or none. */
	bool buffer = v->nak == VS_NAK_REM_OP || v->reason == VS_REASON_RECEIVE_LENGTH;
	bool holds = qp->resp.has_wqe || buffer;
	uint8_t syndrome = (uint8_t)(0x60 | v->nak);
	const uint64_t a[] = {(uint64_t)v->reason, q->p->bth.psn, syndrome};

	if (holds && !qp->resp.has_wqe)
		vs_rq_take(qp);
	dev->cause = vs_ev(dev, VS_EV_RC_REFUSE, qp, q->rx->ev, 3, a);
	if (holds || !VS_DEVIATES(dev, NO_NAK_WITHOUT_WQE)) {
		vs_answer_nak(qp, q->p->bth.psn, syndrome,
			      q->atomic && VS_DEVIATES(dev, ATOMIC_NAK_OPCODE) ? VS_OP_RC_ATOMIC_ACKNOWLEDGE
									       : VS_OP_RC_ACKNOWLEDGE);
		qp->resp.dying = true;
	}
	if (holds) {
		struct vs_wc wc = {.status = v->status, .opcode = VS_WC_RECV, .vendor_err = (uint32_t)v->reason};

		vs_rq_complete(qp, &wc, true);
	} else if (v->nak == VS_NAK_REM_ACCESS) {
		if (!VS_DEVIATES(dev, NO_ACCESS_EVENT))
			vs_async_push(dev, VS_EVENT_QP_ACCESS_ERR, qp, qp->init.cookie);
	} else {
		vs_async_push(dev, VS_EVENT_QP_REQ_ERR, qp, qp->init.cookie);
	}
	vs_qp_error(qp, v->reason);
	vs_qp_kick(qp);
}

static void act(struct request *q, const struct verdict *v)
{
	struct vs_qp *qp = q->qp;
	struct vs_dev *dev = qp->dev;
	const uint64_t drop[] = {(uint64_t)v->reason, q->p->bth.opcode, q->p->bth.psn, q->p->bth.destqp};
	const uint64_t refuse[] = {(uint64_t)v->reason, q->p->bth.psn, (uint64_t)(0x20 | qp->attr.min_rnr_timer)};

	switch (v->action) {
	case PASS:
	case NAK_SEQ:
		break;
	case DROP:
		vs_ev(dev, VS_EV_PKT_DROP, qp, q->rx->ev, 4, drop);
		break;
	case RNR:
		dev->cause = vs_ev(dev, VS_EV_RC_REFUSE, qp, q->rx->ev, 3, refuse);
		dev->counter[VS_CNT_SEND_RNR_ERR]++;
		qp->resp.rnr_sent = true;
		qp->resp.nak_seq_sent = false;
		vs_answer_nak(qp, q->p->bth.psn, (uint8_t)(0x20 | qp->attr.min_rnr_timer), VS_OP_RC_ACKNOWLEDGE);
		break;
	case NAK_FATAL:
		fatal_at_responder(q, v);
		break;
	}
}

/* Ahead of what is expected: something is missing. One NAK per gap, silence after an RNR NAK. */
static void sequence_error(struct request *q)
{
	struct vs_qp *qp = q->qp;
	const uint64_t a[] = {qp->resp.epsn, q->p->bth.psn};

	qp->dev->counter[VS_CNT_OUT_OF_SEQ_REQUEST]++;
	qp->dev->cause = vs_ev(qp->dev, VS_EV_RC_GAP, qp, q->rx->ev, 2, a);
	if (qp->resp.nak_seq_sent || qp->resp.rnr_sent)
		return;
	qp->resp.nak_seq_sent = true;
	vs_answer_nak(qp, qp->resp.epsn, 0x60 | VS_NAK_PSN_SEQ, VS_OP_RC_ACKNOWLEDGE);
}

static struct verdict run_checks(struct request *q)
{
	struct verdict v = check_sequence(q);

	if (v.action == PASS)
		v = check_opcode(q);
	if (v.action == PASS)
		v = check_length(q);
	if (v.action == PASS)
		v = check_resources(q);
	if (v.action == PASS)
		v = check_remote(q);
	if (v.action == PASS)
		v = check_receive(q);
	return v;
}

/* ---- UC: nothing is answered; a message with a hole in it is dropped whole ---- */

static void uc_request(struct request *q)
{
	struct vs_qp *qp = q->qp;
	struct verdict v;

	/* Lost packets: what was begun is given up, its receive WQE is used again (UC-001). */
	if (q->p->bth.psn != qp->resp.epsn || q->starts)
		qp->resp.in_message = false;
	v = q->starts || qp->resp.in_message ? run_checks(q) : silent(VS_REASON_UC_LOST);
	if (v.action == PASS) {
		commit(q);
		return;
	}
	qp->resp.in_message = false;
	if (v.action == NAK_FATAL && v.nak == VS_NAK_REM_OP) { /* the receive WQE itself is bad: a local error */
		struct vs_wc wc = {.status = v.status, .opcode = VS_WC_RECV, .vendor_err = (uint32_t)v.reason};

		if (!qp->resp.has_wqe)
			vs_rq_take(qp);
		vs_rq_complete(qp, &wc, true);
		vs_qp_error(qp, v.reason);
		return;
	}
	v.action = DROP;
	act(q, &v);
}

/* Deviation: PSNs as plain numbers, wrong where the circle closes. */
static int32_t psn_ahead(const struct vs_qp *qp, uint32_t psn)
{
	if (VS_DEVIATES(qp->dev, PSN_NO_WRAP))
		return (int32_t)psn - (int32_t)qp->resp.epsn; /* lint: psn-ok the defect itself */
	return vs_psn_diff(psn, qp->resp.epsn);
}

/* Deviations: what was executed already is executed again, and PSN and MSN stay where they are. */
static void execute_again(struct request *q)
{
	struct vs_qp *qp = q->qp;
	uint32_t msn = qp->resp.msn;

	if (q->atomic && VS_DEVIATES(qp->dev, ATOMIC_REEXECUTED) && check_remote(q).action == PASS)
		vs_rres_new_orig(qp, q->p->bth.psn, run_atomic(q));
	if (!q->send || !q->starts || !q->ends || !VS_DEVIATES(qp->dev, DUP_SEND_DELIVERED) ||
	    run_checks(q).action != PASS)
		return;
	commit_data(q);
	qp->resp.msn = msn;
	complete_receive(q);
}

void vs_resp_request(struct vs_rx *rx)
{
	struct request q = look(rx);
	struct vs_qp *qp = rx->qp;
	struct verdict v;
	int32_t ahead;

	if (qp->type == VS_QPT_UC) {
		uc_request(&q);
		return;
	}
	ahead = psn_ahead(qp, rx->p.bth.psn);
	if (ahead < 0) {
		const uint64_t a[] = {rx->p.bth.opcode, rx->p.bth.psn};

		qp->dev->counter[VS_CNT_DUPLICATE_REQUEST]++;
		qp->dev->cause = vs_ev(qp->dev, VS_EV_RC_DUPLICATE, qp, rx->ev, 2, a);
		execute_again(&q);
		vs_answer_duplicate(rx);
		return;
	}
	if (ahead > 0) {
		sequence_error(&q);
		return;
	}
	v = run_checks(&q);
	if (v.action == PASS)
		commit(&q);
	else
		act(&q, &v);
}

void vs_resp_reset(struct vs_qp *qp)
{
	qp->resp.epsn = qp->attr.rq_psn;
	qp->resp.msn = qp->dev->attr.first_msn & VS_PSN_MASK;
	qp->resp.in_message = qp->resp.nak_seq_sent = qp->resp.rnr_sent = qp->resp.comm_est = qp->resp.dying = false;
	qp->resp.has_wqe = false;
	qp->resp.rres_head = qp->resp.rres_tail = 0;
	vs_answers_clear(qp);
}
