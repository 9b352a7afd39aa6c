/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_ud.c - UD and UC rows of the inventory on the engine. Each test is one row; its name begins with the id.
 *
 * UD-014 (a destroyed address handle) is not reachable here: the path is copied at post, a dangling handle is the
 * caller's error. UD-028 and UD-025 are with multicast.
 */
#include <string.h>

#include "core/core.h"
#include "rig.h"

#define QKEY 0x11111111u
static const struct rig_opt ud = {.type = VS_QPT_UD};
static const struct rig_opt ud6 = {.type = VS_QPT_UD, .ipv6 = true};
static const struct rig_opt uc = {.type = VS_QPT_UC};

static struct vs_pkt datagram(struct rig *r, uint32_t len)
{
	struct vs_pkt p = rig_pkt(r, VS_OP_UD_SEND_ONLY, 7);

	p.ext.deth.qkey = QKEY;
	p.ext.deth.srcqp = 0x00beef;
	p.payload = rig_pattern(7);
	p.payload_len = len;
	return p;
}

static struct vs_ah *handle(struct rig *r, struct vs_pd *pd)
{
	struct vs_qp_attr a = rig_attr(r);
	int err;
	struct vs_ah *ah = vs_ah_create(pd, &a.av, &err);

	ck_assert_ptr_nonnull(ah);
	return ah;
}

static int post_to(struct rig *r, struct vs_ah *ah, uint64_t id, uint32_t qpn, uint32_t qkey, uint32_t len,
		   enum vs_wr_opcode op)
{
	struct vs_sge sge;
	struct vs_send_wr wr = rig_wr(r, op, id, &sge, 0, len);

	wr.ud.ah = ah;
	wr.ud.remote_qpn = qpn;
	wr.ud.remote_qkey = qkey;
	return vs_qp_post_send(r->qp, &wr);
}

/* The datagram just sent in made nothing happen; the receive is still there and serves the next one. */
static void vanished(struct rig *r)
{
	struct vs_pkt p = datagram(r, 8);

	rig_expect_silence(r);
	rig_expect_no_wc(r);
	rig_expect_no_async(r);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_RTS);
	rig_in(r, &p);
	rig_expect_wc(r, r->rcq, 1, VS_WC_SUCCESS);
}

START_TEST(ud_001_002_004_a_datagram_is_delivered_behind_its_ipv4_header)
{
	struct rig *r = rig_new(&ud);
	struct vs_pkt p = datagram(r, 100);
	struct vs_wc wc;

	rig_post_recv(r, 1, 0, 1024);
	rig_in(r, &p);
	wc = rig_expect_wc(r, r->rcq, 1, VS_WC_SUCCESS);
	ck_assert_uint_eq(wc.byte_len, 140);
	ck_assert(wc.wc_flags == VS_WC_GRH && wc.src_qp == 0x00beef && wc.opcode == VS_WC_RECV);
	ck_assert_uint_eq(r->mem[20], 0x45);
	ck_assert_mem_eq(r->mem + 32, "\x0a\x00\x00\x02\x0a\x00\x00\x01", 8);
	ck_assert_mem_eq(r->mem + 40, rig_pattern(7), 100);
	ck_assert_uint_eq(r->mem[140], 0xee);
	rig_free(r);
}
END_TEST

START_TEST(ud_003_an_ipv6_header_fills_the_40_bytes)
{
	struct rig *r = rig_new(&ud6);
	struct vs_pkt p = datagram(r, 4);

	rig_post_recv(r, 1, 0, 1024);
	rig_in(r, &p);
	rig_expect_wc(r, r->rcq, 1, VS_WC_SUCCESS);
	ck_assert_uint_eq(r->mem[0] >> 4, 6);
	ck_assert_uint_eq(r->mem[23], 2);
	ck_assert_uint_eq(r->mem[39], 1);
	ck_assert_mem_eq(r->mem + 40, rig_pattern(7), 4);
	rig_free(r);
}
END_TEST

