/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * engine.c - one engine and one progress thread per process, under one lock.
 *
 * Two make progress. The application does when it polls an empty completion queue: no wake-up, the lowest latency. The
 * thread does whenever the application does not: it blocks, watches memory (the target of one-sided work never calls
 * a verb) or waits for an event. While the application polls, the thread looks only every TICK_NS whether it still
 * does, so that the two do not fight for packets; arming a completion queue ends that at once.
 *
 * A forked child has neither the thread nor the sockets: what it has inherited fails with EIO, the parent goes on. When
 * it opens the device itself it gets an engine and an address of its own, as what it starts with exec does.
 */
#define _GNU_SOURCE /* ppoll, pthread_setname_np */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "verbs/ref.h"

#define TICK_NS 100000u
#define ROOM_NS 30000u /* how soon a full receiver is looked at again */
#define RECEIVE_EVERY_NS 40000u
#define DEFER_POSTS 32u
#define DEFER_BYTES 16384u
#define HOLD_POLLS 16u /* completions taken while what is to be sent waits */
#define WALL_READINGS 3u
#define BATCH 128u /* packets taken in one turn */

struct ref ref = {.lock = PTHREAD_MUTEX_INITIALIZER, .kick = -1};

_Thread_local unsigned ref_plain;

uint64_t ref_real_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

uint64_t ref_now(void)
{
	return ref.wire->ops->now(ref.wire);
}

uint64_t ref_wall(uint64_t time_ns)
{
	uint64_t width = UINT64_MAX, offset = 0;

	if (ref.config.sim)
		return REF_SIM_EPOCH_NS + time_ns;
	/* Whoever is interrupted between two clocks reads them apart: the narrowest of a few readings counts. */
	for (unsigned i = 0; i < WALL_READINGS; i++) {
		uint64_t before = ref_real_now(), after;
		struct timespec ts;

		clock_gettime(CLOCK_REALTIME, &ts);
		after = ref_real_now();
		if (after - before >= width)
			continue;
		width = after - before;
		offset = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec - before - width / 2;
	}
	return offset + time_ns;
}

/* ---- progress, where time is real: one device ---- */

void ref_kick(void)
{
	const uint64_t one = 1;

	if (write(ref.kick, &one, sizeof(one)) != (ssize_t)sizeof(one))
		return; /* the counter is at its limit: the thread is awake anyway */
}

static uint64_t next_deadline(void)
{
	uint64_t dev = vs_dev_deadline(ref.dev[0]), wire = ref.wire->ops->deadline(ref.wire);

	return dev < wire ? dev : wire;
}

static void send_all(uint64_t now)
{
	ref.output = ref.wire->ops->send(ref.wire, now);
	ref.deferred = ref.deferred_bytes = ref.held = 0;
}

static unsigned receive(uint64_t now)
{
	ref.received_at = now;
	return ref.wire->ops->receive(ref.wire, BATCH, now);
}

void ref_send(void)
{
	if (ref.sim != NULL)
		ref_virtual_settle();
	else
		send_all(ref_now());
}

static bool take_in(uint64_t now)
{
	unsigned n = receive(now);

	if (vs_dev_deadline(ref.dev[0]) <= now)
		vs_dev_expire(ref.dev[0], now);
	return n > 0;
}

static bool must_send(uint64_t now)
{
	return ref.output != REF_SENT_ALL || vs_dev_has_output(ref.dev[0]) || ref.wire->ops->deadline(ref.wire) <= now;
}

static void progress(void)
{
	uint64_t now = ref_now();

	if (take_in(now) || must_send(now))
		send_all(now);
}

bool ref_poll_wire(void)
{
	ref.polls++;
	return take_in(ref_now());
}

bool ref_enter_fast(void)
{
	pthread_mutex_lock(&ref.lock);
	if (ref.dev[0] != NULL && !ref.forked) {
		ref_plain++;
		return true;
	}
	pthread_mutex_unlock(&ref.lock);
	errno = EIO;
	return false;
}

bool ref_enter(void)
{
	if (!ref_enter_fast())
		return false;
	for (unsigned i = 0; i < ref.n_devs; i++)
		vs_dev_set_now(ref.dev[i], ref_now());
	if (ref.held > 0)
		send_all(ref_now()); /* it may be the end of the queue pair */
	return true;
}

/* Something must be done before the thread would look. */
static bool thread_is_late(void)
{
	return next_deadline() < ref.wake_at || (ref.output != REF_SENT_ALL && ref.wake_at == VS_NEVER);
}

