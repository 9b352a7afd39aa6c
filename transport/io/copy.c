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

#include "io/internal.h"
#include "io/pcapng.h"

#define GROW 4096u
#define PCAP_HEAD 24u
#define PCAP_RECORD 16u
#define PCAP_RECORD_OLD 24u /* of the patch of 1999 */
#define PCAP_PACKET_MAX 262144u
#define LINKTYPE_MASK 0x03ffffffu
#define LINKTYPE_ERF 197
#define NS_PER_S 1000000000u
#define US_PER_S 1000000u
#define HERE "the file is damaged from here on, the frames before are good"

struct vs_copy {
	char *name, *mark;
	FILE *in, *file;
	struct vs_stream *stream;
	struct vs_writer *out;
	/* pcap */
	bool is_pcap, pcap_big, old_records;
	uint64_t pcap_per_s;
	/* pcapng */
	struct vs_ng_section section;
	uint8_t *block; /* the newest one */
	size_t room;
	uint32_t len;
	bool held; /* it is a packet, and not written yet */
	bool bare; /* one that has no place for comments */
	uint8_t *notes;
	size_t notes_len, notes_room;
	struct vs_copy_stats stats;
	int ended; /* 1 while blocks may follow; then what vs_copy_next answers */
	struct vs_io_error error;
};

/* ---- reading ---- */

static bool make_room(uint8_t **b, size_t *room, size_t want)
{
	uint8_t *grown;

	if (want <= *room)
		return true;
	want = (want + GROW) / GROW * GROW;
	grown = realloc(*b, want);
	if (grown == NULL)
		return false;
	*b = grown;
	*room = want;
	return true;
}

static unsigned long long next_frame(const struct vs_copy *c)
{
	return c->stats.frames + 1;
}

/* What is wrong with the next frame, or the block that stands before it. */
static int damaged(struct vs_copy *c, const char *what)
{
	const char *fault = vs_stream_fault(c->stream);

	return vs_io_fail(&c->error, VS_ERR_IO, next_frame(c), c->name, "frame %llu can't be read: %s", next_frame(c),
			  fault != NULL ? fault : what);
}

static int cut_short(struct vs_copy *c)
{
	return damaged(c, "the file ends inside it: copy it again");
}

static int no_memory(struct vs_copy *c)
{
	return vs_io_fail(&c->error, VS_ERR_IO, next_frame(c), c->name, "frame %llu can't be read: no memory",
			  next_frame(c));
}

/*
 * `n` bytes behind what is in the block, asked for in parts: memory is taken for what is there, not for what a length
 * promises. 1, 0: the file ends here, negative: inside.
 */
static int get(struct vs_copy *c, size_t n)
{
	const size_t part = 65536, first = n;

	while (n > 0) {
		const size_t want = n < part ? n : part;
		size_t got;

		if (!make_room(&c->block, &c->room, c->len + want))
			return no_memory(c);
		got = fread(c->block + c->len, 1, want, c->file);
		c->len += (uint32_t)got;
		n -= got;
		if (got < want)
			return n == first && vs_stream_fault(c->stream) == NULL ? 0 : cut_short(c);
	}
	return 1;
}

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

	if (len < PCAP_HEAD || fread(skipped, sizeof(skipped), 1, c->file) != 1)
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
	vs_ng_section_begin(&c->section, false);
	if (!vs_ng_interface_add(&c->section, (uint16_t)link, pcap32(c, head + 16), resolution, 0))
		return vs_io_fail(err, VS_ERR_IO, 0, c->name, "can't be read: no memory");
	return vs_writer_block(c->out, blocks, n, err);
}

/*
 * In nanoseconds, when that is what the pcapng has. An ERF record has a time of its own, finer than that of the pcap;
 * Wireshark takes the former from a pcap and that of the block from a pcapng, so it goes there.
 */
static uint64_t record_time(const struct vs_copy *c, uint32_t sec, uint32_t part, uint32_t caplen, uint32_t wirelen)
{
	const struct vs_ng_interface *i = &c->section.interface[0];
	struct vs_frame f = {.time_ns = -1, .caplen = caplen, .wirelen = wirelen, .data = c->block + VS_NG_EPB_HEAD};

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

	c->len = 0;
	ret = get(c, head);
	if (ret != 1)
		return ret;
	sec = pcap32(c, c->block);
	part = pcap32(c, c->block + 4);
	caplen = pcap32(c, c->block + 8);
	wirelen = pcap32(c, c->block + 12);
	if (caplen > PCAP_PACKET_MAX)
		return damaged(c, "its length is impossible: " HERE);
	c->len = VS_NG_EPB_HEAD;
	ret = caplen > 0 ? get(c, caplen) : 1;
	if (ret != 1)
		return ret < 0 ? ret : cut_short(c);
	if (!make_room(&c->block, &c->room, (size_t)c->len + 3 + 4))
		return no_memory(c);
	c->len = vs_ng_put_epb(c->block, record_time(c, sec, part, caplen, wirelen), caplen, wirelen);
	return 1;
}

