/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_core_rx.c - the header checks of received packets: whatever is wrong, the packet is dropped in silence for
 * its one reason, the trace says which, one counter counts, and nothing else happens.
 */
#include <string.h>

#include "core/core.h"
#include "qps.h"

#define P RIG_PEER_PSN

enum net { V4, V6, V1, IB, IBG, NETS };

static struct rig_opt over(enum net n)
{
	return (struct rig_opt){.ipv6 = n == V6, .rocev1 = n == V1, .ib = n == IB, .ib_grh = n == IBG};
}

/* What is sealed again after the fault was put in. */
#define CRCS (VS_SEAL_CSUM | VS_SEAL_ICRC | VS_SEAL_VCRC)

struct fault {
	const char *name;
	enum net net;
	enum vs_reason why;
	void (*spoil)(struct vs_pkt *p);
	unsigned seal;
	bool early; /* before pkt:rx: the QP is not known yet */
};

#define SPOIL(name, statement)             \
	static void name(struct vs_pkt *p) \
	{                                  \
		statement;                 \
	}

SPOIL(header_missing, p->hdrs = 0)
SPOIL(no_icrc, p->flags &= ~(unsigned)VS_PKT_HAS_ICRC)
SPOIL(pad_of_nothing, p->payload_len = 0; p->bth.padcnt = 3)
SPOIL(unaligned, p->payload_len = 7)
SPOIL(fragment, p->ipv4.frag = 0x2000)
SPOIL(ihl_6, p->ipv4.ihl = 6)
SPOIL(ip_csum, p->ipv4.csum ^= 0x0101)
SPOIL(ip_csum_zero, p->ipv4.csum = 0)
SPOIL(vl_15, p->lrh.vl = 15)
SPOIL(ip_5, p->ipv4.version = 5)
SPOIL(ip_longer, p->ipv4.total_len = (uint16_t)(p->ipv4.total_len + 4))
SPOIL(udp_longer, p->udp.len = (uint16_t)(p->udp.len + 4))
SPOIL(paylen_longer, p->grh.paylen = (uint16_t)(p->grh.paylen + 4))
SPOIL(ipver_5, p->grh.ipver = 5)
SPOIL(nxthdr, p->grh.nxthdr = 0x11)
SPOIL(lver, p->lrh.lver = 1)
SPOIL(pktlen_longer, p->lrh.pktlen = (uint16_t)(p->lrh.pktlen + 1))
SPOIL(bad_icrc, p->icrc ^= 1)
SPOIL(bad_vcrc, p->vcrc ^= 1)
SPOIL(other_mac, p->eth.dst[5] ^= 0x10)
SPOIL(other_lid, p->lrh.dlid = 7)
SPOIL(other_ip, p->ipv4.dst[3] = 9)
SPOIL(other_gid, p->grh.dgid[15] = 9)
SPOIL(group_gid, p->grh.dgid[0] = 0xff)
SPOIL(group_ip, p->ipv4.dst[0] = 0xe1)
SPOIL(tver, p->bth.tver = 1)
SPOIL(reserved_ud, p->bth.opcode = 0x66)
SPOIL(reserved_uc, p->bth.opcode = 0x2c)
SPOIL(qp_0, p->bth.destqp = 0)
SPOIL(qp_group, p->bth.destqp = 0xffffff)
SPOIL(qp_unknown, p->bth.destqp ^= 0x20)
SPOIL(uc_opcode, p->bth.opcode = VS_OP_UC_SEND_ONLY)
SPOIL(pkey_other, p->bth.pkey = 0x8001)
SPOIL(pkey_limited, p->bth.pkey = 0x0123)
SPOIL(pkey_none, p->bth.pkey = 0x8000)
SPOIL(source_ip, p->ipv4.src[3] = 9)
SPOIL(source_gid, p->grh.sgid[15] = 9)
SPOIL(source_lid, p->lrh.slid = 9)

