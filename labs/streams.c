/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * streams.c - labs of kind "scoreboard": random work on two simulated devices, written down as the lab's scoreboard.h
 * says, for the learner's program to judge. First runs of devices that keep the rules, then some of each mutant: a
 * deviation that the device commits (deviations.def). The program is told which is which only so that it can say so.
 *
 * A file of runs: "RUN NAME\n", events (struct event, then its n bytes), an event with what = 0; "END \n" closes it.
 */
#include "streams.h"

#include <stdlib.h>
#include <string.h>

#include "14-dv-scoreboard/scoreboard.h"
#include "vs/qp.h"
#include "vs/sim.h"

#define REQUESTS 12u /* of each requester, the last ones behind the failure apart */
#define SLOT 832u
#define RECEIVE 800u
#define COUNTERS_SIZE 64u
#define GUARD 64u
#define MTU 256u
#define ARENA (256u * 1024)

struct end { /* one end of a connection; who = 2 * connection + device */
	struct vs_qp *qp;
	struct vs_cq *cq;
	struct vs_mr *mr[REGIONS], *source;
	uint64_t at[REGIONS], from; /* addresses: regions of this requester, wherever they are; its data */
	uint32_t size[REGIONS];
	uint32_t posted, received, results, used; /* requests, receives, bytes of RESULTS and of data */
	uint32_t op[64];
	bool closed; /* its last requests are posted */
};
struct world {
	FILE *f;
	uint64_t dice;
	struct vs_sim *sim;
	struct vs_dev *dev[2];
	struct vs_pd *pd[2];
	uint8_t *arena[2];
	uint32_t taken[2];
	struct end end[4];
	bool failed;
};

static uint32_t draw(struct world *w, uint32_t n)
{
	w->dice += UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)(((w->dice ^ w->dice >> 30) * UINT64_C(0xbf58476d1ce4e5b9)) >> 33) % n;
}

/* ---- events out ---- */

static void put(struct world *w, struct event e, uint32_t what, uint32_t who, const void *bytes, uint32_t n)
{
	e.t = w->sim != NULL ? vs_sim_now(w->sim) : 0;
	e.what = what;
	e.who = who;
	e.n = n;
	e.bytes = NULL;
	w->failed |= fwrite(&e, sizeof(e), 1, w->f) != 1 || (n > 0 && fwrite(bytes, 1, n, w->f) != n);
}

static void put_regions(struct world *w, uint32_t what)
{
	for (uint32_t who = 0; who < 4; who++)
		for (uint32_t r = 0; r < REGIONS; r++)
			put(w,
			    (struct event){
				    .region = r, .size = w->end[who].size[r], .len = w->end[who].size[r] + GUARD},
			    what, who, (const void *)(uintptr_t)w->end[who].at[r], w->end[who].size[r] + GUARD);
}

static void on_frame(void *ctx, uint64_t now_ns, int node, enum vs_tap_where where, enum vs_link link,
		     const uint8_t *frame, size_t len)
{
	struct world *w = ctx;
	struct event e = {.t = now_ns};
	struct vs_pkt p;
	uint32_t c, to = (uint32_t)node ^ (where == VS_TAP_SENT);

	if (where == VS_TAP_LOST || vs_pkt_parse(&p, link, 0, frame, len, len, 0) != VS_OK)
		return;
	for (c = 0; c < 2 && vs_qp_num(w->end[2 * c + to].qp) != p.bth.destqp;)
		c++;
	if (c == 2)
		return;
	e.opcode = p.bth.opcode;
	e.psn = p.bth.psn;
	e.ackreq = p.bth.ackreq;
	e.len = p.payload_len;
	if (p.hdrs & VS_HDR_AETH) {
		e.syndrome = p.ext.aeth.syndrome;
		e.msn = p.ext.aeth.msn;
	}
	if (p.hdrs & VS_HDR_ATOMICACKETH)
		e.orig = p.ext.atomicack_origdata;
	put(w, e, where == VS_TAP_SENT ? TX : RX, 2 * c + (uint32_t)node, p.payload, p.payload_len);
}

