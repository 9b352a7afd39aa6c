/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * words.c - the words of the language by their kinds, and the nearest one to a word that is none.
 */
#include <stdio.h>

#include "target.h"
#include "vs/conn.h"

#define MAX_WORD 40u

const struct word dr_verb_words[] = {
	{"send", VS_WR_SEND},
	{"send_imm", VS_WR_SEND_WITH_IMM},
	{"send_inv", VS_WR_SEND_WITH_INV},
	{"write", VS_WR_RDMA_WRITE},
	{"write_imm", VS_WR_RDMA_WRITE_WITH_IMM},
	{"read", VS_WR_RDMA_READ},
	{"cas", VS_WR_ATOMIC_CMP_AND_SWP},
	{"fadd", VS_WR_ATOMIC_FETCH_AND_ADD},
	{"atomic_write", VS_WR_ATOMIC_WRITE},
	{"flush", VS_WR_FLUSH},
	{"local_inv", VS_WR_LOCAL_INV},
	{"bind", VS_WR_BIND_MW},
	{"recv", -1},
	{NULL, 0},
};
const struct word dr_access_words[] = {
	{"none", 0},
	{"local_write", VS_ACCESS_LOCAL_WRITE},
	{"remote_write", VS_ACCESS_REMOTE_WRITE},
	{"remote_read", VS_ACCESS_REMOTE_READ},
	{"remote_atomic", VS_ACCESS_REMOTE_ATOMIC},
	{"mw_bind", VS_ACCESS_MW_BIND},
	{"zero_based", VS_ACCESS_ZERO_BASED},
	{"flush_global", VS_ACCESS_FLUSH_GLOBAL},
	{"flush_persistent", VS_ACCESS_FLUSH_PERSISTENT},
	{NULL, 0},
};
const struct word dr_state_words[] = {
	{"RESET", VS_QPS_RESET}, {"INIT", VS_QPS_INIT}, {"RTR", VS_QPS_RTR}, {"RTS", VS_QPS_RTS},
	{"SQD", VS_QPS_SQD},     {"SQE", VS_QPS_SQE},   {"ERR", VS_QPS_ERR}, {NULL, 0},
};
#define W(x)                  \
	{                     \
#x, VS_WC_##x \
	}
const struct word dr_wc_status_words[] = {
	W(SUCCESS),
	W(LOC_LEN_ERR),
	W(LOC_QP_OP_ERR),
	W(LOC_PROT_ERR),
	W(WR_FLUSH_ERR),
	W(MW_BIND_ERR),
	W(BAD_RESP_ERR),
	W(LOC_ACCESS_ERR),
	W(REM_INV_REQ_ERR),
	W(REM_ACCESS_ERR),
	W(REM_OP_ERR),
	W(RETRY_EXC_ERR),
	W(RNR_RETRY_EXC_ERR),
	W(FATAL_ERR),
	W(GENERAL_ERR),
	W(REM_INV_RD_REQ_ERR),
	{NULL, 0},
};
const struct word dr_wc_opcode_words[] = {
	W(SEND),
	{"WRITE", VS_WC_RDMA_WRITE},
	{"READ", VS_WC_RDMA_READ},
	{"CAS", VS_WC_COMP_SWAP},
	{"FADD", VS_WC_FETCH_ADD},
	{"BIND", VS_WC_BIND_MW},
	W(LOCAL_INV),
	W(FLUSH),
	W(ATOMIC_WRITE),
	W(RECV),
	{"RECV_WRITE_IMM", VS_WC_RECV_RDMA_WITH_IMM},
	{NULL, 0},
};
#undef W
#define W(x)                     \
	{                        \
#x, VS_EVENT_##x \
	}
