/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_core_ud.c - UD and UC beside the rows: receives that are bad themselves, limits of multicast, what makes an
 * address usable.
 */
#include <string.h>

#include "qps.h"

#define P RIG_PEER_PSN

static const uint8_t mgid[16] = {[10] = 0xff, 0xff, 239, 1, 2, 3};

static struct vs_pkt datagram(struct rig *r, uint32_t len)
{
	struct vs_pkt p = rig_pkt(r, VS_OP_UD_SEND_ONLY, 7);

	p.ext.deth.qkey = 0x11111111;
	p.payload = rig_pattern(7);
	p.payload_len = len;
	return p;
}

static void post_recv(struct rig *r, uint64_t id, uint32_t lkey, uint32_t first, uint32_t rest)
{
	struct vs_sge sge[2] = {{MEM(r, 0), first, vs_mr_lkey(r->mr)}, {MEM(r, 1024), rest, lkey}};
	struct vs_recv_wr wr = {id, sge, 2};

	ck_assert_int_eq(vs_qp_post_recv(r->qp, &wr), VS_OK);
}

/* ---- a receive that is bad itself is a local failure, on datagrams and UC, too ---- */

START_TEST(rse_016_a_bad_receive_of_a_datagram)
{
	struct rig_opt o = {.type = VS_QPT_UD};
	struct rig *r = rig_new(&o);
	struct vs_pkt p = datagram(r, 16);

	post_recv(r, 1, vs_mr_lkey(r->mr) ^ 0x100, 44, 64);
	post_recv(r, 2, vs_mr_lkey(r->mr), 44, 64);
	vs_cq_arm(r->rcq, true);
	rig_in(r, &p);
	ck_assert_uint_eq(rig_expect_wc(r, r->rcq, 1, VS_WC_LOC_PROT_ERR).vendor_err, VS_REASON_LKEY_INVALID);
	rig_expect_wc(r, r->rcq, 2, VS_WC_WR_FLUSH_ERR);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_ERR);
	ck_assert_uint_eq(r->mem[0], 0xee); /* not even what would have fitted */
	ck_assert_uint_eq(r->mem[40], 0xee);
	rig_expect_silence(r);
	rig_free(r);
}
END_TEST

START_TEST(a_datagram_says_which_way_it_came)
{
	struct rig_opt o = {.type = VS_QPT_UD, .ib = _i == 0, .ib_grh = _i == 1};
	struct rig *r = rig_new(&o);
	struct vs_pkt p = datagram(r, 16);
	struct vs_wc wc;

	rig_post_recv(r, 1, 0, 128);
	p.lrh.slid = 2;
	p.lrh.sl = 5;
	p.ext.deth.srcqp = 0x00beef;
	rig_in(r, &p);
	wc = rig_expect_wc(r, r->rcq, 1, VS_WC_SUCCESS);
	ck_assert(wc.slid == 2 && wc.sl == 5 && wc.src_qp == 0x00beef && wc.byte_len == 56);
	ck_assert_uint_eq(wc.wc_flags, _i == 1 ? VS_WC_GRH : 0);
	rig_free(r);
}
END_TEST

START_TEST(rse_016_a_bad_receive_of_uc)
{
	struct rig_opt o = {.type = VS_QPT_UC};
	struct rig *r = rig_new(&o);

	post_recv(r, 1, vs_mr_lkey(r->mr) ^ 0x100, 1024, 2048);
	post_recv(r, 2, vs_mr_lkey(r->mr), 1024, 2048);
	if (_i == 0) { /* found with the first packet, or with the second */
		rig_in_send(r, VS_OP_UC_SEND_FIRST, P, 1024);
		rig_expect_no_wc(r);
		rig_in_send(r, VS_OP_UC_SEND_LAST, P + 1, 8);
	} else {
		post_recv(r, 3, vs_mr_lkey(r->mr), 1024, 2048);
		r->mem[0] = 0;
		rig_in_send(r, VS_OP_UC_SEND_FIRST, P + 9, 1024); /* given up: the receive is used again */
		rig_in_send(r, VS_OP_UC_SEND_FIRST, P + 20, 1024);
		rig_in_send(r, VS_OP_UC_SEND_MIDDLE, P + 21, 1024);
	}
	ck_assert_uint_eq(rig_expect_wc(r, r->rcq, 1, VS_WC_LOC_PROT_ERR).vendor_err, VS_REASON_LKEY_INVALID);
	rig_expect_wc(r, r->rcq, 2, VS_WC_WR_FLUSH_ERR);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_ERR);
	rig_expect_silence(r); /* nothing tells the peer */
	rig_free(r);
}
END_TEST

