/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * wr.c - the ibv_wr_* way to post: requests are put together between wr_start and wr_complete, which posts all of them
 * or, when something was wrong with one, none.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "verbs/ref.h"

struct item {
	struct vs_send_wr wr;
	struct vs_sge sge[REF_SGES];
	uint8_t *inline_data; /* the QP's max_inline_data bytes */
};

struct ref_batch {
	pthread_mutex_t lock; /* from wr_start to wr_complete or wr_abort */
	struct item *item;
	uint8_t *inline_buf;
	uint32_t n, size, max_sge, max_inline;
	int error; /* the first; an errno */
};

static struct ref_qp *self(struct ibv_qp_ex *ex)
{
	return (struct ref_qp *)(void *)ex;
}

/* ---- beginning a request ---- */

static void wr_start(struct ibv_qp_ex *ex)
{
	struct ref_batch *b = self(ex)->batch;

	pthread_mutex_lock(&b->lock);
	b->n = 0;
	b->error = 0;
}

/* The first error is what ibv_wr_complete returns. */
static void refuse(struct ibv_qp_ex *ex, int error)
{
	struct ref_batch *b = self(ex)->batch;

	b->error = b->error != 0 ? b->error : error;
}

/* The next request; after an error, or beyond the queue, one that is never posted. */
static struct vs_send_wr *begin(struct ibv_qp_ex *ex, enum vs_wr_opcode opcode, uint64_t needs)
{
	struct ref_qp *qp = self(ex);
	struct ref_batch *b = qp->batch;
	struct item *it;

	if (!(qp->send_ops & needs))
		refuse(ex, EINVAL);
	if (b->n == b->size) {
		refuse(ex, ENOMEM);
		b->n--;
	}
	it = &b->item[b->n++];
	it->wr = (struct vs_send_wr){.wr_id = ex->wr_id, .opcode = opcode, .flags = ex->wr_flags, .sg_list = it->sge};
	return &it->wr;
}

static struct item *current(struct ibv_qp_ex *ex)
{
	struct ref_batch *b = self(ex)->batch;

	if (b->n == 0) {
		refuse(ex, EINVAL);
		return &b->item[0];
	}
	return &b->item[b->n - 1];
}

static void rdma(struct vs_send_wr *wr, uint32_t rkey, uint64_t remote_addr)
{
	wr->rdma.rkey = rkey;
	wr->rdma.remote_addr = remote_addr;
}

static void wr_rdma_write(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr)
{
	rdma(begin(ex, VS_WR_RDMA_WRITE, IBV_QP_EX_WITH_RDMA_WRITE), rkey, remote_addr);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr, __be32 imm_data)
{
	struct vs_send_wr *wr = begin(ex, VS_WR_RDMA_WRITE_WITH_IMM, IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM);

	rdma(wr, rkey, remote_addr);
	wr->imm_data = ntohl(imm_data);
}

static void wr_rdma_read(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr)
{
	rdma(begin(ex, VS_WR_RDMA_READ, IBV_QP_EX_WITH_RDMA_READ), rkey, remote_addr);
}

static void wr_atomic_cmp_swp(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr, uint64_t compare,
			      uint64_t swap)
{
	struct vs_send_wr *wr = begin(ex, VS_WR_ATOMIC_CMP_AND_SWP, IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP);

	rdma(wr, rkey, remote_addr);
	wr->atomic.compare_add = compare;
	wr->atomic.swap = swap;
}

static void wr_atomic_fetch_add(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr, uint64_t add)
{
	struct vs_send_wr *wr = begin(ex, VS_WR_ATOMIC_FETCH_AND_ADD, IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD);

	rdma(wr, rkey, remote_addr);
	wr->atomic.compare_add = add;
}

/* Eight bytes, given here and nowhere else: they travel inline. */
static void wr_atomic_write(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr, const void *atomic_wr)
{
	struct vs_send_wr *wr = begin(ex, VS_WR_ATOMIC_WRITE, IBV_QP_EX_WITH_ATOMIC_WRITE);
	struct item *it = current(ex);

	rdma(wr, rkey, remote_addr);
	memcpy(it->inline_data, atomic_wr, 8);
	wr->flags |= VS_SEND_INLINE;
	wr->inline_data = it->inline_data;
	wr->inline_len = 8;
}

