/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * ring.c - a ring for each thread, of which the thread is the only writer. Writing is a store or two: no lock, no
 * allocation, no call into the kernel. A thread takes its ring from those that were made ready by calls that may take
 * time; where none is left, and where it is full, the records are counted as lost.
 *
 * A ring is a file that is mapped and shared: what it holds survives the program. Its blocks are allocated when it is
 * made, so that a full disk is an error there and no SIGBUS later.
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

#include "recorder.h"

#define RINGS 256
#define SPARE 4 /* made ready beyond those in use */
#define BYTES (sizeof(struct rec_ring) + REC_RING_SLOTS * sizeof(struct rec))

static struct {
	struct rec_ring *_Atomic ring[RINGS];
	atomic_bool taken[RINGS];
	atomic_uint n;
	_Atomic uint64_t homeless; /* records of threads that found no ring */
	pthread_key_t key;
	atomic_bool has_key;
	pthread_mutex_t lock; /* of making rings */
} rings = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local struct {
	struct rec_ring *ring;
	uint64_t at;   /* next slot */
	uint64_t tail; /* as it was when it was last looked at */
	uint64_t seq;  /* of the simulated devices' events, as it was told last */
} mine __attribute__((tls_model("initial-exec")));

static void name_of(char name[64], unsigned i)
{
	snprintf(name, 64, "rec-%ld-%u.ring", (long)getpid(), i);
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
	if (posix_fallocate(fd, 0, (off_t)BYTES) == 0)
		r = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
	close(fd);
	if (r == MAP_FAILED) {
		(void)unlinkat(rec_state.dir_fd, name, 0);
		return NULL;
	}
	r->magic = REC_MAGIC;
	r->slots = REC_RING_SLOTS;
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

/* Another thread may go on where this one has ended: who drains reads the ring all the same. */
void rec_ring_release(void *ring)
{
	for (unsigned i = 0; i < rec_ring_count(); i++)
		if (rec_ring_at(i) == ring)
			atomic_store_explicit(&rings.taken[i], false, memory_order_release);
	mine.ring = NULL;
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
	memset(&mine, 0, sizeof(mine));
}

static bool take_ring(void)
{
	unsigned n = rec_ring_count();

	for (unsigned i = 0; i < n; i++) {
		bool no = false;

		if (!atomic_compare_exchange_strong(&rings.taken[i], &no, true))
			continue;
		mine.ring = rec_ring_at(i);
		mine.ring->thread = (uint32_t)syscall(SYS_gettid);
		mine.at = atomic_load_explicit(&mine.ring->head, memory_order_relaxed);
		mine.tail = atomic_load_explicit(&mine.ring->tail, memory_order_acquire);
		if (atomic_load(&rings.has_key))
			(void)pthread_setspecific(rings.key, mine.ring);
		return true;
	}
	return false;
}

uint64_t rec_now(void)
{
	struct timespec ts;

	if (rec_state.virtual_now != NULL)
		return rec_state.virtual_now();
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

bool rec_room(unsigned n)
{
	if (mine.ring == NULL && !take_ring()) {
		atomic_fetch_add_explicit(&rings.homeless, 1, memory_order_relaxed);
		return false;
	}
	if (mine.at + n - mine.tail > REC_RING_SLOTS)
		mine.tail = atomic_load_explicit(&mine.ring->tail, memory_order_acquire);
	if (mine.at + n - mine.tail <= REC_RING_SLOTS)
		return true;
	atomic_fetch_add_explicit(&mine.ring->lost, 1, memory_order_relaxed);
	return false;
}

static struct rec *next_slot(void)
{
	return &mine.ring->slot[mine.at++ & (REC_RING_SLOTS - 1)];
}

/* Virtual time stands still for long: what happened between two events of the devices is said by their number. */
static void tell_place(void)
{
	uint64_t seq = rec_state.device_seq();

	if (seq == mine.seq)
		return;
	mine.seq = seq;
	*next_slot() = (struct rec){.t_ns = rec_now(), .type = REC_AT, .a = {seq}};
}

struct rec *rec_begin(enum rec_type type, const struct ibv_context *context)
{
	struct rec *r;

	if (atomic_load_explicit(&rec_state.on, memory_order_relaxed) != 1 || !rec_room(2))
		return NULL;
	if (rec_state.device_seq != NULL)
		tell_place();
	r = next_slot();
	memset(r, 0, sizeof(*r));
	r->t_ns = rec_now();
	r->type = (uint16_t)type;
	r->ctx = context != NULL ? rec_context_index(context) : 0;
	return r;
}

struct rec *rec_begin_like(const struct rec *first)
{
	struct rec *r;

	if (!rec_room(1))
		return NULL;
	r = next_slot();
	memset(r, 0, sizeof(*r));
	r->t_ns = first->t_ns;
	r->type = first->type;
	r->ctx = first->ctx;
	return r;
}

void rec_commit(void)
{
	if (mine.ring == NULL)
		return;
	atomic_store_explicit(&mine.ring->head, mine.at, memory_order_release);
	/* On the simulated wire no thread drains, and time stands still. */
	if (rec_state.sim &&
	    mine.at - atomic_load_explicit(&mine.ring->tail, memory_order_acquire) > REC_RING_SLOTS / 2)
		rec_drain_soon();
}

uint64_t rec_mark(void)
{
	return mine.at;
}

void rec_rewind(uint64_t mark)
{
	if (mine.ring != NULL && mark >= atomic_load_explicit(&mine.ring->head, memory_order_relaxed))
		mine.at = mark;
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
