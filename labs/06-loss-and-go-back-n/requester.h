/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * requester.h - the sending side of a reliable connection when packets get lost. Its work is one message, whose packets
 * have the PSNs from `una` (at first) up to, but without, `end`. Every packet asks for an acknowledgement.
 */
#ifndef REQUESTER_H
#define REQUESTER_H

#include <stdbool.h>
#include <stdint.h>

enum status { RUNNING = -1, SUCCESS = 0, RETRY_EXC_ERR = 12 };

struct requester {
	uint32_t una;       /* the oldest PSN that nobody has acknowledged */
	uint32_t next;      /* the PSN that goes out next */
	uint32_t sent;      /* one behind the farthest PSN that ever went out: una .. sent - 1 are outstanding */
	uint32_t end;       /* one behind the last PSN of the message */
	unsigned retry_cnt; /* how often it may go back without any progress in between */
	unsigned left;      /* how often it still may */
	enum status status;
};

/* From lab 05: how far a is ahead of b. And the circle itself. */
static inline int32_t psn_diff(uint32_t a, uint32_t b)
{
	return (int32_t)((a - b) << 8) >> 8;
}
static inline uint32_t psn_next(uint32_t psn)
{
	return (psn + 1) & 0xffffff;
}

/* False: there is nothing to send. Else the PSN of the packet that goes out now. Given. */
bool transmit(struct requester *r, uint32_t *psn);

/*
 * An ACK with this PSN has come, a NAK (PSN sequence error) with this PSN, or nothing for too long.
 *
 *   - What is not about an outstanding PSN changes nothing, and neither does anything once status is not RUNNING.
 *   - An ACK acknowledges up to its PSN, and that one. A NAK says which PSN the other side is waiting for: everything
 *     before it is acknowledged.
 *   - Progress (una has moved) makes `left` what `retry_cnt` is. When una reaches end, status is SUCCESS.
 *   - Nothing that is acknowledged goes out again: next is never behind una.
 *   - Going back: if nothing is left, status is RETRY_EXC_ERR. Else one less is left, and next is the PSN that the NAK
 *     names; after a time-out, una.
 *   - A time-out while nothing is outstanding changes nothing.
 */
void on_ack(struct requester *r, uint32_t psn);
void on_nak(struct requester *r, uint32_t psn);
void on_timeout(struct requester *r);

#endif
