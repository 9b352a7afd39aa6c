/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * frame.h - the inside of vs/frameio.h: frame.c (what callers see), frame_live.c (libpcap and libnet), frame_unix.c
 * (AF_UNIX datagrams).
 */
#ifndef VS_IO_FRAME_H
#define VS_IO_FRAME_H

#include "io/internal.h"
#include "vs/frameio.h"

struct vs_frameio {
	void (*close)(struct vs_frameio *f); /* frees it, too */
	int (*send)(struct vs_frameio *f, const uint8_t *frame, size_t len, struct vs_io_error *err);
	int (*receive)(struct vs_frameio *f, unsigned max, vs_frameio_fn *fn, void *ctx, struct vs_io_error *err);
	int fd;
};

#endif
