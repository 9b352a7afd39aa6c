/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * inject.h - lab 09, given: a connection, eight requests of A, eight receives of B, and what goes wrong with one of
 * them. Read it when you have found the cause without.
 */
#ifndef INJECT_H
#define INJECT_H

#include "lab.h"

#define REQUESTS 8
#define MARK_SEND 900 /* wr_id of the markers that post_marks posts */
#define MARK_RECV 901

static char a_buf[4096], b_buf[4096];
static struct lab_side a, b;
static struct ibv_mr *ma, *mb, *read_only, *for_reading;
static struct ibv_qp *qa, *qb;

enum cause {
	BAD_LKEY,     /* the lkey is of no region */
	LKEY_BOUNDS,  /* the buffer reaches beyond its region */
	LKEY_GONE,    /* its region was deregistered */
	READ_INTO,    /* the data of a READ go to where nothing may be written */
	BAD_RKEY,     /* the rkey is of no region of B's */
	LKEY_AS_RKEY, /* it is B's lkey */
	RKEY_BOUNDS,  /* the write reaches beyond the region */
	NO_WRITE,     /* B's region may not be written */
	NO_READ,      /* nor read */
	NO_ATOMIC,    /* no atomics there */
	ODD_ATOMIC,   /* an atomic on an address that is no multiple of 8 */
	QP_NO_WRITE,  /* B's queue pair allows no WRITE */
	LONG_SEND,    /* the message is longer than the receive */
	RECV_LKEY,    /* the lkey of the receive is wrong */
	RECV_CONST,   /* the receive lies where nothing may be written */
	NO_RECEIVE,   /* B has too few receives, and rnr_retry is 0 */
	WRONG_QPN,    /* A was told a wrong queue pair number */
	WRONG_PSN,    /* B expects another PSN */
	NOT_READY,    /* B never left INIT */
	DARK,         /* everything that A sends gets lost (the fault of the run) */
	CAUSES
};

static const char *const cause_names[CAUSES] = {"bad_lkey",     "lkey_bounds", "lkey_gone", "read_into", "bad_rkey",
						"lkey_as_rkey", "rkey_bounds", "no_write",  "no_read",   "no_atomic",
						"odd_atomic",   "qp_no_write", "long_send", "recv_lkey", "recv_const",
						"no_receive",   "wrong_qpn",   "wrong_psn", "not_ready", "dark"};

static inline struct ibv_sge piece(char *addr, uint32_t len, uint32_t lkey)
{
	return (struct ibv_sge){.addr = (uintptr_t)addr, .length = len, .lkey = lkey};
}

static inline void post_recv(struct ibv_qp *qp, uint64_t wr_id, struct ibv_sge sge)
{
	struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1}, *bad;

	lab_must(ibv_post_recv(qp, &wr, &bad), "ibv_post_recv");
}

static inline void post_wr(struct ibv_qp *qp, uint64_t wr_id, enum ibv_wr_opcode opcode, struct ibv_sge sge, char *to,
			   uint32_t rkey)
{
	struct ibv_send_wr wr = {.wr_id = wr_id,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = opcode,
				 .send_flags = wr_id % 2 != 0 ? IBV_SEND_SIGNALED : 0};
	struct ibv_send_wr *bad;

	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = (uintptr_t)to;
		wr.wr.atomic.rkey = rkey;
	} else {
		wr.wr.rdma.remote_addr = (uintptr_t)to;
		wr.wr.rdma.rkey = rkey;
	}
	lab_must(ibv_post_send(qp, &wr, &bad), "ibv_post_send");
}

/* One more of each kind, into a queue pair that has failed. */
static inline void post_marks(struct ibv_qp *qp)
{
	char *buf = qp == qa ? a_buf : b_buf;
	uint32_t lkey = qp == qa ? ma->lkey : mb->lkey;

	post_recv(qp, MARK_RECV, piece(buf, 16, lkey));
	post_wr(qp, MARK_SEND, IBV_WR_SEND, piece(buf, 16, lkey), NULL, 0);
}

