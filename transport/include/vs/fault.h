/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * fault.h - named, counted matches and actions: "drop the 3rd data packet from A".
 *
 * One notation for the simulator, drill scripts, vs-run and the tracer. A rule is one line:
 *
 *   [NAME ':'] ACTION [COUNT] [WHAT] [WHERE]...
 *
 *   NAME     1 to 47 bytes without blanks and ':'. A rule without one is called by its own text.
 *   ACTION   drop | dup [xN] | delay TIME | reorder [N] | corrupt [bit=N | icrc] | mark | hold TIME
 *            dup xN: N copies more (default 1); reorder N: the packet is passed by the next N (default 1) on its
 *            path; corrupt: one bit, bit=N counted from the first byte of the BTH, icrc one of the ICRC, default any;
 *            mark: congestion experienced; hold: like delay, and everything behind it on the same path waits too
 *   COUNT    Nth | N..M | first N | every N | P% | all      (1-based, counted per rule among the packets that
 *            fit WHAT and WHERE; default: all; "3rd" "2nd" "1st" are Nth; P% has at most four decimals and draws
 *            from the seed of the set)
 *   WHAT     any | data | request | response | ack | nak | rnr | send | write | read | atomic | cnp | cm | ud |
 *            an opcode: SEND_ONLY, WRITE_FIRST, READ_REQUEST, ACK ... of any transport, UD SEND_ONLY or
 *            UD_SEND_ONLY of one (vs_opcode_token)
 *            data: SEND, WRITE, READ response; ack: a positive Acknowledge packet; nak, rnr: any packet with such a
 *            syndrome; send, write, read, atomic: requests of that kind; cm: datagrams to QP 1, which are none of
 *            data, request, send and ud
 *   WHERE    from NODE | to NODE | qp=N (destination QP) | psn=N | psn=N..M | iter=N (the N-th time that
 *            this source, destination QP and PSN pass, requests and responses apart: 1 is the first transmission,
 *            2 the first repeat)
 *
 *   TIME     number with ns, us, ms or s ("1.5ms"); "by" may stand before it.   Numbers: decimal or 0x hex.
 *   After the action the words may stand in any order, each kind once.
 *
 * Examples: "drop 3rd data from A", "loss: drop 2% any", "dup 1st READ_REQUEST", "corrupt 5th bit=77",
 * "delay all ack by 3ms", "mark every 10 data to B", "drop all psn=0x102 iter=1".
 */
#ifndef VS_FAULT_H
#define VS_FAULT_H

#include <stddef.h>
#include <stdint.h>

#include "vs/err.h"
#include "vs/wire.h"

enum vs_fault_action {
	VS_FAULT_DROP,
	VS_FAULT_DUP,
	VS_FAULT_DELAY,
	VS_FAULT_REORDER,
	VS_FAULT_CORRUPT,
	VS_FAULT_MARK,
	VS_FAULT_HOLD
};
enum vs_fault_count { VS_COUNT_ALL, VS_COUNT_RANGE, VS_COUNT_EVERY, VS_COUNT_PERCENT };

#define VS_FAULT_NAME 48
#define VS_FAULT_NODE 16

struct vs_fault_rule {
	char name[VS_FAULT_NAME]; /* given, or the rule's own text */
	enum vs_fault_action action;
	uint32_t times;      /* DUP: extra copies; REORDER: packets that pass */
	uint64_t time_ns;    /* DELAY, HOLD */
	int32_t corrupt_bit; /* CORRUPT: bit number from the BTH on; -1: a seeded choice; -2: in the ICRC */
	enum vs_fault_count count;
	uint64_t first, last;                        /* RANGE, EVERY: first = n */
	uint32_t per_million;                        /* PERCENT */
	uint32_t what;                               /* class or opcode, as parse gives it */
	char from[VS_FAULT_NODE], to[VS_FAULT_NODE]; /* "": anyone */
	uint32_t qpn;                                /* with has_qpn */
	bool has_qpn, has_psn;
	uint32_t psn_first, psn_last, iter; /* iter 0: any */
	uint64_t seen;                      /* matches so far */
	uint64_t hits;                      /* times acted */
};

struct vs_fault_error {
	unsigned column; /* 1-based */
	char text[160];  /* what is wrong, what was expected */
};

/* 0 and *rule, or VS_ERR_INVAL and *err (which may be NULL). `text` needs no terminator beyond len. */
int vs_fault_parse(const char *text, size_t len, struct vs_fault_rule *rule, struct vs_fault_error *err);
/*
 * Writes the rule in the notation, in one normal form, and a terminator; parse gives the same rule with its counters
 * at zero. Bytes, or VS_ERR_NOSPACE.
 */
int vs_fault_format(const struct vs_fault_rule *rule, char *buf, size_t cap);

#define VS_FAULT_MAX_RULES 64
#define VS_FAULT_HISTORY 4096 /* (source, QP, PSN) counts kept for iter= */

struct vs_fault_set;            /* rules with their counters, the seed's generator, the history */
size_t vs_fault_set_size(void); /* bytes to give to init: nothing is allocated here */
struct vs_fault_set *vs_fault_set_init(void *mem, uint64_t seed);
int vs_fault_set_add(struct vs_fault_set *s, const struct vs_fault_rule *rule);         /* index, or VS_ERR_NOSPACE */
const struct vs_fault_rule *vs_fault_set_rule(const struct vs_fault_set *s, int index); /* NULL past the end */
void vs_fault_set_clear(struct vs_fault_set *s);

/* What is to be done with one packet: the sum of all rules that hit it. */
struct vs_fault_verdict {
	bool drop, mark;
	uint32_t copies; /* extra ones */
	uint64_t delay_ns, hold_ns;
	uint32_t reorder; /* packets that pass it */
	bool corrupt;
	uint32_t corrupt_bit; /* bit number from the first byte of the BTH */
	int rule[4];          /* indices of the rules that hit, -1 padded, in the order they were added */
};
/* Judges a packet on its way from `from` to `to` ("" unknown) and counts it. `len`: bytes BTH .. ICRC. */
void vs_fault_judge(struct vs_fault_set *s, const struct vs_pkt *p, size_t len, const char *from, const char *to,
		    struct vs_fault_verdict *v);

#endif
