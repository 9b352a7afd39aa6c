/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * cm_parse.c - connection management: what a node does, and the messages of the peer.
 *
 *   dut cm VERB [NAME] KEYS    dut cm event EVENT KEYS [within T]    peer> CM MESSAGE FIELDS    peer< CM MESSAGE FIELDS
 *
 * The fields of a message are those of cm.def, and a few of the MAD's header.
 */
#include "drill_int.h"
#include "vs/cm.h"
#include "vs/conn.h"

/* ---- what a node does ---- */

static const struct key cm_keys[] = {
	{"service", K_SERVICE, KK_NUM, NULL, 0},
	{"to", K_TO, KK_REMOTE, NULL, 0},
	{"psn", K_PSN, KK_NUM, NULL, 0},
	{"manual", K_MANUAL, KK_FLAG, NULL, 0},
	{"reason", K_REASON, KK_NUM, NULL, 0},
	{"mtu", K_MTU, KK_NUM, NULL, 0},
	{"refused", K_REFUSED, KK_FLAG, NULL, 0},
	{"timeout", K_TIMEOUT, KK_NUM, NULL, 0},
	{"retries", K_CM_RETRIES, KK_NUM, NULL, 0},
	{"private", K_PRIVATE, KK_DATA, NULL, 0},
	{"status", K_STATUS, KK_NUM, NULL, 0},
	{"qkey", K_QKEY, KK_NUM, NULL, 0},
	{"retry_cnt", K_RETRY_CNT, KK_NUM, NULL, 0},
	{"rnr_retry", K_RNR_RETRY, KK_NUM, NULL, 0},
	{"max_rd_atomic", K_RD_ATOMIC, KK_NUM, NULL, 0},
	{"max_dest_rd_atomic", K_DEST_RD_ATOMIC, KK_NUM, NULL, 0},
	{NULL, 0, KK_NUM, NULL, 0},
};
static const struct key cm_event_keys[] = {
	{"status", K_STATUS, KK_NUM, NULL, 0},
	{"service", K_SERVICE, KK_NUM, NULL, 0},
	{"qpn", K_QPN, KK_NUM, NULL, 0},
	{"psn", K_PSN, KK_NUM, NULL, 0},
	{"qkey", K_QKEY, KK_NUM, NULL, 0},
	{"rnr_retry", K_RNR_RETRY, KK_NUM, NULL, 0},
	{"max_rd_atomic", K_RD_ATOMIC, KK_NUM, NULL, 0},
	{"max_dest_rd_atomic", K_DEST_RD_ATOMIC, KK_NUM, NULL, 0},
	{"private", K_PRIVATE, KK_DATA, NULL, 0},
	{NULL, 0, KK_NUM, NULL, 0},
};
#define CM_EVENT 100
static const struct word cm_verbs[] = {
	{"listen", CM_LISTEN},
	{"connect", CM_CONNECT},
	{"accept", CM_ACCEPT},
	{"reject", CM_REJECT},
	{"mra", CM_MRA},
	{"establish", CM_ESTABLISH},
	{"disconnect", CM_DISCONNECT},
	{"resolve", CM_RESOLVE},
	{"reply", CM_REPLY},
	{"event", CM_EVENT},
	{NULL, 0},
};

