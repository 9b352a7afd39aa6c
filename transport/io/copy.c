/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * copy.c - a capture into a pcapng, with comments on its packets.
 *
 * A pcapng is copied block by block, in the byte order of its sections; of what is not a packet only the length that a
 * section announces changes (to "unknown"). Packets of a pcap become Enhanced Packet Blocks with the same times.
 *
 * Rule: every length in a file is untrusted; what stands before a fault is copied.
 */
#include <stdlib.h>
#include <string.h>

#include "io/blocks.h"

#define PCAP_HEAD 24u
#define PCAP_RECORD 16u
#define PCAP_RECORD_OLD 24u /* of the patch of 1999 */
#define PCAP_PACKET_MAX 262144u
#define LINKTYPE_MASK 0x03ffffffu
#define LINKTYPE_ERF 197
#define NS_PER_S 1000000000u
#define US_PER_S 1000000u

struct vs_copy {
	char *name, *mark;
	FILE *in;
	struct vs_stream *stream;
	struct vs_writer *out;
	/* pcap */
	bool is_pcap, pcap_big, old_records;
	uint64_t pcap_per_s;
	/* pcapng, which the records of a pcap become too */
	struct vs_blocks b;
	bool held; /* the newest block is a packet, and not written yet */
	bool bare; /* one that has no place for comments */
	uint8_t *notes;
	size_t notes_len, notes_room;
	struct vs_copy_stats stats; /* the frames are counted in `b` */
	int ended;                  /* 1 while blocks may follow; then what vs_copy_next answers */
};

/* ---- pcap in ---- */

static uint32_t pcap32(const struct vs_copy *c, const uint8_t *b)
{
	return vs_ng_get32(b, c->pcap_big);
}

static int begin_pcap(struct vs_copy *c, struct vs_io_error *err)
{
	size_t len;
	const uint8_t *head = vs_stream_head(c->stream, &len);
	uint8_t skipped[PCAP_HEAD], blocks[VS_NG_HEADERS_MAX], resolution;
	uint32_t magic, link;
	size_t n;

	if (len < PCAP_HEAD || fread(skipped, sizeof(skipped), 1, c->b.file) != 1)
		return vs_io_fail(err, VS_ERR_IO, 0, c->name, "ends inside the file header: copy it again");
	c->pcap_big = head[0] == 0xa1;
	magic = pcap32(c, head);
	c->old_records = magic == 0xa1b2cd34;
	c->pcap_per_s = magic == 0xa1b23c4d ? NS_PER_S : US_PER_S;
	link = pcap32(c, head + 20) & LINKTYPE_MASK;
	if (link > UINT16_MAX)
		return vs_io_fail(err, VS_ERR_UNSUPPORTED, 0, c->name, "link type %u has no place in a pcapng", link);
	resolution = c->pcap_per_s == NS_PER_S || link == LINKTYPE_ERF ? 9 : 6;
	n = vs_ng_put_headers(blocks, (uint16_t)link, pcap32(c, head + 16), resolution);
	vs_ng_section_begin(&c->b.section, false);
	if (!vs_ng_interface_add(&c->b.section, (uint16_t)link, pcap32(c, head + 16), resolution, 0))
		return vs_io_fail(err, VS_ERR_IO, 0, c->name, "can't be read: no memory");
	return vs_writer_block(c->out, blocks, n, err);
}

/*
 * In nanoseconds, when that is what the pcapng has. An ERF record has a time of its own, finer than that of the pcap;
 * Wireshark takes the former from a pcap and that of the block from a pcapng, so it goes there.
 */
static uint64_t record_time(const struct vs_copy *c, uint32_t sec, uint32_t part, uint32_t caplen, uint32_t wirelen)
{
	const struct vs_ng_interface *i = &c->b.section.interface[0];
	struct vs_frame f = {.time_ns = -1, .caplen = caplen, .wirelen = wirelen, .data = c->b.block + VS_NG_EPB_HEAD};

	if (i->linktype == LINKTYPE_ERF)
		vs_link_peel(LINKTYPE_ERF, &f);
	if (i->linktype == LINKTYPE_ERF && f.time_ns >= 0)
		return (uint64_t)f.time_ns;
	return (uint64_t)sec * i->per_s + (i->per_s == c->pcap_per_s ? part : (uint64_t)part * 1000);
}