static void wr_bind_mw(struct ibv_qp_ex *ex, struct ibv_mw *mw, uint32_t rkey, const struct ibv_mw_bind_info *info)
{
	refuse(ex, ref_fill_bind(&ex->qp_base, begin(ex, VS_WR_BIND_MW, IBV_QP_EX_WITH_BIND_MW), mw, rkey, info));
}

static void wr_local_inv(struct ibv_qp_ex *ex, uint32_t invalidate_rkey)
{
	begin(ex, VS_WR_LOCAL_INV, IBV_QP_EX_WITH_LOCAL_INV)->invalidate_rkey = invalidate_rkey;
}

static void wr_send(struct ibv_qp_ex *ex)
{
	(void)begin(ex, VS_WR_SEND, IBV_QP_EX_WITH_SEND);
}

static void wr_send_imm(struct ibv_qp_ex *ex, __be32 imm_data)
{
	begin(ex, VS_WR_SEND_WITH_IMM, IBV_QP_EX_WITH_SEND_WITH_IMM)->imm_data = ntohl(imm_data);
}

static void wr_send_inv(struct ibv_qp_ex *ex, uint32_t invalidate_rkey)
{
	begin(ex, VS_WR_SEND_WITH_INV, IBV_QP_EX_WITH_SEND_WITH_INV)->invalidate_rkey = invalidate_rkey;
}

/* ---- the rest of a request ---- */

static void wr_set_ud_addr(struct ibv_qp_ex *ex, struct ibv_ah *ah, uint32_t remote_qpn, uint32_t remote_qkey)
{
	struct vs_send_wr *wr = &current(ex)->wr;

	if (ah != NULL && ref_ah(ah)->dev != ref_qp_dev(&ex->qp_base))
		refuse(ex, ref_mixed("ibv_wr_set_ud_addr"));
	wr->ud.ah = ah != NULL ? ref_ah(ah)->vs : NULL;
	wr->ud.remote_qpn = remote_qpn;
	wr->ud.remote_qkey = remote_qkey;
}

static void wr_set_inline_data_list(struct ibv_qp_ex *ex, size_t num_buf, const struct ibv_data_buf *buf_list)
{
	struct ref_batch *b = self(ex)->batch;
	struct item *it = current(ex);
	size_t n = 0;

	for (size_t i = 0; i < num_buf; i++) {
		if (buf_list[i].length > b->max_inline - n) {
			b->error = b->error != 0 ? b->error : EINVAL;
			return;
		}
		if (buf_list[i].length > 0)
			memcpy(it->inline_data + n, buf_list[i].addr, buf_list[i].length);
		n += buf_list[i].length;
	}
	it->wr.flags |= VS_SEND_INLINE;
	it->wr.inline_data = it->inline_data;
	it->wr.inline_len = (uint32_t)n;
}

static void wr_set_inline_data(struct ibv_qp_ex *ex, void *addr, size_t length)
{
	const struct ibv_data_buf one = {addr, length};

	wr_set_inline_data_list(ex, 1, &one);
}

static void wr_set_sge_list(struct ibv_qp_ex *ex, size_t num_sge, const struct ibv_sge *sg_list)
{
	struct ref_batch *b = self(ex)->batch;
	struct item *it = current(ex);

	if (num_sge > b->max_sge) {
		b->error = b->error != 0 ? b->error : EINVAL;
		return;
	}
	for (size_t i = 0; i < num_sge; i++)
		it->sge[i] = (struct vs_sge){sg_list[i].addr, sg_list[i].length, sg_list[i].lkey};
	it->wr.num_sge = (uint32_t)num_sge;
}

static void wr_set_sge(struct ibv_qp_ex *ex, uint32_t lkey, uint64_t addr, uint32_t length)
{
	const struct ibv_sge one = {addr, length, lkey};

	wr_set_sge_list(ex, 1, &one);
}

/* ---- the end ---- */

static uint64_t length_of(const struct vs_send_wr *wr)
{
	uint64_t n = wr->inline_len;

	for (uint32_t i = 0; i < wr->num_sge; i++)
		n += wr->sg_list[i].length;
	return n;
}

