/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * fault.c - faults: the rule is read by vs_fault_parse; what only the script knows is put in when it is executed.
 *
 *   psn=+N, psn=+N..+M   from the first PSN of the sender, for responses from that of the requests they answer
 *   qp=NODE.NAME         the number of that queue pair
 */
#include <stdio.h>

#include "run.h"
#include "vs/fault.h"
#include "vs/psn.h"

#define MAX_TEXT 1024u

/* A word of the rule: where it stands, or 0. */
struct rule_word {
	const char *text;
	size_t len;
};

static bool next_word(const char **at, const char *end, struct rule_word *w)
{
	while (*at < end && **at == ' ')
		(*at)++;
	w->text = *at;
	while (*at < end && **at != ' ')
		(*at)++;
	w->len = (size_t)(*at - w->text);
	return w->len > 0;
}

static bool begins(const struct rule_word *w, const char *with)
{
	return w->len > strlen(with) && memcmp(w->text, with, strlen(with)) == 0;
}

static bool is(const struct rule_word *w, const char *word)
{
	return w->len == strlen(word) && memcmp(w->text, word, w->len) == 0;
}

static bool number(const char **at, const char *end, uint32_t *v)
{
	uint64_t n = 0;
	const char *begin;
	unsigned base = end - *at > 2 && (*at)[0] == '0' && (*at)[1] == 'x' ? 16 : 10;

	*at += base == 16 ? 2 : 0;
	for (begin = *at; *at < end; (*at)++) {
		char c = **at;
		unsigned d = c >= '0' && c <= '9'                 ? (unsigned)(c - '0')
			     : (c | 32) >= 'a' && (c | 32) <= 'f' ? (unsigned)((c | 32) - 'a' + 10)
								  : 99;

		if (d >= base)
			break;
		n = n * base + d;
		if (n > VS_PSN_MASK)
			return false;
	}
	*v = (uint32_t)n;
	return *at > begin;
}

/* psn=+N or psn=+N..+M */
static bool relative(const struct rule_word *w, uint32_t *first, uint32_t *last)
{
	const char *at = w->text + 5, *end = w->text + w->len;

	if (!number(&at, end, first))
		return false;
	*last = *first;
	if (at == end)
		return true;
	if (end - at < 4 || memcmp(at, "..+", 3) != 0)
		return false;
	at += 3;
	return number(&at, end, last) && at == end && *last >= *first;
}

static bool is_response(const struct rule_word *w)
{
	int op = vs_opcode_by_token(w->text, w->len);

	return is(w, "response") || is(w, "ack") || is(w, "nak") || is(w, "rnr") ||
	       (op >= 0 && vs_opcodes[op].flags & VS_OPF_R);
}

/* ---- reading ---- */

static int node_called(const struct parser *ps, const struct rule_word *w)
{
	struct token t = {.kind = T_WORD, .text = w->text, .len = (unsigned)w->len};

	return dr_node(ps, &t);
}

/* The node behind from or to, which is at `column`: a rule about another one would match nothing, and say nothing. */
static bool node_of_rule(struct parser *ps, const struct rule_word *w, unsigned column, int *node)
{
	*node = node_called(ps, w);
	if (*node < 0)
		dr_no_such_node(ps, w->text, w->len, column);
	return *node >= 0;
}

/* qp=NODE.NAME, which is at `column`. */
static struct obj *queue_pair(struct parser *ps, const struct rule_word *w, unsigned column)
{
	const char *name = w->text + 3, *dot = memchr(name, '.', w->len - 3);
	struct rule_word node = {name, dot != NULL ? (size_t)(dot - name) : 0};
	struct token t = {.kind = T_WORD, .text = dot != NULL ? dot + 1 : name};
	struct obj *o;
	int n = node_called(ps, &node);

	t.len = (unsigned)(w->text + w->len - t.text);
	o = n >= 0 ? dr_lookup(ps, n, &t) : NULL;
	if (o != NULL && o->kind == O_QP)
		return o;
	PF(ps, column + 3, "'%.*s' is no queue pair: it is written as NODE.NAME", (int)(w->len - 3), name);
	return NULL;
}

/* The only queue pair of a node. */
static struct obj *sole(struct parser *ps, int node)
{
	struct obj *found = NULL;

	for (unsigned i = 0; i < ps->p->n_objs; i++) {
		struct obj *o = ps->p->obj[i];

		if (o->kind != O_QP || o->node != node)
			continue;
		if (found != NULL)
			return NULL;
		found = o;
	}
	return found;
}

