/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * connect.c - listen, connect, accept, reject, disconnect. The numbers (time-outs, retries, what is asked for when the
 * program says nothing) are those of Linux; the private data of REQ and SIDR_REQ begin with the header of Annex A11.
 */
#define _GNU_SOURCE /* memfd_create */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "verbs/cm/cm.h"

/* ---- listening ---- */

static struct cm_service *find_service(uint64_t service_id)
{
	struct cm_service *s = cm.services;

	while (s != NULL && s->service_id != service_id)
		s = s->next;
	return s;
}

static void unlisten(struct cm_service *s)
{
	for (int i = 0; i < cm.n_devices; i++)
		if (s->vs[i] != NULL)
			cm.link->unlisten(s->vs[i]);
}

static struct cm_service *new_service(uint64_t service_id, int *rc)
{
	struct cm_service *s = calloc(1, sizeof(*s));
	int err;

	for (int i = 0; s != NULL && i < cm.n_devices; i++) {
		s->vs[i] = cm.link->listen(cm.device[i].vs, service_id, (uintptr_t)s, &err);
		if (s->vs[i] != NULL)
			continue;
		*rc = cm.link->error(cm.device[i].vs, "rdma_listen", err);
		unlisten(s);
		free(s);
		return NULL;
	}
	if (s == NULL) {
		*rc = ENOMEM;
		return NULL;
	}
	s->service_id = service_id;
	for (int i = 0; i < CM_NAMES; i++) {
		const struct vs_gid_entry *e = &cm_dev_attr(&cm.device[0])->gids[i];

		s->name[i] = e->type != VS_GID_NONE ? cm_host_listen(service_id, e->gid) : -1;
	}
	s->next = cm.services;
	cm.services = s;
	if (cm.listening < 0)
		cm.listening = memfd_create("verbscope-listens", MFD_CLOEXEC);
	return s;
}

int rdma_listen(struct rdma_cm_id *rid, int backlog)
{
	struct cm_id *id = cm_id(rid);
	uint64_t service_id;
	int rc = 0;

	if (cm_bind_any(id, AF_INET) != 0 || !cm_enter())
		return -1;
	service_id = cm_service_id(id, cm_src(id));
	if (id->service != NULL || id->conn != NULL)
		rc = EINVAL;
	if (rc == 0) {
		id->service = find_service(service_id);
		if (id->service == NULL)
			id->service = new_service(service_id, &rc);
		if (id->service != NULL)
			id->service->users++;
		id->backlog = backlog > 0 && backlog < CM_BACKLOG ? backlog : CM_BACKLOG;
	}
	cm_leave();
	return cm_fail(rc);
}

void cm_forget_names(struct cm_service *s)
{
	for (int i = 0; i < CM_NAMES; i++) {
		if (s->name[i] >= 0)
			close(s->name[i]);
		s->name[i] = -1;
	}
}

void cm_unlisten(struct cm_id *id)
{
	struct cm_service *s = id->service, **at;

	id->service = NULL;
	if (s == NULL || --s->users > 0)
		return;
	unlisten(s);
	for (at = &cm.services; *at != s; at = &(*at)->next)
		;
	*at = s->next;
	cm_forget_names(s);
	free(s);
	if (cm.services == NULL && cm.listening >= 0) {
		close(cm.listening);
		cm.listening = -1;
	}
}

struct cm_id *cm_listener_for(const struct cm_service *s, const struct vs_rdmacm_hdr *h)
{
	uint8_t dst[16], own[16];

	memcpy(dst, h->dst, 16);
	if (h->ip_version == 4)
		dst[10] = dst[11] = 0xff;
	for (struct cm_id *id = cm.ids; id != NULL; id = id->next) {
		const struct sockaddr *a = cm_src(id);

		if (id->service != s)
			continue;
		cm_gid_of(own, a);
		if (cm_is_any(a) ? (a->sa_family == AF_INET6 ? h->ip_version == 6 || !id->v6_only : h->ip_version == 4)
				 : memcmp(own, dst, 16) == 0)
			return id;
	}
	return NULL;
}

/* ---- connecting ---- */

static uint8_t limit(uint8_t value, uint8_t max)
{
	return value < max ? value : max;
}

static uint8_t max_rd_atomic(void)
{
	return cm_dev_attr(&cm.device[0])->max_rd_atomic; /* all are alike */
}

/* An errno when the program asks for more than there is. */
static int check(const struct cm_id *id, const struct rdma_conn_param *p, unsigned private_max)
{
	if (p == NULL)
		return id->id.qp == NULL && !cm_is_ud(id) ? EINVAL : 0;
	if (p->private_data_len > private_max || (p->private_data_len > 0 && p->private_data == NULL))
		return EINVAL;
	if (cm_is_ud(id))
		return 0;
	if ((p->responder_resources != RDMA_MAX_RESP_RES && p->responder_resources > max_rd_atomic()) ||
	    (p->initiator_depth != RDMA_MAX_INIT_DEPTH && p->initiator_depth > max_rd_atomic()))
		return EINVAL;
	return 0;
}

