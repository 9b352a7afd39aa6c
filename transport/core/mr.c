/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * mr.c - memory regions, and the one place where a key and a range are judged.
 *
 * The order of a remote check: the key exists, it is a remote key, the protection domain fits, the
 * access right is there, the range lies inside. Every step has its reason; all of them become NAK
 * remote access error on the wire.
 */
#include "core.h"

#define REMOTE_RIGHTS (VS_ACCESS_REMOTE_WRITE | VS_ACCESS_REMOTE_ATOMIC)
#define ALL_RIGHTS                                                                                          \
	(VS_ACCESS_LOCAL_WRITE | VS_ACCESS_REMOTE_WRITE | VS_ACCESS_REMOTE_READ | VS_ACCESS_REMOTE_ATOMIC | \
	 VS_ACCESS_MW_BIND | VS_ACCESS_ZERO_BASED | VS_ACCESS_FLUSH_GLOBAL | VS_ACCESS_FLUSH_PERSISTENT)

/* [addr, addr + len) inside [base, base + size), no wrap, exact at both ends. */
bool vs_range_inside(uint64_t addr, uint64_t len, uint64_t base, uint64_t size)
{
	return addr >= base && len <= size && addr - base <= size - len;
}

static enum vs_reason attr_check(const struct vs_mr_attr *a)
{
	if (a->access & ~(uint32_t)ALL_RIGHTS)
		return VS_REASON_MR_ACCESS;
	if ((a->access & REMOTE_RIGHTS) && !(a->access & VS_ACCESS_LOCAL_WRITE))
		return VS_REASON_MR_LOCAL_WRITE;
	if ((a->access & VS_ACCESS_ZERO_BASED) && a->iova != 0)
		return VS_REASON_MR_ZERO_BASED;
	if (a->length > 0 && (a->addr + (a->length - 1) < a->addr || a->iova + (a->length - 1) < a->iova))
		return VS_REASON_MR_WRAP;
	return VS_REASON_NONE;
}

/* Keys for `mr`; false: no room, and nothing is taken. */
static bool take_keys(struct vs_mr *mr, uint32_t *lkey, uint32_t *rkey)
{
	*lkey = vs_key_new(mr->dev, VS_KEY_LKEY, mr);
	*rkey = *lkey != 0 ? vs_key_new(mr->dev, VS_KEY_RKEY, mr) : 0;
	if (*rkey != 0)
		return true;
	if (*lkey != 0)
		vs_key_free(mr->dev, *lkey);
	return false;
}

static void reg_event(struct vs_mr *mr, int ret)
{
	const uint64_t a[] = {mr->attr.addr, mr->attr.length, mr->lkey,
			      mr->rkey,      mr->attr.access, (uint64_t)(int64_t)ret};

	vs_ev(mr->dev, VS_EV_VERB_REG_MR, NULL, 0, 6, a);
}

struct vs_mr *vs_mr_reg(struct vs_pd *pd, const struct vs_mr_attr *attr, int *err)
{
	struct vs_dev *dev = pd->dev;
	enum vs_reason r = attr_check(attr);
	struct vs_mr *mr;
	bool has_keys;

	if (r != VS_REASON_NONE) {
		*err = vs_refuse(dev, VS_ERR_INVAL, r);
		return NULL;
	}
	mr = dev->n_mr < dev->attr.max_mr ? vs_alloc(dev, sizeof(*mr)) : NULL;
	if (mr == NULL) {
		*err = vs_refuse(dev, VS_ERR_NOSPACE, VS_REASON_LIMIT_MR);
		return NULL;
	}
	mr->dev = dev;
	has_keys = take_keys(mr, &mr->lkey, &mr->rkey);
	assert(has_keys); /* the table has room for those of every region and window */
	(void)has_keys;
	mr->pd = pd;
	mr->attr = *attr;
	vs_list_init(&mr->link);
	vs_list_add_tail(&dev->mrs, &mr->link);
	dev->n_mr++;
	pd->users++;
	reg_event(mr, VS_OK);
	*err = VS_OK;
	return mr;
}

int vs_mr_rereg(struct vs_mr *mr, unsigned flags, struct vs_pd *pd, const struct vs_mr_attr *attr)
{
	struct vs_dev *dev = mr->dev;
	struct vs_mr_attr a = mr->attr;
	bool keep = (flags & VS_REREG_KEEP_KEYS) != 0;
	uint32_t lkey = mr->lkey, rkey = mr->rkey;
	enum vs_reason r;

	flags &= ~(unsigned)VS_REREG_KEEP_KEYS;
	if (flags == 0 || (flags & ~7u) != 0 || ((flags & VS_REREG_PD) && pd == NULL))
		return vs_refuse(dev, VS_ERR_INVAL, VS_REASON_REREG_FLAGS);
	if (mr->bound_windows > 0)
		return vs_refuse(dev, VS_ERR_BUSY, VS_REASON_MR_BOUND);
	if (flags & VS_REREG_TRANSLATION) {
		a.addr = attr->addr;
		a.length = attr->length;
		a.iova = attr->iova;
	}
	if (flags & VS_REREG_ACCESS)
		a.access = attr->access;
	r = attr_check(&a);
	if (r != VS_REASON_NONE)
		return vs_refuse(dev, VS_ERR_INVAL, r);
	if (!keep && !take_keys(mr, &lkey, &rkey))
		return vs_refuse(dev, VS_ERR_NOSPACE, VS_REASON_LIMIT_MR);
	if (!keep) {
		vs_key_free(dev, mr->lkey);
		vs_key_free(dev, mr->rkey);
	}
	mr->lkey = lkey;
	mr->rkey = rkey;
	mr->attr = a;
	if (flags & VS_REREG_PD) {
		mr->pd->users--;
		pd->users++;
		mr->pd = pd;
	}
	reg_event(mr, VS_OK);
	return VS_OK;
}

