/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * model_load.c - paths to sources: a .vst, a capture, a folder of both. Damage costs what is damaged, not the rest:
 * lines that are no events are counted and passed over, a file that ends early says so (vt_source.note).
 */
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "model_build.h"

#define SOURCES_MAX 256u

bool vt_err(char *err, size_t cap, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(err, cap, fmt, ap);
	va_end(ap);
	return false;
}

struct vt_model *vt_model_new(const char *path)
{
	struct vt_model *m = calloc(1, sizeof(*m));

	if (m == NULL)
		return NULL;
	m->path = strdup(path);
	m->texts = vs_texts_new();
	m->build = calloc(1, sizeof(*m->build));
	if (m->path != NULL && m->texts != NULL && m->build != NULL)
		return m;
	vt_model_free(m);
	return NULL;
}

void vt_build_free(struct vt_model *m)
{
	if (m->build == NULL)
		return;
	free(m->build->source);
	free(m->build->mark);
	free(m->build);
	m->build = NULL;
}

void vt_model_free(struct vt_model *m)
{
	if (m == NULL)
		return;
	vt_build_free(m);
	for (size_t i = 0; i < m->n_sources; i++)
		free(m->source[i].path);
	for (size_t i = 0; i < m->n_qps; i++)
		free(m->qp[i].op);
	free(m->source);
	free(m->ev);
	free(m->cause);
	free(m->op_of);
	free(m->pkt_of);
	free(m->qp_of);
	free(m->node);
	free(m->qp);
	free(m->pkt);
	free(m->op);
	vs_texts_free(m->texts);
	free(m->path);
	free(m);
}

struct vt_source *vt_model_source(struct vt_model *m, const char *path, enum vt_source_kind kind)
{
	struct vt_source *grown, *s;

	if (m->n_sources == SOURCES_MAX)
		return NULL;
	grown = realloc(m->source, (m->n_sources + 1) * sizeof(*grown));
	if (grown == NULL)
		return NULL;
	m->source = grown;
	s = &grown[m->n_sources];
	*s = (struct vt_source){.path = strdup(path), .kind = kind};
	if (s->path == NULL)
		return NULL;
	m->n_sources++;
	return s;
}

static bool keep_texts(struct vt_model *m, struct vs_event *ev)
{
	const struct vs_event_info *info = vs_event_info((enum vs_event_type)ev->type);
	unsigned n = ev->type == VS_EV_NONE ? 1 : info->nargs; /* not understood: the whole line */

	for (unsigned i = 0; i < n; i++) {
		if ((ev->type != VS_EV_NONE && info->args[i].kind != VS_ARG_STR) || ev->a[i] == 0)
			continue;
		ev->a[i] = (uintptr_t)vs_texts_keep(m->texts, (const char *)(uintptr_t)ev->a[i]);
		if (ev->a[i] == 0)
			return false;
	}
	return true;
}

bool vt_model_add(struct vt_model *m, const struct vs_event *ev)
{
	struct vt_build *b = m->build;
	struct vs_event kept = *ev;

	if (m->n_events == VT_EVENTS_MAX || m->n_sources == 0) {
		b->full = m->n_sources != 0;
		return false;
	}
	if (m->n_events == b->cap) {
		size_t cap = b->cap == 0 ? 1024 : 2 * b->cap;
		struct vs_event *grown = realloc(m->ev, cap * sizeof(*grown));
		uint16_t *source = grown != NULL ? realloc(b->source, cap * sizeof(*source)) : NULL;

		if (grown != NULL)
			m->ev = grown;
		if (source == NULL)
			return false;
		b->source = source;
		b->cap = cap;
	}
	if (!keep_texts(m, &kept))
		return false;
	kept.node[sizeof(kept.node) - 1] = '\0';
	b->source[m->n_events] = (uint16_t)(m->n_sources - 1);
	m->ev[m->n_events++] = kept;
	m->source[m->n_sources - 1].events++;
	m->source[m->n_sources - 1].unknown += ev->type == VS_EV_NONE;
	return true;
}

bool vt_cant_add(const struct vt_model *m, const char *name, char *err, size_t cap)
{
	if (m->build->full)
		return vt_err(err, cap, "%s: more than %u events: record less, or cut it", name, VT_EVENTS_MAX);
	return vt_err(err, cap, "%s: no memory for its events", name);
}

/* ---- .vst ---- */

bool vt_model_add_vst(struct vt_model *m, FILE *f, const char *name, char *err, size_t cap)
{
	struct vs_vst_error why = {0};
	struct vs_vst_reader *r = vs_vst_open(f, &why);
	struct vt_source *s = r != NULL ? vt_model_source(m, name, VT_SOURCE_VST) : NULL;
	struct vs_event ev;
	int rc = 1;
	bool ok = true;

	if (r == NULL)
		return vt_err(err, cap, "%s: line %llu: %s", name, (unsigned long long)why.line, why.text);
	if (s == NULL) {
		vs_vst_close(r);
		return vt_err(err, cap, "%s: no memory, or more than %u files", name, SOURCES_MAX);
	}
	s->header = *vs_vst_header(r);
	while (ok && (rc = vs_vst_next(r, &ev, &why)) != 0 && rc != VS_ERR_IO) {
		if (rc == 1)
			ok = vt_model_add(m, &ev) || vt_cant_add(m, name, err, cap);
		else if (s->bad_lines++ == 0)
			(void)snprintf(s->note, sizeof(s->note), "line %llu: %s", (unsigned long long)why.line,
				       why.text);
	}
	s->cut = vs_vst_cut(r);
	vs_vst_close(r);
	if (ok && rc == VS_ERR_IO)
		ok = vt_err(err, cap, "%s: can't be read: %s", name, why.text);
	if (s->bad_lines > 1)
		(void)snprintf(s->note + strlen(s->note), sizeof(s->note) - strlen(s->note),
			       ", and %llu more lines that are no events", (unsigned long long)(s->bad_lines - 1));
	else if (s->cut && s->note[0] == '\0')
		(void)snprintf(s->note, sizeof(s->note), "ends in the middle of a line: who wrote it was killed");
	return ok;
}

