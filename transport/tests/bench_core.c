/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * bench_core.c - how fast two engines talk over the simulated wire on one core, ICRC computed and checked, nothing
 * left out: posting, polling, copies, acknowledges. docs/performance.md has the figures.
 *
 *   bench_core [SECONDS]     per measurement; default 1
 *
 * Rates are per second of processor time, and the best of ten parts, so that other work on the machine disturbs
 * them little.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "figure.h"
#include "vs/qp.h"
#include "vs/sim.h"

#define DEPTH 256
#define IDLE_QPS 10000

struct side {
	struct vs_dev *dev;
	struct vs_pd *pd;
	struct vs_cq *cq;
	struct vs_mr *mr;
	struct vs_qp *qp;
	uint8_t mem[8192];
};

struct bench {
	struct vs_sim *sim;
	int host[2];
	struct side side[2];
	size_t allocated;
	uint32_t depth;                  /* messages in flight at most */
	uint64_t posted, sent, received; /* messages */
};

static void die(const char *what)
{
	fprintf(stderr, "bench_core: %s\n", what);
	exit(1);
}

static void *count_alloc(void *ctx, size_t size)
{
	((struct bench *)ctx)->allocated += size;
	return calloc(1, size);
}

static void count_free(void *ctx, void *p, size_t size)
{
	((struct bench *)ctx)->allocated -= size;
	free(p);
}

static struct vs_qp *new_qp(struct side *s, uint32_t depth)
{
	struct vs_qp_init in = {.type = VS_QPT_RC, .send_cq = s->cq, .recv_cq = s->cq, .cap = {depth, depth, 1, 1, 0}};
	int err;
	struct vs_qp *qp = vs_qp_create(s->pd, &in, &err);

	if (qp == NULL)
		die("no QP");
	return qp;
}

static void connect(struct bench *b, struct vs_qp *qp, struct vs_qp *peer, int peer_host)
{
	struct vs_qp_attr a = {.state = VS_QPS_INIT, .port_num = 1, .access_flags = 15};
	int rc = vs_qp_modify(qp, &a, VS_QP_STATE | VS_QP_PORT | VS_QP_PKEY_INDEX | VS_QP_ACCESS_FLAGS);

	a.state = VS_QPS_RTR;
	a.path_mtu = VS_MTU_4096;
	a.dest_qpn = vs_qp_num(peer);
	a.max_dest_rd_atomic = 1;
	a.min_rnr_timer = 1;
	vs_sim_av(b->sim, b->host[peer_host], 0, &a.av);
	rc |= vs_qp_modify(qp, &a,
			   VS_QP_STATE | VS_QP_AV | VS_QP_PATH_MTU | VS_QP_DEST_QPN | VS_QP_RQ_PSN |
				   VS_QP_MAX_DEST_RD_ATOMIC | VS_QP_MIN_RNR_TIMER);
	a.state = VS_QPS_RTS;
	a.timeout = 14;
	a.retry_cnt = 7;
	a.rnr_retry = 7;
	a.max_rd_atomic = 1;
	rc |= vs_qp_modify(qp, &a,
			   VS_QP_STATE | VS_QP_SQ_PSN | VS_QP_TIMEOUT | VS_QP_RETRY_CNT | VS_QP_RNR_RETRY |
				   VS_QP_MAX_QP_RD_ATOMIC);
	if (rc != VS_OK)
		die("no connection");
}

static void side_make(struct bench *b, int i)
{
	struct side *s = &b->side[i];
	struct vs_mr_attr m = {
		.addr = (uintptr_t)s->mem, .length = sizeof(s->mem), .iova = (uintptr_t)s->mem, .access = 15};
	int err;

	memset(s->mem, 0x5a + i, sizeof(s->mem));
	s->dev = vs_sim_dev(b->sim, b->host[i]);
	s->pd = vs_pd_create(s->dev, &err);
	s->cq = vs_cq_create(s->dev, 4 * DEPTH, 0, &err);
	s->mr = vs_mr_reg(s->pd, &m, &err);
	if (s->cq == NULL || s->mr == NULL)
		die("no CQ or region");
	s->qp = new_qp(s, DEPTH);
}

