/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * ring.c - a ring for each thread, of which the thread is the only writer. A thread takes its ring from those that were
 * made ready by calls that may take time; where none is left, and where it is full, the records are counted as lost.
 *
 * A ring is a file that is mapped and shared: what it holds survives the program. It is written when it is made, so
 * that a full disk is an error there and no SIGBUS later, and each page is made ready for writing: what the file system
 * does at the first write to a page takes microseconds, which the program would spend inside its calls.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ring.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#define RINGS 256
#define SPARE 4 /* made ready beyond those in use */
#define BYTES (sizeof(struct rec_ring) + REC_RING_WORDS * sizeof(uint64_t))

static struct {
	struct rec_ring *_Atomic ring[RINGS];
	atomic_bool taken[RINGS];
	atomic_uint n;
	_Atomic uint64_t homeless; /* records of threads that found no ring */
	pthread_key_t key;
	atomic_bool has_key;
	pthread_mutex_t lock; /* of making rings */
} rings = {.lock = PTHREAD_MUTEX_INITIALIZER};

_Thread_local struct rec_mine rec_mine __attribute__((tls_model("initial-exec")));

static void name_of(char name[64], unsigned i)
{
	snprintf(name, 64, "rec-%ld-%u.ring", (long)getpid(), i);
}

static bool write_zeros(int fd)
{
	static char zeros[65536];
	size_t left = BYTES;

	while (left > 0) {
		ssize_t n = write(fd, zeros, left < sizeof(zeros) ? left : sizeof(zeros));

		if (n > 0)
			left -= (size_t)n;
		else if (n == 0 || errno != EINTR)
			return false;
	}
	return true;
}

static struct rec_ring *make(unsigned i)
{
	struct rec_ring *r = MAP_FAILED;
	char name[64];
	int fd;

