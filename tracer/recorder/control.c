/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * control.c - the exported calls of libibverbs that make and end devices, memory and queues. They stand in front of the
 * real ones, pass everything on and record what came of it.
 */
#include <string.h>

#include "ring.h"

/* As a call that returns an object tells: 0, or the errno. */
static uint64_t result(const void *object)
{
	return object != NULL ? 0 : (uint64_t)errno;
}

static uint64_t result_int(int rc)
{
	return (uint64_t)(int64_t)rc;
}

static uint32_t pd_number(const struct ibv_pd *pd)
{
	return pd != NULL ? pd->handle : 0;
}

/* ---- devices ---- */

EXPORT struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	static struct ibv_context *(*real)(struct ibv_device *);
	struct injection in = {0};
	struct ibv_context *c;

	if (!rec_real(&real, "ibv_open_device")) {
		errno = ENOSYS;
		return NULL;
	}
	(void)rec_on();
	if (rec_state.rules != 0)
		in = rec_inject(CALL_OPEN_DEVICE, NULL);
	if (in.verdict == INJECT_FAIL) {
		errno = in.error;
		return NULL;
	}
	c = real(device);
	if (c != NULL && (rec_on() || rec_state.rules != 0))
		rec_hook(c);
	return c;
}

EXPORT int ibv_close_device(struct ibv_context *context)
{
	static int (*real)(struct ibv_context *);
	struct rec *r;
	int rc;

	if (!rec_real(&real, "ibv_close_device"))
		return ENOSYS;
	r = rec_on() ? rec_begin_held(REC_CLOSE, context) : NULL;
	rc = real(context);
	rec_commit_held(r, result_int(rc));
	return rc;
}

EXPORT int ibv_query_gid(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid)
{
	static int (*real)(struct ibv_context *, uint8_t, int, union ibv_gid *);
	struct rec *r;
	int rc;

	if (!rec_real(&real, "ibv_query_gid"))
		return -1;
	rc = real(context, port, index, gid);
	r = rec_on() ? rec_begin(REC_QUERY_GID, context) : NULL;
	if (r != NULL) {
		r->w[0] = (uint32_t)index;
		if (rc == 0)
			memcpy(r->a, gid, 16);
		r->a[2] = rc != 0 ? (uint64_t)errno : 0;
		rec_commit();
	}
	return rc;
}

EXPORT int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	static int (*real)(struct ibv_context *, struct ibv_async_event *);
	struct rec *r;
	int rc;

	if (!rec_real(&real, "ibv_get_async_event"))
		return -1;
	rc = real(context, event);
	r = rc == 0 && rec_on() ? rec_begin(REC_ASYNC, context) : NULL;
	if (r != NULL) {
		r->w[0] = (uint32_t)event->event_type;
		if (event->event_type <= IBV_EVENT_PATH_MIG_ERR && event->event_type != IBV_EVENT_CQ_ERR)
			r->qpn = event->element.qp->qp_num;
		else if (event->event_type == IBV_EVENT_QP_LAST_WQE_REACHED)
			r->qpn = event->element.qp->qp_num;
		else if (event->event_type == IBV_EVENT_CQ_ERR)
			r->w[3] = rec_cq_number(event->element.cq);
		rec_commit();
	}
	return rc;
}

/* ---- memory ---- */

static struct ibv_mr *registered(struct ibv_pd *pd, void *addr, size_t length, unsigned access, struct ibv_mr *mr)
{
	int error = errno;
	struct rec *r = rec_on() ? rec_begin(REC_REG_MR, pd->context) : NULL;

	if (r != NULL) {
		r->w[0] = access;
		r->w[1] = mr != NULL ? mr->lkey : 0;
		r->w[2] = mr != NULL ? mr->rkey : 0;
		r->w[3] = pd_number(pd);
		r->a[0] = (uintptr_t)addr;
		r->a[1] = length;
		r->a[2] = mr != NULL ? 0 : (uint64_t)error;
		rec_commit();
	}
	errno = error;
	return mr;
}

/* False: it fails by a rule. */
static bool change_mr(struct ibv_pd *pd, size_t *length, unsigned *access)
{
	struct injection in = {0};

	rec_hook(rec_on() || rec_state.rules != 0 ? pd->context : NULL);
	if (rec_state.rules != 0)
		in = rec_inject(CALL_REG_MR, pd->context);
	*length = (size_t)rec_inject_value(&in, FIELD_LENGTH, *length);
	*access = (unsigned)rec_inject_value(&in, FIELD_ACCESS, *access);
	if (in.verdict == INJECT_FAIL)
		errno = in.error;
	return in.verdict != INJECT_FAIL;
}

