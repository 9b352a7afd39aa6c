/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_cc_roc.c - CC (congestion) and ROC (encapsulation) rows of the inventory on the engine. Each test is one
 * row; its name begins with the id.
 *
 * Not reachable on an engine: ROC-029 (a neighbour that moves: the MAC is resolved when the path is set).
 */
#include <string.h>

#include "core/core.h"
#include "rig.h"

#define P RIG_PEER_PSN
#define D RIG_DUT_PSN
#define MEM(r, off) ((uintptr_t)(r)->mem + (off))
#define KEY(r) vs_mr_rkey((r)->mr)
#define MS 1000000ull

static const struct vs_cc_attr rcm = {.enabled = true,
				      .ecn = 2,
				      .cnp_tclass = 0xc0,
				      .min_cnp_gap_ns = 50000,
				      .link_rate_bps = 10000000000ull,
				      .rate_timer_ns = 300000,
				      .alpha_timer_ns = 55000,
				      .rate_ai_bps = 40000000,
				      .rate_hai_bps = 400000000,
				      .min_rate_bps = 1000000};

static struct rig *congested(void)
{
	struct rig_opt o = {.dev.cc = rcm};
	struct rig *r = rig_new(&o);

	rig_post_recv(r, 1, 0, 4096);
	rig_post_recv(r, 2, 0, 4096);
	return r;
}

static struct vs_pkt marked(struct rig *r, uint8_t opcode, uint32_t psn)
{
	struct vs_pkt p = rig_pkt(r, opcode, psn);

	p.ipv4.tos = 3;
	return p;
}

static struct vs_pkt cnp(struct rig *r)
{
	static const uint8_t zero[16];
	struct vs_pkt p = rig_pkt(r, VS_OP_CNP, 0);

	p.bth.migreq = false;
	p.bth.becn = true;
	p.payload = zero;
	p.payload_len = 16;
	return p;
}

/* ---- notification point ---- */

START_TEST(cc_001_002_003_004_005_006_a_ce_mark_draws_a_cnp)
{
	struct rig *r = congested();
	struct vs_pkt p = marked(r, VS_OP_RC_SEND_ONLY, P);
	unsigned i;

	rig_in(r, &p);
	p = rig_expect(r, VS_OP_CNP, 0);
	ck_assert_uint_eq(p.bth.destqp, RIG_PEER_QPN);
	ck_assert(!p.bth.se && !p.bth.migreq && p.bth.becn && p.bth.pkey == 0xffff && !p.bth.ackreq);
	ck_assert(p.payload_len == 16 && p.udp.len == 40 && p.hdrs == 0);
	for (i = 0; i < 16; i++)
		ck_assert_uint_eq(p.payload[i], 0);
	ck_assert_uint_eq(p.ipv4.tos, 0xc0); /* its own class, not itself subject to marking */
	rig_expect_ack(r, P, 1);
	ck_assert_uint_eq(rig_counter(r, VS_CNT_NP_ECN_MARKED), 1);
	ck_assert_uint_eq(rig_counter(r, VS_CNT_NP_CNP_SENT), 1);
	rig_free(r);
}
END_TEST

START_TEST(cc_007_008_cnps_are_paced_per_qp)
{
	struct rig *r = congested();
	unsigned i, cnps = 0;
	struct vs_pkt p;

	for (i = 0; i < 100; i++) {
		p = marked(r, VS_OP_RC_WRITE_ONLY, P + i);
		rig_in(r, &p);
		while (rig_out(r, &p))
			cnps += p.bth.opcode == VS_OP_CNP;
		rig_advance(r, 10000); /* 100 of them in 1 ms, one CNP in 50 us */
	}
	ck_assert_uint_eq(cnps, 20);
	ck_assert_uint_eq(rig_counter(r, VS_CNT_NP_ECN_MARKED), 100);
	ck_assert_uint_eq(rig_counter(r, VS_CNT_NP_CNP_SENT), 20);
	rig_free(r);
}
END_TEST

START_TEST(cc_009_a_nak_draws_no_cnp)
{
	struct rig *r = congested();

	rig_in_send(r, VS_OP_RC_SEND_ONLY, P + 1, 8);
	rig_expect_nak(r, P, 0x60, 0);
	rig_expect_silence(r);
	rig_free(r);
}
END_TEST