static const struct fault faults[] = {
	{"an ETH that is missing", V4, VS_REASON_PKT_SHORT, header_missing, VS_SEAL_LEN | CRCS, true},
	{"no ICRC", V4, VS_REASON_PKT_SHORT, no_icrc, VS_SEAL_LEN | VS_SEAL_CSUM, true},
	{"pad without payload", V4, VS_REASON_PKT_SHORT, pad_of_nothing, VS_SEAL_LEN | CRCS, true},
	{"no multiple of 4", V4, VS_REASON_PKT_ALIGN, unaligned, VS_SEAL_LEN | CRCS, true},
	{"a first fragment", V4, VS_REASON_IP_FRAGMENT, fragment, CRCS, true},
	{"IP options", V4, VS_REASON_IP_IHL, ihl_6, VS_SEAL_LEN | CRCS, true},
	{"IP checksum", V4, VS_REASON_IP_CSUM, ip_csum, 0, true},
	{"IP checksum of 0", V4, VS_REASON_IP_CSUM_ZERO, ip_csum_zero, 0, true},
	{"IP version", V4, VS_REASON_IP_VERSION, ip_5, CRCS, true},
	{"IPv6 version", V6, VS_REASON_IP_VERSION, ipver_5, CRCS, true},
	{"IP length", V4, VS_REASON_IP_LEN, ip_longer, CRCS, true},
	{"UDP length", V4, VS_REASON_UDP_LEN, udp_longer, CRCS, true},
	{"UDP length, IPv6", V6, VS_REASON_UDP_LEN, udp_longer, CRCS, true},
	{"IPv6 length", V6, VS_REASON_IP_LEN, paylen_longer, CRCS, true},
	{"GRH version", V1, VS_REASON_GRH_IPVER, ipver_5, CRCS, true},
	{"GRH next header", V1, VS_REASON_GRH_NXTHDR, nxthdr, CRCS, true},
	{"GRH length", V1, VS_REASON_GRH_PAYLEN, paylen_longer, CRCS, true},
	{"GRH version, IB", IBG, VS_REASON_GRH_IPVER, ipver_5, CRCS, true},
	{"GRH next header, IB", IBG, VS_REASON_GRH_NXTHDR, nxthdr, CRCS, true},
	{"GRH length, IB", IBG, VS_REASON_GRH_PAYLEN, paylen_longer, CRCS, true},
	{"LRH version", IB, VS_REASON_LRH_LVER, lver, CRCS, true},
	{"LRH version with GRH", IBG, VS_REASON_LRH_LVER, lver, CRCS, true},
	{"data on VL 15", IB, VS_REASON_LRH_VL15, vl_15, CRCS, true},
	{"data on VL 15 with GRH", IBG, VS_REASON_LRH_VL15, vl_15, CRCS, true},
	{"LRH length", IB, VS_REASON_LRH_PKTLEN, pktlen_longer, CRCS, true},
	{"ICRC", V4, VS_REASON_ICRC_BAD, bad_icrc, 0, true},
	{"ICRC, IB", IB, VS_REASON_ICRC_BAD, bad_icrc, VS_SEAL_VCRC, true},
	{"VCRC", IB, VS_REASON_VCRC_BAD, bad_vcrc, 0, true},
	{"VCRC with GRH", IBG, VS_REASON_VCRC_BAD, bad_vcrc, 0, true},
	{"MAC", V4, VS_REASON_NOT_FOR_US, other_mac, CRCS, true},
	{"LID", IB, VS_REASON_NOT_FOR_US, other_lid, CRCS, true},
	{"LID with GRH", IBG, VS_REASON_NOT_FOR_US, other_lid, CRCS, true},
	{"IP address", V4, VS_REASON_NOT_FOR_US, other_ip, CRCS, true},
	{"IPv6 address", V6, VS_REASON_NOT_FOR_US, other_gid, CRCS, true},
	{"GID", V1, VS_REASON_NOT_FOR_US, other_gid, CRCS, true},
	{"GID, IB", IBG, VS_REASON_NOT_FOR_US, other_gid, CRCS, true},
	{"a group, but one QP", V6, VS_REASON_NOT_FOR_US, group_gid, CRCS, true},
	{"an IPv4 group, but one QP", V4, VS_REASON_NOT_FOR_US, group_ip, CRCS, true},
	{"BTH version", V4, VS_REASON_BTH_TVER, tver, CRCS, true},
	{"reserved opcode of UD", V4, VS_REASON_BTH_OPCODE_RESERVED, reserved_ud, CRCS, true},
	{"reserved opcode of UC", V4, VS_REASON_BTH_OPCODE_RESERVED, reserved_uc, CRCS, true},
	{"QP 0", V4, VS_REASON_BTH_QP0_ROCE, qp_0, CRCS, true},
	{"the group QP for RC", V4, VS_REASON_BTH_QP_MCAST, qp_group, CRCS, true},
	{"no such QP", V4, VS_REASON_QP_UNKNOWN, qp_unknown, CRCS, true},
	{"another transport", V4, VS_REASON_QP_TRANSPORT, uc_opcode, CRCS, false},
	{"another partition", V4, VS_REASON_PKEY_MISMATCH, pkey_other, CRCS, false},
	{"both limited members", V4, VS_REASON_PKEY_MISMATCH, pkey_limited, CRCS, false},
	{"the partition 0", V4, VS_REASON_PKEY_MISMATCH, pkey_none, CRCS, false},
	{"source IP", V4, VS_REASON_NOT_PEER, source_ip, CRCS, false},
	{"source GID", V6, VS_REASON_NOT_PEER, source_gid, CRCS, false},
	{"source LID", IB, VS_REASON_NOT_PEER, source_lid, CRCS, false},
	{"source LID with GRH", IBG, VS_REASON_NOT_PEER, source_lid, CRCS, false},
};

