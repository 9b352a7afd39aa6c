/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * pkt_parse.c - the lines of the peer: what it sends, what it must see.
 *
 *   peer> OPCODE KEYS    peer< OPCODE KEYS [within T] [not before T] [as NAME]    peer< nothing [for T]
 *   peer> raw "BYTES OF THE FRAME"    peer> bth "BYTES FROM THE BTH ON"
 */
#include <stdio.h>

#include "drill_int.h"

const struct key dr_packet_keys[] = {
	{"psn", K_PSN, KK_RANGE, NULL, 0},
	{"msn", K_MSN, KK_NUM, NULL, 0},
	{"va", K_VA, KK_NUM, NULL, 0},
	{"rkey", K_RKEY, KK_NUM, NULL, 0},
	{"dmalen", K_DMALEN, KK_NUM, NULL, 0},
	{"data", K_DATA, KK_DATA, NULL, 0},
	{"ackreq", K_ACKREQ, KK_FLAG, NULL, 0},
	{"se", K_SE, KK_FLAG, NULL, 0},
	{"imm", K_IMM, KK_NUM, NULL, 0},
	{"inv", K_INV, KK_NUM, NULL, 0},
	{"qkey", K_QKEY, KK_NUM, NULL, 0},
	{"srcqp", K_SRCQP, KK_NUM, NULL, 0},
	{"destqp", K_DESTQP, KK_NUM, NULL, 0},
	{"syndrome", K_SYNDROME, KK_NUM, NULL, 0},
	{"credits", K_CREDITS, KK_NUM, NULL, 0},
	{"timer", K_TIMER, KK_NUM, NULL, 0},
	{"orig", K_ORIG, KK_NUM, NULL, 0},
	{"add", K_ADD, KK_NUM, NULL, 0},
	{"swap", K_SWAP, KK_NUM, NULL, 0},
	{"compare", K_COMPARE, KK_NUM, NULL, 0},
	{"pkey", K_PKEY, KK_NUM, NULL, 0},
	{"migreq", K_MIGREQ, KK_FLAG, NULL, 0},
	{"fecn", K_FECN, KK_FLAG, NULL, 0},
	{"becn", K_BECN, KK_FLAG, NULL, 0},
	{"tver", K_TVER, KK_NUM, NULL, 0},
	{"padcnt", K_PADCNT, KK_NUM, NULL, 0},
	{"plt", K_PLT, KK_NUM, NULL, 0},
	{"sel", K_SEL, KK_NUM, NULL, 0},
	{"ecn", K_ECN, KK_NUM, NULL, 0},
	{"icrc", K_ICRC, KK_ICRC, NULL, 0},
	{"flip", K_FLIP, KK_NUM, NULL, 0},
	{"len", K_LEN, KK_NUM, NULL, 0},
	{"to", K_TO, KK_REMOTE, NULL, 0},
	{"mgid", K_MGID, KK_GID, NULL, 0},
	{"encap", K_ENCAP, KK_ENCAP, NULL, 0},
	{"opcode", K_OPCODE, KK_NUM, NULL, 0},
	{"resv6", K_RESV6, KK_NUM, NULL, 0},
	{"resv7", K_RESV7, KK_NUM, NULL, 0},
	{"pad", K_PAD, KK_NUM, NULL, 0},
	{"ext_rsv", K_EXT_RSV, KK_NUM, NULL, 0},
	{"eth_src", K_ETH_SRC, KK_MAC, NULL, 0},
	{"eth_dst", K_ETH_DST, KK_MAC, NULL, 0},
	{"ethertype", K_ETHERTYPE, KK_NUM, NULL, 0},
	{"vlan", K_VLAN, KK_NUM, NULL, 0},
	{"pcp", K_PCP, KK_NUM, NULL, 0},
	{"src", K_SRC, KK_GID, NULL, 0},
	{"dst", K_DST, KK_GID, NULL, 0},
	{"ttl", K_TTL, KK_NUM, NULL, 0},
	{"hop_limit", K_TTL, KK_NUM, NULL, 0},
	{"tclass", K_TOS, KK_NUM, NULL, 0},
	{"dscp", K_DSCP, KK_NUM, NULL, 0},
	{"flow_label", K_FLOW, KK_NUM, NULL, 0},
	{"ip_version", K_IP_VERSION, KK_NUM, NULL, 0},
	{"ihl", K_IHL, KK_NUM, NULL, 0},
	{"ip_id", K_IP_ID, KK_NUM, NULL, 0},
	{"df", K_DF, KK_FLAG, NULL, 0},
	{"mf", K_MF, KK_FLAG, NULL, 0},
	{"frag_offset", K_FRAG_OFFSET, KK_NUM, NULL, 0},
	{"protocol", K_PROTOCOL, KK_NUM, NULL, 0},
	{"ip_len", K_IP_LEN, KK_NUM, NULL, 0},
	{"ip_sum", K_IP_SUM, KK_NUM, NULL, 0},
	{"sport", K_SPORT, KK_NUM, NULL, 0},
	{"dport", K_DPORT, KK_NUM, NULL, 0},
	{"udp_len", K_UDP_LEN, KK_NUM, NULL, 0},
	{"udp_sum", K_UDP_SUM, KK_SUM, NULL, 0},
	{"slid", K_SLID, KK_NUM, NULL, 0},
	{"dlid", K_DLID, KK_NUM, NULL, 0},
	{"sl", K_LSL, KK_NUM, NULL, 0},
	{"vl", K_VL, KK_NUM, NULL, 0},
	{"lver", K_LVER, KK_NUM, NULL, 0},
	{"lnh", K_LNH, KK_NUM, NULL, 0},
	{"lrh_rsv", K_LRH_RSV, KK_NUM, NULL, 0},
	{"lrh_len", K_LRH_LEN, KK_NUM, NULL, 0},
	{"vcrc", K_VCRC, KK_ICRC, NULL, 0},
	{"cut", K_CUT, KK_NUM, NULL, 0},
	{"count", K_COUNT, KK_RANGE, NULL, 0},
	{NULL, 0, KK_NUM, NULL, 0},
};
static const struct key raw_keys[] = {
	{"icrc", K_ICRC, KK_ICRC, NULL, 0}, {"flip", K_FLIP, KK_NUM, NULL, 0}, {NULL, 0, KK_NUM, NULL, 0}};

