/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_core_dev.c - the device itself: what it takes and what it fills in, time, turns, events and counters.
 */
#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "qps.h"

/* ---- attributes ---- */

static struct vs_dev_attr plain(void)
{
	struct vs_dev_attr a = {0};

	a.allocator = (struct vs_allocator){.alloc = NULL};
	a.dma = vs_dma_host;
	return a;
}

static void *any_alloc(void *ctx, size_t size)
{
	++*(int *)ctx;
	return calloc(1, size);
}

static void any_free(void *ctx, void *p, size_t size)
{
	(void)size;
	--*(int *)ctx;
	free(p);
}

START_TEST(what_is_0_gets_its_default)
{
	struct vs_dev_attr a = plain();
	const struct vs_dev_attr *d;
	struct vs_dev *dev;
	int blocks = 0, err = 77;

	a.allocator = (struct vs_allocator){any_alloc, any_free, &blocks};
	dev = vs_dev_create(&a, &err);
	ck_assert_ptr_nonnull(dev);
	ck_assert_int_eq(err, VS_OK);
	d = vs_dev_attr(dev);
	ck_assert(d->max_qp == 1024 && d->max_cq == 1024);
	ck_assert(d->max_mr == 4096 && d->max_mw == 4096);
	ck_assert(d->max_srq == 256 && d->max_ah == 4096 && d->max_pd == 256);
	ck_assert(d->max_qp_wr == 16384 && d->max_srq_wr == 16384);
	ck_assert(d->max_cqe == 65536 && d->max_sge == 16 && d->max_inline == 512 && d->max_rd_atomic == 16);
	ck_assert(d->max_mcast_grp == 64 && d->max_mcast_qp_attach == 32);
	ck_assert(d->ack_every == 16 && d->rc_window == 1024 && d->active_mtu == VS_MTU_4096);
	ck_assert_str_eq(d->name, "");
	ck_assert_uint_eq(vs_dev_deadline(dev), VS_NEVER);
	ck_assert(!vs_dev_has_output(dev));
	ck_assert_int_eq(vs_dev_refusal(dev), VS_REASON_NONE);
	vs_dev_destroy(dev);
	ck_assert_int_eq(blocks, 0);
	vs_dev_destroy(NULL);
}
END_TEST

START_TEST(what_is_not_0_is_kept)
{
	struct rig_opt o = {.stay_in_reset = true};
	const struct vs_dev_attr *d;
	struct rig *r;

	o.dev.max_qp = 3;
	o.dev.max_cq = 4;
	o.dev.max_mr = 5;
	o.dev.max_mw = 6;
	o.dev.max_srq = 7;
	o.dev.max_ah = 8;
	o.dev.max_pd = 9;
	o.dev.max_qp_wr = 100;
	o.dev.max_srq_wr = 11;
	o.dev.max_cqe = 300;
	o.dev.max_sge = 13;
	o.dev.max_inline = 140;
	o.dev.max_rd_atomic = 15;
	o.dev.max_mcast_grp = 1;
	o.dev.max_mcast_qp_attach = 2;
	o.dev.ack_every = 17;
	o.dev.rc_window = 18;
	o.dev.active_mtu = VS_MTU_1024;
	r = rig_new(&o);
	d = vs_dev_attr(r->dev);
	ck_assert(d->max_qp == 3 && d->max_cq == 4 && d->max_mr == 5 && d->max_mw == 6 && d->max_srq == 7);
	ck_assert(d->max_ah == 8 && d->max_pd == 9 && d->max_qp_wr == 100 && d->max_srq_wr == 11);
	ck_assert(d->max_cqe == 300 && d->max_sge == 13 && d->max_inline == 140 && d->max_rd_atomic == 15);
	ck_assert(d->max_mcast_grp == 1 && d->max_mcast_qp_attach == 2 && d->ack_every == 17 && d->rc_window == 18);
	ck_assert_int_eq(d->active_mtu, VS_MTU_1024);
	ck_assert_str_eq(d->name, "dut");
	rig_free(r);
}
END_TEST

