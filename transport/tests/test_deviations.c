/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_deviations.c - every defect in deviations.def shows when it is asked for, and only then.
 *
 * One probe per deviation: it provokes the situation on a rig and says whether the defect was seen. A deviation
 * without a probe fails the test.
 */
#include <string.h>

#include "core/core.h"
#include "rig.h"
#include "vs/cm.h"
#include "vs/mad.h"

#define P RIG_PEER_PSN
#define D RIG_DUT_PSN
#define MEM(r, off) ((uintptr_t)(r)->mem + (off))
#define KEY(r) vs_mr_rkey((r)->mr)
#define T_NS(code) (4096ull << (code))

/* ---- small helpers ---- */

static int status_of(struct vs_cq *cq) /* of the next completion; -1: none */
{
	struct vs_wc wc;

	return vs_cq_poll(cq, &wc, 1) == 1 ? (int)wc.status : -1;
}

static int async_of(struct rig *r)
{
	struct vs_async a;

	return vs_dev_poll_async(r->dev, &a) == 1 ? (int)a.type : -1;
}

/* The next packet's opcode, or -1; its AETH syndrome in *syn (0xff: none). */
static int next(struct rig *r, uint8_t *syn)
{
	struct vs_pkt p;

	if (!rig_out(r, &p))
		return -1;
	if (syn != NULL)
		*syn = p.hdrs & VS_HDR_AETH ? p.ext.aeth.syndrome : 0xff;
	return p.bth.opcode;
}

static int post(struct rig *r, enum vs_wr_opcode op, uint64_t id, uint32_t len, unsigned flags)
{
	struct vs_sge sge;
	struct vs_send_wr wr = rig_wr(r, op, id, &sge, 0, len);

	wr.flags = flags;
	return vs_qp_post_send(r->qp, &wr);
}

static void in_atomic(struct rig *r, uint32_t psn, uint64_t va, uint32_t rkey)
{
	struct vs_pkt p = rig_pkt(r, VS_OP_RC_FETCH_ADD, psn);

	p.ext.atomiceth.va = va;
	p.ext.atomiceth.rkey = rkey;
	p.ext.atomiceth.swapadd = 1;
	rig_in(r, &p);
}

static struct vs_mw *window(struct rig *r)
{
	int err;

	return vs_mw_alloc(r->pd, VS_MW_TYPE_2, &err);
}

/* Binds and reports the completion status. */
static int bind(struct rig *r, struct vs_mw *mw, uint8_t key, uint64_t addr, uint64_t len)
{
	struct vs_send_wr wr = {.wr_id = 1, .opcode = VS_WR_BIND_MW, .flags = VS_SEND_SIGNALED};

	wr.bind.mw = mw;
	wr.bind.mr = r->mr;
	wr.bind.rkey = key;
	wr.bind.addr = addr;
	wr.bind.length = len;
	wr.bind.access = VS_ACCESS_REMOTE_WRITE;
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	rig_drain(r);
	return status_of(r->scq);
}

static const uint8_t mgid[16] = {[10] = 0xff, 0xff, 239, 1, 2, 3};

static struct vs_pkt datagram(struct rig *r, uint32_t len)
{
	struct vs_pkt p = rig_pkt(r, VS_OP_UD_SEND_ONLY, 7);

	p.ext.deth.qkey = 0x11111111;
	p.payload = rig_pattern(7);
	p.payload_len = len;
	return p;
}

static void send_mcast(struct rig *r)
{
	struct vs_qp_attr a = rig_attr(r);
	struct vs_sge sge;
	struct vs_send_wr wr = rig_wr(r, VS_WR_SEND, 1, &sge, 0, 8);
	int err;

	memcpy(a.av.dgid, mgid, 16);
	wr.ud.ah = vs_ah_create(r->pd, &a.av, &err);
	wr.ud.remote_qpn = VS_QPN_MULTICAST;
	wr.ud.remote_qkey = 0x11111111;
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
}

/* ---- probes: true when the defect is there ---- */

static bool length_unchecked(struct rig *r)
{
	rig_post_recv(r, 1, 0, 8192);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 1028);
	rig_drain(r);
	return status_of(r->rcq) == VS_WC_SUCCESS;
}