static const struct word pseudo[] = {{"SEND", OP_SEND}, {"WRITE", OP_WRITE}, {"READ_RESPONSE", OP_READ_RESPONSE},
				     {"NAK", OP_NAK},   {"CM", OP_CM},       {NULL, 0}};

static void no_such_opcode(struct parser *ps)
{
	struct word words[200];
	const struct token *t = ps->t;
	unsigned n = 0;

	if (t->kind == T_WORD && t->len > 3 && memcmp(t->text, "RC_", 3) == 0 &&
	    vs_opcode_by_token(t->text + 3, t->len - 3) >= 0) {
		PF(ps, t->column, "an opcode of RC is written without RC_: %.*s", (int)(t->len - 3), t->text + 3);
		return;
	}
	for (const struct word *w = pseudo; w->name != NULL; w++)
		words[n++] = *w;
	for (unsigned op = 0; op < 256 && n < 195; op++)
		if (vs_opcode_token((uint8_t)op) != NULL)
			words[n++] = (struct word){vs_opcode_token((uint8_t)op), 0};
	words[n++] = (struct word){"raw", 0};
	words[n++] = (struct word){"bth", 0};
	words[n++] = (struct word){"nothing", 0};
	words[n] = (struct word){NULL, 0};
	dr_expected(ps, "an opcode", words);
}

