/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * match.c - is a packet that came the one that the script expects? What a line does not say does not matter, but
 * every packet must be legal and addressed to the peer's queue pair.
 */
#include <stdio.h>
#include <stdlib.h>

#include "packet.h"
#include "vs/icrc.h"

/* count=: A, or A..B */
static bool count(struct run *r, const struct stmt *st, uint64_t *least, uint64_t *most)
{
	const struct option *o = dr_opt(st, K_COUNT);

	if (o == NULL || st->kind != S_RECEIVE || !dr_eval(r, st, o->v.e, least))
		return false;
	*most = *least;
	if (o->v.e2 != NULL && !dr_eval(r, st, o->v.e2, most))
		return false;
	if (*most >= *least && *most > 0 && *most <= MAX_WR)
		return true;
	dr_broken(r, st, o->column, "the range ends before it begins, or has more than %u packets", MAX_WR);
	return false;
}

uint32_t dr_receive_count(struct run *r, const struct stmt *st)
{
	uint64_t least, most;
	uint32_t first, n;

	if (count(r, st, &least, &most))
		return (uint32_t)most;
	return st->word != OP_CM && dr_psn_range(r, st, &first, &n) ? n : 1;
}

uint32_t dr_least(struct run *r, const struct stmt *st, uint32_t most)
{
	uint64_t least, ignored;

	return count(r, st, &least, &ignored) ? (uint32_t)least : most;
}

/* The name of an opcode, with what its syndrome says. */
static void name_of(const struct vs_pkt *p, char *buf, size_t cap)
{
	uint8_t s = p->ext.aeth.syndrome;
	const char *token = vs_opcode_token(p->bth.opcode);

	if (p->bth.opcode == VS_OP_RC_ACKNOWLEDGE && vs_aeth_type(s) == VS_AETH_NAK) {
		for (const struct word *w = dr_nak_words; w->name != NULL; w++)
			if (w->value == (s & 0x1f)) {
				(void)snprintf(buf, cap, "NAK %s", w->name);
				return;
			}
	}
	if (p->bth.opcode == VS_OP_RC_ACKNOWLEDGE && vs_aeth_type(s) == VS_AETH_RNR)
		(void)snprintf(buf, cap, "NAK rnr timer=%d", s & 0x1f);
	else if (token != NULL)
		(void)snprintf(buf, cap, "%s", token);
	else
		(void)snprintf(buf, cap, "opcode 0x%02x", p->bth.opcode);
}

void dr_packet_text(struct run *r, const struct seen *s, char *buf, size_t cap)
{
	const struct obj *q = NULL;
	struct vs_cm_msg cm;
	uint32_t base = 0;
	char name[48];
	int n;

	if (!s->parsed) {
		(void)snprintf(buf, cap, "%zu bytes that are no RDMA packet", s->len);
		return;
	}
	for (unsigned i = 0; i < r->p->n_objs; i++)
		if (r->p->obj[i]->kind == O_QP && r->obj[i].qpn == s->pkt.bth.destqp &&
		    (r->p->obj[i]->node == s->node || r->p->node[s->node].engine))
			q = r->p->obj[i];
	if (q != NULL && vs_opcodes[s->pkt.bth.opcode].flags & VS_OPF_R)
		base = dr_rt(r, q)->psn;
	else if (q != NULL && q->peer != NULL)
		base = dr_rt(r, q->peer)->psn;
	if (dr_parse_cm(&s->pkt, &cm)) {
		(void)snprintf(buf, cap, "CM %s", vs_cm_info(cm.attribute)->abbrev);
		return;
	}
	name_of(&s->pkt, name, sizeof(name));
	n = snprintf(buf, cap, "%s psn=%+d", name, vs_psn_diff(s->pkt.bth.psn, base));
	if (s->pkt.hdrs & VS_HDR_AETH && n > 0 && (size_t)n < cap)
		n += snprintf(buf + n, cap - (size_t)n, " msn=%u", s->pkt.ext.aeth.msn);
	if (s->pkt.payload_len > 0 && n > 0 && (size_t)n < cap)
		(void)snprintf(buf + n, cap - (size_t)n, " len=%u", s->pkt.payload_len);
}

