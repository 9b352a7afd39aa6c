/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* suite.c - case files in, and which of them are meant. */
#include "ccase.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX ".drill"
#define PATH_LEN 4096

/* ---- where ---- */

const char *vc_suite_default(void)
{
	static const char *const beside[] = {"../../conformance", "../../../conformance",
					     "../share/verbscope/conformance"};
	static char path[PATH_LEN], whole[PATH_LEN];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 64);
	char *slash;

	if (access("conformance/cases", R_OK) == 0)
		return "conformance";
	path[n > 0 ? n : 0] = '\0';
	slash = strrchr(path, '/');
	for (size_t i = 0; slash != NULL && i < sizeof(beside) / sizeof(beside[0]); i++) {
		strcpy(slash + 1, beside[i]);
		if (access(path, R_OK) == 0 && realpath(path, whole) != NULL)
			return whole;
	}
	return NULL;
}

/* ---- in ---- */

static struct vc_case *new_case(struct vc_suite *s, size_t *cap)
{
	if (s->n == *cap) {
		size_t more = *cap == 0 ? 64 : 2 * *cap;
		struct vc_case *grown = realloc(s->c, more * sizeof(*grown));

		if (grown == NULL)
			return NULL;
		s->c = grown;
		*cap = more;
	}
	s->c[s->n] = (struct vc_case){.vectors = 1};
	return &s->c[s->n];
}

static void name_of_file(struct vc_case *c)
{
	const char *slash = strrchr(c->path, '/'), *base = slash != NULL ? slash + 1 : c->path;
	size_t n = strlen(base);

	if (n > strlen(SUFFIX) && strcmp(base + n - strlen(SUFFIX), SUFFIX) == 0)
		n -= strlen(SUFFIX);
	(void)snprintf(c->id, sizeof(c->id), "%.*s", (int)n, base);
}

static int read_case(struct vc_suite *s, size_t *cap, const char *path)
{
	struct vc_case *c = new_case(s, cap);

	if (c == NULL || (c->path = strdup(path)) == NULL)
		return vc_complain("no memory"), VC_USAGE;
	s->n++;
	name_of_file(c);
	c->text = vc_read_file(path, VS_DRILL_MAX_BYTES + 1, &c->len);
	if (c->text == NULL)
		return VC_USAGE;
	c->d = vs_drill_parse(c->text, c->len, &c->err);
	if (c->d != NULL) {
		(void)snprintf(c->id, sizeof(c->id), "%s", vs_drill_id(c->d));
		c->vectors = vs_drill_vectors(c->d);
	}
	c->row = vc_inventory_find(&s->inv, c->id);
	c->chosen = calloc(c->vectors, sizeof(bool));
	return c->chosen != NULL ? VC_OK : (vc_complain("no memory"), VC_USAGE);
}

/* Those in C belong to the suite as it is delivered. Their header is read as that of a script. */
static int read_ccases(struct vc_suite *s, size_t *cap)
{
	for (size_t i = 0; vc_ccases[i] != NULL; i++) {
		struct vc_case *c = new_case(s, cap);
		char text[1024], path[128];

		if (c == NULL)
			return vc_complain("no memory"), VC_USAGE;
		s->n++;
		(void)snprintf(path, sizeof(path), "conformance/%s", vc_ccases[i]->file);
		(void)snprintf(text, sizeof(text), "%s# The case is written in C: %s\nskip \"in C\"\n",
			       vc_ccases[i]->header, path);
		c->in_c = vc_ccases[i];
		c->path = strdup(path);
		c->text = strdup(text);
		c->len = strlen(text);
		c->d = vs_drill_parse(text, c->len, &c->err);
		c->chosen = calloc(1, sizeof(bool));
		if (c->path == NULL || c->text == NULL || c->d == NULL || c->chosen == NULL)
			return vc_complain("%s: its header is wrong: %s", path, c->err.text), VC_USAGE;
		(void)snprintf(c->id, sizeof(c->id), "%s", vs_drill_id(c->d));
		c->row = vc_inventory_find(&s->inv, c->id);
	}
	return VC_OK;
}

static int is_script(const struct dirent *e)
{
	size_t n = strlen(e->d_name);

	return e->d_name[0] != '.' && n > strlen(SUFFIX) && strcmp(e->d_name + n - strlen(SUFFIX), SUFFIX) == 0;
}