/* Whose first PSN is meant: st->obj. */
static bool whose_psn(struct parser *ps, struct stmt *st, int from, int to, bool response, unsigned column)
{
	struct obj *sender = NULL;

	if (st->left.obj != NULL)
		sender = st->left.obj->peer;
	else if (from >= 0)
		sender = sole(ps, from);
	else if (to >= 0 && sole(ps, to) != NULL)
		sender = sole(ps, to)->peer;
	st->obj = sender == NULL ? NULL : response ? sender->peer : sender;
	if (st->obj == NULL)
		PF(ps, column, "of which queue pair? Say from NODE, or qp=NODE.NAME for the one it goes to");
	return st->obj != NULL;
}

/* Replaces what the notation does not know by numbers of the same width, and remembers what it is. */
static bool placeholders(struct parser *ps, struct stmt *st, char *text, size_t len)
{
	const char *at = text, *end = text + len;
	struct rule_word w, before = {text, 0};
	unsigned column = 0;
	uint32_t first, last;
	bool response = false;
	int from = -1, to = -1;

	while (next_word(&at, end, &w)) {
		unsigned here = ps->t->column + (unsigned)(w.text - text);
		char *mine = text + (w.text - text);

		response |= is_response(&w);
		if (is(&before, "from") && !node_of_rule(ps, &w, here, &from))
			return false;
		if (is(&before, "to") && !node_of_rule(ps, &w, here, &to))
			return false;
		before = w;
		if (begins(&w, "psn=+")) {
			column = here;
			if (!relative(&w, &first, &last)) {
				PF(ps, here + 4, "'%.*s' is written as psn=+N or psn=+N..+M", (int)w.len, w.text);
				return false;
			}
			memset(mine + 4, ' ', w.len - 4);
			mine[4] = '0';
		} else if (begins(&w, "qp=") && !(w.text[3] >= '0' && w.text[3] <= '9')) {
			st->left.obj = queue_pair(ps, &w, here);
			if (st->left.obj == NULL)
				return false;
			memset(mine + 3, ' ', w.len - 3);
			mine[3] = '0';
		}
	}
	return column == 0 || whose_psn(ps, st, from, to, response, column);
}

/* The text of the line from here on, with the values of variables in it and each word where it stands. */
static size_t text_of(const struct parser *ps, char *buf, size_t cap)
{
	size_t n = 0;

	for (const struct token *t = ps->t; t->kind != T_END && n + t->len + 2 < cap; t++) {
		if (n > 0 && !t->glued)
			buf[n++] = ' ';
		while (n < t->column - ps->t->column && n < cap / 2)
			buf[n++] = ' ';
		memcpy(buf + n, t->text, t->len);
		n += t->len;
	}
	return n;
}

void dr_fault_decl(struct parser *ps)
{
	struct stmt *st = dr_stmt(ps, S_FAULT);
	char *text = dr_new(ps, MAX_TEXT), *check = dr_new(ps, MAX_TEXT);
	struct vs_fault_rule rule;
	struct vs_fault_error err;
	size_t n;

	if (st == NULL || text == NULL || check == NULL)
		return;
	if (dr_same(ps->t, "none") && ps->t[1].kind == T_END) {
		st->kind = S_FAULT_NONE;
		ps->t++;
		return;
	}
	n = text_of(ps, text, MAX_TEXT);
	memcpy(check, text, n);
	if (!placeholders(ps, st, check, n))
		return;
	if (vs_fault_parse(check, n, &rule, &err) != VS_OK) {
		PF(ps, ps->t->column + (err.column > 0 ? err.column - 1 : 0), "%s", err.text);
		return;
	}
	st->text = text;
	st->text_len = (unsigned)n;
	while (ps->t->kind != T_END)
		ps->t++;
}

/* ---- doing ---- */

void dr_fault(struct run *r, const struct stmt *st)
{
	const char *at = st->text, *end = st->text + st->text_len;
	char text[MAX_TEXT + 64];
	struct rule_word w;
	size_t n = 0;

	while (next_word(&at, end, &w) && n < MAX_TEXT - 48) {
		uint32_t first, last, base = st->obj != NULL ? dr_rt(r, st->obj)->psn : 0;

		if (n > 0)
			text[n++] = ' ';
		if (begins(&w, "psn=+") && relative(&w, &first, &last))
			n += (size_t)snprintf(text + n, 48, "psn=0x%x..0x%x", vs_psn_add(base, (int32_t)first),
					      vs_psn_add(base, (int32_t)last));
		else if (begins(&w, "qp=") && st->left.obj != NULL)
			n += (size_t)snprintf(text + n, 48, "qp=0x%x", dr_rt(r, st->left.obj)->qpn);
		else {
			memcpy(text + n, w.text, w.len);
			n += w.len;
		}
	}
	text[n] = '\0';
	if (r->t->ops->fault(r->t, text) < 0)
		dr_broken(r, st, st->column, "there is no room for one more fault");
}
