/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rdma.h - what the files of the plugin share.
 *
 *   plugin.c       the symbols that Wireshark looks for
 *   compat.h       one source for Wireshark 4.0, 4.2, 4.4 and 4.6
 *   packet-rdma.c  the protocol: entry points, header trees, Info column, expert items
 *   crc.c          ICRC and VCRC: walking back to the IP header, Good / Bad / Unverified and why
 *   takeover.c     which dissector tables we take from the built-in, and giving them back
 *   mad.c          MAD header, CM messages; other MAD classes go to the built-in
 *   ulp.c          upper-layer protocols: who gets the payload, on what evidence
 *   stats.c        -z rdma,opcodes; conversation and endpoint tables by QP
 */
#ifndef RDMA_H
#define RDMA_H

#include "compat.h"

#include "vs/icrc.h"
#include "vs/wire.h"

extern int proto_rdma;

/* One packet on its way through the plugin. Lives on the stack of the entry point. */
struct rdma_ctx {
	tvbuff_t *tvb; /* begins with our first header: LRH, GRH or BTH */
	packet_info *pinfo;
	proto_tree *top_tree; /* the frame's tree; sub-dissectors add to it */
	proto_tree *tree;     /* our own subtree; NULL when no tree is wanted */
	proto_item *item;     /* the root item of `tree` */
	struct vs_pkt pkt;    /* parsed from `tvb`; offsets count from its start */
	uint32_t src_qp;      /* DETH, or learnt; 0 when unknown */
	bool src_qp_known;
};

/* Tap record, one per packet with a BTH; packet scope. Tap name "rdma". */
struct rdma_tap {
	uint8_t opcode, aeth_syndrome;
	bool has_aeth, src_qp_known;
	uint32_t dest_qp, src_qp, psn;
	uint32_t payload_len; /* as on the wire, without pad */
	uint32_t frame_len;   /* as on the wire */
};

/* mad.c: decodes `tvb` (the payload of a packet to or from QP 0 or 1). Always handles it. */
void rdma_mad_register(int proto);
void rdma_mad_handoff(void);
void rdma_mad_dissect(struct rdma_ctx *c, tvbuff_t *tvb);

/*
 * ulp.c. rdma_ulp_dissect offers `tvb` (payload without pad) to upper-layer dissectors that there
 * is evidence for; false when none took it and the caller should show plain data.
 * rdma_ulp_learn_cm is told of every CM message: `data` are the 232 bytes after the MAD header.
 * rdma_ulp_src_qp looks up what CM taught of the sender's QP.
 */
void rdma_ulp_register(int proto);
void rdma_ulp_handoff(void);
bool rdma_ulp_dissect(struct rdma_ctx *c, tvbuff_t *tvb);
void rdma_ulp_learn_cm(struct rdma_ctx *c, uint16_t attribute, const uint8_t *data, size_t len);
/* Offers CM private data to "infiniband.mad.cm.private"; false when nobody took it. */
bool rdma_ulp_cm_private(struct rdma_ctx *c, uint16_t attribute, tvbuff_t *private_tvb);
bool rdma_ulp_src_qp(const packet_info *pinfo, uint32_t dest_qp, uint32_t *src_qp);

/* takeover.c */
void rdma_takeover_register(module_t *prefs);
void rdma_takeover_handoff(void);
extern dissector_handle_t rdma_builtin_handle; /* "infiniband": whole packets, first byte as ours */

/* stats.c */
void rdma_stats_register(int proto);
extern int rdma_tap_id;

#endif
