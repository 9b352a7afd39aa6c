/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* map.c - map.h. */
#include "map.h"

#include <stdlib.h>

static size_t place(const struct vt_map *m, uint64_t a, uint64_t b)
{
	uint64_t h = (a * 0x9e3779b97f4a7c15u) ^ (b + 0x7f4a7c15u) * 0xff51afd7ed558ccdu;
	size_t i;

	h ^= h >> 32;
	for (i = (size_t)h & (m->cap - 1); m->slot[i].value != 0; i = (i + 1) & (m->cap - 1))
		if (m->slot[i].a == a && m->slot[i].b == b)
			break;
	return i;
}

size_t vt_map_get(const struct vt_map *m, uint64_t a, uint64_t b)
{
	return m->cap == 0 ? SIZE_MAX : m->slot[place(m, a, b)].value - 1;
}

static bool grow(struct vt_map *m)
{
	struct vt_map bigger = {.cap = m->cap == 0 ? 64 : 2 * m->cap};

	if (2 * (m->n + 1) <= m->cap)
		return true;
	bigger.slot = calloc(bigger.cap, sizeof(*bigger.slot));
	if (bigger.slot == NULL)
		return false;
	for (size_t i = 0; i < m->cap; i++)
		if (m->slot[i].value != 0)
			bigger.slot[place(&bigger, m->slot[i].a, m->slot[i].b)] = m->slot[i];
	bigger.n = m->n;
	free(m->slot);
	*m = bigger;
	return true;
}

bool vt_map_put(struct vt_map *m, uint64_t a, uint64_t b, size_t value)
{
	struct vt_map_slot *s;

	if (!grow(m))
		return false;
	s = &m->slot[place(m, a, b)];
	m->n += s->value == 0;
	*s = (struct vt_map_slot){a, b, value + 1};
	return true;
}

void vt_map_free(struct vt_map *m)
{
	free(m->slot);
	*m = (struct vt_map){0};
}

bool vt_room(void **array, size_t *cap, size_t n, size_t size)
{
	size_t more = *cap == 0 ? 64 : 2 * *cap;
	void *grown;

	if (n < *cap)
		return true;
	grown = realloc(*array, more * size);
	if (grown == NULL)
		return false;
	*array = grown;
	*cap = more;
	return true;
}