/* Attribute i at its largest, or one beyond. */
static void stretch(struct vs_dev_attr *a, int i, uint32_t more)
{
	switch (i) {
	case 0:
		a->max_qp = (1u << 20) + more;
		break;
	case 1:
		a->max_cq = (1u << 20) + more;
		break;
	case 2:
		a->max_mr = (1u << 20) + more;
		break;
	case 3:
		a->max_mw = (1u << 20) + more;
		break;
	case 4:
		a->max_qp_wr = (1u << 20) + more;
		break;
	case 5:
		a->max_srq_wr = (1u << 20) + more;
		break;
	case 6:
		a->max_cqe = (1u << 24) + more;
		break;
	case 7:
		a->max_sge = 256 + more;
		break;
	case 8:
		a->max_inline = 4096 + more;
		break;
	case 9:
		a->max_rd_atomic = (uint8_t)(128 + more);
		break;
	case 10:
		a->max_mcast_grp = 4096 + more;
		break;
	case 11:
		a->max_mcast_qp_attach = 4096 + more;
		break;
	case 12:
		a->rc_window = 0x7fffffu + more;
		break;
	case 13:
		a->ack_every = a->rc_window = 100;
		a->ack_every += more;
		break;
	case 14:
		a->active_mtu = (enum vs_mtu)(VS_MTU_4096 + more);
		break;
	default:
		a->cc.ecn = (uint8_t)(2 + more);
		break;
	}
}

START_TEST(attributes_have_limits)
{
	struct vs_dev_attr a = plain();
	bool beyond = _i % 2;
	struct vs_dev *dev;
	int blocks = 0, err = 77;

	a.allocator = (struct vs_allocator){any_alloc, any_free, &blocks};
	stretch(&a, _i / 2, beyond);
	dev = vs_dev_create(&a, &err);
	ck_assert(beyond == (dev == NULL));
	ck_assert_int_eq(err, beyond ? VS_ERR_INVAL : VS_OK);
	vs_dev_destroy(dev);
	ck_assert_int_eq(blocks, 0);
}
END_TEST

START_TEST(a_name_is_copied_and_cut)
{
	static const char *const given[] = {"A", "fifteen letters", "sixteen letters!", "far more letters than fit"};
	static const char *const kept[] = {"A", "fifteen letters", "sixteen letters", "far more letter"};
	struct vs_dev_attr a = plain();
	char name[32];
	struct vs_dev *dev;
	int blocks = 0, err;

	strcpy(name, given[_i]);
	a.name = name;
	a.allocator = (struct vs_allocator){any_alloc, any_free, &blocks};
	dev = vs_dev_create(&a, &err);
	memset(name, 'x', 5);
	ck_assert_str_eq(vs_dev_attr(dev)->name, kept[_i]);
	vs_dev_destroy(dev);
}
END_TEST

/* ---- time ---- */

START_TEST(time_never_runs_backwards)
{
	struct rig *r = rig_new(NULL);
	struct vs_pkt_meta meta;
	uint8_t buf[VS_FRAME_MAX];

	vs_dev_set_now(r->dev, 5000);
	vs_dev_set_now(r->dev, 4000);
	ck_assert_uint_eq(r->dev->now_ns, 5000);
	vs_dev_input(r->dev, VS_LINK_ETHERNET, buf, 0, NULL, 4999);
	vs_dev_output(r->dev, buf, sizeof(buf), &meta, 1);
	vs_dev_expire(r->dev, 0);
	ck_assert_uint_eq(r->dev->now_ns, 5000);
	vs_dev_input(r->dev, VS_LINK_ETHERNET, buf, 0, NULL, 6000);
	ck_assert_uint_eq(r->dev->now_ns, 6000);
	vs_dev_output(r->dev, buf, sizeof(buf), &meta, 7000);
	ck_assert_uint_eq(r->dev->now_ns, 7000);
	vs_dev_expire(r->dev, 8000);
	ck_assert_uint_eq(r->dev->now_ns, 8000);
	rig_free(r);
}
END_TEST

/* The time of an event is the time of the call that it came from. */
START_TEST(events_carry_time_and_name)
{
	struct rig *r = rig_new(NULL);
	const struct vs_event *ev;

	vs_dev_set_now(r->dev, 123456);
	ck_assert_int_eq(rig_modify(r->qp, &(struct vs_qp_attr){.state = VS_QPS_RESET}, VS_QP_STATE), VS_OK);
	ev = &r->log[r->log_len - 1];
	ck_assert_uint_eq(ev->t_ns, 123456);
	ck_assert_str_eq(ev->node, "dut");
	ck_assert_uint_eq(ev->qpn, vs_qp_num(r->qp));
	ck_assert(!ev->has_wr && ev->wr_id == 0 && ev->pkt_id == 0 && !ev->inferred);
	rig_free(r);
}
END_TEST

/* ---- turns ---- */

