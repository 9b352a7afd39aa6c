/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * parse.c - a script: its lines, its matrix, its vectors; what the parts of the parser share.
 *
 * vs_drill_parse reads every vector once, so that a script which is wrong for one value is wrong at once.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "drill_int.h"

/* ---- shared ---- */

void *dr_new(struct parser *ps, size_t size)
{
	void *p = dr_alloc(&ps->p->arena, size);

	if (p == NULL)
		PF(ps, 1, "the script needs too much memory");
	return p;
}

bool dr_punct(struct parser *ps, const char *p)
{
	if (ps->t->kind != T_PUNCT || !dr_same(ps->t, p))
		return false;
	ps->t++;
	return true;
}

bool dr_word(struct parser *ps, const char *w)
{
	if (ps->t->kind != T_WORD || !dr_same(ps->t, w))
		return false;
	ps->t++;
	return true;
}

void dr_expected(struct parser *ps, const char *what, const struct word *words)
{
	const struct token *t = ps->t;
	char hint[80] = "";

	if (words != NULL && t->kind == T_WORD)
		dr_suggest(hint, sizeof(hint), t->text, t->len, words);
	if (t->kind == T_END)
		PF(ps, t->column, "expected %s, but the line ends here", what);
	else
		PF(ps, t->column, "expected %s, not '%.*s'%s", what, (int)(t->len > 60 ? 60 : t->len), t->text, hint);
}

void dr_expected_object(struct parser *ps, const char *what, int node, int kind)
{
	struct word words[MAX_OBJECTS + 1];
	unsigned n = 0;

	for (unsigned i = 0; i < ps->p->n_objs; i++) {
		const struct obj *o = ps->p->obj[i];

		if ((node < 0 || o->node == node) && (kind == 0 || (int)o->kind == kind))
			words[n++] = (struct word){o->name, 0};
	}
	words[n] = (struct word){NULL, 0};
	dr_expected(ps, what, words);
}

void dr_no_such_node(struct parser *ps, const char *name, size_t len, unsigned column)
{
	const struct program *p = ps->p;
	char names[MAX_NODES * (MAX_NAME + 5)] = "";
	size_t n = 0;

	for (unsigned i = 0; i < p->n_nodes && n < sizeof(names); i++)
		n += (size_t)snprintf(names + n, sizeof(names) - n, "%s%s",
				      i == 0               ? ""
				      : i + 1 < p->n_nodes ? ", "
							   : " and ",
				      p->node[i].name);
	PF(ps, column, "there is no node '%.*s': the nodes are %s", (int)(len > 40 ? 40 : len), name, names);
}

int dr_engine(struct parser *ps)
{
	struct word words[MAX_NODES + 1];
	int node = dr_node(ps, ps->t);
	unsigned n = 0;

	if (node >= 0 && ps->p->node[node].engine) {
		ps->t++;
		return node;
	}
	for (unsigned i = 0; i < ps->p->n_nodes; i++)
		if (ps->p->node[i].engine)
			words[n++] = (struct word){ps->p->node[i].name, 0};
	words[n] = (struct word){NULL, 0};
	dr_expected(ps, "a node with an engine", words);
	return -1;
}

bool dr_expect_punct(struct parser *ps, const char *p, const char *what)
{
	if (dr_punct(ps, p))
		return true;
	dr_expected(ps, what, NULL);
	return false;
}

bool dr_run_of(struct parser *ps, char *buf, size_t cap, const char *what)
{
	const struct token *t = ps->t;
	size_t n = 0;

	if (t->kind != T_WORD && t->kind != T_NUMBER) {
		dr_expected(ps, what, NULL);
		return false;
	}
	do {
		if (n + t->len >= cap) {
			PF(ps, ps->t->column, "%s has at most %zu bytes", what, cap - 1);
			return false;
		}
		memcpy(buf + n, t->text, t->len);
		n += t->len;
		t++;
	} while (t->glued && t->kind != T_STRING && t->kind != T_END);
	buf[n] = '\0';
	ps->t = t;
	return true;
}

struct stmt *dr_stmt(struct parser *ps, enum stmt_kind kind)
{
	struct stmt *st = dr_new(ps, sizeof(*st));

	if (st == NULL)
		return NULL;
	st->kind = kind;
	st->line = ps->l->number;
	ps->late = false;
	st->column = ps->t->column;
	st->node = -1;
	*ps->tail = st;
	ps->tail = &st->next;
	return st;
}

int dr_node(const struct parser *ps, const struct token *name)
{
	for (unsigned i = 0; i < ps->p->n_nodes && name->kind == T_WORD; i++)
		if (dr_same(name, ps->p->node[i].name))
			return (int)i;
	return -1;
}