bool dr_parse_cm(const struct vs_pkt *p, struct vs_cm_msg *m)
{
	struct vs_mad mad;

	return p->bth.opcode == VS_OP_UD_SEND_ONLY && p->bth.destqp == 1 &&
	       vs_mad_parse(&mad, p->payload, p->payload_len) == VS_OK && mad.mgmt_class == VS_MAD_CLASS_CM &&
	       vs_cm_parse(m, mad.attribute_id, p->payload + VS_MAD_HDR_LEN, p->payload_len - VS_MAD_HDR_LEN) == VS_OK;
}

static bool match_address(const struct option *o, const struct vs_pkt *p, char *why, size_t cap)
{
	const uint8_t *got = NULL;
	uint8_t mapped[16];
	size_t n = dr_net_bytes(p, o->key->id, mapped, &got);

	if (n > 0 && memcmp(got, o->v.bytes, n) == 0)
		return true;
	(void)snprintf(why, cap, n > 0 ? "its %s is another" : "it has no %s", o->key->name);
	return false;
}

static bool match_field(struct run *r, const struct stmt *st, const struct option *o, const struct vs_pkt *p, char *why,
			size_t cap)
{
	uint64_t want = 1, got;

	if (o->v.kind == V_BYTES)
		return match_address(o, p, why, cap);
	if (o->v.kind == V_FLAG && o->key->kind == KK_SUM)
		return dr_udp_sum_is_valid(p, why, cap);
	if (o->v.kind == V_NUMBER && !dr_eval(r, st, o->v.e, &want))
		return false;
	if (o->key->id == K_RKEY)
		want &= UINT32_MAX;
	if (o->key->id == K_MSN)
		want &= VS_PSN_MASK;
	if (!dr_field(p, o->key->id, &got)) {
		(void)snprintf(why, cap, "it has no %s", o->key->name);
		return false;
	}
	if (dr_compare(o->how, got, want))
		return true;
	(void)snprintf(why, cap, got > 9 ? "%s is 0x%llx, not %s0x%llx" : "%s is %llu, not %s%llu", o->key->name,
		       (unsigned long long)got, dr_compare_text(o->how), (unsigned long long)want);
	return false;
}

/* A GID, or private data that begin so. */
static bool match_block(struct run *r, const struct stmt *st, const struct option *o, const struct vs_cm_field *f,
			const struct vs_pkt *p, char *why, size_t cap)
{
	const uint8_t *got = p->payload + VS_MAD_HDR_LEN + f->byte, *want;
	uint32_t len;

	if (!dr_bytes(r, st, &o->v, &want, &len))
		return false;
	if (len > f->size) {
		dr_broken(r, st, o->column, "%s has %u bytes", f->name, f->size);
		return false;
	}
	for (uint32_t i = 0; i < len; i++) {
		if (got[i] == want[i])
			continue;
		(void)snprintf(why, cap, "byte %u of %s is 0x%02x, not 0x%02x", i, f->name, got[i], want[i]);
		return false;
	}
	return true;
}

static bool match_cm(struct run *r, const struct stmt *st, const struct seen *s, char *why, size_t cap,
		     unsigned *column)
{
	struct vs_cm_msg m;
	struct vs_mad mad;
	size_t n;

	*column = st->word_column;
	if (!dr_parse_cm(&s->pkt, &m) || vs_mad_parse(&mad, s->pkt.payload, s->pkt.payload_len) != VS_OK ||
	    m.attribute != st->word2) {
		(void)snprintf(why, cap, "it is no CM %s", vs_cm_info((uint16_t)st->word2)->abbrev);
		return false;
	}
	for (const struct option *o = st->opt; o != NULL; o = o->next) {
		if (o->key->id < K_MAD) {
			*column = o->column;
			if (dr_plain(o) && !match_field(r, st, o, &s->pkt, why, cap))
				return false;
			continue;
		}
		const struct vs_cm_field *f = o->key->obj < 0 ? NULL : &vs_cm_fields(m.attribute, &n)[o->key->obj];
		uint64_t want, got;

		*column = o->column;
		if (f != NULL && f->kind >= VS_CM_KIND_GID) {
			if (!match_block(r, st, o, f, &s->pkt, why, cap))
				return false;
			continue;
		}
		if (!dr_eval(r, st, o->v.e, &want))
			return false;
		got = f == NULL ? dr_mad_value(&mad, -o->key->obj)
				: vs_cm_field_value(f, s->pkt.payload + VS_MAD_HDR_LEN);
		if ((f == NULL ? want : dr_cm_value(f, want)) == got)
			continue;
		(void)snprintf(why, cap, "%s is %llu", o->key->name, (unsigned long long)got);
		return false;
	}
	return true;
}

