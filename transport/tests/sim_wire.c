/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * sim_wire.c - the two simulated devices as a program sees them, and their clock.
 */
#include <errno.h>
#include <string.h>

#include "sim_ends.h"

/* ---- devices ---- */

START_TEST(there_are_two_devices_with_two_addresses_each)
{
	static const uint8_t v4[12] = {[10] = 0xff, [11] = 0xff};
	struct ibv_device **list = ibv_get_device_list(NULL);

	ck_assert_str_eq(ibv_get_device_name(list[0]), "ref0");
	ck_assert_str_eq(ibv_get_device_name(list[1]), "ref1");
	ck_assert_ptr_null(list[2]);
	ck_assert_uint_ne(ibv_get_device_guid(list[0]), ibv_get_device_guid(list[1]));
	for (uint8_t i = 0; i < 2; i++) {
		uint64_t guid = ibv_get_device_guid(list[i]);
		struct ibv_context *ctx = ibv_open_device(list[i]);
		struct ibv_device_attr attr;
		union ibv_gid gid;

		ck_assert_int_eq(ibv_query_gid(ctx, 1, 0, &gid), 0);
		ck_assert_mem_eq(gid.raw, v4, 12);
		ck_assert_mem_eq(gid.raw + 12, ((uint8_t[]){10, 0, 0, (uint8_t)(i + 1)}), 4);
		ck_assert_int_eq(ibv_query_gid(ctx, 1, 1, &gid), 0);
		ck_assert_uint_eq(gid.raw[0], 0xfd);
		ck_assert_uint_eq(gid.raw[15], i + 1u);
		ck_assert_int_eq(ibv_query_device(ctx, &attr), 0);
		ck_assert_uint_eq(attr.node_guid, guid);
		ck_assert_int_eq(ibv_close_device(ctx), 0);
	}
	ibv_free_device_list(list);
}
END_TEST

START_TEST(everything_goes_from_one_to_the_other)
{
	set_up();
	post_recv(&b, 5);
	memset(a.buf, 0xa5, 10000);
	post_to(&a, IBV_WR_SEND, &b, 10000, 6);
	ck_assert_uint_eq(poll_for(b.cq).wr_id, 5);
	ck_assert_uint_eq(poll_for(a.cq).wr_id, 6);
	ck_assert_mem_eq(a.buf, b.buf, 10000);
	memset(b.buf, 0x5a, 20000);
	post_to(&a, IBV_WR_RDMA_READ, &b, 20000, 7);
	ck_assert_int_eq(poll_for(a.cq).status, IBV_WC_SUCCESS);
	ck_assert_mem_eq(a.buf, b.buf, 20000);
	tear_down();
}
END_TEST

START_TEST(a_device_talks_to_itself)
{
	make_end(&a, 1, IBV_QPT_RC);
	make_end(&b, 1, IBV_QPT_RC);
	connect_to(&a, &b);
	connect_to(&b, &a);
	memset(a.buf, 1, 5000);
	post_to(&a, IBV_WR_RDMA_WRITE, &b, 5000, 7);
	ck_assert_int_eq(poll_for(a.cq).status, IBV_WC_SUCCESS);
	ck_assert_mem_eq(a.buf, b.buf, 5000);
	tear_down();
}
END_TEST

START_TEST(a_key_of_one_device_is_nothing_to_the_other)
{
	struct ibv_mr *other;

	set_up();
	other = ibv_reg_mr(a.pd, b.buf, SIZE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	b.mr->rkey ^= other->rkey;
	post_to(&a, IBV_WR_RDMA_WRITE, &b, 8, 1);
	b.mr->rkey ^= other->rkey;
	ck_assert_int_eq(poll_for(a.cq).status, IBV_WC_REM_ACCESS_ERR);
	ck_assert_int_eq(ibv_dereg_mr(other), 0);
	tear_down();
}
END_TEST

START_TEST(objects_of_two_devices_do_not_go_together)
{
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC, .cap = {1, 1, 1, 1, 0}};
	struct ibv_mw_bind bind = {.bind_info = {.addr = 0, .length = 8}};
	struct ibv_mw *mw;

	set_up();
	init.send_cq = a.cq;
	init.recv_cq = b.cq;
	errno = 0;
	ck_assert_ptr_null(ibv_create_qp(a.pd, &init));
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_ptr_null(ibv_create_qp(b.pd, &init));
	errno = 0;
	ck_assert_ptr_null(ibv_create_cq(a.ctx, 1, NULL, b.channel, 0));
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_ptr_null(ibv_import_pd(b.ctx, a.pd->handle));
	ck_assert_ptr_null(ibv_import_mr(b.pd, a.mr->handle));
	ck_assert_int_ne(ibv_rereg_mr(a.mr, IBV_REREG_MR_CHANGE_PD, b.pd, NULL, 0, 0), 0);
	mw = ibv_alloc_mw(b.pd, IBV_MW_TYPE_1);
	ck_assert_ptr_nonnull(mw);
	bind.bind_info.mr = b.mr;
	ck_assert_int_eq(ibv_bind_mw(a.qp, mw, &bind), EINVAL);
	ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
	tear_down();
}
END_TEST

