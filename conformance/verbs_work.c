/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* verbs_work.c - work requests, completions and events through libibverbs; what it has no calls for. */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "verbs.h"

#define MAX_SGES 16u

static uint32_t copy_sges(struct ibv_sge *to, const struct vs_sge *from, uint32_t n)
{
	uint32_t bytes = 0;

	for (uint32_t i = 0; i < n && i < MAX_SGES; i++) {
		to[i] = (struct ibv_sge){from[i].addr, from[i].length, from[i].lkey};
		bytes += from[i].length;
	}
	return bytes;
}

static void posted(struct vc_target *t, const struct ibv_qp *qp, const struct vs_send_wr *wr, uint32_t bytes, int code)
{
	struct vs_event ev = {.type = VS_EV_VERB_POST_SEND, .has_wr = true, .wr_id = wr->wr_id, .qpn = qp->qp_num};

	ev.a[0] = (uint64_t)wr->opcode;
	ev.a[1] = bytes;
	ev.a[2] = wr->rdma.remote_addr;
	ev.a[3] = wr->rdma.rkey;
	ev.a[4] = wr->flags;
	ev.a[5] = (uint64_t)code;
	vc_emit(t, &ev);
}

/* Type 1: a call of its own; the key is in the window afterwards. */
static int bind_type_1(struct vh *qp, struct vh *mw, const struct vs_send_wr *wr)
{
	const struct vh *mr = (const void *)wr->bind.mr;
	struct ibv_mw_bind b = {.wr_id = wr->wr_id,
				.send_flags = wr->flags,
				.bind_info = {.mr = mr != NULL ? mr->mr : NULL,
					      .addr = wr->bind.addr,
					      .length = wr->bind.length,
					      .mw_access_flags = wr->bind.access}};

	return qp->qp->context->ops.bind_mw(qp->qp, mw->mw, &b);
}

static void set_ud(struct ibv_send_wr *w, const struct vs_send_wr *wr)
{
	const struct vh *ah = (const void *)wr->ud.ah;

	w->wr.ud.ah = ah != NULL ? ah->ah : NULL;
	w->wr.ud.remote_qpn = wr->ud.remote_qpn;
	w->wr.ud.remote_qkey = wr->ud.remote_qkey;
}

static void set_bind(struct ibv_send_wr *w, const struct vs_send_wr *wr, const struct vh *mw)
{
	const struct vh *mr = (const void *)wr->bind.mr;

	w->bind_mw.mw = mw->mw;
	w->bind_mw.rkey = wr->bind.rkey;
	w->bind_mw.bind_info =
		(struct ibv_mw_bind_info){mr != NULL ? mr->mr : NULL, wr->bind.addr, wr->bind.length, wr->bind.access};
}

static void set_remote(struct ibv_send_wr *w, const struct vs_send_wr *wr)
{
	if (wr->opcode == VS_WR_ATOMIC_CMP_AND_SWP || wr->opcode == VS_WR_ATOMIC_FETCH_AND_ADD) {
		w->wr.atomic.remote_addr = wr->rdma.remote_addr;
		w->wr.atomic.rkey = wr->rdma.rkey;
		w->wr.atomic.compare_add = wr->atomic.compare_add;
		w->wr.atomic.swap = wr->atomic.swap;
	} else {
		w->wr.rdma.remote_addr = wr->rdma.remote_addr;
		w->wr.rdma.rkey = wr->rdma.rkey;
	}
	if (wr->opcode == VS_WR_LOCAL_INV || wr->opcode == VS_WR_SEND_WITH_INV)
		w->invalidate_rkey = wr->invalidate_rkey;
	else if (wr->opcode == VS_WR_SEND_WITH_IMM || wr->opcode == VS_WR_RDMA_WRITE_WITH_IMM)
		w->imm_data = htonl(wr->imm_data); /* librxe refuses a bind that has any */
}

/* It has no form in ibv_post_send(3). */
static int post_atomic_write(struct ibv_qp_ex *ex, const struct ibv_send_wr *w)
{
	ex->wr_start(ex);
	ex->wr_id = w->wr_id;
	ex->wr_flags = w->send_flags;
	ex->wr_atomic_write(ex, w->wr.rdma.rkey, w->wr.rdma.remote_addr, (const void *)(uintptr_t)w->sg_list[0].addr);
	return ex->wr_complete(ex);
}