int dr_peer_node(const struct program *p)
{
	for (unsigned i = 0; i < p->n_nodes; i++)
		if (!p->node[i].engine)
			return (int)i;
	return -1;
}

struct obj *dr_lookup(struct parser *ps, int node, const struct token *name)
{
	struct obj *found = NULL;

	for (unsigned i = 0; i < ps->p->n_objs; i++) {
		struct obj *o = ps->p->obj[i];

		if (name->kind != T_WORD || !dr_same(name, o->name))
			continue;
		if (node >= 0 ? o->node == node : o->node == ps->node || o->node < 0)
			return o;
		if (node < 0 && found == NULL)
			found = o;
	}
	return found;
}

struct obj *dr_object(struct parser *ps, int node, enum obj_kind kind, const struct token *name)
{
	struct program *p = ps->p;
	struct obj *o;

	if (name->kind != T_WORD || name->len >= MAX_NAME) {
		dr_expected(ps, "a name of at most 23 letters", NULL);
		return NULL;
	}
	for (unsigned i = 0; i < p->n_objs; i++) {
		if (p->obj[i]->node == node && dr_same(name, p->obj[i]->name)) {
			PF(ps, name->column, "the name %s is taken", p->obj[i]->name);
			return NULL;
		}
	}
	if (p->n_objs == MAX_OBJECTS) {
		PF(ps, name->column, "more than %u names in one script", MAX_OBJECTS);
		return NULL;
	}
	o = dr_new(ps, sizeof(*o));
	if (o == NULL)
		return NULL;
	o->kind = kind;
	o->node = node;
	o->index = p->n_objs;
	memcpy(o->name, name->text, name->len);
	p->obj[p->n_objs++] = o;
	return o;
}

/* ---- lines ---- */

/* The bytes of the line at `pos`, without its end; where the next one begins. */
static size_t cut_line(const char *text, size_t len, size_t pos, struct line *l)
{
	const char *end = memchr(text + pos, '\n', len - pos);
	size_t n = end != NULL ? (size_t)(end - (text + pos)) : len - pos;

	l->text = text + pos;
	l->len = (unsigned)n;
	return pos + n + (end != NULL);
}

bool dr_next_line(struct parser *ps)
{
	while (!ps->src.failed && ps->pos < ps->src.len) {
		ps->pos = cut_line(ps->src.text, ps->src.len, ps->pos, ps->l);
		ps->l->number = ps->next_number++;
		if (!dr_lex(&ps->src, ps->l, ps->var, ps->d->n_vars))
			return false;
		ps->t = ps->l->tok;
		if (ps->l->count > 0)
			return true;
	}
	return false;
}

/* ---- the matrix ---- */

static bool matrix_range(struct src *s, struct line *l, struct vs_drill *d, struct variable *v, const struct token *t)
{
	uint64_t first = t[0].number, last = t[2].number;

	if (t[2].kind != T_NUMBER || last < first || last - first >= VS_DRILL_MAX_VECTORS) {
		dr_fail(s, l, t[2].column,
			"a range goes from a number to one that is not smaller, over at most %u values",
			VS_DRILL_MAX_VECTORS);
		return false;
	}
	v->count = (unsigned)(last - first) + 1;
	v->value = dr_alloc(&d->arena, v->count * sizeof(v->value[0]));
	for (unsigned i = 0; v->value != NULL && i < v->count; i++) {
		char *text = dr_alloc(&d->arena, 24);

		if (text == NULL)
			return false;
		v->value[i] = t[0];
		v->value[i].number = first + i;
		v->value[i].len = (unsigned)snprintf(text, 24, "%" PRIu64, v->value[i].number);
		v->value[i].text = text;
	}
	return v->value != NULL;
}

static bool matrix_name(struct src *s, struct line *l, struct vs_drill *d, const struct token *t)
{
	struct variable *v = &d->var[d->n_vars];

	if (d->n_vars == VS_DRILL_MAX_MATRIX) {
		dr_fail(s, l, t->column, "more than %u matrix variables", VS_DRILL_MAX_MATRIX);
		return false;
	}
	if (t->len >= MAX_NAME) {
		dr_fail(s, l, t->column, "a name has at most %u letters", MAX_NAME - 1);
		return false;
	}
	for (unsigned i = 0; i < d->n_vars; i++) {
		if (dr_same(t, d->var[i].name)) {
			dr_fail(s, l, t->column, "there is a matrix variable %s already", d->var[i].name);
			return false;
		}
	}
	*v = (struct variable){.count = 0};
	memcpy(v->name, t->text, t->len);
	v->value = dr_alloc(&d->arena, l->count * sizeof(v->value[0]));
	d->n_vars++;
	return v->value != NULL;
}