static int post_all(struct ref_qp *qp)
{
	struct ref_batch *b = qp->batch;
	uint64_t bytes = 0;
	int rc = 0;

	if (!ref_enter_fast())
		return errno;
	/* Whatever depends on more than the request itself is known before the first is posted. */
	if (b->n > vs_qp_send_room(qp->vs))
		rc = ENOMEM;
	for (uint32_t i = 0; i < b->n && rc == 0; i++) {
		rc = ref_error(ref_qp_dev(&qp->qp), "ibv_wr_complete", vs_qp_post_send(qp->vs, &b->item[i].wr));
		bytes += length_of(&b->item[i].wr);
	}
	ref_leave_post(qp->vs, b->n, bytes);
	return rc;
}

static int wr_complete(struct ibv_qp_ex *ex)
{
	struct ref_batch *b = self(ex)->batch;
	int rc = b->error != 0 ? b->error : post_all(self(ex));

	pthread_mutex_unlock(&b->lock);
	return rc;
}

static void wr_abort(struct ibv_qp_ex *ex)
{
	pthread_mutex_unlock(&self(ex)->batch->lock);
}

/* ---- life ---- */

static void fill_functions(struct ibv_qp_ex *ex)
{
	ex->wr_atomic_cmp_swp = wr_atomic_cmp_swp;
	ex->wr_atomic_fetch_add = wr_atomic_fetch_add;
	ex->wr_atomic_write = wr_atomic_write;
	ex->wr_bind_mw = wr_bind_mw;
	ex->wr_local_inv = wr_local_inv;
	ex->wr_rdma_read = wr_rdma_read;
	ex->wr_rdma_write = wr_rdma_write;
	ex->wr_rdma_write_imm = wr_rdma_write_imm;
	ex->wr_send = wr_send;
	ex->wr_send_imm = wr_send_imm;
	ex->wr_send_inv = wr_send_inv;
	ex->wr_set_ud_addr = wr_set_ud_addr;
	ex->wr_set_inline_data = wr_set_inline_data;
	ex->wr_set_inline_data_list = wr_set_inline_data_list;
	ex->wr_set_sge = wr_set_sge;
	ex->wr_set_sge_list = wr_set_sge_list;
	ex->wr_start = wr_start;
	ex->wr_complete = wr_complete;
	ex->wr_abort = wr_abort;
}

/* Which requests a type of QP knows. */
static uint64_t ops_of(enum vs_qp_type type)
{
	const uint64_t ud = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM;
	const uint64_t uc = ud | IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
			    IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_BIND_MW;

	if (type == VS_QPT_UD)
		return ud;
	if (type == VS_QPT_UC)
		return uc;
	return uc | IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD |
	       IBV_QP_EX_WITH_SEND_WITH_INV | IBV_QP_EX_WITH_ATOMIC_WRITE;
}

int ref_wr_init(struct ref_qp *qp, uint64_t send_ops)
{
	struct ref_batch *b = calloc(1, sizeof(*b));
	struct vs_qp_init init;
	size_t room;

	vs_qp_query(qp->vs, NULL, &init);
	if (b == NULL || (send_ops & ~ops_of(init.type))) {
		free(b);
		return b == NULL ? ENOMEM : EOPNOTSUPP;
	}
	b->size = init.cap.max_send_wr > 0 ? init.cap.max_send_wr : 1;
	b->max_sge = init.cap.max_send_sge;
	b->max_inline = init.cap.max_inline_data;
	room = b->max_inline < 8 ? 8 : b->max_inline;
	b->item = calloc(b->size, sizeof(b->item[0]));
	b->inline_buf = calloc(b->size, room);
	if (b->item == NULL || b->inline_buf == NULL) {
		free(b->item);
		free(b->inline_buf);
		free(b);
		return ENOMEM;
	}
	for (uint32_t i = 0; i < b->size; i++)
		b->item[i].inline_data = b->inline_buf + i * room;
	pthread_mutex_init(&b->lock, NULL);
	qp->batch = b;
	qp->is_ex = true;
	qp->send_ops = send_ops;
	fill_functions(&qp->ex);
	return 0;
}

void ref_wr_fini(struct ref_qp *qp)
{
	if (qp->batch == NULL)
		return;
	pthread_mutex_destroy(&qp->batch->lock);
	free(qp->batch->item);
	free(qp->batch->inline_buf);
	free(qp->batch);
}
