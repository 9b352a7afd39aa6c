/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mkulp.h - what the files of the upper-layer capture generator share.
 *
 *   mkulp.c        the table of captures, main()
 *   mkulp_wire.c   connections: CM exchanges, SENDs, RDMA operations, in three encapsulations
 *   mkulp_msg.c    messages of upper-layer protocols
 *   mkulp_false.c  what looks like them and isn't
 *
 * Bytes are the same on every run. Addresses and QP numbers are used by no other capture of the
 * project, so that files may be merged.
 */
#ifndef MKULP_H
#define MKULP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vs/wire.h"

/* ---- bytes ---- */

#define MSG_MAX 4096

struct msg {
	size_t len;
	uint8_t b[MSG_MAX];
};

void msg_zero(struct msg *m, size_t n); /* appends n zero bytes */
void msg_put(struct msg *m, const void *p, size_t n);
void msg_u8(struct msg *m, unsigned v);
void msg_be16(struct msg *m, unsigned v);
void msg_be24(struct msg *m, unsigned v);
void msg_be32(struct msg *m, uint32_t v);
void msg_be64(struct msg *m, uint64_t v);
void msg_le16(struct msg *m, unsigned v);
void msg_le32(struct msg *m, uint32_t v);
void msg_le64(struct msg *m, uint64_t v);

/* ---- output: any failure ends the program with one line ---- */

struct out;
struct out *out_open(const char *dir, const char *name, bool native);
void out_close(struct out *o);

/* ---- connections ---- */

enum side { CLIENT, SERVER };

struct conn {
	struct out *o;
	enum vs_encap encap;
	unsigned pair;                      /* which two hosts: part of the addresses */
	uint32_t qp[2], psn[2], comm_id[2]; /* by enum side; psn: of the next packet that side sends */
	uint32_t mtu;
};

/* A connection between the two hosts of `pair`; both ends have the same QPN when `same` is set. */
void conn_init(struct conn *c, struct out *o, enum vs_encap encap, unsigned pair, bool same);

void cm_req(struct conn *c, uint64_t service_id, const void *private_data, size_t len);
void cm_rep(struct conn *c, const void *private_data, size_t len);
void cm_rtu(struct conn *c);
void cm_rej(struct conn *c);
void cm_dreq(struct conn *c, enum side from);
void cm_drep(struct conn *c, enum side from);
/* REQ to a port of RDMA-CM's TCP space with this private data, REP, RTU. */
void cm_connect(struct conn *c, unsigned port, const struct msg *private_data);
void cm_sidr(struct conn *c, uint64_t service_id);
uint64_t cm_port(unsigned port);

void send_msg(struct conn *c, enum side from, const struct msg *m); /* SEND Only, or First, Middle, Last */
void send_op(struct conn *c, enum side from, uint8_t opcode, const void *p, size_t len);
void send_ud(struct conn *c, enum side from, const void *p, size_t len);
/* READ request of `from` and the responses of the other side. */
void rdma_read(struct conn *c, enum side from, uint64_t va, uint32_t rkey, const void *p, size_t len);
void rdma_write(struct conn *c, enum side from, uint64_t va, uint32_t rkey, const void *p, size_t len);
void ack(struct conn *c, enum side from);

/* ---- messages; each clears `m` first ---- */

void rpc_null_call(struct msg *m, uint32_t xid);
void rpc_null_reply(struct msg *m, uint32_t xid);
void rpc_nfs_write_inline(struct msg *m, uint32_t xid, uint32_t bytes);
void rpc_nfs_write_chunk(struct msg *m, uint32_t xid, uint64_t va, uint32_t rkey, uint32_t bytes);
void rpc_nfs_truncated(struct msg *m, uint32_t xid);
void rpc_done(struct msg *m, uint32_t xid);
void nvme_private_req(struct msg *m, unsigned qid);
void nvme_private_rep(struct msg *m);
void nvme_connect(struct msg *m, unsigned cid, uint64_t va, uint32_t rkey);
void nvme_connect_data(struct msg *m);
void nvme_property_get(struct msg *m, unsigned cid);
void nvme_read(struct msg *m, unsigned cid, uint64_t va, uint32_t rkey);
void nvme_write_in_capsule(struct msg *m, unsigned cid, uint32_t bytes);
void nvme_cqe(struct msg *m, unsigned cid);
void iser_login(struct msg *m, bool response, uint32_t extra);
void iser_scsi_inquiry(struct msg *m);
void smbdirect_negotiate(struct msg *m, bool response);
void smbdirect_data(struct msg *m, uint32_t extra);
void lnet_noop(struct msg *m);
void smcr_confirm_link(struct msg *m);
void smcr_cdc(struct msg *m);
void sdp_hello(struct msg *m);
void sdp_data(struct msg *m);
void ipoib_arp(struct msg *m);
void ipoib_icmp(struct msg *m);
void ipoib_icmp_long(struct msg *m, uint32_t bytes);
void ipoib_ipv6(struct msg *m);
void eoib_arp(struct msg *m);
void fcoib_frame(struct msg *m);

/* ---- look-alikes ---- */

void false_sends(struct conn *c);
void false_datagrams(struct conn *c);

_Noreturn void die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
