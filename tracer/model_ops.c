/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * model_ops.c - operations: from the post of a work request over its packets to its completion.
 *
 * A request that was posted is found again in its packets by wr_id and PSN, a completion by wr_id in the order of the
 * queue. Packets that nobody posted, as far as the trace shows, make an operation of their own, which is inferred.
 */
#include <stdlib.h>
#include <string.h>

#include "model_build.h"
#include "vs/opcode.h"
#include "vs/psn.h"
#include "vs/wire.h"

#define LOOK_BACK 65536u /* operations of a queue that are searched for a PSN */
#define DMA_PENDING 64u

/* One queue of a QP while events pass by. */
struct queue {
	size_t *op; /* in order of their posts */
	size_t n, cap;
	size_t open;   /* those before it are completed */
	size_t unsent; /* sends: those before it have sent their first packet */
	size_t acked;  /* sends: those before it are answered */
};

struct per_qp {
	struct queue send, recv;
	size_t dma[DMA_PENDING]; /* dma:read events that wait for the packet that they are for */
	unsigned n_dma;
};

struct maker {
	struct vt_model *m;
	struct per_qp *qp;
	size_t cap_ops;
	bool failed;
};

static bool append(size_t **array, size_t *n, size_t *cap, size_t value)
{
	if (*n == *cap) {
		size_t more = *cap == 0 ? 16 : 2 * *cap;
		size_t *grown = realloc(*array, more * sizeof(*grown));

		if (grown == NULL)
			return false;
		*array = grown;
		*cap = more;
	}
	(*array)[(*n)++] = value;
	return true;
}

static size_t new_op(struct maker *k, size_t qp, uint32_t flags)
{
	struct vt_model *m = k->m;
	struct queue *q = flags & VT_OP_RECV ? &k->qp[qp].recv : &k->qp[qp].send;

	if (m->n_ops == k->cap_ops) {
		size_t more = k->cap_ops == 0 ? 64 : 2 * k->cap_ops;
		struct vt_op *grown = realloc(m->op, more * sizeof(*grown));

		k->failed |= grown == NULL;
		if (grown == NULL)
			return VT_NONE;
		m->op = grown;
		k->cap_ops = more;
	}
	m->op[m->n_ops] = (struct vt_op){.flags = flags,
					 .qp = qp,
					 .post = VT_NONE,
					 .fetch = VT_NONE,
					 .first_tx = VT_NONE,
					 .last_tx = VT_NONE,
					 .arrived = VT_NONE,
					 .answer = VT_NONE,
					 .nak = VT_NONE,
					 .cqe = VT_NONE,
					 .poll = VT_NONE,
					 .recv = VT_NONE,
					 .by = VT_NONE};
	if (!append(&q->op, &q->n, &q->cap, m->n_ops) ||
	    !append(&m->qp[qp].op, &m->qp[qp].n_ops, &m->qp[qp].cap_ops, m->n_ops)) {
		k->failed = true;
		return VT_NONE;
	}
	return m->n_ops++;
}

/* ---- posts ---- */

static void set_wr(struct vt_op *o, const struct vs_event *e)
{
	if (!e->has_wr)
		return;
	o->wr_id = e->wr_id;
	o->flags |= VT_OP_HAS_WR;
}

static void on_post_send(struct maker *k, size_t i)
{
	const struct vs_event *e = &k->m->ev[i];
	size_t at;
	struct vt_op *o;

	if (e->a[5] != 0 || k->m->qp_of[i] == UINT32_MAX)
		return; /* refused: it never was a request */
	at = new_op(k, k->m->qp_of[i], VT_OP_HAS_OP | VT_OP_HAS_LEN);
	if (at == VT_NONE)
		return;
	o = &k->m->op[at];
	o->post = i;
	o->opcode = (enum vs_wr_opcode)e->a[0];
	o->len = e->a[1];
	o->va = e->a[2];
	o->rkey = (uint32_t)e->a[3];
	if (e->a[3] != 0 || e->a[2] != 0)
		o->flags |= VT_OP_HAS_RETH;
	if (e->a[4] & VS_SEND_SIGNALED)
		o->flags |= VT_OP_SIGNALED;
	set_wr(o, e);
	k->m->op_of[i] = at;
}