static int next_record(struct vs_copy *c)
{
	const uint32_t head = c->old_records ? PCAP_RECORD_OLD : PCAP_RECORD;
	uint32_t sec, part, caplen, wirelen;
	int ret;

	c->b.len = 0;
	ret = vs_blocks_get(&c->b, head);
	if (ret != 1)
		return ret;
	sec = pcap32(c, c->b.block);
	part = pcap32(c, c->b.block + 4);
	caplen = pcap32(c, c->b.block + 8);
	wirelen = pcap32(c, c->b.block + 12);
	if (caplen > PCAP_PACKET_MAX)
		return vs_blocks_damaged(&c->b, "its length is impossible: " VS_DAMAGED_HERE);
	c->b.len = VS_NG_EPB_HEAD;
	ret = caplen > 0 ? vs_blocks_get(&c->b, caplen) : 1;
	if (ret != 1)
		return ret < 0 ? ret : vs_blocks_cut(&c->b);
	if (!vs_io_room(&c->b.block, &c->b.room, (size_t)c->b.len + 3 + 4))
		return vs_blocks_no_memory(&c->b);
	c->b.len = vs_ng_put_epb(c->b.block, record_time(c, sec, part, caplen, wirelen), caplen, wirelen);
	return 1;
}

/* The next block, or record as a block. As vs_blocks_next. */
static int next_block(struct vs_copy *c, struct vs_ng_packet *p)
{
	int ret;

	if (!c->is_pcap)
		return vs_blocks_next(&c->b, p);
	ret = next_record(c);
	if (ret == 1) {
		vs_ng_parse(&c->b.section, c->b.block, c->b.len, p);
		c->b.frames++;
	}
	return ret;
}

/* ---- writing ---- */

static int put(struct vs_copy *c)
{
	return vs_writer_block(c->out, c->b.block, c->b.len, &c->b.error);
}

/* The packet that is held, with its comments. */
static int put_held(struct vs_copy *c)
{
	const size_t marked = c->mark != NULL ? strlen(c->mark) : 0;

	if (!c->held)
		return VS_OK;
	c->held = false;
	if (c->bare) {
		c->stats.bare += c->notes_len > 0;
		c->notes_len = 0;
		return put(c);
	}
	if (!vs_io_room(&c->b.block, &c->b.room, (size_t)c->b.len + c->notes_len + 8))
		return vs_blocks_no_memory(&c->b);
	c->b.len = vs_ng_put_comments(c->b.block, c->b.len, c->b.section.big, c->notes, c->notes_len, c->mark, marked);
	c->notes_len = 0;
	return put(c);
}

/* A block that is no packet. */
static int pass(struct vs_copy *c, const struct vs_ng_packet *p)
{
	if (p->kind == VS_NG_IS_SECTION)
		memset(c->b.block + 16, 0xff, 8); /* the length of the section, which changes, may be left open */
	return put(c);
}

/* ---- the calls of vs/pktio.h ---- */

static int next(struct vs_copy *c, struct vs_frame *f)
{
	int ret = put_held(c);
	struct vs_ng_packet p;

	while (ret == VS_OK && (ret = next_block(c, &p)) == 1) {
		if (p.kind == VS_NG_IS_PACKET || p.kind == VS_NG_IS_BARE_PACKET) {
			vs_blocks_frame(&c->b, &p, f);
			c->held = true;
			c->bare = p.kind == VS_NG_IS_BARE_PACKET;
			return 1;
		}
		ret = pass(c, &p);
	}
	return ret;
}

int vs_copy_next(struct vs_copy *c, struct vs_frame *f, struct vs_io_error *err)
{
	if (c->ended == 1) {
		const int ret = next(c, f);

		if (ret == 1) {
			vs_io_ok(err);
			return 1;
		}
		c->ended = ret;
	}
	if (err != NULL)
		*err = c->b.error;
	return c->ended;
}

