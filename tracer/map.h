/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* map.h - what grows: places by pairs of numbers in an open hash table, and arrays. */
#ifndef VT_MAP_H
#define VT_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vt_map {
	struct vt_map_slot {
		uint64_t a, b;
		size_t value; /* and 1; 0: empty */
	} * slot;
	size_t n, cap; /* cap: 0 or a power of two */
};

/* The value of (a, b); SIZE_MAX: none. */
size_t vt_map_get(const struct vt_map *m, uint64_t a, uint64_t b);
/* Sets it, in place of an older one. False: no memory. `value` is not SIZE_MAX. */
bool vt_map_put(struct vt_map *m, uint64_t a, uint64_t b, size_t value);
void vt_map_free(struct vt_map *m);

/* Makes room for one more in an array of n elements that doubles; false: no memory. */
bool vt_room(void **array, size_t *cap, size_t n, size_t size);

#endif