static void common(const struct cm_id *id, const struct rdma_conn_param *p, struct vs_conn_param *to)
{
	const struct ibv_qp *qp = id->id.qp;

	to->qpn = qp != NULL ? qp->qp_num : p != NULL ? p->qp_num & 0xffffff : 0;
	to->srq = qp != NULL ? qp->srq != NULL : p != NULL && p->srq != 0;
	to->starting_psn = id->psn;
	to->qkey = id->qkey;
	to->flow_control = p == NULL || p->flow_control != 0;
	to->retry_count = p != NULL ? limit(p->retry_count, 7) : 7;
	to->rnr_retry = p != NULL ? limit(p->rnr_retry_count, 7) : 7;
}

/* The addresses, and behind them what the program has to say. */
static uint8_t private_data(struct cm_id *id, const struct rdma_conn_param *p, uint8_t to[220])
{
	bool v4 = cm_src(id)->sa_family == AF_INET;
	struct vs_rdmacm_hdr h = {.ip_version = v4 ? 4 : 6, .src_port = cm_port(cm_src(id))};
	uint8_t len = p != NULL ? p->private_data_len : 0;

	cm_gid_of(h.src, cm_src(id));
	cm_gid_of(h.dst, cm_dst(id));
	if (v4)
		memset(h.src + 10, 0, 2), memset(h.dst + 10, 0, 2);
	(void)vs_rdmacm_build(&h, to); /* every value fits */
	if (len > 0)
		memcpy(to + VS_RDMACM_HDR_LEN, p->private_data, len);
	return (uint8_t)(VS_RDMACM_HDR_LEN + len);
}

/* Inside: an errno. */
static int send_request(struct cm_id *id, const struct rdma_conn_param *p)
{
	bool ud = cm_is_ud(id);
	struct vs_conn_param to = {.uc = id->id.qp_type == IBV_QPT_UC ||
					 (id->id.qp != NULL && id->id.qp->qp_type == IBV_QPT_UC),
				   .service_id = cm_service_id(id, cm_dst(id)),
				   .path_mtu = cm_dev_attr(&cm.device[0])->active_mtu,
				   .responder_resources = p != NULL ? p->responder_resources : RDMA_MAX_RESP_RES,
				   .initiator_depth = p != NULL ? p->initiator_depth : RDMA_MAX_INIT_DEPTH,
				   .local_ack_timeout = id->ack_timeout,
				   .cm_response_timeout = CM_RESPONSE_TIMEOUT,
				   .max_cm_retries = CM_MAX_RETRIES};
	int rc = check(id, p, ud ? CM_SIDR_PRIVATE : CM_REQ_PRIVATE), err = VS_ERR_INVAL;

	if (!id->resolved || id->conn != NULL)
		rc = EINVAL;
	if (rc != 0)
		return rc;
	to.responder_resources = limit(to.responder_resources, max_rd_atomic());
	to.initiator_depth = limit(to.initiator_depth, max_rd_atomic());
	cm_find_listener(id);
	cm_path(id, &to.path);
	common(id, p, &to);
	to.private_len = private_data(id, p, id->request_data);
	to.private_data = id->request_data;
	id->request = to;
	id->active = true;
	id->conn = ud ? cm.link->sidr_resolve(id->dev->vs, &to, 0, &err) : cm.link->connect(id->dev->vs, &to, 0, &err);
	if (id->conn == NULL)
		return cm.link->error(id->dev->vs, "rdma_connect", err);
	cm_host_watch(&id->watched, to.path.dgid);
	return 0;
}

int rdma_connect(struct rdma_cm_id *rid, struct rdma_conn_param *conn_param)
{
	struct cm_id *id = cm_id(rid);
	bool hope = id->resolved && cm_host_await(cm_service_id(id, cm_dst(id)), cm_dst(id), id->to_this_host);
	int rc;

	if (!cm_enter())
		return -1;
	cm_host_may_knock(id, hope);
	rc = send_request(id, conn_param);
	cm_leave();
	return rc != 0 ? cm_fail(rc) : cm_complete(id);
}

/* For those who bring a QP of their own. */
int rdma_establish(struct rdma_cm_id *rid)
{
	struct cm_id *id = cm_id(rid);
	int rc;

	if (rid->qp != NULL)
		return cm_fail(EINVAL);
	if (!cm_enter())
		return -1;
	rc = id->conn != NULL ? cm.link->error(id->dev->vs, "rdma_establish", cm.link->establish(id->conn)) : EINVAL;
	cm_leave();
	return cm_fail(rc);
}

/* ---- answering ---- */

/* What we do for the peer, and what we ask of it: at most what the request allowed. */
static void negotiate(struct cm_id *id, const struct rdma_conn_param *p)
{
	if (p != NULL && p->responder_resources != RDMA_MAX_RESP_RES)
		id->responder_resources = p->responder_resources;
	if (p != NULL && p->initiator_depth != RDMA_MAX_INIT_DEPTH)
		id->initiator_depth = p->initiator_depth;
	id->responder_resources = limit(limit(id->responder_resources, max_rd_atomic()), id->peer.initiator_depth);
	id->initiator_depth = limit(limit(id->initiator_depth, max_rd_atomic()), id->peer.responder_resources);
}