static void poll(struct world *w)
{
	struct vs_wc wc;

	for (uint32_t who = 0; who < 4; who++)
		while (vs_cq_poll(w->end[who].cq, &wc, 1) == 1)
			put(w,
			    (struct event){.wr_id = wc.wr_id,
					   .status = wc.status,
					   .op = wc.of_sq ? w->end[who].op[wc.wr_id & 63] : RECV,
					   .len = wc.status == VS_WC_SUCCESS ? wc.byte_len : 0},
			    CQE, who, NULL, 0);
}

static void pass(struct world *w, uint64_t ns)
{
	uint64_t until = vs_sim_now(w->sim) + ns;

	while (vs_sim_step(w->sim, until))
		poll(w);
	(void)vs_sim_run(w->sim, until);
	poll(w);
}

/* ---- work ---- */

static void post(struct world *w, uint32_t who, uint32_t op, uint32_t len, uint64_t to, bool bad_key, bool signaled)
{
	static const enum vs_wr_opcode names[] = {VS_WR_SEND, VS_WR_RDMA_WRITE, VS_WR_RDMA_READ,
						  VS_WR_ATOMIC_FETCH_AND_ADD, VS_WR_ATOMIC_CMP_AND_SWP};
	struct end *x = &w->end[who];
	uint32_t region = op == WRITE ? SLOTS : op == READ ? CONSTANTS : COUNTERS, n = op <= WRITE ? len : 0;
	bool brings = op >= READ;
	struct vs_sge sge = {brings ? x->at[RESULTS] + x->results : x->from + x->used, len,
			     vs_mr_lkey(brings ? x->mr[RESULTS] : x->source)};
	struct vs_send_wr wr = {.wr_id = x->posted, .opcode = names[op], .sg_list = &sge, .num_sge = 1};
	struct event e = {
		.wr_id = x->posted, .op = op, .len = len, .to = to, .result = x->results, .signaled = signaled};
	uint64_t operand[2] = {draw(w, 1000), draw(w, 1000)};
	const void *bytes = (const void *)(uintptr_t)sge.addr;

	wr.flags = signaled ? VS_SEND_SIGNALED : 0;
	if (op != SEND) {
		wr.rdma.remote_addr = x->at[region] + to;
		wr.rdma.rkey = vs_mr_rkey(x->mr[region]) ^ (bad_key ? 0x100 : 0);
	}
	if (op == CMP_SWAP && draw(w, 2) == 0)
		operand[0] = 0; /* the counters begin there */
	wr.atomic.compare_add = operand[0];
	wr.atomic.swap = operand[1];
	if (op >= FETCH_ADD) {
		bytes = operand;
		n = sizeof(operand);
	}
	e.bad_key = bad_key;
	x->op[x->posted & 63] = op;
	if (vs_qp_post_send(x->qp, &wr) != VS_OK) {
		w->failed = true;
		return;
	}
	put(w, e, POST_SEND, who, bytes, n);
	x->posted++;
	x->used += brings ? 0 : len;
	x->results += brings ? (len + 7) & ~7u : 0;
}

static void receive(struct world *w, uint32_t who)
{
	struct end *x = &w->end[who ^ 1]; /* the requester that this is for has the memory */
	struct vs_sge sge = {x->at[RECEIVES] + (uint64_t)x->received * SLOT, RECEIVE, vs_mr_lkey(x->mr[RECEIVES])};
	struct vs_recv_wr wr = {1000 + x->received, &sge, 1};

	if ((x->received + 1) * SLOT > x->size[RECEIVES] || vs_qp_post_recv(w->end[who].qp, &wr) != VS_OK)
		return;
	put(w, (struct event){.wr_id = wr.wr_id, .len = RECEIVE}, POST_RECV, who, NULL, 0);
	x->received++;
}