static bool ud_short_is_fatal(struct rig *r)
{
	struct vs_pkt p = datagram(r, 64);

	rig_post_recv(r, 1, 0, 64);
	rig_in(r, &p);
	return vs_qp_state(r->qp) == VS_QPS_ERR;
}

static bool atomic_write_any_length(struct rig *r)
{
	struct vs_pkt p = rig_pkt(r, VS_OP_RC_ATOMIC_WRITE, P);
	uint8_t syn;

	p.ext.reth.va = MEM(r, 0);
	p.ext.reth.rkey = KEY(r);
	p.ext.reth.dmalen = 0;
	p.payload = rig_pattern(P);
	p.payload_len = 8;
	rig_in(r, &p);
	return next(r, &syn) == VS_OP_RC_READ_RESPONSE_ONLY;
}

static bool no_nak_without_wqe(struct rig *r)
{
	rig_in_write(r, VS_OP_RC_WRITE_ONLY, P, MEM(r, 0), KEY(r) ^ 0x100, 8, 8);
	return next(r, NULL) == -1;
}

static bool rnr_delay_ignored(struct rig *r)
{
	post(r, VS_WR_SEND, 1, 8, VS_SEND_SIGNALED);
	rig_drain(r);
	rig_in_ack(r, D, 0x20 | 31, 0); /* 491 ms; the ACK timer has 67 */
	rig_advance(r, 100000000);
	return next(r, NULL) == VS_OP_RC_SEND_ONLY;
}

static bool atomic_replay_lost(struct rig *r)
{
	in_atomic(r, P, MEM(r, 0), KEY(r));
	rig_drain(r);
	in_atomic(r, P, MEM(r, 0), KEY(r));
	return next(r, NULL) == -1;
}

static bool local_ops_replayed(struct rig *r)
{
	struct vs_send_wr wr = {.wr_id = 2, .opcode = VS_WR_BIND_MW, .flags = VS_SEND_SIGNALED};

	post(r, VS_WR_SEND, 1, 8, VS_SEND_SIGNALED);
	wr.bind.mw = window(r);
	wr.bind.mr = r->mr;
	wr.bind.rkey = 1;
	wr.bind.addr = MEM(r, 0);
	wr.bind.length = 64;
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	post(r, VS_WR_SEND, 3, 8, VS_SEND_SIGNALED);
	rig_drain(r);
	rig_in_ack(r, D, 0x60, 0); /* the SEND before the bind is lost: going back passes the bind */
	rig_drain(r);
	rig_in_ack(r, D + 1, 0x1f, 2);
	ck_assert_int_eq(status_of(r->scq), VS_WC_SUCCESS);
	return status_of(r->scq) == VS_WC_MW_BIND_ERR;
}

static bool spurious_timer(struct rig *r)
{
	unsigned i;

	for (i = 0; i < 4; i++)
		post(r, VS_WR_SEND, i, 8, VS_SEND_SIGNALED);
	rig_drain(r);
	for (i = 0; i < 3; i++) {
		rig_advance(r, T_NS(14) - 1000);
		if (rig_drain(r) > 0)
			return true;
		rig_in_ack(r, D + i, 0x1f, i + 1);
	}
	return false;
}

static bool err_post_not_flushed(struct rig *r)
{
	rig_to(r, r->qp, VS_QPS_ERR);
	post(r, VS_WR_SEND, 1, 8, VS_SEND_SIGNALED);
	return status_of(r->scq) == -1;
}

static bool unsupported_op_silent(struct rig *r)
{
	return post(r, VS_WR_RDMA_READ, 1, 8, VS_SEND_SIGNALED) == VS_OK;
}

static bool mw_same_key_refused(struct rig *r)
{
	struct vs_mw *mw = window(r);

	return bind(r, mw, (uint8_t)vs_mw_rkey(mw), MEM(r, 0), 64) != VS_WC_SUCCESS;
}

static bool local_inv_wrong_key(struct rig *r)
{
	struct vs_mw *mw = window(r);
	struct vs_send_wr wr = {.wr_id = 2, .opcode = VS_WR_LOCAL_INV, .flags = VS_SEND_SIGNALED};

	ck_assert_int_eq(bind(r, mw, 9, MEM(r, 0), 64), VS_WC_SUCCESS);
	wr.invalidate_rkey = vs_mw_rkey(mw);
	vs_qp_post_send(r->qp, &wr);
	rig_drain(r);
	return status_of(r->scq) != VS_WC_SUCCESS;
}