START_TEST(cc_010_a_marked_cnp_draws_none_a_marked_ack_does)
{
	struct rig *r = congested();
	struct vs_pkt p = cnp(r);

	p.ipv4.tos = 3;
	rig_in(r, &p);
	rig_expect_silence(r);
	ck_assert_int_eq(rig_post(r, VS_WR_SEND, 1, 0, 8), VS_OK);
	rig_advance(r, 1000 * MS / 100);
	rig_expect(r, VS_OP_RC_SEND_ONLY, D);
	p = marked(r, VS_OP_RC_ACKNOWLEDGE, D);
	p.ext.aeth.syndrome = 0x1f;
	rig_in(r, &p);
	rig_expect(r, VS_OP_CNP, 0);
	rig_free(r);
}
END_TEST

START_TEST(cc_011_a_marked_datagram_draws_none)
{
	struct rig_opt o = {.type = VS_QPT_UD, .dev.cc = rcm};
	struct rig *r = rig_new(&o);
	struct vs_pkt p = marked(r, VS_OP_UD_SEND_ONLY, 0);

	rig_post_recv(r, 1, 0, 4096);
	p.ext.deth.qkey = 0x11111111;
	rig_in(r, &p);
	rig_expect_silence(r);
	rig_expect_wc(r, r->rcq, 1, VS_WC_SUCCESS);
	rig_free(r);
}
END_TEST

START_TEST(cc_012_a_marked_packet_with_a_bad_icrc_draws_none)
{
	struct rig *r = congested();
	struct vs_pkt p = marked(r, VS_OP_RC_SEND_ONLY, P);
	uint8_t scratch[512];

	ck_assert_int_eq(vs_pkt_seal(&p, VS_SEAL_ALL, scratch, sizeof(scratch)), VS_OK);
	p.icrc ^= 4;
	rig_in_raw(r, &p);
	rig_expect_silence(r);
	ck_assert_uint_eq(rig_counter(r, VS_CNT_NP_ECN_MARKED), 0);
	rig_free(r);
}
END_TEST

/* ---- reaction point ---- */

static unsigned sent_in(struct rig *r, uint64_t ns)
{
	uint64_t end = r->now + ns;
	unsigned n = 0;
	struct vs_pkt p;

	for (;;) {
		while (rig_out(r, &p)) {
			n++;
			if (p.bth.ackreq)
				rig_in_ack(r, p.bth.psn, 0x1f, 1);
		}
		if (!rig_next_timer(r, end - r->now))
			break;
	}
	r->now = end;
	vs_dev_set_now(r->dev, end);
	return n;
}

START_TEST(cc_013_a_cnp_lowers_the_rate_and_it_recovers)
{
	struct rig *r = congested();
	struct vs_pkt p = cnp(r);
	unsigned i;
	uint64_t low;

	ck_assert_uint_eq(r->qp->req.rate_bps, 0); /* not limited */
	rig_in(r, &p);
	ck_assert_uint_eq(r->qp->req.rate_bps, 5000000000ull); /* alpha 1: half */
	for (i = 0; i < 8; i++) {
		rig_advance(r, 1000);
		rig_in(r, &p);
	}
	low = r->qp->req.rate_bps;
	ck_assert_uint_lt(low, 100000000ull);
	ck_assert_uint_eq(rig_counter(r, VS_CNT_RP_CNP_HANDLED), 9);
	/* 1 KiB packets at this rate */
	for (i = 0; i < 60; i++)
		ck_assert_int_eq(rig_post(r, VS_WR_RDMA_WRITE, i, 0, 1024), VS_OK);
	i = sent_in(r, 200000);
	ck_assert_msg(i >= 1 && i <= 1 + low / 8 * 200000 / 1000000000 / 1024 + 1, "%u packets at %llu bit/s in 200 us",
		      i, (unsigned long long)low);
	sent_in(r, 50 * MS); /* recovered */
	ck_assert_uint_eq(r->qp->req.rate_bps, 0);
	ck_assert(vs_dev_deadline(r->dev) == VS_NEVER);
	rig_free(r);
}
END_TEST

