/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * field.c - fields of packets by the keys of the language, sequence numbers, opcodes of segmented messages.
 */
#include "packet.h"

/* ---- fields ---- */

static bool get_header_field(const struct vs_pkt *p, int id, uint64_t *v)
{
	const struct vs_ext *x = &p->ext;
	bool atomic = p->hdrs & VS_HDR_ATOMICETH;

	switch (id) {
	case K_VA:
		*v = atomic ? x->atomiceth.va : x->reth.va;
		return p->hdrs & (VS_HDR_RETH | VS_HDR_ATOMICETH);
	case K_RKEY:
		*v = atomic ? x->atomiceth.rkey : x->reth.rkey;
		return p->hdrs & (VS_HDR_RETH | VS_HDR_ATOMICETH);
	case K_DMALEN:
		*v = x->reth.dmalen;
		return p->hdrs & VS_HDR_RETH;
	case K_ADD:
	case K_SWAP:
		*v = x->atomiceth.swapadd;
		return atomic;
	case K_COMPARE:
		*v = x->atomiceth.compare;
		return atomic;
	case K_ORIG:
		*v = x->atomicack_origdata;
		return p->hdrs & VS_HDR_ATOMICACKETH;
	case K_IMM:
		*v = x->immdt;
		return p->hdrs & VS_HDR_IMMDT;
	case K_INV:
		*v = x->ieth_rkey;
		return p->hdrs & VS_HDR_IETH;
	case K_QKEY:
		*v = x->deth.qkey;
		return p->hdrs & VS_HDR_DETH;
	case K_SRCQP:
		*v = x->deth.srcqp;
		return p->hdrs & VS_HDR_DETH;
	case K_PLT:
		*v = x->feth.plt;
		return p->hdrs & VS_HDR_FETH;
	case K_SEL:
		*v = x->feth.sel;
		return p->hdrs & VS_HDR_FETH;
	case K_SYNDROME:
		*v = x->aeth.syndrome;
		return p->hdrs & VS_HDR_AETH;
	case K_CREDITS:
	case K_TIMER:
		*v = x->aeth.syndrome & 0x1f;
		return p->hdrs & VS_HDR_AETH;
	case K_MSN:
		*v = x->aeth.msn;
		return p->hdrs & VS_HDR_AETH;
	default:
		return false;
	}
}

/* The reserved bits of the first header behind the BTH that has some, NULL: none has. */
static uint8_t *ext_rsv(struct vs_pkt *p)
{
	if (p->hdrs & VS_HDR_RDETH)
		return &p->ext.rdeth.rsv;
	if (p->hdrs & VS_HDR_XRCETH)
		return &p->ext.xrceth.rsv;
	return p->hdrs & VS_HDR_DETH ? &p->ext.deth.rsv : NULL;
}

static bool set_ext_rsv(struct vs_pkt *p, uint8_t v)
{
	uint8_t *rsv = ext_rsv(p);

	if (rsv != NULL)
		*rsv = v;
	else if (p->hdrs & VS_HDR_FETH)
		p->ext.feth.rsv = v;
	else
		return false;
	return true;
}

static bool get_ext_rsv(const struct vs_pkt *p, uint64_t *v)
{
	struct vs_pkt q = *p;
	const uint8_t *rsv = ext_rsv(&q);

	*v = rsv != NULL ? *rsv : p->ext.feth.rsv;
	return rsv != NULL || p->hdrs & VS_HDR_FETH;
}

/* As a number of three bytes, of which those count that the packet has. */
static bool set_pad(struct vs_pkt *p, uint64_t v)
{
	for (unsigned i = 0; i < sizeof(p->pad); i++)
		p->pad[i] = (uint8_t)(v >> (16 - 8 * i));
	return p->pad_len > 0;
}

