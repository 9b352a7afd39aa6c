/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * cm.c - communication management: REQ and REP say which QPs talk to each other, where their PSNs begin, and what they
 * agreed on. The newest connections are remembered, so that their flows are known by their first packet.
 *
 * The packets of a connection need not go between the addresses of its CM messages: these may come with a LID or from
 * a link-local address. So a connection is known by what its REQ says of its path too, GIDs and LIDs, and by the IP
 * addresses that RDMA-CM puts into the private data.
 */
#include <stdlib.h>
#include <string.h>

#include "mon.h"
#include "vs/cm.h"
#include "vs/mad.h"

#define CONNS 256u

/* Addresses of who asks, and of who answers. */
struct path {
	struct mon_addr a, b;
};

enum { BY_MESSAGES, BY_GIDS, BY_LIDS, BY_IP, PATHS };

struct mon_cm_conn {
	struct path path[PATHS]; /* lengths 0: not said */
	uint8_t vantage;
	bool used, answered;
	uint32_t comm_id, hash;
	uint64_t tid;
	uint32_t qpn[2], start_psn[2]; /* of a, of b: each says where the requests of the other begin */
	uint32_t mtu;
	uint8_t tclass;
	uint8_t retry, rnr_retry[2], depth[2], timeout; /* of the requests of a, of b */
};

void mon_cm_free(struct vs_monitor *m)
{
	free(m->cm);
}

static struct mon_cm_conn *find(const struct mon_now *n, const struct mon_addr *a, const struct mon_addr *b,
				uint32_t id)
{
	for (unsigned i = 0; n->m->cm != NULL && i < CONNS; i++) {
		struct mon_cm_conn *c = &n->m->cm[i];

		if (c->used && c->comm_id == id && c->vantage == n->in->vantage &&
		    mon_addr_equal(&c->path[BY_MESSAGES].a, a) && mon_addr_equal(&c->path[BY_MESSAGES].b, b))
			return c;
	}
	return NULL;
}

static uint32_t hash_bytes(const uint8_t *b, size_t len)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < len; i++)
		h = (h ^ b[i]) * 16777619u;
	return h;
}

/* ---- addresses ---- */

static const uint8_t zeros[16], mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

static struct mon_addr addr(const uint8_t *b, uint8_t len)
{
	struct mon_addr a = {.len = len};

	memcpy(a.b, b, len);
	return a;
}

/* GIDs of RoCEv2 over IPv4 are IPv4-mapped IPv6 addresses. */
static struct mon_addr of_gid(const uint8_t gid[16])
{
	if (memcmp(gid, mapped, sizeof(mapped)) == 0)
		return addr(gid + 12, 4);
	return addr(gid, 16);
}

static struct path by_gids(const struct vs_cm_req *q)
{
	if (memcmp(q->primary_local_gid, zeros, 16) == 0 || memcmp(q->primary_remote_gid, zeros, 16) == 0)
		return (struct path){0};
	return (struct path){of_gid(q->primary_local_gid), of_gid(q->primary_remote_gid)};
}

static struct path by_lids(const struct vs_cm_req *q)
{
	const uint8_t a[2] = {(uint8_t)(q->primary_local_lid >> 8), (uint8_t)q->primary_local_lid};
	const uint8_t b[2] = {(uint8_t)(q->primary_remote_lid >> 8), (uint8_t)q->primary_remote_lid};

	if (q->primary_local_lid == 0 || q->primary_remote_lid == 0)
		return (struct path){0};
	return (struct path){addr(a, 2), addr(b, 2)};
}

static struct path by_ip(const struct vs_cm_req *q)
{
	struct vs_rdmacm_hdr h;

	if (!vs_rdmacm_is_service(q->service_id) ||
	    vs_rdmacm_parse(&h, q->private_data, sizeof(q->private_data)) != 0 || !vs_rdmacm_hdr_is_known(&h))
		return (struct path){0};
	if (h.ip_version == 4)
		return (struct path){addr(h.src + 12, 4), addr(h.dst + 12, 4)};
	return (struct path){addr(h.src, 16), addr(h.dst, 16)};
}

