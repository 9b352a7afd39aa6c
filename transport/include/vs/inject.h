/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * inject.h - packets out to a live network: whole Ethernet frames through an interface (libnet, needs
 * CAP_NET_RAW), or RoCEv2 payloads through a UDP socket (no privilege).
 *
 * Errors are one line of text that says what, where and what to do (struct vs_io_error; may be NULL).
 */
#ifndef VS_INJECT_H
#define VS_INJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vs/pktio.h"

struct vs_injector;

/*
 * Frames through interface `name`, which must be up and have Ethernet frames (lo has). NULL with `err`
 * filled otherwise: *code is VS_ERR_PERM without the privilege, VS_ERR_IO for an interface that can't be used.
 */
struct vs_injector *vs_inject_link_open(const char *name, int *code, struct vs_io_error *err);

/* One frame, destination MAC first. 0; VS_ERR_INVAL when it is longer than the interface takes (err); VS_ERR_IO. */
int vs_inject_frame(struct vs_injector *inj, const uint8_t *data, size_t len, struct vs_io_error *err);

/*
 * RoCEv2 to `addr`: "10.0.0.1", "10.0.0.1:4791", "fd00::1", "[fd00::1]:4791". The kernel writes the IP header:
 * IPv4 ID 0 with DF, from the address that the route has. VS_ERR_INVAL (*code) when `addr` is none.
 */
struct vs_injector *vs_inject_udp_open(const char *addr, int *code, struct vs_io_error *err);
/* Whether `addr`, in the same form, stays on this host; also when it is no address, which opening says. */
bool vs_inject_udp_is_loopback(const char *addr);

/*
 * Sends BTH and everything behind it of `p`, whose encapsulation does not matter, with the ICRC that belongs to
 * the addresses and ports of the socket, XORed with `icrc_error` (0: a right one). 0; VS_ERR_INVAL for a packet that
 * can't be sent (snapped, no BTH, longer than the path takes); VS_ERR_IO.
 */
int vs_inject_pkt(struct vs_injector *inj, const struct vs_pkt *p, uint32_t icrc_error, struct vs_io_error *err);

void vs_inject_close(struct vs_injector *inj); /* NULL is fine */

#endif