static int t_post_send(struct dr_target *dt, void *qp, const struct vs_send_wr *wr)
{
	struct vc_target *t = vc_self(dt);
	struct vh *h = qp, *mw = (void *)wr->bind.mw;
	struct ibv_sge sge[MAX_SGES];
	struct ibv_send_wr w = {.wr_id = wr->wr_id,
				.sg_list = sge,
				.num_sge = (int)wr->num_sge,
				.opcode = (enum ibv_wr_opcode)wr->opcode,
				.send_flags = wr->flags},
			   *bad = NULL;
	uint32_t bytes = copy_sges(sge, wr->sg_list, wr->num_sge);
	const uint64_t before = vc_now_ns(); /* a device in this process may send, and be held up, within the call */
	struct ibv_qp_ex *ex;
	int code;

	if (wr->opcode == VS_WR_FLUSH)
		return vc_lacks(t, "libibverbs has no FLUSH in this version");
	if (wr->flags & VS_SEND_INLINE) {
		sge[0] = (struct ibv_sge){(uintptr_t)wr->inline_data, wr->inline_len, 0};
		w.num_sge = 1;
		bytes = wr->inline_len;
	}
	set_remote(&w, wr);
	if (h->qp->qp_type == IBV_QPT_UD) {
		const struct vh *ah = (const void *)wr->ud.ah;

		if (ah != NULL && ah->ah == NULL)
			return vc_lacks(t, "an address handle that is gone is a dangling pointer here");
		set_ud(&w, wr);
	}
	if (wr->opcode == VS_WR_BIND_MW && mw->mw->type == IBV_MW_TYPE_1) {
		code = bind_type_1(h, mw, wr);
	} else if (wr->opcode == VS_WR_ATOMIC_WRITE) {
		ex = t->v->atomic_write ? t->v->call.qp_to_qp_ex(h->qp) : NULL;
		if (ex == NULL || bytes != 8 || w.num_sge != 1)
			return vc_lacks(t, "ATOMIC WRITE takes 8 bytes, and a device that knows it");
		code = post_atomic_write(ex, &w);
	} else {
		if (wr->opcode == VS_WR_BIND_MW)
			set_bind(&w, wr, mw);
		code = h->qp->context->ops.post_send(h->qp, &w, &bad);
		/* The key is the application's to keep up (ibv_bind_mw(3)): librxe says with the next bind what it was.
		 */
		if (wr->opcode == VS_WR_BIND_MW && code == 0)
			mw->rkey = mw->mw->rkey = wr->bind.rkey;
	}
	if (code < 0)
		code = errno;
	if (code == 0 && t->posted_ns == 0)
		t->posted_ns = before;
	posted(t, h->qp, wr, bytes, code);
	return vc_error(code);
}

static int t_post_recv(struct dr_target *dt, void *qp, void *srq, const struct vs_recv_wr *wr)
{
	struct vc_target *t = vc_self(dt);
	struct ibv_sge sge[MAX_SGES];
	struct ibv_recv_wr w = {.wr_id = wr->wr_id, .sg_list = sge, .num_sge = (int)wr->num_sge}, *bad = NULL;
	struct vs_event ev = {.type = srq != NULL ? VS_EV_VERB_POST_SRQ_RECV : VS_EV_VERB_POST_RECV,
			      .has_wr = true,
			      .wr_id = wr->wr_id};
	struct vh *q = qp, *s = srq;
	int code;

	ev.a[0] = copy_sges(sge, wr->sg_list, wr->num_sge);
	code = s != NULL ? s->srq->context->ops.post_srq_recv(s->srq, &w, &bad)
			 : q->qp->context->ops.post_recv(q->qp, &w, &bad);
	if (code < 0)
		code = errno;
	ev.a[1] = (uint64_t)code;
	vc_emit(t, &ev);
	return vc_error(code);
}

/* ---- completions ---- */

