/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * internal.h - the network of labs about congestion (libvs-net.so) from the inside.
 *
 *   net.c     a run: the network, the clock, the numbers
 *   flow.c    one sender and its connection: WRITEs, as many as fit
 *   watch.c   what reaches the hosts: CNPs, marks, the capture
 *   plot.c    plots as SVG
 */
#ifndef VS_NET_INTERNAL_H
#define VS_NET_INTERNAL_H

#include "vs/pktio.h"
#include "vs/qp.h"
#include "vs/sim.h"

#pragma GCC visibility push(default)
#include "../include/net.h"
#pragma GCC visibility pop

#define NET_MESSAGE 16384u /* bytes of a WRITE */
#define NET_DEPTH 512u     /* WRITEs that are posted at a time */

struct net;

struct net_host {
	struct net *net;
	unsigned number; /* of the sender; the last one is the receiver */
	int node;
	struct vs_cc_algo algo;
};

struct net_stream {
	struct vs_qp *here, *there;
	struct vs_cq *cq;
	struct vs_mr *from, *to;
	uint8_t *memory;       /* both ends of it */
	uint64_t begin;        /* virtual time */
	uint64_t done, before; /* WRITEs that were acknowledged; up to when measuring began */
	unsigned posted;       /* and not acknowledged yet */
	double limit;          /* Gb/s */
	bool open, dead;
	uint64_t last_cnp_ns;
	uint32_t newest_psn; /* that was sent, once any_psn */
	bool any_psn;
};

struct net {
	const struct net_config *config;
	struct net_result *result;
	struct vs_sim *sim;
	struct net_host host[NET_SENDERS + 1];
	struct net_stream flow[NET_SENDERS];
	int sw;
	uint64_t start;
	struct vs_writer *capture; /* NULL: none */
	unsigned captured;
	bool capture_on;
};

int net_fail(const char *what); /* 1 */

int net_flow_open(struct net *net, unsigned i); /* 0: connected */
void net_flow_go_on(struct net_stream *f);      /* takes what is complete, posts what fits */
void net_flow_count(struct net *net, unsigned i, double us);

int net_watch(struct net *net);   /* from now on */
int net_watched(struct net *net); /* the capture is whole; 1: it can't be written */

#endif
