/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * cm.c - communication management: REQ and REP say which QPs talk to each other, where their PSNs begin, and what they
 * agreed on. The newest connections are remembered, so that their flows are known by their first packet.
 */
#include <stdlib.h>
#include <string.h>

#include "mon.h"
#include "vs/cm.h"
#include "vs/mad.h"

#define CONNS 256u

struct mon_cm_conn {
	struct mon_addr a, b; /* of who asks, and who answers */
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

		if (c->used && c->comm_id == id && c->vantage == n->in->vantage && mon_addr_equal(&c->a, a) &&
		    mon_addr_equal(&c->b, b))
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
	*c = (struct mon_cm_conn){.a = key->src,
				  .b = key->dst,
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

static void key_of(const struct mon_cm_conn *c, unsigned who, struct mon_key *key)
{
	*key = (struct mon_key){.src = who == 0 ? c->a : c->b,
				.dst = who == 0 ? c->b : c->a,
				.destqp = c->qpn[1 - who],
				.vantage = c->vantage};
}

static void join(struct vs_monitor *m, const struct mon_cm_conn *c)
{
	struct mon_flow *f[2];
	struct mon_key key;

	for (unsigned who = 0; who < 2; who++) {
		key_of(c, who, &key);
		f[who] = mon_flow_find(m, &key);
	}
	if (f[0] != NULL && f[1] != NULL)
		mon_flow_pair(m, f[0], f[1], false);
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
		struct mon_flow *f;
		struct mon_key old;

		key_of(c, who, &old);
		f = mon_flow_find(n->m, &old);
		if (f == NULL)
			continue;
		mon_flow_restart(f);
		agree(f, c, who);
	}
	join(n->m, c);
}

void mon_cm_adopt(struct mon_now *n)
{
	for (unsigned i = 0; n->m->cm != NULL && i < CONNS; i++) {
		const struct mon_cm_conn *c = &n->m->cm[(n->m->cm_next - 1 - i) % CONNS];

		for (unsigned who = 0; c->used && c->answered && who < 2; who++) {
			struct mon_key key;

			key_of(c, who, &key);
			if (key.destqp != n->f->key.destqp || key.vantage != n->f->key.vantage ||
			    !mon_addr_equal(&key.src, &n->f->key.src) || !mon_addr_equal(&key.dst, &n->f->key.dst))
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
