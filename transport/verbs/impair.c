/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * impair.c - faults on the way, in the notation of vs/fault.h: what this process sends and what it receives is judged
 * once each. In `from` and `to` of a rule, nodes are "me" and "peer".
 *
 * Packets that wait lie in a list by time. An overtaken packet waits until so many others of its direction have gone
 * by, at most REORDER_MAX_NS. A held packet makes everything behind it in its direction wait too.
 */
#include <stdlib.h>
#include <string.h>

#include "verbs/ref.h"
#include "vs/fault.h"

#define REORDER_MAX_NS 2000000u
#define LIMBO_MAX 65536u

struct limbo {
	struct limbo *next;
	uint64_t when;
	uint32_t passes; /* > 0: also free when so many have gone by */
	bool out;
	size_t len;
	uint8_t bytes[];
};

struct ref_impair {
	struct vs_fault_set *set;
	ref_pass_fn *pass;
	void *ctx;
	struct limbo *limbo; /* by time */
	uint32_t n;
	uint64_t held_until[2]; /* by direction */
};

struct ref_impair *ref_impair_new(const struct ref_config *config, ref_pass_fn *pass, void *ctx)
{
	struct ref_impair *im = calloc(1, sizeof(*im));
	void *mem = malloc(vs_fault_set_size());

	if (im == NULL || mem == NULL) {
		free(im);
		free(mem);
		return NULL;
	}
	im->set = vs_fault_set_init(mem, config->seed);
	im->pass = pass;
	im->ctx = ctx;
	for (unsigned i = 0; i < config->n_faults; i++) {
		struct vs_fault_rule rule;
		struct vs_fault_error err = {.text = "too many rules"};

		if (vs_fault_parse(config->fault[i], strlen(config->fault[i]), &rule, &err) != VS_OK ||
		    vs_fault_set_add(im->set, &rule) < 0) {
			ref_say("VS_FAULT: \"%s\": column %u: %s", config->fault[i], err.column, err.text);
			ref_impair_free(im);
			return NULL;
		}
	}
	return im;
}

void ref_impair_free(struct ref_impair *im)
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

/* ---- waiting ---- */

static void insert(struct ref_impair *im, struct limbo *l)
{
	struct limbo **at = &im->limbo;

	while (*at != NULL && (*at)->when <= l->when)
		at = &(*at)->next;
	l->next = *at;
	*at = l;
}

/* False: no memory, or too many wait; it goes at once. */
static bool keep(struct ref_impair *im, bool out, const uint8_t *ip, size_t len, uint64_t when, uint32_t passes)
{
	struct limbo *l = im->n < LIMBO_MAX ? malloc(sizeof(*l) + len) : NULL;

	if (l == NULL)
		return false;
	*l = (struct limbo){.when = when, .passes = passes, .out = out, .len = len};
	memcpy(l->bytes, ip, len);
	insert(im, l);
	im->n++;
	return true;
}

static void let_go(struct ref_impair *im, struct limbo **at)
{
	struct limbo *l = *at;

	*at = l->next;
	im->n--;
	im->pass(im->ctx, l->out, l->bytes, l->len);
	free(l);
}

/* One packet has gone by: those that wait for it alone follow. */
static void gone_by(struct ref_impair *im, bool out)
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

void ref_impair_expire(struct ref_impair *im, uint64_t now_ns)
{
	while (im->limbo != NULL && im->limbo->when <= now_ns)
		let_go(im, &im->limbo);
}

uint64_t ref_impair_deadline(const struct ref_impair *im)
{
	return im->limbo != NULL ? im->limbo->when : VS_NEVER;
}

/* ---- judging ---- */

static void damage(uint8_t *ip, const struct vs_pkt *p, uint32_t bit)
{
	size_t byte = p->bth_off + bit / 8;

	if (byte < p->end_off)
		ip[byte] ^= (uint8_t)(1u << bit % 8);
}

/* Congestion experienced: the ICRC does not cover it. */
static void mark(uint8_t *ip, const struct vs_pkt *p)
{
	if (p->encap == VS_ENCAP_ROCEV2_IPV4)
		ip[1] |= 3;
	else if (p->encap == VS_ENCAP_ROCEV2_IPV6)
		ip[1] |= 3 << 4;
}

static void go(struct ref_impair *im, bool out, const uint8_t *ip, size_t len, const struct vs_fault_verdict *v,
	       uint64_t now_ns)
{
	uint64_t when = now_ns + v->delay_ns + v->hold_ns;

	if (v->hold_ns > 0 && im->held_until[out] < when)
		im->held_until[out] = when;
	if (when < im->held_until[out])
		when = im->held_until[out];
	if (v->reorder > 0 && keep(im, out, ip, len, when + REORDER_MAX_NS, v->reorder))
		return;
	if (when > now_ns && keep(im, out, ip, len, when, 0))
		return;
	im->pass(im->ctx, out, ip, len);
	gone_by(im, out);
}

void ref_impair_packet(struct ref_impair *im, bool out, const uint8_t *ip, size_t len, uint64_t now_ns)
{
	struct vs_fault_verdict v;
	uint8_t copy[VS_FRAME_MAX];
	struct vs_pkt p;

	if (len > sizeof(copy) || vs_pkt_parse(&p, VS_LINK_IP, 0, ip, len, len, 0) != VS_OK) {
		im->pass(im->ctx, out, ip, len);
		return;
	}
	vs_fault_judge(im->set, &p, p.end_off - p.bth_off, out ? "me" : "peer", out ? "peer" : "me", &v);
	if (v.drop)
		return;
	memcpy(copy, ip, len);
	if (v.corrupt)
		damage(copy, &p, v.corrupt_bit);
	if (v.mark)
		mark(copy, &p);
	for (uint32_t i = 0; i <= v.copies; i++)
		go(im, out, copy, len, &v, now_ns);
}
