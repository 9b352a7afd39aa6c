/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_sim_devices.c - devices on the simulated wire: time, causes, the same trace from the same seed; and what the
 * soak found, each as a small case.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "runner.h"
#include "vs/sim.h"
#include "vs/vst.h"

/* ---- devices on the wire ---- */

struct side {
	struct vs_dev *dev;
	struct vs_pd *pd;
	struct vs_cq *cq;
	struct vs_qp *qp;
	struct vs_mr *mr;
	uint64_t mem[1024];
};

struct duo {
	struct vs_sim *sim;
	struct vs_event_log log;
	int host[2];
	struct side side[2];
};

static void side_make(struct duo *d, int i, uint32_t depth)
{
	struct side *s = &d->side[i];
	struct vs_qp_init in = {.type = VS_QPT_RC, .cap = {depth, depth, 1, 1, 0}};
	struct vs_mr_attr m = {
		.addr = (uintptr_t)s->mem, .length = sizeof(s->mem), .iova = (uintptr_t)s->mem, .access = 15};
	int err;

	s->dev = vs_sim_dev(d->sim, d->host[i]);
	s->pd = vs_pd_create(s->dev, &err);
	in.send_cq = in.recv_cq = s->cq = vs_cq_create(s->dev, 64, 0, &err);
	s->qp = vs_qp_create(s->pd, &in, &err);
	s->mr = vs_mr_reg(s->pd, &m, &err);
	ck_assert(s->qp != NULL && s->mr != NULL);
}

static void side_connect(struct duo *d, int i)
{
	struct vs_qp_attr a = {.state = VS_QPS_INIT, .port_num = 1, .access_flags = 15};
	struct side *s = &d->side[i];

	ck_assert_int_eq(vs_qp_modify(s->qp, &a, VS_QP_STATE | VS_QP_PORT | VS_QP_PKEY_INDEX | VS_QP_ACCESS_FLAGS), 0);
	a.state = VS_QPS_RTR;
	a.path_mtu = VS_MTU_1024;
	a.dest_qpn = vs_qp_num(d->side[!i].qp);
	a.rq_psn = 0xfffffe;
	a.max_dest_rd_atomic = 3;
	a.min_rnr_timer = 1;
	ck_assert_int_eq(vs_sim_av(d->sim, d->host[!i], 0, &a.av), VS_OK);
	ck_assert_int_eq(vs_qp_modify(s->qp, &a,
				      VS_QP_STATE | VS_QP_AV | VS_QP_PATH_MTU | VS_QP_DEST_QPN | VS_QP_RQ_PSN |
					      VS_QP_MAX_DEST_RD_ATOMIC | VS_QP_MIN_RNR_TIMER),
			 0);
	a.state = VS_QPS_RTS;
	a.sq_psn = 0xfffffe;
	a.timeout = 20; /* 4.3 s */
	a.retry_cnt = 7;
	a.rnr_retry = 7;
	a.max_rd_atomic = 3;
	ck_assert_int_eq(vs_qp_modify(s->qp, &a,
				      VS_QP_STATE | VS_QP_SQ_PSN | VS_QP_TIMEOUT | VS_QP_RETRY_CNT | VS_QP_RNR_RETRY |
					      VS_QP_MAX_QP_RD_ATOMIC),
			 0);
}

static struct duo *duo_new_depth(const struct vs_dev_attr *attr, const struct vs_sim_link *link, uint32_t depth)
{
	struct duo *d = calloc(1, sizeof(*d));
	struct vs_sim_attr a = {.seed = 11};
	int err;

	ck_assert_ptr_nonnull(d);
	vs_event_log_init(&d->log, 0);
	a.sink = vs_event_log_sink(&d->log, VS_LEVEL_EXTRA);
	d->sim = vs_sim_create(&a, &err);
	for (int i = 0; i < 2; i++)
		d->host[i] = vs_sim_add_host(d->sim, attr);
	ck_assert_int_eq(vs_sim_connect(d->sim, d->host[0], d->host[1], link), VS_OK);
	side_make(d, 0, depth);
	side_make(d, 1, depth);
	side_connect(d, 0);
	side_connect(d, 1);
	return d;
}

static struct duo *duo_new(const struct vs_dev_attr *attr, const struct vs_sim_link *link)
{
	return duo_new_depth(attr, link, 16);
}

static void duo_free(struct duo *d)
{
	vs_sim_destroy(d->sim);
	vs_event_log_free(&d->log);
	free(d);
}

static void post(struct duo *d, enum vs_wr_opcode op, uint32_t len, uint64_t wr_id)
{
	struct side *a = &d->side[0], *b = &d->side[1];
	struct vs_sge sge = {(uintptr_t)a->mem, len, vs_mr_lkey(a->mr)};
	struct vs_send_wr wr = {.wr_id = wr_id, .opcode = op, .flags = VS_SEND_SIGNALED, .sg_list = &sge, .num_sge = 1};

	wr.rdma.remote_addr = (uintptr_t)b->mem;
	wr.rdma.rkey = vs_mr_rkey(b->mr);
	ck_assert_int_eq(vs_qp_post_send(a->qp, &wr), VS_OK);
}

