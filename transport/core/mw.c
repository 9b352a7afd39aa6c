/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * mw.c - memory windows: bind and invalidate, in the order of the bind checks (C10-72..75, o10-36, o10-37).
 *
 * Type 1: bound by the bind verb, the device chooses the key; binding again rebinds; length 0
 * unbinds; can't be invalidated. Type 2: bound by a posted work request with the consumer's key byte,
 * only when it is free (invalidate first); belongs to the QP that bound it.
 */
#include "core.h"

struct vs_mw *vs_mw_alloc(struct vs_pd *pd, enum vs_mw_type type, int *err)
{
	struct vs_dev *dev = pd->dev;
	struct vs_mw *mw;

	if (type != VS_MW_TYPE_1 && type != VS_MW_TYPE_2) {
		*err = vs_refuse(dev, VS_ERR_INVAL, VS_REASON_MW_TYPE);
		return NULL;
	}
	mw = dev->n_mw < dev->attr.max_mw ? vs_alloc(dev, sizeof(*mw)) : NULL;
	if (mw == NULL) {
		*err = vs_refuse(dev, VS_ERR_NOSPACE, VS_REASON_LIMIT_MW);
		return NULL;
	}
	mw->rkey = vs_key_new(dev, VS_KEY_MW, mw);
	assert(mw->rkey != 0); /* the table has room for those of every region and window */
	mw->dev = dev;
	mw->pd = pd;
	mw->type = type;
	mw->posted_key = (uint8_t)mw->rkey;
	vs_list_init(&mw->link);
	vs_list_add_tail(&dev->mws, &mw->link);
	dev->n_mw++;
	pd->users++;
	*err = VS_OK;
	return mw;
}

static void unbind(struct vs_mw *mw)
{
	if (mw->mr != NULL)
		mw->mr->bound_windows--;
	mw->mr = NULL;
	mw->qp = NULL;
	mw->length = 0;
}

void vs_mw_free(struct vs_mw *mw)
{
	struct vs_dev *dev = mw->dev;

	unbind(mw);
	vs_key_free(dev, mw->rkey);
	mw->pd->users--;
	dev->n_mw--;
	vs_list_del(&mw->link);
	vs_free(dev, mw, sizeof(*mw));
}

int vs_mw_dealloc(struct vs_mw *mw)
{
	vs_mw_free(mw);
	return VS_OK;
}

uint32_t vs_mw_rkey(const struct vs_mw *mw)
{
	return mw->rkey;
}

/*
 * The key that the next posted type 1 bind gives: binds are executed in order, so it is known at post.
 */
uint32_t vs_mw_post_bind(struct vs_mw *mw)
{
	mw->posted_key = (uint8_t)(mw->posted_key + 1);
	return (mw->rkey & ~0xffu) | mw->posted_key;
}

uint32_t vs_mw_posted_rkey(const struct vs_mw *mw)
{
	return (mw->rkey & ~0xffu) | mw->posted_key;
}

/* Windows that were bound through a QP die with it (o10-2.2.5). */
void vs_mw_qp_gone(struct vs_qp *qp)
{
	struct vs_node *n;

	for (n = qp->dev->mws.next; n != &qp->dev->mws; n = n->next) {
		struct vs_mw *mw = VS_CONTAINER(n, struct vs_mw, link);

		if (mw->qp == qp)
			unbind(mw);
	}
}