static int answer(struct cm_id *id, const struct rdma_conn_param *p)
{
	struct vs_conn_param to = {.responder_resources = id->responder_resources,
				   .initiator_depth = id->initiator_depth,
				   .private_data = p != NULL ? p->private_data : NULL,
				   .private_len = p != NULL ? p->private_data_len : 0};

	if (id->conn == NULL)
		return EINVAL;
	common(id, p, &to);
	if (cm_is_ud(id))
		return cm.link->error(id->dev->vs, "rdma_accept", cm.link->sidr_reply(id->conn, VS_CM_SIDR_OK, &to));
	return cm.link->error(id->dev->vs, "rdma_accept", cm.link->accept(id->conn, &to));
}

int rdma_accept(struct rdma_cm_id *rid, struct rdma_conn_param *conn_param)
{
	struct cm_id *id = cm_id(rid);
	bool ud = cm_is_ud(id);
	int rc;

	if (!cm_enter())
		return -1;
	rc = id->conn == NULL || id->active ? EINVAL : check(id, conn_param, ud ? CM_SIDR_REP_PRIVATE : CM_REP_PRIVATE);
	if (rc == 0 && !ud)
		negotiate(id, conn_param);
	cm_leave();
	if (rc != 0)
		return cm_fail(rc);
	if (!ud && rid->qp != NULL &&
	    (cm_qp_to_rtr(id, id->responder_resources) != 0 || cm_qp_to_rts(id, id->initiator_depth) != 0))
		return -1;
	if (!cm_enter())
		return -1;
	rc = answer(id, conn_param);
	cm_leave();
	if (rc != 0 && !ud)
		(void)cm_qp_to_err(id);
	return rc != 0 ? cm_fail(rc) : ud ? 0 : cm_complete(id);
}

static int reject(struct rdma_cm_id *rid, uint16_t reason, const void *private_data, uint8_t len)
{
	const struct vs_conn_param to = {.private_data = private_data, .private_len = len};
	struct cm_id *id = cm_id(rid);
	int rc;

	if (!cm_enter())
		return -1;
	if (id->conn == NULL)
		rc = EINVAL;
	else if (cm_is_ud(id))
		rc = cm.link->error(id->dev->vs, "rdma_reject", cm.link->sidr_reply(id->conn, VS_CM_SIDR_REJECT, &to));
	else
		rc = cm.link->error(id->dev->vs, "rdma_reject", cm.link->reject(id->conn, reason, private_data, len));
	id->rejected = rc == 0;
	cm_leave();
	return cm_fail(rc);
}

int rdma_reject(struct rdma_cm_id *id, const void *private_data, uint8_t private_data_len)
{
	return reject(id, VS_CM_REJ_CONSUMER, private_data, private_data_len);
}

int rdma_reject_ece(struct rdma_cm_id *id, const void *private_data, uint8_t private_data_len)
{
	return reject(id, VS_CM_REJ_VENDOR_OPTION, private_data, private_data_len);
}

/* ---- the end ---- */

/* Inside: an errno. Who was told first, answered then. */
static int say_goodbye(struct cm_id *id)
{
	if (id->conn == NULL || cm_is_ud(id))
		return EINVAL;
	switch (cm.link->state(id->conn)) {
	case VS_CONN_TIMEWAIT:
	case VS_CONN_DREQ_SENT:
	case VS_CONN_CLOSED:
		return 0;
	default:
		return cm.link->error(id->dev->vs, "rdma_disconnect", cm.link->disconnect(id->conn));
	}
}

int rdma_disconnect(struct rdma_cm_id *rid)
{
	struct cm_id *id = cm_id(rid);
	int rc = cm_qp_to_err(id);

	if (rc != 0 || !cm_enter())
		return -1;
	rc = say_goodbye(id);
	cm_leave();
	return rc != 0 ? cm_fail(rc) : cm_complete(id);
}

/* The engine has seen by itself that data came before the RTU. */
int rdma_notify(struct rdma_cm_id *id, enum ibv_event_type event)
{
	return cm_fail(event == IBV_EVENT_COMM_EST && cm_id(id)->conn != NULL ? 0 : EINVAL);
}

/* Enhanced connection establishment: this device offers nothing, as its QPs do. */
int rdma_set_local_ece(struct rdma_cm_id *id, struct ibv_ece *ece)
{
	if (id == NULL || ece == NULL)
		return cm_fail(EINVAL);
	return cm_fail(ece->vendor_id == 0 && ece->options == 0 ? 0 : EOPNOTSUPP);
}

int rdma_get_remote_ece(struct rdma_cm_id *id, struct ibv_ece *ece)
{
	if (id == NULL || ece == NULL)
		return cm_fail(EINVAL);
	memset(ece, 0, sizeof(*ece));
	return 0;
}
