/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * deviation_responder.c - probes of defects in what a device makes of packets that come.
 */
#include <string.h>

#include "deviation.h"
#include "vs/cm.h"
#include "vs/mad.h"

static struct vs_pkt datagram(struct rig *r, uint32_t len)
{
	struct vs_pkt p = rig_pkt(r, VS_OP_UD_SEND_ONLY, 7);

	p.ext.deth.qkey = 0x11111111;
	p.payload = rig_pattern(7);
	p.payload_len = len;
	return p;
}

static bool length_unchecked(struct rig *r)
{
	rig_post_recv(r, 1, 0, 8192);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 1028);
	rig_drain(r);
	return probe_status(r->rcq) == VS_WC_SUCCESS;
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
	return probe_next(r, &syn) == VS_OP_RC_READ_RESPONSE_ONLY;
}

static bool no_nak_without_wqe(struct rig *r)
{
	rig_in_write(r, VS_OP_RC_WRITE_ONLY, P, MEM(r, 0), KEY(r) ^ 0x100, 8, 8);
	return probe_next(r, NULL) == -1;
}

static bool atomic_replay_lost(struct rig *r)
{
	rig_in_op(r, 2, P, MEM(r, 0), KEY(r));
	rig_drain(r);
	rig_in_op(r, 2, P, MEM(r, 0), KEY(r));
	return probe_next(r, NULL) == -1;
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
	return probe_next(r, NULL) == -1;
}

static bool atomic_nak_opcode(struct rig *r)
{
	rig_in_op(r, 2, P, MEM(r, 0), KEY(r) ^ 0x100);
	return probe_next(r, NULL) == VS_OP_RC_ATOMIC_ACKNOWLEDGE;
}

static bool mcast_not_looped(struct rig *r)
{
	struct vs_qp_init init = {.type = VS_QPT_UD, .send_cq = r->scq, .recv_cq = r->rcq, .cap = {8, 8, 2, 2, 0}};
	struct vs_qp *other = rig_qp(r, &init);
	struct vs_sge sge = {MEM(r, 0), 1024, vs_mr_lkey(r->mr)};
	struct vs_recv_wr wr = {1, &sge, 1};

	rig_to(r, other, VS_QPS_RTS);
	vs_qp_attach_mcast(other, probe_mgid, 0);
	vs_qp_post_recv(other, &wr);
	probe_send_mcast(r);
	rig_drain(r);
	return probe_status(r->rcq) == -1;
}

static bool no_access_event(struct rig *r)
{
	rig_in_write(r, VS_OP_RC_WRITE_ONLY, P, MEM(r, 0), KEY(r) ^ 0x100, 8, 8);
	return probe_async(r) == -1;
}

static bool resources_lost_on_modify(struct rig *r)
{
	struct vs_qp_attr a = rig_attr(r);

	rig_in_read(r, P, MEM(r, 0), KEY(r), 8);
	rig_drain(r);
	return vs_qp_modify(r->qp, &a, VS_QP_MAX_DEST_RD_ATOMIC) == VS_OK;
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
	rig_in_op(r, 2, P, MEM(r, 4), KEY(r));
	return probe_next(r, NULL) == VS_OP_RC_ATOMIC_ACKNOWLEDGE;
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
	return probe_next(r, NULL) == -1;
}

static bool migreq_required(struct rig *r)
{
	struct vs_pkt p = rig_pkt(r, VS_OP_RC_SEND_ONLY, P);

	rig_post_recv(r, 1, 0, 64);
	p.bth.migreq = false;
	rig_in(r, &p);
	return probe_next(r, NULL) == -1;
}

static bool cnp_on_nak(struct rig *r)
{
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P + 1, 8);
	return probe_next(r, NULL) == VS_OP_CNP;
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
	return probe_next(r, &syn) == VS_OP_RC_ACKNOWLEDGE && syn == 0x60;
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
	ck_assert_int_eq(probe_status(r->rcq), VS_WC_SUCCESS);
	return probe_status(r->rcq) == VS_WC_SUCCESS;
}

static bool atomic_reexecuted(struct rig *r)
{
	uint64_t before, after;

	rig_in_op(r, 2, P, MEM(r, 0), KEY(r));
	memcpy(&before, r->mem, 8);
	rig_in_op(r, 2, P, MEM(r, 0), KEY(r));
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
	return probe_next(r, &syn) == VS_OP_RC_ACKNOWLEDGE && syn == 0x1f;
}

static bool recv_length_per_packet(struct rig *r)
{
	uint8_t syn;

	rig_post_recv(r, 1, 0, 1032);
	rig_in_send(r, VS_OP_RC_SEND_FIRST, P, 1024);
	rig_in_send(r, VS_OP_RC_SEND_LAST, vs_psn_add(P, 1), 64);
	while (probe_next(r, &syn) >= 0 && syn == 0x1f)
		;
	return probe_status(r->rcq) == VS_WC_SUCCESS;
}

const struct probe probes_responder[] = {
	PROBE(LENGTH_UNCHECKED, length_unchecked, .type = VS_QPT_RC),
	PROBE(UD_SHORT_IS_FATAL, ud_short_is_fatal, .type = VS_QPT_UD),
	PROBE(ATOMIC_WRITE_ANY_LENGTH, atomic_write_any_length, .type = VS_QPT_RC),
	PROBE(NO_NAK_WITHOUT_WQE, no_nak_without_wqe, .type = VS_QPT_RC),
	PROBE(ATOMIC_REPLAY_LOST, atomic_replay_lost, .type = VS_QPT_RC),
	PROBE(ZERO_LEN_RKEY_CHECKED, zero_len_rkey_checked, .type = VS_QPT_RC),
	PROBE(READ_REPLAY_LOST, read_replay_lost, .type = VS_QPT_RC),
	PROBE(ATOMIC_NAK_OPCODE, atomic_nak_opcode, .type = VS_QPT_RC),
	PROBE(MCAST_NOT_LOOPED, mcast_not_looped, .type = VS_QPT_UD),
	PROBE(NO_ACCESS_EVENT, no_access_event, .type = VS_QPT_RC),
	PROBE(RESOURCES_LOST_ON_MODIFY, resources_lost_on_modify, .type = VS_QPT_RC),
	PROBE(COUNT_BEFORE_ICRC, count_before_icrc, .type = VS_QPT_RC),
	PROBE(ATOMIC_MISALIGNED_OK, atomic_misaligned_ok, .type = VS_QPT_RC),
	PROBE(NO_DREP_UNKNOWN, no_drep_unknown, .type = VS_QPT_RC),
	PROBE(MIGREQ_REQUIRED, migreq_required, .type = VS_QPT_RC),
	PROBE(CNP_ON_NAK, cnp_on_nak, .type = VS_QPT_RC),
	PROBE(PSN_NO_WRAP, psn_no_wrap, .type = VS_QPT_RC),
	PROBE(ACK_NEXT_PSN, ack_next_psn, .type = VS_QPT_RC),
	PROBE(DUP_SEND_DELIVERED, dup_send_delivered, .type = VS_QPT_RC),
	PROBE(ATOMIC_REEXECUTED, atomic_reexecuted, .type = VS_QPT_RC),
	PROBE(RANGE_OFF_BY_ONE, range_off_by_one, .type = VS_QPT_RC),
	PROBE(RECV_LENGTH_PER_PACKET, recv_length_per_packet, .type = VS_QPT_RC),
	{.seen = NULL},
};
