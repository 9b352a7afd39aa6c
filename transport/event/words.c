/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* words.c - the words that stand for numbers in a trace, both ways. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "vs/opcode.h"
#include "vs/reason.h"
#include "vs/verbs.h"
#include "vs/wire.h"

static const char *const nak_words[] = {
	[VS_NAK_PSN_SEQ] = "NAK_SEQ",   [VS_NAK_INV_REQ] = "NAK_INV_REQ", [VS_NAK_REM_ACCESS] = "NAK_REM_ACCESS",
	[VS_NAK_REM_OP] = "NAK_REM_OP", [VS_NAK_INV_RD] = "NAK_INV_RD",
};
#define NAKS (sizeof(nak_words) / sizeof(nak_words[0]))

/* Top bit clear, type and code as AETH has them. */
static const char *syndrome_word(uint64_t v, char buf[32])
{
	unsigned code = (unsigned)(v & 0x1f);

	if (v > 0x7f)
		return NULL;
	switch (vs_aeth_type((uint8_t)v)) {
	case VS_AETH_ACK:
		if (code == 0x1f)
			return "ACK";
		snprintf(buf, 32, "ACK:%u", code);
		return buf;
	case VS_AETH_RNR:
		snprintf(buf, 32, "RNR:%u", code);
		return buf;
	case VS_AETH_NAK:
		return code < NAKS ? nak_words[code] : NULL;
	case VS_AETH_RESERVED:
		break;
	}
	return NULL;
}

static bool code_after(const char *word, const char *prefix, uint64_t type, uint64_t *v)
{
	size_t n = strlen(prefix);
	char *end;
	unsigned long code;

	if (strncmp(word, prefix, n) != 0 || word[n] < '0' || word[n] > '9')
		return false;
	code = strtoul(word + n, &end, 10);
	if (*end != '\0' || code > 0x1f)
		return false;
	*v = type << 5 | code;
	return true;
}

static bool syndrome_unword(const char *word, uint64_t *v)
{
	if (strcmp(word, "ACK") == 0) {
		*v = 0x1f;
		return true;
	}
	for (unsigned i = 0; i < NAKS; i++) {
		if (strcmp(word, nak_words[i]) == 0) {
			*v = 0x60 | i;
			return true;
		}
	}
	return code_after(word, "ACK:", VS_AETH_ACK, v) || code_after(word, "RNR:", VS_AETH_RNR, v);
}

/* The verbs' enums: "?" is the word for what has none. */
static const char *name_of(enum vs_arg_kind kind, unsigned v)
{
	switch (kind) {
	case VS_ARG_WR:
		return vs_wr_opcode_name((enum vs_wr_opcode)v);
	case VS_ARG_WCS:
		return vs_wc_status_name((enum vs_wc_status)v);
	case VS_ARG_WCO:
		return vs_wc_opcode_name((enum vs_wc_opcode)v);
	case VS_ARG_QPS:
		return vs_qp_state_name((enum vs_qp_state)v);
	case VS_ARG_ASY:
		return vs_async_name((enum vs_async_type)v);
	default:
		return "?";
	}
}

const char *vs_event_word(enum vs_arg_kind kind, uint64_t v, char buf[32])
{
	const char *name;

	switch (kind) {
	case VS_ARG_OPC:
		return v < 256 ? vs_opcode_token((uint8_t)v) : NULL;
	case VS_ARG_SYN:
		return syndrome_word(v, buf);
	case VS_ARG_RSN:
		return v < VS_REASON_COUNT ? vs_reason_info((enum vs_reason)v)->id : NULL;
	default:
		break;
	}
	name = v < 256 ? name_of(kind, (unsigned)v) : "?";
	return strcmp(name, "?") != 0 ? name : NULL;
}

bool vs_event_unword(enum vs_arg_kind kind, const char *word, uint64_t *v)
{
	int op;

	switch (kind) {
	case VS_ARG_OPC:
		op = vs_opcode_by_token(word, strlen(word));
		*v = (uint64_t)(unsigned)op;
		return op >= 0;
	case VS_ARG_SYN:
		return syndrome_unword(word, v);
	case VS_ARG_RSN:
		*v = (uint64_t)vs_reason_by_id(word);
		return *v != VS_REASON_NONE || strcmp(word, "none") == 0;
	default:
		break;
	}
	for (unsigned i = 0; i < 256; i++) {
		if (strcmp(name_of(kind, i), word) == 0 && strcmp(word, "?") != 0) {
			*v = i;
			return true;
		}
	}
	return false;
}
