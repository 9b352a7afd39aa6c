/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * cq_ex.c - extended completion queues: one completion at a time, its fields read one by one, with the time it was
 * made.
 */
#include <arpa/inet.h>
#include <sched.h>

#include "verbs/ref.h"

#define SUPPORTED                                                                \
	((uint64_t)IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | \
	 IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)

static struct ref_cq *self(struct ibv_cq_ex *cq)
{
	return (struct ref_cq *)cq;
}

/* 0, ENOENT: empty, or an errno. */
static int take_next(struct ibv_cq_ex *ex)
{
	struct ref_cq *cq = self(ex);
	int got;
	bool yield;

	if (!ref_enter_fast())
		return errno;
	got = ref_cq_take(cq, &cq->wc, 1);
	if (got == 1)
		ref_explain_wc(ref_dev(ex->context), &cq->wc);
	yield = !ref.stepped;
	ref_leave_poll(got);
	if (got < 0)
		return EIO;
	if (got == 0) {
		if (yield)
			sched_yield();
		return ENOENT;
	}
	ex->wr_id = cq->wc.wr_id;
	ex->status = (enum ibv_wc_status)cq->wc.status;
	return 0;
}

static int start_poll(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr)
{
	return attr->comp_mask != 0 ? EINVAL : take_next(cq);
}

static int next_poll(struct ibv_cq_ex *cq)
{
	return take_next(cq);
}

static void end_poll(struct ibv_cq_ex *cq)
{
	(void)cq;
}

static enum ibv_wc_opcode read_opcode(struct ibv_cq_ex *cq)
{
	return (enum ibv_wc_opcode)self(cq)->wc.opcode;
}

static uint32_t read_vendor_err(struct ibv_cq_ex *cq)
{
	return self(cq)->wc.vendor_err;
}

static uint32_t read_byte_len(struct ibv_cq_ex *cq)
{
	return self(cq)->wc.byte_len;
}

/* The same place holds immediate data and an invalidated key: the flags say which. */
static __be32 read_imm_data(struct ibv_cq_ex *cq)
{
	const struct vs_wc *wc = &self(cq)->wc;

	return wc->wc_flags & VS_WC_WITH_INV ? wc->invalidated_rkey : htonl(wc->imm_data);
}

static uint32_t read_qp_num(struct ibv_cq_ex *cq)
{
	return self(cq)->wc.qp_num;
}

static uint32_t read_src_qp(struct ibv_cq_ex *cq)
{
	return self(cq)->wc.src_qp;
}

static unsigned int read_wc_flags(struct ibv_cq_ex *cq)
{
	return self(cq)->wc.wc_flags;
}

static uint32_t read_slid(struct ibv_cq_ex *cq)
{
	return self(cq)->wc.slid;
}

static uint8_t read_sl(struct ibv_cq_ex *cq)
{
	return self(cq)->wc.sl;
}

static uint8_t read_dlid_path_bits(struct ibv_cq_ex *cq)
{
	return self(cq)->wc.dlid_path_bits;
}

static uint64_t read_completion_ts(struct ibv_cq_ex *cq)
{
	return self(cq)->wc.time_ns;
}

static uint64_t read_completion_wallclock_ns(struct ibv_cq_ex *cq)
{
	return ref_wall(self(cq)->wc.time_ns);
}

static int check(const struct ibv_context *context, const struct ibv_cq_init_attr_ex *a)
{
	if (a->cqe == 0 || a->comp_vector >= (uint32_t)context->num_comp_vectors)
		return EINVAL;
	if (a->comp_mask & ~(uint32_t)(IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD))
		return EOPNOTSUPP;
	if (a->wc_flags & ~SUPPORTED)
		return EOPNOTSUPP;
	if ((a->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) && (a->flags & ~(uint32_t)IBV_CREATE_CQ_ATTR_SINGLE_THREADED))
		return EOPNOTSUPP; /* an overrun is never ignored */
	return 0;
}

struct ibv_cq_ex *ref_create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
	struct ref_cq *cq;
	int rc = check(context, attr);

	if (rc != 0) {
		errno = rc;
		return NULL;
	}
	cq = ref_cq_new(context, attr->cqe, attr->cq_context, attr->channel);
	if (cq == NULL)
		return NULL;
	cq->ex.start_poll = start_poll;
	cq->ex.next_poll = next_poll;
	cq->ex.end_poll = end_poll;
	cq->ex.read_opcode = read_opcode;
	cq->ex.read_vendor_err = read_vendor_err;
	cq->ex.read_byte_len = read_byte_len;
	cq->ex.read_imm_data = read_imm_data;
	cq->ex.read_qp_num = read_qp_num;
	cq->ex.read_src_qp = read_src_qp;
	cq->ex.read_wc_flags = read_wc_flags;
	cq->ex.read_slid = read_slid;
	cq->ex.read_sl = read_sl;
	cq->ex.read_dlid_path_bits = read_dlid_path_bits;
	if (attr->wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)
		cq->ex.read_completion_ts = read_completion_ts;
	if (attr->wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)
		cq->ex.read_completion_wallclock_ns = read_completion_wallclock_ns;
	return &cq->ex;
}
