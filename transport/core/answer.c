/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * answer.c - what the responder owes: the queue of answers in PSN order, the saved READ and ATOMIC
 * results, and duplicates.
 *
 * ACKs that wait one behind the other become one (coalescing). A READ is generated packet by packet when its
 * turn comes, from memory as it is then; its key is checked again for every packet. Duplicates: SEND and WRITE
 * are acknowledged again, READs executed again (also a part of one), atomics replayed from the saved result
 * (C9-105, 9.4.4). What is not found any more is dropped.
 */
#include "core.h"

static struct vs_answer *slot(struct vs_qp *qp, uint32_t i)
{
	return &qp->resp.answer[i % VS_ANSWERS];
}

void vs_answers_clear(struct vs_qp *qp)
{
	qp->resp.answer_head = qp->resp.answer_tail = 0;
}

bool vs_answer_room(const struct vs_qp *qp)
{
	return qp->resp.answer_tail - qp->resp.answer_head < VS_ANSWERS - 2; /* one NAK always fits */
}

/* READs and atomics accepted and not yet answered in full. */
uint32_t vs_resp_reads_waiting(struct vs_qp *qp)
{
	uint32_t n = 0, i;

	for (i = qp->resp.answer_head; i != qp->resp.answer_tail; i++)
		n += (slot(qp, i)->kind == VS_ANSWER_READ || slot(qp, i)->kind == VS_ANSWER_SAVED) &&
		     !slot(qp, i)->duplicate;
	return n;
}

/* Puts `a` where its PSN belongs: answers go out in PSN order. */
static void insert(struct vs_qp *qp, const struct vs_answer *a)
{
	uint32_t i = qp->resp.answer_tail++;

	while (i != qp->resp.answer_head && vs_psn_gt(slot(qp, i - 1)->psn, a->psn)) {
		*slot(qp, i) = *slot(qp, i - 1);
		i--;
	}
	*slot(qp, i) = *a;
	vs_qp_kick(qp);
}

static uint8_t credit_syndrome(const struct vs_qp *qp)
{
	uint32_t free_wqes = qp->rq.tail - qp->rq.head;
	uint8_t code = 0;

	if (!qp->dev->attr.e2e_credits || qp->srq != NULL)
		return 0x1f;
	while (code < 30 && vs_aeth_credits((uint8_t)(code + 1)) <= free_wqes)
		code++;
	return code;
}

void vs_answer_ack(struct vs_qp *qp, uint32_t psn, uint32_t msn)
{
	struct vs_answer a = {
		.kind = VS_ANSWER_ACK, .psn = psn, .msn = msn, .opcode = VS_OP_RC_ACKNOWLEDGE, .cause = qp->dev->cause};
	struct vs_answer *last =
		qp->resp.answer_tail != qp->resp.answer_head ? slot(qp, qp->resp.answer_tail - 1) : NULL;

	if (last != NULL && last->kind == VS_ANSWER_ACK && vs_psn_le(last->psn, psn)) {
		*last = a;
		vs_qp_kick(qp);
		return;
	}
	if (vs_answer_room(qp))
		insert(qp, &a);
}

void vs_answer_nak(struct vs_qp *qp, uint32_t psn, uint8_t syndrome, uint8_t opcode)
{
	const struct vs_answer a = {.kind = VS_ANSWER_NAK,
				    .psn = psn,
				    .msn = qp->resp.msn,
				    .syndrome = syndrome,
				    .opcode = opcode,
				    .cause = qp->dev->cause};

	if (qp->resp.answer_tail - qp->resp.answer_head >= VS_ANSWERS)
		return;
	*slot(qp, qp->resp.answer_tail++) = a; /* a NAK is the last word: never in front of anything */
	vs_qp_kick(qp);
	if (VS_DEVIATES(qp->dev, CNP_ON_NAK)) {
		qp->cc.cnp_due = true;
		qp->cc.cnp_cause = a.cause;
	}
}

void vs_rres_save(struct vs_qp *qp, const struct vs_rres *res)
{
	uint32_t size = qp->attr.max_dest_rd_atomic;

	assert(size > 0 && size <= qp->resp.rres_size);
	if (qp->resp.rres_tail - qp->resp.rres_head >= size)
		qp->resp.rres_head = qp->resp.rres_tail - size + 1;
	qp->resp.rres[qp->resp.rres_tail++ & qp->resp.rres_mask] = *res;
}

/* The saved entry that owns `psn`, newest first; NULL: it is gone. */
static const struct vs_rres *saved(const struct vs_qp *qp, uint32_t psn)
{
	uint32_t i;

	for (i = qp->resp.rres_tail; i != qp->resp.rres_head; i--) {
		const struct vs_rres *r = &qp->resp.rres[(i - 1) & qp->resp.rres_mask];

		if (vs_psn_in(psn, r->first_psn, r->npsn))
			return r;
	}
	return NULL;
}

