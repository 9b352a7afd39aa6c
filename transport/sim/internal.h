/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * internal.h - the simulated wire from the inside.
 *
 *   sim.c      life, taps, injection, the loop
 *   node.c     hosts and switches, addresses, links
 *   link.c     a link is two pipes; each has a queue, a transmitter and a wire; switches, ECN, PFC
 *   impair.c   faults, where a frame leaves its host
 *   frame.c    frames: where they live, their addresses, marks
 *
 * Way of a frame: host or injection -> vs_leave_host (tap, faults) -> [limbo: delayed, held, overtaken] ->
 * vs_pipe_send (queue) -> transmitter -> wire -> vs_arrive (host, or a switch and its next pipe).
 * A frame lives in one buffer all the way: the device writes into it, and the peer's device reads from it.
 */
#ifndef VS_SIM_INTERNAL_H
#define VS_SIM_INTERNAL_H

#include <assert.h>
#include <string.h>

#include "vs/sim.h"

enum vs_node_kind { VS_NODE_HOST, VS_NODE_RAW, VS_NODE_SWITCH };

struct vs_pipe;

struct vs_sim_frame {
	struct vs_sim_frame *next; /* in a queue, on a wire, among the overtaken */
	uint64_t when;             /* on a wire: arrives; in limbo: goes on */
	uint64_t serial;           /* order of equal times in limbo */
	struct vs_pkt_meta meta;
	struct vs_pipe *in; /* the pipe that brought it to a switch */
	uint32_t limbo;     /* place in the heap + 1; 0: not there */
	uint32_t passes;    /* overtaken: by so many more */
	int from, to;       /* hosts; to -1: many or unknown */
	uint32_t len;
	uint8_t buf[VS_FRAME_MAX];
};

struct vs_fifo {
	struct vs_sim_frame *head, *tail;
};

/* One direction of a link. */
struct vs_pipe {
	int from, to;         /* nodes */
	uint32_t port;        /* place among the ports of `from` */
	struct vs_pipe *back; /* the other direction */
	struct vs_sim_link attr;
	struct vs_fifo queue; /* waits for the transmitter */
	uint64_t queued;      /* bytes in it */
	struct vs_fifo wire;  /* by time of arrival */
	uint64_t free_at;     /* when the transmitter has finished the last frame */
	uint32_t paused;      /* queues behind it that have stopped it */
	struct vs_fifo words; /* of those queues, on their way back: pause or go on (`passes` 1 or 0) */
	uint64_t paused_at;
	struct vs_sim_queue stats;
};

struct vs_sim_node {
	enum vs_node_kind kind;
	char name[16];
	struct vs_dev *dev; /* HOST */
	vs_sim_raw_fn *raw; /* RAW */
	void *raw_ctx;
	int number; /* of hosts and raw hosts, from 0 */
	uint8_t mac[6];
	uint16_t lid;
	struct vs_gid_entry gids[VS_GID_TABLE_LEN]; /* RAW; those of a HOST are its device's */
	struct vs_pipe **port;
	uint32_t n_ports;
	struct vs_pipe *loop; /* HOST, RAW: frames to itself */
	bool *stopped;        /* SWITCH: [queue of port][port whose sender it has stopped] */
};

/* From one host to another: what is held up on the way. */
struct vs_path {
	uint64_t hold_until;
	struct vs_sim_frame *overtaken; /* linked by `next` */
};

struct vs_sim {
	struct vs_sim_attr attr;
	uint64_t now;
	uint64_t pkt_counter;
	enum vs_link link; /* what frames begin with, once has_link */
	bool has_link;
	struct vs_sim_node **node;
	int n_nodes, n_hosts;
	uint32_t node_cap, pipe_cap;
	struct vs_pipe **pipe; /* all of them, the loops of hosts too */
	uint32_t n_pipes;
	struct vs_path *path; /* n_nodes * (n_nodes + 1), made when the first fault is judged */
	int path_nodes;
	struct vs_sim_frame *free_frames;
	void *slabs; /* linked */
	uint32_t in_flight;
	struct vs_sim_frame **limbo; /* heap by when, serial */
	uint32_t n_limbo, limbo_cap;
	uint64_t serial;
	uint64_t random; /* state of the generator that RED draws from */
	struct vs_fault_set *faults;
	vs_sim_tap_fn *tap;
	void *tap_ctx;
	struct vs_sim_stats stats;
};

