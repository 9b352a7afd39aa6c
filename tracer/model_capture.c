/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * model_capture.c - a capture, read: what each packet is, by the monitor, and what became of it, as far as later
 * packets show.
 *
 * What is said here is what frames show. A packet was lost when a NAK asks for it; it arrived when it was answered; it
 * is not known what became of one that a timer repeated, or that nobody ever answered.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "capture.h"
#include "vs/cm.h"
#include "vs/mad.h"
#include "vs/opcode.h"
#include "vs/pktio.h"

#define ADDRESSES_MAX 4096u
#define ACCEPTED_WITHIN 64u /* packets between a request and its answer */

/* ---- who ---- */

static uint8_t address_bytes(const struct vs_pkt *p, bool dst, uint8_t b[16])
{
	uint16_t lid = dst ? p->lrh.dlid : p->lrh.slid;

	memset(b, 0, 16);
	switch (p->encap) {
	case VS_ENCAP_ROCEV2_IPV4:
		memcpy(b, dst ? p->ipv4.dst : p->ipv4.src, 4);
		return 4;
	case VS_ENCAP_ROCEV2_IPV6:
	case VS_ENCAP_ROCEV1:
	case VS_ENCAP_IB_GRH:
		memcpy(b, dst ? p->grh.dgid : p->grh.sgid, 16);
		return 16;
	default:
		b[0] = (uint8_t)(lid >> 8);
		b[1] = (uint8_t)lid;
		return 2;
	}
}

/* A name that fits an event: the address, or a letter and a number where it is too long. */
static void name_address(struct vt_address *a, size_t i)
{
	if (a->len == 2)
		(void)snprintf(a->title, sizeof(a->title), "LID 0x%02x%02x", a->b[0], a->b[1]);
	else
		(void)inet_ntop(a->len == 4 ? AF_INET : AF_INET6, a->b, a->title, sizeof(a->title));
	if (strlen(a->title) < sizeof(a->name))
		memcpy(a->name, a->title, strlen(a->title) + 1);
	else if (i < 26)
		(void)snprintf(a->name, sizeof(a->name), "%c", (char)('A' + i));
	else
		(void)snprintf(a->name, sizeof(a->name), "N%u", (unsigned)(i % 10000));
}

static size_t address_of(struct vt_capture *c, const struct vs_pkt *p, bool dst)
{
	uint8_t b[16], len = address_bytes(p, dst, b);
	void *array = c->addr;

	for (size_t i = 0; i < c->n_addr; i++)
		if (c->addr[i].len == len && memcmp(c->addr[i].b, b, 16) == 0)
			return i;
	if (c->n_addr == ADDRESSES_MAX || !vt_room(&array, &c->cap_addr, c->n_addr, sizeof(*c->addr)))
		return VT_NONE;
	c->addr = array;
	c->addr[c->n_addr] = (struct vt_address){.len = len};
	memcpy(c->addr[c->n_addr].b, b, 16);
	name_address(&c->addr[c->n_addr], c->n_addr);
	return c->n_addr++;
}

static size_t flow_of(struct vt_capture *c, size_t src, size_t dst, uint32_t dqpn)
{
	size_t i = vt_map_get(&c->flows, src << 32 | dst, dqpn);
	void *array = c->flow;

	if (i != VT_NONE)
		return i;
	if (!vt_room(&array, &c->cap_flow, c->n_flow, sizeof(*c->flow)))
		return VT_NONE;
	c->flow = array;
	c->flow[c->n_flow] = (struct vt_flow){.src = (uint16_t)src, .dst = (uint16_t)dst, .dqpn = dqpn};
	return vt_map_put(&c->flows, src << 32 | dst, dqpn, c->n_flow) ? c->n_flow++ : VT_NONE;
}

size_t vt_seen_at(const struct vt_capture *c, uint32_t frame, uint32_t psn)
{
	size_t low = 0, high = c->n, first;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (c->seen[mid].frame < frame)
			low = mid + 1;
		else
			high = mid;
	}
	first = low < c->n && c->seen[low].frame == frame && frame != 0 ? low : VT_NONE;
	for (; low < c->n && c->seen[low].frame == frame && frame != 0; low++)
		if (c->seen[low].psn == psn)
			return low;
	return first;
}

