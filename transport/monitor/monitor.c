/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * monitor.c - the calls of vs/monitor.h: one packet on its way through the rules, and what is counted.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mon.h"

#define WINDOW 4096u
#define FLOWS 65536u
#define TEXT 240
#define CLOCK_STEP_NS 1000 /* a flow is captured in one queue, whose times go forward, to the microsecond */

struct vs_monitor *vs_monitor_new(const struct vs_monitor_attr *attr)
{
	struct vs_monitor *m = calloc(1, sizeof(*m));

	if (m == NULL)
		return NULL;
	if (attr != NULL)
		m->attr = *attr;
	if (m->attr.window == 0)
		m->attr.window = WINDOW;
	if (m->attr.max_flows == 0)
		m->attr.max_flows = FLOWS;
	m->mask = 4095;
	m->bucket = calloc((size_t)m->mask + 1, sizeof(struct mon_flow *));
	m->pair_bucket = calloc((size_t)m->mask + 1, sizeof(struct mon_pair *));
	if (m->bucket == NULL || m->pair_bucket == NULL) {
		vs_monitor_free(m);
		return NULL;
	}
	return m;
}

void vs_monitor_free(struct vs_monitor *m)
{
	if (m == NULL)
		return;
	mon_flows_free(m);
	mon_cm_free(m);
	mon_verbs_free(m);
	free(m->bucket);
	free(m->pair_bucket);
	free(m);
}

const struct vs_mon_totals *vs_monitor_totals(const struct vs_monitor *m)
{
	return &m->total;
}

/* ---- findings, time, links ---- */

void mon_find(struct mon_now *n, enum vs_rule rule, uint32_t other, const char *format, ...)
{
	struct vs_mon_finding finding = {.rule = rule, .frame = n->in->frame, .other = other};
	char text[TEXT];
	va_list ap;

	n->m->total.broken[vs_rule_info(rule)->level]++;
	n->m->total.by_rule[rule]++;
	if (n->out->rules < VS_MON_RULES)
		n->out->rule[n->out->rules] = (uint8_t)rule;
	if (n->out->rules < UINT8_MAX)
		n->out->rules++;
	if (n->m->attr.finding == NULL)
		return;
	va_start(ap, format);
	(void)vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	finding.text = text;
	n->m->attr.finding(n->m->attr.ctx, &finding);
}

uint16_t mon_sport(const struct vs_pkt *p)
{
	return p->encap == VS_ENCAP_ROCEV2_IPV4 || p->encap == VS_ENCAP_ROCEV2_IPV6 ? p->udp.sport : 0;
}

bool mon_same_sender(const struct mon_now *n, uint16_t sport)
{
	return mon_sport(n->p) == sport && !n->f->stepped && (n->f->peer == NULL || !n->f->peer->stepped);
}

bool mon_elapsed(int64_t then, int64_t now, uint64_t *ns)
{
	int64_t d;

	if (__builtin_sub_overflow(now, then, &d) || d < 0 || d > MON_TIME_MAX)
		return false;
	*ns = (uint64_t)d;
	return true;
}

void mon_link(struct mon_now *n, uint32_t frame, enum vs_mon_link kind)
{
	if (frame != 0 && n->m->attr.link != NULL)
		n->m->attr.link(n->m->attr.ctx, frame, kind, n->in->frame);
}

/* ---- one packet ---- */

static bool is_ack(uint8_t opcode)
{
	return opcode == VS_OP_RC_ACKNOWLEDGE || opcode == VS_OP_RD_ACKNOWLEDGE || opcode == VS_OP_XRC_ACKNOWLEDGE;
}

static bool is_cnp(uint8_t opcode)
{
	return opcode == VS_OP_CNP || opcode == VS_OP_CNP_IB;
}

static void count_aeth(struct mon_now *n)
{
	const uint8_t s = n->p->ext.aeth.syndrome;
	const unsigned code = s & 0x1f;

	if (vs_aeth_type(s) == VS_AETH_RNR) {
		n->m->total.rnr_naks++;
		n->out->flags |= VS_MON_RNR;
	} else if (vs_aeth_type(s) == VS_AETH_NAK) {
		n->m->total.naks[code < 4 ? code : 4]++;
		n->out->flags |= VS_MON_NAK;
	}
}