static void on_post_recv(struct maker *k, size_t i)
{
	const struct vs_event *e = &k->m->ev[i];
	size_t at;

	if (e->a[1] != 0 || k->m->qp_of[i] == UINT32_MAX)
		return;
	at = new_op(k, k->m->qp_of[i], VT_OP_RECV | VT_OP_HAS_LEN);
	if (at == VT_NONE)
		return;
	k->m->op[at].post = i;
	k->m->op[at].len = e->a[0];
	set_wr(&k->m->op[at], e);
	k->m->op_of[i] = at;
}

static void on_fetch(struct maker *k, size_t i)
{
	struct vt_model *m = k->m;
	size_t at = m->cause[i] != VT_NONE ? m->op_of[m->cause[i]] : VT_NONE;

	if (at == VT_NONE || m->op[at].fetch != VT_NONE)
		return;
	m->op[at].fetch = i;
	m->op[at].first_psn = m->op[at].last_psn = (uint32_t)m->ev[i].a[2];
	m->op[at].flags |= VT_OP_HAS_PSN;
	m->op_of[i] = at;
}

/* ---- packets ---- */

/* The operation of a send queue that a PSN belongs to: the newest that begins at or before it. */
static size_t by_psn(const struct maker *k, size_t qp, uint32_t psn)
{
	const struct queue *q = &k->qp[qp].send;

	for (size_t i = q->n, looked = 0; i > 0 && looked < LOOK_BACK; i--, looked++) {
		const struct vt_op *o = &k->m->op[q->op[i - 1]];

		if ((o->flags & VT_OP_HAS_PSN) && vs_psn_ge(psn, o->first_psn))
			return q->op[i - 1];
	}
	return VT_NONE;
}

static bool sends_packets(enum vs_wr_opcode op)
{
	return op != VS_WR_LOCAL_INV && op != VS_WR_BIND_MW;
}

static bool fits(const struct vt_op *o, const struct vs_event *e)
{
	if (o->first_tx != VT_NONE || !sends_packets(o->opcode))
		return false;
	return !e->has_wr || !(o->flags & VT_OP_HAS_WR) || o->wr_id == e->wr_id;
}

/* The request whose first packet this is, if somebody posted it. */
static size_t next_unsent(struct maker *k, size_t qp, const struct vs_event *e)
{
	struct queue *q = &k->qp[qp].send;

	while (q->unsent < q->n &&
	       (k->m->op[q->op[q->unsent]].first_tx != VT_NONE || !sends_packets(k->m->op[q->op[q->unsent]].opcode)))
		q->unsent++;
	for (size_t i = q->unsent; i < q->n && i < q->unsent + 1024; i++)
		if (fits(&k->m->op[q->op[i]], e))
			return q->op[i];
	return VT_NONE;
}

static enum vs_wr_opcode work_of(uint8_t opcode)
{
	const struct vs_opcode_info *f = &vs_opcodes[opcode];
	bool imm = (f->flags & VS_OPF_I) != 0;
	const char *name = f->name != NULL ? f->name : "";

	if (f->flags & VS_OPF_W)
		return imm ? VS_WR_RDMA_WRITE_WITH_IMM : VS_WR_RDMA_WRITE;
	if (f->flags & VS_OPF_D)
		return VS_WR_RDMA_READ;
	if (f->flags & VS_OPF_A)
		return strstr(name, "ompare") != NULL ? VS_WR_ATOMIC_CMP_AND_SWP : VS_WR_ATOMIC_FETCH_AND_ADD;
	if (f->flags & VS_OPF_S)
		return imm ? VS_WR_SEND_WITH_IMM : f->flags & VS_OPF_V ? VS_WR_SEND_WITH_INV : VS_WR_SEND;
	return strstr(name, "FLUSH") != NULL ? VS_WR_FLUSH : VS_WR_ATOMIC_WRITE;
}

static size_t inferred_op(struct maker *k, size_t qp, size_t i)
{
	size_t at = new_op(k, qp, VT_OP_INFERRED | VT_OP_HAS_OP);

	if (at == VT_NONE)
		return VT_NONE;
	k->m->op[at].opcode = work_of((uint8_t)k->m->ev[i].a[0]);
	set_wr(&k->m->op[at], &k->m->ev[i]);
	return at;
}

