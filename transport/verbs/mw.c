/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * mw.c - memory windows. Type 1 is bound by a verb of its own, type 2 by a work request (post.c, wr.c).
 */
#include <stdlib.h>

#include "verbs/ref.h"

struct ibv_mw *ref_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct ref_mw *mw = calloc(1, sizeof(*mw));
	int err = VS_ERR_INVAL;

	if (mw == NULL || !ref_enter()) {
		free(mw);
		return NULL;
	}
	mw->vs = vs_mw_alloc(ref_pd(pd)->vs, (enum vs_mw_type)type, &err);
	if (mw->vs != NULL)
		mw->mw.rkey = vs_mw_rkey(mw->vs);
	else
		(void)ref_refuse(ref_pd(pd)->dev, "ibv_alloc_mw", err);
	ref_leave_quiet();
	if (mw->vs == NULL) {
		free(mw);
		return NULL;
	}
	mw->dev = ref_pd(pd)->dev;
	mw->mw.context = pd->context;
	mw->mw.pd = pd;
	mw->mw.type = type;
	return &mw->mw;
}

int ref_dealloc_mw(struct ibv_mw *mw)
{
	int rc;

	if (!ref_enter())
		return errno;
	rc = ref_error(ref_mw(mw)->dev, "ibv_dealloc_mw", vs_mw_dealloc(ref_mw(mw)->vs));
	ref_leave_quiet();
	if (rc == 0)
		free(mw);
	return rc;
}

/* A window has remote rights alone: that its owner may write is no right of the window, and harmless to name. */
int ref_fill_bind(const struct ibv_qp *qp, struct vs_send_wr *wr, struct ibv_mw *mw, uint32_t rkey,
		  const struct ibv_mw_bind_info *info)
{
	if ((mw != NULL && ref_mw(mw)->dev != ref_qp_dev(qp)) ||
	    (info->mr != NULL && ref_mr(info->mr)->dev != ref_qp_dev(qp)))
		return ref_mixed("bind of a memory window");
	wr->bind.mw = mw != NULL ? ref_mw(mw)->vs : NULL;
	wr->bind.mr = info->mr != NULL ? ref_mr(info->mr)->vs : NULL;
	wr->bind.rkey = rkey;
	wr->bind.addr = info->addr;
	wr->bind.length = info->length;
	wr->bind.access = info->mw_access_flags & ~(unsigned)IBV_ACCESS_LOCAL_WRITE;
	return 0;
}

int ref_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	const struct ibv_mw_bind_info *info = &bind->bind_info;
	struct vs_send_wr wr = {.wr_id = bind->wr_id, .opcode = VS_WR_BIND_MW, .flags = bind->send_flags};
	int rc = ref_fill_bind(qp, &wr, mw, 0, info);

	if (rc != 0)
		return rc;
	if (!ref_enter())
		return errno;
	rc = ref_error(ref_qp_dev(qp), "ibv_bind_mw", vs_qp_post_send(ref_qp(qp)->vs, &wr));
	if (rc == 0)
		mw->rkey = vs_mw_posted_rkey(ref_mw(mw)->vs);
	ref_leave();
	return rc;
}
