/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * analysis.h - what the files that show the analysis share.
 *
 *   analysis.c       the monitor: fed once with each packet, its verdicts kept and read back (store.h)
 *   analysis_show.c  the verdict as a tree, in fields
 *   analysis_mark.c  the verdict in words: expert items, tags of the Info column
 */
#ifndef RDMA_ANALYSIS_H
#define RDMA_ANALYSIS_H

#include "rdma.h"

/* What is worth a remark about a packet; several may hold. */
enum rdma_mark {
	RDMA_MARK_AGAIN,       /* a request sent again */
	RDMA_MARK_PART,        /* the rest of a READ asked for again */
	RDMA_MARK_RESPONSE,    /* a response sent again */
	RDMA_MARK_SAME_PSN,    /* a PSN again where nothing is ever sent again: UC, UD */
	RDMA_MARK_COPY,        /* a copy made by the network */
	RDMA_MARK_DUPLICATE,   /* executed by its responder before */
	RDMA_MARK_GAP,         /* packets are missing before it */
	RDMA_MARK_LATE,        /* behind others */
	RDMA_MARK_LATE_AGAIN,  /* sent again, but seen for the first time */
	RDMA_MARK_DUP_ACK,     /* acknowledges nothing new */
	RDMA_MARK_GHOST_ACK,   /* acknowledges less than one before */
	RDMA_MARK_NAK,         /* refuses */
	RDMA_MARK_RNR,         /* not ready */
	RDMA_MARK_IMPLIED_NAK, /* tells that an earlier request was not answered */
	RDMA_MARK_UNASKED,     /* answers what was not seen to be asked */
	RDMA_MARK_COUNT
};

/* Set of 1 << enum rdma_mark. */
uint32_t rdma_analysis_marks(const struct vs_mon_result *r, uint8_t opcode);

/* "NAK PSN sequence", ...; NULL: none. */
const char *rdma_analysis_cause(const struct vs_mon_result *r);

/* Raises the expert items of a mark, or of broken rule number `i`, on `item` (may be NULL). */
void rdma_analysis_expert_mark(struct rdma_ctx *c, proto_item *item, enum rdma_mark mark);
void rdma_analysis_expert_rule(struct rdma_ctx *c, proto_item *item, unsigned i);
void rdma_analysis_mark_register(int proto);

#endif
