/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * write.c - an event as one line of JSON, keys always in the same order: who and when, the arguments in the order
 * of events.def, then why. What is written has no choice in it, so that equal runs give equal bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

struct out {
	char *buf;
	size_t cap, len; /* len counts what did not fit too */
	bool inside;     /* the object has a key already */
};

static void put_char(struct out *o, char c)
{
	if (o->len < o->cap)
		o->buf[o->len] = c;
	o->len++;
}

static void put_text(struct out *o, const char *s)
{
	while (*s != '\0')
		put_char(o, *s++);
}

/* By hand: an event is a dozen numbers, and printf takes longer for them than for all the rest. */
static void put_number(struct out *o, uint64_t v, unsigned base)
{
	static const char digit[] = "0123456789abcdef";
	char text[24];
	size_t at = sizeof(text);

	do {
		text[--at] = digit[v % base];
		v /= base;
	} while (v != 0);
	while (at < sizeof(text))
		put_char(o, text[at++]);
}

static void put_decimal(struct out *o, uint64_t v)
{
	put_number(o, v, 10);
}

size_t vs_utf8_len(const unsigned char *s)
{
	size_t n = s[0] < 0x80                   ? 1
		   : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
		   : (s[0] & 0xf0) == 0xe0       ? 3
		   : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
						 : 0;

	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* Overlong forms, surrogates, beyond U+10FFFF. */
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
	    (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

/* At most `room` bytes of text, whole characters: what stands in an array when it is read again. */
static void put_string(struct out *o, const char *text, size_t room)
{
	static const char replacement[] = "\xef\xbf\xbd"; /* of what is no text */
	const unsigned char *s = (const unsigned char *)text;

	put_char(o, '"');
	while (*s != '\0') {
		size_t n = vs_utf8_len(s), takes = n > 0 ? n : sizeof(replacement) - 1;

		if (takes > room)
			break;
		room -= takes;
		if (n == 0) {
			put_text(o, replacement);
			s++;
			continue;
		}
		if (*s == '"' || *s == '\\')
			put_char(o, '\\');
		if (*s < 0x20 || *s == 0x7f) {
			put_text(o, *s < 0x10 ? "\\u000" : "\\u00");
			put_number(o, *s++, 16);
		} else
			for (; n > 0; n--)
				put_char(o, (char)*s++);
	}
	put_char(o, '"');
}

static void put_key(struct out *o, const char *key)
{
	put_text(o, o->inside ? ",\"" : "{\"");
	o->inside = true;
	put_text(o, key);
	put_text(o, "\":");
}

/* Large numbers are texts, so that no reader rounds them. */
static void put_quoted(struct out *o, bool exact, uint64_t v)
{
	if (!exact)
		put_char(o, '"');
	put_decimal(o, v);
	if (!exact)
		put_char(o, '"');
}

static void put_unsigned(struct out *o, const char *key, uint64_t v)
{
	put_key(o, key);
	put_quoted(o, v < VS_EXACT_MAX, v);
}

static void put_signed(struct out *o, const char *key, int64_t v)
{
	bool exact = v < (int64_t)VS_EXACT_MAX && v > -(int64_t)VS_EXACT_MAX;

	put_key(o, key);
	if (!exact)
		put_char(o, '"');
	if (v < 0)
		put_char(o, '-');
	put_decimal(o, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
	if (!exact)
		put_char(o, '"');
}

static void put_hex(struct out *o, const char *key, uint64_t v)
{
	put_key(o, key);
	put_text(o, "\"0x");
	put_number(o, v, 16);
	put_char(o, '"');
}

static void put_named(struct out *o, const char *key, const char *text)
{
	put_key(o, key);
	put_string(o, text, SIZE_MAX);
}

/* Of an array of `cap` bytes. */
static void put_array(struct out *o, const char *key, const char *text, size_t cap)
{
	put_key(o, key);
	put_string(o, text, cap - 1);
}

static void put_arg(struct out *o, const struct vs_event_arg *arg, uint64_t v)
{
	const char *word;
	char buf[32];

	switch (arg->kind) {
	case VS_ARG_D:
		put_signed(o, arg->name, (int64_t)v);
		return;
	case VS_ARG_X:
		put_hex(o, arg->name, v);
		return;
	case VS_ARG_T:
		put_key(o, arg->name);
		put_quoted(o, false, v);
		return;
	case VS_ARG_B:
		put_key(o, arg->name);
		put_text(o, v != 0 ? "true" : "false");
		return;
	case VS_ARG_STR:
		if (v != 0)
			put_named(o, arg->name, (const char *)(uintptr_t)v);
		return;
	default:
		break;
	}
	if ((arg->kind == VS_ARG_SYN && v == VS_SYN_NONE) || (arg->kind == VS_ARG_RSN && v == 0))
		return;
	word = vs_event_word(arg->kind, v, buf);
	if (word != NULL)
		put_named(o, arg->name, word);
	else
		put_unsigned(o, arg->name, v);
}

static int finish(struct out *o)
{
	if (o->len >= o->cap || o->len > VS_VST_LINE_MAX)
		return VS_ERR_NOSPACE;
	o->buf[o->len] = '\0';
	return (int)o->len;
}

static void put_event(struct out *o, const struct vs_event *ev)
{
	const struct vs_event_info *info = vs_event_info((enum vs_event_type)ev->type);

	put_unsigned(o, "seq", ev->seq);
	put_key(o, "t");
	put_quoted(o, false, ev->t_ns);
	put_array(o, "node", ev->node, sizeof(ev->node));
	put_named(o, "ev", info->name);
	if (ev->qpn != 0)
		put_hex(o, "qpn", ev->qpn);
	if (ev->has_wr)
		put_unsigned(o, "wr", ev->wr_id);
	if (ev->pkt_id != 0)
		put_unsigned(o, "pkt", ev->pkt_id);
	for (unsigned i = 0; i < info->nargs; i++)
		put_arg(o, &info->args[i], ev->a[i]);
	if (ev->cause != 0)
		put_unsigned(o, "cause", ev->cause);
	if (ev->inferred) {
		put_key(o, "inferred");
		put_text(o, "true");
	}
	put_char(o, '}');
}

int vs_vst_format(const struct vs_event *ev, char *buf, size_t cap)
{
	struct out o = {buf, cap, 0, false};

	if (ev->type == VS_EV_NONE && ev->a[0] != 0)
		put_text(&o, (const char *)(uintptr_t)ev->a[0]); /* read as it stood, not understood */
	else
		put_event(&o, ev);
	return finish(&o);
}

int vs_vst_format_header(const struct vs_vst_header *h, char *buf, size_t cap)
{
	struct out o = {buf, cap, 0, false};

	put_array(&o, "vst", h->version[0] != '\0' ? h->version : VS_VST_VERSION, sizeof(h->version));
	put_array(&o, "clock", h->clock, sizeof(h->clock));
	put_named(&o, "unit", "ns");
	if (h->vantage_name[0] != '\0' || h->vantage_type[0] != '\0') {
		put_key(&o, "vantage");
		o.inside = false;
		put_array(&o, "name", h->vantage_name, sizeof(h->vantage_name));
		put_array(&o, "type", h->vantage_type, sizeof(h->vantage_type));
		put_char(&o, '}');
	}
	put_array(&o, "build", h->build, sizeof(h->build));
	if (h->has_seed) {
		put_key(&o, "seed");
		put_quoted(&o, false, h->seed);
	}
	put_char(&o, '}');
	return finish(&o);
}

static int put_line(const char *line, int len, FILE *f)
{
	return fwrite(line, 1, (size_t)len, f) == (size_t)len && putc('\n', f) != EOF ? VS_OK : VS_ERR_IO;
}

int vs_vst_put_header(const struct vs_vst_header *h, FILE *f)
{
	char line[16 * VS_VST_TEXT];
	int n = vs_vst_format_header(h, line, sizeof(line));

	return n < 0 ? n : put_line(line, n, f);
}

int vs_vst_put(const struct vs_event *ev, FILE *f)
{
	char line[1024], *longer;
	int n = vs_vst_format(ev, line, sizeof(line)), rc;

	if (n >= 0)
		return put_line(line, n, f);
	longer = malloc(VS_VST_LINE_MAX + 1);
	if (longer == NULL)
		return VS_ERR_NOSPACE;
	n = vs_vst_format(ev, longer, VS_VST_LINE_MAX + 1);
	rc = n < 0 ? n : put_line(longer, n, f);
	free(longer);
	return rc;
}
