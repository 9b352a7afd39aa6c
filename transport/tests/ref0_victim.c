/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * ref0_victim.c - see ref0_victim.h. Memory: pages of regions, a page without any access on each side of them.
 *
 *   rw      all rights                     may change anywhere
 *   ro      REMOTE_READ                    may not change
 *   local   no remote rights; receives and results of READs land in its first half: the second may not change
 *   window  no remote rights; a window of type 1 over its middle half: that may change
 *   other   all rights, in another PD      may not change
 *   stale   deregistered, not accessible   is not touched
 *
 * The queue pairs of kind "rc" and "uc" lose their connection whenever a request breaks a rule: then they get it anew,
 * with the same numbers. The others are in states in which nothing may happen to them.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ref0_soak.h"
#include "ref0_victim.h"

#define REGION 8192u
#define HALF (REGION / 2)
#define RECVS_EACH 8u
#define RECV_LEN 512u
#define RQ_PSN 0xfffff0u /* wraps in the middle of what is sent */
#define SQ_PSN 0x2000u
#define PEER_QPN 0x777777u
#define QKEY 0x1234567u
#define REMOTE (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

enum region { RW, RO, LOCAL, WINDOW, OTHER, STALE, REGIONS };

static const struct {
	const char *name;
	unsigned access;
} regions[REGIONS] = {
	{"rw", IBV_ACCESS_LOCAL_WRITE | REMOTE},    {"ro", IBV_ACCESS_REMOTE_READ},
	{"local", IBV_ACCESS_LOCAL_WRITE},          {"window", IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND},
	{"other", IBV_ACCESS_LOCAL_WRITE | REMOTE}, {"stale", IBV_ACCESS_LOCAL_WRITE | REMOTE},
};

struct victim_qp {
	const char *kind;
	enum ibv_qp_type type;
	enum ibv_qp_state state; /* where it is to be */
	struct ibv_qp *qp;
	struct ibv_cq *cq;
};

static struct {
	struct ibv_context *ctx;
	struct ibv_pd *pd, *other_pd;
	union ibv_gid peer;
	struct ibv_mr *mr[REGIONS];
	struct ibv_mw *mw;
	uint8_t *mem[REGIONS];
	struct victim_qp qp[10];
	unsigned n;
	uint64_t received, completed, failed, revived, events, writes;
	uint64_t looked_at;
} v;

/* "rc", "uc", "ud": may be harmed; "far": its peer is another; "quiet": nothing may happen to it in its state. */
static const struct victim_qp kinds[] = {
	{"rc", IBV_QPT_RC, IBV_QPS_RTS, NULL, NULL},     {"rc", IBV_QPT_RC, IBV_QPS_RTS, NULL, NULL},
	{"rc", IBV_QPT_RC, IBV_QPS_RTR, NULL, NULL},     {"uc", IBV_QPT_UC, IBV_QPS_RTS, NULL, NULL},
	{"ud", IBV_QPT_UD, IBV_QPS_RTS, NULL, NULL},     {"far", IBV_QPT_RC, IBV_QPS_RTS, NULL, NULL},
	{"quiet", IBV_QPT_RC, IBV_QPS_INIT, NULL, NULL}, {"quiet", IBV_QPT_RC, IBV_QPS_ERR, NULL, NULL},
	{"quiet", IBV_QPT_UC, IBV_QPS_INIT, NULL, NULL}, {"quiet", IBV_QPT_UD, IBV_QPS_INIT, NULL, NULL},
};

static void must(int ok, const char *what)
{
	if (!ok)
		soak_wrong(NULL, "victim: %s failed", what);
}

/* ---- memory ---- */

static uint8_t pattern(enum region r, uint32_t i)
{
	return (uint8_t)(i * 7 + i / 256 + (uint32_t)r * 31);
}