static bool zero_len_rkey_checked(struct rig *r)
{
	rig_in_write(r, VS_OP_RC_WRITE_ONLY, P, 0, 0xbad, 0, 0);
	rig_drain(r);
	return vs_qp_state(r->qp) == VS_QPS_ERR;
}

static bool read_replay_lost(struct rig *r)
{
	rig_in_read(r, P, MEM(r, 0), KEY(r), 8);
	rig_drain(r);
	rig_in_read(r, P, MEM(r, 0), KEY(r), 8);
	return next(r, NULL) == -1;
}

static bool atomic_nak_opcode(struct rig *r)
{
	in_atomic(r, P, MEM(r, 0), KEY(r) ^ 0x100);
	return next(r, NULL) == VS_OP_RC_ATOMIC_ACKNOWLEDGE;
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
	ck_assert_int_eq(status_of(r->rcq), VS_WC_SUCCESS);
	return true;
}

static bool mcast_wrong_qpn(struct rig *r)
{
	struct vs_pkt p;

	send_mcast(r);
	ck_assert(rig_out(r, &p));
	return p.bth.destqp != VS_QPN_MULTICAST;
}

static bool mcast_not_looped(struct rig *r)
{
	struct vs_qp_init init = {.type = VS_QPT_UD, .send_cq = r->scq, .recv_cq = r->rcq, .cap = {8, 8, 2, 2, 0}};
	struct vs_qp *other = rig_qp(r, &init);
	struct vs_sge sge = {MEM(r, 0), 1024, vs_mr_lkey(r->mr)};
	struct vs_recv_wr wr = {1, &sge, 1};

	rig_to(r, other, VS_QPS_RTS);
	vs_qp_attach_mcast(other, mgid, 0);
	vs_qp_post_recv(other, &wr);
	send_mcast(r);
	rig_drain(r);
	return status_of(r->rcq) == -1;
}

static bool ackreq_unreliable(struct rig *r)
{
	struct vs_pkt p;

	post(r, VS_WR_SEND, 1, 8, VS_SEND_SIGNALED);
	ck_assert(rig_out(r, &p));
	return p.bth.ackreq;
}

static bool no_access_event(struct rig *r)
{
	rig_in_write(r, VS_OP_RC_WRITE_ONLY, P, MEM(r, 0), KEY(r) ^ 0x100, 8, 8);
	return async_of(r) == -1;
}

static bool resources_lost_on_modify(struct rig *r)
{
	struct vs_qp_attr a = rig_attr(r);

	rig_in_read(r, P, MEM(r, 0), KEY(r), 8);
	rig_drain(r);
	return vs_qp_modify(r->qp, &a, VS_QP_MAX_DEST_RD_ATOMIC) == VS_OK;
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
	return status_of(r->scq) == VS_WC_SUCCESS;
}

static bool retry7_infinite(struct rig *r)
{
	unsigned i;

	post(r, VS_WR_SEND, 1, 8, VS_SEND_SIGNALED);
	for (i = 0; i < 20; i++) {
		rig_drain(r);
		rig_advance(r, T_NS(14) + 1);
	}
	return vs_qp_state(r->qp) == VS_QPS_RTS;
}

static bool ack_completes_read(struct rig *r)
{
	post(r, VS_WR_RDMA_READ, 1, 8, VS_SEND_SIGNALED);
	rig_drain(r);
	rig_in_ack(r, D, 0x1f, 1);
	return status_of(r->scq) == VS_WC_SUCCESS;
}

static bool rnr_too_early(struct rig *r)
{
	post(r, VS_WR_SEND, 1, 8, VS_SEND_SIGNALED);
	rig_drain(r);
	rig_in_ack(r, D, 0x20 | 25, 0);
	rig_advance(r, 61420000);
	return next(r, NULL) == VS_OP_RC_SEND_ONLY;
}

