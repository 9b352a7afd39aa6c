/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mk_mad.c - a CM conversation with every message there is, and one MAD of every other class.
 *
 * The messages are written from the layout tables below (bit offset, width, value), not with the
 * codec that the plugin uses: a shifted field in one of the two shows.
 */
#include <string.h>

#include "mk.h"

#define MAD_LEN 256
#define MAD_HDR 24

/* A field: offset in bits from the start of the MAD data, most significant bit first. */
struct field {
	unsigned bit, width;
	uint64_t value;
};
#define F(byte, bit, width, value)               \
	{                                        \
		(byte) * 8 + (bit), width, value \
	}
#define END             \
	{               \
		0, 0, 0 \
	}

static void put_bits(uint8_t *data, const struct field *f)
{
	for (unsigned i = 0; i < f->width; i++) {
		unsigned at = f->bit + i;

		if ((f->value >> (f->width - 1 - i)) & 1)
			data[at / 8] |= (uint8_t)(0x80 >> (at % 8));
	}
}

/* The GIDs of path blocks: ::ffff:192.0.2.1 and .2, as RoCEv2 over IPv4 has them. */
static void put_gid(uint8_t *at, const struct mk_end *end, bool v6)
{
	static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

	if (v6) {
		memcpy(at, end->ip6, 16);
	} else {
		memcpy(at, mapped, 12);
		memcpy(at + 12, end->ip4, 4);
	}
}

static const struct field req[] = {
	F(0, 0, 32, 0xa1a2a3a4),
	F(16, 0, 64, 0x0200a100000000a1),
	F(28, 0, 32, 0x51525354),
	F(32, 0, 24, 0x000a01),
	F(35, 0, 8, 0x11),
	F(36, 0, 24, 0x00ee01),
	F(39, 0, 8, 0x12),
	F(40, 0, 24, 0x00ee02),
	/* byte 43: remote CM response timeout 5, transport 2, end-to-end flow control 1 */
	F(43, 0, 5, 20),
	F(43, 5, 2, 0),
	F(43, 7, 1, 1),
	F(44, 0, 24, 0x123456),
	/* byte 47: local CM response timeout 5, retry count 3 */
	F(47, 0, 5, 19),
	F(47, 5, 3, 6),
	F(48, 0, 16, 0xffff),
	/* byte 50: path MTU 4, RDC exists 1, RNR retry 3; byte 51: max CM retries 4, SRQ 1, extended transport 3 */
	F(50, 0, 4, 3),
	F(50, 4, 1, 0),
	F(50, 5, 3, 7),
	F(51, 0, 4, 15),
	F(51, 4, 1, 1),
	F(51, 5, 3, 0),
	F(52, 0, 16, 0x0011),
	F(54, 0, 16, 0x0022),
	F(88, 0, 20, 0x12345),
	F(91, 2, 6, 17),
	F(92, 0, 8, 0x68),
	F(93, 0, 8, 64),
	F(94, 0, 4, 3),
	F(94, 4, 1, 0),
	F(95, 0, 5, 18),
	END,
};
static const struct field req_alternate[] = {
	F(96, 0, 16, 0x0033), F(98, 0, 16, 0x0044), F(132, 0, 20, 0x54321), F(135, 2, 6, 18), F(136, 0, 8, 0x70),
	F(137, 0, 8, 63),     F(138, 0, 4, 4),      F(138, 4, 1, 1),        F(139, 0, 5, 17), END,
};
static const struct field mra[] = {
	F(0, 0, 32, 0xb1b2b3b4), F(4, 0, 32, 0xa1a2a3a4), F(8, 0, 2, 0), F(9, 0, 5, 21), END,
};
static const struct field rep[] = {
	F(0, 0, 32, 0xb1b2b3b4),
	F(4, 0, 32, 0xa1a2a3a4),
	F(8, 0, 32, 0x61626364),
	F(12, 0, 24, 0x000b02),
	F(16, 0, 24, 0x00ee03),
	F(20, 0, 24, 0x654321),
	F(24, 0, 8, 0x13),
	F(25, 0, 8, 0x14),
	/* byte 26: target ACK delay 5, failover 2, flow control 1; byte 27: RNR retry 3, SRQ 1 */
	F(26, 0, 5, 15),
	F(26, 5, 2, 1),
	F(26, 7, 1, 1),
	F(27, 0, 3, 6),
	F(27, 3, 1, 1),
	F(28, 0, 64, 0x0200b200000000b2),
	END,
};
static const struct field rtu[] = {F(0, 0, 32, 0xa1a2a3a4), F(4, 0, 32, 0xb1b2b3b4), END};
static const struct field dreq[] = {F(0, 0, 32, 0xa1a2a3a4), F(4, 0, 32, 0xb1b2b3b4), F(8, 0, 24, 0x000b02), END};
static const struct field drep[] = {F(0, 0, 32, 0xb1b2b3b4), F(4, 0, 32, 0xa1a2a3a4), END};
static const struct field lap[] = {
	F(0, 0, 32, 0xa1a2a3a4), F(4, 0, 32, 0xb1b2b3b4),
	F(12, 0, 24, 0x000b02),  F(15, 0, 5, 22),
	F(20, 0, 16, 0x0055),    F(22, 0, 16, 0x0066),
	F(56, 0, 20, 0xabcde),   F(59, 0, 8, 0x28),
	F(60, 0, 8, 62),         F(61, 2, 6, 19),
	F(62, 0, 4, 5),          F(62, 4, 1, 1),
	F(63, 0, 5, 16),         END,
};
static const struct field apr[] = {
	F(0, 0, 32, 0xb1b2b3b4), F(4, 0, 32, 0xa1a2a3a4), F(8, 0, 8, 4), F(9, 0, 8, 3), F(12, 0, 32, 0x1d1d1d1d), END,
};
static const struct field sidr_req[] = {
	F(0, 0, 32, 0xc1c2c3c4),
	F(4, 0, 16, 0xffff),
	F(8, 0, 64, 0x0000000001111234),
	END,
};
static const struct field sidr_rep[] = {
	F(0, 0, 32, 0xc1c2c3c4),
	F(4, 0, 8, 0),
	F(5, 0, 8, 4),
	F(8, 0, 24, 0x000c03),
	F(12, 0, 64, 0x0000000001111234),
	F(20, 0, 32, 0x01234567),
	F(24, 0, 32, 0x2d2d2d2d),
	END,
};