void ref_leave_quiet(void)
{
	int e = errno;
	bool late = false;

	ref_deliver_events();
	if (ref.sim != NULL) {
		ref_virtual_tell();
	} else if (!atomic_load_explicit(&ref.ticking, memory_order_relaxed) && thread_is_late()) {
		ref.wake_at = 0; /* once is enough */
		late = true;
	}
	ref_plain--;
	pthread_mutex_unlock(&ref.lock);
	if (late)
		ref_kick();
	errno = e;
}

void ref_leave(void)
{
	int e = errno;

	if (ref.sim != NULL) {
		ref_virtual_settle();
	} else if (vs_dev_has_output(ref.dev[0]) || ref.output != REF_SENT_ALL) {
		uint64_t now = ref_now();

		/* Who posts and posts keeps the lock from the thread: acknowledges must be heard all the same. */
		if (now - ref.received_at > RECEIVE_EVERY_NS) {
			ref.polls++;
			(void)receive(now);
		}
		send_all(now);
	}
	errno = e;
	ref_leave_quiet();
}

/*
 * Small requests behind others that are under way wait for company: the next poll, the answer to what is under way, or
 * enough of them sends them in one go. What is alone, or large, goes at once.
 */
void ref_leave_post(const struct vs_qp *qp, uint32_t posts, uint64_t bytes)
{
	ref.deferred += posts;
	ref.deferred_bytes += bytes > DEFER_BYTES ? DEFER_BYTES : (uint32_t)bytes;
	if (ref.deferred < DEFER_POSTS && ref.deferred_bytes < DEFER_BYTES && ref.sim == NULL && vs_qp_in_flight(qp))
		ref_leave_quiet();
	else
		ref_leave();
}

void ref_leave_poll(int got)
{
	if (got > 0 && ref.output == REF_SENT_ALL && atomic_load_explicit(&ref.ticking, memory_order_relaxed) &&
	    ++ref.held < HOLD_POLLS) {
		ref_leave_quiet();
		return;
	}
	if (ref.sim == NULL && !must_send(ref.received_at))
		ref_leave_quiet();
	else
		ref_leave();
}

/* ---- the thread ---- */

static void wait_for_work(bool ticking, uint64_t until)
{
	struct pollfd fds[2] = {{.fd = ref.kick, .events = POLLIN}, {.fd = ref.wire->fd, .events = POLLIN}};
	uint64_t now = ref_real_now(), left = until > now ? until - now : 0, count;
	struct timespec ts = {.tv_sec = (time_t)(left / 1000000000u), .tv_nsec = (long)(left % 1000000000u)};

	(void)ppoll(fds, ticking ? 1 : 2, until == VS_NEVER ? NULL : &ts, NULL);
	if (fds[0].revents != 0 && read(ref.kick, &count, sizeof(count)) < 0)
		return; /* somebody else has read it */
}

static void *run(void *arg)
{
	unsigned seen = ref.polls;

	(void)arg;
	pthread_mutex_lock(&ref.lock);
	while (!ref.stopping) {
		unsigned polls = ref.polls;
		bool ticking = polls != seen;
		uint64_t now, until;

		seen = polls;
		if (!ticking) {
			progress();
			ref_deliver_events();
		}
		now = ref_now();
		ref.wake_at = next_deadline();
		if (ref.output == REF_SENT_SOME)
			ref.wake_at = now;
		if (ref.output == REF_SENT_NO_ROOM && ref.wake_at > now + ROOM_NS)
			ref.wake_at = now + ROOM_NS;
		if (ticking)
			ref.wake_at = now + TICK_NS;
		until = ref.wake_at;
		atomic_store(&ref.ticking, ticking);
		pthread_mutex_unlock(&ref.lock);
		wait_for_work(ticking, until);
		pthread_mutex_lock(&ref.lock);
	}
	pthread_mutex_unlock(&ref.lock);
	return NULL;
}

/* ---- life ---- */

static void *host_alloc(void *ctx, size_t size)
{
	(void)ctx;
	return calloc(1, size);
}

static void host_free(void *ctx, void *p, size_t size)
{
	(void)ctx;
	(void)size;
	free(p);
}

static int create_device(unsigned i)
{
	struct vs_dev_attr attr = {
		.name = i == 0 ? "ref0" : "ref1",
		.allocator = {host_alloc, host_free, NULL},
		.dma = ref_dma(),
		.seed = ref.config.seed,
		.deviations = ref.config.deviations[i],
		.hold_slots = true,
		.link_layer = VS_LL_ETHERNET,
		.active_mtu = ref.config.mtu,
		.pkeys = {0xffff},
		.max_qp = 4096,
		.max_cq = 4096,
		.max_mr = 16384,
		.max_mw = 4096,
		.max_srq = 1024,
		.max_ah = 16384,
		.max_pd = 4096,
		.max_sge = REF_SGES,
		.max_inline = 512,
		.max_mcast_qp_attach = 64,
		.cm_backlog = 1024, /* as Linux */
	};
	int err;

	ref_traits_apply(&ref.config.traits, &attr);
	ref.dev[i] = ref.wire->ops->create(ref.wire, &attr, &err);
	if (ref.dev[i] == NULL) {
		ref_say("the engine can't be created: %s", vs_err_name(err));
		return ENOMEM;
	}
	ref.n_devs = i + 1;
	return 0;
}