static void make_regions(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), step = REGION + page;
	uint8_t *all = mmap(NULL, REGIONS * step + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(all != MAP_FAILED && REGION % page == 0, "mmap");
	for (int r = 0; r < REGIONS; r++) {
		v.mem[r] = all + page + (size_t)r * step;
		must(mprotect(v.mem[r], REGION, PROT_READ | PROT_WRITE) == 0, "mprotect");
		for (uint32_t i = 0; i < REGION; i++)
			v.mem[r][i] = pattern((enum region)r, i);
		v.mr[r] = ibv_reg_mr(r == OTHER ? v.other_pd : v.pd, v.mem[r], REGION, regions[r].access);
		must(v.mr[r] != NULL, "ibv_reg_mr");
	}
}

static void check_range(enum region r, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++)
		if (v.mem[r][i] != pattern(r, i))
			soak_wrong(NULL, "victim: byte %u of region \"%s\" was written, and nobody may", i,
				   regions[r].name);
}

static void check_memory(void)
{
	check_range(RO, 0, REGION);
	check_range(OTHER, 0, REGION);
	check_range(LOCAL, HALF, REGION);
	check_range(WINDOW, 0, REGION / 4);
	check_range(WINDOW, 3 * (REGION / 4), REGION);
	for (uint32_t i = 0; i < REGION; i++)
		v.writes += v.mem[RW][i] != pattern(RW, i) ||
			    (i >= REGION / 4 && i < HALF && v.mem[WINDOW][i] != pattern(WINDOW, i));
}

/* ---- queue pairs ---- */

static void post_recv(const struct victim_qp *q, uint64_t slot)
{
	struct ibv_sge sge = {(uintptr_t)v.mem[LOCAL] + slot % 4 * RECV_LEN, RECV_LEN, v.mr[LOCAL]->lkey};
	struct ibv_recv_wr wr = {.wr_id = slot, .sg_list = &sge, .num_sge = 1}, *bad;

	must(ibv_post_recv(q->qp, &wr, &bad) == 0, "ibv_post_recv");
}

/* Requests that nobody will answer but a forger: each may change 512 bytes of `local`, and no more. */
static void post_sends(const struct victim_qp *q)
{
	static const enum ibv_wr_opcode ops[] = {IBV_WR_SEND, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD,
						 IBV_WR_RDMA_READ};

	for (unsigned i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		struct ibv_sge sge = {(uintptr_t)v.mem[LOCAL] + HALF - (i + 1) * RECV_LEN,
				      ops[i] == IBV_WR_ATOMIC_FETCH_AND_ADD ? 8 : RECV_LEN, v.mr[LOCAL]->lkey};
		struct ibv_send_wr wr = {.wr_id = 100 + i,
					 .sg_list = &sge,
					 .num_sge = 1,
					 .opcode = ops[i],
					 .send_flags = IBV_SEND_SIGNALED},
				   *bad;

		wr.wr.atomic.remote_addr = 0x1000; /* where an RDMA's is, too */
		wr.wr.atomic.rkey = 1;
		if (ops[i] == IBV_WR_RDMA_READ) {
			wr.wr.rdma.remote_addr = 0x1000;
			wr.wr.rdma.rkey = 1;
		}
		must(ibv_post_send(q->qp, &wr, &bad) == 0, "ibv_post_send");
	}
}

static void to_init(const struct victim_qp *q)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY, .qp_access_flags = REMOTE};

	if (q->type == IBV_QPT_UC)
		a.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
	must(ibv_modify_qp(q->qp, &a,
			   IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				   (q->type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS)) == 0,
	     "to INIT");
	for (uint64_t i = 0; i < RECVS_EACH; i++)
		post_recv(q, i);
}

static void to_rtr(const struct victim_qp *q)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_RTR,
				.path_mtu = IBV_MTU_1024,
				.dest_qp_num = PEER_QPN,
				.rq_psn = RQ_PSN,
				.max_dest_rd_atomic = 4,
				.min_rnr_timer = 1,
				.ah_attr = {.is_global = 1, .port_num = 1}};
	int mask = IBV_QP_STATE;

	a.ah_attr.grh.dgid = v.peer;
	if (q->kind[0] == 'f')
		a.ah_attr.grh.dgid.raw[15] = 99; /* nobody's address here */
	if (q->type != IBV_QPT_UD)
		mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	if (q->type == IBV_QPT_RC)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	must(ibv_modify_qp(q->qp, &a, mask) == 0, "to RTR");
}

