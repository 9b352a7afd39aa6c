/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * spool.c - what the recorder left, made into .vst files once the program is over: the records of all threads in the
 * order of their times, behind them what a killed program had in its rings, and at the end how it ended. Memory is
 * bounded by four bytes a record: the spool is mapped, not read.
 */
#define _GNU_SOURCE /* versionsort */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "spool_int.h"

#define RECORDS_MAX UINT32_MAX
#define RINGS 256u
#define DEVICE_TRACE "device.vst" /* run.c */

const char *spool_node(const struct spool *s, uint8_t ctx)
{
	const char *device = ctx < SPOOL_CONTEXTS ? s->device[ctx] : "";

	/* On the simulated wire both devices are this process's, and events of the devices have their names. */
	return (s->head.flags & REC_SIM) != 0 && device[0] != '\0' ? device : s->node;
}

#define SAVE_EVERY 512u

/* How far the file is on the disk, from time to time. */
static void save(struct spool *s)
{
	if (fflush(s->f) != 0) {
		s->error = errno;
		return;
	}
	s->before = s->whole;
	s->whole = ftell(s->f);
	s->unsaved = 0;
}

void spool_put(struct spool *s, struct vs_event *ev)
{
	ev->seq = ++s->seq;
	if (s->error != 0) {
		s->missing++;
		return;
	}
	if (vs_vst_put(ev, s->f) != VS_OK)
		s->error = errno != 0 ? errno : EIO;
	else if (++s->unsaved == SAVE_EVERY)
		save(s);
	if (s->error != 0)
		s->missing += s->unsaved + SAVE_EVERY; /* about: what is cut off for the last line */
	s->out->events++;
}

/* The disk is full: the file is cut back to what is surely whole, which makes room for a last line. */
static bool cut_back(struct spool *s)
{
	if (s->error != ENOSPC && s->error != EDQUOT)
		return false;
	(void)fclose(s->f); /* what it still holds can't be written, and is missing anyway */
	s->f = NULL;
	if (s->before <= 0 || truncate(s->part, s->before) != 0)
		return false;
	s->f = fopen(s->part, "a");
	s->error = s->f != NULL ? 0 : errno;
	return s->f != NULL;
}

/* ---- bytes ---- */

struct bytes {
	const uint8_t *at;
	size_t n;
	size_t mapped; /* 0: from malloc */
};

static bool map_file(int dir, const char *name, struct bytes *b)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;
	void *p = MAP_FAILED;

	*b = (struct bytes){0};
	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
		p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (p == MAP_FAILED)
		return false;
	*b = (struct bytes){p, (size_t)st.st_size, (size_t)st.st_size};
	return true;
}

static void unmap(struct bytes *b)
{
	if (b->mapped > 0)
		(void)munmap((void *)(uintptr_t)b->at, b->mapped);
	*b = (struct bytes){0};
}

/* ---- rings of a program that did not end in order ---- */

struct left {
	struct rec *r; /* what was still in the rings */
	size_t n;
	uint32_t error; /* of writing the spool */
	uint64_t unwritten, lost;
	bool rings;
};

static void take_ring(const struct bytes *b, struct left *l)
{
	const struct rec_ring *ring = (const void *)b->at;
	uint64_t head, tail, n;
	struct rec *grown;

	if (b->n < sizeof(*ring) || ring->magic != REC_MAGIC || ring->slots != REC_RING_SLOTS ||
	    b->n < sizeof(*ring) + REC_RING_SLOTS * sizeof(struct rec))
		return;
	head = ring->head;
	tail = ring->tail;
	n = head - tail <= REC_RING_SLOTS ? head - tail : 0;
	l->rings = true;
	l->error = ring->error > 0 ? ring->error : l->error;
	l->unwritten = ring->unwritten > l->unwritten ? ring->unwritten : l->unwritten;
	l->lost += ring->lost;
	grown = n > 0 ? realloc(l->r, (l->n + n) * sizeof(*grown)) : NULL;
	if (grown == NULL)
		return;
	l->r = grown;
	for (; tail != head; tail++)
		l->r[l->n++] = ring->slot[tail & (REC_RING_SLOTS - 1)];
}

static void take_rings(int dir, uint32_t pid, struct left *l)
{
	for (unsigned i = 0; i < RINGS; i++) {
		struct bytes b;
		char name[64];

		snprintf(name, sizeof(name), "rec-%u-%u.ring", pid, i);
		if (!map_file(dir, name, &b))
			break;
		take_ring(&b, l);
		unmap(&b);
		(void)unlinkat(dir, name, 0);
	}
}

/* ---- order ---- */

/* Records of the spool, then of the rings. */
struct records {
	const struct rec *spool;
	size_t n_spool;
	const struct rec *left;
	size_t n;
};

static const struct rec *record(const struct records *all, uint32_t i)
{
	return i < all->n_spool ? &all->spool[i] : &all->left[i - all->n_spool];
}