static struct ibv_ah *address_of(struct ibv_pd *pd, const struct end *peer)
{
	struct ibv_ah_attr attr = {.is_global = 1, .port_num = 1};

	ck_assert_int_eq(ibv_query_gid(peer->ctx, 1, 0, &attr.grh.dgid), 0);
	return ibv_create_ah(pd, &attr);
}

static void to_rts_ud(struct end *e)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR};

	ck_assert_int_eq(ibv_modify_qp(e->qp, &attr, IBV_QP_STATE), 0);
	attr.qp_state = IBV_QPS_RTS;
	ck_assert_int_eq(ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN), 0);
}

static int send_ud(struct end *e, struct ibv_ah *ah, uint32_t qpn)
{
	struct ibv_sge sge = {(uintptr_t)e->buf, 100, e->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND}, *bad;

	wr.send_flags = IBV_SEND_SIGNALED;
	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = qpn;
	wr.wr.ud.remote_qkey = 1;
	return ibv_post_send(e->qp, &wr, &bad);
}

START_TEST(datagrams_and_groups_reach_the_other_device)
{
	struct ibv_ah_attr group = {
		.is_global = 1, .port_num = 1, .grh = {.dgid.raw = {[10] = 0xff, 0xff, 239, 1, 2, 3}}};
	struct ibv_ah *ah, *wrong, *all;

	make_end(&a, 0, IBV_QPT_UD);
	make_end(&b, 1, IBV_QPT_UD);
	to_rts_ud(&a);
	to_rts_ud(&b);
	ah = address_of(a.pd, &b);
	wrong = address_of(b.pd, &b);
	all = ibv_create_ah(a.pd, &group);
	post_recv(&b, 1);
	post_recv(&b, 2);
	ck_assert_int_eq(send_ud(&a, wrong, b.qp->qp_num), EINVAL);
	ck_assert_int_eq(send_ud(&a, ah, b.qp->qp_num), 0);
	ck_assert_uint_eq(poll_for(b.cq).byte_len, 140);
	ck_assert_int_eq(ibv_attach_mcast(b.qp, &group.grh.dgid, 0), 0);
	ck_assert_int_eq(send_ud(&a, all, 0xffffff), 0);
	ck_assert_uint_eq(poll_for(b.cq).wr_id, 2);
	ck_assert_int_eq(ibv_detach_mcast(b.qp, &group.grh.dgid, 0), 0);
	ck_assert_int_eq(ibv_destroy_ah(ah) | ibv_destroy_ah(wrong) | ibv_destroy_ah(all), 0);
	tear_down();
}
END_TEST

/* ---- the clock ---- */

START_TEST(the_clock_stands_still_while_nobody_looks)
{
	uint64_t before;

	set_up();
	before = virtual_now();
	post_to(&a, IBV_WR_RDMA_WRITE, &b, 8, 1);
	sleep_unseen(20);
	ck_assert_uint_eq(virtual_now(), before);
	ck_assert_uint_eq(b.buf[0], 0);
	(void)poll_for(a.cq);
	ck_assert_uint_gt(virtual_now(), before + 2000); /* there and back: a microsecond each */
	ck_assert_uint_lt(virtual_now(), before + 3000);
	tear_down();
}
END_TEST

START_TEST(an_empty_poll_takes_100_ns_when_nothing_is_under_way)
{
	struct ibv_wc wc;
	uint64_t before;

	set_up();
	before = virtual_now();
	for (int i = 0; i < 10; i++)
		ck_assert_int_eq(ibv_poll_cq(a.cq, 1, &wc), 0);
	ck_assert_uint_eq(virtual_now() - before, 1000);
	tear_down();
}
END_TEST

