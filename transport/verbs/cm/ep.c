/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * ep.c - endpoints: an id, its addresses and its QP in one call, without event channels.
 */
#include <stdlib.h>

#include "verbs/cm/cm.h"

static int passive(struct cm_id *id, const struct rdma_addrinfo *res, struct ibv_pd *pd,
		   struct ibv_qp_init_attr *qp_init_attr)
{
	if (rdma_bind_addr(&id->id, res->ai_src_addr) != 0)
		return -1;
	if (pd != NULL)
		id->id.pd = pd;
	if (qp_init_attr == NULL)
		return 0;
	qp_init_attr->qp_type = (enum ibv_qp_type)res->ai_qp_type;
	id->qp_init_attr = malloc(sizeof(*qp_init_attr));
	if (id->qp_init_attr == NULL)
		return -1;
	*id->qp_init_attr = *qp_init_attr;
	return 0;
}

static int active(struct rdma_cm_id *id, const struct rdma_addrinfo *res, struct ibv_pd *pd,
		  struct ibv_qp_init_attr *qp_init_attr)
{
	if (rdma_resolve_addr(id, res->ai_src_addr, res->ai_dst_addr, 2000) != 0 || rdma_resolve_route(id, 2000) != 0)
		return -1;
	if (pd != NULL)
		id->pd = pd;
	if (qp_init_attr == NULL)
		return 0;
	qp_init_attr->qp_type = (enum ibv_qp_type)res->ai_qp_type;
	return rdma_create_qp(id, pd, qp_init_attr);
}

int rdma_create_ep(struct rdma_cm_id **id, struct rdma_addrinfo *res, struct ibv_pd *pd,
		   struct ibv_qp_init_attr *qp_init_attr)
{
	struct rdma_cm_id *made;
	int rc;

	if (id == NULL || res == NULL)
		return cm_fail(EINVAL);
	if (cm_id_create(NULL, &made, NULL, (enum rdma_port_space)res->ai_port_space,
			 (enum ibv_qp_type)res->ai_qp_type) != 0)
		return -1;
	rc = res->ai_flags & RAI_PASSIVE ? passive(cm_id(made), res, pd, qp_init_attr)
					 : active(made, res, pd, qp_init_attr);
	if (rc != 0) {
		int why = errno;

		rdma_destroy_ep(made);
		errno = why;
		return -1;
	}
	*id = made;
	return 0;
}

void rdma_destroy_ep(struct rdma_cm_id *id)
{
	rdma_destroy_qp(id);
	rdma_destroy_srq(id);
	(void)rdma_destroy_id(id);
}

static int give_qp(struct rdma_cm_id *listen, struct rdma_cm_event *event)
{
	struct ibv_qp_init_attr attr;

	if (event->status != 0)
		return cm_fail(abs(event->status));
	if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST)
		return cm_fail(EINVAL);
	if (cm_id(listen)->qp_init_attr == NULL)
		return 0;
	attr = *cm_id(listen)->qp_init_attr;
	return rdma_create_qp(event->id, listen->pd, &attr);
}

int rdma_get_request(struct rdma_cm_id *listen, struct rdma_cm_id **id)
{
	struct rdma_cm_event *event;

	if (!cm_id(listen)->sync)
		return cm_fail(EINVAL);
	if (listen->event != NULL) {
		(void)rdma_ack_cm_event(listen->event);
		listen->event = NULL;
	}
	if (rdma_get_cm_event(listen->channel, &event) != 0)
		return -1;
	if (give_qp(listen, event) != 0) {
		int why = errno;
		struct rdma_cm_id *requested = event->event == RDMA_CM_EVENT_CONNECT_REQUEST ? event->id : NULL;

		(void)rdma_ack_cm_event(event);
		if (requested != NULL)
			rdma_destroy_ep(requested);
		errno = why;
		return -1;
	}
	*id = event->id;
	(*id)->event = event;
	return 0;
}