static bool is_value(struct src *s, struct line *l, const struct token *t)
{
	if (t->kind != T_PUNCT && t->kind != T_END)
		return true;
	if (t->kind == T_END)
		dr_fail(s, l, t->column, "expected a value, but the line ends here");
	else
		dr_fail(s, l, t->column, "expected a number, a word or a string, not '%.*s'", (int)t->len, t->text);
	return false;
}

/* A B = 1 2, 3 4: each group is one value of each. */
static bool matrix_groups(struct src *s, struct line *l, struct vs_drill *d, unsigned first, const struct token *t)
{
	unsigned names = d->n_vars - first;

	for (;;) {
		for (unsigned i = 0; i < names; i++, t++) {
			struct variable *v = &d->var[first + i];

			if (!is_value(s, l, t))
				return false;
			v->value[v->count++] = *t;
		}
		if (t->kind == T_END)
			return true;
		if (!dr_same(t, ",")) {
			dr_fail(s, l, t->column, "expected a comma: every group has %u values", names);
			return false;
		}
		t++;
	}
}

/* matrix NAME = VALUE... | FIRST..LAST; matrix NAME NAME... = GROUP, GROUP, ... */
static bool matrix_line(struct src *s, struct line *l, struct vs_drill *d)
{
	unsigned first = d->n_vars;
	const struct token *t = &l->tok[1];

	for (; t->kind == T_WORD; t++)
		if (!matrix_name(s, l, d, t))
			return false;
	if (d->n_vars == first || !dr_same(t, "=") || t[1].kind == T_END) {
		dr_fail(s, l, l->tok[1].column, "a matrix is written: matrix NAME = VALUE VALUE ... or FIRST..LAST");
		return false;
	}
	t++;
	if (d->n_vars - first > 1) {
		for (unsigned i = first + 1; i < d->n_vars; i++)
			d->var[i].tied = true;
		return matrix_groups(s, l, d, first, t);
	}
	if (t[0].kind == T_NUMBER && dr_same(&t[1], ".."))
		return matrix_range(s, l, d, &d->var[first], t);
	for (; t->kind != T_END; t++) {
		if (!is_value(s, l, t))
			return false;
		d->var[first].value[d->var[first].count++] = *t;
	}
	return true;
}

/* The lines that there are, and the matrix. Every line is split once here, so that errors of lexing come first. */
static bool scan(struct vs_drill *d, struct src *s, struct line *l)
{
	size_t pos = 0;
	uint64_t vectors = 1;

	for (l->number = 1; pos < d->len; l->number++) {
		pos = cut_line(d->text, d->len, pos, l);
		if (l->number > VS_DRILL_MAX_LINES) {
			dr_fail(s, l, 1, "a script has at most %u lines", VS_DRILL_MAX_LINES);
			return false;
		}
		if (l->len > MAX_LINE) {
			dr_fail(s, l, MAX_LINE + 1, "a line has at most %u bytes", MAX_LINE);
			return false;
		}
		if (memchr(l->text, '\0', l->len) != NULL) {
			dr_fail(s, l, 1, "a script is text: this line has a zero byte");
			return false;
		}
		if (!dr_lex(s, l, NULL, 0))
			return false;
		if (l->count > 0 && dr_same(&l->tok[0], "matrix") && !matrix_line(s, l, d))
			return false;
		if (l->count > 0 && dr_same(&l->tok[0], "matrix"))
			vectors *= d->var[d->n_vars - 1].count;
		if (vectors > VS_DRILL_MAX_VECTORS) {
			dr_fail(s, l, 1, "more than %u vectors", VS_DRILL_MAX_VECTORS);
			return false;
		}
	}
	d->lines = l->number - 1;
	d->vectors = (unsigned)vectors;
	if (vectors * d->lines > VS_DRILL_MAX_WORK) {
		dr_fail(s, NULL, 0, "%u lines times %u vectors are more than %u", d->lines, d->vectors,
			VS_DRILL_MAX_WORK);
		return false;
	}
	return true;
}

/* ---- a vector ---- */

static void choose(const struct vs_drill *d, struct variable *var, unsigned vector)
{
	for (unsigned i = d->n_vars; i-- > 0;) {
		var[i] = d->var[i];
		var[i].current = vector % var[i].count;
		if (!var[i].tied) /* the first of those that go together */
			vector /= var[i].count;
	}
}

static void lines(struct parser *ps)
{
	while (dr_next_line(ps)) {
		if (!ps->has_case && !dr_same(ps->t, "case")) {
			PF(ps, ps->t->column, "a script begins with: case ID \"what it claims\"");
			return;
		}
		while (!ps->src.failed && ps->t->kind != T_END) {
			ps->node = -1;
			ps->depth = 0;
			if (dr_declaration(ps))
				continue;
			if (ps->t != ps->l->tok)
				dr_expected(ps, "the end of the line", NULL);
			else if (dr_statement(ps, -1) && ps->t->kind != T_END)
				dr_expected(ps, "the end of the line", NULL);
			break;
		}
	}
}

