/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * mutate.c - rewrites C files so that every one of a fixed set of small faults can be switched on by a number.
 *
 *   mutate ENUMS OUT SITES FILE...
 *
 * ENUMS is preprocessed text with the enums in use. Every FILE is written to OUT/<its name>; SITES gets one line
 * per fault: number, file:line, function, operator, original text, faulty text, separated by tabs. vs_mut(n)
 * (mutant.h) says at run time whether fault n is the one to commit. The operators, in function bodies:
 *
 *   compare   < <= and > >= for each other (off by one at the boundary); every comparison for its opposite
 *   drop      a statement that is a call, an assignment, ++, --, break, continue or a plain return is left out
 *   number    an integer literal is one larger, one smaller (0: one larger)
 *   swap      an enum constant becomes the next one of its enum; true and false change places
 *
 * The text is taken apart into tokens and statements, not parsed as C: that is enough for code in the style of this
 * repository. What has to be constant is left alone: case labels, static data, array sizes, sizeof, preprocessor
 * lines; so are assertions, and what can make no difference: the boundary in a < b ? a : b, the last break of a
 * switch.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TOKENS 40000
#define MAX_EDITS 20000
#define MAX_ENUMS 8000
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

enum kind { NAME, NUMBER, OTHER /* string, character, punctuator */ };

struct token {
	enum kind kind;
	size_t at, len;
	unsigned line;
	bool fixed; /* nothing inside may be changed */
};

/* A fault in tokens [from, to): `text` instead of them, or with drop nothing. Several may have the same range. */
struct edit {
	size_t from, to, order;
	unsigned number;
	bool drop;
	char text[400];
};

struct enumerator {
	char name[64];
	unsigned family;
};

static struct file {
	const char *name; /* without folders */
	char *text;
	size_t len;
	struct token t[MAX_TOKENS];
	size_t n;
	struct edit e[MAX_EDITS];
	size_t edits;
	char function[64];
	FILE *out;
} f;

static struct enumerator enums[MAX_ENUMS];
static size_t n_enums;
static unsigned families, sites;
static FILE *site_list;

static void die(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	fprintf(stderr, "mutate: ");
	vfprintf(stderr, format, ap);
	fprintf(stderr, "\n");
	va_end(ap);
	exit(2);
}

static char *load(const char *path, size_t *len)
{
	FILE *in = fopen(path, "rb");
	size_t cap = 1 << 22;
	char *text = malloc(cap + 1);

	if (in == NULL || text == NULL)
		die("%s: can't be read", path);
	*len = fread(text, 1, cap, in);
	text[*len] = '\0';
	if (*len == cap)
		die("%s: too large", path);
	fclose(in);
	return text;
}

/* ---- tokens ---- */

/* Past white space, comments and preprocessor lines (with their continuations). */
static size_t skip_blank(const char *s, size_t i, unsigned *line)
{
	for (;;) {
		bool comment = s[i] == '/' && s[i + 1] == '*', directive = s[i] == '#';

		if (!comment && !directive && !isspace((unsigned char)s[i]))
			return i;
		if (s[i] == '\n')
			++*line;
		for (i += comment ? 2 : 1; comment && !(s[i] == '*' && s[i + 1] == '/'); i++)
			*line += s[i] == '\n';
		for (; directive && s[i] != '\0' && s[i] != '\n'; i++)
			if (s[i] == '\\' && s[i + 1] == '\n') {
				i++;
				++*line;
			}
		i += comment ? 2 : 0;
	}
}

