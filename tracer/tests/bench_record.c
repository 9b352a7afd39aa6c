/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * bench_record.c - calls ibv_post_recv and, in vain, ibv_poll_cq on a device, N times each, and prints what a call
 * takes and how large the process has become. The difference with and without the recorder is what recording a call
 * costs.
 *
 *   bench_record [N]
 */
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#define DEPTH 4096u

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts); /* others may want the processor, too */
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static void to(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = {.qp_state = state, .port_num = 1};
	int mask = IBV_QP_STATE;

	if (state == IBV_QPS_INIT)
		mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
	if (ibv_modify_qp(qp, &attr, mask) != 0)
		exit(2);
}

/* A queue of receives is filled, and emptied by a reset, which is not timed. */
static double post(struct ibv_qp *qp, struct ibv_mr *mr, unsigned long n)
{
	struct ibv_sge sge = {.addr = (uintptr_t)mr->addr, .length = 64, .lkey = mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = 1, .sg_list = &sge, .num_sge = 1}, *bad;
	unsigned long rounds = (n + DEPTH - 1) / DEPTH;
	double sum = 0;

	for (unsigned long round = 0; round < rounds; round++) {
		double start;

		to(qp, IBV_QPS_RESET);
		to(qp, IBV_QPS_INIT);
		start = now();
		for (unsigned i = 0; i < DEPTH; i++)
			if (ibv_post_recv(qp, &wr, &bad) != 0)
				exit(2);
		sum += now() - start;
	}
	return sum / (double)(rounds * DEPTH);
}

static double poll(struct ibv_cq *cq, unsigned long n)
{
	double start = now();
	struct ibv_wc wc;

	for (unsigned long i = 0; i < n; i++)
		if (ibv_poll_cq(cq, 1, &wc) != 0)
			exit(2);
	return (now() - start) / (double)n;
}

int main(int argc, char **argv)
{
	static char buf[64];
	unsigned long n = argc > 1 ? strtoul(argv[1], NULL, 0) : 1000000;
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *c = list != NULL && list[0] != NULL ? ibv_open_device(list[0]) : NULL;
	struct ibv_pd *pd = c != NULL ? ibv_alloc_pd(c) : NULL;
	struct ibv_mr *mr = pd != NULL ? ibv_reg_mr(pd, buf, sizeof(buf), IBV_ACCESS_LOCAL_WRITE) : NULL;
	struct ibv_cq *cq = mr != NULL ? ibv_create_cq(c, 16, NULL, NULL, 0) : NULL;
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC, .send_cq = cq, .recv_cq = cq, .cap = {.max_recv_wr = DEPTH, .max_recv_sge = 1}};
	struct ibv_qp *qp = cq != NULL ? ibv_create_qp(pd, &init) : NULL;
	struct rusage use;

	if (qp == NULL)
		return 2;
	printf("post %.1f", post(qp, mr, n));
	printf(" poll %.1f", poll(cq, n / 10));
	getrusage(RUSAGE_SELF, &use);
	printf(" kB %ld\n", use.ru_maxrss);
	return 0;
}