	name_of(name, i);
	fd = openat(rec_state.dir_fd, name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return NULL;
	if (write_zeros(fd))
		r = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (r == MAP_FAILED) {
		(void)unlinkat(rec_state.dir_fd, name, 0);
		return NULL;
	}
	(void)madvise(r, BYTES, MADV_POPULATE_WRITE); /* kernels before 5.14 can't: then pages come as they are used */
	r->magic = REC_MAGIC;
	r->words = REC_RING_WORDS;
	return r;
}

void rec_rings_refill(void)
{
	unsigned free_rings = 0, n;

	n = atomic_load_explicit(&rings.n, memory_order_acquire);
	for (unsigned i = 0; i < n; i++)
		free_rings += !atomic_load_explicit(&rings.taken[i], memory_order_relaxed);
	if (free_rings >= SPARE / 2 || n == RINGS)
		return;
	pthread_mutex_lock(&rings.lock);
	if (!atomic_load(&rings.has_key) && pthread_key_create(&rings.key, rec_ring_release) == 0)
		atomic_store(&rings.has_key, true);
	for (; free_rings < SPARE && (n = atomic_load(&rings.n)) < RINGS; free_rings++) {
		struct rec_ring *r = make(n);

		if (r == NULL)
			break;
		atomic_store(&rings.ring[n], r);
		atomic_store_explicit(&rings.n, n + 1, memory_order_release);
	}
	pthread_mutex_unlock(&rings.lock);
}

struct rec_ring *rec_ring_at(unsigned i)
{
	return atomic_load(&rings.ring[i]);
}

unsigned rec_ring_count(void)
{
	return atomic_load_explicit(&rings.n, memory_order_acquire);
}

uint64_t rec_homeless(void)
{
	return atomic_load(&rings.homeless);
}

/* Its thread ends, or its queue; or the process is a child, in which it is not. */
void rec_no_poller(void)
{
	rec_state.polled = (struct rec_queue){0};
	atomic_store(&rec_state.poller, NULL);
}

/*
 * Another thread may go on where this one has ended: who drains reads the ring all the same. In a child, what the
 * thread that forked had is gone, and another's may be at its address.
 */
void rec_ring_release(void *ring)
{
	if (ring != rec_mine.ring)
		return;
	if (atomic_load(&rec_state.poller) == rec_self())
		rec_no_poller();
	memset(&rec_mine, 0, sizeof(rec_mine));
	for (unsigned i = 0; i < rec_ring_count(); i++)
		if (rec_ring_at(i) == ring)
			atomic_store_explicit(&rings.taken[i], false, memory_order_release);
}

void rec_rings_remove(void)
{
	char name[64];

	for (unsigned i = 0; i < rec_ring_count(); i++) {
		name_of(name, i);
		(void)unlinkat(rec_state.dir_fd, name, 0);
	}
}

/* The parent's are no longer this process's business: it must not write to them. */
void rec_rings_forget(void)
{
	unsigned n = rec_ring_count();

	atomic_store(&rings.n, 0);
	for (unsigned i = 0; i < n; i++) {
		(void)munmap(rec_ring_at(i), BYTES);
		atomic_store(&rings.ring[i], NULL);
		atomic_store(&rings.taken[i], false);
	}
	pthread_mutex_init(&rings.lock, NULL);
	atomic_store(&rings.homeless, 0);
	memset(&rec_mine, 0, sizeof(rec_mine));
}

/* The next records are whole ones: none stands for sure in the ring that they could be like. */
static void like_none(void)
{
	for (unsigned i = 0; i < REC_LIKE; i++)
		rec_mine.like[i].w[1] = UINT64_MAX;
}

static bool take_free_ring(void)
{
	unsigned n = rec_ring_count();

	for (unsigned i = 0; i < n; i++) {
		bool no = false;

		if (!atomic_compare_exchange_strong(&rings.taken[i], &no, true))
			continue;
		rec_mine.ring = rec_ring_at(i);
		rec_mine.ring->thread = (uint32_t)syscall(SYS_gettid);
		rec_mine.from = rec_mine.at = atomic_load_explicit(&rec_mine.ring->head, memory_order_relaxed);
		rec_mine.limit = rec_mine.at; /* to be looked for */
		rec_mine.staged = 0;
		rec_mine.held = false;
		rec_mine.t = 0;
		like_none();
		if (atomic_load(&rings.has_key))
			(void)pthread_setspecific(rings.key, rec_mine.ring);
		rec_drain_ask(); /* for another one */
		return true;
	}
	return false;
}

/* On the simulated wire no thread makes rings ready. */
static bool take_ring(void)
{
	int saved = errno;
	bool took = take_free_ring();

	for (unsigned tries = 0; rec_state.sim && !took && tries < 16; tries++) { /* others may be quicker */
		rec_rings_refill();
		took = take_free_ring();
	}
	errno = saved;
	return took;
}

/* Up to where it may write before it looks again: the end, or where who drains is to be asked. */
static void look_for_limit(void)
{
	const uint64_t tail = atomic_load_explicit(&rec_mine.ring->tail, memory_order_acquire);
	const uint64_t end = tail + REC_RING_WORDS;

	rec_mine.limit = tail + REC_MUCH;
	if (rec_mine.at + REC_MUCH / 2 > rec_mine.limit) {
		rec_drain_ask();
		rec_mine.limit = rec_mine.at + REC_MUCH < end ? rec_mine.at + REC_MUCH : end;
	}
}

/* Room for so many more, or one is counted as lost. */
static bool room(unsigned n)
{
	uint64_t words;

	if (rec_mine.ring == NULL && !take_ring()) {
		atomic_fetch_add_explicit(&rings.homeless, 1, memory_order_relaxed);
		return false;
	}
	words = 8 * (uint64_t)(rec_mine.staged + n);
	if (rec_mine.at + words > rec_mine.limit)
		look_for_limit();
	if (rec_mine.at + words <= rec_mine.limit)
		return true;
	atomic_fetch_add_explicit(&rec_mine.ring->lost, 1, memory_order_relaxed);
	return false;
}

static void add(uint64_t word)
{
	rec_mine.ring->word[rec_mine.at++ & (REC_RING_WORDS - 1)] = word;
}

static void pack_whole(const union rec_words *u, uint64_t like[8])
{
	memcpy(like, u, sizeof(*u));
	if (like[0] < rec_mine.t)
		like[0] = rec_mine.t; /* a thread's records do not go back in time */
	for (unsigned i = 0; i < 8; i++)
		add(like[i]);
	rec_mine.t = like[0];
}

/* Its words into the ring, for which there must be room. */
static void pack(const union rec_words *u)
{
	const unsigned which = rec_like(u);
	uint64_t *const like = rec_mine.like[which].w;
	const uint64_t dt = u->w[0] - rec_mine.t, start = rec_mine.at;
	uint64_t first = REC_PACKED | (uint64_t)which << 40 | dt, by = 0;

	if (like[1] != u->w[1] || dt > UINT32_MAX) {
		pack_whole(u, like);
		return;
	}
	add(0); /* its place */
	for (unsigned i = 2; i < 8; i++) {
		if (u->w[i] == like[i])
			continue;
		by = u->w[i] - like[i];
		first |= REC_WORD(i);
		add(like[i] = u->w[i]);
	}
	if (rec_mine.at == start + 2 && dt <= UINT16_MAX && rec_is_near(by)) {
		first |= REC_NEAR | (by & UINT16_MAX) << 16;
		rec_mine.at = start + 1;
	}
	rec_mine.ring->word[start & (REC_RING_WORDS - 1)] = first;
	rec_mine.t = u->w[0];
}

static void unstage(void)
{
	for (unsigned i = 0; i < rec_mine.staged; i++)
		pack(&rec_mine.ring->staged[i]);
	rec_mine.staged = 0;
	rec_mine.held = false;
}

/* What waits must have its place before the next; held, it stays until there are too many. */
static void make_place(void)
{
	if (rec_mine.staged > 0 && (!rec_mine.held || rec_mine.staged == REC_STAGED))
		unstage();
}

void rec_put_any(const union rec_words *u)
{
	if (!room(1))
		return;
	make_place();
	if (rec_mine.held)
		rec_mine.ring->staged[rec_mine.staged++] = *u;
	else
		pack(u);
}

/*
 * Virtual time stands still for long: what happened between two events of the devices is said by their number. The time
 * is that of CLOCK_MONOTONIC, or virtual.
 */
uint64_t rec_place_and_time(void)
{
	uint64_t now = rec_clock_now(), seq = rec_state.device_seq != NULL ? rec_state.device_seq() : 0;
	union rec_words u = {.r = {.t_ns = now, .type = REC_AT, .a = {seq}}};

	if (seq == rec_mine.seq || (rec_mine.ring == NULL && !take_ring()) || !room(1))
		return now;
	rec_mine.seq = seq;
	rec_put(&u);
	return now;
}

struct rec *rec_begin(enum rec_type type, const struct ibv_context *context)
{
	union rec_words u;