/* sim.c */
void *vs_sim_alloc(struct vs_sim *sim, size_t size);
void vs_sim_free(struct vs_sim *sim, void *p, size_t size);
/* `array`: the address of a pointer; room for one more behind its n elements. */
bool vs_sim_grow(struct vs_sim *sim, void *array, uint32_t *cap, uint32_t n, size_t size);
uint64_t vs_sim_event(struct vs_sim *sim, enum vs_event_type type, const char *node, const struct vs_pkt_meta *meta,
		      unsigned n, const uint64_t *a);
void vs_sim_tell(struct vs_sim *sim, int node, enum vs_tap_where where, const struct vs_sim_frame *f);
/* A frame that a host sends: the tap sees it, faults act, it goes on its way. Takes the frame. */
void vs_leave_host(struct vs_sim *sim, struct vs_sim_frame *f);

/* node.c */
void vs_node_free(struct vs_sim *sim, struct vs_sim_node *n);
const struct vs_gid_entry *vs_node_gids(const struct vs_sim_node *n);
bool vs_node_is_host(const struct vs_sim *sim, int i);

/* frame.c */
struct vs_sim_frame *vs_frame_new(struct vs_sim *sim); /* NULL: too many are in flight */
void vs_frame_free(struct vs_sim *sim, struct vs_sim_frame *f);
void vs_frames_fini(struct vs_sim *sim);
/* The host that the frame is addressed to; -1: a group, or nobody known. */
int vs_frame_destination(const struct vs_sim *sim, const struct vs_sim_frame *f);
/* CE (IP) or FECN (RoCEv1, native IB), with the checksum that covers it. `ect_only`: a frame of ECT alone. False: none.
 */
bool vs_frame_mark(const struct vs_sim *sim, struct vs_sim_frame *f, bool ect_only);

static inline void vs_fifo_push(struct vs_fifo *q, struct vs_sim_frame *f)
{
	f->next = NULL;
	if (q->head == NULL)
		q->head = f;
	else
		q->tail->next = f;
	q->tail = f;
}

static inline struct vs_sim_frame *vs_fifo_pop(struct vs_fifo *q)
{
	struct vs_sim_frame *f = q->head;

	q->head = f->next;
	return f;
}

/* link.c */
/* The transmitter is idle, nobody waits and nobody has stopped it. */
static inline bool vs_pipe_idle(const struct vs_sim *sim, const struct vs_pipe *p)
{
	return p->queue.head == NULL && p->paused == 0 && p->free_at <= sim->now;
}
int vs_pipe_pair(struct vs_sim *sim, int a, int b, const struct vs_sim_link *link, struct vs_pipe **ab);
void vs_pipe_send(struct vs_sim *sim, struct vs_pipe *p, struct vs_sim_frame *f); /* takes the frame */
void vs_pipe_transmit(struct vs_sim *sim, struct vs_pipe *p);
bool vs_pipe_obey(struct vs_sim *sim, struct vs_pipe *p);                     /* words that have arrived; false: none */
void vs_switch_forward(struct vs_sim *sim, int node, struct vs_sim_frame *f); /* takes the frame */

/* impair.c */
bool vs_impair(struct vs_sim *sim, struct vs_sim_frame *f); /* false: the frame was taken */
void vs_limbo_release(struct vs_sim *sim);                  /* those whose time has come go on */
void vs_paths_fini(struct vs_sim *sim);
/* Onto the first pipe, or the host's loop. Takes the frame. */
void vs_enter_wire(struct vs_sim *sim, struct vs_sim_frame *f);

#endif
