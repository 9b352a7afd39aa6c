/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_alloc.c - memory runs out: whichever allocation fails, the call says VS_ERR_NOSPACE, changes nothing (the same
 * call succeeds once there is memory again) and nothing leaks. And pd_destroy: a domain stays while it is used.
 */
#include <stdlib.h>
#include <string.h>

#include "rig.h"

/* An allocator that fails once, at allocation number `fail_at`. */
struct heap {
	unsigned count, fail_at, blocks;
	uint64_t bytes;
	bool failed;
};

static void *heap_alloc(void *ctx, size_t size)
{
	struct heap *h = ctx;

	if (h->count++ == h->fail_at) {
		h->failed = true;
		return NULL;
	}
	h->blocks++;
	h->bytes += size;
	return calloc(1, size);
}

static void heap_free(void *ctx, void *p, size_t size)
{
	struct heap *h = ctx;

	h->blocks--;
	h->bytes -= size;
	free(p);
}

/* Everything that a device can be asked to make. */
struct world {
	struct heap *heap;
	struct vs_dev *dev;
	struct vs_pd *pd;
	struct vs_cq *cq;
	struct vs_srq *srq;
	struct vs_mr *mr;
	struct vs_mw *mw;
	struct vs_ah *ah;
	struct vs_qp *qp, *srq_qp, *ud;
	struct vs_listener *listener;
	struct vs_conn *conn;
	int err;
};

static struct vs_qp_init qp_init(const struct world *w, enum vs_qp_type type)
{
	return (struct vs_qp_init){.type = type, .send_cq = w->cq, .recv_cq = w->cq, .cap = {7, 5, 2, 3, 100}};
}

static bool make_dev(struct world *w)
{
	struct vs_dev_attr a = {
		.name = "dut",
		.allocator = {heap_alloc, heap_free, w->heap},
		.dma = vs_dma_host,
		.gids = {{.gid = {[10] = 0xff, [11] = 0xff, [12] = 10, [15] = 1}, .type = VS_GID_ROCEV2}},
		.pkeys = {0xffff},
		.max_mcast_grp = 3,
		.max_qp = 8};

	w->dev = vs_dev_create(&a, &w->err);
	return w->dev != NULL;
}

static bool make_pd(struct world *w)
{
	w->pd = vs_pd_create(w->dev, &w->err);
	return w->pd != NULL;
}

static bool make_cq(struct world *w)
{
	w->cq = vs_cq_create(w->dev, 10, 0, &w->err);
	return w->cq != NULL;
}

static bool resize_cq(struct world *w)
{
	w->err = vs_cq_resize(w->cq, 100);
	ck_assert_uint_eq(vs_cq_capacity(w->cq), w->err == VS_OK ? 100 : 10);
	return w->err == VS_OK;
}

static bool make_srq(struct world *w)
{
	const struct vs_srq_attr a = {10, 2, 0};

	w->srq = vs_srq_create(w->pd, &a, 0, &w->err);
	return w->srq != NULL;
}

static bool resize_srq(struct world *w)
{
	const struct vs_srq_attr a = {20, 0, 5};
	struct vs_srq_attr now;

	w->err = vs_srq_modify(w->srq, &a, VS_SRQ_MAX_WR | VS_SRQ_LIMIT);
	vs_srq_query(w->srq, &now);
	ck_assert_uint_eq(now.max_wr, w->err == VS_OK ? 20 : 10);
	ck_assert_uint_eq(now.srq_limit, w->err == VS_OK ? 5 : 0);
	return w->err == VS_OK;
}

static bool make_mr(struct world *w)
{
	static uint8_t mem[64];
	const struct vs_mr_attr a = {(uintptr_t)mem, sizeof(mem), (uintptr_t)mem, 0};

	w->mr = vs_mr_reg(w->pd, &a, &w->err);
	return w->mr != NULL;
}

static bool make_mw(struct world *w)
{
	w->mw = vs_mw_alloc(w->pd, VS_MW_TYPE_2, &w->err);
	return w->mw != NULL;
}

static struct vs_av path(void)
{
	return (struct vs_av){.is_global = true,
			      .dgid = {[10] = 0xff, [11] = 0xff, [12] = 10, [15] = 2},
			      .port = 1,
			      .dmac = {2, 0, 0, 0, 0, 2}};
}

static bool make_ah(struct world *w)
{
	const struct vs_av av = path();

	w->ah = vs_ah_create(w->pd, &av, &w->err);
	return w->ah != NULL;
}

static bool make_qp(struct world *w)
{
	const struct vs_qp_init init = qp_init(w, VS_QPT_RC);

	w->qp = vs_qp_create(w->pd, &init, &w->err);
	return w->qp != NULL;
}

static bool make_srq_qp(struct world *w)
{
	struct vs_qp_init init = qp_init(w, VS_QPT_RC);

	init.srq = w->srq;
	w->srq_qp = vs_qp_create(w->pd, &init, &w->err);
	return w->srq_qp != NULL;
}

static bool make_ud(struct world *w)
{
	const struct vs_qp_init init = qp_init(w, VS_QPT_UD);

	w->ud = vs_qp_create(w->pd, &init, &w->err);
	return w->ud != NULL;
}

static bool listen_to(struct world *w)
{
	w->listener = vs_listen(w->dev, 0x1060000, 0, &w->err);
	return w->listener != NULL;
}

