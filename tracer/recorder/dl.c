/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * dl.c - a program that opens libibverbs by itself asks that library for its functions, past whatever is preloaded. So
 * we stand in front of dlsym(3), too: for a verb that we record and that exists there, it finds ours. Everything else
 * goes on by a jump, for RTLD_NEXT depends on who called.
 */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>
#include <string.h>

#include "recorder.h"

static const struct {
	const char *name;
	void (*ours)(void);
} functions[] = {
#define F(name)                               \
	{                                     \
#name, (void (*)(void))(name) \
	}
	F(ibv_open_device), F(ibv_close_device), F(ibv_query_gid),     F(ibv_get_async_event), F(ibv_reg_mr),
	F(ibv_reg_mr_iova), F(ibv_reg_mr_iova2), F(ibv_dereg_mr),      F(ibv_create_cq),       F(ibv_destroy_cq),
	F(ibv_resize_cq),   F(ibv_get_cq_event), F(ibv_create_srq),    F(ibv_create_ah),       F(ibv_create_qp),
	F(ibv_modify_qp),   F(ibv_destroy_qp),   F(rdma_resolve_addr), F(rdma_resolve_route),  F(rdma_listen),
	F(rdma_connect),    F(rdma_accept),      F(rdma_reject),       F(rdma_disconnect),     F(rdma_get_cm_event),
	F(rdma_create_qp),
#undef F
};

static void *ours(void *handle, const char *name)
{
	void *p = NULL;

	for (unsigned i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (strcmp(functions[i].name, name) == 0 && rec_real_dlsym(handle, name) != NULL)
			memcpy(&p, &functions[i].ours, sizeof(p));
	return p;
}

/* The last thing it does is a jump to the real one, with the caller's return address. */
EXPORT REC_JUMPS void *dlsym(void *restrict handle, const char *restrict name)
{
	if (handle != RTLD_NEXT && handle != RTLD_DEFAULT &&
	    (strncmp(name, "ibv_", 4) == 0 || strncmp(name, "rdma_", 5) == 0)) {
		void *p = ours(handle, name);

		if (p != NULL)
			return p;
	}
	return rec_real_dlsym(handle, name);
}
