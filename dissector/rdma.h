/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rdma.h - what the files of the plugin share.
 *
 *   plugin.c       the symbols that Wireshark looks for
 *   compat.h       one source for Wireshark 4.0, 4.2, 4.4 and 4.6
 *   packet-rdma.c  the protocol: entry points, the order of work, hand-off, tap
 *   headers.c      fields and trees of every header from LRH to IETH
 *   info.c         the Info column
 *   net.c          what stands in front of us: the IP header, and whether it promises more than there is
 *   crc.c          ICRC and VCRC: Good / Bad / Unverified and why
 *   offload.c      segmentation-offload super-packets: several packets in one UDP datagram
 *   expert.c       broken rules (reasons.def) as expert items
 *   takeover.c     which dissector tables we take from the built-in, and giving them back
 *   mad.c          MAD header; MAD classes other than CM go to the built-in
 *   cm.c           CM messages
 *   analysis.h     what a packet is to those before it: the monitor inside Wireshark
 *   ulp.c          upper-layer protocols: who gets the payload, on what evidence
 *   stats.c        -z rdma,opcodes; conversation and endpoint tables by QP
 *   stats_flows.c  -z rdma,streams and rdma,rtt; -z rdma,analysis as a tree
 *   message.c      the data of messages, put together from their packets
 *   follow.c       -z follow,rdma and -z rdma,message; Tools > RDMA > Follow Message
 */
#ifndef RDMA_H
#define RDMA_H

#include "compat.h"
#include "store.h"

#include "vs/icrc.h"
#include "vs/wire.h"

extern int proto_rdma;

/* packet-rdma.c: what plugin.c hands to Wireshark. */
void rdma_register(void);
void rdma_handoff(void);
struct rdma_ctx;
/* The payload without pad, for who dissects it: as long as on the wire, with the bytes that were captured. */
tvbuff_t *rdma_payload_tvb(const struct rdma_ctx *c);

/* What the first byte of a packet is, by the table that brought it to us. */
enum rdma_start {
	RDMA_START_LRH, /* ERF InfiniBand */
	RDMA_START_GRH, /* ethertype 0x8915 */
	RDMA_START_BTH, /* UDP 4791 */
};

/* The header that a broken rule is about: its tree item gets the expert item. */
enum rdma_place {
	RDMA_AT_ROOT,
	RDMA_AT_LRH,
	RDMA_AT_GRH,
	RDMA_AT_BTH,
	RDMA_AT_RDETH,
	RDMA_AT_XRCETH,
	RDMA_AT_DETH,
	RDMA_AT_FETH,
	RDMA_AT_RETH,
	RDMA_AT_AETH,
	RDMA_AT_ATOMICETH,
	RDMA_AT_PAYLOAD,
	RDMA_AT_PAD,
	RDMA_AT_COUNT
};

/* Who, besides the capture, left bytes of the packet out. */
enum rdma_cut {
	RDMA_CUT_NOT = 0,
	RDMA_CUT_FRAGMENT, /* the rest is in other IP fragments, ours or those of a tunnel */
	RDMA_CUT_BEFORE,   /* its headers promise more than there is: mirrored in part */
	RDMA_CUT_QUOTED,   /* an ICMP error quotes it: no traffic at all, whole or not */
};

#define RDMA_REASONS_MAX 16

/* What the check of a CRC said. */
struct rdma_crc {
	enum vs_crc_status status;
	uint32_t expected;  /* the CRC value; meaningful when Good or Bad */
	const char *reason; /* static: why Unverified; NULL otherwise */
};

/* One packet on its way through the plugin. Lives on the stack of the entry point. */
struct rdma_ctx {
	tvbuff_t *tvb; /* begins with our first header: LRH, GRH or BTH */
	packet_info *pinfo;
	proto_tree *top_tree; /* the frame's tree; sub-dissectors add to it */
	proto_tree *tree;     /* our own subtree; NULL when no tree is wanted */
	proto_item *item;     /* the root item of `tree` */
	struct vs_pkt pkt;    /* parsed; payload_off, bth_off, end_off count from the start of `tvb` */
	uint32_t src_qp;      /* DETH, or learnt; 0 when unknown */
	bool src_qp_known;
	enum rdma_start start;
	bool dc; /* opcodes 0x40..0x5f are Mellanox DC, by preference */
	bool ce; /* the IP header carries an ECN CE mark */
	enum rdma_cut cut;
	uint8_t layer;        /* 1, or more inside another packet of ours (RoCE over IPoIB) */
	uint32_t payload_len; /* as on the wire, without pad */
	uint32_t segments;    /* packets in this datagram, when it is an offload super-packet; 0 otherwise */
	uint32_t segment;     /* number of this one in a super-packet, from 1 on; 0 otherwise */
	uint32_t bad_segments, first_bad_segment; /* how many of them have a bad ICRC; number of the first, from 1 on */
	struct rdma_crc icrc, vcrc;
	enum vs_reason reasons[RDMA_REASONS_MAX]; /* broken rules, most basic first */
	uint32_t reason_count;                    /* may be larger than the array */
	proto_item *at[RDMA_AT_COUNT];            /* NULL where the header is not there, or no tree is wanted */
	uint32_t tags;                            /* packets in this datagram that have one */
	const char *tag;                          /* what the analysis has for the Info column; NULL: nothing */
	bool analysed;                            /* `analysis` is filled */
	struct rdma_analysis analysis;
};