static bool count_before_icrc(struct rig *r)
{
	struct vs_pkt p = rig_pkt(r, VS_OP_RC_SEND_ONLY, P);
	uint8_t scratch[512];

	p.bth.pkey = 0x8001;
	ck_assert_int_eq(vs_pkt_seal(&p, VS_SEAL_ALL, scratch, sizeof(scratch)), VS_OK);
	p.icrc ^= 1;
	rig_in_raw(r, &p);
	return rig_counter(r, VS_CNT_BAD_PKEY) == 1;
}

static bool atomic_misaligned_ok(struct rig *r)
{
	in_atomic(r, P, MEM(r, 4), KEY(r));
	return next(r, NULL) == VS_OP_RC_ATOMIC_ACKNOWLEDGE;
}

static bool flush_wrong_cq(struct rig *r)
{
	rig_post_recv(r, 1, 0, 64);
	rig_to(r, r->qp, VS_QPS_ERR);
	return status_of(r->scq) == VS_WC_WR_FLUSH_ERR;
}

static bool bind_status_wrong(struct rig *r)
{
	struct vs_mw *mw = window(r);

	ck_assert_int_eq(bind(r, mw, 1, MEM(r, 0), 64), VS_WC_SUCCESS);
	return bind(r, mw, 2, MEM(r, 0), 64) != VS_WC_MW_BIND_ERR;
}

static bool rem_op_as_access(struct rig *r)
{
	post(r, VS_WR_SEND, 1, 8, VS_SEND_SIGNALED);
	rig_drain(r);
	rig_in_ack(r, D, 0x63, 0);
	return status_of(r->scq) != VS_WC_REM_OP_ERR;
}

static bool local_inv_no_fence(struct rig *r)
{
	struct vs_mw *mw = window(r);
	struct vs_send_wr wr = {.wr_id = 3, .opcode = VS_WR_LOCAL_INV, .flags = VS_SEND_SIGNALED};

	ck_assert_int_eq(bind(r, mw, 1, MEM(r, 0), 64), VS_WC_SUCCESS);
	post(r, VS_WR_RDMA_WRITE, 2, 8, VS_SEND_SIGNALED);
	wr.invalidate_rkey = vs_mw_rkey(mw);
	vs_qp_post_send(r->qp, &wr);
	rig_drain(r); /* the WRITE is not acknowledged */
	rig_in_write(r, VS_OP_RC_WRITE_ONLY, P, MEM(r, 0), vs_mw_rkey(mw), 8, 8);
	rig_drain(r);
	return vs_qp_state(r->qp) == VS_QPS_ERR;
}

static bool no_flush_from_rtr(struct rig *r)
{
	struct vs_qp_attr a = {.state = VS_QPS_ERR};

	rig_post_recv(r, 1, 0, 64);
	ck_assert_int_eq(vs_qp_modify(r->qp, &a, VS_QP_STATE), VS_OK);
	return status_of(r->rcq) == -1;
}

static bool rq_not_flushed(struct rig *r)
{
	return no_flush_from_rtr(r);
}

static bool fence_ignored(struct rig *r)
{
	post(r, VS_WR_RDMA_READ, 1, 8, VS_SEND_SIGNALED);
	post(r, VS_WR_SEND, 2, 8, VS_SEND_SIGNALED | VS_SEND_FENCE);
	return rig_drain(r) == 2;
}

static bool fence_first_read(struct rig *r)
{
	post(r, VS_WR_RDMA_READ, 1, 8, VS_SEND_SIGNALED);
	post(r, VS_WR_RDMA_READ, 2, 8, VS_SEND_SIGNALED);
	post(r, VS_WR_SEND, 3, 8, VS_SEND_SIGNALED | VS_SEND_FENCE);
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
		ck_assert_int_eq(post(r, VS_WR_SEND, i, 8, 0), VS_OK);
		rig_drain(r);
		rig_in_ack(r, D + i, 0x1f, i + 1);
	}
	wr = rig_wr(r, VS_WR_ATOMIC_FETCH_AND_ADD, 99, &sge, 0, 8);
	wr.atomic.compare_add = 1234;
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	ck_assert(rig_out(r, &p));
	return p.ext.atomiceth.swapadd != 1234;
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

static bool srq_limit_as_err(struct rig *r)
{
	struct vs_srq_attr a = {.srq_limit = 1};

	rig_post_recv(r, 1, 0, 64);
	vs_srq_modify(r->srq, &a, VS_SRQ_LIMIT);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 8);
	return async_of(r) == VS_EVENT_SRQ_ERR;
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
	return async_of(r) == -1;
}