START_TEST(ud_005_immediate_data)
{
	struct rig *r = rig_new(&ud);
	struct vs_pkt p = rig_pkt(r, VS_OP_UD_SEND_ONLY_IMM, 7);
	struct vs_wc wc;

	rig_post_recv(r, 1, 0, 1024);
	p.ext.deth.qkey = QKEY;
	p.ext.immdt = 0xa1b2c3d4;
	rig_in(r, &p);
	wc = rig_expect_wc(r, r->rcq, 1, VS_WC_SUCCESS);
	ck_assert(wc.imm_data == 0xa1b2c3d4 && wc.wc_flags == (VS_WC_GRH | VS_WC_WITH_IMM) && wc.byte_len == 40);
	ck_assert_int_eq(post_to(r, handle(r, r->pd), 2, 5, QKEY, 8, VS_WR_SEND_WITH_IMM), VS_OK);
	ck_assert_uint_eq(rig_expect(r, VS_OP_UD_SEND_ONLY_IMM, RIG_DUT_PSN).ext.immdt, 0x1badcafe);
	rig_free(r);
}
END_TEST

START_TEST(ud_006_a_wrong_qkey)
{
	struct rig *r = rig_new(&ud);
	struct vs_pkt p = datagram(r, 64);

	rig_post_recv(r, 1, 0, 1024);
	p.ext.deth.qkey = 0x33333333;
	rig_in(r, &p);
	ck_assert_uint_eq(rig_counter(r, VS_CNT_QKEY_VIOL), 1);
	vanished(r);
	rig_free(r);
}
END_TEST

START_TEST(ud_007_a_controlled_qkey_means_the_qps_own)
{
	struct rig *r = rig_new(&ud);
	struct vs_ah *ah = handle(r, r->pd);

	ck_assert_int_eq(post_to(r, ah, 1, 5, 0x80000000u, 8, VS_WR_SEND), VS_OK);
	ck_assert_uint_eq(rig_expect(r, VS_OP_UD_SEND_ONLY, RIG_DUT_PSN).ext.deth.qkey, QKEY);
	ck_assert_int_eq(post_to(r, ah, 2, 5, 0x22222222u, 8, VS_WR_SEND), VS_OK);
	ck_assert_uint_eq(rig_expect(r, VS_OP_UD_SEND_ONLY, RIG_DUT_PSN + 1).ext.deth.qkey, 0x22222222u);
	rig_free(r);
}
END_TEST

START_TEST(ud_008_a_message_longer_than_the_mtu)
{
	struct rig_opt o = ud;
	struct rig *r;

	o.dev.active_mtu = VS_MTU_1024;
	r = rig_new(&o);
	ck_assert_int_eq(post_to(r, handle(r, r->pd), 1, 5, QKEY, 1025, VS_WR_SEND), VS_OK);
	rig_expect_silence(r);
	rig_expect_wc(r, r->scq, 1, VS_WC_LOC_LEN_ERR);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_SQE);
	rig_free(r);
}
END_TEST

START_TEST(ud_009_010_the_buffer_has_to_hold_40_bytes_more)
{
	struct rig *r = rig_new(&ud);
	struct vs_pkt p = datagram(r, 64);

	rig_post_recv(r, 1, 0, _i == 0 ? 103 : 104);
	rig_in(r, &p);
	if (_i == 0)
		vanished(r);
	else
		ck_assert_uint_eq(rig_expect_wc(r, r->rcq, 1, VS_WC_SUCCESS).byte_len, 104);
	rig_free(r);
}
END_TEST

START_TEST(ud_011_no_receive_posted)
{
	struct rig *r = rig_new(&ud);
	struct vs_pkt p = datagram(r, 64);

	rig_in(r, &p);
	rig_expect_silence(r);
	rig_post_recv(r, 1, 0, 1024);
	vanished(r);
	rig_free(r);
}
END_TEST