/* Everything that is sent, in the order of a connection's life. */
static const struct {
	uint16_t attribute;
	bool from_b;
	const struct field *fields;
	uint8_t private_off;
} messages[] = {
	{0x10, false, req, 140},     {0x11, true, mra, 10},      {0x13, true, rep, 36},   {0x14, false, rtu, 8},
	{0x19, false, lap, 64},      {0x1a, true, apr, 84},      {0x15, false, dreq, 12}, {0x16, true, drep, 8},
	{0x17, false, sidr_req, 16}, {0x18, true, sidr_rep, 96},
};

static void mad_header(uint8_t *mad, uint8_t class, uint8_t class_version, uint8_t method, uint16_t attribute)
{
	mad[0] = 1;
	mad[1] = class;
	mad[2] = class_version;
	mad[3] = method;
	mk_be32(mad + 8, 0x000000ab);
	mk_be32(mad + 12, 0xcdef0001);
	mk_be16(mad + 16, attribute);
}

/* A MAD in a UD SEND Only; to QP 0 on VL 15 for subnet management, to QP 1 else. */
static void send_mad(struct mk_out *o, enum vs_encap encap, bool from_b, bool smp, const uint8_t *mad)
{
	struct vs_pkt p;
	struct mk_buf f;
	static uint32_t psn;

	mk_packet(&p, encap, VS_OP_UD_SEND_ONLY, encap != VS_ENCAP_IB && encap != VS_ENCAP_IB_GRH);
	if (from_b)
		mk_reverse(&p);
	p.bth.destqp = p.ext.deth.srcqp = smp ? 0 : 1;
	p.ext.deth.qkey = smp ? 0 : VS_GSI_QKEY;
	p.lrh.vl = smp ? 15 : 0;
	p.bth.psn = psn;
	psn = vs_psn_add(psn, 1);
	p.payload = mad;
	p.payload_len = MAD_LEN;
	mk_build(&p, &f);
	mk_put(o, &f);
}

static void cm_start(uint8_t *mad, uint16_t attribute, const struct field *fields)
{
	memset(mad, 0, MAD_LEN);
	mad_header(mad, 0x07, 2, 0x03, attribute);
	for (const struct field *f = fields; f->width; f++)
		put_bits(mad + MAD_HDR, f);
}

/* Service 0x106ssss: RDMA-CM over the TCP port space; the first 36 private bytes are its IP header. */
static void rdma_cm_request(uint8_t *mad, bool v6, uint16_t port)
{
	static const struct field service[] = {F(8, 0, 64, 0x0000000001060000), END};
	uint8_t *data = mad + MAD_HDR, *private = data + 140;

	put_bits(data, service);
	mk_be16(data + 14, port);
	private[0] = 0x00;
	private[1] = v6 ? 0x60 : 0x40;
	mk_be16(private + 2, 0xbeef);
	if (v6) {
		memcpy(private + 4, mk_a.ip6, 16);
		memcpy(private + 20, mk_b.ip6, 16);
	} else {
		memcpy(private + 16, mk_a.ip4, 4);
		memcpy(private + 32, mk_b.ip4, 4);
	}
	memcpy(private + 36, "consumer data", 13);
}

