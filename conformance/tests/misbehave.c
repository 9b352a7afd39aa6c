/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * misbehave.c - a device that misbehaves at random never gets a clean pass.
 *
 *   misbehave SEEDS [FIRST] [-v]      in the root of the repository
 *
 * Each seed is a device with one bad habit, which shows once in a run: a PSN, an MSN, a NAK code or a byte of data that
 * is another, a packet that is lost or that nobody asked for, the status of a completion, a completion that is lost,
 * comes twice or before the one in front of it. Vectors with a scripted peer are drawn and run on it, until it has
 * broken a rule: then the vector must not be PASS or VARIANT. An ACK that is lost may be covered by the next one: it
 * breaks no rule, and the log (-v) says so. What only some scripts claim (MSN, data, which NAK) has to be noticed once
 * in a dozen times.
 */
#include <stdlib.h>
#include <string.h>

#include "../conform.h"
#include "drill/target.h"
#include "vs/psn.h"

#define VECTORS 400u /* most that a device is tried with */
#define SOME 12u     /* times that it may do what only some scripts can notice */

enum mutation {
	M_PSN,
	M_MSN,
	M_NAK_CODE,
	M_DATA,
	M_LOST_RESPONSE,
	M_LOST_ACK,
	M_EXTRA_NAK,
	M_STATUS,
	M_LOST_CQE,
	M_TWICE_CQE,
	M_EARLY_CQE,
	M_COUNT
};
static const char *const names[M_COUNT] = {
	"psn+1",
	"msn+1",
	"another NAK code",
	"a flipped byte",
	"a lost READ or atomic response",
	"a lost ACK",
	"a NAK from nowhere",
	"another status",
	"a lost completion",
	"a completion twice",
	"a completion before its turn",
};

static struct {
	enum mutation what;
	unsigned skip; /* so many things that could be changed are left alone */
	bool done, must;
	struct dr_ears ears;
	struct vs_drill_env env; /* what the record asked for */
	const struct dr_target_ops *real;
	struct dr_target_ops ops;
	struct vs_wc held;
	bool holding;
	void *held_cq;
} shim;

static bool my_turn(bool must)
{
	if (shim.done || shim.skip-- > 0)
		return false;
	shim.done = true;
	shim.must = must;
	return true;
}

/* ---- packets from the device to the peer ---- */

static void deliver(uint64_t now, enum vs_link link, const uint8_t *frame, size_t len)
{
	struct vs_drill_frame f = {now, "dut", VS_TAP_SENT, link, frame, len};

	shim.env.tap(shim.env.tap_ctx, &f);
	shim.ears.frame(shim.ears.ctx, now, link, frame, len);
}

static bool is_response(const struct vs_pkt *p)
{
	return (p->hdrs & VS_HDR_AETH) != 0 || p->bth.opcode == 0x0e; /* READ response Middle has no AETH */
}

static bool is_nak(const struct vs_pkt *p)
{
	return p->bth.opcode == 0x11 && p->ext.aeth.syndrome >> 5 == 3;
}

/* Changes the packet; false: it is none for this mutation, or it is not its turn. *drop: it is lost. */
static bool change(struct vs_pkt *p, uint8_t *data, bool *drop)
{
	switch (shim.what) {
	case M_PSN:
		if (!my_turn(p->bth.opcode >> 5 < 2)) /* nobody looks at those of datagrams */
			return false;
		p->bth.psn = vs_psn_add(p->bth.psn, 1);
		return true;
	case M_MSN:
		if (!(p->hdrs & VS_HDR_AETH) || !my_turn(true))
			return false;
		p->ext.aeth.msn = vs_psn_add(p->ext.aeth.msn, 1);
		return true;
	case M_NAK_CODE:
		if (!is_nak(p) || !my_turn(true))
			return false;
		p->ext.aeth.syndrome = (uint8_t)(0x60 | ((p->ext.aeth.syndrome + 1) & 3));
		return true;
	case M_DATA:
		if (p->payload_len == 0 || p->bth.destqp == 1 || !my_turn(true))
			return false;
		memcpy(data, p->payload, p->payload_len);
		data[p->payload_len / 2] ^= 0x10;
		p->payload = data;
		return true;
	case M_LOST_RESPONSE:
		if (!is_response(p) || p->bth.opcode == 0x11 || !my_turn(true))
			return false;
		return *drop = true;
	case M_LOST_ACK: /* the next one may cover it */
		if (p->bth.opcode != 0x11 || !my_turn(false))
			return false;
		return *drop = true;
	default:
		return false;
	}
}