/*
 * Stands for the bytes of a packet and its IP ID. The ICRC covers all but what the way may change; where a snap length
 * hides it, the IP ID and the length must do.
 */
static uint32_t print_of(const struct mon_now *n)
{
	if (n->p->flags & VS_PKT_HAS_ICRC)
		return n->p->icrc;
	return ((uint32_t)n->p->ipv4.id << 16 ^ n->len) * UINT32_C(0x9e3779b1);
}

uint64_t mon_operands(const struct vs_pkt *p)
{
	return p->ext.atomiceth.swapadd * UINT64_C(0x9e3779b97f4a7c15) + p->ext.atomiceth.compare;
}

/* What is kept of this packet. */
static void fill(struct mon_now *n, struct mon_seen *s, int64_t pos)
{
	const struct vs_pkt *p = n->p;

	s->opcode = p->bth.opcode;
	s->pos = pos;
	s->time_ns = s->last_ns = n->in->time_ns;
	s->frame = n->in->frame;
	s->epoch = n->f->epoch;
	s->len = n->len_known ? n->len : MON_UNKNOWN;
	for (unsigned i = 0; i < MON_PRINTS; i++)
		s->print[i] = print_of(n);
	s->request = n->op->flags & VS_OPF_Q;
	s->iter = 1;
	s->sport = mon_sport(p);
	s->dmalen = MON_UNKNOWN;
	if (p->hdrs & VS_HDR_RETH) {
		s->va = p->ext.reth.va;
		s->rkey = p->ext.reth.rkey;
		s->dmalen = p->ext.reth.dmalen;
	} else if (p->hdrs & VS_HDR_ATOMICETH) {
		s->va = p->ext.atomiceth.va;
		s->rkey = p->ext.atomiceth.rkey;
		s->operands = mon_operands(p);
	} else if (p->hdrs & VS_HDR_ATOMICACKETH) {
		s->va = p->ext.atomicack_origdata;
	}
}

/* The same bytes with the same IP ID as one of the newest transmissions? This one is remembered too. */
static bool same_bytes(const struct mon_now *n, struct mon_seen *before)
{
	const uint32_t print = print_of(n);

	for (unsigned i = 0; i < MON_PRINTS; i++)
		if (before->print[i] == print)
			return n->p->encap == VS_ENCAP_ROCEV2_IPV4;
	memmove(before->print + 1, before->print, (MON_PRINTS - 1) * sizeof(before->print[0]));
	before->print[0] = print;
	return false;
}

/* `before` NULL: too old to be remembered in detail. Only the network makes a copy with the IP ID of another. */
static void count_repeat(struct mon_now *n, struct mon_seen *before)
{
	const bool same = before != NULL && same_bytes(n, before);

	n->out->flags |= VS_MON_REPEAT;
	n->net_dup = same && n->f->ids_vary;
	n->f->same_ids += same && !n->net_dup;
	n->out->class_ = n->net_dup ? VS_MON_NETWORK_DUP : VS_MON_RETRANSMISSION;
	if (n->net_dup)
		n->m->total.network_duplicates++;
	else
		n->m->total.retransmissions++;
	n->f->info.retransmissions += !n->net_dup;
	n->out->wasted = n->len;
	n->out->iter = 2;
	if (before == NULL)
		return;
	n->out->original = before->frame;
	mon_link(n, before->frame, VS_MON_LINK_REPEATED);
	if (before->iter < UINT16_MAX)
		before->iter++;
	n->out->iter = before->iter < UINT8_MAX ? (uint8_t)before->iter : UINT8_MAX;
}

/* ---- gaps, as vs-pcap gen counts them ---- */

static bool request_gap(struct mon_flow *f, const struct vs_pkt *p)
{
	const bool read = vs_opcodes[p->bth.opcode].response == VS_RESPONSE_READ;
	const bool gap = f->gap_requests && vs_psn_gt(p->bth.psn, f->gap_last_psn);
	uint32_t most = read ? vs_psn_count(p->ext.reth.dmalen & 0x7fffffffu, 256) : 1;

	if (f->gap_requests && vs_psn_lt(p->bth.psn, f->gap_next_psn))
		return false;
	f->gap_requests = true;
	f->gap_next_psn = vs_psn_add(p->bth.psn, 1);
	f->gap_last_psn = vs_psn_add(p->bth.psn, (int32_t)(most < 0x400000 ? most : 0x400000));
	return gap;
}

