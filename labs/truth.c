/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * truth.c - what is right is computed, never typed. A lab's file `truth` has a line for each question:
 *
 *   1 must = count[pkt:tx node=ref0]             must: the learner has to have it right
 *   2 ~ {len} * 8 / {rate}                       two digits are enough
 *   3 ? a count[pkt:tx] == 0 ; b 1               the first alternative that is not 0
 *
 * Expressions have numbers, + - * / ( ), comparisons, max( , ), pow( , ), ceil( ), reason( ) and status( ), which give
 * the name of that number, {names} (words.c), and what the
 * record of the run has: count[EVENT KEY=VALUE KEY!=VALUE ...], and first, second, last, sum, min, max [EVENT KEY=VALUE
 * ... .FIELD]. Events and fields have the names of the .vst form (vs/vst.h); * stands for any text. out[NAME] is what
 * the program printed behind "NAME:".
 */
#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "vs/cq.h"
#include "vs/reason.h"
#include "vs/vst.h"
#include "vslab.h"

struct value {
	double number;
	char text[VL_TEXT]; /* "": it is a number */
};
struct reader {
	const char *at;
	json_t **event;
	size_t n;
	const char *output;
	bool wrong;
};

static struct value sum(struct reader *r);

static void blank(struct reader *r)
{
	while (*r->at == ' ' || *r->at == '\t')
		r->at++;
}

static bool punct(struct reader *r, const char *p)
{
	blank(r);
	if (strncmp(r->at, p, strlen(p)) != 0)
		return false;
	r->at += strlen(p);
	return true;
}

static bool fits(const char *pattern, const char *text)
{
	for (; *pattern != '\0'; pattern++, text++) {
		if (*pattern == '*') {
			for (; *text != '\0'; text++)
				if (fits(pattern + 1, text))
					return true;
			return pattern[1] == '\0';
		}
		if (*pattern != *text)
			return false;
	}
	return *text == '\0';
}

static void field_text(const json_t *event, const char *name, char out[VL_TEXT])
{
	const json_t *v = json_object_get(event, name);

	out[0] = '\0';
	if (json_is_string(v))
		(void)snprintf(out, VL_TEXT, "%s", json_string_value(v));
	else if (json_is_integer(v))
		(void)snprintf(out, VL_TEXT, "%lld", (long long)json_integer_value(v));
	else if (v != NULL)
		(void)snprintf(out, VL_TEXT, "%s", json_is_true(v) ? "true" : "false");
}

/* "0x1f", "12": a number; "ACK": a text */
static struct value value_of(const char *text)
{
	struct value v = {.text = ""};
	char *end;

	v.number = strtod(text, &end);
	if (end == text || *end != '\0') {
		v.number = 0;
		(void)snprintf(v.text, sizeof(v.text), "%s", text);
	}
	return v;
}

static bool chosen(const json_t *event, char *const word[], unsigned n)
{
	char text[VL_TEXT];

	field_text(event, "ev", text);
	if (n == 0 || !fits(word[0], text))
		return false;
	for (unsigned i = 1; i < n; i++) {
		char key[32], *eq = strchr(word[i], '=');
		bool unlike;

		if (eq == NULL || eq == word[i])
			return false;
		unlike = eq[-1] == '!';
		(void)snprintf(key, sizeof(key), "%.*s", (int)(eq - word[i]) - unlike, word[i]);
		field_text(event, key, text);
		if (fits(eq + 1, text) == unlike)
			return false;
	}
	return true;
}

bool vl_event_fits(const struct vs_event *ev, const char *filter)
{
	char line[8192], words[VL_TEXT], *word[12], *save = NULL;
	unsigned n = 0;
	json_t *event = NULL;
	bool fit;

	(void)snprintf(words, sizeof(words), "%s", filter);
	for (char *w = strtok_r(words, " ", &save); w != NULL && n < 12; w = strtok_r(NULL, " ", &save))
		word[n++] = w;
	if (n == 0 || !fits(word[0], vs_event_info((enum vs_event_type)ev->type)->name)) /* most are not */
		return false;
	if (vs_vst_format(ev, line, sizeof(line)) > 0)
		event = json_loads(line, 0, NULL);
	fit = event != NULL && chosen(event, word, n);
	json_decref(event);
	return fit;
}

static struct value over_events(struct reader *r, const char *name, char *filter)
{
	char *word[12], *save = NULL, text[VL_TEXT];
	const char *field = NULL;
	struct value v = {.number = 0}, x;
	unsigned n = 0, found = 0;