	if (atomic_load_explicit(&rec_state.on, memory_order_relaxed) != 1 || !room(2))
		return NULL;
	rec_start(&u, type, context != NULL ? rec_context_index(context) : 0);
	make_place();
	rec_mine.ring->staged[rec_mine.staged] = u;
	return &rec_mine.ring->staged[rec_mine.staged++].r;
}

struct rec *rec_begin_held(enum rec_type type, const struct ibv_context *context)
{
	struct rec *r;

	if (rec_mine.held) /* inside another one: with a place, but without what it returns */
		return rec_begin(type, context);
	if (rec_mine.staged > 0)
		unstage();
	r = rec_begin(type, context);
	rec_mine.held = r != NULL;
	return r;
}

/* On the simulated wire no thread drains, and time stands still. */
static void drain_if_half_full(void)
{
	if (rec_state.sim &&
	    rec_mine.at - atomic_load_explicit(&rec_mine.ring->tail, memory_order_acquire) > REC_RING_WORDS / 2)
		rec_drain_soon();
}

void rec_commit_any(void)
{
	if (rec_mine.held || rec_mine.ring == NULL)
		return;
	unstage();
	atomic_store_explicit(&rec_mine.ring->head, rec_mine.at, memory_order_release);
	drain_if_half_full();
}

void rec_commit_held(struct rec *r, uint64_t result)
{
	if (r == NULL)
		return;
	r->a[2] = result;
	if (r == &rec_mine.ring->staged[0].r)
		rec_mine.held = false;
	rec_commit();
}

#define HELD_MARK (1ull << 63) /* so many are staged */

uint64_t rec_mark_behind_staged(void)
{
	if (rec_mine.held)
		return HELD_MARK | rec_mine.staged;
	unstage();
	return rec_mine.at;
}

static bool taken_back(uint64_t mark)
{
	if (rec_mine.ring == NULL || rec_mine.held != ((mark & HELD_MARK) != 0))
		return false;
	if (rec_mine.held) {
		rec_mine.staged = (unsigned)(mark & ~HELD_MARK);
		return true;
	}
	if (mark < rec_mine.from) /* there was no ring yet */
		mark = rec_mine.from;
	if (mark < atomic_load_explicit(&rec_mine.ring->head, memory_order_relaxed))
		return false;
	rec_mine.staged = 0;
	rec_mine.at = mark;
	like_none();
	return true;
}

void rec_rewind(uint64_t mark)
{
	if (taken_back(mark) && rec_state.device_seq != NULL)
		rec_mine.seq = UINT64_MAX; /* a REC_AT may be among it */
}

/* Longer texts take several records; all but the last have n = 0xff. */
void rec_text(enum rec_type type, const struct ibv_context *context, const char *text)
{
	size_t len = strlen(text);
	struct rec *r;

	do {
		size_t part = len < REC_TEXT ? len : REC_TEXT;

		r = rec_begin(type, context);
		if (r == NULL)
			return;
		r->n = len > REC_TEXT ? 0xff : (uint8_t)part;
		memcpy(r->a, text, part);
		text += part;
		len -= part;
	} while (len > 0);
	rec_commit();
}
