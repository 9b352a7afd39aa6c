/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_core_conn_param.c - the limits of the parameters that the connection manager takes, and which way its answers
 * go: the GID, the protocol, the VLAN or the LID that the question came by.
 */
#include "cms.h"
#include "core/conn.h"

/* ---- parameters ---- */

static const uint8_t some[256];

/* Every parameter at its largest is taken, one above it is refused. */
static void spoil(struct vs_conn_param *p, int i, uint8_t private_max, bool too_large)
{
	uint8_t more = too_large;

	switch (i) {
	case 0:
		p->qpn = 0xffffffu + more;
		break;
	case 1:
		p->starting_psn = 0xffffffu + more;
		break;
	case 2:
		p->retry_count = 7 + more;
		break;
	case 3:
		p->rnr_retry = 7 + more;
		break;
	case 4:
		p->local_ack_timeout = 31 + more;
		break;
	case 5:
		p->cm_response_timeout = 31 + more;
		break;
	case 6:
		p->max_cm_retries = 15 + more;
		break;
	case 7:
		p->private_data = some;
		p->private_len = private_max + more;
		break;
	case 8: /* something of nothing */
		p->private_data = too_large ? NULL : some;
		p->private_len = 1;
		break;
	case 9:
		p->responder_resources = 16 + more;
		break;
	default:
		p->initiator_depth = 16 + more;
		break;
	}
}

START_TEST(parameters_at_their_limit_are_taken_and_beyond_it_refused)
{
	int what = _i % 11;
	bool too_large = _i / 11 % 2;
	int err, rc;
	struct rig *r = rig_new(&reset);
	struct vs_conn_param p = param(r);
	struct vs_cm_msg m = {.attribute = VS_CM_ATTR_SIDR_REQ};
	struct vs_conn *c;

	switch (_i / 22) {
	case 0:
		spoil(&p, what, 92, too_large);
		rc = vs_connect(r->dev, &p, 0, &err) != NULL ? VS_OK : err;
		break;
	case 1:
		spoil(&p, what, 216, too_large);
		rc = vs_sidr_resolve(r->dev, &p, 0, &err) != NULL ? VS_OK : err;
		break;
	case 2:
		c = offered(r);
		spoil(&p, what, 196, too_large);
		rc = vs_accept(c, &p);
		ck_assert_int_eq(vs_conn_state(c), rc == VS_OK ? VS_CONN_REP_SENT : VS_CONN_REQ_RCVD);
		break;
	default:
		ck_assert_ptr_nonnull(vs_listen(r->dev, SERVICE, 0, &err));
		m.sidr_req.service_id = SERVICE;
		in_mad(r, &m, 5);
		c = expect_event(r, VS_CONN_EV_SIDR_REQUEST).conn;
		spoil(&p, what, 136, too_large);
		rc = vs_sidr_reply(c, 0, &p);
		break;
	}
	ck_assert_int_eq(rc, too_large ? VS_ERR_INVAL : VS_OK);
	ck_assert_uint_eq(rig_drain(r), !too_large);
	if (too_large)
		ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_CONN_PARAM);
	rig_free(r);
}
END_TEST

START_TEST(other_arguments_have_limits_too)
{
	struct rig *r = rig_new(&reset);
	struct vs_conn_param p = param(r);
	struct vs_conn *c = offered(r);
	struct vs_cm_msg m = {.attribute = VS_CM_ATTR_SIDR_REQ};

	ck_assert_int_eq(vs_conn_mra(c, 32), VS_ERR_INVAL);
	ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_CONN_PARAM);
	ck_assert_int_eq(vs_reject(c, 28, some, 149), VS_ERR_INVAL);
	ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_CONN_PARAM);
	ck_assert_int_eq(vs_reject(c, 28, NULL, 1), VS_ERR_INVAL);
	ck_assert_int_eq(vs_conn_state(c), VS_CONN_REQ_RCVD);
	ck_assert_int_eq(vs_reject(c, 28, some, 148), VS_OK);
	expect_mad(r, VS_CM_ATTR_REJ, NULL);
	m.sidr_req.service_id = SERVICE;
	in_mad(r, &m, 5);
	c = expect_event(r, VS_CONN_EV_SIDR_REQUEST).conn;
	ck_assert_int_eq(vs_sidr_reply(c, 256, &p), VS_ERR_INVAL);
	ck_assert_int_eq(vs_dev_refusal(r->dev), VS_REASON_CONN_PARAM);
	rig_expect_silence(r);
	ck_assert_int_eq(vs_sidr_reply(c, 255, &p), VS_OK);
	ck_assert_uint_eq(expect_mad(r, VS_CM_ATTR_SIDR_REP, NULL).sidr_rep.status, 255);
	rig_free(r);
}
END_TEST

/* ---- which way ---- */

/* A device with an IPv4 GID, and one IPv6 address for RoCEv1 (index 1) and RoCEv2 (index 2). */
static struct rig *three_gids(void)
{
	struct rig_opt o = {.stay_in_reset = true};
	struct vs_gid_entry *g = o.dev.gids;
	static const uint8_t v4[16] = {[10] = 0xff, 0xff, 10, 0, 0, 1}, v6[16] = {0xfd, [15] = 1};

	memcpy(g[0].gid, v4, 16);
	g[0].type = VS_GID_ROCEV2;
	memcpy(g[1].gid, v6, 16);
	g[1].type = VS_GID_ROCEV1;
	memcpy(g[2].gid, v6, 16);
	g[2].type = VS_GID_ROCEV2;
	return rig_new(&o);
}