const struct word dr_async_words[] = {
	W(CQ_ERR),     W(QP_FATAL),    W(QP_REQ_ERR), W(QP_ACCESS_ERR),     W(COMM_EST),
	W(SQ_DRAINED), W(PORT_ACTIVE), W(SRQ_ERR),    W(SRQ_LIMIT_REACHED), W(QP_LAST_WQE_REACHED),
	W(GID_CHANGE), W(PORT_ERR),    {NULL, 0},
};
#undef W
const struct word dr_nak_words[] = {
	{"psn_sequence", VS_NAK_PSN_SEQ},
	{"invalid_request", VS_NAK_INV_REQ},
	{"remote_access", VS_NAK_REM_ACCESS},
	{"remote_op", VS_NAK_REM_OP},
	{"invalid_rd", VS_NAK_INV_RD},
	{"rnr", 0x100},
	{NULL, 0},
};
const struct word dr_class_words[] = {{"N", 'N'}, {"S", 'S'}, {"A", 'A'}, {"I", 'I'}, {"R", 'R'}, {NULL, 0}};
const struct word dr_qp_type_words[] = {{"rc", VS_QPT_RC}, {"uc", VS_QPT_UC}, {NULL, 0}};
const struct word dr_encap_words[] = {
	{"rocev2-ipv4", EN_ROCEV2_IPV4}, {"rocev2-ipv6", EN_ROCEV2_IPV6},
	{"rocev1", EN_ROCEV1},           {"ib", EN_IB},
	{"ib-grh", EN_IB_GRH},           {NULL, 0},
};
const struct word dr_cm_event_words[] = {
	{"REQUEST", VS_CONN_EV_REQUEST},
	{"RESPONSE", VS_CONN_EV_RESPONSE},
	{"ESTABLISHED", VS_CONN_EV_ESTABLISHED},
	{"REJECTED", VS_CONN_EV_REJECTED},
	{"UNREACHABLE", VS_CONN_EV_UNREACHABLE},
	{"DISCONNECTED", VS_CONN_EV_DISCONNECTED},
	{"TIMEWAIT_EXIT", VS_CONN_EV_TIMEWAIT_EXIT},
	{"SIDR_REQUEST", VS_CONN_EV_SIDR_REQUEST},
	{"SIDR_RESPONSE", VS_CONN_EV_SIDR_RESPONSE},
	{NULL, 0},
};
/* enum dr_limit */
const struct word dr_limit_words[] = {
	{"max_qp", DR_MAX_QP},
	{"max_cq", DR_MAX_CQ},
	{"max_mr", DR_MAX_MR},
	{"max_mw", DR_MAX_MW},
	{"max_srq", DR_MAX_SRQ},
	{"max_ah", DR_MAX_AH},
	{"max_pd", DR_MAX_PD},
	{"max_qp_wr", DR_MAX_QP_WR},
	{"max_srq_wr", DR_MAX_SRQ_WR},
	{"max_cqe", DR_MAX_CQE},
	{"max_sge", DR_MAX_SGE},
	{"max_inline", DR_MAX_INLINE},
	{"max_rd_atomic", DR_MAX_RD_ATOMIC},
	{"max_mtu", DR_MAX_MTU},
	{NULL, 0},
};
/* Attributes of a queue pair, as masks. */
const struct word dr_attr_words[] = {
	{"state", VS_QP_STATE},
	{"cur_state", VS_QP_CUR_STATE},
	{"en_sqd_async_notify", VS_QP_EN_SQD_ASYNC_NOTIFY},
	{"access", VS_QP_ACCESS_FLAGS},
	{"pkey_index", VS_QP_PKEY_INDEX},
	{"port", VS_QP_PORT},
	{"qkey", VS_QP_QKEY},
	{"av", VS_QP_AV},
	{"mtu", VS_QP_PATH_MTU},
	{"timeout", VS_QP_TIMEOUT},
	{"retry_cnt", VS_QP_RETRY_CNT},
	{"rnr_retry", VS_QP_RNR_RETRY},
	{"peer_psn", VS_QP_RQ_PSN},
	{"max_rd_atomic", VS_QP_MAX_QP_RD_ATOMIC},
	{"alt_path", VS_QP_ALT_PATH},
	{"min_rnr_timer", VS_QP_MIN_RNR_TIMER},
	{"psn", VS_QP_SQ_PSN},
	{"max_dest_rd_atomic", VS_QP_MAX_DEST_RD_ATOMIC},
	{"path_mig_state", VS_QP_PATH_MIG_STATE},
	{"cap", VS_QP_CAP},
	{"dest_qpn", VS_QP_DEST_QPN},
	{"rate_limit", VS_QP_RATE_LIMIT},
	{NULL, 0},
};
/* What a script may ask of a target: vs_drill_needs. */
const struct word dr_need_words[] = {
	{"peer", 0},          {"cm", 1},         {"ud", 2},           {"uc", 3},
	{"atomic", 4},        {"mw", 5},         {"srq", 6},          {"flush", 7},
	{"ecn", ND_ECN},      {"hazard", 9},     {"grh", ND_GRH},     {"ethernet", ND_ETHERNET},
	{"udp", ND_UDP},      {"ipv4", ND_IPV4}, {"ipv6", ND_IPV6},   {"mcast", 15},
	{"sqd", 16},          {"rereg", 17},     {"resize", 18},      {"port", 19},
	{"cc", 20},           {"lrh", ND_LRH},   {"local", ND_LOCAL}, {"atomic_write", 23},
	{"unprivileged", 24}, {NULL, 0},
};
const struct word dr_waive_words[] = {
	{"leftover_packet", WV_PACKET},
	{"leftover_completion", WV_COMPLETION},
	{"leftover_async", WV_ASYNC},
	{"leftover_cm", WV_CM},
	{"completion_order", WV_ORDER},
	{"malformed_packet", WV_MALFORMED},
	{"unused_fault", WV_FAULT},
	{"monitor", WV_MONITOR},
	{"payload", WV_PAYLOAD},
	{"leftover_call", WV_CALL},
	{NULL, 0},
};

