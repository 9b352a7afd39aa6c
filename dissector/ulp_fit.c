/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ulp_fit.c - header checks of the storage and file protocols; those of the Ethernet-like ones are
 * in ulp_fit_net.c.
 *
 * Layouts: RFC 8166 and RFC 5531 (RPC-over-RDMA, RPC), NVMe over Fabrics (capsules), RFC 7145 and
 * RFC 7143 (iSER, iSCSI), MS-SMBD (SMB Direct), the public headers of Lustre (LNet) and DRBD, RFC
 * 7609 (SMC-R), IBTA Annex A4 (SDP).
 */
#include "ulp_fit.h"

#include "ulp_bytes.h"

/* ---- RPC-over-RDMA version 1 ---- */

enum { RDMA_MSG = 0, RDMA_NOMSG = 1, RDMA_MSGP = 2, RDMA_DONE = 3, RDMA_ERROR = 4 };

struct rpc_chunks {
	uint32_t reads, writes, replies;
	bool read_at_zero; /* a read chunk at position 0: the whole call */
};

/* Walks the read list: *off moves to its end. False when the list can't be one, or ends too late. */
static bool rpc_read_list(const struct ulp_bytes *b, uint32_t *off, struct rpc_chunks *c)
{
	for (;;) {
		if (!has(b, *off, 4))
			return false;
		uint32_t follows = be32(b->p + *off);
		*off += 4;
		if (follows > 1)
			return false;
		if (follows == 0)
			return true;
		if (!has(b, *off, 20))
			return false;
		if (be32(b->p + *off) == 0)
			c->read_at_zero = true;
		*off += 20;
		c->reads++;
	}
}

static bool rpc_write_chunk(const struct ulp_bytes *b, uint32_t *off)
{
	if (!has(b, *off, 4))
		return false;
	uint32_t segments = be32(b->p + *off);
	*off += 4;
	if (segments > 256 || !has(b, *off, segments * 16))
		return false;
	*off += segments * 16;
	return true;
}

static bool rpc_write_lists(const struct ulp_bytes *b, uint32_t *off, struct rpc_chunks *c)
{
	for (;;) {
		if (!has(b, *off, 4))
			return false;
		uint32_t follows = be32(b->p + *off);
		*off += 4;
		if (follows > 1)
			return false;
		if (follows == 0)
			break;
		if (!rpc_write_chunk(b, off))
			return false;
		c->writes++;
	}
	if (!has(b, *off, 4))
		return false;
	uint32_t follows = be32(b->p + *off);
	*off += 4;
	c->replies = follows;
	return follows == 0 || (follows == 1 && rpc_write_chunk(b, off));
}

/* An opaque authenticator at `off`: flavor, length up to 400 bytes (RFC 5531), body. */
static bool rpc_auth(const struct ulp_bytes *b, uint32_t *off)
{
	if (!has(b, *off, 8))
		return false;
	uint32_t flavor = be32(b->p + *off), len = be32(b->p + *off + 4);
	if ((flavor > 6 && (flavor < 300000 || flavor > 500000)) || len > 400)
		return false;
	*off += 8 + ((len + 3) & ~3u);
	return *off <= b->len;
}

/* An RPC message with this XID begins at `off`. */
static bool rpc_message(const struct ulp_bytes *b, uint32_t off, uint32_t xid)
{
	if (!has(b, off, 12) || be32(b->p + off) != xid)
		return false;
	if (!b->alone)
		return true;
	uint32_t type = be32(b->p + off + 4);
	if (type == 0) { /* call: RPC version 2, program, version, procedure, credential, verifier */
		if (!has(b, off, 24) || be32(b->p + off + 8) != 2)
			return false;
		if (be32(b->p + off + 12) == 0 || be32(b->p + off + 16) > 0xffff || be32(b->p + off + 20) > 0xffff)
			return false;
		off += 24;
		/* NOLINTNEXTLINE(misc-redundant-expression): each call moves `off` on */
		return rpc_auth(b, &off) && rpc_auth(b, &off);
	}
	if (type != 1)
		return false;
	uint32_t denied = be32(b->p + off + 8);
	off += 12;
	if (denied == 1) /* RPC mismatch or authentication error */
		return has(b, off, 8) && be32(b->p + off) <= 1;
	return denied == 0 && rpc_auth(b, &off) && has(b, off, 4) && be32(b->p + off) <= 5;
}