START_TEST(ud_012_019_a_destination_that_is_not_there_or_connected)
{
	struct rig *r = rig_new(&ud);
	struct vs_qp_init init = {.type = VS_QPT_RC, .send_cq = r->scq, .recv_cq = r->rcq, .cap = {8, 8, 1, 1, 0}};
	struct vs_qp *rc = rig_qp(r, &init);
	struct vs_pkt p = datagram(r, 64);

	rig_to(r, rc, VS_QPS_RTS);
	rig_post_recv(r, 1, 0, 1024);
	p.bth.destqp = _i == 0 ? 0x00dead : vs_qp_num(rc);
	rig_in(r, &p);
	ck_assert_int_eq(vs_qp_state(rc), VS_QPS_RTS);
	vanished(r);
	rig_free(r);
}
END_TEST

START_TEST(ud_013_an_address_handle_of_another_protection_domain)
{
	struct rig *r = rig_new(&ud);
	int err;
	struct vs_pd *pd = vs_pd_create(r->dev, &err);

	ck_assert_int_eq(post_to(r, handle(r, pd), 1, 5, QKEY, 8, VS_WR_SEND), VS_OK);
	rig_expect_silence(r);
	rig_expect_wc(r, r->scq, 1, VS_WC_LOC_QP_OP_ERR);
	rig_free(r);
}
END_TEST

START_TEST(ud_015_016_psn_and_ackreq_do_not_matter)
{
	struct rig *r = rig_new(&ud);
	struct vs_pkt p;
	unsigned i;

	for (i = 0; i < 3; i++) {
		rig_post_recv(r, 1, 0, 1024);
		p = datagram(r, 8);
		p.bth.psn = 0x800000 * i % 0xffffff;
		p.bth.ackreq = i == 2;
		rig_in(r, &p);
		rig_expect_wc(r, r->rcq, 1, VS_WC_SUCCESS);
	}
	rig_expect_silence(r);
	rig_free(r);
}
END_TEST

START_TEST(ud_016_a_datagram_asks_for_no_ack_and_completes_when_sent)
{
	struct rig *r = rig_new(&ud);
	struct vs_pkt p;

	ck_assert_int_eq(post_to(r, handle(r, r->pd), 1, 0x4321, QKEY, 5, VS_WR_SEND), VS_OK);
	p = rig_expect(r, VS_OP_UD_SEND_ONLY, RIG_DUT_PSN);
	ck_assert(!p.bth.ackreq && p.bth.destqp == 0x4321 && p.ext.deth.srcqp == vs_qp_num(r->qp) && p.bth.padcnt == 3);
	rig_expect_wc(r, r->scq, 1, VS_WC_SUCCESS);
	rig_free(r);
}
END_TEST

START_TEST(ud_017_opcodes_that_ud_does_not_have)
{
	static const uint8_t op[] = {0x60, 0x62, 0x6a, 0x6c, 0x71};
	struct rig *r = rig_new(&ud);
	struct vs_pkt p = rig_pkt(r, op[_i], 7);

	rig_post_recv(r, 1, 0, 1024);
	p.payload = rig_pattern(7);
	p.payload_len = 64;
	rig_in(r, &p);
	vanished(r);
	rig_free(r);
}
END_TEST

START_TEST(ud_018_a_payload_over_the_mtu)
{
	struct rig_opt o = ud;
	struct rig *r;
	struct vs_pkt p;

	o.dev.active_mtu = VS_MTU_1024;
	r = rig_new(&o);
	rig_post_recv(r, 1, 0, 8192);
	p = datagram(r, 1028);
	rig_in(r, &p);
	vanished(r);
	rig_free(r);
}
END_TEST

