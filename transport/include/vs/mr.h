/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * mr.h - memory regions and windows.
 *
 * lkey and rkey of a region always differ, and both look random (from the seed): code that mixes
 * them up fails here. A key is 24 bits of index and 8 bits of "key"; the windows' key byte is the
 * consumer's (type 2) or the device's (type 1).
 */
#ifndef VS_MR_H
#define VS_MR_H

#include "vs/dev.h"

struct vs_mr_attr {
	uint64_t addr;   /* address handed to vs_dma_ops */
	uint64_t length; /* bytes; 0 is allowed */
	uint64_t iova;   /* address that peers and SGEs use; usually == addr; with ZERO_BASED: 0 */
	uint32_t access; /* set of enum vs_access; REMOTE_WRITE and REMOTE_ATOMIC need LOCAL_WRITE */
};

struct vs_mr *vs_mr_reg(struct vs_pd *pd, const struct vs_mr_attr *attr, int *err);
enum { VS_REREG_TRANSLATION = 1, VS_REREG_PD = 2, VS_REREG_ACCESS = 4, VS_REREG_KEEP_KEYS = 8 };
/*
 * Changes what `flags` names, all or nothing; both keys change, the old ones are dead on return. With KEEP_KEYS they
 * stay, as they do on most devices: programs rely on it.
 */
int vs_mr_rereg(struct vs_mr *mr, unsigned flags, struct vs_pd *pd, const struct vs_mr_attr *attr);
/* VS_ERR_BUSY while a window is bound. */
int vs_mr_dereg(struct vs_mr *mr);
uint32_t vs_mr_lkey(const struct vs_mr *mr);
uint32_t vs_mr_rkey(const struct vs_mr *mr);

enum vs_mw_type { VS_MW_TYPE_1 = 1, VS_MW_TYPE_2 = 2 };
struct vs_mw *vs_mw_alloc(struct vs_pd *pd, enum vs_mw_type type, int *err);
int vs_mw_dealloc(struct vs_mw *mw);
uint32_t vs_mw_rkey(const struct vs_mw *mw); /* the one that is valid now */
/* Type 1: the key that the newest posted bind gives once it is executed (what ibv_bind_mw tells its caller). */
uint32_t vs_mw_posted_rkey(const struct vs_mw *mw);

#endif
