/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * stmt.c - statements: what a node does and what must be seen of it, expectations, alternatives.
 */
#include "drill_int.h"
#include "vs/dev.h"

/* ---- statements of a node ---- */

static const struct key post_keys[] = {
	{"wr", K_WR, KK_RANGE, NULL, 0},
	{"each", K_EACH, KK_SLICE, NULL, 0},
	{"to", K_TO, KK_REMOTE, NULL, 0},
	{"from", K_FROM, KK_REMOTE, NULL, 0},
	{"va", K_VA, KK_NUM, NULL, 0},
	{"rkey", K_RKEY, KK_NUM, NULL, 0},
	{"len", K_LEN, KK_NUM, NULL, 0},
	{"imm", K_IMM, KK_NUM, NULL, 0},
	{"inv", K_INV, KK_NUM, NULL, 0},
	{"add", K_ADD, KK_NUM, NULL, 0},
	{"compare", K_COMPARE, KK_NUM, NULL, 0},
	{"swap", K_SWAP, KK_NUM, NULL, 0},
	{"fence", K_FENCE, KK_FLAG, NULL, 0},
	{"solicited", K_SOLICITED, KK_FLAG, NULL, 0},
	{"unsignaled", K_UNSIGNALED, KK_FLAG, NULL, 0},
	{"inline", K_INLINE, KK_FLAG, NULL, 0},
	{"plt", K_PLT, KK_NUM, NULL, 0},
	{"sel", K_SEL, KK_NUM, NULL, 0},
	{"qkey", K_QKEY, KK_NUM, NULL, 0},
	{"mw", K_MW, KK_OBJ, NULL, O_MW},
	{"mr", K_MR, KK_SLICE, NULL, 0},
	{"access", K_ACCESS, KK_SET, dr_access_words, 0},
	{"key", K_KEY, KK_NUM, NULL, 0},
	{"lkey", K_TYPE, KK_NUM, NULL, 0},
	{"refused", K_REFUSED, KK_FLAG, NULL, 0},
	{"mgid", K_MGID, KK_GID, NULL, 0},
	{"ah", K_AH, KK_OBJ, NULL, O_AH},
	{"destqp", K_DESTQP, KK_NUM, NULL, 0},
	PATH_KEYS,
	{NULL, 0, KK_NUM, NULL, 0},
};
static const struct key memory_key = {"memory", K_DATA, KK_SLICE, NULL, 0};
static const struct key cqe_keys[] = {
	{"wr", K_WR, KK_RANGE, NULL, 0},  {"len", K_LEN, KK_NUM, NULL, 0},     {"imm", K_IMM, KK_NUM, NULL, 0},
	{"inv", K_INV, KK_NUM, NULL, 0},  {"grh", K_GRH, KK_FLAG, NULL, 0},    {"srcqp", K_SRCQP, KK_NUM, NULL, 0},
	{"cq", K_CQ, KK_OBJ, NULL, O_CQ}, {"count", K_COUNT, KK_NUM, NULL, 0}, {NULL, 0, KK_NUM, NULL, 0},
};
static const struct key arm_keys[] = {
	{"cq", K_CQ, KK_OBJ, NULL, O_CQ}, {"solicited", K_SOLICITED, KK_FLAG, NULL, 0}, {NULL, 0, KK_NUM, NULL, 0}};
static const struct key queue_keys[] = {{"cq", K_CQ, KK_OBJ, NULL, O_CQ}, {NULL, 0, KK_NUM, NULL, 0}};
static const struct key comp_keys[] = {
	{"cq", K_CQ, KK_OBJ, NULL, O_CQ}, {"channel", K_CHANNEL, KK_OBJ, NULL, O_CHANNEL}, {NULL, 0, KK_NUM, NULL, 0}};
static const struct key group_keys[] = {
	{"mgid", K_MGID, KK_GID, NULL, 0}, {"refused", K_REFUSED, KK_FLAG, NULL, 0}, {NULL, 0, KK_NUM, NULL, 0}};