START_TEST(cc_014_015_cnps_that_name_nobody_or_are_odd)
{
	struct rig *r = congested();
	struct vs_pkt p = cnp(r);

	if (_i == 0) {
		p.bth.destqp = 0x00dead;
		rig_in(r, &p);
		ck_assert_uint_eq(rig_counter(r, VS_CNT_RP_CNP_IGNORED), 1);
	} else {
		p.bth.psn = 0x1234;
		p.payload = rig_pattern(1);
		rig_in(r, &p);
	}
	rig_expect_silence(r);
	rig_expect_no_async(r);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_RTS);
	rig_free(r);
}
END_TEST

START_TEST(cc_016_017_the_ecn_bits_of_data_packets)
{
	struct rig_opt o = {.ipv6 = _i >= 2};
	struct rig *r;
	struct vs_pkt p;

	if (_i % 2 == 1)
		o.dev.cc = rcm;
	r = rig_new(&o);
	ck_assert_int_eq(rig_post(r, VS_WR_SEND, 1, 0, 8), VS_OK);
	p = rig_expect(r, VS_OP_RC_SEND_ONLY, D);
	ck_assert_uint_eq((_i >= 2 ? p.grh.tclass : p.ipv4.tos) & 3, _i % 2 == 1 ? 2u : 0u);
	rig_free(r);
}
END_TEST

START_TEST(cc_016_without_congestion_management_a_mark_draws_nothing)
{
	struct rig *r = rig_new(NULL);
	struct vs_pkt p;

	rig_post_recv(r, 1, 0, 64);
	p = marked(r, VS_OP_RC_SEND_ONLY, P);
	rig_in(r, &p);
	rig_expect_ack(r, P, 1);
	rig_expect_silence(r);
	p = cnp(r);
	rig_in(r, &p);
	ck_assert_uint_eq(r->qp->req.rate_bps, 0);
	rig_free(r);
}
END_TEST

START_TEST(cc_018_fecn_and_becn_of_data_are_ignored)
{
	struct rig *r = congested();
	struct vs_pkt p = rig_pkt(r, VS_OP_RC_SEND_ONLY, P);

	p.bth.fecn = p.bth.becn = true;
	rig_in(r, &p);
	rig_expect_ack(r, P, 1);
	rig_expect_silence(r);
	ck_assert_uint_eq(r->qp->req.rate_bps, 0);
	rig_free(r);
}
END_TEST

START_TEST(cc_019_the_counters_are_what_the_wire_says)
{
	struct rig *r = congested();
	unsigned i, out = 0;
	struct vs_pkt p;

	for (i = 0; i < 7; i++) {
		p = marked(r, VS_OP_RC_WRITE_ONLY, P + i);
		rig_in(r, &p);
		while (rig_out(r, &p))
			out += p.bth.opcode == VS_OP_CNP;
		p = cnp(r);
		rig_in(r, &p);
		rig_advance(r, 60000);
	}
	ck_assert_uint_eq(rig_counter(r, VS_CNT_NP_ECN_MARKED), 7);
	ck_assert_uint_eq(rig_counter(r, VS_CNT_NP_CNP_SENT), out);
	ck_assert_uint_eq(rig_counter(r, VS_CNT_RP_CNP_HANDLED), 7);
	rig_free(r);
}
END_TEST

/* ---- RoCEv2 ---- */

START_TEST(roc_001_002_004_007_010_the_ipv4_and_udp_headers)
{
	struct rig *r = rig_new(NULL);
	struct vs_pkt p;
	unsigned i;
	uint16_t sport = 0;

	for (i = 0; i < 60; i++)
		ck_assert_int_eq(rig_post(r, VS_WR_SEND, i, 0, i), VS_OK);
	for (i = 0; rig_out(r, &p); i++) {
		ck_assert(p.udp.dport == 4791 && p.udp.csum == 0);
		ck_assert(p.ipv4.version == 4 && p.ipv4.ihl == 5 && p.ipv4.frag == 0x4000 && p.ipv4.protocol == 17);
		ck_assert_uint_eq(p.ipv4.total_len, r->frame_len - 14);
		ck_assert_uint_eq(p.udp.len, r->frame_len - 34);
		ck_assert(p.udp.sport >= 0xc000 && (i == 0 || p.udp.sport == sport));
		sport = p.udp.sport;
		ck_assert_uint_eq(vs_pkt_validate(&p, VS_CRC_GOOD, VS_CRC_UNVERIFIED, NULL, 0), 0);
	}
	ck_assert_uint_eq(i, 60);
	rig_advance(r, 70 * MS); /* and the same for a repeat */
	ck_assert(rig_out(r, &p));
	ck_assert_uint_eq(p.udp.sport, sport);
	rig_free(r);
}
END_TEST

