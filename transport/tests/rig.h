/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * rig.h - a device on the test bench: one engine (the DUT), and the test plays its peer packet by packet.
 *
 * The peer is 10.0.0.2 (or fd00::2), QPN RIG_PEER_QPN; its first request has PSN RIG_PEER_PSN, the
 * DUT's first request RIG_DUT_PSN, both near the 24-bit wrap. Time is the rig's and moves only by
 * rig_advance. Memory: `rig.mem` is one registered region of the DUT with all rights; the peer's memory is
 * imaginary.
 *
 * Every rig counts allocations; rig_free fails the test when something leaked. An allocation inside one of
 * the four calls fails the test at once.
 */
#ifndef VS_TESTS_RIG_H
#define VS_TESTS_RIG_H

#include "vs/conn.h"
#include "vs/icrc.h"
#include "vs/psn.h"
#include "vs/qp.h"

#include "runner.h"

#define RIG_PEER_QPN 0x012345u
#define RIG_PEER_PSN 0xfffffdu
#define RIG_DUT_PSN 0xfffffeu
#define RIG_PEER_RKEY 0x77665500u
#define RIG_PEER_VA 0x100000000ull
#define RIG_MEM 65536u
#define RIG_LOG 65536u
#define RIG_OUT 4096u

struct rig_opt {
	enum vs_qp_type type;   /* 0: RC */
	enum vs_mtu mtu;        /* 0: 1024 */
	uint8_t timeout;        /* code; 0: 14 (67 ms); RIG_NO_TIMEOUT: never */
	uint8_t retry_cnt;      /* RIG_ZERO: 0; 0: 7 */
	uint8_t rnr_retry;      /* RIG_ZERO: 0; 0: 7 */
	uint8_t min_rnr_timer;  /* RIG_ZERO: 0; 0: 12 (0.64 ms) */
	uint8_t max_rd_atomic;  /* both directions; RIG_ZERO: 0; 0: 4 */
	uint32_t access;        /* of the QP; 0: all */
	enum vs_qp_state state; /* stop here; 0 (RESET): go on to RTS */
	bool stay_in_reset;
	bool ipv6, rocev1, ib, ib_grh;
	bool use_srq, sq_sig_all;
	uint64_t deviations; /* 1 << VS_DEVIATION_... */
	struct vs_dev_attr
		dev; /* fields that are not 0 here override the rig's: limits, cc, ack_every, e2e_credits ... */
};
#define RIG_ZERO 0xff
#define RIG_NO_TIMEOUT 0xff

struct rig {
	struct vs_dev *dev;
	struct vs_pd *pd;
	struct vs_cq *scq, *rcq;
	struct vs_srq *srq;
	struct vs_qp *qp;
	struct vs_mr *mr;
	uint8_t *mem; /* RIG_MEM bytes, registered as `mr`; filled with 0xee */
	uint64_t now;
	uint64_t allocs, bytes;
	bool inside; /* one of the four calls is running */
	struct rig_opt opt;
	struct vs_event *log; /* everything the DUT said, RIG_LOG entries, oldest lost never: the test fails */
	uint32_t log_len;
	uint8_t frame[VS_FRAME_MAX]; /* of the packet that rig_out returned */
	size_t frame_len;
};

struct rig *rig_new(const struct rig_opt *opt); /* NULL: all defaults; INIT, RTR, RTS as asked */
void rig_free(struct rig *r);                   /* and no leak */

/* Further objects on the same device. */
struct vs_qp *rig_qp(struct rig *r, const struct vs_qp_init *init);
struct vs_mr *rig_mr(struct rig *r, struct vs_pd *pd, uint32_t offset, uint64_t len,
		     uint32_t access); /* mem[offset..+len) */
/* Moves any QP along with the rig's usual attributes. */
void rig_to(struct rig *r, struct vs_qp *qp, enum vs_qp_state state);
/* One more modify, by mask; the return value of vs_qp_modify. */
int rig_modify(struct vs_qp *qp, const struct vs_qp_attr *attr, uint32_t mask);
/* The usual attributes, as rig_to uses them. */
struct vs_qp_attr rig_attr(const struct rig *r);