START_TEST(ud_020_a_datagram_to_itself)
{
	struct rig *r = rig_new(&ud);
	struct vs_qp_attr a = rig_attr(r);
	struct vs_ah *ah;
	struct vs_pkt p;
	uint8_t copy[VS_FRAME_MAX];
	int err;

	a.av.dgid[15] = 1;
	ah = vs_ah_create(r->pd, &a.av, &err);
	rig_post_recv(r, 1, 4096, 1024);
	ck_assert_int_eq(post_to(r, ah, 2, vs_qp_num(r->qp), QKEY, 8, VS_WR_SEND), VS_OK);
	ck_assert(rig_out(r, &p));
	memcpy(copy, r->frame, r->frame_len);
	copy[5] = 1; /* the wire would bring it back to our own MAC */
	rig_in_bytes(r, copy, r->frame_len);
	rig_expect_wc(r, r->scq, 2, VS_WC_SUCCESS);
	ck_assert_uint_eq(rig_expect_wc(r, r->rcq, 1, VS_WC_SUCCESS).src_qp, vs_qp_num(r->qp));
	rig_free(r);
}
END_TEST

START_TEST(ud_021_022_023_the_address_handle_shapes_the_headers)
{
	struct rig *r = rig_new(_i == 0 ? &ud : &ud6);
	struct vs_qp_attr a = rig_attr(r);
	struct vs_ah *ah;
	struct vs_pkt p;
	int err;

	a.av.traffic_class = 0x88;
	a.av.hop_limit = 7;
	a.av.flow_label = 0x12345;
	ah = vs_ah_create(r->pd, &a.av, &err);
	ck_assert_int_eq(post_to(r, ah, 1, 5, QKEY, 8, VS_WR_SEND), VS_OK);
	p = rig_expect(r, VS_OP_UD_SEND_ONLY, RIG_DUT_PSN);
	if (_i == 0) {
		ck_assert(p.ipv4.tos == 0x88 && p.ipv4.ttl == 7);
	} else {
		ck_assert(p.grh.tclass == 0x88 && p.grh.hoplmt == 7 && p.grh.flowlabel == 0x12345);
	}
	ck_assert_uint_eq(p.udp.sport, 0xc000 | ((0x12345 & 0x3fff) ^ (0x12345 >> 14)));
	rig_free(r);
}
END_TEST

/* ---- multicast ---- */

static const uint8_t mgid[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 239, 1, 2, 3};

static struct vs_qp *second(struct rig *r)
{
	struct vs_qp_init init = {.type = VS_QPT_UD, .send_cq = r->scq, .recv_cq = r->rcq, .cap = {8, 8, 2, 2, 0}};
	struct vs_qp *qp = rig_qp(r, &init);

	rig_to(r, qp, VS_QPS_RTS);
	return qp;
}

static struct vs_pkt to_group(struct rig *r)
{
	struct vs_pkt p = datagram(r, 16);

	memcpy(p.eth.dst, "\x01\x00\x5e\x01\x02\x03", 6);
	memcpy(p.ipv4.dst, mgid + 12, 4);
	p.bth.destqp = VS_QPN_MULTICAST;
	return p;
}

static void recv_on(struct rig *r, struct vs_qp *qp, uint64_t id, uint32_t offset)
{
	struct vs_sge sge = {(uintptr_t)r->mem + offset, 1024, vs_mr_lkey(r->mr)};
	struct vs_recv_wr wr = {id, &sge, 1};

	ck_assert_int_eq(vs_qp_post_recv(qp, &wr), VS_OK);
}

