/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * clock.c - libvs-clock.so, which vs-run --sim preloads: the calls in which a program waits, in virtual time. A wait
 * for a descriptor of the simulated devices makes the clock go on until it is readable, a sleep lets that much time go
 * by; a wait for anything else, and every call before there is a device, is the C library's.
 *
 * What does not come through here (system calls made by hand, copies of a descriptor) is left to the thread that looks
 * after the clock (virtual.c).
 */
#undef _FORTIFY_SOURCE /* its inline functions have the names of ours */
#define _GNU_SOURCE    /* ppoll */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#include "verbs/clock/clock.h"

#define NS_PER_S 1000000000

static int64_t ns_of_ms(int ms)
{
	return ms < 0 ? -1 : (int64_t)ms * 1000000;
}

static int64_t ns_of(const struct timespec *ts)
{
	if (ts == NULL)
		return -1;
	if (ts->tv_sec > INT_MAX)
		return (int64_t)INT_MAX * NS_PER_S;
	return (int64_t)ts->tv_sec * NS_PER_S + ts->tv_nsec;
}

static bool is_valid(const struct timespec *ts)
{
	return ts == NULL || (ts->tv_sec >= 0 && ts->tv_nsec >= 0 && ts->tv_nsec < NS_PER_S);
}

/* ---- poll ---- */

static bool any_is_ours(const struct pollfd *fds, nfds_t n)
{
	for (nfds_t i = 0; i < n; i++)
		if (fds[i].fd >= 0 && clock_waits_for(fds[i].fd))
			return true;
	return false;
}

EXPORT int poll(struct pollfd *fds, nfds_t nfds, int timeout)
{
	uint64_t until = 0;
	int rc;

	if (!clock_runs())
		return libc()->poll(fds, nfds, timeout);
	if (any_is_ours(fds, nfds))
		return ref_clock_link()->poll(fds, nfds, ns_of_ms(timeout), NULL);
	if (nfds > 0 || timeout <= 0)
		return libc()->poll(fds, nfds, timeout);
	if (ref_clock_link()->sleep((uint64_t)ns_of_ms(timeout), &until))
		return 0;
	rc = libc()->poll(fds, nfds, timeout);
	ref_clock_link()->slept(until);
	return rc;
}

EXPORT int ppoll(struct pollfd *fds, nfds_t nfds, const struct timespec *timeout, const sigset_t *ss)
{
	if (!clock_runs() || !is_valid(timeout) || !any_is_ours(fds, nfds))
		return libc()->ppoll(fds, nfds, timeout, ss);
	return ref_clock_link()->poll(fds, nfds, ns_of(timeout), ss);
}

EXPORT int __poll_chk(struct pollfd *fds, nfds_t n, int timeout, size_t size)
{
	if (size / sizeof(*fds) < n)
		abort();
	return poll(fds, n, timeout);
}

EXPORT int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *sigmask,
		       size_t size)
{
	if (size / sizeof(*fds) < n)
		abort();
	return ppoll(fds, n, timeout, sigmask);
}

/* ---- select, by way of poll ---- */

static bool has(const fd_set *set, int fd)
{
	return set != NULL && FD_ISSET(fd, set);
}

static bool any_is_set(int n, const fd_set *r, const fd_set *w, const fd_set *e)
{
	for (int fd = 0; fd < n; fd++)
		if ((has(r, fd) || has(w, fd) || has(e, fd)) && clock_waits_for(fd))
			return true;
	return false;
}

static int answer(fd_set *set, int fd, bool yes)
{
	if (!has(set, fd))
		return 0;
	if (!yes)
		FD_CLR(fd, set);
	return yes;
}

static int select_by_poll(int n, fd_set *r, fd_set *w, fd_set *e, int64_t timeout_ns, const sigset_t *sigmask)
{
	struct pollfd fds[FD_SETSIZE];
	int rc, count = 0;

	for (int fd = 0; fd < n; fd++)
		fds[fd] = (struct pollfd){.fd = has(r, fd) || has(w, fd) || has(e, fd) ? fd : -1,
					  .events = (short)((has(r, fd) ? POLLIN : 0) | (has(w, fd) ? POLLOUT : 0) |
							    (has(e, fd) ? POLLPRI : 0))};
	rc = ref_clock_link()->poll(fds, (unsigned long)n, timeout_ns, sigmask);
	if (rc < 0)
		return -1;
	for (int fd = 0; fd < n; fd++) {
		if (fds[fd].revents & POLLNVAL) {
			errno = EBADF;
			return -1;
		}
		count += answer(r, fd, (fds[fd].revents & (POLLIN | POLLHUP | POLLERR)) != 0);
		count += answer(w, fd, (fds[fd].revents & (POLLOUT | POLLERR)) != 0);
		count += answer(e, fd, (fds[fd].revents & POLLPRI) != 0);
	}
	return count;
}