/* ---- what became of requests ---- */

static bool is_rc_request(const struct vt_seen *s)
{
	return vs_opcode_transport(s->opcode) == VS_TRANSPORT_RC && (vs_opcodes[s->opcode].flags & VS_OPF_Q) != 0;
}

static void answered(struct vt_capture *c, size_t i)
{
	size_t newest = vt_map_get(&c->latest, c->seen[i].flow, c->seen[i].psn);

	if (newest != VT_NONE && c->seen[newest].fate == VT_FATE_UNKNOWN)
		c->seen[newest].fate = VT_FATE_ARRIVED;
}

/* The monitor: `frame` was answered by `later`. Of a super-packet one packet after the other. */
static void on_link(void *ctx, uint32_t frame, enum vs_mon_link kind, uint32_t later)
{
	struct vt_capture *c = ctx;
	size_t i = vt_seen_at(c, frame, VS_SYN_NONE << 8);

	(void)later;
	if (kind != VS_MON_LINK_ANSWERED || i == VT_NONE)
		return;
	while (i + 1 < c->n && c->seen[i + 1].frame == frame && c->seen[i].fate == VT_FATE_ARRIVED)
		i++;
	answered(c, i);
}

static void on_refusal(struct vt_capture *c, const struct vt_seen *s)
{
	size_t i = vt_seen_at(c, s->is.mon.request, s->psn), newest;
	enum vs_aeth_type type = vs_aeth_type((uint8_t)s->syn);

	if (i == VT_NONE)
		return;
	newest = vt_map_get(&c->latest, c->seen[i].flow, s->psn);
	if (newest == VT_NONE || c->seen[newest].fate != VT_FATE_UNKNOWN)
		return;
	if (type == VS_AETH_NAK && (s->syn & 0x1f) == VS_NAK_PSN_SEQ)
		c->seen[newest].fate = VT_FATE_LOST;
	else if (type == VS_AETH_NAK || type == VS_AETH_RNR)
		c->seen[newest].fate = VT_FATE_ARRIVED;
}

/*
 * A packet whose ICRC looks wrong, and which the peer answered all the same: it was right for that peer (rxe 6.12
 * computes that of FLUSH in a way of its own). The monitor passes over such packets, so that the queue pairs are tied
 * here, too.
 */
static void accepted_after_all(struct vt_capture *c, struct vt_seen *s)
{
	size_t first = c->n > ACCEPTED_WITHIN ? c->n - ACCEPTED_WITHIN : 0;

	for (size_t i = c->n - 1; i-- > first;) {
		struct vt_seen *asked = &c->seen[i];

		if (asked->fate != VT_FATE_DROPPED || asked->psn != s->psn || asked->src != s->dst ||
		    asked->dst != s->src || !is_rc_request(asked))
			continue;
		asked->fate = VT_FATE_ARRIVED;
		s->is.mon.request = asked->frame;
		if (c->flow[asked->flow].sqpn == 0)
			c->flow[asked->flow].sqpn = s->dqpn;
		return;
	}
}

static bool asks_again(const struct vt_seen *s)
{
	return vs_aeth_type((uint8_t)s->syn) == VS_AETH_NAK && (s->syn & 0x1f) == VS_NAK_PSN_SEQ;
}

