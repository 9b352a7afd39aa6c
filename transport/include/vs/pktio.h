/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * pktio.h - capture files in and out.
 *
 * Read: pcap (µs and ns), pcapng, either gzipped; link types Ethernet, Linux SLL and SLL2, raw IP
 * (LINKTYPE_RAW, IPV4, IPV6), ERF InfiniBand (types 21 and 25; other ERF types are other traffic),
 * InfiniBand (247: frames begin with the LRH).
 * Written: pcap with nanoseconds (Ethernet or raw IP) and ERF in pcap for native IB, since
 * Wireshark opens no pcap of link type 247; copies of captures as pcapng with comments on packets.
 *
 * Errors are one line of text that says what, where (file, frame number) and what to do. Every
 * `err` may be NULL. Frames before a fault are delivered before the fault is reported.
 */
#ifndef VS_PKTIO_H
#define VS_PKTIO_H

#include <stddef.h>
#include <stdint.h>

#include "vs/wire.h"

#define VS_IO_ERRLEN 512

struct vs_io_error {
	char text[VS_IO_ERRLEN]; /* one line, no newline; "" when nothing failed */
	uint64_t frame;          /* 1-based number of the frame that can't be read; 0 for the file as a whole */
};

/* One record of a capture. Pointers are valid until the next call on the same reader. */
struct vs_frame {
	uint64_t number;  /* 1-based, counts every record of the file as Wireshark does */
	int64_t time_ns;  /* since 1970-01-01 UTC; may run backwards: files say what they say */
	uint32_t caplen;  /* bytes at `data` */
	uint32_t wirelen; /* bytes that were on the wire, >= caplen */
	const uint8_t *data;
	enum vs_link link;  /* where `data` begins: cooked headers and ERF headers are already off */
	uint16_t ethertype; /* for VS_LINK_ETHERTYPE; 0: the record holds no network packet (other traffic) */
};

struct vs_capture; /* an open file for reading */

/* What a reader has seen so far. */
struct vs_capture_stats {
	uint64_t frames;  /* records read */
	uint64_t rdma;    /* parsed as InfiniBand or RoCE by vs_capture_next_pkt */
	uint64_t other;   /* passed over: other traffic */
	uint64_t broken;  /* RDMA, but too short to hold a BTH or LRH */
	uint64_t snapped; /* RDMA frames that a snap length cut */
};

/*
 * Opens `path` ("-": standard input). NULL with `err` filled when it can't be opened, is empty, is
 * no capture, or none of the link types that it has before its first frame is read by this library.
 */
struct vs_capture *vs_capture_open(const char *path, struct vs_io_error *err);

/*
 * 1: `f` is the next record; 0: clean end of file; negative vs_err: `err` says what and where, and
 * every later call says the same. Interfaces of a pcapng may have different link types and snap lengths; frames of a
 * link type that is not read are other traffic. `f->number` counts records that are no packets (journal entries, custom
 * blocks), as Wireshark does.
 */
int vs_capture_next(struct vs_capture *c, struct vs_frame *f, struct vs_io_error *err);

/*
 * The next RDMA packet, other traffic passed over and counted. As vs_capture_next, and `p` is the
 * parsed packet (`opt` as for vs_pkt_parse). Frames that are RDMA but too short are counted as
 * broken and passed over.
 */
int vs_capture_next_pkt(struct vs_capture *c, struct vs_frame *f, struct vs_pkt *p, unsigned opt,
			struct vs_io_error *err);

struct vs_capture_stats vs_capture_stats(const struct vs_capture *c);
/*
 * "pcap" or "pcapng", and the name of the link type ("EN10MB") of the newest frame, which in a pcapng may be another
 * one than that of the frame before; "unknown" when it is not read. Before any frame: of the first interface that is
 * read. Static.
 */
const char *vs_capture_format(const struct vs_capture *c);
const char *vs_capture_linktype(const struct vs_capture *c);
void vs_capture_close(struct vs_capture *c); /* NULL is fine */