static enum vs_counter counter_of(enum vs_reason why)
{
	switch (why) {
	case VS_REASON_ICRC_BAD:
		return VS_CNT_RX_ICRC_ENCAPSULATED;
	case VS_REASON_VCRC_BAD:
		return VS_CNT_RX_VCRC_ERR;
	case VS_REASON_PKEY_MISMATCH:
		return VS_CNT_BAD_PKEY;
	case VS_REASON_NOT_FOR_US:
	case VS_REASON_QP_UNKNOWN:
	case VS_REASON_QP_STATE:
		return VS_CNT_COUNT; /* other traffic: not counted */
	default:
		return VS_CNT_RX_MALFORMED;
	}
}

/* The last packet was dropped because of `why`, and nothing else came of it. */
static void dropped(struct rig *r, enum vs_reason why, const struct vs_pkt *p, bool early, const uint64_t *before)
{
	const struct vs_event *ev = &r->log[r->log_len - 1];
	unsigned i;

	ck_assert_int_eq(ev->type, VS_EV_PKT_DROP);
	ck_assert_msg(ev->a[0] == why, "dropped for %s, expected %s", vs_reason_info((enum vs_reason)ev->a[0])->id,
		      vs_reason_info(why)->id);
	if (why != VS_REASON_GRH_NXTHDR || r->opt.rocev1) /* there is no BTH to be read behind it */
		ck_assert(ev->a[1] == p->bth.opcode && ev->a[2] == p->bth.psn && ev->a[3] == p->bth.destqp);
	ck_assert_uint_eq(ev->qpn, early ? 0 : vs_qp_num(r->qp));
	ck_assert_uint_eq(ev->pkt_id, 55);
	ck_assert_uint_eq(ev->cause, early ? 2 : ev->seq - 1); /* what was sent; the pkt:rx */
	ck_assert_uint_eq(rig_count_events(r, VS_EV_PKT_RX), !early);
	for (i = 0; i < VS_CNT_COUNT; i++)
		ck_assert_msg(r->dev->counter[i] == before[i] + (counter_of(why) == i), "%s counts %llu",
			      vs_counter_name((enum vs_counter)i), (unsigned long long)r->dev->counter[i]);
	nothing_happens(r);
	ck_assert_int_eq(vs_qp_state(r->qp), r->opt.state != 0 ? r->opt.state : VS_QPS_RTS);
}