static int t_cq_poll(struct dr_target *dt, void *cq, struct vs_wc *wc)
{
	struct vc_target *t = vc_self(dt);
	struct vh *h = cq;
	struct vs_event ev = {.type = VS_EV_CQE, .has_wr = true};
	struct ibv_wc c;

	if (h->cq == NULL || h->cq->context->ops.poll_cq(h->cq, 1, &c) != 1)
		return 0;
	*wc = (struct vs_wc){.wr_id = c.wr_id,
			     .status = (enum vs_wc_status)c.status,
			     .opcode = (enum vs_wc_opcode)c.opcode,
			     .vendor_err = t->v->reference ? c.vendor_err : 0,
			     .byte_len = c.byte_len,
			     .imm_data = c.wc_flags & IBV_WC_WITH_IMM ? ntohl(c.imm_data) : 0,
			     .invalidated_rkey = c.wc_flags & IBV_WC_WITH_INV ? c.invalidated_rkey : 0,
			     .qp_num = c.qp_num,
			     .src_qp = c.src_qp,
			     .wc_flags = c.wc_flags,
			     .pkey_index = c.pkey_index,
			     .slid = c.slid,
			     .sl = c.sl,
			     .dlid_path_bits = c.dlid_path_bits};
	ev.wr_id = c.wr_id;
	ev.qpn = c.qp_num;
	ev.a[0] = (uint64_t)c.status;
	ev.a[1] = (uint64_t)c.opcode;
	ev.a[2] = c.byte_len;
	ev.a[3] = wc->vendor_err;
	vc_emit(t, &ev);
	t->heard++;
	return 1;
}

static void t_cq_arm(struct dr_target *dt, void *cq, bool solicited)
{
	struct vh *h = cq;

	(void)dt;
	(void)h->cq->context->ops.req_notify_cq(h->cq, solicited);
}

/* ---- events: the device is one, the runner asks for each node ---- */

static int first_engine(const struct vc_target *t)
{
	for (unsigned i = 0; i < t->setup.p->n_nodes; i++)
		if (t->setup.p->node[i].engine)
			return (int)i;
	return 0;
}

static void wait_for_its_node(struct vc_target *t, const struct vh *owner, struct vh *cq, const struct vs_async *a)
{
	struct vc_waiting *w = &t->waiting[t->n_waiting];

	if (t->n_waiting == VC_WAITING)
		return;
	*w = (struct vc_waiting){.node = owner != NULL ? owner->node : first_engine(t), .cq = cq};
	if (a != NULL)
		w->async = *a;
	t->n_waiting++;
	t->heard++;
}

/* The oldest that is for this node. */
static bool take_waiting(struct vc_target *t, int node, bool comp, struct vc_waiting *w)
{
	for (unsigned i = 0; i < t->n_waiting; i++) {
		if (t->waiting[i].node != node || (t->waiting[i].cq != NULL) != comp)
			continue;
		*w = t->waiting[i];
		memmove(&t->waiting[i], &t->waiting[i + 1], (t->n_waiting - i - 1) * sizeof(t->waiting[0]));
		t->n_waiting--;
		return true;
	}
	return false;
}

static void hear_channels(struct vc_target *t)
{
	for (struct vh *h = t->handles; h != NULL; h = h->next) {
		struct ibv_cq *cq = NULL;
		void *ctx;

		while (h->kind == O_CHANNEL && h->channel != NULL &&
		       t->v->call.get_cq_event(h->channel, &cq, &ctx) == 0) {
			struct vh *owner = vc_handle_of(t, O_CQ, cq);

			t->v->call.ack_cq_events(cq, 1);
			if (owner != NULL)
				wait_for_its_node(t, owner, owner, NULL);
		}
	}
}

static int t_comp_event(struct dr_target *dt, int node, void **found)
{
	struct vc_target *t = vc_self(dt);
	struct vc_waiting w;

	hear_channels(t);
	if (!take_waiting(t, node, true, &w))
		return 0;
	*found = w.cq;
	return 1;
}