static void some_request(struct world *w, uint32_t who)
{
	struct end *x = &w->end[who];
	uint32_t op = draw(w, 8), len = draw(w, 3) == 0 ? draw(w, 64) : draw(w, 700);
	bool signaled = draw(w, 3) > 0;

	if (op < 3)
		post(w, who, SEND, len, 0, false, signaled);
	else if (op < 5)
		post(w, who, WRITE, len, (uint64_t)x->posted * SLOT, false, signaled);
	else if (op < 6)
		post(w, who, READ, len, draw(w, 8) * UINT64_C(40), false, signaled);
	else
		post(w, who, op == 6 ? FETCH_ADD : CMP_SWAP, 8, draw(w, 2) * UINT64_C(8), false, signaled);
}

/* The last ones: mostly one that fails, and three behind it. */
static void finale(struct world *w, uint32_t who)
{
	struct end *x = &w->end[who];
	bool signaled = draw(w, 2) == 0;

	switch (draw(w, 8)) {
	case 0:
	case 1:
	case 2:
		post(w, who, SEND, RECEIVE + 1 + draw(w, 180), 0, false, signaled);
		break;
	case 3:
		post(w, who, WRITE, 64, (uint64_t)x->posted * SLOT, true, signaled);
		break;
	case 4:
		break;
	default: /* one byte too far */
		post(w, who, WRITE, 64, x->size[SLOTS] - 63, false, signaled);
		break;
	}
	for (uint32_t i = 0; i < 3; i++)
		post(w, who, WRITE, 1 + draw(w, 200), (uint64_t)x->posted * SLOT, false, draw(w, 2) == 0);
	x->closed = true;
}

static void work(struct world *w)
{
	bool busy = true;

	while (busy) {
		busy = false;
		for (uint32_t who = 0; who < 4; who++) {
			struct end *x = &w->end[who];

			for (uint32_t n = draw(w, 4); n > 0 && x->posted < REQUESTS; n--)
				some_request(w, who);
			for (uint32_t n = draw(w, 3); n > 0; n--)
				receive(w, who);
			busy |= x->posted < REQUESTS;
		}
		pass(w, draw(w, 40) * UINT64_C(1000));
	}
	for (uint32_t i = 0; i < 4 * (REQUESTS + 4); i++) /* late, so that some have been told to wait */
		receive(w, i & 3);
	pass(w, UINT64_C(100000000));
	for (uint32_t who = 0; who < 4; who += 1 + draw(w, 2))
		finale(w, who);
	pass(w, UINT64_C(400000000));
}

/* ---- the world ---- */

static uint64_t take(struct world *w, uint32_t device, uint32_t len)
{
	uint64_t at = (uintptr_t)w->arena[device] + w->taken[device];

	w->taken[device] += (len + GUARD + 63) & ~63u;
	w->failed |= w->taken[device] > ARENA;
	return at;
}

static struct vs_mr *region(struct world *w, uint32_t device, uint64_t at, uint32_t len, uint32_t access)
{
	const struct vs_mr_attr a = {.addr = at, .iova = at, .length = len, .access = access};
	int err;
	struct vs_mr *mr = vs_mr_reg(w->pd[device], &a, &err);

	w->failed |= mr == NULL;
	return mr;
}

static void make_memory(struct world *w, uint32_t who)
{
	static const uint32_t size[REGIONS] = {(REQUESTS + 5) * SLOT, COUNTERS_SIZE, 1088, (REQUESTS + 4) * SLOT,
					       REQUESTS * 704};
	static const uint32_t access[REGIONS] = {VS_ACCESS_LOCAL_WRITE | VS_ACCESS_REMOTE_WRITE,
						 VS_ACCESS_LOCAL_WRITE | VS_ACCESS_REMOTE_ATOMIC, VS_ACCESS_REMOTE_READ,
						 VS_ACCESS_LOCAL_WRITE, VS_ACCESS_LOCAL_WRITE};
	struct end *x = &w->end[who];
	uint32_t here = who & 1, data = (REQUESTS + 4) * 1024;

	for (uint32_t r = 0; r < REGIONS; r++) {
		uint32_t device = r == RESULTS ? here : here ^ 1;

		x->size[r] = size[r];
		x->at[r] = take(w, device, size[r]);
		x->mr[r] = region(w, device, x->at[r], size[r], access[r]);
		for (uint32_t i = 0; r != COUNTERS && i < size[r] + GUARD && !w->failed; i++)
			((uint8_t *)(uintptr_t)x->at[r])[i] = (uint8_t)draw(w, 256);
	}
	x->from = take(w, here, data);
	for (uint32_t i = 0; i < data && !w->failed; i++)
		((uint8_t *)(uintptr_t)x->from)[i] = (uint8_t)draw(w, 256);
	x->source = region(w, here, x->from, data, 0);
}

