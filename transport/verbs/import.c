/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * import.c - objects of one context used through another: the context is named by a copy of its cmd_fd, the objects by
 * their handles. Within one process alone: there is no kernel object that two processes could share, and one's memory
 * is not the other's.
 */
#include <stdlib.h>
#include <sys/stat.h>

#include "verbs/ref.h"

/* The open context whose cmd_fd this is a copy of. Inside the lock. */
static const struct ref_context *owner_of(int fd)
{
	struct stat st, here;

	if (fstat(fd, &st) != 0)
		return NULL;
	for (const struct ref_context *c = ref.contexts; c != NULL; c = c->next)
		if (fstat(c->v.context.cmd_fd, &here) == 0 && here.st_dev == st.st_dev && here.st_ino == st.st_ino)
			return c;
	return NULL;
}

struct ibv_context *ibv_import_device(int cmd_fd)
{
	struct ibv_device *device = NULL;
	const struct ref_context *c;

	if (!ref_enter())
		return NULL;
	c = owner_of(cmd_fd);
	if (c != NULL)
		device = c->v.context.device;
	ref_leave_quiet();
	if (device == NULL) {
		errno = EOPNOTSUPP; /* of another process, or nobody's */
		return NULL;
	}
	return ref_open_context(device, cmd_fd);
}

struct ibv_pd *ibv_import_pd(struct ibv_context *context, uint32_t handle)
{
	struct ref_pd *pd = calloc(1, sizeof(*pd)), *original;

	if (pd == NULL || !ref_enter()) {
		free(pd);
		return NULL;
	}
	original = ref.pds;
	while (original != NULL && (original->pd.handle != handle || original->dev != ref_dev(context)))
		original = original->next;
	if (original != NULL)
		original->children++;
	ref_leave_quiet();
	if (original == NULL) {
		free(pd);
		errno = ENOENT;
		return NULL;
	}
	pd->pd.context = context;
	pd->pd.handle = handle;
	pd->parent = original;
	pd->vs = original->vs;
	pd->dev = original->dev;
	return &pd->pd;
}

void ibv_unimport_pd(struct ibv_pd *pd)
{
	if (ref_pd(pd)->parent != NULL)
		(void)ibv_dealloc_pd(pd);
}

struct ibv_mr *ibv_import_mr(struct ibv_pd *pd, uint32_t handle)
{
	struct ref_mr *mr = calloc(1, sizeof(*mr)), *original;

	if (mr == NULL || !ref_enter()) {
		free(mr);
		return NULL;
	}
	original = ref.mrs;
	while (original != NULL && (original->mr.handle != handle || original->dev != ref_pd(pd)->dev))
		original = original->next;
	if (original != NULL)
		mr->mr = (struct ibv_mr){.context = pd->context,
					 .pd = pd,
					 .handle = handle,
					 .lkey = original->mr.lkey,
					 .rkey = original->mr.rkey};
	ref_leave_quiet();
	if (original == NULL) {
		free(mr);
		errno = ENOENT;
		return NULL;
	}
	mr->vs = original->vs;
	mr->dev = original->dev;
	return &mr->mr;
}

void ibv_unimport_mr(struct ibv_mr *mr)
{
	free(mr);
}

struct ibv_dm *ibv_import_dm(struct ibv_context *context, uint32_t handle)
{
	(void)context;
	(void)handle;
	errno = EOPNOTSUPP; /* there is no device memory */
	return NULL;
}

void ibv_unimport_dm(struct ibv_dm *dm)
{
	(void)dm;
}
