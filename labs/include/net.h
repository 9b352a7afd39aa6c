/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * net.h - a network in which you are not alone: some senders, one switch, one receiver, every link as fast as the
 * others. Each sender has one reliable connection to the receiver and writes as fast as it may. Devices, switch and
 * packets are the reference transport's and its simulator's; time is virtual, and the same numbers in give the same
 * numbers out.
 *
 *     sender 0 ----\
 *     sender 1 -----[ switch ]----> receiver        the queue is in front of the receiver
 *     sender 2 ----/
 */
#ifndef NET_H
#define NET_H

#include <stdbool.h>
#include <stdint.h>

#define NET_SENDERS 16u

/* Who decides how fast each sender sends. */
struct net_cc {
	/* At the receiver: a packet of this flow came with a mark. True: a CNP goes back. */
	bool (*marked)(void *ctx, unsigned flow, uint64_t now_ns);
	/*
	 * At the sender: a CNP came, or (`timer`) the time that the last answer asked for. Returns the new rate in
	 * Gb/s; *again_ns: when to ask once more (left alone: not before the next CNP).
	 */
	double (*rate)(void *ctx, unsigned flow, bool timer, uint64_t now_ns, uint64_t *again_ns);
	void *ctx;
};
extern const struct net_cc net_dcqcn; /* what the device does itself: DCQCN */

/* What is 0 is off, or the usual. */
struct net_config {
	uint32_t seed;
	unsigned senders;
	double gbps;       /* of every link */
	double latency_us; /* of every link, one way */
	unsigned mtu;      /* (1024) */
	unsigned queue_kb; /* what the switch holds for the receiver; 0: as much as comes */
	unsigned ecn_kb;   /* depth from which it marks; 0: never */
	unsigned ecn_full_kb,
		ecn_percent; /* it marks more the deeper the queue is: this part at that depth, all beyond */
	unsigned pause_kb;   /* depth at which it tells senders to pause (PFC); 0: never */
	double loss;         /* part of the data packets that the wires lose: 0.001 is one in a thousand */
	unsigned timeout;    /* of the connections, 4.096 us * 2^timeout (6) */
	double start_us[NET_SENDERS];
	double from_us, end_us;  /* what is measured: goodput from here on; the run ends there */
	const struct net_cc *cc; /* NULL: nobody reacts, and nothing is marked */
	/* A pcap of what reached the hosts, from the first marked packet on (without `cc`: the first NAK); NULL: none.
	 */
	const char *capture;
	unsigned capture_packets;
	struct net_sample *sample; /* room for what was to be seen every sample_us; NULL: none */
	unsigned samples;
	double sample_us;
};

struct net_sample {
	double us, queue_kb;
	double gbps[NET_SENDERS]; /* at which each sends: the limit that congestion control sets */
};

struct net_flow {
	double gbps;                /* goodput: bytes that were acknowledged, from from_us to end_us */
	uint64_t packets, again;    /* data packets that were sent; of these, how many for a second time or more */
	uint64_t naks, timeouts;    /* why it went back */
	uint64_t cnps;              /* that came */
	uint64_t cnp_gap_ns;        /* the shortest time between two CNPs to it; 0: there were no two */
	uint64_t marked_ns, cnp_ns; /* first marked packet at the receiver, first CNP at the sender; 0: none */
	unsigned sport, cnp_opcode;
	bool dead; /* all retries were in vain */
};

struct net_result {
	struct net_flow flow[NET_SENDERS];
	double gbps;           /* of all together */
	double queue_kb;       /* the deepest that the queue was */
	uint64_t drops, marks; /* in the switch */
	uint64_t pauses;       /* times that it told a sender to pause */
	double paused_us;      /* how long senders stood still, all together */
	uint64_t lost;         /* packets that went nowhere, for whatever reason */
	unsigned samples;      /* that were taken */
};

/* 0, or 1 with a message on stderr. */
int net_run(const struct net_config *config, struct net_result *result);

/* ---- plots ---- */

#define PLOT_LINES 12u

struct plot_line {
	const char *name;
	const double *x, *y;
	unsigned n;
	bool dashed; /* and of the colour that the line before it has */
};
struct plot {
	const char *title, *x_name, *y_name;
	bool log_x; /* decades; what is 0 or below stands at the left edge, for "none" */
	double x_min, x_max, y_max;
	struct plot_line line[PLOT_LINES];
	unsigned lines;
};
/* Writes an SVG. 0, or 1 with a message on stderr. */
int plot_write(const struct plot *p, const char *path);

#endif
