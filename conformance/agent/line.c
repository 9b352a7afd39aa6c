/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* line.c - lines of words: see line.h. */
#include "line.h"

#include <assert.h>
#include <string.h>

/* ---- writing ---- */

static void put(struct ag_line *l, const char *text, size_t n)
{
	if (l->full || n > sizeof(l->text) - 1 - l->len) { /* there is always room for the end of the line */
		l->full = true;
		return;
	}
	memcpy(l->text + l->len, text, n);
	l->len += n;
}

void ag_start(struct ag_line *l, const char *word)
{
	l->len = 0;
	l->full = false;
	put(l, word, strlen(word));
}

void ag_put_word(struct ag_line *l, const char *word)
{
	put(l, " ", 1);
	put(l, word, strlen(word));
}

void ag_put_num(struct ag_line *l, uint64_t v)
{
	char digits[17];
	size_t n = sizeof(digits);

	do {
		digits[--n] = "0123456789abcdef"[v & 15];
		v >>= 4;
	} while (v != 0);
	digits[--n] = ' ';
	put(l, digits + n, sizeof(digits) - n);
}

void ag_put_bytes(struct ag_line *l, const void *bytes, size_t n)
{
	const uint8_t *b = bytes;

	put(l, n > 0 ? " " : " -", n > 0 ? 1 : 2);
	for (size_t i = 0; i < n && !l->full; i++) {
		const char two[2] = {"0123456789abcdef"[b[i] >> 4], "0123456789abcdef"[b[i] & 15]};

		put(l, two, 2);
	}
}

void ag_put_text(struct ag_line *l, const char *text)
{
	put(l, " ", 1);
	for (; *text != '\0' && !l->full; text++) {
		char c = *text >= ' ' && *text <= '~' ? *text : '?';

		put(l, &c, 1);
	}
}

/* ---- reading ---- */

/* The next word, its length in *n; NULL and bad: none. */
static const char *take(struct ag_words *w, size_t *n)
{
	const char *word;

	*n = 0;
	while (*w->at == ' ')
		w->at++;
	word = w->at;
	while (*w->at != '\0' && *w->at != ' ')
		w->at++;
	*n = (size_t)(w->at - word);
	w->bad |= *n == 0;
	return w->bad ? NULL : word;
}

bool ag_get_word(struct ag_words *w, char word[AG_WORD_MAX])
{
	size_t n;
	const char *at = take(w, &n);

	if (n >= AG_WORD_MAX)
		w->bad = true;
	if (w->bad)
		n = 0;
	if (n > 0)
		memcpy(word, at, n);
	word[n] = '\0';
	return !w->bad;
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

uint64_t ag_get_num(struct ag_words *w, uint64_t most)
{
	size_t n;
	const char *at = take(w, &n);
	uint64_t v = 0;

	if (n > 16)
		w->bad = true;
	for (size_t i = 0; i < n && !w->bad; i++) {
		w->bad |= digit(at[i]) < 0;
		v = v << 4 | (uint64_t)(digit(at[i]) & 15);
	}
	w->bad |= v > most;
	return w->bad ? 0 : v;
}

size_t ag_get_bytes(struct ag_words *w, void *bytes, size_t cap)
{
	size_t n;
	const char *at = take(w, &n);
	uint8_t *b = bytes;

	if (!w->bad && n == 1 && *at == '-')
		return 0;
	if (n % 2 != 0 || n / 2 > cap)
		w->bad = true;
	for (size_t i = 0; i < n / 2 && !w->bad; i++) {
		int hi = digit(at[2 * i]), lo = digit(at[2 * i + 1]);

		w->bad |= hi < 0 || lo < 0;
		b[i] = (uint8_t)((hi & 15) << 4 | (lo & 15));
	}
	return w->bad ? 0 : n / 2;
}

const char *ag_get_text(struct ag_words *w)
{
	const char *text;

	while (*w->at == ' ')
		w->at++;
	text = w->at;
	w->at += strlen(text);
	return text;
}

bool ag_at_end(struct ag_words *w)
{
	while (*w->at == ' ')
		w->at++;
	return !w->bad && *w->at == '\0';
}

/* ---- either ---- */

void ag_field(struct ag_io *io, void *field, size_t size)
{
	uint64_t v = 0;

	assert(size == 1 || size == 2 || size == 4 || size == 8);
	if (io->out == NULL)
		v = ag_get_num(io->in, size == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * size) - 1);
	/* Bytes of a number in its order of magnitude: the same code for every size and every machine. */
	for (size_t i = 0; i < size; i++) {
		const uint16_t one = 1;
		size_t at = *(const uint8_t *)&one == 1 ? i : size - 1 - i;
		uint8_t *byte = (uint8_t *)field + at;

		if (io->out != NULL)
			v |= (uint64_t)*byte << 8 * i;
		else
			*byte = (uint8_t)(v >> 8 * i);
	}
	if (io->out != NULL)
		ag_put_num(io->out, v);
}

void ag_flag(struct ag_io *io, bool *flag)
{
	if (io->out != NULL)
		ag_put_num(io->out, *flag);
	else
		*flag = ag_get_num(io->in, 1) != 0;
}

void ag_array(struct ag_io *io, uint8_t *bytes, size_t n)
{
	if (io->out != NULL)
		ag_put_bytes(io->out, bytes, n);
	else if (ag_get_bytes(io->in, bytes, n) != n)
		io->in->bad = true;
}

/* ---- bytes of a stream to lines ---- */

char *ag_reader_space(struct ag_reader *r, size_t *cap)
{
	if (r->done > 0) {
		memmove(r->buf, r->buf + r->done, r->used - r->done);
		r->used -= r->done;
		r->done = 0;
	}
	*cap = sizeof(r->buf) - r->used;
	return r->buf + r->used;
}

void ag_reader_got(struct ag_reader *r, size_t n)
{
	r->used += n;
}

/* What is there, where it ends; NULL: its end has not come. */
static char *whole_line(struct ag_reader *r)
{
	char *from = r->buf + r->done, *end = memchr(from, '\n', r->used - r->done);

	if (end == NULL)
		return NULL;
	r->done = (size_t)(end - r->buf) + 1;
	*end = '\0';
	if (end > from && end[-1] == '\r') /* a terminal's */
		end[-1] = '\0';
	return from;
}

char *ag_reader_next(struct ag_reader *r, bool *too_long)
{
	char *line;

	*too_long = false;
	line = whole_line(r);
	if (line != NULL && r->skipping) {
		r->skipping = false;
		line = whole_line(r);
	}
	if (line != NULL)
		return line;
	if (r->used - r->done == sizeof(r->buf) || r->skipping) {
		*too_long = !r->skipping;
		r->skipping = true;
		r->used = r->done = 0;
	}
	return NULL;
}
