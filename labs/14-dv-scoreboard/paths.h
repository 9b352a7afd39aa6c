/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * paths.h - six libraries that move a buffer from one application to another, each in its own way: over two simulated
 * devices, with libibverbs. Some copy the data in software on the way, some do not. Which is which you find out by what
 * they do, not by what their pointers look like.
 */
#ifndef PATHS_H
#define PATHS_H

#include <stdbool.h>
#include <stdint.h>

#define PATH_BYTES 256u

struct path;

/* What the devices did to memory, oldest first. A device reads to send, and writes what has arrived. */
struct dma {
	bool write;
	bool posted; /* after path_post had returned */
	const uint8_t *addr;
	uint32_t len;
};

uint8_t *path_buffer(struct path *p);        /* the sending application's: fill it, then path_post */
void path_post(struct path *p);              /* "send it": the request is posted, nothing has left yet */
void path_transmit(struct path *p);          /* until it is there */
const uint8_t *path_arrived(struct path *p); /* the receiving application's buffer */

unsigned path_dma(struct path *p, const struct dma **log); /* how many there are since path_post began */

/*
 * Memory that the library has on the sending side, whether it uses it or not; you may write there. From path_guard on
 * it is guarded: path_touched tells whether software has read or written there since. Devices are no software: they do
 * not go through the page table of the processor.
 */
uint8_t *path_staging(struct path *p);
void path_guard(struct path *p);
bool path_touched(const struct path *p);

/* lab.c: has software copied the data, on either side? */
bool copied(struct path *p);

#endif
