/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * virtual.c - the simulated wire's time. It stands still while the program computes, and goes on when the program looks
 * for news or waits:
 *
 *   an empty completion queue is polled, a QP is queried   to the next instant at which something happens
 *   a descriptor of the device is waited for               until it is readable, the time-out is over, or nothing more
 *                                                          can happen
 *   a sleep                                                by that long
 *
 * A program of one thread sees the same every time: real time is never asked. Of several threads one may wait while
 * another is only about to post: so a jump that is longer than packets need (a timer) is made when real time has gone
 * by in which nobody called a verb, PATIENCE_NS or a hundredth of the jump. Their time-outs are real, too.
 *
 * A program that neither calls nor waits (it watches memory, it waits in ways that nobody sees) must not hang: after
 * WATCH_TICKS a thread moves the clock at the pace of the real one, and says so.
 */
#define _GNU_SOURCE /* ppoll */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "verbs/clock_link.h"
#include "verbs/ref.h"
#include "vs/sim.h"

#define LOOK_NS 100u  /* what an empty poll takes while nothing is under way */
#define NEAR_NS 5000u /* packets: no thread is waited for */
#define PATIENCE_NS 2000000u
#define STEPS 4096u /* with the lock held */
#define TIRED 64    /* rounds of so many steps without an event: now and then the program hears its signals */
#define TICK_NS 100000000
#define WATCH_TICKS 20

/* A thread that waits in the kernel; whoever does something on the wire wakes it. */
struct waiter {
	int kick;
	struct waiter *next;
};

static struct {
	struct waiter *waiters;
	unsigned signals; /* descriptors that have become readable */
	unsigned calls;   /* verbs that were called, those that only look left out */
	unsigned looks;   /* empty polls and waits */
	bool looked;      /* the call that is inside is one */
	bool alone;       /* as of late: no other thread could do anything */
	unsigned gap_calls, gap_signals;
	uint64_t gap_at, gap_since; /* the jump that waits for other threads: to when, and since when (real) */
	bool hopeless, told;
} v;

/* ---- the clock, inside ---- */

/* From anywhere: a program's own time, between two of its calls. */
uint64_t ref_virtual_now(void)
{
	return ref.sim != NULL ? vs_sim_now(ref.sim) : 0;
}

/* Threads of the program beside this one. Unknown counts as yes. */
static bool others_run(void)
{
	struct stat st;
	unsigned long ours = ref.has_thread ? 2 : 1;

	return stat("/proc/self/task", &st) != 0 || st.st_nlink < 2 || st.st_nlink - 2 != ours;
}

/* A jump to `next` has to wait for other threads, so many ns. 0: it need not. */
static uint64_t patience(uint64_t next)
{
	uint64_t gap = next - vs_sim_now(ref.sim), wait, now;

	if (gap <= NEAR_NS || !others_run())
		return 0;
	now = ref_real_now();
	if (v.gap_at != next || v.gap_calls != v.calls || v.gap_signals != v.signals) {
		v.gap_at = next;
		v.gap_calls = v.calls;
		v.gap_signals = v.signals;
		v.gap_since = now;
	}
	wait = gap / 100 > PATIENCE_NS ? gap / 100 : PATIENCE_NS;
	return now - v.gap_since < wait ? wait - (now - v.gap_since) : 0;
}

static void run_until(uint64_t time_ns)
{
	(void)vs_sim_run(ref.sim, time_ns);
	ref_deliver_events();
}

bool ref_virtual_look(void)
{
	uint64_t next = vs_sim_next(ref.sim);

	v.looked = true;
	v.looks++;
	ref.stepped = false;
	if (next == VS_NEVER) {
		run_until(vs_sim_now(ref.sim) + LOOK_NS);
		if (v.looks % 64 == 1)
			v.alone = !others_run();
		ref.stepped = v.alone; /* nobody to make way for */
		return false;
	}
	ref.stepped = patience(next) == 0 && vs_sim_step(ref.sim, next);
	return ref.stepped;
}

void ref_virtual_settle(void)
{
	while (vs_sim_step(ref.sim, vs_sim_now(ref.sim)))
		;
}

void ref_virtual_signal(void)
{
	v.signals++;
}

static void kick(int fd)
{
	const uint64_t one = 1;

	if (write(fd, &one, sizeof(one)) != (ssize_t)sizeof(one))
		return; /* it is awake anyway */
}

void ref_virtual_tell(void)
{
	if (v.looked) {
		v.looked = false;
		return;
	}
	v.calls++;
	for (struct waiter *w = v.waiters; w != NULL; w = w->next)
		kick(w->kick);
}

/* ---- waiting ---- */

enum outcome {
	SIGNALLED, /* a descriptor has become readable, perhaps another one */
	BUSY,      /* many steps without that */
	OVER,      /* it is `until` */
	NOTHING,   /* and nothing can happen before somebody calls a verb */
	PATIENT    /* first the other threads */
};

static enum outcome go_on(uint64_t until, uint64_t *left)
{
	unsigned before = v.signals;