/* What a request packet adds to an operation. */
static void count_request(struct maker *k, size_t at, size_t i)
{
	struct vt_op *o = &k->m->op[at];
	const struct vs_event *e = &k->m->ev[i];
	const struct vt_packet *p = &k->m->pkt[k->m->pkt_of[i]];
	const struct vs_opcode_info *f = &vs_opcodes[e->a[0] & 0xff];
	uint32_t psn = (uint32_t)e->a[1];

	if (o->first_tx == VT_NONE) {
		o->first_tx = i;
		o->first_psn = o->last_psn = psn;
		o->flags |= VT_OP_HAS_PSN;
	}
	if (vs_psn_gt(psn, o->last_psn))
		o->last_psn = psn;
	o->last_tx = i;
	o->packets++;
	if (e->a[7] != 0) {
		o->retransmissions++;
		o->wasted += e->a[3];
	} else if (o->flags & VT_OP_INFERRED) {
		o->len += f->flags & VS_OPF_D ? p->dmalen : e->a[3];
		o->flags |= VT_OP_HAS_LEN;
		if (f->flags & VS_OPF_I)
			o->opcode = work_of((uint8_t)e->a[0]);
	}
	if (p->flags & VT_PKT_HAS_RETH && !(o->flags & VT_OP_HAS_RETH)) {
		o->va = p->va;
		o->rkey = p->rkey;
		o->flags |= VT_OP_HAS_RETH;
	}
	if (f->flags & VS_OPF_E)
		o->flags |= VT_OP_SENT;
}

static size_t op_of_request(struct maker *k, size_t i)
{
	const struct vs_event *e = &k->m->ev[i];
	const struct vs_opcode_info *f = &vs_opcodes[e->a[0] & 0xff];
	size_t qp = k->m->qp_of[i], at = VT_NONE;

	if (e->a[7] != 0 || !(f->flags & VS_OPF_B))
		at = by_psn(k, qp, (uint32_t)e->a[1]);
	if (at == VT_NONE)
		at = next_unsent(k, qp, e);
	return at != VT_NONE ? at : inferred_op(k, qp, i);
}

/* The queue pair whose requests an answer is for. */
static size_t requester_of(const struct vt_model *m, size_t i)
{
	const struct vt_packet *p = &m->pkt[m->pkt_of[i]];

	if (p->rx != VT_NONE)
		return m->qp_of[p->rx];
	return m->qp[m->qp_of[i]].peer;
}

static void take_dma(struct maker *k, size_t qp, size_t at)
{
	struct per_qp *q = &k->qp[qp];

	for (unsigned n = 0; n < q->n_dma; n++)
		k->m->op_of[q->dma[n]] = at;
	q->n_dma = 0;
}

static void on_tx(struct maker *k, size_t i)
{
	struct vt_model *m = k->m;
	const struct vs_event *e = &m->ev[i];
	uint16_t flags = e->a[0] < 256 ? vs_opcodes[e->a[0]].flags : 0;
	size_t at = VT_NONE, qp;

	if (flags & VS_OPF_Q) {
		at = op_of_request(k, i);
		if (at != VT_NONE)
			count_request(k, at, i);
	} else if (flags & VS_OPF_R && (qp = requester_of(m, i)) != VT_NONE) {
		at = by_psn(k, qp, (uint32_t)e->a[1]);
		if (at != VT_NONE && flags & (VS_OPF_D | VS_OPF_A)) {
			m->op[at].responses++;
			if (vs_psn_gt((uint32_t)e->a[1], m->op[at].last_psn))
				m->op[at].last_psn = (uint32_t)e->a[1];
		}
	}
	m->op_of[i] = m->pkt[m->pkt_of[i]].op = at;
	take_dma(k, m->qp_of[i], at);
}

/* Everything up to `psn` is acknowledged, by the event i; READs and atomics by their responses alone. */
static void acknowledge(struct maker *k, size_t qp, uint32_t psn, size_t i)
{
	struct queue *q = &k->qp[qp].send;

	for (; q->acked < q->n; q->acked++) {
		struct vt_op *o = &k->m->op[q->op[q->acked]];
		bool answered_by_data = vs_opcodes[k->m->ev[i].a[0] & 0xff].flags & (VS_OPF_D | VS_OPF_A);

		if (!(o->flags & VT_OP_HAS_PSN) && !sends_packets(o->opcode))
			continue;
		if (!(o->flags & VT_OP_SENT) || vs_psn_gt(o->last_psn, psn))
			return;
		if (o->answer != VT_NONE)
			continue;
		if (o->responses != 0 && !answered_by_data)
			return;
		o->answer = i;
	}
}

