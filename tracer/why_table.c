/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * why_table.c - the symptom table: which causes a symptom can have, in the order in which they are likely where nothing
 * else is known; and the judging of them, which puts those with evidence first.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "why.h"

#define C(ID) VT_CAUSE_##ID

static const struct vt_cause_info causes[VT_CAUSE_COUNT] = {
	[VT_CAUSE_NONE] = {"none", "nothing in this trace tells", "", "record both ends, with their packets"},
#define VT_CAUSE(ID, id, text, rule, advice) [VT_CAUSE_##ID] = {id, text, rule, advice},
#include "causes.def"
};

const struct vt_cause_info *vt_cause_info(enum vt_cause c)
{
	return &causes[(unsigned)c < VT_CAUSE_COUNT ? c : VT_CAUSE_NONE];
}

struct row {
	enum why_symptom symptom;
	unsigned status;
	enum vt_cause cause[32]; /* VT_CAUSE_NONE ends it */
};

static const struct row table[] = {
	{WHY_CQE, VS_WC_LOC_LEN_ERR, {C(RECV_SHORT), C(UD_SHORT), C(LONG_MESSAGE)}},
	{WHY_CQE,
	 VS_WC_LOC_QP_OP_ERR,
	 {C(NO_READS), C(LKEY_UNKNOWN), C(LKEY_GONE), C(LKEY_RANGE), C(LKEY_RIGHT), C(LKEY_PD), C(RECV_SHORT),
	  C(UD_SHORT), C(GID_INDEX), C(LONG_MESSAGE), C(NO_OPCODE)}},
	{WHY_CQE, VS_WC_LOC_PROT_ERR, {C(LKEY_UNKNOWN), C(LKEY_RANGE), C(LKEY_RIGHT), C(LKEY_GONE), C(LKEY_PD)}},
	/* Linux rxe of 6.12 reports errors of local memory as this, too. */
	{WHY_CQE,
	 VS_WC_WR_FLUSH_ERR,
	 {C(FLUSHED_AFTER), C(CQ_OVERFLOW), C(DISCONNECTED), C(FLUSHED_BY_USER), C(LKEY_UNKNOWN), C(LKEY_GONE),
	  C(LKEY_RANGE), C(LKEY_RIGHT)}},
	{WHY_CQE, VS_WC_MW_BIND_ERR, {C(LKEY_UNKNOWN), C(LKEY_RIGHT)}},
	{WHY_CQE, VS_WC_BAD_RESP_ERR, {C(MTU_MISMATCH), C(DAMAGED)}},
	{WHY_CQE, VS_WC_LOC_ACCESS_ERR, {C(RKEY_UNKNOWN), C(RKEY_RANGE), C(RKEY_RIGHT), C(LKEY_RIGHT)}},
	{WHY_CQE,
	 VS_WC_REM_INV_REQ_ERR,
	 {C(QP_RIGHT), C(RECV_SHORT), C(MANY_READS), C(MTU_MISMATCH), C(ATOMIC_ALIGN), C(REMOTE_INVALID),
	  C(RKEY_RIGHT)}},
	{WHY_CQE,
	 VS_WC_REM_ACCESS_ERR,
	 {C(RKEY_UNKNOWN), C(RKEY_RANGE), C(RKEY_RIGHT), C(RKEY_GONE), C(RKEY_PD), C(REMOTE_ACCESS), C(QP_RIGHT)}},
	{WHY_CQE, VS_WC_REM_OP_ERR, {C(PEER_RECV_BAD), C(RECV_SHORT), C(LKEY_RIGHT)}},
	{WHY_CQE,
	 VS_WC_RETRY_EXC_ERR,
	 {C(PEER_SILENT), C(WRONG_GID), C(NO_QP), C(QP_NOT_READY), C(QP_GONE), C(PEER_KILLED), C(PEER_FAILED),
	  C(PSN_MISMATCH), C(PEER_ELSEWHERE), C(MTU_MISMATCH), C(LOST), C(ACK_LOST), C(DAMAGED), C(PKEY),
	  C(TIMEOUT_SHORT), C(CQ_OVERFLOW)}},
	{WHY_CQE, VS_WC_RNR_RETRY_EXC_ERR, {C(NO_RECEIVE), C(RECV_LATE), C(RECV_USED_UP)}},
	{WHY_CQE, VS_WC_FATAL_ERR, {C(DEVICE_LIMIT)}},
	{WHY_CQE, VS_WC_GENERAL_ERR, {C(DEVICE_LIMIT)}},
	{WHY_CALL,
	 0,
	 {C(NOT_RTS), C(UNSIGNALED), C(CQ_NOT_POLLED), C(SQ_FULL), C(RQ_FULL), C(MANY_SGES), C(INLINE_LONG),
	  C(NO_OPCODE), C(LONG_MESSAGE), C(WRONG_GID), C(GID_INDEX), C(MTU_BIG), C(ATTRIBUTES), C(MR_RIGHTS),
	  C(DEVICE_LIMIT), C(INJECTED)}},
	{WHY_ASYNC, VS_EVENT_CQ_ERR, {C(CQ_OVERFLOW)}},
	{WHY_ASYNC, VS_EVENT_QP_FATAL, {C(CQ_OVERFLOW), C(LKEY_UNKNOWN), C(RECV_SHORT)}},
	{WHY_ASYNC,
	 VS_EVENT_QP_REQ_ERR,
	 {C(QP_RIGHT), C(RECV_SHORT), C(MANY_READS), C(MTU_MISMATCH), C(ATOMIC_ALIGN), C(REMOTE_INVALID)}},
	{WHY_ASYNC, VS_EVENT_QP_ACCESS_ERR, {C(RKEY_UNKNOWN), C(RKEY_RANGE), C(RKEY_RIGHT), C(RKEY_GONE), C(RKEY_PD)}},
	{WHY_ASYNC, VS_EVENT_PORT_ERR, {C(PEER_SILENT)}},
	{WHY_ASYNC, VS_EVENT_SRQ_ERR, {C(CQ_OVERFLOW)}},
	{WHY_NO_CQE, 0, {C(CQ_NOT_POLLED), C(NOT_ARMED),   C(TIMEOUT_ZERO), C(RNR_TIMER),   C(RNR_FOREVER),  C(QKEY),
			 C(UD_NO_RECEIVE), C(UD_SHORT),    C(UC_LOST),      C(NO_QP),       C(QP_NOT_READY), C(QP_GONE),
			 C(WRONG_GID),     C(PEER_KILLED), C(PSN_MISMATCH), C(DAMAGED),     C(PKEY),         C(LOST),
			 C(ACK_LOST),      C(PEER_SILENT), C(NO_CQE_DUE),   C(NOTHING_CAME)}},
	{WHY_CONNECTION,
	 0,
	 {C(CM_NO_LISTENER), C(CM_REJECTED), C(CM_NO_ANSWER), C(WRONG_GID), C(GID_INDEX), C(MTU_BIG), C(ATTRIBUTES),
	  C(NOT_CONNECTED)}},
	{WHY_SLOW,
	 0,
	 {C(PSN_MISMATCH), C(RNR_TIMER), C(RNR_WAITS), C(RECV_LATE), C(RECOVERED_ACK), C(RECOVERED_LOSS), C(REORDERED),
	  C(DUPLICATED), C(NO_CNP), C(CONGESTED), C(DAMAGED), C(TIMEOUT_SHORT)}},
	{WHY_WOKEN,
	 0,
	 {C(PEER_WOKEN), C(RNR_TIMER), C(RNR_WAITS), C(RECOVERED_ACK), C(RECOVERED_LOSS), C(CQ_NOT_POLLED)}},
};

