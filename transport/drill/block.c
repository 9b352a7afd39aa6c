/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * block.c - statements with lines below them that are indented more.
 *
 *   one of                     repeat N            repeat NAME = FIRST..LAST
 *     NAME: statement            statement           statement
 *           statement            statement           statement
 *
 *   when VALUE == VALUE ...      the lines below are read for those vectors alone
 *     statement
 */
#include "drill_int.h"

#define MAX_BLOCKS 3u /* in each other */

/* The rest of a line of a block: declarations, then a statement. */
static bool block_line(struct parser *ps, int subject)
{
	ps->node = -1;
	ps->depth = 0;
	while (!ps->src.failed && ps->t->kind != T_END) {
		if (dr_declaration(ps))
			continue;
		if (!dr_statement(ps, subject))
			return false;
		if (ps->t->kind != T_END)
			dr_expected(ps, "the end of the line", NULL);
	}
	return !ps->src.failed;
}

static bool alternative(struct parser *ps, const struct stmt *st, struct alternative ***at)
{
	struct alternative *a = dr_new(ps, sizeof(*a));

	if (a == NULL)
		return false;
	if (ps->t->kind != T_WORD || ps->t->len >= MAX_NAME || !dr_same(&ps->t[1], ":")) {
		dr_expected(ps, "the name of an alternative and a colon", NULL);
		return false;
	}
	memcpy(a->name, ps->t->text, ps->t->len);
	for (const struct alternative *b = st->alt; b != NULL; b = b->next) {
		if (strcmp(a->name, b->name) == 0) { /* the verdict names the one that happened */
			PF(ps, ps->t->column, "another alternative is called %s", a->name);
			return false;
		}
	}
	ps->t += 2;
	if (ps->t->kind == T_END) {
		dr_expected(ps, "a statement", NULL);
		return false;
	}
	ps->tail = &a->first;
	**at = a;
	*at = &a->next;
	return true;
}

static bool empty(struct parser *ps, const struct stmt *st, const char *text)
{
	ps->l->number = st->line;
	dr_fail(&ps->src, ps->l, st->column, "%s", text);
	return false;
}

/* The lines of a block; in one of `one of`, those that are indented least begin an alternative. */
static bool lines(struct parser *ps, struct stmt *st, int subject, bool named)
{
	unsigned base = ps->l->indent, inner = 0;
	struct alternative **at = &st->alt;

	for (;;) {
		size_t pos = ps->pos;
		unsigned number = ps->next_number;

		if (!dr_next_line(ps) || ps->l->indent <= base) {
			ps->pos = pos;
			ps->next_number = number;
			break;
		}
		if (inner == 0)
			inner = ps->l->indent;
		if (named && ps->l->indent <= inner && !alternative(ps, st, &at))
			return false;
		if (!block_line(ps, subject))
			return false;
	}
	if (inner == 0 && !ps->src.failed)
		return named || empty(ps, st, "repeat needs lines below it that are indented more");
	return !ps->src.failed;
}

/* The line that ended the block is read again: stand at an end of this one. */
static bool end(struct parser *ps, struct stmt **tail)
{
	ps->l->count = 0;
	ps->l->tok[0].kind = T_END;
	ps->t = ps->l->tok;
	ps->tail = tail;
	ps->block--;
	return true;
}

static bool begin(struct parser *ps, const struct stmt *st, const char *what)
{
	if (ps->block == MAX_BLOCKS) {
		PF(ps, st->column, "more than %u blocks in each other", MAX_BLOCKS);
		return false;
	}
	if (ps->t->kind != T_END) {
		dr_expected(ps, what, NULL);
		return false;
	}
	ps->block++;
	return true;
}

bool dr_one_of(struct parser *ps, struct stmt *st, int subject)
{
	struct stmt **save = ps->tail;

	if (!begin(ps, st, "the end of the line: the alternatives stand below") || !lines(ps, st, subject, true))
		return false;
	if (st->alt == NULL || st->alt->next == NULL)
		return empty(ps, st, "one of needs two alternatives at least, indented, each as NAME: statement");
	for (const struct alternative *a = st->alt; a != NULL; a = a->next)
		if (a->first == NULL) /* it would always be taken */
			return empty(ps, st,
				     "an alternative has no statement in this vector: what stands below `when` is "
				     "passed over");
	return end(ps, save);
}

/* repeat N | repeat NAME = FIRST..LAST */
bool dr_repeat(struct parser *ps)
{
	struct stmt *st = dr_stmt(ps, S_REPEAT), **save = ps->tail;
	struct alternative *body = dr_new(ps, sizeof(*body));

	if (st == NULL || body == NULL)
		return false;
	st->column = ps->t[-1].column;
	st->alt = body;
	if (ps->t->kind == T_WORD && dr_same(&ps->t[1], "=")) {
		st->obj = dr_lookup(ps, -1, ps->t);
		if (st->obj == NULL || st->obj->kind != O_NUMBER)
			st->obj = dr_object(ps, -1, O_NUMBER, ps->t);
		if (st->obj == NULL)
			return false;
		ps->t += 2;
	}
	if (!dr_number_value(ps, &st->left, st->obj != NULL))
		return false;
	if (st->obj != NULL && st->left.e2 == NULL) {
		dr_expected(ps, "..", NULL);
		return false;
	}
	if (!begin(ps, st, "the end of the line: what is repeated stands below"))
		return false;
	ps->tail = &body->first;
	if (!lines(ps, st, -1, false))
		return false;
	return end(ps, save);
}

static bool same_token(const struct token *a, const struct token *b)
{
	if (a->kind == T_NUMBER && b->kind == T_NUMBER)
		return a->number == b->number;
	return a->kind == b->kind && a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
}

static const struct token *one_value(struct parser *ps)
{
	const struct token *t = ps->t;

	if (t->kind == T_PUNCT || t->kind == T_END) {
		dr_expected(ps, "a number, a word or a string", NULL);
		return NULL;
	}
	ps->t++;
	return t;
}

/* when VALUE ==|!= VALUE...: otherwise the lines below are passed over. They are no block of their own. */
bool dr_when(struct parser *ps)
{
	unsigned base = ps->l->indent, line = ps->l->number, column = ps->t[-1].column;
	const struct token *a = one_value(ps), *b;
	bool equal = false, holds, below = false;

	if (a == NULL)
		return false;
	holds = dr_punct(ps, "!=");
	if (!holds && !dr_expect_punct(ps, "==", "== or !="))
		return false;
	do {
		b = one_value(ps);
		if (b == NULL)
			return false;
		equal |= same_token(a, b);
	} while (ps->t->kind != T_END);
	holds = holds != equal;
	for (;;) {
		size_t pos = ps->pos;
		unsigned number = ps->next_number;

		if (!dr_next_line(ps) || ps->l->indent <= base || holds) {
			below |= ps->l->count > 0 && ps->l->number > line && ps->l->indent > base;
			ps->pos = pos;
			ps->next_number = number;
			break;
		}
		below = true;
	}
	if (!ps->src.failed && !below) {
		ps->l->number = line;
		dr_fail(&ps->src, ps->l, column, "when needs lines below it that are indented more");
	}
	ps->l->count = 0;
	ps->l->tok[0].kind = T_END;
	ps->l->indent = base;
	ps->t = ps->l->tok;
	return !ps->src.failed;
}
