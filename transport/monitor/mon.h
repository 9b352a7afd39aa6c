/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * mon.h - inside the monitor.
 *
 *   monitor.c    the calls of vs/monitor.h: one packet through all that follows, findings, totals
 *   rules.c      rules.def as a table
 *   flow.c       flows by address and QP; which flow answers which
 *   seen.c       what a flow remembers of its newest packets
 *   once.c       which PSNs were there at all
 *   header.c     rules of one packet, and what stays the same in a flow
 *   request.c    requests: order, repeats, messages
 *   repeat.c     a request that was there before: why, and is it the same?
 *   response.c   acknowledgements
 *   read.c       READ and ATOMIC responses
 *   cm.c         communication management: who talks to whom, and what was agreed
 *   verbs.c      posts and completions, held against the packets
 *
 * Positions are PSNs without the circle: 64-bit, so that a packet of the last turn is not one of this. A flow has
 * two spaces of PSNs, of the requests it carries and of the responses; responses are placed in the space of the
 * requests that they answer.
 */
#ifndef VS_MON_H
#define VS_MON_H

#include "vs/monitor.h"
#include "vs/opcode.h"
#include "vs/psn.h"

#define MON_EPOCH_JUMP 65536                /* PSNs: further away is another connection with the same QP number */
#define MON_READS 64u                       /* READs and atomics that a flow remembers for their responses */
#define MON_TIME_MAX INT64_C(3600000000000) /* ns: differences beyond an hour are jumps of a clock */
#define MON_UNKNOWN UINT32_MAX              /* a length that a snap length hides */
#define MON_PRINTS 3u                       /* transmissions of one packet that are compared with the next */
#define MON_SUM_MAX UINT32_MAX
#define MON_COVERED 4096 /* requests that one answer is linked to, at most */

struct mon_addr {
	uint8_t b[16];
	uint8_t len; /* 4, 16, 2; 0: none */
};

struct mon_key {
	struct mon_addr src, dst;
	uint32_t destqp;
	uint8_t vantage;
};

/* One packet as a flow remembers it; in a chain by its PSN. Each flow has thousands: they are kept small. */
struct mon_seen {
	int64_t time_ns, last_ns; /* of the first and the newest transmission */
	int64_t pos;              /* of requests: in the space of `req` of its flow */
	uint64_t va;              /* RETH, AtomicETH; data of an ATOMIC Acknowledge */
	uint64_t operands;        /* of an atomic: a hash of both */
	uint32_t order, before;   /* its number; that of the next in the chain */
	uint32_t psn, frame, len, rkey, dmalen;
	uint32_t print[MON_PRINTS]; /* of the newest transmissions: the same bytes with the same IP ID have the same */
	uint32_t sum;               /* payload of the message up to here, at most MON_SUM_MAX; with `whole` */
	uint32_t first;             /* frame where the message began; 0: not known */
	uint32_t ends;              /* messages that end here or before, in this chain */
	uint32_t chain;             /* number of an uninterrupted row of requests */
	uint32_t turn;              /* of the circle, by once.c */
	uint32_t epoch;
	uint16_t iter, sport;
	uint8_t opcode;
	bool whole; /* `sum` and `first` are known */
	bool request;
};

/* A READ, atomic, FLUSH or ATOMIC WRITE: what waits for a response of its own. */
struct mon_read {
	int64_t pos, time_ns;
	uint64_t va;
	uint32_t frame, first, dmalen, rkey, epoch;
	uint32_t limit; /* the next request stands so many PSNs further: it takes no more */
	uint16_t sport;
	uint8_t opcode;
	bool used, answered; /* the last response was seen */
	bool part;           /* asks again for the rest of another */
	bool started;        /* some response was seen */
	bool implied;        /* an answer to a later request was seen first */
	bool again;          /* it was asked for again */
	bool counted;        /* in reads_answered */
	uint8_t unanswered;  /* so often since its last response */
};

