/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mkulp_msg.c - messages of upper-layer protocols (mkulp.h), written from RFC 8166, 5531 and 1813
 * (RPC-over-RDMA, RPC, NFSv3), NVMe over Fabrics, RFC 7145 and 7143 (iSER, iSCSI), MS-SMBD and
 * MS-SMB2, the public headers of Lustre, RFC 7609 (SMC-R), IBTA Annex A4 (SDP), RFC 4391 (IPoIB).
 */
#include <libdeflate.h>
#include <string.h>

#include "mkulp.h"

/* ---- bytes ---- */

void msg_put(struct msg *m, const void *p, size_t n)
{
	if (n > sizeof(m->b) - m->len)
		die("a message is over %d bytes", MSG_MAX);
	memcpy(m->b + m->len, p, n);
	m->len += n;
}

void msg_zero(struct msg *m, size_t n)
{
	static const uint8_t zero[MSG_MAX];

	msg_put(m, zero, n);
}

void msg_u8(struct msg *m, unsigned v)
{
	uint8_t b = (uint8_t)v;

	msg_put(m, &b, 1);
}

void msg_be16(struct msg *m, unsigned v)
{
	msg_u8(m, v >> 8);
	msg_u8(m, v);
}

void msg_be24(struct msg *m, unsigned v)
{
	msg_u8(m, v >> 16);
	msg_be16(m, v);
}

void msg_be32(struct msg *m, uint32_t v)
{
	msg_be16(m, v >> 16);
	msg_be16(m, v & 0xffff);
}

void msg_be64(struct msg *m, uint64_t v)
{
	msg_be32(m, (uint32_t)(v >> 32));
	msg_be32(m, (uint32_t)v);
}

void msg_le16(struct msg *m, unsigned v)
{
	msg_u8(m, v);
	msg_u8(m, v >> 8);
}

void msg_le32(struct msg *m, uint32_t v)
{
	msg_le16(m, v & 0xffff);
	msg_le16(m, v >> 16);
}

void msg_le64(struct msg *m, uint64_t v)
{
	msg_le32(m, (uint32_t)v);
	msg_le32(m, (uint32_t)(v >> 32));
}

static void msg_text(struct msg *m, const char *s, size_t room)
{
	msg_put(m, s, strlen(s));
	msg_zero(m, room - strlen(s));
}

/* ---- RPC-over-RDMA ---- */

static void rpcrdma_header(struct msg *m, uint32_t xid, uint32_t proc)
{
	m->len = 0;
	msg_be32(m, xid);
	msg_be32(m, 1);  /* version */
	msg_be32(m, 32); /* credits */
	msg_be32(m, proc);
}

static void no_chunks(struct msg *m)
{
	msg_zero(m, 12); /* read list, write list, reply chunk */
}

static void rpc_call(struct msg *m, uint32_t xid, uint32_t proc)
{
	msg_be32(m, xid);
	msg_be32(m, 0); /* call */
	msg_be32(m, 2);
	msg_be32(m, 100003); /* NFS */
	msg_be32(m, 3);
	msg_be32(m, proc);
	msg_zero(m, 16); /* AUTH_NONE, twice */
}

void rpc_null_call(struct msg *m, uint32_t xid)
{
	rpcrdma_header(m, xid, 0);
	no_chunks(m);
	rpc_call(m, xid, 0);
}

void rpc_null_reply(struct msg *m, uint32_t xid)
{
	rpcrdma_header(m, xid, 0);
	no_chunks(m);
	msg_be32(m, xid);
	msg_be32(m, 1); /* reply */
	msg_be32(m, 0); /* accepted */
	msg_zero(m, 8); /* verifier */
	msg_be32(m, 0); /* success */
}

static void nfs_write_arguments(struct msg *m, uint32_t bytes)
{
	msg_be32(m, 32); /* file handle */
	for (unsigned i = 0; i < 32; i++)
		msg_u8(m, 0x40 + i);
	msg_be64(m, 0); /* offset */
	msg_be32(m, bytes);
	msg_be32(m, 2); /* FILE_SYNC */
	msg_be32(m, bytes);
}

void rpc_nfs_write_inline(struct msg *m, uint32_t xid, uint32_t bytes)
{
	rpcrdma_header(m, xid, 0);
	no_chunks(m);
	rpc_call(m, xid, 7);
	nfs_write_arguments(m, bytes);
	for (uint32_t i = 0; i < bytes; i++)
		msg_u8(m, 'a' + i % 26);
	msg_zero(m, -bytes & 3);
}