static void judge_fate(struct vt_capture *c, size_t i)
{
	struct vt_seen *s = &c->seen[i];
	size_t before;

	if (s->is.icrc == VS_CRC_BAD) {
		s->fate = VT_FATE_DROPPED;
		return;
	}
	if (!is_rc_request(s)) {
		s->fate = VT_FATE_ARRIVED;
		if (s->syn != VS_SYN_NONE && s->is.mon.request == 0 && !asks_again(s))
			accepted_after_all(c, s);
		else if (s->syn != VS_SYN_NONE)
			on_refusal(c, s);
		return;
	}
	before = vt_map_get(&c->latest, s->flow, s->psn);
	if (before != VT_NONE && s->is.mon.class_ != VS_MON_NETWORK_DUP) {
		c->seen[before].repeated = true;
		if (c->seen[before].fate == VT_FATE_UNKNOWN)
			c->seen[before].fate =
				s->is.mon.cause == VS_MON_CAUSE_TIMEOUT ? VT_FATE_SILENCE : VT_FATE_ARRIVED;
	}
	c->no_memory |= !vt_map_put(&c->latest, s->flow, s->psn, i);
}

/* ---- packets ---- */

static void take_headers(struct vt_seen *s, const struct vs_pkt *p)
{
	s->syn = VS_SYN_NONE;
	if (p->hdrs & VS_HDR_AETH) {
		s->syn = p->ext.aeth.syndrome;
		s->msn = p->ext.aeth.msn;
	}
	if (p->hdrs & VS_HDR_RETH) {
		s->is.va = p->ext.reth.va;
		s->is.rkey = p->ext.reth.rkey;
		s->is.dmalen = p->ext.reth.dmalen;
		s->is.flags |= VT_PKT_HAS_RETH;
	}
	if (p->hdrs & VS_HDR_ATOMICETH) {
		s->is.va = p->ext.atomiceth.va;
		s->is.rkey = p->ext.atomiceth.rkey;
		s->is.dmalen = 8;
		s->is.flags |= VT_PKT_HAS_RETH;
	}
	if (p->hdrs & VS_HDR_IMMDT) {
		s->is.imm = p->ext.immdt;
		s->is.flags |= VT_PKT_HAS_IMM;
	}
	if (p->hdrs & VS_HDR_DETH)
		s->sqpn = p->ext.deth.srcqp;
}

/* A CM message on QP 1; its communication ids stand where every message has them. */
static void take_cm(struct vt_seen *s, const struct vs_pkt *p)
{
	struct vs_cm_msg msg;
	struct vs_mad mad;
	const uint8_t *b;

	if (p->bth.destqp != VS_QPN_GSI || p->payload_len < VS_MAD_HDR_LEN + 8 ||
	    vs_mad_parse(&mad, p->payload, p->payload_len) != VS_OK || mad.mgmt_class != VS_MAD_CLASS_CM)
		return;
	b = p->payload + VS_MAD_HDR_LEN;
	s->cm = mad.attribute_id;
	s->cm_local = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
	if (s->cm != VS_CM_ATTR_REQ)
		s->cm_remote = (uint32_t)b[4] << 24 | (uint32_t)b[5] << 16 | (uint32_t)b[6] << 8 | b[7];
	if (s->cm == VS_CM_ATTR_REJ && vs_cm_parse(&msg, s->cm, b, p->payload_len - VS_MAD_HDR_LEN) == VS_OK)
		s->is.rej = msg.rej.reason;
}

static void on_packet(void *ctx, const struct vs_mon_packet *in, const struct vs_mon_result *out)
{
	struct vt_capture *c = ctx;
	const struct vs_pkt *p = in->pkt;
	void *array = c->seen;
	size_t src, dst, flow;
	struct vt_seen *s;

	if (!(p->flags & VS_PKT_HAS_BTH) || c->no_memory)
		return;
	src = address_of(c, p, false);
	dst = address_of(c, p, true);
	flow = src != VT_NONE && dst != VT_NONE ? flow_of(c, src, dst, p->bth.destqp) : VT_NONE;
	if (flow == VT_NONE || c->n >= VT_EVENTS_MAX || !vt_room(&array, &c->cap, c->n, sizeof(*c->seen))) {
		c->no_memory = true;
		return;
	}
	c->seen = array;
	s = &c->seen[c->n];
	*s = (struct vt_seen){.t_ns = (uint64_t)in->time_ns,
			      .frame = in->frame,
			      .flow = (uint32_t)flow,
			      .src = (uint16_t)src,
			      .dst = (uint16_t)dst,
			      .opcode = p->bth.opcode,
			      .ackreq = p->bth.ackreq,
			      .psn = p->bth.psn,
			      .dqpn = p->bth.destqp,
			      .len = p->payload_len + p->payload_missing_len};
	s->is = (struct vt_packet){.frame = in->frame, .icrc = in->icrc, .mon = *out};
	take_headers(s, p);
	take_cm(s, p);
	c->n++;
	judge_fate(c, c->n - 1);
}