static void on_answer(struct maker *k, size_t i)
{
	struct vt_model *m = k->m;
	const struct vs_event *e = &m->ev[i];
	size_t qp = m->qp_of[i], at = by_psn(k, qp, (uint32_t)e->a[1]);
	bool aeth = e->a[4] != VS_SYN_NONE, ends = (vs_opcodes[e->a[0] & 0xff].flags & VS_OPF_E) != 0;

	m->op_of[i] = at;
	if (at == VT_NONE)
		return;
	if (aeth && vs_aeth_type((uint8_t)e->a[4]) != VS_AETH_ACK) {
		if (m->op[at].nak == VT_NONE)
			m->op[at].nak = i;
		acknowledge(k, qp, vs_psn_add((uint32_t)e->a[1], -1), i);
	} else if (ends || e->a[0] == VS_OP_RC_ACKNOWLEDGE) {
		acknowledge(k, qp, (uint32_t)e->a[1], i);
	}
}

static void on_rx(struct maker *k, size_t i)
{
	struct vt_model *m = k->m;
	const struct vs_event *e = &m->ev[i];
	struct vt_packet *p = &m->pkt[m->pkt_of[i]];
	const struct vs_opcode_info *f = &vs_opcodes[e->a[0] & 0xff];

	if (f->flags & VS_OPF_R) {
		on_answer(k, i);
		if (p->op == VT_NONE)
			p->op = m->op_of[i];
		return;
	}
	m->op_of[i] = p->op;
	if (p->op != VT_NONE && m->op[p->op].arrived == VT_NONE && f->flags & VS_OPF_E)
		m->op[p->op].arrived = i;
}

/* ---- completions ---- */

/* The oldest request of the queue that is not completed and has this wr_id. */
static size_t open_wr(const struct maker *k, const struct queue *q, const struct vs_event *e, size_t *place)
{
	for (size_t i = q->open; i < q->n && i < q->open + LOOK_BACK; i++) {
		const struct vt_op *o = &k->m->op[q->op[i]];

		if (o->cqe != VT_NONE || o->poll != VT_NONE)
			continue;
		if (o->wr_id == e->wr_id && (o->flags & VT_OP_HAS_WR)) {
			*place = i;
			return q->op[i];
		}
	}
	return VT_NONE;
}

static void join_receive(struct vt_model *m, size_t recv, size_t i)
{
	size_t op = m->pkt_of[i] != VT_NONE ? m->pkt[m->pkt_of[i]].op : VT_NONE;

	if (op == VT_NONE || m->op[recv].by != VT_NONE || op == recv)
		return;
	m->op[recv].by = op;
	m->op[op].recv = recv;
}

static void on_take(struct maker *k, size_t i)
{
	struct vt_model *m = k->m;
	const struct queue *q;
	size_t place, at;

	if (m->qp_of[i] == UINT32_MAX)
		return;
	q = &k->qp[m->qp_of[i]].recv;
	at = open_wr(k, q, &m->ev[i], &place);
	if (at == VT_NONE) { /* from a shared receive queue: nobody posted it to this QP */
		at = new_op(k, m->qp_of[i], VT_OP_RECV | VT_OP_INFERRED | VT_OP_HAS_LEN);
		if (at == VT_NONE)
			return;
		m->op[at].len = m->ev[i].a[0];
		set_wr(&m->op[at], &m->ev[i]);
	}
	if (m->op[at].fetch == VT_NONE)
		m->op[at].fetch = i;
	m->op_of[i] = at;
	join_receive(m, at, i);
}

static bool is_receive(uint64_t op)
{
	return op == VS_WC_RECV || op == VS_WC_RECV_RDMA_WITH_IMM;
}