static struct vh *object_of(struct vc_target *t, const struct ibv_async_event *ev)
{
	switch (ev->event_type) {
	case IBV_EVENT_CQ_ERR:
		return vc_handle_of(t, O_CQ, ev->element.cq);
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		return vc_handle_of(t, O_SRQ, ev->element.srq);
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		return vc_handle_of(t, O_QP, ev->element.qp);
	default:
		return NULL;
	}
}

int vc_async(struct dr_target *dt, int node, struct vs_async *a)
{
	struct vc_target *t = vc_self(dt);
	struct ibv_async_event ev;
	struct vc_waiting w;

	while (t->v->call.get_async_event(t->v->ctx, &ev) == 0) {
		struct vs_event shown = {.type = VS_EV_ASYNC, .a = {(uint64_t)ev.event_type}};
		struct vs_async got = {.type = (enum vs_async_type)ev.event_type};
		struct vh *owner = object_of(t, &ev);

		t->v->call.ack_async_event(&ev);
		if (ev.event_type == IBV_EVENT_DEVICE_FATAL)
			t->v->failed = true;
		got.object = owner;
		vc_emit(t, &shown);
		wait_for_its_node(t, owner, NULL, &got);
	}
	if (!take_waiting(t, node, false, &w))
		return 0;
	*a = w.async;
	return 1;
}

/* ---- what libibverbs has no calls for ---- */

static enum vs_reason t_reason(struct dr_target *dt, int node)
{
	(void)dt;
	(void)node;
	return VS_REASON_NONE;
}

static int t_conn_event(struct dr_target *dt, int node, struct vs_conn_event *e)
{
	(void)dt;
	(void)node;
	(void)e;
	return 0;
}

/* Scripts that connect need `cm`, and never come here; those that do not say so do. */
static int no_connections(struct dr_target *dt)
{
	return vc_lacks(vc_self(dt), VC_NO_CM);
}

static int t_listen(struct dr_target *dt, int node, uint64_t service, uint64_t cookie)
{
	(void)node;
	(void)service;
	(void)cookie;
	return no_connections(dt);
}

static int t_connect(struct dr_target *dt, int node, const struct vs_conn_param *p, void **conn)
{
	(void)node;
	(void)p;
	*conn = NULL;
	return no_connections(dt);
}

static int t_accept(struct dr_target *dt, void *conn, const struct vs_conn_param *p)
{
	(void)conn;
	(void)p;
	return no_connections(dt);
}

static int t_establish(struct dr_target *dt, void *conn)
{
	(void)conn;
	return no_connections(dt);
}

static int t_reject(struct dr_target *dt, void *conn, uint16_t reason, const void *private_data, uint8_t len)
{
	(void)conn;
	(void)reason;
	(void)private_data;
	(void)len;
	return no_connections(dt);
}

static int t_mra(struct dr_target *dt, void *conn, uint8_t service_timeout)
{
	(void)conn;
	(void)service_timeout;
	return no_connections(dt);
}

static int t_sidr_reply(struct dr_target *dt, void *conn, uint32_t status, const struct vs_conn_param *p)
{
	(void)conn;
	(void)status;
	(void)p;
	return no_connections(dt);
}

static int t_conn_attr(struct dr_target *dt, void *conn, enum vs_qp_state to, const struct vs_conn_param *p,
		       struct vs_qp_attr *a, uint32_t *mask)
{
	(void)conn;
	(void)to;
	(void)p;
	(void)a;
	(void)mask;
	return no_connections(dt);
}

void vc_work_ops(struct dr_target_ops *ops)
{
	ops->post_send = t_post_send;
	ops->post_recv = t_post_recv;
	ops->cq_poll = t_cq_poll;
	ops->cq_arm = t_cq_arm;
	ops->comp_event = t_comp_event;
	ops->async = vc_async;
	ops->reason = t_reason;
	ops->listen = t_listen;
	ops->connect = t_connect;
	ops->accept = t_accept;
	ops->establish = t_establish;
	ops->reject = t_reject;
	ops->mra = t_mra;
	ops->sidr_resolve = t_connect;
	ops->sidr_reply = t_sidr_reply;
	ops->disconnect = t_establish;
	ops->conn_event = t_conn_event;
	ops->conn_attr = t_conn_attr;
}