static struct vs_qp *second_qp(struct rig *r)
{
	struct vs_qp_init init = {.type = VS_QPT_RC, .send_cq = r->scq, .recv_cq = r->rcq, .cap = {16, 16, 1, 1, 0}};
	struct vs_qp *qp = rig_qp(r, &init);
	struct vs_qp_attr a = rig_attr(r);

	a.dest_qpn = RIG_PEER_QPN + 1;
	a.state = VS_QPS_INIT;
	ck_assert_int_eq(vs_qp_modify(qp, &a, VS_QP_STATE | INIT_RC), VS_OK);
	a.state = VS_QPS_RTR;
	ck_assert_int_eq(vs_qp_modify(qp, &a, VS_QP_STATE | RTR_RC), VS_OK);
	a.state = VS_QPS_RTS;
	ck_assert_int_eq(vs_qp_modify(qp, &a, VS_QP_STATE | RTS_RC), VS_OK);
	return qp;
}

START_TEST(qps_take_turns_packet_by_packet)
{
	struct rig *r = rig_new(NULL);
	struct vs_qp *two = second_qp(r);
	struct vs_sge sge;
	struct vs_send_wr wr = rig_wr(r, VS_WR_SEND, 1, &sge, 0, 3000);
	struct vs_pkt p;
	unsigned i;

	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	ck_assert_int_eq(vs_qp_post_send(two, &wr), VS_OK);
	for (i = 0; i < 6; i++) {
		ck_assert(vs_dev_has_output(r->dev));
		ck_assert(rig_out(r, &p));
		ck_assert_uint_eq(p.bth.destqp, RIG_PEER_QPN + i % 2);
	}
	rig_expect_silence(r);
	ck_assert(!vs_dev_has_output(r->dev));
	rig_free(r);
}
END_TEST

/* No room at one host; how often that was asked is counted. */
struct full_host {
	uint8_t last; /* byte of its GID */
	unsigned asked;
};

static bool has_room(void *ctx, const uint8_t dgid[16])
{
	struct full_host *f = ctx;

	f->asked++;
	return dgid[15] != f->last;
}

/* The first QP sends to host 2, the second to host 3; one of the hosts is full. Requests and answers wait. */
START_TEST(who_waits_for_room_does_not_hold_up_the_others)
{
	struct rig *r = rig_new(NULL);
	struct vs_qp *two = second_qp(r);
	struct full_host full = {.last = (uint8_t)(2 + _i)};
	struct vs_sge sge;
	struct vs_send_wr wr = rig_wr(r, VS_WR_SEND, 1, &sge, 0, 3000);
	struct vs_pkt p;

	two->attr.av.dgid[15] = 3;
	r->dev->attr.has_room = has_room;
	r->dev->attr.has_room_ctx = &full;
	rig_in_send(r, VS_OP_RC_SEND_ONLY, RIG_PEER_PSN, 4); /* an RNR NAK is due */
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	ck_assert_int_eq(vs_qp_post_send(two, &wr), VS_OK);
	for (unsigned i = 0; i < (_i == 0 ? 3 : 4); i++) {
		ck_assert(rig_out(r, &p));
		ck_assert_uint_eq(p.ipv4.dst[3], _i == 0 ? 3 : 2);
	}
	rig_expect_silence(r);
	ck_assert(vs_dev_waits_for_room(r->dev));
	ck_assert(!vs_dev_has_output(r->dev));
	/* Whoever wakes it meanwhile changes nothing, and nobody is asked for nothing. */
	full.asked = 0;
	ck_assert_int_eq(vs_qp_post_send(_i == 0 ? r->qp : two, &wr), VS_OK);
	rig_expect_silence(r);
	ck_assert_uint_eq(full.asked, 0);
	/* Asked again, it still has to wait; and then not any more. */
	vs_dev_resume(r->dev);
	rig_expect_silence(r);
	ck_assert_uint_eq(full.asked, 1);
	full.last = 0;
	vs_dev_resume(r->dev);
	ck_assert(!vs_dev_waits_for_room(r->dev));
	ck_assert_uint_eq(rig_drain(r), _i == 0 ? 7 : 6);
	rig_free(r);
}
END_TEST