/* Deviation ATOMIC_REEXECUTED: the duplicate that was executed has a result of its own. */
void vs_rres_new_orig(struct vs_qp *qp, uint32_t psn, uint64_t orig)
{
	uint32_t i;

	for (i = qp->resp.rres_head; i != qp->resp.rres_tail; i++) {
		struct vs_rres *r = &qp->resp.rres[i & qp->resp.rres_mask];

		if (r->kind == VS_RRES_ATOMIC && r->first_psn == psn)
			r->orig = orig;
	}
}

static struct vs_answer make(struct vs_qp *qp, const struct vs_rres *res, uint32_t psn, uint32_t npsn, uint64_t va,
			     uint32_t length, uint32_t msn)
{
	struct vs_answer a = {.kind = res->kind == VS_RRES_READ ? VS_ANSWER_READ : VS_ANSWER_SAVED,
			      .psn = psn,
			      .first_psn = psn,
			      .end_psn = vs_psn_add(psn, (int32_t)npsn),
			      .va = va,
			      .rkey = res->rkey,
			      .length = length,
			      .msn = msn,
			      .orig = res->orig,
			      .cause = qp->dev->cause};

	a.opcode = res->kind == VS_RRES_ATOMIC ? VS_OP_RC_ATOMIC_ACKNOWLEDGE : VS_OP_RC_READ_RESPONSE_ONLY;
	return a;
}

void vs_answer_saved(struct vs_qp *qp, const struct vs_rres *res, uint32_t psn, uint32_t npsn, uint64_t va,
		     uint32_t length, uint32_t msn)
{
	const struct vs_answer a = make(qp, res, psn, npsn, va, length, msn);

	insert(qp, &a);
}

/* ---- duplicates ---- */

static void dup_drop(struct vs_rx *rx, enum vs_reason r)
{
	const struct vs_bth *b = &rx->p.bth;
	const uint64_t a[] = {(uint64_t)r, b->opcode, b->psn, b->destqp};

	vs_ev(rx->qp->dev, VS_EV_PKT_DROP, rx->qp, rx->ev, 4, a);
}

/* A READ that is being answered and is asked for again from an earlier PSN starts again there (C9-110). */
static bool restart(struct vs_qp *qp, const struct vs_answer *a)
{
	uint32_t i;

	for (i = qp->resp.answer_head; i != qp->resp.answer_tail; i++) {
		struct vs_answer *q = slot(qp, i);

		if (q->kind == VS_ANSWER_READ && q->end_psn == a->end_psn) {
			bool was_duplicate = q->duplicate;

			*q = *a;
			q->duplicate = was_duplicate;
			vs_qp_kick(qp);
			return true;
		}
	}
	return false;
}

static void dup_read(struct vs_rx *rx)
{
	struct vs_qp *qp = rx->qp;
	uint32_t psn = rx->p.bth.psn, len = rx->p.ext.reth.dmalen, skip;
	uint64_t va = rx->p.ext.reth.va, offset;
	const struct vs_rres *res = saved(qp, psn);
	struct vs_answer a;

	if (res == NULL || res->kind != VS_RRES_READ || VS_DEVIATES(qp->dev, READ_REPLAY_LOST)) {
		dup_drop(rx, VS_REASON_DUP_NOT_SAVED);
		return;
	}
	/* Only the same READ or a part of it with the same PSNs for the same bytes. */
	skip = vs_psn_add(psn, -(int32_t)res->first_psn);
	offset = (uint64_t)skip * qp->mtu;
	if (rx->p.ext.reth.rkey != res->rkey || va - res->va != offset || len > res->length - offset ||
	    (len == 0 && res->length != 0)) {
		dup_drop(rx, VS_REASON_DUP_NOT_SUBSET);
		return;
	}
	if (!vs_answer_room(qp))
		return;
	a = make(qp, res, psn, vs_psn_count(len, qp->mtu), va, len, qp->resp.msn);
	a.duplicate = true;
	if (!restart(qp, &a))
		insert(qp, &a);
}

static bool same_atomic(const struct vs_rx *rx, const struct vs_rres *res)
{
	const struct vs_ext *e = &rx->p.ext;

	return res->opcode == rx->p.bth.opcode && res->va == e->atomiceth.va && res->rkey == e->atomiceth.rkey &&
	       res->swapadd == e->atomiceth.swapadd && res->compare == e->atomiceth.compare;
}

/* Atomics, FLUSH, ATOMIC WRITE: the saved answer again, nothing is executed. */
static void dup_saved(struct vs_rx *rx, bool atomic)
{
	struct vs_qp *qp = rx->qp;
	const struct vs_rres *res = saved(qp, rx->p.bth.psn);
	struct vs_answer a;

	if (res == NULL || res->opcode != rx->p.bth.opcode || (atomic && VS_DEVIATES(qp->dev, ATOMIC_REPLAY_LOST))) {
		dup_drop(rx, VS_REASON_DUP_NOT_SAVED);
		return;
	}
	if (atomic && !same_atomic(rx, res)) {
		dup_drop(rx, VS_REASON_DUP_NOT_SUBSET);
		return;
	}
	if (!vs_answer_room(qp))
		return;
	a = make(qp, res, res->first_psn, 1, res->va, res->length, qp->resp.msn);
	a.duplicate = true;
	insert(qp, &a);
}

