/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * monitor.h - what every packet means: an observer that follows PSNs and judges by the rules of rules.def.
 *
 * It is fed with parsed packets in the order of a capture and says of each what it answers, what it repeats, what is
 * missing before it and which rules it breaks. It knows the wire alone: no engine, no verbs. So it may know less than
 * the peers: frames can be missing from a capture, before it begins or in the middle of it, one direction can be
 * missing altogether, frames can be in it that were lost later, and its clock may jump. A rule of level MUST is
 * therefore claimed from what stands in frames that are there, never from the absence of one.
 *
 * A flow is one direction of a connection: source, destination, destination QP. Which flow answers which is learnt
 * from CM messages or, when only one is possible, from the exchange itself (vs_mon_result.flags: INFERRED).
 *
 * Memory: a flow remembers its newest packets in detail, `window` at most, and of all others within the last 2^23 PSNs
 * one bit for each PSN and opcode: that it was there. So it never needs more than 4 MB for an opcode, however long it
 * lasts, and a few bits for each packet before that. There are `max_flows` at most, the flow that was silent for
 * longest makes room for a new one. Nothing here does I/O or reads a clock.
 */
#ifndef VS_MONITOR_H
#define VS_MONITOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vs/reason.h"
#include "vs/wire.h"

/* ---- rules ---- */

enum vs_rule_level {
	VS_RULE_NOTE,   /* legal, and worth knowing */
	VS_RULE_SHOULD, /* should not be, or may be explained by frames that the capture misses */
	VS_RULE_MUST,   /* no conforming device does that */
};

#define VS_RULE_OF_REASON(ID, level) VS_RULE_##ID,
#define VS_RULE(ID, id, level, clause, sentence) VS_RULE_##ID,
enum vs_rule {
	VS_RULE_NONE = 0,
#include "rules.def"
	VS_RULE_COUNT
};

struct vs_rule_info {
	const char *id;       /* "opcode_sequence": lower case, stable; that of the reason for rules of one packet */
	const char *clause;   /* "C9-92", or "" where no clause is publicly quoted */
	const char *sentence; /* what is wrong, no full stop at the end */
	enum vs_rule_level level;
};

/* Never NULL ("none" for VS_RULE_NONE and what is outside the enum). Static. */
const struct vs_rule_info *vs_rule_info(enum vs_rule r);
enum vs_rule vs_rule_by_id(const char *id);               /* VS_RULE_NONE: there is none */
const char *vs_rule_level_name(enum vs_rule_level level); /* "must", "should", "note" */

/* ---- one packet ---- */

/* What a packet is to those before it. */
enum vs_mon_class {
	VS_MON_OTHER,          /* no BTH, a CNP, or a bad ICRC: it counts as nothing else */
	VS_MON_NEW,            /* seen for the first time */
	VS_MON_LATE,           /* seen for the first time, but packets behind it were there before: it fills a gap */
	VS_MON_RETRANSMISSION, /* sent again by its sender */
	VS_MON_NETWORK_DUP,    /* the same bytes again, IP ID included: copied on the way */
	VS_MON_RESPONSE,       /* answers something new */
	VS_MON_DUP_ACK,        /* acknowledges again what the one before it did */
	VS_MON_GHOST_ACK,      /* acknowledges less than an answer before it */
};

/* Why a request was sent again, as far as the frames tell. */
enum vs_mon_cause {
	VS_MON_CAUSE_NONE,
	VS_MON_CAUSE_NAK,     /* a NAK PSN sequence error asked for it */
	VS_MON_CAUSE_RNR,     /* after an RNR NAK */
	VS_MON_CAUSE_IMPLIED, /* an answer to a later request implies that this one was not answered */
	VS_MON_CAUSE_TIMEOUT, /* nothing asked for it: the ACK timer */
};