static void make_qp(struct world *w, uint32_t who)
{
	struct end *x = &w->end[who];
	struct vs_qp_init init = {.type = VS_QPT_RC, .cap = {64, 64, 1, 1, 0}};
	int err;

	x->cq = vs_cq_create(w->dev[who & 1], 256, who, &err);
	init.send_cq = init.recv_cq = x->cq;
	x->qp = x->cq != NULL ? vs_qp_create(w->pd[who & 1], &init, &err) : NULL;
	w->failed |= x->qp == NULL;
}

static void connect(struct world *w, uint32_t who, uint32_t psn, uint32_t peer_psn)
{
	struct vs_qp_attr a = {.port_num = 1,
			       .path_mtu = VS_MTU_256,
			       .dest_qpn = vs_qp_num(w->end[who ^ 1].qp),
			       .rq_psn = peer_psn,
			       .sq_psn = psn,
			       .max_rd_atomic = 4,
			       .max_dest_rd_atomic = 4,
			       .min_rnr_timer = 14,
			       .timeout = 9,
			       .retry_cnt = (uint8_t)(3 + draw(w, 3)),
			       .rnr_retry = 7,
			       .access_flags =
				       VS_ACCESS_REMOTE_WRITE | VS_ACCESS_REMOTE_READ | VS_ACCESS_REMOTE_ATOMIC};
	const uint32_t init = VS_QP_STATE | VS_QP_PKEY_INDEX | VS_QP_PORT | VS_QP_ACCESS_FLAGS,
		       rtr = VS_QP_STATE | VS_QP_AV | VS_QP_PATH_MTU | VS_QP_DEST_QPN | VS_QP_RQ_PSN |
			     VS_QP_MAX_DEST_RD_ATOMIC | VS_QP_MIN_RNR_TIMER,
		       rts = VS_QP_STATE | VS_QP_SQ_PSN | VS_QP_TIMEOUT | VS_QP_RETRY_CNT | VS_QP_RNR_RETRY |
			     VS_QP_MAX_QP_RD_ATOMIC;

	(void)vs_sim_av(w->sim, (int)(who & 1) ^ 1, 0, &a.av);
	a.state = VS_QPS_INIT;
	w->failed |= vs_qp_modify(w->end[who].qp, &a, init) != VS_OK;
	a.state = VS_QPS_RTR;
	w->failed |= vs_qp_modify(w->end[who].qp, &a, rtr) != VS_OK;
	a.state = VS_QPS_RTS;
	w->failed |= vs_qp_modify(w->end[who].qp, &a, rts) != VS_OK;
	put(w, (struct event){.psn = psn, .mtu = MTU, .retry_cnt = a.retry_cnt}, QP, who, NULL, 0);
}

static void make_faults(struct world *w)
{
	static const char *const rules[] = {"lost: drop %u%%", "copied: dup %u%%", "late: delay %u%% by 20us",
					    "overtaken: reorder %u%%"};
	static const uint32_t most[] = {10, 6, 4, 3};

	for (unsigned i = 0; i < 4; i++) {
		char text[64];

		(void)snprintf(text, sizeof(text), rules[i], 1 + draw(w, most[i]));
		w->failed |= vs_sim_fault(w->sim, text, NULL) < 0;
	}
}