static void on_finding(void *ctx, const struct vs_mon_finding *f)
{
	struct vt_capture *c = ctx;
	void *array = c->said;
	const char *text = vs_texts_keep(c->m->texts, f->text);

	if (text == NULL || !vt_room(&array, &c->cap_said, c->n_said, sizeof(*c->said))) {
		c->no_memory = true;
		return;
	}
	c->said = array;
	/* The packet that is being judged is the next one; findings of the end stand behind all. */
	c->said[c->n_said++] = (struct vt_said){c->n, f->rule, text};
}

/* ---- the sender's own QPN: what the other direction is sent to ---- */

static bool on_flow(void *ctx, const struct vs_mon_flow_info *f)
{
	struct vt_capture *c = ctx;

	for (size_t i = 0; f->paired && i < c->n_flow; i++) {
		const struct vt_address *src = &c->addr[c->flow[i].src], *dst = &c->addr[c->flow[i].dst];

		if (c->flow[i].dqpn == f->destqp && src->len == f->addr_len && dst->len == f->addr_len &&
		    memcmp(src->b, f->src, f->addr_len) == 0 && memcmp(dst->b, f->dst, f->addr_len) == 0)
			c->flow[i].sqpn = f->peer_destqp;
	}
	return true;
}

/* ---- the file ---- */

static bool read_all(struct vt_capture *c, struct vs_capture *in, struct vt_source *s)
{
	struct vs_io_error err = {0};
	struct vs_frame f;
	struct vs_pkt p;
	int rc;

	while ((rc = vs_capture_next(in, &f, &err)) == 1 && !c->no_memory) {
		const struct vs_mon_frame frame = {.number = (uint32_t)f.number,
						   .time_ns = f.time_ns,
						   .data = f.data,
						   .caplen = f.caplen,
						   .wirelen = f.wirelen};

		s->frames++;
		if (vs_pkt_parse(&p, f.link, f.ethertype, f.data, f.caplen, f.wirelen, 0) == VS_OK)
			(void)vs_monitor_frame(c->mon, &frame, &p, on_packet, c);
		else
			s->other++;
	}
	if (rc < 0) {
		s->cut = true;
		(void)snprintf(s->note, sizeof(s->note), "%.300s", err.text);
	}
	return !c->no_memory;
}

static void capture_free(struct vt_capture *c)
{
	vs_monitor_free(c->mon);
	vt_map_free(&c->flows);
	vt_map_free(&c->latest);
	free(c->seen);
	free(c->said);
	free(c->addr);
	free(c->flow);
}

bool vt_model_add_capture(struct vt_model *m, const char *path, char *err, size_t cap)
{
	struct vt_capture c = {.m = m};
	const struct vs_monitor_attr attr = {.ctx = &c, .finding = on_finding, .link = on_link};
	struct vs_io_error why = {0};
	struct vs_capture *in = vs_capture_open(path, &why);
	struct vt_source *s;
	bool ok;

	if (in == NULL)
		return vt_err(err, cap, "%s", why.text);
	s = vt_model_source(m, path, VT_SOURCE_CAPTURE);
	c.mon = vs_monitor_new(&attr);
	ok = s != NULL && c.mon != NULL && read_all(&c, in, s);
	if (ok) {
		vs_monitor_end(c.mon);
		vs_monitor_flows(c.mon, on_flow, &c);
		ok = vt_tell_packets(&c, path, err, cap);
	} else {
		(void)vt_err(err, cap, "%s: no memory for its packets", path);
	}
	vs_capture_close(in);
	capture_free(&c);
	return ok;
}
