/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * decl.c - declarations: the header of a script, its nodes, its objects, the wire. Several of them may stand
 * on one line.
 */
#include <stdio.h>

#include "drill_int.h"
#include "vs/fault.h"
#include "vs/verbs.h"

enum decl {
	D_CASE,
	D_CLAUSE,
	D_CLASS,
	D_NEEDS,
	D_MATRIX,
	D_TARGET,
	D_ENCAP,
	D_VLAN,
	D_NODE,
	D_LINK,
	D_DEVICE,
	D_QP,
	D_UD,
	D_MR,
	D_MW,
	D_CQ,
	D_SRQ,
	D_PD,
	D_AH,
	D_CHANNEL,
	D_FAULT,
	D_WAIT,
	D_WAIVE,
	D_MARK
};
const struct word dr_decl_words[] = {
	{"case", D_CASE},     {"clause", D_CLAUSE}, {"class", D_CLASS}, {"needs", D_NEEDS},     {"matrix", D_MATRIX},
	{"target", D_TARGET}, {"encap", D_ENCAP},   {"vlan", D_VLAN},   {"node", D_NODE},       {"link", D_LINK},
	{"device", D_DEVICE}, {"qp", D_QP},         {"ud", D_UD},       {"mr", D_MR},           {"mw", D_MW},
	{"cq", D_CQ},         {"srq", D_SRQ},       {"fault", D_FAULT}, {"wait", D_WAIT},       {"waive", D_WAIVE},
	{"mark", D_MARK},     {"pd", D_PD},         {"ah", D_AH},       {"channel", D_CHANNEL}, {NULL, 0},
};

/* clang-format off */
#define QP_KEYS \
	{"psn", K_PSN, KK_NUM, NULL, 0}, \
	{"peer_psn", K_PEER_PSN, KK_NUM, NULL, 0}, \
	{"mtu", K_MTU, KK_NUM, NULL, 0}, \
	{"timeout", K_TIMEOUT, KK_NUM, NULL, 0}, \
	{"retry_cnt", K_RETRY_CNT, KK_NUM, NULL, 0}, \
	{"rnr_retry", K_RNR_RETRY, KK_NUM, NULL, 0}, \
	{"min_rnr_timer", K_MIN_RNR_TIMER, KK_NUM, NULL, 0}, \
	{"max_rd_atomic", K_RD_ATOMIC, KK_NUM, NULL, 0}, \
	{"max_dest_rd_atomic", K_DEST_RD_ATOMIC, KK_NUM, NULL, 0}, \
	{"qkey", K_QKEY, KK_NUM, NULL, 0}, \
	{"pkey_index", K_PKEY_INDEX, KK_NUM, NULL, 0}, \
	{"port", K_PORT, KK_NUM, NULL, 0}, \
	{"dest_qpn", K_DEST_QPN, KK_NUM, NULL, 0}, \
	{"sl", K_SL, KK_NUM, NULL, 0}, \
	{"tclass", K_TCLASS, KK_NUM, NULL, 0}, \
	{"hop_limit", K_HOP_LIMIT, KK_NUM, NULL, 0}, \
	{"flow_label", K_FLOW_LABEL, KK_NUM, NULL, 0}, \
	{"gid_index", K_GID_INDEX, KK_NUM, NULL, 0}, \
	{"access", K_ACCESS, KK_SET, dr_access_words, 0}, \
	{"encap", K_ENCAP, KK_ENCAP, NULL, 0}, \
	{"state", K_STATE, KK_WORD, dr_state_words, 0}
/* clang-format on */