static bool post_err_swallowed(struct rig *r)
{
	unsigned i;

	for (i = 0; i < 64; i++)
		ck_assert_int_eq(post(r, VS_WR_SEND, i, 8, 0), VS_OK);
	return post(r, VS_WR_SEND, 64, 8, 0) == VS_OK;
}

static bool mw_range_unchecked(struct rig *r)
{
	return bind(r, window(r), 1, MEM(r, 0) + RIG_MEM - 8, 64) == VS_WC_SUCCESS;
}

static bool atomic_sge_any_size(struct rig *r)
{
	post(r, VS_WR_ATOMIC_FETCH_AND_ADD, 1, 4, VS_SEND_SIGNALED);
	return rig_drain(r) == 1;
}

static bool unsignaled_err_silent(struct rig *r)
{
	post(r, VS_WR_SEND, 1, 8, 0);
	rig_drain(r);
	rig_in_ack(r, D, 0x62, 0);
	return status_of(r->scq) == -1;
}

static bool mcast_any_qp(struct rig *r)
{
	return vs_qp_attach_mcast(r->qp, mgid, 0) == VS_OK && vs_qp_detach_mcast(r->qp, mgid, 0) == VS_OK;
}

static bool no_drep_unknown(struct rig *r)
{
	struct vs_pkt p = rig_pkt(r, VS_OP_UD_SEND_ONLY, 3);
	struct vs_mad h = {1, VS_MAD_CLASS_CM, 2, VS_MAD_METHOD_SEND, 0, 0, 7, VS_CM_ATTR_DREQ, 0, 0};
	struct vs_cm_msg m = {.attribute = VS_CM_ATTR_DREQ};
	uint8_t mad[VS_MAD_LEN];

	vs_mad_build(&h, mad);
	ck_assert_int_eq(vs_cm_build(&m, mad + VS_MAD_HDR_LEN), VS_OK);
	p.bth.destqp = 1;
	p.ext.deth.qkey = VS_GSI_QKEY;
	p.payload = mad;
	p.payload_len = sizeof(mad);
	rig_in(r, &p);
	return next(r, NULL) == -1;
}

static bool migreq_required(struct rig *r)
{
	struct vs_pkt p = rig_pkt(r, VS_OP_RC_SEND_ONLY, P);

	rig_post_recv(r, 1, 0, 64);
	p.bth.migreq = false;
	rig_in(r, &p);
	return next(r, NULL) == -1;
}

static bool cnp_on_nak(struct rig *r)
{
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P + 1, 8);
	return next(r, NULL) == VS_OP_CNP;
}

static bool timeout_early(struct rig *r)
{
	post(r, VS_WR_SEND, 1, 8, VS_SEND_SIGNALED);
	rig_drain(r);
	rig_advance(r, T_NS(14) / 8);
	return rig_drain(r) > 0;
}

static bool timeout_late(struct rig *r)
{
	post(r, VS_WR_SEND, 1, 8, VS_SEND_SIGNALED);
	rig_drain(r);
	rig_advance(r, 4 * T_NS(14));
	return rig_drain(r) == 0;
}

/* What came before the PSNs wrapped comes again behind: a plain number takes it for ahead. */
static bool psn_no_wrap(struct rig *r)
{
	uint32_t psn = P;
	uint8_t syn;

	while (psn != 1) {
		rig_in_write(r, VS_OP_RC_WRITE_ONLY, psn, MEM(r, 0), KEY(r), 8, 8);
		psn = vs_psn_add(psn, 1);
	}
	rig_drain(r);
	rig_in_write(r, VS_OP_RC_WRITE_ONLY, P, MEM(r, 0), KEY(r), 8, 8);
	return next(r, &syn) == VS_OP_RC_ACKNOWLEDGE && syn == 0x60;
}

static bool ack_next_psn(struct rig *r)
{
	struct vs_pkt p;

	rig_in_write(r, VS_OP_RC_WRITE_ONLY, P, MEM(r, 0), KEY(r), 8, 8);
	ck_assert(rig_out(r, &p));
	return p.bth.psn == vs_psn_add(P, 1);
}