struct mon_space {
	bool any;
	uint32_t psn; /* the newest */
	int64_t pos;
};

/* 64 PSNs of one opcode. */
struct mon_word {
	uint64_t key; /* 0: free */
	uint64_t bits;
};

struct mon_fixed { /* what header.c compares: value, and known */
	uint16_t pkey, sport;
	uint8_t migreq, dscp, ect, ttl;
	bool any;
};

struct mon_flow {
	struct mon_flow *next;          /* in the bucket */
	struct mon_flow *newer, *older; /* by last use */
	struct mon_flow *pair_next;     /* flows between the same two addresses */
	struct mon_pair *pair;
	struct mon_key key;
	uint32_t hash, number, stream, epoch;
	struct mon_flow *peer;
	bool inferred;
	bool doubtful;      /* its responses belonged to several flows, one after another */
	uint32_t confirmed; /* answers that fitted, since the peer was inferred */

	/* what it remembers */
	struct mon_seen *seen;
	uint32_t *head; /* of the chains through `seen` */
	uint32_t ring;  /* places in both */
	uint32_t order; /* number of the newest */
	struct mon_read *reads;
	uint32_t read_next;
	int64_t reads_end; /* nothing beyond is of one of them */
	bool reads_open;   /* one may not be answered */
	bool reads_vague;  /* of one the extent is not known */

	/* PSNs that were there: of requests, of responses */
	struct mon_space once_space[2];
	struct mon_word *word;
	uint32_t words, words_used;

	/* IP IDs */
	bool ids_vary, id_any;
	uint16_t ip_id;
	uint32_t same_ids; /* repeats with the same bytes, as long as its sender may have one IP ID for all */

	/* counting gaps as vs-pcap gen does (docs/man/vs-pcap.1, FACTS) */
	bool gap_requests, gap_responses;
	uint32_t gap_next_psn, gap_last_psn, gap_read_psn;

	/* requests */
	struct mon_space req;
	int64_t next_lo, next_hi; /* where the next request may stand */
	uint32_t chain;
	uint32_t last_chain, last_ends; /* of the newest request */
	uint32_t mtu; /* of First and Middle packets, requests or responses of this sender; 0: not known */
	bool mtu_mixed;
	struct mon_fixed fixed;
	uint8_t last_opcode;     /* of the newest request */
	uint16_t last_sport;     /* likewise */
	uint32_t last_frame;     /* of the newest packet */
	int64_t last_ns;         /* when it was seen */
	bool stepped;            /* the clock went back so far that these may be captures of two connections, joined */
	uint32_t last_req_frame; /* of the newest request */
	bool last_known;         /* where the next one stands is known exactly: next_lo == next_hi */

	/* answers that came for these requests */
	int64_t una; /* everything before is acknowledged */
	bool una_any;
	uint32_t una_frame;
	int64_t una_time_ns;
	int64_t answer_ns; /* of the newest answer of any kind; with answer_any */
	bool answer_any;
	/* the newest acknowledgement that made progress: MSN is compared from there */
	bool msn_any, msn_sure; /* sure: MSN less `ends` is the same for two, or nothing else was outstanding */
	uint32_t msn, msn_chain, counted_ends, msn_frame;
	int64_t counted_pos;
	/* what made the requester go back */
	uint8_t cause;
	int64_t cause_pos;
	uint32_t cause_frame;
	int64_t cause_time_ns;
	uint64_t rnr_ns;
	bool burst;        /* the last request was a repeat */
	int64_t burst_pos; /* of it */
	uint8_t burst_cause;
	uint32_t burst_frame;
	/* the newest request that has to be refused */
	bool broken_any;
	int64_t broken_pos;
	uint32_t broken_frame;
	/* NAKs */
	bool nak_any, fatal_any, rnr_any;
	int64_t nak_pos, fatal_pos, rnr_pos;
	uint32_t nak_frame, fatal_frame, rnr_frame;
	uint16_t nak_ip_id;
	int64_t fatal_time_ns;
	uint8_t fatal_code, fatal_count; /* of the newest that ends the connection; how many */
	bool fatal_ever;
	uint64_t reads_asked, reads_answered; /* each once */
	/* credits */
	bool credits_any;
	uint32_t credits;