static const struct key rereg_keys[] = {{"access", K_ACCESS, KK_SET, dr_access_words, 0},
					{"pd", K_PD, KK_OBJ, NULL, O_PD},
					{"refused", K_REFUSED, KK_FLAG, NULL, 0},
					{NULL, 0, KK_NUM, NULL, 0}};
static const struct key resize_keys[] = {
	{"cqe", K_CQE, KK_NUM, NULL, 0}, {"refused", K_REFUSED, KK_FLAG, NULL, 0}, {NULL, 0, KK_NUM, NULL, 0}};
static const struct key srq_modify_keys[] = {{"max_wr", K_MAX_WR, KK_NUM, NULL, 0},
					     {"limit", K_LIMIT, KK_NUM, NULL, 0},
					     {"refused", K_REFUSED, KK_FLAG, NULL, 0},
					     {NULL, 0, KK_NUM, NULL, 0}};
static const struct key refused_keys[] = {{"refused", K_REFUSED, KK_FLAG, NULL, 0}, {NULL, 0, KK_NUM, NULL, 0}};

bool dr_sole_qp(struct parser *ps, struct stmt *st)
{
	const char *name = ps->p->node[st->node].name;

	if (st->obj != NULL && st->obj->kind != O_QP && !(st->obj->kind == O_SRQ && st->kind == S_POST_RECV)) {
		PF(ps, st->column, "%s is no queue pair", st->obj->name);
		return false;
	}
	if (st->obj != NULL)
		return true;
	for (unsigned i = 0; i < ps->p->n_objs; i++) {
		if (ps->p->obj[i]->node != st->node || ps->p->obj[i]->kind != O_QP)
			continue;
		if (st->obj != NULL) {
			PF(ps, st->column, "which queue pair of %s: %s.%s or %s.%s?", name, name, st->obj->name, name,
			   ps->p->obj[i]->name);
			return false;
		}
		st->obj = ps->p->obj[i];
	}
	if (st->obj == NULL)
		PF(ps, st->column, "%s has no queue pair yet", name);
	return st->obj != NULL;
}

static bool post_complete(struct parser *ps, const struct stmt *st, int work)
{
	if (!ps->src.failed && dr_opt(st, K_WR) == NULL)
		PF(ps, ps->t->column, "wr= is missing: every work request has a number");
	if (!ps->src.failed && work == VS_WR_BIND_MW && dr_opt(st, K_MW) == NULL)
		PF(ps, ps->t->column, "bind needs mw=");
	for (const struct option *o = st->opt; o != NULL && !ps->src.failed; o = o->next)
		if (o->v.kind == V_NODE)
			PF(ps, o->column, "%s= names memory, or the queue pair that gets a datagram: %s.NAME",
			   o->key->name, ps->p->node[o->v.word].name);
	return !ps->src.failed;
}

static bool post(struct parser *ps, struct stmt *st)
{
	unsigned column = ps->t->column;
	int value;

	if (!dr_find(dr_verb_words, ps->t, &value)) {
		dr_expected(ps, "a work request", dr_verb_words);
		return false;
	}
	ps->t++;
	st->word = value;
	st->word_column = column;
	st->kind = value < 0 ? S_POST_RECV : S_POST;
	if (!dr_sole_qp(ps, st))
		return false;
	while (dr_some_options(ps, st, post_keys) && ps->t->kind != T_END) {
		struct option *o;

		if (dr_same(ps->t, "(")) {
			ps->t++;
			if (!dr_same(ps->t, "refusal"))
				dr_expected(ps, "refusal allowed)", NULL);
			ps->t--;
			return !ps->src.failed && dr_refusal_allowed(ps, st) && post_complete(ps, st, value);
		}
		if (ps->t->kind != T_WORD)
			return post_complete(ps, st, value);
		if (dr_node(ps, ps->t) < 0 && dr_lookup(ps, -1, ps->t) == NULL) {
			struct word words[41] = {{NULL, 0}};
			unsigned n = 0;

			for (unsigned i = 0; i < ps->p->n_objs && n < 40; i++)
				if (ps->p->obj[i]->kind == O_MR)
					words[n++] = (struct word){ps->p->obj[i]->name, 0};
			dr_no_such_key(ps, post_keys, words, "a memory region or a key of this statement");
			return false;
		}
		o = dr_add_option(ps, st, &memory_key);
		if (o == NULL || !dr_slice(ps, &o->v))
			return false;
	}
	return post_complete(ps, st, value);
}

