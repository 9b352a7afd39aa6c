/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* pcap_late.c - a heap by time for what is delayed, a list per path for what is overtaken. */
#include "pcap_late.h"

#include <stdlib.h>
#include <string.h>

#define KEPT_MAX (512u << 20) /* bytes that are kept back at most */
#define PATHS 1024u

struct kept {
	int64_t when;
	uint64_t serial; /* equal times keep the order */
	uint32_t passes;
	struct path *path;
	struct kept *next; /* on its path, while it is overtaken */
	char key[VP_KEY_MAX];
	uint32_t caplen, wirelen;
	uint8_t data[];
};

struct path {
	struct path *next;
	struct vp_addr src, dst;
	int64_t held_until;
	bool held;
	struct kept *overtaken, **tail;
};

struct vp_late {
	const char *cmd;
	struct vp_out *out;
	struct kept **heap;
	size_t n, cap, bytes;
	uint64_t serial;
	int64_t last_ns; /* the latest time that was written */
	struct path *path[PATHS];
};

struct vp_late *vp_late_new(const char *cmd, struct vp_out *out)
{
	struct vp_late *l = calloc(1, sizeof(*l));

	if (!l) {
		vp_fail(cmd, "no memory");
		return NULL;
	}
	l->cmd = cmd;
	l->out = out;
	return l;
}

static void path_free(struct path *p)
{
	while (p->overtaken) {
		struct kept *k = p->overtaken;

		p->overtaken = k->next;
		free(k);
	}
	free(p);
}

void vp_late_free(struct vp_late *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < PATHS; i++)
		while (l->path[i]) {
			struct path *p = l->path[i];

			l->path[i] = p->next;
			path_free(p);
		}
	for (size_t i = 0; i < l->n; i++)
		free(l->heap[i]);
	free(l->heap);
	free(l);
}

static struct path *path_of(struct vp_late *l, const struct vp_addr *src, const struct vp_addr *dst)
{
	uint32_t h = 2166136261u;
	struct path *p, **head;

	for (unsigned i = 0; i < 16; i++)
		h = ((h ^ src->b[i]) * 16777619u ^ dst->b[i]) * 16777619u;
	head = &l->path[(h ^ h >> 16) % PATHS];
	for (p = *head; p; p = p->next)
		if (vp_addr_equal(&p->src, src) && vp_addr_equal(&p->dst, dst))
			return p;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->src = *src;
	p->dst = *dst;
	p->tail = &p->overtaken;
	p->next = *head;
	*head = p;
	return p;
}

/* ---- the heap ---- */

static bool earlier(const struct kept *a, const struct kept *b)
{
	return a->when != b->when ? a->when < b->when : a->serial < b->serial;
}

static bool heap_push(struct vp_late *l, struct kept *k)
{
	size_t i = l->n;

	if (l->n == l->cap) {
		size_t cap = l->cap ? l->cap * 2 : 64;
		struct kept **grown = realloc(l->heap, cap * sizeof(struct kept *));

		if (!grown)
			return false;
		l->heap = grown;
		l->cap = cap;
	}
	for (l->n++; i > 0 && earlier(k, l->heap[(i - 1) / 2]); i = (i - 1) / 2)
		l->heap[i] = l->heap[(i - 1) / 2];
	l->heap[i] = k;
	return true;
}

static struct kept *heap_pop(struct vp_late *l)
{
	struct kept *top = l->heap[0], *last = l->heap[--l->n];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < l->n) {
		if (child + 1 < l->n && earlier(l->heap[child + 1], l->heap[child]))
			child++;
		if (!earlier(l->heap[child], last))
			break;
		l->heap[i] = l->heap[child];
		i = child;
	}
	l->heap[i] = last;
	return top;
}

/* ---- frames ---- */

static int write_kept(struct vp_late *l, struct kept *k)
{
	int ret = vp_out_put(l->out, k->key, k->when, k->data, k->caplen, k->wirelen);

	l->last_ns = k->when;
	l->bytes -= k->caplen;
	free(k);
	return ret;
}

