/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * qp.c - QPs that belong to an id: made in INIT (UD: in RTS), moved on when the connection comes about. CQs are made
 * where the program brings none.
 */
#include <stdlib.h>
#include <string.h>

#include "verbs/cm/cm.h"

/* ---- the way to RTS ---- */

static int before_connection(struct cm_id *id, struct ibv_qp_attr *attr, int *mask)
{
	if (attr->qp_state != IBV_QPS_INIT)
		return EINVAL;
	attr->pkey_index = 0;
	attr->port_num = 1;
	*mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
	if (cm_is_ud(id)) {
		attr->qkey = id->qkey;
		*mask |= IBV_QP_QKEY;
	} else {
		attr->qp_access_flags = 0;
		*mask |= IBV_QP_ACCESS_FLAGS;
	}
	return 0;
}

/* Until the REP is sent, the engine does not know what we answer. */
static void own_terms(const struct cm_id *id, struct ibv_qp_attr *attr)
{
	attr->max_dest_rd_atomic = id->responder_resources;
	attr->max_rd_atomic = id->initiator_depth;
	attr->rq_psn = id->psn; /* what we name in the REP is where the other side begins */
}

int rdma_init_qp_attr(struct rdma_cm_id *rid, struct ibv_qp_attr *qp_attr, int *qp_attr_mask)
{
	struct cm_id *id = cm_id(rid);
	int rc;

	if (!cm_enter())
		return -1;
	if (id->conn == NULL || cm_is_ud(id))
		rc = before_connection(id, qp_attr, qp_attr_mask);
	else
		rc = cm.link->qp_attr(id->dev->vs, id->conn, qp_attr->qp_state, qp_attr, qp_attr_mask);
	if (rc == 0 && id->conn != NULL && !id->active)
		own_terms(id, qp_attr);
	if (rc == 0 && (*qp_attr_mask & IBV_QP_MIN_RNR_TIMER))
		qp_attr->min_rnr_timer = CM_MIN_RNR_TIMER;
	cm_leave();
	if (rc == 0 && rid->qp != NULL && rid->qp->qp_type == IBV_QPT_UC)
		*qp_attr_mask &= ~(IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER | IBV_QP_TIMEOUT |
				   IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC);
	return cm_fail(rc);
}

static int move_to(struct cm_id *id, enum ibv_qp_state state, int responder_resources, int initiator_depth)
{
	struct ibv_qp_attr attr = {.qp_state = state};
	int mask = 0;

	if (rdma_init_qp_attr(&id->id, &attr, &mask) != 0)
		return -1;
	if (responder_resources >= 0)
		attr.max_dest_rd_atomic = (uint8_t)responder_resources;
	if (initiator_depth >= 0)
		attr.max_rd_atomic = (uint8_t)initiator_depth;
	return cm_fail(ibv_modify_qp(id->id.qp, &attr, mask));
}

int cm_qp_to_rtr(struct cm_id *id, int responder_resources)
{
	if (id->id.qp == NULL)
		return cm_fail(EINVAL);
	/* Once more to INIT: now it is known what the peer may do. */
	if (move_to(id, IBV_QPS_INIT, -1, -1) != 0)
		return -1;
	return move_to(id, IBV_QPS_RTR, responder_resources, -1);
}

int cm_qp_to_rts(struct cm_id *id, int initiator_depth)
{
	return move_to(id, IBV_QPS_RTS, -1, initiator_depth);
}

int cm_qp_to_err(struct cm_id *id)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	return id->id.qp != NULL ? cm_fail(ibv_modify_qp(id->id.qp, &attr, IBV_QP_STATE)) : 0;
}

static int init_ud(struct cm_id *id, struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT};
	int mask, rc;

	if (rdma_init_qp_attr(&id->id, &attr, &mask) != 0)
		return -1;
	rc = ibv_modify_qp(qp, &attr, mask);
	attr.qp_state = IBV_QPS_RTR;
	if (rc == 0)
		rc = ibv_modify_qp(qp, &attr, IBV_QP_STATE);
	attr.qp_state = IBV_QPS_RTS;
	attr.sq_psn = 0;
	if (rc == 0)
		rc = ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
	return cm_fail(rc);
}

static int init_connected(struct cm_id *id, struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT};
	int mask;

	if (rdma_init_qp_attr(&id->id, &attr, &mask) != 0)
		return -1;
	return cm_fail(ibv_modify_qp(qp, &attr, mask));
}

/* ---- queues ---- */

static int create_cq(struct rdma_cm_id *id, uint32_t size, struct ibv_comp_channel **channel, struct ibv_cq **cq)
{
	*channel = ibv_create_comp_channel(id->verbs);
	if (*channel == NULL)
		return -1;
	*cq = ibv_create_cq(id->verbs, size > 0 ? (int)size : 1, id, *channel, 0);
	return *cq != NULL ? 0 : -1;
}

