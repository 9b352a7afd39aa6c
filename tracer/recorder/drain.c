/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * drain.c - one thread empties the rings into the spool; recording begins with the first verb that a process calls, a
 * child's anew, and ends with the process. On the simulated wire there is no thread, or runs would not repeat: there
 * whoever finds a ring full empties them.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "recorder.h"

/*
 * Emptying costs the program a processor, if it has them all: it is done when a thread asks for it, whose ring has
 * become fuller than REC_MUCH, or after a while, which at first is short, since programs may be.
 */
#define WHILE_NS 100000000u
#define WHILE_MIN_NS 4000000u
#define CLOCK_NS 1000000000u
#define TICKS_NS 100000000u
#define SLICE 16384u /* words that are squeezed at once */
#define HIGH_FD 400  /* out of the way of programs that count on small numbers */

struct rec_state rec_state = {.dir_fd = -1};

static struct {
	pthread_mutex_t start, lock; /* lock: of draining */
	pthread_t thread;
	bool has_thread, hooked;
	atomic_bool stop, is_asked;
	sem_t asked;
	int fd;
	dev_t dev;
	ino_t ino;
	uint64_t written; /* words */
	uint64_t started, clock_at, ticks_next;
	uint64_t told_lost, told_homeless;
	int error;
	uint64_t unwritten;
} d = {.start = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

/* A program may have closed our descriptor and opened a file of its own under that number. */
static bool still_ours(void)
{
	struct stat st;

	return d.fd >= 0 && fstat(d.fd, &st) == 0 && st.st_dev == d.dev && st.st_ino == d.ino;
}

static int out_of_the_way(int fd)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);

	if (high < 0)
		return fd;
	close(fd);
	return high;
}

static int open_spool(int flags)
{
	char path[600];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "%s/rec-%ld.spool", rec_state.dir, (long)getpid());
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | flags, 0600);
	if (fd < 0)
		return errno;
	d.fd = fd = out_of_the_way(fd);
	if (fstat(fd, &st) != 0)
		return errno;
	d.dev = st.st_dev;
	d.ino = st.st_ino;
	return 0;
}

/* All of it, or an error that stays. */
static void put(struct iovec *v, int n)
{
	if (d.error == 0 && !still_ours())
		d.error = open_spool(0);
	while (d.error == 0 && n > 0) {
		ssize_t done = writev(d.fd, v, n);

		if (done < 0 && errno != EINTR)
			d.error = errno;
		for (; done > 0 && n > 0 && (size_t)done >= v->iov_len; v++, n--)
			done -= (ssize_t)v->iov_len;
		if (done > 0 && n > 0) {
			v->iov_base = (char *)v->iov_base + done;
			v->iov_len -= (size_t)done;
		}
	}
}

static void put_chunk(const struct rec_chunk *c, const void *from, size_t n)
{
	struct iovec v[2] = {{(void *)(uintptr_t)c, sizeof(*c)}, {(void *)(uintptr_t)from, n}};

	put(v, 2);
	if (d.error == 0)
		d.written += c->words;
	else
		d.unwritten += c->words;
}

static void put_words(uint32_t ring, const uint64_t *from, uint64_t n)
{
	static uint8_t squeezed[REC_SQUEEZED_MAX(SLICE)]; /* inside the lock of draining */

	while (n > 0) {
		struct rec_chunk c = {
			.magic = REC_SQUEEZED_MAGIC, .ring = ring, .words = n < SLICE ? (uint32_t)n : SLICE};

		c.bytes = (uint32_t)rec_squeeze(squeezed, from, c.words);
		put_chunk(&c, squeezed, c.bytes);
		from += c.words;
		n -= c.words;
	}
}

/* What can't be written is counted where it survives: in the ring. */
static void tell_error(struct rec_ring *r)
{
	atomic_store(&r->error, (uint32_t)d.error);
	atomic_store(&r->unwritten, d.unwritten);
}

static void drain_ring(struct rec_ring *r, uint32_t number)
{
	uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
	uint64_t head = atomic_load_explicit(&r->head, memory_order_acquire);
	uint64_t at = tail & (REC_RING_WORDS - 1), n = head - tail;
	uint64_t first = n < REC_RING_WORDS - at ? n : REC_RING_WORDS - at;

	if (n > 0) {
		put_words(number, &r->word[at], first);
		put_words(number, r->word, n - first);
		atomic_store_explicit(&r->tail, head, memory_order_release);
	}
	if (d.error != 0)
		tell_error(r);
}

