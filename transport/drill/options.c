/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * options.c - keys with their values, and the times behind them, as every statement has them.
 */
#include <stdio.h>

#include "drill_int.h"
#include "vs/dev.h"

/* ---- keys ---- */

static bool key_set(struct parser *ps, struct option *o)
{
	do {
		int value;

		if (!dr_find(o->key->words, ps->t, &value)) {
			char what[48];

			(void)snprintf(what, sizeof(what), "a word for %s", o->key->name);
			dr_expected(ps, what, o->key->words);
			return false;
		}
		o->v.word |= value;
		ps->t++;
	} while (o->key->kind == KK_SET && dr_punct(ps, ","));
	o->v.kind = V_WORD;
	return true;
}

static bool key_object(struct parser *ps, struct option *o)
{
	struct obj *x;

	if (ps->node >= 0 && dr_node(ps, ps->t) == ps->node && dr_same(&ps->t[1], "."))
		ps->t += 2;
	x = dr_lookup(ps, o->key->obj == O_PACKET ? -1 : ps->node, ps->t);
	if (x == NULL || (int)x->kind != o->key->obj) {
		dr_expected_object(ps, o->key->obj == O_PACKET ? "the name of a packet" : "the name of such an object",
				   -1, o->key->obj);
		return false;
	}
	o->v.kind = V_OBJECT;
	o->v.obj = x;
	ps->t++;
	return true;
}

/* A queue pair, a region or a slice of one, or a node. */
static bool key_remote(struct parser *ps, struct option *o)
{
	int node = dr_node(ps, ps->t);
	const struct token *name = node >= 0 && dr_same(&ps->t[1], ".") ? &ps->t[2] : ps->t;
	struct obj *x = dr_lookup(ps, name == ps->t ? -1 : node, name);

	if (node >= 0 && name == ps->t) {
		o->v.kind = V_NODE;
		o->v.word = node;
		ps->t++;
		return true;
	}
	if (x == NULL || x->kind != O_QP)
		return dr_slice(ps, &o->v);
	o->v.kind = V_OBJECT;
	o->v.obj = x;
	ps->t = name + 1;
	return true;
}

bool dr_reason(struct parser *ps, struct option *o)
{
	static struct word words[VS_REASON_COUNT + 1];
	char name[64];

	o->v.kind = V_WORD;
	o->v.word = -1;
	if (!dr_punct(ps, "="))
		return true;
	for (unsigned i = 1; i < VS_REASON_COUNT && words[0].name == NULL; i++)
		words[i] = (struct word){vs_reason_info((enum vs_reason)i)->id, (int)i};
	if (ps->t->kind == T_WORD && ps->t->len < sizeof(name)) {
		memcpy(name, ps->t->text, ps->t->len);
		name[ps->t->len] = '\0';
		o->v.word = (int)vs_reason_by_id(name);
	}
	if (o->v.word <= 0) {
		dr_expected(ps, "the id of a reason", &words[1]);
		return false;
	}
	ps->t++;
	return true;
}

static bool key_mac(struct parser *ps, struct option *o)
{
	unsigned v[6];
	char text[24], rest;
	uint8_t *mac = dr_new(ps, 6);

	if (ps->t->kind != T_STRING || ps->t->len >= sizeof(text)) {
		dr_expected(ps, "a MAC address between quotes", NULL);
		return false;
	}
	memcpy(text, ps->t->text, ps->t->len);
	text[ps->t->len] = '\0';
	if (mac == NULL || strspn(text, "0123456789abcdefABCDEF:") != ps->t->len ||
	    sscanf(text, "%2x:%2x:%2x:%2x:%2x:%2x%c", &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &rest) != 6) {
		PF(ps, ps->t->column, "\"%s\" is no MAC address: it is written as \"02:00:00:00:00:01\"", text);
		return false;
	}
	for (unsigned i = 0; i < 6; i++)
		mac[i] = (uint8_t)v[i];
	o->v.kind = V_BYTES;
	o->v.bytes = mac;
	o->v.len = 6;
	ps->t++;
	return true;
}

