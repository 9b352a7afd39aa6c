/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * parse.c - the notation of vs/fault.h, word by word.
 *
 *   [NAME ':'] ACTION word...
 *
 * After the action the words may stand in any order, each kind once. An error names its column and what
 * could have stood there.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"
#include "vs/psn.h"

#define TEXT_MAX 1024 /* longer than any sensible rule */

struct scan {
	const char *text;
	size_t len, pos;
	const char *word; /* the one just read */
	size_t wlen;
	struct vs_fault_rule *rule;
	struct vs_fault_error *err;
	bool has_times, has_count, has_what, has_time, has_corrupt, has_from, has_to;
};

static int fail_at(struct scan *s, const char *at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static int fail_at(struct scan *s, const char *at, const char *fmt, ...)
{
	va_list ap;

	s->err->column = (unsigned)(at - s->text) + 1;
	va_start(ap, fmt);
	vsnprintf(s->err->text, sizeof(s->err->text), fmt, ap);
	va_end(ap);
	return VS_ERR_INVAL;
}

/* At most 24 bytes of the word, so that every message fits; control characters are shown as dots. */
#define SHOWN 24
struct shown {
	char text[SHOWN + 4];
};
static struct shown show(const char *word, size_t len)
{
	struct shown v;
	size_t n = len < SHOWN ? len : SHOWN;

	for (size_t i = 0; i < n; i++)
		v.text[i] = (unsigned char)word[i] >= 0x20 && (unsigned char)word[i] < 0x7f ? word[i] : '.';
	memcpy(v.text + n, n < len ? "..." : "", n < len ? 4 : 1);
	return v;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool next_word(struct scan *s)
{
	while (s->pos < s->len && is_blank(s->text[s->pos]))
		s->pos++;
	s->word = s->text + s->pos;
	while (s->pos < s->len && !is_blank(s->text[s->pos]))
		s->pos++;
	s->wlen = (size_t)(s->text + s->pos - s->word);
	return s->wlen > 0;
}

static bool word_is(const struct scan *s, const char *w)
{
	return strlen(w) == s->wlen && memcmp(s->word, w, s->wlen) == 0;
}

static bool word_begins(const struct scan *s, const char *w)
{
	return strlen(w) <= s->wlen && memcmp(s->word, w, strlen(w)) == 0;
}

/* Bytes of a number, decimal or 0x hex, at the beginning of w; 0: none, or too large. */
static size_t number(const char *w, size_t len, uint64_t *v)
{
	unsigned base = 10;
	size_t i = 0, first = 0;

	if (len > 2 && w[0] == '0' && (w[1] == 'x' || w[1] == 'X')) {
		base = 16;
		first = i = 2;
	}
	for (*v = 0; i < len; i++) {
		unsigned d;

		if (w[i] >= '0' && w[i] <= '9')
			d = (unsigned)(w[i] - '0');
		else if (base == 16 && w[i] >= 'a' && w[i] <= 'f')
			d = (unsigned)(w[i] - 'a' + 10);
		else if (base == 16 && w[i] >= 'A' && w[i] <= 'F')
			d = (unsigned)(w[i] - 'A' + 10);
		else
			break;
		if (*v > (UINT64_MAX - d) / base)
			return 0;
		*v = *v * base + d;
	}
	return i > first ? i : 0;
}

/* The whole of w[0..len) is a number in min .. max. */
static bool whole_number(const char *w, size_t len, uint64_t min, uint64_t max, uint64_t *v)
{
	return len > 0 && number(w, len, v) == len && *v >= min && *v <= max;
}

/* "12.5" with at most `places` decimals, as an integer of units 10^-places; bytes, 0: no. */
static size_t decimal(const char *w, size_t len, unsigned places, uint64_t *v)
{
	size_t i = 0;
	unsigned left = places;
	bool digits = false, point = false;

	for (*v = 0; i < len; i++) {
		if (w[i] == '.' && !point && i + 1 < len && w[i + 1] >= '0' && w[i + 1] <= '9') {
			point = true;
			continue;
		}
		if (w[i] < '0' || w[i] > '9')
			break;
		if (point && left-- == 0)
			return 0;
		if (*v > (INT64_MAX - 9) / 10)
			return 0;
		*v = *v * 10 + (unsigned)(w[i] - '0');
		digits = true;
	}
	for (; left > 0; left--) {
		if (*v > INT64_MAX / 10)
			return 0;
		*v *= 10;
	}
	return digits ? i : 0;
}

/* "3ms": 1 it is a time, 0 no, negative: a time that can't be. */
static int parse_time(const char *w, size_t len, uint64_t *ns)
{
	static const struct {
		const char *name;
		unsigned places;
	} unit[] = {{"ns", 0}, {"us", 3}, {"ms", 6}, {"s", 9}};

	for (size_t u = 0; u < 4; u++) {
		size_t n = strlen(unit[u].name), d;

		if (len <= n || memcmp(w + len - n, unit[u].name, n) != 0)
			continue;
		if (w[len - n - 1] < '0' || w[len - n - 1] > '9')
			continue;
		d = decimal(w, len - n, unit[u].places, ns);
		if (d == len - n)
			return 1;
		return w[0] >= '0' && w[0] <= '9' ? VS_ERR_INVAL : 0;
	}
	return 0;
}

/* A value that is missing, or no number in the range. */
static int number_after(struct scan *s, const char *what, uint64_t min, uint64_t max, uint64_t *v)
{
	if (!next_word(s))
		return fail_at(s, s->word, "a number is missing after '%s'", what);
	if (!whole_number(s->word, s->wlen, min, max, v))
		return fail_at(s, s->word, "'%s': expected a number from %llu after '%s'", show(s->word, s->wlen).text,
			       (unsigned long long)min, what);
	return 1;
}

static int once(struct scan *s, bool *seen, const char *what)
{
	if (*seen)
		return fail_at(s, s->word, "'%s': %s is given already", show(s->word, s->wlen).text, what);
	*seen = true;
	return 1;
}

/* ---- counts ---- */

static int set_range(struct scan *s, uint64_t first, uint64_t last)
{
	if (first == 0 || last < first)
		return fail_at(s, s->word, "'%s': counts begin with 1 and must not fall", show(s->word, s->wlen).text);
	s->rule->count = VS_COUNT_RANGE;
	s->rule->first = first;
	s->rule->last = last;
	return once(s, &s->has_count, "a count");
}

static int try_ordinal(struct scan *s, uint64_t n, const char *rest, size_t len)
{
	if (len == 2 && (memcmp(rest, "st", 2) == 0 || memcmp(rest, "nd", 2) == 0 || memcmp(rest, "rd", 2) == 0 ||
			 memcmp(rest, "th", 2) == 0))
		return set_range(s, n, n);
	return 0;
}

static int try_percent(struct scan *s)
{
	uint64_t v;

	if (s->word[s->wlen - 1] != '%')
		return 0;
	if (s->wlen == 1 || decimal(s->word, s->wlen - 1, 4, &v) != s->wlen - 1 || v > 1000000)
		return fail_at(s, s->word, "'%s': expected 0%% to 100%% with at most four decimals",
			       show(s->word, s->wlen).text);
	s->rule->count = VS_COUNT_PERCENT;
	s->rule->per_million = (uint32_t)v;
	return once(s, &s->has_count, "a count");
}

/* 1: it was a count; 0: no; negative: an error. */
static int try_count(struct scan *s)
{
	uint64_t n = 0, m;
	size_t used;
	int rc;

	if (word_is(s, "all"))
		return once(s, &s->has_count, "a count");
	if (word_is(s, "first")) {
		rc = once(s, &s->has_count, "a count");
		if (rc > 0)
			rc = number_after(s, "first", 1, UINT64_MAX, &n);
		if (rc < 0)
			return rc;
		s->has_count = false;
		return set_range(s, 1, n);
	}
	if (word_is(s, "every")) {
		rc = once(s, &s->has_count, "a count");
		if (rc > 0)
			rc = number_after(s, "every", 1, UINT64_MAX, &n);
		if (rc < 0)
			return rc;
		s->rule->count = VS_COUNT_EVERY;
		s->rule->first = n;
		return 1;
	}
	rc = try_percent(s);
	if (rc != 0)
		return rc;
	used = number(s->word, s->wlen, &n);
	if (used == 0)
		return 0;
	rc = try_ordinal(s, n, s->word + used, s->wlen - used);
	if (rc != 0)
		return rc;
	if (s->wlen - used > 2 && memcmp(s->word + used, "..", 2) == 0 &&
	    whole_number(s->word + used + 2, s->wlen - used - 2, 0, UINT64_MAX, &m))
		return set_range(s, n, m);
	return 0;
}

/* ---- what an action takes ---- */

static int try_times(struct scan *s)
{
	struct vs_fault_rule *r = s->rule;
	bool dup = r->action == VS_FAULT_DUP;
	size_t skip = dup ? 1 : 0;
	uint64_t n;

	if (!dup && r->action != VS_FAULT_REORDER)
		return 0;
	if (dup && s->word[0] != 'x')
		return 0;
	if (number(s->word + skip, s->wlen - skip, &n) != s->wlen - skip)
		return 0;
	if (n < 1 || n > 1000)
		return fail_at(s, s->word, "'%s': expected 1 to 1000", show(s->word, s->wlen).text);
	r->times = (uint32_t)n;
	return once(s, &s->has_times, dup ? "the number of copies" : "the number of packets that pass");
}

static int try_corrupt(struct scan *s)
{
	uint64_t n;

	if (s->rule->action != VS_FAULT_CORRUPT)
		return 0;
	if (word_is(s, "icrc")) {
		s->rule->corrupt_bit = VS_CORRUPT_ICRC;
		return once(s, &s->has_corrupt, "what to corrupt");
	}
	if (!word_begins(s, "bit="))
		return 0;
	if (!whole_number(s->word + 4, s->wlen - 4, 0, VS_CORRUPT_BITS - 1, &n))
		return fail_at(s, s->word + 4, "'%s': expected a bit number, 0 to %d, counted from the BTH",
			       show(s->word + 4, s->wlen - 4).text, VS_CORRUPT_BITS - 1);
	s->rule->corrupt_bit = (int32_t)n;
	return once(s, &s->has_corrupt, "what to corrupt");
}

static int try_time(struct scan *s)
{
	bool by = word_is(s, "by");
	int rc;

	if (s->rule->action != VS_FAULT_DELAY && s->rule->action != VS_FAULT_HOLD)
		return 0;
	if (by && !next_word(s))
		return fail_at(s, s->word, "a time is missing after 'by': a number with ns, us, ms or s");
	rc = parse_time(s->word, s->wlen, &s->rule->time_ns);
	if (rc < 0 || (by && rc == 0))
		return fail_at(s, s->word, "'%s': expected a time: a number with ns, us, ms or s",
			       show(s->word, s->wlen).text);
	return rc == 0 ? 0 : once(s, &s->has_time, "the time");
}

/* ---- where ---- */

static int parse_node(struct scan *s, bool *seen, const char *what, char node[VS_FAULT_NODE])
{
	int rc = once(s, seen, what);

	if (rc < 0)
		return rc;
	if (!next_word(s))
		return fail_at(s, s->word, "the name of a node is missing after '%s'", what);
	if (s->wlen >= VS_FAULT_NODE || memchr(s->word, '\0', s->wlen) != NULL)
		return fail_at(s, s->word, "'%s': names of nodes have at most %d bytes", show(s->word, s->wlen).text,
			       VS_FAULT_NODE - 1);
	memset(node, 0, VS_FAULT_NODE);
	memcpy(node, s->word, s->wlen);
	return 1;
}

static int parse_psn(struct scan *s, const char *v, size_t len)
{
	struct vs_fault_rule *r = s->rule;
	uint64_t first, last;
	size_t n = number(v, len, &first);
	int rc;

	last = first;
	if (n > 0 && n < len && len - n > 2 && memcmp(v + n, "..", 2) == 0)
		n = number(v + n + 2, len - n - 2, &last) == len - n - 2 ? len : 0;
	if (n != len || n == 0 || first > VS_PSN_MASK || last > VS_PSN_MASK ||
	    vs_psn_lt((uint32_t)last, (uint32_t)first))
		return fail_at(s, v, "'%s': expected a PSN of 24 bits, or two as N..M, the first not after the second",
			       show(v, len).text);
	rc = once(s, &r->has_psn, "psn=");
	r->psn_first = (uint32_t)first;
	r->psn_last = (uint32_t)last;
	return rc;
}

static int try_where(struct scan *s)
{
	struct vs_fault_rule *r = s->rule;
	uint64_t n;

	if (word_is(s, "from"))
		return parse_node(s, &s->has_from, "from", r->from);
	if (word_is(s, "to"))
		return parse_node(s, &s->has_to, "to", r->to);
	if (word_begins(s, "psn="))
		return parse_psn(s, s->word + 4, s->wlen - 4);
	if (word_begins(s, "qp=")) {
		if (!whole_number(s->word + 3, s->wlen - 3, 0, 0xffffff, &n))
			return fail_at(s, s->word + 3, "'%s': expected a QP number of 24 bits",
				       show(s->word + 3, s->wlen - 3).text);
		r->qpn = (uint32_t)n;
		return once(s, &r->has_qpn, "qp=");
	}
	if (word_begins(s, "iter=")) {
		bool given = r->iter != 0;

		if (!whole_number(s->word + 5, s->wlen - 5, 1, UINT32_MAX, &n))
			return fail_at(s, s->word + 5, "'%s': expected a number from 1",
				       show(s->word + 5, s->wlen - 5).text);
		r->iter = (uint32_t)n;
		return once(s, &given, "iter=");
	}
	return 0;
}

static int try_what(struct scan *s)
{
	struct scan both = *s;
	uint32_t what;

	/* "UD SEND_ONLY" is "UD_SEND_ONLY". */
	if (word_is(s, "RC") || word_is(s, "UC") || word_is(s, "UD") || word_is(s, "XRC")) {
		char joined[40];
		size_t n = s->wlen;

		if (!next_word(&both) || n + 1 + both.wlen > sizeof(joined))
			return fail_at(s, both.word, "an opcode is missing after '%.*s'", (int)n, s->word);
		memcpy(joined, s->word, n);
		joined[n] = '_';
		memcpy(joined + n + 1, both.word, both.wlen);
		if (!vs_fault_what_parse(joined, n + 1 + both.wlen, &what))
			return fail_at(s, both.word, "'%s': expected an opcode of %.*s",
				       show(both.word, both.wlen).text, (int)n, s->word);
		*s = both;
	} else if (!vs_fault_what_parse(s->word, s->wlen, &what)) {
		return 0;
	}
	s->rule->what = what;
	return once(s, &s->has_what, "a class of packets");
}

/* ---- the whole ---- */

static int parse_name(struct scan *s)
{
	size_t n = s->wlen - 1;

	if (n == 0 || n >= VS_FAULT_NAME)
		return fail_at(s, s->word, "a name has 1 to %d bytes", VS_FAULT_NAME - 1);
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)s->word[i] <= 0x20 || s->word[i] == 0x7f || s->word[i] == ':')
			return fail_at(s, s->word + i, "a name has no control characters and no ':'");
	memcpy(s->rule->name, s->word, n);
	return next_word(s) ? 1 : fail_at(s, s->word, "an action is missing after the name");
}