/* A stable merge sort of places: the rings are drained in turns, so long runs are in order already. */
static void merge(const struct records *all, uint32_t *a, uint32_t *tmp, size_t lo, size_t mid, size_t hi)
{
	size_t i = lo, j = mid, k = lo;

	if (record(all, a[mid - 1])->t_ns <= record(all, a[mid])->t_ns)
		return;
	while (i < mid && j < hi)
		tmp[k++] = record(all, a[j])->t_ns < record(all, a[i])->t_ns ? a[j++] : a[i++];
	while (i < mid)
		tmp[k++] = a[i++];
	while (j < hi)
		tmp[k++] = a[j++];
	memcpy(a + lo, tmp + lo, (hi - lo) * sizeof(a[0]));
}

static uint32_t *in_order(const struct records *all)
{
	uint32_t *a = malloc((all->n + 1) * sizeof(a[0])), *tmp = malloc((all->n + 1) * sizeof(a[0]));

	if (a == NULL || tmp == NULL) {
		free(a);
		free(tmp);
		return NULL;
	}
	for (size_t i = 0; i < all->n; i++)
		a[i] = (uint32_t)i;
	for (size_t width = 1; width < all->n; width *= 2)
		for (size_t lo = 0; lo + width < all->n; lo += 2 * width)
			merge(all, a, tmp, lo, lo + width, lo + 2 * width < all->n ? lo + 2 * width : all->n);
	free(tmp);
	return a;
}

/* ---- one spool ---- */

static bool usable(const struct bytes *b, struct rec_head *h)
{
	if (b->n < sizeof(*h))
		return false;
	memcpy(h, b->at, sizeof(*h));
	h->program[sizeof(h->program) - 1] = h->node[sizeof(h->node) - 1] = '\0';
	return h->magic == REC_MAGIC && h->size == sizeof(struct rec);
}

/* What a name in events can't hold is left out. */
static void name_node(struct spool *s)
{
	const char *from = s->head.node[0] != '\0' ? s->head.node : s->head.program;
	size_t n = 0;

	for (; *from != '\0' && n < sizeof(s->node) - 1; from++)
		if ((*from >= '0' && *from <= '9') || (*from >= 'a' && *from <= 'z') ||
		    (*from >= 'A' && *from <= 'Z') || strchr("._:-", *from) != NULL)
			s->node[n++] = *from;
	if (n == 0)
		memcpy(s->node, "program", 8);
}

static void put_header(struct spool *s)
{
	struct vs_vst_header h = {0};

	snprintf(h.clock, sizeof(h.clock), "%s", (s->head.flags & REC_SIM) != 0 ? "sim" : "monotonic");
	snprintf(h.vantage_name, sizeof(h.vantage_name), "%s", s->node);
	snprintf(h.vantage_type, sizeof(h.vantage_type), "program");
	snprintf(h.build, sizeof(h.build), "%s", VS_VERSION);
	if (vs_vst_put_header(&h, s->f) != VS_OK)
		s->error = errno;
}

static void put_end(struct spool *s, uint64_t t, uint64_t records, const char *how)
{
	struct vs_event ev = {.t_ns = t, .type = VS_EV_REC_END, .a = {records, (uint64_t)(uintptr_t)how}};

	snprintf(ev.node, sizeof(ev.node), "%s", s->node);
	spool_put(s, &ev);
}

static void how_it_ended(struct spool *s, const struct left *l, bool ended, char *text, size_t cap)
{
	if (l->error != 0 || s->missing > 0)
		snprintf(text, cap, "the disk took no more (%s): about %llu records are missing",
			 strerror(l->error != 0 ? (int)l->error : ENOSPC),
			 (unsigned long long)l->unwritten + s->missing);
	else if (!ended)
		snprintf(text, cap,
			 "the program was killed, or left without exit(3): what it did not yet publish is missing");
	else if (s->out->lost > 0)
		snprintf(text, cap, "%llu records are missing: the program called faster than could be written",
			 (unsigned long long)s->out->lost);
	else
		text[0] = '\0';
}

static void write_all(struct spool *s, const struct records *all, const uint32_t *order, const struct left *l)
{
	uint64_t last = 0, n = 0;
	bool ended = false;

	put_header(s);
	for (size_t i = 0; i < all->n; i++) {
		const struct rec *r = record(all, order[i]);

		ended = ended || r->type == REC_END;
		if (r->type == REC_LOST)
			s->out->lost += r->a[0];
		if (r->type == REC_AT)
			spool_merge_until(s, r->a[0]);
		if (r->type == REC_QP_GID || r->type == REC_END || r->type == REC_AT)
			continue;
		last = r->t_ns;
		n++;
		if (r->type == REC_QP_PATH) { /* the GID follows it at once, in its thread */
			struct rec pair[2] = {*r, {0}};
			uint32_t next = order[i] + 1;

			if (next < all->n && record(all, next)->type == REC_QP_GID)
				pair[1] = *record(all, next);
			spool_record(s, pair);
		} else {
			spool_record(s, r);
		}
	}
	spool_merge_end(s);
	s->out->lost += l->unwritten;
	if (s->error == 0)
		save(s);
	if (s->error != 0 && cut_back(s))
		s->out->lost += s->missing;
	how_it_ended(s, l, ended, s->out->note, sizeof(s->out->note));
	if (s->f != NULL)
		put_end(s, last, n, s->out->note[0] != '\0' ? s->out->note : "in order");
}

