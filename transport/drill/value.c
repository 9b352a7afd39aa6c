/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * value.c - values as they are read: arithmetic, names, slices of memory, bytes.
 *
 *   expr     = term { ('+' | '-') term }          term = factor { '*' factor }
 *   factor   = number | '(' expr ')' | '~' factor | rnr_time(expr) | ack_time(expr) | name
 *   name     = [node '.'] object ['.' attribute]
 */
#include <arpa/inet.h>
#include <stdio.h>

#include "drill_int.h"
#include "vs/cm.h"

static const struct word mr_attrs[] = {{"addr", A_ADDR}, {"len", A_LEN}, {"rkey", A_RKEY}, {"lkey", A_LKEY}, {NULL, 0}};
static const struct word mw_attrs[] = {{"rkey", A_RKEY}, {NULL, 0}};
static const struct word qp_attrs[] = {{"qpn", A_QPN}, {"psn", A_PSN}, {NULL, 0}};
static const struct word cq_attrs[] = {{"cqe", A_CQE}, {NULL, 0}};
static const struct word srq_attrs[] = {{"max_wr", A_MAX_WR}, {NULL, 0}};

static struct expr *new_expr(struct parser *ps, enum expr_kind kind, struct expr *l, struct expr *r)
{
	struct expr *e = dr_new(ps, sizeof(*e));

	if (e == NULL)
		return NULL;
	e->kind = kind;
	e->l = l;
	e->r = r;
	e->column = ps->t->column;
	if (l != NULL)
		e->time = l->time || (r != NULL && r->time);
	return e;
}

/* .FIELD of a packet: one of its own, or of its CM message. */
static bool packet_attr(struct parser *ps, struct expr *e)
{
	for (const struct key *k = dr_packet_keys; k->name != NULL; k++) {
		if (!dr_same(ps->t, k->name) || (k->kind != KK_NUM && k->kind != KK_FLAG && k->kind != KK_RANGE))
			continue;
		e->attr = A_FIELD;
		e->field = k->id;
		break;
	}
	if (ps->t->kind != T_WORD || ps->t->len >= sizeof(e->name)) {
		dr_expected(ps, "a field of the packet", NULL);
		return false;
	}
	e->attr = A_FIELD;
	e->time = false;
	memcpy(e->name, ps->t->text, ps->t->len);
	ps->t++;
	return true;
}

static bool attr(struct parser *ps, struct expr *e, bool said)
{
	const struct word *words = e->obj->kind == O_MR    ? mr_attrs
				   : e->obj->kind == O_MW  ? mw_attrs
				   : e->obj->kind == O_QP  ? qp_attrs
				   : e->obj->kind == O_CQ  ? cq_attrs
				   : e->obj->kind == O_SRQ ? srq_attrs
							   : NULL;
	int value;

	if (e->obj->kind == O_NUMBER) {
		e->attr = A_LEN;
		if (said)
			PF(ps, e->column, "%s is a number: it has no attributes", e->obj->name);
		return !said;
	}
	if (!said) {
		e->attr = e->obj->kind == O_MR   ? A_ADDR
			  : e->obj->kind == O_MW ? A_RKEY
			  : e->obj->kind == O_QP ? A_QPN
						 : A_TIME;
		e->time = e->attr == A_TIME;
		if (e->obj->kind == O_CQ || e->obj->kind == O_SRQ || e->obj->kind > O_PACKET) {
			PF(ps, e->column, "%s has no value", e->obj->name);
			return false;
		}
		return true;
	}
	if (e->obj->kind == O_PACKET)
		return packet_attr(ps, e);
	if (words == NULL || !dr_find(words, ps->t, &value)) {
		dr_expected(ps, "an attribute", words);
		return false;
	}
	e->attr = (enum attr)value;
	ps->t++;
	return true;
}

static void no_such_name(struct parser *ps, int node, const struct token *t)
{
	struct word words[MAX_OBJECTS + MAX_NODES + 1];
	unsigned n = 0, i;
	char hint[80];

	for (i = 0; i < ps->p->n_objs; i++)
		if (node < 0 || ps->p->obj[i]->node == node)
			words[n++] = (struct word){ps->p->obj[i]->name, 0};
	for (i = 0; node < 0 && i < ps->p->n_nodes; i++)
		words[n++] = (struct word){ps->p->node[i].name, 0};
	words[n] = (struct word){NULL, 0};
	dr_suggest(hint, sizeof(hint), t->text, t->len, words);
	if (node >= 0)
		PF(ps, t->column, "%s has nothing that is called %.*s%s", ps->p->node[node].name, (int)t->len, t->text,
		   hint);
	else
		PF(ps, t->column, "nothing is called %.*s here%s", (int)t->len, t->text, hint);
}

/* [node .] object; NULL: failed. */
static struct obj *object_name(struct parser *ps)
{
	int node = dr_node(ps, ps->t);
	struct obj *o;