static const struct key qp_keys[] = {
	QP_KEYS,
	{"srq", K_SRQ, KK_OBJ, NULL, O_SRQ},
	{"cq", K_CQ, KK_OBJ, NULL, O_CQ},
	{"send_cq", K_SEND_CQ, KK_OBJ, NULL, O_CQ},
	{"recv_cq", K_RECV_CQ, KK_OBJ, NULL, O_CQ},
	{"sig_all", K_SIG_ALL, KK_FLAG, NULL, 0},
	{"max_send_wr", K_MAX_SEND_WR, KK_NUM, NULL, 0},
	{"max_recv_wr", K_MAX_RECV_WR, KK_NUM, NULL, 0},
	{"max_sge", K_MAX_SGE, KK_NUM, NULL, 0},
	{"max_inline", K_MAX_INLINE, KK_NUM, NULL, 0},
	{"from", K_FROM, KK_OBJ, NULL, O_PACKET},
	{"pd", K_PD, KK_OBJ, NULL, O_PD},
	{"refused", K_REFUSED, KK_FLAG, NULL, 0},
	{NULL, 0, KK_NUM, NULL, 0},
};
const struct key dr_modify_keys[] = {
	QP_KEYS,
	{"cur_state", K_CUR_STATE, KK_WORD, dr_state_words, 0},
	{"en_sqd_async_notify", K_SQD_NOTIFY, KK_FLAG, NULL, 0},
	{"without", K_WITHOUT, KK_SET, dr_attr_words, 0},
	{"also", K_ALSO, KK_SET, dr_attr_words, 0},
	{"refused", K_REFUSED, KK_FLAG, NULL, 0},
	{NULL, 0, KK_NUM, NULL, 0},
};
const struct key dr_query_keys[] = {
	QP_KEYS,
	{"sq_draining", K_SQ_DRAINING, KK_NUM, NULL, 0},
	{"max_send_wr", K_MAX_SEND_WR, KK_NUM, NULL, 0},
	{"max_recv_wr", K_MAX_RECV_WR, KK_NUM, NULL, 0},
	{"max_sge", K_MAX_SGE, KK_NUM, NULL, 0},
	{"max_inline", K_MAX_INLINE, KK_NUM, NULL, 0},
	{NULL, 0, KK_NUM, NULL, 0},
};
#define REFUSED                                        \
	{                                              \
		"refused", K_REFUSED, KK_FLAG, NULL, 0 \
	}
#define END                              \
	{                                \
		NULL, 0, KK_NUM, NULL, 0 \
	}
static const struct key mr_keys[] = {
	{"len", K_LEN, KK_NUM, NULL, 0},
	{"fill", K_FILL, KK_NUM, NULL, 0},
	{"access", K_ACCESS, KK_SET, dr_access_words, 0},
	{"pd", K_PD, KK_OBJ, NULL, O_PD},
	REFUSED,
	END,
};
static const struct key mw_keys[] = {{"type", K_TYPE, KK_NUM, NULL, 0}, {"pd", K_PD, KK_OBJ, NULL, O_PD}, REFUSED, END};
static const struct key cq_keys[] = {{"cqe", K_CQE, KK_NUM, NULL, 0},
				     {"lazy", K_LAZY, KK_FLAG, NULL, 0},
				     {"channel", K_CHANNEL, KK_OBJ, NULL, O_CHANNEL},
				     REFUSED,
				     END};
static const struct key srq_keys[] = {{"max_wr", K_MAX_WR, KK_NUM, NULL, 0},
				      {"max_sge", K_MAX_SGE, KK_NUM, NULL, 0},
				      {"limit", K_LIMIT, KK_NUM, NULL, 0},
				      {"pd", K_PD, KK_OBJ, NULL, O_PD},
				      REFUSED,
				      END};
static const struct key ah_keys[] = {{"to", K_TO, KK_REMOTE, NULL, 0},
				     {"mgid", K_MGID, KK_GID, NULL, 0},
				     {"pd", K_PD, KK_OBJ, NULL, O_PD},
				     {"sl", K_SL, KK_NUM, NULL, 0},
				     {"tclass", K_TCLASS, KK_NUM, NULL, 0},
				     {"hop_limit", K_HOP_LIMIT, KK_NUM, NULL, 0},
				     {"flow_label", K_FLOW_LABEL, KK_NUM, NULL, 0},
				     {"gid_index", K_GID_INDEX, KK_NUM, NULL, 0},
				     {"encap", K_ENCAP, KK_ENCAP, NULL, 0},
				     REFUSED,
				     END};