static bool match_legal(struct run *r, const struct seen *s, char *why, size_t cap)
{
	enum vs_reason reasons[8];
	size_t n;

	if (!s->good) {
		(void)snprintf(why, cap, "its ICRC is wrong");
		return false;
	}
	n = r->p->waived >> WV_MALFORMED & 1
		    ? 0
		    : vs_pkt_validate(&s->pkt, VS_CRC_UNVERIFIED, VS_CRC_UNVERIFIED, reasons, 8);
	for (size_t i = 0; i < n && i < 8; i++) {
		const struct vs_reason_info *info = vs_reason_info(reasons[i]);

		if (info->severity != VS_SEV_ERROR)
			continue;
		(void)snprintf(why, cap, "it is malformed: %s", info->sentence);
		return false;
	}
	return true;
}

static bool match_opcode(struct run *r, const struct stmt *st, uint32_t k, const struct vs_pkt *p)
{
	uint8_t op = dr_opcode_at(st, k, dr_receive_count(r, st)), s = p->ext.aeth.syndrome;

	if (st->word < OP_SEND || dr_opt(st, K_COUNT) != NULL) /* a range of one opcode is that many of it */
		op = dr_opcode_at(st, 0, 1);
	if (p->bth.opcode != op)
		return false;
	if (st->word == OP_NAK)
		return st->word2 == 0x100 ? vs_aeth_type(s) == VS_AETH_RNR : s == (0x60 | st->word2);
	if (op == VS_OP_RC_ACKNOWLEDGE && dr_opt(st, K_SYNDROME) == NULL)
		return vs_aeth_type(s) == VS_AETH_ACK;
	return true;
}

static bool match_fields(struct run *r, const struct stmt *st, const struct vs_pkt *p, char *why, size_t cap,
			 unsigned *column)
{
	for (const struct option *o = st->opt; o != NULL; o = o->next) {
		if (!dr_plain(o))
			continue;
		*column = o->column;
		if (!match_field(r, st, o, p, why, cap))
			return false;
	}
	return true;
}

static bool match_data(struct run *r, const struct stmt *st, uint32_t k, const struct vs_pkt *p, char *why, size_t cap)
{
	const struct option *o = dr_opt(st, K_DATA);
	uint32_t len, from = st->word >= OP_SEND && st->obj != NULL ? k * dr_rt(r, st->obj)->mtu : 0;
	const uint8_t *bytes;

	if (o == NULL)
		return true;
	if (o->v.kind == V_NUMBER) { /* so many bytes, whatever they are */
		uint64_t n;

		if (!dr_eval(r, st, o->v.e, &n) || n == p->payload_len)
			return n == p->payload_len;
		(void)snprintf(why, cap, "it has %u bytes, not %llu", p->payload_len, (unsigned long long)n);
		return false;
	}
	if (!dr_bytes(r, st, &o->v, &bytes, &len))
		return false;
	for (uint32_t i = 0; i < p->payload_len && from + i < len; i++) {
		if (p->payload[i] == bytes[from + i])
			continue;
		(void)snprintf(why, cap, "byte %u of its data is 0x%02x, not 0x%02x", i, p->payload[i],
			       bytes[from + i]);
		return false;
	}
	if (from + p->payload_len <= len && (st->word >= OP_SEND || p->payload_len == len))
		return true;
	(void)snprintf(why, cap, "it has %u bytes, not %u", p->payload_len, len > from ? len - from : 0);
	return false;
}

