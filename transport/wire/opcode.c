/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * opcode.c - opcodes.def as an array, header sizes, transport names.
 */
#include "vs/opcode.h"

const uint8_t vs_hdr_size[VS_HDR_COUNT] = {
	8,  /* DCEXT */
	16, /* DCCETH */
	4,  /* RDETH */
	4,  /* XRCETH */
	8,  /* DETH */
	4,  /* FETH */
	16, /* RETH */
	4,  /* AETH */
	28, /* AtomicETH */
	8,  /* AtomicAckETH */
	4,  /* ImmDt */
	4,  /* IETH */
};

unsigned vs_hdrs_size(uint32_t hdrs)
{
	unsigned size = 0;

	for (hdrs &= (1u << VS_HDR_COUNT) - 1; hdrs != 0; hdrs &= hdrs - 1)
		size += vs_hdr_size[__builtin_ctz(hdrs)];
	return size;
}

/* The letters of the flags column, in this file only. */
#define B VS_OPF_B
#define E VS_OPF_E
#define Q VS_OPF_Q
#define R VS_OPF_R
#define I VS_OPF_I
#define V VS_OPF_V
#define S VS_OPF_S
#define W VS_OPF_W
#define D VS_OPF_D
#define A VS_OPF_A

#define VS_OPCODE(code, ID, name_, transport_, hdrs_, payload_, response_, flags_) \
	[code] = {                                                                 \
		.name = (name_),                                                   \
		.hdrs = (hdrs_),                                                   \
		.flags = (flags_),                                                 \
		.transport = VS_TRANSPORT_##transport_,                            \
		.payload = VS_PAYLOAD_##payload_,                                  \
		.response = VS_RESPONSE_##response_,                               \
	},

const struct vs_opcode_info vs_opcodes[256] = {
#include "opcodes.def"
};

uint32_t vs_opcode_hdrs_dc(uint8_t opcode, bool se)
{
	uint32_t hdrs = vs_opcodes[opcode].hdrs & ~(uint32_t)(VS_HDR_RDETH | VS_HDR_DETH);

	if (opcode == VS_OP_RD_RESYNC && !se)
		hdrs |= VS_HDR_DCCETH;
	return hdrs | VS_HDR_DCEXT;
}

/* The ID column of opcodes.def: "RC_SEND_ONLY". */
#define VS_OPCODE(code, ID, name_, transport_, hdrs_, payload_, response_, flags_) [code] = #ID,
static const char *const ids[256] = {
#include "opcodes.def"
};

const char *vs_opcode_token(uint8_t opcode)
{
	switch (opcode) {
	case VS_OP_RC_ACKNOWLEDGE:
		return "ACK";
	case VS_OP_RC_ATOMIC_ACKNOWLEDGE:
		return "ATOMIC_ACK";
	case VS_OP_RD_ACKNOWLEDGE:
		return "RD_ACK";
	case VS_OP_RD_ATOMIC_ACKNOWLEDGE:
		return "RD_ATOMIC_ACK";
	case VS_OP_XRC_ACKNOWLEDGE:
		return "XRC_ACK";
	case VS_OP_XRC_ATOMIC_ACKNOWLEDGE:
		return "XRC_ATOMIC_ACK";
	default:
		return ids[opcode] != NULL && opcode >> 5 == VS_TRANSPORT_RC ? ids[opcode] + sizeof("RC_") - 1
									     : ids[opcode];
	}
}

int vs_opcode_by_token(const char *token, size_t len)
{
	for (unsigned op = 0; op < 256; op++) {
		const char *t = vs_opcode_token((uint8_t)op);
		size_t i = 0;

		while (t != NULL && i < len && t[i] != '\0' && t[i] == token[i])
			i++;
		if (t != NULL && i == len && t[i] == '\0')
			return (int)op;
	}
	return -1;
}

const char *vs_transport_name(enum vs_transport t)
{
	static const char *const names[8] = {"RC", "UC", "RD", "UD", "CNP", "XRC", "vendor (0xc0)", "vendor (0xe0)"};

	return (unsigned)t < 8 ? names[t] : "?";
}
