/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * trace.c - the events of the devices and of the wire between them, in the order in which they happened, as a .vst
 * file (vs/vst.h). It is written beside its place and takes it at the end, so nobody reads half of one.
 *
 * On sockets, where time matters, events are packed into a mapped file while the program runs: one costs some stores,
 * and what a killed program has told is there (vs-run makes the trace of it); at the end they become lines. On the
 * simulated wire, where it stands still, and in what is no regular file, they are lines at once.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "verbs/clock_link.h"
#include "verbs/ref.h"
#include "vs/grow.h"
#include "vs/vst.h"

#define LINE 4096u            /* the longest event has eight numbers or names, or a piece of memory */
#define PIECE 1024u           /* bytes of memory in an event */
#define MEMORY_MAX (1u << 20) /* larger regions are not told of */

struct ref_trace {
	int fd;
	uint64_t seq;
	bool straight;        /* into what is no regular file */
	struct vs_grow *grow; /* packed; NULL: lines, at once */
	int error;            /* the first errno of a write; from then on nothing more is written */
	char *path, *part, *text;
};

static void destroy(struct ref_trace *t)
{
	vs_grow_forget(t->grow);
	if (t->fd >= 0)
		close(t->fd);
	free(t->path);
	free(t->part);
	free(t->text);
	free(t);
}

/* A line whose length, or error, this is, with room for its end. */
static void put(struct ref_trace *t, char *line, int len)
{
	size_t n = len < 0 ? 0 : (size_t)len + 1;

	if (len < 0)
		t->error = E2BIG;
	else
		line[len] = '\n';
	for (size_t at = 0; at < n && t->error == 0;) {
		ssize_t done = write(t->fd, line + at, n - at);

		if (done < 0 && errno != EINTR)
			t->error = errno;
		at += done > 0 ? (size_t)done : 0;
	}
}

static void put_packed(struct ref_trace *t, const uint8_t *packed, size_t n)
{
	if (n == 0)
		t->error = E2BIG;
	else
		t->error = vs_grow_put(t->grow, packed, VS_PACKED_LEAD, packed + VS_PACKED_LEAD, n - VS_PACKED_LEAD);
}

/* On sockets every process writes a file of its own: %p in its name is the process, %n its name in events. */
static char *expand(const char *path, const char *node)
{
	size_t cap = strlen(path) * 16 + 32, n = 0;
	char *to = malloc(cap);

	for (const char *c = path; to != NULL && *c != '\0'; c++) {
		if (c[0] == '%' && c[1] == 'p')
			n += (size_t)snprintf(to + n, cap - n, "%ld", (long)getpid());
		else if (c[0] == '%' && c[1] == 'n')
			n += (size_t)snprintf(to + n, cap - n, "%.15s", node);
		else
			to[n++] = *c;
		c += c[0] == '%' && (c[1] == 'p' || c[1] == 'n');
	}
	if (to != NULL)
		to[n] = '\0';
	return to;
}

static int open_part(struct ref_trace *t, const char *template, const char *node, bool sim)
{
	char *path = expand(template, node);
	size_t len = path != NULL ? strlen(path) + 32 : 0;
	struct stat st;

	t->path = path;
	t->part = path != NULL ? malloc(len) : NULL;
	t->text = path != NULL ? malloc(len) : NULL;
	if (t->part == NULL || t->text == NULL)
		return ENOMEM;
	snprintf(t->part, len, "%s.%ld-1.part", path, (long)getpid());
	snprintf(t->text, len, "%s.text", t->part);
	/* A FIFO, a terminal: straight. */
	t->straight = stat(path, &st) == 0 && !S_ISREG(st.st_mode);
	if (t->straight)
		t->fd = open(path, O_WRONLY | O_CLOEXEC);
	else
		t->fd = open(t->part, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600); /* it may hold keys */
	if (t->fd < 0)
		return errno;
	t->grow = t->straight || sim ? NULL : vs_grow_open(t->fd);
	return 0;
}

struct ref_trace *ref_trace_open(const struct ref_config *c, const char *node, int *err)
{
	struct vs_vst_header h = {.build = VS_VERSION, .has_seed = true, .seed = c->seed};
	struct ref_trace *t = calloc(1, sizeof(*t));
	_Alignas(8) char line[LINE];

	*err = ENOMEM;
	if (t == NULL)
		return NULL;
	t->fd = -1;
	snprintf(h.clock, sizeof(h.clock), "%s", c->sim ? "sim" : "monotonic");
	if (!c->sim) {
		snprintf(h.vantage_name, sizeof(h.vantage_name), "%s", node);
		snprintf(h.vantage_type, sizeof(h.vantage_type), "device");
	}
	*err = open_part(t, c->trace, node, c->sim);
	if (*err != 0) {
		ref_say("%s: can't be written: %s", c->trace, strerror(*err));
		destroy(t);
		return NULL;
	}
	if (t->grow != NULL)
		put_packed(t, (const uint8_t *)line, vs_pack_header(&h, line, sizeof(line)));
	else
		put(t, line, vs_vst_format_header(&h, line, sizeof(line)));
	return t;
}

