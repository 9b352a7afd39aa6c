/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * sim.h - between the two files of the simulator as target: sim.c (nodes, wire, time, memory) and sim_verbs.c (the
 * verbs of the devices).
 */
#ifndef VS_DRILL_SIM_H
#define VS_DRILL_SIM_H

#include "target.h"
#include "vs/sim.h"

#define SIM_BASE UINT64_C(0x7f0000000000)
#define SIM_SHIFT 24 /* every region has 16 MiB of addresses */

struct sim_target {
	struct dr_target t;
	struct dr_target_ops ops;
	struct dr_setup setup;
	uint64_t deviations;
	struct vs_sim *sim;
	int host[MAX_NODES]; /* node -> host of the simulation */
	int peer;            /* the raw host; -1: none */
	bool is_global;
	unsigned gid_index;
	struct vs_pd *pd[MAX_NODES];
	uint8_t **bytes; /* of regions, one after the other, those that are gone too */
	unsigned regions, room;
	size_t region_bytes;
	struct handle *handles;
};

/* What the engine has no object for, or frees while a script may still name it. */
struct handle {
	struct handle *next;
	struct vs_ah *ah;  /* NULL: destroyed, or a channel */
	unsigned users;    /* a channel's queues */
	struct vs_cq *cq;  /* a queue with a channel: where that is found */
	struct handle *of; /* its channel */
};

static inline struct sim_target *self(struct dr_target *t)
{
	return (struct sim_target *)t;
}

static inline struct vs_dev *dev_of(struct dr_target *t, int node)
{
	return vs_sim_dev(self(t)->sim, self(t)->host[node]);
}

/* Fills in the part of the operations that are verbs. */
void dr_sim_verbs(struct dr_target_ops *ops);

#endif
