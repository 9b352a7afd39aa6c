/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * header.c - rules of one packet alone, by vs_pkt_validate; what stays the same for the life of a flow; CNPs.
 */
#include "mon.h"

#define VS_RULE(ID, id, level, clause, sentence)
#define VS_RULE_OF_REASON(ID, level) [VS_REASON_##ID] = VS_RULE_##ID,
static const uint8_t rule_of_reason[VS_REASON_COUNT] = {
#include "rules.def"
};

/* Lengths that a super-packet's segments get when they are sent: computed, so never wrong. */
static bool about_length(enum vs_reason r)
{
	return r == VS_REASON_IP_LEN || r == VS_REASON_UDP_LEN || r == VS_REASON_IP_CSUM || r == VS_REASON_UDP_CSUM;
}

static void mon_bits(struct mon_now *n)
{
	const struct vs_bth *b = &n->p->bth;
	const uint16_t flags = n->op->flags;
	const enum vs_transport t = vs_opcode_transport(b->opcode);

	if (n->op->name == NULL)
		return;
	if (b->ackreq && (t == VS_TRANSPORT_UC || t == VS_TRANSPORT_UD || t == VS_TRANSPORT_CNP))
		mon_find(n, VS_RULE_ACKREQ_UNRELIABLE, 0, "%s with AckReq", n->op->name);
	if (b->ackreq && flags & VS_OPF_R)
		mon_find(n, VS_RULE_ACKREQ_RESPONSE, 0, "%s with AckReq", n->op->name);
	if (b->se && flags & VS_OPF_R)
		mon_find(n, VS_RULE_SE_RESPONSE, 0, "%s with SE", n->op->name);
	if (b->se && flags & VS_OPF_Q &&
	    (!(flags & VS_OPF_E) || (!(flags & VS_OPF_S) && !(flags & VS_OPF_I && flags & VS_OPF_W))))
		mon_find(n, VS_RULE_SE_MISPLACED, 0, "%s with SE", n->op->name);
	if (b->migreq && b->opcode == VS_OP_CNP)
		mon_find(n, VS_RULE_CNP_MIGREQ, 0, "CNP with MigReq");
}

void mon_header_alone(struct mon_now *n)
{
	enum vs_reason found[VS_REASON_WIRE_LAST];
	const enum vs_reason *why = n->in->reasons;
	size_t count = n->in->reason_count;

	if (n->in->icrc == VS_CRC_BAD) {
		mon_find(n, VS_RULE_ICRC_BAD, 0, "%s", vs_rule_info(VS_RULE_ICRC_BAD)->sentence);
		return;
	}
	if (why == NULL) {
		count = vs_pkt_validate(n->p, n->in->icrc, n->in->vcrc, found, VS_REASON_WIRE_LAST);
		why = found;
	} else if (n->in->vcrc == VS_CRC_BAD) {
		mon_find(n, VS_RULE_VCRC_BAD, 0, "%s", vs_rule_info(VS_RULE_VCRC_BAD)->sentence);
	}
	for (size_t i = 0; i < count && i < VS_REASON_WIRE_LAST; i++) {
		const enum vs_rule rule = (enum vs_rule)rule_of_reason[why[i]];

		if (rule != VS_RULE_NONE && !(n->in->offloaded && about_length(why[i])))
			mon_find(n, rule, 0, "%s", vs_rule_info(rule)->sentence);
	}
	if (n->p->flags & VS_PKT_HAS_BTH)
		mon_bits(n);
}

/* ---- what stays the same ---- */

uint8_t mon_tclass(const struct vs_pkt *p)
{
	switch (p->encap) {
	case VS_ENCAP_ROCEV2_IPV4:
		return p->ipv4.tos;
	case VS_ENCAP_IB_GRH:
	case VS_ENCAP_ROCEV1:
	case VS_ENCAP_ROCEV2_IPV6:
		return p->grh.tclass;
	default:
		return 0;
	}
}

static bool is_udp(const struct vs_pkt *p)
{
	return p->encap == VS_ENCAP_ROCEV2_IPV4 || p->encap == VS_ENCAP_ROCEV2_IPV6;
}

static uint8_t hops_of(const struct vs_pkt *p)
{
	if (p->encap == VS_ENCAP_ROCEV2_IPV4)
		return p->ipv4.ttl;
	return p->encap == VS_ENCAP_BARE || p->encap == VS_ENCAP_IB ? 0 : p->grh.hoplmt;
}

