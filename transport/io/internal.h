/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * internal.h - what the files of transport/io share.
 *
 *   error.c   one line of text per error
 *   stream.c  bytes of a capture file: gzip taken off, faults remembered
 *   link.c    link types: which are read, and taking their headers off
 *   reader.c  records: of a pcap through libpcap, of a pcapng through blocks.c
 *   writer.c  pcap and ERF out, whole or not at all
 *   pcapng.c  layouts of the blocks of a pcapng file
 *   blocks.c  these blocks, one after the other
 *   copy.c    a capture into a pcapng, with comments on its packets
 */
#ifndef VS_IO_INTERNAL_H
#define VS_IO_INTERNAL_H

#include <stdbool.h>
#include <stdio.h>

#include "vs/err.h"
#include "vs/pktio.h"

/* ---- error.c ---- */

/*
 * Writes "NAME: <text>" into `err` (which may be NULL): one line, control characters replaced, a
 * very long name cut in front. Returns `code`, so that a caller can say `return vs_io_fail(...)`.
 */
int vs_io_fail(struct vs_io_error *err, int code, uint64_t frame, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

void vs_io_ok(struct vs_io_error *err);

/* What to do about errno `e` when a file can't be opened or written: "make it readable, ...". */
const char *vs_io_advice(int e, bool writing);

/* ---- stream.c ---- */

#define VS_STREAM_HEAD 24 /* a pcap file header; also enough of a pcapng one to know it */

struct vs_stream;

/*
 * Reads the beginning of `in`, and knows gzip by it. NULL only for lack of memory: a fault is
 * asked for with vs_stream_fault. `in` stays the caller's.
 */
struct vs_stream *vs_stream_new(FILE *in);

/* The first bytes, after decompression; *len is smaller than VS_STREAM_HEAD only at the end of file. */
const uint8_t *vs_stream_head(const struct vs_stream *s, size_t *len);
bool vs_stream_gzipped(const struct vs_stream *s);
/* Do these bytes begin a pcap file (not pcapng)? */
bool vs_stream_is_pcap(const uint8_t *head, size_t len);

/*
 * All bytes from the first, for libpcap. Closing it does not free the stream. NULL: no memory.
 * The snap length in a pcap file header reads as 0, which makes libpcap use its own maximum:
 * otherwise it would cut records that are longer than the header says, and Wireshark does not.
 */
FILE *vs_stream_file(struct vs_stream *s);

/* What went wrong below libpcap, as a clause ("the gzip data ends early: ..."); NULL when nothing did. */
const char *vs_stream_fault(const struct vs_stream *s);

void vs_stream_free(struct vs_stream *s); /* NULL is fine */

/* ---- link.c ---- */

/* The name of link type `dlt` ("EN10MB") when this library reads it, NULL when it does not. */
const char *vs_link_name(int dlt);

/*
 * `f` holds a whole record: takes the link header off, sets link and ethertype; for ERF also the
 * time. A record without a network packet gets VS_LINK_ETHERTYPE with ethertype 0: other traffic.
 */
void vs_link_peel(int dlt, struct vs_frame *f);

/* ---- reader.c ---- */

/*
 * As vs_capture_open, from an open stream, which the capture closes (not when it is stdin).
 * `name` is for messages.
 */
struct vs_capture *vs_capture_open_stream(FILE *in, const char *name, struct vs_io_error *err);

/* The file at `path` ("-": standard input), and its name for messages. NULL with `err` filled. */
FILE *vs_io_open(const char *path, const char **name, struct vs_io_error *err);
/* Does the stream begin like a capture? 0, or negative with `err` filled: it is empty, or something else. */
int vs_io_check_head(const struct vs_stream *s, const char *name, struct vs_io_error *err);

/* ---- writer.c ---- */

/* Bytes into a VS_WRITER_PCAPNG, as they are. As vs_writer_put. */
int vs_writer_block(struct vs_writer *w, const uint8_t *data, size_t len, struct vs_io_error *err);

/* ---- copy.c ---- */

/* As vs_copy_open, from an open stream, which the copy closes (not when it is stdin). */
struct vs_copy *vs_copy_open_stream(FILE *in, const char *name, const char *to, const char *mark,
				    struct vs_io_error *err);

#endif
