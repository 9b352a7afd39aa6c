/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * catalog.c - the labs that there are. A lab is a folder NN-name with a file `lab` of lines "key value":
 *
 *   title, title.ko, stage, stage.ko, tracks (app, dv, both), kind (docs/labs.md), minutes, run, libs, fault
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vslab.h"

bool vl_is(const struct vl_lab *lab, const char *kind)
{
	return strcmp(lab->kind, kind) == 0;
}

bool vl_has_record(const struct vl_lab *lab)
{
	return vl_is(lab, "program") || vl_is(lab, "warmup") || lab->observed;
}

const char *vl_product(const struct vl_lab *lab)
{
	return vl_is(lab, "forensics") ? "findings.txt" : "lab.c";
}

static bool self(char path[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
	char *slash;

	path[n > 0 ? n : 0] = '\0';
	slash = strrchr(path, '/');
	if (slash != NULL)
		*slash = '\0';
	return slash != NULL;
}

bool vl_beside(const char *name, char path[PATH_MAX])
{
	char dir[PATH_MAX];

	return self(dir) && (size_t)snprintf(path, PATH_MAX, "%.*s/%s", PATH_MAX - 64, dir, name) < PATH_MAX &&
	       access(path, X_OK) == 0;
}

const char *vl_labs_dir(void)
{
	static const char *const beside[] = {"../share/verbscope/labs", "../../labs", "../../../labs"};
	static char found[PATH_MAX];
	char dir[PATH_MAX], path[PATH_MAX];

	if (!self(dir))
		return NULL;
	for (unsigned i = 0; i < sizeof(beside) / sizeof(beside[0]); i++) {
		(void)snprintf(path, sizeof(path), "%.*s/%s", PATH_MAX - 64, dir, beside[i]);
		if (realpath(path, found) != NULL)
			return found;
	}
	return NULL;
}

static void take(struct vl_lab *l, const char *key, const char *value)
{
	const struct {
		const char *key;
		char *to;
		size_t cap;
	} rows[] = {{"title", l->title[0], VL_TEXT},
		    {"title.ko", l->title[1], VL_TEXT},
		    {"stage", l->stage[0], VL_TEXT},
		    {"stage.ko", l->stage[1], VL_TEXT},
		    {"tracks", l->tracks, 16},
		    {"kind", l->kind, 16},
		    {"run", l->run, sizeof(l->run)},
		    {"libs", l->libs, sizeof(l->libs)},
		    {"fault", l->fault, sizeof(l->fault)}};

	if (strcmp(key, "minutes") == 0)
		l->minutes = (unsigned)strtoul(value, NULL, 10);
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(rows[i].key, key) == 0)
			(void)snprintf(rows[i].to, rows[i].cap, "%s", value);
}

static bool read_lab(struct vl_lab *l, const char *dir, const char *name)
{
	char path[PATH_MAX], *text, *save = NULL;

	*l = (struct vl_lab){.kind = "program"};
	(void)snprintf(l->dir, sizeof(l->dir), "%.*s/%s", PATH_MAX - 80, dir, name);
	(void)snprintf(l->name, sizeof(l->name), "%s", name);
	(void)snprintf(l->id, sizeof(l->id), "%.2s", name);
	(void)snprintf(path, sizeof(path), "%.*s/lab", PATH_MAX - 8, l->dir);
	text = vl_read(path, NULL);
	if (text == NULL)
		return false;
	for (char *line = strtok_r(text, "\n", &save); line != NULL; line = strtok_r(NULL, "\n", &save)) {
		char *value = line + strcspn(line, " \t");

		if (*line == '#' || *value == '\0')
			continue;
		*value++ = '\0';
		take(l, line, value + strspn(value, " \t"));
	}
	free(text);
	(void)snprintf(path, sizeof(path), "%.*s/observe.c", PATH_MAX - 16, l->dir);
	l->observed = vl_exists(path);
	return true;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct vl_lab *)a)->name, ((const struct vl_lab *)b)->name);
}

int vl_catalog(const char *dir, struct vl_lab lab[VL_LABS])
{
	DIR *d = opendir(dir);
	const struct dirent *e;
	int n = 0;

	while (d != NULL && n < (int)VL_LABS && (e = readdir(d)) != NULL) {
		const char *s = e->d_name;

		if (s[0] < '0' || s[0] > '9' || s[1] < '0' || s[1] > '9' || s[2] != '-' || strlen(s) >= 64)
			continue;
		n += read_lab(&lab[n], dir, s);
	}
	if (d != NULL)
		(void)closedir(d);
	if (n > 0)
		qsort(lab, (size_t)n, sizeof(lab[0]), by_name);
	else
		vl_complain(T("%s: there are no labs here", "%s: 실습이 없습니다"), dir);
	return n > 0 ? n : -1;
}