enum vs_mon_flag {
	VS_MON_GAP = 1u << 0,          /* packets are missing before this one */
	VS_MON_INFERRED = 1u << 1,     /* which flow answers which was concluded, not seen in CM */
	VS_MON_PAIRED = 1u << 2,       /* the other direction is known */
	VS_MON_DUPLICATE = 1u << 3,    /* a request that its responder had executed already */
	VS_MON_COALESCED = 1u << 4,    /* an acknowledgement of more than one request packet */
	VS_MON_UNASKED = 1u << 5,      /* an answer to something that was not seen to be asked */
	VS_MON_NAK = 1u << 6,          /* an AETH that refuses; not RNR */
	VS_MON_RNR = 1u << 7,          /* RNR NAK */
	VS_MON_REQUEST = 1u << 8,      /* a request of a connection */
	VS_MON_ANSWER = 1u << 9,       /* ACK, READ or ATOMIC response */
	VS_MON_IMPLIED_NAK = 1u << 10, /* it implies that a READ or atomic before it was not answered */
	VS_MON_RTT = 1u << 11,         /* rtt_ns is set */
	VS_MON_REPEAT = 1u << 12,      /* the same opcode and PSN were seen in the last 2^23 PSNs of the flow */
	VS_MON_CREDITS = 1u << 13,     /* `credits` is set */
	VS_MON_READ_PART = 1u << 14,   /* a READ request that asks again for the rest of one */
	VS_MON_WASTED = 1u << 15,      /* the payload was there before */
};

#define VS_MON_RULES 3 /* most broken rules that a result names; `rules` counts all */

/*
 * Frame numbers are those that were fed in; 0: none, or not known. Everything refers to earlier frames, so that
 * one pass and two passes over a file say the same; vs_monitor_attr.link tells of later ones.
 * 64 bytes, so that it can be kept for each packet.
 */
struct vs_mon_result {
	uint32_t stream;      /* number of the connection, from 1; both directions have the same */
	uint32_t message;     /* frame where the message of this request, or of what it answers, began */
	uint32_t request;     /* answers: frame of the request packet that it answers, the newest of several */
	uint32_t original;    /* repeats: frame where it was seen first; 0 when that is beyond the window */
	uint32_t cause_frame; /* retransmissions: the NAK, RNR NAK or answer that caused them */
	uint32_t missing;     /* GAP: how many packets, at least */
	uint32_t outstanding; /* requests: packets that are sent and not acknowledged, this one included */
	uint32_t credits;     /* CREDITS: receives that the responder says it has */
	uint32_t wasted;      /* bytes of payload that were there before */
	uint32_t offset;      /* RDMA WRITE, READ responses: where the payload belongs, from the start of the message */
	uint64_t rtt_ns;      /* answers, with RTT: since the request; retransmissions: since the first transmission */
	uint32_t wait_us;     /* after RNR: how long the sender waited */
	uint16_t flags;       /* set of enum vs_mon_flag */
	uint8_t class_;       /* enum vs_mon_class */
	uint8_t cause;        /* enum vs_mon_cause */
	uint8_t iter;         /* n-th transmission, from 1; 255: and more */
	uint8_t rules;        /* how many rules it breaks */
	uint8_t rule[VS_MON_RULES];
};

struct vs_mon_packet {
	uint32_t frame;  /* number that results name it by, from 1 */
	int64_t time_ns; /* may run backwards */
	const struct vs_pkt *pkt;
	enum vs_crc_status icrc, vcrc;
	uint8_t vantage; /* which of the capture points: flows of different ones are apart */
	bool offloaded;  /* one of a segmentation-offload super-packet: its lengths were never on a wire */
	/* what vs_pkt_validate says of it, leaving CRCs out, for who knows that already; NULL: it is asked here */
	const enum vs_reason *reasons;
	size_t reason_count;
};

/* ---- the monitor ---- */

/* A broken rule. `text` is a sentence about this packet, good until the call returns. */
struct vs_mon_finding {
	enum vs_rule rule;
	uint32_t frame, other; /* `other`: a second frame that shows it; 0: none */
	const char *text;
};

/*
 * frame -> the later frame that did so. ANSWERED: by data or an acknowledgement, which answers all that it covers, in
 * the order of their PSNs; what is refused is not answered. A request that was sent again is named by its first frame.
 */
enum vs_mon_link { VS_MON_LINK_ANSWERED, VS_MON_LINK_REPEATED };

