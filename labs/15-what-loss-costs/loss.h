/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * loss.h - three questions of whoever plans a network for RDMA: what does loss cost, what does the network really do,
 * and when has a switch to say "stop"? net.h is the network.
 */
#ifndef LOSS_H
#define LOSS_H

#include "net.h"

/*
 * What go-back-N leaves of a line, as a part of it (1: all). Of the packets a part of `loss` is lost, independently of
 * each other. By the time that the sender hears of a loss it has sent `window` more packets, and all of them are sent
 * again: the receiver has thrown them away.
 */
double go_back_n(double loss, double window);

/*
 * Measures: one run of the network for each loss[i], all else as in `base`. goodput[i]: what net_run says of all flows
 * together, in Gb/s.
 */
void sweep(const struct net_config *base, const double loss[], double goodput[], unsigned n);

/*
 * PFC: at which depth in KiB the switch has to tell `c->senders` senders to stop, so that of queue_kb nothing is ever
 * dropped, and not a link's delay earlier than that. Until a sender stops, two things come in at the full rate: what it
 * sends until it has heard (latency_us), and what is on the wire by then (latency_us again); besides, each has a packet
 * of up to mtu + 64 bytes under way that it does not break off, and the switch notices with a packet in hand: two
 * packets.
 */
unsigned pause_kb(const struct net_config *c);

#endif
