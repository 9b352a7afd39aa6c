/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * flow.c - flows by source, destination and destination QP, and which flow answers which.
 *
 * A response names no QP of the requester, so the flow whose requests it answers is found among those between the
 * same two addresses: from CM (cm.c), or because only one of them has a request outstanding at this PSN.
 */
#include <stdlib.h>
#include <string.h>

#include "mon.h"

#define CONFIRMED 16u /* answers that fit before an inferred peer is believed */
#define NAK_SEQUENCE 0x60
#define NEAR 4096       /* PSNs */
#define CANDIDATES 256u /* flows that are looked at for one response */

static struct mon_addr addr(const uint8_t *b, uint8_t len)
{
	struct mon_addr a = {.len = len};

	memcpy(a.b, b, len);
	return a;
}

static struct mon_addr lid(uint16_t v)
{
	return (struct mon_addr){{(uint8_t)(v >> 8), (uint8_t)v}, 2};
}

void mon_key_of(const struct vs_mon_packet *in, struct mon_key *key)
{
	const struct vs_pkt *p = in->pkt;

	*key = (struct mon_key){.destqp = p->bth.destqp, .vantage = in->vantage};
	switch (p->encap) {
	case VS_ENCAP_ROCEV2_IPV4:
		key->src = addr(p->ipv4.src, 4);
		key->dst = addr(p->ipv4.dst, 4);
		break;
	case VS_ENCAP_IB_GRH:
	case VS_ENCAP_ROCEV1:
	case VS_ENCAP_ROCEV2_IPV6:
		key->src = addr(p->grh.sgid, 16);
		key->dst = addr(p->grh.dgid, 16);
		break;
	case VS_ENCAP_IB:
	case VS_ENCAP_IB_RAW:
		key->src = lid(p->lrh.slid);
		key->dst = lid(p->lrh.dlid);
		break;
	case VS_ENCAP_BARE:
		break;
	}
}

bool mon_addr_equal(const struct mon_addr *a, const struct mon_addr *b)
{
	return a->len == b->len && memcmp(a->b, b->b, sizeof(a->b)) == 0;
}

static uint32_t hash_addr(const struct mon_addr *a)
{
	uint64_t x, y;

	memcpy(&x, a->b, 8);
	memcpy(&y, a->b + 8, 8);
	x = (x ^ (y * UINT64_C(0x9e3779b97f4a7c15))) * UINT64_C(0xff51afd7ed558ccd);
	return (uint32_t)(x >> 32) ^ a->len;
}

static bool key_equal(const struct mon_key *a, const struct mon_key *b)
{
	return a->destqp == b->destqp && a->vantage == b->vantage && mon_addr_equal(&a->src, &b->src) &&
	       mon_addr_equal(&a->dst, &b->dst);
}

static uint32_t hash_pair(const struct mon_key *key)
{
	return hash_addr(&key->src) + hash_addr(&key->dst) + key->vantage;
}

static uint32_t hash_key(const struct mon_key *key)
{
	uint32_t h =
		(hash_addr(&key->src) * 31 ^ hash_addr(&key->dst)) + key->destqp * UINT32_C(0x9e3779b1) + key->vantage;

	return h ^ h >> 15;
}

struct mon_flow *mon_flow_find(const struct vs_monitor *m, const struct mon_key *key)
{
	const uint32_t h = hash_key(key);

	for (struct mon_flow *f = m->bucket[h & m->mask]; f != NULL; f = f->next)
		if (f->hash == h && key_equal(&f->key, key))
			return f;
	return NULL;
}

/* ---- by last use ---- */

static void unlink_use(struct vs_monitor *m, struct mon_flow *f)
{
	*(f->newer != NULL ? &f->newer->older : &m->newest) = f->older;
	*(f->older != NULL ? &f->older->newer : &m->oldest) = f->newer;
}

static void link_newest(struct vs_monitor *m, struct mon_flow *f)
{
	f->newer = NULL;
	f->older = m->newest;
	*(m->newest != NULL ? &m->newest->newer : &m->oldest) = f;
	m->newest = f;
}

/* ---- pairs of addresses ---- */