static void extra_nak(uint64_t now, enum vs_link link, const struct vs_pkt *p)
{
	uint8_t buf[512];
	struct vs_pkt nak = *p;
	int n;

	if (shim.what != M_EXTRA_NAK || p->bth.opcode != 0x11 || is_nak(p) || !my_turn(true))
		return;
	nak.ext.aeth.syndrome = 0x61;
	if (vs_pkt_seal(&nak, VS_SEAL_ALL, buf, sizeof(buf)) == VS_OK && (n = vs_pkt_build(&nak, buf, sizeof(buf))) > 0)
		deliver(now, link, buf, (size_t)n);
}

static void on_frame(void *ctx, uint64_t now, enum vs_link link, const uint8_t *frame, size_t len)
{
	uint8_t buf[VS_FRAME_MAX + 64], data[VS_FRAME_MAX];
	bool drop = false;
	struct vs_pkt p;
	int n;

	(void)ctx;
	if (vs_pkt_parse(&p, link, 0, frame, len, len, 0) != VS_OK || !change(&p, data, &drop)) {
		deliver(now, link, frame, len);
		extra_nak(now, link, &p);
		return;
	}
	if (drop)
		return;
	if (vs_pkt_seal(&p, VS_SEAL_ALL, buf, sizeof(buf)) == VS_OK && (n = vs_pkt_build(&p, buf, sizeof(buf))) > 0)
		deliver(now, link, buf, (size_t)n);
}

/* The simulator's own tap shows what the device sent before it was changed: only the rest is passed on. */
static void on_tap(void *ctx, const struct vs_drill_frame *f)
{
	(void)ctx;
	if (strcmp(f->node, "peer") == 0 || f->where == VS_TAP_LOST)
		shim.env.tap(shim.env.tap_ctx, f);
}

/* ---- completions ---- */

static int on_poll(struct dr_target *t, void *cq, struct vs_wc *wc)
{
	int n;

	if (shim.holding && cq == shim.held_cq) {
		shim.holding = false;
		*wc = shim.held;
		return 1;
	}
	n = shim.real->cq_poll(t, cq, wc);
	if (n != 1)
		return n;
	if (shim.what == M_STATUS && my_turn(true))
		wc->status = wc->status == VS_WC_SUCCESS ? VS_WC_LOC_PROT_ERR : VS_WC_SUCCESS;
	else if (shim.what == M_LOST_CQE && my_turn(!(wc->wc_flags & VS_WC_GRH))) /* datagrams may be lost */
		return shim.real->cq_poll(t, cq, wc);
	else if (shim.what == M_TWICE_CQE && my_turn(true)) {
		shim.held = *wc;
		shim.held_cq = cq;
		shim.holding = true;
	} else if (shim.what == M_EARLY_CQE && !shim.done) {
		struct vs_wc next;

		/* Of the same queue of the same queue pair: others may overtake. */
		if (shim.real->cq_poll(t, cq, &next) != 1)
			return 1;
		shim.held = next;
		if (next.qp_num == wc->qp_num && next.wr_id != wc->wr_id && (next.opcode ^ wc->opcode) < 0x80 &&
		    next.status == wc->status && my_turn(true)) {
			shim.held = *wc;
			*wc = next;
		}
		shim.held_cq = cq;
		shim.holding = true;
	}
	return 1;
}

static struct dr_target *open_shim(void *ctx, const struct dr_setup *s, char *why, size_t cap, bool *skip)
{
	struct dr_setup setup = *s;
	struct vs_drill_env env = *s->env;
	struct dr_target *t;
	static struct vs_drill_env kept;

