/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* captures_txt.c - see captures_txt.h. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "captures_txt.h"
#include "vs/mad.h"

#define LINE_MAX_LEN 512

struct txt {
	FILE *f;
	char path[512];
	unsigned number; /* of the line read last */
	unsigned compared;
	int64_t first_ns;      /* time of the first packet */
	uint8_t sender[2][16]; /* the address of A and B, as the first line of each direction has it */
	bool known[2];
};

struct line {
	char text[LINE_MAX_LEN];
	size_t len;
};

__attribute__((format(printf, 2, 3))) static void add(struct line *l, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(l->text + l->len, sizeof(l->text) - l->len, fmt, ap);
	va_end(ap);
	l->len += (size_t)n < sizeof(l->text) - l->len ? (size_t)n : sizeof(l->text) - l->len - 1;
}

/* ---- our line ---- */

static void add_opcode(struct line *l, uint8_t opcode)
{
	static const char *const transports[8] = {"RC", "UC", "RD", "UD"};
	static const char *const names[32] = {
		"SEND_FIRST",     "SEND_MIDDLE",
		"SEND_LAST",      "SEND_LAST_IMM",
		"SEND_ONLY",      "SEND_ONLY_IMM",
		"WRITE_FIRST",    "WRITE_MIDDLE",
		"WRITE_LAST",     "WRITE_LAST_IMM",
		"WRITE_ONLY",     "WRITE_ONLY_IMM",
		"READ_REQ",       "RD_RESP_FIRST",
		"RD_RESP_MIDDLE", "RD_RESP_LAST",
		"RD_RESP_ONLY",   "ACK",
		"ATOMIC_ACK",     "CMP_SWAP",
		"FETCH_ADD",      NULL,
		"SEND_LAST_INV",  "SEND_ONLY_INV",
		[0x1c] = "FLUSH", [0x1d] = "ATOMIC_WRITE",
	};
	const char *transport = transports[opcode >> 5], *name = names[opcode & 0x1f];

	add(l, " %s_%s", transport ? transport : "?", name ? name : "?");
}

static void add_aeth(struct line *l, uint8_t syndrome, uint32_t msn)
{
	static const char *const naks[] = {"PSN_SEQ", "INV_REQ", "REM_ACCESS", "REM_OP", "INV_RD"};
	unsigned code = syndrome & 0x1f;

	switch (vs_aeth_type(syndrome)) {
	case VS_AETH_ACK:
		add(l, " ACK credits=%u", code);
		break;
	case VS_AETH_RNR:
		add(l, " RNR_NAK timer=%u(%gms)", code, (double)vs_rnr_timer_ns((uint8_t)code) / 1e6);
		break;
	case VS_AETH_NAK:
		add(l, " NAK_%s", code < sizeof(naks) / sizeof(naks[0]) ? naks[code] : "?");
		break;
	case VS_AETH_RESERVED:
		add(l, " ?");
		break;
	}
	add(l, " msn=%u", msn);
}

/* " MAD CM REQ" for a packet to QP 1 that holds a message of the connection manager. */
static void add_cm(struct line *l, const struct vs_pkt *p)
{
	static const char *const names[] = {"REQ",  "MRA",      "REJ",      "REP", "RTU", "DREQ",
					    "DREP", "SIDR_REQ", "SIDR_REP", "LAP", "APR"};
	struct vs_mad m;

	if (p->bth.destqp != VS_QPN_GSI || vs_mad_parse(&m, p->payload, p->payload_len) != 0)
		return;
	if (m.mgmt_class == VS_MAD_CLASS_CM && m.attribute_id >= 0x10 && m.attribute_id <= 0x1a)
		add(l, " MAD CM %s", names[m.attribute_id - 0x10]);
}

static void add_exts(struct line *l, const struct vs_pkt *p)
{
	const struct vs_ext *x = &p->ext;

	if (p->hdrs & VS_HDR_DETH)
		add(l, " deth qkey=%08x sqpn=%x", x->deth.qkey, x->deth.srcqp);
	if (p->hdrs & VS_HDR_FETH)
		add(l, " plt=%u sel=%u", x->feth.plt, x->feth.sel);
	if (p->hdrs & VS_HDR_RETH)
		add(l, " va=%" PRIx64 " rkey=%x dmalen=%u", x->reth.va, x->reth.rkey, x->reth.dmalen);
	if (p->hdrs & VS_HDR_AETH)
		add_aeth(l, x->aeth.syndrome, x->aeth.msn);
	if (p->hdrs & VS_HDR_ATOMICETH)
		add(l, " va=%" PRIx64 " rkey=%x swap_add=%" PRIx64 " cmp=%" PRIx64, x->atomiceth.va, x->atomiceth.rkey,
		    x->atomiceth.swapadd, x->atomiceth.compare);
	if (p->hdrs & VS_HDR_ATOMICACKETH)
		add(l, " orig=%" PRIx64, x->atomicack_origdata);
	if (p->hdrs & VS_HDR_IMMDT)
		add(l, " imm=%08x", x->immdt);
	if (p->hdrs & VS_HDR_IETH)
		add(l, " ieth=%08x", x->ieth_rkey);
	add_cm(l, p);
}