static enum vs_reason bind_check(const struct vs_qp *qp, const struct vs_swqe *w, const struct vs_mw *mw,
				 const struct vs_mr *mr)
{
	const uint32_t rights =
		VS_ACCESS_REMOTE_WRITE | VS_ACCESS_REMOTE_READ | VS_ACCESS_REMOTE_ATOMIC | VS_ACCESS_ZERO_BASED;

	if (mw->type == VS_MW_TYPE_2 && mw->mr != NULL)
		return VS_REASON_MW_NOT_FREE; /* o10-37.2.30 */
	if (mw->type == VS_MW_TYPE_1 && (w->bind.access & VS_ACCESS_ZERO_BASED))
		return VS_REASON_MW_ZERO_BASED; /* o10-36.2.2 */
	if (mw->pd != qp->pd)
		return VS_REASON_MW_PD;
	if (w->bind.length == 0) /* type 1: unbind; type 2: o10-37.2.40 */
		return mw->type == VS_MW_TYPE_1 ? VS_REASON_NONE : VS_REASON_MW_LENGTH;
	if (mr == NULL)
		return VS_REASON_MW_NO_MR;
	if (mr->pd != qp->pd)
		return VS_REASON_MW_PD; /* C10-72 */
	if (!(mr->attr.access & VS_ACCESS_MW_BIND))
		return VS_REASON_MW_NO_BIND_RIGHT; /* C10-73 */
	if (w->bind.access & ~rights)
		return VS_REASON_MR_ACCESS;
	if ((w->bind.access & (VS_ACCESS_REMOTE_WRITE | VS_ACCESS_REMOTE_ATOMIC)) &&
	    !(mr->attr.access & VS_ACCESS_LOCAL_WRITE))
		return VS_REASON_MR_LOCAL_WRITE; /* C10-74 */
	if (!vs_range_inside(w->bind.addr, w->bind.length, mr->attr.iova, mr->attr.length) &&
	    !VS_DEVIATES(qp->dev, MW_RANGE_UNCHECKED))
		return VS_REASON_MW_RANGE; /* C10-75 */
	if (mw->type == VS_MW_TYPE_2 && (w->bind.rkey & 0xff) == (mw->rkey & 0xff) &&
	    VS_DEVIATES(qp->dev, MW_SAME_KEY_REFUSED))
		return VS_REASON_MW_NOT_FREE;
	return VS_REASON_NONE;
}

enum vs_reason vs_mw_bind(struct vs_qp *qp, const struct vs_swqe *w)
{
	/* Window and region are looked up again: either may have gone since the post. */
	struct vs_key_slot *slot = vs_key_slot_of(qp->dev, w->bind.mw_key);
	struct vs_key_slot *mr_slot = vs_key_find(qp->dev, w->bind.mr_lkey);
	struct vs_mr *mr = mr_slot != NULL && mr_slot->kind == VS_KEY_LKEY ? mr_slot->object : NULL;
	struct vs_mw *mw;
	enum vs_reason r;

	if (slot->kind != VS_KEY_MW || (slot->key ^ w->bind.mw_key) >> 8 != 0)
		return VS_REASON_MW_GONE;
	mw = slot->object;
	r = bind_check(qp, w, mw, mr);
	if (r != VS_REASON_NONE)
		return r;
	/* The index stays, the key byte changes: the old key is dead at once. */
	slot->key = (mw->rkey & ~0xffu) | (w->bind.rkey & 0xff);
	mw->rkey = slot->key;
	unbind(mw);
	if (w->bind.length == 0)
		return VS_REASON_NONE;
	mw->mr = mr;
	mw->mr->bound_windows++;
	mw->qp = mw->type == VS_MW_TYPE_2 ? qp : NULL;
	mw->addr = w->bind.addr;
	mw->length = w->bind.length;
	mw->access = w->bind.access;
	return VS_REASON_NONE;
}

enum vs_reason vs_key_invalidate(struct vs_qp *qp, uint32_t rkey, bool remote)
{
	const struct vs_key_slot *s = vs_key_find(qp->dev, rkey);
	struct vs_mw *mw;

	if (s == NULL || s->kind != VS_KEY_MW)
		return VS_REASON_INV_KEY;
	mw = s->object;
	if (mw->type != VS_MW_TYPE_2)
		return VS_REASON_INV_TYPE_1; /* o10-37.2.26 */
	if (mw->mr == NULL)
		return VS_REASON_INV_KEY;
	if (mw->pd != qp->pd || mw->qp != qp)
		return VS_REASON_INV_QP;
	if (!remote && VS_DEVIATES(qp->dev, LOCAL_INV_WRONG_KEY))
		return VS_REASON_INV_KEY;
	unbind(mw);
	return VS_REASON_NONE;
}
