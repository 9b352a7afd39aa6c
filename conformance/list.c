/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* list.c - --list, --explain, and --check: what is wrong with the case files as such. */
#include "conform.h"

#include <string.h>

static bool any(const struct vc_case *c)
{
	for (unsigned v = 0; v < c->vectors; v++)
		if (c->chosen[v])
			return true;
	return false;
}

int vc_list(const struct vc_suite *s)
{
	char name[VC_NAME];

	for (size_t i = 0; i < s->n; i++) {
		for (unsigned v = 0; v < s->c[i].vectors; v++) {
			if (!s->c[i].chosen[v])
				continue;
			vc_vector_name(&s->c[i], v, name);
			vs_cli_put_lines(stdout, name);
			printf("  ");
			vs_cli_put_lines(stdout,
					 s->c[i].d != NULL ? vs_drill_title(s->c[i].d) : "(its script is wrong)");
			putchar('\n');
		}
	}
	return vc_flush();
}

static void item(const char *name, const char *text)
{
	if (text[0] == '\0' || strcmp(text, "-") == 0)
		return;
	printf("  %-10s ", name);
	vs_cli_put_lines(stdout, text);
	putchar('\n');
}

static void explain(const struct vc_case *c)
{
	static const struct {
		const char *name;
		enum vc_column col;
	} lines[] = {{"row", VC_COL_CASE},          {"stimulus", VC_COL_STIMULUS},  {"wire", VC_COL_WIRE},
		     {"requester", VC_COL_REQ_CQE}, {"responder", VC_COL_RESP_CQE}, {"state", VC_COL_STATE},
		     {"source", VC_COL_SOURCE},     {"amended", VC_COL_AMENDMENT},  {"evidence", VC_COL_EVIDENCE}};
	char clause[128], class[2] = {vc_class(c), '\0'}, name[VC_NAME];

	vs_cli_put_lines(stdout, c->id);
	printf("  ");
	vs_cli_put_lines(stdout, c->d != NULL ? vs_drill_title(c->d) : "(its script is wrong)");
	putchar('\n');
	vc_clause(c, clause, sizeof(clause));
	item("class", class);
	item("clause", clause);
	for (size_t i = 0; c->row != NULL && i < sizeof(lines) / sizeof(lines[0]); i++)
		item(lines[i].name, c->row->col[lines[i].col]);
	item("file", c->path);
	for (unsigned v = 0; v < c->vectors && c->vectors > 1; v++) {
		vc_vector_name(c, v, name);
		item(v == 0 ? "vectors" : "", name);
	}
	putchar('\n');
	vs_cli_put_lines(stdout, c->text);
	putchar('\n');
}

int vc_explain(const struct vc_suite *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (any(&s->c[i]))
			explain(&s->c[i]);
	return vc_flush();
}

/* ---- --check ---- */

static unsigned complain(const char *path, const char *text, const char *more)
{
	fprintf(stderr, "%s: ", path);
	vs_cli_put_lines(stderr, text);
	vs_cli_put_lines(stderr, more);
	fputc('\n', stderr);
	return 1;
}

/* A report names a clause where something is publicly known, and nothing where it is not. */
static unsigned check_clause(const struct vc_case *c)
{
	const bool quoted = strncmp(vc_evidence(c), "quoted", 6) == 0, api = vc_class(c) == 'A';
	char clause[128];

	vc_clause(c, clause, sizeof(clause));
	if (clause[0] == '\0' && (api || quoted))
		return complain(c->path, "it names no clause: ",
				api ? "a row of class A needs the call or its man page" : "the evidence has one");
	if (clause[0] != '\0' && !api && !quoted)
		return complain(c->path, "it names a clause, and the inventory knows of none in public: ", clause);
	return 0;
}

static unsigned check_case(const struct vc_suite *s, const struct vc_case *c)
{
	char want[VC_ID * 3 + 16], group[VC_ID], said[4 * VS_DRILL_TEXT];
	size_t n = strcspn(c->id, "-");
	unsigned bad = 0;

	if (c->d == NULL) {
		(void)vs_drill_error_format(&c->err, c->path, said, sizeof(said));
		vs_cli_put_lines(stderr, said);
		return 1;
	}
	if (c->row == NULL)
		return complain(c->path, "the inventory has no row for ", c->id);
	(void)snprintf(group, sizeof(group), "%.*s", (int)n, c->id);
	(void)snprintf(want, sizeof(want), "/cases/%s/%s.drill", group, c->id);
	if (c->in_c == NULL &&
	    (strlen(c->path) < strlen(want) || strcmp(c->path + strlen(c->path) - strlen(want), want) != 0))
		bad += complain(c->path, "by its id it belongs at ", want + 1);
	if (vs_drill_class(c->d) != vc_class(c))
		bad += complain(c->path, "its class is not that of the row as amended: ", c->row->col[VC_COL_CLASS]);
	bad += check_clause(c);
	for (size_t i = 0; i < s->n; i++)
		if (&s->c[i] < c && strcmp(s->c[i].id, c->id) == 0)
			bad += complain(c->path, "another file has the same id: ", s->c[i].path);
	return bad;
}

/* Together the files of a row have as many vectors as the inventory asks for. */
static unsigned check_row(const struct vc_suite *s, const struct vc_row *row)
{
	unsigned vectors = 0, files = 0;
	const struct vc_case *last = NULL;
	char text[128];

	for (size_t i = 0; i < s->n; i++) {
		if (row == NULL || s->c[i].row != row)
			continue;
		last = &s->c[i];
		files++;
		vectors += s->c[i].vectors;
	}
	if (row == NULL || files == 0 || vectors >= row->vectors)
		return 0;
	(void)snprintf(text, sizeof(text), "%u vectors, and the row has %u", vectors, row->vectors);
	return complain(last->path, text, "");
}

unsigned vc_suite_check(const struct vc_suite *s)
{
	unsigned bad = 0, rows = 0;

	for (size_t i = 0; i < s->n; i++)
		bad += check_case(s, &s->c[i]);
	for (size_t i = 0; i < s->inv.n; i++) {
		bool there = false;

		bad += check_row(s, &s->inv.row[i]);
		for (size_t k = 0; k < s->n; k++)
			there |= s->c[k].row == &s->inv.row[i];
		rows += there;
	}
	printf("%zu files, %u of %zu rows, %u complaints\n", s->n, rows, s->inv.n, bad);
	return bad;
}
