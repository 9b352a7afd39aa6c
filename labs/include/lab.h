/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * lab.h - what you write yourself in labs 01 and 02, so that later labs can be about something else. Read it: it is
 * plain libibverbs, and nothing in it is special to the simulated wire but that one program opens both devices.
 */
#ifndef LAB_H
#define LAB_H

#include <errno.h>
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* One end: a device, a protection domain for its memory, a queue for its completions. */
struct lab_side {
	const char *name;
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	union ibv_gid gid;
};

/* What two queue pairs tell each other, and how patient they are. Change it before lab_connect. */
struct lab_path {
	enum ibv_mtu mtu;
	uint32_t psn_a, psn_b; /* of the first packet that each side sends */
	uint8_t timeout;       /* 4.096 us * 2^timeout */
	uint8_t retry_cnt, rnr_retry, min_rnr_timer, rd_atomic;
	int access; /* what the other side may do to this side's memory */
};
#define LAB_PATH                                                                                                       \
	{                                                                                                              \
		.mtu = IBV_MTU_1024, .psn_a = 0xfffffd, .psn_b = 0x100, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7, \
		.min_rnr_timer = 12, .rd_atomic = 4,                                                                   \
		.access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC                  \
	}

/* Verbs return 0 or an errno; those that return a pointer set errno. vs-run --explain says why. */
static inline void lab_must(int rc, const char *what)
{
	if (rc == 0)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(rc));
	exit(1);
}

static inline void lab_need(const void *p, const char *what)
{
	if (p == NULL)
		lab_must(errno, what);
}

/* Does time pass by itself? 1, 0 or a question. Virtual time goes on when there is nothing else to do. */
static inline int lab_clock(int real)
{
	static int now;

	if (real >= 0)
		now = real;
	return now;
}

static inline void lab_open_side(struct lab_side *s, struct ibv_device *device)
{
	s->name = ibv_get_device_name(device);
	s->context = ibv_open_device(device);
	lab_need(s->context, "ibv_open_device");
	lab_must(ibv_query_gid(s->context, 1, 0, &s->gid), "ibv_query_gid");
	s->pd = ibv_alloc_pd(s->context);
	lab_need(s->pd, "ibv_alloc_pd");
	s->cq = ibv_create_cq(s->context, 128, NULL, NULL, 0);
	lab_need(s->cq, "ibv_create_cq");
}

/* On the simulated wire a is ref0 and b is ref1; where there is one device alone, both are on it. */
static inline void lab_open(struct lab_side *a, struct lab_side *b)
{
	int n = 0;
	struct ibv_device **list = ibv_get_device_list(&n);

	if (list == NULL || n < 1) {
		fprintf(stderr, "there is no RDMA device: run this with vs-run --sim\n");
		exit(1);
	}
	lab_open_side(a, list[0]);
	lab_open_side(b, list[n > 1 ? 1 : 0]);
	lab_clock(n == 1);
	ibv_free_device_list(list);
}

static inline void lab_close_side(struct lab_side *s)
{
	lab_must(ibv_destroy_cq(s->cq), "ibv_destroy_cq");
	lab_must(ibv_dealloc_pd(s->pd), "ibv_dealloc_pd");
	lab_must(ibv_close_device(s->context), "ibv_close_device");
}

static inline struct ibv_mr *lab_reg(struct lab_side *s, void *addr, size_t len, int access)
{
	struct ibv_mr *mr = ibv_reg_mr(s->pd, addr, len, access);

	lab_need(mr, "ibv_reg_mr");
	return mr;
}

static inline struct ibv_qp *lab_qp(struct lab_side *s, enum ibv_qp_type type, uint32_t send_wr, uint32_t recv_wr)
{
	struct ibv_qp_init_attr init = {
		.qp_type = type,
		.send_cq = s->cq,
		.recv_cq = s->cq,
		.cap = {.max_send_wr = send_wr, .max_recv_wr = recv_wr, .max_send_sge = 1, .max_recv_sge = 1}};
	struct ibv_qp *qp = ibv_create_qp(s->pd, &init);

	lab_need(qp, "ibv_create_qp");
	return qp;
}

/* RESET -> INIT: from here on receives can be posted, but nobody reaches the queue pair yet. */
static inline void lab_init(struct ibv_qp *qp, const struct lab_path *p)
{
	struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = (unsigned)p->access};

	lab_must(ibv_modify_qp(qp, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
		 "to INIT");
}

/* INIT -> RTR -> RTS. */
static inline void lab_meet_one(struct ibv_qp *qp, uint32_t their_qpn, const union ibv_gid *their_gid, uint32_t my_psn,
				uint32_t their_psn, const struct lab_path *p)
{
	struct ibv_qp_attr rtr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = p->mtu,
		.dest_qp_num = their_qpn,
		.rq_psn = their_psn,
		.max_dest_rd_atomic = p->rd_atomic,
		.min_rnr_timer = p->min_rnr_timer,
		.ah_attr = {.is_global = 1, .port_num = 1, .grh = {.dgid = *their_gid, .hop_limit = 64}}};
	struct ibv_qp_attr rts = {.qp_state = IBV_QPS_RTS,
				  .sq_psn = my_psn,
				  .timeout = p->timeout,
				  .retry_cnt = p->retry_cnt,
				  .rnr_retry = p->rnr_retry,
				  .max_rd_atomic = p->rd_atomic};

	lab_must(ibv_modify_qp(qp, &rtr,
			       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
		 "to RTR");
	lab_must(ibv_modify_qp(qp, &rts,
			       IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				       IBV_QP_MAX_QP_RD_ATOMIC),
		 "to RTS");
}

static inline void lab_meet(struct lab_side *a, struct ibv_qp *qa, struct lab_side *b, struct ibv_qp *qb,
			    const struct lab_path *p)
{
	lab_meet_one(qa, qb->qp_num, &b->gid, p->psn_a, p->psn_b, p);
	lab_meet_one(qb, qa->qp_num, &a->gid, p->psn_b, p->psn_a, p);
}

static inline void lab_connect(struct lab_side *a, struct ibv_qp *qa, struct lab_side *b, struct ibv_qp *qb,
			       const struct lab_path *p)
{
	lab_init(qa, p);
	lab_init(qb, p);
	lab_meet(a, qa, b, qb, p);
}

/* Waits for one completion; false: none came, and nothing is under way that could bring one (in real time: within 2 s).
 */
static inline int lab_poll(struct lab_side *s, struct ibv_wc *wc)
{
	const struct timespec pause = {0, 1000000};
	time_t end = lab_clock(-1) ? time(NULL) + 2 : 0;

	for (unsigned i = 0; i < 10000 || (end > 0 && time(NULL) < end); i++) {
		int n = ibv_poll_cq(s->cq, 1, wc);

		if (n < 0) {
			fprintf(stderr, "ibv_poll_cq failed\n");
			exit(1);
		}
		if (n == 1)
			return 1;
		if (end > 0 && i >= 10000)
			(void)nanosleep(&pause, NULL);
	}
	return 0;
}

/* The same, and it must be a success. */
static inline struct ibv_wc lab_done(struct lab_side *s)
{
	struct ibv_wc wc = {.status = IBV_WC_GENERAL_ERR};

	if (!lab_poll(s, &wc)) {
		fprintf(stderr, "%s: no completion comes\n", s->name);
		exit(1);
	}
	if (wc.status != IBV_WC_SUCCESS) {
		fprintf(stderr, "%s: wr_id %llu: %s\n", s->name, (unsigned long long)wc.wr_id,
			ibv_wc_status_str(wc.status));
		exit(1);
	}
	return wc;
}

#endif
