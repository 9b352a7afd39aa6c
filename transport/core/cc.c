/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * cc.c - congestion: a packet marked CE makes a CNP (notification point), a CNP lowers the rate of the
 * QP it names (reaction point, DCQCN), and the rate recovers.
 *
 * Annex A17: a CNP answers valid marked packets (CA17-44), never a CNP; opcode 0x81, destination = the
 * peer's QP, PSN 0, SE 0, M 0, the P_Key of the marked packet, 16 zero bytes. At most one per QP in
 * min_cnp_gap_ns.
 *
 * DCQCN (Zhu et al., SIGCOMM 2015): on CNP  target = rate, rate -= rate * alpha / 2, alpha += g (1 - alpha);
 * every alpha period without one alpha -= g alpha; every rate period: five rounds of fast recovery
 * rate = (rate + target) / 2, then the target grows by AI, and by HAI after five more rounds.
 * alpha is kept in units of 2^-10, g = 1/16.
 *
 * Whoever runs the device can bring an algorithm of its own (vs_cc_algo): it is asked when a marked packet comes
 * and when a CNP comes, and says when it wants to be asked again, for which the rate timer is used.
 */
#include "core.h"

#define ALPHA_ONE 1024u
#define FAST_ROUNDS 5u
#define CNP_PAYLOAD 16u

struct vs_cc_attr vs_cc_usual(uint64_t link_rate_bps)
{
	return (struct vs_cc_attr){.enabled = true,
				   .ecn = 2,
				   .cnp_tclass = 48 << 2,
				   .min_cnp_gap_ns = 50000,
				   .link_rate_bps = link_rate_bps,
				   .rate_timer_ns = 300000,
				   .alpha_timer_ns = 55000,
				   .rate_ai_bps = 40000000,
				   .rate_hai_bps = 400000000,
				   .min_rate_bps = 100000000};
}

static uint64_t link_rate(const struct vs_qp *qp)
{
	return qp->dev->attr.cc.link_rate_bps;
}

void vs_cc_reset(struct vs_qp *qp)
{
	qp->cc.alpha = ALPHA_ONE;
	qp->cc.rounds = 0;
	qp->cc.cnp_due = false;
	qp->cc.has_last_cnp = false;
	qp->cc.target_bps = 0;
	qp->req.rate_bps = 0;
	qp->req.next_tx_ns = 0;
}

/* ---- notification point ---- */

/* A marked packet: is it time for a CNP? */
static bool cnp_wanted(const struct vs_qp *qp)
{
	const struct vs_cc_attr *cc = &qp->dev->attr.cc;
	uint64_t now = qp->dev->now_ns;

	if (cc->algo != NULL)
		return cc->algo->marked(cc->algo->ctx, qp->qpn, now);
	return !qp->cc.has_last_cnp || now - qp->cc.last_cnp_ns >= cc->min_cnp_gap_ns;
}

void vs_cc_ce_seen(struct vs_rx *rx)
{
	struct vs_qp *qp = rx->qp;
	const uint64_t a[] = {rx->p.bth.psn};

	if (qp == NULL)
		return;
	qp->dev->counter[VS_CNT_NP_ECN_MARKED]++;
	vs_ev(qp->dev, VS_EV_CC_MARK, qp, rx->ev, 1, a);
	if (!qp->dev->attr.cc.enabled || qp->type != VS_QPT_RC)
		return;
	if (!cnp_wanted(qp))
		return;
	qp->cc.has_last_cnp = true;
	qp->cc.last_cnp_ns = qp->dev->now_ns;
	qp->cc.cnp_due = true;
	qp->cc.cnp_pkey = rx->p.bth.pkey;
	qp->cc.cnp_cause = rx->ev;
	vs_qp_kick(qp);
}

void vs_cc_make_cnp(struct vs_qp *qp, struct vs_tx *tx)
{
	const uint64_t a[] = {qp->attr.dest_qpn};

	qp->cc.cnp_due = false;
	vs_tx_init(qp, tx, VS_OP_CNP, NULL);
	tx->p.bth.migreq = false;
	tx->p.bth.becn = true; /* as ConnectX sends it */
	tx->p.bth.psn = 0;
	if (qp->cc.cnp_pkey != 0)
		tx->p.bth.pkey = qp->cc.cnp_pkey;
	memset(tx->payload, 0, CNP_PAYLOAD);
	tx->p.payload_len = CNP_PAYLOAD;
	qp->dev->counter[VS_CNT_NP_CNP_SENT]++;
	tx->cause = vs_ev(qp->dev, VS_EV_CC_CNP_TX, qp, qp->cc.cnp_cause, 1, a);
}

/* ---- reaction point ---- */

