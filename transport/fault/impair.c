/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * impair.c - faults on a way between two ends: each packet is judged once.
 *
 * Packets that wait lie in a list by time. An overtaken packet waits until so many others of its direction have gone
 * by, at most REORDER_MAX_NS. A held packet makes everything behind it in its direction wait too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vs/impair.h"

#define REORDER_MAX_NS 2000000u
#define LIMBO_MAX 65536u
#define FRAME_MAX 9216u

struct limbo {
	struct limbo *next;
	uint64_t when;
	uint32_t passes; /* > 0: also free when so many have gone by */
	bool out;
	size_t len;
	uint8_t bytes[];
};

struct vs_impair {
	struct vs_fault_set *set;
	enum vs_link link;
	char near[VS_FAULT_NODE], far[VS_FAULT_NODE];
	vs_impair_fn *pass;
	void *ctx;
	struct limbo *limbo; /* by time */
	uint32_t n;
	uint64_t held_until[2]; /* by direction */
	uint8_t copy[FRAME_MAX];
};

struct vs_impair *vs_impair_new(uint64_t seed, enum vs_link link, const char *near, const char *far, vs_impair_fn *pass,
				void *ctx)
{
	struct vs_impair *im = calloc(1, sizeof(*im));
	void *mem = malloc(vs_fault_set_size());

	if (im == NULL || mem == NULL) {
		free(im);
		free(mem);
		return NULL;
	}
	im->set = vs_fault_set_init(mem, seed);
	im->link = link;
	(void)snprintf(im->near, sizeof(im->near), "%s", near);
	(void)snprintf(im->far, sizeof(im->far), "%s", far);
	im->pass = pass;
	im->ctx = ctx;
	return im;
}

void vs_impair_free(struct vs_impair *im)
{
	if (im == NULL)
		return;
	while (im->limbo != NULL) {
		struct limbo *l = im->limbo;

		im->limbo = l->next;
		free(l);
	}
	free(im->set);
	free(im);
}

int vs_impair_add(struct vs_impair *im, const char *text, size_t len, struct vs_fault_error *err)
{
	struct vs_fault_rule rule;
	int rc = vs_fault_parse(text, len, &rule, err);

	if (rc != VS_OK)
		return rc;
	*err = (struct vs_fault_error){.column = 1, .text = "too many rules"};
	rc = vs_fault_set_add(im->set, &rule);
	return rc < 0 ? rc : VS_OK;
}

void vs_impair_clear(struct vs_impair *im)
{
	vs_fault_set_clear(im->set);
}

const char *vs_impair_idle(const struct vs_impair *im)
{
	const struct vs_fault_rule *rule;

	for (int i = 0; (rule = vs_fault_set_rule(im->set, i)) != NULL; i++)
		if (rule->hits == 0 && !(rule->count == VS_COUNT_PERCENT && rule->seen > 0))
			return rule->name;
	return NULL;
}

/* ---- waiting ---- */

static void insert(struct vs_impair *im, struct limbo *l)
{
	struct limbo **at = &im->limbo;

	while (*at != NULL && (*at)->when <= l->when)
		at = &(*at)->next;
	l->next = *at;
	*at = l;
}

/* False: no memory, or too many wait; it goes at once. */
static bool keep(struct vs_impair *im, bool out, const uint8_t *frame, size_t len, uint64_t when, uint32_t passes)
{
	struct limbo *l = im->n < LIMBO_MAX ? malloc(sizeof(*l) + len) : NULL;

	if (l == NULL)
		return false;
	*l = (struct limbo){.when = when, .passes = passes, .out = out, .len = len};
	memcpy(l->bytes, frame, len);
	insert(im, l);
	im->n++;
	return true;
}

static void let_go(struct vs_impair *im, struct limbo **at)
{
	struct limbo *l = *at;

	*at = l->next;
	im->n--;
	im->pass(im->ctx, l->out, l->bytes, l->len);
	free(l);
}

/* One packet has gone by: those that wait for it alone follow. */
static void gone_by(struct vs_impair *im, bool out)
{
	struct limbo **at = &im->limbo;

	while (*at != NULL) {
		struct limbo *l = *at;

		if (l->out == out && l->passes > 0 && --l->passes == 0)
			let_go(im, at);
		else
			at = &l->next;
	}
}

void vs_impair_expire(struct vs_impair *im, uint64_t now_ns)
{
	while (im->limbo != NULL && im->limbo->when <= now_ns)
		let_go(im, &im->limbo);
}

uint64_t vs_impair_deadline(const struct vs_impair *im)
{
	return im->limbo != NULL ? im->limbo->when : UINT64_MAX;
}

/* ---- judging ---- */

static void damage(uint8_t *frame, const struct vs_pkt *p, uint32_t bit)
{
	size_t byte = p->bth_off + bit / 8;

	if (byte < p->end_off)
		frame[byte] ^= (uint8_t)(1u << bit % 8);
}

/* Congestion experienced. The ICRC does not cover it, but the checksum of IPv4 does (RFC 1624, equation 3). */
static void mark(uint8_t *frame, const struct vs_pkt *p)
{
	uint8_t *ip = frame + p->net_off;
	uint32_t sum;

	if (p->encap == VS_ENCAP_ROCEV2_IPV6)
		ip[1] |= 3 << 4;
	if (p->encap != VS_ENCAP_ROCEV2_IPV4)
		return;
	sum = (uint16_t) ~(uint32_t)(ip[10] << 8 | ip[11]) + (uint16_t) ~(uint32_t)(ip[0] << 8 | ip[1]);
	ip[1] |= 3;
	sum += (uint32_t)(ip[0] << 8 | ip[1]);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = ~(sum + (sum >> 16));
	ip[10] = (uint8_t)(sum >> 8);
	ip[11] = (uint8_t)sum;
}

static void go(struct vs_impair *im, bool out, const uint8_t *frame, size_t len, const struct vs_fault_verdict *v,
	       uint64_t now_ns)
{
	uint64_t when = now_ns + v->delay_ns + v->hold_ns;

	if (v->hold_ns > 0 && im->held_until[out] < when)
		im->held_until[out] = when;
	if (when < im->held_until[out])
		when = im->held_until[out];
	if (v->reorder > 0 && keep(im, out, frame, len, when + REORDER_MAX_NS, v->reorder))
		return;
	if (when > now_ns && keep(im, out, frame, len, when, 0))
		return;
	im->pass(im->ctx, out, frame, len);
	gone_by(im, out);
}

bool vs_impair_frame(struct vs_impair *im, bool out, const uint8_t *frame, size_t len, uint64_t now_ns)
{
	struct vs_fault_verdict v;
	struct vs_pkt p;

	if (len > sizeof(im->copy) || vs_pkt_parse(&p, im->link, 0, frame, len, len, 0) != VS_OK) {
		im->pass(im->ctx, out, frame, len);
		return true;
	}
	vs_fault_judge(im->set, &p, p.end_off - p.bth_off, out ? im->near : im->far, out ? im->far : im->near, &v);
	if (v.drop)
		return false;
	memcpy(im->copy, frame, len);
	if (v.corrupt)
		damage(im->copy, &p, v.corrupt_bit);
	if (v.mark)
		mark(im->copy, &p);
	for (uint32_t i = 0; i <= v.copies; i++)
		go(im, out, im->copy, len, &v, now_ns);
	return true;
}