static bool cqe(struct parser *ps, struct stmt *st)
{
	bool status = false, opcode = false;
	struct word words[64];
	unsigned n = 0;
	int value;

	st->kind = S_CQE;
	st->word2 = -1;
	while (dr_some_options(ps, st, cqe_keys) && ps->t->kind == T_WORD && !dr_is_timing(ps->t)) {
		if (!opcode && dr_find(dr_wc_opcode_words, ps->t, &value)) {
			st->word2 = value;
			opcode = true;
		} else if (!status && dr_find(dr_wc_status_words, ps->t, &value)) {
			st->word = value;
			st->word_column = ps->t->column;
			status = true;
		} else {
			/* Each stands there once. */
			for (const struct word *w = dr_wc_status_words; w->name != NULL && !status; w++)
				words[n++] = *w;
			for (const struct word *w = dr_wc_opcode_words; w->name != NULL && !opcode; w++)
				words[n++] = *w;
			words[n] = (struct word){NULL, 0};
			dr_no_such_key(ps, cqe_keys, words, "an operation, a status or a key");
			return false;
		}
		ps->t++;
	}
	if (!ps->src.failed && !status)
		dr_expected(ps, "a completion status, as SUCCESS", dr_wc_status_words);
	return !ps->src.failed && dr_timing(ps, st);
}

static bool no_what(struct parser *ps, struct stmt *st)
{
	static const struct word words[] = {{"cqe", 0}, {"async", 1}, {"comp", 2}, {"cm", 3}, {NULL, 0}};
	static const enum stmt_kind kinds[] = {S_NO_CQE, S_NO_ASYNC, S_NO_COMP_EVENT, S_NO_CM_EVENT};
	int value;

	if (!dr_find(words, ps->t, &value)) {
		dr_expected(ps, "cqe, async, comp event or cm event", words);
		return false;
	}
	ps->t++;
	if (value >= 2 && !dr_word(ps, "event")) {
		dr_expected(ps, "event", NULL);
		return false;
	}
	st->kind = kinds[value];
	if ((value == 0 || value == 2) && !dr_some_options(ps, st, value == 0 ? queue_keys : comp_keys))
		return false;
	return dr_timing(ps, st);
}

static bool one_word(struct parser *ps, struct stmt *st, enum stmt_kind kind, const struct word *words,
		     const char *what)
{
	st->kind = kind;
	st->word_column = ps->t->column;
	if (!dr_find(words, ps->t, &st->word)) {
		dr_expected(ps, what, words);
		return false;
	}
	ps->t++;
	return true;
}

static bool counter(struct parser *ps, struct stmt *st)
{
	struct word names[VS_CNT_COUNT + 1];
	enum dr_compare how;

	for (int i = 0; i < VS_CNT_COUNT; i++)
		names[i] = (struct word){vs_counter_name((enum vs_counter)i), i};
	names[VS_CNT_COUNT] = (struct word){NULL, 0};
	if (!one_word(ps, st, S_COUNTER, names, "the name of a counter"))
		return false;
	if (!dr_comparison(ps, &how)) {
		dr_expected(ps, "== != >= <= > or <", NULL);
		return false;
	}
	st->word2 = (int)how;
	return dr_number_value(ps, &st->right, false) && dr_timing(ps, st);
}

static bool destroy(struct parser *ps, struct stmt *st)
{
	st->kind = S_DESTROY;
	st->obj = dr_lookup(ps, st->node, ps->t);
	if (st->obj == NULL) {
		dr_expected_object(ps, "the name of an object of this node", st->node, 0);
		return false;
	}
	ps->t++;
	st->obj->destroyed = true;
	return dr_options(ps, st, refused_keys);
}

