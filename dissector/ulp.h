/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ulp.h - what the files of the upper-layer hand-off share.
 *
 *   ulp.c          who gets a payload, and the call
 *   ulp_rules.c    the upper-layer protocols we know: service ids, header checks, heuristic entries
 *   ulp_fit.c ...  header checks
 *   ulp_flow.c     flows, and the packets of their SEND messages
 *   ulp_cm.c       connections learnt from CM
 *   ulp_table.c    the user's own QP table
 *   ulp_conv.c     the conversations by which upper-layer dissectors find their connection
 *
 * Results must not depend on which pass over the capture asks for them: what CM teaches is stored
 * under the number of the frame that taught it and looked up by the number of the frame that asks.
 */
#ifndef RDMA_ULP_H
#define RDMA_ULP_H

#include "rdma.h"

#include "ulp_fit.h"

/* ---- addresses: IPv4, GID or IPv6, LID; only the bytes count ---- */

struct ulp_addr {
	uint8_t len; /* 0: none */
	uint8_t b[16];
};

static inline struct ulp_addr ulp_addr(const address *a)
{
	struct ulp_addr out = {0};

	if (a->len > 0 && a->len <= (int)sizeof(out.b)) {
		out.len = (uint8_t)a->len;
		memcpy(out.b, a->data, out.len);
	}
	return out;
}

/* Whom a state belongs to. Zeroed, filled, compared as bytes. */
struct ulp_key {
	struct ulp_addr a, b;
	uint32_t n, m;
};

unsigned ulp_key_hash(const void *key);
gboolean ulp_key_equal(const void *x, const void *y);

/* ---- rules ---- */

enum ulp_rule_flag {
	ULP_RDMA = 1u << 0,    /* wants RDMA WRITE and READ packets too: it reassembles chunks from them */
	ULP_MULTI = 1u << 1,   /* puts SEND messages together itself: wants every packet of those that are its own */
	ULP_ALL = 1u << 2,     /* wants every packet of its connections */
	ULP_PAD = 1u << 3,     /* counts on the pad bytes being there (they stand in for XDR padding) */
	ULP_APPENDS = 1u << 4, /* adds to the Info column instead of writing it anew */
	ULP_WHOLE = 1u << 5,   /* wants SEND messages whole, however many packets they took */
};

struct ulp_rule {
	const char *name;                     /* in the user's table, and in the tree */
	const char *heur;                     /* unique name in "infiniband.payload" */
	const char *heur_cm;                  /* likewise in "infiniband.mad.cm.private"; NULL: none */
	uint16_t ports[3];                    /* of RDMA-CM's TCP port space; 0 ends */
	const char *pref_module, *pref_name;  /* a port range preference that comes first; NULL: none */
	bool (*service)(uint64_t service_id); /* other service ids; NULL: none */
	bool (*fits)(const struct ulp_bytes *b);
	unsigned flags;
};

extern const struct ulp_rule ulp_rules[];
extern const unsigned ulp_rule_count;

bool ulp_rule_has_service(const struct ulp_rule *r, uint64_t service_id);
/* The rule for a service id; NULL when there is none. */
const struct ulp_rule *ulp_rule_by_service(uint64_t service_id);
const struct ulp_rule *ulp_rule_by_name(const char *name, size_t len);
/* A service id that the rule's dissector takes for its own. */
uint64_t ulp_rule_default_service(const struct ulp_rule *r);

/* ---- connections ---- */

enum ulp_role { ULP_CLIENT = 0, ULP_SERVER = 1 };

struct ulp_conv_data; /* ulp_conv.c */

/* One end of a connection. */
struct ulp_end {
	uint32_t qp, qp_frame; /* qp_frame: the frame that taught it; 0: not known */
	uint32_t comm_id;
	uint8_t mad[232]; /* its CM message, after the MAD header; zeros when there was none */
	uint32_t addr_count;
	struct {
		struct ulp_addr addr;
		uint32_t frame;
	} addrs[8];
};

