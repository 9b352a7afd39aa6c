/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * rig.h - what the verbs device ref0 lets its surroundings do, beside the verbs: what on a real device is a matter of
 * /sys, of its network interface and of the cable. Found by dlsym(lib, VS_RIG_SYMBOL) in our libibverbs.so.1, and in no
 * other.
 *
 * All of it holds for the device of this process, once a context is open. What it is made of (congestion control,
 * P_Keys, how often an ACK is asked for ...) is said before that, in the environment: VS_DEVICE, in vs-run(1).
 */
#ifndef VS_RIG_H
#define VS_RIG_H

#include <stddef.h>

#include "vs/dev.h"

#define VS_RIG_SYMBOL "ref_rig"
#define VS_RIG_VERSION 1

struct vs_rig {
	unsigned version; /* VS_RIG_VERSION */
	uint64_t (*counter)(enum vs_counter c);
	/*
	 * A rule more for what goes out and comes in (vs/fault.h; its nodes are "me" and "peer"; what the device sends
	 * to itself is judged once), NULL: none any more. 0, or an errno with `why`.
	 */
	int (*fault)(const char *rule, char *why, size_t cap);
	/* Name of a rule that had no packet to act on; NULL: none. */
	const char *(*idle_fault)(void);
	/* One entry of the GID table, and the events that follow. Its packets still come by the sockets that are open.
	 */
	int (*set_gid)(unsigned index, const struct vs_gid_entry *gid);
	int (*set_link)(bool up);
};

/*
 * The DMA log, a symbol of its own: int ref_dma_log(vs_rig_dma_fn *fn, void *ctx). `fn` (NULL: nobody) is told of every
 * read and write of application memory by a device of this process, before it is done, whatever the data are for;
 * atomics apart. It holds the engine's lock: no verbs calls in it.
 */
#define VS_RIG_DMA_SYMBOL "ref_dma_log"
typedef void vs_rig_dma_fn(void *ctx, bool write, uint64_t addr, uint32_t len);

#endif