START_TEST(roc_003_source_ports_spread_over_qps)
{
	struct rig *r = rig_new(NULL);
	uint16_t seen[64];
	unsigned i, j, distinct = 0;

	for (i = 0; i < 64; i++) {
		struct vs_qp_init init = {
			.type = VS_QPT_RC, .send_cq = r->scq, .recv_cq = r->rcq, .cap = {1, 1, 1, 1, 0}};
		struct vs_qp *qp = rig_qp(r, &init);
		struct vs_qp_attr a = rig_attr(r);

		rig_to(r, qp, VS_QPS_RTS);
		seen[i] = qp->udp_sport;
		ck_assert_uint_ge(seen[i], 0xc000);
		ck_assert_uint_eq(seen[i], vs_udp_sport(0, vs_qp_num(qp), a.dest_qpn));
		for (j = 0; j < i && seen[j] != seen[i]; j++)
			;
		distinct += j == i;
	}
	ck_assert_uint_ge(distinct, 48);
	rig_free(r);
}
END_TEST

START_TEST(roc_005_011_the_ipv6_and_udp_headers)
{
	struct rig_opt o = {.ipv6 = true};
	struct rig *r = rig_new(&o);
	struct vs_pkt p;

	ck_assert_int_eq(rig_post(r, VS_WR_SEND, 1, 0, 33), VS_OK);
	p = rig_expect(r, VS_OP_RC_SEND_ONLY, D);
	ck_assert(p.grh.ipver == 6 && p.grh.nxthdr == 17 && p.udp.csum == 0 && p.grh.hoplmt == 64);
	ck_assert_uint_eq(p.grh.paylen, r->frame_len - 14 - 40);
	ck_assert_uint_eq(p.udp.len, p.grh.paylen);
	rig_free(r);
}
END_TEST

START_TEST(roc_006_a_udp_checksum_is_accepted)
{
	struct rig *r = rig_new(NULL);
	struct vs_pkt p = rig_pkt(r, VS_OP_RC_SEND_ONLY, P);
	uint8_t scratch[512];

	rig_post_recv(r, 1, 0, 64);
	ck_assert_int_eq(vs_pkt_seal(&p, VS_SEAL_ALL, scratch, sizeof(scratch)), VS_OK);
	p.udp.csum = 0x1234;
	rig_in_raw(r, &p);
	rig_expect_ack(r, P, 1);
	rig_free(r);
}
END_TEST

START_TEST(roc_008_009_024_ip_headers_that_roce_does_not_have)
{
	struct rig *r = rig_new(NULL);
	struct vs_pkt p = rig_pkt(r, VS_OP_RC_SEND_ONLY, P);
	uint8_t scratch[512];

	rig_post_recv(r, 1, 0, 64);
	switch (_i) {
	case 0:
		p.ipv4.ihl = 6;
		rig_in(r, &p);
		break;
	case 1:
		p.ipv4.frag = 0x2000; /* more fragments */
		ck_assert_int_eq(vs_pkt_seal(&p, VS_SEAL_ALL, scratch, sizeof(scratch)), VS_OK);
		rig_in_raw(r, &p);
		break;
	default:
		ck_assert_int_eq(vs_pkt_seal(&p, VS_SEAL_ALL, scratch, sizeof(scratch)), VS_OK);
		ck_assert_int_gt(vs_pkt_build(&p, scratch, sizeof(scratch)), 0);
		scratch[14] = 0x65; /* an IPv6 nibble behind the IPv4 ethertype */
		rig_in_bytes(r, scratch, vs_pkt_size(&p));
		break;
	}
	rig_expect_silence(r);
	rig_expect_no_wc(r);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, P, 8);
	if (_i == 0)
		ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_RTS);
	rig_expect_ack(r, P, 1);
	rig_free(r);
}
END_TEST

