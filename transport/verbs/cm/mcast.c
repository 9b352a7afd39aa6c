/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * mcast.c - multicast groups. On RoCE no subnet manager is asked: the group's GID is its IP address.
 */
#include <stdlib.h>
#include <string.h>

#include "verbs/cm/cm.h"

#define MULTICAST_QPN 0xffffffu

static struct cm_mcast *new_group(const struct sockaddr *addr, uint32_t flags, void *context)
{
	struct cm_mcast *m = calloc(1, sizeof(*m));

	if (m == NULL)
		return NULL;
	memcpy(&m->addr, addr, cm_addr_len(addr));
	m->context = context;
	m->send_only = flags == RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER;
	cm_gid_of(m->mgid.raw, addr);
	return m;
}

static struct cm_event *joined_event(struct cm_id *id, struct cm_mcast *m)
{
	struct cm_event *e = cm_event_new(id, RDMA_CM_EVENT_MULTICAST_JOIN, 0);
	struct rdma_ud_param *p;

	if (e == NULL)
		return NULL;
	p = &e->event.param.ud;
	p->ah_attr.is_global = 1;
	p->ah_attr.port_num = 1;
	p->ah_attr.grh.dgid = m->mgid;
	p->ah_attr.grh.sgid_index = id->sgid_index;
	p->ah_attr.grh.hop_limit = 1;
	p->ah_attr.grh.traffic_class = id->tos;
	p->qp_num = MULTICAST_QPN;
	p->qkey = id->qkey;
	p->private_data = m->context; /* as librdmacm: the context of the join */
	e->group = m;
	return e;
}

static int join(struct rdma_cm_id *rid, const struct sockaddr *addr, uint32_t flags, void *context)
{
	struct cm_id *id = cm_id(rid);
	struct cm_mcast *m;
	struct cm_event *e;

	if (addr == NULL || cm_addr_len(addr) == 0 || rid->verbs == NULL || !cm_is_ud(id) ||
	    flags > RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER)
		return cm_fail(EINVAL);
	m = new_group(addr, flags, context);
	e = m != NULL ? joined_event(id, m) : NULL;
	if (e == NULL || !cm_enter()) {
		free(m);
		free(e);
		return -1;
	}
	m->next = id->groups;
	id->groups = m;
	cm_event_push(e);
	cm_leave();
	return cm_complete(id);
}

int rdma_join_multicast(struct rdma_cm_id *id, struct sockaddr *addr, void *context)
{
	return join(id, addr, RDMA_MC_JOIN_FLAG_FULLMEMBER, context);
}

int rdma_join_multicast_ex(struct rdma_cm_id *id, struct rdma_cm_join_mc_attr_ex *mc_join_attr, void *context)
{
	const uint32_t wanted = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS;

	if (mc_join_attr->comp_mask != wanted)
		return cm_fail(EINVAL);
	return join(id, mc_join_attr->addr, mc_join_attr->join_flags, context);
}

int cm_mcast_joined(struct cm_event *e)
{
	struct cm_mcast *m = e->group;
	int rc;

	if (e->event.id->qp == NULL || m->send_only)
		return 0;
	rc = ibv_attach_mcast(e->event.id->qp, &m->mgid, 0);
	m->attached = rc == 0;
	return rc;
}

static void leave(struct cm_id *id, struct cm_mcast *m)
{
	if (m->attached && id->id.qp != NULL)
		(void)ibv_detach_mcast(id->id.qp, &m->mgid, 0);
	free(m);
}

int rdma_leave_multicast(struct rdma_cm_id *rid, struct sockaddr *addr)
{
	struct cm_mcast **at = &cm_id(rid)->groups, *m = NULL;

	if (addr == NULL || cm_addr_len(addr) == 0)
		return cm_fail(EINVAL);
	if (!cm_enter())
		return -1;
	while (*at != NULL && memcmp(&(*at)->addr, addr, cm_addr_len(addr)) != 0)
		at = &(*at)->next;
	m = *at;
	if (m != NULL)
		*at = m->next;
	cm_leave();
	if (m == NULL)
		return cm_fail(EADDRNOTAVAIL);
	leave(cm_id(rid), m);
	return 0;
}

void cm_mcast_leave_all(struct cm_id *id)
{
	struct cm_mcast *m;

	while ((m = id->groups) != NULL) {
		id->groups = m->next;
		leave(id, m);
	}
}