struct vs_monitor_attr {
	uint32_t window;    /* packets that a flow remembers in detail, a power of two from 8; 0: 4096 */
	uint32_t max_flows; /* 0: 65536 */
	void *ctx;
	void (*finding)(void *ctx, const struct vs_mon_finding *f);                     /* may be NULL */
	void (*link)(void *ctx, uint32_t frame, enum vs_mon_link kind, uint32_t later); /* may be NULL */
};

/* Everything counted since the start; the contract of vs-pcap check (docs/man/vs-pcap.1, FACTS). */
struct vs_mon_totals {
	uint64_t packets;  /* fed in */
	uint64_t icrc_bad; /* these count in nothing else */
	uint64_t flows;
	uint64_t retransmissions, network_duplicates; /* repeats */
	uint64_t duplicates;                          /* requests that their responder had executed, as far as seen */
	uint64_t gaps, late;
	uint64_t naks[5]; /* by code 0 .. 3, and all others */
	uint64_t rnr_naks, cnps;
	uint64_t ghost_acks, implied_naks, unasked;
	uint64_t cause[5];               /* retransmissions of requests by enum vs_mon_cause */
	uint64_t useful, wasted;         /* bytes of payload */
	uint64_t unacknowledged;         /* request packets, at vs_monitor_end */
	uint64_t broken[3];              /* findings by level */
	uint64_t by_rule[VS_RULE_COUNT]; /* findings */
	uint64_t forgotten;              /* flows that made room for others */
	uint64_t events;                 /* fed in, that are looked at */
};

struct vs_monitor;

/* NULL: no memory. `attr` may be NULL. */
struct vs_monitor *vs_monitor_new(const struct vs_monitor_attr *attr);

/* Judges one packet. `out` is filled, whatever the packet is. Out of memory is a flow that is not followed. */
void vs_monitor_packet(struct vs_monitor *m, const struct vs_mon_packet *in, struct vs_mon_result *out);

/* A frame of a capture, where its packet was parsed from. */
struct vs_mon_frame {
	uint32_t number; /* from 1 */
	int64_t time_ns;
	uint8_t vantage;
	const uint8_t *data;
	size_t caplen, wirelen;
};

typedef void vs_mon_each(void *ctx, const struct vs_mon_packet *in, const struct vs_mon_result *out);

/*
 * Judges what is in frame `f`, of which `p` was parsed: CRCs are checked, the super-packets of segmentation offload
 * taken apart. `each` (may be NULL) gets every packet with its result. How many there were: more than one in a
 * super-packet.
 */
unsigned vs_monitor_frame(struct vs_monitor *m, const struct vs_mon_frame *f, const struct vs_pkt *p, vs_mon_each *each,
			  void *ctx);

struct vs_event;
/*
 * What a program saw at one end (vs/event.h): posts, completions, states of queue pairs; other events are passed over.
 * Each queue pair's in their order; before, between or behind the packets, since times are not compared.
 */
void vs_monitor_event(struct vs_monitor *m, const struct vs_event *ev);

/*
 * The capture is over: what is outstanding stays unacknowledged, and events are held against the packets. Findings have
 * the newest frame of the flow, or 0.
 */
void vs_monitor_end(struct vs_monitor *m);

const struct vs_mon_totals *vs_monitor_totals(const struct vs_monitor *m);

/* What is known of one direction of a connection. */
struct vs_mon_flow_info {
	uint32_t stream;
	uint8_t src[16], dst[16];
	uint8_t addr_len; /* 4 IPv4, 16 IPv6 or GID, 2 LID */
	uint32_t destqp;
	uint32_t peer_destqp; /* with `paired`: destination QP of the other direction */
	bool paired, inferred;
	uint32_t mtu; /* path MTU in bytes; 0: not known */
	uint64_t packets, bytes, retransmissions, wasted;
	uint64_t rtt_min_ns, rtt_max_ns, rtt_sum_ns, rtts;
	uint32_t outstanding, outstanding_max;
	uint64_t rnr_waits, rnr_wait_ns;
};

/* Calls `each` for every flow that is remembered, oldest first, until it returns false. */
void vs_monitor_flows(const struct vs_monitor *m, bool (*each)(void *ctx, const struct vs_mon_flow_info *f), void *ctx);

void vs_monitor_free(struct vs_monitor *m); /* NULL is fine */

#endif