START_TEST(roc_012_013_014_class_and_hop_limit_come_from_the_path)
{
	struct rig_opt o = {.state = VS_QPS_INIT, .ipv6 = _i == 1};
	struct rig *r = rig_new(&o);
	struct vs_qp_attr a = rig_attr(r);
	struct vs_pkt p;

	a.state = VS_QPS_RTR;
	a.av.traffic_class = 0x68;
	a.av.hop_limit = 3;
	ck_assert_int_eq(rig_modify(r->qp, &a,
				    VS_QP_STATE | VS_QP_AV | VS_QP_PATH_MTU | VS_QP_DEST_QPN | VS_QP_RQ_PSN |
					    VS_QP_MAX_DEST_RD_ATOMIC | VS_QP_MIN_RNR_TIMER),
			 VS_OK);
	rig_post_recv(r, 1, 0, 64);
	p = rig_pkt(r, VS_OP_RC_SEND_ONLY, P);
	p.ipv4.tos = 0x20;
	p.grh.tclass = 0x20;
	rig_in(r, &p);
	p = rig_expect(r, VS_OP_RC_ACKNOWLEDGE, P); /* the QP's own, not the request's */
	ck_assert_uint_eq(_i == 1 ? p.grh.tclass : p.ipv4.tos, 0x68);
	ck_assert_uint_eq(_i == 1 ? p.grh.hoplmt : p.ipv4.ttl, 3);
	rig_free(r);
}
END_TEST

/* As routers do that change the header of an untagged frame. */
static void fix_ipv4_csum(uint8_t *frame, size_t len)
{
	struct vs_pkt p;
	uint16_t csum;

	ck_assert_int_eq(vs_pkt_parse(&p, VS_LINK_ETHERNET, 0, frame, len, (uint32_t)len, 0), VS_OK);
	csum = vs_ipv4_csum(&p.ipv4);
	frame[14 + 10] = (uint8_t)(csum >> 8);
	frame[14 + 11] = (uint8_t)csum;
}

START_TEST(roc_015_016_017_019_020_what_routers_may_change_and_what_not)
{
	static const struct {
		unsigned byte; /* of the frame */
		bool taken;
	} t[] = {
		{14 + 8, true},  /* TTL */
		{14 + 1, true},  /* TOS */
		{34 + 7, true},  /* UDP checksum */
		{42 + 4, true},  /* FECN, BECN, reserved */
		{14 + 4, false}, /* IP ID */
		{34 + 1, false}, /* source port */
		{42 + 1, false}, /* SE, M, pad, version: pad bits aside */
		{42 + 8, false}, /* AckReq */
	};
	struct rig *r = rig_new(NULL);
	struct vs_pkt p = rig_pkt(r, VS_OP_RC_SEND_ONLY, P);
	uint8_t buf[512];

	rig_post_recv(r, 1, 0, 64);
	p.ipv4.ttl = 1; /* ROC-015: the last hop is still ours */
	ck_assert_int_eq(vs_pkt_seal(&p, VS_SEAL_ALL, buf, sizeof(buf)), VS_OK);
	ck_assert_int_gt(vs_pkt_build(&p, buf, sizeof(buf)), 0);
	buf[t[_i].byte] ^= t[_i].byte == 42 + 1 ? 0x80 : 0x04;
	fix_ipv4_csum(buf, vs_pkt_size(&p));
	rig_in_bytes(r, buf, vs_pkt_size(&p));
	if (t[_i].taken)
		rig_expect_ack(r, P, 1);
	else
		rig_expect_silence(r);
	rig_free(r);
}
END_TEST

START_TEST(roc_018_what_routers_may_change_of_ipv6)
{
	struct rig_opt o = {.ipv6 = true};
	struct rig *r = rig_new(&o);
	struct vs_pkt p = rig_pkt(r, VS_OP_RC_SEND_ONLY, P);
	uint8_t buf[512];

	rig_post_recv(r, 1, 0, 64);
	ck_assert_int_eq(vs_pkt_seal(&p, VS_SEAL_ALL, buf, sizeof(buf)), VS_OK);
	p.grh.tclass = 0x14;
	p.grh.flowlabel = 0xabcde;
	p.grh.hoplmt = 9;
	rig_in_raw(r, &p);
	rig_expect_ack(r, P, 1);
	rig_free(r);
}
END_TEST