	if (node >= 0 && dr_same(&ps->t[1], ".") && ps->t[1].kind == T_PUNCT) {
		ps->t += 2;
		if (ps->t->kind != T_WORD) {
			dr_expected(ps, "a name", NULL);
			return NULL;
		}
		o = dr_lookup(ps, node, ps->t);
	} else {
		node = -1;
		o = dr_lookup(ps, -1, ps->t);
	}
	if (o == NULL)
		no_such_name(ps, node, ps->t);
	else
		ps->t++;
	return o;
}

/* What the device of a node can at most: dut.max_qp_wr */
static bool limit(struct parser *ps, struct expr *e)
{
	int node = dr_node(ps, ps->t);

	if (node < 0 || !dr_same(&ps->t[1], ".") || dr_lookup(ps, node, &ps->t[2]) != NULL ||
	    !dr_find(dr_limit_words, &ps->t[2], &e->field))
		return false;
	if (!ps->p->node[node].engine) {
		PF(ps, ps->t->column, "%s has no limits: the script plays it", ps->p->node[node].name);
		return false;
	}
	e->kind = E_LIMIT;
	e->number = (uint64_t)node;
	ps->t += 3;
	return true;
}

static struct expr *name_expr(struct parser *ps)
{
	struct expr *e = new_expr(ps, E_OBJECT, NULL, NULL);

	if (e == NULL || limit(ps, e))
		return e;
	if (ps->src.failed)
		return NULL;
	e->obj = object_name(ps);
	if (e->obj == NULL)
		return NULL;
	return attr(ps, e, dr_punct(ps, ".")) ? e : NULL;
}

static struct expr *call(struct parser *ps, enum expr_kind kind)
{
	struct expr *e = new_expr(ps, kind, NULL, NULL);

	ps->t++;
	if (e == NULL || !dr_expect_punct(ps, "(", "("))
		return NULL;
	e->l = dr_expr(ps);
	if (e->l == NULL || !dr_expect_punct(ps, ")", ")"))
		return NULL;
	e->time = true;
	return e;
}

static struct expr *factor(struct parser *ps)
{
	const struct token *t = ps->t;
	struct expr *e, *l;

	if (ps->depth >= MAX_DEPTH) {
		PF(ps, t->column, "too many parentheses and signs in each other");
		return NULL;
	}
	if (t->kind == T_NUMBER) {
		e = new_expr(ps, E_NUMBER, NULL, NULL);
		if (e != NULL) {
			e->number = t->number;
			e->time = t->unit;
		}
		ps->t++;
		return e;
	}
	if (t->kind == T_WORD) {
		if (dr_same(t, "rnr_time"))
			return call(ps, E_RNR_TIME);
		return dr_same(t, "ack_time") ? call(ps, E_ACK_TIME) : name_expr(ps);
	}
	ps->depth++;
	if (dr_punct(ps, "(")) {
		e = dr_expr(ps);
		if (e != NULL && !dr_expect_punct(ps, ")", ")"))
			e = NULL;
	} else if (dr_punct(ps, "~") || dr_punct(ps, "-")) {
		l = factor(ps);
		e = l == NULL ? NULL : new_expr(ps, *t->text == '~' ? E_NOT : E_NEG, l, NULL);
	} else {
		dr_expected(ps, "a value", NULL);
		e = NULL;
	}
	ps->depth--;
	return e;
}

static struct expr *term(struct parser *ps)
{
	struct expr *e = factor(ps);

	while (e != NULL && dr_punct(ps, "*")) {
		struct expr *r = factor(ps);

		e = r == NULL ? NULL : new_expr(ps, E_MUL, e, r);
	}
	return e;
}

struct expr *dr_expr(struct parser *ps)
{
	struct expr *e;

	if (++ps->depth > MAX_DEPTH) {
		PF(ps, ps->t->column, "too many parentheses and signs in each other");
		return NULL;
	}
	e = term(ps);
	while (e != NULL && ps->t->kind == T_PUNCT && (dr_same(ps->t, "+") || dr_same(ps->t, "-"))) {
		enum expr_kind kind = *ps->t->text == '+' ? E_ADD : E_SUB;
		struct expr *r;

		ps->t++;
		r = term(ps);
		e = r == NULL ? NULL : new_expr(ps, kind, e, r);
	}
	ps->depth--;
	return e;
}

struct expr *dr_time(struct parser *ps)
{
	unsigned column = ps->t->column;
	struct expr *e = dr_expr(ps);

	if (e != NULL && !e->time) {
		PF(ps, column, "a time needs a unit: ns, us, ms or s");
		return NULL;
	}
	return e;
}

/* Number, [+N, -N], with `range` a..b. */
bool dr_number_value(struct parser *ps, struct value *v, bool range)
{
	v->kind = V_NUMBER;
	v->relative = ps->t->kind == T_PUNCT && (dr_same(ps->t, "+") || dr_same(ps->t, "-"));
	if (v->relative && *ps->t->text == '+')
		ps->t++;
	v->e = dr_expr(ps);
	if (v->e == NULL || !range || !dr_punct(ps, ".."))
		return v->e != NULL;
	(void)dr_punct(ps, "+");
	v->e2 = dr_expr(ps);
	return v->e2 != NULL;
}

