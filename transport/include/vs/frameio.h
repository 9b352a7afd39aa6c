/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * frameio.h - Ethernet frames in and out: through a network interface (libpcap captures, libnet injects; needs
 * CAP_NET_RAW), or as AF_UNIX datagrams, a frame each, as QEMU's "-netdev dgram" speaks (no privilege).
 *
 * Errors are one line of text that says what, where and what to do (struct vs_io_error; may be NULL).
 */
#ifndef VS_FRAMEIO_H
#define VS_FRAMEIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vs/pktio.h"

#define VS_FRAMEIO_MAX 9216u /* bytes of the longest frame that is received; what is longer is passed over */

struct vs_frameio;

/*
 * Receives at socket `local`, which is made here (one that a dead process left is replaced) and taken away by
 * vs_frameio_close, and sends to socket `remote`, which need not be there yet. NULL: *code is VS_ERR_BUSY (somebody
 * receives at `local`), VS_ERR_INVAL (a path too long for a socket), VS_ERR_PERM, VS_ERR_IO; `err` says it in a line.
 */
struct vs_frameio *vs_frameio_unix_open(const char *local, const char *remote, int *code, struct vs_io_error *err);

/*
 * All frames that come in at interface `name`, whosever MAC address they have, and fit `filter` (pcap-filter(7); NULL:
 * all); those that leave the host through it are not seen. NULL: *code as vs_inject_link_open.
 */
struct vs_frameio *vs_frameio_live_open(const char *name, const char *filter, int *code, struct vs_io_error *err);

void vs_frameio_close(struct vs_frameio *f); /* NULL is fine */
/* A descriptor that is readable when frames wait. */
int vs_frameio_fd(const struct vs_frameio *f);

/*
 * One frame, destination MAC first. 0; VS_ERR_INVAL: it is longer than the way takes; VS_ERR_BUSY: nobody is at the
 * other end now, or takes nothing: the frame is lost; VS_ERR_IO: it will never work again, since the interface went
 * away or down.
 */
int vs_frameio_send(struct vs_frameio *f, const uint8_t *frame, size_t len, struct vs_io_error *err);

/* `frame` is valid during the call. `stamp_ns`: when the kernel got it, CLOCK_REALTIME; 0: it did not say. */
typedef void vs_frameio_fn(void *ctx, uint64_t stamp_ns, const uint8_t *frame, size_t len);
/* Hands over what waits, at most `max` frames; how many, or VS_ERR_IO as above. Never blocks. */
int vs_frameio_receive(struct vs_frameio *f, unsigned max, vs_frameio_fn *fn, void *ctx, struct vs_io_error *err);

#endif