static bool same_pair(const struct mon_key *a, const struct mon_key *b)
{
	return a->vantage == b->vantage && ((mon_addr_equal(&a->src, &b->src) && mon_addr_equal(&a->dst, &b->dst)) ||
					    (mon_addr_equal(&a->src, &b->dst) && mon_addr_equal(&a->dst, &b->src)));
}

static bool join_pair(struct vs_monitor *m, struct mon_flow *f)
{
	const uint32_t h = hash_pair(&f->key);
	struct mon_pair **head = &m->pair_bucket[h & m->mask], *q;

	for (q = *head; q != NULL; q = q->next)
		if (q->hash == h && same_pair(&q->flows->key, &f->key))
			break;
	if (q == NULL) {
		q = calloc(1, sizeof(*q));
		if (q == NULL)
			return false;
		q->hash = h;
		q->next = *head;
		*head = q;
	}
	f->pair = q;
	f->pair_next = q->flows;
	q->flows = f;
	q->count++;
	return true;
}

static void leave_pair(struct vs_monitor *m, struct mon_flow *f)
{
	struct mon_pair *q = f->pair, **at;
	struct mon_flow **link;

	for (link = &q->flows; *link != f;)
		link = &(*link)->pair_next;
	*link = f->pair_next;
	if (--q->count > 0)
		return;
	for (at = &m->pair_bucket[q->hash & m->mask]; *at != q;)
		at = &(*at)->next;
	*at = q->next;
	free(q);
}

/* ---- making and forgetting ---- */

static void forget(struct vs_monitor *m, struct mon_flow *f)
{
	struct mon_flow **link = &m->bucket[f->hash & m->mask];

	while (*link != f)
		link = &(*link)->next;
	*link = f->next;
	unlink_use(m, f);
	leave_pair(m, f);
	if (f->peer != NULL)
		f->peer->peer = NULL;
	m->n_flows--;
	free(f->seen);
	free(f->head);
	free(f->word);
	free(f->reads);
	free(f);
}

static struct mon_flow *make(struct vs_monitor *m, const struct mon_key *key)
{
	struct mon_flow *f = calloc(1, sizeof(*f));

	if (f == NULL)
		return NULL;
	f->key = *key;
	f->hash = hash_key(key);
	if (!join_pair(m, f)) {
		free(f);
		return NULL;
	}
	f->next = m->bucket[f->hash & m->mask];
	m->bucket[f->hash & m->mask] = f;
	link_newest(m, f);
	m->n_flows++;
	f->number = (uint32_t)++m->total.flows;
	f->is_new = true;
	return f;
}

struct mon_flow *mon_flow_get(struct vs_monitor *m, const struct mon_key *key)
{
	struct mon_flow *f = mon_flow_find(m, key);

	if (f == NULL) {
		if (m->n_flows == m->attr.max_flows) {
			forget(m, m->oldest);
			m->total.forgotten++;
		}
		return make(m, key);
	}
	if (f != m->newest) {
		unlink_use(m, f);
		link_newest(m, f);
	}
	return f;
}

void mon_flow_restart(struct mon_flow *f)
{
	f->epoch++;
	f->req.any = false;
	f->una_any = f->msn_any = f->nak_any = f->fatal_any = f->rnr_any = f->credits_any = f->broken_any = false;
	f->cause = VS_MON_CAUSE_NONE;
	f->burst = f->last_known = f->mtu_mixed = false;
	f->mtu = 0;
	f->chain++;
	f->fixed.any = false;
	f->msn_sure = f->stepped = false;
	f->rnr_count = f->retry_count = 0;
	f->reads_end = 0;
	f->reads_open = f->reads_vague = false;
	for (unsigned i = 0; f->reads != NULL && i < MON_READS; i++)
		f->reads[i].used = false;
	if (f->peer != NULL && f->inferred) {
		f->peer->peer = NULL;
		f->peer = NULL;
	}
}

void mon_flows_free(struct vs_monitor *m)
{
	struct mon_flow *newer;

	for (struct mon_flow *f = m->oldest; f != NULL; f = newer) {
		newer = f->newer;
		free(f->seen);
		free(f->head);
		free(f->word);
		free(f->reads);
		free(f);
	}
	for (uint32_t i = 0; m->pair_bucket != NULL && i <= m->mask; i++) {
		struct mon_pair *next;

		for (struct mon_pair *q = m->pair_bucket[i]; q != NULL; q = next) {
			next = q->next;
			free(q);
		}
	}
}