static bool dup_send_delivered(struct rig *r)
{
	rig_post_recv(r, 1, 0, 64);
	rig_post_recv(r, 2, 0, 64);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 8);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 8);
	ck_assert_int_eq(status_of(r->rcq), VS_WC_SUCCESS);
	return status_of(r->rcq) == VS_WC_SUCCESS;
}

static bool atomic_reexecuted(struct rig *r)
{
	uint64_t before, after;

	in_atomic(r, P, MEM(r, 0), KEY(r));
	memcpy(&before, r->mem, 8);
	in_atomic(r, P, MEM(r, 0), KEY(r));
	memcpy(&after, r->mem, 8);
	return after == before + 1;
}

static bool range_off_by_one(struct rig *r)
{
	const struct vs_mr_attr a = {.addr = MEM(r, 0),
				     .iova = MEM(r, 0),
				     .length = 64,
				     .access = VS_ACCESS_LOCAL_WRITE | VS_ACCESS_REMOTE_WRITE};
	uint8_t syn;
	int err;
	struct vs_mr *mr = vs_mr_reg(r->pd, &a, &err);

	rig_in_write(r, VS_OP_RC_WRITE_ONLY, P, MEM(r, 57), vs_mr_rkey(mr), 8, 8);
	return next(r, &syn) == VS_OP_RC_ACKNOWLEDGE && syn == 0x1f;
}

static bool recv_length_per_packet(struct rig *r)
{
	uint8_t syn;

	rig_post_recv(r, 1, 0, 1032);
	rig_in_send(r, VS_OP_RC_SEND_FIRST, P, 1024);
	rig_in_send(r, VS_OP_RC_SEND_LAST, vs_psn_add(P, 1), 64);
	while (next(r, &syn) >= 0 && syn == 0x1f)
		;
	return status_of(r->rcq) == VS_WC_SUCCESS;
}

static bool rnr_timer_linear(struct rig *r)
{
	post(r, VS_WR_SEND, 1, 8, VS_SEND_SIGNALED);
	rig_drain(r);
	rig_in_ack(r, D, 0x20 | 14, 0); /* 1.28 ms; taken for 0.14 */
	rig_advance(r, 200000);
	return next(r, NULL) == VS_OP_RC_SEND_ONLY;
}

static bool retry_not_reset(struct rig *r)
{
	unsigned i, n = 0;

	for (i = 0; i < 10; i++) { /* a time-out each, and then the answer */
		post(r, VS_WR_SEND, i, 8, VS_SEND_SIGNALED);
		rig_drain(r);
		rig_advance(r, T_NS(14) + 1000);
		if (rig_drain(r) == 0)
			break;
		rig_in_ack(r, vs_psn_add(D, (int32_t)i), 0x1f, i + 1);
		n += status_of(r->scq) == VS_WC_SUCCESS;
	}
	return n < 10;
}

static bool flush_reversed(struct rig *r)
{
	struct vs_wc wc = {.wr_id = 0};

	post(r, VS_WR_SEND, 1, 8, VS_SEND_SIGNALED);
	post(r, VS_WR_SEND, 2, 8, VS_SEND_SIGNALED);
	rig_to(r, r->qp, VS_QPS_ERR);
	ck_assert_int_eq(vs_cq_poll(r->scq, &wc, 1), 1);
	return wc.wr_id == 2;
}

/* ---- the table ---- */

struct probe {
	bool (*seen)(struct rig *r);
	struct rig_opt opt;
};

