/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * next.c - the C library's functions behind ours, found when the first is called: other libraries may do so before any
 * constructor of this one has run.
 */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

#include "verbs/clock/clock.h"

/* ISO C has no cast from a pointer to data to one to a function. */
static void find(void *function, const char *name)
{
	void *p = dlsym(RTLD_NEXT, name);

	memcpy(function, &p, sizeof(p));
}

const struct libc *libc(void)
{
	static struct libc l;
	static atomic_bool known;

	if (atomic_load_explicit(&known, memory_order_acquire))
		return &l;
	find(&l.poll, "poll");
	find(&l.ppoll, "ppoll");
	find(&l.select, "select");
	find(&l.pselect, "pselect");
	find(&l.epoll_create, "epoll_create");
	find(&l.epoll_create1, "epoll_create1");
	find(&l.epoll_ctl, "epoll_ctl");
	find(&l.epoll_pwait, "epoll_pwait");
	find(&l.read, "read");
	find(&l.nanosleep, "nanosleep");
	find(&l.clock_nanosleep, "clock_nanosleep");
	atomic_store_explicit(&known, true, memory_order_release);
	return &l;
}

bool clock_runs(void)
{
	return ref_clock_link()->runs();
}
