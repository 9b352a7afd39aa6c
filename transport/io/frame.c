/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* frame.c - Ethernet frames in and out, whatever is below. */
#include "io/frame.h"

void vs_frameio_close(struct vs_frameio *f)
{
	if (f != NULL)
		f->close(f);
}

int vs_frameio_fd(const struct vs_frameio *f)
{
	return f->fd;
}

int vs_frameio_send(struct vs_frameio *f, const uint8_t *frame, size_t len, struct vs_io_error *err)
{
	vs_io_ok(err);
	return f->send(f, frame, len, err);
}

int vs_frameio_receive(struct vs_frameio *f, unsigned max, vs_frameio_fn *fn, void *ctx, struct vs_io_error *err)
{
	vs_io_ok(err);
	return f->receive(f, max, fn, ctx, err);
}