/* A select without descriptors is a sleep. */
static bool is_sleep(int n, const fd_set *r, const fd_set *w, const fd_set *e)
{
	return n <= 0 || (r == NULL && w == NULL && e == NULL);
}

EXPORT int select(int nfds, fd_set *readfds, fd_set *writefds, fd_set *exceptfds, struct timeval *timeout)
{
	struct timespec ts = {0};
	uint64_t until = 0;
	int rc;

	if (timeout != NULL)
		ts = (struct timespec){timeout->tv_sec, timeout->tv_usec * 1000};
	if (!clock_runs() || nfds > FD_SETSIZE || !is_valid(&ts))
		return libc()->select(nfds, readfds, writefds, exceptfds, timeout);
	if (any_is_set(nfds, readfds, writefds, exceptfds))
		return select_by_poll(nfds, readfds, writefds, exceptfds, timeout != NULL ? ns_of(&ts) : -1, NULL);
	if (!is_sleep(nfds, readfds, writefds, exceptfds) || timeout == NULL)
		return libc()->select(nfds, readfds, writefds, exceptfds, timeout);
	if (ref_clock_link()->sleep((uint64_t)ns_of(&ts), &until))
		return 0;
	rc = libc()->select(nfds, readfds, writefds, exceptfds, timeout);
	ref_clock_link()->slept(until);
	return rc;
}

EXPORT int pselect(int nfds, fd_set *readfds, fd_set *writefds, fd_set *exceptfds, const struct timespec *timeout,
		   const sigset_t *sigmask)
{
	if (!clock_runs() || nfds > FD_SETSIZE || !is_valid(timeout) || !any_is_set(nfds, readfds, writefds, exceptfds))
		return libc()->pselect(nfds, readfds, writefds, exceptfds, timeout, sigmask);
	return select_by_poll(nfds, readfds, writefds, exceptfds, ns_of(timeout), sigmask);
}

/* ---- read ---- */

/* Nobody reads these descriptors but verbs; a program that does waits as they do. */
EXPORT ssize_t read(int fd, void *buf, size_t nbytes)
{
	if (clock_runs() && ref_clock_link()->is_ours(fd)) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		int flags = fcntl(fd, F_GETFL);

		if (ref_clock_link()->poll(&p, 1, flags >= 0 && (flags & O_NONBLOCK) ? 0 : -1, NULL) < 0)
			return -1;
	}
	return libc()->read(fd, buf, nbytes);
}

EXPORT ssize_t __read_chk(int fd, void *buf, size_t n, size_t size)
{
	if (size < n)
		abort();
	return read(fd, buf, n);
}

/* ---- sleeping ---- */

/* How long it is until `ts` of a clock. */
static uint64_t ns_until(clockid_t clock, const struct timespec *ts)
{
	struct timespec now;
	int64_t ns;

	if (clock_gettime(clock, &now) != 0)
		return 0;
	ns = ns_of(ts) - ns_of(&now);
	return ns > 0 ? (uint64_t)ns : 0;
}

EXPORT int clock_nanosleep(clockid_t clock_id, int flags, const struct timespec *req, struct timespec *rem)
{
	uint64_t until;
	int rc;

	if (!clock_runs() || !is_valid(req))
		return libc()->clock_nanosleep(clock_id, flags, req, rem);
	if (ref_clock_link()->sleep(flags & TIMER_ABSTIME ? ns_until(clock_id, req) : (uint64_t)ns_of(req), &until))
		return 0;
	rc = libc()->clock_nanosleep(clock_id, flags, req, rem);
	ref_clock_link()->slept(until);
	return rc;
}

EXPORT int nanosleep(const struct timespec *requested_time, struct timespec *remaining)
{
	uint64_t until;
	int rc, e;

	if (!clock_runs() || !is_valid(requested_time))
		return libc()->nanosleep(requested_time, remaining);
	if (ref_clock_link()->sleep((uint64_t)ns_of(requested_time), &until))
		return 0;
	rc = libc()->nanosleep(requested_time, remaining);
	e = errno;
	ref_clock_link()->slept(until);
	errno = e;
	return rc;
}

EXPORT int usleep(useconds_t useconds)
{
	const struct timespec ts = {.tv_sec = useconds / 1000000, .tv_nsec = (long)(useconds % 1000000) * 1000};

	return nanosleep(&ts, NULL);
}

EXPORT unsigned int sleep(unsigned int seconds)
{
	const struct timespec ts = {.tv_sec = seconds};
	struct timespec rem = {0};

	return nanosleep(&ts, &rem) == 0 ? 0 : (unsigned)rem.tv_sec + (rem.tv_nsec >= NS_PER_S / 2);
}