static void in_as_built(struct rig *r, const struct vs_pkt *p)
{
	static const struct vs_pkt_meta meta = {.pkt_id = 55, .cause = 2};
	uint8_t buf[VS_FRAME_MAX];
	int n = vs_pkt_build(p, buf, sizeof(buf));

	ck_assert_int_gt(n, 0);
	vs_dev_input(r->dev, r->opt.ib || r->opt.ib_grh ? VS_LINK_IB : VS_LINK_ETHERNET, buf, (size_t)n, &meta, r->now);
}

static struct vs_pkt sealed_write(struct rig *r)
{
	struct vs_pkt p = rig_pkt(r, VS_OP_RC_WRITE_ONLY, P);
	uint8_t scratch[VS_FRAME_MAX];

	p.ext.reth.va = MEM(r, 0);
	p.ext.reth.rkey = KEY(r);
	p.ext.reth.dmalen = 8;
	p.payload = rig_pattern(P);
	p.payload_len = 8;
	ck_assert_int_eq(vs_pkt_seal(&p, VS_SEAL_ALL, scratch, sizeof(scratch)), VS_OK);
	return p;
}

/* Whoever says so has checked it: a NIC, or a socket that had to find the IPv4 ID first. */
START_TEST(an_icrc_that_was_checked_before_is_not_checked_again)
{
	const struct vs_pkt_meta checked = {.icrc_good = true};
	struct rig *r = rig_new(NULL);
	struct vs_pkt p = sealed_write(r);
	uint8_t buf[VS_FRAME_MAX];
	int n;

	p.icrc ^= 1;
	in_as_built(r, &p);
	rig_expect_silence(r);
	n = vs_pkt_build(&p, buf, sizeof(buf));
	vs_dev_input(r->dev, VS_LINK_ETHERNET, buf, (size_t)n, &checked, r->now);
	rig_expect(r, VS_OP_RC_ACKNOWLEDGE, P);
	rig_free(r);
}
END_TEST

START_TEST(a_packet_with_a_fault_is_dropped_for_it)
{
	const struct fault *f = &faults[_i];
	struct rig_opt o = over(f->net);
	uint64_t before[VS_CNT_COUNT];
	uint8_t scratch[VS_FRAME_MAX];
	struct vs_pkt p;
	struct rig *r;

	r = rig_new(&o);
	if (f->spoil == pkey_limited || f->spoil == pkey_none)
		r->dev->attr.pkeys[0] = f->spoil == pkey_none ? 0x8000 : 0x0123;
	p = sealed_write(r);
	f->spoil(&p);
	ck_assert_msg(vs_pkt_seal(&p, f->seal, scratch, sizeof(scratch)) == VS_OK, "%s", f->name);
	if (f->spoil == no_icrc) {
		p.flags &= ~(unsigned)VS_PKT_HAS_ICRC;
		p.payload_len = 0;
	}
	memcpy(before, r->dev->counter, sizeof(before));
	in_as_built(r, &p);
	dropped(r, f->why, &p, f->early, before);
	ck_assert_uint_eq(r->mem[0], 0xee);
	rig_free(r);
}
END_TEST

/* The same without a fault is executed: the faults above are the only ones in their packets. */
START_TEST(a_packet_without_a_fault_is_taken)
{
	struct rig_opt o = over((enum net)_i);
	struct rig *r = rig_new(&o);
	struct vs_pkt p = sealed_write(r);

	in_as_built(r, &p);
	ck_assert_mem_eq(r->mem, rig_pattern(P), 8);
	rig_expect_ack(r, P, 1);
	ck_assert_uint_eq(rig_counter(r, VS_CNT_RCVD_PKTS), 1);
	rig_free(r);
}
END_TEST