/* ---- files and folders ---- */

static bool add_file(struct vt_model *m, const char *path, char *err, size_t cap)
{
	FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
	bool ok;
	int c;

	if (f == NULL)
		return vt_err(err, cap, "%s: can't be opened (%s): check the path", path, strerror(errno));
	c = getc(f);
	if (c == EOF) {
		ok = vt_err(err, cap, "%s: %s", path,
			    ferror(f) ? strerror(errno)
				      : "empty: a .vst file begins with a header line, a capture with one too");
	} else if (c == '{' || f == stdin) {
		(void)ungetc(c, f);
		ok = vt_model_add_vst(m, f, path, err, cap);
	} else {
		ok = vt_model_add_capture(m, path, err, cap);
	}
	if (f != stdin)
		fclose(f);
	return ok;
}

static bool add_in(struct vt_model *m, const char *dir, const char *name, char *err, size_t cap)
{
	size_t len = strlen(dir) + strlen(name) + 2;
	char *path = malloc(len);
	bool ok;

	if (path == NULL)
		return vt_err(err, cap, "%s: no memory", dir);
	(void)snprintf(path, len, "%s/%s", dir, name);
	ok = add_file(m, path, err, cap);
	free(path);
	return ok;
}

static int is_vst(const struct dirent *d)
{
	size_t n = strlen(d->d_name);

	return d->d_name[0] != '.' && n > 4 && strcmp(d->d_name + n - 4, ".vst") == 0;
}

static bool is_there(const char *dir, const char *name)
{
	char path[4096];
	struct stat st;

	return snprintf(path, sizeof(path), "%s/%s", dir, name) < (int)sizeof(path) && stat(path, &st) == 0;
}

/* Devices that tell of their packets tell more of them than a capture. */
static bool tells_of_packets(const struct vt_model *m)
{
	for (size_t i = 0; i < m->n_events; i++)
		if (m->ev[i].type == VS_EV_PKT_TX || m->ev[i].type == VS_EV_PKT_RX)
			return true;
	return false;
}

static int is_spool(const struct dirent *d)
{
	size_t n = strlen(d->d_name);

	return strncmp(d->d_name, "rec-", 4) == 0 && n > 6 && strcmp(d->d_name + n - 6, ".spool") == 0;
}

/* What the recorder wrote, and nobody has made events of. */
static bool holds_spools(const char *dir)
{
	struct dirent **list = NULL;
	int n = scandir(dir, &list, is_spool, NULL);

	for (int i = 0; i < n; i++)
		free(list[i]);
	free(list);
	return n > 0;
}

static bool add_folder(struct vt_model *m, const char *dir, char *err, size_t cap)
{
	struct dirent **list = NULL;
	bool ok = true, capture = is_there(dir, "wire.pcap");
	int n;

	if (holds_spools(dir))
		return vt_err(err, cap, "%s: its run was killed, or goes on: 'vs-trace recover %s' makes a trace of it",
			      dir, dir);
	if (is_there(dir, "trace.vst"))
		return add_in(m, dir, "trace.vst", err, cap);
	n = scandir(dir, &list, is_vst, alphasort);
	if (n < 0)
		return vt_err(err, cap, "%s: can't be read (%s)", dir, strerror(errno));
	if (n == 0 && !capture)
		ok = vt_err(err, cap, "%s: no .vst and no wire.pcap in it: 'vs-trace run' makes such a folder", dir);
	for (int i = 0; i < n; i++) {
		ok = ok && add_in(m, dir, list[i]->d_name, err, cap);
		free(list[i]);
	}
	free(list);
	return ok && (!capture || tells_of_packets(m) || add_in(m, dir, "wire.pcap", err, cap));
}

struct vt_model *vt_model_load(const char *path, char *err, size_t cap)
{
	struct vt_model *m = vt_model_new(path);
	struct stat st;
	bool ok;

	if (m == NULL) {
		(void)vt_err(err, cap, "%s: no memory", path);
		return NULL;
	}
	ok = strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISDIR(st.st_mode) ? add_folder(m, path, err, cap)
										   : add_file(m, path, err, cap);
	if (ok && vt_model_finish(m, err, cap))
		return m;
	vt_model_free(m);
	return NULL;
}

struct vt_model *vt_model_load_vst(FILE *f, const char *name, char *err, size_t cap)
{
	struct vt_model *m = vt_model_new(name);

	if (m == NULL) {
		(void)vt_err(err, cap, "%s: no memory", name);
		return NULL;
	}
	if (vt_model_add_vst(m, f, name, err, cap) && vt_model_finish(m, err, cap))
		return m;
	vt_model_free(m);
	return NULL;
}