/* A datagram waits for its own destination. */
START_TEST(a_datagram_waits_for_room_at_its_destination)
{
	struct rig_opt o = {.type = VS_QPT_UD};
	struct rig *r = rig_new(&o);
	struct full_host full = {.last = 2};
	struct vs_av av = rig_attr(r).av;
	struct vs_sge sge;
	struct vs_send_wr wr = rig_wr(r, VS_WR_SEND, 1, &sge, 0, 8);
	struct vs_pkt p;
	int err;

	wr.ud.ah = vs_ah_create(r->pd, &av, &err);
	ck_assert_ptr_nonnull(wr.ud.ah);
	r->dev->attr.has_room = has_room;
	r->dev->attr.has_room_ctx = &full;
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	rig_expect_silence(r);
	ck_assert(vs_dev_waits_for_room(r->dev));
	rig_expect_no_wc(r);
	full.last = 3;
	vs_dev_resume(r->dev);
	ck_assert(rig_out(r, &p));
	ck_assert_uint_eq(p.ipv4.dst[3], 2);
	rig_expect_silence(r);
	rig_free(r);
}
END_TEST

/* Reset or destroyed while it waits: nothing of it is left to send. */
START_TEST(who_waits_for_room_can_be_reset_and_destroyed)
{
	struct rig *r = rig_new(NULL);
	struct vs_qp *two = second_qp(r);
	struct full_host full = {.last = 2};
	struct vs_qp_attr reset = {.state = VS_QPS_RESET};
	struct vs_sge sge;
	struct vs_send_wr wr = rig_wr(r, VS_WR_SEND, 1, &sge, 0, 8);

	r->dev->attr.has_room = has_room;
	r->dev->attr.has_room_ctx = &full;
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	ck_assert_int_eq(vs_qp_post_send(two, &wr), VS_OK);
	rig_expect_silence(r);
	ck_assert_int_eq(vs_qp_modify(r->qp, &reset, VS_QP_STATE), VS_OK);
	ck_assert_int_eq(vs_qp_destroy(two), VS_OK);
	full.last = 0;
	vs_dev_resume(r->dev);
	rig_expect_silence(r);
	ck_assert(!vs_dev_waits_for_room(r->dev));
	rig_free(r);
}
END_TEST

START_TEST(answers_go_before_requests_of_the_same_qp)
{
	struct rig *r = rig_new(NULL);

	rig_post(r, VS_WR_SEND, 1, 0, 2048);
	rig_expect(r, VS_OP_RC_SEND_FIRST, RIG_DUT_PSN);
	rig_in_write(r, VS_OP_RC_WRITE_ONLY, RIG_PEER_PSN, MEM(r, 0), KEY(r), 4, 4);
	rig_expect_ack(r, RIG_PEER_PSN, 1);
	rig_expect(r, VS_OP_RC_SEND_LAST, RIG_DUT_PSN + 1);
	rig_expect_silence(r);
	rig_free(r);
}
END_TEST

START_TEST(what_goes_out_is_named_in_its_meta)
{
	struct rig *r = rig_new(NULL);
	struct vs_pkt_meta meta;
	uint64_t last = 0;
	unsigned i;

	rig_post(r, VS_WR_SEND, 1, 0, 3000);
	for (i = 0; i < 4; i++) {
		memset(&meta, 0xff, sizeof(meta));
		if (vs_dev_output(r->dev, r->frame, sizeof(r->frame), &meta, r->now) == 0)
			break;
		ck_assert_uint_eq(meta.pkt_id, last + 1); /* one after the other */
		last = meta.pkt_id;
		ck_assert_uint_eq(meta.qpn, vs_qp_num(r->qp));
		ck_assert_uint_eq(r->log[meta.cause - 1].type, VS_EV_PKT_TX);
		ck_assert_uint_eq(r->log[meta.cause - 1].pkt_id, meta.pkt_id);
	}
	ck_assert_uint_eq(i, 3);
	ck_assert(meta.pkt_id == 0 && meta.qpn == 0 && meta.cause == 0);
	ck_assert_uint_eq(rig_counter(r, VS_CNT_SENT_PKTS), 3);
	rig_free(r);
}
END_TEST

START_TEST(devices_of_one_trace_count_packets_together)
{
	uint64_t shared = 41;
	struct rig_opt o = {0};
	struct rig *r;

	o.dev.pkt_counter = &shared;
	r = rig_new(&o);
	rig_post(r, VS_WR_SEND, 1, 0, 3000);
	rig_drain(r);
	ck_assert_uint_eq(shared, 44);
	rig_free(r);
}
END_TEST

