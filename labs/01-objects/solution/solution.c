/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * Lab 01: make everything that one end of a connection needs, on the first device, and take it down again. Before you
 * take it down in the right order, try a wrong one once.
 *
 * The script claims: PD, CQ with room for 16, MR over `buf` with local write, RC QP; then a refused ibv_dealloc_pd;
 * then everything is destroyed. Nothing may be left, and nothing is sent.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char buf[4096];

static void need(const void *p, const char *what)
{
	if (p != NULL)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

static void must(int rc, const char *what) /* verbs return 0 or an errno */
{
	if (rc == 0)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(rc));
	exit(1);
}

int main(void)
{
	int n = 0;
	struct ibv_device **list = ibv_get_device_list(&n);
	struct ibv_context *context;
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1}};
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct ibv_qp *qp;

	need(list, "ibv_get_device_list");
	context = ibv_open_device(list[0]);
	need(context, "ibv_open_device");
	ibv_free_device_list(list);

	pd = ibv_alloc_pd(context);
	need(pd, "ibv_alloc_pd");
	cq = ibv_create_cq(context, 16, NULL, NULL, 0);
	need(cq, "ibv_create_cq");
	mr = ibv_reg_mr(pd, buf, sizeof(buf), IBV_ACCESS_LOCAL_WRITE);
	need(mr, "ibv_reg_mr");
	init.send_cq = init.recv_cq = cq;
	qp = ibv_create_qp(pd, &init);
	need(qp, "ibv_create_qp");

	printf("refused: %s\n", strerror(ibv_dealloc_pd(pd))); /* the region and the queue pair live in it */

	must(ibv_destroy_qp(qp), "ibv_destroy_qp"); /* it holds the completion queue and the domain */
	must(ibv_dereg_mr(mr), "ibv_dereg_mr");     /* it holds the domain */
	must(ibv_destroy_cq(cq), "ibv_destroy_cq");
	must(ibv_dealloc_pd(pd), "ibv_dealloc_pd");
	must(ibv_close_device(context), "ibv_close_device");
	return 0;
}
