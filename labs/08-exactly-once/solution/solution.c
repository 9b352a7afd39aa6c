/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * Lab 08: a counter in B's memory from which A draws tickets, a lock in B's memory, and an order that nobody gives
 * away.
 *
 *   tickets SEED  six FETCH_ADDs at once: every ticket exactly once, whatever gets lost
 *   lock SEED     COMPARE_SWAP: the first one gets it
 *   order SEED    what A has read, it passes on
 *   odd SEED      an atomic on an address that is not a multiple of 8
 *   all SEED      all of them, one after the other
 */
#include "lab.h"

#define TICKETS 6

enum { COUNTER, CELL, LOCK, BOX_1, BOX_2 }; /* what stands where in B's memory, 8 bytes each */
#define SCRATCH 6                           /* of A's: behind the tickets */

static uint64_t a_mem[8], b_mem[8];
static struct lab_side a, b;
static struct ibv_mr *ma, *mb;
static struct ibv_qp *qa, *qb;

/* B can remember the answers to `depth` READs and atomics at a time, and says so when it becomes RTR. */
static void connect_both(uint8_t depth)
{
	struct lab_path path = LAB_PATH, at_b = LAB_PATH;

	at_b.rd_atomic = depth;
	path.rd_atomic = depth; /* A must not have more of them under way than B can remember */
	path.timeout = at_b.timeout = 10;
	qa = lab_qp(&a, IBV_QPT_RC, 16, 16);
	qb = lab_qp(&b, IBV_QPT_RC, 16, 16);
	lab_init(qa, &path);
	lab_init(qb, &at_b);
	lab_meet_one(qb, qa->qp_num, &a.gid, at_b.psn_b, at_b.psn_a, &at_b);
	lab_meet_one(qa, qb->qp_num, &b.gid, path.psn_a, path.psn_b, &path);
}

static void disconnect_both(void)
{
	lab_must(ibv_destroy_qp(qa), "ibv_destroy_qp");
	lab_must(ibv_destroy_qp(qb), "ibv_destroy_qp");
}

/* An atomic on the 8 bytes at `offset` of B's memory; what was there before goes to a_mem[into]. */
static void post_atomic(uint64_t wr_id, enum ibv_wr_opcode opcode, unsigned offset, uint64_t compare_add, uint64_t swap,
			unsigned into)
{
	struct ibv_sge sge = {.addr = (uintptr_t)&a_mem[into], .length = 8, .lkey = ma->lkey};
	struct ibv_send_wr wr = {
		.wr_id = wr_id, .sg_list = &sge, .num_sge = 1, .opcode = opcode, .send_flags = IBV_SEND_SIGNALED};
	struct ibv_send_wr *bad;

	wr.wr.atomic.remote_addr = (uintptr_t)b_mem + offset;
	wr.wr.atomic.rkey = mb->rkey;
	wr.wr.atomic.compare_add = compare_add; /* in this machine's byte order: the device turns it */
	wr.wr.atomic.swap = swap;
	lab_must(ibv_post_send(qa, &wr, &bad), "ibv_post_send");
}

static void tickets(void)
{
	for (unsigned i = 0; i < TICKETS; i++)
		post_atomic(10 + i, IBV_WR_ATOMIC_FETCH_AND_ADD, COUNTER * 8, 1, 0, i);
	for (unsigned i = 0; i < TICKETS; i++)
		(void)lab_done(&a);
	for (unsigned i = 0; i < TICKETS; i++)
		printf("ticket_%u: %llu\n", i + 1, (unsigned long long)a_mem[i]);
	printf("counter: %llu\n", (unsigned long long)b_mem[COUNTER]);
}

/* The lock is free when it is 0. True: it is ours now. */
static int take_lock(uint64_t wr_id, uint64_t owner)
{
	post_atomic(wr_id, IBV_WR_ATOMIC_CMP_AND_SWP, LOCK * 8, 0, owner, SCRATCH);
	(void)lab_done(&a);
	return a_mem[SCRATCH] == 0;
}