/* What a verb says after a packet is not about that packet. */
START_TEST(a_packet_stands_in_the_events_about_it_alone)
{
	struct rig *r = rig_new(NULL);
	struct vs_pkt_meta meta = {.pkt_id = 77, .cause = 3};
	struct vs_pkt p = rig_pkt(r, VS_OP_RC_WRITE_ONLY, RIG_PEER_PSN);
	uint8_t buf[VS_FRAME_MAX], scratch[VS_FRAME_MAX];
	uint32_t i, before = r->log_len;
	int n;

	ck_assert_int_eq(vs_pkt_seal(&p, VS_SEAL_ALL, scratch, sizeof(scratch)), VS_OK);
	n = vs_pkt_build(&p, buf, sizeof(buf));
	vs_dev_input(r->dev, VS_LINK_ETHERNET, buf, (size_t)n, &meta, r->now);
	ck_assert_int_eq(r->log[before].type, VS_EV_PKT_RX);
	ck_assert_uint_eq(r->log[before].cause, 3);
	for (i = before; i < r->log_len; i++)
		ck_assert_uint_eq(r->log[i].pkt_id, 77);
	before = r->log_len;
	rig_post_recv(r, 1, 0, 64);
	ck_assert_uint_eq(r->log[before].pkt_id, 0);
	ck_assert_uint_eq(r->log[before].cause, 0);
	rig_expect_ack(r, RIG_PEER_PSN, 1);
	before = r->log_len;
	rig_post_recv(r, 2, 0, 64);
	ck_assert_uint_eq(r->log[before].pkt_id, 0);
	rig_free(r);
}
END_TEST

/* ---- events ---- */

START_TEST(no_sink_no_events_and_a_level_keeps_the_finer_ones_away)
{
	struct vs_dev_attr a;
	struct rig *r = rig_new(NULL);

	a = *vs_dev_attr(r->dev);
	r->dev->attr.sink.level = (enum vs_event_level)_i;
	rig_post_recv(r, 1, 0, 64);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, RIG_PEER_PSN + 1, 8); /* a gap: rc:gap is BASE */
	rig_drain(r);
	rig_in_send(r, VS_OP_RC_SEND_ONLY, RIG_PEER_PSN, 8);
	rig_drain(r);
	rig_expect_wc(r, r->rcq, 1, VS_WC_SUCCESS);
	rig_post(r, VS_WR_SEND, 1, 0, 64);
	rig_drain(r);
	ck_assert_uint_eq(rig_count_events(r, VS_EV_PKT_RX), 2);
	ck_assert_uint_eq(rig_count_events(r, VS_EV_RC_GAP), _i >= VS_LEVEL_BASE);
	ck_assert_uint_eq(rig_count_events(r, VS_EV_VERB_POLL_CQ), _i >= VS_LEVEL_BASE);
	ck_assert_uint_eq(rig_count_events(r, VS_EV_DMA_WRITE), _i >= VS_LEVEL_EXTRA);
	ck_assert_uint_eq(rig_count_events(r, VS_EV_DMA_READ), _i >= VS_LEVEL_EXTRA);
	ck_assert_uint_eq(rig_count_events(r, VS_EV_WQE_FETCH), _i >= VS_LEVEL_EXTRA);
	ck_assert_uint_eq(rig_count_events(r, VS_EV_WQE_TAKE), _i >= VS_LEVEL_EXTRA);
	r->dev->attr.sink = a.sink;
	rig_free(r);
}
END_TEST

START_TEST(the_async_ring_keeps_1024_in_order_and_forgets_what_is_destroyed)
{
	struct rig_opt o = {.stay_in_reset = true};
	struct rig *r = rig_new(&o);
	struct vs_async a;
	int x, y;
	unsigned i;

	for (i = 0; i < 1000; i++) { /* the ring is used from its middle on */
		vs_async_push(r->dev, VS_EVENT_CQ_ERR, &x, i);
		ck_assert_int_eq(vs_dev_poll_async(r->dev, &a), 1);
	}
	for (i = 0; i < 1025; i++)
		vs_async_push(r->dev, VS_EVENT_CQ_ERR, i % 3 == 2 ? (void *)&y : (void *)&x, i);
	vs_async_forget(r->dev, &y);
	for (i = 0; i < 1024; i++) {
		if (i % 3 == 2)
			continue;
		ck_assert_int_eq(vs_dev_poll_async(r->dev, &a), 1);
		ck_assert(a.object == &x && a.cookie == i && a.type == VS_EVENT_CQ_ERR);
	}
	rig_expect_no_async(r);
	rig_free(r);
}
END_TEST