/* ---- verbs in short ---- */
int rig_post_recv(struct rig *r, uint64_t wr_id, uint32_t offset, uint32_t len); /* mem[offset..+len) */
/* SEND, WRITE, READ, atomics from/into mem[offset..+len); remote address RIG_PEER_VA. Signaled. */
int rig_post(struct rig *r, enum vs_wr_opcode op, uint64_t wr_id, uint32_t offset, uint32_t len);
/* The same with everything said; sge and defaults already in `wr`. */
struct vs_send_wr rig_wr(struct rig *r, enum vs_wr_opcode op, uint64_t wr_id, struct vs_sge *sge, uint32_t offset,
			 uint32_t len);

/* ---- the peer's packets ---- */
/* A legal packet from the peer to the DUT's QP with this opcode and PSN; AckReq on requests; payload empty. */
struct vs_pkt rig_pkt(struct rig *r, uint8_t opcode, uint32_t psn);
/* Seals (pad, lengths, checksums, CRCs) and delivers. */
void rig_in(struct rig *r, struct vs_pkt *p);
/* Delivers as it is: wrong lengths, CRCs ... are the test's business. */
void rig_in_raw(struct rig *r, const struct vs_pkt *p);
void rig_in_bytes(struct rig *r, const uint8_t *buf, size_t len);
/* Short forms. data: `len` bytes of rig_pattern(psn). */
void rig_in_send(struct rig *r, uint8_t opcode, uint32_t psn, uint32_t len);
void rig_in_write(struct rig *r, uint8_t opcode, uint32_t psn, uint64_t va, uint32_t rkey, uint32_t dmalen,
		  uint32_t len);
void rig_in_read(struct rig *r, uint32_t psn, uint64_t va, uint32_t rkey, uint32_t len);
void rig_in_atomic(struct rig *r, uint8_t opcode, uint32_t psn, uint64_t va, uint32_t rkey, uint64_t swapadd,
		   uint64_t compare);
/* A request of the peer for 8 bytes: 0 WRITE, 1 READ, 2 FETCH_ADD. */
void rig_in_op(struct rig *r, int kind, uint32_t psn, uint64_t va, uint32_t rkey);
void rig_in_ack(struct rig *r, uint32_t psn, uint8_t syndrome, uint32_t msn);
void rig_in_read_response(struct rig *r, uint8_t opcode, uint32_t psn, uint32_t len, uint32_t msn);
const uint8_t *rig_pattern(uint32_t psn); /* 4096 + 64 bytes that depend on psn */

/* ---- the DUT's packets ---- */
/* The next packet, parsed, ICRC checked; false: the DUT has nothing to say now. */
bool rig_out(struct rig *r, struct vs_pkt *p);
struct vs_pkt rig_expect(struct rig *r, uint8_t opcode, uint32_t psn); /* the next one, and it has to be this */
void rig_expect_ack(struct rig *r, uint32_t psn, uint32_t msn);        /* positive, any credits */
void rig_expect_nak(struct rig *r, uint32_t psn, uint8_t syndrome, uint32_t msn);
void rig_expect_silence(struct rig *r);
unsigned rig_drain(struct rig *r); /* throws packets away, how many */

/* Moves time: fires every timer up to now + ns, packets stay with the DUT. */
void rig_advance(struct rig *r, uint64_t ns);
/* Moves to the next deadline, or not at all (false) when there is none within `limit` ns. */
bool rig_next_timer(struct rig *r, uint64_t limit);

/* ---- completions, events ---- */
struct vs_wc rig_expect_wc(struct rig *r, struct vs_cq *cq, uint64_t wr_id, enum vs_wc_status status);
void rig_expect_no_wc(struct rig *r);
void rig_expect_async(struct rig *r, enum vs_async_type type);
void rig_expect_no_async(struct rig *r);
unsigned rig_count_events(const struct rig *r, enum vs_event_type type);
uint64_t rig_counter(const struct rig *r, enum vs_counter c);

#endif