bool ulp_fit_rpcrdma(const struct ulp_bytes *b)
{
	if (!has(b, 0, 16) || be32(b->p + 4) != 1)
		return false;
	uint32_t xid = be32(b->p), credits = be32(b->p + 8), proc = be32(b->p + 12), off = 16;
	if (credits == 0 || credits > 65536)
		return false;
	if (proc == RDMA_DONE)
		return !b->alone && b->len == 16;
	if (proc == RDMA_ERROR) {
		if (b->alone || !has(b, 16, 4))
			return false;
		return (be32(b->p + 16) == 1 && b->len == 28) || (be32(b->p + 16) == 2 && b->len == 20);
	}
	if (proc == RDMA_MSGP) {
		if (!has(b, off, 8))
			return false;
		off += 8;
	}
	struct rpc_chunks chunks = {0};
	if (proc > RDMA_MSGP || !rpc_read_list(b, &off, &chunks) || !rpc_write_lists(b, &off, &chunks))
		return false;
	if (proc == RDMA_NOMSG) /* the message itself is in a chunk, and nothing follows the lists */
		return off == b->len && b->whole && (chunks.read_at_zero || chunks.replies == 1);
	return rpc_message(b, off, xid);
}

/* ---- NVMe over Fabrics, RDMA transport: command capsules. Completions prove nothing alone. ---- */

/* SGL descriptor 1: keyed data block, or a data block at an offset of this capsule. */
static bool nvme_sgl(const struct ulp_bytes *b, uint32_t *in_capsule)
{
	const uint8_t *sgl = b->p + 24;
	*in_capsule = 0;
	if (sgl[15] == 0x40 || sgl[15] == 0x4f) /* address, 24-bit length, key */
		return true;
	if (sgl[15] == 0x01 && sgl[12] == 0 && sgl[13] == 0 && sgl[14] == 0) { /* offset, 32-bit length, zeros */
		*in_capsule = le32(sgl + 8);
		return le32(sgl) < 65536 && le32(sgl + 4) == 0;
	}
	return all_zero(b, 24, 16) && b->p[0] == 0x7f; /* property get and set, disconnect: no data */
}

static bool nvme_fabrics_command(const struct ulp_bytes *b)
{
	uint8_t type = b->p[4];
	if (!all_zero(b, 5, 19))
		return false;
	if (type == 0x01) /* Connect: record format 0, queue size not 0, tail reserved */
		return le16(b->p + 40) == 0 && le16(b->p + 44) != 0 && b->p[47] == 0 && all_zero(b, 52, 12);
	if (type == 0x00 || type == 0x04) { /* Property Set, Property Get: size 0 or 1, offset of a register */
		uint32_t reg = le32(b->p + 44);
		return b->p[40] <= 1 && all_zero(b, 41, 3) && reg < 0x1000 && (reg & 3) == 0 && all_zero(b, 56, 8);
	}
	return false;
}

bool ulp_fit_nvme(const struct ulp_bytes *b)
{
	uint32_t in_capsule;

	if (!b->alone)
		return true;
	if (b->ud || !has(b, 0, 64) || (b->p[1] & 0xc3) != 0x40) /* PSDT 01b: SGL; no fused operation */
		return false;
	if (!nvme_sgl(b, &in_capsule) || (b->whole && b->len != 64 && b->len != 64 + in_capsule))
		return false;
	if (b->p[0] == 0x7f)
		return nvme_fabrics_command(b);
	/* I/O write, read: namespace, no metadata; other opcodes have too few fixed bits */
	if ((b->p[0] != 0x01 && b->p[0] != 0x02) || (b->p[39] & 0xf0) != 0x40)
		return false;
	uint32_t nsid = le32(b->p + 4), bytes = le32(b->p + 32) & 0xffffff, blocks = le16(b->p + 48) + 1u;
	return nsid != 0 && nsid < 0x10000 && all_zero(b, 8, 16) && bytes % blocks == 0 &&
	       (bytes / blocks == 512 || bytes / blocks == 4096);
}