static unsigned completed(struct duo *d)
{
	struct vs_wc wc;
	unsigned n = 0;

	while (vs_cq_poll(d->side[0].cq, &wc, 1) == 1) {
		ck_assert_msg(wc.status == VS_WC_SUCCESS, "%s", vs_wc_status_name(wc.status));
		n++;
	}
	return n;
}

START_TEST(a_lost_packet_costs_no_time_but_that_of_the_simulation)
{
	struct vs_dev_attr attr = {.cm_disabled = true};
	struct duo *d = duo_new(&attr, &(struct vs_sim_link){.latency_ns = 1000});
	uint64_t steps;

	ck_assert_int_ge(vs_sim_fault(d->sim, "drop 1st", NULL), 0);
	post(d, VS_WR_RDMA_WRITE, 100, 1);
	steps = vs_sim_run(d->sim, VS_NEVER);
	ck_assert_uint_eq(completed(d), 1);
	ck_assert_uint_eq(vs_sim_now(d->sim), (4096ull << 20) + 2000);
	ck_assert_uint_lt(steps, 20);
	duo_free(d);
}
END_TEST

/* The chain from a completion back to the call that asked for it: through the fault that held it up. */
START_TEST(causes_lead_from_the_completion_to_the_post)
{
	static const char *const way[] = {"cqe",      "pkt:rx",     "pkt:tx", "pkt:rx",        "pkt:tx",
					  "rc:retry", "rc:timeout", "pkt:tx", "verb:post_send"};
	struct vs_dev_attr attr = {.cm_disabled = true};
	struct duo *d = duo_new(&attr, &(struct vs_sim_link){.latency_ns = 1000});
	uint64_t seq = 0;

	ck_assert_int_ge(vs_sim_fault(d->sim, "drop 1st", NULL), 0);
	post(d, VS_WR_RDMA_WRITE, 100, 1);
	vs_sim_run(d->sim, VS_NEVER);
	for (size_t i = 0; i < d->log.n; i++)
		if (d->log.ev[i].type == VS_EV_CQE)
			seq = d->log.ev[i].seq;
	for (size_t i = 0; i < sizeof(way) / sizeof(way[0]); i++) {
		const struct vs_event *ev;

		ck_assert_uint_ne(seq, 0);
		ev = &d->log.ev[seq - 1];
		ck_assert_str_eq(vs_event_info((enum vs_event_type)ev->type)->name, way[i]);
		seq = ev->cause;
	}
	ck_assert_uint_eq(seq, 0);
	duo_free(d);
}
END_TEST

/* Found by the soak: the READ had its PSN and waited for its pace, the acknowledge passed over it. */
START_TEST(a_read_that_waits_for_its_pace_is_sent_when_all_before_it_is_acknowledged)
{
	struct vs_dev_attr attr = {.cm_disabled = true,
				   .cc = {.enabled = true,
					  .ecn = 2,
					  .link_rate_bps = 1000000000,
					  .rate_timer_ns = 1000000000,
					  .alpha_timer_ns = 1000000000,
					  .min_rate_bps = 1000000}};
	struct duo *d = duo_new(&attr, &(struct vs_sim_link){.latency_ns = 10});

	ck_assert_int_ge(vs_sim_fault(d->sim, "mark first 5 data", NULL), 0);
	for (unsigned i = 0; i < 5; i++) {
		post(d, VS_WR_RDMA_WRITE, 1000, i);
		vs_sim_run(d->sim, vs_sim_now(d->sim) + 1000000);
	}
	ck_assert_uint_eq(completed(d), 5);
	post(d, VS_WR_RDMA_WRITE, 1000, 5);
	post(d, VS_WR_RDMA_READ, 1000, 6);
	vs_sim_run(d->sim, vs_sim_now(d->sim) + 1000000);
	ck_assert_uint_eq(completed(d), 2);
	duo_free(d);
}
END_TEST

/* Found by the soak under UBSan. */
START_TEST(nothing_can_be_sent_inline_without_room_for_inline_data)
{
	struct vs_dev_attr attr = {.cm_disabled = true};
	struct duo *d = duo_new(&attr, &(struct vs_sim_link){.latency_ns = 10});
	struct vs_recv_wr recv = {.wr_id = 1};
	struct vs_send_wr send = {.opcode = VS_WR_SEND, .flags = VS_SEND_SIGNALED | VS_SEND_INLINE};
	struct vs_wc wc;

	ck_assert_int_eq(vs_qp_post_recv(d->side[1].qp, &recv), VS_OK);
	ck_assert_int_eq(vs_qp_post_send(d->side[0].qp, &send), VS_OK);
	vs_sim_run(d->sim, VS_NEVER);
	ck_assert_uint_eq(completed(d), 1);
	ck_assert_int_eq(vs_cq_poll(d->side[1].cq, &wc, 1), 1);
	ck_assert_uint_eq(wc.byte_len, 0);
	duo_free(d);
}
END_TEST