START_TEST(rse_016_a_bad_receive_of_uc_is_found_at_once)
{
	struct rig_opt o = {.type = VS_QPT_UC};
	struct rig *r = rig_new(&o);

	post_recv(r, 1, vs_mr_lkey(r->mr) ^ 0x100, 0, 2048);
	post_recv(r, 2, vs_mr_lkey(r->mr), 1024, 2048);
	rig_in_send(r, VS_OP_UC_SEND_ONLY, P, 8);
	rig_expect_wc(r, r->rcq, 1, VS_WC_LOC_PROT_ERR);
	rig_expect_wc(r, r->rcq, 2, VS_WC_WR_FLUSH_ERR);
	rig_free(r);
}
END_TEST

START_TEST(rse_015_a_uc_message_longer_than_its_receive_is_dropped)
{
	struct rig_opt o = {.type = VS_QPT_UC};
	struct rig *r = rig_new(&o);

	rig_post_recv(r, 1, 0, 1500);
	rig_in_send(r, VS_OP_UC_SEND_FIRST, P, 1024);
	rig_in_send(r, VS_OP_UC_SEND_LAST, P + 1, 477);
	rig_expect_no_wc(r);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_RTS);
	rig_in_send(r, VS_OP_UC_SEND_FIRST, P + 2, 1024);
	rig_in_send(r, VS_OP_UC_SEND_LAST, P + 3, 476);
	ck_assert_uint_eq(rig_expect_wc(r, r->rcq, 1, VS_WC_SUCCESS).byte_len, 1500);
	rig_free(r);
}
END_TEST

/* ---- multicast ---- */

START_TEST(more_groups_and_members_than_the_device_has)
{
	struct rig_opt o = {.type = VS_QPT_UD, .dev.max_mcast_grp = 2, .dev.max_mcast_qp_attach = 2};
	struct rig *r = rig_new(&o);
	struct vs_qp_init init = {.type = VS_QPT_UD, .send_cq = r->scq, .recv_cq = r->rcq, .cap = {4, 4, 1, 1, 0}};
	struct vs_qp *b = rig_qp(r, &init), *c = rig_qp(r, &init);
	uint8_t other[16], third[16];

	memcpy(other, mgid, 16);
	memcpy(third, mgid, 16);
	other[15]++;
	third[14]++;
	ck_assert_int_eq(vs_qp_attach_mcast(r->qp, mgid, 0), VS_OK);
	ck_assert_int_eq(vs_qp_attach_mcast(b, mgid, 0), VS_OK);
	ck_assert_int_eq(vs_qp_attach_mcast(c, mgid, 0), VS_ERR_NOSPACE);
	ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_LIMIT_MCAST);
	ck_assert_int_eq(vs_qp_detach_mcast(c, mgid, 0), VS_ERR_INVAL); /* it is in no group */
	ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_MCAST_GID);
	ck_assert_int_eq(vs_qp_attach_mcast(c, other, 0), VS_OK);
	ck_assert_int_eq(vs_qp_attach_mcast(c, third, 0), VS_ERR_NOSPACE);
	ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_LIMIT_MCAST);
	ck_assert_int_eq(vs_qp_destroy(c), VS_ERR_BUSY);
	ck_assert_int_eq(vs_qp_detach_mcast(c, other, 0), VS_OK); /* the last one leaves: room for another group */
	ck_assert_int_eq(vs_qp_attach_mcast(c, third, 0), VS_OK);
	ck_assert_int_eq(vs_qp_detach_mcast(r->qp, mgid, 0), VS_OK);
	ck_assert_int_eq(vs_qp_attach_mcast(c, mgid, 0), VS_OK);
	ck_assert_int_eq(vs_qp_detach_mcast(c, mgid, 0), VS_OK);
	ck_assert_int_eq(vs_qp_detach_mcast(c, mgid, 0), VS_ERR_INVAL); /* once: b is still in */
	ck_assert_int_eq(vs_qp_destroy(b), VS_ERR_BUSY);
	ck_assert_int_eq(vs_qp_detach_mcast(c, third, 0), VS_OK);
	ck_assert_int_eq(vs_qp_destroy(c), VS_OK);
	rig_free(r);
}
END_TEST

START_TEST(what_is_no_group_is_not_joined)
{
	static const struct {
		uint8_t gid[16];
		bool ok;
	} t[] = {
		{{[10] = 0xff, 0xff, 223, 255, 255, 255}, false},
		{{[10] = 0xff, 0xff, 224, 0, 0, 1}, true},
		{{[10] = 0xff, 0xff, 239, 255, 255, 255}, true},
		{{[10] = 0xff, 0xff, 240, 0, 0, 1}, false},
		{{[9] = 1, 0xff, 0xff, 239, 0, 0, 1}, false},
		{{0xfe, 0x80, [15] = 1}, false},
		{{0xff, 0x02, [15] = 1}, true},
	};
	struct rig_opt o = {.type = VS_QPT_UD};
	struct rig *r = rig_new(&o);

	ck_assert_int_eq(vs_qp_attach_mcast(r->qp, t[_i].gid, 0), t[_i].ok ? VS_OK : VS_ERR_INVAL);
	if (!t[_i].ok)
		ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_MCAST_GID);
	rig_free(r);
}
END_TEST

