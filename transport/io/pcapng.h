/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * pcapng.h - blocks of a pcapng file (draft-ietf-opsawg-pcapng): layouts. blocks.c walks over a file.
 *
 * A block is its type, its length, a body padded to 32 bits, and its length again. The byte order is that of its
 * section. Options are code, length, value padded to 32 bits; code 0 ends them.
 */
#ifndef VS_IO_PCAPNG_H
#define VS_IO_PCAPNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VS_NG_SHB 0x0a0d0d0au
#define VS_NG_BLOCK_MIN 12u
#define VS_NG_SHB_MIN 28u
#define VS_NG_BLOCK_MAX (16u << 20) /* Wireshark reads no longer ones */
#define VS_NG_EPB_HEAD 28u
#define VS_NG_OPT_COMMENT 1u
#define VS_NG_HEADERS_MAX 128u
#define VS_NG_NOTES_MAX (1u << 18) /* bytes of comments on one packet */

struct vs_ng_interface {
	uint16_t linktype;
	uint32_t snaplen; /* 0: no limit */
	uint64_t per_s;   /* units of time stamps in a second; 0: more than 64 bits hold */
	int64_t offset_s; /* added to time stamps */
};

/* A section: byte order, and the interfaces that were described so far. */
struct vs_ng_section {
	bool big;
	struct vs_ng_interface *interface;
	uint32_t n, room;
};

enum vs_ng_kind {
	VS_NG_IS_OTHER,       /* copied as it is */
	VS_NG_IS_SECTION,     /* Section Header Block */
	VS_NG_IS_INTERFACE,   /* Interface Description Block */
	VS_NG_IS_PACKET,      /* Enhanced Packet Block, or the Packet Block of old */
	VS_NG_IS_BARE_PACKET, /* Simple Packet Block: has no place for a comment */
	VS_NG_IS_RECORD,      /* something else that Wireshark counts as a frame */
	VS_NG_IS_DAMAGED,
};

struct vs_ng_packet {
	enum vs_ng_kind kind;
	const char *why; /* DAMAGED: a clause */
	int linktype;
	int64_t time_ns;
	uint32_t caplen, wirelen;
	const uint8_t *data; /* into the block */
};

uint32_t vs_ng_get32(const uint8_t *b, bool big);
void vs_ng_put16(uint8_t *b, uint32_t v, bool big);
/* The byte-order magic of a section; false: it is none. */
bool vs_ng_byte_order(const uint8_t *b, bool *big);

/* Forgets the interfaces of the section before. */
void vs_ng_section_begin(struct vs_ng_section *s, bool big);
void vs_ng_section_end(struct vs_ng_section *s);
/* `resolution` as option if_tsresol has it. False: no memory. */
bool vs_ng_interface_add(struct vs_ng_section *s, uint16_t linktype, uint32_t snaplen, uint8_t resolution,
			 int64_t offset_s);
bool vs_ng_interface_read(struct vs_ng_section *s, const uint8_t *block, uint32_t len);

/* What this block is. Its two lengths agree, and `len` is at least VS_NG_BLOCK_MIN. */
void vs_ng_parse(const struct vs_ng_section *s, const uint8_t *block, uint32_t len, struct vs_ng_packet *p);

/*
 * The options of a packet block, with `notes` (options, padded) behind them. Comments that begin with `mark` go.
 * `block` has room for what is added and 8 bytes more. The new length of the block; as it was when its options can't be
 * read or it would become too long.
 */
uint32_t vs_ng_put_comments(uint8_t *block, uint32_t len, bool big, const uint8_t *notes, size_t notes_len,
			    const char *mark, size_t mark_len);

/* Little-endian, for what comes from a pcap. */
/* Section and interface. Bytes written, at most VS_NG_HEADERS_MAX. */
size_t vs_ng_put_headers(uint8_t *b, uint16_t linktype, uint32_t snaplen, uint8_t resolution);
/* The packet stands at b + VS_NG_EPB_HEAD; 7 bytes of room are behind it. The length of the block. */
uint32_t vs_ng_put_epb(uint8_t *b, uint64_t time, uint32_t caplen, uint32_t wirelen);

#endif