void vs_mr_free(struct vs_mr *mr)
{
	struct vs_dev *dev = mr->dev;

	vs_key_free(dev, mr->lkey);
	vs_key_free(dev, mr->rkey);
	mr->pd->users--;
	dev->n_mr--;
	vs_list_del(&mr->link);
	vs_free(dev, mr, sizeof(*mr));
}

int vs_mr_dereg(struct vs_mr *mr)
{
	struct vs_dev *dev = mr->dev;
	const uint64_t a[] = {mr->lkey, 0};

	if (mr->bound_windows > 0)
		return vs_refuse(dev, VS_ERR_BUSY, VS_REASON_MR_BOUND);
	vs_mr_free(mr);
	vs_ev(dev, VS_EV_VERB_DEREG_MR, NULL, 0, 2, a);
	return VS_OK;
}

uint32_t vs_mr_lkey(const struct vs_mr *mr)
{
	return mr->lkey;
}

uint32_t vs_mr_rkey(const struct vs_mr *mr)
{
	return mr->rkey;
}

/* ---- judging keys ---- */

enum vs_reason vs_key_check_local(struct vs_pd *pd, uint32_t lkey, uint64_t addr, uint32_t len, uint32_t access,
				  uint64_t *host)
{
	const struct vs_key_slot *s = vs_key_find(pd->dev, lkey);
	const struct vs_mr *mr;

	if (s == NULL || s->kind != VS_KEY_LKEY)
		return VS_REASON_LKEY_INVALID;
	mr = s->object;
	if (mr->pd != pd)
		return VS_REASON_LKEY_PD;
	if ((mr->attr.access & access) != access)
		return VS_REASON_LKEY_ACCESS;
	if (!vs_range_inside(addr, len, mr->attr.iova, mr->attr.length))
		return VS_REASON_LKEY_RANGE;
	*host = mr->attr.addr + (addr - mr->attr.iova);
	return VS_REASON_NONE;
}

static enum vs_reason check_window(const struct vs_qp *qp, const struct vs_mw *mw, uint32_t access)
{
	if (mw->mr == NULL)
		return VS_REASON_RKEY_INVALID;
	if (mw->pd != qp->pd)
		return VS_REASON_RKEY_PD;
	if (mw->type == VS_MW_TYPE_2 && mw->qp != qp)
		return VS_REASON_RKEY_QP;
	return (mw->access & access) == access ? VS_REASON_NONE : VS_REASON_RKEY_ACCESS;
}

/* What a remote key stands for, once it exists and its rights suffice. */
struct remote_range {
	const struct vs_mr *mr;
	uint64_t base, length; /* as peers see it */
	uint64_t host;         /* of base */
};

static enum vs_reason remote_range(const struct vs_qp *qp, uint32_t rkey, uint32_t access, struct remote_range *range)
{
	const struct vs_key_slot *s = vs_key_find(qp->dev, rkey);
	const struct vs_mr *mr;
	enum vs_reason r;

	if (s == NULL || s->kind == VS_KEY_LKEY)
		return VS_REASON_RKEY_INVALID;
	if (s->kind == VS_KEY_MW) {
		const struct vs_mw *mw = s->object;

		r = check_window(qp, mw, access);
		if (r != VS_REASON_NONE)
			return r;
		mr = mw->mr;
		/* A zero-based window counts from 0; its place in the region is mw->addr. */
		range->base = mw->access & VS_ACCESS_ZERO_BASED ? 0 : mw->addr;
		range->length = mw->length;
		range->host = mr->attr.addr + (mw->addr - mr->attr.iova);
	} else {
		mr = s->object;
		if (mr->pd != qp->pd)
			return VS_REASON_RKEY_PD;
		if ((mr->attr.access & access) != access)
			return VS_REASON_RKEY_ACCESS;
		range->base = mr->attr.iova;
		range->length = mr->attr.length;
		range->host = mr->attr.addr;
	}
	range->mr = mr;
	return VS_REASON_NONE;
}

