/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * verbs.h - the vocabulary of the verbs, with the numbers that libibverbs uses, so that the
 * user-space device maps them one to one (source: linux-rdma/rdma-core verbs.h; FACTS 5, 6, 9).
 *
 * Times are codes as on the wire where the verbs use codes: timeout, min_rnr_timer.
 */
#ifndef VS_VERBS_H
#define VS_VERBS_H

#include <stdbool.h>
#include <stdint.h>

enum vs_qp_type { VS_QPT_RC = 2, VS_QPT_UC = 3, VS_QPT_UD = 4, VS_QPT_GSI = 1 };

enum vs_qp_state {
	VS_QPS_RESET = 0,
	VS_QPS_INIT,
	VS_QPS_RTR,
	VS_QPS_RTS,
	VS_QPS_SQD,
	VS_QPS_SQE,
	VS_QPS_ERR,
	VS_QPS_COUNT
};

enum vs_mtu { VS_MTU_256 = 1, VS_MTU_512, VS_MTU_1024, VS_MTU_2048, VS_MTU_4096 };

/* enum vs_mtu -> bytes; 0 for a value outside the enum. */
static inline uint32_t vs_mtu_bytes(enum vs_mtu mtu)
{
	return mtu >= VS_MTU_256 && mtu <= VS_MTU_4096 ? 128u << mtu : 0;
}

enum vs_access {
	VS_ACCESS_LOCAL_WRITE = 1 << 0,
	VS_ACCESS_REMOTE_WRITE = 1 << 1,
	VS_ACCESS_REMOTE_READ = 1 << 2,
	VS_ACCESS_REMOTE_ATOMIC = 1 << 3,
	VS_ACCESS_MW_BIND = 1 << 4,
	VS_ACCESS_ZERO_BASED = 1 << 5,
	VS_ACCESS_FLUSH_GLOBAL = 1 << 8,
	VS_ACCESS_FLUSH_PERSISTENT = 1 << 9,
};

enum vs_send_flags {
	VS_SEND_FENCE = 1 << 0,
	VS_SEND_SIGNALED = 1 << 1,
	VS_SEND_SOLICITED = 1 << 2,
	VS_SEND_INLINE = 1 << 3,
};

enum vs_wr_opcode {
	VS_WR_RDMA_WRITE = 0,
	VS_WR_RDMA_WRITE_WITH_IMM = 1,
	VS_WR_SEND = 2,
	VS_WR_SEND_WITH_IMM = 3,
	VS_WR_RDMA_READ = 4,
	VS_WR_ATOMIC_CMP_AND_SWP = 5,
	VS_WR_ATOMIC_FETCH_AND_ADD = 6,
	VS_WR_LOCAL_INV = 7,
	VS_WR_BIND_MW = 8,
	VS_WR_SEND_WITH_INV = 9,
	VS_WR_FLUSH = 14,
	VS_WR_ATOMIC_WRITE = 15,
};

enum vs_wc_status {
	VS_WC_SUCCESS = 0,
	VS_WC_LOC_LEN_ERR = 1,
	VS_WC_LOC_QP_OP_ERR = 2,
	VS_WC_LOC_EEC_OP_ERR = 3,
	VS_WC_LOC_PROT_ERR = 4,
	VS_WC_WR_FLUSH_ERR = 5,
	VS_WC_MW_BIND_ERR = 6,
	VS_WC_BAD_RESP_ERR = 7,
	VS_WC_LOC_ACCESS_ERR = 8,
	VS_WC_REM_INV_REQ_ERR = 9,
	VS_WC_REM_ACCESS_ERR = 10,
	VS_WC_REM_OP_ERR = 11,
	VS_WC_RETRY_EXC_ERR = 12,
	VS_WC_RNR_RETRY_EXC_ERR = 13,
	VS_WC_REM_INV_RD_REQ_ERR = 15, /* of devices alone: RC has no RD requests */
	VS_WC_FATAL_ERR = 19,
	VS_WC_GENERAL_ERR = 21,
};

