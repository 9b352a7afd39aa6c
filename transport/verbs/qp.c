/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * qp.c - queue pairs: create, modify, query, destroy; multicast groups.
 */
#include <stdlib.h>
#include <string.h>

#include "verbs/ref.h"

/* ---- creating ---- */

static int type_of(enum ibv_qp_type type, enum vs_qp_type *out)
{
	switch (type) {
	case IBV_QPT_RC:
	case IBV_QPT_UC:
	case IBV_QPT_UD:
		*out = (enum vs_qp_type)type;
		return 0;
	case IBV_QPT_RAW_PACKET:
	case IBV_QPT_XRC_SEND:
	case IBV_QPT_XRC_RECV:
	case IBV_QPT_DRIVER:
		return EOPNOTSUPP;
	default:
		return EINVAL;
	}
}

static bool same_device(struct ibv_pd *pd, const struct ibv_qp_init_attr_ex *a)
{
	const struct vs_dev *dev = ref_pd(pd)->dev;

	return (a->send_cq == NULL || ref_dev(a->send_cq->context) == dev) &&
	       (a->recv_cq == NULL || ref_dev(a->recv_cq->context) == dev) &&
	       (a->srq == NULL || ref_dev(a->srq->context) == dev);
}

static int make(struct ref_qp *qp, struct ibv_pd *pd, struct ibv_qp_init_attr_ex *a)
{
	struct vs_qp_init init = {.send_cq = a->send_cq != NULL ? ref_cq(a->send_cq)->vs : NULL,
				  .recv_cq = a->recv_cq != NULL ? ref_cq(a->recv_cq)->vs : NULL,
				  .srq = a->srq != NULL ? ref_srq(a->srq)->vs : NULL,
				  .cap = {a->cap.max_send_wr, a->cap.max_recv_wr, a->cap.max_send_sge,
					  a->cap.max_recv_sge, a->cap.max_inline_data},
				  .sq_sig_all = a->sq_sig_all != 0,
				  .cookie = (uintptr_t)qp};
	int rc = type_of(a->qp_type, &init.type), err = VS_ERR_INVAL;

	if (rc == 0 && !same_device(pd, a))
		rc = ref_mixed("ibv_create_qp");
	if (rc != 0)
		return rc;
	if (a->srq != NULL)
		init.cap.max_recv_wr = init.cap.max_recv_sge = 0;
	if (!ref_enter())
		return errno;
	qp->vs = vs_qp_create(ref_pd(pd)->vs, &init, &err);
	if (qp->vs == NULL)
		rc = ref_error(ref_pd(pd)->dev, "ibv_create_qp", err);
	else
		qp->qp.qp_num = vs_qp_num(qp->vs);
	if (qp->vs != NULL)
		ref_context(pd->context)->objects++;
	ref_leave_quiet();
	return rc;
}

static struct ibv_qp *create(struct ibv_pd *pd, struct ibv_qp_init_attr_ex *a)
{
	bool send_ops = (a->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0;
	struct ref_qp *qp = calloc(1, sizeof(*qp));
	int rc;

	/* ibv_wr_atomic_write brings its eight bytes along. */
	if (send_ops && (a->send_ops_flags & IBV_QP_EX_WITH_ATOMIC_WRITE) && a->cap.max_inline_data < 8)
		a->cap.max_inline_data = 8;
	rc = qp != NULL ? make(qp, pd, a) : ENOMEM;
	if (rc == 0 && send_ops) {
		rc = ref_wr_init(qp, a->send_ops_flags);
		if (rc != 0 && ref_enter()) {
			(void)vs_qp_destroy(qp->vs);
			ref_context(pd->context)->objects--;
			ref_leave_quiet();
		}
	}
	if (rc != 0) {
		free(qp);
		errno = rc;
		return NULL;
	}
	if (a->srq != NULL)
		a->cap.max_recv_wr = a->cap.max_recv_sge = 0;
	qp->qp.context = pd->context;
	qp->qp.qp_context = a->qp_context;
	qp->qp.pd = pd;
	qp->qp.send_cq = a->send_cq;
	qp->qp.recv_cq = a->recv_cq;
	qp->qp.srq = a->srq;
	qp->qp.handle = qp->qp.qp_num;
	qp->qp.state = IBV_QPS_RESET;
	qp->qp.qp_type = a->qp_type;
	pthread_mutex_init(&qp->qp.mutex, NULL);
	pthread_cond_init(&qp->qp.cond, NULL);
	return &qp->qp;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *qp_init_attr)
{
	struct ibv_qp_init_attr_ex ex = {0};
	struct ibv_qp *qp;

	memcpy(&ex, qp_init_attr, sizeof(*qp_init_attr)); /* the extended one begins with it */
	qp = create(pd, &ex);
	if (qp != NULL)
		qp_init_attr->cap = ex.cap;
	return qp;
}

struct ibv_qp *ref_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	const uint32_t known = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS | IBV_QP_INIT_ATTR_CREATE_FLAGS;