void rpc_nfs_write_chunk(struct msg *m, uint32_t xid, uint64_t va, uint32_t rkey, uint32_t bytes)
{
	rpcrdma_header(m, xid, 0);
	msg_be32(m, 1);       /* a read chunk: */
	msg_be32(m, 40 + 56); /* position in the RPC message: call header, arguments up to the data */
	msg_be32(m, rkey);
	msg_be32(m, bytes);
	msg_be64(m, va);
	msg_zero(m, 12);
	rpc_call(m, xid, 7);
	nfs_write_arguments(m, bytes);
}

/* The RPC header is right, the file handle of the READ is cut off. */
void rpc_nfs_truncated(struct msg *m, uint32_t xid)
{
	rpcrdma_header(m, xid, 0);
	no_chunks(m);
	rpc_call(m, xid, 6);
	msg_be32(m, 32);
	msg_be64(m, 0x4041424344454647);
}

void rpc_done(struct msg *m, uint32_t xid)
{
	rpcrdma_header(m, xid, 3);
}

/* ---- NVMe over Fabrics ---- */

void nvme_private_req(struct msg *m, unsigned qid)
{
	m->len = 0;
	msg_le16(m, 0); /* record format */
	msg_le16(m, qid);
	msg_le16(m, 32);
	msg_le16(m, 31);
	msg_le16(m, 0xffff);
	msg_zero(m, 22);
}

void nvme_private_rep(struct msg *m)
{
	m->len = 0;
	msg_le16(m, 0);
	msg_le16(m, 32);
	msg_zero(m, 28);
}

static void nvme_command(struct msg *m, unsigned opcode, unsigned cid)
{
	m->len = 0;
	msg_u8(m, opcode);
	msg_u8(m, 0x40); /* SGL */
	msg_le16(m, cid);
}

static void nvme_keyed_sgl(struct msg *m, uint64_t va, unsigned len, uint32_t rkey)
{
	msg_le64(m, va);
	msg_le16(m, len & 0xffff);
	msg_u8(m, len >> 16);
	msg_le32(m, rkey);
	msg_u8(m, 0x40);
}

void nvme_connect(struct msg *m, unsigned cid, uint64_t va, uint32_t rkey)
{
	nvme_command(m, 0x7f, cid);
	msg_u8(m, 0x01);
	msg_zero(m, 19);
	nvme_keyed_sgl(m, va, 1024, rkey);
	msg_le16(m, 0);  /* record format */
	msg_le16(m, 0);  /* admin queue */
	msg_le16(m, 31); /* its size */
	msg_u8(m, 0);
	msg_u8(m, 0);
	msg_le32(m, 120000);
	msg_zero(m, 12);
}

void nvme_connect_data(struct msg *m)
{
	m->len = 0;
	for (unsigned i = 0; i < 16; i++)
		msg_u8(m, 0x10 + i);
	msg_le16(m, 0xffff);
	msg_zero(m, 238);
	msg_text(m, "nqn.2014-08.org.example:subsystem", 256);
	msg_text(m, "nqn.2014-08.org.example:host", 256);
	msg_zero(m, 256);
}

void nvme_property_get(struct msg *m, unsigned cid)
{
	nvme_command(m, 0x7f, cid);
	msg_u8(m, 0x04);
	msg_zero(m, 19);
	nvme_keyed_sgl(m, 0, 0, 0);
	msg_u8(m, 1); /* 8 bytes */
	msg_zero(m, 3);
	msg_le32(m, 0); /* controller capabilities */
	msg_zero(m, 16);
}

void nvme_read(struct msg *m, unsigned cid, uint64_t va, uint32_t rkey)
{
	nvme_command(m, 0x02, cid);
	msg_le32(m, 1); /* namespace */
	msg_zero(m, 16);
	nvme_keyed_sgl(m, va, 4096, rkey);
	msg_le64(m, 0x1000);
	msg_le16(m, 7); /* 8 blocks */
	msg_zero(m, 14);
}

/* The data stand behind the command, in the same SEND. */
void nvme_write_in_capsule(struct msg *m, unsigned cid, uint32_t bytes)
{
	nvme_command(m, 0x01, cid);
	msg_le32(m, 1);
	msg_zero(m, 16);
	msg_le64(m, 0);
	msg_le32(m, bytes);
	msg_zero(m, 3);
	msg_u8(m, 0x01);
	msg_le64(m, 0x2000);
	msg_le16(m, bytes / 512 - 1);
	msg_zero(m, 14);
	for (uint32_t i = 0; i < bytes; i++)
		msg_u8(m, i);
}

void nvme_cqe(struct msg *m, unsigned cid)
{
	m->len = 0;
	msg_le64(m, 1);
	msg_le16(m, 1);
	msg_le16(m, 0);
	msg_le16(m, cid);
	msg_le16(m, 0);
}

/* ---- iSER ---- */