static bool key_value(struct parser *ps, struct option *o)
{
	switch (o->key->kind) {
	case KK_NUM:
		return dr_number_value(ps, &o->v, false);
	case KK_RANGE:
		return dr_number_value(ps, &o->v, true);
	case KK_TIME:
		o->v.e = dr_time(ps);
		return o->v.e != NULL;
	case KK_WORD:
	case KK_SET:
		return key_set(ps, o);
	case KK_OBJ:
		return key_object(ps, o);
	case KK_SLICE:
		return dr_slice(ps, &o->v);
	case KK_DATA:
		return dr_data(ps, &o->v);
	case KK_REMOTE:
		return key_remote(ps, o);
	case KK_GID:
		return dr_gid(ps, &o->v);
	case KK_MAC:
		return key_mac(ps, o);
	case KK_SUM:
		if (dr_word(ps, "valid")) {
			o->v.kind = V_FLAG;
			return true;
		}
		return dr_number_value(ps, &o->v, false);
	case KK_ENCAP:
		o->v.kind = V_WORD;
		return dr_encap(ps, &o->v.word);
	default: /* KK_ICRC, KK_FLAG with a value */
		if (o->key->kind == KK_ICRC && dr_word(ps, "bad")) {
			o->v.kind = V_FLAG;
			return true;
		}
		return dr_number_value(ps, &o->v, false);
	}
}

struct option *dr_add_option(struct parser *ps, struct stmt *st, const struct key *k)
{
	struct option **at = &st->opt, *o = dr_new(ps, sizeof(*o));

	if (o == NULL)
		return NULL;
	while (*at != NULL)
		at = &(*at)->next;
	*at = o;
	o->key = k;
	o->column = ps->t->column;
	o->late = ps->late;
	return o;
}

static const char *const compare_words[] = {"==", "!=", ">=", "<=", ">", "<"};

bool dr_comparison(struct parser *ps, enum dr_compare *how)
{
	for (unsigned i = 0; i < 6; i++) {
		if (!dr_punct(ps, compare_words[i]))
			continue;
		*how = (enum dr_compare)i;
		return true;
	}
	return false;
}

const char *dr_compare_text(enum dr_compare how)
{
	static const char *const text[] = {"", "other than ", "at least ", "at most ", "more than ", "less than "};

	return text[how];
}

bool dr_compare(enum dr_compare how, uint64_t a, uint64_t b)
{
	switch (how) {
	case C_EQ:
		return a == b;
	case C_NE:
		return a != b;
	case C_GE:
		return a >= b;
	case C_LE:
		return a <= b;
	case C_GT:
		return a > b;
	default:
		return a < b;
	}
}

static bool is_seen(const struct stmt *st)
{
	return st->kind == S_RECEIVE || st->kind == S_QUERY || st->kind == S_CQE || st->kind == S_CM_EVENT;
}

static bool said_already(const struct parser *ps, const struct stmt *st, int id)
{
	for (const struct option *o = st->opt; o != NULL; o = o->next)
		if (o->key->id == id && o->late == ps->late)
			return true;
	return false;
}

static bool one_option(struct parser *ps, struct stmt *st, const struct key *k)
{
	struct option *o;

	if (said_already(ps, st, k->id)) {
		PF(ps, ps->t->column, "%s is said twice", k->name);
		return false;
	}
	o = dr_add_option(ps, st, k);
	if (o == NULL)
		return false;
	ps->t++;
	if (k->id == K_REFUSED)
		return dr_reason(ps, o);
	if (k->kind == KK_FLAG && ps->t->kind == T_PUNCT && is_seen(st) && dr_comparison(ps, &o->how))
		return dr_number_value(ps, &o->v, false);
	if (k->kind == KK_FLAG && !(ps->t->kind == T_PUNCT && dr_same(ps->t, "="))) {
		o->v.kind = V_FLAG;
		return true;
	}
	if (k->kind == KK_NUM && is_seen(st) && dr_comparison(ps, &o->how))
		return dr_number_value(ps, &o->v, false);
	return dr_expect_punct(ps, "=", "=") && key_value(ps, o);
}

bool dr_one_option(struct parser *ps, struct stmt *st, const struct key *keys, const struct key *more)
{
	const struct key *k = dr_find_key(keys, ps->t);

	return one_option(ps, st, k != NULL ? k : dr_find_key(more, ps->t));
}