	for (char *w = strtok_r(filter, " ", &save); w != NULL && n < 12; w = strtok_r(NULL, " ", &save)) {
		if (*w == '.')
			field = w + 1;
		else
			word[n++] = w;
	}
	for (size_t i = 0; i < r->n; i++) {
		if (!chosen(r->event[i], word, n))
			continue;
		field_text(r->event[i], field != NULL ? field : "seq", text);
		x = value_of(text);
		found++;
		if (strcmp(name, "count") == 0)
			v.number = found;
		else if (strcmp(name, "sum") == 0)
			v.number += x.number;
		else if (strcmp(name, "last") == 0 || found == 1 || (found == 2 && strcmp(name, "second") == 0) ||
			 (strcmp(name, "min") == 0 && x.number < v.number) ||
			 (strcmp(name, "max") == 0 && x.number > v.number))
			v = x;
	}
	return v;
}

static struct value printed(const struct reader *r, const char *name)
{
	size_t len = strlen(name);
	char text[VL_TEXT];

	for (const char *at = r->output; at != NULL && *at != '\0';) {
		size_t n = strcspn(at, "\n");

		if (n > len && memcmp(at, name, len) == 0 && at[len] == ':') {
			size_t skip = len + 1 + strspn(at + len + 1, " ");

			(void)snprintf(text, sizeof(text), "%.*s", (int)(n > skip ? n - skip : 0), at + skip);
			return value_of(text);
		}
		at += n + (at[n] == '\n');
	}
	return (struct value){.number = 0};
}

/* NAME[...] or NAME(...) */
static struct value call(struct reader *r)
{
	char name[16] = "", inside[VL_TEXT];
	size_t n = 0, len;
	struct value v = {.number = 0}, w;

	while (isalpha((unsigned char)*r->at) && n + 1 < sizeof(name))
		name[n++] = *r->at++;
	name[n] = '\0';
	if (*r->at == '[') {
		len = strcspn(r->at, "]");
		(void)snprintf(inside, sizeof(inside), "%.*s", (int)len - 1, r->at + 1);
		r->wrong |= r->at[len] != ']' || len > sizeof(inside);
		r->at += len + (r->at[len] == ']');
		return strcmp(name, "out") == 0 ? printed(r, inside) : over_events(r, name, inside);
	}
	if (!punct(r, "(")) {
		r->wrong = true;
		return v;
	}
	v = sum(r);
	if (strcmp(name, "reason") == 0) {
		v = value_of(vs_reason_info((enum vs_reason)v.number)->id);
	} else if (strcmp(name, "status") == 0) {
		v = value_of(vs_wc_status_name((enum vs_wc_status)v.number));
	} else if (strcmp(name, "ceil") == 0) {
		v.number = ceil(v.number);
	} else if (strcmp(name, "max") == 0 && punct(r, ",")) {
		w = sum(r);
		v = w.number > v.number ? w : v;
	} else if (strcmp(name, "pow") == 0 && punct(r, ",")) {
		v.number = pow(v.number, sum(r).number);
	} else {
		r->wrong = true;
	}
	r->wrong |= !punct(r, ")");
	return v;
}

static struct value factor(struct reader *r)
{
	struct value v = {.number = 0};
	char *end;

	if (punct(r, "(")) {
		v = sum(r);
		r->wrong |= !punct(r, ")");
	} else if (isalpha((unsigned char)*r->at)) {
		v = call(r);
	} else if (punct(r, "\"")) {
		(void)snprintf(v.text, sizeof(v.text), "%.*s", (int)strcspn(r->at, "\""), r->at);
		r->at += strcspn(r->at, "\"");
		r->wrong |= !punct(r, "\"");
	} else {
		v.number = strtod(r->at, &end);
		r->wrong |= end == r->at;
		r->at = end;
	}
	return v;
}

static struct value product(struct reader *r)
{
	struct value v = factor(r);

	for (;;) {
		if (punct(r, "*"))
			v.number *= factor(r).number;
		else if (punct(r, "/"))
			v.number /= factor(r).number;
		else
			return v;
	}
}

static struct value sum(struct reader *r)
{
	struct value v = product(r);

	for (;;) {
		if (punct(r, "+"))
			v.number += product(r).number;
		else if (punct(r, "-"))
			v.number -= product(r).number;
		else
			return v;
	}
}

static struct value comparison(struct reader *r)
{
	struct value a = sum(r), b;
	bool both;

