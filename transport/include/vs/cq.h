/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * cq.h - completion queues and shared receive queues.
 */
#ifndef VS_CQ_H
#define VS_CQ_H

#include "vs/dev.h"

struct vs_wc {
	uint64_t wr_id;
	enum vs_wc_status status;
	enum vs_wc_opcode opcode; /* valid on success, as everything below except qp_num and vendor_err */
	uint32_t vendor_err;      /* enum vs_reason of the failure: the answer to a bare status */
	uint32_t byte_len;
	uint32_t imm_data;         /* host order; with VS_WC_WITH_IMM */
	uint32_t invalidated_rkey; /* with VS_WC_WITH_INV */
	uint32_t qp_num, src_qp;
	unsigned wc_flags; /* set of enum vs_wc_flags */
	uint16_t pkey_index, slid;
	uint8_t sl, dlid_path_bits;
	bool of_sq; /* of a send queue; sq_end: which of its requests are over now, for vs_cq_poll */
	uint32_t sq_end;
	uint64_t time_ns; /* when the completion was made */
	uint64_t cause;   /* seq of the cqe event; 0 without a sink */
};

/* cqe: 1 .. max_cqe entries. `cookie` comes back in events. */
struct vs_cq *vs_cq_create(struct vs_dev *dev, uint32_t cqe, uint64_t cookie, int *err);
/* VS_ERR_INVAL below what is queued, or out of range; nothing is lost, order is kept. */
int vs_cq_resize(struct vs_cq *cq, uint32_t cqe);
/* VS_ERR_BUSY while a QP uses it. */
int vs_cq_destroy(struct vs_cq *cq);
uint32_t vs_cq_capacity(const struct vs_cq *cq);
/* Takes at most n completions; how many, or VS_ERR_INVAL after an overflow. */
int vs_cq_poll(struct vs_cq *cq, struct vs_wc *wc, int n);
/*
 * Takes the completions of one QP out of the queue. Nothing says what becomes of those that wait when a QP is reset
 * (QPS-023); most devices drop them, and programs that use a QP again rely on it.
 */
void vs_cq_forget(struct vs_cq *cq, uint32_t qpn);
/*
 * Arms the queue: the next completion (or, with solicited_only, the next solicited or failed one)
 * makes one event. Arming for any wins over arming for solicited.
 */
void vs_cq_arm(struct vs_cq *cq, bool solicited_only);
/* 1 and the cookie of a CQ that fired; 0: none. Events of one CQ are not merged. */
int vs_dev_poll_comp_event(struct vs_dev *dev, struct vs_cq **cq, uint64_t *cookie);

struct vs_recv_wr {
	uint64_t wr_id;
	const struct vs_sge *sg_list;
	uint32_t num_sge;
};

struct vs_srq_attr {
	uint32_t max_wr, max_sge, srq_limit;
};
struct vs_srq *vs_srq_create(struct vs_pd *pd, const struct vs_srq_attr *attr, uint64_t cookie, int *err);
enum { VS_SRQ_MAX_WR = 1, VS_SRQ_LIMIT = 2 };
int vs_srq_modify(struct vs_srq *srq, const struct vs_srq_attr *attr, unsigned mask);
void vs_srq_query(const struct vs_srq *srq, struct vs_srq_attr *attr);
int vs_srq_destroy(struct vs_srq *srq); /* VS_ERR_BUSY while a QP uses it */
/* One work request. VS_ERR_NOSPACE: the queue is full. */
int vs_srq_post_recv(struct vs_srq *srq, const struct vs_recv_wr *wr);

#endif