bool dr_field(const struct vs_pkt *p, int id, uint64_t *v)
{
	const struct vs_bth *b = &p->bth;

	*v = 0;
	switch (id) {
	case K_PSN:
		*v = b->psn;
		return true;
	case K_ACKREQ:
		*v = b->ackreq;
		return true;
	case K_SE:
		*v = b->se;
		return true;
	case K_DESTQP:
		*v = b->destqp;
		return true;
	case K_PKEY:
		*v = b->pkey;
		return true;
	case K_MIGREQ:
		*v = b->migreq;
		return true;
	case K_FECN:
		*v = b->fecn;
		return true;
	case K_BECN:
		*v = b->becn;
		return true;
	case K_TVER:
		*v = b->tver;
		return true;
	case K_PADCNT:
		*v = b->padcnt;
		return true;
	case K_LEN:
		*v = p->payload_len;
		return true;
	case K_OPCODE:
		*v = b->opcode;
		return true;
	case K_RESV6:
		*v = b->resv6;
		return true;
	case K_RESV7:
		*v = b->resv7;
		return true;
	case K_PAD:
		*v = (uint64_t)p->pad[0] << 16 | (uint64_t)p->pad[1] << 8 | p->pad[2];
		return true;
	case K_EXT_RSV:
		return get_ext_rsv(p, v);
	default:
		return id == K_ECN || (id >= K_ETH_SRC && id < K_CUT) ? dr_net_field(p, id, v)
								      : get_header_field(p, id, v);
	}
}

static bool set_header_field(struct vs_pkt *p, int id, uint64_t v)
{
	struct vs_ext *x = &p->ext;
	uint64_t before;

	if (!get_header_field(p, id, &before))
		return false;
	switch (id) {
	case K_VA:
		x->atomiceth.va = x->reth.va = v;
		break;
	case K_RKEY:
		x->atomiceth.rkey = x->reth.rkey = (uint32_t)v;
		break;
	case K_DMALEN:
		x->reth.dmalen = (uint32_t)v;
		break;
	case K_ADD:
	case K_SWAP:
		x->atomiceth.swapadd = v;
		break;
	case K_COMPARE:
		x->atomiceth.compare = v;
		break;
	case K_ORIG:
		x->atomicack_origdata = v;
		break;
	case K_IMM:
		x->immdt = (uint32_t)v;
		break;
	case K_INV:
		x->ieth_rkey = (uint32_t)v;
		break;
	case K_QKEY:
		x->deth.qkey = (uint32_t)v;
		break;
	case K_SRCQP:
		x->deth.srcqp = (uint32_t)v;
		break;
	case K_PLT:
		x->feth.plt = (uint8_t)v;
		break;
	case K_SEL:
		x->feth.sel = (uint8_t)v;
		break;
	case K_MSN:
		x->aeth.msn = (uint32_t)v;
		break;
	case K_SYNDROME:
		x->aeth.syndrome = (uint8_t)v;
		break;
	default: /* credits, timer: the lower part of it */
		x->aeth.syndrome = (uint8_t)((x->aeth.syndrome & 0xe0) | v);
		break;
	}
	return true;
}

bool dr_set_field(struct vs_pkt *p, int id, uint64_t v)
{
	struct vs_bth *b = &p->bth;

	switch (id) {
	case K_ACKREQ:
		b->ackreq = v != 0;
		return true;
	case K_SE:
		b->se = v != 0;
		return true;
	case K_DESTQP:
		b->destqp = (uint32_t)v;
		return true;
	case K_PKEY:
		b->pkey = (uint16_t)v;
		return true;
	case K_MIGREQ:
		b->migreq = v != 0;
		return true;
	case K_FECN:
		b->fecn = v != 0;
		return true;
	case K_BECN:
		b->becn = v != 0;
		return true;
	case K_TVER:
		b->tver = (uint8_t)v;
		return true;
	case K_PADCNT:
		b->padcnt = (uint8_t)v;
		return true;
	case K_OPCODE:
		b->opcode = (uint8_t)v;
		return true;
	case K_RESV6:
		b->resv6 = (uint8_t)v;
		return true;
	case K_RESV7:
		b->resv7 = (uint8_t)v;
		return true;
	case K_PAD:
		return set_pad(p, v);
	case K_EXT_RSV:
		return set_ext_rsv(p, (uint8_t)v);
	default:
		return id == K_ECN || (id >= K_ETH_SRC && id < K_CUT) ? dr_set_net_field(p, id, v)
								      : set_header_field(p, id, v);
	}
}