/* ---- iSER: control-type PDUs ---- */

static bool iscsi_opcode(uint8_t opcode)
{
	static const uint8_t known[] = {0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x10, 0x20, 0x21,
					0x22, 0x23, 0x24, 0x25, 0x26, 0x31, 0x32, 0x3c, 0x3e, 0x3f};
	for (size_t i = 0; i < sizeof(known); i++)
		if (known[i] == (opcode & 0x3f))
			return (opcode & 0x80) == 0;
	return false;
}

/* STags are advertised by SCSI commands alone, for reading, writing or both; without them their fields are 0. */
static bool iser_stags(const struct ulp_bytes *b)
{
	bool write_stag = b->p[0] & 0x08, read_stag = b->p[0] & 0x04, command = (b->p[28] & 0x3f) == 0x01;

	if ((write_stag && !(command && (b->p[29] & 0x20))) || (read_stag && !(command && (b->p[29] & 0x40))))
		return false;
	return (write_stag || all_zero(b, 4, 12)) && (read_stag || all_zero(b, 16, 12));
}

bool ulp_fit_iser(const struct ulp_bytes *b)
{
	if (!has(b, 0, 28 + 48))
		return false;
	uint8_t op = b->p[0] & 0xf0;
	if (op == 0x20 || op == 0x30) /* Hello, HelloReply: both versions 10; too little to stand alone */
		return !b->alone && b->p[1] == 0xaa;
	if (op != 0x10 || (b->p[0] & 0x03) != 0 || !all_zero(b, 1, 3) || !iscsi_opcode(b->p[28]))
		return false;
	if (!iser_stags(b))
		return !b->alone;
	uint32_t data = be24(b->p + 33), need = 28 + 48 + b->p[32] * 4u + data;
	if (!b->whole) /* no length to compare with: too little to stand alone */
		return !b->alone && need > b->len;
	return need == b->len || ((need + 3) & ~3u) == b->len || !b->alone;
}

/* ---- SMB Direct ---- */

/* What a peer offers to send, receive and put together: no less than the specification asks for, no more than fits. */
static bool smbdirect_sizes(uint32_t send, uint32_t receive, uint32_t fragmented)
{
	const uint32_t most_packet = 1u << 20, most_message = 1u << 24;

	return send >= 128 && send <= most_packet && receive >= 128 && receive <= most_packet && fragmented >= 131072 &&
	       fragmented <= most_message;
}

static bool smbdirect_negotiate_request(const struct ulp_bytes *b)
{
	return b->len == 20 && has(b, 0, 20) && le32(b->p) == 0x01000100 && le16(b->p + 4) == 0 &&
	       le16(b->p + 6) != 0 && smbdirect_sizes(le32(b->p + 8), le32(b->p + 12), le32(b->p + 16));
}

static bool smbdirect_negotiate_response(const struct ulp_bytes *b)
{
	return b->len == 32 && has(b, 0, 32) && le32(b->p) == 0x01000100 && le32(b->p + 4) == 0x0100 &&
	       (le32(b->p + 12) != 0 || smbdirect_sizes(le32(b->p + 20), le32(b->p + 24), le32(b->p + 28)));
}

/* A data transfer message. Alone, it must carry the beginning of an SMB2 packet. */
static bool smbdirect_data(const struct ulp_bytes *b)
{
	if (!has(b, 0, 20) || le16(b->p) > 255 || le16(b->p + 2) > 255 || le16(b->p + 4) > 1 || le16(b->p + 6) != 0)
		return false;
	uint32_t remaining = le32(b->p + 8), offset = le32(b->p + 12), data = le32(b->p + 16);
	if (b->len == 20)
		return !b->alone && remaining == 0 && offset == 0 && data == 0;
	if (offset != 24 || data == 0 || !has(b, 20, 8) || le32(b->p + 20) != 0)
		return false;
	if (b->whole ? 24 + data != b->len : 24 + data <= b->len)
		return false;
	return !b->alone || (b->p[24] >= 0xfc && be24(b->p + 25) == 0x534d42); /* FE, FD or FC 'S' 'M' 'B' */
}