START_TEST(a_state_that_takes_nothing_drops)
{
	struct rig_opt o = {.state = _i == 0 ? VS_QPS_INIT : _i == 1 ? VS_QPS_ERR : VS_QPS_RTR};
	struct rig *r = rig_new(&o);
	struct vs_pkt p = sealed_write(r);
	uint64_t before[VS_CNT_COUNT];
	uint8_t scratch[VS_FRAME_MAX];

	if (_i == 2) { /* a response: there is no requester yet */
		p = rig_pkt(r, VS_OP_RC_ACKNOWLEDGE, P);
		ck_assert_int_eq(vs_pkt_seal(&p, VS_SEAL_ALL, scratch, sizeof(scratch)), VS_OK);
	}
	memcpy(before, r->dev->counter, sizeof(before));
	in_as_built(r, &p);
	dropped(r, VS_REASON_QP_STATE, &p, false, before);
	rig_free(r);
}
END_TEST

START_TEST(a_reset_qp_drops)
{
	struct rig_opt o = {.stay_in_reset = true};
	struct rig *r = rig_new(&o);
	struct vs_pkt p = sealed_write(r);

	in_as_built(r, &p);
	ck_assert_uint_eq(r->log[r->log_len - 1].a[0], VS_REASON_QP_STATE);
	nothing_happens(r);
	rig_free(r);
}
END_TEST

/* Something else that came by: counted, and that is all. */
START_TEST(what_is_no_rdma_packet_is_counted)
{
	static const uint8_t arp[60] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 2, 0x08, 0x06};
	struct rig *r = rig_new(NULL);
	uint32_t events = r->log_len;

	rig_in_bytes(r, arp, sizeof(arp));
	rig_in_bytes(r, arp, 0);
	ck_assert_uint_eq(rig_counter(r, VS_CNT_RX_MALFORMED), 2);
	ck_assert_uint_eq(r->log_len, events);
	nothing_happens(r);
	rig_free(r);
}
END_TEST

/* Without a network header the ICRC can't be checked; raw packets have none. */
START_TEST(what_has_no_transport_header_of_ib_is_dropped)
{
	struct rig_opt o = over(IB);
	struct rig *r = rig_new(&o);
	struct vs_pkt p = sealed_write(r);
	uint8_t buf[VS_FRAME_MAX], scratch[VS_FRAME_MAX];
	int n;

	if (_i == 0) {
		p.lrh.lnh = VS_LNH_RAW;
		ck_assert_int_eq(vs_pkt_seal(&p, VS_SEAL_VCRC, scratch, sizeof(scratch)), VS_OK);
		in_as_built(r, &p);
	} else {
		p.encap = VS_ENCAP_BARE;
		n = vs_pkt_build(&p, buf, sizeof(buf));
		ck_assert_int_gt(n, 0);
		vs_dev_input(r->dev, VS_LINK_BTH, buf, (size_t)n, NULL, r->now);
	}
	ck_assert_uint_eq(r->log[r->log_len - 1].a[0], VS_REASON_LRH_LNH);
	ck_assert_uint_eq(rig_counter(r, VS_CNT_RX_MALFORMED), 1);
	nothing_happens(r);
	rig_free(r);
}
END_TEST

/* The P_Keys match when the partition is the same and one of both is a full member. */
START_TEST(one_full_member_is_enough)
{
	ck_assert(vs_pkey_match(0x8123, 0x8123));
	ck_assert(vs_pkey_match(0x8123, 0x0123));
	ck_assert(vs_pkey_match(0x0123, 0x8123));
	ck_assert(!vs_pkey_match(0x0123, 0x0123));
	ck_assert(!vs_pkey_match(0x8123, 0x8124));
	ck_assert(!vs_pkey_match(0x8000, 0x8000)); /* partition 0 does not exist */
	ck_assert(vs_pkey_match(0xffff, 0x7fff));
}
END_TEST

/* ---- several addresses ---- */