/* Signals are the application's: they interrupt its calls, not ours. */
static int create_thread(void)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&ref.thread, NULL, ref.sim != NULL ? ref_virtual_watch : run, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc == 0)
		(void)pthread_setname_np(ref.thread, REF_NAME);
	return rc;
}

static int start_thread(void)
{
	ref.kick = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (ref.kick < 0)
		return errno;
	ref.stopping = false;
	ref.wake_at = 0;
	return create_thread();
}

static void forget_everything(void)
{
	ref.dev[0] = ref.dev[1] = NULL; /* they go with the wire */
	ref.n_devs = 0;
	ref.sim = NULL;
	ref.link_down = false;
	if (ref.wire != NULL)
		ref.wire->ops->close(ref.wire);
	ref.wire = NULL;
	if (ref.kick >= 0)
		close(ref.kick);
	ref.kick = -1;
	free(ref.config.fault_text);
	ref.config.fault_text = NULL;
}

static void before_fork(void)
{
	pthread_mutex_lock(&ref.lock);
}

static void after_fork_in_parent(void)
{
	pthread_mutex_unlock(&ref.lock);
}

/* The child lets go of the sockets, or the port would stay taken when the parent ends. */
static void after_fork_in_child(void)
{
	if (ref.dev[0] != NULL) {
		ref.forked = true;
		ref.has_thread = false;
		ref.sim = NULL;
		ref.wire->ops->close(ref.wire);
		ref.wire = NULL;
	}
	pthread_mutex_unlock(&ref.lock);
}

/*
 * In a child, which opens the device for itself: the parent's engine is left as it is, since objects of it are still
 * about. They do nothing more.
 */
static void begin_anew(void)
{
	for (struct ref_context *c = ref.contexts; c != NULL; c = c->next)
		ref_context_dead(&c->v);
	memset(ref.dev, 0, sizeof(ref.dev));
	ref.contexts = NULL;
	ref.pds = NULL;
	ref.mrs = NULL;
	ref.deliver_conn = NULL;
	close(ref.kick); /* the parent has its own */
	ref.kick = -1;
	ref.output = REF_SENT_ALL;
	ref.deferred = ref.deferred_bytes = 0;
	ref.forked = false;
	ref.is_child = true;
}

static int start_locked(void)
{
	static bool hooked;
	int rc;

	if (ref.forked)
		begin_anew();
	if (ref.dev[0] != NULL)
		return 0;
	rc = ref_config_read(&ref.config);
	if (rc != 0)
		return rc;
	ref.wire = ref.config.sim ? ref_wire_sim(&ref.config, &rc) : ref_wire_udp(&ref.config, &rc);
	if (ref.wire == NULL)
		return rc;
	for (unsigned i = 0; rc == 0 && i < (ref.config.sim ? REF_DEVICES : 1); i++)
		rc = create_device(i);
	if (rc == 0 && ref.config.sim)
		ref.sim = ref_wire_sim_of(ref.wire);
	if (rc == 0 && (rc = start_thread()) != 0)
		ref_say_errno("the engine's thread can't be started", rc);
	if (rc != 0) {
		forget_everything();
		return rc;
	}
	ref.has_thread = true;
	if (!hooked)
		hooked = pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) == 0;
	return 0;
}

int ref_start(void)
{
	int rc;

	pthread_mutex_lock(&ref.lock);
	rc = start_locked();
	pthread_mutex_unlock(&ref.lock);
	return rc;
}

/* At the end of the process: the last packets leave, captures and counters are written. */
__attribute__((destructor)) static void stop(void)
{
	pthread_mutex_lock(&ref.lock);
	if (ref.dev[0] == NULL || ref.forked) {
		pthread_mutex_unlock(&ref.lock);
		return;
	}
	ref.stopping = true;
	pthread_mutex_unlock(&ref.lock);
	if (ref.has_thread) {
		ref_kick();
		pthread_join(ref.thread, NULL);
	}
	pthread_mutex_lock(&ref.lock);
	ref_send();
	if (ref.config.counters)
		ref_counters_print();
	for (unsigned i = 0; i < ref.n_devs; i++)
		ref_trace_counters(ref.dev[i]);
	forget_everything();
	pthread_mutex_unlock(&ref.lock);
}
