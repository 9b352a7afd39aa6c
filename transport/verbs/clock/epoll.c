/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * epoll.c - an epoll descriptor in which one of the simulated devices' descriptors stands is waited for as that is. One
 * in which no others stand is as good as a device's: its time-outs are virtual alone.
 */
#define _GNU_SOURCE /* epoll_pwait2 */
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>

#include "verbs/clock/clock.h"

#define FDS 65536u

static _Atomic uint8_t kind[FDS];
#define OURS 1u    /* some are devices' */
#define FOREIGN 2u /* some are not */

static bool holds(int epfd, unsigned what)
{
	return (unsigned)epfd < FDS && (atomic_load_explicit(&kind[epfd], memory_order_relaxed) & what) != 0;
}

bool clock_waits_for(int fd)
{
	return ref_clock_link()->is_ours(fd) || holds(fd, OURS);
}

static int made(int epfd)
{
	if ((unsigned)epfd < FDS) {
		atomic_store(&kind[epfd], 0);
		ref_clock_link()->own(epfd, false);
	}
	return epfd;
}

EXPORT int epoll_create(int size)
{
	return made(libc()->epoll_create(size));
}

EXPORT int epoll_create1(int flags)
{
	return made(libc()->epoll_create1(flags));
}

EXPORT int epoll_ctl(int epfd, int op, int fd, struct epoll_event *event)
{
	int rc = libc()->epoll_ctl(epfd, op, fd, event);

	if (rc == 0 && op == EPOLL_CTL_ADD && (unsigned)epfd < FDS) {
		atomic_fetch_or(&kind[epfd], ref_clock_link()->is_ours(fd) ? OURS : FOREIGN);
		ref_clock_link()->own(epfd, !holds(epfd, FOREIGN));
	}
	return rc;
}

static int wait_for(int epfd, struct epoll_event *events, int max, int64_t timeout_ns, const sigset_t *sigmask)
{
	int rc;

	do {
		struct pollfd p = {.fd = epfd, .events = POLLIN};

		rc = ref_clock_link()->poll(&p, 1, timeout_ns, sigmask);
		if (rc > 0)
			rc = libc()->epoll_pwait(epfd, events, max, 0, NULL);
	} while (rc == 0 && timeout_ns < 0); /* another thread was faster */
	return rc;
}

EXPORT int epoll_pwait(int epfd, struct epoll_event *events, int maxevents, int timeout, const sigset_t *ss)
{
	if (!clock_runs() || !holds(epfd, OURS))
		return libc()->epoll_pwait(epfd, events, maxevents, timeout, ss);
	return wait_for(epfd, events, maxevents, timeout < 0 ? -1 : (int64_t)timeout * 1000000, ss);
}

EXPORT int epoll_wait(int epfd, struct epoll_event *events, int maxevents, int timeout)
{
	return epoll_pwait(epfd, events, maxevents, timeout, NULL);
}

/* The kernel's has nanoseconds, the C library's below knows milliseconds: never shorter than was asked for. */
EXPORT int epoll_pwait2(int epfd, struct epoll_event *events, int maxevents, const struct timespec *timeout,
			const sigset_t *ss)
{
	int64_t ns = -1, ms;

	if (timeout != NULL) {
		if (timeout->tv_sec < 0 || timeout->tv_nsec < 0 || timeout->tv_nsec > 999999999) {
			errno = EINVAL;
			return -1;
		}
		ns = timeout->tv_sec < INT_MAX ? (int64_t)timeout->tv_sec * 1000000000 + timeout->tv_nsec : -1;
	}
	if (clock_runs() && holds(epfd, OURS))
		return wait_for(epfd, events, maxevents, ns, ss);
	ms = ns < 0 ? -1 : (ns + 999999) / 1000000;
	return libc()->epoll_pwait(epfd, events, maxevents, ms > INT_MAX ? INT_MAX : (int)ms, ss);
}
