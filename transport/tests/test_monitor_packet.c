/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_monitor_packet.c - rules of one packet alone are those of vs_pkt_validate: random damage to legal packets, until
 * each of them was broken.
 */
#include "monrig.h"
#include "pktgen.h"

static bool of_one_packet(unsigned r)
{
	const enum vs_reason reason = vs_reason_by_id(vs_rule_info((enum vs_rule)r)->id);

	return reason != VS_REASON_NONE && reason <= VS_REASON_WIRE_LAST;
}

static uint8_t buf[VS_GEN_MAX];

/* The monitor says of this packet what vs_pkt_validate does; counts what is broken. */
static void judge(const struct vs_pkt *p, bool vcrc_bad, unsigned broken[VS_RULE_COUNT])
{
	struct vs_mon_packet in = {
		.frame = 1, .pkt = p, .icrc = VS_CRC_GOOD, .vcrc = vcrc_bad ? VS_CRC_BAD : VS_CRC_GOOD};
	enum vs_reason why[VS_REASON_WIRE_LAST];
	const size_t n = vs_pkt_validate(p, in.icrc, in.vcrc, why, VS_REASON_WIRE_LAST);

	rig_begin(NULL);
	rig.frame = 1;
	vs_monitor_packet(rig.m, &in, &rig.out);
	for (unsigned r = 1; r < VS_RULE_COUNT; r++) {
		bool want = false;

		for (size_t k = 0; k < n; k++)
			want |= strcmp(vs_reason_info(why[k])->id, vs_rule_info((enum vs_rule)r)->id) == 0;
		if (of_one_packet(r))
			ck_assert_msg(want == (rig.found[r] > 0), "%s: validate says %d, the monitor %u",
				      vs_rule_info((enum vs_rule)r)->id, want, rig.found[r]);
		broken[r] += want;
	}
	rig_end();
}

/* What damage to single bits does not come to. */
static void unlikely(struct vs_pkt *p, unsigned what)
{
	static const uint8_t long_payload[VS_GEN_PAYLOAD_MAX];

	switch (what) {
	case 0:
		p->ext.reth.va = ~UINT64_C(7);
		break;
	case 1:
		p->payload = long_payload;
		p->payload_len = VS_GEN_PAYLOAD_MAX;
		break;
	case 2:
		memcpy(p->ipv4.dst, (const uint8_t[4]){224, 0, 0, 1}, 4);
		p->grh.dgid[0] = 0xff;
		p->lrh.dlid = 0xc001;
		break;
	case 3:
		p->udp.dport++;
		break;
	case 7:
		p->ext.feth.sel = 3;
		p->bth.destqp = VS_QPN_GSI;
		break;
	default:
		p->bth.destqp = what == 4 ? VS_QPN_MULTICAST : what == 5 ? 0 : VS_QPN_GSI;
		break;
	}
}

static bool damaged(struct vs_gen *g, uint64_t *seed, unsigned long i)
{
	struct vs_pkt *p = &g->p;
	enum vs_link link;
	uint16_t ethertype;
	int len;

	if (i % 4 == 0)
		unlikely(p, (unsigned)(i / 4 % 8));
	if (vs_pkt_seal(p, VS_SEAL_ALL, buf, sizeof(buf)) != VS_OK)
		return false;
	len = vs_pkt_build(p, buf, sizeof(buf));
	ck_assert_int_gt(len, 0);
	if (i % 16 != 0) {
		const uint32_t at = vs_gen_below(seed, (uint32_t)(len < 90 ? len : 90)); /* drawn in this order */

		buf[at] ^= (uint8_t)(1u << vs_gen_below(seed, 8));
	}
	if (i % 32 == 1)
		len -= (int)vs_gen_below(seed, 30);
	link = vs_pkt_link(p, &ethertype);
	return vs_pkt_parse(p, link, ethertype, buf, (size_t)len, (size_t)len, VS_PARSE_ANY_PORT) == VS_OK;
}

