/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * format.c - a rule as text, in one normal form: action and its number, count, what, where, time.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

struct out {
	char *buf;
	size_t cap, len; /* len counts what did not fit too */
};

static void put(struct out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void put(struct out *o, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(o->len < o->cap ? o->buf + o->len : NULL, o->len < o->cap ? o->cap - o->len : 0, fmt, ap);
	va_end(ap);
	if (n > 0)
		o->len += (size_t)n;
}

static void put_action(struct out *o, const struct vs_fault_rule *r)
{
	put(o, "%s", vs_fault_action_word[r->action]);
	if (r->action == VS_FAULT_DUP && r->times != 1)
		put(o, " x%" PRIu32, r->times);
	if (r->action == VS_FAULT_REORDER && r->times != 1)
		put(o, " %" PRIu32, r->times);
	if (r->action == VS_FAULT_CORRUPT && r->corrupt_bit >= 0)
		put(o, " bit=%" PRId32, r->corrupt_bit);
	if (r->action == VS_FAULT_CORRUPT && r->corrupt_bit == VS_CORRUPT_ICRC)
		put(o, " icrc");
}

static const char *ordinal(uint64_t n)
{
	static const char *const suffix[] = {"th", "st", "nd", "rd"};

	return n % 100 >= 11 && n % 100 <= 13 ? "th" : n % 10 <= 3 ? suffix[n % 10] : "th";
}

/* 20000 -> 2, 5000 -> 0.5: a millionth is four decimals of a per cent. */
static void put_percent(struct out *o, uint32_t per_million)
{
	uint32_t part = per_million % 10000;
	int digits = 4;

	put(o, " %" PRIu32, per_million / 10000);
	while (part != 0 && part % 10 == 0) {
		part /= 10;
		digits--;
	}
	if (part != 0)
		put(o, ".%0*" PRIu32, digits, part);
	put(o, "%%");
}

static void put_count(struct out *o, const struct vs_fault_rule *r)
{
	switch (r->count) {
	case VS_COUNT_ALL:
		if (r->what == VS_WHAT_ANY)
			put(o, " all");
		break;
	case VS_COUNT_RANGE:
		if (r->first == r->last)
			put(o, " %" PRIu64 "%s", r->first, ordinal(r->first));
		else if (r->first == 1)
			put(o, " first %" PRIu64, r->last);
		else
			put(o, " %" PRIu64 "..%" PRIu64, r->first, r->last);
		break;
	case VS_COUNT_EVERY:
		put(o, " every %" PRIu64, r->first);
		break;
	case VS_COUNT_PERCENT:
		put_percent(o, r->per_million);
		break;
	}
	if (r->what != VS_WHAT_ANY)
		put(o, " %s", vs_fault_what_word(r->what));
}

static void put_time(struct out *o, uint64_t ns)
{
	static const struct {
		uint64_t ns;
		const char *name;
	} unit[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}, {1, "ns"}};
	size_t i = 0;

	while (ns % unit[i].ns != 0)
		i++;
	if (ns == 0)
		i = 3;
	put(o, " by %" PRIu64 "%s", ns / unit[i].ns, unit[i].name);
}

size_t vs_fault_text(const struct vs_fault_rule *r, char *buf, size_t cap)
{
	struct out o = {buf, cap, 0};

	put_action(&o, r);
	put_count(&o, r);
	if (r->from[0] != '\0')
		put(&o, " from %s", r->from);
	if (r->to[0] != '\0')
		put(&o, " to %s", r->to);
	if (r->has_qpn)
		put(&o, " qp=0x%" PRIx32, r->qpn);
	if (r->has_psn && r->psn_first == r->psn_last)
		put(&o, " psn=0x%" PRIx32, r->psn_first);
	else if (r->has_psn)
		put(&o, " psn=0x%" PRIx32 "..0x%" PRIx32, r->psn_first, r->psn_last);
	if (r->iter != 0)
		put(&o, " iter=%" PRIu32, r->iter);
	if (r->action == VS_FAULT_DELAY || r->action == VS_FAULT_HOLD)
		put_time(&o, r->time_ns);
	return o.len;
}

int vs_fault_format(const struct vs_fault_rule *r, char *buf, size_t cap)
{
	char own[VS_FAULT_NAME];
	size_t name = 0, len;

	vs_fault_text(r, own, sizeof(own));
	if (r->name[0] != '\0' && strcmp(own, r->name) != 0)
		name = strlen(r->name) + 2;
	len = vs_fault_text(r, NULL, 0);
	if (name + len >= cap || name + len > INT32_MAX)
		return VS_ERR_NOSPACE;
	if (name > 0)
		snprintf(buf, cap, "%s: ", r->name);
	vs_fault_text(r, buf + name, cap - name);
	return (int)(name + len);
}