void cm_destroy_cqs(struct rdma_cm_id *id)
{
	if (id->recv_cq != NULL)
		ibv_destroy_cq(id->recv_cq);
	if (id->send_cq != NULL && id->send_cq != id->recv_cq)
		ibv_destroy_cq(id->send_cq);
	if (id->recv_cq_channel != NULL)
		ibv_destroy_comp_channel(id->recv_cq_channel);
	if (id->send_cq_channel != NULL && id->send_cq_channel != id->recv_cq_channel)
		ibv_destroy_comp_channel(id->send_cq_channel);
	id->recv_cq = id->send_cq = NULL;
	id->recv_cq_channel = id->send_cq_channel = NULL;
}

static int give_cqs(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *a)
{
	int rc = 0;

	if (a->recv_cq == NULL && id->recv_cq == NULL)
		rc = create_cq(id, a->cap.max_recv_wr, &id->recv_cq_channel, &id->recv_cq);
	if (rc == 0 && a->send_cq == NULL && id->send_cq == NULL)
		rc = create_cq(id, a->cap.max_send_wr, &id->send_cq_channel, &id->send_cq);
	if (a->recv_cq == NULL)
		a->recv_cq = id->recv_cq;
	if (a->send_cq == NULL)
		a->send_cq = id->send_cq;
	return rc;
}

static int make_qp(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *a)
{
	struct ibv_qp *qp;
	int rc;

	if (id->srq != NULL && a->srq == NULL)
		a->srq = id->srq;
	qp = give_cqs(id, a) == 0 ? ibv_create_qp_ex(id->verbs, a) : NULL;
	rc = qp == NULL ? -1 : cm_is_ud(cm_id(id)) ? init_ud(cm_id(id), qp) : init_connected(cm_id(id), qp);
	if (rc != 0) {
		int why = errno;

		if (qp != NULL)
			ibv_destroy_qp(qp);
		cm_destroy_cqs(id);
		errno = why;
		return -1;
	}
	id->pd = qp->pd;
	id->qp = qp;
	return 0;
}

int rdma_create_qp_ex(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *qp_init_attr)
{
	struct ibv_qp_init_attr_ex *a = qp_init_attr;

	if (id->qp != NULL || id->verbs == NULL)
		return cm_fail(EINVAL);
	if (!(a->comp_mask & IBV_QP_INIT_ATTR_PD) || a->pd == NULL) {
		a->comp_mask |= IBV_QP_INIT_ATTR_PD;
		a->pd = id->pd;
	} else if (a->pd->context != id->verbs) {
		return cm_fail(EINVAL);
	}
	if ((id->recv_cq != NULL && a->recv_cq != NULL && id->recv_cq != a->recv_cq) ||
	    (id->send_cq != NULL && a->send_cq != NULL && id->send_cq != a->send_cq))
		return cm_fail(EINVAL);
	return make_qp(id, a);
}

int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *qp_init_attr)
{
	struct ibv_qp_init_attr_ex ex = {0};
	int rc;

	memcpy(&ex, qp_init_attr, sizeof(*qp_init_attr)); /* the extended one begins with it */
	ex.comp_mask = IBV_QP_INIT_ATTR_PD;
	ex.pd = pd != NULL ? pd : id->pd;
	rc = rdma_create_qp_ex(id, &ex);
	if (rc == 0)
		memcpy(qp_init_attr, &ex, sizeof(*qp_init_attr));
	return rc;
}

void rdma_destroy_qp(struct rdma_cm_id *id)
{
	if (id->qp != NULL)
		ibv_destroy_qp(id->qp);
	id->qp = NULL;
	cm_destroy_cqs(id);
}

/* ---- shared receive queues ---- */

int rdma_create_srq_ex(struct rdma_cm_id *id, struct ibv_srq_init_attr_ex *attr)
{
	if (id->srq != NULL || id->verbs == NULL)
		return cm_fail(EINVAL);
	if (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_PD) || attr->pd == NULL) {
		attr->comp_mask |= IBV_SRQ_INIT_ATTR_PD;
		attr->pd = id->pd;
	}
	id->srq = ibv_create_srq_ex(id->verbs, attr);
	if (id->srq == NULL)
		return -1;
	id->pd = attr->pd;
	return 0;
}

int rdma_create_srq(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	struct ibv_srq_init_attr_ex ex = {0};
	int rc;

	memcpy(&ex, attr, sizeof(*attr)); /* the extended one begins with it */
	ex.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;
	ex.srq_type = IBV_SRQT_BASIC;
	ex.pd = pd != NULL ? pd : id->pd;
	rc = rdma_create_srq_ex(id, &ex);
	if (rc == 0)
		memcpy(attr, &ex, sizeof(*attr));
	return rc;
}

void rdma_destroy_srq(struct rdma_cm_id *id)
{
	if (id->srq != NULL)
		ibv_destroy_srq(id->srq);
	id->srq = NULL;
}
