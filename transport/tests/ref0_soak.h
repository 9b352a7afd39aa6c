/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * ref0_soak.h - messages of every kind over many queue pairs between processes that come and go, on the public verbs
 * alone. ref0_soak_link.c: one connection, its accounts and what must be true of them. ref0_soak.c: the processes.
 */
#ifndef REF0_SOAK_H
#define REF0_SOAK_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SLOTS 8u           /* sends under way */
#define RECVS 16u          /* receives posted */
#define RING 32u           /* at least SLOTS + RECVS: where WRITEs with immediate data go in turn */
#define MESSAGE_MAX 6000u  /* bytes */
#define MESSAGE_ROOM 6144u /* what a slot takes in memory */
#define MESSAGE_MIN 16u

/* What one side tells the other about its end, over TCP. */
struct soak_info {
	uint32_t qpn, psn, rkey, unused;
	uint8_t gid[16];
	uint64_t ring, echo, counter;
};

/* What the other side may read and write. */
struct soak_shared {
	uint8_t ring[RING][MESSAGE_ROOM];
	uint8_t echo[SLOTS][MESSAGE_ROOM];
	uint64_t counter[2]; /* FETCH_ADD, CMP_SWAP */
};

enum soak_kind { SOAK_SEND, SOAK_SEND_IMM, SOAK_WRITE_IMM, SOAK_WRITE, SOAK_READ, SOAK_ADD, SOAK_SWAP, SOAK_KINDS };

struct soak_send {
	bool busy, signaled;
	uint8_t kind;
	uint32_t len;
	uint64_t content; /* what the bytes must be; atomics: the value before */
};

enum soak_state { SOAK_DOWN, SOAK_READY, SOAK_UP, SOAK_DRAINING };

struct soak_link {
	unsigned id;
	enum soak_state state;
	uint32_t life; /* connections so far: completions of an earlier one never come */
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr, *shared_mr;
	struct soak_shared *shared;
	uint8_t (*out)[MESSAGE_ROOM], (*land)[MESSAGE_ROOM], (*in)[MESSAGE_ROOM];
	struct soak_info peer;
	uint32_t own_psn;
	uint64_t rng;

	struct soak_send send[SLOTS];
	uint64_t posted, done;        /* sends: posted % SLOTS is the next slot */
	uint64_t sent_messages;       /* that take a receive at the peer */
	uint64_t received;            /* messages, in sequence */
	uint64_t adds, swap;          /* posted so far; the value that CMP_SWAP left */
	uint64_t echo_content[SLOTS]; /* at the peer; 0: nothing yet */
	uint32_t echo_len[SLOTS];
	bool recv_busy[RECVS];
	bool send_marker, recv_marker; /* posted after the queue pair has failed, not completed */
	bool send_failed;              /* of a send: all behind it fail, too */
	enum ibv_wc_status first_status;
	bool failed;       /* an error completion came */
	uint64_t messages; /* checked: completed sends and receives, over all lives */
	uint64_t moved_at; /* when one of them last came */
};

/* Says what is wrong and ends the program with 1. */
void soak_wrong(const struct soak_link *l, const char *fmt, ...) __attribute__((format(printf, 2, 3), noreturn));
uint64_t soak_now(void);
uint64_t soak_random(uint64_t *state);

/* One end with its memory and queue pair, in INIT. */
void soak_link_make(struct soak_link *l, struct ibv_pd *pd, struct ibv_cq *cq, unsigned id);
void soak_link_info(struct soak_link *l, struct soak_info *info);
/* To RTS, towards `peer`; receives are posted. */
void soak_link_connect(struct soak_link *l, const struct soak_info *peer);
/* Posts what fits. */
void soak_link_fill(struct soak_link *l);
bool soak_link_idle(struct soak_link *l); /* every send is accounted for */
/* A completion of the link: checks it; false: the queue pair has just failed. */
bool soak_link_completion(struct soak_link *l, const struct ibv_wc *wc);
/* Moves the queue pair to ERR, if it is not there, and waits for what is still posted: state DRAINING, then DOWN. */
void soak_link_drain(struct soak_link *l);
/* A link that is DOWN: everything was accounted for. Made ready for another peer, by a reset or by a new queue pair. */
void soak_link_renew(struct soak_link *l);
void soak_link_free(struct soak_link *l);
/* wr_id: which link a completion belongs to. */
unsigned soak_link_of(const struct ibv_wc *wc);

#endif
