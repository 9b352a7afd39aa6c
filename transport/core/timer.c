/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * timer.c - one binary min-heap of deadlines for the whole device, so that an idle QP costs nothing.
 *
 * A timer is embedded in its owner and knows its place in the heap. Objects reserve their timers
 * when they are created; setting and stopping never allocates. Equal deadlines fire in the order
 * in which they were set, because the comparison falls back to a serial number: runs repeat exactly.
 */
#include "core.h"

static bool earlier(const struct vs_timer *a, const struct vs_timer *b)
{
	return a->when != b->when ? a->when < b->when : a->serial < b->serial;
}

static void place(struct vs_dev *dev, uint32_t i, struct vs_timer *t)
{
	dev->heap[i] = t;
	t->pos = i + 1;
}

static void sift_up(struct vs_dev *dev, uint32_t i, struct vs_timer *t)
{
	while (i > 0) {
		uint32_t parent = (i - 1) / 2;

		if (!earlier(t, dev->heap[parent]))
			break;
		place(dev, i, dev->heap[parent]);
		i = parent;
	}
	place(dev, i, t);
}

static void sift_down(struct vs_dev *dev, uint32_t i, struct vs_timer *t)
{
	for (;;) {
		uint32_t child = 2 * i + 1;

		if (child >= dev->heap_len)
			break;
		if (child + 1 < dev->heap_len && earlier(dev->heap[child + 1], dev->heap[child]))
			child++;
		if (!earlier(dev->heap[child], t))
			break;
		place(dev, i, dev->heap[child]);
		i = child;
	}
	place(dev, i, t);
}

int vs_timer_reserve(struct vs_dev *dev, uint32_t count)
{
	uint32_t need = dev->heap_reserved + count;

	if (need > dev->heap_cap) {
		uint32_t cap = need < 2 * dev->heap_cap ? 2 * dev->heap_cap : need + 64;
		struct vs_timer **heap = vs_alloc(dev, cap * sizeof(struct vs_timer *));

		if (heap == NULL)
			return VS_ERR_NOSPACE;
		if (dev->heap_len > 0)
			memcpy(heap, dev->heap, dev->heap_len * sizeof(struct vs_timer *));
		vs_free(dev, dev->heap, dev->heap_cap * sizeof(struct vs_timer *));
		dev->heap = heap;
		dev->heap_cap = cap;
	}
	dev->heap_reserved = need;
	return VS_OK;
}

void vs_timer_unreserve(struct vs_dev *dev, uint32_t count)
{
	assert(dev->heap_reserved >= count && dev->heap_len <= dev->heap_reserved - count);
	dev->heap_reserved -= count;
}

void vs_timer_init(struct vs_timer *t, enum vs_timer_kind kind, void *owner)
{
	t->when = VS_NEVER;
	t->pos = 0;
	t->serial = 0;
	t->kind = (uint8_t)kind;
	t->owner = owner;
}

void vs_timer_set(struct vs_dev *dev, struct vs_timer *t, uint64_t when)
{
	if (when == VS_NEVER) {
		vs_timer_stop(dev, t);
		return;
	}
	if (t->pos == 0) {
		assert(dev->heap_len < dev->heap_reserved);
		t->pos = ++dev->heap_len;
	}
	t->when = when;
	t->serial = ++dev->timer_serial;
	sift_up(dev, t->pos - 1, t);
	sift_down(dev, t->pos - 1, t);
}

void vs_timer_stop(struct vs_dev *dev, struct vs_timer *t)
{
	uint32_t i = t->pos;
	struct vs_timer *last;

	t->when = VS_NEVER;
	if (i == 0)
		return;
	t->pos = 0;
	last = dev->heap[--dev->heap_len];
	if (last == t)
		return;
	last->pos = i;
	sift_up(dev, i - 1, last);
	sift_down(dev, last->pos - 1, last);
}

struct vs_timer *vs_timer_due(struct vs_dev *dev, uint64_t now_ns)
{
	struct vs_timer *t;

	if (dev->heap_len == 0 || dev->heap[0]->when > now_ns)
		return NULL;
	t = dev->heap[0];
	vs_timer_stop(dev, t);
	return t;
}
