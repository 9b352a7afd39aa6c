/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* pcapng.c - blocks of a pcapng file: see pcapng.h. */
#include "io/pcapng.h"

#include <stdlib.h>
#include <string.h>

#define IDB 1u
#define PB 2u
#define SPB 3u
#define EPB 6u
#define JOURNAL 9u
#define CUSTOM 0x00000badu
#define CUSTOM_NO_COPY 0x40000badu
#define ORDER_MAGIC 0x1a2b3c4du
#define OPT_END 0u
#define IF_TSRESOL 9u
#define IF_TSOFFSET 14u
#define SHB_USERAPPL 4u
#define US_RESOLUTION 6u
#define NS_PER_S UINT64_C(1000000000)

static uint32_t get16(const uint8_t *b, bool big)
{
	return big ? (uint32_t)b[0] << 8 | b[1] : (uint32_t)b[1] << 8 | b[0];
}

uint32_t vs_ng_get32(const uint8_t *b, bool big)
{
	return big ? get16(b, big) << 16 | get16(b + 2, big) : get16(b + 2, big) << 16 | get16(b, big);
}

void vs_ng_put16(uint8_t *b, uint32_t v, bool big)
{
	b[big ? 1 : 0] = (uint8_t)v;
	b[big ? 0 : 1] = (uint8_t)(v >> 8);
}

static void put32(uint8_t *b, uint32_t v, bool big)
{
	vs_ng_put16(b + (big ? 2 : 0), v, big);
	vs_ng_put16(b + (big ? 0 : 2), v >> 16, big);
}

bool vs_ng_byte_order(const uint8_t *b, bool *big)
{
	*big = vs_ng_get32(b, true) == ORDER_MAGIC;
	return *big || vs_ng_get32(b, false) == ORDER_MAGIC;
}

static uint32_t padded(uint32_t n)
{
	return (n + 3) & ~UINT32_C(3);
}

/* ---- options ---- */

struct option {
	uint32_t code, len;
	const uint8_t *value;
};

/* The option at *off; moves on. 1; 0: no more; -1: it goes over `end`. */
static int next_option(const uint8_t *block, uint32_t *off, uint32_t end, bool big, struct option *o)
{
	if (*off == end)
		return 0;
	if (end - *off < 4)
		return -1;
	o->code = get16(block + *off, big);
	o->len = get16(block + *off + 2, big);
	o->value = block + *off + 4;
	if (o->code == OPT_END)
		return 0;
	if (padded(o->len) > end - *off - 4)
		return -1;
	*off += 4 + padded(o->len);
	return 1;
}

/* ---- sections and interfaces ---- */

void vs_ng_section_begin(struct vs_ng_section *s, bool big)
{
	s->big = big;
	s->n = 0;
}

void vs_ng_section_end(struct vs_ng_section *s)
{
	free(s->interface);
	*s = (struct vs_ng_section){0};
}

static uint64_t per_second(uint8_t resolution)
{
	uint64_t n = 1;

	for (unsigned i = 0; i < (resolution & 0x7fu); i++) {
		const uint64_t base = resolution & 0x80 ? 2 : 10;

		if (n > UINT64_MAX / base)
			return 0;
		n *= base;
	}
	return n;
}

bool vs_ng_interface_add(struct vs_ng_section *s, uint16_t linktype, uint32_t snaplen, uint8_t resolution,
			 int64_t offset_s)
{
	if (s->n == s->room) {
		const uint32_t room = s->room == 0 ? 4 : 2 * s->room;
		struct vs_ng_interface *grown = realloc(s->interface, room * sizeof(*grown));

		if (grown == NULL)
			return false;
		s->interface = grown;
		s->room = room;
	}
	s->interface[s->n++] = (struct vs_ng_interface){linktype, snaplen, per_second(resolution), offset_s};
	return true;
}