/* ---- who answers whom ---- */

void mon_flow_pair(struct vs_monitor *m, struct mon_flow *a, struct mon_flow *b, bool inferred)
{
	if (a == b || a->peer == b)
		return;
	if (a->peer != NULL)
		a->peer->peer = NULL;
	if (b->peer != NULL)
		b->peer->peer = NULL;
	a->peer = b;
	b->peer = a;
	a->inferred = b->inferred = inferred;
	a->confirmed = b->confirmed = 0;
	if (a->stream == 0 && b->stream == 0)
		a->stream = ++m->n_streams;
	/* the one that was there first keeps its number, for both */
	if (a->stream != 0 && (b->stream == 0 || a->stream < b->stream))
		b->stream = a->stream;
	else
		a->stream = b->stream;
}

/* Requests between the same addresses, in the same direction, that nothing is known to answer? */
static bool has_rivals(const struct mon_flow *f)
{
	for (const struct mon_flow *q = f->pair->flows; q != NULL; q = q->pair_next)
		if (q != f && q->peer == NULL && q->req.any && mon_addr_equal(&q->key.src, &f->key.src))
			return true;
	return false;
}

bool mon_flow_trusted(const struct mon_flow *f)
{
	if (f->peer == NULL || f->doubtful || f->stepped || f->peer->stepped)
		return false;
	return !f->inferred || f->pair->count <= 2 || (f->confirmed > CONFIRMED && !has_rivals(f));
}

/* Is there a request at this PSN, or a READ that covers it, not answered yet? */
static bool may_answer(const struct mon_now *n, struct mon_flow *q)
{
	const uint32_t psn = n->p->bth.psn;
	const uint8_t opcode = n->p->bth.opcode;
	const struct mon_seen *e;
	const struct mon_read *r;
	int64_t pos;

	if (!q->req.any)
		return false;
	pos = mon_pos(&q->req, psn);
	if ((q->una_any && pos < q->una) || (q->fatal_any && pos >= q->fatal_pos))
		return false;
	/* what it asks for may be missing in the capture too */
	if (n->p->hdrs & VS_HDR_AETH && n->p->ext.aeth.syndrome == NAK_SEQUENCE &&
	    vs_opcode_transport(q->last_opcode) == vs_opcode_transport(opcode) && pos < q->next_lo &&
	    pos > q->next_lo - NEAR)
		return true;
	e = mon_seen_request(q, psn, pos);
	r = mon_read_covering(q, pos);
	return (e != NULL && vs_opcode_transport(e->opcode) == vs_opcode_transport(opcode)) ||
	       (r != NULL && vs_opcode_transport(r->opcode) == vs_opcode_transport(opcode));
}

/* The one flow without a peer that this may answer; NULL: none, or several. */
static struct mon_flow *candidate(const struct mon_now *n)
{
	const struct mon_flow *f = n->f;
	struct mon_flow *found = NULL;
	unsigned looked = 0;

	for (struct mon_flow *q = f->pair->flows; q != NULL; q = q->pair_next) {
		if (++looked > CANDIDATES)
			return NULL;
		if (q == f || q->peer != NULL || !mon_addr_equal(&q->key.src, &f->key.dst) ||
		    !mon_addr_equal(&q->key.dst, &f->key.src) || !may_answer(n, q))
			continue;
		if (found != NULL)
			return NULL;
		found = q;
	}
	return found;
}

void mon_flow_infer(struct mon_now *n)
{
	struct mon_flow *f = n->f, *found;
	const bool again = f->peer != NULL;

	if (!mon_connected(n->p->bth.opcode) || (again && (!f->inferred || f->pair->count <= 2)))
		return;
	/* a QP number may be used by one connection after another: does the flow that it answered still wait? */
	if (again && may_answer(n, f->peer))
		return;
	found = candidate(n);
	if (found == NULL || (again && found->last_req_frame < f->peer->last_req_frame))
		return;
	if (again)
		f->peer->doubtful = true;
	f->doubtful |= again;
	found->doubtful |= again;
	mon_flow_pair(n->m, f, found, true);
}