static int is_visible(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static int read_folder(struct vc_suite *s, size_t *cap, const char *dir, int (*which)(const struct dirent *),
		       unsigned depth)
{
	struct dirent **list;
	int n = scandir(dir, &list, which, alphasort), rc = VC_OK;

	if (n < 0) {
		vc_complain("%s: can't be read: %s", dir, strerror(errno));
		return VC_USAGE;
	}
	for (int i = 0; i < n; i++) {
		char path[PATH_LEN];
		struct stat st;

		(void)snprintf(path, sizeof(path), "%s/%s", dir, list[i]->d_name);
		if (rc == VC_OK && depth == 0 && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
			rc = read_folder(s, cap, path, is_script, 1);
		else if (rc == VC_OK && is_script(list[i]))
			rc = read_case(s, cap, path);
		free(list[i]);
	}
	free(list);
	return rc;
}

/* Groups in the order of the inventory, ids within them. */
static size_t rank(const struct vc_suite *s, const struct vc_case *c)
{
	return c->row != NULL ? (size_t)(c->row - s->inv.row) : s->inv.n;
}

static const struct vc_suite *sorting;
static int by_row(const void *a, const void *b)
{
	size_t x = rank(sorting, a), y = rank(sorting, b);

	return x != y ? (x < y ? -1 : 1) : strcmp(((const struct vc_case *)a)->id, ((const struct vc_case *)b)->id);
}

int vc_suite_read(struct vc_suite *s, const char *dir, char *const *files, size_t n_files)
{
	char path[PATH_LEN];
	size_t cap = 0;
	int rc;

	*s = (struct vc_suite){.dir = strdup(dir)};
	(void)snprintf(path, sizeof(path), "%s/inventory.tsv", dir);
	rc = vc_inventory_read(&s->inv, path);
	(void)snprintf(path, sizeof(path), "%s/cases", dir);
	if (rc == VC_OK && n_files == 0)
		rc = read_folder(s, &cap, path, is_visible, 0);
	if (rc == VC_OK && n_files == 0)
		rc = read_ccases(s, &cap);
	for (size_t i = 0; rc == VC_OK && i < n_files; i++)
		rc = read_case(s, &cap, files[i]);
	sorting = s;
	if (s->n > 0)
		qsort(s->c, s->n, sizeof(*s->c), by_row);
	return rc;
}

void vc_suite_free(struct vc_suite *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->c[i].path);
		free(s->c[i].text);
		free(s->c[i].chosen);
		vs_drill_free(s->c[i].d);
	}
	free(s->c);
	free(s->dir);
	vc_inventory_free(&s->inv);
}

/* ---- selection ---- */

size_t vc_suite_chosen(const struct vc_suite *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		for (unsigned v = 0; v < s->c[i].vectors; v++)
			n += s->c[i].chosen[v];
	return n;
}

void vc_vector_name(const struct vc_case *c, unsigned vector, char name[VC_NAME])
{
	char v[256] = "";

	if (c->d != NULL)
		(void)vs_drill_vector_name(c->d, vector, v, sizeof(v));
	(void)snprintf(name, VC_NAME, v[0] != '\0' ? "%s[%s]" : "%s%s", c->id, v);
}

bool vc_glob(const char *p, const char *t)
{
	for (; *p != '\0'; p++) {
		if (*p == '*') {
			while (*p == '*')
				p++;
			for (; *t != '\0'; t++)
				if (vc_glob(p, t))
					return true;
			return *p == '\0';
		}
		if (*t == '\0' || (*p != '?' && *p != *t))
			return false;
		t++;
	}
	return *t == '\0';
}

/* "RSP" is the group, "RSP-017" all vectors and all files of the row, "RSP-017[mtu=256]" one. */
static bool fits(const struct vc_case *c, unsigned vector, const char *pattern)
{
	char name[VC_NAME];
	size_t n = strlen(pattern);

	vc_vector_name(c, vector, name);
	if (vc_glob(pattern, name) || vc_glob(pattern, c->id))
		return true;
	if (c->row != NULL && strcmp(pattern, c->row->col[VC_COL_ID]) == 0)
		return true;
	return strpbrk(pattern, "-[*?") == NULL && strncmp(c->id, pattern, n) == 0 && c->id[n] == '-';
}

static unsigned distance(const char *a, const char *b)
{
	unsigned row[VC_ID + 1];
	size_t n = strlen(a), m = strlen(b);

	if (n >= VC_ID || m >= VC_ID)
		return VC_ID;
	for (size_t j = 0; j <= m; j++)
		row[j] = (unsigned)j;
	for (size_t i = 1; i <= n; i++) {
		unsigned diagonal = row[0];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= m; j++) {
			unsigned d = diagonal + ((a[i - 1] | 0x20) != (b[j - 1] | 0x20));

			diagonal = row[j];
			d = row[j] + 1 < d ? row[j] + 1 : d;
			row[j] = row[j - 1] + 1 < d ? row[j - 1] + 1 : d;
		}
	}
	return row[m];
}

static int no_such_case(const struct vc_suite *s, const char *pattern)
{
	const char *near = NULL;
	unsigned best = 4;
	char name[VC_NAME];

	for (size_t i = 0; i < s->n; i++) {
		unsigned d = distance(pattern, s->c[i].id);

		if (d < best) {
			best = d;
			near = s->c[i].id;
		}
	}
	if (strchr(pattern, '[') != NULL) {
		size_t n = strcspn(pattern, "[");

		for (size_t i = 0; i < s->n; i++) {
			if (strlen(s->c[i].id) != n || strncmp(s->c[i].id, pattern, n) != 0)
				continue;
			vc_vector_name(&s->c[i], 0, name);
			vc_complain("%s: %s has no such vector: its first one is %s, --list names all", pattern,
				    s->c[i].id, name);
			return VC_USAGE;
		}
	}
	if (near != NULL)
		vc_complain("%s: there is no such case, did you mean %s? --list names all", pattern, near);
	else
		vc_complain("%s: there is no such case: --list names all", pattern);
	return VC_USAGE;
}

int vc_suite_choose(struct vc_suite *s, char *const *pattern, size_t n)
{
	for (size_t p = 0; p < (n == 0 ? 1 : n); p++) {
		bool any = n == 0;

		for (size_t i = 0; i < s->n; i++) {
			for (unsigned v = 0; v < s->c[i].vectors; v++) {
				if (n > 0 && !fits(&s->c[i], v, pattern[p]))
					continue;
				s->c[i].chosen[v] = any = true;
			}
		}
		if (!any)
			return no_such_case(s, pattern[p]);
	}
	return VC_OK;
}