START_TEST(ud_024_027_every_attached_qp_gets_it_until_it_is_detached)
{
	struct rig *r = rig_new(&ud);
	struct vs_qp *other = second(r);
	struct vs_pkt p = to_group(r);
	struct vs_wc wc[4];

	recv_on(r, r->qp, 1, 0);
	recv_on(r, r->qp, 2, 1024);
	recv_on(r, other, 3, 2048);
	recv_on(r, other, 4, 3072);
	rig_in(r, &p);
	rig_expect_no_wc(r);
	ck_assert_int_eq(vs_qp_attach_mcast(r->qp, mgid, 0), VS_OK);
	ck_assert_int_eq(vs_qp_attach_mcast(other, mgid, 0), VS_OK);
	ck_assert_int_eq(vs_qp_attach_mcast(other, mgid, 0), VS_OK); /* twice is once */
	rig_in(r, &p);
	ck_assert_int_eq(vs_cq_poll(r->rcq, wc, 4), 2);
	ck_assert(wc[0].wr_id == 1 && wc[1].wr_id == 3);
	ck_assert_mem_eq(r->mem + 40, rig_pattern(7), 16);
	ck_assert_mem_eq(r->mem + 2048 + 40, rig_pattern(7), 16);
	ck_assert_int_eq(vs_qp_detach_mcast(r->qp, mgid, 0), VS_OK);
	ck_assert_int_eq(vs_qp_detach_mcast(r->qp, mgid, 0), VS_ERR_INVAL);
	rig_in(r, &p);
	ck_assert_int_eq(vs_cq_poll(r->rcq, wc, 4), 1);
	ck_assert_uint_eq(wc[0].wr_id, 4);
	ck_assert_int_eq(vs_qp_destroy(other), VS_ERR_BUSY); /* QPS-062 */
	rig_free(r);
}
END_TEST

START_TEST(ud_025_026_a_multicast_goes_to_qp_ffffff_and_to_the_other_members_here)
{
	struct rig *r = rig_new(&ud);
	struct vs_qp *other = second(r);
	struct vs_qp_attr a = rig_attr(r);
	struct vs_ah *ah;
	struct vs_pkt p;
	struct vs_wc wc[4];
	int err;

	memcpy(a.av.dgid, mgid, 16);
	ah = vs_ah_create(r->pd, &a.av, &err);
	ck_assert_int_eq(vs_qp_attach_mcast(r->qp, mgid, 0), VS_OK);
	ck_assert_int_eq(vs_qp_attach_mcast(other, mgid, 0), VS_OK);
	recv_on(r, r->qp, 1, 4096);
	recv_on(r, other, 2, 8192);
	ck_assert_int_eq(post_to(r, ah, 9, VS_QPN_MULTICAST, QKEY, 8, VS_WR_SEND), VS_OK);
	p = rig_expect(r, VS_OP_UD_SEND_ONLY, RIG_DUT_PSN);
	ck_assert_uint_eq(p.bth.destqp, VS_QPN_MULTICAST);
	ck_assert_mem_eq(p.eth.dst, "\x01\x00\x5e\x01\x02\x03", 6);
	ck_assert_int_eq(vs_cq_poll(r->scq, wc, 4), 1);
	ck_assert_int_eq(vs_cq_poll(r->rcq, wc, 4), 1); /* the other one, not the sender */
	ck_assert_uint_eq(wc[0].wr_id, 2);
	ck_assert_uint_eq(wc[0].src_qp, vs_qp_num(r->qp));
	rig_free(r);
}
END_TEST

START_TEST(ud_028_only_ud_joins_a_group)
{
	struct rig *r = rig_new(NULL);
	uint8_t unicast[16] = {0xfd, 1};

	ck_assert_int_eq(vs_qp_attach_mcast(r->qp, mgid, 0), VS_ERR_INVAL);
	ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_MCAST_QP_TYPE);
	ck_assert_int_eq(vs_qp_attach_mcast(second(r), unicast, 0), VS_ERR_INVAL);
	ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_MCAST_GID);
	rig_free(r);
}
END_TEST

START_TEST(ud_029_qp1_takes_its_well_known_qkey_alone)
{
	struct rig_opt o = {.type = VS_QPT_GSI, .dev.cm_disabled = true};
	struct rig *r = rig_new(&o);
	struct vs_pkt p = datagram(r, 256);

	ck_assert_uint_eq(vs_qp_num(r->qp), 1);
	rig_post_recv(r, 1, 0, 1024);
	p.ext.deth.qkey = 0x12345678;
	rig_in(r, &p);
	rig_expect_no_wc(r);
	p.ext.deth.qkey = VS_GSI_QKEY;
	rig_in(r, &p);
	rig_expect_wc(r, r->rcq, 1, VS_WC_SUCCESS);
	rig_free(r);
}
END_TEST

