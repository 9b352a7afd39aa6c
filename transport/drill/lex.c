/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * lex.c - lines to tokens, errors with their place, memory of one parse.
 *
 * A word is letters, digits and _; a number is decimal or 0x hex, with a time unit behind it nanoseconds;
 * a string stands between double quotes; # begins a comment. Columns count bytes from 1.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "drill_int.h"

#define CHUNK 16384u

struct chunk {
	struct chunk *next;
	max_align_t data[];
};

void *dr_alloc(struct arena *a, size_t size)
{
	size = (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
	if (size > MAX_ARENA || a->total + size > MAX_ARENA)
		return NULL;
	if (size > a->left) {
		size_t want = size > CHUNK ? size : CHUNK;
		struct chunk *c = calloc(1, sizeof(*c) + want);

		if (c == NULL)
			return NULL;
		c->next = a->head;
		a->head = c;
		a->left = want;
		a->total += want;
	}
	a->left -= size;
	return (uint8_t *)a->head->data + a->left;
}

void dr_arena_free(struct arena *a)
{
	while (a->head != NULL) {
		struct chunk *c = a->head;

		a->head = c->next;
		free(c);
	}
	a->left = a->total = 0;
}

/* ---- errors ---- */

static void copy_text(char *dst, size_t cap, const char *text, size_t len)
{
	size_t n = 0;

	if (len > 0 && text[len - 1] == '\r')
		len--;
	for (; n < len && n + 1 < cap && text[n] != '\n'; n++)
		dst[n] = (unsigned char)text[n] >= 32 && text[n] != 127 ? text[n] : text[n] == '\t' ? '\t' : '?';
	dst[n] = '\0';
}

void dr_error_at(struct vs_drill_error *e, unsigned line, unsigned column, const char *text, size_t len)
{
	size_t at = 0, end;

	e->line = line;
	e->column = column;
	e->source[0] = '\0';
	for (unsigned n = 1; n < line && at < len; at++)
		n += text[at] == '\n';
	for (end = at; end < len && text[end] != '\n';)
		end++;
	if (line > 0)
		copy_text(e->source, sizeof(e->source), text + at, end - at);
}

void dr_fail(struct src *s, const struct line *l, unsigned column, const char *format, ...)
{
	char buf[VS_DRILL_TEXT];
	va_list ap;

	if (s->failed)
		return;
	s->failed = true;
	va_start(ap, format);
	(void)vsnprintf(buf, sizeof(buf), format, ap);
	va_end(ap);
	copy_text(s->err->text, sizeof(s->err->text), buf, strlen(buf));
	dr_error_at(s->err, l != NULL ? l->number : 0, l != NULL ? column : 0, s->text, s->len);
}

int vs_drill_error_format(const struct vs_drill_error *e, const char *file, char *buf, size_t cap)
{
	char caret[VS_DRILL_TEXT];
	unsigned i, n = e->column > 0 && e->column < sizeof(caret) ? e->column - 1 : 0;

	if (e->line == 0)
		return snprintf(buf, cap, "%s: %s\n", file, e->text);
	for (i = 0; i < n; i++)
		caret[i] = i < strlen(e->source) && e->source[i] == '\t' ? '\t' : ' ';
	caret[n] = '\0';
	return snprintf(buf, cap, "%s:%u:%u: %s\n  %s\n  %s^\n", file, e->line, e->column, e->text, e->source, caret);
}

/* ---- tokens ---- */

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int hex_digit(char c)
{
	if (is_digit(c))
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static uint64_t unit_of(const char *text, unsigned len)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};

	for (unsigned i = 0; i < 4; i++)
		if (strlen(units[i].name) == len && memcmp(units[i].name, text, len) == 0)
			return units[i].ns;
	return 0;
}

/* A number from text[i] on; where it ends, 0: failed. */
static unsigned lex_number(struct src *s, struct line *l, struct token *t, unsigned i)
{
	const char *p = l->text;
	uint64_t v = 0, fraction = 0, scale = 1, unit;
	unsigned begin = i, end;
	bool over = false, hex = l->len - i > 2 && p[i] == '0' && (p[i + 1] | 0x20) == 'x' && hex_digit(p[i + 2]) >= 0;

	for (i += hex ? 2 : 0; i < l->len && (hex ? hex_digit(p[i]) >= 0 : is_digit(p[i])); i++) {
		unsigned base = hex ? 16 : 10, d = (unsigned)hex_digit(p[i]);

		over |= v > (UINT64_MAX - d) / base;
		v = v * base + d;
	}
	/* not in C9-222.1.1 */
	if (!hex && i + 1 < l->len && p[i] == '.' && is_digit(p[i + 1]) &&
	    (begin == 0 || (p[begin - 1] != '-' && p[begin - 1] != '.'))) {
		for (i++; i < l->len && is_digit(p[i]); i++) {
			if (scale < 1000000000) {
				fraction = fraction * 10 + (uint64_t)(p[i] - '0');
				scale *= 10;
			}
		}
	}
	for (end = i; end < l->len && (is_letter(p[end]) || is_digit(p[end]));)
		end++;
	unit = unit_of(p + i, end - i);
	t->number = v;
	if (end != i || scale > 1) {
		if (hex || unit == 0) {
			dr_fail(s, l, begin + 1,
				scale > 1 && end == i ? "'%.*s' needs a time unit: ns, us, ms or s"
						      : "'%.*s' is no number; a time has the unit ns, us, ms or s",
				(int)(end - begin), p + begin);
			return 0;
		}
		over |= v > UINT64_MAX / 4 / unit;
		t->number = v * unit + fraction * unit / scale;
		t->unit = true;
	}
	if (over) {
		dr_fail(s, l, begin + 1, "'%.*s' is too large", (int)(end - begin), p + begin);
		return 0;
	}
	return end;
}

