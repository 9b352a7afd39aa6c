/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* test_rig.c - the test bench itself: one exchange in each direction over every encapsulation. */
#include <string.h>

#include "rig.h"

static const struct rig_opt encaps[] = {
	{.ipv6 = false}, {.ipv6 = true}, {.rocev1 = true}, {.ib = true}, {.ib_grh = true}};

START_TEST(a_send_is_received_and_acknowledged_over_every_encapsulation)
{
	struct rig *r = rig_new(&encaps[_i]);

	ck_assert_int_eq(rig_post_recv(r, 7, 0, 64), VS_OK);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, RIG_PEER_PSN, 33);
	rig_expect_ack(r, RIG_PEER_PSN, 1);
	rig_expect_silence(r);
	ck_assert_uint_eq(rig_expect_wc(r, r->rcq, 7, VS_WC_SUCCESS).byte_len, 33);
	ck_assert_mem_eq(r->mem, rig_pattern(RIG_PEER_PSN), 33);
	ck_assert_uint_eq(r->mem[33], 0xee);
	rig_free(r);
}
END_TEST

START_TEST(a_write_goes_out_and_completes_over_every_encapsulation)
{
	struct rig *r = rig_new(&encaps[_i]);
	struct vs_pkt p;

	ck_assert_int_eq(rig_post(r, VS_WR_RDMA_WRITE, 9, 0, 2048), VS_OK);
	p = rig_expect(r, VS_OP_RC_WRITE_FIRST, RIG_DUT_PSN);
	ck_assert_uint_eq(p.ext.reth.va, RIG_PEER_VA);
	ck_assert_uint_eq(p.ext.reth.dmalen, 2048);
	p = rig_expect(r, VS_OP_RC_WRITE_LAST, RIG_DUT_PSN + 1);
	ck_assert(p.bth.ackreq);
	rig_expect_silence(r);
	rig_expect_no_wc(r);
	rig_in_ack(r, RIG_DUT_PSN + 1, 0x1f, 1);
	rig_expect_wc(r, r->scq, 9, VS_WC_SUCCESS);
	rig_free(r);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("rig");
	TCase *tc = tcase_create("exchange");

	tcase_add_loop_test(tc, a_send_is_received_and_acknowledged_over_every_encapsulation, 0, 5);
	tcase_add_loop_test(tc, a_write_goes_out_and_completes_over_every_encapsulation, 0, 5);
	suite_add_tcase(s, tc);
	return s;
}
