/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * opened.c - a program that is not linked with libibverbs: it opens the library and looks its functions up, past
 * whatever is preloaded. Two contexts of one device, a queue pair on each. Also asks for the next dlsym, which must
 * stay its own.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <string.h>

#undef ibv_reg_mr

static void *library;

static void find(void *slot, const char *name)
{
	void *p = dlsym(library, name);

	memcpy(slot, &p, sizeof(p));
	if (p == NULL)
		printf("%s: %s\n", name, dlerror());
}

static struct ibv_device **(*get_list)(int *);
static struct ibv_context *(*open_device)(struct ibv_device *);
static struct ibv_pd *(*alloc_pd)(struct ibv_context *);
static struct ibv_mr *(*reg_mr)(struct ibv_pd *, void *, size_t, int);
static struct ibv_cq *(*create_cq)(struct ibv_context *, int, void *, struct ibv_comp_channel *, int);
static struct ibv_qp *(*create_qp)(struct ibv_pd *, struct ibv_qp_init_attr *);
static int (*modify_qp)(struct ibv_qp *, struct ibv_qp_attr *, int);

static int use(struct ibv_device *device)
{
	static char buf[64];
	struct ibv_context *c = open_device(device);
	struct ibv_pd *pd = c != NULL ? alloc_pd(c) : NULL;
	struct ibv_mr *mr = pd != NULL ? reg_mr(pd, buf, sizeof(buf), IBV_ACCESS_LOCAL_WRITE) : NULL;
	struct ibv_cq *cq = mr != NULL ? create_cq(c, 4, NULL, NULL, 0) : NULL;
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC, .send_cq = cq, .recv_cq = cq, .cap = {.max_recv_wr = 2, .max_recv_sge = 1}};
	struct ibv_qp *qp = cq != NULL ? create_qp(pd, &init) : NULL;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	struct ibv_sge sge = {.addr = (uintptr_t)buf, .length = sizeof(buf), .lkey = mr != NULL ? mr->lkey : 0};
	struct ibv_recv_wr wr = {.wr_id = 7, .sg_list = &sge, .num_sge = 1}, *bad;
	struct ibv_wc wc;

	if (qp == NULL ||
	    modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) != 0)
		return 1;
	return ibv_post_recv(qp, &wr, &bad) != 0 || ibv_poll_cq(cq, 1, &wc) != 0;
}

int main(void)
{
	struct ibv_device **list;
	int n = 0;

	library = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);
	if (library == NULL)
		return 2;
	find(&get_list, "ibv_get_device_list");
	find(&open_device, "ibv_open_device");
	find(&alloc_pd, "ibv_alloc_pd");
	find(&reg_mr, "ibv_reg_mr");
	find(&create_cq, "ibv_create_cq");
	find(&create_qp, "ibv_create_qp");
	find(&modify_qp, "ibv_modify_qp");
	list = get_list(&n);
	if (n == 0 || use(list[0]) != 0 || use(list[0]) != 0)
		return 1;
	return dlsym(RTLD_NEXT, "dlsym") != NULL && dlsym(RTLD_DEFAULT, "printf") != NULL ? 0 : 3;
}
