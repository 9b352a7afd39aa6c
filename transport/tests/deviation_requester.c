/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * deviation_requester.c - probes of defects in what a device makes of work requests: what is sent, when it is sent
 * again, what it completes with.
 */
#include "deviation.h"

static bool rnr_delay_ignored(struct rig *r)
{
	probe_post(r, VS_WR_SEND, 1, 8, VS_SEND_SIGNALED);
	rig_drain(r);
	rig_in_ack(r, D, 0x20 | 31, 0); /* 491 ms; the ACK timer has 67 */
	rig_advance(r, 100000000);
	return probe_next(r, NULL) == VS_OP_RC_SEND_ONLY;
}

static bool local_ops_replayed(struct rig *r)
{
	struct vs_send_wr wr = {.wr_id = 2, .opcode = VS_WR_BIND_MW, .flags = VS_SEND_SIGNALED};

	probe_post(r, VS_WR_SEND, 1, 8, VS_SEND_SIGNALED);
	wr.bind.mw = probe_window(r);
	wr.bind.mr = r->mr;
	wr.bind.rkey = 1;
	wr.bind.addr = MEM(r, 0);
	wr.bind.length = 64;
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	probe_post(r, VS_WR_SEND, 3, 8, VS_SEND_SIGNALED);
	rig_drain(r);
	rig_in_ack(r, D, 0x60, 0); /* the SEND before the bind is lost: going back passes the bind */
	rig_drain(r);
	rig_in_ack(r, D + 1, 0x1f, 2);
	ck_assert_int_eq(probe_status(r->scq), VS_WC_SUCCESS);
	return probe_status(r->scq) == VS_WC_MW_BIND_ERR;
}

static bool spurious_timer(struct rig *r)
{
	unsigned i;

	for (i = 0; i < 4; i++)
		probe_post(r, VS_WR_SEND, i, 8, VS_SEND_SIGNALED);
	rig_drain(r);
	for (i = 0; i < 3; i++) {
		rig_advance(r, T_NS(14) - 1000);
		if (rig_drain(r) > 0)
			return true;
		rig_in_ack(r, D + i, 0x1f, i + 1);
	}
	return false;
}

static bool unsupported_op_silent(struct rig *r)
{
	return probe_post(r, VS_WR_RDMA_READ, 1, 8, VS_SEND_SIGNALED) == VS_OK;
}

static bool mcast_wrong_qpn(struct rig *r)
{
	struct vs_pkt p;

	probe_send_mcast(r);
	ck_assert(rig_out(r, &p));
	return p.bth.destqp != VS_QPN_MULTICAST;
}

static bool ackreq_unreliable(struct rig *r)
{
	struct vs_pkt p;

	probe_post(r, VS_WR_SEND, 1, 8, VS_SEND_SIGNALED);
	ck_assert(rig_out(r, &p));
	return p.bth.ackreq;
}

static bool atomic_lkey_status_unset(struct rig *r)
{
	struct vs_sge sge;
	struct vs_send_wr wr = rig_wr(r, VS_WR_ATOMIC_FETCH_AND_ADD, 1, &sge, 0, 8);
	struct vs_pkt p;

	sge.lkey ^= 0x100;
	vs_qp_post_send(r->qp, &wr);
	rig_drain(r);
	p = rig_pkt(r, VS_OP_RC_ATOMIC_ACKNOWLEDGE, D);
	p.ext.aeth.syndrome = 0x1f;
	rig_in(r, &p);
	return probe_status(r->scq) == VS_WC_SUCCESS;
}

static bool retry7_infinite(struct rig *r)
{
	unsigned i;

	probe_post(r, VS_WR_SEND, 1, 8, VS_SEND_SIGNALED);
	for (i = 0; i < 20; i++) {
		rig_drain(r);
		rig_advance(r, T_NS(14) + 1);
	}
	return vs_qp_state(r->qp) == VS_QPS_RTS;
}

static bool ack_completes_read(struct rig *r)
{
	probe_post(r, VS_WR_RDMA_READ, 1, 8, VS_SEND_SIGNALED);
	rig_drain(r);
	rig_in_ack(r, D, 0x1f, 1);
	return probe_status(r->scq) == VS_WC_SUCCESS;
}

static bool rnr_too_early(struct rig *r)
{
	probe_post(r, VS_WR_SEND, 1, 8, VS_SEND_SIGNALED);
	rig_drain(r);
	rig_in_ack(r, D, 0x20 | 25, 0);
	rig_advance(r, 61420000);
	return probe_next(r, NULL) == VS_OP_RC_SEND_ONLY;
}