uint64_t dr_largest(int id)
{
	switch (id) {
	case K_VA:
	case K_ADD:
	case K_SWAP:
	case K_COMPARE:
	case K_ORIG:
		return UINT64_MAX;
	case K_RKEY:
	case K_DMALEN:
	case K_IMM:
	case K_INV:
	case K_QKEY:
		return UINT32_MAX;
	case K_PKEY:
		return 0xffff;
	case K_SYNDROME:
		return 0xff;
	case K_CREDITS:
	case K_TIMER:
		return 31;
	case K_TVER:
	case K_PLT:
		return 15;
	case K_PADCNT:
	case K_SEL:
	case K_ECN:
		return 3;
	case K_ACKREQ:
	case K_SE:
	case K_MIGREQ:
	case K_FECN:
	case K_BECN:
		return 1;
	case K_LEN:
		return MAX_REGION;
	case K_OPCODE:
	case K_EXT_RSV:
		return 0xff;
	case K_RESV6:
		return 0x3f;
	case K_RESV7:
		return 0x7f;
	default:
		return id >= K_ETH_SRC && id < K_CUT ? dr_net_largest(id) : VS_PSN_MASK;
	}
}

/* Fields that stand in both directions as they are. */
bool dr_plain(const struct option *o)
{
	int id = o->key->id;

	return id != K_PSN && id != K_DATA && id != K_ICRC && id != K_VCRC && id != K_FLIP && id != K_TO &&
	       id != K_CUT && id < K_MAD;
}

/* ---- sequence numbers ---- */

static bool is_response(int op)
{
	if (op >= OP_SEND)
		return op == OP_READ_RESPONSE || op == OP_NAK;
	return (vs_opcodes[op].flags & VS_OPF_R) != 0;
}

/* The PSN that +0 means: requests count from where their sender began, responses from what they answer. */
static uint32_t dr_base_psn(struct run *r, const struct stmt *st)
{
	const struct obj *mine = st->obj, *theirs = mine != NULL ? mine->peer : NULL;
	const struct obj *who = (st->kind == S_SEND) == is_response(st->word) ? theirs : mine;

	return who != NULL ? dr_rt(r, who)->psn : 0;
}

bool dr_psn_range(struct run *r, const struct stmt *st, uint32_t *first, uint32_t *count)
{
	const struct option *o = dr_opt(st, K_PSN);
	uint64_t a, b;

	*first = 0;
	*count = 1;
	if (o == NULL)
		return true;
	if (!dr_eval(r, st, o->v.e, &a))
		return false;
	b = a;
	if (o->v.e2 != NULL && !dr_eval(r, st, o->v.e2, &b))
		return false;
	if (!o->v.relative && (a > VS_PSN_MASK || b > VS_PSN_MASK)) {
		dr_broken(r, st, o->column, "a PSN has 24 bits");
		return false;
	}
	*count = vs_psn_add((uint32_t)b, -(int32_t)(uint32_t)a) + 1;
	*first = vs_psn_add(o->v.relative ? dr_base_psn(r, st) : 0, (int32_t)(uint32_t)a);
	if (*count <= MAX_WR)
		return true;
	dr_broken(r, st, o->column, "the range ends before it begins, or has more than %u packets", MAX_WR);
	return false;
}

/* ---- opcodes ---- */

/* The opcode of packet k of n. */
uint8_t dr_opcode_at(const struct stmt *st, uint32_t k, uint32_t n)
{
	static const uint8_t first[] = {VS_OP_RC_SEND_FIRST, VS_OP_RC_WRITE_FIRST, VS_OP_RC_READ_RESPONSE_FIRST};
	static const uint8_t middle[] = {VS_OP_RC_SEND_MIDDLE, VS_OP_RC_WRITE_MIDDLE, VS_OP_RC_READ_RESPONSE_MIDDLE};
	static const uint8_t last[] = {VS_OP_RC_SEND_LAST, VS_OP_RC_WRITE_LAST, VS_OP_RC_READ_RESPONSE_LAST};
	static const uint8_t only[] = {VS_OP_RC_SEND_ONLY, VS_OP_RC_WRITE_ONLY, VS_OP_RC_READ_RESPONSE_ONLY};
	int i = st->word - OP_SEND;
	uint8_t op;

	if (st->word == OP_NAK)
		return VS_OP_RC_ACKNOWLEDGE;
	op = st->word < OP_SEND ? (uint8_t)st->word
	     : n == 1           ? only[i]
	     : k == 0           ? first[i]
	     : k + 1 == n       ? last[i]
				: middle[i];
	/* On an unreliable connection the words mean its own opcodes. */
	if (st->obj != NULL && st->obj->type == VS_QPT_UC && op < 0x20 && vs_opcodes[op + 0x20].name != NULL)
		op = (uint8_t)(op + 0x20);
	return op;
}