static struct ref_trace *current; /* what a recorder beside the program orders its own records by */

uint64_t ref_trace_seq(void)
{
	return current != NULL ? current->seq : 0;
}

static uint64_t emit(void *ctx, const struct vs_event *ev)
{
	struct ref_trace *t = ctx;
	_Alignas(8) char line[LINE];

	t->seq++;
	if (t->error != 0 || ref.forked) {
		;
	} else if (t->grow != NULL) {
		put_packed(t, (const uint8_t *)line, vs_pack(ev, line, sizeof(line)));
	} else {
		struct vs_event e = *ev;

		e.seq = t->seq;
		put(t, line, vs_vst_format(&e, line, sizeof(line)));
	}
	return t->seq;
}

struct vs_event_sink ref_trace_sink(struct ref_trace *t)
{
	current = t;
	return (struct vs_event_sink){.emit = emit, .ctx = t, .level = VS_LEVEL_EXTRA};
}

/* ---- what only the end tells: memory and counters ---- */

static void tell(const struct vs_dev *dev, enum vs_event_type type, const uint64_t *a, unsigned n)
{
	const struct vs_dev_attr *attr = vs_dev_attr(dev);
	struct vs_event ev = {.t_ns = ref_now(), .type = (uint16_t)type};

	snprintf(ev.node, sizeof(ev.node), "%s", attr->name);
	memcpy(ev.a, a, n * sizeof(a[0]));
	(void)attr->sink.emit(attr->sink.ctx, &ev);
}

/* In pieces that fit into a line. */
void ref_trace_memory(const struct vs_dev *dev, uint32_t lkey, const void *addr, size_t len)
{
	static const char digit[] = "0123456789abcdef";
	const uint8_t *bytes = addr;
	char hex[2 * PIECE + 1];

	if (!ref.config.trace_memory || ref.sim == NULL || vs_dev_attr(dev)->sink.emit == NULL || len > MEMORY_MAX)
		return;
	for (size_t from = 0; from < len; from += PIECE) {
		size_t n = len - from < PIECE ? len - from : PIECE;
		const uint64_t a[] = {(uintptr_t)bytes + from, n, lkey, (uintptr_t)hex};

		for (size_t i = 0; i < n; i++) {
			hex[2 * i] = digit[bytes[from + i] >> 4];
			hex[2 * i + 1] = digit[bytes[from + i] & 15];
		}
		hex[2 * n] = '\0';
		tell(dev, VS_EV_MEM_BYTES, a, 4);
	}
}

void ref_trace_counters(const struct vs_dev *dev)
{
	if (ref.sim == NULL || vs_dev_attr(dev)->sink.emit == NULL)
		return;
	for (int c = 0; c < VS_CNT_COUNT; c++) {
		const uint64_t a[] = {(uintptr_t)vs_counter_name((enum vs_counter)c),
				      vs_dev_counter(dev, (enum vs_counter)c)};

		if (a[1] > 0)
			tell(dev, VS_EV_DEV_COUNTER, a, 2);
	}
}

/* What was packed becomes the lines of t->text: 0 or an errno. */
static int make_lines(struct ref_trace *t)
{
	size_t len = (size_t)vs_grow_length(t->grow);
	int fd = open(t->text, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), rc = fd < 0 ? errno : 0;
	const void *data = rc == 0 ? mmap(NULL, len, PROT_READ, MAP_SHARED, t->fd, 0) : MAP_FAILED;
	FILE *f = data != MAP_FAILED ? fdopen(fd, "w") : NULL;

	if (rc == 0 && f == NULL)
		rc = errno;
	if (f != NULL && vs_unpack(data, len, f) != VS_OK)
		rc = errno != 0 ? errno : EIO;
	if (f != NULL && fclose(f) != 0 && rc == 0)
		rc = errno;
	if (f == NULL && fd >= 0)
		close(fd);
	if (data != MAP_FAILED)
		(void)munmap((void *)(uintptr_t)data, len);
	return rc;
}

static void keep(struct ref_trace *t)
{
	if (t->error == 0 && t->grow != NULL)
		t->error = make_lines(t);
	if (t->error == 0 && !t->straight && rename(t->grow != NULL ? t->text : t->part, t->path) != 0)
		t->error = errno;
	if (t->error != 0)
		ref_say("%s: can't be written: %s", t->path, strerror(t->error));
	if (t->error != 0 && t->grow != NULL)
		(void)unlink(t->text);
}

void ref_trace_close(struct ref_trace *t, bool wanted)
{
	if (t == NULL)
		return;
	current = NULL;
	if (wanted)
		keep(t);
	if (!ref.forked && !t->straight && (!wanted || t->error != 0 || t->grow != NULL))
		(void)unlink(t->part);
	destroy(t);
}
