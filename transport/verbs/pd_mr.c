/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * pd_mr.c - protection domains (parent and thread domains too) and memory regions. No page is pinned: the engine
 * copies from and to the program's memory while it holds the lock.
 */
#include <stdlib.h>

#include "verbs/ref.h"

#undef ibv_reg_mr
#undef ibv_reg_mr_iova

/* ---- protection domains ---- */

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct ref_pd *pd = calloc(1, sizeof(*pd));
	int err = VS_ERR_NOSPACE;

	if (pd == NULL || !ref_enter()) {
		free(pd);
		return NULL;
	}
	pd->dev = ref_dev(context);
	pd->vs = vs_pd_create(pd->dev, &err);
	if (pd->vs == NULL) {
		(void)ref_refuse(pd->dev, "ibv_alloc_pd", err);
	} else {
		pd->pd.handle = ++ref.last_handle;
		pd->next = ref.pds;
		ref.pds = pd;
	}
	ref_leave_quiet();
	if (pd->vs == NULL) {
		free(pd);
		return NULL;
	}
	pd->pd.context = context;
	return &pd->pd;
}

/* Lets a parent domain go; the PD below it stays. */
static int dealloc_child(struct ref_pd *pd)
{
	if (!ref_enter())
		return errno;
	pd->parent->children--;
	ref_leave_quiet();
	free(pd);
	return 0;
}

int ibv_dealloc_pd(struct ibv_pd *ibpd)
{
	struct ref_pd *pd = ref_pd(ibpd), **at;
	int rc;

	if (pd->parent != NULL)
		return dealloc_child(pd);
	if (!ref_enter())
		return errno;
	rc = pd->children > 0 ? EBUSY : ref_error(pd->dev, "ibv_dealloc_pd", vs_pd_destroy(pd->vs));
	for (at = &ref.pds; rc == 0 && *at != NULL; at = &(*at)->next) {
		if (*at == pd) {
			*at = pd->next;
			break;
		}
	}
	ref_leave_quiet();
	if (rc == 0)
		free(pd);
	return rc;
}

/* The engine has one lock, so a thread domain is a promise that costs and brings nothing. */
struct ibv_td *ref_alloc_td(struct ibv_context *context, struct ibv_td_init_attr *attr)
{
	struct ibv_td *td;

	if (attr->comp_mask != 0) {
		errno = EINVAL;
		return NULL;
	}
	td = calloc(1, sizeof(*td));
	if (td != NULL)
		td->context = context;
	return td;
}

int ref_dealloc_td(struct ibv_td *td)
{
	free(td);
	return 0;
}

struct ibv_pd *ref_alloc_parent_domain(struct ibv_context *context, struct ibv_parent_domain_init_attr *attr)
{
	struct ref_pd *pd, *parent;

	/* Queues are the engine's: they are not taken from the program's allocator. */
	if (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	if (attr->pd == NULL || ref_pd(attr->pd)->dev != ref_dev(context) ||
	    (attr->comp_mask & ~(uint32_t)IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT)) {
		errno = EINVAL;
		return NULL;
	}
	pd = calloc(1, sizeof(*pd));
	if (pd == NULL || !ref_enter()) {
		free(pd);
		return NULL;
	}
	parent = ref_pd(attr->pd)->parent != NULL ? ref_pd(attr->pd)->parent : ref_pd(attr->pd);
	parent->children++;
	ref_leave_quiet();
	pd->pd.context = context;
	pd->parent = parent;
	pd->vs = parent->vs;
	pd->dev = parent->dev;
	return &pd->pd;
}

/* ---- memory regions ---- */

/* Hints change nothing here; what the engine does not have is refused. */
static int access_of(unsigned int access, uint32_t *out)
{
	if (access & IBV_ACCESS_ON_DEMAND)
		return EOPNOTSUPP;
	*out = access & ~((unsigned)IBV_ACCESS_OPTIONAL_RANGE | IBV_ACCESS_HUGETLB);
	return 0;
}

static void fill(struct ref_mr *mr, void *addr, size_t length)
{
	mr->mr.addr = addr;
	mr->mr.length = length;
	mr->mr.lkey = vs_mr_lkey(mr->vs);
	mr->mr.rkey = vs_mr_rkey(mr->vs);
	mr->mr.handle = mr->mr.lkey;
}

static struct ibv_mr *reg(const char *verb, struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
			  unsigned access)
{
	struct vs_mr_attr attr = {.addr = (uintptr_t)addr, .length = length, .iova = iova};
	struct ref_mr *mr = calloc(1, sizeof(*mr));
	int err = access_of(access, &attr.access);

	if (err != 0)
		errno = err;
	if (mr == NULL || err != 0 || !ref_enter()) {
		free(mr);
		return NULL;
	}
	if (attr.access & VS_ACCESS_ZERO_BASED)
		attr.iova = 0;
	mr->vs = vs_mr_reg(ref_pd(pd)->vs, &attr, &err);
	if (mr->vs != NULL) {
		fill(mr, addr, length);
		mr->next = ref.mrs;
		ref.mrs = mr;
	} else {
		(void)ref_refuse(ref_pd(pd)->dev, verb, err);
	}
	ref_leave_quiet();
	if (mr->vs == NULL) {
		free(mr);
		return NULL;
	}
	mr->dev = ref_pd(pd)->dev;
	mr->mr.context = pd->context;
	mr->mr.pd = pd;
	return &mr->mr;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	return reg("ibv_reg_mr", pd, addr, length, (uintptr_t)addr, (unsigned)access);
}

struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, int access)
{
	return reg("ibv_reg_mr_iova", pd, addr, length, iova, (unsigned)access);
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned int access)
{
	return reg("ibv_reg_mr_iova2", pd, addr, length, iova, access);
}

struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd, int access)
{
	(void)pd;
	(void)offset;
	(void)length;
	(void)iova;
	(void)fd;
	(void)access;
	errno = EOPNOTSUPP; /* the memory of a dma-buf need not be this process's */
	return NULL;
}

int ibv_rereg_mr(struct ibv_mr *ibmr, int flags, struct ibv_pd *pd, void *addr, size_t length, int access)
{
	struct ref_mr *mr = ref_mr(ibmr);
	struct vs_mr_attr attr = {.addr = (uintptr_t)addr, .length = length, .iova = (uintptr_t)addr};
	bool translation = (flags & IBV_REREG_MR_CHANGE_TRANSLATION) != 0;
	bool other_pd = (flags & IBV_REREG_MR_CHANGE_PD) != 0; /* without it, pyverbs hands over what is no pointer */
	int rc;

	if ((flags & ~IBV_REREG_MR_FLAGS_SUPPORTED) || (translation && (length == 0 || addr == NULL)) ||
	    (other_pd && (pd == NULL || ref_pd(pd)->dev != mr->dev)) || access < 0 ||
	    access_of((unsigned)access, &attr.access) != 0) {
		errno = EINVAL;
		return IBV_REREG_MR_ERR_INPUT;
	}
	if (!ref_enter())
		return IBV_REREG_MR_ERR_CMD;
	rc = vs_mr_rereg(mr->vs, (unsigned)flags | VS_REREG_KEEP_KEYS, other_pd ? ref_pd(pd)->vs : NULL, &attr);
	if (rc != VS_OK) {
		errno = ref_error(mr->dev, "ibv_rereg_mr", rc);
		ref_leave_quiet();
		return IBV_REREG_MR_ERR_INPUT; /* all or nothing: the old region is as it was */
	}
	fill(mr, translation ? addr : ibmr->addr, translation ? length : ibmr->length);
	if (other_pd)
		ibmr->pd = pd;
	ref_leave_quiet();
	return 0;
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	struct ref_mr **at;
	int rc;

	if (!ref_enter())
		return errno;
	ref_trace_memory(ref_mr(mr)->dev, mr->lkey, mr->addr, mr->length);
	rc = ref_error(ref_mr(mr)->dev, "ibv_dereg_mr", vs_mr_dereg(ref_mr(mr)->vs));
	for (at = &ref.mrs; rc == 0 && *at != NULL; at = &(*at)->next) {
		if (*at == ref_mr(mr)) {
			*at = (*at)->next;
			break;
		}
	}
	ref_leave_quiet();
	if (rc == 0)
		free(mr);
	return rc;
}

/* Nothing is pinned, so a child's copies harm nobody. */
int ibv_dontfork_range(void *base, size_t size);
int ibv_dofork_range(void *base, size_t size);
__attribute__((visibility("default"))) int ibv_dontfork_range(void *base, size_t size)
{
	(void)base;
	(void)size;
	return 0;
}

__attribute__((visibility("default"))) int ibv_dofork_range(void *base, size_t size)
{
	(void)base;
	(void)size;
	return 0;
}