/* The opcode, "UD SEND_ONLY" as two words; OP_*. */
static bool opcode(struct parser *ps, struct stmt *st)
{
	char token[64];
	int op;

	st->word_column = ps->t->column;
	if (dr_find(pseudo, ps->t, &st->word)) {
		ps->t++;
		return true;
	}
	if (ps->t->kind == T_WORD && ps->t[1].kind == T_WORD && ps->t->len + ps->t[1].len < sizeof(token) - 1) {
		op = snprintf(token, sizeof(token), "%.*s_%.*s", (int)ps->t->len, ps->t->text, (int)ps->t[1].len,
			      ps->t[1].text);
		op = vs_opcode_by_token(token, (size_t)op);
		if (op >= 0) {
			st->word = op;
			ps->t += 2;
			return true;
		}
	}
	op = ps->t->kind == T_WORD ? vs_opcode_by_token(ps->t->text, ps->t->len) : -1;
	if (op < 0) {
		no_such_opcode(ps);
		return false;
	}
	st->word = op;
	ps->t++;
	return true;
}

/* ---- other packets ---- */

static bool has_key(struct parser *ps, const struct stmt *st, int id, const char *what)
{
	if (dr_opt(st, id) != NULL)
		return true;
	PF(ps, ps->t->column, "%s is missing", what);
	return false;
}

/* What a packet that is to be sent must say. */
static bool complete(struct parser *ps, const struct stmt *st)
{
	uint32_t hdrs = st->word < 0x100 ? vs_opcodes[st->word].hdrs : 0;
	bool ud = st->word < 0x100 && vs_opcode_transport((uint8_t)st->word) == VS_TRANSPORT_UD;
	bool cnp = st->word < 0x100 && vs_opcode_transport((uint8_t)st->word) == VS_TRANSPORT_CNP;

	if (!ud && !cnp && !has_key(ps, st, K_PSN, "psn="))
		return false;
	if (st->word == OP_WRITE)
		hdrs = VS_HDR_RETH;
	if ((hdrs & (VS_HDR_RETH | VS_HDR_ATOMICETH)) && !has_key(ps, st, K_VA, "va="))
		return false;
	if (st->word == VS_OP_RC_READ_REQUEST && !has_key(ps, st, K_DMALEN, "dmalen="))
		return false;
	if (st->word == OP_NAK && st->word2 == 0x100 && !has_key(ps, st, K_TIMER, "timer="))
		return false;
	return true;
}

/* A packet that an engine sends is known by where it goes, as one that the peer gets. */
static bool other_end(struct parser *ps, struct stmt *st)
{
	struct obj *mine = st->obj;

	for (unsigned i = 0; mine == NULL && i < ps->p->n_objs; i++) {
		struct obj *o = ps->p->obj[i];

		if (o->node != st->node || o->kind != O_QP)
			continue;
		for (unsigned k = i + 1; k < ps->p->n_objs; k++) {
			struct obj *x = ps->p->obj[k];

			if (x->node == st->node && x->kind == O_QP) {
				PF(ps, st->column, "of which queue pair: %s.%s or %s.%s?", ps->p->node[st->node].name,
				   o->name, ps->p->node[st->node].name, x->name);
				return false;
			}
		}
		mine = o;
	}
	st->obj = mine != NULL ? mine->peer : NULL;
	st->named &= st->obj != NULL;
	return true;
}

static bool which_qp(struct parser *ps, struct stmt *st)
{
	const struct option *to = dr_opt(st, K_TO);

	if (st->obj == NULL && to != NULL && to->v.kind == V_OBJECT) {
		/* From whichever queue pair of the peer is its other end, or the only one there is. */
		st->obj = to->v.obj->peer;
	}
	if (st->watched)
		return other_end(ps, st);
	for (unsigned i = 0; st->obj == NULL && i < ps->p->n_objs; i++) {
		struct obj *o = ps->p->obj[i];

		if (o->node != st->node || o->kind != O_QP)
			continue;
		for (unsigned k = i + 1; k < ps->p->n_objs; k++) {
			struct obj *x = ps->p->obj[k];

			if (x->node == st->node && x->kind == O_QP && !(to != NULL && to->v.kind == V_OBJECT)) {
				PF(ps, st->column, "which queue pair of the peer: peer.%s or peer.%s?", o->name,
				   x->name);
				return false;
			}
		}
		st->obj = o;
	}
	if (st->obj == NULL) {
		PF(ps, st->column, "the peer has no queue pair yet: qp dut.q <-> peer rc");
		return false;
	}
	return true;
}