/* region, region[n], region[a:b], region + n (what is behind it) */
bool dr_slice(struct parser *ps, struct value *v)
{
	unsigned column = ps->t->column;

	v->kind = V_SLICE;
	if (ps->t->kind != T_WORD) {
		dr_expected(ps, "a memory region", NULL);
		return false;
	}
	v->obj = object_name(ps);
	if (v->obj == NULL)
		return false;
	if (v->obj->kind != O_MR) {
		PF(ps, column, "%s is no memory region", v->obj->name);
		return false;
	}
	if (!dr_punct(ps, "["))
		return true;
	v->e = dr_expr(ps);
	if (v->e == NULL)
		return false;
	if (dr_punct(ps, ":")) {
		v->e2 = dr_expr(ps);
		if (v->e2 == NULL)
			return false;
	}
	return dr_expect_punct(ps, "]", "] or :");
}

bool dr_hex(struct parser *ps, const uint8_t **bytes, uint32_t *len)
{
	const struct token *t = ps->t;
	uint8_t *out = dr_new(ps, t->len / 2 + 1);
	uint32_t n = 0;
	int high = -1;

	if (t->kind != T_STRING) {
		dr_expected(ps, "bytes in hex between quotes", NULL);
		return false;
	}
	for (unsigned i = 0; out != NULL && i < t->len; i++) {
		char c = t->text[i];
		int d = c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;

		if (c == ' ' && high < 0)
			continue;
		if (d < 0) {
			PF(ps, t->column + 1 + i, "'%c' is no hex digit", c);
			return false;
		}
		if (high < 0) {
			high = d;
			continue;
		}
		out[n++] = (uint8_t)(high << 4 | d);
		high = -1;
	}
	if (out == NULL || high >= 0) {
		PF(ps, t->column, "a byte has two hex digits: one is missing");
		return false;
	}
	ps->t++;
	*bytes = out;
	*len = n;
	return true;
}

/* N (a count of pattern bytes) | region[a:b] | hex"..." | data | u64(N) */
bool dr_data(struct parser *ps, struct value *v)
{
	const struct token *t = ps->t;

	if (t->kind == T_WORD && dr_same(t, "hex")) {
		ps->t++;
		v->kind = V_BYTES;
		return dr_hex(ps, &v->bytes, &v->len);
	}
	if (t->kind == T_WORD && dr_same(t, "data")) {
		ps->t++;
		v->kind = V_DATA;
		v->obj = NULL;
		return true;
	}
	if (t->kind == T_WORD && dr_same(t, "u64")) {
		ps->t++;
		v->kind = V_WORD; /* the eight bytes of a number, as memory has them */
		if (!dr_expect_punct(ps, "(", "("))
			return false;
		v->e = dr_expr(ps);
		return v->e != NULL && dr_expect_punct(ps, ")", ")");
	}
	if (t->kind == T_WORD) {
		const struct token *save = ps->t;
		struct obj *o = object_name(ps);

		if (o == NULL)
			return false;
		if (o->kind == O_PACKET && dr_punct(ps, ".") && dr_word(ps, "data")) {
			v->kind = V_DATA;
			v->obj = o;
			return true;
		}
		ps->t = save;
		if (o->kind == O_MR)
			return dr_slice(ps, v);
	}
	return dr_number_value(ps, v, false);
}

bool dr_encap(struct parser *ps, int *encap)
{
	unsigned column = ps->t->column;
	const struct word *w = dr_encap_words;
	char name[32], hint[80];

	if (!dr_run_of(ps, name, sizeof(name), "an encapsulation"))
		return false;
	while (w->name != NULL && strcmp(w->name, name) != 0)
		w++;
	dr_suggest(hint, sizeof(hint), name, strlen(name), dr_encap_words);
	if (w->name == NULL)
		PF(ps, column, "expected rocev2-ipv4, rocev2-ipv6, rocev1, ib or ib-grh, not '%s'%s", name, hint);
	else
		*encap = w->value;
	return w->name != NULL;
}

bool dr_gid(struct parser *ps, struct value *v)
{
	char text[64];
	uint8_t *gid = dr_new(ps, 16);

	if (ps->t->kind != T_STRING || ps->t->len >= sizeof(text)) {
		dr_expected(ps, "a GID between quotes, as \"ff0e::1\"", NULL);
		return false;
	}
	memcpy(text, ps->t->text, ps->t->len);
	text[ps->t->len] = '\0';
	if (gid != NULL && inet_pton(AF_INET, text, gid + 12) == 1)
		gid[10] = gid[11] = 0xff; /* as a GID has it */
	else if (gid == NULL || inet_pton(AF_INET6, text, gid) != 1) {
		PF(ps, ps->t->column, "\"%s\" is no GID: it is written as an IPv6 or IPv4 address", text);
		return false;
	}
	v->kind = V_BYTES;
	v->bytes = gid;
	v->len = 16;
	ps->t++;
	return true;
}