static int parse_action(struct scan *s)
{
	for (unsigned a = 0; a <= VS_FAULT_HOLD; a++) {
		if (!word_is(s, vs_fault_action_word[a]))
			continue;
		s->rule->action = (enum vs_fault_action)a;
		s->rule->times = a == VS_FAULT_DUP || a == VS_FAULT_REORDER ? 1 : 0;
		s->rule->corrupt_bit = a == VS_FAULT_CORRUPT ? VS_CORRUPT_ANY : 0;
		return 1;
	}
	return fail_at(s, s->word, "'%s' is no action: expected drop, dup, delay, reorder, corrupt, mark or hold",
		       show(s->word, s->wlen).text);
}

static int parse_rest(struct scan *s)
{
	while (next_word(s)) {
		static int (*const kinds[])(struct scan *) = {try_times, try_corrupt, try_time,
							      try_count, try_where,   try_what};
		int rc = 0;

		for (size_t k = 0; rc == 0 && k < sizeof(kinds) / sizeof(kinds[0]); k++)
			rc = kinds[k](s);
		if (rc < 0)
			return rc;
		if (rc == 0)
			return fail_at(s, s->word,
				       "'%s': expected a count (3rd, 2..5, first N, every N, 2%%, all), a class (data, "
				       "ack ...), an opcode, from, to, qp=, psn= or iter=",
				       show(s->word, s->wlen).text);
	}
	if ((s->rule->action == VS_FAULT_DELAY || s->rule->action == VS_FAULT_HOLD) && !s->has_time)
		return fail_at(s, s->word, "'%s' needs a time: a number with ns, us, ms or s",
			       vs_fault_action_word[s->rule->action]);
	return VS_OK;
}

int vs_fault_parse(const char *text, size_t len, struct vs_fault_rule *rule, struct vs_fault_error *err)
{
	struct vs_fault_error unused = {0};
	struct scan s = {.text = text, .len = len, .rule = rule, .err = err != NULL ? err : &unused};
	int rc;

	memset(rule, 0, sizeof(*rule));
	memset(s.err, 0, sizeof(*s.err));
	if (len > TEXT_MAX)
		return fail_at(&s, text + TEXT_MAX, "longer than %d bytes", TEXT_MAX);
	if (!next_word(&s))
		return fail_at(&s, s.word, "empty: expected drop, dup, delay, reorder, corrupt, mark or hold");
	if (s.word[s.wlen - 1] == ':') {
		rc = parse_name(&s);
		if (rc < 0)
			return rc;
	}
	rc = parse_action(&s);
	if (rc >= 0)
		rc = parse_rest(&s);
	if (rc < 0)
		return rc;
	if (rule->name[0] == '\0')
		vs_fault_text(rule, rule->name, sizeof(rule->name));
	return VS_OK;
}
