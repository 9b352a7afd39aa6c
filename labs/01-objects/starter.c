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

	need(list, "ibv_get_device_list");
	context = ibv_open_device(list[0]);
	need(context, "ibv_open_device");
	ibv_free_device_list(list);

	/* TODO(1): a protection domain (ibv_alloc_pd), a completion queue with room for 16 (ibv_create_cq), a memory
	 * region over all of buf that the device may write (ibv_reg_mr), an RC queue pair (ibv_create_qp) with room for
	 * 4 requests and 4 receives of one piece of memory each. */

	/* TODO(2): the wrong order, once: ibv_dealloc_pd now. What does it return? Print it: printf("refused: %s\n",
	 * ...) */

	/* TODO(3): the right order. Who holds whom? */

	(void)buf;
	must(ibv_close_device(context), "ibv_close_device");
	return 0;
}
