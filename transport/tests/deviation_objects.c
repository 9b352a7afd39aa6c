/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * deviation_objects.c - probes of defects in queue pairs, completion queues, shared receive queues and memory windows:
 * what may be asked of them, and what they flush.
 */
#include "deviation.h"

static bool err_post_not_flushed(struct rig *r)
{
	rig_to(r, r->qp, VS_QPS_ERR);
	probe_post(r, VS_WR_SEND, 1, 8, VS_SEND_SIGNALED);
	return probe_status(r->scq) == -1;
}

static bool mw_same_key_refused(struct rig *r)
{
	struct vs_mw *mw = probe_window(r);

	return probe_bind(r, mw, (uint8_t)vs_mw_rkey(mw), MEM(r, 0), 64) != VS_WC_SUCCESS;
}

static bool local_inv_wrong_key(struct rig *r)
{
	struct vs_mw *mw = probe_window(r);
	struct vs_send_wr wr = {.wr_id = 2, .opcode = VS_WR_LOCAL_INV, .flags = VS_SEND_SIGNALED};

	ck_assert_int_eq(probe_bind(r, mw, 9, MEM(r, 0), 64), VS_WC_SUCCESS);
	wr.invalidate_rkey = vs_mw_rkey(mw);
	vs_qp_post_send(r->qp, &wr);
	rig_drain(r);
	return probe_status(r->scq) != VS_WC_SUCCESS;
}

static bool cq_destroy_in_use(struct rig *r)
{
	const struct vs_event *last;
	bool seen;

	rig_post(r, VS_WR_SEND, 1, 0, 8);
	rig_post_recv(r, 2, 64, 8);
	seen = vs_cq_destroy(r->scq) == VS_OK;
	if (!seen)
		return false;
	rig_drain(r);
	rig_in_ack(r, D, 0x1f, 1); /* completes into nowhere */
	last = &r->log[r->log_len - 1];
	ck_assert(last->type == VS_EV_CQE && last->a[5] == 0);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 8); /* the other queue is still there */
	ck_assert_int_eq(probe_status(r->rcq), VS_WC_SUCCESS);
	return true;
}

static bool flush_wrong_cq(struct rig *r)
{
	rig_post_recv(r, 1, 0, 64);
	rig_to(r, r->qp, VS_QPS_ERR);
	return probe_status(r->scq) == VS_WC_WR_FLUSH_ERR;
}

static bool bind_status_wrong(struct rig *r)
{
	struct vs_mw *mw = probe_window(r);

	ck_assert_int_eq(probe_bind(r, mw, 1, MEM(r, 0), 64), VS_WC_SUCCESS);
	return probe_bind(r, mw, 2, MEM(r, 0), 64) != VS_WC_MW_BIND_ERR;
}

static bool no_flush_from_rtr(struct rig *r)
{
	struct vs_qp_attr a = {.state = VS_QPS_ERR};

	rig_post_recv(r, 1, 0, 64);
	ck_assert_int_eq(vs_qp_modify(r->qp, &a, VS_QP_STATE), VS_OK);
	return probe_status(r->rcq) == -1;
}

static bool rq_not_flushed(struct rig *r)
{
	return no_flush_from_rtr(r);
}

static bool ah_rocev1_refused(struct rig *r)
{
	struct vs_qp_attr a = rig_attr(r);
	int err;

	return vs_ah_create(r->pd, &a.av, &err) == NULL;
}

static bool pkey_index_unchecked(struct rig *r)
{
	struct vs_qp_attr a = rig_attr(r);

	a.state = VS_QPS_INIT;
	a.pkey_index = 9;
	return vs_qp_modify(r->qp, &a, VS_QP_STATE | VS_QP_PORT | VS_QP_PKEY_INDEX | VS_QP_ACCESS_FLAGS) == VS_OK;
}

static bool srq_limit_as_err(struct rig *r)
{
	struct vs_srq_attr a = {.srq_limit = 1};

	rig_post_recv(r, 1, 0, 64);
	vs_srq_modify(r->srq, &a, VS_SRQ_LIMIT);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 8);
	return probe_async(r) == VS_EVENT_SRQ_ERR;
}