static enum ibv_qp_state state_of(const struct victim_qp *q)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr a = {0};

	must(ibv_query_qp(q->qp, &a, IBV_QP_STATE, &init) == 0, "ibv_query_qp");
	return a.qp_state;
}

/* False: an attack came first, between RTR and here. */
static bool to_rts(const struct victim_qp *q)
{
	struct ibv_qp_attr a = {
		.qp_state = IBV_QPS_RTS, .sq_psn = SQ_PSN, .retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = 4};
	int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;

	if (q->type == IBV_QPT_RC)
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
	if (ibv_modify_qp(q->qp, &a, mask) == 0)
		return true;
	must(state_of(q) == IBV_QPS_ERR, "to RTS");
	return false;
}

/* From RESET to where it is to be. */
static void bring_up(const struct victim_qp *q)
{
	struct ibv_qp_attr err = {.qp_state = IBV_QPS_ERR};

	if (q->state == IBV_QPS_RESET)
		return;
	to_init(q);
	if (q->state == IBV_QPS_ERR)
		must(ibv_modify_qp(q->qp, &err, IBV_QP_STATE) == 0, "to ERR");
	if (q->state == IBV_QPS_RTR || q->state == IBV_QPS_RTS)
		to_rtr(q);
	if (q->state == IBV_QPS_RTS && to_rts(q) && q->type == IBV_QPT_RC)
		post_sends(q); /* the ACK timer is off: they wait */
}

static void make_qp(struct victim_qp *q)
{
	struct ibv_qp_init_attr init = {.qp_type = q->type, .cap = {8, RECVS_EACH, 1, 1, 0}};

	q->cq = ibv_create_cq(v.ctx, 256, NULL, NULL, 0);
	init.send_cq = init.recv_cq = q->cq;
	q->qp = q->cq != NULL ? ibv_create_qp(v.pd, &init) : NULL;
	must(q->qp != NULL, "ibv_create_qp");
	bring_up(q);
}

/* A window of type 1 over the middle of its region, bound by a queue pair that is for nothing else. */
static void make_window(void)
{
	struct victim_qp binder = {"binder", IBV_QPT_RC, IBV_QPS_INIT, NULL, NULL};
	struct ibv_mw_bind bind = {
		.send_flags = IBV_SEND_SIGNALED,
		.bind_info = {v.mr[WINDOW], (uintptr_t)v.mem[WINDOW] + REGION / 4, HALF, IBV_ACCESS_REMOTE_WRITE}};
	struct ibv_wc wc = {0};
	int n = 0;

	must((v.mw = ibv_alloc_mw(v.pd, IBV_MW_TYPE_1)) != NULL, "ibv_alloc_mw");
	make_qp(&binder);
	to_rtr(&binder);
	must(to_rts(&binder), "to RTS");
	must(ibv_bind_mw(binder.qp, v.mw, &bind) == 0, "ibv_bind_mw");
	for (int i = 0; i < 1000 && n == 0; i++, usleep(1000))
		n = ibv_poll_cq(binder.cq, 1, &wc);
	must(n == 1 && wc.status == IBV_WC_SUCCESS, "the bind");
	must(ibv_destroy_qp(binder.qp) == 0 && ibv_destroy_cq(binder.cq) == 0, "ibv_destroy_qp");
}