static bool response_gap(struct mon_flow *f, const struct vs_pkt *p)
{
	const bool gap = f->gap_responses && !(vs_opcodes[p->bth.opcode].flags & VS_OPF_B) &&
			 vs_psn_gt(p->bth.psn, vs_psn_add(f->gap_read_psn, 1));

	f->gap_responses = true;
	f->gap_read_psn = p->bth.psn;
	return gap;
}

static void count_gap(struct mon_now *n)
{
	const uint16_t flags = n->op->flags;
	bool gap = false;

	if (!mon_connected(n->p->bth.opcode))
		return;
	if (flags & VS_OPF_Q)
		gap = request_gap(n->f, n->p);
	else if (flags & VS_OPF_R && flags & VS_OPF_D)
		gap = response_gap(n->f, n->p);
	if (!gap)
		return;
	n->m->total.gaps++;
	n->out->flags |= VS_MON_GAP;
	if (n->out->missing == 0)
		n->out->missing = 1;
}

/* ---- the packets of a flow ---- */

static void payload(struct mon_now *n)
{
	const struct vs_pkt *p = n->p;

	n->len = p->payload_len + p->payload_missing_len;
	n->len_known = !(p->flags & (VS_PKT_HDR_MISSING | VS_PKT_FRAGMENT));
	if (n->in->offloaded || !(p->flags & VS_PKT_SNAPPED))
		n->len_known &= (p->flags & VS_PKT_HAS_ICRC) != 0;
}

static void count_bytes(struct mon_now *n)
{
	n->f->info.packets++;
	n->f->info.bytes += n->len;
	if (n->out->wasted > 0) {
		n->out->flags |= VS_MON_WASTED;
		n->m->total.wasted += n->out->wasted;
		n->f->info.wasted += n->out->wasted;
	} else {
		n->m->total.useful += n->len;
	}
}

/* Where its PSN stands in the space that it belongs to. */
static int64_t position(const struct mon_now *n)
{
	const struct mon_flow *f = n->f;

	if (n->op->flags & VS_OPF_R && f->peer != NULL && f->peer->req.any)
		return mon_pos(&f->peer->req, n->p->bth.psn);
	return mon_pos(&f->req, n->p->bth.psn);
}

/*
 * Was it here before? What is remembered of it, or of the first like it; NULL: nothing is to be remembered (an ACK, a
 * CNP), or no memory. `copy`: what was remembered, as it was.
 */
static struct mon_seen *look_up(struct mon_now *n, bool *repeat, struct mon_seen *copy)
{
	const struct vs_bth *b = &n->p->bth;
	const bool response = n->op->flags & VS_OPF_R;
	struct mon_seen *before, *s;
	int64_t pos;

	*repeat = false;
	if (is_ack(b->opcode) || is_cnp(b->opcode)) {
		count_gap(n);
		return NULL;
	}
	pos = mon_once_pos(&n->f->once_space[response], b->psn);
	before = mon_seen_find(n->f, b->psn, b->opcode, mon_once_turn(pos));
	*repeat = mon_once(n->f, b->opcode, pos) || before != NULL;
	if (*repeat)
		count_repeat(n, before);
	else
		count_gap(n);
	if (before != NULL) {
		*copy = *before;
		/* of a connection before this one: where it stands now is what counts */
		if (before->epoch != n->f->epoch && before->request)
			before->pos = position(n);
		return before;
	}
	n->forgotten = *repeat;
	s = mon_seen_add(n->m, n->f, b->psn);
	if (s != NULL) {
		fill(n, s, n->op->flags & VS_OPF_Q ? position(n) : 0);
		s->turn = mon_once_turn(pos);
	}
	return s;
}

/* In a flow that the clock went back in, what was before may be of another connection. */
static void note_clock(struct mon_now *n)
{
	int64_t back;

	if (!n->f->is_new && (__builtin_sub_overflow(n->f->last_ns, n->in->time_ns, &back) || back > CLOCK_STEP_NS))
		n->f->stepped = true;
	n->f->last_ns = n->in->time_ns;
}

