/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * payload.c - what a device sends has to be what it was given: the payload of a request is a part of what a work
 * request gathers, that of a READ response a part of a region.
 *
 * Copies are made when work is posted and when a region is filled. Memory that has changed since (the peer writes, an
 * atomic, a READ that came back) may have been read before or after: then nothing is claimed.
 */
#include <stdlib.h>

#include "run.h"

#define KEPT_MAX (8u << 20) /* bytes of copies in a run; beyond, nothing is claimed any more */

struct source {
	struct source *next;
	bool region;          /* it may be read by the peer; otherwise it is what a work request gathers */
	const uint8_t *place; /* where the bytes are; NULL: inline data, or several places */
	bool scattered;       /* several places: whether they have changed is not known */
	uint32_t len;
	uint8_t copy[];
};

static bool contains(const uint8_t *hay, size_t n, const uint8_t *needle, size_t m)
{
	const uint8_t *end = hay + n;

	if (m > n)
		return false;
	for (; (size_t)(end - hay) >= m; hay++) {
		hay = memchr(hay, needle[0], (size_t)(end - hay) - m + 1);
		if (hay == NULL)
			return false;
		if (memcmp(hay, needle, m) == 0)
			return true;
	}
	return false;
}

static struct source *keep(struct run *r, uint32_t len, bool region)
{
	struct source *s = NULL;

	if (!r->payload_off && len <= KEPT_MAX - r->payload_bytes)
		s = malloc(sizeof(*s) + len);
	if (s == NULL) {
		r->payload_off = true;
		return NULL;
	}
	*s = (struct source){.next = r->sources, .region = region, .len = len};
	r->sources = s;
	r->payload_bytes += len;
	return s;
}

void dr_payload_region(struct run *r, const struct rt_obj *o)
{
	struct source *s = o->mem.h != NULL ? keep(r, o->mem.len, true) : NULL;

	if (s == NULL)
		return;
	if (o->mem.len > 0)
		memcpy(s->copy, o->mem.bytes, o->mem.len);
	s->place = o->mem.bytes;
}

/* The region that an address is in; they are not next to each other. */
static const uint8_t *bytes_at(struct run *r, uint64_t addr, uint32_t len)
{
	for (unsigned i = 0; i < r->p->n_objs; i++) {
		const struct dr_memory *m = &r->obj[i].mem;

		if (r->p->obj[i]->kind != O_MR || m->h == NULL || addr - m->addr > m->len ||
		    len > m->len - (addr - m->addr))
			continue;
		dr_read_memory(r, &r->obj[i]);
		return m->bytes + (addr - m->addr);
	}
	return NULL;
}

void dr_payload_posted(struct run *r, const struct vs_send_wr *wr)
{
	uint64_t len = wr->flags & VS_SEND_INLINE ? wr->inline_len : 0;
	struct source *s;
	uint32_t at = 0;

	for (uint32_t i = 0; i < wr->num_sge && !(wr->flags & VS_SEND_INLINE); i++)
		len += wr->sg_list[i].length;
	if (len > KEPT_MAX)
		return; /* a request that can't be in memory: nothing is sent of it */
	s = keep(r, (uint32_t)len, false);
	if (s == NULL)
		return;
	if (wr->flags & VS_SEND_INLINE) {
		memcpy(s->copy, wr->inline_data, wr->inline_len);
		return;
	}
	for (uint32_t i = 0; i < wr->num_sge; i++) {
		const struct vs_sge *g = &wr->sg_list[i];
		const uint8_t *bytes = bytes_at(r, g->addr, g->length);

		if (bytes == NULL) { /* outside of every region: what is read there is the device's affair */
			r->payload_off = true;
			return;
		}
		memcpy(s->copy + at, bytes, g->length);
		s->place = wr->num_sge == 1 ? bytes : NULL;
		s->scattered = wr->num_sge > 1;
		at += g->length;
	}
}

/* Which kind of bytes a packet has; -1: none that are claimed of. */
static int wanted(const struct vs_pkt *p)
{
	uint8_t op = p->bth.opcode & 0x1f, transport = p->bth.opcode >> 5;

	if (p->payload_len == 0 || p->bth.destqp <= 1 || transport > 3 || transport == 2)
		return -1;
	if (transport == 0 && op >= 0x0d && op <= 0x10)
		return 1;                                       /* READ responses */
	return op <= 0x0b || op == 0x16 || op == 0x17 ? 0 : -1; /* SEND, WRITE */
}

static bool has_changed(const struct source *s)
{
	return s->place != NULL && s->len > 0 && memcmp(s->place, s->copy, s->len) != 0;
}

static bool memory_changed(const struct run *r)
{
	for (const struct source *s = r->sources; s != NULL; s = s->next)
		if (s->region && has_changed(s))
			return true;
	return false;
}

bool dr_payload_known(const struct run *r, const struct vs_pkt *p)
{
	int region = wanted(p);
	bool any = false;

	if (region < 0 || r->payload_off)
		return true;
	for (const struct source *s = r->sources; s != NULL; s = s->next) {
		if (s->region != (region == 1))
			continue;
		any = true;
		if (contains(s->copy, s->len, p->payload, p->payload_len))
			return true;
		/* Changed since: it may be anything. */
		if (s->scattered ? memory_changed(r) : has_changed(s))
			return true;
	}
	return !any;
}

bool dr_payload_known_now(struct run *r, const struct vs_pkt *p)
{
	if (r->t->ops->mr_read == NULL)
		return false;
	for (unsigned i = 0; i < r->p->n_objs; i++)
		if (r->p->obj[i]->kind == O_MR)
			dr_read_memory(r, &r->obj[i]);
	return dr_payload_known(r, p);
}

void dr_payload_free(struct run *r)
{
	while (r->sources != NULL) {
		struct source *s = r->sources;

		r->sources = s->next;
		free(s);
	}
}