static const struct key plain_keys[] = {REFUSED, END};
static const struct key link_keys[] = {{"latency", K_LATENCY, KK_TIME, NULL, 0}, {"rate", K_RATE, KK_NUM, NULL, 0},
				       {"queue", K_QUEUE, KK_NUM, NULL, 0},      {"ecn", K_ECN, KK_NUM, NULL, 0},
				       {"pause", K_PAUSE, KK_NUM, NULL, 0},      {NULL, 0, KK_NUM, NULL, 0}};
static const struct key device_keys[] = {
	{"ack_every", K_ACK_EVERY, KK_NUM, NULL, 0},
	{"window", K_WINDOW, KK_NUM, NULL, 0},
	{"max_rd_atomic", K_RD_ATOMIC, KK_NUM, NULL, 0},
	{"e2e_credits", K_E2E, KK_FLAG, NULL, 0},
	{"cc", K_CC, KK_FLAG, NULL, 0},
	{"mtu", K_MTU, KK_NUM, NULL, 0},
	{"privileged_qkey", K_PRIVILEGED, KK_FLAG, NULL, 0},
	{NULL, 0, KK_NUM, NULL, 0},
};

/* Without a node line: an engine, and the peer that the script plays. */
static void default_nodes(struct parser *ps)
{
	if (ps->p->n_nodes > 0)
		return;
	ps->p->node[0] = (struct node){"dut", true};
	ps->p->node[1] = (struct node){"peer", false};
	ps->p->n_nodes = 2;
}

static bool string_into(struct parser *ps, char *buf, size_t cap, const char *what)
{
	if (ps->t->kind != T_STRING) {
		dr_expected(ps, what, NULL);
		return false;
	}
	if (ps->t->len == 0 || ps->t->len >= cap) {
		PF(ps, ps->t->column, "%s has 1 to %zu bytes", what, cap - 1);
		return false;
	}
	memcpy(buf, ps->t->text, ps->t->len);
	buf[ps->t->len] = '\0';
	ps->t++;
	return true;
}

static void case_decl(struct parser *ps)
{
	struct vs_drill *d = ps->d;

	if (ps->has_case) {
		PF(ps, ps->t[-1].column, "there is a case line already: one file is one claim");
		return;
	}
	ps->has_case = true;
	if (dr_run_of(ps, d->id, sizeof(d->id), "an id"))
		(void)string_into(ps, d->title, sizeof(d->title), "what the case claims, between quotes");
}

static void class_decl(struct parser *ps)
{
	int value;

	if (!dr_find(dr_class_words, ps->t, &value)) {
		dr_expected(ps, "a class: N, S, A, I or R", NULL);
		return;
	}
	ps->d->class = (char)value;
	ps->t++;
}

static void needs_decl(struct parser *ps)
{
	int value;

	do {
		if (!dr_find(dr_need_words, ps->t, &value)) {
			dr_expected(ps, "what the case needs", dr_need_words);
			return;
		}
		ps->d->needs |= 1u << value;
		ps->t++;
	} while (dr_punct(ps, ","));
}

static void target_decl(struct parser *ps)
{
	if (dr_word(ps, "sim"))
		return;
	if (dr_same(ps->t, "program"))
		PF(ps, ps->t->column, "target program is not there yet: scripts run on target sim");
	else
		dr_expected(ps, "a target: sim", NULL);
}

static void encap_decl(struct parser *ps)
{
	(void)dr_encap(ps, &ps->p->encap);
}

static void vlan_decl(struct parser *ps)
{
	if (ps->t->kind != T_NUMBER || ps->t->unit || ps->t->number > 4094) {
		dr_expected(ps, "a VLAN number, 0 to 4094", NULL);
		return;
	}
	ps->p->vlan = (int)ps->t->number;
	ps->t++;
}