enum vs_reason vs_key_check_remote(const struct vs_qp *qp, uint32_t rkey, uint64_t va, uint64_t len, uint32_t access,
				   uint64_t *host)
{
	struct remote_range range;
	enum vs_reason r = remote_range(qp, rkey, access, &range);
	unsigned past = 0;

	if (r != VS_REASON_NONE)
		return r;
	if (VS_DEVIATES(qp->dev, RANGE_OFF_BY_ONE)) {
		range.length++;
		past = 1;
	}
	if (!vs_range_inside(va, len, range.base, range.length)) {
		/* Unchecked at bind, a window may reach past its region: that is found here. */
		return VS_REASON_RKEY_RANGE;
	}
	*host = range.host + (va - range.base);
	if (!vs_range_inside(*host, len, range.mr->attr.addr, range.mr->attr.length + past))
		return VS_REASON_RKEY_RANGE;
	return VS_REASON_NONE;
}

enum vs_reason vs_key_region(const struct vs_qp *qp, uint32_t rkey, uint32_t access, uint64_t *host, uint64_t *len)
{
	struct remote_range range;
	enum vs_reason r = remote_range(qp, rkey, access, &range);

	if (r != VS_REASON_NONE)
		return r;
	*host = range.host;
	*len = range.length;
	return VS_REASON_NONE;
}

/* ---- DMA ---- */

void vs_dma_read(struct vs_dev *dev, struct vs_qp *qp, uint32_t key, uint64_t host, void *dst, uint32_t len)
{
	dev->attr.dma.read(dev->attr.dma.ctx, host, dst, len);
	if (VS_EV_ON(dev, VS_LEVEL_EXTRA)) {
		const uint64_t a[] = {host, len, key, dev->attr.sink.quick ? 0 : vs_hash(dst, len)};

		vs_ev(dev, VS_EV_DMA_READ, qp, dev->cause, 4, a);
	}
}

void vs_dma_write(struct vs_dev *dev, struct vs_qp *qp, uint32_t key, uint64_t host, const void *src, uint32_t len)
{
	dev->attr.dma.write(dev->attr.dma.ctx, host, src, len);
	if (VS_EV_ON(dev, VS_LEVEL_EXTRA)) {
		const uint64_t a[] = {host, len, key, dev->attr.sink.quick ? 0 : vs_hash(src, len)};

		vs_ev(dev, VS_EV_DMA_WRITE, qp, dev->cause, 4, a);
	}
}

enum vs_reason vs_scatter(struct vs_qp *qp, struct vs_pd *pd, const struct vs_sge *sge, uint32_t num_sge,
			  uint32_t offset, const uint8_t *src, uint32_t len)
{
	uint32_t i;

	for (i = 0; i < num_sge && len > 0; i++) {
		uint32_t n = sge[i].length > offset ? sge[i].length - offset : 0;
		enum vs_reason r;
		uint64_t host;

		if (n == 0) {
			offset -= sge[i].length;
			continue;
		}
		n = n < len ? n : len;
		r = vs_key_check_local(pd, sge[i].lkey, sge[i].addr + offset, n, VS_ACCESS_LOCAL_WRITE, &host);
		if (r != VS_REASON_NONE)
			return r;
		if (src != NULL) {
			vs_dma_write(qp->dev, qp, sge[i].lkey, host, src, n);
			src += n;
		}
		len -= n;
		offset = 0;
	}
	return VS_REASON_NONE;
}

enum vs_reason vs_rwqe_scatter(struct vs_qp *qp, const struct vs_rwqe *w, uint32_t offset, const uint8_t *src,
			       uint32_t len)
{
	return vs_scatter(qp, qp->srq != NULL ? qp->srq->pd : qp->pd, w->sge, w->num_sge, offset, src, len);
}

/* FNV-1a, 64 bits: names the bytes that left, so that a buffer changed after posting shows. */
uint64_t vs_hash(const void *p, size_t len)
{
	const uint8_t *b = p;
	uint64_t h = 0xcbf29ce484222325ull;
	size_t i;

	for (i = 0; i < len; i++)
		h = (h ^ b[i]) * 0x100000001b3ull;
	return h;
}

static void host_read(void *ctx, uint64_t addr, void *dst, uint32_t len)
{
	(void)ctx;
	memcpy(dst, (const void *)(uintptr_t)addr, len);
}

static void host_write(void *ctx, uint64_t addr, const void *src, uint32_t len)
{
	(void)ctx;
	memcpy((void *)(uintptr_t)addr, src, len);
}

static uint64_t host_fetch_add(void *ctx, uint64_t addr, uint64_t add)
{
	(void)ctx;
	return __atomic_fetch_add((uint64_t *)(uintptr_t)addr, add, __ATOMIC_SEQ_CST);
}

static uint64_t host_cmp_swap(void *ctx, uint64_t addr, uint64_t compare, uint64_t swap)
{
	(void)ctx;
	__atomic_compare_exchange_n((uint64_t *)(uintptr_t)addr, &compare, swap, false, __ATOMIC_SEQ_CST,
				    __ATOMIC_SEQ_CST);
	return compare;
}

static void host_write8(void *ctx, uint64_t addr, uint64_t value)
{
	(void)ctx;
	__atomic_store_n((uint64_t *)(uintptr_t)addr, value, __ATOMIC_SEQ_CST);
}

const struct vs_dma_ops vs_dma_host = {
	.read = host_read,
	.write = host_write,
	.fetch_add = host_fetch_add,
	.cmp_swap = host_cmp_swap,
	.write8 = host_write8,
};