#define PROBE(ID, fn, ...) [VS_DEVIATION_##ID] = {.seen = fn, .opt = {__VA_ARGS__}}
static const struct probe probes[VS_DEVIATION_COUNT] = {
	PROBE(LENGTH_UNCHECKED, length_unchecked, .type = VS_QPT_RC),
	PROBE(UD_SHORT_IS_FATAL, ud_short_is_fatal, .type = VS_QPT_UD),
	PROBE(ATOMIC_WRITE_ANY_LENGTH, atomic_write_any_length, .type = VS_QPT_RC),
	PROBE(NO_NAK_WITHOUT_WQE, no_nak_without_wqe, .type = VS_QPT_RC),
	PROBE(RNR_DELAY_IGNORED, rnr_delay_ignored, .type = VS_QPT_RC),
	PROBE(ATOMIC_REPLAY_LOST, atomic_replay_lost, .type = VS_QPT_RC),
	PROBE(LOCAL_OPS_REPLAYED, local_ops_replayed, .type = VS_QPT_RC),
	PROBE(SPURIOUS_TIMER, spurious_timer, .type = VS_QPT_RC),
	PROBE(ERR_POST_NOT_FLUSHED, err_post_not_flushed, .type = VS_QPT_RC),
	PROBE(UNSUPPORTED_OP_SILENT, unsupported_op_silent, .type = VS_QPT_UD),
	PROBE(MW_SAME_KEY_REFUSED, mw_same_key_refused, .type = VS_QPT_RC),
	PROBE(LOCAL_INV_WRONG_KEY, local_inv_wrong_key, .type = VS_QPT_RC),
	PROBE(ZERO_LEN_RKEY_CHECKED, zero_len_rkey_checked, .type = VS_QPT_RC),
	PROBE(READ_REPLAY_LOST, read_replay_lost, .type = VS_QPT_RC),
	PROBE(ATOMIC_NAK_OPCODE, atomic_nak_opcode, .type = VS_QPT_RC),
	PROBE(CQ_DESTROY_IN_USE, cq_destroy_in_use, .type = VS_QPT_RC),
	PROBE(MCAST_WRONG_QPN, mcast_wrong_qpn, .type = VS_QPT_UD),
	PROBE(MCAST_NOT_LOOPED, mcast_not_looped, .type = VS_QPT_UD),
	PROBE(ACKREQ_UNRELIABLE, ackreq_unreliable, .type = VS_QPT_UC),
	PROBE(NO_ACCESS_EVENT, no_access_event, .type = VS_QPT_RC),
	PROBE(RESOURCES_LOST_ON_MODIFY, resources_lost_on_modify, .type = VS_QPT_RC),
	PROBE(ATOMIC_LKEY_STATUS_UNSET, atomic_lkey_status_unset, .type = VS_QPT_RC),
	PROBE(RETRY7_INFINITE, retry7_infinite, .type = VS_QPT_RC),
	PROBE(ACK_COMPLETES_READ, ack_completes_read, .type = VS_QPT_RC),
	PROBE(RNR_CODE25, rnr_too_early, .timeout = RIG_NO_TIMEOUT),
	PROBE(COUNT_BEFORE_ICRC, count_before_icrc, .type = VS_QPT_RC),
	PROBE(ATOMIC_MISALIGNED_OK, atomic_misaligned_ok, .type = VS_QPT_RC),
	PROBE(FLUSH_WRONG_CQ, flush_wrong_cq, .type = VS_QPT_RC),
	PROBE(BIND_STATUS_WRONG, bind_status_wrong, .type = VS_QPT_RC),
	PROBE(REM_OP_AS_ACCESS, rem_op_as_access, .type = VS_QPT_RC),
	PROBE(LOCAL_INV_NO_FENCE, local_inv_no_fence, .type = VS_QPT_RC),
	PROBE(NO_FLUSH_FROM_RTR, no_flush_from_rtr, .state = VS_QPS_RTR),
	PROBE(RQ_NOT_FLUSHED, rq_not_flushed, .type = VS_QPT_RC),
	PROBE(RNR_EARLY, rnr_too_early, .timeout = RIG_NO_TIMEOUT),
	PROBE(FENCE_IGNORED, fence_ignored, .type = VS_QPT_RC),
	PROBE(STALE_WQE, stale_wqe, .type = VS_QPT_RC),
	PROBE(AH_ROCEV1_REFUSED, ah_rocev1_refused, .type = VS_QPT_UD, .rocev1 = true),
	PROBE(PKEY_INDEX_UNCHECKED, pkey_index_unchecked, .stay_in_reset = true),
	PROBE(TCLASS_AS_DSCP, tclass_as_dscp, .state = VS_QPS_INIT),
	PROBE(SRQ_LIMIT_AS_ERR, srq_limit_as_err, .use_srq = true),
	PROBE(SRQ_RESIZE_IGNORED, srq_resize_ignored, .use_srq = true),
	PROBE(MTU_UNCHECKED, mtu_unchecked, .state = VS_QPS_INIT, .dev.active_mtu = VS_MTU_1024),
	PROBE(NO_LAST_WQE, no_last_wqe, .use_srq = true),
	PROBE(FENCE_FIRST_READ, fence_first_read, .type = VS_QPT_RC),
	PROBE(POST_ERR_SWALLOWED, post_err_swallowed, .type = VS_QPT_RC),
	PROBE(MW_RANGE_UNCHECKED, mw_range_unchecked, .type = VS_QPT_RC),
	PROBE(ATOMIC_SGE_ANY_SIZE, atomic_sge_any_size, .type = VS_QPT_RC),
	PROBE(UNSIGNALED_ERR_SILENT, unsignaled_err_silent, .type = VS_QPT_RC),
	PROBE(MCAST_ANY_QP, mcast_any_qp, .type = VS_QPT_RC),
	PROBE(NO_DREP_UNKNOWN, no_drep_unknown, .type = VS_QPT_RC),
	PROBE(MIGREQ_REQUIRED, migreq_required, .type = VS_QPT_RC),
	PROBE(CNP_ON_NAK, cnp_on_nak, .type = VS_QPT_RC),
	PROBE(TIMEOUT_ADAPTIVE, timeout_early, .type = VS_QPT_RC),
	PROBE(TIMEOUT_FLOOR, timeout_late, .type = VS_QPT_RC),
	PROBE(PSN_NO_WRAP, psn_no_wrap, .type = VS_QPT_RC),
	PROBE(ACK_NEXT_PSN, ack_next_psn, .type = VS_QPT_RC),
	PROBE(DUP_SEND_DELIVERED, dup_send_delivered, .type = VS_QPT_RC),
	PROBE(ATOMIC_REEXECUTED, atomic_reexecuted, .type = VS_QPT_RC),
	PROBE(RANGE_OFF_BY_ONE, range_off_by_one, .type = VS_QPT_RC),
	PROBE(RECV_LENGTH_PER_PACKET, recv_length_per_packet, .type = VS_QPT_RC),
	PROBE(RNR_TIMER_LINEAR, rnr_timer_linear, .timeout = RIG_NO_TIMEOUT),
	PROBE(RETRY_NOT_RESET, retry_not_reset, .type = VS_QPT_RC),
	PROBE(FLUSH_REVERSED, flush_reversed, .type = VS_QPT_RC),
};

