/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* monrig.c - see monrig.h. */
#include "monrig.h"

#include <stdio.h>

#define UNLIMITED 0x1f /* no credit limit */

struct monrig rig;

static const uint8_t payload[8192];
static uint8_t mad[VS_MAD_LEN];

static void on_finding(void *ctx, const struct vs_mon_finding *f)
{
	struct monrig *r = ctx;

	ck_assert_uint_le(f->frame, r->frame); /* less only at the end */
	ck_assert_uint_le(f->other, f->frame);
	r->found[f->rule]++;
	(void)snprintf(r->text, sizeof(r->text), "%s", f->text);
}

static void on_link(void *ctx, uint32_t frame, enum vs_mon_link kind, uint32_t later)
{
	struct monrig *r = ctx;

	r->link.frame = frame;
	r->link.kind = kind;
	r->link.later = later;
	if (kind == VS_MON_LINK_ANSWERED && frame < 64)
		r->answered |= UINT64_C(1) << frame;
}

void rig_begin(const struct vs_monitor_attr *attr)
{
	struct vs_monitor_attr a = attr != NULL ? *attr : (struct vs_monitor_attr){0};

	memset(&rig, 0, sizeof(rig));
	a.ctx = &rig;
	a.finding = on_finding;
	a.link = on_link;
	rig.m = vs_monitor_new(&a);
	rig.status = VS_CRC_GOOD;
	rig.now_ns = 1000000000;
	ck_assert_ptr_nonnull(rig.m);
}

void rig_end(void)
{
	vs_monitor_free(rig.m);
	rig.m = NULL;
}

unsigned rig_musts(void)
{
	return (unsigned)vs_monitor_totals(rig.m)->broken[VS_RULE_MUST];
}

void wait_us(int64_t us)
{
	rig.now_ns += us * 1000;
}

void go(void)
{
	struct vs_mon_packet in = {.frame = ++rig.frame,
				   .time_ns = rig.now_ns += 1000,
				   .pkt = &rig.p,
				   .icrc = rig.status,
				   .vcrc = VS_CRC_UNVERIFIED,
				   .vantage = rig.vantage};

	ck_assert_int_eq(vs_pkt_seal(&rig.p, VS_SEAL_PAD | VS_SEAL_LEN | VS_SEAL_CSUM, NULL, 0), VS_OK);
	rig.p.flags |= VS_PKT_HAS_ICRC;
	rig.p.icrc = rig.icrc != 0 ? rig.icrc : rig.frame;
	vs_monitor_packet(rig.m, &in, &rig.out);
}

static void make(uint8_t opcode, bool from_a, uint32_t psn, uint32_t len)
{
	struct vs_pkt *p = &rig.p;

	vs_pkt_init(p, VS_ENCAP_ROCEV2_IPV4, opcode, false);
	memcpy(p->ipv4.src, (uint8_t[]){10, 0, 0, from_a ? 1 : 2}, 4);
	memcpy(p->ipv4.dst, (uint8_t[]){10, 0, 0, from_a ? 2 : 1}, 4);
	p->udp.sport = from_a ? 0xc001 : 0xc002;
	p->bth.destqp = from_a ? MONRIG_QP_B : MONRIG_QP_A;
	p->bth.psn = psn;
	p->payload = payload;
	p->payload_len = len;
}

void make_request(uint8_t opcode, uint32_t psn, uint32_t len)
{
	make(opcode, true, psn, len);
	if (rig.p.hdrs & VS_HDR_RETH) {
		rig.p.ext.reth.va = 0x1000;
		rig.p.ext.reth.rkey = 7;
		rig.p.ext.reth.dmalen = len;
	}
}

void request(uint8_t opcode, uint32_t psn, uint32_t len)
{
	make_request(opcode, psn, len);
	go();
}

void write_first(uint32_t psn, uint32_t len, uint32_t dmalen)
{
	make_request(VS_OP_RC_WRITE_FIRST, psn, len);
	rig.p.ext.reth.dmalen = dmalen;
	go();
}

