/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * judge.c - a set of rules with their counters: what is to be done with one packet.
 *
 * Every rule draws from a stream of its own, made from the set's seed, its index and its count, so that a
 * rule that is added changes nothing about the others.
 */
#include <string.h>

#include "internal.h"
#include "vs/psn.h"

#define WAYS 8 /* places where a key may stand in the history */

struct seen {
	uint64_t key;
	uint32_t count;
	uint32_t stamp; /* when it was last counted */
};

struct vs_fault_set {
	uint64_t seed;
	int n;
	uint32_t stamp;
	struct vs_fault_rule rule[VS_FAULT_MAX_RULES];
	struct seen history[VS_FAULT_HISTORY];
};

size_t vs_fault_set_size(void)
{
	return sizeof(struct vs_fault_set);
}

struct vs_fault_set *vs_fault_set_init(void *mem, uint64_t seed)
{
	struct vs_fault_set *s = mem;

	memset(s, 0, sizeof(*s));
	s->seed = seed;
	return s;
}

int vs_fault_set_add(struct vs_fault_set *s, const struct vs_fault_rule *rule)
{
	if (s->n == VS_FAULT_MAX_RULES)
		return VS_ERR_NOSPACE;
	s->rule[s->n] = *rule;
	return s->n++;
}

const struct vs_fault_rule *vs_fault_set_rule(const struct vs_fault_set *s, int index)
{
	return index >= 0 && index < s->n ? &s->rule[index] : NULL;
}

void vs_fault_set_clear(struct vs_fault_set *s)
{
	vs_fault_set_init(s, s->seed);
}

static uint64_t mix(uint64_t z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

static uint64_t chance(const struct vs_fault_set *s, int index, uint64_t n, unsigned purpose)
{
	uint64_t stream = (unsigned)index + 1u;

	return mix(mix(s->seed + 0x9e3779b97f4a7c15ull * stream) + (n << 2 | purpose));
}

/* How often this (source, QP, PSN) has passed, this time included. Requests and responses apart. */
static uint32_t count_pass(struct vs_fault_set *s, const struct vs_pkt *p, const char *from)
{
	uint64_t response = vs_opcodes[p->bth.opcode].flags & VS_OPF_R;
	uint64_t key = 0xcbf29ce484222325ull;
	struct seen *set, *oldest;

	while (*from != '\0')
		key = (key ^ (unsigned char)*from++) * 0x100000001b3ull;
	key = mix(key ^ ((uint64_t)p->bth.destqp << 32 | (uint64_t)p->bth.psn << 8 | response));
	key |= 1; /* 0: an empty place */
	set = oldest = &s->history[(key >> 8) % (VS_FAULT_HISTORY / WAYS) * WAYS];
	s->stamp++;
	for (unsigned i = 0; i < WAYS; i++) {
		if (set[i].key == key) {
			set[i].stamp = s->stamp;
			return ++set[i].count;
		}
		if (set[i].stamp < oldest->stamp)
			oldest = &set[i];
	}
	*oldest = (struct seen){key, 1, s->stamp};
	return 1;
}

static bool matches(const struct vs_fault_rule *r, const struct vs_pkt *p, const char *from, const char *to,
		    uint32_t iter)
{
	if (r->from[0] != '\0' && strcmp(r->from, from) != 0)
		return false;
	if (r->to[0] != '\0' && strcmp(r->to, to) != 0)
		return false;
	if (r->has_qpn && p->bth.destqp != r->qpn)
		return false;
	if (r->has_psn && !vs_psn_in(p->bth.psn, r->psn_first, (uint32_t)vs_psn_diff(r->psn_last, r->psn_first) + 1))
		return false;
	if (r->iter != 0 && r->iter != iter)
		return false;
	return vs_fault_what_matches(r->what, p);
}

/* The rule has seen its n-th packet: is it one of those that it acts on? */
static bool counts(const struct vs_fault_set *s, int index)
{
	const struct vs_fault_rule *r = &s->rule[index];

	switch (r->count) {
	case VS_COUNT_ALL:
		return true;
	case VS_COUNT_RANGE:
		return r->seen >= r->first && r->seen <= r->last;
	case VS_COUNT_EVERY:
		return r->seen % r->first == 0;
	case VS_COUNT_PERCENT:
		return chance(s, index, r->seen, 0) % 1000000 < r->per_million;
	}
	return false;
}

static void act(const struct vs_fault_set *s, int index, size_t len, struct vs_fault_verdict *v)
{
	const struct vs_fault_rule *r = &s->rule[index];
	uint32_t bits = (uint32_t)len * 8;

	switch (r->action) {
	case VS_FAULT_DROP:
		v->drop = true;
		break;
	case VS_FAULT_DUP:
		v->copies += r->times;
		break;
	case VS_FAULT_DELAY:
		v->delay_ns += r->time_ns;
		break;
	case VS_FAULT_REORDER:
		v->reorder = r->times > v->reorder ? r->times : v->reorder;
		break;
	case VS_FAULT_CORRUPT:
		if (bits < 32)
			break;
		v->corrupt = true;
		v->corrupt_bit = r->corrupt_bit == VS_CORRUPT_ICRC
					 ? bits - 32 + (uint32_t)(chance(s, index, r->seen, 1) % 32)
				 : r->corrupt_bit == VS_CORRUPT_ANY ? (uint32_t)(chance(s, index, r->seen, 1) % bits)
								    : (uint32_t)r->corrupt_bit % bits;
		break;
	case VS_FAULT_MARK:
		v->mark = true;
		break;
	case VS_FAULT_HOLD:
		v->hold_ns = r->time_ns > v->hold_ns ? r->time_ns : v->hold_ns;
		break;
	}
}

void vs_fault_judge(struct vs_fault_set *s, const struct vs_pkt *p, size_t len, const char *from, const char *to,
		    struct vs_fault_verdict *v)
{
	unsigned hits = 0;
	uint32_t iter;

	memset(v, 0, sizeof(*v));
	for (unsigned k = 0; k < 4; k++)
		v->rule[k] = -1;
	if (s->n == 0)
		return;
	iter = count_pass(s, p, from);
	for (int i = 0; i < s->n; i++) {
		if (!matches(&s->rule[i], p, from, to, iter))
			continue;
		s->rule[i].seen++;
		if (!counts(s, i))
			continue;
		s->rule[i].hits++;
		act(s, i, len, v);
		if (hits < 4)
			v->rule[hits++] = i;
	}
}