START_TEST(roc_021_the_gid_decides_the_protocol)
{
	struct rig_opt o = {.state = VS_QPS_INIT};
	struct rig *r;
	struct vs_qp_attr a;
	struct vs_pkt p;
	int err;

	o.dev.gids[0] = (struct vs_gid_entry){{0xfd, [15] = 1}, VS_GID_ROCEV1};
	o.dev.gids[1] = (struct vs_gid_entry){{0xfd, [15] = 1}, VS_GID_ROCEV2};
	o.dev.gids[2] = (struct vs_gid_entry){{[10] = 0xff, 0xff, 10, 0, 0, 1}, VS_GID_ROCEV2};
	r = rig_new(&o);
	a = rig_attr(r);
	a.state = VS_QPS_RTR;
	a.av.sgid_index = (uint8_t)_i;
	if (_i < 2)
		memcpy(a.av.dgid, (const uint8_t[16]){0xfd, [15] = 2}, 16);
	ck_assert_int_eq(rig_modify(r->qp, &a,
				    VS_QP_STATE | VS_QP_AV | VS_QP_PATH_MTU | VS_QP_DEST_QPN | VS_QP_RQ_PSN |
					    VS_QP_MAX_DEST_RD_ATOMIC | VS_QP_MIN_RNR_TIMER),
			 VS_OK);
	rig_to(r, r->qp, VS_QPS_RTS);
	ck_assert_int_eq(rig_post(r, VS_WR_SEND, 1, 0, 8), VS_OK);
	ck_assert_ptr_nonnull(vs_ah_create(r->pd, &a.av, &err)); /* and datagrams can take the same way */
	p = rig_expect(r, VS_OP_RC_SEND_ONLY, D);
	ck_assert_int_eq(p.encap, _i == 0 ? VS_ENCAP_ROCEV1 : _i == 1 ? VS_ENCAP_ROCEV2_IPV6 : VS_ENCAP_ROCEV2_IPV4);
	ck_assert_uint_eq(p.eth.ethertype, _i == 0 ? 0x8915 : _i == 1 ? 0x86dd : 0x0800);
	rig_free(r);
}
END_TEST

START_TEST(roc_022_a_datagram_is_taken_over_both_protocols)
{
	struct rig_opt o = {.type = VS_QPT_UD, .ipv6 = true};
	struct rig *r;
	struct vs_pkt p;
	unsigned i;

	o.dev.gids[0] = (struct vs_gid_entry){{0xfd, [15] = 1}, VS_GID_ROCEV1};
	o.dev.gids[1] = (struct vs_gid_entry){{0xfd, [15] = 1}, VS_GID_ROCEV2};
	r = rig_new(&o);
	for (i = 0; i < 2; i++) {
		r->opt.rocev1 = i == 0;
		rig_post_recv(r, i, 0, 512);
		p = rig_pkt(r, VS_OP_UD_SEND_ONLY, 1);
		p.ext.deth.qkey = 0x11111111;
		rig_in(r, &p);
		rig_expect_wc(r, r->rcq, i, VS_WC_SUCCESS);
	}
	rig_free(r);
}
END_TEST

START_TEST(roc_023_an_ipv4_mapped_gid_makes_ipv4_packets)
{
	struct rig *r = rig_new(NULL);
	struct vs_pkt p;

	ck_assert_int_eq(rig_post(r, VS_WR_SEND, 1, 0, 8), VS_OK);
	p = rig_expect(r, VS_OP_RC_SEND_ONLY, D);
	ck_assert_mem_eq(p.ipv4.src, "\x0a\x00\x00\x01", 4);
	ck_assert_mem_eq(p.ipv4.dst, "\x0a\x00\x00\x02", 4);
	rig_free(r);
}
END_TEST