START_TEST(ud_030_a_pkey_that_does_not_match)
{
	struct rig *r = rig_new(&ud);
	struct vs_pkt p = datagram(r, 64);

	rig_post_recv(r, 1, 0, 1024);
	p.bth.pkey = 0x8001;
	rig_in(r, &p);
	ck_assert_uint_eq(rig_counter(r, VS_CNT_BAD_PKEY), 1);
	vanished(r);
	rig_free(r);
}
END_TEST

/* ---- UC ---- */

START_TEST(uc_001_a_message_that_lost_its_middle_is_dropped_and_its_receive_used_again)
{
	struct rig *r = rig_new(&uc);

	rig_post_recv(r, 1, 0, 4096);
	rig_in_send(r, VS_OP_UC_SEND_FIRST, RIG_PEER_PSN, 1024);
	rig_in_send(r, VS_OP_UC_SEND_LAST, RIG_PEER_PSN + 2, 10);
	rig_expect_silence(r);
	rig_expect_no_wc(r);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_RTS);
	rig_in_send(r, VS_OP_UC_SEND_ONLY, RIG_PEER_PSN + 3, 20);
	ck_assert_uint_eq(rig_expect_wc(r, r->rcq, 1, VS_WC_SUCCESS).byte_len, 20);
	rig_free(r);
}
END_TEST

START_TEST(uc_002_a_new_first_after_a_loss_is_taken)
{
	struct rig *r = rig_new(&uc);

	rig_post_recv(r, 1, 0, 4096);
	rig_in_send(r, VS_OP_UC_SEND_FIRST, RIG_PEER_PSN, 1024);
	rig_in_send(r, VS_OP_UC_SEND_FIRST, RIG_PEER_PSN + 5, 1024);
	rig_in_send(r, VS_OP_UC_SEND_LAST, RIG_PEER_PSN + 6, 6);
	ck_assert_uint_eq(rig_expect_wc(r, r->rcq, 1, VS_WC_SUCCESS).byte_len, 1030);
	ck_assert_mem_eq(r->mem, rig_pattern(RIG_PEER_PSN + 5), 1024);
	rig_free(r);
}
END_TEST

START_TEST(uc_002_a_write_after_a_broken_send_does_not_complete_its_receive)
{
	struct rig *r = rig_new(&uc);

	rig_post_recv(r, 1, 0, 4096);
	rig_in_send(r, VS_OP_UC_SEND_FIRST, RIG_PEER_PSN, 1024);
	rig_in_write(r, VS_OP_UC_WRITE_ONLY, RIG_PEER_PSN + 4, (uintptr_t)r->mem + 8192, vs_mr_rkey(r->mr), 8, 8);
	rig_expect_no_wc(r);
	ck_assert_mem_eq(r->mem + 8192, rig_pattern(RIG_PEER_PSN + 4), 8);
	rig_in_send(r, VS_OP_UC_SEND_ONLY, RIG_PEER_PSN + 5, 8);
	rig_expect_wc(r, r->rcq, 1, VS_WC_SUCCESS);
	rig_free(r);
}
END_TEST

START_TEST(uc_003_uc_asks_for_no_ack_and_completes_when_sent)
{
	struct rig *r = rig_new(&uc);

	ck_assert_int_eq(rig_post(r, VS_WR_SEND, 1, 0, 2000), VS_OK);
	ck_assert_int_eq(rig_post(r, VS_WR_RDMA_WRITE_WITH_IMM, 2, 0, 8), VS_OK);
	ck_assert(!rig_expect(r, VS_OP_UC_SEND_FIRST, RIG_DUT_PSN).bth.ackreq);
	rig_expect_no_wc(r);
	ck_assert(!rig_expect(r, VS_OP_UC_SEND_LAST, RIG_DUT_PSN + 1).bth.ackreq);
	rig_expect_wc(r, r->scq, 1, VS_WC_SUCCESS);
	rig_expect(r, VS_OP_UC_WRITE_ONLY_IMM, RIG_DUT_PSN + 2);
	rig_expect_wc(r, r->scq, 2, VS_WC_SUCCESS);
	ck_assert(vs_dev_deadline(r->dev) == VS_NEVER);
	rig_free(r);
}
END_TEST

