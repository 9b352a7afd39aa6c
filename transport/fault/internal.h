/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * internal.h - what parser, formatter and judge share: the words of the notation.
 *
 * vs_fault_rule.what is a class (enum vs_fault_class) or, with VS_WHAT_OPCODE, an opcode: bits 7..0; with
 * VS_WHAT_ANY_TRANSPORT its low five bits count and the transport does not.
 */
#ifndef VS_FAULT_INTERNAL_H
#define VS_FAULT_INTERNAL_H

#include "vs/fault.h"

enum vs_fault_class {
	VS_WHAT_ANY = 0,
	VS_WHAT_DATA,
	VS_WHAT_REQUEST,
	VS_WHAT_RESPONSE,
	VS_WHAT_ACK,
	VS_WHAT_NAK,
	VS_WHAT_RNR,
	VS_WHAT_SEND,
	VS_WHAT_WRITE,
	VS_WHAT_READ,
	VS_WHAT_ATOMIC,
	VS_WHAT_CNP,
	VS_WHAT_CM,
	VS_WHAT_UD,
	VS_WHAT_CLASSES
};
#define VS_WHAT_OPCODE 0x10000u
#define VS_WHAT_ANY_TRANSPORT 0x20000u

#define VS_CORRUPT_ANY (-1)
#define VS_CORRUPT_ICRC (-2)
#define VS_CORRUPT_BITS ((4096 + 256) * 8) /* bit=N: below this */

extern const char *const vs_fault_action_word[VS_FAULT_HOLD + 1];
extern const char *const vs_fault_class_word[VS_WHAT_CLASSES];

/* "data", "SEND_ONLY", "UD_SEND_ONLY" -> what; false: no such word. */
bool vs_fault_what_parse(const char *word, size_t len, uint32_t *what);
/* The word; static, or in the 40 bytes at buf. */
const char *vs_fault_what_word(uint32_t what);
bool vs_fault_what_matches(uint32_t what, const struct vs_pkt *p);
/* The rule without a name, at most cap - 1 bytes of it and a terminator; how long it is in full. */
size_t vs_fault_text(const struct vs_fault_rule *r, char *buf, size_t cap);

#endif
