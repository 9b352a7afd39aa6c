/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * qp.c - making, connecting and ending queue pairs: who the peer is and how patient this side is with it is all said in
 * ibv_modify_qp.
 */
#include <string.h>

#include "ring.h"

void rec_created_qp(struct ibv_qp *qp, const struct ibv_qp_init_attr *attr, int error)
{
	const struct ibv_context *context = qp != NULL ? qp->context : NULL;
	struct rec *r = rec_on() ? rec_begin(REC_CREATE_QP, context) : NULL;

	if (r == NULL)
		return;
	r->qpn = qp != NULL ? qp->qp_num : 0;
	r->w[0] = (uint32_t)attr->qp_type;
	r->w[1] = attr->sq_sig_all != 0;
	r->w[2] = attr->srq != NULL;
	r->w[3] = qp != NULL && qp->pd != NULL ? qp->pd->handle : 0;
	r->a[0] = rec_cq_number(attr->send_cq) | (uint64_t)rec_cq_number(attr->recv_cq) << 32;
	r->a[2] = (uint64_t)error;
	r = rec_begin(REC_QP_CAPS, context);
	if (r != NULL) {
		r->qpn = qp != NULL ? qp->qp_num : 0;
		r->w[0] = attr->cap.max_send_wr;
		r->w[1] = attr->cap.max_recv_wr;
		r->w[2] = attr->cap.max_send_sge | attr->cap.max_recv_sge << 16;
		r->w[3] = attr->cap.max_inline_data;
	}
	rec_commit();
}

static struct injection change_caps(const struct ibv_context *context, struct ibv_qp_cap *cap, int *sig_all)
{
	struct injection in = {0};

	if (rec_state.rules == 0)
		return in;
	in = rec_inject(CALL_CREATE_QP, context);
	cap->max_send_wr = (uint32_t)rec_inject_value(&in, FIELD_MAX_SEND_WR, cap->max_send_wr);
	cap->max_recv_wr = (uint32_t)rec_inject_value(&in, FIELD_MAX_RECV_WR, cap->max_recv_wr);
	*sig_all = (int)rec_inject_value(&in, FIELD_SQ_SIG_ALL, (uint64_t)*sig_all);
	return in;
}

EXPORT struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	static struct ibv_qp *(*real)(struct ibv_pd *, struct ibv_qp_init_attr *);
	struct injection in;
	struct ibv_qp *qp = NULL;
	int error = 0;

	if (!rec_real(&real, "ibv_create_qp"))
		return NULL;
	if (rec_depth > 0)
		return real(pd, attr);
	if (rec_on() || rec_state.rules != 0)
		rec_hook(pd->context);
	in = change_caps(pd->context, &attr->cap, &attr->sq_sig_all);
	rec_depth++;
	if (in.verdict == INJECT_FAIL)
		errno = in.error;
	else
		qp = real(pd, attr);
	rec_depth--;
	error = qp == NULL ? errno : 0;
	rec_created_qp(qp, attr, error);
	if (qp == NULL)
		errno = error;
	return qp;
}

/* Found like the others, so that the library loads in programs without libibverbs. */
static void hook_extended(struct ibv_qp *qp)
{
	static struct ibv_qp_ex *(*to_extended)(struct ibv_qp *);

	if (rec_real(&to_extended, "ibv_qp_to_qp_ex"))
		rec_wr_hook(to_extended(qp));
}

/* The old attributes are the beginning of the new ones. */
struct ibv_qp *rec_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	const struct hooked *h = rec_hooked(context);
	struct ibv_qp_init_attr old;
	struct ibv_qp *qp = NULL;
	struct injection in;
	int error;

	if (rec_depth > 0)
		return h->create_qp_ex(context, attr);
	in = change_caps(context, &attr->cap, &attr->sq_sig_all);
	rec_depth++;
	if (in.verdict == INJECT_FAIL)
		errno = in.error;
	else
		qp = h->create_qp_ex(context, attr);
	rec_depth--;
	error = qp == NULL ? errno : 0;
	memcpy(&old, attr, sizeof(old));
	rec_created_qp(qp, &old, error);
	if (qp != NULL && rec_on() && (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0)
		hook_extended(qp);
	if (qp == NULL)
		errno = error;
	return qp;
}

/* ---- ibv_modify_qp ---- */