static struct bench *bench_new(void)
{
	struct bench *b = calloc(1, sizeof(*b));
	struct vs_sim_attr a = {.seed = 1};
	struct vs_dev_attr d = {.cm_disabled = true, .max_qp = IDLE_QPS + 1};
	const struct vs_sim_link l = {.latency_ns = 1000};
	int err;

	if (b == NULL)
		die("no memory");
	d.allocator = (struct vs_allocator){count_alloc, count_free, b};
	b->sim = vs_sim_create(&a, &err);
	for (int i = 0; i < 2; i++)
		b->host[i] = vs_sim_add_host(b->sim, &d);
	if (vs_sim_connect(b->sim, b->host[0], b->host[1], &l) != VS_OK)
		die("no link");
	b->depth = DEPTH;
	side_make(b, 0);
	side_make(b, 1);
	connect(b, b->side[0].qp, b->side[1].qp, 1);
	connect(b, b->side[1].qp, b->side[0].qp, 0);
	return b;
}

static void bench_free(struct bench *b)
{
	vs_sim_destroy(b->sim);
	free(b);
}

/* Keeps the queues full, one round of the clock, takes what completed. */
static void round_trip(struct bench *b, enum vs_wr_opcode op, uint32_t len)
{
	struct side *a = &b->side[0], *p = &b->side[1];
	struct vs_sge from = {(uintptr_t)a->mem, len, vs_mr_lkey(a->mr)},
		      to = {(uintptr_t)p->mem, len, vs_mr_lkey(p->mr)};
	struct vs_send_wr send = {.opcode = op, .flags = VS_SEND_SIGNALED, .sg_list = &from, .num_sge = 1};
	struct vs_recv_wr recv = {.sg_list = &to, .num_sge = 1};
	struct vs_wc wc[64];
	int n;

	send.rdma.remote_addr = (uintptr_t)p->mem;
	send.rdma.rkey = vs_mr_rkey(p->mr);
	while (op == VS_WR_SEND && vs_qp_post_recv(p->qp, &recv) == VS_OK)
		;
	while (b->posted - b->sent < b->depth && vs_qp_post_send(a->qp, &send) == VS_OK)
		b->posted++;
	if (!vs_sim_step(b->sim, VS_NEVER))
		die("stuck");
	while ((n = vs_cq_poll(a->cq, wc, 64)) > 0) {
		for (int i = 0; i < n; i++)
			if (wc[i].status != VS_WC_SUCCESS)
				die("a request failed");
		b->sent += (uint64_t)n;
	}
	while ((n = vs_cq_poll(p->cq, wc, 64)) > 0)
		b->received += (uint64_t)n;
}

static double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#define PARTS 10u

struct rate {
	double messages, packets; /* per second */
	double least;             /* messages, of the slowest part */
};

static struct rate measure(struct bench *b, enum vs_wr_opcode op, uint32_t len, double seconds)
{
	double start, t;
	uint64_t sent, packets;

	for (int i = 0; i < 100; i++)
		round_trip(b, op, len);
	sent = b->sent;
	packets = vs_sim_stats(b->sim)->sent;
	start = cpu_s();
	do {
		for (int i = 0; i < 100; i++)
			round_trip(b, op, len);
		t = cpu_s() - start;
	} while (t < seconds);
	if (memcmp(b->side[0].mem, b->side[1].mem, len) != 0)
		die("the data is not there");
	return (struct rate){(double)(b->sent - sent) / t, (double)(vs_sim_stats(b->sim)->sent - packets) / t, 0};
}

/* The best of ten parts: what disturbs a part makes it slower, never faster. */
static struct rate best(struct bench *b, enum vs_wr_opcode op, uint32_t len, double seconds)
{
	struct rate most = {0, 0, 0};
	double least = 0;

	for (unsigned i = 0; i < PARTS; i++) {
		struct rate r = measure(b, op, len, seconds / PARTS);

		if (i == 0 || r.messages < least)
			least = r.messages;
		if (r.messages > most.messages)
			most = r;
	}
	most.least = least;
	return most;
}