/* Members that may not receive now, or whose P_Key or Q_Key does not match, miss it; the others do not. */
START_TEST(ud_024_a_member_that_cannot_receive_keeps_nobody_from_it)
{
	struct rig_opt o = {.type = VS_QPT_UD};
	struct rig *r = rig_new(&o);
	struct vs_qp_init init = {.type = VS_QPT_UD, .send_cq = r->scq, .recv_cq = r->rcq, .cap = {4, 4, 1, 1, 0}};
	struct vs_qp *first = rig_qp(r, &init);
	struct vs_sge sge = {MEM(r, 4096), 512, vs_mr_lkey(r->mr)};
	struct vs_recv_wr wr = {2, &sge, 1};
	struct vs_qp_attr a = {.state = VS_QPS_ERR};
	struct vs_pkt p = datagram(r, 16);
	struct vs_wc wc;

	ck_assert_int_eq(vs_qp_attach_mcast(first, mgid, 0), VS_OK);
	ck_assert_int_eq(vs_qp_attach_mcast(r->qp, mgid, 0), VS_OK);
	if (_i > 0)
		rig_to(r, first, _i == 1 ? VS_QPS_INIT : _i == 2 ? VS_QPS_RTR : VS_QPS_RTS);
	if (_i > 0)
		ck_assert_int_eq(vs_qp_post_recv(first, &wr), VS_OK);
	if (_i == 4) {
		ck_assert_int_eq(vs_qp_modify(first, &a, VS_QP_STATE), VS_OK);
		ck_assert_int_eq(vs_cq_poll(r->rcq, &wc, 1), 1);
	}
	rig_post_recv(r, 1, 0, 512);
	p.bth.destqp = 0xffffff;
	memcpy(p.eth.dst, (const uint8_t[6]){0x01, 0x00, 0x5e, 1, 2, 3}, 6);
	memcpy(p.ipv4.dst, mgid + 12, 4);
	rig_in(r, &p);
	if (_i == 2 || _i == 3) {
		ck_assert_int_eq(vs_cq_poll(r->rcq, &wc, 1), 1);
		ck_assert(wc.wr_id == 2 && wc.status == VS_WC_SUCCESS && wc.qp_num == vs_qp_num(first));
	}
	rig_expect_wc(r, r->rcq, 1, VS_WC_SUCCESS);
	ck_assert_int_eq(vs_cq_poll(r->rcq, &wc, 1), 0);
	rig_free(r);
}
END_TEST

/* ---- addresses ---- */

static bool knows_2(void *ctx, const uint8_t gid[16], uint8_t mac[6])
{
	(void)ctx;
	memset(mac, 2, 6);
	return gid[15] == 2;
}

START_TEST(a_group_has_its_mac)
{
	static const struct {
		uint8_t gid[16], mac[6];
	} t[] = {
		{{[10] = 0xff, 0xff, 239, 0x81, 2, 3}, {0x01, 0x00, 0x5e, 0x01, 2, 3}},
		{{[10] = 0xff, 0xff, 224, 0x7f, 2, 3}, {0x01, 0x00, 0x5e, 0x7f, 2, 3}},
		{{0xff, 0x0e, [11] = 9, 1, 2, 3, 4}, {0x33, 0x33, 1, 2, 3, 4}},
	};
	struct rig_opt o = {.type = VS_QPT_UD, .ipv6 = _i == 2};
	struct rig *r = rig_new(&o);
	struct vs_av av = rig_attr(r).av;
	struct vs_send_wr wr;
	struct vs_sge sge;
	int err;

	memcpy(av.dgid, t[_i].gid, 16);
	memset(av.dmac, 0, 6);
	wr = send_wr(r, 1, &sge, 8, vs_ah_create(r->pd, &av, &err));
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	ck_assert_mem_eq(rig_expect(r, VS_OP_UD_SEND_ONLY, RIG_DUT_PSN).eth.dst, t[_i].mac, 6);
	rig_free(r);
}
END_TEST

