/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_core_cc.c - congestion, number by number: the reaction point against DCQCN written down once more, the pace
 * of packets to the nanosecond, and what CNPs and the trace say.
 */
#include <string.h>

#include "core/core.h"
#include "qps.h"

#define LINK 10000000000ull /* bit/s */
#define RATE_NS 55000u
#define ALPHA_NS 40000u
#define AI 5000000u
#define HAI 50000000u

static const struct vs_cc_attr cc = {.enabled = true,
				     .ecn = 2,
				     .cnp_tclass = 0xc0,
				     .min_cnp_gap_ns = 4000,
				     .link_rate_bps = LINK,
				     .rate_timer_ns = RATE_NS,
				     .alpha_timer_ns = ALPHA_NS,
				     .rate_ai_bps = AI,
				     .rate_hai_bps = HAI,
				     .min_rate_bps = 1000};

static struct rig *rig_cc(const struct vs_cc_attr *attr)
{
	struct rig_opt o = {0};

	o.dev.cc = *attr;
	return rig_new(&o);
}

static void in_cnp(struct rig *r)
{
	static const uint8_t zero[16];
	struct vs_pkt p = rig_pkt(r, VS_OP_CNP, 0);

	p.payload = zero;
	p.payload_len = 16;
	p.bth.migreq = false;
	rig_in(r, &p);
}

static void in_marked(struct rig *r, uint32_t psn, uint16_t pkey)
{
	struct vs_pkt p = rig_pkt(r, VS_OP_RC_WRITE_ONLY, psn);

	p.ipv4.tos = 3;
	p.bth.pkey = pkey;
	p.bth.ackreq = false;
	rig_in(r, &p);
}

/* ---- DCQCN, from the paper: alpha in units of 2^-10, g = 1/16 ---- */

struct dcqcn {
	uint64_t rate, target; /* rate 0: not limited */
	uint32_t alpha, rounds;
	uint64_t rate_at, alpha_at;
};

static void unlimited(struct dcqcn *m)
{
	m->rate = m->target = 0;
	m->rate_at = m->alpha_at = VS_NEVER;
}

static void model_cnp(struct dcqcn *m, uint64_t now, const struct vs_cc_attr *a)
{
	if (m->rate == 0)
		m->rate = a->link_rate_bps;
	m->target = m->rate;
	m->rate = m->rate - m->rate * m->alpha / 2048;
	if (m->rate < a->min_rate_bps)
		m->rate = a->min_rate_bps;
	if (m->rate == 0)
		m->rate = 1;
	m->alpha = m->alpha + (1024 - m->alpha) / 16;
	m->rounds = 0;
	m->rate_at = now + a->rate_timer_ns;
	m->alpha_at = now + a->alpha_timer_ns;
	if (m->rate == a->link_rate_bps) /* alpha was 0 */
		unlimited(m);
}

static void model_alpha(struct dcqcn *m, const struct vs_cc_attr *a)
{
	uint32_t step = m->alpha / 16;

	m->alpha -= step != 0 ? step : 1;
	m->alpha_at = m->alpha == 0 ? VS_NEVER : m->alpha_at + a->alpha_timer_ns;
}

static void model_rate(struct dcqcn *m, const struct vs_cc_attr *a)
{
	m->rounds++;
	m->target += m->rounds > 10 ? a->rate_hai_bps : m->rounds > 5 ? a->rate_ai_bps : 0;
	if (m->target > a->link_rate_bps)
		m->target = a->link_rate_bps;
	m->rate = (m->rate + m->target + 1) / 2;
	m->rate_at += a->rate_timer_ns;
	if (m->rate >= a->link_rate_bps)
		unlimited(m);
}

static void compare(const struct rig *r, const struct dcqcn *m)
{
	ck_assert_uint_eq(r->qp->req.rate_bps, m->rate);
	ck_assert_uint_eq(r->qp->cc.target_bps, m->target);
	ck_assert_uint_eq(r->qp->cc.alpha, m->alpha);
	ck_assert_uint_eq(vs_dev_deadline(r->dev), m->rate_at < m->alpha_at ? m->rate_at : m->alpha_at);
}