/* ---- evidence ---- */

static void add_line(char lines[WHY_LINES][200], unsigned *n, const struct why *w, size_t event, const char *fmt,
		     va_list ap) __attribute__((format(printf, 5, 0)));
static void add_line(char lines[WHY_LINES][200], unsigned *n, const struct why *w, size_t event, const char *fmt,
		     va_list ap)
{
	char *to = lines[*n];
	int len;

	if (*n == WHY_LINES)
		return;
	len = vsnprintf(to, 200, fmt, ap);
	if (event != VT_NONE && len > 0 && len < 200)
		(void)snprintf(to + len, 200 - (size_t)len, " (event %llu)", (unsigned long long)w->m->ev[event].seq);
	(*n)++;
}

void why_for(struct why *w, int score, size_t event, const char *fmt, ...)
{
	struct why_verdict *v = w->now;
	va_list ap;

	if (score > v->score)
		v->score = score;
	va_start(ap, fmt);
	add_line(v->pro, &v->n_for, w, event, fmt, ap);
	va_end(ap);
}

void why_against(struct why *w, size_t event, const char *fmt, ...)
{
	struct why_verdict *v = w->now;
	va_list ap;

	va_start(ap, fmt);
	add_line(v->con, &v->n_against, w, event, fmt, ap);
	va_end(ap);
}

bool why_said(struct why *w, enum vs_reason r)
{
	size_t i = w->f.reason[r];

	if (i == VT_NONE)
		return false;
	why_for(w, WHY_CERTAIN, i, "%s says: %s", w->m->ev[i].node, vs_reason_info(r)->sentence);
	return true;
}

/* ---- judging ---- */

static const enum vt_cause *causes_of(const struct why *w)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i].symptom == w->symptom &&
		    table[i].status == (w->symptom == WHY_CQE || w->symptom == WHY_ASYNC ? w->status : 0))
			return table[i].cause;
	return NULL;
}

static void judge(struct why *w, enum vt_cause c)
{
	static why_judge_fn *const *const all[] = {why_memory_judge, why_peer_judge, why_local_judge, why_slow_judge};

	w->now->cause = c;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i][c] != NULL)
			all[i][c](w);
	if (w->now->n_against > 0 && w->now->score < WHY_CERTAIN)
		w->now->score = WHY_OUT;
}

/* The surest first; of equals the likelier, which stands first in the table. */
static void sort(struct why *w)
{
	for (size_t i = 1; i < w->n_v; i++)
		for (size_t j = i; j > 0 && w->v[j].score > w->v[j - 1].score; j--) {
			struct why_verdict t = w->v[j];

			w->v[j] = w->v[j - 1];
			w->v[j - 1] = t;
		}
}

bool why_judge(struct why *w)
{
	const enum vt_cause *c = causes_of(w);
	size_t n = 0;

	while (c != NULL && c[n] != VT_CAUSE_NONE)
		n++;
	w->v = calloc(n + 1, sizeof(*w->v));
	if (w->v == NULL)
		return false;
	for (w->n_v = 0; w->n_v < n; w->n_v++) {
		w->now = &w->v[w->n_v];
		judge(w, c[w->n_v]);
	}
	sort(w);
	return true;
}

void why_free(struct why *w)
{
	free(w->v);
	free(w->mr);
	w->v = NULL;
	w->mr = NULL;
}