/* ---- REQ and REP ---- */

static void req(struct mon_now *n, const struct vs_cm_req *q, uint64_t tid)
{
	const struct mon_key *key = &n->f->key;
	const uint32_t hash = hash_bytes(n->p->payload, n->p->payload_len);
	struct mon_cm_conn *c = find(n, &key->src, &key->dst, q->local_comm_id);

	if (c != NULL && c->tid == tid) {
		if (c->hash != hash)
			mon_find(n, VS_RULE_CM_REPEAT_CHANGED, n->out->original, "REQ of the same transaction");
		return;
	}
	if (n->m->cm == NULL)
		n->m->cm = calloc(CONNS, sizeof(*n->m->cm));
	if (n->m->cm == NULL)
		return;
	if (c == NULL)
		c = &n->m->cm[n->m->cm_next++ % CONNS];
	*c = (struct mon_cm_conn){.path = {{key->src, key->dst}, by_gids(q), by_lids(q), by_ip(q)},
				  .vantage = key->vantage,
				  .used = true,
				  .comm_id = q->local_comm_id,
				  .hash = hash,
				  .tid = tid,
				  .qpn = {q->qpn, 0},
				  .start_psn = {0, q->psn},
				  .mtu = vs_cm_mtu_bytes(q->path_mtu),
				  .retry = q->retry_count,
				  .rnr_retry = {7, q->rnr_retry_count},
				  .depth = {q->initiator_depth, q->responder_resources},
				  .timeout = q->primary_ack_timeout,
				  .tclass = q->primary_traffic_class};
}

/* The flow of the requests of side `who`. */
static void agree(struct mon_flow *f, const struct mon_cm_conn *c, unsigned who)
{
	f->cm_known = true;
	f->cm_start_psn = c->start_psn[who];
	f->cm_mtu = c->mtu;
	f->cm_retry = c->retry;
	f->cm_rnr_retry = c->rnr_retry[who];
	f->cm_depth = c->depth[who];
	f->cm_timeout_ns = c->timeout != 0 ? vs_cm_timeout_ns(c->timeout) : 0;
	f->cm_tclass = c->tclass;
	f->cm_first_checked = false;
}

static void key_of(const struct mon_cm_conn *c, unsigned path, unsigned who, struct mon_key *key)
{
	const struct path *p = &c->path[path];

	*key = (struct mon_key){.src = who == 0 ? p->a : p->b,
				.dst = who == 0 ? p->b : p->a,
				.destqp = c->qpn[1 - who],
				.vantage = c->vantage};
}

/* The flow of the requests of side `who`, when it was seen. */
static struct mon_flow *flow_of(const struct vs_monitor *m, const struct mon_cm_conn *c, unsigned who)
{
	for (unsigned path = 0; path < PATHS; path++) {
		struct mon_flow *f = NULL;
		struct mon_key key;

		key_of(c, path, who, &key);
		if (key.src.len != 0)
			f = mon_flow_find(m, &key);
		if (f != NULL)
			return f;
	}
	return NULL;
}

static void join(struct vs_monitor *m, const struct mon_cm_conn *c)
{
	struct mon_flow *a = flow_of(m, c, 0), *b = flow_of(m, c, 1);

	if (a != NULL && b != NULL)
		mon_flow_pair(m, a, b, false);
}