/* The request that goes wrong. */
static inline void post_bad(enum cause cause, uint64_t wr_id)
{
	struct ibv_sge sge = piece(a_buf, 16, ma->lkey);
	enum ibv_wr_opcode op = IBV_WR_SEND;
	char *to = b_buf;
	uint32_t rkey = mb->rkey;

	switch (cause) {
	case BAD_LKEY:
		sge.lkey ^= 0x10101;
		break;
	case LKEY_BOUNDS:
		sge.addr = (uintptr_t)a_buf + sizeof(a_buf) - 8;
		break;
	case LKEY_GONE:
		sge.lkey = for_reading->lkey;
		lab_must(ibv_dereg_mr(for_reading), "ibv_dereg_mr");
		for_reading = NULL;
		break;
	case READ_INTO:
		op = IBV_WR_RDMA_READ;
		sge.lkey = for_reading->lkey;
		break;
	case BAD_RKEY:
		op = IBV_WR_RDMA_WRITE;
		rkey ^= 0x10101;
		break;
	case LKEY_AS_RKEY:
		op = IBV_WR_RDMA_WRITE;
		rkey = mb->lkey;
		break;
	case RKEY_BOUNDS:
		op = IBV_WR_RDMA_WRITE;
		to = b_buf + sizeof(b_buf) - 15;
		break;
	case NO_WRITE:
	case QP_NO_WRITE:
		op = IBV_WR_RDMA_WRITE;
		rkey = cause == NO_WRITE ? read_only->rkey : rkey;
		break;
	case NO_READ:
		op = IBV_WR_RDMA_READ;
		rkey = read_only->rkey;
		break;
	case NO_ATOMIC:
		op = IBV_WR_ATOMIC_FETCH_AND_ADD;
		sge.length = 8;
		rkey = read_only->rkey;
		break;
	case ODD_ATOMIC:
		op = IBV_WR_ATOMIC_FETCH_AND_ADD;
		sge.length = 8;
		to = b_buf + 4;
		break;
	case LONG_SEND:
		sge.length = 65;
		break;
	default:
		break;
	}
	post_wr(qa, wr_id, op, sge, to, rkey);
}

/* B's receives, 64 bytes each; that of the bad request may be bad itself. */
static inline void post_receives(enum cause cause, unsigned bad)
{
	for (unsigned i = 1; i <= REQUESTS; i++) {
		struct ibv_sge sge = piece(b_buf + 64 * i, 64, mb->lkey);

		if (cause == NO_RECEIVE && i >= bad)
			break;
		if (i == bad && cause == RECV_LKEY)
			sge.lkey ^= 0x10101;
		if (i == bad && cause == RECV_CONST)
			sge.lkey = read_only->lkey;
		post_recv(qb, 100 + i, sge);
	}
}

static inline void inject_connect(enum cause cause)
{
	struct lab_path path = LAB_PATH, at_b;

	path.timeout = 10;
	path.retry_cnt = 2;
	path.rnr_retry = 0;
	at_b = path;
	if (cause == QP_NO_WRITE)
		at_b.access = IBV_ACCESS_REMOTE_READ;
	lab_init(qa, &path);
	lab_init(qb, &at_b);
	lab_meet_one(qa, qb->qp_num ^ (cause == WRONG_QPN ? 0x1000 : 0), &b.gid, path.psn_a, path.psn_b, &path);
	if (cause != NOT_READY)
		lab_meet_one(qb, qa->qp_num, &a.gid, path.psn_b,
			     (path.psn_a - (cause == WRONG_PSN ? 100 : 0)) & 0xffffff, &at_b);
}

static inline void inject(int argc, char **argv)
{
	unsigned bad = 3 + (unsigned)(argc > 2 ? strtoul(argv[2], NULL, 10) % 4 : 1);
	unsigned cause = 0;

	while (argc > 1 && cause < CAUSES && strcmp(cause_names[cause], argv[1]) != 0)
		cause++;
	if (argc < 2 || cause == CAUSES) {
		fprintf(stderr, "usage: lab CAUSE SEED (inject.h has the causes)\n");
		exit(2);
	}
	lab_open(&a, &b);
	ma = lab_reg(&a, a_buf, sizeof(a_buf), IBV_ACCESS_LOCAL_WRITE);
	for_reading = lab_reg(&a, a_buf, sizeof(a_buf), 0);
	mb = lab_reg(&b, b_buf, sizeof(b_buf),
		     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
			     IBV_ACCESS_REMOTE_ATOMIC);
	read_only = lab_reg(&b, b_buf, sizeof(b_buf), 0);
	qa = lab_qp(&a, IBV_QPT_RC, 16, 16);
	qb = lab_qp(&b, IBV_QPT_RC, 16, 16);
	inject_connect(cause);
	post_receives(cause, bad);
	for (unsigned i = 1; i <= REQUESTS; i++) {
		if (i == bad)
			post_bad(cause, i);
		else
			post_wr(qa, i, IBV_WR_SEND, piece(a_buf, 16, ma->lkey), NULL, 0);
	}
}

/* A message over the second connection. */
static inline void hello(void)
{
	post_recv(qb, 600, piece(b_buf, 64, mb->lkey));
	post_wr(qa, 501, IBV_WR_SEND, piece(a_buf, 16, ma->lkey), NULL, 0);
	(void)lab_done(&a);
	(void)lab_done(&b);
}

static inline void finish(void)
{
	lab_must(ibv_destroy_qp(qa), "ibv_destroy_qp");
	lab_must(ibv_destroy_qp(qb), "ibv_destroy_qp");
	if (for_reading != NULL)
		lab_must(ibv_dereg_mr(for_reading), "ibv_dereg_mr");
	lab_must(ibv_dereg_mr(read_only), "ibv_dereg_mr");
	lab_must(ibv_dereg_mr(ma), "ibv_dereg_mr");
	lab_must(ibv_dereg_mr(mb), "ibv_dereg_mr");
	lab_close_side(&a);
	lab_close_side(&b);
}

#endif