/* Tap record, one per packet with a BTH; packet scope. Tap name "rdma". */
struct rdma_tap {
	uint8_t opcode, aeth_syndrome;
	bool has_aeth, src_qp_known, dc;
	uint32_t dest_qp, src_qp, psn;
	uint32_t payload_len; /* as on the wire, without pad */
	uint32_t payload_cap; /* bytes at `payload`: fewer when the capture cut the packet */
	const uint8_t *payload;
	uint32_t frame_len; /* as on the wire */
	address src, dst;   /* of this layer: an upper one may change those of pinfo before the tap runs */
	const struct rdma_analysis *analysis; /* NULL: not analysed */
};

/* headers.c: the name of a BTH opcode, "DC ..." for `dc`; static; never NULL. */
const char *rdma_opcode_name(uint8_t opcode, bool dc);

/*
 * Whether one of these fields is asked for: by a tree that is shown, a filter, a column. Making items that nobody wants
 * costs more than looking.
 */
static inline bool rdma_wanted(const proto_tree *tree, const hf_register_info *fields, size_t count)
{
	if (tree == NULL || PTREE_DATA(tree)->visible)
		return tree != NULL;
	for (size_t i = 0; i < count; i++)
		if (fields[i].hfinfo.ref_type != HF_REF_TYPE_NONE)
			return true;
	return false;
}

/* headers.c */
void rdma_headers_register(int proto);
/* Adds the trees of all headers that `c->pkt` has, and fills c->at[]. */
void rdma_headers_add(struct rdma_ctx *c);

/* info.c: one line for the packet into `buf`, NUL-terminated; `len` >= 2. */
void rdma_info_format(const struct rdma_ctx *c, char *buf, size_t len);
/*
 * What is odd about it: " [ICRC bad] [truncated capture]"; usually "". Notes whose bits are in `said` are left out,
 * those of the others are returned.
 */
uint32_t rdma_info_notes(const struct rdma_ctx *c, uint32_t said, char *buf, size_t len);
/* Why there is less than the whole packet, or none of it on the wire; static; NULL for a whole one. */
const char *rdma_info_cut(const struct rdma_ctx *c);

/* net.c */
/* The IP and UDP header in front of a BTH. `ip` is NULL when there is none that can be used. */
struct rdma_net {
	const uint8_t *ip; /* `len` bytes, and the captured bytes of our tvb right after them */
	size_t len;        /* bytes from `ip` to the BTH */
	enum vs_encap encap;
	bool lengths_zero;  /* a length field is 0: segmentation offload fills it in later */
	const char *reason; /* static: why not usable; NULL when `ip` is */
};
void rdma_net_find(tvbuff_t *tvb, const packet_info *pinfo, struct rdma_net *net);
/*
 * Whether the headers promise more bytes than our tvb had on the wire, and who took them: FRAGMENT, BEFORE or
 * NOT. *wire: bytes from our first one on that were sent, as far as this tells.
 */
enum rdma_cut rdma_net_cut(const struct rdma_ctx *c, const struct rdma_net *net, uint32_t *wire);

/* crc.c */
void rdma_crc_register(int proto, module_t *module);
/* Checks c->pkt, parsed from `buf`, into c->icrc and c->vcrc. */
void rdma_crc_check(struct rdma_ctx *c, const uint8_t *buf, const struct rdma_net *net);
/* Adds ICRC and VCRC with their verdicts to the tree, and the expert items of bad ones. */
void rdma_crc_add(struct rdma_ctx *c);
bool rdma_crc_icrc_wanted(void); /* by preference */

/*
 * offload.c. Bytes of the first segment when `c->tvb` holds several packets; 0 when it is one packet.
 * rdma_offload_next: bytes of the one at `off`, when that before it had `len`; rdma_offload_count: how many
 * there are. rdma_offload_check fills seg->icrc for segment number `k`, whose tvb and pkt are its own.
 */
uint32_t rdma_offload_segment_len(const struct rdma_ctx *c, const struct rdma_net *net);
uint32_t rdma_offload_next(tvbuff_t *tvb, uint32_t off, uint32_t len);
uint32_t rdma_offload_count(tvbuff_t *tvb, uint32_t len);
/* Packet number `k` of the super-packet `whole`, parsed from the IP header on: as it will be sent. */
bool rdma_offload_packet(tvbuff_t *tvb, const struct rdma_net *net, const struct vs_pkt *whole, uint32_t k,
			 uint32_t off, uint32_t len, unsigned opt, struct vs_pkt *seg);
