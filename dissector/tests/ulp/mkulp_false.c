/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mkulp_false.c - payloads that no upper-layer protocol has a right to (mkulp.h): what perftest,
 * rping and ping-pong programs send, random bytes, and every message of mkulp_msg.c with one fault
 * that a real one can't have.
 */
#include <string.h>

#include "mkulp.h"

static void plain(struct conn *c, bool ud, const struct msg *m)
{
	if (ud)
		send_ud(c, CLIENT, m->b, m->len);
	else
		send_op(c, CLIENT, VS_OP_RC_SEND_ONLY, m->b, m->len);
}

/* xorshift32: the same bytes on every run */
static uint32_t next_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

static void fillings(struct conn *c, bool ud)
{
	static const unsigned sizes[] = {1,  2,  3,  4,  7,  8,  12, 15, 16, 17,  20,  24,
					 28, 32, 44, 45, 48, 56, 60, 64, 76, 128, 256, 1000};
	uint32_t state = 0x77005eed;

	for (unsigned kind = 0; kind < 6; kind++) {
		for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			struct msg m = {.len = 0};

			for (unsigned k = 0; k < sizes[i]; k++) {
				uint32_t r = next_random(&state);

				msg_u8(&m, kind == 0   ? 0
					   : kind == 1 ? 0xff
					   : kind == 2 ? 'a' + k % 26
					   : kind == 3 ? k
					   : kind == 4 ? (k % 4 == 3 ? k / 4 : 0)
						       : r);
			}
			plain(c, ud, &m);
		}
	}
}

static void rping_texts(struct conn *c)
{
	for (unsigned i = 0; i < 3; i++) {
		struct msg m = {.len = 0};

		msg_put(&m, "rdma-ping-0: ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqr", 64);
		m.b[10] = (uint8_t)('0' + i);
		plain(c, false, &m);
	}
}

/* Byte `at` of the message becomes another one. */
static void fault(struct conn *c, bool ud, const struct msg *good, size_t at, unsigned value)
{
	struct msg m = *good;

	if (m.b[at] == (uint8_t)value)
		die("a fault at byte %zu changes nothing", at);
	m.b[at] = (uint8_t)value;
	plain(c, ud, &m);
}

/* One byte too many, one too few: no length field agrees. */
static void wrong_length(struct conn *c, bool ud, const struct msg *good)
{
	struct msg m = *good;

	msg_u8(&m, 0x55);
	plain(c, ud, &m);
	m.len -= 2;
	plain(c, ud, &m);
}

static void rpc_faults(struct conn *c)
{
	struct msg m;

	rpc_null_call(&m, 0x11223344);
	fault(c, false, &m, 7, 2);  /* version 2 */
	fault(c, false, &m, 15, 5); /* no such procedure */
	fault(c, false, &m, 3, 0);  /* the XIDs differ */
	fault(c, false, &m, 11, 0); /* no credits */
	fault(c, false, &m, 19, 2); /* a boolean that is none */
	fault(c, false, &m, 35, 2); /* neither call nor reply */
	fault(c, false, &m, 39, 3); /* RPC version 3 */
	fault(c, false, &m, 53, 2); /* authentication flavor 131072 */
	rpc_null_reply(&m, 0x11223344);
	fault(c, false, &m, 51, 9); /* accept status 9 */
	rpc_done(&m, 0x11223344);   /* proves nothing alone */
	plain(c, false, &m);
}

static void storage_faults(struct conn *c)
{
	struct msg m;

	nvme_connect(&m, 1, 0x7f0000001000, 0x1234);
	fault(c, false, &m, 1, 0);     /* no SGL */
	fault(c, false, &m, 4, 0x55);  /* no such Fabrics command */
	fault(c, false, &m, 10, 1);    /* reserved */
	fault(c, false, &m, 39, 0x20); /* no such SGL */
	fault(c, false, &m, 60, 1);    /* reserved */
	wrong_length(c, false, &m);
	nvme_cqe(&m, 1); /* proves nothing alone */
	plain(c, false, &m);
	iser_login(&m, false, 0);
	fault(c, false, &m, 0, 0x50);
	fault(c, false, &m, 2, 1);
	fault(c, false, &m, 28, 0x47); /* no such iSCSI opcode */
	fault(c, false, &m, 35, 0x10); /* data segment length */
	fault(c, false, &m, 0, 0x14);  /* a STag for reading, and no SCSI command */
	/* 28 as a little-endian length in front of a long message: in iSER a header with both STags */
	m.len = 0;
	msg_le32(&m, 28);
	msg_zero(&m, 28);
	msg_be32(&m, 0x00010000);
	msg_zero(&m, 1500);
	send_msg(c, CLIENT, &m);
	smbdirect_negotiate(&m, false);
	fault(c, false, &m, 1, 2);  /* version 2.0 */
	fault(c, false, &m, 6, 0);  /* no credits */
	fault(c, false, &m, 19, 1); /* messages of 16 MiB and more */
	wrong_length(c, false, &m);
	smbdirect_data(&m, 0);
	fault(c, false, &m, 24, 0x41); /* not SMB */
	fault(c, false, &m, 12, 20);
	wrong_length(c, false, &m);
	lnet_noop(&m);
	fault(c, false, &m, 0, 0);
	fault(c, false, &m, 4, 0x10);
	wrong_length(c, false, &m);
	smcr_confirm_link(&m);
	fault(c, false, &m, 1, 45);
	fault(c, false, &m, 43, 1);
	fault(c, false, &m, 14, 1); /* no GID */
	wrong_length(c, false, &m);
	smcr_cdc(&m);
	fault(c, false, &m, 30, 1);
	sdp_data(&m); /* proves nothing alone */
	plain(c, false, &m);
}

static void network_faults(struct conn *c, bool ud)
{
	struct msg m;

	ipoib_icmp(&m);
	fault(c, ud, &m, 1, 6);   /* ARP it isn't */
	fault(c, ud, &m, 3, 1);   /* reserved */
	fault(c, ud, &m, 12, 63); /* TTL: the header checksum is wrong */
	wrong_length(c, ud, &m);
	ipoib_ipv6(&m);
	fault(c, ud, &m, 4, 0x50);
	fault(c, ud, &m, 9, 9);
	wrong_length(c, ud, &m);
	ipoib_arp(&m);
	fault(c, ud, &m, 5, 33); /* hardware type */
	fault(c, ud, &m, 8, 6);  /* hardware length */
	wrong_length(c, ud, &m);
}

void false_sends(struct conn *c)
{
	fillings(c, false);
	rping_texts(c);
	rpc_faults(c);
	storage_faults(c);
	network_faults(c, false);
}

void false_datagrams(struct conn *c)
{
	struct msg m;

	fillings(c, true);
	network_faults(c, true);
	eoib_arp(&m);
	fault(c, true, &m, 0, 0xd0);
	fault(c, true, &m, 17, 0x07);
	fault(c, true, &m, 19, 7);
	fcoib_frame(&m);
	fault(c, true, &m, 0, 0);
	fault(c, true, &m, 15, 0);
	fault(c, true, &m, 20, 0x55); /* the CRC says no */
	/* only UD carries these */
	rpc_null_call(&m, 0x11223344);
	m.b[7] = 3;
	plain(c, true, &m);
}