START_TEST(roc_025_a_vlan_tag_is_sent_and_taken)
{
	struct rig_opt o = {.state = VS_QPS_INIT};
	struct rig *r = rig_new(&o);
	struct vs_qp_attr a = rig_attr(r);
	struct vs_pkt p;

	a.state = VS_QPS_RTR;
	a.av.has_vlan = true;
	a.av.vlan_id = 5;
	a.av.sl = 3;
	ck_assert_int_eq(rig_modify(r->qp, &a,
				    VS_QP_STATE | VS_QP_AV | VS_QP_PATH_MTU | VS_QP_DEST_QPN | VS_QP_RQ_PSN |
					    VS_QP_MAX_DEST_RD_ATOMIC | VS_QP_MIN_RNR_TIMER),
			 VS_OK);
	rig_post_recv(r, 1, 0, 64);
	p = rig_pkt(r, VS_OP_RC_SEND_ONLY, P);
	p.eth.vlan_count = 1;
	p.eth.vlan[0] = (struct vs_vlan){0x8100, 3 << 13 | 5};
	rig_in(r, &p);
	p = rig_expect(r, VS_OP_RC_ACKNOWLEDGE, P);
	ck_assert(p.eth.vlan_count == 1 && p.eth.vlan[0].tpid == 0x8100 && p.eth.vlan[0].tci == (3 << 13 | 5));
	rig_expect_wc(r, r->rcq, 1, VS_WC_SUCCESS);
	rig_free(r);
}
END_TEST

START_TEST(roc_026_027_path_mtus_and_frame_sizes)
{
	static const uint32_t bytes[] = {256, 512, 1024, 2048, 4096};
	struct rig_opt o = {.mtu = (enum vs_mtu)(_i + 1)};
	struct rig *r = rig_new(&o);
	struct vs_pkt p;

	ck_assert_int_eq(rig_post(r, VS_WR_RDMA_WRITE, 1, 0, 2 * bytes[_i]), VS_OK);
	p = rig_expect(r, VS_OP_RC_WRITE_FIRST, D);
	ck_assert_uint_eq(p.payload_len, bytes[_i]);
	ck_assert_uint_eq(r->frame_len, bytes[_i] + 74);
	rig_expect(r, VS_OP_RC_WRITE_LAST, D + 1);
	ck_assert_uint_eq(r->frame_len, bytes[_i] + 58);
	rig_free(r);
}
END_TEST

START_TEST(roc_028_link_local_and_global_addresses)
{
	struct rig_opt o = {.state = VS_QPS_INIT};
	struct rig *r;
	struct vs_qp_attr a;
	struct vs_pkt p;

	memcpy(o.dev.gids[0].gid,
	       _i == 0 ? (const uint8_t[16]){0xfe, 0x80, [15] = 1} : (const uint8_t[16]){0x20, 0x01, [15] = 1}, 16);
	o.dev.gids[0].type = VS_GID_ROCEV2;
	r = rig_new(&o);
	a = rig_attr(r);
	a.state = VS_QPS_RTR;
	memcpy(a.av.dgid, o.dev.gids[0].gid, 16);
	a.av.dgid[15] = 2;
	ck_assert_int_eq(rig_modify(r->qp, &a,
				    VS_QP_STATE | VS_QP_AV | VS_QP_PATH_MTU | VS_QP_DEST_QPN | VS_QP_RQ_PSN |
					    VS_QP_MAX_DEST_RD_ATOMIC | VS_QP_MIN_RNR_TIMER),
			 VS_OK);
	rig_post_recv(r, 1, 0, 64);
	r->opt.ipv6 = true;
	p = rig_pkt(r, VS_OP_RC_SEND_ONLY, P);
	memcpy(p.grh.sgid, a.av.dgid, 16);
	memcpy(p.grh.dgid, o.dev.gids[0].gid, 16);
	rig_in(r, &p);
	rig_expect_ack(r, P, 1);
	rig_free(r);
}
END_TEST