static void lock(void)
{
	for (unsigned i = 0; i < 2; i++) {
		int ours = take_lock(20 + i, 7 + 2 * i);

		printf("lock: %s\n", ours ? "ours" : "taken");
		if (!ours)
			continue;
		post_atomic(25 + i, IBV_WR_ATOMIC_FETCH_AND_ADD, COUNTER * 8, 1, 0, 0); /* what the lock protects */
		(void)lab_done(&a);
	}
}

static void post_receive(uint64_t wr_id, unsigned box)
{
	struct ibv_sge sge = {.addr = (uintptr_t)&b_mem[box], .length = 8, .lkey = mb->lkey};
	struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1}, *bad;

	lab_must(ibv_post_recv(qb, &wr, &bad), "ibv_post_recv");
}

/* READs B's cell into A's scratch, or SENDs A's scratch. */
static void post(uint64_t wr_id, enum ibv_wr_opcode opcode, unsigned flags)
{
	struct ibv_sge sge = {.addr = (uintptr_t)&a_mem[SCRATCH], .length = 8, .lkey = ma->lkey};
	struct ibv_send_wr wr = {.wr_id = wr_id,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = opcode,
				 .send_flags = IBV_SEND_SIGNALED | flags};
	struct ibv_send_wr *bad;

	wr.wr.rdma.remote_addr = (uintptr_t)&b_mem[CELL];
	wr.wr.rdma.rkey = mb->rkey;
	lab_must(ibv_post_send(qa, &wr, &bad), "ibv_post_send");
}

/* Twice: A reads B's cell, and sends B what it has read, both posted at once. */
static void order(void)
{
	post_receive(40, BOX_1);
	post_receive(41, BOX_2);
	a_mem[SCRATCH] = 0;
	post(30, IBV_WR_RDMA_READ, 0);
	post(31, IBV_WR_SEND, 0); /* given: that is how it goes wrong */
	(void)lab_done(&a);
	(void)lab_done(&a);
	(void)lab_done(&b);
	printf("unfenced: %s\n", b_mem[BOX_1] == b_mem[CELL] ? "new" : "old");
	a_mem[SCRATCH] = 0;
	post(32, IBV_WR_RDMA_READ, 0);
	post(33, IBV_WR_SEND, IBV_SEND_FENCE);
	(void)lab_done(&a);
	(void)lab_done(&a);
	(void)lab_done(&b);
	printf("fenced: %s\n", b_mem[BOX_2] == b_mem[CELL] ? "new" : "old");
}

/* Given. The queue pair does not survive it. */
static void odd(void)
{
	struct ibv_wc wc = {.status = IBV_WC_GENERAL_ERR};

	post_atomic(50, IBV_WR_ATOMIC_FETCH_AND_ADD, COUNTER * 8 + 4, 1, 0, SCRATCH);
	(void)lab_poll(&a, &wc);
	printf("odd: %s\n", ibv_wc_status_str(wc.status));
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} rows[] = {{"tickets", tickets}, {"lock", lock}, {"order", order}, {"odd", odd}};
	unsigned long seed = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;

	if (argc < 2) {
		fprintf(stderr, "usage: lab tickets|lock|order|odd|all SEED\n");
		return 2;
	}
	b_mem[COUNTER] = 100 + seed % 50;
	b_mem[CELL] = 0x5ca1ab1e;
	lab_open(&a, &b);
	ma = lab_reg(&a, a_mem, sizeof(a_mem), IBV_ACCESS_LOCAL_WRITE);
	mb = lab_reg(&b, b_mem, sizeof(b_mem),
		     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
	connect_both((uint8_t)(1 + seed % 3));
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(argv[1], rows[i].name) == 0 || strcmp(argv[1], "all") == 0)
			rows[i].run();
	disconnect_both();
	lab_must(ibv_dereg_mr(ma), "ibv_dereg_mr");
	lab_must(ibv_dereg_mr(mb), "ibv_dereg_mr");
	lab_close_side(&a);
	lab_close_side(&b);
	return 0;
}