static unsigned punct_len(const char *p, unsigned left)
{
	static const char *const many[] = {"<->", "==", "!=", ">=", "<=", ".."};

	for (unsigned i = 0; i < sizeof(many) / sizeof(many[0]); i++)
		if (strlen(many[i]) <= left && memcmp(p, many[i], strlen(many[i])) == 0)
			return (unsigned)strlen(many[i]);
	return strchr("<>=,:.[](){}+-*~$/@%", *p) != NULL && *p != '\0' ? 1 : 0;
}

/* One token from text[i] on; where it ends, 0: failed. */
static unsigned lex_token(struct src *s, struct line *l, struct token *t, unsigned i)
{
	const char *p = l->text;
	unsigned begin = i;

	*t = (struct token){.text = p + i, .column = i + 1, .glued = i > 0 && p[i - 1] != ' ' && p[i - 1] != '\t'};
	if (is_digit(p[i])) {
		t->kind = T_NUMBER;
		i = lex_number(s, l, t, i);
	} else if (is_letter(p[i])) {
		t->kind = T_WORD;
		while (i < l->len && (is_letter(p[i]) || is_digit(p[i])))
			i++;
	} else if (p[i] == '"') {
		const char *end = memchr(p + i + 1, '"', l->len - i - 1);

		t->kind = T_STRING;
		if (end == NULL) {
			dr_fail(s, l, begin + 1, "this string has no end: a \" is missing");
			return 0;
		}
		t->text++;
		t->len = (unsigned)(end - t->text);
		return i + t->len + 2;
	} else {
		t->kind = T_PUNCT;
		i += punct_len(p + i, l->len - i);
		if (i == begin) {
			dr_fail(s, l, begin + 1,
				(unsigned char)p[i] > 32 && (unsigned char)p[i] < 127
					? "'%c' has no meaning here"
					: "byte 0x%02x has no meaning here",
				(unsigned char)p[i]);
			return 0;
		}
	}
	t->len = i - begin;
	return i;
}

/* $NAME: its value. Where it ends, 0: failed. */
static unsigned lex_variable(struct src *s, struct line *l, const struct variable *vars, unsigned n, unsigned i)
{
	unsigned begin = i++, k;

	while (i < l->len && (is_letter(l->text[i]) || is_digit(l->text[i])))
		i++;
	for (k = 0; k < n; k++) {
		const struct variable *v = &vars[k];

		if (strlen(v->name) != i - begin - 1 || memcmp(v->name, l->text + begin + 1, i - begin - 1) != 0)
			continue;
		l->tok[l->count] = v->value[v->current];
		l->tok[l->count].column = begin + 1;
		l->tok[l->count].glued = begin > 0 && l->text[begin - 1] != ' ' && l->text[begin - 1] != '\t';
		l->count++;
		return i;
	}
	dr_fail(s, l, begin + 1, "there is no matrix variable %.*s", (int)(i - begin), l->text + begin);
	return 0;
}

/* The notation of faults is read by vs_fault_parse: here it is blank-separated text. */
static unsigned lex_text(struct line *l, struct token *t, unsigned i)
{
	*t = (struct token){.kind = T_WORD, .text = l->text + i, .column = i + 1};
	t->glued = i > 0 && l->text[i - 1] != ' ' && l->text[i - 1] != '\t';
	while (i < l->len && l->text[i] != ' ' && l->text[i] != '\t' && l->text[i] != '\r' && l->text[i] != '#' &&
	       (l->text[i] != '$' || i == t->column - 1))
		i++;
	t->len = i - (t->column - 1);
	return i;
}

/* fault ..., or the same as what an alternative does */
static bool is_fault(const struct line *l)
{
	return (l->count > 0 && dr_same(&l->tok[0], "fault")) ||
	       (l->count > 2 && dr_same(&l->tok[1], ":") && dr_same(&l->tok[2], "fault"));
}

bool dr_lex(struct src *s, struct line *l, const struct variable *vars, unsigned n_vars)
{
	unsigned i = 0;

	l->count = 0;
	while (i < l->len && (l->text[i] == ' ' || l->text[i] == '\t'))
		i++;
	l->indent = i;
	while (i < l->len && l->text[i] != '#') {
		if (l->text[i] == ' ' || l->text[i] == '\t' || l->text[i] == '\r') {
			i++;
			continue;
		}
		if (l->count == MAX_TOKENS - 1) {
			dr_fail(s, l, i + 1, "more than %u words and signs on one line", MAX_TOKENS - 1);
			return false;
		}
		if (l->text[i] == '$' && i + 1 < l->len && is_letter(l->text[i + 1]) && vars != NULL)
			i = lex_variable(s, l, vars, n_vars, i);
		else if (is_fault(l))
			i = lex_text(l, &l->tok[l->count++], i);
		else
			i = lex_token(s, l, &l->tok[l->count++], i);
		if (i == 0)
			return false;
	}
	l->tok[l->count] = (struct token){.kind = T_END, .text = l->text + i, .column = i + 1};
	/* Blanks before a comment are no place to point at. */
	if (l->count > 0) {
		const struct token *last = &l->tok[l->count - 1];
		unsigned end = last->column + last->len + (last->kind == T_STRING ? 2u : 0u);

		if (last->text >= l->text && last->text <= l->text + l->len && end <= i + 1)
			l->tok[l->count].column = end;
	}
	return true;
}
