/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * rule.c - reading the rules of --inject, for vs-trace, which says what is wrong with one before a program starts, and
 * for the recorder.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "rule.h"

#define BIT(call) (1u << CALL_##call)
#define POSTS (BIT(POST_SEND) | BIT(POST_RECV) | BIT(POST_SRQ_RECV))

static const char *const call_name[CALL_COUNT] = {
	[CALL_POST_SEND] = "post_send", [CALL_POST_RECV] = "post_recv",         [CALL_POST_SRQ_RECV] = "post_srq_recv",
	[CALL_POLL_CQ] = "poll_cq",     [CALL_REQ_NOTIFY_CQ] = "req_notify_cq", [CALL_OPEN_DEVICE] = "open_device",
	[CALL_REG_MR] = "reg_mr",       [CALL_DEREG_MR] = "dereg_mr",           [CALL_CREATE_CQ] = "create_cq",
	[CALL_CREATE_QP] = "create_qp", [CALL_MODIFY_QP] = "modify_qp",         [CALL_DESTROY_QP] = "destroy_qp",
	[CALL_CREATE_AH] = "create_ah",
};

static const struct {
	const char *name;
	unsigned calls; /* that have it */
} field_info[FIELD_COUNT] = {
	[FIELD_ADDR] = {"addr", POSTS},
	[FIELD_LENGTH] = {"length", POSTS | BIT(REG_MR)},
	[FIELD_LKEY] = {"lkey", POSTS},
	[FIELD_RKEY] = {"rkey", BIT(POST_SEND)},
	[FIELD_REMOTE_ADDR] = {"remote_addr", BIT(POST_SEND)},
	[FIELD_OPCODE] = {"opcode", BIT(POST_SEND)},
	[FIELD_FLAGS] = {"send_flags", BIT(POST_SEND)},
	[FIELD_NUM_SGE] = {"num_sge", BIT(POST_SEND)},
	[FIELD_REMOTE_QPN] = {"remote_qpn", BIT(POST_SEND)},
	[FIELD_REMOTE_QKEY] = {"remote_qkey", BIT(POST_SEND)},
	[FIELD_ACCESS] = {"access", BIT(REG_MR)},
	[FIELD_CQE] = {"cqe", BIT(CREATE_CQ)},
	[FIELD_MAX_SEND_WR] = {"max_send_wr", BIT(CREATE_QP)},
	[FIELD_MAX_RECV_WR] = {"max_recv_wr", BIT(CREATE_QP)},
	[FIELD_SQ_SIG_ALL] = {"sq_sig_all", BIT(CREATE_QP)},
	[FIELD_PATH_MTU] = {"path_mtu", BIT(MODIFY_QP)},
	[FIELD_DEST_QPN] = {"dest_qp_num", BIT(MODIFY_QP)},
	[FIELD_RQ_PSN] = {"rq_psn", BIT(MODIFY_QP)},
	[FIELD_SQ_PSN] = {"sq_psn", BIT(MODIFY_QP)},
	[FIELD_QKEY] = {"qkey", BIT(MODIFY_QP)},
	[FIELD_TIMEOUT] = {"timeout", BIT(MODIFY_QP)},
	[FIELD_RETRY_CNT] = {"retry_cnt", BIT(MODIFY_QP)},
	[FIELD_RNR_RETRY] = {"rnr_retry", BIT(MODIFY_QP)},
	[FIELD_MIN_RNR_TIMER] = {"min_rnr_timer", BIT(MODIFY_QP)},
	[FIELD_PKEY_INDEX] = {"pkey_index", BIT(MODIFY_QP)},
	[FIELD_QP_ACCESS] = {"qp_access_flags", BIT(MODIFY_QP)},
	[FIELD_RD_ATOMIC] = {"max_rd_atomic", BIT(MODIFY_QP)},
	[FIELD_DEST_RD_ATOMIC] = {"max_dest_rd_atomic", BIT(MODIFY_QP)},
	[FIELD_DGID] = {"dgid", BIT(MODIFY_QP) | BIT(CREATE_AH)},
	[FIELD_SGID_INDEX] = {"sgid_index", BIT(MODIFY_QP)},
	[FIELD_HOP_LIMIT] = {"hop_limit", BIT(MODIFY_QP)},
};

static const struct {
	const char *name;
	int value;
} errnos[] = {
	{"EPERM", EPERM},   {"EIO", EIO},       {"EAGAIN", EAGAIN}, {"ENOMEM", ENOMEM},
	{"EACCES", EACCES}, {"EFAULT", EFAULT}, {"EBUSY", EBUSY},   {"ENODEV", ENODEV},
	{"EINVAL", EINVAL}, {"ENOSPC", ENOSPC}, {"ENOSYS", ENOSYS}, {"EOPNOTSUPP", EOPNOTSUPP},
};

static bool number(const char *text, uint64_t *v)
{
	return vs_cli_number(text, 0, UINT64_MAX, v);
}