START_TEST(the_rate_is_that_of_dcqcn)
{
	struct vs_cc_attr a = cc;
	struct dcqcn m = {.alpha = 1024, .rate_at = VS_NEVER, .alpha_at = VS_NEVER};
	unsigned i, cnps = 1 + (unsigned)_i % 3 * 4;
	struct rig *r;

	if (_i >= 3) { /* alpha reaches 0 long before the rate is back */
		a.alpha_timer_ns = 100;
		a.rate_ai_bps = 1000000;
	}
	r = rig_cc(&a);
	compare(r, &m);
	for (i = 0; i < cnps; i++) {
		in_cnp(r);
		model_cnp(&m, r->now, &a);
		compare(r, &m);
		r->now += 10;
	}
	for (i = 0; i < 20000 && m.rate != 0; i++) {
		ck_assert(rig_next_timer(r, VS_NEVER - r->now - 1));
		if (m.alpha_at == r->now)
			model_alpha(&m, &a);
		if (m.rate_at == r->now)
			model_rate(&m, &a);
		compare(r, &m);
	}
	ck_assert_uint_eq(m.rate, 0); /* recovered */
	ck_assert_uint_eq(vs_dev_deadline(r->dev), VS_NEVER);
	in_cnp(r); /* and from the full rate again, with the alpha that is left */
	model_cnp(&m, r->now, &a);
	compare(r, &m);
	rig_free(r);
}
END_TEST

START_TEST(the_rate_stays_above_its_minimum)
{
	struct vs_cc_attr a = cc;
	struct dcqcn m = {.alpha = 1024};
	struct rig *r;
	unsigned i;

	a.min_rate_bps = _i == 0 ? 1000 : 0;
	r = rig_cc(&a);
	for (i = 0; i < 100; i++) {
		in_cnp(r);
		model_cnp(&m, r->now, &a);
		compare(r, &m);
	}
	ck_assert_uint_eq(r->qp->req.rate_bps, _i == 0 ? 1000 : 1);
	rig_free(r);
}
END_TEST

START_TEST(a_cnp_that_means_nothing_is_ignored_and_counted)
{
	struct vs_cc_attr a = cc;
	struct rig_opt o = {0};
	struct rig *r;

	switch (_i) {
	case 0:
		a.enabled = false;
		break;
	case 1:
		a.link_rate_bps = 0; /* no rate to start from */
		break;
	case 2:
		o.type = VS_QPT_UC;
		break;
	case 3:
		o.type = VS_QPT_UD;
		break;
	case 4:
		o.state = VS_QPS_ERR;
		break;
	case 5: /* nothing is sent in these states */
		o.state = VS_QPS_RTR;
		break;
	case 6:
		o.state = VS_QPS_INIT;
		break;
	default:
		o.stay_in_reset = true;
		break;
	}
	o.dev.cc = a;
	r = rig_new(&o);
	in_cnp(r);
	ck_assert_uint_eq(rig_counter(r, VS_CNT_RP_CNP_IGNORED), _i < 6); /* before RTR it comes from no peer at all */
	ck_assert_uint_eq(rig_counter(r, VS_CNT_RP_CNP_HANDLED), 0);
	ck_assert_uint_eq(r->qp->req.rate_bps, 0);
	ck_assert_uint_eq(vs_dev_deadline(r->dev), VS_NEVER);
	rig_free(r);
}
END_TEST

START_TEST(a_draining_queue_slows_down_too)
{
	struct rig_opt o = {.state = VS_QPS_SQD};
	struct rig *r;

	o.dev.cc = cc;
	r = rig_new(&o);
	in_cnp(r);
	ck_assert_uint_eq(r->qp->req.rate_bps, LINK / 2);
	rig_free(r);
}
END_TEST

/* ---- the pace ---- */