bool dr_parse_vector(struct vs_drill *d, unsigned vector, struct program *p, struct vs_drill_error *err)
{
	struct parser *ps = calloc(1, sizeof(*ps));

	*err = (struct vs_drill_error){.line = 0};
	if (ps != NULL)
		ps->l = calloc(1, sizeof(*ps->l));
	if (ps == NULL || ps->l == NULL) {
		free(ps);
		(void)snprintf(err->text, sizeof(err->text), "no memory");
		return false;
	}
	ps->src = (struct src){d->text, d->len, err, false};
	ps->d = d;
	ps->p = p;
	ps->next_number = 1;
	ps->tail = &p->first;
	p->encap = p->vlan = -1;
	choose(d, ps->var, vector);
	lines(ps);
	if (!ps->src.failed && !ps->has_case)
		dr_fail(&ps->src, NULL, 0, "the script is empty: it begins with: case ID \"what it claims\"");
	if (!ps->src.failed && p->first == NULL && p->skip == NULL)
		dr_fail(&ps->src, NULL, 0, "the script does nothing: there is no statement behind its header");
	p->raw_peer = dr_peer_node(p) >= 0;
	vector = ps->src.failed;
	free(ps->l);
	free(ps);
	return !vector;
}

/* ---- the public part ---- */

struct vs_drill *vs_drill_parse(const char *text, size_t len, struct vs_drill_error *err)
{
	struct vs_drill *d = calloc(1, sizeof(*d));
	struct line *l = calloc(1, sizeof(*l));
	struct src s = {.text = text, .len = len};
	bool ok = false;

	*err = (struct vs_drill_error){.line = 0};
	s.err = err;
	if (d != NULL)
		d->text = malloc(len + 1);
	if (d == NULL || l == NULL || d->text == NULL) {
		dr_fail(&s, NULL, 0, "no memory");
	} else if (len > VS_DRILL_MAX_BYTES) {
		dr_fail(&s, NULL, 0, "a script has at most %u bytes", VS_DRILL_MAX_BYTES);
	} else {
		memcpy(d->text, text, len);
		d->text[len] = '\0';
		d->len = len;
		s.text = d->text;
		ok = scan(d, &s, l);
		for (unsigned i = 0; ok && i < d->vectors; i++) {
			struct program p = {.n_nodes = 0};

			ok = dr_parse_vector(d, i, &p, err);
			dr_arena_free(&p.arena);
		}
	}
	free(l);
	if (ok)
		return d;
	if (err->text[0] == '\0')
		dr_fail(&s, NULL, 0, "the script needs too much memory");
	vs_drill_free(d);
	return NULL;
}

void vs_drill_free(struct vs_drill *d)
{
	if (d == NULL)
		return;
	dr_arena_free(&d->arena);
	free(d->text);
	free(d);
}

const char *vs_drill_id(const struct vs_drill *d)
{
	return d->id;
}

const char *vs_drill_title(const struct vs_drill *d)
{
	return d->title;
}

const char *vs_drill_clause(const struct vs_drill *d)
{
	return d->clause;
}

char vs_drill_class(const struct vs_drill *d)
{
	return d->class;
}

bool vs_drill_needs(const struct vs_drill *d, const char *word)
{
	for (const struct word *w = dr_need_words; w->name != NULL; w++)
		if (strcmp(w->name, word) == 0)
			return d->needs >> w->value & 1;
	return false;
}

bool vs_drill_waives(const struct vs_drill *d, const char *invariant)
{
	for (const struct word *w = dr_waive_words; w->name != NULL; w++)
		if (strcmp(w->name, invariant) == 0)
			return d->waived >> w->value & 1;
	return false;
}

unsigned vs_drill_vectors(const struct vs_drill *d)
{
	return d->vectors;
}

int vs_drill_vector_name(const struct vs_drill *d, unsigned vector, char *buf, size_t cap)
{
	struct variable var[VS_DRILL_MAX_MATRIX];
	int n = 0;

	if (cap > 0)
		buf[0] = '\0';
	choose(d, var, vector);
	for (unsigned i = 0; i < d->n_vars; i++) {
		const struct token *t = &var[i].value[var[i].current];
		size_t at = (size_t)n < cap ? (size_t)n : cap;

		n += snprintf(buf + at, cap - at, "%s%s=%.*s", i > 0 ? "," : "", var[i].name, (int)t->len, t->text);
	}
	return n;
}

const char *vs_verdict_name(enum vs_verdict v)
{
	static const char *const names[] = {"PASS", "FAIL", "VARIANT", "SKIP", "ERROR"};

	return (unsigned)v < sizeof(names) / sizeof(names[0]) ? names[v] : "?";
}
