/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* canon.c - canon.h: numbers that a run draws become the order of their appearance. */
#include "canon.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "vs/psn.h"

enum number_class { C_QPN, C_KEY, C_ID, C_COMM, C_GID, C_WR };

/* How an argument is told. */
enum form { AS_IT_IS, LEFT_OUT, A_PSN, AN_ADDRESS, NUMBERED };

static const struct rule {
	const char *name;
	enum form form;
	enum number_class number;
} rules[] = {
	{"psn", A_PSN, 0},         {"from", A_PSN, 0},          {"expected", A_PSN, 0},       {"got", A_PSN, 0},
	{"sq_psn", LEFT_OUT, 0},   {"rq_psn", LEFT_OUT, 0},     {"dqpn", NUMBERED, C_QPN},    {"sqpn", NUMBERED, C_QPN},
	{"lqpn", NUMBERED, C_QPN}, {"lkey", NUMBERED, C_KEY},   {"rkey", NUMBERED, C_KEY},    {"key", NUMBERED, C_KEY},
	{"id", NUMBERED, C_ID},    {"local", NUMBERED, C_COMM}, {"remote", NUMBERED, C_COMM}, {"addr", AN_ADDRESS, 0},
	{"va", AN_ADDRESS, 0},     {"hash", LEFT_OUT, 0},       {"gid", NUMBERED, C_GID},     {"rate_bps", LEFT_OUT, 0},
};

static const struct rule *rule_of(const struct vs_event_arg *arg)
{
	static const struct rule as_it_is = {"", AS_IT_IS, 0}, left_out = {"", LEFT_OUT, 0};

	if (arg->kind == VS_ARG_T)
		return &left_out;
	if (arg->kind != VS_ARG_X && arg->kind != VS_ARG_STR)
		return &as_it_is;
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (strcmp(rules[i].name, arg->name) == 0)
			return &rules[i];
	return &as_it_is;
}

/* The how-manieth value of its class this is, from 1; 0 stays 0. */
static size_t number_of(struct vt_canon *c, enum number_class k, uint64_t value)
{
	size_t n = value != 0 ? vt_map_get(&c->number, k, value) : 0;

	if (n != SIZE_MAX)
		return n;
	n = ++c->classes[k];
	return vt_map_put(&c->number, k, value, n) ? n : 0;
}

/* A PSN as the place in its message. */
static int64_t place_of(const struct vt_canon *c, size_t i, uint64_t psn)
{
	size_t op = c->m->op_of[i];

	if (op == VT_NONE || !(c->m->op[op].flags & VT_OP_HAS_PSN))
		return 0;
	return vs_psn_diff((uint32_t)psn, c->m->op[op].first_psn);
}

/* An address as the offset in the newest region that holds it. */
static void put_address(const struct vt_canon *c, size_t i, uint64_t a, char *buf, size_t cap)
{
	for (size_t k = i + 1; k > 0 && i + 1 - k < 4096; k--) {
		const struct vs_event *e = &c->m->ev[k - 1];

		if (e->type != VS_EV_VERB_REG_MR || a < e->a[0] || a - e->a[0] > e->a[1])
			continue;
		(void)snprintf(buf, cap, "+%" PRIu64, a - e->a[0]);
		return;
	}
	(void)snprintf(buf, cap, "%s", a != 0 ? "some" : "0");
}

static void put_arg(struct vt_canon *c, size_t i, unsigned n, char *buf, size_t cap)
{
	const struct vs_event *e = &c->m->ev[i];
	const struct vs_event_arg *arg = &vs_event_info((enum vs_event_type)e->type)->args[n];
	const struct rule *r = rule_of(arg);

	switch (r->form) {
	case LEFT_OUT:
		buf[0] = '\0';
		return;
	case A_PSN:
		(void)snprintf(buf, cap, "+%" PRId64, place_of(c, i, e->a[n]));
		return;
	case AN_ADDRESS:
		put_address(c, i, e->a[n], buf, cap);
		return;
	case NUMBERED:
		/* Texts are kept once, so that a text's address stands for it. */
		(void)snprintf(buf, cap, "#%zu", number_of(c, r->number, e->a[n]));
		return;
	case AS_IT_IS:
		(void)vt_arg_text(e, n, buf, cap);
		return;
	}
}

bool vt_canon_passes_over(const struct vs_event *e)
{
	const char *name = vs_event_info((enum vs_event_type)e->type)->name;

	return e->type == VS_EV_REC_CLOCK || e->type == VS_EV_REC_END || e->type == VS_EV_VERB_EMPTY_POLLS ||
	       e->type == VS_EV_QP_ATTR || strncmp(name, "dev:", 4) == 0 || strncmp(name, "mem:", 4) == 0;
}

void vt_canon_text(struct vt_canon *c, size_t i, char buf[VT_CANON_TEXT])
{
	const struct vs_event *e = &c->m->ev[i];
	const struct vs_event_info *info = vs_event_info((enum vs_event_type)e->type);
	size_t n = (size_t)snprintf(buf, VT_CANON_TEXT, "%s", info->name);

	if (e->has_wr)
		n += (size_t)snprintf(buf + n, VT_CANON_TEXT - n, " wr=#%zu", number_of(c, C_WR, e->wr_id + 1));
	for (unsigned k = 0; k < info->nargs && n < VT_CANON_TEXT; k++) {
		char value[160];

		if (info->args[k].kind == VS_ARG_SYN && e->a[k] == VS_SYN_NONE)
			continue;
		put_arg(c, i, k, value, sizeof(value));
		if (value[0] != '\0')
			n += (size_t)snprintf(buf + n, VT_CANON_TEXT - n, " %s=%s", info->args[k].name, value);
	}
}

void vt_canon_free(struct vt_canon *c)
{
	vt_map_free(&c->number);
}