START_TEST(packets_leave_at_the_rate)
{
	struct rig *r = rig_cc(&cc);
	uint64_t rate, at, start, len;
	unsigned i;

	in_cnp(r);
	rate = r->qp->req.rate_bps;
	rig_post(r, VS_WR_RDMA_WRITE, 1, 0, 5 * 1024);
	rig_expect(r, VS_OP_RC_WRITE_FIRST, RIG_DUT_PSN);
	start = at = r->now;
	for (i = 1; i < 5; i++) {
		at += r->frame_len * 8 * 1000000000ull / rate; /* of the frame before */
		ck_assert(!vs_dev_has_output(r->dev));
		rig_expect_silence(r);
		rig_advance(r, at - r->now - 1);
		rig_expect_silence(r);
		rig_advance(r, 1);
		ck_assert(vs_dev_has_output(r->dev));
		rig_expect(r, i == 4 ? VS_OP_RC_WRITE_LAST : VS_OP_RC_WRITE_MIDDLE, RIG_DUT_PSN + i);
	}
	ck_assert_uint_gt(at, start + 6000); /* 5 GBit/s */
	rig_in_ack(r, RIG_DUT_PSN + 4, 0x1f, 1);
	/* A pause is not saved up: the next two are apart again. */
	r->now += 20000;
	rig_post(r, VS_WR_RDMA_WRITE, 2, 0, 2048);
	rig_expect(r, VS_OP_RC_WRITE_FIRST, RIG_DUT_PSN + 5);
	len = r->frame_len;
	rig_expect_silence(r);
	ck_assert_uint_eq(r->qp->req.next_tx_ns, r->now + len * 8 * 1000000000ull / rate);
	rig_free(r);
}
END_TEST

START_TEST(when_the_rate_is_back_what_waits_goes_at_once)
{
	struct vs_cc_attr a = cc;
	struct rig *r;

	a.min_rate_bps = 1000000; /* a packet in 9 ms */
	a.rate_timer_ns = 1000;
	a.rate_hai_bps = 4000000000u;
	r = rig_cc(&a);
	r->qp->req.rate_bps = 1000000; /* preset: as many CNPs make it */
	in_cnp(r);
	rig_post(r, VS_WR_RDMA_WRITE, 1, 0, 2048);
	rig_expect(r, VS_OP_RC_WRITE_FIRST, RIG_DUT_PSN);
	rig_expect_silence(r);
	while (r->qp->req.rate_bps != 0)
		ck_assert(rig_next_timer(r, 1000000));
	ck_assert(vs_dev_has_output(r->dev));
	rig_expect(r, VS_OP_RC_WRITE_LAST, RIG_DUT_PSN + 1);
	rig_free(r);
}
END_TEST

/* ---- starting anew ---- */

START_TEST(a_reset_forgets_marks_and_rates)
{
	struct rig *r = rig_cc(&cc);
	struct vs_qp_attr a = attr_to(r, VS_QPS_RESET);

	in_cnp(r);
	rig_post(r, VS_WR_RDMA_WRITE, 1, 0, 4096);
	rig_expect(r, VS_OP_RC_WRITE_FIRST, RIG_DUT_PSN);
	in_marked(r, RIG_PEER_PSN, 0xffff);
	if (_i == 1)
		rig_expect(r, VS_OP_CNP, 0);
	ck_assert_int_eq(vs_qp_modify(r->qp, &a, VS_QP_STATE), VS_OK);
	ck_assert_uint_eq(vs_dev_deadline(r->dev), VS_NEVER);
	ck_assert(r->qp->req.rate_bps == 0 && r->qp->cc.target_bps == 0 && r->qp->cc.alpha == 1024);
	ck_assert(r->qp->cc.rounds == 0 && r->qp->req.next_tx_ns == 0);
	rig_to(r, r->qp, VS_QPS_RTS);
	rig_expect_silence(r); /* no CNP of the life before */
	in_marked(r, RIG_PEER_PSN, 0xffff);
	rig_expect(r, VS_OP_CNP, 0); /* the gap between CNPs starts anew */
	rig_post(r, VS_WR_RDMA_WRITE, 1, 0, 2048);
	rig_expect(r, VS_OP_RC_WRITE_FIRST, RIG_DUT_PSN); /* at full rate */
	rig_expect(r, VS_OP_RC_WRITE_LAST, RIG_DUT_PSN + 1);
	rig_free(r);
}
END_TEST

/* ---- CNPs and the trace ---- */