bool vs_ng_interface_read(struct vs_ng_section *s, const uint8_t *block, uint32_t len)
{
	uint8_t resolution = US_RESOLUTION;
	int64_t offset_s = 0;
	uint32_t off = 16;
	struct option o;

	while (next_option(block, &off, len - 4, s->big, &o) == 1) {
		if (o.code == IF_TSRESOL && o.len == 1)
			resolution = o.value[0];
		if (o.code == IF_TSOFFSET && o.len == 8)
			offset_s = (int64_t)((uint64_t)vs_ng_get32(o.value + (s->big ? 0 : 4), s->big) << 32 |
					     vs_ng_get32(o.value + (s->big ? 4 : 0), s->big));
	}
	return vs_ng_interface_add(s, (uint16_t)get16(block + 8, s->big), vs_ng_get32(block + 12, s->big), resolution,
				   offset_s);
}

/* ---- packets ---- */

static int64_t time_ns(const struct vs_ng_interface *i, uint64_t stamp)
{
	const int64_t limit = INT64_MAX / (int64_t)NS_PER_S - 1;
	uint64_t per_s = i->per_s, s, part;
	int64_t sec;

	if (per_s == 0)
		return 0;
	s = stamp / per_s;
	part = stamp % per_s;
	for (; per_s > NS_PER_S; per_s /= 2) /* so that the product below fits */
		part /= 2;
	if (s > (uint64_t)limit || __builtin_add_overflow((int64_t)s, i->offset_s, &sec) || sec > limit)
		return INT64_MAX;
	if (sec < -limit)
		return INT64_MIN;
	return sec * (int64_t)NS_PER_S + (int64_t)(part * NS_PER_S / per_s);
}

static void damaged(struct vs_ng_packet *p, const char *why)
{
	p->kind = VS_NG_IS_DAMAGED;
	p->why = why;
}

static const struct vs_ng_interface *interface_of(const struct vs_ng_section *s, uint32_t n, struct vs_ng_packet *p)
{
	if (n < s->n) {
		p->linktype = s->interface[n].linktype;
		return &s->interface[n];
	}
	damaged(p, "it names an interface that the file does not describe before it");
	return NULL;
}

/* EPB and PB have the same places from the time stamp on. */
static void parse_packet(const struct vs_ng_section *s, const uint8_t *b, uint32_t len, bool old,
			 struct vs_ng_packet *p)
{
	const uint32_t n = old ? get16(b + 8, s->big) : vs_ng_get32(b + 8, s->big);
	const struct vs_ng_interface *i;

	if (len < VS_NG_EPB_HEAD + 4) {
		damaged(p, "its block is too short");
		return;
	}
	i = interface_of(s, n, p);
	if (i == NULL)
		return;
	p->caplen = vs_ng_get32(b + 20, s->big);
	p->wirelen = vs_ng_get32(b + 24, s->big);
	p->data = b + VS_NG_EPB_HEAD;
	if (p->caplen > len - VS_NG_EPB_HEAD - 4 || padded(p->caplen) > len - VS_NG_EPB_HEAD - 4) {
		damaged(p, "it is longer than its block");
		return;
	}
	p->time_ns = time_ns(i, (uint64_t)vs_ng_get32(b + 12, s->big) << 32 | vs_ng_get32(b + 16, s->big));
	p->kind = VS_NG_IS_PACKET;
}

static void parse_simple(const struct vs_ng_section *s, const uint8_t *b, uint32_t len, struct vs_ng_packet *p)
{
	const struct vs_ng_interface *i;

	if (len < 16) {
		damaged(p, "its block is too short");
		return;
	}
	i = interface_of(s, 0, p);
	if (i == NULL)
		return;
	p->wirelen = p->caplen = vs_ng_get32(b + 8, s->big);
	if (i->snaplen != 0 && p->caplen > i->snaplen)
		p->caplen = i->snaplen;
	if (p->caplen > len - 16)
		p->caplen = len - 16;
	p->data = b + 12;
	p->kind = VS_NG_IS_BARE_PACKET;
}

void vs_ng_parse(const struct vs_ng_section *s, const uint8_t *block, uint32_t len, struct vs_ng_packet *p)
{
	const uint32_t type = vs_ng_get32(block, s->big);

	*p = (struct vs_ng_packet){.kind = VS_NG_IS_OTHER};
	switch (type) {
	case VS_NG_SHB:
		p->kind = VS_NG_IS_SECTION;
		if (get16(block + 12, s->big) != 1)
			damaged(p, "the section before it has a version of pcapng that is not known");
		break;
	case IDB:
		p->kind = VS_NG_IS_INTERFACE;
		if (len < 20)
			damaged(p, "the description of an interface is too short");
		break;
	case PB:
	case EPB:
		parse_packet(s, block, len, type == PB, p);
		break;
	case SPB:
		parse_simple(s, block, len, p);
		break;
	case JOURNAL:
	case CUSTOM:
	case CUSTOM_NO_COPY:
		p->kind = VS_NG_IS_RECORD;
		break;
	default:
		break;
	}
}

