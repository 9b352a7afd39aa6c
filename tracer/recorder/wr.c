/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * wr.c - the ibv_wr_* builders: functions in the queue pair itself, which are replaced there. A request is written down
 * as it is built, and published when wr_complete says that the batch went.
 */
#include <pthread.h>
#include <string.h>

#include "ring.h"

#define QPS 4096 /* beyond that, builders go straight to the device's */

/* The real builders, and the batch that is being built: between wr_start and wr_complete, one thread's. */
struct built {
	const struct ibv_qp *_Atomic qp;
	struct ibv_qp_ex real;
	union rec_words now; /* the request that is being built */
	bool building;
	uint64_t mark;
};
static struct built table[QPS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char gone; /* where one was */

static struct built *built(const struct ibv_qp *qp)
{
	uint32_t at = (uint32_t)((uintptr_t)qp >> 5) * 2654435761u % QPS;

	for (uint32_t i = 0; i < QPS; i++, at = (at + 1) % QPS) {
		const struct ibv_qp *found = atomic_load_explicit(&table[at].qp, memory_order_acquire);

		if (found == qp)
			return &table[at];
		if (found == NULL)
			break;
	}
	return NULL;
}

static struct built *place(const struct ibv_qp *qp)
{
	uint32_t at = (uint32_t)((uintptr_t)qp >> 5) * 2654435761u % QPS;

	for (uint32_t i = 0; i < QPS; i++, at = (at + 1) % QPS) {
		const struct ibv_qp *found = atomic_load(&table[at].qp);

		if (found == NULL || found == qp || found == (const void *)&gone)
			return &table[at];
	}
	return NULL;
}

/* ---- one request ---- */

/* All of it has been said. */
static void put_built(struct built *b)
{
	if (b->building)
		rec_put(&b->now);
	b->building = false;
}

static struct built *begin(struct ibv_qp_ex *qp, enum ibv_wr_opcode op, uint32_t rkey, uint64_t va)
{
	struct built *b = built(&qp->qp_base);
	struct rec *r = &b->now.r;

	put_built(b);
	b->building = rec_on();
	if (b->building) {
		rec_start(&b->now, REC_POST_SEND, rec_context_index(qp->qp_base.context));
		r->qpn = qp->qp_base.qp_num;
		r->wr = qp->wr_id;
		r->w[0] = (uint32_t)op | qp->wr_flags << 8;
		r->w[2] = rkey;
		r->a[0] = va;
	}
	return b;
}

static void sge(struct built *b, uint32_t lkey, uint64_t addr, uint32_t length, int n)
{
	b->now.r.n = (uint8_t)n;
	b->now.r.w[1] = length;
	b->now.r.w[3] = lkey;
	b->now.r.a[1] = addr;
}

static void cmp_swp(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t va, uint64_t compare, uint64_t swap)
{
	begin(qp, IBV_WR_ATOMIC_CMP_AND_SWP, rkey, va)->real.wr_atomic_cmp_swp(qp, rkey, va, compare, swap);
}

static void fetch_add(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t va, uint64_t add)
{
	begin(qp, IBV_WR_ATOMIC_FETCH_AND_ADD, rkey, va)->real.wr_atomic_fetch_add(qp, rkey, va, add);
}

static void bind_mw(struct ibv_qp_ex *qp, struct ibv_mw *mw, uint32_t rkey, const struct ibv_mw_bind_info *info)
{
	begin(qp, IBV_WR_BIND_MW, rkey, info->addr)->real.wr_bind_mw(qp, mw, rkey, info);
}

static void local_inv(struct ibv_qp_ex *qp, uint32_t rkey)
{
	begin(qp, IBV_WR_LOCAL_INV, rkey, 0)->real.wr_local_inv(qp, rkey);
}

static void rdma_read(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t va)
{
	begin(qp, IBV_WR_RDMA_READ, rkey, va)->real.wr_rdma_read(qp, rkey, va);
}

static void rdma_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t va)
{
	begin(qp, IBV_WR_RDMA_WRITE, rkey, va)->real.wr_rdma_write(qp, rkey, va);
}