enum vs_wc_opcode {
	VS_WC_SEND = 0,
	VS_WC_RDMA_WRITE = 1,
	VS_WC_RDMA_READ = 2,
	VS_WC_COMP_SWAP = 3,
	VS_WC_FETCH_ADD = 4,
	VS_WC_BIND_MW = 5,
	VS_WC_LOCAL_INV = 6,
	VS_WC_FLUSH = 8,
	VS_WC_ATOMIC_WRITE = 9,
	VS_WC_RECV = 128,
	VS_WC_RECV_RDMA_WITH_IMM = 129,
};

enum vs_wc_flags { VS_WC_GRH = 1 << 0, VS_WC_WITH_IMM = 1 << 1, VS_WC_WITH_INV = 1 << 3 };

enum vs_async_type {
	VS_EVENT_CQ_ERR = 0,
	VS_EVENT_QP_FATAL = 1,
	VS_EVENT_QP_REQ_ERR = 2,
	VS_EVENT_QP_ACCESS_ERR = 3,
	VS_EVENT_COMM_EST = 4,
	VS_EVENT_SQ_DRAINED = 5,
	VS_EVENT_PORT_ACTIVE = 9,
	VS_EVENT_PORT_ERR = 10,
	VS_EVENT_SRQ_ERR = 14,
	VS_EVENT_SRQ_LIMIT_REACHED = 15,
	VS_EVENT_QP_LAST_WQE_REACHED = 16,
	VS_EVENT_GID_CHANGE = 18,
};
/* "SUCCESS", "RETRY_EXC_ERR", "SEND", "RTS", "QP_ACCESS_ERR", ...; static; "?" outside the enum. */
const char *vs_wc_status_name(enum vs_wc_status s);
const char *vs_wr_opcode_name(enum vs_wr_opcode op);
const char *vs_wc_opcode_name(enum vs_wc_opcode op);
const char *vs_qp_state_name(enum vs_qp_state s);
const char *vs_async_name(enum vs_async_type t);
/* What the completion of a request says that it was. */
enum vs_wc_opcode vs_wr_completes_as(enum vs_wr_opcode op);

enum vs_qp_attr_mask {
	VS_QP_STATE = 1 << 0,
	VS_QP_CUR_STATE = 1 << 1,
	VS_QP_EN_SQD_ASYNC_NOTIFY = 1 << 2,
	VS_QP_ACCESS_FLAGS = 1 << 3,
	VS_QP_PKEY_INDEX = 1 << 4,
	VS_QP_PORT = 1 << 5,
	VS_QP_QKEY = 1 << 6,
	VS_QP_AV = 1 << 7,
	VS_QP_PATH_MTU = 1 << 8,
	VS_QP_TIMEOUT = 1 << 9,
	VS_QP_RETRY_CNT = 1 << 10,
	VS_QP_RNR_RETRY = 1 << 11,
	VS_QP_RQ_PSN = 1 << 12,
	VS_QP_MAX_QP_RD_ATOMIC = 1 << 13,
	VS_QP_ALT_PATH = 1 << 14,
	VS_QP_MIN_RNR_TIMER = 1 << 15,
	VS_QP_SQ_PSN = 1 << 16,
	VS_QP_MAX_DEST_RD_ATOMIC = 1 << 17,
	VS_QP_PATH_MIG_STATE = 1 << 18,
	VS_QP_CAP = 1 << 19,
	VS_QP_DEST_QPN = 1 << 20,
	VS_QP_RATE_LIMIT = 1 << 25,
};

/* Address vector: the way to a peer. */
struct vs_av {
	bool is_global;   /* a GRH (or IP header) is used; always true on Ethernet */
	uint8_t dgid[16]; /* ::ffff:a.b.c.d for IPv4 */
	uint8_t sgid_index;
	uint32_t flow_label; /* 20 bits; also selects the UDP source port */
	uint8_t hop_limit;   /* 0: 64 is sent */
	uint8_t traffic_class;
	uint16_t dlid; /* native IB */
	uint8_t sl;    /* 0..15; RoCE: 0..7 */
	uint8_t src_path_bits;
	uint8_t port;    /* 1 */
	uint8_t dmac[6]; /* Ethernet; all zero: the device asks its neighbour function */
	bool has_vlan;
	uint16_t vlan_id; /* 12 bits, with has_vlan */
};

struct vs_sge {
	uint64_t addr;
	uint32_t length;
	uint32_t lkey;
};

#endif
