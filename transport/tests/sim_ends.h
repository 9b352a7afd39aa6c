/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * sim_ends.h - what the tests of the simulated wire share. The program is built against the installed libraries, linked
 * with -libverbs -lrdmacm, and run under vs-run --sim.
 */
#ifndef VS_TESTS_SIM_ENDS_H
#define VS_TESTS_SIM_ENDS_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include "runner.h"

#define SIZE 65536
#define MS 1000000ull
#define S 1000000000ull

struct end {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct ibv_qp *qp; /* NULL: destroyed */
	uint8_t *buf;
};
extern struct end a, b;                       /* set_up: on ref0 and ref1 */
extern uint8_t timeout, rnr_timer, rnr_retry; /* codes with which they connect */

void make_end(struct end *e, int device, enum ibv_qp_type type);
void connect_to(struct end *e, const struct end *peer);
void set_up(void);
void tear_down(void);
void post_to(struct end *e, enum ibv_wr_opcode op, const struct end *peer, uint32_t len, uint64_t wr_id);
void post_recv(struct end *e, uint64_t wr_id);
struct ibv_wc poll_for(struct ibv_cq *cq); /* polls an empty queue again and again */
struct ibv_wc block_for(struct end *e);    /* waits for the event */

uint64_t virtual_now(void);
uint64_t real_now(void);
void sleep_unseen(long ms); /* in real time, by a way that nobody sees */

/* What the files of this program claim. */
void add_waits(Suite *s);
void add_connections(Suite *s);

#endif
