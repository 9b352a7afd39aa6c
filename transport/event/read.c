/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * read.c - events from a .vst file, line by line. Anyone may have written it: unknown events and keys are fine,
 * a value of the wrong kind is an error that names line and key, and no line makes anything crash.
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

struct vs_vst_reader {
	FILE *f;
	struct vs_vst_header header;
	char *line;
	size_t len, cap;
	uint64_t number; /* of the line in `line` */
	bool newline;    /* it ended with one */
	bool cut, ended;
	struct vs_texts *texts;
};

static int fail(const struct vs_vst_reader *r, struct vs_vst_error *err, unsigned column, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
static int fail(const struct vs_vst_reader *r, struct vs_vst_error *err, unsigned column, const char *fmt, ...)
{
	va_list ap;

	if (err == NULL)
		return VS_ERR_INVAL;
	err->line = r->number;
	err->column = column;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return VS_ERR_INVAL;
}

/* ---- lines ---- */

static bool add_char(struct vs_vst_reader *r, int c)
{
	if (r->len + 1 >= r->cap) {
		size_t cap = r->cap == 0 ? 1024 : 2 * r->cap;
		char *grown = realloc(r->line, cap);

		if (grown == NULL)
			return false;
		r->line = grown;
		r->cap = cap;
	}
	r->line[r->len++] = (char)c;
	r->line[r->len] = '\0';
	return true;
}

/* 1: a line; 0: the end; negative: it can't be had (too long: the rest of it is passed over). */
static int next_line(struct vs_vst_reader *r, struct vs_vst_error *err)
{
	bool fits = true;
	int c;

	r->len = 0;
	r->newline = false;
	if (!add_char(r, '\0'))
		return fail(r, err, 0, "no memory");
	r->len = 0;
	r->number++;
	while ((c = getc(r->f)) != EOF && c != '\n')
		fits = fits && r->len < VS_VST_LINE_MAX && add_char(r, c);
	if (c == EOF && ferror(r->f)) {
		(void)fail(r, err, 0, "can't be read: %s", strerror(errno));
		return VS_ERR_IO;
	}
	if (!fits)
		return fail(r, err, 0, "longer than %u bytes", VS_VST_LINE_MAX);
	r->newline = c == '\n';
	return r->newline || r->len > 0;
}

static json_t *parse_line(struct vs_vst_reader *r, struct vs_vst_error *err)
{
	json_error_t e;
	json_t *o = json_loadb(r->line, r->len, JSON_REJECT_DUPLICATES, &e);

	if (o == NULL)
		(void)fail(r, err, e.column > 0 ? (unsigned)e.column : 1, "no JSON: %s", e.text);
	else if (!json_is_object(o))
		(void)fail(r, err, 1, "no JSON object");
	if (json_is_object(o))
		return o;
	json_decref(o);
	return NULL;
}

/* ---- values ---- */

/* A number, or a string of one: decimal, negative, hexadecimal. */
static bool to_number(const json_t *j, uint64_t *v)
{
	const char *s = json_string_value(j);
	bool minus;
	char *end;

	if (json_is_integer(j)) {
		*v = (uint64_t)json_integer_value(j);
		return true;
	}
	if (s == NULL || s[0] == '\0')
		return false;
	minus = s[0] == '-';
	s += minus;
	if (s[0] < '0' || s[0] > '9')
		return false;
	errno = 0;
	*v = strncmp(s, "0x", 2) == 0 ? strtoull(s, &end, 16) : strtoull(s, &end, 10);
	if (errno != 0 || *end != '\0' || (minus && *v > (uint64_t)INT64_MAX + 1))
		return false;
	if (minus)
		*v = 0 - *v;
	return true;
}

/* 1: there; 0: not there; negative: of the wrong kind. */
static int get_number(struct vs_vst_reader *r, const json_t *o, const char *key, uint64_t *v, struct vs_vst_error *err)
{
	const json_t *j = json_object_get(o, key);

	if (j == NULL)
		return 0;
	return to_number(j, v) ? 1 : fail(r, err, 0, "\"%s\" is no number", key);
}

static int get_text(struct vs_vst_reader *r, const json_t *o, const char *key, char *buf, size_t cap,
		    struct vs_vst_error *err)
{
	const json_t *j = json_object_get(o, key);

	if (j == NULL)
		return 0;
	if (!json_is_string(j) || json_string_length(j) != strlen(json_string_value(j)))
		return fail(r, err, 0, "\"%s\" is no text", key);
	if (json_string_length(j) >= cap)
		return fail(r, err, 0, "\"%s\" is longer than %zu bytes", key, cap - 1);
	memset(buf, 0, cap);
	memcpy(buf, json_string_value(j), json_string_length(j));
	return 1;
}

static int get_arg(struct vs_vst_reader *r, const json_t *o, const struct vs_event_arg *arg, uint64_t *v,
		   struct vs_vst_error *err)
{
	const json_t *j = json_object_get(o, arg->name);
	const char *kept;

	*v = arg->kind == VS_ARG_SYN ? VS_SYN_NONE : 0;
	if (j == NULL)
		return VS_OK;
	switch (arg->kind) {
	case VS_ARG_D:
	case VS_ARG_X:
	case VS_ARG_T:
		return to_number(j, v) ? VS_OK : fail(r, err, 0, "\"%s\" is no number", arg->name);
	case VS_ARG_B:
		*v = json_is_true(j);
		return json_is_boolean(j) ? VS_OK : fail(r, err, 0, "\"%s\" is neither true nor false", arg->name);
	case VS_ARG_STR:
		if (!json_is_string(j) || json_string_length(j) != strlen(json_string_value(j)))
			return fail(r, err, 0, "\"%s\" is no text", arg->name);
		kept = vs_texts_keep(r->texts, json_string_value(j));
		*v = (uintptr_t)kept;
		return kept != NULL ? VS_OK : fail(r, err, 0, "no memory");
	default:
		break;
	}
	if (json_is_string(j) && vs_event_unword(arg->kind, json_string_value(j), v))
		return VS_OK;
	return to_number(j, v) ? VS_OK : fail(r, err, 0, "\"%s\" has an unknown value", arg->name);
}

/* ---- header and events ---- */

static int read_header(struct vs_vst_reader *r, struct vs_vst_error *err)
{
	struct vs_vst_header *h = &r->header;
	const json_t *vantage;
	char unit[8] = "";
	int rc = next_line(r, err);
	json_t *o;

	if (rc == 0)
		return fail(r, err, 0, "empty: a .vst file begins with a header line");
	if (rc < 0)
		return rc;
	o = parse_line(r, err);
	if (o == NULL)
		return VS_ERR_INVAL;
	rc = get_text(r, o, "vst", h->version, sizeof(h->version), err);
	if (rc == 0)
		rc = fail(r, err, 0, "no \"vst\" in the first line: this is no .vst file");
	if (rc > 0 && strncmp(h->version, "0.", 2) != 0)
		rc = fail(r, err, 0, "version %s: this program reads 0.*", h->version);
	if (rc > 0)
		rc = get_text(r, o, "unit", unit, sizeof(unit), err);
	if (rc > 0 && strcmp(unit, "ns") != 0)
		rc = fail(r, err, 0, "times in %s: this program reads ns", unit);
	if (rc >= 0)
		rc = get_text(r, o, "clock", h->clock, sizeof(h->clock), err);
	if (rc >= 0)
		rc = get_text(r, o, "build", h->build, sizeof(h->build), err);
	if (rc >= 0)
		rc = get_number(r, o, "seed", &h->seed, err);
	h->has_seed = rc > 0;
	vantage = json_object_get(o, "vantage");
	if (rc >= 0 && vantage != NULL) {
		rc = get_text(r, vantage, "name", h->vantage_name, sizeof(h->vantage_name), err);
		if (rc >= 0)
			rc = get_text(r, vantage, "type", h->vantage_type, sizeof(h->vantage_type), err);
	}
	json_decref(o);
	return rc < 0 ? rc : VS_OK;
}

static int read_common(struct vs_vst_reader *r, const json_t *o, struct vs_event *ev, struct vs_vst_error *err)
{
	uint64_t qpn = 0;
	int rc = get_number(r, o, "seq", &ev->seq, err);

	if (rc == 0)
		rc = fail(r, err, 0, "no \"seq\"");
	if (rc > 0)
		rc = get_number(r, o, "t", &ev->t_ns, err);
	if (rc == 0)
		rc = fail(r, err, 0, "no \"t\"");
	if (rc > 0)
		rc = get_text(r, o, "node", ev->node, sizeof(ev->node), err);
	if (rc >= 0)
		rc = get_number(r, o, "cause", &ev->cause, err);
	if (rc >= 0)
		rc = get_number(r, o, "pkt", &ev->pkt_id, err);
	if (rc >= 0)
		rc = get_number(r, o, "qpn", &qpn, err);
	if (rc > 0 && qpn > 0xffffff)
		rc = fail(r, err, 0, "\"qpn\" is wider than 24 bits");
	if (rc >= 0)
		rc = get_number(r, o, "wr", &ev->wr_id, err);
	ev->has_wr = rc > 0;
	ev->qpn = (uint32_t)qpn;
	ev->inferred = json_is_true(json_object_get(o, "inferred"));
	return rc < 0 ? rc : VS_OK;
}

static int read_event(struct vs_vst_reader *r, const json_t *o, struct vs_event *ev, struct vs_vst_error *err)
{
	const char *name = json_string_value(json_object_get(o, "ev"));
	const struct vs_event_info *info;
	int rc;

	if (name == NULL)
		return fail(r, err, 0, "no \"ev\"");
	rc = read_common(r, o, ev, err);
	ev->type = (uint16_t)vs_event_by_name(name);
	info = vs_event_info((enum vs_event_type)ev->type);
	if (ev->type == VS_EV_NONE) {
		const char *kept = strlen(r->line) == r->len ? vs_texts_keep(r->texts, r->line) : NULL;

		ev->a[0] = (uintptr_t)kept;
		return rc < 0 ? rc : kept != NULL ? VS_OK : fail(r, err, 0, "can't be kept");
	}
	for (unsigned i = 0; rc >= 0 && i < info->nargs; i++)
		rc = get_arg(r, o, &info->args[i], &ev->a[i], err);
	return rc < 0 ? rc : VS_OK;
}

struct vs_vst_reader *vs_vst_open(FILE *f, struct vs_vst_error *err)
{
	struct vs_vst_reader *r = calloc(1, sizeof(*r));
	struct vs_vst_error unused;

	if (err == NULL)
		err = &unused;
	memset(err, 0, sizeof(*err));
	if (r == NULL) {
		snprintf(err->text, sizeof(err->text), "no memory");
		return NULL;
	}
	r->f = f;
	r->texts = vs_texts_new();
	if (r->texts == NULL)
		(void)fail(r, err, 0, "no memory");
	if (r->texts == NULL || read_header(r, err) < 0) {
		vs_vst_close(r);
		return NULL;
	}
	return r;
}

const struct vs_vst_header *vs_vst_header(const struct vs_vst_reader *r)
{
	return &r->header;
}

int vs_vst_next(struct vs_vst_reader *r, struct vs_event *ev, struct vs_vst_error *err)
{
	json_t *o;
	int rc;

	memset(ev, 0, sizeof(*ev));
	if (r->ended)
		return 0;
	rc = next_line(r, err);
	if (rc == 0 || (rc > 0 && r->newline && r->len == 0)) {
		r->ended = rc == 0;
		return rc == 0 ? 0 : fail(r, err, 0, "an empty line");
	}
	if (rc < 0)
		return rc;
	o = parse_line(r, err);
	if (o == NULL) {
		r->ended = r->cut = !r->newline; /* a writer died here */
		return r->cut ? 0 : VS_ERR_INVAL;
	}
	rc = read_event(r, o, ev, err);
	json_decref(o);
	return rc < 0 ? rc : 1;
}

bool vs_vst_cut(const struct vs_vst_reader *r)
{
	return r->cut;
}

void vs_vst_close(struct vs_vst_reader *r)
{
	if (r == NULL)
		return;
	vs_texts_free(r->texts);
	free(r->line);
	free(r);
}