static bool raw_statement(struct parser *ps, struct stmt *st, bool frame)
{
	st->kind = S_RAW;
	st->word = frame;
	st->word_column = ps->t->column;
	if (!dr_hex(ps, &st->bytes, &st->len))
		return false;
	if (st->len < (frame ? 14 : 12) || st->len > 4096 + 128) {
		PF(ps, st->word_column, "%u bytes: %s 4224", st->len,
		   frame ? "a frame has 14 to" : "from the BTH on there are 12 to");
		return false;
	}
	return dr_options(ps, st, raw_keys) && (frame || which_qp(ps, st));
}

static bool ordinary(struct parser *ps, struct stmt *st)
{
	if (st->word == OP_NAK) {
		if (!dr_find(dr_nak_words, ps->t, &st->word2)) {
			dr_expected(ps, "why: psn_sequence, invalid_request, remote_access, remote_op or rnr",
				    dr_nak_words);
			return false;
		}
		ps->t++;
	}
	if (!dr_options(ps, st, dr_packet_keys) || !dr_timing(ps, st))
		return false;
	if (st->kind == S_SEND && (dr_opt(st, K_LEN) != NULL || dr_opt(st, K_COUNT) != NULL)) {
		const struct option *o = dr_opt(st, dr_opt(st, K_LEN) != NULL ? K_LEN : K_COUNT);

		PF(ps, o->column, "%s= is for packets that come: %s", o->key->name,
		   o->key->id == K_LEN ? "data= says what is sent" : "repeat says how often something is sent");
		return false;
	}
	if (st->kind == S_SEND)
		return which_qp(ps, st) && complete(ps, st);
	if (dr_opt(st, K_FLIP) != NULL || dr_opt(st, K_ICRC) != NULL || dr_opt(st, K_VCRC) != NULL ||
	    dr_opt(st, K_CUT) != NULL) {
		PF(ps, st->column,
		   "icrc=, vcrc=, flip= and cut= are for packets that the peer sends: what it gets must be right");
		return false;
	}
	return which_qp(ps, st);
}

/* peer> again NAME: the same bytes once more */
static bool again(struct parser *ps, struct stmt *st)
{
	struct obj *o = dr_lookup(ps, -1, ps->t);

	st->kind = S_AGAIN;
	st->word_column = ps->t->column;
	if (o == NULL || o->kind != O_PACKET) {
		dr_expected_object(ps, "the name of a packet", -1, O_PACKET);
		return false;
	}
	st->obj = o;
	ps->t++;
	return dr_timing(ps, st);
}

bool dr_packet_statement(struct parser *ps, int node, struct obj *obj)
{
	bool send = dr_same(ps->t, ">");
	struct stmt *st = dr_stmt(ps, send ? S_SEND : S_RECEIVE);

	if (st == NULL)
		return false;
	if (ps->p->node[node].engine && !send) {
		PF(ps, ps->t->column, "%s is an engine: %s> says what it sends", ps->p->node[node].name,
		   ps->p->node[node].name);
		return false;
	}
	if (ps->p->node[node].engine) { /* it makes its packets itself: they are watched */
		st->kind = S_RECEIVE;
		st->watched = true;
		ps->p->watched |= 1u << node;
		send = false;
	}
	st->column = ps->l->tok[0].column;
	st->node = node;
	st->obj = obj;
	st->named = obj != NULL;
	ps->t++;
	if (obj != NULL && obj->kind != O_QP) {
		PF(ps, st->column, "%s is no queue pair", obj->name);
		return false;
	}
	if (!send && dr_word(ps, "nothing")) {
		st->kind = S_NOTHING;
		return dr_timing(ps, st) && (!st->named || which_qp(ps, st));
	}
	if (send && dr_word(ps, "again"))
		return again(ps, st);
	if (send && dr_word(ps, "raw"))
		return raw_statement(ps, st, true);
	if (send && dr_word(ps, "bth"))
		return raw_statement(ps, st, false);
	if (!opcode(ps, st))
		return false;
	return st->word == OP_CM ? dr_cm_message(ps, st) : ordinary(ps, st);
}