	(void)context;
	if ((attr->comp_mask & ~known) ||
	    ((attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) && attr->create_flags != 0)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD) || attr->pd == NULL) {
		errno = EINVAL;
		return NULL;
	}
	return create(attr->pd, attr);
}

int ibv_destroy_qp(struct ibv_qp *ibqp)
{
	struct ref_qp *qp = ref_qp(ibqp);
	int rc;

	if (!ref_enter())
		return errno;
	ref_deliver_events();
	rc = ref_error(ref_qp_dev(ibqp), "ibv_destroy_qp", vs_qp_destroy(qp->vs));
	if (rc == 0) {
		ref_context(ibqp->context)->objects--;
		ref_events_forget(&ref_context(ibqp->context)->async, qp);
	}
	ref_leave_quiet();
	if (rc != 0)
		return rc;
	pthread_mutex_lock(&ibqp->mutex);
	while (ibqp->events_completed != qp->async_events)
		pthread_cond_wait(&ibqp->cond, &ibqp->mutex);
	pthread_mutex_unlock(&ibqp->mutex);
	pthread_mutex_destroy(&ibqp->mutex);
	pthread_cond_destroy(&ibqp->cond);
	ref_wr_fini(qp);
	free(qp->groups);
	free(qp);
	return 0;
}

/* ---- modify and query ---- */

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *a, int attr_mask)
{
	struct vs_qp_attr attr = {.state = (enum vs_qp_state)a->qp_state,
				  .cur_state = (enum vs_qp_state)a->cur_qp_state,
				  .path_mtu = (enum vs_mtu)a->path_mtu,
				  .qkey = a->qkey,
				  .rq_psn = a->rq_psn,
				  .sq_psn = a->sq_psn,
				  .dest_qpn = a->dest_qp_num,
				  .access_flags = a->qp_access_flags & ~(unsigned)IBV_ACCESS_OPTIONAL_RANGE,
				  .pkey_index = a->pkey_index,
				  .en_sqd_async_notify = a->en_sqd_async_notify,
				  .max_rd_atomic = a->max_rd_atomic,
				  .max_dest_rd_atomic = a->max_dest_rd_atomic,
				  .min_rnr_timer = a->min_rnr_timer,
				  .port_num = a->port_num,
				  .timeout = a->timeout,
				  .retry_cnt = a->retry_cnt,
				  .rnr_retry = a->rnr_retry};
	int rc;

	if (attr_mask & IBV_QP_AV)
		ref_av(&attr.av, &a->ah_attr);
	if (!ref_enter())
		return errno;
	rc = ref_error(ref_qp_dev(qp), "ibv_modify_qp", vs_qp_modify(ref_qp(qp)->vs, &attr, (uint32_t)attr_mask));
	qp->state = (enum ibv_qp_state)vs_qp_state(ref_qp(qp)->vs);
	if (rc == 0 && qp->state == IBV_QPS_RESET) {
		vs_cq_forget(ref_cq(qp->send_cq)->vs, qp->qp_num);
		vs_cq_forget(ref_cq(qp->recv_cq)->vs, qp->qp_num);
	}
	ref_leave();
	return rc;
}

static void fill_attr(struct ibv_qp_attr *to, const struct vs_qp_attr *a, const struct vs_qp_init *init)
{
	memset(to, 0, sizeof(*to));
	to->qp_state = (enum ibv_qp_state)a->state;
	to->cur_qp_state = (enum ibv_qp_state)a->cur_state;
	to->path_mtu = (enum ibv_mtu)a->path_mtu;
	to->path_mig_state = IBV_MIG_MIGRATED;
	to->qkey = a->qkey;
	to->rq_psn = a->rq_psn;
	to->sq_psn = a->sq_psn;
	to->dest_qp_num = a->dest_qpn;
	to->qp_access_flags = a->access_flags;
	to->cap = (struct ibv_qp_cap){init->cap.max_send_wr, init->cap.max_recv_wr, init->cap.max_send_sge,
				      init->cap.max_recv_sge, init->cap.max_inline_data};
	ref_ah_attr(&to->ah_attr, &a->av);
	to->pkey_index = a->pkey_index;
	to->en_sqd_async_notify = a->en_sqd_async_notify;
	to->sq_draining = a->sq_draining;
	to->max_rd_atomic = a->max_rd_atomic;
	to->max_dest_rd_atomic = a->max_dest_rd_atomic;
	to->min_rnr_timer = a->min_rnr_timer;
	to->port_num = a->port_num;
	to->timeout = a->timeout;
	to->retry_cnt = a->retry_cnt;
	to->rnr_retry = a->rnr_retry;
}