void iser_login(struct msg *m, bool response, uint32_t extra)
{
	static const char keys[] = "InitiatorName=iqn.2026-01.org.example:a\0SessionType=Discovery\0AuthMethod=None";
	static const char pad[] = "X-org.example.pad=";
	size_t len = sizeof(keys) + (extra ? sizeof(pad) + extra : 0);

	m->len = 0;
	msg_u8(m, 0x10);
	msg_zero(m, 27);
	msg_u8(m, response ? 0x23 : 0x43);
	msg_u8(m, 0x87);
	msg_zero(m, 2);
	msg_u8(m, 0);
	msg_be24(m, (unsigned)len);
	msg_be32(m, 0x00023d00);
	msg_be32(m, 0x00010000);
	msg_be32(m, 0x11); /* task tag */
	msg_zero(m, 28);
	msg_put(m, keys, sizeof(keys));
	if (extra) {
		msg_put(m, pad, sizeof(pad) - 1);
		for (uint32_t i = 0; i < extra; i++)
			msg_u8(m, 'x');
		msg_u8(m, 0);
	}
	msg_zero(m, -len & 3);
}

void iser_scsi_inquiry(struct msg *m)
{
	m->len = 0;
	msg_u8(m, 0x14); /* read STag is valid */
	msg_zero(m, 15);
	msg_be32(m, 0x0badcafe);
	msg_be64(m, 0x7f0000001000);
	msg_u8(m, 0x01);
	msg_u8(m, 0xc1);
	msg_zero(m, 2);
	msg_zero(m, 4); /* no AHS, no data */
	msg_zero(m, 8);
	msg_be32(m, 0x12);
	msg_be32(m, 36);
	msg_zero(m, 8);
	msg_put(m, "\x12\0\0\0\x24", 5);
	msg_zero(m, 11);
}

/* ---- SMB Direct ---- */

void smbdirect_negotiate(struct msg *m, bool response)
{
	m->len = 0;
	msg_le16(m, 0x0100);
	msg_le16(m, 0x0100);
	if (response) {
		msg_le16(m, 0x0100);
		msg_le16(m, 0);
	} else {
		msg_le16(m, 0);
	}
	msg_le16(m, 255);
	if (response) {
		msg_le16(m, 255);
		msg_le32(m, 0);
		msg_le32(m, 1048576);
	}
	msg_le32(m, 1364);
	msg_le32(m, 8192);
	msg_le32(m, 1048576);
}

void smbdirect_data(struct msg *m, uint32_t extra)
{
	uint32_t len = 64 + 36 + 2 + extra;

	m->len = 0;
	msg_le16(m, 10);
	msg_le16(m, 1);
	msg_le16(m, 0);
	msg_le16(m, 0);
	msg_le32(m, 0);
	msg_le32(m, 24);
	msg_le32(m, len);
	msg_le32(m, 0);
	msg_put(m, "\xfeSMB", 4);
	msg_le16(m, 64);
	msg_zero(m, 58); /* negotiate, message 0 */
	msg_le16(m, 36);
	msg_le16(m, 1);
	msg_le16(m, 1);
	msg_zero(m, 2 + 4 + 16 + 8);
	msg_le16(m, 0x0300);
	msg_zero(m, extra);
}

/* ---- LNet, SMC-R, SDP ---- */

void lnet_noop(struct msg *m)
{
	m->len = 0;
	msg_le32(m, 0x0be91b91);
	msg_le16(m, 0x12);
	msg_u8(m, 0xd0);
	msg_u8(m, 1);
	msg_le32(m, 48);
	msg_le32(m, 0);
	msg_le64(m, 0x000500000a630101);
	msg_le64(m, 0x0006000000000001);
	msg_le64(m, 0x000500000a630102);
	msg_le64(m, 0x0006000000000002);
}

void smcr_confirm_link(struct msg *m)
{
	m->len = 0;
	msg_u8(m, 0x01);
	msg_u8(m, 44);
	msg_u8(m, 0);
	msg_u8(m, 0);
	msg_put(m, "\x02\0\0\0\x07\x01", 6);
	msg_zero(m, 10);
	msg_be16(m, 0xffff);
	msg_be32(m, 0x0a630101);
	msg_be24(m, 0x770001);
	msg_u8(m, 1);
	msg_be32(m, 0x01020304);
	msg_u8(m, 2);
	msg_zero(m, 9);
}

void smcr_cdc(struct msg *m)
{
	m->len = 0;
	msg_u8(m, 0xfe);
	msg_u8(m, 44);
	msg_be16(m, 7);
	msg_be32(m, 0x00010002);
	msg_zero(m, 2);
	msg_be16(m, 0);
	msg_be32(m, 0x100);
	msg_zero(m, 2);
	msg_be16(m, 0);
	msg_be32(m, 0x80);
	msg_zero(m, 20);
}