/* Every third request is an atomic, the others are SENDs into receives of their own, whose bytes are their number. */
static void post_numbered(struct duo *d, uint64_t wr)
{
	struct side *a = &d->side[0], *b = &d->side[1];
	struct vs_sge sge = {(uintptr_t)&b->mem[8 + wr], 8, vs_mr_lkey(b->mr)};
	struct vs_recv_wr recv = {.wr_id = wr, .sg_list = &sge, .num_sge = 1};
	struct vs_send_wr send = {.wr_id = wr, .opcode = VS_WR_SEND, .flags = VS_SEND_SIGNALED, .num_sge = 1};

	if (wr % 3 == 0) {
		post(d, VS_WR_ATOMIC_FETCH_AND_ADD, 8, wr);
		return;
	}
	ck_assert_int_eq(vs_qp_post_recv(b->qp, &recv), VS_OK);
	a->mem[8 + wr] = wr;
	sge = (struct vs_sge){(uintptr_t)&a->mem[8 + wr], 8, vs_mr_lkey(a->mr)};
	send.sg_list = &sge;
	ck_assert_int_eq(vs_qp_post_send(a->qp, &send), VS_OK);
}

static void require_numbered(struct duo *d, uint64_t wr)
{
	struct vs_wc wc;

	if (wr % 3 == 0)
		return;
	ck_assert_int_eq(vs_cq_poll(d->side[1].cq, &wc, 1), 1);
	ck_assert_int_eq(wc.status, VS_WC_SUCCESS);
	ck_assert_uint_eq(wc.wr_id, wr);
	ck_assert_uint_eq(d->side[1].mem[8 + wr], wr);
}

/* Four billion requests later: every ring goes on across 2^32, whatever its size. */
START_TEST(queues_of_any_size_go_on_when_their_indices_wrap)
{
	struct vs_dev_attr attr = {.cm_disabled = true, .max_rd_atomic = 3};

	for (uint32_t depth = 1; depth <= 7; depth++) {
		struct duo *d = duo_new_depth(&attr, &(struct vs_sim_link){.latency_ns = 10}, depth);

		for (int i = 0; i < 2; i++) {
			struct vs_qp *qp = d->side[i].qp;

			qp->sq.head = qp->sq.tail = qp->sq.send = UINT32_MAX - 5;
			qp->rq.head = qp->rq.tail = UINT32_MAX - 5;
			qp->resp.rres_head = qp->resp.rres_tail = UINT32_MAX - 5;
			d->side[i].cq->head = d->side[i].cq->tail = UINT32_MAX - 5;
		}
		for (uint64_t round = 0; round < 10; round++) {
			for (uint64_t i = 0; i < depth; i++)
				post_numbered(d, round * depth + i);
			vs_sim_run(d->sim, vs_sim_now(d->sim) + 100000);
			ck_assert_uint_eq(completed(d), depth);
			for (uint64_t i = 0; i < depth; i++)
				require_numbered(d, round * depth + i);
		}
		duo_free(d);
	}
}
END_TEST

static char *trace_of(uint64_t seed)
{
	struct vs_dev_attr attr = {.cm_disabled = true, .seed = seed};
	struct duo *d = duo_new(&attr, &(struct vs_sim_link){.latency_ns = 1000, .rate_bps = 10000000000ull});
	struct vs_vst_header h = {.clock = "sim", .build = "test"};
	char *text = NULL;
	size_t len;
	FILE *f;

	ck_assert_int_ge(vs_sim_fault(d->sim, "drop 20%", NULL), 0);
	for (unsigned i = 0; i < 16; i++)
		post(d, i % 2 ? VS_WR_RDMA_READ : VS_WR_RDMA_WRITE, 8000, i);
	vs_sim_run(d->sim, VS_NEVER);
	for (size_t i = 0; i < d->log.n; i++) /* addresses of this process are no business of the seed */
		if (d->log.ev[i].type != VS_EV_PKT_TX && d->log.ev[i].type != VS_EV_PKT_RX)
			memset(d->log.ev[i].a, 0, sizeof(d->log.ev[i].a));
	f = open_memstream(&text, &len);
	ck_assert_int_eq(vs_event_log_write(&d->log, &h, f), VS_OK);
	fclose(f);
	duo_free(d);
	return text;
}

START_TEST(the_same_seed_gives_the_same_trace)
{
	char *a = trace_of(3), *b = trace_of(3), *c = trace_of(4);

	ck_assert_uint_gt(strlen(a), 10000);
	ck_assert_str_eq(a, b);
	ck_assert_str_ne(a, c);
	free(a);
	free(b);
	free(c);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("sim_devices");
	TCase *tc = tcase_create("sim_devices");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_lost_packet_costs_no_time_but_that_of_the_simulation);
	tcase_add_test(tc, causes_lead_from_the_completion_to_the_post);
	tcase_add_test(tc, a_read_that_waits_for_its_pace_is_sent_when_all_before_it_is_acknowledged);
	tcase_add_test(tc, nothing_can_be_sent_inline_without_room_for_inline_data);
	tcase_add_test(tc, queues_of_any_size_go_on_when_their_indices_wrap);
	tcase_add_test(tc, the_same_seed_gives_the_same_trace);
	suite_add_tcase(s, tc);
	return s;
}