static void conversation(struct mk_out *o, enum vs_encap encap)
{
	const bool v6 = encap != VS_ENCAP_ROCEV2_IPV4;
	uint8_t mad[MAD_LEN];
	struct vs_pkt p;
	struct mk_buf f;

	for (unsigned i = 0; i < sizeof(messages) / sizeof(messages[0]); i++) {
		uint8_t *data = mad + MAD_HDR;

		cm_start(mad, messages[i].attribute, messages[i].fields);
		if (messages[i].attribute == 0x10) {
			put_gid(data + 56, &mk_a, v6);
			put_gid(data + 72, &mk_b, v6);
			rdma_cm_request(mad, v6, 7174);
		} else {
			memcpy(data + messages[i].private_off, "private", 7);
		}
		if (messages[i].attribute == 0x19) {
			put_gid(data + 24, &mk_a, v6);
			put_gid(data + 40, &mk_b, v6);
		}
		send_mad(o, encap, messages[i].from_b, false, mad);
		if (messages[i].attribute != 0x14)
			continue;
		/* connected: data of the two queue pairs, whose senders only CM can name */
		mk_packet(&p, encap, VS_OP_RC_SEND_ONLY, encap != VS_ENCAP_IB && encap != VS_ENCAP_IB_GRH);
		p.bth.psn = 0x123456;
		mk_build(&p, &f);
		mk_put(o, &f);
		mk_packet(&p, encap, VS_OP_RC_ACKNOWLEDGE, encap != VS_ENCAP_IB && encap != VS_ENCAP_IB_GRH);
		p.bth.psn = 0x123456;
		mk_build(&p, &f);
		mk_put(o, &f);
	}
}

/* A request with another service and an alternate path, then a REJ with every reason there is. */
static void rejections(struct mk_out *o, enum vs_encap encap)
{
	static const struct field other_service[] = {F(8, 0, 64, 0x1000000000001234), END};
	static const struct field rej[] = {
		F(0, 0, 32, 0xb1b2b3b4), F(4, 0, 32, 0xa1a2a3a5), F(8, 0, 2, 0),
		F(9, 0, 7, 3),           F(12, 0, 24, 0x0a0b0c),  END,
	};
	uint8_t mad[MAD_LEN];

	cm_start(mad, 0x10, req);
	put_bits(mad + MAD_HDR, other_service);
	for (const struct field *f = req_alternate; f->width; f++)
		put_bits(mad + MAD_HDR, f);
	put_gid(mad + MAD_HDR + 56, &mk_a, true);
	put_gid(mad + MAD_HDR + 72, &mk_b, true);
	put_gid(mad + MAD_HDR + 100, &mk_b, true);
	put_gid(mad + MAD_HDR + 116, &mk_a, true);
	memcpy(mad + MAD_HDR + 140, "no RDMA-CM here", 15);
	send_mad(o, encap, false, false, mad);
	for (unsigned reason = 0; reason <= 36; reason++) {
		const struct field why[] = {F(10, 0, 16, reason), END};

		cm_start(mad, 0x12, rej);
		put_bits(mad + MAD_HDR, why);
		memcpy(mad + MAD_HDR + 84, "rejected", 8);
		send_mad(o, encap, true, false, mad);
	}
}

void mk_cm(struct mk_out *o)
{
	conversation(o, VS_ENCAP_ROCEV2_IPV4);
	conversation(o, VS_ENCAP_ROCEV2_IPV6);
	conversation(o, VS_ENCAP_ROCEV1);
	rejections(o, VS_ENCAP_ROCEV2_IPV4);
}

/* Native InfiniBand: CM, and a MAD of each class that the plugin leaves to the built-in dissector. */
void mk_ib_mad(struct mk_out *o)
{
	static const struct {
		uint8_t class, version, method;
		uint16_t attribute;
	} others[] = {
		{0x81, 1, 0x01, 0x0011}, /* SubnGet(NodeInfo), directed route */
		{0x81, 1, 0x81, 0x0011}, /* SubnGetResp(NodeInfo) */
		{0x01, 1, 0x01, 0x0015}, /* SubnGet(PortInfo), LID routed */
		{0x01, 1, 0x05, 0x0002}, /* SubnTrap(Notice) */
		{0x03, 2, 0x01, 0x0035}, /* SubnAdmGet(PathRecord) */
		{0x04, 1, 0x01, 0x0012}, /* PerfMgtGet(PortCounters) */
		{0x05, 1, 0x01, 0x0001}, /* baseboard management */
		{0x06, 1, 0x01, 0x0001}, /* device management */
		{0x08, 1, 0x01, 0x0001}, /* SNMP tunnelling */
		{0x09, 1, 0x01, 0x0001}, /* vendor */
		{0x10, 1, 0x01, 0x0001}, /* application */
		{0x21, 2, 0x01, 0x0001}, /* congestion control */
		{0x32, 1, 0x01, 0x0001}, /* vendor, second range */
		{0x07, 2, 0x01, 0x0001}, /* CM Get(ClassPortInfo) */
	};
	uint8_t mad[MAD_LEN];

	for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		memset(mad, 0, sizeof(mad));
		mad_header(mad, others[i].class, others[i].version, others[i].method, others[i].attribute);
		for (unsigned k = 64; k < 128; k++)
			mad[k] = (uint8_t)k;
		send_mad(o, VS_ENCAP_IB, false, (others[i].class & 0x7f) == 1, mad);
	}
	conversation(o, VS_ENCAP_IB_GRH);
}