/* ---- pcapng in ---- */

/* 1: the next block is in `block`; its lengths agree and its section is known. */
static int next_block(struct vs_copy *c)
{
	bool section;
	uint32_t len;
	int ret;

	c->len = 0;
	ret = get(c, 8);
	if (ret != 1)
		return ret;
	section = vs_ng_get32(c->block, false) == VS_NG_SHB;
	if (section && (ret = get(c, 4)) != 1)
		return ret < 0 ? ret : cut_short(c);
	if (section && !vs_ng_byte_order(c->block + 8, &c->section.big))
		return damaged(c, "the section before it has no byte order: " HERE);
	len = vs_ng_get32(c->block + 4, c->section.big);
	if (len < (section ? VS_NG_SHB_MIN : VS_NG_BLOCK_MIN) || len > VS_NG_BLOCK_MAX || len % 4 != 0)
		return damaged(c, "a block has an impossible length: " HERE);
	ret = get(c, len - c->len);
	if (ret != 1)
		return ret < 0 ? ret : cut_short(c);
	if (vs_ng_get32(c->block + len - 4, c->section.big) != len)
		return damaged(c, "a block ends with another length than it begins with: " HERE);
	return 1;
}

static int next_of_either(struct vs_copy *c)
{
	return c->is_pcap ? next_record(c) : next_block(c);
}

/* ---- writing ---- */

static int put(struct vs_copy *c)
{
	return vs_writer_block(c->out, c->block, c->len, &c->error);
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
	if (!make_room(&c->block, &c->room, (size_t)c->len + c->notes_len + 8))
		return no_memory(c);
	c->len = vs_ng_put_comments(c->block, c->len, c->section.big, c->notes, c->notes_len, c->mark, marked);
	c->notes_len = 0;
	return put(c);
}

/* A block that is no packet. */
static int pass(struct vs_copy *c, const struct vs_ng_packet *p)
{
	const char *why = NULL;

	switch (p->kind) {
	case VS_NG_IS_SECTION:
		vs_ng_section_begin(&c->section, c->section.big);
		memset(c->block + 16, 0xff, 8);
		break;
	case VS_NG_IS_INTERFACE:
		if (!vs_ng_interface_read(&c->section, c->block, c->len))
			return no_memory(c);
		break;
	case VS_NG_IS_RECORD: /* a frame for Wireshark, and no packet */
		c->stats.frames++;
		break;
	case VS_NG_IS_DAMAGED:
		why = p->why;
		break;
	default:
		break;
	}
	return why != NULL ? damaged(c, why) : put(c);
}

static void hand_out(struct vs_copy *c, const struct vs_ng_packet *p, struct vs_frame *f)
{
	*f = (struct vs_frame){.number = ++c->stats.frames,
			       .time_ns = p->time_ns,
			       .caplen = p->caplen,
			       .wirelen = p->wirelen > p->caplen ? p->wirelen : p->caplen,
			       .data = p->data};
	c->held = true;
	c->bare = p->kind == VS_NG_IS_BARE_PACKET;
	if (vs_link_name(p->linktype) != NULL) {
		vs_link_peel(p->linktype, f);
	} else {
		f->link = VS_LINK_ETHERTYPE;
		f->ethertype = 0;
	}
}

/* ---- the calls of vs/pktio.h ---- */

static int next(struct vs_copy *c, struct vs_frame *f)
{
	int ret = put_held(c);

	while (ret == VS_OK && (ret = next_of_either(c)) == 1) {
		struct vs_ng_packet p;

		vs_ng_parse(&c->section, c->block, c->len, &p);
		if (p.kind == VS_NG_IS_PACKET || p.kind == VS_NG_IS_BARE_PACKET) {
			hand_out(c, &p, f);
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
		*err = c->error;
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
	if (!make_room(&c->notes, &c->notes_room, c->notes_len + padded + 4))
		return VS_ERR_NOSPACE;
	at = c->notes + c->notes_len;
	memset(at, 0, padded + 4);
	vs_ng_put16(at, VS_NG_OPT_COMMENT, c->section.big);
	vs_ng_put16(at + 2, (uint32_t)len, c->section.big);
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
	return c->stats;
}

static void copy_free(struct vs_copy *c)
{
	if (c->file != NULL)
		fclose(c->file);
	vs_stream_free(c->stream);
	if (c->in != NULL && c->in != stdin)
		fclose(c->in);
	vs_ng_section_end(&c->section);
	free(c->block);
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
			*err = c->error;
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
		c->file = c->stream != NULL ? vs_stream_file(c->stream) : NULL;
	}
	if (c == NULL || c->name == NULL || c->file == NULL || (mark != NULL && c->mark == NULL)) {
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