/* Time-out code 18 is 1.07 s: a request that nobody acknowledges is sent eight times. */
START_TEST(retries_take_virtual_seconds_and_no_real_one)
{
	uint64_t real, before;

	timeout = 18;
	set_up();
	ck_assert_int_eq(ibv_destroy_qp(b.qp), 0);
	b.qp = NULL;
	real = real_now();
	before = virtual_now();
	post_to(&a, IBV_WR_SEND, &b, 8, 1);
	ck_assert_int_eq(block_for(&a).status, IBV_WC_RETRY_EXC_ERR);
	ck_assert_uint_gt(virtual_now() - before, 8 * S);
	ck_assert_uint_lt(real_now() - real, 2 * S);
	tear_down();
}
END_TEST

START_TEST(the_time_stamp_of_a_completion_is_virtual)
{
	struct ibv_cq_init_attr_ex init = {.cqe = 8, .wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP};
	struct ibv_poll_cq_attr attr = {.comp_mask = 0};
	struct ibv_cq_ex *ex;
	uint64_t before;

	make_end(&a, 0, IBV_QPT_RC);
	make_end(&b, 1, IBV_QPT_RC);
	ck_assert_int_eq(ibv_destroy_qp(a.qp), 0);
	ex = ibv_create_cq_ex(a.ctx, &init);
	ck_assert_ptr_nonnull(ex);
	ck_assert_int_eq(ibv_destroy_cq(a.cq), 0);
	a.cq = ibv_cq_ex_to_cq(ex);
	a.qp = ibv_create_qp(a.pd,
			     &(struct ibv_qp_init_attr){
				     .qp_type = IBV_QPT_RC, .send_cq = a.cq, .recv_cq = a.cq, .cap = {4, 4, 1, 1, 0}});
	ck_assert_int_eq(ibv_modify_qp(a.qp, &(struct ibv_qp_attr){.qp_state = IBV_QPS_INIT, .port_num = 1},
				       IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
			 0);
	connect_to(&a, &b);
	connect_to(&b, &a);
	before = virtual_now();
	post_to(&a, IBV_WR_RDMA_WRITE, &b, 8, 1);
	while (ibv_start_poll(ex, &attr) == ENOENT)
		;
	ck_assert_int_eq(ex->status, IBV_WC_SUCCESS);
	ck_assert_uint_eq(ibv_wc_read_completion_ts(ex), virtual_now());
	ck_assert_uint_gt(virtual_now(), before + 2000);
	ibv_end_poll(ex);
	tear_down();
}
END_TEST

START_TEST(who_asks_for_the_state_sees_time_pass)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS};
	struct ibv_qp_init_attr init;

	set_up();
	ck_assert_int_eq(ibv_destroy_qp(b.qp), 0);
	b.qp = NULL;
	post_to(&a, IBV_WR_SEND, &b, 8, 1);
	for (int i = 0; i < 1000 && attr.qp_state != IBV_QPS_ERR; i++)
		ck_assert_int_eq(ibv_query_qp(a.qp, &attr, IBV_QP_STATE, &init), 0);
	ck_assert_int_eq(attr.qp_state, IBV_QPS_ERR);
	tear_down();
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("sim_wire");
	TCase *tc = tcase_create("devices and clock");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, there_are_two_devices_with_two_addresses_each);
	tcase_add_test(tc, everything_goes_from_one_to_the_other);
	tcase_add_test(tc, a_device_talks_to_itself);
	tcase_add_test(tc, a_key_of_one_device_is_nothing_to_the_other);
	tcase_add_test(tc, objects_of_two_devices_do_not_go_together);
	tcase_add_test(tc, datagrams_and_groups_reach_the_other_device);
	tcase_add_test(tc, the_clock_stands_still_while_nobody_looks);
	tcase_add_test(tc, an_empty_poll_takes_100_ns_when_nothing_is_under_way);
	tcase_add_test(tc, retries_take_virtual_seconds_and_no_real_one);
	tcase_add_test(tc, the_time_stamp_of_a_completion_is_virtual);
	tcase_add_test(tc, who_asks_for_the_state_sees_time_pass);
	suite_add_tcase(s, tc);
	add_waits(s);
	add_connections(s);
	return s;
}