/* The second GID of the device is as good an address, but not that of this connection. */
START_TEST(a_connection_takes_packets_on_its_own_gid_alone)
{
	struct rig_opt o = {0};
	struct rig *r;
	struct vs_pkt p;
	static const uint8_t one[16] = {[10] = 0xff, 0xff, 10, 0, 0, 1}, two[16] = {[10] = 0xff, 0xff, 10, 0, 0, 7};

	memcpy(o.dev.gids[0].gid, one, 16);
	o.dev.gids[0].type = VS_GID_ROCEV2;
	memcpy(o.dev.gids[15].gid, two, 16); /* the last one of the table */
	o.dev.gids[15].type = VS_GID_ROCEV2;
	r = rig_new(&o);
	p = sealed_write(r);
	p.ipv4.dst[3] = 7;
	rig_in(r, &p);
	ck_assert_uint_eq(r->log[r->log_len - 1].a[0], VS_REASON_NOT_FOR_US);
	ck_assert_uint_eq(rig_count_events(r, VS_EV_PKT_RX), 1); /* ours, but not this QP's */
	nothing_happens(r);
	rig_free(r);
}
END_TEST

START_TEST(a_gid_is_ours_for_its_protocol_alone)
{
	static const enum vs_gid_type type[] = {VS_GID_ROCEV2, VS_GID_ROCEV1, VS_GID_IB, VS_GID_NONE};
	struct rig_opt o = {.ipv6 = _i == 1, .rocev1 = _i == 0, .ib_grh = _i == 2};
	struct rig *r;
	struct vs_pkt p;

	r = rig_new(&o);
	p = sealed_write(r);
	r->dev->attr.gids[0].type = type[_i == 2 ? 0 : _i];
	rig_in(r, &p);
	ck_assert_uint_eq(r->log[r->log_len - 1].a[0], VS_REASON_NOT_FOR_US);
	ck_assert_uint_eq(rig_count_events(r, VS_EV_PKT_RX), 0);
	rig_free(r);
}
END_TEST

START_TEST(a_group_mac_or_group_lid_is_let_through)
{
	struct rig_opt o = over(_i == 0 ? V4 : IB);
	struct rig *r = rig_new(&o);
	struct vs_pkt p = sealed_write(r);

	if (_i == 0)
		p.eth.dst[0] = 0x33;
	else
		p.lrh.dlid = 0xc000; /* the first multicast LID */
	rig_in(r, &p);
	rig_expect_ack(r, P, 1);
	rig_free(r);
}
END_TEST

START_TEST(the_last_unicast_lid_of_another_is_not_ours)
{
	struct rig_opt o = over(IB);
	struct rig *r = rig_new(&o);
	struct vs_pkt p = sealed_write(r);

	p.lrh.dlid = 0xbfff;
	rig_in(r, &p);
	ck_assert_uint_eq(r->log[r->log_len - 1].a[0], VS_REASON_NOT_FOR_US);
	rig_free(r);
}
END_TEST

/* ---- what a receiver is told of the way ---- */

START_TEST(a_receive_completion_tells_lid_service_level_and_header)
{
	enum net net = (enum net)(_i % NETS);
	bool vlan = _i / NETS && net != IB && net != IBG;
	struct rig_opt o = over(net);
	struct rig *r = rig_new(&o);
	struct vs_pkt p = rig_pkt(r, VS_OP_RC_SEND_ONLY_IMM, P);
	struct vs_wc wc;

	rig_post_recv(r, 1, 0, 64);
	p.ext.immdt = 0xabcdef01;
	p.lrh.sl = 11;
	if (vlan) {
		p.eth.vlan_count = 1;
		p.eth.vlan[0].tpid = 0x8100;
		p.eth.vlan[0].tci = 0xc005; /* priority 6 */
	}
	rig_in(r, &p);
	wc = rig_expect_wc(r, r->rcq, 1, VS_WC_SUCCESS);
	ck_assert_uint_eq(wc.slid, net == IB || net == IBG ? 2 : 0);
	ck_assert_uint_eq(wc.sl, net == IB || net == IBG ? 11 : vlan ? 6 : 0);
	ck_assert_uint_eq(wc.wc_flags, VS_WC_WITH_IMM | (net == IB ? 0 : VS_WC_GRH));
	ck_assert_uint_eq(wc.imm_data, 0xabcdef01);
	ck_assert_uint_eq(wc.src_qp, RIG_PEER_QPN);
	ck_assert(wc.byte_len == 0 && wc.opcode == VS_WC_RECV && wc.pkey_index == 0 && wc.vendor_err == 0);
	ck_assert_uint_eq(wc.time_ns, r->now);
	rig_free(r);
}
END_TEST