static bool srq_resize_ignored(struct rig *r)
{
	struct vs_srq_attr a = {.max_wr = 128};

	ck_assert_int_eq(vs_srq_modify(r->srq, &a, VS_SRQ_MAX_WR), VS_OK);
	vs_srq_query(r->srq, &a);
	return a.max_wr != 128;
}

static bool mtu_unchecked(struct rig *r)
{
	struct vs_qp_attr a = rig_attr(r);

	a.state = VS_QPS_RTR;
	a.path_mtu = VS_MTU_4096;
	return vs_qp_modify(r->qp, &a,
			    VS_QP_STATE | VS_QP_AV | VS_QP_PATH_MTU | VS_QP_DEST_QPN | VS_QP_RQ_PSN |
				    VS_QP_MAX_DEST_RD_ATOMIC | VS_QP_MIN_RNR_TIMER) == VS_OK;
}

static bool no_last_wqe(struct rig *r)
{
	rig_to(r, r->qp, VS_QPS_ERR);
	return probe_async(r) == -1;
}

static bool mw_range_unchecked(struct rig *r)
{
	return probe_bind(r, probe_window(r), 1, MEM(r, 0) + RIG_MEM - 8, 64) == VS_WC_SUCCESS;
}

static bool mcast_any_qp(struct rig *r)
{
	return vs_qp_attach_mcast(r->qp, probe_mgid, 0) == VS_OK && vs_qp_detach_mcast(r->qp, probe_mgid, 0) == VS_OK;
}

static bool flush_reversed(struct rig *r)
{
	struct vs_wc wc = {.wr_id = 0};

	probe_post(r, VS_WR_SEND, 1, 8, VS_SEND_SIGNALED);
	probe_post(r, VS_WR_SEND, 2, 8, VS_SEND_SIGNALED);
	rig_to(r, r->qp, VS_QPS_ERR);
	ck_assert_int_eq(vs_cq_poll(r->scq, &wc, 1), 1);
	return wc.wr_id == 2;
}

const struct probe probes_objects[] = {
	PROBE(ERR_POST_NOT_FLUSHED, err_post_not_flushed, .type = VS_QPT_RC),
	PROBE(MW_SAME_KEY_REFUSED, mw_same_key_refused, .type = VS_QPT_RC),
	PROBE(LOCAL_INV_WRONG_KEY, local_inv_wrong_key, .type = VS_QPT_RC),
	PROBE(CQ_DESTROY_IN_USE, cq_destroy_in_use, .type = VS_QPT_RC),
	PROBE(FLUSH_WRONG_CQ, flush_wrong_cq, .type = VS_QPT_RC),
	PROBE(BIND_STATUS_WRONG, bind_status_wrong, .type = VS_QPT_RC),
	PROBE(NO_FLUSH_FROM_RTR, no_flush_from_rtr, .state = VS_QPS_RTR),
	PROBE(RQ_NOT_FLUSHED, rq_not_flushed, .type = VS_QPT_RC),
	PROBE(AH_ROCEV1_REFUSED, ah_rocev1_refused, .type = VS_QPT_UD, .rocev1 = true),
	PROBE(PKEY_INDEX_UNCHECKED, pkey_index_unchecked, .stay_in_reset = true),
	PROBE(SRQ_LIMIT_AS_ERR, srq_limit_as_err, .use_srq = true),
	PROBE(SRQ_RESIZE_IGNORED, srq_resize_ignored, .use_srq = true),
	PROBE(MTU_UNCHECKED, mtu_unchecked, .state = VS_QPS_INIT, .dev.active_mtu = VS_MTU_1024),
	PROBE(NO_LAST_WQE, no_last_wqe, .use_srq = true),
	PROBE(MW_RANGE_UNCHECKED, mw_range_unchecked, .type = VS_QPT_RC),
	PROBE(MCAST_ANY_QP, mcast_any_qp, .type = VS_QPT_RC),
	PROBE(FLUSH_REVERSED, flush_reversed, .type = VS_QPT_RC),
	{.seen = NULL},
};