void rdma_offload_check(struct rdma_ctx *seg, const struct rdma_net *net, uint32_t k);

/* expert.c */
void rdma_expert_register(int proto);
/* Raises the expert item of `r` on `item` (may be NULL: then on the packet as a whole). */
void rdma_expert_reason(struct rdma_ctx *c, proto_item *item, enum vs_reason r);
/* The same on the item of the header that `r` is about. */
void rdma_expert_at(struct rdma_ctx *c, enum vs_reason r);

/* analysis.c */
void rdma_analysis_register(module_t *module);
void rdma_analysis_handoff(void);
/*
 * Fills c->analysis. `p` is c->pkt with its network headers; `offloaded`: its lengths are still to be filled in. To be
 * called once for each packet each time that its frame is dissected.
 */
void rdma_analysis_packet(struct rdma_ctx *c, const struct vs_pkt *p, bool offloaded);
uint32_t rdma_analysis_stream(uint32_t frame);  /* of the first packet in a frame that has one; 0: none */
uint32_t rdma_analysis_message(uint32_t frame); /* frame where the message of that packet began; 0: not known */
uint32_t rdma_analysis_streams(void);           /* highest number of a stream so far */

/* analysis_show.c */
void rdma_analysis_show_register(int proto);
/* Adds the tree of the analysis, when one is wanted, and raises its expert items. */
void rdma_analysis_show(struct rdma_ctx *c);

/* analysis_mark.c: what is to be said in the Info column: " [Retransmission of #12: timeout]"; usually "". */
void rdma_analysis_tag(const struct rdma_ctx *c, char *buf, size_t len);

/* mad.c: decodes `tvb` (the payload of a packet to or from QP 0 or 1). Always handles it. */
void rdma_mad_register(int proto);
void rdma_mad_handoff(void);
void rdma_mad_dissect(struct rdma_ctx *c, tvbuff_t *tvb);

/* cm.c, for mad.c: `tvb` begins with a MAD header, whole, that announces the message `info`. */
struct vs_cm_info;
void rdma_cm_register(int proto);
void rdma_cm_dissect(struct rdma_ctx *c, tvbuff_t *tvb, const struct vs_cm_info *info);

/*
 * ulp.c. rdma_ulp_dissect offers the payload (without pad) to upper-layer dissectors that there
 * is evidence for; false when none took it and the caller should show plain data.
 * rdma_ulp_learn_cm is told of every CM message: `data` are the 232 bytes after the MAD header.
 * rdma_ulp_src_qp looks up what CM taught of the sender's QP.
 */
void rdma_ulp_register(int proto);
void rdma_ulp_handoff(void);
bool rdma_ulp_dissect(struct rdma_ctx *c);
void rdma_ulp_learn_cm(struct rdma_ctx *c, uint16_t attribute, const uint8_t *data, size_t len);
/* Offers CM private data to "infiniband.mad.cm.private"; false when nobody took it. */
bool rdma_ulp_cm_private(struct rdma_ctx *c, uint16_t attribute, tvbuff_t *private_tvb);
bool rdma_ulp_src_qp(const packet_info *pinfo, uint32_t dest_qp, uint32_t *src_qp);

/* takeover.c */
void rdma_takeover_register(module_t *module);
void rdma_takeover_handoff(dissector_t lrh, dissector_t grh, dissector_t bth);
/* To be called when preferences changed. */
void rdma_takeover_apply(void);
/* Whether `port` is one that we take RoCEv2 from; is given to somebody else by Decode As; has any dissector. */
bool rdma_takeover_has_port(uint32_t port);
bool rdma_takeover_is_users_port(uint32_t port);
bool rdma_takeover_has_owner(uint32_t port);
/*
 * Gives the whole packet, from its first header, to the built-in InfiniBand dissector, which adds
 * its own tree below c->top_tree and writes the columns; addresses and ports are put back
 * afterwards. False when there is none, or the user has disabled it.
 */
bool rdma_builtin_dissect(struct rdma_ctx *c);

/* stats.c: the hidden fields that the filters of the conversation tables use */
void rdma_stats_add_endpoints(struct rdma_ctx *c);
void rdma_stats_register(int proto);
extern int rdma_tap_id;
/* "192.0.2.1 QP 0x000011"; "QP ?" for one that isn't known. RDMA_ENDPOINT_LEN bytes are enough. */
#define RDMA_ENDPOINT_LEN 96
void rdma_endpoint_format(char *buf, size_t len, const address *a, bool known, uint32_t qp);

/* stats_flows.c */
void rdma_stats_flows_register(void);

/* follow.c */
void rdma_follow_register(void);

#endif