/* The queue pair; verbs that begin a connection make it. */
static bool which_qp(struct parser *ps, struct stmt *st, enum cm_verb verb)
{
	bool makes = verb == CM_LISTEN || verb == CM_CONNECT;
	struct token q = {.kind = T_WORD, .text = "q", .len = 1, .column = ps->t->column};
	const struct obj *known;

	if (st->obj == NULL && ps->t->kind == T_WORD && !dr_same(&ps->t[1], "=") &&
	    dr_find_key(cm_keys, ps->t) == NULL) {
		known = dr_lookup(ps, st->node, ps->t);
		st->obj = (struct obj *)(uintptr_t)known;
		if (st->obj == NULL && (makes || verb == CM_ACCEPT || verb == CM_REJECT))
			st->obj = dr_object(ps, st->node, O_QP, ps->t);
		if (st->obj == NULL) {
			dr_expected_object(ps, "a queue pair", st->node, O_QP);
			return false;
		}
		ps->t++;
	} else if (st->obj == NULL && makes) {
		st->obj = dr_object(ps, st->node, O_QP, &q);
	}
	if (st->obj == NULL && (ps->src.failed || !dr_sole_qp(ps, st)))
		return false;
	if (st->obj->kind != O_QP) {
		PF(ps, st->column, "%s is no queue pair", st->obj->name);
		return false;
	}
	if (st->obj->type == 0)
		st->obj->type = VS_QPT_RC;
	if (st->obj->type == VS_QPT_UD ? verb != CM_LISTEN && verb < CM_RESOLVE : verb >= CM_RESOLVE) {
		PF(ps, st->column,
		   st->obj->type == VS_QPT_UD ? "%s is a datagram queue pair: cm listen, resolve or reply"
					      : "%s is no datagram queue pair: ud NODE.NAME makes one",
		   st->obj->name);
		return false;
	}
	return true;
}

bool dr_cm_verb(struct parser *ps, struct stmt *st)
{
	static const char what[] =
		"listen, connect, accept, reject, mra, establish, disconnect, resolve, reply or event";

	st->kind = S_CM;
	st->word_column = ps->t->column;
	if (!dr_find(cm_verbs, ps->t, &st->word)) {
		dr_expected(ps, what, cm_verbs);
		return false;
	}
	ps->t++;
	if (st->word == CM_EVENT) {
		st->kind = S_CM_EVENT;
		st->word_column = ps->t->column;
		if (!dr_find(dr_cm_event_words, ps->t, &st->word)) {
			dr_expected(ps, "a CM event", dr_cm_event_words);
			return false;
		}
		ps->t++;
		return dr_some_options(ps, st, cm_event_keys) && dr_timing(ps, st);
	}
	if (!which_qp(ps, st, (enum cm_verb)st->word) || !dr_options(ps, st, cm_keys))
		return false;
	if ((st->word <= CM_CONNECT || st->word == CM_RESOLVE) && dr_opt(st, K_SERVICE) == NULL)
		dr_expected(ps, "service=", NULL);
	else if (st->word == CM_MRA && dr_opt(st, K_TIMEOUT) == NULL)
		dr_expected(ps, "timeout=", NULL);
	return !ps->src.failed;
}

/* ---- messages of the peer ---- */

const struct word dr_mad_words[] = {
	{"base_version", MAD_BASE_VERSION},
	{"class", MAD_CLASS},
	{"class_version", MAD_CLASS_VERSION},
	{"method", MAD_METHOD},
	{"mad_status", MAD_STATUS},
	{"tid", MAD_TID},
	{NULL, 0},
};

static bool message(struct parser *ps, struct stmt *st)
{
	struct word words[16];
	const struct vs_cm_info *all;
	size_t count, i;

	all = vs_cm_messages(&count);
	for (i = 0; i < count && i < 15; i++)
		words[i] = (struct word){all[i].abbrev, all[i].attribute};
	words[i] = (struct word){NULL, 0};
	if (!dr_find(words, ps->t, &st->word2)) {
		dr_expected(ps, "a CM message", words);
		return false;
	}
	ps->t++;
	return true;
}

/* short names for what scripts say often */
static const char *const alias[][2] = {{"service", "service_id"}, {"mtu", "path_mtu"}, {"private", "private_data"}};

static const struct vs_cm_field *field(const struct stmt *st, const struct token *t)
{
	const struct vs_cm_field *f;
	size_t n;

	f = vs_cm_fields((uint16_t)st->word2, &n);
	for (size_t i = 0; i < n && t->kind == T_WORD; i++) {
		if (dr_same(t, f[i].name))
			return &f[i];
		for (unsigned k = 0; k < sizeof(alias) / sizeof(alias[0]); k++)
			if (dr_same(t, alias[k][0]) && strcmp(f[i].name, alias[k][1]) == 0)
				return &f[i];
	}
	return NULL;
}