const struct key *dr_find_key(const struct key *keys, const struct token *t)
{
	for (; keys->name != NULL; keys++)
		if (t->kind == T_WORD && dr_same(t, keys->name))
			return keys;
	return NULL;
}

/* What stands behind `then` is changed in the finished packet. */
static bool then(struct parser *ps, const struct stmt *st, const struct key *keys)
{
	if (keys != dr_packet_keys || st->kind != S_SEND || ps->late || !dr_word(ps, "then"))
		return false;
	ps->late = true;
	return true;
}

/* Reads keys as long as there are some. */
bool dr_some_options(struct parser *ps, struct stmt *st, const struct key *keys)
{
	const struct key *k;
	int ignored;

	while ((k = dr_find_key(keys, ps->t)) != NULL || then(ps, st, keys)) {
		if (k == NULL)
			continue;
		/* srq=s is a key, srq dut.s the next declaration */
		if (k->kind != KK_FLAG && dr_find(dr_decl_words, ps->t, &ignored) && !dr_same(&ps->t[1], "="))
			break;
		if (!one_option(ps, st, k))
			return false;
	}
	return !ps->src.failed;
}

bool dr_is_timing(const struct token *t)
{
	return t->kind == T_END || dr_same(t, "within") || dr_same(t, "as") || dr_same(t, "not") || dr_same(t, "for") ||
	       dr_same(t, "(") || dr_same(t, ",");
}

void dr_no_such_key(struct parser *ps, const struct key *keys, const struct word *more, const char *what)
{
	struct word words[128];
	unsigned n = 0;

	for (; keys->name != NULL && n < 80; keys++)
		words[n++] = (struct word){keys->name, 0};
	for (; more != NULL && more->name != NULL && n < 126; more++)
		words[n++] = *more;
	words[n] = (struct word){NULL, 0};
	dr_expected(ps, what, words);
}

/* (refusal allowed): what follows says what became of the call. */
bool dr_refusal_allowed(struct parser *ps, struct stmt *st)
{
	ps->t += 2;
	if (!dr_word(ps, "allowed")) {
		dr_expected(ps, "refusal allowed)", NULL);
		return false;
	}
	if (dr_opt(st, K_REFUSED) != NULL) {
		PF(ps, dr_opt(st, K_REFUSED)->column, "a call is refused, or it may be: not both");
		return false;
	}
	st->perhaps = true;
	return dr_expect_punct(ps, ")", ")");
}

bool dr_options(struct parser *ps, struct stmt *st, const struct key *keys)
{
	int ignored;

	if (!dr_some_options(ps, st, keys))
		return false;
	if (dr_same(ps->t, "(") && dr_same(&ps->t[1], "refusal"))
		return dr_refusal_allowed(ps, st);
	if (dr_is_timing(ps->t) || dr_find(dr_decl_words, ps->t, &ignored))
		return true;
	dr_no_such_key(ps, keys, NULL, "a key of this statement");
	return false;
}

bool dr_timing(struct parser *ps, struct stmt *st)
{
	static const struct word words[] = {{"within", 0}, {"for", 0}, {"as", 0}, {"not", 0}, {NULL, 0}};

	while (ps->t->kind != T_END && !ps->src.failed) {
		if (dr_punct(ps, ","))
			continue;
		if (dr_word(ps, "within")) {
			st->within = dr_time(ps);
		} else if (dr_word(ps, "for")) {
			st->quiet = dr_time(ps);
		} else if (dr_word(ps, "not")) {
			if (!dr_word(ps, "before")) {
				dr_expected(ps, "before", NULL);
				return false;
			}
			st->not_before = dr_time(ps);
		} else if (dr_word(ps, "as")) {
			st->as = dr_lookup(ps, -1, ps->t); /* the newest one has the name */
			if (st->as == NULL || st->as->kind != O_PACKET)
				st->as = dr_object(ps, -1, O_PACKET, ps->t);
			if (st->as != NULL)
				ps->t++;
		} else if (dr_punct(ps, "(")) {
			if (!dr_word(ps, "coalescing") || !dr_word(ps, "allowed")) {
				dr_expected(ps, "coalescing allowed)", NULL);
				return false;
			}
			st->coalesce = true;
			(void)dr_expect_punct(ps, ")", ")");
		} else {
			dr_expected(ps, "the end of the line", words);
		}
	}
	return !ps->src.failed;
}