void vs_answer_duplicate(struct vs_rx *rx)
{
	struct vs_qp *qp = rx->qp;
	uint8_t opcode = rx->p.bth.opcode;
	uint16_t flags = vs_opcodes[opcode].flags;

	if (opcode == VS_OP_RC_READ_REQUEST)
		dup_read(rx);
	else if (flags & VS_OPF_A)
		dup_saved(rx, true);
	else if (opcode == VS_OP_RC_FLUSH || opcode == VS_OP_RC_ATOMIC_WRITE)
		dup_saved(rx, false);
	else if (flags & (VS_OPF_S | VS_OPF_W) && rx->p.bth.ackreq)
		vs_answer_ack(qp, rx->p.bth.psn, qp->resp.msn); /* again, not executed: C9-105 */
	else
		dup_drop(rx, VS_REASON_DUP_SILENT);
}

/* ---- sending ---- */

bool vs_resp_has_output(const struct vs_qp *qp)
{
	return qp->cc.cnp_due || qp->resp.answer_head != qp->resp.answer_tail;
}

static uint8_t read_opcode(const struct vs_answer *a, uint32_t npsn)
{
	bool first = a->psn == a->first_psn, last = vs_psn_add(a->psn, 1) == a->end_psn;

	if (npsn == 1)
		return VS_OP_RC_READ_RESPONSE_ONLY;
	return first  ? VS_OP_RC_READ_RESPONSE_FIRST
	       : last ? VS_OP_RC_READ_RESPONSE_LAST
		      : VS_OP_RC_READ_RESPONSE_MIDDLE;
}

/* The next packet of a READ into tx. False: the region is gone. */
static bool read_packet(struct vs_qp *qp, struct vs_answer *a, struct vs_tx *tx)
{
	uint32_t npsn = vs_psn_add(a->end_psn, -(int32_t)a->first_psn);
	uint32_t offset = vs_psn_add(a->psn, -(int32_t)a->first_psn) * qp->mtu;
	uint32_t len = a->length - offset < qp->mtu ? a->length - offset : qp->mtu;
	uint64_t host = 0;

	if (len > 0 &&
	    vs_key_check_remote(qp, a->rkey, a->va + offset, len, VS_ACCESS_REMOTE_READ, &host) != VS_REASON_NONE)
		return false;
	vs_tx_init(qp, tx, read_opcode(a, npsn), NULL);
	if (len > 0)
		vs_dma_read(qp->dev, qp, a->rkey, host, tx->payload, len);
	tx->p.payload_len = len;
	return true;
}

/* A region that went away while its READ waited: NAK for a new request, silence for a duplicate. */
static void read_region_gone(struct vs_qp *qp, const struct vs_answer *a)
{
	uint32_t psn = a->psn;
	bool duplicate = a->duplicate;

	if (duplicate) {
		qp->resp.answer_head++;
		return;
	}
	vs_answers_clear(qp);
	vs_answer_nak(qp, psn, 0x60 | VS_NAK_REM_ACCESS, VS_OP_RC_ACKNOWLEDGE);
	if (qp->attr.state == VS_QPS_ERR)
		return;
	qp->resp.dying = true;
	vs_async_push(qp->dev, VS_EVENT_QP_ACCESS_ERR, qp, qp->init.cookie);
	vs_qp_error(qp, VS_REASON_RKEY_INVALID);
}

/* Fills tx from the oldest answer and moves on. False: nothing came of it. */
static bool next_answer(struct vs_qp *qp, struct vs_tx *tx)
{
	struct vs_answer *a = slot(qp, qp->resp.answer_head);

	qp->dev->cause = a->cause;
	if (a->kind == VS_ANSWER_READ) {
		if (!read_packet(qp, a, tx)) {
			read_region_gone(qp, a);
			return false;
		}
	} else {
		vs_tx_init(qp, tx, a->opcode, NULL);
	}
	tx->cause = a->cause;
	tx->p.bth.psn = a->psn;
	tx->retx = a->duplicate;
	if (tx->p.hdrs & VS_HDR_AETH) {
		tx->p.ext.aeth.syndrome = a->kind == VS_ANSWER_NAK ? a->syndrome : credit_syndrome(qp);
		tx->p.ext.aeth.msn = a->msn;
	}
	if (tx->p.hdrs & VS_HDR_ATOMICACKETH)
		tx->p.ext.atomicack_origdata = a->orig;
	a->psn = vs_psn_add(a->psn, 1);
	if (a->kind != VS_ANSWER_READ || a->psn == a->end_psn)
		qp->resp.answer_head++;
	return true;
}

size_t vs_resp_output(struct vs_qp *qp, uint8_t *buf, size_t cap, struct vs_pkt_meta *meta)
{
	struct vs_tx *tx = &qp->dev->tx;
	size_t n = 0;

	if (qp->cc.cnp_due) {
		vs_cc_make_cnp(qp, tx);
		n = vs_tx_finish(qp, tx, buf, cap, meta);
	}
	while (n == 0 && qp->resp.answer_head != qp->resp.answer_tail)
		if (next_answer(qp, tx))
			n = vs_tx_finish(qp, tx, buf, cap, meta);
	return n;
}