static uint64_t lost(void)
{
	uint64_t n = rec_homeless();

	for (unsigned i = 0; i < rec_ring_count(); i++)
		n += atomic_load_explicit(&rec_ring_at(i)->lost, memory_order_relaxed);
	return n;
}

static void put_own(enum rec_type type, uint64_t t, uint64_t a0, uint64_t a1)
{
	const union rec_words u = {.r = {.t_ns = t, .type = (uint16_t)type, .a = {a0, a1}}};
	const struct rec_chunk c = {.magic = REC_CHUNK_MAGIC, .ring = REC_OWN, .words = 8};

	put_chunk(&c, &u, sizeof(u));
}

/* What the counter shows: at first after ever longer times, so that there is always something to go by. */
static void put_ticks(void)
{
	uint64_t t = 0, ticks = rec_clock_ticks(&t);

	put_own(REC_TICKS, t, ticks, 0);
	d.ticks_next = 2 * (t - d.started) < TICKS_NS ? t + (t - d.started) : t + TICKS_NS;
}

/* Inside the lock of draining. */
static void drain(void)
{
	uint64_t n, homeless, now = rec_clock_ns(CLOCK_MONOTONIC);

	for (unsigned i = 0; i < rec_ring_count(); i++)
		drain_ring(rec_ring_at(i), i);
	homeless = rec_homeless(); /* first, so that it is no more than all */
	n = lost();
	if (n != d.told_lost)
		put_own(REC_LOST, rec_clock_now(), n - d.told_lost, homeless - d.told_homeless);
	d.told_lost = n;
	d.told_homeless = homeless;
	if (!rec_state.sim && now - d.clock_at >= CLOCK_NS) {
		put_own(REC_CLOCK, now, rec_clock_ns(CLOCK_REALTIME), 0);
		d.clock_at = now;
	}
	if (rec_state.ticks && now >= d.ticks_next)
		put_ticks();
}

void rec_drain_soon(void)
{
	int saved = errno; /* the program's, as the call left it */

	pthread_mutex_lock(&d.lock);
	drain();
	pthread_mutex_unlock(&d.lock);
	errno = saved;
}

void rec_drain_ask(void)
{
	int saved = errno;

	if (!atomic_exchange(&d.is_asked, true))
		(void)sem_post(&d.asked);
	errno = saved;
}

static void wait_until_asked(void)
{
	const uint64_t now = rec_clock_ns(CLOCK_MONOTONIC), since = now - d.started;
	const uint64_t until = now + (since < WHILE_MIN_NS ? WHILE_MIN_NS : since < WHILE_NS ? since : WHILE_NS);
	const struct timespec at = {(time_t)(until / 1000000000u), (long)(until % 1000000000u)};

	(void)sem_clockwait(&d.asked, CLOCK_MONOTONIC, &at);
	atomic_store(&d.is_asked, false);
}

static void *run(void *arg)
{
	(void)arg;
	while (!atomic_load_explicit(&d.stop, memory_order_acquire)) {
		rec_rings_refill();
		pthread_mutex_lock(&d.lock);
		drain();
		pthread_mutex_unlock(&d.lock);
		wait_until_asked();
	}
	return NULL;
}

/* Signals are the program's. */
static void start_thread(void)
{
	sigset_t all, before;

	sigfillset(&all);
	atomic_store(&d.stop, false);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	d.has_thread = pthread_create(&d.thread, NULL, run, NULL) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (d.has_thread)
		(void)pthread_setname_np(d.thread, "vs-record");
}

/* ---- start ---- */

static void put_head(void)
{
	struct rec_head h = {.magic = REC_MAGIC,
			     .pid = (uint32_t)getpid(),
			     .parent = (uint32_t)getppid(),
			     .size = sizeof(struct rec),
			     .flags = (rec_state.sim ? REC_SIM : 0u) |
				      (getenv("VS_TRACE") != NULL ? REC_DEVICE_TRACE : 0u) |
				      (rec_state.ticks ? REC_IN_TICKS : 0u),
			     .mono_ns = rec_clock_ns(CLOCK_MONOTONIC),
			     .real_ns = rec_clock_ns(CLOCK_REALTIME)};
	struct iovec v = {&h, sizeof(h)};
	const char *node = getenv("VS_NODE");
	const char *last = strrchr(program_invocation_name, '/');

	snprintf(h.program, sizeof(h.program), "%s", last != NULL ? last + 1 : program_invocation_name);
	snprintf(h.node, sizeof(h.node), "%s", node != NULL ? node : "");
	put(&v, 1);
}