static void rdma_write_imm(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t va, __be32 imm)
{
	begin(qp, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, va)->real.wr_rdma_write_imm(qp, rkey, va, imm);
}

static void send_plain(struct ibv_qp_ex *qp)
{
	begin(qp, IBV_WR_SEND, 0, 0)->real.wr_send(qp);
}

static void send_imm(struct ibv_qp_ex *qp, __be32 imm)
{
	begin(qp, IBV_WR_SEND_WITH_IMM, 0, 0)->real.wr_send_imm(qp, imm);
}

static void send_inv(struct ibv_qp_ex *qp, uint32_t rkey)
{
	begin(qp, IBV_WR_SEND_WITH_INV, rkey, 0)->real.wr_send_inv(qp, rkey);
}

static void send_tso(struct ibv_qp_ex *qp, void *hdr, uint16_t len, uint16_t mss)
{
	begin(qp, IBV_WR_TSO, 0, 0)->real.wr_send_tso(qp, hdr, len, mss);
}

static void atomic_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t va, const void *value)
{
	begin(qp, IBV_WR_ATOMIC_WRITE, rkey, va)->real.wr_atomic_write(qp, rkey, va, value);
}

static void set_ud_addr(struct ibv_qp_ex *qp, struct ibv_ah *ah, uint32_t qpn, uint32_t qkey)
{
	struct built *b = built(&qp->qp_base);
	union rec_words u;

	if (b->building) {
		rec_start(&u, REC_POST_UD, rec_context_index(qp->qp_base.context));
		u.r.qpn = qp->qp_base.qp_num;
		u.r.wr = b->now.r.wr;
		u.r.w[0] = qpn;
		u.r.w[1] = qkey;
		rec_put(&u);
	}
	b->real.wr_set_ud_addr(qp, ah, qpn, qkey);
}

static void set_inline_data(struct ibv_qp_ex *qp, void *addr, size_t length)
{
	struct built *b = built(&qp->qp_base);

	b->now.r.w[0] |= (uint32_t)IBV_SEND_INLINE << 8;
	sge(b, 0, (uintptr_t)addr, (uint32_t)length, 1);
	b->real.wr_set_inline_data(qp, addr, length);
}

static void set_inline_data_list(struct ibv_qp_ex *qp, size_t n, const struct ibv_data_buf *list)
{
	struct built *b = built(&qp->qp_base);
	size_t len = 0;

	for (size_t i = 0; i < n; i++)
		len += list[i].length;
	b->now.r.w[0] |= (uint32_t)IBV_SEND_INLINE << 8;
	sge(b, 0, n > 0 ? (uintptr_t)list[0].addr : 0, (uint32_t)len, (int)n);
	b->real.wr_set_inline_data_list(qp, n, list);
}

static void set_sge(struct ibv_qp_ex *qp, uint32_t lkey, uint64_t addr, uint32_t length)
{
	struct built *b = built(&qp->qp_base);

	sge(b, lkey, addr, length, 1);
	b->real.wr_set_sge(qp, lkey, addr, length);
}

static void set_sge_list(struct ibv_qp_ex *qp, size_t n, const struct ibv_sge *list)
{
	struct built *b = built(&qp->qp_base);
	uint32_t len = 0;

	for (size_t i = 0; i < n; i++)
		len += list[i].length;
	if (n > 0)
		sge(b, list[0].lkey, list[0].addr, len, (int)n);
	for (size_t i = 1; b->building && i < n; i++) {
		union rec_words u;

		rec_start(&u, REC_SGE, rec_context_index(qp->qp_base.context));
		u.r.n = (uint8_t)i;
		u.r.qpn = qp->qp_base.qp_num;
		u.r.wr = b->now.r.wr;
		u.r.w[1] = list[i].length;
		u.r.w[3] = list[i].lkey;
		u.r.a[1] = list[i].addr;
		rec_put(&u);
	}
	b->real.wr_set_sge_list(qp, n, list);
}