START_TEST(uc_refuses_a_bad_key_in_silence)
{
	struct rig *r = rig_new(&uc);
	unsigned i;

	rig_in_write(r, VS_OP_UC_WRITE_ONLY, RIG_PEER_PSN, (uintptr_t)r->mem, vs_mr_rkey(r->mr) ^ 0x100, 8, 8);
	rig_expect_silence(r);
	for (i = 0; i < 8; i++)
		ck_assert_uint_eq(r->mem[i], 0xee);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_RTS);
	rig_in_write(r, VS_OP_UC_WRITE_ONLY, RIG_PEER_PSN + 1, (uintptr_t)r->mem, vs_mr_rkey(r->mr), 8, 8);
	ck_assert_mem_eq(r->mem, rig_pattern(RIG_PEER_PSN + 1), 8);
	rig_free(r);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("ud");
	TCase *tc = tcase_create("datagrams");

	tcase_add_test(tc, ud_001_002_004_a_datagram_is_delivered_behind_its_ipv4_header);
	tcase_add_test(tc, ud_003_an_ipv6_header_fills_the_40_bytes);
	tcase_add_test(tc, ud_005_immediate_data);
	tcase_add_test(tc, ud_006_a_wrong_qkey);
	tcase_add_test(tc, ud_007_a_controlled_qkey_means_the_qps_own);
	tcase_add_test(tc, ud_008_a_message_longer_than_the_mtu);
	tcase_add_loop_test(tc, ud_009_010_the_buffer_has_to_hold_40_bytes_more, 0, 2);
	tcase_add_test(tc, ud_011_no_receive_posted);
	tcase_add_loop_test(tc, ud_012_019_a_destination_that_is_not_there_or_connected, 0, 2);
	tcase_add_test(tc, ud_013_an_address_handle_of_another_protection_domain);
	tcase_add_test(tc, ud_015_016_psn_and_ackreq_do_not_matter);
	tcase_add_test(tc, ud_016_a_datagram_asks_for_no_ack_and_completes_when_sent);
	tcase_add_loop_test(tc, ud_017_opcodes_that_ud_does_not_have, 0, 5);
	tcase_add_test(tc, ud_018_a_payload_over_the_mtu);
	tcase_add_test(tc, ud_020_a_datagram_to_itself);
	tcase_add_loop_test(tc, ud_021_022_023_the_address_handle_shapes_the_headers, 0, 2);
	suite_add_tcase(s, tc);

	tc = tcase_create("multicast");
	tcase_add_test(tc, ud_024_027_every_attached_qp_gets_it_until_it_is_detached);
	tcase_add_test(tc, ud_025_026_a_multicast_goes_to_qp_ffffff_and_to_the_other_members_here);
	tcase_add_test(tc, ud_028_only_ud_joins_a_group);
	tcase_add_test(tc, ud_029_qp1_takes_its_well_known_qkey_alone);
	tcase_add_test(tc, ud_030_a_pkey_that_does_not_match);
	suite_add_tcase(s, tc);

	tc = tcase_create("uc");
	tcase_add_test(tc, uc_001_a_message_that_lost_its_middle_is_dropped_and_its_receive_used_again);
	tcase_add_test(tc, uc_002_a_new_first_after_a_loss_is_taken);
	tcase_add_test(tc, uc_002_a_write_after_a_broken_send_does_not_complete_its_receive);
	tcase_add_test(tc, uc_003_uc_asks_for_no_ack_and_completes_when_sent);
	tcase_add_test(tc, uc_refuses_a_bad_key_in_silence);
	suite_add_tcase(s, tc);
	return s;
}