static void set_rate(struct vs_qp *qp, uint64_t rate)
{
	uint64_t full = link_rate(qp), least = qp->dev->attr.cc.min_rate_bps;
	uint64_t a[1];

	if (rate < least)
		rate = least;
	if (rate >= full) { /* recovered: no timers, no pace */
		if (qp->dev->attr.cc.algo == NULL)
			vs_timer_stop(qp->dev, &qp->cc.rate_timer);
		vs_timer_stop(qp->dev, &qp->cc.alpha_timer);
		rate = 0;
		qp->cc.target_bps = 0;
	}
	qp->req.rate_bps = rate;
	a[0] = rate;
	vs_ev(qp->dev, VS_EV_CC_RATE, qp, qp->dev->cause, 1, a);
}

/* What the algorithm from outside says; and when it wants to be asked again. */
static uint64_t asked(struct vs_qp *qp, enum vs_cc_asked why)
{
	const struct vs_cc_algo *algo = qp->dev->attr.cc.algo;
	uint64_t now = qp->dev->now_ns, again = VS_NEVER;
	uint64_t rate = algo->rate(algo->ctx, qp->qpn, why, now, &again);

	if (again == VS_NEVER)
		vs_timer_stop(qp->dev, &qp->cc.rate_timer);
	else
		vs_timer_set(qp->dev, &qp->cc.rate_timer, again > now ? again : now + 1);
	return rate != 0 && rate < link_rate(qp) ? rate : link_rate(qp);
}

/* DCQCN: what the rate becomes. */
static uint64_t slower(struct vs_qp *qp, uint64_t rate)
{
	struct vs_dev *dev = qp->dev;

	qp->cc.target_bps = rate;
	qp->cc.rounds = 0;
	rate -= rate / (2 * ALPHA_ONE) * qp->cc.alpha + rate % (2 * ALPHA_ONE) * qp->cc.alpha / (2 * ALPHA_ONE);
	qp->cc.alpha += (ALPHA_ONE - qp->cc.alpha) / 16;
	vs_timer_set(dev, &qp->cc.rate_timer, dev->now_ns + dev->attr.cc.rate_timer_ns);
	vs_timer_set(dev, &qp->cc.alpha_timer, dev->now_ns + dev->attr.cc.alpha_timer_ns);
	return rate;
}

void vs_cc_cnp(struct vs_rx *rx)
{
	struct vs_qp *qp = rx->qp;
	struct vs_dev *dev = qp->dev;
	uint64_t rate = qp->req.rate_bps != 0 ? qp->req.rate_bps : link_rate(qp);
	bool sends = qp->attr.state == VS_QPS_RTS || qp->attr.state == VS_QPS_SQD;
	uint64_t a[1];

	if (!dev->attr.cc.enabled || rate == 0 || qp->type != VS_QPT_RC || !sends) {
		dev->counter[VS_CNT_RP_CNP_IGNORED]++;
		return;
	}
	dev->counter[VS_CNT_RP_CNP_HANDLED]++;
	a[0] = dev->attr.cc.algo != NULL ? asked(qp, VS_CC_CNP) : slower(qp, rate);
	dev->cause = qp->cc.rate_cause = vs_ev(dev, VS_EV_CC_CNP_RX, qp, rx->ev, 1, a);
	set_rate(qp, a[0]); /* with alpha 0 it is the full one: no timer then */
}

void vs_cc_timer(struct vs_qp *qp, enum vs_timer_kind kind)
{
	const struct vs_cc_attr *cc = &qp->dev->attr.cc;
	uint64_t now = qp->dev->now_ns;

	if (kind == VS_TIMER_ALPHA) {
		qp->cc.alpha -= qp->cc.alpha / 16 > 0 ? qp->cc.alpha / 16 : qp->cc.alpha > 0;
		if (qp->cc.alpha > 0)
			vs_timer_set(qp->dev, &qp->cc.alpha_timer, now + cc->alpha_timer_ns);
		return;
	}
	qp->dev->cause = qp->cc.rate_cause;
	if (cc->algo != NULL) {
		set_rate(qp, asked(qp, VS_CC_TIMER));
		vs_qp_kick(qp);
		return;
	}
	qp->cc.rounds++;
	if (qp->cc.rounds > 2 * FAST_ROUNDS)
		qp->cc.target_bps += cc->rate_hai_bps;
	else if (qp->cc.rounds > FAST_ROUNDS)
		qp->cc.target_bps += cc->rate_ai_bps;
	qp->cc.target_bps = qp->cc.target_bps < link_rate(qp) ? qp->cc.target_bps : link_rate(qp);
	vs_timer_set(qp->dev, &qp->cc.rate_timer, now + cc->rate_timer_ns);
	/* Rounded up, so that halving the distance reaches the target. */
	set_rate(qp, (qp->req.rate_bps + qp->cc.target_bps + 1) / 2);
	vs_qp_kick(qp);
}

/* A packet of `bytes` went out: when the next one may, at the QP's rate. */
void vs_cc_sent(struct vs_qp *qp, size_t bytes)
{
	uint64_t now = qp->dev->now_ns, gap;

	if (qp->req.rate_bps == 0)
		return;
	gap = (uint64_t)bytes * 8 * 1000000000ull / qp->req.rate_bps;
	qp->req.next_tx_ns = (qp->req.next_tx_ns > now ? qp->req.next_tx_ns : now) + gap;
}