START_TEST(roc_030_loopback_runs_the_same_checks)
{
	struct rig_opt o = {.state = VS_QPS_INIT};
	struct rig *r = rig_new(&o);
	struct vs_qp_init init = {.type = VS_QPT_RC, .send_cq = r->scq, .recv_cq = r->rcq, .cap = {8, 8, 1, 1, 0}};
	struct vs_qp *b = rig_qp(r, &init);
	struct vs_qp_attr a = rig_attr(r);
	struct vs_send_wr wr;
	struct vs_sge sge;
	uint32_t mask = VS_QP_STATE | VS_QP_AV | VS_QP_PATH_MTU | VS_QP_DEST_QPN | VS_QP_RQ_PSN |
			VS_QP_MAX_DEST_RD_ATOMIC | VS_QP_MIN_RNR_TIMER;
	struct vs_pkt p;
	struct vs_wc wc;

	rig_to(r, b, VS_QPS_INIT);
	a.state = VS_QPS_RTR;
	a.av.dgid[15] = 1; /* ourselves */
	a.rq_psn = RIG_DUT_PSN;
	a.dest_qpn = vs_qp_num(b);
	ck_assert_int_eq(vs_qp_modify(r->qp, &a, mask), VS_OK);
	a.dest_qpn = vs_qp_num(r->qp);
	ck_assert_int_eq(vs_qp_modify(b, &a, mask), VS_OK);
	rig_to(r, r->qp, VS_QPS_RTS);
	rig_to(r, b, VS_QPS_RTS);
	wr = rig_wr(r, VS_WR_ATOMIC_FETCH_AND_ADD, 1, &sge, 0, 8);
	wr.rdma.remote_addr = MEM(r, 4096) + 4; /* misaligned: refused as over the wire */
	wr.rdma.rkey = KEY(r);
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	while (rig_out(r, &p)) {
		uint8_t copy[VS_FRAME_MAX];

		memcpy(copy, r->frame, r->frame_len);
		copy[5] = 1;
		rig_in_bytes(r, copy, r->frame_len);
	}
	ck_assert_int_eq(vs_cq_poll(r->scq, &wc, 1), 1);
	ck_assert_int_eq(wc.status, VS_WC_REM_INV_REQ_ERR);
	rig_free(r);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("cc_roc");
	TCase *tc = tcase_create("congestion");

	tcase_add_test(tc, cc_001_002_003_004_005_006_a_ce_mark_draws_a_cnp);
	tcase_add_test(tc, cc_007_008_cnps_are_paced_per_qp);
	tcase_add_test(tc, cc_009_a_nak_draws_no_cnp);
	tcase_add_test(tc, cc_010_a_marked_cnp_draws_none_a_marked_ack_does);
	tcase_add_test(tc, cc_011_a_marked_datagram_draws_none);
	tcase_add_test(tc, cc_012_a_marked_packet_with_a_bad_icrc_draws_none);
	tcase_add_test(tc, cc_013_a_cnp_lowers_the_rate_and_it_recovers);
	tcase_add_loop_test(tc, cc_014_015_cnps_that_name_nobody_or_are_odd, 0, 2);
	tcase_add_loop_test(tc, cc_016_017_the_ecn_bits_of_data_packets, 0, 4);
	tcase_add_test(tc, cc_016_without_congestion_management_a_mark_draws_nothing);
	tcase_add_test(tc, cc_018_fecn_and_becn_of_data_are_ignored);
	tcase_add_test(tc, cc_019_the_counters_are_what_the_wire_says);
	suite_add_tcase(s, tc);

	tc = tcase_create("encapsulation");
	tcase_add_test(tc, roc_001_002_004_007_010_the_ipv4_and_udp_headers);
	tcase_add_test(tc, roc_003_source_ports_spread_over_qps);
	tcase_add_test(tc, roc_005_011_the_ipv6_and_udp_headers);
	tcase_add_test(tc, roc_006_a_udp_checksum_is_accepted);
	tcase_add_loop_test(tc, roc_008_009_024_ip_headers_that_roce_does_not_have, 0, 3);
	tcase_add_loop_test(tc, roc_012_013_014_class_and_hop_limit_come_from_the_path, 0, 2);
	tcase_add_loop_test(tc, roc_015_016_017_019_020_what_routers_may_change_and_what_not, 0, 8);
	tcase_add_test(tc, roc_018_what_routers_may_change_of_ipv6);
	tcase_add_loop_test(tc, roc_021_the_gid_decides_the_protocol, 0, 3);
	tcase_add_test(tc, roc_022_a_datagram_is_taken_over_both_protocols);
	tcase_add_test(tc, roc_023_an_ipv4_mapped_gid_makes_ipv4_packets);
	tcase_add_test(tc, roc_025_a_vlan_tag_is_sent_and_taken);
	tcase_add_loop_test(tc, roc_026_027_path_mtus_and_frame_sizes, 0, 5);
	tcase_add_loop_test(tc, roc_028_link_local_and_global_addresses, 0, 2);
	tcase_add_test(tc, roc_030_loopback_runs_the_same_checks);
	suite_add_tcase(s, tc);
	return s;
}