static void node_decl(struct parser *ps)
{
	struct program *p = ps->p;
	int ignored;

	if (p->n_nodes > 0) {
		PF(ps, ps->t[-1].column, "the nodes are named once, before everything that uses them");
		return;
	}
	do {
		struct node *n = &p->node[p->n_nodes];

		if (ps->t->kind != T_WORD || ps->t->len >= 16 || dr_find(dr_decl_words, ps->t, &ignored)) {
			dr_expected(ps, "a name for a node", NULL);
			return;
		}
		if (dr_node(ps, ps->t) >= 0) {
			PF(ps, ps->t->column, "there is a node %.*s already", (int)ps->t->len, ps->t->text);
			return;
		}
		if (p->n_nodes == MAX_NODES) {
			PF(ps, ps->t->column, "more than %u nodes", MAX_NODES);
			return;
		}
		memcpy(n->name, ps->t->text, ps->t->len);
		n->engine = !dr_same(ps->t, "peer");
		p->n_nodes++;
		ps->t++;
	} while (ps->t->kind != T_END);
	if (p->n_nodes < 2)
		PF(ps, ps->t->column, "at least two nodes are needed");
}

/* NODE . NAME -> a new object */
static struct obj *new_object(struct parser *ps, enum obj_kind kind)
{
	struct word words[MAX_NODES + 1] = {{NULL, 0}};
	int node = dr_node(ps, ps->t);
	struct obj *o;

	for (unsigned i = 0; i < ps->p->n_nodes; i++)
		words[i].name = ps->p->node[i].name;
	if (node < 0) {
		dr_expected(ps, "a node and a name, as dut.buf", words);
		return NULL;
	}
	ps->t++;
	if (!dr_expect_punct(ps, ".", ". and a name"))
		return NULL;
	ps->node = node;
	o = dr_lookup(ps, node, ps->t);
	if (o == NULL || o->kind != kind || !o->destroyed)
		o = dr_object(ps, node, kind, ps->t);
	if (o != NULL)
		ps->t++;
	return o;
}

static struct stmt *object_stmt(struct parser *ps, enum stmt_kind kind, struct obj *o)
{
	struct stmt *st = dr_stmt(ps, kind);

	if (st == NULL)
		return NULL;
	st->obj = o;
	st->node = o->node;
	return st;
}

/* <-> NODE[.NAME]: the other end; made when it is not there. */
static bool other_end(struct parser *ps, struct obj *o)
{
	struct token name = {
		.kind = T_WORD, .text = o->name, .len = (unsigned)strlen(o->name), .column = ps->t->column};
	int node = dr_node(ps, ps->t);
	struct obj *other;

	if (node < 0 || node == o->node) {
		struct word words[MAX_NODES + 1] = {{NULL, 0}};

		for (unsigned i = 0; i < ps->p->n_nodes; i++)
			words[i].name = ps->p->node[i].name;
		dr_expected(ps, "the node at the other end", words);
		return false;
	}
	ps->t++;
	if (dr_punct(ps, ".")) {
		name = *ps->t;
		if (name.kind != T_WORD) {
			dr_expected(ps, "a name", NULL);
			return false;
		}
		ps->t++;
	}
	other = dr_lookup(ps, node, &name);
	if (other == NULL)
		other = dr_object(ps, node, O_QP, &name);
	if (other == NULL)
		return false;
	if (o->destroyed && o->peer != NULL && o->peer != other) {
		PF(ps, name.column, "%s was connected to %s before: a new one with another end needs another name",
		   o->name, o->peer->name);
		return false;
	}
	if (other->kind != O_QP || (other->peer != NULL && !(o->destroyed && other->peer == o))) {
		PF(ps, name.column, "%s is %s", other->name,
		   other->kind == O_QP ? "connected already" : "no queue pair");
		return false;
	}
	o->peer = other;
	other->peer = o;
	other->type = o->type;
	o->connected = other->connected = true;
	return true;
}

