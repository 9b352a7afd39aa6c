/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * fds.c - the descriptors that become readable by what happens on the simulated wire: those of completion channels,
 * async events and librdmacm's channels. Whoever waits for one of them waits in virtual time; the rest is the kernel's.
 * Asked without the lock, at every poll and read of the program.
 */
#include "verbs/ref.h"

#define FDS 65536u /* what lies above is not known: the thread of virtual.c moves the clock then */

static _Atomic uint64_t map[FDS / 64];

void ref_fd_add(int fd)
{
	if (ref.sim != NULL && (unsigned)fd < FDS)
		atomic_fetch_or(&map[fd / 64], UINT64_C(1) << fd % 64);
}

void ref_fd_remove(int fd)
{
	if ((unsigned)fd < FDS)
		atomic_fetch_and(&map[fd / 64], ~(UINT64_C(1) << fd % 64));
}

void ref_fd_own(int fd, bool on)
{
	if (on)
		ref_fd_add(fd);
	else
		ref_fd_remove(fd);
}

bool ref_fd_is_ours(int fd)
{
	return (unsigned)fd < FDS && (atomic_load_explicit(&map[fd / 64], memory_order_relaxed) >> fd % 64 & 1) != 0;
}