START_TEST(an_address_without_a_destination_is_refused)
{
	struct rig_opt o = {.type = VS_QPT_UD};
	struct rig *r = rig_new(&o);
	struct vs_av av;
	int err;

	memset(&av, 1, sizeof(av)); /* everything else is there */
	av.is_global = true;
	av.has_vlan = false;
	av.sl = 0;
	av.port = 1;
	av.sgid_index = 0;
	av.flow_label = 0xfffff;
	memset(av.dgid, 0, 16);
	if (_i > 0)
		av.dgid[_i - 1] = 1;
	ck_assert_int_eq(vs_ah_create(r->pd, &av, &err) == NULL, _i == 0);
	if (_i == 0)
		ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_AV_DGID);
	rig_free(r);
}
END_TEST

START_TEST(qps_047_ethernet_has_8_service_levels_and_infiniband_16)
{
	struct rig_opt o = {.type = VS_QPT_UD, .ib_grh = _i / 20 == 1};
	struct rig *r = rig_new(&o);
	struct vs_av av = rig_attr(r).av;
	bool ok = _i % 20 < (o.ib_grh ? 16 : 8);
	int err;

	av.sl = (uint8_t)(_i % 20);
	ck_assert_int_eq(vs_ah_create(r->pd, &av, &err) != NULL, ok);
	if (!ok)
		ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_AV_SL);
	rig_free(r);
}
END_TEST

START_TEST(qps_039_a_gid_index_is_inside_the_table_and_its_entry_not_empty)
{
	struct rig_opt o = {.type = VS_QPT_UD};
	struct rig *r = rig_new(&o);
	struct vs_gid_entry gid = vs_dev_attr(r->dev)->gids[0];
	struct vs_av av = rig_attr(r).av;
	int err;

	ck_assert_int_eq(vs_dev_set_gid(r->dev, VS_GID_TABLE_LEN - 1, &gid), VS_OK);
	av.sgid_index = (uint8_t)_i;
	ck_assert_int_eq(vs_ah_create(r->pd, &av, &err) != NULL, _i == 0 || _i == VS_GID_TABLE_LEN - 1);
	if (_i != 0 && _i != VS_GID_TABLE_LEN - 1)
		ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_GID_INDEX);
	rig_free(r);
}
END_TEST

START_TEST(an_address_needs_a_neighbour)
{
	struct rig_opt o = {.type = VS_QPT_UD};
	struct rig *r;
	struct vs_av av;
	struct vs_ah *ah;
	struct vs_send_wr wr;
	struct vs_sge sge;
	int err = 0;

	r = rig_new(&o);
	r->dev->attr.neighbour = _i > 0 ? knows_2 : NULL;
	av = rig_attr(r).av;
	memset(av.dmac, 0, 6);
	av.dgid[15] = _i == 1 ? 3 : 2;
	ah = vs_ah_create(r->pd, &av, &err);
	if (_i < 2) { /* nobody to ask; nobody knows */
		ck_assert(ah == NULL && err == VS_ERR_INVAL);
		ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_AV_NEIGHBOUR);
	} else {
		ck_assert_ptr_nonnull(ah);
		wr = send_wr(r, 1, &sge, 8, ah);
		ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
		ck_assert_mem_eq(rig_expect(r, VS_OP_UD_SEND_ONLY, RIG_DUT_PSN).eth.dst, "\2\2\2\2\2\2", 6);
	}
	rig_free(r);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("core ud");
	TCase *tc = tcase_create("receives");

	tcase_add_test(tc, rse_016_a_bad_receive_of_a_datagram);
	tcase_add_loop_test(tc, a_datagram_says_which_way_it_came, 0, 2);
	tcase_add_loop_test(tc, rse_016_a_bad_receive_of_uc, 0, 2);
	tcase_add_test(tc, rse_016_a_bad_receive_of_uc_is_found_at_once);
	tcase_add_test(tc, rse_015_a_uc_message_longer_than_its_receive_is_dropped);
	suite_add_tcase(s, tc);

	tc = tcase_create("multicast");
	tcase_add_test(tc, more_groups_and_members_than_the_device_has);
	tcase_add_loop_test(tc, what_is_no_group_is_not_joined, 0, 7);
	tcase_add_loop_test(tc, ud_024_a_member_that_cannot_receive_keeps_nobody_from_it, 0, 5);
	suite_add_tcase(s, tc);

	tc = tcase_create("addresses");
	tcase_add_loop_test(tc, a_group_has_its_mac, 0, 3);
	tcase_add_loop_test(tc, an_address_without_a_destination_is_refused, 0, 17);
	tcase_add_loop_test(tc, qps_047_ethernet_has_8_service_levels_and_infiniband_16, 0, 40);
	tcase_add_loop_test(tc, qps_039_a_gid_index_is_inside_the_table_and_its_entry_not_empty, 0, 20);
	tcase_add_loop_test(tc, an_address_needs_a_neighbour, 0, 3);
	suite_add_tcase(s, tc);
	return s;
}