/* qp NODE.NAME [<-> NODE[.NAME]] rc|uc KEYS */
static void qp_decl(struct parser *ps)
{
	int value, node = dr_node(ps, ps->t), type = VS_QPT_RC;
	struct obj *o = NULL;
	struct stmt *st;

	/* A QP that cm listen or cm connect has made gets its other end. */
	if (node >= 0 && dr_same(&ps->t[1], "."))
		o = dr_lookup(ps, node, &ps->t[2]);
	if (o != NULL && o->kind == O_QP && (o->peer == NULL || o->destroyed))
		ps->t += 3;
	else
		o = new_object(ps, O_QP);
	if (o == NULL)
		return;
	if (!ps->p->node[o->node].engine) {
		PF(ps, ps->t[-1].column, "the peer's queue pairs stand behind <->");
		return;
	}
	ps->node = o->node;
	o->type = type;
	if (dr_punct(ps, "<->") && !other_end(ps, o))
		return;
	if (dr_find(dr_qp_type_words, ps->t, &value)) {
		o->type = value;
		if (o->peer != NULL)
			o->peer->type = value;
		ps->t++;
	}
	o->destroyed = false;
	st = object_stmt(ps, S_QP, o);
	if (st != NULL)
		(void)dr_options(ps, st, qp_keys);
}

static void simple_decl(struct parser *ps, enum obj_kind kind, enum stmt_kind sk, const struct key *keys)
{
	struct obj *o = new_object(ps, kind);
	struct stmt *st = o == NULL ? NULL : object_stmt(ps, sk, o);

	if (st == NULL)
		return;
	o->destroyed = false;
	if (kind == O_QP)
		o->type = VS_QPT_UD;
	if (kind != O_QP && kind != O_MR && !ps->p->node[o->node].engine) {
		PF(ps, st->column, "the peer has memory regions and queue pairs alone");
		return;
	}
	if (!dr_options(ps, st, keys))
		return;
	if (kind == O_MR && dr_opt(st, K_LEN) == NULL)
		dr_expected(ps, "len=", NULL);
	if (kind == O_CQ && dr_opt(st, K_CQE) == NULL)
		dr_expected(ps, "cqe=", NULL);
	if (kind == O_AH && dr_opt(st, K_TO) == NULL && dr_opt(st, K_MGID) == NULL)
		dr_expected(ps, "to= or mgid=", NULL);
}

static void fault_decl(struct parser *ps)
{
	struct stmt *st = dr_stmt(ps, S_FAULT);
	struct vs_fault_rule rule;
	struct vs_fault_error err;
	size_t n = 0;
	char *buf;

	if (st == NULL)
		return;
	if (dr_same(ps->t, "none") && ps->t[1].kind == T_END) {
		st->kind = S_FAULT_NONE;
		ps->t++;
		return;
	}
	/* The text of the line, with the values of variables in it. */
	buf = dr_new(ps, 1024);
	for (const struct token *t = ps->t; buf != NULL && t->kind != T_END && n + t->len + 2 < 1024; t++) {
		if (n > 0 && !t->glued)
			buf[n++] = ' ';
		while (n < t->column - ps->t->column && n < 512) /* columns of errors are those of the line */
			buf[n++] = ' ';
		memcpy(buf + n, t->text, t->len);
		n += t->len;
	}
	if (buf == NULL)
		return;
	if (vs_fault_parse(buf, n, &rule, &err) != VS_OK) {
		PF(ps, ps->t->column + (err.column > 0 ? err.column - 1 : 0), "%s", err.text);
		return;
	}
	st->text = buf;
	st->text_len = (unsigned)n;
	while (ps->t->kind != T_END)
		ps->t++;
}

/* wait TIME | wait idle [within TIME] */
static void wait_decl(struct parser *ps)
{
	struct stmt *st = dr_stmt(ps, S_WAIT);

	if (st == NULL)
		return;
	if (dr_word(ps, "idle")) {
		st->kind = S_WAIT_IDLE;
		(void)dr_timing(ps, st);
		return;
	}
	st->quiet = dr_time(ps);
}