static void another_packet(struct run *r, const struct stmt *st, uint32_t k, char *why, size_t cap)
{
	uint32_t n = dr_receive_count(r, st);
	const char *token =
		st->word >= OP_SEND && st->word <= OP_READ_RESPONSE ? vs_opcode_token(dr_opcode_at(st, k, n)) : NULL;

	if (token == NULL)
		(void)snprintf(why, cap, "it is another packet");
	else if (n == 1)
		(void)snprintf(why, cap, "%s was to come (psn=+0..+2 would be three packets)", token);
	else
		(void)snprintf(why, cap, "%s was to come", token);
}

bool dr_match(struct run *r, const struct stmt *st, uint32_t k, const struct seen *s, char *why, size_t cap,
	      unsigned *column)
{
	uint32_t first, n, qpn = st->obj != NULL ? dr_rt(r, st->obj)->qpn : 0;

	*column = st->word_column;
	if (dr_opt(st, K_COUNT) != NULL) /* so many of the same */
		k = 0;
	if (!s->parsed) {
		(void)snprintf(why, cap, "it is no RDMA packet");
		return false;
	}
	if (!match_legal(r, s, why, cap))
		return false;
	if (st->word == OP_CM)
		return match_cm(r, st, s, why, cap, column);
	if (!match_opcode(r, st, k, &s->pkt)) {
		another_packet(r, st, k, why, cap);
		return false;
	}
	if (s->pkt.bth.destqp != qpn && dr_opt(st, K_DESTQP) == NULL && s->pkt.bth.destqp != VS_QPN_MULTICAST &&
	    !(st->watched && st->obj == NULL)) {
		(void)snprintf(why, cap, "it is for queue pair 0x%x, not 0x%x", s->pkt.bth.destqp, qpn);
		return false;
	}
	if (!dr_psn_range(r, st, &first, &n))
		return false;
	if (dr_opt(st, K_PSN) != NULL && s->pkt.bth.psn != vs_psn_add(first, (int32_t)k)) {
		*column = dr_opt(st, K_PSN)->column;
		(void)snprintf(why, cap, "its PSN is 0x%06x, not 0x%06x", s->pkt.bth.psn,
			       vs_psn_add(first, (int32_t)k));
		return false;
	}
	if (!match_fields(r, st, &s->pkt, why, cap, column))
		return false;
	*column = dr_opt(st, K_DATA) != NULL ? dr_opt(st, K_DATA)->column : st->column;
	return match_data(r, st, k, &s->pkt, why, cap);
}

bool dr_is_earlier_ack(struct run *r, const struct stmt *st, const struct seen *s)
{
	uint32_t first, n;

	return st->coalesce && st->word == VS_OP_RC_ACKNOWLEDGE && s->parsed && s->good &&
	       s->pkt.bth.opcode == VS_OP_RC_ACKNOWLEDGE && vs_aeth_type(s->pkt.ext.aeth.syndrome) == VS_AETH_ACK &&
	       dr_psn_range(r, st, &first, &n) && vs_psn_lt(s->pkt.bth.psn, first);
}

void dr_keep(struct run *r, const struct stmt *st, const struct seen *s)
{
	struct rt_obj *o = dr_rt(r, st->as);

	free(o->frame);
	o->frame = malloc(s->len);
	if (o->frame == NULL || !s->parsed)
		return;
	memcpy(o->frame, s->frame, s->len);
	o->made = true;
	o->len = s->len;
	o->time = s->time;
	(void)vs_pkt_parse(&o->pkt, r->encap < EN_IB ? VS_LINK_ETHERNET : VS_LINK_IB, 0, o->frame, s->len, s->len, 0);
	if (!dr_parse_cm(&o->pkt, &o->cm))
		o->cm.attribute = 0;
}
