/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * cm.c - the calls of librdmacm that make and end connections, and the events that it hands over. The queue pairs that
 * it makes come through libibverbs, or are told of here where the library makes them by itself.
 */
#include "ring.h"

static struct rec *call(enum rec_cm what, const struct rdma_cm_id *id)
{
	struct rec *r = rec_on() ? rec_begin_held(REC_CM_CALL, id->verbs) : NULL;

	if (r != NULL) {
		r->n = (uint8_t)what;
		r->qpn = id->qp != NULL ? id->qp->qp_num : 0;
		r->a[0] = (uintptr_t)id;
	}
	return r;
}

static int done(struct rec *r, int rc)
{
	rec_commit_held(r, rc != 0 ? (uint64_t)errno : 0);
	return rc;
}

EXPORT int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src, struct sockaddr *dst, int timeout_ms)
{
	static int (*real)(struct rdma_cm_id *, struct sockaddr *, struct sockaddr *, int);
	struct rec *r = call(REC_CM_RESOLVE_ADDR, id);

	return done(r, rec_real(&real, "rdma_resolve_addr") ? real(id, src, dst, timeout_ms) : -1);
}

EXPORT int rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms)
{
	static int (*real)(struct rdma_cm_id *, int);
	struct rec *r = call(REC_CM_RESOLVE_ROUTE, id);

	return done(r, rec_real(&real, "rdma_resolve_route") ? real(id, timeout_ms) : -1);
}

EXPORT int rdma_listen(struct rdma_cm_id *id, int backlog)
{
	static int (*real)(struct rdma_cm_id *, int);
	struct rec *r = call(REC_CM_LISTEN, id);

	return done(r, rec_real(&real, "rdma_listen") ? real(id, backlog) : -1);
}

EXPORT int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	static int (*real)(struct rdma_cm_id *, struct rdma_conn_param *);
	struct rec *r = call(REC_CM_CONNECT, id);

	return done(r, rec_real(&real, "rdma_connect") ? real(id, param) : -1);
}

EXPORT int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	static int (*real)(struct rdma_cm_id *, struct rdma_conn_param *);
	struct rec *r = call(REC_CM_ACCEPT, id);

	return done(r, rec_real(&real, "rdma_accept") ? real(id, param) : -1);
}

EXPORT int rdma_reject(struct rdma_cm_id *id, const void *data, uint8_t len)
{
	static int (*real)(struct rdma_cm_id *, const void *, uint8_t);
	struct rec *r = call(REC_CM_REJECT, id);

	return done(r, rec_real(&real, "rdma_reject") ? real(id, data, len) : -1);
}

EXPORT int rdma_disconnect(struct rdma_cm_id *id)
{
	static int (*real)(struct rdma_cm_id *);
	struct rec *r = call(REC_CM_DISCONNECT, id);

	return done(r, rec_real(&real, "rdma_disconnect") ? real(id) : -1);
}

EXPORT int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
	static int (*real)(struct rdma_event_channel *, struct rdma_cm_event **);
	int rc = rec_real(&real, "rdma_get_cm_event") ? real(channel, event) : -1;
	struct rec *r;

	if (rc != 0 || !rec_on())
		return rc;
	rec_hook((*event)->id->verbs);
	r = rec_begin(REC_CM_EVENT, (*event)->id->verbs);
	if (r != NULL) {
		r->w[0] = (uint32_t)(*event)->event;
		r->w[1] = (uint32_t)(*event)->status;
		r->qpn = (*event)->id->qp != NULL ? (*event)->id->qp->qp_num : 0;
		r->a[0] = (uintptr_t)(*event)->id;
		rec_commit();
	}
	return rc;
}

EXPORT int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	static int (*real)(struct rdma_cm_id *, struct ibv_pd *, struct ibv_qp_init_attr *);
	int rc, error;

	if (!rec_real(&real, "rdma_create_qp"))
		return -1;
	if (rec_on())
		rec_hook(id->verbs);
	rec_depth++; /* whether or not the library makes it through libibverbs */
	rc = real(id, pd, attr);
	rec_depth--;
	error = errno;
	rec_created_qp(rc == 0 ? id->qp : NULL, attr, rc == 0 ? 0 : error);
	errno = error;
	return rc;
}
