/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * netns.h - a network namespace with nothing but its own loopback interface: every address and every port is free
 * there. An ordinary user gets one inside a user namespace in which it keeps its own number.
 */
#ifndef VS_NETNS_H
#define VS_NETNS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Moves this process, which has one thread, into the namespaces that CLONE_NEW... name. 0, or an errno; with *mapping
 * it was not the namespace that was refused, but to have one's own number in it.
 */
int vs_netns_unshare(int flags, bool *mapping);
/* In one with CLONE_NEWNET: its loopback interface. 0 or an errno. */
int vs_netns_up(void);
/* An address on it (::ffff:a.b.c.d for IPv4), the n-th from 0; it can be used at once. 0 or an errno. */
int vs_netns_add(const uint8_t gid[16], unsigned n);

#endif
