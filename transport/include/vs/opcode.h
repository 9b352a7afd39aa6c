/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * opcode.h - what a BTH opcode means: transport, headers, payload rule, answer.
 * The table itself is opcodes.def; this header turns it into an enum and a 256-entry array.
 */
#ifndef VS_OPCODE_H
#define VS_OPCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Headers after the BTH. The bit order IS the wire order: walking the set bits from the lowest
 * gives the headers as they stand in a packet, for every opcode there is.
 */
enum vs_hdr {
	VS_HDR_DCEXT = 1u << 0,        /* 8 bytes after the BTH of a Mellanox DC packet (layout not public) */
	VS_HDR_DCCETH = 1u << 1,       /* 16 bytes of a Mellanox DC connect packet (layout not public) */
	VS_HDR_RDETH = 1u << 2,        /* 4 bytes */
	VS_HDR_XRCETH = 1u << 3,       /* 4 */
	VS_HDR_DETH = 1u << 4,         /* 8 */
	VS_HDR_FETH = 1u << 5,         /* 4 */
	VS_HDR_RETH = 1u << 6,         /* 16 */
	VS_HDR_AETH = 1u << 7,         /* 4 */
	VS_HDR_ATOMICETH = 1u << 8,    /* 28 */
	VS_HDR_ATOMICACKETH = 1u << 9, /* 8 */
	VS_HDR_IMMDT = 1u << 10,       /* 4 */
	VS_HDR_IETH = 1u << 11,        /* 4 */
};
#define VS_HDR_COUNT 12

/* Size in bytes of the header with bit `1u << index`, index in 0 .. VS_HDR_COUNT-1. */
extern const uint8_t vs_hdr_size[VS_HDR_COUNT];

/* Sum of the sizes of all headers in the set `hdrs`. */
unsigned vs_hdrs_size(uint32_t hdrs);

/* Transport service: opcode bits 7..5. */
enum vs_transport {
	VS_TRANSPORT_RC = 0,
	VS_TRANSPORT_UC = 1,
	VS_TRANSPORT_RD = 2,
	VS_TRANSPORT_UD = 3,
	VS_TRANSPORT_CNP = 4,
	VS_TRANSPORT_XRC = 5,
	VS_TRANSPORT_VENDOR6 = 6, /* 0xc0..0xff: manufacturer specific */
	VS_TRANSPORT_VENDOR7 = 7,
};

enum vs_payload_rule {
	VS_PAYLOAD_RESERVED = 0, /* reserved opcode: no rule */
	VS_PAYLOAD_NONE,         /* must be empty */
	VS_PAYLOAD_FULL,         /* exactly the path MTU */
	VS_PAYLOAD_LAST,         /* 1 .. path MTU */
	VS_PAYLOAD_ONLY,         /* 0 .. path MTU */
	VS_PAYLOAD_EIGHT,        /* exactly 8 bytes (ATOMIC WRITE) */
	VS_PAYLOAD_CNP,          /* 16 zero bytes */
};

enum vs_response_kind {
	VS_RESPONSE_NONE = 0,  /* unreliable, or itself a response */
	VS_RESPONSE_ACK,       /* Acknowledge */
	VS_RESPONSE_READ,      /* READ Response First/Middle/Last or Only */
	VS_RESPONSE_ATOMIC,    /* ATOMIC Acknowledge */
	VS_RESPONSE_READ_ONLY, /* READ Response Only without payload (FLUSH, ATOMIC WRITE) */
};

enum vs_opcode_flag {
	VS_OPF_B = 1u << 0, /* begins a message (First, Only) */
	VS_OPF_E = 1u << 1, /* ends a message (Last, Only) */
	VS_OPF_Q = 1u << 2, /* request: requester to responder */
	VS_OPF_R = 1u << 3, /* response: responder to requester */
	VS_OPF_I = 1u << 4, /* carries immediate data */
	VS_OPF_V = 1u << 5, /* carries an R_Key to invalidate */
	VS_OPF_S = 1u << 6, /* SEND */
	VS_OPF_W = 1u << 7, /* RDMA WRITE */
	VS_OPF_D = 1u << 8, /* RDMA READ, request or response */
	VS_OPF_A = 1u << 9, /* Compare & Swap, Fetch & Add, or their answer */
};

struct vs_opcode_info {
	const char *name; /* "RC RDMA WRITE First"; NULL when the opcode is reserved */
	uint32_t hdrs;    /* set of enum vs_hdr */
	uint16_t flags;   /* set of enum vs_opcode_flag */
	uint8_t transport, payload, response;
};

#define VS_OPCODE(code, ID, name, transport, hdrs, payload, response, flags) VS_OP_##ID = (code),
enum vs_opcode {
#include "opcodes.def"
};

/*
 * Indexed by BTH opcode; reserved opcodes have name NULL, hdrs 0, payload VS_PAYLOAD_RESERVED, and
 * no transport either: vs_opcode_transport() tells for every opcode.
 */
extern const struct vs_opcode_info vs_opcodes[256];

static inline enum vs_transport vs_opcode_transport(uint8_t opcode)
{
	return (enum vs_transport)(opcode >> 5);
}

/*
 * Headers of an opcode in 0x40..0x5f when it is Mellanox DC instead of RD. Its layout is not public;
 * what is known from the built-in dissector: 8 bytes more behind the BTH, then the headers that RC
 * has; 0x55 with the top bit of byte 1 clear (`se` false) is a connect with 16 bytes behind those.
 */
uint32_t vs_opcode_hdrs_dc(uint8_t opcode, bool se);

/*
 * The word for an opcode in scripts, faults and traces: "SEND_ONLY", "ACK", "READ_REQUEST" for RC, with the
 * transport in front for the others: "UD_SEND_ONLY", "CNP". NULL when the opcode is reserved. Static.
 */
const char *vs_opcode_token(uint8_t opcode);
/* The opcode with this token (len bytes); -1: none. */
int vs_opcode_by_token(const char *token, size_t len);

/* "RC", "UC", ... by opcode bits 7..5; static. */
const char *vs_transport_name(enum vs_transport t);

#endif
