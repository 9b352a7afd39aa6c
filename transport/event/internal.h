/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * internal.h - what writer and reader of the .vst form share: words for values, and a store of texts.
 */
#ifndef VS_EVENT_INTERNAL_H
#define VS_EVENT_INTERNAL_H

#include "vs/vst.h"

#define VS_EXACT_MAX ((uint64_t)1 << 53) /* integers below it survive a double */

/* The word for a value of a symbolic kind, static or in buf; NULL: it has none, and is written as a number. */
const char *vs_event_word(enum vs_arg_kind kind, uint64_t v, char buf[32]);
bool vs_event_unword(enum vs_arg_kind kind, const char *word, uint64_t *v);

/* Bytes of the UTF-8 character at s, 0 when there is none: overlong forms and surrogates are none. */
size_t vs_utf8_len(const unsigned char *s);

/* Copies of texts, one of each, that live as long as the store. */
struct vs_texts *vs_texts_new(void);
const char *vs_texts_keep(struct vs_texts *t, const char *text); /* NULL: no memory */
void vs_texts_free(struct vs_texts *t);

#endif