static void put_rate(const char *name, const struct rate *r)
{
	figure_put(&(struct figure){.name = name,
				    .unit = "messages/s",
				    .better = "more",
				    .how = "most",
				    .value = r->messages,
				    .low = r->least,
				    .high = r->messages,
				    .rounds = PARTS});
}

static void put_memory(const char *name, size_t bytes)
{
	figure_put(&(struct figure){.name = name, .unit = "bytes", .better = "less", .value = (double)bytes});
}

static void bench_rates(double seconds)
{
	struct bench *b = bench_new();
	struct rate r;

	r = best(b, VS_WR_SEND, 64, seconds);
	printf("64-byte SEND        %6.2f million messages/s, %6.2f million packets/s\n", r.messages / 1e6,
	       r.packets / 1e6);
	put_rate("SEND of 64 bytes, 256 in flight", &r);
	b->depth = 1;
	r = best(b, VS_WR_SEND, 64, seconds);
	printf("  one at a time     %6.2f million messages/s, %6.2f million packets/s\n", r.messages / 1e6,
	       r.packets / 1e6);
	put_rate("SEND of 64 bytes, one at a time", &r);
	b->depth = DEPTH;
	r = best(b, VS_WR_RDMA_WRITE, 4096, seconds);
	printf("4 KiB WRITE         %6.2f million messages/s, %6.2f million packets/s, %.1f Gbit/s of payload\n",
	       r.messages / 1e6, r.packets / 1e6, r.messages * 4096 * 8 / 1e9);
	put_rate("WRITE of 4 KiB, 256 in flight", &r);
	bench_free(b);
}

static void bench_memory(void)
{
	struct bench *b = bench_new();
	size_t before = b->allocated;

	(void)new_qp(&b->side[0], 1);
	printf("memory of an RC QP  %6zu bytes with queues of 1, ", b->allocated - before);
	put_memory("memory of an RC QP, queues of 1", b->allocated - before);
	before = b->allocated;
	(void)new_qp(&b->side[0], 128);
	printf("%zu with queues of 128 (one SGE each)\n", b->allocated - before);
	put_memory("memory of an RC QP, queues of 128", b->allocated - before);
	bench_free(b);
}

/* Alternating, the best of each: what an idle QP costs must not drown in noise. */
static void bench_idle(double seconds)
{
	struct bench *one = bench_new(), *many = bench_new();
	double best_one = 0, best_many = 0, worst_many = HUGE_VAL;

	for (int i = 1; i < IDLE_QPS; i++) {
		struct vs_qp *a = new_qp(&many->side[0], 4), *p = new_qp(&many->side[1], 4);

		connect(many, a, p, 1);
		connect(many, p, a, 0);
	}
	for (unsigned i = 0; i < PARTS; i++) {
		double r = measure(one, VS_WR_SEND, 64, seconds / PARTS).messages;

		best_one = r > best_one ? r : best_one;
		r = measure(many, VS_WR_SEND, 64, seconds / PARTS).messages;
		best_many = r > best_many ? r : best_many;
		worst_many = r < worst_many ? r : worst_many;
	}
	printf("%d QPs, one active: %.2f million messages/s; alone %.2f; ratio %.3f (at most 1.1)\n", IDLE_QPS,
	       best_many / 1e6, best_one / 1e6, best_one / best_many);
	figure_put(&(struct figure){.name = "SEND of 64 bytes beside 9,999 idle QPs",
				    .unit = "messages/s",
				    .better = "more",
				    .how = "most",
				    .value = best_many,
				    .low = worst_many,
				    .high = best_many,
				    .rounds = PARTS,
				    .peer = "the QP alone",
				    .peer_value = best_one,
				    .aim_ratio = 1 / 1.1});
	bench_free(one);
	bench_free(many);
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;

	if (seconds <= 0) {
		fprintf(stderr, "usage: bench_core [SECONDS]\n");
		return 2;
	}
	bench_rates(seconds);
	bench_memory();
	bench_idle(seconds);
	return 0;
}
