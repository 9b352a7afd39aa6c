/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * vst.h - events on paper: the .vst form, and a log in memory.
 *
 * A .vst file is text, one JSON object a line, the header first:
 *
 *   {"vst":"0.1","clock":"sim","unit":"ns","vantage":{"name":"A","type":"requester"},"build":"0.1.0","seed":"42"}
 *   {"seq":118,"t":"4000120","node":"A","ev":"verb:post_send","qpn":"0x11","wr":7,"op":"RDMA_WRITE","len":3072,...}
 *
 *   seq    given by the log, from 1; cause: the seq of the event that led here; pkt: one transmission
 *   t      nanoseconds, as a string; so are durations and whatever a 53-bit mantissa would round
 *   qpn, addresses, keys, PSNs: "0x11"
 *   opc    "WRITE_FIRST", "ACK", "UD_SEND_ONLY" (vs_opcode_token); syn "ACK", "ACK:5" (credit code), "RNR:14"
 *          (timer code), "NAK_SEQ", "NAK_INV_REQ", "NAK_REM_ACCESS", "NAK_REM_OP", "NAK_INV_RD"
 *   status, op, from, to, type: names of vs/verbs.h; reason: an id of reasons.def
 *
 * What has no word is a number. Left out: cause, pkt, wr, qpn where there is none, "inferred" unless true, a
 * syndrome where there is no AETH, a reason that is none. Writing and reading again gives the same event. Bytes that
 * are no UTF-8 become U+FFFD, which is longer: a node or a text of the header then ends where its array would.
 */
#ifndef VS_VST_H
#define VS_VST_H

#include <stdio.h>

#include "vs/err.h"
#include "vs/event.h"

#define VS_VST_VERSION "0.1"
#define VS_VST_TEXT 64
#define VS_VST_LINE_MAX (1u << 20) /* longest line that is read */

struct vs_vst_header {
	char version[VS_VST_TEXT];                                 /* "": VS_VST_VERSION */
	char clock[VS_VST_TEXT];                                   /* "sim", "monotonic", "capture" */
	char vantage_name[VS_VST_TEXT], vantage_type[VS_VST_TEXT]; /* "", "": no vantage: all nodes */
	char build[VS_VST_TEXT];
	bool has_seed;
	uint64_t seed;
};

/* One line without its newline, and a terminator: its length, or VS_ERR_NOSPACE. */
int vs_vst_format_header(const struct vs_vst_header *h, char *buf, size_t cap);
int vs_vst_format(const struct vs_event *ev, char *buf, size_t cap);
/* The same with a newline into a file. VS_OK, VS_ERR_IO, VS_ERR_NOSPACE (a text beyond VS_VST_LINE_MAX). */
int vs_vst_put_header(const struct vs_vst_header *h, FILE *f);
int vs_vst_put(const struct vs_event *ev, FILE *f);

/* ---- reading ---- */

struct vs_vst_error {
	uint64_t line;   /* 1-based */
	unsigned column; /* 1-based; 0: the line as a whole */
	char text[256];  /* what is wrong */
};

struct vs_vst_reader;
/* Reads the header. NULL with *err: no .vst, another version, no memory. `f` stays the caller's. */
struct vs_vst_reader *vs_vst_open(FILE *f, struct vs_vst_error *err);
const struct vs_vst_header *vs_vst_header(const struct vs_vst_reader *r);
/*
 * 1: *ev is the next event, its texts live as long as the reader. 0: the end. VS_ERR_INVAL with *err: a line that
 * is no event; the next call goes on behind it. VS_ERR_IO: the file can't be read.
 *
 * An event with an unknown name has type VS_EV_NONE and its whole line as text in a[0]: vs_vst_format gives it
 * back. Unknown keys are passed over. A last line that a crash cut short is the end; vs_vst_cut tells.
 */
int vs_vst_next(struct vs_vst_reader *r, struct vs_event *ev, struct vs_vst_error *err);
bool vs_vst_cut(const struct vs_vst_reader *r);
void vs_vst_close(struct vs_vst_reader *r); /* NULL is fine */

/* ---- packed: what a busy process writes of itself, and becomes lines when it has ended, or is found dead ---- */

/*
 * The machine's own form, for the same build on the same machine: the header, then events, seq being their place. Each
 * takes a multiple of 8 bytes, the first of which hold its length: written last, they say that the rest is there.
 */
#define VS_PACKED_LEAD 8u
size_t vs_pack_header(const struct vs_vst_header *h, void *buf, size_t cap); /* its length, 0: no room */
size_t vs_pack(const struct vs_event *ev, void *buf, size_t cap);            /* the same */
bool vs_is_packed(const void *data, size_t n);
/* Every whole event, as lines, up to the first that is none. VS_OK, VS_ERR_INVAL: it is not packed, VS_ERR_IO. */
int vs_unpack(const void *data, size_t n, FILE *to);

/* ---- a log in memory: gives out seq, keeps events and their texts ---- */

struct vs_event_log {
	struct vs_event *ev; /* n of them, ev[i].seq == i + 1 */
	size_t n, cap;
	size_t limit;  /* most events that are kept; 0: no limit */
	uint64_t lost; /* events beyond the limit, or for which there was no memory: numbered, not kept */
	struct vs_texts *texts;
};
void vs_event_log_init(struct vs_event_log *log, size_t limit);
void vs_event_log_free(struct vs_event_log *log);
struct vs_event_sink vs_event_log_sink(struct vs_event_log *log, enum vs_event_level level);
/* The header and every event. As vs_vst_put. */
int vs_event_log_write(const struct vs_event_log *log, const struct vs_vst_header *h, FILE *f);

#endif