static size_t token_len(const char *s)
{
	static const char *const three[] = {"<<=", ">>=", "..."};
	static const char *const two[] = {"->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&",
					  "||", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^="};
	size_t i = 0;

	if (isalnum((unsigned char)s[0]) || s[0] == '_') {
		while (isalnum((unsigned char)s[i]) || s[i] == '_' || (s[i] == '.' && isdigit((unsigned char)s[0])))
			i++;
		return i;
	}
	if (s[0] == '"' || s[0] == '\'') {
		for (i = 1; s[i] != s[0]; i++)
			i += s[i] == '\\';
		return i + 1;
	}
	for (i = 0; i < COUNT(three); i++)
		if (strncmp(s, three[i], 3) == 0)
			return 3;
	for (i = 0; i < COUNT(two); i++)
		if (strncmp(s, two[i], 2) == 0)
			return 2;
	return 1;
}

static void tokenize(void)
{
	unsigned line = 1;
	size_t i = 0;

	for (f.n = 0; (i = skip_blank(f.text, i, &line)) < f.len; f.n++) {
		unsigned char c = (unsigned char)f.text[i];

		if (f.n == MAX_TOKENS)
			die("%s: too many tokens", f.name);
		f.t[f.n] = (struct token){.kind = isdigit(c)               ? NUMBER
						  : isalpha(c) || c == '_' ? NAME
									   : OTHER,
					  .at = i,
					  .len = token_len(f.text + i),
					  .line = line};
		i += f.t[f.n].len;
	}
}

static bool is(size_t i, const char *s)
{
	return i < f.n && f.t[i].len == strlen(s) && strncmp(f.text + f.t[i].at, s, f.t[i].len) == 0;
}

static bool same(size_t i, size_t k)
{
	return k < f.n && f.t[i].len == f.t[k].len && strncmp(f.text + f.t[i].at, f.text + f.t[k].at, f.t[i].len) == 0;
}

static bool is_one_of(size_t i, const char *const *list, size_t n)
{
	while (n > 0)
		if (is(i, list[--n]))
			return true;
	return false;
}

/* The bracket that belongs to the one at i, forwards or backwards. */
static size_t match(size_t i)
{
	bool forward = is(i, "(") || is(i, "[") || is(i, "{");
	int depth = 0;

	for (; i < f.n; i += forward ? 1 : (size_t)-1) {
		if (is(i, "(") || is(i, "[") || is(i, "{"))
			depth++;
		else if (is(i, ")") || is(i, "]") || is(i, "}"))
			depth--;
		if (depth == 0)
			return i;
	}
	die("%s: brackets that do not match", f.name);
	return 0;
}

/* ---- enums ---- */

/* Notes the members of every enum in the tokens: each enum is a family. */
static void collect_enums(void)
{
	size_t i, j;

	for (i = 0; i < f.n; i++) {
		size_t open = is(i + 1, "{") ? i + 1 : i + 2;

		if (!is(i, "enum") || !is(open, "{"))
			continue;
		families++;
		for (j = open + 1; j < match(open); j++) {
			if (f.t[j].kind != NAME || !(is(j - 1, "{") || is(j - 1, ",")))
				continue;
			if (n_enums == MAX_ENUMS || f.t[j].len >= sizeof(enums[0].name))
				die("%s: too many enum constants", f.name);
			memcpy(enums[n_enums].name, f.text + f.t[j].at, f.t[j].len);
			enums[n_enums++].family = families;
		}
	}
}

/* The next member of the enum that constant i belongs to, round the end; NULL: no such constant. */
static const char *neighbour(size_t i)
{
	size_t k, n;

	for (k = 0; k < n_enums && !is(i, enums[k].name); k++)
		;
	if (k == n_enums)
		return NULL;
	for (n = 1; n < n_enums; n++) {
		const struct enumerator *e = &enums[(k + n) % n_enums];
		const char *tail = strrchr(e->name, '_');

		if (k + n >= n_enums || e->family != enums[k].family) { /* past the end: back to the first */
			while (k > 0 && enums[k - 1].family == enums[k].family)
				k--;
			return is(i, enums[k].name) ? NULL : enums[k].name;
		}
		if (tail == NULL || strcmp(tail, "_COUNT") != 0) /* the number of them is not one of them */
			return e->name;
	}
	return NULL;
}

/* ---- noting faults ---- */

static void one_line(FILE *out, const char *s, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (!isspace((unsigned char)s[i]))
			fputc(s[i], out);
		else if (i == 0 || !isspace((unsigned char)s[i - 1]))
			fputc(' ', out);
}

static size_t text_len(size_t from, size_t to)
{
	return f.t[to - 1].at + f.t[to - 1].len - f.t[from].at;
}

/* A fault in place of tokens [from, to); format NULL: they are dropped. */
static void fault(size_t from, size_t to, const char *op, const char *format, ...)
{
	struct edit *e = &f.e[f.edits];
	va_list ap;
	size_t i;
	int n = 0;

	for (i = from; i < to; i++)
		if (f.t[i].fixed && (format != NULL || i == from))
			return;
	if (f.edits == MAX_EDITS)
		die("%s: too many faults", f.name);
	*e = (struct edit){.from = from, .to = to, .order = f.edits, .number = ++sites, .drop = format == NULL};
	if (format != NULL) {
		va_start(ap, format);
		n = vsnprintf(e->text, sizeof(e->text), format, ap);
		va_end(ap);
	}
	if (n >= (int)sizeof(e->text)) {
		sites--;
		return;
	}
	f.edits++;
	fprintf(site_list, "%u\t%s:%u\t%s\t%s\t", e->number, f.name, f.t[from].line, f.function, op);
	one_line(site_list, f.text + f.t[from].at, text_len(from, to));
	fputc('\t', site_list);
	one_line(site_list, e->text, strlen(e->text));
	fputc('\n', site_list);
}

/* ---- comparisons ---- */

static bool ends_operand(size_t i)
{
	return f.t[i].kind != OTHER || is(i, ")") || is(i, "]") || f.text[f.t[i].at] == '\'' ||
	       f.text[f.t[i].at] == '"';
}

/* How tightly the binary operator at i binds, from the comma (0) to relations (8); 9: tighter, or no operator. */
static int binding(size_t i)
{
	static const char *const assign[] = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="};
	static const char *const levels[] = {"?", ":", "||", "&&", "|", "^", "&", "==", "!=", "<", "<=", ">", ">="};
	static const int level_of[] = {1, 1, 2, 3, 4, 5, 6, 7, 7, 8, 8, 8, 8};
	size_t k;

	if (is(i, ",") || is(i, ";") || is(i, "return") || is(i, "case") || is(i, "else") || is(i, "do"))
		return 0;
	if (is_one_of(i, assign, COUNT(assign)))
		return 1;
	if (is(i, "&") && !ends_operand(i - 1))
		return 9;
	for (k = 0; k < COUNT(levels); k++)
		if (is(i, levels[k]))
			return level_of[k];
	return 9;
}

/* First token of the left operand of the comparison at `op`, and the one past its right operand. */
static void operands(size_t op, size_t *from, size_t *to)
{
	int level = binding(op);
	size_t i;

	for (i = op - 1; !is(i, "(") && !is(i, "[") && !is(i, "{") && !is(i, "}") && binding(i) >= level; i--)
		if (is(i, ")") || is(i, "]"))
			i = match(i);
	*from = i + 1;
	for (i = op + 1; !is(i, ")") && !is(i, "]") && !is(i, "}") && binding(i) > level; i++)
		if (is(i, "(") || is(i, "[") || is(i, "{"))
			i = match(i);
	*to = i;
}

/* a < b ? a : b and its like: where both are equal, it does not matter which. */
static bool is_minimum(size_t from, size_t op, size_t to)
{
	size_t i, n = op - from, m = to - op - 1;

	if (!is(to, "?") || !is(to + 1 + n, ":"))
		return false;
	for (i = 0; i < n; i++)
		if (!same(from + i, to + 1 + i))
			return false;
	for (i = 0; i < m; i++)
		if (!same(op + 1 + i, to + 2 + n + i))
			return false;
	return true;
}

static void compare(size_t op)
{
	static const char *const from_op[] = {"<", "<=", ">", ">="};
	static const char *const to_op[] = {"<=", "<", ">=", ">"};
	size_t from, to, k, right = op + 1;
	const char *left_text, *right_text;

	if (binding(op) != 7 && binding(op) != 8)
		return;
	operands(op, &from, &to);
	left_text = f.text + f.t[from].at;
	right_text = f.text + f.t[right].at;
	for (k = 0; k < COUNT(from_op); k++)
		if (is(op, from_op[k]) && !is_minimum(from, op, to))
			fault(from, to, "compare", "%.*s %s %.*s", (int)text_len(from, op), left_text, to_op[k],
			      (int)text_len(right, to), right_text);
	if (binding(op) == 7)
		fault(from, to, "compare", "%.*s %s %.*s", (int)text_len(from, op), left_text,
		      is(op, "==") ? "!=" : "==", (int)text_len(right, to), right_text);
	else
		fault(from, to, "compare", "!(%.*s)", (int)text_len(from, to), left_text);
}

/* ---- numbers and constants ---- */

static void number(size_t i)
{
	char text[32] = {0}, *suffix;
	unsigned long long v;
	bool hex;

	if (f.t[i].len >= sizeof(text))
		return;
	memcpy(text, f.text + f.t[i].at, f.t[i].len);
	hex = text[0] == '0' && text[1] == 'x';
	v = strtoull(text, &suffix, 0);
	fault(i, i + 1, "number", hex ? "0x%llx%s" : "%llu%s", v + 1, suffix);
	if (v > 0)
		fault(i, i + 1, "number", hex ? "0x%llx%s" : "%llu%s", v - 1, suffix);
}

static void constant(size_t i)
{
	const char *other = is(i, "true") ? "false" : is(i, "false") ? "true" : neighbour(i);

	if (other != NULL && !is(i + 1, "(") && !is(i - 1, ".") && !is(i - 1, "->"))
		fault(i, i + 1, "swap", "%s", other);
}

/* ---- statements ---- */

static void fix(size_t from, size_t to)
{
	for (; from < to; from++)
		f.t[from].fixed = true;
}

static size_t past_semicolon(size_t i)
{
	while (!is(i, ";"))
		i = (is(i, "(") || is(i, "[") || is(i, "{") ? match(i) : i) + 1;
	return i + 1;
}

/* A declaration begins with a keyword, or with two names, or a name and a star that a name follows. */
static bool declares(size_t i)
{
	static const char *const words[] = {"const", "static", "struct", "enum",   "unsigned",
					    "int",   "bool",   "char",   "va_list"};

	return is_one_of(i, words, COUNT(words)) ||
	       (f.t[i].kind == NAME && (f.t[i + 1].kind == NAME || (is(i + 1, "*") && f.t[i + 2].kind == NAME)));
}

static size_t statement(size_t i);

static size_t block(size_t i)
{
	for (i++; !is(i, "}");)
		i = statement(i);
	return i + 1;
}

/* The brace that ends what a break here leaves, when that is a switch; 0: a loop. */
static size_t switch_end;

/* if, while, for, switch, and macros that stand for them. */
static size_t controlled(size_t i)
{
	size_t before = switch_end, then = match(i + 1) + 1;

	if (!is(i, "if"))
		switch_end = is(i, "switch") && is(then, "{") ? match(then) : 0;
	i = statement(then);
	switch_end = before;
	return is(i, "else") ? statement(i + 1) : i;
}

/* A break at the end of its switch, or before a default that does nothing else, leaves nothing out. */
static bool is_last_break(size_t i)
{
	if (!is(i, "break") || switch_end == 0)
		return false;
	i += 2;
	if (is(i, "default") && is(i + 2, "break"))
		i += 4;
	return i == switch_end;
}

static size_t label(size_t i)
{
	size_t from = i;

	while (!is(i, ":"))
		i++;
	fix(from, i);
	return i + 1;
}

/* (void)x; or a break that changes nothing. */
static bool says_nothing(size_t i, size_t end)
{
	return (is(i, "(") && is(i + 1, "void") && end - i == 5) || is_last_break(i);
}

/* Walks one statement, notes what may be dropped, fixes what may not change; the token past it. */
static size_t statement(size_t i)
{
	size_t end;

	if (is(i, "{"))
		return block(i);
	if (is(i, "case") || is(i, "default"))
		return label(i);
	if (is(i, "do")) {
		i = statement(i + 1);
		return past_semicolon(i);
	}
	if (f.t[i].kind == NAME && is(i + 1, "(") && !is(match(i + 1) + 1, ";") && !is(i, "return")) {
		static const char *const words[] = {"if", "while", "for", "switch", "EACH"};

		if (is_one_of(i, words, COUNT(words)))
			return controlled(i);
	}
	end = past_semicolon(i);
	if (is(i, "assert") || is(i, "static"))
		fix(i, end);
	else if (is(i, "return") ? is(i + 1, ";") : !declares(i) && !says_nothing(i, end))
		fault(i, end, "drop", NULL);
	return end;
}

/* Array sizes, sizeof and offsetof in [i, end). */
static void fix_types(size_t i, size_t end)
{
	for (; i < end; i++) {
		if (is(i, "[") && f.t[i - 1].kind == NAME && f.t[i - 2].kind == NAME && !is(i - 2, "return"))
			fix(i, match(i));
		if ((is(i, "sizeof") || is(i, "offsetof")) && is(i + 1, "("))
			fix(i, match(i + 1));
	}
}

static void function_body(size_t open)
{
	size_t end = match(open), i, name;

	name = match(open - 1) - 1;
	snprintf(f.function, sizeof(f.function), "%.*s", (int)f.t[name].len, f.text + f.t[name].at);
	fix_types(open, end);
	block(open);
	for (i = open; i < end; i++) {
		compare(i);
		if (f.t[i].kind == NUMBER)
			number(i);
		else if (f.t[i].kind == NAME)
			constant(i);
	}
}

/* ---- writing ---- */

static int by_place(const void *a, const void *b)
{
	const struct edit *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->to != y->to)
		return x->to > y->to ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static void copy(size_t from, size_t to)
{
	fwrite(f.text + from, 1, to - from, f.out);
}

/* Writes tokens [i, to) and what stands between them; edits from number k on lie inside. The first edit behind. */
static size_t write_range(size_t i, size_t to, size_t k)
{
	while (i < to) {
		size_t last = k;
		bool drop;

		if (k == f.edits || f.e[k].from != i) {
			copy(f.t[i].at, i + 1 < to ? f.t[i + 1].at : f.t[i].at + f.t[i].len);
			i++;
			continue;
		}
		drop = f.e[k].drop;
		while (last < f.edits && f.e[last].from == i && f.e[last].to == f.e[k].to) {
			if (drop)
				fprintf(f.out, "{ if (!vs_mut(%u)) { ", f.e[last].number);
			else
				fprintf(f.out, "%svs_mut(%u) ? (%s) : ", last == k ? "(" : "", f.e[last].number,
					f.e[last].text);
			last++;
		}
		i = f.e[k].to;
		k = write_range(f.e[k].from, i, last);
		fputs(drop ? " } }" : ")", f.out);
		if (i < to)
			copy(f.t[i - 1].at + f.t[i - 1].len, f.t[i].at);
	}
	return k;
}

static void mutate(const char *path, const char *out_dir)
{
	char out[4096];
	size_t i, depth = 0;

	f.name = strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path;
	f.text = load(path, &f.len);
	f.edits = 0;
	tokenize();
	collect_enums();
	for (i = 0; i < f.n; i++) {
		if (depth == 0 && i > 0 && is(i, "{") && is(i - 1, ")"))
			function_body(i);
		depth += is(i, "{");
		depth -= is(i, "}");
	}
	qsort(f.e, f.edits, sizeof(f.e[0]), by_place);
	snprintf(out, sizeof(out), "%s/%s", out_dir, f.name);
	f.out = fopen(out, "w");
	if (f.out == NULL)
		die("%s: can't be written", out);
	fprintf(f.out, "#include \"mutant.h\"\n#line 1 \"%s\"\n", path);
	copy(0, f.t[0].at);
	write_range(0, f.n, 0);
	copy(f.t[f.n - 1].at + f.t[f.n - 1].len, f.len);
	if (fclose(f.out) != 0)
		die("%s: can't be written", out);
	free(f.text);
}

int main(int argc, char **argv)
{
	int i;

	if (argc < 5)
		die("usage: mutate ENUMS OUT SITES FILE...");
	f.name = argv[1];
	f.text = load(argv[1], &f.len);
	tokenize();
	collect_enums();
	free(f.text);
	site_list = fopen(argv[3], "w");
	if (site_list == NULL)
		die("%s: can't be written", argv[3]);
	for (i = 4; i < argc; i++)
		mutate(argv[i], argv[2]);
	return fclose(site_list) != 0;
}
