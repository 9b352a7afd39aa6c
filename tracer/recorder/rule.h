/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * rule.h - the notation of --inject, after strace's: CALL:WHAT[:when=N|N+|N-M].
 *
 *   post_send:errno=ENOMEM:when=3        the third ibv_post_send fails and does nothing
 *   post_recv:skip                       the program believes that it has posted
 *   post_send:rkey^=0x100                an argument is another: =, += or ^=
 *   poll_cq:delay=20                     milliseconds;  destroy_qp:kill: the process is killed there
 *
 * Calls are counted from 1, in the process as a whole; of a list of requests each one counts.
 */
#ifndef VS_TRACER_RULE_H
#define VS_TRACER_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rec_call {
	CALL_POST_SEND,
	CALL_POST_RECV,
	CALL_POST_SRQ_RECV,
	CALL_POLL_CQ,
	CALL_REQ_NOTIFY_CQ,
	CALL_OPEN_DEVICE,
	CALL_REG_MR,
	CALL_DEREG_MR,
	CALL_CREATE_CQ,
	CALL_CREATE_QP,
	CALL_MODIFY_QP,
	CALL_DESTROY_QP,
	CALL_CREATE_AH,
	CALL_COUNT
};

enum rec_field {
	FIELD_ADDR,
	FIELD_LENGTH,
	FIELD_LKEY,
	FIELD_RKEY,
	FIELD_REMOTE_ADDR,
	FIELD_OPCODE,
	FIELD_FLAGS,
	FIELD_NUM_SGE,
	FIELD_REMOTE_QPN,
	FIELD_REMOTE_QKEY,
	FIELD_ACCESS,
	FIELD_CQE,
	FIELD_MAX_SEND_WR,
	FIELD_MAX_RECV_WR,
	FIELD_SQ_SIG_ALL,
	FIELD_PATH_MTU,
	FIELD_DEST_QPN,
	FIELD_RQ_PSN,
	FIELD_SQ_PSN,
	FIELD_QKEY,
	FIELD_TIMEOUT,
	FIELD_RETRY_CNT,
	FIELD_RNR_RETRY,
	FIELD_MIN_RNR_TIMER,
	FIELD_PKEY_INDEX,
	FIELD_QP_ACCESS,
	FIELD_RD_ATOMIC,
	FIELD_DEST_RD_ATOMIC,
	FIELD_DGID,
	FIELD_SGID_INDEX,
	FIELD_HOP_LIMIT,
	FIELD_COUNT
};

enum rec_what { WHAT_FIELD, WHAT_ERRNO, WHAT_SKIP, WHAT_KILL, WHAT_DELAY };

struct rec_rule {
	enum rec_call call;
	enum rec_what what;
	enum rec_field field;
	char op;           /* '=', '+', '^' */
	uint64_t value;    /* of the field, errno, milliseconds */
	uint64_t from, to; /* calls that it applies to, from 1 */
	char text[96];     /* as it was written */
};

/* False with a sentence in `why`. */
bool rec_rule_parse(const char *text, struct rec_rule *rule, char *why, size_t cap);

#endif
