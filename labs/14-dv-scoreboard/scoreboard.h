/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * scoreboard.h - what a scoreboard sees: two devices, 0 and 1, with two connections between them, and everything that
 * happens to them in one order of time. A *requester* is one end of one connection: who = 2 * connection + device. Its
 * requests are executed by the other end, who ^ 1. Each of the four has memory of its own, so what one of them does
 * changes nothing for another:
 *
 *   SLOTS      at the other device: WRITE number i goes to slot i, 64 bytes after the one before at least, once
 *   COUNTERS   at the other device: 8 counters of 8 bytes, for atomics
 *   CONSTANTS  at the other device: what READs read; nobody changes it
 *   RECEIVES   at the other device: what SENDs are received into
 *   RESULTS    here: what READs and atomics bring back
 *
 * What you may assume, and no more: per connection and direction, requests are executed and complete in order, each
 * executed once. Nothing is said of the order across connections. The bytes of one WRITE may land in any order before
 * it completes, so those of one that failed may be there in part. Packets are lost, copied, delayed and overtaken on
 * the wire; TX is what a device has sent, RX what has reached the other one.
 */
#ifndef SCOREBOARD_H
#define SCOREBOARD_H

#include <stdbool.h>
#include <stdint.h>

enum what {
	QP = 1, /* a connection is up, seen from `who`: psn, mtu, retry_cnt */
	MEMORY, /* before anything happens: `bytes` are the len bytes of `region` of who; size: how many are registered
		 */
	POST_SEND, /* who asks its device: wr_id, op, len, to, rkey, signaled; `bytes`: the data, or the two operands */
	POST_RECV, /* who is ready to receive: wr_id, len */
	TX,        /* device of `who` has sent a packet: request or answer */
	RX,        /* a packet has reached the device of `who` */
	CQE,       /* who has polled a completion: wr_id, status, op, len */
	FINAL,     /* the end: `bytes` of a region, as MEMORY */
};

enum op { SEND, WRITE, READ, FETCH_ADD, CMP_SWAP, RECV };
enum status {
	SUCCESS = 0,
	LOC_LEN_ERR = 1,
	WR_FLUSH_ERR = 5,
	REM_INV_REQ_ERR = 9,
	REM_ACCESS_ERR = 10,
	RETRY_EXC_ERR = 12,
	RNR_RETRY_EXC_ERR = 13
};
enum region { SLOTS, COUNTERS, CONSTANTS, RECEIVES, RESULTS, REGIONS };

/* BTH opcodes */
enum {
	SEND_FIRST = 0x00,
	SEND_MIDDLE,
	SEND_LAST,
	SEND_ONLY = 0x04,
	WRITE_FIRST = 0x06,
	WRITE_MIDDLE,
	WRITE_LAST,
	WRITE_ONLY = 0x0a,
	READ_REQUEST = 0x0c,
	READ_RESPONSE_FIRST,
	READ_RESPONSE_MIDDLE,
	READ_RESPONSE_LAST,
	READ_RESPONSE_ONLY,
	ACKNOWLEDGE,
	ATOMIC_ACKNOWLEDGE,
	CMP_SWAP_REQUEST,
	FETCH_ADD_REQUEST
};

struct event {
	uint64_t t; /* ns */
	uint32_t what, who;
	uint64_t wr_id;  /* POST_*, CQE */
	uint32_t op;     /* enum op */
	uint32_t status; /* CQE */
	uint32_t len;    /* bytes: of the request, the payload, the completion, the region */
	uint32_t signaled;
	uint64_t to;      /* POST_SEND: offset into the region there. READ, atomics: also `result` */
	uint64_t result;  /* POST_SEND: offset into RESULTS */
	uint32_t bad_key; /* POST_SEND: the rkey is not that of the region */
	uint32_t region, size;
	/* packets */
	uint32_t opcode, psn, ackreq;
	uint32_t syndrome, msn; /* of ACKs and answers: 0x00..0x1f ACK, 0x20..0x3f RNR with its timer code, 0x60 NAK */
	uint64_t orig;          /* ATOMIC_ACKNOWLEDGE */
	/* QP */
	uint32_t mtu, retry_cnt;
	uint32_t n; /* bytes that follow */
	uint32_t pad;
	const uint8_t *bytes;
};

static inline bool is_answer(const struct event *e)
{
	return e->opcode >= READ_RESPONSE_FIRST && e->opcode <= ATOMIC_ACKNOWLEDGE;
}

/* How long a requester waits at least after an RNR NAK with this code, in ns. */
static inline uint64_t rnr_wait(uint32_t code)
{
	static const uint16_t units[32] = {0,    1,    2,    3,    4,    6,     8,     12,    16,    24,   32,
					   48,   64,   96,   128,  192,  256,   384,   512,   768,   1024, 1536,
					   2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};

	return (code == 0 ? 65536 : units[code & 31]) * UINT64_C(10000);
}

/* ---- what lab.c has ---- */

/* A run begins; the events come, whose bytes stay where they are until the run is over; it ends. */
void begin(void);
void event(const struct event *e);
void end(void);
/* Something is not as it has to be; check.c notes the first. */
void wrong(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
