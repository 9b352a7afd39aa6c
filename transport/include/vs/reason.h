/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * reason.h - why: every broken rule, refusal and drop has an id, one sentence and, where one is
 * publicly quoted, the clause. The list is reasons.def; JSON, expert items in Wireshark and the
 * reference pages are made from it.
 */
#ifndef VS_REASON_H
#define VS_REASON_H

#include <stdbool.h>
#include <stddef.h>

enum vs_severity {
	VS_SEV_NOTE,  /* legal, and worth knowing (ECN CE mark, limited P_Key) */
	VS_SEV_WARN,  /* should not be; receivers are told to ignore it */
	VS_SEV_ERROR, /* a packet that no conforming device sends */
};

enum vs_crc_status { VS_CRC_GOOD = 1, VS_CRC_BAD = 0, VS_CRC_UNVERIFIED = 2 };

#define VS_REASON(ID, id, severity, clause, sentence) VS_REASON_##ID,
enum vs_reason {
	VS_REASON_NONE = 0,
#include "reasons.def"
	VS_REASON_COUNT
};

/* The reasons that vs_pkt_validate gives are VS_REASON_NONE + 1 .. VS_REASON_WIRE_LAST. */
#define VS_REASON_WIRE_LAST VS_REASON_MAD_BASE_VERSION

struct vs_reason_info {
	const char *id;       /* "bth_opcode_reserved": lower case, stable, used in JSON and filters */
	const char *clause;   /* "C9-92", or "" where no clause is publicly quoted */
	const char *sentence; /* one sentence, no full stop at the end */
	enum vs_severity severity;
};

/* Information about `r`; never NULL ("none" for VS_REASON_NONE and for values outside the enum). */
const struct vs_reason_info *vs_reason_info(enum vs_reason r);

/* The reason with this id; VS_REASON_NONE when there is none. */
enum vs_reason vs_reason_by_id(const char *id);

#endif