void read_request(uint32_t psn, uint64_t va, uint32_t dmalen)
{
	make_request(VS_OP_RC_READ_REQUEST, psn, 0);
	rig.p.ext.reth.va = va;
	rig.p.ext.reth.dmalen = dmalen;
	go();
}

void atomic_request(uint32_t psn, uint64_t add)
{
	make_request(VS_OP_RC_FETCH_ADD, psn, 0);
	rig.p.ext.atomiceth.va = 0x1000;
	rig.p.ext.atomiceth.rkey = 7;
	rig.p.ext.atomiceth.swapadd = add;
	go();
}

void make_answer(uint8_t opcode, uint32_t psn, uint32_t len, uint8_t syndrome, uint32_t msn)
{
	make(opcode, false, psn, len);
	if (rig.p.hdrs & VS_HDR_AETH) {
		rig.p.ext.aeth.syndrome = syndrome;
		rig.p.ext.aeth.msn = msn;
	}
}

void answer(uint8_t opcode, uint32_t psn, uint32_t len, uint32_t msn)
{
	make_answer(opcode, psn, len, UNLIMITED, msn);
	go();
}

void ack(uint32_t psn, uint32_t msn)
{
	answer(VS_OP_RC_ACKNOWLEDGE, psn, 0, msn);
}

void nak(uint32_t psn, uint8_t code, uint32_t msn)
{
	make_answer(VS_OP_RC_ACKNOWLEDGE, psn, 0, (uint8_t)(0x60 | code), msn);
	go();
}

void rnr(uint32_t psn, uint8_t timer, uint32_t msn)
{
	make_answer(VS_OP_RC_ACKNOWLEDGE, psn, 0, (uint8_t)(0x20 | timer), msn);
	go();
}

void atomic_answer(uint32_t psn, uint64_t value)
{
	make_answer(VS_OP_RC_ATOMIC_ACKNOWLEDGE, psn, 0, UNLIMITED, 1);
	rig.p.ext.atomicack_origdata = value;
	go();
}

/* ---- CM ---- */

void make_cm(bool from_a, const struct vs_cm_msg *m)
{
	const struct vs_mad h = {.base_version = VS_MAD_BASE_VERSION,
				 .mgmt_class = VS_MAD_CLASS_CM,
				 .class_version = VS_CM_CLASS_VERSION,
				 .method = VS_MAD_METHOD_SEND,
				 .transaction_id = 77,
				 .attribute_id = m->attribute};

	vs_mad_build(&h, mad);
	ck_assert_int_eq(vs_cm_build(m, mad + VS_MAD_HDR_LEN), VS_OK);
	make(VS_OP_UD_SEND_ONLY, from_a, 1, VS_MAD_LEN);
	rig.p.bth.destqp = VS_QPN_GSI;
	rig.p.ext.deth.qkey = VS_GSI_QKEY;
	rig.p.ext.deth.srcqp = VS_QPN_GSI;
	rig.p.payload = mad;
}

void connected(uint32_t psn_a, uint32_t psn_b)
{
	struct vs_cm_msg req = {.attribute = VS_CM_ATTR_REQ}, rep = {.attribute = VS_CM_ATTR_REP};

	req.req.local_comm_id = rep.rep.remote_comm_id = 5;
	req.req.qpn = MONRIG_QP_A;
	req.req.psn = psn_b; /* where the other side begins */
	req.req.path_mtu = VS_CM_MTU_256;
	req.req.primary_ack_timeout = 14;
	req.req.retry_count = 2;
	req.req.rnr_retry_count = 1;
	req.req.initiator_depth = req.req.responder_resources = 1;
	rep.rep.qpn = MONRIG_QP_B;
	rep.rep.psn = psn_a;
	rep.rep.rnr_retry_count = 1;
	rep.rep.initiator_depth = rep.rep.responder_resources = 1;
	make_cm(true, &req);
	go();
	make_cm(false, &rep);
	go();
}