/* rereg REGION[a:b] access= pd= */
static bool rereg(struct parser *ps, struct stmt *st)
{
	st->kind = S_REREG;
	if (!dr_slice(ps, &st->left))
		return false;
	st->obj = st->left.obj;
	if (st->obj->node == st->node)
		return dr_options(ps, st, rereg_keys);
	PF(ps, st->column, "%s is no memory region of this node", st->obj->name);
	return false;
}

/* resize CQ cqe= */
static bool resize(struct parser *ps, struct stmt *st)
{
	st->kind = S_RESIZE;
	st->obj = dr_lookup(ps, st->node, ps->t);
	if (st->obj == NULL || st->obj->kind != O_CQ) {
		dr_expected_object(ps, "the name of a completion queue", st->node, O_CQ);
		return false;
	}
	ps->t++;
	if (!dr_options(ps, st, resize_keys))
		return false;
	if (dr_opt(st, K_CQE) == NULL)
		dr_expected(ps, "cqe=", NULL);
	return !ps->src.failed;
}

static bool modify(struct parser *ps, struct stmt *st)
{
	st->kind = S_MODIFY;
	if (st->obj != NULL && st->obj->kind == O_SRQ) {
		st->kind = S_RESIZE;
		return dr_options(ps, st, srq_modify_keys);
	}
	return dr_sole_qp(ps, st) && dr_options(ps, st, dr_modify_keys);
}

/* [NODE.QUEUE] query KEYS */
static bool query(struct parser *ps, struct stmt *st)
{
	static const struct key srq_keys[] = {{"max_wr", K_MAX_WR, KK_NUM, NULL, 0},
					      {"max_sge", K_MAX_SGE, KK_NUM, NULL, 0},
					      {"limit", K_LIMIT, KK_NUM, NULL, 0},
					      {NULL, 0, KK_NUM, NULL, 0}};
	static const struct key cq_keys[] = {{"cqe", K_CQE, KK_NUM, NULL, 0}, {NULL, 0, KK_NUM, NULL, 0}};
	const struct key *keys = dr_query_keys;

	st->kind = S_QUERY;
	if (st->obj != NULL && (st->obj->kind == O_SRQ || st->obj->kind == O_CQ))
		keys = st->obj->kind == O_SRQ ? srq_keys : cq_keys;
	else if (!dr_sole_qp(ps, st))
		return false;
	if (!dr_options(ps, st, keys))
		return false;
	if (st->opt == NULL)
		dr_expected(ps, "what is to be asked", NULL);
	if (dr_opt(st, K_ENCAP) != NULL || dr_opt(st, K_DGID) != NULL)
		PF(ps, dr_opt(st, dr_opt(st, K_ENCAP) != NULL ? K_ENCAP : K_DGID)->column,
		   "the address is not asked for: the packets tell it");
	return !ps->src.failed && dr_timing(ps, st);
}

/* call accepted | call refused[=REASON]: what became of the newest one */
static bool call(struct parser *ps, struct stmt *st)
{
	static const struct key keys[] = {{"refused", K_REFUSED, KK_FLAG, NULL, 0}, {NULL, 0, KK_NUM, NULL, 0}};
	static const struct word words[] = {{"accepted", 0}, {"refused", 0}, {NULL, 0}};

	st->kind = S_CALL;
	st->word_column = ps->t->column;
	if (dr_word(ps, "accepted"))
		return true;
	if (dr_some_options(ps, st, keys) && dr_opt(st, K_REFUSED) == NULL)
		dr_expected(ps, "accepted or refused", words);
	return !ps->src.failed;
}

/* ---- which statement ---- */

enum verb {
	V_POST,
	V_CQE,
	V_NO,
	V_ASYNC,
	V_STATE,
	V_MODIFY,
	V_COUNTER,
	V_DESTROY,
	V_ARM,
	V_COMP,
	V_ATTACH,
	V_DETACH,
	V_CM,
	V_ONE,
	V_REREG,
	V_RESIZE,
	V_CALL,
	V_QUERY
};
static const struct word node_words[] = {
	{"post", V_POST},     {"cqe", V_CQE},         {"no", V_NO},           {"async", V_ASYNC}, {"state", V_STATE},
	{"modify", V_MODIFY}, {"counter", V_COUNTER}, {"destroy", V_DESTROY}, {"arm", V_ARM},     {"comp", V_COMP},
	{"attach", V_ATTACH}, {"detach", V_DETACH},   {"cm", V_CM},           {"one", V_ONE},     {"rereg", V_REREG},
	{"resize", V_RESIZE}, {"call", V_CALL},       {"query", V_QUERY},     {NULL, 0},
};