	/* CM */
	bool cm_known;
	uint32_t cm_start_psn, cm_mtu;
	uint8_t cm_retry, cm_rnr_retry, cm_depth, cm_tclass;
	uint64_t cm_timeout_ns;
	bool cm_first_checked;
	uint8_t rnr_count, retry_count;
	bool is_new; /* no packet before this one */

	/* congestion */
	bool ce_seen;
	uint32_t last_cnp;      /* frame of the newest CNP without a mark */
	uint32_t last_nak_sent; /* frame of the NAK that this flow carried, when it was its last packet */

	struct vs_mon_flow_info info;
};

/* All flows between two addresses, either way. */
struct mon_pair {
	struct mon_pair *next;
	struct mon_flow *flows;
	uint32_t hash, count;
};

struct mon_cm_conn; /* cm.c */
struct mon_qp;      /* verbs.c */

struct vs_monitor {
	struct vs_monitor_attr attr;
	struct vs_mon_totals total;
	struct mon_flow **bucket;
	struct mon_pair **pair_bucket;
	uint32_t mask;
	struct mon_flow *newest, *oldest;
	uint32_t n_flows, n_streams;
	struct mon_cm_conn *cm;
	uint32_t cm_next;
	struct mon_qp *qps;
	uint32_t n_qps;
};

/* One packet on its way through the monitor. */
struct mon_now {
	struct vs_monitor *m;
	const struct vs_mon_packet *in;
	const struct vs_pkt *p;
	const struct vs_opcode_info *op;
	struct mon_flow *f; /* the flow that carries it */
	struct vs_mon_result *out;
	uint32_t len; /* payload on the wire */
	bool len_known;
	bool net_dup;
	bool forgotten; /* a repeat of what is too old to be remembered in detail */
};

/* ---- monitor.c ---- */
__attribute__((format(printf, 4, 5))) void mon_find(struct mon_now *n, enum vs_rule rule, uint32_t other,
						    const char *format, ...);
/*
 * Another UDP source port may be another QP of the same host that talks to the same QP number: then the packets have
 * nothing to do with each other.
 */
bool mon_same_sender(const struct mon_now *n, uint16_t sport);
uint64_t mon_operands(const struct vs_pkt *p);
uint16_t mon_sport(const struct vs_pkt *p);
/* Nanoseconds from `then` to `now`; false when the clock jumped between them. */
bool mon_elapsed(int64_t then, int64_t now, uint64_t *ns);

/* ---- flow.c ---- */
void mon_key_of(const struct vs_mon_packet *in, struct mon_key *key);
bool mon_addr_equal(const struct mon_addr *a, const struct mon_addr *b);
struct mon_flow *mon_flow_find(const struct vs_monitor *m, const struct mon_key *key);
/* The flow with this key, made when there is none. NULL: no memory. */
struct mon_flow *mon_flow_get(struct vs_monitor *m, const struct mon_key *key);
void mon_flow_pair(struct vs_monitor *m, struct mon_flow *a, struct mon_flow *b, bool inferred);
/* Looks for the flow whose requests the response in `n` answers; sets n->f->peer when there is exactly one. */
void mon_flow_infer(struct mon_now *n);
/* The peer is sure enough for claims of level MUST: known from CM, alone between the addresses, or proved. */
bool mon_flow_trusted(const struct mon_flow *f);
/* Another connection with the same QP number begins. */
void mon_flow_restart(struct mon_flow *f);
void mon_flows_free(struct vs_monitor *m);