static bool rem_op_as_access(struct rig *r)
{
	probe_post(r, VS_WR_SEND, 1, 8, VS_SEND_SIGNALED);
	rig_drain(r);
	rig_in_ack(r, D, 0x63, 0);
	return probe_status(r->scq) != VS_WC_REM_OP_ERR;
}

static bool local_inv_no_fence(struct rig *r)
{
	struct vs_mw *mw = probe_window(r);
	struct vs_send_wr wr = {.wr_id = 3, .opcode = VS_WR_LOCAL_INV, .flags = VS_SEND_SIGNALED};

	ck_assert_int_eq(probe_bind(r, mw, 1, MEM(r, 0), 64), VS_WC_SUCCESS);
	probe_post(r, VS_WR_RDMA_WRITE, 2, 8, VS_SEND_SIGNALED);
	wr.invalidate_rkey = vs_mw_rkey(mw);
	vs_qp_post_send(r->qp, &wr);
	rig_drain(r); /* the WRITE is not acknowledged */
	rig_in_write(r, VS_OP_RC_WRITE_ONLY, P, MEM(r, 0), vs_mw_rkey(mw), 8, 8);
	rig_drain(r);
	return vs_qp_state(r->qp) == VS_QPS_ERR;
}

static bool fence_ignored(struct rig *r)
{
	probe_post(r, VS_WR_RDMA_READ, 1, 8, VS_SEND_SIGNALED);
	probe_post(r, VS_WR_SEND, 2, 8, VS_SEND_SIGNALED | VS_SEND_FENCE);
	return rig_drain(r) == 2;
}

static bool fence_first_read(struct rig *r)
{
	probe_post(r, VS_WR_RDMA_READ, 1, 8, VS_SEND_SIGNALED);
	probe_post(r, VS_WR_RDMA_READ, 2, 8, VS_SEND_SIGNALED);
	probe_post(r, VS_WR_SEND, 3, 8, VS_SEND_SIGNALED | VS_SEND_FENCE);
	ck_assert_uint_eq(rig_drain(r), 2);
	rig_in_read_response(r, VS_OP_RC_READ_RESPONSE_ONLY, D, 8, 1);
	return rig_drain(r) == 1;
}

static bool stale_wqe(struct rig *r)
{
	struct vs_sge sge;
	struct vs_send_wr wr;
	struct vs_pkt p;
	unsigned i;

	for (i = 0; i < 64; i++) { /* once round the queue; these WQEs carry the operands 5 and 9 */
		ck_assert_int_eq(probe_post(r, VS_WR_SEND, i, 8, 0), VS_OK);
		rig_drain(r);
		rig_in_ack(r, D + i, 0x1f, i + 1);
	}
	wr = rig_wr(r, VS_WR_ATOMIC_FETCH_AND_ADD, 99, &sge, 0, 8);
	wr.atomic.compare_add = 1234;
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	ck_assert(rig_out(r, &p));
	return p.ext.atomiceth.swapadd != 1234;
}

static bool tclass_as_dscp(struct rig *r)
{
	struct vs_qp_attr a = rig_attr(r);
	struct vs_pkt p;

	a.state = VS_QPS_RTR;
	a.av.traffic_class = 0x10;
	ck_assert_int_eq(vs_qp_modify(r->qp, &a,
				      VS_QP_STATE | VS_QP_AV | VS_QP_PATH_MTU | VS_QP_DEST_QPN | VS_QP_RQ_PSN |
					      VS_QP_MAX_DEST_RD_ATOMIC | VS_QP_MIN_RNR_TIMER),
			 VS_OK);
	rig_in_write(r, VS_OP_RC_WRITE_ONLY, P, 0, 0, 0, 0);
	ck_assert(rig_out(r, &p));
	return p.ipv4.tos != 0x10;
}

static bool post_err_swallowed(struct rig *r)
{
	unsigned i;

	for (i = 0; i < 64; i++)
		ck_assert_int_eq(probe_post(r, VS_WR_SEND, i, 8, 0), VS_OK);
	return probe_post(r, VS_WR_SEND, 64, 8, 0) == VS_OK;
}

static bool atomic_sge_any_size(struct rig *r)
{
	probe_post(r, VS_WR_ATOMIC_FETCH_AND_ADD, 1, 4, VS_SEND_SIGNALED);
	return rig_drain(r) == 1;
}