EXPORT struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	static struct ibv_mr *(*real)(struct ibv_pd *, void *, size_t, int);
	unsigned flags = (unsigned)access;
	struct ibv_mr *mr = NULL;

	if (!rec_real(&real, "ibv_reg_mr"))
		return NULL;
	if (rec_depth > 0)
		return real(pd, addr, length, access);
	rec_depth++;
	if (change_mr(pd, &length, &flags))
		mr = real(pd, addr, length, (int)flags);
	rec_depth--;
	return registered(pd, addr, length, flags, mr);
}

EXPORT struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, int access)
{
	static struct ibv_mr *(*real)(struct ibv_pd *, void *, size_t, uint64_t, int);
	unsigned flags = (unsigned)access;
	struct ibv_mr *mr = NULL;

	if (!rec_real(&real, "ibv_reg_mr_iova"))
		return NULL;
	if (rec_depth > 0)
		return real(pd, addr, length, iova, access);
	rec_depth++;
	if (change_mr(pd, &length, &flags))
		mr = real(pd, addr, length, iova, (int)flags);
	rec_depth--;
	return registered(pd, (void *)(uintptr_t)iova, length, flags, mr);
}

/* What verbs.h makes of ibv_reg_mr when the access flags are not constant. */
EXPORT struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned access)
{
	static struct ibv_mr *(*real)(struct ibv_pd *, void *, size_t, uint64_t, unsigned);
	struct ibv_mr *mr = NULL;

	if (!rec_real(&real, "ibv_reg_mr_iova2"))
		return NULL;
	if (rec_depth > 0)
		return real(pd, addr, length, iova, access);
	rec_depth++;
	if (change_mr(pd, &length, &access))
		mr = real(pd, addr, length, iova, access);
	rec_depth--;
	return registered(pd, (void *)(uintptr_t)iova, length, access, mr);
}

EXPORT int ibv_dereg_mr(struct ibv_mr *mr)
{
	static int (*real)(struct ibv_mr *);
	struct injection in = {0};
	struct rec *r;
	int rc;

	if (!rec_real(&real, "ibv_dereg_mr"))
		return ENOSYS;
	if (rec_state.rules != 0)
		in = rec_inject(CALL_DEREG_MR, mr->context);
	r = rec_on() ? rec_begin_held(REC_DEREG_MR, mr->context) : NULL;
	if (r != NULL)
		r->w[1] = mr->lkey;
	rc = in.verdict == INJECT_FAIL ? in.error : in.verdict == INJECT_SKIP ? 0 : real(mr);
	rec_commit_held(r, result_int(rc));
	return rc;
}

/* ---- completion queues ---- */

static void created_cq(const struct ibv_context *context, uint32_t asked, const struct ibv_cq *cq, bool channel)
{
	struct rec *r;
	int error = errno;

	r = rec_on() ? rec_begin(REC_CREATE_CQ, context) : NULL;
	if (r != NULL) {
		r->w[0] = asked;
		r->w[1] = cq != NULL ? (uint32_t)cq->cqe : 0;
		r->w[2] = channel;
		r->w[3] = rec_cq_number(cq);
		r->a[2] = cq != NULL ? 0 : (uint64_t)error;
		rec_commit();
	}
	errno = error;
}

EXPORT struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
				    struct ibv_comp_channel *channel, int vector)
{
	static struct ibv_cq *(*real)(struct ibv_context *, int, void *, struct ibv_comp_channel *, int);
	struct injection in = {0};
	struct ibv_cq *cq = NULL;

	if (!rec_real(&real, "ibv_create_cq"))
		return NULL;
	if (rec_on() || rec_state.rules != 0)
		rec_hook(context);
	if (rec_state.rules != 0)
		in = rec_inject(CALL_CREATE_CQ, context);
	cqe = (int)rec_inject_value(&in, FIELD_CQE, (uint64_t)cqe);
	if (in.verdict == INJECT_FAIL)
		errno = in.error;
	else
		cq = real(context, cqe, cq_context, channel, vector);
	created_cq(context, (uint32_t)cqe, cq, channel != NULL);
	return cq;
}

struct ibv_cq_ex *rec_create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
	const struct hooked *h = rec_hooked(context);
	struct ibv_cq_init_attr_ex a = *attr;
	struct injection in = {0};
	struct ibv_cq_ex *cq = NULL;

	if (rec_state.rules != 0)
		in = rec_inject(CALL_CREATE_CQ, context);
	a.cqe = (uint32_t)rec_inject_value(&in, FIELD_CQE, a.cqe);
	if (in.verdict == INJECT_FAIL)
		errno = in.error;
	else
		cq = h->create_cq_ex(context, &a);
	created_cq(context, a.cqe, cq != NULL ? ibv_cq_ex_to_cq(cq) : NULL, a.channel != NULL);
	if (cq != NULL && rec_on())
		rec_cq_ex_hook(cq);
	return cq;
}