static bool connect_to(struct world *w)
{
	const struct vs_conn_param p = {.service_id = 0x1060001,
					.path = path(),
					.path_mtu = VS_MTU_1024,
					.qpn = vs_qp_num(w->qp),
					.retry_count = 7,
					.rnr_retry = 7,
					.local_ack_timeout = 14,
					.cm_response_timeout = 14,
					.max_cm_retries = 3};

	w->conn = vs_connect(w->dev, &p, 0, &w->err);
	return w->conn != NULL;
}

static bool (*const steps[])(struct world *w) = {
	make_dev, make_pd, make_cq, resize_cq,   make_srq, resize_srq, make_mr,
	make_mw,  make_ah, make_qp, make_srq_qp, make_ud,  listen_to,  connect_to,
};
#define STEPS (sizeof(steps) / sizeof(steps[0]))

/* False: the script has fewer allocations than that. */
static bool run(unsigned fail_at)
{
	struct heap heap = {.fail_at = fail_at};
	struct world w = {.heap = &heap};
	unsigned i;

	for (i = 0; i < STEPS; i++) {
		bool before = heap.failed;
		unsigned blocks = heap.blocks;

		w.err = VS_ERR_IO; /* nobody says so */
		if (steps[i](&w)) {
			ck_assert_int_eq(w.err, VS_OK);
			continue;
		}
		/* The first of the two possible ends of this call: no memory, and no trace of the attempt. */
		ck_assert_msg(heap.failed && !before, "step %u fails without need (%s)", i, vs_err_name(w.err));
		ck_assert_int_eq(w.err, VS_ERR_NOSPACE);
		if (steps[i] != listen_to && steps[i] != connect_to) /* what a pool got, it keeps */
			ck_assert_uint_le(heap.blocks, blocks + 1);  /* room for timers may stay */
		ck_assert_msg(steps[i](&w), "step %u does not recover: %s", i, vs_err_name(w.err));
		ck_assert_int_eq(w.err, VS_OK);
	}
	vs_dev_destroy(w.dev);
	ck_assert_uint_eq(heap.blocks, 0);
	ck_assert_uint_eq(heap.bytes, 0);
	return heap.failed;
}

START_TEST(whichever_allocation_fails_the_call_changes_nothing)
{
	unsigned n = 0;

	while (run(n))
		n++;
	ck_assert_uint_gt(n, 30); /* each object has at least one */
}
END_TEST

START_TEST(a_device_without_a_good_allocator_or_memory_access_is_not_made)
{
	struct heap heap = {.fail_at = UINT32_MAX};
	struct vs_dev_attr good = {.allocator = {heap_alloc, heap_free, &heap}, .dma = vs_dma_host}, a = good;
	int err = VS_OK;

	if (_i == 0)
		a.allocator.alloc = NULL;
	else if (_i == 1)
		a.allocator.free = NULL;
	else if (_i == 2)
		a.dma.read = NULL;
	else if (_i == 3)
		a.dma.write = NULL;
	else if (_i == 4)
		a.dma.fetch_add = NULL;
	else if (_i == 5)
		a.dma.cmp_swap = NULL;
	else
		a.dma.write8 = NULL;
	ck_assert_ptr_null(vs_dev_create(&a, &err));
	ck_assert_int_eq(err, VS_ERR_INVAL);
	ck_assert_uint_eq(heap.blocks, 0);
	vs_dev_destroy(NULL); /* nothing */
}
END_TEST

START_TEST(a_domain_stays_while_something_belongs_to_it)
{
	struct heap heap = {.fail_at = UINT32_MAX};
	struct world w = {.heap = &heap};
	unsigned i;

	for (i = 0; i < STEPS; i++)
		ck_assert(steps[i](&w));
	for (i = 0; i < 7; i++) {
		int rc = 0;

		ck_assert_int_eq(vs_pd_destroy(w.pd), VS_ERR_BUSY);
		ck_assert_int_eq(vs_dev_refusal(w.dev), VS_REASON_IN_USE);
		switch (i) {
		case 0:
			rc = vs_qp_destroy(w.qp);
			break;
		case 1:
			rc = vs_qp_destroy(w.srq_qp);
			break;
		case 2:
			rc = vs_qp_destroy(w.ud);
			break;
		case 3:
			rc = vs_srq_destroy(w.srq);
			break;
		case 4:
			rc = vs_mw_dealloc(w.mw);
			break;
		case 5:
			rc = vs_mr_dereg(w.mr);
			break;
		default:
			rc = vs_ah_destroy(w.ah);
			break;
		}
		ck_assert_int_eq(rc, VS_OK);
	}
	ck_assert_int_eq(vs_pd_destroy(w.pd), VS_OK);
	ck_assert_int_eq(vs_cq_destroy(w.cq), VS_OK);
	vs_dev_destroy(w.dev);
	ck_assert_uint_eq(heap.blocks, 0);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("alloc");
	TCase *tc = tcase_create("memory");

	tcase_add_test(tc, whichever_allocation_fails_the_call_changes_nothing);
	tcase_add_loop_test(tc, a_device_without_a_good_allocator_or_memory_access_is_not_made, 0, 7);
	tcase_add_test(tc, a_domain_stays_while_something_belongs_to_it);
	suite_add_tcase(s, tc);
	return s;
}
