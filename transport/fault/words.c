/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * words.c - the words of the notation: actions, classes of packets, opcodes; and which packets a class has.
 */
#include <string.h>

#include "internal.h"

const char *const vs_fault_action_word[VS_FAULT_HOLD + 1] = {
	[VS_FAULT_DROP] = "drop",       [VS_FAULT_DUP] = "dup",         [VS_FAULT_DELAY] = "delay",
	[VS_FAULT_REORDER] = "reorder", [VS_FAULT_CORRUPT] = "corrupt", [VS_FAULT_MARK] = "mark",
	[VS_FAULT_HOLD] = "hold",
};

const char *const vs_fault_class_word[VS_WHAT_CLASSES] = {
	[VS_WHAT_ANY] = "any",         [VS_WHAT_DATA] = "data",
	[VS_WHAT_REQUEST] = "request", [VS_WHAT_RESPONSE] = "response",
	[VS_WHAT_ACK] = "ack",         [VS_WHAT_NAK] = "nak",
	[VS_WHAT_RNR] = "rnr",         [VS_WHAT_SEND] = "send",
	[VS_WHAT_WRITE] = "write",     [VS_WHAT_READ] = "read",
	[VS_WHAT_ATOMIC] = "atomic",   [VS_WHAT_CNP] = "cnp",
	[VS_WHAT_CM] = "cm",           [VS_WHAT_UD] = "ud",
};

static bool same(const char *word, size_t len, const char *name)
{
	return strlen(name) == len && memcmp(word, name, len) == 0;
}

/* A word without transport means that operation in any transport that has it. */
static bool names_transport(const char *token)
{
	return strncmp(token, "UC_", 3) == 0 || strncmp(token, "UD_", 3) == 0 || strncmp(token, "RD_", 3) == 0 ||
	       strncmp(token, "XRC_", 4) == 0 || strncmp(token, "CNP", 3) == 0;
}

bool vs_fault_what_parse(const char *word, size_t len, uint32_t *what)
{
	int op;

	for (unsigned i = 0; i < VS_WHAT_CLASSES; i++) {
		if (same(word, len, vs_fault_class_word[i])) {
			*what = i;
			return true;
		}
	}
	op = vs_opcode_by_token(word, len);
	if (op >= 0) {
		*what = VS_WHAT_OPCODE | (uint32_t)op;
		if (!names_transport(vs_opcode_token((uint8_t)op)))
			*what |= VS_WHAT_ANY_TRANSPORT;
		return true;
	}
	/* RC_SEND_ONLY: of RC alone. */
	if (len > 3 && memcmp(word, "RC_", 3) == 0) {
		op = vs_opcode_by_token(word + 3, len - 3);
		if (op >= 0 && op >> 5 == VS_TRANSPORT_RC) {
			*what = VS_WHAT_OPCODE | (uint32_t)op;
			return true;
		}
	}
	return false;
}

const char *vs_fault_what_word(uint32_t what)
{
	/* RC rows alone, with their transport. */
#define VS_OPCODE(code, ID, name, transport, hdrs, payload, response, flags) [code] = #ID,
	static const char *const ids[256] = {
#include "opcodes.def"
	};
	uint8_t op = (uint8_t)what;

	if (!(what & VS_WHAT_OPCODE))
		return what < VS_WHAT_CLASSES ? vs_fault_class_word[what] : "?";
	if (what & VS_WHAT_ANY_TRANSPORT || op >> 5 != VS_TRANSPORT_RC)
		return vs_opcode_token(op) != NULL ? vs_opcode_token(op) : "?";
	if (op == VS_OP_RC_ACKNOWLEDGE)
		return "RC_ACK";
	if (op == VS_OP_RC_ATOMIC_ACKNOWLEDGE)
		return "RC_ATOMIC_ACK";
	return ids[op] != NULL ? ids[op] : "?";
}

static bool is_opcode(uint32_t what, uint8_t op)
{
	if (what & VS_WHAT_ANY_TRANSPORT)
		return ((what ^ op) & 0x1f) == 0 && op >> 5 != VS_TRANSPORT_CNP && vs_opcodes[op].name != NULL;
	return (uint8_t)what == op;
}

static bool has_syndrome(const struct vs_pkt *p, enum vs_aeth_type t)
{
	return (p->hdrs & VS_HDR_AETH) != 0 && vs_aeth_type(p->ext.aeth.syndrome) == t;
}

bool vs_fault_what_matches(uint32_t what, const struct vs_pkt *p)
{
	uint8_t op = p->bth.opcode;
	unsigned flags = vs_opcodes[op].flags;
	bool datagram = op >> 5 == VS_TRANSPORT_UD, cm = datagram && p->bth.destqp == VS_QPN_GSI;
	bool request = (flags & VS_OPF_Q) != 0 && !cm;

	if (!(p->flags & VS_PKT_HAS_BTH))
		return what == VS_WHAT_ANY;
	if (what & VS_WHAT_OPCODE)
		return is_opcode(what, op);
	switch ((enum vs_fault_class)what) {
	case VS_WHAT_ANY:
		return true;
	case VS_WHAT_DATA:
		return (request && (flags & (VS_OPF_S | VS_OPF_W)) != 0) ||
		       (flags & (VS_OPF_R | VS_OPF_D)) == (VS_OPF_R | VS_OPF_D);
	case VS_WHAT_REQUEST:
		return request;
	case VS_WHAT_RESPONSE:
		return (flags & VS_OPF_R) != 0;
	case VS_WHAT_ACK:
		return vs_opcodes[op].hdrs != 0 && (op & 0x1f) == VS_OP_RC_ACKNOWLEDGE && has_syndrome(p, VS_AETH_ACK);
	case VS_WHAT_NAK:
		return has_syndrome(p, VS_AETH_NAK);
	case VS_WHAT_RNR:
		return has_syndrome(p, VS_AETH_RNR);
	case VS_WHAT_SEND:
		return request && (flags & VS_OPF_S) != 0;
	case VS_WHAT_WRITE:
		return request && (flags & VS_OPF_W) != 0;
	case VS_WHAT_READ:
		return request && (flags & VS_OPF_D) != 0;
	case VS_WHAT_ATOMIC:
		return request && (flags & VS_OPF_A) != 0;
	case VS_WHAT_CNP:
		return op >> 5 == VS_TRANSPORT_CNP;
	case VS_WHAT_CM:
		return cm;
	case VS_WHAT_UD:
		return datagram && !cm;
	case VS_WHAT_CLASSES:
		break;
	}
	return false;
}
