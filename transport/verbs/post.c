/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * post.c - posting lists of work requests: the engine takes them one by one, and the first that it refuses is *bad.
 */
#include <arpa/inet.h>
#include <string.h>

#include "verbs/ref.h"

#define INLINE_MAX 512 /* what the engine is created with (engine.c) */

/* An ibv_sge is the engine's SGE, member by member. */
_Static_assert(sizeof(struct ibv_sge) == sizeof(struct vs_sge) &&
		       offsetof(struct ibv_sge, addr) == offsetof(struct vs_sge, addr) &&
		       offsetof(struct ibv_sge, length) == offsetof(struct vs_sge, length) &&
		       offsetof(struct ibv_sge, lkey) == offsetof(struct vs_sge, lkey),
	       "SGEs are handed on as they are");

static const struct vs_sge *sges(const struct ibv_sge *s)
{
	return (const struct vs_sge *)(const void *)s;
}

/* The bytes of inline data, whose addresses are the program's own; false: more than any QP takes. */
static bool gather_inline(struct vs_send_wr *to, const struct ibv_send_wr *wr, uint8_t *data)
{
	uint64_t n = 0;

	for (int i = 0; i < wr->num_sge; i++) {
		const struct ibv_sge *s = &wr->sg_list[i];

		if (i == REF_SGES || n + s->length > INLINE_MAX)
			return false;
		if (s->length > 0)
			memcpy(data + n, (const void *)(uintptr_t)s->addr, s->length);
		n += s->length;
	}
	to->inline_data = data;
	to->inline_len = (uint32_t)n;
	return true;
}

/* What belongs to the opcode; the rest of `to` stands. 0 or an errno. */
static int fill_operation(const struct ibv_qp *qp, struct vs_send_wr *to, const struct ibv_send_wr *wr)
{
	switch (wr->opcode) {
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		to->imm_data = ntohl(wr->imm_data);
		/* fall through */
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_READ:
	case IBV_WR_ATOMIC_WRITE:
		to->rdma.remote_addr = wr->wr.rdma.remote_addr;
		to->rdma.rkey = wr->wr.rdma.rkey;
		break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		to->rdma.remote_addr = wr->wr.atomic.remote_addr;
		to->rdma.rkey = wr->wr.atomic.rkey;
		to->atomic.compare_add = wr->wr.atomic.compare_add;
		to->atomic.swap = wr->wr.atomic.swap;
		break;
	case IBV_WR_SEND_WITH_IMM:
		to->imm_data = ntohl(wr->imm_data);
		break;
	case IBV_WR_SEND_WITH_INV:
	case IBV_WR_LOCAL_INV:
		to->invalidate_rkey = wr->invalidate_rkey;
		break;
	case IBV_WR_BIND_MW:
		return ref_fill_bind(qp, to, wr->bind_mw.mw, wr->bind_mw.rkey, &wr->bind_mw.bind_info);
	default:
		break;
	}
	return 0;
}

static uint64_t length_of(const struct ibv_send_wr *wr)
{
	uint64_t n = 0;

	for (int i = 0; i < wr->num_sge; i++)
		n += wr->sg_list[i].length;
	return n;
}

static int post_one(struct ibv_qp *qp, const struct ibv_send_wr *wr)
{
	struct vs_send_wr to = {.wr_id = wr->wr_id,
				.opcode = (enum vs_wr_opcode)wr->opcode,
				.flags = wr->send_flags,
				.sg_list = sges(wr->sg_list),
				.num_sge = (uint32_t)wr->num_sge};
	uint8_t data[INLINE_MAX];
	int rc;

	if (wr->num_sge < 0)
		return EINVAL;
	if ((wr->send_flags & IBV_SEND_INLINE) && !gather_inline(&to, wr, data))
		return EINVAL;
	rc = fill_operation(qp, &to, wr);
	if (rc != 0)
		return rc;
	if (qp->qp_type == IBV_QPT_UD) {
		if (wr->wr.ud.ah != NULL && ref_ah(wr->wr.ud.ah)->dev != ref_qp_dev(qp))
			return ref_mixed("ibv_post_send");
		to.ud.ah = wr->wr.ud.ah != NULL ? ref_ah(wr->wr.ud.ah)->vs : NULL;
		to.ud.remote_qpn = wr->wr.ud.remote_qpn;
		to.ud.remote_qkey = wr->wr.ud.remote_qkey;
	}
	rc = vs_qp_post_send(ref_qp(qp)->vs, &to);
	return rc == VS_OK ? 0 : ref_error(ref_qp_dev(qp), "ibv_post_send", rc);
}

int ref_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	uint64_t bytes = 0;
	uint32_t posts = 0;
	int rc = 0;

	if (!ref_enter_fast()) {
		*bad = wr;
		return errno;
	}
	for (; wr != NULL; wr = wr->next, posts++) {
		rc = post_one(qp, wr);
		if (rc != 0) {
			*bad = wr;
			break;
		}
		bytes += length_of(wr);
	}
	ref_leave_post(ref_qp(qp)->vs, posts, bytes);
	return rc;
}

int ref_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	int rc = 0;

	if (!ref_enter_fast()) {
		*bad = wr;
		return errno;
	}
	for (; wr != NULL; wr = wr->next) {
		const struct vs_recv_wr to = {wr->wr_id, sges(wr->sg_list), (uint32_t)wr->num_sge};

		rc = ref_error(ref_qp_dev(qp), "ibv_post_recv", vs_qp_post_recv(ref_qp(qp)->vs, &to));
		if (rc != 0) {
			*bad = wr;
			break;
		}
	}
	ref_leave_quiet();
	return rc;
}

int ref_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	int rc = 0;

	if (!ref_enter_fast()) {
		*bad = wr;
		return errno;
	}
	for (; wr != NULL; wr = wr->next) {
		const struct vs_recv_wr to = {wr->wr_id, sges(wr->sg_list), (uint32_t)wr->num_sge};

		rc = ref_error(ref_dev(srq->context), "ibv_post_srq_recv", vs_srq_post_recv(ref_srq(srq)->vs, &to));
		if (rc != 0) {
			*bad = wr;
			break;
		}
	}
	ref_leave_quiet();
	return rc;
}