struct ulp_assoc {
	uint64_t service_id;
	bool service_known;
	bool rule_known; /* `rule` has been looked up: the rule for the service, if there is one */
	const struct ulp_rule *rule;
	uint32_t first_frame, last_frame; /* last_frame: closed or refused there; 0: open */
	struct ulp_end end[2];            /* by enum ulp_role */
	struct ulp_conv_data *conv;
};

/* A packet's place in a connection: it goes to the end `to`. */
struct ulp_ref {
	struct ulp_assoc *assoc;
	enum ulp_role to;
};

void ulp_cm_register(void);
/* The connection that CM set up and a packet from pinfo->src to QP `qp` of pinfo->dst belongs to. */
bool ulp_cm_find(const packet_info *pinfo, uint32_t qp, struct ulp_ref *ref);
/* The connection that the CM message in this very frame is about; NULL when unknown. */
struct ulp_assoc *ulp_cm_current(const packet_info *pinfo);
/* A connection that nobody told us of: from the user's table or from a header. */
struct ulp_assoc *ulp_assoc_new(uint32_t frame, uint32_t client_qp, uint32_t server_qp);

/* The other end's QP as known in frame `frame`; 0 when it isn't. */
uint32_t ulp_peer_qp(const struct ulp_ref *ref, uint32_t frame);

/* ---- who gets a payload ---- */

enum ulp_why { ULP_BY_DECODE_AS, ULP_BY_TABLE, ULP_BY_SERVICE, ULP_BY_HEADER, ULP_BY_FLOW };

/* What of a packet is for the dissector. */
enum ulp_piece {
	ULP_NOTHING,
	ULP_PACKET, /* its payload */
	ULP_PART,   /* nothing yet: the message goes on */
	ULP_LAST,   /* the message that it completes */
};

struct ulp_message;

struct ulp_verdict {
	const struct ulp_rule *rule; /* NULL: `handle` */
	dissector_handle_t handle;
	struct ulp_ref ref; /* assoc NULL: no connection, as for datagrams */
	enum ulp_why why;
	uint32_t frame; /* where the evidence is */
	enum ulp_piece piece;
	const struct ulp_message *message; /* for ULP_LAST */
};

/* ---- flows ---- */

struct ulp_flow {
	struct ulp_ref ref;          /* from the first header that proved itself */
	const struct ulp_rule *rule; /* likewise; NULL so far */
	uint32_t frame;
	const struct ulp_rule *open; /* whose SEND message is on its way */
	struct ulp_message *message; /* what there is of it; NULL when the dissector keeps it */
	uint32_t first_psn, next_psn;
};

void ulp_flow_register(int proto);
struct ulp_flow *ulp_flow_find(const packet_info *pinfo, uint32_t qp, bool create);
/* What of this packet a rule's dissector gets, when the connection is known to be the rule's. First pass only. */
enum ulp_piece ulp_flow_piece(struct rdma_ctx *c, const struct ulp_rule *r, const struct ulp_bytes *b,
			      const struct ulp_message **whole);
/* The whole message as a new data source below `tvb`, and in our tree where it came from. */
tvbuff_t *ulp_message_tvb(struct rdma_ctx *c, tvbuff_t *tvb, const struct ulp_message *m);

/* ---- the user's table ---- */

struct ulp_row {
	char *address, *server_qp, *client_qp, *protocol; /* as typed */
	struct ulp_addr addr;                             /* of the server; len 0: any */
	uint32_t server, client;                          /* 0: not given */
	const struct ulp_rule *rule;                      /* a protocol we know, or */
	dissector_handle_t handle;                        /* any dissector that has a name */
};

void ulp_table_register(module_t *module);
const struct ulp_row *ulp_table_find(const packet_info *pinfo, uint32_t qp, enum ulp_role *to);

/* ---- conversations ---- */

void ulp_conv_handoff(void);
/*
 * Makes sure that upper-layer dissectors find `ref` by the addresses and QPs of this packet (already
 * in `pinfo`). `service_id` is what they are to see. Does nothing in later passes.
 */
void ulp_conv_ensure(packet_info *pinfo, const struct ulp_ref *ref, uint64_t service_id);
/* The same for a CM message between two GSIs. */
void ulp_conv_ensure_cm(packet_info *pinfo, struct ulp_assoc *assoc);

#endif