static bool node_verb(struct parser *ps, struct stmt *st, enum verb verb)
{
	switch (verb) {
	case V_POST:
		return post(ps, st);
	case V_CQE:
		return cqe(ps, st);
	case V_NO:
		return no_what(ps, st);
	case V_ASYNC:
		return one_word(ps, st, S_ASYNC, dr_async_words, "an async event") && dr_timing(ps, st);
	case V_STATE:
		return dr_sole_qp(ps, st) && one_word(ps, st, S_STATE, dr_state_words, "a state") && dr_timing(ps, st);
	case V_MODIFY:
		return modify(ps, st);
	case V_REREG:
		return rereg(ps, st);
	case V_RESIZE:
		return resize(ps, st);
	case V_QUERY:
		return query(ps, st);
	case V_CALL:
		return call(ps, st);
	case V_COUNTER:
		return counter(ps, st);
	case V_DESTROY:
		return destroy(ps, st);
	case V_ARM:
		st->kind = S_ARM;
		return dr_options(ps, st, arm_keys);
	case V_COMP:
		st->kind = S_COMP_EVENT;
		if (dr_word(ps, "event"))
			return dr_some_options(ps, st, comp_keys) && dr_timing(ps, st);
		dr_expected(ps, "event", NULL);
		return false;
	case V_ATTACH:
	case V_DETACH:
		st->kind = verb == V_ATTACH ? S_ATTACH : S_DETACH;
		if (!dr_sole_qp(ps, st) || !dr_options(ps, st, group_keys))
			return false;
		if (dr_opt(st, K_MGID) == NULL)
			dr_expected(ps, "mgid=", NULL);
		return !ps->src.failed;
	case V_CM:
		return dr_cm_verb(ps, st);
	default:
		st->kind = S_ONE_OF;
		if (dr_word(ps, "of"))
			return dr_one_of(ps, st, st->node);
		dr_expected(ps, "of", NULL);
		return false;
	}
}

bool dr_node_statement(struct parser *ps, int node, struct obj *obj)
{
	struct stmt *st;
	int verb;

	if (!dr_find(node_words, ps->t, &verb)) {
		dr_expected(ps, "what the node does", node_words);
		return false;
	}
	if (!ps->p->node[node].engine) {
		PF(ps, ps->t->column, "%s has no verbs: the script plays it, with %s> and %s<", ps->p->node[node].name,
		   ps->p->node[node].name, ps->p->node[node].name);
		return false;
	}
	/* dut.q state ...; but what is about the node names no object */
	if (obj != NULL && (verb == V_COUNTER || verb == V_DESTROY || verb == V_ARM || verb == V_COMP ||
			    verb == V_ONE || verb == V_REREG || verb == V_RESIZE || verb == V_CALL ||
			    (verb == V_NO && !dr_same(&ps->t[1], "cqe") && !dr_same(&ps->t[1], "async")))) {
		PF(ps, ps->t->column, "this is about the node: %s without .%s", ps->p->node[node].name, obj->name);
		return false;
	}
	if (obj != NULL && (verb == V_CQE || (verb == V_NO && dr_same(&ps->t[1], "cqe"))) && obj->kind != O_QP) {
		PF(ps, ps->t->column, "%s is no queue pair", obj->name);
		return false;
	}
	st = dr_stmt(ps, S_WAIT);
	if (st == NULL)
		return false;
	st->node = node;
	st->obj = obj;
	ps->node = node;
	ps->t++;
	return node_verb(ps, st, (enum verb)verb);
}