/* ---- seen.c ---- */
int64_t mon_pos(const struct mon_space *s, uint32_t psn);
/* The packet with this PSN and opcode, of this turn of the circle; NULL: none. */
struct mon_seen *mon_seen_find(struct mon_flow *f, uint32_t psn, uint8_t opcode, uint32_t turn);
/* The request at this position, in this epoch. */
struct mon_seen *mon_seen_request(struct mon_flow *f, uint32_t psn, int64_t pos);
/* A place for a new packet; NULL: no memory. */
struct mon_seen *mon_seen_add(struct vs_monitor *m, struct mon_flow *f, uint32_t psn);

/* ---- once.c ---- */
/* Where this PSN stands in the space of requests or responses; moves the newest on when it is ahead of that. */
int64_t mon_once_pos(struct mon_space *s, uint32_t psn);
/* Which turn of the circle this is. */
uint32_t mon_once_turn(int64_t pos);
/* Was this opcode here within the last 2^23 PSNs? From now on it was. Without memory: false. */
bool mon_once(struct mon_flow *f, uint8_t opcode, int64_t pos);

/* ---- header.c ---- */
uint8_t mon_tclass(const struct vs_pkt *p);
void mon_header_alone(struct mon_now *n);
void mon_header_flow(struct mon_now *n);
void mon_cnp(struct mon_now *n);

/* ---- request.c, repeat.c ---- */
bool mon_connected(uint8_t opcode);
bool mon_waits_for_data(uint8_t opcode); /* answered with data or a value, not with an ACK */
/* `s`: what is remembered of this packet, or of the first like it when it is a repeat. */
void mon_request(struct mon_now *n, struct mon_seen *s, bool repeat);
void mon_repeat(struct mon_now *n, const struct mon_seen *s, int64_t pos);
/* Why: sets cause, cause_frame, wait of the result. `last_ns`: when it was sent before. */
void mon_repeat_cause(struct mon_now *n, int64_t pos, int64_t last_ns);
/* A READ request behind the newest PSN that was not there before: does it ask for the rest of another? */
bool mon_read_retry(struct mon_now *n, int64_t pos);
void mon_learn_mtu(struct mon_now *n);

/* ---- response.c, read.c ---- */
/* `before`: the same response, seen before; NULL: none. */
void mon_response(struct mon_now *n, const struct mon_seen *before);
/* Everything before `pos` is acknowledged. */
void mon_progress(struct mon_now *n, struct mon_flow *req, int64_t pos);
/* A positive answer for `pos`: did it cover a request that had to be refused? */
void mon_broken_accepted(struct mon_now *n, struct mon_flow *req, int64_t pos);
void mon_read_response(struct mon_now *n, struct mon_flow *req, int64_t pos, bool repeat);
struct mon_read *mon_read_covering(struct mon_flow *req, int64_t pos);
struct mon_read *mon_read_open(struct mon_flow *req, int64_t before);
void mon_read_add(struct mon_flow *f, const struct mon_seen *s, bool part);
/* Another request stands at `pos`: those before it end there. */
void mon_read_bound(struct mon_flow *f, int64_t pos);
/* Path MTU that counts the packets of a READ response; 0: not known. */
uint32_t mon_read_mtu(const struct mon_flow *req);
/* Response packets of a request; 0: not known. */
uint32_t mon_read_count(const struct mon_flow *req, const struct mon_read *r);
void mon_atomic_response(struct mon_now *n, struct mon_flow *req, int64_t pos, const struct mon_seen *before);
void mon_link(struct mon_now *n, uint32_t frame, enum vs_mon_link kind);
void mon_rtt(struct mon_now *n, struct mon_flow *req, int64_t then);

/* ---- cm.c ---- */
void mon_cm(struct mon_now *n);
void mon_cm_free(struct vs_monitor *m);
/* A flow that is new: was it agreed on before? */
void mon_cm_adopt(struct mon_now *n);
void mon_cm_first_request(struct mon_now *n);

/* ---- verbs.c ---- */
void mon_verbs_end(struct vs_monitor *m);
void mon_verbs_free(struct vs_monitor *m);

#endif