static void rep(struct mon_now *n, const struct vs_cm_rep *r)
{
	const struct mon_key *key = &n->f->key;
	struct mon_cm_conn *c = find(n, &key->dst, &key->src, r->remote_comm_id);

	if (c == NULL || c->answered)
		return;
	c->answered = true;
	c->qpn[1] = r->qpn;
	c->start_psn[0] = r->psn;
	c->rnr_retry[0] = r->rnr_retry_count;
	if (r->responder_resources < c->depth[0])
		c->depth[0] = r->responder_resources;
	if (r->initiator_depth < c->depth[1])
		c->depth[1] = r->initiator_depth;
	for (unsigned who = 0; who < 2; who++) {
		struct mon_flow *f = flow_of(n->m, c, who);

		if (f == NULL)
			continue;
		mon_flow_restart(f);
		agree(f, c, who);
	}
	join(n->m, c);
}

/* Is this flow that of the requests of side `who`? */
static bool is_of(const struct mon_flow *f, const struct mon_cm_conn *c, unsigned who)
{
	for (unsigned path = 0; path < PATHS; path++) {
		struct mon_key key;

		key_of(c, path, who, &key);
		if (key.src.len != 0 && key.destqp == f->key.destqp && key.vantage == f->key.vantage &&
		    mon_addr_equal(&key.src, &f->key.src) && mon_addr_equal(&key.dst, &f->key.dst))
			return true;
	}
	return false;
}

void mon_cm_adopt(struct mon_now *n)
{
	for (unsigned i = 0; n->m->cm != NULL && i < CONNS; i++) {
		const struct mon_cm_conn *c = &n->m->cm[(n->m->cm_next - 1 - i) % CONNS];

		for (unsigned who = 0; c->used && c->answered && who < 2; who++) {
			if (!is_of(n->f, c, who))
				continue;
			agree(n->f, c, who);
			join(n->m, c);
			return;
		}
	}
}

void mon_cm_first_request(struct mon_now *n)
{
	struct mon_flow *f = n->f;

	if (!f->cm_known || f->cm_first_checked)
		return;
	f->cm_first_checked = true;
	if (n->p->bth.psn != f->cm_start_psn)
		mon_find(n, VS_RULE_CM_FIRST_PSN, 0, "PSN 0x%06x; agreed was 0x%06x", n->p->bth.psn, f->cm_start_psn);
	if (n->p->encap >= VS_ENCAP_ROCEV1 && mon_tclass(n->p) >> 2 != f->cm_tclass >> 2)
		mon_find(n, VS_RULE_CM_TCLASS, 0, "DSCP %u; traffic class 0x%02x is DSCP %u", mon_tclass(n->p) >> 2,
			 f->cm_tclass, f->cm_tclass >> 2);
}

void mon_cm(struct mon_now *n)
{
	struct vs_cm_msg msg;
	struct vs_mad mad;

	if (n->p->bth.opcode != VS_OP_UD_SEND_ONLY || n->p->bth.destqp != VS_QPN_GSI ||
	    vs_mad_parse(&mad, n->p->payload, n->p->payload_len) != 0 || mad.mgmt_class != VS_MAD_CLASS_CM ||
	    vs_cm_info(mad.attribute_id) == NULL)
		return;
	if (mad.class_version != VS_CM_CLASS_VERSION || mad.method != VS_MAD_METHOD_SEND)
		mon_find(n, VS_RULE_CM_CLASS, 0, "class version %u, method 0x%02x", mad.class_version, mad.method);
	if (vs_cm_parse(&msg, mad.attribute_id, n->p->payload + VS_MAD_HDR_LEN, n->p->payload_len - VS_MAD_HDR_LEN) !=
	    0)
		return;
	if (msg.attribute == VS_CM_ATTR_REQ)
		req(n, &msg.req, mad.transaction_id);
	else if (msg.attribute == VS_CM_ATTR_REP)
		rep(n, &msg.rep);
	else if (msg.attribute == VS_CM_ATTR_REJ && n->p->encap >= VS_ENCAP_ROCEV1 &&
		 (msg.rej.reason == 13 || msg.rej.reason == 19))
		mon_find(n, VS_RULE_CM_REJ_REASON, 0, "REJ reason %u: %s", msg.rej.reason,
			 vs_cm_rej_reason_text(msg.rej.reason));
}