START_TEST(rules_of_one_packet_are_found_where_they_are_broken_alone)
{
	static struct vs_gen g;
	unsigned broken[VS_RULE_COUNT] = {0};
	uint64_t seed = 0x5eed;

	for (unsigned long i = 0; i < 100000; i++) {
		const enum vs_encap encap = (enum vs_encap)(1 + vs_gen_below(&seed, 6));
		const uint8_t opcode = (uint8_t)vs_gen_below(&seed, 256);

		if (encap == VS_ENCAP_IB_RAW || vs_opcodes[opcode].name == NULL)
			continue;
		vs_gen_legal(&g, &seed, encap, opcode, false);
		if (!damaged(&g, &seed, i))
			continue;
		if (i % 64 == 61) /* a parser believes it: set behind its back */
			g.p.lrh.lnh ^= 1, g.p.ipv4.frag = 0x2000;
		judge(&g.p, i % 64 == 63 && vs_gen_native(encap), broken);
	}
	for (unsigned r = 1; r < VS_RULE_COUNT; r++)
		if (of_one_packet(r) && r != VS_RULE_ICRC_BAD)
			ck_assert_msg(broken[r] > 0, "%s was never broken", vs_rule_info((enum vs_rule)r)->id);
}
END_TEST

START_TEST(legal_packets_break_no_rule)
{
	static struct vs_gen g;
	uint64_t seed = 0x1e6a1;

	for (unsigned i = 0; i < 5000; i++) {
		const enum vs_encap encap = (enum vs_encap)(1 + vs_gen_below(&seed, 6));
		const uint8_t opcode = (uint8_t)vs_gen_below(&seed, 256);
		unsigned broken[VS_RULE_COUNT] = {0};

		if (encap == VS_ENCAP_IB_RAW || vs_opcodes[opcode].name == NULL || opcode == VS_OP_CNP ||
		    opcode == VS_OP_CNP_IB)
			continue;
		vs_gen_legal(&g, &seed, encap, opcode, false);
		ck_assert_int_eq(vs_pkt_seal(&g.p, VS_SEAL_ALL, buf, sizeof(buf)), VS_OK);
		judge(&g.p, false, broken);
		for (unsigned r = 1; r < VS_RULE_COUNT; r++)
			ck_assert_uint_eq(broken[r], 0);
	}
}
END_TEST

START_TEST(a_bad_crc_counts_as_that_and_as_nothing_else)
{
	rig_begin(NULL);
	rig.status = VS_CRC_BAD;
	request(VS_OP_RC_SEND_LAST, 0, 8);
	ck_assert_uint_eq(rig.found[VS_RULE_ICRC_BAD], 1);
	ck_assert_uint_eq(rig.out.rules, 1);
	ck_assert_int_eq(rig.out.class_, VS_MON_OTHER);
	ck_assert_uint_eq(vs_monitor_totals(rig.m)->flows, 0);
	ck_assert_uint_eq(vs_monitor_totals(rig.m)->icrc_bad, 1);
	rig_end();
}
END_TEST

/* The bytes of a DNS answer where a BTH would be. */
START_TEST(what_may_be_something_else_is_not_judged)
{
	for (unsigned i = 0; i < 3; i++) {
		struct vs_mon_packet in = {
			.frame = 1, .pkt = &rig.p, .icrc = VS_CRC_UNVERIFIED, .vcrc = VS_CRC_UNVERIFIED};

		rig_begin(NULL);
		make_request(VS_OP_RC_SEND_ONLY, 0, 8);
		rig.p.bth.opcode = i == 2 ? VS_OP_RC_SEND_ONLY : 0x1f;
		rig.p.bth.tver = 5;
		rig.p.flags |= i == 1 ? 0 : VS_PKT_SNAPPED;
		rig.frame = 1;
		vs_monitor_packet(rig.m, &in, &rig.out);
		ck_assert_uint_eq(rig.found[VS_RULE_BTH_TVER], i != 0);
		ck_assert_uint_eq(rig.found[VS_RULE_BTH_OPCODE_RESERVED], i == 1);
		ck_assert_uint_eq(vs_monitor_totals(rig.m)->flows, i != 0);
		rig_end();
	}
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("monitor_packet");
	TCase *tc = tcase_create("packet");

	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, rules_of_one_packet_are_found_where_they_are_broken_alone);
	tcase_add_test(tc, legal_packets_break_no_rule);
	tcase_add_test(tc, a_bad_crc_counts_as_that_and_as_nothing_else);
	tcase_add_test(tc, what_may_be_something_else_is_not_judged);
	suite_add_tcase(s, tc);
	return s;
}
