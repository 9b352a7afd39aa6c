/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * line.h - the lines that vs-conform and vs-agent exchange (docs/agent-protocol.md), as both sides write and read them.
 *
 * A line is words with a blank between them. Numbers are hexadecimal, bytes are two digits each ("-": none), a text is
 * the last thing in its line. Whatever comes is checked: a word too few, a number too large or a digit that is none
 * makes the whole line bad, and nothing is done because of it.
 */
#ifndef AG_LINE_H
#define AG_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AG_PROTOCOL 2
#define AG_LINE_MAX 16384u /* bytes of a line, with its end */
#define AG_CHUNK 4096u     /* bytes of memory in one line */
#define AG_WORD_MAX 64u

/* ---- writing ---- */

struct ag_line {
	char text[AG_LINE_MAX];
	size_t len;
	bool full; /* something did not fit: the line is not to be sent */
};
void ag_start(struct ag_line *l, const char *word);
void ag_put_word(struct ag_line *l, const char *word);
void ag_put_num(struct ag_line *l, uint64_t v);
void ag_put_bytes(struct ag_line *l, const void *bytes, size_t n);
void ag_put_text(struct ag_line *l, const char *text); /* the last thing; what is no printable ASCII becomes '?' */

/* ---- reading ---- */

struct ag_words {
	const char *at;
	bool bad;
};
bool ag_get_word(struct ag_words *w, char word[AG_WORD_MAX]); /* "" and bad: none, or one too long */
uint64_t ag_get_num(struct ag_words *w, uint64_t most);       /* 0 and bad: none, or more than that */
size_t ag_get_bytes(struct ag_words *w, void *bytes, size_t cap);
const char *ag_get_text(struct ag_words *w); /* the rest of the line */
bool ag_at_end(struct ag_words *w);          /* everything was read, and nothing was bad */

/* ---- either: one description of a struct serves both ways ---- */

struct ag_io {
	struct ag_line *out; /* or */
	struct ag_words *in;
};
/* An unsigned number, or an enum, of 1, 2, 4 or 8 bytes. */
void ag_field(struct ag_io *io, void *field, size_t size);
#define AG_FIELD(io, f) ag_field(io, &(f), sizeof(f))
void ag_flag(struct ag_io *io, bool *flag);
void ag_array(struct ag_io *io, uint8_t *bytes, size_t n); /* just as many */

/* ---- bytes of a stream to lines ---- */

struct ag_reader {
	char buf[AG_LINE_MAX];
	size_t used, done; /* bytes that are there; of these, handed out */
	bool skipping;     /* the rest of a line that is too long */
};
/* Where bytes can be put, and how many; they are there after ag_reader_got. At least one, when ag_reader_next gave
 * NULL.
 */
char *ag_reader_space(struct ag_reader *r, size_t *cap);
void ag_reader_got(struct ag_reader *r, size_t n);
/* The next line without its end, as a string; NULL: none yet. *too_long: there was one, and its bytes are gone. */
char *ag_reader_next(struct ag_reader *r, bool *too_long);

#endif