static void in_mad_by(struct rig *r, const struct vs_cm_msg *m, enum vs_encap encap, bool vlan)
{
	struct vs_pkt like = rig_pkt(r, VS_OP_UD_SEND_ONLY, 3), p;
	struct vs_mad h = {1, VS_MAD_CLASS_CM, 2, 3, 0, 0, 500, m->attribute, 0, 0};
	uint8_t mad[VS_MAD_LEN];
	static const uint8_t from[16] = {0xfd, [15] = 2}, to[16] = {0xfd, [15] = 1};

	vs_mad_build(&h, mad);
	ck_assert_int_eq(vs_cm_build(m, mad + VS_MAD_HDR_LEN), VS_OK);
	vs_pkt_init(&p, encap, VS_OP_UD_SEND_ONLY, true);
	memcpy(p.eth.dst, like.eth.dst, 6);
	memcpy(p.eth.src, like.eth.src, 6);
	p.eth.src[5] = 0x77;
	p.ipv4 = like.ipv4;
	memcpy(p.grh.sgid, from, 16);
	memcpy(p.grh.dgid, to, 16);
	p.bth = like.bth;
	p.bth.destqp = VS_QPN_GSI;
	p.ext.deth.qkey = VS_GSI_QKEY;
	p.ext.deth.srcqp = VS_QPN_GSI;
	p.payload = mad;
	p.payload_len = sizeof(mad);
	if (vlan) {
		p.eth.vlan_count = 1;
		p.eth.vlan[0].tpid = 0x8100;
		p.eth.vlan[0].tci = 0xbfed; /* priority 5, VLAN 0xfed; bit 12 says nothing */
	}
	rig_in(r, &p);
}

START_TEST(an_answer_goes_the_way_the_message_came)
{
	static const enum vs_encap encap[] = {VS_ENCAP_ROCEV2_IPV4, VS_ENCAP_ROCEV1, VS_ENCAP_ROCEV2_IPV6};
	bool vlan = _i >= 3;
	struct rig *r = three_gids();
	struct vs_cm_msg m = req();
	struct vs_qp_attr a;
	struct vs_conn *c;
	struct vs_pkt p;
	uint32_t mask;
	int err;

	in_mad_by(r, &m, encap[_i % 3], vlan);
	ck_assert(rig_out(r, &p)); /* nobody listens: a REJ */
	ck_assert_int_eq(p.encap, encap[_i % 3]);
	ck_assert_mem_eq(p.eth.dst, "\2\0\0\0\0\x77", 6);
	ck_assert_mem_eq(p.eth.src, "\2\0\0\0\0\1", 6);
	ck_assert_uint_eq(p.eth.vlan_count, vlan);
	if (vlan)
		ck_assert_uint_eq(p.eth.vlan[0].tci, 0xafed);
	if (_i % 3 > 0)
		ck_assert(p.grh.dgid[0] == 0xfd && p.grh.dgid[15] == 2 && p.grh.sgid[0] == 0xfd && p.grh.sgid[15] == 1);
	ck_assert_ptr_nonnull(vs_listen(r->dev, SERVICE, 0, &err));
	in_mad_by(r, &m, encap[_i % 3], vlan);
	c = expect_event(r, VS_CONN_EV_REQUEST).conn;
	ck_assert_int_eq(vs_conn_qp_attr(c, VS_QPS_RTR, &a, &mask), VS_OK);
	ck_assert_uint_eq(a.av.sgid_index, (unsigned)_i % 3);
	ck_assert(a.av.has_vlan == vlan && a.av.vlan_id == (vlan ? 0xfed : 0) && a.av.sl == (vlan ? 5 : 0));
	rig_free(r);
}
END_TEST

START_TEST(on_infiniband_an_answer_goes_to_the_lid_it_came_from)
{
	struct rig_opt o = {.stay_in_reset = true, .ib = _i == 0, .ib_grh = _i == 1};
	struct rig *r = rig_new(&o);
	struct vs_cm_msg m = req();
	struct vs_pkt in = rig_pkt(r, VS_OP_UD_SEND_ONLY, 3), p;
	struct vs_mad h = {1, VS_MAD_CLASS_CM, 2, 3, 0, 0, 500, VS_CM_ATTR_REQ, 0, 0};
	uint8_t mad[VS_MAD_LEN];

	vs_mad_build(&h, mad);
	ck_assert_int_eq(vs_cm_build(&m, mad + VS_MAD_HDR_LEN), VS_OK);
	in.lrh.slid = 0x0abc;
	in.lrh.sl = 9;
	in.bth.destqp = VS_QPN_GSI;
	in.ext.deth.qkey = VS_GSI_QKEY;
	in.payload = mad;
	in.payload_len = sizeof(mad);
	rig_in(r, &in);
	ck_assert(rig_out(r, &p));
	ck_assert(p.lrh.dlid == 0x0abc && p.lrh.slid == 1 && p.lrh.sl == 9);
	ck_assert_int_eq(p.encap, _i == 0 ? VS_ENCAP_IB : VS_ENCAP_IB_GRH);
	rig_free(r);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("core conn param");
	TCase *tc = tcase_create("conn");

	tcase_add_loop_test(tc, parameters_at_their_limit_are_taken_and_beyond_it_refused, 0, 4 * 22);
	tcase_add_test(tc, other_arguments_have_limits_too);
	tcase_add_loop_test(tc, an_answer_goes_the_way_the_message_came, 0, 6);
	tcase_add_loop_test(tc, on_infiniband_an_answer_goes_to_the_lid_it_came_from, 0, 2);
	suite_add_tcase(s, tc);
	return s;
}
