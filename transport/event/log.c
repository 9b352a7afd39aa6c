/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * log.c - a growing log of events, and the store of the texts in them: an event that is kept must not
 * point into a simulation that is gone.
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* ---- texts: a hash table that owns one copy of each ---- */

struct vs_texts {
	char **slot; /* open addressing, a power of two */
	size_t n, cap;
};

struct vs_texts *vs_texts_new(void)
{
	return calloc(1, sizeof(struct vs_texts));
}

void vs_texts_free(struct vs_texts *t)
{
	if (t == NULL)
		return;
	for (size_t i = 0; i < t->cap; i++)
		free(t->slot[i]);
	free(t->slot);
	free(t);
}

static size_t place(char **slot, size_t cap, const char *text)
{
	uint64_t h = 0xcbf29ce484222325ull;

	for (const char *c = text; *c != '\0'; c++)
		h = (h ^ (unsigned char)*c) * 0x100000001b3ull;
	h ^= h >> 32;
	while (slot[h & (cap - 1)] != NULL && strcmp(slot[h & (cap - 1)], text) != 0)
		h++;
	return (size_t)(h & (cap - 1));
}

static bool grow(struct vs_texts *t)
{
	size_t cap = t->cap == 0 ? 64 : 2 * t->cap;
	char **slot;

	if (2 * (t->n + 1) <= t->cap)
		return true;
	slot = calloc(cap, sizeof(slot[0]));
	if (slot == NULL)
		return false;
	for (size_t i = 0; i < t->cap; i++)
		if (t->slot[i] != NULL)
			slot[place(slot, cap, t->slot[i])] = t->slot[i];
	free(t->slot);
	t->slot = slot;
	t->cap = cap;
	return true;
}

const char *vs_texts_keep(struct vs_texts *t, const char *text)
{
	size_t i;

	if (!grow(t))
		return NULL;
	i = place(t->slot, t->cap, text);
	if (t->slot[i] == NULL) {
		t->slot[i] = malloc(strlen(text) + 1);
		if (t->slot[i] == NULL)
			return NULL;
		strcpy(t->slot[i], text);
		t->n++;
	}
	return t->slot[i];
}

/* ---- the log ---- */

void vs_event_log_init(struct vs_event_log *log, size_t limit)
{
	*log = (struct vs_event_log){.limit = limit};
}

void vs_event_log_free(struct vs_event_log *log)
{
	free(log->ev);
	vs_texts_free(log->texts);
	vs_event_log_init(log, log->limit);
}

static bool keep_texts(struct vs_event_log *log, struct vs_event *ev)
{
	const struct vs_event_info *info = vs_event_info((enum vs_event_type)ev->type);

	for (unsigned i = 0; i < info->nargs; i++) {
		const char *kept;

		if (info->args[i].kind != VS_ARG_STR || ev->a[i] == 0)
			continue;
		if (log->texts == NULL && (log->texts = vs_texts_new()) == NULL)
			return false;
		kept = vs_texts_keep(log->texts, (const char *)(uintptr_t)ev->a[i]);
		if (kept == NULL)
			return false;
		ev->a[i] = (uintptr_t)kept;
	}
	return true;
}

static uint64_t emit(void *ctx, const struct vs_event *ev)
{
	struct vs_event_log *log = ctx;
	uint64_t seq = log->n + log->lost + 1;
	struct vs_event kept = *ev;

	kept.seq = seq;
	/* Once one is lost, the ones behind it are too: seq stays the place in the array. */
	if (log->lost == 0 && log->n == log->cap) {
		size_t cap = log->cap == 0 ? 256 : 2 * log->cap;
		struct vs_event *grown = realloc(log->ev, cap * sizeof(grown[0]));

		if (grown != NULL) {
			log->ev = grown;
			log->cap = cap;
		}
	}
	if (log->lost > 0 || log->n == log->cap || (log->limit > 0 && log->n >= log->limit) || !keep_texts(log, &kept))
		log->lost++;
	else
		log->ev[log->n++] = kept;
	return seq;
}

struct vs_event_sink vs_event_log_sink(struct vs_event_log *log, enum vs_event_level level)
{
	return (struct vs_event_sink){.emit = emit, .ctx = log, .level = level};
}

int vs_event_log_write(const struct vs_event_log *log, const struct vs_vst_header *h, FILE *f)
{
	int rc = vs_vst_put_header(h, f);

	for (size_t i = 0; rc == VS_OK && i < log->n; i++)
		rc = vs_vst_put(&log->ev[i], f);
	return rc;
}