bool ulp_fit_smbdirect(const struct ulp_bytes *b)
{
	return smbdirect_negotiate_request(b) || smbdirect_negotiate_response(b) || smbdirect_data(b);
}

/* ---- LNet, DRBD, SDP ---- */

bool ulp_fit_lnet(const struct ulp_bytes *b)
{
	if (!has(b, 0, 24) || le32(b->p) != 0x0be91b91)
		return false;
	uint32_t version = le16(b->p + 4), length = le32(b->p + 8);
	return (version == 0x11 || version == 0x12) && (b->whole ? length == b->len : length > b->len);
}

/* How DRBD's headers begin: with 16 bits of length (until the versions are agreed on), with 32, with volume and pad. */
#define DRBD_80 0x83740267u
#define DRBD_95 0x835au
#define DRBD_100 0x8620ec20u
#define DRBD_FLOW_CONTROL 0x5257494eu /* of its RDMA transport */

/* Those of a connection count from 0; the ones that begin it count down from the end. */
static bool drbd_command(uint32_t command)
{
	return command < 0x60 || command >= 0xfff0;
}

/* Receive descriptors for each of two streams, which stream pays. */
static bool drbd_flow_control(const struct ulp_bytes *b)
{
	return b->len == 16 && has(b, 0, 16) && be32(b->p + 4) <= 0xffff && be32(b->p + 8) <= 0xffff &&
	       be32(b->p + 12) <= 1;
}

bool ulp_fit_drbd(const struct ulp_bytes *b)
{
	if (!has(b, 0, 8))
		return false;
	switch (be32(b->p)) {
	case DRBD_FLOW_CONTROL:
		return !b->alone || drbd_flow_control(b);
	case DRBD_80:
		return !b->alone || (b->whole && drbd_command(be16(b->p + 4)) && 8u + be16(b->p + 6) == b->len);
	case DRBD_100:
		return !b->alone || (has(b, 0, 16) && drbd_command(be16(b->p + 6)) && all_zero(b, 12, 4));
	default:
		return !b->alone && be16(b->p) == DRBD_95;
	}
}

bool ulp_fit_sdp(const struct ulp_bytes *b)
{
	return !b->alone && has(b, 0, 16) && (!b->whole || be32(b->p + 4) == b->len);
}

/* ---- SMC-R: link-layer control and connection data control messages, 44 bytes in version 1 ---- */

bool ulp_fit_smcr(const struct ulp_bytes *b)
{
	if (!has(b, 0, 44) || !b->whole || b->ud)
		return false;
	uint8_t type = b->p[0];
	bool v1 = b->len == 44 && b->p[1] == 44 && ((type >= 0x01 && type <= 0x09) || type == 0xfe);
	bool v2 = type >= 0x21 && type <= 0x29 && be16(b->p + 1) == b->len;
	if (!b->alone || (!v1 && !v2))
		return v1 || v2;
	switch (type) {
	case 0x01: /* CONFIRM LINK: sender's MAC, GID, QP, ... 9 reserved bytes */
	case 0x21:
		return (b->p[3] & 0x7f) == 0 && gid_plausible(b->p + 10) && be24(b->p + 26) != 0 &&
		       all_zero(b, v1 ? 35 : 36, v1 ? 9 : 8);
	case 0x07: /* TEST LINK: 16 bytes of user data, 24 reserved */
		return b->p[2] == 0 && (b->p[3] & 0x7f) == 0 && all_zero(b, 20, 24);
	case 0xfe: /* CDC: cursors between reserved bytes */
		return all_zero(b, 8, 2) && all_zero(b, 16, 2) && all_zero(b, 26, 18);
	default:
		return false;
	}
}