static void compare_udp(struct mon_now *n, const struct mon_fixed *was, const struct mon_fixed *is)
{
	if (was->sport != is->sport)
		mon_find(n, VS_RULE_SPORT_CHANGED, n->f->last_frame, "the UDP source port was %u and is %u", was->sport,
			 is->sport);
	if (was->dscp != is->dscp)
		mon_find(n, VS_RULE_DSCP_CHANGED, n->f->last_frame, "the DSCP was %u and is %u", was->dscp, is->dscp);
	if (was->ect != is->ect)
		mon_find(n, VS_RULE_ECT_CHANGED, n->f->last_frame, "the sender is %s ECN-capable",
			 is->ect ? "now" : "no longer");
	if (was->ttl != is->ttl)
		mon_find(n, VS_RULE_TTL_CHANGED, n->f->last_frame, "the hop limit was %u and is %u", was->ttl, is->ttl);
}

/* What was the same twice was copied on the way after all, once its sender is known to number its packets. */
static void note_ip_id(struct mon_now *n)
{
	struct mon_flow *f = n->f;
	const uint16_t id = n->p->ipv4.id;

	if (n->p->encap != VS_ENCAP_ROCEV2_IPV4)
		return;
	f->ids_vary |= f->id_any && f->ip_id != id;
	f->ip_id = id;
	f->id_any = true;
	if (!f->ids_vary || f->same_ids == 0)
		return;
	n->m->total.network_duplicates += f->same_ids;
	n->m->total.retransmissions -= f->same_ids;
	f->info.retransmissions -= f->same_ids;
	f->same_ids = 0;
}

void mon_header_flow(struct mon_now *n)
{
	const struct vs_pkt *p = n->p;
	const uint8_t tclass = mon_tclass(p);
	struct mon_fixed is = {.pkey = p->bth.pkey,
			       .sport = mon_sport(p),
			       .migreq = p->bth.migreq,
			       .dscp = tclass >> 2,
			       .ect = (tclass & 3) != 0,
			       .ttl = hops_of(p),
			       .any = true};
	const struct mon_fixed was = n->f->fixed;

	note_ip_id(n);
	if ((tclass & 3) == 3) { /* a mark hides what it was before */
		n->f->ce_seen = true;
		is.ect = was.any ? was.ect : 1;
	}
	if (!mon_connected(p->bth.opcode))
		return;
	n->f->fixed = is;
	if (!was.any)
		return;
	if (was.pkey != is.pkey)
		mon_find(n, VS_RULE_PKEY_CHANGED, n->f->last_frame, "the P_Key was 0x%04x and is 0x%04x", was.pkey,
			 is.pkey);
	/* of another partition, and so of another connection: nothing is to be compared with what was before */
	if ((was.pkey ^ is.pkey) & 0x7fff) {
		mon_flow_restart(n->f);
		n->f->fixed = is;
		return;
	}
	if (was.migreq != is.migreq)
		mon_find(n, VS_RULE_MIGREQ_CHANGED, n->f->last_frame, "MigReq was %u and is %u", was.migreq, is.migreq);
	if (is_udp(p))
		compare_udp(n, &was, &is);
}

/* ---- congestion notification ---- */

/* Any flow towards who sends this CNP that had a mark? A CNP names the QP of the sender, and flows that of the
 * receiver.
 */
static bool marked_before(const struct mon_now *n)
{
	for (const struct mon_flow *q = n->f->pair->flows; q != NULL; q = q->pair_next)
		if (q->ce_seen && mon_addr_equal(&q->key.dst, &n->f->key.src) &&
		    mon_addr_equal(&q->key.src, &n->f->key.dst))
			return true;
	return false;
}

void mon_cnp(struct mon_now *n)
{
	if (n->p->bth.opcode != VS_OP_CNP)
		return;
	n->m->total.cnps++;
	if (marked_before(n))
		return;
	n->f->last_cnp = n->in->frame;
	if (n->f->last_nak_sent != 0)
		mon_find(n, VS_RULE_CNP_ON_NAK, n->f->last_nak_sent, "a CNP goes with the NAK in frame %u",
			 n->f->last_nak_sent);
	else
		mon_find(n, VS_RULE_CNP_UNMARKED, 0, "%s", vs_rule_info(VS_RULE_CNP_UNMARKED)->sentence);
}