/* The devices' own trace, on the simulated wire. */
static FILE *device_trace(const struct spool *s, int dir, const struct records *all)
{
	bool any = false;
	int fd;

	for (size_t i = 0; i < all->n && !any; i++)
		any = record(all, (uint32_t)i)->type == REC_AT;
	fd = any && (s->head.flags & REC_SIM) != 0 ? openat(dir, DEVICE_TRACE, O_RDONLY | O_CLOEXEC) : -1;
	return fd >= 0 ? fdopen(fd, "r") : NULL;
}

static bool open_out(struct spool *s, const char *dir, char *err, size_t err_cap)
{
	int fd;

	snprintf(s->out->name, sizeof(s->out->name), "calls-%s-%u.vst", s->node, s->head.pid);
	snprintf(s->part, sizeof(s->part), "%s/%s.part", dir, s->out->name);
	fd = open(s->part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
		  0600); /* keys, and what was asked for of payloads */
	s->f = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (s->f != NULL)
		return true;
	if (fd >= 0)
		close(fd);
	snprintf(err, err_cap, "%s: can't be written (%s)", s->part, strerror(errno));
	return false;
}

static bool close_out(struct spool *s, const char *dir, char *err, size_t err_cap)
{
	char path[1024];

	if (s->f != NULL && fclose(s->f) != 0 && s->error == 0)
		s->error = errno;
	snprintf(path, sizeof(path), "%s/%s", dir, s->out->name);
	if (s->error == 0 && rename(s->part, path) == 0)
		return true;
	snprintf(err, err_cap, "%s: can't be written (%s): the spool beside it stays", path,
		 strerror(s->error != 0 ? s->error : errno));
	(void)unlink(s->part);
	return false;
}

static bool convert(const char *dir, int fd, const char *name, struct vt_spool_result *out, char *err, size_t err_cap)
{
	struct spool *s = calloc(1, sizeof(*s));
	struct left left = {0};
	struct records all = {0};
	uint32_t *order = NULL;
	FILE *device = NULL;
	struct bytes b;
	bool ok = false;

	memset(out, 0, sizeof(*out));
	if (s == NULL || !map_file(fd, name, &b)) {
		snprintf(err, err_cap, "%s/%s: can't be read", dir, name);
		free(s);
		return false;
	}
	s->out = out;
	if (!usable(&b, &s->head)) {
		snprintf(err, err_cap, "%s/%s: is no spool of this version's recorder", dir, name);
	} else {
		name_node(s);
		snprintf(out->program, sizeof(out->program), "%s", s->head.program);
		snprintf(out->node, sizeof(out->node), "%s", s->node);
		out->pid = s->head.pid;
		take_rings(fd, s->head.pid, &left);
		all.spool = (const void *)(b.at + sizeof(struct rec_head));
		all.n_spool = (b.n - sizeof(struct rec_head)) / sizeof(struct rec);
		all.left = left.r;
		all.n = all.n_spool + left.n;
		order = all.n < RECORDS_MAX ? in_order(&all) : NULL;
		if (order == NULL)
			snprintf(err, err_cap, "%s/%s: no memory for its %zu records", dir, name, all.n);
		else if (open_out(s, dir, err, err_cap)) {
			device = device_trace(s, fd, &all);
			if (device != NULL && spool_merge_begin(s, device))
				(void)unlinkat(fd, DEVICE_TRACE, 0);
			write_all(s, &all, order, &left);
			ok = close_out(s, dir, err, err_cap);
			if (device != NULL)
				fclose(device);
		}
	}
	free(order);
	free(left.r);
	unmap(&b);
	free(s);
	return ok && unlinkat(fd, name, 0) == 0;
}

/* ---- the folder ---- */

static int is_spool(const struct dirent *e)
{
	size_t n = strlen(e->d_name);

	return strncmp(e->d_name, "rec-", 4) == 0 && n > 10 && strcmp(e->d_name + n - 6, ".spool") == 0;
}

int vt_spool_convert(const char *dir, struct vt_spool_result *out, size_t cap, char *err, size_t err_cap)
{
	struct dirent **list;
	int n = scandir(dir, &list, is_spool, versionsort), done = 0, fd;

	if (n < 0) {
		snprintf(err, err_cap, "%s: can't be read (%s)", dir, strerror(errno));
		return -1;
	}
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; i < n; i++) {
		if (done >= 0 && (size_t)done < cap && fd >= 0)
			done = convert(dir, fd, list[i]->d_name, &out[done], err, err_cap) ? done + 1 : -1;
		free(list[i]);
	}
	free(list);
	if (fd >= 0)
		close(fd);
	return done;
}