int vs_copy_comment(struct vs_copy *c, const char *text)
{
	const size_t marked = c->mark != NULL ? strlen(c->mark) : 0;
	size_t len = marked + strlen(text), padded;
	uint8_t *at;

	if (!c->held)
		return VS_ERR_INVAL;
	if (len > VS_COPY_COMMENT_MAX)
		len = VS_COPY_COMMENT_MAX;
	padded = (len + 3) / 4 * 4;
	/* more would not fit the length of a block */
	if (c->notes_len + padded + 4 > VS_NG_NOTES_MAX)
		return VS_ERR_NOSPACE;
	if (!vs_io_room(&c->notes, &c->notes_room, c->notes_len + padded + 4))
		return VS_ERR_NOSPACE;
	at = c->notes + c->notes_len;
	memset(at, 0, padded + 4);
	vs_ng_put16(at, VS_NG_OPT_COMMENT, c->b.section.big);
	vs_ng_put16(at + 2, (uint32_t)len, c->b.section.big);
	if (marked > 0)
		memcpy(at + 4, c->mark, marked < len ? marked : len);
	if (len > marked)
		memcpy(at + 4 + marked, text, len - marked);
	c->notes_len += padded + 4;
	c->stats.comments += !c->bare;
	return VS_OK;
}

struct vs_copy_stats vs_copy_stats(const struct vs_copy *c)
{
	struct vs_copy_stats stats = c->stats;

	stats.frames = c->b.frames;
	return stats;
}

static void copy_free(struct vs_copy *c)
{
	vs_blocks_end(&c->b);
	vs_stream_free(c->stream);
	if (c->in != NULL && c->in != stdin)
		fclose(c->in);
	free(c->notes);
	free(c->mark);
	free(c->name);
	free(c);
}

int vs_copy_close(struct vs_copy *c, struct vs_io_error *err)
{
	const int held = put_held(c);
	int ret = vs_writer_close(c->out, err);

	if (ret == VS_OK && held != VS_OK) {
		if (err != NULL)
			*err = c->b.error;
		ret = held;
	}
	copy_free(c);
	return ret;
}

void vs_copy_abort(struct vs_copy *c)
{
	if (c == NULL)
		return;
	vs_writer_abort(c->out);
	copy_free(c);
}

/* ---- opening ---- */

struct vs_copy *vs_copy_open_stream(FILE *in, const char *name, const char *to, const char *mark,
				    struct vs_io_error *err)
{
	struct vs_copy *c = calloc(1, sizeof(*c));
	const uint8_t *head;
	size_t len;

	vs_io_ok(err);
	if (c != NULL) {
		c->in = in;
		c->ended = 1;
		c->name = strdup(name);
		c->mark = mark != NULL ? strdup(mark) : NULL;
		c->stream = vs_stream_new(in);
	}
	if (c == NULL || c->name == NULL || c->stream == NULL || !vs_blocks_begin(&c->b, c->stream, c->name) ||
	    (mark != NULL && c->mark == NULL)) {
		vs_io_fail(err, VS_ERR_IO, 0, name, "can't be read: no memory");
		if (c == NULL && in != stdin)
			fclose(in);
		if (c != NULL)
			copy_free(c);
		return NULL;
	}
	if (vs_io_check_head(c->stream, name, err) != VS_OK) {
		copy_free(c);
		return NULL;
	}
	c->out = vs_writer_open(to, VS_WRITER_PCAPNG, err);
	if (c->out == NULL) {
		copy_free(c);
		return NULL;
	}
	head = vs_stream_head(c->stream, &len);
	c->is_pcap = vs_stream_is_pcap(head, len);
	if (c->is_pcap && begin_pcap(c, err) != VS_OK) {
		vs_copy_abort(c);
		return NULL;
	}
	return c;
}

struct vs_copy *vs_copy_open(const char *from, const char *to, const char *mark, struct vs_io_error *err)
{
	const char *name;
	FILE *in = vs_io_open(from, &name, err);

	return in != NULL ? vs_copy_open_stream(in, name, to, mark, err) : NULL;
}