int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask, struct ibv_qp_init_attr *init_attr)
{
	struct vs_qp_attr a;
	struct vs_qp_init init;

	(void)attr_mask; /* everything is at hand */
	if (!ref_enter())
		return errno;
	if (ref.sim != NULL) /* who waits for another state sees time pass */
		(void)ref_virtual_look();
	vs_qp_query(ref_qp(qp)->vs, &a, &init);
	ref_leave_quiet();
	fill_attr(attr, &a, &init);
	qp->state = attr->qp_state;
	if (init_attr != NULL)
		*init_attr = (struct ibv_qp_init_attr){.qp_context = qp->qp_context,
						       .send_cq = qp->send_cq,
						       .recv_cq = qp->recv_cq,
						       .srq = qp->srq,
						       .cap = attr->cap,
						       .qp_type = qp->qp_type,
						       .sq_sig_all = init.sq_sig_all};
	return 0;
}

int ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags)
{
	/* Packets are taken in PSN order and copied from the first byte to the last. */
	return qp->qp_type == IBV_QPT_RC && flags == 0 &&
	       (op == IBV_WR_RDMA_WRITE || op == IBV_WR_RDMA_WRITE_WITH_IMM || op == IBV_WR_SEND ||
		op == IBV_WR_RDMA_READ);
}

/* Enhanced connection establishment: this vendor offers nothing to agree on. */
int ibv_set_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	(void)qp;
	return ece->vendor_id == 0 && ece->options == 0 ? 0 : EOPNOTSUPP;
}

int ibv_query_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	(void)qp;
	memset(ece, 0, sizeof(*ece));
	return 0;
}

struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
	return ref_qp(qp)->is_ex ? &ref_qp(qp)->ex : NULL;
}

/* ---- multicast: members of this process are the engine's business, those of others the wire's ---- */

/* Where the group stands in the QP's list; -1. */
static int group_index(const struct ref_qp *qp, const uint8_t gid[16])
{
	for (unsigned i = 0; i < qp->n_groups; i++)
		if (memcmp(qp->groups[i], gid, 16) == 0)
			return (int)i;
	return -1;
}

static int attach(struct ref_qp *qp, const uint8_t gid[16], uint16_t lid)
{
	uint8_t(*more)[16] = realloc(qp->groups, (qp->n_groups + 1) * sizeof(*more));
	int rc;

	if (more == NULL)
		return ENOMEM;
	qp->groups = more;
	rc = ref_error(ref_qp_dev(&qp->qp), "ibv_attach_mcast", vs_qp_attach_mcast(qp->vs, gid, lid));
	if (rc != 0)
		return rc;
	rc = ref.wire->ops->join != NULL ? ref.wire->ops->join(ref.wire, gid) : 0;
	if (rc != 0) {
		(void)vs_qp_detach_mcast(qp->vs, gid, lid);
		return rc;
	}
	memcpy(qp->groups[qp->n_groups++], gid, 16);
	return 0;
}

int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	int rc = 0;

	if (!ref_enter())
		return errno;
	if (group_index(ref_qp(qp), gid->raw) < 0)
		rc = attach(ref_qp(qp), gid->raw, lid);
	ref_leave_quiet();
	return rc;
}

int ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	int rc;

	if (!ref_enter())
		return errno;
	rc = ref_error(ref_qp_dev(qp), "ibv_detach_mcast", vs_qp_detach_mcast(ref_qp(qp)->vs, gid->raw, lid));
	if (rc == 0) {
		struct ref_qp *q = ref_qp(qp);
		int i = group_index(q, gid->raw);

		q->n_groups--;
		if (i >= 0)
			memmove(q->groups[i], q->groups[q->n_groups], 16);
		if (ref.wire->ops->leave != NULL)
			ref.wire->ops->leave(ref.wire, gid->raw);
	}
	ref_leave_quiet();
	return rc;
}