/* A packet went by at `now`: those that waited for it alone go right behind it. */
static int gone_by(struct vp_late *l, struct path *path, int64_t now)
{
	struct kept **link = &path->overtaken;

	while (*link) {
		struct kept *k = *link;
		int ret;

		if (--k->passes > 0) {
			link = &k->next;
			continue;
		}
		*link = k->next;
		if (path->tail == &k->next)
			path->tail = link;
		k->when = now > k->when ? now : k->when;
		ret = write_kept(l, k);
		if (ret != VP_OK)
			return ret;
	}
	return VP_OK;
}

int vp_late_until(struct vp_late *l, int64_t time_ns)
{
	while (l->n > 0 && l->heap[0]->when <= time_ns) {
		struct kept *k = heap_pop(l);
		struct path *path = k->path;
		int64_t when = k->when;
		int ret = write_kept(l, k);

		if (ret == VP_OK)
			ret = gone_by(l, path, when);
		if (ret != VP_OK)
			return ret;
	}
	if (time_ns != INT64_MAX)
		l->last_ns = time_ns;
	return VP_OK;
}

static int64_t later(int64_t t, uint64_t ns)
{
	return ns > (uint64_t)(INT64_MAX - (t > 0 ? t : 0)) ? INT64_MAX : t + (int64_t)ns;
}

/* A copy that outlives the frame; NULL with a message. */
static struct kept *keep(struct vp_late *l, const struct vp_late_frame *f, struct path *path)
{
	struct kept *k = NULL;

	if (l->bytes + f->caplen > KEPT_MAX) {
		vp_fail(l->cmd, "more than %u MiB would have to be kept back: delay less", KEPT_MAX >> 20);
		return NULL;
	}
	k = malloc(sizeof(*k) + f->caplen);
	if (!k) {
		vp_fail(l->cmd, "no memory");
		return NULL;
	}
	k->serial = ++l->serial;
	k->passes = f->passes;
	k->path = path;
	k->next = NULL;
	k->caplen = f->caplen;
	k->wirelen = f->wirelen;
	memcpy(k->key, f->key, sizeof(k->key));
	memcpy(k->data, f->data, f->caplen);
	l->bytes += f->caplen;
	return k;
}

int vp_late_put(struct vp_late *l, const struct vp_late_frame *f)
{
	struct path *path = path_of(l, &f->src, &f->dst);
	int64_t when = later(f->time_ns, f->delay_ns);
	struct kept *k;

	if (!path)
		return vp_fail(l->cmd, "no memory");
	if (f->hold_ns > 0) {
		int64_t until = later(f->time_ns, f->hold_ns);

		path->held_until = path->held && path->held_until > until ? path->held_until : until;
		path->held = true;
	}
	if (path->held && when < path->held_until)
		when = path->held_until;
	if (when <= f->time_ns && f->passes == 0) {
		int ret = vp_out_put(l->out, f->key, f->time_ns, f->data, f->caplen, f->wirelen);

		return ret == VP_OK ? gone_by(l, path, f->time_ns) : ret;
	}
	k = keep(l, f, path);
	if (!k)
		return VP_USAGE;
	k->when = when;
	if (f->passes > 0) {
		*path->tail = k;
		path->tail = &k->next;
		return VP_OK;
	}
	if (heap_push(l, k))
		return VP_OK;
	free(k);
	return vp_fail(l->cmd, "no memory");
}

int vp_late_end(struct vp_late *l)
{
	int ret = vp_late_until(l, INT64_MAX);

	for (size_t i = 0; ret == VP_OK && i < PATHS; i++)
		for (struct path *p = l->path[i]; ret == VP_OK && p; p = p->next) {
			while (p->overtaken) {
				struct kept *k = p->overtaken;

				k->when = k->when > l->last_ns ? k->when : l->last_ns;
				if (!heap_push(l, k))
					return vp_fail(l->cmd, "no memory");
				p->overtaken = k->next;
			}
			p->tail = &p->overtaken;
		}
	return ret == VP_OK ? vp_late_until(l, INT64_MAX) : ret;
}