static bool run(unsigned d, bool on)
{
	struct rig_opt o = probes[d].opt;
	struct rig *r;
	bool seen;

	if (on)
		o.deviations = 1ull << d;
	r = rig_new(&o);
	seen = probes[d].seen(r);
	rig_free(r);
	return seen;
}

START_TEST(a_deviation_shows_when_it_is_asked_for)
{
	ck_assert_msg(probes[_i].seen != NULL, "no probe for %s", vs_deviation_name((enum vs_deviation)_i));
	ck_assert_msg(run((unsigned)_i, true), "%s does not show", vs_deviation_name((enum vs_deviation)_i));
}
END_TEST

START_TEST(a_deviation_is_not_there_otherwise)
{
	ck_assert_msg(probes[_i].seen != NULL, "no probe for %s", vs_deviation_name((enum vs_deviation)_i));
	ck_assert_msg(!run((unsigned)_i, false), "%s shows unasked", vs_deviation_name((enum vs_deviation)_i));
}
END_TEST

START_TEST(every_deviation_has_a_name_that_finds_it)
{
	unsigned d;

	for (d = 0; d < VS_DEVIATION_COUNT; d++)
		ck_assert_uint_eq(vs_deviation_by_name(vs_deviation_name((enum vs_deviation)d)), d);
	ck_assert_uint_eq(vs_deviation_by_name("no_such_defect"), VS_DEVIATION_COUNT);
	ck_assert_str_eq(vs_deviation_name(VS_DEVIATION_COUNT), "?");
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("deviations");
	TCase *tc = tcase_create("probes");

	tcase_add_loop_test(tc, a_deviation_shows_when_it_is_asked_for, 0, VS_DEVIATION_COUNT);
	tcase_add_loop_test(tc, a_deviation_is_not_there_otherwise, 0, VS_DEVIATION_COUNT);
	tcase_add_test(tc, every_deviation_has_a_name_that_finds_it);
	suite_add_tcase(s, tc);
	return s;
}