static bool is_ours(const struct option *o, const char *mark, size_t mark_len)
{
	return mark_len > 0 && o->code == VS_NG_OPT_COMMENT && o->len >= mark_len &&
	       memcmp(o->value, mark, mark_len) == 0;
}

static void put_ends(uint8_t *b, uint32_t len, bool big)
{
	put32(b + 4, len, big);
	put32(b + len - 4, len, big);
}

uint32_t vs_ng_put_comments(uint8_t *block, uint32_t len, bool big, const uint8_t *notes, size_t notes_len,
			    const char *mark, size_t mark_len)
{
	const uint32_t first = VS_NG_EPB_HEAD + padded(vs_ng_get32(block + 20, big));
	uint32_t off = first, to = first, ours = 0, from;
	struct option o;
	int ret;

	while ((ret = next_option(block, &off, len - 4, big, &o)) == 1)
		ours += is_ours(&o, mark, mark_len);
	if (ret < 0 || (ours == 0 && notes_len == 0) || len + notes_len + 8 > VS_NG_BLOCK_MAX)
		return len;
	for (off = first; from = off, next_option(block, &off, len - 4, big, &o) == 1;) {
		if (is_ours(&o, mark, mark_len))
			continue;
		memmove(block + to, block + from, off - from);
		to += off - from;
	}
	if (notes_len > 0)
		memcpy(block + to, notes, notes_len);
	to += (uint32_t)notes_len;
	if (to > first) {
		put32(block + to, 0, big); /* opt_endofopt */
		to += 4;
	}
	put_ends(block, to + 4, big);
	return to + 4;
}

/* ---- out, for what comes from a pcap ---- */

static uint32_t put_option(uint8_t *b, uint32_t code, const void *value, uint32_t len)
{
	vs_ng_put16(b, code, false);
	vs_ng_put16(b + 2, len, false);
	memset(b + 4, 0, padded(len));
	memcpy(b + 4, value, len);
	return 4 + padded(len);
}

static uint32_t end_block(uint8_t *b, uint32_t type, uint32_t len)
{
	put32(b + len, 0, false); /* opt_endofopt */
	put32(b, type, false);
	put_ends(b, len + 8, false);
	return len + 8;
}

size_t vs_ng_put_headers(uint8_t *b, uint16_t linktype, uint32_t snaplen, uint8_t resolution)
{
	static const char program[] = "vs-pcap (Verbscope)";
	uint32_t n, len = 24;

	memset(b, 0, VS_NG_HEADERS_MAX);
	put32(b + 8, ORDER_MAGIC, false);
	vs_ng_put16(b + 12, 1, false);
	memset(b + 16, 0xff, 8);
	len += put_option(b + len, SHB_USERAPPL, program, sizeof(program) - 1);
	n = end_block(b, VS_NG_SHB, len);
	b += n;
	vs_ng_put16(b + 8, linktype, false);
	put32(b + 12, snaplen, false);
	len = 16 + put_option(b + 16, IF_TSRESOL, &resolution, 1);
	return n + end_block(b, IDB, len);
}

uint32_t vs_ng_put_epb(uint8_t *b, uint64_t time, uint32_t caplen, uint32_t wirelen)
{
	const uint32_t len = VS_NG_EPB_HEAD + padded(caplen) + 4;

	memset(b + VS_NG_EPB_HEAD + caplen, 0, padded(caplen) - caplen);
	put32(b, EPB, false);
	put32(b + 8, 0, false);
	put32(b + 12, (uint32_t)(time >> 32), false);
	put32(b + 16, (uint32_t)time, false);
	put32(b + 20, caplen, false);
	put32(b + 24, wirelen, false);
	put_ends(b, len, false);
	return len;
}
