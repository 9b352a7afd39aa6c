/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * bridge.h - in the middle between two devices: what each sends reaches the other, save what faults do to it.
 *
 *   bridge.c  two ends of Ethernet, and a thread that forwards
 *   pair.c    the target that it is for: two devices, of which each has nodes of the script
 */
#ifndef CONFORM_BRIDGE_H
#define CONFORM_BRIDGE_H

#include "conform.h"
#include "drill/target.h"
#include "peer.h"

struct vc_bridge;

/* NULL: `why` says what is wrong, and what to do. It forwards from now on. */
struct vc_bridge *vc_bridge_open(const struct vc_peer_spec *s, char *why, size_t cap);
void vc_bridge_close(struct vc_bridge *b); /* NULL is fine */

/* A run begins: no faults, nodes are called so, and what has gone by before is forgotten. False: no memory. */
bool vc_bridge_begin(struct vc_bridge *b, uint64_t seed, const char *first, const char *second);
int vc_bridge_fault(struct vc_bridge *b, const char *rule); /* one more; NULL: none any more */
/* The name of a rule that has never acted, until the next call; NULL: there is none. */
const char *vc_bridge_idle(struct vc_bridge *b);

/* A frame of RDMA went by, or was lost, at `stamp_ns` (CLOCK_REALTIME). */
typedef void vc_bridge_fn(void *ctx, uint64_t stamp_ns, unsigned end, bool lost, const uint8_t *frame, size_t len);
/* Tells what has gone by, in its order; how many. NULL in *broken: it works; else what happened to it. */
unsigned vc_bridge_hear(struct vc_bridge *b, vc_bridge_fn *fn, void *ctx, const char **broken);

/* dr_open_fn; ctx is a const struct vc_options. */
struct dr_target *vc_pair_open(void *ctx, const struct dr_setup *s, char *why, size_t cap, bool *skip);
/* Can both devices and the bridge be opened? `why` says why not. */
bool vc_pair_try(const struct vc_options *o, char *why, size_t cap);
void vc_pair_close(void);

#endif