	shim.ears = s->ears;
	shim.env = env;
	env.tap = on_tap;
	kept = env;
	setup.env = &kept;
	setup.ears = (struct dr_ears){.frame = on_frame, .sent = s->ears.sent, .ctx = s->ears.ctx};
	t = dr_sim_open(ctx, &setup, why, cap, skip);
	if (t == NULL)
		return NULL;
	shim.real = t->ops;
	shim.ops = *t->ops;
	shim.ops.cq_poll = on_poll;
	t->ops = &shim.ops;
	return t;
}

/* ---- runs ---- */

static uint64_t random_of(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

static const struct vc_case *draw(const struct vc_suite *s, uint64_t *state, unsigned *vector)
{
	const struct vc_case *c;

	do
		c = &s->c[random_of(state) % s->n];
	while (c->d == NULL || !vs_drill_needs(c->d, "peer") || vc_class(c) == 'R');
	*vector = (unsigned)(random_of(state) % c->vectors);
	return c;
}

/* Runs the next vector that is drawn. *noticed: not a clean pass. True: the device did something against the rules. */
static bool run(const struct vc_suite *s, uint64_t seed, uint64_t *state, bool verbose, bool *noticed)
{
	static struct vc_record record;
	struct vs_drill_env env = {.seed = seed};
	struct vc_violation v = {.found = false};
	struct vs_drill_result res;
	struct vc_outcome out;
	unsigned vector;
	const struct vc_case *c = draw(s, state, &vector);
	char name[VC_NAME];

	shim.done = shim.must = shim.holding = false;
	shim.skip = (unsigned)(random_of(state) % 3);
	vc_record_attach(&record, &env);
	dr_run(c->d, vector, &env, open_shim, NULL, &res);
	vc_judge(&record, &v);
	vc_verdict(c, &res, &v, false, &out);
	vc_record_clear(&record);
	vc_vector_name(c, vector, name);
	*noticed = out.verdict != VC_PASS && out.verdict != VC_VARIANT;
	if (verbose && shim.done)
		printf("seed %llu: %s: %s, which %s: %s %s\n", (unsigned long long)seed, name, names[shim.what],
		       shim.must ? "breaks a rule" : "may be legal", vc_verdict_name(out.verdict), out.reason);
	return shim.done && shim.must;
}

/* Only scripts that say msn=, data= or which NAK can tell; the others are judged by what holds for all. */
static bool is_claimed_by_some(enum mutation m)
{
	return m == M_MSN || m == M_DATA || m == M_NAK_CODE;
}

/* One device: 1: it broke rules and was caught, 0: it did nothing wrong, -1: it got a clean pass. */
static int device(const struct vc_suite *s, uint64_t seed, bool verbose)
{
	uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
	unsigned broke = 0, caught = 0, most;

	memset(&shim, 0, sizeof(shim));
	shim.what = (enum mutation)(random_of(&state) % M_COUNT);
	most = is_claimed_by_some(shim.what) ? SOME : 1;
	for (unsigned i = 0; i < VECTORS && broke < most; i++) {
		bool noticed;

		if (!run(s, seed, &state, verbose, &noticed))
			continue;
		broke++;
		caught += noticed;
	}
	if (broke == 0 || caught > 0)
		return broke > 0;
	printf("seed %llu: %s in %u vectors, and nobody noticed\n", (unsigned long long)seed, names[shim.what], broke);
	return -1;
}

int main(int argc, char **argv)
{
	uint64_t seeds = argc > 1 ? strtoull(argv[1], NULL, 0) : 200, first = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	bool verbose = argc > 3;
	unsigned broke = 0, unnoticed = 0;
	struct vc_suite s;

	if (vc_suite_read(&s, "conformance", NULL, 0) != VC_OK || s.n == 0)
		return 2;
	for (uint64_t seed = first; seed < first + seeds; seed++) {
		int what = device(&s, seed, verbose);

		broke += what != 0;
		unnoticed += what < 0;
	}
	printf("misbehave: %llu devices, %u broke a rule, %u of them got a clean pass\n", (unsigned long long)seeds,
	       broke, unnoticed);
	vc_suite_free(&s);
	return unnoticed > 0 || broke == 0;
}
