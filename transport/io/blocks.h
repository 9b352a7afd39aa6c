/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * blocks.h - the blocks of a pcapng file one after the other, with what is to be remembered of those before: sections,
 * interfaces, the number of frames.
 *
 * Rule: every length in a file is untrusted; what stands before a fault is handed out.
 */
#ifndef VS_IO_BLOCKS_H
#define VS_IO_BLOCKS_H

#include "io/internal.h"
#include "io/pcapng.h"

#define VS_DAMAGED_HERE "the file is damaged from here on, the frames before are good"

struct vs_blocks {
	const char *name; /* for messages; the owner's, as the stream is */
	struct vs_stream *stream;
	FILE *file; /* from vs_stream_file; closed by vs_blocks_end */
	struct vs_ng_section section;
	uint8_t *block; /* the newest one */
	size_t room;
	uint32_t len;
	uint64_t frames;
	struct vs_io_error error; /* what the last negative answer was about */
	const char *why;          /* the clause of it that says what is wrong */
};

/* False: no memory. */
bool vs_blocks_begin(struct vs_blocks *b, struct vs_stream *stream, const char *name);
void vs_blocks_end(struct vs_blocks *b); /* also what never began, when it is zeroed */

/* Room for `want` bytes in a buffer that grows. False: no memory. */
bool vs_io_room(uint8_t **buf, size_t *room, size_t want);
/*
 * `n` bytes behind what is in the block, asked for in parts: memory is taken for what is there, not for what a length
 * promises. 1, 0: the file ends here, negative: inside.
 */
int vs_blocks_get(struct vs_blocks *b, size_t n);

/*
 * The next block, whole in `block` with lengths that agree, and what it is. Sections and interfaces are remembered,
 * frames counted as Wireshark does (journal entries and custom blocks too). 1, 0: clean end of file, negative: damaged.
 */
int vs_blocks_next(struct vs_blocks *b, struct vs_ng_packet *p);

/* Negative vs_err with `error` filled: what is wrong with the next frame, or with the block that stands before it. */
int vs_blocks_damaged(struct vs_blocks *b, const char *what);
int vs_blocks_cut(struct vs_blocks *b);
int vs_blocks_no_memory(struct vs_blocks *b);

/* A packet as a frame of the capture, its link header off; one of a link type that is not read is other traffic. */
void vs_blocks_frame(const struct vs_blocks *b, const struct vs_ng_packet *p, struct vs_frame *f);

#endif
