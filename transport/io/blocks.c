/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* blocks.c - the blocks of a pcapng file one after the other: see blocks.h. */
#include "io/blocks.h"

#include <stdlib.h>

#define GROW 4096u
#define PART 65536u

bool vs_blocks_begin(struct vs_blocks *b, struct vs_stream *stream, const char *name)
{
	*b = (struct vs_blocks){.name = name, .stream = stream, .file = vs_stream_file(stream)};
	return b->file != NULL;
}

void vs_blocks_end(struct vs_blocks *b)
{
	if (b->file != NULL)
		fclose(b->file);
	vs_ng_section_end(&b->section);
	free(b->block);
	b->file = NULL;
	b->block = NULL;
}

/* ---- what is wrong ---- */

int vs_blocks_damaged(struct vs_blocks *b, const char *what)
{
	const char *fault = vs_stream_fault(b->stream);
	const unsigned long long n = b->frames + 1;

	b->why = fault != NULL ? fault : what;
	return vs_io_fail(&b->error, VS_ERR_IO, n, b->name, "frame %llu can't be read: %s", n, b->why);
}

int vs_blocks_cut(struct vs_blocks *b)
{
	return vs_blocks_damaged(b,
				 "the file ends inside it: copy it again, or keep the frames before it with editcap");
}

int vs_blocks_no_memory(struct vs_blocks *b)
{
	return vs_blocks_damaged(b, "no memory");
}

/* ---- bytes ---- */

bool vs_io_room(uint8_t **buf, size_t *room, size_t want)
{
	uint8_t *grown;

	if (want <= *room)
		return true;
	want = (want + GROW) / GROW * GROW;
	grown = realloc(*buf, want);
	if (grown == NULL)
		return false;
	*buf = grown;
	*room = want;
	return true;
}

int vs_blocks_get(struct vs_blocks *b, size_t n)
{
	const size_t all = n;

	while (n > 0) {
		const size_t want = n < PART ? n : PART;
		size_t got;

		if (!vs_io_room(&b->block, &b->room, b->len + want))
			return vs_blocks_no_memory(b);
		got = fread(b->block + b->len, 1, want, b->file);
		b->len += (uint32_t)got;
		n -= got;
		if (got < want)
			return n == all && vs_stream_fault(b->stream) == NULL ? 0 : vs_blocks_cut(b);
	}
	return 1;
}

/* 1: the next block is in `block`; its lengths agree and its section is known. */
static int read_block(struct vs_blocks *b)
{
	bool section;
	uint32_t len;
	int ret;

	b->len = 0;
	ret = vs_blocks_get(b, 8);
	if (ret != 1)
		return ret;
	section = vs_ng_get32(b->block, false) == VS_NG_SHB;
	if (section && (ret = vs_blocks_get(b, 4)) != 1)
		return ret < 0 ? ret : vs_blocks_cut(b);
	if (section && !vs_ng_byte_order(b->block + 8, &b->section.big))
		return vs_blocks_damaged(b, "the section before it has no byte order: " VS_DAMAGED_HERE);
	len = vs_ng_get32(b->block + 4, b->section.big);
	if (len < (section ? VS_NG_SHB_MIN : VS_NG_BLOCK_MIN) || len > VS_NG_BLOCK_MAX || len % 4 != 0)
		return vs_blocks_damaged(b, "a block has an impossible length: " VS_DAMAGED_HERE);
	ret = vs_blocks_get(b, len - b->len);
	if (ret != 1)
		return ret < 0 ? ret : vs_blocks_cut(b);
	if (vs_ng_get32(b->block + len - 4, b->section.big) != len)
		return vs_blocks_damaged(b, "a block ends with another length than it begins with: " VS_DAMAGED_HERE);
	return 1;
}

/* ---- blocks ---- */

int vs_blocks_next(struct vs_blocks *b, struct vs_ng_packet *p)
{
	const int ret = read_block(b);

	if (ret != 1)
		return ret;
	vs_ng_parse(&b->section, b->block, b->len, p);
	switch (p->kind) {
	case VS_NG_IS_SECTION:
		vs_ng_section_begin(&b->section, b->section.big);
		break;
	case VS_NG_IS_INTERFACE:
		if (!vs_ng_interface_read(&b->section, b->block, b->len))
			return vs_blocks_no_memory(b);
		break;
	case VS_NG_IS_PACKET:
	case VS_NG_IS_BARE_PACKET:
	case VS_NG_IS_RECORD: /* a frame for Wireshark, and no packet */
		b->frames++;
		break;
	case VS_NG_IS_DAMAGED:
		return vs_blocks_damaged(b, p->why);
	case VS_NG_IS_OTHER:
		break;
	}
	return 1;
}

void vs_blocks_frame(const struct vs_blocks *b, const struct vs_ng_packet *p, struct vs_frame *f)
{
	*f = (struct vs_frame){.number = b->frames,
			       .time_ns = p->time_ns,
			       .caplen = p->caplen,
			       .wirelen = p->wirelen > p->caplen ? p->wirelen : p->caplen,
			       .data = p->data,
			       .link = VS_LINK_ETHERTYPE};
	if (vs_link_name(p->linktype) != NULL)
		vs_link_peel(p->linktype, f);
}