static void change_attr(const struct injection *in, struct ibv_qp_attr *a)
{
	a->path_mtu = (enum ibv_mtu)rec_inject_value(in, FIELD_PATH_MTU, a->path_mtu);
	a->dest_qp_num = (uint32_t)rec_inject_value(in, FIELD_DEST_QPN, a->dest_qp_num);
	a->rq_psn = (uint32_t)rec_inject_value(in, FIELD_RQ_PSN, a->rq_psn) & 0xffffff;
	a->sq_psn = (uint32_t)rec_inject_value(in, FIELD_SQ_PSN, a->sq_psn) & 0xffffff;
	a->qkey = (uint32_t)rec_inject_value(in, FIELD_QKEY, a->qkey);
	a->timeout = (uint8_t)rec_inject_value(in, FIELD_TIMEOUT, a->timeout);
	a->retry_cnt = (uint8_t)rec_inject_value(in, FIELD_RETRY_CNT, a->retry_cnt);
	a->rnr_retry = (uint8_t)rec_inject_value(in, FIELD_RNR_RETRY, a->rnr_retry);
	a->min_rnr_timer = (uint8_t)rec_inject_value(in, FIELD_MIN_RNR_TIMER, a->min_rnr_timer);
	a->pkey_index = (uint16_t)rec_inject_value(in, FIELD_PKEY_INDEX, a->pkey_index);
	a->qp_access_flags = (unsigned)rec_inject_value(in, FIELD_QP_ACCESS, a->qp_access_flags);
	a->max_rd_atomic = (uint8_t)rec_inject_value(in, FIELD_RD_ATOMIC, a->max_rd_atomic);
	a->max_dest_rd_atomic = (uint8_t)rec_inject_value(in, FIELD_DEST_RD_ATOMIC, a->max_dest_rd_atomic);
	a->ah_attr.grh.dgid.raw[15] = (uint8_t)rec_inject_value(in, FIELD_DGID, a->ah_attr.grh.dgid.raw[15]);
	a->ah_attr.grh.sgid_index = (uint8_t)rec_inject_value(in, FIELD_SGID_INDEX, a->ah_attr.grh.sgid_index);
	a->ah_attr.grh.hop_limit = (uint8_t)rec_inject_value(in, FIELD_HOP_LIMIT, a->ah_attr.grh.hop_limit);
}

static void record_path(const struct ibv_qp *qp, const struct ibv_qp_attr *a, int mask)
{
	struct rec *r = rec_begin(REC_QP_PATH, qp->context);

	if (r == NULL)
		return;
	r->qpn = qp->qp_num;
	r->wr = (uint32_t)mask; /* which of the values are meant */
	r->n = (uint8_t)a->path_mtu;
	r->w[0] = a->dest_qp_num;
	r->w[1] = a->rq_psn;
	r->w[2] = a->sq_psn;
	r->w[3] = a->qkey;
	r->a[0] = a->timeout | (uint64_t)a->retry_cnt << 8 | (uint64_t)a->rnr_retry << 16 |
		  (uint64_t)a->min_rnr_timer << 24;
	r->a[1] = a->max_rd_atomic | (uint64_t)a->max_dest_rd_atomic << 8 | (uint64_t)a->ah_attr.grh.hop_limit << 16;
	r->a[2] = a->pkey_index | (uint64_t)a->ah_attr.grh.sgid_index << 16 | (uint64_t)a->ah_attr.sl << 24;
	if ((mask & IBV_QP_AV) != 0 && (r = rec_begin(REC_QP_GID, qp->context)) != NULL) {
		r->qpn = qp->qp_num;
		memcpy(r->a, a->ah_attr.grh.dgid.raw, 16);
	}
}

EXPORT int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	static int (*real)(struct ibv_qp *, struct ibv_qp_attr *, int);
	enum ibv_qp_state before = qp->state;
	struct injection in = {0};
	struct ibv_qp_attr changed;
	struct rec *r;
	int rc;

	if (!rec_real(&real, "ibv_modify_qp"))
		return ENOSYS;
	if (rec_state.rules != 0)
		in = rec_inject(CALL_MODIFY_QP, qp->context);
	if (in.verdict == INJECT_CHANGE) {
		changed = *attr;
		change_attr(&in, &changed);
		attr = &changed;
	}
	rc = in.verdict == INJECT_FAIL ? in.error : in.verdict == INJECT_SKIP ? 0 : real(qp, attr, mask);
	r = rec_on() && in.verdict != INJECT_SKIP ? rec_begin(REC_MODIFY_QP, qp->context) : NULL;
	if (r == NULL)
		return rc;
	r->qpn = qp->qp_num;
	r->w[0] = (uint32_t)before;
	r->w[1] = (mask & IBV_QP_STATE) != 0 ? (uint32_t)attr->qp_state : (uint32_t)before;
	r->w[2] = (uint32_t)mask;
	r->w[3] = (mask & IBV_QP_ACCESS_FLAGS) != 0 ? attr->qp_access_flags : 0;
	r->a[2] = (uint64_t)(int64_t)rc;
	record_path(qp, attr, mask);
	rec_commit();
	return rc;
}

EXPORT int ibv_destroy_qp(struct ibv_qp *qp)
{
	static int (*real)(struct ibv_qp *);
	struct injection in = {0};
	struct ibv_qp_ex *ex = NULL;
	struct rec *r;
	int rc;

	if (!rec_real(&real, "ibv_destroy_qp"))
		return ENOSYS;
	if (rec_state.rules != 0)
		in = rec_inject(CALL_DESTROY_QP, qp->context);
	r = rec_on() ? rec_begin_held(REC_DESTROY_QP, qp->context) : NULL;
	if (r != NULL)
		r->qpn = qp->qp_num;
	if (in.verdict != INJECT_FAIL && in.verdict != INJECT_SKIP)
		ex = rec_wr_unhook(qp);
	rc = in.verdict == INJECT_FAIL ? in.error : in.verdict == INJECT_SKIP ? 0 : real(qp);
	if (rc != 0)
		rec_wr_hook(ex); /* it lives on */
	rec_commit_held(r, (uint64_t)(int64_t)rc);
	return rc;
}