bool dr_same(const struct token *t, const char *word)
{
	return strlen(word) == t->len && memcmp(word, t->text, t->len) == 0;
}

bool dr_find(const struct word *w, const struct token *t, int *value)
{
	for (; w->name != NULL; w++) {
		if (t->kind != T_WORD || !dr_same(t, w->name))
			continue;
		*value = w->value;
		return true;
	}
	return false;
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

/* Changes, insertions and deletions of one letter between `a` and `b`, case apart; both at most MAX_WORD. */
static unsigned distance(const char *a, size_t n, const char *b, size_t m)
{
	unsigned row[MAX_WORD + 1];

	for (size_t j = 0; j <= m; j++)
		row[j] = (unsigned)j;
	for (size_t i = 1; i <= n; i++) {
		unsigned diagonal = row[0];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= m; j++) {
			unsigned d = diagonal + (lower(a[i - 1]) != lower(b[j - 1]));

			diagonal = row[j];
			if (row[j] + 1 < d)
				d = row[j] + 1;
			if (row[j - 1] + 1 < d)
				d = row[j - 1] + 1;
			row[j] = d;
		}
	}
	return row[m];
}

/* Is it a part of `name`, case apart? FLUSH is one of WR_FLUSH_ERR. */
static bool is_part(const char *text, size_t len, const char *name)
{
	for (size_t n = strlen(name), at = 0; len >= 4 && at + len <= n; at++) {
		size_t i = 0;

		while (i < len && lower(text[i]) == lower(name[at + i]))
			i++;
		if (i == len)
			return true;
	}
	return false;
}

void dr_suggest(char *buf, size_t cap, const char *text, size_t len, const struct word *words)
{
	unsigned best = len < 4 ? 2 : len < 8 ? 3 : 4; /* one less is near enough */
	const char *name = NULL, *longer = NULL;

	buf[0] = '\0';
	if (len == 0 || len > MAX_WORD)
		return;
	for (; words->name != NULL; words++) {
		size_t n = strlen(words->name);
		unsigned d = n > MAX_WORD ? MAX_WORD : distance(text, len, words->name, n);

		if (n == len && memcmp(text, words->name, n) == 0) /* right in another place: no help */
			continue;
		if (d < best && d < n) {
			best = d;
			name = words->name;
		}
		if (longer == NULL && is_part(text, len, words->name))
			longer = words->name;
	}
	if (name == NULL)
		name = longer;
	if (name != NULL)
		(void)snprintf(buf, cap, ", did you mean %s?", name);
}