EXPORT int ibv_destroy_cq(struct ibv_cq *cq)
{
	static int (*real)(struct ibv_cq *);
	struct ibv_cq_ex *ex;
	struct rec *r;
	int rc;

	if (!rec_real(&real, "ibv_destroy_cq"))
		return ENOSYS;
	r = rec_on() ? rec_begin_held(REC_DESTROY_CQ, cq->context) : NULL;
	if (r != NULL) {
		r->w[3] = rec_cq_number(cq);
		r->a[0] = rec_empty_polls(cq);
	}
	ex = rec_cq_ex_unhook(cq);
	rc = real(cq);
	if (rc != 0)
		rec_cq_ex_hook(ex); /* it lives on */
	rec_commit_held(r, result_int(rc));
	return rc;
}

EXPORT int ibv_resize_cq(struct ibv_cq *cq, int cqe)
{
	static int (*real)(struct ibv_cq *, int);
	struct rec *r;
	int rc;

	if (!rec_real(&real, "ibv_resize_cq"))
		return ENOSYS;
	rc = real(cq, cqe);
	r = rec_on() ? rec_begin(REC_RESIZE_CQ, cq->context) : NULL;
	if (r != NULL) {
		r->w[0] = (uint32_t)cqe;
		r->w[1] = (uint32_t)cq->cqe;
		r->w[3] = rec_cq_number(cq);
		r->a[2] = result_int(rc);
		rec_commit();
	}
	return rc;
}

EXPORT int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context)
{
	static int (*real)(struct ibv_comp_channel *, struct ibv_cq **, void **);
	struct rec *r;
	int rc;

	if (!rec_real(&real, "ibv_get_cq_event"))
		return -1;
	rc = real(channel, cq, cq_context);
	r = rc == 0 && rec_on() ? rec_begin(REC_CQ_EVENT, channel->context) : NULL;
	if (r != NULL) {
		r->w[3] = rec_cq_number(*cq);
		rec_commit();
	}
	return rc;
}

/* ---- shared receive queues, address handles ---- */

static void created_srq(const struct ibv_context *context, const struct ibv_srq_attr *attr, const struct ibv_srq *srq)
{
	uint64_t error = result(srq);
	struct rec *r = rec_on() ? rec_begin(REC_CREATE_SRQ, context) : NULL;

	if (r == NULL)
		return;
	r->w[0] = attr->max_wr;
	r->w[1] = attr->srq_limit;
	r->a[2] = error;
	rec_commit();
}

EXPORT struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	static struct ibv_srq *(*real)(struct ibv_pd *, struct ibv_srq_init_attr *);
	struct ibv_srq *srq;

	if (!rec_real(&real, "ibv_create_srq"))
		return NULL;
	if (rec_on() || rec_state.rules != 0)
		rec_hook(pd->context);
	srq = real(pd, attr);
	created_srq(pd->context, &attr->attr, srq);
	return srq;
}

struct ibv_srq *rec_create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr)
{
	struct ibv_srq *srq = rec_hooked(context)->create_srq_ex(context, attr);

	created_srq(context, &attr->attr, srq);
	return srq;
}

EXPORT struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	static struct ibv_ah *(*real)(struct ibv_pd *, struct ibv_ah_attr *);
	struct ibv_ah_attr a = *attr;
	struct injection in = {0};
	struct ibv_ah *ah = NULL;
	uint64_t error;
	struct rec *r;

	if (!rec_real(&real, "ibv_create_ah"))
		return NULL;
	if (rec_state.rules != 0)
		in = rec_inject(CALL_CREATE_AH, pd->context);
	if (rec_inject_touches(&in, FIELD_DGID))
		a.grh.dgid.raw[15] = (uint8_t)rec_inject_value(&in, FIELD_DGID, a.grh.dgid.raw[15]);
	if (in.verdict == INJECT_FAIL)
		errno = in.error;
	else
		ah = real(pd, &a);
	error = result(ah);
	r = rec_on() ? rec_begin(REC_CREATE_AH, pd->context) : NULL;
	if (r != NULL) {
		memcpy(r->a, a.grh.dgid.raw, 16);
		r->a[2] = error;
		rec_commit();
	}
	/* cppcheck-suppress returnDanglingLifetime ; libibverbs copies what it is told */
	return ah;
}