static void make_world(struct world *w, uint64_t seed, uint64_t deviations)
{
	const struct vs_sim_attr attr = {.seed = seed};
	const struct vs_dev_attr dev = {.deviations = deviations, .active_mtu = VS_MTU_1024, .cm_disabled = true};
	const struct vs_sim_link link = {.latency_ns = 1500, .rate_bps = UINT64_C(25000000000)};
	uint32_t psn[4];
	int err;

	w->sim = vs_sim_create(&attr, &err);
	for (int d = 0; d < 2 && w->sim != NULL; d++) {
		w->failed |= vs_sim_add_host(w->sim, &dev) < 0;
		w->dev[d] = vs_sim_dev(w->sim, d);
		w->pd[d] = vs_pd_create(w->dev[d], &err);
		w->arena[d] = calloc(1, ARENA);
		w->failed |= w->arena[d] == NULL;
	}
	w->failed |= w->sim == NULL || vs_sim_connect(w->sim, 0, 1, &link) != VS_OK;
	for (uint32_t who = 0; who < 4 && !w->failed; who++) {
		psn[who] = 0x1000000u - 1u - draw(w, 24); /* they wrap soon */
		make_qp(w, who);
		if (!w->failed)
			make_memory(w, who);
	}
	if (w->failed)
		return;
	make_faults(w);
	for (uint32_t who = 0; who < 4; who++)
		connect(w, who, psn[who], psn[who ^ 1]);
	vs_sim_set_tap(w->sim, on_frame, w);
}

static bool one_run(FILE *f, const char *name, uint64_t seed, uint64_t deviations)
{
	struct world *w = calloc(1, sizeof(*w));
	bool good = w != NULL;

	fprintf(f, "RUN %s\n", name);
	if (good) {
		w->f = f;
		w->dice = seed;
		make_world(w, seed, deviations);
		if (!w->failed) {
			put_regions(w, MEMORY);
			work(w);
			put_regions(w, FINAL);
		}
		put(w, (struct event){.what = 0}, 0, 0, NULL, 0);
		good = !w->failed;
		vs_sim_destroy(w->sim);
		free(w->arena[0]);
		free(w->arena[1]);
	}
	free(w);
	return good;
}

bool vl_streams_write(const char *path, uint32_t seed, unsigned clean)
{
	static const enum vs_deviation mutants[] = {
		VS_DEVIATION_PSN_NO_WRAP,          VS_DEVIATION_ACK_NEXT_PSN,     VS_DEVIATION_DUP_SEND_DELIVERED,
		VS_DEVIATION_ATOMIC_REEXECUTED,    VS_DEVIATION_RANGE_OFF_BY_ONE, VS_DEVIATION_RECV_LENGTH_PER_PACKET,
		VS_DEVIATION_RNR_TIMER_LINEAR,     VS_DEVIATION_RETRY_NOT_RESET,  VS_DEVIATION_FLUSH_REVERSED,
		VS_DEVIATION_UNSIGNALED_ERR_SILENT};
	FILE *f = fopen(path, "w");
	bool good = f != NULL;

	for (unsigned i = 0; i < clean && good; i++)
		good = one_run(f, "clean", (uint64_t)seed << 20 | i, 0);
	for (unsigned m = 0; m < sizeof(mutants) / sizeof(mutants[0]); m++)
		for (unsigned i = 0; i < (clean < VL_CLEAN_RUNS ? VL_MUTANT_RUNS / 2 : VL_MUTANT_RUNS) && good; i++)
			good = one_run(f, vs_deviation_name(mutants[m]), (uint64_t)seed << 20 | (1000 + 100 * m + i),
				       UINT64_C(1) << mutants[m]);
	if (good)
		fputs("END \n", f);
	if (f != NULL && fclose(f) != 0)
		good = false;
	if (!good)
		vl_complain(T("%s: the runs can't be made", "%s: 실행을 만들 수 없습니다"), path);
	return good;
}
