/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * deviation.h - probes: each provokes the situation in which one defect of deviations.def shows, on a rig, and says
 * whether it was seen. They stand in deviation_*.c by what the defect is in; test_deviations.c runs them.
 */
#ifndef VS_TESTS_DEVIATION_H
#define VS_TESTS_DEVIATION_H

#include "rig.h"

#define P RIG_PEER_PSN
#define D RIG_DUT_PSN
#define MEM(r, off) ((uintptr_t)(r)->mem + (off))
#define KEY(r) vs_mr_rkey((r)->mr)
#define T_NS(code) (4096ull << (code))

struct probe {
	enum vs_deviation of;
	bool (*seen)(struct rig *r); /* true: the defect is there */
	struct rig_opt opt;
};

#define PROBE(ID, fn, ...)                                                  \
	{                                                                   \
		.of = VS_DEVIATION_##ID, .seen = fn, .opt = { __VA_ARGS__ } \
	}
extern const struct probe probes_responder[], probes_requester[], probes_objects[]; /* the last one has no `seen` */

extern const uint8_t probe_mgid[16];
int probe_status(struct vs_cq *cq); /* of the next completion; -1: none */
int probe_async(struct rig *r);     /* the next event, or -1 */
/* The next packet's opcode, or -1; its AETH syndrome in *syn (0xff: none). */
int probe_next(struct rig *r, uint8_t *syn);
int probe_post(struct rig *r, enum vs_wr_opcode op, uint64_t id, uint32_t len, unsigned flags);
struct vs_mw *probe_window(struct rig *r);
/* Binds and reports the completion status. */
int probe_bind(struct rig *r, struct vs_mw *mw, uint8_t key, uint64_t addr, uint64_t len);
void probe_send_mcast(struct rig *r);

#endif