static void no_such_field(struct parser *ps, const struct stmt *st)
{
	struct word words[96];
	unsigned used = 0;
	size_t n;
	const struct vs_cm_field *all = vs_cm_fields((uint16_t)st->word2, &n);

	for (size_t i = 0; i < n && used < 80; i++)
		words[used++] = (struct word){all[i].name, 0};
	for (unsigned k = 0; k < sizeof(alias) / sizeof(alias[0]); k++)
		words[used++] = (struct word){alias[k][0], 0};
	for (const struct word *w = dr_mad_words; w->name != NULL; w++)
		words[used++] = *w;
	words[used] = (struct word){NULL, 0};
	dr_expected(ps, "a field of the message", words);
}

/* qpn=peer.q: messages name queue pairs before there is a connection. */
static bool new_qp(struct parser *ps, const struct stmt *st)
{
	return st->kind != S_SEND || dr_node(ps, ps->t) != st->node || !dr_same(&ps->t[1], ".") ||
	       ps->t[2].kind != T_WORD || dr_lookup(ps, st->node, &ps->t[2]) != NULL ||
	       dr_object(ps, st->node, O_QP, &ps->t[2]) != NULL;
}

/* What is in front of the MAD has the keys of other packets, but for those that messages have as well. */
static const struct key front_keys[] = {
	{"gsi_qkey", K_QKEY, KK_NUM, NULL, 0},
	{"bth_pkey", K_PKEY, KK_NUM, NULL, 0},
	{"bth_psn", K_PSN, KK_NUM, NULL, 0},
	{NULL, 0, KK_NUM, NULL, 0},
};

static bool is_front(const struct token *t)
{
	static const char *const never[] = {"psn", "msn", "data", "mgid", "count", "len"};

	for (unsigned i = 0; i < sizeof(never) / sizeof(never[0]); i++)
		if (dr_same(t, never[i]))
			return false;
	return dr_find_key(front_keys, t) != NULL || dr_find_key(dr_packet_keys, t) != NULL;
}

/* The key of a field carries its place in the table; one of the MAD's header is below 0. */
static bool field_option(struct parser *ps, struct stmt *st)
{
	const struct vs_cm_field *f = field(st, ps->t);
	struct option **at = &st->opt, *o = dr_new(ps, sizeof(*o));
	struct key *k = dr_new(ps, sizeof(*k));
	enum key_kind kind = KK_NUM;
	int mad = 0;
	size_t n;

	if (o == NULL || k == NULL)
		return false;
	if (f == NULL && !dr_find(dr_mad_words, ps->t, &mad)) {
		no_such_field(ps, st);
		return false;
	}
	if (f != NULL && f->kind >= VS_CM_KIND_GID)
		kind = f->kind == VS_CM_KIND_GID ? KK_GID : KK_DATA;
	*k = (struct key){f != NULL ? f->name : dr_mad_words[mad - 1].name, K_MAD + 1000, kind, NULL,
			  f != NULL ? (int)(f - vs_cm_fields((uint16_t)st->word2, &n)) : -mad};
	for (; *at != NULL; at = &(*at)->next) {
		if (strcmp((*at)->key->name, k->name) == 0) {
			PF(ps, ps->t->column, "%s is said twice", k->name);
			return false;
		}
	}
	*at = o;
	o->key = k;
	o->column = ps->t->column;
	ps->t++;
	if (!dr_expect_punct(ps, "=", "="))
		return false;
	if (kind == KK_GID)
		return dr_gid(ps, &o->v);
	if (kind == KK_DATA)
		return dr_data(ps, &o->v);
	return new_qp(ps, st) && dr_number_value(ps, &o->v, false);
}

bool dr_cm_message(struct parser *ps, struct stmt *st)
{
	if (!message(ps, st))
		return false;
	while (ps->t->kind == T_WORD && !dr_is_timing(ps->t)) {
		int ignored;
		bool front = field(st, ps->t) == NULL && !dr_find(dr_mad_words, ps->t, &ignored) && is_front(ps->t);

		if (front ? !dr_one_option(ps, st, front_keys, dr_packet_keys) : !field_option(ps, st))
			return false;
	}
	return dr_timing(ps, st);
}