	blank(r);
	for (unsigned i = 0; i < 4; i++) {
		static const char *const how[] = {"==", "!=", "<", ">"};

		if (!punct(r, how[i]))
			continue;
		b = sum(r);
		both = a.number == b.number && strcmp(a.text, b.text) == 0;
		a = (struct value){.number = i == 0   ? both
					     : i == 1 ? !both
					     : i == 2 ? a.number < b.number
						      : a.number > b.number};
		break;
	}
	return a;
}

static void put(const struct value *v, char out[VL_TEXT])
{
	if (v->text[0] != '\0')
		(void)snprintf(out, VL_TEXT, "%s", v->text);
	else
		(void)snprintf(out, VL_TEXT, "%.9g", v->number);
}

/* "a EXPR ; b EXPR": the name of the first that holds */
static void choose(struct reader *r, char out[VL_TEXT])
{
	out[0] = '\0';
	do {
		char name[32] = "";
		size_t n;
		struct value v;

		blank(r);
		n = strcspn(r->at, " ");
		(void)snprintf(name, sizeof(name), "%.*s", (int)n, r->at);
		r->at += n;
		v = comparison(r);
		if (out[0] == '\0' && (v.number != 0 || v.text[0] != '\0'))
			(void)snprintf(out, VL_TEXT, "%s", name);
	} while (punct(r, ";"));
}

static bool read_line(struct reader *r, struct vl_truth *t)
{
	char *end;
	struct value v;

	*t = (struct vl_truth){.question = (unsigned)strtoul(r->at, &end, 10)};
	r->at = end;
	t->must = punct(r, "must");
	if (punct(r, "?")) {
		choose(r, t->value);
	} else {
		t->rounded = punct(r, "~");
		r->wrong |= !t->rounded && !punct(r, "=");
		v = comparison(r);
		put(&v, t->value);
	}
	blank(r);
	return !r->wrong && *r->at == '\0' && t->question > 0 && t->question < VL_QUESTIONS && t->value[0] != '\0';
}

static void take_events(struct reader *r, const struct vs_record *record)
{
	size_t n = 0;
	const struct vs_event *ev = record != NULL ? vs_record_events(record, &n) : NULL;
	char line[8192];

	r->event = calloc(n + 1, sizeof(json_t *));
	for (size_t i = 0; r->event != NULL && i < n; i++)
		if (ev[i].type != VS_EV_MEM_BYTES && vs_vst_format(&ev[i], line, sizeof(line)) > 0 &&
		    (r->event[r->n] = json_loads(line, 0, NULL)) != NULL)
			r->n++;
}

static void drop_events(struct reader *r)
{
	for (size_t i = 0; i < r->n; i++)
		json_decref(r->event[i]);
	free((void *)r->event);
}

int vl_claim(const char *claim, const struct vs_record *record, const char *output, char left[VL_TEXT],
	     char right[VL_TEXT])
{
	struct reader r = {.at = claim, .output = output};
	struct value a, b = {.number = 0};

	take_events(&r, record);
	a = sum(&r);
	r.wrong |= !punct(&r, "==");
	if (!r.wrong)
		b = sum(&r);
	blank(&r);
	put(&a, left);
	put(&b, right);
	drop_events(&r);
	if (r.wrong || *r.at != '\0')
		return -1;
	return a.number == b.number && strcmp(a.text, b.text) == 0;
}

int vl_truths(const struct vl_lab *lab, uint32_t seed, const struct vs_record *record, const char *output,
	      struct vl_truth t[VL_QUESTIONS])
{
	char path[PATH_MAX], *raw, *text, *save = NULL;
	struct reader r = {.output = output};
	int n = 0;

	memset(t, 0, VL_QUESTIONS * sizeof(t[0]));
	(void)snprintf(path, sizeof(path), "%.*s/truth", PATH_MAX - 8, lab->dir);
	raw = vl_read(path, NULL);
	text = raw != NULL ? vl_fill(lab, seed, raw) : NULL;
	free(raw);
	if (text == NULL) {
		vl_complain("%s can't be read", path);
		return -1;
	}
	take_events(&r, record);
	for (char *line = strtok_r(text, "\n", &save); line != NULL && n >= 0; line = strtok_r(NULL, "\n", &save)) {
		struct vl_truth one;

		if (*line == '#' || *line == '\0')
			continue;
		r.at = line;
		if (!read_line(&r, &one)) {
			vl_complain("%s: can't be understood: %s (at: %s)", path, line, r.at);
			n = -1;
			break;
		}
		t[one.question] = one;
		n++;
	}
	drop_events(&r);
	free(text);
	return n;
}