START_TEST(an_async_event_names_the_qp_it_is_about)
{
	static const enum vs_async_type of_qps[] = {VS_EVENT_QP_FATAL,      VS_EVENT_QP_REQ_ERR,
						    VS_EVENT_QP_ACCESS_ERR, VS_EVENT_COMM_EST,
						    VS_EVENT_SQ_DRAINED,    VS_EVENT_QP_LAST_WQE_REACHED};
	struct rig_opt o = {.stay_in_reset = true};
	struct rig *r = rig_new(&o);
	unsigned i;

	for (i = 0; i < COUNT(of_qps); i++) {
		vs_async_push(r->dev, of_qps[i], r->qp, 1);
		ck_assert_uint_eq(r->log[r->log_len - 1].qpn, vs_qp_num(r->qp));
		ck_assert_uint_eq(r->log[r->log_len - 1].a[0], of_qps[i]);
	}
	vs_async_push(r->dev, VS_EVENT_CQ_ERR, r->scq, 1);
	ck_assert_uint_eq(r->log[r->log_len - 1].qpn, 0);
	rig_free(r);
}
END_TEST

START_TEST(what_is_no_counter_counts_nothing)
{
	struct rig_opt o = {.stay_in_reset = true};
	struct rig *r = rig_new(&o);

	ck_assert_uint_eq(vs_dev_counter(r->dev, VS_CNT_COUNT), 0);
	ck_assert_uint_eq(vs_dev_counter(r->dev, (enum vs_counter)(VS_CNT_COUNT + 1)), 0);
	ck_assert_str_eq(vs_counter_name(VS_CNT_COUNT), "?");
	ck_assert_str_eq(vs_counter_name(VS_CNT_CQ_OVERFLOWS), "cq_overflow");
	ck_assert_str_eq(vs_deviation_name(VS_DEVIATION_COUNT), "?");
	r->dev->counter[VS_CNT_CQ_OVERFLOWS] = 5;
	ck_assert_uint_eq(vs_dev_counter(r->dev, VS_CNT_CQ_OVERFLOWS), 5);
	rig_free(r);
}
END_TEST

/* ---- the refusal of a verb ---- */

START_TEST(a_refusal_is_told_with_its_reason_and_error)
{
	struct rig_opt o = {.stay_in_reset = true};
	struct rig *r = rig_new(&o);
	struct vs_gid_entry gid = {.type = VS_GID_ROCEV2};
	const struct vs_event *ev;

	ck_assert_int_eq(vs_dev_set_gid(r->dev, VS_GID_TABLE_LEN, &gid), VS_ERR_INVAL);
	ev = &r->log[r->log_len - 1];
	ck_assert_int_eq(ev->type, VS_EV_VERB_REFUSED);
	ck_assert_uint_eq(ev->a[0], VS_REASON_GID_INDEX);
	ck_assert_int_eq((int)ev->a[1], VS_ERR_INVAL);
	rig_free(r);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("core dev");
	TCase *tc = tcase_create("device");

	tcase_add_test(tc, what_is_0_gets_its_default);
	tcase_add_test(tc, what_is_not_0_is_kept);
	tcase_add_loop_test(tc, attributes_have_limits, 0, 32);
	tcase_add_loop_test(tc, a_name_is_copied_and_cut, 0, 4);
	tcase_add_test(tc, time_never_runs_backwards);
	tcase_add_test(tc, events_carry_time_and_name);
	tcase_add_test(tc, qps_take_turns_packet_by_packet);
	tcase_add_loop_test(tc, who_waits_for_room_does_not_hold_up_the_others, 0, 2);
	tcase_add_test(tc, a_datagram_waits_for_room_at_its_destination);
	tcase_add_test(tc, who_waits_for_room_can_be_reset_and_destroyed);
	tcase_add_test(tc, answers_go_before_requests_of_the_same_qp);
	tcase_add_test(tc, what_goes_out_is_named_in_its_meta);
	tcase_add_test(tc, devices_of_one_trace_count_packets_together);
	tcase_add_test(tc, a_packet_stands_in_the_events_about_it_alone);
	tcase_add_loop_test(tc, no_sink_no_events_and_a_level_keeps_the_finer_ones_away, 0, 3);
	tcase_add_test(tc, the_async_ring_keeps_1024_in_order_and_forgets_what_is_destroyed);
	tcase_add_test(tc, an_async_event_names_the_qp_it_is_about);
	tcase_add_test(tc, what_is_no_counter_counts_nothing);
	tcase_add_test(tc, a_refusal_is_told_with_its_reason_and_error);
	suite_add_tcase(s, tc);
	return s;
}
