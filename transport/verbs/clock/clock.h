/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * clock.h - the inside of libvs-clock.so.
 *
 *   clock.c   poll, select, read, sleep and their relatives
 *   epoll.c   epoll: which of its descriptors have devices behind them
 *   next.c    the C library's functions of the same names
 */
#ifndef VS_VERBS_CLOCK_H
#define VS_VERBS_CLOCK_H

#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/types.h>
#include <time.h>

#include "verbs/clock_link.h"

#define EXPORT __attribute__((visibility("default")))

struct libc {
	int (*poll)(struct pollfd *fds, nfds_t n, int timeout);
	int (*ppoll)(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *sigmask);
	int (*select)(int n, fd_set *r, fd_set *w, fd_set *e, struct timeval *timeout);
	int (*pselect)(int n, fd_set *r, fd_set *w, fd_set *e, const struct timespec *timeout, const sigset_t *sigmask);
	int (*epoll_create)(int size);
	int (*epoll_create1)(int flags);
	int (*epoll_ctl)(int epfd, int op, int fd, struct epoll_event *event);
	int (*epoll_pwait)(int epfd, struct epoll_event *events, int max, int timeout, const sigset_t *sigmask);
	ssize_t (*read)(int fd, void *buf, size_t n);
	int (*nanosleep)(const struct timespec *req, struct timespec *rem);
	int (*clock_nanosleep)(clockid_t clock, int flags, const struct timespec *req, struct timespec *rem);
};
const struct libc *libc(void);

/* Virtual time is there, and this call is the program's. */
bool clock_runs(void);
/* What happens on the simulated wire can make this descriptor ready. */
bool clock_waits_for(int fd);

/* What programs built with _FORTIFY_SOURCE call; no header declares them without it. */
int __poll_chk(struct pollfd *fds, nfds_t n, int timeout, size_t size);
int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *sigmask, size_t size);
ssize_t __read_chk(int fd, void *buf, size_t n, size_t size);

#endif