static void sdp_bsdh(struct msg *m, unsigned mid, uint32_t len)
{
	m->len = 0;
	msg_u8(m, mid);
	msg_u8(m, 0);
	msg_be16(m, 8);
	msg_be32(m, len);
	msg_be32(m, 1);
	msg_be32(m, 0);
}

void sdp_hello(struct msg *m)
{
	sdp_bsdh(m, 0x00, 64);
	msg_u8(m, 0x11);
	msg_u8(m, 0x40);
	msg_u8(m, 0);
	msg_u8(m, 1);
	msg_be32(m, 4096);
	msg_be32(m, 4096);
	msg_be16(m, 40000);
	msg_zero(m, 14);
	msg_be32(m, 0x0a630101);
	msg_zero(m, 12);
	msg_be32(m, 0x0a630102);
}

void sdp_data(struct msg *m)
{
	sdp_bsdh(m, 0xff, 16 + 5);
	msg_put(m, "hello", 5);
}

/* ---- network packets over InfiniBand ---- */

static void ether_header(struct msg *m, unsigned ethertype)
{
	m->len = 0;
	msg_be16(m, ethertype);
	msg_be16(m, 0);
}

static void arp(struct msg *m, bool ib)
{
	msg_be16(m, ib ? 32 : 1);
	msg_be16(m, 0x0800);
	msg_u8(m, ib ? 20 : 6);
	msg_u8(m, 4);
	msg_be16(m, 1);
	msg_be32(m, 0x00000123);
	msg_zero(m, ib ? 16 : 2);
	msg_be32(m, 0x0a630101);
	msg_zero(m, ib ? 20 : 6);
	msg_be32(m, 0x0a630102);
}

void ipoib_arp(struct msg *m)
{
	ether_header(m, 0x0806);
	arp(m, true);
}

static unsigned inet_sum(const uint8_t *p, size_t n)
{
	unsigned sum = 0;

	for (size_t i = 0; i + 1 < n; i += 2)
		sum += (unsigned)(p[i] << 8 | p[i + 1]);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum & 0xffff;
}

void ipoib_icmp_long(struct msg *m, uint32_t bytes)
{
	unsigned sum;

	ether_header(m, 0x0800);
	msg_be32(m, 0x45000000 | (28 + bytes));
	msg_be32(m, 0x12340000);
	msg_be32(m, 0x40010000);
	msg_be32(m, 0x0a630101);
	msg_be32(m, 0x0a630102);
	sum = inet_sum(m->b + 4, 20);
	m->b[4 + 10] = (uint8_t)(sum >> 8);
	m->b[4 + 11] = (uint8_t)sum;
	msg_be32(m, 0x08000000);
	msg_be32(m, 0x00010001);
	msg_zero(m, bytes);
	sum = inet_sum(m->b + 24, 8 + bytes);
	m->b[26] = (uint8_t)(sum >> 8);
	m->b[27] = (uint8_t)sum;
}

void ipoib_icmp(struct msg *m)
{
	ipoib_icmp_long(m, 0);
}

void ipoib_ipv6(struct msg *m)
{
	ether_header(m, 0x86dd);
	msg_be32(m, 0x60000000);
	msg_be16(m, 8);
	msg_u8(m, 59); /* nothing follows that means anything */
	msg_u8(m, 64);
	msg_be64(m, 0xfd99000000000000);
	msg_be64(m, 1);
	msg_be64(m, 0xfd99000000000000);
	msg_be64(m, 2);
	msg_zero(m, 8);
}

void eoib_arp(struct msg *m)
{
	m->len = 0;
	msg_be32(m, 0xc0000000);
	msg_put(m, "\xff\xff\xff\xff\xff\xff\x02\0\0\0\x07\x01", 12);
	msg_be16(m, 0x0806);
	arp(m, false);
}

void fcoib_frame(struct msg *m)
{
	m->len = 0;
	msg_u8(m, 0x40);
	msg_zero(m, 14);
	msg_u8(m, 0x2e);         /* SOFi3 */
	msg_be32(m, 0x23010102); /* an ELS answer to 01.01.02: */
	msg_be32(m, 0x00010101);
	msg_be32(m, 0x01290000);
	msg_be32(m, 0x00000000);
	msg_be32(m, 0x1234ffff);
	msg_be32(m, 0);
	msg_be32(m, 0x01000000); /* LS_RJT, */
	msg_be32(m, 0x00050000); /* busy */
	msg_le32(m, libdeflate_crc32(0, m->b + 16, m->len - 16));
	msg_u8(m, 0x42); /* EOFt */
	msg_zero(m, 3);
}
