/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * sim.h - devices joined by a simulated wire under a virtual clock. Deterministic: the same
 * seed and calls give the same packets, events and bytes.
 *
 * A frame leaves a host when its link is idle; how long it takes is its length by rate_bps, then latency_ns.
 * VS_ERR_NOSPACE from a call that builds the network: nothing but vs_sim_destroy may follow.
 *
 * Nodes are hosts (one vs_dev each) and switches; links join two nodes, full duplex. The loop jumps to the
 * earliest thing that can happen. Nothing sleeps: a 4-second time-out costs microseconds.
 */
#ifndef VS_SIM_H
#define VS_SIM_H

#include "vs/dev.h"
#include "vs/fault.h"

struct vs_sim;

struct vs_sim_attr {
	uint64_t seed;
	struct vs_allocator allocator; /* alloc NULL: malloc */
	struct vs_event_sink sink;     /* all nodes' events go here in one order; emit NULL: none */
	uint64_t start_ns;             /* virtual time at the start */
	uint32_t max_in_flight;        /* frames on all links together (65536); more are dropped as by a full queue */
};

struct vs_sim_link {
	uint64_t latency_ns;
	uint64_t rate_bps;    /* 0: infinitely fast */
	uint32_t queue_bytes; /* 0: unlimited; a frame that does not fit is dropped */
	uint32_t ecn_bytes;   /* queue depth from which ECT frames are marked CE; 0: never */
	/* As RED does it: above ecn_bytes with a chance that grows up to ecn_percent at this depth, and always beyond
	 * it. */
	uint32_t ecn_full_bytes; /* 0: always, from ecn_bytes on */
	uint32_t ecn_percent;
	/*
	 * PFC: queue depth at which whoever brought the frame is told to pause; 0: none; it may go on at half of that.
	 * Either word needs the latency of that link to arrive, and what is on its way meanwhile comes all the same:
	 * room for that has to be left above.
	 */
	uint32_t pause_bytes;
};

struct vs_sim *vs_sim_create(const struct vs_sim_attr *attr, int *err);
void vs_sim_destroy(struct vs_sim *sim); /* devices too */

/*
 * Adds a host. `attr` as for vs_dev_create; what is zero in it is filled in: allocator and sink of the simulation,
 * pkt_counter shared by all, name "A", "B", ... , plain memory (vs_dma_host), a seed of its own, P_Key 0xffff, the
 * neighbour function, and addresses: host n (from 0, raw hosts count) is 10.0.0.(n+1) / fd00::(n+1), MAC
 * 02:00:00:00:00:(n+1), LID n+1; GIDs on Ethernet: 0 RoCEv2 IPv4, 1 RoCEv2 IPv6, 2 RoCEv1; on InfiniBand: 0.
 * All hosts have the same link layer. Node index, or negative vs_err.
 */
int vs_sim_add_host(struct vs_sim *sim, const struct vs_dev_attr *attr);
int vs_sim_add_switch(struct vs_sim *sim, const char *name);
/*
 * Joins two nodes. A host has one link (VS_ERR_BUSY), links close no ring (VS_ERR_INVAL). Switches know where
 * hosts are; groups and unknown addresses go everywhere. What a host sends to itself comes back over a loop with
 * the latency and rate of its link.
 */
int vs_sim_connect(struct vs_sim *sim, int a, int b, const struct vs_sim_link *link);
struct vs_dev *vs_sim_dev(struct vs_sim *sim, int host); /* NULL: a raw host or a switch */
/* The way to a host, by the GIDs with this index on both sides. Native IB: clear is_global for a local path. */
int vs_sim_av(const struct vs_sim *sim, int to, unsigned gid_index, struct vs_av *av);

struct vs_sim_stats {
	uint64_t sent, received, lost; /* frames that left a host, reached one, or neither reached one nor ever will */
	uint64_t queue_drops, ecn_marks, pauses;
	uint64_t faults[VS_FAULT_HOLD + 1]; /* times each action was done */
};
const struct vs_sim_stats *vs_sim_stats(const struct vs_sim *sim);

/* One direction of a link: its queue and its transmitter. */
struct vs_sim_queue {
	uint64_t bytes;      /* that wait now */
	uint64_t sent_bytes; /* taken from the queue by the transmitter */
	uint64_t max_bytes;  /* the deepest that the queue was */
	uint64_t drops, ecn_marks;
	uint64_t pauses;    /* times that this queue told somebody to pause */
	uint64_t paused_ns; /* how long this transmitter was told to be quiet */
};
/* That from one node to its neighbour. VS_ERR_INVAL: nothing joins them. */
int vs_sim_queue(const struct vs_sim *sim, int from, int to, struct vs_sim_queue *q);

/* Faults act where a frame leaves its host (after the tap of the sender, before the wire). */
struct vs_fault_set *vs_sim_faults(struct vs_sim *sim);
/* Parses and adds a rule: its index, VS_ERR_INVAL (err, which may be NULL, says why) or VS_ERR_NOSPACE. */
int vs_sim_fault(struct vs_sim *sim, const char *text, struct vs_fault_error *err);
/* A frame that is to be overtaken and that nobody overtakes goes on after this time. */
#define VS_SIM_REORDER_MAX_NS 1000000

/* Sees every frame; `where`: 0 leaves the sender, 1 reaches the receiver, 2 lost on the way. */
enum vs_tap_where { VS_TAP_SENT, VS_TAP_RECEIVED, VS_TAP_LOST };
typedef void vs_sim_tap_fn(void *ctx, uint64_t now_ns, int node, enum vs_tap_where where, enum vs_link link,
			   const uint8_t *frame, size_t len);
void vs_sim_set_tap(struct vs_sim *sim, vs_sim_tap_fn *fn, void *ctx);

/* Puts a frame on the wire at `host`, as if it had sent it (raw peers, replay). At most VS_FRAME_MAX bytes. */
int vs_sim_inject(struct vs_sim *sim, int host, const uint8_t *frame, size_t len);
/* A host without a device, with addresses as above: frames for it go to the tap and to `fn`, which may inject. */
typedef void vs_sim_raw_fn(void *ctx, uint64_t now_ns, enum vs_link link, const uint8_t *frame, size_t len,
			   const struct vs_pkt_meta *meta);
int vs_sim_add_raw(struct vs_sim *sim, const char *name, vs_sim_raw_fn *fn, void *ctx);

uint64_t vs_sim_now(const struct vs_sim *sim);
/* True while something can still happen without a verbs call (frames in flight, output, timers). */
bool vs_sim_busy(const struct vs_sim *sim);
/* When that happens first, never before now; VS_NEVER: nothing can. */
uint64_t vs_sim_next(const struct vs_sim *sim);
/* One step: everything that happens at the next instant, not after `limit_ns`. False: nothing up to the limit. */
bool vs_sim_step(struct vs_sim *sim, uint64_t limit_ns);
/* Steps until idle or `until_ns`; then the clock stands at until_ns unless it is VS_NEVER. Number of steps. */
uint64_t vs_sim_run(struct vs_sim *sim, uint64_t until_ns);

#endif