	v.looks++;
	for (unsigned i = 0; i < STEPS; i++) {
		uint64_t next = vs_sim_next(ref.sim);

		if (next > until) {
			run_until(until);
			return OVER;
		}
		if (next == VS_NEVER)
			return NOTHING;
		*left = patience(next);
		if (*left > 0)
			return PATIENT;
		(void)vs_sim_step(ref.sim, next);
		ref_deliver_events();
		if (v.signals != before)
			return SIGNALLED;
	}
	return BUSY;
}

static void inside(void)
{
	pthread_mutex_lock(&ref.lock);
	ref_plain++;
}

static void outside(void)
{
	ref_plain--;
	pthread_mutex_unlock(&ref.lock);
}

/* ppoll as the kernel has it. */
static int plain_poll(struct pollfd *fds, nfds_t n, int64_t timeout_ns, const sigset_t *mask)
{
	struct timespec ts = {.tv_sec = (time_t)(timeout_ns / 1000000000), .tv_nsec = (long)(timeout_ns % 1000000000)};
	int rc;

	ref_plain++;
	rc = ppoll(fds, n, timeout_ns < 0 ? NULL : &ts, mask);
	ref_plain--;
	return rc;
}

struct wait {
	struct pollfd *fds; /* n of the caller's, and one more for the kick */
	nfds_t n;
	const sigset_t *mask;
	bool mixed;          /* some are not ours */
	bool alone;          /* this thread is the only one */
	int64_t timeout_ns;  /* < 0: none */
	uint64_t until;      /* of the virtual clock; VS_NEVER */
	uint64_t real_until; /* as far as real time counts */
	struct waiter self;
	bool queued;
};

/* Inside. */
static void enqueue(struct wait *w)
{
	if (w->self.kick < 0)
		w->self.kick = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	w->self.next = v.waiters;
	v.waiters = &w->self;
	w->queued = true;
}

/* Also when the thread is cancelled in the kernel. */
static void dequeue(void *ctx)
{
	struct wait *w = ctx;
	struct waiter **at;

	pthread_mutex_lock(&ref.lock);
	for (at = &v.waiters; *at != NULL; at = &(*at)->next) {
		if (*at == &w->self) {
			*at = w->self.next;
			break;
		}
	}
	pthread_mutex_unlock(&ref.lock);
	w->queued = false;
}

static void clean_up(void *ctx)
{
	struct wait *w = ctx;
	int e = errno;

	if (w->queued)
		dequeue(w);
	if (w->self.kick >= 0)
		close(w->self.kick);
	free(w->fds);
	errno = e;
}

/* Waits in the kernel for the caller's descriptors, a kick, or so long (< 0: for ever); how ppoll ended. */
static int block(struct wait *w, int64_t timeout_ns)
{
	uint64_t count;
	int rc;

	w->fds[w->n] = (struct pollfd){.fd = w->self.kick, .events = POLLIN};
	rc = plain_poll(w->fds, w->n + 1, timeout_ns, w->mask);
	dequeue(w);
	if (rc > 0 && w->fds[w->n].revents != 0) {
		(void)!read(w->self.kick, &count, sizeof(count));
		rc--;
	}
	return rc;
}

static void say_hopeless(const struct wait *w)
{
	if (!w->alone || w->mixed || v.hopeless || ref.config.quiet)
		return;
	v.hopeless = true;
	ref_say("this wait has no end: nothing is under way on the simulated wire, and no other thread can change "
		"that");
}

static int64_t shorter(int64_t a, int64_t b)
{
	return a < 0 ? b : b < 0 ? a : a < b ? a : b;
}

static int64_t real_left(const struct wait *w)
{
	uint64_t now;

	if (w->timeout_ns < 0)
		return -1;
	now = ref_real_now();
	return now < w->real_until ? (int64_t)(w->real_until - now) : 0;
}

/* The time-out of a thread among others is over when it is in real time: the virtual clock is moved to it. */
static bool late_among_others(struct wait *w)
{
	if (w->alone || w->timeout_ns < 0 || real_left(w) > 0)
		return false;
	if (vs_sim_now(ref.sim) < w->until)
		run_until(w->until);
	return true;
}

/* One round. 1: look at the descriptors again; 0: the time is over; -1: errno, interrupted. */
static int round_of(struct wait *w, unsigned *tired)
{
	uint64_t left = 0;
	enum outcome how;
	int rc = 0;

	inside();
	if (ref.dev[0] == NULL || ref.sim == NULL) {
		outside();
		return plain_poll(w->fds, w->n, w->timeout_ns, w->mask) < 0 ? -1 : 0;
	}
	if (late_among_others(w)) {
		outside();
		return 0;
	}
	if (w->timeout_ns == 0) {
		(void)ref_virtual_look();
		v.looked = false;
		ref_deliver_events();
		outside();
		return 0;
	}
	how = go_on(w->alone ? w->until : VS_NEVER, &left);
	if (how == NOTHING || how == PATIENT)
		enqueue(w);
	if (how == NOTHING)
		say_hopeless(w);
	outside();
	switch (how) {
	case NOTHING:
		rc = block(w, real_left(w));
		break;
	case PATIENT:
		rc = block(w, shorter((int64_t)left, real_left(w)));
		break;
	case BUSY:
		rc = ++*tired > TIRED ? plain_poll(NULL, 0, 1000000, w->mask) : 0;
		break;
	case OVER: /* what is not ours takes real time */
		rc = w->mixed ? plain_poll(w->fds, w->n, real_left(w), w->mask) : 0;
		return rc < 0 ? -1 : 0;
	default:
		*tired = 0;
	}
	return rc < 0 ? -1 : 1;
}