void victim_make(struct ibv_context *ctx, const union ibv_gid *peer, FILE *targets)
{
	v.ctx = ctx;
	v.peer = *peer;
	v.pd = ibv_alloc_pd(ctx);
	v.other_pd = ibv_alloc_pd(ctx);
	must(v.pd != NULL && v.other_pd != NULL, "ibv_alloc_pd");
	must(fcntl(ctx->async_fd, F_SETFL, O_NONBLOCK) == 0, "fcntl");
	make_regions();
	make_window();
	for (int r = 0; r < REGIONS; r++)
		fprintf(targets, "key %s %u %llu %u\n", regions[r].name, v.mr[r]->rkey,
			(unsigned long long)(uintptr_t)v.mem[r], REGION);
	fprintf(targets, "key mw %u %llu %u\n", v.mw->rkey, (unsigned long long)(uintptr_t)v.mem[WINDOW] + REGION / 4,
		HALF);
	must(ibv_dereg_mr(v.mr[STALE]) == 0 && mprotect(v.mem[STALE], REGION, PROT_NONE) == 0,
	     "ibv_dereg_mr, mprotect");
	for (v.n = 0; v.n < sizeof(kinds) / sizeof(kinds[0]); v.n++) {
		struct victim_qp *q = &v.qp[v.n];

		*q = kinds[v.n];
		make_qp(q);
		fprintf(targets, "qp %s %u %u %u %u\n", q->kind, q->qp->qp_num, RQ_PSN, SQ_PSN, QKEY);
	}
}

/* ---- while it is attacked ---- */

static void take_events(void)
{
	struct ibv_async_event e;

	while (ibv_get_async_event(v.ctx, &e) == 0) {
		v.events++;
		ibv_ack_async_event(&e);
	}
}

static void revive(const struct victim_qp *q)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_RESET};

	must(ibv_modify_qp(q->qp, &a, IBV_QP_STATE) == 0, "to RESET");
	bring_up(q);
	v.revived++;
}

static void tend_qp(const struct victim_qp *q)
{
	enum ibv_qp_state state = state_of(q);
	struct ibv_wc wc;

	while (ibv_poll_cq(q->cq, 1, &wc) == 1) {
		if (q->kind[0] == 'f')
			soak_wrong(NULL, "victim: a connected queue pair takes packets from others than its peer");
		if (wc.status != IBV_WC_SUCCESS) {
			v.failed++;
		} else if (wc.wr_id < RECVS_EACH) {
			v.received++;
			if (state == IBV_QPS_RTR || state == IBV_QPS_RTS)
				post_recv(q, wc.wr_id);
		} else {
			v.completed++;
		}
	}
	if ((q->kind[0] == 'q' || q->kind[0] == 'f') && state != q->state)
		soak_wrong(NULL, "victim: a queue pair in state %d is in state %d now", q->state, state);
	/* Now and then whatever its state: forged acknowledges use up the requests, and PSNs have gone on. */
	if (q->kind[0] != 'q' && q->kind[0] != 'f' && (state != q->state || soak_now() / 50000000u % 8 == 0))
		revive(q);
}

void victim_tend(void)
{
	uint64_t now = soak_now();

	if (now - v.looked_at < 2000000)
		return;
	v.looked_at = now;
	take_events();
	for (unsigned i = 0; i < v.n; i++)
		tend_qp(&v.qp[i]);
	check_memory();
}

void victim_end(void)
{
	uint64_t got = v.received, done = v.completed, events = v.events;

	check_memory();
	printf("victim: %llu messages taken, %llu forged answers believed, %llu connections made anew, %llu events\n",
	       (unsigned long long)got, (unsigned long long)done, (unsigned long long)v.revived,
	       (unsigned long long)events);
	if (got == 0 || done == 0 || v.revived == 0 || events == 0 || v.writes == 0)
		soak_wrong(NULL, "victim: nothing hostile has got through to the queue pairs: the test shows nothing");
	for (unsigned i = 0; i < v.n; i++)
		must(ibv_destroy_qp(v.qp[i].qp) == 0 && ibv_destroy_cq(v.qp[i].cq) == 0, "ibv_destroy_qp");
	must(ibv_dealloc_mw(v.mw) == 0, "ibv_dealloc_mw");
	for (int r = 0; r < REGIONS; r++)
		must(r == STALE || ibv_dereg_mr(v.mr[r]) == 0, "ibv_dereg_mr");
	must(ibv_dealloc_pd(v.pd) == 0 && ibv_dealloc_pd(v.other_pd) == 0, "ibv_dealloc_pd");
}