static bool unsignaled_err_silent(struct rig *r)
{
	probe_post(r, VS_WR_SEND, 1, 8, 0);
	rig_drain(r);
	rig_in_ack(r, D, 0x62, 0);
	return probe_status(r->scq) == -1;
}

static bool timeout_early(struct rig *r)
{
	probe_post(r, VS_WR_SEND, 1, 8, VS_SEND_SIGNALED);
	rig_drain(r);
	rig_advance(r, T_NS(14) / 8);
	return rig_drain(r) > 0;
}

static bool timeout_late(struct rig *r)
{
	probe_post(r, VS_WR_SEND, 1, 8, VS_SEND_SIGNALED);
	rig_drain(r);
	rig_advance(r, 4 * T_NS(14));
	return rig_drain(r) == 0;
}

static bool rnr_timer_linear(struct rig *r)
{
	probe_post(r, VS_WR_SEND, 1, 8, VS_SEND_SIGNALED);
	rig_drain(r);
	rig_in_ack(r, D, 0x20 | 14, 0); /* 1.28 ms; taken for 0.14 */
	rig_advance(r, 200000);
	return probe_next(r, NULL) == VS_OP_RC_SEND_ONLY;
}

static bool retry_not_reset(struct rig *r)
{
	unsigned i, n = 0;

	for (i = 0; i < 10; i++) { /* a time-out each, and then the answer */
		probe_post(r, VS_WR_SEND, i, 8, VS_SEND_SIGNALED);
		rig_drain(r);
		rig_advance(r, T_NS(14) + 1000);
		if (rig_drain(r) == 0)
			break;
		rig_in_ack(r, vs_psn_add(D, (int32_t)i), 0x1f, i + 1);
		n += probe_status(r->scq) == VS_WC_SUCCESS;
	}
	return n < 10;
}

const struct probe probes_requester[] = {
	PROBE(RNR_DELAY_IGNORED, rnr_delay_ignored, .type = VS_QPT_RC),
	PROBE(LOCAL_OPS_REPLAYED, local_ops_replayed, .type = VS_QPT_RC),
	PROBE(SPURIOUS_TIMER, spurious_timer, .type = VS_QPT_RC),
	PROBE(UNSUPPORTED_OP_SILENT, unsupported_op_silent, .type = VS_QPT_UD),
	PROBE(MCAST_WRONG_QPN, mcast_wrong_qpn, .type = VS_QPT_UD),
	PROBE(ACKREQ_UNRELIABLE, ackreq_unreliable, .type = VS_QPT_UC),
	PROBE(ATOMIC_LKEY_STATUS_UNSET, atomic_lkey_status_unset, .type = VS_QPT_RC),
	PROBE(RETRY7_INFINITE, retry7_infinite, .type = VS_QPT_RC),
	PROBE(ACK_COMPLETES_READ, ack_completes_read, .type = VS_QPT_RC),
	PROBE(RNR_CODE25, rnr_too_early, .timeout = RIG_NO_TIMEOUT),
	PROBE(REM_OP_AS_ACCESS, rem_op_as_access, .type = VS_QPT_RC),
	PROBE(LOCAL_INV_NO_FENCE, local_inv_no_fence, .type = VS_QPT_RC),
	PROBE(RNR_EARLY, rnr_too_early, .timeout = RIG_NO_TIMEOUT),
	PROBE(FENCE_IGNORED, fence_ignored, .type = VS_QPT_RC),
	PROBE(STALE_WQE, stale_wqe, .type = VS_QPT_RC),
	PROBE(TCLASS_AS_DSCP, tclass_as_dscp, .state = VS_QPS_INIT),
	PROBE(FENCE_FIRST_READ, fence_first_read, .type = VS_QPT_RC),
	PROBE(POST_ERR_SWALLOWED, post_err_swallowed, .type = VS_QPT_RC),
	PROBE(ATOMIC_SGE_ANY_SIZE, atomic_sge_any_size, .type = VS_QPT_RC),
	PROBE(UNSIGNALED_ERR_SILENT, unsignaled_err_silent, .type = VS_QPT_RC),
	PROBE(TIMEOUT_ADAPTIVE, timeout_early, .type = VS_QPT_RC),
	PROBE(TIMEOUT_FLOOR, timeout_late, .type = VS_QPT_RC),
	PROBE(RNR_TIMER_LINEAR, rnr_timer_linear, .timeout = RIG_NO_TIMEOUT),
	PROBE(RETRY_NOT_RESET, retry_not_reset, .type = VS_QPT_RC),
	{.seen = NULL},
};
