/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * dcqcn.h - congestion control between two RNICs that the switch has no wire to: it marks packets (ECN), the receiver
 * tells the sender (CNP), the sender slows down, and becomes faster again by itself. This is DCQCN, with one timer
 * where real devices have a timer, a second timer and a byte counter.
 */
#ifndef DCQCN_H
#define DCQCN_H

#include <stdbool.h>
#include <stdint.h>

#define LINE_RATE 100.0  /* Gb/s */
#define LEAST_RATE 0.1   /* Gb/s: nobody is silenced */
#define CNP_GAP_NS 50000 /* at most one CNP for a flow in this time */
#define TIMER_NS 55000
#define G (1.0 / 16)  /* how fast alpha follows */
#define FAST_ROUNDS 5 /* of the timer, in which the rate only goes back towards the target */
#define STEP 3.0      /* Gb/s by which the target grows in each round after those */

/* The notification point: what the receiver keeps of a flow. All zero at the beginning. */
struct receiver {
	bool has_sent; /* a CNP */
	uint64_t last_ns;
};

/* The reaction point: what the sender keeps of a flow. */
struct sender {
	double rate;     /* Gb/s. At the beginning: LINE_RATE */
	double target;   /* where it was before it had to slow down. At the beginning: LINE_RATE */
	double alpha;    /* how congested the way seems, 0 to 1. At the beginning: 1 */
	unsigned rounds; /* of the timer, since the last CNP */
};

/* A packet of the flow came, and the switch had marked it. True: a CNP is sent now. */
bool on_marked(struct receiver *r, uint64_t now_ns);

/*
 * A CNP came.
 *
 *   The target becomes the rate of now; the rate goes down by the part alpha / 2 of it, not below LEAST_RATE; alpha
 *   goes from here towards 1 by the part G of the way; the rounds begin anew.
 */
void on_cnp(struct sender *s);

/*
 * TIMER_NS have gone by without a CNP.
 *
 *   Alpha goes down by the part G of it. One more round. After more than FAST_ROUNDS the target grows by STEP, up to
 *   LINE_RATE. The rate goes half of the way to the target.
 */
void on_timer(struct sender *s);

#endif