/* Payload as it was on the wire, without pad: also when the capture cut it. */
static uint32_t wire_payload_len(const struct vs_pkt *p)
{
	uint32_t there = p->payload_len + p->pad_len + p->missing_len;

	return p->flags & VS_PKT_SNAPPED ? there - p->bth.padcnt - 4 : p->payload_len;
}

static void ours(struct line *l, const struct txt *t, int direction, const struct vs_frame *f, const struct vs_pkt *p,
		 enum vs_crc_status icrc)
{
	l->len = 0;
	add(l, "%.3f ms %s", (double)(f->time_ns - t->first_ns) / 1e6, direction == 0 ? "A>B" : "B>A");
	add_opcode(l, p->bth.opcode);
	add(l, " psn=%06x qp=%06x", p->bth.psn, p->bth.destqp);
	if (p->bth.ackreq)
		add(l, " A");
	if (p->bth.se)
		add(l, " SE");
	if (p->bth.padcnt)
		add(l, " pad=%u", p->bth.padcnt);
	add_exts(l, p);
	add(l, " plen=%u", wire_payload_len(p));
	if (icrc == VS_CRC_BAD)
		add(l, " ICRC-BAD");
}

/* ---- the line in the file ---- */

/* The next line, blanks at both ends taken off and runs of them made one; false at the end. */
static bool next_line(struct txt *t, struct line *l)
{
	char raw[LINE_MAX_LEN];

	if (!fgets(raw, sizeof(raw), t->f))
		return false;
	t->number++;
	l->len = 0;
	l->text[0] = '\0';
	for (char *word = strtok(raw, " \t\r\n"); word; word = strtok(NULL, " \t\r\n"))
		add(l, "%s%s", l->len ? " " : "", word);
	return true;
}

struct txt *txt_open(const char *pcap_path)
{
	struct txt *t = calloc(1, sizeof(*t));
	const char *dot = strrchr(pcap_path, '.');
	struct line l;

	if (!t)
		abort();
	snprintf(t->path, sizeof(t->path), "%.*s.txt", dot ? (int)(dot - pcap_path) : (int)strlen(pcap_path),
		 pcap_path);
	t->f = fopen(t->path, "r");
	while (t->f && next_line(t, &l))
		if (strncmp(l.text, "# --- packets on the wire", 25) == 0)
			return t;
	if (t->f) {
		printf("%s: has no packets: not compared\n", t->path);
		fclose(t->f);
	}
	free(t);
	return NULL;
}

/* 0 for A>B, 1 for B>A, -1 for a line that is none of ours. */
static int line_direction(const char *text)
{
	const char *p = strstr(text, " ms ");

	if (p && strncmp(p, " ms A>B ", 8) == 0)
		return 0;
	if (p && strncmp(p, " ms B>A ", 8) == 0)
		return 1;
	return -1;
}

/* The sender's address belongs to one direction: the one of the first line that it sent. */
static bool right_sender(struct txt *t, int direction, const struct vs_pkt *p)
{
	uint8_t sender[16] = {0};

	if (p->encap == VS_ENCAP_ROCEV2_IPV4)
		memcpy(sender, p->ipv4.src, 4);
	else
		memcpy(sender, p->grh.sgid, 16);
	if (!t->known[direction]) {
		t->known[direction] = true;
		memcpy(t->sender[direction], sender, 16);
	}
	return memcmp(t->sender[direction], sender, 16) == 0 &&
	       !(t->known[!direction] && memcmp(t->sender[!direction], sender, 16) == 0);
}

bool txt_compare(struct txt *t, const struct vs_frame *f, const struct vs_pkt *p, enum vs_crc_status icrc)
{
	struct line theirs, mine;
	int direction;

	if (!next_line(t, &theirs)) {
		printf("%s: no line for frame %" PRIu64 "\n", t->path, f->number);
		return false;
	}
	direction = line_direction(theirs.text);
	if (direction < 0) {
		printf("%s:%u: this line can't be compared, it does not describe a packet: %s\n", t->path, t->number,
		       theirs.text);
		return false;
	}
	if (t->compared == 0)
		t->first_ns = f->time_ns;
	t->compared++;
	if (!right_sender(t, direction, p)) {
		printf("%s:%u: frame %" PRIu64 " goes the other way\n", t->path, t->number, f->number);
		return false;
	}
	ours(&mine, t, direction, f, p, icrc);
	if (strcmp(theirs.text, mine.text) == 0)
		return true;
	printf("%s:%u: frame %" PRIu64 " differs\n  beside: %s\n  parsed: %s\n", t->path, t->number, f->number,
	       theirs.text, mine.text);
	return false;
}

bool txt_close(struct txt *t)
{
	struct line l;
	bool ok = true;

	if (!t)
		return true;
	if (next_line(t, &l)) {
		printf("%s:%u: this line has no packet: %s\n", t->path, t->number, l.text);
		ok = false;
	}
	fclose(t->f);
	free(t);
	return ok;
}

unsigned txt_compared(const struct txt *t)
{
	return t ? t->compared : 0;
}