/* "3", "3+", "3-5" */
static bool parse_when(struct rec_rule *r, char *text, char *why, size_t cap)
{
	size_t len = strlen(text);
	char *dash = strchr(text, '-');
	bool ok;

	if (len > 1 && text[len - 1] == '+') {
		text[len - 1] = '\0';
		ok = number(text, &r->from);
		r->to = UINT64_MAX;
	} else if (dash != NULL) {
		*dash = '\0';
		ok = number(text, &r->from) && number(dash + 1, &r->to);
	} else {
		ok = number(text, &r->from);
		r->to = r->from;
	}
	if (ok && r->from > 0 && r->from <= r->to)
		return true;
	snprintf(why, cap, "when=: write the number of the call, from 1: 3, 3+ or 3-5");
	return false;
}

static bool parse_call(struct rec_rule *r, const char *text, char *why, size_t cap)
{
	int n = snprintf(why, cap, "there is no call \"%.24s\"; they are", text);

	for (int i = 0; i < CALL_COUNT; i++) {
		if (strcmp(text, call_name[i]) == 0) {
			r->call = (enum rec_call)i;
			return true;
		}
		if (n >= 0 && (size_t)n < cap)
			n += snprintf(why + n, cap - (size_t)n, " %s", call_name[i]);
	}
	return false;
}

static bool parse_errno(struct rec_rule *r, const char *text, char *why, size_t cap)
{
	r->what = WHAT_ERRNO;
	for (unsigned i = 0; i < sizeof(errnos) / sizeof(errnos[0]); i++)
		if (strcmp(text, errnos[i].name) == 0)
			r->value = (uint64_t)errnos[i].value;
	if (r->value != 0 || (number(text, &r->value) && r->value > 0 && r->value < 4096))
		return true;
	snprintf(why, cap, "errno=: write a number or a name like ENOMEM");
	return false;
}

/* NAME=V, NAME+=V, NAME^=V */
static bool parse_field(struct rec_rule *r, char *text, char *why, size_t cap)
{
	char *eq = strchr(text, '=');
	char *end = eq;
	int n;

	if (eq == NULL) {
		snprintf(why, cap, "write errno=E, skip, kill, delay=MS or an argument, like rkey=0x1234");
		return false;
	}
	r->op = '=';
	if (eq > text && (eq[-1] == '+' || eq[-1] == '^'))
		r->op = *--end;
	*end = '\0';
	r->what = WHAT_FIELD;
	n = snprintf(why, cap, "%s has no \"%.24s\"; it has", call_name[r->call], text);
	for (int i = 0; i < FIELD_COUNT; i++) {
		if ((field_info[i].calls & 1u << r->call) == 0)
			continue;
		if (strcmp(text, field_info[i].name) == 0) {
			r->field = (enum rec_field)i;
			if (number(eq + 1, &r->value))
				return true;
			snprintf(why, cap, "%s: write a number, decimal or 0x hexadecimal", text);
			return false;
		}
		if (n >= 0 && (size_t)n < cap)
			n += snprintf(why + n, cap - (size_t)n, " %s", field_info[i].name);
	}
	return false;
}

static bool parse_what(struct rec_rule *r, char *text, char *why, size_t cap)
{
	if (strcmp(text, "skip") == 0 || strcmp(text, "kill") == 0) {
		r->what = text[0] == 's' ? WHAT_SKIP : WHAT_KILL;
		return true;
	}
	if (strncmp(text, "errno=", 6) == 0)
		return parse_errno(r, text + 6, why, cap);
	if (strncmp(text, "delay=", 6) == 0) {
		r->what = WHAT_DELAY;
		if (number(text + 6, &r->value) && r->value <= 60000)
			return true;
		snprintf(why, cap, "delay=: write milliseconds, at most 60000");
		return false;
	}
	return parse_field(r, text, why, cap);
}

bool rec_rule_parse(const char *text, struct rec_rule *rule, char *why, size_t cap)
{
	char copy[sizeof(rule->text)], *what, *when = NULL;

	memset(rule, 0, sizeof(*rule));
	rule->from = 1;
	rule->to = UINT64_MAX;
	if (strlen(text) >= sizeof(copy)) {
		snprintf(why, cap, "longer than %zu bytes", sizeof(copy) - 1);
		return false;
	}
	memcpy(copy, text, strlen(text) + 1);
	memcpy(rule->text, text, strlen(text) + 1);
	what = strchr(copy, ':');
	if (what != NULL)
		*what++ = '\0';
	if (!parse_call(rule, copy, why, cap))
		return false;
	when = what != NULL ? strstr(what, ":when=") : NULL;
	if (when != NULL) {
		*when = '\0';
		if (!parse_when(rule, when + 6, why, cap))
			return false;
	}
	return parse_what(rule, what != NULL ? what : copy + strlen(copy), why, cap);
}