START_TEST(a_cnp_says_what_the_annex_asks_for)
{
	struct rig_opt o = {0};
	struct rig *r;
	struct vs_pkt p;

	o.dev.cc = cc;
	o.dev.pkeys[0] = 0x8123;
	r = rig_new(&o);
	in_marked(r, RIG_PEER_PSN, 0x0123); /* a limited member of the same partition */
	p = rig_expect(r, VS_OP_CNP, 0);
	ck_assert_uint_eq(p.bth.pkey, 0x0123);
	ck_assert(p.bth.becn && !p.bth.fecn && !p.bth.migreq && !p.bth.se && !p.bth.ackreq);
	ck_assert_uint_eq(p.bth.destqp, RIG_PEER_QPN);
	ck_assert_uint_eq(p.payload_len, 16);
	ck_assert_mem_eq(p.payload, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
	ck_assert_uint_eq(p.ipv4.tos, 0xc0);
	rig_expect_silence(r);
	rig_free(r);
}
END_TEST

START_TEST(the_gap_between_cnps_is_kept_to_the_nanosecond)
{
	struct rig *r = rig_cc(&cc);

	in_marked(r, RIG_PEER_PSN, 0xffff);
	rig_expect(r, VS_OP_CNP, 0);
	r->now += 3999;
	in_marked(r, RIG_PEER_PSN + 1, 0xffff);
	rig_expect_silence(r);
	r->now += 1;
	in_marked(r, RIG_PEER_PSN + 2, 0xffff);
	rig_expect(r, VS_OP_CNP, 0);
	r->now += 3999; /* from the last one on */
	in_marked(r, RIG_PEER_PSN + 3, 0xffff);
	rig_expect_silence(r);
	ck_assert_uint_eq(rig_counter(r, VS_CNT_NP_ECN_MARKED), 4);
	ck_assert_uint_eq(rig_counter(r, VS_CNT_NP_CNP_SENT), 2);
	rig_free(r);
}
END_TEST

START_TEST(the_trace_leads_from_the_mark_to_the_cnp_and_from_the_cnp_to_the_rate)
{
	struct rig *r = rig_cc(&cc);
	const struct vs_event *ev;
	uint32_t at = r->log_len;
	uint64_t cnp;

	in_marked(r, RIG_PEER_PSN, 0xffff);
	ev = &r->log[at]; /* pkt:rx */
	ck_assert(ev[1].type == VS_EV_CC_MARK && ev[1].cause == ev->seq && ev[1].a[0] == RIG_PEER_PSN);
	rig_expect(r, VS_OP_CNP, 0);
	ev = &r->log[r->log_len - 2];
	ck_assert(ev->type == VS_EV_CC_CNP_TX && ev->a[0] == RIG_PEER_QPN && ev->cause == at + 1);
	ck_assert(ev[1].type == VS_EV_PKT_TX && ev[1].cause == ev->seq);

	at = r->log_len;
	in_cnp(r);
	ev = &r->log[at];
	ck_assert(ev[1].type == VS_EV_CC_CNP_RX && ev[1].cause == ev->seq && ev[1].a[0] == LINK / 2);
	ck_assert(ev[2].type == VS_EV_CC_RATE && ev[2].cause == ev[1].seq && ev[2].a[0] == LINK / 2);
	cnp = ev[1].seq;
	rig_advance(r, RATE_NS);
	ev = &r->log[r->log_len - 1];
	ck_assert(ev->type == VS_EV_CC_RATE && ev->cause == cnp && ev->a[0] == (LINK / 2 + LINK + 1) / 2);
	rig_free(r);
}
END_TEST

/* ---- rates that are decided outside ---- */

struct outside {
	bool wants_cnp;
	uint64_t answer, again; /* of rate */
	unsigned marks, cnps, timers;
	uint32_t qpn;
	uint64_t at;
};

static bool outside_marked(void *ctx, uint32_t qpn, uint64_t now_ns)
{
	struct outside *o = ctx;

	o->marks++;
	o->qpn = qpn;
	o->at = now_ns;
	return o->wants_cnp;
}

static uint64_t outside_rate(void *ctx, uint32_t qpn, enum vs_cc_asked why, uint64_t now_ns, uint64_t *again_ns)
{
	struct outside *o = ctx;

	ck_assert_uint_eq(*again_ns, VS_NEVER);
	o->cnps += why == VS_CC_CNP;
	o->timers += why == VS_CC_TIMER;
	o->qpn = qpn;
	o->at = now_ns;
	*again_ns = o->again;
	return o->answer;
}

START_TEST(an_algorithm_from_outside_decides_on_rates_and_when_it_is_asked_again)
{
	struct outside o = {.answer = LINK / 8};
	const struct vs_cc_algo algo = {.marked = outside_marked, .rate = outside_rate, .ctx = &o};
	struct vs_cc_attr a = cc;
	struct rig *r;

	a.algo = &algo;
	r = rig_cc(&a);
	o.again = r->now + 7000;
	in_cnp(r);
	ck_assert_uint_eq(o.cnps, 1);
	ck_assert_uint_eq(o.qpn, vs_qp_num(r->qp));
	ck_assert_uint_eq(r->qp->req.rate_bps, LINK / 8);
	ck_assert_uint_eq(vs_dev_deadline(r->dev), o.again); /* no timer of DCQCN beside it */
	o.answer = LINK; /* not limited any more, and it wants to be asked again all the same */
	rig_advance(r, 7000);
	o.again = r->now; /* never at the same instant again */
	ck_assert_uint_eq(o.timers, 1);
	ck_assert_uint_eq(r->qp->req.rate_bps, 0);
	o.answer = 1; /* below the least one */
	in_cnp(r);
	ck_assert_uint_eq(r->qp->req.rate_bps, a.min_rate_bps);
	ck_assert_uint_eq(vs_dev_deadline(r->dev), r->now + 1);
	o.again = VS_NEVER;
	o.answer = 0;
	rig_advance(r, 1);
	ck_assert_uint_eq(o.timers, 2);
	ck_assert_uint_eq(r->qp->req.rate_bps, 0);
	ck_assert_uint_eq(vs_dev_deadline(r->dev), VS_NEVER);
	ck_assert_uint_eq(rig_counter(r, VS_CNT_RP_CNP_HANDLED), 2);
	rig_free(r);
}
END_TEST

START_TEST(an_algorithm_from_outside_decides_on_cnps)
{
	struct outside o = {.wants_cnp = true};
	const struct vs_cc_algo algo = {.marked = outside_marked, .rate = outside_rate, .ctx = &o};
	struct vs_cc_attr a = cc;
	struct rig *r;

	a.algo = &algo;
	r = rig_cc(&a);
	for (uint32_t i = 0; i < 3; i++) { /* the gap is no business of the device then */
		in_marked(r, RIG_PEER_PSN + i, 0xffff);
		rig_expect(r, VS_OP_CNP, 0);
	}
	o.wants_cnp = false;
	in_marked(r, RIG_PEER_PSN + 3, 0xffff);
	rig_expect_silence(r);
	ck_assert_uint_eq(o.marks, 4);
	ck_assert_uint_eq(o.at, r->now);
	ck_assert_uint_eq(o.qpn, vs_qp_num(r->qp));
	ck_assert_uint_eq(rig_counter(r, VS_CNT_NP_CNP_SENT), 3);
	rig_free(r);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("core cc");
	TCase *tc = tcase_create("congestion");

	tcase_add_loop_test(tc, the_rate_is_that_of_dcqcn, 0, 6);
	tcase_add_loop_test(tc, the_rate_stays_above_its_minimum, 0, 2);
	tcase_add_loop_test(tc, a_cnp_that_means_nothing_is_ignored_and_counted, 0, 8);
	tcase_add_test(tc, a_draining_queue_slows_down_too);
	tcase_add_test(tc, packets_leave_at_the_rate);
	tcase_add_test(tc, when_the_rate_is_back_what_waits_goes_at_once);
	tcase_add_loop_test(tc, a_reset_forgets_marks_and_rates, 0, 2);
	tcase_add_test(tc, a_cnp_says_what_the_annex_asks_for);
	tcase_add_test(tc, the_gap_between_cnps_is_kept_to_the_nanosecond);
	tcase_add_test(tc, the_trace_leads_from_the_mark_to_the_cnp_and_from_the_cnp_to_the_rate);
	tcase_add_test(tc, an_algorithm_from_outside_decides_on_rates_and_when_it_is_asked_again);
	tcase_add_test(tc, an_algorithm_from_outside_decides_on_cnps);
	suite_add_tcase(s, tc);
	return s;
}
