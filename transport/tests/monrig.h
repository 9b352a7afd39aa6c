/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * monrig.h - a connection on paper for tests of the monitor: A (10.0.0.1, its requests go to QP 0x22 of B) and B
 * (10.0.0.2, its answers go to QP 0x11 of A). A call makes one packet and feeds it, 1 us after the one before. What is
 * not said is legal. make_*() leave the packet in rig.p to be changed; go() feeds it.
 */
#ifndef VS_TESTS_MONRIG_H
#define VS_TESTS_MONRIG_H

#include <stdlib.h>
#include <string.h>

#include "runner.h"
#include "vs/cm.h"
#include "vs/mad.h"
#include "vs/monitor.h"
#include "vs/psn.h"

#define MONRIG_QP_A 0x11u
#define MONRIG_QP_B 0x22u
#define MONRIG_FINDINGS 64

struct monrig {
	struct vs_monitor *m;
	struct vs_pkt p;
	struct vs_mon_result out; /* of the newest packet */
	uint8_t vantage;
	uint32_t frame, icrc;
	int64_t now_ns;
	enum vs_crc_status status;
	unsigned found[VS_RULE_COUNT];
	char text[256]; /* of the newest finding */
	struct {
		uint32_t frame, later;
		enum vs_mon_link kind;
	} link;            /* the newest */
	uint64_t answered; /* set of frames below 64 */
};

extern struct monrig rig;

void rig_begin(const struct vs_monitor_attr *attr); /* attr may be NULL: limits */
void rig_end(void);
/* Findings of level MUST since the beginning. */
unsigned rig_musts(void);

void go(void);

/* Requests of A. Payload of `len` bytes; RETH, where there is one, of VA 0x1000, R_Key 7, DMALen `len`. */
void make_request(uint8_t opcode, uint32_t psn, uint32_t len);
void request(uint8_t opcode, uint32_t psn, uint32_t len);
void write_first(uint32_t psn, uint32_t len, uint32_t dmalen);
void read_request(uint32_t psn, uint64_t va, uint32_t dmalen);
void atomic_request(uint32_t psn, uint64_t add);

/* Answers of B. */
void make_answer(uint8_t opcode, uint32_t psn, uint32_t len, uint8_t syndrome, uint32_t msn);
void answer(uint8_t opcode, uint32_t psn, uint32_t len, uint32_t msn);
void ack(uint32_t psn, uint32_t msn);
void nak(uint32_t psn, uint8_t code, uint32_t msn);
void rnr(uint32_t psn, uint8_t timer, uint32_t msn);
void atomic_answer(uint32_t psn, uint64_t value);

/* Time passes before the next packet. */
void wait_us(int64_t us);

/* A CM message on QP 1, from A or from B. */
void make_cm(bool from_a, const struct vs_cm_msg *m);
/* REQ of A and REP of B: MTU 256, ACK timeout 14, retry 2, RNR retry 1, depth 1; A begins at psn_a, B at psn_b. */
void connected(uint32_t psn_a, uint32_t psn_b);

#endif
