/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * qp.h - queue pairs: create, modify (the state machine), post, query; multicast.
 *
 * Every call takes one work request: lists are the business of who maps the verbs. Post calls check
 * what can be known at once and are refused with a reason; what depends on the wire or on memory at
 * the time of execution is said by the completion. Every accepted request completes exactly once
 * when it must (signaled, failed or flushed), in post order.
 */
#ifndef VS_QP_H
#define VS_QP_H

#include "vs/cq.h"
#include "vs/mr.h"

struct vs_qp_cap {
	uint32_t max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline_data;
};

struct vs_qp_init {
	enum vs_qp_type type;
	struct vs_cq *send_cq, *recv_cq;
	struct vs_srq *srq;   /* or NULL */
	struct vs_qp_cap cap; /* granted exactly, or refused */
	bool sq_sig_all;
	uint64_t cookie;
	uint32_t qpn; /* 0: the device chooses; else this one, 2 .. 0xfffffe, VS_ERR_BUSY if taken */
};

struct vs_qp_attr {
	enum vs_qp_state state, cur_state;
	enum vs_mtu path_mtu;
	uint32_t qkey, rq_psn, sq_psn, dest_qpn;
	uint32_t access_flags;
	struct vs_av av;
	uint16_t pkey_index;
	uint8_t en_sqd_async_notify, sq_draining;
	uint8_t max_rd_atomic, max_dest_rd_atomic;
	uint8_t min_rnr_timer; /* code 0..31 */
	uint8_t port_num;
	uint8_t timeout;              /* code 0..31: 4.096 us * 2^n, 0 never */
	uint8_t retry_cnt, rnr_retry; /* 0..7; rnr_retry 7: for ever */
};

struct vs_send_wr {
	uint64_t wr_id;
	enum vs_wr_opcode opcode;
	unsigned flags; /* set of enum vs_send_flags */
	const struct vs_sge *sg_list;
	uint32_t num_sge;
	const void *inline_data; /* with VS_SEND_INLINE: copied at post; sg_list is ignored then */
	uint32_t inline_len;
	uint32_t imm_data;        /* host order */
	uint32_t invalidate_rkey; /* SEND_WITH_INV; LOCAL_INV: the key to invalidate */
	struct {
		uint64_t remote_addr;
		uint32_t rkey;
	} rdma;
	struct {
		uint64_t compare_add, swap;
	} atomic; /* remote address and key in rdma */
	struct {
		struct vs_ah *ah;
		uint32_t remote_qpn, remote_qkey;
	} ud;
	struct {
		struct vs_mw *mw;
		struct vs_mr *mr;
		uint32_t rkey; /* type 2: the new key (low 8 bits count); type 1: ignored */
		uint64_t addr, length;
		uint32_t access;
	} bind;
	struct {
		uint32_t length;
		uint8_t plt, sel;
	} flush; /* plt bit 0 global, bit 1 persistent; sel 0 range 1 MR */
};

struct vs_qp *vs_qp_create(struct vs_pd *pd, const struct vs_qp_init *init, int *err);
/* VS_ERR_BUSY while attached to a multicast group. No completion is made. */
int vs_qp_destroy(struct vs_qp *qp);
uint32_t vs_qp_num(const struct vs_qp *qp);
enum vs_qp_state vs_qp_state(const struct vs_qp *qp);
uint64_t vs_qp_cookie(const struct vs_qp *qp);

/*
 * Changes what `mask` (enum vs_qp_attr_mask) names, all or nothing. The table of required and
 * optional attributes is FACTS 6. VS_ERR_INVAL / VS_ERR_PERM with vs_dev_refusal.
 */
int vs_qp_modify(struct vs_qp *qp, const struct vs_qp_attr *attr, uint32_t mask);
void vs_qp_query(const struct vs_qp *qp, struct vs_qp_attr *attr, struct vs_qp_init *init);

int vs_qp_post_send(struct vs_qp *qp, const struct vs_send_wr *wr);
/* Something was sent that is not acknowledged: an answer will come, or the ACK timer (RC; false for the others). */
bool vs_qp_in_flight(const struct vs_qp *qp);
uint32_t vs_qp_send_room(const struct vs_qp *qp); /* requests that the send queue still takes */
int vs_qp_post_recv(struct vs_qp *qp, const struct vs_recv_wr *wr);

/* UD only; VS_ERR_INVAL for other QPs or a GID that is no multicast GID. */
int vs_qp_attach_mcast(struct vs_qp *qp, const uint8_t mgid[16], uint16_t mlid);
int vs_qp_detach_mcast(struct vs_qp *qp, const uint8_t mgid[16], uint16_t mlid);

#endif