/* A completion, as the device made it (cqe) or as the program saw it (poll_cq): the request that it is for. */
static size_t complete(struct maker *k, size_t i)
{
	struct vt_model *m = k->m;
	const struct vs_event *e = &m->ev[i];
	struct per_qp *p;
	struct queue *q;
	size_t at, place = 0;

	if (m->qp_of[i] == UINT32_MAX || !e->has_wr)
		return VT_NONE;
	p = &k->qp[m->qp_of[i]];
	q = is_receive(e->a[1]) ? &p->recv : &p->send;
	at = open_wr(k, q, e, &place);
	if (at == VT_NONE && e->a[0] != VS_WC_SUCCESS) { /* of a failure the opcode may say nothing */
		q = q == &p->recv ? &p->send : &p->recv;
		at = open_wr(k, q, e, &place);
	}
	if (at == VT_NONE)
		return VT_NONE;
	q->open = place + 1;
	m->op_of[i] = at;
	if (q == &p->recv && e->a[0] == VS_WC_SUCCESS) /* a flush takes no message */
		join_receive(m, at, i);
	return at;
}

static void on_cqe(struct maker *k, size_t i)
{
	size_t at = complete(k, i);

	if (at != VT_NONE)
		k->m->op[at].cqe = i;
}

static void on_poll(struct maker *k, size_t i)
{
	struct vt_model *m = k->m;
	size_t at = m->cause[i] != VT_NONE ? m->op_of[m->cause[i]] : complete(k, i);

	if (at == VT_NONE)
		return;
	m->op_of[i] = at;
	if (m->op[at].poll == VT_NONE)
		m->op[at].poll = i;
}

/* ---- everything else that names a PSN ---- */

static void on_psn(struct maker *k, size_t i, unsigned arg, bool responder)
{
	size_t qp = k->m->qp_of[i];

	if (qp != UINT32_MAX && responder)
		qp = k->m->qp[qp].peer;
	if (qp != UINT32_MAX && qp != VT_NONE)
		k->m->op_of[i] = by_psn(k, qp, (uint32_t)k->m->ev[i].a[arg]);
}

static void on_dma(struct maker *k, size_t i)
{
	struct vt_model *m = k->m;
	struct per_qp *q;

	if (m->ev[i].type != VS_EV_DMA_READ) {
		if (m->pkt_of[i] != VT_NONE)
			m->op_of[i] = m->pkt[m->pkt_of[i]].op;
		return;
	}
	if (m->qp_of[i] == UINT32_MAX)
		return;
	q = &k->qp[m->qp_of[i]];
	if (q->n_dma < DMA_PENDING)
		q->dma[q->n_dma++] = i;
}

static void on_event(struct maker *k, size_t i)
{
	switch ((enum vs_event_type)k->m->ev[i].type) {
	case VS_EV_VERB_POST_SEND:
		on_post_send(k, i);
		break;
	case VS_EV_VERB_POST_RECV:
		on_post_recv(k, i);
		break;
	case VS_EV_WQE_FETCH:
		on_fetch(k, i);
		break;
	case VS_EV_WQE_TAKE:
		on_take(k, i);
		break;
	case VS_EV_PKT_TX:
		on_tx(k, i);
		break;
	case VS_EV_PKT_RX:
		on_rx(k, i);
		break;
	case VS_EV_CQE:
		on_cqe(k, i);
		break;
	case VS_EV_VERB_POLL_CQ:
		on_poll(k, i);
		break;
	case VS_EV_DMA_READ:
	case VS_EV_DMA_WRITE:
	case VS_EV_DMA_ATOMIC:
		on_dma(k, i);
		break;
	case VS_EV_RC_RETRY:
	case VS_EV_RC_RNR_WAIT:
	case VS_EV_RC_TIMEOUT:
		on_psn(k, i, 0, false);
		break;
	case VS_EV_RC_GAP:
		on_psn(k, i, 0, true);
		break;
	case VS_EV_RC_DUPLICATE:
	case VS_EV_RC_REFUSE:
		on_psn(k, i, 1, true);
		break;
	default:
		if (k->m->pkt_of[i] != VT_NONE)
			k->m->op_of[i] = k->m->pkt[k->m->pkt_of[i]].op;
		break;
	}
}

bool vt_model_operations(struct vt_model *m)
{
	struct maker k = {.m = m, .qp = calloc(m->n_qps + 1, sizeof(*k.qp))};

	k.failed = k.qp == NULL;
	for (size_t i = 0; !k.failed && i < m->n_events; i++)
		on_event(&k, i);
	for (size_t i = 0; k.qp != NULL && i < m->n_qps; i++) {
		free(k.qp[i].send.op);
		free(k.qp[i].recv.op);
	}
	free(k.qp);
	return !k.failed;
}