/* ---- batches ---- */

static void start(struct ibv_qp_ex *qp)
{
	struct built *b = built(&qp->qp_base);

	b->building = false;
	b->real.wr_start(qp);
	b->mark = rec_mark(); /* inside: a batch is its thread's alone */
}

/* A batch goes, or fails, as a whole. */
static int complete(struct ibv_qp_ex *qp)
{
	struct built *b = built(&qp->qp_base);
	union rec_words last = b->now;
	bool any = b->building;
	int rc;

	put_built(b);
	rc = b->real.wr_complete(qp);
	if (rc != 0 && any) {
		rec_rewind(b->mark);
		last.r.a[2] = (uint64_t)(int64_t)rc;
		rec_put(&last);
	}
	rec_commit();
	return rc;
}

static void give_up(struct ibv_qp_ex *qp)
{
	struct built *b = built(&qp->qp_base);

	b->building = false;
	rec_rewind(b->mark);
	b->real.wr_abort(qp);
}

/* A builder that the device lacks stays missing. */
#define EACH(DO)                                          \
	DO(wr_atomic_cmp_swp, cmp_swp)                    \
	DO(wr_atomic_fetch_add, fetch_add)                \
	DO(wr_bind_mw, bind_mw)                           \
	DO(wr_local_inv, local_inv)                       \
	DO(wr_rdma_read, rdma_read)                       \
	DO(wr_rdma_write, rdma_write)                     \
	DO(wr_rdma_write_imm, rdma_write_imm)             \
	DO(wr_send, send_plain)                           \
	DO(wr_send_imm, send_imm)                         \
	DO(wr_send_inv, send_inv)                         \
	DO(wr_send_tso, send_tso)                         \
	DO(wr_atomic_write, atomic_write)                 \
	DO(wr_set_ud_addr, set_ud_addr)                   \
	DO(wr_set_inline_data, set_inline_data)           \
	DO(wr_set_inline_data_list, set_inline_data_list) \
	DO(wr_set_sge, set_sge)                           \
	DO(wr_set_sge_list, set_sge_list)                 \
	DO(wr_start, start)                               \
	DO(wr_complete, complete)                         \
	DO(wr_abort, give_up)
#define TAKE(name, ours)      \
	if (qp->name != NULL) \
		qp->name = (ours);
#define GIVE_BACK(name, ours)   \
	if (qp->name == (ours)) \
		qp->name = b->real.name;

static void replace(struct ibv_qp_ex *qp)
{
	EACH(TAKE)
}

static void give_back(struct ibv_qp_ex *qp, const struct built *b)
{
	EACH(GIVE_BACK)
}

void rec_wr_hook(struct ibv_qp_ex *qp)
{
	struct built *b;

	if (qp == NULL || qp->wr_start == NULL || qp->wr_start == start)
		return;
	pthread_mutex_lock(&lock);
	b = place(&qp->qp_base);
	if (b != NULL) {
		memcpy(&b->real, qp, sizeof(b->real));
		b->building = false;
		atomic_store_explicit(&b->qp, &qp->qp_base, memory_order_release);
		replace(qp);
	}
	pthread_mutex_unlock(&lock);
}

/* Its functions are the device's again, for a queue pair that could not be destroyed; NULL: it has none of ours. */
struct ibv_qp_ex *rec_wr_unhook(struct ibv_qp *qp)
{
	struct built *b = built(qp);
	struct ibv_qp_ex *ex;

	if (b == NULL)
		return NULL;
	ex = (struct ibv_qp_ex *)(void *)qp; /* as ibv_qp_to_qp_ex has it */
	give_back(ex, b);
	atomic_store(&b->qp, (const struct ibv_qp *)(const void *)&gone);
	return ex;
}
