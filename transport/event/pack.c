/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * pack.c - events in a form that costs a few stores to write: no digits, no names. Texts stand behind the arguments,
 * each with its end; an argument that is a text holds 1, or 0 where there is none.
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define MAGIC UINT64_C(0x3130534556535640) /* "@VSVES01" */
#define HAS_WR 1u
#define INFERRED 2u

struct packed {
	uint32_t size; /* of all, texts too: a multiple of 8 */
	uint16_t type;
	uint8_t flags, nargs;
	uint64_t t_ns, cause, pkt_id, wr_id;
	char node[16];
	uint32_t qpn, pad;
	uint64_t a[];
};

struct packed_header {
	uint64_t magic;
	uint64_t size; /* of all: a multiple of 8 */
	struct vs_vst_header h;
};

static size_t rounded(size_t n)
{
	return (n + 7) & ~(size_t)7;
}

size_t vs_pack_header(const struct vs_vst_header *h, void *buf, size_t cap)
{
	struct packed_header p;

	memset(&p, 0, sizeof(p));
	p.magic = MAGIC;
	p.size = rounded(sizeof(p));
	p.h = *h;
	if (cap < p.size)
		return 0;
	memset(buf, 0, p.size);
	memcpy(buf, &p, sizeof(p));
	return p.size;
}

/* Behind the arguments; its new end, 0: no room. */
static size_t put_text(uint8_t *buf, size_t at, size_t cap, const char *text)
{
	size_t len = strlen(text) + 1;

	if (len > cap - at)
		return 0;
	memcpy(buf + at, text, len);
	return at + len;
}

size_t vs_pack(const struct vs_event *ev, void *buf, size_t cap)
{
	const struct vs_event_info *info = vs_event_info((enum vs_event_type)ev->type);
	struct packed *p = buf; /* aligned by the caller */
	size_t at = sizeof(*p) + info->nargs * sizeof(p->a[0]), end;

	if (rounded(at) > cap)
		return 0;
	p->type = ev->type;
	p->flags = (uint8_t)((ev->has_wr ? HAS_WR : 0) | (ev->inferred ? INFERRED : 0));
	p->nargs = info->nargs;
	p->t_ns = ev->t_ns;
	p->cause = ev->cause;
	p->pkt_id = ev->pkt_id;
	p->wr_id = ev->wr_id;
	memcpy(p->node, ev->node, sizeof(p->node));
	p->qpn = ev->qpn;
	p->pad = 0;
	for (unsigned i = 0; i < info->nargs; i++) {
		p->a[i] = ev->a[i];
		if (info->args[i].kind != VS_ARG_STR || ev->a[i] == 0)
			continue;
		p->a[i] = 1;
		at = put_text(buf, at, cap, (const char *)(uintptr_t)ev->a[i]);
		if (at == 0)
			return 0;
	}
	end = rounded(at);
	if (end > cap)
		return 0;
	memset((uint8_t *)buf + at, 0, end - at);
	p->size = (uint32_t)end;
	return end;
}

bool vs_is_packed(const void *data, size_t n)
{
	uint64_t magic = 0;

	memcpy(&magic, data, n < sizeof(magic) ? n : sizeof(magic));
	return magic == MAGIC;
}

/* The event at `data`, its texts where they lie; false: there is none. */
static bool unpack(const uint8_t *data, size_t n, struct vs_event *ev, size_t *size)
{
	const struct vs_event_info *info;
	struct packed p;
	size_t at;

	if (n < sizeof(p))
		return false;
	memcpy(&p, data, sizeof(p));
	info = vs_event_info((enum vs_event_type)p.type);
	at = sizeof(p) + info->nargs * sizeof(p.a[0]);
	if (p.size > n || p.size < at || p.size % 8 != 0 || p.type == VS_EV_NONE || p.type >= VS_EV_COUNT ||
	    p.nargs != info->nargs || p.node[sizeof(p.node) - 1] != '\0')
		return false;
	*ev = (struct vs_event){.t_ns = p.t_ns,
				.cause = p.cause,
				.pkt_id = p.pkt_id,
				.wr_id = p.wr_id,
				.qpn = p.qpn,
				.type = p.type,
				.has_wr = (p.flags & HAS_WR) != 0,
				.inferred = (p.flags & INFERRED) != 0};
	memcpy(ev->node, p.node, sizeof(ev->node));
	memcpy(ev->a, data + sizeof(p), info->nargs * sizeof(ev->a[0]));
	for (unsigned i = 0; i < info->nargs; i++) {
		const uint8_t *end;

		if (info->args[i].kind != VS_ARG_STR || ev->a[i] == 0)
			continue;
		end = memchr(data + at, '\0', p.size - at);
		if (end == NULL)
			return false;
		ev->a[i] = (uintptr_t)(data + at);
		at = (size_t)(end - data) + 1;
	}
	*size = p.size;
	return true;
}

int vs_unpack(const void *data, size_t n, FILE *to)
{
	struct packed_header h;
	struct vs_event ev;
	size_t at, size;
	int rc;

	if (n < sizeof(h))
		return VS_ERR_INVAL;
	memcpy(&h, data, sizeof(h));
	if (h.magic != MAGIC || h.size != rounded(sizeof(h)) || n < h.size)
		return VS_ERR_INVAL;
	h.h.version[VS_VST_TEXT - 1] = h.h.clock[VS_VST_TEXT - 1] = h.h.build[VS_VST_TEXT - 1] = '\0';
	h.h.vantage_name[VS_VST_TEXT - 1] = h.h.vantage_type[VS_VST_TEXT - 1] = '\0';
	rc = vs_vst_put_header(&h.h, to);
	for (at = h.size, ev.seq = 0; rc == VS_OK; at += size) {
		uint64_t seq = ev.seq;

		if (!unpack((const uint8_t *)data + at, n - at, &ev, &size))
			break;
		ev.seq = seq + 1;
		rc = vs_vst_put(&ev, to);
	}
	return rc;
}