/* Does a region stand here, and not a value of one? */
static bool is_memory(struct parser *ps)
{
	const struct token *t = ps->t;
	int node = dr_node(ps, t);
	const struct obj *o;
	int limit;

	if (node >= 0 && dr_same(&t[1], "."))
		t += 2;
	else
		node = -1;
	o = t->kind == T_WORD ? dr_lookup(ps, node, t) : NULL;
	if (dr_same(&t[1], "(")) /* rnr_time(CODE) */
		return false;
	if (node >= 0 && o == NULL && dr_find(dr_limit_words, t, &limit)) /* dut.max_sge */
		return false;
	return t->kind == T_WORD && (o == NULL || dr_same(&t[1], "[") || (o->kind == O_MR && !dr_same(&t[1], ".")));
}

/* expect VALUE == VALUE */
static bool compare_values(struct parser *ps, struct stmt *st)
{
	enum dr_compare how;

	st->kind = S_COMPARE;
	st->word_column = ps->t->column;
	if (!dr_number_value(ps, &st->left, false))
		return false;
	if (!dr_comparison(ps, &how)) {
		dr_expected(ps, "== != >= <= > or <", NULL);
		return false;
	}
	st->word2 = (int)how;
	return dr_number_value(ps, &st->right, false);
}

static bool expect(struct parser *ps)
{
	struct stmt *st = dr_stmt(ps, S_EXPECT);

	if (st == NULL)
		return false;
	if (!is_memory(ps))
		return compare_values(ps, st);
	if (!dr_slice(ps, &st->left))
		return false;
	st->word2 = ps->t->kind == T_PUNCT && dr_same(ps->t, "!=");
	if (!dr_punct(ps, "==") && !dr_punct(ps, "!=")) {
		dr_expected(ps, "== or !=", NULL);
		return false;
	}
	return dr_data(ps, &st->right) && dr_timing(ps, st);
}

/* peer> where the nodes are A and B: a name that could only be a node's. */
static bool no_such_node(struct parser *ps)
{
	const struct token *t = &ps->t[1];
	int ignored;

	if (ps->t->kind != T_WORD || (!dr_same(t, ">") && !dr_same(t, "<") && !(dr_same(t, ".") && ps->t->glued) &&
				      !dr_find(node_words, t, &ignored)))
		return false;
	dr_no_such_node(ps, ps->t->text, ps->t->len, ps->t->column);
	return true;
}

static void no_such_statement(struct parser *ps)
{
	struct word words[64];
	unsigned n = 0;

	if (no_such_node(ps))
		return;
	for (const struct word *w = dr_decl_words; w->name != NULL; w++)
		words[n++] = *w;
	for (unsigned i = 0; i < ps->p->n_nodes; i++)
		words[n++] = (struct word){ps->p->node[i].name, 0};
	words[n++] = (struct word){"expect", 0};
	words[n++] = (struct word){"one", 0};
	words[n] = (struct word){NULL, 0};
	dr_expected(ps, "a statement", words);
}

bool dr_statement(struct parser *ps, int subject)
{
	int node = dr_node(ps, ps->t), ignored;
	struct obj *obj = NULL;

	if (dr_word(ps, "expect"))
		return expect(ps);
	if (subject >= 0 && dr_find(node_words, ps->t, &ignored))
		return dr_node_statement(ps, subject, NULL);
	if (dr_same(ps->t, "one") && dr_same(&ps->t[1], "of")) {
		struct stmt *st = dr_stmt(ps, S_ONE_OF);

		ps->t += 2;
		return st != NULL && dr_one_of(ps, st, -1);
	}
	if (node < 0) {
		no_such_statement(ps);
		return false;
	}
	ps->t++;
	if (ps->t->glued && dr_punct(ps, ".")) {
		obj = dr_lookup(ps, node, ps->t);
		if (obj == NULL) {
			dr_expected_object(ps, "an object of this node", node, 0);
			return false;
		}
		ps->t++;
	}
	if (ps->t->kind == T_PUNCT && (dr_same(ps->t, ">") || dr_same(ps->t, "<")))
		return dr_packet_statement(ps, node, obj);
	return dr_node_statement(ps, node, obj);
}
