/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* names.c - the numbers of the verbs in words, as ibv_wc_status_str and the man pages spell them. */
#include <stddef.h>

#include "vs/verbs.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const char *pick(const char *const *names, unsigned count, unsigned i)
{
	return i < count && names[i] != NULL ? names[i] : "?";
}

const char *vs_wc_status_name(enum vs_wc_status s)
{
	static const char *const names[] = {
		[0] = "SUCCESS",
		[1] = "LOC_LEN_ERR",
		[2] = "LOC_QP_OP_ERR",
		[3] = "LOC_EEC_OP_ERR",
		[4] = "LOC_PROT_ERR",
		[5] = "WR_FLUSH_ERR",
		[6] = "MW_BIND_ERR",
		[7] = "BAD_RESP_ERR",
		[8] = "LOC_ACCESS_ERR",
		[9] = "REM_INV_REQ_ERR",
		[10] = "REM_ACCESS_ERR",
		[11] = "REM_OP_ERR",
		[12] = "RETRY_EXC_ERR",
		[13] = "RNR_RETRY_EXC_ERR",
		[14] = "LOC_RDD_VIOL_ERR",
		[15] = "REM_INV_RD_REQ_ERR",
		[16] = "REM_ABORT_ERR",
		[17] = "INV_EECN_ERR",
		[18] = "INV_EEC_STATE_ERR",
		[19] = "FATAL_ERR",
		[20] = "RESP_TIMEOUT_ERR",
		[21] = "GENERAL_ERR",
		[22] = "TM_ERR",
		[23] = "TM_RNDV_INCOMPLETE",
	};

	return pick(names, COUNT(names), (unsigned)s);
}

const char *vs_wr_opcode_name(enum vs_wr_opcode op)
{
	static const char *const names[] = {
		[VS_WR_RDMA_WRITE] = "RDMA_WRITE",
		[VS_WR_RDMA_WRITE_WITH_IMM] = "RDMA_WRITE_WITH_IMM",
		[VS_WR_SEND] = "SEND",
		[VS_WR_SEND_WITH_IMM] = "SEND_WITH_IMM",
		[VS_WR_RDMA_READ] = "RDMA_READ",
		[VS_WR_ATOMIC_CMP_AND_SWP] = "ATOMIC_CMP_AND_SWP",
		[VS_WR_ATOMIC_FETCH_AND_ADD] = "ATOMIC_FETCH_AND_ADD",
		[VS_WR_LOCAL_INV] = "LOCAL_INV",
		[VS_WR_BIND_MW] = "BIND_MW",
		[VS_WR_SEND_WITH_INV] = "SEND_WITH_INV",
		[VS_WR_FLUSH] = "FLUSH",
		[VS_WR_ATOMIC_WRITE] = "ATOMIC_WRITE",
	};

	return pick(names, COUNT(names), (unsigned)op);
}

const char *vs_wc_opcode_name(enum vs_wc_opcode op)
{
	static const char *const names[] = {
		[VS_WC_SEND] = "SEND",
		[VS_WC_RDMA_WRITE] = "RDMA_WRITE",
		[VS_WC_RDMA_READ] = "RDMA_READ",
		[VS_WC_COMP_SWAP] = "COMP_SWAP",
		[VS_WC_FETCH_ADD] = "FETCH_ADD",
		[VS_WC_BIND_MW] = "BIND_MW",
		[VS_WC_LOCAL_INV] = "LOCAL_INV",
		[VS_WC_FLUSH] = "FLUSH",
		[VS_WC_ATOMIC_WRITE] = "ATOMIC_WRITE",
		[VS_WC_RECV] = "RECV",
		[VS_WC_RECV_RDMA_WITH_IMM] = "RECV_RDMA_WITH_IMM",
	};

	return pick(names, COUNT(names), (unsigned)op);
}

enum vs_wc_opcode vs_wr_completes_as(enum vs_wr_opcode op)
{
	switch (op) {
	case VS_WR_RDMA_WRITE:
	case VS_WR_RDMA_WRITE_WITH_IMM:
		return VS_WC_RDMA_WRITE;
	case VS_WR_RDMA_READ:
		return VS_WC_RDMA_READ;
	case VS_WR_ATOMIC_CMP_AND_SWP:
		return VS_WC_COMP_SWAP;
	case VS_WR_ATOMIC_FETCH_AND_ADD:
		return VS_WC_FETCH_ADD;
	case VS_WR_LOCAL_INV:
		return VS_WC_LOCAL_INV;
	case VS_WR_BIND_MW:
		return VS_WC_BIND_MW;
	case VS_WR_FLUSH:
		return VS_WC_FLUSH;
	case VS_WR_ATOMIC_WRITE:
		return VS_WC_ATOMIC_WRITE;
	case VS_WR_SEND:
	case VS_WR_SEND_WITH_IMM:
	case VS_WR_SEND_WITH_INV:
	default:
		return VS_WC_SEND;
	}
}

const char *vs_qp_state_name(enum vs_qp_state s)
{
	static const char *const names[] = {"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};

	return pick(names, COUNT(names), (unsigned)s);
}

const char *vs_async_name(enum vs_async_type t)
{
	static const char *const names[] = {
		[VS_EVENT_CQ_ERR] = "CQ_ERR",
		[VS_EVENT_QP_FATAL] = "QP_FATAL",
		[VS_EVENT_QP_REQ_ERR] = "QP_REQ_ERR",
		[VS_EVENT_QP_ACCESS_ERR] = "QP_ACCESS_ERR",
		[VS_EVENT_COMM_EST] = "COMM_EST",
		[VS_EVENT_SQ_DRAINED] = "SQ_DRAINED",
		[VS_EVENT_PORT_ACTIVE] = "PORT_ACTIVE",
		[VS_EVENT_PORT_ERR] = "PORT_ERR",
		[VS_EVENT_SRQ_ERR] = "SRQ_ERR",
		[VS_EVENT_SRQ_LIMIT_REACHED] = "SRQ_LIMIT_REACHED",
		[VS_EVENT_QP_LAST_WQE_REACHED] = "QP_LAST_WQE_REACHED",
		[VS_EVENT_GID_CHANGE] = "GID_CHANGE",
	};

	return pick(names, COUNT(names), (unsigned)t);
}
