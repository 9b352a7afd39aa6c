/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * spool.c - what the recorder left, made into .vst files once the program is over: the records of all threads
 * (spool_read.c) as events (spool_events.c), and at the end how it ended.
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
	uint32_t error;     /* of writing the spool */
	uint64_t unwritten; /* words */
};

/* What of it is not in the spool; where the disk was full, what was before it is not there either, and tells nothing.
 */
static void take_ring(const struct bytes *b, struct spool_reader *r, unsigned i, struct left *l)
{
	const struct rec_ring *ring = (const void *)b->at;
	uint64_t head, tail, *word;

	if (b->n < sizeof(*ring) || ring->magic != REC_MAGIC || ring->words != REC_RING_WORDS ||
	    b->n < sizeof(*ring) + REC_RING_WORDS * sizeof(uint64_t))
		return;
	head = ring->head;
	tail = ring->tail;
	l->error = ring->error > 0 ? ring->error : l->error;
	l->unwritten = ring->unwritten > l->unwritten ? ring->unwritten : l->unwritten;
	if (head == tail || head - tail > REC_RING_WORDS || ring->error != 0)
		return;
	word = malloc((head - tail) * sizeof(*word));
	if (word == NULL)
		return;
	r->rest[i].word = word;
	r->rest[i].at = tail;
	for (; tail != head; tail++)
		word[r->rest[i].n++] = ring->word[tail & (REC_RING_WORDS - 1)];
}

static void take_rings(int dir, uint32_t pid, struct spool_reader *r, struct left *l)
{
	for (unsigned i = 0; i < SPOOL_RINGS; i++) {
		struct bytes b;
		char name[64];

		snprintf(name, sizeof(name), "rec-%u-%u.ring", pid, i);
		if (!map_file(dir, name, &b))
			break;
		take_ring(&b, r, i, l);
		unmap(&b);
		(void)unlinkat(dir, name, 0);
	}
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

static void how_it_ended(struct spool *s, const struct left *l, uint64_t unwritten, bool ended, char *text, size_t cap)
{
	if (l->error != 0 || s->missing > 0)
		snprintf(text, cap, "the disk took no more (%s): about %llu records are missing",
			 strerror(l->error != 0 ? (int)l->error : ENOSPC), (unsigned long long)unwritten + s->missing);
	else if (!ended)
		snprintf(text, cap,
			 "the program was killed, or left without exit(3): what it did not yet publish is missing");
	else if (s->out->lost > 0)
		snprintf(text, cap,
			 "%llu records are missing: the program called, or began threads, faster than could be written",
			 (unsigned long long)s->out->lost);
	else
		text[0] = '\0';
}

/* Those that are there take so many words each, and so do those that are not. */
static uint64_t records_of(uint64_t words, uint64_t records, uint64_t of_words)
{
	double each = records > 0 && of_words > 0 ? (double)of_words / (double)records : 8;

	return (uint64_t)((double)words / each);
}

static void write_all(struct spool *s, struct spool_reader *all, const struct left *l)
{
	uint64_t last = 0, n = 0, unwritten;
	struct rec r[2];
	bool ended = false;

	put_header(s);
	while (spool_next(all, r)) {
		ended = ended || r->type == REC_END;
		if (r->type == REC_LOST)
			s->out->lost += r->a[0];
		if (r->type == REC_AT)
			spool_merge_until(s, r->a[0]);
		if (r->type == REC_QP_GID || r->type == REC_END || r->type == REC_AT || r->type == REC_TICKS)
			continue;
		last = r->t_ns;
		n++;
		spool_record(s, r);
	}
	spool_merge_end(s);
	unwritten = records_of(l->unwritten, n, all->words);
	s->out->lost += unwritten;
	if (s->error == 0)
		save(s);
	if (s->error != 0 && cut_back(s))
		s->out->lost += s->missing;
	how_it_ended(s, l, unwritten, ended, s->out->note, sizeof(s->out->note));
	if (s->f != NULL)
		put_end(s, last, n, s->out->note[0] != '\0' ? s->out->note : "in order");
}

/* The devices' own trace, on the simulated wire. */
static FILE *device_trace(const struct spool *s, int dir, struct spool_reader *all)
{
	bool any = false;
	struct rec r[2];
	int fd;

	if ((s->head.flags & REC_SIM) == 0)
		return NULL;
	while (!any && spool_next(all, r))
		any = r->type == REC_AT;
	spool_rewind(all);
	fd = any ? openat(dir, DEVICE_TRACE, O_RDONLY | O_CLOEXEC) : -1;
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

/* All but the spool and its head are known. */
static bool convert_records(struct spool *s, const char *dir, int fd, struct spool_reader *all, const struct left *left,
			    char *err, size_t err_cap)
{
	FILE *device;
	bool ok;

	if (!open_out(s, dir, err, err_cap))
		return false;
	device = device_trace(s, fd, all);
	if (device != NULL && spool_merge_begin(s, device))
		(void)unlinkat(fd, DEVICE_TRACE, 0);
	write_all(s, all, left);
	ok = close_out(s, dir, err, err_cap);
	if (device != NULL)
		fclose(device);
	return ok;
}

static bool convert(const char *dir, int fd, const char *name, struct vt_spool_result *out, char *err, size_t err_cap)
{
	struct spool *s = calloc(1, sizeof(*s));
	struct spool_reader all = {0};
	struct left left = {0};
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
		take_rings(fd, s->head.pid, &all, &left);
		if (spool_open(&all, b.at + sizeof(struct rec_head), b.n - sizeof(struct rec_head),
			       (s->head.flags & REC_IN_TICKS) != 0))
			ok = convert_records(s, dir, fd, &all, &left, err, err_cap);
		else
			snprintf(err, err_cap, "%s/%s: no memory for its records", dir, name);
	}
	spool_close(&all);
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