enum vs_writer_kind {
	VS_WRITER_ETHERNET, /* pcap ns, link type 1: frames begin with the destination MAC */
	VS_WRITER_RAW_IP,   /* pcap ns, link type 101 */
	VS_WRITER_ERF_IB,   /* pcap ns, link type 197, ERF type 21: frames begin with the LRH */
	VS_WRITER_PCAPNG,   /* for vs_copy; vs_writer_put refuses */
};

struct vs_writer;

/*
 * Opens a temporary file beside `path`. What stands at `path` stays until vs_writer_close renames
 * the whole capture over it, so no reader ever sees half of one. "-" (standard output) and
 * what is no regular file (a FIFO, /dev/null) are written straight.
 */
struct vs_writer *vs_writer_open(const char *path, enum vs_writer_kind kind, struct vs_io_error *err);

/*
 * The same for a process that may be killed: the temporary file has its name, PATH.PID-N.part, from the beginning, and
 * every frame is in it when vs_writer_put returns, without a system call (vs/grow.h). What is killed leaves zeros
 * behind the last frame.
 */
struct vs_writer *vs_writer_open_kept(const char *path, enum vs_writer_kind kind, struct vs_io_error *err);

/*
 * Appends one frame. 0, or VS_ERR_INVAL (caplen > wirelen, a frame that is too long, a time before
 * 1970 or after 2106: nothing was written), or VS_ERR_IO (full disk ...: vs_writer_close will fail
 * too and leave nothing behind).
 */
int vs_writer_put(struct vs_writer *w, int64_t time_ns, const uint8_t *data, uint32_t caplen, uint32_t wirelen,
		  struct vs_io_error *err);

/* Flushes, syncs to the disk, renames. 0 or negative vs_err; `w` is gone in either case. */
int vs_writer_close(struct vs_writer *w, struct vs_io_error *err);

/* Drops what was written: the temporary file is removed, `path` is untouched. */
void vs_writer_abort(struct vs_writer *w);

/* In a forked child: the file is the parent's, who goes on writing it. Nothing of what is buffered is written here. */
void vs_writer_forget(struct vs_writer *w);

/* ---- a capture into a pcapng, with comments on its packets ---- */

#define VS_COPY_COMMENT_MAX 4000u /* bytes of a comment; longer ones are cut */

struct vs_copy_stats {
	uint64_t frames;   /* read */
	uint64_t comments; /* added */
	uint64_t bare;     /* frames of Simple Packet Blocks that should have comments: these have no place for any */
};

struct vs_copy;

/*
 * Copies `from` to `to` (each may be "-") while it is read. A pcapng stays what it is, byte by byte: blocks, options,
 * interfaces with their link types and resolutions, comments, names, secrets; only lengths change, and comments that
 * begin with `mark` go (NULL: none). A pcap becomes a pcapng with one interface. `to` is written as vs_writer does.
 * NULL with `err` filled.
 */
struct vs_copy *vs_copy_open(const char *from, const char *to, const char *mark, struct vs_io_error *err);

/*
 * As vs_capture_next. The frame before goes to `to`. After an error vs_copy_close keeps what was read.
 */
int vs_copy_next(struct vs_copy *c, struct vs_frame *f, struct vs_io_error *err);

/*
 * A comment for the frame that vs_copy_next handed out, `mark` in front of it; UTF-8. 0, VS_ERR_INVAL (there is none)
 * or VS_ERR_NOSPACE (too much for one frame).
 */
int vs_copy_comment(struct vs_copy *c, const char *text);

struct vs_copy_stats vs_copy_stats(const struct vs_copy *c);
/* Puts the copy in place: 0 or negative vs_err; `c` is gone in either case. */
int vs_copy_close(struct vs_copy *c, struct vs_io_error *err);
void vs_copy_abort(struct vs_copy *c); /* leaves nothing behind; NULL is fine */

#endif