static int wait_for(struct wait *w)
{
	unsigned tired = 0;
	int rc, more = 1;

	for (;;) {
		rc = plain_poll(w->fds, w->n, 0, w->mask);
		if (rc != 0 || more == 0)
			return rc;
		more = round_of(w, &tired);
		if (more < 0)
			return -1;
	}
}

/* Time-outs begin now. */
static void begin(struct wait *w)
{
	inside();
	w->alone = !others_run();
	w->until = VS_NEVER;
	if (w->timeout_ns >= 0 && ref.sim != NULL)
		w->until = vs_sim_now(ref.sim) + (uint64_t)w->timeout_ns;
	outside();
	if (w->timeout_ns >= 0 && (!w->alone || w->mixed))
		w->real_until = ref_real_now() + (uint64_t)w->timeout_ns;
}

int ref_virtual_poll(struct pollfd *fds, unsigned long n, int64_t timeout_ns, const void *sigmask)
{
	struct wait w = {.n = n, .mask = sigmask, .timeout_ns = timeout_ns, .self = {.kick = -1}};
	int rc;

	w.fds = malloc((n + 1) * sizeof(*fds));
	if (w.fds == NULL)
		return plain_poll(fds, n, timeout_ns, sigmask);
	memcpy(w.fds, fds, n * sizeof(*fds));
	for (unsigned long i = 0; i < n; i++)
		w.mixed |= fds[i].fd >= 0 && !ref_fd_is_ours(fds[i].fd);
	pthread_cleanup_push(clean_up, &w);
	begin(&w);
	rc = wait_for(&w);
	if (rc >= 0)
		memcpy(fds, w.fds, n * sizeof(*fds));
	pthread_cleanup_pop(1);
	return rc;
}

int ref_virtual_wait(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int flags = fcntl(fd, F_GETFL);

	return ref_virtual_poll(&p, 1, flags >= 0 && (flags & O_NONBLOCK) ? 0 : -1, NULL) < 0 ? -1 : 0;
}

/* ---- sleeping ---- */

static bool sleep_in(uint64_t ns, uint64_t *until)
{
	bool busy = false;

	inside();
	*until = 0;
	if (ref.sim != NULL) {
		*until = vs_sim_now(ref.sim) + ns;
		if (!others_run()) {
			v.looks++;
			busy = vs_sim_run(ref.sim, *until) > 0;
			ref_deliver_events();
		}
	}
	outside();
	return busy;
}

static void slept(uint64_t until)
{
	inside();
	if (ref.sim != NULL && vs_sim_now(ref.sim) < until)
		run_until(until);
	ref_virtual_tell();
	outside();
}

void ref_virtual_sleep(uint64_t ns)
{
	uint64_t until;

	if (sleep_in(ns, &until))
		return;
	if (others_run())
		(void)plain_poll(NULL, 0, (int64_t)ns, NULL);
	slept(until);
}

/* ---- the thread that looks after a clock which nobody moves ---- */

static bool stands_still(unsigned *seen, unsigned *ticks)
{
	unsigned now = v.calls + v.looks;

	*ticks = now == *seen && v.waiters == NULL && vs_sim_busy(ref.sim) ? *ticks + 1 : 0;
	*seen = now;
	return *ticks > WATCH_TICKS;
}

void *ref_virtual_watch(void *arg)
{
	struct pollfd p = {.fd = ref.kick, .events = POLLIN};
	unsigned seen = 0, ticks = 0;

	(void)arg;
	inside();
	while (!ref.stopping) {
		pthread_mutex_unlock(&ref.lock);
		(void)plain_poll(&p, 1, TICK_NS, NULL);
		pthread_mutex_lock(&ref.lock);
		if (ref.stopping || !stands_still(&seen, &ticks))
			continue;
		if (!v.told && !ref.config.quiet)
			ref_say("packets are under way, and for 2 s nobody has called a verb or waited for one: the "
				"virtual clock follows the real one until somebody does, so this run may not repeat "
				"exactly");
		v.told = true;
		run_until(vs_sim_now(ref.sim) + TICK_NS);
	}
	outside();
	return NULL;
}

/* ---- for libvs-clock.so ---- */

static bool runs(void)
{
	return ref.sim != NULL && ref_plain == 0;
}

const struct ref_clock_link *ref_clock_link(void)
{
	static const struct ref_clock_link link = {runs, ref_fd_is_ours, ref_fd_own, ref_virtual_poll, sleep_in, slept};

	return &link;
}