START_TEST(ce_marks_of_ip_headers_alone_count)
{
	enum net net = (enum net)_i;
	struct rig_opt o = over(net);
	struct rig *r = rig_new(&o);
	struct vs_pkt p = sealed_write(r);
	unsigned ecn;

	for (ecn = 0; ecn < 4; ecn++) {
		p.bth.psn = vs_psn_add(P, (int32_t)ecn);
		p.ipv4.tos = p.grh.tclass = (uint8_t)(0x40 | ecn);
		rig_in(r, &p);
	}
	ck_assert_uint_eq(rig_counter(r, VS_CNT_NP_ECN_MARKED), net == V4 || net == V6);
	rig_free(r);
}
END_TEST

/* The trace of what came in has what was in the headers. */
START_TEST(pkt_rx_says_what_came)
{
	struct rig *r = rig_new(NULL);
	struct vs_pkt p = sealed_write(r);
	const struct vs_event *ev;

	in_as_built(r, &p);
	ev = &r->log[r->log_len - 1];
	while (ev->type != VS_EV_PKT_RX)
		ev--;
	ck_assert(ev->a[0] == VS_OP_RC_WRITE_ONLY && ev->a[1] == P && ev->a[2] == vs_qp_num(r->qp) && ev->a[3] == 8);
	ck_assert(ev->a[4] == VS_SYN_NONE && ev->a[5] == 0 && ev->a[6] == 1);
	ck_assert(ev->cause == 2 && ev->pkt_id == 55 && ev->qpn == vs_qp_num(r->qp));
	rig_in_ack(r, 0x123456, 0x1e, 0x777777);
	ev = &r->log[r->log_len - 1];
	while (ev->type != VS_EV_PKT_RX)
		ev--;
	ck_assert(ev->a[0] == VS_OP_RC_ACKNOWLEDGE && ev->a[1] == 0x123456 && ev->a[4] == 0x1e && ev->a[5] == 0x777777);
	ck_assert(ev->a[6] == 0 && ev->a[3] == 0);
	rig_free(r);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("core rx");
	TCase *tc = tcase_create("headers");

	tcase_add_test(tc, an_icrc_that_was_checked_before_is_not_checked_again);
	tcase_add_loop_test(tc, a_packet_with_a_fault_is_dropped_for_it, 0, COUNT(faults));
	tcase_add_loop_test(tc, a_packet_without_a_fault_is_taken, 0, NETS);
	tcase_add_loop_test(tc, a_state_that_takes_nothing_drops, 0, 3);
	tcase_add_test(tc, a_reset_qp_drops);
	tcase_add_test(tc, what_is_no_rdma_packet_is_counted);
	tcase_add_loop_test(tc, what_has_no_transport_header_of_ib_is_dropped, 0, 2);
	tcase_add_test(tc, one_full_member_is_enough);
	tcase_add_test(tc, a_connection_takes_packets_on_its_own_gid_alone);
	tcase_add_loop_test(tc, a_gid_is_ours_for_its_protocol_alone, 0, 4);
	tcase_add_loop_test(tc, a_group_mac_or_group_lid_is_let_through, 0, 2);
	tcase_add_test(tc, the_last_unicast_lid_of_another_is_not_ours);
	tcase_add_loop_test(tc, a_receive_completion_tells_lid_service_level_and_header, 0, 2 * NETS);
	tcase_add_loop_test(tc, ce_marks_of_ip_headers_alone_count, 0, NETS);
	tcase_add_test(tc, pkt_rx_says_what_came);
	suite_add_tcase(s, tc);
	return s;
}
