/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * clock_link.h - what libvs-clock.so (verbs/clock/), which stands in front of poll(2), sleep(3) and their like when the
 * wire is simulated, needs of our libibverbs.so.1, in the version node of cm_link.h's.
 */
#ifndef VS_VERBS_CLOCK_LINK_H
#define VS_VERBS_CLOCK_LINK_H

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct ref_clock_link {
	/* There is a simulated wire, and this call is a program's: otherwise it goes to the kernel as it is. */
	bool (*runs)(void);
	/* The descriptor becomes readable by what happens on the simulated wire. */
	bool (*is_ours)(int fd);
	/* Another descriptor is like those, or no longer: an epoll in which nothing else stands. */
	void (*own)(int fd, bool on);
	/* As ppoll(2) in virtual time; timeout_ns < 0: for ever. */
	int (*poll)(struct pollfd *fds, unsigned long n, int64_t timeout_ns, const void *sigmask);
	/*
	 * A sleep of `ns`. True: the time has gone by, and no one need sleep. False: sleep in real time, then call
	 * slept with *until: other threads, or nobody but other processes and people, have something to do meanwhile.
	 */
	bool (*sleep)(uint64_t ns, uint64_t *until);
	void (*slept)(uint64_t until);
};

__attribute__((visibility("default"))) const struct ref_clock_link *ref_clock_link(void);

/* What time it is on the simulated wire, 0 while there is none: for the recorder of vs-trace, which finds it by name.
 */
__attribute__((visibility("default"))) uint64_t ref_virtual_now(void);
/* And how many events the trace of the devices has by now. */
__attribute__((visibility("default"))) uint64_t ref_trace_seq(void);

#endif