static void waive_decl(struct parser *ps)
{
	char why[128];
	int value;

	if (!dr_find(dr_waive_words, ps->t, &value)) {
		dr_expected(ps, "the name of an invariant", dr_waive_words);
		return;
	}
	ps->t++;
	if (string_into(ps, why, sizeof(why), "the reason, between quotes"))
		ps->p->waived |= 1u << value;
}

static void mark_decl(struct parser *ps)
{
	struct stmt *st = dr_stmt(ps, S_MARK);
	char *buf = dr_new(ps, 128);

	if (st == NULL || buf == NULL || !string_into(ps, buf, 128, "a text between quotes"))
		return;
	st->text = buf;
	st->text_len = (unsigned)strlen(buf);
}

static void device_decl(struct parser *ps)
{
	struct stmt *st = dr_stmt(ps, S_DEVICE);

	if (st == NULL)
		return;
	st->node = dr_node(ps, ps->t);
	if (st->node < 0 || !ps->p->node[st->node].engine) {
		dr_expected(ps, "a node with an engine", NULL);
		return;
	}
	ps->t++;
	(void)dr_options(ps, st, device_keys);
}

static void link_decl(struct parser *ps)
{
	struct stmt *st = dr_stmt(ps, S_LINK);

	if (st != NULL)
		(void)dr_options(ps, st, link_keys);
}

static void object_decl(struct parser *ps, enum decl what)
{
	switch (what) {
	case D_QP:
		qp_decl(ps);
		break;
	case D_UD:
		simple_decl(ps, O_QP, S_UD, qp_keys);
		break;
	case D_MR:
		simple_decl(ps, O_MR, S_MR, mr_keys);
		break;
	case D_MW:
		simple_decl(ps, O_MW, S_MW, mw_keys);
		break;
	case D_CQ:
		simple_decl(ps, O_CQ, S_CQ, cq_keys);
		break;
	case D_PD:
		simple_decl(ps, O_PD, S_PD, plain_keys);
		break;
	case D_CHANNEL:
		simple_decl(ps, O_CHANNEL, S_CHANNEL, plain_keys);
		break;
	case D_AH:
		simple_decl(ps, O_AH, S_AH, ah_keys);
		break;
	default:
		simple_decl(ps, O_SRQ, S_SRQ, srq_keys);
		break;
	}
}

static void other_decl(struct parser *ps, enum decl what)
{
	switch (what) {
	case D_LINK:
		link_decl(ps);
		break;
	case D_DEVICE:
		device_decl(ps);
		break;
	case D_FAULT:
		fault_decl(ps);
		break;
	case D_WAIT:
		wait_decl(ps);
		break;
	case D_WAIVE:
		waive_decl(ps);
		break;
	case D_MARK:
		mark_decl(ps);
		break;
	default:
		object_decl(ps, what);
		break;
	}
}

static bool header_decl(struct parser *ps, enum decl what)
{
	switch (what) {
	case D_CASE:
		case_decl(ps);
		return true;
	case D_CLAUSE:
		if (ps->t->kind == T_STRING)
			(void)string_into(ps, ps->d->clause, sizeof(ps->d->clause), "a clause");
		else
			(void)dr_run_of(ps, ps->d->clause, sizeof(ps->d->clause), "a clause");
		return true;
	case D_CLASS:
		class_decl(ps);
		return true;
	case D_NEEDS:
		needs_decl(ps);
		return true;
	case D_MATRIX: /* read by the scan */
		while (ps->t->kind != T_END)
			ps->t++;
		return true;
	case D_TARGET:
		target_decl(ps);
		return true;
	case D_ENCAP:
		encap_decl(ps);
		return true;
	case D_VLAN:
		vlan_decl(ps);
		return true;
	case D_NODE:
		node_decl(ps);
		return true;
	default:
		return false;
	}
}

bool dr_declaration(struct parser *ps)
{
	int what;

	if (!dr_find(dr_decl_words, ps->t, &what)) {
		default_nodes(ps);
		return false;
	}
	ps->t++;
	if (header_decl(ps, (enum decl)what))
		return true;
	default_nodes(ps);
	other_decl(ps, (enum decl)what);
	return true;
}