static void after_fork_in_child(void)
{
	if (atomic_load(&rec_state.on) < 0)
		return; /* 0: another thread is about to begin, and will not in this process */
	rec_rings_forget();
	rec_no_poller();
	if (d.fd >= 0 && still_ours())
		close(d.fd);
	d.fd = -1;
	d.has_thread = false;
	d.error = 0;
	d.written = d.unwritten = d.told_lost = d.told_homeless = 0;
	pthread_mutex_init(&d.lock, NULL);
	pthread_mutex_init(&d.start, NULL);
	atomic_store(&rec_state.on, 0); /* its first verb begins anew */
}

static int start(const char *dir)
{
	const char *payload = getenv("VS_RECORD_PAYLOAD"), *sim = getenv("VS_SIM");
	int rc;

	if (!d.hooked)
		d.hooked = pthread_atfork(NULL, NULL, after_fork_in_child) == 0;
	if (strlen(dir) >= sizeof(rec_state.dir))
		return ENAMETOOLONG;
	memcpy(rec_state.dir, dir, strlen(dir) + 1);
	rec_state.dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (rec_state.dir_fd < 0)
		return errno;
	rec_state.dir_fd = out_of_the_way(rec_state.dir_fd);
	rec_state.payload = payload != NULL ? (unsigned)strtoul(payload, NULL, 10) : 0;
	rec_state.sim = sim != NULL && sim[0] != '\0' && strcmp(sim, "0") != 0;
	if (rec_state.sim)
		(void)(rec_real(&rec_state.virtual_now, "ref_virtual_now") &&
		       rec_real(&rec_state.device_seq, "ref_trace_seq"));
	rc = open_spool(O_CREAT | O_TRUNC);
	if (rc != 0)
		return rc;
	/* What a device tells has other times, and must lie between calls as it happened. */
	rec_state.ticks = !rec_state.sim && getenv("VS_TRACE") == NULL && rec_clock_can_tick();
	d.started = rec_clock_ns(CLOCK_MONOTONIC);
	atomic_store(&d.is_asked, false);
	(void)sem_init(&d.asked, 0, 0);
	put_head();
	if (rec_state.ticks)
		put_ticks();
	rec_rings_refill();
	if (rec_ring_count() == 0)
		return ENOSPC;
	if (rec_state.ticks)
		put_ticks();
	if (!rec_state.sim)
		start_thread();
	return 0;
}

bool rec_on_first(void)
{
	const char *dir;
	int rc;

	pthread_mutex_lock(&d.start);
	if (atomic_load(&rec_state.on) == 0) {
		int saved = errno;

		dir = getenv("VS_RECORD");
		rec_inject_read();
		rc = dir == NULL ? -1 : start(dir);
		if (rc > 0)
			fprintf(stderr, "vs-record: %s: nothing can be recorded there (%s)\n", dir, strerror(rc));
		atomic_store_explicit(&rec_state.on, rc == 0 ? 1 : -1, memory_order_release);
		errno = saved;
	}
	pthread_mutex_unlock(&d.start);
	return atomic_load(&rec_state.on) > 0;
}

/* In order: what is left is drained, and the last record says so. What could not be written stays told in the rings. */
__attribute__((destructor)) static void end(void)
{
	if (atomic_load(&rec_state.on) != 1)
		return;
	atomic_store(&d.stop, true);
	rec_drain_ask();
	if (d.has_thread)
		pthread_join(d.thread, NULL);
	pthread_mutex_lock(&d.lock);
	drain();
	if (rec_state.ticks)
		put_ticks();
	put_own(REC_END, rec_clock_now(), d.written, d.told_lost);
	for (unsigned i = 0; d.error != 0 && i < rec_ring_count(); i++)
		tell_error(rec_ring_at(i));
	pthread_mutex_unlock(&d.lock);
	if (d.error == 0)
		rec_rings_remove();
	atomic_store(&rec_state.on, -1);
}
