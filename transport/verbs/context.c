/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * context.c - what the inline functions of verbs.h find in a context: the old table of operations, where an empty
 * place crashes the program, and the new one, where an empty place is an honest EOPNOTSUPP.
 */
#include <string.h>

#include "verbs/ref.h"

#undef ibv_query_port

/* Without a check in verbs.h, so it must be there. */
static int close_xrcd(struct ibv_xrcd *xrcd)
{
	(void)xrcd;
	return EOPNOTSUPP;
}

static int modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr)
{
	(void)cq;
	(void)attr;
	return EOPNOTSUPP;
}

/* ---- inherited by a child that has an engine of its own ---- */

static int dead_poll(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	(void)cq;
	(void)n;
	(void)wc;
	return -1;
}

static int dead_notify(struct ibv_cq *cq, int solicited_only)
{
	(void)cq;
	(void)solicited_only;
	return EIO;
}

static int dead_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	(void)qp;
	*bad = wr;
	return EIO;
}

static int dead_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	(void)qp;
	*bad = wr;
	return EIO;
}

static int dead_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	(void)srq;
	*bad = wr;
	return EIO;
}

void ref_context_dead(struct verbs_context *v)
{
	struct ibv_context_ops *o = &v->context.ops;

	o->poll_cq = dead_poll;
	o->req_notify_cq = dead_notify;
	o->post_srq_recv = dead_srq_recv;
	o->post_send = dead_send;
	o->post_recv = dead_recv;
}

void ref_context_ops(struct verbs_context *v)
{
	struct ibv_context_ops *o = &v->context.ops;

	o->_compat_query_device = ibv_query_device;
	o->_compat_query_port = ibv_query_port;
	o->alloc_mw = ref_alloc_mw;
	o->bind_mw = ref_bind_mw;
	o->dealloc_mw = ref_dealloc_mw;
	o->poll_cq = ref_poll_cq;
	o->req_notify_cq = ref_req_notify_cq;
	o->post_srq_recv = ref_post_srq_recv;
	o->post_send = ref_post_send;
	o->post_recv = ref_post_recv;

	v->sz = sizeof(*v);
	v->context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	v->query_port = ref_query_port;
	v->query_device_ex = ref_query_device_ex;
	v->query_rt_values = ref_query_rt_values;
	v->create_cq_ex = ref_create_cq_ex;
	v->modify_cq = modify_cq;
	v->create_qp_ex = ref_create_qp_ex;
	v->create_srq_ex = ref_create_srq_ex;
	v->get_srq_num = ref_get_srq_num;
	v->close_xrcd = close_xrcd;
	v->alloc_td = ref_alloc_td;
	v->dealloc_td = ref_dealloc_td;
	v->alloc_parent_domain = ref_alloc_parent_domain;
}