static void transport(struct mon_now *n)
{
	const uint8_t opcode = n->p->bth.opcode;
	const bool response = n->op->flags & VS_OPF_R;
	struct mon_seen *s, copy = {0};
	bool repeat;

	payload(n);
	note_clock(n);
	if (n->f->is_new)
		mon_cm_adopt(n);
	n->f->is_new = false;
	if (response)
		mon_flow_infer(n);
	mon_header_flow(n);
	s = look_up(n, &repeat, &copy);
	if (n->p->hdrs & VS_HDR_AETH)
		count_aeth(n);
	if (is_cnp(opcode))
		mon_cnp(n);
	else if (mon_connected(opcode) && s != NULL && !response)
		mon_request(n, s, repeat);
	else if (mon_connected(opcode) && response)
		mon_response(n, repeat && !n->forgotten ? &copy : NULL);
	else
		mon_cm(n);
	count_bytes(n);
}

/*
 * Cut before the ICRC that would tell, and neither the version nor the opcode is one that exists: something else that
 * uses the port, a DNS answer to a client with port 4791, say.
 */
static bool foreign(const struct mon_now *n)
{
	return n->in->icrc == VS_CRC_UNVERIFIED && n->p->flags & VS_PKT_SNAPPED && n->p->flags & VS_PKT_HAS_BTH &&
	       n->p->bth.tver != 0 && n->op->name == NULL;
}

void vs_monitor_packet(struct vs_monitor *m, const struct vs_mon_packet *in, struct vs_mon_result *out)
{
	struct mon_now n = {.m = m, .in = in, .p = in->pkt, .op = &vs_opcodes[in->pkt->bth.opcode], .out = out};
	struct mon_key key;

	memset(out, 0, sizeof(*out));
	m->total.packets++;
	if (foreign(&n))
		return;
	mon_header_alone(&n);
	if (in->icrc == VS_CRC_BAD) {
		m->total.icrc_bad++;
		return;
	}
	if (!(n.p->flags & VS_PKT_HAS_BTH))
		return;
	mon_key_of(in, &key);
	n.f = mon_flow_get(m, &key);
	if (n.f == NULL)
		return;
	out->class_ = VS_MON_NEW;
	out->iter = 1;
	transport(&n);
	if (n.f->peer != NULL)
		out->flags |= (uint16_t)(VS_MON_PAIRED | (n.f->inferred ? VS_MON_INFERRED : 0));
	if (n.f->stream == 0)
		n.f->stream = ++m->n_streams;
	out->stream = n.f->stream;
	n.f->last_frame = in->frame;
	n.f->last_nak_sent = out->flags & (VS_MON_NAK | VS_MON_RNR) ? in->frame : 0;
}

/* ---- the end ---- */

void vs_monitor_end(struct vs_monitor *m)
{
	for (struct mon_flow *f = m->oldest; f != NULL; f = f->newer)
		if (f->req.any && f->una_any && f->next_lo > f->una)
			m->total.unacknowledged += (uint64_t)(f->next_lo - f->una);
	mon_verbs_end(m);
}

static void flow_info(const struct mon_flow *f, struct vs_mon_flow_info *info)
{
	*info = f->info;
	info->stream = f->stream;
	memcpy(info->src, f->key.src.b, sizeof(info->src));
	memcpy(info->dst, f->key.dst.b, sizeof(info->dst));
	info->addr_len = f->key.src.len;
	info->destqp = f->key.destqp;
	info->paired = f->peer != NULL;
	info->inferred = f->inferred;
	info->peer_destqp = f->peer != NULL ? f->peer->key.destqp : 0;
	info->mtu = f->mtu_mixed ? 0 : f->mtu;
	if (f->req.any && f->una_any && f->next_lo > f->una)
		info->outstanding = (uint32_t)(f->next_lo - f->una);
}

void vs_monitor_flows(const struct vs_monitor *m, bool (*each)(void *ctx, const struct vs_mon_flow_info *f), void *ctx)
{
	for (const struct mon_flow *f = m->oldest; f != NULL; f = f->newer) {
		struct vs_mon_flow_info info;

		flow_info(f, &info);
		if (!each(ctx, &info))
			return;
	}
}
